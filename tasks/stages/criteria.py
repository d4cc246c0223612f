"""What criteria of design ask of limbs and assembly of a robot family; the mathematics is in `tasks.features`.

Which directions stiffness counts along, which capsules are compared, and the case inputs: `elasticity` of each limb,
`test_load` (6,) and `capsules` of the robot.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from robots.criteria.elasticity import Elasticity
from robots.criteria.parts import CriteriaParameters
from robots.model import Family, Mechanism
from robots.quantities import any_needs
from robots.types import BASE, TWIST
from tasks.features import clearance, compliance
from tasks.features.clearance import BARE, LimbCapsules, Line
from tasks.features.compliance import LimbElasticity, LimbErrors, LimbLooseness, elastic_share, looseness_of_limb
from tasks.kernels.expression import Array, Scalar
from tasks.kernels.keys import Key, Shape, Values, indexed
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import array
from tasks.mechanics import limb, recursion
from tasks.mechanics.kinematics import HOME, Pose
from tasks.mechanics.reactions import LimbStatics
from tasks.mechanics.recursion import held_directions
from tasks.mechanics.structure import (
    Structure,
    arms,
    joint_point,
    mount_values,
    mounted_limb,
    solved_limb,
    structure_of,
    symbolic,
)
from tasks.stages.reactions import carried

MEET = 1e-9
"""Distance relative to the size of the robot up to which ends of lines meet at the reference pose."""
SINGULAR = 1e-12
"""Least eigenvalue of a stiffness with ones on its diagonal, up to which it is singular."""
CAPSULE = 7
"""Numbers of a capsule of platform or base: both ends, radius."""
PLATFORM, GROUND = -1, -2
"""Owners of capsules, among the numbers of limbs."""


@dataclass(frozen=True)
class LimbCriteria:
    """What criteria ask of one limb: a `stiffness` along `directions`, its errors, clearances, `ends` of its capsules.

    `sharing`: the elasticity by which its joints share what statics leaves open; None: they do with the least norm.
    """

    elasticity: LimbElasticity | None = None
    capsules: LimbCapsules = BARE
    errors: LimbErrors | None = None
    sharing: LimbElasticity | None = None
    loose: LimbLooseness | None = None

    def shapes(self, structure: Structure, limb_index: int) -> dict[str, Shape]:
        """Names and shapes of what the limb gives for them."""
        shapes: dict[str, Shape] = {}
        if self.elasticity is not None:
            count = len(directions(structure.family, self.elasticity.spatial))
            shapes["stiffness"] = (count, count)
            shapes |= {"spread": (count, count), "growth": (count,)} if self.errors is not None else {}
            shapes |= {"play": (sum(self.loose.components), count)} if self.loose is not None else {}
        if lines := self.capsules.arms(arms(structure.family, limb_index)):
            shapes["ends"] = (2 * len(lines), 3)
        return shapes

    @property
    def case(self) -> dict[str, Shape]:
        """Case inputs of the limb."""
        shapes: dict[str, Shape] = {}
        elastic = self.elasticity or self.sharing
        shapes |= {"elasticity": (elastic.size,)} if elastic is not None else {}
        shapes |= {"errors": (self.errors.size,)} if self.errors is not None else {}
        return shapes | ({"clearances": (self.loose.size,)} if self.loose is not None else {})


NOTHING = LimbCriteria()


@dataclass(frozen=True)
class RobotCriteria:
    """The same of a robot: of each limb, and how many capsules platform and base have."""

    limbs: tuple[LimbCriteria, ...] = ()
    platform: int = 0
    base: int = 0

    def of_limb(self, k: int) -> LimbCriteria:
        """What is asked of limb number k."""
        return self.limbs[k] if self.limbs else NOTHING

    def wanted(self, quantities: Sequence[str]) -> RobotCriteria:
        """What some quantities ask."""
        apart, wrong = any_needs(quantities, "capsules"), any_needs(quantities, "errors")
        loose = any_needs(quantities, "clearances")
        stiff = wrong or loose or any_needs(quantities, "elasticity")
        limbs = tuple(
            LimbCriteria(
                *(x.elasticity if stiff else None, x.capsules if apart else BARE, x.errors if wrong else None),
                *(x.sharing, x.loose if loose else None),
            )
            for x in self.limbs
        )
        shared = any(x.sharing is not None for x in self.limbs)
        bodies = (self.platform, self.base) if apart else (0, 0)
        return RobotCriteria(limbs if stiff or apart or shared else (), *bodies)

    @property
    def elastic(self) -> bool:
        """Whether stiffness is asked for."""
        return any(limb.elasticity is not None for limb in self.limbs)

    @property
    def spatial(self) -> bool:
        """Whether compliance counts along all that limbs hold."""
        return any(limb.elasticity is not None and limb.elasticity.spatial for limb in self.limbs)

    @property
    def inexact(self) -> bool:
        """Whether errors are asked for."""
        return any(limb.errors is not None for limb in self.limbs)

    @property
    def loose(self) -> bool:
        """Whether clearances are asked for."""
        return any(limb.loose is not None for limb in self.limbs)

    @property
    def apart(self) -> bool:
        """Whether distances are asked for."""
        return any(limb.capsules != BARE for limb in self.limbs)


NO_CRITERIA = RobotCriteria()


def structural(mechanism: Mechanism, parameters: CriteriaParameters) -> RobotCriteria:
    """What parameters of criteria give for each limb, without their values."""
    numbers, bodies = range(len(mechanism.instances)), parameters.capsules
    limbs = tuple(
        LimbCriteria(
            _elastic(mechanism, parameters, k)[0],
            _capsules(parameters, k),
            _inexact(mechanism, parameters, k)[0],
            _elastic(mechanism, parameters, k)[0] if parameters.reactions else None,
            _loose(mechanism, parameters, k)[0],
        )
        for k in numbers
    )
    if all(limb == NOTHING for limb in limbs):
        return NO_CRITERIA
    return RobotCriteria(limbs, len(bodies.platform) if bodies else 0, len(bodies.base) if bodies else 0)


def _elastic(mechanism: Mechanism, parameters: CriteriaParameters, k: int) -> tuple[LimbElasticity | None, np.ndarray]:
    if parameters.elasticity is None:
        if parameters.errors is None and parameters.clearances is None:
            return None, np.zeros((1, 0))
        # of a robot that is not overconstrained errors do not depend on elasticity
        actuators = len(mechanism.actuators)
        return compliance.of_limb(Elasticity(dict.fromkeys(range(actuators), 1.0)), mechanism, k)
    return compliance.of_limb(parameters.elasticity, mechanism, k)


def _inexact(mechanism: Mechanism, parameters: CriteriaParameters, k: int) -> tuple[LimbErrors | None, np.ndarray]:
    if parameters.errors is None:
        return None, np.zeros((1, 0))
    return compliance.errors_of_limb(parameters.errors, mechanism, k)


def _loose(mechanism: Mechanism, parameters: CriteriaParameters, k: int) -> tuple[LimbLooseness | None, np.ndarray]:
    if parameters.clearances is None:
        return None, np.zeros((1, 0))
    return looseness_of_limb(parameters.clearances, mechanism, k)


def _capsules(parameters: CriteriaParameters, k: int) -> LimbCapsules:
    return BARE if parameters.capsules is None else clearance.of_limb(parameters.capsules, k)


def case_values(family: Family, parameters: CriteriaParameters) -> Values:
    """The case inputs (1, size) of criteria."""
    mechanism, values = family.reference, Values()
    for k in range(len(mechanism.instances)):
        inputs = {"elasticity": _elastic(mechanism, parameters, k)[1], "errors": _inexact(mechanism, parameters, k)[1]}
        values |= indexed(k, inputs | {"clearances": _loose(mechanism, parameters, k)[1]})
    numbers: list[float] = []
    if (bodies := parameters.capsules) is not None:
        for k, instance in enumerate(mechanism.instances):
            lines = _capsules(parameters, k).arms(arms(family, instance.limb))
            numbers += [bodies.links[k, line.link] for line in lines]
        numbers += [x for body in (*bodies.platform, *bodies.base) for x in (*body.numbers, body.radius)]
    load = parameters.load if parameters.load is not None else (0.0,) * len(TWIST)
    return values | {"capsules": np.array([numbers], dtype=float), "test_load": np.array([load], dtype=float)}


def balls(asked: RobotCriteria, play: Mapping[int, Array]) -> Iterator[Array]:
    """Of each ball of what is loose its components (component, direction), from `play` of the limbs."""
    for k, rows in sorted(play.items()):
        if (loose := asked.of_limb(k).loose) is not None:
            yield from loose.balls(array(rows))


def overconstrained(family: Family) -> bool:
    """Whether limbs have redundant conditions, so that forces, and errors, share themselves by elasticity."""
    structure = structure_of(family)
    return any(structure.redundant(k) for k in range(len(structure.mechanism.limbs)))


def _spatial(parameters: CriteriaParameters) -> bool:
    return parameters.elasticity is not None and not parameters.elasticity.actuators_alone


def stiffness_problems(family: Family, parameters: CriteriaParameters) -> Iterator[str]:
    """What leaves a robot without stiffness at the reference pose of the reference design, in words."""
    if overconstrained(family) and not _spatial(parameters):
        for what, part in (("errors", parameters.errors), ("clearances", parameters.clearances)):
            if part is not None:
                yield f"{what} of an overconstrained robot whose links are rigid"
                return
    structure, values = structure_of(family), {p.name: p.scalar for p in family.parameters}
    numbers, mounts = array([values[p.name] for p in family.parameters]), mount_values(family, values)
    body = family.assemble(values).platform
    motion = recursion.still(body, np.zeros(3), np.zeros(3))
    whole = np.zeros(())
    for k, instance in enumerate(structure.mechanism.instances):
        asked, case = _elastic(structure.mechanism, parameters, k)
        assert asked is not None
        if asked.spatial and structure.mechanism.limbs[instance.limb].every_row:
            yield f"limb {instance.name} with every row of its tips, as stiffness rests on a choice of rows"
            return
        mounted, solved, _, _ = solved_limb(structure, instance.limb, numbers, mounts[k][0], motion)
        along, lines = directions(family, asked.spatial), arms(family, instance.limb)
        with np.errstate(invalid="ignore", divide="ignore"):
            statics = LimbStatics(mounted, solved)
            share = compliance.limb_stiffness(statics, asked, case[0], lines, along)["stiffness"]
        if not np.isfinite(share).all():
            yield f"limb {instance.name}, which is rigid under a part of what it carries"
            return
        whole = whole + share
    scale = 1.0 / np.sqrt(np.diag(whole))
    if not np.isfinite(scale).all() or np.linalg.eigvalsh(whole * np.outer(scale, scale))[0] <= SINGULAR:
        yield "a platform that nothing holds at the reference pose"


def sharing_problems(family: Family, parameters: CriteriaParameters) -> Iterator[str]:
    """What keeps elasticity from deciding reactions that statics leaves open, at the reference pose, in words."""
    structure, values = structure_of(family), {p.name: p.scalar for p in family.parameters}
    numbers, mounts = array([values[p.name] for p in family.parameters]), mount_values(family, values)
    motion = np.zeros(structure.motion_size)
    if not structure.mechanism.is_chain:
        motion = recursion.still(family.assemble(values).platform, np.zeros(3), np.zeros(3))
    for k, instance in enumerate(structure.mechanism.instances):
        asked, case = _elastic(structure.mechanism, parameters, k)
        if asked is None or not asked.spatial:
            yield "actuators that give way alone"
            return
        if structure.mechanism.limbs[instance.limb].every_row:
            yield f"limb {instance.name} with every row of its tips, as this rests on a choice of rows"
            return
        mounted, solved, _, _ = solved_limb(structure, instance.limb, numbers, mounts[k][0], motion)
        with np.errstate(invalid="ignore", divide="ignore"):
            lines = arms(family, instance.limb)
            metric = elastic_share(LimbStatics(mounted, solved), np.zeros(3), asked, case[0], lines)["metric"]
        if not np.isfinite(np.asarray(metric, dtype=float)).all():
            yield f"limb {instance.name}, which is rigid under a part of what statics leaves open"
            return


@functools.cache
def directions(family: Family, spatial: bool) -> tuple[str, ...]:
    """Components of the platform's twist along which stiffness counts: the freedoms, and what limbs can hold."""
    mobility = family.reference.platform.mobility
    held = held_directions(mobility)
    holding = [held[k] for k in carried(family)] if spatial else []
    return tuple(name for name in TWIST if name in (*mobility, *holding))


def ends(family: Family, limb_index: int, capsules: LimbCapsules, mounted: limb.Mounted, solved: limb.Solved) -> Array:
    """Both ends of each capsule of a limb (2 lines, 3), in the axes of the robot."""
    lines, seat = capsules.arms(arms(family, limb_index)), mounted.base
    points = [joint_point(solved.tips, joint) for line in lines for joint in (line.hub, line.end)]
    return array([seat.at(point) for point in points])


Owned = tuple[int, int]
"""Number of the limb, PLATFORM or GROUND, and of one of its capsules."""


@functools.cache
def pairs(family: Family, asked: RobotCriteria) -> tuple[tuple[Owned, Owned], ...]:
    """Which capsules are compared: those of different limbs, and those of limbs with those of platform and base.

    Not those of two limbs that end in one point at the reference pose of the reference design, nor of a limb that
    end in its joint at the platform, or base, with that.
    """
    instances = structure_of(family).mechanism.instances
    points = [_reference(family, k, asked.of_limb(k).capsules) for k in range(len(instances))]
    size = max((float(np.abs(lines).max()) for lines, _, _ in points if lines.size), default=1.0)
    result: list[tuple[Owned, Owned]] = []
    for (j, (one, _, _)), (k, (other, _, _)) in combinations(enumerate(points), 2):
        for a in range(len(one)):
            apart = (b for b in range(len(other)) if not _meet(one[a], other[b], size))
            result += [((j, a), (k, b)) for b in apart]
    for owner, count in ((PLATFORM, asked.platform), (GROUND, asked.base)):
        for k, (lines, at_platform, at_base) in enumerate(points):
            joints = at_platform if owner == PLATFORM else at_base
            free = [a for a in range(len(lines)) if not _meet(lines[a], joints, size)]
            result += [((k, a), (owner, body)) for a in free for body in range(count)]
    return tuple(result)


def _meet(one: Array, other: Array, size: float) -> bool:
    return bool((np.linalg.norm(one[:, None] - other[None], axis=-1) <= MEET * size).any())


def _reference(family: Family, k: int, capsules: LimbCapsules) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """At the reference pose: ends of the capsules (line, 2, 3), joints at the platform and at the base (point, 3)."""
    structure = structure_of(family)
    instance = structure.mechanism.instances[k]
    values = {p.name: p.scalar for p in family.parameters}
    parameters, mount = array([values[p.name] for p in family.parameters]), mount_values(family, values)[k][0]
    still = np.zeros(structure.motion_size)
    mounted, home, *_ = mounted_limb(structure, instance.limb, parameters, mount, still)
    tips, links = mounted.tips([HOME] * len(mounted.limb.links), home), mounted.limb.links

    def at(joints: Sequence[int]) -> np.ndarray:
        points = [mounted.base.at(joint_point(tips, joint)) for joint in joints]
        return np.array(points, dtype=float).reshape(-1, 3)

    lines = capsules.arms(arms(family, instance.limb))
    cuts = enumerate(mounted.limb.cuts, start=len(links))
    grounded = [i for i, link in enumerate(links) if link.parent == BASE]
    grounded += [i for i, cut in cuts if BASE in (cut.a, cut.b)]
    tip_joints = range(len(links), len(links) + len(mounted.limb.tips))
    return at([j for line in lines for j in (line.hub, line.end)]).reshape(-1, 2, 3), at(tip_joints), at(grounded)


def compared(
    family: Family, asked: RobotCriteria, ends: Mapping[int, Array], capsules: Array, pose: Pose
) -> Iterator[tuple[Line, Line]]:
    """The lines of all pairs at one instant, from the ends of limbs, the case input `capsules`, and the platform."""
    radii = iter(capsules)
    lines: dict[Owned, Line] = {}
    for k, points in sorted(ends.items()):
        for number in range(len(points) // 2):
            lines[k, number] = Line(array(points[2 * number]), array(points[2 * number + 1]), next(radii))
    for owner, count in ((PLATFORM, asked.platform), (GROUND, asked.base)):
        for number in range(count):
            start, end, radius = _three(radii), _three(radii), next(radii)
            if owner == PLATFORM:
                start, end = pose.at(start), pose.at(end)
            lines[owner, number] = Line(start, end, radius)
    for a, b in pairs(family, asked):
        yield lines[a], lines[b]


def _three(numbers: Iterator[Scalar]) -> np.ndarray:
    return array([next(numbers) for _ in range(3)])


def capsule_numbers(family: Family, asked: RobotCriteria) -> int:
    """Length of the case input `capsules`."""
    instances = structure_of(family).mechanism.instances
    lines = sum(len(asked.of_limb(k).capsules.arms(arms(family, x.limb))) for k, x in enumerate(instances))
    return lines + CAPSULE * (asked.platform + asked.base)


def platform_pose(structure: Structure, parameters: Array, motion: Array) -> Pose:
    """Pose of the platform."""
    return recursion.unpack(motion, symbolic(structure, parameters).platform)[0]


@functools.cache
def gap_program(family: Family, asked: RobotCriteria) -> Program:
    """The `gap` (pair,) of all compared capsules [m], from the `ends` of the limbs."""
    structure = structure_of(family)

    def one_sample(
        parameters: Array, capsules: Array, motion: Array, *, ends: Mapping[int, Array]
    ) -> dict[Key, Sequence[Scalar]]:
        pose = platform_pose(structure, parameters, motion)
        return {"gap": [clearance.gap(a, b) for a, b in compared(family, asked, ends, capsules, pose)]}

    sample: dict[Key, Shape] = {"motion": (structure.motion_size,)}
    for k, instance in enumerate(structure.mechanism.instances):
        shapes = LimbCriteria(None, asked.of_limb(k).capsules).shapes(structure, instance.limb)
        sample |= indexed(k, shapes)
    case: dict[Key, Shape] = {
        "parameters": (len(family.parameters),),
        "capsules": (capsule_numbers(family, asked),),
    }
    return trace(f"{family.name}.gaps", one_sample, case=case, sample=sample)
