"""Motion of chains over time: trees and closed chains with joint friction, from actuator forces, in batches.

Fixed steps that are cut, for each sample by itself, where a joint comes to rest or breaks away: what is at rest stays
at rest to the last bit, and what slides stops where it should. Joints are those of `tasks.friction.given`, with any law
of `robots.friction.laws.LAWS`; see `tasks.friction.forward` for how they come to rest. Parallel robots:
`tasks.motion.platforms`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robots.model import Robot
from robots.parameters import nearest
from robots.status import Status
from tasks.arrays import inputs
from tasks.arrays.inputs import GRAVITY
from tasks.friction.given import Friction
from tasks.kernels import batches
from tasks.kernels.batches import Batch, checked, common_batch
from tasks.motion.events import Moment, Stepper
from tasks.motion.pushes import Acting, Pushes, first_shape
from tasks.motion.steps import METHODS
from tasks.motion.system import ChainSystem


class ChainMotion(NamedTuple):
    """Times (kept,) [s]; q, qd (kept, *batch, freedom); status (*batch): of a case that ended why, see `Status`.

    Of joints with friction, in the order of the groups: friction (kept, *batch, joint) [N m or N]; stuck, whether they
    hold; memory of their law, bristles' deflection or the state of stiction; loss, work that friction has taken [J].
    work (kept, *batch, actuator): what actuators have done [J]. A case that has come to an end holds NaN from there on.
    """

    time: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    friction: np.ndarray
    stuck: np.ndarray
    memory: np.ndarray
    loss: np.ndarray
    work: np.ndarray
    status: np.ndarray


class ChainAcceleration(NamedTuple):
    """Accelerations qdd (*batch, freedom), friction and stuck (*batch, joint with friction), status (*batch).

    unique (*batch): whether friction at rest is determined. Where joints that hold depend on each other it is not, and
    is the least of all with these accelerations, which are unique. FRICTION_NOT_CONVERGED where none was found.
    """

    qdd: np.ndarray
    friction: np.ndarray
    stuck: np.ndarray
    status: np.ndarray
    unique: np.ndarray


def accelerate_chain(
    robot: Robot, *, force: ArrayLike, q: ArrayLike, qd: ArrayLike | None = None,
    friction: Friction = None, memory: ArrayLike | None = None, gravity: ArrayLike = GRAVITY,
) -> ChainAcceleration:  # fmt: skip
    """Accelerations of a chain with friction; arguments and errors as in `simulate_chain`.

    Joints without velocity hold where they can. Samples without a motion hold NaN; their status says why.
    """
    system = ChainSystem.of(robot, friction, gravity)
    batch, state, pushes = opened(system, force, q, qd, memory, 0.0)
    with np.errstate(all="ignore"):  # a failed sample holds NaN
        now = begun(system, state, pushes, 0.0, 1.0)
    rates, samples = now.rates, int(np.prod(batch, dtype=int))
    padded = (rates.rate[system.layout.at["qd"]], rates.braking, (now.modes.rest > 0.5) & (rates.breaking == 0.0))
    qdd, braking, stuck = (values[:, :samples].T.reshape(*batch, len(values)) for values in padded)
    status = rates.status[:samples].astype(np.int8).reshape(batch)
    qdd[status != Status.OK], braking[status != Status.OK] = np.nan, np.nan
    return ChainAcceleration(qdd, braking, stuck, status, (rates.dependent[:samples] < 0.5).reshape(batch))


def simulate_chain(
    robot: Robot, *, force: Acting, step: float, steps: int, q: ArrayLike | None = None, qd: ArrayLike | None = None,
    friction: Friction = None, memory: ArrayLike | None = None, gravity: ArrayLike = GRAVITY,
    method: str | None = None, every: int = 1, start: float = 0.0,
) -> ChainMotion:  # fmt: skip
    """Integrate the motion of a batch of cases with steps of `step` [s] from the time `start`.

    q, qd (*batch, freedom): the start (qd absent: at rest). force (*batch, actuator): constant, a function of time, or
    of time (*batch,), q and qd. friction: see `tasks.friction.given`, laws with a state among them; memory (*batch,
    joint): their state at the start (absent: relaxed bristles, stiction at rest). method: one of
    `tasks.motion.steps.METHODS`; absent: `rosenbrock` where there are bristles, else `rk4`. Every n-th step is kept,
    the start included. Raises ValueError, TypeError or ParameterError for input that does not fit.
    """
    if not step > 0 or min(steps, every) < 1:
        raise ValueError(f"step, steps, every: got {step!r}, {steps!r}, {every!r}; expected all above zero")
    system = ChainSystem.of(robot, friction, gravity)
    name = method or ("rosenbrock" if system.bristling.any() else "rk4")
    if name not in METHODS:
        raise ValueError(f"method: got {name!r}; {nearest(name, METHODS)}")
    batch, state, pushes = opened(system, force, q, qd, memory, start)
    with np.errstate(all="ignore"):  # a case that came to an end holds NaN
        now = begun(system, state, pushes, start, step)
        moments = [(start, now)]
        for k in range(1, steps + 1):
            before = start + (k - 1) * step
            push = pushes.over(before, step, now.state[: 2 * system.layout.free])
            now = Stepper(system, METHODS[name], step, push).taken(now)
            if k % every == 0:
                moments.append((start + k * step, now))
    return collected(system, moments, batch)


def opened(
    system: ChainSystem,
    force: Acting,
    q: ArrayLike | None,
    qd: ArrayLike | None,
    memory: ArrayLike | None,
    start: float,
) -> tuple[Batch, np.ndarray, Pushes]:
    """Batch dims, the state (size, padded samples) at the start, and what acts, from what a caller gives."""
    layout, moving = system.layout, inputs.Moving(q=q, qd=qd)
    inputs.check_names(system.robot, moving)
    parts = {"qd": np.zeros(layout.free), **inputs.present(moving)}
    arrays = {name: checked(name, parts[name], (layout.free,)) for name in ("q", "qd")}
    if memory is not None:
        arrays["memory"] = checked("memory", memory, (layout.joints,))
    shapes = {name: values.shape[:-1] for name, values in arrays.items()}
    shapes["force"] = first_shape(force, start, arrays["q"], arrays["qd"], layout.actuators)
    batch = common_batch(shapes)
    rows = {name: batches.rows(values, batch) for name, values in arrays.items()}
    state = np.zeros((layout.size, rows["q"].shape[1]))
    for name, value in rows.items():
        state[layout.at[name]] = value
    return batch, state, Pushes(force, layout.actuators, batch)


def begun(system: ChainSystem, state: np.ndarray, pushes: Pushes, start: float, step: float) -> Moment:
    """The first moment: joints without velocity hold, if they can."""
    push, now = pushes.over(start, step, state[: 2 * system.layout.free]), np.zeros(state.shape[1])
    modes = system.first_modes(state, push(now, state))
    return Moment(*system.settled(state, modes, modes.rest > 0.5, lambda at: push(now, at)))


def collected(system: ChainSystem, history: Sequence[tuple[float, Moment]], batch: Batch) -> ChainMotion:
    """The result, from moments and when they were."""
    samples, at = int(np.prod(batch, dtype=int)), system.layout.at

    def stacked(rows: Sequence[np.ndarray]) -> np.ndarray:
        return np.stack([row[:, :samples].T.reshape(*batch, len(row)) for row in rows])

    moments = [moment for _, moment in history]
    ended = stacked([~np.isfinite(moment.rates.rate).all(axis=0)[None] for moment in moments])[..., 0]
    ended = np.logical_or.accumulate(ended, axis=0)
    series = {name: stacked([moment.state[rows] for moment in moments]) for name, rows in at.items()}
    series["friction"] = stacked([moment.rates.braking for moment in moments])
    for values in series.values():
        values[ended] = np.nan
    stuck = stacked([moment.modes.rest > 0.5 for moment in moments]) & ~ended[..., None]
    reasons = stacked([moment.rates.status[None] for moment in moments])[..., 0]
    reason = np.take_along_axis(reasons, ended.argmax(axis=0)[None], axis=0)[0]
    status = np.where(ended.any(axis=0), np.where(reason > 0.5, reason, Status.INTEGRATION_FAILED), Status.OK)
    times = np.array([time for time, _ in history])
    return ChainMotion(times, stuck=stuck, status=status.astype(np.int8), **series)
