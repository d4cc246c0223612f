"""Kinematics and dynamics of parallel robots over many designs, friction parameters and trajectories.

    import limbsweep as ls

    robot = ls.robots.build("delta_3rr2rrr", upper_arm=0.28)
    torques = ls.inverse_dynamics(robot, position=[0.0, 0.1, -0.9])
    results = ls.run(ls.Sweep.from_yaml("sweep.yaml"), "out.zarr")

This is the public face: every name is loaded from its home on first use. What is offered here keeps its name and
meaning; modules behind it may move.
"""

from typing import TYPE_CHECKING

from limbsweep._sources import require_ours

require_ours()

from robots.loading import on_first_use  # noqa: E402 - whose it is must be known first

if TYPE_CHECKING:
    from applications.commands.schemas import schema
    from applications.export.code.c_source import c_code
    from applications.export.code.casadi_function import casadi_function
    from applications.export.code.fmu import fmu
    from applications.export.tables import export
    from applications.identification.batches import Loader
    from applications.identification.estimation.base import base_parameters
    from applications.identification.excite import excite
    from applications.identification.excite_job import ExcitationOptions
    from applications.identification.friction_curve import friction_curve
    from applications.identification.identify import identify
    from applications.publishing.publish import publish
    from applications.report.writing import save_figure as figure
    from applications.report.writing import write_report as report
    from limbsweep import jax as jax
    from limbsweep import robots, study
    from limbsweep import torch as torch
    from limbsweep.labelled.functions import (
        actuator_positions,
        bias_vector,
        cartesian_stiffness,
        clearance,
        constraint_forces,
        equations_of_motion,
        fastest_motion,
        forward_dynamics,
        forward_kinematics,
        inertia_element,
        inertia_matrix,
        inverse_dynamics,
        inverse_kinematics,
        joint_reactions,
        lagrange_coefficients,
        natural_frequencies,
        pose_error,
        regressor,
    )
    from limbsweep.labelled.motions import differentiate_simulation, servo, simulate
    from limbsweep.labelled.signals import friction_along, from_currents, profile
    from limbsweep.runs import compute, lazy, run, submit
    from pipeline.cluster.file import ClusterConfig
    from pipeline.errors import InputError, RunStoppedError
    from pipeline.execution.opening import open
    from pipeline.monitor.status import status
    from pipeline.plan.plan import plan
    from pipeline.stores.append import append
    from pipeline.stores.verify import verify
    from pipeline.sweep.doors import read_sweeps, sweep
    from pipeline.sweep.model import Sweep
    from pipeline.sweep.user_metrics import UserMetric
    from robots.model import Robot
    from robots.parameters import ParameterError
    from robots.status import Status
    from robots.stops import JointStop
    from storage.errors import StoreError
    from tasks.dynamics.clearance_error import clearance_error
    from tasks.dynamics.differentiate import differentiate
    from tasks.dynamics.elastic_drives import drive_deflection
    from tasks.dynamics.fed_motors import motor_demand, torque_constants
    from tasks.dynamics.linear import linearisation
    from tasks.dynamics.records import Environment, Forces, Motion, State
    from tasks.dynamics.regressor import standard_parameters
    from tasks.dynamics.resolution import resolve_redundancy
    from tasks.dynamics.servo import on_supply

__all__ = [
    "ClusterConfig",
    "Environment",
    "ExcitationOptions",
    "Forces",
    "InputError",
    "JointStop",
    "Loader",
    "Motion",
    "ParameterError",
    "Robot",
    "RunStoppedError",
    "State",
    "Status",
    "StoreError",
    "Sweep",
    "UserMetric",
    "actuator_positions",
    "append",
    "base_parameters",
    "bias_vector",
    "c_code",
    "cartesian_stiffness",
    "casadi_function",
    "clearance",
    "clearance_error",
    "compute",
    "constraint_forces",
    "differentiate",
    "differentiate_simulation",
    "drive_deflection",
    "equations_of_motion",
    "excite",
    "export",
    "fastest_motion",
    "figure",
    "fmu",
    "forward_dynamics",
    "forward_kinematics",
    "friction_along",
    "friction_curve",
    "from_currents",
    "identify",
    "inertia_element",
    "inertia_matrix",
    "inverse_dynamics",
    "inverse_kinematics",
    "joint_reactions",
    "lagrange_coefficients",
    "lazy",
    "linearisation",
    "motor_demand",
    "natural_frequencies",
    "on_supply",
    "open",
    "plan",
    "pose_error",
    "profile",
    "publish",
    "read_sweeps",
    "regressor",
    "report",
    "resolve_redundancy",
    "robots",
    "run",
    "schema",
    "servo",
    "simulate",
    "standard_parameters",
    "status",
    "study",
    "submit",
    "sweep",
    "torque_constants",
    "verify",
]

_HOMES = {
    # sweeps and what is done with them
    "ClusterConfig": "pipeline.cluster.file",
    "Sweep": "pipeline.sweep.model",
    "UserMetric": "pipeline.sweep.user_metrics",
    "plan": "pipeline.plan.plan",
    "read_sweeps": "pipeline.sweep.doors",
    "compute": "limbsweep.runs",
    "lazy": "limbsweep.runs",
    "run": "limbsweep.runs",
    "schema": "applications.commands.schemas",
    "status": "pipeline.monitor.status",
    "submit": "limbsweep.runs",
    "sweep": "pipeline.sweep.doors",
    # stores and what is done with results
    "append": "pipeline.stores.append",
    "export": "applications.export.tables",
    "publish": "applications.publishing.publish",
    "figure": "applications.report.writing:save_figure",
    "open": "limbsweep.backend",
    "report": "applications.report.writing:write_report",
    "study": "limbsweep.study:",
    "verify": "pipeline.stores.verify",
    # identification
    "Loader": "applications.identification.batches",
    "base_parameters": "applications.identification.estimation.base",
    "ExcitationOptions": "applications.identification.excite_job",
    "excite": "applications.identification.excite",
    "friction_curve": "applications.identification.friction_curve",
    "identify": "applications.identification.identify",
    "regressor": "limbsweep.labelled.functions",
    "standard_parameters": "tasks.dynamics.regressor",
    # robots
    "Robot": "robots.model",
    "robots": "limbsweep.robots:",
    # records of a call
    "Environment": "tasks.dynamics.records",
    "Forces": "tasks.dynamics.records",
    "JointStop": "robots.stops",
    "Motion": "tasks.dynamics.records",
    "State": "tasks.dynamics.records",
    # functions on arrays; those of `limbsweep.labelled` take DataArrays as well
    "actuator_positions": "limbsweep.labelled.functions",
    "bias_vector": "limbsweep.labelled.functions",
    "cartesian_stiffness": "limbsweep.labelled.functions",
    "clearance": "limbsweep.labelled.functions",
    "clearance_error": "tasks.dynamics.clearance_error",
    "constraint_forces": "limbsweep.labelled.functions",
    "differentiate": "tasks.dynamics.differentiate",
    "drive_deflection": "tasks.dynamics.elastic_drives",
    "equations_of_motion": "limbsweep.labelled.functions",
    "fastest_motion": "limbsweep.labelled.functions",
    "forward_dynamics": "limbsweep.labelled.functions",
    "forward_kinematics": "limbsweep.labelled.functions",
    "friction_along": "limbsweep.labelled.signals",
    "from_currents": "limbsweep.labelled.signals",
    "inertia_element": "limbsweep.labelled.functions",
    "inertia_matrix": "limbsweep.labelled.functions",
    "inverse_dynamics": "limbsweep.labelled.functions",
    "inverse_kinematics": "limbsweep.labelled.functions",
    "joint_reactions": "limbsweep.labelled.functions",
    "lagrange_coefficients": "limbsweep.labelled.functions",
    "linearisation": "tasks.dynamics.linear",
    "resolve_redundancy": "tasks.dynamics.resolution",
    "motor_demand": "tasks.dynamics.fed_motors",
    "natural_frequencies": "limbsweep.labelled.functions",
    "on_supply": "tasks.dynamics.servo",
    "pose_error": "limbsweep.labelled.functions",
    "profile": "limbsweep.labelled.signals",
    "servo": "limbsweep.labelled.motions",
    "simulate": "limbsweep.labelled.motions",
    "differentiate_simulation": "limbsweep.labelled.motions",
    "torque_constants": "tasks.dynamics.fed_motors",
    # the equations as code for other tools
    "c_code": "applications.export.code.c_source",
    "casadi_function": "applications.export.code.casadi_function",
    "fmu": "applications.export.code.fmu",
    # what comes back, or is raised
    "InputError": "pipeline.errors",
    "ParameterError": "robots.parameters",
    "RunStoppedError": "pipeline.errors",
    "Status": "robots.status",
    "StoreError": "storage.errors",
}

_OPTIONAL = {"jax": "limbsweep.jax:", "torch": "limbsweep.torch:"}
"""Faces for packages that may not be installed."""

if not TYPE_CHECKING:  # for which there are no other names
    __getattr__, __dir__ = on_first_use(__name__, _HOMES, _OPTIONAL)
