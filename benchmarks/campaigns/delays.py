"""Bound of a test for a delay of half a sample: its size in standard deviations of the noise, by band of the forces.

    python -m benchmarks.campaigns.delays [--robots five_bar delta_3rr2rrr ur5e]

Least squares with the exact motion and model; only the part of the change of the forces outside the span of the model's
columns is visible to a test. The last column has all forces without a filter, where dry friction jumps from one sample
to the next.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.signal import butter, sosfiltfilt
from threadpoolctl import threadpool_limits

from applications.identification.estimation.machines.machine_model import MachineModel, base_of
from applications.identification.estimation.machines.recorded_motion import actuator_motion
from benchmarks.campaigns import coverage
from benchmarks.campaigns.faults import NOISE, Fault, faults, signals_of

BANDS = (5.0, 11.0, 20.0, 40.0, 100.0, np.inf)
"""Cutoffs of the forces [Hz]."""
FAULT = "all forces half a sample late"


def bounds(name: str) -> list[float]:
    """Return the size of the fault in standard deviations for each band."""
    truth = coverage.truth_of(name)
    fault: Fault = next(fault for fault in faults() if fault.name == FAULT)
    motion = actuator_motion(truth.robot, truth.moving)
    base = base_of(truth.robot, MachineModel(), lambda moving: actuator_motion(truth.robot, moving))
    matrix = base.reduced(MachineModel().matrix(truth.robot, truth.moving, motion))
    change = fault.change(truth).force - signals_of(truth).force
    noise = NOISE * np.sqrt(np.mean(truth.force**2, axis=0))
    return [_size(matrix / noise[:, None], change / noise, cutoff) for cutoff in BANDS]


def _size(matrix: np.ndarray, change: np.ndarray, cutoff: float) -> float:
    """Return the size of a change that columns do not have, both over white noise of size one, below a cutoff."""
    stride = 1
    if np.isfinite(cutoff):
        passing = butter(2, cutoff * 2.0 * coverage.STEP, output="sos")
        stride = max(1, int(0.5 / coverage.STEP / cutoff))
        matrix, change = (sosfiltfilt(passing, values, axis=0)[::stride] for values in (matrix, change))
    rows, target = matrix.reshape(-1, matrix.shape[2]), change.ravel()
    sizes = np.linalg.norm(rows, axis=0)
    rows = rows[:, sizes > 0.0] / sizes[sizes > 0.0]
    outside = target - rows @ np.linalg.lstsq(rows, target, rcond=1e-9)[0]
    # noise of rows that are kept is smaller by the band
    return float(np.linalg.norm(outside) * np.sqrt(stride))


@threadpool_limits.wrap(limits=1, user_api="blas")
def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="*", default=["five_bar", "delta_3rr2rrr", "ur5e"])
    heads = " | ".join(f"{cutoff:g} Hz" if np.isfinite(cutoff) else "all" for cutoff in BANDS)
    print(f"| robot | {heads} |\n|---|{'---:|' * len(BANDS)}")
    for name in parser.parse_args().robots:
        print(f"| `{name}` | {' | '.join(f'{size:.1f}' for size in bounds(name))} |", flush=True)


if __name__ == "__main__":
    main()
