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
from limbsweep.labelled import functions
from limbsweep.labelled.table import RESULTS
from robots import catalog
from robots.criteria.elasticity import Beam, Elasticity
from robots.criteria.parts import Capsules, Errors
from robots.model import Robot
from robots.parameter_errors import ParameterError
from tasks.dynamics.fastest import fastest_motion
from tasks.dynamics.fed_motors import from_currents
from tasks.features.friction import history
from tasks.sources import profiles
from tests.arguments import in_records

ROBOT = catalog.build("delta_3rr2rrr")
HOME = np.array(ROBOT.mechanism.platform.home.position)
POSITION = HOME + 0.05 * np.random.default_rng(0).normal(size=(4, 5, 3))
VELOCITY = np.concatenate([np.zeros((5, 3)), np.random.default_rng(1).normal(size=(5, 3))], axis=1)
LABELLED = xr.DataArray(
    POSITION, dims=("run", "time", "axis"), coords={"time": np.arange(5.0), "axis": ["x", "y", "z"]}
)
TWIST = xr.DataArray(VELOCITY, dims=("time", "wrench"))


def test_dims_and_coordinates_are_kept_and_batches_meet_by_name() -> None:
    forces = functions.inverse_dynamics(ROBOT, position=LABELLED.transpose("time", "axis", "run"), twist=TWIST).force
    assert {*forces.dims} == {"run", "time", "actuator"}
    np.testing.assert_array_equal(forces["time"], np.arange(5.0))
    assert list(forces["actuator"].values) == list(ROBOT.mechanism.actuators)
    expected = tasks.inverse_dynamics(ROBOT, position=POSITION, twist=VELOCITY).force
    np.testing.assert_array_equal(forces.transpose("run", "time", "actuator"), expected)


CHAINS = ("bias_vector", "inertia_element", "lagrange_coefficients")
"""Functions of chains alone."""

MORE = (
    "cartesian_stiffness",
    "natural_frequencies",
    "pose_error",
    "clearance",
    "fastest_motion",
    "spanning_tree_dynamics",
)
"""Functions that take more than a motion."""


@pytest.mark.parametrize("name", [name for name in RESULTS if name not in {*CHAINS, *MORE}])
def test_every_function_gives_the_numbers_of_tasks_lazily_too(name: str) -> None:
    given: dict[str, Any] = {"position": POSITION}
    if name == "forward_kinematics":
        given = {"actuator_position": tasks.inverse_kinematics(ROBOT, position=POSITION).position[..., 0]}
    elif name == "forward_dynamics":
        given["force"] = tasks.inverse_dynamics(ROBOT, position=POSITION).force
    function = getattr(importlib.import_module(RESULTS[name].home), name)
    expected = function(ROBOT, **in_records(**given))
    labelled = {key: xr.DataArray(value, dims=("run", "time", "vector")) for key, value in given.items()}
    whole = getattr(limbsweep, name)(ROBOT, **in_records(**labelled))
    chunked = {key: value.chunk(run=2, vector=1) for key, value in labelled.items()}
    lazy = getattr(limbsweep, name)(ROBOT, **in_records(**chunked))
    assert lazy.chunks
    assert {*whole.data_vars} == {name for name in RESULTS[name].dims if getattr(expected, name).size}
    for field, part in whole.items():
        np.testing.assert_array_equal(part, getattr(expected, field))
    xr.testing.assert_identical(lazy.compute(scheduler="synchronous"), whole)


@pytest.mark.parametrize("name", sorted(RESULTS))
def test_the_face_has_them_with_their_arguments_and_types(name: str) -> None:
    function, plain = getattr(limbsweep, name), getattr(importlib.import_module(RESULTS[name].home), name)
    parameters = inspect.signature(function).parameters
    assert {*parameters} == {*inspect.signature(plain).parameters, "parameters"}
    assert len(parameters) <= 8 or name in ("fastest_motion", "spanning_tree_dynamics")
    assert function.__doc__.startswith(plain.__doc__.rstrip())
    assert functions.ALSO in function.__doc__
    fields, labels = RESULTS[name].dims, RESULTS[name].labels
    if len(fields) > 1:
        result = typing.get_type_hints(plain)["return"]._fields
        assert list(fields) == [field for field in result if field in fields or field not in labels]


def test_status_and_jacobian_come_with_forces() -> None:
    results = functions.inverse_dynamics(ROBOT, position=LABELLED)
    assert {*results.data_vars} == {"force", "velocity", "jacobian", "status"}
    assert results["jacobian"].dims == ("run", "time", "actuator", "freedom")
    assert results["status"].dtype == np.int8
    assert list(results["freedom"].values) == list(ROBOT.mechanism.platform.mobility)


def test_designs_are_arrays_of_parameters() -> None:
    arms = xr.DataArray([0.24, 0.26, 0.28], dims="design", coords={"design": [7, 8, 9]})
    forces = functions.inverse_dynamics(ROBOT, position=LABELLED, twist=TWIST, parameters={"upper_arm": arms}).force
    assert forces.dims == ("design", "run", "time", "actuator")
    np.testing.assert_array_equal(forces["design"], [7, 8, 9])
    for place, arm in enumerate(arms.values):
        robot = Robot.of(ROBOT.family, {"upper_arm": arm})
        expected = tasks.inverse_dynamics(robot, position=POSITION, twist=VELOCITY).force
        np.testing.assert_array_equal(forces[place], expected)
    both = functions.inverse_dynamics(
        ROBOT,
        position=xr.DataArray(POSITION[:3], dims=("design", "time", "axis")),
        parameters={"upper_arm": arms, "base_radius": 0.15},
    ).force
    assert both.dims == ("design", "time", "actuator")
    alone = tasks.inverse_dynamics(Robot.of(ROBOT.family, {"upper_arm": 0.26}), position=POSITION[1]).force
    np.testing.assert_array_equal(both[1], alone)


def test_a_chain_and_calls_without_labels() -> None:
    tree = catalog.build("five_axis_tree")
    q = np.random.default_rng(2).normal(size=(6, len(tree.mechanism.freedoms)))
    joints = xr.DataArray(q, dims=("sample", "joint"))
    bias = functions.bias_vector(tree, q=joints, qd=joints).force
    np.testing.assert_array_equal(bias, tasks.bias_vector(tree, q=q, qd=q).force)
    assert list(bias["freedom"].values) == list(tree.mechanism.freedoms)
    np.testing.assert_array_equal(
        limbsweep.inertia_element(tree, 0, 2, q=joints).value, limbsweep.inertia_element(tree, 0, 2, q=q).value
    )
    coefficients = functions.lagrange_coefficients(tree, q=joints)
    plain = tasks.lagrange_coefficients(tree, q=q)
    for part, values in zip(coefficients.values(), plain, strict=True):
        np.testing.assert_array_equal(part, values)
    assert isinstance(functions.inverse_dynamics(tree, q=q).force, np.ndarray)


def test_designs_without_labels_are_broadcast_as_arrays_are() -> None:
    arms = np.array([0.24, 0.26, 0.28])
    forces = limbsweep.inverse_dynamics(ROBOT, position=POSITION[0], parameters={"upper_arm": arms[:, None]}).force
    assert forces.shape == (3, 5, 3)
    full = limbsweep.inverse_dynamics(ROBOT, position=HOME, parameters={"upper_arm": arms})
    assert isinstance(full, type(tasks.inverse_dynamics(ROBOT, position=HOME)))
    for place, arm in enumerate(arms):
        robot = Robot.of(ROBOT.family, {"upper_arm": float(arm)})
        np.testing.assert_array_equal(forces[place], tasks.inverse_dynamics(robot, position=POSITION[0]).force)
        np.testing.assert_array_equal(full.force[place], tasks.inverse_dynamics(robot, position=HOME).force)


def test_one_sample_without_labels_serves_beside_data_arrays() -> None:
    arms = xr.DataArray([0.24, 0.26], dims="design")
    forces = limbsweep.inverse_dynamics(ROBOT, position=HOME, parameters={"upper_arm": arms}).force
    assert forces.dims == ("design", "actuator")
    still = limbsweep.inverse_dynamics(ROBOT, position=LABELLED, twist=np.zeros(6)).force
    np.testing.assert_array_equal(still, tasks.inverse_dynamics(ROBOT, position=POSITION, twist=np.zeros(6)).force)
    whole = xr.Dataset({"position": LABELLED, "twist": TWIST})
    expected = limbsweep.inverse_dynamics(ROBOT, position=LABELLED, twist=TWIST).force
    xr.testing.assert_identical(limbsweep.inverse_dynamics(ROBOT, **whole).force, expected)


def test_misuse_is_told() -> None:
    with pytest.raises(ValueError, match="rotation: got dims"):
        functions.inverse_dynamics(ROBOT, rotation=xr.DataArray([1.0], dims="axis"), position=LABELLED[0, 0, 0])
    with pytest.raises(ValueError, match="gravity is a DataArray; expected numbers"):
        functions.inverse_dynamics(ROBOT, position=LABELLED, gravity=xr.DataArray([0.0, 0.0, 1.0], dims="axis"))
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


MECHANISM = ROBOT.mechanism
ELASTICITY = Elasticity.of(MECHANISM, actuators={"all": 2e4}, links={"all": Beam.tube(0.03, 70e9, inner=0.026)})
PLACES: dict[str, tuple[Any, ...]] = {
    "cartesian_stiffness": (ELASTICITY,),
    "natural_frequencies": (ELASTICITY,),
    "pose_error": (Errors.of(MECHANISM, backlash={"all": 1e-4}, lengths={"all": 2e-5}), ELASTICITY),
    "clearance": (Capsules.of(MECHANISM, {"all": 0.01}),),
}


@pytest.mark.parametrize("name", PLACES)
def test_criteria_keep_dims_and_label_what_they_are_about(name: str) -> None:
    row, places = RESULTS[name], PLACES[name]
    plain = getattr(importlib.import_module(row.home), name)(ROBOT, *places, position=POSITION)
    whole = getattr(limbsweep, name)(ROBOT, *places, position=LABELLED)
    lazy = getattr(limbsweep, name)(ROBOT, *places, position=LABELLED.chunk(run=2))
    assert list(whole.data_vars) == list(row.dims)
    for field, dims in row.dims.items():
        expected = getattr(plain, field)
        assert whole[field].dims == ("run", "time", *dims)
        np.testing.assert_array_equal(
            whole[field], np.stack([*expected.values()], -1) if field in row.labels else expected
        )
    xr.testing.assert_identical(lazy.compute(scheduler="synchronous"), whole)
    labels = {field: getattr(plain, field) for field in row.labels}
    if name == "pose_error":
        assert list(whole["part"].values) == list(labels["shares"])
    elif name == "clearance":
        assert list(whole["pair"].values) == [" - ".join(pair) for pair in labels["pairs"]]
    elif labels:
        assert whole.attrs == {"directions": " ".join(labels["directions"])}
    designs = getattr(limbsweep, name)(ROBOT, *places, position=HOME, parameters={"upper_arm": [0.2, 0.24]})
    robot = Robot.of(ROBOT.family, {"upper_arm": 0.24})
    alone = getattr(importlib.import_module(row.home), name)(robot, *places, position=HOME)
    assert isinstance(designs, type(alone))
    for part, value in zip(designs, alone, strict=True):
        if isinstance(value, dict):
            assert [*part] == [*value]
            part, value = ([*mapping.values()] for mapping in (part, value))
            np.testing.assert_array_equal(np.array(part)[:, 1], value)
        elif isinstance(value, tuple):
            assert part == value
        else:
            np.testing.assert_array_equal(part[1], value)


def test_fastest_motions_of_many_paths_and_designs() -> None:
    share = np.linspace(0.0, 1.0, 5)[:, None]
    paths = np.stack([HOME + share * [0.1 * (k + 1), 0.0, 0.05] for k in range(2)])
    labelled = xr.DataArray(paths, dims=("path", "waypoint", "axis"), coords={"path": ["short", "long"]})
    options = {"force": 5.0, "points": 21}
    arms = xr.DataArray([0.24, 0.26], dims="design")
    whole = limbsweep.fastest_motion(ROBOT, position=labelled, parameters={"upper_arm": arms}, **options)
    assert whole["force"].dims == ("design", "path", "point", "actuator")
    assert list(whole["path"].values) == ["short", "long"]
    for design, arm in enumerate(arms.values):
        robot = Robot.of(ROBOT.family, {"upper_arm": float(arm)})
        for path in range(2):
            alone = fastest_motion(robot, position=paths[path], **options)
            assert np.isfinite(alone.duration)
            for field, values in alone._asdict().items():
                np.testing.assert_array_equal(whole[field][design, path], values)
    limits = xr.DataArray([[5.0] * 3, [8.0] * 3], dims=("limit", "actuator"))
    lazy = limbsweep.fastest_motion(ROBOT, position=labelled.chunk(path=1), force=limits, points=21)
    assert lazy["duration"].chunks
    assert lazy["duration"].dims == ("path", "limit")
    assert (lazy["duration"].compute().diff("limit") < 0.0).all()
    plain = limbsweep.fastest_motion(ROBOT, position=paths[0], parameters={"upper_arm": [0.24, 0.26]}, **options)
    np.testing.assert_array_equal(plain.duration, whole["duration"].sel(path="short"))


# signals

LAW = "lugre"
VALUES = {"coulomb": 0.5, "static": 2.5, "stribeck_velocity": 0.05, "sigma0": 400.0, "sigma1": 5.0, "sigma2": 0.1}


def test_currents_keep_dims_and_stay_lazy() -> None:
    robot = catalog.build("irb6")
    count = len(robot.mechanism.actuators)
    values = np.arange(4.0 * count).reshape(4, count)
    current = xr.DataArray(values, dims=("time", "actuator"), coords={"time": np.arange(4.0)})
    forces = limbsweep.from_currents(robot, current.T)
    assert forces.dims == ("actuator", "time")
    np.testing.assert_array_equal(forces.T, from_currents(robot, current.values))
    assert list(forces["actuator"].values) == list(robot.mechanism.actuators)
    lazy = limbsweep.from_currents(robot, current.chunk(time=2))
    assert lazy.chunks
    xr.testing.assert_identical(lazy.compute().T, forces)
    assert limbsweep.from_currents(robot, lambda time: [time] * count)(2.0).shape == (count,)  # type: ignore[operator]
    with pytest.raises(ValueError, match=r"current: got an array of shape \(2,\); expected \(\*batch, \d\)"):
        limbsweep.from_currents(robot, current[:, :2])
    with pytest.raises(ValueError, match="current: got a DataArray without dims; expected the dim actuator"):
        limbsweep.from_currents(robot, xr.DataArray(1.0))
    with pytest.raises(ValueError, match="have no motor"):
        limbsweep.from_currents(ROBOT, current)


def test_profiles_of_data_arrays_have_dims_in_any_order() -> None:
    values = np.random.default_rng(0).normal(size=(4, 2, 3))
    labelled = xr.DataArray(values, dims=("time", "run", "actuator"), coords={"time": [0.0, 0.1, 0.3, 0.4]})
    force = limbsweep.profile(labelled["time"], labelled.transpose("actuator", "time", "run"))
    np.testing.assert_array_equal(force(0.2), profiles.profile(labelled["time"].values, values)(0.2))
    with pytest.raises(ValueError, match=r"values: got dims \('time',\); expected time, batch dims, actuator"):
        limbsweep.profile(labelled["time"], labelled[:, 0, 0])


def test_friction_along_velocities_meets_by_names_of_dims() -> None:
    times = np.linspace(0.0, 1.0, 11)
    rates = np.sin(6.0 * times) * np.array([[0.1], [0.3]])
    velocity = xr.DataArray(rates, dims=("run", "time"), coords={"run": ["slow", "fast"]})
    coulomb = xr.DataArray([0.5, 1.0, 2.0], dims="design")
    results = limbsweep.friction_along(LAW, velocity=velocity, times=times, values=VALUES | {"coulomb": coulomb})
    assert {*results.dims} == {"run", "design", "time"}
    for design, level in enumerate(coulomb.values):
        plain = history.along(LAW, velocity=rates, times=times, values=VALUES | {"coulomb": level})
        for name in ("force", "state"):
            part = results[name].isel(design=design).transpose("run", "time")
            np.testing.assert_array_equal(part, getattr(plain, name))
    np.testing.assert_array_equal(results["time"], times)
    lazy = limbsweep.friction_along(
        LAW, velocity=velocity.chunk(time=4), times=times, values=VALUES | {"coulomb": coulomb}
    )
    assert lazy["force"].chunks
    xr.testing.assert_identical(lazy.compute(), results)
    loads = xr.DataArray(np.linspace(1.0, 2.0, 11), dims="time")
    loaded = limbsweep.friction_along(LAW, velocity=velocity, times=times, values=VALUES, load=loads)
    expected = history.along(LAW, velocity=rates, times=times, values=VALUES, load=loads.values)
    np.testing.assert_array_equal(loaded["force"], expected.force)
    assert isinstance(limbsweep.friction_along(LAW, velocity=rates, times=times, values=VALUES), type(plain))
    with pytest.raises(ValueError, match=r"load: got an array of shape \(11,\); expected a number or a DataArray"):
        limbsweep.friction_along(LAW, velocity=velocity, times=times, values=VALUES, load=np.ones(11))
    with pytest.raises(ValueError, match="load: got a DataArray beside a velocity without dims"):
        limbsweep.friction_along(LAW, velocity=rates, times=times, values=VALUES, load=loads)
    with pytest.raises(ValueError, match=r"velocity: got an array of shape \(11,\); expected \(\*batch, 4\)"):
        limbsweep.friction_along(LAW, velocity=velocity, times=times[:4], values=VALUES)


def test_names_along_a_vector_say_its_order() -> None:
    """An array that says x, y, z in another order was taken by place."""
    turned = LABELLED.isel(axis=[2, 0, 1])
    expected = limbsweep.inverse_dynamics(ROBOT, position=LABELLED).force
    xr.testing.assert_identical(limbsweep.inverse_dynamics(ROBOT, position=turned).force, expected)
    xr.testing.assert_identical(
        limbsweep.inverse_dynamics(ROBOT, position=turned.chunk(run=1)).force.compute(), expected
    )
    forces = limbsweep.forward_dynamics(
        ROBOT, position=LABELLED, forces=limbsweep.Forces(actuator=expected.isel(actuator=[1, 0, 2]))
    ).acceleration
    np.testing.assert_array_equal(
        forces,
        limbsweep.forward_dynamics(ROBOT, position=LABELLED, forces=limbsweep.Forces(actuator=expected)).acceleration,
    )
    named = LABELLED.assign_coords(axis=["a", "b", "c"])
    np.testing.assert_array_equal(limbsweep.inverse_dynamics(ROBOT, position=named).force, expected)
    with pytest.raises(ValueError, match=r"position: got \['x', 'y', 'y'\] along axis; expected x, y, z, in any order"):
        limbsweep.inverse_dynamics(ROBOT, position=LABELLED.assign_coords(axis=["x", "y", "y"]))
    robot = catalog.build("irb6")
    names = list(robot.mechanism.actuators)
    current = xr.DataArray(np.arange(float(len(names))), dims="actuator", coords={"actuator": names})
    xr.testing.assert_identical(limbsweep.from_currents(robot, current[::-1]), limbsweep.from_currents(robot, current))


def test_currents_and_forces_of_another_robot_are_refused_and_functions_may_name_theirs() -> None:
    robot = catalog.build("irb6")
    names = list(robot.mechanism.actuators)
    own = xr.DataArray(np.arange(float(len(names))), dims="actuator", coords={"actuator": names})
    other = own.assign_coords(actuator=[f"axis_{k}" for k in range(len(names))])
    expected = limbsweep.from_currents(robot, own).values
    with pytest.raises(ValueError, match=r"current: got \['axis_0', .*\] along actuator; expected motor_1, motor_2"):
        limbsweep.from_currents(robot, other)
    np.testing.assert_array_equal(limbsweep.from_currents(robot, own.assign_coords(actuator=range(5))), expected)
    of_time, of_state = (limbsweep.from_currents(robot, f) for f in (lambda t: own[::-1], lambda t, q, qd: own[::-1]))
    np.testing.assert_array_equal(of_time(0.0), expected)  # type: ignore[operator]
    np.testing.assert_array_equal(of_state(0.0, expected, expected), expected)  # type: ignore[operator]
    with pytest.raises(ValueError, match=r"current: got \['axis_0'"):
        limbsweep.from_currents(robot, lambda t: other)(0.0)  # type: ignore[operator]
    forces = limbsweep.inverse_dynamics(ROBOT, position=LABELLED).force
    strange = forces.assign_coords(actuator=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"got \['a', 'b', 'c'\] along actuator; expected"):
        limbsweep.forward_dynamics(ROBOT, position=LABELLED, forces=limbsweep.Forces(actuator=strange))


def test_labels_in_capitals_are_no_labels() -> None:
    position = xr.DataArray(HOME, dims="axis", coords={"axis": ["Z", "Y", "X"]})
    with pytest.raises(ValueError, match=r"position: got \['Z', 'Y', 'X'\] along axis; expected x, y, z, in any order"):
        functions.inverse_kinematics(ROBOT, position=position)
