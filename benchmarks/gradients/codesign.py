"""Geometry and motion of a Delta chosen together: exact gradients beside NSGA-II of many times their processor time.

    python -m benchmarks.gradients.codesign [--times 100]

The robot carries its load from one place to another in half a second. Twelve parameters of its geometry and twenty
coefficients of the path are chosen for the least mean of the squared torques of all drives, with friction in all
joints. Gradients are those of `ls.differentiate`, followed by L-BFGS-B of SciPy from the first design and a straight
path; NSGA-II of pymoo computes its populations of 100 in one call each.
"""

from __future__ import annotations

import argparse
import time
from functools import cached_property
from typing import Any

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.problem import Problem
from scipy.optimize import minimize

import limbsweep as ls

ROBOT = "delta_3rr2rrr"
GEOMETRY = (
    "base_radius", "platform_radius", "upper_arm", "rod_length", "link_length", "arm_diameter", "rod_diameter",
    "link_diameter", "platform_diameter", "platform_height", "payload_centre_x", "payload_centre_y",
)  # fmt: skip
RANGE = 0.15
"""Range of each parameter to both sides of the first design, relative to it."""
COEFFICIENTS = (7, 7, 6)
LARGEST = 0.06
"""Largest coefficient of the path [m]."""
START, STOP, DURATION, SAMPLES = np.array([-0.2, 0.1, -0.02]), np.array([0.25, -0.1, 0.05]), 0.5, 101
FRICTION = {"law": "coulomb_viscous", "coulomb": 0.05, "viscous": 0.02, "width": 0.05, "joints": "all"}
FAILED = 1e9
POPULATION = 100


class Task:
    """The objective over scaled variables (geometry, then coefficients), each between zero and one."""

    def __init__(self) -> None:
        self.robot = ls.robots.build(ROBOT, payload_mass=1.0)
        first = np.array([self.robot.values[name] for name in GEOMETRY])
        self.first, self.width = first, np.where(first == 0.0, 0.02, RANGE * np.abs(first))
        self.calls = 0

    @cached_property
    def shapes(self) -> np.ndarray:
        """Functions of time and their two derivatives (order, function, time), at rest at both ends."""
        x = np.polynomial.Polynomial([0.0, 1.0])
        window = (4.0 * x * (1.0 - x)) ** 3
        made = [
            window * np.polynomial.Legendre.basis(k, [0, 1]).convert(kind=np.polynomial.Polynomial) for k in range(7)
        ]
        return self._sampled(made)

    @cached_property
    def way(self) -> np.ndarray:
        """The way from start to stop and its derivatives (order, time), smooth at both ends."""
        return self._sampled([np.polynomial.Polynomial([0, 0, 0, 10, -15, 6])])[:, 0]

    @staticmethod
    def _sampled(functions: list[Any]) -> np.ndarray:
        at = np.linspace(0.0, 1.0, SAMPLES)
        return np.array([[f.deriv(k)(at) / DURATION**k if k else f(at) for f in functions] for k in range(3)])

    def motion(self, coefficients: np.ndarray) -> dict[str, Any]:
        """Return the motion (*batch, time, ...) of coefficients (*batch, 20)."""
        home = np.array(self.robot.mechanism.platform.home.position)
        parts = np.split(coefficients, np.cumsum(COEFFICIENTS)[:-1], axis=-1)
        rows = [
            np.stack([part @ self.shapes[k, : part.shape[-1]] for part in parts], axis=-1)
            + self.way[k][:, None] * (STOP - START)
            for k in range(3)
        ]
        still = np.zeros_like(rows[1])
        twist, acceleration = (np.concatenate([still, row], axis=-1) for row in rows[1:])
        return {"position": rows[0] + START + home, "twist": twist, "acceleration": acceleration}

    def at(self, variables: np.ndarray) -> Any:
        """Return inverse dynamics at some variables (*batch, variable), so that it can be differentiated."""
        self.calls += 1
        count = len(GEOMETRY)
        geometry = self.first + (2.0 * variables[..., :count] - 1.0) * self.width
        motion = self.motion((2.0 * variables[..., count:] - 1.0) * LARGEST)
        batch = variables.ndim > 1
        parameters = {name: geometry[..., k, None] if batch else geometry[k] for k, name in enumerate(GEOMETRY)}
        forces = ls.Forces(friction=FRICTION)
        return ls.differentiate(ls.inverse_dynamics, self.robot, forces=forces, parameters=parameters, **motion)

    def value(self, variables: np.ndarray) -> np.ndarray:
        """Return the objective (*batch,); FAILED where a sample is."""
        force = self.at(variables).results["force"]
        return np.nan_to_num((force * force).sum(axis=-1).mean(axis=-1), nan=FAILED)

    def value_and_gradient(self, variables: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the objective and its derivatives by all variables."""
        at = self.at(variables)
        force = at.results["force"]
        if at.results["status"].any():
            return FAILED, np.zeros_like(variables)
        by = at.vjp({"force": 2.0 * force / SAMPLES})
        geometry = np.array([float(by[name]) for name in GEOMETRY]) * 2.0 * self.width
        columns = (by["position"], by["twist"][:, 3:], by["acceleration"][:, 3:])
        axes = [
            sum(self.shapes[k, :count] @ columns[k][:, axis] for k in range(3))
            for axis, count in enumerate(COEFFICIENTS)
        ]
        gradient = np.concatenate([geometry, np.concatenate(axes) * 2.0 * LARGEST])
        return float((force * force).sum(axis=-1).mean()), gradient


class Population(Problem):
    """The same for pymoo, a population at a time."""

    def __init__(self, task: Task) -> None:
        super().__init__(n_var=len(GEOMETRY) + sum(COEFFICIENTS), n_obj=1, xl=0.0, xu=1.0)
        self.task = task

    def _evaluate(self, x: np.ndarray, out: dict[str, Any], *_: Any, **__: Any) -> None:
        out["F"] = self.task.value(x)[:, None]


def main(arguments: list[str] | None = None) -> None:
    """Print values, calls and processor seconds of both."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=float, default=100.0, help="processor time of NSGA-II over that of gradients")
    options = parser.parse_args(arguments)
    task = Task()
    begin = np.full(len(GEOMETRY) + sum(COEFFICIENTS), 0.5)
    task.value_and_gradient(begin), task.value(np.tile(begin, (POPULATION, 1)))  # compiled once
    task.calls, clock = 0, time.process_time()
    solution = minimize(task.value_and_gradient, begin, jac=True, bounds=[(0.0, 1.0)] * len(begin), method="L-BFGS-B")
    seconds = time.process_time() - clock
    print(f"first design and straight path: {task.value(begin):.4f} N^2 m^2")
    print(f"gradients: {solution.fun:.4f} after {task.calls} calls, {seconds:.2f} s")
    search = NSGA2(pop_size=POPULATION)
    search.setup(Population(task), seed=1, termination=("n_gen", 10**9))
    clock, best, generations = time.process_time(), np.inf, 0
    while time.process_time() - clock < options.times * seconds:
        search.next()
        best, generations = min(best, float(search.pop.get("F").min())), generations + 1
    times = (time.process_time() - clock) / seconds
    print(f"NSGA-II: {best:.4f} after {generations * POPULATION} designs, {times:.0f} times as long")


if __name__ == "__main__":
    main()
