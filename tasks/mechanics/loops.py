"""Loops of a limb, for one sample: how they are solved, their matrices, and the dependent joints that follow.

Source: hybrid-limb paper, Eqs. (13), (14), (32), (41), (45).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robots.model import Closure, Limb
from tasks.kernels.types import Array, Scalar, Scalars
from tasks.mathematics.algebra import array, determinant, inverse
from tasks.mechanics.closures import Joined, row_count
from tasks.mechanics.kinematics import Pose, columns, motions


def others(closure: Closure, rows: Sequence[int]) -> tuple[int, ...]:
    """The rows of a closure that are not among these."""
    return tuple(row for row in range(row_count(closure.kind)) if row not in rows)


@dataclass(frozen=True)
class LoopChoice:
    """One loop as it is solved: the link it starts at, joints of its two sides, rows kept."""

    root: int
    side_a: tuple[int, ...]
    side_b: tuple[int, ...]
    rows: tuple[int, ...]

    @property
    def joints(self) -> tuple[int, ...]:
        """All tree joints of the loop."""
        return (*self.side_a, *self.side_b)


Block = tuple[tuple[int, ...], tuple[int, ...]]
"""Rows and columns of a part of a cluster's matrix, by their numbers there."""


@dataclass(frozen=True)
class Blocks:
    """A matrix of a cluster in parts: blocks that share neither rows nor columns, and the `border`, what is left.

    Blocks are limbs of a platform whose coordinates are among the dependent joints, and these are the border.
    """

    inner: tuple[Block, ...] = ()
    border: Block = ((), ())


NO_BLOCKS = Blocks()


@dataclass(frozen=True)
class ClusterChoice:
    """Loops that have to be solved together, by their number in the limb, and the joints that they are solved for.

    Clusters come in the order in which they can be solved: other joints of a cluster are independent, or dependent ones
    of clusters before it. Closure forces follow in the opposite order.
    """

    loops: tuple[int, ...]
    dependent: tuple[int, ...]
    blocks: Blocks = NO_BLOCKS


@dataclass(frozen=True)
class LimbChoice:
    """How a limb is solved; made once per family by `tasks.mechanics.topology`."""

    loops: tuple[LoopChoice, ...]
    clusters: tuple[ClusterChoice, ...]
    independent: tuple[int, ...]
    tip_rows: tuple[tuple[int, ...], ...]


def loop_matrix(
    limb: Limb, at: dict[int, Pose], joined: Joined, side_a: Sequence[int], side_b: Sequence[int]
) -> np.ndarray:
    """Constraint Jacobian of a closure: (rows, tree joints), zero where a joint does not matter. Eqs. (32), (41)."""
    result = np.array(np.zeros((len(joined.rows), len(limb.links))), dtype=object)
    for side, point, sign in ((side_a, joined.point, 1.0), (side_b, joined.b.origin, -1.0)):
        for i, (omega, v) in columns(limb.links, at, side, point).items():
            for k, value in enumerate(joined.rate(omega, v)):
                result[k, i] = result[k, i] + value * sign
    return array(result)


@dataclass(frozen=True)
class SolvedLoop:
    """One loop at one configuration."""

    limb: Limb
    choice: LoopChoice
    closure: Closure
    at: dict[int, Pose]

    def with_rows(self, rows: tuple[int, ...]) -> Joined:
        """Both ends of the cut joint with these rows."""
        return Joined.of(self.closure, self.at[self.closure.a], self.at[self.closure.b], rows)

    @cached_property
    def joined(self) -> Joined:
        """Both ends of the cut joint, in the axes of the loop's root."""
        return self.with_rows(self.choice.rows)

    @cached_property
    def redundant(self) -> Joined:
        """The same with the rows that were dropped as redundant."""
        return self.with_rows(others(self.closure, self.choice.rows))

    @cached_property
    def matrix(self) -> np.ndarray:
        """Constraint Jacobian, Eq. (13)."""
        return self._matrix(self.joined)

    @cached_property
    def dropped_matrix(self) -> np.ndarray:
        """The same for the rows that were dropped."""
        return self._matrix(self.redundant)

    def _matrix(self, joined: Joined) -> np.ndarray:
        return loop_matrix(self.limb, self.at, joined, self.choice.side_a, self.choice.side_b)

    def drift(self, rates: Scalars) -> list[Scalar]:
        """Second derivative of the rows that velocity alone causes, G' theta' in Eq. (14)."""
        moving = motions(self.limb.links, self.at, rates, root=self.choice.root)
        ends = ((self.closure.a, self.joined.point), (self.closure.b, self.joined.b.origin))
        (motion_a, offset_a), (motion_b, offset_b) = ((moving[i], point - self.at[i].position) for i, point in ends)
        return self.joined.drift(motion_a, motion_b, offset_a, offset_b)


@dataclass(frozen=True)
class Bordered:
    """A square matrix whose inner blocks are coupled by a border alone: solved block by block, then for the border.

    With A the blocks, B and C beside and below them, D in the corner: S = D - C A^-1 B is the constraint Jacobian of a
    platform over its dependent coordinates, after the joints of its limbs.
    """

    matrix: Array
    blocks: Blocks

    @cached_property
    def inner(self) -> list[np.ndarray]:
        """The inner blocks."""
        return [self.matrix[np.ix_(rows, columns)] for rows, columns in self.blocks.inner]

    @cached_property
    def _inverses(self) -> list[np.ndarray]:
        return [inverse(block) for block in self.inner]

    @cached_property
    def _answers(self) -> list[np.ndarray]:
        """A^-1 B of each block: what its joints do for a unit of the border's."""
        border = list(self.blocks.border[1])
        pairs = zip(self._inverses, self.blocks.inner, strict=True)
        return [back @ self.matrix[np.ix_(rows, border)] for back, (rows, _) in pairs]

    @cached_property
    def schur(self) -> np.ndarray:
        """S, the border after all blocks."""
        rows, columns = self.blocks.border
        result = self.matrix[np.ix_(rows, columns)]
        for answer, (_, own) in zip(self._answers, self.blocks.inner, strict=True):
            result = result - self.matrix[np.ix_(rows, own)] @ answer
        return array(result)

    @property
    def parts(self) -> list[np.ndarray]:
        """Matrices whose determinants multiply to that of the whole, but for its sign."""
        return [*self.inner, self.schur]

    @property
    def part_inverses(self) -> list[np.ndarray]:
        """Their inverses."""
        return [*self._inverses, self._schur_inverse]

    @cached_property
    def _schur_inverse(self) -> np.ndarray:
        return inverse(self.schur)

    @cached_property
    def inverse(self) -> np.ndarray:
        """The inverse of the whole, rows in the order of its columns."""
        rows, columns = self.blocks.border
        back = self._schur_inverse
        below = [
            self.matrix[np.ix_(rows, own)] @ part
            for part, (_, own) in zip(self._inverses, self.blocks.inner, strict=True)
        ]
        result = np.array(np.zeros(self.matrix.shape), dtype=object)
        result[np.ix_(columns, rows)] = back
        for push, (own_rows, _) in zip(below, self.blocks.inner, strict=True):
            result[np.ix_(columns, own_rows)] = -(back @ push)
        for k, (answer, (own_rows, own)) in enumerate(zip(self._answers, self.blocks.inner, strict=True)):
            result[np.ix_(own, rows)] = -(answer @ back)
            result[np.ix_(own, own_rows)] = self._inverses[k]
            for push, (other_rows, _) in zip(below, self.blocks.inner, strict=True):
                moved = answer @ (back @ push)
                result[np.ix_(own, other_rows)] = result[np.ix_(own, other_rows)] + moved
        return array(result)


@dataclass(frozen=True)
class RegularBlock:
    """A square part of the matrix of dependent joints, its inverse, and the joints of its columns."""

    matrix: Array
    inverse: Array
    joints: tuple[int, ...]

    @cached_property
    def determinant(self) -> Scalar:
        """Its determinant."""
        return determinant(self.matrix)


@dataclass(frozen=True)
class SolvedCluster:
    """Loops that are solved together, at one configuration: their rows determine the dependent joints.

    Each loop stays in the axes of its own root, so that joints before that do not enter its rows.
    """

    choice: ClusterChoice
    loops: tuple[SolvedLoop, ...]

    @property
    def joints(self) -> tuple[int, ...]:
        """All tree joints of the loops, each once."""
        return tuple(dict.fromkeys(joint for loop in self.loops for joint in loop.choice.joints))

    @cached_property
    def matrix(self) -> np.ndarray:
        """Constraint Jacobians of the loops, one below the other."""
        return np.vstack([loop.matrix for loop in self.loops])

    @cached_property
    def dependent_matrix(self) -> np.ndarray:
        """The columns of the dependent joints, G_y."""
        return self.matrix[:, list(self.choice.dependent)]

    @cached_property
    def bordered(self) -> Bordered | None:
        """G_y in blocks, of loops that close over a platform whose coordinates follow."""
        return Bordered(self.dependent_matrix, self.choice.blocks) if self.choice.blocks.inner else None

    @cached_property
    def inverse(self) -> np.ndarray:
        """Inverse of the columns of the dependent joints, G_y^-1 in Eq. (45)."""
        return inverse(self.dependent_matrix) if self.bordered is None else self.bordered.inverse

    @cached_property
    def regular_blocks(self) -> tuple[RegularBlock, ...]:
        """Square matrices that are all regular where that of the dependent joints is."""
        if self.bordered is None:
            return (RegularBlock(self.dependent_matrix, self.inverse, self.choice.dependent),)
        inner, (_, border) = self.choice.blocks.inner, self.choice.blocks.border
        columns = [*(columns for _, columns in inner), border]
        joints = [tuple(self.choice.dependent[k] for k in own) for own in columns]
        parts = zip(self.bordered.parts, self.bordered.part_inverses, joints, strict=True)
        return tuple(RegularBlock(*part) for part in parts)

    @cached_property
    def determinant(self) -> Scalar:
        """det G_y; its sign tells assemblies of the loops apart. Of blocks up to that sign, which stays the same."""
        if self.bordered is None:
            return determinant(self.dependent_matrix)
        result: Scalar = 1.0
        for part in self.bordered.parts:
            result = result * determinant(part)
        return result

    def answer(self, demand: Array) -> dict[int, Scalar]:
        """Dependent joints' part that makes up for `demand` in the rows."""
        return dict(zip(self.choice.dependent, -(self.inverse @ array(demand)), strict=True))

    def residual(self) -> list[Scalar]:
        """How far every kept row is from closed."""
        return [value for loop in self.loops for value in loop.joined.residual()]

    def drift(self, rates: Scalars) -> list[Scalar]:
        """Second derivative of the rows that velocity alone causes."""
        return [value for loop in self.loops for value in loop.drift(rates)]
