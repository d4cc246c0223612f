"""Time series of the actuators of the case that a report looks into, with the part of friction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.report.results import Results

QUANTITIES = (
    ("actuator_force", "force"),
    ("actuator_position", "position"),
    ("actuator_velocity", "velocity"),
    ("actuator_power", "power"),
)
"""Stored or computed again: the variable, and what a panel calls it."""


@dataclass(frozen=True, eq=False)
class Series:
    """One quantity of all actuators: values (trajectory, time, actuator)."""

    name: str
    title: str
    units: str
    values: NDArray[np.float64]

    @property
    def label(self) -> str:
        """What stands at the axis."""
        return f"{self.title}<br>[{self.units}]"


def series(results: Results) -> tuple[Series, ...]:
    """All quantities that there are; those that are no numbers anywhere are left out."""
    return tuple(each for each in _series(results) if np.isfinite(each.values).any())


@dataclass(frozen=True)
class Axes:
    """Along what all series go: times [s], names of trajectories and of actuators."""

    times: NDArray[np.float64]
    trajectories: tuple[str, ...]
    actuators: tuple[str, ...]


def axes(results: Results) -> Axes:
    """The axes of the series, where there are any."""
    first = next(found for name, _ in QUANTITIES if (found := results.series(name)) is not None)
    trajectories, actuators = (tuple(str(each) for each in first[dim].values) for dim in ("trajectory", "actuator"))
    return Axes(np.asarray(first["time"].values, np.float64), trajectories, actuators)


def _series(results: Results) -> Iterator[Series]:
    for name, title in QUANTITIES:
        found = results.series(name)
        if found is None:
            continue
        # The store knows the units of its drives; what is computed again says them the same way.
        units = found.attrs.get("units", "")
        title = "torque" if units == "N m" else title
        yield Series(name, title, units, found.values)
        if name == "actuator_force" and results.case is not None and _has_friction(results):
            yield Series(
                "friction_part", f"{title} for<br>friction", units, found.values - results.case.frictionless.values
            )


def _has_friction(results: Results) -> bool:
    case = results.case
    return case is not None and bool((np.abs(case.friction_part.values) > 0).any())
