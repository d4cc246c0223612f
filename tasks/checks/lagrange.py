"""Lagrange's equations of a chain with its drives, by 4x4 transforms: the coefficients D_ij, D_ijk and D_i for batches.

    F_i = sum_j D_ij q_j'' + sum_jk D_ijk q_j' q_k' + D_i        i, j, k: the independent joints

Source: Szkodny, Dynamics of industrial robot manipulators, Eqs. (2) to (16) and appendix, whose symbols are used: T_p
is the transform of link p, J_p its pseudo-inertia, T_a the transform of a rotor relative to its carrier link, J_a the
pseudo-inertia of the rotor. Loops are solved for the dependent joints, whose first and second derivatives over q enter
the derivatives of T_p; so cranks and rods of a drive's train are bodies like all others, and Eqs. (15) are their share.

Rotors are symmetric. Then the three terms of Eq. (9) with two derivatives of T_a vanish, each of them, and so does the
one of Eq. (12): T_p^T dT_p is skew in its rotations, and dT_a J_a dT_a^T is symmetric. A spinning rotor acts on a
turning link by terms with one derivative of T_a, which the simplification of the source drops. The source also drops
the second derivative of T_a, which counts where a transmission depends on the configuration; it is kept here.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, Unpack

import numpy as np

from robots.arguments import check_arguments
from robots.data_classes import dataclass
from robots.model import Family, Inertia, Robot
from robots.parameter_errors import nearest
from robots.status import Status
from robots.types import BASE
from tasks.dynamics import inputs
from tasks.dynamics.records import STANDING, TIMELESS, Environment, MotionKeywords, State, long_form
from tasks.kernels.expression import Array, Numbers, Scalar
from tasks.kernels.kernel import kernel
from tasks.kernels.keys import Arrays
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import array, cross, skew, trace_of_product
from tasks.mathematics.systems import inverse
from tasks.mechanics import drives
from tasks.mechanics.families import structure_of
from tasks.mechanics.kinematics import bend, slope
from tasks.mechanics.limb_motion import Mounted, Solved
from tasks.mechanics.recursion import Massing
from tasks.mechanics.solving import solved_limb
from tasks.mechanics.structure import limb_inputs


@dataclass(frozen=True)
class Coefficients:
    """D_ij (n, n), D_ijk (n, n, n) and D_i (n,) of the independent joints."""

    inertia: Array
    velocity: Array
    gravity: Array

    def __add__(self, other: Coefficients) -> Coefficients:
        return Coefficients(self.inertia + other.inertia, self.velocity + other.velocity, self.gravity + other.gravity)


def nothing(count: int) -> Coefficients:
    """Return zero coefficients, the sum over no body."""
    return Coefficients(np.zeros((count, count)), np.zeros((count, count, count)), np.zeros(count))


@dataclass(frozen=True)
class LagrangeChain:
    """A chain at one configuration, with derivatives over its independent joints."""

    mounted: Mounted
    solved: Solved

    @property
    def count(self) -> int:
        """Number of independent joints."""
        return int(self.first.shape[1])

    @cached_property
    def first(self) -> Array:
        """First derivatives (tree joint, n) of the joints of the tree."""
        return self.mounted.unit_rates(self.solved.tips)

    @cached_property
    def second(self) -> Array:
        """Second derivatives (tree joint, n, n) that loops cause at constant rates, pair by pair."""
        embedding, h, count = self.solved.tips.embedding, self.first, self.count
        result = np.array(np.zeros((len(h), count, count)), dtype=object)
        if embedding.loops:
            drifts = [embedding.drift(h[:, j]) for j in range(count)]
            for j in range(count):
                for k in range(j):
                    mixed = (embedding.drift(h[:, j] + h[:, k]) - drifts[j] - drifts[k]) * 0.5
                    result[:, j, k] = result[:, k, j] = mixed
                result[:, j, j] = drifts[j]
        return array(result)

    def transform(self, link: int) -> Array:
        """Return T_p."""
        pose = self.solved.tips.at[link]
        return _four(pose.rotation, pose.position)

    def slopes(self, link: int) -> list[Array]:
        """Return dT_p/dq_j."""
        return [self._summed(link, self.first[:, j]) for j in range(self.count)]

    def curves(self, link: int) -> list[list[Array]]:
        """Return d2T_p/dq_j dq_k."""
        found: dict[tuple[int, int], Array] = {}
        joints, at = self._chain(link), self.transform(link)
        turned = {m: self._screw(m) @ at for m in joints}
        products = {(m, n): self._screw(m) @ turned[n] for b, n in enumerate(joints) for m in joints[: b + 1]}
        for m in joints:
            products[m, m] = products[m, m] + self._bend(m) @ at
        for j in range(self.count):
            for k in range(j + 1):
                total = self._summed(link, self.second[:, j, k])
                for (m, n), product in products.items():
                    h = self.first[m, j] * self.first[n, k]
                    h = h + self.first[n, j] * self.first[m, k] if m != n else h
                    total = total + product * h
                found[j, k] = found[k, j] = total
        return [[found[j, k] for k in range(self.count)] for j in range(self.count)]

    def _chain(self, link: int) -> list[int]:
        links = self.mounted.limb.links
        joints: list[int] = []
        while link != BASE:
            joints.insert(0, link)
            link = links[link].parent
        return joints

    def _screw(self, joint: int) -> Array:
        """Return the screw matrix (4, 4) of a joint: velocity of points beyond it per unit of joint rate."""
        link, pose = self.mounted.limb.links[joint], self.solved.tips.at[joint]
        axis = pose.rotation @ array(link.axis)
        result = np.array(np.zeros((4, 4)), dtype=object)
        if link.joint_kind.turns:
            result[:3, :3], result[:3, 3] = skew(axis), cross(pose.position, axis)
        if link.joint_kind.slides:
            result[:3, 3] = result[:3, 3] + axis * slope(link, pose.joint)
        return array(result)

    def _bend(self, joint: int) -> Array:
        """Return the derivative of the screw matrix with respect to the joint's own variable."""
        link, pose = self.mounted.limb.links[joint], self.solved.tips.at[joint]
        return _four(np.zeros((3, 3)), (pose.rotation @ array(link.axis)) * bend(link, pose.joint), 0.0)

    def _summed(self, link: int, amounts: Array) -> Array:
        at, total = self.transform(link), np.zeros((4, 4))
        for m in self._chain(link):
            total = total + (self._screw(m) @ at) * amounts[m]
        return array(total)


def of_body(chain: LagrangeChain, link: int, inertia: Inertia, gravity: Array) -> Coefficients:
    """Return the coefficients of a body fixed to a link.

    First terms of Eqs. (8) and (9), Eq. (10); so also Eqs. (15) and (16).
    """
    massing = Massing.of(inertia)
    weight = _pseudo(massing)
    slopes, curves, n = chain.slopes(link), chain.curves(link), range(chain.count)
    weighted = [slope @ weight for slope in slopes]
    mass = [[trace_of_product(weighted[i], slopes[j]) for j in n] for i in n]
    velocity = [[[trace_of_product(weighted[i], curves[j][k]) for k in n] for j in n] for i in n]
    first = array([*massing.first, massing.mass])
    pull = [-(array(gravity) @ (slope @ first)[:3]) for slope in slopes]
    return Coefficients(array(mass), array(velocity), array(pull))


def of_spins(chain: LagrangeChain, simplified: bool) -> Coefficients:
    """Return the coefficients of all spinning inertias of the drives.

    These are the terms with J_a of the appendix, or with `simplified` those of Eqs. (8) and (9).
    """
    limb, total = chain.mounted.limb, nothing(chain.count)
    ratios, changes = _ratios(chain)
    for row, drive in enumerate(limb.drives):
        for spin in drive.spins:
            rotor = _Rotor(spin.inertia, array(spin.axis), ratios[row] * spin.share, changes[row] * spin.share)
            total = total + rotor.alone()
            if spin.carrier != BASE:
                coupled = rotor.coupled(chain, spin.carrier, simplified)
                factor = 1.0 if simplified else spin.coupling
                total = total + Coefficients(
                    coupled.inertia * factor, coupled.velocity * factor, coupled.gravity * factor
                )
    return total


def transmission(chain: LagrangeChain) -> Array:
    """Return dq_a/dq_j (actuator, n)."""
    return _ratios(chain)[0]


def _ratios(chain: LagrangeChain) -> tuple[Array, Array]:
    """Return dq_a/dq_j (actuator, n) and d2q_a/dq_j dq_k (actuator, n, n)."""
    limb, h = chain.mounted.limb, chain.first

    def position(joint: int) -> Scalar:
        return chain.solved.position(limb, joint)

    along = [drives.transmission(limb, position, list(h[:, k])) for k in range(chain.count)]
    bent = np.stack([each.rate_rows(h) for each in along], axis=2)
    return along[0].rows(h), bent + np.stack([along[0].rows(chain.second[:, :, k]) for k in range(chain.count)], axis=2)


@dataclass(frozen=True)
class _Rotor:
    """A symmetric rotor: T_a turns about `axis` of its link; `ratio` (n,), `bend` (n, n) are derivatives of its turn.

    Its mass is in the link, so that only its second moments across the axis count, and the transform has no shift.
    """

    inertia: Scalar
    axis: Array
    ratio: Array
    bend: Array

    @cached_property
    def pseudo(self) -> Array:
        """T_a J_a T_a^T, which does not depend on the turn."""
        across = array(np.eye(3)) - np.outer(self.axis, self.axis)
        return _four(across * (self.inertia * 0.5), np.zeros(3), 0.0)

    @cached_property
    def turn(self) -> Array:
        """E with dT_a/dq_j = ratio_j E T_a."""
        return _four(skew(self.axis), np.zeros(3), 0.0)

    def slope(self, j: int) -> Array:
        """Return dT_a/dq_j T_a^-1."""
        return self.turn * self.ratio[j]

    def curve(self, j: int, k: int) -> Array:
        """Return d2T_a/dq_j dq_k T_a^-1."""
        return self.turn * self.bend[j, k] + (self.turn @ self.turn) * (self.ratio[j] * self.ratio[k])

    def alone(self) -> Coefficients:
        """Return the terms without T_p: the last ones of D_ij and D_ijk."""
        n = range(len(self.ratio))
        spun = [self.slope(i) @ self.pseudo for i in n]
        mass = [[trace_of_product(spun[i], self.slope(j)) for j in n] for i in n]
        velocity = [[[trace_of_product(spun[i], self.curve(j, k)) for k in n] for j in n] for i in n]
        return Coefficients(array(mass), array(velocity), np.zeros(len(self.ratio)))

    def coupled(self, chain: LagrangeChain, carrier: int, simplified: bool) -> Coefficients:
        """Return the terms of T_a and T_p."""
        n, at, slopes = range(chain.count), chain.transform(carrier), chain.slopes(carrier)
        still, j_a = nothing(chain.count), self.pseudo

        def term(left: Array, a: Array, b: Array, right: Array) -> Scalar:
            """Trace of left a J_a b^T right^T."""
            return trace_of_product(left @ (a @ j_a), right @ b)

        one, s = np.eye(4), [self.slope(j) for j in n]
        velocity: Any = np.array(still.velocity, dtype=object)  # its elements are of no one type
        for i, j, k in np.ndindex(velocity.shape):
            velocity[i, j, k] = (
                term(slopes[i], s[k], s[j], at) + term(slopes[j], s[k], s[i], at) - term(slopes[j], s[i], s[k], at)
            )
        if simplified:
            return Coefficients(still.inertia, array(velocity), still.gravity)
        curves = chain.curves(carrier)
        mass = [[term(slopes[i], one, s[j], at) + term(slopes[j], one, s[i], at) for j in n] for i in n]
        for i, j, k in np.ndindex(velocity.shape):
            velocity[i, j, k] = (
                velocity[i, j, k]
                - term(slopes[j], one, s[k], slopes[i])
                + term(slopes[i], one, s[j], slopes[k])
                + term(curves[j][k], one, s[i], at)
                + term(slopes[j], one, s[i], slopes[k])
                + term(slopes[i], one, self.curve(j, k), at)
            )
        return Coefficients(array(mass), array(velocity), still.gravity)


def coefficients(
    chain: LagrangeChain, gravity: Array, bodies: Sequence[int], spins: bool, simplified: bool, grasped: Inertia | None
) -> Coefficients:
    """Return coefficients of some links, of all rotors, and of an object that the last link grasps. Eq. (16)."""
    links, total = chain.mounted.limb.links, nothing(chain.count)
    for k in bodies:
        total = total + of_body(chain, k, links[k].inertia, gravity)
    if grasped is not None:
        total = total + of_body(chain, len(links) - 1, grasped, gravity)
    return total + of_spins(chain, simplified) if spins and chain.mounted.limb.drives else total


def _four(rotation: Array, shift: Array, corner: float = 1.0) -> Array:
    result = np.array(np.zeros((4, 4)), dtype=object)
    result[:3, :3], result[:3, 3], result[3, 3] = rotation, shift, corner
    return array(result)


def _pseudo(massing: Massing) -> Array:
    """Return J_p (4, 4) in the axes of the body. Eq. (5)."""
    result = np.array(np.zeros((4, 4)), dtype=object)
    result[:3, :3], result[:3, 3], result[3, :3] = massing.second, massing.first, massing.first
    result[3, 3] = massing.mass
    return array(result)


OBJECT = 10
"""Numbers of a grasped object: mass, centre (3), inertia about it (xx, yy, zz, xy, xz, yz)."""


class LagrangeCoefficients(NamedTuple):
    """Coefficients of F_i = D_ij q_j'' + D_ijk q_j' q_k' + D_i over the independent joints, and inertia at actuators.

    inertia D_ij (*batch, n, n), velocity D_ijk (*batch, n, n, n), gravity D_i (*batch, n); transmission dq_a/dq
    (*batch, actuator, n); actuator_inertia (*batch, actuator, actuator): the forces of the actuators, Eq. (13), over
    their own accelerations, whose diagonal is the effective_inertia (*batch, actuator); NaN for robots with more
    actuators than freedoms; status (*batch).
    """

    inertia: np.ndarray
    velocity: np.ndarray
    gravity: np.ndarray
    transmission: np.ndarray
    actuator_inertia: np.ndarray
    effective_inertia: np.ndarray
    status: np.ndarray


@check_arguments
def lagrange_coefficients(
    robot: Robot,
    motion: State | None = None,
    environment: Environment = STANDING,
    *,
    simplified: bool = False,
    bodies: Sequence[str] | None = None,
    grasped: Inertia | None = None,
    **short: Unpack[MotionKeywords],
) -> LagrangeCoefficients:
    """Compute the coefficients of a chain at the positions q of a motion; see `LagrangeCoefficients`.

    Effects of spinning rotors are included as the drives of the robot declare them (`Spin.coupling`); with `simplified`
    only the effects of Eqs. (8) to (12). With `bodies`, only the share of these links, without drives: Eqs. (15) for
    cranks and rods. `grasped`, in numbers and in the frame of the last link, adds an object: Eqs. (16). Samples that
    cannot be solved hold NaN. Raises ValueError for a robot with a platform, an unknown body, and shapes that do not
    fit.

        >>> robot = ls.robots.build("planar_3r")
        >>> ls.lagrange_coefficients(robot, q=[0.1, 0.2, 0.3]).inertia.shape
        (3, 3)
    """
    if not robot.mechanism.is_chain:
        raise ValueError(
            f"robot: got {robot.name}, whose limbs hold a platform; expected a chain; for the matrices of a parallel "
            "robot use limbsweep.equations_of_motion"
        )
    inputs.refuse_forces(robot, "a call of equations_of_motion")
    program = coefficients_program(robot.family, _indices(robot, bodies), simplified, grasped is not None)
    motion, environment = long_form(motion, environment, short, TIMELESS)
    if environment.base is not None:
        raise ValueError("base: got a base that moves; expected one that stands")
    batch, columns = inputs.moving_input(robot, motion.moving)
    keywords = {
        "parameters": inputs.parameters(robot),
        "mount": inputs.mounts(robot)[0],
        "gravity": inputs.gravity_input(environment.gravity),
        "motion": columns,
    }
    keywords |= {} if grasped is None else {"grasped": _numbers(grasped)}
    found = kernel(program)(keywords, columns.shape[-1])
    return _results(robot, found, batch)


def _results(robot: Robot, found: Arrays, batch: tuple[int, ...]) -> LagrangeCoefficients:
    n, driven, samples = len(robot.mechanism.freedoms), len(robot.mechanism.actuators), int(np.prod(batch, dtype=int))
    status = found["status"][0, 0, :samples]

    def core_last(name: str, *shape: int) -> np.ndarray:
        if name not in found:
            return np.full((*batch, *shape), np.nan)
        values = np.ascontiguousarray(found[name][0, :, :samples].T)
        values[status != Status.OK] = np.nan
        return values.reshape(*batch, *shape)

    seen = core_last("actuator_inertia", driven, driven)
    return LagrangeCoefficients(
        core_last("inertia", n, n),
        core_last("velocity", n, n, n),
        core_last("gravity_force", n),
        core_last("transmission", driven, n),
        seen,
        np.einsum("...ii->...i", seen).copy(),
        status.astype(np.int8).reshape(batch),
    )


@functools.cache
def coefficients_program(family: Family, bodies: tuple[int, ...] | None, simplified: bool, grasping: bool) -> Program:
    """Return the program behind `lagrange_coefficients`; inputs as in `tasks.stages.limb`, and `grasped` (OBJECT)."""
    structure = structure_of(family)

    def one_sample(parameters: Array, mount: Array, gravity: Array, motion: Array, **more: Array) -> dict[str, Numbers]:
        mounted, solved, _, _ = solved_limb(structure, 0, parameters, mount, motion)
        chain, links = LagrangeChain(mounted, solved), range(len(mounted.limb.links))
        bodies_used = links if bodies is None else bodies
        held = _inertia(more["grasped"]) if grasping else None
        found = coefficients(chain, gravity, bodies_used, bodies is None, simplified, held)
        rows = transmission(chain)
        result: dict[str, Numbers] = {"inertia": found.inertia, "velocity": found.velocity}
        result |= {"gravity_force": found.gravity, "transmission": rows, "status": [solved.status]}
        if len(rows) == chain.count:
            back = inverse(rows)
            result["actuator_inertia"] = back.T @ (found.inertia @ back)
        return result

    case = limb_inputs(structure, 0) | ({"grasped": (OBJECT,)} if grasping else {})
    return trace(f"{family.name}.lagrange", one_sample, case=case, sample={"motion": (structure.motion_size,)})


def _inertia(numbers: Array) -> Inertia:
    mass, x, y, z, xx, yy, zz, xy, xz, yz = numbers
    return Inertia(mass, (x, y, z), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))


def _numbers(body: Inertia) -> np.ndarray:
    t = np.asarray(body.tensor, dtype=float)
    return np.array([[body.mass, *body.centre, *np.diag(t), t[0, 1], t[0, 2], t[1, 2]]], dtype=float)


def _indices(robot: Robot, bodies: Sequence[str] | None) -> tuple[int, ...] | None:
    if bodies is None:
        return None
    bodies_of_limb = [link.body for link in robot.mechanism.limbs[0].links]
    for name in bodies:
        if name not in bodies_of_limb:
            raise ValueError(f"bodies: got {name!r}; expected links of {robot.name}; {nearest(name, bodies_of_limb)}")
    return tuple(bodies_of_limb.index(name) for name in bodies)
