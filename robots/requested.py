"""Requested quantities as one object, which is passed on whole and gives their names by stage and kind."""

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
