"""Other engines at the same job, the same samples, in the same run: results are compared first, then timed.

Pinocchio has no inverse dynamics of closed chains. What it has in C++ for a batch is `rnea` of a tree, so the Delta is
given to it as its spanning tree, the platform on limb 1. That is a part of the job: no inverse kinematics, no closure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks import delta
from benchmarks.delta import Solver
from benchmarks.figures import Figure, Size, best, require
from robots.model import Inertia, Instance, Mechanism, Robot
from tasks import inverse_dynamics, inverse_kinematics
from tasks.kernels.cache import kernel
from tasks.mechanics.frames import inverse_pose, joined_pose, mount_pose
from tasks.mechanics.kinematics import Pose

STRIP = 16

UNIT_TWISTS = np.hstack([np.zeros((3, 3)), np.eye(3)])
"""Twists of a platform that does not turn."""


@dataclass(frozen=True)
class Tree:
    """The spanning tree of a robot in Pinocchio; `slots` are the places of its joints in q, the platform's last."""

    pool: Any
    slots: tuple[int, ...]

    def rows(self, values: np.ndarray) -> np.ndarray:
        """Joint values (sample, ..., limb, joint) in Pinocchio's order, (joint, ..., sample), Fortran order."""
        links = (len(self.slots) - 1) // values.shape[-2]  # then come the joint at the platform and cut joints
        tree = values[..., :links].reshape(*values.shape[:-2], -1)
        flat = [*np.moveaxis(tree, -1, 0), values[..., 0, links]]
        result = np.empty_like(flat)
        result[list(self.slots)] = flat
        return np.asfortranarray(np.moveaxis(result, 1, -1))

    def rnea(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Joint torques (joint, sample) on one thread, into `out`; in Fortran order nothing is copied on the way."""
        pin.rneaInParallel(1, self.pool, q, qd, qdd, out)
        return out


@dataclass(frozen=True)
class Samples:
    """What Pinocchio is given: motion of the tree's joints (joint, sample), and a buffer for their torques.

    `rates` (sample, freedom, joint) are joint rates for unit twists of the platform; `jacobian` is J_IK, (sample,
    actuator, freedom).
    """

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    rates: np.ndarray
    jacobian: np.ndarray
    torque: np.ndarray


def rnea(size: Size) -> Iterator[Figure]:
    """Pinocchio's rnea for all samples of one design against our whole closed-loop job."""
    work = delta.work(1, size.samples)
    robot = Robot.of(work.family, {})
    tree = spanning_tree(robot.mechanism)
    samples, ours = prepare(robot, tree, work.motion[0].T)
    forces = assembled(tree, samples)
    delta.check(forces.T[None], "Pinocchio")
    error = np.abs(forces - ours).max() / np.abs(ours).max()
    require(error < 1e-9, f"Pinocchio and compiled forces differ by {error:.1e}, relative; expected below 1e-9")
    yield Figure("forces differ by", error, "relative", f"all {size.samples} samples of the default design")
    yield from _times(tree, samples, size)


def prepare(robot: Robot, tree: Tree, motion: np.ndarray) -> tuple[Samples, np.ndarray]:
    """What Pinocchio is given for a motion (sample, 9) of the platform, and our forces (sample, actuator)."""
    position = motion[:, :3]
    zero = np.zeros_like(position)
    twist, second = np.hstack([zero, motion[:, 3:6]]), np.hstack([zero, motion[:, 6:]])
    made = inverse_kinematics(robot, position=position, twist=twist, acceleration=second)
    ours = inverse_dynamics(robot, position=position, twist=twist, acceleration=second, full=True)
    unit = inverse_kinematics(robot, position=position[:, None], twist=UNIT_TWISTS)
    q, qd, qdd = (tree.rows(each) for each in (made.position, made.velocity, made.acceleration))
    return Samples(q, qd, qdd, tree.rows(unit.velocity).T, ours.jacobian, np.empty_like(q)), ours.force


def assembled(tree: Tree, samples: Samples) -> np.ndarray:
    """Actuator forces (sample, actuator): the tree's torques on what moves with the platform, then J_IK^-T."""
    torque = tree.rnea(samples.q, samples.qd, samples.qdd, samples.torque)
    wrench = samples.rates @ torque.T[..., None]
    return np.asarray(np.linalg.solve(samples.jacobian.swapaxes(-1, -2), wrench)[..., 0])


def _times(tree: Tree, samples: Samples, size: Size) -> Iterator[Figure]:
    count, bodies = len(samples.jacobian), len(tree.slots)
    mine = _ours(min(size.designs, STRIP), count, size.repeats)
    moving = (samples.q, samples.qd, samples.qdd, samples.torque)
    theirs = best(lambda: tree.rnea(*moving), size.repeats) / count
    closed = best(lambda: assembled(tree, samples), size.repeats) / count
    unit, part = "us/sample/core", "a part of the job against all of it"
    yield Figure("limbsweep", mine * 1e6, unit, "inverse kinematics, closure, dynamics")
    yield Figure("Pinocchio rnea", theirs * 1e6, unit, f"rneaInParallel on 1 thread, tree of {bodies} bodies")
    yield Figure("Pinocchio rnea, over limbsweep", theirs / mine, "x", part)
    yield Figure("Pinocchio rnea and projection", closed * 1e6, unit, "kinematics given; projection in NumPy")
    yield Figure("Pinocchio rnea and projection, over limbsweep", closed / mine, "x", part)


def _ours(designs: int, samples: int, repeats: int) -> float:
    solver = Solver(delta.work(designs, samples), kernel, STRIP)
    delta.check(solver.all(), "compiled kernels")
    return best(solver.sweep, repeats) / (designs * samples)


def spanning_tree(mechanism: Mechanism) -> Tree:
    """The robot without its cut joints, the platform on the first limb, in world axes."""
    model = pin.Model()
    model.gravity = pin.Motion(delta.GRAVITY[0], np.zeros(3))
    joints: list[int] = []
    for k, instance in enumerate(mechanism.instances):
        own = _add_limb(model, mechanism, instance)
        # depth first: in another order some of Pinocchio's algorithms go wrong without a word
        joints += own if k else [*own, _add_platform(model, mechanism, instance, own)]
    first = len(mechanism.limbs[mechanism.instances[0].limb].links)
    joints.append(joints.pop(first))
    data = pin.ModelPool(model, 1)
    return Tree(data, tuple(model.joints[each].idx_v for each in joints))


def _add_limb(model: Any, mechanism: Mechanism, instance: Instance) -> list[int]:
    base = mount_pose(instance.base)
    joints: list[int] = []
    for link in mechanism.limbs[instance.limb].links:
        at = mount_pose(link.placement)
        parent, placed = (joints[link.parent], at) if link.parent >= 0 else (0, joined_pose(base, at))
        joints.append(_add(model, parent, placed, link.axis, link.inertia, f"{instance.name}.{link.joint}"))
    return joints


def _add_platform(model: Any, mechanism: Mechanism, instance: Instance, joints: Sequence[int]) -> int:
    """The platform on the tip of a limb: a joint about the z axis of the tip's frames."""
    (tip,) = mechanism.limbs[instance.limb].tips
    seat = joined_pose(mount_pose(instance.platform), mount_pose(tip.frame_b))
    body = _moved(mechanism.platform.inertia, inverse_pose(seat))
    return _add(model, joints[tip.a], mount_pose(tip.frame_a), (0.0, 0.0, 1.0), body, "platform")


def _add(model: Any, parent: int, placed: Pose, axis: Any, inertia: Inertia | Any, name: str) -> int:
    kind = pin.JointModelRevoluteUnaligned(np.asarray(axis, dtype=float))
    number = model.addJoint(parent, kind, _se3(placed), name)
    body = inertia if isinstance(inertia, pin.Inertia) else _inertia(inertia)
    model.appendBodyToJoint(number, body, pin.SE3.Identity())
    return int(number)


def _se3(pose: Pose) -> Any:
    return pin.SE3(np.asarray(pose.rotation, dtype=float), np.asarray(pose.position, dtype=float))


def _inertia(body: Inertia) -> Any:
    return pin.Inertia(float(body.mass), np.asarray(body.centre, dtype=float), np.asarray(body.tensor, dtype=float))


def _moved(body: Inertia, pose: Pose) -> Any:
    return _inertia(body).se3Action(_se3(pose))
