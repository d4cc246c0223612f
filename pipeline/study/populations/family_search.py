"""Search the designs of several robots at once: the robot is a category, each has a store of its own in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.cluster.clients import ClusterLike
from pipeline.monitor.events import Listener
from pipeline.study.columns import Array
from pipeline.study.populations.families import ROBOT, FamilySpace
from pipeline.study.populations.generations import GenerationStore
from pipeline.study.populations.state import Generation, SearchOptions, SearchState, asked_question
from pipeline.study.space import varied_numbers
from pipeline.sweep.model import Sweep


@dataclass(frozen=True)
class FamilyShare:
    """How a robot did in a search: designs, how many of them are feasible and how many on the front; what they break.

    broken: designs that break a condition, by its text, those with failed samples first, and
    apart.
    """

    robot: str
    designs: int
    feasible: int
    front: int
    broken: Mapping[str, int]

    def __str__(self) -> str:
        """One line for people; of a robot that cannot do the task why."""
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
    """What a search over several robots has found, design by design in the order in which they were asked for.

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
        """The robot of a design, and the parameters that vary among the designs of that robot."""
        robot, place = self.robots[number], int(self.numbers[number])
        ds = self.designs[robot]
        return {ROBOT: robot, **{name: float(ds[name].values[place]) for name in varied_numbers(ds)}}


def search_families(
    sweeps: Sequence[Sweep],
    folder: str | os.PathLike[str],
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
) -> FamilyOutcome:
    """Search the designs of several robots for the best of all; stores of the same search are gone on with.

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
    question = asked_question(checked[0], objectives, where, cases) if checked else None
    space = FamilySpace.of(checked, question)
    assert question is not None  # without sweeps there is no space
    stores = [
        GenerationStore.at(
            sweep,
            space_of,
            replace(question, where=(*space_of.where, *question.where)),
            f"{os.fspath(folder)}/{sweep.robot}.zarr",
        )
        for sweep, space_of in zip(checked, space.spaces.values(), strict=True)
    ]
    state = SearchState.of(space, stores, SearchOptions(method, generations, population, seed), on_generation)
    state.run(cluster, listeners)
    costs, feasible, chosen = state.front()
    robots, numbers = _places(state)
    violations = np.concatenate(state.violations)
    shares = tuple(
        _share(store, violations[robots == k], int((robots[chosen] == k).sum())) for k, store in enumerate(stores)
    )
    designs = {
        store.sweep.robot: store.results().isel(design=slice(0, int((robots == k).sum())))
        for k, store in enumerate(stores)
        if (robots == k).any()
    }
    names = tuple(stores[k].sweep.robot for k in robots)
    return FamilyOutcome(designs, names, numbers, costs, feasible, chosen, state.progress, shares)


def _places(state: SearchState) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The number of the robot of each design, and its place among the designs of this robot."""
    robots, numbers = [], []
    begun = [0] * len(state.stores)
    for places in state.places:
        robot, number = (np.zeros(sum(map(len, places)), dtype=np.intp) for _ in range(2))
        for k, chosen in enumerate(places):
            robot[chosen], number[chosen] = k, begun[k] + np.arange(len(chosen))
            begun[k] += len(chosen)
        robots.append(robot)
        numbers.append(number)
    return np.concatenate(robots), np.concatenate(numbers)


def _share(store: GenerationStore, violations: Array, on_front: int) -> FamilyShare:
    names = ("failed samples", *(f"'{text}' is broken" for text in store.question.where))
    broken = violations[:, : len(names)] > 0.0
    broken[broken[:, 0], 1:] = False  # of a design whose samples fail the conditions say nothing
    counts = broken.sum(axis=0).tolist()
    feasible = int((violations <= 0.0).all(axis=1).sum())
    return FamilyShare(store.sweep.robot, len(violations), feasible, on_front, dict(zip(names, counts, strict=True)))
