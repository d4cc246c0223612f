"""Fit the parameters of a machine to rows of recordings: estimates, deviations, residuals, payloads.

The result has parameters that bodies can have, near those of the base parameters, and the robot with them.

A payload is fixed to a body, whose columns of the regressor are its own as well. Forces of a known payload need no
parameter; an unknown one has its own parameters. Source: Khalil, Gautier and Lemoine 2007.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from applications.identification.estimation import estimators
from applications.identification.estimation.base import BaseParameters
from applications.identification.estimation.consistent import SIZE
from applications.identification.estimation.encoders import finite
from applications.identification.estimation.entropic import (
    BodyLimits,
    PriorProblem,
    cross_validated_bodies,
    entropic,
    reduced_rows,
)
from applications.identification.estimation.machines import residuals as statistics
from applications.identification.estimation.machines.choices import FADING, BodyPrior
from applications.identification.estimation.machines.coupled_friction import FRICTION, STEPS, settled, with_inertia
from applications.identification.estimation.machines.machine import TRAIN, RecordedMachine
from applications.identification.estimation.machines.machine_model import OFFSET
from applications.identification.estimation.machines.preparation import Prepared
from applications.identification.estimation.machines.recorded_motion import robot_motion
from applications.identification.estimation.machines.residuals import FitRows, LackOfFit, Whiteness
from applications.identification.estimation.machines.run import Run, thinned
from robots.data_classes import dataclass, field, replace
from robots.formats.description import Description, describe
from robots.parameter_errors import ParameterError, nearest
from tasks.dynamics.inertial_parameters import ARMATURE, BODY, SPIN, Column, shared_columns

METHODS = (*estimators.ESTIMATORS,)
UNWEIGHTED = ("least_squares", "total_least_squares")
"""Estimators that weigh all rows alike, independent of the noise of their actuators."""
FOLDS = 5
"""Parts of the time that a cross-validation predicts, each from the others."""
WEAK = 0.3
"""Relative standard deviation beyond which a parameter counts as undetermined by the data."""


@dataclass(frozen=True)
class MachineFit:
    """Parameters of a machine from recordings, and measures of their quality.

    base: the combinations; kept: numbers of the estimated ones, the others are set to zero because the data do not
    determine them; values, deviations (kept,): deviations for correlated noise; plain: deviations as if noise were
    white; condition: of the weighted regressor with columns of length one, raw: as it is; noise (actuator,) [N m or N];
    errors: by recording the residuals relative to the forces; whiteness by actuator; independent: of how many
    independent rows residuals tell as much, of `rows`; lacks: tests for missing parts of the model; used: rows that
    deviations are of, weighted as the estimate is; bias (kept,): by noise of positions in the regressor.
    """

    base: BaseParameters
    columns: tuple[Column, ...]
    kept: tuple[int, ...]
    values: np.ndarray
    deviations: np.ndarray
    plain: np.ndarray
    condition: float
    raw_condition: float
    noise: np.ndarray
    errors: Mapping[str, float]
    actuator_errors: Mapping[str, np.ndarray]
    whiteness: tuple[Whiteness, ...]
    independent: float
    rows: int
    lacks: tuple[LackOfFit, ...]
    method: str
    weights: np.ndarray
    runs: tuple[Run, ...] = field(repr=False, default=())
    used: tuple[FitRows, ...] = field(repr=False, default=())
    bias: np.ndarray | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Text of each estimated parameter."""
        return tuple(self.base.grouping(k) for k in self.kept)

    @property
    def all_values(self) -> np.ndarray:
        """Values of all base parameters; zero where no value is estimated."""
        result = np.zeros(self.base.count)
        result[list(self.kept)] = self.values
        return result

    def predicted(self, run: Run) -> np.ndarray:
        """Return the forces (samples, actuator) of a recording that the parameters predict."""
        return run.predicted(self.base, self.all_values)

    def with_deviations(self, kind: str) -> MachineFit:
        """Return the fit with another estimate of its standard deviations, see `residuals.deviations`."""
        return replace(self, deviations=statistics.deviations(self.used, self.values, kind))

    def largest(self, sizes: np.ndarray, least: float) -> str:
        """Return the names of up to three parameters whose sizes (kept,) are above `least`, with these sizes."""
        worst = [k for k in np.argsort(-sizes)[:3] if sizes[k] > least]
        return ", ".join(f"{self.names[k]} by {sizes[k]:.1f}" for k in worst)

    @property
    def weak(self) -> tuple[str, ...]:
        """Parameters with a large relative deviation: the motions hardly determine them."""
        large = self.deviations > WEAK * np.abs(self.values)
        return tuple(name for name, is_weak in zip(self.names, large, strict=True) if is_weak)


def with_coupled_friction(machine: RecordedMachine, method: str = "weighted") -> RecordedMachine:
    """Return the machine linearised where its recordings say, if reactions load its friction: Gauss and Newton's steps.

    Raises ParameterError where these do not settle.
    """
    if machine.model.coupled(machine.robot) is None:
        return machine
    start = np.array(machine.point or machine.base.of(machine.nominal))

    def estimate(point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        fit = fit_machine(machine if point is start else machine.at(point), method)
        values, deviations = point.copy(), np.full(len(point), np.inf)
        values[list(fit.kept)], deviations[list(fit.kept)] = fit.values, fit.plain
        return values, deviations

    rubbing = [machine.columns[k].owner.startswith(FRICTION) for k in machine.base.independent]
    if (point := settled(start, estimate, rubbing)) is not None:
        return machine.at(point)
    raise ParameterError(
        f"model.joints: friction loaded by reactions did not settle within {STEPS} steps; expected recordings that "
        "tell it; give more motion, or load: constant"
    )


@dataclass(frozen=True)
class _FitProblem:
    """Rows of the recordings for training, and the way to estimate parameters from them."""

    parts: Sequence[FitRows]
    method: str
    base: BaseParameters
    instruments: Sequence[Run] | None

    @cached_property
    def _stacked(self) -> tuple[np.ndarray, np.ndarray]:
        return statistics.stacked(self.parts)

    @property
    def matrix(self) -> np.ndarray:
        """Rows of all recordings (row, parameter)."""
        return self._stacked[0]

    @property
    def forces(self) -> np.ndarray:
        """Measured forces (row,)."""
        return self._stacked[1]

    def solved(self, selection: Sequence[int]) -> tuple[estimators.Estimate, list[FitRows]]:
        """Return the estimate of some parameters, and the rows of these."""
        columns, labels = [_columns(part, selection) for part in self.parts], statistics.actuators_of(self.parts)
        if self.instruments is None:
            return estimators.estimate(self.method, self.matrix[:, list(selection)], self.forces, labels), columns
        return _instrumental(columns, [_columns(run.rows(self.base), selection) for run in self.instruments], labels)

    def eliminated(self, kept: list[int]) -> tuple[list[int], estimators.Estimate, list[FitRows]]:
        """Leave out parameters that the data do not tell, one after another; return the others with their estimate."""
        found, rows = self.solved(kept)
        while len(kept) > 1:
            spread = statistics.deviations(_as_estimated(rows, found), found.values)
            worst = int(np.argmax(spread / np.maximum(np.abs(found.values), np.finfo(float).tiny)))
            if not _may_go(found.values[worst], spread[worst]):
                break
            kept = [k for place, k in enumerate(kept) if place != worst]
            found, rows = self.solved(kept)
        return kept, found, rows


def fit_machine(
    machine: RecordedMachine,
    method: str = "weighted",
    *,
    eliminate: bool = False,
    instruments: Sequence[Run] | None = None,
) -> MachineFit:
    """Estimate the parameters of a machine from its recordings for training.

    eliminate: leave out parameters that the data do not tell, one after another. instruments: runs of the same rows
    along motions without noise; rows are then weighted by actuator, whatever the method. Raises ParameterError.
    """
    if method not in METHODS:
        raise ParameterError(f"method: got {method!r}; expected an estimator; {nearest(method, METHODS)}")
    training = machine.of(TRAIN)
    if not training:
        raise ParameterError("recordings: got none for training; expected at least one with the role train")
    base, actuators = machine.base, len(machine.robot.mechanism.actuators)
    problem = _FitProblem([run.rows(base) for run in training], method, base, instruments)
    kept = statistics.independent_columns(problem.matrix)
    if len(problem.forces) <= len(kept):
        raise ParameterError(
            f"recordings: {len(problem.forces)} rows for {len(kept)} parameters; expected more; give longer recordings"
        )
    kept, found, rows = problem.eliminated(kept) if eliminate else (kept, *problem.solved(kept))
    weighted, noise = _weighted(rows, found.values)
    stacked, _ = statistics.stacked(weighted)
    # deviations are those of the estimate, whose rows are weighted or not
    used = rows if method in UNWEIGHTED and instruments is None else _as_estimated(rows, found)
    residuals = [part.residuals(found.values) for part in weighted]
    whole = np.zeros(base.groups.shape[0])
    whole[kept] = found.values
    errors, by_actuator = unexplained(machine.runs, base, whole)
    return MachineFit(
        base=base,
        columns=machine.columns,
        kept=tuple(kept),
        values=found.values,
        deviations=statistics.deviations(used, found.values),
        plain=found.deviations,
        condition=estimators.condition_number(stacked),
        raw_condition=float(np.linalg.cond(problem.matrix[:, kept])),
        noise=noise,
        errors=errors,
        actuator_errors=by_actuator,
        whiteness=tuple(statistics.whiteness(residuals, k) for k in range(actuators)),
        independent=min(statistics.independent_rows(residuals), float(len(problem.forces))),
        rows=len(problem.forces),
        lacks=(),
        method=method,
        weights=1.0 / noise,
        runs=machine.runs,
        used=tuple(used),
    )


def _instrumental(
    parts: Sequence[FitRows], instruments: Sequence[FitRows], labels: np.ndarray
) -> tuple[estimators.Estimate, list[FitRows]]:
    """Estimate by two-stage least squares: the matrix projected on instruments free of the motion's errors."""
    matrix, forces = statistics.stacked(parts)
    seen = statistics.stacked(instruments)[0]
    values = estimators.estimate("weighted", matrix, forces, labels).values
    solution = estimators.Estimate(values, values, np.nan, np.nan)
    for _ in range(2):
        noise = _weighted(parts, solution.values)[1][labels]
        sizes = np.linalg.norm(seen / noise[:, None], axis=0)
        mixing = np.linalg.lstsq(seen / noise[:, None] / sizes, matrix / noise[:, None], rcond=None)[0] / sizes[:, None]
        solution = estimators.estimate("least_squares", seen @ mixing / noise[:, None], forces / noise)
        remainder = forces - matrix @ solution.values
        solution = replace(solution, noise=float(np.sqrt(np.mean(remainder**2))))
    return solution, [part.on(of.matrix @ mixing) for part, of in zip(parts, instruments, strict=True)]


def unexplained(
    runs: Sequence[Run], base: BaseParameters, values: np.ndarray
) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    """Return relative residuals by recording, of all rows and (actuator,); and the values of all base parameters."""
    errors, by_actuator = {}, {}
    for run in runs:
        predicted, good = run.predicted(base, values), run.good
        errors[run.recording.name] = relative(run.forces[good], predicted[good])
        by_actuator[run.recording.name] = np.array(
            [
                relative(run.forces[good[:, k], k], predicted[good[:, k], k]) if good[:, k].any() else np.nan
                for k in range(good.shape[1])
            ]
        )
    return errors, by_actuator


def raw_error(machine: RecordedMachine, recording: Prepared, fit: MachineFit) -> float:
    """Return the residuals over forces as recorded: no filter on either side, actuators at rest included.

    At some of the samples, see `run_of`; without NaN and unreachable samples.
    """
    thin = thinned(recording)[0]
    motion = thin.position, thin.velocity, thin.acceleration
    matrix, remainder = machine.rows_of(recording)(robot_motion(machine.robot, thin), motion)
    predicted = machine.base.reduced(matrix) @ fit.all_values + remainder
    good = finite(predicted) & thin.usable
    return relative(thin.force[good], predicted[good])


def cross_validated(machine: RecordedMachine, fit: MachineFit) -> float:
    """Return the training recordings' residuals over forces, each part of the time by parameters from other parts.

    Parts are in one piece, so that noise that is correlated tells nothing of its neighbours. NaN where the others do
    not tell the parameters.
    """
    parts = [_columns(run.rows(fit.base), fit.kept) for run in machine.of(TRAIN)]
    method = fit.method if fit.method in METHODS else "weighted"
    squares, whole = 0.0, 0.0
    for fold in range(FOLDS):
        inside = [np.arange(len(part.forces)) * FOLDS // len(part.forces) == fold for part in parts]
        training = [replace(part, good=part.good & ~now[:, None]) for part, now in zip(parts, inside, strict=True)]
        matrix, forces = statistics.stacked(training)
        if len(statistics.independent_columns(matrix)) < matrix.shape[1]:
            return np.nan
        values = estimators.estimate(method, matrix, forces, statistics.actuators_of(training)).values
        for part, run, now in zip(parts, machine.of(TRAIN), inside, strict=True):
            good = part.good & now[:, None]
            squares += float(np.sum(replace(part, good=good).residuals(values) ** 2))
            whole += float(np.sum(run.forces[good] ** 2))
    return float(np.sqrt(squares / whole)) if whole else np.nan


def _may_go(value: float, deviation: float) -> bool:
    """Return whether a parameter may be zero: its value is within two standard deviations of zero."""
    return abs(value) < 2.0 * deviation


def relative(forces: np.ndarray, predicted: np.ndarray) -> float:
    """Return the norm of the residuals over that of the forces."""
    size = float(np.linalg.norm(forces))
    return float(np.linalg.norm(forces - predicted)) / size if size else np.nan


def _columns(part: FitRows, kept: Sequence[int]) -> FitRows:
    return replace(part, matrix=part.matrix[:, :, list(kept)])


def weighted_rows(machine: RecordedMachine, fit: MachineFit) -> list[FitRows]:
    """Return training recordings' rows over the noise of their actuator, in the estimated columns."""
    parts = [_columns(run.rows(fit.base), fit.kept) for run in machine.of(TRAIN)]
    return _weighted(parts, fit.values)[0]


def _weighted(parts: Sequence[FitRows], values: np.ndarray) -> tuple[list[FitRows], np.ndarray]:
    """Return the rows divided by the noise of their actuator, and that noise (actuator,)."""
    residuals = np.concatenate([part.residuals(values) for part in parts])
    counts = np.sum([part.good.sum(axis=0) for part in parts], axis=0)
    noise = np.sqrt(np.sum(residuals**2, axis=0) / np.maximum(counts, 1))
    noise = np.maximum(noise, np.finfo(float).eps * max(float(np.abs(residuals).max()), 1.0))
    return [_over(part, noise) for part in parts], noise


def _as_estimated(parts: Sequence[FitRows], found: estimators.Estimate) -> list[FitRows]:
    """Return rows with the weights of an estimate; over the noise that it leaves where it does not say them."""
    if found.spread is None:
        return _weighted(parts, found.values)[0]
    # actuators behind the last one with rows have none to weigh
    noise = np.ones(parts[0].forces.shape[1])
    noise[: len(found.spread)] = found.spread
    return [_over(part, noise) for part in parts]


def _over(part: FitRows, noise: np.ndarray) -> FitRows:
    """Return rows over the noise (actuator,) of their actuator."""
    measured = None if part.measured is None else part.measured / noise[:, None]
    return replace(part, matrix=part.matrix / noise[:, None], forces=part.forces / noise, measured=measured)


FIRST = next(iter(BODY))
SIGNED = (OFFSET, FADING)
"""Columns that may have any sign, beside those of a user's own."""


@dataclass(frozen=True)
class Standard:
    """Parameters (column,) that bodies can have, their deviations, convergence of the solver, and its message.

    deviations: of parameters that the data alone determine; NaN for the others, which are near the nominal robot's.
    weight: of the distance to these; errors: by recording the residuals relative to the forces.
    """

    values: np.ndarray
    deviations: np.ndarray
    converged: bool
    status: str
    weight: float = 0.0
    errors: Mapping[str, float] = field(default_factory=dict)


NOMINAL = BodyPrior()
"""Bodies near the robot's own, with the weight chosen by held-out error, and no other limits."""


def standard_parameters_of(machine: RecordedMachine, fit: MachineFit, prior: BodyPrior = NOMINAL) -> Standard:
    """Return the parameters of all columns that bodies can have, near those of the robot, on the rows of a fit."""
    names = [column.name for column in machine.columns]
    bodies = [k for k, column in enumerate(machine.columns) if column.parameter == FIRST]
    friction_names = {
        f"{machine.robot.mechanism.actuators[column.actuator]}.{column.name}" for column in machine.model.own
    }
    inside = {start + k for start in bodies for k in range(SIZE)}
    signed = [
        k
        for k, column in enumerate(machine.columns)
        if k not in inside and column.parameter not in SIGNED and names[k] not in friction_names
    ]
    payloads = [k for k in bodies if k >= machine.payload_columns.start]
    problem = PriorProblem(machine.nominal, bodies, payloads, signed, _body_limits(machine, prior))
    parts = [triangle for run in machine.of(TRAIN) for triangle in _triangles(run, fit)]
    if prior.weight is None:
        solution = cross_validated_bodies(parts, problem)
    else:
        solution = entropic(np.concatenate(parts), problem, prior.weight)
    deviations = np.full(len(names), np.nan)
    for place, k in enumerate(fit.kept):
        if np.count_nonzero(fit.base.groups[k]) == 1:
            deviations[fit.base.independent[k]] = fit.deviations[place]
    errors = unexplained(machine.runs, fit.base, fit.base.of(solution.values))[0]
    return Standard(solution.values, deviations, solution.converged, solution.status, solution.weight, errors)


def _triangles(run: Run, fit: MachineFit) -> list[np.ndarray]:
    """Return the reduced rows of each part of the time of a recording, over the noise of their actuator."""
    parts = []
    for part in range(FOLDS):
        good = run.good & (np.arange(len(run.good)) * FOLDS // len(run.good) == part)[:, None]
        weights = np.broadcast_to(1.0 / fit.noise, good.shape)[good]
        parts.append(reduced_rows(run.matrix[good] * weights[:, None], run.linear_forces[good] * weights))
    return parts


def _body_limits(machine: RecordedMachine, prior: BodyPrior) -> BodyLimits:
    """Return the limits of the bodies by columns; a body that several limbs share counts once for each limb."""
    counts = np.zeros(len(machine.columns))
    shared, places = shared_columns(machine.robot.family)
    for k, column in enumerate(machine.columns[: machine.payload_columns.start]):
        if column.parameter == FIRST:
            is_shared = k < len(shared) and shared[k].name == column.name
            counts[k] = places.count(k) if is_shared else 1
    boxes = {
        k: (np.array(prior.boxes[column.owner][0]), np.array(prior.boxes[column.owner][1]))
        for k, column in enumerate(machine.columns[: machine.payload_columns.start])
        if column.parameter == FIRST and column.owner in prior.boxes
    }
    return BodyLimits(prior.mass, counts, boxes, machine.payload_masses)


def identified_robot(machine: RecordedMachine, standard: Standard) -> Description:
    """Return the robot with the identified inertia of bodies and drives, in numbers, as a robot file has it.

    Raises ValueError for limbs that are copies with parameters of their own, which a robot file cannot say.
    """
    robot, mechanism = machine.robot, machine.robot.mechanism
    several = len({instance.limb for instance in mechanism.instances}) < len(mechanism.instances)
    if several and not machine.model.shared:
        raise ValueError(
            "model: limbs that are copies were given parameters of their own, which a robot file cannot say; expected "
            "shared: true"
        )
    values = standard.values.copy()
    for k, column in enumerate(machine.columns):
        if column.parameter == ARMATURE or column.parameter.startswith(SPIN):
            values[k] = max(values[k], 0.0)
    identified = with_inertia(robot, values.tolist())
    family = describe(robot)
    title = f"{family.title or family.name}, identified from recordings"
    return Description(family.name, title, family.source, (), (), identified)
