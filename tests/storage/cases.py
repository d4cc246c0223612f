"""Small stores that the tests of the storage package share."""

from __future__ import annotations

import uuid
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from storage.completion import finish
from storage.growth import settled
from storage.layout import Layout
from storage.ledger import Ledger
from storage.manifest import Manifest
from storage.places.access import coordinator_lock, locate
from storage.places.location import LocationLike
from storage.schema import Coordinate, lookup
from storage.store import StoreWriter, create, open_results
from storage.variables import BlockGrid

SIZES = {"design": 5, "friction": 2, "trajectory": 3, "time": 7, "actuator": 3, "limb": 2, "joint": 4, "axis": 3}
BLOCK = {"design": 2, "friction": 1, "trajectory": 2}
QUANTITIES = ("status", "actuator_force", "joint_position", "platform_position", "peak_force", "failed_samples")
LAYOUT = Layout.of(BlockGrid(SIZES, BLOCK), QUANTITIES, steady=("status", "failed_samples"))
FEW = Layout.of(
    BlockGrid({"design": 3, "friction": 2, "trajectory": 1, "time": 4, "actuator": 3}, {"design": 2}),
    ("status", "actuator_force", "peak_force"),
    steady=("status",),
)
"""Four blocks, for tests that try each of their steps."""
ATTRIBUTES = {"fingerprint": "f00d", "sweep": "robot: delta\nlength: 1\n", "Conventions": "CF-1.11"}
COORDINATES = (
    Coordinate("upper_arm", "design", (0.1, 0.2, 0.3, 0.4, 0.5), "m", "length of the upper arm"),
    Coordinate("time", "time", tuple(0.1 * k for k in range(7)), "s"),
    Coordinate("actuator", "actuator", ("limb1.arm", "limb2.arm", "limb3.arm")),
)


def store(path: LocationLike, layout: Layout = LAYOUT) -> StoreWriter:
    """A new store and its writer."""
    coordinates = COORDINATES if layout is LAYOUT else ()
    create(path, layout, coordinates, ATTRIBUTES, flags={"OK": 0, "NOT_REACHABLE": 1})
    return StoreWriter(path)


def anywhere(kind: str, folder: Path) -> str:
    """A location for a store that is not there yet, by the kind of its URL."""
    return {
        "path": str(folder / "s.zarr"),
        "file": f"file://{folder}/s.zarr",
        "memory": f"memory://{uuid.uuid4().hex}/s",
    }[kind]


def whole(layout: Layout, variable: str) -> NDArray[Any]:
    """A variable in which every element has a value of its own, up to the range of its type."""
    shape = layout.variables[variable].shape
    return np.arange(np.prod(shape)).reshape(shape).astype(lookup(variable).dtype)


def lasting(layout: Layout, variable: str) -> NDArray[Any]:
    """A variable whose elements depend on their place alone, so that it stays the same when dims become longer."""
    places = np.indices(layout.variables[variable].shape)
    return sum((101**axis * each for axis, each in enumerate(places)), np.zeros(1)).astype(lookup(variable).dtype)


def fill(store: LocationLike, values: Any = whole, blocks: int | None = None) -> None:
    """Write the blocks that are missing, or some of them, and finish, as a run does."""
    location = locate(store)
    layout = Manifest.load(location).layout
    with coordinator_lock(location), Ledger.open(location, layout.blocks) as ledger:
        writer = StoreWriter(location)
        for index in list(ledger.remaining())[:blocks]:
            parts = {name: values(layout, name)[layout.variables[name].region(index)] for name in layout.owned(index)}
            ledger.append(writer.write(index, parts))
        if ledger.count == layout.blocks:
            ledger.sync()
            finish(location)


def digest(store: LocationLike) -> str:
    """One hash over names, shapes, types and bits of all variables and coordinates of a finished store."""
    open_results(store)  # may refuse; what follows reads the same without Dask, which takes most of the time
    dataset = xr.open_zarr(settled(store).zarr_store(), chunks=None, consolidated=True, decode_times=False)
    state = blake2b()
    for name in sorted(map(str, dataset.variables)):
        values = dataset[name].values
        data = "\0".join(values).encode() if values.dtype.kind in "UOT" else np.ascontiguousarray(values).tobytes()
        state.update(repr((name, dataset[name].dims, values.shape, values.dtype.kind)).encode() + data)
    return state.hexdigest()


def block(layout: Layout, index: int) -> dict[str, NDArray[Any]]:
    """The arrays that a block writes: its parts of the whole variables."""
    parts = {name: whole(layout, name)[layout.variables[name].region(index)] for name in layout.owned(index)}
    assert all(part.shape == layout.variables[name].region_shape(index) for name, part in parts.items())
    return parts
