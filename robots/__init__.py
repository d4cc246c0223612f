"""What a machine is: parameters, bodies, joints, limbs, laws of friction and of motion, as plain data.

No algorithm, no Dask, no Zarr. Imports nothing of `tasks`, `storage` or `pipeline`.
"""

from robots.model import Robot

__all__ = ["Robot"]
