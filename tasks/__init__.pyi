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
