"""Estimates of time of `limbsweep check` beside the time that the same sweeps take, for examples and some variants.

    python -m benchmarks.estimates [NAME ...] [--workers 2]

Each sweep is estimated first, as `check` does, then run into a store by one thread, or by worker processes that have
begun; both in processor time. Programs are compiled in this process before; each worker reads them, which is part of
its estimate. A ratio above 1 is an estimate that is too long. Variants
are longer or larger, so that they take seconds, and simulations with and without dry friction.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from distributed import Client

from pipeline.cluster.arguments import ClusterLike
from pipeline.cluster.connection import ClusterConfig, connect
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
simulation: {{step: 1.0e-3, controller: {{kind: pd_gravity, parameters: {{kp: 200.0, kd: 20.0}}}}}}
metrics: [peak_force, rms_tracking_error]
"""
SMALL = "{kind: circle, radius: 0.05, period: 0.5}"
UPRIGHT = "{kind: circle, radius: 0.05, normal: [0, 1, 0], period: 0.5}"
SWING = "{kind: harmonic, amplitude: 0.2, period: 0.5}"
SMOOTH = "{law: viscous, joints: actuated, parameters: {viscous: 0.1}}"
DRY = "{law: coulomb_viscous, joints: actuated, parameters: {coulomb: 0.5, viscous: 0.1}}"
JOINTS = (
    "{law: coulomb_viscous, joints: passive, load: reaction, parameters: {coulomb: 0.02, viscous: 0, pin_radius: 0.01}}"
)
LEVELS = "{law: coulomb_viscous, joints: actuated, grid: {coulomb: {start: 0, stop: 1, num: 200}, viscous: [0, 0.1]}}"
BRISTLES = (
    "{law: lugre, joints: actuated, parameters: "
    "{sigma0: 1.0e+4, sigma1: 1.0, coulomb: 0.5, static: 0.7, stribeck_velocity: 0.1}}"
)
LIMITS = "limits: {actuators: {all: {velocity: 20, force: 120}}}\n"
GAINS = ", gains: {grid: {kp: {start: 100, stop: 500, num: 10}, kd: {start: 5, stop: 20, num: 10}}}"
SERIES = "outputs: [actuator_force, actuator_velocity, joint_reaction, platform_position]\n"
SLOPES = "outputs: [{derivative: [peak_force, rms_force], of: [upper_arm, rod_length, payload_mass]}]\n"


FREE = """
limbsweep: 1
robot: five_bar
design: {{grid: {{payload_mass: {{start: 0, stop: 2, num: {count}}}}}}}
friction: {{law: viscous, joints: actuated, parameters: {{viscous: 0.1}}}}
time: {{stop: 0.5, step: 0.01}}
simulation: {{step: 1.0e-3, method: spanning_tree, forces: {{push: {{values: [5.0, -4.0]}}}}}}
outputs: [platform_position]
"""


def sampled(
    robot: str, count: int, metrics: str, motion: str = SMALL, friction: str = SMOOTH, step: float = 5e-3
) -> str:
    """Return the text of a sweep of given motions; `metrics` are its names, and lines of sections after them."""
    names, *lines = metrics.split("\n", 1)
    text = SAMPLED.format(robot=robot, count=count, friction=friction, motion=motion, step=step, metrics=names)
    return text + "".join(lines)


def simulated(robot: str, count: int, motion: str, friction: str = SMOOTH, settings: str = "") -> str:
    """Return the text of a sweep of simulations; `settings` are added to its section."""
    text = SIMULATED.format(robot=robot, count=count, friction=friction, motion=motion)
    gains = ", parameters: {kp: 200.0, kd: 20.0}"
    text = text.replace("step: 1.0e-3", f"step: 1.0e-3{settings}")
    return text.replace(gains, "") if "gains" in settings else text


def variants() -> Mapping[str, str]:
    """Return the texts of sweeps that are made larger, by name."""
    delta, bar, arm = "delta_rl5_1450", "five_bar", "ur5e"
    return {
        "many designs": sampled(delta, 200000, "peak_force, condition"),
        "many small designs": sampled(bar, 500000, "peak_force, condition", UPRIGHT, DRY),
        "many small arms": sampled(arm, 100000, "peak_force", SWING, DRY),
        "few long trajectories": sampled(delta, 2, "peak_force, rms_force", step=2.0e-6),
        "reactions": sampled(delta, 20000, "peak_force, peak_reaction"),
        "series": sampled(delta, 2000, "peak_force\n" + SERIES),
        "many friction sets": sampled(bar, 2000, "peak_force", UPRIGHT, LEVELS),
        "friction from reactions": sampled(delta, 5000, "peak_force", friction=JOINTS),
        "bristles": sampled(bar, 300, "peak_force", UPRIGHT, BRISTLES, 1.0e-3),
        "derivatives": sampled(delta, 1000, "peak_force\n" + SLOPES),
        "shortest cycles": sampled(bar, 40, "cycle_time\n" + LIMITS, UPRIGHT),
        "margins": sampled(delta, 50000, "actuator_margin\n" + LIMITS),
        "simulated": simulated(bar, 200, UPRIGHT),
        "simulated, dry": simulated(bar, 40, UPRIGHT, DRY),
        "simulated arm": simulated(arm, 100, SWING),
        "simulated delta": simulated(delta, 60, SMALL),
        "simulated, adaptive": simulated(bar, 50, UPRIGHT, DRY, ", tolerance: 1.0e-8"),
        "simulated, spanning tree": FREE.format(count=20),
        "simulated, gains": simulated(bar, 2, UPRIGHT, SMOOTH, GAINS),
    }


@dataclass(frozen=True)
class Workers:
    """Processes in which sweeps run: this one alone, or those of a client, which have begun."""

    cluster: ClusterLike
    client: Client | None = None

    @classmethod
    @contextmanager
    def begun(cls, count: int) -> Iterator[Workers]:
        """Begin so many worker processes, and import in them what runs import."""
        with ExitStack() as stack:
            if count == 1:
                workers = cls(ClusterConfig.of("synchronous"))
            else:
                client = stack.enter_context(connect(ClusterConfig.of("local", n_workers=count)))
                workers = cls(client, client)
            workers.run(Sweep.from_yaml(EXAMPLES / "delta.yaml"))
            yield workers

    def run(self, sweep: Sweep) -> float:
        """Run a sweep into a store, and return the seconds of the processor of all processes together."""
        with tempfile.TemporaryDirectory() as folder:
            start = self._spent()
            run(sweep, Path(folder) / "out.zarr", self.cluster, progress=False)
            return self._spent() - start

    def _spent(self) -> float:
        return time.process_time() + sum(self.client.run(time.process_time).values() if self.client else ())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--workers", type=int, default=1, help="processes of the run (default: this one alone)")
    arguments = parser.parse_args()
    sweeps = {name: lambda path=EXAMPLES / f"{name}.yaml": Sweep.from_yaml(path) for name in FILES}
    sweeps |= {name: lambda text=text: Sweep.from_text(text) for name, text in variants().items()}
    ratios: list[float] = []
    print(f"{'sweep':26s}{'estimate s':>12s}{'used s':>10s}{'ratio':>8s}{'check s':>10s}")
    with Workers.begun(arguments.workers) as workers:
        for name in arguments.names or sweeps:
            sweep, start = sweeps[name](), time.process_time()
            estimate = measured_time(sweep)
            checked = time.process_time() - start
            expected = estimate.seconds + (arguments.workers * estimate.first if arguments.workers > 1 else 0.0)
            used = workers.run(sweep)
            ratios.append(expected / used)
            print(f"{name:26s}{expected:12.2f}{used:10.2f}{ratios[-1]:8.2f}{checked:10.2f}", flush=True)
    within = sum(1 / 1.5 <= ratio <= 1.5 for ratio in ratios)
    print(f"{within} of {len(ratios)} within a factor of 1.5, median {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
