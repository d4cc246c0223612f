"""Moments that no body has, of bodies that turn about one axis alone: taken, and told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import limbsweep as ls
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
    assert only_axis(limb, 1) is not None
    carried = replace(limb, links=(replace(limb.links[0], parent=PLATFORM), *limb.links[1:]))
    assert only_axis(carried, 0) is None
    assert only_axis(carried, 1) is None


def test_a_sweep_warns_of_them(tmp_path: Path) -> None:
    written(tmp_path, column=[0.002, 0.002, 0.5])
    sweep = tmp_path / "sweep.yaml"
    swing = "trajectories: {s: {kind: harmonic, amplitude: 0.1}}\ntime: {stop: 1, step: 0.5}\nmetrics: [peak_force]\n"
    sweep.write_text("limbsweep: 1\nrobot: ./arm.yaml\n" + swing)
    told = [str(problem) for problem in ls.Sweep.from_yaml(sweep).warnings]
    assert any("moments of column that no body has" in line for line in told), told


def test_a_robot_that_cannot_be_read_is_told_alone(tmp_path: Path) -> None:
    path = written(tmp_path, tip=[0.0, 0.0, 0.02])
    said = f"limbsweep: 1\nrobot: ./{path.name}\ntrajectories: {{s: {{kind: harmonic, amplitude: 0.1}}}}\n"
    sweep = tmp_path / "sweep.yaml"
    sweep.write_text(said + "time: {stop: 1, step: 0.5}\nmetrics: [peak_force]\n")
    with pytest.raises(InputError) as caught:
        ls.Sweep.from_yaml(sweep)
    (problem,) = caught.value.problems
    assert "principal moments" in str(problem)
