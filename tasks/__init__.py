"""The numbers: one-sample mathematics, the kernels compiled from it, and the bodies of Dask tasks.

Imports `robots` only; knows nothing of Dask, Zarr or files.
"""

from tasks.chain_simulation import accelerate_chain
from tasks.constraint_forces import constraint_forces
from tasks.direct_problem import simulate, simulate_adaptive
from tasks.evaluate import inverse_dynamics, inverse_kinematics, joint_reactions
from tasks.forward import equations_of_motion, forward_dynamics, inertia_matrix
from tasks.forward_kinematics import forward_kinematics
from tasks.identification.regressor import regressor
from tasks.lagrange_coefficients import lagrange_coefficients
from tasks.profiles import profile

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
