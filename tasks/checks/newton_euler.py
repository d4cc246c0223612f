"""Matrices of the Newton-Euler system of a whole robot for a batch of states, in plain NumPy.

The pattern of blocks is the same for all states of a robot, so blocks are computed for the whole batch and cut into one
sparse matrix per state at the end. `tasks.checks.newton_euler_system` solves the system.

Applied wrenches and springs are written out once more here, so that the check shares nothing with
`tasks.mechanics.recursion`, which kernels take.

A body without mass that joins two others only passes on its wrench, so its six equations are left out and its two
joints make one composite joint: a universal joint is two revolute joints and a cross, a ball screw a rotation and a
feed. A joint can transmit the wrenches that do no work on its passive freedoms; a driven direction is no freedom here,
the drive holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from robots.model import PLATFORM, Closure, Instance, Limb, Link, Robot
from robots.springs import Bushing, ForceElement, Spring, at_state, state_with
from robots.types import BASE, Matrix, Vector
from tasks.dynamics.body_motions import BodyMotions, inertial_wrench, platform_motion
from tasks.dynamics.inverse import RobotMotion
from tasks.kernels.expression import Array
from tasks.mechanics.kinematics import lead_slope

JointStates = Callable[[str], np.ndarray]
"""Positions `q_JOINT` and rates `qd_JOINT` (n,) of the joints of a limb, by name."""


def applied_wrench(
    elements: Sequence[ForceElement], body: BodyMotions, links: Mapping[int, BodyMotions], joints: JointStates
) -> np.ndarray:
    """Return (moment about its origin, force) (n, 6) of elements on a body, in world axes, which are the base's.

    `links` are those of its limb, which springs may lead to, `joints` the state of its joints, which laws may name.
    """
    result = np.zeros((len(body.position), 6))
    for element in elements:
        arm = body.turned(element.point)
        moment = np.zeros(3)
        if isinstance(element, Bushing):
            moment, force = _bushing(element, body, None if element.other == BASE else links[element.other])
        elif isinstance(element, Spring):
            force = _pull(element, body, arm, None if element.other == BASE else links[element.other], joints)
        else:
            acting = at_state(element, joints)
            parts = (np.broadcast_arrays(*part, result[:, 0])[:3] for part in (acting.moment, acting.force))
            moment, force = (np.stack(part, axis=-1).astype(float) for part in parts)
            if acting.turning:
                moment, force = ((body.rotation @ part[..., None])[..., 0] for part in (moment, force))
        result[:, :3] += moment + np.cross(arm, force)
        result[:, 3:] += force
    return result


def _pull(
    spring: Spring, body: BodyMotions, arm: np.ndarray, other: BodyMotions | None, joints: JointStates
) -> np.ndarray:
    """Return the force (n, 3) of a spring on its body, towards its anchor on another one, or on the base."""
    reach, velocity = np.asarray(spring.anchor, dtype=float), body.velocity_of(arm)
    if other is not None:
        far = other.turned(spring.anchor)
        reach, velocity = other.position + far, velocity - other.velocity_of(far)
    gap = reach - body.position - arm
    length = np.linalg.norm(gap, axis=-1)
    with np.errstate(invalid="ignore"):
        opening = -(gap * velocity).sum(axis=-1) / length
    lengths = {"s": length, "sd": opening}
    spring = at_state(spring, state_with(lengths, joints))
    if spring.acts == "both" and not np.any([np.any(x) for x in (spring.rest_length, spring.preload, spring.damping)]):
        return np.asarray(gap * _column(spring.stiffness))  # where both points coincide, too
    length, opening = length[:, None], opening[:, None]
    stretch = length - _column(spring.rest_length)
    direct = _column(spring.preload) - _column(spring.stiffness) * _column(spring.rest_length)
    tension = _column(spring.preload) + _column(spring.stiffness) * stretch + _column(spring.damping) * opening
    if spring.acts != "both":
        sign = 1.0 if spring.acts == "pull" else -1.0
        tension = np.where(sign * stretch > 0.0, sign * np.maximum(sign * tension, 0.0), 0.0)
    with np.errstate(invalid="ignore"):
        pulls = np.asarray(gap / length * tension)
    meeting = (length == 0.0) & (spring.acts == "both") & (direct == 0.0)
    return np.where(meeting, -velocity * _column(spring.damping), pulls)


def _bushing(bushing: Bushing, body: BodyMotions, other: BodyMotions | None) -> tuple[np.ndarray, np.ndarray]:
    """Return (moment about its frame, force) (n, 3) of a bushing on its body: slopes of its energy by SciPy."""
    near = _frame(body, bushing.point, bushing.axes)
    far = _frame(other, bushing.anchor, bushing.anchor_axes)
    first, second = (far, near) if bushing.reacts else (near, far)
    gap, axes = first.place - second.place, np.swapaxes(second.axes, 1, 2)
    rate = first.velocity - second.velocity - np.cross(second.omega, gap)
    stretch, speed, omega = (_applied(axes, x) for x in (gap, rate, first.omega - second.omega))
    theta = Rotation.from_matrix(axes @ first.axes).as_rotvec()
    tangent = _inverse_jacobian(theta)
    force = -_applied(second.axes, stretch * _triple(bushing.stiffness) + speed * _triple(bushing.damping))
    turning = theta * _triple(bushing.turn_stiffness) + _applied(tangent, omega) * _triple(bushing.turn_damping)
    moment = -_applied(second.axes @ np.swapaxes(tangent, 1, 2), turning)
    return (-moment - np.cross(gap, force), -force) if bushing.reacts else (moment, force)


class _Frame(NamedTuple):
    """Axes, place, angular velocity and velocity of the end of a bushing, world axes."""

    axes: np.ndarray
    place: np.ndarray
    omega: np.ndarray
    velocity: np.ndarray


def _frame(body: BodyMotions | None, point: Vector, axes: Matrix) -> _Frame:
    columns = np.stack([_triple(row) for row in axes], axis=1)
    if body is None:
        return _Frame(columns, _triple(point), np.zeros((1, 3)), np.zeros((1, 3)))
    arm = body.turned(point)
    return _Frame(body.rotation @ columns, body.position + arm, body.omega, body.velocity_of(arm))


def _triple(vector: Vector) -> np.ndarray:
    """Return a vector of numbers, or of numbers (n,), as rows (n or 1, 3)."""
    return np.concatenate(np.broadcast_arrays(*(_column(x) for x in vector)), axis=1)


def _inverse_jacobian(theta: np.ndarray) -> np.ndarray:
    """Return the maps (n, 3, 3) from angular velocity to the rate of rotation vectors (n, 3)."""
    angle = np.linalg.norm(theta, axis=1)[:, None, None]
    skew = np.cross(theta[:, None, :], np.eye(3)[None]).swapaxes(1, 2)
    half = 0.5 * np.where(angle > 0.0, angle, 1.0)
    factor = np.where(angle > 1e-4, (1.0 - half / np.tan(half)) / (4.0 * half * half), 1.0 / 12.0)
    return np.eye(3) - 0.5 * skew + factor * skew @ skew


def _column(number: ArrayLike) -> np.ndarray:
    """Return a number, or numbers (n,), as a column."""
    return np.asarray(number, dtype=float).reshape(-1, 1)


def joint_states(limb: Limb, position: np.ndarray, rate: np.ndarray) -> JointStates:
    """Return the states (n,) of the joints of a limb by name, from positions and rates (n, joint)."""

    def value(name: str) -> np.ndarray:
        kind, _, joint = name.partition("_")
        return np.asarray((position if kind == "q" else rate)[:, limb.index(joint)])

    return value


def spring_forces(limb: Limb, position: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Compute spring forces along joints (n, joint), from positions and rates (n, joint) of the joints of a limb."""
    of_joints = joint_states(limb, position, rate)
    result = np.zeros_like(position)
    for law in limb.springs:
        joints = [joint for joint, _ in law.ratios]
        ratios = np.array([float(ratio) for _, ratio in law.ratios])
        coordinate = {"q": position[:, joints] @ ratios, "qd": rate[:, joints] @ ratios}
        spring = at_state(law, state_with(coordinate, of_joints))
        stretch = coordinate["q"] - spring.rest_position
        half = 0.5 * spring.backlash
        beyond = np.sign(stretch) * np.maximum(np.abs(stretch) - half, 0.0)
        touching = (np.abs(stretch) > half) | (half == 0.0)
        force = spring.force - spring.stiffness * beyond - spring.damping * touching * coordinate["qd"]
        for joint, ratio in zip(joints, ratios, strict=True):
            result[:, joint] += force * ratio
    return result


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


Moments = Literal["body", "base"]


class MatrixBlock(NamedTuple):
    """Numbers (n, rows, columns) that stand at a row and a column of a matrix."""

    row: int
    column: int
    values: np.ndarray


@dataclass(frozen=True)
class BlockMatrix:
    """A sparse matrix per state: positions of all numbers, and the numbers (n, count)."""

    shape: tuple[int, int]
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, shape: tuple[int, int], blocks: Sequence[MatrixBlock]) -> BlockMatrix:
        """Return the matrices that hold these blocks."""
        grids = [np.indices(block.values.shape[1:]) for block in blocks]
        rows = np.concatenate([(g[0] + b.row).ravel() for g, b in zip(grids, blocks, strict=True)])
        columns = np.concatenate([(g[1] + b.column).ravel() for g, b in zip(grids, blocks, strict=True)])
        values = np.concatenate([block.values.reshape(len(block.values), -1) for block in blocks], axis=1)
        return cls(shape, rows, columns, values)

    def at(self, sample: int) -> Any:
        """Return the matrix of one state, in compressed rows, without zeros."""
        result = scipy.sparse.csr_array((self.values[sample], (self.rows, self.columns)), shape=self.shape)
        result.eliminate_zeros()
        return result


class MountedJoint(NamedTuple):
    """A composite joint of one limb of the robot: its chain, all joints of that limb, and the wrench that it transmits.

    names: its joints, as instance.joint; columns: its unknowns in the system.
    """

    names: tuple[str, ...]
    limb: int
    chain: JointSeries
    joints: Sequence[MovingJoint]
    passes: Transmission
    columns: slice


class SystemAssembly:
    """Matrices and right-hand sides of the equations of a robot for n states.

    motion: one batch dim (n); gravity (3,); load (n, 6) on the platform at its origin, or None. Moments are taken about
    each body's origin, or about that of the base.
    """

    def __init__(
        self, robot: Robot, motion: RobotMotion, gravity: ArrayLike, load: Array | None, moments: Moments
    ) -> None:
        self.mechanism, self.motion, self.moments = robot.mechanism, motion, moments
        self.limbs = [self.mechanism.limbs[each.limb] for each in self.mechanism.instances]
        self.owners = [(k, link) for k, limb in enumerate(self.limbs) for link in bodies(limb)]
        self.ends = [] if self.mechanism.is_chain else [(0, PLATFORM)]
        self.joints = list(self._joints())
        self.columns = self.joints[-1].columns.stop
        self.right = self._right(gravity, load)
        equations = list(self._equations())
        for rows, ratios in self._followed():
            equations += [block._replace(row=self.right.shape[1]) for block in rows]
            self.right = np.concatenate([self.right, ratios[:, None]], axis=1)
        self.matrix = BlockMatrix.of((self.right.shape[1], self.columns), equations)
        self.carried, self.carried_fixed = self._carried()
        self.drives, self.drives_fixed = self._drives()

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies with equations, in their order."""
        instances = self.mechanism.instances
        links = (f"{instances[k].name}.{self.limbs[k].links[link].body}" for k, link in self.owners)
        return (*links, *("platform" for _ in self.ends))

    def _joints(self) -> Iterator[MountedJoint]:
        start, platform, moved = 0, self.motion.platform, self.motion.joints
        for k, (limb, instance) in enumerate(zip(self.limbs, self.mechanism.instances, strict=True)):
            positions = moved.position[:, k], moved.acceleration[:, k]
            sprung = spring_forces(limb, positions[0], moved.velocity[:, k]) if limb.springs else None
            joints = limb_joints(limb, instance, self.motion.limbs[k], platform, *positions, sprung)
            for chain in chains(limb):
                passes = transmission(chain, joints)
                stop = start + passes.basis.shape[-1]
                names = tuple(f"{instance.name}.{limb.joints[part.joint]}" for part in chain.parts)
                yield MountedJoint(names, k, chain, joints, passes, slice(start, stop))
                start = stop

    def _body(self, limb: int, link: int) -> tuple[int, BodyMotions]:
        """Return the first row and motion of a body."""
        if link == PLATFORM:
            return 6 * len(self.owners), self.motion.platform
        return 6 * self.owners.index((limb, link)), self.motion.limbs[limb][link]

    def _about(self, body: BodyMotions) -> np.ndarray:
        return body.position if self.moments == "body" else np.zeros_like(body.position)

    def _ends(self, joint: MountedJoint) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the first row of each body at a joint, and the map (n, 6, 6) from the joint's wrench to the body's."""
        for link, sign in ((joint.chain.child, 1.0), (joint.chain.parent, -1.0)):
            if link != BASE:
                row, body = self._body(joint.limb, link)
                yield row, sign * shift(joint.passes.point - self._about(body))

    def _equations(self) -> Iterator[MatrixBlock]:
        for joint in self.joints:
            for row, acting in self._ends(joint):
                yield MatrixBlock(row, joint.columns.start, acting @ joint.passes.basis)

    def _along(self, limb: int, joint: int) -> tuple[MatrixBlock, np.ndarray]:
        """Return the force along a held joint of the tree: linear in the unknowns, in row 0; and its constant part."""
        each, part = next(
            (each, part)
            for each in self.joints
            if each.limb == limb
            for part in each.chain.parts
            if part.joint == joint
        )
        (screw,) = each.joints[joint].screws
        along = part.sign * screw.twist_at(each.passes.point)[:, None, :]
        fixed = screw.inertial + _applied(along, each.passes.fixed)[:, 0]
        return MatrixBlock(0, each.columns.start, along @ each.passes.basis), fixed

    def _followers(self, limb: int, joint: int) -> Iterator[tuple[MatrixBlock, np.ndarray]]:
        """Yield the reactions of joints that follow a joint: their forces times their ratios."""
        for entry in self.limbs[limb].couplings:
            if self.limbs[limb].index(entry.of) == joint:
                ratio = float(entry.ratio)
                block, fixed = self._along(limb, self.limbs[limb].index(entry.joint))
                yield block._replace(values=ratio * block.values), ratio * fixed

    def _followed(self) -> Iterator[tuple[list[MatrixBlock], np.ndarray]]:
        """Yield an equation for each joint that others follow and nothing drives: their forces and its own balance."""
        for k, limb in enumerate(self.limbs):
            for name in dict.fromkeys(entry.of for entry in limb.couplings if entry.of not in limb.actuated):
                terms = [self._along(k, limb.index(name)), *self._followers(k, limb.index(name))]
                yield [block for block, _ in terms], -np.sum([fixed for _, fixed in terms], axis=0)

    def _right(self, gravity: ArrayLike, load: Array | None) -> np.ndarray:
        """Assemble the right-hand side (n, rows): inertial wrenches less known wrenches. Eqs. (18), (20)."""
        parts = []
        for limb, link in (*self.owners, *self.ends):
            _, body = self._body(limb, link)
            inertia = self.mechanism.platform.inertia if link == PLATFORM else self.limbs[limb].links[link].inertia
            wrench = inertial_wrench(inertia, body, gravity)
            if forces := self._forces(limb, link):
                links = {} if link == PLATFORM else dict(enumerate(self.motion.limbs[limb]))
                wrench = wrench - applied_wrench(forces, body, links, self._joint_states(limb))
            if link == PLATFORM and load is not None:
                wrench = wrench - load
            parts.append(_applied(shift(body.position - self._about(body)), wrench))
        right = np.concatenate(parts, axis=1)
        for joint in self.joints:
            for row, acting in self._ends(joint):
                right[:, row : row + 6] -= _applied(acting, joint.passes.fixed)
        return right

    def _joint_states(self, limb: int) -> JointStates:
        moved = self.motion.joints
        return joint_states(self.limbs[limb], moved.position[:, limb], moved.velocity[:, limb])

    def _forces(self, limb: int, link: int) -> list[ForceElement]:
        """Return the external force elements of a body."""
        if link == PLATFORM:
            return list(self.mechanism.platform.forces)
        return [element for element in self.limbs[limb].forces if element.body == link]

    def _carried(self) -> tuple[BlockMatrix, np.ndarray]:
        """Return the wrenches of all joints at their own origins, linear in the unknowns."""
        count = len(self.limbs[0].joints)
        fixed = np.zeros((len(self.right), len(self.limbs) * count * 6))
        blocks = []
        for each in self.joints:
            for part in each.chain.parts:
                row = 6 * (each.limb * count + part.joint)
                moved = part.sign * shift(each.passes.point - each.joints[part.joint].origin)
                blocks.append(MatrixBlock(row, each.columns.start, moved @ each.passes.basis))
                fixed[:, row : row + 6] = _applied(moved, each.passes.fixed)
        return BlockMatrix.of((fixed.shape[1], self.columns), blocks), fixed

    def _drives(self) -> tuple[BlockMatrix, np.ndarray]:
        """Return actuator forces, linear in the unknowns; the fixed part holds the inertia of the drives. Eq. (27)."""
        fixed = np.zeros((len(self.right), sum(len(limb.actuated) for limb in self.limbs)))
        blocks = []
        for each in self.joints:
            for part in each.chain.parts:
                for screw in each.joints[part.joint].screws:
                    if screw.driven and self._actuated(each.limb, part.joint):
                        row = self._actuator(each.limb, part.joint)
                        along = part.sign * screw.twist_at(each.passes.point)[:, None, :]
                        blocks.append(MatrixBlock(row, each.columns.start, along @ each.passes.basis))
                        fixed[:, row] = screw.inertial + _applied(along, each.passes.fixed)[:, 0]
                        for block, ratios in self._followers(each.limb, part.joint):
                            blocks.append(block._replace(row=row))
                            fixed[:, row] += ratios
        return BlockMatrix.of((fixed.shape[1], self.columns), blocks), fixed

    def _actuated(self, limb: int, joint: int) -> bool:
        return self.limbs[limb].joints[joint] in self.limbs[limb].actuated

    def _actuator(self, limb: int, joint: int) -> int:
        before = sum(len(each.actuated) for each in self.limbs[:limb])
        return before + self.limbs[limb].actuated.index(self.limbs[limb].joints[joint])


def _applied(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return (matrices @ vectors[..., None])[..., 0]


def shift(arm: np.ndarray) -> np.ndarray:
    """Return the map (n, 6, 6) from a wrench at a point to the same wrench at the origin, `arm` (n, 3) away from it."""
    result = np.zeros((len(arm), 6, 6))
    result[:, range(6), range(6)] = 1.0
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        result[:, i, 3 + j], result[:, j, 3 + i] = -arm[:, k], arm[:, k]
    return result
