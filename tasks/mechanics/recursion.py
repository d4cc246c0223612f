"""Recursive Newton-Euler inverse dynamics of a limb's spanning tree, for one sample, and wrenches on bodies.

The recursion is in body axes. Inertial moments use the second-moment form: with S = [alpha]x + [omega]x[omega]x, a
body's force is m (a + S c) and its moment the skew part of S J, where J is the second moment of mass about the body's
origin; so inertia costs as many products as it has elements. Source: Featherstone, Rigid Body Dynamics Algorithms,
section 5.3, for the recursion.

All positions and motions are relative to the base of the robot. On a moving base, bodies feel besides gravity its
acceleration and rotation (`Field`); `gravity` is then less the acceleration of the base's origin. The platform has its
motion from the inputs of a kernel, and the wrench that the motion takes. Springs and applied forces are wrenches on a
body in the axes of the base; springs along joints are generalised forces of the tree.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robots.model import Inertia, Link, Platform
from robots.springs import AppliedWrench, ForceElement, JointSpring, Spring, at_state, laws_of, state_with
from robots.types import BASE, TRANSLATION, TWIST
from tasks.kernels.expression import Array, Mask, Scalar, Scalars
from tasks.mathematics.algebra import array, cross, dot, every, is_zero, reciprocal, sqrt, total, where
from tasks.mathematics.rotations import roll_pitch_yaw
from tasks.mechanics.kinematics import JointState, Pose, SpatialMotion, along, joint_rotation, sliding, way

STILL = 3
"""Length of the `gravity` input of kernels of a robot whose base stands still."""

MOVING = 9
"""The same of one whose base moves: gravity less acceleration, angular velocity, angular acceleration; base axes."""


@dataclass(frozen=True)
class Field:
    """Gravity less the acceleration of the base's origin, the base's angular velocity and acceleration, (3,) each."""

    gravity: Array
    omega: Array
    alpha: Array

    @classmethod
    def of(cls, values: Array | Field) -> Field:
        """From the `gravity` input of a kernel, or a vector of gravity."""
        if isinstance(values, Field):
            return values
        numbers, zero = array(values), np.zeros(3)
        return cls(numbers, zero, zero) if len(numbers) == STILL else cls(numbers[:3], numbers[3:6], numbers[6:])

    def seen_from(self, pose: Pose) -> Field:
        """Return the same for a frame that stands on the base, in its axes."""
        swirl = cross(self.alpha, pose.position) + cross(self.omega, cross(self.omega, pose.position))
        inward = pose.rotation.T
        return Field(inward @ (self.gravity - swirl), inward @ self.omega, inward @ self.alpha)

    def at(self, position: Array, motion: SpatialMotion) -> SpatialMotion:
        """Absolute motion, but for the velocity, of a body that moves so relative to the base; less gravity."""
        omega, alpha = self.omega, self.alpha
        swirl = cross(alpha, position) + cross(omega, cross(omega, position)) + cross(omega, motion.v) * 2.0
        return SpatialMotion(
            motion.omega + omega,
            motion.v,
            motion.alpha + alpha + cross(omega, motion.omega),
            motion.a - self.gravity + swirl,
        )


@dataclass(frozen=True)
class Massing:
    """Mass, first moment (3,) and second moment (3, 3) of mass about a body's origin."""

    mass: Scalar
    first: Array
    second: Array

    @classmethod
    def of(cls, inertia: Inertia) -> Massing:
        """From mass, centre, and inertia tensor about the centre."""
        centre, tensor = array(inertia.centre), array(inertia.tensor)
        half_trace = (tensor[0, 0] + tensor[1, 1] + tensor[2, 2]) * 0.5
        second = array(np.eye(3)) * half_trace - tensor + np.outer(centre, centre) * inertia.mass
        return cls(inertia.mass, centre * inertia.mass, second)

    def tensor(self) -> np.ndarray:
        """Return the inertia tensor (3, 3) about the origin."""
        return array(np.eye(3)) * np.trace(self.second) - self.second

    def spatial(self) -> np.ndarray:
        """Return the spatial inertia (6, 6) about the origin: from (angular, linear) to (moment, force)."""
        tilde = skew(self.first)
        return array(np.block([[self.tensor(), tilde], [-tilde, array(np.eye(3)) * self.mass]]))

    def wrench(self, spin: Array, acceleration: Array) -> tuple[np.ndarray, np.ndarray]:
        """Moment about the origin and force that give this motion; `spin` is S, `acceleration` that of the origin."""
        product = spin @ self.second
        apart = array([product[2, 1] - product[1, 2], product[0, 2] - product[2, 0], product[1, 0] - product[0, 1]])
        return apart + cross(self.first, acceleration), acceleration * self.mass + spin @ self.first


def skew(v: Array) -> np.ndarray:
    """Return the matrix (3, 3) whose product with a vector is the vector product with it."""
    return array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def spin_matrix(omega: Array, alpha: Array) -> np.ndarray:
    """S = [alpha]x + [omega]x [omega]x: accelerations relative to the origin are S times the position."""
    x, y, z = omega
    xx, yy, zz = x * x, y * y, z * z
    return array(
        [
            [-(yy + zz), x * y - alpha[2], x * z + alpha[1]],
            [x * y + alpha[2], -(xx + zz), y * z - alpha[0]],
            [x * z - alpha[1], y * z + alpha[0], -(xx + yy)],
        ]
    )


@dataclass(frozen=True)
class BodyMotion:
    """Motion of a body in its own axes; `spin` is S, `acceleration` that of the origin less gravity."""

    omega: Array
    alpha: Array
    spin: Array
    acceleration: Array


@dataclass(frozen=True)
class Wheel:
    """Rotor on a link: its angular momentum relative to the link and the derivative there, (3,) in the link's axes."""

    carrier: int
    momentum: Array
    change: Array

    def moment(self, carrier: BodyMotion) -> np.ndarray:
        """On the carrier, which it takes to let the wheel speed up and to turn its momentum along."""
        return self.change + cross(carrier.omega, self.momentum)


def inverse_dynamics(
    links: Sequence[Link],
    states: Sequence[JointState],
    rates: Scalars,
    accelerations: Scalars,
    gravity: Array | Field,
) -> list[Scalar]:
    """Generalised forces of the tree joints [N m or N], armatures included; `gravity` in the axes of the base."""
    own = body_wrenches(links, body_motions(links, states, rates, accelerations, Field.of(gravity)))
    return joint_forces(links, states, accelerations, own)


def joint_forces(
    links: Sequence[Link],
    states: Sequence[JointState],
    accelerations: Scalars,
    own: Sequence[tuple[np.ndarray, np.ndarray]],
) -> list[Scalar]:
    """Return the same from the wrenches that the motions of bodies take."""
    wrenches = joint_wrenches(links, states, own)
    return [along(link, states[i], *wrenches[i]) + link.armature * accelerations[i] for i, link in enumerate(links)]


def body_motions(
    links: Sequence[Link], states: Sequence[JointState], rates: Scalars, accelerations: Scalars, field: Field
) -> dict[int, BodyMotion]:
    """Outward: the motion of the base and of each body, in its own axes."""
    base = BodyMotion(field.omega, field.alpha, spin_matrix(field.omega, field.alpha), -field.gravity)
    moving: dict[int, BodyMotion] = {BASE: base}
    for i, link in enumerate(links):
        parent, axis = moving[link.parent], array(link.axis)
        inward = array(link.placement.rotation)
        turn = joint_rotation(link, states[i])
        at = array(link.placement.position) + (inward @ axis) * way(link, states[i])
        omega, alpha, acceleration = (
            turn.T @ (inward.T @ x) for x in (parent.omega, parent.alpha, parent.acceleration + parent.spin @ at)
        )
        if link.joint_kind.slides:
            speed, change = sliding(link, states[i], rates[i], accelerations[i])
            acceleration = acceleration + axis * change + cross(omega, axis * speed) * 2.0
        if link.joint_kind.turns:
            alpha = alpha + axis * accelerations[i] + cross(omega, axis * rates[i])
            omega = omega + axis * rates[i]
        moving[i] = BodyMotion(omega, alpha, spin_matrix(omega, alpha), acceleration)
    return moving


def body_wrenches(
    links: Sequence[Link], moving: Mapping[int, BodyMotion], wheels: Sequence[Wheel] = ()
) -> list[tuple[np.ndarray, np.ndarray]]:
    """(moment, force) at the origin of each body that its motion takes, and that of the `wheels` that it carries."""
    result = [Massing.of(link.inertia).wrench(moving[i].spin, moving[i].acceleration) for i, link in enumerate(links)]
    for wheel in wheels:
        if wheel.carrier != BASE:
            moment, force = result[wheel.carrier]
            result[wheel.carrier] = moment + wheel.moment(moving[wheel.carrier]), force
    return result


def joint_wrenches(
    links: Sequence[Link], states: Sequence[JointState], own: Sequence[tuple[np.ndarray, np.ndarray]]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Inward: (moment, force) that each joint carries, at the link's origin in its axes."""
    total = list(own)
    for i in reversed(range(len(links))):
        link = links[i]
        if link.parent == BASE:
            continue
        inward = array(link.placement.rotation)
        turn = joint_rotation(link, states[i])
        at = array(link.placement.position) + (inward @ array(link.axis)) * way(link, states[i])
        moment, force = (inward @ (turn @ x) for x in total[i])
        before = total[link.parent]
        total[link.parent] = (before[0] + moment + cross(at, force), before[1] + force)
    return total


@dataclass(frozen=True)
class BodyState:
    """Rotation (3, 3) from a body's axes to those of the base, position of its origin, and its velocities (3,).

    `velocity` gives (angular velocity, velocity of the origin); it is called for elements that damp alone. `others`
    gives the state of another link of the same limb, `joint` that of a joint of it by name, `q_JOINT` or `qd_JOINT`.
    """

    rotation: Array
    position: Array
    velocity: Callable[[], tuple[Array, Array]]
    others: Callable[[int], BodyState] | None = None
    joint: Callable[[str], Scalar] | None = None

    def of_joint(self, name: str) -> Scalar:
        """Return the position or rate of a joint by name."""
        assert self.joint is not None, "loads on a platform know no joints"
        return self.joint(name)


def elements_wrench(elements: Iterable[ForceElement], state: BodyState) -> tuple[Array, Array]:
    """(moment about the body's origin, force) of all elements on a body, axes of the base.

    Where one component is no number none is: a load that only bearings feel is told by the status of its sample too.
    """
    moment, force = np.zeros(3), np.zeros(3)
    for element in elements:
        arm = state.rotation @ array(element.point)
        if isinstance(element, Spring):
            push = _pull(element, state, arm)
        else:
            acting = at_state(element, state.of_joint)
            push = _components(acting, state, acting.force)
            moment = moment + _components(acting, state, acting.moment)
        moment, force = moment + cross(arm, push), force + push
    finite = total([*moment, *force]) <= sys.float_info.max
    numbers = array([where(finite, x, np.nan) for x in (*moment, *force)])
    return numbers[:3], numbers[3:]


def _components(element: AppliedWrench, state: BodyState, vector: tuple[Scalar, Scalar, Scalar]) -> Array:
    """Return a vector of an element in the axes of the base."""
    return state.rotation @ array(vector) if element.turning else array(vector)


def _pull(spring: Spring, state: BodyState, arm: Array) -> Array:
    """Force of a spring on its body.

    Written as a linear spring of no rest length and what is left, so that such springs have no singularity where both
    points coincide; a damper holds against all of their velocity there, as they came along it. Others have no direction
    there: the force is not a number.
    """
    reach, anchor_velocity = _anchor(spring, state)
    gap = state.position + arm - reach
    if laws_of(spring):
        spring = at_state(spring, _spring_state(gap, arm, state, anchor_velocity))
    direct: Scalar = spring.preload
    if not is_zero(spring.rest_length):
        direct = direct - spring.stiffness * spring.rest_length
    if is_zero(direct) and not spring.damped and spring.acts == "both":
        return -gap * spring.stiffness
    length = sqrt(dot(gap, gap))
    shorter = reciprocal(length)
    meeting: Mask = False
    if spring.damped:
        moving = _relative_velocity(arm, state, anchor_velocity)
        meeting = every([length <= 0.0, _vanishes(direct), spring.acts == "both"])
        opening = dot(gap, moving) * shorter
        direct = direct + where(_vanishes(spring.damping), 0.0, spring.damping * opening)
    pull = where(_vanishes(direct), 0.0, direct * shorter) + spring.stiffness
    force = gap * -(pull if spring.acts == "both" else _one_sided(spring, pull, length))
    if meeting is False:
        return force
    return array([where(meeting, -spring.damping * v, f) for v, f in zip(moving, force, strict=True)])


def _relative_velocity(arm: Array, state: BodyState, anchor_velocity: Callable[[], Array] | None) -> Array:
    """Return the velocity of the end of a spring on its body less that of its other end."""
    omega, velocity = state.velocity()
    moving = velocity + cross(omega, arm)
    return moving if anchor_velocity is None else moving - anchor_velocity()


def _spring_state(
    gap: Array, arm: Array, state: BodyState, anchor_velocity: Callable[[], Array] | None
) -> Callable[[str], Scalar]:
    """Return the values that a law of a spring knows, by name: its length, the rate of that, and joints."""

    def value(name: str) -> Scalar:
        if name == "s":
            return sqrt(dot(gap, gap))
        if name == "sd":
            return dot(gap, _relative_velocity(arm, state, anchor_velocity)) * reciprocal(sqrt(dot(gap, gap)))
        return state.of_joint(name)

    return value


def _anchor(spring: Spring, state: BodyState) -> tuple[Array, Callable[[], Array] | None]:
    """Return position and velocity of the other end of a spring, axes of the base.

    The velocity is None where this end is on the base.
    """
    if spring.other == BASE:
        return array(spring.anchor), None
    assert state.others is not None, "only links have springs to others"
    anchor_body = state.others(spring.other)
    arm = anchor_body.rotation @ array(spring.anchor)

    def velocity() -> Array:
        omega, of_origin = anchor_body.velocity()
        return of_origin + cross(omega, arm)

    return anchor_body.position + arm, velocity


def _one_sided(spring: Spring, pull: Scalar, length: Scalar) -> Scalar:
    """Return the pull, per length, of a spring that only pulls beyond its rest length, or only pushes short of it."""
    if spring.acts == "pull":
        return where(every([length > spring.rest_length, pull > 0.0]), pull, 0.0)
    return where(every([length < spring.rest_length, pull < 0.0]), pull, 0.0)


def _vanishes(value: Scalar) -> bool:
    """Return whether a number, or a symbol, is zero."""
    return abs(value) <= 0.0


def motion_size(mobility: Sequence[str]) -> int:
    """Return the length of the motion vector of one sample: 9 for translation only, 24 with rotation; see `unpack`."""
    return 9 if set(mobility) <= set(TRANSLATION) else 24


def unpack(motion: Array, platform: Platform) -> tuple[Pose, SpatialMotion]:
    """Pose and motion of the platform from a motion vector.

    Translation only: position, velocity, acceleration (3 each). Otherwise position (3), rotation (9, row by row), twist
    (6), its derivative (6); all in world axes, twists (angular, linear) of the platform's reference point.
    """
    m, zero = array(motion), np.zeros(3)
    if motion_size(platform.mobility) == 9:
        return Pose(array(platform.home.rotation), m[0:3]), SpatialMotion(zero, m[3:6], zero, m[6:9])
    return Pose(m[3:12].reshape(3, 3), m[0:3]), SpatialMotion(m[12:15], m[15:18], m[18:21], m[21:24])


def still(platform: Platform, turn: Array, shift: Array) -> np.ndarray:
    """The motion vector at rest, away from the reference pose by roll, pitch and yaw [rad] and by a shift [m]."""
    home = platform.home
    position = np.array(home.position, dtype=float) + shift
    if motion_size(platform.mobility) == 9:
        return np.concatenate([position, np.zeros(6)])
    rotation = roll_pitch_yaw(turn).rotation @ np.array(home.rotation, dtype=float)
    return np.concatenate([position, rotation.ravel(), np.zeros(12)])


def platform_wrench(platform: Platform, pose: Pose, motion: SpatialMotion, gravity: Array) -> list[Scalar]:
    """(moment, force) at the reference point that the motion takes, less the weight, in world axes. Eq. (104)."""
    inward, moving = pose.rotation.T, Field.of(gravity).at(pose.position, motion)
    spin = spin_matrix(inward @ moving.omega, inward @ moving.alpha)
    moment, force = Massing.of(platform.inertia).wrench(spin, inward @ moving.a)
    return [*(pose.rotation @ moment), *(pose.rotation @ force)]


def applied_wrench(platform: Platform, pose: Pose, motion: SpatialMotion) -> list[Scalar]:
    """(moment, force) of external loads on the platform, at its reference point in world axes."""
    state = BodyState(pose.rotation, pose.position, lambda: (motion.omega, motion.v))
    moment, force = elements_wrench(platform.forces, state)
    return [*moment, *force]


def free_twist(platform: Platform, motion: SpatialMotion) -> np.ndarray:
    """Return the free components of the platform's twist, V_t of Eq. (82)."""
    return _free(platform, (*motion.omega, *motion.v))


def free_acceleration(platform: Platform, motion: SpatialMotion) -> np.ndarray:
    """Return the same of its rate, V_t'."""
    return _free(platform, (*motion.alpha, *motion.a))


def _free(platform: Platform, twist: Sequence[Scalar]) -> np.ndarray:
    return array([twist[TWIST.index(name)] for name in platform.mobility])


def held_directions(mobility: Sequence[str]) -> tuple[str, ...]:
    """Return the components of the platform's twist that are not free; none of a chain, which has no platform."""
    return tuple(name for name in TWIST if name not in mobility) if mobility else ()


def joint_spring_forces(
    springs: Iterable[JointSpring],
    position: Callable[[int], Scalar],
    rates: Scalars,
    of_joint: Callable[[str], Scalar],
) -> Array:
    """Compute the forces of springs along the joints (joint,).

    Inputs are positions of joints by index, rates of all joints, and both by name for laws.
    """
    result = np.array(np.zeros(len(rates)), dtype=object)
    for law in springs:
        at: Scalar = sum((position(joint) * ratio for joint, ratio in law.ratios), start=0.0)
        rate: Scalar = sum((rates[joint] * ratio for joint, ratio in law.ratios), start=0.0)
        coordinate = {"q": at, "qd": rate}
        spring = at_state(law, state_with(coordinate, of_joint))
        pull = _joint_pull(spring, at - spring.rest_position, rate) - spring.force
        for joint, ratio in spring.ratios:
            result[joint] = result[joint] - pull * ratio
    return array(result)


def _joint_pull(spring: JointSpring, stretch: Scalar, rate: Scalar) -> Scalar:
    """Compute the force by which a spring pulls its coordinate back; zero within its backlash."""
    if is_zero(spring.backlash):
        return stretch * spring.stiffness + rate * spring.damping
    half = spring.backlash * 0.5
    beyond = where(stretch > half, stretch - half, where(stretch < -half, stretch + half, 0.0))
    return beyond * spring.stiffness + where(abs(stretch) > half, rate, 0.0) * spring.damping
