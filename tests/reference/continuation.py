"""Inverse kinematics of any robot by continuation in small steps, from its description in numbers.

Shares no code with the packages: closures are written out again, with axes and cross products, and solved by
Gauss-Newton on all of their rows at once; nothing is eliminated and no row is dropped. The branch of the reference pose
is what paths of the platform reach from there on which a limb stays regular. One straight path does not reach all of
it: poses that are reached are where further paths start, so that in the end all of the workspace is covered, holes and
corners included, as far as there are poses in it.

A path is followed with steps in which no joint moves by more than STEP, and in which no singularity can lie: the slopes
of all closures over all joints change by less than their least singular value, those of the loops alone by less than
the least of their singular values that are not zero at the reference pose (Weyl: none of them has become zero between).
So do those of the loops among the bodies of an articulated platform: a parallelogram that has been flat may have folded
over, whatever the limbs around it say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy.spatial.transform import Rotation

Array = Any

STEP = 0.06
"""Longest step of a joint [rad, or in sizes of the limb]."""
SHARE = 0.9
"""Share of the distance from a singularity by which slopes may change in a step."""
LEAST_SHARE = 2.0**-16
"""Share of a path below which its steps have come to an end."""
CLOSED = 1e-11
"""Residual of a closed limb, relative to its size."""
BASE, PLATFORM = -1, -2


def cross(a: Array, b: Array) -> Array:
    """Cross products over the last axis."""
    return np.stack(
        [
            a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1],
            a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2],
            a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0],
        ],
        axis=-1,
    )


def dot(a: Array, b: Array) -> Array:
    """Dot products over the last axis."""
    return np.sum(a * b, axis=-1)


def turn(axis: Array, angle: Array) -> Array:
    """Rotations (n, 3, 3) about an axis (3,) by angles (n,)."""
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle)[:, None, None] * skew + (1.0 - np.cos(angle))[:, None, None] * (skew @ skew)


@dataclass
class End:
    """A frame of a closure: axes (n, 3, 3), origin (n, 3), and how it moves with each joint (n, joint, 3) twice."""

    axes: Array
    origin: Array
    omega: Array
    velocity: Array

    def axis(self, k: int) -> tuple[Array, Array]:
        """A coordinate axis (n, 3), and its change with each joint (n, joint, 3)."""
        value = self.axes[:, :, k]
        return value, cross(self.omega, value[:, None])


@dataclass
class LimbPaths:
    """A limb in numbers and a length of it [m]; of a chain the joints in which its motion is given."""

    limb: Any
    size: float
    given: Sequence[str] = ()
    loop_rank: int = field(init=False, default=0)
    frame_rank: int = field(init=False, default=0)
    frame_rows: list[int] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.count = len(self.limb.links)
        self.scale = np.array([1.0 if link.kind != "prismatic" else self.size for link in self.limb.links])
        if self.limb.loops:
            rows = self.rows(np.zeros((1, self.count)), None, self.limb.loops)[1][0] * self.scale
            values = np.linalg.svd(rows, compute_uv=False)
            self.loop_rank = int((values > 1e-9 * values[0]).sum())
        self.frame_rows = self._frame_rows()
        if self.frame_rows:
            values = np.linalg.svd(rows[self.frame_rows], compute_uv=False)
            self.frame_rank = int((values > 1e-9 * values[0]).sum())

    def _frame_rows(self) -> list[int]:
        """Rows of loops among the bodies of an articulated platform, which keep their rank by themselves."""
        if not self.limb.coordinates:
            return []
        plate = [link.joint for link in self.limb.links].index(self.limb.coordinates[-1])
        result, first = list[int](), 0
        for loop in self.limb.loops:
            height = self._height(loop)
            if self.carried(loop.a, plate) and self.carried(loop.b, plate):
                result += range(first, first + height)
            first += height
        return result

    def carried(self, body: int, by: int) -> bool:
        """Return whether a body is carried by another, or is that body itself."""
        while body not in (by, BASE):
            body = self.limb.links[body].parent
        return body == by

    def bodies(self, x: Array) -> tuple[dict[int, tuple[Array, Array]], list[tuple[Array, Array]]]:
        """Poses of all links, by index, in the mount frame; axis and point of each joint there."""
        n = len(x)
        poses = {BASE: (np.broadcast_to(np.eye(3), (n, 3, 3)), np.zeros((n, 3)))}
        lines = []
        for k, link in enumerate(self.limb.links):
            outer, at = poses[link.parent]
            own = outer @ np.array(link.placement.rotation, dtype=float)
            origin = at + outer @ np.array(link.placement.position, dtype=float)
            axis = np.array(link.axis, dtype=float)
            lines.append((own @ axis, origin))
            if link.kind != "prismatic":
                own, along = own @ turn(axis, x[:, k]), float(link.pitch or 0.0)
            else:
                along = 1.0
            poses[k] = own, origin + (along * x[:, k])[:, None] * lines[-1][0]
        return poses, lines

    def end(self, poses: Any, lines: Any, body: int, frame: Any) -> End:
        """A frame on a link."""
        rotation, position = poses[body]
        axes = rotation @ np.array(frame.rotation, dtype=float)
        origin = position + rotation @ np.array(frame.position, dtype=float)
        n = len(origin)
        omega, velocity = np.zeros((2, n, self.count, 3))
        while body != BASE:
            link, (axis, point) = self.limb.links[body], lines[body]
            if link.kind == "prismatic":
                velocity[:, body] = axis
            else:
                omega[:, body] = axis
                velocity[:, body] = cross(axis, origin - point) + float(link.pitch or 0.0) * axis
            body = link.parent
        return End(axes, origin, omega, velocity)

    def rows(self, x: Array, target: Any, closures: Sequence[Any]) -> tuple[Array, Array]:
        """Residuals (n, row) of closures, lengths relative to the size, and their slopes (n, row, joint)."""
        poses, lines = self.bodies(x)
        residuals, slopes = [], []
        if self.given and target is not None:
            names = [link.joint for link in self.limb.links]
            held = np.eye(self.count)[self.free]
            rows = [*held, *(np.zeros(self.count) for _ in self.limb.couplings)]
            for row, entry in zip(rows[len(held) :], self.limb.couplings, strict=True):
                row[names.index(entry.joint)], row[names.index(entry.of)] = 1.0, -float(entry.ratio)
            matrix = np.array(rows)
            wanted = np.concatenate([target, np.zeros((len(x), len(self.limb.couplings)))], axis=1)
            residuals.append(x @ matrix.T - wanted)
            slopes.append(np.broadcast_to(matrix, (len(x), *matrix.shape)))
        for closure in closures:
            a = self.end(poses, lines, closure.a, closure.frame_a)
            if closure.b == PLATFORM:
                axes = target[0] @ np.array(closure.frame_b.rotation, dtype=float)
                origin = target[1] + target[0] @ np.array(closure.frame_b.position, dtype=float)
                b = End(axes, origin, np.zeros_like(a.omega), np.zeros_like(a.velocity))
            else:
                b = self.end(poses, lines, closure.b, closure.frame_b)
            for value, slope in self.closure(closure, a, b):
                residuals.append(value)
                slopes.append(slope)
        return np.concatenate(residuals, axis=1), np.concatenate(slopes, axis=1)

    def closure(self, closure: Any, a: End, b: End) -> list[tuple[Array, Array]]:
        """Residuals and slopes of one closure."""
        gap = (a.origin - b.origin) / self.size, np.swapaxes(a.velocity - b.velocity, 1, 2) / self.size
        if closure.kind == "spherical":
            return [gap]
        if closure.kind == "universal":
            return [gap, _perpendicular(a.axis(0), b.axis(1))]
        if closure.kind == "revolute":
            return [gap, _parallel(a.axis(2), b.axis(2))]
        if closure.kind == "fixed":
            return [gap, *(_parallel(a.axis(k), b.axis(k)) for k in range(3))]
        across = [_across(gap, a.axis(k)) for k in (0, 1)]
        if closure.kind == "cylindrical":
            return [_parallel(a.axis(2), b.axis(2)), *across]
        if closure.kind == "prismatic":
            return [*(_parallel(a.axis(k), b.axis(k)) for k in range(3)), *across]
        raise NotImplementedError(closure.kind)

    def solve(self, x: Array, target: Any, most: int = 8) -> tuple[Array, Array, Array, Array]:
        """Gauss-Newton: joints (n, joint), whether closed (n,), slopes of tips and loops, of loops alone."""
        closures = [*self.limb.tips, *self.limb.loops]
        x = x.copy()
        for _ in range(most):
            gap, slope = self.rows(x, target, closures)
            if np.abs(gap).max(initial=0.0) < CLOSED:
                break
            x -= self.least_squares(slope * self.scale, gap) * self.scale
        gap, slope = self.rows(x, target, closures)
        loops = sum(self._height(closure) for closure in self.limb.loops)
        slope = slope * self.scale
        return x, np.abs(gap).max(axis=1) < CLOSED, slope, slope[:, slope.shape[1] - loops :]

    @staticmethod
    def _height(closure: Any) -> int:
        return {"spherical": 3, "universal": 4, "revolute": 6, "fixed": 12, "cylindrical": 5, "prismatic": 11}[
            closure.kind
        ]

    @staticmethod
    def least_squares(slope: Array, gap: Array) -> Array:
        """Steps (n, joint) that close the rows to first order; long ones are cut by what makes them so."""
        square = np.swapaxes(slope, 1, 2) @ slope
        square = square + 1e-14 * np.eye(square.shape[1])
        return np.linalg.solve(square, np.swapaxes(slope, 1, 2) @ gap[..., None])[..., 0]

    def regular(self, before: tuple[Array, Array], after: tuple[Array, Array]) -> Array:
        """Return whether no singularity of the limb or its loops lies between slopes at both ends of a step (n,)."""
        least = np.linalg.svd(before[0], compute_uv=False)[:, -1]
        result = np.linalg.norm(after[0] - before[0], axis=(1, 2)) < SHARE * least
        if self.loop_rank:
            result &= self._rank_kept(before[1], after[1], self.loop_rank)
        if self.frame_rank:
            result &= self._rank_kept(before[1][:, self.frame_rows], after[1][:, self.frame_rows], self.frame_rank)
        return result

    @staticmethod
    def _rank_kept(before: Array, after: Array, rank: int) -> Array:
        """Return whether slopes have changed by less than the limit that keeps their rank (n,)."""
        least = np.linalg.svd(before, compute_uv=False)[:, rank - 1]
        result: Array = np.linalg.norm(after - before, axis=(1, 2)) < SHARE * least
        return result

    def follow(self, x: Array, targets: Targets) -> tuple[Array, Array]:
        """Joints at the ends of paths that begin with joints x (n, joint), and whether these were reached (n,)."""
        n = len(x)
        x, place, share, ended = x.copy(), np.zeros(n), np.full(n, 1.0 / 16.0), np.zeros(n, dtype=bool)
        now = self.solve(x, targets.at(np.zeros(n), np.arange(n)))
        ended |= ~now[1]
        slopes = [now[2].copy(), now[3].copy()]
        while len(active := np.flatnonzero(~ended & (place < 1.0))):
            ahead = np.minimum(place[active] + share[active], 1.0)
            guess, closed, whole, loops = self.solve(x[active], targets.at(ahead, active))
            longest = (np.abs(guess - x[active]) / self.scale).max(axis=1)
            good = closed & (longest < STEP)
            good &= self.regular((slopes[0][active], slopes[1][active]), (whole, loops))
            done = active[good]
            x[done], place[done] = guess[good], ahead[good]
            slopes[0][done], slopes[1][done] = whole[good], loops[good]
            share[done] = np.where(longest[good] < 0.5 * STEP, share[done] * 1.7, share[done])
            bad = active[~good]
            share[bad] *= 0.5
            ended[bad] |= share[bad] < LEAST_SHARE
        return x, ~ended

    @property
    def free(self) -> list[int]:
        """Numbers of the joints in which the motion of a chain is given."""
        names = [link.joint for link in self.limb.links]
        return [names.index(name) for name in self.given]

    def shortest(self, shift: Array) -> Array:
        """The same ways of the independent joints (..., freedom), full turns left out."""
        turning = np.array([self.limb.links[k].kind == "revolute" for k in self.free])
        return np.where(turning, (shift + np.pi) % (2.0 * np.pi) - np.pi, shift)

    def apart(self, x: Array, y: Array) -> Array:
        """Largest difference of joints (n,) [rad, or in sizes of the limb], full turns left out."""
        turning = np.array([link.kind == "revolute" for link in self.limb.links])
        gap = np.where(turning, (x - y + np.pi) % (2.0 * np.pi) - np.pi, x - y)
        result: Array = np.abs(gap / self.scale).max(axis=-1)
        return result


def _perpendicular(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[Array, Array]:
    (p, dp), (q, dq) = a, b
    return dot(p, q)[:, None], (dot(dp, q[:, None]) + dot(dq, p[:, None]))[:, None]


def _parallel(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[Array, Array]:
    (p, dp), (q, dq) = a, b
    return cross(p, q), np.swapaxes(cross(dp, q[:, None]) + cross(p[:, None], dq), 1, 2)


def _across(gap: tuple[Array, Array], axis: tuple[Array, Array]) -> tuple[Array, Array]:
    (g, dg), (p, dp) = gap, axis
    return dot(g, p)[:, None], (np.einsum("nkj,nk->nj", dg, p) + dot(dp, g[:, None]))[:, None]


class Targets(Protocol):
    """Targets that lead a limb: poses of the platform, or joints of a chain."""

    def at(self, place: Array, chosen: Array) -> Any:
        """Targets of chosen paths, some way along each."""


@dataclass
class Poses:
    """Straight paths of a platform, of which each turns about one axis; mount frames at base and platform (n, ...)."""

    base: tuple[Array, Array]
    platform: tuple[Array, Array]
    start: tuple[Array, Array]
    turned: Array
    shift: Array

    @classmethod
    def between(cls, instance: Any, rotation: tuple[Array, Array], position: tuple[Array, Array]) -> Poses:
        """Return poses from and to rotations (n, 3, 3) and positions (n, 3)."""
        count = len(position[0])

        def several(frame: Any) -> tuple[Array, Array]:
            r, p = np.array(frame.rotation, dtype=float), np.array(frame.position, dtype=float)
            return np.broadcast_to(r, (count, 3, 3)), np.broadcast_to(p, (count, 3))

        turned = Rotation.from_matrix(np.swapaxes(rotation[0], 1, 2) @ rotation[1]).as_rotvec()
        start = rotation[0], position[0]
        return cls(several(instance.base), several(instance.platform), start, turned, position[1] - position[0])

    def at(self, place: Array, chosen: Array) -> tuple[Array, Array]:
        """Return the poses of the mount frames at the platform in the axes of those at the base."""
        rotation = self.start[0][chosen] @ Rotation.from_rotvec(self.turned[chosen] * place[:, None]).as_matrix()
        position = self.start[1][chosen] + self.shift[chosen] * place[:, None]
        inward = np.swapaxes(self.base[0][chosen], 1, 2)
        axes = inward @ rotation @ self.platform[0][chosen]
        at = position + (rotation @ self.platform[1][chosen][..., None])[..., 0] - self.base[1][chosen]
        return axes, (inward @ at[..., None])[..., 0]


@dataclass
class Positions:
    """Straight paths of the independent joints of a chain: where they begin, and how far they go (n, freedom)."""

    start: Array
    shift: Array

    def at(self, place: Array, chosen: Array) -> Array:
        """Their positions."""
        return self.start[chosen] + self.shift[chosen] * place[:, None]


@dataclass
class Branch:
    """Known part of the branch of a limb's reference pose: joints (n, joint) at poses, NaN where unknown.

    `nodes` are rotations and positions, or positions of the independent joints of a chain; the first is the reference.
    """

    paths: LimbPaths
    instance: Any
    nodes: tuple[Array, ...]
    joints: Array

    @classmethod
    def of(cls, mechanism: Any, instance: Any, *nodes: Array) -> Branch:
        """The branch of a limb at rotations (n, 3, 3) and positions (n, 3), or at joints (n, freedom) of a chain."""
        limb, home = mechanism.limbs[instance.limb], mechanism.platform.home
        first = [np.zeros(nodes[0].shape[1])] if len(nodes) == 1 else [home.rotation, home.position]
        all_nodes = tuple(
            np.concatenate([np.array(x, dtype=float)[None], y]) for x, y in zip(first, nodes, strict=True)
        )
        paths = LimbPaths(limb, limb_size(limb), mechanism.freedoms if len(nodes) == 1 else ())
        joints = np.full((len(all_nodes[0]), paths.count), np.nan)
        joints[0] = 0.0
        return cls(paths, instance, all_nodes, joints)

    def follow(self, start: Array, ends: Array, joints: Array) -> tuple[Array, Array]:
        """Joints at the ends of straight paths between nodes, from `joints` at their beginnings, and which arrived."""
        if len(self.nodes) == 1:
            (q,) = self.nodes
            shift = self.paths.shortest(q[ends] - q[start])
            return self.paths.follow(joints, Positions(joints[:, self.paths.free], shift))
        rotation, position = ((x[start], x[ends]) for x in self.nodes)
        return self.paths.follow(joints, Poses.between(self.instance, rotation, position))

    def distance(self, a: Array, b: Array) -> Array:
        """Return the distances of nodes (a, b): turns in half turns, moves in extents of all."""
        if len(self.nodes) == 1:
            (q,) = self.nodes
            return np.linalg.norm(self.paths.shortest(q[a, None] - q[None, b]), axis=-1)
        rotation, position = self.nodes
        span = max(1e-12, float(np.ptp(position, axis=0).max()))
        cosine = 0.5 * (np.einsum("nij,mij->nm", rotation[a], rotation[b]) - 1.0)
        moved = np.linalg.norm(position[a, None] - position[None, b], axis=-1) / span
        result: Array = moved + np.arccos(np.clip(cosine, -1.0, 1.0)) / np.pi
        return result

    @property
    def known(self) -> Array:
        """Numbers of the nodes whose joints are known."""
        return np.flatnonzero(~np.isnan(self.joints[:, 0]))

    def explore(self, rounds: int = 10) -> None:
        """Find joints at all nodes that the branch reaches: paths from the reference, then from nodes that are near."""
        tried = np.zeros((len(self.joints), len(self.joints)), dtype=bool)
        for step in range(rounds):
            ends = np.flatnonzero(np.isnan(self.joints[:, 0]))
            start = np.zeros(len(ends), dtype=int)
            if step and len(ends):
                known = self.known
                distance = np.where(tried[np.ix_(ends, known)], np.inf, self.distance(ends, known))
                nearest = np.argmin(distance, axis=1)
                new = np.isfinite(distance[np.arange(len(ends)), nearest])
                ends, start = ends[new], known[nearest[new]]
            if not len(ends):
                break
            tried[ends, start] = True
            joints, arrived = self.follow(start, ends, self.joints[start])
            self.joints[ends[arrived]] = joints[arrived]

    def holds(self, node: int, joints: Array, most: int = 40) -> bool:
        """Return whether joints at a node are on the branch too, by paths back: a pose may have several solutions."""
        known = self.known
        known = known[known != node]
        known = known[np.argsort(self.distance(np.array([node]), known)[0])][:most]
        ends = np.unique(np.concatenate([[0], known]))
        found, arrived = self.follow(np.full(len(ends), node), ends, np.tile(joints, (len(ends), 1)))
        return bool((arrived & (self.paths.apart(found, self.joints[ends]) < 1e-6)).any())


def branches(mechanism: Any, *nodes: Array, rounds: int = 10) -> list[Branch]:
    """Return the branch of the reference pose of each limb of a robot; nodes as for `Branch.of`."""
    result = [Branch.of(mechanism, instance, *nodes) for instance in mechanism.instances]
    for branch in result:
        branch.explore(rounds)
    return result


def compare(limbs: Sequence[Branch], joints: Array, solved: Array) -> tuple[Array, Array]:
    """Masks of the nodes that the branches of all limbs reach (n,), and of those with right joints (n, limb, joint).

    solved (n,): where there are joints at all. Joints other than those found here are right where paths lead back from
    them.
    """
    apart = []
    for k, branch in enumerate(limbs):
        own = joints[:, k, : branch.paths.count]
        gap = branch.paths.apart(own, branch.joints[1:])
        for node in np.flatnonzero(solved & ~(gap < 1e-6)):
            if branch.holds(node + 1, own[node]):
                branch.joints[node + 1], gap[node] = own[node], 0.0
        apart.append(gap)
    reached = np.all([~np.isnan(branch.joints[1:, 0]) for branch in limbs], axis=0)
    return reached, reached & solved & (np.max(apart, axis=0) < 1e-6)


def limb_size(limb: Any) -> float:
    """A length of a limb [m]: how far its frames are from each other, together; 1 where all are at one point."""
    frames = [link.placement for link in limb.links]
    frames += [frame for cut in (*limb.tips, *limb.loops) for frame in (cut.frame_a, cut.frame_b)]
    total = sum(float(np.linalg.norm(np.array(frame.position, dtype=float))) for frame in frames)
    return total if total > 0 else 1.0
