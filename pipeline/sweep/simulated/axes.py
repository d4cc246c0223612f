"""The checked simulation of a sweep: its settings and its two axes."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pipeline.sweep.axes.kinds import NOTHING, Array, Axis, complete
from robots.data_classes import dataclass, field
from robots.dims import GAINS, STATE
from robots.parameters import Parameter
from robots.simulation import ForceProfile, SimulationSettings


@dataclass(frozen=True)
class SimulationAxes:
    """Simulation of a sweep: its settings, the sets of gains of its controller, and the offsets of initial states.

    `fixed`: parameters of the controller that are not swept; `gain_parameters`, `state_parameters`: parameters that
    have a value, in the order of the columns of `gain_table` and `state_table`. Tables are made of the rows that are
    asked for, so that an axis of any length takes no memory.
    """

    simulation: SimulationSettings
    gains: Axis = NOTHING
    fixed: Mapping[str, float] = field(default_factory=dict)
    gain_parameters: Mapping[str, Parameter] = field(default_factory=dict)
    state: Axis = NOTHING
    state_parameters: Mapping[str, Parameter] = field(default_factory=dict)

    @property
    def sizes(self) -> dict[str, int]:
        """Lengths of the axes that there are, by the name of their dim."""
        axes = {GAINS: self.gains, STATE: self.state}
        return {dim: axis.size for dim, axis in axes.items() if axis.names}

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters of the controller and of the start that are swept."""
        return (*self.gains.names, *self.state.names)

    @property
    def is_release(self) -> bool:
        """Return whether neither a controller nor forces act, so that the initial state alone decides the motion."""
        return self.simulation.controller is None and not self.simulation.profiles

    def gain_table(self, rows: slice) -> Array:
        """Return the parameters of the controller (set, parameter)."""
        return _table(self.gains, self.fixed, tuple(self.gain_parameters), rows)

    def state_table(self, rows: slice) -> Array:
        """Return the offsets of the start (state, parameter)."""
        return _table(self.state, {}, tuple(self.state_parameters), rows)

    def describe(self) -> dict[str, Any]:
        """Describe the simulation in types of JSON."""
        chosen, controller = self.simulation, self.simulation.controller
        result: dict[str, Any] = {"step": chosen.step, "method": chosen.method}
        if chosen.tolerance:
            result["tolerance"] = chosen.tolerance
        if chosen.saturation:
            result["saturation"] = True
        if chosen.stops:
            result["stops"] = {name: _finite(vars(stop)) for name, stop in chosen.stops.items()}
        if controller is not None:
            described = {"kind": controller.kind, "space": controller.space, "parameters": dict(self.fixed)}
            result["controller"] = described
        if self.gains.names:
            result["gains"] = self.gains.describe()
        if self.state.names:
            result["state"] = self.state.describe()
        if chosen.profiles:
            result["forces"] = {profile.name: _described(profile) for profile in chosen.profiles}
        return result


def _finite(numbers: Mapping[str, float]) -> dict[str, float]:
    """Return the numbers that JSON can hold: a stop on one side is infinite on the other side."""
    return {name: value for name, value in numbers.items() if math.isfinite(value)}


def _table(axis: Axis, fixed: Mapping[str, float], names: tuple[str, ...], rows: slice) -> Array:
    start, stop = rows.start or 0, axis.size if rows.stop is None else min(rows.stop, axis.size)
    values = complete(axis, {name: fixed.get(name, 0.0) for name in names}, start, stop)
    return np.stack([values[name] for name in names], axis=1) if names else np.zeros((stop - start, 0))


def _described(profile: ForceProfile) -> dict[str, Any]:
    digest = hashlib.sha256(profile.points.astype("<f8").tobytes()).hexdigest()
    return {"points": digest, "between": profile.between, "of": profile.of}
