"""Requested derivatives of metrics and series by parameters, as data, and the names of their variables."""

from __future__ import annotations

from dataclasses import dataclass

from robots.quantities import SMOOTH_SERIES, Quantity

PARAMETER, SIDE = "parameter", "side"
"""Dims of derivatives: the parameter, and of one-sided derivatives the side of the point."""

SIDES = ("below", "above")
"""Sides of a point: the derivative from smaller values of the parameter, and that from larger ones."""

NOTED = "_status"


@dataclass(frozen=True)
class RequestedDerivatives:
    """Metrics and series, the parameters that they are differentiated by, and whether both sides are requested.

    Parameters are those of the robot, of friction (by their names in the axes) and the components of gravity.

    >>> RequestedDerivatives(("peak_force",), ("upper_arm", "coulomb")).names
    ('peak_force_derivative', 'peak_force_derivative_status')
    """

    quantities: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    sides: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all variables."""
        return tuple(name for each in self.quantities for name in (derivative(each), derivative_status(each)))

    @property
    def series(self) -> tuple[str, ...]:
        """Names of the series whose derivatives are requested."""
        return tuple(name for name in self.quantities if name in SMOOTH_SERIES)

    @property
    def sizes(self) -> dict[str, int]:
        """Lengths of the dims of derivatives."""
        lengths = {PARAMETER: len(self.parameters), SIDE: len(SIDES)}
        return {dim: lengths[dim] for dim in self.dims} if self.quantities else {}

    @property
    def dims(self) -> tuple[str, ...]:
        """Dims that a derivative has beside those of its quantity."""
        return (PARAMETER, SIDE) if self.sides else (PARAMETER,)

    def rows(self, row: Quantity, units: str) -> tuple[Quantity, Quantity]:
        """Return the rows of the derivative of a quantity, whose row has the dims of the sweep, and of its status."""
        text = f"derivative of {row.name} by each parameter"
        dims = (*row.dims, *self.dims)
        return (
            Quantity(derivative(row.name), dims, units, text, "user", row.frame),
            Quantity(derivative_status(row.name), dims, "1", f"status of the {text}", "user", dtype="int8"),
        )


NO_DERIVATIVES = RequestedDerivatives()


def derivative(name: str) -> str:
    """Return the name of the derivative of a quantity.

    >>> derivative("peak_force")
    'peak_force_derivative'
    """
    return f"{name}_derivative"


def derivative_status(name: str) -> str:
    """Return the name of the status of a derivative.

    >>> derivative_status("peak_force")
    'peak_force_derivative_status'
    """
    return derivative(name) + NOTED
