"""Load sharing: forces of more actuators than freedoms, see `robots.limits.ActuatorSharing`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from robots.limits import EVEN_SHARING, LEAST_MAXIMUM, SharingForm
from robots.model import Family
from tasks.kernels.keys import Shapes
from tasks.mechanics import assembly
from tasks.mechanics.structure import Structure, structure_of
from tasks.stages.parts import NONE, Part, Place, RobotSample
from tasks.stages.request import Feature, Request


@dataclass(frozen=True)
class Sharing(Feature):
    """Sharing of forces among actuators, by its form; weights and preload are inputs."""

    form: SharingForm = EVEN_SHARING.form

    def of_robot(self, request: Request) -> SharedForces | None:
        """Return the rule of forces, of a robot with a choice."""
        return SharedForces(self.form) if has_choice(request.structure) else None


@dataclass(frozen=True)
class SharedForces(Part[RobotSample]):
    """Forces by a rule: case inputs `weights` (actuator,), see `even_weights`, and on request `preload` (actuator,).

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


def has_choice(structure: Structure) -> bool:
    """Return whether a robot has more actuators than freedoms."""
    return len(structure.mechanism.actuators) > structure.freedoms


def even_weights(family: Family) -> dict[str, np.ndarray]:
    """Return the input `weights` (1, actuator) of actuators that count alike; none of a robot without a choice."""
    structure = structure_of(family)
    return {"weights": np.ones((1, len(structure.mechanism.actuators)))} if has_choice(structure) else {}
