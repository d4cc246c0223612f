"""Quantities of a sweep, one row each: outputs, metrics and statuses. Pure data.

A row has everything about a quantity except its computation: its stored form, the stage of the dynamics that gives it,
its reduction over time, its needs beyond the motion, and whether friction changes it. The same rows serve given and
simulated motions; `simulated` gives the dims for simulated ones. Plans, runs, stores, lists and refusals follow from
these rows; their dims are in `robots.dims`. The mathematics of actuators is in `tasks.stages.metrics.actuators`, the
mathematics of poses in `tasks.stages.metrics.poses`; the stages are defined in `tasks.stages.stages`. Metrics of a user
are in `robots.metric_function`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from robots.data_classes import dataclass, replace
from robots.dims import FRICTION, GAINS, STATE

Kind = Literal["series", "metric", "motion", "status"]
Stage = Literal[
    "trajectory", "limb", "assembly", "linear", "actuation", "reactions", "sensors", "simulation", "path", "user"
]
Need = Literal[
    "motors",
    "actuator limits",
    "rated currents",
    "saturation",
    "joint ranges",
    "joint rates",
    "workspace",
    "reference jacobian",
    "constraints",
    "mass matrix",
    "coriolis matrix",
    "gravity force",
    "jacobian rate",
    "potential energy",
    "mass moment",
    "momentum",
    "coriolis coefficients",
    "load force",
    "as many actuators as freedoms",
    "simulation",
    "given motion",
    "friction of a given motion",
    "controller",
    "platform",
    "tolerance",
    "friction",
    "elasticity",
    "errors",
    "clearances",
    "elastic turns",
    "test load",
    "capsules",
    "path limits",
    "supply",
    "branch",
    "voltages",
]
Reduction = Literal["max", "min", "sum"]


@dataclass(frozen=True)
class Quantity:
    """A quantity: dims in order, units for revolute drives, the stage that gives it, the frame of its components."""

    name: str
    dims: tuple[str, ...]
    units: str
    long_name: str
    stage: Stage
    frame: str = "none"
    reduction: Reduction | None = None
    """Reduction of a metric over the samples of a case, before it is finished; None for time series."""
    needs: tuple[Need, ...] = ()
    """Needs of the quantity beyond the motion of joints and platform: parts of the robot, the sweep, other stages."""
    dtype: Literal["float64", "int32", "int8"] = "float64"
    stored: Literal["on request", "always", "with series", "where friction settles"] = "on request"
    """Condition under which the quantity is stored.

    The value `where friction settles` means that friction of passive joints depends on their reactions and is found
    by iteration.
    """
    varies: Literal["with friction", "with passive friction", "where friction settles"] = "with friction"
    """Condition under which the numbers differ along the dim `friction`, if the quantity has this dim."""
    finite: bool = False
    """True if the quantity is a number at every sample with status OK.

    Other quantities may be NaN where a robot lacks the described part.
    """
    good: Literal["small", "large"] = "small"
    """End of the range of a metric that is better; the worst value over cases and parts is at the other end."""

    @property
    def kind(self) -> Kind:
        """Sort of the variable: motion, status, series or metric."""
        if self.stage == "trajectory":
            return "motion"
        if self.dtype == "int8":
            return "status"
        return "series" if "time" in self.dims else "metric"

    @property
    def fill(self) -> float | int:
        """The value of an element that has not been written."""
        return float("nan") if self.dtype == "float64" else -1


_TRAJECTORY = ("trajectory", "time")
_DESIGN = ("design", "trajectory", "time")
_FRICTION = ("design", FRICTION, "trajectory", "time")
_DRIVEN = (*_DESIGN, "actuator")
_FORCE = (*_FRICTION, "actuator")
_JOINT = (*_DESIGN, "limb", "joint")
_JOINT_FRICTION = (*_FRICTION, "limb", "joint")
_LINK = (*_DESIGN, "limb", "link")
_REACTION = (*_JOINT_FRICTION, "wrench")
_METRIC = ("design", FRICTION, "trajectory", "actuator")
_CASE = ("design", FRICTION, "trajectory")
_POSE = ("design", "trajectory")
_JACOBIAN = (*_DRIVEN, "freedom")
_FREEDOM = (*_DESIGN, "freedom")
_MATRIX = (*_FREEDOM, "freedom_column")
_DEVIATION = (*_DESIGN, "deviation")
_DRIVE = "actuator axis"
_AXIS = "joint axis"

# fmt: off
_ROWS = (
    Quantity("actuator_force", _FORCE, "N m", "actuator force or torque", "actuation", frame=_DRIVE, finite=True),
    Quantity("actuator_position", _DRIVEN, "rad", "actuator position", "limb", frame=_DRIVE, finite=True),
    Quantity("actuator_velocity", _DRIVEN, "rad/s", "actuator velocity", "assembly", frame=_DRIVE, finite=True),
    Quantity("actuator_acceleration", _DRIVEN, "rad/s^2", "actuator acceleration", "limb", frame=_DRIVE),
    Quantity("actuator_power", _FORCE, "W", "mechanical power of the actuator", "actuation", frame=_DRIVE, finite=True),
    Quantity("motor_current", _FORCE, "A", "current of the motor", "actuation", frame=_DRIVE, needs=("motors",)),
    Quantity("motor_voltage", _FORCE, "V", "voltage at the motor, against its back-EMF and over its winding",
             "actuation", frame=_DRIVE, needs=("motors", "voltages")),
    Quantity("electrical_power", _FORCE, "W", "electrical power of the motor",
             "actuation", frame=_DRIVE, needs=("motors", "voltages")),
    Quantity("measured_position", _DRIVEN, "rad", "actuator position as recorded and filtered",
             "sensors", frame=_DRIVE),
    Quantity("measured_velocity", _DRIVEN, "rad/s", "differences of the measured position", "sensors", frame=_DRIVE),
    Quantity("measured_acceleration", _DRIVEN, "rad/s^2", "differences of the measured velocity",
             "sensors", frame=_DRIVE),
    Quantity("measured_current", _FORCE, "A", "motor current as recorded", "sensors", frame=_DRIVE),
    Quantity("measured_force", _FORCE, "N m", "force or torque from the measured current", "sensors", frame=_DRIVE),
    Quantity("measured_raw_position", _DRIVEN, "rad", "actuator position as recorded, before the filter",
             "sensors", frame=_DRIVE),
    Quantity("measured_raw_current", _FORCE, "A", "motor current as recorded, before the filter",
             "sensors", frame=_DRIVE),
    Quantity("joint_position", _JOINT, "rad", "relative joint position", "limb", frame=_AXIS),
    Quantity("joint_velocity", _JOINT, "rad/s", "relative joint velocity", "limb", frame=_AXIS),
    Quantity("joint_acceleration", _JOINT, "rad/s^2", "relative joint acceleration", "limb", frame=_AXIS),
    Quantity("link_position", (*_LINK, "axis"), "m", "position of the frame of a link", "limb", frame="world"),
    Quantity("link_rotation", (*_LINK, "axis", "link_axis"), "1",
             "rotation from the axes of a link to those of the world", "limb", frame="world"),
    Quantity("link_twist", (*_LINK, "wrench"), "rad/s, m/s", "angular, then linear velocity of the frame of a link",
             "limb", frame="world"),
    Quantity("link_acceleration", (*_LINK, "wrench"), "rad/s^2, m/s^2",
             "angular, then linear acceleration of the frame of a link", "limb", frame="world"),
    Quantity("joint_friction", _JOINT_FRICTION, "N m", "friction against positive velocity of the joint",
             "actuation", frame=_AXIS),
    Quantity("link_wrench", (*_LINK, "wrench"), "N m, N",
             "rates of a link's angular momentum about the origin of its frame, then of its linear momentum",
             "limb", frame="world"),
    Quantity("normal_load_part", (*_JOINT_FRICTION, "load_part"), "N m",
             "parts of the normal load: moment across the axis, force across it, force along it, preload",
             "actuation", frame=_AXIS),
    Quantity("joint_friction_part", (*_JOINT_FRICTION, "friction_part"), "N m",
             "parts of the joint's friction: one for each part of the normal load, and the part without load",
             "actuation", frame=_AXIS),
    Quantity("joint_reaction", _REACTION, "N m, N", "moment, then force on the child by the parent, at the joint",
             "reactions", frame="world", varies="with passive friction"),
    Quantity("bearing_load", (*_JOINT_FRICTION, "bearing"), "N m, N, N",
             "magnitudes of a joint's bearing loads: moment across its axis, force across it, force along it",
             "reactions", frame="none", varies="with passive friction"),
    Quantity("inverse_jacobian", _JACOBIAN, "rad/m, 1", "J_IK: rates of actuators by rates of freedoms",
             "assembly", frame="world"),
    Quantity("inverse_jacobian_rate", _JACOBIAN, "rad/(m s), 1/s", "time derivative of J_IK",
             "assembly", frame="world", needs=("jacobian rate",)),
    Quantity("forward_jacobian", (*_FREEDOM, "actuator"), "m/rad, 1", "J_FK: rates of freedoms by rates of actuators",
             "assembly", frame="world", needs=("as many actuators as freedoms",)),
    Quantity("mass_matrix", _MATRIX, "kg, kg m, kg m^2", "mass matrix of the freedoms, drives included",
             "assembly", frame="world", needs=("mass matrix",)),
    Quantity("coriolis_matrix", _MATRIX, "kg/s, kg m/s, kg m^2/s", "C of the freedoms; M' - 2 C is skew-symmetric",
             "assembly", frame="world", needs=("coriolis matrix",)),
    Quantity("coriolis_force", _FREEDOM, "N, N m", "Coriolis and centrifugal forces along the freedoms",
             "assembly", frame="world", needs=("coriolis matrix",)),
    Quantity("coriolis_coefficients", (*_MATRIX, "freedom_layer"), "kg, kg m, kg m^2",
             "D_ijk, symmetric in j and k; Coriolis and centrifugal forces are the sum of D_ijk v_j v_k",
             "assembly", frame="world", needs=("coriolis coefficients",)),
    Quantity("load_force", _FREEDOM, "N, N m", "forces along the freedoms that loads on links and platform exert",
             "assembly", frame="world", needs=("load force",)),
    Quantity("gravity_force", _FREEDOM, "N, N m", "forces along the freedoms that hold the robot against gravity",
             "assembly", frame="world", needs=("gravity force",)),
    Quantity("actuator_mass", (*_DRIVEN, "actuator_column"), "kg m^2", "mass matrix in actuator coordinates",
             "assembly", frame=_DRIVE, needs=("mass matrix", "as many actuators as freedoms")),
    Quantity("effective_inertia", _DRIVEN, "kg m^2", "inertia at an actuator while the others stand still",
             "assembly", frame=_DRIVE, needs=("mass matrix", "as many actuators as freedoms")),
    Quantity("actuator_coriolis_force", _DRIVEN, "N m", "Coriolis and centrifugal forces in actuator coordinates",
             "assembly", frame=_DRIVE,
             needs=("mass matrix", "coriolis matrix", "jacobian rate", "as many actuators as freedoms")),
    Quantity("actuator_gravity_force", _DRIVEN, "N m", "forces of the actuators that hold the robot against gravity",
             "assembly", frame=_DRIVE, needs=("gravity force", "as many actuators as freedoms")),
    Quantity("kinetic_energy", _DESIGN, "J", "kinetic energy, drives included", "assembly", needs=("mass matrix",)),
    Quantity("potential_energy", _DESIGN, "J", "potential energy, zero with all mass at the origin of the base",
             "assembly", needs=("potential energy",)),
    Quantity("centre_of_mass", (*_DESIGN, "axis"), "m", "centre of mass of all bodies",
             "assembly", frame="world", needs=("mass moment",)),
    Quantity("momentum", (*_DESIGN, "wrench"), "N m s, N s",
             "angular momentum about the origin of the world, then linear momentum, of all bodies without rotors",
             "assembly", frame="world", needs=("momentum",)),
    Quantity("state_matrix", (*_DEVIATION, "deviation_column"), "1, 1/s, 1/s^2",
             "A of x' = A x + B u for small deviations from the motion under its own forces, without friction",
             "linear", frame="world", needs=("mass matrix",)),
    Quantity("input_matrix", (*_DEVIATION, "actuator"), "1/kg, 1/(kg m), 1/(kg m^2)",
             "B of x' = A x + B u, see state_matrix", "linear", frame="world", needs=("mass matrix",)),
    Quantity("platform_position", (*_TRAJECTORY, "axis"), "m", "position of the platform",
             "trajectory", frame="world", needs=("platform",)),
    Quantity("platform_rotation", (*_TRAJECTORY, "axis", "platform_axis"), "1",
             "rotation from the axes of the platform to those of the world",
             "trajectory", frame="world", needs=("platform",)),
    Quantity("platform_twist", (*_TRAJECTORY, "wrench"), "rad/s, m/s", "angular, then linear velocity",
             "trajectory", frame="world", needs=("platform",)),
    Quantity("platform_acceleration", (*_TRAJECTORY, "wrench"), "rad/s^2, m/s^2", "angular, then linear acceleration",
             "trajectory", frame="world", needs=("platform",)),
    Quantity("status", _FRICTION, "1", "status of the sample",
             "assembly", dtype="int8", stored="with series", varies="where friction settles"),
    Quantity("peak_force", _METRIC, "N m", "largest magnitude of the actuator force over time",
             "actuation", frame=_DRIVE, reduction="max", finite=True),
    Quantity("rms_force", _METRIC, "N m", "root mean square of the actuator force over time",
             "actuation", frame=_DRIVE, reduction="sum", finite=True),
    Quantity("rms_power", _METRIC, "W", "root mean square of the actuator power over time",
             "actuation", frame=_DRIVE, reduction="sum"),
    Quantity("peak_friction", _METRIC, "N m", "largest magnitude of the friction part of the actuator force over time",
             "actuation", frame=_DRIVE, reduction="max"),
    Quantity("friction_loss", _METRIC, "J", "energy that friction in all joints takes from the actuator over time",
             "actuation", frame=_DRIVE, reduction="sum"),
    Quantity("friction_share", _METRIC, "1", "share of friction in the force, by their magnitudes",
             "actuation", frame=_DRIVE, reduction="sum"),
    Quantity("actuator_margin", _METRIC, "1",
             "least remaining share of an actuator's force, velocity or power over time",
             "actuation", frame=_DRIVE, reduction="min", needs=("actuator limits",), good="large"),
    Quantity("peak_power", _METRIC, "W", "largest magnitude of the actuator power over time",
             "actuation", frame=_DRIVE, reduction="max"),
    Quantity("energy", _METRIC, "J", "energy that the actuator delivers: integral of positive power",
             "actuation", frame=_DRIVE, reduction="sum"),
    Quantity("regenerated_energy", _METRIC, "J", "energy that flows back: integral of negative power",
             "actuation", frame=_DRIVE, reduction="sum"),
    Quantity("peak_current", _METRIC, "A", "largest magnitude of the current over time",
             "actuation", frame=_DRIVE, reduction="max", needs=("motors",)),
    Quantity("rms_current", _METRIC, "A", "root mean square of the current over time",
             "actuation", frame=_DRIVE, reduction="sum", needs=("motors",)),
    Quantity("peak_voltage", _METRIC, "V", "largest magnitude of the voltage over time",
             "actuation", frame=_DRIVE, reduction="max", needs=("motors", "voltages")),
    Quantity("thermal_margin", _METRIC, "1",
             "remaining share of the motor's rated current at its root mean square current",
             "actuation", frame=_DRIVE, reduction="sum", needs=("motors", "rated currents"), good="large"),
    Quantity("electrical_energy", _METRIC, "J", "energy that the motor takes: integral of positive electrical power",
             "actuation", frame=_DRIVE, reduction="sum", needs=("motors", "voltages")),
    Quantity("braking_energy", _METRIC, "J", "energy that the motor gives back: integral of negative electrical power",
             "actuation", frame=_DRIVE, reduction="sum", needs=("motors", "voltages")),
    Quantity("electrical_work", _METRIC, "J", "energy that the motor takes less the energy that it gives back",
             "actuation", frame=_DRIVE, reduction="sum", needs=("motors", "voltages")),
    Quantity("bus_energy", _CASE, "J", "energy that all motors take from a bus which they share, with a brake resistor",
             "actuation", reduction="sum", needs=("motors", "voltages")),
    Quantity("supply_margin", _METRIC, "1", "least remaining share of a motor's current or voltage over time",
             "actuation", frame=_DRIVE, reduction="min", needs=("motors", "voltages", "supply"), good="large"),
    Quantity("peak_velocity", (*_POSE, "actuator"), "rad/s", "largest magnitude of the actuator velocity over time",
             "actuation", frame=_DRIVE, reduction="max"),
    Quantity("rms_velocity", (*_POSE, "actuator"), "rad/s", "root mean square of the actuator velocity over time",
             "actuation", frame=_DRIVE, reduction="sum"),
    Quantity("peak_reaction", (*_CASE, "limb", "joint"), "N", "largest reaction force of a joint over time",
             "reactions", reduction="max", varies="with passive friction"),
    Quantity("friction_residual", _CASE, "N m, N",
             "largest change of friction in the last step of its iteration with reactions",
             "actuation", reduction="max", needs=("friction of a given motion",)),
    Quantity("unsettled_samples", _CASE, "1", "samples whose friction and reactions did not settle",
             "actuation", reduction="sum", dtype="int32", stored="where friction settles",
             needs=("friction of a given motion",)),
    Quantity("condition", _POSE, "1", "largest condition number of J_IK over time", "assembly", reduction="max"),
    Quantity("dexterity", _POSE, "1", "mean of 1 / condition over all samples, failed ones 0",
             "assembly", reduction="sum", good="large"),
    Quantity("usable_share", _POSE, "1", "share of the samples that are OK", "assembly", reduction="sum", good="large"),
    Quantity("reachable_share", _POSE, "1", "share of the samples that are reachable for all joints",
             "assembly", reduction="sum", good="large"),
    Quantity("usable_volume", _POSE, "m^3", "volume of the workspace whose samples are OK",
             "assembly", reduction="sum", needs=("workspace",), good="large"),
    Quantity("reachable_volume", _POSE, "m^3", "volume of the workspace that is reachable for all joints",
             "assembly", reduction="sum", needs=("workspace",), good="large"),
    Quantity("limit_margin", _POSE, "1", "least distance of a joint to the end of its range over time, in half ranges",
             "assembly", reduction="min", needs=("joint ranges",), good="large"),
    Quantity("velocity_margin", _POSE, "1", "least remaining share of a joint's largest velocity over time",
             "assembly", reduction="min", needs=("joint rates",), good="large"),
    Quantity("platform_singularity_margin", _POSE, "1",
             "least singular value of J_IK over the root mean square at the reference pose",
             "assembly", reduction="min", needs=("reference jacobian",), good="large"),
    Quantity("limb_singularity_margin", _POSE, "1",
             "root mean square singular value of J_IK at the reference pose over the largest one",
             "assembly", reduction="min", needs=("reference jacobian",), good="large"),
    Quantity("singularity_margin", _POSE, "1", "lesser of the singularity margins of limbs and platform",
             "assembly", reduction="min", needs=("reference jacobian",), good="large"),
    Quantity("least_regularity", _POSE, "1",
             "least ratio of det J_IK to its value at the reference pose; negative beyond a singularity",
             "assembly", reduction="min", good="large"),
    Quantity("least_constraint_regularity", _POSE, "1",
             "least ratio of the determinant of the limbs' constraints to its value at the reference pose",
             "assembly", reduction="min", needs=("constraints",), good="large"),
    Quantity("manipulability", _POSE, "m/rad", "least geometric mean over time of platform rates per actuator rate",
             "assembly", reduction="max", good="large"),
    Quantity("least_effective_mass", _POSE, "kg", "least eigenvalue of the mass matrix over time",
             "assembly", frame="world", reduction="min", needs=("mass matrix",), good="large"),
    Quantity("largest_effective_mass", _POSE, "kg", "largest eigenvalue of the mass matrix over time",
             "assembly", frame="world", reduction="max", needs=("mass matrix",)),
    Quantity("largest_effective_inertia", _POSE, "kg m^2",
             "largest inertia at an actuator over time, its own included, while the others stand still",
             "assembly", frame=_DRIVE, reduction="max", needs=("mass matrix", "as many actuators as freedoms")),
    Quantity("least_stiffness", _POSE, "N/m", "least stiffness at the platform's reference point over time",
             "assembly", frame="world", reduction="min", needs=("elasticity",), good="large"),
    Quantity("largest_stiffness", _POSE, "N/m", "largest stiffness at the platform's reference point over time",
             "assembly", frame="world", reduction="max", needs=("elasticity",), good="large"),
    Quantity("least_turning_stiffness", _POSE, "N m/rad", "least rotational stiffness of the platform over time",
             "assembly", frame="world", reduction="min", needs=("elasticity", "elastic turns"), good="large"),
    Quantity("deflection", _POSE, "m",
             "largest deflection of the platform's reference point under the test load over time",
             "assembly", frame="world", reduction="max", needs=("elasticity", "test load")),
    Quantity("lowest_frequency", _POSE, "Hz", "lowest natural frequency over time, actuators locked",
             "assembly", frame="world", reduction="max", needs=("elasticity", "mass matrix"), good="large"),
    Quantity("position_deviation", _POSE, "m",
             "standard deviation of the reference point's position, in the worst direction and at the worst time",
             "assembly", frame="world", reduction="max", needs=("errors",)),
    Quantity("turn_deviation", _POSE, "rad",
             "standard deviation of the platform's orientation, about the worst axis and at the worst time",
             "assembly", frame="world", reduction="max", needs=("errors", "elastic turns")),
    Quantity("thermal_shift", _POSE, "m", "largest thermal displacement of the reference point over time",
             "assembly", frame="world", reduction="max", needs=("errors",)),
    Quantity("clearance_shift", _POSE, "m",
             "largest displacement of the reference point along an axis by clearances over time",
             "assembly", frame="world", reduction="max", needs=("clearances",)),
    Quantity("clearance_turn", _POSE, "rad", "largest rotation of the platform about an axis by clearances over time",
             "assembly", frame="world", reduction="max", needs=("clearances", "elastic turns")),
    Quantity("clearance", _POSE, "m", "least distance over time of the capsules of limbs, platform and base",
             "assembly", frame="world", reduction="min", needs=("capsules",), good="large"),
    Quantity("cycle_time", _POSE, "s", "shortest time along the path, from rest to rest, within limits", "path",
             needs=("path limits", "given motion")),
    Quantity("speed_factor", _POSE, "1", "largest factor of the motion's speed within limits", "path",
             needs=("path limits", "given motion"), good="large"),
    Quantity("work", _METRIC, "J", "work of the actuator: energy less regenerated energy",
             "actuation", frame=_DRIVE, reduction="sum"),
    Quantity("dissipated_energy", _CASE, "J", "energy that friction dissipates in all joints",
             "actuation", reduction="sum"),
    Quantity("tracking_error", _FORCE, "rad", "reference less position of the actuator",
             "simulation", frame=_DRIVE, needs=("simulation", "controller"), finite=True),
    Quantity("position_error", (*_FRICTION, "axis"), "m", "reference less position of the platform",
             "simulation", frame="world", needs=("simulation", "platform", "controller"), finite=True),
    Quantity("peak_tracking_error", _METRIC, "rad", "largest magnitude of the tracking error over all steps",
             "simulation", frame=_DRIVE, needs=("simulation", "controller"), finite=True),
    Quantity("rms_tracking_error", _METRIC, "rad", "root mean square of the tracking error over all steps",
             "simulation", frame=_DRIVE, needs=("simulation", "controller"), finite=True),
    Quantity("overshoot", _METRIC, "1",
             "largest distance beyond the last reference, as a share of the distance travelled to it",
             "simulation", frame=_DRIVE, needs=("simulation", "controller"), finite=True),
    Quantity("lost_steps", _METRIC, "1", "samples of the controller at which a limit changed the actuator force",
             "simulation", frame=_DRIVE, needs=("simulation", "controller"), dtype="int32"),
    Quantity("saturated_time", _METRIC, "s",
             "time of steps at whose start a motor gave less than the controller requested",
             "simulation", frame=_DRIVE, needs=("simulation", "saturation"), finite=True),
    Quantity("settling_time", _CASE, "s", "last time at which the error of an actuator exceeded 2 % of its travel",
             "simulation", needs=("simulation", "controller"), finite=True),
    Quantity("peak_position_error", _CASE, "m", "largest distance of the platform from its reference over all steps",
             "simulation", needs=("simulation", "platform", "controller"), finite=True),
    Quantity("rms_position_error", _CASE, "m",
             "root mean square distance of the platform from its reference over all steps",
             "simulation", needs=("simulation", "platform", "controller"), finite=True),
    Quantity("integration_error", _CASE, "m or rad",
             "estimate of the largest error of position, from a second run at half the step",
             "simulation", needs=("simulation",), finite=True),
    Quantity("integration_error_share", _CASE, "1",
             "integration error as a share of the largest distance from the start",
             "simulation", needs=("simulation",), finite=True),
    Quantity("substeps", _CASE, "1", "number of substeps of each step that the tolerance needs",
             "simulation", needs=("simulation", "tolerance"), dtype="int32"),
    Quantity("failed_samples", _CASE, "1", "number of samples whose status is not OK",
             "assembly", reduction="sum", dtype="int32", stored="always", varies="where friction settles"),
    Quantity("worst_status", _CASE, "1", "largest status code over time",
             "assembly", reduction="max", dtype="int8", stored="always", varies="where friction settles"),
)
# fmt: on

_OF_BRANCH = ("limb", "assembly", "linear", "actuation", "reactions", "sensors")
"""Stages that solve limbs on the branch of their reference pose."""

_OF_TREE = (
    "platform_position", "platform_rotation", "platform_twist", "joint_position", "joint_velocity", "actuator_position",
    "actuator_velocity", "actuator_force", "work", "dissipated_energy", "status", "failed_samples", "worst_status",
)  # fmt: skip
"""Quantities of simulations in all joints of a tree, which need no assembly branch."""


def _with_branch(row: Quantity) -> Quantity:
    """Return a row that needs limbs on one branch, if it does."""
    free = row.name in _OF_TREE or (row.stage not in _OF_BRANCH and row.name != "platform_acceleration")
    return row if free else replace(row, needs=(*row.needs, "branch"))


QUANTITIES: dict[str, Quantity] = {row.name: _with_branch(row) for row in _ROWS}

DIFFERENTIABLE = tuple(
    row.name
    for row in _ROWS
    if row.kind == "metric"
    and row.reduction
    and row.dtype == "float64"
    and row.stage in ("actuation", "assembly", "reactions")
    and "workspace" not in row.needs
    and row.name != "friction_residual"
)
"""Metrics with exact derivatives, of given motions."""

SMOOTH_SERIES = tuple(
    row.name
    for row in _ROWS
    if row.kind == "series"
    and row.dtype == "float64"
    and row.stage in ("limb", "assembly", "actuation", "reactions")
    and not {*row.needs} & {"simulation", "controller"}
)
"""Series with exact derivatives, of given motions."""

OF_SOURCE = frozenset(("actuator_force", "peak_force", "rms_force", "work", "dissipated_energy"))
"""Quantities that a simulation gives wherever its status is OK, even if inverse kinematics fail for its motion."""


def simulated(row: Quantity) -> Quantity:
    """Return the row of a quantity of a simulation: all axes of cases, metrics over all steps.

    Joints and limbs are computed from the simulated motion by inverse kinematics. If these fail, quantities that follow
    from them are NaN, even at a sample whose status is OK.
    """
    inner = tuple(dim for dim in row.dims if dim not in _CASE)
    text = row.long_name.replace("over time", "over all steps")
    if row.reduction and text == row.long_name and row.name not in ("failed_samples", "worst_status"):
        text = f"{text}, over all steps"
    finite = row.finite and (row.stage == "simulation" or row.name in OF_SOURCE)
    return replace(row, dims=(*_CASE, GAINS, STATE, *inner), long_name=text, finite=finite)


def names(stage: Stage, kind: Kind | None = None) -> tuple[str, ...]:
    """Return the names of the quantities that a stage gives, in the order of the table."""
    return tuple(row.name for row in _ROWS if row.stage == stage and kind in (None, row.kind))


def needing(need: Need) -> tuple[str, ...]:
    """Return the names of the quantities with a certain need, in the order of the table."""
    return tuple(row.name for row in _ROWS if need in row.needs)


def reduction(name: str) -> Reduction:
    """Return the reduction of a metric over the samples of a case. Raises KeyError for a name that is no metric."""
    how = QUANTITIES[name].reduction
    if how is None:
        raise KeyError(f"{name} is not reduced over time; expected a metric")
    return how


def needs(name: str) -> tuple[Need, ...]:
    """Return the needs of a variable; empty for a name that is no quantity."""
    return QUANTITIES[name].needs if name in QUANTITIES else ()


CRITERIA: tuple[Need, ...] = ("elasticity", "errors", "clearances", "capsules")
"""Needs that the section `criteria` of a sweep meets; other needs of such metrics come beside one of these."""


def of_criteria() -> tuple[str, ...]:
    """Return the metrics that need the section `criteria` beside robot and motion, in the order of the table."""
    return tuple(row.name for row in _ROWS if {*row.needs} & {*CRITERIA})


def large_is_good(name: str) -> bool:
    """Return whether the worst value of a metric is the least."""
    return name in QUANTITIES and QUANTITIES[name].good == "large"


def any_needs(quantities: Iterable[object], need: Need) -> bool:
    """Return whether any of the `quantities` has this need."""
    return any(need in needs(name) for name in quantities if isinstance(name, str))
