"""The sections of a sweep file as models: keys and types only. What they mean together is in `pipeline.sweep`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from pipeline.axes import Method
from pipeline.validation import Count, Integer, Number, Section, Text, Vector

FORMAT = 1
"""Version of the file format that this program reads."""

Name = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,79}$")]
Group = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z][A-Za-z0-9]{0,39}$")]
Numbers = Annotated[tuple[Number, ...], Field(min_length=1)]


def _bare_text(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _bare_list(value: Any) -> Any:
    return {"values": value} if isinstance(value, list) else value


class Column(Section):
    """Values of one parameter: `values`, or `num` of them from `start` to `stop`; `unit` where they are not in SI."""

    start: Number | None = None
    stop: Number | None = None
    num: Count | None = None
    step: Number | None = None
    values: Numbers | None = None
    unit: Text | None = None


ColumnOrList = Annotated[Column, BeforeValidator(_bare_list)]


class Bounds(Section):
    """Where a sampled parameter lies, both ends included."""

    low: Number
    high: Number
    unit: Text | None = None


class Sample(Section):
    """A seeded random sample. Without a seed it could not be repeated, so the seed is asked for."""

    method: Method
    count: Count
    seed: Annotated[Integer, Field(ge=0, le=2**128)] | None = None
    parameters: Annotated[dict[Text, Bounds], Field(min_length=1)]


class Axes(Section):
    """One axis: a grid, a list or a sample."""

    grid: Annotated[dict[Text, ColumnOrList], Field(min_length=1)] | None = None
    listed: Annotated[dict[Text, ColumnOrList], Field(min_length=1)] | None = Field(default=None, alias="list")
    sample: Sample | None = None


class FrictionGroup(Section):
    """A friction law and the joints that it acts in."""

    law: Text | None = Field(default=None, description="name of a friction law")
    joints: Annotated[tuple[Text, ...], BeforeValidator(_bare_text), Field(min_length=1, max_length=1000)] = Field(
        default=("actuated",), description="`actuated`, `passive`, `all`, or names and patterns such as `limb_1.*`"
    )
    load: Text = Field(default="constant", description="normal load: `constant`, `preload`, or `reaction` of the joint")
    parameters: dict[Text, Number] = Field(default_factory=dict, description="parameters that are not swept")


class Friction(FrictionGroup, Axes):
    """Friction sets: a law and its joints, or several groups of them, and what is swept."""

    groups: Annotated[dict[Group, FrictionGroup], Field(min_length=1, max_length=100)] | None = Field(
        default=None, description="several laws, each under a name that stands before its parameters: `motors_viscous`"
    )


class Time(Section):
    """The time grid of all trajectories: from zero to `stop` by `step`, or in `samples` points."""

    stop: Annotated[Number, Field(gt=0)]
    step: Annotated[Number, Field(gt=0)] | None = None
    samples: Annotated[Integer, Field(ge=2)] | None = None


class SweepFile(Section):
    """A whole sweep file."""

    limbsweep: Integer
    title: Annotated[str, Field(strict=True, max_length=1000)] = ""
    robot: Text
    parameters: dict[Text, Number] = Field(default_factory=dict)
    design: Axes | None = None
    friction: Friction | None = None
    trajectories: Annotated[dict[Name, dict[str, Any]], Field(min_length=1)]
    time: Time
    gravity: Vector = (0.0, 0.0, -9.81)
    outputs: tuple[Text, ...] = ()
    metrics: tuple[Text, ...] = ()
