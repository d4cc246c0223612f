"""Cost of loads, bases, outputs, clearances, redundancy and elasticity: each beside the same run or call without."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.figures import Figure, Size, best, require
from pipeline.cluster.checks import ClusterSection
from pipeline.cluster.file import ClusterConfig
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep
from robots import catalog
from robots.criteria.elasticity import Elasticity
from robots.loads.declared import ElasticDrive, JointSpringLoad
from robots.loads.family import with_loads
from robots.model import Robot
from tasks.dynamics.forward import forward_dynamics
from tasks.dynamics.records import Forces

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
REACTIONS: dict[str, Any] = {"metrics": ["peak_force", "peak_reaction"]}
SOFT = {"joints": {"all": {"forces": [1e8, 1e8, 1e8], "moments": [1e4, 1e4, 1e4]}}, "reactions": True}
PICKED = {"kind": "object", "body": "platform", "mass": 1.0, "at": [0, 0, -0.1], "from": 0.1, "until": 0.3}

TUBES = {"tube": [0.03, 0.02], "young": 70.0e9}
STIFF = {"actuators": {"all": 2.0e4}, "links": {"all": TUBES}}
LOOSE = {"joints": {"all": {"radial": 1.0e-5}}, "backlash": {"all": 1.0e-4}}

SECTIONS: dict[str, dict[str, Any]] = {
    "a wrench on the platform": {"loads": {"push": PUSH}},
    "the same over time": {"loads": {"push": {**PUSH, "force": [0, 0, "-20 * sin(2 * pi * t)"]}}},
    "a spring at each arm": {"loads": {"balancer": SPRING}},
    "an object picked and released": {"loads": {"gripped": PICKED}},
    "a base that moves": {"base": BASE},
    "a base that moves and turns": {
        "base": {**BASE, "turn": {"kind": "harmonic", "amplitude": [0.1, 0.05, 0.02], "period": 9.0}}
    },
    "links that are warm": {"warming": {"expansion": {"all": 12.0e-6}}},
    "a metric of stiffness": {"criteria": {"stiffness": STIFF}, "metrics": ["peak_force", "least_stiffness"]},
    "a metric of clearances": {
        "criteria": {"stiffness": STIFF, "clearances": LOOSE},
        "metrics": ["peak_force", "clearance_shift"],
    },
    "friction of the motors": {"friction": RUBBING},
    "friction of passive joints by their reactions": {"friction": {**RUBBING, "joints": "passive", "load": "reaction"}},
    "the largest reaction of each joint": REACTIONS,
    "the same, shared by the stiffness of joints": {**REACTIONS, "criteria": {"stiffness": SOFT}},
}
"""Additions to a run with a metric alone."""

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

SHARING: dict[str, dict[str, Any]] = {
    "weights of two motors": {"weights": {"limb1.1": 2, "limb2.1": 0.5}},
    "the least largest torque": {"rule": "least_maximum"},
}
"""Ways in which four motors of three freedoms share forces, beside least squares."""

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
"""Rules that decide its free joint, in place of a given motion."""


def features(size: Size) -> Iterator[Figure]:
    """Time whole runs, without compiling, relative to the run without features; then calls of forward dynamics.

    Arms with a free joint are beside the same arm whose joint is given, and four motors beside least squares.
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
    for name in OUTPUTS if size.full else OUTPUTS[-3:]:  # each is compiled
        taken = _seconds(SWEEP | {"outputs": [*forces, name]}, designs, size)
        yield Figure(f"  {name}", taken / plain, "x", "over that run")
    yield from _redundant(size)
    yield from _four_motors(size)
    yield from _elastic_states(size)
    yield from _shared_loads(size)


def _four_motors(size: Size) -> Iterator[Figure]:
    """Time the ways to share the forces of a Delta with a redundant motor, relative to least squares."""
    designs = 4000 if size.full else 2
    four = SWEEP | {"robot": "delta_4rr2rrr"}
    plain = _seconds(four, designs, size)
    yield Figure("four motors", plain / designs / 1001 * 1e6, "us/sample", f"{designs} designs, by least squares")
    for name, sharing in SHARING.items():
        yield Figure(f"  {name}", _seconds(four | {"sharing": sharing}, designs, size) / plain, "x", "over that run")


def _elastic_states(size: Size) -> Iterator[Figure]:
    """Yield forward dynamics of an arm without elastic parts, and with these as states."""
    states = 200_000 if size.full else 100
    arm = catalog.build("irb6")
    freedoms = len(arm.mechanism.freedoms)

    def seconds(robot: Robot) -> float:
        count = len(robot.mechanism.freedoms)
        q = np.random.default_rng(1).uniform(-0.3, 0.3, (states, count))
        force = np.ones((states, len(robot.mechanism.actuators)))

        def call() -> None:
            change = forward_dynamics(robot, q=q, qd=q, forces=Forces(actuator=force)).acceleration
            require(bool(np.isfinite(change).all()), "accelerations are finite")

        call()
        return best(call, 3 if size.full else 1)

    plain = seconds(arm)
    yield Figure(
        "forward dynamics of an arm", plain / states * 1e6, "us/state", f"{states} states, {freedoms} freedoms"
    )
    drives = with_loads(arm, {"soft": ElasticDrive("all", stiffness=1e3, damping=1.0, inertia=1e-3)})
    hinges = with_loads(arm, {"soft": JointSpringLoad("all", stiffness=100.0)})
    note = f"{len(drives.mechanism.freedoms)} freedoms, over that call"
    yield Figure("  elastic drives as states", seconds(drives) / plain, "x", note)
    yield Figure("  springs in all joints", seconds(hinges) / plain, "x", "over that call")


def _shared_loads(size: Size) -> Iterator[Figure]:
    """Compare accelerations under friction of statically indeterminate reactions: by stiffness over the least norm."""
    states, robot = 20_000 if size.full else 50, catalog.build("five_bar")
    position = np.zeros((states, 3))
    position[:, ::2] = np.random.default_rng(1).uniform((-0.1, -0.7), (0.1, -0.5), (states, 2))
    bearings = Elasticity.of(robot.mechanism, joints={"all": (2e3, 2e3, 2e3, 5e6, 5e6, 1e6)})
    rubbing = {"law": "coulomb_viscous", "joints": "all", "load": "reaction", "coulomb": 0.05}
    moving: dict[str, Any] = {"position": position, "twist": [0.0, 0.0, 0.0, 0.3, 0.0, 0.2]}

    def seconds(elasticity: Elasticity | None) -> float:
        def call() -> None:
            moved = forward_dynamics(
                robot, forces=Forces(friction=rubbing, elasticity=elasticity, actuator=np.zeros(2)), **moving
            )
            require(bool((moved.status == 0).all()), "loads settle")

        call()
        return best(call, 3 if size.full else 1)

    plain = seconds(None)
    note = f"{states} states of a five-bar robot"
    yield Figure("accelerations with friction", plain / states * 1e6, "us/state", f"{note}, loads of the least norm")
    yield Figure("  loads by stiffness", seconds(bearings) / plain, "x", "over that call")


def _redundant(size: Size) -> Iterator[Figure]:
    """Time runs of the arm in a plane, with its free joint given, or resolved by various criteria."""
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
    """Return the best wall time of a whole run, with compiled kernels; for a quick one the first time."""
    lengths = {parameter: {"values": np.linspace(*span, designs).tolist()}}
    sweep = Sweep.from_dict({**content, "design": {"grid": lengths}})
    if size.full:
        _run(sweep)  # compiles
    return best(functools.partial(_run, sweep), 3 if size.full else 1)


def _run(sweep: Sweep) -> None:
    results = run(sweep, cluster=ClusterConfig(ClusterSection(kind="synchronous")))
    require(bool(np.isfinite(results.peak_force.values).all()), "peak forces are finite")
