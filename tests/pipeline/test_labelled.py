"""The functions of `tasks` with DataArrays: the same numbers, dims by name, chunked arrays stay lazy."""

from __future__ import annotations

import importlib
import inspect
import typing
from typing import Any

import numpy as np
import pytest
import xarray as xr

import limbsweep
import tasks
from pipeline.labelled import functions
from pipeline.labelled.table import RESULTS
from robots import catalog
from robots.model import Robot
from robots.parameters import ParameterError

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


CHAINS = ("bias_vector", "inertia_element", "lagrange_coefficients")
"""Functions of chains alone."""


@pytest.mark.parametrize("name", [name for name in RESULTS if name not in CHAINS])
def test_every_function_gives_the_numbers_of_tasks_lazily_too(name: str) -> None:
    given: dict[str, Any] = {"position": POSITION}
    if name == "forward_kinematics":
        given = {"actuator_position": tasks.inverse_kinematics(ROBOT, position=POSITION).position[..., 0]}
    elif name in ("forward_dynamics", "accelerate"):
        given["force"] = tasks.inverse_dynamics(ROBOT, position=POSITION)
    function = getattr(importlib.import_module(RESULTS[name].home), name)
    expected = function(ROBOT, **given)
    labelled = {key: xr.DataArray(value, dims=("run", "time", "vector")) for key, value in given.items()}
    whole = getattr(limbsweep, name)(ROBOT, **labelled)
    lazy = getattr(limbsweep, name)(ROBOT, **{key: value.chunk(run=2, vector=1) for key, value in labelled.items()})
    assert lazy.chunks
    for number, part in enumerate(whole.values() if isinstance(whole, xr.Dataset) else [whole]):
        values = expected[number] if isinstance(whole, xr.Dataset) else expected
        np.testing.assert_array_equal(part, values)
    xr.testing.assert_identical(lazy.compute(scheduler="synchronous"), whole)


@pytest.mark.parametrize("name", sorted(RESULTS))
def test_the_face_has_them_with_their_arguments_and_types(name: str) -> None:
    function, plain = getattr(limbsweep, name), getattr(importlib.import_module(RESULTS[name].home), name)
    parameters = inspect.signature(function).parameters
    assert [*parameters] == [*inspect.signature(plain).parameters, "parameters"]
    assert function.__doc__.startswith(plain.__doc__.rstrip())
    assert functions.ALSO in function.__doc__
    fields = RESULTS[name].dims
    if len(fields) > 1:
        assert list(fields) == list(typing.get_type_hints(plain)["return"]._fields)


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
    np.testing.assert_array_equal(
        limbsweep.inertia_element(tree, 0, 2, q=joints), limbsweep.inertia_element(tree, 0, 2, q=q)
    )
    coefficients = functions.lagrange_coefficients(tree, q=joints)
    plain = tasks.lagrange_coefficients(tree, q=q)
    for part, values in zip(coefficients.values(), plain, strict=True):
        np.testing.assert_array_equal(part, values)
    assert isinstance(functions.inverse_dynamics(tree, q=q), np.ndarray)


def test_designs_without_labels_are_broadcast_as_arrays_are() -> None:
    arms = np.array([0.24, 0.26, 0.28])
    forces = limbsweep.inverse_dynamics(ROBOT, position=POSITION[0], parameters={"upper_arm": arms[:, None]})
    assert forces.shape == (3, 5, 3)
    full = limbsweep.inverse_dynamics(ROBOT, position=HOME, parameters={"upper_arm": arms}, full=True)
    assert type(full) is tasks.inverse_dynamics(ROBOT, position=HOME, full=True).__class__
    for place, arm in enumerate(arms):
        robot = Robot.of(ROBOT.family, {"upper_arm": float(arm)})
        np.testing.assert_array_equal(forces[place], tasks.inverse_dynamics(robot, position=POSITION[0]))
        np.testing.assert_array_equal(full.force[place], tasks.inverse_dynamics(robot, position=HOME))


def test_one_sample_without_labels_serves_beside_data_arrays() -> None:
    arms = xr.DataArray([0.24, 0.26], dims="design")
    forces = limbsweep.inverse_dynamics(ROBOT, position=HOME, parameters={"upper_arm": arms})
    assert forces.dims == ("design", "actuator")
    still = limbsweep.inverse_dynamics(ROBOT, position=LABELLED, twist=np.zeros(6))
    np.testing.assert_array_equal(still, tasks.inverse_dynamics(ROBOT, position=POSITION, twist=np.zeros(6)))
    whole = xr.Dataset({"position": LABELLED, "twist": TWIST})
    expected = limbsweep.inverse_dynamics(ROBOT, position=LABELLED, twist=TWIST)
    xr.testing.assert_identical(limbsweep.inverse_dynamics(ROBOT, **whole), expected)


def test_misuse_is_told() -> None:
    with pytest.raises(ValueError, match="rotation: got dims"):
        functions.inverse_dynamics(ROBOT, rotation=xr.DataArray([1.0], dims="axis"), position=LABELLED[0, 0, 0])
    with pytest.raises(ValueError, match="gravity is a DataArray; expected numbers"):
        functions.inverse_dynamics(ROBOT, position=LABELLED, gravity=xr.DataArray([0.0, 0.0, 1.0], dims="axis"))
    with pytest.raises(ValueError, match="full=True with DataArrays"):
        functions.regressor(ROBOT, position=LABELLED, full=True)
    with pytest.raises(ValueError, match="full=True with parameters"):
        functions.regressor(ROBOT, position=POSITION, full=True, parameters={"upper_arm": [0.2]})
    with pytest.raises(ValueError, match=r"twist: got an array of shape \(5, 6\) beside .*; expected one sample"):
        functions.inverse_dynamics(ROBOT, position=LABELLED, twist=VELOCITY)
    with pytest.raises(ValueError, match=r"upper_arm: got an array of shape \(2,\) beside .*; expected a number"):
        functions.inverse_dynamics(ROBOT, position=LABELLED, parameters={"upper_arm": [0.2, 0.3]})
    with pytest.raises(ValueError, match="parameters: got no design; expected at least one"):
        functions.inverse_dynamics(ROBOT, position=HOME, parameters={"upper_arm": []})
    with pytest.raises(ValueError, match=r"got arrays of shapes \[\(2,\)\] beside batches of shapes \[\(4, 5\)\]"):
        functions.inverse_dynamics(ROBOT, position=POSITION, parameters={"upper_arm": [0.2, 0.3]})
    with pytest.raises(ParameterError, match="did you mean 'upper_arm'"):
        functions.inverse_dynamics(ROBOT, position=LABELLED, parameters={"uper_arm": 0.2})
    with pytest.raises(AttributeError, match="no attribute 'profile'"):
        functions.profile  # noqa: B018
    assert dir(functions) == sorted(RESULTS)
