"""Provenance: global attributes of a store, the same on every machine but for the time.

Also the rule that follows from it: one result is computed by one set of versions, on all workers.
"""

from __future__ import annotations

import datetime
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from typing import TYPE_CHECKING, Any

from pipeline.errors import LIMIT, InputError, Problem
from storage.sources import table

if TYPE_CHECKING:
    from pipeline.sweep.model import Sweep

COMPUTES = ("numpy", "scipy", "llvmlite", "zarr", "numcodecs", "xarray", "dask", "distributed")
"""Packages whose version may matter to a result or its file."""


SWEEP_FINGERPRINT = "sweep_fingerprint"
"""Attribute of a store with metrics of a user's own: the fingerprint of its sweep without them."""


def versions() -> dict[str, str]:
    """Versions of limbsweep, Python and the packages that compute and store."""
    return {"python": platform.python_version(), **{name: _version(name) for name in ("limbsweep", *COMPUTES)}}


def attributes(sweep: Sweep) -> dict[str, Any]:
    """Attributes of the dataset: conventions, title, the sweep and its fingerprint, versions, time."""
    return {
        "Conventions": "CF-1.11",
        "title": sweep.title or f"{sweep.robot}: {'simulation' if sweep.simulation else 'inverse dynamics'}",
        "robot": sweep.robot,
        "parameters": {name: float(value) for name, value in sweep.parameters.items()},
        "friction_law": ", ".join(group.law for group in sweep.friction.groups) or "none",
        **({"gravity": [float(x) for x in sweep.gravity]} if sweep.gravities(0, 1) is None else {}),
        "precision": sweep.precision,
        "sweep": sweep.text,
        "fingerprint": sweep.fingerprint,
        **_user_metrics(sweep),
        **table(sweep.sources),
        "versions": versions(),
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def _user_metrics(sweep: Sweep) -> dict[str, Any]:
    """Fingerprints of the functions of user metrics, and of the sweep without them; nothing where there are none."""
    if not sweep.user_metrics:
        return {}
    functions = {metric.name: metric.fingerprint for metric in sweep.user_metrics}
    return {"own_metrics": functions, SWEEP_FINGERPRINT: replace(sweep, user_metrics=()).fingerprint}


def require_same_versions(cluster: str, workers: Mapping[str, Any]) -> None:
    """See that every worker said what `versions` says here; `workers` has its answer, or an error, by address.

    Raises InputError about `cluster` with a line for each version that differs and the workers that have it, then all
    as a table.
    """
    if differences := _differences(workers):
        raise VersionError(cluster, differences)


@dataclass(frozen=True)
class Difference:
    """A package whose version is not the one here, what it is instead, and where."""

    package: str
    here: str
    there: str
    workers: tuple[str, ...]


class VersionError(InputError):
    """Workers that would compute with other versions."""

    def __init__(self, cluster: str, differences: Sequence[Difference]) -> None:
        self.differences = tuple(differences)
        super().__init__(_problem(cluster, difference) for difference in differences)

    def __str__(self) -> str:
        """The lines of the problems, and the table where there are several."""
        if len(self.differences) == 1:
            return super().__str__()
        rows = [("package", "here", "there", "workers")]
        rows += [(row.package, row.here, row.there, _some(row.workers)) for row in self.differences[:LIMIT]]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        table = ("  ".join(cell.ljust(width) for cell, width in zip(row, (*widths, 0), strict=True)) for row in rows)
        return "\n".join((super().__str__(), *table))


def _problem(cluster: str, difference: Difference) -> Problem:
    word = "worker" if len(difference.workers) == 1 else "workers"
    absent = difference.there.startswith("without")
    expected = "limbsweep to be installed there" if absent else f"{difference.package} {difference.here} as here"
    hint = "Install the same versions on all machines; constraints.txt has a tested set."
    hint += " A checkout and an installed wheel do not work together." if absent else ""
    return Problem(
        cluster, 0, 0, f"{word} {_some(difference.workers)}", f"{difference.package} {difference.there}", expected, hint
    )


def _differences(workers: Mapping[str, Any]) -> list[Difference]:
    here = versions()
    places: dict[tuple[str, str], list[str]] = {}
    for address, answer in workers.items():
        if isinstance(answer, BaseException):
            text = f"without an answer ({type(answer).__name__}: {answer})"
            places.setdefault(("limbsweep", text), []).append(address)
            continue
        for name, expected in here.items():
            if (got := answer.get(name, "not installed")) != expected:
                places.setdefault((name, got), []).append(address)
    return [Difference(name, here[name], there, tuple(addresses)) for (name, there), addresses in places.items()]


def _some(workers: Sequence[str]) -> str:
    """Addresses of workers, two at most."""
    more = len(workers) - 2
    return ", ".join(workers[:2]) + (f" and {more} more" if more > 0 else "")


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
