"""Requested derivatives of metrics by parameters, as data, and the names of the variables that have them."""

from __future__ import annotations

from dataclasses import dataclass

from robots.quantities import Quantity

PARAMETER, SIDE = "parameter", "side"
"""Dims of derivatives: the parameter, and of one-sided derivatives the side of the point."""

SIDES = ("below", "above")
"""Sides of a point: the derivative from smaller values of the parameter, and that from larger ones."""

NOTED = "_status"


@dataclass(frozen=True)
class RequestedDerivatives:
    """Metrics, the parameters that they are differentiated by, and whether both one-sided values are requested.

    Parameters are those of the robot, of friction (by their names in the axes) and the components of gravity.

    >>> RequestedDerivatives(("peak_force",), ("upper_arm", "coulomb")).names
    ('peak_force_derivative', 'peak_force_derivative_status')
    """

    metrics: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    sides: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all variables."""
        return tuple(name for metric in self.metrics for name in (derivative(metric), derivative_status(metric)))

    @property
    def sizes(self) -> dict[str, int]:
        """Lengths of the dims of derivatives."""
        lengths = {PARAMETER: len(self.parameters), SIDE: len(SIDES)}
        return {dim: lengths[dim] for dim in self.dims} if self.metrics else {}

    @property
    def dims(self) -> tuple[str, ...]:
        """Dims that a derivative has beside those of its metric."""
        return (PARAMETER, SIDE) if self.sides else (PARAMETER,)

    def rows(self, metric: Quantity, units: str) -> tuple[Quantity, Quantity]:
        """Return the rows of the derivative of a metric, of which the row has the dims of the sweep, and its status."""
        text = f"derivative of {metric.name} by each parameter"
        dims = (*metric.dims, *self.dims)
        return (
            Quantity(derivative(metric.name), dims, units, text, "user", metric.frame),
            Quantity(derivative_status(metric.name), dims, "1", f"status of the {text}", "user", dtype="int8"),
        )


NO_DERIVATIVES = RequestedDerivatives()


def derivative(metric: str) -> str:
    """Return the name of the derivative of a metric.

    >>> derivative("peak_force")
    'peak_force_derivative'
    """
    return f"{metric}_derivative"


def derivative_status(metric: str) -> str:
    """Return the name of the status of a derivative.

    >>> derivative_status("peak_force")
    'peak_force_derivative_status'
    """
    return derivative(metric) + NOTED
