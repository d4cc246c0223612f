"""Joints that follow others in the limbs of a platform: belts and gears, held to Pinocchio with a row for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pipeline.errors import InputError
from pipeline.robot_files.reader import parse_robot
from robots.formats import writing
from robots.formats.branch import on_branch
from robots.model import Robot
from robots.status import Status
from tasks import equations_of_motion, forward_dynamics, inverse_dynamics, inverse_kinematics, joint_reactions
from tasks.checks.newton_euler_system import joint_reactions_reference, unique
from tasks.dynamics.records import Forces
from tasks.dynamics.simulate import simulate
from tasks.features.friction.inputs import Friction

BELTS = """\
limbsweep: 1
name: belts
parameters:
  belt: {default: -0.6, unit: "1", lower: -3, upper: 3}
  last: {default: 0.3, unit: m, lower: 0.1, upper: 1}
limbs:
  leg:
    links:
      - {joint: a, body: upper, parent: base, kind: revolute, axis: z, armature: 0.02, inertia: {mass: 2, centre: [0.1, 0, 0.01], moments: [0.001, 0.02, 0.02]}}
      - {joint: b, body: middle, parent: upper, kind: revolute, axis: z, placement: {position: [0.2, 0, 0]}, inertia: {mass: 1, centre: [0.07, 0.01, 0], moments: [0.001, 0.01, 0.01]}}
      - {joint: c, body: lower, parent: middle, kind: revolute, axis: z, placement: {position: [0.15, 0, 0]}, inertia: {mass: 1, centre: [0.1, 0, 0], moments: [0.001, 0.01, 0.01]}}
    tips:
      - {joint: d, kind: revolute, a: lower, frame_a: {position: [last, 0, 0]}}
    actuated: [a]
    couplings: [{joint: b, of: a, ratio: belt}]
    reference: {a: 0.7, b: 0.6, c: 0.9}
instances:
  leg1: {limb: leg, base: {position: [-0.5, 0, 0]}, platform: {position: [-0.1, 0, 0]}}
  leg2: {limb: leg, base: {turn: {z: 120}, position: [0.25, -sqrt(3) / 4, 0]}, platform: {turn: {z: 120}, position: [0.05, -sqrt(3) / 20, 0]}}
  leg3: {limb: leg, base: {turn: {z: -120}, position: [0.25, sqrt(3) / 4, 0]}, platform: {turn: {z: -120}, position: [0.05, sqrt(3) / 20, 0]}}
platform:
  mobility: [wz, vx, vy]
  inertia: {mass: 2, centre: [0.02, 0.01, 0], moments: [0.01, 0.01, 0.02]}
"""  # noqa: E501 - a table
COUNT = 4


def motion() -> dict[str, Any]:
    random = np.random.default_rng(3)
    free = np.array([0, 0, 1, 1, 1, 0])
    return {
        "position": random.uniform(-0.04, 0.04, (COUNT, 3)) * [1, 1, 0],
        "rotation": Rotation.from_euler("z", random.uniform(-0.1, 0.1, (COUNT, 1))).as_matrix(),
        "twist": random.normal(size=(COUNT, 6)) * free,
        "acceleration": 10.0 * random.normal(size=(COUNT, 6)) * free,
    }


@pytest.mark.parametrize("values", [{}, {"belt": 1.3, "last": 0.32}], ids=["crossed", "another belt"])
def test_belts_in_limbs_are_those_of_pinocchio(values: dict[str, float]) -> None:
    pytest.importorskip("pinocchio", reason="no second engine to compare with: Pinocchio (package pin) is missing")
    from tests.reference.mechanism_pinocchio import ClosedMechanism

    description = parse_robot(BELTS, "b")
    assert parse_robot(writing.text(description), "again") == description
    robot, moving = Robot.of(description.family, values), motion()
    found, joints = inverse_dynamics(robot, **moving), inverse_kinematics(robot, **moving)
    assert (found.status == Status.OK).all()
    ratio = robot.values["belt"]
    for ours in joints[:3]:
        np.testing.assert_allclose(ours[..., 1], ratio * ours[..., 0], rtol=1e-12, atol=1e-13)
    peer = ClosedMechanism(robot.mechanism)
    for k in range(COUNT):
        theirs = peer.solve(*(entry[k] for entry in moving.values()))
        assert theirs.freedoms == 3
        np.testing.assert_allclose(found.force[k], theirs.force, rtol=1e-9, atol=1e-9)
        for ours, expected in zip(joints[:3], (theirs.q, theirs.qd, theirs.qdd), strict=True):
            np.testing.assert_allclose(ours[k, :, :3], expected, rtol=1e-9, atol=1e-9)


def test_motion_from_forces_and_reactions_know_belts() -> None:
    """Accelerations come back; a belt passes moments about the axes of its joints, and reactions hold the rest."""
    robot, moving = Robot.of(parse_robot(BELTS, "b").family, {}), motion()
    found = inverse_dynamics(robot, **moving)
    back = {name: value for name, value in moving.items() if name != "acceleration"}
    again = forward_dynamics(robot, forces=Forces(actuator=found.force), **back).acceleration
    np.testing.assert_allclose(again, moving["acceleration"], rtol=1e-8, atol=1e-8)
    terms = equations_of_motion(robot, **back)
    np.testing.assert_allclose(terms.mass, np.swapaxes(terms.mass, -1, -2), rtol=1e-12, atol=1e-14)
    reactions, rates = joint_reactions(robot, **moving).wrench, inverse_kinematics(robot, **moving).velocity
    moments = reactions[..., :3, 2]  # about z, which is the axis of all joints, in its three bodies
    drives = np.einsum("nlj,nlj->nl", moments, rates[..., :3])
    powers = (
        found.force * found.velocity - 0.02 * inverse_kinematics(robot, **moving).acceleration[..., 0] * rates[..., 0]
    )
    np.testing.assert_allclose(drives, powers, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("friction", [None, {"law": "viscous", "viscous": 0.0}], ids=["platforms", "parallel"])
def test_a_free_motion_with_belts_keeps_its_energy(friction: Friction) -> None:
    robot, level = Robot.of(parse_robot(BELTS, "b").family, {}), (0.0, 0.0, -9.81)
    twist = np.array([0.0, 0.0, 1.0, 0.1, 0.2, 0.0])
    moved: Any = simulate(
        robot,
        force=np.zeros(3),
        step=2e-3,
        steps=50,
        gravity=level,
        position=np.zeros(3),
        twist=twist,
        friction=friction,
    )
    pose = {"position": moved.position, "rotation": moved.rotation, "twist": moved.twist}
    mass = equations_of_motion(robot, gravity=level, **pose).mass
    speed = moved.twist[:, 2:5]
    energy = 0.5 * np.einsum("ni,nij,nj->n", speed, mass, speed)
    assert np.abs(moved.position[-1]).max() > 0.01
    np.testing.assert_allclose(energy, energy[0], rtol=1e-7)


@pytest.mark.parametrize("driven", ["a", "c"], ids=["the followed joint", "another"])
def test_reactions_are_those_of_the_balances_of_bodies(driven: str) -> None:
    robot = Robot.of(parse_robot(BELTS.replace("actuated: [a]", f"actuated: [{driven}]"), "b").family, {})
    moving = motion()
    found = joint_reactions_reference(robot, **moving, method="least_norm")
    assert found.residual.max() < 1e-9
    np.testing.assert_allclose(found.actuator_force, inverse_dynamics(robot, **moving).force, rtol=1e-8, atol=1e-8)
    sure = unique(robot)
    assert sure.mean() > 0.3
    reactions = joint_reactions(robot, **moving).wrench
    np.testing.assert_allclose(found.wrench[:, sure], reactions[:, sure], rtol=1e-8, atol=1e-8)


def test_another_working_mode_keeps_the_belt() -> None:
    robot = Robot.of(parse_robot(BELTS, "b").family, {})
    other = on_branch(robot, joints={"leg1": {"a": 1.0}})
    table = dict(other.family.assemble.reference[0][1])  # type: ignore[attr-defined]
    assert table["b"] == pytest.approx(-0.6 * table["a"], abs=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("actuated: [a]", "actuated: [a, b]", "got 'b'; expected no joint that follows another"),
        ("of: a,", "of: d,", "couplings[0].of: got 'd'; expected a joint of a link of this limb"),
        (
            "mobility: [wz, vx, vy]",
            "coordinates: [x, y, yaw]",
            "got a coupling in a limb at a platform with coordinates",
        ),
    ],
)
def test_belts_that_cannot_be_are_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_robot(BELTS.replace(old, new, 1), "b")
    assert message in str(caught.value)
