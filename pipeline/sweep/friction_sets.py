"""Friction sets of a sweep: groups of joints with a law, and the axis of the parameters that are swept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pipeline.sweep.axes.kinds import NOTHING, Array, Axis, complete
from robots.data_classes import dataclass, field
from robots.friction.groups import FrictionGroup
from robots.parameters import Parameter


@dataclass(frozen=True)
class FrictionAxis:
    """Friction sets: groups of joints, the axis of swept parameters, the others as `fixed` (defaults included).

    `joints` says how the file names the joints of each group; `defaults` are all parameters of all groups, in order.
    """

    groups: tuple[FrictionGroup, ...] = ()
    joints: tuple[tuple[str, ...], ...] = ()
    axis: Axis = NOTHING
    fixed: Mapping[str, float] = field(default_factory=dict)
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of friction sets."""
        return self.axis.size

    def values(self, start: int, stop: int) -> dict[str, Array]:
        """Return every parameter of all groups in order, (stop - start,)."""
        order = {name: self.fixed.get(name, 0.0) for name in self.parameters}
        return complete(self.axis, order, start, stop)

    def table(self, start: int, stop: int) -> Array:
        """Return the parameters of all groups (stop - start, parameter); without any of them (stop - start, 0)."""
        columns = list(self.values(start, stop).values())
        return np.ascontiguousarray(np.stack(columns, axis=1)) if columns else np.zeros((stop - start, 0))

    def describe(self) -> dict[str, Any]:
        """Describe the friction sets in types of JSON."""
        groups = [
            {"name": group.name, "law": group.law, "load": group.load, "joints": list(joints)}
            for group, joints in zip(self.groups, self.joints, strict=True)
        ]
        return {"groups": groups, "parameters": dict(self.fixed)} | self.axis.describe()


NO_FRICTION = FrictionAxis()
