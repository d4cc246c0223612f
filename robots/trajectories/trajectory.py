"""A trajectory of a robot as plain data: what a sweep reads from its file, and what the tasks of a block evaluate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robots.trajectories.kinds import Turn
from robots.trajectories.load import PlatformLoad


class SweptValue(NamedTuple):
    """A number of a trajectory that is swept: the coordinate that has it, its unit, the number."""

    coordinate: str
    unit: str
    value: float


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion of a robot: its kind, all parameters of that kind (SI, defaults included), its points.

    Kinds and parameters are those of `robots.trajectories.kinds`. `points` is (points, 1 + coordinates): t [s], then x,
    y, z [m] or the independent joints of a chain; None for a kind that reads no file. `turn` is how a platform turns
    meanwhile; None: it is held as at the reference pose. `load` is what acts on it meanwhile. Its `name` in the sweep
    plays no part in what is computed.
    """

    kind: str
    values: Mapping[str, Any]
    points: NDArray[np.float64] | None = None
    turn: Turn | None = None
    load: PlatformLoad | None = None
    name: str = ""
    swept: tuple[SweptValue, ...] = ()
    """What the trajectories of one section differ in."""
