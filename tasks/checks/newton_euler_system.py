"""Newton-Euler equations of a whole robot as one sparse linear system for all joint wrenches, and its solution.

Six equations for each body, and for the platform if there is one, in world axes; the unknowns are the wrench components
that the joints can transmit, with those of drives. This is the second formulation of inverse dynamics: it shares
inverse kinematics with the limb formulation and nothing after it. It has loads and springs, but no friction, and no
loads that change with time. It serves checks and single states, not sweeps. Source: Huang et al., Inverse dynamics
analysis of a 6-RR-RP-RR parallel manipulator, section 4. The matrices are made in `tasks.checks.newton_euler`.

Solution by sparse factorisation, by GMRES, or for the least norm. A system without a solution gives NaN. Figures are
for the 150 equations of the hexapod, whose condition number is about 150 with moments about the bodies' origins.
"""

from __future__ import annotations

import functools
from typing import Any, Literal, NamedTuple, Protocol, Unpack, get_args

import numpy as np
import scipy.linalg
import scipy.sparse.linalg
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from robots.data_classes import dataclass
from robots.model import Family, Robot
from robots.status import ADVICE, Status
from robots.types import TWIST
from tasks.checks.newton_euler import Moments, SystemAssembly
from tasks.dynamics.body_motions import BodyMotions
from tasks.dynamics.inputs import load_input
from tasks.dynamics.inverse import InverseKinematics, RobotMotion, body_motion, inverse_kinematics
from tasks.dynamics.records import GRAVITY, Forces, Moving
from tasks.mechanics.tolerances import distance_of

Method = Literal["direct", "gmres", "least_norm"]

TOLERANCE = 1e-13
"""Residual at which GMRES stops, relative to the right-hand side."""

DROP = 1e-4
"""Numbers that the incomplete factorisation leaves out, relative to the largest of their column."""

RANK = 1e-10
"""Pivots up to this share of the largest count as zero."""

BALANCED = 1e-8
"""Imbalance, relative to the right-hand side, up to which a least-norm solution counts as one."""

MOVES = 1e-9
"""Change of an actuator force per unit of inner force above which the drives are redundant."""


class SparseEquations(Protocol):
    """Equations as a solver needs them; see `tasks.checks.newton_euler_system.SparseSystem`."""

    @property
    def matrix(self) -> Any:
        """Sparse matrix of the equations."""

    @property
    def right(self) -> np.ndarray:
        """Their right-hand side."""

    @property
    def carried(self) -> Any:
        """Sparse map from the unknowns to the wrenches of all joints."""

    @property
    def carried_fixed(self) -> np.ndarray:
        """The part of those wrenches that is known."""

    @property
    def drives(self) -> Any:
        """Sparse map from the unknowns to the actuator forces."""

    @property
    def drives_fixed(self) -> np.ndarray:
        """The part of those forces that is known."""


def solve(system: SparseEquations, method: Method) -> tuple[np.ndarray, int]:
    """Return the unknowns and the number of iterations. Raises ValueError for a method that does not fit the system."""
    if method not in get_args(Method):
        raise ValueError(f"method: got {method!r}; expected one of {', '.join(get_args(Method))}")
    if method == "least_norm":
        return least_norm(system), 0
    rows, columns = system.matrix.shape
    if rows != columns:
        raise ValueError(
            f"method: got {method!r} for {rows} equations with {columns} unknowns; expected as many of one as of the "
            "other; take 'least_norm' for a robot that is overconstrained or has more drives than it needs"
        )
    return (direct(system), 0) if method == "direct" else gmres(system)


def direct(system: SparseEquations) -> np.ndarray:
    """Return the unknowns by sparse LU factorisation with pivoting."""
    try:
        factors = scipy.sparse.linalg.splu(system.matrix.tocsc())
    except RuntimeError:  # exactly singular
        return np.full(len(system.right), np.nan)
    return np.asarray(factors.solve(system.right))


def gmres(system: SparseEquations) -> tuple[np.ndarray, int]:
    """Return the unknowns by GMRES to a relative residual of 1e-13, preconditioned by an incomplete LU factorisation.

    With it 3 or 4 iterations do. Without, the spectrum gives GMRES no hold: it takes 145 iterations, nearly as many as
    there are unknowns, and some 200 times as long; scaling rows and columns does not help.
    """
    matrix, iterations = system.matrix.tocsc(), 0

    def count(_: float) -> None:
        nonlocal iterations
        iterations += 1

    try:
        factors = scipy.sparse.linalg.spilu(matrix, drop_tol=DROP)
    except RuntimeError:  # exactly singular
        return np.full(len(system.right), np.nan), 0
    x, failed = scipy.sparse.linalg.gmres(
        matrix,
        system.right,
        rtol=TOLERANCE,
        atol=0.0,
        restart=len(system.right),
        maxiter=2,
        M=scipy.sparse.linalg.LinearOperator(matrix.shape, factors.solve),
        callback=count,
        callback_type="pr_norm",
    )
    return (np.full_like(x, np.nan) if failed else x), iterations


def least_norm(system: SparseEquations) -> np.ndarray:
    """Return the unknowns for which the wrenches of all joints, N and N m weighed alike, have the least sum of squares.

    For redundant drives, the sum of squares of the actuator forces is minimized first, so that these forces agree with
    `tasks.inverse_dynamics`. Every joint of the model counts, also each joint of a composite joint.
    """
    q, r = np.linalg.qr(system.carried.toarray())
    fixed_part = q.T @ system.carried_fixed
    matrix = scipy.linalg.solve_triangular(r, system.matrix.toarray().T, trans="T").T
    goal = system.right + matrix @ fixed_part
    rows, triangle, seen, unseen = _row_space(matrix)
    wrench = seen @ scipy.linalg.solve_triangular(triangle, goal[rows], trans="T")
    if np.abs(matrix @ wrench - goal).max() > BALANCED * np.abs(goal).max():
        return np.full(len(wrench), np.nan)
    x, idle = (scipy.linalg.solve_triangular(r, each) for each in (wrench - fixed_part, unseen))
    return np.asarray(x + idle @ _inner(system.drives @ idle, system.drives @ x + system.drives_fixed))


def _inner(moved: np.ndarray, force: np.ndarray) -> np.ndarray:
    """Return the shortest inner forces that make the actuator forces `force` + moved @ inner as small as possible."""
    u, s, vt = np.linalg.svd(moved, full_matrices=False)
    few = s > MOVES
    return np.asarray(-vt[few].T @ ((u[:, few].T @ force) / s[few]))


def null_space(matrix: Any) -> np.ndarray:
    """Return the orthonormal null vectors of the equations: inner forces of an overconstrained robot."""
    return _row_space(matrix.toarray())[3]


def _row_space(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the independent rows of a matrix, R and orthonormal Q with matrix[rows]' = Q R, and Q's complement."""
    q, r, order = scipy.linalg.qr(matrix.T, pivoting=True)
    pivots = np.abs(np.diag(r))
    rank = int((pivots > RANK * pivots[0]).sum())
    return order[:rank], r[:rank, :rank], q[:, :rank], q[:, rank:]


LOOSE = 1e-9
"""Share of a unit vector of the null space above which a component is not unique."""


class Reactions(NamedTuple):
    """Actuator forces and joint wrenches of a robot.

    actuator_force (actuator,) [N m or N], the drives' own inertia included; wrench (limb, joint, 6): (moment, force)
    on the child by the parent at the joint's origin on the child, world axes, in the order of `Limb.joints`, with the
    part that the drive passes on; residual: largest error of any equation [N m or N]; iterations (0 for a
    factorisation).
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
class SparseSystem:
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
        """Solve by "direct" factorisation, "gmres", or for "least_norm"; see `tasks.checks.newton_euler_system`.

        All is NaN where there is no solution: at a singular pose, or for a load that no joint holds. Raises ValueError
        for a method that does not fit the system.
        """
        x, iterations = solve(self, method)
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
) -> SparseSystem:
    """Assemble the system of one state: robot motion without batch dims, gravity (3,), load (6,) on the platform.

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


def _assembled(
    robot: Robot, gravity: ArrayLike, load: ArrayLike | None, moments: Moments, moving: Moving
) -> SparseSystem:
    """Return the same; loads that change with time, which change no matrix, are zero."""
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
    load = load_input(robot, Forces(load=load), None)
    loads = None if load is None else np.reshape(np.asarray(load, dtype=float), (1, 6))
    return _system(SystemAssembly(robot, batch, gravity, loads, moments), 0)


def _system(assembly: SystemAssembly, sample: int) -> SparseSystem:
    """Return the system of one of the states of an assembly."""
    unknowns = tuple(
        Unknowns(joint.names, joint.columns, *(values[sample] for values in joint.passes)) for joint in assembly.joints
    )
    return SparseSystem(
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
    """Compute reactions for any batch of states, (*batch, core...), one system after the other; see `assemble`.

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
    load = load_input(robot, Forces(load=load), None)
    loads = None if load is None else np.broadcast_to(load, (*batch, 6)).reshape(-1, 6)[good]
    mechanism, samples = robot.mechanism, int(np.prod(batch, dtype=int))
    joints = len(mechanism.limbs[0].joints)
    force = np.full((samples, len(mechanism.actuators)), np.nan)
    wrench = np.full((samples, len(mechanism.instances), joints, 6), np.nan)
    residual, iterations = np.full(samples, np.nan), np.zeros(samples, dtype=int)
    if len(good):
        assembly = SystemAssembly(robot, _flat(motion, good, batch), gravity, loads, "body")
    for k, sample in enumerate(good):
        solved = _system(assembly, k).solve(method)
        force[sample], wrench[sample], residual[sample], iterations[sample] = solved
    return Reactions(*(values.reshape((*batch, *values.shape[1:])) for values in (force, wrench, residual, iterations)))


def unique(robot: Robot) -> np.ndarray:
    """Return a mask of the wrench components that statics determines at every generic configuration (limb, joint, 6).

    Found once per family at its default parameters, from the null space at several configurations near the reference
    pose. The others are a matter of the rule used: see "least_norm".
    """
    return _unique(robot.family)


@functools.cache
def _unique(family: Family) -> np.ndarray:
    robot = Robot.of(family, {})
    systems = [_assembled(robot, GRAVITY, None, "body", moving) for moving in _generic_poses(robot)]
    loose = np.max([np.abs(system.carried @ null_space(system.matrix)) for system in systems], axis=0)
    result = loose.max(axis=1, initial=0.0).reshape(systems[0].limbs, -1, 6) < LOOSE
    result.setflags(write=False)
    return result


def _generic_poses(robot: Robot) -> list[Moving]:
    """Return four random poses near the reference pose that inverse kinematics can solve."""
    random, found = np.random.default_rng(20240601), list[Moving]()
    while len(found) < 4:
        pose = _pose_near_home(robot, random.uniform(-0.08, 0.08, max(6, len(robot.mechanism.freedoms))))
        if inverse_kinematics(robot, **pose).status == Status.OK:
            found.append(pose)
    return found


def _pose_near_home(robot: Robot, step: np.ndarray) -> Moving:
    """Return the pose that a step (rotation vector, share of the robot's height; or joint variables) away is."""
    mechanism, home = robot.mechanism, robot.mechanism.platform.home
    if mechanism.is_chain:
        return {"q": step[: len(mechanism.freedoms)]}
    step = np.where([name in mechanism.platform.mobility for name in TWIST], step, 0.0)
    size = distance_of(home.position, *mechanism.limbs)
    turned = Rotation.from_rotvec(step[:3]).as_matrix() @ np.asarray(home.rotation, dtype=float)
    return {"position": np.asarray(home.position, dtype=float) + size * step[3:], "rotation": turned}


def _flat(moving: RobotMotion, chosen: np.ndarray, batch: tuple[int, ...]) -> RobotMotion:
    """Return the chosen samples of a motion, with one batch dim."""

    def of(values: np.ndarray) -> np.ndarray:
        return values.reshape(-1, *values.shape[len(batch) :])[chosen]

    limbs = tuple(tuple(BodyMotions(*map(of, body)) for body in limb) for limb in moving.limbs)
    return RobotMotion(limbs, BodyMotions(*map(of, moving.platform)), InverseKinematics(*map(of, moving.joints)))
