"""Estimators of parameters from a regressor and forces: one table, pure functions, all with standard deviations.

`forces = matrix @ parameters + noise`, matrix (rows, parameter) of full rank, rows in turn of the actuators. Sources:
Swevers et al. 1997 and Gautier, Janot, Vandanjon 2013 for weights by actuator; Huber 1981 for reweighting; Golub and
Van Loan 1980 for total least squares; Rust 1972 for the covariances, which are those of the linear model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robots.data_classes import dataclass, replace
from robots.parameter_errors import nearest
from tasks.kernels.expression import Array

Actuators = int | Array
"""Number of actuators whose rows take turns; or the actuator's number of each row (rows,)."""
HUBER = 1.345
"""Residuals beyond this many standard deviations lose weight; 95 % efficient where the noise is normal."""
ITERATIONS = 50
SETTLED = 1e-10


@dataclass(frozen=True)
class Estimate:
    """Result of an estimator.

    values, deviations (parameter,): parameters and their standard deviations; condition: of the weighted matrix with
    columns of length one; noise: standard deviation of the residuals [N m or N]; iterations: steps taken; spread
    (actuator,): noise that rows were weighted by, where it is by actuator alone.
    """

    values: np.ndarray
    deviations: np.ndarray
    condition: float
    noise: float
    iterations: int = 1
    spread: np.ndarray | None = None


def least_squares(matrix: ArrayLike, forces: ArrayLike, actuators: Actuators = 1) -> Estimate:
    """Estimate by ordinary least squares."""
    matrix, forces = _checked(matrix, forces, actuators)
    return _weighted(matrix, forces, np.ones(len(forces)))


def weighted(matrix: ArrayLike, forces: ArrayLike, actuators: Actuators = 1) -> Estimate:
    """Estimate with rows weighted by the noise of their actuator, which a first pass of least squares finds."""
    matrix, forces = _checked(matrix, forces, actuators)
    first = _weighted(matrix, forces, np.ones(len(forces)))
    spread = _by_actuator(forces - matrix @ first.values, actuators)
    found = _weighted(matrix, forces, 1.0 / _on_rows(spread, forces, actuators))
    return replace(_unscaled(found, matrix, forces), spread=spread)


def reweighted(matrix: ArrayLike, forces: ArrayLike, actuators: Actuators = 1) -> Estimate:
    """Estimate with iterative weights: by actuator, and less for outlying rows (Huber), for gross errors."""
    matrix, forces = _checked(matrix, forces, actuators)
    found = _weighted(matrix, forces, np.ones(len(forces)))
    steps = 0
    for _ in range(ITERATIONS):
        steps += 1
        residuals = forces - matrix @ found.values
        spread = _on_rows(_by_actuator(residuals, actuators, robust=True), forces, actuators)
        far = np.abs(residuals) / spread
        weights = np.sqrt(np.minimum(1.0, HUBER / np.maximum(far, HUBER))) / spread
        before, found = found.values, _weighted(matrix, forces, weights)
        if np.linalg.norm(found.values - before) <= SETTLED * np.linalg.norm(found.values):
            break
    clean = _unscaled(found, matrix, forces)
    return Estimate(clean.values, clean.deviations, clean.condition, clean.noise, steps)


def total_least_squares(matrix: ArrayLike, forces: ArrayLike, actuators: Actuators = 1) -> Estimate:
    """Estimate with errors in regressor and forces, columns scaled to the length of the forces' noise-free part."""
    matrix, forces = _checked(matrix, forces, actuators)
    first = _weighted(matrix, forces, np.ones(len(forces)))
    sizes = np.linalg.norm(matrix, axis=0)
    size = float(np.linalg.norm(forces)) or 1.0
    singular, right = np.linalg.svd(np.column_stack([matrix / sizes, forces / size]), full_matrices=False)[1:]
    last = right[-1]
    values = -last[:-1] / last[-1] * size / sizes
    # first order in the noise the covariance is that of least squares, more noise by the norm of its factors
    grown = float(np.sqrt(1.0 + np.sum((values * sizes / size) ** 2)))
    return Estimate(values, first.deviations * grown, first.condition, float(singular[-1]) * size / len(forces) ** 0.5)


ESTIMATORS: Mapping[str, Callable[..., Estimate]] = {
    "least_squares": least_squares,
    "weighted": weighted,
    "reweighted": reweighted,
    "total_least_squares": total_least_squares,
}


def estimate(method: str, matrix: ArrayLike, forces: ArrayLike, actuators: Actuators = 1) -> Estimate:
    """Return the parameters by the estimator of that name; rows in turn of the `actuators`. Raises ValueError."""
    if method not in ESTIMATORS:
        raise ValueError(f"method: got {method!r}; expected an estimator; {nearest(method, ESTIMATORS)}")
    return ESTIMATORS[method](matrix, forces, actuators)


class Estimates(NamedTuple):
    """Estimates of several cases: values, deviations (case, parameter), condition and noise (case,); see `Estimate`."""

    values: np.ndarray
    deviations: np.ndarray
    condition: np.ndarray
    noise: np.ndarray


def estimates(method: str, matrix: np.ndarray, forces: np.ndarray, actuators: int) -> Estimates:
    """Return what `estimate` returns for each of several matrices (case, row, parameter) and forces (case, row).

    Raises ValueError, and LinAlgError, where it raises for one of them.
    """
    if method == "weighted":
        first = _solved(matrix, forces, np.ones(forces.shape))
        spread = _by_actuators(forces - _product(matrix, first.values), actuators)
        second = _solved(matrix, forces, 1.0 / np.tile(spread, (1, forces.shape[1] // actuators)))
        return second._replace(noise=_noise(forces - _product(matrix, second.values), matrix.shape[2]))
    if method == "least_squares":
        return _solved(matrix, forces, np.ones(forces.shape))
    cases = [estimate(method, *case, actuators) for case in zip(matrix, forces, strict=True)]
    return Estimates(*(np.array([getattr(case, name) for case in cases]) for name in Estimates._fields))


def _by_actuators(residuals: np.ndarray, actuators: int) -> np.ndarray:
    """Return the standard deviations of the residuals (case, row) of each actuator (case, actuator), never zero."""
    columns = np.ascontiguousarray(np.swapaxes(residuals.reshape(len(residuals), -1, actuators), 1, 2))
    floor = np.finfo(float).eps * np.maximum(np.abs(residuals).max(axis=1), 1.0)
    return np.maximum(np.sqrt(np.mean(columns * columns, axis=2)), floor[:, None])


def condition_number(matrix: Array) -> float:
    """Return the condition number of a matrix with columns scaled to length one; infinite if a column is zero."""
    sizes = np.linalg.norm(matrix, axis=0)
    return float(np.linalg.cond(matrix / sizes)) if (sizes > 0).all() else np.inf


def residual_norm(matrix: Array, forces: Array, values: Array) -> float:
    """Compute the residual of predicted forces relative to the forces, for trajectories that were not used."""
    return float(np.linalg.norm(forces - matrix @ values) / np.linalg.norm(forces))


def _checked(matrix: ArrayLike, forces: ArrayLike, actuators: Actuators) -> tuple[np.ndarray, np.ndarray]:
    matrix, forces = np.asarray(matrix, dtype=float), np.asarray(forces, dtype=float)
    fits = matrix.ndim == 2 and forces.shape == matrix.shape[:1]
    fits &= len(forces) % actuators == 0 if isinstance(actuators, int) else np.shape(actuators) == forces.shape
    count = actuators if isinstance(actuators, int) else len(np.unique(actuators))
    if not fits or len(forces) <= matrix.shape[1] or not (np.isfinite(matrix).all() and np.isfinite(forces).all()):
        raise ValueError(
            f"matrix, forces: got shapes {matrix.shape} and {forces.shape} with {count} actuators; expected finite "
            "(rows, parameter) and (rows,), more rows than parameters, as many for each actuator"
        )
    return matrix, forces


def _weighted(matrix: np.ndarray, forces: np.ndarray, weights: np.ndarray) -> Estimate:
    """Estimate by least squares of weighted rows."""
    case = _solved(matrix[None], forces[None], weights[None])
    return Estimate(case.values[0], case.deviations[0], float(case.condition[0]), float(case.noise[0]))


def _solved(matrix: np.ndarray, forces: np.ndarray, weights: np.ndarray) -> Estimates:
    """Estimate by least squares of weighted rows, each case by itself, by QR of columns of length one.

    The forces are a column more, so that Q is not needed.
    """
    scaled = matrix * weights[..., None]
    sizes = np.linalg.norm(scaled, axis=1)
    if not (sizes > 0).all():
        raise ValueError("matrix: got a column of zeros; expected base parameters that the data move; reduce it first")
    whole = np.concatenate([scaled / sizes[:, None], (forces * weights)[..., None]], axis=2)
    triangle = np.asarray(np.linalg.qr(whole, mode="r"))[:, : matrix.shape[2]]
    r, turned = np.split(triangle, [matrix.shape[2]], axis=2)
    values = np.linalg.solve(r, turned)[..., 0] / sizes
    noise = _noise((forces - _product(matrix, values)) * weights, matrix.shape[2])
    inverse = np.linalg.solve(r, np.broadcast_to(np.eye(r.shape[-1]), r.shape))
    deviations = noise[:, None] * np.linalg.norm(inverse, axis=2) / sizes
    return Estimates(values, deviations, np.linalg.cond(r), noise)


def _product(matrix: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return the product of each matrix (case, row, column) with its vector (case, column)."""
    return np.asarray((matrix @ vectors[..., None])[..., 0])


def _noise(residuals: np.ndarray, parameters: int) -> np.ndarray:
    """Return the standard deviation of residuals (case, row) after so many parameters."""
    return np.asarray(np.sqrt(np.sum(residuals * residuals, axis=1) / (residuals.shape[1] - parameters)))


def _unscaled(found: Estimate, matrix: np.ndarray, forces: np.ndarray) -> Estimate:
    """Return the same with the noise in the units of the forces."""
    residuals = forces - matrix @ found.values
    noise = float(np.sqrt(residuals @ residuals / (len(forces) - matrix.shape[1])))
    return Estimate(found.values, found.deviations, found.condition, noise, found.iterations)


def _on_rows(spread: np.ndarray, forces: np.ndarray, actuators: Actuators) -> np.ndarray:
    """Return a number of each actuator on each of its rows."""
    return np.tile(spread, len(forces) // actuators) if isinstance(actuators, int) else spread[np.asarray(actuators)]


def _by_actuator(residuals: np.ndarray, actuators: Actuators, robust: bool = False) -> np.ndarray:
    """Return the standard deviation of each actuator's residuals; robust ones from the median, never zero."""
    if isinstance(actuators, int):
        columns = list(residuals.reshape(-1, actuators).T)
    else:
        labels = np.asarray(actuators)
        columns = [residuals[labels == k] if (labels == k).any() else np.zeros(1) for k in range(labels.max() + 1)]
    rows = [np.median(np.abs(x)) / 0.6745 if robust else np.sqrt(np.mean(x * x)) for x in columns]
    floor = np.finfo(float).eps * max(float(np.abs(residuals).max()), 1.0)
    return np.maximum(np.array(rows), floor)
