"""The numbers: one-sample mathematics, the kernels compiled from it, and the bodies of Dask tasks.

Imports `robots` only; knows nothing of Dask, Zarr or files. What the package offers is loaded on first use, so that
planning, which needs the shapes of programs alone, does not wait for a compiler.
"""

from typing import TYPE_CHECKING

from robots.loading import on_first_use

if TYPE_CHECKING:
    from tasks.checks.lagrange import lagrange_coefficients
    from tasks.dynamics.bearings import constraint_forces
    from tasks.dynamics.criteria import cartesian_stiffness, clearance, natural_frequencies, pose_error
    from tasks.dynamics.equations import bias_vector, equations_of_motion, inertia_element, inertia_matrix
    from tasks.dynamics.fastest import fastest_motion
    from tasks.dynamics.forward import forward_dynamics
    from tasks.dynamics.forward_kinematics import forward_kinematics
    from tasks.dynamics.inverse import inverse_dynamics, inverse_kinematics, joint_reactions
    from tasks.dynamics.linear import linearisation
    from tasks.dynamics.regressor import regressor
    from tasks.dynamics.resolution import resolve_redundancy
    from tasks.sources.profiles import profile

__all__ = [
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
]

_HOMES = {
    "bias_vector": "tasks.dynamics.equations",
    "cartesian_stiffness": "tasks.dynamics.criteria",
    "clearance": "tasks.dynamics.criteria",
    "constraint_forces": "tasks.dynamics.bearings",
    "equations_of_motion": "tasks.dynamics.equations",
    "fastest_motion": "tasks.dynamics.fastest",
    "forward_dynamics": "tasks.dynamics.forward",
    "forward_kinematics": "tasks.dynamics.forward_kinematics",
    "inertia_element": "tasks.dynamics.equations",
    "inertia_matrix": "tasks.dynamics.equations",
    "inverse_dynamics": "tasks.dynamics.inverse",
    "inverse_kinematics": "tasks.dynamics.inverse",
    "joint_reactions": "tasks.dynamics.inverse",
    "lagrange_coefficients": "tasks.checks.lagrange",
    "linearisation": "tasks.dynamics.linear",
    "natural_frequencies": "tasks.dynamics.criteria",
    "pose_error": "tasks.dynamics.criteria",
    "profile": "tasks.sources.profiles",
    "regressor": "tasks.dynamics.regressor",
    "resolve_redundancy": "tasks.dynamics.resolution",
}

if not TYPE_CHECKING:  # for which there are no other names
    __getattr__, __dir__ = on_first_use(__name__, _HOMES)
