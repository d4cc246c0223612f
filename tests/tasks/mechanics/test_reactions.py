"""Reactions of all joints: balance of every body, the Newton-Euler system of the whole robot, and what drives do."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from robots import catalog
from robots.model import PLATFORM, Inertia, Robot
from robots.status import Status
from robots.types import BASE, TWIST
from tasks import inverse_dynamics, joint_reactions
from tasks.checks.newton_euler_system import joint_reactions_reference, unique
from tasks.dynamics.body_motions import BodyMotions, inertial_wrench
from tasks.dynamics.inverse import RobotMotion, body_motion
from tasks.dynamics.records import Forces
from tasks.kernels import kernel
from tasks.kernels import kernel as kernels
from tasks.mechanics import solving
from tasks.mechanics.platform_motion import held_directions
from tasks.stages import reactions as reaction_programs
from tests.arguments import in_records
from tests.catalogue import PARALLEL
from tests.tasks.bits import bits
from tests.tasks.regions import states

GRAVITY = (0.5, -0.3, -9.8)
BALANCE = 1e-9
"""Error of any balance, relative to the largest reaction of the sample."""


@pytest.fixture(params=PARALLEL)
def robot(request: pytest.FixtureRequest) -> Robot:
    return catalog.build(request.param)


def case(robot: Robot, count: int, seed: int = 3) -> dict[str, Any]:
    """Random motions in the region of a robot under a load."""
    load = 20.0 * np.random.default_rng(seed).normal(size=(count, 6))
    if robot.name == "five_bar":
        load[:, 1] = 0.0  # its point of a platform can turn about the pins: no joint holds that moment
    return {**states(robot, count, seed)._asdict(), "gravity": GRAVITY, "load": load}


def moved(case: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in case.items() if name not in ("gravity", "load")}


# --- balance ----------------------------------------------------------------------------------------------------------


class Piece(NamedTuple):
    """A body with its motion, and what has been found to act on it: (moment about its origin, force), (samples, 6)."""

    inertia: Inertia
    moving: BodyMotions
    acting: np.ndarray

    def add(self, point: np.ndarray, wrench: np.ndarray, sign: float) -> None:
        """A wrench (moment, force) that acts at a point."""
        force = sign * wrench[:, 3:]
        self.acting[:, :3] += sign * wrench[:, :3] + np.cross(point - self.moving.position, force)
        self.acting[:, 3:] += force


def pieces(robot: Robot, motion: RobotMotion, load: np.ndarray) -> dict[Any, Piece]:
    """All bodies; nothing but the load acts on them."""
    mechanism = robot.mechanism
    found = {PLATFORM: Piece(mechanism.platform.inertia, motion.platform, load.copy())}
    for k, instance in enumerate(mechanism.instances):
        for i, link in enumerate(mechanism.limbs[instance.limb].links):
            found[k, i] = Piece(link.inertia, motion.limbs[k][i], np.zeros_like(load))
    return found


def add_reactions(robot: Robot, motion: RobotMotion, wrenches: np.ndarray, bodies: dict[Any, Piece]) -> None:
    """Each joint's wrench on its child, and back on its parent, at the joint."""
    for k, instance in enumerate(robot.mechanism.instances):
        limb, links = robot.mechanism.limbs[instance.limb], motion.limbs[k]
        joints: list[tuple[int, int, np.ndarray]] = [
            (link.parent, i, links[i].position) for i, link in enumerate(limb.links)
        ]
        joints += [(cut.a, cut.b, links[cut.a].point(cut.frame_a.position)) for cut in (*limb.tips, *limb.loops)]
        for j, (parent, child, point) in enumerate(joints):
            for body, sign in ((child, 1.0), (parent, -1.0)):
                if body != BASE:
                    bodies[PLATFORM if body == PLATFORM else (k, body)].add(point, wrenches[:, k, j], sign)


def test_every_body_is_in_balance(robot: Robot) -> None:
    given = case(robot, 200)
    wrenches, status = joint_reactions(robot, **in_records(**given))
    assert (status == Status.OK).all()
    motion = body_motion(robot, **moved(given))
    bodies = pieces(robot, motion, given["load"])
    add_reactions(robot, motion, wrenches, bodies)
    size = np.nanmax(np.abs(wrenches), axis=(1, 2, 3))
    for name, body in bodies.items():
        wanted = inertial_wrench(body.inertia, body.moving, GRAVITY)
        error = np.abs(body.acting - wanted).max(axis=1) / size
        assert error.max() < BALANCE, name


def test_balance_sees_a_wrong_reaction() -> None:
    robot = catalog.build("delta_3rr2rrr")
    given = case(robot, 3)
    wrenches = joint_reactions(robot, **in_records(**given)).wrench
    wrenches[:, 1, 6, 4] *= 1.0 + 1e-6  # a force in the cut joint of a loop
    motion = body_motion(robot, **moved(given))
    bodies = pieces(robot, motion, given["load"])
    add_reactions(robot, motion, wrenches, bodies)
    off = [
        name
        for name, body in bodies.items()
        if np.abs(body.acting - inertial_wrench(body.inertia, body.moving, GRAVITY)).max() > 1e-9
    ]
    assert off == [(1, 3), (1, 4)]  # the bodies on its two sides


# --- the drives -------------------------------------------------------------------------------------------------------


def test_along_the_axis_of_a_joint_there_is_its_drive_or_nothing(robot: Robot) -> None:
    """The actuator's force without what its own inertia takes; passive joints carry nothing along their axes."""
    given = case(robot, 50)
    wrenches = joint_reactions(robot, **in_records(**given)).wrench
    motion, size = body_motion(robot, **moved(given)), np.nanmax(np.abs(wrenches))
    forces = iter(inverse_dynamics(robot, **in_records(**given)).force.T)
    for k, instance in enumerate(robot.mechanism.instances):
        limb = robot.mechanism.limbs[instance.limb]
        for i, link in enumerate(limb.links):
            part = wrenches[:, k, i, :3] if link.kind == "revolute" else wrenches[:, k, i, 3:]
            along = (part * motion.limbs[k][i].turned(link.axis)).sum(axis=1)
            drive = next(forces) if link.joint in limb.actuated else 0.0
            expected = drive - link.armature * motion.joints.acceleration[:, k, i]
            np.testing.assert_allclose(along, expected, rtol=0, atol=BALANCE * size)
    assert next(forces, None) is None


FREE = {"revolute": (2,), "universal": (), "spherical": (0, 1, 2), "prismatic": (), "cylindrical": (2,)}
"""Axes of frame a about which a cut joint passes no moment; a universal joint's lie in both frames."""


def test_cut_joints_pass_no_moment_about_their_axes(robot: Robot) -> None:
    given = case(robot, 20)
    wrenches = joint_reactions(robot, **in_records(**given)).wrench
    motion, size = body_motion(robot, **moved(given)), np.nanmax(np.abs(wrenches))
    for k, instance in enumerate(robot.mechanism.instances):
        limb = robot.mechanism.limbs[instance.limb]
        for j, cut in enumerate((*limb.tips, *limb.loops), start=len(limb.links)):
            axes = motion.limbs[k][cut.a].rotation @ np.array(cut.frame_a.rotation, dtype=float)
            free = [axes[:, :, column] for column in FREE[cut.kind]]
            if cut.kind == "universal":
                other = motion.platform if cut.b == PLATFORM else motion.limbs[k][cut.b]
                mount = np.array(instance.platform.rotation if cut.b == PLATFORM else np.eye(3), dtype=float)
                free = [axes[:, :, 0], (other.rotation @ mount @ np.array(cut.frame_b.rotation, dtype=float))[:, :, 1]]
            for axis in free:
                assert np.abs((wrenches[:, k, j, :3] * axis).sum(axis=1)).max() < BALANCE * size


# --- where statics leaves a choice ------------------------------------------------------------------------------------


def test_reactions_are_those_of_the_newton_euler_system(robot: Robot) -> None:
    """Compare all components; both take the least norm if statics leaves a choice."""
    given = case(robot, 10)
    found = joint_reactions(robot, **in_records(**given)).wrench
    expected = joint_reactions_reference(robot, **given, method="least_norm").wrench
    np.testing.assert_allclose(found, expected, rtol=0, atol=BALANCE * np.nanmax(np.abs(expected)))


def test_inner_forces_are_seen_where_statics_leaves_a_choice() -> None:
    """What is unique of a preloaded Delta is what it was; what is not has grown."""
    robot = catalog.build("delta_4rr2rrr")
    given = case(robot, 4)
    even, uneven = (
        joint_reactions(robot, **in_records(forces=Forces(weights=w), **given)).wrench
        for w in (None, np.array([1.0, 3.0, 1.0, 1.0]))
    )
    np.testing.assert_allclose(
        even,
        joint_reactions(robot, **in_records(forces=Forces(weights=np.full(4, 2.0)), **given)).wrench,
        rtol=1e-10,
        atol=1e-10,
    )
    changed = np.abs(even - uneven).max(axis=0) > 1e-6
    assert changed.any()
    assert not (changed & unique(robot)).any()


def test_a_robot_without_spare_actuators_refuses_weights() -> None:
    robot = catalog.build("five_bar")
    with pytest.raises(ValueError, match="weights: five_bar has no more actuators than freedoms; leave them out"):
        joint_reactions(robot, position=robot.mechanism.platform.home.position, forces=Forces(weights=[1.0, 2.0]))


# --- loads ------------------------------------------------------------------------------------------------------------


def test_reactions_are_linear_in_the_load(robot: Robot) -> None:
    given = case(robot, 5)
    load = given.pop("load")
    none, once, twice = (
        joint_reactions(robot, **in_records(forces=Forces(load=factor * load), **given)).wrench
        for factor in (0.0, 1.0, 2.0)
    )
    size = np.nanmax(np.abs(twice))
    np.testing.assert_allclose(twice - once, once - none, rtol=0, atol=1e-11 * size)
    assert np.nanmax(np.abs(once - none)) > 1e-3 * size
    np.testing.assert_array_equal(joint_reactions(robot, **in_records(**given)).wrench, none)


def test_at_rest_the_base_carries_the_weight_and_the_load(robot: Robot) -> None:
    position, load = np.array(robot.mechanism.platform.home.position), np.array([0.0, 0.0, 0.0, 5.0, -3.0, 7.0])
    wrenches = joint_reactions(robot, position=position, gravity=GRAVITY, forces=Forces(load=load)).wrench
    mechanism = robot.mechanism
    limbs = [mechanism.limbs[each.limb] for each in mechanism.instances]
    mass = sum(link.inertia.mass for limb in limbs for link in limb.links) + mechanism.platform.inertia.mass
    from_base = [
        wrenches[k, i, 3:] for k, limb in enumerate(limbs) for i, link in enumerate(limb.links) if link.parent < 0
    ]
    np.testing.assert_allclose(
        np.sum(from_base, axis=0), -mass * np.array(GRAVITY) - load[3:], rtol=0, atol=1e-9 * mass
    )


def test_a_load_that_no_joint_holds_has_a_status() -> None:
    """The platform of a five-bar robot is a point: it can turn about the pins, across the plane."""
    robot = catalog.build("five_bar")
    assert solving.carried(robot.family) == (0, 2, 3)  # of wx, wy, wz, vy
    loads = np.zeros((2, 6))
    loads[:, 5], loads[1, 1] = 3.0, 1e-3
    position = robot.mechanism.platform.home.position
    wrenches, status = joint_reactions(robot, position=position, forces=Forces(load=loads))
    assert status.tolist() == [Status.OK, Status.CONSTRAINT_SINGULAR]
    assert np.isfinite(wrenches[0]).all()
    assert np.isnan(wrenches[1]).all()


@pytest.mark.parametrize(
    ("name", "held_rows"), [("delta_3rr2rrr", (0, 1, 2)), ("gough_stewart", ()), ("irsbot2", (0, 1, 2, 3))]
)
def test_others_hold_all_directions(name: str, held_rows: tuple[int, ...]) -> None:
    assert solving.carried(catalog.family(name)) == held_rows


# --- batches, bad samples, misuse -------------------------------------------------------------------------------------


def test_batch_dims_are_kept_and_bad_samples_are_nan() -> None:
    robot = catalog.build("delta_3r2us")
    position = states(robot, 6).position.reshape(2, 3, 3).copy()
    clean = joint_reactions(robot, position=position).wrench
    position[1, 2] = (0.0, 0.0, -9.0)
    wrenches, status = joint_reactions(robot, position=position)
    assert wrenches.shape == (2, 3, 3, 7, 6)
    assert status.tolist() == [[0, 0, 0], [0, 0, Status.NOT_REACHABLE]]
    assert np.isnan(wrenches[1, 2]).all()
    good = status == Status.OK
    np.testing.assert_array_equal(bits(wrenches[good]), bits(clean[good]))


def test_a_load_may_widen_the_batch() -> None:
    robot = catalog.build("five_bar")
    home, loads = np.array(robot.mechanism.platform.home.position), np.zeros((4, 6))
    loads[:, 5] = np.arange(4.0)
    wide = joint_reactions(robot, position=home, forces=Forces(load=loads)).wrench
    for k in range(4):
        np.testing.assert_array_equal(
            bits(wide[k]), bits(joint_reactions(robot, position=home, forces=Forces(load=loads[k])).wrench)
        )


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"load": np.zeros(3)}, r"load: got an array of shape \(3,\); expected \(\*batch, 6\), not empty"),
        ({"gravity": 9.81}, r"gravity: got an array of shape \(\); expected \(3,\), a vector of the world"),
        (
            {"position": np.zeros((2, 3)), "load": np.zeros((5, 6))},
            r"batch dims do not fit together: position \(2,\), load \(5,\); expected shapes that broadcast",
        ),
    ],
)
def test_misuse_is_told(change: dict[str, Any], text: str) -> None:
    robot = catalog.build("five_bar")
    with pytest.raises(ValueError, match=text):
        joint_reactions(robot, **in_records(**{"position": robot.mechanism.platform.home.position, **change}))


# --- programs ---------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(kernels.llvm is None, reason="llvmlite is missing")
def test_compiled_programs_give_the_bits_of_the_interpreter(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    given = case(robot, 11)
    fast = joint_reactions(robot, **in_records(**given)).wrench
    monkeypatch.setattr(kernels, "llvm", None)
    monkeypatch.setattr(kernel, "_kernels", {})
    np.testing.assert_array_equal(bits(fast), bits(joint_reactions(robot, **in_records(**given)).wrench))


def test_programs_are_traced_once_for_all_parameters(robot: Robot) -> None:
    first = next(iter(robot.values))
    other = Robot.of(robot.family, {first: robot.values[first] * 1.01})
    assert reaction_programs.reaction_program(other.family, 0) is reaction_programs.reaction_program(robot.family, 0)
    assert reaction_programs.balance_program(other.family) is reaction_programs.balance_program(robot.family)
    assert reaction_programs.reaction_program(robot.family, 0).operations().total() < 3000


def test_held_directions_are_those_that_are_not_free() -> None:
    assert held_directions(TWIST) == ()
    assert held_directions(("vx", "vz")) == ("wx", "wy", "wz", "vy")
