"""Balance of energy of motions with joint friction: what forces put in, less what friction takes, is what is stored.

Every robot and law, in steps of order four, from a state in motion; forces about those that hold the robot there swing,
so that joints slide, come to rest and break away again. What is missing is relative to the largest of kinetic energy,
the work of forces and that of friction. Steps are halved until the balance closes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.figures import Figure, Size, require
from robots import catalog
from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks import equations_of_motion, inverse_dynamics, simulate

Array = np.ndarray

LAWS: Mapping[str, Mapping[str, Any]] = {
    "viscous": {"law": "viscous", "viscous": 1.0},
    "coulomb": {"law": "coulomb_viscous", "coulomb": 1.0, "viscous": 1.0},
    "stribeck": {"law": "stribeck", "coulomb": 1.0, "static": 1.3, "viscous": 1.0, "stribeck_velocity": 0.1},
    "brown_mcphee": {"law": "brown_mcphee", "dynamic": 1.0, "static": 1.3, "transition_velocity": 0.1},
    "stiction": {"law": "stiction", "coulomb": 1.0, "kinetic": 1.3, "static": 1.6, "stribeck_velocity": 0.1},
    "lugre": {
        "law": "lugre", "coulomb": 1.0, "static": 1.3, "sigma0": 100.0, "sigma1": 1.0, "sigma2": 1.0,
        "stribeck_velocity": 0.1,
    },
}  # fmt: skip
"""Laws, with dry and viscous friction to be scaled to a robot; stiffnesses of bristles too."""

FORCES = ("viscous", "coulomb", "static", "dynamic", "kinetic", "sigma0", "sigma1", "sigma2")

LEVELS: Mapping[str, float] = {
    "five_bar": 0.05,
    "delta_3rr2rrr": 0.05,
    "gough_stewart": 100.0,
    "irb6": 0.05,
    "three_loop_leg": 0.02,
    "planar_3r": 0.2,
    "five_axis_tree": 0.2,
}
"""Dry friction of each robot's joints [N m or N]."""

CLOSED = 1e-8
"""What may be missing of a balance."""


def start(robot: Robot) -> dict[str, Any]:
    """A state in motion, and the forces that hold the robot where it is, as keywords for simulations."""
    random, mechanism = np.random.default_rng(3), robot.mechanism
    free = len(mechanism.freedoms)
    if mechanism.is_chain:
        q = random.uniform(-0.1, 0.1, free)
        return {"q": q, "qd": random.normal(size=free) * 0.2, "force": inverse_dynamics(robot, q=q)}
    position = np.array(mechanism.platform.home.position)
    twist = np.zeros(6)
    twist[[TWIST.index(name) for name in mechanism.platform.mobility]] = random.normal(size=free) * 0.1
    return {"position": position, "twist": twist, "force": inverse_dynamics(robot, position=position)}


def missing(robot: Robot, law: Mapping[str, Any], step: float, seconds: float) -> tuple[float, Status, float]:
    """What is missing of the balance, relative; the status; and the share of the time in which some joint was held."""
    given, steps = start(robot), round(seconds / step)
    held, size = given.pop("force"), 3.0 * law.get("coulomb", law.get("dynamic", 1.0))

    def force(t: float) -> Array:
        return held + size * np.sin(6.0 * t + np.arange(len(held)))

    found: Any = simulate(robot, **given, force=force, friction=law, step=step, steps=steps, every=max(1, steps // 50))
    if found.status != Status.OK:
        return np.nan, Status(int(found.status)), 0.0
    chain = robot.mechanism.is_chain
    where = {"q": found.q, "qd": found.qd} if chain else {"position": found.position, "twist": found.twist}
    if not chain and robot.mechanism.platform.mobility[0] in TWIST[:3]:
        where["rotation"] = found.rotation
    energy = equations_of_motion(robot, **where)
    stored, taken = energy.kinetic_energy + energy.potential_energy, found.loss.sum(axis=-1)
    done = found.work.sum(axis=-1)
    off = np.abs(stored - stored[0] + taken - done).max()
    largest = max(float(np.abs(values).max()) for values in (energy.kinetic_energy, taken, done))
    return float(off / largest), Status.OK, float(found.stuck.any(axis=-1).mean())


def scaled(law: str, level: float, joints: str) -> dict[str, Any]:
    """A law with its friction at a level."""
    return {name: x * level if name in FORCES else x for name, x in LAWS[law].items()} | {"joints": joints}


def energy(size: Size) -> Iterator[Figure]:
    """What is missing of the balance of every robot and law."""
    for name, level in LEVELS.items() if size.full else (("planar_3r", 0.2),):
        for law in LAWS:
            yield figure(name, level, law, 1e-3, 10.0 if size.full else 0.05)


def figure(name: str, level: float, law: str, step: float, seconds: float) -> Figure:
    """One robot and law; the step is halved until the balance closes, up to eight times."""
    robot = catalog.build(name)
    for halved in range(8):
        off, status, held = missing(robot, scaled(law, level, "actuated"), step / 2**halved, seconds)
        if off <= CLOSED or status != Status.OK:
            break
    require(status != Status.OK or off <= CLOSED, f"{name}, {law}: {off:.1e} of the energy is missing")
    remark = f"{seconds:g} s in steps of {step / 2**halved:.3g} s, some joint held in {held:.0%} of the times kept"
    return Figure(f"{name}, {law}", off, "of the energy is missing", remark if status == Status.OK else status.name)


def main() -> None:
    """Print the figures of some robots, or of all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.energy", description="Balance of energy.")
    parser.add_argument("robots", nargs="*", choices=[[], *LEVELS], help="names of robots (absent: all)")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long motions last [s]")
    parser.add_argument("--step", type=float, default=1e-3, help="the longest step [s]")
    options = parser.parse_args()
    for name in options.robots or LEVELS:
        for law in LAWS:
            found = figure(name, LEVELS[name], law, options.step, options.seconds)
            print(f"{found.name}: {found.value:.1e} {found.unit}; {found.remark}", flush=True)


if __name__ == "__main__":
    main()
