"""The table of commands on large stores: bounds, and a store that is kept; no process is started."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.runs import scale


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    def cost(command: Sequence[str], folder: Path, root: Path = scale.ROOT) -> scale.Cost:
        (folder / "run.zarr").mkdir(exist_ok=True)
        seconds = 2.0 if command == scale.COMMANDS[scale.BOUND] else 3.0
        return scale.Cost(seconds, 1 << 20, 5.0)

    monkeypatch.setattr(scale, "cost", cost)


@pytest.mark.usefixtures("cheap")
def test_rows_have_their_time_over_that_of_the_bound(tmp_path: Path) -> None:
    names = [name for name in scale.COMMANDS if name in ("run", "status", scale.BOUND, *scale.SERIES_ONLY)]
    head, run, *rows = scale.table([2000], 10, names, [scale.ROOT, tmp_path], None)
    assert head == "2,000 designs, 10 times"
    assert run.split() == ["run", *(2 * ["3.0", "s,", "1", "MiB,", "after", "5.0", "s"])]
    assert [row.split()[:2] for row in rows] == [["plain", "Zarr"], ["status", "3.0"]]
    assert rows[1].count("1.5 x") == 2  # of both checkouts


@pytest.mark.usefixtures("cheap")
def test_a_kept_store_is_found_and_that_of_another_sweep_refused(tmp_path: Path) -> None:
    rows = [list(scale.table([2000], 10, ["run", "status"], [scale.ROOT], tmp_path)) for _ in range(2)]
    assert [len(each) for each in rows] == [3, 2]
    with pytest.raises(AssertionError, match="another sweep"):
        list(scale.table([3000], 10, ["run", "status"], [scale.ROOT], tmp_path))
