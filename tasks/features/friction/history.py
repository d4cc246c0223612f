"""Friction laws with a state along given velocities, the constant-velocity friction test, and friction from callers.

Steps in time follow each other, samples of a batch lie side by side in a kernel: the bits of a sample depend neither on
its neighbours nor on the machine. For forward dynamics see `tasks.features.friction.forward`.

`simulate` draws a block over a rough plane by a spring, the usual test of a law with bristles in forward dynamics:
mass x'' = stiffness (pull(t) - x) - force(z, x', load). The block sticks, slips and sticks again.

`curve` and `fit` evaluate the constant-velocity test: a joint turns at constant speed over a range of positions and
back, all others locked. Inertia, centrifugal and Coriolis forces vanish, and gravity is the same both ways, so half the
difference of the torques is friction: Eqs. (48) to (51) of the joint friction paper. This assumes that friction is odd
in velocity. It is not for an asymmetric law: the curve is then the mean of both directions.

`friction_input` turns friction as callers give it into the groups and numbers of a friction program. One group is a
mapping: `law`; `joints` (default: the actuated ones), see `robots.friction.groups.select`; `load`, the origin of the
normal load (default: constant, so that parameters are forces); and parameters of law and load by name, with defaults.
Several groups are a sequence of such mappings.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robots.arguments import check_argument, check_arguments
from robots.friction import laws as data
from robots.friction.groups import LOADS, FrictionGroup, group_parameters, select
from robots.friction.laws import CURVES, FORCE, SPEED, VISCOUS, FrictionLaw
from robots.friction.laws import LAWS as LAW_DATA
from robots.limits import JointPlace
from robots.model import Robot
from robots.parameters import Parameter, ParameterError, complete, nearest
from tasks.features.friction import laws as friction
from tasks.features.friction.laws import LAWS
from tasks.features.friction.sliding import Sliding
from tasks.kernels.expression import Array, Scalar
from tasks.kernels.kernel import Batch, checked, common_batch, kernel, rows
from tasks.kernels.program import Program, trace

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

Numbers = NDArray[np.float64]


class History(NamedTuple):
    """Friction force against positive motion, and the state of the law, both (*batch, time)."""

    force: Numbers
    state: Numbers


@check_arguments
def along(
    law: str,
    *,
    velocity: ArrayLike,
    times: ArrayLike,
    values: Mapping[str, ArrayLike],
    load: ArrayLike = 1.0,
    initial: ArrayLike = 0.0,
) -> History:
    """Compute friction along velocities (*batch, time) [rad/s or m/s] at increasing `times` (time,) [s].

    values: parameters and options of the law by name, each a number or an array (*batch,); load: normal load, a number
    or (*batch, time); initial: the state at the first time (*batch,), where a law does not give it: relaxed bristles, a
    joint that moves unless it rests. A NaN stays in its sample, in the deflection of bristles for all later times.
    Raises ValueError for shapes and times that do not fit and for an unknown law, ParameterError for parameters.
    """
    values = _parameters(law, values)
    instants = np.asarray(times, dtype=float)
    if instants.ndim != 1 or not instants.size or not (np.diff(instants) > 0.0).all():
        raise ValueError(f"times: got an array of shape {instants.shape}; expected (time,), increasing [s]")
    moving = checked("velocity", velocity, instants.shape)
    loads = checked("load", np.full_like(instants, load) if np.ndim(load) == 0 else load, instants.shape)
    scalars = {name: np.asarray(value, dtype=float) for name, value in {**values, "initial": initial}.items()}
    shapes = {"velocity": moving.shape[:-1], "load": loads.shape[:-1]} | {k: v.shape for k, v in scalars.items()}
    batch = common_batch(shapes)
    numbers = np.stack([np.broadcast_to(scalars[name], batch) for name in values], axis=-1)
    if 0 in batch:
        raise ValueError(f"initial, values: got arrays of shape {batch}; expected one entry at least")
    start = np.broadcast_to(scalars["initial"], batch)[..., None]
    inputs = (rows(array, batch) for array in (moving, loads, numbers, start))
    force, state = _run(program(law, tuple(values)), instants, *inputs)
    return History(_unpacked(force, batch), _unpacked(state, batch))


def _parameters(law: str, values: Mapping[str, ArrayLike]) -> dict[str, ArrayLike]:
    """Return the inputs of the law's program, defaults included, in its order and checked."""
    if law not in data.LAWS or not data.LAWS[law].state:
        law_names = [name for name, row in data.LAWS.items() if row.state]
        hint = "its force is a curve: see tasks.features.friction.laws" if law in data.LAWS else nearest(law, law_names)
        raise ValueError(f"friction law: got {law!r}; expected a law with a state; {hint}")
    row = data.LAWS[law]
    for extreme in (np.min, np.max):
        ends = {name: float(extreme(value)) for name, value in values.items()}
        full = complete((*row.parameters, *row.options), ends, owner=f"friction law {law}")
    return {parameter.name: values.get(parameter.name, full[parameter.name]) for parameter in row.inputs(values)}


@functools.cache
def program(law: str, names: tuple[str, ...]) -> Program:
    """One step. Case input `step` [s]; sample inputs `velocity`, `load` (before, after), `state`, `values` by `names`.

    Outputs: the state after the step, `following`, and the force there.
    """
    row = LAWS[law]
    assert row.advance is not None, f"{law} has no state"
    advance = row.advance

    def one_sample(step: Array, velocity: Array, load: Array, state: Array, values: Array) -> dict[str, list[Scalar]]:
        named = dict(zip(names, values, strict=True))
        before, after = (Sliding(v, n) for v, n in zip(velocity, load, strict=True))
        following = advance(state[0], before, after, step[0], **named)
        return {"following": [following], "force": [row.force(following, *after, **named)]}

    sample = {"velocity": (2,), "load": (2,), "state": (1,), "values": (len(names),)}
    return trace(f"friction.{law}", one_sample, case={"step": (1,)}, sample=sample)


def _run(
    one_step: Program, times: Numbers, velocity: Numbers, load: Numbers, values: Numbers, state: Numbers
) -> tuple[Numbers, Numbers]:
    """Return the forces and states (time, padded samples); the first step has no length and stays where it is."""
    run, width = kernel(one_step), velocity.shape[1]
    velocities, loads = (np.concatenate([series[:1], series]) for series in (velocity, load))
    states, forces = np.empty_like(velocity), np.empty_like(velocity)
    for k, step in enumerate(np.diff(times, prepend=times[0])):
        inputs = {"step": np.array([[step]]), "values": values[None], "state": state[None]}
        inputs |= {"velocity": velocities[None, k : k + 2], "load": loads[None, k : k + 2]}
        run(inputs, width, {"following": states[None, k : k + 1], "force": forces[None, k : k + 1]})
        state = states[k : k + 1]
    return forces, states


def _unpacked(values: Numbers, batch: Batch) -> Numbers:
    samples = int(np.prod(batch, dtype=int))
    return values[:, :samples].T.reshape(*batch, -1)


class BlockMotion(NamedTuple):
    """Times [s], position [m], velocity [m/s] and deflection of the bristles [m] of the block, (time,) each."""

    time: NDArray[np.float64]
    position: NDArray[np.float64]
    velocity: NDArray[np.float64]
    deflection: NDArray[np.float64]


def simulate(
    *,
    mass: float,
    stiffness: float,
    pull: Callable[[float], float],
    times: ArrayLike,
    law: str,
    values: Mapping[str, float],
    load: float = 1.0,
    rtol: float = 1e-10,
    atol: float = 1e-13,
) -> BlockMotion:
    """Return the motion from rest, with relaxed bristles, by scipy's Radau at `times` (time,) [s], from the first on.

    pull(t) [m]: where the other end of the spring is; law, values: a law with bristles and its parameters. Raises
    ParameterError for them, ValueError for a mass or a stiffness that is not above zero and for another law,
    RuntimeError where the integrator gives up.
    """
    from scipy.integrate import solve_ivp  # takes as long as a small run, which has no block

    if not (mass > 0.0 and stiffness > 0.0):
        raise ValueError(f"mass, stiffness: got {mass!r}, {stiffness!r}; expected both above zero")
    rates = {name: row.rate for name, row in LAWS.items() if row.rate is not None}
    if law not in rates:
        raise ValueError(f"friction law: got {law!r}; expected a law with bristles; {nearest(law, rates)}")
    named = complete((*data.LAWS[law].parameters, *data.LAWS[law].options), values, owner=f"friction law {law}")
    instants = np.asarray(times, dtype=float)

    def change(t: float, state: NDArray[np.float64]) -> list[float]:
        x, v, z = state.tolist()
        friction = LAWS[law].force(z, v, load, **named)
        return [v, (stiffness * (pull(t) - x) - friction) / mass, rates[law](z, v, load, **named)]

    ends = (float(instants[0]), float(instants[-1]))
    result = solve_ivp(change, ends, [0.0, 0.0, 0.0], "Radau", instants, rtol=rtol, atol=atol)
    if not result.success:
        raise RuntimeError(f"the block: {result.message}; expected the integrator to reach {ends[1]:g} s")
    return BlockMotion(result.t, *result.y)


STARTS = 8
"""Trial values of the speed at which a law bends: the fit is not convex in it."""


class Curve(NamedTuple):
    """Speed (speeds,), friction at it, and its standard deviation over the positions."""

    speed: Numbers
    friction: Numbers
    spread: Numbers


class FittedLaw(NamedTuple):
    """Fitted parameters of a law, and the root mean square of the residual friction, in the unit of friction."""

    values: dict[str, float]
    residual: float


def half_difference(forward: ArrayLike, reverse: ArrayLike) -> Numbers:
    """Friction at positive velocity from torques at the same position both ways, Eq. (51)."""
    return 0.5 * (np.asarray(forward, dtype=float) - np.asarray(reverse, dtype=float))


def curve(
    speed: ArrayLike,
    forward: ArrayLike,
    reverse: ArrayLike,
    position: ArrayLike | None = None,
    reverse_position: ArrayLike | None = None,
) -> Curve:
    """Friction over speed, averaged over positions.

    speed (speeds,) above zero; forward, reverse (speeds, samples): torques of each pair of runs, at the same positions
    in the same order. Where runs were sampled at positions of their own, give both `position` and `reverse_position`
    (speeds, samples): torques of the reverse run are interpolated linearly, and samples beyond its range left out.
    Raises ValueError for shapes that do not fit and for runs without a common position.
    """
    speeds, ahead, back = (np.asarray(values, dtype=float) for values in (speed, forward, reverse))
    if speeds.ndim != 1 or not (speeds > 0.0).all():
        raise ValueError(f"speed: got an array of shape {speeds.shape}; expected (speeds,), all above zero")
    for name, torque in (("forward", ahead), ("reverse", back)):
        if torque.ndim != 2 or len(torque) != len(speeds) or not torque.size:
            raise ValueError(f"{name}: got an array of shape {torque.shape}; expected ({len(speeds)}, samples)")
    if (position is None) != (reverse_position is None):
        raise ValueError("position, reverse_position: got one of them; expected both or none")
    if position is not None and reverse_position is not None:
        back = _at_positions(np.asarray(position, dtype=float), np.asarray(reverse_position, dtype=float), back)
    if back.shape != ahead.shape:
        raise ValueError(f"reverse: got {back.shape[1]} samples for {ahead.shape[1]} forward; give positions of both")
    rows = half_difference(ahead, back)
    return Curve(speeds, np.nanmean(rows, axis=1), np.nanstd(rows, axis=1))


def _at_positions(position: Numbers, taken_at: Numbers, torque: Numbers) -> Numbers:
    """Torques (speeds, samples) at `position`; NaN outside the range of `taken_at`."""
    if taken_at.shape != torque.shape:
        raise ValueError(f"reverse_position: got an array of shape {taken_at.shape}; expected {torque.shape}")
    rows = []
    for position_at, at, values in zip(position, taken_at, torque, strict=True):
        order = np.argsort(at)
        rows.append(np.interp(position_at, at[order], values[order], left=np.nan, right=np.nan))
    result = np.array(rows)
    if not np.isfinite(result).any(axis=1).all():
        raise ValueError("position, reverse_position: got runs without a common position; expected runs over one range")
    return result


def fit(
    law: str, speed: ArrayLike, torque: ArrayLike, *, load: float = 1.0, fixed: Mapping[str, float] | None = None
) -> FittedLaw:
    """Return the parameters of a law, within their bounds, that explain a curve best in the sense of least squares.

    speed, torque (speeds,). `fixed` parameters and options are not fitted; options that are not given are neutral.
    Raises ValueError for an unknown law, shapes that do not fit and too few speeds, ParameterError for `fixed`.
    """
    if law not in CURVES:
        raise ValueError(f"friction law: got {law!r}; expected a law without a state; {nearest(law, CURVES)}")
    speeds, torques = np.asarray(speed, dtype=float), np.asarray(torque, dtype=float)
    data, fixed_values = CURVES[law], dict(fixed or {})
    complete((*data.parameters, *data.options), fixed_values, owner=f"friction law {law}")
    free = [parameter for parameter in data.parameters if parameter.name not in fixed_values]
    if speeds.ndim != 1 or speeds.shape != torques.shape or len(speeds) < len(free):
        raise ValueError(
            f"speed, torque: got arrays of shapes {speeds.shape}, {torques.shape}; "
            f"expected (speeds,) both, at least {len(free)}, the number of parameters to fit"
        )

    def remainder(values: dict[str, float]) -> Numbers:
        return np.array([friction.force(law, v, load, fixed_values | values) for v in speeds.tolist()]) - torques

    best = _best(remainder, free, np.abs(speeds), float(np.abs(torques).max()), load) if free else {}
    return FittedLaw({p.name: (fixed_values | best)[p.name] for p in data.inputs(fixed_values)}, _rms(remainder(best)))


def _rms(values: Numbers) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _best(
    remainder: Callable[[dict[str, float]], Numbers],
    free: list[Parameter],
    speeds: Numbers,
    largest: float,
    load: float,
) -> dict[str, float]:
    """Return the best of several fits, each from another speed at which the law bends, in variables of like size."""
    from scipy.optimize import least_squares  # takes as long as a small run, which fits no law

    force = (largest or 1.0) / load
    sizes = {FORCE: force, VISCOUS: largest / speeds.max()}
    names = [parameter.name for parameter in free]
    results: list[tuple[OptimizeResult, Numbers]] = []
    bends = np.geomspace(speeds.min(), speeds.max(), STARTS) if SPEED in {p.unit for p in free} else (1.0,)
    for bend in bends:
        size = np.array([sizes.get(p.unit, bend) or 1.0 for p in free])
        bounds = np.array([(p.lower, p.upper) for p in free]).T / size
        start = np.clip(np.where([p.unit in sizes for p in free], 0.5, 1.0), *bounds)

        def scaled(x: Numbers, size: Numbers = size) -> Numbers:
            return remainder(dict(zip(names, (x * size).tolist(), strict=True))) / (largest or 1.0)

        results.append((least_squares(scaled, start, bounds=bounds, xtol=1e-12, ftol=1e-12, gtol=1e-12), size))
    result, size = min(results, key=lambda fitted: fitted[0].cost)
    return dict(zip(names, (result.x * size).tolist(), strict=True))


KEYS = ("law", "joints", "load")


@dataclass(frozen=True)
class FrictionInput:
    """Groups, and the case input `friction` (1, parameters of all groups)."""

    groups: tuple[FrictionGroup, ...]
    values: NDArray[np.float64]

    @property
    def statics(self) -> bool:
        """True if a normal load comes from reactions."""
        return any(group.load == "reaction" for group in self.groups)


Friction = Mapping[str, Any] | Sequence[Mapping[str, Any]] | FrictionInput | None


def friction_input(robot: Robot, friction: Friction, laws: Mapping[str, FrictionLaw] = CURVES) -> FrictionInput:
    """Return the groups of a robot's friction and their parameters. Raises ParameterError for what does not fit.

    `laws` are those that serve: along a motion the curves, in forward dynamics all.
    """
    if isinstance(friction, FrictionInput):
        return friction
    check_argument("friction", friction, "Mapping | Sequence[Mapping] | None")
    entries = [] if friction is None else [friction] if isinstance(friction, Mapping) else list(friction)
    groups: list[FrictionGroup] = []
    values: list[float] = []
    taken: set[JointPlace] = set()
    for number, entry in enumerate(entries):
        group, numbers = _group(robot, entry, laws, "friction" if len(entries) == 1 else f"friction[{number}]")
        if taken & set(group.places):
            raise ParameterError(f"friction[{number}]: a joint of it is in another group too; name each joint once")
        taken |= set(group.places)
        groups.append(group)
        values += numbers
    return FrictionInput(tuple(groups), np.array([values], dtype=float))


def without_zero_width(friction: FrictionInput) -> FrictionInput:
    """Return the same where a `width` of zero is left out, so that what is sharp is known to be."""
    groups, values, remaining_values = [], [], list(friction.values[0]) if friction.groups else []
    for group in friction.groups:
        parameters = dict(zip(group.parameters, remaining_values, strict=False))
        remaining_values = remaining_values[len(parameters) :]
        if parameters.get("width") == 0.0:
            del parameters["width"]
        groups.append(replace(group, parameters=tuple(parameters)))
        values += list(parameters.values())
    return FrictionInput(tuple(groups), np.array([values], dtype=float))


def _group(
    robot: Robot, entry: Mapping[str, Any], laws: Mapping[str, FrictionLaw], where: str
) -> tuple[FrictionGroup, list[float]]:
    law, load = entry.get("law", ""), entry.get("load", "constant")
    if law not in laws:
        hint = "has a state: see tasks.features.friction.history.along" if law in LAW_DATA else nearest(str(law), laws)
        raise ParameterError(f"{where}: got law {law!r}; {hint}")
    if load not in LOADS:
        raise ParameterError(f"{where}: got load {load!r}; {nearest(str(load), LOADS)}")
    numbers = {name: value for name, value in entry.items() if name not in KEYS}
    values = complete(group_parameters(law, load, numbers), numbers, owner=f"friction law {law}")
    places = select(robot.mechanism, entry.get("joints", "actuated"), load)
    return FrictionGroup("", law, load, places, tuple(values)), list(values.values())
