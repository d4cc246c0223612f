"""The numbers: one-sample mathematics, the kernels compiled from it, and the bodies of Dask tasks.

Imports `robots` only; knows nothing of Dask, Zarr or files.
"""

from tasks.evaluate import inverse_dynamics, inverse_kinematics, joint_reactions

__all__ = ["inverse_dynamics", "inverse_kinematics", "joint_reactions"]
