"""Limbs solved for every row of their tips by a pseudo-inverse: like a choice of rows, and where that fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.optimize

from robots import catalog
from robots.model import Mechanism, Robot
from robots.status import Status
from tasks import inverse_dynamics, inverse_kinematics, joint_reactions
from tasks.checks.newton_euler_system import joint_reactions_reference
from tasks.dynamics.records import Forces
from tasks.mathematics import systems
from tasks.mechanics.cut_joints import row_count
from tasks.mechanics.families import structure_of
from tasks.mechanics.kinematics import HOME, JointState, Pose, SpatialMotion, mount_pose, poses
from tasks.mechanics.limb import at_angles, solve
from tasks.mechanics.limb_motion import Mounted, Solved
from tests.catalogue import PARALLEL
from tests.tasks.regions import states

STILL = SpatialMotion(*np.zeros((4, 3)))
QUICK = ("five_bar",)
RUBBING = {"law": "coulomb_viscous", "coulomb": 0.05, "load": "reaction", "joints": "all"}


def general(name: str) -> Robot:
    """A robot of the catalogue whose limbs keep every row."""
    family = catalog.family(name)

    def assembled(p: Mapping[str, Any]) -> Mechanism:
        mechanism = family.assemble(p)
        return replace(mechanism, limbs=tuple(replace(limb, every_row=True) for limb in mechanism.limbs))

    return Robot.of(replace(family, name=f"{name}_general", assemble=assembled), {})


def mounted(robot: Robot, index: int = 0) -> Mounted:
    """A limb of a robot with one representative limb."""
    mechanism, instance = robot.mechanism, robot.mechanism.instances[index]
    choice, frames = structure_of(robot.family).choices[0], (instance.base, instance.platform)
    return Mounted(mechanism.limbs[0], choice, *map(mount_pose, frames), mechanism.platform.mobility)


@pytest.mark.parametrize("name", PARALLEL)
def test_agrees_with_the_choice_of_rows(name: str) -> None:
    case = states(catalog.build(name), 100)._asdict()
    forces, joints = ([f(robot, **case, **full) for robot in (catalog.build(name), general(name))] for f, full in CALLS)
    for chosen, every in (forces, joints):
        assert (every.status == Status.OK).all()
        for field in set(chosen._fields) & {"force", "jacobian", "position", "velocity", "acceleration"}:
            expected = getattr(chosen, field)
            scale = np.nanmax(np.abs(expected))
            np.testing.assert_allclose(getattr(every, field), expected, rtol=0, atol=1e-12 * scale)


CALLS: tuple[tuple[Any, dict[str, Any]], ...] = ((inverse_dynamics, {}), (inverse_kinematics, {}))


def test_every_row_of_every_tip_is_kept() -> None:
    robot = general("irsbot2")
    choice, tips = structure_of(robot.family).choices[0], robot.mechanism.limbs[0].tips
    assert choice.tip_rows == tuple(tuple(range(row_count(tip.kind))) for tip in tips)
    assert sum(map(len, choice.tip_rows)) > len(choice.independent)


# --- IRSBot-2 where its choice of rows is singular ------------------------------------------------------------------

ASIDE = 0.45


def _solved(height: float) -> Solved:
    robot = general("irsbot2")
    home = mount_pose(robot.mechanism.platform.home)
    return solve(mounted(robot), home, Pose(np.eye(3), home.position + np.array([ASIDE, 0.0, height])), STILL)


def _chosen(height: float) -> np.ndarray:
    """L_t with the rows that would be chosen."""
    chosen = structure_of(catalog.family("irsbot2")).choices[0].tip_rows
    count = row_count(catalog.build("irsbot2").mechanism.limbs[0].tips[0].kind)
    return np.array(_solved(height).tips.compound[[*chosen[0], *(count + row for row in chosen[1])]], dtype=float)


def _height() -> float:
    return float(scipy.optimize.brentq(lambda h: np.linalg.det(_chosen(h)), 0.1, 0.15, xtol=1e-15))


def test_a_choice_of_rows_is_singular_where_the_limb_is_not() -> None:
    height = _height()
    assert np.linalg.cond(_chosen(height)) > 1e12
    assert np.linalg.cond(np.array(_solved(height).tips.compound, dtype=float)) < 20.0


@pytest.mark.parametrize("beyond", [-1e-8, 0.0, 1e-10, 1e-6])
def test_where_kept_rows_are_singular_the_limb_is_said_to_be_neither_out_of_reach_nor_on_another_branch(
    beyond: float,
) -> None:
    robots = catalog.build("irsbot2"), general("irsbot2")
    position = np.array(robots[0].mechanism.platform.home.position) + np.array([ASIDE, 0.0, _height() + beyond])
    chosen, every = (inverse_dynamics(robot, position=position).status for robot in robots)
    assert (chosen, every) == (Status.SINGULAR, Status.OK)


@pytest.mark.parametrize("beyond", [0.0, 0.01, 0.1])
def test_works_where_the_choice_of_rows_fails_and_agrees_with_pinocchio(beyond: float) -> None:
    pytest.importorskip("pinocchio", reason="no second engine to compare with: Pinocchio (package pin) is missing")
    from tests.reference.mechanism_pinocchio import ClosedMechanism

    robot, random = general("irsbot2"), np.random.default_rng(3)
    free = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 1.0])
    case = {
        "position": np.array(robot.mechanism.platform.home.position) + np.array([ASIDE, 0.0, _height() + beyond]),
        "rotation": np.eye(3),
        "twist": random.normal(size=6) * free,
        "acceleration": 10.0 * random.normal(size=6) * free,
    }
    # a choice of rows has changed its sign beyond, which is no reason to give the pose up
    chosen = inverse_dynamics(catalog.build("irsbot2"), **case)
    assert chosen.status == (Status.OK if beyond else Status.SINGULAR)
    found, joints = inverse_dynamics(robot, **case), inverse_kinematics(robot, **case)
    theirs = ClosedMechanism(robot.mechanism).solve(*case.values())
    assert found.status == Status.OK
    np.testing.assert_allclose(chosen.force, found.force if beyond else np.nan, rtol=1e-9)
    count = theirs.q.shape[1]
    for got, expected in (
        (joints.position[:, :count], theirs.q),
        (joints.velocity[:, :count], theirs.qd),
        (joints.acceleration[:, :count], theirs.qdd),
        (found.force, theirs.force),
    ):
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


# --- status, misuse, algebra ----------------------------------------------------------------------------------------


def test_a_stretched_limb_is_singular() -> None:
    robot = general("five_bar")
    part, home = mounted(robot), mount_pose(robot.mechanism.platform.home)
    links, (tip,) = part.limb.links, part.limb.tips
    at = poses(links, [HOME, HOME])
    arm, rod = at[1].position - at[0].position, at[1].at(tip.frame_a.position) - at[1].position
    axis = np.array(links[1].axis)
    bend = np.arctan2(np.cross(rod, arm) @ axis, rod @ arm)
    for angle, status in ((bend, Status.SINGULAR), (bend + 0.1, Status.OK), (bend - 0.1, Status.OK)):
        held = [HOME, JointState(np.cos(angle), np.sin(angle))]
        end = part.base.at(poses(links, held)[1].at(tip.frame_a.position))
        pose = Pose(np.eye(3), end - (part.platform.position + part.platform.rotation @ tip.frame_b.position))
        assert at_angles(part, np.array([0.0, angle]), home, pose, STILL).status == status


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PARALLEL]
)
def test_reactions_are_those_of_the_choice_of_rows(name: str) -> None:
    """The least norm of all joint wrenches does not ask which rows kinematics has kept."""
    case, friction = states(catalog.build(name), 4)._asdict(), RUBBING
    expected, found = (joint_reactions(robot, **case).wrench for robot in (catalog.build(name), general(name)))
    assert np.nanmax(np.abs(found - expected)) < 1e-9 * np.nanmax(np.abs(expected))
    forces = [
        inverse_dynamics(robot, forces=Forces(friction=friction), **case).force
        for robot in (catalog.build(name), general(name))
    ]
    assert np.abs(forces[1] - forces[0]).max() < 1e-9 * np.abs(forces[0]).max()


@pytest.mark.parametrize("beyond", [0.0, 1e-6])
def test_reactions_go_on_where_a_choice_of_rows_is_singular(beyond: float) -> None:
    robot, home = general("irsbot2"), catalog.build("irsbot2").mechanism.platform.home.position
    position = np.array(home) + np.array([ASIDE, 0.0, _height() + beyond])
    found = joint_reactions(robot, position=position).wrench
    expected = joint_reactions_reference(robot, position=position, method="least_norm").wrench
    assert np.nanmax(np.abs(found - expected)) < 1e-9 * np.nanmax(np.abs(expected))


@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (5, 3), (8, 5), (6, 6)])
def test_pseudo_inverse_and_volume(shape: tuple[int, int]) -> None:
    a = np.random.default_rng(0).normal(size=shape)
    np.testing.assert_allclose(systems.pseudo_inverse(a), np.linalg.pinv(a), rtol=0, atol=1e-12)
    assert systems.volume(a) == pytest.approx(np.sqrt(np.linalg.det(a.T @ a)), rel=1e-12)


def test_columns_that_depend_on_each_other_span_no_volume() -> None:
    a = np.random.default_rng(0).normal(size=(6, 3))
    assert systems.volume(np.column_stack([a, a @ np.ones(3)])) < 1e-12
