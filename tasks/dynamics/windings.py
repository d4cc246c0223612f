"""Motors whose windings have an inductance: their currents, current loops and speed controllers.

    L i' = U - R i - K w,    u = K i        L: inductance, U: voltage, R: resistance, K w: back-EMF, u: force

A drive with a commanded force or current i* has a current loop, of one of two kinds. A loop of bandwidth b gives U =
L b (i* - i) + R i + K w, so that i' = b (i* - i) within the limits of voltage; the same loop keeps currents below their
limit. A current controller with gains gives U = P (i* - i) + v, v' = I (i* - i). A drive with a speed controller takes
a commanded speed w*: then i* = P (w* - w) + s, s' = I (w* - w). The part of a current or voltage that its limit cuts
off is fed back into the integrals (back-calculation against wind-up).

`tasks.dynamics.wound_system` has the steps.
Sources: Astrom and Hagglund 2006, Advanced PID Control, section 3.5; Harnefors and Nee 1998, Model-based
current control of AC machines using the internal model control method, IEEE Trans. Ind. Appl.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from robots.data_classes import dataclass, fields, replace
from robots.drives import Motor
from tasks.dynamics.fed_motors import FedMotors


@dataclass(frozen=True)
class DriveVoltage:
    """Voltages [V] at windings (actuator, samples), and masks of their origin.

    reference: commanded currents [A]. looped: the current loop gives the voltage; cut: it differs from the command.
    over, excess: parts of currents [A] and voltages [V] that limits cut off.
    """

    voltage: np.ndarray
    reference: np.ndarray
    looped: np.ndarray
    cut: np.ndarray
    over: np.ndarray
    excess: np.ndarray

    def differs(self, kind: DriveVoltage) -> np.ndarray:
        """Return a mask (samples,) of voltages with another origin."""
        changed = (self.looped != kind.looped) | ((self.over != 0.0) != (kind.over != 0.0))
        return np.asarray(changed.any(axis=0))


LOOP_NUMBERS = ("inductance", "bandwidth", "current_gain", "current_integral", "speed_gain", "speed_integral")
"""Names of the numbers of windings and loops."""


def loop_numbers(motor: Motor) -> tuple[ArrayLike, ...]:
    """Return `LOOP_NUMBERS` of a motor: inductance [H], bandwidth [rad/s], then gains of its controllers; 0: none.

    >>> loop_numbers(Motor(0.1, 0.5, inductance=0.002, bandwidth=2000.0))
    (0.002, 2000.0, 0.0, 0.0, 0.0, 0.0)
    """
    gains = [
        0.0 if controller is None else gain
        for controller in (motor.current_controller, motor.speed_controller)
        for gain in ((0.0, 0.0) if controller is None else (controller.proportional, controller.integral))
    ]
    return (math.nan if motor.inductance is None else motor.inductance, motor.bandwidth, *gains)


@dataclass(frozen=True)
class Windings:
    """Motors of a batch with the inductance [H] of their windings, and their loops, see `loop_numbers`.

    Arrays (actuator, samples), or (actuator, 1) for all samples. by_speed (samples or 1,): speeds are commanded. start:
    currents at the start [A], at which controllers are in equilibrium; absent: zero.
    """

    motors: FedMotors
    inductance: np.ndarray
    bandwidth: np.ndarray
    current_gain: np.ndarray
    current_integral: np.ndarray
    speed_gain: np.ndarray
    speed_integral: np.ndarray
    by_speed: np.ndarray
    start: np.ndarray | None = None

    @classmethod
    def of_motors(
        cls, motors: FedMotors, numbers: Sequence[Sequence[ArrayLike]], by_speed: ArrayLike = (False,),
        start: np.ndarray | None = None,
    ) -> Windings:  # fmt: skip
        """Return the windings from the `loop_numbers` of each motor, numbers or (samples,).

        Raises ValueError where an inductance is not above zero, where a command needs a missing loop, and where a motor
        has two current loops.
        """
        columns = {
            name: np.stack([np.atleast_1d(np.asarray(x, dtype=float)) for x in column])
            for name, column in zip(LOOP_NUMBERS, zip(*numbers, strict=True), strict=True)
        }
        result = cls(motors, by_speed=np.atleast_1d(np.asarray(by_speed, dtype=bool)), start=start, **columns)
        if not (result.inductance > 0.0).all():
            got = "got motors with none above zero"
            raise ValueError(f"inductance: {got}; expected one for every motor of a robot, or for none")
        result._check()
        return result

    def _check(self) -> None:
        """Refuse commands that need a missing loop."""
        if (self.controlled & (self.bandwidth > 0.0)).any():
            got = "got one beside a current_controller, which is another current loop"
            raise ValueError(f"bandwidth: {got}; expected one of the two")
        by_voltage = self.motors.by_voltage
        loops = not by_voltage.all() and not ((self.bandwidth > 0.0) | self.controlled | by_voltage).all()
        if loops or (by_voltage.any() and np.isfinite(self.most).any() and not (self.bandwidth > 0.0).all()):
            got = "got 0 for a motor with a commanded force or current, or with a largest current"
            raise ValueError(f"bandwidth: {got}; expected bandwidth of its current loop [rad/s], such as 2000")
        if self.by_speed.any() and not (self.speed_gain > 0.0).all():
            got = "got speeds for motors of which some have none"
            raise ValueError(f"speed_controller: {got}; expected one for each, or forces, currents or voltages")

    def of(self, columns: np.ndarray) -> Windings:
        """Return the windings of some samples."""

        def taken(values: np.ndarray) -> np.ndarray:
            return values if values.shape[-1] == 1 else values.take(columns, axis=-1)

        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        motors = FedMotors(**{name: taken(values) for name, values in vars(parts.pop("motors")).items()})
        return replace(self, motors=motors, **{name: taken(x) for name, x in parts.items() if x is not None})

    @property
    def most(self) -> np.ndarray:
        """Largest currents [A]."""
        return np.minimum(self.motors.current, self.motors.force / np.abs(self.motors.constant))

    @property
    def controlled(self) -> np.ndarray:
        """Mask of the motors with a current controller."""
        return np.asarray((self.current_gain > 0.0) | (self.current_integral > 0.0))

    @property
    def parts(self) -> int:
        """Number of states of a drive: its current, and the integrals of its controllers where some motor has them."""
        return 3 if self.by_speed.any() else 2 if self.controlled.any() else 1

    def given(self, drives: np.ndarray, command: np.ndarray, velocity: np.ndarray) -> DriveVoltage:
        """Return the voltages for a command at states of drives (part, actuator, samples) and rates of actuators.

        command, velocity: (actuator, samples).
        """
        motors, steer, current = self.motors, self.inductance * self.bandwidth, drives[0]
        hold, most = motors.resistance * current + motors.constant * velocity, self.most
        bounded, room = np.isfinite(most), np.where(np.isfinite(most), most, 0.0)
        low = np.where(bounded, hold - steer * (room + current), -np.inf)
        high = np.where(bounded, hold + steer * (room - current), np.inf)
        wished = command / motors.constant
        if len(drives) > 2:
            wished = np.where(self.by_speed, self.speed_gain * (command - velocity) + drives[2], wished)
        reference = np.clip(wished, -most, most)
        aimed = hold + steer * (reference - current)
        if len(drives) > 1:
            aimed = np.where(self.controlled, self.current_gain * (reference - current) + drives[1], aimed)
        steered = np.where(motors.by_voltage, np.clip(command, low, high), aimed)
        voltage = np.clip(steered, -motors.voltage, motors.voltage)
        over, excess = wished - reference, steered - voltage
        cut = np.where(motors.by_voltage, voltage != command, (excess != 0.0) | (over != 0.0))
        looped = (excess == 0.0) & (~motors.by_voltage | (steered != command))
        return DriveVoltage(voltage, reference, looped, cut, over, excess)

    def rate(self, supply: DriveVoltage, drives: np.ndarray, command: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """Return the rates of states of drives (part, actuator, samples), see `given`."""
        motors, result = self.motors, np.empty_like(drives)
        result[0] = (supply.voltage - motors.resistance * drives[0] - motors.constant * velocity) / self.inductance
        if len(drives) > 1:
            change = self.current_integral * (supply.reference - drives[0]) - self._back * supply.excess
            result[1] = np.where(self._integrates, change, 0.0)
        if len(drives) > 2:
            lost = supply.over + supply.excess / self._impedance
            change = self.speed_integral * (command - velocity - lost / self.speed_gain)
            result[2] = np.where(self.by_speed, change, 0.0)
        return result

    @property
    def _integrates(self) -> np.ndarray:
        """Mask of the motors whose current controller is in use."""
        return np.asarray(self.controlled & ~self.motors.by_voltage)

    @property
    def _impedance(self) -> np.ndarray:
        """Voltages that current loops give for an error of the current within their own time [V/A]."""
        quick = np.sqrt(self.current_integral * self.inductance) + self.inductance * self.bandwidth
        return np.asarray(self.current_gain + quick)

    @property
    def _back(self) -> np.ndarray:
        """Rates at which integrals of current controllers return to the limits of the voltage [1/s]."""
        return np.asarray(np.where(self.controlled, self.current_integral / self._impedance, 0.0))

    def linear(self, supply: DriveVoltage, parts: int) -> np.ndarray:
        """Return the change of rates of drives with their states (part, part, actuator, samples)."""
        shape = supply.voltage.shape
        heard = np.broadcast_to(self.by_speed & (supply.over == 0.0), shape)
        alone, gain = self._integrates, self.inductance * self.bandwidth
        reference, steered = np.zeros((2, 3, *shape))
        reference[2] = heard
        steered[0] = np.where(alone, -self.current_gain, self.motors.resistance - gain)
        steered[1], steered[2] = np.where(alone, 1.0, 0.0), np.where(alone, self.current_gain, gain) * heard
        voltage = np.where(supply.looped, steered, 0.0)
        lost = steered - voltage
        result = np.zeros((3, 3, *shape))
        result[0] = voltage / self.inductance
        result[0, 0] -= self.motors.resistance / self.inductance
        result[1] = np.where(alone, self.current_integral * reference - self._back * lost, 0.0)
        result[1, 0] -= np.where(alone, self.current_integral, 0.0)
        if parts == 3:
            lost /= self._impedance
            lost[2] += supply.over != 0.0
            result[2] = np.where(self.by_speed, -self.speed_integral / self.speed_gain * lost, 0.0)
        return result[:parts, :parts]

    def begun(self, command: np.ndarray, velocity: np.ndarray, parts: int) -> np.ndarray:
        """Return states of drives (part, actuator, samples) that stand still with their currents at the start."""
        result = np.zeros((parts, *velocity.shape))
        if self.start is None:
            return result
        motors = self.motors
        result[0] = self.start
        if parts > 1:
            result[1] = np.where(self.controlled, motors.resistance * result[0] + motors.constant * velocity, 0.0)
        if parts > 2:
            result[2] = np.where(self.by_speed, result[0] - self.speed_gain * (command - velocity), 0.0)
        return result
