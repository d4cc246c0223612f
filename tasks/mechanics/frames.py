"""Mount frames and the poses and motions seen from them, for one sample."""

from __future__ import annotations

from robots.model import Frame
from tasks.mathematics.algebra import array
from tasks.mechanics.kinematics import Pose


def mount_pose(frame: Frame) -> Pose:
    """A frame of the model as a pose."""
    return Pose(array(frame.rotation), array(frame.position))


def inverse_pose(pose: Pose) -> Pose:
    """The reference seen from the body."""
    back = pose.rotation.T
    return Pose(back, -(back @ pose.position))


def joined_pose(outer: Pose, inner: Pose) -> Pose:
    """Pose of what is at `inner` in a body at `outer`."""
    return Pose(outer.rotation @ inner.rotation, outer.at(inner.position))
