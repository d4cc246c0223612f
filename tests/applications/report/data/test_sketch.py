from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from applications.report.data import sketch
from pipeline.robot_files.reader import read_draft
from robots import catalog
from robots.model import Robot


@pytest.fixture(params=sorted(catalog.FAMILIES))
def robot(request: pytest.FixtureRequest) -> Robot:
    return catalog.build(request.param)


def test_limbs_meet_the_platform(robot: Robot) -> None:
    for limb in sketch.sketch(robot.mechanism):
        np.testing.assert_allclose(limb.tips, limb.platform_tips, atol=1e-12)


def test_every_joint_ends_a_line(robot: Robot) -> None:
    for limb in sketch.sketch(robot.mechanism):
        ends = limb.lines.reshape(-1, 3)
        for point in (*(joint.point for joint in limb.joints), *limb.cuts, *limb.tips):
            assert np.linalg.norm(ends - point, axis=1).min() < 1e-12


def test_every_joint_at_base_and_platform_is_a_corner() -> None:
    for name, mounts, tips in (("delta_3r2us", 1, 2), ("irsbot2", 2, 2), ("hexapod_6rrrprr", 1, 1)):
        for limb in sketch.sketch(catalog.build(name).mechanism):
            assert (len(limb.mounts), len(limb.tips)) == (mounts, tips)


def test_driven_joints_are_the_actuators(robot: Robot) -> None:
    driven = [joint.name for limb in sketch.sketch(robot.mechanism) for joint in limb.joints if joint.driven]
    bare = [replace(limb, drives=()) for limb in robot.mechanism.limbs]  # drives move them; they are no joints
    assert tuple(driven) == replace(robot.mechanism, limbs=tuple(bare)).actuators


def test_lengths_of_the_delta_appear() -> None:
    limb = sketch.sketch(catalog.build("delta_3rr2rrr", upper_arm=0.3, rod_length=0.9).mechanism)[0]
    lengths = np.linalg.norm(limb.lines[:, 1] - limb.lines[:, 0], axis=1)
    assert sorted(lengths.round(12)) == [0.04, 0.04, 0.04, 0.08, 0.3, 0.9, 0.9]


def test_the_picture_has_ink(robot: Robot, tmp_path: Path) -> None:
    from matplotlib.image import imread

    path = tmp_path / "robot.png"
    sketch.save(robot, path)
    pixels = imread(path)[..., :3]
    assert min(pixels.shape[:2]) > 800
    platform = () if robot.mechanism.is_chain else (sketch.PLATFORM_COLOUR,)
    for colour in (sketch.LIMB_COLOURS[0], sketch.DRIVEN_COLOUR, sketch.BASE_COLOUR, *platform):
        wanted = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        assert (np.abs(pixels - wanted).max(axis=-1) < 0.02).sum() > 50, f"{colour} is missing in {path}"


def test_names_of_bodies_and_joints_stand_beside_them() -> None:
    figure = sketch.draw(catalog.build("five_bar"), labels=True)
    texts = [text.get_text().strip() for text in figure.axes[0].texts]
    (left, right) = sketch.sketch(catalog.build("five_bar").mechanism)
    assert {*left.bodies, "base", "platform"} <= {*texts}
    assert {name for name in left.cut_names if name.startswith("left")} <= {*", ".join(texts).split(", ")}
    assert left.bodies == right.bodies


def test_a_wrong_file_is_drawn_as_it_stands(tmp_path: Path) -> None:
    """The picture is written, with a dashed line where a tip is open, and the problems are told with status 2."""
    text = Path("examples/robots/3rps.yaml").read_text("utf-8")
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(text.replace("reference: {tilt: 0.2, slide: 0.1}\n", "\n"))
    done = CliRunner().invoke(cli, ["show", str(wrong), "--output", str(tmp_path / "wrong.png")])
    assert done.exit_code == 2
    assert "a sketch of the file as it stands" in done.output
    assert "got a gap of" in done.stderr
    assert (tmp_path / "wrong.png").stat().st_size > 10_000
    draft = read_draft(wrong)
    assert draft.description is not None
    dashed = [
        line
        for line in sketch.draw(Robot.of(draft.description.family, {})).axes[0].lines
        if line.get_linestyle() == "--"
    ]
    assert len(dashed) == 3


def test_a_file_that_says_no_robot_has_no_picture(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(Path("examples/robots/3rps.yaml").read_text("utf-8").replace("body: rod", "bod: rod"))
    done = CliRunner().invoke(cli, ["show", str(wrong), "--output", str(tmp_path / "wrong.png")])
    assert done.exit_code == 2
    assert "links[1]" in done.stderr
    assert not (tmp_path / "wrong.png").exists()
