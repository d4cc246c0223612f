"""Records that all methods of search share: how they are asked and told, and their settings."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from applications.studies.columns import Array
from applications.studies.points import PointSpace

FAILED = 1e20
"""Cost that replaces NaN and infinity. A design with this cost violates a condition, which is judged first."""


class AskTell(Protocol):
    """Asks for points (n, variable) of a space, and is told costs (n, objective) and violations (n, condition)."""

    def ask(self) -> Array:
        """Return the next points; none where the method finds no other ones."""

    def tell(self, costs: Array, violations: Array) -> None:
        """Receive the costs of the last points, and by how much each violates each condition; met: 0 or less."""


@runtime_checkable
class Remembering(AskTell, Protocol):
    """A method whose next points follow from all designs so far, not from its state: it goes on from any of them."""

    def remember(self, points: Array) -> Array:
        """Take points as the last ones that were asked for, and return them as it would have asked for them."""


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
