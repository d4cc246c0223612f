"""From prepared recordings of a machine to its parameters: rows, base parameters, estimate, deviations, judgement.

The regressor goes through the filter of the forces, then as many samples are kept as the filter leaves independent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.linalg import block_diag

from robots.model import Robot
from robots.parameters import ParameterError, nearest
from tasks.arrays.inputs import Moving
from tasks.identification import estimators
from tasks.identification.base import BaseParameters, from_matrix
from tasks.identification.columns import BODY, Column, shared_columns
from tasks.identification.machines import residuals as statistics
from tasks.identification.machines.coupled import FRICTION, CoupledFriction
from tasks.identification.machines.model import ActuatorMotion, MachineModel, base_of, finite, nominal
from tasks.identification.machines.motion import actuator_motion, robot_motion
from tasks.identification.machines.preparation import Prepared
from tasks.identification.machines.residuals import FitRows, LackOfFit, Whiteness
from tasks.identification.regressor import regressor
from tasks.identification.states import random_motion

SIZE = len(BODY)
TRAIN = "train"
METHODS = (*estimators.ESTIMATORS,)
STEPS = 25
"""Steps of Gauss and Newton for friction that reactions load."""
TURNED = 0.2
"""A step counts as one back where it undoes as much of the one before."""
STEADY = 1e-2
"""Change of parameters, relative to their deviations, at which these are taken."""
WEAK = 0.3
"""Relative standard deviation beyond which a parameter counts as not told by the data."""


@dataclass(frozen=True)
class Run:
    """One recording as rows of a fit: matrix (samples, actuator, column), forces, times, motion of the actuators.

    good (samples, actuator): rows that the fit uses; forces of actuators at rest are not used. remainder (samples,
    actuator): forces beside matrix @ parameters, where these are not linear in parameters and the matrix has their
    derivatives. thin: the recording at the samples that the regressor was computed at; numbers: those of them that are
    rows.
    """

    recording: Prepared
    matrix: np.ndarray
    forces: np.ndarray
    good: np.ndarray
    remainder: np.ndarray
    time: np.ndarray
    motion: ActuatorMotion
    thin: Prepared = field(repr=False)
    numbers: np.ndarray = field(repr=False)

    def beside(self, robot: Robot, model: MachineModel) -> np.ndarray:
        """The columns beside those of bodies alone, of another model too, through the filter."""
        motion: ActuatorMotion = (self.thin.position, self.thin.velocity, self.thin.acceleration)
        return self.thin.filtered(model.beside(robot, motion))[self.numbers]

    def rows(self, base: BaseParameters) -> FitRows:
        """The rows of base parameters."""
        return FitRows(base.reduced(self.matrix), self.linear_forces, self.good)

    @property
    def linear_forces(self) -> np.ndarray:
        """What matrix @ parameters has to give (samples, actuator)."""
        return self.forces - self.remainder

    def predicted(self, base: BaseParameters, values: np.ndarray) -> np.ndarray:
        """Forces (samples, actuator) as base parameters have them."""
        return np.asarray(base.reduced(self.matrix) @ values + self.remainder)


@dataclass(frozen=True)
class MachineFit:
    """Parameters of a machine from recordings, and all that says how good they are.

    base: which combinations; kept: numbers of those that are estimated, the others are set to zero as the data do not
    tell them; values, deviations (kept,): deviations for correlated noise; plain: deviations as if noise were white;
    condition: of the weighted regressor with columns of length one, raw: as it is; noise (actuator,) [N m or N];
    errors: by recording the residuals relative to the forces; whiteness by actuator; independent: of how many
    independent rows residuals tell as much, of `rows`; lacks: tests of what the model may lack.
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

    @property
    def names(self) -> tuple[str, ...]:
        """What each estimated parameter is, in words."""
        return tuple(self.base.grouping(k) for k in self.kept)

    @property
    def all_values(self) -> np.ndarray:
        """Values of all base parameters; zero for those that are not estimated."""
        result = np.zeros(self.base.count)
        result[list(self.kept)] = self.values
        return result

    def predicted(self, run: Run) -> np.ndarray:
        """Forces (samples, actuator) of a recording as the parameters have them."""
        return run.predicted(self.base, self.all_values)

    @property
    def weak(self) -> tuple[str, ...]:
        """Parameters whose deviation is large beside them: those that the motions tell little of."""
        large = self.deviations > WEAK * np.abs(self.values)
        return tuple(name for name, is_weak in zip(self.names, large, strict=True) if is_weak)


@dataclass(frozen=True)
class Payload:
    """What is fixed to a body in a recording: ten parameters about the origin of the body's frame, None: unknown.

    Recordings with the same unknown payload have its name.
    """

    name: str
    body: str
    values: tuple[float, ...] | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        """Its columns."""
        return tuple(Column(self.name, parameter, unit) for parameter, unit in BODY.items())

    def places(self, columns: Sequence[Column]) -> list[int]:
        """Numbers of the columns of its body. Raises ParameterError for a body that has none."""
        numbers = [k for k, column in enumerate(columns) if column.owner == self.body and column.parameter in BODY]
        if len(numbers) != SIZE:
            known = dict.fromkeys(column.owner for column in columns if column.parameter in BODY)
            raise ParameterError(
                f"payload: got the body {self.body!r}; expected one with inertia; {nearest(self.body, known)}"
            )
        return numbers


def base_with_payloads(
    base: BaseParameters, robot: Robot, payloads: Sequence[Payload], columns: Sequence[Column]
) -> BaseParameters:
    """Base parameters with those of unknown payloads behind them: recordings without payload tell the others."""
    moving = random_motion(robot, 4 * SIZE)
    own = shared_columns(robot.family)[0]
    whole = regressor(robot, shared=True, **moving)
    groups, independent, start = [base.groups], list(base.independent), base.groups.shape[1]
    for payload in payloads:
        rows = whole[:, :, payload.places(own)].reshape(-1, SIZE)
        part = from_matrix(rows[np.isfinite(rows).all(axis=1)], [column.name for column in payload.columns])
        independent += [start + k for k in part.independent]
        groups.append(part.groups)
        start += SIZE
    return BaseParameters(
        tuple(independent), block_diag(*groups), tuple(column.name for column in columns), base.margin
    )


@dataclass(frozen=True)
class RecordedMachine:
    """A robot, what its model has beside bodies, and prepared recordings of it.

    point: base parameters that forces are linearised at where they are not linear; absent: the robot's own. payloads:
    of each recording, where there are some.
    """

    robot: Robot
    model: MachineModel
    recordings: tuple[Prepared, ...]
    point: tuple[float, ...] = ()
    payloads: tuple[Payload | None, ...] = ()

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """All columns; those of unknown payloads come last."""
        return (*self._own_columns, *(column for payload in self._unknown for column in payload.columns))

    @cached_property
    def _own_columns(self) -> tuple[Column, ...]:
        return self.model.columns(self.robot)

    @property
    def _unknown(self) -> list[Payload]:
        """Unknown payloads, each once."""
        names = {payload.name: payload for payload in self.payloads if payload is not None and payload.values is None}
        return list(names.values())

    def is_loaded(self, recording: Prepared) -> bool:
        """Whether a recording was made with a known payload."""
        payload = self._payload(recording)
        return payload is not None and payload.values is not None

    def _payload(self, recording: Prepared) -> Payload | None:
        names = [other.name for other in self.recordings]
        return self.payloads[names.index(recording.name)] if self.payloads and recording.name in names else None

    @cached_property
    def base(self) -> BaseParameters:
        """Base parameters at random states, of unknown payloads those that their body's motion tells."""
        base = base_of(self.robot, self.model, lambda moving: actuator_motion(self.robot, moving))
        return base_with_payloads(base, self.robot, self._unknown, self.columns) if self._unknown else base

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """Rows of every recording. Raises ParameterError for one with nothing left."""
        coupled = self.model.coupled(self.robot)
        if coupled is None:
            return tuple(run_of(self.robot, recording, self._rows_of(recording)) for recording in self.recordings)
        if self.payloads:
            raise ParameterError(
                "payload: got one and friction that reactions load, which it changes; expected one of them; leave "
                "recordings with payload out"
            )
        return tuple(run_of(self.robot, recording, self.tangent(coupled).rows) for recording in self.recordings)

    def tangent(self, coupled: CoupledFriction) -> TangentModel:
        """The model about `point`, where friction is coupled with reactions."""
        return TangentModel(self.robot, self.model, coupled, self.base, self.point)

    def raw_error(self, recording: Prepared, fit: MachineFit) -> float:
        """Residuals over forces as they were recorded: no filter on either side, actuators at rest counted.

        At one of a few samples, see `run_of`; what is no number or cannot be reached is left out.
        """
        thin = thinned(recording)[0]
        coupled = self.model.coupled(self.robot)
        rows = self._rows_of(recording) if coupled is None else self.tangent(coupled).rows
        matrix, remainder = rows(robot_motion(self.robot, thin), (thin.position, thin.velocity, thin.acceleration))
        predicted = self.base.reduced(matrix) @ fit.all_values + remainder
        good = finite(predicted) & thin.usable
        return relative(thin.force[good], predicted[good])

    def _rows_of(self, recording: Prepared) -> Rows:
        payload = self._payload(recording)

        def rows(moving: Moving, actuators: ActuatorMotion) -> tuple[np.ndarray, np.ndarray]:
            matrix = self.model.matrix(self.robot, moving, actuators)
            remainder = np.zeros(matrix.shape[:2])
            if payload is None and not self._unknown:
                return matrix, remainder
            own = np.zeros((*remainder.shape, SIZE))
            if payload is not None:
                own = matrix[:, :, payload.places(self._own_columns)]
                if payload.values is not None:
                    remainder = own @ np.array(payload.values)
            is_on = [payload is not None and unknown.name == payload.name for unknown in self._unknown]
            return np.concatenate([matrix, *(own if on else own * 0.0 for on in is_on)], axis=2), remainder

        return rows

    @cached_property
    def unshared(self) -> RecordedMachine | None:
        """The machine whose limbs have parameters of their own; None where no limbs are copies, or none share."""
        instances = self.robot.mechanism.instances
        if not self.model.shared or len({instance.limb for instance in instances}) == len(instances):
            return None
        joints = None if self.model.coupled(self.robot) else self.model.joints
        model = replace(self.model, shared=False, joints=joints)
        return RecordedMachine(self.robot, model, self.recordings, payloads=self.payloads)

    def at(self, point: np.ndarray) -> RecordedMachine:
        """The machine linearised at other base parameters, which are the same combinations."""
        machine = replace(self, point=tuple(point.tolist()))
        machine.__dict__.update(base=self.base, columns=self.columns)
        return machine

    def of(self, role: str) -> list[Run]:
        """The runs of a role."""
        return [run for run in self.runs if run.recording.role == role]


@dataclass(frozen=True)
class TangentModel:
    """A machine whose friction reactions load, linear about base parameters (kept,), absent: the robot's own.

    What base parameters do not tell of the bodies is as the robot has it: reactions depend on it as well.
    """

    robot: Robot
    model: MachineModel
    coupled: CoupledFriction
    base: BaseParameters
    point: tuple[float, ...]

    def rows(self, moving: Moving, actuators: ActuatorMotion) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of forces by the columns (samples, actuator, column), and what forces have beside them.

        With these derivatives times parameters it is the force of inverse dynamics itself at the point.
        """
        known, kept = nominal(self.robot, self.model), list(self.base.independent)
        point = np.array(self.point) if self.point else self.base.of(known)
        values = known.copy()
        others = np.delete(np.arange(len(known)), kept)
        values[kept] = point - self.base.groups[:, others] @ known[others]
        count = len(self.coupled.columns)
        inside = [k for k in kept if k < count]
        forces, rates = self.coupled.linearised(values[:count], np.eye(count)[inside], moving)
        beside = self.model.beside(self.robot, actuators)
        forces = forces + beside @ values[count:]
        rates = np.concatenate([rates, beside[:, :, [k - count for k in kept if k >= count]]], axis=2)
        return rates @ self.base.groups, forces - rates @ point


def thinned(recording: Prepared) -> tuple[Prepared, np.ndarray]:
    """The recording at the samples that a regressor is computed at, and which of its own these are.

    A filter that cuts far below the rate makes most samples superfluous before it, too.
    """
    stride = max(1, recording.every // 8)
    chosen = np.arange(0, len(recording.force), stride)
    series = ("position", "velocity", "acceleration", "force", "usable", "resting")
    parts = {name: getattr(recording, name)[chosen] for name in series}
    return replace(recording, step=recording.step * stride, **parts), chosen


Rows = Callable[[Moving, ActuatorMotion], tuple[np.ndarray, np.ndarray]]


def run_of(robot: Robot, recording: Prepared, rows: Rows) -> Run:
    """Rows of a recording; samples that the robot cannot reach are left out.

    rows: the regressor along a motion, and what forces have beside it. Raises ParameterError.
    """
    thin, chosen = thinned(recording)
    thin = replace(thin, force=recording.filtered(recording.force)[chosen])
    moving = robot_motion(robot, thin)
    part: ActuatorMotion = (thin.position, thin.velocity, thin.acceleration)
    matrix, remainder = rows(moving, part)
    good = finite(matrix) & thin.usable
    forces, matrix = thin.force, np.where(np.isfinite(matrix), matrix, 0.0)
    matrix = thin.filtered(matrix)
    if remainder.any():
        remainder = thin.filtered(np.where(np.isfinite(remainder), remainder, 0.0))
    # what the filter carries from samples that are none into their neighbours is left out with them
    reach = round(1.0 / (thin.used.cutoff * thin.step)) if thin.used.cutoff else 0
    spoilt = np.convolve(~good, np.ones(2 * reach + 1), mode="same") > 0.5 if (~good).any() else ~good
    numbers = thin.kept
    numbers = numbers[~spoilt[numbers]]
    if len(numbers) < 2:
        raise ParameterError(f"{recording.name}: no samples are left; expected some that are whole and can be reached")
    moves = ~thin.resting[numbers]
    if not moves.any():
        raise ParameterError(f"{recording.name}: nothing moves; expected a recording of a motion; look at rest")
    return Run(
        recording,
        matrix[numbers],
        forces[numbers],
        moves,
        remainder[numbers],
        numbers * thin.step,
        at_samples(part, numbers),
        thin,
        numbers,
    )


def with_coupled_friction(machine: RecordedMachine, method: str = "weighted") -> RecordedMachine:
    """The machine linearised where its recordings say, if reactions load its friction: Gauss and Newton's steps.

    Raises ParameterError where these do not settle.
    """
    if machine.model.coupled(machine.robot) is None:
        return machine
    share, before = 1.0, np.zeros(0)
    for _ in range(STEPS):
        fit = fit_machine(machine, method)
        kept = list(fit.kept)
        point = np.array(machine.point or machine.base.of(nominal(machine.robot, machine.model)))
        change = (fit.values - point[kept]) / fit.plain
        # the sizes of loads have kinks, between whose sides whole steps may go to and fro
        turns = len(before) == len(change) and change @ before < -TURNED * (before @ before)
        share = 0.5 * share if turns else min(2.0 * share, 1.0)
        point[kept] += share * (fit.values - point[kept])
        for place, k in enumerate(machine.base.independent):
            # friction that pushes settles nowhere; a step beyond zero ends there
            if machine.columns[k].owner.startswith(FRICTION):
                point[place] = max(point[place], 0.0)
        machine, before = machine.at(point), change
        if np.abs(change).max() <= STEADY:
            return machine
    raise ParameterError(
        f"model.joints: friction loaded by reactions did not settle within {STEPS} steps; expected recordings that "
        "tell it; give more motion, or load: constant"
    )


def at_samples(motion: ActuatorMotion, numbers: np.ndarray) -> ActuatorMotion:
    """Some samples of a motion of the actuators."""
    position, velocity, acceleration = motion
    return position[numbers], velocity[numbers], acceleration[numbers]


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
    parts = [run.rows(base) for run in training]
    matrix, forces = statistics.stacked(parts)
    labels = statistics.actuators_of(parts)
    kept = statistics.independent_columns(matrix)
    if len(forces) <= len(kept):
        raise ParameterError(
            f"recordings: {len(forces)} rows for {len(kept)} parameters; expected more; give longer recordings"
        )

    def solved(chosen: Sequence[int]) -> tuple[estimators.Estimate, list[FitRows]]:
        own = [_columns(part, chosen) for part in parts]
        if instruments is None:
            return estimators.estimate(method, matrix[:, list(chosen)], forces, labels), own
        return _instrumental(own, [_columns(run.rows(base), chosen) for run in instruments], labels)

    found, rows = solved(kept)
    while eliminate and len(kept) > 1:
        weighted, _ = _weighted(rows, found.values)
        spread = statistics.deviations(weighted, found.values)
        worst = int(np.argmax(spread / np.maximum(np.abs(found.values), np.finfo(float).tiny)))
        trial = [k for place, k in enumerate(kept) if place != worst]
        if not _may_go(found.values[worst], spread[worst]):
            break
        kept = trial
        found, rows = solved(kept)
    weighted, noise = _weighted(rows, found.values)
    stacked, _ = statistics.stacked(weighted)
    residuals = [part.residuals(found.values) for part in weighted]
    errors, by_actuator = _errors(machine.runs, base.groups.shape[0], kept, found.values, base)
    return MachineFit(
        base=base,
        columns=machine.columns,
        kept=tuple(kept),
        values=found.values,
        deviations=statistics.deviations(weighted, found.values),
        plain=found.deviations,
        condition=estimators.condition_number(stacked),
        raw_condition=float(np.linalg.cond(matrix[:, kept])),
        noise=noise,
        errors=errors,
        actuator_errors=by_actuator,
        whiteness=tuple(statistics.whiteness(residuals, k) for k in range(actuators)),
        independent=statistics.independent_rows(residuals),
        rows=len(forces),
        lacks=(),
        method=method,
        weights=1.0 / noise,
        runs=machine.runs,
    )


def _instrumental(
    parts: Sequence[FitRows], instruments: Sequence[FitRows], labels: np.ndarray
) -> tuple[estimators.Estimate, list[FitRows]]:
    """Least squares in two stages: the matrix projected on instruments, which errors of the motion do not touch."""
    matrix, forces = statistics.stacked(parts)
    seen = statistics.stacked(instruments)[0]
    values = estimators.estimate("weighted", matrix, forces, labels).values
    solution = estimators.Estimate(values, values, np.nan, np.nan)
    for _ in range(2):
        noise = _weighted(parts, solution.values)[1][labels]
        sizes = np.linalg.norm(seen / noise[:, None], axis=0)
        mixing = np.linalg.lstsq(seen / noise[:, None] / sizes, matrix / noise[:, None], rcond=None)[0] / sizes[:, None]
        solution = estimators.estimate("least_squares", seen @ mixing / noise[:, None], forces / noise)
        left = forces - matrix @ solution.values
        solution = estimators.Estimate(
            solution.values,
            solution.deviations,
            solution.condition,
            float(np.sqrt(np.mean(left**2))),
            solution.iterations,
        )
    return solution, [part.on(of.matrix @ mixing) for part, of in zip(parts, instruments, strict=True)]


def _errors(
    runs: Sequence[Run], count: int, kept: Sequence[int], values: np.ndarray, base: BaseParameters
) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    """Residuals relative to forces by recording, of all rows and (actuator,)."""
    whole = np.zeros(count)
    whole[list(kept)] = values
    errors, by_actuator = {}, {}
    for run in runs:
        predicted, good = run.predicted(base, whole), run.good
        errors[run.recording.name] = relative(run.forces[good], predicted[good])
        by_actuator[run.recording.name] = np.array(
            [
                relative(run.forces[good[:, k], k], predicted[good[:, k], k]) if good[:, k].any() else np.nan
                for k in range(good.shape[1])
            ]
        )
    return errors, by_actuator


def _may_go(value: float, deviation: float) -> bool:
    """Whether a parameter may be zero: within two deviations."""
    return abs(value) < 2.0 * deviation


def relative(forces: np.ndarray, predicted: np.ndarray) -> float:
    """Norm of the residuals over that of the forces."""
    size = float(np.linalg.norm(forces))
    return float(np.linalg.norm(forces - predicted)) / size if size else np.nan


def _columns(part: FitRows, kept: Sequence[int]) -> FitRows:
    return FitRows(part.matrix[:, :, list(kept)], part.forces, part.good)


def weighted_rows(machine: RecordedMachine, fit: MachineFit) -> list[FitRows]:
    """Rows of the recordings for training over the noise of their actuator, in the columns that are estimated."""
    parts = [_columns(run.rows(fit.base), fit.kept) for run in machine.of(TRAIN)]
    return _weighted(parts, fit.values)[0]


def _weighted(parts: Sequence[FitRows], values: np.ndarray) -> tuple[list[FitRows], np.ndarray]:
    """Rows over the noise of their actuator, and that noise (actuator,)."""
    residuals = np.concatenate([part.residuals(values) for part in parts])
    counts = np.sum([part.good.sum(axis=0) for part in parts], axis=0)
    noise = np.sqrt(np.sum(residuals**2, axis=0) / np.maximum(counts, 1))
    noise = np.maximum(noise, np.finfo(float).eps * max(float(np.abs(residuals).max()), 1.0))
    weighted = []
    for part in parts:
        measured = None if part.measured is None else part.measured / noise[:, None]
        weighted.append(FitRows(part.matrix / noise[:, None], part.forces / noise, part.good, measured))
    return weighted, noise
