"""A user metric that has been checked; `pipeline.sweep.user_metrics` makes it from a function."""

from __future__ import annotations

from typing import Any

from robots.data_classes import dataclass
from robots.metric_function import MetricFunction
from robots.quantities import Quantity


@dataclass(frozen=True)
class PreparedMetric:
    """A checked user metric: its variable, its function, and the identity of the function."""

    variable: Quantity
    function: MetricFunction
    fingerprint: str

    @property
    def name(self) -> str:
        """Its name in the dataset."""
        return self.variable.name

    @property
    def per_actuator(self) -> bool:
        """Return whether the metric has a number for each actuator."""
        return "actuator" in self.variable.dims

    def describe(self) -> dict[str, Any]:
        """Return the data that define the metric, in JSON types."""
        row = self.variable
        return {"function": self.fingerprint, "units": row.units, "long_name": row.long_name, "dims": list(row.dims)}
