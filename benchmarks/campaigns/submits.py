"""Many runs submitted at once on one machine: they take turns, all of them end, and waiting runs take little memory.

Memory is the proportional set size of all their processes: `python -m benchmarks.campaigns.submits [--runs 50]
[--at-once 1]`.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.campaigns.crashes import HERE, is_finished, results, sweep
from benchmarks.campaigns.lines import print_lines
from pipeline.execution.processes.queue import RUNS
from pipeline.execution.submit import SubmittedRun, submit
from storage.places.access import holder

DESIGNS = 40
LOOK_SECONDS = 0.1
"""Far less than a run of so many designs holds its store."""


def campaign(folder: Path, runs: int, at_once: int) -> Iterator[str]:
    """Submit runs; yields lines of figures. Raises AssertionError where more compute at once, or one ends otherwise."""
    os.environ |= {"XDG_STATE_HOME": str(folder / "state"), RUNS: str(at_once)}
    start, stores = time.monotonic(), [folder / f"{number}.zarr" for number in range(runs)]
    submitted = [submit(sweep(DESIGNS), store, HERE) for store in stores]
    wait = sum(run.waits for run in submitted)
    yield f"{runs} runs submitted in {time.monotonic() - start:.0f} s, {wait} of them wait"
    waiting, most, together = _waiting(submitted), 0, 0
    if waiting:
        whole = sum(waiting) / 2**20
        yield f"one that waits takes {whole / len(waiting):.1f} MiB, all of them {whole:.0f} MiB"
    while not all(map(is_finished, stores)):
        assert any(_memory(run.pid) for run in submitted), "nothing runs, and not all stores are finished"
        most = max(most, sum(_memory(run.pid) for run in submitted))
        together = max(together, sum(holder(store) is not None for store in stores if store.exists()))
        assert together <= at_once, f"{together} runs at once"
        time.sleep(LOOK_SECONDS)
    hashes = {tuple(sorted(results(store).items())) for store in stores}
    assert len(hashes) == 1, f"{len(hashes)} different results of one sweep"
    seconds = time.monotonic() - start
    yield f"all ended after {seconds:.0f} s with one hash; at most {together} at once, with {most / 2**20:.0f} MiB"


def _waiting(submitted: list[SubmittedRun]) -> list[int]:
    """Return the bytes of each waiting run."""
    return [memory for run in submitted if run.waits and (memory := _memory(run.pid))]


def _memory(pid: int) -> int:
    """Return the share of a process in the memory of the machine [bytes]; 0 where it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:")), 0)


def main() -> int:
    """Run the campaign; 1 where it fails."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaigns.submits", description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--at-once", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="limbsweep-submits-") as folder:
        return print_lines(campaign(Path(folder), options.runs, options.at_once))


if __name__ == "__main__":
    sys.exit(main())
