"""What another engine is asked for, and in which arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Motion:
    """Positions, rates and accelerations of all joints of a tree (sample, body), C order; gravity (3,)."""

    q: Array
    qd: Array
    qdd: Array
    gravity: tuple[float, float, float]


@dataclass(frozen=True)
class Call:
    """The quickest way that an engine's user can go, on one thread: `run` gives the result; `way` says how it goes."""

    run: Callable[[], Array]
    way: str
    remark: str = field(default="", compare=False)
