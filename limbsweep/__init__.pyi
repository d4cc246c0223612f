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
from limbsweep.backend import open
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
    spanning_tree_dynamics,
)
from limbsweep.labelled.motions import differentiate_simulation, servo, simulate
from limbsweep.labelled.signals import friction_along, from_currents, profile
from limbsweep.runs import compute, lazy, run, submit
from pipeline.cluster.file import ClusterConfig
from pipeline.errors import InputError, RunStoppedError
from pipeline.monitor.status import status
from pipeline.plan.plan import plan
from pipeline.stores.append import append
from pipeline.stores.verify import verify
from pipeline.sweep.doors import read_sweeps, sweep
from pipeline.sweep.model import Sweep
from pipeline.sweep.user_metrics import UserMetric
from robots.model import Robot
from robots.parameter_errors import ParameterError
from robots.status import Status
from robots.stops import JointStop
from storage.errors import StoreError
from tasks.dynamics.clearance_error import clearance_error
from tasks.dynamics.differentiate import differentiate
from tasks.dynamics.elastic_drives import drive_deflection
from tasks.dynamics.fed_motors import motor_demand, torque_constants
from tasks.dynamics.given_tree import JointMotion
from tasks.dynamics.linear import linearisation
from tasks.dynamics.records import Environment, Forces, Motion, State
from tasks.dynamics.regressor import standard_parameters
from tasks.dynamics.resolution import resolve_redundancy
from tasks.dynamics.supply import on_supply

__all__ = [
    "ClusterConfig",
    "Environment",
    "ExcitationOptions",
    "Forces",
    "InputError",
    "JointMotion",
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
    "spanning_tree_dynamics",
    "standard_parameters",
    "status",
    "study",
    "submit",
    "sweep",
    "torque_constants",
    "verify",
]
