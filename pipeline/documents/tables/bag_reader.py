"""Program that unpacks the joint states of a bag of ROS under bounds: `python -m ... BAG OUTPUT.npz BYTES`.

Columns are `time` [s] and `position.NAME`, `velocity.NAME`, `effort.NAME`. Of several topics those with as many
messages as the longest; columns then begin with the topic.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

JOINT_STATE = "sensor_msgs/msg/JointState"
"""Messages that have columns: positions, velocities and efforts of joints by name."""
OVERHEAD = 768 << 20
"""Bytes that the program has beside the columns."""
SECONDS = 100
SQLITE = b"SQLite format 3\0"
COMPUTED = (
    "SELECT name FROM sqlite_master WHERE type = 'view' OR sql LIKE 'create virtual%'",
    "SELECT m.name FROM sqlite_master m, pragma_table_xinfo(m.name) c WHERE m.type = 'table' AND c.hidden",
)
"""Queries for views and virtual tables of a database, and for tables with columns that reading computes."""

Series = dict[str, list[tuple[float, Any]]]


class RefusedBagError(Exception):
    """A bag that has no columns."""


def memory(values: int) -> int:
    """Return the bytes of memory that the program may take for columns of a size in bytes."""
    return OVERHEAD + 2 * values


def bag_columns(path: Path, values: int) -> dict[str, np.ndarray]:
    """Return the columns of a bag, `values` bytes at most. Raises RefusedBagError, and whatever its reader raises."""
    _require_stored(path)
    series = _messages(path, values)
    if not series:
        raise RefusedBagError(f"no messages {JOINT_STATE}; record the topic joint_states")
    longest = max(len(messages) for messages in series.values())
    kept = {topic: messages for topic, messages in series.items() if len(messages) == longest}
    result: dict[str, np.ndarray] = {}
    for topic, messages in kept.items():
        prefix = f"{topic.strip('/')}." if len(kept) > 1 else ""
        result |= {f"{prefix}{key}": column for key, column in _joint_states(messages, topic).items()}
    return result


def _require_stored(path: Path) -> None:
    """Refuse a database whose reading computes, because that may never end. Raises RefusedBagError."""
    with path.open("rb") as file:
        if file.read(len(SQLITE)) != SQLITE:
            return
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)) as base:
        for query in COMPUTED:
            if row := base.execute(query).fetchone():
                raise RefusedBagError(f"{row[0]!r:.60} is computed, not stored; record the topic joint_states")


def _messages(path: Path, values: int) -> Series:
    """Return times and messages of each topic with joint states."""
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    series: Series = {}
    taken = 0
    with AnyReader([path], default_typestore=get_typestore(Stores.LATEST)) as reader:
        states = [connection for connection in reader.connections if connection.msgtype == JOINT_STATE]
        for connection, stamp, raw in reader.messages(connections=states) if states else ():
            message: Any = reader.deserialize(raw, connection.msgtype)
            sent = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
            series.setdefault(connection.topic, []).append((sent or 1e-9 * stamp, message))
            if (taken := taken + 24 * len(message.name) + 8) > values:
                raise RefusedBagError(f"more than {values >> 20} MiB of joint states; cut it into several bags")
    return series


def _joint_states(messages: Sequence[tuple[float, Any]], topic: str) -> dict[str, np.ndarray]:
    times = np.array([time for time, _ in messages])
    result = {"time": times - times[0]}
    joints = list(messages[0][1].name)
    for number, (_, message) in enumerate(messages):
        if list(message.name) != joints:
            raise RefusedBagError(
                f"other joints in message {number + 1} of {topic} than in the first; record them one by one"
            )
    for key in ("position", "velocity", "effort"):
        rows = [np.asarray(getattr(message, key), dtype=float) for _, message in messages]
        if all(len(row) == len(joints) for row in rows):
            result |= {f"{key}.{joint}": column for joint, column in zip(joints, np.stack(rows).T, strict=True)}
    return result


def _limit(values: int) -> None:
    """Limit memory, time and file size of this process, if the system can."""
    try:
        import resource
    except ImportError:
        return
    for kind, bound in (
        (resource.RLIMIT_AS, memory(values)),
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_FSIZE, 2 * values),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (bound, bound))


def main() -> None:
    """Unpack a bag into a file; a fault is the last line of stderr, with exit status 1."""
    path, output, values = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    _limit(values)
    try:
        np.savez(output, allow_pickle=False, **bag_columns(path, values))
    except BaseException as error:  # readers raise whatever a broken file leads to
        sys.exit(f"{type(error).__name__}: {' '.join(str(error).split())}")


if __name__ == "__main__":
    main()
