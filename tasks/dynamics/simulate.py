"""Direct problem for any robot: motion over time from forces, for parallel robots and chains behind one call.

Constant steps are those of `tasks.dynamics.free_motion` and `tasks.dynamics.integration`. One case of a robot with
friction may be integrated by an adaptive integrator that finds the instants at which modes end: scipy's DOP853, or
Radau where friction is stiff, between events (a joint comes to rest, breaks away, or its law forgets that it was at
rest). The result is accepted only if the change of energy balances the work of actuators and of friction.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import DOP853, DenseOutput, OdeSolver, Radau
from scipy.optimize import brentq

from robots.criteria.elasticity import Elasticity
from robots.model import Robot
from robots.parameters import nearest
from robots.status import Status
from robots.types import LoadAxes
from tasks.dynamics import chains, free_motion, inputs, parallel
from tasks.dynamics.chains import ChainMotion, collected
from tasks.dynamics.equations import equations_of_motion
from tasks.dynamics.forces_over_step import Acting, Pushes
from tasks.dynamics.forward import STILL, BaseMotion, Cases, begun, opened
from tasks.dynamics.free_motion import Feedback, Form, Load, Simulation
from tasks.dynamics.integration import JointModes, Moment, MotionSystem, StateRates, forced
from tasks.dynamics.records import GRAVITY, Environment, Forces, Motion, Moving, State, Timed
from tasks.dynamics.servo import Servo
from tasks.features.friction.history import Friction
from tasks.kernels.kernel import padded
from tasks.mechanics.structure import structure_of

SHORT = 1e-14
"""Share of the whole time below which an adaptive step is stuck."""

SLOW, PATIENCE = 1e-9, 200
"""Share of the whole time below which steps are hardly any, and how many of these in a row are stuck too."""

BALANCE = 1e-6
"""Share of its energy, or of the work in it, that may be missing from a case that is OK."""

Solver = Literal["DOP853", "Radau"]

SOLVERS: Mapping[Solver, type[OdeSolver]] = {"DOP853": DOP853, "Radau": Radau}
"""Integrators of scipy: explicit of order eight, and implicit of order five for what is stiff."""

EVENTS = 10_000
"""Events after which a case has come to its end."""


def simulate_chain_adaptive(
    robot: Robot, *, force: Acting, times: ArrayLike, q: ArrayLike | None = None, qd: ArrayLike | None = None,
    friction: Friction = None, memory: ArrayLike | None = None, gravity: ArrayLike = GRAVITY,
    rtol: float = 1e-10, atol: float = 1e-12, balance: float = BALANCE, base: BaseMotion = STILL,
    solver: Solver | None = None, elasticity: Elasticity | None = None,
) -> ChainMotion:  # fmt: skip
    """Integrate one case and keep it at `times` (kept,) [s], from the first on.

    balance: what may be missing from the balance of energy, relative to the largest energy or work in it, for the
    case to be OK, where the base does not move and neither springs, wrenches nor loads over time act; else its status
    is INTEGRATION_FAILED. solver: one of scipy's; absent: Radau where friction is smooth but may be stiff, else DOP853,
    which takes a quarter of the time where bristles are not stiff. Other arguments and errors as in `simulate_chain`,
    without batch dims.
    """
    instants = _instants(times)
    system = MotionSystem.of(robot, friction, gravity, base=base.moves, elasticity=elasticity)
    cases = opened(
        robot,
        system,
        Moving(q=q, qd=qd),
        force=force,
        memory=memory,
        start=float(instants[0]),
        base=base,
        gravity=gravity,
    )
    motion = collected(system, _moments(system, cases, instants, rtol, atol, solver), ())
    off = imbalance(robot, motion, gravity) if balanced(robot, base) and motion.status == Status.OK else 0.0
    return motion if off <= balance else motion._replace(status=_FAILED)


def simulate_platform_adaptive(
    robot: Robot, *, force: Acting, times: ArrayLike,
    position: ArrayLike | None = None, rotation: ArrayLike | None = None, twist: ArrayLike | None = None,
    load: Timed | None = None, load_axes: LoadAxes = "world", friction: Friction = None,
    memory: ArrayLike | None = None, gravity: ArrayLike = GRAVITY, rtol: float = 1e-10, atol: float = 1e-12,
    balance: float = BALANCE, base: BaseMotion = STILL, solver: Solver | None = None,
    elasticity: Elasticity | None = None,
) -> Simulation:  # fmt: skip
    """The same of a parallel robot; other arguments as in `tasks.dynamics.parallel.simulate_platform`."""
    inputs.check_load_axes(load_axes)
    turning, instants = load is not None and load_axes == "platform", _instants(times)
    system = MotionSystem.of(
        robot, friction, gravity, base=base.moves, load_with_platform=turning, elasticity=elasticity
    )
    cases = opened(
        robot, system, Moving(position=position, rotation=rotation, twist=twist), force=force, memory=memory,
        start=float(instants[0]), load=load, base=base, gravity=gravity,
    )  # fmt: skip
    motion = parallel.collected(system, _moments(system, cases, instants, rtol, atol, solver), ())
    off = imbalance(robot, motion, gravity) if balanced(robot, base) and motion.status == Status.OK else 0.0
    return motion if off <= balance else motion._replace(status=_FAILED)


_FAILED = np.asarray(Status.INTEGRATION_FAILED, dtype=np.int8)


def _instants(times: ArrayLike) -> np.ndarray:
    instants = np.asarray(times, dtype=float)
    if instants.ndim != 1 or len(instants) < 2 or not (np.diff(instants) > 0).all():
        raise ValueError(f"times: got {times!r}; expected at least two, ascending")
    return instants


def _moments(
    system: MotionSystem, cases: Cases, times: np.ndarray, rtol: float, atol: float, solver: Solver | None
) -> list[tuple[float, Moment]]:
    if cases.batch:
        what = "position, twist" if system.layout.platform else "q, qd"
        raise ValueError(f"{what}, force, ...: got batch dims {cases.batch}; expected one case, or method 'fixed'")
    method_used = solver or ("Radau" if system.stiff.any() else "DOP853")
    if method_used not in SOLVERS:
        raise ValueError(f"solver: got {method_used!r}; {nearest(method_used, SOLVERS)}")
    with np.errstate(all="ignore"):  # a failed case holds NaN
        now = begun(system, cases, 1.0)
        case = _Case(system, cases.pushes, SOLVERS[method_used], rtol, atol)
        return list(case.moments(now, times))


def balanced(robot: Robot, base: BaseMotion) -> bool:
    """Return whether the energy balance is complete with bodies and the work of actuators, friction and load."""
    return not base.moves and not robot.mechanism.has_forces and not robot.family.signals


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


def simulate(
    robot: Robot, *, force: Acting | Feedback | Servo, step: float, steps: int,
    gravity: ArrayLike = GRAVITY, every: int = 1,
    position: ArrayLike | None = None, rotation: ArrayLike | None = None, twist: ArrayLike | None = None,
    load: Timed | None = None, load_axes: LoadAxes | None = None,
    form: Form | None = None, close: bool | None = None,
    q: ArrayLike | None = None, qd: ArrayLike | None = None, friction: Friction = None,
    memory: ArrayLike | None = None, method: str | None = None, start: float | None = None,
    base_rotation: Timed | None = None, base_twist: Timed | None = None, base_acceleration: Timed | None = None,
    elasticity: Elasticity | None = None,
) -> Simulation | ChainMotion:  # fmt: skip
    """Motion of a batch in constant steps: see `tasks.dynamics.free_motion`, of a chain `tasks.dynamics.chains`.

    Of a parallel robot: position, rotation, twist, load, load_axes, form, close; of a chain: q, qd. Of both: friction,
    memory, elasticity, method, start, and base_rotation, base_twist and base_acceleration, how the base moves in the
    world, as in `tasks.inverse_dynamics`, each an array or a function of time; a parallel robot with any of these moves
    as `tasks.dynamics.parallel` says, without form and close; so it does where force is a servo, a controller that
    `tasks.dynamics.servo.servo` makes, and where its own loads change with time: steps are then cut where these jump,
    or have a corner. What is absent is as there. Returns a Simulation, of a chain a ChainMotion.
    Raises TypeError for what does not belong to the robot's kind.
    """
    base = BaseMotion(base_rotation, base_twist, base_acceleration)
    forms = {"form": form, "close": close}
    if robot.mechanism.is_chain:
        platform = {"position": position, "rotation": rotation, "twist": twist, "load": load, "load_axes": load_axes}
        _refuse(robot, chains.simulate_chain, {**platform, **forms})
        return chains.simulate_chain(
            robot, force=cast(Acting | Servo, force), step=step, steps=steps, gravity=gravity, every=every,
            q=q, qd=qd, friction=friction, memory=memory, method=method, start=start or 0.0, base=base,
            elasticity=elasticity,
        )  # fmt: skip
    _refuse(robot, free_motion.simulate, {"q": q, "qd": qd})
    axes: LoadAxes = load_axes or "world"
    options = any(option is not None for option in (friction, memory, method, start, elasticity))
    options |= bool(robot.family.signals)
    if base.moves or options or isinstance(force, Servo):
        if chosen := [name for name, value in forms.items() if value is not None]:
            raise TypeError(
                f"{chosen[0]}: got it with friction, memory, elasticity, an integrator, a later start, a servo, "
                f"a motion of the base or loads that change with time, with which {robot.name} moves in task space "
                f"alone; leave {chosen[0]} out"
            )
        return parallel.simulate_platform(
            robot, force=cast(Acting | Servo, force), step=step, steps=steps, gravity=gravity, every=every,
            position=position, rotation=rotation, twist=twist, load=load, load_axes=axes,
            friction=friction, memory=memory, method=method, start=start or 0.0, base=base,
            elasticity=elasticity,
        )  # fmt: skip
    return free_motion.simulate(
        robot, force=cast(Load | Feedback, force), step=step, steps=steps, gravity=gravity, every=every,
        position=position, rotation=rotation, twist=twist, load=load, load_axes=axes,
        form=form or "task_space", close=close is not False,
    )  # fmt: skip


def simulate_adaptive(
    robot: Robot, *, force: Acting | Feedback, times: ArrayLike, gravity: ArrayLike = GRAVITY,
    rtol: float = 1e-10, atol: float = 1e-12,
    position: ArrayLike | None = None, rotation: ArrayLike | None = None, twist: ArrayLike | None = None,
    load: Timed | None = None, load_axes: LoadAxes | None = None,
    q: ArrayLike | None = None, qd: ArrayLike | None = None, friction: Friction = None,
    memory: ArrayLike | None = None, balance: float | None = None, solver: Solver | None = None,
    base_rotation: Timed | None = None, base_twist: Timed | None = None, base_acceleration: Timed | None = None,
    elasticity: Elasticity | None = None,
) -> Simulation | ChainMotion:  # fmt: skip
    """Motion of one case in adaptive steps: see `tasks.dynamics.simulate`, of a platform `tasks.dynamics.free_motion`.

    Of a parallel robot: position, rotation, twist, load, load_axes; of a chain: q, qd. Of both: friction, memory,
    balance, solver, elasticity and the motion of the base, with any of which a parallel robot moves as
    `tasks.dynamics.parallel` says, as with loads that change with time. All else as in `simulate`.
    """
    base = BaseMotion(base_rotation, base_twist, base_acceleration)
    accepted = BALANCE if balance is None else balance
    axes: LoadAxes = load_axes or "world"
    if robot.mechanism.is_chain:
        platform = {"position": position, "rotation": rotation, "twist": twist, "load": load, "load_axes": load_axes}
        _refuse(robot, simulate_chain_adaptive, platform)
        return simulate_chain_adaptive(
            robot, force=cast(Acting, force), times=times, gravity=gravity, rtol=rtol, atol=atol,
            q=q, qd=qd, friction=friction, memory=memory, balance=accepted, base=base, solver=solver,
            elasticity=elasticity,
        )  # fmt: skip
    _refuse(robot, free_motion.simulate_adaptive, {"q": q, "qd": qd})
    options = any(option is not None for option in (friction, memory, balance, solver, elasticity))
    if base.moves or options or robot.family.signals:
        return simulate_platform_adaptive(
            robot, force=cast(Acting, force), times=times, gravity=gravity, rtol=rtol, atol=atol,
            position=position, rotation=rotation, twist=twist, load=load, load_axes=axes,
            friction=friction, memory=memory, balance=accepted, base=base, solver=solver,
            elasticity=elasticity,
        )  # fmt: skip
    return free_motion.simulate_adaptive(
        robot, force=cast(Load | Feedback, force), times=times, gravity=gravity, rtol=rtol, atol=atol,
        position=position, rotation=rotation, twist=twist, load=load, load_axes=axes,
    )  # fmt: skip


PARTS = tuple(field.name for record in (State, Forces) for field in fields(record))
"""Names of what a simulation takes in records."""


def _refuse(robot: Robot, simulation: Callable[..., Simulation | ChainMotion], others: Mapping[str, object]) -> None:
    """Raise TypeError for arguments that belong to robots of the other kind."""
    for name, value in others.items():
        if value is not None:
            kind = "chain" if robot.mechanism.is_chain else "parallel robot"
            names = [names for names in inspect.signature(simulation).parameters if names in PARTS]
            raise TypeError(
                f"{name}: {robot.name} is a {kind}, whose simulation does not take it; {nearest(name, names)}"
            )
