"""Work of a program on real states: turns of its loops, operations, and residuals at their end.

A program is data, so the counter of a loop is a few nodes more: one state that grows by one in every pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from robots.model import PLATFORM, Closure, Instance, Robot
from tasks.kernels.expression import CONSTANT, RESULT, STATE
from tasks.kernels.program import PER_CASE, Iteration, Node, Program
from tasks.mechanics.kinematics import JointState, Pose, joined_pose, mount_pose, poses

PASSES = "passes"
"""Output of a counted program: passes of its first loop, one number for each sample."""


def counted(program: Program) -> Program:
    """Return the program with one more output: a sample's passes of its first loop. Raises ValueError for no loop."""
    if not program.loops:
        raise ValueError(f"{program.name} has no loop; expected one to count")
    first = len(program.nodes)
    zero, one, state, following, result = range(first, first + 5)
    loop, place = program.loops[0], len(program.loops[0].state)
    nodes = (
        Node(CONSTANT, (), 0.0),
        Node(CONSTANT, (), 1.0),
        Node(STATE, (), (0, place)),
        Node("add", (state, one)),
        Node(RESULT, (), (0, place)),
    )
    counting = Iteration(
        loop.limit, (*loop.initial, zero), (*loop.state, state), (*loop.following, following), loop.done
    )
    return replace(
        program,
        nodes=(*program.nodes, *nodes),
        regions={**program.regions, 1: (*program.regions[1], following)},
        outputs={**program.outputs, PASSES: ((1,), (result,))},
        loops=(counting, *program.loops[1:]),
    )


def kinds(program: Program, passes: float = 1.0) -> dict[str, float]:
    """Return the operations by kind of one sample when the first loop runs `passes` times.

    A fused multiply-add counts as one. Loops that may be skipped are taken to be.
    """
    counts: dict[str, float] = {}
    for key, nodes in program.regions.items():
        if key != PER_CASE and key not in program.rare:
            times = passes if key == 1 and program.loops else 1.0
            for op, count in Counter(program.nodes[node].op for node in nodes).items():
                counts[op] = counts.get(op, 0.0) + times * count
    return counts


def together(counts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the operations by kind of several programs."""
    result: dict[str, float] = {}
    for each in counts:
        for op, count in each.items():
            result[op] = result.get(op, 0.0) + count
    return result


def opening(robot: Robot, angles: np.ndarray, position: np.ndarray) -> float:
    """Return the widest gap [m] between both sides of any cut joint, chaining the tree's joints in plain NumPy.

    angles (limb, joint) of one sample; position (3,) of a platform that does not turn.
    """
    mechanism = robot.mechanism
    home = mount_pose(mechanism.platform.home)
    platform = Pose(home.rotation, np.asarray(position, dtype=float))
    return max(_limb_opening(robot, each, row, platform) for each, row in zip(mechanism.instances, angles, strict=True))


def _limb_opening(robot: Robot, instance: Instance, angles: np.ndarray, platform: Pose) -> float:
    limb = robot.mechanism.limbs[instance.limb]
    states = [JointState(np.cos(q), np.sin(q), q) for _, q in zip(limb.links, angles, strict=False)]
    base = mount_pose(instance.base)
    at = {link: joined_pose(base, pose) for link, pose in poses(limb.links, states).items()}
    at[PLATFORM] = joined_pose(platform, mount_pose(instance.platform))
    return max(_gap(at, closure) for closure in (*limb.loops, *limb.tips))


def _gap(at: Mapping[int, Pose], closure: Closure) -> float:
    a, b = at[closure.a].at(closure.frame_a.position), at[closure.b].at(closure.frame_b.position)
    return float(np.linalg.norm(a - b))
