"""Trajectories along axes that the limbs hold are refused when a sweep is read, and by `new` never written."""

from __future__ import annotations

from pathlib import Path

import pytest

from applications.commands.template import sweep_text
from pipeline import Sweep
from pipeline.documents.report import InputError
from pipeline.sweep.trajectories.mobility import moving_along
from robots import catalog
from robots.trajectories.kinds import MOTIONS
from robots.trajectories.trajectory import Trajectory

SWEEP = """
limbsweep: 1
robot: {robot}
trajectories: {{first: {section}}}
time: {{stop: 1.0, step: 0.5}}
metrics: [peak_force]
"""
HELD = [
    ("{kind: line_sine, amplitude: [0.1, 0.1, 0]}", "amplitude"),
    ("{kind: line_sine, amplitude: [0.1, 0, 0], centre: [0, 0.01, 0]}", "centre"),
    ("{kind: line_sine}", "amplitude"),
    ("{kind: circle, radius: 0.05}", "normal"),
    ("{kind: circle, radius: 0.05, normal: [0, 1, 0.01]}", "normal"),
    ("{kind: spiral, radius: 0.05}", "radius"),
    ("{kind: spiral, radius: 0, radial_speed: 0.1}", "radial_speed"),
    ("{kind: quintic, start: [0, 0, 0], end: [0, 0.1, 0]}", "end"),
    ("{kind: fourier, sine_2: [0, 0.01, 0]}", "sine_2"),
    ("{kind: workspace, size: [0.1, 0.1, 0.1], counts: [2, 2, 2]}", "size"),
]
FREE = [
    "{kind: line_sine, amplitude: [0.1, 0, 0.02]}",
    "{kind: circle, radius: 0.05, normal: [0, 2, 0]}",
    "{kind: spiral, radius: 0, axial_speed: 0.05}",
    "{kind: quintic, start: [0, 0, 0], end: [0.1, 0, 0]}",
]


@pytest.mark.parametrize(("section", "key"), HELD)
def test_out_of_the_plane(section: str, key: str) -> None:
    with pytest.raises(InputError) as caught:
        Sweep.from_text(SWEEP.format(robot="five_bar", section=section))
    (problem,) = [text for text in map(str, caught.value.problems) if "the limbs hold the platform" in text]
    assert f"trajectories.first.{key}" in problem
    assert "no motion along y" in problem
    assert "free to move along: x, z" in problem


@pytest.mark.parametrize("section", FREE)
def test_in_the_plane(section: str) -> None:
    Sweep.from_text(SWEEP.format(robot="five_bar", section=section))


def test_points_out_of_the_plane(tmp_path: Path) -> None:
    for y, allowed in ((0.0, True), (0.01, False)):
        (tmp_path / "way.csv").write_text(f"t,x,y,z\n0,0,0,0\n0.5,0.01,{y},0\n1,0.02,0,0.01\n")
        text = SWEEP.format(robot="five_bar", section="{kind: waypoints, file: way.csv}")
        (tmp_path / "s.yaml").write_text(text)
        if allowed:
            Sweep.from_yaml(tmp_path / "s.yaml")
            continue
        with pytest.raises(InputError, match="no motion along y"):
            Sweep.from_yaml(tmp_path / "s.yaml")


@pytest.mark.parametrize("name", catalog.FAMILIES)
def test_what_is_written_for_a_robot_can_be_read(name: str) -> None:
    Sweep.from_text(sweep_text(catalog.family(name)))


def test_every_kind_tells_what_it_does() -> None:
    """Check that each kind with all parameters set moves along every axis: no parameter is overlooked."""
    for motion in MOTIONS.values():
        if motion.points_file:
            continue
        values = {p.name: (0.3, 0.4, 0.5) if p.shape else 0.3 for p in motion.parameters}
        values |= {"counts": (2, 2, 2)} if motion.grid else {}
        for axis in range(3):
            assert list(moving_along(Trajectory(motion.name, values), axis)), (motion.name, axis)
