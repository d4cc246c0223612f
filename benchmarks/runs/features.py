"""What loads, moving bases, outputs and redundancy cost: whole runs with each of them beside the same run without."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.figures import Figure, Size, best, require
from pipeline.cluster.file import ClusterConfig
from pipeline.cluster.section import ClusterSection
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep

SWEEP: dict[str, Any] = {
    "limbsweep": 1,
    "robot": "delta_3rr2rrr",
    "trajectories": {"line": {"kind": "line_sine", "amplitude": [0.2, 0.2, 0.1], "period": 1.0}},
    "time": {"stop": 1.0, "samples": 1001},
    "metrics": ["peak_force"],
}
BASE = {"kind": "line_sine", "amplitude": [0.0, 0.2, 1.0], "period": 7.0}
PUSH = {"kind": "wrench", "body": "platform", "force": [0, 0, -20]}
SPRING = {"kind": "spring", "body": "arm", "at": [0.1, 0, 0], "to": [0, 0, 0.3], "stiffness": 300, "rest_length": 0.1}
PICKED = {"kind": "object", "body": "platform", "mass": 1.0, "at": [0, 0, -0.1], "from": 0.1, "until": 0.3}

SECTIONS: dict[str, dict[str, Any]] = {
    "a wrench on the platform": {"loads": {"push": PUSH}},
    "the same over time": {"loads": {"push": {**PUSH, "force": [0, 0, "-20 * sin(2 * pi * t)"]}}},
    "a spring at each arm": {"loads": {"balancer": SPRING}},
    "an object picked and released": {"loads": {"gripped": PICKED}},
    "a base that moves": {"base": BASE},
    "a base that moves and turns": {
        "base": {**BASE, "turn": {"kind": "harmonic", "amplitude": [0.1, 0.05, 0.02], "period": 9.0}}
    },
}
"""What is added to a run with a metric alone."""

OUTPUTS = (
    "inverse_jacobian",
    "inverse_jacobian_rate",
    "mass_matrix",
    "coriolis_matrix",
    "gravity_force",
    "effective_inertia",
    "kinetic_energy",
    "momentum",
    "centre_of_mass",
    "link_twist",
    "link_wrench",
    "joint_reaction",
    "state_matrix",
)
"""Series that are kept beside the forces of the actuators."""

SHARING: dict[str, dict[str, Any]] = {
    "weights of two motors": {"weights": {"limb1.1": 2, "limb2.1": 0.5}},
    "the least largest torque": {"rule": "least_maximum"},
}
"""How four motors of three freedoms share forces, beside least squares."""

LINKS = [
    {
        "joint": str(k),
        "body": f"body{k}",
        "parent": f"body{k - 1}" if k > 1 else "base",
        "kind": "revolute",
        "axis": "z",
        "placement": {"position": ["length" if k > 1 else 0, 0, 0]},
        "inertia": {"mass": 2, "centre": [0.15, 0.01, 0], "moments": [0.01, 0.02, 0.03]},
    }
    for k in range(1, 5)
]
PLANAR: dict[str, Any] = {
    "limbsweep": 1,
    "name": "planar_4r",
    "parameters": {"length": {"default": 0.3}},
    "limbs": {
        "arm": {
            "links": LINKS,
            "tips": [{"joint": "weld", "kind": "fixed", "a": "body4", "frame_a": {"position": [0.2, 0, 0]}}],
            "actuated": ["1", "2", "3", "4"],
            "reference": {"1": 0.3, "2": 0.5, "3": 0.7, "4": 0.4},
        }
    },
    "instances": {"arm": {"limb": "arm"}},
    "platform": {
        "coordinates": ["x", "y", "yaw"],
        "inertia": {"mass": 3, "moments": [0.01, 0.01, 0.02]},
        "home": {"position": [0.6, 0.5, 0], "turn": {"z": 100}},
    },
}
"""An arm in a plane with four joints, one more than its platform needs."""

DECIDED: dict[str, dict[str, Any]] = {
    "a posture": {"posture": {f"arm.{k}": 0 for k in range(1, 5)}},
    "a linear task": {"tasks": {"bend": {"coefficients": {"arm.1": 1, "arm.2": -0.5}, "value": 0}}},
}
"""What decides its free joint, in place of that its motion is given."""


def features(size: Size) -> Iterator[Figure]:
    """Runs in this process, everything but compiling included, over the run without: loads, bases, then outputs.

    Then arms with a free joint beside the same arm whose joint is given, and four motors beside least squares.
    """
    designs = 4000 if size.full else 2
    plain = _seconds(SWEEP, designs, size)
    yield Figure("forces alone", plain / designs / 1001 * 1e6, "us/sample", f"{designs} designs of a Delta, a metric")
    for name, more in SECTIONS.items():
        yield Figure(f"  {name}", _seconds(SWEEP | more, designs, size) / plain, "x", "over that run")
    designs = 200 if size.full else 1
    forces = ["actuator_force"]
    plain = _seconds(SWEEP | {"outputs": forces}, designs, size)
    yield Figure("forces as series", plain / designs / 1001 * 1e6, "us/sample", f"{designs} designs, in memory")
    for name in OUTPUTS:
        taken = _seconds(SWEEP | {"outputs": [*forces, name]}, designs, size)
        yield Figure(f"  {name}", taken / plain, "x", "over that run")
    yield from _redundant(size)
    designs = 4000 if size.full else 2
    four = SWEEP | {"robot": "delta_4rr2rrr"}
    plain = _seconds(four, designs, size)
    yield Figure("four motors", plain / designs / 1001 * 1e6, "us/sample", f"{designs} designs, by least squares")
    for name, sharing in SHARING.items():
        yield Figure(f"  {name}", _seconds(four | {"sharing": sharing}, designs, size) / plain, "x", "over that run")


def _redundant(size: Size) -> Iterator[Figure]:
    """Runs of the arm in a plane, whose free joint is given, and of what decides it."""
    designs, plain = 400 if size.full else 2, np.nan
    for name, decides in {"": {}, **DECIDED}.items():
        platform = PLANAR["platform"] | {"redundancy": {"joints": ["arm.2"], **decides}}
        amplitude = [0.05, 0.05, 0.1] if decides else [0.05, 0.05, 0.1, 0.1]
        sway = {"kind": "harmonic", "amplitude": amplitude, "period": 1.0}
        arm = SWEEP | {"robot": PLANAR | {"platform": platform}, "trajectories": {"sway": sway}}
        taken = _seconds(arm, designs, size, "length", (0.29, 0.31))
        if decides:
            yield Figure(f"  {name}", taken / plain, "x", "over that run")
        else:
            plain = taken
            text = f"{designs} designs of an arm with a free joint"
            yield Figure("its motion given", plain / designs / 1001 * 1e6, "us/sample", text)


def _seconds(
    content: dict[str, Any],
    designs: int,
    size: Size,
    parameter: str = "upper_arm",
    span: tuple[float, float] = (0.38, 0.4),
) -> float:
    """Best wall time of a whole run, whose kernels are compiled; of a quick one the first."""
    lengths = {parameter: {"values": np.linspace(*span, designs).tolist()}}
    sweep = Sweep.from_dict({**content, "design": {"grid": lengths}})
    if size.full:
        _run(sweep)
    return best(functools.partial(_run, sweep), 3 if size.full else 1)


def _run(sweep: Sweep) -> None:
    results = run(sweep, cluster=ClusterConfig(ClusterSection(kind="synchronous")))
    require(bool(np.isfinite(results.peak_force.values).all()), "peak forces are finite")
