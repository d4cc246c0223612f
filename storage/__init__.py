"""Dims, chunks and files of results. Of robots it knows the table of quantities, of Dask graphs nothing.

Only `storage.store` opens Zarr. It is loaded on first use, so that planning, which needs `storage.layout` alone, does
not wait for Zarr; xarray is loaded where a store is opened as a dataset.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from storage.store import open_results

__all__ = ["open_results"]


def __getattr__(name: str) -> Any:
    """Load the names of the package from the module that opens Zarr."""
    if name in __all__:
        from storage import store

        return getattr(store, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
