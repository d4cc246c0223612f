"""Loads that change with time in simulations: against the equations of a planar arm written out, and round trips."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.integrate import DOP853

import limbsweep as ls
from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from robots.loads.declared import ObjectLoad, WrenchLoad
from robots.loads.family import with_loads
from robots.model import Robot
from robots.types import TWIST
from tasks.dynamics.simulate import simulate, simulate_adaptive

GRAVITY = (0.0, -9.81, 0.0)
RELEASE, CORNER = 0.0437, 0.0713
TABLE = np.array([[0.0, 0, 0, 2.0, 0, 0, 0], [CORNER, 0, 0, -3.0, 30.0, 0, 0], [0.2, 0, 0, 0, 0, -20.0, 0]])
LOADS = {
    "tool": WrenchLoad("link_3", force=("20 * sin(7 * t)", "-30 * t", 0.0), at=(0.1, 0.05, 0.0), axes="link"),
    "table": WrenchLoad("link_2", points=TABLE),
    "part": ObjectLoad("link_3", 2.0, at=(0.1, 0.02, 0.0), inertia=(0.0, 0.0, 0.003), stop=RELEASE),
}
Q, QD, FORCE = np.array([0.1, 0.2, 0.3]), np.array([1.0, -1.0, 0.5]), np.array([3.0, 2.0, 1.0])
CUTS = (0.0, RELEASE, CORNER, 0.1)


def arm() -> Robot:
    """Three links in a plane."""
    return ls.robots.build("planar_3r")


@dataclass(frozen=True)
class PlanarArm:
    """Its equations in the complex plane, in absolute angles of the links, with bodies that it carries.

    lengths (link,); bodies: link, mass, moment of inertia, centre along the link and across it as one complex number.
    """

    lengths: np.ndarray
    bodies: tuple[tuple[int, float, float, complex], ...]

    @classmethod
    def of(cls, robot: Robot, *carried: tuple[int, float, float, complex]) -> PlanarArm:
        """From the numbers of the robot's links."""
        links = robot.mechanism.limbs[0].links
        lengths = [float(link.placement.position[0]) for link in links[1:]]
        own = [
            (k, float(x.inertia.mass), float(x.inertia.tensor[2][2]), complex(*map(float, x.inertia.centre[:2])))
            for k, x in enumerate(links)
        ]
        return cls(np.array([*lengths, 0.0]), (*own, *carried))

    def columns(self, angles: np.ndarray, link: int, at: complex) -> np.ndarray:
        """Velocity of a point of a link for unit rates of all absolute angles (link,)."""
        arms = np.where(np.arange(3) < link, self.lengths, 0.0).astype(complex)
        arms[link] = at
        return 1j * arms * np.exp(1j * angles)

    def momentum(self, q: np.ndarray, qd: np.ndarray) -> float:
        """Angular momentum about the first joint."""
        angles, rates = np.cumsum(q), np.cumsum(qd)
        result = 0.0
        for link, mass, inertia, at in self.bodies:
            columns = self.columns(angles, link, at)
            place, velocity = (-1j * columns).sum(), columns @ rates
            result += mass * (np.conj(place) * velocity).imag + inertia * rates[link]
        return float(result)

    def change(self, state: np.ndarray, pushes: list[tuple[int, complex, complex]], moments: np.ndarray) -> np.ndarray:
        """Rate of q and q' under forces at points of links and moments on links (link,)."""
        angles, rates = np.cumsum(state[:3]), np.cumsum(state[3:])
        mass, force = np.zeros((3, 3)), np.array(moments, dtype=float)
        for link, kilograms, inertia, at in self.bodies:
            columns = self.columns(angles, link, at)
            mass += kilograms * np.real(np.outer(np.conj(columns), columns))
            mass[link, link] += inertia
            falling = -9.81j - (1j * columns) @ rates**2
            force += kilograms * np.real(np.conj(columns) * falling)
        for link, at, push in pushes:
            force += np.real(np.conj(self.columns(angles, link, at)) * push)
        return np.concatenate([state[3:], np.diff(np.linalg.solve(mass, force), prepend=0.0)])


def loaded_rate(time: float, state: np.ndarray, body: PlanarArm) -> np.ndarray:
    """The rate of the arm under LOADS and FORCE."""
    turn = np.exp(1j * np.cumsum(state[:3]))
    wrench = [float(np.interp(time, TABLE[:, 0], column)) for column in TABLE.T[1:]]
    tool = (2, 0.1 + 0.05j, (20.0 * np.sin(7.0 * time) - 30.0j * time) * turn[2])
    moments = FORCE - np.append(FORCE[1:], 0.0)
    moments[1] += wrench[2]
    return body.change(state, [tool, (1, 0.0, complex(wrench[3], wrench[4]))], moments)


def exact() -> np.ndarray:
    """State of the arm at the last of CUTS, by DOP853 from one to the next."""
    state = np.concatenate([Q, QD])
    for start, stop in itertools.pairwise(CUTS):
        carried = ((2, 2.0, 0.003, 0.1 + 0.02j),) if stop <= RELEASE else ()
        body = PlanarArm.of(arm(), *carried)
        solver = DOP853(lambda t, y, b=body: loaded_rate(t, y, b), start, state, stop, rtol=1e-12, atol=1e-13)
        while solver.status == "running":
            solver.step()
        state = solver.y
    return state


def test_steps_end_where_loads_jump_and_tables_have_corners() -> None:
    """Check adaptive steps to 1e-10, and order four of fixed steps, with instants between samples."""
    robot, state = with_loads(arm(), LOADS), exact()
    moving: Any = {"q": Q, "qd": QD, "force": FORCE, "gravity": GRAVITY}
    adaptive: Any = simulate_adaptive(robot, times=[0.0, 0.03, 0.1], **moving)
    assert np.abs(np.concatenate([adaptive.q[-1], adaptive.qd[-1]]) - state).max() < 1e-10
    errors = []
    for steps in (10, 20):
        motion: Any = simulate(robot, step=0.1 / steps, steps=steps, every=steps, **moving)
        errors.append(np.abs(np.concatenate([motion.q[-1], motion.qd[-1]]) - state).max())
    assert errors[1] < errors[0] / 12.0 < 1e-6


def test_a_sweep_moves_as_the_function_does() -> None:
    """Compare the fused step, and with friction that sticks single steps, for every design."""
    loads = {
        "tool": {"kind": "wrench", "body": "link_3", "force": ["20 * sin(7 * t)", "-30 * t", 0], "axes": "link"},
        "part": {"kind": "object", "body": "link_3", "mass": 2.0, "at": [0.1, 0.02, 0], "until": RELEASE},
    }
    text = {
        "robot": "planar_3r", "gravity": list(GRAVITY), "loads": loads, "design": {"grid": {"part_mass": [1.0, 2.0]}},
        "simulation": {"forces": {"push": {"values": FORCE.tolist()}}, "state": {"list": {"joint_1_rate": [1.0]}}},
        "time": {"stop": 0.06, "step": 0.01}, "outputs": ["joint_position"],
    }  # fmt: skip
    records = {
        "tool": WrenchLoad("link_3", force=("20 * sin(7 * t)", "-30 * t", 0.0), axes="link"),
        "part": ObjectLoad("link_3", 2.0, at=(0.1, 0.02, 0.0), stop=RELEASE),
    }
    friction = {"law": "coulomb_viscous", "parameters": {"coulomb": 2.5, "viscous": 0.1}}
    for sticking in ({}, {"friction": friction}):
        arrays = work.whole(block_of(plan(Sweep.from_dict({**text, **sticking})), 0))
        assert not arrays["status"].any()
        rubbing = {"friction": {"law": "coulomb_viscous", **friction["parameters"]}} if sticking else {}  # type: ignore[dict-item]
        motion: Any = simulate(
            with_loads(arm(), records), q=np.zeros(3), qd=[1.0, 0.0, 0.0], force=FORCE, gravity=GRAVITY, step=0.01,
            steps=6, **rubbing,
        )  # fmt: skip
        moved = arrays["joint_position"][1, 0, 0, 0]
        assert np.abs(moved[..., 0, :] - motion.q).max() < 1e-12
        assert np.abs(moved - arrays["joint_position"][0, 0, 0, 0]).max() > 1e-4


def test_a_release_keeps_the_momentum_of_arm_and_object() -> None:
    """Check the momentum about the first joint, which nothing drives; the object flies on."""
    load = {"part": ObjectLoad("link_3", 2.0, at=(0.1, 0.02, 0.0), stop=0.05)}
    free: Any = simulate_adaptive(
        with_loads(arm(), load), q=Q, qd=QD, force=np.zeros(3), gravity=np.zeros(3), times=[0.0, 0.05, 0.1]
    )
    part = (2, 2.0, 0.0, 0.1 + 0.02j)
    alone, both = PlanarArm.of(arm()), PlanarArm.of(arm(), part)
    flying = both.momentum(free.q[1], free.qd[1]) - alone.momentum(free.q[1], free.qd[1])
    whole = both.momentum(Q, QD)
    assert abs(both.momentum(free.q[1], free.qd[1]) - whole) < 1e-10
    assert abs(alone.momentum(free.q[2], free.qd[2]) + flying - whole) < 1e-10
    assert abs(flying) > 0.1


def on_platform() -> dict[str, Any]:
    """Loads on a platform."""
    pull = WrenchLoad("platform", force=("20 * sin(7 * t)", "-30 * t", 5.0), moment=(0.0, "t", 0.0), axes="platform")
    return {"pull": pull, "part": ObjectLoad("platform", 2.0, at=(0.0, 0.02, 0.0), start=0.02, stop=0.06)}


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "gough_stewart"])
def test_accelerations_are_those_whose_forces_act(name: str) -> None:
    robot = with_loads(ls.robots.build(name), on_platform())
    free = [TWIST.index(axis) for axis in robot.mechanism.platform.mobility]
    twist, acceleration = np.zeros((2, 3, 6))
    twist[:, free], acceleration[:, free] = np.random.default_rng(1).normal(size=(2, 3, len(free))) * 0.3
    state: Any = {"position": robot.mechanism.platform.home.position, "twist": twist, "time": [0.0, 0.03, 0.07]}
    force = ls.inverse_dynamics(robot, acceleration=acceleration, **state).force
    found = ls.forward_dynamics(robot, forces=ls.Forces(actuator=force), **state)
    assert np.abs(found.acceleration - acceleration).max() < 1e-11
    wrong = ls.forward_dynamics(robot, forces=ls.Forces(actuator=force), **{**state, "time": 0.0}).acceleration
    assert (np.abs(wrong - acceleration).max(axis=1)[1:] > 1e-3).all()


def test_a_delta_follows_what_its_forces_were_computed_for() -> None:
    robot = with_loads(ls.robots.build("delta_3rr2rrr"), {"pull": on_platform()["pull"]})
    home, way = np.array(robot.mechanism.platform.home.position, dtype=float), np.array([0.02, -0.01, 0.03])

    def force(time: float) -> np.ndarray:
        still = np.zeros(3)
        motion = {"twist": way * 9.0 * np.sin(9.0 * time), "acceleration": way * 81.0 * np.cos(9.0 * time)}
        moving: Any = {key: np.concatenate([still, value]) for key, value in motion.items()}
        return ls.inverse_dynamics(robot, position=home + way * (1.0 - np.cos(9.0 * time)), time=time, **moving).force

    motion: Any = simulate_adaptive(robot, force=force, position=home, times=[0.0, 0.04, 0.1])
    assert motion.status == 0
    reached = home + way * (1.0 - np.cos(9.0 * motion.time[:, None]))
    assert np.abs(motion.position - reached).max() < 1e-9


def test_a_delta_picks_and_releases_between_two_samples() -> None:
    """Compare with runs from one instant to the next, each with the robot between them."""
    robot = with_loads(ls.robots.build("delta_3rr2rrr"), {"part": on_platform()["part"]})
    start = np.array(robot.mechanism.platform.home.position, dtype=float)
    moving: Any = {"position": start, "twist": [0.0, 0.0, 0.0, 0.3, 0.1, -0.2]}
    whole: Any = simulate(robot, force=np.zeros(3), step=0.04, steps=2, **moving)
    for begun, steps, length in ((0.0, 1, 0.02), (0.02, 1, 0.02), (0.04, 1, 0.02), (0.06, 1, 0.02)):
        instant = ls.robots.at_time(robot, begun)
        motion: Any = simulate(instant, force=np.zeros(3), step=length, steps=steps, method="rk4", **moving)
        moving = {"position": motion.position[-1], "twist": motion.twist[-1]}
    assert np.abs(whole.position[-1] - moving["position"]).max() < 1e-13
    assert np.abs(whole.twist[-1] - moving["twist"]).max() < 1e-12


def test_controllers_know_the_loads_of_the_robot_at_their_time() -> None:
    """Without gains the forces of `pd_gravity` are those that hold the robot at each instant under its loads."""
    loads = {"pull": {"kind": "wrench", "body": "platform", "force": [0, "-30 * t", 5], "axes": "platform"}}
    hold = {"kind": "quintic", "start": [0.0, 0.0, 0.0], "end": [0.0, 0.0, 0.0]}
    controller = {"kind": "pd_gravity", "parameters": {"kp": 1e-9, "kd": 0.0}}
    text = {
        "robot": "delta_3rr2rrr", "loads": loads, "trajectories": {"hold": hold}, "time": {"stop": 0.02, "step": 0.002},
        "simulation": {"controller": controller}, "outputs": ["platform_position", "actuator_force"],
    }  # fmt: skip
    arrays = work.whole(block_of(plan(Sweep.from_dict(text)), 0))
    assert not arrays["status"].any()
    position, force = (arrays[name].reshape(11, 3) for name in ("platform_position", "actuator_force"))
    pull = {"pull": WrenchLoad("platform", force=(0.0, "-30 * t", 5.0), axes="platform")}
    robot = with_loads(ls.robots.build("delta_3rr2rrr"), pull)
    assert np.abs(ls.inverse_dynamics(robot, position=position, time=np.arange(11) * 0.002).force - force).max() < 1e-9


def test_a_servo_knows_the_loads_of_its_robot_from_the_start_on() -> None:
    """A robot that knows its load holds still but for what the load changes over a step; one without does not."""
    known = with_loads(arm(), {"tool": WrenchLoad("link_3", force=(0.0, "-30 * t", 0.0))})
    speeds = []
    for robot in (known, arm()):
        hold = ls.servo(robot, "pd_gravity", reference={"q": [Q]}, step=0.001, kp=1e-9, kd=0.0)
        motion: Any = simulate(known, q=Q, force=hold, step=0.001, steps=2, start=0.5, gravity=GRAVITY)
        speeds.append(np.abs(motion.qd[-1]).max())
    assert 0.0 < speeds[0] < 0.01 * speeds[1]
