"""Joint-friction paper: the tree of Figs. 13 to 15, the leg of Figs. 17 to 19; and published friction of others."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import xarray as xr

from benchmarks.papers.results import NOT_PRINTED, Line, Outcome, Result, label, panels
from pipeline.execution.run import compute
from pipeline.sweep.model import Sweep
from robots import catalog
from tasks.checks.newton_euler_system import joint_reactions_reference
from tasks.features.friction import laws as friction
from tasks.features.friction.block_test import draw_block

EXAMPLES = Path(__file__).parents[2] / "examples"
DOWN: Mapping[str, tuple[float, float, float]] = {
    "five_axis_tree": (0.0, 0.0, -9.8),
    "three_loop_leg": (0.0, -9.8, 0.0),
}
FAST = 1.5 * math.pi
MOVES: Mapping[str, Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]] = {
    "from_rest": lambda t: (0.1 * t**2, 0.2 * t, 0.2 + 0.0 * t),
    "slow": lambda t: (0.1 * t, 0.1 + 0.0 * t, 0.0 * t),
    "fast": lambda t: (0.4 + 0.5 * np.sin(FAST * t), 0.5 * FAST * np.cos(FAST * t), -0.5 * FAST**2 * np.sin(FAST * t)),
}
"""Position, rate and acceleration of all driven joints, by the trajectory of the examples."""
CHECKED = 20

LUGRE = {
    "sigma0": 1e5, "sigma1": math.sqrt(1e5), "sigma2": 0.4, "coulomb": 1.0, "static": 1.5, "stribeck_velocity": 1e-3,
}  # fmt: skip
END = ("1.9088391992", "9.42415e-06", "1.18167954559e-05")
"""Place [m], velocity [m/s], deflection [m] after 25 s."""

NAMES = ("static", "coulomb", "viscous", "stribeck_velocity")
IRB_2400 = (
    (36.3, 24.2, 11.85, 0.0085),
    (39.2, 31.2, 8.323, 0.0031),
    (25.3, 16.9, 9.3613, 0.0094),
    (19.2, 7.9, 7.1228, 0.0175),
    (39.7, 13.7, 7.2654, 0.0176),
    (17.5, 8.8, 2.323, 0.0162),
)
"""Stribeck friction of its joints [N m, N m, N m s/rad, rad/s]: Obal and Gierlak 2025, doi 10.2478/ama-2025-0064."""


def chains() -> Outcome:
    """Compute the constraint forces and driving torques of both examples, beside all bodies' Newton-Euler equations."""
    lines = []
    for name, gravity in DOWN.items():
        results = compute(Sweep.from_yaml(EXAMPLES / f"{name}.yaml")).isel(design=0)
        for trajectory in results["trajectory"].values:
            own = results.sel(trajectory=trajectory)
            error = _beside_the_system(name, gravity, own)
            told = f"system of all bodies: {error:.0e} of the largest"
            force = own["actuator_force"]
            text = f"torques {float(force.min()):.3f} to {float(force.max()):.3f} N m"
            lines.append(Line(f"`{name}`, {trajectory}", NOT_PRINTED, text, told))
        added = float(abs(results["actuator_force"] - results["actuator_force"].isel(friction=0)).max())
        what = f"`{name}`, what friction adds"
        lines.append(Line(what, NOT_PRINTED, f"at most {added:.4f} N m", "radii of joints are declared here"))
    lines += [
        Line(
            "Eq. (47), friction of a joint",
            "adds forces [N] to torques [N m]",
            "every force has its arm",
            "misprint: units",
        ),
        Line(
            "(A29), (A30), force of a closure on its two bodies",
            "the same sign on both",
            "opposite signs",
            "misprint: against (A31), and action is reaction",
        ),
        Line("Eq. (65), axis of the driven joint", "1'", "1''", "misprint"),
    ]
    return Outcome(lines)


def _beside_the_system(name: str, gravity: tuple[float, float, float], results: xr.Dataset) -> float:
    """Return the largest relative difference of the torques without friction from those of the whole system."""
    robot = catalog.build(name)
    some = results.isel(time=np.linspace(0, results.sizes["time"] - 1, CHECKED).astype(int), friction=0)
    freedoms = np.ones(len(robot.mechanism.freedoms))
    q, qd, qdd = (part[:, None] * freedoms for part in MOVES[str(results["trajectory"].values)](some["time"].values))
    whole = joint_reactions_reference(robot, gravity=gravity, method="least_norm", q=q, qd=qd, qdd=qdd).actuator_force
    force = some["actuator_force"].transpose("time", ...).values
    return float(np.abs(force - whole).max() / np.abs(force).max())


def published_laws() -> Outcome:
    """Return the test of the LuGre law, and friction curves of an industrial arm."""
    end = draw_block(
        mass=1.0,
        stiffness=2.0,
        pull=lambda t: 0.1 * t,
        times=[0.0, 25.0],
        law="lugre",
        values=LUGRE,
        tolerances=(1e-10, 1e-14),
    )
    found = (f"{end.position[-1]:.10f}", f"{end.velocity[-1]:.5e}", f"{end.deflection[-1]:.11e}")
    what = ("place [m]", "velocity [m/s]", "deflection [m]")
    lines = [
        Line(f"LuGre block after 25 s, {name}", printed, computed, "equal" if printed == computed else "differs")
        for name, printed, computed in zip(what, END, found, strict=True)
    ]
    figure, (axes,) = panels("Friction of the joints of an IRB 2400", 1)
    speed = np.geomspace(1e-4, 1.0, 200)
    for number, row in enumerate(IRB_2400, 1):
        values = dict(zip(NAMES, row, strict=True))
        curve = np.array([friction.force("stribeck", v, 1.0, values) for v in speed], dtype=float)
        axes.semilogx(speed, curve, label=f"joint {number}")
        low = f"{curve[0]:.2f} N m at 0.0001 rad/s"
        printed = f"{values['static']} N m at rest"
        lines.append(Line(f"IRB 2400, joint {number}", printed, low, f"{curve[-1]:.2f} N m at 1 rad/s"))
    label(axes, "friction [N m]", "parameters of Obal and Gierlak 2025")
    axes.set_xlabel("speed [rad/s]")
    return Outcome(lines, [("irb_2400_friction", figure)])


RESULTS = (
    Result("chains", "Joint-friction paper, Figs. 13 to 15 and 17 to 19", "A tree and a leg with friction", chains),
    Result(
        "friction-laws",
        "Canudas de Wit's test of the LuGre law; Obal and Gierlak 2025",
        "Published friction",
        published_laws,
    ),
)
