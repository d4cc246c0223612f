"""Motion of mechanisms with loops through singular points: all joints of the tree, held by their loops.

Independent joints fail where a linkage is stretched or folded flat, though the mechanism continues to move. Here every
joint of the tree is integrated, with multipliers for the rows of the loops. After each step, loops and their rates are
closed again by the smallest change in the norm of the mass matrix: `tasks.dynamics.tree_equations`. Rows that depend on
others at an instant have no effect there, so that continuity and momentum determine the motion. A mechanism that stays
where rows depend on each other has more motions than its equations determine: it ends with the status SINGULAR. Joints
may have stops: `tasks.dynamics.tree_walk`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass, replace
from robots.loads.signals import Breaks
from robots.model import Robot
from robots.status import Status
from robots.stops import Stops
from tasks.dynamics.corners import Watch
from tasks.dynamics.forces_over_step import Cases, HeldForces, Push
from tasks.dynamics.inverse import inverse_kinematics
from tasks.dynamics.motion_system import MotionSystem
from tasks.dynamics.motions import ChainMotion, Simulation
from tasks.dynamics.records import AdaptiveSteps, FixedSteps, Forces, WoundActing
from tasks.dynamics.tree_coordinates import OfChain, OfPlatform, TreeSeries
from tasks.dynamics.tree_equations import TreeMachine
from tasks.dynamics.tree_friction import TreeFriction, obstacle
from tasks.dynamics.tree_starts import started
from tasks.dynamics.tree_stops import TreeStops
from tasks.dynamics.tree_walk import AdaptiveTree, OverTime, Walk

Numbers = NDArray[np.float64]

METHOD = "spanning_tree"
"""Name of this method of integration, in constant and in adaptive steps."""


@dataclass(frozen=True)
class PushesOfSome:
    """External inputs of some samples of a batch; the other samples of the batch do not move."""

    whole: OverTime
    state: Numbers
    columns: NDArray[np.int64]

    @property
    def breaks(self) -> Breaks:
        """Times at which loads jump, or their slopes do."""
        return self.whole.breaks

    def over(self, start: float, step: float, state: Numbers, inside: float | None = None) -> Push:
        """Return the external inputs in one step without a jump."""
        moved = self.state.copy()
        moved[:, self.columns] = state
        return self.whole.over(start, step, moved, inside).of(self.columns)


def hindrance(
    robot: Robot, forces: Forces, clock: FixedSteps | AdaptiveSteps, form: object = None
) -> str | None:  # fmt: skip
    """Return the name of a part of a request that this method does not support; None if it supports all parts.

    Raises ParameterError for friction that does not fit the robot.
    """
    obstacles = {
        "a form of the equations": form is not None,
        "elasticity": forces.elasticity is not None,
        "motors with an inductance": isinstance(forces.actuator, WoundActing),
        "a balance": isinstance(clock, AdaptiveSteps) and clock.balance is not None,
    }
    what = next((name for name, is_there in obstacles.items() if is_there), None)
    return what or obstacle(robot, forces.friction)


def refuse(
    robot: Robot, forces: Forces, clock: FixedSteps | AdaptiveSteps, form: object = None, stops: Stops | None = None
) -> None:
    """Refuse a request that this method does not support. Raises ValueError."""
    what = hindrance(robot, forces, clock, form)
    if what and stops:
        raise ValueError(f"stops: got them with {what}; expected forces, loads and smooth friction; leave it out")
    if what:
        raise ValueError(f"integrator: got {METHOD!r} with {what}; expected forces, loads and smooth friction; "
                         "leave it out")  # fmt: skip


@dataclass(frozen=True)
class TreeRun:
    """A batch of cases of a robot, the first state (size, padded samples), external inputs, and batch dims.

    watch: corners of the forces of one case, at which adaptive steps end.
    """

    machine: TreeMachine
    cases: Cases
    pushes: OverTime
    batch: tuple[int, ...]
    watch: Watch | None = None

    @classmethod
    def of_cases(
        cls, robot: Robot, system: MotionSystem, cases: Cases, stops: Stops, watch: Watch | None = None
    ) -> TreeRun:  # fmt: skip
        """Return the run of a robot's cases that `refuse` has accepted. Raises ParameterError for wrong stops."""
        count = int(np.prod(cases.batch, dtype=int))
        kind = OfChain if robot.mechanism.is_chain else OfPlatform
        coordinates = kind((robot,), np.zeros(count, dtype=np.int64))
        instant, first = system.instant, coordinates.before_limbs
        friction = TreeFriction.of(robot.family, instant.groups, instant.constants.friction, first)
        ends = TreeStops.of(robot.mechanism, stops, first)
        return cls(TreeMachine(system, coordinates, friction, ends, count), cases, cases.pushes, cases.batch, watch)

    @property
    def is_joint(self) -> bool:
        """True if the cases share a controller, so that none is taken alone."""
        return self.cases.servo is not None

    def of(self, columns: NDArray[np.int64]) -> TreeRun:
        """Return the same of some samples, as one batch dim."""
        machine = self.machine
        coordinates = replace(machine.coordinates, numbers=machine.coordinates.numbers[columns])
        lanes = np.concatenate(
            [columns, np.repeat(columns[-1:], replace(machine, count=len(columns)).width - len(columns))]
        )
        pushes = PushesOfSome(self.pushes, self.cases.state, lanes)
        cases = self.cases._replace(state=np.ascontiguousarray(self.cases.state[:, lanes]))
        return TreeRun(replace(machine, coordinates=coordinates, count=len(columns)), cases, pushes, (len(columns),))

    def result(self, clock: FixedSteps | AdaptiveSteps) -> ChainMotion | Simulation:
        """Return the motion at all kept times. Raises ValueError for adaptive steps of a batch."""
        coordinates = self.machine.coordinates
        with np.errstate(all="ignore"):  # a case that came to an end holds NaN
            if isinstance(clock, FixedSteps):
                return coordinates.result(self.motion(clock), self.batch)
            if self.batch:
                raise ValueError(f"q, qd, ...: got batch dims {self.batch}; expected one case, or method 'fixed'")
            return coordinates.result(self.adaptive_motion(clock), self.batch)

    def motion(self, clock: FixedSteps) -> TreeSeries:
        """Return the motion in constant steps at all kept times."""
        machine = self.machine
        now, status = started(machine, self.cases.state, inverse_kinematics)
        walk = Walk(machine, now, status, machine.free(), np.zeros(machine.count))
        gravity = self.cases.gravity
        running = (
            None if self.cases.servo is None else self.cases.servo.loop(machine.width, clock.step, gravity, clock.start)
        )
        moments = [(clock.start, walk)]
        for k in range(1, clock.steps + 1):
            force = None if running is None else running.force(machine.system.instant.seen(machine.wide(walk.now)))
            for piece in self.pushes.breaks.pieces(clock.start + (k - 1) * clock.step, clock.step):
                push = self.pushes.over(piece.start, piece.length, machine.wide(walk.now))
                walk = walk.on(push if force is None else HeldForces(push, force), piece.length)
            if k % clock.every == 0:
                moments.append((clock.start + k * clock.step, walk))
            if walk.is_over:
                later = [j for j in range(k + 1, clock.steps + 1) if j % clock.every == 0]
                moments += [(clock.start + j * clock.step, walk) for j in later]
                break
        return self._collected(moments)

    def adaptive_motion(self, clock: AdaptiveSteps) -> TreeSeries:
        """Return the motion of one case in steps that its error allows."""
        machine = self.machine
        now, status = started(machine, self.cases.state, inverse_kinematics)
        moments = [(float(clock.instants[0]), Walk(machine, now, status, machine.free(), np.zeros(1)))]
        if status[0] == Status.OK:
            moments += AdaptiveTree(self.pushes, clock, self.watch).moments(moments[0][1])
        last = moments[-1][1]
        ended = last if last.is_over else replace(last, status=np.array([float(Status.INTEGRATION_FAILED)]))
        moments += [(float(time), ended) for time in clock.instants[len(moments) :]]
        return self._collected(moments)

    def _collected(self, moments: list[tuple[float, Walk]]) -> TreeSeries:
        walks = [walk for _, walk in moments]

        def stacked(part: str) -> Numbers:
            return np.stack([np.where(walk.is_ok[:, None], getattr(walk.now, part), np.nan) for walk in walks])

        friction, rates = self.machine.friction, stacked("rates")
        count, joints = self.machine.count, len(friction.joints)
        braking = friction.forces(rates.reshape(-1, rates.shape[-1])).reshape(len(moments), count, joints)
        contact = np.stack([np.where(walk.is_ok[:, None], walk.contacts, 0) for walk in walks])
        return TreeSeries(
            np.array([time for time, _ in moments]), stacked("angles"), rates, stacked("work"), stacked("load_work"),
            walks[-1].status.astype(np.int8), braking, stacked("loss"), contact.astype(np.int8), stacked("impact_loss"),
        )  # fmt: skip
