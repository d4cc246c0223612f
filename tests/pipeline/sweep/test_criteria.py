"""The section `criteria`: metrics of sweeps against functions on arrays, their derivatives, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from limbsweep import robots
from pipeline import run
from pipeline.errors import InputError
from pipeline.sweep.model import Sweep
from robots.criteria.elasticity import Beam, Elasticity
from robots.criteria.parts import NO_CRITERIA, Capsules, Clearances, Errors, JointClearance
from tasks.dynamics.clearance_error import clearance_error
from tasks.dynamics.criteria import cartesian_stiffness, clearance, deflection, natural_frequencies, pose_error
from tests.pipeline.runs import SYNCHRONOUS

HEAD = """\
limbsweep: 1
robot: ROBOT
trajectories: {line: {kind: line_sine, amplitude: [0.05, 0, 0.04]}}
time: {stop: 1.0, samples: 5}
outputs: [platform_position]
"""
CRITERIA = """\
metrics:
  [least_stiffness, largest_stiffness, least_turning_stiffness, deflection, lowest_frequency, clearance,
   position_deviation, turn_deviation, thermal_shift, clearance_shift, clearance_turn]
criteria:
  accuracy:
    resolution: {all: 1.0e-4}
    backlash: {all: 2.0e-4}
    lengths: {all: 1.0e-5}
    joints: {'1': {turns: [1.0e-5, 0, 0], shifts: [0, 0, 1.0e-5]}}
    expansion: {all: 1.0e-5}
    warming: 10
  stiffness:
    actuators: {all: 2.0e+4}
    links:
      all: {tube: [0.03, 0.02], young: 70.0e+9}
    load: [0, 0, 1, 2, 0, -100]
  capsules:
    links: {all: 0.01}
  clearances:
    joints: {all: {radial: 1.0e-5}}
    backlash: {all: 3.0e-4}
"""


def sweep(text: str, robot: str = "delta_3rr2rrr") -> Sweep:
    return Sweep.from_text(HEAD.replace("ROBOT", robot) + text)


def refused(text: str, robot: str = "delta_3rr2rrr") -> str:
    with pytest.raises(InputError) as caught:
        sweep(text, robot)
    return str(caught.value)


@pytest.mark.parametrize("name", [pytest.param("delta_3rr2rrr", marks=pytest.mark.slow), "gough_stewart", "five_bar"])
def test_metrics_are_those_of_functions_on_arrays(name: str, tmp_path: Any) -> None:
    text = CRITERIA.replace("[0, 0, 1, 2, 0, -100]", "[1, 0, 1, 2, 0, -100]")
    results = run(sweep(text, name), tmp_path / "out.zarr", cluster=SYNCHRONOUS).load().squeeze()
    robot = robots.build(name)
    tube = Beam.tube(0.03, 70e9, inner=0.02)
    elasticity = Elasticity.of(robot.mechanism, actuators={"all": 2e4}, links={"all": tube})
    position = results["platform_position"].transpose("time", "axis").values
    stiffness = cartesian_stiffness(robot, elasticity, position=position)
    turning = [k for k in range(3) if ("wx", "wy", "wz")[k] in stiffness.directions]
    turns = np.linalg.eigvalsh(stiffness.compliance[:, np.array(turning)[:, None], turning])
    moved = np.linalg.norm(deflection(stiffness, [1, 0, 1, 2, 0, -100])[:, 3:], axis=-1)
    gaps = clearance(robot, Capsules.of(robot.mechanism, {"all": 0.01}), position=position)
    errors = Errors.of(
        robot.mechanism,
        resolution={"all": 1e-4},
        backlash={"all": 2e-4},
        lengths={"all": 1e-5},
        joints={"1": (1e-5, 0, 0, 0, 0, 1e-5)},
        expansion={"all": 1e-5},
        warming=10.0,
    )
    inexact = pose_error(robot, errors, elasticity, position=position)
    play = JointClearance(radial=1e-5)
    loose = clearance_error(
        robot, Clearances.of(robot.mechanism, {"all": play}, {"all": 3e-4}), elasticity, position=position
    )
    expected = {
        "clearance_shift": loose.worst[:, 3:].max(),
        "clearance_turn": loose.worst[:, :3].max(),
        "position_deviation": inexact.position.max(),
        "turn_deviation": np.sqrt(np.linalg.eigvalsh(inexact.covariance[:, :3, :3])[:, -1].max()),
        "thermal_shift": np.linalg.norm(inexact.shift[:, 3:], axis=-1).max(),
        "least_stiffness": stiffness.least.min(),
        "largest_stiffness": stiffness.largest.max(),
        "least_turning_stiffness": 1.0 / turns.max(),
        "deflection": moved.max(),
        "lowest_frequency": natural_frequencies(robot, elasticity, position=position).frequencies.min(),
        "clearance": gaps.least.min(),
    }
    for metric, value in expected.items():
        accuracy = 1e-8 if metric.startswith("clearance_") else 1e-9  # roots of eigenvalues on arrays
        np.testing.assert_allclose(results[metric].item(), value, rtol=accuracy, err_msg=metric)


def test_derivatives_are_those_of_differences() -> None:
    from pipeline.execution.blocks import block_of
    from pipeline.plan.plan import plan
    from tasks.blocks.gradients import metric_rates

    def block(length: float) -> Any:
        made = sweep(CRITERIA + f"design: {{grid: {{proximal_length: [{length!r}]}}}}\n", "five_bar")
        return replace(block_of(plan(made), 0), quantities=made.quantities)

    step, here = 1e-5, block(0.5)
    names = [p.name for p in here.family.parameters]
    direction = np.array([[1.0 if name == "proximal_length" else 0.0 for name in names]])
    rates, above, below = (metric_rates(block(0.5 + h), direction) for h in (0.0, step, -step))
    for name in here.metrics:
        difference = (above[name].values - below[name].values) / (2 * step)
        np.testing.assert_allclose(rates[name].rates[0], difference, rtol=1e-4, atol=1e-10, err_msg=name)


def test_without_the_section_nothing_is_known() -> None:
    made = sweep("metrics: [condition]\n")
    assert made.criteria == NO_CRITERIA
    assert "criteria" not in made.canonical
    assert "criteria" in sweep(CRITERIA).canonical
    assert sweep(CRITERIA).fingerprint != sweep(CRITERIA.replace("0.01", "0.02")).fingerprint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("metrics: [least_stiffness]\n", "Add criteria.stiffness: the elastic parts."),
        ("metrics: [clearance]\n", "Add criteria.capsules: how thick links are."),
        ("metrics: [deflection]\ncriteria: {stiffness: {actuators: {all: 1}}}\n", "Add criteria.stiffness.load."),
        (
            "metrics: [least_turning_stiffness]\ncriteria: {stiffness: {actuators: {all: 1}}}\n",
            "with actuators alone all else is rigid",
        ),
        ("criteria: {stiffness: {}}\n", "nothing that gives way"),
        ("criteria: {stiffness: {actuators: {motor: 1}}}\n", "No actuator is called 'motor'"),
        ("criteria: {stiffness: {actuators: {all: 0}}}\n", "expected a number above 0"),
        ("criteria: {stiffness: {links: {spoke: {tube: [0.1], young: 1}}}}\n", "No link is called 'spoke'"),
        ("criteria: {stiffness: {links: {'*': {tube: [[]], young: 1}}}}\n", ".tube[0]: got []"),
        (
            "criteria: {stiffness: {links: {'*': {tube: [0.04, 0.05], young: 1}}}}\n",
            "got inner: 0.05; expected zero or more, below outer, 0.04",
        ),
        ("criteria: {stiffness: {links: {all: {young: 1}}}}\n", "one of tube, box, bending, matrix"),
        ("criteria: {stiffness: {links: {all: {tube: [0.1]}}}}\n", "tube without young"),
        ("criteria: {stiffness: {links: {all: {tube: [0.1], young: 1, axial: 1}}}}\n", "axial beside tube"),
        ("criteria: {stiffness: {links: {all: {tube: [0.1, 0.2], young: 1}}}}\n", "expected zero or more, below outer"),
        ("criteria: {stiffness: {links: {all: {tube: [0.1, -0.02], young: 1}}}}\n", "got -0.02; expected a number of"),
        ("criteria: {stiffness: {joints: {'6': {}}}}\n", "neither moments nor forces"),
        ("criteria: {stiffness: {joints: {'6': {moments: [1, 1, 1]}}}}\n", "rigid under a part of its load"),
        ("metrics: [position_deviation]\n", "Add criteria.accuracy: errors of parts."),
        ("criteria: {accuracy: {}}\n", "no errors"),
        ("metrics: [clearance_shift]\n", "Add criteria.clearances: the loose parts."),
        ("criteria: {clearances: {}}\n", "nothing that is loose"),
        ("criteria: {clearances: {joints: {spoke: {radial: 1.0e-5}}}}\n", "No joint is called 'spoke'"),
        ("criteria: {clearances: {joints: {'6': {radial: -1.0e-5}}}}\n", "expected a number of at least 0"),
        (
            "criteria: {clearances: {backlash: {all: 1.0e-4}}}\n",
            "clearances of an overconstrained robot whose links are rigid",
        ),
        (
            "criteria: {accuracy: {lengths: {arm: 1.0e-5}}}\n",
            "an overconstrained robot whose links are rigid",
        ),
        ("criteria: {accuracy: {lengths: {spoke: 1.0e-5}}}\n", "No link is called 'spoke'"),
        ("criteria: {accuracy: {joints: {'6': {}}}}\n", "neither turns nor shifts"),
        ("criteria: {accuracy: {expansion: {arm: 1.0e-5}}}\n", "expansion or warming alone"),
        ("criteria: {capsules: {links: {spoke: 0.1}}}\n", "No link is called 'spoke'"),
        ("criteria: {capsules: {links: {limb1.arm: 0.1}}}\n", "no two capsules to compare"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    assert message in refused(text)


def test_a_chain_has_no_criteria() -> None:
    text = HEAD.replace("ROBOT", "irb6").replace("{kind: line_sine, amplitude: [0.05, 0, 0.04]}", "{kind: rest}")
    with pytest.raises(InputError, match="criteria of a chain"):
        Sweep.from_text(text + "criteria: {stiffness: {actuators: {all: 1}}}\n")
