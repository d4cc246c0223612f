"""Motors on a supply: closed forms of a motor with an inertia, and forward dynamics as the inverse of what is asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import limbsweep as ls
from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from robots.drives import Drive, Motor, Spin
from robots.geometry import diagonal
from robots.model import Family, Frame, Inertia, Link, Mechanism, Robot
from robots.types import BASE
from tasks.dynamics.fed_motors import FedMotors
from tasks.dynamics.simulate import simulate

GEAR, ROTOR, CONSTANT, RESISTANCE, ARM = 20.0, 2e-4, 0.3, 1.5, 0.08
INERTIA = ROTOR + ARM / GEAR**2
"""Inertia that the motor turns [kg m^2]: its rotor, and the arm behind the gear."""

FASTER = CONSTANT**2 / (RESISTANCE * INERTIA)
"""One over the time constant of the motor with its inertia [1/s]."""


def spinner() -> Robot:
    """A motor that turns a balanced arm through a gear."""
    link = Link(
        "turn", "arm", BASE, "revolute", (0.0, 0.0, 1.0), Frame(), Inertia(1.0, (0.0,) * 3, diagonal(0.1, 0.1, ARM))
    )
    drive = Drive("motor", (("turn", GEAR),), (Spin(ROTOR, BASE, (0.0, 0.0, 1.0)),), Motor(CONSTANT, RESISTANCE))
    mechanism = Mechanism.chain("spinner", (link,), ("turn",), drives=(drive,))
    return Robot.of(Family("spinner", "a motor and an arm", "tests", (), lambda values: mechanism), {})


def speed_after(asked: Any, step: float, steps: int, **supply: Any) -> np.ndarray:
    """Speeds of the motor over time."""
    robot = spinner()
    motion: Any = simulate(
        robot, force=ls.on_supply(robot, asked, **supply), q=[0.0], step=step, steps=steps, every=steps // 10
    )
    assert motion.status == 0
    return np.asarray(motion.qd[:, 0] * GEAR)


def test_a_step_of_voltage_is_the_closed_form_with_the_order_of_the_method() -> None:
    volts, times = 24.0, np.linspace(0.0, 0.5 / FASTER * 10, 11)
    closed = volts / CONSTANT * -np.expm1(-FASTER * times)
    errors = [
        np.abs(speed_after([volts], times[-1] / count, count, of="voltage") - closed).max() for count in (20, 40, 80)
    ]
    assert np.log2(errors[1] / errors[2]) == pytest.approx(4.0, abs=0.2)
    assert errors[2] < 1e-6 * volts / CONSTANT


def test_speed_without_load_and_torque_at_rest_are_those_of_the_supply() -> None:
    volts = 24.0
    robot = spinner()
    stalled = ls.on_supply(robot, [1e3], voltage=volts)
    assert stalled(0.0, [0.0], [0.0]) == pytest.approx([CONSTANT * volts / RESISTANCE], rel=1e-15)  # type: ignore[operator]
    run_out = speed_after([1e3], 0.01, 400, voltage=volts)
    assert run_out[-1] == pytest.approx(volts / CONSTANT, rel=1e-9)
    beyond = ls.on_supply(robot, [0.1], voltage=volts, current=2.0)(0.0, [0.0], [1.5 * volts / CONSTANT / GEAR])  # type: ignore[operator]
    assert beyond == pytest.approx([-CONSTANT * 0.5 * volts / RESISTANCE])  # its back-EMF beats the supply: it brakes


def test_a_limited_current_accelerates_evenly_until_the_voltage_ends_it() -> None:
    volts, amps = 24.0, 5.0
    corner = (volts - RESISTANCE * amps) / CONSTANT
    until = corner * INERTIA / (CONSTANT * amps)
    times = np.linspace(0.0, 4.0 * until, 11)
    late = np.maximum(times - until, 0.0)
    closed = np.where(
        times < until,
        CONSTANT * amps / INERTIA * times,
        volts / CONSTANT - (volts / CONSTANT - corner) * np.exp(-FASTER * late),
    )
    found = speed_after([1e3], until / 150, 600, voltage=volts, current=amps)
    np.testing.assert_allclose(found, closed, atol=1e-5 * closed.max())


def test_below_the_limits_forward_dynamics_gives_back_the_motion() -> None:
    robot = ls.robots.build("irb6")
    state = {"q": np.full(5, 0.2), "qd": [0.3, -0.2, 0.1, 0.4, -0.3]}
    wanted = np.array([0.5, -0.4, 0.3, 0.2, 0.1])
    inverse: Any = ls.inverse_dynamics(robot, qdd=wanted, **state)
    demand = ls.motor_demand(robot, force=inverse.force, velocity=inverse.velocity)
    motor = robot.mechanism.motors[0]
    np.testing.assert_allclose(
        demand.voltage, demand.current * motor.resistance + motor.torque_constant * inverse.velocity
    )
    np.testing.assert_allclose(demand.power, inverse.force * inverse.velocity + motor.resistance * demand.current**2)
    q, qd = np.asarray(state["q"]), np.asarray(state["qd"])
    for of, asked in (("force", inverse.force), ("current", demand.current), ("voltage", demand.voltage)):
        limits = {"voltage": np.abs(demand.voltage).max() * 1.01, "current": np.abs(demand.current).max() * 1.01}
        fed: Any = ls.on_supply(robot, asked, of=of, **limits)  # type: ignore[arg-type]
        moved = ls.forward_dynamics(robot, forces=ls.Forces(actuator=fed(0.0, q, qd)), **state)
        np.testing.assert_allclose(moved.acceleration, wanted, rtol=1e-9)
    timed: Any = ls.on_supply(robot, lambda time: inverse.force * time, voltage=1e3)
    np.testing.assert_allclose(timed(np.array([0.5, 2.0]), q, qd), np.outer([0.5, 2.0], inverse.force), rtol=1e-12)
    short = ls.on_supply(robot, inverse.force, voltage=np.abs(demand.voltage).max() * 0.9)(0.0, q, qd)  # type: ignore[operator]
    assert (np.abs(short - inverse.force) > 1e-3).sum() == 1  # the one that needs most


def test_platforms_with_motors_are_fed_too() -> None:
    robot = ls.robots.build("delta_rl5_1450_motors")
    state = {"position": [0.1, 0.05, -1.0], "twist": [0.0, 0.0, 0.0, 0.4, -0.3, 0.2]}
    inverse: Any = ls.inverse_dynamics(robot, acceleration=[0.0, 0.0, 0.0, 2.0, 1.0, -3.0], **state)
    demand = ls.motor_demand(robot, force=inverse.force, velocity=inverse.velocity)
    fed: Any = ls.on_supply(robot, demand.voltage, of="voltage")
    force = fed(0.0, np.array(state["position"]), np.eye(3), np.array(state["twist"]))
    np.testing.assert_allclose(force, inverse.force, rtol=1e-9)


@pytest.mark.parametrize(
    ("supply", "text"),
    [
        ({"voltage": 0.0}, r"voltage: got 0.0; expected a number above zero, or one for each of 5 motors"),
        ({"current": [1.0, 2.0]}, r"current: got \[1.0, 2.0\]; expected a number above zero"),
        ({"of": "power"}, r"of: got 'power'; expected one of force, current, voltage"),
    ],
)
def test_what_feeds_no_motor_is_refused(supply: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        ls.on_supply(ls.robots.build("irb6"), np.zeros(5), **supply)


def test_motors_without_resistance_or_motor_have_no_voltages() -> None:
    with pytest.raises(ValueError, match="voltages of motors without a resistance"):
        ls.on_supply(ls.robots.build("irb6", resistance=0.0), np.zeros(5), of="voltage")
    one = np.ones((1, 1))
    wound = FedMotors(one, 0.0 * one, np.inf * one, np.inf * one, 10.0 * one, np.array([False]))
    assert np.isnan(wound.given(one, one)[0]).all()  # of a design whose resistance is zero
    hold: Any = ls.servo(ls.robots.build("irb6"), "pd", reference={"q": [[0.0] * 5]}, step=1e-3, kp=1.0, kd=0.1)
    with pytest.raises(TypeError, match="got a servo, which is no function of the state"):
        ls.on_supply(ls.robots.build("irb6"), hold, voltage=10.0)
    with pytest.raises(ValueError, match="have no motor"):
        ls.on_supply(ls.robots.build("planar_3r"), np.zeros(3))


DRIVEN: dict[str, Any] = {
    "robot": "delta_rl5_1450_motors",
    "trajectories": {"pick": {"kind": "quintic", "start": [-0.15, 0, 0], "end": [0.15, 0, 0.05], "duration": 0.1}},
    "time": {"stop": 0.1, "step": 0.002},
    "outputs": ["actuator_force", "actuator_velocity", "motor_current", "motor_voltage", "electrical_power"],
}
SERVO = {"controller": {"kind": "pd_gravity", "parameters": {"kp": 5.0, "kd": 0.05}}}


def computed(**more: Any) -> Any:
    return work.whole(block_of(plan(Sweep.from_dict({**DRIVEN, **more})), 0))


def test_a_sweep_tells_voltage_and_what_is_left_of_the_supply() -> None:
    limits = {"actuators": {"all": {"current": 12.0, "voltage": 300.0, "rated_current": 4.0}}}
    metrics = ["peak_voltage", "supply_margin", "peak_current", "rms_current", "thermal_margin"]
    arrays = computed(metrics=metrics, limits=limits)
    voltage = 1.5 * arrays["motor_current"] + 1.0 * arrays["actuator_velocity"][:, None]
    np.testing.assert_allclose(arrays["motor_voltage"], voltage, rtol=1e-12)
    np.testing.assert_allclose(arrays["electrical_power"], voltage * arrays["motor_current"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(arrays["peak_voltage"], np.abs(voltage).max(axis=3), rtol=1e-12)
    used = np.maximum(arrays["peak_current"] / 12.0, arrays["peak_voltage"] / 300.0)
    np.testing.assert_allclose(arrays["supply_margin"], 1.0 - used, rtol=1e-12)
    np.testing.assert_allclose(arrays["thermal_margin"], 1.0 - arrays["rms_current"] / 4.0, rtol=1e-12)


def test_a_simulated_robot_gets_no_more_than_its_supply_gives() -> None:
    free = computed(simulation=SERVO, metrics=["peak_force"])
    assert np.abs(free["motor_voltage"]).max() > 200.0
    limits = {"actuators": {"all": {"current": 4.0, "voltage": 120.0}}}
    arrays = computed(
        simulation={**SERVO, "saturation": True}, limits=limits, metrics=["saturated_time", "peak_force", "work"]
    )
    assert (arrays["worst_status"] == 0).all()
    assert np.abs(arrays["motor_current"]).max() == pytest.approx(4.0, rel=1e-12)
    assert np.abs(arrays["motor_voltage"]).max() == pytest.approx(120.0, rel=1e-12)
    assert arrays["peak_force"].max() == pytest.approx(4.0, rel=1e-12)
    assert (arrays["saturated_time"] > 0.0).any()
    high = {"actuators": {"all": {"current": 1e6, "voltage": 1e6}}}
    wide = computed(simulation={**SERVO, "saturation": True}, limits=high, metrics=["saturated_time"])
    assert not wide["saturated_time"].any()
    for name in DRIVEN["outputs"]:
        np.testing.assert_allclose(wide[name], free[name], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("more", "metrics"),
    [
        ({"simulation": {**SERVO, "saturation": True}}, ["peak_force", "saturated_time"]),
        ({}, ["supply_margin", "cycle_time", "speed_factor"]),
    ],
    ids=["simulation", "path"],
)
def test_amplifiers_limit_motors_as_limits_of_actuators_do(more: dict[str, Any], metrics: list[str]) -> None:
    most, others = {"current": 4.0, "voltage": 120.0}, {"force": 100.0, "velocity": 1e4}
    by_actuator = computed(**more, metrics=metrics, limits={"actuators": {"all": {**others, **most}}})
    by_section = computed(**more, metrics=metrics, motors=most, limits={"actuators": {"all": others}})
    for name in metrics:
        np.testing.assert_allclose(by_actuator[name], by_section[name], rtol=1e-9)
        assert np.isfinite(by_actuator[name]).all()


def test_voltages_as_profiles_are_those_of_on_supply() -> None:
    robot = ls.robots.build("irb6")
    volts = [6.0, -4.0, 3.0, 2.0, -1.0]
    limits = {"actuators": {"all": {"current": 3.0}}}
    simulation = {"forces": {"feed": {"values": volts, "of": "voltage"}}, "step": 0.001, "saturation": True}
    outputs = ["joint_position", "motor_voltage", "motor_current"]
    arrays = computed(
        robot="irb6",
        trajectories={},
        simulation=simulation,
        limits=limits,
        outputs=outputs,
        time={"stop": 0.05, "step": 0.01},
    )
    motion: Any = simulate(
        robot,
        force=ls.on_supply(robot, volts, of="voltage", current=3.0),
        q=np.zeros(5),
        step=0.001,
        steps=50,
        every=10,
    )
    free = [k for k, name in enumerate(robot.mechanism.limbs[0].joints) if name in robot.mechanism.freedoms]
    np.testing.assert_allclose(arrays["joint_position"][0, 0, 0, :, 0][..., free], motion.q, rtol=1e-11, atol=1e-14)
    voltage, current = (arrays[name][0, 0, 0] for name in outputs[1:])
    np.testing.assert_allclose(voltage[:, 3:], np.broadcast_to(volts[3:], (6, 2)), rtol=1e-12)
    np.testing.assert_allclose(current[0, :3], [3.0, -3.0, 3.0], rtol=1e-12)  # more than the drive gives at rest


@pytest.mark.parametrize("options", [{"step": 0.01}, {}, {"integrator": "spanning_tree"}])
def test_motors_of_another_robot_are_refused(options: dict[str, Any]) -> None:
    robot, other = ls.robots.build("irb6"), ls.robots.build("irb6", payload_mass=2.0)
    push = ls.Forces(actuator=ls.on_supply(robot, np.zeros(5), voltage=24.0))
    assert ls.simulate(robot, ls.State(q=np.zeros(5)), push, [0.0, 0.01], **options).status == 0
    with pytest.raises(ValueError, match=r"got motors of Robot\(irb6\) on a supply, to simulate Robot\(irb6, payload"):
        ls.simulate(other, ls.State(q=np.zeros(5)), push, [0.0, 0.01], **options)
