"""Data model of a machine: parameters, bodies, joints, limbs, laws of friction and of motion, as plain data.

No algorithm, no Dask, no Zarr. Imports nothing of `tasks`, `storage` or `pipeline`.
"""

from typing import TYPE_CHECKING

from robots.loading import on_first_use

if TYPE_CHECKING:
    from robots.model import Robot

__all__ = ["Robot"]

_HOMES = {"Robot": "robots.model"}

if not TYPE_CHECKING:  # for which there are no other names
    __getattr__, __dir__ = on_first_use(__name__, _HOMES)
