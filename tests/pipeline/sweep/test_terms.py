"""Outputs that the papers' equations are made of: coefficients, effective inertias, forces of loads, bearing loads."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline import Sweep, run
from robots import catalog
from tasks import constraint_forces
from tests.pipeline.runs import SYNCHRONOUS
from tests.tasks.mechanics.test_loads_peers import tree_of

ARM = """\
limbsweep: 1
robot: ur5e
trajectories: {swing: {kind: harmonic, amplitude: 0.6, period: 1.2}}
time: {stop: 1.0, step: 0.2}
outputs: [coriolis_coefficients, coriolis_force, effective_inertia, joint_position, joint_velocity]
"""
PLATFORM = """\
limbsweep: 1
robot: {robot}
{loads}
trajectories:
  circle: {{kind: circle, radius: 0.05, period: 0.7{turn}, load: {{force: [3, -2, 20], axes: platform}}}}
time: {{stop: 1.0, step: 0.2}}
outputs: [actuator_force, mass_matrix, coriolis_force, coriolis_coefficients, gravity_force, load_force,
          inverse_jacobian, actuator_mass, effective_inertia, platform_twist, platform_acceleration]
"""
LOADS = "loads: {s: {kind: spring, body: '*', at: [0.02, 0, 0.01], to: [0, 0.1, 0.3], stiffness: 90, damping: 3}}"


def test_coefficients_of_an_arm_are_those_of_pinocchio() -> None:
    pytest.importorskip("pinocchio", reason="Pinocchio is missing")
    robot = catalog.build("ur5e")
    tree, part = tree_of(robot), run(Sweep.from_text(ARM), cluster=SYNCHRONOUS).isel(design=0, trajectory=0)
    joints = len(robot.mechanism.freedoms)
    armature = np.array([link.armature for link in robot.mechanism.limbs[0].links])
    none, units = np.zeros(joints), np.eye(joints)
    for k in range(part.sizes["time"]):
        q, found = part["joint_position"].values[k, 0], part["coriolis_coefficients"].values[k]
        weight = tree.rnea(q, none, none)

        def squares(speed: np.ndarray, q: np.ndarray = q, weight: np.ndarray = weight) -> np.ndarray:
            return np.asarray(tree.rnea(q, speed, none) - weight)

        expected = np.array(
            [
                [(squares(a + b) - squares(a - b)) * 0.25 for b in units]  # by polarisation
                for a in units
            ]
        ).transpose(2, 0, 1)
        assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()
        inertia = np.diagonal(tree.inertia_matrix(q)) + armature
        np.testing.assert_allclose(part["effective_inertia"].values[k], inertia, rtol=1e-10)


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "gough_stewart"])
def test_equations_of_motion_close_with_the_forces_of_loads(name: str) -> None:
    turn = ", turn: {kind: harmonic, amplitude: [0.1, 0.05, 0.2], period: 1.0}" if name == "gough_stewart" else ""
    results = run(Sweep.from_text(PLATFORM.format(robot=name, loads=LOADS, turn=turn)), cluster=SYNCHRONOUS)
    part = results.isel(design=0, trajectory=0, friction=0, missing_dims="ignore")
    freedoms = [("wx", "wy", "wz", "vx", "vy", "vz").index(str(label)) for label in part["freedom"].values]
    speed, change = (part[f"platform_{key}"].values[:, freedoms] for key in ("twist", "acceleration"))
    force = np.einsum("taf,ta->tf", part["inverse_jacobian"].values, part["actuator_force"].values)
    taken = np.einsum("tfg,tg->tf", part["mass_matrix"].values, change) + part["coriolis_force"].values
    left = taken + part["gravity_force"].values - part["load_force"].values - force
    assert np.abs(left).max() < 1e-11 * np.abs(force).max()
    assert np.abs(part["load_force"].values).max() > 1.0
    coefficients = part["coriolis_coefficients"].values
    squares = np.einsum("tijk,tj,tk->ti", coefficients, speed, speed)
    largest = np.abs(part["coriolis_force"].values).max()
    assert np.abs(squares - part["coriolis_force"].values).max() < 1e-11 * largest
    assert np.array_equal(coefficients, coefficients.transpose(0, 1, 3, 2))
    diagonal = np.diagonal(part["actuator_mass"].values, axis1=1, axis2=2)
    np.testing.assert_array_equal(part["effective_inertia"].values, diagonal)


def test_bearing_loads_are_the_constraint_forces_of_all_joints_with_one_variable() -> None:
    text = (
        "limbsweep: 1\nrobot: delta_3r2us\ndesign: {grid: {payload_mass: [0, 1]}}\n"
        "trajectories: {circle: {kind: circle, radius: 0.1, period: 0.7}}\ntime: {stop: 1.0, step: 0.2}\n"
        "outputs: [bearing_load, platform_position, platform_twist, platform_acceleration]\n"
    )
    results = run(Sweep.from_text(text), cluster=SYNCHRONOUS)
    part = results.isel(design=1, trajectory=0)
    assert list(part["bearing"].values) == ["moment_across", "force_across", "along"]
    motion = {key: part[f"platform_{key}"].values for key in ("position", "twist", "acceleration")}
    expected = constraint_forces(catalog.build("delta_3r2us", payload_mass=1.0), **motion)
    wanted = np.stack([expected.moment_across, expected.force_across, expected.along], axis=-1)
    found = part["bearing_load"].values
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    assert np.nanmax(np.abs(found - wanted)) < 1e-10 * np.nanmax(wanted)
    alone = Sweep.from_text(text.replace("[bearing_load,", "[{bearing_load: ['limb2.1']},"))
    chosen = run(alone, cluster=SYNCHRONOUS).isel(design=1, trajectory=0)["bearing_load"]
    np.testing.assert_array_equal(chosen.values[:, 0], part["bearing_load"].sel(limb="limb2", joint="1").values)
