"""Bags of ROS 1 and 2 with joint states of a table: time, three positions, three efforts; as bytes, too."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

JOINT_STATE = "sensor_msgs/msg/JointState"
JOINTS = ["a", "b", "c"]
BEGIN = 100_000_000_000
"""Time of the first message [ns]."""


def bag_of_ros_1(path: Path, table: np.ndarray, topics: Sequence[str] = ("/joint_states",)) -> Path:
    """Write a new bag of ROS 1."""
    rosbag1 = pytest.importorskip("rosbags.rosbag1")
    typesys = pytest.importorskip("rosbags.typesys")
    store = typesys.get_typestore(typesys.Stores.ROS1_NOETIC)
    kinds = store.types
    with rosbag1.Writer(path) as writer:
        for topic in topics:
            connection = writer.add_connection(topic, JOINT_STATE, typestore=store)
            for number, row in enumerate(table):
                stamp = kinds["builtin_interfaces/msg/Time"](sec=100, nanosec=round(row[0] * 1e9))
                header = kinds["std_msgs/msg/Header"](seq=number, stamp=stamp, frame_id="")
                message = kinds[JOINT_STATE](header, JOINTS, row[1:4], np.zeros(0), row[4:])
                writer.write(connection, BEGIN + round(row[0] * 1e9), store.serialize_ros1(message, JOINT_STATE))
    return path


def bag_of_ros_2(folder: Path, table: np.ndarray, plugin: str = "SQLITE3") -> Path:
    """Write a new bag of ROS 2; the file with its messages."""
    rosbag2 = pytest.importorskip("rosbags.rosbag2")
    typesys = pytest.importorskip("rosbags.typesys")
    store = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
    kinds = store.types
    with rosbag2.Writer(folder, version=9, storage_plugin=rosbag2.StoragePlugin[plugin]) as writer:
        connection = writer.add_connection("/joint_states", JOINT_STATE, typestore=store)
        for row in table:
            nanoseconds = BEGIN + round(row[0] * 1e9)
            stamp = kinds["builtin_interfaces/msg/Time"](*divmod(nanoseconds, 10**9))
            header = kinds["std_msgs/msg/Header"](stamp=stamp, frame_id="")
            message = kinds[JOINT_STATE](header, JOINTS, row[1:4], np.zeros(0), row[4:])
            writer.write(connection, nanoseconds, store.serialize_cdr(message, JOINT_STATE))
    (part,) = [path for path in folder.iterdir() if path.suffix in (".db3", ".mcap")]
    return part


SMALL = np.random.default_rng(1).normal(size=(8, 7)) * 0.1 + np.linspace(1.0, 2.0, 8)[:, None] * np.eye(7)[0]
BAGS: Mapping[str, Callable[[Path], Path]] = {
    "bag": lambda folder: bag_of_ros_1(folder / "a.bag", SMALL),
    "db3": lambda folder: bag_of_ros_2(folder / "run", SMALL),
    "mcap": lambda folder: bag_of_ros_2(folder / "run", SMALL, "MCAP"),
}
"""Writers of a small bag by the ending of its file."""


def bag_bytes(ending: str) -> bytes:
    """Return the content of a small bag."""
    with tempfile.TemporaryDirectory() as folder:
        return BAGS[ending](Path(folder)).read_bytes()
