"""A metric of a user: a function as plain data. A sweep checks it, the tasks of a block call it."""

from __future__ import annotations

from robots.data_classes import dataclass
from robots.dims import GAINS, STATE

TIME, PARAMETERS, FRICTION_PARAMETERS = "time", "parameters", "friction"
VALUES = (TIME, PARAMETERS, FRICTION_PARAMETERS)
"""Names of inputs, other than series, that a metric function may request."""

OF_SIMULATION = (GAINS, STATE)
"""Further names of such inputs in simulations: parameters of the controller and of the initial state."""


@dataclass(frozen=True)
class MetricFunction:
    """A function, pickled by value, and the names of its inputs: series, and some numbers of the case."""

    payload: bytes
    series: tuple[str, ...]
    values: tuple[str, ...]
