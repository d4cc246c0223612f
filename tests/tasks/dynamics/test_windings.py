"""Motors whose currents are states: beside the matrix exponential, energy, current loops, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import limbsweep as ls
from pipeline.errors import InputError
from robots.model import Robot
from tasks.dynamics.exponentials import phi

CONSTANT, RESISTANCE, INERTIA, VOLTS = 0.1, 0.5, 1e-3, 24.0

TEXT = """
limbsweep: 1
name: motor
title: A shaft with a motor
parameters:
  coil: {default: 0.002, unit: "1", lower: 1e-9, upper: 10, text: inductance of the winding in henry}
limbs:
  motor:
    links:
      - {joint: shaft, body: rotor, parent: base, kind: revolute, axis: z, inertia: {mass: 1, centre: [0, 0, 0],
         moments: [1e-3, 1e-3, 1e-3]}}
    drives:
      - {name: motor, ratios: {shaft: 1.0},
         motor: {torque_constant: 0.1, resistance: 0.5, inductance: coil, bandwidth: 2000}}
    actuated: [shaft]
    independent: [shaft]
"""


@pytest.fixture
def motor(tmp_path: Path) -> Path:
    """Return the file of a shaft with a motor."""
    file = tmp_path / "motor.yaml"
    file.write_text(TEXT)
    return file


def closed(henry: float, times: np.ndarray) -> np.ndarray:
    """Speed and current (time, 2) after a step of voltage, at rest before."""
    system = np.array(
        [[0, CONSTANT / INERTIA, 0], [-CONSTANT / henry, -RESISTANCE / henry, VOLTS / henry], [0.0, 0.0, 0.0]]
    )
    return np.array([(expm(system * t) @ [0.0, 0.0, 1.0])[:2] for t in times])


def moved(robot: Robot, asked: Any, step: float, until: float = 0.05, **supply: Any) -> Any:
    """Return the motion of a robot at rest under motors on a supply."""
    times = np.linspace(0.0, until, 11)
    force = ls.on_supply(robot, asked, **supply)
    return ls.simulate(robot, ls.State(q=[0.0]), ls.Forces(actuator=force), times, step=step)


@pytest.mark.parametrize("z", [0.0, 0.3, 0.999, 1.001, 60.0, 1e6])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_functions_of_the_exponential_are_their_series_and_their_limits(order: int, z: float) -> None:
    found = [float(each[0, 0]) for each in phi(np.array([[-z]]))]
    factorials = np.cumprod([1.0, *range(1, 100)])
    if z < 10.0:
        exact = sum((-z) ** j / factorials[j + order] for j in range(80))
    else:  # 1 over z times one of the order before
        exact = (1.0 / factorials[order - 1] - found[order - 1]) / z
    assert found[order] == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("damping", [0.1, 1.0, 30.0])
def test_functions_of_matrices_are_blocks_of_an_exponential(damping: float) -> None:
    z = 40.0 * np.array([[-2.0 * damping, 1.0], [-1.0, 0.0]])
    zero, unit = np.zeros((2, 2)), np.eye(2)
    raised = expm(np.block([[z, unit, zero], [zero, zero, unit], [zero, zero, zero]]))
    for order, each in enumerate(phi(z)[:3]):
        exact = raised[:2, 2 * order : 2 * order + 2]
        np.testing.assert_allclose(each, exact, rtol=0, atol=1e-11 * max(1.0, np.abs(exact).max()))


@pytest.mark.parametrize("henry", [2e-3, 2e-5, 1e-8])
def test_a_step_of_voltage_is_the_matrix_exponential_however_stiff(motor: Path, henry: float) -> None:
    robot = ls.robots.read(motor, coil=henry)
    motion = moved(robot, [VOLTS], 1e-3, of="voltage")
    expected = closed(henry, motion.time)
    assert ls.Status(int(motion.status)) is ls.Status.OK
    size = np.abs(expected).max(axis=0)
    np.testing.assert_allclose(motion.qd[:, 0], expected[:, 0], rtol=0, atol=5e-6 * size[0])
    np.testing.assert_allclose(motion.current[:, 0], expected[:, 1], rtol=0, atol=5e-6 * size[1])


def test_the_order_is_four_where_the_winding_is_not_stiff(motor: Path) -> None:
    robot = ls.robots.read(motor, coil=2e-3)
    errors = []
    for step in (1e-3, 5e-4):
        motion = moved(robot, [VOLTS], step, of="voltage")
        errors.append(np.abs(motion.qd[:, 0] - closed(2e-3, motion.time)[:, 0]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.2)


def test_adaptive_steps_agree(motor: Path) -> None:
    robot = ls.robots.read(motor)
    times = np.linspace(0.0, 0.02, 3)
    force = ls.on_supply(robot, [VOLTS], of="voltage")
    motion = ls.simulate(robot, ls.State(q=[0.0]), ls.Forces(actuator=force), times, method="adaptive", rtol=1e-7)
    np.testing.assert_allclose(motion.qd[:, 0], closed(2e-3, times)[:, 0], rtol=0, atol=1e-3)


def test_a_current_loop_closes_its_error_at_its_bandwidth_and_within_its_limits(motor: Path) -> None:
    robot = ls.robots.read(motor)
    motion = moved(robot, [0.5], 1e-4, 0.002)
    np.testing.assert_allclose(motion.current[:, 0], 5.0 * -np.expm1(-2000.0 * motion.time), rtol=0, atol=1e-9)
    held = moved(robot, [VOLTS], 1e-4, 0.02, of="voltage", current=10.0)
    assert held.current.max() <= 10.0
    assert held.current[5:-1, 0] == pytest.approx(10.0, abs=0.01)
    slow = moved(robot, [0.5], 1e-4, 0.002, voltage=3.0)  # the supply cannot make the current faster
    rise = 3.0 / RESISTANCE * -np.expm1(-RESISTANCE / 2e-3 * slow.time)
    np.testing.assert_allclose(slow.current[:5, 0], rise[:5], rtol=0.01)


def test_a_servo_goes_through_windings(motor: Path) -> None:
    times = np.linspace(0.0, 0.2, 21)
    errors = []
    for bandwidth in (500.0, 2e6):
        robot = ls.robots.with_motor_conditions(ls.robots.read(motor), inductance=1e-3, bandwidth=bandwidth)
        hold = ls.servo(robot, "pd", reference={"q": [[1.0]]}, step=1e-3, kp=2.0, kd=0.05)
        at_once = ls.simulate(robot, ls.State(q=[0.0]), hold, times, step=1e-3)
        through = ls.simulate(robot, ls.State(q=[0.0]), ls.Forces(actuator=ls.on_supply(robot, hold)), times, step=1e-3)
        errors.append(np.abs(through.q - at_once.q).max())
    assert errors[0] > 1e-3
    assert errors[1] < 1e-4


def test_sweeps_see_field_heat_and_work(motor: Path) -> None:
    text = """
limbsweep: 1
robot: ./motor.yaml
design: {grid: {coil: [0.0005, 0.002]}}
simulation: {forces: {on: {values: 24.0, of: voltage}}, step: 0.0002}
time: {stop: 0.05, step: 0.005}
outputs: [joint_velocity, motor_current, motor_voltage]
metrics: [electrical_work, work, rms_current, peak_voltage]
"""
    on = ls.compute(ls.Sweep.from_text(text, folder=motor.parent)).squeeze()
    for k, henry in enumerate([0.0005, 0.002]):
        one = on.isel(design=k)
        expected = closed(henry, one["time"].values)
        np.testing.assert_allclose(one["joint_velocity"], expected[:, 0], rtol=0, atol=1e-6)
        np.testing.assert_allclose(one["motor_voltage"], VOLTS, rtol=1e-12)
        kinetic = 0.5 * INERTIA * expected[-1, 0] ** 2
        field = 0.5 * henry * expected[-1, 1] ** 2
        heat = RESISTANCE * float(one["rms_current"]) ** 2 * 0.05
        assert float(one["work"]) == pytest.approx(kinetic, rel=1e-7)
        assert float(one["electrical_work"]) == pytest.approx(kinetic + field + heat, rel=2e-4)


def test_derivatives_of_a_sweep_by_an_inductance_are_differences_of_sweeps(motor: Path) -> None:
    text = """
limbsweep: 1
robot: ./motor.yaml
design: {list: {coil: [0.002, 0.00199, 0.00201]}}
simulation: {forces: {on: {values: 24.0, of: voltage}}, step: 0.0005}
time: {stop: 0.02, step: 0.005}
outputs: [{derivative: [peak_current, electrical_work], of: [coil]}]
metrics: [peak_current, electrical_work]
"""
    found = ls.compute(ls.Sweep.from_text(text, folder=motor.parent)).squeeze()
    for name in ("peak_current", "electrical_work"):
        _, low, high = found[name].values
        assert float(found[f"{name}_derivative"][0]) == pytest.approx((high - low) / 2e-5, rel=1e-4)


def test_a_platform_with_quick_loops_moves_as_without_an_inductance() -> None:
    text = """
limbsweep: 1
robot: delta_rl5_1450_motors
trajectories: {pick: {kind: quintic, start: [-0.1, 0, 0], end: [-0.08, 0, 0], duration: 0.05}}
simulation: {controller: {kind: pd_gravity, parameters: {kp: 5, kd: 0.05}}, step: 0.001}
motors: {}
time: {stop: 0.05, step: 0.01}
outputs: [actuator_position]
metrics: [work]
"""
    plain = ls.compute(ls.Sweep.from_text(text)).squeeze()
    wound = "motors: {inductance: 0.002, bandwidth: 1.0e+7}"
    quick = ls.compute(ls.Sweep.from_text(text.replace("motors: {}", wound))).squeeze()
    np.testing.assert_allclose(quick["actuator_position"], plain["actuator_position"], rtol=0, atol=1e-5)
    np.testing.assert_allclose(quick["work"], plain["work"], rtol=1e-5)


def test_series_that_need_rates_stand_beside_metrics_that_need_none(motor: Path) -> None:
    text = """
limbsweep: 1
robot: ./motor.yaml
simulation: {forces: {on: {values: 24.0, of: voltage}}, step: 0.001}
time: {stop: 0.05, step: 0.01}
outputs: [joint_acceleration, motor_voltage]
metrics: [peak_power, energy]
"""
    both = ls.compute(ls.Sweep.from_text(text, folder=motor.parent)).squeeze()
    plain = text.replace("joint_acceleration, motor_voltage", "joint_velocity")
    alone = ls.compute(ls.Sweep.from_text(plain, folder=motor.parent)).squeeze()
    assert (both["status"] == ls.Status.OK).all()
    for name in ("peak_power", "energy"):
        assert float(both[name]) == float(alone[name]) > 0.0


def test_designs_with_another_inductance_are_other_sweeps(motor: Path) -> None:
    text = """
limbsweep: 1
robot: ./motor.yaml
simulation: {forces: {on: {values: 24.0, of: voltage}}}
time: {stop: 0.05, step: 0.005}
outputs: [motor_current]
"""
    first = ls.Sweep.from_text(text, folder=motor.parent).fingerprint
    motor.write_text(TEXT.replace("inductance: coil", "inductance: 0.003"))
    assert ls.Sweep.from_text(text, folder=motor.parent).fingerprint != first


def test_what_has_no_meaning_is_refused_with_its_reason(motor: Path) -> None:
    robot = ls.robots.read(motor)
    force = ls.on_supply(robot, [VOLTS], of="voltage")
    with pytest.raises(ValueError, match="expected them in simulate, or forces"):
        ls.forward_dynamics(robot, q=[0.0], forces=ls.Forces(actuator=force))
    with pytest.raises(ValueError, match="force_rate: got nothing for motors with an inductance"):
        ls.motor_demand(robot, force=[0.1], velocity=[10.0])
    demand = ls.motor_demand(robot, force=[0.1], velocity=[10.0], force_rate=[2.0])
    assert demand.voltage[0] == pytest.approx(0.5 + 1.0 + 0.002 * 20.0)
    idle = ls.robots.with_motor_conditions(ls.robots.build("irb6"), inductance=1e-3)
    with pytest.raises(ValueError, match="bandwidth: got 0 for a motor with a commanded force"):
        ls.on_supply(idle, np.zeros(5))
    with pytest.raises(ValueError, match="expected 'rk4', whose steps are exponential"):
        ls.simulate(robot, ls.State(q=[0.0]), ls.Forces(actuator=force), [0.0, 0.1], step=0.01, integrator="euler")
    with pytest.raises(ValueError, match="with motors with an inductance"):
        ls.simulate(
            robot, ls.State(q=[0.0]), ls.Forces(actuator=force), [0.0, 0.1], step=0.01, integrator="spanning_tree"
        )
    with pytest.raises(ValueError, match="expected forces or a servo, or derivatives of a sweep"):
        ls.differentiate_simulation(robot, ls.State(q=[0.0]), ls.Forces(actuator=force), [0.0, 0.1], step=0.01)
    with pytest.raises(ValueError, match="expected them in simulate, or forces"):
        ls.differentiate(ls.forward_dynamics, robot, q=[0.0], forces=ls.Forces(actuator=force))
    other = ls.robots.read(motor, coil=0.004)
    with pytest.raises(ValueError, match=r"got motors of Robot\(motor\) on a supply, to simulate Robot\(motor, coil="):
        ls.simulate(other, ls.State(q=[0.0]), ls.Forces(actuator=force), [0.0, 0.1], step=0.01)
    same = ls.robots.read(motor)
    assert ls.simulate(same, ls.State(q=[0.0]), ls.Forces(actuator=force), [0.0, 0.01], step=0.01).current.shape == (
        2,
        1,
    )


GIVEN = "trajectories: {a: {kind: harmonic, amplitude: 0.1, period: 1.0}}"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            ("time:", "trajectories: {a: {kind: harmonic, amplitude: 0.1, period: 1.0}}\ntime:"),
            "a given motion does not say",
        ),
        (("simulation: {", "simulation: {method: euler, "), "rk4 for motors with an inductance"),
        (("of: voltage", "of: force"), "the bandwidth .rad/s. of the current loop"),
        (("simulation: {", "simulation: {method: spanning_tree, "), "spanning_tree with"),
    ],
)
def test_sweeps_without_a_meaning_are_refused(motor: Path, change: tuple[str, str], expected: str) -> None:
    motor.write_text(TEXT.replace(", bandwidth: 2000", ""))
    text = """
limbsweep: 1
robot: ./motor.yaml
simulation: {forces: {on: {values: 24.0, of: voltage}}}
time: {stop: 0.05, step: 0.005}
outputs: [motor_voltage]
"""
    text = text.replace(*change)
    if "trajectories" in change[1]:
        text = "\n".join(line for line in text.splitlines() if not line.startswith("simulation"))
    with pytest.raises(InputError, match=expected):
        ls.Sweep.from_text(text, folder=motor.parent)


def test_files_say_an_inductance_above_zero_and_keep_it(motor: Path) -> None:
    copied = ls.robots.read(ls.robots.write(ls.robots.read(motor), motor.parent / "copy.yaml"))
    assert copied.mechanism.motors == ls.robots.read(motor).mechanism.motors
    motor.write_text(TEXT.replace("inductance: coil", "inductance: 0.0"))
    with pytest.raises(InputError, match="an inductance above 0"):
        ls.robots.read(motor)


DRIVE = """current_controller: {proportional: 4.0, integral: 9000.0},
         speed_controller: {proportional: 0.5, integral: 10.0}"""
GAINS = 4.0, 9000.0, 0.5, 10.0


@pytest.fixture
def drive(motor: Path) -> Path:
    """Return the file of a shaft with a motor whose drive has a current controller and a speed controller."""
    motor.write_text(TEXT.replace("bandwidth: 2000", DRIVE))
    return motor


def cascade(henry: float, asked: float, times: np.ndarray, start: float = 0.0) -> np.ndarray:
    """Speed, current and both integrals (time, 4) of a drive that is asked for a speed, from standstill."""
    p, i, kv, ks = GAINS
    states = [
        [0.0, CONSTANT / INERTIA, 0.0, 0.0, 0.0],
        np.array([-CONSTANT - p * kv, -RESISTANCE - p, 1.0, p, p * kv * asked]) / henry,
        [-i * kv, -i, 0.0, i, i * kv * asked],
        [-ks, 0.0, 0.0, 0.0, ks * asked],
        [0.0] * 5,
    ]
    begun = [0.0, start, RESISTANCE * start, start - kv * asked if start else 0.0, 1.0]
    return np.array([(expm(np.array(states) * t) @ begun)[:4] for t in times])


@pytest.mark.parametrize("henry", [2e-3, 2e-5, 1e-7])
def test_a_drive_that_is_asked_for_a_speed_is_its_linear_system_however_stiff(drive: Path, henry: float) -> None:
    robot = ls.robots.read(drive, coil=henry)
    motion = moved(robot, [3.0], 5e-4, of="speed")
    expected = cascade(henry, 3.0, motion.time)
    assert ls.Status(int(motion.status)) is ls.Status.OK
    np.testing.assert_allclose(motion.qd[:, 0], expected[:, 0], rtol=0, atol=3e-5 * np.abs(expected[:, 0]).max())
    np.testing.assert_allclose(motion.current[:, 0], expected[:, 1], rtol=0, atol=3e-5 * np.abs(expected[:, 1]).max())


def test_drives_keep_order_four_and_begin_with_currents_at_which_they_stand_still(drive: Path) -> None:
    robot, errors = ls.robots.read(drive), []
    for step in (5e-4, 2.5e-4):
        motion = moved(robot, [3.0], step, of="speed", start=[0.2])
        expected = cascade(2e-3, 3.0, motion.time, start=0.2)
        errors.append(np.abs(motion.current[:, 0] - expected[:, 1]).max())
    assert motion.current[0, 0] == 0.2
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.4)
    times = np.linspace(0.0, 0.02, 3)
    forces = ls.Forces(actuator=ls.on_supply(robot, [3.0], of="speed", start=[0.2]))
    found = ls.simulate(robot, ls.State(q=[0.0]), forces, times, method="adaptive", rtol=1e-8)
    exact = cascade(2e-3, 3.0, times, start=0.2)[:, 1]
    np.testing.assert_allclose(found.current[:, 0], exact, rtol=0, atol=1e-5)


def test_a_current_controller_makes_forces_and_its_integrals_wait_at_limits(drive: Path) -> None:
    robot = ls.robots.read(drive)
    free = moved(robot, [0.05], 1e-4, 0.02)
    assert free.current[-1, 0] == pytest.approx(0.5, rel=0.02)
    held = moved(robot, [30.0], 5e-4, 0.1, of="speed", current=2.0)
    assert held.current.max() < 3.0  # of a second order, which overshoots
    assert held.current[3:7, 0] == pytest.approx(2.0, abs=0.01)
    low = moved(robot, [30.0], 1e-3, 0.4, of="speed", voltage=2.0)
    assert low.qd.max() <= 2.0 / CONSTANT
    assert low.qd[-1, 0] == pytest.approx(2.0 / CONSTANT, rel=0.05)
    back = moved(robot, lambda t: [30.0 if t < 0.2 else 5.0], 1e-3, 0.4, of="speed", voltage=2.0)
    assert back.qd[-1, 0] == pytest.approx(5.0, rel=0.05)  # integrals have not wound up


def test_sweeps_ask_drives_for_speeds_and_controllers_go_through_their_current_loops(drive: Path) -> None:
    text = """
limbsweep: 1
robot: ./motor.yaml
design: {grid: {coil: [0.0005, 0.002]}}
simulation: {forces: {on: {values: 3.0, of: speed}, push: {values: 0.05}}, step: 0.00025}
time: {stop: 0.05, step: 0.005}
outputs: [joint_velocity, motor_current, motor_voltage]
metrics: [electrical_work, work]
"""
    on = ls.compute(ls.Sweep.from_text(text, folder=drive.parent)).squeeze()
    for k, henry in enumerate([0.0005, 0.002]):
        one = on.isel(design=k).sel(trajectory="on")
        expected = cascade(henry, 3.0, one["time"].values)
        np.testing.assert_allclose(one["joint_velocity"], expected[:, 0], rtol=0, atol=1e-5)
        np.testing.assert_allclose(one["motor_current"], expected[:, 1], rtol=0, atol=1e-4)
        pushed = on.isel(design=k).sel(trajectory="push")
        assert float(pushed["motor_current"][-1]) == pytest.approx(0.5, rel=0.02)
    followed = text.replace(
        "forces: {on: {values: 3.0, of: speed}, push: {values: 0.05}}",
        "controller: {kind: pd, parameters: {kp: 2.0, kd: 0.05}}",
    ).replace("time:", "trajectories: {a: {kind: harmonic, amplitude: 0.1, period: 0.1}}\ntime:")
    assert (ls.compute(ls.Sweep.from_text(followed, folder=drive.parent))["worst_status"] == 0).all()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("current_controller: {proportional: 4.0, integral: 9000.0}", "bandwidth: 2000, current_controller: "
          "{integral: 9000.0}"), "one of the two current loops"),
        (("proportional: 0.5, integral: 10.0", "proportional: 0.0"), "gains of at least 0, one of them above 0"),
        (("inductance: coil,", ""), "the inductance of the winding beside it"),
    ],
)  # fmt: skip
def test_files_refuse_drives_that_cannot_be(drive: Path, change: tuple[str, str], expected: str) -> None:
    text = drive.read_text()
    assert change[0] in text
    drive.write_text(text.replace(*change))
    with pytest.raises(InputError, match=expected):
        ls.robots.read(drive)


def test_drives_are_kept_by_files_and_speeds_are_refused_without_them(drive: Path, motor: Path) -> None:
    robot = ls.robots.read(drive)
    copied = ls.robots.read(ls.robots.write(robot, drive.parent / "copy.yaml"))
    assert copied.mechanism.motors == robot.mechanism.motors
    with pytest.raises(ValueError, match="bandwidth: got 0 for a motor with a commanded"):
        ls.on_supply(robot, [VOLTS], of="voltage", current=3.0)
    motor.write_text(TEXT)
    with pytest.raises(ValueError, match="speed_controller: got speeds for motors of which some have none"):
        ls.on_supply(ls.robots.read(motor), [1.0], of="speed")
    with pytest.raises(ValueError, match="of: got 'speed' for motors without an inductance"):
        ls.on_supply(ls.robots.build("irb6"), np.zeros(5), of="speed")
    text = "limbsweep: 1\nrobot: ./motor.yaml\nsimulation: {forces: {on: {values: 3.0, of: speed}}}\n"
    with pytest.raises(InputError, match="motors with an inductance and a speed_controller"):
        ls.Sweep.from_text(text + "time: {stop: 0.05, step: 0.005}\noutputs: [motor_current]\n", folder=motor.parent)


LOOPS = (
    "motors: {inductance: 0.002, current_gain: 4.0, current_integral: 9000.0, speed_gain: 0.5, speed_integral: 10.0}"
)


def test_the_section_of_motors_gives_drives_controllers_and_designs_sweep_their_gains(motor: Path) -> None:
    motor.write_text(TEXT.replace("inductance: coil, bandwidth: 2000", "bandwidth: 2000"))
    text = f"""
limbsweep: 1
robot: ./motor.yaml
{LOOPS}
design: {{list: {{speed_gain: [0.5, 0.25]}}}}
simulation: {{forces: {{on: {{values: 3.0, of: speed}}}}, step: 0.0005}}
time: {{stop: 0.02, step: 0.005}}
outputs: [joint_velocity, {{derivative: [electrical_work], of: [speed_gain, current_gain]}}]
metrics: [electrical_work]
"""
    on = ls.compute(ls.Sweep.from_text(text, folder=motor.parent)).squeeze()
    expected = cascade(2e-3, 3.0, on["time"].values)
    np.testing.assert_allclose(on["joint_velocity"].isel(design=0), expected[:, 0], rtol=0, atol=1e-5)
    moved = [text.replace("[0.5, 0.25]", f"[{gain}, 0.25]") for gain in (0.499, 0.501)]
    low, high = (ls.compute(ls.Sweep.from_text(each, folder=motor.parent)).squeeze() for each in moved)
    slope = (float(high["electrical_work"][0]) - float(low["electrical_work"][0])) / 0.002
    assert float(on["electrical_work_derivative"][0, 0]) == pytest.approx(slope, rel=1e-4)
    gains = {"current_gain": 4.0, "current_integral": 9000.0, "speed_gain": 0.5, "speed_integral": 10.0}
    robot = ls.robots.with_motor_conditions(ls.robots.read(motor), inductance=2e-3, **gains)
    (found,) = robot.mechanism.motors
    assert (found.bandwidth, found.current_controller.proportional, found.speed_controller.integral) == (0.0, 4.0, 10.0)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("inductance: 0.002, ", "got it for motors without an inductance"),
        ("speed_gain: 0.5, ", "expected speed_gain beside it"),
        ("current_gain: 4.0, ", "expected one of the two current loops"),
    ],
)
def test_sections_of_motors_without_a_meaning_are_refused(motor: Path, change: str, expected: str) -> None:
    motor.write_text(TEXT.replace("inductance: coil, bandwidth: 2000", "bandwidth: 2000"))
    loops = LOOPS.replace(change, "bandwidth: 100.0, " if change.startswith("current") else "")
    text = f"limbsweep: 1\nrobot: ./motor.yaml\n{loops}\nsimulation: {{forces: {{on: {{values: 3.0, of: speed}}}}}}\n"
    with pytest.raises(InputError, match=expected):
        ls.Sweep.from_text(text + "time: {stop: 0.05, step: 0.005}\noutputs: [motor_current]\n", folder=motor.parent)


def test_platforms_keep_speeds_of_their_motors() -> None:
    text = f"""
limbsweep: 1
robot: delta_rl5_1450_motors
gravity: [0, 0, 0]
{LOOPS}
simulation: {{forces: {{turn: {{values: 2.0, of: speed}}}}, step: 0.001}}
time: {{stop: 0.03, step: 0.01}}
outputs: [actuator_velocity, motor_current]
metrics: [electrical_work, work]
"""
    on = ls.compute(ls.Sweep.from_text(text)).squeeze()
    assert (on["status"] == 0).all()
    np.testing.assert_allclose(on["actuator_velocity"][-1], 2.0, rtol=0.1)
    assert float(on["electrical_work"].sum()) > float(on["work"].sum()) > 0.0
