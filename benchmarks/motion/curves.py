"""Friction laws at an instant by their formulas, on plain numbers, with states of joints that are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from robots.friction import laws as data
from robots.parameters import complete
from tasks.features.friction import laws

Array = np.ndarray


class Curve(NamedTuple):
    """A law with its parameters, and the states of joints that it has at each sample (sample, joint)."""

    law: str
    values: Mapping[str, float]
    memory: Array

    def __call__(self, k: int, rates: Array, loads: Array) -> Array:
        """Return the friction (joint,) of moving joints at sample k under normal loads; for bristles of all joints."""
        row, mathematics = data.LAWS[self.law], laws.LAWS[self.law]
        own = complete((*row.parameters, *row.options), self.values, owner=self.law)
        named = {parameter.name: own[parameter.name] for parameter in row.inputs(self.values)}
        result = []
        for z, v, load in zip(self.memory[k].tolist(), rates.tolist(), loads.tolist(), strict=True):
            now = z if mathematics.switched is None else mathematics.switched(z, v, 0.0, **named)
            result.append(mathematics.force(now, v, load, **named))
        return np.array(result)

    def limits(self, loads: Array) -> Array:
        """Return the forces that joints at rest hold (joint,)."""
        return self.values.get("static", self.values["coulomb"]) * loads


def memories(law: str, values: Mapping[str, float], loads: Array) -> Array:
    """Return random states of a law (sample, joint): bristles bent as `loads` can, joints broken away or not."""
    random = np.random.default_rng(7)
    if law == "stiction":
        return random.integers(0, 2, loads.shape).astype(float)
    return random.uniform(-1.0, 1.0, loads.shape) * loads * values["coulomb"] / values.get("sigma0", np.inf)
