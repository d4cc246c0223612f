"""Tables of series of many designs at once: beside a table of each case by itself, and each chunk is read once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import xarray as xr

from applications.export import series_rows
from applications.export.tables import designs
from pipeline.execution.opening import open as open_store
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep
from storage.times import of_trajectory
from tests.pipeline.runs import SYNCHRONOUS

MOTION = """\
limbsweep: 1
robot: five_bar
seed: 1
design: {grid: {payload_mass: [0.0, 0.5, 1.0, 1.5, 2.0]}}
friction: {law: coulomb_viscous, joints: actuated, grid: {coulomb: [0.0, 0.5]}}
time: {stop: 0.4, step: 0.02}
trajectories:
  long: {kind: circle, radius: 0.05, normal: [0, 1, 0], period: 0.4}
  short: {kind: line_sine, amplitude: [0.04, 0, 0.02], period: 0.2, time: {stop: period, step: 0.02}}
  fine: {kind: circle, radius: 0.04, normal: [0, 1, 0], period: 0.1, time: {stop: 0.1, samples: 26}}
outputs: [actuator_position, actuator_force]
"""
SIMULATION = """\
limbsweep: 1
robot: five_bar
seed: 1
design: {grid: {payload_mass: [0.0, 0.5, 1.0]}}
trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}
simulation:
  step: 0.005
  controller: {kind: pd, space: actuator, parameters: {kd: 4.0}}
  gains: {grid: {kp: [50, 90, 120]}}
time: {stop: 0.2, step: 0.1}
outputs: [actuator_force]
"""
SPLIT = "split: {validation: 0.2, test: 0.4}\n"


def slowly(data: xr.Dataset) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the table of each case of each design by itself, as a reader would write it."""
    parts = series_rows.design_parts(data)
    dims = [dim for dim in series_rows.CASE if dim in data.sizes]
    for number in range(data.sizes["design"]):
        design = data.isel(design=number).load()
        known = series_rows.case_parts(str(parts[number]), design)
        for places in np.ndindex(*(design.sizes[dim] for dim in dims)):
            place = dict(zip(dims, places, strict=True))
            case = of_trajectory(design, place["trajectory"]).isel(
                {dim: k for dim, k in place.items() if dim in of_trajectory(design, place["trajectory"]).dims}
            )
            table: dict[str, Any] = {"time": case["time"].values}
            table |= {dim: np.full(len(table["time"]), k) for dim, k in {"design": number, **place}.items()}
            for name in ("actuator_position", "actuator_force", "status"):
                if name in case and case[name].ndim == 1:
                    table[name] = case[name].values
                elif name in case:
                    table |= {
                        f"{name}_{label}": case[name].values[:, k] for k, label in enumerate(case["actuator"].values)
                    }
            yield str(known[place["trajectory"]]), table


def joined(tables: Iterator[tuple[str, Any]]) -> dict[str, dict[str, np.ndarray]]:
    columns: dict[str, dict[str, list[np.ndarray]]] = defaultdict(lambda: defaultdict(list))
    for part, table in tables:
        for name, column in table.items():
            columns[part][name].append(column)
    return {part: {name: np.concatenate(each) for name, each in table.items()} for part, table in columns.items()}


@pytest.fixture(scope="module", params=[MOTION, MOTION + SPLIT, SIMULATION], ids=["whole", "split", "simulation"])
def data(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    path = tmp_path_factory.mktemp("series") / "s.zarr"
    run(Sweep.from_text(request.param), path, SYNCHRONOUS)
    return open_store(path)


@pytest.mark.parametrize("group", [1, 2000, 1 << 24])
def test_tables_of_groups_are_those_of_each_case(data: xr.Dataset, group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series_rows, "GROUP_BYTES", group)
    fast, slow = joined(series_rows.series_rows(data)), joined(slowly(data))
    assert {*fast} == {*slow}
    assert (len(fast) > 1) == ("design_part" in data.coords)
    for part, table in slow.items():
        assert {*fast[part]} == {*table}
        for name, column in table.items():
            np.testing.assert_array_equal(fast[part][name], column, err_msg=f"{part} {name}")


def test_designs_are_those_of_the_store_in_order(data: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series_rows, "GROUP_BYTES", 1)
    parts = series_rows.design_parts(data)
    for number, (index, part, design) in enumerate(designs(data)):
        assert (index, part) == (number, parts[number])
        xr.testing.assert_identical(design, data.isel(design=number).drop_vars("design").load())
    assert number == data.sizes["design"] - 1


def test_groups_are_whole_chunks_where_these_fit(data: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    data = data.copy()
    for variable in data.variables.values():
        if "time" in variable.dims:
            variable.encoding["chunks"] = tuple(2 if dim == "design" else 1 for dim in variable.dims)
    bytes_of_one = sum(x.nbytes for x in data.data_vars.values() if "design" in x.dims) // data.sizes["design"]
    count = data.sizes["design"]
    for designs_that_fit, step in ((1, 1), (3, 2), (4, 4), (5, 4)):
        monkeypatch.setattr(series_rows, "GROUP_BYTES", bytes_of_one * designs_that_fit)
        assert [start for start, _ in series_rows.design_groups(data)] == [*range(0, count, step)]
