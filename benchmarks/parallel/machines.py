"""Machines of the benchmark: true parameters, motions, forces by another engine or by limbsweep, and sensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from applications.identification.estimation.machines.coupled_friction import with_inertia
from benchmarks.campaigns import coverage
from pipeline.documents.yaml import read_yaml
from pipeline.sweep.model import Sweep
from robots import catalog
from robots.formats.description import Description, describe
from robots.model import Robot
from tasks import inverse_dynamics
from tasks.dynamics.inertial_parameters import SIZE
from tasks.dynamics.inverse import actuator_positions
from tasks.dynamics.records import Forces, Moving
from tasks.dynamics.regressor import standard_parameters
from tasks.mathematics.signals import coloured, delayed
from tasks.sources.commanded import moving

SETTINGS = Path(__file__).parent / "benchmark.yaml"
ROLES = ("train", "validation", "test")
"""Motions of a machine; the forces of the last are hidden."""
PASSIVE = {"law": "coulomb_viscous", "joints": "passive", "load": "reaction", "viscous": 0.0}
"""Friction in passive joints, loaded by reactions."""


@dataclass(frozen=True)
class Task:
    """One machine at one difficulty: settings of both, and the seed of random numbers."""

    name: str
    machine: Mapping[str, Any]
    difficulty: Mapping[str, Any]
    settings: Mapping[str, Any]

    @property
    def random(self) -> np.random.Generator:
        """Return random numbers that are those of this task alone."""
        return np.random.default_rng([int(self.settings["seed"]), *self.name.encode()])

    @property
    def robot(self) -> Robot:
        """Return the robot as participants get it, with the bodies of the catalogue."""
        return catalog.build(self.machine["robot"])


@dataclass(frozen=True)
class Signals:
    """Clean signals along one motion: positions and forces (time, actuator), and their times."""

    time: np.ndarray
    position: np.ndarray
    force: np.ndarray


def tasks(path: Path = SETTINGS) -> Iterator[Task]:
    """Yield each machine at each difficulty."""
    settings: Any = read_yaml(path).data
    for machine, about in settings["machines"].items():
        for name, difficulty in settings["difficulties"].items():
            yield Task(f"{machine}-{name}", about, difficulty, settings)


def true_robot(task: Task) -> Robot:
    """Return the machine: the robot with a factor on the inertia of each body, the same for limbs that are copies."""
    robot = task.robot
    columns = standard_parameters(robot, shared=True)
    values, largest = np.array([*columns.values()]), float(task.settings["bodies"])
    random = task.random
    for start in range(len(values) - SIZE + 1):
        if [*columns][start].endswith(".mass"):
            values[start : start + SIZE] *= 1.0 + largest * random.choice([-1.0, 1.0]) * random.uniform(0.4, 1.0)
    return Robot.of(Description(robot.name, "", "", (), (), with_inertia(robot, values.tolist())).family, {})


def motions(task: Task) -> Iterator[tuple[str, np.ndarray, Moving]]:
    """Yield role, times and motion of the platform, random Fourier series within the limits of the machine."""
    about = task.machine
    kind = {"kind": "random_fourier", "count": len(ROLES), "seed": int(task.settings["seed"]), **about["motion"]}
    sweep = Sweep.from_dict({
        "limbsweep": 1, "robot": about["robot"], "metrics": ["peak_force"],
        "trajectories": {"excite": {**kind, "period": float(about["duration"])}},
        "time": {"stop": float(about["duration"]), "step": float(task.settings["step"])},
    })  # fmt: skip
    origin = sweep.family.reference.platform.home.position
    for role, trajectory in zip(ROLES, sweep.trajectories, strict=True):
        yield role, sweep.times, moving(sweep.family, trajectory, sweep.times, origin)


def clean(task: Task, robot: Robot, times: np.ndarray, motion: Moving, friction: Mapping[str, float]) -> Signals:
    """Return positions and forces, by MuJoCo around loops that other code closes, if the task demands it."""
    if {**task.difficulty, **task.machine}.get("forces") == "another engine":
        position, velocity, force = coverage.foreign(robot, motion)
        dry, viscous = (float(str(coverage.FRICTION[key])) for key in ("coulomb", "viscous"))
        force = force - dry * np.sign(velocity) - viscous * velocity  # that engine adds friction of its own campaign
        force = force + friction["coulomb"] * np.sign(velocity) + friction["viscous"] * velocity
        return Signals(times, position, force)
    drives = {"law": "coulomb_viscous", **friction}
    pins = {**PASSIVE, "coulomb": float(task.difficulty.get("passive", 0.0)), "pin_radius": float(task.machine["pin"])}
    groups = [drives, pins] if "passive" in task.difficulty else [drives]
    force = inverse_dynamics(robot, forces=Forces(friction=groups), **motion).force
    return Signals(times, actuator_positions(robot, **motion).position, force)


def friction_of(task: Task, robot: Robot, motion: Moving) -> dict[str, float]:
    """Return dry and viscous friction of the drives, relative to the forces of the robot without friction."""
    solved = inverse_dynamics(robot, **motion)
    largest = float(np.abs(solved.force).max())
    speed = float(np.abs(solved.velocity).max())
    shares = task.settings["friction"]
    return {"coulomb": float(shares["coulomb"]) * largest, "viscous": float(shares["viscous"]) * largest / speed}


def measured(task: Task, signals: Signals, random: np.random.Generator) -> Signals:
    """Return the recording: times of a program, positions of encoders, delayed forces with noise."""
    sensors, step = task.difficulty, float(task.settings["step"])
    noise = random.normal(size=signals.force.shape)
    if "noise_time" in sensors:
        noise = coloured(noise, float(sensors["noise_time"]), step)
    force = delayed(signals.force, float(sensors.get("delay", 0.0)), step)
    force = force + noise * float(sensors["force_noise"]) * np.sqrt(np.mean(signals.force**2, axis=0))
    encoder = float(sensors["encoder"])
    position = np.round(signals.position / encoder) * encoder
    late = random.exponential(float(sensors.get("stamps", 0.0)), len(signals.time))  # a program reads samples late
    return Signals(signals.time + np.minimum(late, 0.9 * step), position, force)


def nominal_text(task: Task) -> str:
    """Return the robot as participants get it, as a robot file."""
    from robots.formats import writing

    return writing.text(describe(task.robot), "Geometry as the machine has it; its bodies differ.")
