"""Kinds of binary files by their first bytes."""

from __future__ import annotations

_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"\x89HDF": "HDF5",
    b"%PDF": "PDF",
    b"\x89PNG": "PNG",
    b"\x93NUMPY": "NumPy",
    b"PAR1": "Parquet",
    b"#ROSBAG": "a bag of ROS",
    b"SQLite format 3": "SQLite",
    b"\x89MCAP0": "MCAP",
    b"CDF\x01": "NetCDF",
    b"CDF\x02": "NetCDF",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "Zstandard",
}


def looks_binary(data: bytes) -> str:
    """Return the kind of a binary file by its first bytes; empty for text and kinds that are not known."""
    return next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), "")
