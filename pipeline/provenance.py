"""Who made a result and from what: global attributes of a store, the same on every machine but for the time."""

from __future__ import annotations

import datetime
import platform
from importlib import metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline.sweep import Sweep

COMPUTES = ("numpy", "scipy", "llvmlite", "zarr", "numcodecs", "xarray", "dask", "distributed")
"""Packages whose version may matter to a result or its file."""


def versions() -> dict[str, str]:
    """Versions of limbsweep, Python and the packages that compute and store."""
    return {"python": platform.python_version(), **{name: _version(name) for name in ("limbsweep", *COMPUTES)}}


def attributes(sweep: Sweep) -> dict[str, Any]:
    """Attributes of the dataset: conventions, title, the sweep and its fingerprint, versions, time."""
    return {
        "Conventions": "CF-1.11",
        "title": sweep.title or f"{sweep.robot}: inverse dynamics",
        "robot": sweep.robot,
        "parameters": {name: float(value) for name, value in sweep.parameters.items()},
        "friction_law": sweep.friction.law,
        "gravity": [float(x) for x in sweep.gravity],
        "sweep": sweep.text,
        "fingerprint": sweep.fingerprint,
        "versions": versions(),
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
