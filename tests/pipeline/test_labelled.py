"""The functions of `tasks` with DataArrays: the same numbers, dims by name, chunked arrays stay lazy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

import tasks
from pipeline.labelled import functions
from robots import catalog
from robots.model import Robot

ROBOT = catalog.build("delta_3rr2rrr")
HOME = np.array(ROBOT.mechanism.platform.home.position)
POSITION = HOME + 0.05 * np.random.default_rng(0).normal(size=(4, 5, 3))
VELOCITY = np.concatenate([np.zeros((5, 3)), np.random.default_rng(1).normal(size=(5, 3))], axis=1)
LABELLED = xr.DataArray(
    POSITION, dims=("run", "time", "axis"), coords={"time": np.arange(5.0), "axis": ["x", "y", "z"]}
)
TWIST = xr.DataArray(VELOCITY, dims=("time", "wrench"))


def test_dims_and_coordinates_are_kept_and_batches_meet_by_name() -> None:
    forces = functions.inverse_dynamics(ROBOT, position=LABELLED.transpose("time", "axis", "run"), twist=TWIST)
    assert {*forces.dims} == {"run", "time", "actuator"}
    np.testing.assert_array_equal(forces["time"], np.arange(5.0))
    assert list(forces["actuator"].values) == list(ROBOT.mechanism.actuators)
    expected = tasks.inverse_dynamics(ROBOT, position=POSITION, twist=VELOCITY)
    np.testing.assert_array_equal(forces.transpose("run", "time", "actuator"), expected)


@pytest.mark.parametrize("name", [name for name in functions.RESULTS if name != "bias_vector"])
def test_every_function_gives_the_numbers_of_tasks_lazily_too(name: str) -> None:
    given: dict[str, Any] = {"position": POSITION}
    if name == "forward_kinematics":
        given = {"actuator_position": tasks.inverse_kinematics(ROBOT, position=POSITION).position[..., 0]}
    elif name == "forward_dynamics":
        given["force"] = tasks.inverse_dynamics(ROBOT, position=POSITION)
    expected = getattr(tasks, name)(ROBOT, **given)
    labelled = {key: xr.DataArray(value, dims=("run", "time", "vector")) for key, value in given.items()}
    whole = getattr(functions, name)(ROBOT, **labelled)
    lazy = getattr(functions, name)(ROBOT, **{key: value.chunk(run=2, vector=1) for key, value in labelled.items()})
    assert lazy.chunks
    for number, part in enumerate(whole.values() if isinstance(whole, xr.Dataset) else [whole]):
        values = expected[number] if isinstance(whole, xr.Dataset) else expected
        np.testing.assert_array_equal(part, values)
    xr.testing.assert_identical(lazy.compute(scheduler="synchronous"), whole)


def test_status_and_jacobian_come_with_full() -> None:
    results = functions.inverse_dynamics(ROBOT, position=LABELLED, full=True)
    assert {*results.data_vars} == {"force", "velocity", "jacobian", "status"}
    assert results["jacobian"].dims == ("run", "time", "actuator", "freedom")
    assert results["status"].dtype == np.int8
    assert list(results["freedom"].values) == list(ROBOT.mechanism.platform.mobility)


def test_designs_are_arrays_of_parameters() -> None:
    arms = xr.DataArray([0.24, 0.26, 0.28], dims="design", coords={"design": [7, 8, 9]})
    forces = functions.inverse_dynamics(ROBOT, position=LABELLED, twist=TWIST, parameters={"upper_arm": arms})
    assert forces.dims == ("design", "run", "time", "actuator")
    np.testing.assert_array_equal(forces["design"], [7, 8, 9])
    for place, arm in enumerate(arms.values):
        robot = Robot.of(ROBOT.family, {"upper_arm": arm})
        expected = tasks.inverse_dynamics(robot, position=POSITION, twist=VELOCITY)
        np.testing.assert_array_equal(forces[place], expected)
    both = functions.inverse_dynamics(
        ROBOT,
        position=xr.DataArray(POSITION[:3], dims=("design", "time", "axis")),
        parameters={"upper_arm": arms, "base_radius": 0.15},
    )
    assert both.dims == ("design", "time", "actuator")
    alone = tasks.inverse_dynamics(Robot.of(ROBOT.family, {"upper_arm": 0.26}), position=POSITION[1])
    np.testing.assert_array_equal(both[1], alone)


def test_a_chain_and_calls_without_labels() -> None:
    tree = catalog.build("five_axis_tree")
    q = np.random.default_rng(2).normal(size=(6, len(tree.mechanism.freedoms)))
    joints = xr.DataArray(q, dims=("sample", "joint"))
    bias = functions.bias_vector(tree, q=joints, qd=joints)
    np.testing.assert_array_equal(bias, tasks.bias_vector(tree, q=q, qd=q))
    assert list(bias["freedom"].values) == list(tree.mechanism.freedoms)
    plain = functions.inverse_dynamics(tree, q=q)
    assert isinstance(plain, np.ndarray)


def test_misuse_is_told() -> None:
    with pytest.raises(ValueError, match="rotation: got dims"):
        functions.inverse_dynamics(ROBOT, rotation=xr.DataArray([1.0], dims="axis"), position=LABELLED[0, 0, 0])
    with pytest.raises(ValueError, match="gravity is a DataArray; expected numbers"):
        functions.inverse_dynamics(ROBOT, position=LABELLED, gravity=xr.DataArray([0.0, 0.0, 1.0], dims="axis"))
    with pytest.raises(ValueError, match="profile: takes no DataArrays; expected one of inverse_dynamics"):
        functions.call("profile", ROBOT)
    with pytest.raises(ValueError, match="full=True with DataArrays"):
        functions.inertia_matrix(ROBOT, position=LABELLED, full=True)
    assert dir(functions) == sorted([*functions.RESULTS, "call"])
