"""Values of pandas, and DataArrays where functions take them for arrays, are taken by the names of their entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import limbsweep as ls
from applications.studies.boxes import values_at
from robots import catalog
from robots.labels import in_order_of
from tasks.dynamics.inputs import entries_of

ARM = catalog.build("irb6")
DELTA = catalog.build("delta_3rr2rrr")
MOTORS, JOINTS = ARM.mechanism.actuators, ARM.mechanism.freedoms
HOME = pd.Series([0.0, 0.1, -0.9], index=["x", "y", "z"])
STATE = pd.DataFrame(np.linspace(0.1, 0.9, 10).reshape(2, 5), columns=JOINTS)
FORCE = pd.Series([5.0, 4.0, 3.0, 2.0, 1.0], index=MOTORS)


def swapped(value: pd.Series | pd.DataFrame) -> pd.Series | pd.DataFrame:
    """The same values with their entries in another order."""
    return value[[*reversed(value.keys())]]


def renamed(value: pd.Series | pd.DataFrame) -> pd.Series | pd.DataFrame:
    """The same values with names of another robot."""
    return value.set_axis([f"axis_{name}" for name in [*value.keys()]], axis=value.ndim - 1)


Call = Callable[[Any], Any]
DOORS: dict[str, tuple[Call, pd.Series | pd.DataFrame]] = {
    "position": (lambda p: ls.inverse_dynamics(DELTA, position=p).force, HOME),
    "designs": (lambda p: ls.inverse_dynamics(DELTA, position=p, parameters={"upper_arm": [0.2, 0.3]}).force, HOME),
    "q": (lambda q: ls.inverse_dynamics(ARM, q=q).force, STATE),
    "state": (lambda q: ls.forward_dynamics(ARM, ls.State(q=q), ls.Forces(actuator=FORCE)).acceleration, STATE),
    "force": (lambda u: ls.forward_dynamics(ARM, ls.State(q=STATE), ls.Forces(actuator=u)).acceleration, FORCE),
    "simulated force": (lambda u: ls.simulate(ARM, ls.State(q=STATE), ls.Forces(actuator=u), [0.0, 1e-3]).q, FORCE),
    "force over time": (
        lambda u: ls.simulate(ARM, ls.State(q=STATE), ls.Forces(actuator=lambda t: u), [0.0, 1e-3]).q,
        FORCE,
    ),
    "force of states": (
        lambda u: ls.simulate(ARM, ls.State(q=STATE), ls.Forces(actuator=lambda t, q, qd: u), [0.0, 1e-3]).q,
        FORCE,
    ),
    "simulated state": (lambda q: ls.simulate(ARM, ls.State(q=q), None, [0.0, 1e-3]).q, STATE),
    "profile": (
        lambda u: (
            ls.simulate(
                ARM, ls.State(q=STATE), ls.Forces(actuator=ls.profile([0.0, 1.0], pd.DataFrame([u, u]))), [0.0, 1e-3]
            ).q
        ),
        FORCE,
    ),
    "currents": (lambda i: ls.from_currents(ARM, i), FORCE),
    "demand": (lambda u: ls.motor_demand(ARM, force=u, velocity=np.ones(5)).voltage, FORCE),
    "supply": (
        lambda most: ls.on_supply(ARM, np.full(5, 9.0), max_force=most)(0.0, np.zeros(5), np.zeros(5)),  # type: ignore[operator]
        FORCE,
    ),
    "servo": (
        lambda q: ls.servo(ARM, "pd", reference={"q": q}, step=1e-3, space="joint").reference.at(0.0),
        STATE,
    ),
    "limits": (
        lambda most: ls.fastest_motion(ARM, q=STATE.to_numpy(), force=1e3 * most, velocity=most).duration,
        FORCE,
    ),
    "waypoints": (lambda q: ls.fastest_motion(ARM, q=q, force=1e3, velocity=np.arange(1.0, 6.0)).duration, STATE),
    "actuator positions": (
        lambda p: ls.forward_kinematics(DELTA, actuator_position=p).position,
        pd.Series([0.1, 0.15, 0.2], index=DELTA.mechanism.actuators),
    ),
    "derivatives": (lambda q: ls.differentiate(ls.inverse_dynamics, ARM, q=q).jvp({"q": np.ones(5)})["force"], STATE),
    "differences": (lambda q: ls.differentiate(ls.regressor, ARM, q=q).results["matrix"], STATE),
    "derivatives by force": (
        lambda u: ls.differentiate(
            ls.forward_dynamics, ARM, ls.State(q=STATE.to_numpy()), ls.Forces(actuator=u)
        ).results["acceleration"],
        FORCE,
    ),
    "differentiated simulation": (
        lambda q: ls.differentiate_simulation(ARM, ls.State(q=q), None, [0.0, 1e-3]).results["q"],
        STATE,
    ),
    "linearisation": (lambda q: ls.linearisation(ARM, ls.State(q=q), ls.Forces(actuator=FORCE)).state, STATE),
}


@pytest.mark.parametrize("door", DOORS)
def test_entries_of_pandas_are_taken_by_name_and_those_of_another_robot_refused(door: str) -> None:
    call, value = DOORS[door]
    expected = np.asarray(call(value.to_numpy()))
    assert np.isfinite(expected).all()
    np.testing.assert_array_equal(call(value), expected)
    np.testing.assert_array_equal(call(swapped(value)), expected)
    with pytest.raises(
        ValueError, match=r": got \['axis_.*\] along (its index|its columns|actuator); expected .*, in an"
    ):
        call(renamed(value))


def test_numbers_as_names_count_entries_in_ascending_order_alone() -> None:
    counted = FORCE.set_axis(range(5))
    np.testing.assert_array_equal(ls.from_currents(ARM, counted), ls.from_currents(ARM, FORCE.to_numpy()))
    with pytest.raises(ValueError, match=r"current: got \[4, 3, 2, 1, 0\] along its index; expected motor_1, "):
        ls.from_currents(ARM, counted[::-1])


def test_arrays_without_names_of_their_entries_refuse_names() -> None:
    at = ls.differentiate(ls.inverse_dynamics, ARM, q=STATE)
    with pytest.raises(ValueError, match=r"got \['motor_1', .*\] along its index; expected numbers without names"):
        at.vjp({"force": FORCE})


def test_rows_of_another_index_are_not_the_same_cases() -> None:
    frame = pd.DataFrame({"upper_arm": [0.2, 0.25, 0.3], "base_radius": [0.12, 0.15, 0.18]})
    expected = ls.inverse_dynamics(DELTA, position=HOME, parameters=frame).force
    columns = {name: frame[name] for name in frame}
    np.testing.assert_array_equal(ls.inverse_dynamics(DELTA, position=HOME, parameters=columns).force, expected)
    columns["upper_arm"] = frame["upper_arm"][::-1]
    with pytest.raises(
        ValueError, match="upper_arm, base_radius: got several indexes; expected rows in the same order"
    ):
        ls.inverse_dynamics(DELTA, position=HOME, parameters=columns)
    with pytest.raises(ValueError, match="q, qd: got several indexes; expected rows in the same order"):
        ls.inverse_dynamics(ARM, q=STATE, qd=STATE[::-1])
    with pytest.raises(ls.InputError, match=r"design: got columns with several indexes \(.upper_arm., .base_radius.\)"):
        ls.sweep(robot=DELTA, design=columns, trajectories={"kind": "circle"}, time=(0.5, 0.001))


def test_samples_of_a_study_are_rows_of_one_table() -> None:
    frame = pd.DataFrame(np.random.default_rng(1).uniform(size=(500, 2)), columns=["a", "b"])
    values = frame["a"] + 0.1 * frame["b"]
    expected = ls.study.from_samples({"a": frame["a"].to_numpy(), "b": frame["b"].to_numpy()}, values.to_numpy())
    columns = {"a": frame["a"], "b": frame["b"]}
    np.testing.assert_array_equal(ls.study.from_samples(columns, values).first, expected.first)
    with pytest.raises(ls.InputError, match="a, values: got several indexes; expected rows in the same order"):
        ls.study.from_samples(columns, values.sort_values())
    with pytest.raises(ls.InputError, match="function: got an object of type Series of it; expected a number for each"):
        values_at(lambda designs: pd.Series(designs[:, 0]).sort_values(), frame.to_numpy())


def test_a_metric_by_actuator_may_name_its_actuators() -> None:
    def peak(actuator_force: np.ndarray) -> pd.Series:
        return pd.Series(np.abs(actuator_force).max(axis=0), index=DELTA.mechanism.actuators)

    def turned(actuator_force: np.ndarray) -> pd.Series:
        return peak(actuator_force)[::-1]

    circle = {"kind": "circle", "radius": 0.1, "period": 0.5}
    sweep = ls.sweep(robot=DELTA, trajectories=circle, time=(0.5, 0.05), outputs=["actuator_force"])
    own = {f.__name__: ls.UserMetric(f, units="N m", per_actuator=True) for f in (peak, turned)}
    results = ls.run(sweep, metrics=own)
    xr.testing.assert_equal(results["peak"], results["turned"])


def test_joints_of_the_tree_may_be_data_arrays() -> None:
    position = xr.DataArray([[0.0, 0.1, -0.9], [0.05, 0.0, -0.85]], dims=("run", "axis"))
    known = ls.inverse_kinematics(DELTA, position=position)
    parts = {name: known[name] for name in ("position", "velocity", "acceleration")}
    expected = ls.spanning_tree_dynamics(DELTA, ls.JointMotion(**{k: v.values for k, v in parts.items()}),
                                         position=position.values)  # fmt: skip
    turned = {name: value.isel(limb=[2, 0, 1]).transpose("joint", "run", "limb") for name, value in parts.items()}
    for given in (parts, turned):
        result = ls.spanning_tree_dynamics(DELTA, ls.JointMotion(**given), position=position)
        np.testing.assert_array_equal(result["force"], expected.force)
        np.testing.assert_array_equal(result["tree_force"], expected.tree_force)
    assert list(result["actuator"].values) == list(DELTA.mechanism.actuators)
    strange = {name: value.assign_coords(limb=["a", "b", "c"]) for name, value in parts.items()}
    with pytest.raises(ValueError, match=r"joint_position: got \['a', 'b', 'c'\] along limb; expected limb1, "):
        ls.spanning_tree_dynamics(DELTA, ls.JointMotion(**strange), position=position)


def test_derivatives_of_given_joints_are_refused_with_the_reason() -> None:
    with pytest.raises(ValueError, match="spanning_tree_dynamics, which is not differentiated: no parameter or joint"):
        ls.differentiate(ls.spanning_tree_dynamics, DELTA, position=[0.0, 0.1, -0.9])


def test_names_are_those_of_the_robot() -> None:
    assert entries_of(ARM)["q"] == JOINTS
    assert entries_of(ARM)["actuator"] == MOTORS
    np.testing.assert_array_equal(in_order_of(MOTORS, "x", xr.DataArray(FORCE[::-1])), FORCE)
