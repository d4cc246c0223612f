"""The one exception of the storage package. It is apart so that readers of manifests need not import Zarr."""


class StoreError(Exception):
    """A store that is missing, damaged, foreign, locked or misused. The text says which file it is and what to do."""
