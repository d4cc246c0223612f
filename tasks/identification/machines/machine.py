"""A machine that recordings were made of: its robot, what its model has beside bodies, payloads, base parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import block_diag

from robots.model import Robot
from robots.parameters import ParameterError, nearest
from tasks.arrays.inputs import GRAVITY, Moving
from tasks.identification.base import BaseParameters, from_matrix
from tasks.identification.columns import BODY, Column, shared_columns
from tasks.identification.machines.coupled import CoupledFriction
from tasks.identification.machines.model import ActuatorMotion, MachineModel, base_of, nominal
from tasks.identification.machines.motion import actuator_motion
from tasks.identification.machines.preparation import Prepared
from tasks.identification.machines.rows import Rows, Run, run_of
from tasks.identification.regressor import regressor
from tasks.identification.states import random_motion

SIZE = len(BODY)
TRAIN = "train"


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
    """Base parameters with those of unknown payloads behind them: recordings without payload tell the others."""
    moving = random_motion(robot, 4 * SIZE)
    own = shared_columns(robot.family)[0]
    whole = regressor(robot, shared=True, gravity=gravity, **moving)
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

    @cached_property
    def nominal(self) -> np.ndarray:
        """Values (column,) of the robot's own parameters; zero for friction that it does not have and for payloads."""
        values = nominal(self.robot, self.model)
        return np.concatenate([values, np.zeros(len(self.columns) - len(values))])

    @cached_property
    def beside(self) -> slice:
        """Places of the columns beside those of bodies: friction, offsets, drives and a user's own."""
        rest = np.zeros((1, len(self.robot.mechanism.actuators)))
        count = self.model.beside(self.robot, (rest, rest, rest)).shape[2]
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
        return tuple(run_of(self.robot, recording, self.rows_of(recording)) for recording in self.recordings)

    def tangent(self, coupled: CoupledFriction) -> TangentModel:
        """The model about `point`, where friction is coupled with reactions."""
        return TangentModel(self.robot, self.model, coupled, self.base, self.point)

    def rows_of(self, recording: Prepared) -> Rows:
        """The regressor along a motion of a recording, and what forces have beside it."""
        if (coupled := self.model.coupled(self.robot)) is not None:
            return self.tangent(coupled).rows
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
        """Derivatives of forces by the columns (samples, actuator, column), and what forces have beside them.

        With these derivatives times parameters it is the force of inverse dynamics itself at the point.
        """
        known = np.array(self.known) if self.known else nominal(self.robot, self.model)
        kept = list(self.base.independent)
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
