"""Small stores that the tests of the storage package share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.layout import Layout, lengths
from storage.schema import Coordinate, lookup
from storage.store import StoreWriter, create

SIZES = {"design": 5, "friction": 2, "trajectory": 3, "time": 7, "actuator": 3, "limb": 2, "joint": 4, "axis": 3}
BLOCK = {"design": 2, "friction": 1, "trajectory": 2}
VARIABLES = ("status", "actuator_force", "joint_position", "platform_position", "peak_force", "failed_samples")
LAYOUT = Layout(SIZES, BLOCK, VARIABLES)
ATTRIBUTES = {"fingerprint": "f00d", "sweep": "robot: delta\nlength: 1\n", "Conventions": "CF-1.11"}
COORDINATES = (
    Coordinate("upper_arm", "design", (0.1, 0.2, 0.3, 0.4, 0.5), "m", "length of the upper arm"),
    Coordinate("time", "time", tuple(0.1 * k for k in range(7)), "s"),
    Coordinate("actuator", "actuator", ("limb1.arm", "limb2.arm", "limb3.arm")),
)


def store(path: Path, layout: Layout = LAYOUT) -> StoreWriter:
    """A new store and its writer."""
    coordinates = COORDINATES if layout is LAYOUT else ()
    create(path, layout, coordinates, ATTRIBUTES, flags={"OK": 0, "NOT_REACHABLE": 1})
    return StoreWriter(path)


def whole(layout: Layout, variable: str) -> NDArray[Any]:
    """A variable in which every element has a value of its own."""
    shape = layout.shape(variable)
    return np.arange(np.prod(shape)).reshape(shape).astype(lookup(variable).dtype)


def block(layout: Layout, index: int) -> dict[str, NDArray[Any]]:
    """The arrays that a block writes: its parts of the whole variables."""
    parts = {name: whole(layout, name)[layout.region(index, name)] for name in layout.owned(index)}
    assert all(part.shape == lengths(layout.region(index, name)) for name, part in parts.items())
    return parts
