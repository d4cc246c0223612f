"""Inverse kinematics and dynamics of whole robots against independent references, and what a caller is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tasks
from benchmarks import regions
from robots import catalog
from robots.model import Robot
from robots.parameter_errors import ParameterError
from robots.status import Status
from tasks import inverse_dynamics, inverse_kinematics, joint_reactions
from tasks.dynamics import inverse
from tasks.dynamics.inverse import InverseDynamics
from tasks.dynamics.records import Forces
from tasks.sources.prescribed import motion
from tests.arguments import in_records
from tests.reference.delta_bodies import AZIMUTHS, parse_delta
from tests.reference.delta_newton_euler import energy
from tests.reference.delta_newton_euler import inverse_dynamics as reference
from tests.tasks.bits import assert_same_bits, bits
from tests.tasks.machines import DELTAS, HEXAPOD, home, scaled, states, twist

STEP = 1e-100
GRAVITY = (0.7, -1.3, -9.6)
LOAD = np.array([0.0, 0.0, 0.0, 4.0, -7.0, 9.0])

deltas = pytest.mark.parametrize("name", DELTAS)


def along_the_paper(period: float, count: int = 81) -> tuple[Robot, tuple[np.ndarray, ...]]:
    robot = catalog.build("delta_3rr2rrr")
    values = {"centre": home(robot), "amplitude": (0.3, 0.4, 0.1), "period": period, "phase": 0.0}
    flat = motion("line_sine", values, np.linspace(0.0, period, count))[:, :count]
    return robot, (flat[0:3].T, flat[3:6].T, flat[6:9].T)


def solved(robot: Robot, parts: tuple[np.ndarray, ...], **more: Any) -> Any:
    r, v, a = parts
    return inverse_dynamics(robot, position=r, twist=twist(v), acceleration=twist(a), **in_records(**more))


def about(axis: str, angle: np.ndarray) -> np.ndarray:
    """Rotations (..., 3, 3) about an axis, or about its opposite."""
    cos, sin, zero, one = np.cos(angle), np.sin(angle), np.zeros_like(angle), np.ones_like(angle)
    rows = {
        "x": [[one, zero, zero], [zero, cos, -sin], [zero, sin, cos]],
        "-y": [[cos, zero, -sin], [zero, one, zero], [sin, zero, cos]],
        "z": [[cos, -sin, zero], [sin, cos, zero], [zero, zero, one]],
    }[axis]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def closure_errors(robot: Robot, q: np.ndarray, platform: np.ndarray) -> np.ndarray:
    """Return the gaps of all rows of both cut joints of every limb, redundant rows too, from joint angles alone.

    q (samples, 3, 7), platform (samples, 3). Products of rotations along the chain, nothing of the code under test.
    """
    p, delta = robot.values, parse_delta(dict(robot.values))
    a, b, c = p["upper_arm"], p["link_length"], p["rod_length"]
    tilt = np.array([[delta.height, 0, -delta.reach], [0, c, 0], [delta.reach, 0, delta.height]]) / c
    errors = []
    for k, azimuth in enumerate(AZIMUTHS):
        q1, q2, q3, q4, q5, q6, q7 = np.moveaxis(q[:, k], -1, 0)
        link = about("-y", q1 + q2) @ tilt
        rod_a, rod_b = link @ about("x", q3), link @ about("x", q5)
        wrist = rod_a @ about("x", q4)
        elbow = np.array([-p["base_radius"], 0, 0]) + about("-y", q1) @ np.array([-a, 0, 0])
        end_a = elbow + link @ np.array([0, -b / 2, 0]) + rod_a @ np.array([0, 0, -c])
        end_b = elbow + link @ np.array([0, b / 2, 0]) + rod_b @ np.array([0, 0, -c])
        there = platform @ about("z", np.array(azimuth)) + np.array([-p["platform_radius"], 0, 0])
        errors.append(end_b - end_a - wrist @ np.array([0, b, 0]))
        errors.append(end_a + wrist @ np.array([0, b / 2, 0]) - there)
        errors.append((wrist @ tilt.T @ about("-y", q6) - np.eye(3)).reshape(-1, 9) * c)
        errors.append((rod_b @ about("x", q7) - wrist).reshape(-1, 9) * c)
    return np.concatenate(errors, axis=1)


def assert_near(got: np.ndarray, expected: np.ndarray, relative: float = 1e-9) -> None:
    """Every sample to `relative` of its own largest component."""
    axes = tuple(range(1, np.ndim(expected)))
    scale = np.abs(expected).max(axis=axes, keepdims=True)
    assert (np.abs(got - expected) <= relative * scale).all(), np.abs((got - expected) / scale).max()


@pytest.mark.parametrize("period", [10.0, 1.0])
def test_loops_close_along_the_paper(period: float) -> None:
    robot, (r, v, a) = along_the_paper(period, 401)
    result = inverse_kinematics(robot, position=r, twist=twist(v), acceleration=twist(a))
    assert (result.status == Status.OK).all()
    assert np.abs(closure_errors(robot, result.position, r)).max() < 1e-12


@deltas
def test_loops_close_at_random_states(name: str) -> None:
    for seed in range(5):
        robot = scaled(name, np.random.default_rng(seed))
        r, _, _ = states(robot, 100, seed)
        result = inverse_kinematics(robot, position=r)
        assert (result.status == Status.OK).all()
        assert np.abs(closure_errors(robot, result.position, r)).max() < 1e-12 * max(1.0, robot.values["rod_length"])


def test_closure_errors_see_an_open_loop() -> None:
    robot = catalog.build("delta_3rr2rrr")
    r, _, _ = states(robot, 1)
    q = inverse_kinematics(robot, position=r).position
    for joint in range(7):
        open_loop = q.copy()
        open_loop[:, 1, joint] += 1e-6
        assert np.abs(closure_errors(robot, open_loop, r)).max() > 1e-8


@deltas
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_joint_motion_and_forces_agree_with_the_reference(name: str, seed: int) -> None:
    robot = catalog.build(name) if seed == 0 else scaled(name, np.random.default_rng(seed))
    parts = states(robot, 30, seed)
    delta = parse_delta({**robot.values, "gravity": GRAVITY})
    expected = [reference(delta, *state, LOAD) for state in zip(*parts, strict=True)]
    kinematics = inverse_kinematics(robot, position=parts[0], twist=twist(parts[1]), acceleration=twist(parts[2]))
    for field in ("position", "velocity", "acceleration"):
        assert_near(getattr(kinematics, field)[..., :6], np.array([each[f"joint_{field}"] for each in expected]))
    got = solved(robot, parts, gravity=GRAVITY, load=LOAD)
    assert (got.status == Status.OK).all()
    assert_near(got.force, np.array([each["torque"] for each in expected]))
    assert_near(got.velocity, np.array([each["joint_velocity"][:, 0] for each in expected]))
    np.testing.assert_array_equal(solved(robot, parts, gravity=GRAVITY, load=LOAD).force, got.force)


@pytest.mark.parametrize("period", [10.0, 1.0])
def test_forces_along_the_paper_agree_with_the_reference(period: float) -> None:
    robot, parts = along_the_paper(period)
    assert_near(
        solved(robot, parts).force, np.array([reference({}, *state)["torque"] for state in zip(*parts, strict=True)])
    )


@deltas
def test_actuator_power_is_the_rate_of_energy(name: str) -> None:
    robot = scaled(name, np.random.default_rng(5))
    parts = states(robot, 50, 5)
    result = solved(robot, parts)
    power = result.force * result.velocity
    for sample, (r, v, a) in enumerate(zip(*parts, strict=True)):
        rate = sum(energy(dict(robot.values), r + 1j * STEP * v, v + 1j * STEP * a)).imag / STEP
        assert abs(power[sample].sum() - rate) <= 1e-9 * np.abs(power[sample]).sum()


@deltas
def test_the_parallelogram_stays_one(name: str) -> None:
    """The loop code solves the parallelogram; its closed form is known: rods turn alike, the wrist turns back."""
    robot = catalog.build(name)
    r, v, a = states(robot, 50)
    result = inverse_kinematics(robot, position=r, twist=twist(v), acceleration=twist(a))
    for q, size in zip(result[:3], (1.0, 10.0, 300.0), strict=True):
        np.testing.assert_allclose(q[..., 2], q[..., 4], rtol=1e-11, atol=1e-13 * size)
        np.testing.assert_allclose(q[..., 2], -q[..., 3], rtol=1e-11, atol=1e-13 * size)
        np.testing.assert_allclose(q[..., 2], -q[..., 6], rtol=1e-11, atol=1e-13 * size)
    assert np.abs(result.position[..., 2]).max() > 0.1


@deltas
def test_rates_are_derivatives(name: str) -> None:
    robot = catalog.build(name)
    r, v, a = states(robot, 20)
    h = 1e-4
    steps = np.array([-2, -1, 1, 2])[:, None, None] * h
    near = inverse_kinematics(robot, position=r + v * steps + a * steps**2 / 2, twist=twist(v + a * steps))
    result = inverse_kinematics(robot, position=r, twist=twist(v), acceleration=twist(a))
    weights = np.array([1, -8, 8, -1]) / (12 * h)
    np.testing.assert_allclose(np.tensordot(weights, near.position, 1), result.velocity, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(np.tensordot(weights, near.velocity, 1), result.acceleration, rtol=1e-5, atol=1e-4)


@deltas
def test_the_jacobian_gives_velocities_and_carries_loads(name: str) -> None:
    robot = catalog.build(name)
    parts = states(robot, 20)
    bare, loaded = solved(robot, parts), solved(robot, parts, load=LOAD)
    np.testing.assert_allclose(bare.velocity, np.einsum("sij,sj->si", bare.jacobian, parts[1]), rtol=1e-10, atol=1e-12)
    balance = np.einsum("sij,si->sj", bare.jacobian, bare.force - loaded.force)
    np.testing.assert_allclose(balance, np.broadcast_to(LOAD[3:], balance.shape), rtol=1e-9)


def test_a_third_of_a_turn_permutes_the_motors() -> None:
    robot = catalog.build("delta_rl5_1450")
    parts = states(robot, 20)
    turn = about("z", np.array(AZIMUTHS[1]))
    turned = solved(robot, tuple(part @ turn.T for part in parts)).force
    assert_near(turned, solved(robot, parts).force[:, [2, 0, 1]], 1e-10)


@deltas
def test_friction_opposes_motion(name: str) -> None:
    robot = catalog.build(name)
    parts = states(robot, 10)
    bare = solved(robot, parts)
    rubbed = solved(robot, parts, friction={"law": "coulomb_viscous", "coulomb": 0.4, "viscous": 0.02}).force
    expected = bare.force + 0.4 * np.sign(bare.velocity) + 0.02 * bare.velocity
    np.testing.assert_allclose(rubbed, expected, rtol=1e-14, atol=1e-14)
    np.testing.assert_array_equal(solved(robot, parts, friction={"law": "none"}).force, bare.force)


@deltas
def test_a_sample_has_the_same_bits_in_any_batch(name: str) -> None:
    robot = catalog.build(name)
    parts = states(robot, 24)
    flat = solved(robot, parts).force
    boxed = solved(robot, tuple(part.reshape(2, 3, 4, 3) for part in parts)).force
    assert boxed.shape == (2, 3, 4, 3)
    np.testing.assert_array_equal(bits(boxed.reshape(24, 3)), bits(flat))
    for k in (0, 7, 8, 23):
        np.testing.assert_array_equal(bits(solved(robot, tuple(part[k] for part in parts)).force), bits(flat[k]))
    np.testing.assert_array_equal(bits(solved(robot, tuple(part[::-1] for part in parts)).force[::-1]), bits(flat))


@deltas
def test_out_of_reach_is_a_value_not_an_exception(name: str) -> None:
    robot = catalog.build(name)
    parts = states(robot, 5)
    clean = solved(robot, parts).force
    spoilt = [part.copy() for part in parts]
    spoilt[0][1], spoilt[0][3] = (3.0, 0.0, -0.5), np.nan
    result = solved(robot, tuple(spoilt))
    assert isinstance(result, InverseDynamics)
    assert result.status.tolist() == [0, Status.NOT_REACHABLE, 0, Status.NOT_REACHABLE, 0]
    for values in result[:3]:
        assert np.isnan(values[[1, 3]]).all()
        assert np.isfinite(values[::2]).all()
    np.testing.assert_array_equal(bits(result.force[::2]), bits(clean[::2]))
    kinematics = inverse_kinematics(robot, position=spoilt[0])
    assert kinematics.status.tolist() == result.status.tolist()
    for values in kinematics[:3]:
        assert np.isnan(values[[1, 3]]).all()
        assert np.isfinite(values[::2]).all()


def test_an_impossible_design_is_a_value_not_an_exception() -> None:
    robot = catalog.build("delta_3rr2rrr", rod_length=0.2)  # shorter than the arm reaches beyond the platform
    result = inverse_dynamics(robot, position=(0.0, 0.0, -0.5))
    assert result.status == Status.NOT_REACHABLE
    assert np.isnan(result.force).all()


def test_a_pose_where_plain_newton_steps_go_astray() -> None:
    robot = catalog.build("delta_3rr2rrr")
    position = np.array([0.43, -0.64, -0.37])  # within reach, but so far to the side that they find another branch
    expected = reference({}, position, np.zeros(3), np.zeros(3))
    result = inverse_dynamics(robot, position=position)
    assert result.status == Status.OK
    np.testing.assert_allclose(result.force, expected["torque"], rtol=1e-9)


@pytest.mark.parametrize("stretch", [0.0, 1e-12, 1e-9])
def test_stretched_limbs_get_a_status(stretch: float) -> None:
    robot = catalog.build("delta_3rr2rrr")
    p = robot.values
    reach = p["base_radius"] - p["platform_radius"]
    depth = np.sqrt((p["upper_arm"] + p["rod_length"]) ** 2 - reach**2)
    result = inverse_dynamics(robot, position=(0.0, 0.0, -depth - stretch))
    assert result.status != Status.OK
    assert np.isnan(result.force).all()


def test_flat_rods_get_a_status() -> None:
    # arms and rods in one plane: the rods cannot carry the platform's weight
    robot = catalog.build("delta_3rr2rrr", rod_length=0.33)
    result = inverse_dynamics(robot, position=(0.0, 0.0, 0.0))
    assert result.status != Status.OK
    assert np.isnan(result.force).all()


def leg_lines(robot: Robot, position: np.ndarray, rotation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Legs (samples, 6, 3) from base to platform joint, and arms from the platform's reference point to its joints."""
    feet = np.array([each.base.position for each in robot.mechanism.instances])
    arms = np.einsum("sij,kj->ski", rotation, [each.platform.position for each in robot.mechanism.instances])
    return position[:, None] + arms - feet, arms


def test_a_hexapod_with_massless_legs_agrees_with_its_statics() -> None:
    """Compare six freedoms and prismatic drives with formulas for a platform on rods."""
    rng = np.random.default_rng(8)
    robot = Robot.of(HEXAPOD, {"base_radius": 0.7})
    position = home(robot) + rng.uniform(-0.1, 0.1, (15, 3))
    angles = rng.uniform(-0.2, 0.2, (3, 15))
    rotation = about("x", angles[0]) @ about("-y", angles[1]) @ about("z", angles[2])
    velocity, acceleration = rng.normal(size=(2, 15, 6))
    load = rng.normal(size=(15, 6))
    motion = {"position": position, "rotation": rotation, "twist": velocity, "acceleration": acceleration}
    kinematics, result = (
        inverse_kinematics(robot, **motion),
        inverse_dynamics(robot, forces=Forces(load=load), **motion),
    )
    assert (result.status == Status.OK).all()

    legs, arms = leg_lines(robot, position, rotation)
    length = np.linalg.norm(legs, axis=-1)
    lines = legs / length[..., None]
    jacobian = np.concatenate([np.cross(arms, lines), lines], axis=-1)
    np.testing.assert_allclose(kinematics.position[..., 2], length - 0.9, atol=1e-12)
    np.testing.assert_allclose(result.jacobian, jacobian, atol=1e-11)
    np.testing.assert_allclose(result.velocity, np.einsum("skj,sj->sk", jacobian, velocity), atol=1e-11)
    np.testing.assert_allclose(kinematics.velocity[..., 2], result.velocity, atol=1e-11)

    body = robot.mechanism.platform.inertia
    centre = np.einsum("sij,j->si", rotation, body.centre)
    omega, alpha = velocity[:, :3], acceleration[:, :3]
    lift = acceleration[:, 3:] + np.cross(alpha, centre) + np.cross(omega, np.cross(omega, centre))
    force = body.mass * (lift - np.array([0.0, 0.0, -9.81]))
    tensor = rotation @ np.array(body.tensor) @ np.swapaxes(rotation, 1, 2)
    spin = np.einsum("sij,sj->si", tensor, alpha) + np.cross(omega, np.einsum("sij,sj->si", tensor, omega))
    wrench = np.concatenate([spin + np.cross(centre, force), force], axis=1) - load
    expected = np.linalg.solve(np.swapaxes(jacobian, 1, 2), wrench[..., None])[..., 0]
    assert_near(result.force, expected)


def test_batches_broadcast() -> None:
    robot = catalog.build("delta_3rr2rrr")
    r, v, _ = states(robot, 6)
    got = inverse_dynamics(robot, position=r[:, None], twist=twist(v[:2])[None]).force
    assert got.shape == (6, 2, 3)
    alone = inverse_dynamics(
        robot, position=r[4], twist=twist(v[1]), rotation=np.eye(3), acceleration=np.zeros(6)
    ).force
    np.testing.assert_array_equal(bits(got[4, 1]), bits(alone))


BAD_INPUT: dict[str, tuple[dict[str, Any], str]] = {
    "position": (
        {"position": np.zeros(4)},
        r"position: got an array of shape \(4,\); expected \(\*batch, 3\), not empty",
    ),
    "number": ({"position": 1.0}, r"position: got an array of shape \(\)"),
    "empty": ({"position": np.zeros((0, 3))}, r"position: got an array of shape \(0, 3\); .* not empty"),
    "rotation": (
        {"rotation": np.zeros((3, 2))},
        r"rotation: got an array of shape \(3, 2\); expected \(\*batch, 3, 3\)",
    ),
    "twist": ({"twist": np.zeros(3)}, r"twist: got an array of shape \(3,\); expected \(\*batch, 6\)"),
    "load": ({"load": np.zeros(3)}, r"load: got an array of shape \(3,\); expected \(\*batch, 6\)"),
    "gravity": ({"gravity": -9.81}, r"gravity: got an array of shape \(\); expected \(3,\), a vector of the world"),
    "turning": ({"twist": np.ones(6)}, "twist: the platform of delta_3rr2rrr cannot rotate; expected no angular part"),
    "turned": ({"rotation": -np.eye(3)}, "rotation: got a reflection; expected a rotation matrix"),
    "spinning up": ({"acceleration": np.ones(6)}, "acceleration: the platform of delta_3rr2rrr cannot rotate"),
}


@pytest.mark.parametrize(("wrong", "text"), BAD_INPUT.values(), ids=BAD_INPUT)
def test_misuse_is_told(wrong: dict[str, Any], text: str) -> None:
    robot = catalog.build("delta_3rr2rrr")
    with pytest.raises(ValueError, match=text):
        inverse_dynamics(robot, **in_records(**{"position": (0.0, 0.0, -0.9), **wrong}))


@pytest.mark.parametrize(
    ("friction", "text"),
    [
        ({"law": "coulom_viscous"}, "friction: got law 'coulom_viscous'; did you mean 'coulomb_viscous'?"),
        ({"coulomb": 1.0}, "friction: got law ''; known: none, viscous, coulomb_viscous, stribeck"),
        (
            {"law": "coulomb_viscous", "viscous": -1.0},
            r"friction law coulomb_viscous: viscous = -1\.0 is outside \[0, 1e\+12\] N m s/rad or N s/m",
        ),
        ({"law": "none", "viscous": 1.0}, "friction law none has no parameter 'viscous'"),
    ],
)
def test_friction_is_checked(friction: dict[str, Any], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        inverse_dynamics(catalog.build("delta_3rr2rrr"), position=(0.0, 0.0, -0.9), forces=Forces(friction=friction))


def test_the_package_offers_what_it_documents() -> None:
    for name in tasks.__all__:
        assert callable(getattr(tasks, name))


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "irsbot2", "h4", "irb6", "five_axis_tree"])
def test_long_batches_are_done_in_strips_with_the_same_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = catalog.build(name)
    states: Any = regions.states(robot, 53)
    everywhere = {"law": "coulomb_viscous", "joints": "all", "coulomb": 0.1, "viscous": 0.2}
    friction = [everywhere] if name == "irsbot2" else None
    whole, status = joint_reactions(robot, forces=Forces(friction=friction), **states)
    monkeypatch.setattr(inverse, "STRIP", 16)
    parts, same = joint_reactions(robot, forces=Forces(friction=friction), **states)
    assert_same_bits({"reactions": parts, "status": same}, {"reactions": whole, "status": status})
