"""Workspaces that are cylinders, points and hulls of points, and standard cycles, from files to motions."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import limbsweep as ls
from pipeline.errors import InputError
from tasks.sources import prescribed
from tasks.sources.commanded import volume_of

HEAD = "limbsweep: 1\nrobot: delta_3rr2rrr\nmetrics: [usable_share, usable_volume]\n"
CORNERS = "[[0.1, 0, 0], [-0.1, 0.1, 0], [-0.1, -0.1, 0], [0, 0, 0.1]]"


def sweep(trajectory: str, samples: int, folder: Path | str = ".") -> ls.Sweep:
    return ls.Sweep.from_text(
        f"{HEAD}trajectories: {{w: {trajectory}}}\ntime: {{stop: 1, samples: {samples}}}\n", folder=folder
    )


def places(made: ls.Sweep) -> np.ndarray:
    (trajectory,) = made.trajectories
    count = made.grid.samples
    return prescribed.motion(trajectory.kind, trajectory.values, made.times, trajectory.points)[:3, :count].T


def test_rings_of_a_cylinder_have_equal_areas() -> None:
    made = sweep("{kind: workspace_cylinder, normal: [0, 0, 2], radius: 0.2, height: 0.1, counts: [4, 6, 3]}", 72)
    points = places(made)
    radii = np.unique(np.hypot(points[:, 0], points[:, 1]).round(12))
    np.testing.assert_allclose(np.diff(radii**2, prepend=0.0), 0.04 / 4)
    assert {*points[:, 2].round(12)} == {-0.05, 0.0, 0.05}
    assert volume_of(made.trajectories[0]) == pytest.approx(math.pi * 0.04 * 0.1)
    found = ls.compute(made)
    share = float(found["usable_share"].squeeze())
    assert 0.0 < share <= 1.0
    assert float(found["usable_volume"].squeeze()) == pytest.approx(share * math.pi * 0.004)


def test_a_hull_has_its_corners_and_a_grid_inside() -> None:
    made = sweep(f"{{kind: workspace_hull, points: {CORNERS}, spacing: 0.03}}", 48)
    points = places(made)
    assert volume_of(made.trajectories[0]) == pytest.approx(0.2 * 0.2 / 2 * 0.1 / 3)
    assert (points[:, 2] > -1e-12).all()
    assert (2 * np.abs(points[:, 1]) + points[:, 0] + points[:, 2] <= 0.1 + 1e-9).all()
    steps = points[4:] - points[4]
    np.testing.assert_allclose(steps / 0.03, (steps / 0.03).round(), atol=1e-9)


def test_points_are_those_of_a_list_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("t,x,y,z\n0,0.1,0,0\n1,-0.1,0.1,0\n2,-0.1,-0.1,0\n3,0,0,0.1\n")
    text = HEAD.replace(", usable_volume", "") + "time: {stop: 1, samples: 4}\n"
    keys = (f"kind: workspace_hull, points: {CORNERS}", "kind: workspace_points, file: p.csv")
    listed, filed = (ls.Sweep.from_text(f"{text}trajectories: {{w: {{{k}}}}}\n", folder=tmp_path) for k in keys)
    np.testing.assert_array_equal(places(listed), places(filed))


def test_the_standard_cycle_lifts_travels_and_returns() -> None:
    times = np.linspace(0.0, 0.4, 4001)
    values = {"start": (-0.1525, 0.0, 0.0), "end": (0.1525, 0.0, 0.0), "lift": 0.025, "duration": 0.4}
    for blend in (0.0, 0.5, 1.0):
        flat = prescribed.motion("pick_and_place", {**values, "blend": blend}, times)[:, : len(times)]
        x, z, ax, az = flat[0], flat[2], flat[6], flat[8]
        np.testing.assert_allclose(
            flat[:3, [0, 2000, 4000]].T, [values["start"], values["end"], values["start"]], atol=1e-12
        )
        np.testing.assert_allclose(flat[3:9, [0, 2000, 4000]], 0.0, atol=1e-8)
        assert z.max() == pytest.approx(0.025)
        assert np.abs(ax).max() == pytest.approx(np.abs(az).max(), rel=1e-3)
        along = np.abs(np.gradient(x)) > 1e-12
        assert (z[along] >= -1e-12).all()
        if blend == 0.0:
            assert z[along].min() == pytest.approx(0.025)  # it travels at full height


def test_the_poses_of_the_cube_lie_inside_its_corners() -> None:
    times = np.linspace(0.0, 2.5, 6)
    flat = prescribed.motion("iso_9283", {"centre": (0.0, 0.0, 0.1), "edge": 0.25, "duration": 2.5}, times)
    poses = flat[:3, :6].T - [0.0, 0.0, 0.1]
    np.testing.assert_allclose(np.abs(poses), 0.8 * 0.125 * np.array([[0] * 3, *[[1] * 3] * 4, [0] * 3]), atol=1e-15)
    normal = np.cross(poses[1], poses[2])
    np.testing.assert_allclose(poses @ normal, 0.0, atol=1e-15)  # one plane
    np.testing.assert_allclose(flat[3:9, :6], 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("trajectory", "told"),
    [
        (f"{{kind: workspace_hull, points: {CORNERS}}}", "points alone; expected a shape with a volume"),
        ("{kind: workspace_hull, points: [[0, 0, 0], [0.1, 0, 0]], spacing: 0.1}", "on a line"),
        (f"{{kind: workspace_hull, points: {CORNERS}, spacing: 0}}", "a distance above zero"),
        (f"{{kind: workspace_hull, points: {CORNERS}, space: 0.1}}", "an unknown key"),
        ("{kind: workspace_hull, points: 3}", "a list of at least two places"),
        ("{kind: workspace_hull}", "no points"),
        ("{kind: workspace_cylinder, counts: [2, 2, 1]}", "samples of time"),
    ],
)
def test_wrong_shapes_are_refused(trajectory: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        sweep(trajectory, 5)


def test_planar_robots_reach_discs_and_lift_along_z() -> None:
    text = """limbsweep: 1
robot: five_bar
trajectories:
  disc: {kind: workspace_cylinder, normal: [0, 1, 0], radius: 0.1, counts: [3, 8, 1]}
time: {stop: 1, samples: 24}
metrics: [usable_share, usable_volume]
"""
    found = ls.compute(ls.Sweep.from_text(text))
    assert float(found["usable_volume"].squeeze()) == pytest.approx(math.pi * 0.01)  # m^2
    with pytest.raises(InputError, match="no motion along y"):
        ls.Sweep.from_text(text.replace("normal: [0, 1, 0], ", ""))
    motion = text.replace("usable_volume", "peak_force").replace("disc: {kind", "c: {kind: pick_and_place}  # {kind")
    assert (ls.compute(ls.Sweep.from_text(motion))["worst_status"] == 0).all()
