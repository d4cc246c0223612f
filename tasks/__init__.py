"""The numbers: one-sample mathematics, the kernels compiled from it, and the bodies of Dask tasks.

Imports `robots` only; knows nothing of Dask, Zarr or files. What the package offers is loaded on first use, so that
planning, which needs the shapes of programs alone, does not wait for a compiler.
"""

from typing import TYPE_CHECKING

from robots.loading import on_first_use

if TYPE_CHECKING:
    from tasks.arrays.bearings import constraint_forces
    from tasks.arrays.criteria import cartesian_stiffness, clearance, natural_frequencies, pose_error
    from tasks.arrays.elements import bias_vector, inertia_element
    from tasks.arrays.equations import equations_of_motion, forward_dynamics, inertia_matrix
    from tasks.arrays.forward_kinematics import forward_kinematics
    from tasks.arrays.inverse import inverse_dynamics, inverse_kinematics, joint_reactions
    from tasks.arrays.linear import linearisation
    from tasks.arrays.redundancy import resolve_redundancy
    from tasks.identification.regressor import regressor
    from tasks.lagrange.coefficients import lagrange_coefficients
    from tasks.motion.accelerate import accelerate
    from tasks.motion.chains import accelerate_chain
    from tasks.motion.direct import simulate, simulate_adaptive
    from tasks.motion.fastest import fastest_motion
    from tasks.motion.profiles import profile

__all__ = [
    "accelerate",
    "accelerate_chain",
    "bias_vector",
    "cartesian_stiffness",
    "clearance",
    "constraint_forces",
    "equations_of_motion",
    "fastest_motion",
    "forward_dynamics",
    "forward_kinematics",
    "inertia_element",
    "inertia_matrix",
    "inverse_dynamics",
    "inverse_kinematics",
    "joint_reactions",
    "lagrange_coefficients",
    "linearisation",
    "natural_frequencies",
    "pose_error",
    "profile",
    "regressor",
    "resolve_redundancy",
    "simulate",
    "simulate_adaptive",
]

_HOMES = {
    "accelerate": "tasks.motion.accelerate",
    "accelerate_chain": "tasks.motion.chains",
    "bias_vector": "tasks.arrays.elements",
    "cartesian_stiffness": "tasks.arrays.criteria",
    "clearance": "tasks.arrays.criteria",
    "constraint_forces": "tasks.arrays.bearings",
    "equations_of_motion": "tasks.arrays.equations",
    "fastest_motion": "tasks.motion.fastest",
    "forward_dynamics": "tasks.arrays.equations",
    "forward_kinematics": "tasks.arrays.forward_kinematics",
    "inertia_element": "tasks.arrays.elements",
    "inertia_matrix": "tasks.arrays.equations",
    "inverse_dynamics": "tasks.arrays.inverse",
    "inverse_kinematics": "tasks.arrays.inverse",
    "joint_reactions": "tasks.arrays.inverse",
    "lagrange_coefficients": "tasks.lagrange.coefficients",
    "linearisation": "tasks.arrays.linear",
    "natural_frequencies": "tasks.arrays.criteria",
    "pose_error": "tasks.arrays.criteria",
    "profile": "tasks.motion.profiles",
    "regressor": "tasks.identification.regressor",
    "resolve_redundancy": "tasks.arrays.redundancy",
    "simulate": "tasks.motion.direct",
    "simulate_adaptive": "tasks.motion.direct",
}

if not TYPE_CHECKING:  # for which there are no other names
    __getattr__, __dir__ = on_first_use(__name__, _HOMES)
