"""A and B along the motions of a sweep: against Pinocchio, and against differences of forward dynamics."""

from __future__ import annotations

import numpy as np
import pytest
import xarray
from scipy.spatial.transform import Rotation

import limbsweep as ls
from pipeline import Sweep, run
from pipeline.errors import InputError
from robots import catalog
from robots.loads.declared import SpringLoad
from robots.loads.family import with_loads
from tests.arguments import in_records
from tests.pipeline.runs import SYNCHRONOUS
from tests.tasks.mechanics.test_loads_peers import tree_of

ARM = """\
limbsweep: 1
robot: ur5e
trajectories: {swing: {kind: harmonic, amplitude: 0.6, period: 1.2}}
time: {stop: 1.0, step: 0.5}
outputs: [state_matrix, input_matrix, actuator_force, joint_position, joint_velocity]
"""
SHIP = """\
limbsweep: 1
robot: gough_stewart
design: {grid: {payload_mass: [0.5, 1.5]}}
base:
  {kind: line_sine, amplitude: [0.2, 0.1, 0.3], period: 3, turn: {kind: harmonic, amplitude: [0, 0, 0.4], period: 2}}
loads: {s: {kind: spring, body: platform, at: [0, 0, 0], to: [0.1, 0.2, 0.3], stiffness: 900}}
friction: {law: viscous, parameters: {viscous: 0.1}}
trajectories:
  circle: {kind: circle, radius: 0.05, period: 0.7, turn: {kind: harmonic, amplitude: [0.1, 0.05, 0.2], period: 1.0},
           load: {force: [30, -20, 40], moment: [2, 3, -1], axes: platform}}
time: {stop: 0.4, step: 0.4}
outputs: [state_matrix, input_matrix, platform_position, platform_rotation, platform_twist, platform_acceleration]
"""


def test_matrices_along_the_motion_of_an_arm_are_those_of_pinocchio() -> None:
    pytest.importorskip("pinocchio", reason="Pinocchio is missing")
    import pinocchio as pin

    part = run(Sweep.from_text(ARM), cluster=SYNCHRONOUS).isel(design=0, trajectory=0)
    robot, joints = catalog.build("ur5e"), 6
    tree = tree_of(robot)
    tree.model.armature = tree.inner([link.armature for link in robot.mechanism.limbs[0].links])
    slots = np.ix_(tree.slot, tree.slot)
    for k in range(part.sizes["time"]):
        state = [part[name].values[k, 0] for name in ("joint_position", "joint_velocity")]
        state.append(part["actuator_force"].values[..., k, :].ravel())
        pin.computeABADerivatives(tree.model, tree.data, *(tree.inner(x) for x in state))
        minv = np.triu(tree.data.Minv)
        minv = minv + np.triu(minv, 1).T
        expected = [tree.data.ddq_dq[slots], tree.data.ddq_dv[slots], minv[slots]]
        lower = part["state_matrix"].values[k, joints:]
        ours = [lower[:, :joints], lower[:, joints:], part["input_matrix"].values[k, joints:]]
        for mine, theirs in zip(ours, expected, strict=True):
            assert np.abs(mine - theirs).max() < 1e-9 * np.abs(theirs).max()
    chosen = Sweep.from_text(ARM.replace("[state_matrix", "[{state_matrix: ['joint_2', 'joint_5']}"))
    rows = run(chosen, cluster=SYNCHRONOUS).isel(design=0, trajectory=0)["state_matrix"]
    assert list(rows["selected_deviation"].values) == ["joint_2", "joint_5", "joint_2_rate", "joint_5_rate"]
    wanted = part["state_matrix"].sel(deviation=rows["selected_deviation"].values)
    np.testing.assert_array_equal(rows.values, wanted.values)


def test_matrices_of_a_loaded_platform_on_a_ship_are_differences_of_forward_dynamics() -> None:
    results = run(Sweep.from_text(SHIP), cluster=SYNCHRONOUS)
    part = results.isel(design=1, trajectory=0, time=1)
    time, step = float(part["time"]), 1e-5
    yaw, rate = 0.4 * np.sin(np.pi * time), 0.4 * np.pi * np.cos(np.pi * time)
    swing = 2.0 * np.pi / 3.0
    heave = -swing * swing * np.sin(swing * time) * np.array([0.2, 0.1, 0.3])
    base = {
        "base_rotation": Rotation.from_rotvec([0.0, 0.0, yaw]).as_matrix(),
        "base_twist": np.array([0.0, 0.0, rate, *(swing * np.cos(swing * time) * np.array([0.2, 0.1, 0.3]))]),
        "base_acceleration": np.array([0.0, 0.0, -np.pi * np.pi * yaw, *heave]),
    }
    robot = catalog.build("gough_stewart", payload_mass=1.5)
    robot = with_loads(robot, {"s": SpringLoad("platform", 900.0, to=(0.1, 0.2, 0.3))})
    load = {"load": [2.0, 3.0, -1.0, 30.0, -20.0, 40.0], "load_axes": "platform"}
    state = {key: part[f"platform_{key}"].values for key in ("position", "rotation", "twist")}
    change = part["platform_acceleration"].values
    force = ls.inverse_dynamics(robot, **in_records(**state, acceleration=change, **load, **base)).force

    def moved(number: int, size: float) -> np.ndarray:
        kind, k = divmod(number, 6)
        here = {key: np.array(value) for key, value in state.items()}
        if kind:
            here["twist"][k] += size
        elif k >= 3:
            here["position"][k - 3] += size
        else:
            here["rotation"] = Rotation.from_rotvec(np.eye(3)[k] * size).as_matrix() @ here["rotation"]
        return np.asarray(
            ls.forward_dynamics(
                robot, **in_records(forces=ls.Forces(actuator=force), **here, **load, **base)
            ).acceleration
        )

    np.testing.assert_allclose(moved(0, 0.0), change, rtol=1e-9, atol=1e-9)
    expected = np.stack([(moved(k, step) - moved(k, -step)) / (2.0 * step) for k in range(12)], axis=1)
    found = part["state_matrix"].values
    assert np.abs(found[6:] - expected).max() < 1e-7 * np.abs(expected).max()
    turn, omega = np.array([0.3, -0.2, 0.1]), state["twist"][:3]
    np.testing.assert_allclose(found[:3, :3] @ turn, np.cross(omega, turn), atol=1e-14)
    units = [
        np.asarray(
            ls.forward_dynamics(
                robot, **in_records(forces=ls.Forces(actuator=force + u), **state, **load, **base)
            ).acceleration
        )
        for u in np.eye(6)
    ]
    difference = np.stack(units, axis=1) - change[:, None]
    assert np.abs(part["input_matrix"].values[6:] - difference).max() < 1e-9 * np.abs(difference).max()


@pytest.mark.parametrize("name", ["delta_rl5_1450_motors", "three_loop_leg"])
def test_two_formulations_of_the_equations_give_the_same_matrices(name: str) -> None:
    chain = catalog.family(name).reference.is_chain
    kind = "harmonic, amplitude: 0.2" if chain else "line_sine, amplitude: [0.05, 0, 0.03]"
    state = ("joint_position", "joint_velocity") if chain else ("platform_position", "platform_twist")
    text = f"limbsweep: 1\nrobot: {name}\ntrajectories: {{a: {{kind: {kind}, period: 1}}}}\n"
    text += (
        f"time: {{stop: 0.4, step: 0.2}}\noutputs: [state_matrix, input_matrix, actuator_force, {', '.join(state)}]\n"
    )
    part = run(Sweep.from_text(text), cluster=SYNCHRONOUS).isel(design=0, trajectory=0)
    assert not part["worst_status"].values.any()
    robot = catalog.build(name)
    if chain:
        joints = [robot.mechanism.limbs[0].joints.index(freedom) for freedom in robot.mechanism.freedoms]
        motion = {key: part[name].values[:, 0, joints] for key, name in zip(("q", "qd"), state, strict=True)}
    else:
        motion = {key: part[name].values for key, name in zip(("position", "twist"), state, strict=True)}
    expected = ls.linearisation(robot, forces=ls.Forces(actuator=part["actuator_force"].values), **motion)
    for found, wanted in ((part["state_matrix"], expected.state), (part["input_matrix"], expected.input)):
        assert np.abs(found.values - wanted).max() < 1e-11 * np.abs(wanted).max()


def test_where_a_robot_cannot_be_there_are_no_matrices() -> None:
    text = "limbsweep: 1\nrobot: five_bar\ntrajectories: {far: {kind: line_sine, amplitude: [0, 0, -2], period: 1}}\n"
    text += "time: {stop: 0.25, step: 0.25}\noutputs: [state_matrix, input_matrix]\n"
    part: xarray.Dataset = run(Sweep.from_text(text), cluster=SYNCHRONOUS).isel(design=0, trajectory=0)
    assert list(part["status"].values > 0) == [False, True]
    for name in ("state_matrix", "input_matrix"):
        assert np.isfinite(part[name].values[0]).all()
        assert np.isnan(part[name].values[1]).all()


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ("{state_matrix: [elbow]}", r"outputs\[0\].state_matrix\[0\]: got 'elbow'; expected a freedom of the robot"),
        (
            "{state_matrix: [joint_1]}, {input_matrix: [joint_2]}",
            "got other freedoms than those of another output; expected the same freedoms everywhere",
        ),
    ],
)
def test_freedoms_that_a_robot_lacks_are_refused(outputs: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Sweep.from_text(ARM.replace("state_matrix, input_matrix", outputs))
