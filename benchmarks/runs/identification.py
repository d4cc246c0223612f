"""Generating identification data by one command: time, bytes and memory; the full size is 10 000 robots."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from applications.export.tables import export
from applications.identification.identify import identify
from benchmarks.figures import Figure, Size, require
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
