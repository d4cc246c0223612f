"""Base class and field types of the models of file sections."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, Strict

HUGE = 1e30
"""Size of any number in a file, in whatever unit: beyond it squares and products leave the range of single precision,
and no machine is. Parameters have bounds of their own."""

MANY = 2**53
"""The largest count: what arrays of indices and doubles hold exactly."""

Number = Annotated[float, Strict(), Field(allow_inf_nan=False, ge=-HUGE, le=HUGE)]
Integer = Annotated[int, Strict()]
Count = Annotated[int, Strict(), Field(ge=1, le=MANY)]
Text = Annotated[str, Strict(), Field(min_length=1, max_length=10_000)]
Name = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,79}$")]


class Section(BaseModel):
    """A mapping in a file: unknown keys are refused, values are frozen; keys may be spelt with dashes by an alias."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True)
