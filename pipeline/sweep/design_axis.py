"""Designs of a sweep: a family of robots, the parameters that the file sets, and the axis of swept parameters."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.sweep.axes.kinds import Axis
from robots.data_classes import dataclass
from robots.model import Family
from robots.parameters import Parameter


@dataclass(frozen=True)
class DesignAxis:
    """The designs of a robot: the axis of its swept parameters, and the parameters that the file sets."""

    family: Family
    fixed: Mapping[str, float]
    axis: Axis

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Parameters of the robot by name."""
        return {parameter.name: parameter for parameter in self.family.parameters}
