from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from applications.identification.estimation.states import random_motion
from robots import catalog
from robots.model import Inertia
from robots.parameter_errors import ParameterError
from robots.status import Status
from robots.types import TWIST
from tasks import inverse_dynamics, regressor
from tasks.dynamics.inertial_parameters import body_parameters, unit_massings
from tasks.dynamics.records import Forces
from tasks.dynamics.regressor import standard_parameters
from tasks.mechanics.recursion import Massing
from tests.arguments import in_records
from tests.tasks.machines import scaled

EXACT = 1e-10
FRICTIONS = {
    "none": None,
    "actuated": {"law": "stribeck", "coulomb": 1.0, "static": 2.0, "viscous": 0.5, "stribeck_velocity": 0.3},
    "all": [
        {"law": "brown_mcphee", "dynamic": 1.0, "static": 1.5, "viscous": 0.2, "transition_velocity": 0.2},
        {"law": "coulomb_viscous", "coulomb": 0.7, "viscous": 0.3, "joints": "passive", "load": "preload"},
    ],
}


def relative(found: np.ndarray, expected: np.ndarray) -> float:
    assert np.isfinite(expected).all()
    return float(np.abs(found - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize("friction", FRICTIONS)
@pytest.mark.parametrize("name", catalog.FAMILIES)
def test_regressor_times_parameters_is_inverse_dynamics(name: str, friction: str) -> None:
    robot, law, gravity = catalog.build(name), FRICTIONS[friction], (1.0, -2.0, -9.0)
    moving = random_motion(robot, 20, seed=3)
    found = regressor(robot, gravity=gravity, forces=Forces(friction=law), **moving)
    values = standard_parameters(robot, friction=law)
    assert tuple(values) == found.names
    assert len(set(found.names)) == len(found.names)
    tau = inverse_dynamics(robot, gravity=gravity, forces=Forces(friction=law), **moving).force
    assert relative(found.matrix @ np.array(list(values.values())), tau) < EXACT


@pytest.mark.parametrize("name", ["gough_stewart", "irb6", "five_axis_tree"])
def test_on_a_base_that_moves_it_is_inverse_dynamics_too(name: str) -> None:
    robot, rng = catalog.build(name), np.random.default_rng(8)
    moving, (twist, change) = random_motion(robot, 6, seed=3), rng.normal(size=(2, 6, 6))
    base = {"base_rotation": Rotation.random(6, rng=rng).as_matrix(), "base_twist": twist, "base_acceleration": change}
    friction = {"law": "coulomb_viscous", "coulomb": 0.7, "viscous": 0.3}
    matrix = regressor(robot, **in_records(forces=Forces(friction=friction), **moving, **base)).matrix
    values = np.array(list(standard_parameters(robot, friction=friction).values()))
    tau, still = (
        inverse_dynamics(robot, **in_records(forces=Forces(friction=friction), **moving, **at)).force
        for at in (base, {})
    )
    assert relative(matrix @ values, tau) < EXACT
    assert relative(still, tau) > 1e-3


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "planar_3r", "five_bar"])
def test_limbs_that_are_copies_share_their_parameters(name: str) -> None:
    robot = scaled(name, np.random.default_rng(5), 0.02)
    moving = random_motion(robot, 20)
    values = np.array(list(standard_parameters(robot, shared=True).values()))
    each = regressor(robot, **moving).matrix
    shared = regressor(robot, shared=True, **moving).matrix
    assert relative(shared @ values, inverse_dynamics(robot, **moving).force) < EXACT
    assert np.allclose(each.sum(axis=-1), shared.sum(axis=-1), rtol=1e-9, atol=1e-9 * np.abs(each).max())


def test_loads_from_reactions_have_columns_where_friction_does_not_change_reactions() -> None:
    robot = catalog.build("five_axis_tree")
    friction = {"law": "coulomb_viscous", "coulomb": 0.1, "viscous": 0.2, "load": "reaction", "pin_radius": 0.02}
    moving = random_motion(robot, 20)
    found = regressor(robot, forces=Forces(friction=friction), **moving).matrix
    values = np.array(list(standard_parameters(robot, friction=friction).values()))
    assert relative(found @ values, inverse_dynamics(robot, forces=Forces(friction=friction), **moving).force) < EXACT


def test_friction_that_changes_the_reactions_which_load_it_is_refused() -> None:
    robot = catalog.build("delta_3rr2rrr")
    friction = {"law": "coulomb_viscous", "coulomb": 0.1, "load": "reaction", "pin_radius": 0.02, "joints": "all"}
    with pytest.raises(ValueError, match="which changes these reactions: forces are not a product"):
        regressor(robot, forces=Forces(friction=friction), **random_motion(robot, 2))


def test_weights_of_a_robot_with_more_actuators_than_freedoms_count() -> None:
    robot, weights = catalog.build("delta_4rr2rrr"), [1.0, 2.0, 3.0, 4.0]
    moving = random_motion(robot, 10)
    values = np.array(list(standard_parameters(robot).values()))
    found = regressor(robot, forces=Forces(weights=weights), **moving).matrix @ values
    assert relative(found, inverse_dynamics(robot, forces=Forces(weights=weights), **moving).force) < EXACT


def test_batch_dims_stay_and_samples_without_solution_are_nan() -> None:
    robot = catalog.build("delta_3rr2rrr")
    position = np.array(robot.mechanism.platform.home.position) + np.zeros((2, 3, 3))
    position[1, 2] = (9.0, 0.0, 0.0)
    found = regressor(robot, position=position)
    assert found.matrix.shape[:3] == (2, 3, 3)
    assert found.status[1, 2] != Status.OK
    assert np.isnan(found.matrix[1, 2]).all()
    assert np.isfinite(found.matrix[0]).all()


@pytest.mark.parametrize("name", ["five_bar", "gough_stewart", "hexapod_6rrrprr", "delta_4rr2rrr"])
def test_the_status_is_that_of_inverse_dynamics(name: str) -> None:
    robot, random = catalog.build(name), np.random.default_rng(8)
    platform, count = robot.mechanism.platform, 300
    free = np.array([axis in platform.mobility for axis in TWIST])
    position = np.array(platform.home.position) + random.uniform(-0.6, 0.6, (count, 3)) * free[3:]
    turn = Rotation.from_rotvec(random.uniform(-1.2, 1.2, (count, 3)) * free[:3]).as_matrix()
    states = {"position": position, "rotation": turn @ np.array(platform.home.rotation)}
    found, forces = regressor(robot, **states), inverse_dynamics(robot, **states)
    np.testing.assert_array_equal(found.status, forces.status)
    assert {Status.OK, SEEN[name]} <= set(found.status.tolist())
    assert (np.isnan(found.matrix).any(axis=(1, 2)) == (found.status != Status.OK)).all()


SEEN = {"delta_4rr2rrr": Status.NOT_REACHABLE} | dict.fromkeys(
    ("five_bar", "gough_stewart", "hexapod_6rrrprr"), Status.SINGULARITY_CROSSED
)
"""A status beside OK that some of these states have."""


def test_random_motions_stay_on_this_side_of_singularities_of_the_platform() -> None:
    robot = catalog.build("gough_stewart")
    assert (inverse_dynamics(robot, **random_motion(robot, 200)).status == Status.OK).all()


def test_one_sample_alone_has_the_same_bits() -> None:
    robot = catalog.build("irsbot2")
    moving = random_motion(robot, 11)
    whole = regressor(robot, **moving).matrix
    alone = regressor(robot, **{name: value[4] for name, value in moving.items()}).matrix
    assert (whole[4] == alone).all()


def test_unit_massings_are_those_of_the_parameters() -> None:
    tensor = ((0.5, 0.01, 0.02), (0.01, 0.6, -0.03), (0.02, -0.03, 0.7))
    inertia = Inertia(2.0, (0.1, -0.2, 0.3), tensor)
    summed = sum(p * unit.second for p, unit in zip(body_parameters(inertia), unit_massings(), strict=True))
    assert np.allclose(summed, Massing.of(inertia).second)


def test_a_law_with_a_state_is_refused() -> None:
    robot = catalog.build("planar_3r")
    with pytest.raises(ParameterError, match="has a state"):
        regressor(robot, q=np.zeros(3), forces=Forces(friction={"law": "lugre"}))
