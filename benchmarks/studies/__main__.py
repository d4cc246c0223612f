"""Winners of three studies beside the same numbers of a script that does not import the package, as a table.

For each study of `examples/studies/*_from_nothing.yaml`: the sweep is run as its page says, its winner and a drawing of
other designs are computed again, and so is what the first screen of its report promises: the loss if all parameters
are off by 1 %, at the corners of these deviations, and the better design nearby. Every design of a coarse grid is
computed by the script alone, which has to find the same winner there as the package.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import xarray as xr

import limbsweep as ls
from applications.report.data.advice import Advice
from applications.report.data.recomputed import results_of
from applications.studies.outlook import OFF
from benchmarks.studies.recomputed import STUDIES

FOLDER = Path(__file__).parents[2] / "examples" / "studies"
ALLOWED = {"cycle_time": 6e-3}
"""Relative differences: the script's own grid along the path is coarser than that of the metric."""
CURVATURE = 1e-3
"""Relative difference of a loss to first order from that at a corner."""
EXACT = 1e-6
COARSE = 3
"""Of parameters with more values than so many every second is on the coarse grid."""


def main() -> None:
    """Print the table, and end with status 1 where a number or a winner differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies", description=__doc__)
    parser.add_argument("name", nargs="*", choices=[*STUDIES, []], help="studies; all without")
    failed = False
    print("| study | designs | winner | metric | package | script | difference |\n|---|---:|---|---|---:|---:|---:|")
    for name in parser.parse_args().name or list(STUDIES):
        sweep = ls.Sweep.from_yaml(FOLDER / f"{name}_from_nothing.yaml")
        for row, good in rows(name, sweep, ls.compute(sweep)):
            failed |= not good
            print(row)
    if failed:
        raise SystemExit(1)


def rows(name: str, sweep: ls.Sweep, results: xr.Dataset) -> Iterator[tuple[str, bool]]:
    """Yield rows of a study, and whether they are right."""
    count = results.sizes["design"]
    designs = {key: results[key].values for key in sweep.design.names if results[key].dtype.kind == "f"}
    sound = np.flatnonzero(results["worst_status"].values.reshape(count, -1).max(axis=1) == 0)
    best = winner(sweep, results, np.arange(count))
    for kind, number in (("winner", best), ("another", int(sound[len(sound) // 3]))):
        own = STUDIES[name]({key: float(values[number]) for key, values in designs.items()})
        shown = ", ".join(f"{key} {values[number]:.4g}" for key, values in designs.items())
        for metric, value in own.items():
            found = float(np.abs(results[metric].isel(design=number)).max())
            off = abs(value - found) / abs(found)
            row = f"| {name} | {count} | {kind}: {shown} | {metric} | {found:.7g} | {value:.7g} | {off:.1e} |"
            yield row, off <= ALLOWED.get(metric, EXACT)
    yield from promises(name, sweep, results, {key: float(values[best]) for key, values in designs.items()})
    grid = coarse(designs)
    here, there = winner(sweep, results, grid), by_script(name, sweep, designs, grid)
    verdict = "same" if here == there else "OTHER"
    yield f"| {name} | {len(grid)} | of a coarse grid | number | {here} | {there} | {verdict} |", here == there


def promises(
    name: str, sweep: ls.Sweep, results: xr.Dataset, design: Mapping[str, float]
) -> Iterator[tuple[str, bool]]:
    """Yield rows of what a report says about the winner: the loss if all is off, and a better design nearby."""
    prospect, why = Advice(results_of(results)).prospect
    assert prospect is not None, why
    metric = sweep.question.objectives[0].split()[-1]
    corners = itertools.product((-OFF, OFF), repeat=len(prospect.design))
    turned = [{key: design[key] * (1.0 + off) for key, off in zip(prospect.design, c, strict=True)} for c in corners]
    worst = max(STUDIES[name]({**design, **corner})[metric] for corner in turned)
    better = STUDIES[name]({**design, **prospect.design})
    holds = all(better[key] < float(most) for key, most in (text.split(" < ") for text in sweep.question.where))
    shown = ", ".join(f"{key} {value:.4g}" for key, value in prospect.design.items())
    for what, found, value, allowed in (
        (f"all off by {OFF:.0%}", prospect.off, worst, CURVATURE),
        (f"better: {shown}{'' if holds else ', BREAKS A CONDITION'}", prospect.best, better[metric], EXACT),
    ):
        off = abs(value - found) / abs(found)
        row = f"| {name} | 1 | {what} | {metric} | {found:.7g} | {value:.7g} | {off:.1e} |"
        yield row, off <= allowed and holds


def winner(sweep: ls.Sweep, results: xr.Dataset, numbers: np.ndarray) -> int:
    """Return the number of the best feasible design among some."""
    value = ls.study.value_of(results, sweep.question.objectives[0])
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


def by_script(name: str, sweep: ls.Sweep, designs: Mapping[str, np.ndarray], numbers: np.ndarray) -> int:
    """Return the number of the best design among some by the script alone; those that it cannot reach are left out."""
    metric = sweep.question.objectives[0].split()[-1]
    found = {}
    for number in numbers:
        design = {key: float(values[number]) for key, values in designs.items()}
        with np.errstate(invalid="ignore"):
            try:
                own = STUDIES[name](design)
            except np.linalg.LinAlgError:
                continue
        bounds = [text.split(" < ") for text in sweep.question.where]
        if all(np.isfinite(x) for x in own.values()) and all(own[key] < float(most) for key, most in bounds):
            found[int(number)] = own[metric]
    return min(found, key=lambda number: found[number], default=-1)


if __name__ == "__main__":
    main()
