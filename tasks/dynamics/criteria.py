"""Criteria of design of one robot for a batch: stiffness, natural frequencies, errors of the pose, distances of links.

Functions take a motion like `tasks.dynamics.inverse`, and use its pose. SI units, world axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from robots.arguments import check_arguments
from robots.criteria.elasticity import Elasticity
from robots.criteria.parts import Capsules, CriteriaParameters, Errors
from robots.labels import WRENCH
from robots.model import Mechanism, Robot
from robots.requested import QuantityNames
from robots.springs import Bushing, Spring
from robots.status import Status
from robots.types import TWIST
from tasks.dynamics.criteria_inputs import check_parts
from tasks.dynamics.equations import equations_of_motion
from tasks.dynamics.inverse import Dynamics
from tasks.dynamics.records import STANDING, TIMELESS, Environment, MotionKeywords, Moving, State, long_form
from tasks.features import capsules as capsule_terms
from tasks.features import criteria
from tasks.features.capsules import GROUND, PLATFORM, Owned, RobotCapsules, capsules_told
from tasks.features.compliance import errors_of_limb
from tasks.features.criteria import Criteria
from tasks.features.singularities import Constraints
from tasks.kernels.kernel import checked, kernel
from tasks.kernels.keys import Indexed
from tasks.mechanics.solving import arms
from tasks.stages.stages import assembly, limb, platform

SINGULAR = 1e-10
"""Eigenvalue of a stiffness, scaled to ones on its diagonal, up to which it counts as singular."""


class Stiffness(NamedTuple):
    """Compliance (*batch, 6, 6), (turn, shift) of the platform by (moment, force) on it at its reference point.

    stiffness: its inverse (*batch, 6, 6) along `directions`, and zero, not infinite, along all others. least and
    largest (*batch): stiffness of the reference point under forces at it, over all directions [N/m]. status (*batch):
    see `cartesian_stiffness`. `directions` are the components of the twist along which the robot is compliant; the
    compliance of others is zero.
    """

    compliance: np.ndarray
    stiffness: np.ndarray
    least: np.ndarray
    largest: np.ndarray
    status: np.ndarray
    directions: tuple[str, ...]


@check_arguments
def cartesian_stiffness(
    robot: Robot,
    elasticity: Elasticity,
    motion: State | None = None,
    **short: Unpack[MotionKeywords],
) -> Stiffness:
    """Compute the stiffness of a parallel robot at its platform, its actuators held in their positions.

    elasticity: of actuators, joints and links. If only actuators are elastic, compliance counts along the freedoms;
    otherwise along all directions that limbs hold, also overconstrained ones. Pose as of a `limbsweep.Motion`.
    Deflections are small, bodies have no weight. Springs of the robot's loads hold its platform too: with such springs
    the tangent of all its loads counts, and only actuators may be elastic. Results are NaN where the robot cannot be
    solved, and where the stiffness is not defined: a limb is rigid under a part of its load, or the platform is not
    held. These samples have the status CONSTRAINT_SINGULAR. Raises ValueError for a chain, and for springs of loads
    beside elastic joints or links. Source: `tasks.features.compliance`.

        >>> robot = ls.robots.build("delta_3rr2rrr")
        >>> drives = ls.robots.Elasticity.of(robot.mechanism, actuators={"all": 2e4})
        >>> bool(ls.cartesian_stiffness(robot, drives, position=[0.0, 0.1, -0.9]).least > 1e4)  # [N/m]
        True
    """
    check_parts(robot, "elasticity", elasticity, Elasticity)
    pose = long_form(motion, STANDING, short, TIMELESS)[0].moving
    solved = SolvedPose(robot, CriteriaParameters(elasticity), "least_stiffness", pose, springs=True)
    shifts = [place for place in solved.places if place >= 3]
    softness = np.linalg.eigvalsh(solved.compliance[:, np.array(shifts)[:, None], shifts])
    with np.errstate(divide="ignore"):
        least, largest = 1.0 / softness[:, -1], 1.0 / softness[:, 0]
    dynamics, along = solved.dynamics, tuple(TWIST[place] for place in solved.places)
    return Stiffness(
        compliance=solved.shaped(solved.compliance),
        stiffness=solved.shaped(solved.in_full(solved.total)),
        least=solved.shaped(least),
        largest=solved.shaped(largest),
        status=dynamics.statuses(solved.status),
        directions=along,
    )


class SolvedPose:
    """Limbs solved for criteria, and the compliance (samples, 6, 6) that their stiffnesses have together."""

    def __init__(
        self, robot: Robot, parameters: CriteriaParameters, metric: str, pose: Moving, *, springs: bool = False
    ):
        if robot.mechanism.is_chain:
            raise ValueError(f"robot: got {robot.name}, which has no platform; expected a parallel robot")
        self.dynamics = Dynamics(robot, pose, (metric,), criteria=parameters)
        request = self.dynamics.request
        looked = ("least_constraint_regularity",) if request.feature(Constraints).looked_for(request) else ()
        bare, self.limbs = replace(request, quantities=QuantityNames(looked)), range(len(robot.mechanism.instances))
        self.dynamics.run((*(limb(request, k) for k in self.limbs), platform(bare), assembly(bare)))
        self.places = [TWIST.index(name) for name in request.feature(Criteria).directions(request)]
        self.total, count = self.sum("stiffness"), len(self.places)
        if springs and has_springs(robot.mechanism):
            self.total = self.total + tangent_of_loads(robot, pose, self.places).reshape(-1, count, count)
        status, total = self.dynamics.status, self.total
        good = (status == Status.OK) & np.isfinite(total).all(axis=(1, 2))
        good &= (np.diagonal(total, axis1=1, axis2=2) > 0.0).all(axis=1)
        sound = np.where(good[:, None, None], total, np.eye(count))
        scale = 1.0 / np.sqrt(np.diagonal(sound, axis1=1, axis2=2))
        scaled = sound * scale[:, :, None] * scale[:, None, :]
        good &= np.linalg.eigvalsh(scaled)[:, 0] > SINGULAR
        inverse = np.linalg.inv(np.where(good[:, None, None], scaled, np.eye(count)))
        self.status = np.where(~good & (status == Status.OK), float(Status.CONSTRAINT_SINGULAR), status)
        self.compliance, self.good = self.in_full(inverse * scale[:, :, None] * scale[:, None, :]), good

    def sum(self, name: str, limbs: Iterable[int] | None = None) -> np.ndarray:
        """Return the sum over limbs (samples, direction, direction), or (samples, direction)."""
        rows = np.sum([self.dynamics.sample_rows(Indexed(name, k)) for k in limbs or self.limbs], axis=0)
        count, samples = len(self.places), self.dynamics.samples
        return np.ascontiguousarray(rows.T).reshape(samples, *(count,) * (2 if len(rows) > count else 1))

    def in_full(self, values: np.ndarray) -> np.ndarray:
        """Return a matrix over directions as one over all components of a twist (samples, 6, 6), zero beside them."""
        result = np.zeros((len(values), len(TWIST), len(TWIST)))
        result[:, np.array(self.places)[:, None], self.places] = values
        return result

    def shaped(self, values: np.ndarray) -> np.ndarray:
        """Return the values (samples, ...) in the caller's shape, (*batch, ...), NaN without a compliance."""
        values[~self.good] = np.nan
        return values.reshape((*self.dynamics.batch, *values.shape[1:]))


def has_springs(mechanism: Mechanism) -> bool:
    """Return whether loads of a robot have springs, on bodies or in joints."""
    elements = [*mechanism.platform.forces, *(element for limb_ in mechanism.limbs for element in limb_.forces)]
    return any(isinstance(element, Spring | Bushing) for element in elements) or any(
        limb_.springs for limb_ in mechanism.limbs
    )


MOVED = 1e-5
"""Displacement of the platform for differences of loads [rad, or in its distance from the base]."""


def tangent_of_loads(robot: Robot, pose: Moving, places: Sequence[int]) -> np.ndarray:
    """Compute the stiffness that the loads of a robot give its platform (*batch, direction, direction).

    It is computed by central differences of the forces that hold the platform without weight. The symmetric part is
    taken, as rotations do not commute. Raises ValueError for directions along which the platform is not free.
    """
    freedoms = [TWIST.index(name) for name in robot.mechanism.freedoms]
    if [*places] != sorted(freedoms):
        raise ValueError(
            "elasticity: got it of joints or links of a robot with springs; expected elasticity of actuators alone, as "
            "springs act on bodies that move with the platform"
        )
    home = robot.mechanism.platform.home
    position = np.asarray(pose.get("position", home.position), dtype=float)
    rotation = np.asarray(pose.get("rotation", home.rotation), dtype=float)
    size = float(np.linalg.norm(np.array(home.position, dtype=float))) or 1.0
    columns = []
    for place in places:
        step = np.zeros(6)
        step[place] = MOVED * (1.0 if place < 3 else size)

        def held(sign: float, step: np.ndarray = step) -> np.ndarray:
            moved = {"position": position + sign * step[3:]}
            if min(places) < 3:
                moved["rotation"] = Rotation.from_rotvec(sign * step[:3]).as_matrix() @ rotation
            still = equations_of_motion(robot, State(**moved), Environment(gravity=(0.0, 0.0, 0.0)))
            return np.asarray(still.gravity)[..., [freedoms.index(index) for index in places]]

        columns.append((held(1.0) - held(-1.0)) / (2.0 * step[place]))
    matrix = np.stack(columns, axis=-1)
    return 0.5 * (matrix + np.swapaxes(matrix, -1, -2))


class PoseError(NamedTuple):
    """Pose error of the platform from errors of parts, with actuators held at their nominal encoder values.

    covariance (*batch, 6, 6) of (turn, shift); position (*batch) [m]: standard deviation of the reference point along
    the worst `direction` (*batch, 3); shares: share of each part in that variance (*batch), by name; shift (*batch, 6):
    (turn, shift) by growth with temperature; status (*batch).
    """

    covariance: np.ndarray
    position: np.ndarray
    direction: np.ndarray
    shares: dict[str, np.ndarray]
    shift: np.ndarray
    status: np.ndarray


@check_arguments
def pose_error(
    robot: Robot,
    errors: Errors,
    elasticity: Elasticity | None = None,
    motion: State | None = None,
    **short: Unpack[MotionKeywords],
) -> PoseError:
    """Compute the first-order error of a platform's pose by errors of actuators, joints and links.

    By virtual work, an error of a part moves the platform by the wrench in that part for a unit load on the platform.
    In an overconstrained robot, elasticity decides the effect of errors, and has to be given for links or joints; in
    other robots elasticity has no effect. Pose, errors and status as in `cartesian_stiffness`. Raises ValueError also
    for an overconstrained robot whose links are rigid.

        >>> robot = ls.robots.build("five_bar")
        >>> play = ls.robots.Errors.of(robot.mechanism, backlash={"all": 1e-4})
        >>> tube = ls.robots.Beam.tube(0.03, 70e9, inner=0.026)
        >>> soft = ls.robots.Elasticity.of(robot.mechanism, links={"all": tube})
        >>> round(1e3 * float(ls.pose_error(robot, play, soft, position=[0.05, 0.0, -0.6]).position), 3)  # [mm]
        0.056
    """
    check_parts(robot, "errors", errors, Errors)
    check_sharing(robot, elasticity)
    pose = long_form(motion, STANDING, short, TIMELESS)[0].moving
    solved = SolvedPose(robot, CriteriaParameters(elasticity, errors=errors), "position_deviation", pose)
    soft, places = solved.compliance, np.array(solved.places)

    def covariance(limbs: Iterable[int]) -> np.ndarray:
        return np.asarray(soft @ solved.in_full(solved.sum("spread", limbs)) @ soft)

    whole = covariance(solved.limbs)
    values, vectors = np.linalg.eigh(np.where(solved.good[:, None, None], whole[:, 3:, 3:], np.eye(3)))
    direction, variance = vectors[:, :, -1].copy(), values[:, -1]
    growth = np.einsum("nij,nj->ni", soft[:, :, places], solved.sum("growth"))
    shares: dict[str, np.ndarray] = {}
    stages = {k: limb(solved.dynamics.request, k) for k in solved.limbs}
    for name, k, single in _sources(robot, errors):
        solved.dynamics.values[Indexed("errors", k)] = alone_in_limb(errors, single, robot.mechanism, k)
        solved.dynamics.run([stages[k]])
        part = covariance([k])[:, 3:, 3:]
        with np.errstate(invalid="ignore", divide="ignore"):
            shares[name] = solved.shaped(np.einsum("ni,nij,nj->n", direction, part, direction) / variance)
    return PoseError(
        covariance=solved.shaped(whole),
        position=solved.shaped(np.sqrt(np.maximum(variance, 0.0))),
        direction=solved.shaped(direction),
        shares=shares,
        shift=solved.shaped(growth),
        status=solved.dynamics.statuses(solved.status),
    )


def check_sharing(robot: Robot, elasticity: Elasticity | None) -> None:
    """Check the elasticity by which errors share themselves; an overconstrained robot needs one. Raises ValueError."""
    if elasticity is not None:
        check_parts(robot, "elasticity", elasticity, Elasticity)
    rigid = elasticity is None or elasticity.actuators_alone
    if rigid and not robot.mechanism.is_chain and criteria.overconstrained(robot.family):
        raise ValueError(
            f"elasticity: {robot.name} is overconstrained; expected elasticity of links or joints, by which errors "
            "share themselves"
        )


def alone_in_limb(errors: Errors, single: Errors, mechanism: Mechanism, k: int) -> np.ndarray:
    """Return the case input of all errors with the values of a single one."""
    tables = {
        kind: {key: _zero(value) for key, value in getattr(errors, kind).items()} | getattr(single, kind)
        for kind in ("actuators", "joints", "links", "lengths")
    }
    return errors_of_limb(Errors(**tables, growth=errors.growth), mechanism, k)[1]


def _zero(value: float | tuple[float, ...]) -> float | tuple[float, ...]:
    return tuple(0.0 for _ in value) if isinstance(value, tuple) else 0.0


def _sources(robot: Robot, errors: Errors) -> Iterator[tuple[str, int, Errors]]:
    """Yield every part with an error: its name, the number of its limb, and its error alone."""
    mechanism, first = robot.mechanism, 0
    for k, instance in enumerate(mechanism.instances):
        parts = mechanism.limbs[instance.limb]
        for number, actuator in enumerate(parts.actuators, start=first):
            if number in errors.actuators:
                yield f"{instance.name}.{actuator} actuator", k, errors.alone("actuators", number)
        first += len(parts.actuators)
        bodies = [link.body for link in parts.links]
        for kind, names, what in (
            ("joints", parts.joints, "joint"),
            ("links", bodies, "link"),
            ("lengths", bodies, "length"),
        ):
            for place in sorted(getattr(errors, kind)):
                if place[0] == k:
                    yield f"{instance.name}.{names[place[1]]} {what}", k, errors.alone(kind, place)


class NaturalFrequencies(NamedTuple):
    """Frequencies (*batch, freedom) [Hz], lowest first; modes (*batch, freedom, mode) of unit mass; status (*batch)."""

    frequencies: np.ndarray
    modes: np.ndarray
    status: np.ndarray


@check_arguments
def natural_frequencies(
    robot: Robot,
    elasticity: Elasticity,
    motion: State | None = None,
    **short: Unpack[MotionKeywords],
) -> NaturalFrequencies:
    """Compute natural frequencies and modes of a parallel robot at a pose, its actuators held in their positions.

    M d'' + K d = 0 along the freedoms. M is the mass matrix of `equations_of_motion`, drives included. K is the inverse
    of the compliance along the freedoms under forces along them. So links deform as under static loads, and their
    masses move as on rigid links. Arguments and errors as in `cartesian_stiffness`.

        >>> robot = ls.robots.build("delta_3rr2rrr")
        >>> drives = ls.robots.Elasticity.of(robot.mechanism, actuators={"all": 2e4})
        >>> ls.natural_frequencies(robot, drives, position=[0.0, 0.1, -0.9]).frequencies.shape  # (freedom,) [Hz]
        (3,)
    """
    motion, _ = long_form(motion, STANDING, short, TIMELESS)
    stiffness, mass = cartesian_stiffness(robot, elasticity, motion), equations_of_motion(robot, motion).mass
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
    """Distances (*batch, pair) [m] of capsules, negative for overlaps; `pairs` has their names; status (*batch).

    least (*batch) is the distance of the nearest pair. Names are names of links, `platform 1`, `base 1` and so on.
    """

    distances: np.ndarray
    pairs: tuple[tuple[str, str], ...]
    least: np.ndarray
    status: np.ndarray


@check_arguments
def clearance(
    robot: Robot,
    capsules: Capsules,
    motion: State | None = None,
    **short: Unpack[MotionKeywords],
) -> Clearance:
    """Compute distances between links of different limbs, platform and base, as capsules around their arms.

    A link's arms are the straight lines between its joints, see `tasks.mechanics.structure`. Some pairs are not
    compared: links of one limb, arms of two limbs that end in one point at the reference pose, and an arm that ends in
    the limb's joint at the platform, or at the base, with this body. Pose as of a `limbsweep.Motion`. Samples whose
    limbs cannot be solved hold NaN; the status is the status of the limbs alone. Raises ValueError for a chain, and
    where no two capsules are left to compare.

        >>> robot = ls.robots.build("delta_3rr2rrr")
        >>> rods = ls.robots.Capsules.of(robot.mechanism, {"all": 0.01})
        >>> bool(ls.clearance(robot, rods, position=[0.0, 0.1, -0.9]).least > 0.0)
        True
    """
    check_parts(robot, "capsules", capsules, Capsules)
    if robot.mechanism.is_chain:
        raise ValueError(f"robot: got {robot.name}, which has no platform; expected a parallel robot")
    parameters, family = CriteriaParameters(capsules=capsules), robot.family
    capsules_of_robot = capsules_told(family.reference, capsules)
    if not (pairs := capsule_terms.pairs(family, capsules_of_robot)):
        raise ValueError("capsules: got no two to compare; expected capsules of several limbs, platform or base")
    pose = long_form(motion, STANDING, short, TIMELESS)[0].moving
    dynamics = Dynamics(robot, pose, ("clearance",), criteria=parameters)
    limbs = range(len(robot.mechanism.instances))
    dynamics.run(limb(dynamics.request, k) for k in limbs)
    gaps = kernel(capsule_terms.gap_program(family, capsules_of_robot))(dynamics.values, dynamics.samples)["gap"][0]
    distances = np.ascontiguousarray(gaps[:, : dynamics.samples].T)
    status = np.zeros(dynamics.samples)
    for k in reversed(limbs):
        status = np.where(dynamics.status_of(k) != Status.OK, dynamics.status_of(k), status)
    distances[status != Status.OK] = np.nan
    names = tuple((_name(robot, a, capsules_of_robot), _name(robot, b, capsules_of_robot)) for a, b in pairs)
    shaped = distances.reshape(*dynamics.batch, len(pairs))
    return Clearance(shaped, names, shaped.min(axis=-1), dynamics.statuses(status))


def _name(robot: Robot, owned: Owned, asked: RobotCapsules) -> str:
    (owner, number), mechanism = owned, robot.mechanism
    if owner in (PLATFORM, GROUND):
        return f"{'platform' if owner == PLATFORM else 'base'} {number + 1}"
    instance = mechanism.instances[owner]
    line = asked.capsules_of(owner).arms(arms(robot.family, instance.limb))[number]
    return f"{instance.name}.{mechanism.limbs[instance.limb].links[line.link].body}"


def deflection(stiffness: Stiffness, load: ArrayLike) -> np.ndarray:
    """Return the displacement (*batch, 6), (turn [rad], shift [m]), of the platform under a load (*batch, 6).

    The load is (moment, force) in world axes, at the reference point. A load along a direction that the robot does
    not hold has no effect. Raises ValueError.
    """
    return np.einsum("...ij,...j->...i", stiffness.compliance, checked("load", load, (6,), WRENCH))
