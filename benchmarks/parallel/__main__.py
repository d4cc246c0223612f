"""Make the benchmark of parallel robots, answer it, score answers.

    python -m benchmarks.parallel make FOLDER [--settings benchmark.yaml] [--only delta-easy]
    python -m benchmarks.parallel solve FOLDER --by limbsweep script [--only delta-easy]
    python -m benchmarks.parallel score FOLDER ANSWERS

An answer is a file ANSWERS/TASK.csv with a header and the forces of the actuators (N m or N) at the times of
FOLDER/TASK/test.csv, as many rows. The score is the root mean square of its error over that of the hidden forces, which
are clean and on time; half a second at both ends does not count. FOLDER/hidden is not to be handed on.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.ndimage import maximum_filter1d

from benchmarks.parallel.machines import (
    PASSIVE,
    SETTINGS,
    Signals,
    Task,
    clean,
    friction_of,
    measured,
    motions,
    nominal_text,
    tasks,
    true_robot,
)
from benchmarks.parallel.solvers import SOLVERS
from tasks.dynamics.regressor import standard_parameters

END = 0.5
"""Time at both ends of a motion that does not count [s]."""
NEAR = 0.1
"""Time around a reversal, where dry friction jumps [s]."""
DESCRIPTION = """\
limbsweep: 1
robot: robot.yaml
recordings: [{{files: [train.csv]}}, {{files: [validation.csv], role: validation}}]
time: {{column: t}}
position: {{columns: {positions}}}
force: {{columns: {forces}}}
preparation: {{delay: {delay}}}
model: {{friction: coulomb_viscous, offset: false, shared: true{joints}}}
"""


def make(folder: Path, task: Task) -> None:
    """Write the recordings of a task, and its hidden forces and true parameters."""
    place, hidden = folder / task.name, folder / "hidden"
    place.mkdir(parents=True)
    hidden.mkdir(exist_ok=True)
    robot, random = true_robot(task), task.random
    truth: dict[str, float] = dict(standard_parameters(robot, shared=True))
    friction: dict[str, float] = {}
    for role, times, motion in motions(task):
        friction = friction or friction_of(task, robot, motion)
        signals = clean(task, robot, times, motion, friction)
        recorded = measured(task, signals, random)
        if role == "test":
            _write(place / "test.csv", recorded, with_forces=False)
            _write(hidden / f"{task.name}.csv", signals)
        else:
            _write(place / f"{role}.csv", recorded)
    truth |= friction | {"passive": float(task.difficulty.get("passive", 0.0))}
    (hidden / f"{task.name}.json").write_text(json.dumps(truth, indent=1))
    (place / "robot.yaml").write_text(nominal_text(task), encoding="utf-8")
    (place / "recording.yaml").write_text(_description(task), encoding="utf-8")


def _description(task: Task) -> str:
    """Return the description of the recordings as limbsweep reads it; others may read it too."""
    actuators = len(task.robot.mechanism.actuators)
    names = {key: [f"{key[0]}{k + 1}" for k in range(actuators)] for key in ("positions", "forces")}
    pins = {**PASSIVE, "coulomb": 0.0, "pin_radius": float(task.machine["pin"])}
    joints = f", joints: {json.dumps(pins)}" if "passive" in task.difficulty else ""
    delay = "estimate" if "delay" in task.difficulty else "0"
    return DESCRIPTION.format(
        positions=f"[{', '.join(names['positions'])}]", forces=f"[{', '.join(names['forces'])}]", delay=delay,
        joints=joints,
    )  # fmt: skip


def _write(path: Path, signals: Signals, *, with_forces: bool = True) -> None:
    actuators = signals.position.shape[1]
    names = ["t", *(f"p{k + 1}" for k in range(actuators)), *(f"f{k + 1}" for k in range(actuators))]
    parts = [signals.time[:, None], signals.position, *([signals.force] if with_forces else [])]
    table = np.concatenate(parts, axis=1)
    np.savetxt(path, table, delimiter=",", header=",".join(names[: table.shape[1]]), comments="", fmt="%.9g")


def solve(folder: Path, solver: str, name: str) -> float:
    """Write the answer of a solver to a task, and return its seconds of processor time."""
    begin = time.process_time()
    forces = SOLVERS[solver](folder / name)
    answers = folder / "answers" / solver
    answers.mkdir(parents=True, exist_ok=True)
    header = ",".join(f"f{k + 1}" for k in range(forces.shape[1]))
    np.savetxt(answers / f"{name}.csv", forces, delimiter=",", header=header, comments="", fmt="%.9g")
    return time.process_time() - begin


def score(folder: Path, answers: Path, name: str) -> tuple[float, float]:
    """Return the error of an answer relative to the hidden forces, and that away from reversals of an actuator.

    Raises SystemExit for an answer of another shape.
    """
    hidden = np.loadtxt(folder / "hidden" / f"{name}.csv", delimiter=",", skiprows=1)
    actuators = (hidden.shape[1] - 1) // 2
    force, path = hidden[:, 1 + actuators :], answers / f"{name}.csv"
    answer = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    if answer.shape != force.shape:
        raise SystemExit(f"{path}: got {answer.shape} rows and columns; expected {force.shape}")
    inner = (hidden[:, 0] > END) & (hidden[:, 0] < hidden[-1, 0] - END)
    error, whole = ((answer - force)[inner] ** 2).ravel(), np.mean(force[inner] ** 2)
    far = ~_reversing(hidden[:, 0], hidden[:, 1 : 1 + actuators])[inner].ravel()
    return float(np.sqrt(error.mean() / whole)), float(np.sqrt(error[far].mean() / whole))


def _reversing(times: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Return which samples (time, actuator) are less than NEAR from a reversal of the actuator."""
    turned = np.diff(np.sign(np.gradient(position, times, axis=0)), axis=0, prepend=0.0) != 0.0
    width = 2 * round(NEAR / float(times[1] - times[0])) + 1
    return np.asarray(maximum_filter1d(turned.astype(np.int8), width, axis=0) > 0)


def rows(folder: Path, answers: Path) -> Iterator[str]:
    """Write the table of the scores of all answers."""
    yield from ("| task | error on the hidden forces | away from reversals |", "|---|---:|---:|")
    for path in sorted(answers.glob("*.csv")):
        whole, far = score(folder, answers, path.stem)
        yield f"| `{path.stem}` | {whole:.2%} | {far:.2%} |"


def main() -> None:
    """Execute the action of the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("make", "solve", "score"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("answers", type=Path, nargs="?")
    parser.add_argument("--settings", type=Path, default=SETTINGS)
    parser.add_argument("--by", nargs="*", choices=[*SOLVERS], default=[*SOLVERS])
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    if options.action == "score":
        print("\n".join(rows(options.folder, options.answers or options.folder / "answers" / options.by[0])))
        return
    for task in tasks(options.settings):
        if options.only and task.name not in options.only:
            continue
        if options.action == "make":
            make(options.folder, task)
            print(task.name, flush=True)
            continue
        for solver in options.by:
            seconds = solve(options.folder, solver, task.name)
            whole, far = score(options.folder, options.folder / "answers" / solver, task.name)
            print(f"| `{task.name}` | {solver} | {whole:.2%} | {far:.2%} | {seconds:.1f} s |", flush=True)


if __name__ == "__main__":
    main()
