"""Joints that close loops between two bodies, as files have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from robots.data_classes import dataclass, replace
from robots.formats.poses import HERE, Pose, compose, frame_of, inverse, pose_of, with_x_y, with_z
from robots.model import Frame
from robots.types import JointKind, Number

IN_LINE = 1e-9
"""Sine of an angle, and share of a length, by which points of a hinge may differ on its two bodies."""


@dataclass(frozen=True)
class ClosingJoint:
    """A joint that closes a loop between two bodies, by name, with a frame in each of their frames in the file."""

    joint: str
    kind: JointKind
    a: str
    frame_a: Frame
    b: str
    frame_b: Frame
    pitch: Number | None = None


def between(
    name: str,
    kind: JointKind,
    bodies: tuple[str, str],
    at: tuple[Pose, Sequence[np.ndarray]],
    poses: Mapping[str, Pose],
    pitch: float | None = None,
) -> ClosingJoint:
    """Return the joint that closes a loop between bodies as they stand, at a pose and along axes there."""
    (turn, position), axes = at
    if kind == "universal":
        turn = with_x_y(*axes)
    elif axes and kind not in ("spherical", "fixed"):
        turn = with_z(axes[0])
    frame_a, frame_b = (frame_of(compose(inverse(poses.get(body, HERE)), (turn, position))) for body in bodies)
    return ClosingJoint(name, kind, bodies[0], frame_a, bodies[1], frame_b, pitch)


def hinged(loops: Iterable[ClosingJoint]) -> Iterator[ClosingJoint]:
    """Yield loops with a hinge in place of balls that hold two bodies together at several points of one line."""
    groups = dict[tuple[str, ...], list[ClosingJoint]]()
    for loop in loops:
        key = (*sorted((loop.a, loop.b)),) if loop.kind == "spherical" else (loop.joint,)
        groups.setdefault(key, []).append(loop)
    for group in groups.values():
        hinge = _hinge(*group)
        yield from group if hinge is None else (hinge,)


def _hinge(first: ClosingJoint, *more: ClosingJoint) -> ClosingJoint | None:
    """Return the hinge that balls on a line form; None if they form no line, or distances differ between both sides."""
    start = pose_of(first.frame_a)[1], pose_of(first.frame_b)[1]
    sides = [(ball.frame_a, ball.frame_b) if ball.a == first.a else (ball.frame_b, ball.frame_a) for ball in more]
    arms = np.array([[pose_of(side)[1] - point for side, point in zip(pair, start, strict=True)] for pair in sides])
    lengths = np.linalg.norm(arms, axis=-1)
    if not more or not lengths.all() or np.abs(np.ptp(lengths, axis=1)).max() > IN_LINE * lengths.max():
        return None
    units = arms / lengths[..., None]
    along = np.einsum("psi,si->ps", units, units[0])
    if np.linalg.norm(np.cross(units, units[0]), axis=-1).max() > IN_LINE or (along[:, 0] * along[:, 1] < 0.0).any():
        return None
    frame_a, frame_b = (frame_of((with_z(unit), point)) for unit, point in zip(units[0], start, strict=True))
    return replace(first, kind="revolute", frame_a=frame_a, frame_b=frame_b)
