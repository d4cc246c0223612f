"""Fewer actuators than freedoms: motions that none of their forces makes."""

from __future__ import annotations

from typing import ClassVar

from robots.data_classes import dataclass, replace
from robots.status import Status
from tasks.kernels.expression import Array, Scalar
from tasks.mathematics.algebra import array, where
from tasks.mechanics import assembly
from tasks.stages.parts import Part, Place, RobotSample
from tasks.stages.request import Feature, Request


@dataclass(frozen=True)
class Underactuation(Feature):
    """A check of motions by the equations of motion, for robots with fewer actuators than freedoms."""

    def of_robot(self, request: Request) -> Balanced | None:
        """Return the check, of a robot that needs it."""
        return Balanced() if request.family.reference.underactuated and not request.unsolved else None


@dataclass(frozen=True)
class Balanced(Part[RobotSample]):
    """Status PLATFORM_SINGULAR of a motion that takes a wrench which no actuator gives."""

    place: ClassVar[Place] = "status"
    equations: ClassVar[tuple[str, ...]] = ("mass",)

    def add_to(self, sample: RobotSample) -> RobotSample:
        """Return the sample with that status, if its status was OK."""
        mass, acceleration = sample.terms(self.equations)["mass"], sample.structure.acceleration(sample.motion)
        inertial: Array = abs(array(mass)) @ abs(array(acceleration))
        lost = assembly.unbalanced(sample.jacobian, sample.wrench, sample.forces, inertial)
        found: Scalar = where(lost, float(Status.PLATFORM_SINGULAR), float(Status.OK))
        status = where(sample.solved > 0.5, sample.solved, found)
        return replace(sample, solved=status, status=status)
