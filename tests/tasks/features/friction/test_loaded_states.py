"""Laws with a state under loads that they cause, along motions: beside laws without a state, and step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

import limbsweep as ls
from pipeline import Sweep, run
from robots.status import Status
from tests.pipeline.runs import SYNCHRONOUS, content_hash, cut_finely

BRISTLES = {"sigma0": 1e4, "sigma1": 1.0, "coulomb": 0.1, "static": 0.15, "stribeck_velocity": 0.1}
CURVE = {"coulomb": 0.1, "static": 0.15, "stribeck_velocity": 0.3, "viscous": 0.1}


def sweep(law: str, values: dict[str, float], **more: Any) -> Sweep:
    friction = {"law": law, "joints": "all", "load": "reaction", "parameters": {**values, "pin_radius": 0.03}}
    content = {
        "limbsweep": 1,
        "robot": "five_bar",
        "design": {"grid": {"payload_mass": {"values": [0.0, 2.0]}}},
        "friction": friction,
        "trajectories": {"swing": {"kind": "line_sine", "amplitude": [0.05, 0, 0.03], "period": 0.5}},
        "time": {"stop": 0.5, "step": 0.02},
        "outputs": ["joint_friction", "joint_velocity", "normal_load_part", "actuator_force"],
    }
    return Sweep.from_dict(content | more)


def computed(law: str, values: dict[str, float], **more: Any) -> xr.Dataset:
    return run(sweep(law, values, **more), cluster=SYNCHRONOUS).squeeze()


def test_stiction_without_hysteresis_is_a_curve() -> None:
    """With kinetic friction like static the state does not matter; laws without one settle within their program."""
    remembers = {**CURVE, "kinetic": CURVE["static"], "stick_velocity": 1e-9}
    states, curve = computed("stiction", remembers), computed("stribeck", CURVE)
    assert not states["status"].values.any()
    for name in ("joint_friction", "actuator_force"):
        size = np.nanmax(np.abs(curve[name].values))
        np.testing.assert_allclose(states[name], curve[name], rtol=0.0, atol=1e-12 * size)


def test_bristles_bend_under_the_loads_that_they_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    results = run(sweep("lugre", BRISTLES), cluster=SYNCHRONOUS)
    whole = results.squeeze()
    assert not whole["status"].values.any()
    loads = whole["normal_load_part"].sum("load_part")
    assert np.ptp(loads.values) > 0.01
    alone = ls.friction_along(
        "lugre", velocity=whole["joint_velocity"].transpose(..., "time").values, times=whole["time"].values,
        load=loads.transpose(..., "time").values, values=BRISTLES,
    )  # fmt: skip
    found = whole["joint_friction"].transpose(..., "time").values
    np.testing.assert_allclose(alone.force, found, rtol=0.0, atol=1e-12 * np.abs(found).max())
    single = computed("lugre", BRISTLES, precision="single")["joint_friction"]
    assert np.abs(single - whole["joint_friction"]).max() < 1e-4 * np.abs(found).max()
    cut_finely(monkeypatch, small=26)
    assert content_hash(run(sweep("lugre", BRISTLES), cluster=SYNCHRONOUS)) == content_hash(results)


@pytest.mark.parametrize("load", ["constant", "reaction"])
def test_after_a_sample_that_failed_nothing_is_known(load: str) -> None:
    way = {"swing": {"kind": "line_sine", "amplitude": [0.9, 0, 0], "period": 0.5}}
    friction = {"law": "lugre", "joints": "actuated", "load": load, "parameters": BRISTLES}
    far = computed("lugre", BRISTLES, trajectories=way, friction=friction, time={"stop": 0.25, "step": 0.01})
    status, force = far["status"].values, far["actuator_force"].values
    first = int(np.argmax(status != Status.OK, axis=-1)[0])
    assert 0 < first < 13
    assert (status[:, first:] == Status.NOT_REACHABLE).all()
    assert np.isnan(force[:, first:]).all()
    assert np.isfinite(force[:, :first]).all()
    assert (far["failed_samples"].values == status.shape[-1] - first).all()


def test_loads_that_grow_without_bound_have_a_status() -> None:
    lost = computed("lugre", {**BRISTLES, "coulomb": 8.0, "static": 8.0, "sigma0": 1e7})
    assert (lost["status"].values == Status.FRICTION_NOT_CONVERGED).sum() > 10
    assert (np.isnan(lost["actuator_force"].values).all(axis=-1) == (lost["status"].values != 0)).all()
