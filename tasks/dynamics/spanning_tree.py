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

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from robots.model import Robot
from robots.status import Status
from tasks.dynamics import inputs
from tasks.dynamics.forward import Cases, opened
from tasks.dynamics.integration import MotionSystem
from tasks.dynamics.motions import ChainMotion, Simulation
from tasks.dynamics.records import Environment, FixedSteps, Forces, ServoLike, State
from tasks.dynamics.tree_coordinates import OfChain, OfPlatform, TreeCoordinates, TreeSeries
from tasks.kernels.kernel import kernel
from tasks.kernels.keys import Arrays
from tasks.mechanics.structure import structure_of
from tasks.stages.spanning_tree import spanning_tree_program, tree_of

Numbers = NDArray[np.float64]

METHOD = "spanning_tree"
"""Name of this method of integration among those of fixed steps."""

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


def refuse(robot: Robot, forces: Forces, environment: Environment, form: object = None) -> None:
    """Refuse a request that all joints of the tree are not integrated with. Raises ValueError."""
    obstacles = {
        "a form of the equations": form is not None,
        "friction": forces.friction is not None,
        "elasticity": forces.elasticity is not None,
        "a servo": isinstance(forces.actuator, ServoLike),
        "a motion of the base": bool(environment.base_parts),
        "loads that change with time": bool(robot.family.signals),
    }
    for what, is_there in obstacles.items():
        if is_there:
            raise ValueError(
                f"integrator: got {METHOD!r} with {what}; expected a robot under forces and a load alone; leave one out"
            )


def simulate_tree(
    robot: Robot, state: State, forces: Forces, environment: Environment, clock: FixedSteps, form: object = None
) -> ChainMotion | Simulation:
    """Integrate a batch of cases in constant steps; arguments as in `tasks.dynamics.simulate.simulate_chain`.

    The result has the joints of the tree of a chain as well. Raises ValueError for a request of which there is no such
    motion.
    """
    refuse(robot, forces, environment, form)
    turned = forces.load_axes == "platform"
    system = MotionSystem.of(robot, None, environment.gravity, load_with_platform=turned)
    cases = opened(robot, system, state, forces, environment, clock.start)
    coordinates = OfChain(robot) if robot.mechanism.is_chain else OfPlatform(robot)
    run = _TreeRun(robot, system, coordinates, cases, inputs.gravity_input(environment.gravity))
    with np.errstate(all="ignore"):  # a case that came to an end holds NaN
        return coordinates.result(run.motion(clock), cases.batch)


@dataclass(frozen=True)
class _TreeRun:
    """A batch of cases of a robot; arrays are (samples, ...) but for those of kernels, (..., padded samples)."""

    robot: Robot
    system: MotionSystem
    coordinates: TreeCoordinates
    cases: Cases
    gravity: Numbers

    @cached_property
    def _fixed(self) -> Arrays:
        return {"parameters": inputs.parameters(self.robot), "gravity": self.gravity}

    @cached_property
    def _dependent(self) -> int:
        """Number of joints that rows determine."""
        family = self.robot.family
        return len(tree_of(family, family.reference).links) - structure_of(family).freedoms

    @property
    def _count(self) -> int:
        return int(np.prod(self.cases.batch, dtype=int))

    def motion(self, clock: FixedSteps) -> TreeSeries:
        """Return the motion at all kept times."""
        at = self.system.layout.at
        start = self.cases.state[:, : self._count].T
        angles, rates, status = self.coordinates.start(start[:, at["q"]], start[:, at["qd"]])
        lost = np.zeros(self._count)
        work = np.zeros((self._count, self.system.layout.actuators))
        moments = [(clock.start, angles, rates, work, status.copy())]
        for k in range(1, clock.steps + 1):
            time = clock.start + (k - 1) * clock.step
            angles, rates, work = self._step(time, clock.step, angles, rates, work)
            angles, rates, rank, open_by = self._closed(angles, rates)
            lost = np.where(rank < self._dependent, lost + 1.0, 0.0)
            good = np.isfinite(angles).all(axis=1) & np.isfinite(rates).all(axis=1) & (open_by <= CLOSED)
            status = np.where((status == Status.OK) & ~good, float(Status.INTEGRATION_FAILED), status)
            status = np.where((status == Status.OK) & (lost >= STAYS), float(Status.SINGULAR), status)
            if k % clock.every == 0:
                moments.append((clock.start + k * clock.step, angles, rates, work, status.copy()))
            if (status != Status.OK).all():
                moments += [
                    (clock.start + later * clock.step, *moments[-1][1:4], status.copy())
                    for later in range(k + 1, clock.steps + 1)
                    if later % clock.every == 0
                ]
                break
        return self._collected(moments)

    def _collected(self, moments: list[tuple[float, Numbers, Numbers, Numbers, Numbers]]) -> TreeSeries:
        def stacked(part: int) -> Numbers:
            return np.stack([np.where(row[4][:, None] == Status.OK, row[part], np.nan) for row in moments])

        times = np.array([row[0] for row in moments])
        return TreeSeries(times, stacked(1), stacked(2), stacked(3), moments[-1][4].astype(np.int8))

    def _equations(self, angles: Numbers, rates: Numbers) -> dict[str, Numbers]:
        width = self.cases.state.shape[1]

        def padded(values: Numbers) -> Numbers:
            rows = np.concatenate([values, np.repeat(values[-1:], width - len(values), axis=0)])
            return np.ascontiguousarray(rows.T)[None]

        program = spanning_tree_program(self.robot.family)
        out = kernel(program)({**self._fixed, "angles": padded(angles), "rates": padded(rates)}, width)
        shapes = {key: shape for key, (shape, _) in program.outputs.items()}
        return {key: values[0, :, : self._count].T.reshape(-1, *shapes[key]) for key, values in out.items()}

    def _acting(
        self, time: float, share: float, step: float, angles: Numbers, rates: Numbers
    ) -> tuple[Numbers, Numbers]:
        """Forces of actuators (samples, actuator), and what a load does to joints (samples, joint)."""
        state, layout, count = self.cases.state.copy(), self.system.layout, self._count
        q, qd = self.coordinates.state(angles, rates)
        state[layout.at["q"], :count], state[layout.at["qd"], :count] = q.T, qd.T
        acting = self.cases.pushes.over(time, step, state)(np.full(state.shape[1], share), state)
        if self.system.load_with_platform:
            acting = self.system.turned(state, acting)
        forces, load = (acting[layout.acting[name], :count].T for name in ("force", "load"))
        return forces, self.coordinates.pushed(load, angles)

    def _step(
        self, time: float, step: float, angles: Numbers, rates: Numbers, work: Numbers
    ) -> tuple[Numbers, Numbers, Numbers]:
        """A step of the classical Runge-Kutta method: angles, rates and work of actuators."""
        ends, speed, change, power = [angles, rates, work], rates, np.zeros_like(rates), np.zeros_like(work)
        for share, weight in RK4:
            there, going = angles + speed * (share * step), rates + change * (share * step)
            equations = self._equations(there, going)
            forces, pushed = self._acting(time, share, step, there, going)
            speed, change = going, _acceleration(equations, forces, pushed)
            power = forces * np.einsum("saj,sj->sa", equations["actuators"], going)
            ends = [x + y * (weight * step / 6.0) for x, y in zip(ends, (speed, change, power), strict=True)]
        return ends[0], ends[1], ends[2]

    def _closed(self, angles: Numbers, rates: Numbers) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Angles and rates with loops closed, rank of the rows, and how far loops are still open (samples,)."""
        for _ in range(CLOSINGS):
            equations = self._equations(angles, rates)
            angles = angles - _Held.of(equations).back(equations["open"])
            if np.nanmax(np.abs(equations["open"]), initial=0.0) <= CLOSED * 1e-2:
                break
        equations = self._equations(angles, rates)
        held = _Held.of(equations)
        rates = rates - held.back(np.einsum("srj,sj->sr", equations["rows"], rates))
        return angles, rates, held.rank, np.abs(equations["open"]).max(axis=1, initial=0.0)


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
