"""Singularities: constraints of limbs on a platform, loads that no limb holds, J_IK of the reference pose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from robots.data_classes import dataclass, replace
from robots.quantities import Need
from tasks.kernels.expression import Numbers
from tasks.kernels.keys import Shapes
from tasks.mathematics.algebra import array, either, total
from tasks.mechanics import limb_motion
from tasks.mechanics.kinematics import Pose, mount_pose
from tasks.mechanics.solving import carried
from tasks.mechanics.structure import Structure, symbolic
from tasks.stages import constraints
from tasks.stages.parts import LimbPart, LimbSample, Part, Place, RobotSample
from tasks.stages.request import Feature, Request

HELD = 1e-9
"""Largest load that no limb holds and that counts as rounding, as a share of the loads that limbs carry."""

ELASTIC: tuple[Need, ...] = ("elasticity", "errors", "clearances")
"""Needs of quantities that follow from stiffness."""


def _home(sample: LimbSample) -> Pose:
    return mount_pose(symbolic(sample.structure, sample.inputs["parameters"]).platform.home)


@dataclass(frozen=True)
class ReferenceJacobian(Feature):
    """J_IK of the reference pose, for margins to singularities that have no unit."""

    def of_limb(self, request: Request, k: int) -> HomeJacobian | None:
        """Return the rows of the limb, where quantities compare with them."""
        return HomeJacobian() if request.needs("reference jacobian") else None

    def of_robot(self, request: Request) -> Compared | None:
        """Return the reference Jacobian of a robot."""
        return Compared(len(request.structure.mechanism.instances)) if request.needs("reference jacobian") else None


@dataclass(frozen=True)
class HomeJacobian(LimbPart):
    """The rows `home_jacobian` (actuator, freedom) of a limb at the reference pose."""

    def shapes(self, structure: Structure, limb_index: int) -> Shapes:
        """Return the shape of the rows."""
        return {"home_jacobian": (len(structure.mechanism.limbs[limb_index].actuators), structure.freedoms)}

    def terms(self, sample: LimbSample) -> Mapping[str, Numbers]:
        """Return the rows."""
        rows = limb_motion.home_jacobian(sample.mounted, _home(sample))
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
    """Constraint singularities: poses where limbs cannot hold the platform."""

    def looked_for(self, request: Request) -> bool:
        """Return whether constraint singularities are searched: for quantities about them, and for forces of limbs.

        Reactions, friction from reactions, and stiffness are not defined where limbs do not hold the platform.
        """
        elastic = any(request.needs(need) for need in ELASTIC)
        return request.needs("constraints") or ((request.statics or elastic) and request.structure.may_lose_constraints)

    def of_limb(self, request: Request, k: int) -> ConstraintRows | None:
        """Return the constraint rows of the limb on the platform."""
        return ConstraintRows() if self.looked_for(request) else None

    def of_robot(self, request: Request) -> HeldRegularity | None:
        """Return the comparison with the reference pose."""
        structure = request.structure
        if not self.looked_for(request):
            return None
        # rows of limbs with `every_row` do not tell the directions that these limbs hold
        is_regular = structure.held == 0 or not any(limb_.every_row for limb_ in structure.mechanism.limbs)
        return HeldRegularity(len(structure.mechanism.instances), is_regular)


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
            "constraint_rows": limb_motion.constraint_rows(sample.mounted, sample.solved.tips) or none,
            "home_constraint_rows": limb_motion.home_constraint_rows(sample.mounted, _home(sample)) or none,
        }


def _row_shape(structure: Structure, limb_index: int) -> tuple[int, int]:
    return structure.constraint_count(limb_index), structure.held


@dataclass(frozen=True)
class HeldRegularity(Part[RobotSample]):
    """Regularity of the constraints of limbs, and whether it is lost; limbs without dropped rows have none."""

    limbs: int
    known: bool
    place: ClassVar[Place] = "force"

    @property
    def of_limbs(self) -> Sequence[LimbPart]:
        """Return the parts that give its rows."""
        return (ConstraintRows(),) * self.limbs

    def add_to(self, sample: RobotSample) -> RobotSample:
        """Return the sample with both."""
        if not self.known:
            return replace(sample, found={**sample.found, "constraint_regularity": np.nan})
        rows, home = (dict(enumerate(sample.of_limbs(name))) for name in ("constraint_rows", "home_constraint_rows"))
        regularity, loose = constraints.hold(sample.structure, carried(sample.structure.family), rows, home)
        return replace(sample, loose=loose, found={**sample.found, "constraint_regularity": regularity})


@dataclass(frozen=True)
class UnheldLoads(Feature):
    """Loads on the platform along directions in which no limb holds it, such as moments on the point of a five-bar."""

    def of_robot(self, request: Request) -> Balance | None:
        """Return the check of such loads, where reactions are wanted."""
        structure = request.structure
        if not request.reactions or structure.mechanism.is_chain:
            return None
        held = carried(request.family)
        free = tuple(k for k in range(structure.held) if k not in held)
        return Balance(free) if free else None


@dataclass(frozen=True)
class Balance(Part[RobotSample]):
    """Balance of the platform along held directions that no limb holds (`free`, by position): only zero is balanced."""

    free: tuple[int, ...]
    place: ClassVar[Place] = "force"

    def sample(self, structure: Structure) -> Shapes:
        """Return the shape of the platform's wrench along held directions."""
        return {"held": (structure.held,)}

    def add_to(self, sample: RobotSample) -> RobotSample:
        """Return the sample, loose where such a load is more than HELD of all that limbs carry."""
        wrench = array(sample.inputs["held"])
        unheld, all_loads = total(wrench[list(self.free)]), total([*wrench, *sample.wrench])
        return replace(sample, loose=either(sample.loose, unheld > HELD * all_loads))
