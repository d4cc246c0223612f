"""Joints of a limb as the Newton-Euler system sees them: joints through a massless body count as one.

A body without mass that joins two others only passes on what it gets, so its six equations are left out and its two
joints make one composite joint: a universal joint is two revolute ones and a cross, a ball screw a rotation and a feed.
What a joint can transmit are the wrenches that do no work on its passive freedoms; a driven direction is no freedom
here, the drive holds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from robots.model import PLATFORM, Closure, Instance, Limb, Link
from robots.types import BASE
from tasks.arrays.bodies import BodyMotion, platform_motion
from tasks.mechanics.leads import slope

CONCURRENT = 1e-12
"""Distance [m] up to which an axis counts as passing through a point."""


class Part(NamedTuple):
    """One joint of a composite joint: its index in the limb; -1 where the chain runs from its child to its parent."""

    joint: int
    sign: float


@dataclass(frozen=True)
class Chain:
    """Joints in series from body `parent` to body `child` (link, BASE or PLATFORM) with massless bodies between."""

    parts: tuple[Part, ...]
    parent: int
    child: int

    def reversed(self) -> Chain:
        """The same joints, named from the other end."""
        return Chain(tuple(Part(j, -sign) for j, sign in reversed(self.parts)), self.child, self.parent)


def chains(limb: Limb) -> tuple[Chain, ...]:
    """All joints of a limb, composite where a body without mass has just two joints."""
    found = [Chain((Part(k, 1.0),), link.parent, k) for k, link in enumerate(limb.links)]
    cut = enumerate((*limb.tips, *limb.loops), start=len(limb.links))
    found += [Chain((Part(k, 1.0),), closure.a, closure.b) for k, closure in cut]
    for k, link in enumerate(limb.links):
        touching = [chain for chain in found if k in (chain.parent, chain.child)]
        if len(touching) == 2 and _massless(link) and all(element.body != k for element in limb.forces):
            first, second = touching
            first = first if first.child == k else first.reversed()
            second = second if second.parent == k else second.reversed()
            found[found.index(touching[0])] = Chain(first.parts + second.parts, first.parent, second.child)
            found.remove(touching[1])
    return tuple(found)


def bodies(limb: Limb) -> tuple[int, ...]:
    """The links of a limb that keep equations of their own."""
    ends = {end for chain in chains(limb) for end in (chain.parent, chain.child)}
    return tuple(k for k in range(len(limb.links)) if k in ends)


def _massless(link: Link) -> bool:
    return not link.inertia.mass and not np.any(link.inertia.tensor)


@dataclass(frozen=True)
class Screw:
    """One freedom of a joint, of its child relative to its parent: `axis` and a `point` of it, (n, 3), world axes.

    It turns, or not, and slides by `slope` (n,) for a unit of its variable. `driven` by an actuator, or held by a
    coupling, or passive; `inertial` (n,) is what the drive's own inertia takes, less what springs give [N m or N].
    """

    axis: np.ndarray
    point: np.ndarray
    turns: bool
    slope: Any = 0.0
    driven: bool = False
    inertial: Any = 0.0

    def twist_at(self, point: np.ndarray) -> np.ndarray:
        """(angular, linear) (n, 6) of a body point for unit rate; exactly angular where the axis meets the point."""
        along = self.axis * np.reshape(self.slope, (-1, 1))
        if not self.turns:
            return np.concatenate([np.zeros_like(self.axis), along], axis=-1)
        arm = point - self.point
        across = np.cross(self.axis, arm)
        meets = np.abs(across).max(initial=0.0) <= CONCURRENT
        return np.concatenate([self.axis, along if meets else across + along], axis=-1)


class Joint(NamedTuple):
    """A joint in motion: its `origin` (n, 3) on the child's side, and its freedoms."""

    origin: np.ndarray
    screws: tuple[Screw, ...]


def limb_joints(
    limb: Limb,
    instance: Instance,
    moving: Sequence[BodyMotion],
    platform: BodyMotion,
    position: np.ndarray,
    acceleration: np.ndarray,
    sprung: np.ndarray | None = None,
) -> tuple[Joint, ...]:
    """All joints of a limb in the order of `Limb.joints`.

    instance: where it is mounted; moving: motions of its links; position, acceleration (n, joint) of all its joints;
    sprung (n, joint): what springs do along them.
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
    link: Link, body: BodyMotion, driven: bool, position: np.ndarray, acceleration: np.ndarray, pushed: np.ndarray
) -> Joint:
    (freedom,) = link.joint_kind.freedoms
    axis, inertial = body.turned(link.axis), float(link.armature) * acceleration - pushed
    steep = slope(freedom, link.kind, link.pitch, position)
    return Joint(body.position, (Screw(axis, body.position, freedom.turns, steep, driven, inertial),))


def _cut_joint(closure: Closure, a: BodyMotion, b: BodyMotion, position: np.ndarray) -> Joint:
    axes = {
        "a": a.rotation @ np.asarray(closure.frame_a.rotation, dtype=float),
        "b": b.rotation @ np.asarray(closure.frame_b.rotation, dtype=float),
    }
    origin = b.point(closure.frame_b.position)
    screws = (
        Screw(axes[each.side][..., each.axis], origin, each.turns, slope(each, closure.kind, closure.pitch, position))
        for each in closure.joint_kind.freedoms
    )
    return Joint(origin, tuple(screws))


class Transmission(NamedTuple):
    """What a composite joint passes to its child: the wrench at `point` (n, 3) is fixed + basis @ unknowns.

    basis (n, 6, unknowns) is orthonormal, N and N m weighed alike; fixed (n, 6) is not zero where a passive joint moves
    the inertia of a drive.
    """

    point: np.ndarray
    basis: np.ndarray
    fixed: np.ndarray


def transmission(chain: Chain, joints: Sequence[Joint]) -> Transmission:
    """The wrenches that the joints of a chain transmit together, at the origin of the last of them."""
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
    """Orthonormal basis (n, 6, 6 - k) of the wrenches that do no work on k twists (n, k, 6).

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
    """Orthonormal basis (n, d, d - k) of what is perpendicular to k vectors (n, k, d), k independent ones."""
    count, size = vectors.shape[1:]
    if not count:
        return np.broadcast_to(np.eye(size), (len(vectors), size, size))
    return np.swapaxes(np.linalg.svd(vectors)[2][:, count:], -1, -2)
