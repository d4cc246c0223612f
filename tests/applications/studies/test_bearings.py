"""Rating life of bearings against closed forms, and against a sum of damages sample by sample."""

from __future__ import annotations

import math

import numpy as np
import pytest
import xarray as xr

from applications.studies.bearings import RollingBearing, bearing_life
from pipeline.errors import InputError
from robots.parameter_errors import ParameterError


def dataset(times: np.ndarray, velocity: np.ndarray, load: np.ndarray) -> xr.Dataset:
    """One joint whose bearing carries `load` (time, 3)."""
    dims = ("design", "trajectory", "time", "limb", "joint")
    return xr.Dataset(
        {
            "bearing_load": ((*dims, "bearing"), load[None, None, :, None, None]),
            "joint_velocity": (dims, velocity[None, None, :, None, None]),
        },
        {"time": times},
    )


@pytest.mark.parametrize(("kind", "exponent"), [("ball", 3.0), ("roller", 10 / 3)])
def test_a_constant_load_has_the_life_of_the_catalogue(kind, exponent: float) -> None:
    times = np.linspace(0.0, 60.0, 7)
    load = np.tile([0.0, 1000.0, 0.0], (7, 1))
    results = bearing_life(dataset(times, np.full(7, 2 * np.pi * 10), load), RollingBearing(10_000.0, kind)).squeeze()
    assert float(results["revolutions"]) == pytest.approx(600.0, rel=1e-13)  # 10 a second
    assert float(results["equivalent_load"]) == pytest.approx(1000.0, rel=1e-13)
    assert float(results["life"]) == pytest.approx(1e6 * 10**exponent, rel=1e-12)
    assert float(results["life_hours"]) == pytest.approx(1e6 * 10**exponent / (600 * 60), rel=1e-12)


def test_a_load_that_varies_does_the_damage_of_its_parts() -> None:
    generator = np.random.default_rng(3)
    times = np.cumsum(generator.uniform(0.01, 0.02, 50))
    velocity, load = generator.normal(size=50), generator.uniform(10.0, 500.0, (50, 3))
    bearing = RollingBearing(5_000.0, x=0.56, y=1.6, e=0.3, span=0.05, reliability=0.64)
    results = bearing_life(dataset(times, velocity, load), bearing).squeeze()
    damage = turns = 0.0
    for k in range(49):  # each step by the trapezoidal rule, revolution by revolution
        for end in (k, k + 1):
            moment, across, along = load[end]
            radial = across / 2 + moment / 0.05
            equivalent = radial if along <= 0.3 * radial else 0.56 * radial + 1.6 * along
            part = abs(velocity[end]) * (times[k + 1] - times[k]) / 2 / (2 * math.pi)
            turns += part
            damage += part / (0.64 * 1e6 * (5_000.0 / equivalent) ** 3)
    assert float(results["life_hours"]) == pytest.approx((times[-1] - times[0]) / damage / 3600, rel=1e-12)
    assert float(results["life"]) == pytest.approx(turns / damage, rel=1e-12)


def test_joints_that_rest_last_and_failed_samples_are_not_hidden() -> None:
    times, load = np.linspace(0.0, 1.0, 5), np.tile([0.0, 100.0, 0.0], (5, 1))
    resting = bearing_life(dataset(times, np.zeros(5), load), RollingBearing(1_000.0)).squeeze()
    assert math.isinf(float(resting["life"]))
    assert math.isinf(float(resting["life_hours"]))
    idle = bearing_life(dataset(times, np.ones(5), 0.0 * load), RollingBearing(1_000.0)).squeeze()
    assert math.isinf(float(idle["life_hours"]))
    load[2] = np.nan
    failed = bearing_life(dataset(times, np.ones(5), load), RollingBearing(1_000.0)).squeeze()
    assert math.isnan(float(failed["life_hours"]))


def test_what_is_no_bearing_is_refused() -> None:
    with pytest.raises(InputError, match=r"rating: got -1\.0; expected a number above 0"):
        RollingBearing(-1.0)
    with pytest.raises(ParameterError, match="kind: got 'needle'; expected one of ball, roller"):
        RollingBearing(1.0, "needle")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="span: got nan; expected a number"):
        RollingBearing(1.0, span=math.nan)
    with pytest.raises(InputError, match="Add it: outputs"):
        bearing_life(xr.Dataset(), RollingBearing(1.0))
