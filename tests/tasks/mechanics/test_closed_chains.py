"""Closed chains: the three-loop leg against redundant coordinates, its range, its order, and loops of other kinds."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import scipy.optimize

from robots import catalog
from robots.geometry import about, along, diagonal, point, shifted
from robots.model import Closure, Family, Frame, Inertia, Link, Mechanism, Robot
from robots.status import Status
from robots.types import BASE, Vector
from tasks import forward_dynamics, inverse_dynamics, inverse_kinematics, joint_reactions
from tasks.checks.newton_euler_system import joint_reactions_reference, unique
from tasks.dynamics.body_motions import inertial_wrench
from tasks.dynamics.inverse import body_motion
from tasks.dynamics.records import Forces
from tasks.mechanics.families import structure_of
from tests.reference import leg_coordinates
from tests.tasks.bits import bits

LEG = catalog.build("three_loop_leg")
GRAVITY = (0.0, -9.8, 0.0)
TIMES = np.linspace(0.0, 10.0, 41)
MOTIONS = {
    "slow": (0.1 * TIMES, np.full_like(TIMES, 0.1), np.zeros_like(TIMES)),
    "fast": (
        0.4 + 0.5 * np.sin(1.5 * np.pi * TIMES),
        0.75 * np.pi * np.cos(1.5 * np.pi * TIMES),
        -1.125 * np.pi**2 * np.sin(1.5 * np.pi * TIMES),
    ),
}
LOW, HIGH = -2.540336322, 1.579162132
"""Ends of the range that can be assembled, found by bisection [rad]."""


@pytest.mark.parametrize("name", MOTIONS)
def test_the_leg_is_that_of_redundant_coordinates(name: str) -> None:
    moving = dict(zip(("q", "qd", "qdd"), (part[:, None] for part in MOTIONS[name]), strict=True))
    expected = [leg_coordinates.leg(*state) for state in zip(*MOTIONS[name], strict=True)]
    angles = inverse_kinematics(LEG, **moving).position[:, 0]
    wrapped = np.angle(np.exp(1j * (angles - [each.angles for each in expected])))
    np.testing.assert_allclose(wrapped, 0.0, atol=1e-12)
    torque = np.array([each.torque for each in expected])
    np.testing.assert_allclose(inverse_dynamics(LEG, **moving, gravity=GRAVITY).force[:, 0], torque, rtol=0, atol=1e-9)
    forces = joint_reactions(LEG, **moving, gravity=GRAVITY).wrench[:, 0, :, 3:5]
    np.testing.assert_allclose(forces, [each.forces for each in expected], rtol=0, atol=1e-9)
    assert np.abs(torque).max() > 1.0


def test_redundant_coordinates_tell_where_the_leg_does_not_close() -> None:
    with pytest.raises(ValueError, match=r"the leg does not close at 1\.\d+ rad"):
        leg_coordinates.leg(1.9, 0.0, 0.0)


def test_a_closure_pulls_both_its_bodies_in_opposite_directions() -> None:
    """Eqs. (A29) and (A30) of the source print one sign for both, which balances no body."""
    moving = {"q": [0.3], "qd": [2.0], "qdd": [-5.0]}
    motion, wrenches = body_motion(LEG, **moving), joint_reactions(LEG, **moving, gravity=GRAVITY).wrench[0]
    (limb,) = LEG.mechanism.limbs
    force = {name: wrenches[k, 3:] for k, name in enumerate(limb.joints)}

    def taken(body: str) -> np.ndarray:
        k = [link.body for link in limb.links].index(body)
        return inertial_wrench(limb.links[k].inertia, motion.limbs[0][k], GRAVITY)[3:]

    np.testing.assert_allclose(force["joint_1pp"] + force["joint_I"], taken("link_1pp"), atol=1e-11)
    np.testing.assert_allclose(force["joint_2p"] + force["joint_II"] - force["joint_I"], taken("link_2p"), atol=1e-11)
    assert np.linalg.norm(force["joint_2p"] + force["joint_II"] + force["joint_I"] - taken("link_2p")) > 10.0


def test_closures_hold_over_the_whole_range() -> None:
    angle = np.linspace(LOW + 1e-6, HIGH - 1e-6, 400)
    found = inverse_kinematics(LEG, q=angle[:, None])
    assert (found.status == Status.OK).all()
    motion, (limb,) = body_motion(LEG, q=angle[:, None]), LEG.mechanism.limbs
    for loop in limb.loops:
        a, b = (motion.limbs[0][k].point(f.position) for k, f in ((loop.a, loop.frame_a), (loop.b, loop.frame_b)))
        assert np.abs(a - b).max() <= 1e-12


@pytest.mark.parametrize(("end", "outward"), [(LOW, -1.0), (HIGH, 1.0)])
def test_beyond_the_range_the_leg_cannot_be_assembled(end: float, outward: float) -> None:
    inside, outside = 0.0, outward * 2.9
    for _ in range(40):
        middle = 0.5 * (inside + outside)
        ok = inverse_kinematics(LEG, q=[middle]).status == Status.OK
        inside, outside = (middle, outside) if ok else (inside, middle)
    assert inside == pytest.approx(end, abs=1e-8)
    beyond = inverse_kinematics(LEG, q=end + outward * np.array([[1e-6], [1e-3], [0.1], [0.5]]))
    assert (beyond.status == Status.NOT_REACHABLE).all()
    assert np.isnan(beyond.position).all()


def test_a_full_turn_changes_no_bit_of_forces_and_reactions() -> None:
    for turns in (1, -2):
        turned = np.array([[-1.5], [0.25], [1.0]]) + turns * 2.0 * np.pi
        same = turned - np.rint(turned * (0.5 / np.pi)) * (2.0 * np.pi)
        for call in (inverse_dynamics, joint_reactions):
            far, near = (call(LEG, q=q, qd=[[0.7]], qdd=[[3.0]], gravity=GRAVITY) for q in (turned, same))
            for one, other in zip(far, near, strict=True):
                np.testing.assert_array_equal(bits(one), bits(other))


def test_loops_are_solved_in_the_order_that_determines_them() -> None:
    (choice,) = structure_of(LEG.family).choices
    names = [loop.joint for loop in LEG.mechanism.limbs[0].loops]
    joints = [link.joint for link in LEG.mechanism.limbs[0].links]
    order = [([names[k] for k in cluster.loops], {joints[i] for i in cluster.dependent}) for cluster in choice.clusters]
    assert order == [
        (["joint_I"], {"joint_1p", "joint_2p"}),
        (["joint_II"], {"joint_1", "joint_4"}),
        (["joint_III"], {"joint_2", "joint_3"}),
    ]


def test_forces_are_unique_in_the_plane_alone() -> None:
    np.testing.assert_array_equal(unique(LEG), np.broadcast_to([0, 0, 1, 1, 1, 0], (1, 10, 6)).astype(bool))
    for name in ("planar_3r", "rover_rocker", "five_axis_tree"):
        assert unique(catalog.build(name)).all()


# --- other loops ----------------------------------------------------------------------------------------------------

Z: Vector = (0.0, 0.0, 1.0)
X: Vector = (1.0, 0.0, 0.0)


def body(x: float = 0.1, mass: float = 1.0) -> Inertia:
    return Inertia(mass, (x, 0.02, -0.01), diagonal(0.004, 0.006, 0.008))


def link(name: str, parent: int, at: Vector = (0.0, 0.0, 0.0), frame: Frame | None = None) -> Link:
    return Link(f"j{name}", f"b{name}", parent, "revolute", Z, frame or shifted(at), body())


def robot_of(name: str, links: tuple[Link, ...], loops: tuple[Closure, ...]) -> Robot:
    """A chain without parameters that is driven in its first joint."""
    return Robot.of(Family(name, "made up", "made up", (), lambda p: Mechanism.chain(name, links, ("j1",), loops)), {})


def coupled() -> Robot:
    """A planar six-bar linkage of Stephenson's third kind, driven so that no loop closes without the other."""
    links = (
        link("1", BASE, (0.0, 0.35, 0.0)),
        link("2", 0, (0.0, 0.15, 0.0)),
        link("3", BASE, (0.4, 0.0, 0.0)),
        link("4", 2, (0.05, 0.25, 0.0)),
        link("5", BASE, (0.7, 0.05, 0.0)),
    )
    return robot_of(
        "stephenson",
        links,
        (
            Closure("k1", "revolute", 1, shifted((0.3, -0.15, 0.0)), 3, shifted((-0.15, 0.10, 0.0))),
            Closure("k2", "revolute", 3, shifted((0.1, 0.1, 0.0)), 4, shifted((-0.15, 0.30, 0.0))),
        ),
    )


def slider() -> Robot:
    """A crank whose pin carries a block that slides along a rocker; the sliding joint is the cut one."""
    pivot, pin = (-0.3, 0.0, 0.0), (0.1, 0.12, 0.0)
    along = np.array([0.4, 0.12, 0.0]) / np.hypot(0.4, 0.12)
    turn = np.stack([(0.0, 0.0, 1.0), np.cross(along, (0.0, 0.0, 1.0)), along], axis=1)
    frame = Frame(tuple(map(tuple, turn)), (0.0, 0.0, 0.0))  # type: ignore[arg-type]
    links = (link("1", BASE, (0.0, 0.0, 0.0)), link("2", 0, pin), link("3", BASE, pivot))
    return robot_of("slider", links, (Closure("slide", "prismatic", 2, frame, 1, frame),))


def rusr() -> Robot:
    """A spatial four-bar: cranks about z and x, the rod between them on a universal joint and a spherical one."""
    cross = Inertia(0.0, (0.0, 0.0, 0.0), diagonal(0.0, 0.0, 0.0))
    links = (
        link("1", BASE, (0.0, 0.0, 0.0)),
        Link("u1", "cross", 0, "revolute", X, shifted((0.1, 0.0, 0.0)), cross),
        Link("u2", "rod", 1, "revolute", (0.0, 1.0, 0.0), Frame(), body(0.2)),
        Link("j4", "rocker", BASE, "revolute", X, shifted((0.5, 0.2, 0.0)), body(0.0)),
    )
    ball = Closure("ball", "spherical", 2, shifted((0.4, 0.1, 0.25)), 3, shifted((0.0, -0.1, 0.25)))
    return robot_of("rusr", links, (ball,))


def bennett() -> Robot:
    """Bennett's linkage: four revolute joints in space, sides a and b, twists with a sin(beta) = b sin(alpha).

    Three joints of its tree and five conditions, of which two are independent.
    """
    alpha, a, b = np.deg2rad(40.0), 0.4, 0.5
    sides = ((alpha, a), (np.arcsin(b * np.sin(alpha) / a), b)) * 2

    def turned(angle: float) -> np.ndarray:
        pose = np.eye(4)
        pose[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        return pose

    def side(twist: float, length: float) -> np.ndarray:
        pose = np.eye(4)
        pose[1:3, 1:3] = [[np.cos(twist), -np.sin(twist)], [np.sin(twist), np.cos(twist)]]
        pose[0, 3] = length
        return pose

    def poses(angles: np.ndarray) -> list[np.ndarray]:
        """Axis frames of joints 2, 3, 4, and of joint 1 once more."""
        steps = [turned(angle) @ side(*each) for angle, each in zip((1.2, *angles), sides, strict=True)]
        return [functools.reduce(np.matmul, steps[: k + 1]) for k in range(4)]

    solved = scipy.optimize.least_squares(
        lambda angles: (poses(angles)[3] - np.eye(4)).ravel(), (2.0, -1.2, -2.0), xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    assert np.abs(solved.fun).max() < 1e-12
    _, third, fourth, _ = poses(solved.x)

    def frame(pose: np.ndarray) -> Frame:
        return Frame(tuple(map(tuple, pose[:3, :3])), tuple(pose[:3, 3]))  # type: ignore[arg-type]

    links = (
        link("1", BASE, frame=frame(turned(1.2))),
        link("2", 0, frame=frame(side(*sides[0]) @ turned(solved.x[0]))),
        link("4", BASE, frame=frame(fourth)),
    )
    joint = Closure("j3", "revolute", 1, frame(side(*sides[1])), 2, frame(np.linalg.inv(fourth) @ third))
    return robot_of("bennett", links, (joint,))


OTHERS = {"stephenson": coupled, "slider": slider, "rusr": rusr, "bennett": bennett}
CLUSTERS = {"stephenson": ((0, 1), 4), "slider": ((0,), 2), "rusr": ((0,), 3), "bennett": ((0,), 2)}
"""Loops of the one cluster, and how many joints follow from it."""


@pytest.mark.parametrize("name", OTHERS)
def test_other_loops_agree_with_the_newton_euler_system(name: str) -> None:
    robot, rng = OTHERS[name](), np.random.default_rng(4)
    (choice,) = structure_of(robot.family).choices
    assert [(cluster.loops, len(cluster.dependent)) for cluster in choice.clusters] == [CLUSTERS[name]]
    states = {
        "q": rng.uniform(-0.3, 0.3, (16, 1)),
        "qd": rng.normal(size=(16, 1)),
        "qdd": 5.0 * rng.normal(size=(16, 1)),
    }
    gravity = (1.0, -9.0, 3.0)
    done = inverse_dynamics(robot, gravity=gravity, **states)
    assert (done.status == Status.OK).all()
    expected = joint_reactions_reference(robot, **states, gravity=gravity, method="least_norm")
    scale = np.abs(expected.wrench).max()
    np.testing.assert_allclose(done.force, expected.actuator_force, rtol=0, atol=1e-10 * scale)
    found = joint_reactions(robot, **states, gravity=gravity).wrench
    np.testing.assert_allclose(found, expected.wrench, rtol=0, atol=1e-9 * scale)
    again = forward_dynamics(
        robot, q=states["q"], qd=states["qd"], gravity=gravity, forces=Forces(actuator=done.force)
    ).acceleration
    np.testing.assert_allclose(again, states["qdd"], rtol=0, atol=1e-10 * np.abs(states["qdd"]).max())
    assert unique(robot).all() == (name == "rusr")


@pytest.mark.parametrize("name", OTHERS)
def test_other_loops_stay_closed(name: str) -> None:
    robot = OTHERS[name]()
    (limb,) = robot.mechanism.limbs
    motion = body_motion(robot, q=np.linspace(-0.4, 0.4, 21)[:, None])
    assert (motion.joints.status == Status.OK).all()
    for loop in limb.loops:
        a, b = (motion.limbs[0][k] for k in (loop.a, loop.b))
        gap = a.point(loop.frame_a.position) - b.point(loop.frame_b.position)
        if loop.kind == "prismatic":  # only across its axis
            along = a.turned(tuple(np.array(loop.frame_a.rotation)[:, 2]))
            gap = np.cross(along, gap)
        assert np.abs(gap).max() < 1e-12
    moved = motion.joints.position[:, 0, : len(limb.links)]
    assert (np.ptp(moved, axis=0) > 0.05).all()  # of all joints


def test_a_spherical_linkage_has_no_length() -> None:
    """Four axes through one point, where all frames are: angles by spherical trigonometry."""
    a = 0.5 * np.pi
    turn = along((np.sin(a), 0.0, np.cos(a)))
    links = (
        Link("crank", "crank", BASE, "revolute", (0.0, 0.0, 1.0), Frame(), point(1.0)),
        Link("coupler", "coupler", 0, "revolute", (0.0, 0.0, 1.0), Frame(turn), point(1.0)),
        Link("rocker", "rocker", BASE, "revolute", (0.0, 0.0, 1.0), Frame(along((0.0, 1.0, 0.0))), point(1.0)),
    )
    # the axis of the last joint, on coupler and rocker at once
    at = np.array(turn, dtype=float)
    across = at @ np.array([0.0, np.sin(0.8), np.cos(0.8)])
    on_coupler, outer = at.T @ across, np.array(along((0.0, 1.0, 0.0)), dtype=float)
    frames = (Frame(along(tuple(on_coupler))), Frame(along(tuple(outer.T @ across))))
    pin = Closure("pin", "revolute", 1, frames[0], 2, frames[1])
    mechanism = Mechanism.chain("spherical", links, ("crank",), (pin,))
    robot = Robot(Family("spherical", "linkage", "test", (), lambda p: mechanism), {})
    q = np.linspace(-0.3, 0.3, 7)[:, None]
    solved = inverse_kinematics(robot, q=q)
    np.testing.assert_array_equal(solved.status, Status.OK)
    for crank, (_, coupler, rocker) in zip(q[:, 0], solved.position[:, 0, :3], strict=True):
        turns = [np.array(about("z", np.cos(x), np.sin(x)), dtype=float) for x in (crank, coupler, rocker)]
        one, two = turns[0] @ at @ turns[1] @ on_coupler, outer @ turns[2] @ outer.T @ across
        np.testing.assert_allclose(one, two, atol=1e-12)
