"""Parts of normal loads and of friction of joints, and wrenches of links, against sums by hand and Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline import Sweep, run
from robots import catalog
from robots.friction.groups import LOADS
from tests.pipeline.runs import SYNCHRONOUS
from tests.tasks.mechanics.test_loads_peers import tree_of

DRY = {"coulomb": 0.1, "static": 0.15, "viscous": 0.02, "stribeck_velocity": 0.3, "preload": 0.4}
PINS = ", ".join(f"{name}: {value}" for name, value in DRY.items())
MOTORS = "preload: 2, coulomb: 0.1, viscous: 0.3"
RUBBING = f"""\
limbsweep: 1
robot: five_bar
friction:
  groups:
    pins: {{law: stribeck, joints: passive, load: reaction, parameters: {{friction_arm: 0.01, {PINS}}}}}
    motors: {{law: coulomb_viscous, joints: actuated, load: preload, parameters: {{{MOTORS}}}}}
  grid: {{pins_pin_radius: [0.012, 0.02]}}
trajectories: {{circle: {{kind: circle, radius: 0.05, normal: [0, 1, 0], period: 0.7}}}}
time: {{stop: 0.9, step: 0.3}}
outputs: [joint_friction, normal_load_part, joint_friction_part, bearing_load, joint_velocity]
"""
MOVING = """\
limbsweep: 1
robot: {robot}
trajectories: {{swing: {{kind: harmonic, amplitude: 0.4, period: 1.2}}}}
time: {{stop: 0.9, step: 0.3}}
outputs: [link_wrench, link_position, link_rotation, link_twist, link_acceleration, joint_position, joint_velocity,
          joint_acceleration]
"""


def test_parts_of_friction_are_those_of_what_bearings_carry() -> None:
    part = run(Sweep.from_text(RUBBING), cluster=SYNCHRONOUS).isel(design=0, trajectory=0)
    assert list(part["friction_part"].values) == ["bending", "radial", "along", "preload", "other"]
    assert list(part["load_part"].values) == ["bending", "radial", "along", "preload"]
    arm = next(p.default for p in LOADS["reaction"] if p.name == "bending_arm")
    for k, radius in enumerate(part["pins_pin_radius"].values):
        bearing, speed = part["bearing_load"].values[k, :, :, 1:], part["joint_velocity"].values[:, :, 1:]
        across, side, along = np.moveaxis(bearing, -1, 0)
        loads = np.stack([across / arm * radius, side * radius, along * 0.01, np.full(side.shape, 0.4)], axis=-1)
        np.testing.assert_allclose(part["normal_load_part"].values[k, :, :, 1:], loads, rtol=1e-9, atol=1e-12)
        size = DRY["coulomb"] + (DRY["static"] - DRY["coulomb"]) * np.exp(-((speed / DRY["stribeck_velocity"]) ** 2))
        found = part["joint_friction_part"].values[k, :, :, 1:]
        np.testing.assert_allclose(found[..., :4], (size * np.sign(speed))[..., None] * loads, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found[..., 4], DRY["viscous"] * speed, rtol=1e-12, atol=1e-15)
    whole = part["joint_friction"].values
    np.testing.assert_allclose(part["joint_friction_part"].sum("friction_part", skipna=False), whole, atol=1e-13)
    motors, turning = part["joint_friction_part"].values[0, :, :, 0], part["joint_velocity"].values[:, :, 0]
    np.testing.assert_allclose(motors[..., 3], 0.2 * np.sign(turning), rtol=1e-14)
    np.testing.assert_allclose(motors[..., 4], 0.3 * turning, rtol=1e-14)
    assert not motors[..., :3].any()


def test_wrenches_of_links_are_those_of_pinocchio() -> None:
    pytest.importorskip("pinocchio", reason="Pinocchio is missing")
    tree = tree_of(catalog.build("ur5e"))
    part = run(Sweep.from_text(MOVING.format(robot="ur5e")), cluster=SYNCHRONOUS).isel(design=0, trajectory=0)
    for k in range(part.sizes["time"]):
        states = [part[f"joint_{name}"].values[k, 0] for name in ("position", "velocity", "acceleration")]
        joints = tree.wrenches(*states)  # of a serial arm: each carries the next
        places = np.array([tree.data.oMi[joint].translation for joint in tree.joint])
        expected = joints.copy()
        expected[:-1] -= joints[1:]
        expected[:-1, :3] -= np.cross(places[1:] - places[:-1], joints[1:, 3:])
        assert np.abs(part["link_wrench"].values[k, 0] - expected).max() < 1e-11 * np.abs(expected).max()


def test_wrenches_of_links_in_loops_are_what_their_motion_takes() -> None:
    robot = catalog.build("three_loop_leg")
    part = run(Sweep.from_text(MOVING.format(robot="three_loop_leg")), cluster=SYNCHRONOUS).isel(design=0, trajectory=0)
    turn, twist, change = (part[f"link_{name}"].values[:, 0] for name in ("rotation", "twist", "acceleration"))
    for i, link in enumerate(robot.mechanism.limbs[0].links):
        mass, rotation = float(link.inertia.mass), turn[:, i]
        centre = rotation @ np.array(link.inertia.centre, dtype=float)
        tensor = rotation @ np.array(link.inertia.tensor, dtype=float) @ rotation.swapaxes(1, 2)
        omega, alpha, lifted = twist[:, i, :3], change[:, i, :3], change[:, i, 3:] + [0.0, 0.0, 9.81]
        force = mass * (lifted + np.cross(alpha, centre) + np.cross(omega, np.cross(omega, centre)))
        spin = np.einsum("tij,tj->ti", tensor, omega)
        moment = np.einsum("tij,tj->ti", tensor, alpha) + np.cross(omega, spin) + np.cross(centre, force)
        expected = np.concatenate([moment, force], axis=1)
        np.testing.assert_allclose(part["link_wrench"].values[:, 0, i], expected, rtol=1e-11, atol=1e-11)
