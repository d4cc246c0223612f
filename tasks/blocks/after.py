"""Metrics of how fast a path can be: of each design, by the fastest motion along the path of each trajectory.

`cycle_time` forgets how a trajectory goes along its path, but for where it rests: legs from rest to rest are done one
after the other, each in the shortest time (`tasks.dynamics.fastest`). `speed_factor` keeps how it goes: at k times the
speed forces are C + k^2 (u - C), with C what holds the robot, and the largest k counts that keeps all limits.

Metrics of a user's own: a plain Python function called for one case after another of a block.

What it asks for by the names of its parameters are series in the dims that the dataset gives them within a case:
without design, friction and trajectory, so (time, actuator), (time, limb, joint), ... No array can be written to. It
may also ask for `time` (time,), and for `parameters` and `friction`, the numbers of design and friction set by name; of
simulations also for `gains` and `state`.
"""

from __future__ import annotations

import functools
import math
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robots.limits import Capacity
from robots.model import Robot
from robots.quantities import FREEDOMS, FRICTION_PARAMETERS, GAINS, PARAMETERS, STATE, TIME, names
from robots.status import Status
from robots.trajectories.trajectory import Trajectory
from tasks.blocks.block import Arrays, Block, BlockMetric
from tasks.blocks.limb_results import commanded, moving, moving_of
from tasks.dynamics.fastest import fastest_along
from tasks.dynamics.inverse import inverse_dynamics, inverse_kinematics, resolved_motion
from tasks.dynamics.paths.path import PathForces, RobotPath, TimedMotion, legs, pose_of
from tasks.dynamics.paths.power import Curves, Intervals, PathLimits, intersected, kept_speeds
from tasks.dynamics.records import Moving
from tasks.stages.metrics.poses import characteristic_length

POINTS = 101
"""Points of each leg at which limits are kept, at least."""
POINTS_OF_A_PIECE = 4
"""At least so many for each piece on which a path is smooth."""


def cycle_metrics(block: Block) -> Arrays:
    """The metrics of paths that a block asks for, (design, trajectory) each; NaN where a sample of the motion fails."""
    wanted = [name for name in names("path") if name in block.metrics]
    out = {name: np.full((block.designs, len(block.trajectories)), np.nan) for name in wanted}
    for j, trajectory in enumerate(block.trajectories):
        paths: list[RobotPath] | None = None
        for i in range(block.designs):
            values = {name: float(numbers[i]) for name, numbers in block.named_parameters().items()}
            robot = Robot.of(block.family, values)
            limits = path_limits(block, robot)
            gravity = block.gravity if block.gravities is None else tuple(block.gravities[i])
            if not _reached(block, robot, trajectory):
                continue
            if "cycle_time" in out:
                if paths is None or robot.mechanism.resolved:  # else the same for all designs
                    paths = _legs(block, trajectory, robot)
                motions = [fastest_along(robot, path, limits, _points(path), gravity) for path in paths]
                sound = all((motion.status == Status.OK).all() for motion in motions)
                out["cycle_time"][i, j] = sum(motion.duration for motion in motions) if sound else math.nan
            if "speed_factor" in out:
                out["speed_factor"][i, j] = _speed_factor(block, robot, trajectory, limits, gravity)
    return out


def path_limits(block: Block, robot: Robot) -> PathLimits:
    """Limits of actuators and the rates of joints, as motions along paths have them, with those of a supply."""
    mechanism = block.family.reference
    rows = [block.limits.actuators.get(k, Capacity()) for k in range(len(mechanism.actuators))]
    force, velocity, acceleration, power, jerk = (
        np.array([getattr(row, name) for row in rows])
        for name in ("force", "velocity", "acceleration", "power", "jerk")
    )
    limits = PathLimits(force, velocity, acceleration, power, jerk, joints=_joint_table(block, "velocity"))
    motors = [
        replace(motor, voltage=min(motor.voltage, row.voltage), current=min(motor.current, row.current))
        for motor, row in zip(robot.mechanism.motors, rows, strict=False)  # none of a robot without motors
    ]
    return limits.supplied(motors)


def _joint_table(block: Block, kind: str) -> np.ndarray | None:
    """A limit of all joints (limb, joint), infinite where there is none; None without any."""
    mechanism = block.family.reference
    sign = -1.0 if kind == "low" else 1.0
    known = {place: getattr(limit, kind) for place, limit in block.limits.joints.items()}
    if not any(map(math.isfinite, known.values())):
        return None
    most = max(len(limb.joints) for limb in mechanism.limbs)
    result = np.full((len(mechanism.instances), most), sign * np.inf)
    for place, size in known.items():
        result[place] = size
    return result


def _points(path: RobotPath) -> int:
    return max(POINTS, 1 + POINTS_OF_A_PIECE * (len(path.breaks) - 1))


def _legs(block: Block, trajectory: Trajectory, robot: Robot) -> list[RobotPath]:
    """The paths of a trajectory over the times of the block, from one rest to the next, in all freedoms of a robot."""
    family = block.family
    mechanism, times = family.reference, block.times
    weights = np.ones(len(mechanism.freedoms))
    if not mechanism.is_chain:
        length = characteristic_length(mechanism)
        weights = np.array([length] * 3 + [1.0] * 3)

    def at(instants: np.ndarray) -> Moving:
        flat = commanded(family, trajectory, instants, block.origin)[:, : len(instants)]
        return resolved_motion(robot, moving_of(family, flat.T))

    motion = TimedMotion(at, weights, mechanism.is_chain)
    return legs(motion, float(times[0]), float(times[-1]), _knots(trajectory))


def _knots(trajectory: Trajectory) -> list[float]:
    """Times at which a trajectory is less smooth than between: points of splines, the ends of motions to a point."""
    turn = trajectory.turn
    tables = [points for points in (trajectory.points, None if turn is None else turn.points) if points is not None]
    kinds = [(trajectory.kind, trajectory.values)] + ([(turn.kind, turn.values)] if turn is not None else [])
    ends = [float(values["duration"]) for kind, values in kinds if kind == "quintic"]
    return [*ends, *(float(t) for points in tables for t in points[:, 0])]


def _reached(block: Block, robot: Robot, trajectory: Trajectory) -> bool:
    """Whether all samples of a trajectory are OK, and joints within their ranges."""
    motion = _moving(block, trajectory, robot)
    if robot.mechanism.resolved and np.isnan(np.asarray(motion["q"], dtype=float)).any():
        return False
    joints, status = inverse_kinematics(robot, **motion), inverse_dynamics(robot, **motion).status
    if (joints.status != Status.OK).any() or (status != Status.OK).any():
        return False
    low, high = (_joint_table(block, kind) for kind in ("low", "high"))
    within = [low is None or not (joints.position < low).any(), high is None or not (joints.position > high).any()]
    return all(within)


def _moving(block: Block, trajectory: Trajectory, robot: Robot) -> Moving:
    return resolved_motion(robot, moving(block.family, trajectory, block.times, block.origin))


def _speed_factor(
    block: Block, robot: Robot, trajectory: Trajectory, limits: PathLimits, gravity: Sequence[float]
) -> float:
    """The largest factor of the speed at which no sample exceeds a limit of force, velocity, power or joint rate.

    Infinite for a robot at rest, and zero where nothing is slow enough.
    """
    motion = _moving(block, trajectory, robot)
    moved = inverse_dynamics(robot, gravity=gravity, **motion)
    held = inverse_dynamics(robot, **pose_of(motion), gravity=gravity).force
    joints = inverse_kinematics(robot, **motion).velocity
    with np.errstate(divide="ignore", invalid="ignore"):
        top = (limits.velocity / np.abs(moved.velocity)).min()
        if limits.joints is not None:
            top = np.fmin(top, np.nanmin(limits.joints / np.abs(joints)))
    none, free = np.zeros_like(held), np.full(len(held), np.inf)
    forces = PathForces(none, moved.force - held, held, moved.velocity, free, moved.status)
    straight = Curves.of(forces.push, forces.sweep, forces.hold, most=limits.force)
    curves = Curves.joined([straight, *forces.curves(limits)])
    factors: Intervals = [(0.0, float(top))]
    for point in range(len(held)):
        factors = intersected(factors, kept_speeds(curves, point, float(top)))
    return factors[-1][1] if factors else 0.0


REASON = 400
"""Characters of the text of an error that are kept."""

Place = tuple[int, int, int]
Function = Callable[..., Any]


@dataclass(frozen=True)
class MetricWarning:
    """Cases of a block for which a metric had no number: how many, the first of them within the block, and why."""

    metric: str
    cases: int
    first: Place
    reason: str


def completed(block: Block, arrays: Arrays) -> tuple[Arrays, tuple[MetricWarning, ...]]:
    """The arrays that a block stores, from those that it has computed, with own metrics; what these could not do."""
    result = {name: array for name, array in arrays.items() if name not in block.extra}
    complaints: list[MetricWarning] = []
    if {*names("path")} & {*block.metrics}:
        # with all that moves along paths, which few sweeps need

        result |= cycle_metrics(block)
    for metric in block.own:
        result[metric.name], told = computed(block, metric, arrays)
        complaints += told
    chosen = {name: selected(block, name, array) for name, array in result.items() if name in block.selection.series}
    return result | chosen, tuple(complaints)


def selected(block: Block, name: str, array: np.ndarray) -> np.ndarray:
    """A series of what is stored of it: one axis in place of limb and joint or link, or some of state or freedoms."""
    dims = block.dims(name)
    if along := [dim for dim in dims if dim == "deviation" or dim in FREEDOMS]:
        for dim in along:
            rows = [row for _, (_, row) in block.selection.of(dim)]
            array = np.take(array, rows, axis=dims.index(dim))
        return array
    axis, dim = dims.index("limb"), dims[dims.index("limb") + 1]
    limbs, numbers = zip(*(place for _, place in block.selection.of(dim)), strict=True)
    first = np.moveaxis(array, (axis, axis + 1), (0, 1))
    return np.ascontiguousarray(np.moveaxis(first[list(limbs), list(numbers)], 0, axis))


def computed(
    block: Block, metric: BlockMetric, arrays: Mapping[str, np.ndarray]
) -> tuple[np.ndarray, list[MetricWarning]]:
    """An own metric (design, friction, trajectory[, actuator]), NaN where the function failed; complaints about it.

    That of simulations has the dims `gains` and `state` behind `trajectory` where they vary.
    """
    core = (len(block.family.reference.actuators),) if metric.per_actuator else ()
    shape = (block.designs, len(block.friction), len(block.trajectories), *_varied(block).values())
    out, failed = np.full((*shape, *core), np.nan), list[tuple[Place, str]]()
    function = _loaded(metric.function.payload)
    for place in np.ndindex(*shape):
        try:
            with np.errstate(all="ignore"):
                out[place] = _number(function(**_inputs(block, metric, arrays, place)), core)
        except Exception as error:
            failed.append((place[:3], f"{type(error).__name__}: {error}"[:REASON]))
    return out, list(_grouped(metric.name, failed))


def _number(value: Any, core: tuple[int, ...]) -> np.ndarray:
    found = np.asarray(value)
    if found.shape != core or found.dtype.kind not in "fiub":
        wanted = f"{core[0]} real numbers, one for each actuator" if core else "one real number"
        raise ValueError(f"it returned {found.dtype} of shape {found.shape}; expected {wanted}")
    return found.astype(float)


def _inputs(
    block: Block, metric: BlockMetric, arrays: Mapping[str, np.ndarray], place: tuple[int, ...]
) -> dict[str, Any]:
    given: dict[str, Any] = {}
    simulation, varied = block.simulation, dict(zip(_varied(block), place[3:], strict=True))
    for name, depends in zip(metric.function.series, metric.depends, strict=True):
        view = arrays[name][tuple(at for at, has in zip(place, depends, strict=True) if has)].view()
        view.flags.writeable = False
        given[name] = view
    design, friction = place[:2]
    names = {
        TIME: lambda: block.times.copy(),
        PARAMETERS: lambda: _named([p.name for p in block.family.parameters], block.parameters[design]),
        FRICTION_PARAMETERS: lambda: _named(_friction_names(block), block.friction[friction]),
    }
    if simulation is not None:
        controller = simulation.simulation.controller
        gains = () if controller is None else controller.parameters
        names[GAINS] = lambda: _named(gains, simulation.gains[varied.get(GAINS, 0)])
        names[STATE] = lambda: _named(simulation.offsets, simulation.state[varied.get(STATE, 0)])
    return given | {name: names[name]() for name in metric.function.values}


def _varied(block: Block) -> dict[str, int]:
    """Lengths of the dims of gains and initial states that results of a block have, by name."""
    if block.simulation is None:
        return {}
    lengths = {GAINS: len(block.simulation.gains), STATE: len(block.simulation.state)}
    return {dim: lengths[dim] for dim in block.simulation.dims}


def _named(names: Sequence[str], values: np.ndarray) -> dict[str, float]:
    return dict(zip(names, values.tolist(), strict=True))


def _friction_names(block: Block) -> list[str]:
    """Names of a friction set's numbers, as in the dataset: behind the name of their group, where it has one."""
    return [f"{group.name}_{name}" if group.name else name for group in block.groups for name in group.parameters]


@functools.lru_cache(maxsize=32)
def _loaded(payload: bytes) -> Function:
    """The function; where it cannot be had on this machine, one that says so for every case."""
    try:
        function: Function = pickle.loads(payload)
    except Exception as error:
        return functools.partial(_absent, f"it cannot be loaded here ({type(error).__name__}: {error})")
    return function


def _absent(reason: str, **given: Any) -> Any:
    raise RuntimeError(reason)


def _grouped(metric: str, failed: Sequence[tuple[Place, str]]) -> Iterator[MetricWarning]:
    """One complaint for each kind of error, the text of its first case."""
    kinds: dict[str, list[tuple[Place, str]]] = {}
    for place, reason in failed:
        kinds.setdefault(reason.partition(":")[0], []).append((place, reason))
    for cases in kinds.values():
        yield MetricWarning(metric, len(cases), *cases[0])
