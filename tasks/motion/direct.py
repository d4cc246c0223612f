"""The direct problem, motion over time from forces, for any robot: parallel robots and chains behind one call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import cast

from numpy.typing import ArrayLike

from robots.criteria.elasticity import Elasticity
from robots.model import Robot
from robots.parameters import nearest
from robots.types import LoadAxes
from tasks.arrays.inputs import GRAVITY
from tasks.control.servo import Servo
from tasks.friction.given import Friction
from tasks.motion import adaptive, chains, parallel, platforms
from tasks.motion.adaptive import Solver
from tasks.motion.cases import BaseMotion, Timed
from tasks.motion.chains import ChainMotion
from tasks.motion.forms import Form
from tasks.motion.platforms import Feedback, Load, Simulation
from tasks.motion.pushes import Acting


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
    """Motion of a batch in constant steps: see `tasks.motion.platforms`, of a chain `tasks.motion.chains`.

    Of a parallel robot: position, rotation, twist, load, load_axes, form, close; of a chain: q, qd. Of both: friction,
    memory, elasticity, method, start, and base_rotation, base_twist and base_acceleration, how the base moves in the
    world, as in `tasks.inverse_dynamics`, each an array or a function of time; a parallel robot with any of these moves
    as `tasks.motion.parallel` says, without form and close; so it does where force is a servo, a controller that
    `tasks.control.servo.servo` makes, and where its own loads change with time: steps are then cut where these jump, or
    have a corner. What is absent is as there. Returns a Simulation, of a chain a ChainMotion.
    Raises TypeError for what does not belong to the robot's kind.

        >>> robot = ls.robots.build("planar_3r")
        >>> fall = ls.simulate(robot, force=np.zeros(3), q=[0.1, 0.0, 0.0], step=0.001, steps=100, every=50)
        >>> fall.q.shape  # (time, joint)
        (3, 3)
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
    _refuse(robot, platforms.simulate, {"q": q, "qd": qd})
    axes: LoadAxes = load_axes or "world"
    options = any(option is not None for option in (friction, memory, method, start, elasticity))
    options |= bool(robot.family.signals)
    if base.moves or options or isinstance(force, Servo):
        if chosen := [name for name, value in forms.items() if value is not None]:
            raise TypeError(
                f"{chosen[0]}: got it with friction, memory, elasticity, method, start, a servo, a motion of the "
                f"base or loads that change with time, with which {robot.name} moves in task space alone; leave "
                f"{chosen[0]} out"
            )
        return parallel.simulate_platform(
            robot, force=cast(Acting | Servo, force), step=step, steps=steps, gravity=gravity, every=every,
            position=position, rotation=rotation, twist=twist, load=load, load_axes=axes,
            friction=friction, memory=memory, method=method, start=start or 0.0, base=base,
            elasticity=elasticity,
        )  # fmt: skip
    return platforms.simulate(
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
    """Motion of one case in adaptive steps: see `tasks.motion.adaptive`, of a platform `tasks.motion.platforms`.

    Of a parallel robot: position, rotation, twist, load, load_axes; of a chain: q, qd. Of both: friction, memory,
    balance, solver, elasticity and the motion of the base, with any of which a parallel robot moves as
    `tasks.motion.parallel` says, as with loads that change with time. All else as in `simulate`.

        >>> robot = ls.robots.build("planar_3r")
        >>> fall = ls.simulate_adaptive(robot, force=np.zeros(3), q=[0.1, 0.0, 0.0], times=[0.0, 0.05, 0.1])
        >>> fall.q.shape  # (time, joint)
        (3, 3)
    """
    base = BaseMotion(base_rotation, base_twist, base_acceleration)
    accepted = adaptive.BALANCE if balance is None else balance
    axes: LoadAxes = load_axes or "world"
    if robot.mechanism.is_chain:
        platform = {"position": position, "rotation": rotation, "twist": twist, "load": load, "load_axes": load_axes}
        _refuse(robot, adaptive.simulate_chain_adaptive, platform)
        return adaptive.simulate_chain_adaptive(
            robot, force=cast(Acting, force), times=times, gravity=gravity, rtol=rtol, atol=atol,
            q=q, qd=qd, friction=friction, memory=memory, balance=accepted, base=base, solver=solver,
            elasticity=elasticity,
        )  # fmt: skip
    _refuse(robot, platforms.simulate_adaptive, {"q": q, "qd": qd})
    options = any(option is not None for option in (friction, memory, balance, solver, elasticity))
    if base.moves or options or robot.family.signals:
        return adaptive.simulate_platform_adaptive(
            robot, force=cast(Acting, force), times=times, gravity=gravity, rtol=rtol, atol=atol,
            position=position, rotation=rotation, twist=twist, load=load, load_axes=axes,
            friction=friction, memory=memory, balance=accepted, base=base, solver=solver,
            elasticity=elasticity,
        )  # fmt: skip
    return platforms.simulate_adaptive(
        robot, force=cast(Load | Feedback, force), times=times, gravity=gravity, rtol=rtol, atol=atol,
        position=position, rotation=rotation, twist=twist, load=load, load_axes=axes,
    )  # fmt: skip


def _refuse(robot: Robot, simulation: Callable[..., Simulation | ChainMotion], others: Mapping[str, object]) -> None:
    """Raise TypeError for arguments that belong to robots of the other kind."""
    for name, value in others.items():
        if value is not None:
            kind = "chain" if robot.mechanism.is_chain else "parallel robot"
            known = [known for known in inspect.signature(simulation).parameters if known != "robot"]
            raise TypeError(
                f"{name}: {robot.name} is a {kind}, whose simulation does not take it; {nearest(name, known)}"
            )
