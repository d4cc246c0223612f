"""Searches the designs of an industrial Delta over a pick-and-place stroke: NSGA-II, random designs, gradients.

    python -m benchmarks.populations [--generations 20] [--population 96] [--folder FOLDER] [--cluster FILE]

Five objectives, payloads of 0 to 6 kg as operating cases, a motor out of the catalogue `benchmarks/motors.csv`, a gear
out of five, four lengths. Prints the front of NSGA-II and that of as many random designs, their hypervolumes up to the
same point in units of the same box, what local searches by exact derivatives make of the designs with the least energy,
and how long each took. With a folder the stores stay there, and the same command goes on where it was killed. Needs
the extra search; times depend on the machine, and on what else it does.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pipeline.cluster.file import ClusterConfig
from pipeline.study.optimisation import Limit, LocalOptimum, optimise
from pipeline.study.populations.methods import hypervolume
from pipeline.study.populations.search import SearchOutcome, search
from pipeline.study.populations.space import Continuous, SearchSpace
from pipeline.study.problem import DesignProblem
from pipeline.sweep.model import Sweep

SWEEP = """\
limbsweep: 1
title: Five objectives of a pick-and-place Delta
robot: delta_rl5_1450_motors
design:
  grid:
    payload_mass: [0, 2, 4, 6]
    gear_ratio: [20, 25, 30, 40, 50]
  file: motors.csv
  labels: [rated_torque, peak_torque, largest_speed]
  sample:
    method: sobol
    count: 1
    seed: 1
    parameters:
      upper_arm: {low: 0.30, high: 0.50}
      rod_length: {low: 0.90, high: 1.20}
      base_radius: {low: 0.20, high: 0.40}
      platform_radius: {low: 0.05, high: 0.15}
friction: {law: coulomb_viscous, joints: actuated, parameters: {coulomb: 0.02, viscous: 2.0e-4}}
trajectories:
  pick: {kind: quintic, start: [-0.15, 0, 0], end: [0.15, 0, 0.05], duration: 0.3}
time: {stop: 0.3, step: 0.005}
metrics: [peak_force, rms_force, peak_velocity, rms_current, electrical_energy, condition, dexterity]
study:
  title: Which geometry, gear and motor carry 0 to 6 kg with little energy, torque, current and size, and stiff poses?
  objectives:
    - min electrical_energy, mean over cases
    - min peak_force
    - min rms_current
    - max dexterity
    - min upper_arm + rod_length
  where: [condition < 6, rms_force < rated_torque, peak_force < peak_torque, peak_velocity < largest_speed]
  cases: payload_mass
"""
MOTORS = Path(__file__).parent
CHOSEN = ("gear_ratio", "gearbox_inertia", "torque_constant", "resistance")


def polished(sweep: Sweep, found: SearchOutcome, starts: int) -> list[LocalOptimum]:
    """Local searches for the least energy from the designs of the front that need least; motor and gear stay."""
    space = SearchSpace.of(sweep)
    bounds = {v.name: (v.low, v.high) for v in space.variables if isinstance(v, Continuous)}
    problem = DesignProblem.of(sweep, bounds, sweep.question.cases)
    results = []
    for k in found.front[:starts]:
        design = {name: float(found.designs[name].values[k]) for name in space.names}
        constant = {name: design[name] for name in CHOSEN}
        limits = [Limit("condition", 6.0), Limit("rms_force", design["rated_torque"])]
        limits += [Limit("peak_force", design["peak_torque"]), Limit("peak_velocity", design["largest_speed"])]
        start = np.array([design[name] for name in bounds])
        results += optimise(problem.at(constant), "electrical_energy", start, limits, over="mean")
    return results


def main(arguments: Sequence[str] | None = None) -> None:
    """Search twice, compare, polish."""
    parser = argparse.ArgumentParser(description="NSGA-II against random designs of the same budget, then gradients.")
    parser.add_argument("--generations", type=int, default=20)
    parser.add_argument("--population", type=int, default=96)
    parser.add_argument("--starts", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--cluster", type=Path)
    options = parser.parse_args(arguments)
    sweep = Sweep.from_text(SWEEP, "populations", MOTORS)
    cluster = None if options.cluster is None else ClusterConfig.from_yaml(options.cluster)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        found, seconds = {}, {}
        for method in ("nsga2", "random"):
            clock = time.perf_counter()
            found[method] = search(
                sweep, folder / f"{method}.zarr", method=method, generations=options.generations, cluster=cluster,
                population=options.population, seed=options.seed, on_generation=lambda generation: print(generation),
            )  # fmt: skip
            seconds[method] = time.perf_counter() - clock
        clock = time.perf_counter()
        optima = polished(sweep, found["nsga2"], options.starts)
        seconds["gradients"] = time.perf_counter() - clock
    print(comparison(found, seconds))
    for optimum in optima:
        verdict = "limits hold" if optimum.feasible else "a limit does not hold"
        print(f"energy {optimum.start:.5g} J -> {optimum.value:.5g} J by {optimum.calls} evaluations, {verdict}")
    print(f"gradients: {seconds['gradients']:.2g} s")


def comparison(found: dict[str, SearchOutcome], seconds: dict[str, float]) -> str:
    """A line for each method: designs, those that are feasible, front, hypervolume in the box of all feasible ones."""
    good = np.concatenate([outcome.costs[outcome.feasible] for outcome in found.values()])
    if not len(good):
        return "no feasible design: take more generations"
    best, worst = good.min(axis=0), good.max(axis=0)
    size = np.where(worst > best, worst - best, 1.0)
    lines = ["method  designs  feasible  front  hypervolume  seconds"]
    for method, outcome in found.items():
        volume = hypervolume((outcome.costs[outcome.front] - best) / size, np.full(len(best), 1.1))
        lines.append(
            f"{method:<8}{len(outcome.costs):7}{outcome.feasible.sum():10}{len(outcome.front):7}{volume:13.4f}"
            f"{seconds[method]:9.1f}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
