"""Singularities: what limbs hold a platform by, and J_IK of the reference pose, with which a pose is compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from robots.types import ROTATION
from tasks.kernels.expression import Numbers
from tasks.kernels.keys import Shapes
from tasks.mathematics.algebra import array
from tasks.mechanics import assembly, limb
from tasks.mechanics.kinematics import Pose, mount_pose
from tasks.mechanics.recursion import held_directions
from tasks.mechanics.structure import Structure, symbolic
from tasks.stages.parts import LimbPart, LimbSample, Part, Place, RobotSample
from tasks.stages.reactions import carried
from tasks.stages.request import Feature, Request


def _home(sample: LimbSample) -> Pose:
    return mount_pose(symbolic(sample.structure, sample.inputs["parameters"]).platform.home)


@dataclass(frozen=True)
class ReferenceJacobian(Feature):
    """J_IK of the reference pose, for margins to singularities that have no unit."""

    def of_limb(self, request: Request, k: int) -> HomeJacobian | None:
        """Return the rows of the limb, where quantities compare with them."""
        return HomeJacobian() if request.needs("reference jacobian") else None

    def of_robot(self, request: Request) -> Compared | None:
        """Return the comparison."""
        return Compared(len(request.structure.mechanism.instances)) if request.needs("reference jacobian") else None


@dataclass(frozen=True)
class HomeJacobian(LimbPart):
    """The rows `home_jacobian` (actuator, freedom) of a limb at the reference pose."""

    def shapes(self, structure: Structure, limb_index: int) -> Shapes:
        """Return the shape of the rows."""
        return {"home_jacobian": (len(structure.mechanism.limbs[limb_index].actuators), structure.freedoms)}

    def terms(self, sample: LimbSample) -> Mapping[str, Numbers]:
        """Return the rows."""
        rows = limb.home_jacobian(sample.mounted, _home(sample))
        return {"home_jacobian": rows or np.zeros((0, sample.structure.freedoms))}


@dataclass(frozen=True)
class Compared(Part[RobotSample]):
    """J_IK of the reference pose of the robot, as `reference`."""

    limbs: int

    @property
    def of_limbs(self) -> Sequence[LimbPart]:
        """Return the parts that give its rows."""
        return (HomeJacobian(),) * self.limbs

    def add_to(self, sample: RobotSample) -> RobotSample:
        """Return the sample with the matrix."""
        return replace(sample, found={**sample.found, "reference": np.vstack(sample.of_limbs("home_jacobian"))})


@dataclass(frozen=True)
class Constraints(Feature):
    """Constraint singularities: poses where limbs cannot hold the platform, where quantities ask for them."""

    def of_limb(self, request: Request, k: int) -> ConstraintRows | None:
        """Return what the limb holds the platform by."""
        return ConstraintRows() if request.needs("constraints") else None

    def of_robot(self, request: Request) -> Held | None:
        """Return the comparison with the reference pose."""
        structure = request.structure
        if not request.needs("constraints"):
            return None
        # rows of limbs that drop none do not say what these hold
        known = structure.held == 0 or not any(limb_.every_row for limb_ in structure.mechanism.limbs)
        return Held(len(structure.mechanism.instances), carried(request.family) if known else (), known)


@dataclass(frozen=True)
class ConstraintRows(LimbPart):
    """Rows by which a limb holds the platform, `constraint_rows`, and `home_constraint_rows` at the reference pose."""

    def shapes(self, structure: Structure, limb_index: int) -> Shapes:
        """Return the shapes of the rows (row, held direction)."""
        return dict.fromkeys(("constraint_rows", "home_constraint_rows"), _row_shape(structure, limb_index))

    def terms(self, sample: LimbSample) -> Mapping[str, Numbers]:
        """Return the rows."""
        none = np.zeros((0, sample.structure.held))
        return {
            "constraint_rows": limb.constraint_rows(sample.mounted, sample.solved.tips) or none,
            "home_constraint_rows": limb.home_constraint_rows(sample.mounted, _home(sample)) or none,
        }


def _row_shape(structure: Structure, limb_index: int) -> tuple[int, int]:
    return structure.constraint_count(limb_index), structure.held


@dataclass(frozen=True)
class Held(Part[RobotSample]):
    """Regularity of what limbs hold along some of the held directions, and whether they have lost it."""

    limbs: int
    directions: tuple[int, ...]
    known: bool
    place: ClassVar[Place] = "force"

    @property
    def of_limbs(self) -> Sequence[LimbPart]:
        """Return the parts that give its rows."""
        return (ConstraintRows(),) * self.limbs

    def add_to(self, sample: RobotSample) -> RobotSample:
        """Return the sample with both."""
        if not self.directions:
            unknown = 1.0 if self.known else np.nan
            return replace(sample, found={**sample.found, "constraint_regularity": unknown})
        names = ("constraint_rows", "home_constraint_rows")
        now, first = (array(np.vstack(sample.of_limbs(name))[:, list(self.directions)]) for name in names)
        held = held_directions(sample.structure.mechanism.platform.mobility)
        home = assembly.Reference(first, [held[k] in ROTATION for k in self.directions])
        regularity, loose = assembly.regularity(now, home), assembly.constraints_lost(now, home)
        return replace(sample, loose=loose, found={**sample.found, "constraint_regularity": regularity})
