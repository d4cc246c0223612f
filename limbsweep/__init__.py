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
    from limbsweep import robots, study, tasks
    from limbsweep.runs import compute, lazy, run, submit
    from pipeline.cluster.file import ClusterConfig
    from pipeline.commands.schemas import schema
    from pipeline.errors import InputError, RunStoppedError
    from pipeline.execution.opening import open
    from pipeline.identification.batches import Loader
    from pipeline.identification.excite import excite
    from pipeline.identification.friction_curve import friction_curve
    from pipeline.identification.identify import identify
    from pipeline.labelled.functions import (
        accelerate,
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
    from pipeline.labelled.motions import servo, simulate
    from pipeline.labelled.signals import friction_along, from_currents, profile
    from pipeline.monitor.status import status
    from pipeline.plan.plan import plan
    from pipeline.report import save_figure as figure
    from pipeline.report import write_report as report
    from pipeline.stores.append import append
    from pipeline.stores.export import export
    from pipeline.stores.verify import verify
    from pipeline.sweep.doors import read_sweeps, sweep
    from pipeline.sweep.model import Sweep
    from pipeline.sweep.user_metrics import UserMetric
    from robots.model import Robot
    from robots.parameters import ParameterError
    from robots.status import Status
    from storage.errors import StoreError
    from tasks.arrays.clearances import clearance_error
    from tasks.arrays.elastic_drives import drive_deflection
    from tasks.arrays.linear import linearisation
    from tasks.arrays.redundancy import resolve_redundancy
    from tasks.code.c_source import c_code
    from tasks.code.casadi_function import casadi_function
    from tasks.code.fmu import fmu
    from tasks.identification.base import base_parameters
    from tasks.identification.regressor import standard_parameters
    from tasks.motion.chains import accelerate_chain
    from tasks.motion.currents import torque_constants
    from tasks.motion.direct import simulate_adaptive
    from tasks.motion.motors import motor_demand, on_supply

__all__ = [
    "ClusterConfig",
    "InputError",
    "Loader",
    "ParameterError",
    "Robot",
    "RunStoppedError",
    "Status",
    "StoreError",
    "Sweep",
    "UserMetric",
    "accelerate",
    "accelerate_chain",
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
    "read_sweeps",
    "regressor",
    "report",
    "resolve_redundancy",
    "robots",
    "run",
    "schema",
    "servo",
    "simulate",
    "simulate_adaptive",
    "standard_parameters",
    "status",
    "study",
    "submit",
    "sweep",
    "tasks",
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
    "schema": "pipeline.commands.schemas",
    "status": "pipeline.monitor.status",
    "submit": "limbsweep.runs",
    "sweep": "pipeline.sweep.doors",
    # stores and what is done with results
    "append": "pipeline.stores.append",
    "export": "pipeline.stores.export",
    "figure": "pipeline.report:save_figure",
    "open": "limbsweep.backend",
    "report": "pipeline.report:write_report",
    "study": "limbsweep.study:",
    "verify": "pipeline.stores.verify",
    # identification
    "Loader": "pipeline.identification.batches",
    "base_parameters": "tasks.identification.base",
    "excite": "pipeline.identification.excite",
    "friction_curve": "pipeline.identification.friction_curve",
    "identify": "pipeline.identification.identify",
    "regressor": "pipeline.labelled.functions",
    "standard_parameters": "tasks.identification.regressor",
    # robots
    "Robot": "robots.model",
    "robots": "limbsweep.robots:",
    # functions on arrays; those of `pipeline.labelled` take DataArrays as well
    "accelerate": "pipeline.labelled.functions",
    "accelerate_chain": "tasks.motion.chains",
    "actuator_positions": "pipeline.labelled.functions",
    "bias_vector": "pipeline.labelled.functions",
    "cartesian_stiffness": "pipeline.labelled.functions",
    "clearance": "pipeline.labelled.functions",
    "clearance_error": "tasks.arrays.clearances",
    "constraint_forces": "pipeline.labelled.functions",
    "drive_deflection": "tasks.arrays.elastic_drives",
    "equations_of_motion": "pipeline.labelled.functions",
    "fastest_motion": "pipeline.labelled.functions",
    "forward_dynamics": "pipeline.labelled.functions",
    "forward_kinematics": "pipeline.labelled.functions",
    "friction_along": "pipeline.labelled.signals",
    "from_currents": "pipeline.labelled.signals",
    "inertia_element": "pipeline.labelled.functions",
    "inertia_matrix": "pipeline.labelled.functions",
    "inverse_dynamics": "pipeline.labelled.functions",
    "inverse_kinematics": "pipeline.labelled.functions",
    "joint_reactions": "pipeline.labelled.functions",
    "lagrange_coefficients": "pipeline.labelled.functions",
    "linearisation": "tasks.arrays.linear",
    "resolve_redundancy": "tasks.arrays.redundancy",
    "motor_demand": "tasks.motion.motors",
    "natural_frequencies": "pipeline.labelled.functions",
    "on_supply": "tasks.motion.motors",
    "pose_error": "pipeline.labelled.functions",
    "profile": "pipeline.labelled.signals",
    "servo": "pipeline.labelled.motions",
    "simulate": "pipeline.labelled.motions",
    "simulate_adaptive": "tasks.motion.direct",
    "tasks": "limbsweep.tasks:",
    "torque_constants": "tasks.motion.currents",
    # the equations as code for other tools
    "c_code": "tasks.code.c_source",
    "casadi_function": "tasks.code.casadi_function",
    "fmu": "tasks.code.fmu",
    # what comes back, or is raised
    "InputError": "pipeline.errors",
    "ParameterError": "robots.parameters",
    "RunStoppedError": "pipeline.errors",
    "Status": "robots.status",
    "StoreError": "storage.errors",
}

if not TYPE_CHECKING:  # for which there are no other names
    __getattr__, __dir__ = on_first_use(__name__, _HOMES)
