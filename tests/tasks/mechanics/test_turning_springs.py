"""Springs at joints that loops turn: the position counts all turns, however a motion is cut."""

from __future__ import annotations

import numpy as np
import pytest

from robots import catalog
from robots.catalog.layout import SLENDER
from robots.loads.declared import JointSpringLoad
from robots.loads.family import with_loads
from robots.model import Robot
from robots.status import Status
from tasks.dynamics import inputs
from tasks.dynamics.inverse import inverse_dynamics, inverse_kinematics, joint_reactions
from tasks.dynamics.simulate import simulate_adaptive
from tasks.features.limits import LimbMargins
from tasks.kernels.kernel import kernel
from tasks.mechanics.limb import OPPOSITE
from tasks.stages.limb import LimbRequest, limb_program
from tasks.stages.metrics.margins import LimbLimits
from tests.reference.six_bar import SixBar

STIFFNESS = 0.5
STILL = (0.0, 0.0, 0.0)
JOINTS = ("crank", "coupler", "link", "rocker", "output", "head", "knee")


@pytest.fixture(scope="module")
def sprung() -> Robot:
    spring = JointSpringLoad("coupler", stiffness=STIFFNESS)
    return with_loads(catalog.build("six_bar"), {"spring": spring})


@pytest.fixture(scope="module")
def reference() -> SixBar:
    return SixBar(dict(catalog.build("six_bar").values), SLENDER)


def torque(robot: Robot, q: np.ndarray) -> np.ndarray:
    found = inverse_dynamics(robot, q=q[:, None], gravity=STILL)
    assert (found.status == Status.OK).all()
    return found.force[:, 0]


def test_joints_are_followed_through_turns_in_both_directions(reference: SixBar) -> None:
    turned = np.linspace(0.0, 6.0 * np.pi, 97)
    found = inverse_kinematics(catalog.build("six_bar"), q=np.concatenate([turned, turned - 6.0 * np.pi])[:, None])
    assert (found.status == Status.OK).all()
    b, c, e, f = (reference.followed(turned) - reference.at_home()).T
    expected = np.stack([turned, b - turned, e - b, c, f, c - b, f - e], axis=1)
    got = found.position[:, 0]
    signs = np.array([1, 1, 1, 1, 1, *np.sign((got[10, 5:]) * expected[10, 5:])])  # cut joints may be told backwards
    np.testing.assert_allclose(got[:97], expected * signs, rtol=0, atol=1e-11)
    np.testing.assert_allclose(got[97:], (expected - expected[-1]) * signs, rtol=0, atol=1e-11)


def test_the_torque_of_a_spring_is_that_of_an_independent_integration(sprung: Robot, reference: SixBar) -> None:
    turned = np.linspace(0.0, 5.0 * np.pi, 201)
    angles = reference.followed(turned)
    stretch = angles[:, 0] - reference.at_home()[0] - turned
    rate = np.array([reference.slopes(reference.home + a, x)[0] for a, x in zip(turned, angles, strict=True)]) - 1.0
    np.testing.assert_allclose(torque(sprung, turned), STIFFNESS * stretch * rate, rtol=0, atol=1e-11)


def test_work_at_the_crank_is_the_energy_of_the_spring(sprung: Robot, reference: SixBar) -> None:
    nodes, weights = np.polynomial.legendre.leggauss(400)
    end = 2.5 * np.pi
    work = float(weights @ torque(sprung, 0.5 * end * (nodes + 1.0)) * 0.5 * end)
    stretch = reference.followed(np.array([0.0, end]))[-1, 0] - reference.at_home()[0] - end
    assert work == pytest.approx(0.5 * STIFFNESS * stretch**2, rel=1e-9)


def test_a_swing_against_the_spring_takes_the_time_that_energy_says(sprung: Robot, reference: SixBar) -> None:
    turned, speed = np.linspace(0.0, 2.5 * np.pi, 11), 120.0
    times = reference.swing(turned, STIFFNESS, speed)
    motion = simulate_adaptive(
        sprung, force=np.zeros(1), times=times, q=[0.0], qd=[speed], gravity=STILL, rtol=1e-12, atol=1e-12
    )
    assert motion.status == Status.OK
    np.testing.assert_allclose(motion.q[:, 0], turned, rtol=0, atol=1e-8)
    turned = motion.q[:, 0]
    angles = reference.followed(turned)
    stretch = angles[:, 0] - reference.at_home()[0] - turned
    inertia = np.array([reference.inertia(reference.home + a, x) for a, x in zip(turned, angles, strict=True)])
    energy = 0.5 * inertia * motion.qd[:, 0] ** 2 + 0.5 * STIFFNESS * stretch**2
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)


def test_a_sample_alone_has_the_bits_that_it_has_in_a_motion(sprung: Robot) -> None:
    q = np.linspace(-9.0, 11.0, 37)
    whole, parts = torque(sprung, q), np.concatenate([torque(sprung, q[k : k + 1]) for k in range(len(q))])
    np.testing.assert_array_equal(whole, parts)
    np.testing.assert_array_equal(whole[::-1], torque(sprung, q[::-1]))


def test_reactions_feel_the_same_turns(sprung: Robot) -> None:
    q = np.array([[0.4], [0.4 + 2.0 * np.pi]])
    with_spring, without = (
        joint_reactions(robot, q=q, gravity=STILL).wrench[:, 0, JOINTS.index("coupler"), :3]
        for robot in (sprung, catalog.build("six_bar"))
    )
    position = inverse_kinematics(sprung, q=q).position[:, 0, JOINTS.index("coupler")]
    assert position[1] - position[0] == pytest.approx(-2.0 * np.pi)
    moments = np.linalg.norm(with_spring - without, axis=1)
    assert moments[1] > 2.0 * moments[0] > 0.0


def test_turns_that_no_straight_way_tells_have_a_status() -> None:
    plain = catalog.build("irb6")
    robot = with_loads(plain, {"spring": JointSpringLoad("coupler_foot", stiffness=1.0)})
    q = np.random.default_rng(2).uniform(-np.pi, np.pi, (300, 5))
    solved, sprung = (inverse_dynamics(each, q=q, gravity=STILL) for each in (plain, robot))
    ok = sprung.status == Status.OK
    assert set(sprung.status[(solved.status == Status.OK) & ~ok]) == {Status.TURNS_UNKNOWN}
    assert ok.sum() > 100
    # of a parallelogram the foot turns by the difference of shoulder and crank, in both
    along = np.einsum("naf,na->nf", sprung.jacobian, sprung.force)[ok]
    stretch = q[ok, 1] - q[ok, 2]
    expected = np.zeros_like(along)
    expected[:, 1], expected[:, 2] = stretch, -stretch
    np.testing.assert_allclose(along, expected, rtol=0, atol=1e-9)


def test_a_spring_at_a_platform_has_a_status_where_its_joint_comes_to_half_a_turn() -> None:
    plain = catalog.build("five_bar")
    robot = with_loads(plain, {"spring": JointSpringLoad("*.1", stiffness=1.0)})
    random, home = np.random.default_rng(3), plain.mechanism.platform.home.position
    position = np.array(home) + random.uniform(-1.0, 1.0, (4000, 3)) * [1.0, 0.0, 1.0]
    joints = inverse_kinematics(plain, position=position)
    found = inverse_dynamics(robot, position=position, gravity=STILL)
    springs = [j for j, joint in enumerate(plain.mechanism.limbs[0].joints) if joint == "1"]
    near = (np.abs(joints.position[:, :, springs]) > np.arccos(OPPOSITE)).any(axis=(1, 2))
    solved = joints.status == Status.OK
    assert 0 < near[solved].sum() < solved.sum()
    assert set(found.status[solved & near]) == {Status.TURNS_UNKNOWN}
    assert Status.TURNS_UNKNOWN not in found.status[~near]


def test_a_limit_sees_all_turns_of_a_joint() -> None:
    robot = catalog.build("six_bar")
    limits = LimbLimits(positions=(JOINTS.index("coupler"),))
    q = 1.0 + 2.0 * np.pi * np.array([[0.0], [-1.0], [1.0]])
    _, motion = inputs.moving_input(robot, {"q": q, "qd": 0.0 * q, "qdd": 0.0 * q})
    given = {"parameters": inputs.parameters(robot), "gravity": inputs.gravity_input(STILL), "mount": np.zeros((1, 0))}
    given |= {"motion": motion, "limits": np.array([[-4.0, 4.0]])}
    margin = kernel(limb_program(robot.family, 0, LimbRequest(parts=(LimbMargins(limits),))))(given, 3)[
        limits.margins[0]
    ]
    assert margin[0, 0, 0] > 0.0 > margin[0, 0, 1:3].max()
