"""Programs of the equations of motion: with joint variables given or found, compiled or interpreted."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from robots import catalog
from robots.model import Robot
from robots.status import Status
from tasks import equations_of_motion, inverse_kinematics
from tasks.dynamics import inputs
from tasks.dynamics.equations import Model
from tasks.kernels import kernel
from tasks.kernels import kernel as kernels
from tasks.kernels.keys import Indexed
from tasks.stages import equations
from tests.catalogue import PARALLEL
from tests.tasks.bits import bits
from tests.tasks.regions import States, close, states

GRAVITY = (0.5, -0.3, -9.8)


@pytest.fixture(params=PARALLEL)
def robot(request: pytest.FixtureRequest) -> Robot:
    return catalog.build(request.param)


def test_given_joint_variables_make_the_same_equations(robot: Robot) -> None:
    """The program that takes joint variables agrees with the one that finds them, and says where they do not fit."""
    motion = states(robot, 24)
    _, packed = inputs.moving_input(robot, motion.moving)
    model = Model(robot, GRAVITY)
    found = joint_variables(robot, motion)
    solved, given = model.shares(packed), model.shares(packed, found)
    total, expected = model.total(packed, given), model.total(packed, solved)
    for name in expected:
        if name == "singular":
            assert not total[name].any()
        else:
            close(total[name][0].T, expected[name][0].T, 1e-8)
    assert not model.status(given).any()
    for k in range(len(model.instances)):
        assert given[Indexed("open", k)].max() < 1e-10
        assert np.abs(given[Indexed("correction", k)]).max() < 1e-10
    torn = [angles + 0.1 for angles in found]
    assert (model.status(model.shares(packed, torn)) == Status.LOOP_OPEN).all()


def joint_variables(robot: Robot, motion: States) -> list[np.ndarray]:
    position = inverse_kinematics(robot, **motion.at_rest).position
    limbs = [robot.mechanism.limbs[each.limb] for each in robot.mechanism.instances]
    return [np.ascontiguousarray(position[:, k, : len(limb.links)].T)[None] for k, limb in enumerate(limbs)]


def test_joint_variables_of_another_branch_have_a_status() -> None:
    """Turn the elbow of one limb of a five-bar robot to the other side."""
    robot = catalog.build("five_bar")
    p, position = robot.values, np.array(robot.mechanism.platform.home.position)
    motion = States(position[None], np.eye(3)[None], np.zeros((1, 6)), np.zeros((1, 6)))
    angles = [np.repeat(each, 8, axis=-1) for each in joint_variables(robot, motion)]
    to_tip = np.arctan2(p["base_half_width"], p["home_height"])  # of the line from the motor, from straight down
    opening = np.arctan2(*elbow_of(p, to_tip))
    angles[0][0, 0] += 2.0 * opening
    distal = np.arctan2(p["proximal_length"] * np.sin(opening), _rest(p, opening))
    angles[0][0, 1] -= 2.0 * (opening + distal)
    _, packed = inputs.moving_input(robot, motion.at_rest)
    parts = Model(robot).shares(packed, angles)
    assert parts[Indexed("open", 0)].max() < 1e-6
    assert parts[Indexed("status", 0)][0, 0, 0] == Status.WRONG_BRANCH
    assert parts[Indexed("status", 1)][0, 0, 0] == Status.OK


def elbow_of(p: Mapping[str, float], to_tip: float) -> tuple[float, float]:
    """Sine and cosine of the angle between the driven link and the line from motor to platform."""
    reach = p["base_half_width"] / np.sin(to_tip)
    cosine = (p["proximal_length"] ** 2 + reach**2 - p["distal_length"] ** 2) / (2 * p["proximal_length"] * reach)
    return float(np.sqrt(1.0 - cosine**2)), float(cosine)


def _rest(p: Mapping[str, float], opening: float) -> float:
    reach = np.hypot(p["base_half_width"], p["home_height"])
    return float(reach - p["proximal_length"] * np.cos(opening))


@pytest.mark.skipif(kernels.llvm is None, reason="llvmlite is missing")
def test_compiled_programs_give_the_bits_of_the_interpreter(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    motion = states(robot, 11)
    _, packed = inputs.moving_input(robot, motion.moving)
    angles = joint_variables(robot, states(robot, 16))
    packed = np.ascontiguousarray(np.concatenate([packed, packed], axis=-1)[..., :16])

    def everything() -> dict[str, np.ndarray]:
        model = Model(robot, GRAVITY)
        parts = model.shares(packed, angles)
        made = equations_of_motion(robot, **motion.moving, gravity=GRAVITY)
        return {**parts, **model.total(packed, parts), **{f"{k}": np.asarray(v, float) for k, v in enumerate(made)}}

    fast = everything()
    monkeypatch.setattr(kernels, "llvm", None)
    monkeypatch.setattr(kernel, "_kernels", {})
    slow = everything()
    for name, values in fast.items():
        np.testing.assert_array_equal(bits(values), bits(slow[name]), err_msg=name)


def test_programs_are_traced_once_for_all_parameters(robot: Robot) -> None:
    first = next(iter(robot.values))
    family = Robot.of(robot.family, {first: robot.values[first] * 1.01}).family
    assert equations.limb_share_program(family, 0) is equations.limb_share_program(robot.family, 0)
    assert equations.limb_share_program(family, 0).operations().total() < 6000
