"""Other working and assembly modes: limbs assembled in another way, beside plane geometry and the other mode."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from pipeline import Sweep, run
from pipeline.errors import InputError
from robots import catalog
from robots.expressions.expression import parse
from robots.formats.branch import assembly_of, on_branch
from robots.formats.working_modes import BranchError
from robots.model import Robot
from robots.status import Status
from tasks import forward_kinematics, inverse_dynamics, inverse_kinematics
from tasks.dynamics.inverse import actuator_positions
from tests.arguments import in_records

ROBOT = catalog.build("five_bar")
NEAR, FAR, WIDTH = (ROBOT.values[name] for name in ("proximal_length", "distal_length", "base_half_width"))
HOME = np.array(ROBOT.mechanism.platform.home.position, dtype=float)
FLAT = -np.sqrt(NEAR**2 - (FAR - WIDTH) ** 2)
"""Height at which both distal links lie on one line."""


def near_home(count: int, seed: int = 1) -> np.ndarray:
    return HOME + np.random.default_rng(seed).uniform(-0.1, 0.1, (count, 3)) * [1.0, 0.0, 1.0]


def elbows(position: np.ndarray, sides: tuple[int, int]) -> np.ndarray:
    """Directions of the arms (n, 2) [rad] from x to z: circle meets circle, the elbow on a side of the line."""
    angles = []
    for centre, side in zip((WIDTH, -WIDTH), sides, strict=True):
        u, w = position[:, 0] - centre, position[:, 2]
        reach = np.hypot(u, w)
        cosine = (NEAR**2 + reach**2 - FAR**2) / (2.0 * NEAR * reach)
        angles.append(np.arctan2(w, u) + side * np.arccos(cosine))
    return np.stack(angles, axis=-1)


def turned(robot: Robot, position: np.ndarray) -> np.ndarray:
    """Turns of the arms as the robot has them, up to their signs."""
    solved = inverse_kinematics(robot, position=position)
    assert (solved.status == Status.OK).all()
    return solved.position[:, :, 0]


MODES = {(1, -1): {}, (-1, -1): {"left": {"1": 1.5}}, (1, 1): {"right": {"1": 1.5}}}


@pytest.mark.parametrize(
    "joints", [{"left": {"1": 1.5}}, {"right": {"1": 1.5}}, {"left": {"1": 1.5}, "right": {"1": 1.5}}]
)
def test_working_modes_are_the_other_solutions_of_two_circles(joints: dict[str, dict[str, float]]) -> None:
    position = near_home(30)
    usual, other = turned(ROBOT, position), turned(on_branch(ROBOT, joints=joints), position)
    both = [elbows(np.vstack([HOME, position]), sides) for sides in itertools.product((1, -1), repeat=2)]
    both = [np.unwrap(angles - angles[0], axis=0)[1:] for angles in both]
    for k, limb in enumerate(("left", "right")):
        same = np.abs(other[:, k] - usual[:, k]).max() < 1e-9
        assert same == (limb not in joints)
        fits = [
            min(np.abs(other[:, k] - sign * angles[:, i]).max() for sign in (1, -1) for i in (0, 1)) for angles in both
        ]
        assert min(fits) < 1e-9


def test_forces_of_another_mode_do_the_work_of_the_platform() -> None:
    robot, position = on_branch(ROBOT, joints={"left": {"1": 1.5}}), near_home(20)
    rates = np.random.default_rng(2).uniform(-1.0, 1.0, (20, 6)) * [0, 0, 0, 1, 0, 1]
    load = np.array([0.0, 0.0, 0.0, 3.0, 0.0, -7.0])
    state = {"position": position, "twist": rates}
    bare, solved = (inverse_dynamics(robot, **in_records(**state, **more)) for more in ({}, {"load": load}))
    power = np.sum((solved.force - bare.force) * solved.velocity, axis=-1)
    np.testing.assert_allclose(power, -rates @ load, rtol=1e-9, atol=1e-9)


def test_beyond_a_singularity_of_the_platform() -> None:
    above = HOME * [1, 0, 1] + [0.0, 0.0, FLAT + 0.05 - HOME[2]]
    position = above + np.random.default_rng(3).uniform(-0.02, 0.02, (20, 3)) * [1.0, 0.0, 1.0]
    assert (inverse_dynamics(ROBOT, position=position).status == Status.SINGULARITY_CROSSED).all()
    robot = on_branch(ROBOT, position=above)
    solved = inverse_dynamics(robot, position=position)
    assert (solved.status == Status.OK).all()
    assert (inverse_dynamics(robot, position=HOME).status == Status.SINGULARITY_CROSSED).all()
    actuators = actuator_positions(robot, position=position).position
    found = forward_kinematics(robot, actuator_position=actuators)
    np.testing.assert_allclose(found.position, position, atol=1e-9)
    # the other assembly of the same motors is below
    below = forward_kinematics(ROBOT, actuator_position=actuator_positions(ROBOT, position=position).position)
    assert (below.status == Status.OK).all()
    assert (below.position[:, 2] < FLAT).all()


@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_forward_kinematics_stays_on_its_assembly(scale: float) -> None:
    """Check that only the meeting point of the distal links on the reference's side is found, or none."""
    wanted = np.random.default_rng(4).uniform(-scale, scale, (60, 2))
    found = forward_kinematics(ROBOT, actuator_position=wanted)
    solved = found.status == Status.OK
    assert solved.sum() > 12
    assert np.isnan(found.position[~solved]).all()
    q = inverse_kinematics(ROBOT, position=found.position[solved])
    back = actuator_positions(ROBOT, position=found.position[solved]).position
    turns = back - wanted[solved]
    np.testing.assert_allclose(turns, 2 * np.pi * np.round(turns / (2 * np.pi)), atol=1e-8)
    assert (q.status == Status.OK).all()
    home = inverse_dynamics(ROBOT, position=HOME).jacobian
    there = inverse_dynamics(ROBOT, position=found.position[solved]).jacobian
    assert (np.linalg.det(there) * np.linalg.det(home) > 0).all()


def test_limbs_with_loops() -> None:
    robot = catalog.build("delta_3rr2rrr")
    other = on_branch(robot, joints={instance.name: {"1": 2.0} for instance in robot.mechanism.instances[:1]})
    assert len(other.mechanism.limbs) == 2
    home = np.array(robot.mechanism.platform.home.position, dtype=float)
    position = home + np.random.default_rng(5).uniform(-0.05, 0.05, (10, 3))
    usual, solved = inverse_kinematics(robot, position=position), inverse_kinematics(other, position=position)
    assert (solved.status == Status.OK).all()
    np.testing.assert_allclose(solved.position[:, 1:], usual.position[:, 1:], atol=1e-9)
    assert np.abs(solved.position[:, 0] - usual.position[:, 0]).max() > 1e-3


def test_another_assembly_of_a_chain() -> None:
    robot = catalog.build("three_loop_leg")
    (limb,) = robot.mechanism.limbs
    free = robot.mechanism.freedoms[0]
    other = on_branch(robot, joints={robot.mechanism.instances[0].name: {free: 0.3}})
    assert abs(dict(dict(other.family.assemble.reference)[limb.name])[free]) > 0.0  # type: ignore[attr-defined]
    assert inverse_kinematics(other, q=[0.05]).status == Status.OK


@pytest.mark.parametrize("limbs", [["left"], ["right"], ["left", "right"]])
def test_working_modes_by_name(limbs: list[str]) -> None:
    named = on_branch(ROBOT, working=dict.fromkeys(limbs, "other"))
    told = on_branch(ROBOT, joints={limb: {"1": 1.5} for limb in limbs})
    np.testing.assert_allclose(references(named), references(told), atol=1e-9)


def references(robot: Robot) -> np.ndarray:
    """Positions from which joints count, of each instance."""
    table = dict(robot.family.assemble.reference)  # type: ignore[attr-defined]
    names = [robot.mechanism.limbs[instance.limb].name for instance in robot.mechanism.instances]
    whole = np.array([[value for _, value in table[name]] for name in names])
    return np.asarray((whole + np.pi) % (2.0 * np.pi) - np.pi)


def test_both_assembly_modes_of_a_five_bar() -> None:
    """The distal links meet on both sides of the line of their elbows."""
    other = on_branch(ROBOT, assembly="other")
    there = np.array(other.mechanism.platform.home.position)
    usual = inverse_kinematics(ROBOT, position=HOME).position
    assert usual[:, 0] == pytest.approx(0.0, abs=1e-9)
    side = elbows(HOME[None], (1, -1))[0], elbows(HOME[None], (-1, 1))[0]
    at = [NEAR * np.stack([np.cos(a), np.sin(a)], axis=1) + [[WIDTH, 0.0], [-WIDTH, 0.0]] for a in side]
    meets = [np.allclose(np.linalg.norm(there[[0, 2]] - elbow, axis=1), FAR, atol=1e-9) for elbow in at]
    assert any(meets)
    assert np.linalg.norm(there - HOME) > 0.1
    assert inverse_dynamics(other, position=there).status == Status.OK
    assert inverse_dynamics(ROBOT, position=there).status != Status.OK


@pytest.mark.parametrize("name", ["hexapod_6rrrprr", "orthoglide"])
def test_axes_of_another_working_mode_point_as_they_did(name: str) -> None:
    """Conditions of a cut joint hold for axes that point against each other as well, as no bearing does."""
    robot = catalog.build(name)
    other = on_branch(robot, working={robot.mechanism.instances[0].name: "other"})
    home = other.mechanism.platform.home
    assert inverse_kinematics(other, position=home.position, rotation=home.rotation).status == Status.OK


@pytest.mark.slow
def test_joints_that_cross_make_no_other_assembly() -> None:
    """A leg of a Gough-Stewart platform has two positions of its universal joint for each of its directions."""
    robot = catalog.build("gough_stewart")
    home = on_branch(robot, assembly="other").mechanism.platform.home
    usual = inverse_dynamics(robot, position=home.position, rotation=home.rotation)
    assert usual.status == Status.SINGULARITY_CROSSED
    lengths = actuator_positions(robot, position=home.position, rotation=home.rotation).position
    np.testing.assert_allclose(lengths, 0.0, atol=1e-9)


def test_working_modes_of_a_planar_platform_and_of_limbs_with_loops() -> None:
    robot = catalog.build("planar_3rrr")
    near, far = robot.values["proximal_length"], robot.values["distal_length"]
    reach = robot.values["base_radius"] - robot.values["platform_radius"]
    angle = np.arccos((near**2 + reach**2 - far**2) / (2.0 * near * reach))
    found = references(on_branch(robot, working={"limb2": "other"}))
    np.testing.assert_allclose(found[:, 0], [0.0, -2.0 * angle, 0.0], atol=1e-9)
    delta = catalog.build("delta_3rr2rrr")
    limb = delta.mechanism.instances[1].name
    named, told = on_branch(delta, working={limb: "other"}), on_branch(delta, joints={limb: {"1": 2.0}})
    np.testing.assert_allclose(references(named), references(told), atol=1e-9)


def test_the_other_assembly_of_a_delta_by_rough_numbers_and_by_name() -> None:
    """Mirrored in the plane of its level arms: a rod that leans inwards turns by half a turn less twice that angle."""
    robot = catalog.build("delta_3rr2rrr")
    height = np.array(robot.mechanism.platform.home.position)[2]
    limbs = [instance.name for instance in robot.mechanism.instances]
    mirrored = on_branch(robot, position=[0.0, 0.0, -height], joints={limb: {"2": 2.0} for limb in limbs})
    ((_, values),) = mirrored.family.assemble.reference  # type: ignore[attr-defined]
    length = {key: robot.values[key] for key in ("base_radius", "upper_arm", "platform_radius", "rod_length")}
    inwards = length["base_radius"] + length["upper_arm"] - length["platform_radius"]
    expected = {"2": np.pi - 2.0 * np.arcsin(inwards / length["rod_length"])}
    np.testing.assert_allclose([x - expected.get(joint, 0.0) for joint, x in values], 0.0, atol=1e-9)
    named = on_branch(robot, assembly="other")
    np.testing.assert_allclose(references(named), references(mirrored), atol=1e-9)
    above = [0.0, 0.0, -height]
    assert inverse_dynamics(mirrored, position=above).status == Status.OK
    assert inverse_dynamics(robot, position=above).status == Status.SINGULARITY_CROSSED


BAD = [
    ({"working": {"lft": "other"}}, "a limb of the robot. Did you mean 'left'?"),
    ({"working": {"left": "up"}}, "got 'up'; expected usual or other"),
    ({"assembly": "other", "position": [0.0, 0.0, -0.4]}, "another mode beside joints or a pose"),
    ({}, "got nothing; expected joints"),
    ({"joints": {"middle": {"1": 1.0}}}, "a limb of the robot"),
    ({"joints": {"left": {"elbow": 1.0}}}, "a joint of its tree"),
    ({"joints": {"left": {"1": np.nan}}}, "a finite number"),
    (
        {"position": [0.0, 0.3, HOME[2]]},
        "0.3 along vy; expected a pose that the platform can move to. It moves along vx, vz",
    ),
    ({"position": [0.0, 0.0, -9.0]}, "positions near to where its loops close"),
    ({"position": [0.0, 0.0]}, "expected finite numbers of shape"),
    ({"rotation": np.ones((3, 3))}, "rows of a rotation"),
]


@pytest.mark.parametrize(("asked", "message"), BAD)
def test_what_a_robot_does_not_have(asked: dict[str, object], message: str) -> None:
    with pytest.raises(BranchError, match=message.replace("(", r"\(")):
        on_branch(ROBOT, **asked)  # type: ignore[arg-type]


def test_chains_have_no_pose_and_some_drives_count_from_where_they_are() -> None:
    with pytest.raises(BranchError, match="a mode of a chain"):
        on_branch(catalog.build("three_loop_leg"), working={"leg": "other"})
    with pytest.raises(BranchError, match="without another pose"):
        on_branch(catalog.build("irsbot2"), assembly="other")  # its parallelograms are flat before
    with pytest.raises(BranchError, match="none for a chain"):
        on_branch(catalog.build("three_loop_leg"), position=[0.0, 0.0, 0.0])
    whole = catalog.family("irb6").reference
    (limb,) = whole.limbs
    drives = tuple(replace(drive, position=parse("2 * shoulder", "number")) for drive in limb.drives)
    with pytest.raises(BranchError, match="whose drives follow an expression"):
        assembly_of(replace(whole, limbs=(replace(limb, drives=drives),)), {"arm": {"shoulder": 0.1}})


SWEEP = """
limbsweep: 1
robot: five_bar
{branch}
design: {{grid: {{proximal_length: {{values: [0.53, 0.535]}}}}}}
trajectories: {{up: {{kind: line_sine, amplitude: [0.02, 0, 0.02], period: 1.0}}}}
time: {{stop: 0.2, step: 0.1}}
outputs: [actuator_force, platform_position, platform_twist, platform_acceleration]
"""


def test_a_sweep_asks_for_it() -> None:
    plain = Sweep.from_text(SWEEP.format(branch=""))
    sweep = Sweep.from_text(SWEEP.format(branch="branch: {joints: {left: {'1': 1.5}}}"))
    assert plain.fingerprint != sweep.fingerprint
    assert Sweep.from_text(sweep.text).fingerprint == sweep.fingerprint
    usual, other = run(plain), run(sweep)
    assert (other["status"] == Status.OK).all()
    state = {name: other[f"platform_{name}"].to_numpy()[0] for name in ("position", "twist", "acceleration")}
    for design, length in enumerate((0.53, 0.535)):
        robot = on_branch(catalog.build("five_bar"), joints={"left": {"1": 1.5}})
        expected = inverse_dynamics(Robot(robot.family, {**robot.values, "proximal_length": length}), **state).force
        np.testing.assert_allclose(other["actuator_force"].to_numpy()[design, ..., :, :].reshape(-1, 2), expected)
    assert not np.allclose(usual["actuator_force"], other["actuator_force"])


def test_messages_of_a_sweep_name_the_key() -> None:
    with pytest.raises(InputError, match=r"branch\.joints\.middle"):
        Sweep.from_text(SWEEP.format(branch="branch: {joints: {middle: {'1': 1.5}}}"))
    assert Sweep.from_text(SWEEP.format(branch="branch: {working: {left: other}}")).fingerprint
    with pytest.raises(InputError, match=r"branch\.working\.left"):
        Sweep.from_text(SWEEP.format(branch="branch: {working: {left: down}}"))
    with pytest.raises(InputError, match="branch: got nothing"):
        Sweep.from_text(SWEEP.format(branch="branch: {}"))
