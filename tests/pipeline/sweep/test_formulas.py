"""Numbers of limits and criteria that are expressions of parameters."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import limbsweep as ls
from pipeline.errors import InputError
from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.plan.plan import plan
from robots.expressions.expression import parse
from robots.formulas import Formula, as_row, checked, evaluated, ordered
from robots.requested import QuantityNames
from tasks.blocks.gradients import metric_rates

EVERY = """
limbsweep: 1
robot: delta_3rr2rrr
variables:
  d: {default: 0.03, unit: m, lower: 0.001, upper: 0.2}
  e: {default: 70.0e+9, lower: 1}
  k: {default: 2.0e+4}
  f: {default: 3.0, unit: N m}
design:
  list: {d: [0.03, 0.05, 0.04], k: [2.0e+4, 3.0e+4, 1.0e+4], f: [3.0, 5.0, 8.0], upper_arm: [0.25, 0.26, 0.27]}
trajectories: {c: {kind: circle, radius: 0.1}}
time: {stop: 1, samples: 3}
metrics: [peak_force]
limits:
  joints: {actuated: {position: [-30*k, 40*k], unit: mrad, velocity: 1e-4*k}}
  actuators: {all: {force: 2*f, velocity: f, power: f*k, acceleration: 7*f, jerk: 9*f}}
criteria:
  stiffness:
    actuators: {all: k}
    links:
      arm: {tube: [d, 0.9*d], young: 1*e, poisson: 0.33, shear: 0.5}
      'rod_*': {box: [0.5*d, 0.02], wall: 0.05*d, young: e, across: [1, 0, 0]}
      elbow: {box: [d, 0.04], young: e, across: [1, 0, 0]}
      wrist: {bending: [1e3*f, 1e3*f], axial: 1e7*d, torsion: 1e3*f}
    joints: {'1': {moments: [k, k, k], forces: [1e6*f, 1e6*f, 1e6*f]}}
    load: [0, 0, 0, 0, 0, -10*f]
  accuracy:
    resolution: {all: 1e-3*d}
    backlash: {all: 2e-3*d}
    lengths: {arm: 3e-3*d}
    links: {arm: {turns: [1e-3*d, 0, 0]}}
    joints: {'1': {shifts: [1e-3*d, 0, 2e-3*d]}}
    expansion: {arm: 1e-9*k}
    warming: 3*f
  clearances:
    joints: {all: {radial: 1e-3*d, axial: 2e-3*d, tilt: 1e-3*d}}
    backlash: {all: 3e-3*d}
  capsules:
    links: {arm: d/2, 'rod_*': d/4}
    platform: [{start: [0, 0, d], end: [0, 0.1*f, 0], radius: 2*d}]
"""
NUMBER = re.compile(r"(?<![\w'_])-?[0-9.e+-]*\*?\b[dkfe]\b(?:[*/]\w+)?(?=[\],} \n])")
SECTIONS = ("capacity", "capsules", "test_load", "elasticity", "errors", "clearances", "limits")
FIVE_BAR = """
limbsweep: 1
robot: five_bar
variables: {f: {default: 30.0, unit: N m}}
design: {list: {f: [20.0, 40.0], payload_mass: [0, 1]}}
trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}
time: {stop: 1, samples: 11}
metrics: [peak_force, actuator_margin]
limits: {actuators: {all: {force: 2 * f - 10}}}
"""


def rows(sweep: ls.Sweep) -> dict[object, np.ndarray]:
    return dict(block_of(plan(sweep), 0).case_values())


def test_every_number_of_limits_and_criteria_may_be_an_expression() -> None:
    sweep = ls.Sweep.from_text(EVERY)
    found, before = rows(sweep), EVERY.index("limits:")
    names = [parameter.name for parameter in sweep.family.parameters]
    changed = set()
    for i, values in enumerate(found["parameters"]):
        design = dict(zip(names, values, strict=True))

        def number(match: re.Match[str], values: dict[str, float] = design) -> str:
            return repr(float(eval(match[0], {}, values)))

        alone = rows(ls.Sweep.from_text(EVERY[:before] + NUMBER.sub(number, EVERY[before:])))
        assert alone.keys() == found.keys()
        for key, row in alone.items():
            mine = found[key][i if len(found[key]) > 1 else 0]
            np.testing.assert_allclose(mine, row[i if len(row) > 1 else 0], rtol=1e-14, err_msg=str(key))
            changed |= {str(key)} if len(found[key]) > 1 else set()
    assert all(any(name in key for key in changed) for name in SECTIONS), changed


def test_derivatives_follow_the_expression() -> None:
    block = block_of(plan(ls.Sweep.from_text(FIVE_BAR)), 0)
    assert work.whole(block)["actuator_margin"].shape == (2, 1, 1, 2)
    block = replace(block, quantities=QuantityNames((), ("peak_force", "actuator_margin")))
    row = np.zeros((1, block.designs.parameters.shape[1]))
    row[0, [parameter.name for parameter in block.family.parameters].index("f")] = 1.0
    rates = metric_rates(block, row)
    peaks, force = rates["peak_force"].values[..., 0], np.array([30.0, 70.0]).reshape(2, 1, 1, 1)
    np.testing.assert_allclose(rates["actuator_margin"].values[..., 0], 1.0 - peaks / force, rtol=1e-14)
    np.testing.assert_allclose(rates["actuator_margin"].rates[0, ..., 0], 2.0 * peaks / force**2, rtol=1e-12)


def test_designs_without_a_number_fail_with_a_status() -> None:
    block = block_of(plan(ls.Sweep.from_text(FIVE_BAR)), 0)
    moved = block.designs.parameters.copy()
    moved[1, [parameter.name for parameter in block.family.parameters].index("f")] = 4.0  # 2 f - 10 is below zero
    found = work.whole(
        replace(
            block, designs=block.designs.moved(moved), quantities=QuantityNames((), ("actuator_margin", "worst_status"))
        )
    )
    assert (found["worst_status"].ravel() == 0).tolist() == [True, False]
    assert np.isnan(found["actuator_margin"][1]).all()


def test_a_deviation_of_a_variable_moves_the_limit() -> None:
    text = FIVE_BAR + "tolerances: {parameters: {f: {limit: 1.0}}, count: 4, seed: 1}\n"
    block = block_of(plan(ls.Sweep.from_text(text)), 0)
    names = [parameter.name for parameter in block.family.parameters]
    f, off = (block.designs.parameters[:, names.index(name)] for name in ("f", "f_deviation"))
    assert len({*off}) == 4
    np.testing.assert_allclose(block.case_values()["capacity"][:, 0], 2.0 * (f + off) - 10.0, rtol=1e-14)


def test_a_catalogue_limits_the_fastest_cycle(tmp_path: Path) -> None:
    (tmp_path / "motors.csv").write_text("motor,f\nA,25\nB,60\n")
    text = FIVE_BAR.replace("{list: {f: [20.0, 40.0], payload_mass: [0, 1]}}", "{file: motors.csv, labels: [motor]}")
    text = text.replace("[peak_force, actuator_margin]", "[cycle_time, speed_factor]").replace(
        "}}}\n", ", velocity: f}}}\n"
    )
    found = ls.compute(ls.Sweep.from_text(text, folder=tmp_path))
    for i, f in enumerate((25.0, 60.0)):
        numbers = text.replace("2 * f - 10", repr(2.0 * f - 10.0)).replace("velocity: f", f"velocity: {f}")
        alone = ls.compute(ls.Sweep.from_text(numbers, folder=tmp_path)).isel(design=i)
        for name in ("cycle_time", "speed_factor"):
            assert float(found[name].isel(design=i).squeeze()) == float(alone[name].squeeze())
    assert float(found["cycle_time"][1].squeeze()) < float(found["cycle_time"][0].squeeze())


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("2 * f - 10", "2 * g", "an unknown name 'g'; expected parameters of the robot"),
        ("2 * f - 10", "f - 30", "without such a number in design 0 .*; expected a number above zero for every design"),
        ("2 * f - 10", "30 N m", "limits.actuators.all.force: .*Write the number alone"),
        ("f: {default: 30.0, unit: N m}", "payload_mass: {default: 1}", "has a parameter 'payload_mass' already"),
        ("f: {default: 30.0, unit: N m}", "peak_force: {default: 1}", "that no output or metric has"),
        ("unit: N m", "unit: mm", "an SI unit"),
    ],
)
def test_wrong_expressions_are_refused(old: str, new: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        ls.Sweep.from_text(FIVE_BAR.replace(old, new))


def test_a_label_is_no_parameter(tmp_path: Path) -> None:
    (tmp_path / "motors.csv").write_text("motor,g,payload_mass\nA,25,0\nB,60,1\n")
    text = FIVE_BAR.replace("{list: {f: [20.0, 40.0], payload_mass: [0, 1]}}", "{file: motors.csv, labels: [motor, g]}")
    with pytest.raises(InputError, match=r"'g', a label of designs.*Declare it under variables"):
        ls.Sweep.from_text(text.replace("2 * f - 10", "g"), folder=tmp_path)


def test_a_tube_has_a_wall_in_every_design() -> None:
    with pytest.raises(InputError, match=r"tube: got a formula without .* in design 1 .*; expected a wall for every"):
        ls.Sweep.from_text(
            EVERY.replace("[d, 0.9*d]", "[d, 0.035]").replace("[0.03, 0.05, 0.04]", "[0.05, 0.03, 0.04]")
        )


def test_arithmetic_keeps_formulas() -> None:
    x: float = Formula.of(parse("x", "number"), {"x": 2.0})
    low, high = ordered(x, 3.0)
    row = as_row([1.0 - x, -x, x**3 / 4, 2 * x + 1, low, high, checked(x, x - 1.0), checked(1.0, x, zero=True)])
    at = np.array([0.0, 4.0])
    expected = [1 - at, -at, at**3 / 4, 2 * at + 1, np.minimum(at, 3), np.maximum(at, 3), [np.nan, 4.0], [1.0, 1.0]]
    np.testing.assert_array_equal(evaluated(row, {"x": at}), np.transpose(expected))
    assert pickle.loads(pickle.dumps(x * 2.0)) == x * 2.0 != x * 3.0
    assert hash(x * 2.0) == hash(x * 2.0)
    assert x != 2.0
    with pytest.raises(TypeError, match="whole one above zero"):
        x**0.5
