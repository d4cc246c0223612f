"""Recordings of designs of one family: motions and forces along several trajectories, and the filter of forces."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from applications.identification.estimation.encoders import measured_motions
from applications.identification.estimation.states import Motions
from robots.data_classes import dataclass, replace
from tasks.dynamics.designs import RobotDesigns
from tasks.dynamics.records import Motion
from tasks.mathematics.signals import Settings, filtered


@dataclass(frozen=True)
class Filtering:
    """Filter of recorded forces: parameters of a measurement, time between samples [s].

    The regressor passes the same filter, so that both sides stay equal. Then only as many samples are kept as the
    filter leaves independent; with more samples, standard deviations would be too small. No samples are kept at the
    ends, because a filter does not know the signal before and after. Source: Gautier 1997, parallel filtering.
    """

    values: Settings
    step: float

    @property
    def every(self) -> int:
        """Decimation: one of `every` samples is kept."""
        cutoff = float(np.asarray(self.values["cutoff"]))
        return max(1, round(0.5 / (cutoff * self.step))) if cutoff else 1

    @property
    def ends(self) -> int:
        """Number of samples that are left out at each end."""
        return 4 * self.every if self.values["cutoff"] else 0

    def columns(self, matrix: np.ndarray) -> np.ndarray:
        """Return a regressor (samples, ...), filtered along time."""
        return filtered(self.values, self.step, matrix) if self.values["cutoff"] else matrix

    def kept(self, samples: int) -> slice:
        """Return the slice of the samples that are kept out of `samples`."""
        return slice(self.ends, samples - self.ends, self.every)


@dataclass(frozen=True, eq=False)
class Recordings:
    """Recordings of designs, one trajectory after another along the samples.

    forces (design, sample, actuator); positions of the actuators, the same, None where motions are the planned ones;
    planned (design or 1, sample, ...): keywords of `Moving`; spans: samples of each trajectory, one every `step` [s];
    training: whether each is for training; follows: whether robots move as planned, but for errors of sensors: those in
    simulations do not; base: its motion (sample, ...), None where it stands.
    """

    forces: np.ndarray
    positions: np.ndarray | None
    planned: Motions
    spans: tuple[slice, ...]
    training: tuple[bool, ...]
    step: float
    follows: bool = True
    base: Motion | None = None

    def taken(self, places: np.ndarray | slice) -> Recordings:
        """Return the recordings of some designs."""
        positions = None if self.positions is None else self.positions[places]
        return replace(self, forces=self.forces[places], positions=positions, planned=of_designs(self.planned, places))

    def motions(self, designs: RobotDesigns) -> Motions:
        """Return the motions: from encoders, or the planned ones."""
        if self.positions is None:
            return self.planned
        return measured_motions(designs, self.positions, self.planned, self.spans, self.step)

    def spans_of(self, training: bool) -> list[slice]:
        """Return the samples of each trajectory for training, or of each other one."""
        return [span for span, trains in zip(self.spans, self.training, strict=True) if trains == training]

    def samples_of(self, training: bool) -> np.ndarray:
        """Return the numbers of the samples for training, or of the others."""
        return np.concatenate([np.arange(0), *(np.arange(span.start, span.stop) for span in self.spans_of(training))])

    def base_at(self, samples: np.ndarray | slice) -> Motion | None:
        """Return the motion of the base at some samples."""
        if self.base is None:
            return None
        return Motion(**{name: np.asarray(part)[samples] for name, part in self.base.present().items()})

    def filtered(
        self,
        columns: Callable[[slice], np.ndarray],
        filtering: Filtering | None,
        parts: tuple[bool, ...] = (True, False),
        most: float = math.inf,
    ) -> tuple[FilteredRows, ...]:
        """Return the filtered regressors and forces of the trajectories for training (True), and of the others (False).

        columns: gives the regressor (design, actuator, column, sample) of some samples, of `most` together where one
        trajectory has no more. A sample that is no number spreads over its whole trajectory, which then is left out.
        """
        pieces: dict[bool, list[tuple[np.ndarray, np.ndarray]]] = {part: [] for part in parts}
        for group in self._groups(parts, most):
            first = self.spans[group[0]].start
            matrix = columns(slice(first, self.spans[group[-1]].stop))
            if not any(pieces.values()):
                for part in parts:  # of no sample, where a part has no trajectory
                    pieces[part].append((np.moveaxis(matrix[..., :0], -1, 1), self.forces[:, :0]))
            for k in group:
                span = self.spans[k]
                rows = np.moveaxis(matrix[..., span.start - first : span.stop - first], -1, 0)
                forces = self.forces[:, span]
                if filtering is not None:
                    used = filtering.kept(len(rows))
                    rows, forces = filtering.columns(rows)[used], forces[:, used]
                pieces[self.training[k]].append((np.ascontiguousarray(np.swapaxes(rows, 0, 1)), forces))
        return tuple(FilteredRows.joined(pieces[part]) for part in parts)

    def _groups(self, parts: tuple[bool, ...], most: float) -> list[list[int]]:
        """Return trajectories of some parts in groups, one after another, of `most` samples together."""
        groups: list[list[int]] = []
        for k, span in enumerate(self.spans):
            if self.training[k] not in parts:
                continue
            if groups and groups[-1][-1] == k - 1 and span.stop - self.spans[groups[-1][0]].start <= most:
                groups[-1].append(k)
            else:
                groups.append([k])
        return groups


class FilteredRows(NamedTuple):
    """Filtered regressors (design, sample, actuator, column), forces (design, sample, actuator); good samples."""

    matrix: np.ndarray
    forces: np.ndarray
    good: np.ndarray

    @classmethod
    def joined(cls, pieces: Sequence[tuple[np.ndarray, np.ndarray]]) -> FilteredRows:
        """Return the regressors and forces of several trajectories, one after another."""
        matrix, forces = (np.concatenate(arrays, axis=1) for arrays in zip(*pieces, strict=True))
        return cls(matrix, forces, np.isfinite(matrix).all(axis=(2, 3)) & np.isfinite(forces).all(axis=2))

    def taken(self, places: np.ndarray) -> FilteredRows:
        """Return those of some designs."""
        return FilteredRows(*(values[places] for values in self))

    def alike(self) -> list[np.ndarray]:
        """Return the designs, those with the same good samples together."""
        if self.good.all():
            return [np.arange(len(self.good))]
        patterns, numbers = np.unique(self.good, axis=0, return_inverse=True)
        return [np.flatnonzero(numbers.ravel() == k) for k in range(len(patterns))]

    def rows(self, values: np.ndarray) -> np.ndarray:
        """Return rows (design, row, ...) of an array (design, sample, actuator, ...): the actuators take turns.

        Samples that are good for no design are left out, and rows are zero where they are not good for one.
        """
        used = self.good.any(axis=0)
        good, some = (self.good, values) if used.all() else (self.good[:, used], values[:, used])
        if not good.all():
            some = np.where(good.reshape(*good.shape, *(1 for _ in some.shape[2:])), some, 0.0)
        return some.reshape(len(some), -1, *some.shape[3:])


def of_designs(motion: Motions, places: np.ndarray | slice) -> Motions:
    """Return the motions of some designs."""
    return {name: values if len(values) == 1 else values[places] for name, values in motion.items()}


RATES = ("acceleration", "qdd")


def is_slow(motion: Motions) -> np.ndarray:
    """Return a mask (design or 1,) of the motions without acceleration."""
    moves = [values.any(axis=(1, 2)) for name, values in motion.items() if name in RATES]
    return np.asarray(~np.logical_or.reduce(moves))
