"""Requested derivatives of metrics and series by parameters, as data, and the names of their variables."""

from __future__ import annotations

from collections.abc import Mapping

from robots.data_classes import dataclass
from robots.quantities import DIFFERENTIABLE, QUANTITIES, SMOOTH_SERIES, Quantity, names

PARAMETER, SIDE = "parameter", "side"
"""Dims of derivatives: the parameter, and of one-sided derivatives the side of the point."""

SIDES = ("below", "above")
"""Sides of a point: the derivative from smaller values of the parameter, and the derivative from larger values."""

NOTED = "_status"

_COUNT = "it counts, and is constant between jumps"
_GRID = "it counts points of a grid, and is constant between jumps"
_STEPS = "it counts steps of the simulation, and is constant between jumps"
_ESTIMATE = "it is the error of a method and no property of the robot"

WITHOUT: Mapping[str, str] = {
    "usable_volume": _GRID,
    "reachable_volume": _GRID,
    "unsettled_samples": _COUNT,
    "failed_samples": _COUNT,
    "worst_status": "it is a code",
    "lost_steps": _STEPS,
    "saturated_time": _STEPS,
    "settling_time": _STEPS,
    "substeps": _STEPS,
    "friction_residual": _ESTIMATE,
    "integration_error": _ESTIMATE,
    "integration_error_share": _ESTIMATE,
}
"""Metrics without a derivative, and why in words that complete "because"."""

OF_GIVEN_MOTIONS = (*DIFFERENTIABLE, *names("path"), *SMOOTH_SERIES)
"""Metrics and series that have derivatives along given motions."""

OF_SIMULATIONS = tuple(
    name
    for name, row in QUANTITIES.items()
    if row.dtype == "float64" and row.stage not in ("sensors", "path", "user") and name not in WITHOUT
)
"""Metrics and series that have derivatives in simulations."""


def is_series(name: str) -> bool:
    """Return whether a quantity has a number for each time.

    >>> is_series("actuator_force"), is_series("peak_force")
    (True, False)
    """
    return "time" in QUANTITIES[name].dims


@dataclass(frozen=True)
class RequestedDerivatives:
    """Metrics and series, the parameters that they are differentiated by, and whether both sides are requested.

    Parameters are parameters of the robot or of friction (by their names in the axes) and components of gravity. For
    simulations they may also be parameters of the controller and offsets of the initial state.

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
        return tuple(name for name in self.quantities if is_series(name))

    def by_differences(self, *, programs: bool) -> bool:
        """Return whether some derivatives are differences; programs: the motion is given and friction has no state."""
        return any(not programs or QUANTITIES[name].stage == "path" for name in self.quantities)

    def exact(self, *, programs: bool) -> bool:
        """Return whether some derivatives come from differentiated programs."""
        return programs and any(QUANTITIES[name].stage != "path" for name in self.quantities)

    @property
    def sizes(self) -> dict[str, int]:
        """Lengths of the dims of derivatives."""
        lengths = {PARAMETER: len(self.parameters), SIDE: len(SIDES)}
        return {dim: lengths[dim] for dim in self.dims} if self.quantities else {}

    @property
    def dims(self) -> tuple[str, ...]:
        """Dims that a derivative has in addition to the dims of its quantity."""
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
