"""Bushings: the Newton-Euler system, an independent integration of a body in one, its energy, stiffness, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from pipeline import Sweep, run
from pipeline.errors import InputError
from pipeline.robot_files.reader import read_robot
from robots import catalog
from robots.criteria.elasticity import Elasticity
from robots.loads.declared import BushingLoad, LoadError
from robots.loads.family import with_loads
from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks import inverse_dynamics, joint_reactions
from tasks.checks.newton_euler_system import joint_reactions_reference
from tasks.dynamics.criteria import cartesian_stiffness
from tasks.dynamics.linear import linearisation
from tasks.dynamics.records import Forces
from tasks.dynamics.simulate import simulate_adaptive

ALONG, ABOUT = (900.0, 400.0, 700.0), (5.0, 9.0, 3.0)
BOTH: dict[str, Any] = {
    "stiffness": (300.0, 200.0, 500.0), "damping": (3.0, 2.0, 4.0), "turn_stiffness": (7.0, 9.0, 4.0),
    "turn_damping": (0.2, 0.3, 0.1), "at": (0.05, 0.01, 0.02), "turn": (20.0, -30.0, 50.0), "to": (0.1, 0.0, -0.05),
    "to_turn": (-10.0, 15.0, 40.0),
}  # fmt: skip
CASES: dict[str, tuple[str, BushingLoad, dict[str, Any]]] = {
    "to the base": ("six_bar", BushingLoad("coupler", **BOTH), {}),
    "between links": ("six_bar", BushingLoad("rocker", **BOTH, other="link"), {}),
    "without turning": ("six_bar", BushingLoad("rocker", (300.0, 200.0, 500.0), other="link"), {}),
    "of a platform": ("gough_stewart", BushingLoad("platform", **{**BOTH, "to": (0.1, 0.0, 0.6)}), {}),
    "of limbs": ("five_bar", BushingLoad("proximal", **{**BOTH, "to_turn": (0.0, 90.0, 90.0)}), {}),
}


def _states(robot: Robot) -> dict[str, Any]:
    random = np.random.default_rng(4)
    if robot.mechanism.is_chain:
        return {"q": random.uniform(-0.9, 0.9, (12, 1)), "qd": random.normal(size=(12, 1)), "qdd": np.ones((12, 1))}
    home, free = robot.mechanism.platform.home, np.isin(TWIST, robot.mechanism.platform.mobility)
    moved, turned = (random.normal(size=(6, 3)) * part for part in (free[3:], free[:3]))
    state = {"position": np.array(home.position) + 0.03 * moved, "twist": random.normal(size=(6, 6)) * free}
    return state | ({"rotation": Rotation.from_rotvec(0.1 * turned).as_matrix()} if free[0] else {})


@pytest.mark.parametrize("case", CASES)
def test_forces_and_reactions_are_those_of_the_newton_euler_system(case: str) -> None:
    name, load, more = CASES[case]
    plain = catalog.build(name)
    robot, state = with_loads(plain, {"mount": load}), {**_states(plain), **more}
    found = inverse_dynamics(robot, **state)
    usable = found.status == Status.OK
    assert usable.sum() > 3
    state = {key: values[usable] for key, values in state.items()}
    found, bare = (inverse_dynamics(each, **state) for each in (robot, plain))
    assert np.abs(found.force - bare.force).max() > 1.0
    reference = joint_reactions_reference(robot, **state, method="least_norm")
    scale = np.abs(reference.wrench).max()
    np.testing.assert_allclose(found.force, reference.actuator_force, rtol=0, atol=1e-11 * scale)
    np.testing.assert_allclose(joint_reactions(robot, **state).wrench, reference.wrench, rtol=0, atol=1e-9 * scale)


# --- a free body in a bushing, beside an integration that knows the energy of the bushing alone ---------------------


def _hung(**more: Any) -> Robot:
    body = read_robot(Path("examples/published/free_body.yaml"))
    return with_loads(body, {"mount": BushingLoad("bar", ALONG, turn_stiffness=ABOUT, **more)})


def _energy(place: np.ndarray, turn: Rotation) -> float:
    """Energy of the bushing, with its frames at the origins of body and base."""
    return 0.5 * float(np.array(ALONG) @ place**2 + np.array(ABOUT) @ turn.as_rotvec() ** 2)


def _push(place: np.ndarray, turn: Rotation) -> tuple[np.ndarray, np.ndarray]:
    """Moment about the frame and force, world axes, as central differences of the energy."""
    step, result = 1e-5, []
    for unit in np.eye(3) * step:
        ends = [_energy(place, Rotation.from_rotvec(sign * unit) * turn) for sign in (1.0, -1.0)]
        result.append((ends[1] - ends[0]) / (2.0 * step))
    return np.array(result), -np.array(ALONG) * place


MASS, MOMENTS = 1.0, np.array([0.04, 0.1, 0.1])
START = np.array([0.1, -0.05, 0.08, 0.6, -0.8, 0.9, 0.3, 0.2, -0.4, 3.0, -4.0, 2.0])


def _turn_of(q: np.ndarray) -> Rotation:
    """Rotation of the body of free_body.yaml: about y, then z, then x, each of its own axes."""
    return Rotation.from_euler("YZX", q[..., 3:])


def _independent(times: np.ndarray, turn: Rotation, omega: np.ndarray) -> np.ndarray:
    """Integrate place, quaternion, velocity and angular velocity in axes of the body (time, 13)."""

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        at = Rotation.from_quat(y[3:7])
        moment, force = _push(y[:3], at)
        spin = Rotation.from_quat(y[3:7]).apply(y[10:])
        of_quaternion = 0.5 * np.array([*(y[6] * spin + np.cross(spin, y[3:6])), -spin @ y[3:6]])
        turning = (at.inv().apply(moment) - np.cross(y[10:], MOMENTS * y[10:])) / MOMENTS
        return np.concatenate([y[7:10], of_quaternion, force / MASS, turning])

    begin = np.concatenate([START[:3], turn.as_quat(), START[6:9], omega])
    span, fine = (0.0, times[-1]), {"rtol": 1e-11, "atol": 1e-12}
    return solve_ivp(rates, span, begin, method="DOP853", t_eval=times, **fine).y.T


def test_a_body_in_a_bushing_moves_as_the_slopes_of_its_energy_have_it() -> None:
    times = np.linspace(0.0, 1.0, 11)
    still: dict[str, Any] = {"gravity": (0.0, 0.0, 0.0), "rtol": 1e-11, "atol": 1e-12}
    motion: Any = simulate_adaptive(_hung(), force=np.zeros(6), times=times, q=START[:6], qd=START[6:], **still)
    assert motion.status == Status.OK
    turns = _turn_of(motion.q)
    omega = _omega(START)
    expected = _independent(times, turns[0], omega)
    np.testing.assert_allclose(motion.q[:, :3], expected[:, :3], rtol=0, atol=1e-7)
    apart = (turns.inv() * Rotation.from_quat(expected[:, 3:7])).magnitude()
    assert apart.max() < 1e-7
    assert np.max(turns.magnitude()) > 0.9  # far beyond small angles


def _omega(state: np.ndarray) -> np.ndarray:
    """Angular velocity in axes of the body, by a difference of its rotations."""
    step = 1e-6
    ends = [_turn_of(state[:6] + sign * step * state[6:]) for sign in (-1.0, 1.0)]
    return (ends[0].inv() * ends[1]).as_rotvec() / (2.0 * step)


def test_energy_stays_without_damping_and_falls_with_it() -> None:
    times = np.linspace(0.0, 2.0, 21)
    fine: dict[str, Any] = {"gravity": (0.0, 0.0, 0.0), "rtol": 1e-12, "atol": 1e-13}
    damping = {"damping": (8.0, 8.0, 8.0), "turn_damping": (0.3, 0.3, 0.3)}
    for more, kept in (({}, True), (damping, False)):
        motion: Any = simulate_adaptive(
            _hung(**more), force=np.zeros(6), times=times, q=START[:6], qd=START[6:], **fine
        )
        rows = [np.concatenate([q, qd]) for q, qd in zip(motion.q, motion.qd, strict=True)]
        energy = [
            0.5 * (MASS * row[6:9] @ row[6:9] + MOMENTS @ _omega(row) ** 2) + _energy(row[:3], _turn_of(row[:6]))
            for row in rows
        ]
        if kept:
            np.testing.assert_allclose(energy, energy[0], rtol=1e-9)
        else:
            assert (np.diff(energy) < 0.0).all()
            assert energy[-1] < 0.05 * energy[0]


def test_small_oscillations_have_the_frequencies_of_the_bushing() -> None:
    state = linearisation(_hung(), q=np.zeros(6), gravity=(0.0, 0.0, 0.0), forces=Forces(actuator=np.zeros(6))).state
    found = np.sort(np.abs(np.linalg.eigvals(state).imag))[::2]
    expected = np.sqrt([*(np.array(ALONG) / MASS), *(np.array(ABOUT) / MOMENTS)])
    np.testing.assert_allclose(found, np.sort(expected), rtol=1e-6)


def test_a_bushing_of_the_platform_adds_its_stiffness() -> None:
    robot = catalog.build("gough_stewart")
    home = robot.mechanism.platform.home
    mounted = with_loads(robot, {"mount": BushingLoad("platform", ALONG, to=home.position, turn_stiffness=ABOUT)})
    drives = Elasticity.of(robot.mechanism, actuators={"all": 1e5})
    found = [cartesian_stiffness(each, drives, position=home.position).stiffness for each in (robot, mounted)]
    np.testing.assert_allclose(found[1] - found[0], np.diag([*ABOUT, *ALONG]), atol=1e-4)


def test_half_a_turn_has_no_number() -> None:
    turned = inverse_dynamics(_hung(), q=[[0, 0, 0, 0, 0, 2.6], [0, 0, 0, 0, 0, 2.7]])
    assert turned.status[0] == Status.OK
    assert turned.status[1] == Status.NONFINITE
    assert np.isnan(turned.force[1]).all()


# --- files, and what is refused -------------------------------------------------------------------------------------

SWEEP = """
limbsweep: 1
robot: six_bar
loads:
  mount: {{kind: bushing, body: rocker, {more}}}
design: {{grid: {{mount_stiffness_x: [300, 600]}}}}
trajectories: {{turn: {{kind: harmonic, amplitude: 1.0, period: 1.0}}}}
time: {{stop: 1.0, step: 0.25}}
outputs: [actuator_force, joint_position, joint_velocity, joint_acceleration]
"""
LINE = "other: link, stiffness: [300, 200, 500], turn_damping: [0, 0.1, 0], turn: [20, 0, '2 * 45']"


def test_a_sweep_has_them_with_their_numbers_as_parameters() -> None:
    results = run(Sweep.from_text(SWEEP.format(more=LINE))).isel(trajectory=0, friction=0)
    names = {"q": "joint_position", "qd": "joint_velocity", "qdd": "joint_acceleration"}
    crank: dict[str, Any] = {
        key: results[name].isel(design=0, limb=0, joint=0).values[:, None] for key, name in names.items()
    }
    for k, along in enumerate((300.0, 600.0)):
        load = BushingLoad(
            "rocker", (along, 200.0, 500.0), None, None, (0.0, 0.1, 0.0), turn=(20.0, 0.0, 90.0), other="link"
        )
        force = inverse_dynamics(with_loads(catalog.build("six_bar"), {"mount": load}), **crank).force
        np.testing.assert_allclose(results["actuator_force"].isel(design=k), force, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ("stiffness: 300", "mount.stiffness: got another number of them; expected three numbers"),
        ("stiffness: [300, 1, 1], rest_length: 0.1", "rest_length of a bushing"),
        ("at: [0, 0, 0]", "a bushing without force"),
        ("stiffness: [300, -1, 1]", "not below 0"),
        ("other: rocker, stiffness: [300, 1, 1]", "the same link"),
    ],
)
def test_bushings_that_are_refused(more: str, text: str) -> None:
    with pytest.raises(InputError) as error:
        Sweep.from_text(SWEEP.format(more=more).replace("mount_stiffness_x", "link"))
    assert text in str(error.value)


def test_limbs_at_a_platform_are_not_joined() -> None:
    with pytest.raises(LoadError, match="as_chain"):
        with_loads(catalog.build("delta_3rr2rrr"), {"m": BushingLoad("arm", ALONG, other="platform")})
