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
    from pipeline.cluster.file import ClusterConfig
    from pipeline.commands.schemas import schema
    from pipeline.errors import InputError, RunStoppedError
    from pipeline.execution.opening import open
    from pipeline.execution.run import compute, run, submit
    from pipeline.execution.without_store import lazy
    from pipeline.identification.batches import Loader
    from pipeline.identification.excite import excite
    from pipeline.identification.friction_curve import friction_curve
    from pipeline.identification.identify import identify
    from pipeline.labelled import functions as labelled
    from pipeline.monitor.status import status
    from pipeline.plan.plan import plan
    from pipeline.report import save_figure as figure
    from pipeline.report import write_report as report
    from pipeline.stores.append import append
    from pipeline.stores.export import export
    from pipeline.stores.verify import verify
    from pipeline.sweep.model import Sweep
    from pipeline.sweep.objects.sweep import sweep
    from pipeline.sweep.several import read_sweeps
    from pipeline.sweep.user_metrics import UserMetric
    from robots.model import Robot
    from robots.parameters import ParameterError
    from robots.status import Status
    from storage.errors import StoreError
    from tasks.arrays.bearings import constraint_forces
    from tasks.arrays.criteria import cartesian_stiffness, clearance, natural_frequencies, pose_error
    from tasks.arrays.elements import bias_vector, inertia_element
    from tasks.arrays.equations import equations_of_motion, forward_dynamics, inertia_matrix
    from tasks.arrays.forward_kinematics import forward_kinematics
    from tasks.arrays.inverse import actuator_positions, inverse_dynamics, inverse_kinematics, joint_reactions
    from tasks.friction.states import along as friction_along
    from tasks.identification.base import base_parameters
    from tasks.identification.regressor import regressor, standard_parameters
    from tasks.lagrange.coefficients import lagrange_coefficients
    from tasks.motion.chains import accelerate_chain
    from tasks.motion.currents import from_currents, torque_constants
    from tasks.motion.direct import simulate, simulate_adaptive
    from tasks.motion.fastest import fastest_motion
    from tasks.motion.profiles import profile

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
    "accelerate_chain",
    "actuator_positions",
    "append",
    "base_parameters",
    "bias_vector",
    "cartesian_stiffness",
    "clearance",
    "compute",
    "constraint_forces",
    "equations_of_motion",
    "excite",
    "export",
    "fastest_motion",
    "figure",
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
    "labelled",
    "lagrange_coefficients",
    "lazy",
    "natural_frequencies",
    "open",
    "plan",
    "pose_error",
    "profile",
    "read_sweeps",
    "regressor",
    "report",
    "robots",
    "run",
    "schema",
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
    "read_sweeps": "pipeline.sweep.several",
    "compute": "pipeline.execution.run",
    "lazy": "pipeline.execution.without_store",
    "run": "pipeline.execution.run",
    "schema": "pipeline.commands.schemas",
    "status": "pipeline.monitor.status",
    "submit": "pipeline.execution.run",
    "sweep": "pipeline.sweep.objects.sweep",
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
    "regressor": "tasks.identification.regressor",
    "standard_parameters": "tasks.identification.regressor",
    # robots
    "Robot": "robots.model",
    "robots": "limbsweep.robots:",
    # functions on arrays, and the same on DataArrays
    "labelled": "pipeline.labelled.functions:",
    "accelerate_chain": "tasks.motion.chains",
    "actuator_positions": "tasks.arrays.inverse",
    "bias_vector": "tasks.arrays.elements",
    "cartesian_stiffness": "tasks.arrays.criteria",
    "clearance": "tasks.arrays.criteria",
    "constraint_forces": "tasks.arrays.bearings",
    "equations_of_motion": "tasks.arrays.equations",
    "fastest_motion": "tasks.motion.fastest",
    "forward_dynamics": "tasks.arrays.equations",
    "forward_kinematics": "tasks.arrays.forward_kinematics",
    "friction_along": "tasks.friction.states:along",
    "from_currents": "tasks.motion.currents",
    "inertia_element": "tasks.arrays.elements",
    "inertia_matrix": "tasks.arrays.equations",
    "inverse_dynamics": "tasks.arrays.inverse",
    "inverse_kinematics": "tasks.arrays.inverse",
    "joint_reactions": "tasks.arrays.inverse",
    "lagrange_coefficients": "tasks.lagrange.coefficients",
    "natural_frequencies": "tasks.arrays.criteria",
    "pose_error": "tasks.arrays.criteria",
    "profile": "tasks.motion.profiles",
    "simulate": "tasks.motion.direct",
    "simulate_adaptive": "tasks.motion.direct",
    "tasks": "limbsweep.tasks:",
    "torque_constants": "tasks.motion.currents",
    # what comes back, or is raised
    "InputError": "pipeline.errors",
    "ParameterError": "robots.parameters",
    "RunStoppedError": "pipeline.errors",
    "Status": "robots.status",
    "StoreError": "storage.errors",
}

if not TYPE_CHECKING:  # for which there are no other names
    __getattr__, __dir__ = on_first_use(__name__, _HOMES)
