"""Machine of some recordings: its robot, columns of its model, payloads, base parameters, and rows of a fit.

The motion of the robot follows from the recorded positions of its actuators. Rows of a prepared recording pass through
the filter of the forces; as many samples are kept as the filter leaves independent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast

import numpy as np
from scipy.linalg import block_diag

from applications.identification.estimation.base import BaseParameters, from_matrix
from applications.identification.estimation.encoders import angular_velocity, joint_positions
from applications.identification.estimation.machines.machine_model import (
    ActuatorMotion,
    CoupledFriction,
    MachineModel,
    base_of,
    finite,
    nominal,
)
from applications.identification.estimation.machines.preparation import Prepared
from applications.identification.estimation.machines.residuals import FitRows
from applications.identification.estimation.states import random_motion
from robots.model import Robot
from robots.parameters import ParameterError, nearest
from tasks.dynamics.forward_kinematics import forward_kinematics
from tasks.dynamics.inertial_parameters import BODY, Column, shared_columns
from tasks.dynamics.inputs import present
from tasks.dynamics.inverse import actuator_positions, inverse_dynamics, inverse_kinematics
from tasks.dynamics.records import GRAVITY, Moving
from tasks.dynamics.regressor import regressor
from tasks.mathematics.signals import rate

HOPELESS = 4
"""Poses that cannot be solved, at least, before a recording is refused where these are most of those tried."""
UNREACHED = 0.2
"""Share of the samples tried that may be no poses: a recording that touches the end of the workspace."""
ALL = "no sample is a pose"
LEGS = 100
"""Poses of a recording that are solved first; the others start from the nearest of them."""
SAME = 1e-8
"""Difference of two solutions of one pose [m, rad]; poses of two assemblies are further apart."""


def is_direct(robot: Robot) -> bool:
    """Return whether the actuator positions are the coordinates of the motion: a chain driven in its joints."""
    mechanism = robot.mechanism
    return (
        mechanism.is_chain
        and not any(limb.drives for limb in mechanism.limbs)
        and tuple(mechanism.freedoms) == tuple(mechanism.actuators)
    )


def robot_motion(robot: Robot, recording: Prepared) -> Moving:
    """Return the motion of a robot whose actuators move as recorded, from the reference pose on.

    Raises ParameterError where they do not give its motion, and where no sample can be solved.
    """
    if is_direct(robot):
        return {"q": recording.position, "qd": recording.velocity, "qdd": recording.acceleration}
    mechanism = robot.mechanism
    if len(mechanism.actuators) != len(mechanism.freedoms):
        raise ParameterError(
            f"{recording.name}: {robot.name} has {len(mechanism.actuators)} actuators and {len(mechanism.freedoms)} "
            "freedoms, so that their positions do not give its motion; expected as many of both"
        )
    moving = _chain(robot, recording) if mechanism.is_chain else _platform(robot, recording)
    solved = [finite(values) for values in present(moving).values()]
    if not np.logical_and.reduce(solved).any():
        raise unreachable(robot, recording)
    return moving


def unreachable(robot: Robot, recording: Prepared, which: str = ALL) -> ParameterError:
    """Return the error of positions that no pose of the robot has."""
    return ParameterError(
        f"{recording.name}: {which} that {robot.name} can reach from its reference pose; expected "
        "positions of its actuators in their order; look at units, signs and offsets of zero"
    )


def _chain(robot: Robot, recording: Prepared) -> Moving:
    q = _poses(robot, recording)
    qd = rate(q, recording.step)
    return {"q": q, "qd": qd, "qdd": rate(qd, recording.step)}


def _platform(robot: Robot, recording: Prepared) -> Moving:
    poses, step = _poses(robot, recording), recording.step
    position, rotation = poses[:, :3], poses[:, 3:].reshape(-1, 3, 3)
    velocity, omega = rate(position, step), angular_velocity(rotation, step)
    moving: Moving = {
        "position": position,
        "rotation": rotation,
        "twist": np.concatenate([omega, velocity], axis=1),
        "acceleration": np.concatenate([rate(omega, step), rate(velocity, step)], axis=1),
    }
    return moving


def _poses(robot: Robot, recording: Prepared) -> np.ndarray:
    """Return the joints of a chain, or position and rotation of a platform (samples, ...), from the reference pose on.

    Raises ParameterError where too many samples of a platform are no poses.
    """
    target = recording.position
    anchors = _anchors(len(target))
    near = _from_the_first(robot, target[anchors])
    if near is None:
        near = _one_by_one(robot, recording, target[anchors])
    return _solved(robot, target, near[_nearest(anchors, len(target))])


def _solved(robot: Robot, target: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return the poses (samples, ...) whose actuators are at `target`, each from a pose near it; else NaN."""
    if robot.mechanism.is_chain:
        return joint_positions(robot, target, near)
    guess = near[:, :3], near[:, 3:].reshape(-1, 3, 3)
    pose = forward_kinematics(robot, actuator_position=target, position=guess[0], rotation=guess[1])
    return np.concatenate([pose.position, pose.rotation.reshape(-1, 9)], axis=1)


def _home(robot: Robot) -> np.ndarray:
    """Return the reference pose (1, ...)."""
    if robot.mechanism.is_chain:
        return np.zeros((1, len(robot.mechanism.freedoms)))
    home = robot.mechanism.platform.home
    return np.concatenate([np.ravel(home.position), np.ravel(home.rotation)]).astype(float)[None]


def _from_the_first(robot: Robot, target: np.ndarray) -> np.ndarray | None:
    """Return the poses of samples, all from that of the first; None where each from the one before is another one."""
    first = _solved(robot, target[:1], _home(robot))
    if not np.isfinite(first).all():
        return None
    poses = _solved(robot, target, np.repeat(first, len(target), axis=0))
    if not np.isfinite(poses).all():
        return None
    following = _solved(robot, target[1:], poses[:-1])
    return poses if np.allclose(following, poses[1:], rtol=0.0, atol=SAME) else None


def _one_by_one(robot: Robot, recording: Prepared, target: np.ndarray) -> np.ndarray:
    """Return the poses of samples, each from the last one that there is. Raises ParameterError for a platform."""
    poses, near, failed = [], _home(robot), 0
    for row in range(len(target)):
        pose = _solved(robot, target[row : row + 1], near)
        if np.isfinite(pose).all():
            near = pose
        elif not robot.mechanism.is_chain:
            failed += 1
            # each of them takes long, and all samples would
            if failed >= HOPELESS and failed > min(0.5 * (row + 1), UNREACHED * len(target)):
                which = f"{failed} of the {row + 1} samples tried are no poses" if failed <= row else ALL
                raise unreachable(robot, recording, which)
        poses.append(near[0])
    return np.array(poses)


def _anchors(samples: int) -> np.ndarray:
    return np.unique(np.linspace(0, samples - 1, min(LEGS, samples)).astype(int))


def _nearest(anchors: np.ndarray, samples: int) -> np.ndarray:
    """Return the number of the nearest anchor for every sample."""
    middles = 0.5 * (anchors[1:] + anchors[:-1])
    return np.searchsorted(middles, np.arange(samples))


def actuator_motion(robot: Robot, moving: Moving) -> ActuatorMotion:
    """Return the actuators' position, velocity, acceleration along a motion; without acceleration of drives: zero."""
    if is_direct(robot):
        q, qd, qdd = (np.asarray(present(moving)[name]) for name in ("q", "qd", "qdd"))
        return q, qd, qdd
    position = actuator_positions(robot, **moving).position
    velocity = inverse_dynamics(robot, **moving).velocity
    mechanism = robot.mechanism
    if any(limb.drives for limb in mechanism.limbs):
        return position, velocity, np.zeros_like(velocity)
    joints = inverse_kinematics(robot, **moving).acceleration
    acceleration = [
        joints[..., k, mechanism.limbs[instance.limb].index(joint)]
        for k, instance in enumerate(mechanism.instances)
        for joint in mechanism.limbs[instance.limb].actuated
    ]
    return position, velocity, np.stack(acceleration, axis=-1)


Rows = Callable[[Moving, ActuatorMotion], tuple[np.ndarray, np.ndarray]]
"""From a motion to the regressor (samples, actuator, column) and the forces beside it (samples, actuator)."""


@dataclass(frozen=True)
class Run:
    """One recording as rows of a fit: matrix (samples, actuator, column), forces, times, motion of the actuators.

    good (samples, actuator): rows that the fit uses; forces of actuators at rest are not used. remainder (samples,
    actuator): forces beside matrix @ parameters, where these are not linear in parameters and the matrix has their
    derivatives. thin: the recording at the samples that the regressor was computed at; numbers: those of them that are
    rows. slopes: rates of matrix and remainder along time, at the step of `thin`, which is finer than that of the rows.
    moving: motion of the robot at the rows.
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
    slopes: tuple[np.ndarray, np.ndarray] = field(repr=False)
    moving: Moving = field(repr=False)

    def beside(self, robot: Robot, model: MachineModel) -> np.ndarray:
        """Return the columns beside those of bodies alone, of another model too, through the filter."""
        return columns_beside(self.recording, self.numbers, robot, model)

    def rows(self, base: BaseParameters) -> FitRows:
        """Return the rows of base parameters."""
        return FitRows(base.reduced(self.matrix), self.linear_forces, self.good, colour=self.recording.colour)

    @property
    def linear_forces(self) -> np.ndarray:
        """Forces that matrix @ parameters has to reproduce (samples, actuator)."""
        return self.forces - self.remainder

    def predicted(self, base: BaseParameters, values: np.ndarray) -> np.ndarray:
        """Return the forces (samples, actuator) predicted by base parameters."""
        return np.asarray(base.reduced(self.matrix) @ values + self.remainder)

    def predicted_rate(self, base: BaseParameters, values: np.ndarray) -> np.ndarray:
        """Return the rates (samples, actuator) of the forces predicted by base parameters [N m/s or N/s]."""
        matrix, remainder = self.slopes
        return np.asarray(base.reduced(matrix) @ values + remainder)


def thinning(recording: Prepared) -> int:
    """Return of how many samples one is taken for the regressor: eight times as many as are rows."""
    return max(1, recording.every // 8)


def thinned(recording: Prepared) -> tuple[Prepared, np.ndarray]:
    """Return the recording at the samples that a regressor is computed at, and which of its own these are.

    A filter that cuts far below the rate makes most samples superfluous before it, too.
    """
    stride = thinning(recording)
    samples = np.arange(0, len(recording.force), stride)
    series = ("position", "velocity", "acceleration", "force", "usable", "resting")
    parts = {name: getattr(recording, name)[samples] for name in series}
    return replace(recording, step=recording.step * stride, **parts), samples


def columns_beside(recording: Prepared, numbers: np.ndarray, robot: Robot, model: MachineModel) -> np.ndarray:
    """Return the columns beside those of bodies, through the filter, at some of the samples of `thinned`.

    Dry friction turns from one sample to the next, so they are filtered at the rate of the recording, as forces are.
    """
    motion: ActuatorMotion = (recording.position, recording.velocity, recording.acceleration)
    samples = numbers * thinning(recording)
    parts = [recording.filtered(column)[samples] for column in model.each_beside(robot, motion)]
    shape = len(numbers), recording.force.shape[1]
    return np.stack(parts, axis=2) if parts else np.zeros((*shape, 0))


def run_of(recording: Prepared, moving: Moving, rows: Rows) -> Run:
    """Return the rows of a recording; samples that the robot cannot reach are left out.

    moving: motion of the robot at the samples of `thinned`; rows: the regressor along a motion, and what forces have
    beside it. Raises ParameterError.
    """
    thin, samples = thinned(recording)
    thin = replace(thin, force=recording.filtered(recording.force)[samples])
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
        (slope(matrix, numbers, thin.step), slope(remainder, numbers, thin.step)),
        _rows_of_motion(moving, numbers),
    )


def _rows_of_motion(moving: Moving, numbers: np.ndarray) -> Moving:
    """Return a motion at some samples."""
    values = {name: np.asarray(series)[numbers] for name, series in present(moving).items()}
    return cast(Moving, values)


def slope(series: np.ndarray, numbers: np.ndarray, step: float) -> np.ndarray:
    """Return the rates of a series along its first dim at some samples, by differences of the samples beside them."""
    before, after = np.maximum(numbers - 1, 0), np.minimum(numbers + 1, len(series) - 1)
    times = (after - before).reshape(-1, *[1] * (series.ndim - 1)) * step
    return np.asarray((series[after] - series[before]) / times)


def at_samples(motion: ActuatorMotion, numbers: np.ndarray) -> ActuatorMotion:
    """Return some samples of a motion of the actuators."""
    position, velocity, acceleration = motion
    return position[numbers], velocity[numbers], acceleration[numbers]


SIZE = len(BODY)
TRAIN = "train"


@dataclass(frozen=True)
class Payload:
    """Payload fixed to a body in a recording: ten parameters about the origin of the body's frame, None: unknown.

    Recordings with the same unknown payload use the same name. mass [kg]: known of a payload whose other nine
    parameters are unknown.
    """

    name: str
    body: str
    values: tuple[float, ...] | None = None
    mass: float | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        """Its columns."""
        return tuple(Column(self.name, parameter, unit) for parameter, unit in BODY.items())

    def places(self, columns: Sequence[Column]) -> list[int]:
        """Return the numbers of the columns of its body. Raises ParameterError for a body that has none."""
        numbers = [k for k, column in enumerate(columns) if column.owner == self.body and column.parameter in BODY]
        if len(numbers) != SIZE:
            owners = dict.fromkeys(column.owner for column in columns if column.parameter in BODY)
            raise ParameterError(
                f"payload: got the body {self.body!r}; expected one with inertia; {nearest(self.body, owners)}"
            )
        return numbers


def payload_bodies(robot: Robot) -> tuple[str, ...]:
    """Return the bodies that a payload can be fixed to: those with inertia that no copy of a limb has as well."""
    columns, places = shared_columns(robot.family)
    single = {k for k in places if places.count(k) == 1}
    return tuple(dict.fromkeys(c.owner for k, c in enumerate(columns) if k in single and c.parameter in BODY))


def base_with_payloads(
    base: BaseParameters,
    robot: Robot,
    payloads: Sequence[Payload],
    columns: Sequence[Column],
    gravity: tuple[float, float, float] = GRAVITY,
) -> BaseParameters:
    """Return base parameters, then those of unknown payloads: recordings without payload determine the others."""
    moving = random_motion(robot, 4 * SIZE)
    body_columns = shared_columns(robot.family)[0]
    whole = regressor(robot, shared=True, gravity=gravity, **moving).matrix
    groups, independent, start = [base.groups], list(base.independent), base.groups.shape[1]
    for payload in payloads:
        # a mass that is known is no parameter: its column stays and is in no group
        free = slice(0 if payload.mass is None else 1, SIZE)
        rows = whole[:, :, payload.places(body_columns)[free]].reshape(-1, SIZE - free.start)
        part = from_matrix(rows[np.isfinite(rows).all(axis=1)], [column.name for column in payload.columns[free]])
        independent += [start + free.start + k for k in part.independent]
        groups.append(np.pad(part.groups, ((0, 0), (free.start, 0))))
        start += SIZE
    return BaseParameters(
        tuple(independent), block_diag(*groups), tuple(column.name for column in columns), base.margin
    )


@dataclass(frozen=True)
class RecordedMachine:
    """A robot, the columns of its model beside bodies, and prepared recordings of it.

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
        """Columns of the machine; those of unknown payloads come last."""
        return (*self._own_columns, *(column for payload in self._unknown for column in payload.columns))

    @cached_property
    def _own_columns(self) -> tuple[Column, ...]:
        return self.model.columns(self.robot)

    @cached_property
    def nominal(self) -> np.ndarray:
        """Values (column,) of the robot's own parameters; zero for friction that it does not have and for payloads."""
        values = nominal(self.robot, self.model)
        return np.concatenate([values, np.zeros(len(self.columns) - len(values))])

    @cached_property
    def beside(self) -> slice:
        """Places of the columns beside those of bodies: friction, offsets, drives and a user's own."""
        still = np.zeros((1, len(self.robot.mechanism.actuators)))
        count = self.model.beside(self.robot, (still, still, still)).shape[2]
        return slice(len(self._own_columns) - count, len(self._own_columns))

    @property
    def payload_columns(self) -> slice:
        """Places of the columns of unknown payloads."""
        return slice(len(self._own_columns), None)

    @property
    def _unknown(self) -> list[Payload]:
        """Unknown payloads, each once."""
        names = {payload.name: payload for payload in self.payloads if payload is not None and payload.values is None}
        return list(names.values())

    def is_loaded(self, recording: Prepared) -> bool:
        """Return whether a recording was made with a payload whose mass is known."""
        payload = self._payload(recording)
        return payload is not None and (payload.values is not None or payload.mass is not None)

    def loaded_alike(self) -> list[list[str]]:
        """Return the names of recordings whose payload has a known mass, those with the same payload together."""
        groups: dict[Payload, list[str]] = {}
        for recording in self.recordings:
            payload = self._payload(recording)
            if payload is not None and self.is_loaded(recording):
                # payloads that are known as a whole have names of their recordings
                same = payload if payload.values is None else replace(payload, name="")
                groups.setdefault(same, []).append(recording.name)
        return list(groups.values())

    def forces_of_payload(self, run: Run) -> np.ndarray:
        """Return the forces (samples, actuator) of what is known of a recording's payload, through the filter."""
        payload = self._payload(run.recording)
        assert payload is not None, "asked for where the mass of a payload is known"
        known = (payload.mass, *[0.0] * (SIZE - 1)) if payload.values is None else payload.values
        return np.asarray(run.matrix[:, :, payload.places(self._own_columns)] @ np.array(known, dtype=float))

    @property
    def payload_masses(self) -> dict[int, float]:
        """Masses [kg] that are known of payloads with unknown other parameters, by the place of their column."""
        places = range(self.payload_columns.start, len(self.columns), SIZE)
        pairs = zip(places, self._unknown, strict=True)
        return {place: payload.mass for place, payload in pairs if payload.mass is not None}

    def _payload(self, recording: Prepared) -> Payload | None:
        names = [earlier.name for earlier in self.recordings]
        return self.payloads[names.index(recording.name)] if self.payloads and recording.name in names else None

    @cached_property
    def base(self) -> BaseParameters:
        """Base parameters at random states, of unknown payloads those that their body's motion tells."""
        base = base_of(self.robot, self.model, lambda moving: actuator_motion(self.robot, moving))
        if not self._unknown:
            return base
        return base_with_payloads(base, self.robot, self._unknown, self.columns, self.model.gravity)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """Rows of every recording. Raises ParameterError for one with nothing left."""
        if self.payloads and self.model.coupled(self.robot) is not None:
            raise ParameterError(
                "payload: got one and friction that reactions load, which it changes; expected one of them; leave "
                "recordings with payload out"
            )
        pairs = zip(self.recordings, self.motions, strict=True)
        return tuple(self._with_beside(run_of(*pair, self.rows_of(pair[0]))) for pair in pairs)

    def _with_beside(self, run: Run) -> Run:
        """Return a run with the columns beside those of bodies at the rate of the recording."""
        if self.model.coupled(self.robot) is not None:
            return run
        matrix = run.matrix.copy()
        matrix[:, :, self.beside] = run.beside(self.robot, self.model)
        return replace(run, matrix=matrix)

    @cached_property
    def motions(self) -> tuple[Moving, ...]:
        """Motion of the robot in every recording, at the samples that a regressor is computed at."""
        return tuple(robot_motion(self.robot, thinned(recording)[0]) for recording in self.recordings)

    def tangent(self, coupled: CoupledFriction) -> TangentModel:
        """Return the model about `point`, where friction is coupled with reactions."""
        return TangentModel(self.robot, self.model, coupled, self.base, self.point)

    def rows_of(self, recording: Prepared, time: float = 1.0) -> Rows:
        """Return the regressor along a motion of a recording, and the forces beside it.

        time: factor of the time between its samples, over which dry friction is a mean.
        """
        if (coupled := self.model.coupled(self.robot)) is not None:
            return self.tangent(coupled).rows
        payload = self._payload(recording)
        model = replace(self.model, step=recording.step * thinning(recording) * time)

        def rows(moving: Moving, actuators: ActuatorMotion) -> tuple[np.ndarray, np.ndarray]:
            matrix = model.matrix(self.robot, moving, actuators)
            remainder = np.zeros(matrix.shape[:2])
            if payload is None and not self._unknown:
                return matrix, remainder
            body_columns = np.zeros((*remainder.shape, SIZE))
            if payload is not None:
                body_columns = matrix[:, :, payload.places(self._own_columns)]
                if payload.values is not None:
                    remainder = body_columns @ np.array(payload.values)
                elif payload.mass is not None:
                    remainder = body_columns[:, :, 0] * payload.mass
                    body_columns = np.concatenate([np.zeros_like(body_columns[:, :, :1]), body_columns[:, :, 1:]], 2)
            is_on = [payload is not None and unknown.name == payload.name for unknown in self._unknown]
            return np.concatenate(
                [matrix, *(body_columns if on else body_columns * 0.0 for on in is_on)], axis=2
            ), remainder

        return rows

    @cached_property
    def unshared(self) -> RecordedMachine | None:
        """The machine whose limbs have parameters of their own; None where no limbs are copies, or none share."""
        instances = self.robot.mechanism.instances
        if not self.model.shared or len({instance.limb for instance in instances}) == len(instances):
            return None
        joints = None if self.model.coupled(self.robot) else self.model.joints
        model = replace(self.model, shared=False, joints=joints)
        machine = RecordedMachine(self.robot, model, self.recordings, payloads=self.payloads)
        machine.__dict__.update(motions=self.motions)
        return machine

    def with_forces(self, recordings: tuple[Prepared, ...]) -> RecordedMachine:
        """Return the machine with recordings of the same motions, whose forces differ."""
        machine = replace(self, recordings=recordings)
        machine.__dict__.update(base=self.base, columns=self.columns, motions=self.motions)
        return machine

    def at(self, point: np.ndarray) -> RecordedMachine:
        """Return the machine linearised at other base parameters, which are the same combinations."""
        machine = replace(self, point=tuple(point.tolist()))
        machine.__dict__.update(base=self.base, columns=self.columns)
        return machine

    def with_gains(self, factors: np.ndarray) -> RecordedMachine:
        """Return the machine with the forces of its recordings times factors (actuator,); its rows are the same."""
        runs = tuple(
            replace(
                run,
                recording=run.recording.with_gains(factors),
                forces=run.forces * factors,
                thin=run.thin.with_gains(factors),
            )
            for run in self.runs
        )
        machine = replace(self, recordings=tuple(run.recording for run in runs))
        machine.__dict__.update(base=self.base, columns=self.columns, motions=self.motions, runs=runs)
        return machine

    def of(self, role: str) -> list[Run]:
        """Return the runs of a role."""
        return [run for run in self.runs if run.recording.role == role]


@dataclass(frozen=True)
class TangentModel:
    """A machine whose friction reactions load, linear about base parameters (kept,), absent: the robot's own.

    What base parameters do not tell of the bodies is as the robot has it, or by `known` (column,): reactions depend on
    it as well.
    """

    robot: Robot
    model: MachineModel
    coupled: CoupledFriction
    base: BaseParameters
    point: tuple[float, ...]
    known: tuple[float, ...] = ()

    def rows(self, moving: Moving, actuators: ActuatorMotion) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives of forces by the columns (samples, actuator, column), and the forces besides them.

        With these derivatives times parameters it is the force of inverse dynamics itself at the point.
        """
        start_values = np.array(self.known) if self.known else nominal(self.robot, self.model)
        kept = list(self.base.independent)
        point = np.array(self.point) if self.point else self.base.of(start_values)
        values = start_values.copy()
        eliminated = np.delete(np.arange(len(start_values)), kept)
        values[kept] = point - self.base.groups[:, eliminated] @ start_values[eliminated]
        count = len(self.coupled.columns)
        inside = [k for k in kept if k < count]
        forces, rates = self.coupled.linearised(values[:count], np.eye(count)[inside], moving)
        beside = self.model.beside(self.robot, actuators)
        forces = forces + beside @ values[count:]
        rates = np.concatenate([rates, beside[:, :, [k - count for k in kept if k >= count]]], axis=2)
        return rates @ self.base.groups, forces - rates @ point
