"""Kinds that stand for several trajectories: one table beside that of motions, with one signature."""

from __future__ import annotations

import pytest

from pipeline.errors import InputError
from pipeline.sweep.model import Sweep
from pipeline.sweep.trajectories.expansions import EXPANSIONS
from robots.trajectories.kinds import JOINT_MOTIONS, MOTIONS

TEXT = """\
limbsweep: 1
robot: {robot}
trajectories: {{many: {{kind: {kind}, {keys}}}, one: {{kind: quintic}}}}
time: {{stop: 2.0, step: 0.5}}
outputs: [actuator_force]
"""
KEYS = {
    "random_fourier": "count: 3, seed: 1, position: 0.05",
    "gravity_test": "count: 3, seed: 1, position: 0.05",
    "workspace_hull": "points: [[0, 0, 0], [0.1, 0, 0]]",
    "friction_test": "joint: joint_2, speeds: [0.1, 0.2, 0.4]",
}


def test_no_kind_is_a_motion_as_well() -> None:
    assert set(EXPANSIONS) == set(KEYS)
    assert not set(EXPANSIONS) & {*MOTIONS, *JOINT_MOTIONS}


@pytest.mark.parametrize("kind", sorted(EXPANSIONS.keys() - {"workspace_hull"}))
@pytest.mark.parametrize("robot", ["planar_3r", "delta_3rr2rrr"])
def test_a_kind_stands_for_several_trajectories_of_the_robots_that_have_it(kind: str, robot: str) -> None:
    text = TEXT.format(robot=robot, kind=kind, keys=KEYS[kind])
    if EXPANSIONS[kind].chains_only and robot != "planar_3r":
        with pytest.raises(InputError, match=f"many.kind: got '{kind}'; expected a kind of motion of a platform"):
            Sweep.from_text(text)
        return
    *many, one = Sweep.from_text(text).trajectories
    assert len(many) == (6 if kind == "friction_test" else 3)
    assert all(trajectory.name.startswith("many_") for trajectory in many)
    assert one.name == "one"


def test_a_friction_test_lasts_as_long_as_the_sweep() -> None:
    text = TEXT.format(robot="planar_3r", kind="friction_test", keys=KEYS["friction_test"])
    first = Sweep.from_text(text).trajectories[0]
    assert first.values == {"start": (0.0, -0.1, 0.0), "velocity": (0.0, 0.1, 0.0)}
