"""Machine of some recordings: its robot, columns of its model, payloads, base parameters, and rows of a fit."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from applications.identification.estimation.base import BaseParameters
from applications.identification.estimation.encoders import ActuatorMotion
from applications.identification.estimation.machines.coupled_friction import CoupledFriction
from applications.identification.estimation.machines.machine_model import MachineModel, base_of, nominal
from applications.identification.estimation.machines.payload import Payload, base_with_payloads
from applications.identification.estimation.machines.preparation import Prepared
from applications.identification.estimation.machines.recorded_motion import actuator_motion, robot_motion
from applications.identification.estimation.machines.run import Rows, Run, run_of, thinned, thinning
from robots.data_classes import dataclass, replace
from robots.model import Robot
from robots.parameter_errors import ParameterError
from tasks.dynamics.inertial_parameters import SIZE, Column
from tasks.dynamics.records import Moving


def columns_beside(run: Run, robot: Robot, model: MachineModel) -> np.ndarray:
    """Return the columns beside those of bodies alone, of another model too, through the filter, at the rows of a run.

    Dry friction turns from one sample to the next, so they are filtered at the rate of the recording, as forces are.
    """
    recording = run.recording
    motion: ActuatorMotion = (recording.position, recording.velocity, recording.acceleration)
    samples = run.numbers * thinning(recording)
    parts = [recording.filtered(column)[samples] for column in model.each_beside(robot, motion)]
    shape = len(run.numbers), recording.force.shape[1]
    return np.stack(parts, axis=2) if parts else np.zeros((*shape, 0))


TRAIN = "train"


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
        """Return the filtered forces (samples, actuator) of the known part of a recording's payload."""
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
        """Base parameters at random states, of unknown payloads the ones that their body's motion determines."""
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
        matrix[:, :, self.beside] = columns_beside(run, self.robot, self.model)
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

    Values of bodies that base parameters leave open are the robot's, or given by `known` (column,): reactions depend on
    them as well.
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
