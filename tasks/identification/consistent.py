"""Estimates of inertial parameters that a body can have: positive mass, positive definite pseudo-inertia.

Each body's ten parameters are the pseudo-inertia matrix P = U U^T with U upper triangular and a positive diagonal. The
entries of U (logarithms on the diagonal) are searched without constraints; a weak pull to nominal values decides what
the data do not. Sources: Wensing, Kim and Slotine 2018, for the condition; Rucker and Wensing 2022, for the
coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr
from scipy.optimize import least_squares as search

from tasks.identification.columns import BODY, TENSOR
from tasks.kernels.types import Array

PLACES = tuple((i, j) for i in range(4) for j in range(i, 4))
SIZE = len(BODY)
LEAST, THIN = 1e-6, 1e-3
"""What a body has at least: mass [kg], and radius of gyration in every direction [m]."""
PULL = 1e-4
"""Weight of the distance to the nominal coordinates, relative to the forces."""


def pseudo_inertia(parameters: Array) -> np.ndarray:
    """P (4, 4) of ten parameters: second moment, first moment and mass."""
    mass, first, elements = parameters[0], np.asarray(parameters[1:4]), parameters[4:]
    tensor = np.zeros((3, 3))
    for value, (i, j) in zip(elements, TENSOR, strict=True):
        tensor[i, j] = tensor[j, i] = value
    second = np.eye(3) * (np.trace(tensor) * 0.5) - tensor
    return np.block([[second, first[:, None]], [first[None], np.array([[mass]])]])


def parameters_of(matrix: Array) -> np.ndarray:
    """The ten parameters of a pseudo-inertia."""
    matrix = np.asarray(matrix)
    tensor = np.eye(3) * np.trace(matrix[:3, :3]) - matrix[:3, :3]
    return np.array([matrix[3, 3], *matrix[:3, 3], *(tensor[i, j] for i, j in TENSOR)])


def is_consistent(parameters: Array) -> bool:
    """Whether a body can have these ten parameters."""
    return bool(np.linalg.eigvalsh(pseudo_inertia(parameters))[0] > 0.0)


def near_consistent(parameters: Array) -> np.ndarray:
    """Consistent parameters close to those of a body that may be a point, a line or a sheet: it gets some extent."""
    matrix = pseudo_inertia(parameters)
    mass = max(float(matrix[3, 3]), LEAST)
    centre = matrix[:3, 3] / mass
    sizes, axes = np.linalg.eigh(matrix[:3, :3] - mass * np.outer(centre, centre))
    second = (axes * np.maximum(sizes, mass * THIN**2)) @ axes.T + mass * np.outer(centre, centre)
    first = mass * centre
    return parameters_of(np.block([[second, first[:, None]], [first[None], np.array([[mass]])]]))


def coordinates(parameters: Array) -> np.ndarray:
    """Coordinates (10,) of consistent parameters. Raises ValueError for others."""
    if not is_consistent(parameters):
        raise ValueError(
            f"nominal: got body parameters {np.asarray(parameters).tolist()}, whose pseudo-inertia is not positive "
            "definite; expected a body with extent in all directions"
        )
    flipped = np.linalg.cholesky(pseudo_inertia(parameters)[::-1, ::-1])
    upper = flipped[::-1, ::-1]
    return np.array([np.log(upper[i, j]) if i == j else upper[i, j] for i, j in PLACES])


def from_coordinates(values: Array) -> np.ndarray:
    """The ten parameters of coordinates; always consistent."""
    return parameters_of((upper := _triangle(values)) @ upper.T)


def _triangle(values: Array) -> np.ndarray:
    upper = np.zeros((4, 4))
    for value, (i, j) in zip(values, PLACES, strict=True):
        upper[i, j] = np.exp(value) if i == j else value
    return upper


def _slopes(values: Array) -> np.ndarray:
    """Derivatives of the parameters by the coordinates (10, 10)."""
    upper, columns = _triangle(values), []
    for i, j in PLACES:
        change = np.zeros((4, 4))
        change[i, j] = upper[i, j] if i == j else 1.0
        columns.append(parameters_of(change @ upper.T + upper @ change.T))
    return np.stack(columns, axis=1)


@dataclass(frozen=True)
class Consistent:
    """Parameters of all columns, whether the search converged, standard deviation of the residuals [N m or N]."""

    values: np.ndarray
    converged: bool
    noise: float


def consistent(matrix: Array, forces: Array, nominal: Array, bodies: Sequence[int], pull: float = PULL) -> Consistent:
    """Parameters of all columns of a regressor, those of bodies consistent, the others (drives, friction) not negative.

    matrix (rows, column), also of incomplete rank; nominal (column,): where the search starts and is pulled to; bodies:
    first column of each body. Raises ValueError for nominal values that are not consistent.
    """
    matrix, forces, nominal = (np.asarray(x, dtype=float) for x in (matrix, forces, nominal))
    inside = {start + k for start in bodies for k in range(SIZE)}
    others = [k for k in range(matrix.shape[1]) if k not in inside]
    start = np.concatenate([*(coordinates(nominal[k : k + SIZE]) for k in bodies), nominal[others]])
    scale = np.linalg.norm(forces) / np.sqrt(len(start))
    # R of both sides: the search then does not depend on the number of rows
    reduced = np.asarray(qr(np.column_stack([matrix, forces]), mode="economic")[1])
    slopes, wanted = reduced[:, :-1], reduced[:, -1]
    lower = np.concatenate([np.full(SIZE * len(bodies), -np.inf), np.zeros(len(others))])

    def parameters(unknown: np.ndarray) -> np.ndarray:
        result = np.zeros(matrix.shape[1])
        for n, k in enumerate(bodies):
            result[k : k + SIZE] = from_coordinates(unknown[SIZE * n : SIZE * (n + 1)])
        result[others] = unknown[SIZE * len(bodies) :]
        return result

    def residuals(unknown: np.ndarray) -> np.ndarray:
        return np.concatenate([slopes @ parameters(unknown) - wanted, (unknown - start) * (pull * scale)])

    def jacobian(unknown: np.ndarray) -> np.ndarray:
        by = np.zeros((matrix.shape[1], len(unknown)))
        for n, k in enumerate(bodies):
            own = slice(SIZE * n, SIZE * (n + 1))
            by[k : k + SIZE, own] = _slopes(unknown[own])
        by[others, np.arange(SIZE * len(bodies), len(unknown))] = 1.0
        return np.vstack([slopes @ by, np.eye(len(unknown)) * (pull * scale)])

    first = np.maximum(start, np.where(np.isfinite(lower), 1e-12, -np.inf))
    found = search(residuals, first, jac=jacobian, bounds=(lower, np.full(len(start), np.inf)), x_scale="jac")
    values = parameters(found.x)
    return Consistent(values, bool(found.success), float(np.std(forces - matrix @ values)))
