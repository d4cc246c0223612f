"""From recordings of many designs to their base parameters: `estimation.fit` with arrays over designs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from applications.identification.estimation import estimators
from applications.identification.estimation.base import BaseParameters
from applications.identification.estimation.designs.bases import bases_of
from applications.identification.estimation.designs.motions import is_finite, measured_motions
from applications.identification.estimation.designs.states import Motions
from applications.identification.estimation.designs.table import FitTable, Groupings
from applications.identification.estimation.recorded import Filtering, RecordedTracks
from robots.data_classes import dataclass
from robots.model import Robot
from tasks.dynamics.design_regressor import regressors, standard_values
from tasks.dynamics.designs import RobotDesigns
from tasks.dynamics.regressor import columns_of
from tasks.features.friction.inputs import FrictionInput

BYTES = 1 << 26
"""Bytes of columns on freedoms that designs have together at once, about a fifth of all that they need."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """Recordings of designs: forces and, where the motion is measured, positions (design, sample, actuator)."""

    forces: np.ndarray
    positions: np.ndarray | None


@dataclass(frozen=True)
class FitOptions:
    """Method, one of ESTIMATORS, friction with the number of its set, and the filter of recorded forces."""

    method: str
    friction: FrictionInput
    number: int
    filtering: Filtering | None


def fit_designs(
    robot: Robot,
    designs: RobotDesigns,
    numbers: np.ndarray,
    tracks: RecordedTracks,
    recorded: Recorded,
    options: FitOptions,
) -> Iterator[FitTable]:
    """Yield tables with the fits of designs; those that are absent in all of them need `fit`, one at a time.

    robot: the nominal one; numbers (design,): numbers of the designs in the sweep.
    """
    columns = columns_of(robot, options.friction, shared=True)
    samples = recorded.forces.shape[1]
    most = max(1, BYTES // (8 * samples * len(columns) * len(robot.mechanism.freedoms)))
    truth = standard_values(designs, options.friction)
    for first in range(0, len(designs), most):
        part = slice(first, first + most)
        some, forces = designs.taken(part), recorded.forces[part]
        moved: Motions = dict(tracks.commanded)
        if recorded.positions is not None:
            moved = measured_motions(some, recorded.positions[part], moved, tracks.spans, tracks.step)
        good = is_finite(moved) & np.isfinite(forces).all(axis=(1, 2))
        bases, geometry = bases_of(some, robot, columns, options.friction)
        patterns = {base.independent for base in bases if base is not None}
        for pattern in sorted(patterns):
            alike = [base is not None and base.independent == pattern for base in bases]
            batch = np.flatnonzero(good & np.array(alike)[geometry])
            if len(batch):
                at = {name: values if len(values) == 1 else values[batch] for name, values in moved.items()}
                of_pattern = _Batch(some.taken(batch), numbers[part][batch], at, forces[batch], truth[part][batch])
                used, places = np.unique(geometry[batch], return_inverse=True)
                table = _fitted(of_pattern, [bases[k] for k in used.tolist()], places.ravel(), tracks, options)
                if table is not None:
                    yield table


@dataclass(frozen=True, eq=False)
class _Batch:
    """Designs whose base parameters have the same columns: numbers, motions, forces and true parameters."""

    designs: RobotDesigns
    numbers: np.ndarray
    motion: Motions
    forces: np.ndarray
    truth: np.ndarray

    def taken(self, places: np.ndarray) -> _Batch:
        """Return some of them, without their motions."""
        return _Batch(self.designs, self.numbers[places], {}, self.forces[places], self.truth[places])


def _fitted(
    batch: _Batch, bases: Sequence[BaseParameters], geometry: np.ndarray, tracks: RecordedTracks, options: FitOptions
) -> FitTable | None:
    """Return the table of designs; None where no parameters can be estimated."""
    matrix = regressors(batch.designs, batch.motion, options.friction, bases[0].independent)
    good = np.isfinite(matrix).all(axis=(1, 2, 3))
    if not good.all():
        matrix, geometry, batch = matrix[good], geometry[good], batch.taken(np.flatnonzero(good))
    if not len(matrix):
        return None
    training, unused_rows = (_rows(matrix, batch.forces, tracks, options.filtering, part) for part in (True, False))
    if training is None or training[0].shape[1] <= training[0].shape[2]:
        return None
    try:
        estimated = estimators.estimates(options.method, *training, matrix.shape[1])
    except (ValueError, np.linalg.LinAlgError):
        return None  # one of them is the reason
    groups = np.stack([base.groups for base in bases])[geometry]
    unused = np.full(len(matrix), np.nan)
    if unused_rows is not None:
        residuals = unused_rows[1] - (unused_rows[0] @ estimated.values[..., None])[..., 0]
        with np.errstate(invalid="ignore", divide="ignore"):
            unused = np.linalg.norm(residuals, axis=1) / np.linalg.norm(unused_rows[1], axis=1)
    return FitTable(
        options.number,
        batch.numbers,
        Groupings.of(bases, geometry),
        (groups @ batch.truth[..., None])[..., 0],
        estimated.values,
        estimated.deviations,
        estimated.condition,
        estimated.noise,
        unused,
    )


def _rows(
    matrix: np.ndarray, forces: np.ndarray, tracks: RecordedTracks, filtering: Filtering | None, training: bool
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return rows (design, row, column) and forces (design, row) of the trajectories of a part; None without any.

    The rows of the actuators take turns.
    """
    matrices, sides = [], []
    for span, trains in zip(tracks.spans, tracks.training, strict=True):
        if trains != training:
            continue
        rows, side = np.moveaxis(matrix[..., span], -1, 0), forces[:, span]
        if filtering is not None:
            used = filtering.kept(len(rows))
            rows, side = filtering.columns(rows)[used], side[:, used]
        matrices.append(np.swapaxes(rows, 0, 1).reshape(len(side), -1, rows.shape[-1]))
        sides.append(side.reshape(len(side), -1))
    return (np.concatenate(matrices, axis=1), np.concatenate(sides, axis=1)) if matrices else None
