"""Matrices of loops and tips, for one sample: solved block by block, and whether their columns depend on each other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from robots.data_classes import dataclass
from tasks.kernels.expression import Array, Mask, Scalar, Scalars
from tasks.mathematics.algebra import array, opposite, sqrt
from tasks.mathematics.systems import FIVE, determinant, inverse, solution, squared_box, volume
from tasks.mechanics.limb_choice import ClusterBlocks

FEW = 4
"""Columns up to which their volume is as good as a singular value, and cofactors give their inverse."""


@dataclass(frozen=True)
class RowUnits:
    """Units of the rows of a matrix: True in `lengths` for a length, False for a cosine.

    Where reflections add rows, cosines beside lengths count as lengths at a `lever` [m]: in a small robot, lengths
    would lose as many digits as they are smaller than cosines. Cofactors and minors do not depend on units; least
    squares of more rows than columns do, and keep the rows as they are.
    """

    lengths: tuple[bool, ...]
    lever: Scalar

    def part(self, rows: Sequence[int]) -> RowUnits:
        """Return the units of some of the rows."""
        return RowUnits(tuple(self.lengths[row] for row in rows), self.lever)

    @property
    def mixed(self) -> bool:
        """Return whether there are lengths and cosines."""
        return len({*self.lengths}) > 1

    def inverse(self, matrix: Array) -> np.ndarray:
        """Return the inverse of a square matrix with these rows."""
        if not self.mixed or len(matrix) <= FEW:
            return inverse(matrix)
        scaled = inverse(self._scaled(matrix))
        return array(scaled[:, np.argsort(self._order)] * self._factors)

    def solution(self, matrix: Array, right: Array) -> tuple[np.ndarray, Scalar]:
        """Return x and d as `tasks.mathematics.systems.solution` does, for equations with these rows."""
        if self._are_added(matrix):
            return solution(self._scaled(matrix), self._scaled(right))
        return solution(matrix, right)

    def in_one_unit(self, matrix: Array) -> Array:
        """Return a matrix with these rows as `solution` factorises it, which may share that with a determinant."""
        return self._scaled(matrix) if self._are_added(matrix) else matrix

    def _scaled(self, values: Array) -> Array:
        """Return values (row, ...) in one unit, cosines first: slides do not change them, and zeros cost nothing."""
        return array((values.T * self._factors).T[self._order])

    def _are_added(self, matrix: Array) -> bool:
        """Return whether `solution` adds rows of different units."""
        return self.mixed and FIVE < len(matrix) == matrix.shape[1]

    @property
    def _factors(self) -> Array:
        return array([1.0 if is_length else self.lever for is_length in self.lengths])

    @property
    def _order(self) -> Array:
        return np.argsort(self.lengths, kind="stable")


@dataclass(frozen=True)
class Bordered:
    """A square matrix whose inner blocks are coupled by a border alone: solved block by block, then for the border.

    With A the blocks, B and C beside and below them, D in the corner: S = D - C A^-1 B is the constraint Jacobian of a
    platform over its dependent coordinates, after the joints of its limbs.
    """

    matrix: Array
    units: RowUnits
    blocks: ClusterBlocks

    @cached_property
    def inner(self) -> list[np.ndarray]:
        """The inner blocks."""
        return [self.matrix[np.ix_(rows, columns)] for rows, columns in self.blocks.inner]

    @cached_property
    def _inverses(self) -> list[np.ndarray]:
        parts = zip(self.inner, self.blocks.inner, strict=True)
        return [self.units.part(rows).inverse(block) for block, (rows, _) in parts]

    @cached_property
    def _answers(self) -> list[np.ndarray]:
        """A^-1 B of each block: the change of its joints for a unit of the border's."""
        border = list(self.blocks.border[1])
        pairs = zip(self._inverses, self.blocks.inner, strict=True)
        return [back @ self.matrix[np.ix_(rows, border)] for back, (rows, _) in pairs]

    @cached_property
    def schur(self) -> np.ndarray:
        """S, the border after all blocks."""
        rows, columns = self.blocks.border
        result = self.matrix[np.ix_(rows, columns)]
        for answer, (_, positions) in zip(self._answers, self.blocks.inner, strict=True):
            result = result - self.matrix[np.ix_(rows, positions)] @ answer
        return array(result)

    @property
    def parts(self) -> list[np.ndarray]:
        """Matrices whose determinants multiply to the determinant of the whole, up to its sign."""
        return [*self.inner, self.schur]

    @property
    def part_inverses(self) -> list[np.ndarray]:
        """Their inverses."""
        return [*self._inverses, self._schur_inverse]

    @cached_property
    def _schur_inverse(self) -> np.ndarray:
        return self.units.part(self.blocks.border[0]).inverse(self.schur)

    def solution(self, right: Array) -> np.ndarray:
        """Return x with A x = `right`, block by block, without the inverse of the whole."""
        rows, columns = self.blocks.border
        result = np.array(np.zeros(len(right)), dtype=object)
        alone = [back @ right[list(own)] for back, (own, _) in zip(self._inverses, self.blocks.inner, strict=True)]
        short = right[list(rows)]
        for part, (_, positions) in zip(alone, self.blocks.inner, strict=True):
            short = short - self.matrix[np.ix_(rows, positions)] @ part
        result[list(columns)] = border = self._schur_inverse @ short
        for part, answer, (_, positions) in zip(alone, self._answers, self.blocks.inner, strict=True):
            result[list(positions)] = part - answer @ border
        return array(result)

    @cached_property
    def inverse(self) -> np.ndarray:
        """The inverse of the whole, rows in the order of its columns."""
        rows, columns = self.blocks.border
        back = self._schur_inverse
        below = [
            self.matrix[np.ix_(rows, positions)] @ part
            for part, (_, positions) in zip(self._inverses, self.blocks.inner, strict=True)
        ]
        result = np.array(np.zeros(self.matrix.shape), dtype=object)
        result[np.ix_(columns, rows)] = back
        for push, (own_rows, _) in zip(below, self.blocks.inner, strict=True):
            result[np.ix_(columns, own_rows)] = -(back @ push)
        for k, (answer, (own_rows, positions)) in enumerate(zip(self._answers, self.blocks.inner, strict=True)):
            result[np.ix_(positions, rows)] = -(answer @ back)
            result[np.ix_(positions, own_rows)] = self._inverses[k]
            for push, (other_rows, _) in zip(below, self.blocks.inner, strict=True):
                moved = answer @ (back @ push)
                result[np.ix_(positions, other_rows)] = result[np.ix_(positions, other_rows)] + moved
        return array(result)


def size_of(matrix: Array) -> Scalar:
    """Return the determinant of a square matrix, or the column volume of one with more rows than columns."""
    return determinant(matrix) if len(matrix) == matrix.shape[1] else volume(matrix)


def is_flat(block: RegularBlock, least: Scalar, size: Scalar, box: Scalar | None = None) -> Mask:
    """Return whether the columns of a matrix depend on each other up to `least`, as unit vectors.

    For up to four columns, the criterion is the volume that they span, relative to the square of a `box` (absent: with
    sides of the columns' lengths). Rows that are lengths count relative to the `size` of the limb [m], beside rows that
    are cosines. For more columns, a product of many sines may be small without dependence; the criterion is then their
    spread.
    """
    if block.matrix.shape[1] <= FEW:
        matrix = block.without_unit(size)
        volume_ = size_of(matrix)
        return volume_ * volume_ <= (squared_box(matrix) if box is None else box) * least * least
    return opposite(block.spread * (least * least) < 1.0)  # NaN is flat


@dataclass(frozen=True)
class RegularBlock:
    """A part of the matrix of dependent joints, its (left) inverse, joints of its columns, and units of its rows."""

    matrix: Array
    inverse: Array
    joints: tuple[int, ...]
    units: RowUnits

    def without_unit(self, size: Scalar) -> Array:
        """Return the matrix with lengths relative to a size [m], where there are cosines beside them."""
        if not self.units.mixed:
            return self.matrix
        scale = array([1.0 / size if is_length else 1.0 for is_length in self.units.lengths])
        return array(self.matrix * scale[:, None])

    @property
    def spread(self) -> Scalar:
        """Sum of squares over all columns: the length of a column times that of its row of the inverse.

        It is at least 1 / s**2, with s the least singular value of the columns as unit vectors. If rows are lengths and
        cosines, the unit of length with the least sum is taken, as loops may be far smaller than their limb.
        """
        pairs = list(zip(self.matrix.T, self.inverse, strict=True))
        if not self.units.mixed:
            return sum(_square(column) * _square(row) for column, row in pairs)
        split = [(*self._squares(column), *self._squares(row)) for column, row in pairs]
        same = sum(a * back_a + b * back_b for a, b, back_a, back_b in split)
        longer = sum(a * back_b for a, _, _, back_b in split)
        shorter = sum(b * back_a for _, b, back_a, _ in split)
        return same + 2.0 * sqrt(longer * shorter)

    def _squares(self, values: Scalars) -> tuple[Scalar, Scalar]:
        """Return the sums of squares over rows that are lengths, and over rows that are cosines."""
        squares = list(zip((x * x for x in values), self.units.lengths, strict=True))
        lengths, cosines = (sum(x for x, kind in squares if kind is each) for each in (True, False))
        return lengths, cosines

    @property
    def in_one_unit(self) -> Array:
        """The matrix whose determinant, or volume, is `determinant`."""
        return self.units.in_one_unit(self.matrix)

    @cached_property
    def determinant(self) -> Scalar:
        """Its determinant; the volume of its columns where it has more rows. Relative to others of the same design."""
        return size_of(self.in_one_unit)


def _square(values: Scalars) -> Scalar:
    return sum(x * x for x in values)
