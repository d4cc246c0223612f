"""Motions of the trajectories of a block, the root of its graph, and their parts in time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from robots.data_classes import dataclass
from tasks.kernels.kernel import padded
from tasks.kernels.keys import Values


@dataclass(frozen=True)
class Motions:
    """The root of a block's graph: motion inputs (trajectory, component, padded time), the same for all designs.

    `load` (trajectory, 6, padded time) is the wrench on the platform, in world axes; None without loads. `signals`
    (signal, padded time) are the signals of the family, and `field` (9, padded time) the inertial effects of a moving
    base on bodies; both are the same for all trajectories, and None without them.
    """

    motion: np.ndarray
    load: np.ndarray | None = None
    signals: np.ndarray | None = None
    field: np.ndarray | None = None
    shared: Mapping[str, np.ndarray] | None = None
    """Weights and preload for sharing forces among actuators, see `Block.switched_values`."""

    def __len__(self) -> int:
        return len(self.motion)

    def values(self, trajectory: int) -> Values:
        """Return the sample inputs of the stages on a trajectory, (1, component, padded time)."""
        load = None if self.load is None else self.load[trajectory]
        others = {"load": load, "signals": self.signals, "gravity": self.field}
        known: Values = {name: values[None] for name, values in others.items() if values is not None}
        known |= {name: values[None] for name, values in (self.shared or {}).items()}
        return {"motion": self.motion[trajectory][None], **known}


TIMED = 3
"""Dims of values that change with time: case, component, time."""


class TrajectoryPart(NamedTuple):
    """A part of a trajectory, in whole groups of lanes: where it begins, how wide it lies, how many samples it has."""

    start: int
    width: int
    samples: int

    def of(self, values: Values) -> Values:
        """Return the same values for this part alone: its samples of arrays over time."""
        columns = slice(self.start, self.start + self.width)
        return {key: array[..., columns] if array.ndim == TIMED else array for key, array in values.items()}


def parts(samples: int, most: int) -> list[TrajectoryPart]:
    """Return the parts of a trajectory, none of more samples than `most`."""
    bounds = [(start, min(start + most, samples)) for start in range(0, samples, most)]
    return [TrajectoryPart(start, padded(end - start), end - start) for start, end in bounds]
