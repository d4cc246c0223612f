"""Springs and dampers between two links: the Newton-Euler system, an independent governor, files and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from pipeline import Sweep, run
from pipeline.errors import InputError
from pipeline.robot_files.reader import read_robot
from robots import catalog
from robots.geometry import point, shifted
from robots.loads.declared import LoadError, SpringLoad
from robots.loads.family import with_loads
from robots.model import Family, Inertia, Link, Mechanism, Robot
from robots.parameter_errors import ParameterError
from robots.status import Status
from robots.types import BASE
from tasks import inverse_dynamics, joint_reactions
from tasks.checks.newton_euler_system import joint_reactions_reference
from tasks.dynamics.simulate import simulate_adaptive

PAIRS = {
    "rope": SpringLoad("rocker", 300.0, (0.05, 0.0, 0.02), (0.1, 0.0, -0.05), 0.26, 5.0, other="link", acts="pull"),
    "stop": SpringLoad("crank", 900.0, (0.02, 0.0, 0.01), (0.0, 0.0, 0.03), 0.466, other="output", acts="push"),
    "spring": SpringLoad("coupler", 100.0, (0.1, 0.0, 0.0), None, 0.05, 2.0, 3.0, other="output"),
    "linear": SpringLoad("coupler", 70.0, None, (0.02, 0.0, 0.1), other="link"),
}


@pytest.mark.parametrize("name", [*PAIRS, "all"])
def test_forces_and_reactions_are_those_of_the_newton_euler_system(name: str) -> None:
    plain = catalog.build("six_bar")
    robot = with_loads(plain, PAIRS if name == "all" else {name: PAIRS[name]})
    random = np.random.default_rng(8)
    state: dict[str, Any] = {"q": random.uniform(-3.0, 3.0, (40, 1)), "qd": random.normal(size=(40, 1))}
    state |= {"qdd": random.normal(size=(40, 1))}
    found, bare = (inverse_dynamics(each, **state) for each in (robot, plain))
    assert (found.status == Status.OK).all()
    acting = np.abs(found.force - bare.force)[:, 0] > 1e-9
    assert acting.sum() > 5
    assert acting.all() == (name not in ("rope", "stop"))
    reference = joint_reactions_reference(robot, **state, method="least_norm")
    scale = np.abs(reference.wrench).max()
    np.testing.assert_allclose(found.force, reference.actuator_force, rtol=0, atol=1e-10 * scale)
    np.testing.assert_allclose(joint_reactions(robot, **state).wrench, reference.wrench, rtol=0, atol=1e-9 * scale)


# --- a governor: a shaft with two arms and a slider, which springs join ---------------------------------------------

HIGH, OUT, ARM, LOW = 0.5, 0.05, 0.4, 0.1
SHAFT, BALL, SLIDER = 0.02, 0.7, 0.5
STIFFNESS, REST, DAMPING = 900.0, 0.21, 4.0


def governor() -> Robot:
    none = ((0.0, 0.0, 0.0),) * 3
    about_z = Inertia(0.0, (0.0, 0.0, 0.0), ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, SHAFT)))
    ball = Inertia(BALL, (0.0, 0.0, -ARM), none)
    links = (
        Link("turn", "shaft", BASE, "revolute", (0.0, 0.0, 1.0), shifted((0.0, 0.0, 0.0)), about_z),
        Link("swing_1", "arm_1", 0, "revolute", (0.0, -1.0, 0.0), shifted((OUT, 0.0, HIGH)), ball),
        Link("swing_2", "arm_2", 0, "revolute", (0.0, 1.0, 0.0), shifted((-OUT, 0.0, HIGH)), ball),
        Link("slide", "slider", 0, "prismatic", (0.0, 0.0, 1.0), shifted((0.0, 0.0, LOW)), point(SLIDER)),
    )
    family = Family("governor", "Governor", "test", (), lambda p: Mechanism.chain("governor", links, JOINTS, ()))
    return Robot(family, {})


JOINTS = ("turn", "swing_1", "swing_2", "slide")


def governed(damping: float) -> Robot:
    middle = (0.0, 0.0, -0.5 * ARM)
    springs = {
        f"spring_{k}": SpringLoad(f"arm_{k}", STIFFNESS, middle, None, REST, damping or None, other="slider")
        for k in (1, 2)
    }
    return with_loads(governor(), springs)


def rates(q: np.ndarray, qd: np.ndarray, damping: float) -> np.ndarray:
    """Accelerations from Lagrange's equations of point masses, by hand; arms are alike but for their sides."""
    (_, a, b, z), (w, *swings, v) = q, qd
    force, mass, bias = np.zeros(4), np.zeros((4, 4)), np.zeros(4)
    mass[0, 0], mass[3, 3] = SHAFT, SLIDER
    force[3] = -9.81 * SLIDER
    for k, (angle, swing) in enumerate(zip((a, b), swings, strict=True), start=1):
        radius, sin, cos = OUT + ARM * np.sin(angle), np.sin(angle), np.cos(angle)
        mass[0, 0] += BALL * radius**2
        mass[k, k] = BALL * ARM**2
        bias[0] += 2.0 * BALL * radius * ARM * cos * swing * w
        bias[k] = -BALL * radius * ARM * cos * w**2
        force[k] -= 9.81 * BALL * ARM * sin
        gap = np.array([OUT + 0.5 * ARM * sin, HIGH - 0.5 * ARM * cos - LOW - z])
        slope = 0.5 * ARM * np.array([cos, sin])  # of the gap over the angle; over the slide it is (0, -1)
        length = float(np.linalg.norm(gap))
        opening = gap @ (slope * swing + np.array([0.0, -v])) / length
        tension = STIFFNESS * (length - REST) + damping * opening
        force[k] -= tension * (gap @ slope) / length
        force[3] += tension * gap[1] / length
    return np.linalg.solve(mass, force - bias)


@pytest.mark.parametrize("damping", [0.0, DAMPING])
def test_a_governor_moves_as_lagrange_has_it(damping: float) -> None:
    begin, times = np.array([0.0, 0.4, 0.5, 0.0, 9.0, 0.0, 0.3, -0.1]), np.linspace(0.0, 1.0, 21)
    robot = governed(damping)
    motion = simulate_adaptive(robot, force=np.zeros(4), times=times, q=begin[:4], qd=begin[4:], rtol=1e-11, atol=1e-12)
    expected = solve_ivp(
        lambda _, y: np.concatenate([y[4:], rates(y[:4], y[4:], damping)]), (0.0, 1.0), begin,
        method="DOP853", t_eval=times, rtol=1e-12, atol=1e-13,
    ).y.T  # fmt: skip
    assert motion.status == Status.OK
    np.testing.assert_allclose(np.hstack([motion.q, motion.qd]), expected, rtol=0, atol=1e-7)


# --- files, and what is refused -------------------------------------------------------------------------------------

SWEEP = """
limbsweep: 1
robot: six_bar
loads:
  rope: {{kind: spring, body: rocker, other: {other}, at: [0.05, 0, 0.02], stiffness: 300, acts: {acts}}}
design: {{grid: {{rope_stiffness: [0, 300]}}}}
trajectories: {{turn: {{kind: harmonic, amplitude: 1.0, period: 1.0}}}}
time: {{stop: 1.0, step: 0.25}}
outputs: [actuator_force, joint_position, joint_velocity, joint_acceleration]
"""


def test_a_sweep_has_them_with_their_numbers_as_parameters() -> None:
    results = run(Sweep.from_text(SWEEP.format(other="link", acts="pull")))
    force = results["actuator_force"].isel(trajectory=0, actuator=0, friction=0)
    rope = SpringLoad("rocker", 300.0, (0.05, 0.0, 0.02), other="link", acts="pull")
    names = {"q": "joint_position", "qd": "joint_velocity", "qdd": "joint_acceleration"}
    crank = {key: results[name].isel(design=0, trajectory=0, limb=0, joint=0) for key, name in names.items()}
    columns = {key: values.values[:, None] for key, values in crank.items()}
    for k, robot in enumerate((catalog.build("six_bar"), with_loads(catalog.build("six_bar"), {"rope": rope}))):
        np.testing.assert_allclose(
            force.isel(design=k), inverse_dynamics(robot, **columns).force[:, 0], rtol=0, atol=1e-9
        )


def test_what_cannot_be_joined_is_refused() -> None:
    for other, acts, text in (
        ("nobody", "pull", "two links"),
        ("rocker", "pull", "the same link"),
        ("link", "hold", "acts"),
    ):
        with pytest.raises(InputError, match=text):
            Sweep.from_text(SWEEP.format(other=other, acts=acts))
    delta = catalog.build("delta_3rr2rrr")
    for load in (SpringLoad("platform", 1.0, other="arm"), SpringLoad("arm", 1.0, other="platform")):
        with pytest.raises(LoadError, match="as_chain"):
            with_loads(delta, {"spring": load})
    with pytest.raises(ParameterError, match="acts: got 'hold'; expected one of both, pull, push"):
        SpringLoad("arm", 1.0, acts="hold")  # type: ignore[arg-type]


def test_a_damper_between_points_that_meet_holds_against_their_velocity() -> None:
    """Without rest length it has a limit there; with one it has no direction, and the sample no force."""
    free = read_robot(Path("examples/published/free_body.yaml"))
    way = {"q": np.zeros((2, 6)), "qd": [[0.0] * 6, [1.0, 2.0, -3.0, 0.1, 0.2, 0.3]], "qdd": np.zeros((2, 6))}
    state: dict[str, Any] = way | {"gravity": (0.0, 0.0, 0.0)}
    robot = with_loads(free, {"spring": SpringLoad("bar", 10.0, damping=0.5)})
    found = inverse_dynamics(robot, **state)
    np.testing.assert_allclose(found.force[:, :3], [[0.0, 0.0, 0.0], [0.5, 1.0, -1.5]], atol=1e-12)
    reference = joint_reactions_reference(robot, **state, method="least_norm")
    np.testing.assert_allclose(found.force, reference.actuator_force, atol=1e-12)
    before = inverse_dynamics(robot, **state | {"q": 1e-7 * np.array([[1.0, 2.0, -3.0, 0.0, 0.0, 0.0]])})
    np.testing.assert_allclose(before.force[1], found.force[1], atol=1e-5)
    long = with_loads(free, {"spring": SpringLoad("bar", 10.0, rest_length=0.1, damping=0.5)})
    assert (inverse_dynamics(long, **state).status != Status.OK).all()
