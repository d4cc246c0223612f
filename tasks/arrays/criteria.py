"""Criteria of design of one robot for a batch: stiffness at the platform, natural frequencies, distances of links.

Functions take keyword arguments with any leading batch dims, as those of `tasks.arrays.inverse`. SI units, world axes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robots.criteria.capsules import Capsules
from robots.criteria.elasticity import Elasticity
from robots.criteria.parameters import CriteriaParameters
from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks.arrays.equations import equations_of_motion
from tasks.arrays.inputs import Moving
from tasks.arrays.inverse import Dynamics
from tasks.criteria.arms import arms
from tasks.kernels.batches import checked
from tasks.kernels.cache import kernel
from tasks.kernels.keys import Indexed
from tasks.programs import criteria
from tasks.programs.criteria import GROUND, PLATFORM, Owned
from tasks.programs.stages import assembly, limb, platform

SINGULAR = 1e-10
"""Least eigenvalue of a stiffness with ones on its diagonal, up to which its inverse is not told."""


class Stiffness(NamedTuple):
    """Compliance (*batch, 6, 6), (turn, shift) of the platform by (moment, force) on it at its reference point.

    stiffness: its inverse (*batch, 6, 6), infinite nowhere: zero along what was left out, see `directions`. least and
    largest (*batch): of the reference point under forces at it, over all directions [N/m]; status (*batch), see
    `cartesian_stiffness`.
    `directions` are the components of the twist along which the robot gives way; the compliance of others is zero.
    """

    compliance: np.ndarray
    stiffness: np.ndarray
    least: np.ndarray
    largest: np.ndarray
    status: np.ndarray
    directions: tuple[str, ...]


def cartesian_stiffness(
    robot: Robot,
    elasticity: Elasticity,
    *,
    position: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
) -> Stiffness:
    """Stiffness of a parallel robot at its platform, its actuators held in their positions.

    elasticity: what actuators, joints and links give way by; where actuators alone do, compliance counts along the
    freedoms, otherwise along all that limbs hold, overconstrained directions included. Pose as in `inverse_dynamics`.
    Deflections are small, loads do not stiffen, bodies have no weight. NaN where the robot cannot be solved, and where
    it has no stiffness: a limb that is rigid under a part of what it carries, or a platform that nothing holds; these
    samples have the status CONSTRAINT_SINGULAR. Raises ValueError for a chain. Source: `tasks.criteria.compliance`.
    """
    if robot.mechanism.is_chain:
        raise ValueError(f"robot: got {robot.name}, which has no platform; expected a parallel robot")
    moving = Moving(position=position, rotation=rotation)
    known = CriteriaParameters(elasticity)
    dynamics = Dynamics(robot, moving, ("least_stiffness",), criteria=known)
    bare, limbs = replace(dynamics.request, wanted=()), range(len(robot.mechanism.instances))
    dynamics.run((*(limb(dynamics.request, k) for k in limbs), platform(bare), assembly(bare)))
    along = criteria.directions(robot.family, not elasticity.actuators_alone)
    count = len(along)
    total = np.sum([dynamics.sample_rows(Indexed("stiffness", k)) for k in limbs], axis=0)
    total = np.ascontiguousarray(total.T).reshape(-1, count, count)
    status = dynamics.status.copy()
    good = (status == Status.OK) & np.isfinite(total).all(axis=(1, 2))
    good &= (np.diagonal(total, axis1=1, axis2=2) > 0.0).all(axis=1)
    sound = np.where(good[:, None, None], total, np.eye(count))
    scale = 1.0 / np.sqrt(np.diagonal(sound, axis1=1, axis2=2))
    scaled = sound * scale[:, :, None] * scale[:, None, :]
    good &= np.linalg.eigvalsh(scaled)[:, 0] > SINGULAR
    inverse = np.linalg.inv(np.where(good[:, None, None], scaled, np.eye(count)))
    status = np.where(~good & (status == Status.OK), float(Status.CONSTRAINT_SINGULAR), status)
    places = [TWIST.index(name) for name in along]
    compliance, stiffness = np.zeros((2, dynamics.samples, len(TWIST), len(TWIST)))
    compliance[:, np.array(places)[:, None], places] = inverse * scale[:, :, None] * scale[:, None, :]
    stiffness[:, np.array(places)[:, None], places] = total
    shifts = [place for place in places if place >= 3]
    softness = np.linalg.eigvalsh(compliance[:, np.array(shifts)[:, None], shifts])
    least, largest = 1.0 / softness[:, -1], 1.0 / softness[:, 0]
    for values in (compliance, stiffness, least, largest):
        values[~good] = np.nan
    batch = dynamics.batch
    return Stiffness(
        compliance.reshape(*batch, 6, 6),
        stiffness.reshape(*batch, 6, 6),
        least.reshape(batch),
        largest.reshape(batch),
        dynamics.statuses(status),
        along,
    )


class NaturalFrequencies(NamedTuple):
    """Frequencies (*batch, freedom) [Hz], lowest first; modes (*batch, freedom, mode) of unit mass; status (*batch)."""

    frequencies: np.ndarray
    modes: np.ndarray
    status: np.ndarray


def natural_frequencies(
    robot: Robot,
    elasticity: Elasticity,
    *,
    position: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
) -> NaturalFrequencies:
    """Natural frequencies and modes of a parallel robot at a pose, its actuators held in their positions.

    M d'' + K d = 0 of the freedoms: M is the mass matrix of `equations_of_motion`, drives included; K is the inverse of
    the compliance along the freedoms under forces along them, so that links give way as they do at rest, and their
    masses move as those of rigid links. Arguments and errors as in `cartesian_stiffness`.
    """
    stiffness = cartesian_stiffness(robot, elasticity, position=position, rotation=rotation)
    mass = equations_of_motion(robot, position=position, rotation=rotation).mass
    places = [TWIST.index(name) for name in robot.mechanism.freedoms]
    softness = stiffness.compliance[..., np.array(places)[:, None], places]
    good = stiffness.status == Status.OK
    identity = np.eye(len(places))
    root = np.linalg.cholesky(np.where(good[..., None, None], mass, identity))
    product = np.swapaxes(root, -1, -2) @ np.where(good[..., None, None], softness, identity) @ root
    squares, vectors = np.linalg.eigh(product)  # 1 / omega^2, so that the lowest frequency comes last
    frequencies = 1.0 / (2.0 * np.pi * np.sqrt(squares[..., ::-1]))
    modes = np.linalg.solve(np.swapaxes(root, -1, -2), vectors[..., ::-1])
    frequencies[~good], modes[~good] = np.nan, np.nan
    return NaturalFrequencies(frequencies, modes, stiffness.status)


class Clearance(NamedTuple):
    """Distances (*batch, pair) [m] of capsules, below zero where they overlap; `pairs` says of what; status (*batch).

    least (*batch) is that of the nearest pair. Names are those of links, `platform 1`, `base 1` and so on.
    """

    distances: np.ndarray
    pairs: tuple[tuple[str, str], ...]
    least: np.ndarray
    status: np.ndarray


def clearance(
    robot: Robot,
    capsules: Capsules,
    *,
    position: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
) -> Clearance:
    """Distances between links of different limbs, and of links to platform and base, as capsules around their arms.

    A link's arms are the straight lines between its joints, see `tasks.criteria.arms`. Not compared are links of one
    limb, arms of two limbs that end in one point at the reference pose, and arms that end in the limb's joint at the
    platform, or at the base, with that. Pose as in `inverse_dynamics`. Samples whose limbs cannot be solved hold NaN;
    the status is that of limbs alone.
    Raises ValueError for a chain, and where no two capsules are left to compare.
    """
    if robot.mechanism.is_chain:
        raise ValueError(f"robot: got {robot.name}, which has no platform; expected a parallel robot")
    known, family = CriteriaParameters(capsules=capsules), robot.family
    asked = criteria.structural(family.reference, known).wanted(("clearance",))
    if not (pairs := criteria.pairs(family, asked)):
        raise ValueError("capsules: got no two to compare; expected those of several limbs, of platform or of base")
    dynamics = Dynamics(robot, Moving(position=position, rotation=rotation), ("clearance",), criteria=known)
    limbs = range(len(robot.mechanism.instances))
    dynamics.run(limb(dynamics.request, k) for k in limbs)
    gaps = kernel(criteria.gap_program(family, asked))(dynamics.values, dynamics.samples)["gap"][0]
    distances = np.ascontiguousarray(gaps[:, : dynamics.samples].T)
    status = np.zeros(dynamics.samples)
    for k in reversed(limbs):
        status = np.where(dynamics.status_of(k) != Status.OK, dynamics.status_of(k), status)
    distances[status != Status.OK] = np.nan
    names = tuple((_name(robot, a, asked), _name(robot, b, asked)) for a, b in pairs)
    shaped = distances.reshape(*dynamics.batch, len(pairs))
    return Clearance(shaped, names, shaped.min(axis=-1), dynamics.statuses(status))


def _name(robot: Robot, owned: Owned, asked: criteria.RobotCriteria) -> str:
    (owner, number), mechanism = owned, robot.mechanism
    if owner in (PLATFORM, GROUND):
        return f"{'platform' if owner == PLATFORM else 'base'} {number + 1}"
    instance = mechanism.instances[owner]
    line = asked.of_limb(owner).capsules.arms(arms(robot.family, instance.limb))[number]
    return f"{instance.name}.{mechanism.limbs[instance.limb].links[line.link].body}"


def deflection(stiffness: Stiffness, load: ArrayLike) -> np.ndarray:
    """How the platform gives way (*batch, 6), (turn [rad], shift [m]), to a load (*batch, 6), (moment, force) on it.

    World axes, at the reference point. A load along what the robot does not hold is not seen. Raises ValueError.
    """
    return np.einsum("...ij,...j->...i", stiffness.compliance, checked("load", load, (6,)))
