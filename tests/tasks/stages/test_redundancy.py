"""Redundant limbs, and limbs on a base that is driven: least distances, rates and forces beside other programs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import limbsweep as ls
from pipeline import Sweep, run
from pipeline.robot_files.reader import parse_robot
from robots.formats import writing
from robots.model import Robot
from tasks.dynamics.resolution import ResolvedMotion
from tests.pipeline.runs import SYNCHRONOUS, content_hash, cut_finely

EXAMPLES = Path(__file__).parents[3] / "examples"
ARM = (EXAMPLES / "robots" / "arm_platform.yaml").read_text()
LINK = """\
      - {joint: "K", body: bodyK, parent: PARENT, kind: revolute, axis: z, placement: {position: [X, 0, 0]},
         inertia: {mass: 2, centre: [0.15, 0.01, 0], moments: [0.01, 0.02, 0.03]}}
"""
LINKS = "".join(
    LINK.replace("K", str(k))
    .replace("PARENT", f"body{k - 1}" if k > 1 else "base")
    .replace("X", "0.3" if k > 1 else "0")
    for k in range(1, 5)
)
PLANAR = f"""\
limbsweep: 1
name: planar_4r
parameters:
  swivel: {{default: 0.2, lower: -2, upper: 2}}
limbs:
  arm:
    links:
{LINKS}
    tips:
      - {{joint: weld, kind: fixed, a: body4, frame_a: {{position: [0.2, 0, 0]}}}}
    actuated: ["1", "2", "3", "4"]
    reference: {{"1": 0.3, "2": 0.5, "3": 0.7, "4": 0.4}}
instances:
  arm: {{limb: arm}}
platform:
  coordinates: [x, y, yaw]
  inertia: {{mass: 3, centre: [0, 0.05, 0], moments: [0.01, 0.01, 0.02]}}
  home: {{position: [0.6, 0.5, 0], turn: {{z: 100}}}}
  redundancy:
    joints: [arm.2]
    posture: {{arm.1: -0.1, arm.2: swivel, arm.3: 0, arm.4: 0.1}}
    weights: {{arm.3: 2}}
"""
"""An arm in a plane with four joints, one more than its platform needs."""

CARRIAGE = """\
base:
  links:
    - {joint: rail, body: carriage, parent: base, kind: prismatic, axis: "y", placement: {position: [0.1, 0, -0.2]},
       inertia: {mass: 20, centre: [0, 0, -0.1], moments: [1, 1, 1]}, armature: 3}
  actuated: [rail]
instances:
  arm: {limb: arm, carrier: carriage}
"""
ON_RAIL = PLANAR.replace("instances:\n  arm: {limb: arm}\n", CARRIAGE).replace("name: planar_4r", "name: on_rail")
TWO_FREE = ON_RAIL.replace("joints: [arm.2]\n    posture: {", "joints: [rail, arm.2]\n    posture: {rail: 0.1, ")
TWO_FREE = TWO_FREE.replace("position: [0.6, 0.5, 0]", "position: [0.7, 0.5, -0.2]")
ALONG_RAIL = ON_RAIL.replace("  coordinates", "  within: carriage\n  coordinates")
JOINTS = [f"arm.{k}" for k in range(1, 8)]
POSTURE, WEIGHTS = np.array([0, 0, 0.4, 0, 0, 0, 0]), np.array([1, 1, 2, 0.5, 1, 1, 1])
STEP = 1e-4


def arm(text: str, **parameters: float) -> Robot:
    return Robot.of(parse_robot(text, "arm.yaml").family, parameters)


def states(robot: Robot, count: int) -> list[np.ndarray]:
    """Positions, rates and accelerations of what is given."""
    return list(np.random.default_rng(3).uniform(-0.15, 0.15, (3, count, len(robot.mechanism.given))))


def closed(robot: Robot) -> Any:
    pytest.importorskip("pinocchio", reason="Pinocchio is missing")
    from tests.reference.chain_pinocchio import ClosedChain

    return ClosedChain(robot.mechanism)


def assert_rates(robot: Robot, size: float = 1.0) -> None:
    """Rates and accelerations are central differences of positions and rates."""
    q, qd, qdd = (size * part for part in states(robot, 3))
    found = ls.resolve_redundancy(robot, q=q, qd=qd, qdd=qdd)
    sides = [
        ls.resolve_redundancy(robot, q=q + qd * t + 0.5 * qdd * t * t, qd=qd + qdd * t, qdd=qdd) for t in (STEP, -STEP)
    ]
    assert not found.status.any()
    for wanted, values in ((found.qd, [s.q for s in sides]), (found.qdd, [s.qd for s in sides])):
        np.testing.assert_allclose((values[0] - values[1]) / (2 * STEP), wanted, atol=2e-7)


def assert_forces(robot: Robot, motion: ResolvedMotion) -> None:
    """Forces of all actuators are those of Pinocchio, whose loops are closed by least squares, and move it so."""
    force = ls.inverse_dynamics(robot, q=motion.q, qd=motion.qd, qdd=motion.qdd).force
    chain = closed(robot)
    for k, expected in enumerate(map(chain.solve, motion.q, motion.qd, motion.qdd)):
        assert expected.freedoms == len(robot.mechanism.freedoms)
        assert np.abs(force[k] - expected.force).max() < 1e-11 * np.abs(expected.force).max()


def test_a_redundant_arm_is_where_its_distance_from_the_posture_is_least() -> None:
    robot = arm(ARM, swivel=0.4)
    q, qd, qdd = states(robot, 2)
    motion = ls.resolve_redundancy(robot, q=q, qd=qd, qdd=qdd)
    np.testing.assert_array_equal(motion.q[:, :6], q)
    chain = closed(robot)
    places = [robot.mechanism.limbs[0].index(joint) for joint in JOINTS]

    def slope(s: float, pose: np.ndarray) -> float:
        """Half the rate of the sum of squares where joint 3 alone moves, by Pinocchio."""
        at = chain.solve(np.append(pose, s), np.eye(7)[6], np.zeros(7))
        return float((WEIGHTS * (at.q[places] - POSTURE)) @ at.qd[places])

    for pose, s in zip(q, motion.q[:, 6], strict=True):
        assert abs(brentq(slope, s - 0.1, s + 0.1, (pose,), xtol=1e-13) - s) < 1e-9
        assert slope(s + 1e-3, pose) > 0 > slope(s - 1e-3, pose)
    assert_forces(robot, motion)
    assert_rates(robot)


def test_two_free_joints_one_of_them_of_the_base() -> None:
    """The arm stands on a carriage that is driven; both the carriage and joint 2 are free for a pose in the world."""
    robot = arm(TWO_FREE)
    assert (robot.mechanism.freedoms[0], robot.mechanism.freedoms[-1]) == ("rail", "arm.2")
    motion = ls.resolve_redundancy(robot, **dict(zip(("q", "qd", "qdd"), states(robot, 2), strict=True)))
    assert_forces(robot, motion)
    assert_rates(robot)


@pytest.mark.slow
def test_a_leg_of_a_hexapod_on_a_slide_of_its_own(tmp_path: Path) -> None:
    """Six legs carry the platform, one of them with a joint and a motor more than it needs: PUPS."""
    text = ls.robots.write(ls.robots.build("gough_stewart"), tmp_path / "hexapod.yaml").read_text()
    leg = text[text.index("  UPS:") : text.index("instances:")]
    slide = '      - {joint: "0", body: foot, parent: base, kind: prismatic, axis: x, inertia: {mass: 30.0}}\n'
    longer = leg.replace("UPS:", "PUPS:").replace("    links:\n", f"    links:\n{slide}")
    longer = longer.replace("body: cross, parent: base", "body: cross, parent: foot").replace('["3"]', '["0", "3"]')
    text = text.replace("instances:", f"{longer}instances:", 1).replace("leg1: {limb: UPS", "leg1: {limb: PUPS")
    free = "redundancy: {joints: [leg1.0], posture: {leg1.0: 0.1, leg1.3: 0}, weights: {leg1.0: 0.3}}"
    text = re.sub("mobility: .*", f"coordinates: [x, y, z, yaw, pitch, roll]\n  {free}", text)
    robot = arm(text)
    assert robot.mechanism.given == robot.mechanism.freedoms[:6]
    assert_forces(robot, ls.resolve_redundancy(robot, **dict(zip(("q", "qd", "qdd"), states(robot, 2), strict=True))))
    assert_rates(robot)


def test_a_driven_base_whose_motion_is_given() -> None:
    """Coordinates count from the carriage, so that a carriage that moves alone moves all of the robot."""
    robot = arm(ALONG_RAIL)
    motion = ls.resolve_redundancy(robot, **dict(zip(("q", "qd", "qdd"), states(robot, 2), strict=True)))
    assert_forces(robot, motion)
    pushed = ls.resolve_redundancy(robot, q=np.zeros(4), qdd=np.eye(4)[0])
    np.testing.assert_array_equal(pushed.qdd[1:], 0.0)
    masses = sum(float(link.inertia.mass) for link in robot.mechanism.limbs[0].links)
    force = ls.inverse_dynamics(robot, q=pushed.q, qdd=np.stack([pushed.qdd, np.zeros(5)])).force
    assert force[0, 0] - force[1, 0] == pytest.approx(masses + 3.0, rel=1e-12)  # with the motor of the carriage


def test_the_motor_of_a_carriage_under_a_tripod() -> None:
    """Closed loops on a base that is driven: forces of all motors beside Pinocchio, forward dynamics back again."""
    robot = ls.robots.read(EXAMPLES / "robots" / "tripod_on_rail.yaml")
    assert robot.mechanism.freedoms == ("rail", "platform_z", "platform_pitch", "platform_roll")
    q, qd, qdd = states(robot, 2)
    assert_forces(robot, ResolvedMotion(q, qd, qdd, np.zeros(2)))
    force = ls.inverse_dynamics(robot, q=q, qd=qd, qdd=qdd).force
    np.testing.assert_allclose(
        ls.forward_dynamics(robot, q=q, qd=qd, forces=ls.Forces(actuator=force)).acceleration, qdd, atol=1e-10
    )


TURNTABLE = """\
base:
  links:
    - {joint: spin, body: table, parent: base, kind: revolute, axis: z,
       inertia: {mass: 40, centre: [0.1, 0, 0], moments: [2, 2, 3]}}
    - {joint: rail, body: carriage, parent: table, kind: prismatic, axis: x, inertia: {mass: 20}}
  actuated: [spin, rail]
instances:
"""


@pytest.mark.slow
def test_a_robot_of_the_catalogue_on_a_turntable_and_a_carriage(tmp_path: Path) -> None:
    """Coordinates in place of mobility make a Delta one that stands on a base with motors."""
    written = ls.robots.write(ls.robots.build("delta_3rr2rrr"), tmp_path / "delta.yaml").read_text()
    text = written.replace("mobility: [vx, vy, vz]", "coordinates: [x, y, z]\n  within: carriage")
    text = text.replace("instances:\n", TURNTABLE).replace("{limb: ", "{carrier: carriage, limb: ")
    robot = arm(text)
    assert robot.mechanism.actuators == ("spin", "rail", "limb1.1", "limb2.1", "limb3.1")
    q, qd, qdd = (scale * part for scale, part in zip((0.5, 3, 20), states(robot, 2), strict=True))
    assert_forces(robot, ResolvedMotion(q, qd, qdd, np.zeros(2)))


@pytest.mark.parametrize("text", [ARM, TWO_FREE, ALONG_RAIL])
def test_files_are_read_back(text: str) -> None:
    description = parse_robot(text, "robot.yaml")
    assert parse_robot(writing.text(description), "written.yaml") == description


SWEEP = """\
limbsweep: 1
robot: ./planar.yaml
design: {grid: {swivel: [-0.2, 0.4]}}
friction: {law: coulomb_viscous, joints: actuated, grid: {coulomb: [0, 0.5]}, parameters: {viscous: 0}}
trajectories:
  sway: {kind: harmonic, amplitude: [0.1, 0.05, 0], period: 2}
  turn: {kind: harmonic, amplitude: [0, 0.05, 0.3], period: 2}
time: {stop: 1, step: 0.25}
outputs: [actuator_force, joint_reaction]
metrics: [peak_force]
"""


def test_sweeps_resolve_each_sample_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bits do not depend on how a sweep is cut; forces are those of functions on the resolved motion."""
    (tmp_path / "planar.yaml").write_text(PLANAR)
    sweep = Sweep.from_text(SWEEP, folder=tmp_path)
    whole = run(sweep, cluster=SYNCHRONOUS)
    assert not whole["worst_status"].values.any()
    part = whole.sel(trajectory="turn").isel(design=1, friction=0)
    robot = arm(PLANAR, swivel=0.4)
    q, qd, qdd = (np.outer(wave, [0, 0.05, 0.3]) for wave in waves(whole["time"].values, np.pi))
    motion = ls.resolve_redundancy(robot, q=q, qd=qd, qdd=qdd)
    moving = {"q": motion.q, "qd": motion.qd, "qdd": motion.qdd}
    np.testing.assert_allclose(part["actuator_force"], ls.inverse_dynamics(robot, **moving).force, atol=1e-12)
    stand_ins, joints = np.split(part["joint_reaction"].values[:, 0, :10], [6], axis=1)
    np.testing.assert_allclose(stand_ins, 0.0, atol=1e-10)
    assert np.abs(joints).max() > 10.0
    cut_finely(monkeypatch, small=5)
    assert content_hash(run(sweep, cluster=SYNCHRONOUS, granularity="block")) == content_hash(whole)


def test_simulations_follow_what_is_resolved_for_their_design(tmp_path: Path) -> None:
    """Each design has a reference of its own: a controller that knows the robot keeps to it."""
    (tmp_path / "planar.yaml").write_text(PLANAR)
    text = (
        SWEEP[: SWEEP.index("friction:")]
        + """\
trajectories:
  still: {kind: quintic, start: [0, 0, 0], end: [0, 0, 0], duration: 1}
  reach: {kind: quintic, start: [0, 0, 0], end: [0.1, 0.05, 0.2], duration: 0.2}
time: {stop: 0.2, step: 0.1}
simulation: {step: 0.002, controller: {kind: computed_torque, space: joint, parameters: {kp: 900, kd: 60}}}
outputs: [joint_position, tracking_error]
"""
    )
    results = run(Sweep.from_text(text, folder=tmp_path), cluster=SYNCHRONOUS)
    assert not results["worst_status"].values.any()
    assert float(np.abs(results["tracking_error"]).max()) < 2e-3
    place = arm(PLANAR).mechanism.limbs[0].index("arm.2")
    for design, swivel in enumerate((-0.2, 0.4)):
        expected = ls.resolve_redundancy(arm(PLANAR, swivel=swivel), q=[0.1, 0.05, 0.2]).q[-1]
        moved = results["joint_position"].isel(design=design, trajectory=1, time=-1, limb=0, joint=place)
        np.testing.assert_allclose(moved.squeeze(), expected, atol=1e-3)  # 0.1 apart for the two


def waves(t: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.sin(rate * t), rate * np.cos(rate * t), -rate * rate * np.sin(rate * t)


def test_statuses_where_there_is_no_least_distance() -> None:
    away = ls.resolve_redundancy(arm(PLANAR), q=[3.0, 0, 0])
    assert ls.Status(int(away.status)) is ls.Status.NOT_REACHABLE
    assert np.isnan(away.q).all()
    flat = re.sub(r"posture: .*\n    weights: .*\n", "posture: {rail: 0}\n", ALONG_RAIL)  # which joint 2 does not move
    flat_at = ls.resolve_redundancy(arm(flat), q=np.zeros(4))
    assert ls.Status(int(flat_at.status)) is ls.Status.SINGULAR
    assert np.isnan(flat_at.q).all()


def test_functions_refuse_what_is_not_redundant() -> None:
    with pytest.raises(ValueError, match="five_bar has no posture or task that decides freedoms; expected a"):
        ls.resolve_redundancy(ls.robots.build("five_bar"), q=[0.0, 0.0])
    with pytest.raises(ValueError, match=r"q: got an array of shape \(7,\).*given freedoms: platform_x, platform_y"):
        ls.resolve_redundancy(arm(PLANAR), q=np.zeros(7))
