"""Table of the arguments on the page of each public function: type, default, and meaning with shape and unit.

Types and defaults are those of the signature. A meaning belongs to a name, for all functions, or to a
function and a name.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_type_hints

import limbsweep
from tasks.dynamics.records import MotionKeywords

PACKAGES = (limbsweep, limbsweep.robots, limbsweep.study)

MEANINGS: Mapping[str, str] = {
    # robots and their states
    "robot": "a robot of `robots.build`, `robots.read` or `robots.load`",
    "motion": "`State` or `Motion`, any leading batch dims: pose, twist, acceleration of a platform, or q, qd, qdd",
    "state": "`State` with any leading batch dims: pose and twist of a platform, or q and qd; absent: at rest",
    "environment": "`Environment`: gravity (3,) [m/s^2] and the motion of the base; absent: (0, 0, -9.81), at rest",
    "forces": "`Forces`: load on the platform, friction, weights of redundant actuators, elasticity",
    "**short": "short form of `motion` and gravity, as keywords: ",
    "gravity": "gravity (3,) [m/s^2] in axes of the world",
    "position": "positions (waypoint, 3) [m] of the reference point of the platform",
    "rotation": "rotations (waypoint, 3, 3) of the platform, from its axes to those of the base",
    "q": "positions (waypoint, freedom) [rad or m] of the independent joints of a chain",
    "actuator_position": "positions (*batch, actuator) [rad or m]",
    "guess": "`State` with position and rotation near the pose; absent: the reference pose",
    "times": "times (time,) [s], ascending",
    "friction": "friction law with its parameters and joints, as in a sweep file",
    "parameters": "parameters of the robot by name; the others keep their defaults",
    "**parameters": "parameters of the robot by name; the others keep their defaults",
    "shared": "true: limbs that are copies of each other share one set of inertial parameters",
    "formulation": "formulation of the inverse dynamics of a limb, one of `FORMULATIONS`",
    "projected": "false: actuator forces are left out, and singular poses are OK",
    "constraints": "true: also look for constraint singularities of a robot with a platform",
    "elasticity": "`Elasticity` of actuators, joints and links; everything else is rigid",
    "clearances": "`Clearances` of joints and drives",
    "errors": "`Errors` of parts, as standard deviations",
    "capsules": "`Capsules`: radii of links, capsules of base and platform [m]",
    "draws": "number of random samples of the clearances",
    "arms": "dimensions of the bearings by name [m], and a preload; defaults for the others",
    "jerk": "third derivative (*batch, freedom) of the positions",
    "snap": "fourth derivative (*batch, freedom) of the positions",
    "row": "row of the matrix: number or name of a joint",
    "bodies": "links whose share alone is computed; absent: the whole robot with its drives",
    "grasped": "inertia of an object in the frame of the last link",
    "simplified": "true: simplified effects of spinning rotors, Eqs. (8) to (12)",
    # drives, simulations and friction
    "current": "currents (*batch, actuator) [A]: array, DataArray or function of time or state",
    "asked": "commanded forces, currents or voltages (*batch, actuator): array, or function of time or state",
    "of": 'commanded quantity: "force", "current" or "voltage"',
    "max_force": "largest force [N m or N], of all motors or (actuator,)",
    "force": "forces (*batch, actuator) [N m or N]",
    "velocity": "rates (*batch, actuator) [rad/s or m/s]",
    "drive": "`Forces`, a servo of `servo`, or absent: no forces",
    "step": "step of the integration [s]",
    "**options": "further options of the integration, see `SimulationOptions`",
    "space": 'coordinates of the controller: "actuator", "joint" or "task"',
    "reference": "reference of the controller by coordinate: arrays or functions of time",
    "law": "name of a friction law with a state",
    "values": "parameters and options of the law by name, each a number or an array (*batch,)",
    "load": "normal load, a number or (*batch, time)",
    "initial": "state of the law at the first time (*batch,)",
    "between": '"linear", or "steps": constant up to the next time',
    "results": "dataset of a sweep with a friction test",
    "joint": "name of the actuator",
    # code for other programs
    "functions": "some of `inverse_dynamics`, `forward_dynamics`, `inverse_kinematics`, `inertia_matrix`",
    "rounds": "number of unrolled steps of the iterations of closed loops",
    "compiler": "C compiler that builds the library of this system; None: sources only",
    # sweeps, stores and runs
    "sweep": "a sweep of `sweep` or `Sweep.from_yaml`",
    "sweeps": "sweeps of a file with `robots`, from `read_sweeps`",
    "store": "path or URL of the store; in `run` absent: results in memory",
    "cluster": "`ClusterConfig`, cluster of Dask, client or address; absent: this process, or this machine",
    "client": "`distributed.Client` that computes; with an asynchronous client the call is awaited",
    "listeners": "functions that are called with each event of the run",
    "granularity": '"limb" or "block" tasks; absent: decided by the size of the cluster',
    "timeouts": "`Timeouts`: attempts of a block and seconds until it is given up",
    "metrics": "user metrics by name: functions, or `UserMetric` with unit and meaning",
    "progress": "true: print or draw progress; absent: in terminals and notebooks",
    "unfinished": "true: open a store whose run has not ended",
    "now": "present time [s since 1970]; absent: the clock",
    "subset": "name of a subset of the file; absent: the whole sweep",
    "recompute": "share of the blocks, 0 to 1, that are computed again and compared bit by bit",
    "seed": "seed of the random numbers",
    "repair": "true: make damaged metadata again and compute damaged blocks again",
    "signed_by": "file of the public key whose owner must have signed the store",
    "folder": "folder of the files that the sweep names",
    "output": "path of the new file",
    "kind": "kind of the figure, one of `limbsweep figure --help`",
    "design": "number of the design; absent: the best",
    "files": "folder of the files that the sweep names, for stores that have lost them",
    "form": "format, one of `limbsweep export --help`",
    "time": "times (time,) from zero on, evenly spaced [s]; (stop, step); or a dict as in a file",
    "trajectories": "trajectories by name: dicts as in a file, or points (times, positions)",
    "**sections": "other sections of a sweep file as dicts, see `Sections`",
    # identification
    "method": "name of the method",
    "clean": "true: signals without noise",
    "designs": "numbers of the designs; absent: all",
    "options": "`ExcitationOptions`: criterion, limits, number of steps",
    # robot files
    "name": "name of the robot in the catalogue",
    "path": "path of the file",
    "loops": "file of the joints that close loops; absent: none",
    "macros": "true, or arguments by name: expand macros of xacro",
    "packages": "folders of ROS packages by name",
    "leave_out": "kinds of elements that are left out where they cannot be imported",
    "loads": "loads by name, such as `WrenchLoad` or `SpringLoad`",
    "redundancy": "section `redundancy` of a robot file, as a dict",
    "joints": "rough positions [rad or m] by limb and joint",
    "working": 'limbs with `"other"`, whose joints take their other solution',
    "assembly": '`"other"`: the other pose for the same actuator positions',
    "expansion": "coefficients of expansion [1/K] by links, patterns, `all`, `base` or `platform`",
    "temperature": "temperature above that of the measurement or data [K]",
    "resistance_rate": "relative change of the winding resistance [1/K]",
    "torque_constant_rate": "relative change of the torque constant [1/K]",
    # studies
    "ds": "dataset of a store",
    "problem": "`DesignProblem` of a sweep",
    "target": "objective, of `objective`",
    "wanted": "objective, or its text such as `min peak_force`",
    "text": "objective such as `max dexterity, mean over cases`",
    "objectives": "objectives, or texts such as `min peak_force`; absent: those of the section `study`",
    "where": "conditions such as `condition < 5`, all of which must hold",
    "conditions": "conditions such as `condition < 5`",
    "cases": "swept parameters that are operating cases",
    "names": "swept parameters that are operating cases",
    "column": "objective, such as `peak_force`",
    "weights": "weight of each objective; absent: 1 for each",
    "bounds": "lower and upper bound of each parameter by name",
    "function": "function of designs (designs, parameter) that returns (designs,)",
    "n": "number of base samples, a power of two",
    "categories": "factors whose numbers are rows of a table, without order",
    "points": "points (n, objective), small is good",
    "count": "number of fronts",
    "costs": "costs (n, objective) of designs, small is good",
    "generations": "number of generations",
    "population": "designs per generation",
    "on_generation": "function that is called with each finished `Generation`",
    "settings": "`SearchSettings`: variables, objectives, population, seed",
    "starts": "designs (start, parameter) from which the search starts",
    "threads": "number of threads",
    "windows": "number of parts of the time over which a peak is taken",
    "base": "parameters of the base design; absent: the first design of the sweep",
    "parts": "number of intervals of each range",
    "bearing": "`RollingBearing` of a catalogue",
    "best": "numbers of the best designs",
    "margin": "share by which the box of the best designs is enlarged",
    "shape": '"ball", "box" or "cylinder"',
    "proportions": "half edges of a box, radius and half height of a cylinder (absent: 1 for each), corners of a hull",
    "axis": "axis of a cylinder",
    "centre": "centre (3,) [m] of the shape; absent: the best place",
    "within": "corners (2, 3) [m] of the box that is searched; absent: around the reach of the limbs",
    "levels": "number of times that cells on the boundary are halved",
    "tolerance": "relative tolerance",
    "limits": "section `limits` as a dict",
    "criteria": "section `criteria` as a dict",
}  # fmt: skip
"""Meaning of an argument by its name."""

SPECIAL: Mapping[tuple[str, str], str] = {
    ("c_code", "name"): "name of the files, and beginning of the names of functions; absent: that of the robot",
    ("fmu", "name"): "name of the model; absent: that of the robot",
    ("fmu", "path"): "path of the FMU",
    ("casadi_function", "function"): "`inverse_dynamics`, `forward_dynamics`, `inverse_kinematics` or `inertia_matrix`",
    (
        "base_parameters",
        "environment",
    ): "`Environment`; its base may have samples of a motion, one per random state",
    ("spanning_tree_dynamics", "joints"): "`JointMotion` of all joints of the tree",
    (
        "spanning_tree_dynamics",
        "tolerance",
    ): "allowed residuals: positions [m or 1], rates [per s], accelerations",
    ("base_parameters", "tolerance"): "relative tolerance of the rank of the regressor",
    ("excite", "cluster"): "as in `run`",
    ("export", "folder"): "new folder of the files",
    ("fastest_motion", "acceleration"): "largest acceleration [rad/s^2 or m/s^2] of each actuator, or of all",
    ("fastest_motion", "force"): "largest force [N m or N] of each actuator, or one number for all",
    ("fastest_motion", "velocity"): "largest rate [rad/s or m/s] of each actuator, or of all",
    ("fastest_motion", "jerk"): "largest jerk [rad/s^3 or m/s^3] of each actuator, or of all",
    ("fastest_motion", "power"): "largest mechanical power [W] of each actuator, or of all",
    ("fastest_motion", "speed"): "largest speed [m/s] of the reference point of the platform",
    ("fastest_motion", "points"): "number of points of the grid on which limits hold",
    ("figure", "friction"): "number of the friction set; absent: the one with the largest forces",
    ("report", "friction"): "number of the friction set; absent: the one with the largest forces",
    ("report", "force"): "true: overwrite an existing file",
    ("refine", "force"): "true: overwrite an existing file",
    ("refine", "count"): "number of designs of the next sweep",
    ("refine", "path"): "path of the new sweep file",
    ("friction_along", "velocity"): "rates (*batch, time) [rad/s or m/s]",
    ("friction_curve", "name"): "name of the trajectory of the test",
    ("from_samples", "designs"): "values (n,) of each factor by name",
    ("from_samples", "values"): "values (n,) of the metric",
    ("hypervolume", "reference"): "reference point (objective,)",
    ("identify", "motion"): '"measured" or "commanded"; absent: measured, but commanded for clean signals',
    ("inertia_element", "column"): "column of the matrix: number or name of a joint",
    ("inertia_matrix", "method"): "method for a chain, one of `METHODS`",
    ("column", "name"): "name of a parameter or metric",
    ("ask_and_tell", "name"): "name of the method: `nsga2`, `nsga3`, `tpe` or `random`",
    ("morris", "trajectories"): "number of starting points",
    ("morris_designs", "trajectories"): "number of starting points",
    ("on_branch", "position"): "position (3,) [m] of the new reference pose",
    ("on_branch", "rotation"): "rotation (3, 3) of the new reference pose",
    ("on_supply", "current"): "largest current [A], of all motors or (actuator,)",
    ("on_supply", "start"): "currents at the start (actuator,) [A] of motors with an inductance; absent: none",
    ("on_supply", "voltage"): "voltage of the supply [V], of all motors or (actuator,)",
    ("profile", "values"): "forces or currents (time, *batch, actuator), or a DataArray with `time` and `actuator`",
    ("differentiate", "acceleration"): "acceleration (*batch, 3 or 6) of a platform",
    ("differentiate", "memory"): "states of friction at the start, where the function takes them",
    ("differentiate", "qd"): "joint velocities (*batch, freedom) [rad/s or m/s]",
    ("differentiate", "qdd"): "joint accelerations (*batch, freedom) [rad/s^2 or m/s^2]",
    ("differentiate", "twist"): "twist (*batch, 6) of a platform, angular and linear",
    ("search", "method"): "`nsga2`, `nsga3`, `tpe` or `random`",
    ("search", "coarse"): "name of a subset of the sweep, by which candidates are selected",
    ("search", "candidates"): "candidates for each design that is computed in full",
    ("search_families", "coarse"): "name of a subset of the sweep, by which candidates are selected",
    ("search_families", "candidates"): "candidates for each design that is computed in full",
    ("search_families", "method"): "`nsga2`, `nsga3`, `tpe` or `random`",
    ("search_families", "folder"): "folder with a store for each robot",
    ("schema", "kind"): '"sweep", "robot", "loops" or "cluster"',
    ("servo", "kind"): "`pd`, `pd_gravity`, `pid` or `computed_torque`",
    ("servo", "**parameters"): "gains and limits of the controller by name",
    ("servo", "step"): "step of the simulation [s]",
    ("simulate", "method"): 'method of integration, "fixed" or "adaptive", or a record of one',
    ("sweep", "robot"): "name of a robot, a robot, path of a robot file, or its content",
    ("sweep", "design"): "columns of parameters, or a dict with `grid`, `list`, `sample`, `file`, `derive`, `where`",
    ("status", "store"): "path or URL of the store",
    ("at_time", "time"): "time of the loads [s]",
    ("tolerance_effect", "design"): "parameters that differ from the first design of the sweep",
    ("c_code", "parameters"): "names of parameters that are values of an argument, such as `upper_arm`",
    ("casadi_function", "parameters"): "names of parameters that are values of an argument, such as `upper_arm`",
    ("surrogate", "columns"): "metrics, or expressions over metrics",
    ("surrogate", "held_out"): "least share of the designs that tell the error",
    ("surrogate", "points"): "number of designs that it is fitted to at most; absent: by the derivatives of the store",
    ("uncertainty", "columns"): "expressions over metrics; absent: all metrics of the sweep with derivatives",
    ("uncertainty", "covariance"): "standard deviations by parameter, or their covariance as a DataFrame",
    ("uncertainty", "design"): "number of the design",
    ("publish", "licence"): "SPDX name of the licence; default: that of the section `publication`",
    ("publish", "authors"): "names of the authors; default: those of the section `publication`",
    ("publish", "single"): "numbers in single precision",
    ("publish", "webdataset"): "episodes as tar files, too",
    ("uncertainty", "samples"): "number of samples that are drawn beside the first order",
    ("verify", "folder"): "folder of the files that the sweep names, for stores that have lost them",
    ("verify", "cluster"): "as in `run`, for `repair`",
    ("with_motor_conditions", "voltage"): "largest voltage of each amplifier [V]; absent: no limit",
    ("with_motor_conditions", "current"): "largest current of each amplifier [A]; absent: no limit",
    ("with_motor_conditions", "inductance"): "inductance of the windings [H]; absent: as the robot has it",
    ("with_motor_conditions", "current_gain"): "in place of it: voltage for an error of the current [V/A]",
    ("with_motor_conditions", "current_integral"): "voltage for the integral of an error of the current [V/(A s)]",
    ("with_motor_conditions", "speed_gain"): "current for an error of the speed [A s/rad or A s/m], where drives are "
    "asked for speeds",
    ("with_motor_conditions", "speed_integral"): "current for the integral of an error of the speed [A/rad or A/m]",
    ("with_motor_conditions", "bandwidth"): "rate at which current loops close an error [rad/s]; absent: as the robot "
    "has it",
    ("motor_demand", "force_rate"): "how fast forces change (*batch, actuator) [N m/s or N/s]; of motors with an "
    "inductance",
    ("workspace", "rotation"): "orientations (3, 3) or (orientation, 3, 3); absent: that of the reference pose",
    ("workspace", "robot"): "a robot with a platform, or a sweep with limits and criteria",
    ("write", "path"): "path of the new robot file",
}
"""Meaning of an argument of one function, where it differs."""

ADDED = (
    "`parameters`",
    "mapping of names",
    "None",
    "designs: arrays of robot parameters by name, broadcast with the batch",
)


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public functions with their names."""
    for package in PACKAGES:
        for name in package.__all__:
            value = getattr(package, name)
            if inspect.isfunction(value):
                yield name, value


def meaning(function: str, argument: str) -> str:
    """Return the meaning of an argument. Raises KeyError for an argument without one."""
    return SPECIAL.get((function, argument)) or MEANINGS[argument]


def parameters(function: Callable[..., Any]) -> Iterator[tuple[str, str, str]]:
    """Yield name, type and default of each argument of a function; keywords of a TypedDict of its own one by one."""
    for argument in inspect.signature(function).parameters.values():
        if argument.kind is not argument.VAR_KEYWORD:
            yield argument.name, str(argument.annotation), _default(argument)
            continue
        keywords = str(argument.annotation).removeprefix("Unpack[").removesuffix("]")
        if keywords.endswith("Keywords") and keywords not in WHOLE:
            for name, annotation in inspect.unwrap(function).__globals__[keywords].__annotations__.items():
                yield name, getattr(annotation, "__forward_arg__", str(annotation)), ""
        else:
            yield f"**{argument.name}", str(argument.annotation), ""


WHOLE = ("MotionKeywords", "DrivenKeywords")
"""Keywords of many functions, which have one row."""


def rows(public_name: str, function: Callable[..., Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, type, default and meaning of each argument, and of those that the wrapper for DataArrays adds."""
    plain = inspect.unwrap(function)
    for name, annotation, default in parameters(plain):
        text = meaning(public_name, name)
        if "MotionKeywords" in annotation:
            text += ", ".join(f"`{key}`" for key in get_type_hints(MotionKeywords))
        yield f"`{name}`", f"``{annotation}``", default, text
    added = ["parameters"] if "parameters" in getattr(function, "__added__", "") else []
    shown = {*inspect.signature(function).parameters, *added}
    if "parameters" in shown - set(inspect.signature(plain).parameters):
        yield ADDED


def _default(argument: inspect.Parameter) -> str:
    """Return a default as text; a long one, such as a record, is left to the meaning."""
    text = "required" if argument.default is argument.empty else f"``{argument.default!r}``"
    return text if len(text) < 44 else ""


def table(public_name: str, function: Callable[..., Any]) -> list[str]:
    """Return the lines of the table in reStructuredText; none for a function without arguments."""
    found = list(rows(public_name, function))
    if not found:
        return []
    lines = ["", ".. list-table::", "   :header-rows: 1", ""]
    for row in (("argument", "type", "default", "meaning"), *found):
        lines += [f"   {'*' if column == 0 else ' '} - {cell}" for column, cell in enumerate(row)]
    return [*map(_escaped, lines), ""]


def _escaped(line: str) -> str:
    """Escape asterisks outside of backticks: shapes such as (*batch, 3)."""
    head, mark, cell = line.partition(" - ")
    parts = re.split(r"(``.*?``|`.*?`)", cell)
    return head + mark + "".join(part if part.startswith("`") else part.replace("*", r"\*") for part in parts)
