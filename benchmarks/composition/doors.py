"""Doors of the table: what is done with a sweep or its results, each with the check that the answer is right."""

from __future__ import annotations

import contextlib
import csv
import json
import shutil
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import dask
import numpy as np
import xarray as xr
from click.testing import CliRunner

import limbsweep as ls
from applications.commands.cli import cli
from benchmarks.composition import slow
from benchmarks.composition.case import (
    SYNCHRONOUS,
    Case,
    NoMeaningError,
    require_equal,
    require_near,
    require_same,
)
from benchmarks.composition.features import rule_of
from benchmarks.figures import require
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError, RunStoppedError
from pipeline.execution import submit as submitted_run
from pipeline.monitor.log import BlockDone
from pipeline.plan import model, plan
from pipeline.sweep.user_metrics import with_metrics

Door = Callable[[Case], None]

CASES = ("friction", "trajectory", "gains", "state")
"""Dims of the cases of a design, in the order of tables."""


def command(*words: object) -> str:
    """Run a command line and return what it prints. Raises InputError where it refuses, CheckError for other ends."""
    done = CliRunner().invoke(cli, [str(word) for word in words], prog_name="limbsweep")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    if done.exit_code == 2:
        raise RefusedError(done.stderr or done.output)
    require(done.exit_code == 0, f"limbsweep {words[0]} ended with {done.exit_code}: {done.output[-300:]}")
    return done.output


class RefusedError(Exception):
    """A refusal by the command line, with its message."""


# running


def check(case: Case) -> None:
    """Check that the plan states the sizes of the results."""
    text = command("check", case.file)
    for dim, size in case.sweep.sizes.items():
        require(f"{size:,}" in text, f"limbsweep check does not say {size} of {dim}")


def compute(case: Case) -> None:
    """Check that the results in memory are those of the slow path."""
    slow.check(case)


def run(case: Case) -> None:
    """Check that a store has the bits of results in memory."""
    require_equal(ls.open(case.store).load(), case.results, "run")


def lazy(case: Case) -> None:
    """Check that lazy results have the bits of others."""
    if case.own:
        raise NoMeaningError("lazy takes no metrics of a user's own")
    with dask.config.set(scheduler="synchronous"):
        require_equal(ls.lazy(case.sweep).load(), case.results, "lazy")


def to_zarr(case: Case) -> None:
    """Check that lazy results, chunked anew and written by xarray, have the bits of others."""
    if case.own:
        raise NoMeaningError("lazy takes no metrics of a user's own")
    path = case.folder / "other.zarr"
    with dask.config.set(scheduler="synchronous"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Zarr, about texts in its third format
        ls.lazy(case.sweep).chunk({"design": 2}).to_zarr(path, consolidated=False)
        written = xr.open_zarr(path, consolidated=False, decode_times=False).load()
    require_equal(written, case.results, "to_zarr")


@contextlib.contextmanager
def finely() -> Iterator[None]:
    """Make plans of many blocks: one design on one trajectory each."""
    small = {"SMALL_BLOCK": 1, "WANTED_BLOCKS": 10**9, "FRICTION_SAMPLES": 1}
    with contextlib.ExitStack() as stack:
        for name, value in small.items():
            stack.enter_context(mock.patch.object(plan, name, value))
        stack.enter_context(mock.patch.object(model, "MAX_FILES", 10**9))
        yield


def resume(case: Case) -> None:
    """Check that a run stopped after its first block continues and ends with the same bits, however it is cut."""
    path = case.folder / "stopped.zarr"

    def stop(event: object) -> None:
        if isinstance(event, BlockDone):
            raise KeyboardInterrupt

    with finely():
        with contextlib.suppress(KeyboardInterrupt, RunStoppedError):
            ls.run(case.sweep, path, SYNCHRONOUS, (stop,), metrics=case.own, progress=False)
        ls.run(case.sweep, path, SYNCHRONOUS, metrics=case.own, progress=False)
    require_equal(ls.open(path).load(), case.results, "resume")


def submit(case: Case) -> None:
    """Check that a run in a process of its own, in tasks for limbs, has the bits of others."""
    path = case.folder / "submitted.zarr"
    submitted_run.submit(with_metrics(case.sweep, case.own) if case.own else case.sweep, path, SYNCHRONOUS, "limb")
    last = time.monotonic() + 120.0
    while (state := ls.status(path)).done < state.blocks and time.monotonic() < last:
        time.sleep(0.2)
    require(state.done == state.blocks, f"submit: {state.done} of {state.blocks} blocks are done")
    require_equal(ls.open(path).load(), case.results, "submit")


def robots_list(case: Case) -> None:
    """Check that a robot with sections of its own, in a list of robots, has the bits of one alone."""
    content = parse_yaml(case.file.read_text(encoding="utf-8"), "sweep").data
    own = {key: content.pop(key) for key in ("design", "limits", "parameters") if key in content}
    del content["robot"]
    path, name = case.folder / "robots.yaml", case.machine.source
    if case.machine.file:
        name = "robot.yaml"
        shutil.copy(case.machine.source, case.folder / name)
    path.write_text(json.dumps({**content, "robots": {name: own}}), encoding="utf-8")
    (sweep,) = ls.read_sweeps(path)
    require_equal(ls.compute(sweep, metrics=case.own, progress=False), case.results, "robots list")


def append(case: Case) -> None:
    """Check that a store that grows by designs has the bits of the whole."""
    if case.own:
        raise NoMeaningError("append takes no metrics of a user's own")
    design = case.content.get("design", {})
    name, values = next(iter(design.get("grid", {}).items()), ("", []))
    first = values["values"] if isinstance(values, dict) else values
    if "file" in design or "list" in design or "sample" in design or len(first) < 2:
        raise NoMeaningError("no grid of designs to be longer")
    less = {**values, "values": first[:-1]} if isinstance(values, dict) else first[:-1]
    short = replace(case, changes={**case.changes, "design": {**design, "grid": {**design["grid"], name: less}}})
    path = case.folder / "grown.zarr"
    ls.run(short.sweep, path, SYNCHRONOUS, progress=False)
    ls.append(path, case.sweep, SYNCHRONOUS)
    require_equal(ls.open(path).load(), case.results, "append")


def verify(case: Case) -> None:
    """Check that a store is sound."""
    require(ls.verify(case.store).is_sound, "verify has findings")


def recompute(case: Case) -> None:
    """Compute each block again, and compare it with the store."""
    if case.own:
        raise NoMeaningError("a store does not keep metrics of a user's own")
    found = ls.verify(case.store, 1.0, cluster=SYNCHRONOUS)
    require(found.is_sound and len(found.recomputed) > 0, f"recompute has findings {found.findings[:1]}")


# exports


def _exported(case: Case, form: str) -> Path:
    folder = case.folder / form
    require(len(ls.export(case.store, folder, form)) > 0, "no files")
    return folder


def _rows(folder: Path, ending: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each table of a folder."""
    if ending == "csv":
        tables = {}
        for path in folder.glob("*.csv"):
            with path.open(newline="", encoding="utf-8") as file:
                tables[path.stem] = list(csv.DictReader(file))
        return tables
    from pyarrow import parquet

    return {path.stem: parquet.read_table(path).to_pylist() for path in folder.glob("*.parquet")}


def _tables(case: Case, ending: str, form: str) -> None:
    """Check that tables have every number of the series and metrics once, at its place."""
    tables, data = _rows(_exported(case, form), ending), case.results
    metrics = tables.pop("metrics", [])
    beside = ("designs", "friction", "trajectories", "gains", "states")
    samples = [row for name, rows in tables.items() if name not in beside for row in rows]
    series = [name for name, x in data.data_vars.items() if "time" in x.dims]
    others = [name for name, x in data.data_vars.items() if "time" not in x.dims and "design" in x.dims]
    _require_rows(data, series, samples, ("design", *CASES, "time"), f"{form}: samples")
    _require_rows(data, others, metrics, ("design", *CASES), f"{form}: metrics")


def _require_rows(
    data: xr.Dataset, names: list[Any], rows: list[dict[str, Any]], dims: tuple[str, ...], what: str
) -> None:
    dims = tuple(dim for dim in dims if any(dim in data[name].dims for name in names))
    count = int(np.prod([data.sizes[dim] for dim in dims])) if names else 0
    if {"trajectory", "time"} <= {*dims} and "trajectory_samples" in data:  # trajectories with times of their own
        whole = data.sizes["trajectory"] * data.sizes["time"]
        count = count // whole * int(data["trajectory_samples"].sum())
    require(len(rows) == count, f"{what}: got {len(rows)} rows; expected {count}")
    for row in rows[:: max(1, len(rows) // 7)]:
        at = {dim: int(row[dim]) for dim in dims if dim != "time"}
        if "time" in dims:
            times = data["time"].isel({dim: k for dim, k in at.items() if dim in data["time"].dims}).values
            at["time"] = int(np.nanargmin(np.abs(times - float(row["time"]))))
        for name in names:
            values = data[name].isel({dim: k for dim, k in at.items() if dim in data[name].dims})
            columns = [value for key, value in row.items() if _is_column(key, str(name), values)]
            numbers = [float(x) if x not in ("", None) else np.nan for x in columns]
            require(len(numbers) == values.size, f"{what}: {name} has {len(numbers)} columns of {values.size}")
            require_same(numbers, values.values.astype(float).ravel(), f"{what}: {name}")


def _is_column(key: str, name: str, values: xr.DataArray) -> bool:
    if not values.dims:
        return key == name
    labels = ["_".join(map(str, row)) for row in _labels(values)]
    return key.startswith(f"{name}_") and key.removeprefix(f"{name}_") in labels


def _labels(values: xr.DataArray) -> list[tuple[Any, ...]]:
    axes = [values[dim].values.tolist() for dim in values.dims]
    return [tuple(axes[k][i] for k, i in enumerate(at)) for at in np.ndindex(values.shape)]


def export_csv(case: Case) -> None:
    """Check the export to CSV files."""
    _tables(case, "csv", "csv")


def export_parquet(case: Case) -> None:
    """Check the export to Parquet files, beside which designs are CSV files."""
    _tables(case, "parquet", "parquet")


def _netcdf(case: Case, form: str, name: str) -> None:
    with xr.open_dataset(_exported(case, form) / name, engine="netcdf4", decode_times=False) as data:
        require_equal(data.load(), case.results, form)


def export_netcdf(case: Case) -> None:
    """Check the export to a netCDF file."""
    _netcdf(case, "netcdf", "results.nc")


def export_hdf5(case: Case) -> None:
    """Check the export to an HDF5 file."""
    _netcdf(case, "hdf5", "results.h5")


def export_mat(case: Case) -> None:
    """Check the export to a MAT file."""
    from scipy.io import loadmat

    found = loadmat(_exported(case, "mat") / "results.mat")
    for name, values in case.results.data_vars.items():
        array = found[str(name)]
        require_same(array.ravel(), values.values.ravel(), f"mat: {name}")


def _archives(case: Case, form: str, read: Callable[[Path], Mapping[str, Any]]) -> None:
    paths = sorted(path for path in _exported(case, form).iterdir() if path.suffix != ".csv")
    data = case.results
    require(len(paths) == data.sizes["design"], f"{form}: {len(paths)} files of {data.sizes['design']} designs")
    for path in paths:
        design = data.isel(design=int(path.stem[-6:]))
        archive = read(path)
        for name, values in design.data_vars.items():
            require_same(np.asarray(archive[str(name)]).ravel(), values.values.ravel(), f"{form}: {name}")


def export_mat_designs(case: Case) -> None:
    """Check the export to MAT files of designs."""
    from scipy.io import loadmat

    _archives(case, "mat_designs", loadmat)


def export_npz(case: Case) -> None:
    """Check the export to NPZ files of designs."""
    _archives(case, "npz", lambda path: dict(np.load(path)))


# what people look at


def report(case: Case) -> None:
    """Check that a page has no 'undefined'."""
    path = Path(ls.report(case.store, case.folder / "report.html"))
    require(path.stat().st_size > 10_000, "the report is empty")


def figure(case: Case) -> None:
    """Draw a figure of designs, or of the only one."""
    kind = "parallel" if case.sweep.sizes["design"] > 1 else "series"
    ls.figure(case.store, kind, case.folder / "figure.svg")


def animation(case: Case) -> None:
    """Draw an animation of a dataset in memory."""
    case.results.limbsweep.animation(0)


def best(case: Case) -> None:
    """Check that the best design in memory has the least worst force over all cases of a question."""
    case.results.limbsweep.designs()
    found = case.results.limbsweep.best("peak_force").expand_dims("design")
    least = _feasible(ls.study.by_cases(_stacked(case), case.sweep.question.cases), "peak_force").min()
    require(float(_worst(found, "peak_force")[0]) <= least * (1 + 1e-12), "not the best")


def grid(case: Case) -> None:
    """Check that the dataset by its swept parameters has every number at its place."""
    data, made = case.results, case.results.limbsweep.grid()
    if "gains" in data.dims or "state" in data.dims:
        return
    names = [name for name in made["peak_force"].dims if name in data.coords and data[name].dims == ("design",)]
    for k in range(data.sizes["design"]):
        at = {name: data[name].values[k] for name in names}
        one, two = made["peak_force"].sel(at), data["peak_force"].isel(design=k)
        require_same(one.transpose(*two.dims).values, two.values, f"grid at {at}")


# studies


def _worst(data: xr.Dataset, name: str) -> np.ndarray:
    """Return the largest of a metric of each design (design,), NaN where one is."""
    values = data[name].transpose("design", ...).values
    return np.asarray(values.reshape(len(values), -1).max(axis=1))


def _feasible(data: xr.Dataset, name: str) -> np.ndarray:
    failed = _worst(data, "failed_samples") > 0 if "failed_samples" in data else np.zeros(data.sizes["design"], bool)
    values = np.where(failed, np.nan, _worst(data, name))
    if np.isnan(values).all():
        raise NoMeaningError("no design is feasible")
    return values[~np.isnan(values)]


def _stacked(case: Case) -> xr.Dataset:
    """Return the results with gains and initial states as designs."""
    from applications.studies.axes import by_design

    return by_design(case.results)


def rank(case: Case) -> None:
    """Check that designs are in the order of their worst force."""
    file = case.folder / "rank.csv"
    command("study", "rank", case.store, "--objective", "peak_force", "--top", 3, "--csv", file)
    with file.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    values = _column(rows, "peak_force")
    require(values == sorted(values), "not in order")
    least = _feasible(ls.study.by_cases(_stacked(case), case.sweep.question.cases), "peak_force").min()
    require_near(values[0], least, 1e-5, "the best by rank")


def _column(rows: list[dict[str, str]], name: str) -> list[float]:
    if not rows:
        raise NoMeaningError("no design is feasible")
    key = next((key for key in rows[0] if key.split(" [")[0] == name), None)
    require(key is not None, f"no column {name} in {list(rows[0])}")
    return [float(row[key or ""]) for row in rows]


def pareto(case: Case) -> None:
    """Check that no design of the front is dominated in both objectives."""
    file = case.folder / "front.csv"
    command("study", "pareto", case.store, "--objective", "peak_force", "--objective", "peak_power", "--csv", file)
    with file.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    one, two = np.array(_column(rows, "peak_force")), np.array(_column(rows, "peak_power"))
    beaten = (one[:, None] > one) & (two[:, None] > two)
    require(not beaten.any(), "a design of the front is beaten")


def _varied(case: Case) -> tuple[str, ...]:
    space = ls.study.DesignSpace.of(case.sweep)
    names = tuple(name for factor in space.varied() for name in {factor.name: None, **dict.fromkeys(factor.members)})
    derived = rule_of(case.machine)[0]
    if case.levels["design"] == "derived parameter":
        require(derived not in names, f"{derived} follows from others, and is varied")
    if not names:
        raise NoMeaningError("no parameter varies")
    return names


def sensitivity(case: Case) -> None:
    """Check that shares of variance belong to varied parameters, and none to a derived one."""
    names = _varied(case)
    text = command("study", "sensitivity", case.store, "--of", "peak_force")
    if case.levels["design"] == "derived parameter":
        require(rule_of(case.machine)[0] not in text, "a derived parameter has a share")
    require(any(name in text for name in names), f"none of {names} in the answer")


def optimise(case: Case) -> None:
    """Check that the optimum has the value of a sweep of that design alone."""
    _varied(case)
    problem = ls.study.DesignProblem.of(case.sweep, cases=case.sweep.question.cases)
    start = np.array([0.5 * (low + high) for low, high in problem.bounds.values()])
    fixed = dict.fromkeys(problem.rows_of_tables, 0.0)
    if fixed:
        if len(fixed) == len(problem.names):
            raise NoMeaningError("rows of tables alone vary")
        kept = [k for k, name in enumerate(problem.names) if name not in fixed]
        problem, start = problem.at(fixed), start[kept]
    found = ls.study.optimise(problem, _objective(case), start[None], windows=4)[0]
    require(found.value <= found.start * (1 + 1e-9) or not found.feasible, "worse than at the start")
    require_near(found.value, _alone(case, problem, found.design), 1e-6, "the optimum, as a sweep of its own")


def _objective(case: Case) -> str:
    cases = ", max over cases" if case.sweep.question.cases else ""
    return f"peak_force{cases}"


def _alone(case: Case, problem: Any, design: Mapping[str, float]) -> float:
    """Return the worst force of a design in a sweep that has it alone, under all its cases."""
    rows = problem.table(np.array([[design[name] for name in problem.names]]))
    own = {p.name for p in case.sweep.family.parameters}
    gravity = [f"gravity_{axis}" for axis in "xyz"]
    columns = {name: np.atleast_1d(values) for name, values in rows.items() if name in own or name in gravity}
    content = {key: value for key, value in case.content.items() if key not in ("study", "tolerances", "parameters")}
    if "tolerances" in case.content:
        content["tolerances"] = {**case.content["tolerances"], "count": 0}
    content["design"] = {"list": columns}
    if case.is_simulated:
        return _alone_simulated(case, content, rows)
    data = ls.compute(ls.Sweep.from_dict(content, folder=case.folder), progress=False)
    return float(_worst(data, "peak_force").max())


def _alone_simulated(case: Case, content: dict[str, Any], rows: Mapping[str, Any]) -> float:
    simulation = dict(content["simulation"])
    if gains := simulation.pop("gains", None):
        own = {name: float(np.atleast_1d(rows[name])[0]) for name in gains["grid"]}
        controller = simulation["controller"]
        simulation["controller"] = {**controller, "parameters": {**controller["parameters"], **own}}
    data = ls.compute(ls.Sweep.from_dict({**content, "simulation": simulation}, folder=case.folder), progress=False)
    return float(_worst(data, "peak_force").max())


def one_at_a_time(case: Case) -> None:
    """Check that the varied parameters are listed, and no derived one."""
    names = _varied(case)
    text = command("study", "one-at-a-time", case.store, "--of", "peak_force")
    require(any(name in text for name in names), f"none of {names} in the answer")


def morris(case: Case) -> None:
    """Check that elementary effects belong to the varied parameters."""
    names = _varied(case)
    text = command("study", "morris", case.store, "--of", "peak_force", "--count", 2)
    require(any(name in text for name in names), f"none of {names} in the answer")


def search(case: Case) -> None:
    """Check that designs of a search have the costs of their sweep, with derived parameters by their rule."""
    found = ls.study.search(
        case.sweep,
        case.folder / "found.zarr",
        generations=2,
        population=4,
        seed=1,
        objectives=["peak_force"],
        cluster=SYNCHRONOUS,
    )
    data = ls.study.by_cases(ls.open(case.folder / "found.zarr").load(), case.sweep.question.cases)
    require_near(found.costs[:, 0], ls.study.value_of(data, "peak_force"), 1e-12, "costs")
    if case.levels["design"] == "derived parameter":
        name, rule = rule_of(case.machine)
        first = case.machine.varied[0]
        require_near(data[name].values, eval(rule, {}, {first: data[first].values}), 1e-12, f"{name} by its rule")


def identify(case: Case) -> None:
    """Check that parameters identified from exact forces give these forces."""
    found = ls.identify(case.store, cluster=SYNCHRONOUS)
    require(found is not None, "no answer")


def info(case: Case) -> None:
    """Check that a store states its sizes, and that its status can be written as JSON."""
    text = command("info", case.store)
    require("design" in text, "no word of designs")
    json.dumps(str(ls.status(case.store)))


def figures_of_case(case: Case) -> None:
    """Draw the figures of one design over time."""
    for kind in ("series", "friction", "status"):
        try:
            ls.figure(case.store, kind, case.folder / f"{kind}.svg")
        except InputError:
            if kind == "series":
                raise


DOORS: Mapping[str, Door] = {
    "compute": compute,
    "check": check,
    "run": run,
    "lazy": lazy,
    "lazy to_zarr": to_zarr,
    "resume": resume,
    "submit": submit,
    "robots list": robots_list,
    "append": append,
    "verify": verify,
    "recompute": recompute,
    "info": info,
    "csv": export_csv,
    "parquet": export_parquet,
    "netcdf": export_netcdf,
    "hdf5": export_hdf5,
    "mat": export_mat,
    "mat_designs": export_mat_designs,
    "npz": export_npz,
    "report": report,
    "figure": figure,
    "figures of a case": figures_of_case,
    "animation": animation,
    "best": best,
    "grid": grid,
    "rank": rank,
    "pareto": pareto,
    "sensitivity": sensitivity,
    "optimise": optimise,
    "one at a time": one_at_a_time,
    "morris": morris,
    "search": search,
    "identify": identify,
}
