"""Generating identification data by one command, and identifying many designs: time, bytes and memory."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np

from applications.export.tables import export
from applications.identification import identify as identify_module
from applications.identification.estimation.fitted import Fit
from applications.identification.identify import Identified, identify
from benchmarks.figures import Figure, Size, require
from pipeline.cluster.connection import ClusterConfig
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep
from storage.places.access import locate

FULL = 10_000
"""Robots of the full size."""
CASES = 1600
"""Cases of a robot on a trajectory whose export is told."""
MOST = 5.0
TEXT = """\
limbsweep: 1
robot: delta_3rr2rrr
seed: 1
design: {{sample: {{method: uniform, count: {robots}, parameters: {{density: {{low: 2000, high: 3000}}}}}}}}
friction: {{law: coulomb_viscous, parameters: {{coulomb: 0.3, viscous: 0.1}}}}
trajectories:
  excite: {{kind: random_fourier, count: 10, seed: 1, period: 2.0, position: 0.12, velocity: 2.0, acceleration: 25.0}}
time: {{stop: 2.0, samples: 2000}}
outputs: [actuator_position, actuator_force, measured_position, measured_force, platform_position, platform_twist,
  platform_acceleration]
measurement: {{encoder_step: 2.0e-5, force_noise: 0.05, cutoff: 50.0}}
split: {{validation: 0.1, test: 0.2}}
"""


def dataset(size: Size) -> Iterator[Figure]:
    """Make robots x 10 trajectories x 2000 samples, measured and clean; then identify one, to see that it is data.

    Raises CheckError where a sample failed, or where the identified parameters differ from the true ones by more than
    noise allows.
    """
    robots = 200 if size.full else 4
    sweep = Sweep.from_text(TEXT.format(robots=robots))
    with tempfile.TemporaryDirectory() as folder:
        store, start = Path(folder) / "data.zarr", time.perf_counter()
        data = run(sweep, store)
        seconds = time.perf_counter() - start
        stored = locate(store).used()
        require(int(data["failed_samples"].sum()) == 0, "samples of the dataset failed")
        start, used = time.perf_counter(), time.process_time()
        files = export(store, Path(folder) / "tables", "parquet")
        exported, processor = time.perf_counter() - start, time.process_time() - used
        written = sum(path.stat().st_size for path in files)
        found = identify(store, "least_squares", designs=[0]).fits[0, 0]
    worst = float(np.abs(found.scores).max())
    require(worst < MOST, f"a parameter is {worst:.1f} standard deviations off; expected less than {MOST:g}")
    samples, ratio = data["status"].size, FULL / robots
    yield Figure("samples", samples, "1", f"{robots} robots x 10 trajectories x 2000")
    yield Figure("time", seconds, "s", f"10 000 robots take {ratio * seconds / 60:.3g} min at this rate")
    yield Figure("stored", stored / 2**20, "MiB", f"{stored / samples:.3g} bytes for each sample, clean and measured")
    cases = int(data["status"].size / data.sizes["time"])
    text = f"{CASES} cases take {CASES / cases * exported:.3g} s, {CASES / cases * processor:.3g} s of processor time"
    yield Figure("export", exported, "s", f"{cases} cases as Parquet, {written / 2**20:.3g} MiB; {text}")
    yield Figure("largest error", worst, "1", "in standard deviations, one robot identified")


MANY = """\
limbsweep: 1
robot: {robot}
seed: 5
design: {{sample: {{method: sobol, count: {designs}, parameters: {{{parameters}}}}}}}
friction: {{law: coulomb_viscous, parameters: {{coulomb: 0.3, viscous: 0.2}}}}
trajectories:
  drawn: {{kind: random_fourier, count: {motions}, seed: 2, period: 2, velocity: 2, acceleration: 30, position: {size}}}
time: {{stop: 2.0, samples: {samples}}}
outputs: [actuator_position, actuator_force, measured_position, measured_force]
measurement: {{encoder_step: 2.0e-6, force_noise: 0.05, cutoff: 20}}
"""
DATASETS = {
    "five-bars, 1 motion of 101 samples": {
        "robot": "five_bar", "parameters": "proximal_length: {low: 0.5, high: 0.55}", "motions": 1, "size": 0.1,
        "samples": 101,
    },
    "planar arms, 4 motions of 201": {
        "robot": "planar_3r", "parameters": "length_1: {low: 0.4, high: 0.6}", "motions": 4, "size": 1.0,
        "samples": 201,
    },
    "Deltas, 5 motions of 201": {
        "robot": "delta_3rr2rrr", "parameters": "upper_arm: {low: 0.24, high: 0.26}", "motions": 5, "size": 0.12,
        "samples": 201,
    },
    "Deltas of one geometry, the same": {
        "robot": "delta_3rr2rrr", "parameters": "density: {low: 2000, high: 3000}", "motions": 5, "size": 0.12,
        "samples": 201,
    },
}  # fmt: skip
"""Datasets of designs, each with a geometry of its own if not said otherwise."""


def designs(size: Size) -> Iterator[Figure]:
    """Identify many designs together, and some in tasks of one; processor time a design, of further designs.

    Raises CheckError where numbers differ by more than a millionth of a deviation.
    """
    count = 640 if size.full else 16
    for name, words in DATASETS.items():
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder) / "data.zarr"
            run(Sweep.from_text(MANY.format(designs=count, **words)), store, progress=False)
            whole, used = _identified(store, range(count))
            start = _identified(store, range(count // 2))[1]
            with mock.patch.object(identify_module, "GROUP", 1):
                alone, slow = _identified(store, range(count // 8))
                slow -= _identified(store, range(count // 16))[1]
        together = (used - start) / (count - count // 2)
        require(not whole.failed and not alone.failed, f"a design of {name} has no parameters")
        worst = max(_difference(whole.fits[case], alone.fits[case]) for case in alone.fits)
        require(worst < SAME, f"{name}: apart by {worst:.1e} deviations; expected less than {SAME:g}")
        ratio = slow / (count // 8 - count // 16) / together
        words_of_ratio = f"{ratio:.3g} times less than one at a time" if size.full else "checked"
        yield Figure(
            name, together * 1e3, "ms", f"of a processor a design, {words_of_ratio}; apart {worst:.0e} deviations"
        )


SAME = 1e-6
"""Largest difference of a parameter, in standard deviations."""


def _identified(store: Path, numbers: range) -> tuple[Identified, float]:
    """Identify designs in this process; return the processor seconds, too."""
    start = time.process_time()
    answer = identify(store, designs=numbers, cluster=ClusterConfig.of("synchronous"))
    return answer, time.process_time() - start


def _difference(fit: Fit, other: Fit) -> float:
    """Return the largest difference of parameters, in standard deviations."""
    return float(np.max(np.abs(fit.values - other.values) / other.deviations))
