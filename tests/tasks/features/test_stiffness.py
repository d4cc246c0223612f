"""Stiffness at the platform against finite elements, beam formulas and J_IK; frequencies against an engine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from limbsweep import robots
from robots.criteria.elasticity import Beam, Elasticity, LinkCompliance
from robots.model import Robot
from robots.parameter_errors import ParameterError
from robots.status import Status
from robots.types import TWIST
from tasks.dynamics.criteria import Stiffness, cartesian_stiffness, deflection, natural_frequencies
from tasks.dynamics.equations import equations_of_motion
from tasks.dynamics.inverse import body_motion
from tasks.mechanics.solving import arms
from tests.reference.frame_elements import Section, compliance
from tests.tasks.moving import motion

YOUNG, RIGIDITY = 70e9, 70e9 / 2.6
SPRINGS = 2e4
ROBOTS = ("delta_3rr2rrr", "gough_stewart", "five_bar", "delta_4rr2rrr", "delta_3r2us", "irsbot2")


def poses(robot: Robot, count: int = 3) -> dict[str, Any]:
    moving = motion(robot, count)
    return {name: moving[name] for name in ("position", "rotation") if name in moving}


def tube(outer: float) -> tuple[Beam, Section]:
    area, second = math.pi / 4 * outer**2, math.pi / 64 * outer**4
    section = Section(YOUNG * area, RIGIDITY * 2 * second, (YOUNG * second,) * 2)
    return Beam.tube(outer, YOUNG), section


@pytest.mark.parametrize("name", ROBOTS)
def test_compliance_is_that_of_finite_elements(name: str) -> None:
    robot = robots.build(name)
    limbs = robot.mechanism.limbs
    bodies = sorted({link.body for limb in limbs for link in limb.links})
    beams = {body: tube(0.02 + 0.005 * k) for k, body in enumerate(bodies)}
    elasticity = Elasticity.of(
        robot.mechanism, actuators={"all": SPRINGS}, links={body: beam for body, (beam, _) in beams.items()}
    )
    pose = poses(robot)
    result = cartesian_stiffness(robot, elasticity, **pose)
    assert (result.status == Status.OK).all()
    lines = {k: arms(robot.family, k) for k in range(len(limbs))}
    places = [TWIST.index(name) for name in result.directions]
    for k in range(3):
        moved = body_motion(robot, **{name: array[k] for name, array in pose.items()})
        expected = compliance(robot, moved, lines, {b: section for b, (_, section) in beams.items()}, SPRINGS)
        chosen = np.ix_(places, places)
        scale = np.sqrt(np.diag(expected)[places])
        difference = (result.compliance[k] - expected)[chosen] / np.outer(scale, scale)
        assert np.abs(difference).max() < 1e-7


def actuators_alone(robot: Robot, pose: dict[str, Any], compliance: float) -> np.ndarray:
    """J_IK^-1 C J_IK^-T of the freedoms: Gosselin (1990)."""
    jacobian = equations_of_motion(robot, **pose).jacobian
    return np.linalg.inv(np.swapaxes(jacobian, -1, -2) @ jacobian) * compliance


@pytest.mark.parametrize("name", [*ROBOTS, "hexapod_6rrrprr", "delta_rl5_1450_motors"])
def test_actuators_alone_give_way_by_the_jacobian(name: str) -> None:
    robot = robots.build(name)
    pose = poses(robot)
    result = cartesian_stiffness(robot, Elasticity.of(robot.mechanism, actuators={"all": SPRINGS}), **pose)
    places = [TWIST.index(freedom) for freedom in robot.mechanism.freedoms]
    expected = actuators_alone(robot, pose, 1.0 / SPRINGS)
    scale = np.abs(expected).max()
    assert np.abs(result.compliance[:, np.array(places)[:, None], places] - expected).max() < 1e-11 * scale
    assert set(result.directions) == set(robot.mechanism.freedoms)


def test_a_joint_adds_to_what_is_in_series_with_it() -> None:
    robot = robots.build("gough_stewart")
    pose = poses(robot)
    tip = (math.inf,) * 3 + (3e6,) * 3
    result = cartesian_stiffness(
        robot, Elasticity.of(robot.mechanism, actuators={"all": SPRINGS}, joints={"4": tip}), **pose
    )
    expected = actuators_alone(robot, pose, 1.0 / SPRINGS + 1.0 / 3e6)
    assert np.abs(result.compliance - expected).max() < 1e-11 * np.abs(expected).max()


def test_a_profile_bends_about_both_axes_as_finite_elements_do() -> None:
    robot, pose = robots.build("delta_3rr2rrr"), poses(robots.build("delta_3rr2rrr"), 1)
    width, height, across = 0.03, 0.06, (0.0, 0.6, 0.8)
    area, second = width * height, (width * height**3 / 12, height * width**3 / 12)
    ratio = width / height
    torsion = height * width**3 * (1 / 3 - 0.21 * ratio * (1 - ratio**4 / 12))
    section = Section(YOUNG * area, RIGIDITY * torsion, (YOUNG * second[0], YOUNG * second[1]), across)
    rod, round_section = tube(0.02)
    elasticity = Elasticity.of(
        robot.mechanism,
        actuators={"all": SPRINGS},
        links={"arm": Beam.box(width, height, YOUNG, across), "rod_*": rod, "elbow": rod, "wrist": rod},
    )
    sections = {"arm": section, **dict.fromkeys(("rod_a", "rod_b", "elbow", "wrist"), round_section)}
    moved = body_motion(robot, **{name: array[0] for name, array in pose.items()})
    expected = compliance(robot, moved, {0: arms(robot.family, 0)}, sections, SPRINGS)
    result = cartesian_stiffness(robot, elasticity, **pose).compliance[0]
    scale = np.sqrt(np.diag(expected))
    assert np.abs((result - expected) / np.outer(scale, scale)).max() < 1e-7


def cantilever(section: Section, length: float) -> np.ndarray:
    """(turn, shift) by (moment, force) at the end of a beam along -z that is held at its root."""
    bend, n = 1.0 / section.bending[0], length
    result = np.diag([n * bend, n * bend, n / section.torsion, *[n**3 * bend / 3] * 2, n / section.axial])
    # a force along x at -z turns about -y, one along y about x
    result[1, 3] = result[3, 1] = -(n**2) * bend / 2
    result[0, 4] = result[4, 0] = n**2 * bend / 2
    return result


def test_a_matrix_of_a_cantilever_is_its_beam() -> None:
    robot = robots.build("delta_3rr2rrr")
    rod, section = tube(0.012)
    block = LinkCompliance.of_stiffness(np.linalg.inv(cantilever(section, robot.values["rod_length"])))
    other = dict.fromkeys(("arm", "elbow", "wrist"), tube(0.03)[0])

    def result(body: Beam | LinkCompliance) -> Stiffness:
        elasticity = Elasticity.of(robot.mechanism, actuators={"all": SPRINGS}, links={"rod_*": body, **other})
        return cartesian_stiffness(robot, elasticity, **poses(robot))

    expected = result(rod).compliance
    np.testing.assert_allclose(result(block).compliance, expected, rtol=1e-6, atol=1e-8 * np.abs(expected).max())


def test_shear_is_that_of_timoshenko() -> None:
    bare, sheared = Beam.tube(0.05, YOUNG), Beam.tube(0.05, YOUNG, shear=0.9)
    assert sheared.shear[0] == pytest.approx(1.0 / (0.9 * RIGIDITY * math.pi / 4 * 0.05**2))
    robot = robots.build("five_bar")

    def softness(beam: Beam) -> float:
        elasticity = Elasticity.of(robot.mechanism, actuators={"all": SPRINGS}, links={"all": beam})
        return float(cartesian_stiffness(robot, elasticity, position=(0, 0, -0.6)).compliance[5, 5])

    # vertical load: each arm carries half of it; sections bend and shear in the plane alone
    length = robot.values["proximal_length"]
    jacobian = equations_of_motion(robot, position=(0.0, 0.0, -0.6)).jacobian
    torque = np.linalg.solve(jacobian.T, [0.0, 1.0])[0]
    lever = abs(torque) / length  # force across the arm at its end
    assert softness(sheared) - softness(bare) == pytest.approx(2 * lever**2 * length * sheared.shear[0], rel=1e-9)


def test_a_limb_that_is_rigid_in_part_has_no_stiffness() -> None:
    robot = robots.build("delta_3rr2rrr")
    elasticity = Elasticity.of(robot.mechanism, joints={"6": (1e4, 1e4, 1e4, 1e6, 1e6, 1e6)})
    result = cartesian_stiffness(robot, elasticity, position=(0, 0, -0.9))
    assert result.status == Status.CONSTRAINT_SINGULAR
    assert np.isnan(result.compliance).all()
    assert np.isnan(natural_frequencies(robot, elasticity, position=(0, 0, -0.9)).frequencies).all()


def test_deflection_is_compliance_times_load() -> None:
    robot = robots.build("gough_stewart")
    result = cartesian_stiffness(robot, Elasticity.of(robot.mechanism, actuators={"all": SPRINGS}), **poses(robot))
    load = np.array([1.0, 2.0, 3.0, -40.0, 50.0, 60.0])
    np.testing.assert_allclose(
        result.stiffness @ deflection(result, load)[..., None], np.tile(load[:, None], (3, 1, 1))
    )


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "gough_stewart", "five_bar", "irsbot2"])
def test_frequencies_are_those_of_an_engine(name: str) -> None:
    pytest.importorskip("mujoco", reason="no second engine of its kind to compare with: MuJoCo (mujoco) is missing")
    from scipy.linalg import eigh

    from tasks import inverse_kinematics
    from tests.reference.mechanism_mujoco import ClosedMechanism

    robot = robots.build(name)
    pose = poses(robot)
    elasticity = Elasticity.of(robot.mechanism, actuators={"all": SPRINGS}, links={"all": tube(0.03)[0]})
    result = natural_frequencies(robot, elasticity, **pose)
    softness = cartesian_stiffness(robot, elasticity, **pose).compliance
    places = [TWIST.index(freedom) for freedom in robot.mechanism.freedoms]
    engine, joints = ClosedMechanism(robot.mechanism), inverse_kinematics(robot, **pose)
    for k in range(3):
        engine.place(joints[0][k, :, : engine.count], pose["position"][k], pose["rotation"][k])
        mass = engine.solve(np.zeros(6), np.zeros(6)).equations.mass
        stiff = np.linalg.inv(softness[k][np.ix_(places, places)])
        squares, vectors = eigh(stiff, mass)
        np.testing.assert_allclose(result.frequencies[k], np.sqrt(squares) / (2 * np.pi), rtol=1e-7)
        overlap = np.abs(vectors.T @ mass @ result.modes[k])
        np.testing.assert_allclose(np.sum(overlap**2, axis=0), 1.0, rtol=1e-6)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ({"actuators": {"motor": 1.0}}, "no actuator is called 'motor'"),
        ({"actuators": {"all": 0.0}}, "got 0.0; expected a stiffness above zero"),
        ({"actuators": {"all": 1.0, "limb1.1": 2.0}}, "another key selects some of them, too"),
        ({"joints": {"all": (1.0, 2.0)}}, "expected 6 stiffnesses above zero"),
        ({"joints": {"9": (1.0,) * 6}}, "no joint is called '9'"),
        ({"links": {"spoke": Beam.tube(0.1, 1e9)}}, "no link is called 'spoke'"),
    ],
)
def test_what_is_refused(parts: dict[str, Any], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        Elasticity.of(robots.build("delta_3rr2rrr").mechanism, **parts)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Beam.tube(0.0, YOUNG), "outer: got 0.0; expected a finite number above zero"),
        (lambda: Beam.tube(0.1, YOUNG, inner=0.1), "inner: got 0.1; expected zero or more, below outer"),
        (lambda: Beam.tube(0.1, YOUNG, poisson=0.6), "poisson: got 0.6"),
        (lambda: Beam.tube(0.1, YOUNG, shear=2.0), "shear: got 2.0"),
        (lambda: Beam.box(0.1, 0.2, YOUNG, (0, 0, 1), wall=0.05), "wall: got 0.05; expected above 0 and below half"),
        (lambda: Beam.box(0.1, 0.2, YOUNG, (0, 0, 0)), "across: got .* expected a direction"),
        (lambda: Beam(1.0, 1.0, (1.0, 2.0)), "across: absent"),
        (lambda: Beam(-1.0, 1.0, (1.0, 1.0)), "axial: got -1.0; expected finite compliances"),
        (lambda: LinkCompliance.of_stiffness(np.eye(5)), "expected 6 rows of 6 finite numbers"),
        (lambda: LinkCompliance.of_stiffness(np.triu(np.ones((6, 6)))), "not symmetric"),
        (lambda: LinkCompliance.of_stiffness(-np.eye(6)), "not positive definite"),
    ],
)
def test_sections_that_are_refused(make: Any, text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        make()


def test_a_spring_of_a_load_holds_the_platform_by_its_closed_form() -> None:
    """A spring that is stretched holds along itself with its stiffness, across with its pull over its length."""
    robot, stiffness, rest, anchor = robots.build("gough_stewart"), 5000.0, 0.2, np.array([0.3, 0.1, -0.4])
    held = robots.with_loads(robot, {"s": robots.SpringLoad("platform", stiffness, to=tuple(anchor), rest_length=rest)})
    drives, pose = Elasticity.of(robot.mechanism, actuators={"all": 1e5}), poses(robot)
    found = [cartesian_stiffness(each, drives, **pose) for each in (robot, held)]
    assert (found[1].status == Status.OK).all()
    for k, position in enumerate(pose["position"]):
        line = anchor - position
        length, along = float(np.linalg.norm(line)), line / np.linalg.norm(line)
        across = (length - rest) / length * (np.eye(3) - np.outer(along, along))
        expected = stiffness * (np.outer(along, along) + across)
        np.testing.assert_allclose((found[1].stiffness - found[0].stiffness)[k, 3:, 3:], expected, atol=1e-5)
    low, high = (natural_frequencies(each, drives, **pose).frequencies for each in (robot, held))
    assert (high[:, 0] > low[:, 0]).all()


def test_springs_of_loads_beside_elastic_links_are_refused() -> None:
    robot = robots.with_loads(robots.build("five_bar"), {"j": robots.JointSpringLoad("2", 50.0)})
    soft = Elasticity.of(robot.mechanism, actuators={"all": 1e5}, links={"all": tube(0.02)[0]})
    with pytest.raises(ValueError, match="expected elasticity of actuators alone"):
        cartesian_stiffness(robot, soft, position=robot.mechanism.platform.home.position)


def test_a_chain_has_no_platform() -> None:
    robot = robots.build("irb6")
    with pytest.raises(ValueError, match="which has no platform; expected a parallel robot"):
        cartesian_stiffness(robot, Elasticity.of(robot.mechanism, actuators={"all": 1.0}))


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ({"actuators": {7: 1e-5}}, "elasticity: actuators: got 7, which five_bar does not have"),
        ({"joints": {(0, 9): (0.0,) * 6}}, r"elasticity: joints: got \(0, 9\), which five_bar does not have"),
        ({"links": {(2, 0): Beam.tube(0.03, 70e9)}}, r"elasticity: links: got \(2, 0\), which five_bar"),
    ],
)
def test_parts_that_the_robot_does_not_have_are_refused(parts: dict[str, Any], text: str) -> None:
    robot = robots.build("five_bar")
    with pytest.raises(ValueError, match=text):
        cartesian_stiffness(robot, Elasticity(**parts), position=robot.mechanism.platform.home.position)
