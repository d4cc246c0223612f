"""Methods that propose populations of points and get their costs: a table of names and constructors.

All are deterministic: the same seed, population and answers give the same points, so that a search is resumed by asking
and telling again the designs of a store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from applications.studies.columns import Array, Indices, refuse
from applications.studies.populations.asking import AskTell, SearchSettings
from applications.studies.populations.evolution import Evolution
from applications.studies.populations.genes import Genome, Proposals
from applications.studies.populations.parzen import Parzen
from applications.studies.populations.processes import Processes
from robots.arguments import check_arguments
from robots.extras import require_extra

EXTRA = "search"


TRIES = 20
"""Successive populations without a new design after which the search ends."""


class _Random:
    """Points spread evenly at random, independent of costs."""

    def __init__(self, settings: SearchSettings) -> None:
        self.settings, self.generator = settings, np.random.default_rng(settings.seed)
        self.proposals = Proposals(Genome.of(settings.space))

    def ask(self) -> Array:
        for _ in range(TRIES):
            points, _ = self.proposals.new(self.settings.space.random(self.generator, self.settings.requested))
            if len(points):
                break
        return points

    def keep(self, rows: Indices) -> None:
        """Do nothing: a random search keeps no proposals."""

    def tell(self, costs: Array, violations: Array) -> None:
        """Do nothing: a random search does not learn."""


class SearchMethod(NamedTuple):
    """Search method: its constructor, the packages that it needs, and its description."""

    make: Callable[[SearchSettings], AskTell]
    modules: tuple[str, ...]
    text: str


METHODS: Mapping[str, SearchMethod] = {
    "nsga2": SearchMethod(Evolution, ("pymoo", "moocore"), "NSGA-II of pymoo"),
    "nsga3": SearchMethod(lambda s: Evolution(s, by_directions=True), ("pymoo", "moocore"), "NSGA-III of pymoo"),
    "gp": SearchMethod(Processes, ("sklearn", "pymoo", "moocore"), "Gaussian processes of scikit-learn"),
    "tpe": SearchMethod(Parzen, ("optuna", "moocore"), "tree-structured Parzen estimator of Optuna"),
    "random": SearchMethod(_Random, ("moocore",), "random designs, to compare with"),
}
"""Methods by the name that users give."""


@check_arguments
def ask_and_tell(name: str, settings: SearchSettings) -> AskTell:
    """Make a method: `nsga2`, `nsga3`, `gp`, `tpe` or `random`, to be asked for points and told costs and violations.

    Raises InputError for an unknown one, and where a package is missing.

        >>> space = ls.study.DesignSpace.to_search(ls.Sweep.from_yaml("sweep.yaml"))
        >>> method = ls.study.ask_and_tell("nsga2", ls.study.SearchSettings(space, 1, 1, 4, seed=1))
        >>> points = method.ask()
        >>> method.tell(costs=points[:, :1], violations=np.zeros((len(points), 1)))
        >>> method.ask().shape[1]  # (design, variable)
        2
    """
    if name not in METHODS:
        raise refuse("method", repr(name), f"one of {', '.join(METHODS)}")
    if settings.population < 2 or settings.population > 100_000:
        raise refuse("population", str(settings.population), "2 to 100,000 designs")
    if settings.candidates < 1 or settings.requested > 100_000:
        expected = f"1 to {100_000 // settings.population:,} for each of {settings.population:,} designs"
        raise refuse("candidates", str(settings.candidates), expected)
    for module in METHODS[name].modules:
        require_extra(module, EXTRA)
    return METHODS[name].make(settings)


@check_arguments
def hypervolume(costs: Array, reference: Array) -> float:
    """Compute the volume that the costs (n, objective) of some designs dominate, up to a reference point (objective,).

    Designs beyond the reference, and those with NaN, add nothing. By the package moocore.

        >>> ls.study.hypervolume([[0.2, 0.4], [0.5, 0.1]], [1.0, 1.0])
        0.63
    """
    import moocore

    table, limit = np.atleast_2d(np.asarray(costs, dtype=float)), np.asarray(reference, dtype=float)
    if limit.ndim != 1 or table.ndim != 2 or table.shape[1] != len(limit):
        got = f"arrays of shapes {table.shape} and {limit.shape}"
        raise ValueError(f"costs, reference: got {got}; expected (n, objective) and (objective,)")
    inside = table[(table < limit).all(axis=1)]
    return float(moocore.hypervolume(inside, ref=limit)) if len(inside) else 0.0
