"""Moments that no body has, of bodies that turn about one axis alone: taken, and told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import limbsweep as ls
from applications.commands.cli import cli
from pipeline.errors import InputError
from robots.formats.checks import only_axis
from robots.model import PLATFORM

ARM = """\
limbsweep: 1
name: arm
limbs:
  arm:
    links:
      - {{joint: q1, body: column, parent: base, kind: revolute, axis: z, placement: {{turn: {{x: 0.3}}}},
         inertia: {{mass: 2, centre: [0.1, 0, 0.2], moments: {column}, products: [0, 0.01, 0.02]}}}}
      - {{joint: q2, body: slide, parent: column, kind: prismatic, axis: x,
         inertia: {{mass: 1, moments: {slide}}}}}
      - {{joint: q3, body: tip, parent: slide, kind: revolute, axis: {axis}, placement: {{turn: {{x: 0.5}}}},
         inertia: {{mass: 1, centre: [0.2, 0, 0], moments: {tip}}}}}
    actuated: [q1, q2, q3]
"""
REAL = {"column": [0.3, 0.4, 0.5], "slide": [0.06, 0.07, 0.08], "tip": [0.01, 0.02, 0.02], "axis": "y"}


def written(folder: Path, **parts: object) -> Path:
    path = folder / "arm.yaml"
    path.write_text(ARM.format(**{**REAL, **parts}))
    return path


def test_moments_across_the_only_axis_change_nothing(tmp_path: Path) -> None:
    arm = ls.robots.read(written(tmp_path))
    with pytest.warns(UserWarning, match="no body has the moments of") as told:
        other = ls.robots.read(written(tmp_path, column=[0.001, 0.002, 0.5], slide=[0.0, 0.0, 0.08]))
    lines = " ".join(str(entry.message) for entry in told)
    assert "moments of column. It turns about one axis" in lines
    assert "moments of slide." in lines
    rng = np.random.default_rng(3)
    motion = ls.Motion(q=rng.normal(size=(5, 3)), qd=rng.normal(size=(5, 3)), qdd=rng.normal(size=(5, 3)))
    np.testing.assert_allclose(ls.inverse_dynamics(other, motion).force, ls.inverse_dynamics(arm, motion).force, 1e-13)
    felt, real = (ls.joint_reactions(robot, motion).wrench for robot in (other, arm))
    np.testing.assert_allclose(felt, real, rtol=1e-12, atol=1e-12)


def test_moments_of_no_body_are_refused_where_they_count(tmp_path: Path) -> None:
    for parts in ({"tip": [0.0, 0.0, 0.02]}, {"column": [0.3, 0.4, -0.5]}):
        with pytest.raises(InputError, match="got principal moments"):
            ls.robots.read(written(tmp_path, **parts))


def test_bodies_on_a_platform_turn_with_it(tmp_path: Path) -> None:
    (limb,) = ls.robots.read(written(tmp_path)).mechanism.limbs
    assert only_axis(limb.links, 1) is not None
    carried = replace(limb, links=(replace(limb.links[0], parent=PLATFORM), *limb.links[1:]))
    assert only_axis(carried.links, 0) is None
    assert only_axis(carried.links, 1) is None


def test_a_sweep_warns_of_them(tmp_path: Path) -> None:
    written(tmp_path, column=[0.002, 0.002, 0.5])
    sweep = tmp_path / "sweep.yaml"
    swing = "trajectories: {s: {kind: harmonic, amplitude: 0.1}}\ntime: {stop: 1, step: 0.5}\nmetrics: [peak_force]\n"
    sweep.write_text("limbsweep: 1\nrobot: ./arm.yaml\n" + swing)
    told = [str(problem) for problem in ls.Sweep.from_yaml(sweep).warnings]
    assert any("moments of column that no body has" in line for line in told), told


def test_a_base_that_turns_them_is_refused(tmp_path: Path) -> None:
    swing = {"trajectories": {"s": {"kind": "harmonic", "amplitude": 0.1}}, "time": {"stop": 1, "step": 0.5}}
    shaken = {"kind": "line_sine", "amplitude": [0.1, 0, 0], "period": 1.0}
    turned = {**shaken, "turn": {"kind": "harmonic", "amplitude": [0.1, 0.0, 0.0], "period": 1.0}}

    def felt(base: dict[str, object]) -> np.ndarray:
        content = {"robot": "./arm.yaml", **swing, "outputs": ["actuator_force"], "base": base}
        return np.asarray(ls.compute(ls.Sweep.from_dict(content, folder=tmp_path), progress=False)["actuator_force"])

    written(tmp_path)
    real = felt(shaken)
    written(tmp_path, column=[0.002, 0.002, 0.5])
    np.testing.assert_allclose(felt(shaken), real, 1e-12)
    with pytest.raises(InputError, match=r"base\.turn: got a turn, and moments of column that no body has"):
        felt(turned)


@pytest.mark.parametrize("ending", [".urdf", ".sdf", ".xml"])
@pytest.mark.filterwarnings("ignore:.*no body has")
def test_files_of_other_formats_have_moments_of_bodies_and_the_same_forces(tmp_path: Path, ending: str) -> None:
    if ending == ".xml":
        pytest.importorskip("mujoco")
    arm = ls.robots.read(written(tmp_path, column=[0.6, 0.002, 0.5], slide=[0.0, 0.0, 0.08]))
    runner, exported = CliRunner(), tmp_path / f"exported{ending}"
    assert runner.invoke(cli, ["robots", str(tmp_path / "arm.yaml"), "--export", str(exported)]).exit_code == 0
    read = ["import", str(exported), "--output", str(tmp_path / "again.yaml"), "--strict-inertia"]
    done = runner.invoke(cli, read)
    assert done.exit_code == 0, done.output
    again = ls.robots.read(tmp_path / "again.yaml")
    rng = np.random.default_rng(4)
    motion = ls.Motion(q=rng.normal(size=(5, 3)), qd=rng.normal(size=(5, 3)), qdd=rng.normal(size=(5, 3)))
    felt, real = (ls.inverse_dynamics(robot, motion).force for robot in (again, arm))
    np.testing.assert_allclose(felt, real, rtol=1e-9, atol=1e-9)


def test_an_imported_body_keeps_its_moment_about_the_only_axis(tmp_path: Path) -> None:
    body = '<inertial><mass value="1"/><inertia ixx="0" iyy="0" izz="0.5" ixy="0" ixz="0.01" iyz="0"/></inertial>'
    joint = '<joint name="j" type="continuous"><parent link="b"/><child link="a"/><axis xyz="0 0 1"/></joint>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="b"/><link name="a">{body}</link>{joint}</robot>')
    read = ["import", str(tmp_path / "r.urdf"), "--output", str(tmp_path / "r.yaml")]
    done = CliRunner().invoke(cli, read)
    assert done.exit_code == 0, done.output
    assert "They became" in done.output
    robot = ls.robots.read(tmp_path / "r.yaml")
    assert ls.inverse_dynamics(robot, q=[0.3], qd=[0.0], qdd=[2.0]).force == pytest.approx([1.0], rel=1e-12)


def test_a_robot_that_cannot_be_read_is_told_alone(tmp_path: Path) -> None:
    path = written(tmp_path, tip=[0.0, 0.0, 0.02])
    said = f"limbsweep: 1\nrobot: ./{path.name}\ntrajectories: {{s: {{kind: harmonic, amplitude: 0.1}}}}\n"
    sweep = tmp_path / "sweep.yaml"
    sweep.write_text(said + "time: {stop: 1, step: 0.5}\nmetrics: [peak_force]\n")
    with pytest.raises(InputError) as caught:
        ls.Sweep.from_yaml(sweep)
    (problem,) = caught.value.problems
    assert "principal moments" in str(problem)
