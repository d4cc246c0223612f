"""Estimates of inertial parameters that a body can have: positive mass, positive definite pseudo-inertia.

The pseudo-inertia of a body is linear in its ten parameters, so that least squares under this condition are a
semidefinite program: convex, with one minimum, solved by an interior-point method. A weak pull to nominal values
decides directions that the data leave open. Sources: Wensing, Kim and Slotine 2018, for the condition; Sousa and
Cortesao 2014, for the program; Goulart and Chen 2024, for the solver, Clarabel.
"""

from __future__ import annotations

from collections.abc import Sequence

import clarabel
import numpy as np
from scipy import sparse
from scipy.linalg import qr

from robots.data_classes import dataclass
from tasks.dynamics.inertial_parameters import BODY, TENSOR
from tasks.kernels.expression import Array

SIDE = 4
"""Rows of a pseudo-inertia."""
TRIANGLE = tuple((i, j) for j in range(SIDE) for i in range(j + 1))
"""Its upper triangle, column by column, as the solver has it."""
SIZE = len(BODY)
LEAST, THIN = 1e-6, 1e-3
"""Lower bounds for a body: mass [kg], and radius of gyration in every direction [m]."""
PULL = 1e-3
"""Weight of the distance to nominal parameters over their sizes, relative to the forces."""
SHORTEST = 0.05
"""Length [m] that the sizes of a body's parameters are made of, at least."""
SOLVED = ("Solved", "AlmostSolved")


def pseudo_inertia(parameters: Array) -> np.ndarray:
    """Return P (4, 4) of ten parameters: second moment, first moment and mass."""
    mass, first, elements = parameters[0], np.asarray(parameters[1:4]), parameters[4:]
    tensor = np.zeros((3, 3))
    for value, (i, j) in zip(elements, TENSOR, strict=True):
        tensor[i, j] = tensor[j, i] = value
    second = np.eye(3) * (np.trace(tensor) * 0.5) - tensor
    return np.block([[second, first[:, None]], [first[None], np.array([[mass]])]])


def parameters_of(matrix: Array) -> np.ndarray:
    """Return the ten parameters of a pseudo-inertia."""
    matrix = np.asarray(matrix)
    tensor = np.eye(3) * np.trace(matrix[:3, :3]) - matrix[:3, :3]
    return np.array([matrix[3, 3], *matrix[:3, 3], *(tensor[i, j] for i, j in TENSOR)])


def is_consistent(parameters: Array) -> bool:
    """Return whether a physical body can have these ten parameters (positive definite pseudo-inertia)."""
    return bool(np.linalg.eigvalsh(pseudo_inertia(parameters))[0] > 0.0)


def near_consistent(parameters: Array) -> np.ndarray:
    """Return the consistent parameters close to a body's; a point, a line or a sheet gets some extent."""
    matrix = pseudo_inertia(parameters)
    mass = max(float(matrix[3, 3]), LEAST)
    centre = matrix[:3, 3] / mass
    sizes, axes = np.linalg.eigh(matrix[:3, :3] - mass * np.outer(centre, centre))
    second = (axes * np.maximum(sizes, mass * THIN**2)) @ axes.T + mass * np.outer(centre, centre)
    first = mass * centre
    return parameters_of(np.block([[second, first[:, None]], [first[None], np.array([[mass]])]]))


@dataclass(frozen=True)
class Consistent:
    """Parameters of all columns, whether the solver converged, standard deviation of the residuals [N m or N].

    status: message of the solver; iterations: its steps.
    """

    values: np.ndarray
    converged: bool
    noise: float
    status: str = ""
    iterations: int = 0


def consistent(
    matrix: Array,
    forces: Array,
    nominal: Array,
    bodies: Sequence[int],
    pull: float = PULL,
    free: Sequence[int] = (),
    unknown: Sequence[int] = (),
) -> Consistent:
    """Return the parameters of all regressor columns: bodies' consistent, others (drives, friction) not negative.

    matrix (rows, column), also of incomplete rank; nominal (column,): values to which they are pulled; bodies: first
    column of each body; free: columns, such as offsets, that may have any sign; unknown: first columns of bodies, such
    as payloads, whose nominal values give no size: the size of the largest other body is used. A body has at
    least the mass LEAST, and THIN as radius of gyration in every direction. Raises ValueError for nominal values that
    are not consistent.
    """
    matrix, forces, nominal = (np.asarray(x, dtype=float) for x in (matrix, forces, nominal))
    for start in bodies:
        if not is_consistent(nominal[start : start + SIZE]):
            raise ValueError(
                f"nominal: got body parameters {nominal[start : start + SIZE].tolist()}, whose pseudo-inertia is not "
                "positive definite; expected a body with extent in all directions"
            )
    sizes = _sizes(matrix, forces, nominal, bodies, unknown)
    # R of both sides: the program then does not depend on the number of rows
    reduced = np.asarray(qr(np.column_stack([matrix * sizes, forces]), mode="economic")[1])
    reduced = reduced / max(float(np.abs(reduced[:, -1]).max()), np.finfo(float).tiny)
    scale = float(np.linalg.norm(reduced[:, -1])) / np.sqrt(matrix.shape[1])
    slopes = np.vstack([reduced[:, :-1], np.eye(matrix.shape[1]) * (pull * scale)])
    target = np.concatenate([reduced[:, -1], nominal / sizes * (pull * scale)])
    inside = {start + k for start in bodies for k in range(SIZE)}
    signed = [k for k in range(matrix.shape[1]) if k not in inside and k not in set(free)]
    answer, status, iterations = _solved(slopes, target, sizes, bodies, signed)
    values = answer * sizes
    good = status in SOLVED and all(is_consistent(values[start : start + SIZE]) for start in bodies)
    return Consistent(values, good, float(np.std(forces - matrix @ values)), status, iterations)


def _sizes(
    matrix: np.ndarray, forces: np.ndarray, nominal: np.ndarray, bodies: Sequence[int], unknown: Sequence[int]
) -> np.ndarray:
    """Return the sizes (column,) of parameters: of bodies by nominal mass and extent, of others by the forces."""
    largest = max((start for start in bodies if start not in unknown), key=lambda start: nominal[start], default=None)
    lengths, force = np.linalg.norm(matrix, axis=0), float(np.linalg.norm(forces))
    moved = lengths > 1e-9 * lengths.max(initial=0.0)
    sizes = np.where(moved & (force > 0), force / np.where(moved, lengths, 1.0), 1.0)
    sizes = np.maximum(sizes, np.abs(nominal))
    for start in bodies:
        like = largest if start in unknown and largest is not None else start
        mass = nominal[like]
        length = max(float(np.sqrt(np.trace(pseudo_inertia(nominal[like : like + SIZE])[:3, :3]) / mass)), SHORTEST)
        sizes[start : start + SIZE] = mass * np.array([1.0, *([length] * 3), *([length**2] * 6)])
    return sizes


def _solved(
    slopes: np.ndarray, target: np.ndarray, sizes: np.ndarray, bodies: Sequence[int], signed: Sequence[int]
) -> tuple[np.ndarray, str, int]:
    """Minimise |slopes x - wanted| with P(x) positive semidefinite for each body, and the `signed` not negative.

    The unknowns are x and the residuals, so that no matrix is squared.
    """
    rows, columns = slopes.shape
    blocks = [sparse.hstack([sparse.csc_matrix(slopes), -sparse.eye(rows)])]
    right, cones = [target], [clarabel.ZeroConeT(rows)]
    for start in bodies:
        block = np.zeros((len(TRIANGLE), columns))
        for k in range(SIZE):
            row = np.eye(SIZE)[k] * sizes[start + k]
            block[:, start + k] = triangle_vector(pseudo_inertia(row) - _least(row))
        # as large as the body, so that the tolerances of the solver are relative to it
        size = np.abs(block).max(axis=1, keepdims=True)
        length = np.sqrt(np.array([size[TRIANGLE.index((k, k))] for k in range(SIDE)])).ravel()
        shape = np.array([length[i] * length[j] for i, j in TRIANGLE])[:, None]
        blocks.append(sparse.hstack([sparse.csc_matrix(-block / shape), sparse.csc_matrix((len(TRIANGLE), rows))]))
        least = np.zeros(len(TRIANGLE))
        least[-1] = -LEAST / float(shape[-1, 0])
        right.append(least)
        cones.append(clarabel.PSDTriangleConeT(SIDE))
    if signed:
        picked = sparse.csc_matrix(-np.eye(columns)[list(signed)])
        blocks.append(sparse.hstack([picked, sparse.csc_matrix((len(signed), rows))]))
        right.append(np.zeros(len(signed)))
        cones.append(clarabel.NonnegativeConeT(len(signed)))
    weight = sparse.block_diag([sparse.csc_matrix((columns, columns)), sparse.eye(rows)], format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    linear = np.zeros(columns + rows)
    constraints = sparse.vstack(blocks, format="csc")
    answer = clarabel.DefaultSolver(weight, linear, constraints, np.concatenate(right), cones, settings).solve()
    return np.array(answer.x)[:columns], str(answer.status), int(answer.iterations)


def _least(parameters: Array) -> np.ndarray:
    """Return the lower bound of a pseudo-inertia for its mass: radius of gyration THIN in every direction."""
    return np.asarray(np.diag([parameters[0] * THIN**2] * 3 + [0.0]))


def triangle_vector(matrix: Array) -> np.ndarray:
    """Return the upper triangle of a symmetric matrix, column by column, as a vector of the same length."""
    side = len(matrix)
    scaled = np.asarray(matrix) * np.where(np.eye(side), 1.0, np.sqrt(2.0))
    return np.concatenate([scaled[: j + 1, j] for j in range(side)])
