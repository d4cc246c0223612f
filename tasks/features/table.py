"""All features, in the order in which their terms are added, and requests with all of them."""

from __future__ import annotations

from robots.criteria.parts import CriteriaParameters
from robots.model import Family, Mechanism
from robots.requested import QuantityNames
from tasks.features.capsules import RobotCapsules, capsule_values, capsules_told
from tasks.features.criteria import Criteria, criteria_told, criteria_values
from tasks.features.friction.feature import FrictionGroups
from tasks.features.limits import JointLimits, MotorSupply
from tasks.features.loads import PlatformForces, PlatformWrench
from tasks.features.redundancy.resolved import Redundancy
from tasks.features.sharing import Sharing
from tasks.features.singularities import Constraints, ReferenceJacobian, UnheldLoads
from tasks.features.underactuation import Underactuation
from tasks.kernels.keys import Values
from tasks.stages.parts import RECURSION
from tasks.stages.request import Feature, Request

FEATURES: tuple[type[Feature], ...] = (
    Redundancy,
    PlatformWrench,
    PlatformForces,
    FrictionGroups,
    MotorSupply,
    Sharing,
    ReferenceJacobian,
    Constraints,
    UnheldLoads,
    Underactuation,
    JointLimits,
    Criteria,
    RobotCapsules,
)
"""Kinds of features that a request has even without settings, for quantities or robots that need them.

Other features need settings, and add their terms after these."""


def criteria_features(mechanism: Mechanism, parameters: CriteriaParameters) -> tuple[Criteria, RobotCapsules]:
    """Return the features for parameters of criteria, without their values."""
    return criteria_told(mechanism, parameters), capsules_told(mechanism, parameters.capsules)


def criteria_inputs(family: Family, parameters: CriteriaParameters) -> Values:
    """Return the case inputs (1, size) of these features."""
    capsules = capsule_values(family, parameters.capsules)
    return {"capsules": capsules, **criteria_values(family, parameters)}


def request(
    family: Family,
    quantities: tuple[str, ...] | QuantityNames = (),
    *features: Feature,
    moving_base: bool = False,
    formulation: str = RECURSION,
    at_states: bool = False,
    given: bool = False,
) -> Request:
    """Return a request with all features: `features` with their settings, others of FEATURES without; see `Request`.

    Raises ValueError for two features of a kind.
    """
    features_by_type = {type(feature): feature for feature in features}
    if len(features_by_type) < len(features):
        kinds = ", ".join(type(feature).__name__ for feature in features)
        raise ValueError(f"features: got {kinds}; expected at most one of each kind")
    every = tuple(features_by_type.get(kind) or kind() for kind in dict.fromkeys((*FEATURES, *features_by_type)))
    wanted = quantities if isinstance(quantities, QuantityNames) else QuantityNames(quantities)
    return Request(family, wanted, every, moving_base, formulation, at_states, given)
