"""Search a space of designs: ask a method, compute a generation on the cluster, append it to a store, tell, again.

Nothing of a method is stored. A search is gone on with by asking it again and telling it what the store holds, so that
one that was killed ends with the front that it would have had.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import xarray as xr
from numpy import bool_, intp
from numpy.typing import NDArray

from pipeline.cluster.clients import ClusterLike
from pipeline.monitor.events import Listener
from pipeline.study.columns import Array
from pipeline.study.populations.generations import GenerationStore
from pipeline.study.populations.state import Generation, SearchOptions, SearchState, asked_question
from pipeline.study.space import DesignSpace
from pipeline.sweep.model import Sweep
from storage.places.location import LocationLike


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """What a search has found: all designs with their metrics by case, which are on the front, its generations.

    costs (design, objective) are to be small; `front` (n,) are numbers of designs, the best by the first objective
    first.
    """

    designs: xr.Dataset
    costs: Array
    feasible: NDArray[bool_]
    front: NDArray[intp]
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

    The section `design` says what a design may be (`DesignSpace`), the section `study` objectives, conditions and
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
    question = asked_question(sweep, objectives, where, cases)
    space = DesignSpace.to_search(sweep, question.cases)
    place = GenerationStore.at(sweep, space, question, store)
    state = SearchState.of(space, (place,), SearchOptions(method, generations, population, seed), on_generation)
    state.run(cluster, listeners)
    costs, feasible, chosen = state.front()
    return SearchOutcome(place.results().isel(design=slice(0, len(costs))), costs, feasible, chosen, state.progress)
