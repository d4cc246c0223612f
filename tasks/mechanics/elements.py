"""Forces of springs and of applied wrenches on bodies and along joints, for one sample.

Springs and applied wrenches act on a body, in the axes of the base; springs along joints are generalised forces of the
tree.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

import numpy as np

from robots.data_classes import dataclass
from robots.model import Platform
from robots.springs import AppliedWrench, Bushing, ForceElement, JointSpring, Spring, at_state, laws_of, state_with
from robots.types import BASE
from tasks.kernels.expression import Array, Mask, Scalar, Scalars
from tasks.mathematics.algebra import array, cross, dot, every, is_zero, reciprocal, sqrt, total, where
from tasks.mechanics.bushings import BushingEnd, bushing_wrench
from tasks.mechanics.kinematics import Pose, SpatialMotion


@dataclass(frozen=True)
class BodyState:
    """Rotation (3, 3) from a body's axes to those of the base, position of its origin, and its velocities (3,).

    `velocity` gives (angular velocity, velocity of the origin); it is called only for elements with damping. `others`
    gives the state of another link of the same limb; `joint` gives the state of a joint of this limb by name, `q_JOINT`
    or `qd_JOINT`.
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
    """Return (moment about the body's origin, force) of all elements on a body, axes of the base.

    If one component is NaN, all are NaN, so that a load that only bearings feel also affects the status of its sample.
    """
    moment, force = np.zeros(3), np.zeros(3)
    for element in elements:
        arm = state.rotation @ array(element.point)
        if isinstance(element, Bushing):
            turn, push = bushing_wrench(element, *_bushing_ends(element, state))
            moment = moment + turn
        elif isinstance(element, Spring):
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
    """Return the force of a spring on its body.

    The force is the sum of a linear spring without rest length and a remaining part along the spring. So springs
    without this part have no singularity where both points coincide; a damper then acts against the whole relative
    velocity, as the points met along it. Other springs have no direction there: their force is NaN.
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


def _bushing_ends(bushing: Bushing, state: BodyState) -> tuple[BushingEnd, BushingEnd]:
    """Return the end of a bushing on its body, and the other one."""
    near = _end(state, array(bushing.point), array(bushing.axes))
    place, axes = array(bushing.anchor), array(bushing.anchor_axes)
    if bushing.other == BASE:
        return near, BushingEnd(axes, place, np.zeros(3), lambda: (np.zeros(3), np.zeros(3)))
    assert state.others is not None, "only links have bushings to others"
    return near, _end(state.others(bushing.other), place, axes)


def _end(state: BodyState, point: Array, axes: Array) -> BushingEnd:
    arm = state.rotation @ point
    return BushingEnd(state.rotation @ axes, state.position + arm, arm, state.velocity)


def _one_sided(spring: Spring, pull: Scalar, length: Scalar) -> Scalar:
    """Return the pull, per length, of a spring that only pulls beyond its rest length, or only pushes short of it."""
    if spring.acts == "pull":
        return where(every([length > spring.rest_length, pull > 0.0]), pull, 0.0)
    return where(every([length < spring.rest_length, pull < 0.0]), pull, 0.0)


def _vanishes(value: Scalar) -> bool:
    """Return whether a number, or a symbol, is zero."""
    return abs(value) <= 0.0


def applied_wrench(platform: Platform, pose: Pose, motion: SpatialMotion) -> list[Scalar]:
    """Return (moment, force) of external loads on the platform, at its reference point in world axes."""
    state = BodyState(pose.rotation, pose.position, lambda: (motion.omega, motion.v))
    moment, force = elements_wrench(platform.forces, state)
    return [*moment, *force]


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
