"""Gradients of inverse dynamics: how well both directions agree, and their cost in units of a value.

    python -m benchmarks.gradients [ROBOT ...] [--samples N] [--by-count]

For each robot a row: parameters, the largest difference of cotangents times rates on both sides, relative to the sum of
the sizes of their terms, and times of all of these over that of a value, in one run: the gradient of a number by all
parameters and the motion (reverse), one direction (forward), and central differences over all parameters. Times are
processor seconds, the least of calls in turns until none becomes faster, as code is compiled meanwhile.
With --by-count a row for 1 to 40 parameters of each robot: times of their gradient in reverse, by directions (forward),
by central differences, of the product of second derivatives with a vector, and of a value with its gradient in reverse,
over that of a value; last the operations of a reverse pass over those of a value, each loop counted as one round.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np

import limbsweep as ls
from benchmarks.figures import processor_seconds
from robots import catalog
from robots.model import Robot
from robots.types import TWIST
from tasks.kernels.cotangents import pullback
from tasks.kernels.program import Program
from tests.tasks.regions import REGIONS, states

ROBOTS = ("five_bar", "delta_3rr2rrr", "gough_stewart", "hexapod_6rrrprr", "planar_3rrr", "irsbot2", "ur5e", "panda")
REPEATS = 12
"""Rounds in a row without a faster call, after which times are taken."""


def least_seconds(*functions: Callable[[], Any]) -> list[float]:
    """Return the least processor seconds of a call of each function, called in turns."""
    least, idle = np.full(len(functions), np.inf), 0
    while idle < REPEATS:
        taken = np.array([processor_seconds(function) for function in functions])
        idle = 0 if (taken < 0.95 * least).any() else idle + 1
        least = np.minimum(least, taken)
    return [float(each) for each in least]


def motion_of(robot: Robot, samples: int) -> dict[str, Any]:
    """Return random motions in the region of a robot, or near its reference pose."""
    rng, platform = np.random.default_rng(3), robot.mechanism.platform
    if robot.name in REGIONS:
        return {name: np.array(part) for name, part in states(robot, samples)._asdict().items()}
    if not robot.mechanism.is_chain:
        free = np.array([name in platform.mobility for name in TWIST], dtype=float)
        shift, twist, acceleration = rng.normal(size=(3, samples, 6)) * free
        position = np.array(platform.home.position) + 0.002 * shift[:, 3:]
        return {"position": position, "twist": twist, "acceleration": acceleration}
    q, qd, qdd = rng.normal(size=(3, samples, len(robot.mechanism.freedoms)))
    return {"q": 0.3 * q, "qd": qd, "qdd": qdd}


def row(name: str, samples: int) -> tuple[int, float, float, float, float]:
    """Return parameters, difference of both directions, and times of reverse, forward and differences, in values."""
    robot, rng = catalog.build(name), np.random.default_rng(1)
    motion, parameters = motion_of(robot, samples), dict(robot.values)
    at = ls.differentiate(ls.inverse_dynamics, robot, parameters=parameters, **motion)
    seed = rng.normal(size=at.results["force"].shape) * (at.results["status"] == 0)[:, None]
    backward = at.vjp({"force": seed})
    along = {key: rng.normal() * max(abs(value), 1e-3) for key, value in parameters.items()}
    parts = np.nan_to_num(seed * at.jvp(along)["force"])
    missed = abs(parts.sum() - sum(float(backward[key]) * along[key] for key in along)) / np.abs(parts).sum()
    value, reverse, forward = least_seconds(
        lambda: ls.inverse_dynamics(robot, **motion).force,
        lambda: at.vjp({"force": seed}),
        lambda: at.jvp(along),
    )
    return len(parameters), missed, reverse / value, forward / value, 2.0 * len(parameters)


COUNTS = (1, 2, 5, 10, 20, 40)
"""Numbers of parameters that gradients are taken by."""
BY_COUNT = {"reverse": 9, "forward": 9, "differences": 12, "second": 9, "with value": 12, "operations": 12}
"""Columns of the table by numbers of parameters, and their widths."""


def by_count(name: str, samples: int, count: int) -> tuple[float, ...]:
    """Return times by so many parameters, and operations, as the columns of `BY_COUNT`, in values."""
    robot, rng = catalog.build(name), np.random.default_rng(1)
    motion, parameters = motion_of(robot, samples), dict(list(robot.values.items())[:count])
    at = ls.differentiate(ls.inverse_dynamics, robot, parameters=parameters, **motion)
    seed = rng.normal(size=at.results["force"].shape) * (at.results["status"] == 0)[:, None]

    def whole() -> None:
        there = ls.differentiate(ls.inverse_dynamics, robot, parameters=parameters, **motion)
        there.vjp({"force": seed})

    value, reverse, forward, second, both = least_seconds(
        lambda: ls.inverse_dynamics(robot, **motion).force,
        lambda: at.vjp({"force": seed}),
        lambda: at.jvp({next(iter(parameters)): 1.0}),
        lambda: at.hvp({"force": seed}, dict.fromkeys(parameters, 1.0)),
        whole,
    )
    times = reverse, count * forward, 2.0 * count * value, second, both
    return *(each / value for each in times), operations_of_reverse(at, seed)


def operations_of_reverse(at: Any, seed: np.ndarray) -> float:
    """Return the operations of a reverse pass over those of the values that it is of; a loop counts as one round."""
    passed = []

    def kept(program: Program, *names: Any, **options: Any) -> Program:
        passed.append(made := pullback(program, *names, **options))
        return made

    with patch("tasks.stages.tape.pullback", kept):
        at.vjp({"force": seed})
    values = sum(stage.program.operations().total() for stage in at.tape.stages)
    return sum(program.operations().total() for program in passed) / values


def print_by_count(robots: list[str], samples: int) -> None:
    """Print the table by numbers of parameters."""
    print(f"{'robot':<18}{'parameters':>11}" + "".join(f"{head:>{width}}" for head, width in BY_COUNT.items()))
    for name in robots:
        for count in (each for each in COUNTS if each <= len(catalog.build(name).values)):
            times = zip(by_count(name, samples, count), BY_COUNT.values(), strict=True)
            print(f"{name:<18}{count:>11}" + "".join(f"{each:>{width}.1f}" for each, width in times), flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("robots", nargs="*", default=list(ROBOTS))
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--by-count", action="store_true", help="a row for each number of parameters")
    options = parser.parse_args(arguments)
    if options.by_count:
        print_by_count(options.robots, options.samples)
        return
    print(f"{'robot':<18}{'parameters':>11}{'difference':>12}{'reverse':>9}{'forward':>9}{'differences':>12}")
    for name in options.robots:
        count, missed, *times = row(name, options.samples)
        print(
            f"{name:<18}{count:>11}{missed:>12.1e}"
            + "".join(f"{each:>{width}.1f}" for each, width in zip(times, (9, 9, 12), strict=True))
        )


if __name__ == "__main__":
    main()
