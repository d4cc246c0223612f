"""Simulated blocks: against closed forms, the other way to simulate, finer steps; limits, ends, and cuts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import limbsweep as ls
from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from robots.status import Status
from tasks.blocks.pool import Arrays
from tasks.dynamics.simulate import simulate

MOVE = {"move": {"kind": "quintic", "end": 0.3, "duration": 0.2}}
HOLD = {"hold": {"kind": "quintic", "start": 0.3, "end": 0.3, "duration": 1.0}}
SERIES = ["joint_position", "joint_velocity", "actuator_force", "tracking_error"]


def simulated(sweep: dict[str, Any]) -> Arrays:
    text = {"robot": "planar_3r", "time": {"stop": 0.2, "step": 0.001}, "outputs": SERIES, **sweep}
    return work.whole(block_of(plan(Sweep.from_dict(text)), 0))


def controlled(kind: str = "pd", trajectories: Any = None, **more: Any) -> dict[str, Any]:
    parameters = more.pop("parameters", {"kp": 400.0, "kd": 20.0})
    space = more.pop("space", "actuator")
    simulation = {"controller": {"kind": kind, "space": space, "parameters": parameters}, **more.pop("simulation", {})}
    return {"trajectories": trajectories or MOVE, "simulation": simulation, **more}


@pytest.mark.parametrize("share", [1, 2])
def test_a_computed_torque_makes_errors_decay_as_their_equation_says(share: int) -> None:
    step, kp, kd, off = 0.001 / share, 400.0, 50.0, 0.05
    sweep = controlled("computed_torque", space="joint", parameters={"kp": kp, "kd": kd})
    sweep["simulation"] |= {"step": step, "state": {"list": {"joint_1": [off]}}}
    error = simulated(sweep)["tracking_error"][0, 0, 0, 0, :, 0]
    slow, fast = np.roots([1.0, kd, kp])[::-1]
    times = np.linspace(0.0, 0.2, 201)
    closed = -off * (fast * np.exp(slow * times) - slow * np.exp(fast * times)) / (fast - slow)
    assert np.abs(error - closed).max() < 0.03 * off / share  # a held force is first order in the sample time
    assert np.abs(error - closed).max() > 1e-4 * off


def test_gravity_is_held_to_rounding() -> None:
    sweep = controlled("pd_gravity", HOLD, gravity=[0.0, -9.81, 0.0])
    arrays = simulated(sweep)
    assert np.abs(arrays["tracking_error"]).max() < 1e-12
    assert np.abs(simulated(controlled("pd", HOLD, gravity=[0.0, -9.81, 0.0]))["tracking_error"]).max() > 1e-3


def test_an_integral_takes_away_what_gravity_leaves() -> None:
    gains = {"kp": 400.0, "kd": 12.0}
    time = {"stop": 1.0, "step": 0.01}
    left = {}
    for kind, more in (("pd", {}), ("pid", {"ki_joint_3": 3000.0})):
        sweep = controlled(kind, HOLD, parameters=gains | more, gravity=[0.0, -9.81, 0.0], time=time)
        sweep["simulation"]["step"] = 0.001
        left[kind] = abs(simulated(sweep)["tracking_error"][0, 0, 0, -1, 2])
    assert left["pid"] < 0.5 * left["pd"]


def test_limits_hold_and_are_counted() -> None:
    limits = {"kp": 4000.0, "kd": 20.0, "force_limit": 3.0, "rate_limit": 500.0, "force_limit_joint_3": 1.0}
    arrays = simulated(controlled(parameters=limits, metrics=["lost_steps", "peak_force"]))
    force = arrays["actuator_force"][0, 0, 0]
    assert np.abs(force).max(axis=0) == pytest.approx([3.0, 3.0, 1.0], rel=1e-12)
    assert np.abs(np.diff(force, axis=0)).max() <= 500.0 * 0.001 * (1.0 + 1e-12)
    assert (arrays["lost_steps"] > 10).all()
    assert arrays["peak_force"].ravel() == pytest.approx([3.0, 3.0, 1.0], rel=1e-12)


def test_a_delay_and_a_sample_time_hold_forces() -> None:
    arrays = simulated(controlled(parameters={"kp": 20.0, "kd": 1.0, "sample_time": 0.005, "delay": 0.003}))
    assert (arrays["worst_status"] == Status.OK).all()
    changes = np.flatnonzero(np.abs(np.diff(arrays["actuator_force"][0, 0, 0, :, 0])))
    assert set((changes + 1) % 5) == {3}  # looked at every 5 ms, 3 ms late


def test_encoders_read_in_steps() -> None:
    sweep = controlled(parameters={"kp": 400.0, "kd": 0.0, "resolution": 1e-3})
    arrays = simulated(sweep)
    reference = arrays["tracking_error"] + arrays["joint_position"][..., 0, :]
    steps = (reference - arrays["actuator_force"] / 400.0) / 1e-3
    assert np.abs(steps - np.rint(steps)).max() < 1e-6


def test_forces_of_a_profile_are_those_of_simulate() -> None:
    force, start = [0.5, -0.2, 0.1], {"joint_1": [0.2], "joint_2": [0.1], "joint_1_rate": [1.0]}
    friction = {"law": "coulomb_viscous", "parameters": {"coulomb": 0.1, "viscous": 0.02}}
    profile = {"simulation": {"forces": {"push": {"values": force}}, "state": {"list": start}}, "friction": friction}
    series = ["joint_position", "joint_velocity"]
    arrays = simulated({**profile, "outputs": series, "metrics": ["work", "dissipated_energy"]})
    robot = ls.robots.build("planar_3r")
    law = {"law": "coulomb_viscous", "coulomb": 0.1, "viscous": 0.02}
    motion: Any = simulate(
        robot, force=force, q=[0.2, 0.1, 0.0], qd=[1.0, 0.0, 0.0], friction=law, step=0.001, steps=200
    )
    assert np.abs(arrays["joint_position"][0, 0, 0, 0, :, 0] - motion.q).max() < 1e-13
    assert arrays["work"].ravel() == pytest.approx(motion.work[-1], abs=1e-13)
    assert arrays["dissipated_energy"].item() == pytest.approx(motion.loss[-1].sum(), abs=1e-13)


def test_profiles_in_a_file_go_by_lines_or_by_steps(tmp_path: Any) -> None:
    (tmp_path / "push.csv").write_text("t,joint_1,joint_2,joint_3\n0,0,0,0\n0.1,1,0,0\n0.2,1,0,0\n")
    forces = {"line": {"file": "push.csv"}, "steps": {"file": "push.csv", "between": "steps"}}
    text = {"robot": "planar_3r", "time": {"stop": 0.2, "step": 0.05}, "outputs": ["actuator_force"]}
    sweep = Sweep.from_dict({**text, "simulation": {"forces": forces, "step": 0.01}}, folder=tmp_path)
    arrays = work.whole(block_of(plan(sweep), 0))
    assert arrays["actuator_force"][0, 0, 0, :, 0] == pytest.approx([0.0, 0.5, 1.0, 1.0, 1.0])
    assert arrays["actuator_force"][0, 0, 1, :, 0] == pytest.approx([0.0, 0.0, 1.0, 1.0, 1.0])


def test_the_error_of_integration_is_told() -> None:
    """Euler's method, whose error is not small: the estimate is near the difference from a very fine run."""
    release: dict[str, Any] = {"state": {"list": {"joint_1": [0.5], "joint_2": [1.0]}}, "method": "euler"}
    common: dict[str, Any] = {"gravity": [0.0, -9.81, 0.0], "outputs": ["joint_position"]}
    told = simulated({**common, "simulation": release, "metrics": ["integration_error", "integration_error_share"]})
    fine = simulated({**common, "simulation": {**release, "method": "rk4", "step": 0.0005}})
    actual = np.abs(told["joint_position"] - fine["joint_position"]).max()
    assert told["integration_error"].item() == pytest.approx(actual, rel=0.05)
    assert 0.0 < told["integration_error_share"].item() < 1.0


def test_unstable_gains_diverge_and_neighbours_do_not_care() -> None:
    sweep = controlled(parameters={"kp": 400.0}, metrics=["peak_tracking_error", "work"])
    sweep["simulation"]["gains"] = {"grid": {"kd": [20.0, 1e5]}}
    arrays = simulated(sweep)
    assert arrays["worst_status"].ravel().tolist() == [Status.OK, Status.DIVERGED]
    failed = arrays["status"][0, 0, 0, 1] != Status.OK
    assert (bool(failed[0]), bool(failed[-1])) == (False, True)
    assert arrays["failed_samples"][0, 0, 0, 1] == failed.sum()
    assert np.isfinite(arrays["tracking_error"][0, 0, 0, 0]).all()
    assert (np.isnan(arrays["tracking_error"][0, 0, 0, 1]).all(axis=-1) == failed).all()
    assert np.isnan(arrays["work"][0, 0, 0, 1]).all()


def test_bits_do_not_depend_on_the_cut() -> None:
    sweep = controlled(metrics=["rms_tracking_error", "integration_error"], time={"stop": 0.05, "step": 0.01})
    sweep |= {"design": {"grid": {"length_1": [0.4, 0.5, 0.6]}}}
    sweep["friction"] = {"law": "coulomb_viscous", "grid": {"coulomb": [0.0, 0.1]}}
    sweep["simulation"] |= {"step": 0.005, "state": {"list": {"joint_1": [0.0, 0.01, -0.02]}}}
    block = block_of(plan(Sweep.from_dict({"robot": "planar_3r", "outputs": SERIES, **sweep})), 0)
    whole = work.whole(block)
    for d, f in ((0, 1), (2, 0)):
        part = replace(block, designs=block.designs.take(slice(d, d + 1)), friction=block.friction[f : f + 1])
        for name, values in work.whole(part).items():
            assert np.array_equal(values, whole[name][d : d + 1, f : f + 1], equal_nan=True), name


def test_a_platform_follows_as_a_function_of_its_state_would_push_it() -> None:
    """Compare a Delta in task space with `simulate` under the forces of each step."""
    text = {"robot": "delta_3rr2rrr", "trajectories": {"line": {"kind": "quintic", "end": [0.05, 0.0, 0.02]}}}
    simulation = {"controller": {"kind": "pd", "parameters": {"kp": 900.0, "kd": 4.0}}}
    outputs = ["platform_position", "actuator_force", "actuator_position", "tracking_error"]
    sweep = {**text, "simulation": simulation, "time": {"stop": 0.02, "step": 0.002}, "outputs": outputs}
    arrays = work.whole(block_of(plan(Sweep.from_dict(sweep)), 0))
    robot = ls.robots.build("delta_3rr2rrr")
    position, twist = np.array(robot.mechanism.platform.home.position), np.zeros(6)
    for k in range(10):
        force = arrays["actuator_force"][0, 0, 0, k]
        motion: Any = simulate(robot, force=force, position=position, twist=twist, step=0.002, steps=1)
        position, twist = motion.position[-1], motion.twist[-1]
        assert np.abs(arrays["platform_position"][0, 0, 0, k + 1] - position).max() < 1e-13
        assert ls.actuator_positions(robot, position=position).position == pytest.approx(
            arrays["actuator_position"][0, 0, 0, k + 1], abs=1e-12
        )


def test_margins_to_limits_are_told_over_all_steps() -> None:
    limits = {
        "joints": {"joint_1": {"position": [-2.0, 2.0]}, "joint_2": {"velocity": 4.0}},
        "actuators": {"joint_1": {"force": 2.0, "power": 50.0}},
    }
    outputs = ["joint_position", "joint_velocity", "actuator_force", "actuator_velocity"]
    margins = ["limit_margin", "velocity_margin", "actuator_margin"]
    arrays = simulated(controlled(limits=limits, outputs=outputs, metrics=margins))
    position, rate = (arrays[name][0, 0, 0, :, 0] for name in outputs[:2])
    force, speed = (arrays[name][0, 0, 0, :, 0] for name in outputs[2:])
    assert arrays["limit_margin"].item() == pytest.approx(1.0 - np.abs(position[:, 0]).max() / 2.0, rel=1e-12)
    assert arrays["velocity_margin"].item() == pytest.approx(1.0 - np.abs(rate[:, 1]).max() / 4.0, rel=1e-12)
    left = min(1.0 - np.abs(force).max() / 2.0, 1.0 - np.abs(force * speed).max() / 50.0)
    assert arrays["actuator_margin"].ravel() == pytest.approx([left, 1.0, 1.0], rel=1e-12)
    assert left < 0.0 < arrays["limit_margin"].item() < 1.0


# --- all joints of the tree -------------------------------------------------------------------------------------------

PULLED: dict[str, Any] = {
    "robot": "five_bar",
    "design": {"grid": {"proximal_length": {"values": [0.5, 0.53]}}},
    "time": {"stop": 0.5, "step": 0.05},
    "outputs": ["platform_position", "actuator_position", "actuator_velocity", "joint_position"],
    "metrics": ["work", "dissipated_energy"],
}


def test_a_sweep_goes_on_beyond_singular_points_or_ends_with_their_name() -> None:
    """Check cases under one force each: the design and time of the end are those of its status."""
    simulation = {"step": 0.005, "forces": {"pull": {"values": [2.0, 1.0]}}}
    plain = simulated({**PULLED, "simulation": simulation})
    statuses = np.unique(plain["status"])
    assert statuses.tolist() == [Status.OK, Status.SINGULAR]
    found = simulated({**PULLED, "simulation": {**simulation, "method": "spanning_tree"}})
    assert (found["status"] == Status.OK).all()
    robot = ls.robots.build("five_bar", proximal_length=0.5)
    times = np.linspace(0.0, 0.5, 11)
    whole = ls.simulate(robot, ls.State(), ls.Forces(actuator=[2.0, 1.0]), times, step=0.005)
    np.testing.assert_allclose(found["platform_position"][0, 0, 0], whole.position, atol=1e-12)
    good = plain["status"][0, 0, 0] == Status.OK
    assert 4 < good.sum() < 11
    good[4:] = False  # steps near the end of a reach are not that precise
    for name in ("actuator_position", "actuator_velocity"):
        np.testing.assert_allclose(found[name][0, 0, 0][good], plain[name][0, 0, 0][good], atol=1e-5)
    tree = found["joint_position"][0, 0, 0][good]
    np.testing.assert_allclose(tree[..., :2], plain["joint_position"][0, 0, 0][good][..., :2], atol=1e-5)


def test_stops_of_a_sweep_are_those_of_simulate() -> None:
    simulation = {
        "step": 0.005, "state": {"grid": {"x_rate": {"values": [0.0, 0.2]}}},
        "stops": {"left.1": {"low": -0.4, "high": 0.3, "restitution": 0.5}},
    }  # fmt: skip
    found = simulated(
        {**PULLED, "simulation": simulation, "friction": {"law": "viscous", "grid": {"viscous": {"values": [0.02]}}}}
    )
    assert (found["status"] == Status.OK).all()
    robot, times = ls.robots.build("five_bar"), np.linspace(0.0, 0.5, 11)
    start = ls.State(position=robot.mechanism.platform.home.position, twist=[0.0, 0.0, 0.0, 0.2, 0.0, 0.0])
    drive = ls.Forces(friction={"law": "viscous", "viscous": 0.02, "joints": "actuated"})
    stops = {"left.1": ls.JointStop(low=-0.4, high=0.3, restitution=0.5)}
    alone = ls.simulate(robot, start, drive, times, step=0.005, stops=stops)
    np.testing.assert_allclose(found["platform_position"][1, 0, 0, 1], alone.position, atol=1e-12)
    taken = alone.loss[-1].sum() + alone.impact_loss[-1].sum()
    assert alone.impact_loss[-1, 0] > 1e-3
    assert found["dissipated_energy"][1, 0, 0, 1] == pytest.approx(taken, rel=1e-9)
    assert found["actuator_position"][1, 0, 0, 1, :, 0].max() <= 0.3 + 1e-9


def test_a_stop_on_one_side_is_one_far_away_on_the_other() -> None:
    one, both = (
        {**PULLED, "simulation": {"step": 0.005, "stops": {"left.1": {"high": 0.05, **more}}}}
        for more in ({}, {"low": -3.0})
    )
    found, expected = simulated(one), simulated(both)
    assert expected["actuator_position"][..., 0].max() == pytest.approx(0.05, abs=1e-8)
    np.testing.assert_allclose(found["actuator_position"], expected["actuator_position"], rtol=0, atol=1e-9)
    assert Sweep.from_dict(one).fingerprint != Sweep.from_dict(both).fingerprint


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"simulation": {"stops": {"left.1": {"low": 0.0}}, "method": "rk4"}}, "stops with method rk4"),
        ({"simulation": {"stops": {"left.9": {"low": 0.0}}}}, "'left.9' is no joint"),
        ({"simulation": {"stops": {"left.1": {}}}}, "got neither"),
        ({"simulation": {"method": "spanning_tree"}, "metrics": ["peak_force"]}, "needs the branch of limbs"),
        (
            {
                "simulation": {"method": "spanning_tree"},
                "friction": {"law": "coulomb_viscous", "grid": {"coulomb": {"values": [0.1]}}},
            },
            "spanning_tree with friction of law coulomb_viscous that sticks",
        ),
    ],
)
def test_what_the_joints_of_a_tree_do_not_know_is_refused(more: dict[str, Any], text: str) -> None:
    with pytest.raises(ls.InputError, match=text):
        Sweep.from_dict({**PULLED, **more})
