"""Constraint embedding of a limb, for one sample: its loops solved for dependent joints, its tip for independent ones.

Joint rates are theta' = H q' + h, where q are the independent joints and h answers what the loops demand on top (a
residual, or an acceleration caused by velocity). Source: hybrid-limb paper, Eqs. (43)-(47), (76), (77), (90), (91). The
joint at the platform is a cut joint as well, so only the joints of the separated limb without platform are unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robots.model import PLATFORM, Closure, Limb
from robots.types import BASE
from tasks.kernels.types import Array, Mask, Scalar, Scalars
from tasks.mathematics.algebra import array, cross, determinant, inverse, is_zero, pseudo_inverse, volume
from tasks.mechanics.closures import Joined, row_count
from tasks.mechanics.kinematics import JointState, Motion, Pose, motions, path, poses
from tasks.mechanics.loops import LimbChoice, SolvedCluster, SolvedLoop, loop_matrix, others

ORIGIN = np.zeros(3)


@dataclass(frozen=True)
class Embedding:
    """All loops of a limb at one configuration."""

    limb: Limb
    choice: LimbChoice
    loops: tuple[SolvedLoop, ...]

    @classmethod
    def of(cls, limb: Limb, choice: LimbChoice, states: Sequence[JointState]) -> Embedding:
        """The loops of the limb for these joint states."""
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
        for entry in self.limb.couplings:
            if (joint := self.limb.index(entry.joint)) not in position:
                result[joint, position[self.limb.index(entry.of)]] = entry.ratio
        for k in range(len(position)):
            self._answer(result[:, k], [np.zeros(1)] * len(self.clusters))
        return array(result)

    def _answers(self, demands: Sequence[Scalars]) -> np.ndarray:
        result = np.array(np.zeros(len(self.limb.links)), dtype=object)
        self._answer(result, demands)
        return array(result)

    def _answer(self, moves: np.ndarray, demands: Sequence[Scalars]) -> None:
        """Fill in the dependent joints: cluster by cluster what makes up for its demand and for joints before it."""
        for cluster, demand in zip(self.clusters, demands, strict=True):
            given = [j for j in cluster.joints if j not in cluster.choice.dependent and not is_zero(moves[j])]
            caused = [cluster.matrix[:, joint] * moves[joint] for joint in given]
            if caused or not all(map(is_zero, demand)):
                for joint, value in cluster.answer(sum(caused, start=array(demand))).items():
                    moves[joint] = value

    def residuals(self) -> list[Scalar]:
        """How far every kept row of every loop is from closed."""
        return [value for loop in self.loops for value in loop.joined.residual()]

    def dropped(self) -> list[Scalar]:
        """How far every row that was dropped as redundant is from closed."""
        return [value for loop in self.loops for value in loop.redundant.residual()]

    def correction(self) -> np.ndarray:
        """h of a Newton step: what closes the loops to first order."""
        return self._answers([cluster.residual() for cluster in self.clusters])

    def drift(self, rates: Scalars) -> np.ndarray:
        """h of the accelerations: H' q' in Eqs. (46), (47)."""
        return self._answers([cluster.drift(rates) for cluster in self.clusters])

    def multipliers(self, forces: Array) -> list[list[Scalar]]:
        """Multipliers of the kept rows of each loop that put these forces on the dependent joints."""
        found: dict[int, list[Scalar]] = {}
        rest = array(forces)
        for cluster in reversed(self.clusters):
            values = cluster.inverse.T @ rest[list(cluster.choice.dependent)]
            rest = rest - cluster.matrix.T @ values
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
        """The tips for these joint states."""
        return cls(limb, choice, Embedding.of(limb, choice, states), poses(limb.links, states), platform, reference)

    def _join(self, closure: Closure, rows: Sequence[int]) -> Joined:
        other = self.platform if closure.b == PLATFORM else self.at[closure.b]
        return Joined.of(closure, self.at[closure.a], other, tuple(rows))

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
        return pseudo_inverse(self.compound) if self.limb.every_row else inverse(self.compound)

    @cached_property
    def determinant(self) -> Scalar:
        """det L_t; its sign tells assembly branches apart. Where every row is kept, the volume of the columns."""
        return volume(self.compound) if self.limb.every_row else determinant(self.compound)

    def solve(self, demand: Scalars, answered: Array) -> np.ndarray:
        """Tree joint values whose rows are `demand`, given h = `answered` of the loops."""
        wanted = array(demand) - self.matrix @ answered
        return self.embedding.matrix @ (self.inverse @ wanted) + answered

    def facing(self) -> list[Mask]:
        """Whether axes that tips and loops share point the same way."""
        joints = (*self.joined, *(loop.joined for loop in self.embedding.loops))
        return [mask for joined in joints for mask in joined.facing()]

    def residuals(self) -> list[Scalar]:
        """How far every kept row, of tips and loops, is from closed."""
        return [*(value for joined in self.joined for value in joined.residual()), *self.embedding.residuals()]

    def dropped(self) -> list[Scalar]:
        """How far every row of the tips that was dropped as redundant is from closed."""
        return [value for joined in self.redundant for value in joined.residual()]

    def newton_step(self) -> np.ndarray:
        """Step of all tree joints, Eq. (96)."""
        demand = [-value for joined in self.joined for value in joined.residual()]
        return self.solve(demand, self.embedding.correction())

    def rates(self, platform: Motion) -> np.ndarray:
        """Tree joint rates for a motion of the platform's origin. Eq. (87)."""
        demand: list[Scalar] = []
        for joined, offset in zip(self.joined, self.offsets, strict=True):
            demand += joined.rate(platform.omega, platform.at(offset)[0])
        return self.embedding.matrix @ (self.inverse @ array(demand))

    def accelerations(self, rates: Array, platform: Motion) -> np.ndarray:
        """Tree joint accelerations for a motion of the platform's origin. Eq. (88)."""
        moving = motions(self.limb.links, self.at, rates, root=BASE)
        demand: list[Scalar] = []
        for tip, joined, offset in zip(self.limb.tips, self.joined, self.offsets, strict=True):
            arm = joined.point - self.at[tip.a].position
            demand += [-value for value in joined.drift(moving[tip.a], platform, arm, offset)]
        return self.solve(demand, self.embedding.drift(rates))

    def covector(self, multipliers: Scalars) -> np.ndarray:
        """(moment, force) on the platform's origin of row multipliers: the transpose of row rates over the twist."""
        return self._covector(self.joined, multipliers)

    def dropped_covector(self, multipliers: Scalars) -> np.ndarray:
        """The same for the rows that were dropped as redundant."""
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
        return tuple(self._join(tip, others(tip, kept)) for tip, kept in pairs)

    @cached_property
    def dropped_matrix(self) -> np.ndarray:
        """Dropped rows of the tips over tree joints."""
        return self._matrix(self.redundant)

    def joint_wrenches(self, kept: Scalars, dropped: Scalars) -> list[tuple[Array, Array]]:
        """(moment, force) of each joint at the platform on the limb, at the joint, of all multipliers."""
        values, rest = iter(kept), iter(dropped)
        result = []
        for joined, other in zip(self.joined, self.redundant, strict=True):
            m, f = total_wrench(joined, [next(values) for _ in joined.rows])
            n, g = total_wrench(other, [next(rest) for _ in other.rows])
            result.append((m + n, f + g))
        return result


def total_wrench(joined: Joined, multipliers: Scalars) -> tuple[Array, Array]:
    """(moment, force) on end a, at the joint, of the multipliers of a cut joint's rows."""
    moment, force = np.zeros(3), np.zeros(3)
    for row, value in zip(joined.rows, multipliers, strict=True):
        m, f = joined.wrench(row)
        moment, force = moment + m * value, force + f * value
    return moment, force
