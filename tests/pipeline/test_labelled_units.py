"""Units, records and labels of DataArrays: the same motion in other units gives the same forces."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import xarray as xr

import limbsweep as ls
from robots import catalog

ARM = catalog.build("planar_3r")
DELTA = catalog.build("delta_3rr2rrr")
UNTYPED: Any = ls
"""The functions for arguments that their types do not have."""
Q, QD = np.random.default_rng(2).uniform(-1.0, 1.0, (2, 4, 3))


def array(values: np.ndarray, units: str | None = None) -> xr.DataArray:
    return xr.DataArray(values, dims=("time", "freedom"), attrs={} if units is None else {"units": units})


@pytest.mark.parametrize(
    ("units", "factor"),
    [("deg", 180 / np.pi), ("degrees", 180 / np.pi), ("mrad", 1e3), ("rad or m", 1.0), ("rad, rad, rad", 1.0)],
)
@pytest.mark.parametrize("chunked", [False, True])
def test_angles_come_in_any_unit(units: str, factor: float, chunked: bool) -> None:
    expected = ls.inverse_dynamics(ARM, q=Q, qd=QD).force
    q = array(Q * factor, units)
    found = ls.inverse_dynamics(ARM, q=q.chunk(time=2) if chunked else q, qd=array(QD, "rad s-1")).force
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    if factor == 1.0:
        np.testing.assert_array_equal(found, expected)


def test_rates_and_lengths_come_in_any_unit() -> None:
    expected = ls.inverse_dynamics(ARM, q=Q, qd=QD).force
    for units, factor in {"rpm": 30 / np.pi, "deg/s": 180 / np.pi, "degrees s-1": 180 / np.pi}.items():
        found = ls.inverse_dynamics(ARM, ls.Motion(q=array(Q), qd=array(QD * factor, units))).force
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    place = np.array([[0.0, 0.1, -0.9], [0.1, 0.0, -0.85]])
    where = xr.DataArray(1e3 * place, dims=("time", "axis"), attrs={"units": "mm"})
    found = ls.inverse_dynamics(DELTA, position=where).force
    np.testing.assert_allclose(found, ls.inverse_dynamics(DELTA, position=place).force, rtol=1e-12)
    load = xr.DataArray([0.0, 0.0, 0.0, 0.0, 0.0, -10.0], dims="wrench", attrs={"units": "N m, N"})
    pushed = ls.inverse_dynamics(DELTA, position=where, forces=ls.Forces(load=load)).force
    plain = ls.inverse_dynamics(DELTA, position=place, forces=ls.Forces(load=load.values)).force
    np.testing.assert_allclose(pushed, plain, rtol=1e-12)


@pytest.mark.parametrize(
    ("units", "text"),
    [
        ("mm", "q: got units 'mm'; expected units of rad"),
        ("degre", "q: got units 'degre'; did you mean 'degree'?"),
        ("rad, rad", "q: got 2 units, 'rad, rad'; expected one, or 3"),
        ("rad/s", "q: got units 'rad/s'; expected units of rad"),
        ("kg", "q: got units 'kg'"),
    ],
)
def test_units_that_cannot_be_meant_are_refused(units: str, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        ls.inverse_dynamics(ARM, q=array(Q, units))


def test_records_take_data_arrays_of_a_base_and_of_forces() -> None:
    twist = np.random.default_rng(1).normal(size=(4, 6))
    base = ls.Environment(base=ls.Motion(twist=xr.DataArray(twist, dims=("time", "wrench"))))
    force = ls.inverse_dynamics(ARM, ls.Motion(q=array(Q), qd=array(QD)), environment=base)
    assert isinstance(force, xr.Dataset)
    expected = ls.inverse_dynamics(ARM, ls.Motion(q=Q, qd=QD), environment=ls.Environment(base=ls.Motion(twist=twist)))
    np.testing.assert_array_equal(force.force, expected.force)
    back = ls.forward_dynamics(ARM, ls.State(q=array(Q), qd=array(QD)), ls.Forces(actuator=force.force), base)
    np.testing.assert_allclose(back.acceleration, 0.0, atol=1e-10)
    with pytest.raises(ValueError, match="q: got it beside a motion"):
        ls.inverse_dynamics(ARM, ls.Motion(q=array(Q)), q=Q)


def test_results_become_datasets_with_units_and_labels() -> None:
    made = ls.inverse_dynamics(ARM, q=Q, qd=QD).to_dataset()
    assert made["force"].dims == ("batch_0", "actuator")
    copied = pickle.loads(pickle.dumps(ls.inverse_dynamics(ARM, q=Q, qd=QD)))
    xr.testing.assert_identical(copied.to_dataset(), made)
    assert made["force"].attrs["units"] == "N m"
    assert made["velocity"].attrs["units"] == "rad/s"
    assert list(made["actuator"].values) == list(ARM.mechanism.actuators)
    assert made["status"].attrs["flag_meanings"].split()[0] == "OK"
    np.testing.assert_array_equal(made["force"], ls.inverse_dynamics(ARM, q=Q, qd=QD).force)
    place = np.array([[0.0, 0.1, -0.9], [0.1, 0.0, -0.85]])
    wrench = ls.joint_reactions(DELTA, position=place).to_dataset()["wrench"]
    assert wrench.dims == ("batch_0", "limb", "joint", "component")
    assert wrench.attrs["units"] == "N m, N m, N m, N, N, N"
    again = ls.inverse_dynamics(ARM, q=array(Q), qd=array(QD))
    assert again["force"].attrs["units"] == "N m"
    back = ls.forward_dynamics(ARM, q=array(Q), qd=array(QD), forces=ls.Forces(actuator=again["force"]))
    np.testing.assert_allclose(back["acceleration"], 0.0, atol=1e-10)
    one = ls.regressor(ARM, q=Q, qd=QD).to_dataset()
    assert list(one["parameter"].values) == list(ls.standard_parameters(ARM))
    moved = ls.forward_kinematics(DELTA, actuator_position=ls.actuator_positions(DELTA, position=place).position)
    assert moved.to_dataset()["position"].attrs["units"] == "m"
    assert ls.inertia_matrix(ARM, q=Q).to_dataset()["matrix"].dims == ("batch_0", "freedom", "freedom_column")


def test_designs_come_in_any_unit() -> None:
    place = [0.0, 0.1, -0.9]
    expected = ls.inverse_dynamics(DELTA, position=place, parameters={"payload_mass": 0.25, "upper_arm": 0.3}).force
    designs = {
        "payload_mass": xr.DataArray([250.0], dims="design", attrs={"units": "g"}),
        "upper_arm": xr.DataArray(0.3, attrs={"units": "metres"}),
    }
    found = ls.inverse_dynamics(DELTA, position=place, parameters=designs)["force"]
    np.testing.assert_allclose(found[0], expected, rtol=1e-12)
    whole = UNTYPED.inverse_dynamics(DELTA, position=place, parameters=xr.Dataset(designs).chunk(design=1))["force"]
    np.testing.assert_array_equal(whole, found)
    still = ls.State(position=place)
    held = ls.simulate(DELTA, still, None, [0.0, 0.002], step=1e-3, parameters=designs)["position"]
    plain = ls.simulate(
        DELTA, still, None, [0.0, 0.002], step=1e-3, parameters={"payload_mass": 0.25, "upper_arm": 0.3}
    )
    np.testing.assert_allclose(held[0], np.squeeze(plain["position"]), rtol=1e-12)
    for units, text in {
        "mm": r"parameters: payload_mass: got units 'mm'; expected a unit of \[kg\]",
        "stone": "stone",
    }.items():
        wrong = xr.DataArray([250.0], dims="design", attrs={"units": units})
        with pytest.raises(ValueError, match=text):
            ls.inverse_dynamics(DELTA, position=place, parameters={"payload_mass": wrong})


def test_limits_of_a_fastest_motion_come_in_any_unit() -> None:
    path = xr.DataArray(np.linspace([0.0] * 3, [0.5] * 3, 11), dims=("waypoint", "freedom"))
    limits = {"velocity": 1.0, "acceleration": 9.0, "jerk": 900.0, "power": 90.0, "force": 90.0}
    expected = ls.fastest_motion(ARM, q=path, **limits)["duration"]
    turn = 180.0 / np.pi
    scales = [("deg/s", turn), ("deg/s^2", turn), ("mrad s-3", 1e3), ("kW", 1e-3), ("N mm", 1e3)]
    in_units = {
        name: xr.DataArray([value * factor] * 3, dims="actuator", attrs={"units": units})
        for (name, value), (units, factor) in zip(limits.items(), scales, strict=True)
    }
    np.testing.assert_allclose(ls.fastest_motion(ARM, q=path, **in_units)["duration"], expected, rtol=1e-9)


def test_references_currents_and_profiles_come_in_any_unit() -> None:
    times = np.linspace(0.0, 0.02, 21)
    wanted = 0.1 * np.sin(40.0 * times)[:, None] * np.array([1.0, 2.0, 3.0])

    def end(reference: object) -> np.ndarray:
        servo = ls.servo(ARM, "pd", reference={"q": reference}, step=1e-3, kp=400.0, kd=20.0)  # type: ignore[dict-item]
        return np.asarray(ls.simulate(ARM, ls.State(q=np.zeros(3)), servo, times, step=1e-3).q[-1])

    names = list(ARM.mechanism.freedoms)
    turned = xr.DataArray(
        np.degrees(wanted)[:, ::-1],
        dims=("time", "freedom"),
        coords={"time": ("time", 1e3 * times, {"units": "ms"}), "freedom": names[::-1]},
        attrs={"units": "deg"},
    )
    np.testing.assert_allclose(end(turned), end(wanted), rtol=1e-9)

    machine = catalog.build("irb6")
    currents = xr.DataArray([[1500.0] * len(machine.mechanism.actuators)], dims=("time", "actuator"))
    np.testing.assert_allclose(
        ls.from_currents(machine, currents.assign_attrs(units="mA")),
        ls.from_currents(machine, currents / 1e3),
        rtol=1e-12,
    )
    moments = xr.DataArray(np.ones((2, 3)), dims=("time", "actuator"))
    ramp = ls.profile(
        xr.DataArray([0.0, 100.0], attrs={"units": "ms"}, dims="time"), moments.assign_attrs(units="N mm")
    )
    np.testing.assert_allclose(ramp(0.05), 1e-3)
    assert ls.profile([0.0, 0.1], moments.assign_attrs(units="N m, N, N m"))(0.05).tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="values: got units 'N mm, N'; expected one, or those of SI"):
        ls.profile([0.0, 0.1], moments.assign_attrs(units="N mm, N"))
    law = {"coulomb": 1.0, "static": 1.5, "stribeck_velocity": 0.01, "sigma0": 1e5}
    rates = xr.DataArray(0.1 * np.sin(60.0 * times), dims="time")
    rubbed = UNTYPED.friction_along("lugre", velocity=rates, times=times, values=law)["force"]
    again = UNTYPED.friction_along(
        "lugre",
        velocity=(rates * 180.0 / np.pi).assign_attrs(units="deg/s"),
        times=xr.DataArray(1e3 * times, dims="time", attrs={"units": "ms"}),
        values={**law, "coulomb": xr.DataArray(1e3, attrs={"units": "N mm"})},
    )["force"]
    np.testing.assert_allclose(again, rubbed, rtol=1e-9)


@pytest.mark.parametrize(
    ("name", "place", "unit"), [("delta_3rr2rrr", [0.0, 0.1, -0.9], "deg"), ("linear_delta", [0.0] * 3, "rad or m")]
)
def test_positions_of_joints_come_in_any_unit(name: str, place: list[float], unit: str) -> None:
    robot = catalog.build(name)
    joints = UNTYPED.inverse_kinematics(robot, position=place).to_dataset()["position"]

    def forces(values: xr.DataArray) -> Any:
        at = ls.JointMotion(position=values, velocity=0.0 * joints.values, acceleration=0.0 * joints.values)
        return UNTYPED.spanning_tree_dynamics(robot, at, position=place)["force"]

    expected = forces(joints.drop_attrs())
    scaled = (np.degrees(joints) if unit == "deg" else joints).assign_attrs(units=unit)
    np.testing.assert_allclose(forces(scaled), expected, rtol=1e-12)
    for wrong in ("deg or mm", "deg", "kg") if name == "linear_delta" else ("mm", "kg"):
        with pytest.raises(ValueError, match=f"joint_position: got units '{wrong}'; (expected units of|did|known)"):
            forces(joints.assign_attrs(units=wrong))


@pytest.mark.parametrize("dims", [("foo", "sample"), ("sample",)])
def test_a_vector_without_its_dim_is_refused(dims: tuple[str, ...]) -> None:
    place = xr.DataArray(np.zeros((3, 6)[2 - len(dims) :]), dims=dims)
    text = r"position: got a DataArray with dims .*sample 6; expected 3 numbers \(x, y, z\) along a dim named axis, or"
    with pytest.raises(ValueError, match=text):
        ls.inverse_dynamics(DELTA, position=place)
