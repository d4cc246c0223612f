"""Versions of the packages that compute and store, and the fingerprint of our source: one set computes a result.

Two commits may have the same version number, so the fingerprint is compared too.
"""

from __future__ import annotations

import functools
import platform
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from importlib import metadata
from pathlib import Path
from typing import Any

from pipeline.errors import LIMIT, InputError, Problem
from robots.data_classes import dataclass

SOURCE = "source of limbsweep"
"""Name of the fingerprint among versions."""

PACKAGES = ("applications", "pipeline", "robots", "storage", "tasks")
"""Packages that workers compute with."""


@functools.cache
def source_fingerprint() -> str:
    """Return a hash of the source files of our packages, as they are on disk when it is called first."""
    root, digest = Path(__file__).resolve().parents[2], blake2b(digest_size=6)
    for file in sorted(file for name in PACKAGES for file in (root / name).rglob("*.py")):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(root).as_posix()} {len(content)} ".encode() + content)
    return digest.hexdigest()


COMPUTES = ("numpy", "scipy", "llvmlite", "zarr", "numcodecs", "xarray", "dask", "distributed")
"""Packages whose version may matter to a result or its file."""


def versions() -> dict[str, str]:
    """Return the versions of limbsweep, Python and the packages that compute and store."""
    return {"python": platform.python_version(), **{name: _version(name) for name in ("limbsweep", *COMPUTES)}}


def identity() -> dict[str, str]:
    """Return the versions and the source fingerprint, which have to be equal on all machines of a run."""
    return versions() | {SOURCE: source_fingerprint()}


@dataclass(frozen=True)
class Difference:
    """A package with another version: its name, the version found, and the workers that have it."""

    package: str
    here: str
    there: str
    workers: tuple[str, ...]


class VersionError(InputError):
    """Workers that would compute with other versions."""

    def __init__(self, cluster: str, differences: Sequence[Difference]) -> None:
        self.differences = tuple(differences)
        super().__init__(version_problem(cluster, difference) for difference in differences)

    def __str__(self) -> str:
        """Format the lines of the problems, and the table if there are several."""
        if len(self.differences) == 1:
            return super().__str__()
        rows = [("package", "here", "there", "workers")]
        rows += [(row.package, row.here, row.there, _some(row.workers)) for row in self.differences[:LIMIT]]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        table = ("  ".join(cell.ljust(width) for cell, width in zip(row, (*widths, 0), strict=True)) for row in rows)
        return "\n".join((super().__str__(), *table))


def version_problem(cluster: str, difference: Difference) -> Problem:
    """Return the difference as a line with the workers and advice."""
    word = "worker" if len(difference.workers) == 1 else "workers"
    absent = difference.there.startswith("without")
    expected = "limbsweep to be installed there" if absent else f"{difference.package} {difference.here} as here"
    hint = "Install the same versions on all machines; constraints.txt has a tested set."
    hint += " A checkout and an installed wheel do not work together." if absent else ""
    if difference.package == SOURCE:
        hint = "The version number is the same, the files are not: install the same commit, and start workers again."
    return Problem(
        cluster, 0, 0, f"{word} {_some(difference.workers)}", f"{difference.package} {difference.there}", expected, hint
    )


def differences(workers: Mapping[str, Any]) -> list[Difference]:
    """Return differences from this process' `identity`; `workers` has that of each, or an error, by address."""
    here = identity()
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
    """Return the addresses of workers, at most two."""
    more = len(workers) - 2
    return ", ".join(workers[:2]) + (f" and {more} more" if more > 0 else "")


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
