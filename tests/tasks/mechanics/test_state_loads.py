"""Loads that follow from the state of joints and springs: the Newton-Euler system, independent integration, files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import limbsweep as ls
from pipeline.errors import InputError
from robots import catalog
from robots.loads.declared import (
    DeclaredLoad,
    ElasticDrive,
    JointSpringLoad,
    LoadError,
    ObjectLoad,
    SpringLoad,
    WrenchLoad,
)
from robots.loads.family import with_loads
from robots.status import Status
from tasks.checks.newton_euler_system import joint_reactions_reference

JOINT = catalog.build("six_bar").mechanism.limbs[0].joints[1]
LAWS: dict[str, DeclaredLoad] = {
    "joint": JointSpringLoad(
        JOINT, stiffness="2 + q ** 2", damping=0.3, force=f"where(qd > 0, 1, -2) * cos(q_{JOINT})"
    ),
    "table": JointSpringLoad(JOINT, table=((-1.0, 3.0), (0.5, -1.0), (2.0, 4.0)), scale=2.0),
    "over": JointSpringLoad(JOINT, table=((-1.0, 3.0), (0.5, -1.0)), argument="tanh(q + 0.2 * qd)"),
    "line": SpringLoad("coupler", "50 * s", (0.1, 0.0, 0.0), None, 0.05, 2.0, "max(3, exp(sd) - s)", other="output"),
    "gas": SpringLoad("rocker", at=(0.05, 0.0, 0.02), to=(0.1, 0.0, 0.3), table=((0.1, 9.0), (0.4, 1.0))),
    "wrench": WrenchLoad("rocker", (f"5 * q_{JOINT}", 0.0, f"qd_{JOINT} ** 2"), (0.0, "1.5", 0.0), axes="link"),
}


def random_states(count: int = 12) -> dict[str, Any]:
    random = np.random.default_rng(8)
    return {
        "q": random.uniform(-2.0, 2.0, (count, 1)),
        "qd": random.normal(size=(count, 1)),
        "qdd": np.ones((count, 1)),
    }


def test_forces_and_reactions_are_those_of_the_newton_euler_system() -> None:
    plain = catalog.build("six_bar")
    robot, state = with_loads(plain, LAWS), random_states()
    found, bare = (ls.inverse_dynamics(each, **state) for each in (robot, plain))
    assert (found.status == Status.OK).all()
    assert (np.abs(found.force - bare.force) > 1e-6).any()
    reference = joint_reactions_reference(robot, **state, method="least_norm")
    scale = np.abs(reference.wrench).max()
    np.testing.assert_allclose(found.force, reference.actuator_force, rtol=0, atol=1e-10 * scale)
    np.testing.assert_allclose(ls.joint_reactions(robot, **state).wrench, reference.wrench, rtol=0, atol=1e-9 * scale)


def test_constant_laws_are_the_numbers() -> None:
    plain, state = catalog.build("six_bar"), random_states()
    pairs: list[tuple[DeclaredLoad, DeclaredLoad]] = [
        (JointSpringLoad(JOINT, stiffness=7.0, damping=0.2), JointSpringLoad(JOINT, force="-7 * q - 0.2 * qd")),
        (JointSpringLoad(JOINT, stiffness=7.0), JointSpringLoad(JOINT, table=((-30.0, 210.0), (30.0, -210.0)))),
        (SpringLoad("rocker", 60.0, rest_length=0.2), SpringLoad("rocker", preload="60 * (s - 0.2)")),
    ]
    for given, law in pairs:
        forces = [ls.inverse_dynamics(with_loads(plain, {"it": load}), **state).force for load in (given, law)]
        np.testing.assert_allclose(*forces, rtol=0, atol=1e-11 * np.abs(forces[0]).max())


def arm(**loads: DeclaredLoad) -> ls.Robot:
    return with_loads(catalog.build("planar_3r"), loads)


def test_a_motion_under_laws_is_that_of_an_independent_integration() -> None:
    """A motor with a torque of its speed, a hardening spring, and a joint pushed by what another one does."""
    loads: dict[str, DeclaredLoad] = {
        "motor": JointSpringLoad("joint_1", force="6 * tanh(3 - qd)"),
        "hard": JointSpringLoad("joint_2", stiffness="20 + 15 * q ** 2"),
        "other": JointSpringLoad("joint_3", force="0.5 * sin(q_joint_1) * qd_joint_2"),
    }
    robot, bare, still = arm(**loads), catalog.build("planar_3r"), (0.0, 0.0, 0.0)
    times = np.linspace(0.0, 0.5, 6)
    moved = ls.simulate(
        robot, ls.State(q=np.full(3, 0.2)), None, times, environment=ls.Environment(gravity=still),
        method="adaptive", rtol=1e-10, atol=1e-12,
    )  # fmt: skip

    def rates(_time: float, y: np.ndarray) -> np.ndarray:
        q, qd = y[:3], y[3:]
        push = [6 * np.tanh(3 - qd[0]), -(20 + 15 * q[1] ** 2) * q[1], 0.5 * np.sin(q[0]) * qd[1]]
        change = ls.forward_dynamics(
            bare, ls.State(q=q, qd=qd), ls.Forces(actuator=push), ls.Environment(gravity=still)
        )
        return np.concatenate([qd, change.acceleration])

    start = np.concatenate([np.full(3, 0.2), np.zeros(3)])
    other = solve_ivp(rates, (0.0, 0.5), start, method="DOP853", t_eval=times, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(moved.q, other.y[:3].T, atol=1e-8)


def test_linear_equations_have_the_slopes_of_laws() -> None:
    robot = arm(
        a=JointSpringLoad("joint_2", force="-3 * q ** 3 - qd * abs(qd)"),
        b=WrenchLoad("link_3", ("9 * q_joint_1", 0, 0)),
    )
    q, qd, none = np.array([0.3, -0.4, 0.2]), np.array([0.5, 0.7, -0.3]), ls.Forces(actuator=np.zeros(3))
    slopes = np.asarray(ls.linearisation(robot, q=q, qd=qd, forces=none).state)[3:]
    step = 1e-5 * np.eye(6)
    ends = [q + sign * step[:, :3] for sign in (1, -1)], [qd + sign * step[:, 3:] for sign in (1, -1)]
    forces = ls.Forces(actuator=np.zeros((6, 3)))
    up, down = (ls.forward_dynamics(robot, q=a, qd=b, forces=forces).acceleration for a, b in zip(*ends, strict=True))
    np.testing.assert_allclose(slopes, (up - down).T / 2e-5, rtol=0, atol=1e-6 * np.abs(slopes).max())


SWEEP = """
limbsweep: 1
robot: planar_3r
gravity: [0, -9.81, 0]
loads:
  hard: {kind: joint_spring, joint: joint_2, stiffness: 20, force: "-hard_more * q ** 3"}
  table: {kind: joint_spring, joint: joint_3, table: [[-1, 2], [0, 0], [1, -4]], scale: 2}
  line: {kind: spring, body: link_3, to: [0.5, 0, 0], preload: "where(s > 0.2, 5, 0) * where(sd > 0, 2, 1)"}
design: {grid: {table_scale: [1, 2]}}
trajectories: {swing: {kind: harmonic, amplitude: 0.5, period: 1}}
time: {stop: 0.5, step: 0.1}
outputs: [actuator_force]
"""


def test_a_sweep_has_them_and_sweeps_their_numbers() -> None:
    text = SWEEP.replace("-hard_more * q ** 3", "-hard_stiffness * q ** 3")
    swept = ls.compute(ls.Sweep.from_text(text)).squeeze()
    assert (swept["status"] == 0).all()
    loads: dict[str, DeclaredLoad] = {
        "hard": JointSpringLoad("joint_2", 20.0, force="-20 * q ** 3"),
        "table": JointSpringLoad("joint_3", table=((-1.0, 2.0), (0.0, 0.0), (1.0, -4.0)), scale=1.0),
        "line": SpringLoad("link_3", to=(0.5, 0.0, 0.0), preload="where(s > 0.2, 5, 0) * where(sd > 0, 2, 1)"),
    }
    time = swept["time"].values
    way = 2 * np.pi * time[:, None] * np.ones(3)
    q, qd, qdd = 0.5 * np.sin(way), np.pi * np.cos(way), -2 * np.pi**2 * np.sin(way)
    alone = ls.inverse_dynamics(arm(**loads), q=q, qd=qd, qdd=qdd, gravity=(0.0, -9.81, 0.0))
    np.testing.assert_allclose(swept["actuator_force"].isel(design=0), alone.force, atol=1e-9)
    assert (swept["actuator_force"].isel(design=1) != swept["actuator_force"].isel(design=0)).any()


def test_names_that_are_not_known_are_refused_in_files() -> None:
    with pytest.raises(InputError, match="got the name 'hard_more'; expected the time t, pi, parameters, q, q_joint_1"):
        ls.Sweep.from_text(SWEEP)


REFUSED: list[tuple[DeclaredLoad, str]] = [
    (JointSpringLoad(JOINT, force="s"), r"loads\.it\.force: got the name 's'; expected the time t, pi, parameters, q"),
    (ObjectLoad("rocker", mass=f"1 + q_{JOINT}"), r"loads\.it\.mass: got the name .*; expected the time t, pi, and"),
    (JointSpringLoad(JOINT, table=((0.0, 1.0),)), r"loads\.it\.table: got 1 points; expected 2 to 200 points"),
    (JointSpringLoad(JOINT, table=((0.0, 1.0), (0.0, 2.0))), r"loads\.it\.table: got 2 points; .* increasing"),
    (JointSpringLoad(JOINT, force=1.0, table=((0.0, 1.0), (1.0, 2.0))), "force beside a table"),
    (SpringLoad("rocker", 1.0, scale=2.0), "scale without a table"),
    (WrenchLoad("rocker", ("exp(1", 0.0, 0.0)), r"loads\.it\.force\.0: got the end; expected '\)'"),
    (SpringLoad("rocker", "where(s, 1, 2)"), "got a number for where; expected a condition"),
    (ElasticDrive("all", "10 + q", inertia=1.0), r"loads\.it\.stiffness: got the name 'q'"),
    (JointSpringLoad(JOINT), "a spring without force; expected stiffness, damping, force or a table"),
]


@pytest.mark.parametrize(("load", "message"), REFUSED)
def test_what_cannot_be_is_refused(load: DeclaredLoad, message: str) -> None:
    with pytest.raises(LoadError, match=message):
        with_loads(catalog.build("six_bar"), {"it": load})


def test_a_wrench_on_a_platform_knows_no_joints() -> None:
    with pytest.raises(
        LoadError, match=r"loads\.it\.force\.0: got the name 'q_arm'; expected the time t, pi, and para"
    ):
        with_loads(catalog.build("delta_3rr2rrr"), {"it": WrenchLoad("platform", ("q_arm", 0.0, 0.0))})


def test_a_limb_at_a_platform_has_them_too() -> None:
    plain = catalog.build("five_bar")
    joint = plain.mechanism.limbs[0].joints[1]
    pairs = [JointSpringLoad(f"*.{joint}", 3.0), JointSpringLoad(f"*.{joint}", force="-3 * q")]
    state = {"position": [[0.05, 0.0, -0.6], [0.0, 0.0, -0.55]]}
    forces = [ls.inverse_dynamics(with_loads(plain, {"it": load}), **state).force for load in pairs]
    np.testing.assert_allclose(*forces, atol=1e-12)
    assert np.abs(forces[0] - ls.inverse_dynamics(plain, **state).force).max() > 0.1
