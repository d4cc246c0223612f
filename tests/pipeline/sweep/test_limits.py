"""The limits section: what it selects, what it does to a run, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pipeline import run
from pipeline.errors import InputError
from pipeline.sweep.limits import SET_BY
from pipeline.sweep.model import Sweep
from robots.limits import NO_LIMITS, Capacity, JointLimit
from robots.quantities import needing
from robots.status import Status
from tests.pipeline.runs import SYNCHRONOUS, content_hash

HEAD = """\
limbsweep: 1
robot: delta_3rr2rrr
trajectories: {turn: {kind: circle, radius: 0.15}}
time: {stop: 1.0, step: 0.05}
outputs: [actuator_force, joint_position]
"""
METRICS = "metrics: [limit_margin, actuator_margin, usable_share]\n"


def sweep(limits: str, head: str = HEAD) -> Sweep:
    return Sweep.from_text(head + limits)


def refused(limits: str, head: str = HEAD) -> str:
    with pytest.raises(InputError) as caught:
        sweep(limits, head)
    return str(caught.value)


def test_joints_and_actuators_are_selected() -> None:
    made = sweep(
        "limits:\n"
        "  joints:\n"
        "    actuated: {position: [-60, 80], unit: deg, velocity: 600}\n"
        "    limb1.2: {position: [-0.9, 0.9]}\n"
        "  actuators: {limb1.1: {force: 12}, 'limb[23].*': {power: 60.5, velocity: 2}}\n"
    ).limits
    assert set(made.joints) == {(0, 0), (1, 0), (2, 0), (0, 1)}
    assert made.joints[1, 0] == JointLimit(math.radians(-60), math.radians(80), math.radians(600))
    assert made.joints[0, 1] == JointLimit(-0.9, 0.9)
    assert made.actuators == {0: Capacity(12.0), 1: Capacity(velocity=2.0, power=60.5), 2: Capacity(math.inf, 2, 60.5)}


def test_limits_are_content_and_their_spelling_is_not() -> None:
    plain = sweep("")
    assert plain.limits == NO_LIMITS
    assert "limits" not in plain.canonical
    one = sweep("limits: {joints: {actuated: {position: [-90, 90], unit: deg}}}\n")
    same = sweep(f"limits: {{joints: {{'*.1': {{position: [{-math.pi / 2!r}, {math.pi / 2!r}]}}}}}}\n")
    other = sweep("limits: {joints: {actuated: {position: [-90, 91], unit: deg}}}\n")
    assert one.fingerprint == same.fingerprint
    assert len({plain.fingerprint, one.fingerprint, other.fingerprint}) == 3
    assert one.difference(other) == (
        f"limits.joints.0, 0.high: {math.pi / 2!r} here, {math.radians(91)!r} there",
        f"limits.joints.1, 0.high: {math.pi / 2!r} here, {math.radians(91)!r} there",
        f"limits.joints.2, 0.high: {math.pi / 2!r} here, {math.radians(91)!r} there",
    )


def test_a_run_knows_its_limits() -> None:
    free = run(sweep(""), cluster=SYNCHRONOUS)
    q = free["joint_position"].values[0, 0, :, :, 0]
    high = 0.5 * float(q[:, 0].max() + q[:, 0].min())
    section = f"limits: {{joints: {{limb1.1: {{position: [-3, {high!r}]}}}}, actuators: {{all: {{force: 20}}}}}}\n"
    made = run(sweep(section + METRICS), cluster=SYNCHRONOUS)
    beyond = q[:, 0] > high
    assert 0 < beyond.sum() < len(beyond)
    np.testing.assert_array_equal(made["status"].values[0, 0], np.where(beyond, Status.JOINT_LIMIT, Status.OK))
    margin = np.minimum(q[:, 0] + 3.0, high - q[:, 0]).min() / (0.5 * (high + 3.0))
    assert float(made["limit_margin"][0, 0]) == pytest.approx(margin, rel=1e-12)
    assert margin < 0.0
    assert float(made["usable_share"][0, 0]) == pytest.approx(1.0 - beyond.mean())
    np.testing.assert_array_equal(
        made["actuator_force"].values[..., ~beyond, :], free["actuator_force"].values[..., ~beyond, :]
    )
    assert np.isnan(made["actuator_margin"].values).all()  # a case with a sample that is not OK


def test_limits_that_hold_change_no_bit_of_a_store() -> None:
    free = run(sweep(""), cluster=SYNCHRONOUS)
    made = run(sweep("limits: {joints: {all: {position: [-7, 7], velocity: 1000}}}\n"), cluster=SYNCHRONOUS)
    assert content_hash(free) == content_hash(made)


def test_margins_of_a_run_without_violations() -> None:
    made = run(sweep("limits: {actuators: {all: {force: 20}}}\n" + "metrics: [actuator_margin, peak_force]\n"),
               cluster=SYNCHRONOUS)  # fmt: skip
    np.testing.assert_allclose(made["actuator_margin"], 1.0 - made["peak_force"] / 20.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ("limits: {}\n", "limits: got no limits; expected joints, actuators, or both"),
        ("limits: {joints: {knee: {velocity: 1}}}\n", "got 'knee'; expected joints of the robot"),
        ("limits: {actuators: {limb9: {force: 1}}}\n", "got 'limb9'; expected actuators of the robot"),
        ("limits: {joints: {all: {}}}\n", "got neither position nor velocity; expected one of them, or both"),
        (
            "limits: {actuators: {all: {}}}\n",
            "got no limit; expected force, velocity, power, acceleration, jerk, or of a",
        ),
        ("limits: {actuators: {all: {voltage: 48}}}\n", "got 48.0; expected other limits of this robot"),
        ("limits: {joints: {all: {position: [1, -1]}}}\n", "got [1.0, -1.0]; expected [low, high] with low below high"),
        ("limits: {joints: {all: {position: [1, 2], unit: mm}}}\n", "got 'mm'; expected a unit of [rad]"),
        ("limits: {joints: {all: {velocity: 1}, limb1.2: {velocity: 2}}}\n", "expected joints that no other key"),
        ("limits: {actuators: {all: {force: 0}}}\n", "limits.actuators.all.force: got 0"),
        ("limits: {joints: {all: {force: 1}}}\n", "limits.joints.all.force: got an unknown key"),
        ("metrics: [limit_margin]\n", "got 'limit_margin'; expected a metric of limits that the file sets (joints"),
        (
            "limits: {joints: {all: {velocity: 2}}}\nmetrics: [actuator_margin, velocity_margin]\n",
            "got 'actuator_margin'; expected a metric of limits that the file sets (actuators: force or velocity or",
        ),
    ],
)
def test_what_cannot_be_limited_is_refused(limits: str, text: str) -> None:
    found = refused(limits)
    assert text in found
    assert len(found.splitlines()) == 1


def test_joints_that_turn_and_slide_have_no_common_unit() -> None:
    head = HEAD.replace("delta_3rr2rrr", "hexapod_ball_screws").replace("radius: 0.15", "radius: 0.01")
    found = refused("limits: {joints: {all: {position: [1, 2], unit: deg}}}\n", head)
    assert "got 'deg'; expected no unit, as some of these joints turn and others slide" in found


def test_each_of_several_robots_may_have_limits_of_its_own() -> None:
    head = HEAD.replace("robot: delta_3rr2rrr", "robots: {delta_3rr2rrr: {limits: OWN}, five_bar: {}}\nrobot: ROBOT")
    head = head.replace("OWN", "{actuators: {all: {force: 2}}}").replace("circle, radius: 0.15", "quintic")
    common = "limits: {joints: {all: {velocity: 9}}}\n"
    delta, bar = (sweep(common, head.replace("ROBOT", name)).limits for name in ("delta_3rr2rrr", "five_bar"))
    assert (len(delta.joints), delta.actuators[0].force) == (0, 2.0)
    assert (len(bar.joints), dict(bar.actuators)) == (6, {})
    wrong = head.replace("ROBOT", "delta_3rr2rrr").replace("all: {force", "motor: {force")
    assert "robots.delta_3rr2rrr.limits.actuators.motor: got 'motor'; expected actuators of the robot" in refused(
        "", wrong
    )
    asked = refused("metrics: [limit_margin]\n", head.replace("ROBOT", "delta_3rr2rrr"))
    assert "expected a metric of limits that the file sets" in asked


def test_what_sets_limits_serves_some_metric() -> None:
    assert [name for need in SET_BY for name in needing(need)] == [
        *("limit_margin", "velocity_margin", "actuator_margin"),
        *("cycle_time", "speed_factor", "thermal_margin"),
    ]
