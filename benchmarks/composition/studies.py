"""Doors of studies, each with the check that the answer is that of the designs themselves."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

import limbsweep as ls
from benchmarks.composition.case import SYNCHRONOUS, Case, NoMeaningError, require_near
from benchmarks.composition.command import command
from benchmarks.composition.features import rule_of
from benchmarks.composition.slow import CLOSE, STATES
from benchmarks.figures import require


def best(case: Case) -> None:
    """Check that the best design in memory has the least worst force over all cases of a question."""
    case.results.limbsweep.designs()
    winner = case.results.limbsweep.best("peak_force").expand_dims("design")
    least = _feasible(ls.study.by_cases(_stacked(case), case.sweep.question.cases), "peak_force").min()
    require(float(_worst(winner, "peak_force")[0]) <= least * (1 + 1e-12), "not the best")


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
    optimum = ls.study.optimise(problem, _objective(case), start[None], windows=4)[0]
    require(optimum.value <= optimum.start * (1 + 1e-9) or not optimum.feasible, "worse than at the start")
    require_near(optimum.value, _alone(case, problem, optimum.design), 1e-6, "the optimum, as a sweep of its own")


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
    searched = ls.study.search(
        case.sweep,
        case.folder / "found.zarr",
        generations=2,
        population=4,
        seed=1,
        objectives=["peak_force"],
        cluster=SYNCHRONOUS,
    )
    data = ls.study.by_cases(ls.open(case.folder / "found.zarr").load(), case.sweep.question.cases)
    require_near(searched.costs[:, 0], ls.study.value_of(data, "peak_force"), 1e-12, "costs")
    if case.levels["design"] == "derived parameter":
        name, rule = rule_of(case.machine)
        first = case.machine.varied[0]
        require_near(data[name].values, eval(rule, {}, {first: data[first].values}), 1e-12, f"{name} by its rule")


def identify(case: Case) -> None:
    """Check that parameters identified from exact motions and forces give these forces."""
    identified = ls.identify(case.store, cluster=SYNCHRONOUS)
    require(bool(identified.fits or identified.failed), "no answer")
    if case.is_simulated or case.levels["friction"] in STATES:
        return
    exact, close = ls.identify(case.store, clean=True, cluster=SYNCHRONOUS), CLOSE[case.levels["precision"]]
    if case.levels["friction"] == "stribeck":  # fast random states miss effects at low speeds
        close = max(close, 1e-5)
    for (design, friction), fit in exact.fits.items():
        force = case.results["actuator_force"].isel(design=design, friction=friction)
        size = float(abs(force).max())
        require(fit.noise <= 100.0 * close * size, f"forces of exact motions differ by {fit.noise:.2e} of {size:.2e}")
