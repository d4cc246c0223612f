"""Answers to the benchmark: by limbsweep's identification, and by a plain script of least squares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
from scipy.signal import butter, sosfiltfilt

import limbsweep as ls
from applications.identification.estimation import encoders
from applications.identification.estimation.machines.preparation import Signals, prepare
from applications.identification.estimation.machines.recorded_motion import robot_motion
from applications.identification.machines.description import read_description
from applications.identification.machines.identify import identify_recordings
from robots.model import Robot
from tasks.dynamics.designs import RobotDesigns
from tasks.dynamics.records import Moving
from tasks.dynamics.regressor import regressor

CUTOFF = 10.0
"""Cutoff of the plain script's filter [Hz]."""
RANK = 1e-9


def table(path: Path) -> np.ndarray:
    """Read a recording: time, positions, forces."""
    return np.loadtxt(path, delimiter=",", skiprows=1)


def by_limbsweep(folder: Path) -> np.ndarray:
    """Return the forces of the hidden motion by the parameters that `limbsweep identify` finds, as columns of forces.

    The description of the task is taken as it stands; friction of passive joints is estimated where it names it. Forces
    are those along the prepared motion, without the filter that the identification passes them through.
    """
    result = identify_recordings(read_description(folder / "recording.yaml"))
    motion = table(folder / "test.csv")
    signals = Signals("test", "test", motion[:, 0], motion[:, 1:], np.zeros_like(motion[:, 1:]))
    prepared = prepare(signals, result.description.preparations[0])
    machine = replace(result.machine, recordings=(prepared,))
    moving = robot_motion(machine.robot, prepared)
    full = replace(prepared, used=replace(prepared.used, rate=1.0 / prepared.step))  # a row for each sample
    matrix, remainder = machine.rows_of(full)(moving, (prepared.position, prepared.velocity, prepared.acceleration))
    forces = result.fit.base.reduced(matrix) @ result.fit.all_values + remainder
    row = np.arange(len(motion))
    even = np.polyval(np.polyfit(row, motion[:, 0], 1), row)  # stamps of a program are late by chance
    return np.stack([np.interp(even - motion[0, 0], prepared.time, column) for column in forces.T], axis=1)


def by_script(folder: Path) -> np.ndarray:
    """Return the forces of the hidden motion by least squares: filter, differences, regressor, friction of drives."""
    robot = ls.robots.read(folder / "robot.yaml")
    actuators = len(robot.mechanism.actuators)
    training = table(folder / "train.csv")
    matrix = _columns(robot, training[:, 0], training[:, 1 : 1 + actuators])
    step = float(np.median(np.diff(training[:, 0])))
    force = _filtered(training[:, 1 + actuators :], step)
    inner = slice(100, -100)
    values = _least_squares(matrix[inner].reshape(-1, matrix.shape[-1]), force[inner].ravel())
    test = table(folder / "test.csv")
    return _columns(robot, test[:, 0], test[:, 1 : 1 + actuators]) @ values


def _least_squares(matrix: np.ndarray, force: np.ndarray) -> np.ndarray:
    """Return the solution of least length, columns scaled to length one."""
    sizes = np.linalg.norm(matrix, axis=0)
    sizes[sizes == 0.0] = 1.0
    return np.asarray(np.linalg.lstsq(matrix / sizes, force, rcond=RANK)[0] / sizes)


def _columns(robot: Robot, time: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Return bodies' columns, shared by copies, and dry and viscous friction of each drive (time, actuator, column)."""
    step = float(np.median(np.diff(time)))
    smooth = _filtered(position, step)
    platform = robot.mechanism.platform
    start = {"position": np.asarray(platform.home.position, float)[None]}
    if any(name.startswith("w") for name in platform.mobility):
        start["rotation"] = np.asarray(platform.home.rotation, float)[None]
    design = RobotDesigns.of(robot)
    near = {name: values[None] for name, values in encoders.guesses(design, smooth, start).items()}
    motions = encoders.measured_motions(design, smooth[None], near, [slice(None)], step)
    motion = cast("Moving", {name: values[0] for name, values in motions.items()})
    bodies = regressor(robot, shared=True, **motion).matrix
    speed = np.gradient(smooth, step, axis=0)
    eye = np.eye(position.shape[1])
    friction = [eye * np.sign(speed)[:, :, None], eye * speed[:, :, None]]
    return np.concatenate([bodies, *friction], axis=2)


def _filtered(values: np.ndarray, step: float) -> np.ndarray:
    return np.asarray(sosfiltfilt(butter(4, CUTOFF * 2.0 * step, output="sos"), values, axis=0))


SOLVERS: Mapping[str, Callable[[Path], np.ndarray]] = {"limbsweep": by_limbsweep, "script": by_script}
"""Solver of each name: the folder of a task to the forces of its hidden motion (row, actuator)."""
