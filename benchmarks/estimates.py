"""Estimates of time of `limbsweep check` beside the time that the same sweeps take, for examples and some variants.

    python -m benchmarks.estimates [NAME ...]

Each sweep is estimated first, as `check` does, then run into a store by one thread, both in processor time of this
process, without compilation. A ratio above 1 is an estimate that is too long. Variants are longer or larger, so that
they take seconds, and simulations with and without dry friction.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from pipeline.cluster.connection import ClusterConfig
from pipeline.execution.measured_time import measured_time
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep

EXAMPLES = Path(__file__).parent.parent / "examples"
FILES = (
    *("delta", "delta_3r2us", "delta_4rr2rrr", "delta_rl5_1450", "five_bar", "gough_stewart", "hexa", "irb6"),
    *("irsbot2", "linear_delta", "orthoglide", "pick_and_place"),
)
"""Examples as they stand."""
SAMPLED = """
limbsweep: 1
robot: {robot}
design: {{sample: {{method: sobol, count: {count}, seed: 1, parameters: {{payload_mass: {{low: 0, high: 2}}}}}}}}
friction: {friction}
trajectories: {{t: {motion}}}
time: {{stop: 0.5, step: {step}}}
metrics: [{metrics}]
"""
SIMULATED = """
limbsweep: 1
robot: {robot}
design: {{grid: {{payload_mass: {{start: 0, stop: 2, num: {count}}}}}}}
friction: {friction}
trajectories: {{t: {motion}}}
time: {{stop: 0.5, step: 0.01}}
simulation: {{method: rk4, step: 1.0e-3, controller: {{kind: pd_gravity, parameters: {{kp: 200.0, kd: 20.0}}}}}}
metrics: [peak_force, rms_tracking_error]
"""
SMALL = "{kind: circle, radius: 0.05, period: 0.5}"
UPRIGHT = "{kind: circle, radius: 0.05, normal: [0, 1, 0], period: 0.5}"
SWING = "{kind: harmonic, amplitude: 0.2, period: 0.5}"
SMOOTH = "{law: viscous, joints: actuated, parameters: {viscous: 0.1}}"
DRY = "{law: coulomb_viscous, joints: actuated, parameters: {coulomb: 0.5, viscous: 0.1}}"


def variants() -> Mapping[str, str]:
    """Return the texts of sweeps that are made larger, by name."""
    dynamics, reactions = "peak_force, condition", "peak_force, peak_reaction"
    return {
        "delta, many designs": SAMPLED.format(
            robot="delta_rl5_1450", count=200000, friction=SMOOTH, motion=SMALL, step=0.005, metrics=dynamics
        ),
        "delta, reactions": SAMPLED.format(
            robot="delta_rl5_1450", count=20000, friction=SMOOTH, motion=SMALL, step=0.005, metrics=reactions
        ),
        "five-bar, many designs": SAMPLED.format(
            robot="five_bar", count=500000, friction=DRY, motion=UPRIGHT, step=0.005, metrics=dynamics
        ),
        "arm, many designs": SAMPLED.format(
            robot="ur5e", count=100000, friction=DRY, motion=SWING, step=0.005, metrics="peak_force"
        ),
        "five-bar, simulated": SIMULATED.format(robot="five_bar", count=200, friction=SMOOTH, motion=UPRIGHT),
        "five-bar, dry": SIMULATED.format(robot="five_bar", count=40, friction=DRY, motion=UPRIGHT),
        "arm, simulated": SIMULATED.format(robot="ur5e", count=100, friction=SMOOTH, motion=SWING),
        "delta, simulated": SIMULATED.format(robot="delta_rl5_1450", count=60, friction=SMOOTH, motion=SMALL),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    names = parser.parse_args().names
    sweeps = {name: lambda path=EXAMPLES / f"{name}.yaml": Sweep.from_yaml(path) for name in FILES}
    sweeps |= {name: lambda text=text: Sweep.from_text(text) for name, text in variants().items()}
    ratios: list[float] = []
    run(Sweep.from_yaml(EXAMPLES / "delta.yaml"), cluster=ClusterConfig.of("synchronous"), progress=False)  # imports
    print(f"{'sweep':24s}{'estimate s':>12s}{'used s':>10s}{'ratio':>8s}")
    for name in names or sweeps:
        sweep = sweeps[name]()
        estimate = measured_time(sweep)
        with tempfile.TemporaryDirectory() as folder:
            start = time.process_time()
            run(sweep, Path(folder) / "out.zarr", ClusterConfig.of("synchronous"), progress=False)
            used = time.process_time() - start
        ratios.append(estimate.seconds / used)
        print(f"{name:24s}{estimate.seconds:12.2f}{used:10.2f}{ratios[-1]:8.2f}", flush=True)
    within = sum(1 / 1.5 <= ratio <= 1.5 for ratio in ratios)
    print(f"{within} of {len(ratios)} within a factor of 1.5, median {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
