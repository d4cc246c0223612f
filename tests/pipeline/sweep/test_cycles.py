"""Metrics of how fast a path can be, against motions on arrays, motions at other speeds, and differences of places."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from applications.studies import DesignProblem, optimise
from pipeline import run
from pipeline.errors import InputError
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from robots import catalog
from robots.limits import Capacity
from tasks.dynamics.fastest import fastest_motion
from tasks.dynamics.paths.path import TimedMotion, legs
from tasks.sources.commanded import moving
from tests.pipeline.runs import SYNCHRONOUS
from tests.tasks.stages.test_redundancy import PLANAR

HEAD = """\
limbsweep: 1
robot: delta_3rr2rrr
metrics: [cycle_time, speed_factor, actuator_margin, velocity_margin]
"""
LIMITS = "limits: {actuators: {all: {force: 14.0, velocity: 9.0, power: 70.0}}, joints: {actuated: {velocity: 8.0}}}\n"
LINE = "trajectories: {line: {kind: quintic, start: [-0.1, 0, 0], end: [0.1, 0, 0.05], duration: 0.5}}\n"
TIME = "time: {stop: 0.5, samples: 41}\n"
FEW = "time: {stop: 0.5, samples: 11}\n"
LOOP = "trajectories: {loop: {kind: circle, radius: 0.1, period: PERIOD}}\n"


def metrics(text: str) -> dict[str, np.ndarray]:
    results = run(Sweep.from_text(HEAD + text), cluster=SYNCHRONOUS)
    return {str(name): np.asarray(x.values) for name, x in results.data_vars.items()}


def test_a_line_is_done_as_fast_as_through_its_ends() -> None:
    designs = "design: {list: {upper_arm: [0.24, 0.28], payload_mass: [0.0, 2.0]}}\n"
    text = designs + LIMITS.replace("8.0", "1.0e+3") + LINE + TIME
    got = metrics(text)["cycle_time"][:, 0]
    origin = np.array(plan(Sweep.from_text(HEAD + text)).origin)
    ends = origin + np.array([[-0.1, 0, 0], [0.1, 0, 0.05]])
    for k, (arm, payload) in enumerate([(0.24, 0.0), (0.28, 2.0)]):
        robot = catalog.build("delta_3rr2rrr", upper_arm=arm, payload_mass=payload)
        alone = fastest_motion(robot, position=ends, force=14.0, velocity=9.0, power=70.0, points=101)
        assert got[k] == pytest.approx(alone.duration, rel=1e-5)


def test_a_motion_at_its_factor_is_at_a_limit() -> None:
    def at(speed: float) -> dict[str, np.ndarray]:
        time = f"time: {{stop: {1.0 / speed!r}, samples: 41}}\n"
        return metrics(LIMITS + LOOP.replace("PERIOD", repr(1.0 / speed)) + time)

    once = at(1.0)
    factor = float(once["speed_factor"].squeeze())
    assert factor > 1.0
    there = at(factor)
    least = min(there["actuator_margin"].min(), there["velocity_margin"].min())
    assert abs(least) < 1e-9
    assert there["speed_factor"].squeeze() == pytest.approx(1.0, rel=1e-9)
    # only places count for the shortest time
    assert there["cycle_time"].squeeze() == pytest.approx(once["cycle_time"].squeeze(), rel=1e-9)
    assert once["cycle_time"].squeeze() < 1.0 / factor * 1.3


def test_limits_of_jerk_and_legs_between_rests() -> None:
    jerk = LIMITS.replace("power: 70.0", "power: 70.0, jerk: 3.0e+3")
    swing = "trajectories: {swing: {kind: line_sine, amplitude: [0.1, 0, 0], period: 1.0, phase: 1.5707963267948966}}\n"
    time = "time: {stop: 1.0, samples: 21}\n"
    slow, fast = (metrics(text + swing + time)["cycle_time"].item() for text in (jerk, LIMITS))
    half = metrics(jerk + swing + time.replace("1.0", "0.5"))["cycle_time"].item()
    assert fast < slow
    assert slow == pytest.approx(2.0 * half, rel=1e-3)  # there and back, at rest between


def test_samples_that_fail_have_no_time() -> None:
    far = LINE.replace("[0.1, 0, 0.05]", "[3.0, 0, 0]")
    got = metrics(LIMITS + far + TIME)
    assert math.isnan(got["cycle_time"].item())
    assert math.isnan(got["speed_factor"].item())
    weak = metrics(LIMITS.replace("force: 14.0", "force: 1.0e-3") + LINE + TIME)
    assert weak["cycle_time"].item() == math.inf
    assert weak["speed_factor"].item() == 0.0


def test_paths_of_a_platform_that_turns() -> None:
    text = """\
limbsweep: 1
robot: gough_stewart
trajectories:
  wave: {kind: circle, radius: 0.1, period: 1.0, turn: {kind: quintic, end: [0.1, 0.05, 0.2], duration: 0.7}}
time: {stop: 1.0, samples: 11}
metrics: [condition]
"""
    sweep = Sweep.from_text(text)
    origin, trajectory = plan(sweep).origin, sweep.trajectories[0]
    weights = np.array([0.5] * 3 + [1.0] * 3)
    motion = TimedMotion(lambda t: moving(sweep.family, trajectory, t, origin), weights, chain=False)
    (path,) = legs(motion, 0.0, 1.0, [0.7])
    s, step = np.linspace(0.05, 0.95, 13), 1e-4
    before, here, after = (path.at(s + shift) for shift in (-step, 0.0, step))
    speed = np.linalg.norm(here.first * weights, axis=1)
    np.testing.assert_allclose(speed, speed[0], rtol=1e-9)  # progress is the share of the length
    moved = (np.asarray(after.pose["position"]) - np.asarray(before.pose["position"])) / (2 * step)
    np.testing.assert_allclose(here.first[:, 3:], moved, atol=1e-6)
    spin = np.asarray(after.pose["rotation"]) - np.asarray(before.pose["rotation"])
    spin = spin @ np.swapaxes(np.asarray(here.pose["rotation"]), 1, 2) / (2 * step)
    np.testing.assert_allclose(here.first[:, :3], np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], 1), atol=1e-5)
    np.testing.assert_allclose(here.second, (after.first - before.first) / (2 * step), atol=2e-3)


def test_a_cycle_time_is_made_small_and_what_has_no_derivative_is_refused() -> None:
    designs = "design: {grid: {upper_arm: {values: [0.22, 0.30]}}}\n"
    problem = DesignProblem.of(Sweep.from_text(HEAD + designs + LIMITS.replace(", power: 70.0", "") + LINE + FEW))
    best, *_ = optimise(problem, "cycle_time", [[0.24]], ["peak_force <= 100"])
    arms = np.linspace(0.22, 0.30, 4)[:, None]
    assert best.value <= problem.values(arms, ["cycle_time"])["cycle_time"].min() * (1.0 + 1e-4)
    with pytest.raises(InputError, match="failed_samples, which has no derivatives"):
        optimise(problem, "failed_samples", [[0.28]])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LINE + TIME, "a metric of limits that the file sets"),
        (LIMITS.replace("force: 14.0, velocity: 9.0, power: 70.0", "jerk: 10.0") + LINE + TIME, "a metric of limits"),
        (
            LIMITS + "trajectories: {box: {kind: workspace, counts: [3, 3, 1]}}\ntime: {stop: 1.0, samples: 9}\n",
            "expected a metric for trajectories that are motions",
        ),
    ],
)
def test_what_is_refused(text: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        Sweep.from_text(HEAD + text)
    assert expected in str(caught.value)


def test_no_acceleration_or_jerk_is_no_limit() -> None:
    assert Capacity(1.0) == Capacity(1.0, acceleration=math.inf, jerk=math.inf)


def test_blocks_of_paths_are_small() -> None:
    designs = "design: {grid: {upper_arm: {start: 0.24, stop: 0.28, num: 1000}}}\n"
    both = plan(Sweep.from_text(HEAD + designs + LIMITS + LINE + TIME))
    alone = plan(Sweep.from_text(HEAD.replace("cycle_time, speed_factor, ", "") + designs + LIMITS + LINE + TIME))
    assert both.blocks > alone.blocks
    assert both.layout.block["design"] <= 64
    assert both.work.seconds > alone.work.seconds + 100.0


def test_a_redundant_arm_is_as_fast_as_its_posture_lets_it(tmp_path: Path) -> None:
    """Free joints follow the posture of each design on the way as well."""
    (tmp_path / "arm.yaml").write_text(PLANAR)

    def at(speed: float, elbows: str) -> dict[str, np.ndarray]:
        text = (
            f"limbsweep: 1\nrobot: ./arm.yaml\ndesign: {{list: {{swivel: [{elbows}]}}}}\n"
            "limits: {actuators: {all: {force: 200.0, velocity: 9.0}}}\n"
            f"trajectories: {{go: {{kind: quintic, start: 0.0, end: 0.1, duration: {0.5 / speed!r}}}}}\n"
            f"time: {{stop: {0.5 / speed!r}, samples: 11}}\nmetrics: [cycle_time, speed_factor, actuator_margin]\n"
        )
        results = run(Sweep.from_text(text, folder=tmp_path), cluster=SYNCHRONOUS)
        return {str(name): np.asarray(x.values) for name, x in results.data_vars.items()}

    once = at(1.0, "0.0, 0.6")
    assert not once["worst_status"].any()
    factor, shortest = once["speed_factor"][:, 0], once["cycle_time"][:, 0]
    assert (shortest < 0.5 / factor).all()
    assert abs(shortest[0] / shortest[1] - 1.0) > 1e-3
    there = at(float(factor[1]), "0.6")
    assert abs(there["actuator_margin"].min()) < 1e-9
    assert there["cycle_time"].item() == pytest.approx(shortest[1], rel=1e-9)
