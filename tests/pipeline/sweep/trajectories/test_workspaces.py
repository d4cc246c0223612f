"""Volumes of workspaces: against a box that is known, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from applications.studies import column
from pipeline import run
from pipeline.errors import InputError
from pipeline.sweep.model import Sweep
from tests.pipeline.runs import SYNCHRONOUS

BOX = """\
limbsweep: 1
robot: delta_3rr2rrr
trajectories: {{box: {{kind: workspace, size: [{edge}, {edge}, 0.1], counts: [6, 5, 4]}}}}
time: {{stop: 1.0, samples: 120}}
metrics: [usable_volume, reachable_volume, usable_share, reachable_share]
"""
SQUARE = """\
limbsweep: 1
robot: five_bar
trajectories: {square: {kind: workspace, size: [0.02, 1.0, 0.03], counts: [4, 1, 3]}}
time: {stop: 1.0, samples: 12}
metrics: [usable_volume]
"""


def refused(text: str, **changes: str) -> str:
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(InputError) as caught:
        Sweep.from_text(text)
    return str(caught.value)


def test_a_small_box_is_usable_and_a_large_one_in_part() -> None:
    small, large = (run(Sweep.from_text(BOX.format(edge=edge)), cluster=SYNCHRONOUS) for edge in (0.1, 3.0))
    np.testing.assert_allclose(small["usable_volume"], 1e-3, rtol=1e-15)
    np.testing.assert_allclose(small["reachable_volume"], 1e-3, rtol=1e-15)
    assert small["usable_volume"].attrs["units"] == "m^3"
    for kind in ("usable", "reachable"):
        share = large[f"{kind}_share"].values
        assert 0.0 < share < 1.0
        np.testing.assert_allclose(large[f"{kind}_volume"], share * 0.9, rtol=1e-14)
    assert float(large["usable_share"][0, 0]) <= float(large["reachable_share"][0, 0])
    np.testing.assert_array_equal(column(large, "usable_volume"), large["usable_volume"].values.ravel())


def test_beyond_a_limit_a_pose_is_reachable_and_not_usable() -> None:
    limits = "limits: {joints: {actuated: {position: [-0.1, 0.1]}}}\n"
    made = run(Sweep.from_text(BOX.format(edge=0.3) + limits), cluster=SYNCHRONOUS)
    assert float(made["reachable_share"][0, 0]) == 1.0
    assert 0.0 < float(made["usable_share"][0, 0]) < 1.0


def test_in_a_plane_a_volume_is_an_area() -> None:
    made = run(Sweep.from_text(SQUARE), cluster=SYNCHRONOUS)["usable_volume"]
    assert made.attrs["units"] == "m^2"
    np.testing.assert_allclose(made, 6e-4, rtol=1e-15)


def test_what_has_no_volume_is_refused() -> None:
    flat = refused(BOX.format(edge=0.1), **{"[6, 5, 4]": "[12, 10, 1]"})
    assert "got [12.0, 10.0, 1.0]; expected several points along x, y, z and one along others" in flat
    thick = refused(SQUARE, **{"[4, 1, 3]": "[2, 3, 2]"})
    assert "expected several points along x, z and one along others, for a volume" in thick
    motion = "{way: {kind: circle, radius: 0.1}, box"
    told = refused(BOX.format(edge=0.1), **{"{box": motion})
    assert "metrics[0]: got 'usable_volume'; expected a metric of workspaces" in told
    assert "Trajectory way is a motion" in told
