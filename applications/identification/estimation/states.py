"""Random motions that robots can make, for computations at generic states: ranks, tests, first guesses.

Spread around the reference pose over as much of the workspace as solves easily; samples that cannot be solved are left
out. Robots are designs of one family; a single robot is one design.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

import numpy as np

from robots.model import Family, Robot
from robots.quantities import names
from robots.status import Status
from robots.types import TWIST
from tasks.dynamics.designs import NO_FRICTION, RobotDesigns, Series, outcome, request_of, series_of
from tasks.dynamics.inertial_parameters import Column
from tasks.dynamics.records import Moving
from tasks.kernels.keys import Indexed, Key
from tasks.mathematics.rotations import roll_pitch_yaw
from tasks.stages.stage import Stage
from tasks.stages.stages import limb, stages

Motions = dict[str, np.ndarray]
"""Keywords of `Moving` (design or 1, sample, ...)."""
Test = Callable[[RobotDesigns, Motions], np.ndarray]

SPREAD = 0.5
"""First try of the distance from the reference pose, relative to the robot's size; platforms turn by as many rad."""
ENOUGH = 0.3
"""Share of samples that must be solvable for a spread to be taken; else it is halved."""
TRIES = 12
WAY, BEYOND, JUMP = 33, 1.15, 0.4
"""Points on the way to a state, how far it goes, and the largest relative change of rates that is no jump."""
SPEED, ACCELERATION = 2.0, 10.0
STATES = 4
"""Rows of the regressor for each column."""
SLOWEST = 1e-9
"""Least factor of the velocities of slow states: joints behind gears are slow where actuators hardly move."""
FADING = "static"
"""Parameter of friction that is in forces at small velocities alone."""
FIRST = 1.25
"""States that are tried first, for each that is wanted: most often enough of them can be solved."""


def random_motion(robot: Robot, count: int, seed: int = 0) -> Moving:
    """Return `count` random states that the robot can take, as keywords: see `tasks.dynamics.records.Moving`.

    Raises ValueError for a robot that hardly any pose solves.
    """
    return _of_one(robot, *random_motions(RobotDesigns.of(robot), None, count, seed))


def motion_for(robot: Robot, columns: Sequence[Column], rows: int, seed: int = 0) -> Moving:
    """Return random states that tell all columns, of which each state has `rows` rows; see `motions_for`."""
    return _of_one(robot, *motions_for(RobotDesigns.of(robot), None, columns, rows, seed))


def _of_one(robot: Robot, motions: Motions, complete: np.ndarray) -> Moving:
    """Return the states of a single design. Raises ValueError without any."""
    if not complete.all():
        raise immovable(robot.name)
    return cast("Moving", {name: values[0] for name, values in motions.items()})


def immovable(name: str) -> ValueError:
    """Return the error of a robot that hardly any pose solves."""
    return ValueError(
        f"{name}: fewer than a third of the random poses near the reference pose can be solved; expected a robot "
        "that can move; check its parameters with tasks.inverse_kinematics"
    )


def motions_for(
    designs: RobotDesigns, nominal: tuple[float, ...] | None, columns: Sequence[Column], rows: int, seed: int = 0
) -> tuple[Motions, np.ndarray]:
    """Return random states that tell all columns, of which each state has `rows` rows; and a mask of designs with any.

    nominal: see `random_motions`. Where a column is of friction that fades with velocity, as many states again are
    slower by some factor each.
    """
    count = -(-STATES * len(columns) // rows)
    if not any(column.parameter == FADING for column in columns):
        return random_motions(designs, nominal, count, seed)
    series, complete = random_motions(designs, nominal, 2 * count, seed)
    factors = SLOWEST ** np.random.default_rng([seed, count]).uniform(size=(2 * count, 1))
    factors[:count] = 1.0
    slowed = {name: series[name] * factors for name in ("qd", "twist") if name in series}
    return series | slowed, complete


def random_motions(
    designs: RobotDesigns, nominal: tuple[float, ...] | None, count: int, seed: int = 0
) -> tuple[Motions, np.ndarray]:
    """Return states (design, count, ...) that each design can take; and a mask of designs that have any.

    First those that a nominal robot with these parameters can take, in the size of each design: states that cannot be
    solved cost most. Designs with too few of these have the states that they have alone. nominal: None for one robot.
    """
    result: Motions = {}
    missing = np.arange(len(designs))
    guide = None if nominal is None else _guide(designs.family, nominal, count, seed)
    if guide is not None:
        drawn = next(itertools.islice(_draws(designs, count, seed, guide[1]), guide[0], None))
        good = _good(designs, drawn, np.ones((len(designs), len(guide[1])), dtype=bool), count, count)
        missing = _enter(result, missing, drawn, good, count, count)
    for k in range(TRIES):
        if not len(missing):
            break
        some = designs.taken(missing)
        drawn = next(itertools.islice(_draws(some, count, seed), k, None))
        missing = _enter(result, missing, drawn, _first_good(some, drawn, count), _enough(count), count)
    complete = np.ones(len(designs), dtype=bool)
    complete[missing] = False
    return result, complete


@functools.lru_cache(maxsize=8)
def _guide(family: Family, nominal: tuple[float, ...], count: int, seed: int) -> tuple[int, np.ndarray] | None:
    """Return the draw in which a robot has enough good states, and their places in it."""
    robot = RobotDesigns(family, np.array([nominal]), np.zeros((1, 3)))
    for k, drawn in enumerate(_draws(robot, count, seed)):
        (good,) = _first_good(robot, drawn, count)
        if good.sum() >= _enough(count):
            return k, np.flatnonzero(good)
    return None


def _enough(count: int) -> int:
    """Return the number of good states, out of `4 * count`, for a spread to be taken."""
    return int(np.ceil(ENOUGH * 4 * count))


def _first_good(designs: RobotDesigns, drawn: Motions, count: int) -> np.ndarray:
    """Return a mask (design, state) of good states; only of first ones, where these are enough."""
    candidates = np.ones((len(designs), 4 * count), dtype=bool)
    return _good(designs, drawn, candidates, int(np.ceil(FIRST * count)), _enough(count))


def _good(designs: RobotDesigns, drawn: Motions, candidates: np.ndarray, first: int, enough: int) -> np.ndarray:
    """Return a mask (design, state) of candidates that have actuator forces, in the assembly of the reference pose.

    The first ones are tried, then all where too few of them are good.
    """
    solvable = _passing(designs, drawn, candidates, _solvable, first, enough)
    return _passing(designs, drawn, solvable, _in_assembly, enough, enough) if _has_loops(designs) else solvable


def _enter(
    result: Motions, missing: np.ndarray, drawn: Motions, good: np.ndarray, enough: int, count: int
) -> np.ndarray:
    """Enter the first `count` good states of designs that are missing, and return those that have not enough."""
    complete = good.sum(axis=1) >= enough
    places = np.argsort(~good[complete], axis=1, kind="stable")[:, :count]
    rows = np.flatnonzero(complete)[:, None]
    for name, values in drawn.items():
        taken = values[0][places] if len(values) == 1 else values[rows, places]
        whole = result.setdefault(name, np.full((len(good), *taken.shape[1:]), np.nan))
        whole[missing[complete]] = taken
    return missing[~complete]


def _draws(designs: RobotDesigns, count: int, seed: int, places: np.ndarray | slice = slice(None)) -> Iterator[Motions]:
    """Yield the states of each try, (design or 1, 4 count, ...) each; or some of them."""
    generator = np.random.default_rng(seed)
    for k in range(TRIES):
        yield _drawn(designs, 4 * count, SPREAD * 0.5**k, generator, places)


def _passing(
    designs: RobotDesigns, drawn: Motions, candidates: np.ndarray, test: Test, first: int, enough: int
) -> np.ndarray:
    """Return a mask (design, state) of candidates that pass a test: the first ones, and all where too few pass."""
    order, counts = np.argsort(~candidates, axis=1, kind="stable"), candidates.sum(axis=1)
    result = np.zeros_like(candidates)
    some = np.flatnonzero(counts >= enough)
    for part in (slice(0, first), slice(first, None)):
        length = len(range(*part.indices(int(counts[some].max(initial=0)))))
        if not length:
            break
        # where there are fewer candidates, the last one fills up
        places = np.take_along_axis(
            order[some], np.minimum(part.start + np.arange(length), counts[some, None] - 1), axis=1
        )
        states = {
            name: values[0][places] if len(values) == 1 else values[some[:, None], places]
            for name, values in drawn.items()
        }
        result[some[:, None], places] = test(designs.taken(some), states)
        some = some[result[some].sum(axis=1) < enough]
    return result


def _solvable(designs: RobotDesigns, drawn: Motions) -> np.ndarray:
    """Return a mask (design, state) of the states that have actuator forces: no platform at or beyond a singularity."""
    mechanism = designs.family.reference
    if not mechanism.is_chain or mechanism.limbs[0].coordinates:
        run = list(stages(request_of(designs.family, (), NO_FRICTION)))
        return np.asarray(_series(designs, drawn, run, {outcome(run): 1})[outcome(run)][:, 0] == Status.OK)
    key = Indexed("status", 0)
    return np.asarray(_series(designs, drawn, _limb_of_chain(designs), {key: 1})[key][:, 0] == Status.OK)


def _has_loops(designs: RobotDesigns) -> bool:
    mechanism = designs.family.reference
    return mechanism.is_chain and bool(mechanism.limbs[0].loops)


def _limb_of_chain(designs: RobotDesigns) -> list[Stage]:
    return [limb(request_of(designs.family, names("limb", "series"), NO_FRICTION), 0)]


def _series(designs: RobotDesigns, motion: Motions, run: Sequence[Stage], keys: Mapping[Key, int]) -> Series:
    samples = next(iter(motion.values())).shape[1]
    return series_of(designs.inputs(designs.packed(motion), NO_FRICTION), run, keys, len(designs), samples)


def _in_assembly(designs: RobotDesigns, drawn: Motions) -> np.ndarray:
    """Return a mask (design, state) of the states of chains that are in the assembly of the reference pose.

    On the straight path from the reference pose, the rates of joints must not jump for the same generic rates of
    the independent joints. A parallelogram that becomes flat may leave as a crossed one, which has other base
    parameters. The path continues a bit beyond the state, because rounding looks like a motion where loops are
    nearly singular.
    """
    mechanism = designs.family.reference
    free, q = len(mechanism.freedoms), drawn["q"]
    way = np.linspace(0.0, BEYOND, WAY)[:, None, None] * q[:, None]
    rates = np.broadcast_to(np.cos(np.arange(1.0, free + 1.0)), way.shape)
    flat = {"q": way.reshape(len(q), -1, free), "qd": rates.reshape(len(q), -1, free)}
    run, joints = _limb_of_chain(designs), len(mechanism.limbs[0].joints)
    series = _series(designs, flat, run, {Indexed("joint_velocity", 0): joints, Indexed("status", 0): 1})
    velocity = series[Indexed("joint_velocity", 0)]
    velocity = np.where(series[Indexed("status", 0)] == Status.OK, velocity, np.inf)
    slopes = velocity[:, list(mechanism.limbs[0].one_variable)].reshape(len(designs), -1, WAY, q.shape[1])
    with np.errstate(invalid="ignore"):
        jumps = np.abs(np.diff(slopes, axis=2)).max(axis=1) / np.abs(slopes[:, :, 1:]).max(axis=1)
    return np.asarray((jumps < JUMP).all(axis=1))


def _drawn(
    designs: RobotDesigns, count: int, spread: float, generator: np.random.Generator, places: np.ndarray | slice
) -> Motions:
    """Draw states of each design, and return those at some places."""
    mechanism = designs.family.reference
    if mechanism.is_chain:
        free = len(mechanism.freedoms)
        scales = (2.0 * np.pi * spread, SPEED, ACCELERATION)
        q, qd, qdd = (generator.uniform(-x, x, (1, count, free))[:, places] for x in scales)
        return {"q": q, "qd": qd, "qdd": qdd}
    mobile = np.array([name in mechanism.platform.mobility for name in TWIST])
    units = np.concatenate([np.ones((len(designs), 3)), np.repeat(designs.sizes[:, None], 3, axis=1)], axis=1)
    units = (units * mobile)[:, None]
    away = generator.uniform(-spread, spread, (count, 6))[places] * units
    steps = np.array([SPEED, ACCELERATION])[:, None, None]
    rates, changes = (normal * units for normal in generator.normal(size=(2, count, 6))[:, places] * steps)
    turn = roll_pitch_yaw(away[0, :, :3], rates[0, :, :3], changes[0, :, :3])  # of angles, the same for all designs
    home, turned = designs.home
    both = [(turn.omega, rates), (turn.alpha, changes)]
    twist, change = (
        np.concatenate([np.broadcast_to(angular, linear[..., 3:].shape), linear[..., 3:]], axis=2)
        for angular, linear in both
    )
    rotation = turn.rotation @ turned[:, None]
    return {"position": home[:, None] + away[..., 3:], "rotation": rotation, "twist": twist, "acceleration": change}
