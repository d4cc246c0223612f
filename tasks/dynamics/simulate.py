"""Direct problem for any robot: motion over time from forces, for parallel robots and chains behind one call.

Constant steps are made by `tasks.dynamics.integration`. They are cut, for each case by itself, where a joint comes to
rest or breaks away, and where they are too long. Joints at rest stay at rest to the last bit, and sliding joints stop
at the instant of zero velocity. The state of a parallel robot is the pose of its platform, with a unit quaternion, and
the free components of its twist. Joints follow from inverse kinematics, so that loops stay closed. Joints with friction
are selected in `tasks.features.friction.inputs`, with any law of `robots.friction.laws.LAWS`;
`tasks.features.friction.joints` describes how they come to rest. One case may be integrated adaptively, see
`tasks.dynamics.adaptive`; its result is accepted only if the change of energy balances the work of actuators and of
friction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import DOP853, OdeSolver, Radau

from robots.model import Robot
from robots.parameter_errors import nearest
from robots.status import Status
from robots.stops import Stops
from tasks.dynamics import inputs, spanning_tree
from tasks.dynamics.adaptive import AdaptiveCase
from tasks.dynamics.corners import Watch
from tasks.dynamics.equations import equations_of_motion
from tasks.dynamics.forces_over_step import Acting, Cases
from tasks.dynamics.forms import Form, FormSystem, check_form
from tasks.dynamics.forward import begun, opened, over_time, series, stacked
from tasks.dynamics.gaps import gaps_of_system, gaps_of_tree, has_corners
from tasks.dynamics.instant.moments import Moment
from tasks.dynamics.motion_system import MotionSystem
from tasks.dynamics.motions import ChainMotion, Simulation
from tasks.dynamics.passage import passed
from tasks.dynamics.records import (
    GRAVITY,
    AdaptiveSteps,
    DrivenKeywords,
    Environment,
    FixedSteps,
    Forces,
    Motion,
    ServoLike,
    State,
    SuppliedActing,
    WoundActing,
    records_of,
)
from tasks.dynamics.singular_ends import with_singularities
from tasks.kernels.kernel import Batch
from tasks.mechanics.families import structure_of

NO_FORMS: Mapping[str, object] = {}

BALANCE = 1e-6
"""Share of its energy, or of the work in it, that may be missing from a case that is OK."""

SOLVERS: Mapping[str, type[OdeSolver]] = {"DOP853": DOP853, "Radau": Radau}
"""Integrators of scipy: explicit of order eight, and implicit of order five for stiff systems."""


def simulate_chain(
    robot: Robot, state: State, forces: Forces, environment: Environment, clock: FixedSteps
) -> ChainMotion:
    """Integrate the motion of a batch of cases of a chain, a tree or a closed chain, in constant steps.

    state: q, qd (*batch, freedom), the start (qd absent: at rest), and memory (*batch, joint) of friction laws with a
    state (absent: relaxed bristles, stiction at rest). forces: actuator (*batch, actuator): constant, a function of
    time, or of time (*batch,), q and qd, or a servo; friction, see `tasks.features.friction.inputs`; elasticity as in
    `tasks.dynamics.forward`. Raises ValueError, TypeError or ParameterError for input that does not fit.
    """
    system = chain_system(robot, forces, environment)
    cases = opened(robot, system, state, forces, environment, clock.start)
    return chain_motion(system, list(over_time(system, cases, clock)), cases.batch)


def chain_system(robot: Robot, forces: Forces, environment: Environment) -> MotionSystem:
    """Return the equations of a chain under forces."""
    base = bool(environment.base_parts)
    system = MotionSystem.of(robot, forces.friction, environment.gravity, base=base, elasticity=forces.elasticity)
    return wound(system, forces.actuator)


def wound(system: MotionSystem, actuator: object) -> MotionSystem:
    """Return the equations of motion, with currents where motors have an inductance."""
    if not isinstance(actuator, WoundActing):
        return system
    through: MotionSystem = actuator.through(system)
    return through


def chain_motion(system: MotionSystem, history: Sequence[tuple[float, Moment]], batch: Batch) -> ChainMotion:
    """Return the result from moments and their times."""
    times, values = series(system, history, batch)
    return ChainMotion(times, **values, joints=np.zeros((*values["q"].shape[:-1], 0)))


def simulate_platform(
    robot: Robot, state: State, forces: Forces, environment: Environment, clock: FixedSteps, form: Form, *, close: bool
) -> Simulation:
    """Integrate the motion of a batch of cases of a parallel robot in constant steps.

    state: position, rotation and twist of the platform, and memory. forces: load and load_axes; actuator (*batch,
    actuator): constant, a function of time, or of time (*batch,), position, rotation and twist; or a servo. Times
    differ between cases, as steps are cut for each case by itself. form, close: see `tasks.dynamics.forms`. Other
    arguments, and errors, as in `simulate_chain`.
    """
    system = platform_system(robot, forces, environment)
    if form != "task_space":
        system = FormSystem(system, robot, form, environment.gravity, close=close)
    cases = opened(robot, system, state, forces, environment, clock.start)
    cases = system.started(cases) if isinstance(system, FormSystem) else cases
    return platform_motion(system, list(over_time(system, cases, clock)), cases.batch)


def platform_system(robot: Robot, forces: Forces, environment: Environment) -> MotionSystem:
    """Return the equations of a parallel robot under forces. Raises ValueError for axes that a load does not have."""
    inputs.check_load_axes(forces.load_axes)
    system = MotionSystem.of(
        robot,
        forces.friction,
        environment.gravity,
        base=bool(environment.base_parts),
        elasticity=forces.elasticity,
        load_with_platform=forces.load is not None and forces.load_axes == "platform",
    )
    return wound(system, forces.actuator)


def platform_motion(system: MotionSystem, history: Sequence[tuple[float, Moment]], batch: Batch) -> Simulation:
    """Return the result from moments and their times."""
    times, values = series(system, history, batch)
    lost = np.isnan(values.pop("q")).any(axis=-1) | np.isnan(values.pop("qd")).any(axis=-1)
    seen = zip(*(system.seen(moment.state) for _, moment in history), strict=True)
    position, rotation, twist = (stacked([part.reshape(-1, part.shape[-1]) for part in parts], batch) for parts in seen)
    gap = stacked([system.gap(moment.state)[None] for _, moment in history], batch)
    drift = values.pop("drift", np.zeros_like(gap))
    values.pop("angles", None)
    for part in (position, rotation, twist, gap):
        part[lost] = np.nan
    values |= {"drift": drift[..., 0], "gap": gap[..., 0], "load_work": values["load_work"][..., 0]}
    return Simulation(times, position, rotation.reshape(*lost.shape, 3, 3), twist, **values)


def simulate_chain_adaptive(
    robot: Robot, state: State, forces: Forces, environment: Environment, clock: AdaptiveSteps
) -> ChainMotion:
    """Integrate one case in adaptive steps.

    Its status is INTEGRATION_FAILED if the error of its energy balance exceeds the `balance` of the steps. Energy is
    not checked if the base moves, or if springs, wrenches or loads over time act. Other arguments and errors as in
    `simulate_chain`, without batch dims.
    """
    system = chain_system(robot, forces, environment)
    cases = opened(robot, system, state, forces, environment, float(clock.instants[0]))
    moments = _moments(robot, system, cases, clock)
    return _accepted(robot, chain_motion(system, moments, ()), environment, clock)


def simulate_platform_adaptive(
    robot: Robot, state: State, forces: Forces, environment: Environment, clock: AdaptiveSteps
) -> Simulation:
    """Return the adaptive simulation of a parallel robot; other arguments as in `simulate_platform`."""
    system = platform_system(robot, forces, environment)
    cases = opened(robot, system, state, forces, environment, float(clock.instants[0]))
    moments = _moments(robot, system, cases, clock)
    return _accepted(robot, platform_motion(system, moments, ()), environment, clock)


M = TypeVar("M", ChainMotion, Simulation)


def _accepted(robot: Robot, motion: M, environment: Environment, clock: AdaptiveSteps) -> M:
    """Return a motion, with status INTEGRATION_FAILED if its energy does not balance."""
    if motion.status != Status.OK or not balanced(robot, environment):
        return motion
    accepted = BALANCE if clock.balance is None else clock.balance
    return motion if imbalance(robot, motion, environment.gravity) <= accepted else motion._replace(status=_FAILED)


_FAILED = np.asarray(Status.INTEGRATION_FAILED, dtype=np.int8)


def _moments(robot: Robot, system: MotionSystem, cases: Cases, clock: AdaptiveSteps) -> list[tuple[float, Moment]]:
    if cases.batch:
        what = "position, twist" if system.layout.platform else "q, qd"
        raise ValueError(f"{what}, force, ...: got batch dims {cases.batch}; expected one case, or method 'fixed'")
    method_used = clock.solver or ("Radau" if system.is_stiff else "DOP853")
    if method_used not in SOLVERS:
        raise ValueError(f"solver: got {method_used!r}; {nearest(method_used, SOLVERS)}")
    with np.errstate(all="ignore"):  # a failed case holds NaN
        now = begun(system, cases, 1.0)
        watch = Watch(gaps_of_system(robot, system)) if has_corners(robot) else None
        case = AdaptiveCase(system, cases.pushes, SOLVERS[method_used], clock.rtol, clock.atol, watch)
        return list(case.moments(now, clock.instants))


def balanced(robot: Robot, environment: Environment) -> bool:
    """Return whether the energy balance is complete with bodies and the work of actuators, friction and load."""
    return not environment.base_parts and not robot.mechanism.has_forces and not robot.family.signals


def imbalance(robot: Robot, motion: ChainMotion | Simulation, gravity: ArrayLike = GRAVITY) -> float:
    """Return the largest energy change less the work of forces and friction, relative to the largest of all these."""
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


class StoppedKeywords(DrivenKeywords, total=False):
    """Short form of a simulation whose joints may have stops."""

    stops: Stops | None


class FixedKeywords(StoppedKeywords, total=False):
    """Short form of a simulation in constant steps: of platforms without friction also form, and close of loops."""

    form: Form | None
    close: bool | None


def simulate(
    robot: Robot,
    *,
    force: Acting | ServoLike,
    step: float,
    steps: int,
    every: int = 1,
    method: str | None = None,
    start: float | None = None,
    **parts: Unpack[FixedKeywords],
) -> Simulation | ChainMotion:
    """Simulate a batch in constant steps: see `simulate_platform`, for a chain `simulate_chain`.

    Arguments for a parallel robot: position, rotation, twist, load, load_axes, form, close; for a chain: q, qd. For
    both: friction, memory, elasticity, method, start, gravity, and base_rotation, base_twist and base_acceleration, the
    motion of the base in the world, as in `tasks.inverse_dynamics`, each an array or a function of time. force may be a
    servo, a controller that `tasks.dynamics.servo.servo` makes. Steps are cut where loads over time jump, or have a
    corner. If `method` is absent, cases that end at a singular point continue in all joints of the tree, see
    `tasks.dynamics.passage`; with stops all cases are integrated in all joints of the tree. Returns a Simulation, or
    for a chain a ChainMotion. Raises TypeError for arguments that do not belong to the kind of the robot.
    """
    _refuse(robot, parts)
    _refuse_motors_of_others(robot, force)
    forms: dict[str, object] = {name: part for name, part in parts.items() if name in FORMS and part is not None}
    stops = parts.get("stops") or {}
    driven = {name: part for name, part in parts.items() if name not in (*FORMS, "stops")}
    state, forces, environment = records_of(force, cast(DrivenKeywords, driven))
    clock = FixedSteps(step, steps, every, method, start or 0.0)
    if method == spanning_tree.METHOD or stops:
        _refuse_integrator(stops, method)
        spanning_tree.refuse(robot, forces, clock, next(iter(forms), None), stops)
        return _on_tree(robot, state, forces, environment, clock, stops).result(clock)
    motion = with_singularities(robot, _in_constant_steps(robot, state, forces, environment, clock, forms))
    forms = {"integrator": method} if method else forms
    return _beyond(robot, state, forces, environment, clock, motion, forms)


def _in_constant_steps(
    robot: Robot, state: State, forces: Forces, environment: Environment, clock: FixedSteps, forms: Mapping[str, object]
) -> Simulation | ChainMotion:
    """Return the motion in the coordinates of the robot."""
    if robot.mechanism.is_chain:
        return simulate_chain(robot, state, forces, environment, clock)
    if forms and _in_task_space(robot, state, forces, environment, clock):
        name = next(iter(forms))
        raise TypeError(
            f"{name}: got it with friction, memory, elasticity, an integrator, motors with an inductance, "
            f"a motion of the base or loads that change with time, with which {robot.name} moves in task space "
            f"alone; leave {name} out"
        )
    form = check_form(robot, cast(Form, forms.get("form", "task_space")))
    return simulate_platform(robot, state, forces, environment, clock, form, close=forms.get("close") is not False)


def simulate_adaptive(
    robot: Robot,
    *,
    force: Acting,
    times: ArrayLike,
    rtol: float = 1e-10,
    atol: float = 1e-12,
    balance: float | None = None,
    solver: str | None = None,
    **parts: Unpack[StoppedKeywords],
) -> Simulation | ChainMotion:
    """Simulate one case in adaptive steps, see `tasks.dynamics.adaptive`.

    Arguments for a parallel robot: position, rotation, twist, load, load_axes; for a chain: q, qd. For both: friction,
    memory, balance, solver, elasticity and the motion of the base. Other arguments as in `simulate`.
    """
    _refuse(robot, parts)
    _refuse_motors_of_others(robot, force)
    stops = parts.get("stops") or {}
    driven = {name: part for name, part in parts.items() if name != "stops"}
    state, forces, environment = records_of(force, cast(DrivenKeywords, driven))
    clock = AdaptiveSteps(times, rtol, atol, balance, solver)
    if solver == spanning_tree.METHOD or stops:
        _refuse_integrator(stops, solver)
        spanning_tree.refuse(robot, forces, clock, stops=stops)
        return _on_tree(robot, state, forces, environment, clock, stops).result(clock)
    if robot.mechanism.is_chain:
        motion: Simulation | ChainMotion = simulate_chain_adaptive(robot, state, forces, environment, clock)
    else:
        motion = simulate_platform_adaptive(robot, state, forces, environment, clock)
    motion = with_singularities(robot, motion)
    return _beyond(robot, state, forces, environment, clock, motion, {"integrator": solver} if solver else NO_FORMS)


def _refuse_integrator(stops: Stops, integrator: str | None) -> None:
    """Refuse an integrator that knows no stops."""
    if stops and integrator not in (None, spanning_tree.METHOD):
        raise ValueError(f"integrator: got {integrator!r} with stops, at which all joints of the tree are integrated; "
                         f"leave it out or take {spanning_tree.METHOD!r}")  # fmt: skip


def _beyond(
    robot: Robot, state: State, forces: Forces, environment: Environment, clock: FixedSteps | AdaptiveSteps,
    motion: Simulation | ChainMotion, forms: Mapping[str, object] = NO_FORMS,
) -> Simulation | ChainMotion:  # fmt: skip
    """Return a motion that continues beyond singular points, if all joints of the tree can be integrated.

    forms: forms of the equations, or an integrator, that a caller insists on.
    """
    motion = motion._replace(through=np.zeros(motion.status.shape, dtype=bool))
    if not any(limb.cuts for limb in robot.mechanism.limbs):  # no coordinates of a tree end
        return motion
    if spanning_tree.hindrance(robot, forces, clock, next(iter(forms), None)) is not None:
        return motion
    return passed(motion, lambda: _on_tree(robot, state, forces, environment, clock, {}), clock)


def _on_tree(
    robot: Robot, state: State, forces: Forces, environment: Environment, clock: FixedSteps | AdaptiveSteps,
    stops: Stops,
) -> spanning_tree.TreeRun:  # fmt: skip
    """Return the run of a batch of cases in all joints of the tree. Raises ValueError and TypeError."""
    turned, moves = forces.load_axes == "platform", bool(environment.base_parts)
    system = MotionSystem.of(robot, forces.friction, environment.gravity, base=moves, load_with_platform=turned)
    first = clock.start if isinstance(clock, FixedSteps) else float(clock.instants[0])
    cases = opened(robot, system, state, forces, environment, first)
    watch = Watch(gaps_of_tree(robot)) if has_corners(robot) else None
    return spanning_tree.TreeRun.of_cases(robot, system, cases, stops, watch)


def _in_task_space(
    robot: Robot, state: State, forces: Forces, environment: Environment, clock: FixedSteps
) -> bool:  # fmt: skip
    """Return whether a platform moves in task space alone."""
    if environment.base_parts or robot.family.signals or isinstance(forces.actuator, WoundActing) or clock.method:
        return True
    return any(part is not None for part in (forces.friction, forces.elasticity, state.memory))


def _refuse_motors_of_others(robot: Robot, force: object) -> None:
    """Refuse motors of another robot by ValueError."""
    if isinstance(force, SuppliedActing | WoundActing) and force.robot != robot:
        got = f"got motors of {force.robot} on a supply, to simulate {robot}"
        raise ValueError(f"actuator: {got}; expected on_supply of the same robot")


FORMS = ("form", "close")
OF_PLATFORM, OF_CHAIN = ("position", "rotation", "twist", "load", "load_axes"), ("q", "qd")
OF_BOTH = ("friction", "memory", "elasticity", "stops")


def _refuse(robot: Robot, parts: Mapping[str, object]) -> None:
    """Raise TypeError for arguments that belong to robots of the other kind."""
    chain = robot.mechanism.is_chain
    accepted, refused = (OF_CHAIN, (*OF_PLATFORM, *FORMS)) if chain else (OF_PLATFORM, OF_CHAIN)
    for name in refused:
        if parts.get(name) is not None:
            kind = "chain" if chain else "parallel robot"
            advice = nearest(name, (*accepted, *OF_BOTH))
            raise TypeError(f"{name}: {robot.name} is a {kind}, whose simulation does not take it; {advice}")
