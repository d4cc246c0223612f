"""Exciting motions beside those of CMA-ES in the same processor time, on the same problem.

    python -m benchmarks.campaigns.excitation [--robots ur5e delta_3rr2rrr arm.urdf] [--steps 120] [--seeds 2]

Five harmonics in 10 s; from the best of 16 random motions, our search takes its steps, then the library `cma` starts at
the same motion and has as much processor time. Set OPENBLAS_NUM_THREADS=1: threads for small matrices only cost time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from applications.identification.estimation.base import base_parameters
from applications.identification.estimation.excitation import CRITERIA, Excitation, ExcitationLimits
from pipeline.robot_files.importing import import_robot
from robots import catalog
from robots.model import Robot

STARTS, SPREAD = 16, 0.3
PERIOD, SAMPLES = 10.0, 64
CHAIN, PLATFORM = ExcitationLimits(2.0, 2.0, 8.0), ExcitationLimits(0.15, 2.0, 25.0)


def searches(name: str, criterion: str, steps: int, seed: int) -> Iterator[tuple[str, float, float]]:
    """Yield program, criterion of its best motion, processor time [s]: random, limbsweep, CMA-ES."""
    import cma

    if name.endswith(".urdf"):
        robot = Robot.of(import_robot(name, parameters=False).description.family, {})
    else:
        robot = catalog.build(name)
    limits = CHAIN if robot.mechanism.is_chain else PLATFORM
    base = base_parameters(robot, shared=True)
    problem = Excitation(robot, base, limits, PERIOD, samples=SAMPLES, criterion=criterion, shared=True)
    random = np.array([problem.random(seed, number) for number in range(STARTS)])
    costs = problem.costs(random)
    start = random[int(np.argmin(costs))]
    yield "best of random", float(costs.min()), 0.0
    began = time.process_time()
    cost = problem.search(start, steps)[0]
    spent = time.process_time() - began
    yield "limbsweep", cost, spent
    strategy = cma.CMAEvolutionStrategy(start, SPREAD, {"verbose": -9, "seed": seed + 1})
    began = time.process_time()
    while not strategy.stop() and time.process_time() - began < spent:
        points = strategy.ask()
        strategy.tell(points, problem.costs(np.array(points)).tolist())
    yield f"cma, {strategy.countevals} motions", float(strategy.result.fbest), time.process_time() - began


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", nargs="*", default=["ur5e", "delta_3rr2rrr"])
    parser.add_argument("--criteria", nargs="*", default=list(CRITERIA))
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--seeds", type=int, default=2)
    arguments = parser.parse_args()
    print("| robot | criterion | seed | program | value | s |")
    print("|---|---|---:|---|---:|---:|")
    for name in arguments.robots:
        for criterion in arguments.criteria:
            for seed in range(arguments.seeds):
                for program, cost, spent in searches(name, criterion, arguments.steps, seed):
                    value = np.exp(cost) if criterion == "condition" else -cost
                    cells = f"{criterion} | {seed} | {program} | {value:.4g} | {spent:.1f}"
                    print(f"| `{Path(name).stem}` | {cells} |", flush=True)


if __name__ == "__main__":
    main()
