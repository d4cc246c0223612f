"""Matrices of the Newton-Euler system of a whole robot for a batch of states, in plain NumPy.

The pattern of blocks is the same for all states of a robot, so blocks are computed for the whole batch and cut into one
sparse matrix per state at the end. `tasks.checks.newton_euler_system` solves the system. Bodies without mass have no
equations (`tasks.checks.composite_joints`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike

from robots.data_classes import dataclass
from robots.model import PLATFORM, Robot
from robots.springs import ForceElement
from robots.types import BASE
from tasks.checks.applied_forces import JointStates, applied_wrench, joint_states, products, spring_forces
from tasks.checks.composite_joints import (
    JointSeries,
    MovingJoint,
    Transmission,
    bodies,
    chains,
    limb_joints,
    transmission,
)
from tasks.dynamics.body_motions import BodyMotions, inertial_wrench
from tasks.dynamics.inverse import RobotMotion
from tasks.kernels.expression import Array

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
        fixed = screw.inertial + products(along, each.passes.fixed)[:, 0]
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
            parts.append(products(shift(body.position - self._about(body)), wrench))
        right = np.concatenate(parts, axis=1)
        for joint in self.joints:
            for row, acting in self._ends(joint):
                right[:, row : row + 6] -= products(acting, joint.passes.fixed)
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
                fixed[:, row : row + 6] = products(moved, each.passes.fixed)
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
                        fixed[:, row] = screw.inertial + products(along, each.passes.fixed)[:, 0]
                        for block, ratios in self._followers(each.limb, part.joint):
                            blocks.append(block._replace(row=row))
                            fixed[:, row] += ratios
        return BlockMatrix.of((fixed.shape[1], self.columns), blocks), fixed

    def _actuated(self, limb: int, joint: int) -> bool:
        return self.limbs[limb].joints[joint] in self.limbs[limb].actuated

    def _actuator(self, limb: int, joint: int) -> int:
        before = sum(len(each.actuated) for each in self.limbs[:limb])
        return before + self.limbs[limb].actuated.index(self.limbs[limb].joints[joint])


def shift(arm: np.ndarray) -> np.ndarray:
    """Return the map (n, 6, 6) from a wrench at a point to the same wrench at the origin, `arm` (n, 3) away from it."""
    result = np.zeros((len(arm), 6, 6))
    result[:, range(6), range(6)] = 1.0
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        result[:, i, 3 + j], result[:, j, 3 + i] = -arm[:, k], arm[:, k]
    return result
