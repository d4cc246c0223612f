"""Limits of joints, supplies of actuators: margins, the status JOINT_LIMIT; see `tasks.stages.metrics.margins`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from robots.data_classes import dataclass, replace
from robots.limits import Capacity
from robots.quantities import any_needs
from robots.status import Status
from tasks.kernels.expression import Numbers, Scalar
from tasks.kernels.keys import Shapes
from tasks.mathematics.algebra import where
from tasks.mechanics import assembly
from tasks.mechanics.structure import Structure, symbolic
from tasks.stages.metrics.margins import MARGINS, NOTHING, LimbLimits, least
from tasks.stages.parts import ActuatorSample, LimbPart, LimbSample, Part, Place, RobotSample
from tasks.stages.request import Feature, Request


@dataclass(frozen=True)
class JointLimits(Feature):
    """Limits of the joints of each limb; empty without given limits."""

    limits: tuple[LimbLimits, ...] = ()

    def of_limb(self, request: Request, k: int) -> LimbMargins | None:
        """Return the margins of the limb."""
        return LimbMargins(self.limits[k]) if self.limits and self.limits[k] != NOTHING else None

    def of_robot(self, request: Request) -> LeastMargins | None:
        """Return the least margins."""
        parts = self.limb_parts(request)
        return LeastMargins(parts, fails=not request.unsolved) if any(parts) else None


@dataclass(frozen=True)
class LimbMargins(LimbPart):
    """Least margins of the joints of a limb to their limits, a case input `limits`."""

    limits: LimbLimits

    @property
    def uses_positions(self) -> bool:
        """Return whether positions of joints have limits."""
        return bool(self.limits.positions)

    def case(self, structure: Structure, limb_index: int) -> Shapes:
        """Return the shape of the limits."""
        return {"limits": self.limits.shape}

    def shapes(self, structure: Structure, limb_index: int) -> Shapes:
        """Return the shapes of the margins."""
        return dict.fromkeys(self.limits.margins, (1,))

    def failure(self, sample: LimbSample) -> Scalar | None:
        """Return the status TURNS_UNKNOWN of a limb with a joint in a range whose turns are not known."""
        turns = sample.solved.turns
        if turns is None or not self.limits.positions:
            return None
        return where(turns.with_cuts.known, float(Status.OK), float(Status.TURNS_UNKNOWN))

    def terms(self, sample: LimbSample) -> Mapping[str, Numbers]:
        """Return the margins."""
        positions = sample.positions if self.uses_positions else ()
        return self.limits.shares(sample.inputs["limits"], positions, sample.rates[0])


@dataclass(frozen=True)
class LeastMargins(Part[RobotSample]):
    """Least margins of all joints; with `fails` a sample with a joint beyond its range has the status JOINT_LIMIT."""

    limbs: tuple[LimbPart | None, ...]
    fails: bool = True
    place: ClassVar[Place] = "status"

    @property
    def of_limbs(self) -> Sequence[LimbPart | None]:
        """Return the parts that give margins."""
        return self.limbs

    def add_to(self, sample: RobotSample) -> RobotSample:
        """Return the sample with margins and status."""
        shares = {name: [share[0] for share in sample.of_limbs(name)] for name in MARGINS}
        margins = {name: least(values) for name, values in shares.items() if values}
        margin = margins.get("margin") if self.fails else None
        status = assembly.limited_status(sample.solved, margin)
        return replace(sample, status=status, found={**sample.found, **margins})


@dataclass(frozen=True)
class MotorSupply(Feature):
    """Motors, limits of actuators and supplies of motors, where quantities ask for them."""

    def of_actuators(self, request: Request) -> Supplied | None:
        """Return the numbers that metrics of actuators need."""
        series, metrics = request.actuation.series, request.actuation.metrics
        quantities = [*map(str, series), *metrics]
        part = supplied(quantities)
        if part is None or not request.family.reference.has_windings:
            return part
        return replace(part, wound=any_needs(quantities, "voltages"))


def supplied(quantities: Sequence[str]) -> Supplied | None:
    """Return the numbers that some quantities of actuators need."""
    electric, limited = any_needs(quantities, "motors"), any_needs(quantities, "actuator limits")
    fed = any_needs(quantities, "supply") or any_needs(quantities, "rated currents")
    return Supplied(electric, limited, fed) if electric or limited or fed else None


@dataclass(frozen=True)
class Supplied(Part[ActuatorSample]):
    """Motors of the robot, from its `parameters`, and limits of actuators and motors.

    Case inputs `capacity` (3 actuator) and `motor_capacity` (3 actuator), see `tasks.stages.metrics.margins`; of motors
    with an inductance the sample input `current_rate` (actuator) [A/s].
    """

    electric: bool
    limited: bool
    fed: bool
    wound: bool = False

    def case(self, structure: Structure) -> Shapes:
        """Return its case inputs."""
        three = (3 * len(structure.mechanism.actuators),)
        shapes: dict[str, tuple[int, ...]] = {}
        shapes |= {"parameters": (len(structure.family.parameters),)} if self.electric else {}
        shapes |= {"capacity": three} if self.limited else {}
        return shapes | ({"motor_capacity": three} if self.fed else {})

    def sample(self, structure: Structure) -> Shapes:
        """Return its sample inputs."""
        return {"current_rate": (len(structure.mechanism.actuators),)} if self.wound else {}

    def add_to(self, sample: ActuatorSample) -> ActuatorSample:
        """Return the sample with motors and capacities."""
        inputs, shape = sample.inputs, (len(sample.velocity), 3)
        motors = symbolic(sample.structure, inputs["parameters"]).motors if self.electric else sample.motors
        numbers = np.reshape(inputs["capacity"], shape) if self.limited else np.full(shape, np.inf)
        supply = np.reshape(inputs["motor_capacity"], shape) if self.fed else np.full(shape, np.inf)
        capacities = [Capacity(*row, *fed) for row, fed in zip(numbers, supply, strict=True)]
        changes = inputs["current_rate"] if self.wound else None
        return replace(sample, motors=motors, capacities=capacities, current_rates=changes)
