"""Problems of the IFToMM library of computational benchmark problems, against closed forms.

The library publishes the mechanisms and drawings of their motions. Where a motion has no closed form, the reference is
the integration of equations with the least number of unknowns, written out by hand.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from scipy.special import ellipj

from benchmarks.published.four_bars import pendulum, row_of_four_bars
from benchmarks.published.motion import moved
from benchmarks.published.rows import Array, Compared, Row, published_robot
from limbsweep import Environment, Motion, State, inverse_kinematics, simulate
from robots.loads.declared import SpringLoad

GRAVITY = 9.81
TIMES = np.linspace(1.0, 10.0, 10)
LIBRARY = "IFToMM library of computational benchmark problems"


def falling_pendulum() -> Iterator[Compared]:
    """Compare a pendulum that falls from level with Jacobi's elliptic functions."""
    course = moved(published_robot("simple_pendulum"), TIMES, (0.0, -GRAVITY, 0.0))
    point = course.bodies["point"]
    arm = point.turned((-1.0, 0.0, 0.0))
    _, cn, dn, _ = ellipj(np.sqrt(GRAVITY) * TIMES, 0.5)
    half = np.sqrt(0.5) * cn / dn
    angle = 2.0 * np.arcsin(half)
    yield Compared("position", arm[:, :2], np.stack([-np.sin(angle), -np.cos(angle)], axis=1))
    force = 3.0 * GRAVITY * np.cos(angle)
    yield Compared("pull in the bar", np.linalg.norm(course.reactions["pin"][:, 3:], axis=1), np.abs(force))


def windows(count: int) -> Iterator[Compared]:
    """Compare a row of four-bars, which falls from upright through its folds for 10 s, with one pendulum."""
    robot, times = row_of_four_bars(count), np.concatenate([[0.0], TIMES])
    falling = Environment(gravity=(0.0, 0.0, -GRAVITY))
    course = simulate(robot, State(q=[0.0], qd=[1.0]), None, times, environment=falling, step=WINDOW_STEPS[count])
    yield Compared("angle", course.q[1:, 0], pendulum(count, times, 0.0, 1.0)[1:])


WINDOW_STEPS = {2: 0.005, 40: 0.01}
"""Steps [s] by the number of four-bars in a row."""


def governor() -> Iterator[Compared]:
    """Compare slider, arms and speed of a governor with three equations for its symmetric motion."""
    stiffness, damping, speed = 8e5, 4e4, 2.0 * np.pi
    springs = {
        f"spring_{k}": SpringLoad(
            f"rod_{k}", stiffness, (0.5, 0.0, 0.0), (side * 0.05, 0.0, 0.0), 0.5, damping, other="slider"
        )
        for k, side in ((1, 1.0), (2, -1.0))
    }
    robot = published_robot("flyball_governor", springs)
    times = np.linspace(0.2, 1.0, 5)
    course = moved(robot, times, (0.0, 0.0, -GRAVITY), qd=[speed, 0.0, 0.0, 0.0], tolerance=1e-9)
    start = [0.5, np.pi / 6.0, 0.0, 0.0]
    height, angle, _, _ = integrated(_governor_rates(stiffness, damping, speed), start, times, method="Radau")
    yield Compared("height of the slider", course.q[:, 1] + 0.5, height)
    yield Compared("angles of the arms", course.q[:, 2:] + np.pi / 6.0, angle[:, None] * np.ones(2))
    yield Compared("speed of the shaft", course.qd[:, 0], _governor_spin(speed, angle))


ROD, BALL, SLIDER = 0.3, 5.0, 3.0


def _governor_inertia(angle: Array | float) -> Array | float:
    """Return the moment of inertia of the governor about its shaft: both rods at an angle below level, and the rest."""
    along, across = ROD * 0.0002 / 12.0, ROD * 1.0001 / 12.0
    turning = np.sin(angle) ** 2 * along + np.cos(angle) ** 2 * across
    rods = ROD * (0.05 + 0.5 * np.cos(angle)) ** 2 + BALL * (0.05 + np.cos(angle)) ** 2 + turning
    return 2.0 * rods + along + SLIDER / 600.0


def _governor_spin(speed: float, angle: Array | float) -> Array | float:
    """Return the speed of the shaft: the moment of momentum stays."""
    return speed * _governor_inertia(np.pi / 6.0) / _governor_inertia(angle)


def _governor_rates(stiffness: float, damping: float, speed: float) -> Callable[[Array], Sequence[float]]:
    arm = ROD * 1.0001 / 12.0 + ROD * 0.25 + BALL

    def rates(y: Array) -> list[float]:
        height, angle, climb, swing = y
        gap = np.array([0.5 * np.cos(angle), 1.0 - 0.5 * np.sin(angle) - height])
        rate = np.array([-0.5 * np.sin(angle) * swing, -0.5 * np.cos(angle) * swing - climb])
        length = float(np.hypot(*gap))
        pull = stiffness * (length - 0.5) + damping * float(gap @ rate) / length
        way = np.array([-0.5 * np.sin(angle), -0.5 * np.cos(angle)])
        step = 1e-6
        slope = (_governor_inertia(angle + step) - _governor_inertia(angle - step)) / (2.0 * step)
        spin = _governor_spin(speed, angle)
        weight = (0.5 * ROD + BALL) * GRAVITY * np.cos(angle)
        bend = (0.25 * slope * spin * spin + weight - pull * float(gap @ way) / length) / arm
        lift = 2.0 * pull * gap[1] / length / SLIDER - GRAVITY
        return [climb, swing, lift, float(bend)]

    return rates


def bricard() -> Iterator[Compared]:
    """Compare five rods that fall with the motion of their one freedom, whose loop has a closed form."""
    course = moved(published_robot("bricard"), TIMES, (0.0, -GRAVITY, 0.0), tolerance=1e-10)
    angle, _ = integrated(_bricard_rates, [0.0, 0.0], TIMES)
    yield Compared("angle", course.q[:, 0], angle)
    points = np.array([_bricard(x).point for x in angle])
    yield Compared("third point", course.bodies["rod_4"].position, points)


class _Linkage(NamedTuple):
    """Inertia and potential energy of Bricard's mechanism at an angle of its first joint, and its third point."""

    inertia: float
    energy: float
    point: Array


RODS = (
    ((1.0, 0.0, 0.0), "y"),
    ((0.0, -1.0, 0.0), "z"),
    ((0.0, 0.0, 1.0), "x"),
    ((-1.0, 0.0, 0.0), "y"),
    ((0.0, 1.0, 0.0), "z"),
)
"""Direction of a rod where all angles are zero, and axis of its first joint."""


def _bricard(angle: float) -> _Linkage:
    """Return the mechanism at an angle: of its six joints every second one has this, sin b = -sin a / (1 + sin a)."""
    second = np.arcsin(-np.sin(angle) / (1.0 + np.sin(angle)))
    rate = -np.cos(angle) / (1.0 + np.sin(angle)) ** 2 / np.cos(second)
    turn, omega, place, velocity = np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3)
    inertia, energy, point = 0.0, 0.0, place
    for number, (way, axis) in enumerate(RODS):
        at, speed = ((angle, 1.0), (second, rate))[number % 2]
        omega = omega + turn @ np.eye(3)["xyz".index(axis)] * speed
        turn = turn @ Rotation.from_euler(axis, at).as_matrix()
        arm = turn @ np.array(way)
        centre, spin = velocity + np.cross(omega, 0.5 * arm), float(omega @ arm)
        inertia += float(centre @ centre) + (1.01 * float(omega @ omega - spin * spin) + 0.02 * spin * spin) / 12.0
        energy += GRAVITY * float(place[1] + 0.5 * arm[1])
        point = place if number == 3 else point
        place, velocity = place + arm, velocity + np.cross(omega, arm)
    return _Linkage(inertia, energy, point)


def _bricard_rates(y: Array) -> list[float]:
    step = 1e-5
    up, down, here = _bricard(y[0] + step), _bricard(y[0] - step), _bricard(y[0])
    slope = 0.5 * (up.inertia - down.inertia) / (2.0 * step) * y[1] ** 2
    return [float(y[1]), float(-(slope + (up.energy - down.energy) / (2.0 * step)) / here.inertia)]


def slider_crank() -> Iterator[Compared]:
    """Compare the slider of a crank that turns with 6 rad/s with the closed form of the loop."""
    robot, speed = published_robot("spatial_slider_crank"), 6.0
    angle = speed * np.linspace(0.05, 5.0, 40)
    motion = Motion(q=angle[:, None], qd=np.full((40, 1), speed), qdd=np.zeros((40, 1)))
    joints = inverse_kinematics(robot, motion)
    slide = robot.mechanism.limbs[0].index("slide")
    pin = np.stack([0.1 - 0.08 * np.sin(angle), 0.12 + 0.08 * np.cos(angle)])
    rate = -0.08 * speed * np.stack([np.cos(angle), np.sin(angle)])
    change = 0.08 * speed**2 * np.stack([np.sin(angle), -np.cos(angle)])
    place = np.sqrt(0.09 - (pin * pin).sum(axis=0))
    velocity = -(pin * rate).sum(axis=0) / place
    acceleration = -((rate * rate + pin * change).sum(axis=0) + velocity**2) / place
    yield Compared("position", joints.position[:, 0, slide] + 0.2, place)
    yield Compared("velocity", joints.velocity[:, 0, slide], velocity)
    yield Compared("acceleration", joints.acceleration[:, 0, slide], acceleration)


def integrated(
    rates: Callable[[Array], Sequence[float]], start: Sequence[float], times: Array, method: str = "DOP853"
) -> Array:
    """Return the solution (state, time) of equations y' = rates(y) from time zero on."""
    found = solve_ivp(lambda _time, y: rates(y), (0.0, times[-1]), start, method, times, rtol=1e-12, atol=1e-13)
    return np.asarray(found.y)


ELLIPTIC = "Jacobi's elliptic functions"
HAND = "equations of motion written out by hand, 1e-12"
ROWS = (
    Row("iftomm_a01", "Simple pendulum, 10 s", f"{LIBRARY}, A01", 9.0, ELLIPTIC, falling_pendulum, quick=True),
    *(
        Row(
            f"iftomm_a02_{count}", f"Row of {count} four-bars, through its folds for 10 s", f"{LIBRARY}, A02", digits,
            "closed form, a pendulum, 1e-11", functools.partial(windows, count),
        )
        for count, digits in ((2, 8.0), (40, 6.0))
    ),
    Row("iftomm_a04", "Bricard's mechanism, 10 s", f"{LIBRARY}, A04", 6.0, HAND, bricard),
    Row("iftomm_a05", "Stiff flyball governor, 1 s", f"{LIBRARY}, A05", 8.0, HAND, governor),
    Row(
        "iftomm_slider_crank", "Spatial slider-crank, kinematics of 5 s", f"{LIBRARY}, rigid spatial slider-crank",
        10.0, "closed form", slider_crank, quick=True,
    ),
)  # fmt: skip
