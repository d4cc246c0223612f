"""Base class and field types of the models of file sections."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, Strict

Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Integer = Annotated[int, Strict()]
Count = Annotated[int, Strict(), Field(ge=1)]
Text = Annotated[str, Strict(), Field(min_length=1, max_length=10_000)]
Name = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,79}$")]
Vector = Annotated[tuple[Number, ...], Field(min_length=3, max_length=3)]


class Section(BaseModel):
    """A mapping in a file: unknown keys are refused, values are frozen; keys may be spelt with dashes by an alias."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)
