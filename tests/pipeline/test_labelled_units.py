"""Units, records and labels of DataArrays: the same motion in other units gives the same forces."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import xarray as xr

import limbsweep as ls
from robots import catalog

ARM = catalog.build("planar_3r")
DELTA = catalog.build("delta_3rr2rrr")
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
