"""Identification of three public recordings beside what was published of them, and beside other programs.

    python -m benchmarks.campaigns.recordings FOLDER [--only emps tx40 ur10e] [--figaroh]

FOLDER holds the folders emps, staubli_tx40 and ur10e with the files that `examples/recordings` names. Each machine is
identified twice, in a process of its own: as `limbsweep identify` does where nothing is said, and with the filter and
the rate of rows of those who published it, rest counted but for UR10e, whose authors cut it off. Then a script of
NumPy, SciPy and Pinocchio, and with `--figaroh` FIGAROH where it is installed, take the same motions and forces:
ordinary least squares each.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.linalg import qr
from scipy.signal import butter, sosfiltfilt

from pipeline.identification.machines.description import read_description
from pipeline.identification.machines.identify import identify_recordings
from tasks.identification.machines.fitting import fit_machine
from tasks.identification.machines.machine import RecordedMachine
from tasks.identification.machines.preparation import Preparation
from tasks.identification.machines.rows import Run

EXAMPLES = Path(__file__).parents[2] / "examples" / "recordings"
INERTIAL = 10
RANK = 1e-7
"""Least part of its length that a column has of its own, to count as independent."""


@dataclass(frozen=True)
class Recorded:
    """A machine: folder of its files, preparation of those who published it, and their figures in words."""

    folder: str
    published: Preparation
    figures: str


MACHINES = {
    "emps": Recorded(
        "emps",
        Preparation(cutoff=100.0, rest=0.0),
        "95.1089 kg, 203.5034 N s/m, 20.3935 N, -3.1648 N",
    ),
    "tx40": Recorded(
        "staubli_tx40", Preparation(cutoff=100.0, rate=500.0, rest=0.0), "61 base parameters, 12.19 % by least squares"
    ),
    "ur10e": Recorded(
        "ur10e",
        Preparation(cutoff=7.5, order=5, rate=100.0),
        "40 base parameters without friction, 4.3 to 4.5 % train, 5.0 % validation",
    ),
}


def identified(folder: Path, name: str, preparation: Preparation | None) -> tuple[str, list[str]]:
    """Cells of a table, and the estimated parameters of a machine that has few."""
    started = time.perf_counter()
    description = read_description(EXAMPLES / f"{name}.yaml", folder=folder / MACHINES[name].folder)
    if preparation is not None:
        description = replace(description, preparation=preparation)
    result = identify_recordings(description)
    spent = time.perf_counter() - started
    errors = [f"{recording.role} {result.fit.errors[recording.name]:.2%}" for recording in result.machine.recordings]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows = f"{result.fit.rows} | {result.fit.base.count} | {', '.join(errors)}"
    few = list(result.parameters()) if result.fit.base.count < INERTIAL else []
    return (
        f"{rows} | {result.fit.condition:.0f} | {spent:.1f} | {memory:.0f}",
        [f"{text}: {value:.6g} +- {deviation:.2g}" for text, value, deviation in few],
    )


def alone(*arguments: object) -> tuple[str, list[str]]:
    """What `identified` gives in a process of its own, whose memory is that of nothing else."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(identified, arguments)


Matrix = Callable[[str, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""URDF and positions, velocities, accelerations of joints: inertial columns (samples, joint, column)."""


def by_pinocchio(urdf: str, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Columns of bodies by Pinocchio."""
    import pinocchio

    model = pinocchio.buildModelFromUrdf(urdf)
    data = model.createData()
    return np.stack(
        [pinocchio.computeJointTorqueRegressor(model, data, *state) for state in zip(q, qd, qdd, strict=True)]
    )


def by_figaroh(urdf: str, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Columns of bodies by FIGAROH."""
    from figaroh.tools.regressor import build_regressor_basic
    from figaroh.tools.robot import load_robot

    robot = load_robot(urdf)
    samples, joints = q.shape
    matrix = build_regressor_basic(robot, q, qd, qdd, {"is_joint_torques": True})
    return np.asarray(matrix).reshape(joints, samples, -1).transpose(1, 0, 2)


def independent_fit(machine: RecordedMachine, urdf: str, bodies: Matrix) -> tuple[dict[str, float], list[np.ndarray]]:
    """Friction, offsets and predicted forces of all recordings by ordinary least squares without our regressors."""
    names, training = machine.robot.mechanism.actuators, machine.of("train")
    drives = [] if machine.model.drives is None else [row / abs(row).max() for row in machine.model.drives]
    drives = [row for row in drives if np.count_nonzero(row) > 1]

    def rows(run: Run) -> np.ndarray:
        q, qd, qdd = run.thin.position, run.thin.velocity, run.thin.acceleration
        count = q.shape[1]
        parts = [bodies(urdf, q, qd, qdd)]
        for shape in (qdd, np.sign(qd), qd, np.ones_like(qd)):
            parts.append(shape[:, :, None] * np.eye(count))
        for row in drives:
            motions = (qdd @ row, np.sign(qd @ row), qd @ row)
            parts.append(np.stack([motion[:, None] * row for motion in motions], axis=2))
        used = run.thin.used
        assert used.cutoff is not None
        sections = butter(used.order, used.cutoff, fs=1.0 / run.thin.step, output="sos")
        padding = 3 * (2 * len(sections) + 1) * max(1, round(0.1 / (used.cutoff * run.thin.step)))
        matrix = sosfiltfilt(sections, np.concatenate(parts, axis=2), axis=0, padlen=min(padding, len(q) - 1))
        return np.asarray(matrix[run.numbers])

    matrices = [rows(run) for run in machine.runs]
    stacked = np.concatenate([m[r.good] for m, r in zip(matrices, machine.runs, strict=True) if r in training])
    forces = np.concatenate([run.forces[run.good] for run in training])
    sizes = np.linalg.norm(stacked, axis=0)
    moved = np.flatnonzero(sizes > RANK * sizes.max())
    # friction first, so that what it is does not depend on which columns of bodies are kept
    labels = [*([""] * INERTIAL * len(names)), *([""] * len(names))]
    labels += [f"{name}.{key}" for key in ("coulomb", "viscous", "offset") for name in names]
    moved = np.array(sorted(moved, key=lambda k: not (k < len(labels) and labels[k])))
    triangle = np.abs(np.diag(qr(stacked[:, moved] / sizes[moved], mode="r")[0]))
    kept = moved[triangle > RANK]
    values = np.linalg.lstsq(stacked[:, kept] / sizes[kept], forces, rcond=None)[0] / sizes[kept]
    known = {labels[k]: float(x) for k, x in zip(kept, values, strict=True) if k < len(labels) and labels[k]}
    return known, [matrix[:, :, kept] @ values for matrix in matrices]


def compared(folder: Path, name: str, programs: Sequence[str]) -> Iterator[str]:
    """Lines of a table: other programs on the same rows, largest differences of forces and of friction, seconds."""
    known = MACHINES[name]
    described = read_description(EXAMPLES / f"{name}.yaml", folder=folder / known.folder, method="least_squares")
    description = replace(described, preparation=known.published)
    started = time.perf_counter()
    machine = identify_recordings(description).machine
    whole = time.perf_counter() - started
    fresh = RecordedMachine(machine.robot, machine.model, machine.recordings)
    started = time.perf_counter()
    fit = fit_machine(fresh, "least_squares")
    spent = time.perf_counter() - started
    yield f"| `{name}` | limbsweep | {fit.rows} | {len(fit.kept)} | | | {spent:.2f} (all of `identify` {whole:.1f}) |"
    names = [fit.base.names[fit.base.independent[k]] for k in fit.kept]
    ours = dict(zip(names, fit.values.tolist(), strict=True))
    assert description.robot_file is not None
    urdf = str(folder / known.folder / description.robot_file)
    for program in programs:
        started = time.perf_counter()
        friction, forces = independent_fit(fresh, urdf, by_figaroh if program == "FIGAROH" else by_pinocchio)
        spent = time.perf_counter() - started
        size = max(float(np.abs(run.forces).max()) for run in fresh.runs)
        off = max(
            float(np.abs(fit.predicted(run) - other)[run.good].max())
            for run, other in zip(fresh.runs, forces, strict=True)
        )
        shared = [key for key in friction if key in ours]
        worst = max(abs(friction[key] - ours[key]) / max(abs(ours[key]), 1e-3) for key in shared)
        yield f"| `{name}` | {program} | {fit.rows} | | {off / size:.1e} | {worst:.1e} | {spent:.2f} |"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=list(MACHINES))
    parser.add_argument("--figaroh", action="store_true")
    arguments = parser.parse_args()
    print("| machine | preparation | rows | base | not explained | condition | s | MiB |")
    print("|---|---|---:|---:|---|---:|---:|---:|")
    few: list[str] = []
    for name in arguments.only:
        for text, preparation in (("limbsweep's", None), ("published", MACHINES[name].published)):
            cells, values = alone(arguments.folder, name, preparation)
            print(f"| `{name}` | {text} | {cells} |", flush=True)
            few += values
        print(f"| `{name}` | figures published: {MACHINES[name].figures} | | | | | | |", flush=True)
    print("\n".join(["", *few, ""]))
    print("| machine | program | rows | parameters | forces differ | friction differs | s |")
    print("|---|---|---:|---:|---:|---:|---:|")
    programs = ["NumPy and Pinocchio", *(["FIGAROH"] if arguments.figaroh else [])]
    for name in arguments.only:
        if name != "emps":
            for line in compared(arguments.folder, name, programs):
                print(line, flush=True)


if __name__ == "__main__":
    main()
