"""Requests: quantities of a robot family by name, and the features that have a part in them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TypeVar

from robots.data_classes import dataclass, replace
from robots.model import Family
from robots.quantities import QUANTITIES, Need, any_needs, names
from robots.quantities import Stage as StageName
from robots.requested import NO_QUANTITIES, QuantityNames
from tasks.kernels.keys import Indexed, Key, Shape, Values
from tasks.mechanics.families import structure_of
from tasks.mechanics.structure import Structure
from tasks.stages.parts import (
    OUTCOME,
    RECURSION,
    ActuatorPart,
    LimbPart,
    LimbSolver,
    PlatformPart,
    RobotPart,
)

F = TypeVar("F", bound="Feature")


class Feature:
    """A feature of the dynamics: settings of a user, and the terms that they add to the programs of a request.

    Each feature is a module of `tasks.features`. A feature is a frozen dataclass whose fields have defaults; with the
    defaults it adds no terms, unless quantities or the robot need them. Where its methods return None or an empty
    value, programs do not change.
    """

    def case_values(self) -> Values:
        """Return case inputs (1, size) of its parts that its settings give: numbers, or formulas of parameters."""
        return {}

    @property
    def settles(self) -> bool:
        """Return whether a sample may fail by it for one friction set, so that status is found with the actuators."""
        return False

    @property
    def switches(self) -> bool:
        """Return whether actuators are off for a time by it, so that their weights differ from sample to sample."""
        return False

    def solver(self, request: Request) -> LimbSolver | None:
        """Return how limbs are solved, where the feature decides that."""
        return None

    def passive(self, request: Request, k: int) -> tuple[int, ...]:
        """Return the passive joints of limb k, by number in `Limb.joints`, in which it has forces."""
        return ()

    def statics(self, request: Request) -> bool:
        """Return whether it needs the statics of limbs and platform, see `tasks.mechanics.reactions.share`."""
        return False

    def of_limb(self, request: Request, k: int) -> LimbPart | None:
        """Return its terms in limb k."""
        return None

    def of_platform(self, request: Request) -> PlatformPart | None:
        """Return its terms of the wrench on the platform."""
        return None

    def of_robot(self, request: Request) -> RobotPart | None:
        """Return its terms in the assembly: before friction, the same for all friction sets."""
        return None

    def of_actuators(self, request: Request) -> ActuatorPart | None:
        """Return its terms in the actuators, for one friction set."""
        return None

    def limb_parts(self, request: Request) -> tuple[LimbPart | None, ...]:
        """Return its terms in all limbs."""
        return tuple(self.of_limb(request, k) for k in range(len(request.structure.mechanism.instances)))


@dataclass(frozen=True)
class ActuationOutputs:
    """Series and metrics of the actuation stage; both are empty if the stage is not needed."""

    series: tuple[Key, ...]
    metrics: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.series or self.metrics)


@dataclass(frozen=True)
class Request:
    """A request to a robot family: quantities by name, and features with their settings.

    `tasks.features.table.request` makes a request with all features.
    """

    family: Family
    quantities: QuantityNames = NO_QUANTITIES
    features: tuple[Feature, ...] = ()
    moving_base: bool = False
    formulation: str = RECURSION
    """The formulation by which limbs compute their wrenches, one of `tasks.stages.limb.FORMULATIONS`."""
    at_states: bool = False
    """True if motions are states alone, so that their accelerations have no meaning."""
    given: bool = False
    """True if actuator forces, friction of all joints and status are given beside the motion, as by a simulation.

    `tasks.stages.stages.GIVEN` names these values. Then forces are not solved for; limits of a sample give a margin
    and no status.
    """

    def feature(self, kind: type[F]) -> F:
        """Return the feature of a kind. Raises StopIteration where the request has none."""
        return next(each for each in self.features if isinstance(each, kind))

    def with_features(self, *features: Feature) -> Request:
        """Return the request with other settings of some of its features."""
        features_by_type = {type(feature): feature for feature in features}
        return replace(self, features=tuple(features_by_type.get(type(each), each) for each in self.features))

    @property
    def unsolved(self) -> bool:
        """Return whether the motion does not decide the actuator forces."""
        return self.at_states or self.given

    @property
    def structure(self) -> Structure:
        """Structure of the family."""
        return structure_of(self.family)

    def needs(self, name: Need) -> bool:
        """Return whether a quantity needs something, see `robots.quantities.Need`."""
        return any_needs(self.quantities.both, name)

    def of(self, stage: StageName, *kinds: str) -> tuple[str, ...]:
        """Return the quantities of a stage, of some kinds or all, in the order asked for."""
        found = self._by_stage.get(stage, ())
        return tuple(name for name in found if QUANTITIES[name].kind in kinds) if kinds else found

    @functools.cached_property
    def _by_stage(self) -> dict[str, tuple[str, ...]]:
        """Quantities by the stage that gives them: actuation for statuses if friction may not converge."""
        settling = "where friction settles" if any(feature.settles for feature in self.features) else None
        rows = {name: QUANTITIES[name] for name in self.quantities.both}
        stages = {name: "actuation" if row.varies == settling else row.stage for name, row in rows.items()}
        return {stage: tuple(name for name in stages if stages[name] == stage) for stage in stages.values()}

    def reduced(self, stage: StageName) -> tuple[str, ...]:
        """Return the quantities of a stage that are reduced over time."""
        return tuple(name for name in self.of(stage) if QUANTITIES[name].reduction)

    @functools.cached_property
    def reactions(self) -> tuple[str, ...]:
        """Quantities of the joints' reactions."""
        return tuple(name for name in names("reactions") if name in self.quantities.both)

    @property
    def peaks_alone(self) -> bool:
        """Return whether the only requested reactions are peaks, the same for all friction sets."""
        return self.reactions == ("peak_reaction",) and not any(self.passive)

    @functools.cached_property
    def passive(self) -> tuple[tuple[int, ...], ...]:
        """Passive joints of each limb with forces of a feature, which change the reactions of joints."""
        limbs = range(len(self.structure.mechanism.instances))
        return tuple(tuple(j for each in self.features for j in each.passive(self, k)) for k in limbs)

    @functools.cached_property
    def statics(self) -> bool:
        """Return whether statics of limbs and platform is needed.

        Reactions need it, and features that depend on it.
        """
        return bool(self.reactions) or any(feature.statics(self) for feature in self.features)

    @property
    def switched(self) -> bool:
        """Return whether actuators are off for a time."""
        return any(feature.switches for feature in self.features)

    @functools.cached_property
    def solver(self) -> LimbSolver | None:
        """Solver of the limbs, where a feature decides that."""
        found = (feature.solver(self) for feature in self.features)
        return next((solver for solver in found if solver is not None), None)

    def limb_parts(self, k: int) -> tuple[LimbPart, ...]:
        """Return the terms of all features in limb k."""
        return _present([feature.of_limb(self, k) for feature in self.features])

    @functools.cached_property
    def platform_parts(self) -> tuple[PlatformPart, ...]:
        """Terms of all features in the platform."""
        return _present([feature.of_platform(self) for feature in self.features])

    @functools.cached_property
    def robot_parts(self) -> tuple[RobotPart, ...]:
        """Terms of all features in the assembly."""
        return _present([feature.of_robot(self) for feature in self.features])

    @functools.cached_property
    def actuator_parts(self) -> tuple[ActuatorPart, ...]:
        """Terms of all features in the actuators."""
        return _present([feature.of_actuators(self) for feature in self.features])

    @functools.cached_property
    def actuation(self) -> ActuationOutputs:
        """Series and metrics of the actuation stage.

        Where passive joints have forces, reactions need these, the net forces, and the status that comes of them.
        """
        series: tuple[Key, ...] = tuple(name for name in self.of("actuation", "series"))
        passive = tuple(Indexed("passive_friction", k) for k, joints in enumerate(self.passive) if joints)
        loads: tuple[Key, ...] = ("net_force", *passive) if (passive or self.given) and self.reactions else ()
        outcome = (OUTCOME,) if (loads and not self.given) or "status" in self.of("actuation") else ()
        return ActuationOutputs((*series, *outcome, *loads), self.reduced("actuation"))

    @property
    def motion(self) -> dict[Key, Key]:
        """Key of the input `motion` of stages after the limbs; empty where the key is `motion` itself."""
        return {"motion": Indexed(self.solver.motion, 0)} if self.solver and self.solver.motion else {}

    @property
    def known(self) -> dict[Key, Shape]:
        """Values that limbs have found of motions, for the reactions: states of joints, motion of all freedoms."""
        instances, sizes = enumerate(self.structure.mechanism.instances), self.structure.joint_state_size
        shapes: dict[Key, Shape] = dict.fromkeys(self.motion.values(), (self.structure.motion_size,))
        return shapes | {Indexed("joint_state", k): (sizes(each.limb),) for k, each in instances if sizes(each.limb)}

    @property
    def force(self) -> str:
        """The actuator forces that joints feel: their own friction is inside the drive."""
        return "net_force" if any(self.passive) or self.given else "force"


P = TypeVar("P")


def _present(parts: Sequence[P | None]) -> tuple[P, ...]:
    return tuple(part for part in parts if part is not None)
