"""The numbers: one-sample mathematics, the kernels compiled from it, and the bodies of Dask tasks.

Imports `robots` only; knows nothing of Dask, Zarr or files.
"""

from tasks.arrays.bearings import constraint_forces
from tasks.arrays.equations import equations_of_motion, forward_dynamics, inertia_matrix
from tasks.arrays.forward_kinematics import forward_kinematics
from tasks.arrays.inverse import inverse_dynamics, inverse_kinematics, joint_reactions
from tasks.identification.regressor import regressor
from tasks.lagrange.coefficients import lagrange_coefficients
from tasks.motion.chains import accelerate_chain
from tasks.motion.direct import simulate, simulate_adaptive
from tasks.motion.profiles import profile

__all__ = [
    "accelerate_chain",
    "constraint_forces",
    "equations_of_motion",
    "forward_dynamics",
    "forward_kinematics",
    "inertia_matrix",
    "inverse_dynamics",
    "inverse_kinematics",
    "joint_reactions",
    "lagrange_coefficients",
    "profile",
    "regressor",
    "simulate",
    "simulate_adaptive",
]
