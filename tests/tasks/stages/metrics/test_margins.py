"""Margins to limits against NumPy on the series of the same motion without limits, and what limits leave alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pipeline.execution import work
from robots import catalog
from robots.limits import Capacity, JointLimit, Limits, joints, select_actuators, select_joints
from robots.parameter_errors import ParameterError
from robots.requested import QuantityNames
from robots.status import Status
from tasks.blocks.block import Block
from tasks.blocks.pool import Arrays
from tasks.stages.metrics import margins
from tests.tasks.blocks.test_gradients import block

SERIES = ("joint_position", "joint_velocity", "actuator_force", "actuator_velocity", "actuator_power", "status")
MARGINS = ("limit_margin", "velocity_margin", "actuator_margin", "usable_share", "failed_samples", "worst_status")


def computed(given: Block, limited: Limits) -> Arrays:
    return work.whole(replace(given, quantities=QuantityNames(SERIES, MARGINS), limits=limited))


def spread(made: Arrays, share: float) -> dict[tuple[int, int], JointLimit]:
    """Limits for all joints, a share of the ranges that they go through and of their largest rates."""
    found = {}
    for limb, joint in np.ndindex(made["joint_position"].shape[-2:]):
        q, rate = (made[name][0, 0, :, limb, joint] for name in ("joint_position", "joint_velocity"))
        if np.isfinite(q).all() and np.ptp(q) > 0.0:
            middle, half = 0.5 * (q.max() + q.min()), 0.5 * share * np.ptp(q)
            found[limb, joint] = JointLimit(middle - half, middle + 0.8 * half, share * np.abs(rate).max())
    return found


@pytest.mark.parametrize("robot", catalog.FAMILIES)
def test_margins_of_joints_are_those_of_their_series(robot: str) -> None:
    given = block(robot)
    free = computed(given, Limits())
    chosen = spread(free, 1.5)
    made = computed(given, Limits(chosen))
    places = [(q[0], q[1], free["joint_position"][0, 0, :, q[0], q[1]]) for q in chosen]
    expected = [
        np.minimum(q - chosen[k, i].low, chosen[k, i].high - q) / (0.5 * (chosen[k, i].high - chosen[k, i].low))
        for k, i, q in places
    ]
    rates = [1.0 - np.abs(free["joint_velocity"][0, 0, :, k, i]) / chosen[k, i].velocity for k, i in chosen]
    np.testing.assert_allclose(made["limit_margin"][0, 0], np.min(expected), rtol=1e-9)
    np.testing.assert_allclose(made["velocity_margin"][0, 0], np.min(rates), rtol=1e-9)
    assert (free["limit_margin"], free["velocity_margin"]) == (1.0, 1.0)


def test_limits_that_hold_change_no_bit() -> None:
    given = block("delta_3rr2rrr")
    free = computed(given, Limits())
    made = computed(given, Limits(spread(free, 1.5), {0: Capacity(force=1e3)}))
    assert made["worst_status"] == Status.OK
    for name in SERIES:
        np.testing.assert_array_equal(made[name], free[name])


def test_samples_beyond_a_range_have_a_status_and_a_negative_margin() -> None:
    given = block("delta_3rr2rrr")
    free = computed(given, Limits())
    chosen = {place: replace(limit, velocity=np.inf) for place, limit in spread(free, 0.7).items()}
    made = computed(given, Limits(chosen))
    beyond = np.any(
        [
            (free["joint_position"][0, 0, :, k, i] < each.low) | (free["joint_position"][0, 0, :, k, i] > each.high)
            for (k, i), each in chosen.items()
        ],
        axis=0,
    )
    assert 0 < beyond.sum() < len(beyond)
    np.testing.assert_array_equal(made["status"][0, 0], np.where(beyond, Status.JOINT_LIMIT, Status.OK))
    assert made["limit_margin"] < 0.0
    assert (made["worst_status"], made["failed_samples"]) == (Status.JOINT_LIMIT, beyond.sum())
    assert made["usable_share"] == pytest.approx(1.0 - beyond.mean())
    assert np.isnan(made["actuator_force"][0, 0, 0, beyond]).all()
    np.testing.assert_array_equal(made["actuator_force"][0, 0, 0, ~beyond], free["actuator_force"][0, 0, 0, ~beyond])


def test_another_failure_comes_before_a_limit() -> None:
    given = block("delta_3rr2rrr")
    far = replace(given.trajectories[0], values=given.trajectories[0].values | {"amplitude": [2.0, 0.0, 0.0]})
    made = computed(replace(given, trajectories=(far,)), Limits({(0, 0): JointLimit(-1e-6, 1e-6)}))
    codes = set(made["status"][0, 0].tolist())
    assert {Status.NOT_REACHABLE, Status.JOINT_LIMIT} <= codes
    assert np.isnan(made["limit_margin"]).all()


@pytest.mark.parametrize("robot", ["delta_3rr2rrr", "hexapod_ball_screws", "irb6"])
def test_margins_of_actuators_are_those_of_their_series(robot: str) -> None:
    given = block(robot)
    free = computed(given, Limits())
    count = free["actuator_force"].shape[-1]
    chosen = {k: Capacity(force=50.0 + k, velocity=3.0 + k, power=20.0 + k) for k in range(count - 1)}
    made = computed(given, Limits({}, chosen))["actuator_margin"][0, 0, 0]
    for k, each in chosen.items():
        used = [
            np.abs(free["actuator_force"][0, 0, 0, :, k]) / each.force,
            np.abs(free["actuator_velocity"][0, 0, :, k]) / each.velocity,
            np.abs(free["actuator_power"][0, 0, 0, :, k]) / each.power,
        ]
        np.testing.assert_allclose(made[k], 1.0 - np.max(used), rtol=1e-12)
    assert made[-1] == 1.0  # has no limit


def test_one_sample_in_words() -> None:
    assert margins.within(0.0, -1.0, 1.0) == 1.0
    assert margins.within(1.0, -1.0, 1.0) == 0.0
    assert margins.within(4.0, -1.0, 3.0) == -0.5
    assert (margins.left(-3.0, 4.0), margins.left(3.0, np.inf)) == (0.25, 1.0)
    assert margins.least([2.0, -1.0, 3.0]) == -1.0


def test_joints_and_actuators_by_name() -> None:
    mechanism = catalog.family("delta_3rr2rrr").reference
    known = joints(mechanism)
    driven = select_joints(mechanism, "actuated")
    assert [each.driven for each in driven] == [True] * 3
    assert len(select_joints(mechanism, "all")) == len(known) == len(driven) + len(select_joints(mechanism, "passive"))
    name = next(iter(known))
    assert select_joints(mechanism, name) == (known[name],)
    assert len(select_joints(mechanism, name.split(".")[1])) == 3
    assert select_actuators(mechanism, "all") == (0, 1, 2)
    with pytest.raises(ParameterError, match=r"no joint of one variable is called 'knee'; known: actuated, passive"):
        select_joints(mechanism, "knee")
    with pytest.raises(ParameterError, match=r"no actuator is called 'motor 4'; known: all"):
        select_actuators(mechanism, "motor 4")


def test_drives_are_no_joints() -> None:
    mechanism = catalog.family("irb6").reference
    drives = {drive.name for limb in mechanism.limbs for drive in limb.drives}
    assert drives
    assert not drives & set(joints(mechanism))
    assert set(mechanism.limbs[0].actuated) >= {name for name, each in joints(mechanism).items() if each.driven}
