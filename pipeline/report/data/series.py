"""Time series of the actuators of a case, with the part of friction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.report.data.case import DesignCase

QUANTITIES = (
    ("actuator_force", "force"),
    ("actuator_position", "position"),
    ("actuator_velocity", "velocity"),
    ("actuator_power", "power"),
)
"""Stored or computed again: the variable, and what a panel calls it."""


@dataclass(frozen=True, eq=False)
class ActuatorSeries:
    """One quantity of all actuators: values (trajectory, time, actuator)."""

    name: str
    title: str
    units: str
    values: NDArray[np.float64]

    @property
    def label(self) -> str:
        """Title and unit for the axis of a plot."""
        return f"{self.title}<br>[{self.units}]"

    @property
    def known(self) -> bool:
        """Whether any of it is a number."""
        return bool(np.isfinite(self.values).any())


@dataclass(frozen=True)
class SeriesAxes:
    """The coordinates of all series: times [s], the trajectories in time by number and name, names of the actuators."""

    times: NDArray[np.float64]
    trajectories: dict[int, str]
    actuators: tuple[str, ...]


def series(case: DesignCase) -> tuple[ActuatorSeries, ...]:
    """Collect the series of a case that have any finite value."""
    return tuple(quantity for quantity in quantities(case) if quantity.known)


def axes(case: DesignCase) -> SeriesAxes:
    """Collect the coordinates of the series, where there are any. The points of a workspace are not in time."""
    quantity = next(case.results[name] for name, _ in QUANTITIES if name in case.results)
    moving = {index: name for index, name in enumerate(case.trajectories) if not case.grid(index)}
    actuators = tuple(str(name) for name in quantity["actuator"].values)
    return SeriesAxes(np.asarray(quantity["time"].values, float), moving, actuators)


def quantities(case: DesignCase) -> Iterator[ActuatorSeries]:
    """Collect all series that a sweep has, also those without any finite value in this case."""
    for name, title in QUANTITIES:
        if name not in case.results:
            continue
        quantity = case.results[name].transpose("trajectory", "time", "actuator")
        # The store knows the units of its drives; what is computed again says them the same way.
        units = quantity.attrs.get("units", "")
        title = "torque" if units == "N m" else title
        yield ActuatorSeries(name, title, units, quantity.values)
        if name == "actuator_force" and case.frictionless is not None:
            part = quantity.values - case.frictionless.values
            yield ActuatorSeries("friction_part", f"{title} for<br>friction", units, part)
