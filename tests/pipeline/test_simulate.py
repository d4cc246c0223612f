"""`simulate` with records: the numbers of the functions behind it bit for bit, datasets, units, refusals."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import xarray as xr

import limbsweep as ls
from tasks.dynamics import simulate as direct

ARM, DELTA, BAR = (ls.robots.build(name) for name in ("planar_3r", "delta_3rr2rrr", "five_bar"))
DRY = {"law": "coulomb_viscous", "coulomb": 0.3, "viscous": 0.1}
SMOOTH = {"law": "viscous", "viscous": 0.1}
PUSH = np.array([1.0, 0.0, -0.5])
DOWN = (0.0, -9.81, 0.0)
Q, QD = np.array([0.1, 0.2, 0.3]), np.array([0.0, 1.0, -1.0])
TIMES = np.linspace(0.0, 0.02, 5)


def same(motion: Any, expected: Any) -> None:
    """Every field has the same bits."""
    for name in expected._fields:
        np.testing.assert_array_equal(getattr(motion, name), getattr(expected, name), err_msg=name)


def test_a_chain_moves_by_both_methods_with_the_numbers_of_its_functions() -> None:
    state, around = ls.State(q=np.stack([Q, -Q]), qd=QD), ls.Environment(gravity=DOWN)
    drive = ls.Forces(actuator=lambda t: PUSH * t, friction=DRY)
    given: dict[str, Any] = {"force": drive.actuator, "qd": QD, "friction": DRY, "gravity": DOWN}
    motion = ls.simulate(ARM, state, drive, TIMES, environment=around, step=1e-3)
    same(motion, direct.simulate(ARM, **given, q=state.q, step=1e-3, steps=20, every=5))
    assert (motion.status == ls.Status.OK).all()
    adaptive = ls.simulate(ARM, ls.State(q=Q, qd=QD), drive, TIMES, environment=around, method="adaptive", rtol=1e-9)
    same(adaptive, direct.simulate_adaptive(ARM, **given, q=Q, times=TIMES, rtol=1e-9))
    assert np.abs(adaptive.q - motion.q[:, 0]).max() < 1e-6
    assert np.abs(adaptive.q[-1] - Q).max() > 1e-3


@pytest.mark.parametrize("law", [None, DRY])
def test_a_platform_moves_by_both_methods_with_the_numbers_of_its_functions(law: Any) -> None:
    load = np.array([0.0, 0.0, 0.0, 0.0, 0.0, -3.0])
    drive, given = ls.Forces(actuator=PUSH, load=load, friction=law), {"force": PUSH, "load": load, "friction": law}
    motion = ls.simulate(DELTA, ls.State(), drive, TIMES, step=1e-3)
    same(motion, direct.simulate(DELTA, **given, step=1e-3, steps=20, every=5))
    adaptive = ls.simulate(DELTA, ls.State(), drive, TIMES, method="adaptive")
    same(adaptive, direct.simulate_adaptive(DELTA, **given, times=TIMES))
    assert motion.status == adaptive.status == ls.Status.OK
    assert np.abs(adaptive.position - motion.position).max() < 1e-6
    assert np.abs(adaptive.position[-1] - adaptive.position[0]).max() > 1e-5


def test_no_drive_is_no_forces_and_a_step_goes_from_one_time_to_the_next() -> None:
    fall = ls.simulate(BAR, ls.State(), None, TIMES, form="joint", close=False)
    same(fall, direct.simulate(BAR, force=np.zeros(2), step=TIMES[1], steps=4, form="joint", close=False))
    pulled = ls.simulate(BAR, ls.State(), ls.Forces(load=np.zeros(6)), TIMES, form="joint", close=False)
    np.testing.assert_array_equal(pulled.position, fall.position)


def test_a_servo_alone_or_with_friction_and_a_later_start() -> None:
    servo = ls.servo(ARM, "pd", reference={"q": [Q]}, step=1e-3, kp=200.0, kd=20.0)
    state = ls.State(q=Q + 0.1)
    same(
        ls.simulate(ARM, state, servo, TIMES, step=1e-3),
        direct.simulate(ARM, force=servo, q=state.q, step=1e-3, steps=20, every=5),
    )
    held = ls.simulate(ARM, state, ls.Forces(actuator=servo, friction=DRY), 0.5 + TIMES, step=1e-3, integrator="euler")
    rubbing: dict[str, Any] = {"friction": DRY, "method": "euler", "start": 0.5, "step": 1e-3}
    same(held, direct.simulate(ARM, force=servo, q=state.q, **rubbing, steps=20, every=5))
    home = np.array(BAR.mechanism.platform.home.position, dtype=float)
    still = ls.servo(BAR, "computed_torque", reference={"position": [home]}, step=1e-3, space="task")
    assert np.abs(ls.simulate(BAR, ls.State(), still, TIMES, step=1e-3).position - home).max() < 1e-12


@pytest.mark.parametrize("method", ["fixed", "adaptive"])
@pytest.mark.parametrize("robot", [ARM, DELTA])
def test_a_base_that_falls_takes_gravity_away(robot: Any, method: Any) -> None:
    drop: Any = lambda t: [0.0, 0.0, 0.0, 0.0, 0.0, -9.81]  # noqa: E731
    falling = ls.Environment(base=ls.Motion(acceleration=drop))
    state = ls.State(q=Q, qd=QD) if robot is ARM else ls.State(twist=[0.0, 0.0, 0.0, 0.1, 0.0, 0.0])
    options: dict[str, Any] = {"method": method} | ({"step": 1e-3} if method == "fixed" else {})
    found = ls.simulate(robot, state, None, TIMES, environment=falling, **options)
    weightless = ls.simulate(robot, state, None, TIMES, environment=ls.Environment(gravity=np.zeros(3)), **options)
    name = "q" if robot is ARM else "position"
    assert np.abs(getattr(found, name) - getattr(weightless, name)).max() < 1e-9
    assert np.abs(getattr(found, name)[-1] - getattr(found, name)[0]).max() > 1e-4


def test_bristles_go_on_from_their_memory() -> None:
    law = {"law": "lugre", "sigma0": 400.0, "sigma1": 1.0, "coulomb": 2.0, "static": 2.5, "stribeck_velocity": 0.1}
    drive = ls.Forces(actuator=PUSH, friction=law)
    whole = ls.simulate(ARM, ls.State(q=Q), drive, TIMES, step=1e-3)
    state = ls.State(q=whole.q[2], qd=whole.qd[2], memory=whole.memory[2])
    rest = ls.simulate(ARM, state, drive, TIMES[2:], step=1e-3)
    np.testing.assert_allclose(rest.q[-1], whole.q[-1], rtol=0, atol=1e-12)
    forgotten = ls.simulate(ARM, ls.State(q=whole.q[2], qd=whole.qd[2]), drive, TIMES[2:], step=1e-3)
    assert np.abs(forgotten.q[-1] - whole.q[-1]).max() > 1e-9


@pytest.mark.parametrize("method", ["fixed", "adaptive"])
def test_data_arrays_in_other_units_are_the_same_motion(method: Any) -> None:
    degrees = xr.DataArray(np.degrees([Q, -Q]), dims=("run", "freedom"), attrs={"units": "deg"})
    names = list(ARM.mechanism.actuators)[::-1]
    push = xr.DataArray(PUSH[::-1], dims="actuator", coords={"actuator": names}, attrs={"units": "N m"})
    options: dict[str, Any] = {"method": method} | ({"step": 1e-3} if method == "fixed" else {})
    found = ls.simulate(ARM, ls.State(q=degrees), ls.Forces(actuator=push, friction=SMOOTH), TIMES, **options)
    assert found["q"].dims == ("run", "time", "freedom")
    for k, q in enumerate((Q, -Q)):
        alone = ls.simulate(ARM, ls.State(q=q), ls.Forces(actuator=PUSH, friction=SMOOTH), TIMES, **options)
        np.testing.assert_allclose(found["q"].isel(run=k), alone.q, rtol=0, atol=1e-13)
    assert (found["q"].attrs["units"], found["qd"].attrs["units"]) == ("rad", "rad/s")
    assert found["time"].values.tolist() == TIMES.tolist()
    late = xr.DataArray(1e3 * TIMES, dims="time", attrs={"units": "ms"})
    again = ls.simulate(ARM, ls.State(q=Q), ls.Forces(actuator=PUSH, friction=SMOOTH), late, **options)
    np.testing.assert_allclose(again.q, found["q"].isel(run=0), rtol=0, atol=1e-13)


@pytest.mark.parametrize("method", ["fixed", "adaptive"])
def test_designs_and_forces_of_a_platform_meet_by_name(method: Any) -> None:
    arms = xr.DataArray([0.9, 1.0], dims="design") * DELTA.values["upper_arm"]
    push = xr.DataArray([PUSH, -PUSH], dims=("run", "actuator"))
    found = ls.simulate(
        DELTA, ls.State(), ls.Forces(actuator=push), TIMES[:3], method=method, parameters={"upper_arm": arms}
    )
    assert found["position"].sizes == {"design": 2, "run": 2, "time": 3, "axis": 3}
    for design, arm in enumerate(arms.values):
        robot = ls.Robot.of(DELTA.family, {**DELTA.values, "upper_arm": float(arm)})
        for run, force in enumerate((PUSH, -PUSH)):
            alone = ls.simulate(robot, ls.State(), ls.Forces(actuator=force), TIMES[:3], method=method)
            place = found["position"].isel(design=design, run=run).transpose("time", "axis")
            np.testing.assert_allclose(place, alone.position, rtol=0, atol=1e-13)


def test_a_motion_makes_a_dataset_of_itself() -> None:
    motion = ls.simulate(ARM, ls.State(q=np.stack([Q, -Q])), ls.Forces(friction=DRY), TIMES, step=1e-3)
    made = pickle.loads(pickle.dumps(motion)).to_dataset()
    assert made["q"].dims == ("time", "batch_0", "freedom")
    assert made["status"].dims == ("batch_0",)
    np.testing.assert_array_equal(made["q"], motion.q)
    np.testing.assert_array_equal(made["time"], motion.time)
    assert made["time"].attrs["units"] == "s"
    assert made["freedom"].values.tolist() == list(ARM.mechanism.freedoms)
    fall = ls.simulate(DELTA, ls.State(), None, TIMES, step=1e-3).to_dataset()
    assert fall["position"].sizes == {"time": 5, "axis": 3}
    assert "work" not in fall


SERVO = ls.servo(ARM, "pd", reference={"q": [Q]}, step=1e-3)
CASES: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"step": 3e-3}, ValueError, r"times: got 0\.005 s; expected evenly spaced multiples of step, 0\.003 s"),
    ({"step": 1.0}, ValueError, r"times: got .* s; expected evenly spaced multiples of step, 1\.0 s"),
    ({"times": [0.0, 0.01, 0.03], "step": 1e-3}, ValueError, r"times: got 0\.03 s; expected evenly spaced multiples"),
    ({"times": [0.0]}, ValueError, r"times: got \[0\.0\]; expected at least two, ascending"),
    ({"times": [0.0, np.nan]}, ValueError, r"times: got .*; expected at least two, ascending"),
    ({"times": "soon"}, ValueError, r"times: got 'soon'; expected numbers \[s\]"),
    ({"times": xr.DataArray(TIMES, dims="time", attrs={"units": "m"})}, ValueError, "time: got units 'm'; expected"),
    ({"step": "1 ms"}, ValueError, r"step: got '1 ms'; expected a length of time \[s\] above zero"),
    ({"drive": ls.Forces(actuator=[1.0, 2.0])}, ValueError, r"actuator: got an array of shape \(2,\)"),
    ({"step": -1e-3}, ValueError, r"step: got -0\.001; expected a length of time \[s\] above zero"),
    ({"method": "rk4"}, ValueError, "method: got 'rk4'; expected 'fixed' or 'adaptive'"),
    ({"method": "adaptive", "step": 1e-3}, ValueError, "step: got 0.001 with method 'adaptive'.*expected none"),
    ({"method": "adaptive", "drive": SERVO}, ValueError, "drive: got a servo.* with method 'adaptive'"),
    ({"drive": PUSH}, ValueError, r"drive: got an object of type ndarray; expected limbsweep\.Forces\(actuator"),
    ({"drive": ls.Forces(weights=PUSH)}, ValueError, "weights: got them in the forces of a simulation"),
    ({"state": {"q": Q}}, ValueError, r"state: got an object of type dict; expected a limbsweep\.State"),
    ({"state": ls.State(q=Q, time=0.5)}, ValueError, "time: got it in the state; expected the first of times"),
    ({"state": ls.State(position=np.zeros(3))}, TypeError, "position: planar_3r is a chain, .* take it"),
    ({"drive": ls.Forces(load=np.zeros(6))}, TypeError, "load: planar_3r is a chain, .* take it"),
    ({"environment": DOWN}, ValueError, r"environment: got an object of type tuple; expected a limbsweep\.Environment"),
    ({"integrator": "DOP853"}, ValueError, "integrator: got 'DOP853' with method 'fixed'; known: rk4"),
    ({"rtol": 1e-9}, ValueError, "rtol: got it with method 'fixed'; expected form, close there"),
    ({"rtoll": 1e-9}, TypeError, "rtoll: no option of simulate has this name; did you mean 'rtol'"),
    ({"parameters": 3.0}, ValueError, "simulate: parameters: got an object of type float; expected a dict"),
    ({"parameters": {"length_1": np.ones((2, 2))}}, ValueError, r"parameters: got arrays of shapes \[\(2, 2\)\]"),
    ({"parameters": {"length_1": [0.5, "a"]}}, ValueError, "parameters: length_1: got .*; expected numbers"),
    ({"step": 1e-12}, ValueError, r"step: got 2e\+10 steps of 1e-12 s; expected at most 1e\+08 in one call"),
    ({"form": "joint"}, TypeError, "form: planar_3r is a chain"),
]


@pytest.mark.parametrize(("change", "kind", "message"), CASES)
def test_misuse_is_one_sentence(change: dict[str, Any], kind: type[Exception], message: str) -> None:
    given = {"state": ls.State(q=Q), "drive": None, "times": TIMES, **change}
    with pytest.raises(kind, match=message):
        ls.simulate(ARM, given.pop("state"), given.pop("drive"), given.pop("times"), **given)


def test_a_servo_is_no_force_of_one_instant() -> None:
    with pytest.raises(ValueError, match="actuator: got a servo; expected an array"):
        ls.forward_dynamics(ARM, q=Q, forces=ls.Forces(actuator=SERVO))


def test_plain_arrays_of_designs_are_a_dim() -> None:
    lengths, starts = np.array([0.9, 1.1]), np.array([Q, 2.0 * Q])
    forces = ls.Forces(actuator=PUSH)
    same = ls.simulate(ARM, ls.State(q=Q), forces, TIMES, step=1e-3, parameters={"length_1": lengths})
    assert same["q"].sizes == {"design": 2, "time": 5, "freedom": 3}
    each = ls.simulate(ARM, ls.State(q=starts), forces, TIMES, step=1e-3, parameters={"length_1": lengths})
    for k, length in enumerate(lengths):
        robot = ls.robots.build("planar_3r", length_1=length)
        for motion, start in ((same, Q), (each, starts[k])):
            alone = ls.simulate(robot, ls.State(q=start), forces, TIMES, step=1e-3)
            np.testing.assert_array_equal(motion["q"].values[k], alone.q)
    named = xr.DataArray(lengths, dims="design")
    again = ls.simulate(ARM, ls.State(q=Q), forces, TIMES, step=1e-3, parameters={"length_1": named})
    xr.testing.assert_identical(again, same)
