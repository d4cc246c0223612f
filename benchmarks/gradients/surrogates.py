"""Surrogates of a Delta's store: error by the number of designs, with derivatives and without, and designs a second.

`python -m benchmarks.gradients.surrogates [--torch] [--points N ...]`; times are processor seconds of a call, those of
all threads together.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import xarray as xr

import limbsweep as ls
from benchmarks.figures import heading, surroundings

SWEEP = """
limbsweep: 1
robot: delta_3rr2rrr
design:
  sample:
    method: sobol
    count: 1024
    seed: 1
    parameters:
      upper_arm: {low: 0.24, high: 0.3}
      rod_length: {low: 0.8, high: 0.95}
      base_radius: {low: 0.14, high: 0.18}
      payload_mass: {low: 0.5, high: 2.0}
friction: {law: coulomb_viscous, joints: actuated, parameters: {coulomb: 0.1, viscous: 0.02}}
trajectories: {line: {kind: line_sine, amplitude: [0.1, 0.15, 0.05], period: 1.0, phase: 0.4}}
time: {stop: 1.0, step: 0.02}
outputs:
  - {derivative: [rms_force, peak_force, condition], of: [upper_arm, rod_length, base_radius, payload_mass]}
"""
COLUMNS = ("rms_force", "peak_force", "condition")
POINTS = (30, 60, 120, 240)
DESIGNS = 10**6


def rows(ds: xr.Dataset, points: int) -> list[str]:
    """Return the rows of a number of designs that surrogates are fitted to."""
    plain = ds.drop_vars([name for name in ds.data_vars if "derivative" in str(name)])
    result = []
    for text in COLUMNS:
        both = [ls.study.surrogate(part, text, points=points).columns[0].error for part in (ds, plain)]
        shares = " | ".join(f"{error.share:.1e}" for error in both)
        result.append(f"| {text} | {points} | {shares} | {both[0].gradient:.1e} | {both[0].covered:.0%} |")
    return result


def seconds(function: Callable[[np.ndarray], object], designs: np.ndarray) -> float:
    """Return the processor seconds of a call with many designs, the best of three."""
    taken = []
    for _ in range(3):
        start = time.process_time()
        function(designs)
        taken.append(time.process_time() - start)
    return min(taken)


def main() -> None:
    """Print the table and the speeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch", action="store_true", help="Also as modules of PyTorch.")
    parser.add_argument("--points", nargs="+", type=int, default=POINTS, help="Designs that surrogates are fitted to.")
    options = parser.parse_args()
    print(heading(surroundings()))
    with tempfile.TemporaryDirectory() as folder:
        sweep = ls.Sweep.from_text(SWEEP)
        ds = ls.run(sweep, Path(folder) / "s.zarr", cluster=ls.ClusterConfig.of("synchronous")).load()
    print("| column | designs | rms error / deviation | the same, values alone | gradient | within 2 deviations |")
    print("|---|---|---|---|---|---|")
    for points in options.points:
        print("\n".join(rows(ds, points)), flush=True)
    for points in options.points:
        model = ls.study.surrogate(ds, "rms_force", points=points)
        designs = np.random.default_rng(1).uniform(model.low, model.high, (DESIGNS, len(model.names)))
        rate = DESIGNS / seconds(model, designs)
        print(f"{points} designs: {rate:.3g} designs per processor second with NumPy", flush=True)
        if options.torch:
            print(f"{points} designs: {_of_torch(model, designs)}", flush=True)


def _of_torch(model: ls.study.Surrogate, designs: np.ndarray) -> str:
    """Return the speeds of a module of PyTorch, with and without derivatives, and in single precision."""
    import torch

    module = ls.torch.surrogate(model)

    def values(table: np.ndarray) -> None:
        with torch.no_grad():
            for part in torch.from_numpy(table).split(1 << 15):
                module(part.to(module.low.dtype))

    double = len(designs) / seconds(values, designs)
    module = module.to(torch.float32)
    single = len(designs) / seconds(values, designs)
    return f"{double:.3g} designs per processor second with PyTorch, {single:.3g} in single precision"


if __name__ == "__main__":
    main()
