"""Limbs and chains from the inputs of their programs: mounted, and solved for a motion.

Two facts of a family follow from limbs that are solved: the arms of links, and the directions that limbs hold.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from robots.model import Family, Frame
from robots.types import TWIST
from tasks.kernels.expression import ABSENT, Array
from tasks.mathematics.algebra import array
from tasks.mechanics import chain, limb, platform_motion
from tasks.mechanics.arms import Arm, _of_link
from tasks.mechanics.continuation.steps import unpacked_states
from tasks.mechanics.families import mount_values, structure_of
from tasks.mechanics.kinematics import HOME, REST, Pose, SpatialMotion, mount_pose
from tasks.mechanics.limb_motion import Mounted, Solved
from tasks.mechanics.reactions import LimbStatics
from tasks.mechanics.structure import Structure, flat_mount, symbolic, with_parameters
from tasks.mechanics.tolerances import distance_of
from tasks.mechanics.topology import pivots

GENERIC = 3  # configurations at which ranks are found
_REACH = 0.05  # share of the robot's size by which the platform is moved to reach them


def mounted_limb(
    structure: Structure, limb_index: int, parameters: Array, mount: Array, motion: Array, signals: Array = ABSENT
) -> tuple[Mounted, Pose, Pose, SpatialMotion]:
    """Return a limb from the inputs of a kernel; and the platform's reference pose, pose and motion."""
    mechanism = symbolic(structure, parameters, signals)
    if mechanism.is_chain:
        seat = mount_pose(Frame())
        return chain.Chain(mechanism.limbs[limb_index], structure.choices[limb_index], seat, seat, ()), seat, seat, REST
    numbers = flat_mount(next(each for each in mechanism.instances if each.limb == limb_index))
    for k, value in zip(structure.differing[limb_index], mount, strict=True):
        numbers[k] = value
    base, at_platform = (mount_pose(frame) for frame in _mount_frames(numbers))
    body = mechanism.platform
    mounted = Mounted(mechanism.limbs[limb_index], structure.choices[limb_index], base, at_platform, body.mobility)
    return mounted, mount_pose(body.home), *platform_motion.unpack(motion, body)


def solved_limb(
    structure: Structure,
    limb_index: int,
    parameters: Array,
    mount: Array,
    motion: Array,
    signals: Array = ABSENT,
    joint_state: Array = ABSENT,
) -> tuple[Mounted, Solved, Pose, SpatialMotion]:
    """Return a limb solved for a motion of the platform, from the inputs of a kernel; and that pose and motion.

    With a `joint_state` from a former solution, no iteration is needed, and the status is OK.
    """
    mounted, home, pose, moving = mounted_limb(structure, limb_index, parameters, mount, motion, signals)
    states = unpacked_states(mounted.limb, list(joint_state)) if len(joint_state) else None
    if isinstance(mounted, chain.Chain):
        parts = np.split(motion, 3)
        solved = chain.with_states(mounted, states, *parts) if states else chain.solve(mounted, *parts)
        return mounted, solved, pose, moving
    solved = limb.with_states(mounted, states, pose, moving) if states else limb.solve(mounted, home, pose, moving)
    return mounted, solved, pose, moving


def _mount_frames(numbers: Sequence[Any]) -> tuple[Frame, Frame]:
    def frame(part: Sequence[Any]) -> Frame:
        rows = tuple(tuple(part[3 * i : 3 * i + 3]) for i in range(3))
        return Frame(rows, tuple(part[9:12]))  # type: ignore[arg-type]

    return frame(numbers[:12]), frame(numbers[12:])


@functools.cache
def arms(family: Family, limb_index: int) -> tuple[Arm, ...]:
    """Return the arms of all links of a limb."""
    structure = structure_of(family)
    values = {p.name: p.scalar for p in family.parameters}
    number = next(k for k, each in enumerate(structure.mechanism.instances) if each.limb == limb_index)
    mount = mount_values(family, values)[number][0]
    still = np.zeros(structure.motion_size)
    mounted, home, *_ = mounted_limb(structure, limb_index, with_parameters(family, values)[0], mount, still)
    tips = mounted.tips([HOME] * len(mounted.limb.links), home)
    return tuple(arm for link in range(len(mounted.limb.links)) for arm in _of_link(tips, link))


@functools.cache
def carried(family: Family) -> tuple[int, ...]:
    """Return the indices, in the held directions, of directions along which limbs can hold the platform.

    They are found by rank for default parameters, at poses near the reference pose, as the reference pose may be a
    constraint singularity. All held directions belong to them, except where a platform can turn on its joints without
    effect, such as the point of a five-bar robot.
    """
    if structure_of(family).mechanism.is_chain:
        return ()
    values = {p.name: p.default for p in family.parameters}
    mechanism, parameters = family.assemble(values), array(list(values.values()))
    body, random = mechanism.platform, np.random.default_rng(20240701)
    size = distance_of(body.home.position, *mechanism.limbs)
    free = [1.0 if name in body.mobility else 0.0 for name in TWIST]
    matrices = []
    for _ in range(GENERIC):
        step = random.uniform(-_REACH, _REACH, 6) * free
        matrices.append(_held_rows(family, parameters, platform_motion.still(body, step[:3], step[3:] * size)))
    return pivots(matrices)


def _held_rows(family: Family, parameters: Array, motion: Array) -> np.ndarray:
    """Compute the wrenches of unit multipliers of all limbs along the held directions.

    The result (direction, multiplier) is in numbers.
    """
    made, blocks = structure_of(family), []
    mounts = mount_values(family, {p.name: value for p, value in zip(family.parameters, parameters, strict=True)})
    for each, mount in zip(made.mechanism.instances, mounts, strict=True):
        mounted, solved, _, _ = solved_limb(made, each.limb, parameters, mount[0], motion)
        statics = LimbStatics(mounted, solved)
        blocks += [statics.held(statics.multiplier(k)) for k in range(statics.redundant_count)]
    return np.stack(blocks, axis=1).astype(float) if blocks else np.zeros((made.held, 0))
