"""Joints that follow several others, as in a differential: by virtual work, free bodies, files and other programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import limbsweep as ls
from pipeline.errors import InputError
from robots.model import Robot
from tasks.checks.newton_euler_system import joint_reactions_reference

LEFT, RIGHT, CARRIER, PLANET, ARM = 0.02, 0.03, 0.5, 0.004, 0.3

TEXT = """
limbsweep: 1
name: differential
title: Two driven wheels, the carrier at their mean, a planet on it at half their difference, and an arm on the carrier
parameters:
  share: {default: 0.5, unit: "1", lower: 0.1, upper: 0.9, text: of the left wheel in the turn of the carrier}
limbs:
  gear:
    links:
      - {joint: left, body: left_wheel, parent: base, kind: revolute, axis: z, inertia: {mass: 1, centre: [0, 0, 0],
         moments: [0.02, 0.02, 0.02]}}
      - {joint: right, body: right_wheel, parent: base, kind: revolute, axis: z, inertia: {mass: 1, centre: [0, 0, 0],
         moments: [0.03, 0.03, 0.03]}}
      - {joint: turn, body: carrier, parent: base, kind: revolute, axis: z, inertia: {mass: 2, centre: [0.3, 0, 0],
         moments: [0.5, 0.5, 0.5]}}
      - {joint: spin, body: planet, parent: carrier, kind: revolute, axis: x, inertia: {mass: 0.5, centre: [0, 0, 0],
         moments: [0.004, 0.004, 0.004]}}
      - {joint: elbow, body: arm, parent: carrier, kind: revolute, axis: z, placement: {position: [0.3, 0, 0]},
         inertia: {mass: 0.8, centre: [0.2, 0, 0], moments: [0.01, 0.01, 0.01]}}
    couplings:
      - {joint: turn, of: {left: share, right: 1 - share}}
      - {joint: spin, of: {left: 0.5, right: -0.5}}
    actuated: [left, right, elbow]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the file of a differential with an arm on its carrier."""
    path = tmp_path / "differential.yaml"
    path.write_text(TEXT)
    return path


def free(file: Path) -> tuple[Robot, Robot]:
    """Return the robot, and the same without couplings, all joints driven."""
    text = file.read_text()
    at, end = text.index("    couplings:"), text.index("    actuated:")
    other = file.parent / "free.yaml"
    other.write_text(text[:at] + text[end:].replace("[left, right, elbow]", "[left, right, turn, spin, elbow]"))
    return ls.robots.read(file), ls.robots.read(other)


def test_positions_and_forces_are_those_of_free_joints_by_virtual_work(file: Path) -> None:
    robot, whole = free(file)
    ways = np.array([[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0], [0.5, -0.5, 0], [0, 0, 1]])  # all joints over the given
    generator = np.random.default_rng(39)
    q, qd, qdd = generator.normal(size=(3, 20, 3)) * 3.0
    found = ls.inverse_kinematics(robot, q=q, qd=qd, qdd=qdd)
    np.testing.assert_allclose(found.position[:, 0], q @ ways.T, rtol=0, atol=1e-12)  # turns counted
    gravity = (0.0, -9.81, 0.0)
    force = ls.inverse_dynamics(robot, q=q, qd=qd, qdd=qdd, gravity=gravity).force
    apart = ls.inverse_dynamics(whole, q=q @ ways.T, qd=qd @ ways.T, qdd=qdd @ ways.T, gravity=gravity).force
    np.testing.assert_allclose(force, apart @ ways, rtol=0, atol=1e-11)


def test_reactions_and_forces_are_those_of_free_bodies(file: Path) -> None:
    robot, _ = free(file)
    state = {"q": [0.3, -0.8, 1.1], "qd": [2.0, 1.0, -3.0], "qdd": [5.0, -4.0, 2.0], "gravity": (0.0, -9.81, 0.0)}
    bodies = joint_reactions_reference(robot, **state)
    found = ls.joint_reactions(robot, **state)
    np.testing.assert_allclose(found.wrench, bodies.wrench, rtol=0, atol=1e-10)


def test_motion_is_the_inverse_and_keeps_its_energy(file: Path) -> None:
    robot, _ = free(file)
    state = {"q": [0.3, -0.8, 1.1], "qd": [2.0, 1.0, -3.0]}
    force = ls.inverse_dynamics(robot, **state, qdd=[5.0, -4.0, 2.0]).force
    moved = ls.forward_dynamics(robot, **state, forces=ls.Forces(actuator=force))
    np.testing.assert_allclose(moved.acceleration, [5.0, -4.0, 2.0], rtol=1e-10)
    motion = ls.simulate(robot, ls.State(**state), None, np.linspace(0.0, 0.5, 6), step=1e-3)
    energies = ls.equations_of_motion(robot, q=motion.q, qd=motion.qd)
    total = energies.kinetic_energy + energies.potential_energy
    np.testing.assert_allclose(total, total[0], rtol=1e-9)
    tree = ls.simulate(robot, ls.State(**state), None, np.linspace(0.0, 0.5, 6), step=1e-3, integrator="spanning_tree")
    np.testing.assert_allclose(tree.q, motion.q, rtol=0, atol=1e-7)


def test_friction_in_a_joint_that_follows_loads_all_that_it_follows(file: Path) -> None:
    robot, _ = free(file)
    state = {"q": [0.3, -0.8, 1.1], "qd": [2.0, 1.0, -3.0]}
    rubbing = {"law": "coulomb_viscous", "joints": "turn", "coulomb": 0.7, "viscous": 0.2}
    with_friction = ls.inverse_dynamics(robot, **state, forces=ls.Forces(friction=rubbing)).force
    added = with_friction - ls.inverse_dynamics(robot, **state).force
    torque = 0.7 + 0.2 * 1.5
    np.testing.assert_allclose(added, [0.5 * torque, 0.5 * torque, 0.0], rtol=1e-9, atol=1e-12)


def test_designs_change_ratios(file: Path) -> None:
    text = """
limbsweep: 1
robot: ./differential.yaml
design: {grid: {share: [0.3, 0.5]}}
trajectories: {swing: {kind: harmonic, amplitude: [0.5, 0.0, 0.0], period: 1.0}}
time: {stop: 1.0, step: 0.05}
outputs: [actuator_force, joint_position]
"""
    result = ls.compute(ls.Sweep.from_text(text, folder=file.parent)).squeeze()
    angles = result["joint_position"].values.reshape(2, 21, -1)
    np.testing.assert_allclose(angles[0][:, 2], 0.3 * angles[0][:, 0], atol=1e-12)
    np.testing.assert_allclose(angles[1][:, 2], 0.5 * angles[1][:, 0], atol=1e-12)


def test_parameters_are_identified(file: Path) -> None:
    robot, _ = free(file)
    generator = np.random.default_rng(3)
    q, qd, qdd = generator.normal(size=(3, 60, 3))
    rows = ls.regressor(robot, q=q, qd=qd, qdd=qdd, gravity=(0.0, -9.81, 0.0))
    force = ls.inverse_dynamics(robot, q=q, qd=qd, qdd=qdd, gravity=(0.0, -9.81, 0.0)).force
    matrix = rows.matrix.reshape(-1, rows.matrix.shape[-1])
    found = np.linalg.lstsq(matrix, force.ravel(), rcond=None)[0]
    np.testing.assert_allclose(matrix @ found, force.ravel(), rtol=0, atol=1e-9)


def test_mujoco_has_the_same_motion_by_a_fixed_tendon(file: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    robot, _ = free(file)
    path = ls.robots.write(robot, file.parent / "differential.xml")
    assert "<fixed" in path.read_text()
    again = ls.robots.load(path)
    state = {"q": [0.3, -0.8, 1.1], "qd": [2.0, 1.0, -3.0], "qdd": [5.0, -4.0, 2.0]}
    force = ls.inverse_dynamics(robot, **state).force
    order = [again.mechanism.actuators.index(name) for name in robot.mechanism.actuators]
    place = [again.mechanism.freedoms.index(name) for name in robot.mechanism.freedoms]
    other = {key: np.array(values)[np.argsort(place)] for key, values in state.items()}
    np.testing.assert_allclose(ls.inverse_dynamics(again, **other).force[order], force, rtol=0, atol=1e-9)
    assert mujoco.MjModel.from_xml_path(str(path)).ntendon == 2
    with pytest.raises(InputError, match="follows several joints; expected one, which URDF has"):
        ls.robots.write(robot, file.parent / "differential.urdf")


def test_files_are_written_and_read_again(file: Path) -> None:
    robot, _ = free(file)
    again = ls.robots.read(ls.robots.write(robot, file.parent / "again.yaml"))
    assert [(x.joint, x.of, float(x.ratio)) for x in again.mechanism.limbs[0].couplings] == [
        ("turn", "left", 0.5), ("turn", "right", 0.5), ("spin", "left", 0.5), ("spin", "right", -0.5),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("of: {left: 0.5, right: -0.5}", "of: {left: 0.5, rihgt: -0.5}", "a joint of a link of this limb"),
        ("of: {left: 0.5, right: -0.5}", "of: {left: 0.5, turn: 1}", "a joint that follows no other one"),
        ("of: {left: 0.5, right: -0.5}", "of: {left: 0.5}, ratio: 2", "a ratio of each joint that is followed"),
        ("of: {left: 0.5, right: -0.5}", "of: left", "a ratio of each joint that is followed"),
        ("{joint: spin,", "{joint: turn,", "one coupling of a joint"),
    ],
)
def test_mistakes_are_told(file: Path, old: str, new: str, expected: str) -> None:
    file.write_text(TEXT.replace(old, new))
    with pytest.raises(InputError, match=expected):
        ls.robots.read(file)
