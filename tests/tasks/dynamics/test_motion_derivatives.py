"""Derivatives of simulations: differences of `simulate`, both directions, batches, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import limbsweep as ls

STEPS = np.array([-3, -2, -1, 1, 2, 3])
WEIGHTS = np.array([-1, 9, -45, 45, -9, 1]) / 60
"""The first derivative to sixth order."""
SMOOTH = {"law": "coulomb_viscous", "coulomb": 0.3, "viscous": 0.1, "joints": "all", "width": 0.5}
STEP, COUNT = 2e-3, 40
TIMES = STEP * np.arange(0, COUNT + 1, 10)
WAVE = 0.1 + 0.1 * np.sin(10.0 * STEP * np.outer(np.arange(COUNT + 1), [1.0, 2.0, 3.0]))
NUMBERS = {"length_1": 0.5, "mass_2": 2.0, "kp": 30.0, "kd": 1.0, "coulomb": 0.3}


def _chain(numbers: dict[str, float], wave: np.ndarray = WAVE) -> tuple[Any, ...]:
    """Return robot, state and drive of an arm that follows a wave."""
    robot = ls.robots.build("planar_3r", length_1=numbers["length_1"], mass_2=numbers["mass_2"])
    gains = {"kp": numbers["kp"], "kd": numbers["kd"]}
    servo = ls.servo(robot, "pd", reference={"q": wave}, step=STEP, **gains)
    forces = ls.Forces(actuator=servo, friction={**SMOOTH, "coulomb": numbers["coulomb"]})
    return robot, ls.State(q=[0.1, 0.2, 0.3], qd=[0.2, 0.0, -0.1]), forces


def test_an_arm_on_a_servo_against_differences_of_simulate() -> None:
    robot, state, forces = _chain(NUMBERS)
    parameters = {name: NUMBERS[name] for name in ("length_1", "mass_2")}
    at = ls.differentiate_simulation(robot, state, forces, TIMES, step=STEP, parameters=parameters)
    plain = ls.simulate(robot, state, forces, TIMES, step=STEP)
    np.testing.assert_allclose(at.results["q"], plain.q, rtol=0.0, atol=1e-14)
    rng = np.random.default_rng(1)
    seeds = {name: rng.normal(size=(len(TIMES), 3)) for name in ("q", "qd")}

    def number(*parts: Any) -> float:
        moved = ls.simulate(*parts, TIMES, step=STEP)
        return float(sum((seeds[name] * getattr(moved, name)).sum() for name in seeds))

    gradient = at.vjp(seeds)
    names = {
        "length_1": "length_1",
        "mass_2": "mass_2",
        "kp": "servo.kp",
        "kd": "servo.kd",
        "coulomb": "friction.coulomb",
    }
    for name, value in NUMBERS.items():
        away = 3e-3 * value
        ends = [number(*_chain({**NUMBERS, name: value + k * away})) for k in STEPS]
        assert float(gradient[names.get(name, name)]) == pytest.approx(WEIGHTS @ ends / away, rel=1e-9)
    bump = np.zeros_like(WAVE)
    bump[7, 1] = 1e-3
    ends = [number(*_chain(NUMBERS, WAVE + k * bump)) for k in STEPS]
    assert gradient["servo.q"].shape == (COUNT, 3)
    assert gradient["servo.q"][7, 1] == pytest.approx(WEIGHTS @ ends / 1e-3, rel=1e-9)


def test_both_directions_agree() -> None:
    robot, state, forces = _chain(NUMBERS)
    at = ls.differentiate_simulation(robot, state, forces, TIMES, step=STEP, parameters={"length_1": 0.5})
    rng = np.random.default_rng(2)
    seeds = {name: rng.normal(size=part.shape) for name, part in at.results.items() if name != "status"}
    gradient = at.vjp(seeds)
    assert set(gradient) == set(at.inputs)
    for name, part in gradient.items():
        along = rng.normal(size=part.shape)
        rates = at.jvp({name: along})
        left = sum(float((seeds[key] * rates[key]).sum()) for key in seeds)
        assert left == pytest.approx(float((part * along).sum()), rel=1e-11)


def test_a_platform_under_forces() -> None:
    robot = ls.robots.build("five_bar")
    home = robot.mechanism.platform.home.position
    state, times = ls.State(position=[0.02, 0.0, home[2]]), 1e-3 * np.arange(0, 31, 10)
    value = robot.values["proximal_length"]
    at = ls.differentiate_simulation(
        robot, state, ls.Forces(actuator=[1.0, -1.0]), times, step=1e-3, parameters={"proximal_length": value}
    )
    seed = np.random.default_rng(3).normal(size=(len(times), 3))

    def number(length: float) -> float:
        other = ls.robots.build("five_bar", proximal_length=length)
        moved = ls.simulate(other, state, ls.Forces(actuator=[1.0, -1.0]), times, step=1e-3)
        return float((seed * moved.position).sum())

    ends = [number(value + k * 1e-4) for k in STEPS]
    assert float(at.vjp({"position": seed})["proximal_length"]) == pytest.approx(WEIGHTS @ ends / 1e-4, rel=1e-8)


def test_a_batch_is_its_cases_and_one_that_is_cut_has_no_derivative() -> None:
    robot = ls.robots.build("planar_3r")
    q, qd = np.array([[0.1, 0.0, 0.0], [0.2, 0.1, 0.3]]), np.array([[0.5, 0.0, 0.1], [0.0, 1.0, 0.0]])
    whole = ls.differentiate_simulation(
        robot, ls.State(q=q, qd=qd), None, TIMES, step=STEP, parameters={"length_1": 0.5}
    ).vjp({"q": np.ones(3)})
    parts = [
        ls.differentiate_simulation(
            robot, ls.State(q=one, qd=rate), None, TIMES, step=STEP, parameters={"length_1": 0.5}
        ).vjp({"q": np.ones(3)})
        for one, rate in zip(q, qd, strict=True)
    ]
    assert whole["q"].shape == (2, 3)
    np.testing.assert_allclose(whole["qd"], [part["qd"] for part in parts], rtol=1e-12)
    np.testing.assert_allclose(whole["length_1"], sum(part["length_1"] for part in parts), rtol=1e-12)
    wild = ls.servo(robot, "pd", reference={"q": WAVE}, step=STEP, kp=200.0, kd=50.0)  # unstable: its steps are cut
    at = ls.differentiate_simulation(robot, ls.State(q=q[0]), wild, TIMES, step=STEP)
    assert np.isnan(at.vjp({"q": np.ones(3)})["servo.kp"])
    assert np.isnan(at.jvp({"servo.kp": 1.0})["q"]).all()


STICKING = {"law": "coulomb_viscous", "coulomb": 0.1, "joints": "all"}


@pytest.mark.parametrize(
    ("robot", "drive", "message"),
    [
        ("planar_3r", ls.Forces(friction=STICKING), "coulomb_viscous, which sticks; expected a law with a width"),
        ("planar_3r", ls.Forces(actuator=lambda t: [0.0, 0.0, 0.0]), "actuator: got a function of time"),
        ("planar_3r", "pid", "got a servo of pid in the space 'actuator'; expected pd of actuators"),
        ("planar_3r", "pd", "got a servo with delay; expected gains alone"),
        ("gough_stewart", None, r"whose platform turns \(wx, wy, wz\); expected a chain"),
    ],
)
def test_what_has_no_derivatives_is_refused(robot: str, drive: Any, message: str) -> None:
    built = ls.robots.build(robot)
    if isinstance(drive, str):
        more = {"delay": STEP} if drive == "pd" else {}
        drive = ls.servo(built, drive, reference={"q": WAVE}, step=STEP, kp=1.0, **more)
    state = ls.State(q=[0.0, 0.0, 0.0]) if robot == "planar_3r" else ls.State()
    with pytest.raises(ValueError, match=message):
        ls.differentiate_simulation(built, state, drive, TIMES, step=STEP)
    at = ls.differentiate_simulation(ls.robots.build("planar_3r"), ls.State(q=[0.0] * 3), None, TIMES, step=STEP)
    with pytest.raises(ValueError, match="first derivatives alone"):
        at.hvp({"q": 1.0}, {"q": 1.0})
