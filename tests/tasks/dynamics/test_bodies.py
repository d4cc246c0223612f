"""Motions of all bodies: closed loops, derivatives in time, the closed form of the Delta, and what motion takes."""

from __future__ import annotations

import numpy as np
import pytest

from robots import catalog
from robots.model import PLATFORM, Inertia, Robot
from tasks.dynamics.body_motions import BodyMotions, inertial_wrench, platform_motion, rotation_about
from tasks.dynamics.inverse import RobotMotion, body_motion
from tests.catalogue import PARALLEL
from tests.reference.delta_bodies import parse_delta
from tests.reference.delta_motion import whole_robot
from tests.tasks.moving import motion

STEP = 1e-4
COUNT = 10


@pytest.fixture(params=PARALLEL)
def robot(request: pytest.FixtureRequest) -> Robot:
    return catalog.build(request.param)


def _all(moving: RobotMotion) -> BodyMotions:
    bodies = [*(body for limb in moving.limbs for body in limb), moving.platform]
    return BodyMotions(*(np.stack(parts) for parts in zip(*bodies, strict=True)))


def test_bodies_meet_at_every_cut_joint(robot: Robot) -> None:
    moving = body_motion(robot, **motion(robot, COUNT))
    assert not moving.joints.status.any()
    for instance, links in zip(robot.mechanism.instances, moving.limbs, strict=True):
        limb, platform = robot.mechanism.limbs[instance.limb], moving.platform
        mount = platform._replace(
            rotation=platform.rotation @ np.array(instance.platform.rotation),
            position=platform.point(instance.platform.position),
        )
        for closure in (*limb.tips, *limb.loops):
            b = mount if closure.b == PLATFORM else links[closure.b]
            gap = links[closure.a].point(closure.frame_a.position) - b.point(closure.frame_b.position)
            assert np.abs(gap).max() < 1e-11


def test_velocities_and_accelerations_are_derivatives(robot: Robot) -> None:
    before, now, after = (_all(body_motion(robot, **motion(robot, COUNT, time=t))) for t in (-STEP, 0.0, STEP))
    spin = (after.rotation - before.rotation) / (2 * STEP) @ np.swapaxes(now.rotation, -1, -2)
    found = {
        "omega": np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]], axis=-1),
        "velocity": (after.position - before.position) / (2 * STEP),
        "alpha": (after.omega - before.omega) / (2 * STEP),
        "acceleration": (after.velocity - before.velocity) / (2 * STEP),
    }
    for name, expected in found.items():
        scale = np.abs(expected).max()
        np.testing.assert_allclose(getattr(now, name), expected, rtol=0, atol=1e-5 * scale, err_msg=name)


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "delta_rl5_1450"])
def test_delta_agrees_with_its_closed_form(name: str) -> None:
    robot = catalog.build(name)
    states = motion(robot, COUNT)
    moving, delta = body_motion(robot, **states), parse_delta(dict(robot.values))
    for k in range(COUNT):
        linear = (states["twist"][k, 3:], states["acceleration"][k, 3:])
        _, bodies, _ = whole_robot(delta, states["position"][k], *linear)
        for limb, links in enumerate(moving.limbs):
            for link, body in zip(robot.mechanism.limbs[0].links, links, strict=True):
                ours, theirs = BodyMotions(*(values[k] for values in body)), bodies[f"{link.body}{limb}"]
                arm = theirs.centre - ours.position  # the reference has a wrist's frame elsewhere
                for found, expected in (
                    (ours.omega, theirs.omega),
                    (ours.alpha, theirs.alpha),
                    (ours.velocity_of(arm), theirs.velocity),
                    (ours.acceleration_of(arm), theirs.acceleration),
                ):
                    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_samples_without_a_solution_are_nan_and_batch_dims_are_kept() -> None:
    robot = catalog.build("delta_3rr2rrr")
    position = np.array([[robot.mechanism.platform.home.position], [(0.0, 0.0, -5.0)]])
    moving = body_motion(robot, position=position)
    assert moving.joints.status.shape == (2, 1)
    for body in (moving.limbs[2][3], moving.platform):
        assert (body.rotation.shape, body.position.shape) == ((2, 1, 3, 3), (2, 1, 3))
    assert np.isfinite(moving.limbs[0][4].position[0]).all()
    assert np.isnan(moving.limbs[0][4].position[1]).all()


def test_rotation_about_an_axis_turns_right_handed() -> None:
    turned = rotation_about((0.0, -1.0, 0.0), np.array([0.0, np.pi / 2]))
    np.testing.assert_allclose(turned @ np.array([1.0, 0.0, 0.0]), [[1, 0, 0], [0, 0, 1]], rtol=0, atol=1e-15)


def test_inertial_wrench_is_that_of_the_points_of_a_body() -> None:
    random = np.random.default_rng(2)
    masses, points, gravity = random.uniform(0.1, 1.0, 8), random.normal(size=(8, 3)), (0.3, -0.4, -9.81)
    centre = masses @ points / masses.sum()
    arms = points - centre
    tensor = sum(m * (arm @ arm * np.eye(3) - np.outer(arm, arm)) for m, arm in zip(masses, arms, strict=True))
    pose = {"position": random.normal(size=(4, 3)), "rotation": rotation_about((0.0, 0.6, 0.8), random.normal(size=4))}
    body = platform_motion((4,), **pose, twist=random.normal(size=(4, 6)), acceleration=random.normal(size=(4, 6)))
    forces = [
        m * (body.acceleration_of(body.turned(tuple(point))) - gravity) for m, point in zip(masses, points, strict=True)
    ]
    moments = [np.cross(body.turned(tuple(point)), force) for point, force in zip(points, forces, strict=True)]
    expected = np.concatenate([sum(moments), sum(forces)], axis=-1)
    found = inertial_wrench(Inertia(masses.sum(), tuple(centre), tuple(map(tuple, tensor))), body, gravity)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
