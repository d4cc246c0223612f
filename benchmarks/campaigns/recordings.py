"""Identification of public recordings, compared with published results and with other programs.

    python -m benchmarks.campaigns.recordings FOLDER [--only emps tx40 ur10e kr300 panda simulated] [--figaroh]
        [--reports REPORTS]

FOLDER holds the folders emps, staubli_tx40, ur10e, kr300 and panda with the files that `examples/recordings` names.
Each machine is identified in a process of its own, once with the defaults of `limbsweep identify`, and once with the
filter and the rate of rows of its publication, if these are known. Samples at rest count, except for UR10e, whose
authors cut them off. A script of NumPy, SciPy and Pinocchio identifies the same files, see
`benchmarks.campaigns.independent`: errors are those of each file, of each fifth of the time by parameters from the
others, and of bodies near the robot's. Then the script, and with `--figaroh` FIGAROH where it is installed, identify
the same files with the same filter as limbsweep, and an arm that is simulated by Pinocchio: ordinary least squares
each.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from applications.identification.estimation.machines.choices import Preparation
from applications.identification.estimation.machines.fitting import cross_validated
from applications.identification.machines.description import read_description
from applications.identification.machines.identify import identify_recordings
from applications.identification.machines.page import save_page
from benchmarks.campaigns.independent import BODY, SOURCES, WAYS, JointSignals, Published, fitted, plain_row

EXAMPLES = Path(__file__).parents[2] / "examples" / "recordings"
INERTIAL = 10
SIMULATED = (0.4, 2.0, 3.0, 0.5)
"""Armature, dry friction, viscous friction and offset of all joints of the arm that is simulated."""


@dataclass(frozen=True)
class Recorded:
    """A machine: folder of its files, preparation in its publication, and the published figures in words."""

    folder: str
    published: Preparation | None = None
    figures: str = ""


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
    "kr300": Recorded("kr300"),
    "panda": Recorded("panda"),
}


def identified(folder: Path, name: str, preparation: Preparation | None, report: Path | None) -> tuple[str, list[str]]:
    """Return the cells of a table, and the estimated parameters of a small machine; write a report on request."""
    started = time.perf_counter()
    description = read_description(EXAMPLES / f"{name}.yaml", folder=folder / MACHINES[name].folder)
    if preparation is not None:
        description = replace(description, preparations=(preparation,) * len(description.recordings))
    result = identify_recordings(description)
    spent = time.perf_counter() - started
    errors = [f"{recording.role} {result.fit.errors[recording.name]:.2%}" for recording in result.machine.recordings]
    errors.append(f"fifths {cross_validated(result.machine, result.fit):.2%}")
    if result.standard.converged:
        errors.append(f"bodies near the robot's {', '.join(f'{x:.2%}' for x in result.standard.errors.values())}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if report is not None:
        save_page(result, report)
    rows = f"{result.fit.rows} | {result.fit.base.count} | {'; '.join(errors)}"
    few = list(result.parameters()) if result.fit.base.count < INERTIAL else []
    return (
        f"{rows} | {result.fit.condition:.0f} | {spent:.1f} | {memory:.0f}",
        [f"{text}: {value:.6g} +- {deviation:.2g}" for text, value, deviation in few],
    )


def alone(*arguments: object) -> tuple[str, list[str]]:
    """Run `identified` in a process of its own, and return its result and its memory."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(identified, arguments)


def simulated(folder: Path, urdf: Path) -> dict[str, float]:
    """Write two recordings of a machine that there is not, and its description; its true parameters by name.

    The arm of a URDF file on Fourier series, forces by Pinocchio, with friction, offsets, drives, and noise of 2 %.
    """
    import pinocchio

    model = pinocchio.buildModelFromUrdf(str(urdf))
    data, random = model.createData(), np.random.default_rng(5)
    joints, names = model.nv, list(model.names)[1:]
    known = dict(zip(("armature", "coulomb", "viscous", "offset"), SIMULATED, strict=True))
    t = np.arange(0.0, 20.0, 1e-3)
    for file in ("train.csv", "test.csv"):
        q, qd, qdd = np.zeros((3, len(t), joints))
        for k in range(1, 6):
            omega = 2.0 * np.pi * 0.1 * k
            sine, cosine = random.normal(size=(2, joints)) * 0.6 / k
            turn = omega * t[:, None]
            q += sine * np.sin(turn) + cosine * np.cos(turn)
            qd += omega * (sine * np.cos(turn) - cosine * np.sin(turn))
            qdd -= omega**2 * (sine * np.sin(turn) + cosine * np.cos(turn))
        forces = np.array([pinocchio.rnea(model, data, *state) for state in zip(q, qd, qdd, strict=True)])
        forces += known["armature"] * qdd + known["coulomb"] * np.sign(qd) + known["viscous"] * qd + known["offset"]
        forces += random.normal(size=forces.shape) * 0.02 * np.sqrt(np.mean(forces**2, axis=0))
        np.savetxt(folder / file, np.column_stack([t, q, forces]), delimiter=",", fmt="%.12g")
    shutil.copy(urdf, folder / "arm.urdf")
    columns = [list(range(start, start + joints)) for start in (2, 2 + joints)]
    (folder / "arm.yaml").write_text(
        "limbsweep: 1\nrobot: arm.urdf\n"
        "recordings: [{files: [train.csv], role: train}, {files: [test.csv], role: test}]\n"
        f"time: {{column: 1}}\nposition: {{columns: {columns[0]}}}\nforce: {{columns: {columns[1]}}}\n"
    )
    links = [next(f.name for f in model.frames if f.parentJoint == k and f.type == pinocchio.BODY)
             for k in range(1, model.njoints)]  # fmt: skip
    truth = {f"{name}.{key}": value for name in names for key, value in known.items()}
    for link, inertia in zip(links, model.inertias[1:], strict=True):
        truth |= {f"{link}.{key}": x for key, x in zip(BODY, inertia.toDynamicParameters().tolist(), strict=True)}
    return truth


def read_simulated(folder: Path) -> list[JointSignals]:
    """Read the files that `simulated` has written."""
    tables = [np.loadtxt(folder / name, delimiter=",") for name in ("train.csv", "test.csv")]
    joints = (tables[0].shape[1] - 1) // 2
    return [JointSignals(t[:, 0], t[:, 1 : 1 + joints], t[:, 1 + joints :]) for t in tables]


def compared(
    name: str, path: Path, folder: Path, source: Published, programs: Sequence[str], truth: dict[str, float]
) -> Iterator[str]:
    """Yield the lines of a table: limbsweep and other programs on the same files, and their parameters' differences.

    All by ordinary least squares with the published filter. Differences of base parameters are over the
    standard deviations of limbsweep; of simulations also those from the truth.
    """
    described = read_description(path, folder=folder, method="least_squares")
    preparation = Preparation(
        cutoff=source.cutoff, order=source.order, rate=source.rate, rest=source.rest, outliers=0.0
    )
    description = replace(described, preparations=(preparation,) * len(described.recordings))
    identify_recordings(description)  # compiles code for the second call
    result = identify_recordings(description)
    fit, base = result.fit, result.machine.base
    columns = [column.name for column in result.machine.columns]
    spent = sum(result.seconds[stage] for stage in ("read", "prepare", "fit"))

    def row(program: str, rows: int, rank: int, values: np.ndarray, errors: Iterable[float], seconds: str) -> str:
        apart = float(np.abs((values - fit.values) / fit.deviations).max())
        off = ""
        if truth:
            exact = base.of([truth.get(column, 0.0) for column in columns])[list(fit.kept)]
            off = f"{np.mean(np.abs((values - exact) / fit.deviations) < 2.0):.0%}"
        shares = ", ".join(f"{error:.2%}" for error in errors)
        between = "" if program == "limbsweep" else f"{apart:.2g}"
        return f"| `{name}` | {program} | {rows} | {rank} | {shares} | {between} | {off} | {seconds} |"

    whole = f"{spent:.1f} ({sum(result.seconds.values()):.1f} with checks, consistent bodies and tests)"
    yield row("limbsweep", fit.rows, len(fit.kept), fit.values, fit.errors.values(), whole)
    for program in programs:
        with TemporaryDirectory() as scratch:
            other = fitted(source, folder, Path(scratch), program)
        values = base.of([other.values.get(column, 0.0) for column in columns])[list(fit.kept)]
        yield row(program, other.rows, other.rank, values, other.errors, f"{other.seconds:.1f}")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=[*MACHINES, "simulated"])
    parser.add_argument("--figaroh", action="store_true")
    parser.add_argument("--reports", type=Path, help="folder for a report of each machine")
    arguments = parser.parse_args()
    print("| machine | preparation | rows | base | not explained | condition | s | MiB |")
    print("|---|---|---:|---:|---|---:|---:|---:|")
    if arguments.reports:
        arguments.reports.mkdir(parents=True, exist_ok=True)
    few: list[str] = []
    for name in (name for name in arguments.only if name in MACHINES):
        published = MACHINES[name].published
        for text, preparation in [("limbsweep's", None), *([("published", published)] if published else [])]:
            page = arguments.reports / f"{name}.html" if arguments.reports and preparation is None else None
            cells, values = alone(arguments.folder, name, preparation, page)
            print(f"| `{name}` | {text} | {cells} |", flush=True)
            few += values
        for text, is_weighted in WAYS.items():
            print(plain_row(name, arguments.folder / MACHINES[name].folder, text, is_weighted), flush=True)
        if MACHINES[name].figures:
            print(f"| `{name}` | figures published: {MACHINES[name].figures} | | | | | | |", flush=True)
    print("\n".join(["", *few, ""]))
    print("| machine | program | rows | parameters | not explained | apart, deviations | within 2 of truth | s |")
    print("|---|---|---:|---:|---|---:|---:|---|")
    for name in arguments.only:
        # the regressor of FIGAROH wants more than one joint
        programs = ["NumPy and Pinocchio", *(["FIGAROH"] if arguments.figaroh and name != "emps" else [])]
        if name in MACHINES:
            folder = arguments.folder / MACHINES[name].folder
            lines = compared(name, EXAMPLES / f"{name}.yaml", folder, SOURCES[name], programs, {})
            print(*lines, sep="\n", flush=True)
        else:
            with TemporaryDirectory() as scratch:
                truth = simulated(Path(scratch), arguments.folder / MACHINES["ur10e"].folder / "ur10e.urdf")
                source = Published(read_simulated, "arm.urdf", 10.0)
                lines = compared(name, Path(scratch) / "arm.yaml", Path(scratch), source, programs, truth)
                print(*lines, sep="\n", flush=True)


if __name__ == "__main__":
    main()
