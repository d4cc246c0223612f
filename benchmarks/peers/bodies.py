"""A mechanism in plain numbers, as every engine can take it: one spanning tree, the joints that are cut, the platform.

The platform hangs on the first tip of the first limb, as the tree with the fewest joints has it. Bodies come depth
first, because some algorithms of Pinocchio go wrong without a word in another order. All joints move about or along the
z axis of their own frame: joints for a given axis are the quickest that engines have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from robots.model import Family, Frame, Inertia, Instance, Limb, Mechanism
from robots.types import BASE, TWIST
from tasks import inverse_kinematics
from tasks.dynamics.inverse import InverseKinematics

Array = np.ndarray


class Pose(NamedTuple):
    """Rotation (3, 3) and position (3,) of a frame in another."""

    rotation: Array
    position: Array

    @classmethod
    def of(cls, frame: Frame) -> Pose:
        """Return a frame of the model."""
        return cls(np.array(frame.rotation, dtype=float), np.array(frame.position, dtype=float))

    def __matmul__(self, inner: Pose) -> Pose:
        return Pose(self.rotation @ inner.rotation, self.position + self.rotation @ inner.position)

    @property
    def inverse(self) -> Pose:
        """The outer frame in this one."""
        return Pose(self.rotation.T, -self.rotation.T @ self.position)


@dataclass(frozen=True)
class Body:
    """A body and its joint about or along z; `at` is the joint's frame in the parent's, tensor (3, 3) about `centre`.

    limb and joint: the place of the joint among those of `tasks.inverse_kinematics`.
    """

    parent: int
    at: Pose
    kind: str
    mass: float
    centre: Array
    tensor: Array
    limb: int
    joint: int

    def inside(self, outer: Pose) -> Body:
        """Return the same body, described in a frame that has the body's own one at `outer`."""
        turn = outer.rotation
        tensor = turn @ self.tensor @ turn.T
        return replace(self, centre=outer.position + turn @ self.centre, tensor=0.5 * (tensor + tensor.T))


@dataclass(frozen=True)
class Cut:
    """A revolute joint that is not in the tree: body and frame on both sides, free about the z axes of both."""

    a: int
    at_a: Pose
    b: int
    at_b: Pose


@dataclass(frozen=True)
class Skeleton:
    """The bodies of a mechanism, its loop closures, driven joints, and the pose of the platform's frame on a body.

    freedoms: indices in a twist of the platform's freedoms; empty for a tree.
    """

    bodies: tuple[Body, ...]
    cuts: tuple[Cut, ...]
    motors: tuple[int, ...]
    platform: int
    seat: Pose
    freedoms: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of joints in the tree."""
        return len(self.bodies)

    def tree_order(self, values: Array) -> Array:
        """Return the values (sample, limb, joint) in the order of the bodies, (sample, body)."""
        limbs, joints = ([getattr(body, name) for body in self.bodies] for name in ("limb", "joint"))
        return np.ascontiguousarray(values[:, limbs, joints])

    def motion(self, robot: Any, states: Any) -> tuple[Array, Array, Array]:
        """Return positions, rates and accelerations of all tree joints (sample, body), by inverse kinematics."""
        found: InverseKinematics = inverse_kinematics(robot, **states)
        return tuple(self.tree_order(each) for each in found[:3])  # type: ignore[return-value]


def skeleton(mechanism: Mechanism) -> Skeleton:
    """Return the skeleton of a robot. Raises ValueError for drives, armatures and cut joints that are not revolute."""
    _check(mechanism)
    starts = np.cumsum([0, *(len(_limb(mechanism, each).links) for each in mechanism.instances)])
    bodies = [body for k in range(len(mechanism.instances)) for body in _limb_bodies(mechanism, k, int(starts[k]))]
    seat = Pose(np.eye(3), np.zeros(3))
    if not mechanism.is_chain:
        body, seat = _platform(mechanism)
        bodies.append(body)
    order = list(_depth_first([body.parent for body in bodies], BASE))
    place = {old: new for new, old in enumerate(order)} | {BASE: BASE}
    cuts = tuple(_cuts(mechanism, starts, place, seat))
    motors = [
        place[int(start) + _limb(mechanism, each).index(joint)]
        for start, each in zip(starts, mechanism.instances, strict=False)
        for joint in _limb(mechanism, each).actuated
    ]
    freedoms = tuple(TWIST.index(name) for name in mechanism.platform.mobility)
    moved = tuple(replace(bodies[old], parent=place[bodies[old].parent]) for old in order)
    return _about_z(Skeleton(moved, cuts, tuple(motors), place[len(bodies) - 1], seat, freedoms), mechanism)


def as_tree(family: Family, name: str) -> Family:
    """Return the spanning tree of a chain as a robot of its own: no loops, no drives, every joint driven."""

    def assemble(p: Any) -> Mechanism:
        links = family.assemble(p).limbs[0].links
        return Mechanism.chain(name, links, tuple(link.joint for link in links))

    return replace(family, name=name, assemble=assemble)


def _check(mechanism: Mechanism) -> None:
    for limb in mechanism.limbs:
        cuts = [cut.kind for cut in limb.cuts if cut.kind != "revolute"]
        armatures = [link.joint for link in limb.links if not (isinstance(link.armature, float) and link.armature == 0)]
        if limb.drives or cuts or armatures:
            raise ValueError(
                f"limb: got {limb.name} with drives {[each.name for each in limb.drives]}, cut joints {cuts} and "
                f"armatures at {armatures}; expected none but revolute cut joints: engines model the rest differently"
            )


def _limb(mechanism: Mechanism, instance: Instance) -> Limb:
    return mechanism.limbs[instance.limb]


def _body(parent: int, at: Pose, kind: str, solid: Inertia, place: tuple[int, int]) -> Body:
    centre, tensor = (np.array(each, dtype=float) for each in (solid.centre, solid.tensor))
    return Body(parent, at, kind, float(solid.mass), centre, tensor, *place)


def _limb_bodies(mechanism: Mechanism, number: int, start: int) -> Iterator[Body]:
    instance = mechanism.instances[number]
    for k, link in enumerate(_limb(mechanism, instance).links):
        on_base = link.parent == BASE
        at = Pose.of(instance.base) @ Pose.of(link.placement) if on_base else Pose.of(link.placement)
        yield _body(BASE if on_base else start + link.parent, at, link.kind, link.inertia, (number, k))


def _platform(mechanism: Mechanism) -> tuple[Body, Pose]:
    """Return the platform as the body on the first tip of the first limb, and its own frame in that body's."""
    instance = mechanism.instances[0]
    limb = _limb(mechanism, instance)
    tip = limb.tips[0]
    seat = (Pose.of(instance.platform) @ Pose.of(tip.frame_b)).inverse
    body = _body(tip.a, Pose.of(tip.frame_a), "revolute", mechanism.platform.inertia, (0, len(limb.links)))
    return body.inside(seat), seat


def _cuts(mechanism: Mechanism, starts: Array, place: dict[int, int], seat: Pose) -> Iterator[Cut]:
    top = place[max(place)]
    for number, instance in enumerate(mechanism.instances):
        limb, start = _limb(mechanism, instance), int(starts[number])
        for k, tip in enumerate(limb.tips):
            if (number, k) != (0, 0):  # which is in the tree
                on_platform = seat @ Pose.of(instance.platform) @ Pose.of(tip.frame_b)
                yield Cut(place[start + tip.a], Pose.of(tip.frame_a), top, on_platform)
        for loop in limb.loops:
            yield Cut(place[start + loop.a], Pose.of(loop.frame_a), place[start + loop.b], Pose.of(loop.frame_b))


def _depth_first(parents: Sequence[int], parent: int) -> Iterator[int]:
    for child in (k for k, each in enumerate(parents) if each == parent):
        yield child
        yield from _depth_first(parents, child)


def _about_z(made: Skeleton, mechanism: Mechanism) -> Skeleton:
    """Return the same with body frames turned so that all axes are z."""
    turns = [Pose(_to(_axis(mechanism, body)), np.zeros(3)) for body in made.bodies]
    back = [turn.inverse for turn in turns]
    bodies = [
        replace(body.inside(back[k]), at=(body.at if body.parent == BASE else back[body.parent] @ body.at) @ turns[k])
        for k, body in enumerate(made.bodies)
    ]
    cuts = [replace(cut, at_a=back[cut.a] @ cut.at_a, at_b=back[cut.b] @ cut.at_b) for cut in made.cuts]
    return replace(made, bodies=tuple(bodies), cuts=tuple(cuts), seat=back[made.platform] @ made.seat)


def _axis(mechanism: Mechanism, body: Body) -> Array:
    links = _limb(mechanism, mechanism.instances[body.limb]).links
    return np.array(links[body.joint].axis if body.joint < len(links) else (0.0, 0.0, 1.0), dtype=float)


def _to(axis: Array) -> Array:
    """Return a rotation whose third column is a coordinate axis, with sign."""
    first = np.eye(3)[(int(np.abs(axis).argmax()) + 1) % 3]
    return np.stack([first, np.cross(axis, first), axis], axis=1)
