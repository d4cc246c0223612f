"""Robots with all lengths and masses multiplied, in the records of the model: no constant of a family stays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from robots.model import Closure, Frame, Inertia, Limb, Link, Mechanism, Robot
from robots.redundancy import LinearTask, RestPosture, Task


def at_size(robot: Robot, size: float) -> Robot:
    """Return a robot with lengths times `size`, and masses times its cube, as those of the same material.

    A posture has the same least distance, in units of the size.
    """
    family = robot.family
    return Robot(replace(family, assemble=lambda values: _mechanism(family.assemble(values), size)), robot.values)


def _mechanism(mechanism: Mechanism, size: float) -> Mechanism:
    platform = mechanism.platform
    return replace(
        mechanism,
        limbs=tuple(_limb(limb, size) for limb in mechanism.limbs),
        instances=tuple(
            replace(each, base=_frame(each.base, size), platform=_frame(each.platform, size))
            for each in mechanism.instances
        ),
        platform=replace(platform, inertia=_inertia(platform.inertia, size), home=_frame(platform.home, size)),
    )


def _limb(limb: Limb, size: float) -> Limb:
    slides = {link.joint for link in limb.links if not link.joint_kind.turns}
    return replace(
        limb,
        links=tuple(_link(link, size) for link in limb.links),
        loops=tuple(_closure(cut, size) for cut in limb.loops),
        tips=tuple(_closure(cut, size) for cut in limb.tips),
        posture=limb.posture and _posture(limb.posture, slides, size),
    )


def _link(link: Link, size: float) -> Link:
    return replace(
        link,
        placement=_frame(link.placement, size),
        inertia=_inertia(link.inertia, size),
        armature=link.armature * size ** (5 if link.joint_kind.turns else 3),
        pitch=None if link.pitch is None else link.pitch * size,
    )


def _closure(cut: Closure, size: float) -> Closure:
    pitch = None if cut.pitch is None else cut.pitch * size
    return replace(cut, frame_a=_frame(cut.frame_a, size), frame_b=_frame(cut.frame_b, size), pitch=pitch)


def _frame(frame: Frame, size: float) -> Frame:
    return replace(frame, position=_times(frame.position, size))


def _inertia(inertia: Inertia, size: float) -> Inertia:
    tensor: Any = tuple(_times(row, size**5) for row in inertia.tensor)
    return Inertia(inertia.mass * size**3, _times(inertia.centre, size), tensor)


def _posture(posture: RestPosture, slides: set[str], size: float) -> RestPosture:
    factors = [size if joint in slides else 1.0 for joint in posture.joints]
    return replace(
        posture,
        positions=tuple(x * factor for x, factor in zip(posture.positions, factors, strict=True)),
        weights=tuple(x / factor**2 for x, factor in zip(posture.weights, factors, strict=True)),
        tasks=tuple(_task(task, slides, size) for task in posture.tasks),
    )


def _task(task: Task, slides: set[str], size: float) -> Task:
    if not isinstance(task, LinearTask):
        return task
    pairs = zip(task.joints, task.coefficients, strict=True)
    return replace(task, coefficients=tuple(x / size if joint in slides else x for joint, x in pairs))


def _times(values: Any, factor: float) -> Any:
    return tuple(x * factor for x in values)
