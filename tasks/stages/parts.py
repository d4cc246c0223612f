"""Parts of programs: records of one sample, and the terms that a feature adds to them.

A feature of `tasks.features` adds a `LimbPart` to the program of a limb, and a `Part` to the program of the platform,
of the assembly or of the actuators. A part lists its inputs, and works on the sample of its program. Programs use parts
by these functions alone. Parts are hashable: equal parts give the same program, which is traced once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, TypeVar, cast

import numpy as np

from robots.data_classes import dataclass, field
from robots.drives import Motor
from robots.limits import Capacity
from robots.model import Platform
from tasks.kernels.expression import Array, Mask, Numbers, Scalar, Scalars
from tasks.kernels.keys import Shape, Shapes
from tasks.mathematics.algebra import where
from tasks.mechanics import limb_motion
from tasks.mechanics.assembly import Reference
from tasks.mechanics.drives import Transmission
from tasks.mechanics.kinematics import Pose, SpatialMotion
from tasks.mechanics.limb_motion import Mounted, Solved
from tasks.mechanics.structure import Structure

S = TypeVar("S")
T = TypeVar("T")

NONE: Shapes = {}
"""Shapes of no inputs or outputs."""

VELOCITY = "actuator_velocity"
"""The series that is always there, because actuation needs it."""

OUTCOME = "outcome"
"""The status of a sample for one friction set: an output beside the input `status`, which is without friction."""

RECURSION = "recursion"
"""The formulation of `tasks.stages.limb.FORMULATIONS` by which limbs compute their wrenches by default."""

SolvedLimb = tuple[Mounted, Solved, Pose, SpatialMotion, Array]
"""A limb, mounted and solved, pose and motion of the platform, and the motion vector of all freedoms."""


class LimbSolver:
    """The way from an input `motion` to the joints of a limb."""

    motion: ClassVar[str] = ""
    """Name of the output with the motion vector of all freedoms; empty if the input is this vector."""

    def size(self, structure: Structure) -> int:
        """Return the length of the input `motion`."""
        return structure.motion_size

    def further_inputs(self, structure: Structure, limb_index: int) -> Shapes:
        """Return the sample inputs that it takes beside `motion`, each limb its own."""
        return NONE

    def solve(self, structure: Structure, limb_index: int, inputs: Mapping[str, Array]) -> SolvedLimb:
        """Return the solved limb, from the inputs of its program."""
        raise NotImplementedError


@dataclass(frozen=True)
class LimbSample:
    """A limb at one instant, its kinematics solved, with pose and motion of the platform and the `motion` vector.

    `gravity`: a vector, or for a moving base the numbers of a `tasks.mechanics.recursion.Field`. `inputs`: inputs of
    the program by name.
    """

    structure: Structure
    limb_index: int
    mounted: Mounted
    solved: Solved
    pose: Pose
    moving: SpatialMotion
    motion: Array
    gravity: Array
    inputs: Mapping[str, Array] = field(default_factory=dict)

    @cached_property
    def transmission(self) -> Transmission:
        """Relation between actuators and joints."""
        return limb_motion.transmission(self.mounted, self.solved)

    def of_solved(self, kind: Callable[[Mounted, Solved], T]) -> T:
        """Return an object that a feature makes of the solved limb, such as its statics; made once."""
        if kind not in self._made:
            self._made[kind] = kind(self.mounted, self.solved)
        return cast(T, self._made[kind])

    @cached_property
    def _made(self) -> dict[Callable[[Mounted, Solved], Any], Any]:
        return {}

    @cached_property
    def rates(self) -> tuple[list[Scalar], list[Scalar]]:
        """Velocities and accelerations of all joints, in the order of `Limb.joints`."""
        return limb_motion.joint_rates(self.mounted, self.solved, self.moving)

    @cached_property
    def positions(self) -> list[Scalar]:
        """Positions of all joints, in the order of `Limb.joints`."""
        return limb_motion.joint_positions(self.mounted, self.solved, self.motion)

    @cached_property
    def links(self) -> list[tuple[Pose, SpatialMotion]]:
        """Pose and motion of the frame of each link, in world axes."""
        return limb_motion.link_motions(self.mounted, self.solved)

    @property
    def link_wrenches(self) -> list[tuple[Array, Array]]:
        """(moment about its origin, force) for the motion of each link, without gravity and loads, world axes."""
        wrenches, _ = limb_motion.tree_dynamics(self.mounted, self.solved, self.gravity, self.transmission)
        return [(pose.rotation @ m, pose.rotation @ f) for (pose, _), (m, f) in zip(self.links, wrenches, strict=True)]


class LimbPart:
    """Terms that a feature adds to the program of one limb."""

    @property
    def uses_positions(self) -> bool:
        """Return whether it reads positions of joints, which are computed first, so that the order of nodes stays."""
        return False

    def case(self, structure: Structure, limb_index: int) -> Shapes:
        """Return its case inputs, by name."""
        return NONE

    def shapes(self, structure: Structure, limb_index: int) -> Shapes:
        """Return names and shapes of the outputs that it adds."""
        return NONE

    def failure(self, sample: LimbSample) -> Scalar | None:
        """Return a status that counts where the limb itself is OK; None if the part has no status."""
        return None

    def terms(self, sample: LimbSample) -> Mapping[str, Numbers]:
        """Return its outputs for one sample."""
        raise NotImplementedError


@dataclass(frozen=True)
class PlatformSample:
    """The platform at one instant: `wrench`, (moment, force) for its motion less external ones, world axes.

    `acting`: external (moment, force) at the reference point, empty without.
    """

    body: Platform
    pose: Pose
    moving: SpatialMotion
    inputs: Mapping[str, Array]
    wrench: Sequence[Scalar]
    acting: Sequence[Scalar] = ()


@dataclass(frozen=True)
class RobotSample:
    """A robot at one instant, put together from its limbs.

    inputs: inputs of the program by name, inputs of limbs by number; speed: rates of the freedoms; jacobian: J_IK
    (actuator, freedom); home: J_IK of the reference pose, if it is compared; wrench (freedom,): forces for the motion;
    acting: J_IK of the actuators that give force; loose: whether limbs cannot hold the platform; solved: the status
    without limits of joints; found: results of parts by name, for metrics and series.
    """

    structure: Structure
    inputs: Mapping[str, Any]
    motion: Array
    speed: Array
    jacobian: Array
    home: Reference | None
    wrench: Array
    acting: Array
    forces: Sequence[Scalar] = ()
    loose: Mask = False
    solved: Scalar = 0.0
    status: Scalar = 0.0
    found: Mapping[str, Any] = field(default_factory=dict)

    def of_limbs(self, name: str) -> list[Any]:
        """Return an output of all limbs that have it, in their order."""
        return [value for _, value in sorted(self.inputs.get(name, {}).items())]

    def terms(self, names: Sequence[str]) -> dict[str, Array]:
        """Return terms of the equations of motion of the robot, those of limbs and platform summed, by name."""
        return {name: _summed(name, self.inputs[name]) for name in names}


def _summed(term: str, shares: Mapping[int, Array]) -> Array:
    parts = [shares[number] for number in sorted(shares)]
    return np.vstack(parts) if term == "jacobian_rate" else sum(parts[1:], start=parts[0])


@dataclass(frozen=True)
class ActuatorSample:
    """The actuators of a robot at one instant.

    inputs: inputs of the program by name; free: forces without friction; force: forces with friction; net: forces that
    reach the joints; solved: status of the motion; unsettled: 1 where the sample fails by a feature, with the status
    `failure`; motors, capacities: of each actuator; outputs: further outputs by key; current_rates: of motors with an
    inductance.
    """

    structure: Structure
    inputs: Mapping[str, Any]
    free: Scalars
    velocity: Array
    solved: Scalar
    force: Sequence[Scalar]
    net: Scalars
    motors: Sequence[Motor]
    capacities: Sequence[Capacity]
    unsettled: Scalar = 0.0
    failure: Scalar = 0.0
    outputs: Mapping[Any, Numbers] = field(default_factory=dict)
    current_rates: Scalars | None = None

    @property
    def bad(self) -> Scalar:
        """NaN where the sample has no result, else zero."""
        failed: Scalar = where(self.solved > 0.5, np.nan, 0.0)
        return failed + where(self.unsettled > 0.5, np.nan, 0.0)

    @property
    def outcome(self) -> Scalar:
        """Status of the motion, else that of features."""
        return where(self.solved > 0.5, self.solved, self.unsettled * self.failure)


Place = Literal["force", "status", "posture"]
"""Places of parts in the assembly: forces, status from them, inputs of metrics and series."""


class Part(Generic[S]):
    """Terms that a feature adds to the program of platform, assembly or actuators."""

    place: ClassVar[Place] = "posture"
    """Point of the assembly at which it is added."""
    equations: ClassVar[tuple[str, ...]] = ()
    """Terms of the equations of motion that it reads, see `terms.NEEDS`."""

    @property
    def label(self) -> str:
        """Label of the part in the name of the program."""
        return ""

    @property
    def of_limbs(self) -> Sequence[LimbPart | None]:
        """Parts of the limbs whose outputs it reads, in their order; none where it reads none."""
        return ()

    def case(self, structure: Structure) -> Shapes:
        """Return its case inputs, by key."""
        return NONE

    def sample(self, structure: Structure) -> Shapes:
        """Return its sample inputs, by key, without results of limbs."""
        return NONE

    def add_to(self, sample: S) -> S:
        """Return the sample with the part's terms."""
        raise NotImplementedError


RobotPart = Part[RobotSample]
PlatformPart = Part[PlatformSample]
ActuatorPart = Part[ActuatorSample]


def added(parts: Sequence[Part[S]], sample: S) -> S:
    """Return a sample with the terms of some parts, in their order."""
    for part in parts:
        sample = part.add_to(sample)
    return sample


def inputs_of(parts: Sequence[Part[Any]], structure: Structure) -> tuple[dict[Any, Shape], dict[Any, Shape]]:
    """Return case and sample inputs of some parts."""
    case: dict[Any, Shape] = {}
    sample: dict[Any, Shape] = {}
    for part in parts:
        case |= part.case(structure)
        sample |= part.sample(structure)
    return case, sample
