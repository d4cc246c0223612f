"""Motion of mechanisms with loops through singular points: all joints of the tree, held by their loops.

Independent joints end where a linkage is stretched or folded flat, and the mechanism goes on. Here every joint of the
tree is integrated, with multipliers for the rows of the loops, and after each step loops and their rates are closed
again by the smallest change in the norm of the mass matrix. Rows that depend on others at an instant do nothing there
(singular values below `LOST`), so that continuity and momentum choose the way on. A mechanism that stays where rows
depend on each other has more motions than its equations decide: it ends there with the status SINGULAR. Sources: Bayo
and Avello 1994, Singularity-free augmented Lagrangian algorithms for constrained multibody dynamics; Garcia de Jalon
and Bayo 1994, section 5.3 (projections).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import DOP853

from robots.model import Robot
from robots.status import Status
from tasks.dynamics import inputs
from tasks.dynamics.forces_over_step import Cases, HeldForces, Push
from tasks.dynamics.integration import MotionSystem
from tasks.dynamics.inverse import inverse_kinematics
from tasks.dynamics.motions import ChainMotion, Simulation
from tasks.dynamics.records import AdaptiveSteps, Effort, FixedSteps, Forces
from tasks.dynamics.tree_coordinates import OfChain, OfPlatform, TreeCoordinates, TreeSeries
from tasks.dynamics.tree_friction import TreeFriction, obstacle
from tasks.features.friction.inputs import Friction
from tasks.kernels.kernel import kernel
from tasks.kernels.keys import Values
from tasks.mechanics.families import structure_of
from tasks.stages.spanning_tree import spanning_tree_program, tree_of

Numbers = NDArray[np.float64]

METHOD = "spanning_tree"
"""Name of this method of integration, in constant steps and in those that an error allows."""

LOST = 1e-10
"""Eigenvalue of the rows' mobility, relative to the largest, of rows that depend on others."""

REGULAR = 1e-14
"""Mass, relative to the largest, that every joint has besides."""

STAYS = 20
"""Steps in a row in which rows are lost, after which the motion is not decided."""

CLOSINGS, CLOSED = 6, 1e-10
"""Rounds that close loops after a step, and how far they may be open then, relative to the size of the rows."""

RK4 = ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0))
"""Share of the step and weight of the stages."""


def refuse(robot: Robot, forces: Forces, clock: FixedSteps | AdaptiveSteps, form: object = None) -> None:
    """Refuse a request that all joints of the tree are not integrated with. Raises ValueError."""
    obstacles = {
        "a form of the equations": form is not None,
        "elasticity": forces.elasticity is not None,
        "a balance": isinstance(clock, AdaptiveSteps) and clock.balance is not None,
    }
    what = next((name for name, is_there in obstacles.items() if is_there), None) or obstacle(robot, forces.friction)
    if what:
        raise ValueError(f"integrator: got {METHOD!r} with {what}; expected forces, loads and smooth friction; "
                         "leave it out")  # fmt: skip


def simulate_tree(
    robot: Robot, system: MotionSystem, cases: Cases, friction: Friction, clock: FixedSteps | AdaptiveSteps
) -> ChainMotion | Simulation:
    """Integrate a batch of cases, whose robot, forces and clock `refuse` has let through.

    Adaptive steps are those of scipy's DOP853, of one case. The result has the joints of the tree of a chain as well.
    Raises ValueError for several cases in adaptive steps.
    """
    coordinates = OfChain(robot) if robot.mechanism.is_chain else OfPlatform(robot)
    losses = TreeFriction.of(robot, friction, coordinates.before_limbs)
    run = _TreeRun(robot, system, coordinates, cases, inputs.gravity_input(cases.gravity), losses)
    with np.errstate(all="ignore"):  # a case that came to an end holds NaN
        if isinstance(clock, FixedSteps):
            return coordinates.result(run.motion(clock), cases.batch)
        if cases.batch:
            raise ValueError(f"q, qd, ...: got batch dims {cases.batch}; expected one case, or method 'fixed'")
        return coordinates.result(run.adaptive_motion(clock), cases.batch)


class TreeState(NamedTuple):
    """Angles and rates of the joints (samples, joint), work of actuators and work that friction has taken."""

    angles: Numbers
    rates: Numbers
    work: Numbers
    loss: Numbers

    def moved(self, change: TreeState, step: float) -> TreeState:
        """Return the state after a change over a step."""
        return TreeState(*(x + y * step for x, y in zip(self, change, strict=True)))


@dataclass(frozen=True)
class _TreeRun:
    """A batch of cases of a robot; arrays are (samples, ...) but for those of kernels, (..., padded samples)."""

    robot: Robot
    system: MotionSystem
    coordinates: TreeCoordinates
    cases: Cases
    gravity: Numbers
    friction: TreeFriction

    @cached_property
    def _dependent(self) -> int:
        """Number of joints that rows determine."""
        family = self.robot.family
        return len(tree_of(family, family.reference).links) - structure_of(family).freedoms

    @property
    def _count(self) -> int:
        return int(np.prod(self.cases.batch, dtype=int))

    def _start(self) -> tuple[TreeState, Numbers]:
        """Return the first state, and the status of the samples."""
        at, count = self.system.layout.at, self._count
        start = self.cases.state[:, :count].T
        angles, rates, status = self.coordinates.start(start[:, at["q"]], start[:, at["qd"]], inverse_kinematics)
        work = np.zeros((count, self.system.layout.actuators))
        return TreeState(angles, rates, work, np.zeros((count, len(self.friction.joints)))), status

    def motion(self, clock: FixedSteps) -> TreeSeries:
        """Return the motion in constant steps at all kept times."""
        now, status = self._start()
        servo, lost = self.cases.servo, np.zeros(self._count)
        width, gravity = self.cases.state.shape[1], self.cases.gravity
        running = None if servo is None else servo.loop(width, clock.step, gravity, clock.start)
        moments = [(clock.start, now, status.copy())]
        for k in range(1, clock.steps + 1):
            force = None if running is None else running.force(self.system.instant.seen(self._wide(now)))
            for piece in self.cases.pushes.breaks.pieces(clock.start + (k - 1) * clock.step, clock.step):
                push = self.cases.pushes.over(piece.start, piece.length, self._wide(now))
                push = push if force is None else HeldForces(push, force)
                now = self._step(push, piece.length, now)
                now, rank, open_by = self._closed(now, push)
                lost = np.where(rank < self._dependent, lost + 1.0, 0.0)
                good = _finite(now) & (open_by <= CLOSED)
                status = np.where((status == Status.OK) & ~good, float(Status.INTEGRATION_FAILED), status)
            status = np.where((status == Status.OK) & (lost >= STAYS), float(Status.SINGULAR), status)
            if k % clock.every == 0:
                moments.append((clock.start + k * clock.step, now, status.copy()))
            if (status != Status.OK).all():
                later = [j for j in range(k + 1, clock.steps + 1) if j % clock.every == 0]
                moments += [(clock.start + j * clock.step, now, status) for j in later]
                break
        return self._collected(moments)

    def adaptive_motion(self, clock: AdaptiveSteps) -> TreeSeries:
        """Return the motion of one case in steps that its error allows."""
        now, status = self._start()
        moments = [(float(clock.instants[0]), now, status)]
        if status[0] == Status.OK:
            moments += self._adaptive(now, clock)
        last = moments[-1]
        ended = last[2] if last[2][0] != Status.OK else np.array([float(Status.INTEGRATION_FAILED)])
        moments += [(float(time), last[1], ended) for time in clock.instants[len(moments) :]]
        return self._collected(moments)

    def _adaptive(self, now: TreeState, clock: AdaptiveSteps) -> Iterator[tuple[float, TreeState, Numbers]]:
        """Yield the case at all later times, up to where it comes to its end."""
        waiting, first, last = list(clock.instants[1:]), float(clock.instants[0]), float(clock.instants[-1])
        good, lost, effort = np.array([float(Status.OK)]), 0, Effort(last - first)
        for piece in self.cases.pushes.breaks.pieces(first, last - first):
            inside, end = piece.start + 0.5 * piece.length, piece.start + piece.length

            def change(time: float, flat: Numbers, inside: float = inside) -> Numbers:
                effort.evaluations += 1
                there = self._unpacked(flat)
                push = self.cases.pushes.over(time, 0.0, self._wide(there), inside)
                return _flat(self._change(push, 0.0, there))

            solver = DOP853(change, piece.start, _flat(now), end, rtol=clock.rtol, atol=clock.atol)
            while solver.status == "running":
                solver.step()
                if solver.status == "failed" or effort.crawls(float(solver.t)) or not np.isfinite(solver.y).all():
                    return
                dense, push = solver.dense_output(), self.cases.pushes.over(end, 0.0, self._wide(now), inside)
                while waiting and (waiting[0] <= solver.t or (solver.status == "finished" and end >= last)):
                    yield float(waiting[0]), self._closed(self._unpacked(dense(waiting.pop(0))), push)[0], good
                now, rank, open_by = self._closed(self._unpacked(solver.y), push)
                lost = lost + 1 if rank[0] < self._dependent else 0
                if lost >= STAYS and waiting:
                    yield float(waiting[0]), now, np.array([float(Status.SINGULAR)])
                if lost >= STAYS or open_by[0] > CLOSED:
                    return
                solver.y = _flat(now)
                solver.f = change(solver.t, solver.y)

    def _unpacked(self, flat: Numbers) -> TreeState:
        sizes = np.cumsum([part.shape[1] for part in self._start_parts])
        return TreeState(*(part[None] for part in np.split(flat, sizes[:-1])))

    @cached_property
    def _start_parts(self) -> TreeState:
        return self._start()[0]

    def _collected(self, moments: list[tuple[float, TreeState, Numbers]]) -> TreeSeries:
        def stacked(part: int) -> Numbers:
            return np.stack([np.where(status[:, None] == Status.OK, now[part], np.nan) for _, now, status in moments])

        times, count, joints = np.array([time for time, _, _ in moments]), self._count, len(self.friction.joints)
        rates = stacked(1)
        braking = self.friction.forces(rates.reshape(-1, rates.shape[-1])).reshape(len(moments), count, joints)
        status = moments[-1][2].astype(np.int8)
        return TreeSeries(times, stacked(0), rates, stacked(2), status, braking, stacked(3))

    def _equations(self, now: TreeState, acting: Numbers) -> dict[str, Numbers]:
        width, rows = self.cases.state.shape[1], self.system.layout.acting

        def padded(values: Numbers) -> Numbers:
            filled = np.concatenate([values, np.repeat(values[-1:], width - len(values), axis=0)])
            return np.ascontiguousarray(filled.T)[None]

        moves = self.system.instant.base
        fixed: Values = {"parameters": inputs.parameters(self.robot, timed=True)}
        fixed |= {"gravity": acting[None, rows["base"]] if moves else self.gravity}
        fixed |= {"signals": acting[None, rows["signals"]]} if self.system.layout.signals else {}
        program = spanning_tree_program(self.robot.family, moves)
        out = kernel(program)({**fixed, "angles": padded(now.angles), "rates": padded(now.rates)}, width)
        shapes = {key: shape for key, (shape, _) in program.outputs.items()}
        return {key: values[0, :, : self._count].T.reshape(-1, *shapes[key]) for key, values in out.items()}

    def _wide(self, now: TreeState) -> Numbers:
        """Return the state as the inputs of forces have it (size, padded samples)."""
        state, at, count = self.cases.state.copy(), self.system.layout.at, self._count
        q, qd = self.coordinates.state(now.angles, now.rates)
        state[at["q"], :count], state[at["qd"], :count] = q.T, qd.T
        return state

    def _acting(self, push: Push, share: float, now: TreeState) -> Numbers:
        """Return all that acts from outside (rows of `StateLayout.acting`, padded samples)."""
        state = self._wide(now)
        acting = push(np.full(state.shape[1], share), state)
        return self.system.turned(state, acting) if self.system.load_with_platform else acting

    def _change(self, push: Push, share: float, now: TreeState) -> TreeState:
        """Return the rates of the state."""
        acting, layout, count = self._acting(push, share, now), self.system.layout, self._count
        forces, load = (acting[layout.acting[name], :count].T for name in ("force", "load"))
        equations, joints = self._equations(now, acting), list(self.friction.joints)
        braking, pushed = self.friction.forces(now.rates), self.coordinates.pushed(load, now.angles)
        pushed[:, joints] -= braking
        power = forces * np.einsum("saj,sj->sa", equations["actuators"], now.rates)
        return TreeState(now.rates, _acceleration(equations, forces, pushed), power, braking * now.rates[:, joints])

    def _step(self, push: Push, step: float, now: TreeState) -> TreeState:
        """A step of the classical Runge-Kutta method."""
        end, change = now, None
        for share, weight in RK4:
            change = self._change(push, share, now if change is None else now.moved(change, share * step))
            end = end.moved(change, weight * step / 6.0)
        return end

    def _closed(self, now: TreeState, push: Push) -> tuple[TreeState, Numbers, Numbers]:
        """Return the state with loops closed, rank of the rows, and the gap that is left (samples,)."""
        acting = self._acting(push, 1.0, now)
        for _ in range(CLOSINGS):
            equations = self._equations(now, acting)
            now = now._replace(angles=now.angles - _Held.of(equations).back(equations["open"]))
            if np.nanmax(np.abs(equations["open"]), initial=0.0) <= CLOSED * 1e-2:
                break
        equations = self._equations(now, acting)
        held = _Held.of(equations)
        rates = now.rates - held.back(np.einsum("srj,sj->sr", equations["rows"], now.rates))
        return now._replace(rates=rates), held.rank, np.abs(equations["open"]).max(axis=1, initial=0.0)


def _finite(now: TreeState) -> NDArray[np.bool_]:
    """Return a mask of the samples whose motion is finite."""
    return np.asarray(np.isfinite(now.angles).all(axis=1) & np.isfinite(now.rates).all(axis=1))


def _flat(now: TreeState) -> Numbers:
    """Return the state of one sample as one array."""
    return np.concatenate([part[0] for part in now])


@dataclass(frozen=True)
class _Held:
    """Rows that hold joints: M^-1 G^T (samples, joint, row), pseudo-inverse of their mobility, and its rank.

    `mass` is M + s G^T G: regular also where what has no mass is held, and of the same motion.
    """

    mass: Numbers
    through: Numbers
    inverse: Numbers
    rank: Numbers

    @classmethod
    def of(cls, equations: dict[str, Numbers]) -> _Held:
        """From the equations of a chain; NaN where they are not finite."""
        rows, mass = equations["rows"], equations["mass"]
        good = np.asarray(np.isfinite(rows).all(axis=(1, 2)) & np.isfinite(mass).all(axis=(1, 2)))[:, None, None]
        rows, mass = np.where(good, rows, 0.0), np.where(good, mass, np.eye(mass.shape[1]))
        gram = np.swapaxes(rows, 1, 2) @ rows
        sizes = [np.einsum("sjj->sj", matrix).max(axis=1) for matrix in (mass, gram)]
        share = sizes[0] / np.where(sizes[1] > 0.0, sizes[1], 1.0)
        least = (REGULAR * sizes[0])[:, None, None] * np.eye(mass.shape[1])
        mass = mass + share[:, None, None] * gram + least
        through = np.linalg.solve(mass, np.swapaxes(rows, 1, 2))
        mobility, vectors = np.linalg.eigh(rows @ through)
        counted = mobility > LOST * mobility[:, -1:]
        weights = np.where(counted, 1.0 / np.where(counted, mobility, 1.0), 0.0)
        inverse = (vectors * weights[:, None]) @ np.swapaxes(vectors, 1, 2)
        return cls(mass, through, np.where(good, inverse, np.nan), counted.sum(axis=1))

    def back(self, demand: Numbers) -> Numbers:
        """Smallest motion of joints (samples, joint) that makes up for a demand (samples, row)."""
        return (self.through @ (self.inverse @ demand[..., None]))[..., 0]


def _acceleration(equations: dict[str, Numbers], forces: Numbers, pushed: Numbers) -> Numbers:
    """Accelerations of the joints (samples, joint)."""
    held = _Held.of(equations)
    driving = np.einsum("saj,sa->sj", equations["actuators"], forces) + pushed - equations["bias"]
    free = np.linalg.solve(held.mass, np.nan_to_num(driving)[..., None])[..., 0]
    demand = np.einsum("srj,sj->sr", equations["rows"], free) + equations["drift"]
    return free - held.back(demand)
