"""A user metric as a block computes it: data alone. `tasks.blocks.user_metrics` calls the function."""

from __future__ import annotations

from dataclasses import dataclass

from robots.metric_function import MetricFunction


@dataclass(frozen=True)
class BlockMetric:
    """A metric of the user's: its name, its function, and the dims of what that is given.

    `depends` has for each series of the function whether it depends on design, on friction and on trajectory here; of
    simulations, whose dims `gains` and `state` follow, it depends on all. The result is one number, or with
    `per_actuator` one for each actuator.
    """

    name: str
    function: MetricFunction
    depends: tuple[tuple[bool, ...], ...]
    per_actuator: bool
