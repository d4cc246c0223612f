"""The benchmark of all robots sees wrong results, and its states are those at which the robots are tested."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import regions, robots
from benchmarks.figures import QUICK, CheckError
from benchmarks.robots import Job
from robots import catalog
from robots.model import Robot
from tasks import inverse_dynamics, joint_reactions
from tasks.dynamics.inputs import moving_input
from tests.catalogue import CLOSED_CHAINS, CORE, GEARED, PARALLEL, WITH_DRIVES
from tests.tasks import test_robots as tested

STATES = 16


def job(robot: Robot, *, statics: bool = True) -> Job:
    """A job of a few states that is done."""
    made = Job(robot, moving_input(robot, regions.states(robot, STATES))[1], statics=statics)
    made()
    return made


@pytest.mark.parametrize("name", PARALLEL)
def test_the_states_are_those_of_the_tests(name: str) -> None:
    robot = catalog.build(name)
    expected = tested.states(robot, 5)._asdict()
    for key, values in regions.states(robot, 5).items():
        np.testing.assert_array_equal(values, expected[key])


@pytest.mark.parametrize("name", ["delta_4rr2rrr", "irsbot2", "hexapod_6rrrprr", "three_loop_leg"])
def test_a_job_gives_what_the_functions_of_tasks_give(name: str) -> None:
    robot = catalog.build(name)
    states, done = regions.states(robot, STATES), job(robot)
    # with reactions, products that a sum would take in have other uses: fused elsewhere, rounded elsewhere
    force = inverse_dynamics(robot, **states).force
    np.testing.assert_allclose(done.values["force"][0].T, force, rtol=0, atol=1e-13 * np.abs(force).max())
    expected = joint_reactions(robot, **states).wrench
    for k, wrenches in enumerate(done.reactions):
        np.testing.assert_array_equal(wrenches[0].T.reshape(expected[:, k].shape), expected[:, k])


@pytest.mark.parametrize("name", CORE)
def test_a_robot_of_the_core_has_its_figures(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots, "QUICK", (name,))
    figures = {each.name: each for each in robots.speed(QUICK)}
    for suffix in ("", ", with all reactions"):
        if suffix and name in WITH_DRIVES:
            assert f"{name}{suffix}" not in figures
            continue
        assert {f"{name}{suffix}{rest}" for rest in ("", ", operations", ", of the peak", ", compile")} <= set(figures)
        assert 100 < figures[f"{name}{suffix}, operations"].value < 100_000
        loops = name in (*PARALLEL, *CLOSED_CHAINS, *GEARED)
        assert (f"{name}, steps, mean" in figures) == loops
        if loops:
            most = 80 if name in CLOSED_CHAINS else 20
            assert 2 <= figures[f"{name}, steps, mean"].value <= figures[f"{name}, steps, most"].value <= most
    assert (f"{robots.HEXAPOD}, with all reactions, of the target" in figures) == (name == robots.HEXAPOD)


@pytest.mark.parametrize("what", ["status", "force", "reaction"])
def test_wrong_results_are_seen(what: str) -> None:
    robot = catalog.build("five_bar")
    done, states = job(robot), regions.states(robot, STATES)
    robots.check(done, states)
    if what == "status":
        done.values["status"][0, 0, -1] = 3.0
        expected = "five_bar: 1 states of 16 are not solved"
    elif what == "force":
        done.values["force"][0, 1, 2] *= 1.0 + 1e-6
        expected = r"five_bar: forces differ from the Newton-Euler system by .*; expected below 1e-09"
    else:
        done.reactions[1][0, 0, 3] = np.nan
        expected = r"five_bar: reactions of limb 2 differ from the Newton-Euler system by nan"
    with pytest.raises(CheckError, match=expected):
        robots.check(done, states)


def test_operations_count_the_loops_as_often_as_they_run() -> None:
    done = job(catalog.build("five_bar"), statics=False)
    once, twice = (sum(robots._operations(done, np.full((2, STATES), passes)).values()) for passes in (1.0, 2.0))
    body = len(done.programs[1].regions[1])
    assert twice - once == 2 * body
    slow = np.ones((2, STATES))
    slow[0, 3] = 3.0  # one lane of the first of two vectors
    assert sum(robots._operations(done, slow).values()) == once + body
