"""Read the columns of recorded files: CSV and other text, MAT, HDF5, Parquet, NPZ, bags of ROS.

A table is columns by name, in order, all of one length. Text has a header or none; a variable of an archive that has
several columns counts as that many, `name[1]` and so on.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.documents.files import decode, read_bytes
from pipeline.documents.report import sentence
from pipeline.errors import InputError, Problem
from robots.parameters import nearest

MAX_BYTES = 4 << 30
"""Bytes of a recording."""
DELIMITERS = (",", ";", "\t", None)

Table = dict[str, np.ndarray]


def read_table(path: str | os.PathLike[str]) -> Table:
    """Read the columns of a file, of the kind that its ending says. Raises InputError."""
    name = os.fspath(path)
    ending = os.path.splitext(name)[1].lower()
    if ending not in READERS:
        hint = "Convert it to one of these."
        raise InputError([Problem(name, 0, 0, "", f"the ending {ending!r}", f"one of {', '.join(READERS)}", hint)])
    data = read_bytes(name, MAX_BYTES)
    if not data:
        raise InputError([Problem(name, 0, 0, "", "an empty file", "a recording")])
    table = READERS[ending](data, name)
    if not table:
        raise InputError([Problem(name, 0, 0, "", "no columns of numbers", "columns of a recording")])
    return table


def refused(name: str, got: str, expected: str, hint: str = "") -> InputError:
    """The error of a file that cannot be used."""
    return InputError([Problem(name, 0, 0, "", got, expected, hint)])


def column_of(recording: str, tables: Sequence[Table], name: str | int, file: int | None, key: str) -> np.ndarray:
    """The column of a name or number in one of the files of a recording. Raises InputError."""
    searched = range(len(tables)) if file is None else [file - 1]
    if any(k >= len(tables) for k in searched):
        raise refused(recording, f"{key} in file {file} of {len(tables)}", "one of its files")
    hits = []
    for k in searched:
        table = tables[k]
        if isinstance(name, int):
            hits += [list(table.values())[name - 1]] if name <= len(table) else []
        elif name in table:
            hits.append(table[name])
    if len(hits) == 1:
        return hits[0]
    if hits:
        hint = "Say which by the key file, counted from 1."
        raise refused(recording, f"column {name!r} of {key} in {len(hits)} files", "one of them", hint)
    known = [column for k in searched for column in tables[k]]
    hint = f"It has {', '.join(known[:12])}{', ...' if len(known) > 12 else ''}; {nearest(str(name), known)}"
    raise refused(recording, f"no column {name!r} for {key}", "a column of the file", sentence(hint))


def _text(data: bytes, name: str) -> Table:
    lines = decode(data, name).splitlines()
    start = next((k for k, line in enumerate(lines) if line.strip() and not line.startswith(("#", "%"))), None)
    if start is None:
        raise refused(name, "no lines but comments", "rows of numbers")
    delimiter = next((mark for mark in DELIMITERS if mark is None or mark in lines[start]), None)
    cells = [cell.strip().strip('"') for cell in lines[start].split(delimiter)]
    header = not all(_is_number(cell) for cell in cells)
    names = cells if header else [str(k + 1) for k in range(len(cells))]
    if len(set(names)) < len(names):
        double = next(cell for cell in names if names.count(cell) > 1)
        raise refused(name, f"two columns {double!r}", "a name for each column", "Rename one of them.")
    rows = lines[start + header :]
    if not any(row.strip() for row in rows):
        raise refused(name, "no rows", "rows of numbers")
    try:
        values = np.loadtxt(io.StringIO("\n".join(rows)), delimiter=delimiter, comments=("#", "%"), ndmin=2)
    except ValueError as error:
        hint = f"Rows are counted from line {start + header + 1}."
        raise refused(name, f"text that is no table: {error}", "rows of as many numbers", hint) from None
    if values.shape[1] != len(names):
        raise refused(name, f"{len(names)} names and {values.shape[1]} columns", "as many of both")
    return dict(zip(names, np.ascontiguousarray(values.T), strict=True))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _mat(data: bytes, name: str) -> Table:
    if data[:8] == b"\x89HDF\r\n\x1a\n" or b"MATLAB 7.3" in data[:116]:
        return _hdf5(data, name)
    from scipy.io import loadmat

    try:
        variables = loadmat(io.BytesIO(data), squeeze_me=False)
    except Exception as error:  # its readers raise whatever a broken file leads to
        raise refused(name, f"a file that is no MAT file: {error}", "a MAT file") from None
    return _of_arrays({key: value for key, value in variables.items() if not key.startswith("__")})


def _hdf5(data: bytes, name: str) -> Table:
    try:
        import h5py
    except ImportError:
        raise refused(name, "no package h5py", "h5py, which reads HDF5", "Install limbsweep[hdf5].") from None
    try:
        with h5py.File(io.BytesIO(data), "r") as file:
            names: list[str] = []
            file.visit(names.append)
            arrays = {key: file[key][()] for key in names if isinstance(file[key], h5py.Dataset)}
    except OSError as error:
        raise refused(name, f"a file that is no HDF5 file: {error}", "an HDF5 file") from None
    return _of_arrays(arrays)


def _npz(data: bytes, name: str) -> Table:
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            return _of_arrays({key: file[key] for key in file.files})
    except (ValueError, OSError, KeyError) as error:
        raise refused(name, f"a file that is no archive of arrays: {error}", "an NPZ file without objects") from None


def _parquet(data: bytes, name: str) -> Table:
    try:
        from pyarrow import ArrowInvalid, parquet
    except ImportError:
        raise refused(
            name, "no package pyarrow", "pyarrow, which reads Parquet", "Install limbsweep[parquet]."
        ) from None
    try:
        table = parquet.read_table(io.BytesIO(data))
    except (ArrowInvalid, OSError) as error:
        raise refused(name, f"a file that is no Parquet file: {error}", "a Parquet file") from None
    columns = {key: table[key].to_numpy() for key in table.column_names}
    return {key: values.astype(float) for key, values in columns.items() if values.dtype.kind in "fiub"}


JOINT_STATE = "sensor_msgs/msg/JointState"
"""Messages of bags that have columns: positions, velocities and efforts of joints by name."""


def _bag(data: bytes, name: str) -> Table:
    """Columns of the joint states in a bag of ROS: `time` [s] and `position.NAME`, `velocity.NAME`, `effort.NAME`.

    Of several topics those with as many messages as the longest; columns then begin with the topic.
    """
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise refused(
            name, "no package rosbags", "rosbags, which reads bags of ROS", "Install limbsweep[ros]."
        ) from None
    path = Path(name)
    is_part = path.suffix in (".db3", ".mcap") and (path.parent / "metadata.yaml").is_file()
    series: dict[str, list[tuple[float, Any]]] = {}
    try:
        with AnyReader([path.parent if is_part else path], default_typestore=get_typestore(Stores.LATEST)) as reader:
            chosen = [connection for connection in reader.connections if connection.msgtype == JOINT_STATE]
            for connection, stamp, raw in reader.messages(connections=chosen) if chosen else ():
                message: Any = reader.deserialize(raw, connection.msgtype)
                sent = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
                series.setdefault(connection.topic, []).append((sent or 1e-9 * stamp, message))
    except Exception as error:  # its readers raise whatever a broken file leads to
        raise refused(name, f"a file that is no bag of ROS: {error}", "a bag of ROS 1 or 2") from None
    if not series:
        raise refused(name, f"no messages {JOINT_STATE}", "joint states", "Record the topic joint_states.")
    longest = max(len(messages) for messages in series.values())
    kept = {topic: messages for topic, messages in series.items() if len(messages) == longest}
    result: Table = {}
    for topic, messages in kept.items():
        prefix = f"{topic.strip('/')}." if len(kept) > 1 else ""
        result |= {f"{prefix}{key}": values for key, values in _joint_states(messages, name, topic).items()}
    return result


def _joint_states(messages: Sequence[tuple[float, Any]], name: str, topic: str) -> Table:
    times = np.array([time for time, _ in messages])
    result: Table = {"time": times - times[0]}
    joints = list(messages[0][1].name)
    for number, (_, message) in enumerate(messages):
        if list(message.name) != joints:
            got = f"other joints in message {number + 1} of {topic} than in the first"
            raise refused(name, got, "the same joints in all messages", "Record controllers one by one.")
    for key in ("position", "velocity", "effort"):
        rows = [np.asarray(getattr(message, key), dtype=float) for _, message in messages]
        if all(len(row) == len(joints) for row in rows):
            result |= {f"{key}.{joint}": column for joint, column in zip(joints, np.stack(rows).T, strict=True)}
    return result


def _of_arrays(arrays: Mapping[str, np.ndarray]) -> Table:
    """Columns of the arrays that are as long as the longest; others are settings, not signals."""
    tables = {}
    for key, value in arrays.items():
        array = np.asarray(value)
        if array.dtype.kind not in "fiub" or array.ndim > 2 or not array.size:
            continue
        matrix = np.atleast_2d(array.astype(float))
        matrix = matrix.T if matrix.shape[0] < matrix.shape[1] else matrix
        tables[key] = matrix
    longest = max((len(matrix) for matrix in tables.values()), default=0)
    result: Table = {}
    for key, matrix in tables.items():
        if len(matrix) == longest:
            several = matrix.shape[1] > 1
            result |= {f"{key}[{k + 1}]" if several else key: column for k, column in enumerate(matrix.T)}
    return result


READERS: Mapping[str, Callable[[bytes, str], Table]] = {
    ".csv": _text,
    ".txt": _text,
    ".dat": _text,
    ".tsv": _text,
    ".mat": _mat,
    ".h5": _hdf5,
    ".hdf5": _hdf5,
    ".npz": _npz,
    ".parquet": _parquet,
    ".bag": _bag,
    ".db3": _bag,
    ".mcap": _bag,
}
"""What reads each kind of file, by its ending."""
