"""Energy balance of motions with joint friction: work of forces less that of friction equals the stored energy.

Every robot and law, from a state in motion; springs of the actuators hold the robot near there, and forces swing beside
them, so that joints slide, come to rest and break away again. The energy error is relative to the largest of kinetic
energy, the work of forces and that of friction. Adaptive steps have their tolerance lowered until the balance closes.
Fixed steps are halved: the error has to fall by their order, which shows that it comes from the steps and not from the
equations.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.figures import Figure, Size, require
from benchmarks.motion.machines import machine
from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks import equations_of_motion, inverse_dynamics
from tasks.dynamics.simulate import simulate, simulate_adaptive

Array = np.ndarray

LAWS: Mapping[str, Mapping[str, Any]] = {
    "viscous": {"law": "viscous", "viscous": 1.0},
    "coulomb": {"law": "coulomb_viscous", "coulomb": 1.0, "viscous": 1.0},
    "stribeck": {"law": "stribeck", "coulomb": 1.0, "static": 1.3, "viscous": 1.0, "stribeck_velocity": 0.1},
    "brown_mcphee": {
        "law": "brown_mcphee", "dynamic": 1.0, "static": 1.3, "viscous": 1.0, "transition_velocity": 0.1,
    },
    "stiction": {
        "law": "stiction", "coulomb": 1.0, "kinetic": 1.3, "static": 1.6, "viscous": 1.0, "stribeck_velocity": 0.1,
    },
    "lugre": {
        "law": "lugre", "coulomb": 1.0, "static": 1.3, "sigma0": 100.0, "sigma1": 1.0, "sigma2": 1.0,
        "stribeck_velocity": 0.1,
    },
}  # fmt: skip
"""Laws, with dry and viscous friction to be scaled to a robot; stiffnesses of bristles too."""

FORCES = ("viscous", "coulomb", "static", "dynamic", "kinetic", "sigma0", "sigma1", "sigma2")

LEVELS: Mapping[str, float] = {
    "planar_3r": 0.2,
    "five_bar": 0.5,
    "three_loop_leg": 0.1,
    "five_axis_tree": 0.2,
    "rover_rocker": 0.2,
    "irb6": 0.05,
    "irsbot2": 0.5,
    "delta_3rr2rrr": 0.5,
    "delta_4rr2rrr": 0.5,
    "delta_3r2us": 0.5,
    "delta_rl5_1450": 2.0,
    "delta_rl5_1450_motors": 0.01,
    "gough_stewart": 200.0,
    "hexapod_6rrrprr": 3.0,
    "hexapod_ball_screws": 0.01,
}
"""Dry friction of each robot's actuators [N m or N]."""

SPRING = 8.0
"""Angular frequency [rad/s] with which springs of the actuators would swing a robot."""

STIFFER: Mapping[str, float] = {"hexapod_6rrrprr": 20.0}
"""The same where gravity pulls a robot away from its pose faster than that: it would turn over, and fall."""

CLOSED = 1e-8
"""Largest relative error of a balance."""

TOLERANCES = (1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
"""Relative tolerances of adaptive steps, tried one after the other until the balance closes."""

SHORT, STEP = 0.5, 2e-3
"""Duration of motions in fixed steps, and the longest steps [s]."""

HALVED = 5
"""Largest number of halvings, until the error falls by the order of the method."""


def start(robot: Robot) -> dict[str, Any]:
    """Return a state in motion, and the forces that hold the robot where it is, as keywords for simulations."""
    random, mechanism = np.random.default_rng(3), robot.mechanism
    free = len(mechanism.freedoms)
    if mechanism.is_chain:
        q = random.uniform(-0.1, 0.1, free)
        return {"q": q, "qd": random.normal(size=free) * 0.2, "force": inverse_dynamics(robot, q=q).force}
    position = np.array(mechanism.platform.home.position)
    twist = np.zeros(6)
    twist[[TWIST.index(name) for name in mechanism.platform.mobility]] = random.normal(size=free) * 0.1
    return {"position": position, "twist": twist, "force": inverse_dynamics(robot, position=position).force}


def pushed(robot: Robot, law: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same with friction and forces that swing; springs of actuators hold the robot near where it starts."""
    keywords = start(robot)
    held, size = keywords["force"], 3.0 * law.get("coulomb", law.get("dynamic", 1.0))
    chain = robot.mechanism.is_chain
    where = {"q": keywords["q"]} if chain else {"position": keywords["position"]}
    plain, home = equations_of_motion(robot, **where), np.eye(3) if chain else rotation_at_home(robot)
    springs = np.linalg.pinv(plain.jacobian.T) @ plain.mass * STIFFER.get(robot.name, SPRING) ** 2
    free = [] if chain else [TWIST.index(name) for name in robot.mechanism.platform.mobility]

    def swinging(t: Array) -> Array:
        return np.asarray(held + size * np.sin(6.0 * np.asarray(t)[..., None] + np.arange(len(held))))

    def of_chain(t: Array, q: Array, qd: Array) -> Array:
        return swinging(t) - np.einsum("af,...f->...a", springs, q - keywords["q"])

    def of_platform(t: Array, position: Array, rotation: Array, twist: Array) -> Array:
        turned = rotation @ home.T
        turn = 0.5 * np.stack(
            [turned[..., (k + 2) % 3, (k + 1) % 3] - turned[..., (k + 1) % 3, (k + 2) % 3] for k in range(3)], axis=-1
        )
        away = np.concatenate([turn, position - keywords["position"]], axis=-1)[..., free]
        return swinging(t) - np.einsum("af,...f->...a", springs, away)

    return {**keywords, "friction": law, "force": of_chain if chain else of_platform}


def rotation_at_home(robot: Robot) -> Array:
    """Return the rotation of the platform at its reference pose (3, 3)."""
    return np.array(robot.mechanism.platform.home.rotation, dtype=float)


def missing(robot: Robot, motion: Any) -> float:
    """Return the relative error of the energy balance; NaN where the motion came to an end."""
    if motion.status != Status.OK:
        return np.nan
    chain = robot.mechanism.is_chain
    where = {"q": motion.q, "qd": motion.qd} if chain else {"position": motion.position, "twist": motion.twist}
    if not chain and robot.mechanism.platform.mobility[0] in TWIST[:3]:
        where["rotation"] = motion.rotation
    energies = equations_of_motion(robot, **where)
    stored, taken = energies.kinetic_energy + energies.potential_energy, motion.loss.sum(axis=-1)
    done = motion.work.sum(axis=-1)
    off = np.abs(stored - stored[0] + taken - done).max()
    return float(off / max(float(np.abs(values).max()) for values in (energies.kinetic_energy, taken, done)))


def in_steps(robot: Robot, law: Mapping[str, Any], step: float, seconds: float) -> Any:
    """Return the motion in fixed steps."""
    count = round(seconds / step)
    return simulate(robot, **pushed(robot, law), step=step, steps=count, every=max(1, count // 50))


def adaptively(robot: Robot, law: Mapping[str, Any], rtol: float, seconds: float) -> Any:
    """Return the motion in adaptive steps."""
    run: dict[str, Any] = {**pushed(robot, law), "rtol": rtol, "atol": rtol * 0.01, "solver": "DOP853"}
    return simulate_adaptive(robot, **run, times=np.linspace(0.0, seconds, 51), balance=1.0)


def scaled(law: str, level: float, joints: str) -> dict[str, Any]:
    """Return a law with its friction at a level."""
    return {name: x * level if name in FORCES else x for name, x in LAWS[law].items()} | {"joints": joints}


def energy(size: Size) -> Iterator[Figure]:
    """Compute the error of the energy balance of every robot and law."""
    for name in LEVELS if size.full else ("planar_3r",):
        for law in LAWS:
            off, rtol, motion = closed(name, law, 10.0 if size.full else 0.05)
            remark = f"adaptive steps, tolerance {rtol:.0e}"
            yield Figure(f"{name}, {law}", off, "of the energy is missing", f"{remark}, {_held(motion)}")


def closed(name: str, law: str, seconds: float) -> tuple[float, float, Any]:
    """Return the error at the first tolerance that closes the balance, that tolerance, and the motion.

    Raises CheckError where none does for a motion that is OK.
    """
    robot, friction = machine(name), scaled(law, LEVELS[name], "actuated")
    for rtol in TOLERANCES:
        motion = adaptively(robot, friction, rtol, seconds)
        off = missing(robot, motion)
        if off <= CLOSED:
            break
    require(motion.status != Status.OK or off <= CLOSED, f"{name}, {law}: {off:.1e} of the energy is missing")
    return off, rtol, motion


def _held(motion: Any) -> str:
    if motion.status != Status.OK:
        return Status(int(motion.status)).name
    return f"some joint held in {motion.stuck.any(axis=-1).mean():.0%} of the times kept"


HEAD = (
    "robot", "law", "missing in 10 s", "tolerance", "held", "fixed steps", "missing", "in half of them", "order",
)  # fmt: skip


def abouts(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield each robot by law."""
    return itertools.product(names or LEVELS, LAWS)


def cells(about: tuple[str, ...]) -> tuple[str, ...]:
    """Return adaptive steps for 10 s, fixed ones for less, and the order of the fixed ones' energy error."""
    name, law = about
    off, rtol, motion = closed(name, law, 10.0)
    require(motion.status == Status.OK, f"{name}, {law}: {_held(motion)}")
    step, left = in_halves(name, law)
    held, order = f"{motion.stuck.any(axis=-1).mean():.0%}", np.log2(left[0] / left[1])
    steps = f"{SHORT:g} s in {step * 1e3:g} ms"
    return f"{off:.1e}", f"{rtol:.0e}", held, steps, *(f"{x:.1e}" for x in left), f"{order:.1f}"


def in_halves(name: str, law: str) -> tuple[float, tuple[float, float]]:
    """Return the fixed steps [s], and the energy errors with them and with half of them.

    The longest of which halving leaves as much less as the order says, to half an order. Longer ones may be cut where
    a law turns over within them, or where joints stop, so that halving them changes little.
    """
    robot, friction = machine(name), scaled(law, LEVELS[name], "actuated")
    order = 2.0 if law == "lugre" else 4.0
    last = missing(robot, in_steps(robot, friction, STEP, SHORT))
    for k in range(HALVED):
        step = STEP / 2**k
        left = last, missing(robot, in_steps(robot, friction, step / 2, SHORT))
        if left[1] <= left[0] * 2.0 ** (0.5 - order):
            break
        last = left[1]
    return step, left
