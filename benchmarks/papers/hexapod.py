"""Huang et al., hexapod with offset universal joints, section 5: Figs. 7 to 10, its three conditions as sweeps.

Its Tables II and III are lost, so that lengths and masses are those of `docs/robots.md`; the comparison is of the
method: the limb formulation against the paper's own, the Newton-Euler equations of all bodies as one system.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from benchmarks.papers.results import NOT_PRINTED, Line, Outcome, Result, label, panels
from pipeline.execution.run import compute
from pipeline.sweep.model import Sweep
from robots import catalog
from robots.model import Robot
from tasks.checks.newton_euler_system import joint_reactions_reference
from tasks.dynamics.records import Moving

DURATION, STEP, CHECKED = 8.0, 0.01, 20
ANGLES = (math.pi / 180, 2 * math.pi / 180, 5 * math.pi / 180)
TURNS = {"clockwise": (0.0, 0.0, -1.0), "counter-clockwise": (0.0, 0.0, 1.0)}
"""The axis of the helix: Eq. (28) is clockwise seen from above."""
DOWN = (0.0, 0.0, -9.8)
CONDITIONS: Mapping[str, tuple[tuple[float, float, float], bool]] = {
    "1, inertia": ((0.0, 0.0, 0.0), False),
    "2, and gravity": (DOWN, False),
    "3, and a load": (DOWN, True),
}
"""Gravity, and whether there is a load on the platform."""


def load_at(times: np.ndarray) -> np.ndarray:
    """Return moment and force in the axes of the platform (time, 6) of Condition 3."""
    s, c = np.sin(times), np.cos(times)
    return np.stack([s, 2 * c, 3 * s, 10 * s, 10 * c, -10 * s], axis=1)


def condition(name: str, folder: Path) -> Sweep:
    """Return a condition of Table IV as a sweep, the helix both ways round."""
    gravity, loaded = CONDITIONS[name]
    turn = {"kind": "harmonic", "amplitude": list(ANGLES), "period": 2 * math.pi}
    load: dict[str, Any] = {}
    if loaded:
        times = np.arange(0.0, DURATION + STEP / 2, STEP)
        table = np.column_stack([times, load_at(times)])
        np.savetxt(folder / "load.csv", table, delimiter=",", header="t,mx,my,mz,fx,fy,fz", comments="", fmt="%.17g")
        load = {"load": {"file": "load.csv", "axes": "platform"}}
    file = {
        "limbsweep": 1,
        "robot": "hexapod_6rrrprr",
        "trajectories": {way: {**_helix(axis), "turn": turn, **load} for way, axis in TURNS.items()},
        "time": {"stop": DURATION, "step": STEP},
        "gravity": gravity,
        "outputs": ["actuator_force", "actuator_position", "platform_position", "platform_rotation", "platform_twist",
                    "platform_acceleration"],
        "metrics": ["peak_force"],
    }  # fmt: skip
    path = folder / "condition.yaml"
    path.write_text(json.dumps(file), encoding="utf-8")  # JSON is YAML
    return Sweep.from_yaml(path)


def _helix(axis: tuple[float, float, float]) -> dict[str, Any]:
    lift = math.copysign(0.002, axis[2])
    return {
        "kind": "helix",
        "normal": list(axis),
        "radius": 0.005,
        "axial_speed": lift,
        "period": 2 * math.pi,
        "phase": -math.pi / 2,
    }


def conditions() -> Outcome:
    """Compute three conditions in both directions: forces, and their difference from the paper's equations."""
    robot = catalog.build("hexapod_6rrrprr")
    lines, curves = [], {}
    with tempfile.TemporaryDirectory(prefix="limbsweep-") as folder:
        for name in CONDITIONS:
            results = compute(condition(name, Path(folder))).squeeze()
            curves[name] = results
            for way in TURNS:
                own = results.sel(trajectory=way)
                error = _beside_the_system(robot, own, name)
                force = own["actuator_force"]
                text = f"{float(force.min()):.2f} to {float(force.max()):.2f} N"
                told = f"system of {_unknowns(robot)} equations: {error:.0e} of the largest force"
                lines.append(Line(f"condition {name}, {way}", NOT_PRINTED, text, told))
    return Outcome(lines, [("hexapod_conditions", _drawn(curves)), ("hexapod_motion", _moving(curves["1, inertia"]))])


def _unknowns(robot: Robot) -> int:
    return 6 * (sum(len(robot.mechanism.limbs[each.limb].links) for each in robot.mechanism.instances) + 1)


def _beside_the_system(robot: Robot, results: xr.Dataset, name: str) -> float:
    """Return the largest relative difference of the forces from those of the whole system at some instants."""
    gravity, loaded = CONDITIONS[name]
    some = results.isel(time=np.linspace(0, results.sizes["time"] - 1, CHECKED).astype(int)).transpose("time", ...)
    rotation = some["platform_rotation"].values
    load = None
    if loaded:
        load = np.einsum("tij,tkj->tki", rotation, load_at(some["time"].values).reshape(-1, 2, 3)).reshape(-1, 6)
    moving = Moving(
        position=some["platform_position"].values,
        rotation=rotation,
        twist=some["platform_twist"].values,
        acceleration=some["platform_acceleration"].values,
    )
    whole = joint_reactions_reference(robot, gravity=gravity, load=load, **moving).actuator_force
    force = some["actuator_force"].values
    return float(np.abs(force - whole).max() / np.abs(force).max())


def _drawn(curves: Mapping[str, xr.Dataset]) -> Any:
    figure, axes = panels("Hexapod: forces of the legs, clockwise, as Figs. 8 to 10", len(CONDITIONS))
    for panel, (name, results) in zip(axes, curves.items(), strict=True):
        force = results["actuator_force"].sel(trajectory="clockwise").transpose("time", "actuator")
        for k in range(force.sizes["actuator"]):
            panel.plot(force["time"], force[:, k], label=f"leg {k + 1}")
        label(panel, "force [N]", f"condition {name}")
    return figure


def _moving(results: xr.Dataset) -> Any:
    figure, axes = panels("Hexapod: legs along the helix, as Fig. 7", len(TURNS))
    for panel, way in zip(axes, TURNS, strict=True):
        place = results["actuator_position"].sel(trajectory=way).transpose("time", "actuator")
        for k in range(place.sizes["actuator"]):
            panel.plot(place["time"], 1e3 * place[:, k], label=f"leg {k + 1}")
        label(panel, "leg [mm]", way)
    return figure


RESULTS = (
    Result(
        "hexapod",
        "Hexapod paper, Figs. 7 to 10 and Table IV; lengths and masses are declared, Tables II and III are lost",
        "A hexapod with offset universal joints under three conditions",
        conditions,
    ),
)
