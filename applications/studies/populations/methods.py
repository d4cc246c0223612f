"""Methods that propose populations of points and get their costs: a table of names and constructors.

All are deterministic: the same seed, population and answers give the same points, so that a search is gone on with by
asking and telling again what a store holds.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from applications.studies.columns import Array, refuse
from applications.studies.points import Choice, PointSpace, Variable
from robots.arguments import check_arguments
from robots.extras import require_extra

if TYPE_CHECKING:
    from optuna import Trial

EXTRA = "search"

FAILED = 1e20
"""Cost that replaces NaN and infinity. A design with this cost violates a condition, which is judged first."""


class AskTell(Protocol):
    """Asks for points (n, variable) of a space, and is told costs (n, objective) and violations (n, condition)."""

    def ask(self) -> Array:
        """Return the next points; none where the method finds no other ones."""

    def tell(self, costs: Array, violations: Array) -> None:
        """Receive the costs of the last points, and their violations of each condition; 0 where it is met."""


class SearchSettings(NamedTuple):
    """Settings of a method: space, numbers of objectives and of conditions, points at a time, seed.

    >>> space = ls.study.DesignSpace.to_search(ls.Sweep.from_yaml("sweep.yaml"))
    >>> ls.study.SearchSettings(space, objectives=2, conditions=1, population=16, seed=1).population
    16
    """

    space: PointSpace
    objectives: int
    conditions: int
    population: int
    seed: int


class _Random:
    """Points spread evenly at random, whatever is told."""

    def __init__(self, settings: SearchSettings) -> None:
        self.settings, self.generator = settings, np.random.default_rng(settings.seed)

    def ask(self) -> Array:
        return self.settings.space.random(self.generator, self.settings.population)

    def tell(self, costs: Array, violations: Array) -> None:
        """Nothing is made of it."""


class _Evolution:
    """NSGA-II or NSGA-III of pymoo; operators for mixed variables where some are choices."""

    def __init__(self, settings: SearchSettings, *, by_directions: bool) -> None:
        from pymoo.core.problem import Problem
        from pymoo.core.termination import NoTermination

        self.space = settings.space
        counts = {"n_obj": settings.objectives, "n_ieq_constr": settings.conditions}
        options: dict[str, Any] = {"pop_size": settings.population}
        if self.space.is_continuous:
            self.problem = Problem(n_var=len(self.space.variables), xl=0.0, xu=1.0, **counts)
        else:
            self.problem = Problem(vars=_mixed_variables(self.space), **counts)
            options |= _mixed_operators(self.space)
        self.algorithm = _nsga(settings, by_directions, options)
        self.algorithm.setup(self.problem, termination=NoTermination(), seed=settings.seed, verbose=False)
        self.asked: Any = None

    def ask(self) -> Array:
        self.asked = self.algorithm.ask()
        if self.asked is None or not len(self.asked):
            return np.zeros((0, len(self.space.variables)))
        points = self.asked.get("X")
        if self.space.is_continuous:
            return np.asarray(points, dtype=float)
        return np.array([[point[_key(k)] for k in range(len(self.space.variables))] for point in points], dtype=float)

    def tell(self, costs: Array, violations: Array) -> None:
        from pymoo.core.evaluator import Evaluator
        from pymoo.problems.static import StaticProblem

        finite = np.where(np.isfinite(costs), costs, FAILED)
        Evaluator().eval(StaticProblem(self.problem, F=finite, G=violations), self.asked)
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
    while _directions(settings.objectives, parts + 1) <= settings.population:
        parts += 1
    directions = get_reference_directions("das-dennis", settings.objectives, n_partitions=parts)
    return NSGA3(ref_dirs=directions, **options)


def _directions(objectives: int, parts: int) -> int:
    """Return the number of directions that the method of Das and Dennis makes."""
    from math import comb

    return comb(objectives + parts - 1, parts)


def _key(k: int) -> str:
    return f"{k:04d}"


def _mixed_variables(space: PointSpace) -> dict[str, Any]:
    from pymoo.core.variable import Choice as Category
    from pymoo.core.variable import Integer, Real

    def variable(k: int) -> Any:
        choice = space.variables[k]
        if not isinstance(choice, Choice):
            return Real(bounds=(0.0, 1.0))
        last = len(choice.rows) - 1
        return Integer(bounds=(0, last)) if choice.ordered and last else Category(options=list(range(last + 1)))

    return {_key(k): variable(k) for k in range(len(space.variables))}


def _mixed_operators(space: PointSpace) -> dict[str, Any]:
    from pymoo.core.mixed import MixedVariableDuplicateElimination, MixedVariableMating, MixedVariableSampling

    distinct = _distinct(space) if space.is_conditional else MixedVariableDuplicateElimination()
    mating = MixedVariableMating(eliminate_duplicates=distinct)
    return {"sampling": MixedVariableSampling(), "mating": mating, "eliminate_duplicates": distinct}


class _Individuals(Protocol):
    """A population of pymoo."""

    def get(self, name: str) -> Iterable[Mapping[str, float]]: ...


def _distinct(space: PointSpace) -> Any:
    """Make the filter that removes points which differ in no coordinate that counts for their designs."""
    from pymoo.core.duplicate import DuplicateElimination

    class Distinct(DuplicateElimination):
        def _do(
            self, pop: _Individuals, rest_of_population: _Individuals | None, is_duplicate: NDArray[np.bool_]
        ) -> NDArray[np.bool_]:
            seen = set() if rest_of_population is None else set(_designs(space, rest_of_population.get("X")))
            for k, design in enumerate(_designs(space, pop.get("X"))):
                is_duplicate[k] = design in seen
                seen.add(design)
            return is_duplicate

    return Distinct()


def _designs(space: PointSpace, individuals: Iterable[Mapping[str, float]]) -> list[bytes]:
    """Return the bits of the coordinates that count, of each individual."""
    keys = [_key(k) for k in range(len(space.variables))]
    points = np.array([[values[key] for key in keys] for values in individuals], dtype=float)
    return [row.tobytes() for row in np.where(space.active(points), points, np.nan)]


class _Parzen:
    """The tree-structured Parzen estimator of Optuna, several points at a time by its constant liar."""

    def __init__(self, settings: SearchSettings) -> None:
        import optuna
        from optuna.exceptions import ExperimentalWarning

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.space, self.population = settings.space, settings.population
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)  # of arguments that Optuna may change
            sampler = optuna.samplers.TPESampler(
                seed=settings.seed, multivariate=True, constant_liar=True, n_startup_trials=settings.population,
                group=self.space.is_conditional,
            )  # fmt: skip
        self.study = optuna.create_study(sampler=sampler, directions=["minimize" for _ in range(settings.objectives)])
        self.variables = {_key(k): _distribution(variable) for k, variable in enumerate(self.space.variables)}
        self.asked: list[Any] = []
        self.worst = np.full(settings.objectives, -np.inf)

    def ask(self) -> Array:
        if self.space.is_conditional:
            self.asked, points = [], []
            for _ in range(self.population):
                self.asked.append(self.study.ask())
                points.append(self._suggested(self.asked[-1]))
            return np.array(points)
        self.asked = [self.study.ask(self.variables) for _ in range(self.population)]
        return np.array([[float(trial.params[name]) for name in self.variables] for trial in self.asked])

    def _suggested(self, trial: Trial) -> Array:
        """The point of a trial, variable by variable: which count follows from those before; the others are 0."""
        point = np.zeros(len(self.variables))
        for k, variable in enumerate(self.space.variables):
            if self.space.active(point[None])[0, k]:
                point[k] = _suggest(trial, _key(k), variable)
        return point

    def tell(self, costs: Array, violations: Array) -> None:
        finite = np.where(np.isfinite(costs), costs, -np.inf)
        self.worst = np.maximum(self.worst, finite.max(axis=0, initial=-np.inf))
        worst = np.where(np.isfinite(self.worst), self.worst, 0.0)
        for trial, cost, violation in zip(self.asked, costs, violations, strict=True):
            for k, amount in enumerate(violation.tolist()):
                trial.set_constraint(_key(k), amount)
            self.study.tell(trial, np.where(np.isfinite(cost), cost, worst).tolist())


def _distribution(variable: object) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if not isinstance(variable, Choice):
        return FloatDistribution(0.0, 1.0)
    last = len(variable.rows) - 1
    return IntDistribution(0, last) if variable.ordered else CategoricalDistribution(list(range(last + 1)))


def _suggest(trial: Trial, name: str, variable: Variable) -> float:
    if not isinstance(variable, Choice):
        return trial.suggest_float(name, 0.0, 1.0)
    last = len(variable.rows) - 1
    return trial.suggest_int(name, 0, last) if variable.ordered else trial.suggest_categorical(name, range(last + 1))


class SearchMethod(NamedTuple):
    """Search method: its constructor, the packages that it needs, and its description."""

    make: Callable[[SearchSettings], AskTell]
    modules: tuple[str, ...]
    text: str


METHODS: Mapping[str, SearchMethod] = {
    "nsga2": SearchMethod(lambda s: _Evolution(s, by_directions=False), ("pymoo", "moocore"), "NSGA-II of pymoo"),
    "nsga3": SearchMethod(lambda s: _Evolution(s, by_directions=True), ("pymoo", "moocore"), "NSGA-III of pymoo"),
    "tpe": SearchMethod(_Parzen, ("optuna", "moocore"), "tree-structured Parzen estimator of Optuna"),
    "random": SearchMethod(_Random, ("moocore",), "random designs, to compare with"),
}
"""Methods by the name that users give."""


@check_arguments
def ask_and_tell(name: str, settings: SearchSettings) -> AskTell:
    """Make a method: `nsga2`, `nsga3`, `tpe` or `random`, to be asked for points and told costs and violations.

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
