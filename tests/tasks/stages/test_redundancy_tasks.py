"""Tasks of redundant limbs: linear conditions on joints and arm angles, beside Pinocchio with roots of SciPy."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import limbsweep as ls
from applications.identification.estimation.base import base_parameters
from applications.identification.estimation.excitation import moving
from applications.identification.excite import excite
from applications.identification.excite_job import ExcitationOptions
from pipeline import Sweep, run
from pipeline.errors import InputError
from pipeline.robot_files.reader import parse_robot
from robots.formats import writing
from robots.formats.working_modes import BranchError
from robots.model import Robot
from tasks.dynamics.regressor import regressor, standard_parameters
from tasks.dynamics.resolution import ResolvedMotion
from tests.pipeline.runs import SYNCHRONOUS
from tests.tasks.stages.test_redundancy import (
    ALONG_RAIL,
    CARRIAGE,
    EXAMPLES,
    PLANAR,
    TWO_FREE,
    arm,
    assert_forces,
    assert_rates,
    states,
    waves,
)

ANGLE = (EXAMPLES / "robots" / "arm_angle.yaml").read_text()
POSTURE = "posture: {arm.1: -0.1, arm.2: swivel, arm.3: 0, arm.4: 0.1}\n    weights: {arm.3: 2}"
LINEAR = PLANAR.replace(POSTURE, "tasks: {bend: {coefficients: {arm.1: 1, arm.2: swivel - 0.7}, value: swivel / 4}}")
TASK = {"coefficients": {"arm.1": 1.0, "arm.2": "swivel - 0.7"}, "value": "swivel / 4"}
STATED = PLANAR.replace(POSTURE, "tasks: {bend: {coefficients: {arm.1: 1, arm.3: -2 * swivel}}}")
BESIDE = TWO_FREE.replace(
    "    posture", "    tasks: {along: {coefficients: {rail: 1, arm.3: 0.5}, value: swivel}}\n    posture"
)

ON_CARRIAGE = ANGLE.replace("instances:\n  arm: {limb: arm}\n", CARRIAGE).replace(
    "joints: [arm.3]",
    "joints: [rail, arm.3]\n    posture: {rail: 0.2, arm.1: 0, arm.2: 0.1, arm.4: -0.1}\n    weights: {arm.1: 3}",
)
ON_CARRIAGE = ON_CARRIAGE.replace("[0, 0, 1]}}", "[0, 0, 1]}, value: 0.2}")


def reference(robot: Robot) -> Any:
    pytest.importorskip("pinocchio", reason="Pinocchio is missing")
    from tests.reference.tasks_pinocchio import ConditionedChain

    return ConditionedChain(robot.mechanism)


def assert_motion(robot: Robot, chain: Any, values: list[float]) -> ResolvedMotion:
    """Positions to 1e-12 of roots, rates to 1e-9 and accelerations to 1e-7 of their differences.

    Tasks whose motion is given are after the joints; `values` are those of the others.
    """
    (q,), (qd,), (qdd,) = (0.5 * part for part in states(robot, 1))
    found = ls.resolve_redundancy(robot, q=q, qd=qd, qdd=qdd)
    assert found.status == ls.Status.OK

    def given(t: float) -> tuple[np.ndarray, np.ndarray]:
        at, beside = np.split(q + qd * t + 0.5 * qdd * t * t, [len(chain.given)])
        return at, np.array([*values, *beside])

    for part, expected, limit in zip(found[:3], chain.motion(given), (1e-12, 1e-9, 1e-7), strict=True):
        np.testing.assert_allclose(part, expected, atol=limit)
    return found


def arm_angle(chain: Any) -> Callable[[np.ndarray], np.ndarray]:
    """The angle of the arm about the line from shoulder to wrist, from unit vectors of Pinocchio's kinematics."""

    def angle(q: np.ndarray) -> np.ndarray:
        shoulder, elbow, wrist = (chain.place(f"arm.{k}", q) for k in (2, 4, 6))
        line = (wrist - shoulder) / np.linalg.norm(wrist - shoulder)
        up, across = np.array([0, 0, 1.0]) - line * line[2], np.cross(line, [0, 0, 1.0])
        return np.array([np.arctan2((elbow - shoulder) @ across, (elbow - shoulder) @ up)])

    return angle


def test_a_linear_condition_with_parameters() -> None:
    robot = arm(LINEAR, swivel=0.4)
    chain = reference(robot)
    row = chain.linear({"arm.1": 1.0, "arm.2": -0.3})
    chain.conditions = lambda q: np.array([row @ q])
    assert_motion(robot, chain, [0.1])


def test_an_arm_angle_that_is_part_of_the_motion() -> None:
    robot = arm(ANGLE)
    assert robot.mechanism.given[-1] == "swivel"
    assert robot.mechanism.freedoms[-1] == "arm.3"
    chain = reference(robot)
    chain.conditions = arm_angle(chain)
    found = assert_motion(robot, chain, [])
    assert_forces(robot, ResolvedMotion(*(np.atleast_2d(part) for part in found)))


def test_a_posture_decides_what_a_task_leaves() -> None:
    """The least distance among all places where the task holds; its rates and accelerations are differences."""
    robot = arm(BESIDE)
    chain = reference(robot)
    row = chain.linear({"rail": 1.0, "arm.3": 0.5})
    weights = chain.linear({"rail": 1.0, "arm.1": 1.0, "arm.2": 1.0, "arm.3": 2.0, "arm.4": 1.0})
    chain.posture = weights, chain.linear({"rail": 0.1, "arm.1": -0.1, "arm.2": 0.2, "arm.4": 0.1})
    chain.conditions = lambda q: np.array([row @ q])
    assert_motion(robot, chain, [0.2])


@pytest.mark.slow
def test_a_posture_decides_what_an_arm_angle_leaves() -> None:
    """The arm on a carriage: its angle is held, and a posture decides where the carriage is."""
    robot = arm(ON_CARRIAGE)
    chain = reference(robot)
    chain.conditions = arm_angle(chain)
    posture = {"rail": 0.2, "arm.2": 0.1, "arm.4": -0.1}
    weights = dict.fromkeys((*posture, "arm.1"), 1.0) | {"arm.1": 3.0}
    chain.posture = chain.linear(weights), chain.linear(posture)
    q = 0.5 * states(robot, 1)[0][0]
    found = ls.resolve_redundancy(robot, q=q)
    near = ls.inverse_kinematics(robot, q=found.q).position[0, : len(chain.names)]
    root = chain.positions(q, np.array([0.2]), near + np.random.default_rng(1).normal(scale=0.02, size=len(near)))
    assert np.abs(chain.open_by(root, q, np.array([0.2]))).max() < 1e-10
    np.testing.assert_allclose(found.q, root[chain.freedoms], atol=1e-9)
    assert_rates(robot, 0.4)


@pytest.mark.parametrize("text", [ANGLE, LINEAR, STATED, BESIDE])
def test_files_with_tasks_are_read_back(text: str) -> None:
    description = parse_robot(text, "robot.yaml")
    assert parse_robot(writing.text(description), "written.yaml") == description


def test_another_section_is_that_of_a_file() -> None:
    robot = ls.robots.with_redundancy(arm(PLANAR, swivel=0.4), {"joints": ["arm.2"], "tasks": {"bend": TASK}})
    assert robot.values == {"swivel": 0.4}
    found, expected = (ls.resolve_redundancy(one, q=np.zeros(3)) for one in (robot, arm(LINEAR, swivel=0.4)))
    np.testing.assert_array_equal(found.q, expected.q)
    with pytest.raises(InputError, match=r"five_bar redundancy: got a robot without coordinates; expected a"):
        ls.robots.with_redundancy(ls.robots.build("five_bar"), {"joints": ["1"]})
    with pytest.raises(InputError, match=r"redundancy.joints\[0\]: got '<object"):
        ls.robots.with_redundancy(robot, {"joints": [object()]})


SWEEP = """\
limbsweep: 1
robot: ./planar.yaml
design: {grid: {swivel: [-0.2, -0.4]}}
trajectories:
  sway: {kind: harmonic, amplitude: [0.1, 0.05, 0, 0.2], period: 2}
time: {stop: 1, step: 0.25}
outputs: [actuator_force]
metrics: [peak_force]
"""


def test_sweeps_give_the_values_of_tasks_in_their_trajectories(tmp_path: Path) -> None:
    (tmp_path / "planar.yaml").write_text(STATED)
    sweep = Sweep.from_text(SWEEP, folder=tmp_path)
    whole = run(sweep, cluster=SYNCHRONOUS)
    assert not whole["worst_status"].values.any()
    robot = arm(STATED, swivel=-0.4)
    assert robot.mechanism.given == ("platform_x", "platform_y", "platform_yaw", "bend")
    q, qd, qdd = (np.outer(wave, [0.1, 0.05, 0, 0.2]) for wave in waves(whole["time"].values, np.pi))
    motion = ls.resolve_redundancy(robot, q=q, qd=qd, qdd=qdd)
    force = ls.inverse_dynamics(robot, q=motion.q, qd=motion.qd, qdd=motion.qdd).force
    np.testing.assert_allclose(whole["actuator_force"].isel(design=1).squeeze(), force, atol=1e-12)


def test_tasks_that_decide_nothing_are_a_status() -> None:
    """Check a task of given joints, a direction along the line of the arm, and values that the arm does not reach."""
    coordinate = ALONG_RAIL.replace(POSTURE, "tasks: {x: {coefficients: {platform_x: 1}, value: 0.1}}")
    assert ls.Status(int(ls.resolve_redundancy(arm(coordinate), q=np.zeros(4)).status)) is ls.Status.SINGULAR
    far = ls.resolve_redundancy(arm(LINEAR), q=[[0, 0, 0], [3.0, 0, 0]])
    assert far.status.tolist() == [ls.Status.OK, ls.Status.NOT_REACHABLE]
    bent = ls.resolve_redundancy(arm(STATED), q=[0, 0, 0, 5.0])
    assert bent.status.tolist() != ls.Status.OK
    assert np.isnan(bent.q).all()


def test_a_redundant_arm_with_an_elbow_to_the_other_side() -> None:
    """Start from rough positions from which the weld at the platform would close the wrong way round."""
    given = re.sub(r"    posture: .*\n    weights: .*\n", "", PLANAR)
    other = ls.robots.on_branch(arm(given), joints={"planar_4r": {"arm.4": -2.8}})
    motion = ResolvedMotion(*(0.05 * part for part in states(other, 2)), np.zeros(2))
    assert_forces(other, motion)
    turned = sum(dict(other.family.assemble.reference[0][1])[f"arm.{k}"] for k in range(1, 5))
    yaw = dict(other.family.assemble.reference[0][1])["platform_yaw"]
    assert np.cos(turned - yaw) == pytest.approx(1.0)


def test_a_branch_whose_reference_is_singular_is_refused() -> None:
    robot = arm(PLANAR)
    assembled = dict(robot.family.assemble.reference[0][1])
    stretched = {"arm.2": 0.0, "arm.3": -0.5 * assembled["2"] - assembled["3"]}  # joints 1, 3 and 4 in a line
    with pytest.raises(BranchError, match=r"got a singular configuration, where platform_x, .* do not determine"):
        ls.robots.on_branch(robot, joints={"planar_4r": stretched})


@pytest.mark.slow
def test_motions_that_excite_what_is_given(tmp_path: Path) -> None:
    """Regressors along the resolved motion give back the parameters from forces, which the posture does not hide."""
    (tmp_path / "planar.yaml").write_text(PLANAR)
    drawn = "excite: {kind: random_fourier, count: 1, seed: 2, period: 2, position: 0.1}"
    text = SWEEP.replace("sway: {kind: harmonic, amplitude: [0.1, 0.05, 0, 0.2], period: 2}", drawn)
    found = excite(Sweep.from_text(text, folder=tmp_path), ExcitationOptions(steps=2, samples=25), cluster=SYNCHRONOUS)
    _, best = found.best("excite")
    assert best.series.sines.shape[0] == 3
    robot = arm(PLANAR, swivel=-0.2)
    moved = moving(robot, best.series, best.series.times(25))
    base = base_parameters(robot, shared=True)
    matrix = base.reduced(regressor(robot, **moved, shared=True).matrix).reshape(100, -1)
    force = ls.inverse_dynamics(robot, **moved).force.ravel()
    nominal = base.of(list(standard_parameters(robot, shared=True).values()))
    np.testing.assert_allclose(np.linalg.lstsq(matrix, force, rcond=None)[0], nominal, atol=1e-9 * best.condition)
    assert not run(found.save(tmp_path / "best.yaml"), cluster=SYNCHRONOUS)["worst_status"].values.any()
