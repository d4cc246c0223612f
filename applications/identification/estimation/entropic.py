"""Bodies near nominal ones in the entropic distance, where data do not tell them: least squares plus a divergence.

The divergence of a pseudo-inertia P from the nominal Q is tr(Q^-1 P) - log det(Q^-1 P) - 4: zero at Q, infinite at the
boundary of consistent bodies, convex, and the same in all frames and units. So no body becomes a needle or a point, and
masses that the data do not tell stay near nominal ones by their ratio. With it the estimate is a convex conic program.
Total mass, and boxes that hold a body, are linear in its parameters. Sources: Lee, Wensing and Park 2020, for the
divergence; Traversaro, Brossette, Escande and Nori 2016, for the conditions on bodies; Wensing, Kim and Slotine 2018,
for boxes; Goulart and Chen 2024, for the solver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import clarabel
import numpy as np
from scipy import sparse
from scipy.linalg import qr

from applications.identification.estimation.consistent import (
    SHORTEST,
    SIDE,
    SIZE,
    SOLVED,
    is_consistent,
    near_consistent,
    pseudo_inertia,
    triangle_vector,
)
from robots.data_classes import dataclass, field
from tasks.kernels.expression import Array

DOUBLE = 2 * SIDE
FACTOR = tuple((i, j) for j in range(SIDE) for i in range(j, SIDE))
"""Elements of a lower triangular matrix (SIDE, SIDE), column by column."""
ADDED = len(FACTOR) + SIDE
"""Unknowns beside its parameters that a body has: a triangular matrix and logarithms of its diagonal."""
UNKNOWN = 1e-3
"""Weight of a body without known nominal values, relative to other bodies."""
WEIGHTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
"""Weights of the divergence that are tried, over squares of residuals in standard deviations."""
AS_GOOD = 1.02
"""Held-out error over the least one, up to which the largest weight is taken."""


@dataclass(frozen=True)
class BodyLimits:
    """Knowledge of bodies beside nominal values: total mass [kg], and masses and boxes by the first column of a body.

    counts (column,): bodies of the machine that a mass column is of, zero for other columns; boxes: lower and upper
    corner [m] in the body's frame; masses [kg].
    """

    mass: float | None = None
    counts: np.ndarray = field(default_factory=lambda: np.zeros(0))
    boxes: Mapping[int, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    masses: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class PriorProblem:
    """A linear regression whose columns are of bodies and others: nominal values and knowledge about the columns.

    bodies: first column of each; unknown: bodies without known nominal values; signed: columns that are not negative;
    limits: further knowledge.
    """

    nominal: np.ndarray
    bodies: Sequence[int]
    unknown: Sequence[int] = ()
    signed: Sequence[int] = ()
    limits: BodyLimits = field(default_factory=BodyLimits)

    def references(self) -> dict[int, np.ndarray]:
        """Return the nominal parameters of each body; of unknown ones those of the heaviest other body."""
        bodies = {start: near_consistent(self.nominal[start : start + SIZE]) for start in self.bodies}
        heaviest = max((s for s in self.bodies if s not in self.unknown), key=lambda s: bodies[s][0], default=None)
        if heaviest is None:
            return bodies
        return {start: bodies[heaviest if start in self.unknown else start] for start in self.bodies}


@dataclass(frozen=True)
class Bodies:
    """Parameters (column,) of a solution, the weight of the divergence, and the message of the solver."""

    values: np.ndarray
    converged: bool
    status: str
    weight: float


def reduced_rows(matrix: Array, forces: Array) -> np.ndarray:
    """Return the triangle (column + 1, column + 1) of rows and forces, which tells as much as all rows."""
    return np.asarray(qr(np.column_stack([matrix, forces]), mode="economic")[1])


def entropic(triangle: Array, problem: PriorProblem, weight: float) -> Bodies:
    """Return least squares plus `weight` times the divergences of all bodies, by `reduced_rows` of weighted rows.

    Rows are over their standard deviation.
    """
    triangle = np.asarray(triangle, dtype=float)
    references = problem.references()
    sizes = _sizes(triangle, references)
    program = _Program(triangle[:, :-1] * sizes, triangle[:, -1], len(references))
    for place, (start, reference) in enumerate(references.items()):
        own_weight = weight * (UNKNOWN if start in problem.unknown else 1.0)
        program.add_divergence(place, start, reference, sizes, own_weight)
        if start in problem.limits.boxes:
            program.add_box(start, problem.limits.boxes[start], sizes)
    program.add_signs(problem.signed)
    if problem.limits.mass is not None:
        program.add_mass(problem.limits.counts * sizes, problem.limits.mass)
    for start, mass in problem.limits.masses.items():
        program.add_mass(np.eye(1, len(sizes), start)[0] * sizes, mass)
    answer, status = program.solve()
    values = answer * sizes
    good = status in SOLVED and all(is_consistent(values[start : start + SIZE]) for start in problem.bodies)
    return Bodies(values, good, status, weight)


def cross_validated_bodies(triangles: Sequence[np.ndarray], problem: PriorProblem) -> Bodies:
    """Return the solution whose weight predicts each part of the rows from the others best.

    triangles: `reduced_rows` of each part. Of weights that are as good the largest is taken.
    """
    errors = {weight: _held_out(triangles, problem, weight) for weight in WEIGHTS}
    least = min(errors.values())
    taken = max(weight for weight, error in errors.items() if error <= AS_GOOD * least) if np.isfinite(least) else 1.0
    return entropic(_joined(triangles), problem, taken)


def _held_out(triangles: Sequence[np.ndarray], problem: PriorProblem, weight: float) -> float:
    """Return the norm of the residuals of all parts, each by the solution of the others; infinite where one fails."""
    squares = 0.0
    for k, part in enumerate(triangles):
        others = [triangle for place, triangle in enumerate(triangles) if place != k]
        solution = entropic(_joined(others), problem, weight)
        if not solution.converged:
            return np.inf
        squares += float(np.sum((part[:, -1] - part[:, :-1] @ solution.values) ** 2))
    return float(np.sqrt(squares))


def _joined(triangles: Sequence[np.ndarray]) -> np.ndarray:
    return np.asarray(qr(np.concatenate(triangles), mode="economic")[1])


def _sizes(triangle: np.ndarray, references: Mapping[int, np.ndarray]) -> np.ndarray:
    """Return sizes (column,) of the parameters: of bodies by their nominal values, of others by the size of forces."""
    lengths = np.linalg.norm(triangle[:, :-1], axis=0)
    moved = lengths > 1e-9 * lengths.max(initial=0.0)
    force = max(float(np.linalg.norm(triangle[:, -1])), np.finfo(float).tiny)
    sizes = np.where(moved, force / np.where(moved, lengths, 1.0), 1.0)
    for start, reference in references.items():
        mass = reference[0]
        length = max(float(np.sqrt(np.trace(pseudo_inertia(reference)[:3, :3]) / mass)), SHORTEST)
        sizes[start : start + SIZE] = mass * np.array([1.0, *([length] * 3), *([length**2] * 6)])
    return sizes


class _Program:
    """A conic program; unknowns are parameters, residuals, and for each body those of the logarithm of its P."""

    def __init__(self, slopes: np.ndarray, target: np.ndarray, bodies: int) -> None:
        self.rows, self.columns = slopes.shape
        self.count = self.columns + self.rows + ADDED * bodies
        self.linear = np.zeros(self.count)
        self.blocks: list[np.ndarray] = []
        self.right: list[np.ndarray] = []
        self.cones: list[object] = []
        block = np.zeros((self.rows, self.count))
        block[:, : self.columns] = slopes
        block[:, self.columns : self.columns + self.rows] = -np.eye(self.rows)
        self._add(block, target, clarabel.ZeroConeT(self.rows))

    def _add(self, block: np.ndarray, right: np.ndarray, cone: object) -> None:
        """Add the condition that right - block @ unknowns is in a cone."""
        self.blocks.append(block)
        self.right.append(right)
        self.cones.append(cone)

    def add_divergence(self, place: int, start: int, reference: np.ndarray, sizes: np.ndarray, weight: float) -> None:
        """Add weight (tr X - log det X) of X = L^-1 P L^-T for the body at column `start`, reference = L L'.

        log det X is at least the sum of the logarithms of the diagonal D of any triangular Z with [X, Z; Z', D]
        positive semidefinite, and reaches it.
        """
        inverse = np.linalg.inv(np.linalg.cholesky(pseudo_inertia(reference)))
        first = self.columns + self.rows + ADDED * place
        block = np.zeros((DOUBLE * (DOUBLE + 1) // 2, self.count))
        for k in range(SIZE):
            relative = inverse @ pseudo_inertia(np.eye(SIZE)[k] * sizes[start + k]) @ inverse.T
            block[:, start + k] = triangle_vector(
                np.block([[relative, np.zeros((SIDE, SIDE))], [np.zeros((SIDE, DOUBLE))]])
            )
            self.linear[start + k] += weight * float(np.trace(relative))
        for k, (i, j) in enumerate(FACTOR):
            factor = np.zeros((DOUBLE, DOUBLE))
            factor[i, SIDE + j] = factor[SIDE + j, i] = 1.0
            factor[SIDE + j, SIDE + j] = float(i == j)
            block[:, first + k] = triangle_vector(factor)
        self._add(-block, np.zeros(len(block)), clarabel.PSDTriangleConeT(DOUBLE))
        for j in range(SIDE):
            logarithm = np.zeros((3, self.count))
            logarithm[0, first + len(FACTOR) + j] = -1.0
            logarithm[2, first + FACTOR.index((j, j))] = -1.0
            self._add(logarithm, np.array([0.0, 1.0, 0.0]), clarabel.ExponentialConeT())
            self.linear[first + len(FACTOR) + j] = -weight

    def add_box(self, start: int, box: tuple[np.ndarray, np.ndarray], sizes: np.ndarray) -> None:
        """Add that a body may lie in a box: along each axis its mass is between the corners.

        The integrals of (x - low)(high - x), x - low and high - x over the mass are not negative.
        """
        block = np.zeros((9, self.count))
        for k in range(SIZE):
            inertia = pseudo_inertia(np.eye(SIZE)[k] * sizes[start + k])
            mass, first, second = inertia[3, 3], inertia[:3, 3], np.diag(inertia)[:3]
            low, high = box
            parts = (first * (low + high) - second - mass * low * high, first - mass * low, mass * high - first)
            block[:, start + k] = np.concatenate(parts)
        scale = np.maximum(np.abs(block).max(axis=1, keepdims=True), np.finfo(float).tiny)
        self._add(-block / scale, np.zeros(9), clarabel.NonnegativeConeT(9))

    def add_signs(self, signed: Sequence[int]) -> None:
        """Add that some parameters are not negative."""
        if not signed:
            return
        block = np.zeros((len(signed), self.count))
        block[range(len(signed)), list(signed)] = -1.0
        self._add(block, np.zeros(len(signed)), clarabel.NonnegativeConeT(len(signed)))

    def add_mass(self, counts: np.ndarray, mass: float) -> None:
        """Add the mass [kg] of some bodies together, as often as `counts` (column,) says."""
        block = np.zeros((1, self.count))
        block[0, : self.columns] = counts / mass
        self._add(block, np.ones(1), clarabel.ZeroConeT(1))

    def solve(self) -> tuple[np.ndarray, str]:
        """Return the parameters over their sizes, and the message of the solver."""
        ends = self.count - self.columns - self.rows
        quadratic = sparse.block_diag(
            [sparse.csc_matrix((self.columns,) * 2), sparse.eye(self.rows), sparse.csc_matrix((ends, ends))],
            format="csc",
        )
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        constraints = sparse.csc_matrix(np.concatenate(self.blocks))
        solver = clarabel.DefaultSolver(
            quadratic, self.linear, constraints, np.concatenate(self.right), self.cones, settings
        )
        answer = solver.solve()
        return np.array(answer.x)[: self.columns], str(answer.status)


def divergence(parameters: Array, reference: Array) -> float:
    """Return the divergence of a body from another one, both ten parameters: 0 where they are equal.

    Raises ValueError for parameters that no body has.
    """
    if not (is_consistent(parameters) and is_consistent(reference)):
        raise ValueError("parameters: got those of no body; expected a positive definite pseudo-inertia")
    relative = np.linalg.solve(pseudo_inertia(reference), pseudo_inertia(parameters))
    return float(np.trace(relative) - np.linalg.slogdet(relative)[1] - SIDE)
