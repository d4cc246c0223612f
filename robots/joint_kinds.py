"""Kinds of joints as plain data, a row for each: its free motions, and the properties that follow from them.

A joint is between two bodies a and b: of the tree, the parent and the child. Its axes are those of frames on both; a
joint of the tree has its own axis in place of z. How far a joint slides while it turns is mathematics:
`tasks.mechanics.leads` has a row for each kind with such a joint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

from robots.data_classes import dataclass, fields, replace
from robots.types import JointKind, Number

X, Y, Z = range(3)


class Freedom(NamedTuple):
    """One variable of a joint: body b turns about an axis of the frame on a or b, slides along it, or does both.

    A freedom that does both slides as it turns; its variable is the angle.
    """

    side: Literal["a", "b"]
    axis: int
    turns: bool = False
    slides: bool = False


class JointError(ValueError):
    """A joint that does not fit its kind. The text names the joint and the expected value."""


class Units(NamedTuple):
    """Units of a joint's variable, of its rates, of the force on it and of the inertia of a drive on it."""

    position: str
    rate: str
    acceleration: str
    force: str
    inertia: str


ANGLE = Units("rad", "rad/s", "rad/s^2", "N m", "kg m^2")
LENGTH = Units("m", "m/s", "m/s^2", "N", "kg")


@dataclass(frozen=True)
class Kind:
    """A kind of joint: the free motion of b relative to a, in words and as freedoms.

    Rotations come first among the freedoms. `urdf` are names of the kind in URDF files; full turns of a `counted` joint
    are counted.
    """

    name: JointKind
    text: str
    freedoms: tuple[Freedom, ...]
    urdf: tuple[str, ...] = ()
    counted: bool = False

    @property
    def one_variable(self) -> bool:
        """Return whether the joint has a position, a rate and friction, and can be in a tree."""
        return len(self.freedoms) == 1

    @cached_property
    def turning(self) -> tuple[int, ...]:
        """Axes about which it turns."""
        return tuple(each.axis for each in self.freedoms if each.turns)

    @cached_property
    def sliding(self) -> tuple[int, ...]:
        """Axes of frame a along which it slides."""
        return tuple(each.axis for each in self.freedoms if each.slides)

    @property
    def turns(self) -> bool:
        """Return whether the joint turns. The variable of a turning kind with one variable is an angle."""
        return bool(self.turning)

    @property
    def slides(self) -> bool:
        """Return whether the joint slides."""
        return bool(self.sliding)

    @property
    def coupled(self) -> bool:
        """Return whether the joint slides as it turns.

        The joint then has a pitch, the displacement per angle [m/rad]. Where the pitch changes with the angle, it
        is the pitch at angle 0.
        """
        return any(each.turns and each.slides for each in self.freedoms)

    @property
    def periodic(self) -> bool:
        """Return whether a full turn of the joint leads back to the same configuration."""
        return self.one_variable and not self.slides and not self.counted

    @property
    def units(self) -> Units:
        """Units of a kind with one variable."""
        return ANGLE if self.turns else LENGTH


_ROWS = (
    Kind("revolute", "turns about z of both frames", (Freedom("a", Z, turns=True),), ("revolute", "continuous")),
    Kind(
        "universal",
        "turns about x of `frame_a` and about y of `frame_b`",
        (Freedom("a", X, turns=True), Freedom("b", Y, turns=True)),
    ),
    Kind(
        "spherical",
        "turns about the origins of both frames, which coincide",
        (Freedom("a", X, turns=True), Freedom("a", Y, turns=True), Freedom("a", Z, turns=True)),
    ),
    Kind("prismatic", "slides along z of both frames", (Freedom("a", Z, slides=True),), ("prismatic",)),
    Kind(
        "cylindrical",
        "turns about z of both frames, and slides along it",
        (Freedom("a", Z, turns=True), Freedom("a", Z, slides=True)),
    ),
    Kind(
        "screw",
        "turns about z of both frames, and slides along it by `pitch` times the angle",
        (Freedom("a", Z, turns=True, slides=True),),
    ),
    Kind("fixed", "nothing: both frames coincide, as those of a welded joint", ()),
)

JOINT_KINDS: Mapping[JointKind, Kind] = {row.name: row for row in _ROWS}
"""Kinds by name; a cut joint may have each of them."""

TREE_KINDS: Mapping[JointKind, Kind] = {row.name: row for row in _ROWS if row.one_variable}
"""Kinds that joints of a tree may have."""

COUNTED_KINDS: Mapping[JointKind, Kind] = {name: replace(row, counted=True) for name, row in TREE_KINDS.items()}
"""The same with turns that are counted."""

URDF_KINDS: Mapping[str, JointKind] = {name: row.name for row in _ROWS for name in row.urdf}
"""Kinds by their names in URDF files."""


def problems(kind: JointKind, pitch: Number | None, kinds: Sequence[JointKind]) -> Iterator[tuple[str, str]]:
    """Yield the errors in kind and pitch of a joint, each as a pair: the value got, and the value expected."""
    if kind not in kinds:
        yield f"kind {kind!r}", f"one of {', '.join(kinds)}"
    elif JOINT_KINDS[kind].coupled and pitch is None:
        yield "no pitch", f"the pitch [m/rad] of a {kind} joint"
    elif not JOINT_KINDS[kind].coupled and pitch is not None:
        yield f"a pitch of {pitch}", f"none of a {kind} joint, or another kind"
    elif isinstance(pitch, int | float) and pitch == 0:
        yield "a pitch of 0", f"another one of a {kind} joint; a joint that only turns is revolute"


def check(joint: str, kind: JointKind, pitch: Number | None, kinds: Sequence[JointKind]) -> None:
    """Refuse a joint that does not fit its kind. Raises JointError."""
    for got, expected in problems(kind, pitch, kinds):
        raise JointError(f"joint {joint}: got {got}; expected {expected}")


def shown(record: Any) -> str:
    """Return the text of a record without default values. Descriptions are hashed by it: a new key changes no hash."""
    values = ((each.name, getattr(record, each.name)) for each in fields(record))
    return f"{type(record).__name__}({', '.join(f'{name}={value!r}' for name, value in values if value is not None)})"
