"""The one exception of the storage package. It is apart so that readers of manifests need not import Zarr."""

from __future__ import annotations

import json


class StoreError(Exception):
    """A store that is missing, damaged, foreign, locked or misused. The text has the file and the remedy.

    >>> try:
    ...     ls.open("missing.zarr")
    ... except ls.StoreError as error:
    ...     print(error)
    missing.zarr: there is no store; check the path, or run the sweep first
    """


def cause(error: Exception) -> str:
    """Return the cause of damage in words.

    >>> cause(KeyError("format")), cause(ValueError("its checksum does not match"))
    ("no entry 'format'", 'its checksum does not match')
    """
    if isinstance(error, KeyError):
        return f"no entry {error}"
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON: {error.msg} at line {error.lineno}, column {error.colno}"
    return str(error) or type(error).__name__
