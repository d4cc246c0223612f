"""Elasticity and errors of the parts of a limb, and their effects at the platform, for one sample.

Stiffness, by the virtual-joint method. Wrenches in the joints of a limb are linear in the forces of its actuators and
in the free multipliers x of its redundant conditions, see `tasks.mechanics.reactions`. With the compliances of its
parts its complementary energy is x^T F x / 2, and it puts B x on the platform. A displacement d of the platform, world
axes, then gives x = F^-1 B^T d and the wrench K d with K = B F^-1 B^T. Stiffnesses of limbs add up, which makes
overconstrained robots compatible, and loops inside limbs are part of F. Actuators hold their positions, deflections
are small, loads do not stiffen. The energy of a part is half the sum of weight times square of its strains, rows over
unit causes of the wrenches in its joints: bearings, beams and blocks. Sources: Castigliano's theorem; Gosselin,
Stiffness mapping for parallel manipulators (1990), for actuators alone; Klimchik, Pashkevich, Chablat (2012), for links
and passive joints.

Elastic sharing: reactions that statics leaves open follow from the elasticity of bearings and links. Wrenches in the
joints are linear in motion, actuator forces and friction, and in the free multipliers nu. The complementary energy is a
quadratic function of these. Among the nu that balance the platform, those of the least energy have compatible
deformations. The result has the form of `tasks.mechanics.reactions.share`, whose rule is the least norm instead.
Source: theorem of least work, Menabrea and Castigliano.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal

import numpy as np

from robots.criteria.elasticity import Elasticity
from robots.criteria.parts import Errors
from robots.data_classes import dataclass
from robots.formulas import as_row
from robots.model import Mechanism
from robots.types import TWIST
from tasks.features.looseness import LooseParts, reach
from tasks.kernels.expression import Array, Dual, Scalar
from tasks.mathematics.algebra import array, cross, dot, from_columns, greatest, sqrt, where
from tasks.mathematics.solvers import Factors
from tasks.mathematics.systems import singular_values
from tasks.mechanics.arms import Arm, joint_point
from tasks.mechanics.reactions import LimbStatics

LinkKind = Literal["round", "beam", "block"]
NUMBERS: Mapping[LinkKind, int] = {"round": 4, "beam": 9, "block": 21}


@dataclass(frozen=True)
class LimbElasticity:
    """Elastic parts of a limb: the count of actuators, joints and links by number. Hashable; values are a case input.

    `spatial`: whether joints or links of the robot are elastic, so that compliance counts along all held directions.
    """

    actuators: int = 0
    joints: tuple[int, ...] = ()
    links: tuple[tuple[int, LinkKind], ...] = ()
    spatial: bool = False

    @property
    def size(self) -> int:
        """Length of the case input `elasticity`: actuators, six for each joint, links."""
        return self.actuators + 6 * len(self.joints) + sum(NUMBERS[kind] for _, kind in self.links)


REGULAR = Dual(1e-11, 1e-4)
"""Least pivot of a matrix relative to its diagonal element, up to which it is taken for singular."""
Strains = list[tuple[Scalar, Array]]
"""Weights, and rows over x (numbers of x,): the energy is half the sum of weight times square."""


def stacked(wrenches: Sequence[tuple[Array, Array]]) -> np.ndarray:
    """Return the wrenches of joints (joint, 6)."""
    return array([[*moment, *force] for moment, force in wrenches])


def energy(strains: Strains, count: int) -> np.ndarray:
    """Return the matrix F of the sum of weight times square of rows; its lower triangle is enough."""
    result = np.array(np.zeros((count, count)), dtype=object)
    for weight, row in strains:
        for i in range(count):
            scaled = row[i] * weight
            for j in range(i + 1):
                result[i, j] = result[i, j] + scaled * row[j]
    return result


def is_regular(factors: Factors, diagonal: Sequence[Scalar]) -> Scalar:
    """Return 1 if all pivots are above zero, relative to the diagonal of the matrix, else 0."""
    good: Scalar = 1.0
    for pivot, whole in zip(factors.pivots, diagonal, strict=True):
        good = where(pivot > whole * REGULAR, good, 0.0)
    return good


@dataclass(frozen=True)
class Parts:
    """Strains of the parts of a limb; `wrenches` (joint, 6) of each unit of x, in the axes of the mount frame."""

    statics: LimbStatics
    wrenches: Sequence[np.ndarray]

    def _of(self, joint: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the moment (3, x) and force (3, x) in a joint."""
        columns = [wrench[joint] for wrench in self.wrenches]
        return from_columns([c[:3] for c in columns], 3), from_columns([c[3:] for c in columns], 3)

    def at_joint(self, joint: int) -> list[Array]:
        """Return the moment about and the force along the axes of a joint's frame, six rows (x,)."""
        tips, tree = self.statics.solved.tips, len(self.statics.mounted.limb.links)
        axes = tips.at[joint].rotation if joint < tree else tips.cut_joints[joint - tree].a.axes
        moment, force = self._of(joint)
        return [*(axes.T @ moment), *(axes.T @ force)]

    def joint(self, joint: int, compliance: Sequence[Scalar]) -> Strains:
        """Return the stiffness of a bearing about and along the axes of its frame, without the joint's own freedom."""
        rows, limb, free = self.at_joint(joint), self.statics.mounted.limb, set()
        tree = len(limb.links)
        if joint < tree and (kind := limb.joint_kinds[joint]).turns != kind.slides:
            free = {int(np.flatnonzero(limb.links[joint].axis)[0]) + (0 if kind.turns else 3)}
        return [(c, array(row)) for k, (c, row) in enumerate(zip(compliance, rows, strict=True)) if k not in free]

    def _on_link(self, arm: Arm) -> tuple[np.ndarray, np.ndarray]:
        """Return moment and force on the link at the end of an arm; the reaction on the other link is the opposite."""
        limb = self.statics.mounted.limb
        tree = len(limb.links)
        child = arm.end == arm.link if arm.end < tree else limb.cuts[arm.end - tree].b == arm.link
        moment, force = self._of(arm.end)
        return (moment, force) if child else (-moment, -force)

    def _line(self, arm: Arm) -> tuple[np.ndarray, Scalar]:
        """Return the direction from the hub to the end, zero if the points coincide, and the length."""
        tips = self.statics.solved.tips
        along = array(joint_point(tips, arm.end) - joint_point(tips, arm.hub))
        length = sqrt(dot(along, along))
        return array(along * where(length > 0.0, 1.0 / where(length > 0.0, length, 1.0), 0.0)), length

    def in_link(self, arm: Arm) -> np.ndarray:
        """Return moment and force at the end of an arm (6, x), in the axes of the link."""
        rotation = self.statics.solved.tips.at[arm.link].rotation
        moment, force = self._of(arm.end)
        return np.vstack([rotation.T @ moment, rotation.T @ force])

    def pull(self, arm: Arm) -> tuple[np.ndarray, Scalar]:
        """Return the tension in an arm (x,), and its length."""
        e, length = self._line(arm)
        return array(e @ self._on_link(arm)[1]), length

    def arm(self, arm: Arm, kind: LinkKind, values: Sequence[Scalar]) -> Strains:
        """Return a beam held at the hub under the wrench of the joint at its end; or a block, in the link's axes."""
        tips = self.statics.solved.tips
        moment, force = self._of(arm.end)
        rotation = tips.at[arm.link].rotation
        if kind == "block":
            return _block(self.in_link(arm), values)
        e, length = self._line(arm)
        if kind == "round":
            return _round_beam(moment, force, e, length, values)
        return _beam(moment, force, e, length, values[:6], rotation @ array(values[6:]))


def _round_beam(moment: Array, force: Array, e: Array, length: Scalar, values: Sequence[Scalar]) -> Strains:
    """Return the strains of a round beam, bent by moment + x e x force at x; the bending integral as two squares."""
    axial, torsion, bending, shear = values
    swept = from_columns([cross(e, force[:, k]) for k in range(force.shape[1])], 3)
    middle = moment + swept * (length * 0.5)
    strains: Strains = [(axial * length, e @ force), (torsion * length, e @ moment)]
    bent = bending * length
    # about the axis itself nothing bends
    transverse = [array(row) for row in middle - np.outer(e, e @ moment)]
    strains += [(bent, row) for row in transverse]
    strains += [(bent * length * length * (1.0 / 12.0) + shear * length, array(row)) for row in swept]
    return strains


def _beam(moment: Array, force: Array, e: Array, length: Scalar, values: Sequence[Scalar], across: Array) -> Strains:
    """Return the same with two principal axes, a and b, of deflection."""
    axial, torsion, bend_a, bend_b, shear_a, shear_b = values
    a = array(across - e * dot(across, e))
    a = a / sqrt(dot(a, a))
    b = cross(e, a)
    strains: Strains = [(axial * length, e @ force), (torsion * length, e @ moment)]
    cubic = length * length * length * (1.0 / 12.0)
    for bending, shear, side, about, sign in ((bend_a, shear_a, a, b, 0.5), (bend_b, shear_b, b, a, -0.5)):
        push: Array = side @ force
        strains += [(bending * length, array(about @ moment + push * (length * sign)))]
        strains += [(bending * cubic + shear * length, array(push))]
    return strains


def _block(wrench: Array, values: Sequence[Scalar]) -> Strains:
    """Return a compliance matrix by its factors L D L^T, so that it is a sum of squares as well."""
    matrix = np.array(np.zeros((6, 6)), dtype=object)
    entries = iter(values)
    for i in range(6):
        for j in range(i + 1):
            matrix[i, j] = next(entries)
    factors = Factors.of(matrix)
    rows = factors.lower.T @ wrench
    return [(pivot, array(row)) for pivot, row in zip(factors.pivots, rows, strict=True)]


def elastic_strains(parts: Parts, asked: LimbElasticity, numbers: Sequence[Scalar], arms: Sequence[Arm]) -> Strains:
    """Return the strains of elastic joints and links.

    `numbers` are the numbers of the case input `elasticity` after the numbers of the actuators.
    """
    strains: Strains = []
    remaining_numbers = iter(numbers)
    for joint in asked.joints:
        strains += parts.joint(joint, [next(remaining_numbers) for _ in range(6)])
    for link, kind in asked.links:
        values = [next(remaining_numbers) for _ in range(NUMBERS[kind])]
        for arm in (arm for arm in arms if arm.link == link):
            strains += parts.arm(arm, kind, values)
    return strains


def of_limb(elasticity: Elasticity, mechanism: Mechanism, limb: int) -> tuple[LimbElasticity, np.ndarray]:
    """Return the elastic parts of limb number `limb` of a robot, and its case input `elasticity` (1, numbers)."""
    counts = [len(mechanism.limbs[each.limb].actuators) for each in mechanism.instances]
    first = sum(counts[:limb])
    joints = {joint: values for (k, joint), values in sorted(elasticity.joints.items()) if k == limb}
    links = {link: body for (k, link), body in sorted(elasticity.links.items()) if k == limb}
    kinds = tuple((link, _kind(body.numbers)) for link, body in links.items())
    numbers = [elasticity.actuators.get(first + k, 0.0) for k in range(counts[limb])]
    numbers += [x for values in joints.values() for x in values]
    numbers += [x for body in links.values() for x in body.numbers]
    elasticity_of_limb = LimbElasticity(counts[limb], tuple(joints), kinds, not elasticity.actuators_alone)
    return elasticity_of_limb, as_row(numbers)


def _kind(numbers: Sequence[float]) -> LinkKind:
    return next(kind for kind, count in NUMBERS.items() if count == len(numbers))


@dataclass(frozen=True)
class LimbErrors:
    """Parts of a limb with errors: the count of actuators, other parts by number. Hashable; values are a case input."""

    actuators: int = 0
    joints: tuple[int, ...] = ()
    links: tuple[int, ...] = ()
    lengths: tuple[int, ...] = ()
    growth: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Length of the case input `errors`: actuators, six for each joint and link, lengths, growth."""
        return self.actuators + 6 * (len(self.joints) + len(self.links)) + len(self.lengths) + len(self.growth)


def errors_of_limb(errors: Errors, mechanism: Mechanism, limb: int) -> tuple[LimbErrors, np.ndarray]:
    """Return the parts with errors of limb number `limb` of a robot, and its case input `errors` (1, numbers)."""
    counts = [len(mechanism.limbs[each.limb].actuators) for each in mechanism.instances]
    first = sum(counts[:limb])
    numbers = [errors.actuators.get(first + k, 0.0) for k in range(counts[limb])]
    parts: list[tuple[int, ...]] = []
    for table in (errors.joints, errors.links):
        own_errors = {part: six for (k, part), six in sorted(table.items()) if k == limb}
        parts.append(tuple(own_errors))
        numbers += [x for six in own_errors.values() for x in six]
    for single in (errors.lengths, errors.growth):
        one = {part: value for (k, part), value in sorted(single.items()) if k == limb}
        parts.append(tuple(one))
        numbers += list(one.values())
    return LimbErrors(counts[limb], *parts), as_row(numbers)


@dataclass(frozen=True)
class ErrorModel:
    """The errors of a limb: which, and their values."""

    parts: LimbErrors
    numbers: Array


def limb_stiffness(
    statics: LimbStatics,
    asked: LimbElasticity,
    numbers: Array,
    arms: Sequence[Arm],
    directions: Sequence[str],
    errors: ErrorModel | None = None,
    loose: LooseParts | None = None,
) -> dict[str, np.ndarray]:
    """Return K = B F^-1 B^T of a limb along `directions` of the platform's twist, world axes, as in `stiffness`.

    Errors are dislocations e of parts whose wrenches are W x. With errors, also their share of K d = sum of B F^-1 W^T
    e: its covariance as `spread` (direction, direction), and the part by growth with temperature as `growth`
    (direction,). With loose parts, also the share for the largest offset of each component as `play` (component,
    direction). NaN where F is singular.
    """
    units = [statics.actuator(k) for k in range(asked.actuators)]
    units += [statics.multiplier(k) for k in range(statics.redundant_count)] if asked.spatial else []
    strains: Strains = [(numbers[k], np.eye(len(units))[k]) for k in range(asked.actuators)]
    parts = Parts(statics, [])
    if asked.spatial or errors is not None or loose is not None:
        parts = Parts(statics, [stacked(statics.joint_wrenches(unit)) for unit in units])
    if asked.spatial:
        strains += elastic_strains(parts, asked, list(numbers[asked.actuators :]), arms)
    flexibility = energy(strains, len(units))
    turn = statics.mounted.base.rotation
    rows = []
    for unit in units:
        covector = statics.on_platform(unit)
        world = [*(turn @ covector[:3]), *(turn @ covector[3:])]
        rows.append([world[TWIST.index(name)] for name in directions])
    columns = from_columns(rows, len(directions)).T
    result = {"stiffness": _congruent(flexibility, columns)}
    if errors is not None:
        spread, growth = _dislocations(parts, errors, arms, len(units))
        factors = Factors.of(flexibility)
        answer = from_columns([factors.solve(column) for column in columns.T], len(units))
        whole = np.array([[spread[max(i, j), min(i, j)] for j in range(len(units))] for i in range(len(units))])
        result["spread"] = array(answer.T @ (whole @ answer))
        result["growth"] = array(answer.T @ growth)
    if loose is not None:
        factors = Factors.of(flexibility)
        answer = from_columns([factors.solve(column) for column in columns.T], len(units))
        result["play"] = array(loose.rows(parts.at_joint, len(units)) @ answer)
    return result


def _dislocations(parts: Parts, errors: ErrorModel, arms: Sequence[Arm], count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return W^T V W with the variances V of all errors (its lower triangle), and W^T of growth."""
    parts_of_limb, values = errors.parts, iter(errors.numbers)
    strains: Strains = [(next(values), np.eye(count)[k]) for k in range(parts_of_limb.actuators)]
    for joint in parts_of_limb.joints:
        strains += parts.joint(joint, [next(values) for _ in range(6)])
    for link in parts_of_limb.links:
        six = [next(values) for _ in range(6)]
        for arm in (arm for arm in arms if arm.link == link):
            strains += [(v, row) for v, row in zip(six, parts.in_link(arm), strict=True)]
    for link in parts_of_limb.lengths:
        variance = next(values)
        strains += [(variance, parts.pull(arm)[0]) for arm in arms if arm.link == link]
    growth = np.zeros(count)
    for link in parts_of_limb.growth:
        strain = next(values)
        for pull, length in (parts.pull(arm) for arm in arms if arm.link == link):
            growth = growth + pull * (length * strain)
    return energy(strains, count), array(growth)


def _congruent(matrix: Array, columns: Array) -> np.ndarray:
    """Return Columns^T matrix^-1 columns of a positive matrix (n, n), columns (n, m); NaN if it is not positive."""
    factors, n = Factors.of(matrix), len(matrix)
    good = is_regular(factors, [matrix[k][k] for k in range(n)])
    solved = [factors.forward(column) for column in columns.T]
    result = np.array(np.zeros((len(solved), len(solved))), dtype=object)
    for i, x in enumerate(solved):
        for j in range(i + 1):
            value = sum((a * b * c for a, b, c in zip(x, solved[j], factors.inverse_pivots, strict=True)), start=0.0)
            result[i, j] = result[j, i] = where(good > 0.5, value, np.nan)
    return array(result)


@dataclass(frozen=True)
class PlatformStiffness:
    """A robot's stiffness K along `directions` of the platform's twist; mass matrix of the freedoms; a load (6,).

    Lengths scale turns, so that pivots of K can be compared.
    """

    stiffness: Array
    directions: tuple[str, ...]
    freedoms: tuple[str, ...]
    mass: Array
    load: Array
    spread: Array | None = None
    """Covariance of K d by errors of parts."""
    growth: Array | None = None
    """K d by growth with temperature."""
    loose: Sequence[Array] = ()
    """K d for the largest offsets of loose parts: of each ball its components (component, direction)."""

    @cached_property
    def compliance(self) -> np.ndarray:
        """K^-1, NaN where K is singular."""
        return _congruent(self.stiffness, np.eye(len(self.directions)))

    def _places(self, names: Sequence[str]) -> list[int]:
        return [self.directions.index(name) for name in names if name in self.directions]

    def _block(self, names: Sequence[str]) -> np.ndarray:
        places = self._places(names)
        return self.compliance[np.ix_(places, places)]

    @cached_property
    def translation(self) -> list[Scalar]:
        """Eigenvalues of the compliance of the reference point under forces at it [m/N]."""
        return singular_values(self._block(TWIST[3:]))

    @cached_property
    def rotation(self) -> list[Scalar]:
        """Eigenvalues of the compliance in turning under moments [rad/(N m)]."""
        return singular_values(self._block(TWIST[:3]))

    @property
    def deflection(self) -> Scalar:
        """Displacement of the reference point under the load [m]."""
        load = array([self.load[TWIST.index(name)] for name in self.directions])
        shift = [self.compliance[place] @ load for place in self._places(TWIST[3:])]
        return sqrt(sum(x * x for x in shift))

    def _deviation(self, names: Sequence[str]) -> Scalar:
        """Return the standard deviation along the worst direction of some components of d."""
        assert self.spread is not None
        places = self._places(names)
        rows = self.compliance[places]
        return sqrt(greatest(singular_values(rows @ (self.spread @ rows.T))))

    @property
    def position_error(self) -> Scalar:
        """Standard deviation of the reference point along the worst direction [m]."""
        return self._deviation(TWIST[3:])

    @property
    def turn_error(self) -> Scalar:
        """Standard deviation of turns about the worst direction [rad]."""
        return self._deviation(TWIST[:3])

    @property
    def thermal_shift(self) -> Scalar:
        """Displacement of the reference point by growth with temperature [m]."""
        assert self.growth is not None
        shift = [self.compliance[place] @ self.growth for place in self._places(TWIST[3:])]
        return sqrt(sum(x * x for x in shift))

    def _reach(self, names: Sequence[str]) -> Scalar:
        """Return the largest offset of the platform from loose parts, along the worst of some components of d."""
        return greatest([reach(self.loose, self.compliance[place]) for place in self._places(names)])

    @property
    def clearance_shift(self) -> Scalar:
        """The same of the reference point, along the worst axis of the world [m]."""
        return self._reach(TWIST[3:])

    @property
    def clearance_turn(self) -> Scalar:
        """The same of turns, about the worst axis of the world [rad]."""
        return self._reach(TWIST[:3])

    @property
    def softness(self) -> Scalar:
        """Largest eigenvalue of M times the compliance of the freedoms, 1 / omega^2 of the lowest frequency [s^2]."""
        factors = Factors.of(self.mass)
        root = factors.lower * np.array([sqrt(pivot) for pivot in factors.pivots], dtype=object)
        return greatest(singular_values(array(root.T @ (self._block(self.freedoms) @ root))))


@dataclass(frozen=True)
class ElasticSharing:
    """Elastic parts of a limb, their `numbers`, the case input `elasticity`, and the arms of its links."""

    asked: LimbElasticity
    numbers: Array
    arms: Sequence[Arm]

    def of(self, statics: LimbStatics, gravity: Array, passive: Sequence[int] = ()) -> dict[str, Array]:
        """Return the share of the limb; see `elastic_share`."""
        return elastic_share(statics, gravity, self.asked, self.numbers, self.arms, passive)


def elastic_share(
    statics: LimbStatics,
    gravity: Array,
    asked: LimbElasticity,
    numbers: Array,
    arms: Sequence[Arm],
    passive: Sequence[int] = (),
) -> dict[str, Array]:
    """Return a limb's `root`, `wish_passive`, `wish_driven`, and with friction in `passive` joints `wish_friction`.

    numbers: the case input `elasticity`. `root` is NaN where the limb is rigid under a part of its possible loads.
    """
    free = [statics.multiplier(k) for k in range(statics.redundant_count)]
    motion = statics.motion(gravity)
    driven, count = len(motion.actuators), len(free)
    known_wrenches = [
        motion,
        *(statics.actuator(k) for k in range(driven)),
        *(statics.friction(joint) for joint in passive),
    ]
    if not free:
        result = {"root": np.zeros((0, 0)), "wish_passive": np.zeros(0), "wish_driven": np.zeros((0, driven))}
        return result | ({"wish_friction": np.zeros((0, len(passive)))} if passive else {})
    causes = [*known_wrenches, *free]
    parts = Parts(statics, [stacked(statics.joint_wrenches(cause)) for cause in causes])
    lower = energy(elastic_strains(parts, asked, list(numbers[asked.actuators :]), arms), len(causes))
    first = len(known_wrenches)
    squares = np.array(
        [[lower[first + max(i, j), first + min(i, j)] for j in range(count)] for i in range(count)], dtype=object
    )
    factors = Factors.of(array(squares))
    good = is_regular(factors, list(np.diagonal(squares)))
    root = array([[where(good > 0.5, x, np.nan) for x in row] for row in factors.inverse_root()])
    wishes = -(root.T @ array(lower[first:, :first]))
    result = {"root": root, "wish_passive": wishes[:, 0], "wish_driven": wishes[:, 1 : 1 + driven]}
    return result | ({"wish_friction": wishes[:, 1 + driven :]} if passive else {})
