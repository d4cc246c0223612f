"""The model of a load in the section `loads` of a sweep file; `pipeline.sweep.loads.reader` makes loads of it."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Discriminator, Field, PlainValidator, Tag
from pydantic_core import PydanticCustomError

from pipeline.documents.validation import HUGE, Number, Section, Text, Three


def _number_or_text(value: object) -> float | str:
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and abs(value) <= HUGE:
        return float(value)
    raise PydanticCustomError("number_or_expression", "a number, or the text of an expression")


Value = Annotated[float | str, PlainValidator(_number_or_text, json_schema_input_type=float | str)]
"""A number, or the text of an expression over the time and parameters."""
Values = Three[Value]
OneOrThree = Annotated[
    Annotated[Values, Tag("[list]")] | Annotated[Value, Tag("[one]")],
    Discriminator(lambda value: "[list]" if isinstance(value, list | tuple) else "[one]"),
]
"""A value, or three of them."""


class LoadSection(Section):
    """A load on links or on the platform; numbers are parameters, or expressions of `t` [s] and of parameters.

    Some may follow from the state of the limb too, see `robots.loads.declared.STATE`.
    """

    kind: Literal["wrench", "spring", "bushing", "object", "joint_spring", "elastic_drive"]
    """`wrench`, `spring` or `bushing` to base or another link, `object`, spring in a joint, or elastic transmission"""
    body: Text | None = None
    """`platform`, or names and patterns of links such as `'limb_1.arm'`; needed but for the last two"""
    joint: Text | None = None
    """of a `joint_spring`: names and patterns of joints of links"""
    actuators: Text | None = None
    """of an `elastic_drive`: names and patterns of a chain's actuators, or `all`"""
    at: Values | None = None
    """where it acts, or the centre of the object, in the frame of the body [m]"""
    force: OneOrThree | None = None
    """of a wrench [N]; one number along the joint of a `joint_spring` [N m or N]"""
    moment: Values | None = None
    """of a wrench [N m]"""
    axes: Literal["world", "link", "platform"] | None = None
    """of a wrench: those of `world`, the default, or of its own `link` or `platform`"""
    file: Text | None = None
    """a wrench over time, a table with the columns t, mx, my, mz, fx, fy, fz [s, N m, N]"""
    table: tuple[tuple[Number, Number], ...] | None = None
    """points (length, pull) of a spring, or (position, force) of a joint, linear in between and held beyond the ends;
    in place of `preload` or `force`"""
    argument: Text | None = None
    """expression over which the table is, in place of length or position"""
    scale: Value | None = None
    """factor of the table; default: 1"""
    to: Values | None = None
    """point of the base or of the `other` link that a spring or bushing leads to [m]; default: origin"""
    other: Text | None = None
    """of a spring or bushing: a second link, of the same limb, that it leads to; default: the base"""
    turn: Values | None = None
    """of a bushing: its axes on the body, turned about x, then y, then z of the body [degrees]; default: those of the
    body"""
    to_turn: Values | None = None
    """of a bushing: the same on the base or the `other` link, whose axes it acts along"""
    turn_stiffness: Values | None = None
    """of a bushing about its axes [N m/rad]; default: 0"""
    turn_damping: Values | None = None
    """of a bushing about its axes [N m s/rad]; default: 0"""
    acts: Literal["both", "pull", "push"] | None = None
    """of a spring: `pull` alone, where it is longer than its rest length, or `push` alone, where it is shorter;
    default: both"""
    stiffness: OneOrThree | None = None
    """of a spring [N/m], in a joint [N m/rad or N/m]; of a bushing along three axes [N/m]"""
    rest_length: Value | None = None
    """of a spring [m]; default: 0"""
    damping: OneOrThree | None = None
    """of a spring, per rate of its length [N s/m], or of its joint; of a bushing along three axes [N s/m];
    default: 0"""
    rest_position: Value | None = None
    """position of the joint at which its spring has no force [rad or m]; default: 0"""
    backlash: Value | None = None
    """width in which joint or rotor move without force [rad or m]; default: 0"""
    preload: Value | None = None
    """pull of a spring at its rest length [N]; default: 0"""
    mass: Value | None = None
    """of an object [kg]"""
    inertia: OneOrThree | None = None
    """three principal moments of an object about its centre, axes of the body [kg m^2]; of a rotor one number [kg m^2
    or kg]"""
    start: Number | None = Field(default=None, alias="from")
    """when an object is picked [s]; default: it is held from the start on"""
    until: Number | None = None
    """when it is released [s]; default: never"""


KINDS = {
    "wrench": ("body", "at", "force", "moment", "axes", "file", "scale"),
    "spring": (
        *("body", "at", "to", "other", "acts", "stiffness", "rest_length", "damping", "preload"),
        *("table", "argument", "scale"),
    ),
    "bushing": (
        *("body", "at", "turn", "to", "to_turn", "other"),
        *("stiffness", "damping", "turn_stiffness", "turn_damping"),
    ),
    "object": ("body", "at", "mass", "inertia", "start", "until"),
    "joint_spring": (
        *("joint", "stiffness", "damping", "rest_position", "backlash", "force"),
        *("table", "argument", "scale"),
    ),
    "elastic_drive": ("actuators", "stiffness", "damping", "backlash", "inertia"),
}
"""Keys that a kind of load has beside `kind`; the first of them names the loaded part."""

VECTORS = {
    ("wrench", "force"): "three components [N]",
    ("object", "inertia"): "three principal moments",
    ("bushing", "stiffness"): "three numbers or expressions [N/m], along its axes",
    ("bushing", "damping"): "three numbers or expressions [N s/m], along its axes",
}
"""Keys of kinds that are three numbers, where other kinds have one."""

SCALARS = {
    "force": "a number or an expression [N m or N]",
    "inertia": "a number or an expression [kg m^2 or kg]",
    "stiffness": "a number or an expression [N/m or N m/rad]",
    "damping": "a number or an expression [N s/m or N m s/rad]",
}
"""The same keys of other kinds."""
