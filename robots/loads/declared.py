"""Loads as a user declares them: the body, and numbers that are constant or expressions, as plain data.

Some numbers of wrenches and springs may follow from the state of the limb, see `robots.loads.laws`.

Every number that is given becomes a parameter of the robot, `spring_stiffness` of the load `spring`; components of
vectors end in `_x`, `_y`, `_z`, components of an inertia in `_xx`, `_yy`, `_zz`. A text in place of a number is an
expression over all parameters and the time `t` [s]. A wrench may come from a table over time instead.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from robots.arguments import check_arguments
from robots.data_classes import dataclass, fields
from robots.expressions.expression import GEOMETRIC, STATEFUL, ExpressionError, ParsedExpression, parse
from robots.loads.laws import Points, StateNames
from robots.parameters import LARGEST, Parameter
from robots.springs import Acts

AXES = ("x", "y", "z")
MOMENTS = ("xx", "yy", "zz")
TIME = "t"
"""The name of the time in expressions, and of its signal."""

Given = float | str
"""A number, or the text of an expression."""
Triple = tuple[Given, Given, Given]
WrenchAxes = Literal["world", "link", "platform"]


MOST_POINTS = 200
"""Points of a table over the state."""


class LoadError(ValueError):
    """A load that a robot cannot have: its keys, got, expected, advice."""

    def __init__(self, path: tuple[str | int, ...], got: str, expected: str, hint: str = "") -> None:
        super().__init__(f"{'.'.join(map(str, ('loads', *path)))}: got {got}; expected {expected}. {hint}".rstrip())
        self.path, self.got, self.expected, self.hint = path, got, expected, hint


@check_arguments
@dataclass(frozen=True, eq=False)
class WrenchLoad:
    """A force [N] and a moment [N m] at a point of a body [m], in the axes of the world, of the link or platform.

    `points` (points, 7) in place of both: t [s], then moment and force, linear in between and held beyond the ends;
    they are multiplied by `scale`. The axes of the world are the axes of the base. Expressions of force and moment on a
    link may name `q_JOINT` and `qd_JOINT` of joints of its limb.

        >>> ls.robots.WrenchLoad("platform", force=(0.0, 0.0, -20.0)).axes
        'world'
    """

    body: str
    force: Triple | None = None
    moment: Triple | None = None
    at: Triple | None = None
    axes: WrenchAxes = "world"
    points: NDArray[np.float64] | None = None
    scale: Given | None = None


@check_arguments
@dataclass(frozen=True, eq=False)
class SpringLoad:
    """A spring between the point `at` of a body and the point `to` of the base or of another link, in its frame [m].

    `other`: that link, of the same limb. `acts`: "pull" alone, where it is longer than its rest length, as a rope, or
    "push" alone, where it is shorter, as a stop; absent: both.

    It pulls both together with preload [N] + stiffness [N/m] (length - rest_length [m]) + damping [N s/m] times the
    rate of the length. Without rest length and preload it is linear in the gap: the spring of a gravity compensator.
    `table` in place of the preload: points (length [m], pull [N]), or (argument, pull) of any other `argument`, linear
    in between and held beyond the ends, times `scale`. Expressions of these numbers may name the length `s` and its
    rate `sd`, and `q_JOINT`, `qd_JOINT` of joints of the limb.

        >>> ls.robots.SpringLoad("platform", stiffness=800.0, to=(0.0, 0.0, 0.1)).stiffness
        800.0
    """

    body: str
    stiffness: Given | None = None
    at: Triple | None = None
    to: Triple | None = None
    rest_length: Given | None = None
    damping: Given | None = None
    preload: Given | None = None
    other: str | None = None
    acts: Acts | None = None
    table: Points | None = None
    argument: str | None = None
    scale: Given | None = None


@check_arguments
@dataclass(frozen=True, eq=False)
class BushingLoad:
    """Springs and dampers along and about three axes, between a frame of a body and a frame of the base or a link.

    The first frame is at the point `at` of the body [m] and turned by `turn` [degrees] about x, then y, then z of its
    axes; the second is at `to`, turned by `to_turn`, in `other`: the platform or a link of the same limb, absent: the
    base. Where both frames are the same the bushing is relaxed. `stiffness` [N/m] and `damping` [N s/m] are along the
    axes of the second frame, `turn_stiffness` [N m/rad] and `turn_damping` [N m s/rad] about them, on the rotation
    vector between both frames.

        >>> ls.robots.BushingLoad("platform", (8e4, 8e4, 2e5), turn_stiffness=(50.0, 50.0, 90.0)).turn_stiffness
        (50.0, 50.0, 90.0)
    """

    body: str
    stiffness: Triple | None = None
    damping: Triple | None = None
    turn_stiffness: Triple | None = None
    turn_damping: Triple | None = None
    at: Triple | None = None
    turn: Triple | None = None
    to: Triple | None = None
    to_turn: Triple | None = None
    other: str | None = None


@check_arguments
@dataclass(frozen=True, eq=False)
class ObjectLoad:
    """An object that a body carries: mass [kg], centre `at` in the body's frame [m], inertia about it [kg m^2].

    The inertia has three principal moments along the axes of the body. The object is carried from `start` to `stop`
    [s]; absent: always. It is picked and released at the velocity of the body, without impact.

        >>> ls.robots.ObjectLoad("platform", mass=1.5, start=0.2, stop=0.8).mass
        1.5
    """

    body: str
    mass: Given
    at: Triple | None = None
    inertia: Triple | None = None
    start: float | None = None
    stop: float | None = None


@check_arguments
@dataclass(frozen=True, eq=False)
class JointSpringLoad:
    """A spring and damper in a joint of a tree: a flexure, or the elasticity of a bearing or a part of a link.

    It turns or slides the joint back to `rest_position` with stiffness [N m/rad or N/m] times the displacement, and
    with damping [N m s/rad or N s/m] times the rate; within a `backlash` of this width [rad or m] its force is zero. In
    addition, a `force` [N m or N] acts along the joint, or in its place a `table` over the position or over any other
    `argument`: points, linear in between and held beyond the ends, times `scale`. Expressions of these numbers may name
    the position `q` and the rate `qd` of the joint, and `q_JOINT`, `qd_JOINT` of other joints of the limb.

        >>> ls.robots.JointSpringLoad("joint_2", stiffness=900.0).stiffness
        900.0
    """

    joint: str
    stiffness: Given | None = None
    damping: Given | None = None
    rest_position: Given | None = None
    backlash: Given | None = None
    force: Given | None = None
    table: Points | None = None
    argument: str | None = None
    scale: Given | None = None


@check_arguments
@dataclass(frozen=True, eq=False)
class ElasticDrive:
    """Elastic transmissions: a spring, a damper and a backlash between rotor and joints of actuators.

    Each rotor gets a joint of its own, `NAME_rotor`, in coordinates of the actuator, and the actuator then acts on the
    rotor. The spinning bodies of the actuator's drive, or the armature of its joint, turn with the rotor; an `inertia`
    [kg m^2 or kg] is added. stiffness [N m/rad or N/m], damping and backlash [rad or m] are seen from the rotor.
    Source: Spong 1987, Modeling and control of elastic joint robots, the reduced model.

        >>> ls.robots.ElasticDrive("all", stiffness=2e3, inertia=0.01).actuators
        'all'
    """

    actuators: str
    stiffness: Given | None = None
    damping: Given | None = None
    backlash: Given | None = None
    inertia: Given | None = None


STATE: Mapping[type, StateNames] = {
    WrenchLoad: StateNames(("force", "moment")),
    SpringLoad: StateNames(
        ("stiffness", "rest_length", "damping", "preload", "argument"),
        {"s": "its length", "sd": "the rate of its length"},
    ),
    JointSpringLoad: StateNames(
        ("stiffness", "damping", "rest_position", "backlash", "force", "argument"),
        {"q": "the position of its joint", "qd": "the rate of its joint"},
    ),
}
"""Numbers of loads that may follow from the state, and names of the load's own state quantities."""

BodyLoad = WrenchLoad | SpringLoad | BushingLoad | ObjectLoad
PairLoad = SpringLoad | BushingLoad
"""Loads between two bodies."""
JointLoad = JointSpringLoad | ElasticDrive
DeclaredLoad = BodyLoad | JointLoad


@dataclass(frozen=True)
class Measure:
    """Unit, least value and meaning of a number of a load."""

    unit: str
    lower: float
    text: str


MEASURES: Mapping[str, Measure] = {
    "force": Measure("N", -LARGEST, "force"),
    "moment": Measure("N m", -LARGEST, "moment"),
    "at": Measure("m", -1e2, "point of the body"),
    "to": Measure("m", -1e2, "point of the base"),
    "scale": Measure("1", -LARGEST, "factor of the table"),
    "stiffness": Measure("N/m", 0.0, "stiffness"),
    "rest_length": Measure("m", 0.0, "length without force but the preload"),
    "damping": Measure("N s/m", 0.0, "damping"),
    "preload": Measure("N", -LARGEST, "pull at the rest length"),
    "turn": Measure("deg", -360.0, "turn of the frame"),
    "to_turn": Measure("deg", -360.0, "turn of the frame on the other body"),
    "turn_stiffness": Measure("N m/rad", 0.0, "stiffness about an axis"),
    "turn_damping": Measure("N m s/rad", 0.0, "damping about an axis"),
    "mass": Measure("kg", 0.0, "mass"),
    "inertia": Measure("kg m^2", 0.0, "principal moment about its centre"),
}
"""Unit, least value and meaning of the numbers of loads, by field."""

OF_JOINTS: Mapping[str, Measure] = {
    "stiffness": Measure("N m/rad or N/m", 0.0, "stiffness"),
    "damping": Measure("N m s/rad or N s/m", 0.0, "damping"),
    "rest_position": Measure("rad or m", -LARGEST, "position without force"),
    "backlash": Measure("rad or m", 0.0, "width of the backlash"),
    "inertia": Measure("kg m^2 or kg", 0.0, "inertia of the rotor"),
    "force": Measure("N m or N", -LARGEST, "force along the joint"),
    "scale": Measure("1", -LARGEST, "factor of the table"),
}
"""Measures of the numbers of loads along joints."""


def measures(load: DeclaredLoad) -> Mapping[str, Measure]:
    """Return unit, least value and meaning of the numbers of a load, by field."""
    return OF_JOINTS if isinstance(load, JointLoad) else MEASURES


@dataclass(frozen=True)
class LoadNumber:
    """One number of a load: its field, its place in a vector (-1: none), its name in the load, its value."""

    field: str
    place: int
    key: str
    given: Given

    @property
    def path(self) -> tuple[str | int, ...]:
        """Keys that lead to it within its load."""
        return (self.field,) if self.place < 0 else (self.field, self.place)


def numbers_of(load: DeclaredLoad) -> Iterator[LoadNumber]:
    """Yield the numbers that a load states."""
    for entry in fields(load):
        value = getattr(load, entry.name)
        if entry.name not in measures(load) or value is None:
            continue
        if isinstance(value, tuple):
            ends = MOMENTS if entry.name == "inertia" else AXES
            pairs = enumerate(zip(ends, value, strict=True))
            yield from (LoadNumber(entry.name, k, f"{entry.name}_{end}", component) for k, (end, component) in pairs)
        else:
            yield LoadNumber(entry.name, -1, entry.name, value)


def parameters_of(name: str, load: DeclaredLoad) -> Iterator[Parameter]:
    """Yield the parameters of a load: its numbers that are no expressions."""
    for number in numbers_of(load):
        if not isinstance(number.given, str):
            measure = measures(load)[number.field]
            upper = {"m": 1e2, "deg": 360.0}.get(measure.unit, LARGEST)
            text = f"{measure.text} of {name}" + (f", {number.key[-1]}" if number.place >= 0 else "")
            yield Parameter(f"{name}_{number.key}", measure.unit, float(number.given), measure.lower, upper, text)


def expressions_of(name: str, load: DeclaredLoad) -> Iterator[tuple[LoadNumber, ParsedExpression]]:
    """Yield the expressions among the numbers of a load, and the argument of its table. Raises LoadError."""
    argument = getattr(load, "argument", None)
    arguments = [] if argument is None else [LoadNumber("argument", -1, "argument", argument)]
    for number in (*numbers_of(load), *arguments):
        if isinstance(number.given, str):
            stateful = type(load) in STATE and number.field in STATE[type(load)].fields
            try:
                yield number, parse(number.given, "number", STATEFUL if stateful else GEOMETRIC)
            except ExpressionError as error:
                raise LoadError((name, *number.path), error.got, error.expected, error.hint) from None


def said_of(load: DeclaredLoad) -> tuple[object, ...]:
    """Return everything that defines a load, for a digest; tables by their hash."""
    values = {entry.name: getattr(load, entry.name) for entry in fields(load)}
    if isinstance(load, WrenchLoad) and load.points is not None:
        values["points"] = hashlib.sha256(load.points.astype("<f8").tobytes()).hexdigest()
    return (type(load).__name__, *((key, value) for key, value in values.items() if value is not None))


def check(name: str, load: DeclaredLoad) -> None:
    """Refuse numbers and times that no load has. Raises LoadError."""
    for number in numbers_of(load):
        if not isinstance(number.given, str):
            check_value(name, load, number, number.given, repr(number.given))
    if isinstance(load, WrenchLoad):
        _check_wrench(name, load)
    if isinstance(load, ElasticDrive) and load.stiffness is None:
        raise LoadError((name,), "a transmission without stiffness", "stiffness", "Leave it out for a rigid one.")
    if isinstance(load, JointSpringLoad) and _has_none(load, "stiffness", "damping", "force", "table"):
        raise LoadError((name,), "a spring without force", "stiffness, damping, force or a table")
    if isinstance(load, SpringLoad) and _has_none(load, "stiffness", "preload", "damping", "table"):
        raise LoadError((name,), "a spring without force", "stiffness, preload, damping or a table")
    if isinstance(load, BushingLoad) and _has_none(load, "stiffness", "damping", "turn_stiffness", "turn_damping"):
        rule = "stiffness, damping, turn_stiffness or turn_damping"
        raise LoadError((name,), "a bushing without force", rule)
    if isinstance(load, SpringLoad | JointSpringLoad):
        _check_table(name, load)
    if isinstance(load, SpringLoad) and load.acts not in (None, *get_args(Acts)):
        raise LoadError((name, "acts"), repr(load.acts), "'pull', 'push' or 'both'")
    if isinstance(load, ObjectLoad):
        start, stop = load.start or 0.0, math.inf if load.stop is None else load.stop
        if not start < stop:
            raise LoadError((name, "until"), repr(load.stop), f"a time after from, {start!r} s")


def _has_none(load: DeclaredLoad, *names: str) -> bool:
    return all(getattr(load, name) is None for name in names)


def _check_table(name: str, load: SpringLoad | JointSpringLoad) -> None:
    if load.table is None:
        if stray := [key for key in ("argument", "scale") if getattr(load, key) is not None]:
            raise LoadError((name, stray[0]), f"{stray[0]} without a table", "none, or a table beside it")
        return
    rival = "force" if isinstance(load, JointSpringLoad) else "preload"
    if getattr(load, rival) is not None:
        raise LoadError((name, rival), f"{rival} beside a table", "one of both", "Remove one.")
    rows = np.array(load.table, dtype=float)
    sound = rows.ndim == 2 and rows.shape[1:] == (2,) and 2 <= len(rows) <= MOST_POINTS and np.isfinite(rows).all()
    if not sound or (np.diff(rows[:, 0]) <= 0.0).any():
        rule = f"2 to {MOST_POINTS} points of finite numbers (argument, force), arguments increasing"
        raise LoadError((name, "table"), f"{len(load.table)} points", rule)


def check_value(name: str, load: DeclaredLoad, number: LoadNumber, value: object, text: str) -> None:
    """Refuse a value of one of the numbers of a load, which the file spells as `text`. Raises LoadError."""
    measure = measures(load)[number.field]
    sound = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not sound or not measure.lower <= value <= LARGEST:  # type: ignore[operator]
        rule = f"a number or an expression [{measure.unit}]" + (", not below 0" if measure.lower == 0.0 else "")
        raise LoadError((name, *number.path), text, rule)


def _check_wrench(name: str, load: WrenchLoad) -> None:
    if load.points is None:
        if load.force is None and load.moment is None:
            raise LoadError((name,), "neither force, moment nor a table", "one of them", "force: [0, 0, -20]")
        if load.scale is not None:
            raise LoadError((name, "scale"), "a scale without a table", "none", "It multiplies the columns of a file.")
        return
    if load.force is not None or load.moment is not None:
        raise LoadError((name,), "force or moment beside a table", "one of both", "Remove one.")
    table = load.points
    if table.ndim != 2 or table.shape[1] != 7 or not len(table) or not np.isfinite(table).all():
        rule = "finite numbers (points, 7): t, then moment and force"
        raise LoadError((name, "points"), f"an array of shape {table.shape}", rule)
    if (np.diff(table[:, 0]) <= 0.0).any():
        raise LoadError((name, "points"), "times that do not increase", "increasing times")
