"""Arguments and results of the functions on arrays, as names of dims: one row for each function."""

from __future__ import annotations

from collections.abc import Mapping

from robots.data_classes import dataclass, field

Dims = tuple[str, ...]

AXIS, MATRIX, WRENCH, FREEDOM, ACTUATOR = ("axis",), ("row", "column"), ("wrench",), ("freedom",), ("actuator",)
JOINTS = ("limb", "joint")
COMPONENT = ("component",)
"""Dim of a wrench in a result that has the name of the dim."""
RUBBING = ("friction_joint",)
WRENCHES, MODE, POINT = ("wrench", "wrench_column"), ("mode",), ("point",)
FREEDOMS, ACTUATORS = ("freedom", "freedom_column"), ("actuator", "actuator_column")

ARGUMENTS: Mapping[str, Dims] = {
    "position": AXIS,
    "rotation": MATRIX,
    "twist": WRENCH,
    "acceleration": WRENCH,
    "q": FREEDOM,
    "qd": FREEDOM,
    "qdd": FREEDOM,
    "load": WRENCH,
    "memory": RUBBING,
    "actuator": ACTUATOR,
    "force": ACTUATOR,
    "actuator_position": ACTUATOR,
    "base_rotation": MATRIX,
    "base_twist": WRENCH,
    "base_acceleration": WRENCH,
    "time": (),
    "joint_position": JOINTS,
    "joint_velocity": JOINTS,
    "joint_acceleration": JOINTS,
}
"""Arguments that may be DataArrays, and the dims of one sample of each."""

PATH: Mapping[str, Dims] = {
    "position": ("waypoint", *AXIS),
    "rotation": ("waypoint", *MATRIX),
    "q": ("waypoint", *FREEDOM),
    "force": ACTUATOR,
    "velocity": ACTUATOR,
    "acceleration": ACTUATOR,
    "power": ACTUATOR,
    "jerk": ACTUATOR,
}
"""The same for a function of a whole path."""


@dataclass(frozen=True)
class FunctionResult:
    """Results of a function: its home, and the dims of one sample by name of result.

    `labels` are fields that are no arrays, with the dim that they name: texts, or a dict of arrays, which becomes
    one array along this dim; without a dim they are an attribute. A function of a `single` case is called for each
    case.
    """

    home: str
    dims: Mapping[str, Dims]
    arguments: Mapping[str, Dims] = field(default_factory=lambda: ARGUMENTS)
    labels: Mapping[str, str] = field(default_factory=dict)
    single: bool = False


STATUS: Mapping[str, Dims] = {"status": ()}
RESULTS: Mapping[str, FunctionResult] = {
    "inverse_dynamics": FunctionResult(
        "tasks.dynamics.inverse", {"force": ACTUATOR, "velocity": ACTUATOR, "jacobian": (*ACTUATOR, *FREEDOM), **STATUS}
    ),
    "spanning_tree_dynamics": FunctionResult(
        "tasks.dynamics.tree_inverse", {"force": ACTUATOR, "tree_force": JOINTS, "gap": ("order",), **STATUS}
    ),
    "joint_reactions": FunctionResult("tasks.dynamics.inverse", {"wrench": (*JOINTS, *COMPONENT), **STATUS}),
    "inverse_kinematics": FunctionResult(
        "tasks.dynamics.inverse", {"position": JOINTS, "velocity": JOINTS, "acceleration": JOINTS, **STATUS}
    ),
    "actuator_positions": FunctionResult("tasks.dynamics.inverse", {"position": ACTUATOR, **STATUS}),
    "forward_kinematics": FunctionResult(
        "tasks.dynamics.forward_kinematics", {"position": AXIS, "rotation": MATRIX, **STATUS}
    ),
    "forward_dynamics": FunctionResult(
        "tasks.dynamics.forward",
        {
            "acceleration": FREEDOM,
            "friction": RUBBING,
            "stuck": RUBBING,
            **STATUS,
            "unique": (),
            "motions": (),
            "residual": (),
        },
    ),
    "equations_of_motion": FunctionResult(
        "tasks.dynamics.equations",
        {
            "mass": FREEDOMS,
            "coriolis": FREEDOMS,
            "gravity": FREEDOM,
            "jacobian": (*ACTUATOR, *FREEDOM),
            "jacobian_rate": (*ACTUATOR, *FREEDOM),
            "actuator_mass": ACTUATORS,
            "actuator_coriolis": ACTUATORS,
            "actuator_gravity": ACTUATOR,
            "forward": (*FREEDOM, *ACTUATOR),
            "forward_rate": (*FREEDOM, *ACTUATOR),
            "kinetic_energy": (),
            "potential_energy": (),
            **STATUS,
        },
    ),
    "inertia_matrix": FunctionResult("tasks.dynamics.equations", {"matrix": FREEDOMS, **STATUS}),
    "inertia_element": FunctionResult("tasks.dynamics.equations", {"value": (), **STATUS}),
    "constraint_forces": FunctionResult(
        "tasks.dynamics.bearings",
        {"moment_across": JOINTS, "force_across": JOINTS, "along": JOINTS, "normal": JOINTS, **STATUS},
    ),
    "bias_vector": FunctionResult("tasks.dynamics.equations", {"force": FREEDOM, **STATUS}),
    "lagrange_coefficients": FunctionResult(
        "tasks.checks.lagrange",
        {
            "inertia": FREEDOMS,
            "velocity": (*FREEDOMS, "freedom_last"),
            "gravity": FREEDOM,
            "transmission": (*ACTUATOR, *FREEDOM),
            "actuator_inertia": ACTUATORS,
            "effective_inertia": ACTUATOR,
            **STATUS,
        },
    ),
    "regressor": FunctionResult(
        "tasks.dynamics.regressor",
        {"matrix": (*ACTUATOR, "parameter"), **STATUS},
        labels={"columns": "parameter"},
    ),
    "cartesian_stiffness": FunctionResult(
        "tasks.dynamics.criteria",
        {"compliance": WRENCHES, "stiffness": WRENCHES, "least": (), "largest": (), **STATUS},
        labels={"directions": ""},
    ),
    "natural_frequencies": FunctionResult(
        "tasks.dynamics.criteria", {"frequencies": MODE, "modes": (*FREEDOM, *MODE), **STATUS}
    ),
    "pose_error": FunctionResult(
        "tasks.dynamics.criteria",
        {"covariance": WRENCHES, "position": (), "direction": AXIS, "shares": ("part",), "shift": WRENCH, **STATUS},
        labels={"shares": "part"},
    ),
    "clearance": FunctionResult(
        "tasks.dynamics.criteria", {"distances": ("pair",), "least": (), **STATUS}, labels={"pairs": "pair"}
    ),
    "fastest_motion": FunctionResult(
        "tasks.dynamics.fastest",
        {
            "duration": (),
            "progress": POINT,
            "time": POINT,
            "rate": POINT,
            "force": (*POINT, *ACTUATOR),
            "velocity": (*POINT, *ACTUATOR),
            "status": POINT,
            "power": (*POINT, *ACTUATOR),
            "jerk": (*POINT, *ACTUATOR),
        },
        arguments=PATH,
        single=True,
    ),
}
"""The functions that take DataArrays."""

TIME = ("time",)
WHERE: Mapping[str, Dims] = {
    "friction": RUBBING,
    "stuck": RUBBING,
    "memory": RUBBING,
    "loss": RUBBING,
    "work": ACTUATOR,
}
OF_CASE: Mapping[str, Dims] = {**STATUS, "through": ()}
"""Results of `simulate` that a case has once, whatever its length."""

STOPPED: Mapping[str, Dims] = {"contact": ("stop",), "impact_loss": ("stop",)}
"""Results of `simulate` with stops."""

WOUND: Mapping[str, Dims] = {"current": ACTUATOR}
"""Results of `simulate` with motors that have an inductance."""

CHAIN_MOTION: Mapping[str, Dims] = {"q": FREEDOM, "qd": FREEDOM, **WHERE, "joints": ("tree_joint",), **OF_CASE}
PLATFORM_MOTION: Mapping[str, Dims] = {
    "position": AXIS,
    "rotation": MATRIX,
    "twist": WRENCH,
    "drift": (),
    "gap": (),
    **WHERE,
    "load_work": (),
    **OF_CASE,
}
"""Results of `simulate` at each of the kept times: dims of one sample, by name of result.

The status is that of a case.
"""

UNITS: Mapping[str, Mapping[str, str]] = {
    "inverse_dynamics": {"force": "actuator", "velocity": "actuator_velocity"},
    "spanning_tree_dynamics": {"force": "actuator", "tree_force": "N m or N"},
    "joint_reactions": {"wrench": "load"},
    "inverse_kinematics": {"position": "rad or m", "velocity": "rad/s or m/s", "acceleration": "rad/s^2 or m/s^2"},
    "actuator_positions": {"position": "actuator_position"},
    "forward_kinematics": {"position": "position", "rotation": "1"},
    "forward_dynamics": {"acceleration": "change", "friction": "N m or N", "stuck": "1", "unique": "1", "motions": "1",
        "residual": "1",
    },
    "equations_of_motion": {"kinetic_energy": "J", "potential_energy": "J"},
    "inertia_matrix": {"matrix": "kg m^2, kg m or kg"},
    "inertia_element": {"value": "kg m^2, kg m or kg"},
    "bias_vector": {"force": "N m or N"},
    "constraint_forces": {"moment_across": "N m", "force_across": "N", "along": "N or N m", "normal": "N m or N"},
    "cartesian_stiffness": {"least": "N/m", "largest": "N/m"},
    "natural_frequencies": {"frequencies": "Hz"},
    "pose_error": {"position": "m", "direction": "1", "shares": "1"},
    "clearance": {"distances": "m", "least": "m"},
    "fastest_motion": {
        "duration": "s", "progress": "1", "time": "s", "force": "actuator", "velocity": "actuator_velocity",
        "power": "W",
    },
    "simulate": {
        "time": "s", "q": "q", "qd": "qd", "position": "position", "rotation": "1", "twist": "twist",
        "friction": "N m or N", "stuck": "1", "loss": "J", "work": "J", "load_work": "J", "joints": "rad or m",
        "contact": "1", "impact_loss": "J", "through": "1",
        "current": "A",
    },
}  # fmt: skip
"""Units of results where all components have one, or the name of an argument that has the same units. Matrices whose
elements have many have none."""
