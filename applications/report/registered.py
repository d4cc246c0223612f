"""Register `Dataset.limbsweep`; its modules are imported at the first use.

xarray loads this module on the first `open_dataset` of a process, for any file.
"""

from __future__ import annotations

from importlib import import_module

import xarray


@xarray.register_dataset_accessor("limbsweep")
def accessor_of(dataset: xarray.Dataset) -> object:
    """Return the accessor of limbsweep for a dataset."""
    return import_module("applications.report.accessor").Limbsweep(dataset)
