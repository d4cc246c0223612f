"""Statuses do not depend on the size of a robot: the same poses, relative to it, have the same status at all sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks import regions
from benchmarks.robots import Job
from robots import catalog
from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks import inverse_kinematics
from tasks.dynamics.equations import equations_of_motion
from tasks.dynamics.inputs import moving_input
from tests.tasks import scaled

ROBOTS = "tricept", "hexapod_6rrrprr", "gough_stewart", "irsbot2", "five_bar"
"""Robots whose matrices have rows of lengths and of cosines, and one with lengths alone."""

BEYOND = 2.0
"""Way from home to poses, relative to those of the region, so that some are out of reach or singular."""


def at_size(robot: Robot, size: float) -> Robot:
    """Return a robot with all its lengths multiplied."""
    lengths = {p.name for p in robot.family.parameters if p.unit == "m"}
    return Robot(robot.family, {name: x * size if name in lengths else x for name, x in robot.values.items()})


def poses(robot: Robot, size: float) -> dict[str, Any]:
    """Return poses of a robot at a size, in the region that it reaches and around it; no slide is a freedom here."""
    states = regions.states(robot, 64)
    if robot.mechanism.is_chain:
        return {"q": BEYOND * states["q"]}
    home = np.array(robot.mechanism.platform.home.position)
    turns = {"rotation": states["rotation"]} if set(TWIST[:3]) & {*robot.mechanism.platform.mobility} else {}
    return {"position": size * (home + BEYOND * (states["position"] - home)), **turns}


@pytest.mark.parametrize("name", ROBOTS)
def test_a_robot_of_another_size_has_the_same_statuses(name: str) -> None:
    robot = catalog.build(name)
    usual, small, large = (
        inverse_kinematics(at_size(robot, size), **poses(robot, size)).status for size in (1.0, 2.0**-7, 2.0**7)
    )
    assert (usual == small).all()
    assert (usual == Status.OK).any()
    assert ((usual == Status.OK) == (large == Status.OK)).all()


@pytest.mark.parametrize("name", ["tricept", "hexapod_6rrrprr"])
@pytest.mark.parametrize("size", [2.0**-10, 2.0**10])
def test_accelerations_of_joints_keep_their_digits(name: str, size: float) -> None:
    """Joints turn as fast at all sizes: five or six rows of lengths beside cosines lost three digits in millimetres."""
    usual = catalog.build(name)
    states, turning = regions.states(usual, 64), [link.joint_kind.turns for link in usual.mechanism.limbs[0].links]

    def turns(scale: float) -> tuple[np.ndarray, np.ndarray]:
        twist = np.repeat([1.0, scale], 3)
        units: dict[str, Any] = {"rotation": 1.0, "twist": twist, "acceleration": twist}  # others are ways
        moving = {key: units.get(key, scale) * values for key, values in states.items()}
        found = inverse_kinematics(at_size(usual, scale), **moving)
        assert (found.status == Status.OK).all()
        return found.velocity[..., : len(turning)][..., turning], found.acceleration[..., : len(turning)][..., turning]

    for other, expected in zip(turns(size), turns(1.0), strict=True):
        assert np.abs(other - expected).max() < 3e-14 * np.abs(expected).max()


@pytest.mark.parametrize("name", ["delta_4rr2rrr", "palletiser", "six_bar", "irb6"])
@pytest.mark.parametrize("size", [2.0**-10, 2.0**10])
def test_equations_of_another_size_have_the_same_bits(name: str, size: float) -> None:
    """Lengths, masses and gravity times powers of two: no operation of dynamics adds numbers of different units."""
    robot = catalog.build(name)
    states, chain = regions.states(robot, 32), robot.mechanism.is_chain
    states = {key: values for key, values in states.items() if key in ("q", "qd", "position", "twist")}
    turning = chain or np.array([key in TWIST[:3] for key in robot.mechanism.freedoms])
    unit, gravity = np.where(turning, 1.0, size), np.array([0.0, 0.0, -9.81])
    usual = equations_of_motion(robot, gravity=gravity, **states)
    moved = states if chain else {key: values * size for key, values in states.items()}
    found = equations_of_motion(scaled.at_size(robot, size), gravity=size * gravity, **moved)
    assert (usual.status == Status.OK).all()
    factors = {"coriolis": np.outer(unit, unit) if np.ndim(unit) else 1.0, "gravity": unit}
    for key, factor in factors.items():
        np.testing.assert_array_equal(getattr(found, key) * factor / size**5, getattr(usual, key))


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "irsbot2"])
@pytest.mark.parametrize("size", [2.0**-10, 2.0**10])
def test_a_robot_of_another_size_loses_no_sample_to_single_precision(name: str, size: float) -> None:
    """Cosines are as inexact in a small robot as in a large one: they count as lengths of its size."""

    def ok(scale: float) -> np.ndarray:
        usual, most = catalog.build(name), 256
        robot, motion = at_size(usual, scale), {"position": scale * regions.states(usual, most)["position"]}
        job = Job(robot, moving_input(robot, motion)[1], statics=False, single=True)
        job()
        return np.asarray(job.values["status"][0, 0, :most] == Status.OK)

    assert (ok(size) == ok(1.0)).all()
