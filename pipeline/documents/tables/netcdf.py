"""Variables of NetCDF 3 files. Those of NetCDF 4 are HDF5, see `pipeline.documents.tables.hdf5`."""

from __future__ import annotations

import io
from functools import partial
from typing import IO

import numpy as np

from pipeline.documents.tables.columns import Bounds, Variable, of_kind
from pipeline.errors import refused, size


class _ReadOnce(io.BytesIO):
    """A file in memory of which twice its bytes are read at most: variables may not share a place."""

    left = 0

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.left = 2 * len(data)

    def read(self, size: int | None = -1, /) -> bytes:
        """Read bytes. Raises ValueError when they are more than the file has twice."""
        piece = super().read(size)
        self.left -= len(piece)
        if self.left < 0:
            raise ValueError("variables that stand in one place")
        return piece


def netcdf_variables(stream: IO[bytes], file: str, bounds: Bounds) -> list[Variable]:
    """Return the variables of a file, which is read as a whole. Raises InputError."""
    from scipy.io import netcdf_file

    data = stream.read(bounds.values + 1)
    if len(data) > bounds.values:
        hint = "Save it as NetCDF 4, of which the columns that are used are read alone."
        raise refused(file, f"more than {size(bounds.values)} of NetCDF 3", f"at most {size(bounds.values)}", hint)
    with of_kind(file, "NetCDF file", "a NetCDF file"):
        # in memory no read can take more than there is, whatever the file declares
        variables = netcdf_file(_ReadOnce(data), "r", mmap=False).variables
    bounds.check_members(file, len(variables), "variables")
    arrays = {name: np.asarray(variable.data) for name, variable in variables.items()}
    return [Variable(name, x.shape, x.dtype, partial(np.asarray, x)) for name, x in arrays.items()]
