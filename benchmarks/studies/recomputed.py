"""Metrics of all studies from the numbers of a design, without the package; here those of `examples/studies`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from benchmarks.studies import mechanisms, newcomer
from benchmarks.studies.mechanisms import Array, Body, Robot, forces, jacobian, quintic, tube, with_ends

Design = Mapping[str, float]
ALUMINIUM, STEEL = 2700.0, 76e3 / 9.81


def five_bar(design: Design, points: int = 101) -> dict[str, float]:
    """Return the cycle time [s] and the largest condition number of a five-bar of `five_bar_from_nothing.yaml`."""
    outer = design["tube"]
    profile = (ALUMINIUM, outer, outer - 0.004)
    robot = mechanisms.five_bar(design["proximal_length"], design["distal_length"], 0.1, profile, 0.1)
    start, end = np.array([-0.15, -0.4]), np.array([0.15, -0.35])
    motion = quintic(start, end, 0.3)
    rates = [jacobian(robot, motion(t)) for t in np.linspace(0.0, 0.3, 31)]
    time = mechanisms.fastest(
        robot, lambda s: start + (end - start) * s, design["peak_torque"], design["top_speed"], points
    )
    return {"cycle_time": time, "condition": max(map(np.linalg.cond, rates))}


def delta(design: Design) -> dict[str, float]:
    """Return the largest torque [N m], speed [rad/s] and condition number of a Delta of `delta_from_nothing.yaml`."""
    sizes = {"platform_radius": 0.07, "link_length": 0.08, **design}
    arm_tube = sizes["upper_arm"] / 8.0
    arm = tube(ALUMINIUM, arm_tube, 0.9 * arm_tube, sizes["upper_arm"])
    rod = with_ends(tube(1600.0, 0.016, 0.013, sizes["rod_length"]), 0.03, sizes["rod_length"])
    platform = ALUMINIUM * np.pi / 4.0 * 0.09**2 * 0.1 + 1.0
    robot = mechanisms.delta(sizes, arm, rod, tube(ALUMINIUM, 0.02, 0.0, 0.08), platform)
    height = np.sqrt(1.0 - (0.25 + 0.15 - 0.07) ** 2)  # the reference position of the robot with its fixed parameters
    return _along(robot, quintic(np.array([-0.2, 0.0, -height]), np.array([0.2, 0.0, 0.03 - height]), 0.35), 36, 0.35)


def hexapod(design: Design) -> dict[str, float]:
    """Return the largest force [N] and speed [m/s] of the legs of a hexapod of `hexapod_from_nothing.yaml`."""
    feet, hinges = [], []
    for leg in range(6):
        pair, sign = leg // 2, -1.0 if leg % 2 == 0 else 1.0
        angle = 2.0 * np.pi / 3.0 * pair + sign * np.radians(design["base_half_angle"])
        hinge = 2.0 * np.pi / 3.0 * pair + sign * np.radians(50.0)
        feet.append(design["base_radius"] * np.array([np.cos(angle), np.sin(angle), 0.0]))
        hinges.append(design["platform_radius"] * np.array([np.cos(hinge), np.sin(hinge), 0.0]))
    base, plate, home = np.array(feet), np.array(hinges), np.array([0.0, 0.0, 1.4])
    part = 0.7 * float(np.linalg.norm(home + plate[0] - base[0]))
    disc = tube(STEEL, 2.0 * design["platform_radius"], 0.0, 0.05)
    top = Body(disc.mass + 400.0, disc.inertia)
    legs = tube(STEEL, 0.1, 0.06, part), tube(STEEL, 0.06, 0.0, part)
    robot = mechanisms.hexapod(base, plate, home, *legs, part, top)
    still = np.zeros(3)
    start, end = np.array([-0.15, 0.0, 1.4]), np.array([0.15, 0.1, 1.45])
    motion = quintic(np.concatenate([start, still]), np.concatenate([end, still]), 0.5)
    return {name: x for name, x in _along(robot, motion, 26, 0.5).items() if name != "condition"}


def _along(robot: Robot, motion: Callable[[float], Array], samples: int, duration: float) -> dict[str, float]:
    """Return peaks along a motion from rest to rest, at the samples of the sweep."""
    times = np.linspace(0.0, duration, samples)
    rates = [jacobian(robot, motion(t)) for t in times]
    speeds = [rate @ (motion(t + 1e-6) - motion(t - 1e-6)) / 2e-6 for rate, t in zip(rates, times, strict=True)]
    return {
        "peak_force": float(max(np.abs(forces(robot, motion, t)).max() for t in times)),
        "peak_velocity": float(np.abs(speeds).max()),
        "condition": float(max(map(np.linalg.cond, rates))),
    }


STUDIES: Mapping[str, Callable[[Design], dict[str, float]]] = {
    "five_bar": five_bar,
    "delta": delta,
    "hexapod": hexapod,
    "linear_delta": newcomer.linear_delta,
    "planar_3rrr": newcomer.planar_3rrr,
    "servo": newcomer.servo,
    "box_delta": newcomer.box_delta,
}
