"""Base parameters: the combinations of parameters that a regressor can tell apart, with readable names.

The rank comes from a QR factorisation with column pivoting; which columns stay is then decided from left to right, so
that the groupings do not depend on rounding: a parameter is grouped with the earlier parameters from which it cannot be
distinguished. Source: Gautier, Numerical calculation of the base inertial parameters of robots, 1991.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr

from applications.identification.estimation.states import motion_for
from robots.arguments import check_arguments
from robots.data_classes import dataclass, replace
from robots.labels import in_order_of
from robots.model import Robot
from tasks.dynamics.inputs import present
from tasks.dynamics.records import NO_FORCES, STANDING, Environment, Forces, Motion, check_record
from tasks.dynamics.regressor import columns_of, regressor
from tasks.features.friction.inputs import friction_input

TOLERANCE = 1e-9
"""A column whose part that is new is smaller than this, relative to its length, is a combination of others."""
NEGLIGIBLE = 1e-7
"""Coefficients of a grouping up to this count as zero: rounding, as those of mechanisms are lengths in metres."""


@dataclass(frozen=True)
class BaseParameters:
    """Base parameters: the kept columns, and the parameters that each of them groups.

    independent: indices of kept columns; groups (kept, column): base parameters = groups @ parameters; names: of all
    columns; margin: smallest accepted over largest refused new part, a measure of how clear the rank is.
    """

    independent: tuple[int, ...]
    groups: np.ndarray
    names: tuple[str, ...]
    margin: float

    @property
    def count(self) -> int:
        """Number of base parameters."""
        return len(self.independent)

    def of(self, parameters: ArrayLike) -> np.ndarray:
        """Return the values of the base parameters (*batch, kept) from those of all columns (*batch, column)."""
        return np.asarray(in_order_of(self.names, "parameters", parameters), dtype=float) @ self.groups.T

    def reduced(self, matrix: ArrayLike) -> np.ndarray:
        """Return the kept columns of a regressor (..., column)."""
        return np.asarray(matrix)[..., list(self.independent)]

    def grouping(self, number: int) -> str:
        """Return a base parameter as text: its own column first, then the columns that are grouped with it."""
        row, kept = self.groups[number], self.independent[number]
        members = [(row[k], self.names[k]) for k in np.flatnonzero(row) if k != kept]
        return self.names[kept] + "".join(_term(value, name) for value, name in members)

    @property
    def groupings(self) -> tuple[str, ...]:
        """Texts of the groupings of all base parameters."""
        return tuple(self.grouping(k) for k in range(self.count))


def _term(value: float, name: str) -> str:
    sign, size = (" - " if value < 0 else " + "), abs(value)
    return f"{sign}{name}" if abs(size - 1.0) < NEGLIGIBLE else f"{sign}{size:.6g} {name}"


def from_matrix(matrix: ArrayLike, names: Sequence[str], tolerance: float = TOLERANCE) -> BaseParameters:
    """Return the base parameters of stacked regressors (rows, column) at rich enough states. Raises ValueError."""
    stacked = np.asarray(matrix, dtype=float)
    if stacked.ndim != 2 or stacked.shape[1] != len(names) or not np.isfinite(stacked).all():
        raise ValueError(
            f"matrix: got shape {stacked.shape} for {len(names)} names; expected finite rows of one number per column"
        )
    (result,) = from_matrices(stacked[None], tuple(names), tolerance)
    if isinstance(result, ValueError):
        raise result
    return result


def from_matrices(
    matrices: np.ndarray, names: tuple[str, ...], tolerance: float = TOLERANCE
) -> list[BaseParameters | ValueError]:
    """Return the base parameters of several stacked regressors (case, row, column), or the reason why there are none.

    The decision on columns from left to right is the same for all cases in one loop. Rows of zeros do not count.
    """
    # relations between columns hold row by row, so that no row near a singular pose has to outweigh the others
    stacked = matrices / np.maximum(np.linalg.norm(matrices, axis=2, keepdims=True), np.finfo(float).tiny)
    sizes = np.linalg.norm(stacked, axis=1)
    moving = sizes > tolerance * sizes.max(axis=1, initial=0.0)[:, None]
    result: dict[int, BaseParameters | ValueError] = {}
    for pattern in {tuple(row) for row in moving.tolist()}:
        cases = np.flatnonzero((moving == pattern).all(axis=1))
        columns = np.flatnonzero(pattern)
        lengths = sizes[cases][:, columns]
        # R alone has the same column relations, and far fewer rows
        scaled = np.asarray(np.linalg.qr(stacked[cases][:, :, columns] / lengths[:, None], mode="r"))
        independent, basis, margins = _left_to_right(scaled, tolerance)
        for k, case in enumerate(cases.tolist()):
            count, pivots = int(independent[k].sum()), rank(scaled[k], tolerance)
            result[case] = (
                _grouped(scaled[k], independent[k], basis[k], lengths[k], columns, names, float(margins[k]))
                if count == pivots
                else ValueError(
                    f"matrix: {count} columns are independent from left to right, {pivots} with pivoting; "
                    "expected the same number; give more states, or another tolerance"
                )
            )
    return [result[case] for case in range(len(matrices))]


def rank(matrix: np.ndarray, tolerance: float = TOLERANCE) -> int:
    """Rank by QR with column pivoting: diagonal entries of R above `tolerance` times the largest."""
    diagonal = np.abs(np.diagonal(qr(matrix, mode="r", pivoting=True)[0]))
    return int(np.sum(diagonal > tolerance * diagonal.max(initial=0.0)))


def _grouped(
    scaled: np.ndarray,
    independent: np.ndarray,
    basis: np.ndarray,
    sizes: np.ndarray,
    columns: np.ndarray,
    names: tuple[str, ...],
    margin: float,
) -> BaseParameters:
    """Return the base parameters of independent columns: each column as a combination of these."""
    along = basis[:, independent].T @ scaled  # of columns that are combinations, nothing is left
    answer = np.linalg.solve(along[:, independent], along)
    groups = np.zeros((int(independent.sum()), len(names)))
    groups[:, columns] = answer * sizes / sizes[independent][:, None]
    groups[np.abs(groups) < NEGLIGIBLE] = 0.0
    groups[:, columns[independent]] = np.eye(int(independent.sum()))
    return BaseParameters(tuple(columns[independent].tolist()), groups, names, margin)


def _left_to_right(scaled: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return independent columns (case, column), their basis (case, row, column), zero for others, margins (case,)."""
    cases, rows, count = scaled.shape
    independent, basis = np.zeros((cases, count), dtype=bool), np.zeros((cases, rows, count))
    smallest, largest = np.full(cases, np.inf), np.zeros(cases)
    for k in range(count):
        new = scaled[:, :, k : k + 1]
        for _ in range(2):  # twice: one pass of Gram-Schmidt leaves rounding of the first
            before = basis[:, :, :k]
            new = new - before @ (np.swapaxes(before, 1, 2) @ new)
        size = np.linalg.norm(new[..., 0], axis=1)
        independent[:, k] = size > tolerance
        basis[independent[:, k], :, k] = new[independent[:, k], :, 0] / size[independent[:, k], None]
        smallest = np.where(independent[:, k], np.minimum(smallest, size), smallest)
        largest = np.where(independent[:, k], largest, np.maximum(largest, size))
    return independent, basis, smallest / np.maximum(largest, np.finfo(float).tiny)


@check_arguments
def base_parameters(
    robot: Robot,
    forces: Forces = NO_FORCES,
    environment: Environment = STANDING,
    *,
    shared: bool = False,
    seed: int = 0,
    tolerance: float = TOLERANCE,
) -> BaseParameters:
    """Compute the base parameters of a robot at random states; arguments and errors as for `regressor`.

    environment.base: samples of the motion of a base that moves, (sample, ...) each, of which each state has one at
    random; more parameters show there than on a base that stands.

    >>> base = ls.base_parameters(ls.robots.build("planar_3r"))
    >>> len(base.groupings), base.groupings[0]
    (9, 'link_1.Izz + 0.25 link_2.mass + 0.25 link_3.mass + joint_1.armature')
    """
    check_record("environment", environment, Environment)
    if seed < 0 or not 0.0 < tolerance < 1.0:
        raise ValueError(f"seed, tolerance: got {seed!r}, {tolerance!r}; expected zero or more, and between 0 and 1")
    still = replace(environment, base=None)
    groups = None if forces.friction is None else friction_input(robot, forces.friction)
    columns = columns_of(robot, groups, shared=shared)
    moving = motion_for(robot, columns, len(robot.mechanism.actuators), seed)
    states = np.shape(next(iter(present(moving).values())))[0]
    around = still if environment.base is None else replace(still, base=drawn_base(environment.base, states, seed))
    matrix = regressor(robot, Motion(**moving), forces, around, shared=shared).matrix
    rows = matrix.reshape(-1, matrix.shape[-1])
    return from_matrix(rows[np.isfinite(rows).all(axis=1)], [column.name for column in columns], tolerance)


def drawn_base(base: Motion, states: int, seed: int) -> Motion:
    """Return random samples of the motion of a base, (states, ...) each."""
    parts = {name: np.asarray(values, dtype=float) for name, values in base.present().items()}
    samples = len(next(iter(parts.values())))
    place = np.random.default_rng([seed, samples]).integers(0, samples, states)
    return Motion(**{name: values[place] for name, values in parts.items()})


def values(base: BaseParameters, parameters: Mapping[str, float]) -> dict[str, float]:
    """Return the base parameters by the names of their kept columns, from all parameters by name."""
    numbers = base.of([parameters[name] for name in base.names])
    return {base.names[k]: float(x) for k, x in zip(base.independent, numbers, strict=True)}
