"""Tree-structured Parzen estimators of Optuna on the genes of a space."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from applications.studies.columns import Array, Indices
from applications.studies.populations.asking import SearchSettings
from applications.studies.populations.genes import Gene, Genome, Proposals

if TYPE_CHECKING:
    from optuna import Trial


TRIES = 20
"""Designs that are asked for in place of one, until it is a new one."""


class Parzen:
    """The tree-structured Parzen estimator of Optuna, several points at a time by its constant liar."""

    def __init__(self, settings: SearchSettings) -> None:
        import optuna
        from optuna.exceptions import ExperimentalWarning

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.genome, self.requested = Genome.of(settings.space), settings.requested
        self.proposals = Proposals(self.genome)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)  # of arguments that Optuna may change
            sampler = optuna.samplers.TPESampler(
                seed=settings.seed, multivariate=True, constant_liar=True, n_startup_trials=settings.population,
                group=settings.space.is_conditional,
            )  # fmt: skip
        self.study = optuna.create_study(sampler=sampler, directions=["minimize" for _ in range(settings.objectives)])
        self.asked: list[Trial] = []
        self.worst = np.full(settings.objectives, -np.inf)

    def ask(self) -> Array:
        """Return the next points: no design twice, and only designs that are robots."""
        self.asked = []
        points: list[Array] = []
        for _ in range(TRIES * self.requested):
            if len(points) == self.requested:
                break
            trial, genes = self._trial()
            proposed = self.genome.points(genes[None])
            new, _ = self.proposals.new(proposed)
            if not np.array_equal(new, proposed):
                trial = self._replaced(trial, new)
            if len(new):
                self.asked.append(trial)
                points.append(new[0])
        return np.array(points).reshape(-1, len(self.genome.space.variables))

    def _trial(self) -> tuple[Trial, Array]:
        """Return a trial and its genes, variable by variable: which count follows from those before; others are 0."""
        space, genes = self.genome.space, np.zeros(len(self.genome.genes))
        if not space.is_conditional:
            trial = self.study.ask({_key(k): _distribution(gene) for k, gene in enumerate(self.genome.genes)})
            return trial, np.array([float(trial.params[_key(k)]) for k in range(len(genes))])
        trial, point = self.study.ask(), np.zeros(len(space.variables))
        for variable in range(len(point)):
            if space.active(point[None])[0, variable]:
                for k in self.genome.places(variable):
                    genes[k] = _suggest(trial, _key(k), self.genome.genes[k])
                point = self.genome.points(genes[None])[0]
        return trial, genes

    def _replaced(self, trial: Trial, new: Array) -> Trial:
        """Return a trial of the design that replaces a repeated one, which counts as failed."""
        from optuna.trial import TrialState

        self.study.tell(trial, state=TrialState.FAIL)
        if not len(new):
            return trial
        kinds = [float if gene.kind == "real" else int for gene in self.genome.genes]
        genes = self.genome.of_points(new)[0]
        self.study.enqueue_trial({_key(k): kind(x) for k, (kind, x) in enumerate(zip(kinds, genes, strict=True))})
        return self._trial()[0]

    def keep(self, rows: Indices) -> None:
        """Keep some of the last points as the only proposals; the others count as failed."""
        from optuna.trial import TrialState

        for trial in (trial for k, trial in enumerate(self.asked) if k not in rows):
            self.study.tell(trial, state=TrialState.FAIL)
        self.asked = [self.asked[k] for k in rows]

    def tell(self, costs: Array, violations: Array) -> None:
        """Receive the costs and violations of the last points."""
        finite = np.where(np.isfinite(costs), costs, -np.inf)
        self.worst = np.maximum(self.worst, finite.max(axis=0, initial=-np.inf))
        worst = np.where(np.isfinite(self.worst), self.worst, 0.0)
        for trial, cost, violation in zip(self.asked, costs, violations, strict=True):
            for k, amount in enumerate(violation.tolist()):
                trial.set_constraint(_key(k), amount)
            self.study.tell(trial, np.where(np.isfinite(cost), cost, worst).tolist())


def _key(k: int) -> str:
    return f"{k:04d}"


def _distribution(gene: Gene) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if gene.kind == "real":
        return FloatDistribution(0.0, 1.0)
    if gene.kind == "step":
        return IntDistribution(0, gene.count - 1)
    return CategoricalDistribution(list(range(gene.count)))


def _suggest(trial: Trial, name: str, gene: Gene) -> float:
    if gene.kind == "real":
        return trial.suggest_float(name, 0.0, 1.0)
    if gene.kind == "step":
        return trial.suggest_int(name, 0, gene.count - 1)
    return trial.suggest_categorical(name, range(gene.count))
