"""The one exception of the storage package. It is apart so that readers of manifests need not import Zarr."""


class StoreError(Exception):
    """A store that is missing, damaged, foreign, locked or misused. The text has the file and the remedy.

    >>> try:
    ...     ls.open("missing.zarr")
    ... except ls.StoreError as error:
    ...     print(error)
    missing.zarr: there is no store; check the path, or run the sweep first
    """
