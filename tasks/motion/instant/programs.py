"""The programs of a robot's motion with friction: all that a step in time asks for at one state.

A chain has one program. A parallel robot has one for each of its limbs, which all copies share, and one for the whole,
whose inputs are the outputs of those: `mass`, `bias`, rows of J and of passive joints with friction with what velocity
alone adds to them, and where normal loads come from reactions these, and how they change with accelerations. Inputs and
outputs of the whole: `tasks.motion.instant.layout`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from robots.friction.groups import FrictionGroup
from robots.model import Family
from robots.types import TWIST
from tasks.criteria.arms import arms
from tasks.criteria.kinds import LimbElasticity
from tasks.criteria.sharing import ElasticSharing
from tasks.friction import joints as joint_friction
from tasks.friction.forward import ForwardFriction
from tasks.friction.joints import LimbFriction
from tasks.inertia.articulated import ArticulatedTree
from tasks.inertia.programs import is_tree
from tasks.kernels.keys import Shape, indexed
from tasks.kernels.program import Program, require_shapes, trace
from tasks.kernels.types import ABSENT, Array, Scalar
from tasks.mathematics.algebra import array, cross, dot, from_columns, where
from tasks.mechanics import platform
from tasks.mechanics import reactions as reactions
from tasks.mechanics.equations import pose_seeds
from tasks.mechanics.kinematics import Motion
from tasks.mechanics.reactions import LimbStatics
from tasks.mechanics.structure import (
    GRAVITY,
    Structure,
    field_inputs,
    limb_inputs,
    signal_inputs,
    solved_limb,
    structure_of,
    symbolic,
)
from tasks.motion.instant.chains import PushedChain
from tasks.motion.instant.layout import (
    FIRST,
    inputs_of_motion,
    layout,
    modes_of,
    outputs_of_motion,
    program_name,
    stage_of,
)
from tasks.motion.instant.limbs import LimbDynamics
from tasks.motion.instant.platforms import SLOPES, LoadedPlatform, PushedPlatform, slope
from tasks.motion.instant.trees import PushedTree
from tasks.programs import coupled_friction
from tasks.programs.actuation import joint_kinds


@functools.cache
def motion_program(
    family: Family, groups: tuple[FrictionGroup, ...], implicit: bool = False, moving_base: bool = False,
    shared: LimbElasticity | None = None,
) -> Program:  # fmt: skip
    """The program of a chain; see `outputs_of_motion`. `shared`: see `limb_motion_program`."""
    structure, parts = structure_of(family), layout(family, groups)

    def one_sample(
        parameters: Array, mount: Array, gravity: Array, friction: Array, state: Array, force: Array, modes: Array,
        stage: Array | None = None, elasticity: Array = ABSENT, signals: Array = ABSENT,
    ) -> dict[str, Any]:  # fmt: skip
        q, qd, memory = (state[parts.at[name]] for name in ("q", "qd", "memory"))
        motion = np.concatenate([q, qd, np.zeros(parts.free)])
        mounted, solved, _, _ = solved_limb(structure, 0, parameters, mount, motion, signals)
        joints = [ForwardFriction(joint) for joint in joint_friction.of_groups(groups, joint_kinds(family), friction)]
        now, step = modes_of(parts, modes, memory), stage_of(parts, stage)
        sharing = _sharing(family, 0, shared, elasticity)
        own = LimbDynamics(mounted, solved, qd, array(gravity), sharing=sharing)
        plain = is_tree(family) and not implicit and not any(joint.sticks for joint in joints)
        tree = ArticulatedTree.of(mounted.limb, solved.states) if plain else None
        state_of = qd, force, joints, now, step, own
        pushed = PushedChain(*state_of) if tree is None else PushedTree(*state_of, tree)
        return outputs_of_motion(family, groups, pushed, limbs=solved.status, going=list(qd))

    case, sample = inputs_of_motion(parts, groups, implicit)
    sample |= signal_inputs(family)
    case, sample = field_inputs(limb_inputs(structure, 0) | case | _elastic_input(shared), sample, moving_base)
    return trace(program_name(family, groups, implicit), one_sample, case=case, sample=sample, first=FIRST)


def limb_shapes(structure: Structure, limb_index: int, wanted: LimbFriction) -> dict[str, Shape]:
    """Names and shapes of the outputs of `limb_motion_program`."""
    free, driven = structure.freedoms, len(structure.mechanism.limbs[limb_index].actuators)
    redundant, passive = structure.redundant(limb_index), len(wanted.passive)
    shapes: dict[str, Shape] = {"mass": (free, free), "bias": (free,), "jacobian": (driven, free)}
    shapes |= {"driven_drift": (driven,), "through": (passive, free), "passive_drift": (passive,), "status": (1,)}
    if wanted.statics:
        asked = wanted.shapes(free, driven, redundant, structure.held)
        asked |= reactions.share_shapes(structure.held, driven, redundant)
        shapes |= {name: shape for name, shape in asked.items() if name not in RATES}
        shapes |= {slope(name): (*shapes[name], free) for name in SLOPES if name in shapes}
    return shapes


RATES = ("through", "passive_rate")
"""What `tasks.friction.joints.share` gives of rates."""


@functools.cache
def limb_motion_program(
    family: Family, limb_index: int, wanted: LimbFriction, moving_base: bool = False,
    shared: LimbElasticity | None = None,
) -> Program:  # fmt: skip
    """What a limb of a parallel robot puts into forward dynamics at a state: `limb_shapes` says what.

    Inputs as those of `tasks.programs.limb.limb_program`; `motion` is without acceleration. With `moving_base`,
    `gravity` is a sample input. With `shared`, what gives way, normal loads are those by elasticity. Raises ValueError
    for loads from reactions of a limb with `every_row`.
    """
    structure = structure_of(family)
    limb_ = structure.mechanism.limbs[limb_index]
    if wanted.statics and limb_.every_row:
        raise ValueError(
            f"every_row: loads from reactions of {family.name} got limb {limb_.name} with every row of its tips; "
            "expected limbs with a choice of rows; leave every_row out, or give friction a load that is constant"
        )

    def one_sample(
        parameters: Array, mount: Array, gravity: Array, motion: Array, elasticity: Array = ABSENT,
        signals: Array = ABSENT,
    ) -> dict[str, Any]:  # fmt: skip
        mounted, solved, pose, moving = solved_limb(structure, limb_index, parameters, mount, motion, signals)
        seeds, sharing = pose_seeds(pose, moving), _sharing(family, limb_index, shared, elasticity)
        own = LimbDynamics(mounted, solved, structure.speed(motion), array(gravity), seeds, sharing)
        passive = own.passive_rows(wanted.passive)
        result = {
            "mass": own.mass, "bias": own.bias, "jacobian": own.jacobian, "through": passive,
            "driven_drift": own.drift(own.jacobian), "passive_drift": own.drift(passive), "status": [solved.status],
        }  # fmt: skip
        return result | (_statics(own, wanted) if wanted.statics else {})

    case = limb_inputs(structure, limb_index) | _elastic_input(shared)
    case, sample = field_inputs(case, {"motion": (structure.motion_size,), **signal_inputs(family)}, moving_base)
    program = trace(f"{family.name}.{limb_.name}.motion", one_sample, case=case, sample=sample)
    require_shapes(program, limb_shapes(structure, limb_index, wanted))
    return program


def _elastic_input(shared: LimbElasticity | None) -> dict[str, Shape]:
    return {} if shared is None else {"elasticity": (shared.size,)}


def _sharing(
    family: Family, limb_index: int, shared: LimbElasticity | None, elasticity: Array
) -> ElasticSharing | None:
    return None if shared is None else ElasticSharing(shared, elasticity, arms(family, limb_index))


def _statics(own: LimbDynamics, wanted: LimbFriction) -> dict[str, Any]:
    """What normal loads need, and how it changes with the accelerations of the freedoms."""
    result = _shares(own, LimbStatics(own.mounted, own.solved), own.gravity, wanted)
    mounted = own.mounted.unforced
    moves = [_shares(own, LimbStatics(mounted, move), np.zeros(3), wanted) for move in own.unit_motions]
    names = [name for name in SLOPES if name in result]
    slopes = {slope(name): from_columns([each[name] for each in moves], len(result[name])) for name in names}
    return result | slopes


def _shares(own: LimbDynamics, statics: LimbStatics, gravity: Array, wanted: LimbFriction) -> dict[str, Any]:
    return {name: value for name, value in own.shares(statics, gravity, wanted).items() if name not in RATES}


@functools.cache
def platform_motion_program(
    family: Family, groups: tuple[FrictionGroup, ...], implicit: bool = False, moving_base: bool = False
) -> Program:
    """The program of a parallel robot; see `outputs_of_motion`.

    Sample inputs besides those of a chain: `motion` of the platform without acceleration, `load` (6,) on it in world
    axes, and of each limb what `limb_motion_program` gives.
    """
    structure, parts = structure_of(family), layout(family, groups)
    wanted = coupled_friction.wanted(family, groups)

    def one_sample(
        parameters: Array, gravity: Array, friction: Array, state: Array, modes: Array, force: Array, load: Array,
        motion: Array, stage: Array | None = None, signals: Array = ABSENT, **limbs: Mapping[int, Array],
    ) -> dict[str, Any]:  # fmt: skip
        body = symbolic(structure, parameters, signals).platform
        pose, moving = platform.unpack(motion, body)
        joints = [ForwardFriction(joint) for joint in joint_friction.of_groups(groups, joint_kinds(family), friction)]
        now, step = modes_of(parts, modes, state[parts.at["memory"]]), stage_of(parts, stage)
        loaded = LoadedPlatform(body, pose, moving, array(gravity), load)
        pushed = PushedPlatform(state[parts.at["qd"]], force, joints, now, step, loaded, limbs, wanted)
        status: Scalar = 0.0
        for values in reversed(list(limbs["status"].values())):  # the first limb's complaint
            status = where(values[0] > 0.5, values[0], status)
        going = [*moving.v, *_turning(state[parts.at["q"]][3:], moving)]
        driven = [dot(array(load), array([*moving.omega, *moving.v]))]
        return outputs_of_motion(family, groups, pushed, limbs=status, going=going, driven=driven)

    case, sample = inputs_of_motion(parts, groups, implicit)
    case |= {"parameters": (len(family.parameters),), "gravity": (GRAVITY,)}
    sample |= {"motion": (structure.motion_size,), "load": (len(TWIST),), **signal_inputs(family)}
    for k, (instance, asked) in enumerate(zip(structure.mechanism.instances, wanted, strict=True)):
        sample |= indexed(k, limb_shapes(structure, instance.limb, asked))
    case, sample = field_inputs(case, sample, moving_base)
    return trace(program_name(family, groups, implicit), one_sample, case=case, sample=sample, first=FIRST)


def _turning(quaternion: Array, moving: Motion) -> list[Scalar]:
    """Rate of a unit quaternion, scalar first, for an angular velocity in world axes."""
    whole, part = quaternion[0], quaternion[1:]
    omega = array(moving.omega)
    return [-dot(omega, part) * 0.5, *((omega * whole + cross(omega, part)) * 0.5)]
