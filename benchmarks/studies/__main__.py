"""Winners of seven studies beside the same numbers of a script that does not import the package, as a table.

For each study of `examples/studies/*_from_nothing.yaml` and of the folder `sweeps` here: the sweep is run as its page
says, its winner and a drawing of other designs are computed again, and so are the promises of the first screen of its
report: the loss if all parameters are off by 1 %, at the corners of these deviations, the better design nearby, and the
gain from relaxing each limit, as a difference of two optima whose values are the script's. Every design of a coarse
grid is computed by the script alone, which has to find the same winner there as the package. Of a study over tolerances
all deviations of a design are computed.
"""

from __future__ import annotations

import argparse
import itertools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import xarray as xr

import limbsweep as ls
from applications.report.data.advice import Advice
from applications.report.data.recomputed import results_of
from applications.studies.axes import by_design
from applications.studies.outlook import OFF, RELAXED, STEP, Limit, Outlook
from benchmarks.studies.recomputed import STUDIES

EXAMPLES = Path(__file__).parents[2] / "examples" / "studies"
OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge
}  # fmt: skip
ALLOWED = {"cycle_time": 6e-3, "bus_energy_on_cycle": 1e-4}
"""Relative differences: the script's own grid along the path is coarser than that of the metric; its differences over
time are blunt where lifts end."""
CURVATURE, FLAT = 0.25, 1e-3
"""Difference of a loss to first order from that at a corner: share of the loss, or of the value if that is more."""
EXACT = 1e-6
MOST_NOTHING = 1e-6
"""Gains below this share of the objective are not compared."""
GAIN = 0.15
"""Relative difference of a gain, which is to first order, from that of two optima."""
COARSE = 3
"""Number of values of a parameter above which only every second one is on the coarse grid."""


@dataclass(frozen=True)
class DesignQuestion:
    """Name of a study, its sweep, and its designs as columns (design,) of numbers."""

    name: str
    sweep: ls.Sweep
    designs: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, name: str, sweep: ls.Sweep, results: xr.Dataset) -> DesignQuestion:
        """Return the question of a sweep and its results by design."""
        columns = {str(key): x.values for key, x in results.coords.items() if x.dims == ("design",)}
        return cls(name, sweep, {key: x for key, x in columns.items() if x.dtype.kind == "f"})

    @property
    def metric(self) -> str:
        """The metric of the objective."""
        return self.sweep.question.objectives[0].split()[-1]

    @property
    def sign(self) -> float:
        """1 where small is good, -1 where large is."""
        return -1.0 if self.sweep.question.objectives[0].startswith("max") else 1.0

    def design(self, number: int) -> dict[str, float]:
        """Return the numbers of a design by name."""
        return {key: float(values[number]) for key, values in self.designs.items()}

    def by_script(self, design: Mapping[str, float]) -> dict[str, float]:
        """Return the metrics of a design by the script alone."""
        return STUDIES[self.name](design)

    def meets(self, metrics: Mapping[str, float]) -> bool:
        """Return whether metrics meet the conditions."""
        return all(self.holds(metrics, text) for text in self.sweep.question.where)

    @staticmethod
    def holds(metrics: Mapping[str, float], text: str) -> bool:
        """Return whether metrics meet a condition."""
        name, sign, bound = text.split()
        return OPERATORS[sign](metrics[name], float(bound))


def sweep_file(name: str) -> Path:
    """Return the sweep file of a study."""
    example = EXAMPLES / f"{name}_from_nothing.yaml"
    return example if example.exists() else Path(__file__).parent / "sweeps" / f"{name}.yaml"


def main() -> None:
    """Print the table, and end with status 1 where a number or a winner differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies", description=__doc__)
    parser.add_argument("name", nargs="*", choices=[*STUDIES, []], help="studies; all without")
    failed = False
    print("| study | designs | winner | metric | package | script | difference |\n|---|---:|---|---|---:|---:|---:|")
    for name in parser.parse_args().name or list(STUDIES):
        sweep = ls.Sweep.from_yaml(sweep_file(name))
        of_study = robust_rows if "over tolerances" in sweep.question.objectives[0] else rows
        for row, good in of_study(name, sweep, ls.compute(sweep)):
            failed |= not good
            print(row, flush=True)
    if failed:
        raise SystemExit(1)


def rows(name: str, sweep: ls.Sweep, stored: xr.Dataset) -> Iterator[tuple[str, bool]]:
    """Yield rows of a study, and whether they are right."""
    results = by_design(stored)
    question, count = DesignQuestion.of(name, sweep, results), results.sizes["design"]
    status = results["worst_status"].transpose("design", ...).values.reshape(count, -1)
    sound = np.flatnonzero(status.max(axis=1) == 0)
    best = winner(sweep, results, np.arange(count))
    for kind, number in (("winner", best), ("another", int(sound[len(sound) // 3]))):
        design = question.design(number)
        for metric, value in question.by_script(design).items():
            computed = float(np.abs(results[metric].isel(design=number)).max())
            off = abs(value - computed) / abs(computed)
            row = (
                f"| {name} | {count} | {kind}: {words(design)} | {metric} | {computed:.7g} | {value:.7g} | {off:.1e} |"
            )
            yield row, off <= ALLOWED.get(metric, EXACT)
    prospect, why = Advice(results_of(stored)).prospect
    assert prospect is not None, why
    yield from promises(question, prospect, question.design(best))
    yield from gains(question, prospect, question.design(best))
    grid = coarse(question.designs)
    here, there = winner(sweep, results, grid), winner_by_script(question, grid)
    verdict = "same" if here == there else "OTHER"
    yield f"| {name} | {len(grid)} | of a coarse grid | number | {here} | {there} | {verdict} |", here == there


def robust_rows(name: str, sweep: ls.Sweep, stored: xr.Dataset) -> Iterator[tuple[str, bool]]:
    """Yield rows of a study over tolerances: its winner under all deviations, and that of a coarse grid."""
    results, question = results_of(stored), DesignQuestion.of(name, sweep, stored)
    table, quantile = results.designs, float(sweep.question.objectives[0].split("quantile ")[1].split()[0])
    metric, value = sweep.question.objectives[0].split(",")[0].split()[-1], table.column(table.asked[0]).values

    def by_script(place: int) -> list[dict[str, float]]:
        return [question.by_script(question.design(int(number))) for number in table.numbers[place]]

    metrics = by_script(table.best)
    for key in metrics[0]:
        column = ls.study.value_of(stored, key)[table.numbers[table.best]]
        off = max(abs(each[key] / own - 1.0) for each, own in zip(metrics, column, strict=True))
        about = f"winner under {len(metrics)} deviations: {words(question.design(int(table.numbers[table.best, 0])))}"
        yield (
            f"| {name} | {table.count} | {about} | {key} | {column[0]:.7g} | {metrics[0][key]:.7g} | {off:.1e} |",
            off <= ALLOWED.get(key, EXACT),
        )
    grid = coarse({key: x[table.numbers[:, 0]] for key, x in question.designs.items() if "deviation" not in key})
    costs = {}
    for place in grid.tolist():
        metrics = by_script(place)
        if all(map(question.meets, metrics)):
            costs[place] = float(np.quantile([each[metric] for each in metrics], quantile))
    here = int(grid[np.argmin(np.where(table.meets[grid], value[grid], np.inf))])
    there = min(costs, key=lambda place: costs[place], default=-1)
    off = abs(costs.get(here, np.nan) / value[here] - 1.0)
    row = f"| {name} | {len(grid)} | of a coarse grid | {table.asked[0]} | {here} | {there} | {off:.1e} |"
    yield row, here == there and off <= ALLOWED.get(metric, EXACT)


def words(design: Mapping[str, float]) -> str:
    """Return the numbers of a design as a text."""
    return ", ".join(f"{key} {value:.4g}" for key, value in design.items())


def promises(question: DesignQuestion, prospect: Outlook, design: Mapping[str, float]) -> Iterator[tuple[str, bool]]:
    """Yield rows of a report's statements about the winner: the loss if all is off, and a better design nearby."""
    metric = question.metric
    corners = itertools.product((-OFF, OFF), repeat=len(prospect.design))
    turned = [{key: design[key] * (1.0 + off) for key, off in zip(prospect.design, c, strict=True)} for c in corners]
    values = [question.by_script({**design, **corner})[metric] for corner in turned]
    worst = max(values, key=lambda value: question.sign * value)
    better = question.by_script({**design, **prospect.design})
    holds = question.meets(better)
    for what, promised, value, allowed in (
        (f"all off by {OFF:.0%}", prospect.off, worst, max(FLAT, CURVATURE * abs(prospect.off / prospect.value - 1.0))),
        (
            f"better: {words(prospect.design)}{'' if holds else ', BREAKS A CONDITION'}",
            prospect.best,
            better[metric],
            EXACT,
        ),
    ):
        off = abs(value - promised) / abs(promised)
        row = f"| {question.name} | 1 | {what} | {metric} | {promised:.7g} | {value:.7g} | {off:.1e} |"
        yield row, off <= allowed and holds


def gains(question: DesignQuestion, prospect: Outlook, design: Mapping[str, float]) -> Iterator[tuple[str, bool]]:
    """Yield rows of gains from relaxing a limit of the winner: the optima within the step are searched anew."""
    problem = ls.study.DesignProblem.of(question.sweep).about([*prospect.design], design)
    spans = {name: STEP * (high - low) for name, (low, high) in problem.bounds.items()}
    bounds = {
        name: (max(low, design[name] - spans[name]), min(high, design[name] + spans[name]))
        for name, (low, high) in problem.bounds.items()
    }
    steps = [limit.text for limit in prospect.limits if np.isnan(limit.gain)]  # no derivatives lead along them
    where = [text for text in question.sweep.question.where if text not in steps]

    def optimum(within: Mapping[str, tuple[float, float]], conditions: Sequence[str]) -> float:
        box, start = replace(problem, bounds=within), np.array([[*prospect.design.values()]])
        best = ls.study.optimise(box, question.sweep.question.objectives[0], start, conditions)[0]
        metrics = question.by_script({**design, **best.design})
        return metrics[question.metric] if all(question.holds(metrics, text) for text in steps) else np.nan

    first = optimum(bounds, where)
    for limit in prospect.limits:
        if limit.gain > MOST_NOTHING * abs(prospect.value) and not limit.is_number:
            gain = question.sign * (first - optimum(*relaxed(limit, bounds, where, spans)))
            off = abs(limit.gain - gain) / limit.gain
            what = f"gain of {limit.text} relaxed by {RELAXED:.0%}"
            yield (
                f"| {question.name} | 1 | {what} | {question.metric} | {limit.gain:.4g} | {gain:.4g} | {off:.1e} |",
                off <= GAIN,
            )


def relaxed(
    limit: Limit, bounds: Mapping[str, tuple[float, float]], where: Sequence[str], spans: Mapping[str, float]
) -> tuple[Mapping[str, tuple[float, float]], Sequence[str]]:
    """Return bounds and conditions of which one is relaxed."""
    if limit.factor:
        (low, high), room = bounds[limit.factor], RELAXED / STEP * spans[limit.factor]
        wider = (low - room, high) if limit.text.startswith("least") else (low, high + room)
        return {**bounds, limit.factor: wider}, where
    name, sign, bound = limit.text.split()
    looser = float(bound) * (1.0 + RELAXED if "<" in sign else 1.0 - RELAXED)
    return bounds, [f"{name} {sign} {looser!r}" if text == limit.text else text for text in where]


def winner(sweep: ls.Sweep, results: xr.Dataset, numbers: np.ndarray) -> int:
    """Return the number of the best feasible design among some."""
    wanted = sweep.question.objectives[0]
    value = ls.study.value_of(results, wanted) * (-1.0 if wanted.startswith("max") else 1.0)
    good = ls.study.feasible(results, sweep.question.where)
    return int(numbers[np.argmin(np.where(good[numbers], value[numbers], np.inf))])


def coarse(designs: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the numbers of the designs on a coarse grid of their parameters."""
    kept = np.ones(len(next(iter(designs.values()))), dtype=bool)
    for values in designs.values():
        levels = np.unique(values)
        if len(levels) > COARSE:
            kept &= np.isin(values, levels[::2])
    return np.flatnonzero(kept)


def winner_by_script(question: DesignQuestion, numbers: np.ndarray) -> int:
    """Return the number of the best design among some by the script alone, without designs that it cannot reach."""
    costs = {}
    for number in numbers:
        with np.errstate(invalid="ignore"):
            try:
                metrics = question.by_script(question.design(int(number)))
            except np.linalg.LinAlgError:
                continue
        if all(np.isfinite(x) for x in metrics.values()) and question.meets(metrics):
            costs[int(number)] = question.sign * metrics[question.metric]
    return min(costs, key=lambda number: costs[number], default=-1)


if __name__ == "__main__":
    main()
