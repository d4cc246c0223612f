"""Searches the designs of an industrial Delta over a pick-and-place stroke: NSGA-II, random designs, gradients.

    python -m benchmarks.populations [--generations 20] [--population 96] [--folder FOLDER] [--cluster FILE]

Five objectives, payloads of 0 to 6 kg as operating cases, a motor out of the catalogue `benchmarks/motors.csv`, a gear
out of five, four lengths; limits of torques and speeds are the motor's, the ratio of inertias is bounded. Prints the
front of NSGA-II and that of as many random designs, their hypervolumes up to the same point in units of the same box,
results of local searches by exact derivatives from the designs with the least energy, and the times of all searches.
Then the search of NSGA-II is repeated in a process of its own, killed half way, and resumed: its front is compared with
the first one. With a folder the stores stay there, and the same command resumes after a kill. Needs the extra search;
times depend on the machine, and on its other load.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from applications.studies.factors import Continuous
from applications.studies.optimisation import LocalOptimum, optimise
from applications.studies.populations.methods import hypervolume
from applications.studies.populations.search import SearchOutcome, search
from applications.studies.problem import DesignProblem
from applications.studies.space import DesignSpace
from pipeline.cluster.file import ClusterConfig
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
  labels: [motor, rated_torque, peak_torque, largest_speed]
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
metrics: [peak_force, rms_force, peak_velocity, rms_current, electrical_energy, condition, dexterity,
          largest_effective_inertia]
study:
  title: Which geometry, gear and motor carry 0 to 6 kg with little energy, torque, current and size, and stiff poses?
  objectives:
    - min electrical_energy, mean over cases
    - min peak_force
    - min rms_current
    - max dexterity
    - min upper_arm + rod_length
  where: [condition < 6, rms_force < rated_torque, peak_force < peak_torque, peak_velocity < largest_speed,
          largest_effective_inertia / gearbox_inertia - 1 < 50]
  cases: payload_mass
"""
MOTORS = Path(__file__).parent
CHOSEN = ("gear_ratio", "gearbox_inertia", "torque_constant", "resistance")


def polished(sweep: Sweep, found: SearchOutcome, starts: int) -> list[LocalOptimum]:
    """Search locally for the least energy from the front's designs that need least; motor and gear stay."""
    space = DesignSpace.to_search(sweep)
    bounds = {v.name: (v.low, v.high) for v in space.variables if isinstance(v, Continuous)}
    problem = DesignProblem.of(sweep, bounds, sweep.question.cases)
    results = []
    for k in found.front[:starts]:
        numbers = [name for name in space.names if name not in space.texts]
        design = {name: float(found.designs[name].values[k]) for name in numbers}
        constant = {name: design[name] for name in CHOSEN}
        limits = ["condition <= 6", f"rms_force <= {design['rated_torque']!r}"]
        limits += [f"peak_force <= {design['peak_torque']!r}", f"peak_velocity <= {design['largest_speed']!r}"]
        start = np.array([design[name] for name in bounds])
        results += optimise(problem.at(constant), "electrical_energy, mean over cases", start, limits)
    return results


def main(arguments: Sequence[str] | None = None) -> None:
    """Search twice, compare, polish."""
    parser = argparse.ArgumentParser(description="NSGA-II against random designs of the same budget, then gradients.")
    parser.add_argument("--generations", type=int, default=20)
    parser.add_argument("--population", type=int, default=96)
    parser.add_argument("--starts", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--only", type=Path, metavar="STORE", help="the search of NSGA-II alone")
    parser.add_argument("--cluster", type=Path)
    options = parser.parse_args(arguments)
    sweep = Sweep.from_text(SWEEP, "populations", MOTORS)
    cluster = None if options.cluster is None else ClusterConfig.from_yaml(options.cluster)
    if options.only is not None:
        searched(options, sweep, options.only, "nsga2", cluster)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        found, seconds = {}, {}
        for method in ("nsga2", "random"):
            clock = time.perf_counter()
            found[method] = searched(options, sweep, folder / f"{method}.zarr", method, cluster)
            seconds[method] = time.perf_counter() - clock
        clock = time.perf_counter()
        optima = polished(sweep, found["nsga2"], options.starts)
        seconds["gradients"] = time.perf_counter() - clock
        again = resumed(options, sweep, folder / "killed.zarr", cluster)
    print(comparison(found, seconds))
    print(least_energy(found["nsga2"]))
    for optimum in optima:
        verdict = "limits hold" if optimum.feasible else "a limit does not hold"
        print(f"energy {optimum.start:.5g} J -> {optimum.value:.5g} J by {optimum.calls} evaluations, {verdict}")
    print(f"gradients: {seconds['gradients']:.2g} s")
    if again is not None:
        killed, outcome = again
        first = found["nsga2"]
        same = np.array_equal(outcome.costs, first.costs, equal_nan=True) and np.array_equal(outcome.front, first.front)
        print(f"killed after generation {killed}, gone on: {'the same' if same else 'ANOTHER'} front, bit for bit")


def resumed(
    options: argparse.Namespace, sweep: Sweep, store: Path, cluster: ClusterConfig | None
) -> tuple[int, SearchOutcome] | None:
    """Kill the same search half way in a process of its own, and go on; None where the store is there already."""
    if store.exists():
        return None
    command = [sys.executable, "-m", "benchmarks.populations", "--only", str(store)]
    command += [f"--{name}={getattr(options, name)}" for name in ("generations", "population", "seed")]
    command += [] if options.cluster is None else [f"--cluster={options.cluster}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=MOTORS.parent) as child:
        assert child.stdout is not None
        killed = 0
        for killed, line in enumerate(child.stdout, 1):
            print(line.strip(), "(to be killed)")
            if killed >= max(1, options.generations // 2):
                child.kill()
                break
    return killed, searched(options, sweep, store, "nsga2", cluster)


def searched(
    options: argparse.Namespace, sweep: Sweep, store: Path, method: str, cluster: ClusterConfig | None
) -> SearchOutcome:
    """Run one search, which prints its generations."""
    return search(
        sweep, store, method=method, generations=options.generations, population=options.population,
        seed=options.seed, cluster=cluster, on_generation=lambda generation: print(generation, flush=True),
    )  # fmt: skip


def least_energy(found: SearchOutcome) -> str:
    """Return the design of the front with the least energy, in words."""
    design = found.designs.isel(design=int(found.front[0]))
    lengths = ", ".join(f"{name} {1e3 * float(design[name]):.0f} mm" for name in ("upper_arm", "rod_length"))
    ratio = float(design["largest_effective_inertia"].max() / design["gearbox_inertia"]) - 1.0
    used = 100.0 * float(design["rms_force"].max() / design["rated_torque"])
    return (
        f"least energy: motor {design['motor'].values!s}, gear {float(design['gear_ratio']):g}, {lengths}: "
        f"{used:.0f} % of rated torque, ratio of inertias {ratio:.0f}"
    )


def comparison(found: dict[str, SearchOutcome], seconds: dict[str, float]) -> str:
    """Format each method: designs, feasible ones, front, hypervolume in the box of all feasible ones."""
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
