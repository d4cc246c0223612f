"""All that criteria of design are told of a robot. A sweep has it in its section `criteria`."""

from __future__ import annotations

from dataclasses import dataclass

from robots.criteria.capsules import Capsules
from robots.criteria.clearances import Clearances
from robots.criteria.elasticity import Elasticity
from robots.criteria.errors import Errors


@dataclass(frozen=True)
class CriteriaParameters:
    """Elasticity of the parts, a load (moment, force) on the platform in world axes [N m, N], capsules.

    And errors of the parts, and clearances. What is None was not given. `reactions`: whether elasticity shares among
    the joints what statics leaves open.
    """

    elasticity: Elasticity | None = None
    load: tuple[float, ...] | None = None
    capsules: Capsules | None = None
    errors: Errors | None = None
    reactions: bool = False
    clearances: Clearances | None = None


NO_CRITERIA = CriteriaParameters()
