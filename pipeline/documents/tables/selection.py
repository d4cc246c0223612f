"""Columns of the files of one recording by name or number, each file opened once and its used columns read together."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from pipeline.documents.report import sentence
from pipeline.documents.tables.columns import RECORDED, Array, Bounds, Columns, unit_in_name
from pipeline.documents.tables.reader import open_columns
from pipeline.documents.units import UNITS
from pipeline.errors import refused
from robots.data_classes import dataclass
from robots.parameter_errors import nearest

Name = str | int
MEASURES: Mapping[str, tuple[str, ...]] = {
    "time": ("s",),
    "position": ("rad", "m"),
    "reference": ("rad", "m"),
    "velocity": ("rad/s", "m/s"),
    "force": ("N m", "N"),
    "actuators": ("rad", "m"),
    "joints": ("rad", "m"),
}
"""Units in SI of the signals of recordings."""
READINGS: Mapping[str, float] = {"A": 1.0, "mA": 1e-3, "%": 1e-2}
"""Units of drives that a gain turns into N m or N: force of one ampere, or of 100 %; their factors."""
SPELLINGS: Mapping[str, str] = {"°": "deg", "°/s": "deg/s", "1/min": "rpm", "U/min": "rpm"}
"""Other spellings of units in files."""
SHOWN = 12
"""Names of columns that a message lists."""


@dataclass(frozen=True)
class ColumnRequest:
    """Columns of one signal, by name or by number from 1; file: number of their file from 1, absent: any."""

    columns: tuple[Name, ...]
    file: int | None = None


@dataclass(frozen=True)
class Selected:
    """Signals (row, column) and units of their columns by the key of their request, and notes about rows left out."""

    signals: Mapping[str, Array]
    units: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...]


def select(
    recording: str,
    paths: Sequence[str | os.PathLike[str]],
    requests: Mapping[str, ColumnRequest],
    *,
    consecutive: bool = False,
    bounds: Bounds = RECORDED,
) -> Selected:
    """Read the columns of requests by key from the files of a recording.

    consecutive: files follow each other in time; otherwise their columns stand side by side. Raises InputError.
    """
    with ExitStack() as stack:
        files = [stack.enter_context(open_columns(path, bounds)) for path in paths]
        if not consecutive:
            return _side_by_side(recording, files, requests)
        parts = [_side_by_side(recording, [file], requests) for file in files]
    signals = {key: np.concatenate([part.signals[key] for part in parts]) for key in requests}
    for part, path in zip(parts, paths, strict=True):
        if part.units != parts[0].units:
            raise refused(
                str(path), "other units than the first file", "the same units in files that follow each other"
            )
    return Selected(signals, parts[0].units, tuple(note for part in parts for note in part.notes))


def _side_by_side(recording: str, files: Sequence[Columns], requests: Mapping[str, ColumnRequest]) -> Selected:
    places = {key: _places(recording, files, request, key) for key, request in requests.items()}
    used: dict[int, list[str]] = {}
    for file, name in (place for several in places.values() for place in several):
        used.setdefault(file, []).append(name)
    found = {k: files[k].read(names) for k, names in used.items()}
    signals, units = {}, {}
    for key, several in places.items():
        columns = [found[k].columns[name] for k, name in several]
        lengths = dict.fromkeys(len(column) for column in columns)
        if len(lengths) > 1:
            raise refused(recording, f"columns of {key} with {' and '.join(map(str, lengths))} rows", "as many in each")
        signals[key] = np.stack(columns, axis=1)
        units[key] = tuple(files[k].units.get(name, "") for k, name in several)
    notes = tuple(f"{Path(files[k].file).name}: {note}" for k in found for note in found[k].notes)
    return Selected(signals, units, notes)


def _places(recording: str, files: Sequence[Columns], request: ColumnRequest, key: str) -> list[tuple[int, str]]:
    """Return file and name of each column of a request. Raises InputError."""
    if request.file is not None and request.file > len(files):
        raise refused(recording, f"{key} in file {request.file} of {len(files)}", "one of its files")
    searched = range(len(files)) if request.file is None else [request.file - 1]
    names = (name for column in request.columns for name in _expanded(files, searched, column))
    return [_place(recording, files, searched, name, key) for name in names]


def _expanded(files: Sequence[Columns], searched: Iterable[int], name: Name) -> list[Name]:
    """Return the columns of a variable that has several, else the name itself."""
    pattern = re.compile(re.escape(str(name)) + r"\[[0-9]+\]")
    several: list[Name] = [column for k in searched for column in files[k].names if pattern.fullmatch(column)]
    return several if several and isinstance(name, str) else [name]


def _place(recording: str, files: Sequence[Columns], searched: Sequence[int], name: Name, key: str) -> tuple[int, str]:
    hits = [(k, column) for k in searched for column in _matching(files[k], name)]
    if len(hits) == 1:
        return hits[0]
    if hits:
        hint = "Say which by the key file, counted from 1."
        raise refused(recording, f"column {name!r} of {key} in {len(hits)} places", "one of them", hint)
    known = [column for k in searched for column in files[k].names]
    listed = f"{', '.join(known[:SHOWN])}{', ...' if len(known) > SHOWN else ''}"
    hint = sentence(f"It has {listed}; {nearest(str(name), known)}")
    raise refused(recording, f"no column {name!r} for {key}", "a column of the file", hint)


def _matching(file: Columns, name: Name) -> list[str]:
    """Return the columns of a file with this name or number."""
    if isinstance(name, int):
        return [file.names[name - 1]] if name <= len(file.names) else []
    if name in file.names:
        return [name]
    return [column for column in file.names if unit_in_name(column)[0] == name]


def unit_of(recording: str, selected: Selected, key: str, described: str | None) -> str | None:
    """Return the unit of a signal, by a description or by the file. Raises InputError where these differ."""
    said = sorted({SPELLINGS.get(unit, unit) for unit in selected.units[key]} - {""})
    if not said:
        return described
    if len(said) > 1:
        raise refused(recording, f"columns of {key} in {' and '.join(said)}", "columns in one unit")
    if key == "force" and said[0] in READINGS:
        if described not in (None, said[0]):
            raise _other_unit(recording, key, said[0], str(described))
        return said[0]
    if (unit := UNITS.get(said[0])) is None:
        if described is None:
            hint = f"Write unit: under {key}."
            raise refused(recording, f"{key} in {said[0]} by the file", "a unit that the description says", hint)
        return described
    measures = MEASURES.get(key, ())
    if measures and unit.si not in measures:
        raise refused(recording, f"{key} in {unit.name} by the file", f"a unit of {' or '.join(measures)}")
    if described is not None and (other := UNITS.get(described)) is not None and not unit.is_same(other):
        raise _other_unit(recording, key, unit.name, described)
    if key == "force" and described in READINGS:
        raise _other_unit(recording, key, unit.name, str(described))
    return described or unit.name


def _other_unit(recording: str, key: str, said: str, described: str) -> Exception:
    """Return the error of a file whose unit is not that of the description."""
    got = f"{key} in {said} by the file and in {described} by the description"
    return refused(recording, got, "one unit", f"Write unit: {said}, or mend the file.")
