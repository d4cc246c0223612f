"""Mechanisms of the literature against Pinocchio, which knows no blocks or limbs, and against closed forms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robots import catalog
from robots.formats import checks, mobility
from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks import inverse_dynamics, inverse_kinematics, joint_reactions
from tasks.mechanics.families import structure_of

CLOSE = 1e-9
STATES = 3


class Place(NamedTuple):
    """Half widths of a region [m], and the largest turn in it [rad]."""

    shift: float
    turn: float = 0.0


PLATFORMS = {
    "linear_delta": Place(0.08),
    "orthoglide": Place(0.06),
    "tripteron": Place(0.08),
    "planar_3rrr": Place(0.03, 0.1),
    "agile_eye": Place(0.0, 0.3),
    "hexa": Place(0.03, 0.15),
    "hexaglide": Place(0.05, 0.15),
    "schoenflies_4ruu": Place(0.04, 0.2),
}
CHAINS = {
    "coupled_3rps": 0.1,
    "coupled_3prs": 0.1,
    "tricept": 0.15,
    "h4": 0.08,
    "par4": 0.08,
    "palletiser": 0.4,
    "ankle": 0.3,
    "six_bar": 0.6,
    "ur5e": 1.0,
    "panda": 1.0,
    "iiwa14": 1.0,
}
"""Largest position of an independent joint [rad or m]."""


@pytest.fixture(scope="module", autouse=True)
def engine() -> None:
    pytest.importorskip("pinocchio", reason="no second engine to compare with: Pinocchio (package pin) is missing")


def other(name: str) -> Robot:
    """The robot with parameters up to 2 % from their defaults; tensors stay, of which not all are of a body."""
    family, random = catalog.family(name), np.random.default_rng(7)
    near = {
        p.name: p.scalar * (1.0 if "_inertia_" in p.name else random.uniform(0.98, 1.02)) for p in family.parameters
    }
    return Robot.of(family, {p.name: min(max(near[p.name], p.lower), p.upper) for p in family.parameters})


def agree(found: object, expected: np.ndarray) -> None:
    assert np.abs(np.asarray(found) - expected).max() <= CLOSE * np.abs(expected).max()


def test_every_mechanism_has_a_place() -> None:
    assert {*PLATFORMS, *CHAINS, "scara"} == set(catalog.LITERATURE)


@pytest.mark.parametrize("name", catalog.LITERATURE)
def test_the_reference_pose_makes_sense(name: str) -> None:
    for robot in (catalog.build(name), other(name)):
        for find in (checks.check, checks.check_loops, mobility.check_home):
            assert list(find(robot.mechanism)) == []


@pytest.mark.parametrize("name", PLATFORMS)
def test_platforms_agree_with_pinocchio(name: str) -> None:
    from tests.reference.mechanism_pinocchio import ClosedMechanism

    place, random = PLATFORMS[name], np.random.default_rng(3)
    for robot in (catalog.build(name), other(name)):
        platform, n = robot.mechanism.platform, STATES
        free = np.array([freedom in platform.mobility for freedom in TWIST], dtype=float)
        turn = Rotation.from_rotvec(place.turn * random.uniform(-1, 1, (n, 3)) * free[:3]).as_matrix()
        motion = {
            "position": np.array(platform.home.position) + place.shift * random.uniform(-1, 1, (n, 3)) * free[3:],
            "rotation": turn @ np.array(platform.home.rotation),
            "twist": random.normal(size=(n, 6)) * free,
            "acceleration": 10.0 * random.normal(size=(n, 6)) * free,
        }
        found, joints = inverse_dynamics(robot, **motion), inverse_kinematics(robot, **motion)
        assert (found.status == Status.OK).all()
        peer = ClosedMechanism(robot.mechanism)
        for k in range(n):
            theirs = peer.solve(*(values[k] for values in motion.values()))
            assert theirs.freedoms == len(platform.mobility)
            count = theirs.q.shape[1]
            agree(found.force[k], theirs.force)
            for ours, expected in zip(joints[:3], (theirs.q, theirs.qd, theirs.qdd), strict=True):
                agree(ours[k, :, :count], expected)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "h4" else ()) for name in CHAINS]
)
def test_chains_agree_with_pinocchio(name: str) -> None:
    from tests.reference.chain_pinocchio import ClosedChain

    random = np.random.default_rng(5)
    for robot in (catalog.build(name), other(name)):
        freedoms = len(robot.mechanism.freedoms)
        q, qd, qdd = random.uniform(-1, 1, (3, STATES, freedoms)) * np.array([CHAINS[name], 1.0, 10.0])[:, None, None]
        found = inverse_dynamics(robot, q=q, qd=qd, qdd=qdd)
        joints = inverse_kinematics(robot, q=q, qd=qd, qdd=qdd)
        assert (found.status == Status.OK).all()
        peer = ClosedChain(robot.mechanism)
        for k in range(STATES):
            theirs = peer.solve(q[k], qd[k], qdd[k])
            assert theirs.freedoms == freedoms
            agree(found.force[k], theirs.force)
            for ours, expected in zip(joints[:3], (theirs.q, theirs.qd, theirs.qdd), strict=True):
                agree(ours[k, 0, : peer.size], expected)


# --- closed forms -----------------------------------------------------------------------------------------------------


def test_every_rail_of_a_tripteron_moves_one_coordinate() -> None:
    robot = catalog.build("tripteron")
    place = np.random.default_rng(1).uniform(-0.1, 0.1, (20, 3))
    found = inverse_dynamics(robot, position=place)
    np.testing.assert_allclose(found.jacobian, np.broadcast_to(np.eye(3), (20, 3, 3)), atol=1e-12)


def test_orthoglide_and_agile_eye_are_isotropic_at_their_reference_poses() -> None:
    for name in ("orthoglide", "agile_eye"):
        rows = inverse_dynamics(catalog.build(name), position=np.zeros(3)).jacobian
        np.testing.assert_allclose(rows @ rows.T, np.eye(3), atol=1e-12)


def test_nuts_of_a_ball_screw_spline() -> None:
    robot = catalog.build("scara", payload_mass=1.0)
    found = inverse_dynamics(robot, q=np.zeros((2, 4)), qd=[[0.0, 0.0, 0.1, 0.0], [0.0, 0.0, 0.0, 2.0]])
    per_way, belt = 2.0 * np.pi / robot.values["lead"], robot.values["belt"]
    np.testing.assert_allclose(found.velocity[0], [0.0, 0.0, -belt * per_way * 0.1, 0.0], rtol=1e-12)
    np.testing.assert_allclose(found.velocity[1], [0.0, 0.0, 2.0 * belt, 2.0 * belt], rtol=1e-12)
    weight = (robot.values["shaft_mass"] + 1.0) * 9.81
    screw = -weight / (belt * per_way)
    np.testing.assert_allclose(found.force[0], [0.0, 0.0, screw, -screw], rtol=1e-12)  # the spline holds against it


def leg_points(robot: Robot, joints: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points of the platform (..., leg, 3) from its coordinates, and of the base (leg, 3)."""
    x, y, z, yaw, pitch, roll = np.moveaxis(joints[..., :6], -1, 0)
    z = z + robot.values.get("home_height", 0.0)
    turn = Rotation.from_euler("ZYX", np.stack([yaw, pitch, roll], axis=-1)).as_matrix()
    angles = np.array([np.pi, np.pi + 2.0 * np.pi / 3.0, np.pi - 2.0 * np.pi / 3.0])
    corners = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=-1)
    at_platform = robot.values["platform_radius"] * corners
    centre = np.stack([x, y, z], axis=-1)[..., None, :]
    return centre + np.einsum("nij,lj->nli", turn, at_platform), robot.values["base_radius"] * corners


def test_legs_of_a_3rps_stay_in_their_planes_and_have_the_lengths_of_the_closed_form() -> None:
    robot, random = catalog.build("coupled_3rps"), np.random.default_rng(2)
    q = random.uniform(-1, 1, (50, 3)) * (0.08, 0.4, 0.4)
    found = inverse_kinematics(robot, q=q)
    assert (found.status == Status.OK).all()
    names = robot.mechanism.limbs[0].joints
    points, base = leg_points(robot, found.position[:, 0])
    assert np.abs(found.position[:, 0, 0]).max() > 0.005  # it does shift as it tilts
    across = np.cross([0.0, 0.0, 1.0], base)
    assert np.abs(np.einsum("nli,li->nl", points, across)).max() < 1e-12
    lengths = np.linalg.norm(points - base, axis=-1)
    height, gap = robot.values["home_height"], robot.values["base_radius"] - robot.values["platform_radius"]
    slides = [names.index(f"limb{k}.2") for k in (1, 2, 3)]
    np.testing.assert_allclose(found.position[:, 0, slides], lengths - np.hypot(height, gap), atol=1e-12)


def test_legs_of_a_tricept_have_the_lengths_of_the_closed_form() -> None:
    """The passive leg turns about x, then about y, and points from the origin to the middle of the platform."""
    robot, random = catalog.build("tricept"), np.random.default_rng(2)
    q = random.uniform(-1, 1, (50, 3)) * (0.4, 0.4, 0.2)
    found = inverse_kinematics(robot, q=q)
    assert (found.status == Status.OK).all()
    middle = q + np.array([0.0, 0.0, robot.values["home_height"]])
    about_y = np.arcsin(middle[:, 0] / np.linalg.norm(middle, axis=1))
    about_x = np.arctan2(-middle[:, 1], middle[:, 2])
    turn = Rotation.from_euler("XY", np.stack([about_x, about_y], axis=-1)).as_matrix()
    angles = np.array([np.pi, np.pi + 2.0 * np.pi / 3.0, np.pi - 2.0 * np.pi / 3.0])
    corners = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=-1)
    points = middle[:, None] + np.einsum("nij,lj->nli", turn, robot.values["platform_radius"] * corners)
    lengths = np.linalg.norm(points - robot.values["base_radius"] * corners, axis=-1)
    span = np.hypot(robot.values["base_radius"] - robot.values["platform_radius"], robot.values["home_height"])
    names = robot.mechanism.limbs[0].joints
    slides = [names.index(f"limb{k}.3") for k in (1, 2, 3)]
    np.testing.assert_allclose(found.position[:, 0, slides], lengths - span, atol=1e-12)


# --- platforms whose coordinates follow -------------------------------------------------------------------------------


def test_nothing_is_carried_by_what_stands_for_a_pose() -> None:
    robot = catalog.build("coupled_3rps", payload_mass=2.0, payload_centre_z=0.1)
    wrench = joint_reactions(robot, q=[0.02, 0.2, -0.1], qd=[0.1, 1.0, 0.5], qdd=[1.0, -2.0, 3.0]).wrench
    limb = robot.mechanism.limbs[0]
    stand_ins = [limb.joints.index(name) for name in limb.coordinates]
    assert np.abs(wrench[0, stand_ins]).max() < 1e-12 * np.abs(wrench).max()


def test_platforms_are_solved_after_their_limbs() -> None:
    """Blocks of two joints for each leg, then the three coordinates that follow; H4 and Par4 with their hinges."""
    for name, sizes, border in (("coupled_3rps", [2, 2, 2], 3), ("h4", [5, 5, 5, 5], 4)):
        (choice,) = structure_of(catalog.family(name)).choices
        (cluster,) = choice.clusters
        assert [len(columns) for _, columns in cluster.blocks.inner] == sizes
        assert len(cluster.blocks.border[1]) == border


def test_singular_poses_of_a_3rps_have_their_statuses() -> None:
    robot = catalog.build("coupled_3rps")

    def status(*q: float) -> Status:
        found = inverse_dynamics(robot, q=np.array(q))
        assert (found.status == Status.OK) == bool(np.isfinite(found.force).all())
        return Status(int(found.status))

    height = robot.values["home_height"]
    assert status(0.0, 0.0, 0.0) == Status.OK
    # all legs level: nothing lifts
    assert status(-height, 0.0, 0.0) in (Status.PLATFORM_SINGULAR, Status.ILL_CONDITIONED)
    assert status(1e-4 - height, 0.0, 0.0) == Status.ILL_CONDITIONED
    assert status(-height - 0.1, 0.0, 0.0) == Status.SINGULARITY_CROSSED
    assert status(0.0, 0.5 * np.pi, 0.0) == Status.SINGULAR  # yaw and roll are one
    assert status(0.0, -1.7, 0.0) == Status.SINGULAR


def test_a_folded_platform_has_a_status() -> None:
    """The bars of a Par4 fold to a line at a quarter turn from their square."""
    q = np.zeros((3, 4))
    q[:, 3] = 0.5 * np.pi + np.array([-0.1, 0.0, 0.1])
    found = inverse_dynamics(catalog.build("par4"), q=q)
    assert found.status[0] == Status.OK
    assert found.status[1] in (Status.SINGULAR, Status.CONSTRAINT_SINGULAR, Status.NOT_REACHABLE, Status.WRONG_BRANCH)
    assert found.status[2] == Status.WRONG_BRANCH
