"""What loads, moving bases and outputs cost: whole runs with each of them beside the same run without."""

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
RUBBING = {"law": "coulomb_viscous", "parameters": {"coulomb": 0.1, "viscous": 0.01}}
REACTIONS = {"metrics": ["peak_force", "peak_reaction"]}
SOFT = {"joints": {"all": {"forces": [1e8, 1e8, 1e8], "moments": [1e4, 1e4, 1e4]}}, "reactions": True}
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
    "friction of the motors": {"friction": RUBBING},
    "friction of passive joints by their reactions": {"friction": {**RUBBING, "joints": "passive", "load": "reaction"}},
    "the largest reaction of each joint": REACTIONS,
    "the same, shared by the stiffness of joints": {**REACTIONS, "criteria": {"stiffness": SOFT}},
}
"""What is added to a run with a metric alone."""

OUTPUTS = (
    "inverse_jacobian",
    "inverse_jacobian_rate",
    "mass_matrix",
    "coriolis_matrix",
    "coriolis_coefficients",
    "gravity_force",
    "effective_inertia",
    "kinetic_energy",
    "momentum",
    "centre_of_mass",
    "link_twist",
    "link_wrench",
    "joint_reaction",
    "bearing_load",
    "state_matrix",
)
"""Series that are kept beside the forces of the actuators."""


def features(size: Size) -> Iterator[Figure]:
    """Runs in this process, everything but compiling included, over the run without: loads, bases, then outputs."""
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


def _seconds(content: dict[str, Any], designs: int, size: Size) -> float:
    """Best wall time of a whole run, whose kernels are compiled."""
    lengths = {"upper_arm": {"values": np.linspace(0.38, 0.4, designs).tolist()}}
    sweep = Sweep.from_dict({**content, "design": {"grid": lengths}})
    if size.full:
        _run(sweep)  # compiles
    return best(functools.partial(_run, sweep), 3 if size.full else 1)


def _run(sweep: Sweep) -> None:
    results = run(sweep, cluster=ClusterConfig(ClusterSection(kind="synchronous")))
    require(bool(np.isfinite(results.peak_force.values).all()), "peak forces are finite")
