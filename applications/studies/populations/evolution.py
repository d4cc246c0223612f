"""NSGA-II and NSGA-III of pymoo on the genes of a space."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import comb
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from applications.studies.columns import Array, Indices, refuse
from applications.studies.populations.asking import FAILED, SearchSettings
from applications.studies.populations.genes import Gene, Genome, Proposals, designs

TRIES = 20
"""Successive populations without a new design after which the search ends."""


class Evolution:
    """NSGA-II, or NSGA-III by directions; operators for mixed variables where some genes are steps or names.

    start: points (n, variable) of the first generation, in place of random ones.
    """

    def __init__(self, settings: SearchSettings, *, by_directions: bool = False, start: Array | None = None) -> None:
        from pymoo.core.problem import Problem
        from pymoo.core.termination import NoTermination

        self.genome = Genome.of(settings.space)
        self.proposals = Proposals(self.genome)
        counts = {"n_obj": settings.objectives, "n_ieq_constr": settings.conditions}
        options: dict[str, Any] = {"pop_size": settings.population, "n_offsprings": settings.requested}
        if self.genome.is_real:
            self.problem = Problem(n_var=len(self.genome.genes), xl=0.0, xu=1.0, **counts)
            options |= {} if settings.space.is_continuous else {"eliminate_duplicates": _distinct(self.genome)}
        else:
            self.problem = Problem(
                vars={_key(k): _variable(gene) for k, gene in enumerate(self.genome.genes)}, **counts
            )
            options |= _mixed_operators(self.genome)
        if start is not None:
            options["sampling"] = _population(self.genome, start)
        self.algorithm = _nsga(settings, by_directions, options)
        self.algorithm.setup(self.problem, termination=NoTermination(), seed=settings.seed, verbose=False)
        self.asked: Any = None
        self.is_new = np.zeros(0, dtype=bool)

    def ask(self) -> Array:
        """Return the next points: no design twice, and only designs that are robots."""
        for _ in range(TRIES):
            self.asked = self.algorithm.ask()
            if self.asked is None or not len(self.asked):
                break
            points, self.is_new = self.proposals.new(self.genome.points(_table(self.genome, self.asked.get("X"))))
            if not self.genome.space.is_continuous:  # the genes of the rows themselves
                self.asked[self.is_new].set("X", _individuals(self.genome, points))
            if len(points):
                return points
            self.tell(np.zeros((0, self.problem.n_obj)), np.zeros((0, self.problem.n_ieq_constr)))
        return np.zeros((0, len(self.genome.space.variables)))

    def keep(self, rows: Indices) -> None:
        """Take some of the last points as all that were asked for."""
        self.asked = self.asked[np.flatnonzero(self.is_new)[rows]]
        self.is_new = np.ones(len(self.asked), dtype=bool)

    def tell(self, costs: Array, violations: Array) -> None:
        """Receive the costs and violations of the last points."""
        from pymoo.core.evaluator import Evaluator
        from pymoo.problems.static import StaticProblem

        finite = np.full((len(self.asked), costs.shape[1]), FAILED)
        broken = np.ones((len(self.asked), violations.shape[1]))  # of designs that are left out
        finite[self.is_new] = np.where(np.isfinite(costs), costs, FAILED)
        broken[self.is_new] = violations
        Evaluator().eval(StaticProblem(self.problem, F=finite, G=broken), self.asked)
        self.algorithm.tell(infills=self.asked)


def _nsga(settings: SearchSettings, by_directions: bool, options: dict[str, Any]) -> Any:
    if not by_directions:
        from pymoo.algorithms.moo.nsga2 import NSGA2

        return NSGA2(**options)
    from pymoo.algorithms.moo.nsga3 import NSGA3
    from pymoo.util.ref_dirs import get_reference_directions

    if settings.objectives < 2:
        raise refuse("method", "nsga3 for one objective", "two objectives or more", "Take nsga2.")
    parts = 1
    while comb(settings.objectives + parts, parts + 1) <= settings.population:  # directions of Das and Dennis
        parts += 1
    directions = get_reference_directions("das-dennis", settings.objectives, n_partitions=parts)
    return NSGA3(ref_dirs=directions, **options)


def _key(k: int) -> str:
    return f"{k:04d}"


def _variable(gene: Gene) -> Any:
    from pymoo.core.variable import Choice, Integer, Real

    if gene.kind == "real":
        return Real(bounds=(0.0, 1.0))
    return Integer(bounds=(0, gene.count - 1)) if gene.kind == "step" else Choice(options=list(range(gene.count)))


def _table(genome: Genome, individuals: Iterable[Mapping[str, float]]) -> Array:
    """Return the genes (n, gene) of individuals of pymoo."""
    if genome.is_real:
        return np.atleast_2d(np.asarray(individuals, dtype=float))
    keys = [_key(k) for k in range(len(genome.genes))]
    return np.array([[values[key] for key in keys] for values in individuals], dtype=float).reshape(-1, len(keys))


def _individuals(genome: Genome, points: Array) -> Any:
    """Return points as pymoo has them: arrays of genes, or values by name where some are whole numbers."""
    table = genome.of_points(points)
    if genome.is_real:
        return table
    kinds = [float if gene.kind == "real" else int for gene in genome.genes]
    rows = [{_key(k): kind(value) for k, (kind, value) in enumerate(zip(kinds, row, strict=True))} for row in table]
    return np.array(rows, dtype=object)


def _population(genome: Genome, points: Array) -> Any:
    from pymoo.core.population import Population

    return Population.new("X", _individuals(genome, points))


def _mixed_operators(genome: Genome) -> dict[str, Any]:
    from pymoo.core.mixed import MixedVariableDuplicateElimination, MixedVariableMating, MixedVariableSampling

    is_plain = len(genome.genes) == len(genome.space.variables) and not genome.space.is_conditional
    distinct = MixedVariableDuplicateElimination() if is_plain else _distinct(genome)
    mating = MixedVariableMating(eliminate_duplicates=distinct)
    return {"sampling": MixedVariableSampling(), "mating": mating, "eliminate_duplicates": distinct}


class _Individuals(Protocol):
    """A population of pymoo."""

    def __len__(self) -> int: ...

    def get(self, name: str) -> Iterable[Mapping[str, float]]: ...


def _distinct(genome: Genome) -> Any:
    """Make the filter that removes points which differ in no coordinate that counts for their designs."""
    from pymoo.core.duplicate import DuplicateElimination

    def keys(population: _Individuals) -> list[bytes]:
        return designs(genome.space, genome.points(_table(genome, population.get("X")))) if len(population) else []

    class Distinct(DuplicateElimination):
        def _do(
            self, pop: _Individuals, rest_of_population: _Individuals | None, is_duplicate: NDArray[np.bool_]
        ) -> NDArray[np.bool_]:
            seen = set() if rest_of_population is None else set(keys(rest_of_population))
            for k, design in enumerate(keys(pop)):
                is_duplicate[k] = design in seen
                seen.add(design)
            return is_duplicate

    return Distinct()
