"""Records that all methods of search share: how they are asked and told, and their settings."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from applications.studies.columns import Array, Indices
from applications.studies.points import PointSpace

FAILED = 1e20
"""Cost that replaces NaN and infinity. A design with this cost violates a condition, which is judged first."""


class AskTell(Protocol):
    """Proposer of points (n, variable) of a space; it gets costs (n, objective) and violations (n, condition)."""

    def ask(self) -> Array:
        """Return the next points, `candidates` times the population at most; none where there are no other ones."""

    def keep(self, rows: Indices) -> None:
        """Keep some of the last points as the only proposals: costs follow for these alone."""

    def tell(self, costs: Array, violations: Array) -> None:
        """Receive the costs of the last points, and by how much each violates each condition; met: 0 or less."""


@runtime_checkable
class Remembering(AskTell, Protocol):
    """Method whose next points follow from all designs so far, not from its own state: it can resume anywhere."""

    def remember(self, points: Array) -> Array:
        """Record points as the last proposals, and return them in the form in which the method would propose them."""


class SearchSettings(NamedTuple):
    """Settings of a method: space, numbers of objectives and of conditions, number of points evaluated at a time, seed.

    candidates: points that are proposed for each evaluated one; `keep` leaves the others out.

    >>> space = ls.study.DesignSpace.to_search(ls.Sweep.from_yaml("sweep.yaml"))
    >>> ls.study.SearchSettings(space, objectives=2, conditions=1, population=16, seed=1).population
    16
    """

    space: PointSpace
    objectives: int
    conditions: int
    population: int
    seed: int
    candidates: int = 1

    @property
    def requested(self) -> int:
        """Points that are asked for at a time."""
        return self.population * self.candidates
