"""Limbs and chains from the inputs of their programs: mounted, and solved for a motion."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from robots.model import Family, Frame
from tasks.kernels.expression import ABSENT, Array
from tasks.mechanics import chain, limb, platform_motion
from tasks.mechanics.arms import Arm, _of_link
from tasks.mechanics.continuation.steps import unpacked_states
from tasks.mechanics.kinematics import HOME, REST, Pose, SpatialMotion, mount_pose
from tasks.mechanics.limb_motion import Mounted, Solved
from tasks.mechanics.structure import Structure, flat_mount, mount_values, structure_of, symbolic, with_parameters


def mounted_limb(
    structure: Structure, limb_index: int, parameters: Array, mount: Array, motion: Array, signals: Array = ABSENT
) -> tuple[Mounted, Pose, Pose, SpatialMotion]:
    """A limb from the inputs of a kernel; the platform's reference pose, its pose and its motion."""
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
    """A limb solved for a motion of the platform, from the inputs of a kernel; and that pose and motion.

    With the `joint_state` that was found before nothing is left to iterate, and the status is OK.
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
    """The arms of all links of a limb."""
    structure = structure_of(family)
    values = {p.name: p.scalar for p in family.parameters}
    number = next(k for k, each in enumerate(structure.mechanism.instances) if each.limb == limb_index)
    mount = mount_values(family, values)[number][0]
    still = np.zeros(structure.motion_size)
    mounted, home, *_ = mounted_limb(structure, limb_index, with_parameters(family, values)[0], mount, still)
    tips = mounted.tips([HOME] * len(mounted.limb.links), home)
    return tuple(arm for link in range(len(mounted.limb.links)) for arm in _of_link(tips, link))
