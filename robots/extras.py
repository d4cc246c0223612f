"""Optional packages, and the extras of limbsweep that install them: one message for all missing packages."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping

EXTRAS: Mapping[str, str] = {
    "casadi": "casadi",
    "cryptography": "certificates",
    "h5py": "hdf5",
    "mujoco": "mujoco",
    "netCDF4": "netcdf",
    "openpyxl": "excel",
    "plotly": "report",
    "pyarrow": "parquet",
    "jax": "jax",
    "rosbags": "ros",
    "torch": "torch",
}
"""Extra that brings each optional package."""


class MissingExtraError(ImportError):
    """An optional package that is not installed. Its message says how to install it; the command line exits with 2."""


def require_extra(package: str, extra: str | None = None) -> None:
    """Check that an optional package is installed. Raises MissingExtraError.

    extra: the extra of limbsweep that installs the package; absent: its entry in EXTRAS.
    """
    if importlib.util.find_spec(package) is None:
        advice = how_to_install(extra or EXTRAS[package])
        raise MissingExtraError(f"{package}: got no such package; expected it to be installed. {advice}")


def how_to_install(extra: str) -> str:
    """Return the sentence with the command that installs an extra."""
    return f'Install it: pip install "limbsweep[{extra}]"'
