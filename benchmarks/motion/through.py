"""A five-bar under constant torques, through the ends of its reach (type 1), beside MuJoCo.

MuJoCo joins the tips of its two arms by a stiff equality constraint and takes short steps of Runge and Kutta's method;
ours are all joints of the tree in steps that an error allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import mujoco
import numpy as np

import limbsweep as ls
from benchmarks.figures import require
from robots.status import Status

Array = np.ndarray

ROBOT = ls.robots.build("five_bar")
NEAR, FAR, WIDTH = (ROBOT.values[name] for name in ("proximal_length", "distal_length", "base_half_width"))
HOME = np.array(ROBOT.mechanism.platform.home.position, dtype=float)[[0, 2]]
GRAVITY = (0.0, 0.0, -9.81)

TORQUES = (("0", "0"), ("1", "-0.5"), ("2", "1"), ("-3", "2"))
"""Torques of the left and the right motor [N m]."""

END, KEPT, STEP = 1.2, 13, 2e-5
"""Length of the motions [s], kept times, and the step of MuJoCo [s]."""

CLOSE = 1e-5
"""Difference of positions that may be [m]."""


def _arm(side: float) -> tuple[Array, Array]:
    """Return base and elbow of an arm at the reference pose, in the plane; the elbow is on the outer side."""
    base = np.array([side * WIDTH, 0.0])
    gap = HOME - base
    reach = float(np.hypot(*gap))
    along = (NEAR**2 - FAR**2 + reach**2) / (2.0 * reach)
    across = np.sqrt(NEAR**2 - along**2) * np.array([-gap[1], gap[0]]) / reach
    return base, max((base + gap * along / reach + sign * across for sign in (1.0, -1.0)), key=lambda at: side * at[0])


def _rod(start: Array, end: Array, mass: float) -> str:
    centre, inertia = (end - start) / 2.0, mass * float(np.hypot(*(end - start))) ** 2 / 12.0
    return f'<inertial pos="{centre[0]} 0 {centre[1]}" mass="{mass}" diaginertia="{inertia} {inertia} {inertia}"/>'


def peer_model(step: float = STEP) -> mujoco.MjModel:
    """Return the five-bar in MuJoCo."""
    bodies = ""
    for name, side, tip in (("left", -1.0, ROBOT.values["platform_mass"]), ("right", 1.0, 1e-9)):
        base, elbow = _arm(side)
        first, second = ROBOT.values["proximal_mass"], ROBOT.values["distal_mass"]
        bodies += f"""
        <body pos="{base[0]} 0 0"><joint name="{name}" axis="0 {side} 0"/>{_rod(base, elbow, first)}
        <body pos="{elbow[0] - base[0]} 0 {elbow[1]}"><joint axis="0 -1 0"/>{_rod(elbow, HOME, second)}
        <body pos="{HOME[0] - elbow[0]} 0 {HOME[1] - elbow[1]}"><site name="{name}"/>
        <inertial pos="0 0 0" mass="{tip}" diaginertia="1e-12 1e-12 1e-12"/></body></body></body>"""
    text = f"""<mujoco><option timestep="{step}" gravity="0 0 -9.81" integrator="RK4"
    iterations="100" tolerance="1e-14">
    <flag contact="disable"/></option><worldbody>{bodies}</worldbody>
    <equality><connect site1="left" site2="right" solref="-4e8 -4e4" solimp="0.9999 0.9999 0.001"/></equality>
    <actuator><motor joint="left"/><motor joint="right"/></actuator></mujoco>"""
    return mujoco.MjModel.from_xml_string(text)


def peer_positions(torques: Sequence[float], times: Array, step: float = STEP) -> Array:
    """Return the positions (time, 2) of the tip by MuJoCo."""
    model = peer_model(step)
    data, result = mujoco.MjData(model), []
    data.ctrl[:] = torques
    for time in times:
        while data.time < time - 0.5 * step:
            mujoco.mj_step(model, data)
        mujoco.mj_kinematics(model, data)
        result.append(data.site("left").xpos[[0, 2]].copy())
    return np.array(result)


def positions(torques: Sequence[float], times: Array) -> Array:
    """Return the same by the spanning tree. Raises CheckError for a motion that ends."""
    motion = ls.simulate(
        ROBOT, ls.State(position=ROBOT.mechanism.platform.home.position), ls.Forces(actuator=list(torques)), times,
        environment=ls.Environment(gravity=GRAVITY), method="adaptive", integrator="spanning_tree",
    )  # fmt: skip
    require(motion.status == Status.OK, f"{torques}: it ended with {Status(int(motion.status)).name}")
    return np.asarray(motion.position)[:, [0, 2]]


HEAD = ("left [N m]", "right [N m]", "time [s]", "lowest kept height [m]", "largest difference from MuJoCo [m]")


def abouts(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield each pair of torques."""
    yield from TORQUES


def cells(about: tuple[str, ...]) -> tuple[str, ...]:
    """Return the differences of positions. Raises CheckError if one is too large."""
    torques, times = [float(x) for x in about], np.linspace(0.0, END, KEPT)
    ours = positions(torques, times)
    difference = float(np.abs(ours - peer_positions(torques, times)).max())
    require(difference <= CLOSE, f"{', '.join(about)}: positions differ by {difference:.1e} m")
    return f"{END}", f"{ours[:, 1].min():.3f}", f"{difference:.0e}"
