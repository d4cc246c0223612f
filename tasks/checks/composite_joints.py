"""Composite joints of a limb: joints in series through bodies without mass, and the wrenches that they transmit.

A body without mass that joins two others only passes on its wrench, so its six equations are left out and its two
joints make one composite joint: a universal joint is two revolute joints and a cross, a ball screw a rotation and a
feed. A joint can transmit the wrenches that do no work on its passive freedoms; a driven direction is no freedom here,
the drive holds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from robots.data_classes import dataclass
from robots.model import PLATFORM, Closure, Instance, Limb, Link
from robots.types import BASE
from tasks.dynamics.body_motions import BodyMotions, platform_motion
from tasks.mechanics.leads import lead_slope

CONCURRENT = 1e-12
"""Distance [m] up to which an axis counts as passing through a point."""


class JointPart(NamedTuple):
    """One joint of a composite joint: its index in the limb; -1 where the chain runs from its child to its parent."""

    joint: int
    sign: float


@dataclass(frozen=True)
class JointSeries:
    """Joints in series from body `parent` to body `child` (link, BASE or PLATFORM) with massless bodies between."""

    parts: tuple[JointPart, ...]
    parent: int
    child: int

    def reversed(self) -> JointSeries:
        """Return the same joints, named from the other end."""
        return JointSeries(tuple(JointPart(j, -sign) for j, sign in reversed(self.parts)), self.child, self.parent)


def chains(limb: Limb) -> tuple[JointSeries, ...]:
    """Return the joints of a limb; two joints of a body without mass and without a third joint become one series."""
    found = [JointSeries((JointPart(k, 1.0),), link.parent, k) for k, link in enumerate(limb.links)]
    cut = enumerate((*limb.tips, *limb.loops), start=len(limb.links))
    found += [JointSeries((JointPart(k, 1.0),), closure.a, closure.b) for k, closure in cut]
    for k, link in enumerate(limb.links):
        touching = [chain for chain in found if k in (chain.parent, chain.child)]
        if len(touching) == 2 and _massless(link) and all(element.body != k for element in limb.forces):
            first, second = touching
            first = first if first.child == k else first.reversed()
            second = second if second.parent == k else second.reversed()
            found[found.index(touching[0])] = JointSeries(first.parts + second.parts, first.parent, second.child)
            found.remove(touching[1])
    return tuple(found)


def bodies(limb: Limb) -> tuple[int, ...]:
    """Return the links of a limb that keep equations of their own."""
    ends = {end for chain in chains(limb) for end in (chain.parent, chain.child)}
    return tuple(k for k in range(len(limb.links)) if k in ends)


def _massless(link: Link) -> bool:
    return not link.inertia.mass and not np.any(link.inertia.tensor)


@dataclass(frozen=True)
class Screw:
    """One freedom of a joint, of its child relative to its parent: its `axis` and a `point` on it, (n, 3), world axes.

    With `turns` it is a rotation. It slides by `slope` (n,) for a unit of its variable. `driven`: an actuator or a
    coupling acts on it; else it is passive. `inertial` (n,) is the force for the inertia of the drive, less the force
    of springs [N m or N].
    """

    axis: np.ndarray
    point: np.ndarray
    turns: bool
    slope: Any = 0.0
    driven: bool = False
    inertial: Any = 0.0

    def twist_at(self, point: np.ndarray) -> np.ndarray:
        """Return (angular, linear) (n, 6) of a body point at unit rate; purely angular if the axis meets the point."""
        along = self.axis * np.reshape(self.slope, (-1, 1))
        if not self.turns:
            return np.concatenate([np.zeros_like(self.axis), along], axis=-1)
        arm = point - self.point
        across = np.cross(self.axis, arm)
        meets = np.abs(across).max(initial=0.0) <= CONCURRENT
        return np.concatenate([self.axis, along if meets else across + along], axis=-1)


class MovingJoint(NamedTuple):
    """A joint in motion: its `origin` (n, 3) on the child's side, and its freedoms."""

    origin: np.ndarray
    screws: tuple[Screw, ...]


def limb_joints(
    limb: Limb,
    instance: Instance,
    moving: Sequence[BodyMotions],
    platform: BodyMotions,
    position: np.ndarray,
    acceleration: np.ndarray,
    sprung: np.ndarray | None = None,
) -> tuple[MovingJoint, ...]:
    """Return the moving joints of a limb in the order of `Limb.joints`.

    instance: its mount frames; moving: motions of its links; position, acceleration (n, joint) of all its joints;
    sprung (n, joint): forces of springs along the joints.
    """
    pushed = np.zeros_like(acceleration) if sprung is None else sprung
    held = {*limb.actuated, *(name for entry in limb.couplings for name in (entry.joint, entry.of))}
    tree = (
        _tree_joint(link, body, link.joint in held, position[:, k], acceleration[:, k], pushed[:, k])
        for k, (link, body) in enumerate(zip(limb.links, moving, strict=True))
    )
    mount, base = instance.platform, instance.base
    target = platform._replace(
        rotation=platform.rotation @ np.asarray(mount.rotation, dtype=float), position=platform.point(mount.position)
    )
    still = platform_motion(position.shape[:1], base.position, base.rotation)
    ends = dict(enumerate(moving)) | {PLATFORM: target, BASE: still}
    cuts = enumerate(limb.cuts, start=len(limb.links))
    return (*tree, *(_cut_joint(each, ends[each.a], ends[each.b], position[:, k]) for k, each in cuts))


def _tree_joint(
    link: Link, body: BodyMotions, driven: bool, position: np.ndarray, acceleration: np.ndarray, pushed: np.ndarray
) -> MovingJoint:
    (freedom,) = link.joint_kind.freedoms
    axis, inertial = body.turned(link.axis), float(link.armature) * acceleration - pushed
    steep = lead_slope(freedom, link.kind, link.pitch, position)
    return MovingJoint(body.position, (Screw(axis, body.position, freedom.turns, steep, driven, inertial),))


def _cut_joint(closure: Closure, a: BodyMotions, b: BodyMotions, position: np.ndarray) -> MovingJoint:
    axes = {
        "a": a.rotation @ np.asarray(closure.frame_a.rotation, dtype=float),
        "b": b.rotation @ np.asarray(closure.frame_b.rotation, dtype=float),
    }
    origin = b.point(closure.frame_b.position)
    screws = (
        Screw(
            axes[each.side][..., each.axis], origin, each.turns, lead_slope(each, closure.kind, closure.pitch, position)
        )
        for each in closure.joint_kind.freedoms
    )
    return MovingJoint(origin, tuple(screws))


class Transmission(NamedTuple):
    """Wrench that a composite joint passes to its child: at `point` (n, 3) it is fixed + basis @ unknowns.

    basis (n, 6, unknowns) is orthonormal, N and N m weighed alike; fixed (n, 6) is not zero where a passive joint
    moves the inertia of a drive.
    """

    point: np.ndarray
    basis: np.ndarray
    fixed: np.ndarray


def transmission(chain: JointSeries, joints: Sequence[MovingJoint]) -> Transmission:
    """Return the wrenches that the joints of a chain transmit together, at the origin of the last of them."""
    point = joints[chain.parts[-1].joint].origin
    # a screw moves its joint's own child, the wrench acts on the child of the chain: hence the signs
    signed = [(part.sign, screw) for part in chain.parts for screw in joints[part.joint].screws]
    passive = [(sign, screw) for sign, screw in signed if not screw.driven]
    if not passive:
        return Transmission(point, np.broadcast_to(np.eye(6), (len(point), 6, 6)), np.zeros((len(point), 6)))
    twists = np.stack([sign * screw.twist_at(point) for sign, screw in passive], axis=1)
    demand = -np.stack([np.broadcast_to(screw.inertial, len(point)) for _, screw in passive], axis=1)
    fixed = np.zeros((len(point), 6))
    if np.any(demand):
        fixed = (np.linalg.pinv(twists) @ demand[..., None])[..., 0]
    return Transmission(point, _reciprocal(twists), fixed)


def _reciprocal(twists: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis (n, 6, 6 - k) of the wrenches that do no work on k twists (n, k, 6).

    Moments and forces stay apart where every twist is a pure turn or a pure slide, which keeps the system sparse.
    """
    turns = np.any(twists[..., :3] != 0.0, axis=(0, 2))
    slides = np.any(twists[..., 3:] != 0.0, axis=(0, 2))
    if (turns & slides).any():
        return _complement(twists)
    moments, forces = _complement(twists[:, turns, :3]), _complement(twists[:, slides, 3:])
    count = moments.shape[-1]
    result = np.zeros((len(twists), 6, count + forces.shape[-1]))
    result[:, :3, :count], result[:, 3:, count:] = moments, forces
    return result


def _complement(vectors: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis (n, d, d - k) of the complement of k independent vectors (n, k, d)."""
    count, size = vectors.shape[1:]
    if not count:
        return np.broadcast_to(np.eye(size), (len(vectors), size, size))
    return np.swapaxes(np.linalg.svd(vectors)[2][:, count:], -1, -2)
