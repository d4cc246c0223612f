# ruff: noqa: E501 - a row of a table is a line
"""Features of the table: axes of alternatives, each a piece of a sweep file for a robot.

The first alternative of each axis is the absence of the feature, or its plainest form. Pieces are put together by
`merged`: mappings by key, lists of outputs, metrics and conditions one behind the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd

import limbsweep as ls
from benchmarks.composition.machines import SHORT, TILTED, Machine
from robots.types import TWIST

Piece = Mapping[str, Any]
Feature = Callable[[Machine], Piece]

JOINED = ("outputs", "metrics")
"""Lists of which each feature adds its part."""

TIME = {"stop": 0.3, "step": 0.03}
"""Times of given motions [s]."""


def merged(pieces: list[Piece]) -> dict[str, Any]:
    """Return one sweep of all pieces; the later counts where both have a value."""
    return reduce(_two, pieces, {})


def _two(first: Piece, second: Piece) -> dict[str, Any]:
    result = dict(first)
    for key, value in second.items():
        if key in JOINED:
            result[key] = list({repr(entry): entry for entry in (*result.get(key, ()), *value)}.values())
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = _two(result[key], value)
        else:
            result[key] = value
    return result


def fixed(piece: Piece) -> Feature:
    """Return a feature that is the same for all robots."""
    return lambda machine: piece


NONE = fixed({})


def rule_of(machine: Machine) -> tuple[str, str]:
    """Return the second varied parameter and an expression of the first that gives its default at the default."""
    first, second = machine.varied
    ratio = machine.defaults[second] / machine.defaults[first]
    return second, f"{float(f'{ratio:.12g}')!r} * {first} * (1 + 0.05 * ({first} - {machine.defaults[first]!r}))"


# designs


def _grid(machine: Machine) -> Piece:
    first, second = machine.varied
    return {"design": {"grid": {first: machine.spread(first, 4), second: machine.spread(second, 4)}}}


def _sample(machine: Machine) -> Piece:
    parts = {
        name: dict(zip(("low", "high"), sorted(machine.near(name, 0.97, 1.03)), strict=True)) for name in machine.varied
    }
    return {"design": {"sample": {"method": "sobol", "count": 16, "seed": 3, "parameters": parts}}}


def _derived(machine: Machine) -> Piece:
    first, (name, rule) = machine.varied[0], rule_of(machine)
    return {"design": {"grid": {first: machine.spread(first, 12)}, "derive": {name: rule}}}


def _conditional(machine: Machine) -> Piece:
    first, limit = machine.varied[0], machine.near(machine.varied[0], 1.01)[0]
    return _two(_grid(machine), {"design": {"where": [f"{first} {'<' if limit > 0 else '>'} {limit!r}"]}})


def _catalogue(machine: Machine) -> Piece:
    first, second = machine.varied
    rows = {"size": [f"size {k}" for k in range(12)], "price": np.linspace(10.0, 20.0, 12)}
    table = pd.DataFrame(rows | {first: machine.spread(first, 12), second: machine.spread(second, 12)[::-1]})
    table.to_csv("sizes.csv", index=False)
    return {"design": {"file": "sizes.csv", "labels": ["size", "price"]}}


def _units(machine: Machine) -> Piece:
    first = machine.varied[0]
    unit, factor = ("g", 1e3) if first.endswith("mass") else ("mm", 1e3)
    values = [round(factor * value, 4) for value in machine.spread(first, 12)]
    return {"design": {"grid": {first: {"values": values, "unit": unit}}}}


def _frame(machine: Machine) -> Piece:
    return {"design": {"list": pd.DataFrame({name: machine.spread(name, 12) for name in machine.varied})}}


def _tolerances(machine: Machine) -> Piece:
    first = machine.varied[0]
    wide = abs(machine.defaults[first]) * 1e-3
    part = {"parameters": {first: {"deviation": wide}}, "count": 2, "seed": 5}
    return {"design": {"grid": {first: machine.spread(first, 6)}}, "tolerances": part}


DESIGNS: Mapping[str, Feature] = {
    "one design": NONE,
    "grid": _grid,
    "sample": _sample,
    "derived parameter": _derived,
    "condition": _conditional,
    "catalogue": _catalogue,
    "units": _units,
    "data frame": _frame,
    "tolerances": _tolerances,
    "swept gravity": fixed({"design": {"list": {"gravity_x": list(range(12)), "gravity_z": [-9.81, -9.0] * 6}}}),
}


# friction


def _law(law: str, load: str = "", **sizes: float) -> Feature:
    """Return friction of actuated joints; sizes are shares of the robot's force, those of `LOOSE` numbers."""

    def piece(machine: Machine) -> Piece:
        numbers = {name: size if name in LOOSE else size * machine.force for name, size in sizes.items()}
        loaded = {"load": load} if load else {}
        return {"friction": {"law": law, "joints": "actuated", "parameters": numbers, **loaded}}

    return piece


LOOSE = ("stribeck_velocity", "stick_velocity", "friction_arm", "pin_radius", "bending_arm", "coefficient", "width")


def _sets(machine: Machine) -> Piece:
    swept = {"coulomb": [0.0, machine.force], "viscous": [0.1 * machine.force, 0.3 * machine.force]}
    return {"friction": {"law": "coulomb_viscous", "joints": "actuated", "grid": swept}}


def _derived_sets(machine: Machine) -> Piece:
    swept = {"grid": {"coulomb": [0.2 * machine.force, machine.force]}, "derive": {"viscous": "0.2 * coulomb"}}
    return {"friction": {"law": "coulomb_viscous", "joints": "actuated", **swept}}


def _groups(machine: Machine) -> Piece:
    motors = {"law": "coulomb_viscous", "joints": "actuated", "parameters": {"coulomb": machine.force}}
    others = {"law": "viscous", "joints": "passive"}
    swept = {"others_viscous": [0.0, 0.05 * machine.force]}
    return {"friction": {"groups": {"motors": motors, "others": others}, "grid": swept}}


FRICTION: Mapping[str, Feature] = {
    "no friction": NONE,
    "viscous": _law("viscous", viscous=0.2),
    "coulomb": _law("coulomb_viscous", coulomb=1.0, viscous=0.2),
    "stribeck": _law("stribeck", coulomb=1.0, static=1.4, viscous=0.2, stribeck_velocity=0.1),
    "load dependent": _law("coulomb_viscous", "reaction", coulomb=0.05, viscous=0.2, pin_radius=0.01),
    "lugre": _law("lugre", coulomb=1.0, static=1.4, sigma0=200.0, sigma1=0.5, stribeck_velocity=0.1),
    "friction sets": _sets,
    "derived friction": _derived_sets,
    "groups": _groups,
}


# loads and field


def _wrench(machine: Machine) -> Piece:
    body = machine.link if machine.is_chain else "platform"
    return {"loads": {"push": {"kind": "wrench", "body": body, "force": [machine.force, 0.0, -2.0 * machine.force]}}}


def _wave(machine: Machine) -> Piece:
    force = [f"{machine.force!r} * sin(2 * pi * t)", 0, 0]
    return {"loads": {"wave": {"kind": "wrench", "body": machine.link, "force": force, "axes": "link"}}}


def _spring(machine: Machine) -> Piece:
    row = {"kind": "spring", "body": machine.link, "at": [0.05, 0.0, 0.0], "to": [0.0, 0.0, 0.3], "rest_length": 0.1}
    return {"loads": {"balancer": {**row, "stiffness": 5.0 * machine.force, "damping": machine.force}}}


def _bushing(machine: Machine) -> Piece:
    body = machine.link if machine.is_chain else "platform"
    row = {"kind": "bushing", "body": body, "at": [0.05, 0.0, 0.0], "to": [0.0, 0.0, 0.3]}
    along, about = [5.0 * machine.force] * 3, [0.0, 0.1 * machine.force, 0.2 * machine.force]
    return {
        "loads": {"mount": {**row, "stiffness": along, "damping": [0.0, machine.force, 0.0], "turn_damping": about}}
    }


def _object(machine: Machine) -> Piece:
    body = machine.link if machine.is_chain else "platform"
    row = {"kind": "object", "body": body, "mass": 0.2, "at": [0.0, 0.0, 0.05], "from": 0.01, "until": 0.2}
    return {"loads": {"piece": row}}


def _swept_load(machine: Machine) -> Piece:
    return _two(_wrench(machine), {"design": {"grid": {"push_force_x": [0.0, 0.5 * machine.force, machine.force]}}})


LOADS: Mapping[str, Feature] = {
    "no loads": NONE,
    "wrench": _wrench,
    "wrench over time": _wave,
    "spring and damper": _spring,
    "bushing": _bushing,
    "object": _object,
    "joint spring": lambda m: {
        "loads": {"coil": {"kind": "joint_spring", "joint": m.joint, "stiffness": 4.0 * m.force}}
    },
    "swept load": _swept_load,
}

BASE: dict[str, Any] = {
    "kind": "line_sine",
    "amplitude": [0.05, -0.04, 0.1],
    "period": 2.0,
    "turn": {"kind": "harmonic", "amplitude": [0.1, 0.05, -0.08], "period": 1.5},
}

FIELD: Mapping[str, Feature] = {
    "usual gravity": NONE,
    "tilted gravity": fixed({"gravity": list(TILTED)}),
    "moving base": fixed({"base": BASE}),
}


# motions


def sine(machine: Machine, factor: float = 1.0) -> dict[str, Any]:
    """Return the harmonic motion of a robot."""
    amplitude = [round(factor * x, 6) for x in machine.amplitude]
    kind = "harmonic" if machine.is_chain else "line_sine"
    return {"kind": kind, "amplitude": amplitude, "period": machine.period}


def _given(**more: Any) -> Feature:
    return lambda machine: {"trajectories": {"sine": sine(machine)}, "time": TIME, **more}


def _several(machine: Machine) -> Piece:
    end = [round(0.5 * x, 6) for x in machine.amplitude]
    quintic = {"kind": "quintic", "start": [0.0] * len(end), "end": end, "duration": 0.3}
    return {"trajectories": {"sine": sine(machine), "pick": quintic}, "time": TIME}


def _paces(machine: Machine) -> Piece:
    pick = {**_several(machine)["trajectories"]["pick"], "time": {"stop": 0.3, "step": 0.004}}
    return {"trajectories": {"sine": sine(machine), "pick": pick}, "time": TIME}


def _swept_motion(machine: Machine) -> Piece:
    swept = {**sine(machine), "period": {"values": [machine.period, 1.3 * machine.period]}}
    return {"trajectories": {"sine": swept}, "time": TIME}


def _fourier(machine: Machine) -> Piece:
    least = min(x for x in map(abs, machine.amplitude) if x)
    bounds = {"position": least, "velocity": 20.0 * least, "acceleration": 500.0 * least}
    row = {"kind": "random_fourier", "count": 2, "seed": 1, "period": 0.3, **bounds}
    return {"trajectories": {"excite": row}, "time": TIME}


def _points(machine: Machine) -> Piece:
    times = np.linspace(0.0, 0.32, 5)
    path = np.outer(np.sin(10.0 * times), machine.amplitude)
    names = machine.robot.mechanism.freedoms if machine.is_chain else ("x", "y", "z")
    table = {"t": times, **dict(zip(names, path.T, strict=False))}
    return {"trajectories": {"points": table}, "time": TIME}


def _turning(machine: Machine) -> Piece:
    turn = {"kind": "harmonic", "amplitude": [0.12, -0.08, 0.1], "period": 0.8}
    return {"trajectories": {"sine": {**sine(machine), "turn": turn}}, "time": TIME}


def _workspace(machine: Machine) -> Piece:
    size = [round(x, 6) for x in machine.amplitude[:3]]
    counts = [2 if x else 1 for x in size]
    row, count = {"kind": "workspace", "size": size, "counts": counts}, int(np.prod(counts))
    return {"trajectories": {"places": row}, "time": {"stop": 1.0, "samples": count}, "metrics": ["usable_volume"]}


def simulated(machine: Machine, **more: Any) -> Piece:
    """Return a simulation of a controller of the actuators."""
    kp, kd = machine.gains
    controller = {"kind": "pd", "parameters": {"kp": kp, "kd": kd}}
    return {
        "trajectories": {"sine": sine(machine)},
        "time": SHORT,
        "simulation": {"step": 0.001, "controller": controller, **more},
        "metrics": ["rms_tracking_error", "dissipated_energy"],
    }


def _gains(machine: Machine) -> Piece:
    kp, kd = machine.gains
    piece = simulated(machine, gains={"grid": {"kp": [0.5 * kp, kp]}})
    controller = {"kind": "pd_gravity", "parameters": {"kd": kd}}
    return {**piece, "simulation": {**piece["simulation"], "controller": controller}}


def _cascade(machine: Machine) -> Piece:
    kp, kd = machine.gains
    piece = simulated(machine)
    controller = {"kind": "p_pi", "parameters": {"kp": round(kp / kd, 6), "kv": kd, "ki": 10.0, "kf": 1.0}}
    return {**piece, "simulation": {**piece["simulation"], "controller": controller}}


def _forces(machine: Machine) -> Piece:
    profile = {"push": {"values": machine.force}, "rest": {"values": 0.0}}
    return {"time": SHORT, "simulation": {"step": 0.001, "forces": profile}, "trajectories": None}


def _speeds(machine: Machine) -> Piece:
    gains = {"current_gain": 4.0, "current_integral": 9000.0, "speed_gain": 0.05, "speed_integral": 0.5}
    profile = {"push": {"values": 5.0, "of": "speed"}, "rest": {"values": 0.0, "of": "speed"}}
    motors = {"motors": {"inductance": 0.002, **gains}, "outputs": ["motor_current"]}
    return {"time": SHORT, "simulation": {"step": 0.001, "forces": profile}, "trajectories": None, **motors}


def _released(machine: Machine, **more: Any) -> Piece:
    """Return a simulation in all joints of the tree, from rest on, without forces of actuators."""
    return {"time": SHORT, "simulation": {"step": 0.001, **more}, "trajectories": None}


def _stopped(machine: Machine) -> Piece:
    joint, far = machine.stop
    return _released(machine, stops={joint: {"low": -far, "high": far}})


MOTIONS: Mapping[str, Feature] = {
    "one motion": _given(),
    "several motions": _several,
    "own times": _paces,
    "swept motion": _swept_motion,
    "random Fourier": _fourier,
    "points": _points,
    "turning platform": _turning,
    "workspace": _workspace,
    "controller": simulated,
    "adaptive steps": lambda machine: simulated(machine, tolerance=1e-4),
    "swept gains": _gains,
    "cascade": _cascade,
    "force profiles": _forces,
    "speeds of drives": _speeds,
    "spanning tree": lambda machine: _released(machine, method="spanning_tree"),
    "stops": _stopped,
}

IN_TREES = ("spanning tree", "stops")
SIMULATED = ("controller", "adaptive steps", "swept gains", "cascade", "force profiles", "speeds of drives", *IN_TREES)


# criteria, limits, motors, sensors


def _stiff(machine: Machine) -> Piece:
    part = {"actuators": {"all": 2e4 * machine.force}, "load": [0, 0, 0, 0, 0, -50.0]}
    return {"criteria": {"stiffness": part}, "metrics": ["least_stiffness", "deflection"]}


def _flexible(machine: Machine) -> Piece:
    return {"criteria": {"stiffness": {"links": {"all": {"tube": [0.05, 0.04], "young": 70e9, "poisson": 0.33}}}}}


CRITERIA: Mapping[str, Feature] = {
    "no criteria": NONE,
    "stiffness": _stiff,
    "accuracy": lambda m: _two(
        _flexible(m), {"criteria": {"accuracy": {"resolution": {"all": 2e-5}}}, "metrics": ["position_deviation"]}
    ),
    "clearances": lambda m: _two(
        _flexible(m),
        {"criteria": {"clearances": {"joints": {"all": {"radial": 1e-5}}}}, "metrics": ["clearance_shift"]},
    ),
    "capsules": fixed({"criteria": {"capsules": {"links": {"all": 0.01}}}, "metrics": ["clearance"]}),
    "singularities": fixed({"metrics": ["singularity_margin", "least_regularity", "condition"]}),
}


def _actuators(machine: Machine) -> Piece:
    part = {"all": {"force": 1e4 * machine.force, "velocity": 500.0, "power": 1e6 * machine.force}}
    return {"limits": {"actuators": part}, "metrics": ["actuator_margin"]}


LIMITS: Mapping[str, Feature] = {
    "no limits": NONE,
    "joints": fixed({"limits": {"joints": {"actuated": {"position": [-100.0, 100.0], "velocity": 600}}}, "metrics": ["limit_margin", "velocity_margin"]}),
    "actuators": _actuators,
    "path": lambda m: _two(_actuators(m), {"metrics": ["speed_factor"]}),
}  # fmt: skip

MOTORS: Mapping[str, Feature] = {
    "no motors": NONE,
    "currents": fixed({"outputs": ["motor_current", "electrical_power"], "metrics": ["rms_current", "electrical_energy"]}),
    "supply": fixed({"motors": {"voltage": 300.0, "current": 60.0, "temperature": 20.0}, "metrics": ["supply_margin"]}),
    "inductance": fixed({"motors": {"inductance": 0.002, "bandwidth": 2000.0}, "outputs": ["motor_current"], "metrics": ["rms_current"]}),
    "current controller": fixed({"motors": {"inductance": 0.002, "current_gain": 4.0, "current_integral": 9000.0}, "outputs": ["motor_current"], "metrics": ["rms_current"]}),
    "sharing": fixed({"sharing": {"rule": "least_maximum"}}),
    "shares": fixed({"sharing": {"rule": "least_squares", "weights": {"all": 2.0}}}),
}  # fmt: skip

MEASURED = ("actuator_position", "actuator_force")
"""Clean signals beside measured ones."""

SENSORS: Mapping[str, Feature] = {
    "no sensors": NONE,
    "measurement": fixed(
        {
            "measurement": {"encoder_step": 2e-5, "cutoff": 10.0},
            "outputs": ["measured_position", "measured_velocity", "measured_acceleration", "measured_force", *MEASURED],
            "time": {"stop": 0.304, "step": 0.004},
            "seed": 1,
        }
    ),
    "split": fixed({"split": {"validation": 0.3, "test": 0.3}, "seed": 2}),
}

QUESTIONS: Mapping[str, Feature] = {
    "no question": NONE,
    "objective": fixed({"study": {"objectives": ["min peak_force"]}}),
    "expression": lambda m: {"study": {"objectives": ["min rms_force_sum / (1 + peak_power)", "min peak_power"], "where": ["failed_samples < 1"]}},
    "cases": lambda m: {"study": {"objectives": ["peak_force, mean over cases"], "cases": [m.case[0]]}, "design": {"grid": {m.case[0]: list(m.case[1:])}}},
    "friction as case": fixed({"study": {"objectives": ["max peak_power, mean over cases"], "cases": ["friction"]}}),
}  # fmt: skip


# results


def motion_outputs(machine: Machine) -> list[str]:
    """Return the series that say how a robot moves."""
    if machine.is_chain:
        return ["joint_position", "joint_acceleration", "joint_velocity"]
    turns = [name for name in machine.robot.mechanism.platform.mobility if name in TWIST[:3]]
    return ["platform_position", "platform_acceleration", "platform_twist", *(["platform_rotation"] if turns else [])]


def _series(*more: str) -> Feature:
    return lambda machine: {"outputs": [*motion_outputs(machine), "actuator_force", *more]}


def _derivatives(machine: Machine) -> Piece:
    entry = {"derivative": ["peak_force", "rms_force", "actuator_force"], "of": [machine.varied[0]], "sides": True}
    return {"outputs": [*motion_outputs(machine), "actuator_force", entry]}


OUTPUTS: Mapping[str, Feature] = {
    "forces": _series("actuator_position", "actuator_velocity", "actuator_power"),
    "reactions": _series("joint_reaction", "bearing_load", "joint_friction"),
    "matrices": _series("mass_matrix", "gravity_force", "load_force", "kinetic_energy", "inverse_jacobian"),
    "links": _series("link_position", "link_twist", "link_wrench", "centre_of_mass"),
    "linearisation": _series("state_matrix", "input_matrix"),
    "derivatives": _derivatives,
    "no series": NONE,
}


def mean_force(actuator_force: np.ndarray) -> float:
    """Return the mean of the magnitudes of all forces."""
    return float(np.abs(actuator_force).mean())


def swing(actuator_force: np.ndarray) -> np.ndarray:
    """Return the range of the force of each actuator."""
    return np.asarray(np.ptp(actuator_force, axis=0))


OWN_METRICS = {"mean_force": ls.UserMetric(mean_force), "swing": ls.UserMetric(swing, per_actuator=True)}

METRICS: Mapping[str, Feature] = {
    "metrics of forces": fixed({"metrics": ["peak_force", "rms_force", "peak_power", "energy", "failed_samples"]}),
    "metrics of friction": fixed(
        {"metrics": ["peak_force", "friction_loss", "friction_share", "peak_friction", "rms_force", "peak_power"]}
    ),
    "metrics of motion": fixed({"metrics": ["peak_force", "peak_velocity", "condition", "manipulability", "rms_force", "peak_power"]}),
    "metrics of reactions": fixed({"metrics": ["peak_force", "peak_reaction", "rms_force", "peak_power"]}),
    "user metrics": fixed({"metrics": ["peak_force", "rms_force", "peak_power"]}),
}  # fmt: skip

PRECISION: Mapping[str, Feature] = {"double": NONE, "single": fixed({"precision": "single"})}

AXES: Mapping[str, Mapping[str, Feature]] = {
    "design": DESIGNS,
    "friction": FRICTION,
    "loads": LOADS,
    "field": FIELD,
    "motion": MOTIONS,
    "criteria": CRITERIA,
    "limits": LIMITS,
    "motors": MOTORS,
    "sensors": SENSORS,
    "question": QUESTIONS,
    "outputs": OUTPUTS,
    "metrics": METRICS,
    "precision": PRECISION,
}
"""Features by axis; one of each axis is in every case."""

PLAIN: Mapping[str, str] = {axis: next(iter(features)) for axis, features in AXES.items()}
"""The plainest alternative of each axis."""
