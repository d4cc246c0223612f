"""The model of a load in the section `loads` of a sweep file; `pipeline.sweep.loads.reader` makes loads of it."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field, PlainValidator
from pydantic_core import PydanticCustomError

from pipeline.documents.section import HUGE, Number, Section, Text


def _number_or_text(value: object) -> float | str:
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and abs(value) <= HUGE:
        return float(value)
    raise PydanticCustomError("number_or_expression", "a number, or the text of an expression")


Value = Annotated[float | str, PlainValidator(_number_or_text, json_schema_input_type=float | str)]
"""A number, or the text of an expression over the time and parameters."""
Values = Annotated[tuple[Value, ...], Field(min_length=3, max_length=3)]


class LoadSection(Section):
    """A load on links or on the platform; numbers are parameters, or expressions of `t` [s] and of parameters."""

    kind: Literal["wrench", "spring", "object"] = Field(description="`wrench`, `spring` to the base, or `object`")
    body: Text = Field(description="`platform`, or names and patterns of links such as `'limb_1.arm'`")
    at: Values | None = Field(
        default=None, description="where it acts, or the centre of the object, in the frame of the body [m]"
    )
    force: Values | None = Field(default=None, description="of a wrench [N]")
    moment: Values | None = Field(default=None, description="of a wrench [N m]")
    axes: Literal["world", "link", "platform"] | None = Field(
        default=None, description="of a wrench: those of `world`, the default, or of its own `link` or `platform`"
    )
    file: Text | None = Field(
        default=None, description="a wrench over time, a table with the columns t, mx, my, mz, fx, fy, fz [s, N m, N]"
    )
    scale: Value | None = Field(default=None, description="factor of the table; default: 1")
    to: Values | None = Field(default=None, description="point of the base that a spring leads to [m]; default: origin")
    stiffness: Value | None = Field(default=None, description="of a spring [N/m]")
    rest_length: Value | None = Field(default=None, description="of a spring [m]; default: 0")
    damping: Value | None = Field(default=None, description="of a spring, per rate of its length [N s/m]; default: 0")
    preload: Value | None = Field(default=None, description="pull of a spring at its rest length [N]; default: 0")
    mass: Value | None = Field(default=None, description="of an object [kg]")
    inertia: Values | None = Field(
        default=None, description="principal moments of an object about its centre, axes of the body [kg m^2]"
    )
    start: Number | None = Field(
        default=None, alias="from", description="when an object is picked [s]; default: it is held from the start on"
    )
    until: Number | None = Field(default=None, description="when it is released [s]; default: never")


KINDS = {
    "wrench": ("force", "moment", "axes", "file", "scale"),
    "spring": ("to", "stiffness", "rest_length", "damping", "preload"),
    "object": ("mass", "inertia", "start", "until"),
}
"""Keys that a kind of load has beside `kind`, `body` and `at`."""
