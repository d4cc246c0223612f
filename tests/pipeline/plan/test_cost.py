from __future__ import annotations

import numpy as np
import pytest

from benchmarks import regions
from benchmarks.robots import Job, _operations, _passes
from pipeline.plan.cost import COUNTED, PER_JOINT, Work, duration
from pipeline.plan.plan import plan
from robots import catalog
from robots.model import Robot
from tasks.dynamics.inputs import moving_input
from tests.pipeline.runs import EVERYTHING, SMALL, sweep

WORK = Work("delta_3rr2rrr", 21, 3, 10**9, 1, 0, 10**4, reacts=False)


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "five_bar"])
def test_the_operations_of_the_table_are_those_of_the_programs(name: str) -> None:
    robot = Robot.of(catalog.family(name), {})
    _, motion = moving_input(robot, {"position": regions.states(robot, 64)["position"]})
    for statics, listed in ((False, COUNTED[name].dynamics), (True, COUNTED[name].reactions)):
        job = Job(robot, motion, statics=statics)
        job()
        counts = _operations(job, np.asarray(_passes(job)))
        assert sum(counts.values()) == pytest.approx(listed, rel=0.1)


def test_the_guess_from_joints_is_in_the_middle_of_what_is_counted() -> None:
    ratios = []
    for name, counted in COUNTED.items():
        mechanism = catalog.build(name).mechanism
        joints = sum(len(mechanism.limbs[each.limb].joints) for each in mechanism.instances)
        ratios.append(counted.dynamics / (joints * PER_JOINT.dynamics))
    assert min(ratios) < 1.0 < max(ratios)
    assert max(ratios) < 3.0
    assert min(ratios) > 0.25


def test_time_grows_with_everything_that_takes_time() -> None:
    more = [{"samples": 2 * 10**9}, {"friction_sets": 50}, {"stored": 10**12}, {"tasks": 10**6}, {"reacts": True}]
    for change in more:
        assert Work(**(WORK.__dict__ | change)).seconds > WORK.seconds


def test_a_robot_that_is_not_counted_is_told_as_a_guess() -> None:
    assert WORK.text == f"about {duration(WORK.seconds)} of one core, to be shared by all of them"
    assert Work(**(WORK.__dict__ | {"robot": "mine"})).text.endswith("guessed from the number of joints")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.1, "a second"), (3.21, "3.2 seconds"), (100.0, "1.7 minutes"), (7200.0, "2 hours"), (1e6, "12 days")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_plan_knows_what_its_time_depends_on() -> None:
    made = plan(sweep(EVERYTHING))
    assert made.work == Work("delta_3rr2rrr", 21, 3, made.samples, 3, made.stored, 5, reacts=False)
    assert plan(sweep(SMALL + "metrics: [peak_reaction]")).work.reacts
