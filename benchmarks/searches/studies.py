"""Five studies that differ in objectives, conditions, cases and variables."""

from __future__ import annotations

from pathlib import Path

from benchmarks.populations import SWEEP
from pipeline.sweep.doors import read_sweeps
from pipeline.sweep.model import Sweep

FIVE_BAR = """\
limbsweep: 1
title: Four lengths of a five-bar, torque beside speed beside dexterity
robot: five_bar
design:
  sample:
    method: sobol
    count: 1
    seed: 1
    parameters:
      proximal_length: {low: 0.35, high: 0.65}
      distal_length: {low: 0.35, high: 0.65}
      base_half_width: {low: 0.05, high: 0.25}
      home_height: {low: 0.4, high: 0.8}
trajectories:
  line: {kind: line_sine, amplitude: [0.12, 0, 0.04], period: 1.0}
  circle: {kind: circle, radius: 0.05, normal: [0, 1, 0], period: 0.8}
time: {stop: 1, step: 0.02}
metrics: [peak_force, peak_velocity, condition]
study:
  objectives: [min peak_force, min peak_velocity]
  where: [condition < 4]
"""

HEXAPOD = """\
limbsweep: 1
title: Stiffness of a hexapod against its forces and its size
robot: gough_stewart
design:
  grid: {payload_mass: [0, 1000]}
  sample:
    method: sobol
    count: 1
    seed: 1
    parameters:
      base_radius: {low: 1.5, high: 3.5}
      platform_radius: {low: 0.6, high: 1.8}
      home_height: {low: 1.5, high: 3.0}
      base_half_angle: {low: 1, high: 30}
      platform_half_angle: {low: 1, high: 30}
      tube_radius: {low: 0.04, high: 0.08}
trajectories:
  circle: {kind: circle, radius: 0.3, period: 2.0}
  lift: {kind: line_sine, amplitude: [0, 0, 0.3], period: 2.0}
time: {stop: 2, step: 0.05}
criteria: {stiffness: {actuators: {all: 5.0e+7}}}
metrics: [peak_force, least_stiffness, condition, energy]
study:
  objectives: [min peak_force, max least_stiffness, min base_radius + home_height]
  where: [condition < 10]
  cases: payload_mass
"""

ROBUST = """\
limbsweep: 1
title: A five-bar that stays good within its tolerances
robot: five_bar
design:
  grid: {payload_mass: [0, 1]}
  sample:
    method: sobol
    count: 1
    seed: 1
    parameters:
      proximal_length: {low: 0.4, high: 0.65}
      distal_length: {low: 0.4, high: 0.65}
      base_half_width: {low: 0.05, high: 0.25}
tolerances:
  parameters: {proximal_length: {deviation: 1.0e-3}, distal_length: {limit: 2.0e-3}}
  count: 8
  seed: 3
trajectories: {c: {kind: circle, radius: 0.1, normal: [0, 1, 0]}}
time: {stop: 1, step: 0.05}
metrics: [peak_force, condition]
study:
  objectives:
    - min peak_force, worst over cases, quantile 0.9 over tolerances
    - min condition, worst over cases, deviation over tolerances
  where: [condition < 6]
  cases: payload_mass
"""

FAMILIES = """\
limbsweep: 1
title: Which robot, and of what size, carries 0 and 2 kg along a stroke?
robots:
  linear_delta:
    design:
      grid: {payload_mass: [0, 2]}
      sample:
        {method: sobol, count: 1, seed: 1,
         parameters: {rod_length: {low: 0.4, high: 0.7}, base_radius: {low: 0.25, high: 0.4}}}
      where: [rod_length > 1.5 * base_radius]
  orthoglide:
    design:
      grid: {payload_mass: [0, 2]}
      sample: {method: sobol, count: 1, seed: 1, parameters: {rod_length: {low: 0.2, high: 0.4}}}
  delta_rl5_1450:
    design:
      grid: {payload_mass: [0, 2], gear_ratio: [30, 40, 55, 70]}
      sample:
        {method: sobol, count: 1, seed: 1,
         parameters: {upper_arm: {low: 0.3, high: 0.45}, rod_length: {low: 0.8, high: 1.2}}}
trajectories:
  pick: {kind: quintic, start: [-0.06, 0, 0], end: [0.06, 0, 0.05], duration: 0.3}
time: {stop: 0.3, step: 0.02}
metrics: [energy, peak_power, condition]
study:
  objectives: [min energy_sum, min condition]
  where: [condition < 5]
  cases: payload_mass
"""

COARSE = "rough"
"""Subset of each study that is its coarse model."""

TEXTS = {
    name: f"{text}subsets: {{{COARSE}: {{every: 5, precision: single}}}}\n"
    for name, text in {
        "pick and place": SWEEP, "five-bar": FIVE_BAR, "hexapod": HEXAPOD, "robust": ROBUST, "families": FAMILIES
    }.items()
}  # fmt: skip
"""Sweep files by the names of the studies."""


def sweeps_of(study: str, folder: Path) -> list[Sweep]:
    """Return the sweeps of a study: one for each robot. folder: where a file of several robots is written."""
    if study != "families":
        return [Sweep.from_text(TEXTS[study], study, Path(__file__).parents[1])]
    file = folder / "families.yaml"
    file.write_text(TEXTS[study], encoding="utf-8")
    return list(read_sweeps(file))
