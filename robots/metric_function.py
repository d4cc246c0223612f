"""A function of the user's that computes a metric, as plain data: a sweep checks it, the tasks of a block call it."""

from __future__ import annotations

from dataclasses import dataclass

from robots.quantities import GAINS, STATE

TIME, PARAMETERS, FRICTION = "time", "parameters", "friction"
VALUES = (TIME, PARAMETERS, FRICTION)
"""What a function may ask for that is no series."""

OF_SIMULATION = (GAINS, STATE)
"""The same of simulations: numbers of the controller and of the initial state by name."""


@dataclass(frozen=True)
class MetricFunction:
    """A function, pickled by value, and what it asks for by name: series of the dataset, and some of these."""

    payload: bytes
    series: tuple[str, ...]
    values: tuple[str, ...]
