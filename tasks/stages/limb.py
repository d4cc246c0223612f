"""The program of a representative limb: inverse kinematics and dynamics for a motion of the platform.

Inputs of the programs of a robot family have the same names everywhere: `parameters` in the order of the family,
`mount` (what differs between the instances of a limb), `gravity` (3,) per case; `motion` (see
`tasks.mechanics.recursion`) per sample. A family is traced once; its geometry is an input.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robots.model import Family
from robots.quantities import QUANTITIES, SPACE
from robots.status import Status
from tasks.features.compliance import ElasticSharing, ErrorModel, LooseParts, limb_stiffness
from tasks.features.friction import joints as joint_friction
from tasks.features.friction.joints import NO_FRICTION, LimbFriction
from tasks.kernels.expression import ABSENT, Array, Numbers, Scalar, Scalars
from tasks.kernels.program import Program, require_shapes, trace
from tasks.mathematics.algebra import array, where
from tasks.mechanics import limb
from tasks.mechanics import reactions as reactions
from tasks.mechanics.continuation.steps import packed
from tasks.mechanics.drives import Transmission
from tasks.mechanics.kinematics import Motion, Pose, mount_pose
from tasks.mechanics.structure import (
    Shape,
    Structure,
    arms,
    field_inputs,
    limb_inputs,
    signal_inputs,
    solved_limb,
    structure_of,
    symbolic,
)
from tasks.stages import criteria, redundancy, terms
from tasks.stages.criteria import LimbCriteria
from tasks.stages.metrics.margins import NOTHING, LimbLimits

FIRST = ("wrench", "jacobian", "status")
"""Outputs whose bits do not depend on what else is asked for."""


@dataclass(frozen=True)
class LimbSample:
    """A limb at one instant, its kinematics solved, with pose and motion of the platform and the `motion` vector.

    `gravity`: a vector, or where the base moves what `tasks.mechanics.recursion.Field` is made of.
    """

    structure: Structure
    mounted: limb.Mounted
    solved: limb.Solved
    pose: Pose
    moving: Motion
    motion: Array
    gravity: Array

    @cached_property
    def transmission(self) -> Transmission:
        """What actuators have to do with joints."""
        return limb.transmission(self.mounted, self.solved)

    @cached_property
    def rates(self) -> tuple[list[Scalar], list[Scalar]]:
        """Velocities and accelerations of all joints, in the order of `Limb.joints`."""
        return limb.joint_rates(self.mounted, self.solved, self.moving)

    @cached_property
    def positions(self) -> list[Scalar]:
        """Positions of all joints, in the order of `Limb.joints`."""
        return limb.joint_positions(self.mounted, self.solved, self.motion)

    @cached_property
    def links(self) -> list[tuple[Pose, Motion]]:
        """Pose and motion of the frame of each link, in world axes."""
        return limb.link_motions(self.mounted, self.solved)

    @property
    def link_wrenches(self) -> list[tuple[Array, Array]]:
        """(moment about its origin, force) that the motion of each link takes beside gravity and loads, world axes."""
        own, _ = limb.tree_dynamics(self.mounted, self.solved, self.gravity, self.transmission)
        return [(pose.rotation @ m, pose.rotation @ f) for (pose, _), (m, f) in zip(self.links, own, strict=True)]

    def terms(self, gravity: Array, wanted: tuple[str, ...]) -> Mapping[str, Numbers]:
        """What the limb adds to the equations of motion in task space, by term."""
        speed = self.structure.speed(self.motion)
        return terms.of_limb(self.mounted, self.solved, (self.pose, self.moving), speed, gravity, wanted)


SERIES: Mapping[str, Callable[[LimbSample], Scalars]] = {
    "joint_velocity": lambda s: s.rates[0],
    "joint_acceleration": lambda s: s.rates[1],
    "joint_position": lambda s: s.positions,
    "actuator_position": lambda s: limb.actuator_positions(s.mounted, s.solved),
    "link_position": lambda s: [x for pose, _ in s.links for x in pose.position],
    "link_rotation": lambda s: [x for pose, _ in s.links for x in pose.rotation.ravel()],
    "link_twist": lambda s: [x for _, motion in s.links for x in (*motion.omega, *motion.v)],
    "link_acceleration": lambda s: [x for _, motion in s.links for x in (*motion.alpha, *motion.a)],
    "link_wrench": lambda s: [x for moment, force in s.link_wrenches for x in (*moment, *force)],
}
"""Time series of one limb: of all its joints in the order of `Limb.joints`, of its links, or of its own actuators."""

RECURSION = "recursion"
FORMULATIONS: Mapping[str, Callable[[LimbSample, Array], Scalars]] = {
    RECURSION: lambda s, gravity: limb.wrench(s.mounted, s.solved, gravity, s.transmission),
}
"""Formulations of inverse dynamics: a limb's share of the wrench that the freedoms of the robot take, (freedom,).

From the limb at one instant and `gravity`, a vector, or where the base moves what `tasks.mechanics.recursion.Field` is
made of. World axes, a force and a moment about the reference point of the platform; of a chain, the forces of its
independent joints. Friction, reactions and equations of motion do not depend on the choice.
"""


@dataclass(frozen=True)
class LimbRequest:
    """What is asked of a limb beyond its wrench, its rows of J_IK and its status."""

    series: tuple[str, ...] = ()
    """Some of SERIES."""
    statics: bool = False
    """What reactions need: `reactions.SHARES`, and where joints are, `joint_state`."""
    friction: LimbFriction = NO_FRICTION
    """What friction needs: see `tasks.features.friction.joints.share`."""
    terms: tuple[str, ...] = ()
    """Its terms of the equations of motion, some of `terms.NEEDS`."""
    limits: LimbLimits = NOTHING
    """Its margins to limits, from a case input of that name."""
    reference: bool = False
    """The `home_jacobian`, its rows of J_IK at the reference pose."""
    constraints: bool = False
    """What it holds the platform by, `constraint_rows`, and `home_constraint_rows` at the reference pose."""
    formulation: str = RECURSION
    """How the wrench is computed, one of FORMULATIONS."""
    resolved: bool = False
    """Whether a posture decides some of its freedoms: `motion` is that of the others, and that of all an
    output, `resolved_motion`."""
    criteria: LimbCriteria = criteria.NOTHING
    """Its stiffness and the ends of its capsules, from a case input `elasticity`."""

    @property
    def needs_statics(self) -> bool:
        """Whether the statics of the limb is needed, for reactions or for friction that depends on them."""
        return self.statics or self.friction.statics

    def shapes(self, structure: Structure, limb_index: int) -> dict[str, Shape]:
        """Names and shapes of the outputs of `limb_program`, known before it is traced."""
        limb_, free = structure.mechanism.limbs[limb_index], structure.freedoms
        driven, redundant = len(limb_.actuators), structure.redundant(limb_index)
        shapes: dict[str, Shape] = {"wrench": (free,), "jacobian": (driven, free), "status": (1,)}
        shapes |= {"resolved_motion": (structure.motion_size,)} if self.resolved else {}
        shapes |= reactions.share_shapes(structure.held, driven, redundant) if self.needs_statics else {}
        size = structure.joint_state_size(limb_index) if self.statics else 0
        shapes |= {"joint_state": (size,)} if size else {}
        shapes |= self.friction.shapes(free, driven, redundant, structure.held)
        shapes |= terms.limb_shapes(structure, limb_index, self.terms)
        shapes |= {"home_jacobian": (driven, free)} if self.reference else {}
        if self.constraints:
            rows = (structure.constraint_count(limb_index), structure.held)
            shapes |= {"constraint_rows": rows, "home_constraint_rows": rows}
        shapes |= dict.fromkeys(self.limits.margins, (1,))
        shapes |= self.criteria.shapes(structure, limb_index)
        sizes = SPACE | {"actuator": driven, "joint": len(limb_.joints), "link": len(limb_.links)}
        per_sample = {name: [sizes[dim] for dim in QUANTITIES[name].dims if dim in sizes] for name in self.series}
        return shapes | {name: (math.prod(lengths),) for name, lengths in per_sample.items()}


BARE = LimbRequest()


def _status(sample: LimbSample, limits: LimbLimits) -> Scalar:
    """The status of a limb, also where limits see a joint whose turns are not known."""
    status, turns = sample.solved.status, sample.solved.turns
    if turns is None or not limits.positions:
        return status
    unknown = where(turns.with_cuts.known, float(Status.OK), float(Status.TURNS_UNKNOWN))
    return where(status > 0.5, status, unknown)


@functools.cache
def limb_program(family: Family, limb_index: int, asked: LimbRequest = BARE, moving_base: bool = False) -> Program:
    """Inverse kinematics and dynamics of a limb: its `wrench`, its rows `jacobian` of J_IK, its `status`.

    And what else is `asked`. With `moving_base`, `gravity` is a sample input. Raises ValueError for stiffness of more
    than actuators of a limb with `every_row`, which rests on a choice of rows.
    """
    structure = structure_of(family)
    size = 3 * len(structure.mechanism.given) if asked.resolved else structure.motion_size
    inputs = {"motion": (size,)} | signal_inputs(family)
    case, sample = field_inputs(limb_inputs(structure, limb_index), inputs, moving_base)
    case |= {"limits": asked.limits.shape} if asked.limits != NOTHING else {}
    case |= asked.criteria.case
    limb_, undriven = structure.mechanism.limbs[limb_index], np.zeros((0, structure.freedoms))
    elastic, shapes = asked.criteria.elasticity, asked.shapes(structure, limb_index)
    spatial = elastic is not None and elastic.spatial
    if spatial and limb_.every_row:
        raise ValueError(
            f"every_row: stiffness of {family.name} got limb {limb_.name} with every row of its tips; expected "
            "limbs with a choice of rows; leave every_row out, or give the stiffness of actuators alone"
        )

    def one_sample(
        parameters: Array,
        mount: Array,
        gravity: Array,
        motion: Array,
        limits: Array = ABSENT,
        elasticity: Array = ABSENT,
        errors: Array = ABSENT,
        clearances: Array = ABSENT,
        signals: Array = ABSENT,
    ) -> dict[str, Numbers]:
        if asked.resolved:
            mounted, solved, pose, moving, motion = redundancy.solved_limb(
                structure, parameters, mount, motion, signals
            )
        else:
            mounted, solved, pose, moving = solved_limb(structure, limb_index, parameters, mount, motion, signals)
        sample = LimbSample(structure, mounted, solved, pose, moving, motion, array(gravity))
        result: dict[str, Numbers] = {"wrench": FORMULATIONS[asked.formulation](sample, array(gravity))}
        rows = limb.jacobian(mounted, solved.tips, sample.transmission)
        result |= {"jacobian": rows or undriven, "status": [_status(sample, asked.limits)]}
        # always in this order: of x - y and y - x a program has the one that it came to first
        rates, positions = sample.rates[0], sample.positions if asked.limits.positions else ()
        series = {name: of(sample) for name, of in SERIES.items() if name in asked.series}
        statics = reactions.LimbStatics(mounted, solved)
        if asked.needs_statics:
            result |= reactions.share(statics, array(gravity))
        if asked.friction != NO_FRICTION:
            result |= joint_friction.share(statics, moving, array(gravity), asked.friction)
        if asked.needs_statics and (shared := asked.criteria.sharing) is not None:
            passive = asked.friction.passive if asked.friction.statics else ()
            sharing = ElasticSharing(shared, elasticity, arms(family, limb_index))
            result |= sharing.of(statics, array(gravity), passive)
        result |= sample.terms(array(gravity), asked.terms)
        if asked.limits != NOTHING:
            result |= asked.limits.shares(limits, positions, rates)
        if asked.reference:
            home = symbolic(structure, parameters).platform.home
            result["home_jacobian"] = limb.home_jacobian(mounted, mount_pose(home)) or undriven
        if asked.constraints:
            home_pose, none = mount_pose(symbolic(structure, parameters).platform.home), np.zeros((0, structure.held))
            result["constraint_rows"] = limb.constraint_rows(mounted, solved.tips) or none
            result["home_constraint_rows"] = limb.home_constraint_rows(mounted, home_pose) or none
        if elastic is not None:
            along = criteria.directions(family, elastic.spatial)
            model = ErrorModel(asked.criteria.errors, errors) if asked.criteria.errors is not None else None
            loose = LooseParts(asked.criteria.loose, clearances) if asked.criteria.loose is not None else None
            result |= limb_stiffness(statics, elastic, elasticity, arms(family, limb_index), along, model, loose)
        result |= {"resolved_motion": motion} if asked.resolved else {}
        if "joint_state" in shapes:
            result["joint_state"] = packed(mounted.limb, solved.states)
        if "ends" in shapes:
            result["ends"] = criteria.ends(family, limb_index, asked.criteria.capsules, mounted, solved)
        return result | {name: series[name] for name in asked.series}

    program = trace(f"{family.name}.{limb_.name}", one_sample, case=case, sample=sample, first=FIRST)
    require_shapes(program, shapes)
    return program
