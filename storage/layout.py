"""Layout of a result set in blocks, shards and chunks: arithmetic on plain integers, no files.

A block is a range of designs, friction sets and trajectories with all their times. In a simulation it is also a
range of sets of gains and of initial states, where these are cut. Each variable has one shard, that is one file,
for each of its block regions, so that blocks never share a file and may be written in any order, by any process. A
variable without one of the split dims has the same region in several blocks; the first of these owns it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

from robots.data_classes import dataclass, replace
from robots.dims import FRICTION, selected_dims
from robots.quantities import Quantity
from robots.quantities import simulated as simulated_row
from storage.errors import StoreError
from storage.schema import NAME, lookup
from storage.variables import SPLIT, WHERE_VARIED, BlockGrid, Source, StoredVariable

ROW = ("name", "dims", "units", "long_name", "frame", "kind", "dtype")
"""Fields of a user's own metric in a manifest, in this order."""

SHARD_LIMIT = 1 << 30
"""Bytes of the largest shard: one has to fit in memory several times over, and Blosc ends at 2 GiB."""

MAX_FILES = 2 * 10**6
"""Files of a store; a plan is refused above half as many."""

COORDINATE_CHUNK = 1 << 16
"""Values in a file of a coordinate along a dim that can grow: the same before and after, so both can be read."""

METADATA_FILES = 5
"""Files of a store beside arrays and coordinates: group metadata, manifest, ledger, log and lock."""


@dataclass(frozen=True)
class Layout:
    """Blocks of a result set, and the variables that are stored, by name. Made by `Layout.of`."""

    grid: BlockGrid
    variables: dict[str, StoredVariable]

    @classmethod
    def of(
        cls,
        grid: BlockGrid,
        names: Sequence[str],
        *,
        steady: Sequence[str] = (),
        selected: Sequence[str] = (),
        own: Sequence[Quantity] = (),
        later: Sequence[Quantity] = (),
    ) -> Layout:
        """Return the layout of variables with these names in blocks of a grid.

        Friction does not change variables that are `steady`; of `selected` variables only some joints or links are
        stored. Rows of `own` functions of a user and of a `later` version (`storage.later`) are not in the schema.
        Raises StoreError for a dim without a size, an unknown variable, or a shard above `SHARD_LIMIT`.
        """
        if not names or len({*names}) < len(names):
            raise StoreError(f"a layout got the variables {tuple(names)}; expected one or more, each once")
        described = {row.name: row for row in (*own, *later)}
        variables = {}
        for name in names:
            is_steady, is_selected = name in steady, name in selected
            if name in described:
                source: Source = "later" if described[name] in later else "own"
                row = described[name]
            else:
                source, row = "schema", simulated_row(lookup(name)) if grid.simulated else lookup(name)
            if source != "later":
                row = replace(row, dims=_dims(row, grid, is_steady=is_steady, is_selected=is_selected))
            variables[name] = StoredVariable(row, grid, is_steady, is_selected, source)
        return cls(grid, variables)

    def __post_init__(self) -> None:
        for dim in (*SPLIT, *(dim for variable in self.variables.values() for dim in variable.dims)):
            if dim not in self.sizes:
                raise StoreError(f"the layout has no size for {dim!r}; got sizes of {', '.join(self.sizes)}")
        for variable in self.variables.values():
            if (size := variable.shard_bytes) > SHARD_LIMIT:
                raise StoreError(
                    f"a block of {variable.name} holds {size} bytes; expected at most {SHARD_LIMIT}; make blocks "
                    "shorter or time steps fewer"
                )

    @cached_property
    def _text(self) -> str:
        return json.dumps(self.as_dict())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle names, which are short: rows are looked up again, once in a process."""
        return _from_text, (self._text, self.later)

    def moved(self, *, sizes: Mapping[str, int] | None = None, block: Mapping[str, int] | None = None) -> Layout:
        """Return the same variables with other sizes of dims, or in other blocks."""
        grid = replace(self.grid, sizes=sizes or self.sizes, block=block or self.block)
        return Layout(grid, {name: replace(variable, grid=grid) for name, variable in self.variables.items()})

    @property
    def sizes(self) -> Mapping[str, int]:
        """Sizes of all dims."""
        return self.grid.sizes

    @property
    def block(self) -> Mapping[str, int]:
        """Lengths of a block along the dims that are cut."""
        return self.grid.block

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return self.grid.blocks

    @property
    def later(self) -> tuple[Quantity, ...]:
        """Rows of variables that only a later version knows."""
        return tuple(variable.row for variable in self.variables.values() if variable.source == "later")

    @property
    def own(self) -> tuple[Quantity, ...]:
        """Rows of variables of a user's own, which the schema does not know."""
        return tuple(variable.row for variable in self.variables.values() if variable.source == "own")

    @property
    def dims(self) -> frozenset[str]:
        """Dims of all variables."""
        return frozenset(dim for variable in self.variables.values() for dim in variable.dims)

    def place(self, index: int, within: tuple[int, int, int]) -> tuple[int, int, int]:
        """Convert the indices of a case within a block to its indices in the whole result set.

        Indices count along design, friction and trajectory.
        """
        bounds = self.grid.bounds(index)
        design, friction, trajectory = (bounds[dim].start + at for dim, at in zip(SPLIT, within, strict=True))
        return design, friction, trajectory

    def owned(self, index: int) -> dict[str, StoredVariable]:
        """Return the variables that a block writes, a status last: it says that the others are there."""
        owned = (variable for variable in self.variables.values() if variable.is_owned(index))
        ordered = sorted(owned, key=lambda variable: variable.row.kind == "status")
        return {variable.name: variable for variable in ordered}

    @property
    def bytes(self) -> int:
        """Bytes of all variables, before compression."""
        return sum(variable.bytes for variable in self.variables.values())

    def block_bytes(self, index: int) -> int:
        """Return the bytes that a block writes, before compression."""
        return sum(variable.region_bytes(index) for variable in self.owned(index).values())

    def writing_bytes(self, index: int) -> int:
        """Return the most bytes for writing a block besides its arrays: one variable compressed, the next under way."""
        return sum(sorted(variable.region_bytes(index) for variable in self.owned(index).values())[-2:])

    @property
    def files(self) -> int:
        """Number of files, without those of coordinates."""
        return METADATA_FILES + sum(1 + variable.shards for variable in self.variables.values())

    def require_files(self) -> None:
        """Refuse more files than a store may have: memory of all who open it grows with them. Raises StoreError."""
        if self.files > MAX_FILES:
            raise StoreError(f"a store of {self.blocks} blocks has {self.files} files; expected at most {MAX_FILES}")

    def as_dict(self) -> dict[str, Any]:
        """Return the layout as plain data."""
        variables = self.variables.values()
        plain: dict[str, Any] = {
            "sizes": dict(self.sizes),
            "block": dict(self.block),
            "variables": list(self.variables),
            "steady": [variable.name for variable in variables if variable.is_steady],
        }
        if self.own:
            plain["own"] = [{key: getattr(row, key) for key in ROW} for row in self.own]
        if self.grid.simulated:
            plain["simulated"] = True
        if selected := [variable.name for variable in variables if variable.is_selected]:
            plain["selected"] = selected
        return plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], later: tuple[Quantity, ...] = ()) -> Layout:
        """Return the layout in plain data, without the rows `later`, which are no part of that data.

        Raises KeyError, TypeError, ValueError or StoreError where it is no layout.
        """
        grid = BlockGrid(dict(data["sizes"]), dict(data["block"]), bool(data.get("simulated", False)))
        steady, selected = (tuple(data.get(key, ())) for key in ("steady", "selected"))
        own = tuple(_user_metric(row) for row in data.get("own", ()))
        return cls.of(grid, tuple(data["variables"]), steady=steady, selected=selected, own=own, later=later)


@lru_cache(maxsize=16)
def _from_text(text: str, later: tuple[Quantity, ...]) -> Layout:
    return Layout.from_dict(json.loads(text), later)


def _dims(row: Quantity, grid: BlockGrid, *, is_steady: bool, is_selected: bool) -> tuple[str, ...]:
    """Return the dims that a variable has here."""
    dims = selected_dims(row.dims) if is_selected else row.dims
    absent = {dim for dim in WHERE_VARIED if dim not in grid.sizes} if grid.simulated else set[str]()
    return tuple(dim for dim in dims if dim not in absent and not (is_steady and dim == FRICTION))


def _user_metric(row: Mapping[str, Any]) -> Quantity:
    """Return the row of a user metric. Raises KeyError or ValueError where the data are no such row."""
    name, dims, units, long_name, frame, _, dtype = (row[key] for key in ROW)
    if not isinstance(name, str) or not NAME.fullmatch(name):  # it becomes the name of a folder
        raise ValueError(f"a variable named {name!r:.200}")
    return Quantity(name, tuple(dims), units, long_name, "user", frame, dtype=dtype)
