"""The model of a mechanism: a spanning tree of bodies and 1-DOF joints per limb, the closures of its loops, a platform.

A tree chain or a closed chain is one limb that has no tips, and no platform.

Numbers in these records may be floats or traced expressions: a robot family is a function of its named parameters,
built with plain arithmetic, so the same function gives a robot in numbers and the symbols of a kernel.

Frames. Every link has a frame that sits on its joint axis and moves with the link; at zero joint variable it coincides
with the joint's placement in the parent link. A limb is described once, between its mount frame at the base and its
mount frame at the platform; `Instance` says where the mount frames of each limb of the robot are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Self

from robots import joint_kinds
from robots.arguments import check_arguments
from robots.data_classes import dataclass, field, fields, replace
from robots.drives import Drive, Motor, check
from robots.joint_kinds import COUNTED_KINDS, JOINT_KINDS, TREE_KINDS, Kind
from robots.parameters import Parameter, complete
from robots.redundancy import RestPosture
from robots.springs import ForceElement, JointSpring
from robots.types import BASE, IDENTITY, ZERO, JointKind, Matrix, Number, Vector


@dataclass(frozen=True)
class Frame:
    """A pose: `rotation` (3, 3) turns components of this frame into those of the outer frame; `position` (3,) [m]."""

    rotation: Matrix = IDENTITY
    position: Vector = ZERO


@dataclass(frozen=True)
class Inertia:
    """Mass [kg], centre of mass [m] and inertia tensor about that centre [kg m^2], all in the frame of the link."""

    mass: Number
    centre: Vector
    tensor: Matrix


@dataclass(frozen=True)
class Link:
    """A body and the joint that moves it relative to its parent.

    `axis` is the coordinate axis of the joint's own frame, with sign; `placement` is that frame in the parent link;
    `armature` is the inertia of the drive as seen at the joint [kg m^2 or kg]; `pitch` [m/rad] is for kinds that slide
    as they turn. A joint that is `counted` counts its full turns; the limb sets this mark for joints that others
    follow, if its loops move the leader or the follower. Raises JointError for a kind that is not one of `TREE_KINDS`,
    and for a pitch that does not fit it.
    """

    joint: str
    body: str
    parent: int
    kind: JointKind
    axis: Vector
    placement: Frame
    inertia: Inertia
    armature: Number = 0.0
    pitch: Number | None = None
    counted: bool | None = None

    __repr__ = joint_kinds.shown

    def __post_init__(self) -> None:
        joint_kinds.check(self.joint, self.kind, self.pitch, tuple(TREE_KINDS))

    @property
    def joint_kind(self) -> Kind:
        """The row of its kind."""
        return (COUNTED_KINDS if self.counted else JOINT_KINDS)[self.kind]


@dataclass(frozen=True)
class Closure:
    """A joint that is not in the spanning tree: it joins `frame_a` on link `a` with `frame_b` on link `b`.

    Revolute: about the z axes of both frames. Universal: about the x axis of frame a and the y axis of frame b.
    Spherical: origins coincide. Prismatic, cylindrical and screw: along the z axes of both frames, which lie on one
    line; the first holds all axes of the frames parallel, the last lets b turn about z by an angle q and slide by
    `pitch` [m/rad] times q, where frames that coincide have q = 0. Fixed: both frames coincide. A limb's `tips` have
    `b` = PLATFORM, and `frame_b` is given in the limb's mount frame at the platform. Raises JointError as Link, for all
    kinds.
    """

    joint: str
    kind: JointKind
    a: int
    frame_a: Frame
    b: int
    frame_b: Frame
    pitch: Number | None = None

    __repr__ = joint_kinds.shown

    def __post_init__(self) -> None:
        joint_kinds.check(self.joint, self.kind, self.pitch, tuple(JOINT_KINDS))

    @property
    def joint_kind(self) -> Kind:
        """The row of its kind."""
        return JOINT_KINDS[self.kind]


PLATFORM = -2


@dataclass(frozen=True)
class Coupling:
    """A joint of the tree whose variable is `ratio` times that of another one: gears, belts, a gripper's fingers.

    A joint that follows several others, as in a differential, has one coupling for each of them; its variable is the
    sum. The force of the coupling acts inside these joints, like the force of a drive.
    """

    joint: str
    of: str
    ratio: Number


@dataclass(frozen=True)
class Limb:
    """A representative limb: links, parents first; closures of its loops; its tips, joints at the platform.

    `actuated` names the driven joints. A limb is solved for as many rows of its tips as it has independent joints; the
    rows are the same at all configurations. With `every_row` it is solved for all rows by a pseudo-inverse, for limbs
    where no choice of rows works. `independent` names the joints in which the motion of a chain is given, if they
    differ from the actuated joints. With `drives`, the drives are the actuators, and `actuated` are the joints that
    they move. A joint that follows another by one of the `couplings` is neither independent nor actuated, and no joint
    follows it. `coordinates` are joints of a chain that stand for the pose of a platform, see `robots.coupled`. They
    are no physical joints: they carry no load and have no friction. `forces` act on links from outside, `springs` along
    joints of the tree. A `posture` decides some of the independent joints of a redundant chain. Raises DriveError for
    drives that do not fit, and JointError for couplings and coordinates that do not fit.
    """

    name: str
    links: tuple[Link, ...]
    loops: tuple[Closure, ...]
    tips: tuple[Closure, ...]
    actuated: tuple[str, ...]
    every_row: bool = False
    independent: tuple[str, ...] = ()
    drives: tuple[Drive, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    coordinates: tuple[str, ...] = ()
    forces: tuple[ForceElement, ...] = ()
    posture: RestPosture | None = None
    springs: tuple[JointSpring, ...] = ()

    def __post_init__(self) -> None:
        check(self.name, [link.joint for link in self.links], self.drives)
        for problem in (*self._coupling_problems(), *self._coordinate_problems()):
            raise joint_kinds.JointError(f"limb {self.name}: {problem}")
        counted = self._counted()
        marks = [True if k in counted else None for k in range(len(self.links))]
        if marks != [link.counted for link in self.links]:
            links = (replace(link, counted=mark) for link, mark in zip(self.links, marks, strict=True))
            object.__setattr__(self, "links", tuple(links))

    def _counted(self) -> set[int]:
        """Return the leading joints whose full turns count: loops move them or their followers."""
        if not (self.loops and self.couplings):
            return set()
        looped = set[int]().union(*({*self._path(cut.a)} ^ {*self._path(cut.b)} for cut in self.loops))
        given = {self.index(name) for name in self.independent or self.actuated}
        pairs = [(follower, leader) for follower, leaders in self.followers.items() for leader, _ in leaders]
        return {leader for follower, leader in pairs if follower in looped or leader in looped - given}

    def _path(self, link: int) -> Iterator[int]:
        """Yield the joints between a link and the base."""
        while link != BASE:
            yield link
            link = self.links[link].parent

    def __repr__(self) -> str:
        """Return all fields without empty optional ones, so that the hash of a limb without them does not change."""
        optional = ("couplings", "coordinates", "forces", "posture", "springs")
        absent = {name for name in optional if not getattr(self, name)}
        shown = [entry for entry in fields(self) if entry.name not in absent]
        return f"Limb({', '.join(f'{entry.name}={getattr(self, entry.name)!r}' for entry in shown)})"

    def _coupling_problems(self) -> Iterator[str]:
        joints = [link.joint for link in self.links]
        followers = [entry.joint for entry in self.couplings]
        pairs = [(entry.joint, entry.of) for entry in self.couplings]
        for entry in self.couplings:
            for name in (entry.joint, entry.of):
                if name not in joints:
                    yield f"got a coupling of {name!r}; expected joints of the tree: {', '.join(joints)}"
            if pairs.count((entry.joint, entry.of)) > 1:
                got = f"{pairs.count((entry.joint, entry.of))} couplings of {entry.joint!r} and {entry.of!r}"
                yield f"got {got}; expected one"
            if entry.of in followers:
                yield f"joint {entry.joint!r} follows {entry.of!r}, which follows another; expected one that does not"
            if entry.joint in (*self.actuated, *self.independent):
                yield f"joint {entry.joint!r} follows {entry.of!r}; expected it neither actuated nor independent"

    def _coordinate_problems(self) -> Iterator[str]:
        joints = [link.joint for link in self.links]
        for name in self.coordinates:
            if name not in joints:
                yield f"got {name!r} among its coordinates; expected joints of the tree: {', '.join(joints)}"
            if name in self.actuated:
                yield f"joint {name!r} is actuated; expected coordinates, which are no physical joints, without drives"
        if self.coordinates and self.tips:
            yield "got coordinates in a limb at a platform; expected them in chains"

    @property
    def actuators(self) -> tuple[str, ...]:
        """Names of the actuators: the drives, or the actuated joints of a limb without drives."""
        return tuple(drive.name for drive in self.drives) or self.actuated

    @property
    def actuator_kinds(self) -> tuple[JointKind, ...]:
        """Joint kind of each actuator, which tells whether the actuator turns or slides."""
        kinds = {link.joint: link.kind for link in self.links}
        return tuple(drive.kind for drive in self.drives) or tuple(kinds[joint] for joint in self.actuated)

    @property
    def one_variable(self) -> tuple[bool, ...]:
        """Return for each of `joints` whether it has one variable, and so a position, a rate and friction."""
        return tuple(kind.one_variable for kind in self.joint_kinds)

    @property
    def joint_kinds(self) -> tuple[Kind, ...]:
        """Kind of each of `joints`."""
        return (*(link.joint_kind for link in self.links), *(cut.joint_kind for cut in self.cuts))

    @functools.cached_property
    def followers(self) -> dict[int, list[tuple[int, Number]]]:
        """Joints that follow others, by number: for each its leaders, by number, with their ratios."""
        result: dict[int, list[tuple[int, Number]]] = {}
        for entry in self.couplings:
            result.setdefault(self.index(entry.joint), []).append((self.index(entry.of), entry.ratio))
        return result

    @property
    def winds(self) -> bool:
        """Return whether a joint counts full turns.

        A full turn of another joint then does not lead back to the same configuration.
        """
        return any(kind.coupled or kind.counted for kind in self.joint_kinds)

    @property
    def cuts(self) -> tuple[Closure, ...]:
        """Joints that are not in the tree: at the platform, then of the loops."""
        return (*self.tips, *self.loops)

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of all joints: of the tree, at the platform, then the cut joints of the loops."""
        return (*(link.joint for link in self.links), *(cut.joint for cut in self.cuts))

    def index(self, joint: str) -> int:
        """Return the position of a tree joint."""
        return self.joints.index(joint)


@dataclass(frozen=True)
class Instance:
    """One limb of a robot: the number of its representative limb, and its mount frames at base and platform."""

    name: str
    limb: int
    base: Frame
    platform: Frame


@dataclass(frozen=True)
class Platform:
    """The moving platform: inertia in its own frame, components of its twist that are free, its reference pose.

    `forces` act on it from outside.
    """

    inertia: Inertia
    mobility: tuple[str, ...]
    home: Frame
    forces: tuple[ForceElement, ...] = field(default=(), repr=False)


NO_PLATFORM = Platform(Inertia(0.0, ZERO, (ZERO, ZERO, ZERO)), (), Frame())
"""Platform of a chain, which has none: without mass and mobility."""


@dataclass(frozen=True)
class Mechanism:
    """Representative limbs, the instances that make up the robot, and the platform that they carry.

    A chain is one limb without tips that carries NO_PLATFORM; its freedoms are its independent joints.
    """

    limbs: tuple[Limb, ...]
    instances: tuple[Instance, ...]
    platform: Platform

    @classmethod
    def chain(
        cls,
        name: str,
        links: tuple[Link, ...],
        actuated: tuple[str, ...],
        loops: tuple[Closure, ...] = (),
        drives: tuple[Drive, ...] = (),
        independent: tuple[str, ...] = (),
    ) -> Self:
        """Return a tree chain, or with `loops` a closed chain, that stands on the base."""
        return cls.standing(Limb(name, links, loops, (), actuated, independent=independent, drives=drives))

    @classmethod
    def standing(cls, limb: Limb) -> Self:
        """Return a chain of one limb, without tips, that stands on the base."""
        return cls((limb,), (Instance(limb.name, 0, Frame(), Frame()),), NO_PLATFORM)

    @property
    def has_forces(self) -> bool:
        """Return whether external forces act on the bodies, or forces act along the joints."""
        return bool(self.platform.forces) or any(limb.forces or limb.springs for limb in self.limbs)

    @property
    def underactuated(self) -> bool:
        """Return whether the robot has fewer actuators than freedoms."""
        return len(self.actuators) < len(self.freedoms)

    @property
    def is_chain(self) -> bool:
        """Return whether the robot has no platform, so that the motion is given in the independent joints."""
        return not self.platform.mobility

    @property
    def freedoms(self) -> tuple[str, ...]:
        """Names of the freedoms: free components of the platform's twist, or the independent joints of a chain."""
        if not self.is_chain:
            return self.platform.mobility
        (limb,) = self.limbs
        return tuple(link.joint for link in limb.links if link.joint in (limb.independent or limb.actuated))

    @property
    def resolved(self) -> tuple[str, ...]:
        """Names of the freedoms that a posture or its tasks decide."""
        return tuple(joint for limb in self.limbs if limb.posture for joint in limb.posture.resolved)

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the freedoms whose motion a sweep gives, then of the tasks without a value."""
        tasks = (name for limb in self.limbs if limb.posture for name in limb.posture.given)
        return (*(name for name in self.freedoms if name not in self.resolved), *tasks)

    @property
    def actuators(self) -> tuple[str, ...]:
        """Names of the actuators, limb by limb. Names of a chain have no prefix of the limb."""
        names = [(each.name, actuator) for each in self.instances for actuator in self.limbs[each.limb].actuators]
        return tuple(actuator if self.is_chain else f"{limb}.{actuator}" for limb, actuator in names)

    @property
    def motors(self) -> tuple[Motor, ...]:
        """The motors of all actuators; empty if some actuator has no motor."""
        drives = [drive for each in self.instances for drive in self.limbs[each.limb].drives]
        found = tuple(drive.motor for drive in drives if drive.motor is not None)
        return found if len(found) == len(self.actuators) else ()

    @property
    def has_windings(self) -> bool:
        """Return whether currents of motors are states of simulations: some motor has an inductance."""
        return any(motor.inductance is not None for motor in self.motors)

    @property
    def actuator_kinds(self) -> tuple[JointKind, ...]:
        """Joint kind of each actuator, which tells whether the actuator turns or slides."""
        return tuple(kind for each in self.instances for kind in self.limbs[each.limb].actuator_kinds)


@dataclass(frozen=True)
class Family:
    """A robot as a function of its parameters; `gravity` is the gravity of its source [m/s^2], for a first sweep.

    `signals` are numbers that change over time. `assemble` takes them beside the parameters, or zeros where they are
    not given. They decide forces on bodies and carried masses, never geometry.

        >>> family = ls.robots.family("five_bar")
        >>> [parameter.name for parameter in family.parameters][:2]
        ['proximal_length', 'distal_length']
    """

    name: str
    title: str
    source: str
    parameters: tuple[Parameter, ...]
    assemble: Callable[[Mapping[str, Number]], Mechanism]
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    signals: tuple[str, ...] = ()

    def __hash__(self) -> int:
        """Return the hash of the name: families are keys of all traced programs, and one has dozens of parameters."""
        return hash(self.name)

    def __repr__(self) -> str:
        """Return the name of the family, and the number of its parameters."""
        return f"Family({self.name}, {len(self.parameters)} parameters)"

    @cached_property
    def reference(self) -> Mechanism:
        """The mechanism with the defaults of all parameters."""
        return self.assemble({p.name: p.default for p in self.parameters})


@check_arguments
@dataclass(frozen=True)
class Robot:
    """A family with values for all its parameters, in the family's order.

    >>> robot = ls.robots.build("delta_3rr2rrr", upper_arm=0.28)
    >>> robot.values["upper_arm"], robot.mechanism.actuators
    (0.28, ('limb1.1', 'limb2.1', 'limb3.1'))
    """

    family: Family
    values: Mapping[str, float]

    def __repr__(self) -> str:
        """Return the name of the robot, and the parameters that differ from their defaults."""
        changes = {p.name: self.values[p.name] for p in self.family.parameters if self.values[p.name] != p.default}
        return f"Robot({', '.join([self.name, *(f'{name}={value:g}' for name, value in changes.items())])})"

    @classmethod
    def of(cls, family: Family, values: Mapping[str, float]) -> Robot:
        """Return the robot with these parameters, defaults for the others. Raises ParameterError."""
        return cls(family, complete(family.parameters, values, owner=family.name))

    @property
    def name(self) -> str:
        """Name of the family."""
        return self.family.name

    @cached_property
    def mechanism(self) -> Mechanism:
        """The mechanism in numbers."""
        return self.family.assemble(self.values)
