"""Load sharing: forces of more actuators than freedoms, see `robots.limits.ActuatorSharing`."""

from __future__ import annotations

from typing import ClassVar

from robots.data_classes import dataclass, replace
from robots.limits import EVEN_SHARING, LEAST_MAXIMUM, SharingForm
from tasks.kernels.keys import Shapes
from tasks.mechanics import assembly
from tasks.mechanics.structure import Structure
from tasks.stages.parts import NONE, Part, Place, RobotSample
from tasks.stages.request import Feature, Request


@dataclass(frozen=True)
class Sharing(Feature):
    """Sharing of forces among actuators, by its form; weights and preload are inputs."""

    form: SharingForm = EVEN_SHARING.form

    @property
    def switches(self) -> bool:
        """Return whether actuators are off for a time."""
        return self.form.switched

    def of_robot(self, request: Request) -> SharedForces | None:
        """Return the rule of forces, of a robot with a choice."""
        return SharedForces(self.form) if request.structure.has_choice else None


@dataclass(frozen=True)
class SharedForces(Part[RobotSample]):
    """Forces by a rule: case inputs `weights`, see `families.even_weights`, on request `preload`, (actuator,) each.

    These are sample inputs where actuators are off for a time.
    """

    form: SharingForm = EVEN_SHARING.form
    place: ClassVar[Place] = "force"

    def case(self, structure: Structure) -> Shapes:
        """Return its case inputs."""
        return NONE if self.form.switched else self._inputs(structure)

    def sample(self, structure: Structure) -> Shapes:
        """Return its sample inputs."""
        return self._inputs(structure) if self.form.switched else NONE

    def _inputs(self, structure: Structure) -> Shapes:
        size = (len(structure.mechanism.actuators),)
        return {"weights": size} | ({"preload": size} if self.form.preload else {})

    def add_to(self, sample: RobotSample) -> RobotSample:
        """Return the sample with its forces, and J_IK of the actuators that give some."""
        rows, wrench, weights = sample.jacobian, sample.wrench, sample.inputs["weights"]
        if self.form.rule == LEAST_MAXIMUM:
            forces = assembly.least_maximum_forces(rows, wrench, weights, switched=self.form.switched)
        elif self.form.preload:
            forces = assembly.preloaded_forces(rows, wrench, weights, sample.inputs["preload"])
        else:
            forces = assembly.actuator_forces(rows, wrench, weights)
        acting = assembly.acting_rows(rows, weights) if self.form.switched else rows
        return replace(sample, forces=forces, acting=acting)
