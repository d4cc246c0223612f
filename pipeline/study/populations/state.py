"""The loop of a search: ask a method, compute what its stores lack, tell, again.

A search has a store for each of its robots, most often one. Nothing of a method is stored: a search is gone on with by
asking it again and telling it what the stores hold, so that one that was killed ends with the front that it would have
had. Where it was killed between the stores of one generation, those that have it are not computed again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.cluster.clients import ClusterLike, Connectable
from pipeline.monitor.events import Listener
from pipeline.study.columns import Array, Objective, objective, refuse
from pipeline.study.pareto import front
from pipeline.study.points import PointSpace
from pipeline.study.populations.generations import GenerationStore
from pipeline.study.populations.methods import AskTell, SearchSettings, ask_and_tell, hypervolume
from pipeline.study.populations.values import costs_and_violations
from pipeline.sweep.model import Sweep
from pipeline.sweep.question.question import StudyQuestion

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


class SearchOptions(NamedTuple):
    """A method by name, how many generations there are to be, of how many designs, and its seed."""

    method: str
    generations: int
    population: int
    seed: int


def asked_question(
    sweep: Sweep, objectives: Sequence[str] = (), where: Sequence[str] = (), cases: Sequence[str] = ()
) -> StudyQuestion:
    """The question of a search: that of the sweep with what is given instead. Raises InputError without objectives."""
    question = sweep.question.with_options(objectives, where, cases)
    if not question.objectives:
        hint = "Give --objective, or add a section study with objectives to the sweep."
        raise refuse("objective", "none", "one or more, such as peak_force", hint)
    return question


@dataclass
class _StoreOnTheWay:
    """A store of a search, and how much of it has been told: its points, and its results as they were read last."""

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
        """Designs that have been told."""
        return sum(map(len, self.points))

    def lacks_next(self) -> bool:
        """Whether the next designs have to be computed."""
        return self.told >= self.stored

    def require_same(self, points: Array) -> None:
        """See that the designs that come next are those of some points. Raises StoreError."""
        assert self.results is not None
        self.store.require_points(self.results, points, self.told)
        if self.told + len(points) == self.stored:
            self.store.require_sweep(np.concatenate([*self.points, points]))

    def compute(self, points: Array, workers: Connectable, listeners: Sequence[Listener]) -> None:
        """Compute the designs of some points, which come next."""
        self.store.compute(np.concatenate([*self.points, points]), workers, listeners)
        self._read()

    def values(self, points: Array, objectives: Sequence[Objective]) -> tuple[Array, Array]:
        """Costs and violations of the designs that come next, which count as told from now on."""
        assert self.results is not None
        first = self.told
        self.points.append(points)
        ds = self.results.isel(design=slice(first, first + len(points)))
        return costs_and_violations(ds, objectives, self.store.question.where)


@dataclass
class SearchState:
    """A search on its way: costs (design, objective) and violations (design, condition) in the order of asking."""

    space: PointSpace
    stores: tuple[_StoreOnTheWay, ...]
    asker: AskTell
    objectives: Sequence[Objective]
    generations: int
    on_generation: Callable[[Generation], None]
    costs: list[Array] = field(default_factory=list)
    violations: list[Array] = field(default_factory=list)
    places: list[tuple[NDArray[np.intp], ...]] = field(default_factory=list)
    """Of each generation the places of the designs of each store."""
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
        """The state before the first generation. Raises InputError."""
        if not 1 <= options.generations <= MAX_GENERATIONS:
            raise refuse("generations", str(options.generations), f"1 to {MAX_GENERATIONS:,}")
        objectives = [objective(text) for text in stores[0].question.objectives]
        conditions = 1 + max(len(store.question.where) for store in stores)
        asker = ask_and_tell(
            options.method, SearchSettings(space, len(objectives), conditions, options.population, options.seed)
        )
        parts = tuple(_StoreOnTheWay(store) for store in stores)
        return cls(space, parts, asker, objectives, options.generations, on_generation)

    def run(self, cluster: ClusterLike, listeners: Sequence[Listener]) -> None:
        """Go on until there are enough generations, or the method finds no other designs. Raises StoreError."""
        with ExitStack() as stack:
            workers: Connectable | None = None
            while len(self.progress) < self.generations and len(points := self.asker.ask()):
                clock, parts = time.perf_counter(), self.space.parts(points)
                parted = [(part, rows) for part, (_, rows) in zip(self.stores, parts, strict=True) if len(rows)]
                lacking = [part.lacks_next() for part, _ in parted]
                for (part, rows), lacks in zip(parted, lacking, strict=True):
                    if not lacks:
                        part.require_same(rows)
                for (part, rows), lacks in zip(parted, lacking, strict=True):
                    if lacks:
                        workers = workers or stack.enter_context(part.store.cluster(cluster, rows))
                        part.compute(rows, workers, listeners)
                self._tell(parts, time.perf_counter() - clock if any(lacking) else 0.0)

    def _tell(self, parts: Sequence[tuple[NDArray[np.intp], Array]], seconds: float) -> None:
        count = sum(len(places) for places, _ in parts)
        conditions = 1 + max(len(part.store.question.where) for part in self.stores)
        costs, violations = np.empty((count, len(self.objectives))), np.zeros((count, conditions))
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
        costs, feasible, chosen = self.front()
        if self.box is None and feasible.any():
            best, worst = costs[feasible].min(axis=0), costs[feasible].max(axis=0)
            self.box = worst, np.where(worst > best, worst - best, np.maximum(np.abs(worst), 1.0))
        volume = 0.0
        if self.box is not None and len(chosen):
            reference, size = self.box
            volume = hypervolume((costs[chosen] - reference) / size, np.zeros(costs.shape[1]))
        counts = len(costs), int(feasible.sum()), len(chosen)
        self.progress += (Generation(len(self.progress) + 1, *counts, volume, seconds),)
        self.on_generation(self.progress[-1])

    def front(self) -> tuple[Array, NDArray[np.bool_], NDArray[np.intp]]:
        """Costs of all designs, which are feasible, and the numbers of those that no other beats."""
        costs, violations = np.concatenate(self.costs), np.concatenate(self.violations)
        feasible = np.asarray((violations <= 0.0).all(axis=1))
        chosen = np.flatnonzero(front(np.where(feasible[:, None], costs, np.nan)))
        return costs, feasible, chosen[np.argsort(costs[chosen, 0], kind="stable")]
