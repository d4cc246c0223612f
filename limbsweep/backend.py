"""Entry points that xarray finds by itself: the engine `limbsweep`, and `Dataset.limbsweep` for every dataset.

xarray loads this module on the first `open_dataset` of a process, for any file. So the module loads nothing else
yet.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import xarray
from xarray.backends import BackendEntrypoint

import applications.report.registered  # noqa: F401 - registers `Dataset.limbsweep`

MANIFEST = "limbsweep.json"


class LimbsweepBackend(BackendEntrypoint):
    """Backend for stores: `xarray.open_dataset("out.zarr", engine="limbsweep")`, or without the engine."""

    description = "Open stores of limbsweep, checked while they are read"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "unfinished")

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        unfinished: bool = False,
    ) -> xarray.Dataset:
        """Open a store; see `limbsweep.open`. Raises StoreError."""
        names = [drop_variables] if isinstance(drop_variables, str) else list(drop_variables or ())
        return open(filename_or_obj, unfinished=unfinished).drop_vars(names, errors="ignore")

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Return whether the argument is a folder with the manifest of a store."""
        return isinstance(filename_or_obj, str | os.PathLike) and (Path(filename_or_obj) / MANIFEST).is_file()


def open(store: str | os.PathLike[str], *, unfinished: bool = False) -> xarray.Dataset:
    """Open a store as a lazy dataset; see `pipeline.execution.opening.open`.

    >>> results = ls.open("out.zarr")
    >>> results["peak_force"].dims
    ('design', 'friction', 'trajectory', 'actuator')
    """
    from pipeline.execution import opening

    return opening.open(store, unfinished=unfinished)
