"""Joints that close loops between two bodies, as files have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robots.formats.poses import HERE, Pose, compose, frame_of, inverse, with_x_y, with_z
from robots.model import Frame
from robots.types import JointKind, Number


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
