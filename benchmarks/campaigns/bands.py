"""Bands that few rows choose, on recordings that were not used: errors by the first band and by the one that is taken.

    python -m benchmarks.campaigns.bands FOLDER [--only kr300 panda ur10e]

Each recording, or each part of the time of the first one, is for training in turn, and the errors of the others are the
forces that its parameters leave, of all in the first band: one figure with the cutoff that noise says, and one with the
cutoff that `identify` takes. FOLDER is that of `benchmarks.campaigns.recordings`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from applications.identification.estimation.machines.fitting import fit_machine, unexplained
from applications.identification.estimation.machines.machine import TRAIN, RecordedMachine
from applications.identification.estimation.machines.preparation import Signals, prepare
from applications.identification.estimation.machines.sensitivity import with_wider_band
from applications.identification.machines.description import read_description
from benchmarks.campaigns.recordings import EXAMPLES, MACHINES

PARTS = {"kr300": 1, "panda": 3, "ur10e": 4}
"""Parts of the time of the first recording, 1: all recordings as a whole."""


def part(signals: Signals, number: int, count: int) -> Signals:
    """Return a part of the time of a recording."""
    places = np.array_split(np.arange(len(signals.time)), count)[number]
    cut = signals.with_series({name: values[places] for name, values in signals.series.items()})
    return replace(cut, time=signals.time[places], name=f"part {number + 1}")


def lines(name: str, folder: Path) -> Iterator[str]:
    """Yield a row for each recording or part that is for training."""
    described = read_description(EXAMPLES / f"{name}.yaml", folder=folder / MACHINES[name].folder)
    signals, count = list(described.signals()), PARTS[name]
    if count > 1:
        signals = [part(signals[0], number, count) for number in range(count)]
    base = None
    for now in range(len(signals)):
        recordings = [replace(each, role=TRAIN if k == now else "test") for k, each in enumerate(signals)]
        prepared = tuple(prepare(each, described.preparations[0]) for each in recordings)
        machine = RecordedMachine(described.robot, described.model, prepared)
        if base is not None:
            machine.__dict__["base"] = base
        base = machine.base
        first = fit_machine(machine)
        wide = with_wider_band(machine, [True] * len(signals), "weighted")[0]
        after = unexplained(machine.runs, base, fit_machine(wide).all_values)[0]
        others = [f"{first.errors[s.name]:.1%} {after[s.name]:.1%}" for k, s in enumerate(signals) if k != now]
        cutoffs = f"{machine.recordings[now].filter[0]:.3g} | {wide.recordings[now].filter[0]:.3g}"
        yield f"| `{name}` | {signals[now].name} | {first.independent:.0f} | {cutoffs} | {', '.join(others)} |"


@threadpool_limits.wrap(limits=1, user_api="blas")
def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=list(PARTS), choices=list(PARTS))
    arguments = parser.parse_args()
    print("| machine | for training | independent rows | cutoff by noise [Hz] | cutoff taken | others: before, now |")
    print("|---|---|---:|---:|---:|---|")
    for name in arguments.only:
        print(*lines(name, arguments.folder), sep="\n", flush=True)


if __name__ == "__main__":
    main()
