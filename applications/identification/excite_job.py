"""The Dask task of a search for an exciting motion: optimise one random series of a sweep within limits."""

from __future__ import annotations

import functools

import numpy as np

from applications.identification.estimation.base import base_parameters
from applications.identification.estimation.estimators import condition_number
from applications.identification.estimation.excitation import STEPS, Excitation, ExcitationLimits, Sphere
from applications.identification.identify_job import friction_of, robot_of
from pipeline.sweep.model import Sweep
from pipeline.sweep.trajectories.random_fourier import Entry, entries
from robots.arguments import check_arguments
from robots.data_classes import dataclass
from robots.limits import joints
from robots.parameter_errors import ParameterError
from robots.trajectories.trajectory import Series
from robots.types import IDENTITY, TWIST
from tasks.dynamics.records import Environment, Forces
from tasks.dynamics.regressor import standard_parameters

TURNED = (*TWIST[3:], *TWIST[:3])
"""Names of the coordinates of an entry for a platform."""


@check_arguments
@dataclass(frozen=True)
class ExcitationOptions:
    """Options of a search: criterion, limits of actuators, steps, samples of a period, design and friction set.

    Limits are one number for all actuators, or one for each; those of the sweep's section `limits` are kept as well.

    >>> ls.ExcitationOptions(criterion="determinant", force=(30.0,), steps=5).samples
    100
    """

    criterion: str = "condition"
    force: tuple[float, ...] = (np.inf,)
    stroke: tuple[float, ...] = (np.inf,)
    actuator_velocity: tuple[float, ...] = (np.inf,)
    actuator_acceleration: tuple[float, ...] = (np.inf,)
    steps: int = STEPS
    samples: int = 100
    design: int = 0
    friction: int = 0
    spheres: tuple[Sphere, ...] = ()


@dataclass(frozen=True)
class SearchResult:
    """Result of a search: costs of the start and of the best motion, and condition and series of the latter.

    The series has all coordinates of the entry.
    """

    random: float
    cost: float
    condition: float
    series: Series


@dataclass(frozen=True)
class ExciteJob:
    """Input of a task: the sweep, the name of its entry of random motions, the number of the start."""

    text: str
    name: str
    number: int
    options: ExcitationOptions

    def run(self) -> SearchResult:
        """Search from the start. Raises ValueError where no motion around the centre keeps the limits."""
        entry, problem = _problem(self.text, self.name, self.options)
        moving = np.flatnonzero(entry.limits.free)
        start = entry.free(self.number)[moving].ravel()
        random = problem.cost(start)
        cost, free = problem.search(start, self.options.steps)
        best = problem.series(free)
        matrix = problem.matrix(best)
        condition = condition_number(matrix.reshape(-1, matrix.shape[-1]))
        return SearchResult(random, cost, condition, _whole(best, entry, moving))


@functools.lru_cache(maxsize=8)
def _problem(text: str, name: str, options: ExcitationOptions) -> tuple[Entry, Excitation]:
    """Set up the entry, and the problem that all its starts share."""
    sweep = Sweep.from_text(text)
    entry = entries(text, sweep.family.reference)[name]
    robot, friction = robot_of(sweep, options.design), friction_of(sweep, options.friction)
    gravity = sweep.gravity_of(options.design)
    base = base_parameters(robot, Forces(friction=friction), Environment(gravity=gravity), shared=True)
    nominal = base.of(list(standard_parameters(robot, friction=friction, shared=True).values()))
    moving = np.flatnonzero(entry.limits.free)
    coordinates = () if robot.mechanism.is_chain else tuple(TURNED[k] for k in moving)
    problem = Excitation(
        robot,
        base,
        _limits(sweep, entry, options, moving),
        entry.period,
        centre=entry.limits.centre[moving],
        samples=options.samples,
        criterion=options.criterion,
        nominal=nominal,
        environment=Environment(gravity=gravity),
        forces=Forces(friction=friction),
        shared=True,
        coordinates=coordinates,
        orientation=IDENTITY if entry.orientation is None else entry.orientation,
        ranges=sweep.limits_of(options.design),
        spheres=options.spheres,
    )
    return entry, problem


def _limits(sweep: Sweep, entry: Entry, options: ExcitationOptions, moving: np.ndarray) -> ExcitationLimits:
    """Return the limits of entry, options and sweep: of joints that are coordinates, and of actuators."""
    position, velocity, acceleration = (limit[moving] for limit in entry.limits.most)
    mechanism, limits = sweep.family.reference, sweep.limits_of(options.design)
    if mechanism.is_chain and limits.joints:
        sides = np.array([position, position])
        places = {name: joint.place for name, joint in joints(mechanism).items()}
        for k, number in enumerate(moving):
            name, centre = mechanism.given[number], float(entry.limits.centre[number])
            limit = limits.joints.get(places.get(name, (-1, -1)))
            if limit is None:
                continue
            if not limit.low < centre < limit.high:
                raise ParameterError(
                    f"centre: got {centre:g} for {name}; expected it inside its limits, {limit.low:g} to {limit.high:g}"
                )
            sides[:, k] = np.minimum(sides[:, k], [centre - limit.low, limit.high - centre])
            velocity[k] = min(velocity[k], limit.velocity)
        position = sides
    count = len(mechanism.actuators)
    force, rate = np.full((2, count), np.inf)
    for k, capacity in limits.actuators.items():
        force[k], rate[k] = capacity.force, capacity.velocity
    return ExcitationLimits(
        position,
        velocity,
        acceleration,
        force=np.minimum(force, options.force),
        stroke=np.array(options.stroke),
        actuator_velocity=np.minimum(rate, options.actuator_velocity),
        actuator_acceleration=np.array(options.actuator_acceleration),
    )


def _whole(series: Series, entry: Entry, moving: np.ndarray) -> Series:
    """Extend a series of the coordinates that move to all coordinates."""
    sines, cosines = np.zeros((2, len(entry.limits.free), series.sines.shape[1]))
    sines[moving], cosines[moving] = series.sines, series.cosines
    return Series(entry.limits.centre, series.period, sines, cosines)
