"""Loops of a limb, for one sample: their solution, their matrices, and the constraint embedding.

The embedding solves loops for dependent joints and the tip for independent ones. Joint rates are theta' = H q' + h,
where q are the independent joints and h cancels the residual of the loops, or the acceleration that velocity causes.
The joint at the platform is a cut joint as well, so only the joints of the separated limb without platform are unknown.
Source: hybrid-limb paper, Eqs. (13), (14), (32), (41), (43)-(47), (76), (77), (90), (91).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from robots.data_classes import dataclass
from robots.model import PLATFORM, Closure, Limb
from robots.types import BASE
from tasks.kernels.expression import Array, Mask, Scalar, Scalars
from tasks.mathematics.algebra import array, cross, is_zero, opposite, product, where
from tasks.mathematics.systems import determinant, divided, pseudo_inverse, volume
from tasks.mechanics.cut_joints import Joined, dropped_rows, row_count, total_wrench
from tasks.mechanics.kinematics import (
    JointState,
    Pose,
    SpatialMotion,
    columns,
    followed,
    motions,
    path,
    poses,
    with_followers,
)
from tasks.mechanics.limb_choice import ClusterChoice, LimbChoice, LoopChoice
from tasks.mechanics.matrices import Bordered, RegularBlock, RowUnits, is_flat, size_of
from tasks.mechanics.tolerances import LOOP_SINGULAR, LOOP_SINGULAR_AT_REST, SINGULAR, lever_of


def loop_matrix(
    limb: Limb, at: dict[int, Pose], joined: Joined, side_a: Sequence[int], side_b: Sequence[int]
) -> np.ndarray:
    """Return a closure's constraint Jacobian: (rows, tree joints), zero for joints outside it. Eqs. (32), (41)."""
    result = np.array(np.zeros((len(joined.rows), len(limb.links))), dtype=object)
    for side, point, sign in ((side_a, joined.point, 1.0), (side_b, joined.b.origin, -1.0)):
        for i, (omega, v) in columns(limb.links, at, side, point).items():
            for k, value in enumerate(joined.rate(omega, v)):
                result[k, i] = result[k, i] + value * sign
    return array(result)


@dataclass(frozen=True)
class SolvedLoop:
    """One loop at one configuration."""

    limb: Limb
    choice: LoopChoice
    closure: Closure
    at: dict[int, Pose]

    def with_rows(self, rows: tuple[int, ...]) -> Joined:
        """Return both ends of the cut joint with these rows."""
        return Joined.of(self.closure, self.at[self.closure.a], self.at[self.closure.b], rows)

    @cached_property
    def joined(self) -> Joined:
        """Both ends of the cut joint, in the axes of the loop's root."""
        return self.with_rows(self.choice.rows)

    @cached_property
    def redundant(self) -> Joined:
        """The same with the rows that were dropped as redundant."""
        return self.with_rows(dropped_rows(self.closure, self.choice.rows))

    @cached_property
    def matrix(self) -> np.ndarray:
        """Constraint Jacobian, Eq. (13)."""
        return self._matrix(self.joined)

    @cached_property
    def dropped_matrix(self) -> np.ndarray:
        """The same for the rows that were dropped."""
        return self._matrix(self.redundant)

    def _matrix(self, joined: Joined) -> np.ndarray:
        whole = loop_matrix(self.limb, self.at, joined, self.choice.side_a, self.choice.side_b)
        return array(with_leaders(self.limb, whole.T).T) if self.limb.followers else whole

    def drift(self, rates: Scalars) -> list[Scalar]:
        """Return the part of the rows' second derivative due to velocity alone, G' theta' in Eq. (14)."""
        moving = motions(self.limb.links, self.at, rates, root=self.choice.root)
        ends = ((self.closure.a, self.joined.point), (self.closure.b, self.joined.b.origin))
        (motion_a, offset_a), (motion_b, offset_b) = ((moving[i], point - self.at[i].position) for i, point in ends)
        return self.joined.drift(motion_a, motion_b, offset_a, offset_b)


def with_leaders(limb: Limb, forces: np.ndarray) -> np.ndarray:
    """Return the forces (joint, ...) of a tree with forces on followers moved to their leading joints."""
    carried = np.array(forces, dtype=object)
    for follower, leaders in limb.followers.items():
        for leader, ratio in leaders:
            carried[leader] = carried[leader] + carried[follower] * ratio
        carried[follower] = np.zeros(carried.shape[1:])
    return carried


def loop_limit(rates: Scalars) -> Scalar:
    """Return the dependence of a loop's columns up to which it is singular, for the rates that move it."""
    return where(sum(rate * rate for rate in rates) > 0.0, LOOP_SINGULAR, LOOP_SINGULAR_AT_REST)


@dataclass(frozen=True)
class SolvedCluster:
    """Loops that are solved together, at one configuration: their rows determine the dependent joints.

    Each loop stays in the axes of its own root, so that joints before that do not enter its rows.
    """

    choice: ClusterChoice
    loops: tuple[SolvedLoop, ...]

    @property
    def joints(self) -> tuple[int, ...]:
        """Tree joints of the loops, each once."""
        return tuple(dict.fromkeys(joint for loop in self.loops for joint in loop.choice.joints))

    @cached_property
    def matrix(self) -> np.ndarray:
        """Constraint Jacobians of the loops, one below the other."""
        return np.vstack([loop.matrix for loop in self.loops])

    @cached_property
    def moved(self) -> list[int]:
        """Tree joints on which the rows depend."""
        return [k for k, column in enumerate(self.matrix.T) if not all(map(is_zero, column))]

    @cached_property
    def dependent_matrix(self) -> np.ndarray:
        """The columns of the dependent joints, G_y."""
        return self.matrix[:, list(self.choice.dependent)]

    @property
    def units(self) -> RowUnits:
        """Units of the rows."""
        lengths = (is_length for loop in self.loops for is_length in loop.joined.lengths)
        return RowUnits(tuple(lengths), lever_of(self.loops[0].limb))

    @cached_property
    def bordered(self) -> Bordered | None:
        """G_y in blocks, of loops that close over a platform whose coordinates follow."""
        return Bordered(self.dependent_matrix, self.units, self.choice.blocks) if self.choice.blocks.inner else None

    @cached_property
    def inverse(self) -> np.ndarray:
        """Inverse of the columns of the dependent joints, G_y^-1 in Eq. (45); left one where there are more rows."""
        if self.overdetermined:
            return pseudo_inverse(self.dependent_matrix)
        return self.units.inverse(self.dependent_matrix) if self.bordered is None else self.bordered.inverse

    @property
    def overdetermined(self) -> bool:
        """Return whether there are more rows than dependent joints."""
        return len(self.matrix) > len(self.choice.dependent)

    @cached_property
    def idle(self) -> Array:
        """Projection (row, row) onto multipliers without work of an overdetermined cluster; (0, 0) for others."""
        if not self.overdetermined:
            return np.zeros((0, 0))
        return array(np.eye(len(self.matrix)) - self.dependent_matrix @ self.inverse)

    @cached_property
    def regular_blocks(self) -> tuple[RegularBlock, ...]:
        """Matrices that all have full rank if the matrix of the dependent joints has full rank."""
        if self.bordered is None:
            return (self.whole,)
        blocks = [*self.choice.blocks.inner, self.choice.blocks.border]
        joints = [tuple(self.choice.dependent[k] for k in columns) for _, columns in blocks]
        units = [self.units.part(rows) for rows, _ in blocks]
        parts = zip(self.bordered.parts, self.bordered.part_inverses, joints, units, strict=True)
        return tuple(RegularBlock(*part) for part in parts)

    @property
    def whole(self) -> RegularBlock:
        """The matrix of all dependent joints."""
        return RegularBlock(self.dependent_matrix, self.inverse, self.choice.dependent, self.units)

    @cached_property
    def determinant(self) -> Scalar:
        """det G_y; its sign distinguishes assemblies of the loops. With blocks it has a constant factor of 1 or -1."""
        if self.bordered is None:
            return size_of(self.units.in_one_unit(self.dependent_matrix))
        result: Scalar = 1.0
        for part in self.bordered.parts:
            result = result * determinant(part)
        return result

    def answer(self, demand: Array, *, once: bool = False) -> dict[int, Scalar]:
        """Return the dependent joints' part that compensates for `demand` in the rows; once: the only demand."""
        right = array(demand)
        if self.bordered is not None:
            found = self.bordered.solution(right)
        else:
            found = divided(*self.units.solution(self.dependent_matrix, right)) if once else self.inverse @ right
        return dict(zip(self.choice.dependent, -found, strict=True))

    def residual(self) -> list[Scalar]:
        """Compute the closure residual of every kept row."""
        return [value for loop in self.loops for value in loop.joined.residual()]

    def drift(self, rates: Scalars) -> list[Scalar]:
        """Return the part of the rows' second derivative due to velocity alone."""
        return [value for loop in self.loops for value in loop.drift(rates)]


ORIGIN = np.zeros(3)


@dataclass(frozen=True)
class Embedding:
    """Solved loops of a limb at one configuration."""

    limb: Limb
    choice: LimbChoice
    loops: tuple[SolvedLoop, ...]

    @classmethod
    def of(cls, limb: Limb, choice: LimbChoice, states: Sequence[JointState]) -> Embedding:
        """Return the loops of the limb at these joint states."""
        if limb.loops and limb.followers:
            states = with_followers(limb, states)
        solved = (
            SolvedLoop(limb, each, closure, poses(limb.links, states, each.root))
            for each, closure in zip(choice.loops, limb.loops, strict=True)
        )
        return cls(limb, choice, tuple(solved))

    @cached_property
    def clusters(self) -> tuple[SolvedCluster, ...]:
        """The loops in the order of their clusters."""
        return tuple(SolvedCluster(each, tuple(self.loops[k] for k in each.loops)) for each in self.choice.clusters)

    @cached_property
    def matrix(self) -> np.ndarray:
        """H (tree joints, independent joints) of Eqs. (45), (77)."""
        position = {joint: k for k, joint in enumerate(self.choice.independent)}
        result = np.array(np.zeros((len(self.limb.links), len(position))), dtype=object)
        for joint, k in position.items():
            result[joint, k] = 1.0
        for k in range(len(position)):
            self._answer(result[:, k], [np.zeros(1)] * len(self.clusters))
        return array(result)

    def _answers(self, demands: Sequence[Scalars]) -> np.ndarray:
        result = np.array(np.zeros(len(self.limb.links)), dtype=object)
        self._answer(result, demands)
        return array(result)

    def _answer(self, moves: np.ndarray, demands: Sequence[Scalars], *, once: bool = False) -> None:
        """Fill in the dependent joints, by cluster, from its demand and the joints before it; followers last."""
        for cluster, demand in zip(self.clusters, demands, strict=True):
            movers = [j for j in cluster.joints if j not in cluster.choice.dependent and not is_zero(moves[j])]
            caused = [cluster.matrix[:, joint] * moves[joint] for joint in movers]
            if caused or not all(map(is_zero, demand)):
                for joint, value in cluster.answer(sum(caused, start=array(demand)), once=once).items():
                    moves[joint] = value
        for joint, leaders in self.limb.followers.items():
            moves[joint] = followed(leaders, moves.__getitem__)

    def residuals(self, unit: Scalar = 1.0) -> list[Scalar]:
        """Compute the closure residual of every kept row of every loop, cosines in a unit of length."""
        return [value for loop in self.loops for value in loop.joined.residual(unit)]

    def dropped(self, unit: Scalar = 1.0) -> list[Scalar]:
        """Compute the closure residual of every row that was dropped as redundant, cosines in a unit of length."""
        return [value for loop in self.loops for value in loop.redundant.residual(unit)]

    def correction(self) -> np.ndarray:
        """Return h of a Newton step, which closes the loops to first order."""
        return self._answers([cluster.residual() for cluster in self.clusters])

    def newton_step(self, moves: Scalars) -> np.ndarray:
        """Return the step of all tree joints that closes the loops to first order, for moves of the independent ones.

        It is H times the moves plus `correction`, solved at once.
        """
        result = np.array(np.zeros(len(self.limb.links)), dtype=object)
        result[list(self.choice.independent)] = moves
        self._answer(result, [cluster.residual() for cluster in self.clusters], once=True)
        return array(result)

    def drift(self, rates: Scalars) -> np.ndarray:
        """Return h of the accelerations: H' q' in Eqs. (46), (47)."""
        return self._answers([cluster.drift(rates) for cluster in self.clusters])

    def multipliers(self, forces: Array, idle: Scalars) -> list[list[Scalar]]:
        """Return the multipliers of the kept rows of each loop that put these forces on the dependent joints.

        idle: for overdetermined clusters, one after the other, multipliers of which the workless part is added.
        """
        found: dict[int, list[Scalar]] = {}
        remaining_forces, remaining_idle = with_leaders(self.limb, forces), list(idle)
        for cluster in reversed(self.clusters):
            values = product(cluster.inverse.T, remaining_forces[list(cluster.choice.dependent)])
            if cluster.overdetermined:
                start = len(remaining_idle) - len(cluster.matrix)
                values = values + cluster.idle @ array(remaining_idle[start:])
                remaining_idle = remaining_idle[:start]
            moved = cluster.moved
            remaining_forces[moved] = remaining_forces[moved] - cluster.matrix[:, moved].T @ values
            each = iter(values)
            for number, loop in zip(cluster.choice.loops, cluster.loops, strict=True):
                found[number] = [next(each) for _ in loop.joined.rows]
        return [found[number] for number in range(len(self.loops))]


@dataclass(frozen=True)
class Tips:
    """The cut joints between limb and platform at one configuration; all poses and motions in the limb's mount frame.

    `platform` is the pose of the limb's mount frame at the platform, `reference` the position of the platform's own
    origin.
    """

    limb: Limb
    choice: LimbChoice
    embedding: Embedding
    at: dict[int, Pose]
    platform: Pose
    reference: Array

    @classmethod
    def of(
        cls, limb: Limb, choice: LimbChoice, states: Sequence[JointState], platform: Pose, reference: Array = ORIGIN
    ) -> Tips:
        """Return the tips at these joint states."""
        return cls(limb, choice, Embedding.of(limb, choice, states), poses(limb.links, states), platform, reference)

    def _join(self, closure: Closure, rows: Sequence[int]) -> Joined:
        opposite_body = self.platform if closure.b == PLATFORM else self.at[closure.b]
        return Joined.of(closure, self.at[closure.a], opposite_body, tuple(rows))

    @cached_property
    def joined(self) -> tuple[Joined, ...]:
        """Both ends of every joint at the platform."""
        return tuple(self._join(tip, rows) for tip, rows in zip(self.limb.tips, self.choice.tip_rows, strict=True))

    @cached_property
    def cut_joints(self) -> tuple[Joined, ...]:
        """Both ends of every joint at the platform, then of every cut joint of a loop, with all rows, in mount axes."""
        return tuple(self._join(each, range(row_count(each.kind))) for each in (*self.limb.tips, *self.limb.loops))

    @cached_property
    def offsets(self) -> tuple[Array, ...]:
        """From the platform's origin to each joint."""
        return tuple(joined.b.origin - self.reference for joined in self.joined)

    @cached_property
    def matrix(self) -> np.ndarray:
        """Rows of the tips over tree joints."""
        return self._matrix(self.joined)

    def _matrix(self, joints: Sequence[Joined]) -> np.ndarray:
        sides = (path(self.limb.links, tip.a) for tip in self.limb.tips)
        pairs = zip(joints, sides, strict=True)
        return np.vstack([loop_matrix(self.limb, self.at, joined, side, ()) for joined, side in pairs])

    @cached_property
    def compound(self) -> np.ndarray:
        """Rows of the tips over independent joints, L_t = J H in Eqs. (79), (85)."""
        return self.matrix @ self.embedding.matrix

    @cached_property
    def inverse(self) -> np.ndarray:
        """L_t^-1 of Eqs. (86), (91); its left pseudo-inverse, Eq. (94), where every row is kept."""
        return pseudo_inverse(self.compound) if self.limb.every_row else self.units.inverse(self.compound)

    @property
    def units(self) -> RowUnits:
        """Units of the rows."""
        lengths = (is_length for joined in self.joined for is_length in joined.lengths)
        return RowUnits(tuple(lengths), lever_of(self.limb))

    @property
    def whole(self) -> RegularBlock:
        """L_t, its inverse, and the independent joints."""
        return RegularBlock(self.compound, self.inverse, self.choice.independent, self.units)

    @cached_property
    def in_one_unit(self) -> Array:
        """The matrix whose determinant is `determinant`: L_t, or with rows of cosines as lengths."""
        return self.units.in_one_unit(self.compound)

    @cached_property
    def determinant(self) -> Scalar:
        """det L_t; its sign tells assembly branches apart. Where every row is kept, the volume of the columns."""
        return volume(self.in_one_unit) if self.limb.every_row else determinant(self.in_one_unit)

    def solve(self, demand: Scalars, answered: Array) -> np.ndarray:
        """Return the tree joint values whose rows are `demand`, given h = `answered` of the loops."""
        demanded = array(demand) - self.matrix @ answered
        return self.embedding.matrix @ (self.inverse @ demanded) + answered

    def facing(self) -> list[Mask]:
        """Return for each axis that tips or loops share whether it points the same way."""
        joints = (*self.joined, *(loop.joined for loop in self.embedding.loops))
        return [mask for joined in joints for mask in joined.facing()]

    def residuals(self, unit: Scalar = 1.0) -> list[Scalar]:
        """Compute the closure residual of every kept row, of tips and loops, cosines in a unit of length."""
        tips = [value for joined in self.joined for value in joined.residual(unit)]
        return [*tips, *self.embedding.residuals(unit)]

    def dropped(self, unit: Scalar = 1.0) -> list[Scalar]:
        """Compute the closure residual of every row of the tips that was dropped, cosines in a unit of length."""
        return [value for joined in self.redundant for value in joined.residual(unit)]

    def newton_step(self) -> np.ndarray:
        """Return the step of all tree joints, Eq. (96)."""
        return self.solve(self._gaps, self.embedding.correction())

    def newton_fraction(self) -> tuple[np.ndarray, Scalar]:
        """Return the step of all tree joints, Eq. (96), as numerators (joint,) and the divisor of all of them.

        It takes fewer operations than `newton_step` where L_t^-1 has no other use.
        """
        answered = self.embedding.correction()
        demanded = array(self._gaps) - self.matrix @ answered
        found, divisor = self.units.solution(self.compound, demanded)
        return self.embedding.matrix @ found + answered * divisor, divisor

    @property
    def _gaps(self) -> list[Scalar]:
        """Residuals of the kept rows of the tips with the other sign: the change that a step has to make."""
        return [-value for joined in self.joined for value in joined.residual()]

    def rates(self, platform: SpatialMotion) -> np.ndarray:
        """Return the tree joint rates for a motion of the platform's origin. Eq. (87)."""
        demand: list[Scalar] = []
        for joined, offset in zip(self.joined, self.offsets, strict=True):
            demand += joined.rate(platform.omega, platform.at(offset)[0])
        return self.embedding.matrix @ (self.inverse @ array(demand))

    def accelerations(self, rates: Array, platform: SpatialMotion) -> np.ndarray:
        """Return the tree joint accelerations for a motion of the platform's origin. Eq. (88)."""
        moving = motions(self.limb.links, self.at, rates, root=BASE)
        demand: list[Scalar] = []
        for tip, joined, offset in zip(self.limb.tips, self.joined, self.offsets, strict=True):
            arm = joined.point - self.at[tip.a].position
            demand += [-value for value in joined.drift(moving[tip.a], platform, arm, offset)]
        return self.solve(demand, self.embedding.drift(rates))

    def covector(self, multipliers: Scalars) -> np.ndarray:
        """Return (moment, force) on the platform's origin from row multipliers: transpose of rows over the twist."""
        return self._covector(self.joined, multipliers)

    def dropped_covector(self, multipliers: Scalars) -> np.ndarray:
        """Return (moment, force) on the platform's origin from multipliers of the rows dropped as redundant."""
        return self._covector(self.redundant, multipliers)

    def _covector(self, joints: Sequence[Joined], multipliers: Scalars) -> np.ndarray:
        values = iter(multipliers)
        total = np.zeros(6)
        for joined, offset in zip(joints, self.offsets, strict=True):
            moment, force = total_wrench(joined, [next(values) for _ in joined.rows])
            total = total + array([*(moment + cross(offset, force)), *force])
        return total

    @cached_property
    def redundant(self) -> tuple[Joined, ...]:
        """The joints at the platform with the rows that were dropped."""
        pairs = zip(self.limb.tips, self.choice.tip_rows, strict=True)
        return tuple(self._join(tip, dropped_rows(tip, kept)) for tip, kept in pairs)

    @cached_property
    def dropped_matrix(self) -> np.ndarray:
        """Dropped rows of the tips over tree joints."""
        return self._matrix(self.redundant)

    def joint_wrenches(self, kept: Scalars, dropped: Scalars) -> list[tuple[Array, Array]]:
        """Return (moment, force) of each joint at the platform on the limb, at the joint, of all multipliers."""
        values, remaining_rows = iter(kept), iter(dropped)
        result = []
        for joined, redundant_rows in zip(self.joined, self.redundant, strict=True):
            m, f = total_wrench(joined, [next(values) for _ in joined.rows])
            n, g = total_wrench(redundant_rows, [next(remaining_rows) for _ in redundant_rows.rows])
            result.append((m + n, f + g))
        return result


def loops_kept(tips: Tips, start: Tips) -> list[Mask]:
    """Return for each cluster of loops whether it is assembled as at the reference pose."""
    clusters = zip(tips.embedding.clusters, start.embedding.clusters, strict=True)
    return [opposite(now.determinant * before.determinant < 0.0) for now, before in clusters]


def regular(tips: Tips, size: Scalar) -> Mask:
    """Return whether a limb of that size is so far from a singularity that joints follow from small residuals."""
    return opposite(is_flat(tips.whole, SINGULAR, size))
