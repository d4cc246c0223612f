"""Measured time of sweeps: what is small is in proportion to the whole, by a clock that is known."""

from __future__ import annotations

import pytest

from pipeline.execution import measured_time as module
from pipeline.execution.measured_time import MeasuredTime, measured_time
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep

SWEPT = """
limbsweep: 1
robot: five_bar
design: {sample: {method: sobol, count: 5000, seed: 1, parameters: {payload_mass: {low: 0, high: 1}}}}
trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0], period: 1}}
time: {stop: 1, step: 0.1}
metrics: [peak_force]
"""
SIMULATED = """
limbsweep: 1
robot: five_bar
design: {grid: {payload_mass: {start: 0, stop: 1, num: 40}}}
trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0], period: 1}}
time: {stop: 1, step: 0.01}
simulation: {method: rk4, step: 1.0e-3, controller: {kind: pd_gravity, parameters: {kp: 200.0, kd: 20.0}}}
metrics: [peak_force]
"""


def test_designs_are_in_proportion(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def seconds(sweep: Sweep, granularity: str) -> float:
        calls.append(sweep.design.size)
        return (3.0 if len(calls) == 1 else 0.0) + 0.1 + 2e-3 * sweep.design.size

    monkeypatch.setattr(module, "_run_seconds", seconds)
    measured = measured_time(Sweep.from_text(SWEPT))
    assert calls[:4] == [1, 1, 4, 16]  # the first compiles
    assert measured.seconds == pytest.approx(0.1 + 2e-3 * 5000, rel=0.01)
    assert measured.first == pytest.approx(3.0)
    assert "measured with a few cases" in measured.text
    of_blocks = module.COORDINATOR + measured.blocks * module.OF_BLOCK
    moved = 0.5 * measured.handed * module.OF_BYTE  # a worker has half of what it needs
    assert measured.handed > 5000 * 3 * 8  # more than a number for each design and limb
    assert measured.on(2) == pytest.approx(measured.seconds + 6.0 + of_blocks + moved)
    assert measured.on(1) == pytest.approx(measured.seconds + 3.0 + of_blocks)


def test_what_early_calls_need_beside_their_designs_is_once_in_each_process(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = set()

    def seconds(sweep: Sweep, granularity: str) -> float:
        once = 0.5 if sweep.design.size in (1, 16) and sweep.design.size not in begun else 0.0  # bytecode, then code
        begun.add(sweep.design.size)
        return once + 0.1 + 1e-3 * sweep.design.size

    monkeypatch.setattr(module, "_run_seconds", seconds)
    measured = measured_time(Sweep.from_text(SWEPT))
    assert measured.seconds == pytest.approx(0.1 + 1e-3 * 5000, rel=0.01)
    assert measured.first == pytest.approx(1.0)


def test_noise_of_near_calls_is_no_slope_and_opening_is_not_once_in_each_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def seconds(sweep: Sweep, granularity: str) -> float:
        return 0.05 + 1e-3 * sweep.design.size - (0.01 if sweep.design.size == 256 else 0.0)

    monkeypatch.setattr(module, "_run_seconds", seconds)
    measured = measured_time(Sweep.from_text(SWEPT.replace("5000", "300")))  # calls of 256 and 300 designs come last
    assert measured.seconds == pytest.approx(0.35, rel=0.01)
    assert measured.first == pytest.approx(0.0, abs=1e-9)


def test_the_last_blocks_leave_cores_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "cores", lambda: 2)
    assert "60 seconds on 2 cores" in MeasuredTime(90.0, 0.0, 3).text
    assert "63 seconds on 2 cores" in MeasuredTime(90.0, 0.0, 3, begins=True).text


def test_friction_sets_share_the_dynamics(monkeypatch: pytest.MonkeyPatch) -> None:
    friction = "friction: {law: viscous, joints: actuated, grid: {viscous: {start: 0, stop: 1, num: 1000}}}\n"

    def seconds(sweep: Sweep, granularity: str) -> float:
        return 0.05 + sweep.design.size * (2e-3 + 1e-5 * sweep.friction.axis.size)

    monkeypatch.setattr(module, "_run_seconds", seconds)
    measured = measured_time(Sweep.from_text(SWEPT + friction))
    assert measured.seconds == pytest.approx(0.05 + 5000 * (2e-3 + 1e-5 * 1000), rel=0.01)


def test_steps_and_cases_of_simulations_are_in_proportion(monkeypatch: pytest.MonkeyPatch) -> None:
    def seconds(sweep: Sweep) -> float:
        steps = (sweep.grid.samples - 1) * sweep.simulation.simulation.every
        return steps * (1e-4 + 3e-4 * plan(sweep).cases)

    monkeypatch.setattr(module, "_seconds", seconds)
    sweep = Sweep.from_text(SIMULATED)
    expected = 1000 * (1e-4 * plan(sweep).blocks + 3e-4 * 40)
    assert measured_time(sweep).seconds == pytest.approx(expected + module.OPENING, rel=0.02)


def test_a_real_clock_tells_a_time() -> None:
    assert 0.0 < measured_time(Sweep.from_text(SWEPT.replace("5000", "8"))).seconds < 60.0
