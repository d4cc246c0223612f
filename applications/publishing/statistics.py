"""Least, largest, mean and standard deviation of signals: of each episode, and of all for training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robots.data_classes import dataclass

KINDS = ("min", "max", "mean", "std")


@dataclass
class Statistics:
    """Statistics of the signals of each episode: arrays (episode, component) by kind and signal."""

    count: int
    """Samples of each episode."""
    values: dict[str, dict[str, np.ndarray]]

    @classmethod
    def empty(cls, widths: Mapping[str, int], episodes: int, count: int) -> Statistics:
        """Return statistics to be filled; widths: number of components by signal."""
        return cls(
            count,
            {name: {kind: np.full((episodes, width), np.nan) for kind in KINDS} for name, width in widths.items()},
        )

    def add(self, episode: int, signals: Mapping[str, np.ndarray]) -> None:
        """Enter the statistics of an episode; signals (time, component)."""
        for name, values in signals.items():
            kinds = self.values[name]
            kinds["min"][episode], kinds["max"][episode] = values.min(axis=0), values.max(axis=0)
            kinds["mean"][episode], kinds["std"][episode] = values.mean(axis=0), values.std(axis=0)

    def together(self, episodes: Sequence[int]) -> dict[str, dict[str, list[float] | list[int]]]:
        """Return the statistics of several episodes together, as LeRobot has them in `meta/stats.json`."""
        rows = list(episodes)
        result: dict[str, dict[str, list[float] | list[int]]] = {}
        for name, kinds in self.values.items():
            mean = kinds["mean"][rows].mean(axis=0)
            variance = (kinds["std"][rows] ** 2 + (kinds["mean"][rows] - mean) ** 2).mean(axis=0)
            result[name] = {
                "min": kinds["min"][rows].min(axis=0).tolist(),
                "max": kinds["max"][rows].max(axis=0).tolist(),
                "mean": mean.tolist(),
                "std": np.sqrt(variance).tolist(),
                "count": [len(rows) * self.count],
            }
        return result
