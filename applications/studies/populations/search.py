"""Search over the designs of one robot or of several: ask a method, compute missing designs, append them, tell it.

A search has a store for each of its robots, most often one, in a folder if there are several; the robot is then a
category. Nothing of a method is stored: a search is gone on with by asking it again and telling it the content of the
stores, so that a killed search ends with the same front. Where it was killed between the stores of one generation, the
stores that have the generation are not computed again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple, TypedDict, Unpack, cast

import numpy as np
import xarray as xr
from numpy import bool_, intp
from numpy.typing import NDArray

from applications.studies.columns import Array, Objective, objective, refuse
from applications.studies.pareto import best_designs, front
from applications.studies.points import PointSpace
from applications.studies.populations.asking import AskTell, Remembering, SearchSettings
from applications.studies.populations.generations import DesignModel, GenerationStore, coarse_model
from applications.studies.populations.methods import ask_and_tell, hypervolume
from applications.studies.populations.space import ROBOT, FamilySpace, costs_and_violations
from applications.studies.space import DesignSpace
from applications.studies.stored_factors import varied_numbers
from pipeline.cluster.arguments import ClusterLike, Connectable, as_cluster
from pipeline.execution.run import run
from pipeline.monitor.log import Listener
from pipeline.sweep.model import Sweep
from pipeline.sweep.question.question import StudyQuestion
from robots.arguments import check_arguments
from robots.data_classes import dataclass, field
from storage.places.location import LocationLike

MAX_GENERATIONS = 100_000


@dataclass(frozen=True)
class Generation:
    """Progress of a search: number from 1, designs so far, number of feasible designs, number on the front.

    The hypervolume is in units of the box of the first feasible generation, from its best to its worst costs; it
    never decreases. `seconds` is the time of this generation, 0 where it was stored already.
    """

    number: int
    designs: int
    feasible: int
    front: int
    hypervolume: float
    seconds: float

    def __str__(self) -> str:
        """Format the generation in one line for people."""
        counts = (
            f"generation {self.number}: {self.designs:,} designs, {self.feasible:,} feasible, {self.front:,} on the"
        )
        spent = f"{self.seconds:.2g} s" if self.seconds else "stored already"
        return f"{counts} front, hypervolume {self.hypervolume:.4f}, {spent}"


class SearchOptions(NamedTuple):
    """A method by name, how many generations there are to be, of how many designs, and its seed.

    coarse: subset of the sweep file by which the best of `candidates` are selected for each design; empty: none.
    """

    method: str = "nsga2"
    generations: int = 20
    population: int = 64
    seed: int = 0
    coarse: str = ""
    candidates: int = 4


class SearchKeywords(TypedDict, total=False):
    """Options of a search by their names, and parts of the question in place of those of the sweep."""

    method: str
    generations: int
    population: int
    seed: int
    coarse: str
    candidates: int
    objectives: Sequence[str]
    where: Sequence[str]
    cases: Sequence[str]


QUESTION = ("objectives", "where", "cases")
"""Options that are parts of the question."""


def search_options(options: SearchKeywords) -> SearchOptions:
    """Return the options of a search without the parts of the question."""
    named = {name: value for name, value in options.items() if name not in QUESTION}
    return SearchOptions(**cast(Any, named))


def asked_question(sweep: Sweep, options: SearchKeywords) -> StudyQuestion:
    """Return the question of the sweep with the given parts replaced. Raises InputError without objectives."""
    question = sweep.question.with_options(
        options.get("objectives", ()), options.get("where", ()), options.get("cases", ())
    )
    if not question.objectives:
        hint = "Give --objective, or add a section study with objectives to the sweep."
        raise refuse("objective", "none", "one or more, such as peak_force", hint)
    return question


@dataclass
class _StoreOnTheWay:
    """Store of a search, with the points and results that the method knows already."""

    store: GenerationStore
    points: list[Array] = field(default_factory=list)
    stored: int = 0
    results: xr.Dataset | None = None

    def __post_init__(self) -> None:
        self._read()

    def _read(self) -> None:
        self.stored = self.store.count
        self.results = self.store.results() if self.stored else None

    @property
    def told(self) -> int:
        """Number of designs whose results the method knows."""
        return sum(map(len, self.points))

    def lacks_next(self) -> bool:
        """Return whether the next designs have to be computed."""
        return self.told >= self.stored

    def require_same(self, points: Array) -> None:
        """Check that the next designs are those of some points. Raises StoreError."""
        assert self.results is not None
        self.store.require_points(self.results, points, self.told)
        if self.told + len(points) == self.stored:
            self.store.require_sweep(np.concatenate([*self.points, points]))

    def stored_points(self, count: int) -> Array:
        """Return the next stored points (n, variable), at most `count`."""
        if self.results is None or self.lacks_next():
            return np.zeros((0, len(self.store.space.variables)))
        rows = self.results.isel(design=slice(self.told, self.told + count))
        return self.store.space.located({name: rows[name].values for name in self.store.space.names})

    def compute(self, points: Array, workers: Connectable, listeners: Sequence[Listener]) -> None:
        """Compute the designs of some points, which come next."""
        self.store.compute(np.concatenate([*self.points, points]), workers, listeners)
        self._read()

    def values(self, points: Array, objectives: Sequence[Objective]) -> tuple[Array, Array]:
        """Return the costs and violations of the next designs, which count as known from now on."""
        assert self.results is not None
        first = self.told
        self.points.append(points)
        ds = self.results.isel(design=slice(first, first + len(points)))
        return costs_and_violations(ds, objectives, self.store.question.where)


@dataclass
class _Workers:
    """Workers of a search: those of the cluster, begun when they are needed."""

    stack: ExitStack
    cluster: ClusterLike
    begun: Connectable | None = None

    def of(self, store: GenerationStore, points: Array) -> Connectable:
        """Return the workers; begun by the size of a generation of some points of a store."""
        self.begun = self.begun or self.stack.enter_context(store.cluster(self.cluster, points))
        return self.begun


@dataclass
class SearchState:
    """A search on its way: costs (design, objective) and violations (design, condition) in the order of asking."""

    space: PointSpace
    stores: tuple[_StoreOnTheWay, ...]
    asker: AskTell
    objectives: Sequence[Objective]
    generations: int
    population: int
    on_generation: Callable[[Generation], None]
    coarse: DesignModel | None = None
    costs: list[Array] = field(default_factory=list)
    violations: list[Array] = field(default_factory=list)
    places: list[tuple[NDArray[np.intp], ...]] = field(default_factory=list)
    """Places of the designs of each store, by generation."""
    progress: tuple[Generation, ...] = ()
    box: tuple[Array, Array] | None = None

    @classmethod
    def of(
        cls,
        space: PointSpace,
        stores: Sequence[GenerationStore],
        options: SearchOptions,
        on_generation: Callable[[Generation], None],
    ) -> SearchState:
        """Return the state before the first generation. Raises InputError."""
        if not 1 <= options.generations <= MAX_GENERATIONS:
            raise refuse("generations", str(options.generations), f"1 to {MAX_GENERATIONS:,}")
        objectives = [objective(text) for text in stores[0].question.objectives]
        conditions = 1 + max(len(store.question.where) for store in stores)
        coarse = coarse_model(space, stores, objectives, options.coarse) if options.coarse else None
        candidates = options.candidates if coarse else 1
        settings = SearchSettings(space, len(objectives), conditions, options.population, options.seed, candidates)
        asker, parts = ask_and_tell(options.method, settings), tuple(_StoreOnTheWay(store) for store in stores)
        return cls(space, parts, asker, objectives, options.generations, options.population, on_generation, coarse)

    def run(self, cluster: ClusterLike, listeners: Sequence[Listener]) -> None:
        """Run until there are enough generations, or the method finds no other designs. Raises StoreError."""
        with ExitStack() as stack:
            workers = _Workers(stack, cluster)
            while len(self.progress) < self.generations and len(points := self._next(workers)):
                clock, parts = time.perf_counter(), self.space.parts(points)
                parted = [(part, rows) for part, (_, rows) in zip(self.stores, parts, strict=True) if len(rows)]
                lacking = [part.lacks_next() for part, _ in parted]
                for (part, rows), lacks in zip(parted, lacking, strict=True):
                    if not lacks:
                        part.require_same(rows)
                for (part, rows), lacks in zip(parted, lacking, strict=True):
                    if lacks:
                        part.compute(rows, workers.of(part.store, rows), listeners)
                self._tell(parts, time.perf_counter() - clock if any(lacking) else 0.0)

    def _next(self, workers: _Workers) -> Array:
        """Return the next points; of a method that remembers those of the only store, once its first are the same."""
        can_remember = self.progress and len(self.stores) == 1
        if can_remember and isinstance(self.asker, Remembering):
            points = self.stores[0].stored_points(self.population)
            if len(points):
                return self.asker.remember(points)
        points = self.asker.ask()
        return points if self.coarse is None else self._promising(self.coarse, points, workers)

    def _promising(self, coarse: DesignModel, points: Array, workers: _Workers) -> Array:
        """Return the best points of many by a coarse model."""
        if len(points) <= self.population:
            return points
        place = next(k for k, (places, _) in enumerate(self.space.parts(points)) if len(places))
        connected = workers.of(self.stores[place].store, self.space.parts(points)[place][1])
        costs, violations = coarse.at(points, lambda sweep: run(sweep, None, connected, progress=False))
        rows = np.sort(best_designs(costs, violations, self.population))
        self.asker.keep(rows)
        return np.asarray(points[rows])

    def _tell(self, parts: Sequence[tuple[NDArray[np.intp], Array]], seconds: float) -> None:
        count = sum(len(places) for places, _ in parts)
        conditions = 1 + max(len(part.store.question.where) for part in self.stores)
        costs, violations = np.empty((count, len(self.objectives))), np.full((count, conditions), -1.0)
        for part, (places, rows) in zip(self.stores, parts, strict=True):
            if len(rows):
                costs[places], broken = part.values(rows, self.objectives)
                violations[places, : broken.shape[1]] = broken
        self.asker.tell(costs, violations)
        self.costs.append(costs)
        self.violations.append(violations)
        self.places.append(tuple(places for places, _ in parts))
        self._report(seconds)

    def _report(self, seconds: float) -> None:
        costs, feasible, best_places = self.front()
        if self.box is None and feasible.any():
            best, worst = costs[feasible].min(axis=0), costs[feasible].max(axis=0)
            self.box = worst, np.where(worst > best, worst - best, np.maximum(np.abs(worst), 1.0))
        volume = 0.0
        if self.box is not None and len(best_places):
            reference, size = self.box
            volume = hypervolume((costs[best_places] - reference) / size, np.zeros(costs.shape[1]))
        counts = len(costs), int(feasible.sum()), len(best_places)
        self.progress += (Generation(len(self.progress) + 1, *counts, volume, seconds),)
        self.on_generation(self.progress[-1])

    def front(self) -> tuple[Array, NDArray[np.bool_], NDArray[np.intp]]:
        """Return the costs of all feasible designs, and the numbers of the designs that no other dominates."""
        costs, violations = np.concatenate(self.costs), np.concatenate(self.violations)
        feasible = np.asarray((violations <= 0.0).all(axis=1))
        best = np.flatnonzero(front(np.where(feasible[:, None], costs, np.nan)))
        return costs, feasible, best[np.argsort(costs[best, 0], kind="stable")]


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """Result of a search: all designs with their metrics by case, the front, the generations.

    costs (design, objective) are to be small; `front` (n,) are numbers of designs, the best by the first objective
    first. `share` counts designs, and the conditions that they break.
    """

    designs: xr.Dataset
    costs: Array
    feasible: NDArray[bool_]
    front: NDArray[intp]
    generations: tuple[Generation, ...]
    share: FamilyShare


@check_arguments
def search(
    sweep: Sweep,
    store: LocationLike,
    *,
    cluster: ClusterLike = None,
    listeners: Sequence[Listener] = (),
    on_generation: Callable[[Generation], None] = lambda generation: None,
    **options: Unpack[SearchKeywords],
) -> SearchOutcome:
    """Search the designs of a sweep for the best by its objectives; a store of the same search is resumed.

    The section `design` gives the space of designs (`DesignSpace`). The section `study` gives objectives, conditions
    and operating cases, unless `objectives`, `where` and `cases` are given. Other options: `method` (nsga2, nsga3, gp,
    tpe or random), `generations` (20), `population` (64 designs each), `seed` (0), `coarse` (a subset of the sweep
    file, by which the best of `candidates` (4) for each design are selected). Each generation is computed on the
    cluster as a run would be, and appended to the store. Raises InputError, and StoreError for a store of something
    else; see `run` for the cluster and other errors.

        >>> text = '''
        ... limbsweep: 1
        ... robot: five_bar
        ... design:
        ...   sample: {method: sobol, count: 1, seed: 1, parameters: {proximal_length: {low: 0.5, high: 0.56}}}
        ... trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}
        ... time: {stop: 1, step: 0.1}
        ... metrics: [peak_force]
        ... '''
        >>> found = ls.study.search(
        ...     ls.Sweep.from_text(text), "found.zarr", objectives=["peak_force"], generations=2, population=4
        ... )
        >>> found.generations[-1].designs
        8
    """
    sweep = Sweep.checked(sweep)
    cluster = None if cluster is None else as_cluster(cluster)
    question = asked_question(sweep, options)
    space = DesignSpace.to_search(sweep, question.cases)
    place = GenerationStore.at(sweep, space, question, store)
    state = SearchState.of(space, (place,), search_options(options), on_generation)
    state.run(cluster, listeners)
    costs, feasible, best = state.front()
    designs, share = (
        place.results().isel(design=slice(0, len(costs))),
        _share(place, np.concatenate(state.violations), len(best)),
    )
    return SearchOutcome(designs, costs, feasible, best, state.progress, share)


@dataclass(frozen=True)
class FamilyShare:
    """Result of a robot in a search: numbers of designs, of feasible designs, of designs on the front; `broken`.

    broken: number of designs that break a condition, by its text. Designs with failed samples come first and are
    counted apart.
    """

    robot: str
    designs: int
    feasible: int
    front: int
    broken: Mapping[str, int]

    def __str__(self) -> str:
        """Format the share in one line for people; for a robot that cannot do the task, the reason."""
        if not self.designs:
            return f"{self.robot}: no design was asked for"
        if self.feasible:
            return (
                f"{self.robot}: {self.feasible:,} of {self.designs:,} designs are feasible, {self.front:,} on the front"
            )
        counts = [f"{text} by {count:,}" for text, count in self.broken.items() if count]
        return f"{self.robot}: none of {self.designs:,} designs can do the task: {', '.join(counts)}"


@dataclass(frozen=True, eq=False)
class FamilyOutcome:
    """Result of a search over several robots, design by design in the order of the requests.

    designs: for each robot its designs with their metrics by case; robots (n,) and numbers (n,): the robot of a design
    and its place among those of this robot. costs (n, objective) are to be small; `front` are numbers of designs, the
    best by the first objective first.
    """

    designs: Mapping[str, xr.Dataset]
    robots: tuple[str, ...]
    numbers: NDArray[np.intp]
    costs: Array
    feasible: NDArray[np.bool_]
    front: NDArray[np.intp]
    generations: tuple[Generation, ...]
    shares: tuple[FamilyShare, ...]

    def design(self, number: int) -> dict[str, float | str]:
        """Return the robot of a design, and the parameters that vary among the designs of that robot."""
        robot, place = self.robots[number], int(self.numbers[number])
        ds = self.designs[robot]
        return {ROBOT: robot, **{name: float(ds[name].values[place]) for name in varied_numbers(ds)}}


@check_arguments
def search_families(
    sweeps: Sequence[Sweep],
    folder: str | os.PathLike[str],
    *,
    cluster: ClusterLike = None,
    listeners: Sequence[Listener] = (),
    on_generation: Callable[[Generation], None] = lambda generation: None,
    **options: Unpack[SearchKeywords],
) -> FamilyOutcome:
    """Search the designs of several robots for the best of all; stores of the same search are resumed.

    The robot is a category of the search, the parameters of each are those of its own section `design`; see
    `FamilySpace`. `sweeps` are those of a file with `robots`, which `read_sweeps` reads. The folder gets a store for
    each robot, as one of a search of this robot alone. Other options are those of `search`. Raises InputError where
    robots have other cases, or numbers of the question other units, and StoreError for stores of something else.

        >>> sample = "{sample: {method: sobol, count: 1, seed: 1, parameters: {rod_length: {low: 0.3, high: 0.6}}}}"
        >>> text = f'''
        ... limbsweep: 1
        ... robots: {{linear_delta: {{design: {sample}}}, orthoglide: {{design: {sample}}}}}
        ... trajectories: {{c: {{kind: circle, radius: 0.02}}}}
        ... time: {{stop: 1, step: 0.2}}
        ... metrics: [peak_power]
        ... study: {{objectives: peak_power}}
        ... '''
        >>> sweeps = [ls.Sweep.from_text(text + f"robot: {robot}") for robot in ("linear_delta", "orthoglide")]
        >>> found = ls.study.search_families(sweeps, "families", generations=1, population=8)
        >>> len(found.robots), found.design(int(found.front[0]))["robot"] in found.robots
        (8, True)
    """
    checked = [Sweep.checked(sweep) for sweep in sweeps]
    cluster = None if cluster is None else as_cluster(cluster)
    question = asked_question(checked[0], options) if checked else None
    space = FamilySpace.of(checked, question)
    assert question is not None  # without sweeps there is no space
    stores = [
        GenerationStore.at(sweep, space_of, question, f"{os.fspath(folder)}/{sweep.robot}.zarr")
        for sweep, space_of in zip(checked, space.spaces.values(), strict=True)
    ]
    state = SearchState.of(space, stores, search_options(options), on_generation)
    state.run(cluster, listeners)
    return _family_outcome(state, stores)


def _family_outcome(state: SearchState, stores: Sequence[GenerationStore]) -> FamilyOutcome:
    """Return the result of a search over several robots, which is done."""
    costs, feasible, best = state.front()
    robots, numbers = _places(state)
    violations = np.concatenate(state.violations)
    shares = tuple(
        _share(store, violations[robots == k], int((robots[best] == k).sum())) for k, store in enumerate(stores)
    )
    designs = {
        store.sweep.robot: store.results().isel(design=slice(0, int((robots == k).sum())))
        for k, store in enumerate(stores)
        if (robots == k).any()
    }
    names = tuple(stores[k].sweep.robot for k in robots)
    return FamilyOutcome(designs, names, numbers, costs, feasible, best, state.progress, shares)


def _places(state: SearchState) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the number of the robot of each design, and its place among the designs of this robot."""
    robots, numbers = [], []
    begun = [0] * len(state.stores)
    for places in state.places:
        robot, number = (np.zeros(sum(map(len, places)), dtype=np.intp) for _ in range(2))
        for k, place in enumerate(places):
            robot[place], number[place] = k, begun[k] + np.arange(len(place))
            begun[k] += len(place)
        robots.append(robot)
        numbers.append(number)
    return np.concatenate(robots), np.concatenate(numbers)


def _share(store: GenerationStore, violations: Array, on_front: int) -> FamilyShare:
    names = ("failed samples", *(f"'{text}' is broken" for text in store.question.where))
    broken = violations[:, : len(names)] > 0.0
    broken[broken[:, 0], 1:] = False  # conditions of a design with failed samples do not count
    counts = broken.sum(axis=0).tolist()
    feasible = int((violations <= 0.0).all(axis=1).sum())
    return FamilyShare(store.sweep.robot, len(violations), feasible, on_front, dict(zip(names, counts, strict=True)))
