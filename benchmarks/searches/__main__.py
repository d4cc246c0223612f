"""Compare search methods: hypervolumes over evaluations on five studies, and the best row of a catalogue.

    python -m benchmarks.searches [--seeds 11] [--study NAME ...] [--method NAME ...] [--folder FOLDER] [--minutes M]
    python -m benchmarks.searches catalogue [--seeds 11]
    python -m benchmarks.searches generations

The first prints for each study and method the median over the seeds of the hypervolume after 64 to 1280 designs, as a
share of that of NSGA-II after 1280: populations of 64 for NSGA-II, TPE and random designs, of 16 for Gaussian
processes, which end after a fifth, 256. With a coarse model, a fifth of the times in single precision, a method has
four candidates for each design, which are not counted. Costs are scaled to the box of the front of all designs of a
study; the reference is 0.1 beyond it. Populations are computed in this process, without stores; times are those of the
methods alone. Searches that lie in the folder are not made again, none is begun after so many minutes, and the table
has the finished ones. The second searches 240 rows of a table whose numbers are known for the best of them, with 48
designs. The third prints the processor time in which 1, 16 and 64 designs are computed together, of simulations too.
Needs the extra search.
"""

from __future__ import annotations

import argparse
import math
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from xarray import Dataset

from applications.studies.columns import Array, objective
from applications.studies.factors import Choice
from applications.studies.pareto import best_designs, front
from applications.studies.points import PointSpace
from applications.studies.populations.asking import SearchSettings
from applications.studies.populations.generations import DesignModel, GenerationStore, coarse_model
from applications.studies.populations.methods import METHODS, ask_and_tell, hypervolume
from applications.studies.populations.space import FamilySpace
from applications.studies.space import DesignSpace
from benchmarks.estimates import variants
from benchmarks.searches.studies import COARSE, TEXTS, sweeps_of
from limbsweep.runs import compute
from pipeline.sweep.model import Sweep

COUNTS = (64, 128, 256, 640, 1280)
"""Designs after which hypervolumes are printed."""


class ComparedMethod(NamedTuple):
    """Method, population, number of generations, and candidates for each design by the coarse model."""

    method: str
    population: int
    generations: int
    candidates: int = 1


METHODS_COMPARED = {
    "nsga2": ComparedMethod("nsga2", 64, 20),
    "nsga2 coarse": ComparedMethod("nsga2", 64, 20, 4),
    "tpe": ComparedMethod("tpe", 64, 20),
    "random": ComparedMethod("random", 64, 20),
    "gp": ComparedMethod("gp", 16, 16),
    "gp coarse": ComparedMethod("gp", 16, 16, 4),
}

ROWS, CATALOGUE_COUNTS = 240, (8, 6)

TOGETHER = (1, 16, 64)
"""Designs that are computed together."""


class Study(NamedTuple):
    """Model of the designs of a study, the number of its conditions, and the coarse model."""

    model: DesignModel
    conditions: int
    coarse: DesignModel


def study_of(name: str, folder: Path) -> Study:
    """Return a study whose designs are computed in this process."""
    sweeps = sweeps_of(name, folder)
    question = sweeps[0].question
    if len(sweeps) > 1:
        space: PointSpace = (families := FamilySpace.of(sweeps, question))
        spaces = tuple(families.spaces.values())
    else:
        space = (alone := DesignSpace.to_search(sweeps[0], question.cases))
        spaces = (alone,)
    stores = tuple(
        GenerationStore.at(sweep, own, question, "none.zarr") for sweep, own in zip(sweeps, spaces, strict=True)
    )
    model = DesignModel(space, stores, [objective(text) for text in question.objectives])
    conditions = 1 + max(len(store.question.where) for store in stores)
    return Study(model, conditions, coarse_model(space, stores, model.objectives, COARSE))


def computed(sweep: Sweep) -> Dataset:
    """Compute a sweep in this process."""
    return compute(sweep)


def searched(study: Study, method: str, seed: int) -> tuple[Array, float]:
    """Return costs (n, objective) in order, NaN where a condition is broken, and the seconds of the method."""
    compared, model = METHODS_COMPARED[method], study.model
    population, candidates = compared.population, compared.candidates
    settings = SearchSettings(model.space, len(model.objectives), study.conditions, population, seed, candidates)
    asker, populations, seconds = ask_and_tell(compared.method, settings), [], 0.0
    for _ in range(compared.generations):
        clock = time.perf_counter()
        points = asker.ask()
        seconds += time.perf_counter() - clock
        if not len(points):
            break
        if len(points) > population:
            asker.keep(rows := np.sort(best_designs(*study.coarse.at(points, computed), population)))
            points = points[rows]
        costs, violations = model.at(points, computed)
        clock = time.perf_counter()
        asker.tell(costs, violations)
        seconds += time.perf_counter() - clock
        populations.append(np.where((violations <= 0.0).all(axis=1, keepdims=True), costs, np.nan))
    return np.concatenate(populations), seconds


@dataclass(frozen=True)
class KeptSearches:
    """Searches in a folder, each a file by study, method and seed; none is begun after a time."""

    folder: Path
    until: float

    def search(self, study: Study, name: str, method: str, seed: int) -> None:
        """Make a search that is not there, unless it is late."""
        place = self._place(name, method, seed)
        if not place.exists() and time.monotonic() < self.until:
            costs, seconds = searched(study, method, seed)
            np.savez(place, costs=costs, seconds=seconds)

    def of(self, name: str, method: str, seeds: int) -> list[tuple[Array, float]]:
        """Return costs (n, objective) and seconds of the searches that are there."""
        places = [self._place(name, method, seed) for seed in range(seeds)]
        files = [np.load(place) for place in places if place.exists()]
        return [(file["costs"], float(file["seconds"])) for file in files]

    def _place(self, name: str, method: str, seed: int) -> Path:
        return self.folder / f"{name.replace(' ', '_')}-{method.replace(' ', '_')}-{seed}.npz"


def volumes(costs: Array, best: Array, size: Array) -> list[float]:
    """Return the hypervolume after the numbers of designs of `COUNTS`, in a box."""
    limit = np.full(len(best), 1.1)
    result = []
    for count in COUNTS:
        scaled = (costs[:count] - best) / size
        good = np.flatnonzero(front(scaled))
        result.append(hypervolume(scaled[good], limit) if len(good) and count <= len(costs) + 63 else np.nan)
    return result


def compare(name: str, methods: Sequence[str], seeds: int, kept: KeptSearches) -> dict[str, list[float]]:
    """Search a study by all methods with so many seeds, and print the medians of the shares."""
    with tempfile.TemporaryDirectory() as folder:
        study = study_of(name, Path(folder))
        for seed in range(seeds):
            for method in methods:
                kept.search(study, name, method, seed)
    runs = {method: runs for method in methods if (runs := kept.of(name, method, seeds))}
    if "nsga2" not in runs:
        return {}
    every = np.concatenate([costs for searches in runs.values() for costs, _ in searches])
    every = every[np.asarray(front(every), dtype=bool)]
    best, size = every.min(axis=0), np.where(np.ptp(every, axis=0) > 0.0, np.ptp(every, axis=0), 1.0)
    table = {
        method: np.array([volumes(costs, best, size) for costs, _ in searches]) for method, searches in runs.items()
    }
    whole = np.median(table["nsga2"][:, -1])
    medians = {method: (np.median(rows, axis=0) / whole).tolist() for method, rows in table.items()}
    for method, shares in medians.items():
        cells = "".join("        " if np.isnan(share) else f"{share:8.3f}" for share in shares)
        seconds = np.mean([seconds for _, seconds in runs[method]])
        print(f"{name:15} {method:13}{len(runs[method]):6}{cells}{seconds:9.1f}", flush=True)
    return medians


def catalogue(seed: int) -> tuple[Choice, Array]:
    """Return the rows of a made-up catalogue: name, two sizes, a quality, a loss; and the cost of each (row,)."""
    draw = np.random.default_rng(seed)
    size = draw.uniform(size=ROWS)
    first, second = 10.0 ** (2.0 * size + 0.2 * draw.normal(size=ROWS)), 10.0 ** (size + 0.3 * draw.normal(size=ROWS))
    quality, loss = draw.uniform(1.0, 9.0, ROWS), 10.0 ** (-size + 0.2 * draw.normal(size=ROWS))
    rows = np.stack([np.arange(float(ROWS)), first, second, quality, loss], axis=1)
    cost = (np.log10(first) - 1.2) ** 2 + 0.3 * (np.log10(second) - 0.4) ** 2 + 0.02 * (quality - 4.0) ** 2 + 0.2 * loss
    return Choice(("part", "first", "second", "quality", "loss"), rows, ordered=False, texts=frozenset({"part"})), cost


def best_rows(seeds: int) -> None:
    """Print how many searches found the best of the rows, for each method."""
    population, generations = CATALOGUE_COUNTS
    print(f"best of {ROWS} rows found with {population * generations} designs:")
    for method in [name for name in METHODS if name != "nsga3"]:  # which needs two objectives
        hits = 0
        for seed in range(seeds):
            rows, cost = catalogue(seed)
            asker, seen = ask_and_tell(method, SearchSettings(PointSpace((rows,)), 1, 1, population, seed)), []
            for _ in range(generations):
                places = (points := asker.ask())[:, 0].astype(int)
                asker.tell(cost[places][:, None], np.full((len(points), 1), -1.0))
                seen += places.tolist()
            hits += int(cost.argmin()) in seen
        print(f"{method:7} {hits:3} of {seeds}")


def generations() -> None:
    """Print the processor seconds in which so many designs are computed together, for each study."""
    print(f"{'study':26}" + "".join(f"{count:8}" for count in TOGETHER))
    with tempfile.TemporaryDirectory() as folder:
        for name in TEXTS:
            model = study_of(name, Path(folder)).model
            points = model.space.random(np.random.default_rng(1), 4 * TOGETHER[-1])
            points = points[model.space.computable(points)][: TOGETHER[-1]]
            print_times(name, partial(_of_first, model, points))
    texts = variants()
    for name in ("simulated", "simulated arm", "simulated, adaptive"):
        print_times(name, partial(_of_simulations, texts[name]))


def _of_first(model: DesignModel, points: Array, count: int) -> None:
    """Compute the first of some points."""
    model.at(points[:count], computed)


def _of_simulations(text: str, count: int) -> None:
    """Compute so many designs of simulations."""
    computed(simulated(text, count))


def simulated(text: str, count: int) -> Sweep:
    """Return a sweep of simulations with so many payloads."""
    masses = ", ".join(f"{mass:.6f}" for mass in np.linspace(0.1, 2.0, count))
    return Sweep.from_text(re.sub(r"\{start: 0, stop: 2, num: \d+\}", f"[{masses}]", text))


def print_times(name: str, compute_designs: Callable[[int], object]) -> None:
    """Print the processor seconds of calls for so many designs, after one that compiles."""
    compute_designs(1)
    seconds = []
    for count in TOGETHER:
        clock = time.process_time()
        compute_designs(count)
        seconds.append(time.process_time() - clock)
    print(f"{name:26}" + "".join(f"{each:8.3f}" for each in seconds), flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("hypervolumes", "catalogue", "generations"), default="hypervolumes")
    parser.add_argument("--seeds", type=int, default=11)
    parser.add_argument("--study", action="append", choices=tuple(TEXTS))
    parser.add_argument("--method", action="append", choices=tuple(METHODS_COMPARED))
    parser.add_argument("--folder", type=Path, help="Keep searches here, and resume the searches in it.")
    parser.add_argument("--minutes", type=float, default=math.inf, help="Begin no search after this time.")
    options = parser.parse_args()
    if options.what == "catalogue":
        best_rows(options.seeds)
        return
    if options.what == "generations":
        generations()
        return
    print(f"{'study':15} {'method':13} seeds" + "".join(f"{count:8}" for count in COUNTS) + "  seconds")
    until = time.monotonic() + 60.0 * options.minutes
    with tempfile.TemporaryDirectory() as scratch:
        kept = KeptSearches(options.folder or Path(scratch), until)
        kept.folder.mkdir(parents=True, exist_ok=True)
        for name in options.study or TEXTS:
            compare(name, options.method or list(METHODS_COMPARED), options.seeds, kept)


if __name__ == "__main__":
    main()
