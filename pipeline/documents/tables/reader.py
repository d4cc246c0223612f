"""Read a table of a file of any kind: as columns on request (recordings), or strictly as a whole (side files).

A kind of file is a row of FORMATS: endings of names, first bytes, and the function that opens it.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import IO, Any, Literal, cast

import numpy as np

from pipeline.documents.files import decode, open_regular
from pipeline.documents.tables.columns import RECORDED, SIDE, Bounds, Columns, Variable, columns_of
from pipeline.documents.tables.strict_csv import parse_csv
from pipeline.documents.tables.table import Table, table
from pipeline.errors import refused
from robots.data_classes import dataclass
from robots.loading import load_module

ENDING = ".gz"
HDF5_MARK = b"\x89HDF\r\n\x1a\n"
HEAD = 1024
"""First bytes of files by kind; those of MATLAB 7.3 have the mark of HDF5 behind a text."""


def function_in(home: str) -> Callable[..., Any]:
    """Return a function of a module of this package, which is imported at the first use: most sweeps read no tables."""
    module, _, name = home.partition(":")
    function: Callable[..., Any] = getattr(load_module(f"{__package__}.{module}"), name)
    return function


@dataclass(frozen=True)
class Format:
    """A kind of file: its endings, and the function that opens it, as `module:function` of this package.

    The function gives variables or columns of a stream, or columns of a path.
    """

    name: str
    endings: tuple[str, ...]
    gives: Literal["variables", "columns", "columns of a path"]
    home: str

    @property
    def open(self) -> Callable[..., Any]:
        """The function."""
        return function_in(self.home)


TEXT = Format("text", (".csv", ".txt", ".dat", ".tsv"), "columns", "text:open_text")
JSON_LINES = Format("lines of JSON", (".jsonl", ".ndjson"), "columns", "json_lines:open_json_lines")
HDF5 = Format("HDF5", (".h5", ".hdf5", ".nc4"), "variables", "hdf5:hdf5_variables")
BAG = Format("bag of ROS", (".bag", ".db3", ".mcap"), "columns of a path", "bags:open_bag")
FORMATS = (
    TEXT,
    JSON_LINES,
    Format("NPY", (".npy",), "variables", "numpy_files:npy_variables"),
    Format("NPZ", (".npz",), "variables", "numpy_files:npz_variables"),
    Format("workbook of Excel", (".xlsx", ".xlsm"), "columns", "excel:open_excel"),
    Format("Parquet", (".parquet",), "columns", "arrow:open_parquet"),
    Format("MAT", (".mat",), "variables", "matlab:mat_variables"),
    HDF5,
    Format("NetCDF", (".nc", ".cdf"), "variables", "netcdf:netcdf_variables"),
    BAG,
)
RECORDINGS: Mapping[str, Format] = {ending: kind for kind in FORMATS for ending in kind.endings}
"""Kinds of recordings by the ending of a file, before `.gz` where it is behind gzip."""
SIDE_FILES: Mapping[str, Format] = {
    ending: kind
    for ending, kind in RECORDINGS.items()
    if kind is not BAG and kind is not JSON_LINES and (kind is not TEXT or ending == ".csv")
}
"""Kinds of files beside a sweep by ending; text is CSV with a header, without tolerance."""


def is_recording_name(name: str) -> bool:
    """Return whether a file has the ending of a recording, behind gzip too."""
    return os.path.splitext(_without_gzip(name))[1].lower() in RECORDINGS


def _without_gzip(name: str) -> str:
    return name[: -len(ENDING)] if name.lower().endswith(ENDING) else name


@contextmanager
def open_columns(path: str | os.PathLike[str], bounds: Bounds = RECORDED) -> Iterator[Columns]:
    """Open the columns of a file, of the kind of its ending; values are read at their first use. Raises InputError."""
    name = os.fspath(path)
    plain_name = _without_gzip(name)
    is_packed = plain_name != name
    kind = _kind(plain_name, name, RECORDINGS)
    if is_packed and kind is BAG:
        raise refused(name, f"a {kind.name} behind gzip", "the file without gzip", "Unpack it first.")
    with (
        open_regular(name, bounds.file) as file,
        function_in("gzipped:unpacked")(file, name, bounds) if is_packed else nullcontext(file) as stream,
    ):
        if not os.fstat(stream.fileno()).st_size:
            raise refused(name, "an empty file", "a recording")
        columns = _opened(_by_content(kind, stream), stream, name, bounds)
        if not columns.names:
            raise refused(name, "no columns of numbers", "columns of a recording")
        yield columns


def parse_table(
    data: bytes,
    name: str,
    shown: str = "",
    positions: Sequence[str] = (),
    labels: Sequence[str] = (),
    bounds: Bounds = SIDE,
) -> Table:
    """Parse a whole table from the content of a file, of the kind of the ending of `name`.

    `shown` is its name in messages, if that is another one; `positions` are the names of the columns of an array
    without names; columns of `labels` may be texts in a CSV file. Raises InputError for any cell that is no finite
    number.
    """
    shown = shown or name
    kind = _kind(name, shown, SIDE_FILES)
    if kind is TEXT:
        return parse_csv(decode(data, shown), shown, labels)
    stream = io.BytesIO(data)
    kind = _by_content(kind, stream)
    if kind.gives != "variables":
        columns = _opened(kind, stream, shown, bounds)
        if columns.others:
            raise refused(shown, f"the column {columns.others[0]!r} without numbers", "numbers")
        return table(columns.read(columns.names).columns.items(), shown)
    variables: list[Variable] = kind.open(stream, shown, bounds)
    bounds.check_columns(shown, len(variables))
    bounds.check_values(shown, ((each.name, each.shape, max(each.dtype.itemsize, 8)) for each in variables))
    if texts := [each.name for each in variables if each.dtype.hasobject]:
        raise refused(shown, f"texts or objects in the column {texts[0]}", "numbers")
    if [each.name for each in variables] == [""]:
        return table(_positioned(variables[0], shown, positions), shown)
    is_matrix = kind.name == "MAT"
    return table(((each.name, _column(each.load(), is_matrix)) for each in variables), shown)


def _positioned(variable: Variable, shown: str, positions: Sequence[str]) -> list[tuple[str, np.ndarray]]:
    """Return the columns of an array without names by their place. Raises InputError."""
    got = f"an array of shape {variable.shape}"
    if not positions:
        hint = "Save a structured array, or a .npz with an array for each name."
        raise refused(shown, f"{got} without names", "columns with names", hint)
    if len(variable.shape) != 2 or variable.shape[1] != len(positions):
        raise refused(shown, got, f"shape (points, {len(positions)}): {', '.join(positions)}")
    return list(zip(positions, np.asarray(variable.load()).T, strict=True))


def _column(array: np.ndarray, is_matrix: bool) -> np.ndarray:
    """Return an array as a column; all arrays of MATLAB have two dims."""
    return array.ravel() if is_matrix and array.size == max(array.shape) else array


def _kind(name: str, shown: str, kinds: Mapping[str, Format]) -> Format:
    ending = os.path.splitext(name)[1].lower()
    if ending not in kinds:
        raise refused(shown, f"the ending {ending!r}", f"one of {', '.join(kinds)}", "Convert it to one of these.")
    return kinds[ending]


def _by_content(kind: Format, stream: IO[bytes]) -> Format:
    """Return the kind of a file whose ending stands for two: MAT and NetCDF are HDF5 in later versions."""
    head = stream.read(HEAD)
    stream.seek(0)
    is_hdf5 = HDF5_MARK in (head[:8], head[512:520])
    return HDF5 if is_hdf5 and kind.name in ("MAT", "NetCDF") else kind


def _opened(kind: Format, stream: IO[bytes], file: str, bounds: Bounds) -> Columns:
    """Return the columns of a file, or its arrays by name if it has no columns."""
    given = kind.open(file if kind is BAG else stream, file, bounds)
    return columns_of(file, _named(given), bounds) if kind.gives == "variables" else cast(Columns, given)


def _named(variables: Sequence[Variable]) -> list[Variable]:
    """Return variables with names; the columns of the one array of a file without names are counted."""
    if [each.name for each in variables] != [""]:
        return list(variables)
    (whole,) = variables
    if len(whole.shape) != 2:
        return [Variable("1", whole.shape, whole.dtype, whole.load)]
    loaded: list[np.ndarray] = []

    def column(k: int) -> np.ndarray:
        if not loaded:
            array = np.asarray(whole.load())
            loaded.append(array if array.shape[0] >= array.shape[1] else array.T)
        return loaded[0][:, k]

    rows, count = max(whole.shape), min(whole.shape)
    return [Variable(str(k + 1), (rows,), whole.dtype, partial(column, k)) for k in range(count)]
