"""Simulations that end at a singularity while loads change with time."""

from __future__ import annotations

import pytest

import limbsweep as ls
from robots.status import Status

PUSHED = {
    "robot": "five_bar",
    "simulation": {"step": 0.001, "forces": {"push": {"values": [5.0, -5.0]}}},
    "time": {"stop": 0.5, "step": 0.01},
    "metrics": ["peak_force"],
}


@pytest.mark.parametrize("force", ["0 * t", "0.01 * sin(20 * t)"])
def test_the_end_of_a_motion_has_its_name_under_loads_over_time(force: str) -> None:
    plain = ls.compute(ls.Sweep.from_dict(PUSHED))
    wave = {"kind": "wrench", "body": "proximal", "force": [force, 0, 0], "axes": "link"}
    loaded = ls.compute(ls.Sweep.from_dict(PUSHED | {"loads": {"wave": wave}}))
    assert int(plain["worst_status"].squeeze()) == Status.SINGULAR
    assert int(loaded["worst_status"].squeeze()) == Status.SINGULAR
    assert 0 < int(plain["failed_samples"].squeeze()) == int(loaded["failed_samples"].squeeze()) < 51
