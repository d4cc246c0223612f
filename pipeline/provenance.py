"""Who made a result and from what: global attributes of a store, the same on every machine but for the time.

Also the rule that follows from it: one result is computed by one set of versions, on all workers.
"""

from __future__ import annotations

import datetime
import platform
from collections.abc import Iterator, Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Any

from pipeline.errors import InputError, Problem

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
        "friction_law": ", ".join(group.law for group in sweep.friction.groups) or "none",
        "gravity": [float(x) for x in sweep.gravity],
        "sweep": sweep.text,
        "fingerprint": sweep.fingerprint,
        "versions": versions(),
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def require_same_versions(cluster: str, workers: Mapping[str, Any]) -> None:
    """See that every worker said what `versions` says here; `workers` has its answer, or an error, by address.

    Raises InputError about `cluster` with a line for each version that differs.
    """
    if problems := list(_differences(cluster, workers)):
        raise InputError(problems)


def _differences(cluster: str, workers: Mapping[str, Any]) -> Iterator[Problem]:
    here = versions()
    install = "Install the same versions on all machines; constraints.txt has a tested set."
    for address, found in workers.items():
        if isinstance(found, BaseException):
            got = f"no versions ({type(found).__name__}: {found})"
            yield Problem(cluster, 0, 0, f"worker {address}", got, "limbsweep to be installed there", install)
            continue
        for name, wanted in here.items():
            if (got := found.get(name, "not installed")) != wanted:
                yield Problem(cluster, 0, 0, f"worker {address}", f"{name} {got}", f"{name} {wanted} as here", install)


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
