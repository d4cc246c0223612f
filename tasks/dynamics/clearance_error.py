"""Largest displacement of a platform by clearances of joints and backlash of drives, over all directions.

Clearances and backlash are bounded offsets, to first order: an offset e of a part moves the platform by A e, see
`tasks.dynamics.criteria.pose_error`. Where e may be anywhere in a ball of radius c, the platform moves along n by at
most c |A^T n|: an interval is a ball of one component, a radial clearance one of two. Offsets of parts are
independent, so that their bounds add up; that is the optimum of the linear programme of all intervals, and exact for
balls too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Unpack

import numpy as np

from robots.arguments import check_arguments
from robots.criteria.elasticity import Elasticity
from robots.criteria.parts import Clearances, CriteriaParameters, Errors
from robots.model import Robot
from tasks.dynamics.criteria import SolvedPose, alone_in_limb, check_sharing
from tasks.dynamics.criteria_inputs import check_parts
from tasks.dynamics.records import STANDING, TIMELESS, MotionKeywords, State, long_form
from tasks.kernels.keys import Indexed
from tasks.stages.stages import limb

DIRECTIONS = 200
"""Directions over all of space from which the farthest place is looked for."""

ASCENTS = 60
"""Steps of an ascent, each of which goes no less far than the last."""


class ClearanceError(NamedTuple):
    """Largest pose deviations of a platform from clearances, with actuators held.

    worst (*batch, 6): largest turn about [rad] and shift along [m] each axis of the world. position (*batch):
    largest displacement of its reference point [m], along `direction` (*batch, 3); shares: of each part in that
    distance (*batch), by name. draws (draw, *batch, 6): (turn, shift) for offsets drawn evenly from their bounds.
    status (*batch).
    """

    worst: np.ndarray
    position: np.ndarray
    direction: np.ndarray
    shares: dict[str, np.ndarray]
    draws: np.ndarray
    status: np.ndarray


class _Source(NamedTuple):
    """A part with an offset: its name, limb, kind, size, and the number of components of its ball."""

    name: str
    limb: int
    alone: Errors
    bound: float
    size: int


@check_arguments
def clearance_error(
    robot: Robot,
    clearances: Clearances,
    elasticity: Elasticity | None = None,
    motion: State | None = None,
    *,
    draws: int = 0,
    seed: int = 0,
    **short: Unpack[MotionKeywords],
) -> ClearanceError:
    """Compute the largest errors of a platform's pose by clearances of joints and backlash, and random samples of them.

    Errors are exact to first order along each axis, and along `direction`; the largest error over all directions is
    searched from DIRECTIONS starts. Loads that keep bearings at one side are ignored. In an overconstrained robot,
    elasticity decides the effect of offsets, and has to be given for links or joints. Pose, status and errors as in
    `tasks.dynamics.criteria.pose_error`.

        >>> robot = ls.robots.build("five_bar")
        >>> loose = ls.robots.Clearances.of(robot.mechanism, {"all": ls.robots.JointClearance(radial=1e-5)})
        >>> tube = ls.robots.Beam.tube(0.03, 70e9, inner=0.026)
        >>> soft = ls.robots.Elasticity.of(robot.mechanism, links={"all": tube})
        >>> off = ls.clearance_error(robot, loose, soft, position=[0.05, 0.0, -0.6], draws=1000)
        >>> round(1e3 * float(off.position), 3), bool(np.abs(off.draws).max() < off.position)  # [mm]
        (0.092, True)
    """
    check_parts(robot, "clearances", clearances, Clearances)
    check_sharing(robot, elasticity)
    whole = Errors(dict.fromkeys(clearances.actuators, 1.0), dict.fromkeys(clearances.joints, (1.0,) * 6))
    pose = long_form(motion, STANDING, short, TIMELESS)[0].moving
    solved = SolvedPose(robot, CriteriaParameters(elasticity, errors=whole), "position_deviation", pose)
    sources = list(_play_sources(robot, clearances))
    maps = _play_maps(robot, solved, whole, sources)
    worst = np.sum([np.linalg.norm(rows, axis=-1) for rows in maps], axis=0)
    direction = _farthest([rows[:, 3:] for rows in maps])
    parts = [np.linalg.norm(np.einsum("ni,nij->nj", direction, rows[:, 3:]), axis=-1) for rows in maps]
    distance = np.sum(parts, axis=0)
    shares: dict[str, np.ndarray] = {}
    with np.errstate(invalid="ignore", divide="ignore"):
        for source, size in zip(sources, parts, strict=True):
            shares[source.name] = shares.get(source.name, 0.0) + size / distance
    drawn = _drawn(maps, [source.size for source in sources], draws, seed)
    drawn[:, ~solved.good] = np.nan
    return ClearanceError(
        worst=solved.shaped(worst),
        position=solved.shaped(distance.copy()),
        direction=solved.shaped(direction),
        shares={name: solved.shaped(share) for name, share in shares.items()},
        draws=drawn.reshape(draws, *solved.dynamics.batch, 6),
        status=solved.dynamics.statuses(solved.status),
    )


def _play_maps(robot: Robot, solved: SolvedPose, whole: Errors, sources: Sequence[_Source]) -> list[np.ndarray]:
    """Return the errors of the pose (sample, 6, axis of the source) for the bound of each source."""
    soft = solved.compliance
    stages = {k: limb(solved.dynamics.request, k) for k in solved.limbs}
    maps = []
    for source in sources:
        part = alone_in_limb(whole, source.alone, robot.mechanism, source.limb)
        solved.dynamics.values[Indexed("errors", source.limb)] = part
        solved.dynamics.run([stages[source.limb]])
        spread = solved.in_full(solved.sum("spread", [source.limb]))
        product = np.where(solved.good[:, None, None], soft @ spread @ soft, 0.0)
        values, vectors = np.linalg.eigh(product * source.bound**2)
        maps.append(vectors[..., -source.size :] * np.sqrt(np.maximum(values[:, None, -source.size :], 0.0)))
    return maps


def _play_sources(robot: Robot, clearances: Clearances) -> Iterator[_Source]:
    """Yield the sources of clearance: one for each loose actuator and for each ball of a loose joint."""
    mechanism, first = robot.mechanism, 0
    for k, instance in enumerate(mechanism.instances):
        parts = mechanism.limbs[instance.limb]
        for number, actuator in enumerate(parts.actuators, start=first):
            if number in clearances.actuators:
                name = f"{instance.name}.{actuator} actuator"
                yield _Source(name, k, Errors({number: 1.0}), clearances.actuators[number], 1)
        first += len(parts.actuators)
        for place in sorted(clearances.joints):
            for entry in clearances.joints[place] if place[0] == k else ():
                six = tuple(1.0 if component in entry.components else 0.0 for component in range(6))
                name = f"{instance.name}.{parts.joints[place[1]]} joint"
                yield _Source(name, k, Errors(joints={place: six}), entry.bound, len(entry.components))


def _farthest(maps: list[np.ndarray]) -> np.ndarray:
    """Return the directions (samples, 3) along which balls (samples, 3, size) together reach farthest.

    The place that is farthest along n, made a direction, is one along which they reach no less far.
    """
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(DIRECTIONS)
    height = 1.0 - (2.0 * np.arange(DIRECTIONS) + 1.0) / DIRECTIONS
    ring = np.sqrt(1.0 - height * height)
    start = np.stack([ring * np.cos(turn), ring * np.sin(turn), height], axis=-1)
    n = np.repeat(start[None], len(maps[0]), axis=0)
    place = np.zeros_like(n)
    for _ in range(ASCENTS):
        place = np.zeros_like(n)
        for rows in maps:
            along = np.einsum("nki,nij->nkj", n, rows)
            length = np.linalg.norm(along, axis=-1, keepdims=True)
            place += np.einsum(
                "nij,nkj->nki", rows, np.divide(along, length, out=np.zeros_like(along), where=length > 0)
            )
        far = np.linalg.norm(place, axis=-1, keepdims=True)
        n = np.divide(place, far, out=n, where=far > 0.0)
    best = np.linalg.norm(place, axis=-1).argmax(axis=1)
    return np.ascontiguousarray(n[np.arange(len(n)), best])


def _drawn(maps: list[np.ndarray], sizes: list[int], draws: int, seed: int) -> np.ndarray:
    """Return poses (draw, samples, 6) of offsets drawn evenly from their balls, the same draws for all samples."""
    rng, result = np.random.default_rng(seed), np.zeros((draws, len(maps[0]), 6))
    for rows, size in zip(maps, sizes, strict=True):
        offset = rng.normal(size=(draws, size))
        offset *= (rng.uniform(size=draws) ** (1.0 / size) / np.linalg.norm(offset, axis=1))[:, None]
        result += np.einsum("nij,dj->dni", rows, offset)
    return result
