"""Every parallel robot of the catalogue against what must hold for any machine, and against Pinocchio."""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

from robots import catalog
from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks import inverse_dynamics, inverse_kinematics
from tasks.dynamics.records import Forces
from tasks.kernels import kernel
from tasks.kernels import kernel as kernels
from tasks.stages.limb import limb_program
from tests.catalogue import PARALLEL
from tests.reference.delta_bodies import PAPER, parse_delta
from tests.reference.delta_motion import extension
from tests.reference.tree_energy import tree_energy
from tests.tasks.bits import bits
from tests.tasks.regions import REGIONS, states

STEP = 1e-100
GRAVITY = 9.81


@pytest.fixture(params=PARALLEL)
def robot(request: pytest.FixtureRequest) -> Robot:
    return catalog.build(request.param)


@pytest.fixture(scope="module")
def peer() -> ModuleType:
    """The reference that needs Pinocchio."""
    pytest.importorskip("pinocchio", reason="no second engine to compare with: Pinocchio (package pin) is missing")
    from tests.reference import mechanism_pinocchio

    return mechanism_pinocchio


def one_variable(values: np.ndarray) -> np.ndarray:
    """Joints (..., joint) without those that have several variables."""
    return values[..., ~np.isnan(values).all(axis=tuple(range(values.ndim - 1)))]


def test_every_family_has_a_region() -> None:
    assert set(REGIONS) == set(PARALLEL)


def test_joint_variables_count_from_the_reference_pose(robot: Robot) -> None:
    found = inverse_kinematics(robot, position=robot.mechanism.platform.home.position)
    assert found.status == Status.OK
    np.testing.assert_allclose(one_variable(found.position), 0.0, atol=1e-12)


def test_the_region_is_reached(robot: Robot) -> None:
    found = inverse_dynamics(robot, **states(robot, 2000)._asdict())
    assert (found.status == Status.OK).all()
    assert np.isfinite(found.force).all()


def test_a_delta_keeps_its_branch_up_to_the_end_of_its_reach() -> None:
    """Full Newton steps used to throw an arm over to the other branch near the end of its reach."""
    robot, delta = catalog.build("delta_3rr2rrr"), parse_delta(PAPER)
    random = np.random.default_rng(6)
    home = np.array(robot.mechanism.platform.home.position)
    position = home + random.uniform(-1, 1, (2000, 3)) * (0.7, 0.7, 0.3)
    stretch = np.abs([extension(delta, each) for each in position]).max(axis=1)
    status = inverse_dynamics(robot, position=position).status
    clear = np.abs(stretch - 1.0) > 1e-3
    np.testing.assert_array_equal((status == Status.OK)[clear], (stretch < 1.0)[clear])
    assert (status[clear & (stretch > 1.0)] == Status.NOT_REACHABLE).all()


def test_joint_motion_is_the_derivative_of_the_positions(robot: Robot) -> None:
    motion, h = states(robot, 50), 1e-3
    ahead = [one_variable(inverse_kinematics(robot, **motion.at(k * h)).position) for k in (-2, -1, 0, 1, 2)]
    found = inverse_kinematics(robot, **motion._asdict())
    rates = (ahead[0] - 8 * ahead[1] + 8 * ahead[3] - ahead[4]) / (12 * h)
    changes = (-ahead[0] + 16 * ahead[1] - 30 * ahead[2] + 16 * ahead[3] - ahead[4]) / (12 * h * h)
    for got, expected, relative in (
        (one_variable(found.velocity), rates, 1e-6),
        (one_variable(found.acceleration), changes, 1e-5),
    ):
        assert np.abs(got - expected).max() < relative * np.abs(expected).max()


def actuator_positions(robot: Robot, **motion: Any) -> np.ndarray:
    """Positions of the actuated joints (n, actuator)."""
    position, mechanism = inverse_kinematics(robot, **motion).position, robot.mechanism
    chosen = [
        position[:, k, mechanism.limbs[each.limb].index(name)]
        for k, each in enumerate(mechanism.instances)
        for name in mechanism.limbs[each.limb].actuated
    ]
    return np.stack(chosen, axis=-1)


def test_jacobian_is_the_derivative_of_the_actuator_positions(robot: Robot) -> None:
    motion, h = states(robot, 30), 2e-4
    found = inverse_dynamics(robot, **motion._asdict())
    for column, name in enumerate(robot.mechanism.platform.mobility):
        along = np.broadcast_to(np.eye(6)[TWIST.index(name)], (30, 6))
        moving = motion._replace(twist=along, acceleration=np.zeros((30, 6)))
        ahead = [actuator_positions(robot, **moving.at(k * h)) for k in (-2, -1, 1, 2)]
        expected = (ahead[0] - 8 * ahead[1] + 8 * ahead[2] - ahead[3]) / (12 * h)
        assert np.abs(found.jacobian[..., column] - expected).max() < 1e-8 * np.abs(found.jacobian).max()


def platform_energy(platform: Any, position: Any, rotation: Any, twist: Any) -> Any:
    """Kinetic and potential energy of the platform of one sample."""
    solid = platform.inertia
    arm, spin = rotation @ np.array(solid.centre), rotation.T @ twist[:3]
    speed = twist[3:] + np.cross(twist[:3], arm)
    kinetic = 0.5 * solid.mass * (speed @ speed) + 0.5 * spin @ np.array(solid.tensor) @ spin
    return kinetic + GRAVITY * solid.mass * (position + arm)[2]


def test_actuator_power_is_the_rate_of_energy(robot: Robot, peer: ModuleType) -> None:
    motion, mechanism = states(robot, 20), robot.mechanism
    found = inverse_dynamics(robot, **motion._asdict())
    joints = inverse_kinematics(robot, **motion._asdict())
    bodies, count = peer.ClosedMechanism(mechanism).bodies[:-6], len(mechanism.limbs[0].links)
    armature = np.array([link.armature for each in mechanism.instances for link in mechanism.limbs[each.limb].links])
    for k in range(20):
        q, qd, qdd = (each[k, :, :count].ravel() for each in (joints.position, joints.velocity, joints.acceleration))
        rate = tree_energy(bodies, q + 1j * STEP * qd, qd + 1j * STEP * qdd).imag / STEP + qd @ (armature * qdd)
        position, rotation, twist, change = (each[k] for each in motion)
        turning = np.cross(twist[:3], rotation, axisb=0, axisc=0)
        steps = ((position, twist[3:]), (rotation, turning), (twist, change))
        rate += platform_energy(mechanism.platform, *(x + 1j * STEP * dx for x, dx in steps)).imag / STEP
        power = found.force[k] * found.velocity[k]
        assert abs(power.sum() - rate) <= 1e-11 * np.abs(power).sum()


def test_agrees_with_pinocchio(robot: Robot, peer: ModuleType) -> None:
    motion, engine = states(robot, 40, seed=11), peer.ClosedMechanism(robot.mechanism)
    found = inverse_dynamics(robot, **motion._asdict())
    joints = inverse_kinematics(robot, **motion._asdict())
    for k in range(40):
        theirs = engine.solve(*(each[k] for each in motion))
        assert theirs.freedoms == REGIONS[robot.name].freedoms
        assert (theirs.closure < (1e-12, 1e-11, 1e-8)).all()
        count = theirs.q.shape[1]
        pairs = (
            (joints.position[k, :, :count], theirs.q),
            (joints.velocity[k, :, :count], theirs.qd),
            (joints.acceleration[k, :, :count], theirs.qdd),
            (found.velocity[k], theirs.velocity),
            (found.force[k], theirs.force),
        )
        for got, expected in pairs:
            assert np.abs(got - expected).max() <= 1e-9 * np.abs(expected).max()


def test_agrees_with_pinocchio_for_other_parameters(robot: Robot, peer: ModuleType) -> None:
    random = np.random.default_rng(5)
    scaled = {
        name: min(max(value * random.uniform(0.97, 1.03), parameter.lower), parameter.upper)
        for (name, value), parameter in zip(robot.values.items(), robot.family.parameters, strict=True)
    }
    other = Robot.of(robot.family, scaled)
    motion, engine = states(other, 5), peer.ClosedMechanism(other.mechanism)
    force = inverse_dynamics(other, **motion._asdict()).force
    for k in range(5):
        expected = engine.solve(*(each[k] for each in motion)).force
        assert np.abs(force[k] - expected).max() <= 1e-9 * np.abs(expected).max()


@pytest.mark.skipif(kernels.llvm is None, reason="llvmlite is missing")
def test_compiled_kernels_give_the_bits_of_the_interpreter(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    motion = states(robot, 21)._asdict()
    fast = (inverse_dynamics(robot, **motion), inverse_kinematics(robot, **motion))
    monkeypatch.setattr(kernels, "llvm", None)
    monkeypatch.setattr(kernel, "_kernels", {})
    slow = (inverse_dynamics(robot, **motion), inverse_kinematics(robot, **motion))
    for got, expected in zip((*fast[0], *fast[1]), (*slow[0], *slow[1]), strict=True):
        np.testing.assert_array_equal(bits(got.astype(float)), bits(expected.astype(float)))


@pytest.mark.parametrize("name", ["five_bar", "irsbot2"])
@pytest.mark.parametrize("field", ["position", "twist", "acceleration"])
def test_motion_out_of_the_plane_is_refused(name: str, field: str) -> None:
    robot = catalog.build(name)
    motion = {"position": np.array(robot.mechanism.platform.home.position, dtype=float)}
    motion[field] = motion.get(field, np.zeros(6)) + (0.01 if field == "position" else np.eye(6)[4])
    with pytest.raises(ValueError, match=f"{field}: the platform of {name} cannot move along y; expected 0 there"):
        inverse_dynamics(robot, **motion)


def test_five_bar_in_line_has_a_status() -> None:
    robot = catalog.build("five_bar")
    p = robot.values
    width, near, far = p["base_half_width"], p["proximal_length"], p["distal_length"]
    level = -np.sqrt(near**2 - (far - width) ** 2)  # distal links in one line: no force holds the platform up
    stretched = -np.sqrt((near + far) ** 2 - width**2)  # all links of a limb in line: the end of its reach
    heights = np.array([level, stretched, stretched - 1e-3, level - 0.05])
    position = np.stack([0.0 * heights, 0.0 * heights, heights], axis=-1)
    found = inverse_dynamics(robot, position=position)
    assert found.status[0] == Status.PLATFORM_SINGULAR
    assert found.status[1] in (Status.SINGULAR, Status.NOT_REACHABLE)
    assert list(found.status[2:]) == [Status.NOT_REACHABLE, Status.OK]
    assert np.isnan(found.force[:3]).all()
    near = [inverse_dynamics(robot, position=position[3] + [0, 0, up]) for up in (0.0495, 0.049999, 0.0501)]
    assert [solved.status for solved in near] == [Status.OK, Status.ILL_CONDITIONED, Status.SINGULARITY_CROSSED]
    assert np.linalg.cond(near[0].jacobian) > 500.0


def test_uncrossed_gough_stewart_has_a_status() -> None:
    """Similar hexagons at base and platform, legs between corners of the same direction: it can be turned about z."""
    robot = catalog.build("gough_stewart", base_half_angle=20.0, platform_half_angle=40.0)
    found = inverse_dynamics(robot, position=robot.mechanism.platform.home.position)
    assert found.status == Status.PLATFORM_SINGULAR
    assert np.isnan(found.force).all()


class FiveBar(NamedTuple):
    """Closed form of one limb: angle of the driven link and of the distal link, from -z towards the outside."""

    near: float
    far: float
    width: float

    def angles(self, x: Any, z: Any) -> tuple[Any, Any]:
        """For the left limb; x from the middle, z from the motors up. Runs on complex numbers."""
        right, down = x + self.width, -z
        reach2 = right**2 + down**2
        inner = np.arctan(right / down)
        opening = np.arccos((self.near**2 + reach2 - self.far**2) / (2 * self.near * np.sqrt(reach2)))
        first = opening - inner
        return first, np.arctan((self.near * np.sin(first) + right) / (self.near * np.cos(first) - down))


def test_five_bar_in_closed_form() -> None:
    """Forces from energy: tau = J^-T d/dx of what the rods and the point at the platform have, by complex steps."""
    robot = catalog.build("five_bar")
    p = robot.values
    limb = FiveBar(p["proximal_length"], p["distal_length"], p["base_half_width"])
    motion = states(robot, 50)
    found = inverse_dynamics(robot, **motion._asdict())
    joints = inverse_kinematics(robot, **motion._asdict())
    home = float(robot.mechanism.platform.home.position[2])
    start = limb.angles(0.0, home)[0]
    for side, sign in enumerate((1.0, -1.0)):
        angles = [limb.angles(sign * x, z)[0] for x, _, z in motion.position]
        # the drive turns about -y: the link leaves -z towards the outside when it turns back
        np.testing.assert_allclose(joints.position[:, side, 0], start - np.array(angles), atol=1e-12)
    for k, (x, _, z) in enumerate(motion.position):
        expected = five_bar_forces(
            robot, limb, np.array([x, z]), motion.twist[k, [3, 5]], motion.acceleration[k, [3, 5]]
        )
        np.testing.assert_allclose(found.force[k], expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def five_bar_forces(robot: Robot, limb: FiveBar, r: Any, v: Any, a: Any) -> np.ndarray:
    """Virtual work: forces at the masses times Jacobians of their coordinates, all by complex steps along x and z.

    A slender rod is two thirds of its mass in the middle and one sixth at either end.
    """
    p = robot.values

    def places(at: Any) -> Any:
        """Coordinates of all masses."""
        found = [at]
        for sign in (1.0, -1.0):
            first, _ = limb.angles(sign * at[0], at[1])
            motor = np.array([-sign * limb.width, 0.0])
            elbow = motor + limb.near * np.array([-sign * np.sin(first), -np.cos(first)])
            found += [motor, 0.5 * (motor + elbow), elbow, 0.5 * (elbow + at)]
        return np.concatenate(found)

    near, far = p["proximal_mass"] / 6, p["distal_mass"] / 6
    masses = np.repeat([p["platform_mass"] + 2 * far, *(near, 4 * near, near + far, 4 * far) * 2], 2)
    h = 1e-4

    def gradient(at: Any) -> np.ndarray:
        return np.stack([places(at + 1j * STEP * e).imag / STEP for e in np.eye(2)], axis=-1)

    jacobian = gradient(r)
    # the Jacobian's rate along the motion, five points; exact to 1e-13 of it
    ahead = [gradient(r + k * h * v) for k in (-2, -1, 1, 2)]
    drift = (ahead[0] - 8 * ahead[1] + 8 * ahead[2] - ahead[3]) / (12 * h) @ v
    weight = np.tile([0.0, GRAVITY], len(masses) // 2)
    work = jacobian.T @ (masses * (jacobian @ a + drift + weight))
    turns = np.stack(
        [[-(limb.angles(sign * x, z)[0]).imag / STEP for x, z in r + 1j * STEP * np.eye(2)] for sign in (1.0, -1.0)]
    )
    return np.linalg.solve(turns.T, work)


def test_four_motors_share_the_load_with_least_squares() -> None:
    robot = catalog.build("delta_4rr2rrr")
    found = inverse_dynamics(robot, **states(robot, 50)._asdict())
    for force, jacobian in zip(found.force, found.jacobian, strict=True):
        left = np.linalg.svd(jacobian)[0][:, 3]  # a preload: it does no work on the platform
        assert abs(left @ force) < 1e-10 * np.abs(force).max()


def test_weights_shift_the_load_between_motors() -> None:
    robot = catalog.build("delta_4rr2rrr")
    weights, motion = np.array([1.0, 2.0, 5.0, 0.5]), states(robot, 30)._asdict()
    found = inverse_dynamics(robot, forces=Forces(weights=weights), **motion)
    even = inverse_dynamics(robot, **motion)
    for force, other, jacobian in zip(found.force, even.force, found.jacobian, strict=True):
        wrench = jacobian.T @ other
        np.testing.assert_allclose(jacobian.T @ force, wrench, atol=1e-11 * np.abs(wrench).max())
        left = np.linalg.svd(jacobian)[0][:, 3]
        assert abs(left @ (weights * force)) < 1e-10 * np.abs(weights * force).max()
    np.testing.assert_array_equal(
        inverse_dynamics(robot, forces=Forces(weights=np.ones(4)), **motion).force, even.force
    )


@pytest.mark.parametrize("weights", [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 0.0], [1.0, 1.0, np.nan, 1.0]])
def test_weights_that_do_not_fit(weights: list[float]) -> None:
    robot = catalog.build("delta_4rr2rrr")
    with pytest.raises(ValueError, match="expected 4 finite numbers above zero, one for each actuator"):
        inverse_dynamics(robot, position=robot.mechanism.platform.home.position, forces=Forces(weights=weights))


def test_weights_without_a_choice() -> None:
    robot = catalog.build("delta_3r2us")
    with pytest.raises(ValueError, match="weights: delta_3r2us has no more actuators than freedoms; leave them out"):
        inverse_dynamics(robot, position=robot.mechanism.platform.home.position, forces=Forces(weights=np.ones(3)))


def test_limbs_are_traced_once_for_all_parameters(robot: Robot) -> None:
    program = limb_program(robot.family, 0)
    first = robot.family.parameters[0].name
    other = Robot.of(robot.family, {first: robot.values[first] * 1.01})
    assert limb_program(other.family, 0) is program
    assert program.operations().total() < 5000
