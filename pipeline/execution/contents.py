"""Plan and create the store of a run: dims, coordinates, attributes, units."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pipeline.execution.provenance import attributes
from pipeline.execution.true_parameters import true_parameters
from pipeline.plan.coordinates import coordinates
from pipeline.plan.model import Plan
from pipeline.plan.plan import MOST_BLOCKS
from pipeline.plan.plan import plan as plan_sweep
from robots.friction.groups import settles
from robots.joint_kinds import JOINT_KINDS
from robots.limits import NO_LIMITS
from robots.model import Mechanism, Robot
from robots.status import flags
from robots.types import TRANSLATION
from storage.ledger import require_complete
from storage.manifest import Manifest, require_same
from storage.places.location import Location
from storage.schema import Coordinate, units, volume_units
from storage.store import create

if TYPE_CHECKING:
    from pipeline.sweep.model import Sweep


def plan_at(sweep: Sweep, place: Location) -> Plan:
    """The plan of a sweep in a store: blocks of one that was made larger, or has very many, are those it began with."""
    plan = plan_sweep(sweep)
    if place.exists() and ((manifest := Manifest.load(place)).generation > 1 or manifest.layout.blocks > MOST_BLOCKS):
        return replace(plan, layout=replace(plan.layout, block=manifest.layout.block))
    return plan


def is_finished(plan: Plan, place: Location) -> bool:
    """Whether nothing is left to do in a store.

    Raises StoreError where it is not a store of this sweep, and where its ledger is damaged or lacks receipts.
    """
    sweep = plan.sweep
    manifest = require_same(place, fingerprint=sweep.fingerprint, sweep=sweep.text, layout=plan.layout)
    if manifest.state == "finished":
        require_complete(place, manifest)
    return manifest.state == "finished"


def stored_size(plan: Plan) -> tuple[int, int]:
    """Bytes before compression and files of the whole store."""
    return sum(plan.layout.bytes(name) for name in plan.layout.variables), plan.layout.files


def create_store(plan: Plan, place: Location) -> None:
    """Create the store where there is none."""
    if not place.exists():
        create(place, plan.layout, **contents(plan))


def contents(plan: Plan) -> dict[str, Any]:
    """What a store of a plan says of itself: coordinates, attributes, units, codes of the status."""
    spellings = variable_units(plan.mechanism)
    return {
        "coordinates": [*(Coordinate(*row) for row in coordinates(plan)), *true_parameters(plan.sweep)],
        "attributes": attributes(plan.sweep) | _uniqueness(plan),
        "units": {name: unit for name, unit in spellings.items() if name in plan.layout.variables},
        "flags": flags(
            simulated=plan.sweep.simulation is not None,
            settling=settles(plan.sweep.friction.groups),
            counted=plan.sweep.limits != NO_LIMITS or any(limb.springs for limb in plan.mechanism.limbs),
        ),
        "sources": plan.sweep.sources,
    }


def variable_units(mechanism: Mechanism) -> dict[str, str]:
    """Units of the variables whose unit depends on the robot."""
    turning = all(JOINT_KINDS[kind].turns for kind in mechanism.actuator_kinds)
    return units(turning) | volume_units(sum(name in TRANSLATION for name in mechanism.platform.mobility))


def _uniqueness(plan: Plan) -> dict[str, list[list[list[int]]]]:
    """Which reactions statics determines, as an attribute: ones and zeros (limb, joint, wrench)."""
    if "joint_reaction" not in plan.layout.variables:
        return {}
    from tasks.newton_euler.system import unique  # loads scipy's sparse solvers, which few runs need

    return {"joint_reaction_unique": unique(Robot.of(plan.sweep.family, plan.sweep.fixed)).astype(int).tolist()}
