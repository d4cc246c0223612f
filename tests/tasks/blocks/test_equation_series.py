"""Terms of the equations of motion as time series of a block: against the functions of a batch, and each other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pipeline.execution import work
from robots import catalog
from robots.requested import QuantityNames
from robots.trajectories.trajectory import Trajectory
from tasks import equations_of_motion, inertia_matrix, inverse_dynamics
from tasks.blocks.block import Block, motions
from tasks.dynamics.records import Moving
from tests.tasks import trees
from tests.tasks.blocks.test_gradients import block

FIELDS = {
    "inverse_jacobian": "jacobian",
    "inverse_jacobian_rate": "jacobian_rate",
    "mass_matrix": "mass",
    "coriolis_matrix": "coriolis",
    "gravity_force": "gravity",
    "actuator_mass": "actuator_mass",
    "kinetic_energy": "kinetic_energy",
    "potential_energy": "potential_energy",
}
FIELDS |= {"forward_jacobian": "forward", "actuator_gravity_force": "actuator_gravity"}
SERIES = (*FIELDS, "coriolis_force", "actuator_coriolis_force", "centre_of_mass", "momentum")


def motion_of(of: Block) -> Moving:
    """The motion of the block's only trajectory as the functions of a batch take it."""
    mechanism, columns = of.family.reference, motions(of).motion[0][:, : len(of.times)].T
    parts: dict[str, Any]
    if mechanism.is_chain:
        parts = dict(zip(("q", "qd", "qdd"), np.split(columns, 3, axis=1), strict=True))
    elif columns.shape[1] == 9:
        position, velocity, acceleration = np.split(columns, 3, axis=1)
        still = np.zeros_like(position)
        twist, change = (np.concatenate([still, part], axis=1) for part in (velocity, acceleration))
        parts = {"position": position, "twist": twist, "acceleration": change}
    else:
        position, rotation, twist, change = np.split(columns, (3, 12, 18), axis=1)
        turns = rotation.reshape(-1, 3, 3)
        parts = {"position": position, "rotation": turns, "twist": twist, "acceleration": change}
    return Moving(**parts)  # type: ignore[typeddict-item]


@pytest.mark.parametrize("name", catalog.FAMILIES)
def test_series_are_the_equations_of_motion(name: str) -> None:
    asked = replace(block(name), quantities=QuantityNames(SERIES))
    series = {key: values[0, 0] for key, values in work.whole(asked).items() if key in SERIES}
    moving, robot = motion_of(asked), catalog.build(name)
    form = equations_of_motion(robot, **moving)
    for key, field in FIELDS.items():
        expected = getattr(form, field)
        size = np.abs(expected).max()
        np.testing.assert_allclose(series[key], expected, rtol=0.0, atol=1e-12 * max(size, 1e-9), err_msg=key)
    np.testing.assert_allclose(series["mass_matrix"], inertia_matrix(robot, **moving).matrix, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("name", catalog.FAMILIES)
def test_forces_follow_from_the_terms(name: str) -> None:
    """M a + C v + g = J_IK^T u with the forces of inverse dynamics, which knows nothing of M and C."""
    asked = replace(block(name), quantities=QuantityNames(SERIES))
    series = {key: values[0, 0] for key, values in work.whole(asked).items() if key in SERIES}
    moving, robot = motion_of(asked), catalog.build(name)
    mechanism = robot.mechanism
    if mechanism.is_chain:
        change = np.asarray(moving["qdd"])
    else:
        axes = [("wx", "wy", "wz", "vx", "vy", "vz").index(axis) for axis in mechanism.freedoms]
        change = np.asarray(moving["acceleration"])[:, axes]
    needed = np.einsum("tij,tj->ti", series["mass_matrix"], change) + series["coriolis_force"] + series["gravity_force"]
    given = np.einsum("tai,ta->ti", series["inverse_jacobian"], inverse_dynamics(robot, **moving).force)
    np.testing.assert_allclose(needed, given, rtol=0.0, atol=1e-10 * np.abs(given).max())


def test_a_sample_that_failed_has_no_terms() -> None:
    asked = block("five_bar")
    far = Trajectory("line_sine", {"centre": [0.0] * 3, "amplitude": [1.5, 0.0, 0.0], "period": 1.0, "phase": 0.0})
    found = work.whole(replace(asked, quantities=QuantityNames((*SERIES, "status")), trajectories=(far,)))
    failed = found["status"][0, 0] != 0 if found["status"].ndim == 3 else found["status"][0, 0, 0] != 0
    assert failed.any()
    assert not failed.all()
    for key in SERIES:
        values = found[key][0, 0].reshape(len(failed), -1)
        assert np.isnan(values[failed]).all(), key
        assert np.isfinite(values[~failed]).all(), key


@pytest.mark.parametrize("name", catalog.FAMILIES)
def test_links_move_as_their_poses_say(name: str) -> None:
    """Compare twists and accelerations with differences of poses and twists; rotations are orthonormal."""
    series = ("link_position", "link_rotation", "link_twist", "link_acceleration")
    step = 1e-3
    asked = replace(block(name), quantities=QuantityNames(series), times=0.2 + step * np.arange(-3, 4))
    position, turn, twist, change = (work.whole(asked)[key][0, 0] for key in series)
    there = np.isfinite(position[3, ..., 0])
    assert there.any()
    weights = np.array([-1, 9, -45, 0, 45, -9, 1]) / (60 * step)
    size = max(1.0, float(np.nanmax(np.abs(twist))), float(np.nanmax(np.abs(change))))

    def rate(values: np.ndarray) -> np.ndarray:
        return np.tensordot(weights, values, axes=1)[there]

    np.testing.assert_allclose(rate(position), twist[3][there][:, 3:], rtol=0.0, atol=1e-8 * size)
    np.testing.assert_allclose(rate(twist), change[3][there], rtol=0.0, atol=1e-7 * size)
    now = turn[3][there]
    np.testing.assert_allclose(now @ now.swapaxes(1, 2), np.broadcast_to(np.eye(3), now.shape), atol=1e-12)
    spin = rate(turn) @ now.swapaxes(1, 2)
    omega = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
    np.testing.assert_allclose(omega, twist[3][there][:, :3], rtol=0.0, atol=1e-8 * size)


def test_potential_energy_is_that_of_the_links() -> None:
    """Compare a tree, whose bodies are its links, with the centres that follow from poses."""
    robot = catalog.build("five_axis_tree")
    asked = replace(
        block("five_axis_tree"), quantities=QuantityNames(("link_position", "link_rotation", "potential_energy"))
    )
    found = {key: values[0, 0] for key, values in work.whole(asked).items()}
    energy = np.zeros(len(asked.times))
    for k, link in enumerate(robot.mechanism.limbs[0].links):
        centre = found["link_position"][:, 0, k] + found["link_rotation"][:, 0, k] @ np.array(link.inertia.centre)
        energy += 9.81 * float(link.inertia.mass) * centre[:, 2]
    np.testing.assert_allclose(found["potential_energy"], energy, rtol=1e-12)


@pytest.mark.parametrize("name", catalog.FAMILIES)
def test_coriolis_forces_of_actuators(name: str) -> None:
    asked = replace(block(name), quantities=QuantityNames(("actuator_coriolis_force", "actuator_velocity")))
    series = {key: values[0, 0] for key, values in work.whole(asked).items()}
    form = equations_of_motion(catalog.build(name), **motion_of(asked))
    expected = np.einsum("tij,tj->ti", form.actuator_coriolis, series["actuator_velocity"])
    size = max(float(np.nanmax(np.abs(expected), initial=0.0)), 1e-9)
    np.testing.assert_allclose(series["actuator_coriolis_force"], expected, rtol=0.0, atol=1e-12 * size)


@pytest.mark.parametrize("name", catalog.FAMILIES)
def test_momentum_is_that_of_the_moving_centre_and_turns_with_its_loads(name: str) -> None:
    """P is mass times the rate of the centre; gravity's power is the rate of the potential energy, -m g rate."""
    asked_for = ("centre_of_mass", "momentum", "potential_energy")
    step = 1e-3
    asked = replace(block(name), quantities=QuantityNames(asked_for), times=0.2 + step * np.arange(-3, 4))
    found = {key: values[0, 0] for key, values in work.whole(asked).items()}
    mechanism = catalog.build(name).mechanism
    bodies = [mechanism.limbs[each.limb].links for each in mechanism.instances]
    mass = sum(float(link.inertia.mass) for links in bodies for link in links)
    mass += 0.0 if mechanism.is_chain else float(mechanism.platform.inertia.mass)
    weights = np.array([-1, 9, -45, 0, 45, -9, 1]) / (60 * step)
    rate = weights @ found["centre_of_mass"]
    size = max(1.0, float(np.abs(found["momentum"]).max()))
    np.testing.assert_allclose(found["momentum"][3, 3:], mass * rate, rtol=0.0, atol=1e-8 * size)
    gravity = np.asarray(asked.designs.gravity_of(0))
    np.testing.assert_allclose(
        found["potential_energy"], -mass * found["centre_of_mass"] @ gravity, rtol=1e-12, atol=1e-12 * mass
    )


def test_momentum_and_centre_of_a_tree_are_those_of_pinocchio() -> None:
    """Pinocchio's angular momentum is about the centre of mass."""
    peer = trees.engine()
    import pinocchio as pin

    asked = replace(block("five_axis_tree"), quantities=QuantityNames(("centre_of_mass", "momentum")))
    found, moving = {key: values[0, 0] for key, values in work.whole(asked).items()}, motion_of(asked)
    (instance,) = catalog.build("five_axis_tree").mechanism.instances
    assert instance.base.position == (0.0, 0.0, 0.0)
    tree = trees.in_pinocchio(
        peer, catalog.build("five_axis_tree").mechanism.limbs[0].links, asked.designs.gravity_of(0)
    )
    for k in range(len(asked.times)):
        q, qd = (tree.inner(np.asarray(moving[name])[k]) for name in ("q", "qd"))  # type: ignore[literal-required]
        about_centre = pin.computeCentroidalMomentum(tree.model, tree.data, q, qd)
        centre = np.array(tree.data.com[0])
        spin = about_centre.angular + np.cross(centre, about_centre.linear)
        np.testing.assert_allclose(found["centre_of_mass"][k], centre, rtol=0.0, atol=1e-13)
        np.testing.assert_allclose(found["momentum"][k], [*spin, *about_centre.linear], rtol=0.0, atol=1e-12)
