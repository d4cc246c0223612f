"""A mechanism in motion as one SVG: its lines are those of the sketch, it moves as long as the motion."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xarray

import limbsweep as ls
from pipeline.errors import InputError

SVG = "{http://www.w3.org/2000/svg}"


def results(robot: str, trajectory: str, stop: float = 0.5) -> xarray.Dataset:
    text = f"""
limbsweep: 1
robot: {robot}
trajectories: {{still: {{kind: line_sine, amplitude: [0, 0, 0]}}, moving: {trajectory}}}
time: {{stop: {stop}, step: 0.05}}
metrics: [peak_force]
"""
    return ls.run(ls.Sweep.from_text(text))


@pytest.mark.parametrize(
    ("robot", "trajectory", "limbs"),
    [
        ("delta_3rr2rrr", "{kind: circle, radius: 0.1}", 3),
        ("gough_stewart", "{kind: circle, radius: 0.05}", 6),
        ("five_bar", "{kind: circle, radius: 0.05, normal: [0, 1, 0]}", 2),
    ],
)
def test_limbs_and_platform_move_in_real_time(robot: str, trajectory: str, limbs: int) -> None:
    ds = results(robot, trajectory)
    root = ElementTree.fromstring(ds.limbsweep.animation("moving").svg)
    moving = [path for path in root.iter(f"{SVG}path") if path.find(f"{SVG}animate") is not None]
    assert len(moving) == limbs + 1
    for path in moving:
        (animate,) = path.iter(f"{SVG}animate")
        frames = animate.attrib["values"].split(";")
        assert len(frames) == ds.sizes["time"]
        assert frames[0] == path.attrib["d"]
        assert len({re.sub(r"[-\d.]+", "#", frame) for frame in frames}) == 1
        assert len(set(frames)) > 1
        assert animate.attrib["dur"] == "0.5s"
        assert all(0 <= float(number) <= 480 for frame in frames for number in re.findall(r"[\d.]+", frame))


def test_the_speed_is_chosen_and_failed_times_are_left_out(tmp_path: Path) -> None:
    ds = results("delta_3rr2rrr", "{kind: line_sine, amplitude: [3, 0, 0], period: 1.0}")
    slow = ds.limbsweep.animation(1, speed=0.1)
    assert 'dur="5s"' in slow.svg
    assert "nan" not in slow.svg
    first = re.search(r'<animate attributeName="d"[^>]* values="([^"]*)"', slow.svg)
    assert first is not None
    assert first[1].count(";") + 1 < ds.sizes["time"]
    assert slow.save(tmp_path / "a.svg").read_text("utf-8") == slow.svg
    assert "save('motion.svg')" in repr(slow)


def test_what_cannot_be_drawn_is_told_in_a_line() -> None:
    ds = results("five_bar", "{kind: circle, radius: 0.05, normal: [0, 1, 0]}")
    with pytest.raises(InputError, match=r"trajectory: got 'movin'; expected a trajectory .* Did you mean 'moving'"):
        ds.limbsweep.animation("movin")
    with pytest.raises(InputError, match=r"got 2; expected a trajectory by name, or by number from 0 to 1"):
        ds.limbsweep.animation(2)
    with pytest.raises(InputError, match=r"speed: got 0.0; expected a number above zero"):
        ds.limbsweep.animation(speed=0.0)
    with pytest.raises(InputError, match="animation: got results without it"):
        ds.drop_attrs().limbsweep.animation()
