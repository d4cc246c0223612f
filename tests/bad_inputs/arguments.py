# ruff: noqa: E501 - a row of a table is a line
"""Values that no argument of a function of `limbsweep` means, and the functions that get them, as data.

A door is a function with good arguments, and for each argument a kind of bad values. Each of these has to be refused in
a sentence; what is accepted is listed with its reason.
"""

from __future__ import annotations

import atexit
import functools
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import limbsweep as ls

PLATFORM, CHAIN, MOTORS = ls.robots.build("five_bar"), ls.robots.build("planar_3r"), ls.robots.build("irb6")
HOME, STILL = [0.0, 0.0, -0.6], [0.0, 0.0, 0.0]
FRICTION = {"coulomb": 1.0, "static": 1.5, "stribeck_velocity": 0.01, "sigma0": 1e5}
CIRCLE = {"c": {"kind": "circle", "radius": 0.05, "normal": [0, 1, 0]}}


class Unknown:
    """An object of a class that nothing knows."""


ARRAYS: Mapping[str, Any] = {
    "text": "abc", "texts": ["a", "b", "c"], "object": Unknown(), "dict": {"a": 1}, "ragged": [[1.0, 2.0], [3.0]],
    "empty": [], "no rows": np.zeros((0, 3)), "seven": [0.0] * 7, "five dims": np.zeros((2, 3, 4, 5, 7)),
    "complex": np.array([1j, 0, 0]), "too large": [10**400, 0, 0], "set": {1.0, 2.0}, "bytes": b"abc",
    "dates": np.array(["2020-01-01"] * 3, dtype="datetime64[D]"), "None": [None] * 3, "function": len, "class": int,
    "unit": xr.DataArray(np.zeros(3), dims="axis", attrs={"units": "kg"}), "dims": xr.DataArray(np.zeros((2, 5))),
    "dataset": xr.Dataset({"a": ("x", [1.0])}), "frame": pd.DataFrame({"a": [1.0]}), "generator": iter([1.0, 2.0]),
    "labels": xr.DataArray(["a", "b", "c"], dims="axis"), "masked": np.ma.masked_array([1.0, 2.0, 3.0], [1, 0, 0]),
    "record": np.zeros(3, dtype=[("a", "f8")]), "infinite": [np.inf] * 3,
}  # fmt: skip
NUMBERS: Mapping[str, Any] = {
    "text": "abc", "nan": float("nan"), "list": [1, 2], "None": None, "dict": {}, "complex": 1j, "object": Unknown(),
    "array": np.zeros(3), "text of numpy": np.str_("a"), "empty": "", "negative": -1, "too large": 10**400,
}  # fmt: skip
COUNTS: Mapping[str, Any] = {**NUMBERS, "half": 2.5, "zero": 0, "huge": 10**12}
NAMES: Mapping[str, Any] = {
    "number": 3, "None": None, "unknown": "abcxyz", "list": ["a"], "empty": "", "bytes": b"a", "long": "a" * 100_000,
    "control": "\x1b[2J", "dict": {}, "object": Unknown(), "NUL": "a\0b",
}  # fmt: skip
PATHS = {kind: value for kind, value in NAMES.items() if kind not in ("unknown", "control")}
"""Values that are no paths: any other text is one."""

WORDS = {kind: value for kind, value in NAMES.items() if kind not in ("unknown", "None")}
FOLDERS = {kind: value for kind, value in PATHS.items() if kind not in ("None", "empty")}
INDICES: Mapping[str, Any] = {kind: value for kind, value in COUNTS.items() if kind not in ("zero", "None")}
MAPPINGS: Mapping[str, Any] = {
    "text": "abc", "list": [1], "number": 3, "unknown": {"zzz": 1.0}, "number as key": {1: 2.0}, "set": {1},
    "None as value": {"proximal_length": None}, "text as value": {"proximal_length": "a"}, "object": Unknown(),
    "nan as value": {"proximal_length": float("nan")}, "dict as value": {"proximal_length": {"a": 1}},
    "too large": {"proximal_length": 10**400}, "negative": {"proximal_length": -1.0},
}  # fmt: skip
INDEXED: Mapping[str, Any] = {
    "text": "abc", "list": [1], "number": 3, "text as key": {"a": 1.0}, "half as key": {0.5: 1.0}, "None": {0: None},
    "text as value": {0: "a"}, "list as value": {0: [1.0]}, "nan": {0: float("nan")}, "complex": {0: 1j},
}  # fmt: skip
TEXTS: Mapping[str, Any] = {
    "text": "abc", "number": 3, "None": None, "numbers": [1, 2], "empty text": [""], "unknown": ["abcxyz"], "dict": {},
    "control": ["\x1b[2J"], "object": Unknown(), "nested": [["a"]],
}  # fmt: skip
LIMITS: Mapping[str, Any] = {
    "text": "abc", "number": 3.0, "None": None, "negative": (-1.0,), "zero": (0.0,), "nan": (float("nan"),),
    "two of three": (1.0, 2.0), "texts": ("a",), "empty": (),
}  # fmt: skip
RECORDS: Mapping[str, Any] = {
    "text": "abc", "number": 3, "dict": {"position": HOME}, "list": [1], "object": Unknown(), "class": ls.State,
    "robot": PLATFORM, "array": np.zeros(3),
}  # fmt: skip
ROBOTS: Mapping[str, Any] = {
    "text": "five_bar", "None": None, "number": 1, "family": ls.robots.family("five_bar"), "class": ls.Robot, "dict": {},
}  # fmt: skip
BOXES: Mapping[str, Any] = {
    "text": "abc", "list": [1], "empty": {}, "descending": {"a": (1.0, 0.0)}, "equal": {"a": (1.0, 1.0)},
    "nan": {"a": (float("nan"), 1.0)}, "infinite": {"a": (0.0, float("inf"))}, "one end": {"a": (1.0,)},
    "texts": {"a": ("x", "y")}, "None": {"a": None}, "too wide": {"a": (-1e308, 1e308)},
}  # fmt: skip
FUNCTIONS: Mapping[str, Any] = {
    "text": "a", "None": None, "number": 3, "all columns": lambda x: x, "one value": lambda x: x[:1, 0],
    "a number": lambda x: 1.0, "texts": lambda x: ["a"] * len(x),
}  # fmt: skip


@dataclass(frozen=True)
class Door:
    """A function, arguments that it takes, and the kind of bad values of each argument."""

    function: Callable[..., Any]
    good: Mapping[str, Any]
    bad: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def loaded(kind: Callable[..., Any]) -> Callable[..., Any]:
    """A robot with a load of a kind."""
    return lambda **arguments: ls.robots.with_loads(PLATFORM, {"a": kind(**arguments)})


@functools.cache
def store() -> str:
    """A small store of results, for functions that look at their arguments once it is open."""
    path = Path(tempfile.mkdtemp(prefix="limbsweep-doors-"), "results.zarr")
    atexit.register(shutil.rmtree, path.parent, ignore_errors=True)
    ls.run(_sweep(), path, progress=False)
    return str(path)


def _sweep(**sections: Any) -> ls.Sweep:
    given = {"robot": "five_bar", "time": (1.0, 0.5), "trajectories": CIRCLE, "metrics": "peak_force"} | sections
    return ls.sweep(**given, outputs="actuator_force", design={"proximal_length": [0.5, 0.52]})


def stored(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a store, of the small one where no other is named."""
    return lambda **arguments: function(**({"store": store()} | arguments))


def excited(**options: Any) -> object:
    """Excitation with some options."""
    fourier = {"e": {"kind": "random_fourier", "count": 1, "seed": 2, "period": 2.0, "position": 1.0}}
    sweep = ls.sweep("planar_3r", trajectories=fourier, time=(2.0, 0.5), outputs="actuator_force")
    return ls.excite(sweep, ls.ExcitationOptions(**options), cluster=ls.ClusterConfig.of("synchronous"))


def sought(**arguments: Any) -> object:
    """A search of designs in a folder of its own."""
    sample = {
        "sample": {
            "method": "sobol",
            "seed": 1,
            "count": 4,
            "parameters": {"proximal_length": {"low": 0.5, "high": 0.56}},
        }
    }
    sweep = ls.sweep("five_bar", time=(1.0, 0.5), trajectories=CIRCLE, metrics="peak_force", design=sample)
    with tempfile.TemporaryDirectory() as folder:
        return ls.study.search(**({"sweep": sweep, "store": f"{folder}/a.zarr"} | arguments))


def _at_rest(function: Callable[..., Any], **bad: Mapping[str, Any]) -> Door:
    return Door(function, {"robot": CHAIN, "q": STILL, "qd": STILL}, {"q": ARRAYS, **bad})


R, S = ls.robots, ls.study
SAMPLE = {"bounds": {"a": (0.0, 1.0), "b": (0.0, 1.0)}, "seed": 0}
DOORS: Mapping[str, Door] = {
    "inverse_dynamics": Door(ls.inverse_dynamics, {"robot": PLATFORM, "position": HOME}, {
        "robot": ROBOTS, "position": ARRAYS, "rotation": ARRAYS, "twist": ARRAYS, "acceleration": ARRAYS, "gravity": ARRAYS,
        "time": ARRAYS, "memory": ARRAYS, "parameters": MAPPINGS, "motion": RECORDS, "environment": RECORDS,
        "forces": RECORDS, "formulation": NAMES, "constraints": NUMBERS}),
    "inverse_kinematics": Door(ls.inverse_kinematics, {"robot": PLATFORM, "position": HOME}, {
        "position": ARRAYS, "time": ARRAYS, "memory": ARRAYS, "gravity": ARRAYS, "motion": RECORDS}),
    "forward_kinematics": Door(ls.forward_kinematics, {"robot": PLATFORM, "actuator_position": [0.0, 0.0]}, {
        "actuator_position": ARRAYS, "guess": RECORDS}),
    "forward_dynamics": Door(ls.forward_dynamics, {"robot": PLATFORM, "position": HOME}, {
        "state": RECORDS, "forces": RECORDS, "environment": RECORDS}),
    "joint_reactions": _at_rest(ls.joint_reactions),
    "equations_of_motion": _at_rest(ls.equations_of_motion, time=ARRAYS),
    "regressor": _at_rest(ls.regressor, shared=NUMBERS),
    "friction": Door(lambda value: ls.inverse_dynamics(CHAIN, q=STILL, forces=ls.Forces(friction=value)), {"value": None}, {
        "value": {**RECORDS, **ARRAYS}}),
    "standard_parameters": Door(ls.standard_parameters, {"robot": CHAIN}, {"robot": ROBOTS, "shared": NUMBERS}),
    "base_parameters": Door(ls.base_parameters, {"robot": CHAIN}, {
        "environment": RECORDS, "seed": NUMBERS, "tolerance": NUMBERS}),
    "motor_demand": Door(ls.motor_demand, {"robot": MOTORS, "force": STILL, "velocity": STILL}, {
        "force": ARRAYS, "velocity": ARRAYS}),
    "on_supply": Door(ls.on_supply, {"robot": MOTORS, "asked": [0.0] * 5}, {"of": NAMES, "voltage": ARRAYS}),
    "profile": Door(ls.profile, {"times": [0.0, 1.0], "values": [[0.0], [1.0]]}, {
        "times": ARRAYS, "values": ARRAYS, "between": NAMES}),
    "friction_along": Door(ls.friction_along, {
        "law": "lugre", "velocity": [0.0, 0.1], "times": [0.0, 0.1], "values": FRICTION}, {
        "law": NAMES, "velocity": ARRAYS, "times": ARRAYS, "initial": ARRAYS, "values": MAPPINGS}),
    "servo": Door(ls.servo, {"robot": CHAIN, "kind": "pd", "reference": {"q": np.zeros((3, 3))}, "step": 1e-3}, {
        "robot": ROBOTS, "kind": NAMES, "reference": MAPPINGS, "step": NUMBERS, "space": NAMES, "kp": NUMBERS}),
    "fastest_motion": Door(ls.fastest_motion, {"robot": CHAIN, "force": 5.0, "q": [STILL, [0.1] * 3], "points": 3}, {
        "force": ARRAYS, "points": COUNTS, "speed": NUMBERS}),
    "simulate": Door(ls.simulate, {
        "robot": CHAIN, "state": ls.State(q=STILL), "drive": None, "times": [0.0, 0.01], "step": 1e-3}, {
        "robot": ROBOTS, "state": RECORDS, "drive": RECORDS, "times": ARRAYS, "step": {**NUMBERS, "short": 1e-12},
        "method": NAMES, "integrator": NAMES, "parameters": MAPPINGS}),
    "robots.build": Door(R.build, {"name": "five_bar"}, {"name": NAMES, "proximal_length": NUMBERS}),
    "robots.Elasticity": Door(R.Elasticity, {}, {"actuators": INDEXED, "joints": INDEXED, "links": INDEXED}),
    "robots.Errors": Door(R.Errors, {}, {"actuators": INDEXED, "joints": INDEXED}),
    "robots.Clearances": Door(R.Clearances, {}, {"actuators": INDEXED, "joints": INDEXED}),
    "robots.Capsule": Door(R.Capsule, {"start": (0, 0, 0), "end": (0, 0, 1), "radius": 0.1}, {
        "start": ARRAYS, "radius": NUMBERS}),
    "robots.Capsules": Door(R.Capsules, {}, {"links": INDEXED, "platform": ARRAYS}),
    "robots.Beam": Door(R.Beam, {"axial": 1.0, "torsion": 1.0, "bending": (1.0, 1.0)}, {
        "axial": NUMBERS, "bending": ARRAYS, "across": ARRAYS}),
    "robots.WrenchLoad": Door(loaded(R.WrenchLoad), {"body": "platform", "force": (0, 0, 1)}, {
        "body": NAMES, "force": ARRAYS, "axes": NAMES, "scale": NUMBERS}),
    "robots.ObjectLoad": Door(loaded(R.ObjectLoad), {"body": "platform", "mass": 1.0}, {
        "mass": NUMBERS, "at": ARRAYS, "start": NUMBERS}),
    "robots.with_loads": Door(R.with_loads, {"robot": PLATFORM, "loads": {"a": R.WrenchLoad("platform", force=(0, 0, 1))}}, {"robot": ROBOTS, "loads": MAPPINGS}),
    "robots.at_time": Door(R.at_time, {"robot": PLATFORM, "time": 0.0}, {"robot": ROBOTS, "time": NUMBERS}),
    "robots.as_chain": Door(R.as_chain, {}, {"robot": ROBOTS}),
    "robots.on_branch": Door(R.on_branch, {"robot": PLATFORM}, {
        "robot": ROBOTS, "joints": MAPPINGS, "position": ARRAYS, "working": MAPPINGS, "assembly": NAMES}),
    "robots.with_motor_conditions": Door(R.with_motor_conditions, {"robot": MOTORS}, {
        "robot": ROBOTS, "temperature": NUMBERS, "voltage": NUMBERS}),
    "robots.with_warm_links": Door(R.with_warm_links, {"robot": PLATFORM, "expansion": {"all": 1e-5}}, {
        "robot": ROBOTS, "expansion": MAPPINGS, "temperature": NUMBERS}),
    "robots.with_redundancy": Door(R.with_redundancy, {"robot": PLATFORM, "redundancy": {}}, {"robot": ROBOTS, "redundancy": MAPPINGS}),
    "robots.load": Door(R.load, {"path": "absent.urdf"}, {"path": NAMES, "packages": MAPPINGS}),
    "robots.read": Door(R.read, {}, {"path": NAMES}),
    "sweep": Door(ls.sweep, {"robot": "five_bar", "time": (1.0, 0.5), "trajectories": CIRCLE, "metrics": "peak_force"}, {
        "robot": NAMES, "time": ARRAYS, "trajectories": MAPPINGS, "design": MAPPINGS, "metrics": NAMES,
        "gravity": ARRAYS, "precision": NAMES}),
    "plan": Door(ls.plan, {}, {"sweep": RECORDS}),
    "run": Door(ls.run, {"sweep": None}, {"sweep": RECORDS}),
    "open": Door(ls.open, {}, {"store": NAMES}),
    "verify": Door(ls.verify, {"store": "absent.zarr"}, {
        "store": NAMES, "recompute": {**NUMBERS, "above one": 2.0}, "seed": NUMBERS, "repair": NAMES}),
    "status": Door(ls.status, {"store": "absent.zarr"}, {"store": NAMES}),
    "export": Door(ls.export, {"store": "absent.zarr", "folder": "x", "form": "csv"}, {"store": NAMES, "form": NAMES}),
    "schema": Door(ls.schema, {}, {"kind": NAMES}),
    "study.front": Door(S.front, {}, {"points": ARRAYS}),
    "study.layers": Door(S.layers, {"points": np.zeros((3, 2)), "count": 2}, {"points": ARRAYS}),
    "study.hypervolume": Door(S.hypervolume, {"costs": np.zeros((3, 2)), "reference": [1.0, 1.0]}, {
        "costs": ARRAYS, "reference": ARRAYS}),
    "study.objective": Door(S.objective, {}, {"text": NAMES}),
    "study.morris": Door(S.morris, {"function": lambda x: x[:, 0], "trajectories": 4, **SAMPLE}, {
        "function": FUNCTIONS, "bounds": BOXES, "seed": NUMBERS, "trajectories": COUNTS}),
    "study.sobol": Door(S.sobol, {"function": lambda x: x[:, 0], "n": 4, **SAMPLE}, {
        "function": FUNCTIONS, "bounds": BOXES, "n": COUNTS}),
    "study.from_samples": Door(S.from_samples, {"designs": {"a": np.arange(50.0)}, "values": np.arange(50.0)}, {
        "designs": MAPPINGS, "values": ARRAYS}),
    "report": Door(stored(ls.report), {"output": "a.html"}, {
        "store": {**NAMES, "empty list": []}, "output": PATHS, "design": INDICES, "friction": INDICES, "files": FOLDERS,
        "force": NAMES, "objectives": TEXTS, "where": TEXTS, "cases": TEXTS}),
    "figure": Door(stored(ls.figure), {"kind": "series", "output": "a.svg"}, {
        "store": NAMES, "kind": NAMES, "output": PATHS, "design": INDICES, "friction": INDICES, "files": FOLDERS}),
    "c_code": Door(ls.c_code, {"robot": CHAIN}, {
        "robot": ROBOTS, "functions": TEXTS, "gravity": ARRAYS, "name": WORDS, "friction": RECORDS}),
    "casadi_function": Door(ls.casadi_function, {"robot": CHAIN}, {
        "robot": ROBOTS, "function": NAMES, "gravity": ARRAYS, "rounds": COUNTS, "friction": RECORDS}),
    "fmu": Door(ls.fmu, {"robot": CHAIN, "path": "a.fmu", "compiler": None}, {
        "robot": ROBOTS, "path": {**PATHS, "folder": "."}, "gravity": {**ARRAYS, "unit": "x"}, "compiler": WORDS | {"unknown": "abcxyz"}, "name": WORDS}),
    "excite": Door(excited, {}, {
        "criterion": NAMES, "force": LIMITS, "stroke": LIMITS, "actuator_velocity": LIMITS, "actuator_acceleration": LIMITS,
        "steps": COUNTS, "samples": COUNTS, "design": INDICES, "friction": INDICES, "spheres": RECORDS}),
    "excite of": Door(lambda value: ls.excite(value), {}, {"value": RECORDS}),
    "Loader": Door(stored(ls.Loader), {"variables": ["actuator_force"]}, {
        "store": NAMES, "part": NAMES, "variables": TEXTS, "batch": COUNTS, "window": {**COUNTS, "None": "x"}, "seed": NUMBERS,
        "torch": NAMES, "labels": NAMES, "worker": ARRAYS}),
    "study.workspace": Door(S.workspace, {"robot": PLATFORM, "levels": 2, "tolerance": 0.5}, {
        "robot": {**ROBOTS, "sweep": "sweep.yaml"}, "shape": NAMES, "where": TEXTS, "rotation": ARRAYS, "proportions": ARRAYS,
        "axis": NAMES, "centre": ARRAYS, "within": ARRAYS, "levels": COUNTS, "tolerance": NUMBERS, "parameters": MAPPINGS,
        "gravity": ARRAYS, "limits": MAPPINGS, "criteria": MAPPINGS}),
    "study.search": Door(sought, {"generations": 1, "population": 4, "objectives": ["peak_force"]}, {
        "sweep": RECORDS, "store": PATHS, "method": NAMES, "generations": COUNTS, "population": COUNTS, "seed": NUMBERS,
        "objectives": TEXTS, "where": TEXTS, "cases": TEXTS, "cluster": RECORDS}),
    "study.RollingBearing": Door(S.RollingBearing, {"rating": 1e3}, {
        "rating": NUMBERS, "kind": NAMES, "reliability": NUMBERS}),
}  # fmt: skip
"""Functions of `limbsweep` by name."""

ACCEPTED: tuple[tuple[str, str], ...] = (
    (r"\w+\((q|gravity|position|twist|acceleration)=infinite\)", "a sample of a batch: NaN and the status NONFINITE"),
    (r"friction\(value=(empty|no rows)\)", "no groups of joints: no friction"),
    (r"(base_parameters|study\.morris)\(seed=too large\)", "a seed may be of any size"),
    (r"profile\(values=(five dims|dims)\)", "as many rows as times; the other dims are batch and actuators"),
    (r"friction_along\(initial=(seven|five dims|frame)\)", "a batch of states; a frame of numbers is an array"),
    (r"friction_along\(initial=infinite\)", "a sample of a batch: NaN"),
    (r"fastest_motion\(force=infinite\)", "no limit"),
    (
        r"(fastest_motion\(speed|simulate\((step|integrator)|robots\.\w+\((scale|start|voltage)|sweep\(precision)=None\)",
        "None is the default",
    ),
    (r"robots\.Capsules\(platform=(empty|no rows)\)", "no capsules"),
    (r"robots\.(ObjectLoad\(start|at_time\(time)=negative\)", "an instant before zero"),
    (r"robots\.\w+\(temperature=negative\)", "colder than at the measurement"),
    (
        r"(robots\.on_branch\(position|sweep\(gravity)=unit\)",
        "attributes are read of arguments that take DataArrays; here it is an array",
    ),
    (r"study\.(front|layers)\(points=no rows\)", "no points: an empty front"),
    (r"study\.(front|layers)\(points=(dims|frame)\)", "points (n, objective)"),
    (r"(c_code|casadi_function)\(gravity=unit\)", "an array; its attributes are not read"),
    (r"Loader\(batch=(too large|huge)\)", "all windows in one batch"),
    (r"(study\.search|Loader)\(seed=too large\)", "a seed may be of any size"),
    (r"study\.objective\(text=unknown\)", "names are looked up in the results"),
)
"""Patterns of inputs that are accepted, and the reason."""


def reason_of(name: str) -> str:
    """Return the reason why an input is accepted; empty where there is none."""
    return next((reason for pattern, reason in ACCEPTED if re.fullmatch(pattern, name)), "")
