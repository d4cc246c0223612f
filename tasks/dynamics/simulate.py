"""Direct problem for any robot: motion over time from forces, for parallel robots and chains behind one call.

Constant steps are those of `tasks.dynamics.free_motion` and `tasks.dynamics.integration`. One case of a robot with
friction may be integrated by an adaptive integrator that finds the instants at which modes end: scipy's DOP853, or
Radau where friction is stiff, between events (a joint comes to rest, breaks away, or its law forgets that it was at
rest). The result is accepted only if the change of energy balances the work of actuators and of friction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import DOP853, DenseOutput, OdeSolver, Radau
from scipy.optimize import brentq

from robots.model import Robot
from robots.parameters import nearest
from robots.status import Status
from tasks.dynamics import chains, free_motion, parallel, spanning_tree
from tasks.dynamics.chains import ChainMotion, collected
from tasks.dynamics.equations import equations_of_motion
from tasks.dynamics.forces_over_step import Acting, Pushes
from tasks.dynamics.forward import Cases, begun, opened
from tasks.dynamics.free_motion import Feedback, Form, Simulation
from tasks.dynamics.integration import JointModes, Moment, MotionSystem, StateRates, forced
from tasks.dynamics.records import (
    GRAVITY,
    AdaptiveSteps,
    DrivenKeywords,
    Environment,
    FixedSteps,
    Forces,
    Motion,
    State,
    records_of,
)
from tasks.dynamics.servo import Servo
from tasks.kernels.kernel import padded
from tasks.mechanics.structure import structure_of

SHORT = 1e-14
"""Share of the whole time below which an adaptive step is stuck."""

SLOW, PATIENCE = 1e-9, 200
"""Share of the whole time below which steps are hardly any, and how many of these in a row are stuck too."""

BALANCE = 1e-6
"""Share of its energy, or of the work in it, that may be missing from a case that is OK."""

SOLVERS: Mapping[str, type[OdeSolver]] = {"DOP853": DOP853, "Radau": Radau}
"""Integrators of scipy: explicit of order eight, and implicit of order five for stiff systems."""

EVENTS = 10_000
"""Events after which a case has come to its end."""


def simulate_chain_adaptive(
    robot: Robot, state: State, forces: Forces, environment: Environment, clock: AdaptiveSteps
) -> ChainMotion:
    """Integrate one case in adaptive steps.

    Its status is INTEGRATION_FAILED where more than the `balance` of its steps is missing from its balance of energy,
    unless the base moves or springs, wrenches or loads over time act. Other arguments and errors as in
    `simulate_chain`, without batch dims.
    """
    system = MotionSystem.of(
        robot,
        forces.friction,
        environment.gravity,
        base=bool(environment.base_parts),
        elasticity=forces.elasticity,
    )
    moments = _moments(system, opened(robot, system, state, forces, environment, float(clock.instants[0])), clock)
    return _accepted(robot, collected(system, moments, ()), environment, clock)


def simulate_platform_adaptive(
    robot: Robot, state: State, forces: Forces, environment: Environment, clock: AdaptiveSteps
) -> Simulation:
    """The same of a parallel robot; other arguments as in `tasks.dynamics.parallel.simulate_platform`."""
    system = parallel.platform_system(robot, forces, environment)
    moments = _moments(system, opened(robot, system, state, forces, environment, float(clock.instants[0])), clock)
    return _accepted(robot, parallel.collected(system, moments, ()), environment, clock)


M = TypeVar("M", ChainMotion, Simulation)


def _accepted(robot: Robot, motion: M, environment: Environment, clock: AdaptiveSteps) -> M:
    """Return a motion, which has failed where its energy does not balance."""
    if motion.status != Status.OK or not balanced(robot, environment):
        return motion
    accepted = BALANCE if clock.balance is None else clock.balance
    return motion if imbalance(robot, motion, environment.gravity) <= accepted else motion._replace(status=_FAILED)


_FAILED = np.asarray(Status.INTEGRATION_FAILED, dtype=np.int8)


def _moments(system: MotionSystem, cases: Cases, clock: AdaptiveSteps) -> list[tuple[float, Moment]]:
    if cases.batch:
        what = "position, twist" if system.layout.platform else "q, qd"
        raise ValueError(f"{what}, force, ...: got batch dims {cases.batch}; expected one case, or method 'fixed'")
    method_used = clock.solver or ("Radau" if system.stiff.any() else "DOP853")
    if method_used not in SOLVERS:
        raise ValueError(f"solver: got {method_used!r}; {nearest(method_used, SOLVERS)}")
    with np.errstate(all="ignore"):  # a failed case holds NaN
        now = begun(system, cases, 1.0)
        case = _Case(system, cases.pushes, SOLVERS[method_used], clock.rtol, clock.atol)
        return list(case.moments(now, clock.instants))


def balanced(robot: Robot, environment: Environment) -> bool:
    """Return whether the energy balance is complete with bodies and the work of actuators, friction and load."""
    return not environment.base_parts and not robot.mechanism.has_forces and not robot.family.signals


def imbalance(robot: Robot, motion: ChainMotion | Simulation, gravity: ArrayLike = GRAVITY) -> float:
    """Largest change of energy, less the work of forces and friction, relative to the largest of all these."""
    if isinstance(motion, Simulation):
        turns = structure_of(robot.family).motion_size != 9
        turned = {"rotation": motion.rotation} if turns else {}
        energies = equations_of_motion(
            robot, Motion(position=motion.position, twist=motion.twist, **turned), Environment(gravity=gravity)
        )
        done = motion.work.sum(axis=-1) + motion.load_work
    else:
        energies = equations_of_motion(robot, q=motion.q, qd=motion.qd, gravity=gravity)
        done = motion.work.sum(axis=-1)
    energy = energies.kinetic_energy + energies.potential_energy
    taken = motion.loss.sum(axis=-1)
    size = max(np.abs(values - values[0]).max() for values in (energies.kinetic_energy, energies.potential_energy))
    size = max(size, float(energies.kinetic_energy[0].max()), np.abs(taken).max(initial=0.0))
    missing = np.abs(energy - energy[0] + taken - done).max(initial=0.0)
    return float(missing / max(size, np.abs(done).max(initial=0.0), np.finfo(float).tiny))


class _Case:
    """One case under way; states are (size,), in kernels repeated over the lanes."""

    def __init__(self, system: MotionSystem, pushes: Pushes, solver: type[OdeSolver], rtol: float, atol: float):
        self.system, self.pushes = system, pushes
        self.solver = solver
        self.tolerances = {"rtol": rtol, "atol": atol}
        self.inside: float | None = None  # of the stretch of time between jumps that is under way

    def rates(self, time: float, state: np.ndarray, modes: JointModes) -> StateRates:
        wide = np.repeat(state[:, None], padded(1), axis=1)
        return self.system.rates(wide, modes, self.force(time, wide))

    def force(self, time: float, wide: np.ndarray) -> np.ndarray:
        push = self.pushes.over(time, 0.0, wide, self.inside)
        return push(np.zeros(wide.shape[1]), wide)

    def moments(self, now: Moment, times: np.ndarray) -> Iterator[tuple[float, Moment]]:
        """The case at all times; NaN from where it came to its end."""
        yield float(times[0]), now
        waiting, first, last = list(times[1:]), float(times[0]), float(times[-1])
        pieces = self.pushes.breaks.pieces(first, last - first)
        for piece in pieces:
            time, end = piece.start, last if piece is pieces[-1] else piece.start + piece.length
            self.inside = time + 0.5 * piece.length
            if time > first:
                now = forced(self.system, now, self.force(time, now.state))
            for _ in range(EVENTS):
                if not np.isfinite(now.rates.rate).all():  # an explicit solver would look for its first step for ever
                    break
                solver = self.solver(
                    lambda t, y, modes=now.modes: self.rates(t, y, modes).rate[:, 0],
                    time, now.state[:, 0], end, **self.tolerances,
                )  # fmt: skip
                event = False
                for reached, dense, event in self._until_event(solver, now):
                    while waiting and waiting[0] <= reached:
                        yield float(waiting[0]), self._at(float(waiting.pop(0)), dense, now.modes)
                    time = reached
                    if event:
                        now = self._after(reached, dense, now)
                    elif reached >= end and waiting:
                        now = self._at(end, dense, now.modes)
                if not waiting:
                    return
                if not event or time >= end:
                    break
            if time < end:
                break
        lost = now.like(np.full_like(values, np.nan) for values in now.arrays())
        for left in waiting:
            yield float(left), lost

    def _until_event(self, solver: OdeSolver, start: Moment) -> Iterator[tuple[float, DenseOutput, bool]]:
        """Each step of the solver, the last one up to the event where there is one; none where it gets stuck."""
        whole, slow = abs(solver.t_bound - solver.t), 0
        while solver.status == "running":
            try:
                solver.step()
            except ValueError:  # an implicit solver whose Jacobian has no number
                return
            if solver.status == "failed" or not np.isfinite(solver.y).all():
                return
            dense = solver.dense_output()
            if self._past(solver.t, solver.y, start) < 0.0:
                low = self._under_way(dense, float(solver.t_old), float(solver.t), start)
                known = low < solver.t
                yield self._first(dense, low, float(solver.t), start) if known else float(solver.t_old), dense, True
                return
            changed = self._forgets(solver.t, solver.y, start)
            yield float(solver.t), dense, changed
            slow = slow + 1 if solver.step_size < SLOW * whole else 0
            if changed or solver.step_size < SHORT * whole or slow > PATIENCE:
                return

    def _under_way(self, dense: DenseOutput, low: float, high: float, start: Moment) -> float:
        """The first instant at which no mode has ended, `high` where there is none.

        That is `low`, but where joints break away there: their velocities are rounding, which may have any sign.
        """
        beyond = 0.0
        while low + beyond < high:
            if self._past(low + beyond, dense(low + beyond), start) >= 0.0:
                return low + beyond
            beyond = max(2.0 * beyond, np.finfo(float).eps * max(abs(high), high - low))
        return high

    def _first(self, dense: DenseOutput, low: float, high: float, start: Moment) -> float:
        """The instant just past which a mode has ended."""
        root = float(brentq(lambda t: self._past(t, dense(t), start), low, high, xtol=1e-15, rtol=8.9e-16))
        beyond = np.finfo(float).eps * abs(high)
        while root + beyond < high:
            if self._past(root + beyond, dense(root + beyond), start) < 0.0:
                return root + beyond
            beyond *= 2.0
        return high

    def _past(self, time: float, state: np.ndarray, start: Moment) -> float:
        rates = self.rates(time, state, start.modes)
        return float(self.system.margins(start.rates, start.modes, rates).min(initial=np.inf))

    def _forgets(self, time: float, state: np.ndarray, start: Moment) -> bool:
        remembered = self.rates(time, state, start.modes).remembered[:, 0]
        return bool((remembered != state[self.system.layout.at["memory"]]).any())

    def _at(self, time: float, dense: DenseOutput, modes: JointModes) -> Moment:
        state = dense(time)
        return Moment(np.repeat(state[:, None], padded(1), axis=1), modes, self.rates(time, state, modes))

    def _after(self, time: float, dense: DenseOutput, start: Moment) -> Moment:
        there = self._at(time, dense, start.modes)
        near = self.system.margins(start.rates, start.modes, there.rates) <= 1e-9
        stopping = near & (start.modes.rest < 0.5) & (there.modes.direction != 0.0)
        fastest = np.abs(start.rates.velocity).max(axis=0, initial=0.0)
        settled = self.system.settled(there.state, start.modes, stopping, lambda at: self.force(time, at), fastest)
        return Moment(*settled)


class FixedKeywords(DrivenKeywords, total=False):
    """Short form of a simulation in constant steps: of platforms without friction also form, and close of loops."""

    form: Form | None
    close: bool | None


def simulate(
    robot: Robot,
    *,
    force: Acting | Feedback | Servo,
    step: float,
    steps: int,
    every: int = 1,
    method: str | None = None,
    start: float | None = None,
    **parts: Unpack[FixedKeywords],
) -> Simulation | ChainMotion:
    """Motion of a batch in constant steps: see `tasks.dynamics.free_motion`, of a chain `tasks.dynamics.chains`.

    Of a parallel robot: position, rotation, twist, load, load_axes, form, close; of a chain: q, qd. Of both: friction,
    memory, elasticity, method, start, gravity, and base_rotation, base_twist and base_acceleration, how the base moves
    in the world, as in `tasks.inverse_dynamics`, each an array or a function of time; a parallel robot with any of
    these but gravity moves as `tasks.dynamics.parallel` says, without form and close; so it does where force is a
    servo, a controller that `tasks.dynamics.servo.servo` makes, and where its own loads change with time: steps are
    then cut where these jump, or have a corner. What is absent is as there. Returns a Simulation, of a chain a
    ChainMotion. Raises TypeError for what does not belong to the robot's kind.
    """
    _refuse(robot, parts)
    forms: dict[str, object] = {name: part for name, part in parts.items() if name in FORMS and part is not None}
    driven = {name: part for name, part in parts.items() if name not in FORMS}
    state, forces, environment = records_of(force, cast(DrivenKeywords, driven))
    clock = FixedSteps(step, steps, every, method, start or 0.0)
    if method == spanning_tree.METHOD:
        return spanning_tree.simulate_tree(robot, state, forces, environment, clock, next(iter(forms), None))
    if robot.mechanism.is_chain:
        return chains.simulate_chain(robot, state, forces, environment, clock)
    if _with_joints(robot, state, forces, environment) or method is not None or start is not None:
        if forms:
            name = next(iter(forms))
            raise TypeError(
                f"{name}: got it with friction, memory, elasticity, an integrator, a later start, a servo, "
                f"a motion of the base or loads that change with time, with which {robot.name} moves in task space "
                f"alone; leave {name} out"
            )
        return parallel.simulate_platform(robot, state, forces, environment, clock)
    form, close = cast(Form, forms.get("form", "task_space")), forms.get("close") is not False
    return free_motion.simulate(robot, state, forces, environment.gravity, clock, form, close=close)


def simulate_adaptive(
    robot: Robot,
    *,
    force: Acting | Feedback,
    times: ArrayLike,
    rtol: float = 1e-10,
    atol: float = 1e-12,
    balance: float | None = None,
    solver: str | None = None,
    **parts: Unpack[DrivenKeywords],
) -> Simulation | ChainMotion:
    """Motion of one case in adaptive steps: see `tasks.dynamics.simulate`, of a platform `tasks.dynamics.free_motion`.

    Of a parallel robot: position, rotation, twist, load, load_axes; of a chain: q, qd. Of both: friction, memory,
    balance, solver, elasticity and the motion of the base, with any of which a parallel robot moves as
    `tasks.dynamics.parallel` says, as with loads that change with time. All else as in `simulate`.
    """
    _refuse(robot, parts)
    state, forces, environment = records_of(force, parts)
    clock = AdaptiveSteps(times, rtol, atol, balance, solver)
    if robot.mechanism.is_chain:
        return simulate_chain_adaptive(robot, state, forces, environment, clock)
    if _with_joints(robot, state, forces, environment) or balance is not None or solver is not None:
        return simulate_platform_adaptive(robot, state, forces, environment, clock)
    return free_motion.simulate_adaptive(robot, state, forces, environment.gravity, clock)


def _with_joints(robot: Robot, state: State, forces: Forces, environment: Environment) -> bool:
    """Return whether a platform moves with states of joints, of loads or of a controller beside its own."""
    if environment.base_parts or robot.family.signals or isinstance(forces.actuator, Servo):
        return True
    return any(part is not None for part in (forces.friction, forces.elasticity, state.memory))


FORMS = ("form", "close")
OF_PLATFORM, OF_CHAIN = ("position", "rotation", "twist", "load", "load_axes"), ("q", "qd")
OF_BOTH = ("friction", "memory", "elasticity")


def _refuse(robot: Robot, parts: Mapping[str, object]) -> None:
    """Raise TypeError for arguments that belong to robots of the other kind."""
    chain = robot.mechanism.is_chain
    accepted, refused = (OF_CHAIN, (*OF_PLATFORM, *FORMS)) if chain else (OF_PLATFORM, OF_CHAIN)
    for name in refused:
        if parts.get(name) is not None:
            kind = "chain" if chain else "parallel robot"
            advice = nearest(name, (*accepted, *OF_BOTH))
            raise TypeError(f"{name}: {robot.name} is a {kind}, whose simulation does not take it; {advice}")
