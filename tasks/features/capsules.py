"""Capsules of limbs, platform and base: their least distance. The mathematics is in `tasks.features.clearance`."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from robots.criteria.parts import Capsules
from robots.data_classes import dataclass, replace
from robots.formulas import as_row
from robots.model import Family, Mechanism
from robots.types import BASE
from tasks.features import clearance
from tasks.features.clearance import Line, least_gap
from tasks.kernels.expression import Array, Numbers, Scalar
from tasks.kernels.keys import Key, Shape, Shapes, indexed
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import array
from tasks.mechanics import platform_motion
from tasks.mechanics.arms import Arm, joint_point
from tasks.mechanics.families import mount_values, structure_of
from tasks.mechanics.kinematics import HOME, Pose
from tasks.mechanics.solving import arms, mounted_limb
from tasks.mechanics.structure import Structure, symbolic
from tasks.stages.parts import LimbPart, LimbSample, Part, RobotSample
from tasks.stages.request import Feature, Request

MEET = 1e-9
"""Distance relative to the size of the robot up to which ends of lines meet at the reference pose."""
CAPSULE = 7
"""Numbers of a capsule of platform or base: both ends, radius."""
PLATFORM, GROUND = -1, -2
"""Owners of capsules, among the numbers of limbs."""


@dataclass(frozen=True)
class LimbCapsules:
    """Numbers of the links of a limb that have a radius."""

    links: tuple[int, ...] = ()

    def arms(self, of_limb: Iterable[Arm]) -> tuple[Arm, ...]:
        """Return the arms that are capsules."""
        return tuple(arm for arm in of_limb if arm.link in self.links)


BARE = LimbCapsules()


def of_limb(capsules: Capsules, limb: int) -> LimbCapsules:
    """Return the links of limb number `limb` of a robot that have a radius."""
    return LimbCapsules(tuple(link for k, link in sorted(capsules.links) if k == limb))


@dataclass(frozen=True)
class RobotCapsules(Feature):
    """Capsules of each limb, and how many platform and base have; radii and ends are a case input `capsules`."""

    limbs: tuple[LimbCapsules, ...] = ()
    platform: int = 0
    base: int = 0

    def capsules_of(self, k: int) -> LimbCapsules:
        """Return the capsules of limb k."""
        return self.limbs[k] if self.limbs else BARE

    def of_limb(self, request: Request, k: int) -> LimbLines | None:
        """Return the ends of the capsules of limb k, where quantities need them."""
        capsules = self.capsules_of(k)
        return LimbLines(capsules) if request.needs("capsules") and capsules != BARE else None

    def of_robot(self, request: Request) -> LeastGap | None:
        """Return the least distance."""
        return LeastGap(self) if any(self.limb_parts(request)) else None


def capsules_told(mechanism: Mechanism, capsules: Capsules | None) -> RobotCapsules:
    """Return the feature for capsules of a robot, without their values."""
    if capsules is None:
        return RobotCapsules()
    limbs = tuple(of_limb(capsules, k) for k in range(len(mechanism.instances)))
    return RobotCapsules(limbs, len(capsules.platform), len(capsules.base))


def capsule_values(family: Family, capsules: Capsules | None) -> np.ndarray:
    """Return the case input `capsules` (1, numbers)."""
    numbers: list[float] = []
    if capsules is not None:
        for k, instance in enumerate(family.reference.instances):
            lines = of_limb(capsules, k).arms(arms(family, instance.limb))
            numbers += [capsules.links[k, line.link] for line in lines]
        numbers += [x for body in (*capsules.platform, *capsules.base) for x in (*body.numbers, body.radius)]
    return as_row(numbers)


@dataclass(frozen=True)
class LimbLines(LimbPart):
    """Both ends of each capsule of a limb, `ends` (2 lines, 3), in the axes of the robot."""

    capsules: LimbCapsules

    def shapes(self, structure: Structure, limb_index: int) -> Shapes:
        """Return the shape of the ends."""
        lines = self.capsules.arms(arms(structure.family, limb_index))
        return {"ends": (2 * len(lines), 3)} if lines else {}

    def terms(self, sample: LimbSample) -> Mapping[str, Numbers]:
        """Return the ends."""
        lines = self.capsules.arms(arms(sample.structure.family, sample.limb_index))
        points = [joint_point(sample.solved.tips, joint) for line in lines for joint in (line.hub, line.end)]
        return {"ends": array([sample.mounted.base.at(point) for point in points])} if lines else {}


@dataclass(frozen=True)
class LeastGap(Part[RobotSample]):
    """Least distance of all compared capsules [m], as `clearance`."""

    capsules: RobotCapsules

    @property
    def of_limbs(self) -> Sequence[LimbPart]:
        """Return the parts that give ends of capsules."""
        return [LimbLines(capsules) for capsules in self.capsules.limbs]

    def case(self, structure: Structure) -> Shapes:
        """Return its case inputs."""
        family = structure.family
        return {"parameters": (len(family.parameters),), "capsules": (capsule_numbers(family, self.capsules),)}

    def add_to(self, sample: RobotSample) -> RobotSample:
        """Return the sample with the least distance."""
        inputs, family = sample.inputs, sample.structure.family
        pose = platform_pose(sample.structure, inputs["parameters"], sample.motion)
        lines = compared(family, self.capsules, inputs.get("ends", {}), inputs["capsules"], pose)
        return replace(sample, found={**sample.found, "clearance": least_gap(list(lines))})


Owned = tuple[int, int]
"""Number of the limb, PLATFORM or GROUND, and of one of its capsules."""


@functools.cache
def pairs(family: Family, asked: RobotCapsules) -> tuple[tuple[Owned, Owned], ...]:
    """Return the pairs of capsules to compare: of different limbs, and of limbs with platform and base.

    Left out, at the reference pose of the reference design: two capsules that end in one point, and a capsule that ends
    in the joint of its limb at the platform, or base, paired with that body.
    """
    instances = structure_of(family).mechanism.instances
    points = [_reference(family, k, asked.capsules_of(k)) for k in range(len(instances))]
    size = max((float(np.abs(lines).max()) for lines, _, _ in points if lines.size), default=1.0)
    result: list[tuple[Owned, Owned]] = []
    for (j, (one, _, _)), (k, (second, _, _)) in combinations(enumerate(points), 2):
        for a in range(len(one)):
            apart = (b for b in range(len(second)) if not _meet(one[a], second[b], size))
            result += [((j, a), (k, b)) for b in apart]
    for owner, count in ((PLATFORM, asked.platform), (GROUND, asked.base)):
        for k, (lines, at_platform, at_base) in enumerate(points):
            joints = at_platform if owner == PLATFORM else at_base
            free = [a for a in range(len(lines)) if not _meet(lines[a], joints, size)]
            result += [((k, a), (owner, body)) for a in free for body in range(count)]
    return tuple(result)


def _meet(one: Array, second: Array, size: float) -> bool:
    return bool((np.linalg.norm(one[:, None] - second[None], axis=-1) <= MEET * size).any())


def _reference(family: Family, k: int, capsules: LimbCapsules) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return at the reference pose: capsule ends (line, 2, 3), joints at the platform and at the base (point, 3)."""
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
    family: Family, asked: RobotCapsules, ends: Mapping[int, Array], capsules: Array, pose: Pose
) -> Iterator[tuple[Line, Line]]:
    """Yield the lines of all pairs at one instant, from limb ends, the case input `capsules`, and the platform."""
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


def capsule_numbers(family: Family, asked: RobotCapsules) -> int:
    """Return the length of the case input `capsules`."""
    instances = structure_of(family).mechanism.instances
    lines = sum(len(asked.capsules_of(k).arms(arms(family, x.limb))) for k, x in enumerate(instances))
    return lines + CAPSULE * (asked.platform + asked.base)


def platform_pose(structure: Structure, parameters: Array, motion: Array) -> Pose:
    """Return the pose of the platform."""
    return platform_motion.unpack(motion, symbolic(structure, parameters).platform)[0]


@functools.cache
def gap_program(family: Family, asked: RobotCapsules) -> Program:
    """Return the program for the `gap` (pair,) [m] of all compared capsules, from the `ends` of the limbs."""
    structure = structure_of(family)

    def one_sample(
        parameters: Array, capsules: Array, motion: Array, *, ends: Mapping[int, Array]
    ) -> dict[Key, Sequence[Scalar]]:
        pose = platform_pose(structure, parameters, motion)
        return {"gap": [clearance.gap(a, b) for a, b in compared(family, asked, ends, capsules, pose)]}

    sample: dict[Key, Shape] = {"motion": (structure.motion_size,)}
    for k, instance in enumerate(structure.mechanism.instances):
        sample |= indexed(k, LimbLines(asked.capsules_of(k)).shapes(structure, instance.limb))
    case: dict[Key, Shape] = {
        "parameters": (len(family.parameters),),
        "capsules": (capsule_numbers(family, asked),),
    }
    return trace(f"{family.name}.gaps", one_sample, case=case, sample=sample)
