"""Limbs and chains from the inputs of their programs: mounted, and solved for a motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robots.model import Frame
from tasks.kernels.expression import ABSENT, Array
from tasks.mechanics import chain, limb, limb_motion, recursion
from tasks.mechanics.continuation.steps import unpacked_states
from tasks.mechanics.kinematics import REST, Pose, SpatialMotion, mount_pose
from tasks.mechanics.structure import Structure, flat_mount, symbolic


def mounted_limb(
    structure: Structure, limb_index: int, parameters: Array, mount: Array, motion: Array, signals: Array = ABSENT
) -> tuple[limb_motion.Mounted, Pose, Pose, SpatialMotion]:
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
    mounted = limb_motion.Mounted(
        mechanism.limbs[limb_index], structure.choices[limb_index], base, at_platform, body.mobility
    )
    return mounted, mount_pose(body.home), *recursion.unpack(motion, body)


def solved_limb(
    structure: Structure,
    limb_index: int,
    parameters: Array,
    mount: Array,
    motion: Array,
    signals: Array = ABSENT,
    joint_state: Array = ABSENT,
) -> tuple[limb_motion.Mounted, limb_motion.Solved, Pose, SpatialMotion]:
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
