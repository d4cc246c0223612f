"""Geometry, motion and gains of a Delta chosen together, in a simulation: adjoints of the integrator beside NSGA-II.

    python -m benchmarks.gradients.codesign_servo [--times 2] [--steps 60]

The Delta of `benchmarks.gradients.codesign` is driven by PD servos, with friction in all joints. Twelve parameters of
its geometry, twenty coefficients of the reference path and six gains are chosen for the least mean of the squared
torques plus WEIGHT times the mean squared distance of the platform from the straight way at the end of the motion.
Gradients are those of `ls.differentiate_simulation`, adjoints for all 38 variables.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.problem import Problem
from scipy.optimize import minimize

import limbsweep as ls
from benchmarks.gradients.codesign import DURATION, FAILED, FRICTION, GEOMETRY, LARGEST, SAMPLES, STOP, Task

GAINS = ((100.0, 2000.0), (2.0, 40.0))
"""Bounds of kp and kd, whose logarithms are the variables."""
WEIGHT = 1e6
"""Torque [N^2 m^2] that a mean squared distance [m^2] counts as."""
REST = 20
"""Steps at the end over which the distance from the goal counts."""
POPULATION = 20


class ServoTask(Task):
    """The objective over scaled variables: geometry, coefficients, then kp and kd of each actuator."""

    count = len(GEOMETRY) + 20 + 6
    step = DURATION / (SAMPLES - 1)
    times = step * np.arange(SAMPLES)

    def parts(self, variables: np.ndarray) -> tuple[dict[str, Any], dict[str, float], dict[str, float]]:
        """Return the reference, the parameters and the gains of variables."""
        places = len(GEOMETRY), len(GEOMETRY) + 20
        geometry, coefficients, gains = np.split(variables, places)
        numbers = self.first + (2.0 * geometry - 1.0) * self.width
        names = [f"{kind}_{actuator}" for kind in ("kp", "kd") for actuator in self.robot.mechanism.actuators]
        low, high = np.log(np.repeat(np.array(GAINS), 3, axis=0)).T
        values = np.exp(low + gains * (high - low))
        parameters = dict(zip(GEOMETRY, numbers.tolist(), strict=True))
        return (
            self.motion((2.0 * coefficients - 1.0) * LARGEST),
            parameters,
            dict(zip(names, values.tolist(), strict=True)),
        )

    def simulation(self, variables: np.ndarray) -> tuple[Any, ...]:
        """Return robot, start, forces and gains."""
        motion, parameters, gains = self.parts(variables)
        robot = ls.robots.build(self.robot.name, payload_mass=1.0, **parameters)
        reference = {"position": motion["position"], "twist": motion["twist"]}
        settings: dict[str, Any] = {**gains}
        servo = ls.servo(robot, "pd", reference=reference, step=self.step, **settings)
        start = ls.State(position=motion["position"][0], twist=motion["twist"][0])
        return robot, start, ls.Forces(actuator=servo, friction=FRICTION), parameters, gains

    def value_and_gradient(self, variables: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the objective and its derivatives by all variables."""
        self.calls += 1
        robot, start, forces, parameters, gains = self.simulation(variables)
        at = ls.differentiate_simulation(robot, start, forces, self.times, step=self.step, parameters=parameters)
        force, position = at.results["force"], at.results["position"]
        if not np.isfinite(force).all():
            return FAILED, np.zeros_like(variables)
        missed = position - self.goal
        missed[:-REST] = 0.0
        value = float((force**2).sum() / len(force) + WEIGHT * (missed**2).sum() / REST)
        by = at.vjp({"force": 2.0 * force / len(force), "position": 2.0 * WEIGHT * missed / REST})
        return value, self._gradient(by, gains)

    def _gradient(self, by: dict[str, Any], gains: dict[str, float]) -> np.ndarray:
        """Return the derivatives by the variables from those by all inputs of the simulation."""
        geometry = np.array([float(by[name]) for name in GEOMETRY]) * 2.0 * self.width
        columns = [np.zeros((SAMPLES, 3)), np.zeros((SAMPLES, 3))]
        columns[0][:-1], columns[1][:-1] = by["servo.position"], by["servo.twist"][:, 3:]
        columns[0][0] += by["position"]
        columns[1][0] += by["twist"][3:]
        axes = [
            sum(self.shapes[k, :count] @ columns[k][:, axis] for k in range(2)) for axis, count in enumerate((7, 7, 6))
        ]
        width = np.log([high / low for low, high in GAINS]).repeat(3)
        of_gains = np.array([float(by[f"servo.{name}"]) * value for name, value in gains.items()]) * width
        return np.concatenate([geometry, np.concatenate(axes) * 2.0 * LARGEST, of_gains])

    @property
    def goal(self) -> np.ndarray:
        """Position of the platform at the end of the way [m]."""
        return np.array(self.robot.mechanism.platform.home.position) + STOP

    def value(self, variables: np.ndarray) -> np.ndarray:
        """Return the objective (design,) of designs (design, variable); FAILED where a simulation is."""
        return np.array([self._value(row) for row in variables])

    def _value(self, variables: np.ndarray) -> float:
        try:
            robot, start, forces, _, gains = self.simulation(variables)
        except ValueError:
            return FAILED
        moved = ls.simulate(robot, start, forces, self.times, step=self.step)
        motion, *_ = self.parts(variables)
        state = {"position": moved.position, "twist": moved.twist}
        if not np.isfinite(moved.position).all():
            return FAILED
        there, here = (ls.inverse_dynamics(robot, **part) for part in ({k: motion[k] for k in state}, state))
        angles = [ls.actuator_positions(robot, position=part["position"]).position for part in (motion, state)]
        kp, kd = np.split(np.array([*gains.values()]), 2)
        force = (kp * (angles[0] - angles[1]) + kd * (there.velocity - here.velocity))[:-1]
        missed = (moved.position - self.goal)[-REST:]
        return float((force**2).sum() / len(force) + WEIGHT * (missed**2).sum() / REST)


class ServoPopulation(Problem):
    """The same for pymoo."""

    def __init__(self, task: ServoTask) -> None:
        super().__init__(n_var=task.count, n_obj=1, xl=0.0, xu=1.0)
        self.task = task

    def _evaluate(self, x: np.ndarray, out: dict[str, Any], *_: Any, **__: Any) -> None:
        out["F"] = self.task.value(x)[:, None]


def main(arguments: list[str] | None = None) -> None:
    """Print values, calls and processor seconds of both."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=float, default=2.0, help="processor time of NSGA-II over that of gradients")
    parser.add_argument("--steps", type=int, default=60, help="steps of L-BFGS-B at most")
    options = parser.parse_args(arguments)
    task = ServoTask()
    begin = np.full(task.count, 0.5)
    value, gradient = task.value_and_gradient(begin)
    other = task.value(begin[None])[0]
    away = 1e-4 * np.random.default_rng(1).normal(size=task.count)
    ends = task.value(np.stack([begin + away, begin - away]))
    print(f"value {value:.6f}, by simulate {other:.6f}; along a direction {gradient @ away:.8g}, by differences "
          f"{0.5 * (ends[0] - ends[1]):.8g}")  # fmt: skip
    task.calls, clock = 0, time.process_time()
    bounds, limit = [(0.0, 1.0)] * task.count, {"maxiter": options.steps}
    solution = minimize(task.value_and_gradient, begin, jac=True, bounds=bounds, method="L-BFGS-B", options=limit)
    seconds = time.process_time() - clock
    print(f"gradients: {solution.fun:.4f} after {task.calls} calls, {seconds:.1f} s", flush=True)
    search = NSGA2(pop_size=POPULATION)
    search.setup(ServoPopulation(task), seed=1, termination=("n_gen", 10**9))
    clock, best, generations = time.process_time(), np.inf, 0
    while (spent := time.process_time() - clock) < options.times * seconds:
        search.next()
        best, generations = min(best, float(search.pop.get("F").min())), generations + 1
        print(f"NSGA-II: {best:.4f} after {generations * POPULATION} designs, {spent / seconds:.2f} times", flush=True)


if __name__ == "__main__":
    main()
