"""The Newton-Euler equations of a whole robot as one sparse linear system for everything its joints transmit.

Six equations for each body and for the platform if there is one, in world axes; the unknowns are the wrench components
that the joints can transmit, the drives' included. This is the second formulation of inverse dynamics: it shares
inverse kinematics with the limb formulation, and nothing after it, loads and springs included, but no friction; those
that change with time it does not know. It serves checks and single states, not sweeps.
Source: Huang et al., Inverse dynamics analysis of a 6-RR-RP-RR parallel manipulator, section 4. The matrices are made
in `tasks.newton_euler.matrices`, and solved in `tasks.newton_euler.solvers`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from robots.model import Family, Robot
from robots.status import ADVICE, Status
from robots.types import TWIST
from tasks.arrays.bodies import BodyMotion, RobotMotion, body_motion
from tasks.arrays.inputs import GRAVITY, Moving, in_world
from tasks.arrays.inverse import InverseKinematics, inverse_kinematics
from tasks.newton_euler import solvers as system_solution
from tasks.newton_euler.matrices import Assembly, Moments
from tasks.newton_euler.solvers import Method

LOOSE = 1e-9
"""Share of a unit vector of the null space above which a component is not unique."""


class Reactions(NamedTuple):
    """What a robot's joints and drives carry.

    actuator_force (actuator,) [N m or N], the drives' own inertia included; wrench (limb, joint, 6): (moment, force) on
    the child by the parent at the joint's origin on the child, world axes, in the order of `Limb.joints`, with the part
    that the drive passes on; residual: largest error of any equation [N m or N]; iterations (0 for a factorisation).
    """

    actuator_force: np.ndarray
    wrench: np.ndarray
    residual: Any
    iterations: Any


class Unknowns(NamedTuple):
    """Meaning of some unknowns x: the wrench on the child at `point` (3,) is fixed (6,) + basis (6, k) @ x[columns]."""

    joints: tuple[str, ...]
    columns: slice
    point: np.ndarray
    basis: np.ndarray
    fixed: np.ndarray


@dataclass(frozen=True)
class System:
    """The equations matrix @ x = right of one state, six rows for each of `bodies`: moments, then forces.

    A row more for each joint that others follow and nothing drives: their forces, by ratio, and its own are in balance.
    Wrenches of all joints, flat, are carried @ x + carried_fixed; forces of the actuated joints are drives @ x +
    drives_fixed.
    """

    matrix: Any
    right: np.ndarray
    bodies: tuple[str, ...]
    unknowns: tuple[Unknowns, ...]
    carried: Any
    carried_fixed: np.ndarray
    drives: Any
    drives_fixed: np.ndarray
    limbs: int

    def solve(self, method: Method = "direct") -> Reactions:
        """Solve by "direct" factorisation, "gmres", or for "least_norm"; see `tasks.newton_euler.solvers`.

        All is NaN where there is no solution: at a singular pose, or for a load that no joint holds. Raises ValueError
        for a method that does not fit the system.
        """
        x, iterations = system_solution.solve(self, method)
        residual = float(np.abs(self.matrix @ x - self.right).max())
        force, wrench = self.drives @ x + self.drives_fixed, self.carried @ x + self.carried_fixed
        if np.isnan(residual):
            force, wrench = (np.full_like(values, np.nan) for values in (force, wrench))
        return Reactions(force, wrench.reshape(self.limbs, -1, 6), residual, iterations)


def assemble(
    robot: Robot,
    *,
    gravity: ArrayLike = GRAVITY,
    load: ArrayLike | None = None,
    moments: Moments = "body",
    **moving: Unpack[Moving],
) -> System:
    """The system of one state: the motion of the robot without batch dims, gravity (3,), load (6,) on the platform.

    Meaning as in `tasks.inverse_dynamics`. Moment equations are taken about each body's origin, or about that of the
    base as the source has it. Raises ValueError for a state that inverse kinematics cannot solve or of several samples.
    """
    _refuse_signals(robot)
    return _assembled(robot, gravity, load, moments, moving)


def _refuse_signals(robot: Robot) -> None:
    if robot.family.signals:
        raise ValueError(
            f"robot: loads of {robot.name} change with time, which is not known here; expected constant loads; call "
            "tasks.joint_reactions with a time"
        )


def _assembled(robot: Robot, gravity: ArrayLike, load: ArrayLike | None, moments: Moments, moving: Moving) -> System:
    """The same; loads that change with time, which change no matrix, are zero."""
    told, size = ("q", len(robot.mechanism.freedoms)) if robot.mechanism.is_chain else ("position", 3)
    motion = body_motion(robot, **moving)
    if motion.joints.status.shape:
        raise ValueError(
            f"{told}: got arrays of batch dims {motion.joints.status.shape}; expected shape ({size},), one state; "
            "for many states call joint_reactions_reference"
        )
    status = Status(int(motion.joints.status))
    if status != Status.OK:
        raise ValueError(f"{told}: got a state of {robot.name} with status {status.name}: {ADVICE[status]}")
    batch = _flat(motion, np.array([0]), ())
    load = in_world(robot, load, None, "world")
    loads = None if load is None else np.reshape(np.asarray(load, dtype=float), (1, 6))
    return _system(Assembly(robot, batch, gravity, loads, moments), 0)


def _system(assembly: Assembly, sample: int) -> System:
    """The system of one of the states of an assembly."""
    unknowns = tuple(
        Unknowns(joint.names, joint.columns, *(values[sample] for values in joint.passes)) for joint in assembly.joints
    )
    return System(
        matrix=assembly.matrix.at(sample),
        right=assembly.right[sample],
        bodies=assembly.bodies,
        unknowns=unknowns,
        carried=assembly.carried.at(sample),
        carried_fixed=assembly.carried_fixed[sample],
        drives=assembly.drives.at(sample),
        drives_fixed=assembly.drives_fixed[sample],
        limbs=len(assembly.limbs),
    )


def joint_reactions_reference(
    robot: Robot,
    *,
    gravity: ArrayLike = GRAVITY,
    load: ArrayLike | None = None,
    method: Method = "direct",
    **moving: Unpack[Moving],
) -> Reactions:
    """Reactions for any batch of states, (*batch, core...), one system after the other; see `assemble`, `System.solve`.

    Samples that inverse kinematics cannot solve hold NaN. Raises ValueError for a robot with drives: here the joints
    that they move are driven themselves.
    """
    if driven := [limb for limb in robot.mechanism.limbs if limb.drives]:
        raise ValueError(
            f"robot: got {robot.name}, whose limb {driven[0].name} has drives; expected actuators that are joints; "
            "call tasks.joint_reactions, or leave the drives out"
        )
    _refuse_signals(robot)
    motion = body_motion(robot, **moving)
    batch = motion.joints.status.shape
    good = np.flatnonzero(motion.joints.status == Status.OK)
    load = in_world(robot, load, None, "world")
    loads = None if load is None else np.broadcast_to(load, (*batch, 6)).reshape(-1, 6)[good]
    mechanism, samples = robot.mechanism, int(np.prod(batch, dtype=int))
    joints = len(mechanism.limbs[0].joints)
    force = np.full((samples, len(mechanism.actuators)), np.nan)
    wrench = np.full((samples, len(mechanism.instances), joints, 6), np.nan)
    residual, iterations = np.full(samples, np.nan), np.zeros(samples, dtype=int)
    if len(good):
        assembly = Assembly(robot, _flat(motion, good, batch), gravity, loads, "body")
    for k, sample in enumerate(good):
        solved = _system(assembly, k).solve(method)
        force[sample], wrench[sample], residual[sample], iterations[sample] = solved
    return Reactions(*(values.reshape((*batch, *values.shape[1:])) for values in (force, wrench, residual, iterations)))


def unique(robot: Robot) -> np.ndarray:
    """Which components of all joint wrenches statics determines at every generic configuration: bool (limb, joint, 6).

    Found once per family at its default parameters, from the null space at several configurations near the reference
    pose. The others are a matter of the rule used: see "least_norm".
    """
    return _unique(robot.family)


@functools.cache
def _unique(family: Family) -> np.ndarray:
    robot = Robot.of(family, {})
    systems = [_assembled(robot, GRAVITY, None, "body", moving) for moving in _generic_poses(robot)]
    loose = np.max([np.abs(system.carried @ system_solution.null_space(system.matrix)) for system in systems], axis=0)
    result = loose.max(axis=1, initial=0.0).reshape(systems[0].limbs, -1, 6) < LOOSE
    result.setflags(write=False)
    return result


def _generic_poses(robot: Robot, count: int = 4, reach: float = 0.08) -> list[Moving]:
    """Random poses about the reference pose that inverse kinematics can solve."""
    random, found = np.random.default_rng(20240601), list[Moving]()
    while len(found) < count:
        pose = _pose_near_home(robot, random.uniform(-reach, reach, max(6, len(robot.mechanism.freedoms))))
        if inverse_kinematics(robot, **pose).status == Status.OK:
            found.append(pose)
    return found


def _pose_near_home(robot: Robot, step: np.ndarray) -> Moving:
    """The pose that a step (rotation vector, share of the robot's height; or joint variables) away is."""
    mechanism, home = robot.mechanism, robot.mechanism.platform.home
    if mechanism.is_chain:
        return {"q": step[: len(mechanism.freedoms)]}
    step = np.where([name in mechanism.platform.mobility for name in TWIST], step, 0.0)
    size = max(float(np.linalg.norm(home.position)), 1e-3)
    turned = Rotation.from_rotvec(step[:3]).as_matrix() @ np.asarray(home.rotation, dtype=float)
    return {"position": np.asarray(home.position, dtype=float) + size * step[3:], "rotation": turned}


def _flat(moving: RobotMotion, chosen: np.ndarray, batch: tuple[int, ...]) -> RobotMotion:
    """Chosen samples of a motion, with one batch dim."""

    def of(values: np.ndarray) -> np.ndarray:
        return values.reshape(-1, *values.shape[len(batch) :])[chosen]

    limbs = tuple(tuple(BodyMotion(*map(of, body)) for body in limb) for limb in moving.limbs)
    return RobotMotion(limbs, BodyMotion(*map(of, moving.platform)), InverseKinematics(*map(of, moving.joints)))
