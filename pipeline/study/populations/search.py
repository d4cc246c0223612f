"""Search a space of designs: ask a method, compute a generation on the cluster, append it to a store, tell, again.

Nothing of a method is stored. A search is gone on with by asking it again and telling it what the store holds, so that
one that was killed ends with the front that it would have had.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.cluster.clients import ClusterLike
from pipeline.monitor.events import Listener
from pipeline.study.columns import Array, objective, refuse
from pipeline.study.pareto import front
from pipeline.study.populations.generations import GenerationStore
from pipeline.study.populations.methods import AskTell, SearchSettings, ask_and_tell, hypervolume
from pipeline.study.populations.space import SearchSpace
from pipeline.study.populations.values import costs_and_violations
from pipeline.sweep.model import Sweep
from storage.places.location import LocationLike

MAX_GENERATIONS = 100_000


@dataclass(frozen=True)
class Generation:
    """How far a search is: its number from 1, designs so far, how many are feasible, how many on the front.

    The hypervolume is in units of the box of the first feasible generation, from its best to its worst costs; it does
    not become less. `seconds` are those of this generation, 0 where it was stored already.
    """

    number: int
    designs: int
    feasible: int
    front: int
    hypervolume: float
    seconds: float

    def __str__(self) -> str:
        """One line for people."""
        counts = (
            f"generation {self.number}: {self.designs:,} designs, {self.feasible:,} feasible, {self.front:,} on the"
        )
        spent = f"{self.seconds:.2g} s" if self.seconds else "stored already"
        return f"{counts} front, hypervolume {self.hypervolume:.4f}, {spent}"


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """What a search has found: all designs with their metrics by case, which are on the front, its generations.

    costs (design, objective) are to be small; `front` (n,) are numbers of designs, the best by the first objective
    first.
    """

    designs: xr.Dataset
    costs: Array
    feasible: NDArray[np.bool_]
    front: NDArray[np.intp]
    generations: tuple[Generation, ...]


def search(
    sweep: Sweep,
    store: LocationLike,
    *,
    method: str = "nsga2",
    generations: int = 20,
    population: int = 64,
    seed: int = 0,
    objectives: Sequence[str] = (),
    where: Sequence[str] = (),
    cases: Sequence[str] = (),
    cluster: ClusterLike = None,
    listeners: Sequence[Listener] = (),
    on_generation: Callable[[Generation], None] = lambda generation: None,
) -> SearchOutcome:
    """Search the designs of a sweep for the best by its objectives; a store of the same search is gone on with.

    The section `design` says what a design may be (`SearchSpace`), the section `study` objectives, conditions and
    operating cases, unless they are given. Methods are `nsga2`, `nsga3`, `tpe` and `random`. Each generation is
    computed on the cluster as a run would be, and appended to the store. Raises InputError, and StoreError for a store
    of something else; see `run` for the cluster and what else is raised.

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
    if not 1 <= generations <= MAX_GENERATIONS:
        raise refuse("generations", str(generations), f"1 to {MAX_GENERATIONS:,}")
    question = sweep.question.with_options(objectives, where, cases)
    if not question.objectives:
        hint = "Give --objective, or add a section study with objectives to the sweep."
        raise refuse("objective", "none", "one or more, such as peak_force", hint)
    space = SearchSpace.of(sweep, question.cases)
    question = replace(question, where=(*space.where, *question.where))
    settings = SearchSettings(space, len(question.objectives), 1 + len(question.where), population, seed)
    asker = ask_and_tell(method, settings)
    place = GenerationStore.at(sweep, space, question, store)
    state = _State(place, asker, on_generation)
    state.replay(generations)
    if len(state.generations) < generations:
        state.go_on(generations, cluster, listeners)
    return state.outcome()


@dataclass
class _State:
    """A search on its way: points, costs and violations of all designs so far."""

    store: GenerationStore
    asker: AskTell
    on_generation: Callable[[Generation], None]
    points: list[Array] = field(default_factory=list)
    costs: list[Array] = field(default_factory=list)
    violations: list[Array] = field(default_factory=list)
    generations: list[Generation] = field(default_factory=list)
    box: tuple[Array, Array] | None = None

    def __post_init__(self) -> None:
        self.objectives = [objective(text) for text in self.store.question.objectives]

    @property
    def _count(self) -> int:
        return sum(map(len, self.points))

    def replay(self, generations: int) -> None:
        """Ask for, and tell, the generations that the store has. Raises StoreError where they are others."""
        if not (stored := self.store.count):
            return
        ds = self.store.results()
        while self._count < stored and len(self.generations) < generations:
            points, first = self.asker.ask(), self._count
            if not len(points):
                break
            self.store.require_points(ds, points, first)
            self._tell(ds.isel(design=slice(first, first + len(points))), points, 0.0)
        if self._count == stored:
            self.store.require_sweep(np.concatenate(self.points))

    def go_on(self, generations: int, cluster: ClusterLike, listeners: Sequence[Listener]) -> None:
        """Compute the generations that the store lacks."""
        points = self.asker.ask()
        if not len(points):
            return
        with self.store.cluster(cluster, points) as workers:
            while len(points):
                clock = time.perf_counter()
                self.store.compute(np.concatenate([*self.points, points]), workers, listeners)
                ds = self.store.results().isel(design=slice(self._count, None))
                self._tell(ds, points, time.perf_counter() - clock)
                if len(self.generations) >= generations:
                    return
                points = self.asker.ask()

    def _tell(self, ds: xr.Dataset, points: Array, seconds: float) -> None:
        costs, violations = costs_and_violations(ds, self.objectives, self.store.question.where)
        self.asker.tell(costs, violations)
        self.points.append(points)
        self.costs.append(costs)
        self.violations.append(violations)
        self._report(seconds)

    def _report(self, seconds: float) -> None:
        costs, feasible, chosen = self._front()
        if self.box is None and feasible.any():
            best, worst = costs[feasible].min(axis=0), costs[feasible].max(axis=0)
            self.box = worst, np.where(worst > best, worst - best, np.maximum(np.abs(worst), 1.0))
        volume = 0.0
        if self.box is not None and len(chosen):
            reference, size = self.box
            volume = hypervolume((costs[chosen] - reference) / size, np.zeros(costs.shape[1]))
        counts = self._count, int(feasible.sum()), len(chosen)
        self.generations.append(Generation(len(self.generations) + 1, *counts, volume, seconds))
        self.on_generation(self.generations[-1])

    def _front(self) -> tuple[Array, NDArray[np.bool_], NDArray[np.intp]]:
        costs, violations = np.concatenate(self.costs), np.concatenate(self.violations)
        feasible = np.asarray((violations <= 0.0).all(axis=1))
        chosen = np.flatnonzero(front(np.where(feasible[:, None], costs, np.nan)))
        return costs, feasible, chosen[np.argsort(costs[chosen, 0], kind="stable")]

    def outcome(self) -> SearchOutcome:
        """What was found."""
        costs, feasible, chosen = self._front()
        designs = self.store.results().isel(design=slice(0, self._count))
        return SearchOutcome(designs, costs, feasible, chosen, tuple(self.generations))
