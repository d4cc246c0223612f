"""Inputs of kernels from a caller: batch dims, padding, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from limbsweep.labelled.motions import simulate
from robots import catalog
from robots.model import Robot
from robots.status import Status
from tasks import inverse_dynamics, inverse_kinematics, joint_reactions
from tasks.dynamics import inputs
from tasks.dynamics.forward import forward_dynamics
from tasks.dynamics.records import STANDING, Environment, Forces, Motion, Moving, State
from tasks.kernels.kernel import rows

DELTA, PLANAR, HEXAPOD = (catalog.build(name) for name in ("delta_3rr2rrr", "five_bar", "gough_stewart"))


def test_rows_are_padded_with_the_last_sample() -> None:
    values = np.arange(6.0).reshape(3, 2)
    found = rows(values, (3,))
    assert found.shape == (2, 8)
    np.testing.assert_array_equal(found[:, :3], values.T)
    np.testing.assert_array_equal(found[:, 3:], np.tile(values[2][:, None], 5))
    np.testing.assert_array_equal(rows(values[0], (2, 4)), np.tile(values[0][:, None], 8))
    assert found.flags.c_contiguous


def test_batch_dims_broadcast() -> None:
    turns = np.tile(np.eye(3), (4, 1, 1, 1))
    moving = Moving(position=np.zeros((3, 3)), rotation=turns, twist=np.arange(6.0))
    batch, motion = inputs.moving_input(HEXAPOD, moving, {"force": (5, 1, 1)})
    assert batch == (5, 4, 3)
    assert motion.shape == (1, 24, 64)
    np.testing.assert_array_equal(motion[0, 12:18, 17], np.arange(6.0))
    np.testing.assert_array_equal(motion[0, 18:], 0.0)


def test_a_platform_that_does_not_turn_has_a_short_motion() -> None:
    home = np.array(DELTA.mechanism.platform.home.position)
    moving = Moving(position=home, twist=[0, 0, 0, 1.0, 2.0, 3.0], acceleration=[0, 0, 0, 4, 5, 6])
    batch, motion = inputs.moving_input(DELTA, moving)
    assert batch == ()
    np.testing.assert_array_equal(motion[0, :, 0], [*home, 1, 2, 3, 4, 5, 6])


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"position": [0.0, 0.0]}, r"position: got an array of shape \(2,\); expected \(\*batch, 3\), not empty"),
        (
            {"position": np.zeros((0, 3))},
            r"position: got an array of shape \(0, 3\); expected \(\*batch, 3\), not empty",
        ),
        ({"rotation": np.eye(2)}, r"rotation: got an array of shape \(2, 2\); expected \(\*batch, 3, 3\)"),
        (
            {"position": np.zeros((2, 3)), "twist": np.zeros((3, 6))},
            r"batch dims do not fit together: position \(2,\), twist \(3,\); expected shapes that broadcast",
        ),
        (
            {"twist": [0.1, 0, 0, 0, 0, 0]},
            "twist: the platform of delta_3rr2rrr cannot rotate; expected no angular part",
        ),
        ({"acceleration": [0, 0, 0.1, 0, 0, 0]}, "acceleration: the platform of delta_3rr2rrr cannot rotate"),
        ({"rotation": -np.eye(3)}, "rotation: got a reflection; expected a rotation matrix"),
    ],
)
def test_what_does_not_fit_is_refused(given: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        inputs.moving_input(DELTA, {"position": DELTA.mechanism.platform.home.position, **given})


def test_motion_out_of_the_plane_is_refused() -> None:
    with pytest.raises(ValueError, match="position: the platform of five_bar cannot move along y; expected 0 there"):
        inputs.moving_input(PLANAR, {"position": (0.0, 0.1, -0.6)})


def test_gravity_is_a_vector() -> None:
    np.testing.assert_array_equal(inputs.gravity_input([1, 2, 3]), [[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match=r"gravity: got an array of shape \(2,\); expected \(3,\), a vector"):
        inputs.gravity_input([0.0, -9.81])


def test_a_load_may_be_given_in_the_platforms_axes() -> None:
    robot = catalog.build("gough_stewart")
    position = np.array([0.1, -0.2, 2.1])
    rotation = Rotation.from_rotvec([0.1, -0.2, 0.3]).as_matrix()
    load = np.array([1.0, 2.0, 3.0, 40.0, 50.0, 60.0])
    turned = np.concatenate([rotation @ load[:3], rotation @ load[3:]])
    for function in (inverse_dynamics, joint_reactions):
        motion = Motion(position=position, rotation=rotation)
        world = function(robot, motion, forces=Forces(load=turned))
        platform = function(robot, motion, forces=Forces(load=load, load_axes="platform"))
        np.testing.assert_allclose(platform[0], world[0], rtol=1e-12, atol=1e-9)
    force = inverse_dynamics(robot, position=position, rotation=rotation, forces=Forces(load=turned)).force
    moved = forward_dynamics(
        robot, position=position, rotation=rotation, forces=Forces(load=load, load_axes="platform", actuator=force)
    ).acceleration
    np.testing.assert_allclose(moved, 0.0, atol=1e-10)


def test_other_axes_of_a_load_are_refused() -> None:
    robot = catalog.build("gough_stewart")
    with pytest.raises(ValueError, match=r"load_axes: got 'tool'; expected 'world' or 'platform'"):
        inverse_dynamics(robot, position=(0, 0, 2), forces=Forces(load=np.zeros(6), load_axes="tool"))


def test_a_sample_of_nan_hides_no_motion_that_the_platform_cannot_make() -> None:
    aside = [[0.05, np.nan, -0.6], [0.05, 0.3, -0.6]]
    with pytest.raises(ValueError, match="position: the platform of five_bar cannot move along y"):
        inverse_dynamics(PLANAR, position=aside)
    twist = np.zeros((2, 6))
    twist[:, 4] = [np.nan, 1.0]
    with pytest.raises(ValueError, match="twist: the platform of five_bar cannot move along y"):
        inverse_dynamics(PLANAR, position=[0.05, 0.0, -0.6], twist=twist)


@pytest.mark.parametrize("name", ["twist", "acceleration"])
@pytest.mark.parametrize("component", range(6))
def test_a_nan_in_any_component_of_a_motion_stays_in_its_sample(name: str, component: int) -> None:
    values = np.zeros((3, 6))
    values[1, component] = np.nan
    moving: dict[str, Any] = {"position": [0.05, 0.0, -0.6], name: values}
    found = inverse_dynamics(PLANAR, **moving)
    np.testing.assert_array_equal(found.status != 0, [False, True, False])
    np.testing.assert_array_equal(np.isnan(found.force), [[False] * 2, [True] * 2, [False] * 2])


def test_gravity_of_no_numbers_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"gravity: got 'down'; expected \(3,\), a vector"):
        inverse_dynamics(PLANAR, position=[0.05, 0.0, -0.6], gravity="down")


def test_a_part_of_a_load_that_is_no_number_makes_the_whole_one() -> None:
    home = np.array(PLANAR.mechanism.platform.home.position)
    load = [np.nan, 0.0, 0.0, 0.0, 0.0, 1.0]  # limbs would hold a moment about x
    found = inverse_dynamics(PLANAR, position=home, forces=Forces(load=load))
    assert found.status == Status.NONFINITE
    assert np.isnan(found.force).all()


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="position: got values that are no real numbers"):
        inverse_dynamics(PLANAR, position=np.array([0.1j, 0.0, -0.6]))


def test_weights_of_given_forces_are_refused() -> None:
    home = np.array(PLANAR.mechanism.platform.home.position)
    with pytest.raises(ValueError, match="weights: got them in the forces of forward_dynamics"):
        forward_dynamics(PLANAR, position=home, forces=Forces(actuator=[0.0, 0.0], weights=[1.0, 1.0]))


@pytest.mark.parametrize("name", ["q", "qd", "actuator"])
def test_input_that_is_not_finite_has_its_status_with_friction(name: str) -> None:
    robot, bad = catalog.build("planar_3r"), [[0.0, 0.0, 0.0], [0.0, np.nan, 0.0]]
    state = {"q": np.zeros((2, 3)), "qd": np.zeros((2, 3)), "actuator": np.zeros((2, 3))} | {name: np.array(bad)}
    friction = {"law": "coulomb_viscous", "coulomb": 1.0}
    found = forward_dynamics(
        robot, q=state["q"], qd=state["qd"], forces=Forces(actuator=state["actuator"], friction=friction)
    )
    assert found.status.tolist() == [Status.OK, Status.NONFINITE]
    assert found.stuck.tolist() == [[True] * 3, [False] * 3]
    assert found.unique.tolist() == [True, False]


@pytest.mark.parametrize("name", ["time", "memory"])
def test_keywords_that_do_not_matter_are_refused(name: str) -> None:
    home = np.array(PLANAR.mechanism.platform.home.position)
    with pytest.raises(ValueError, match=f"{name}: got it, on which the result does not depend; leave it out"):
        inverse_kinematics(PLANAR, position=home, **{name: 0.0})


def test_gravity_serves_kinematics_and_dynamics() -> None:
    home = np.array(PLANAR.mechanism.platform.home.position)
    found, expected = (
        inverse_kinematics(PLANAR, position=home, **keywords) for keywords in ({"gravity": (0, 0, 1)}, {})
    )
    np.testing.assert_array_equal(found.position, expected.position)
    with pytest.raises(ValueError, match="gravity: got an array of shape"):
        inverse_kinematics(PLANAR, position=home, gravity=[9.81])


LATE = np.linspace(0.0, 0.004, 5)
DRY = {"law": "coulomb_viscous", "coulomb": 1.0}
ARM = catalog.build("planar_3r")
STARTS: dict[str, tuple[Robot, dict[str, Any]]] = {
    "chain": (ARM, {"q": np.array([0.1, 0.2, 0.3]), "qd": np.zeros(3)}),
    "platform": (PLANAR, {"position": np.array(PLANAR.mechanism.platform.home.position), "twist": np.zeros(6)}),
}


@pytest.mark.parametrize("friction", [None, DRY], ids=["plain", "dry"])
@pytest.mark.parametrize("method", ["fixed", "adaptive"])
@pytest.mark.parametrize("kind", STARTS)
def test_input_that_is_not_finite_has_its_status_in_a_simulation(kind: str, method: str, friction: Any) -> None:
    """Check every input at every time: the status blames neither friction nor the integrator."""
    robot, start = STARTS[kind]
    still = np.zeros(len(robot.mechanism.actuators))
    bad, down = np.where(np.arange(len(still)) == 0, np.nan, still), Environment(gravity=(np.nan, 0.0, -9.81))
    cases = [(start, bad, STANDING), (start, lambda t: bad if t > 0.002 else still, STANDING), (start, still, down)]
    cases += [(start | {name: start[name] * np.nan}, still, STANDING) for name in start]
    for state, force, environment in cases:
        forces = Forces(actuator=force, friction=friction)
        found = simulate(robot, State(**state), forces, LATE, environment=environment, method=method)
        assert found.status == Status.NONFINITE
    assert simulate(robot, State(**start), Forces(actuator=still, friction=friction), LATE, method=method).status == 0


@pytest.mark.parametrize("name", ["iiwa14", "delta_3rr2rrr", "gough_stewart"])
def test_rows_of_a_motion_do_not_compete_for_cache_lines(name: str) -> None:
    robot = catalog.build(name)
    home = robot.mechanism.platform.home
    at: Moving = {"q": np.zeros((1024, 7))} if robot.mechanism.is_chain else {"position": [home.position] * 1024}
    batch, motion = inputs.moving_input(robot, at)
    assert (batch, motion.shape[2]) == ((1024,), 1024)
    assert motion.strides[1] % 1024
