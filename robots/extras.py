"""Optional packages and the extras of limbsweep that bring them."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping

EXTRAS: Mapping[str, str] = {
    "casadi": "casadi",
    "h5py": "hdf5",
    "matplotlib": "report",
    "mujoco": "mujoco",
    "netCDF4": "netcdf",
    "plotly": "report",
    "pyarrow": "parquet",
    "rosbags": "ros",
    "torch": "torch",
}
"""Extra that brings each optional package."""


class MissingExtraError(ImportError):
    """An optional package that is not installed. Its message says how to install it."""


def require_extra(package: str, extra: str | None = None) -> None:
    """Check that an optional package is installed; extra: the one that brings it, absent: as EXTRAS has it.

    Raises MissingExtraError.
    """
    if importlib.util.find_spec(package) is None:
        name = extra or EXTRAS[package]
        raise MissingExtraError(
            f'{package}: not installed; expected the extra {name}. Install it: pip install "limbsweep[{name}]"'
        )
