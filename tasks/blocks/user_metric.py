"""A metric of a user's own as data: what a block is told of it. It is computed in `tasks.blocks.user_metrics`."""

from __future__ import annotations

from dataclasses import dataclass

TIME, PARAMETERS, FRICTION = "time", "parameters", "friction"
VALUES = (TIME, PARAMETERS, FRICTION)
"""What a function may ask for that is no series."""


@dataclass(frozen=True)
class OwnMetric:
    """A function, pickled by value, and what it asks for: series, and some of VALUES.

    `inputs` has for each series whether it depends on design, on friction and on trajectory here. The result is one
    number, or with `per_actuator` one for each actuator.
    """

    name: str
    payload: bytes
    inputs: tuple[tuple[str, tuple[bool, bool, bool]], ...]
    values: tuple[str, ...]
    per_actuator: bool
