"""Payload of the UR10e by two programs: its mass by drive gains from elsewhere, and drive gains by its known mass.

    python -m benchmarks.campaigns.payload FOLDER

FOLDER has the files that `examples/recordings/ur10e_load.yaml` names, two pairs without and with the payload. The
script is NumPy, SciPy and Pinocchio (`independent`), its filter and friction those of the authors, ordinary least
squares; for gains it solves their equation: currents times gains less the columns of bodies and friction are the
columns of the mass times 2.805 kg. Forces are known up to the gains, so a mass that differs says that the gains do.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from applications.identification.machines.description import parse_description
from applications.identification.machines.identify import MachineIdentification, identify_recordings
from benchmarks.campaigns.independent import BODY, CURRENTS, SOURCES, JointSignals, by_numpy, by_pinocchio, rows_of

MASS = 2.805
"""Mass of the payload [kg], as its authors weighed it."""
PAIRS = ("14harm50sec", "15harm50sec")
LONGEST = 60.0
"""Longest time from the middle of a recording [s]."""
NAMES = ("base", "shoulder", "elbow", "wrist 1", "wrist 2", "wrist 3")


def _file(series: str) -> str:
    return f"ur-20_02_19_{series}"


def _identified(folder: Path, name: str, series: str) -> MachineIdentification:
    """Identify the machine of a description of the examples, from another pair of files."""
    path = Path("examples/recordings") / f"{name}.yaml"
    text = path.read_text(encoding="utf-8").replace(PAIRS[0], series)
    return identify_recordings(parse_description(text, str(path), folder=folder))


def _read(folder: Path, series: str) -> JointSignals:
    # some rows are torn: they have fewer numbers, or parts of them
    lines = (folder / f"{_file(series)}.csv").read_text().splitlines()
    width = max(line.count(",") for line in lines)
    table = np.loadtxt([line for line in lines if line.count(",") == width], delimiter=",", usecols=range(19))
    table = table[np.abs(table[:, 0] - np.median(table[:, 0])) < LONGEST]
    table = table[np.diff(np.maximum.accumulate(table[:, 0]), prepend=-np.inf) > 0]
    return JointSignals(table[:, 0], table[:, 1:7], table[:, 13:19] * CURRENTS, table[:, 7:13])


def script(folder: Path, series: str) -> tuple[float, np.ndarray]:
    """Return the mass of the payload [kg] by the authors' gains, and factors (joint,) of these by its known mass."""
    urdf = folder / "ur10e.urdf"
    matrices, forces, loads, joints = [], [], [], []
    for name, loaded in ((series, 0.0), (f"{series}Load", 1.0)):
        matrix, force, moves = rows_of(_read(folder, name), SOURCES["ur10e"], urdf, by_pinocchio)
        last = matrix[..., 5 * len(BODY) : 6 * len(BODY)]  # of the last link, which the payload is fixed to
        matrices.append(matrix[moves])
        forces.append(force[moves])
        loads.append(last[moves] * loaded)
        joints.append(np.nonzero(moves)[1])
    own, force, load = np.concatenate(matrices), np.concatenate(forces), np.concatenate(loads)
    names = [*(f"own {k}" for k in range(own.shape[1])), *BODY]
    mass = by_numpy(np.concatenate([own, load], axis=1), force, names)[0][own.shape[1]]
    driven = force[:, None] * np.eye(6)[np.concatenate(joints)]
    columns = np.concatenate([driven, -own, -load[:, 1:]], axis=1)
    factors = by_numpy(columns, load[:, 0] * MASS, [str(k) for k in range(columns.shape[1])])[0][:6]
    return float(mass), factors


def rows(folder: Path) -> Iterator[str]:
    """Yield the rows of the table."""
    for series in PAIRS:
        result = _identified(folder, "ur10e_load", series)
        mass, spread = next(row[1:] for row in result.parameters() if row[0] == "load.mass")
        gains = _identified(folder, "ur10e_gains", series).gains
        assert gains is not None, "the description asks for gains"
        factors = [f"{x:.3f} +- {d:.3f}" for x, d in zip(gains.factors, gains.deviations, strict=True)]
        yield f"| {series} | limbsweep | {mass:.2f} +- {spread:.2f} | {' | '.join(factors)} |"
        mass, others = script(folder, series)
        yield f"| {series} | script | {mass:.2f} | {' | '.join(f'{x:.3f}' for x in others)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    print(f"| files | program | mass [kg] | {' | '.join(NAMES)} |")
    print(f"|---|---|---:|{'---:|' * len(NAMES)}")
    for row in rows(parser.parse_args().folder):
        print(row, flush=True)


if __name__ == "__main__":
    main()
