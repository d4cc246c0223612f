"""A base that moves as it is told: against more joints before the first one, and against the work of all bodies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robots import catalog
from robots.geometry import point, shifted
from robots.model import Family, Link, Mechanism
from robots.types import BASE, ZERO
from tasks import inverse_dynamics, joint_reactions
from tasks.dynamics.body_motions import BodyMotions, inertial_wrench
from tasks.dynamics.inverse import body_motion
from tasks.dynamics.records import Environment, Motion
from tests.arguments import in_records
from tests.tasks.driven import ARM3, LINKS, States, robot

GRAVITY = np.array([0.4, -0.3, -9.81])
X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def mobile(p: Any) -> Mechanism:
    """The arm on a carriage that slides along x and turns about z: two coordinates more."""
    (limb,) = ARM3.assemble(p).limbs
    before = (
        Link("slide", "carriage", BASE, "prismatic", X, shifted(ZERO), point(0.0)),
        Link("yaw", "turntable", 0, "revolute", Z, shifted((0.1, 0.2, 0.3)), point(0.0)),
    )
    own = tuple(replace(link, parent=link.parent + 2) for link in LINKS)
    drives = tuple(
        replace(each, spins=tuple(replace(spin, carrier=spin.carrier + 2) for spin in each.spins))
        for each in limb.drives
    )
    joints = ("slide", "yaw", *limb.actuated)
    direct = tuple(replace(drives[0], name=name, ratios=((name, 1.0),), spins=()) for name in ("to", "fro"))
    direct = (replace(direct[0], ratios=(("slide", 1.0),)), replace(direct[1], ratios=(("yaw", 1.0),)))
    return Mechanism.chain("arm", (*before, *own), joints, drives=(*direct, *drives))


def test_a_prescribed_motion_is_an_additional_coordinate() -> None:
    states, whole = States.random(5, seed=1), robot(Family("mobile", "", "", ARM3.parameters, mobile), rotor=2e-3)
    expected = inverse_dynamics(whole, gravity=GRAVITY, **states.moving).force[:, 2:]
    turn = Rotation.from_rotvec(states.q[:, 1:2] * Z)
    twist, change = np.zeros((2, len(states.q), 6))
    twist[:, 2], change[:, 2] = states.qd[:, 1], states.qdd[:, 1]
    twist[:, 3], change[:, 3] = states.qd[:, 0], states.qdd[:, 0]
    base = {"base_rotation": turn.as_matrix(), "base_twist": twist, "base_acceleration": change}
    own = {name: values[:, 2:] for name, values in states.moving.items()}
    made = inverse_dynamics(robot(ARM3, rotor=2e-3), **in_records(gravity=GRAVITY, **own, **base)).force
    np.testing.assert_allclose(made, expected, rtol=1e-10, atol=1e-11)
    wrenches = joint_reactions(robot(ARM3, rotor=2e-3), **in_records(gravity=GRAVITY, **own, **base)).wrench[:, 0]
    wanted = joint_reactions(whole, gravity=GRAVITY, **states.moving).wrench[:, 0, 2:]
    for part in (slice(0, 3), slice(3, 6)):  # in the axes of the base here, of the world there
        turned = np.einsum("sij,skj->ski", turn.as_matrix(), wrenches[..., part])
        np.testing.assert_allclose(turned, wanted[..., part], rtol=1e-10, atol=1e-10)


def absolute(moving: BodyMotions, twist: np.ndarray, change: np.ndarray) -> BodyMotions:
    """The motion in a world whose axes are those of the base now."""
    omega, alpha = twist[:, :3], change[:, :3]
    velocity = twist[:, 3:] + np.cross(omega, moving.position) + moving.velocity
    swirl = np.cross(alpha, moving.position) + np.cross(omega, np.cross(omega, moving.position))
    acceleration = change[:, 3:] + swirl + 2 * np.cross(omega, moving.velocity) + moving.acceleration
    turning = alpha + np.cross(omega, moving.omega) + moving.alpha
    return moving._replace(omega=omega + moving.omega, velocity=velocity, alpha=turning, acceleration=acceleration)


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "gough_stewart", "five_bar"])
def test_actuators_do_the_work_that_all_bodies_take(name: str) -> None:
    """Compare powers of a virtual motion relative to the base, as fast as the real one."""
    of, rng, count = catalog.build(name), np.random.default_rng(2), 6
    platform = of.mechanism.platform
    free = np.array([each in platform.mobility for each in ("wx", "wy", "wz", "vx", "vy", "vz")])
    motion = {
        "position": np.array(platform.home.position) + rng.normal(size=(count, 3)) * 0.02 * free[3:],
        "twist": rng.normal(size=(count, 6)) * free,
        "acceleration": rng.normal(size=(count, 6)) * free * 3.0,
    }
    twist, change = rng.normal(size=(2, count, 6)) * 2.0
    made = inverse_dynamics(
        of, environment=Environment(gravity=GRAVITY, base=Motion(twist=twist, acceleration=change)), **motion
    )
    assert not made.status.any()
    bodies, work = body_motion(of, **motion), np.zeros(count)
    owned = [
        (link.inertia, body)
        for each, moving in zip(of.mechanism.instances, bodies.limbs, strict=True)
        for link, body in zip(of.mechanism.limbs[each.limb].links, moving, strict=True)
    ]
    for inertia, body in (*owned, (platform.inertia, bodies.platform)):
        wrench = inertial_wrench(inertia, absolute(body, twist, change), GRAVITY)
        work += np.einsum("sk,sk->s", wrench, np.concatenate([body.omega, body.velocity], axis=-1))
    np.testing.assert_allclose(np.einsum("sd,sd->s", made.force, made.velocity), work, rtol=1e-9, atol=1e-9)


def test_free_fall_weighs_nothing_and_a_tilted_base_is_tilted_gravity() -> None:
    states, arm = States.random(3, seed=3), robot(ARM3)
    falling = inverse_dynamics(
        arm, q=states.q, environment=Environment(gravity=GRAVITY, base=Motion(acceleration=[0, 0, 0, *GRAVITY]))
    ).force
    np.testing.assert_allclose(falling, 0.0, atol=1e-12)
    turn = Rotation.random(rng=np.random.default_rng(4)).as_matrix()
    tilted = inverse_dynamics(
        arm, q=states.q, environment=Environment(gravity=GRAVITY, base=Motion(rotation=turn))
    ).force
    np.testing.assert_allclose(tilted, inverse_dynamics(arm, q=states.q, gravity=turn.T @ GRAVITY).force, rtol=1e-12)


def test_what_does_not_fit_is_refused() -> None:
    states, arm = States.random(3), robot(ARM3)
    with pytest.raises(ValueError, match=r"base.twist: got an array of shape \(3,\); expected \(\*batch, 6\)"):
        inverse_dynamics(arm, q=states.q, environment=Environment(base=Motion(twist=np.zeros(3))))
    with pytest.raises(ValueError, match=r"batch dims do not fit together: q \(5,\), base \(4,\)"):
        inverse_dynamics(arm, q=states.q, environment=Environment(base=Motion(twist=np.zeros((4, 6)))))
    with pytest.raises(TypeError, match="base_pose: no argument has this name"):
        inverse_dynamics(arm, q=states.q, base_pose=1.0)  # type: ignore[call-overload]
