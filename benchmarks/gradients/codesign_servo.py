"""Geometry, motion and gains of a Delta chosen together, in a simulation: adjoints of the integrator beside NSGA-II.

    python -m benchmarks.gradients.codesign_servo [--times 10] [--start 10] [--steps 60] [--state FILE] [--seconds S]

The Delta of `benchmarks.gradients.codesign` is driven by PD servos, with friction in all joints. Twelve parameters of
its geometry, twenty coefficients of the reference path and six gains are chosen for the least mean of the squared
torques plus WEIGHT times the mean squared distance of the platform from the straight way at the end of the motion.
Values are those of the compiled loop of simulations, a whole generation side by side; the first line compares them with
`ls.simulate`. NSGA-II takes --start generations; from its best design SLSQP of SciPy goes on with the adjoints of
`ls.differentiate_simulation` for all 38 variables, and beside it NSGA-II alone, for a multiple of the processor time of
both together. With --state the search goes on from a file where a run of --seconds left it.
"""

from __future__ import annotations

import argparse
import pickle
import time
from pathlib import Path
from typing import Any

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.problem import Problem
from scipy.optimize import minimize

import limbsweep as ls
from benchmarks.gradients.codesign import DURATION, FAILED, FRICTION, GEOMETRY, LARGEST, ROBOT, SAMPLES, STOP, Task
from robots.controllers import Controller
from robots.friction.laws import LAWS
from tasks.dynamics.drive_model import InverseModel, case_rows
from tasks.dynamics.motion_system import MotionSystem
from tasks.dynamics.records import GRAVITY
from tasks.features.friction.inputs import friction_input, without_zero_width
from tasks.kernels.kernel import padded
from tasks.sources.drives import Controlled, Tracks
from tasks.sources.plants import MovingRobots
from tasks.sources.servo_motion import run_in_loop

GAINS = ((100.0, 2000.0), (2.0, 40.0))
"""Bounds of kp and kd, whose logarithms are the variables."""
NAMES = tuple(f"{kind}_{actuator}" for kind in ("kp", "kd") for actuator in ls.robots.build(ROBOT).mechanism.actuators)
WEIGHT = 1e6
"""Torque [N^2 m^2] that a mean squared distance [m^2] counts as."""
REST = 20
"""Steps at the end over which the distance from the goal counts."""
POPULATION = 100
REPORTED = (1.0, 3.0, 10.0, 30.0, 100.0)
"""Multiples of the processor time of gradients at which NSGA-II is reported."""


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
        low, high = np.log(np.repeat(np.array(GAINS), 3, axis=0)).T
        values = np.exp(low + gains * (high - low))
        parameters = dict(zip(GEOMETRY, numbers.tolist(), strict=True))
        return (
            self.motion((2.0 * coefficients - 1.0) * LARGEST),
            parameters,
            dict(zip(NAMES, values.tolist(), strict=True)),
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
        """Return the objective (design,) of designs (design, variable), side by side; FAILED where a simulation is."""
        geometry, coefficients, gains = np.split(variables, (len(GEOMETRY), len(GEOMETRY) + 20), axis=1)
        numbers = self.first + (2.0 * geometry - 1.0) * self.width
        low, high = np.log(np.repeat(np.array(GAINS), 3, axis=0)).T
        batch = SideBySide(self, dict(zip(GEOMETRY, numbers.T, strict=True)), np.exp(low + gains * (high - low)))
        force, position = batch.moved(self.motion((2.0 * coefficients - 1.0) * LARGEST), self.step)
        missed = position[:, -REST:] - self.goal
        value = (force**2).sum(axis=(1, 2)) / force.shape[1] + WEIGHT * (missed**2).sum(axis=(1, 2)) / REST
        return np.nan_to_num(value, nan=FAILED)

    def simulated(self, variables: np.ndarray) -> float:
        """Return the objective of one design by `ls.simulate`."""
        robot, start, forces, _, gains = self.simulation(variables)
        moved = ls.simulate(robot, start, forces, self.times, step=self.step)
        motion, *_ = self.parts(variables)
        state = {"position": moved.position, "twist": moved.twist}
        there, here = (ls.inverse_dynamics(robot, **part) for part in ({k: motion[k] for k in state}, state))
        angles = [ls.actuator_positions(robot, position=part["position"]).position for part in (motion, state)]
        kp, kd = np.split(np.array([*gains.values()]), 2)
        force = (kp * (angles[0] - angles[1]) + kd * (there.velocity - here.velocity))[:-1]
        missed = (moved.position - self.goal)[-REST:]
        return float((force**2).sum() / len(force) + WEIGHT * (missed**2).sum() / REST)


class SideBySide:
    """Simulations of designs side by side: parameters by name (design,), gains (design, gain)."""

    def __init__(self, task: ServoTask, parameters: dict[str, np.ndarray], gains: np.ndarray) -> None:
        family = task.robot.family
        values: dict[str, Any] = {**task.robot.values, **parameters}
        self.count = count = len(gains)
        self.last = np.minimum(np.arange(padded(count)), count - 1)
        self.designs = np.stack([np.broadcast_to(values[p.name], count)[self.last] for p in family.parameters], axis=1)
        self.robot, self.family, self.gains = task.robot, family, np.ascontiguousarray(gains[self.last].T)

    def moved(self, motion: dict[str, Any], step: float) -> tuple[np.ndarray, np.ndarray]:
        """Return forces (design, step, actuator) and positions (design, instant, 3) along a reference."""
        parts = motion["position"], motion["twist"][..., 3:], motion["acceleration"][..., 3:]
        rows = np.concatenate(parts, axis=-1)[self.last].swapaxes(1, 2)
        groups = without_zero_width(friction_input(self.robot, FRICTION, LAWS))
        system = MotionSystem.of_cases(self.family, self.designs, groups.groups, groups.values, GRAVITY)
        model = InverseModel(self.family, case_rows(self.family, self.designs, GRAVITY))
        controller = Controller("pd", "actuator", NAMES)
        drive = Controlled(model, Tracks(rows, np.arange(len(rows))), controller, self.gains, step, step)
        plant = MovingRobots.of(system, np.ascontiguousarray(rows[..., 0].T), step, "rk4")
        moved = run_in_loop(plant, drive, rows.shape[2] - 1)
        assert moved is not None, "no compiler is found"
        motions, forces = (part[..., : self.count] for part in moved)
        return np.moveaxis(forces, 2, 0), np.moveaxis(motions[:, :3], 2, 0)


class ServoPopulation(Problem):
    """The same for pymoo."""

    def __init__(self, task: ServoTask) -> None:
        super().__init__(n_var=task.count, n_obj=1, xl=0.0, xu=1.0)
        self.task = task

    def _evaluate(self, x: np.ndarray, out: dict[str, Any], *_: Any, **__: Any) -> None:
        out["F"] = self.task.value(x)[:, None]


def compare(task: ServoTask) -> None:
    """Print the value and a derivative of the first design, computed in several ways; all is compiled then."""
    begin = np.full(task.count, 0.5)
    value, gradient = task.value_and_gradient(begin)
    away = 1e-4 * np.random.default_rng(1).normal(size=task.count)
    ends, one = task.value(np.stack([begin + away, begin - away, begin])), task.simulated(begin)
    task.value(np.tile(begin, (POPULATION, 1)))
    print(f"value {value:.8f}, by simulate {one:.8f}, side by side {ends[2]:.8f}; along a direction "
          f"{gradient @ away:.8g}, by differences {0.5 * (ends[0] - ends[1]):.8g}", flush=True)  # fmt: skip


def descend(task: ServoTask, begin: np.ndarray, steps: int) -> float:
    """Print the value that gradients lead to from a design, and return their processor seconds."""
    task.calls, clock = 0, time.process_time()

    def gradient(variables: np.ndarray) -> np.ndarray:
        value, by = task.value_and_gradient(variables)
        return by / value

    solution = minimize(
        lambda variables: np.log(task.value(variables[None])[0]), begin, jac=gradient,
        bounds=[(0.0, 1.0)] * task.count, method="SLSQP", options={"maxiter": steps, "ftol": 1e-6},
    )  # fmt: skip
    seconds = time.process_time() - clock
    print(f"gradients: {np.exp(solution.fun):.4f} after {task.calls} of them and {solution.nfev} values, "
          f"{seconds:.1f} s", flush=True)  # fmt: skip
    return seconds


class Search:
    """NSGA-II with the processor time that it has taken, which can be kept in a file."""

    def __init__(self, task: ServoTask) -> None:
        self.unit, self.spent, self.best, self.designs = np.inf, 0.0, np.inf, 0
        self.algorithm = NSGA2(pop_size=POPULATION)
        self.algorithm.setup(ServoPopulation(task), seed=1, termination=("n_gen", 10**9))
        self.due = list(REPORTED)

    @property
    def design(self) -> np.ndarray:
        """The best design of the population."""
        population = self.algorithm.pop
        return np.array(population.get("X")[population.get("F")[:, 0].argmin()])

    def go_on(self) -> None:
        """Take a generation."""
        clock = time.process_time()
        self.algorithm.next()
        self.spent += time.process_time() - clock
        self.best = min(self.best, float(self.algorithm.pop.get("F").min()))
        self.designs += POPULATION

    def run(self, times: float, seconds: float) -> None:
        """Go on up to a multiple of the time of gradients, for so many processor seconds at most."""
        begin = self.spent
        while self.spent < times * self.unit and self.spent - begin < seconds:
            self.go_on()
            while self.due and self.due[0] * self.unit <= self.spent:
                self.tell()
                self.due.pop(0)
        self.tell()

    def tell(self) -> None:
        """Print where the search is."""
        print(f"NSGA-II: {self.best:.4f} after {self.designs} designs, {self.spent:.1f} s, "
              f"{self.spent / self.unit:.2f} times", flush=True)  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """Print values, calls and processor seconds of both."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=float, default=10.0, help="processor time of NSGA-II over that of gradients")
    parser.add_argument("--start", type=int, default=10, help="generations of NSGA-II before gradients")
    parser.add_argument("--steps", type=int, default=60, help="steps of SLSQP at most")
    parser.add_argument("--state", type=Path, help="file that keeps the search")
    parser.add_argument(
        "--seconds", type=float, default=np.inf, help="processor seconds of NSGA-II in this run, at most"
    )
    options = parser.parse_args(arguments)
    task = ServoTask()
    if options.state and options.state.exists():
        search: Search = pickle.loads(options.state.read_bytes())
    else:
        compare(task)
        search = Search(task)
        for _ in range(options.start):
            search.go_on()
        search.tell()
        search.unit = search.spent + descend(task, search.design, options.steps)
    search.run(options.times, options.seconds)
    if options.state:
        options.state.write_bytes(pickle.dumps(search))


if __name__ == "__main__":
    main()
