"""Requested quantities as one object, which is handed on whole: who needs their names asks it for them."""

from __future__ import annotations

from robots.data_classes import dataclass


@dataclass(frozen=True)
class QuantityNames:
    """Names of requested series and metrics, each in the order of the request.

    A sweep, its blocks and the requests to stages hold one.
    """

    series: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()

    @property
    def both(self) -> tuple[str, ...]:
        """Names of series and metrics."""
        return (*self.series, *self.metrics)


NO_QUANTITIES = QuantityNames()
