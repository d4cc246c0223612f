"""Stiffness of a robot at its platform by the virtual-joint method, for one sample.

A limb carries what its actuators and the free multipliers x of its redundant conditions put on it; all wrenches in its
joints are linear in x, see `tasks.mechanics.reactions`. With the compliances of its parts its complementary energy is
x^T F x / 2, and it puts B x on the platform. A displacement d of the platform, world axes, then gives x = F^-1 B^T d
and the wrench K d with K = B F^-1 B^T. Stiffnesses of limbs add up, which makes overconstrained robots compatible, and
loops inside limbs are part of F. Actuators hold their positions, deflections are small, loads do not stiffen.

Source: Castigliano's theorem; Gosselin, Stiffness mapping for parallel manipulators (1990), for actuators alone;
Klimchik, Pashkevich, Chablat (2012), for links and passive joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robots.criteria.elasticity import Elasticity
from robots.criteria.errors import Errors
from robots.model import Mechanism
from robots.types import TWIST
from tasks.criteria.arms import Arm
from tasks.criteria.kinds import NUMBERS, LimbElasticity, LinkKind
from tasks.criteria.looseness import LooseParts, reach
from tasks.criteria.strains import Parts, Strains, elastic_strains, energy, is_regular, stacked
from tasks.kernels.types import Array, Scalar
from tasks.mathematics.algebra import array, from_columns, singular_values, sqrt, where
from tasks.mathematics.symmetric import Factors
from tasks.mechanics.reactions import LimbStatics


def of_limb(elasticity: Elasticity, mechanism: Mechanism, limb: int) -> tuple[LimbElasticity, np.ndarray]:
    """What elasticity says of limb number `limb` of a robot, and its case input `elasticity` (1, numbers)."""
    counts = [len(mechanism.limbs[each.limb].actuators) for each in mechanism.instances]
    first = sum(counts[:limb])
    joints = {joint: values for (k, joint), values in sorted(elasticity.joints.items()) if k == limb}
    links = {link: body for (k, link), body in sorted(elasticity.links.items()) if k == limb}
    kinds = tuple((link, _kind(body.numbers)) for link, body in links.items())
    numbers = [elasticity.actuators.get(first + k, 0.0) for k in range(counts[limb])]
    numbers += [x for values in joints.values() for x in values]
    numbers += [x for body in links.values() for x in body.numbers]
    asked = LimbElasticity(counts[limb], tuple(joints), kinds, not elasticity.actuators_alone)
    return asked, np.array([numbers], dtype=float)


def _kind(numbers: Sequence[float]) -> LinkKind:
    return next(kind for kind, count in NUMBERS.items() if count == len(numbers))


@dataclass(frozen=True)
class LimbErrors:
    """Which parts of a limb have errors: actuators all, others by number. Hashable; values are a case input."""

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
    """What errors say of limb number `limb` of a robot, and its case input `errors` (1, numbers)."""
    counts = [len(mechanism.limbs[each.limb].actuators) for each in mechanism.instances]
    first = sum(counts[:limb])
    numbers = [errors.actuators.get(first + k, 0.0) for k in range(counts[limb])]
    parts: list[tuple[int, ...]] = []
    for table in (errors.joints, errors.links):
        own = {part: six for (k, part), six in sorted(table.items()) if k == limb}
        parts.append(tuple(own))
        numbers += [x for six in own.values() for x in six]
    for single in (errors.lengths, errors.growth):
        one = {part: value for (k, part), value in sorted(single.items()) if k == limb}
        parts.append(tuple(one))
        numbers += list(one.values())
    return LimbErrors(counts[limb], *parts), np.array([numbers], dtype=float)


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
    """K = B F^-1 B^T of a limb along `directions` of the platform's twist, world axes, as `stiffness`.

    With errors, dislocations e of parts whose wrenches are W x, also their share of K d = sum of B F^-1 W^T e: of its
    covariance as `spread` (direction, direction), of growth with temperature as `growth` (direction,); of what is loose
    for the largest offset of each component as `play` (component, direction). NaN where F is singular.
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
        result["play"] = array(loose.rows(parts, len(units)) @ answer)
    return result


def _dislocations(parts: Parts, errors: ErrorModel, arms: Sequence[Arm], count: int) -> tuple[np.ndarray, np.ndarray]:
    """W^T V W of the variances V of all errors (its lower triangle), and W^T of growth."""
    asked, values = errors.parts, iter(errors.numbers)
    strains: Strains = [(next(values), np.eye(count)[k]) for k in range(asked.actuators)]
    for joint in asked.joints:
        strains += parts.joint(joint, [next(values) for _ in range(6)])
    for link in asked.links:
        six = [next(values) for _ in range(6)]
        for arm in (arm for arm in arms if arm.link == link):
            strains += [(v, row) for v, row in zip(six, parts.in_link(arm), strict=True)]
    for link in asked.lengths:
        variance = next(values)
        strains += [(variance, parts.pull(arm)[0]) for arm in arms if arm.link == link]
    growth = np.zeros(count)
    for link in asked.growth:
        strain = next(values)
        for pull, length in (parts.pull(arm) for arm in arms if arm.link == link):
            growth = growth + pull * (length * strain)
    return energy(strains, count), array(growth)


def _congruent(matrix: Array, columns: Array) -> np.ndarray:
    """Columns^T matrix^-1 columns of a positive matrix (n, n) and columns (n, m); NaN where it is not positive."""
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
    """K d by the largest offsets of what is loose: of each ball its components (component, direction)."""

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
        """How far the reference point moves under the load [m]."""
        load = array([self.load[TWIST.index(name)] for name in self.directions])
        shift = [self.compliance[place] @ load for place in self._places(TWIST[3:])]
        return sqrt(sum(x * x for x in shift))

    def _deviation(self, names: Sequence[str]) -> Scalar:
        """Standard deviation along the worst direction of some components of d."""
        assert self.spread is not None
        places = self._places(names)
        rows = self.compliance[places]
        return sqrt(_largest(singular_values(rows @ (self.spread @ rows.T))))

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
        """How far growth with temperature moves the reference point [m]."""
        assert self.growth is not None
        shift = [self.compliance[place] @ self.growth for place in self._places(TWIST[3:])]
        return sqrt(sum(x * x for x in shift))

    def _reach(self, names: Sequence[str]) -> Scalar:
        """How far what is loose lets the platform be off, along the worst of some components of d."""
        return _largest([reach(self.loose, self.compliance[place]) for place in self._places(names)])

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
        return _largest(singular_values(array(root.T @ (self._block(self.freedoms) @ root))))


def _largest(values: Sequence[Scalar]) -> Scalar:
    result = values[0]
    for value in values[1:]:
        result = where(value > result, value, result)
    return result
