"""Gaps of one-sided springs and backlashes in the states of a case, whose forces have corners where they close.

A gap is the length of a one-sided spring less its rest length, its tension if this may become zero earlier, or the
stretch of a joint's spring less half of its backlash. Corners whose place follows from the state, and corners of tables
and expressions, are not detected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass
from robots.loads.family import at_time
from robots.model import Frame, Limb, Robot
from robots.springs import ForceElement, ForceLaw, JointSpring, Spring
from robots.types import BASE
from tasks.dynamics.body_motions import BodyMotions, limb_motion, platform_motion
from tasks.dynamics.corners import Gap, Gaps, GapsOver
from tasks.dynamics.inverse import inverse_kinematics
from tasks.dynamics.motion_system import MotionSystem
from tasks.dynamics.records import State
from tasks.stages.spanning_tree import tree_of

Numbers = NDArray[np.float64]


def has_corners(robot: Robot) -> bool:
    """Return whether forces of the loads of a robot have corners that are looked for."""
    mechanism = robot.mechanism
    elements = [*mechanism.platform.forces, *(element for limb in mechanism.limbs for element in limb.forces)]
    springs = [spring for limb in mechanism.limbs for spring in limb.springs]
    return any(_is_one_sided(element) for element in elements) or any(map(_has_backlash, springs))


def _is_one_sided(element: ForceElement) -> bool:
    return isinstance(element, Spring) and element.acts != "both" and not isinstance(element.rest_length, ForceLaw)


def _has_backlash(spring: JointSpring) -> bool:
    numbers = spring.backlash, spring.rest_position
    return not any(isinstance(x, ForceLaw) for x in numbers) and not (
        isinstance(spring.backlash, float) and spring.backlash == 0.0
    )


def gaps_of_tree(robot: Robot) -> GapsOver:
    """Return the gaps of one case in the joints of its tree: positions, then rates of all joints, then more."""

    def of_robot(robot: Robot, states: Numbers) -> list[Gap]:
        tree = tree_of(robot.family, robot.mechanism)
        count = len(tree.links)
        return list(limb_gaps(tree, Frame(), states[:count].T, states[count : 2 * count].T))

    return _over_time(robot, of_robot)


def gaps_of_system(robot: Robot, system: MotionSystem) -> GapsOver:
    """Return the gaps of one case of a robot in the states of its system."""
    return _over_time(robot, Coordinates(system).gaps)


def _over_time(robot: Robot, gaps: Callable[[Robot, Numbers], list[Gap]]) -> GapsOver:
    """Return gaps over time, of loads that may change with it."""

    def over(times: Numbers, states: Numbers) -> Gaps:
        if not robot.family.signals:
            return Gaps.of(gaps(robot, states))
        columns = range(len(times))
        rows = [Gaps.of(gaps(at_time(robot, float(times[k])), states[:, k : k + 1])) for k in columns]
        return Gaps(*(np.concatenate(parts) for parts in zip(*rows, strict=True)))

    return over


@dataclass(frozen=True)
class Coordinates:
    """Gaps of a robot in the states of its system."""

    system: MotionSystem

    def gaps(self, robot: Robot, states: Numbers) -> list[Gap]:
        """Return the gaps in some states (size, n)."""
        mechanism, parts = robot.mechanism, [np.moveaxis(x, -1, 0) for x in self.system.instant.seen(states)]
        position, rate = self._joints(robot, parts)
        result: list[Gap] = []
        for k, instance in enumerate(mechanism.instances):
            result += limb_gaps(mechanism.limbs[instance.limb], instance.base, position[:, k], rate[:, k])
        if not mechanism.is_chain:
            moving = platform_motion((states.shape[1],), *parts)
            result += _element_gaps(mechanism.platform.forces, lambda _: moving)
        return result

    @cached_property
    def _is_open(self) -> bool:
        """Return whether the freedoms are all joints, so that nothing has to be solved for their positions."""
        mechanism = self.system.instant.family.reference
        return mechanism.is_chain and len(mechanism.freedoms) == len(mechanism.limbs[0].joints)

    def _joints(self, robot: Robot, parts: Sequence[Numbers]) -> tuple[Numbers, Numbers]:
        """Return positions and rates (n, limb, joint) of joints."""
        if self._is_open:
            return parts[0][:, None], parts[1][:, None]
        if robot.mechanism.is_chain:
            moved = inverse_kinematics(robot, State(q=parts[0], qd=parts[1]))
        else:
            turns = {"rotation": parts[1]} if self.system.instant.structure.motion_size != 9 else {}
            moved = inverse_kinematics(robot, State(position=parts[0], twist=parts[2], **turns))
        return moved.position, moved.velocity


def limb_gaps(limb: Limb, base: Frame, position: Numbers, rate: Numbers) -> Iterator[Gap]:
    """Yield the gaps of the springs of a limb or tree, from positions and rates (n, joint) of its joints."""
    for spring in filter(_has_backlash, limb.springs):
        joints, ratios = [joint for joint, _ in spring.ratios], np.array([float(ratio) for _, ratio in spring.ratios])
        stretch, speed = position[:, joints] @ ratios - spring.rest_position, np.abs(rate[:, joints] @ ratios)
        if spring.backlash > 0.0:
            yield from (Gap(stretch - sign * 0.5 * spring.backlash, speed) for sign in (1.0, -1.0))
    if any(map(_is_one_sided, limb.forces)):
        links = limb_motion(limb, base, position, rate, np.zeros_like(rate))
        yield from _element_gaps(limb.forces, links.__getitem__)


def _element_gaps(elements: Sequence[ForceElement], body: Callable[[int], BodyMotions]) -> Iterator[Gap]:
    for spring in filter(_is_one_sided, elements):
        assert isinstance(spring, Spring)
        near = body(spring.body)
        gap, speed = near.point(spring.point), near.velocity_of(near.turned(spring.point))
        if spring.other == BASE:
            gap = gap - np.asarray(spring.anchor, dtype=float)
        else:
            far = body(spring.other)
            gap, speed = gap - far.point(spring.anchor), speed - far.velocity_of(far.turned(spring.anchor))
        length, fastest = np.linalg.norm(gap, axis=-1), np.linalg.norm(speed, axis=-1)
        stretch = length - spring.rest_length
        yield Gap(stretch, fastest)
        numbers = spring.stiffness, spring.preload, spring.damping
        if any(isinstance(x, ForceLaw) for x in numbers) or not (spring.damped or spring.preload):
            continue
        opening = (gap * speed).sum(axis=-1) / np.where(length > 0.0, length, np.inf)
        size = spring.stiffness if spring.stiffness > 0.0 else 1.0
        yield Gap(stretch + (spring.preload + spring.damping * opening) / size, fastest)
