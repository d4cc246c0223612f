"""Motions of a machine under its controller, simulated along the controller's reference; estimators that stand on them.

Positions that encoders record have errors, and so has a regressor along them: least squares are then biased. A motion
simulated from the reference has none. Output error fits forces along it to recorded ones (DIDIM: Gautier, Janot and
Vandanjon 2013); instrumental variables take the regressor along it as instruments for the measured one (IDIM-IV: Janot,
Vandanjon and Gautier 2014). Simulations are by the trapezoidal rule (Newmark 1959), all samples at once: equations of
motion are linear about the last iterate, as a wave of Newton's steps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from applications.identification.estimation.encoders import ActuatorMotion
from applications.identification.estimation.machines.choices import INSTRUMENTAL, OUTPUT_ERROR, BodyPrior
from applications.identification.estimation.machines.fitting import MachineFit, fit_machine, standard_parameters_of
from applications.identification.estimation.machines.machine import TRAIN, RecordedMachine
from applications.identification.estimation.machines.machine_model import PositionController
from applications.identification.estimation.machines.preparation import Prepared
from applications.identification.estimation.machines.recorded_motion import is_direct
from robots.data_classes import dataclass, replace
from robots.model import Robot
from robots.parameter_errors import ParameterError
from tasks.dynamics.records import Moving
from tasks.mathematics.signals import rate

"""Estimators that need the reference of a controller."""
WAVES = 40
"""Newton's steps of a simulation."""
LEAST_SHARE = 0.25
"""The least share of such a step that is taken."""
WIDTHS = (0.3, 0.1, 0.03, 0.01, 0.003)
"""Velocities that smooth dry friction in a simulation, relative to the largest: at rest it creeps instead of holding.

The last one counts; a first simulation comes to it from the others.
"""
SETTLED = 1e-5
"""Change of positions in such a step, relative to their range, at which a simulation is taken."""
HALVINGS = 6
"""Number of times that estimates go halfway back to the previous ones, where no simulation settles with them."""
ROUNDS = 20
STEADY = 0.02
"""Change of parameters from one simulation to the next, over their deviations, at which they are taken."""
STEP = 1e-6
"""Step of differences of forces by positions and velocities, relative to their range."""


@dataclass(frozen=True)
class _Equations:
    """Forces of a machine with its parameters and the payload of a recording, along whole motions."""

    machine: RecordedMachine
    values: np.ndarray
    recording: Prepared

    def forces(self, motion: ActuatorMotion) -> np.ndarray:
        position, velocity, acceleration = motion
        moving: Moving = {"q": position, "qd": velocity, "qdd": acceleration}
        matrix, remainder = self.machine.rows_of(self.recording)(moving, motion)
        return np.asarray(self.machine.base.reduced(matrix) @ self.values + remainder)

    def linearised(self, motion: ActuatorMotion) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return forces (samples, actuator), derivatives by q, qd and qdd, each (samples, actuator, actuator).

        By central differences.
        """
        forces, count = self.forces(motion), motion[0].shape[1]
        derivatives = [np.empty((*forces.shape, count)) for _ in motion]
        for order, values in enumerate(motion):
            for k in range(count):
                step = 1.0 if order == 2 else STEP * max(float(np.ptp(values[:, k])), 1e-3)
                ends = [self._moved(motion, order, k, values[:, k] + sign * step) for sign in (1.0, -1.0)]
                derivatives[order][:, :, k] = (self.forces(ends[0]) - self.forces(ends[1])) / (2.0 * step)
        return forces, derivatives

    def _moved(self, motion: ActuatorMotion, order: int, column: int, values: np.ndarray) -> ActuatorMotion:
        changed = motion[order].copy()
        changed[:, column] = values
        position, velocity, acceleration = (changed if k == order else part for k, part in enumerate(motion))
        return position, velocity, acceleration


def simulated(
    machine: RecordedMachine,
    values: np.ndarray,
    recording: Prepared,
    controller: PositionController,
    near: Prepared | None = None,
) -> Prepared:
    """Return the recording with the motion that the machine with base parameters (kept,) makes under its controller.

    near: the same with parameters like these, where Newton's steps begin; absent: along the reference. Raises
    ParameterError for a robot whose actuators are not its freedoms, for a recording without reference, and for a
    simulation that does not settle, as of parameters that no machine has.
    """
    loop, change = _Loop(recording, controller, reference_of(machine.robot, recording)), np.inf
    beginnings = [] if near is None else [(near, WIDTHS[-1:])]
    for first, widths in (*beginnings, (along_reference(machine.robot, recording), WIDTHS)):
        motion: ActuatorMotion = (first.position, first.velocity, first.acceleration)
        for width in widths:
            motion, change = loop.settled(_Equations(smooth(machine, width), values, recording), motion)
        if change < SETTLED:
            break
    if not change < SETTLED:
        raise ParameterError(
            f"{recording.name}: the simulation under the controller does not settle (positions change by {change:.2g} "
            "of their range); expected gains in SI units that hold the machine, and parameters near its own; look at "
            "controller, or take weighted"
        )
    position, velocity, acceleration = motion
    return replace(recording, position=position, velocity=velocity, acceleration=acceleration)


@dataclass(frozen=True)
class _Loop:
    """Reference (samples, actuator) of a recording under a controller."""

    recording: Prepared
    controller: PositionController
    reference: np.ndarray

    def settled(self, equations: _Equations, motion: ActuatorMotion) -> tuple[ActuatorMotion, float]:
        """Return the motion after Newton steps over all samples at once, and the last change relative to its range."""
        change, share = np.inf, 1.0
        for _ in range(WAVES):
            following = self._step(equations, motion)
            away = np.abs(following[0] - motion[0]).max(axis=0) / np.ptp(self.reference, axis=0).clip(1e-9)
            if not np.isfinite(following[0]).all():
                return motion, np.inf
            # dry friction near rest is steep, so that whole steps may go to and fro
            share = min(1.5 * share, 1.0) if away.max() < 0.7 * change else max(0.5 * share, LEAST_SHARE)
            moved = [old + share * (new - old) for old, new in zip(motion, following, strict=True)]
            motion, change = (moved[0], moved[1], moved[2]), float(away.max())
            if change < SETTLED:
                break
        return motion, change

    def _step(self, equations: _Equations, motion: ActuatorMotion) -> ActuatorMotion:
        with np.errstate(all="ignore"):  # steps that lead nowhere hold infinities
            return self._trapezoidal(equations, motion)

    def _trapezoidal(self, equations: _Equations, motion: ActuatorMotion) -> ActuatorMotion:
        gains, step = self.controller, self.recording.step
        goal_rate = rate(self.reference, step) if gains.feeds_rate else np.zeros_like(self.reference)
        forces, (by_position, by_rate, mass) = equations.linearised(motion)
        constant = gains.position_gain * self.reference + gains.velocity_gain * goal_rate - forces
        for derivative, values in zip((by_position, by_rate, mass), motion, strict=True):
            constant = constant + np.einsum("sij,sj->si", derivative, values)
        damping, stiffness = by_rate + np.diag(gains.velocity_gain), by_position + np.diag(gains.position_gain)
        start = self.recording.position[0], self.recording.velocity[0]
        return _newmark(mass, damping, stiffness, constant, start, step)


def smooth(machine: RecordedMachine, width: float) -> RecordedMachine:
    """Return the machine whose dry friction is smooth about rest."""
    speeds = np.max([np.abs(recording.velocity).max(axis=0) for recording in machine.recordings], axis=0)
    model = replace(machine.model, width=tuple((width * speeds).tolist()))
    smoothed_machine = replace(machine, model=model)
    smoothed_machine.__dict__.update(base=machine.base, columns=machine.columns)
    return smoothed_machine


def _newmark(
    mass: np.ndarray,
    damping: np.ndarray,
    stiffness: np.ndarray,
    constant: np.ndarray,
    start: tuple[np.ndarray, np.ndarray],
    step: float,
) -> ActuatorMotion:
    """Solve M(t) qdd + D(t) qd + K(t) q = constant(t) by the trapezoidal rule, from the start of a motion."""
    position, velocity, acceleration = (np.empty_like(constant) for _ in range(3))
    position[0], velocity[0] = start
    whole = mass + 0.5 * step * damping + 0.25 * step**2 * stiffness
    try:
        inverse = np.linalg.inv(whole)
        acceleration[0] = np.linalg.solve(mass[0], constant[0] - damping[0] @ velocity[0] - stiffness[0] @ position[0])
    except np.linalg.LinAlgError:
        position[:] = np.nan
        return position, velocity, acceleration
    for k in range(1, len(constant)):
        ahead = position[k - 1] + step * velocity[k - 1] + 0.25 * step**2 * acceleration[k - 1]
        faster = velocity[k - 1] + 0.5 * step * acceleration[k - 1]
        acceleration[k] = inverse[k] @ (constant[k] - damping[k] @ faster - stiffness[k] @ ahead)
        position[k] = ahead + 0.25 * step**2 * acceleration[k]
        velocity[k] = faster + 0.5 * step * acceleration[k]
    return position, velocity, acceleration


def reference_of(robot: Robot, recording: Prepared) -> np.ndarray:
    """Return the controller's reference of a recording. Raises ParameterError as `simulated` does."""
    if not is_direct(robot):
        raise ParameterError(
            f"{recording.name}: {robot.name} is not driven in the coordinates of its motion alone; expected a chain "
            "whose actuators are its independent joints; use weighted"
        )
    if recording.reference is None:
        raise ParameterError(
            f"{recording.name}: got no reference; expected the positions that the controller was asked for; add the "
            "key reference with its columns"
        )
    return recording.reference


def along_reference(robot: Robot, recording: Prepared) -> Prepared:
    """Return the recording with the motion of the reference itself, through the filter of positions."""
    position = recording.filtered(reference_of(robot, recording))
    velocity = rate(position, recording.step)
    return replace(recording, position=position, velocity=velocity, acceleration=rate(velocity, recording.step))


def _moved(machine: RecordedMachine, recordings: Sequence[Prepared]) -> RecordedMachine:
    """Return the machine along other motions, with the base parameters that it has."""
    moved = replace(smooth(machine, WIDTHS[-1]), recordings=tuple(recordings))
    moved.__dict__.update(base=machine.base, columns=machine.columns)
    return moved


def fit_instrumental(
    machine: RecordedMachine, controller: PositionController | None = None, *, eliminate: bool = False
) -> MachineFit:
    """Estimate parameters by instrumental variables: the regressor along motions without errors of encoders.

    These are simulated under the controller, and again with the parameters found; without controller, they are the
    reference itself. Raises ParameterError.
    """
    training = [recording for recording in machine.recordings if recording.role == TRAIN]
    if controller is None:
        along = [along_reference(machine.robot, recording) for recording in training]
        return replace(_with_instruments(machine, along, eliminate), method=INSTRUMENTAL)
    values, near_motions = first_values(machine), dict[str, Prepared]()
    before = values
    for _ in range(ROUNDS):
        values, near_motions = _simulated_near(machine, values, before, training, controller, near_motions)
        before = values
        fit = _with_instruments(machine, list(near_motions.values()), eliminate)
        values = fit.all_values
        if _is_steady(fit, before):
            return replace(fit, method=INSTRUMENTAL)
    raise _unsettled(INSTRUMENTAL)


def _with_instruments(machine: RecordedMachine, along: Sequence[Prepared], eliminate: bool) -> MachineFit:
    return fit_machine(machine, eliminate=eliminate, instruments=_moved(machine, along).runs)


def fit_output_error(
    machine: RecordedMachine, controller: PositionController, method: str = "weighted", *, eliminate: bool = False
) -> tuple[RecordedMachine, MachineFit]:
    """Estimate parameters by the forces of a simulation under the controller (DIDIM), and the machine along it.

    Recordings for validation are simulated as well: their errors are those of the simulation. Raises ParameterError.
    """
    values, near_motions = first_values(machine), dict[str, Prepared]()
    before = values
    for _ in range(ROUNDS):
        values, near_motions = _simulated_near(machine, values, before, machine.recordings, controller, near_motions)
        before, moved = values, _moved(machine, list(near_motions.values()))
        fit = fit_machine(moved, method, eliminate=eliminate)
        values = fit.all_values
        if _is_steady(fit, before):
            return moved, replace(fit, method=OUTPUT_ERROR)
    raise _unsettled(OUTPUT_ERROR)


def _simulated_near(
    machine: RecordedMachine,
    values: np.ndarray,
    before: np.ndarray,
    recordings: Sequence[Prepared],
    controller: PositionController,
    near_motions: dict[str, Prepared],
) -> tuple[np.ndarray, dict[str, Prepared]]:
    """Simulate recordings with base parameters, or with the nearest ones on the way from `before` that give motions."""
    for _ in range(HALVINGS):
        try:
            return values, {
                recording.name: simulated(machine, values, recording, controller, near_motions.get(recording.name))
                for recording in recordings
            }
        except ParameterError:
            if np.array_equal(values, before):
                raise
            values = 0.5 * (values + before)
    raise _unsettled("the simulation")


def first_values(machine: RecordedMachine) -> np.ndarray:
    """Return base parameters (kept,) to start a simulation: of possible bodies, near the recordings."""
    standard = standard_parameters_of(machine, fit_machine(machine), BodyPrior(weight=1.0))
    return machine.base.of(standard.values)


def _is_steady(fit: MachineFit, before: np.ndarray) -> bool:
    kept = list(fit.kept)
    return bool((np.abs(fit.values - before[kept]) <= STEADY * fit.deviations).all())


def _unsettled(method: str) -> ParameterError:
    return ParameterError(
        f"estimate.method: {method} did not settle within {ROUNDS} simulations; expected a controller and a model that "
        "are those of the recordings; use weighted"
    )
