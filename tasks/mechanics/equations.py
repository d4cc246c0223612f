"""Equations of motion of a robot in task space and in actuator coordinates, for one traced sample.

    M_t V' + C_t V + W_grav = J_IK^T u + W_EE        V: the free components of the platform's twist, world axes;
                                                        of a chain the rates of its independent joints

Hybrid-limb paper, Eqs. (107) to (120). C_t is built body by body from body-fixed Jacobians L and their derivatives,
with the momentum terms in skew form, so that M_t' - 2 C_t is skew-symmetric. Derivatives are exact: the traced values
differentiated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from robots.data_classes import dataclass, replace
from robots.model import Inertia, Limb, Platform
from robots.types import BASE
from tasks.kernels.expression import Array, Expression, Mask, Scalar
from tasks.kernels.tangent import tangent
from tasks.mathematics.algebra import array, cross, skew, where
from tasks.mathematics.solvers import Factors
from tasks.mathematics.systems import inverse
from tasks.mechanics import recursion
from tasks.mechanics.drives import Transmission
from tasks.mechanics.kinematics import JointState, Pose, SpatialMotion, joint_rotation, slope, way
from tasks.mechanics.limb_motion import Mounted, Solved, applied_wrenches, spring_forces, transmission, unit_motion
from tasks.mechanics.recursion import Massing

Seeds = Mapping[Expression, Scalar]


@dataclass(frozen=True)
class EquationShare:
    """Terms of a limb or of the platform: mass and Coriolis matrix, gravity; a limb's rows of J_IK and their rates."""

    mass: Array
    coriolis: Array
    gravity: Array
    jacobian: Array
    jacobian_rate: Array


@dataclass(frozen=True)
class JointRows:
    """Rows over the freedoms and their derivatives: of the tree's joints (joint, freedom), of links (6, freedom) each.

    Rows of links are body-fixed Jacobians (angular, linear).
    """

    joints: Array
    joints_change: Array
    links: Mapping[int, Array]
    links_change: Mapping[int, Array]


def spin_terms(limb: Limb, geared: Transmission, moving: JointRows, speed: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the mass and Coriolis matrix (freedom, freedom) of each rotor, so that M' - 2 C is skew-symmetric.

    speed (freedom,): rates of the freedoms.
    """
    rows = geared.rows(moving.joints)
    changes = geared.rows(moving.joints_change) + geared.rate_rows(moving.joints)
    for row, spin in recursion.spins(limb):
        r, change = rows[row] * spin.share, changes[row] * spin.share
        mass, coriolis = np.outer(r, r), np.outer(r, change)
        if spin.carrier != BASE:
            along, turns = array(spin.axis), moving.links[spin.carrier][:3]
            carried, carried_change = along @ turns, along @ moving.links_change[spin.carrier][:3]
            whirl = np.stack([cross(column, along) for column in turns.T], axis=1) * (r @ speed)
            mass = mass + (np.outer(r, carried) + np.outer(carried, r)) * spin.coupling
            coupled = np.outer(r, carried_change) + turns.T @ (np.outer(along, change) + whirl)
            coriolis = coriolis + coupled * spin.coupling
        yield array(mass * spin.inertia), array(coriolis * spin.inertia)


def limb_share(
    mounted: Mounted, solved: Solved, moving: tuple[Pose, SpatialMotion], speed: Array, gravity: Array
) -> EquationShare:
    """Return a limb's share. `moving`: pose and motion of the platform; `speed`: rates of the robot's freedoms."""
    links, rates = mounted.limb.links, mounted.unit_rates(solved.tips)  # H F, (joint, freedom)
    seeds = state_seeds(mounted, solved) | pose_seeds(*moving)
    rate_change = _tangent(rates, seeds)
    velocities = [_body_velocities(mounted, solved.states, column) for column in rates.T]
    count = len(velocities)
    mass, coriolis = np.zeros((count, count)), np.zeros((count, count))
    jacobians = [array(np.stack([velocity[i] for velocity in velocities], axis=1)) for i in range(len(links))]
    changes = [_tangent(jacobian, seeds) for jacobian in jacobians]
    for link, jacobian, change, row, row_change in zip(links, jacobians, changes, rates, rate_change, strict=True):
        m, c = body_terms(link.inertia, jacobian, change, jacobian @ speed)
        mass = mass + m + np.outer(row, row) * link.armature
        coriolis = coriolis + c + np.outer(row, row_change) * link.armature
    geared = transmission(mounted, solved)
    rows = JointRows(rates, rate_change, dict(enumerate(jacobians)), dict(enumerate(changes)))
    for m, c in spin_terms(mounted.limb, geared, rows, speed):
        mass, coriolis = mass + m, coriolis + c
    still = [0.0] * len(links)
    turned = mounted.base.rotation.T @ gravity
    weight = recursion.inverse_dynamics(links, solved.states, still, still, turned)
    driven_change = geared.rows(rate_change) + geared.rate_rows(rates)
    return EquationShare(array(mass), array(coriolis), rates.T @ array(weight), geared.rows(rates), driven_change)


def with_forces(share: EquationShare, mounted: Mounted, solved: Solved) -> EquationShare:
    """Return a limb's share whose `gravity` also holds the limb against external forces on its links."""
    if not mounted.limb.forces and not mounted.limb.springs:
        return share
    return replace(share, gravity=share.gravity - applied_force(mounted, solved))


def applied_force(mounted: Mounted, solved: Solved) -> Array:
    """Project external wrenches on the links, and forces along the joints, onto the freedoms (freedom,)."""
    rates = mounted.unit_rates(solved.tips)
    if mounted.limb.springs:
        springs = array(rates.T @ spring_forces(mounted, solved))
        return springs + applied_force(replace(mounted, limb=replace(mounted.limb, springs=())), solved)
    if not mounted.limb.forces:
        return np.zeros(rates.shape[1])
    links, zero = mounted.limb.links, np.zeros(3)
    wrenches = [(zero, zero) for _ in links]
    for body, wrench in applied_wrenches(mounted, solved).items():
        wrenches[body] = wrench
    return array(rates.T @ array(recursion.joint_forces(links, solved.states, [0.0] * len(links), wrenches)))


def slopes(matrix: Array, speed: Array, fixed: Iterable[Expression] = ()) -> Array:
    """Return derivatives (entry, freedom) of a matrix's entries by the rates of the freedoms, symbols (freedom,).

    `fixed` are symbols without a rate: positions that were found by iteration.
    """
    still = dict.fromkeys(fixed, 0.0)
    columns = [_tangent(matrix, {**still, rate: 1.0}).ravel() for rate in speed]
    return array(np.stack(columns, axis=1))


def potential_energy(mounted: Mounted, solved: Solved, gravity: Array) -> Scalar:
    """Return the potential energy of a limb's bodies [J], zero with all mass at the base's origin."""
    total: Scalar = 0.0
    for i, link in enumerate(mounted.limb.links):
        centre = mounted.base.at(solved.tips.at[i].at(link.inertia.centre))
        total = total - (array(gravity) @ centre) * link.inertia.mass
    return total


def platform_energy(platform: Platform, pose: Pose, gravity: Array) -> Scalar:
    """Return the potential energy of the platform [J]."""
    return -(array(gravity) @ pose.at(platform.inertia.centre)) * platform.inertia.mass


def mass_moment(inertia: Inertia, pose: Pose) -> Array:
    """Return a body's mass, then mass times the position of its centre in the world (4,) [kg, kg m]."""
    return array([inertia.mass, *(pose.at(inertia.centre) * inertia.mass)])


def momentum(inertia: Inertia, pose: Pose, moving: SpatialMotion) -> Array:
    """Return a body's angular momentum about the world origin, then linear momentum (6,) [N m s, N s].

    `moving` is the motion of the body's frame in world axes.
    """
    arm = pose.rotation @ array(inertia.centre)
    linear = (moving.v + cross(moving.omega, arm)) * inertia.mass
    spin = pose.rotation @ (array(np.array(inertia.tensor, dtype=object)) @ (pose.rotation.T @ moving.omega))
    return array([*(spin + cross(pose.position + arm, linear)), *linear])


def platform_share(platform: Platform, pose: Pose, motion: SpatialMotion, gravity: Array) -> EquationShare:
    """Return the share of the platform's body in the equations of motion."""
    inward = pose.rotation.T
    units = [unit_motion(name) for name in platform.mobility]
    jacobian = array(np.stack([array([*(inward @ omega), *(inward @ v)]) for omega, v in units], axis=1))
    twist = array([*(inward @ motion.omega), *(inward @ motion.v)])
    mass, coriolis = body_terms(platform.inertia, jacobian, _tangent(jacobian, pose_seeds(pose, motion)), twist)
    massing = Massing.of(platform.inertia)
    pull = inward @ (-array(gravity))
    weight = array([*cross(massing.first, pull), *(pull * massing.mass)])
    none = np.zeros((0, len(units)))
    return EquationShare(mass, coriolis, jacobian.T @ weight, none, none)


def body_terms(inertia: Inertia, jacobian: Array, rate: Array, twist: Array) -> tuple[Array, Array]:
    """Return L^T M L and L^T (M L' + K L) of a body from its body-fixed Jacobian (6, freedom), its rate, and its twist.

    K is skew-symmetric and K V = -ad_V^T (M V), Eq. (105): built from the momentum M V.
    """
    spatial = Massing.of(inertia).spatial()
    momentum = spatial @ twist
    angular, linear = skew(momentum[:3]), skew(momentum[3:])
    gyroscopic = array(np.block([[-angular, -linear], [-linear, np.zeros((3, 3))]]))
    return jacobian.T @ (spatial @ jacobian), jacobian.T @ (spatial @ rate + gyroscopic @ jacobian)


def _body_velocities(mounted: Mounted, states: Sequence[JointState], rates: Array) -> list[np.ndarray]:
    """Return the body-fixed twists (angular, linear) of all links at their origins for joint rates."""
    zero = np.zeros(3)
    moving: dict[int, tuple[Array, Array]] = {BASE: (zero, zero)}
    result = []
    for i, link in enumerate(mounted.limb.links):
        omega, v = moving[link.parent]
        axis, inward = array(link.axis), array(link.placement.rotation)
        turn = joint_rotation(link, states[i])
        at = array(link.placement.position) + (inward @ axis) * way(link, states[i])
        omega, v = turn.T @ (inward.T @ omega), turn.T @ (inward.T @ (v + cross(omega, at)))
        if link.joint_kind.turns:
            omega = omega + axis * rates[i]
        if link.joint_kind.slides:
            v = v + axis * (rates[i] * slope(link, states[i]))
        moving[i] = (omega, v)
        result.append(array([*omega, *v]))
    return result


def state_seeds(mounted: Mounted, solved: Solved) -> dict[Expression, Scalar]:
    """Return the rates of the joint states along the motion, by symbol.

    Joints that turn have rates of cosine and sine, joints that slide or are counted a rate of the value. Joints of a
    loop that cannot move have constants.
    """
    seeds: dict[Any, Scalar] = {}
    for link, state, rate in zip(mounted.limb.links, solved.states, solved.rates, strict=True):
        if link.joint_kind.turns:
            seeds[state.cos], seeds[state.sin] = -(state.sin * rate), state.cos * rate
        if not link.joint_kind.periodic:
            seeds[state.value] = rate
    return {value: rate for value, rate in seeds.items() if isinstance(value, Expression)}


def pose_seeds(pose: Pose, motion: SpatialMotion) -> dict[Expression, Scalar]:
    """Return the rates of the platform's pose along the motion, by symbol."""
    seeds = {}
    change = np.stack([cross(motion.omega, column) for column in pose.rotation.T], axis=1)
    rates = (*motion.v, *change.ravel())
    for value, rate in zip((*pose.position, *pose.rotation.ravel()), rates, strict=True):
        if isinstance(value, Expression):
            seeds[value] = rate
    return seeds


def _tangent(values: Array, seeds: Seeds) -> np.ndarray:
    return array(np.array(tangent(list(values.ravel()), seeds), dtype=object).reshape(values.shape))


@dataclass(frozen=True)
class ActuatorForm:
    """Equations in actuator coordinates, Eqs. (116) to (119): M_a q'' + C_a q' + Q_grav = u; and J_FK with its rate."""

    mass: Array
    coriolis: Array
    gravity: Array
    forward: Array
    forward_rate: Array


def actuator_form(total: EquationShare) -> ActuatorForm:
    """Return the actuator form of the summed task-space equations of a robot with as many actuators as freedoms."""
    forward = inverse(total.jacobian)
    rate = -(forward @ (total.jacobian_rate @ forward))
    mass = forward.T @ (total.mass @ forward)
    coriolis = forward.T @ (total.coriolis @ forward + total.mass @ rate)
    return ActuatorForm(mass, coriolis, forward.T @ total.gravity, forward, rate)


def flag(mask: Mask) -> Scalar:
    """Return 1 where a mask is true, else 0."""
    return where(mask, 1.0, 0.0)


def acceleration(total: EquationShare, speed: Array, forces: Array, load: Array) -> np.ndarray:
    """Return v' from actuator forces and the load on the platform along its freedoms. Eq. (129)."""
    pushing = total.jacobian.T @ forces + load - total.coriolis @ speed - total.gravity
    return Factors.of(total.mass).solve(pushing)
