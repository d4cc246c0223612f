"""Criteria of design: stiffness, errors and clearances of parts at the platform, and reactions shared by elasticity.

The mathematics is in `tasks.features`. Case inputs: `elasticity`, `errors` and `clearances` of each limb, `test_load`
(6,) of the robot.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from robots.criteria.elasticity import Elasticity
from robots.criteria.parts import Clearances, CriteriaParameters
from robots.data_classes import dataclass, replace
from robots.formulas import as_row
from robots.model import Family, Mechanism
from robots.quantities import Need
from robots.types import TWIST
from tasks.features import compliance
from tasks.features.compliance import (
    ErrorModel,
    LimbElasticity,
    LimbErrors,
    PlatformStiffness,
    elastic_share,
    limb_stiffness,
)
from tasks.features.looseness import LimbLooseness, LooseParts
from tasks.kernels.expression import Array, Numbers
from tasks.kernels.keys import Shape, Shapes, Values, indexed
from tasks.mathematics.algebra import array
from tasks.mechanics import platform_motion
from tasks.mechanics.families import mount_values, structure_of
from tasks.mechanics.platform_motion import held_directions
from tasks.mechanics.reactions import LimbStatics
from tasks.mechanics.solving import arms, carried, solved_limb
from tasks.mechanics.structure import Structure
from tasks.stages.parts import LimbPart, LimbSample, Part, RobotSample
from tasks.stages.request import Feature, Request

SINGULAR = 1e-12
"""Eigenvalue of a stiffness, scaled to ones on its diagonal, up to which it counts as singular."""

STIFFNESS: tuple[Need, ...] = ("elasticity", "errors", "clearances")
"""Needs of quantities for which a limb gives its stiffness."""


@dataclass(frozen=True)
class LimbCriteria(LimbPart):
    """Request of criteria to one limb: its `stiffness` along `directions`, its errors, its clearances.

    `sharing`: the elasticity by which its joints share loads that statics leaves open, also with forces of a
    feature in `passive` joints; None: the shares have the least norm.
    """

    elasticity: LimbElasticity | None = None
    errors: LimbErrors | None = None
    sharing: LimbElasticity | None = None
    loose: LimbLooseness | None = None
    passive: tuple[int, ...] = ()

    def shapes(self, structure: Structure, limb_index: int) -> Shapes:
        """Return names and shapes of the limb results for the criteria."""
        if self.elasticity is None:
            return {}
        count = len(directions(structure.family, self.elasticity.spatial))
        shapes: dict[str, Shape] = {"stiffness": (count, count)}
        shapes |= {"spread": (count, count), "growth": (count,)} if self.errors is not None else {}
        return shapes | ({"play": (sum(self.loose.components), count)} if self.loose is not None else {})

    def case(self, structure: Structure, limb_index: int) -> Shapes:
        """Return case inputs of the limb."""
        shapes: dict[str, Shape] = {}
        elastic = self.elasticity or self.sharing
        shapes |= {"elasticity": (elastic.size,)} if elastic is not None else {}
        shapes |= {"errors": (self.errors.size,)} if self.errors is not None else {}
        return shapes | ({"clearances": (self.loose.size,)} if self.loose is not None else {})

    def terms(self, sample: LimbSample) -> Mapping[str, Numbers]:
        """Return stiffness, errors and clearances of the limb, and its share of the loads that statics leaves open."""
        family, inputs = sample.structure.family, sample.inputs
        lines, statics = arms(family, sample.limb_index), sample.of_solved(LimbStatics)
        result: dict[str, Numbers] = {}
        if self.sharing is not None:
            result |= elastic_share(statics, sample.gravity, self.sharing, inputs["elasticity"], lines, self.passive)
        if self.elasticity is not None:
            _require_choice_of_rows(self.elasticity, sample)
            along = directions(family, self.elasticity.spatial)
            model = ErrorModel(self.errors, inputs["errors"]) if self.errors is not None else None
            loose = LooseParts(self.loose, inputs["clearances"]) if self.loose is not None else None
            result |= limb_stiffness(statics, self.elasticity, inputs["elasticity"], lines, along, model, loose)
        return result


def _require_choice_of_rows(elasticity: LimbElasticity, sample: LimbSample) -> None:
    limb_ = sample.structure.mechanism.limbs[sample.limb_index]
    if elasticity.spatial and limb_.every_row:
        raise ValueError(
            f"every_row: stiffness of {sample.structure.family.name} got limb {limb_.name} with every row of its tips; "
            "expected limbs with a choice of rows; leave every_row out, or give the stiffness of actuators alone"
        )


NOTHING = LimbCriteria()


@dataclass(frozen=True)
class Criteria(Feature):
    """Criteria data of each limb, with or without a quantity that uses them; values are inputs."""

    limbs: tuple[LimbCriteria, ...] = ()

    def of_limb(self, request: Request, k: int) -> LimbCriteria | None:
        """Return the request of the quantities to limb k."""
        features_of_limb = self.limbs[k] if self.limbs else NOTHING
        found = LimbCriteria(
            features_of_limb.elasticity if any(map(request.needs, STIFFNESS)) else None,
            features_of_limb.errors if request.needs("errors") else None,
            features_of_limb.sharing if request.statics else None,
            features_of_limb.loose if request.needs("clearances") else None,
        )
        shared = found.sharing is not None and bool(request.passive[k])
        found = replace(found, passive=request.passive[k]) if shared else found
        return found if found != NOTHING else None

    def of_robot(self, request: Request) -> PlatformElasticity | None:
        """Return the stiffness of the platform."""
        limbs = [replace(part or NOTHING, sharing=None, passive=()) for part in self._parts(request)]
        return PlatformElasticity(tuple(limbs)) if any(part.elasticity is not None for part in limbs) else None

    def _parts(self, request: Request) -> list[LimbCriteria | None]:
        return [self.of_limb(request, k) for k in range(len(request.structure.mechanism.instances))]

    def directions(self, request: Request) -> tuple[str, ...]:
        """Return components of the platform's twist along which compliance counts."""
        elastic = [part.elasticity for part in self._parts(request) if part is not None]
        return directions(request.family, any(each is not None and each.spatial for each in elastic))


@dataclass(frozen=True)
class PlatformElasticity(Part[RobotSample]):
    """The stiffness of the platform under a `test_load` (6,), with errors and clearances on request."""

    limbs: tuple[LimbCriteria, ...]

    @property
    def of_limbs(self) -> Sequence[LimbPart]:
        """Return the parts that give stiffnesses."""
        return self.limbs

    def case(self, structure: Structure) -> Shapes:
        """Return its case inputs."""
        return {"test_load": (len(TWIST),)}

    def add_to(self, sample: RobotSample) -> RobotSample:
        """Return the sample with the stiffness."""
        family, inputs = sample.structure.family, sample.inputs
        along = directions(family, any(x.elasticity is not None and x.elasticity.spatial for x in self.limbs))
        mass = sample.terms(("mass",))["mass"] if "mass" in inputs else np.eye(sample.structure.freedoms)
        mobility = family.reference.platform.mobility
        stiffness = array(sum(sample.of_limbs("stiffness")))
        elastic = PlatformStiffness(stiffness, along, mobility, mass, inputs["test_load"])
        if "spread" in inputs:
            spread, growth = (array(sum(sample.of_limbs(name))) for name in ("spread", "growth"))
            elastic = replace(elastic, spread=spread, growth=growth)
        if "play" in inputs:
            elastic = replace(elastic, loose=list(self._balls(inputs["play"])))
        return replace(sample, found={**sample.found, "stiffness": elastic})

    def _balls(self, play: Mapping[int, Array]) -> Iterator[Array]:
        """Yield the components (component, direction) of each ball of a loose part, from `play` of the limbs."""
        for k, rows in sorted(play.items()):
            if (loose := self.limbs[k].loose) is not None:
                yield from loose.balls(array(rows))


def criteria_told(mechanism: Mechanism, parameters: CriteriaParameters) -> Criteria:
    """Return the feature for parameters of criteria, without their values."""
    limbs = []
    for k in range(len(mechanism.instances)):
        elastic, errors = _elastic(mechanism, parameters, k)[0], _inexact(mechanism, parameters, k)[0]
        sharing = elastic if parameters.reactions else None
        limbs.append(LimbCriteria(elastic, errors, sharing, _loose(mechanism, parameters, k)[0]))
    limbs_with_features = tuple(limbs) if any(limb != NOTHING for limb in limbs) else ()
    return Criteria(limbs_with_features)


def criteria_values(family: Family, parameters: CriteriaParameters) -> Values:
    """Return the case inputs (1, size) of criteria."""
    mechanism, values = family.reference, Values()
    for k in range(len(mechanism.instances)):
        inputs = {"elasticity": _elastic(mechanism, parameters, k)[1], "errors": _inexact(mechanism, parameters, k)[1]}
        values |= indexed(k, inputs | {"clearances": _loose(mechanism, parameters, k)[1]})
    load = parameters.load if parameters.load is not None else (0.0,) * len(TWIST)
    return values | {"test_load": as_row(load)}


def _elastic(mechanism: Mechanism, parameters: CriteriaParameters, k: int) -> tuple[LimbElasticity | None, np.ndarray]:
    if parameters.elasticity is None:
        if parameters.errors is None and parameters.clearances is None:
            return None, np.zeros((1, 0))
        # of a robot that is not overconstrained errors do not depend on elasticity
        actuators = len(mechanism.actuators)
        return compliance.of_limb(Elasticity(dict.fromkeys(range(actuators), 1.0)), mechanism, k)
    return compliance.of_limb(parameters.elasticity, mechanism, k)


def _inexact(mechanism: Mechanism, parameters: CriteriaParameters, k: int) -> tuple[LimbErrors | None, np.ndarray]:
    if parameters.errors is None:
        return None, np.zeros((1, 0))
    return compliance.errors_of_limb(parameters.errors, mechanism, k)


def _loose(mechanism: Mechanism, parameters: CriteriaParameters, k: int) -> tuple[LimbLooseness | None, np.ndarray]:
    if parameters.clearances is None:
        return None, np.zeros((1, 0))
    return looseness_of_limb(parameters.clearances, mechanism, k)


def overconstrained(family: Family) -> bool:
    """Return whether limbs have redundant conditions, so that elasticity shares forces and errors."""
    structure = structure_of(family)
    return any(structure.redundant(k) for k in range(len(structure.mechanism.limbs)))


def _spatial(parameters: CriteriaParameters) -> bool:
    return parameters.elasticity is not None and not parameters.elasticity.actuators_alone


def stiffness_problems(family: Family, parameters: CriteriaParameters) -> Iterator[str]:
    """Yield reasons, in words, why a robot has no stiffness at the reference pose of the reference design."""
    if overconstrained(family) and not _spatial(parameters):
        for what, part in (("errors", parameters.errors), ("clearances", parameters.clearances)):
            if part is not None:
                yield f"{what} of an overconstrained robot whose links are rigid"
                return
    structure, values = structure_of(family), {p.name: p.scalar for p in family.parameters}
    numbers, mounts = array([values[p.name] for p in family.parameters]), mount_values(family, values)
    body = family.assemble(values).platform
    motion = platform_motion.still(body, np.zeros(3), np.zeros(3))
    whole = np.zeros(())
    for k, instance in enumerate(structure.mechanism.instances):
        elasticity_of_limb, case = _elastic(structure.mechanism, parameters, k)
        assert elasticity_of_limb is not None
        case = case.astype(float)
        if elasticity_of_limb.spatial and structure.mechanism.limbs[instance.limb].every_row:
            yield f"limb {instance.name} with every row of its tips, as stiffness rests on a choice of rows"
            return
        mounted, solved, _, _ = solved_limb(structure, instance.limb, numbers, mounts[k][0], motion)
        along, lines = directions(family, elasticity_of_limb.spatial), arms(family, instance.limb)
        with np.errstate(invalid="ignore", divide="ignore"):
            statics = LimbStatics(mounted, solved)
            share = compliance.limb_stiffness(statics, elasticity_of_limb, case[0], lines, along)["stiffness"]
        if not np.isfinite(share).all():
            yield f"limb {instance.name}, which is rigid under a part of its load"
            return
        whole = whole + share
    scale = 1.0 / np.sqrt(np.diag(whole))
    if not np.isfinite(scale).all() or np.linalg.eigvalsh(whole * np.outer(scale, scale))[0] <= SINGULAR:
        yield "a platform that nothing holds at the reference pose"


def sharing_problems(family: Family, parameters: CriteriaParameters) -> Iterator[str]:
    """Yield reasons, in words, why elasticity cannot decide reactions that statics leaves open.

    The test is at the reference pose.
    """
    structure, values = structure_of(family), {p.name: p.scalar for p in family.parameters}
    numbers, mounts = array([values[p.name] for p in family.parameters]), mount_values(family, values)
    motion = np.zeros(structure.motion_size)
    if not structure.mechanism.is_chain:
        motion = platform_motion.still(family.assemble(values).platform, np.zeros(3), np.zeros(3))
    for k, instance in enumerate(structure.mechanism.instances):
        elasticity_of_limb, case = _elastic(structure.mechanism, parameters, k)
        if elasticity_of_limb is None or not elasticity_of_limb.spatial:
            yield "elastic actuators alone"
            return
        if structure.mechanism.limbs[instance.limb].every_row:
            yield f"limb {instance.name} with every row of its tips, as this rests on a choice of rows"
            return
        mounted, solved, _, _ = solved_limb(structure, instance.limb, numbers, mounts[k][0], motion)
        with np.errstate(invalid="ignore", divide="ignore"):
            lines = arms(family, instance.limb)
            numbers_of_limb = case[0].astype(float)
            shares = elastic_share(
                LimbStatics(mounted, solved), np.zeros(3), elasticity_of_limb, numbers_of_limb, lines
            )
        if not np.isfinite(np.asarray(shares["root"], dtype=float)).all():
            yield f"limb {instance.name}, which is rigid under a part of the loads that statics leaves open"
            return


@functools.cache
def directions(family: Family, spatial: bool) -> tuple[str, ...]:
    """Return the components of the platform's twist for stiffness: the freedoms, and directions held by limbs."""
    mobility = family.reference.platform.mobility
    held = held_directions(mobility)
    holding = [held[k] for k in carried(family)] if spatial else []
    return tuple(name for name in TWIST if name in (*mobility, *holding))


def looseness_of_limb(clearances: Clearances, mechanism: Mechanism, limb: int) -> tuple[LimbLooseness, np.ndarray]:
    """Return the loose parts of limb number `limb` of a robot, and its case input `clearances` (1, balls)."""
    counts = [len(mechanism.limbs[instance.limb].actuators) for instance in mechanism.instances]
    first = sum(counts[:limb])
    driven = [k for k in range(counts[limb]) if clearances.actuators.get(first + k)]
    own_bounds = ((joint, entries) for (k, joint), entries in sorted(clearances.joints.items()) if k == limb)
    joints = [(joint, entry) for joint, entries in own_bounds for entry in entries if entry.bound > 0.0]
    bounds = [clearances.actuators[first + k] for k in driven] + [entry.bound for _, entry in joints]
    parts = LimbLooseness(tuple(driven), tuple((joint, entry.components) for joint, entry in joints))
    return parts, as_row(bounds)
