"""`simulate`, `accelerate` and `servo` with DataArrays: the numbers of `tasks`, dims by name, designs as parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

import limbsweep as ls
import tasks
from tasks.dynamics import simulate as direct
from tasks.dynamics.records import Forces

ARM, DELTA = ls.robots.build("planar_3r"), ls.robots.build("delta_3rr2rrr")
FRICTION = {"law": "viscous", "viscous": 0.1}
TIMES = 1e-3 * np.arange(6)
Q = np.random.default_rng(0).normal(size=(2, 4, 3))
STATES = xr.DataArray(Q, dims=("run", "case", "freedom"), coords={"run": ["a", "b"]})


def test_a_chain_moves_as_a_dataset() -> None:
    force = xr.DataArray(np.array([[1.0, 0.0, -1.0], [0.0, 0.5, 0.0]]), dims=("run", "actuator"))
    options: dict[str, Any] = {"friction": FRICTION, "step": 1e-3, "steps": 6, "every": 2}
    drive, times = ls.Forces(actuator=force, friction=FRICTION), 2e-3 * np.arange(4)
    motion: Any = ls.simulate(ARM, ls.State(q=STATES.transpose("case", "freedom", "run")), drive, times, step=1e-3)
    expected: Any = direct.simulate(ARM, q=Q, force=force.values[:, None], **options)
    assert {*motion["q"].dims} == {"run", "case", "time", "freedom"}
    assert motion["time"].values.tolist() == pytest.approx([0.0, 0.002, 0.004, 0.006])
    assert motion["run"].values.tolist() == ["a", "b"]
    for name in ("q", "qd", "friction", "work"):
        values = motion[name].transpose("time", "run", "case", ...).values
        assert np.array_equal(values, getattr(expected, name)), name
    assert motion["status"].dims == ("case", "run") or motion["status"].dims == ("run", "case")
    lazy: Any = ls.simulate(ARM, ls.State(q=STATES.chunk(run=1)), drive, times, step=1e-3)
    assert lazy["q"].chunks
    assert np.array_equal(lazy["q"].transpose("time", "run", "case", ...).values, expected.q)


def test_designs_are_parameters_of_a_platform() -> None:
    lengths = xr.DataArray([0.9, 1.0], dims="design") * DELTA.values["upper_arm"]
    load = xr.DataArray([[0.0, 0.0, 0.0, 0.0, 0.0, -3.0], [0.0] * 6], dims=("case", "wrench"))
    drive = ls.Forces(load=load)
    motion: Any = ls.simulate(DELTA, ls.State(), drive, TIMES[:4], step=1e-3, parameters={"upper_arm": lengths})
    assert motion["position"].sizes == {"design": 2, "case": 2, "time": 4, "axis": 3}
    for k, length in enumerate(lengths.values):
        robot = ls.Robot.of(DELTA.family, {**DELTA.values, "upper_arm": float(length)})
        expected: Any = direct.simulate(robot, force=np.zeros(3), load=load.values, step=1e-3, steps=3)
        assert np.array_equal(motion["position"].isel(design=k).transpose("time", ...).values, expected.position)


def test_accelerations_have_names() -> None:
    force = xr.DataArray(np.zeros((2, 3)), dims=("case", "actuator"))
    found: Any = ls.forward_dynamics(
        ARM, q=STATES.isel(case=0, drop=True), forces=ls.Forces(friction=FRICTION, actuator=force)
    )
    expected = tasks.forward_dynamics(ARM, q=Q[:, None, 0], forces=Forces(friction=FRICTION, actuator=np.zeros((2, 3))))
    assert {*found["acceleration"].dims} == {"run", "case", "freedom"}
    assert np.array_equal(found["acceleration"].transpose("run", "case", ...).values, expected.acceleration)
    assert (found["stuck"].dtype, found["unique"].dtype, found["status"].dtype) == (bool, bool, np.int8)
    assert found["freedom"].values.tolist() == list(ARM.mechanism.freedoms)


def test_a_servo_takes_a_reference_by_the_names_of_its_dims() -> None:
    way = np.stack([0.1 * TIMES, 0.2 * TIMES, 0.3 * TIMES])
    labelled = xr.DataArray(way, dims=("freedom", "time"), coords={"time": TIMES})
    gains = {"kp": 100.0, "kd": 5.0}
    servo, plain = (ls.servo(ARM, "pd", reference={"q": q}, step=1e-3, **gains) for q in (labelled, way.T))
    assert np.array_equal(servo.reference.motion, plain.reference.motion)
    motion: Any = ls.simulate(ARM, ls.State(q=STATES.isel(case=0, drop=True)), servo, TIMES, step=1e-3)
    expected: Any = direct.simulate(ARM, q=Q[:, 0], force=plain, step=1e-3, steps=5)
    assert np.array_equal(motion["q"].transpose("time", ...).values, expected.q)
    with pytest.raises(ValueError, match=r"reference: q: got instants .* expected multiples of step, 0\.002 s, from 0"):
        ls.servo(ARM, "pd", reference={"q": labelled}, step=2e-3, **gains)
    with pytest.raises(ValueError, match=r"reference: q: got dims .* expected one of instants, and freedom"):
        ls.servo(ARM, "pd", reference={"q": labelled.expand_dims(run=2)}, step=1e-3, **gains)


def test_what_goes_along_with_time_is_a_function() -> None:
    force = xr.DataArray(np.zeros((6, 3)), dims=("time", "actuator"))
    with pytest.raises(ValueError, match="simulate: actuator: got a DataArray with the dim time; expected batch dims"):
        ls.simulate(ARM, ls.State(q=STATES), ls.Forces(actuator=force), TIMES)
    falling = ls.Environment(gravity=xr.DataArray([0.0, 0.0, 1.0]))
    with pytest.raises(ValueError, match="simulate: gravity is a DataArray; expected numbers or an array"):
        ls.simulate(ARM, ls.State(q=STATES), None, TIMES, environment=falling)
