"""Columns of axes give what the axis gives, and take no memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pipeline.sweep.axes.columns import PartColumn, columns
from pipeline.sweep.axes.kinds import ExplicitValues, Grid, Range
from pipeline.sweep.dataset_split import DatasetSplit
from pipeline.sweep.model import Sweep

ROOT = Path(__file__).parents[4]
AXIS = Grid(("a", "b"), (Range(0.0, 1.0, 7), ExplicitValues((1.0, 2.0, 3.0))))
MEBIBYTE = 1 << 20

LARGE = """\
limbsweep: 1
robot: delta_3rr2rrr
design:
  grid:
    upper_arm: {start: 0.2, stop: 0.3, num: 1000}
    base_radius: {start: 0.14, stop: 0.2, num: 100}
    rod_length: {start: 0.7, stop: 0.8, num: 100}
trajectories: {turn: {kind: circle, period: 1.0}}
time: {stop: 0.8, samples: 2}
metrics: [peak_force]
"""
"""Ten million designs."""

MEASURE = """\
import json, resource, sys
from pathlib import Path
from pipeline.execution import contents
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from storage.places.access import locate
from storage.store import open_results
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
text = Path(sys.argv[1]).read_text()
contents.create_store(plan(Sweep.from_text(text.replace("num: 100", "num: 2"))), locate(sys.argv[2] + "_small"))
open_results(sys.argv[2] + "_small", unfinished=True)  # with all modules, which are not counted
made, before = plan(Sweep.from_text(text)), peak()
contents.create_store(made, locate(sys.argv[2]))
data = open_results(sys.argv[2], unfinished=True)
after = peak()
some = {name: data[name][1_234_567:1_234_569].values.tolist() for name in made.sweep.design.names}
expected = {name: each.tolist() for name, each in made.sweep.design.values(1_234_567, 1_234_569).items()}
print(json.dumps({"grown": after - before, "some": some, "expected": expected}))
"""


def test_columns_are_the_axis() -> None:
    whole = AXIS.values()
    found = columns(AXIS)
    assert list(found) == ["a", "b"]
    for name, column in found.items():
        assert len(column) == AXIS.size == 21
        np.testing.assert_array_equal(column[:], whole[name])
        np.testing.assert_array_equal(column[3:9], whole[name][3:9])
        assert list(column) == whole[name].tolist()
        assert column[-1] == whole[name][-1]
    assert PartColumn(DatasetSplit(0.1, 0.2), 50)[10:20] == DatasetSplit(0.1, 0.2).of(0, 50)[10:20]


@pytest.mark.parametrize(
    ("index", "message"), [(21, "a column of 21 values got index 21"), (slice(0, 9, 2), "slice with step 2; expected")]
)
def test_a_place_that_a_column_does_not_have(index: int | slice, message: str) -> None:
    with pytest.raises(IndexError, match=message):
        columns(AXIS)["a"][index]


def test_a_store_of_ten_million_designs_is_made_and_opened_in_little_memory(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(LARGE)
    command = [sys.executable, "-c", MEASURE, str(tmp_path / "s.yaml"), str(tmp_path / "s.zarr")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=300, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["grown"] < 60 * MEBIBYTE  # one coordinate alone has 76 MiB, all of them 229
    assert found["some"] == found["expected"]


def test_one_column_of_a_table_beside_the_sweep(tmp_path: Path) -> None:
    (tmp_path / "designs.csv").write_text("upper_arm,note\n0.2,1\n0.3,2\n")
    grid = LARGE[LARGE.index("design:") : LARGE.index("trajectories:")]
    text = LARGE.replace(grid, "design: {file: designs.csv, columns: [upper_arm]}\n")
    designs = Sweep.from_text(text, "f", tmp_path).design
    assert {name: column.tolist() for name, column in designs.values().items()} == {"upper_arm": [0.2, 0.3]}
