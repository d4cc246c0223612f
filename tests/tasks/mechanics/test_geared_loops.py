"""Joints of closed loops that follow others: beside the same linkages without gears, by virtual work, and closed forms.

A linkage without its gear has one freedom more. Along the motions that the gear allows both are the same, and the force
of the gear does no work: forces are those of the linkage without it, by the ways that are left.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import limbsweep as ls
from robots.model import Coupling, Family, Mechanism, Robot
from tasks.checks.newton_euler_system import joint_reactions_reference
from tasks.mechanics.families import structure_of
from tasks.mechanics.topology import TopologyError

GRAVITY = (1.0, -9.0, 0.5)

HEAD = """
limbsweep: 1
name: NAME
title: Linkage with gears
parameters:
  gear: {default: GEAR, unit: "1", lower: -5, upper: 5, text: ratio}
limbs:
  bars:
"""


def bar(joint: str, body: str, parent: str, at: tuple[float, float], length: float, turn: float) -> str:
    """Return a bar of some length along x, whose joint is at a point of its parent, turned by degrees."""
    mass = 1.0 + length
    across = mass * length**2 / 10
    return (
        f"      - {{joint: {joint}, body: {body}, parent: {parent}, kind: revolute, axis: z, "
        f"placement: {{position: [{at[0]}, {at[1]}, 0], turn: {{z: {turn}}}}}, inertia: {{mass: {mass}, "
        f"centre: [{length / 2}, 0.02, 0.01], moments: [{across / 4}, {across}, {across / 0.9}]}}}}\n"
    )


def pin(joint: str, a: str, length_a: float, b: str, length_b: float) -> str:
    """Return the pin at the ends of two bars."""
    return (
        f"      - {{joint: {joint}, kind: revolute, a: {a}, frame_a: {{position: [{length_a}, 0, 0]}}, "
        f"b: {b}, frame_b: {{position: [{length_b}, 0, 0]}}}}\n"
    )


FIVE = (
    bar("a", "left", "base", (0, 0), 0.4, 110)
    + bar("c", "left_rod", "left", (0.4, 0), 0.7, -75)
    + bar("b", "right", "base", (0.5, 0), 0.4, 60)
    + bar("d", "right_rod", "right", (0.4, 0), 0.7, 70)
)
FIVE_PIN = pin("tip", "left_rod", 0.7, "right_rod", 0.7)
DOUBLE_CRANK = (  # the shortest bar is the ground: crank and rocker go round
    bar("crank", "crank", "base", (0, 0), 0.5, 90)
    + bar("coupler", "coupler", "crank", (0.5, 0), 0.4, -60)
    + bar("rocker", "rocker", "base", (0.2, 0), 0.45, 70)
)
DOUBLE_PIN = pin("pin", "coupler", 0.4, "rocker", 0.45)
SECOND = (
    bar("input", "input", "base", (1.0, 0), 0.15, 30)
    + bar("link", "link", "input", (0.15, 0), 0.5, -10)
    + bar("output", "output", "base", (1.5, 0), 0.3, 80)
)
SECOND_PIN = pin("end", "link", 0.5, "output", 0.3)


def linkage(folder: Path, name: str, bars: str, pins: str, gears: str, driven: str, gear: float) -> Robot:
    """Return a linkage with gears and drives, closed from its rough positions."""
    text = HEAD.replace("NAME", name).replace("GEAR", str(gear)) + f"    links:\n{bars}    loops:\n{pins}"
    text += f"    couplings: {gears}\n"
    path = folder / f"{name}.yaml"
    path.write_text(text + f"    actuated: {driven}\n    reference: {{}}\n")
    return ls.robots.read(path)


CASES = {
    # crank follows crank in one loop; a joint that the loop moves follows another one of it; and of another loop
    "geared_five_bar": (FIVE, FIVE_PIN, "[{joint: b, of: a, ratio: gear}]", "a", "b", -0.7),
    "geared_rods": (FIVE, FIVE_PIN, "[{joint: d, of: c, ratio: gear}]", "a", "b", -0.6),
    "geared_loops": (
        DOUBLE_CRANK + SECOND,
        DOUBLE_PIN + SECOND_PIN,
        "[{joint: input, of: rocker, ratio: gear}]",
        "crank",
        "input",
        0.5,
    ),
    "difference": (
        DOUBLE_CRANK + SECOND,
        DOUBLE_PIN + SECOND_PIN,
        "[{joint: input, of: {rocker: gear, crank: 0.25}}]",
        "crank",
        "input",
        -0.5,
    ),
}


def both(folder: Path, case: str) -> tuple[Robot, Robot]:
    """Return a linkage with its gear, and without, the joint that the gear makes free driven as well."""
    bars, pins, gears, driven, other, gear = CASES[case]
    geared = linkage(folder, case, bars, pins, gears, f"[{driven}]", gear)
    limb = replace(geared.mechanism.limbs[0], couplings=(), actuated=(driven, other))
    mechanism = Mechanism.standing(limb)
    return geared, Robot.of(Family(f"{case}_free", "linkage", "test", (), lambda p: mechanism), {})


def gear_gap(case: str, robot: Robot, position: np.ndarray) -> np.ndarray:
    """Return what is left of the law of a gear for values (n, joint) of all joints of the tree."""
    joints = [link.joint for link in robot.mechanism.limbs[0].links]
    followers = robot.mechanism.limbs[0].couplings
    gap = position[:, joints.index(followers[0].joint)].copy()
    for entry in followers:
        gap -= float(entry.ratio) * position[:, joints.index(entry.of)]
    return gap


@pytest.mark.parametrize("case", CASES)
def test_motion_and_forces_are_those_without_the_gear_by_virtual_work(case: str, tmp_path: Path) -> None:
    geared, loose = both(tmp_path, case)
    assert geared.mechanism.freedoms == (CASES[case][3],)
    random = np.random.default_rng(43)
    q, qd, qdd = random.uniform(-0.4, 0.4, (12, 1)), random.normal(size=(12, 1)), 4 * random.normal(size=(12, 1))
    moved = ls.inverse_kinematics(geared, q=q, qd=qd, qdd=qdd)
    assert not moved.status.any()
    names = [link.joint for link in geared.mechanism.limbs[0].links]
    free = [names.index(name) for name in loose.mechanism.freedoms]
    for values in (moved.position, moved.velocity, moved.acceleration):
        np.testing.assert_allclose(gear_gap(case, geared, values[:, 0]), 0.0, atol=1e-12)
    whole = {"q": moved.position, "qd": moved.velocity, "qdd": moved.acceleration}
    state = {key: values[:, 0][:, free] for key, values in whole.items()}
    apart = ls.inverse_kinematics(loose, **state)
    for ours, theirs in zip(whole.values(), (apart.position, apart.velocity, apart.acceleration), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10)
    ways = ls.inverse_kinematics(geared, q=q, qd=np.ones_like(q)).velocity[:, 0][:, free]
    expected = np.sum(ls.inverse_dynamics(loose, **state, gravity=GRAVITY).force * ways, axis=1)
    force = ls.inverse_dynamics(geared, q=q, qd=qd, qdd=qdd, gravity=GRAVITY).force[:, 0]
    np.testing.assert_allclose(force, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("case", ["geared_loops", "difference"])
def test_gears_of_cranks_that_go_round_count_turns(case: str, tmp_path: Path) -> None:
    geared, _ = both(tmp_path, case)
    turns = np.array([-3.2, -1.0, 0.4, 1.0, 2.0, 4.7])[:, None]
    near = ls.inverse_kinematics(geared, q=np.zeros((1, 1)))
    found = ls.inverse_kinematics(geared, q=turns * 2 * np.pi)
    assert not found.status.any()
    np.testing.assert_allclose(gear_gap(case, geared, found.position[:, 0]), 0.0, atol=1e-11)
    names = [link.joint for link in geared.mechanism.limbs[0].links]
    whole = np.isin(turns[:, 0], (-1.0, 1.0, 2.0))
    rocker = found.position[whole, 0, names.index("rocker")] - near.position[0, 0, names.index("rocker")]
    np.testing.assert_allclose(rocker, turns[whole, 0] * 2 * np.pi, atol=1e-9)
    # a way of many short steps leads to the same configuration
    way = ls.inverse_kinematics(geared, q=np.linspace(0.0, 4.7 * 2 * np.pi, 400)[:, None])
    np.testing.assert_allclose(way.position[-1], found.position[-1], atol=1e-9)
    steps = np.abs(np.diff(way.position[:, 0, : len(names)], axis=0))
    assert steps.max() < 0.5


@pytest.mark.parametrize("case", CASES)
def test_reactions_are_those_of_free_bodies_and_motion_is_the_inverse(case: str, tmp_path: Path) -> None:
    geared, _ = both(tmp_path, case)
    random = np.random.default_rng(44)
    state = {"q": random.uniform(-0.4, 0.4, (6, 1)), "qd": random.normal(size=(6, 1))}
    qdd = 4 * random.normal(size=(6, 1))
    expected = joint_reactions_reference(geared, **state, qdd=qdd, gravity=GRAVITY, method="least_norm")
    found = ls.joint_reactions(geared, **state, qdd=qdd, gravity=GRAVITY)
    scale = np.abs(expected.wrench).max()
    np.testing.assert_allclose(found.wrench, expected.wrench, rtol=0, atol=1e-9 * scale)
    force = ls.inverse_dynamics(geared, **state, qdd=qdd, gravity=GRAVITY).force
    np.testing.assert_allclose(force, expected.actuator_force, rtol=0, atol=1e-10 * scale)
    again = ls.forward_dynamics(geared, **state, gravity=GRAVITY, forces=ls.Forces(actuator=force)).acceleration
    np.testing.assert_allclose(again, qdd, rtol=1e-9)
    terms = ls.equations_of_motion(geared, **state, gravity=GRAVITY)
    whole = terms.mass[:, 0] * qdd + terms.coriolis[:, 0] * state["qd"] + terms.gravity
    np.testing.assert_allclose(whole, force, rtol=0, atol=1e-10 * np.abs(force).max())


@pytest.mark.parametrize("case", ["geared_rods", "difference"])
def test_simulations_keep_their_energy(case: str, tmp_path: Path) -> None:
    geared, _ = both(tmp_path, case)
    start, times = ls.State(q=[0.1], qd=[1.0]), np.linspace(0.0, 0.3, 4)
    for integrator in ("rk4", "spanning_tree"):
        motion = ls.simulate(geared, start, None, times, step=5e-4, integrator=integrator)
        terms = ls.equations_of_motion(geared, q=motion.q, qd=motion.qd)
        energy = terms.kinetic_energy + terms.potential_energy
        np.testing.assert_allclose(energy, energy[0], rtol=1e-7, atol=1e-7)


def test_friction_of_a_joint_behind_a_gear_loads_the_motor_by_its_rate(tmp_path: Path) -> None:
    geared, _ = both(tmp_path, "geared_loops")
    state = {"q": [[0.2]], "qd": [[1.5]]}
    rubbing = ls.Forces(friction={"law": "coulomb_viscous", "joints": "output", "coulomb": 0.7, "viscous": 0.2})
    added = ls.inverse_dynamics(geared, **state, forces=rubbing).force - ls.inverse_dynamics(geared, **state).force
    moved = ls.inverse_kinematics(geared, **state)
    rate = moved.velocity[0, 0, [link.joint for link in geared.mechanism.limbs[0].links].index("output")]
    torque = 0.7 * np.sign(rate) + 0.2 * rate
    np.testing.assert_allclose(added[0, 0], torque * rate / 1.5, rtol=1e-9)


def test_forces_are_those_of_the_regressor_and_designs_change_the_gear(tmp_path: Path) -> None:
    geared, _ = both(tmp_path, "geared_loops")
    random = np.random.default_rng(3)
    q, qd, qdd = random.uniform(-0.4, 0.4, (3, 40, 1))
    rows = ls.regressor(geared, q=q, qd=qd, qdd=qdd, gravity=GRAVITY)
    force = ls.inverse_dynamics(geared, q=q, qd=qd, qdd=qdd, gravity=GRAVITY).force
    matrix = rows.matrix.reshape(-1, rows.matrix.shape[-1])
    found = np.linalg.lstsq(matrix, force.ravel(), rcond=None)[0]
    np.testing.assert_allclose(matrix @ found, force.ravel(), rtol=0, atol=1e-9)
    text = """
limbsweep: 1
robot: ./geared_loops.yaml
design: {grid: {gear: [0.3, 0.5]}}
trajectories: {swing: {kind: harmonic, amplitude: [0.5], period: 1.0}}
time: {stop: 1.0, step: 0.05}
outputs: [actuator_force, joint_position]
"""
    result = ls.compute(ls.Sweep.from_text(text, folder=tmp_path)).squeeze()
    angles = result["joint_position"].values.reshape(2, 21, -1)
    for k, gear in enumerate((0.3, 0.5)):
        np.testing.assert_allclose(angles[k][:, 3], gear * angles[k][:, 2], atol=1e-10)


@pytest.mark.parametrize("case", CASES)
def test_mujoco_has_the_same_forces(case: str, tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    geared, _ = both(tmp_path, case)
    again = ls.robots.load(ls.robots.write(geared, tmp_path / "geared.xml"))
    random = np.random.default_rng(45)
    state = {key: random.uniform(-0.4, 0.4, (5, 1)) for key in ("q", "qd", "qdd")}
    expected = ls.inverse_dynamics(geared, **state).force
    np.testing.assert_allclose(ls.inverse_dynamics(again, **state).force, expected, atol=1e-7 * np.abs(expected).max())


LIMB = HEAD.replace("NAME", "two_arms").replace("GEAR", "0.5").replace("bars", "arm") + (
    "    links:\n"
    + bar("crank", "crank", "base", (-0.3, 0), 0.12, -100)
    + bar("coupler", "coupler", "crank", (0.12, 0), 0.32, 100)
    + bar("upper", "upper", "base", (0, 0), 0.4, -95)
    + bar("elbow", "lower", "upper", (0.4, 0), 0.45, 40)
    + bar("dial", "dial", "coupler", (0.1, 0), 0.1, 20)
    + "    loops:\n      - {joint: pin, kind: revolute, a: coupler, frame_a: {position: [0.32, 0, 0]}, b: upper, "
    "frame_b: {position: [0.15, 0, 0]}}\n"
    + """    couplings: [{joint: dial, of: {upper: gear, crank: -1}}]
    actuated: [crank]
    reference: {}
    tips:
      - {joint: tip, kind: revolute, a: lower, frame_a: {position: [0.45, 0, 0]}}
instances:
  left: {limb: arm, base: {position: [-0.3, 0, 0]}}
  right: {limb: arm, base: {position: [0.3, 0, 0]}, mirror: x}
platform: {mobility: [vx, vy], home: {position: [0, -0.7, 0]}, inertia: {mass: 0.5}}
"""
)


def test_limbs_at_a_platform_have_gears_on_their_loops(tmp_path: Path) -> None:
    path = tmp_path / "two_arms.yaml"
    path.write_text(LIMB)
    robot, random = ls.robots.read(path), np.random.default_rng(46)
    home = np.array([0.0, -0.7, 0.0])
    position = home + random.uniform(-0.05, 0.05, (6, 3)) * (1, 1, 0)
    twist, acceleration = np.zeros((6, 6)), np.zeros((6, 6))
    twist[:, 3:5], acceleration[:, 3:5] = random.normal(size=(2, 6, 2))
    moving = {"position": position, "twist": twist, "acceleration": acceleration}
    moved = ls.inverse_kinematics(robot, **moving)
    assert not moved.status.any()
    for values in moved[:3]:
        np.testing.assert_allclose(values[..., 4], 0.5 * values[..., 2] - values[..., 0], atol=1e-12)
    done = ls.inverse_dynamics(robot, **moving, gravity=GRAVITY)
    expected = joint_reactions_reference(robot, **moving, gravity=GRAVITY, method="least_norm")
    np.testing.assert_allclose(done.force, expected.actuator_force, rtol=1e-9)
    found = ls.joint_reactions(robot, **moving, gravity=GRAVITY).wrench
    np.testing.assert_allclose(found, expected.wrench, rtol=0, atol=1e-9 * np.abs(expected.wrench).max())
    forces = ls.Forces(actuator=done.force)
    again = ls.forward_dynamics(robot, position=position, twist=twist, gravity=GRAVITY, forces=forces).acceleration
    np.testing.assert_allclose(again, acceleration, rtol=0, atol=1e-8)


def test_gears_that_leave_no_freedom_are_told(tmp_path: Path) -> None:
    limb = both(tmp_path, "geared_loops")[0].mechanism.limbs[0]
    mechanism = Mechanism.standing(replace(limb, couplings=(*limb.couplings, Coupling("coupler", "crank", 2.0))))
    with pytest.raises(
        TopologyError, match="the driven joint crank of a loop, whose joints follow others, with 0 freedoms"
    ):
        structure_of(Family("stuck", "linkage", "test", (), lambda p: mechanism))
