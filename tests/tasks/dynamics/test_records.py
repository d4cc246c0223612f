"""Records of a call, their short form, and the gate for rotations."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import limbsweep as ls
from robots import catalog
from robots.types import TWIST
from tasks.dynamics.records import Environment, Forces, Motion, State

ARM = catalog.build("planar_3r")
STEWART = catalog.build("gough_stewart")
PLACE = np.array([0.1, -0.2, 2.1])
TURN = Rotation.from_rotvec([0.1, -0.2, 0.3]).as_matrix()
Q, QD, QDD = np.random.default_rng(3).uniform(-1.0, 1.0, (3, 4, 3))


def test_records_and_their_short_form_give_the_same_bits() -> None:
    down = (0.0, -9.81, 0.0)
    long = ls.inverse_dynamics(ARM, Motion(q=Q, qd=QD, qdd=QDD), environment=Environment(gravity=down))
    short = ls.inverse_dynamics(ARM, q=Q, qd=QD, qdd=QDD, gravity=down)
    for one, other in zip(long, short, strict=True):
        np.testing.assert_array_equal(one, other)
    state = ls.forward_dynamics(ARM, State(q=Q, qd=QD), Forces(actuator=long.force), Environment(gravity=down))
    np.testing.assert_allclose(state.acceleration, QDD, atol=1e-10)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"motion": Motion(q=Q), "q": Q}, ValueError, "q: got it beside a motion; expected it in the motion"),
        (
            {"motion": Motion(q=Q), "environment": Environment(), "gravity": (0, 0, 1)},
            ValueError,
            "gravity: got it bes",
        ),
        ({"motion": {"q": Q}}, ValueError, "motion: got an object of type dict; expected a limbsweep.State"),
        (
            {"q": Q, "forces": {"load": 1}},
            ValueError,
            "forces: got an object of type dict; expected a limbsweep.Forces",
        ),
        ({"q": Q, "environment": 9.81}, ValueError, "environment: got an object of type float"),
        ({"q": Q, "load": 1.0}, TypeError, "load: no argument has this name; expected load in limbsweep.Forces"),
        ({"q": Q, "gravty": 1.0}, TypeError, "gravty: no argument has this name; did you mean 'gravity'"),
        (
            {"q": Q, "forces": Forces(actuator=[1.0] * 3)},
            ValueError,
            "actuator: got forces of actuators, which are the",
        ),
        ({"q": [["a"] * 3]}, ValueError, "q: got values that are no real numbers"),
    ],
)
def test_calls_that_cannot_be_meant_are_refused(arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(text)}"):
        ls.inverse_dynamics(ARM, **arguments)


@pytest.mark.parametrize(
    ("places", "keywords", "error", "text"),
    [
        (
            [],
            {"motion": Motion(q=Q), "environment": Environment(), "gravity": (0, 0, 1)},
            ValueError,
            "gravity: got it",
        ),
        ([Motion(q=Q, time=0.0)], {"time": 1.0}, ValueError, "time: got it beside a motion"),
        ([Motion(q=Q)], {"motion": Motion(q=QD)}, TypeError, "multiple values for argument 'motion'"),
        ([Motion(q=Q), Environment(), Forces(), 3], {}, TypeError, "too many positional arguments"),
    ],
)
def test_calls_with_designs_refuse_what_is_given_twice(
    places: list[Any], keywords: dict[str, Any], error: type[Exception], text: str
) -> None:
    designs = {next(iter(ARM.values)): [0.9, 1.0]}
    with pytest.raises(error, match=f"^{re.escape(text)}"):
        ls.inverse_dynamics(ARM, *places, parameters=designs, **keywords)


def test_a_base_turns_and_accelerates_and_has_no_place() -> None:
    with pytest.raises(ValueError, match="base: got position; expected rotation, twist, acceleration"):
        Environment(base=Motion(position=PLACE))
    with pytest.raises(ValueError, match=r"base: got an object of type ndarray; expected a limbsweep\.Motion"):
        Environment(base=np.eye(3))  # type: ignore[arg-type]


MATRICES = {
    "a reflection": np.diag([1.0, 1.0, -1.0]) @ TURN,
    "twice a rotation": 2.0 * TURN,
    "a shear": TURN + np.outer([1e-3, 0.0, 0.0], [0.0, 1.0, 0.0]),
}


@pytest.mark.parametrize("name", MATRICES)
def test_what_is_no_rotation_has_no_forces(name: str) -> None:
    """Alone it is refused; in a batch its sample fails and the others do not."""
    for what, call in {
        "rotation": lambda matrix: ls.inverse_dynamics(STEWART, position=PLACE, rotation=matrix),
        "base.rotation": lambda matrix: ls.inverse_dynamics(
            STEWART, Motion(position=PLACE, rotation=TURN), environment=Environment(base=Motion(rotation=matrix))
        ),
    }.items():
        with pytest.raises(ValueError, match=f"^{what}: got a .*; expected a rotation matrix"):
            call(MATRICES[name])
        found = call(np.stack([TURN, MATRICES[name], TURN]))
        assert [bool(code == ls.Status.OK) for code in found.status] == [True, False, True]
        assert np.isnan(found.force[1]).all()
        np.testing.assert_array_equal(found.force[[0, 2]], call(np.stack([TURN, TURN])).force)


def test_a_rotation_of_single_precision_is_one() -> None:
    found = ls.inverse_dynamics(STEWART, position=PLACE, rotation=TURN.astype(np.float32))
    assert found.status == ls.Status.OK
    delta = catalog.build("delta_3rr2rrr")
    place = np.array(delta.mechanism.platform.home.position)
    turned = np.stack([np.eye(3), -np.eye(3)])
    np.testing.assert_array_equal(
        ls.inverse_dynamics(delta, position=place, rotation=turned).status == 0, [True, False]
    )


@pytest.mark.parametrize("name", ["planar_3r", "three_loop_leg", "five_bar", "delta_3rr2rrr"])
def test_forward_dynamics_with_friction_undoes_inverse_dynamics(name: str) -> None:
    """One function for trees, closed chains and platforms."""
    robot, rng = catalog.build(name), np.random.default_rng(5)
    law = {"law": "coulomb_viscous", "coulomb": 0.3, "viscous": 0.1}
    if robot.mechanism.is_chain:
        q, qd, qdd = rng.uniform(0.1, 0.3, (3, 6, len(robot.mechanism.freedoms)))
        motion, change = Motion(q=q, qd=qd, qdd=qdd), qdd
    else:
        along = np.array([name.startswith("v") and name in robot.mechanism.platform.mobility for name in TWIST])
        twist, change = rng.uniform(0.1, 0.3, (2, 6, 6)) * along
        motion = Motion(position=robot.mechanism.platform.home.position, twist=twist, acceleration=change)
    made = ls.inverse_dynamics(robot, motion, forces=Forces(friction=law))
    assert not made.status.any()
    found = ls.forward_dynamics(robot, motion, Forces(actuator=made.force, friction=law))
    assert found.friction.any()
    assert found.unique.all()
    np.testing.assert_allclose(found.acceleration, change, atol=1e-8)
    free = ls.forward_dynamics(robot, motion, Forces(actuator=made.force))
    assert free.friction.shape == (6, 0)
    assert abs(free.acceleration - change).max() > 1e-3


def test_simulate_fails_the_case_whose_matrix_is_no_rotation_alone() -> None:
    turns = np.stack([np.eye(3), 2.0 * np.eye(3)])
    hexapod = catalog.build("gough_stewart")
    moved = ls.simulate(hexapod, State(position=(0.0, 0.0, 2.0), rotation=turns), None, [0.0, 0.01])
    np.testing.assert_array_equal(moved.status != 0, [False, True])
    assert np.isfinite(moved.position[:, 0]).all()


def test_accelerations_of_a_motion_do_not_matter_to_forward_dynamics() -> None:
    five_bar, place = catalog.build("five_bar"), (0.05, 0.0, -0.6)
    push = Forces(actuator=(1.0, 2.0))
    expected = ls.forward_dynamics(five_bar, State(position=place), push)
    found = ls.forward_dynamics(five_bar, Motion(position=place, acceleration=[np.nan] * 6), push)
    np.testing.assert_array_equal(found.acceleration, expected.acceleration)
    assert found.status == 0


def test_a_result_with_other_values_makes_a_dataset_too() -> None:
    found = ls.inverse_dynamics(ARM, q=Q)
    doubled = found._replace(force=2.0 * found.force)
    np.testing.assert_array_equal(doubled.to_dataset()["force"], 2.0 * found.force)
