"""Actuator forces from the shares of limbs and platform, for one sample: J_IK^T u = sum of wrenches.

Source: hybrid-limb paper, Eqs. (137), (140).
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from robots.data_classes import dataclass
from robots.status import Status
from tasks.kernels.expression import Array, Dual, Mask, Scalar
from tasks.mathematics.algebra import array, either, every, greatest, sqrt, total, where
from tasks.mathematics.solvers import least_maximum, spanning_columns
from tasks.mathematics.systems import complement, determinant, divided, inverse, least_norm, solution, squared_box

SINGULAR = Dual(1e-12, 1e-6)  # determinant of J_IK relative to the product of the lengths of its columns

UNBALANCED = Dual(1e-9, 1e-4)  # part of a wrench along the freedoms that no actuator gives, relative to the wrench

FLAT = Dual(1e-9, 1e-4)  # determinant of J_IK at the reference pose, without units, up to which its rank is uncertain

FLAT_OF_MORE = Dual(1e-7, 1e-3)  # FLAT with more or fewer actuators than freedoms: their volume is a square root

IDLE = 1e-6  # length of a row, relative to the longest row, below which an actuator has no effect

NEAR = 1e-3  # determinant of J_IK, relative to the reference pose, up to which forces are very large


def actuator_forces(jacobian: Array, wrench: Array, weights: Array | None = None) -> list[Scalar]:
    """Return u with J_IK^T u = wrench; with more actuators than freedoms, the u of the least sum of weights u^2.

    jacobian (actuator, freedom), wrench (freedom,), weights (actuator,) above zero, default one each; actuators with an
    infinite weight give no force. With fewer actuators than freedoms, u is exact where a solution exists, see
    `unbalanced`, and leaves the least sum of squares elsewhere.
    """
    j, w = array(jacobian), array(wrench)
    if j.shape[0] == j.shape[1]:
        return list(inverse(j).T @ w)
    if j.shape[0] < j.shape[1]:
        numerators, divisor = solution(j.T, w)
        return list(divided(numerators, divisor))
    if weights is None:
        return list(least_norm(j, w))
    eases = array([1.0 / sqrt(weight) for weight in weights])
    return list(least_norm(j * eases[:, None], w) * eases)


def preloaded_forces(jacobian: Array, wrench: Array, weights: Array, preload: Array) -> list[Scalar]:
    """Return u with J_IK^T u = wrench and least sum of weights (u - preload)^2; arguments as in `actuator_forces`."""
    j, wished = array(jacobian), array(preload)
    return list(wished + array(actuator_forces(j, array(wrench) - j.T @ wished, weights)))


def acting_rows(jacobian: Array, weights: Array) -> Array:
    """Return J_IK with zero rows for actuators that give no force, whose weights are infinite."""
    largest = sys.float_info.max
    return array([[where(w <= largest, x, 0.0) for x in row] for row, w in zip(jacobian, weights, strict=True)])


def least_maximum_forces(jacobian: Array, wrench: Array, weights: Array, *, switched: bool = False) -> list[Scalar]:
    """Return u with J_IK^T u = wrench and the least maximum of weights |u|, for more actuators than freedoms.

    With `switched`, weights may be infinite: such an actuator gives no force, and the choice of the others is smaller,
    or unique.

    All solutions are u + N s with one number s for each spare actuator, so that the maximum is a convex, piecewise
    linear function of s. Its least value is at a corner, and all corners are tried.
    """
    j = array(jacobian)
    if j.shape[0] > j.shape[1] + 1:
        return _least_of_several(j, array(wrench), array(weights), switched=switched)
    if switched:
        unique = actuator_forces(j, wrench, weights)
        finite = [w <= sys.float_info.max for w in weights]
        all_act = every(finite)
        numbers = array([where(mask, w, 1.0) for mask, w in zip(finite, weights, strict=True)])
        chosen_forces = least_maximum_forces(j, wrench, numbers)
        return [where(all_act, least, alone) for least, alone in zip(chosen_forces, unique, strict=True)]
    u, direction = array(actuator_forces(j, wrench)), complement(j)[:, 0]
    sizes, slopes = u * array(weights), direction * array(weights)

    def maximum(s: Scalar) -> Scalar:
        first, *further_sizes = [abs(size + slope * s) for size, slope in zip(sizes, slopes, strict=True)]
        for further_size in further_sizes:
            first = where(further_size > first, further_size, first)
        return first

    best: Scalar = 0.0
    least = maximum(best)
    for a, b in itertools.combinations(range(len(j)), 2):
        for sign in (1.0, -1.0):
            slope = slopes[a] - slopes[b] * sign
            meeting = -(sizes[a] - sizes[b] * sign) / where(abs(slope) > 0.0, slope, 1.0)
            size_there = maximum(meeting)
            better = size_there < least
            best, least = where(better, meeting, best), where(better, size_there, least)
    return list(u + direction * best)


def _least_of_several(j: Array, wrench: Array, weights: Array, *, switched: bool) -> list[Scalar]:
    """Return the same for several spare actuators, of which some may be off."""
    u, spare, largest = array(actuator_forces(j, wrench, weights)), j.shape[0] - j.shape[1], sys.float_info.max
    active = [w <= largest for w in weights] if switched else [True] * len(j)
    acting = array([where(mask, 1.0, 0.0) for mask in active])
    # an actuator that is off is a direction of its own
    unused = complement(j * acting[:, None])
    free = spanning_columns(unused @ unused.T - np.diag(1.0 - acting), spare) if switched else unused
    sizes = array([where(mask, w, 1.0) for mask, w in zip(active, weights, strict=True)])
    forces = list(u)
    for off in reversed(range(spare if switched else 1)):
        residual = spare - off
        columns = free[:, :residual]
        solution = u + columns @ array(least_maximum(u * sizes, columns * sizes[:, None]))
        if not switched:
            return list(solution)
        so_many = abs(len(j) - off - sum(acting)) < 0.5
        forces = [where(so_many, x, y) for x, y in zip(solution, forces, strict=True)]
    return [where(mask, x, 0.0) for mask, x in zip(active, forces, strict=True)]


def singularity(jacobian: Array) -> Mask:
    """Return whether J_IK loses rank.

    Inverse kinematics exists there, but the actuators cannot hold or move the platform.
    """
    j = array(jacobian)
    square = j if j.shape[0] == j.shape[1] else _gram(j)
    if len(square) > 4:
        return (
            total([x for row in inverse(square) for x in row]) * total([x for row in square for x in row])
            > 1.0 / SINGULAR
        )
    volume = determinant(square)
    return volume * volume <= squared_box(square) * SINGULAR * SINGULAR


def _gram(jacobian: Array) -> Array:
    """Return the smaller one of J J^T and J^T J."""
    return jacobian @ jacobian.T if jacobian.shape[0] < jacobian.shape[1] else jacobian.T @ jacobian


def unbalanced(jacobian: Array, wrench: Array, forces: Sequence[Scalar], inertial: Array) -> Mask:
    """Return whether fewer actuators than freedoms leave a part of a wrench that no actuator balances.

    inertial (freedom,): magnitudes of the forces for accelerations. Springs may give them in place of actuators.
    """
    j, w = array(jacobian), array(wrench)
    balanced = j.T @ array(forces)
    size = total(list(w)) + total(list(balanced)) + total(list(inertial))
    return total(list(w - balanced)) > size * UNBALANCED


def _volume(jacobian: Array) -> Scalar:
    """Return the volume that the columns span, with a sign if there are as many columns as rows."""
    j = array(jacobian)
    return determinant(j) if j.shape[0] == j.shape[1] else sqrt(abs(determinant(_gram(j))))


@dataclass(frozen=True)
class Reference:
    """A matrix (row, direction) at the reference pose, and which of its columns are turns (direction,)."""

    matrix: Array
    turning: Sequence[bool]

    @cached_property
    def _first(self) -> Scalar:
        return _volume(self.matrix)

    @cached_property
    def _box(self) -> Scalar:
        """Volume of orthogonal columns whose lengths are averages over the columns of the same unit.

        With as many rows as columns, rows are first scaled to length one, as actuators have units too; rows without
        effect are not.
        """
        m = array(self.matrix)
        if m.shape[0] != m.shape[1]:
            return _upright(m, self.turning) if m.shape[0] > m.shape[1] else _upright(m.T, [True] * m.shape[0])
        squares = [sum(x * x for x in row) for row in m]
        least = greatest(squares) * (IDLE * IDLE)
        lengths = array([sqrt(where(square > least, square, least)) for square in squares])
        return _upright(m / lengths[:, None], self.turning) * math.prod(lengths)

    @cached_property
    def _flat(self) -> Scalar:
        rows, columns = array(self.matrix).shape
        return self._box * (FLAT if rows == columns else FLAT_OF_MORE)

    @cached_property
    def certain(self) -> Mask:
        """Return whether the matrix has full rank with digits to spare.

        Without full rank, volumes at other poses cannot be related to this one.
        """
        return abs(self._first) > self._flat

    @cached_property
    def volume(self) -> Scalar:
        """Its volume, which others are relative to; NaN where the rank is not certain."""
        return where(self.certain, self._first, np.nan)

    @property
    def unsigned(self) -> Scalar:
        """Volume at other poses up to which rounding may give it either sign."""
        return self._box * SINGULAR

    @cached_property
    def least(self) -> Scalar:
        """Volume at other poses up to which forces are very large, never below that up to which rank is not certain."""
        share = abs(self._first) * NEAR
        return where(share > self._flat, share, self._flat)


def _upright(matrix: Array, turning: Sequence[bool]) -> Scalar:
    """Return the product of column lengths, each replaced by the mean of the rotating or of the other columns."""
    result: Scalar = 1.0
    for kind in (True, False):
        columns = [k for k, turns in enumerate(turning) if turns == kind]
        squares = sum((x * x for x in matrix[:, columns].ravel()), start=0.0)
        result = result * math.prod([sqrt(squares * (1.0 / len(columns)))] * len(columns)) if columns else result
    return result


def regularity(jacobian: Array, home: Reference) -> Scalar:
    """Return det J_IK relative to the reference pose: 1 there, 0 at a singularity of the platform (type 2).

    It is negative beyond such a singularity, and does not depend on units and size. With more actuators than freedoms,
    it is the ratio of the volumes of the columns, which has no sign. NaN if the reference pose itself is singular.
    """
    return _volume(jacobian) / home.volume


def platform_status(jacobian: Array, home: Reference) -> Scalar:
    """Return the status of J_IK: OK, close to a loss of rank, at one, or beyond one from the reference pose.

    A change of sign means that J_IK was singular between both poses, even if no sample was there. There is no sign with
    more actuators than freedoms, and for a reference pose that is singular itself.
    """
    volume = _volume(jacobian)
    status: Scalar = where(abs(volume) < home.least, float(Status.ILL_CONDITIONED), float(Status.OK))
    status = where(volume * home.volume < 0.0, float(Status.SINGULARITY_CROSSED), status)
    return where(abs(volume) <= home.unsigned, float(Status.PLATFORM_SINGULAR), status)


def constraints_lost(rows: Array, home: Reference) -> Mask:
    """Return whether limbs cannot hold the platform, here or on the way from the reference pose.

    This is a constraint singularity. rows (row, held direction): constraint rows of the limbs. With as many rows as
    directions the determinant has a sign, which changes at a crossing. There is no sign with more rows, and for a
    reference pose that is singular itself.
    """
    volume = _volume(rows)
    crossed = where(home.certain, volume / home.volume, NEAR) < NEAR
    return either(either(singularity(rows), crossed), abs(volume) < home.least)


def combined_status(
    statuses: Sequence[Scalar],
    jacobian: Array,
    forces: Sequence[Scalar],
    home: Reference | None = None,
    loose: Mask = False,
) -> Scalar:
    """Return the first limb's failure, else J_IK's: singular, or not as at the reference pose; else the forces'.

    home: J_IK of the reference pose; None for a chain, which has no platform. loose: whether limbs cannot hold the
    platform, see `constraints_lost`, if known; its status has priority over all except failures of limbs.
    """
    finite = total(forces) <= sys.float_info.max
    status = where(finite, float(Status.OK), float(Status.NONFINITE))
    if home is not None:
        found = platform_status(jacobian, home)
        status = where(found > 0.5, found, status)
    singular = Status.SINGULAR if home is None else Status.PLATFORM_SINGULAR
    status = where(singularity(jacobian), float(singular), status)
    status = where(loose, float(Status.CONSTRAINT_SINGULAR), status)
    for limb in reversed(statuses):
        status = where(limb > 0.5, limb, status)
    return status


def limited_status(status: Scalar, margin: Scalar | None) -> Scalar:
    """Return the status where the least margin of all joints to their limits counts as well, last."""
    if margin is None:
        return status
    beyond = where(margin < 0.0, float(Status.JOINT_LIMIT), float(Status.OK))
    return where(status > 0.5, status, beyond)
