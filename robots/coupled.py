"""Platforms with fewer freedoms than coordinates, and platforms of several bodies, as closed chains.

The pose of such a platform is given in some coordinates; the others, and the joints within the platform, follow from
the limbs. So the robot is modelled as one closed chain. Massless prismatic and revolute joints from the base to the
platform stand for its coordinates (`x`, `y`, `z`, `yaw`, `pitch`, `roll`, in this order; `Limb.coordinates`). The
joints of the limbs at the platform are cut. The given coordinates are the independent joints. Since all six coordinates
are there, the joints that stand for them carry no load.

A limb that has more joints than the coordinates determine is redundant: some of its joints are independent as well.
Limbs may stand on bodies that move themselves, such as a carriage or a turntable, whose joints are independent too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from robots import geometry
from robots.arguments import check_arguments
from robots.data_classes import dataclass, fields, replace
from robots.drives import Drive, Spin
from robots.geometry import product
from robots.joint_kinds import JointError
from robots.model import (
    PLATFORM,
    Closure,
    Family,
    Frame,
    Inertia,
    Instance,
    Limb,
    Link,
    Mechanism,
    Robot,
)
from robots.redundancy import RestPosture, Task
from robots.types import BASE, IDENTITY, JointKind, Number, Vector

COORDINATES: Mapping[str, tuple[JointKind, Vector]] = {
    "x": ("prismatic", (1.0, 0.0, 0.0)),
    "y": ("prismatic", (0.0, 1.0, 0.0)),
    "z": ("prismatic", (0.0, 0.0, 1.0)),
    "yaw": ("revolute", (0.0, 0.0, 1.0)),
    "pitch": ("revolute", (0.0, 1.0, 0.0)),
    "roll": ("revolute", (1.0, 0.0, 0.0)),
}
"""Coordinates of a platform, from the base outwards: kinds and axes of the joints that stand for them."""

NAME = "platform"
"""Prefix of the names of these joints and of their bodies."""

BODY = "plate"
"""Name of the body of a platform. The name `platform` is not used, as it means the platform at a limb's tips."""


@dataclass(frozen=True)
class CoupledPlatform:
    """A platform: its inertia, its reference pose, and the `coordinates` in which its motion is given.

    `links` are further bodies of the platform. Their parents are numbers of `links`, from 0; BASE stands for the body
    whose pose the coordinates describe. `joined` are cut joints between these bodies, with the same numbers.
    `independent` names joints of `links` in which the motion is given in addition, and `actuated` names driven joints,
    such as the joints of a wrist. `carriers` are bodies between the ground and limbs; their parents are carriers too.
    The joints of carriers are independent, and driven if `actuated` names them. `home` and the coordinates count from
    the carrier `within`, or from the ground. `redundant` are joints that the coordinates leave free: joints of limbs,
    named with their instance, of carriers or of `links`. A `posture` of (joint, position, weight) entries, or as many
    `tasks`, decide these joints if given, see `robots.redundancy`.
    """

    inertia: Inertia
    home: Frame
    coordinates: tuple[str, ...]
    links: tuple[Link, ...] = ()
    joined: tuple[Closure, ...] = ()
    independent: tuple[str, ...] = ()
    actuated: tuple[str, ...] = ()
    carriers: tuple[Link, ...] = ()
    within: int = BASE
    redundant: tuple[str, ...] = ()
    posture: tuple[tuple[str, Number, Number], ...] = ()
    tasks: tuple[Task, ...] = ()

    def __repr__(self) -> str:
        """Return all fields without empty optional ones, so that digests of descriptions without them do not change."""
        absent = {name for name in ("carriers", "redundant", "posture", "tasks") if not getattr(self, name)}
        absent |= {"within"} if self.within == BASE else set()
        shown = [entry for entry in fields(self) if entry.name not in absent]
        return f"CoupledPlatform({', '.join(f'{entry.name}={getattr(self, entry.name)!r}' for entry in shown)})"


def closed(
    name: str,
    limbs: Sequence[Limb],
    instances: Sequence[Instance],
    platform: CoupledPlatform,
    bodies: Sequence[int] = (),
    stands: Sequence[int] = (),
) -> Mechanism:
    """Return the closed chain of limbs at a platform.

    `bodies` are the numbers of the `links` at which the tips of each instance are, `stands` the numbers of the carriers
    on which instances are mounted. Raises JointError for names that are no coordinates.
    """
    for entry in platform.coordinates:
        if entry not in COORDINATES:
            raise JointError(f"platform: got the coordinate {entry!r}; expected some of {', '.join(COORDINATES)}")
    links = [*platform.carriers, *_pose(platform)]
    first = len(links)
    seat = first - 1

    def index(body: int) -> int:
        return seat if body == BASE else first + body

    links += [replace(link, parent=index(link.parent)) for link in platform.links]
    loops = [replace(cut, a=index(cut.a), b=index(cut.b)) for cut in platform.joined]
    actuated, drives = list(platform.actuated), list(map(direct, platform.actuated))
    ends, grounds = (entries or [BASE] * len(instances) for entries in (bodies, stands))
    for instance, body, ground in zip(instances, ends, grounds, strict=True):
        limb, start = limbs[instance.limb], len(links)
        if limb.couplings:
            raise JointError(
                f"limb {limb.name}: got couplings at a platform whose coordinates follow; expected none: its joints "
                "follow from the coordinates already"
            )
        links += [_mounted(link, instance, start, ground) for link in limb.links]
        for cut in limb.cuts:
            loops.append(_cut(cut, instance, start, index(body), ground))
        actuated += [f"{instance.name}.{joint}" for joint in limb.actuated]
        drives += [_driving(drive, instance, start, ground) for drive in limb.drives or map(direct, limb.actuated)]
    stated = tuple(f"{NAME}_{entry}" for entry in COORDINATES if entry in platform.coordinates)
    stand_ins = tuple(f"{NAME}_{entry}" for entry in COORDINATES)
    limb = Limb(
        name,
        tuple(links),
        tuple(loops),
        (),
        tuple(actuated),
        independent=tuple(dict.fromkeys((*stated, *platform.independent, *_carried(platform), *platform.redundant))),
        drives=tuple(drives) if any(limbs[instance.limb].drives for instance in instances) else (),
        coordinates=stand_ins,
        posture=_posture(platform),
    )
    return Mechanism.standing(limb)


ALONG: Mapping[str, str] = {"vx": "x", "vy": "y", "vz": "z", "wx": "roll", "wy": "pitch", "wz": "yaw"}
"""The coordinate that a free component of a platform's twist is the rate of, at rest in the axes of the base."""


@dataclass(frozen=True)
class AssembledChain:
    """The mechanisms of a family with a platform as closed chains, in the coordinates that it moves along."""

    family: Family

    def __call__(self, values: Mapping[str, Number]) -> Mechanism:
        """Return the closed chain for values of the parameters."""
        return over_coordinates(self.family.name, self.family.assemble(values))


def over_coordinates(name: str, robot: Mechanism) -> Mechanism:
    """Return a mechanism with a platform as a closed chain, in the coordinates that the platform moves along."""
    coordinates = tuple(ALONG[freedom] for freedom in robot.platform.mobility)
    platform = CoupledPlatform(robot.platform.inertia, robot.platform.home, coordinates)
    return closed(name, robot.limbs, robot.instances, platform)


@check_arguments
def as_chain(robot: Robot) -> Robot:
    """Return a robot with a platform as a closed chain; freedoms `platform_x` and so on count from the reference pose.

    The mechanism and its motion are the same. A chain may have further freedoms, such as rotors behind elastic drives.
    Raises ValueError for a robot that is a chain, has loads, or whose platform turns about two axes alone, for which
    there are no such coordinates.

        >>> chain = ls.robots.as_chain(ls.robots.build("delta_3rr2rrr"))
        >>> chain.mechanism.freedoms
        ('platform_x', 'platform_y', 'platform_z')
    """
    mechanism = robot.mechanism
    turns = [name for name in mechanism.platform.mobility if name.startswith("w")]
    problems = {
        "which is a chain": mechanism.is_chain,
        "which has loads; add them to the chain": mechanism.has_forces or bool(robot.family.signals),
        f"whose platform turns about {', '.join(turns)}": len(turns) == 2,
    }
    for problem in (text for text, wrong in problems.items() if wrong):
        raise ValueError(f"robot: got {robot.name}, {problem}; expected a robot with a platform")
    return Robot(replace(robot.family, assemble=AssembledChain(robot.family)), robot.values)


def _carried(platform: CoupledPlatform) -> tuple[str, ...]:
    return tuple(link.joint for link in platform.carriers)


def _posture(platform: CoupledPlatform) -> RestPosture | None:
    if not platform.posture and not platform.tasks:
        return None
    joints, positions, weights = zip(*platform.posture, strict=True) if platform.posture else ((), (), ())
    return RestPosture(platform.redundant, joints, positions, weights, platform.tasks)


def homes_of(platform: CoupledPlatform) -> dict[int, Frame]:
    """Return the reference poses of the platform's bodies on the ground: BASE, which carries it, and its `links`.

    The reference poses of carriers are given by `grounds_of`.
    """
    result = {BASE: _within(grounds_of(platform)[platform.within], platform.home)}
    for k, link in enumerate(platform.links):
        result[k] = _within(result[link.parent], link.placement)
    return result


def grounds_of(platform: CoupledPlatform) -> dict[int, Frame]:
    """Return the reference poses of the ground, BASE, and of the carriers."""
    result = {BASE: Frame()}
    for k, link in enumerate(platform.carriers):
        result[k] = _within(result[link.parent], link.placement)
    return result


def grounded(instance: Instance, ground: Frame) -> Instance:
    """Return an instance mounted on the ground, with its carrier at the reference pose."""
    return replace(instance, base=_within(ground, instance.base))


def _pose(platform: CoupledPlatform) -> list[Link]:
    """Return prismatic and revolute links that represent the pose of a platform; the last one carries it."""
    result, before = list[Link](), len(platform.carriers)
    for entry, (kind, axis) in COORDINATES.items():
        last = len(result) == len(COORDINATES) - 1
        placement, parent = Frame(), before + len(result) - 1 if result else platform.within
        if not result:
            placement = Frame(IDENTITY, platform.home.position)
        elif entry == "yaw":
            placement = Frame(platform.home.rotation)
        body, load = (BODY, platform.inertia) if last else (f"{NAME}_{entry}", geometry.point(0.0))
        result.append(Link(f"{NAME}_{entry}", body, parent, kind, axis, placement, load))
    return result


def _mounted(link: Link, instance: Instance, start: int, ground: int) -> Link:
    """Return a link of a limb where an instance has it, which stands on the body `ground`."""
    at_base = link.parent == BASE
    return replace(
        link,
        joint=f"{instance.name}.{link.joint}",
        body=f"{instance.name}.{link.body}",
        parent=ground if at_base else start + link.parent,
        placement=_within(instance.base, link.placement) if at_base else link.placement,
    )


DIRECT = "drive"
"""Suffix of the names of direct drives: of joints without a drive of their own, where other joints have one."""


def direct(joint: str) -> Drive:
    """Return the drive of a joint that a motor moves without a gear."""
    return Drive(f"{joint}.{DIRECT}", ((joint, 1.0),))


@dataclass(frozen=True)
class _OfInstance:
    """The position of a drive as a function of the joints of its limb, where these have the names of an instance."""

    position: Callable[[Mapping[str, Number]], Number]
    name: str

    def __call__(self, positions: Mapping[str, Number]) -> Number:
        start = f"{self.name}."
        return self.position(
            {joint.removeprefix(start): x for joint, x in positions.items() if joint.startswith(start)}
        )


def _driving(drive: Drive, instance: Instance, start: int, ground: int) -> Drive:
    """Return a drive of a limb where an instance has it."""

    def spinning(spin: Spin) -> Spin:
        if spin.carrier != BASE:
            return replace(spin, carrier=start + spin.carrier)
        x, y, z = (sum(a * b for a, b in zip(row, spin.axis, strict=True)) for row in instance.base.rotation)
        return replace(spin, axis=(x, y, z), carrier=ground)

    return replace(
        drive,
        name=f"{instance.name}.{drive.name}",
        ratios=tuple((f"{instance.name}.{joint}", ratio) for joint, ratio in drive.ratios),
        spins=tuple(map(spinning, drive.spins)),
        position=None if drive.position is None else _OfInstance(drive.position, instance.name),
    )


def _cut(cut: Closure, instance: Instance, start: int, platform: int, ground: int) -> Closure:
    """Return a cut joint of a limb for an instance; the joint of a tip is joined to a body of the platform."""

    def end(body: int, frame: Frame) -> tuple[int, Frame]:
        if body == PLATFORM:
            return platform, _within(instance.platform, frame)
        return (ground, _within(instance.base, frame)) if body == BASE else (start + body, frame)

    (a, frame_a), (b, frame_b) = end(cut.a, cut.frame_a), end(cut.b, cut.frame_b)
    return replace(cut, joint=f"{instance.name}.{cut.joint}", a=a, frame_a=frame_a, b=b, frame_b=frame_b)


def _within(outer: Frame, inner: Frame) -> Frame:
    """Return the product of two frames: a frame in a frame, in the outer frame of the second."""
    turned = tuple(sum(a * b for a, b in zip(row, inner.position, strict=True)) for row in outer.rotation)
    x, y, z = (a + b for a, b in zip(outer.position, turned, strict=True))
    return Frame(product(outer.rotation, inner.rotation), (x, y, z))
