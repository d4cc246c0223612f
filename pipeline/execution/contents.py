"""What a run begins its store with: plan, dims, coordinates and attributes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pipeline.execution.provenance import attributes
from pipeline.execution.true_parameters import true_parameters
from pipeline.plan.coordinates import coordinates
from pipeline.plan.plan import Plan, plan
from robots.joint_kinds import JOINT_KINDS
from robots.model import Robot
from robots.status import flags
from robots.types import TRANSLATION
from storage.ledger import require_complete
from storage.manifest import Manifest, require_same
from storage.places.place import Place
from storage.schema import Coordinate, units, volume_units
from storage.store import create
from tasks.newton_euler.system import unique

if TYPE_CHECKING:
    from pipeline.sweep.model import Sweep


def plan_at(sweep: Sweep, place: Place) -> Plan:
    """The plan of a sweep in a store: blocks of one that was made larger are those that it began with."""
    made = plan(sweep)
    if place.exists() and (manifest := Manifest.load(place)).generation > 1:
        return replace(made, layout=replace(made.layout, block=manifest.layout.block))
    return made


def _is_finished(made: Plan, place: Place) -> bool:
    """Whether nothing is left to do in a store.

    Raises StoreError where it is not a store of this sweep, and where its ledger is damaged or lacks receipts.
    """
    sweep = made.sweep
    manifest = require_same(place, fingerprint=sweep.fingerprint, sweep=sweep.text, layout=made.layout)
    if manifest.state == "finished":
        require_complete(place, made.blocks)
    return manifest.state == "finished"


def _needed(made: Plan) -> tuple[int, int]:
    """Bytes before compression and files of the whole store."""
    return sum(made.layout.bytes(name) for name in made.layout.variables), made.layout.files


def _prepare(made: Plan, place: Place) -> None:
    """Create the store where there is none."""
    if place.exists():
        return
    create(place, made.layout, **contents(made))


def contents(made: Plan) -> dict[str, Any]:
    """What a store of a plan says of itself: coordinates, attributes, units, codes of the status."""
    turning = all(JOINT_KINDS[kind].turns for kind in made.mechanism.actuator_kinds)
    chosen = units("revolute" if turning else "prismatic")
    chosen |= volume_units(sum(name in TRANSLATION for name in made.mechanism.platform.mobility))
    return {
        "coordinates": [*(Coordinate(*row) for row in coordinates(made)), *true_parameters(made.sweep)],
        "attributes": attributes(made.sweep) | _uniqueness(made),
        "units": {name: unit for name, unit in chosen.items() if name in made.layout.variables},
        "flags": flags(),
        "sources": made.sweep.sources,
    }


def _uniqueness(made: Plan) -> dict[str, Any]:
    """Which reactions statics determines, as an attribute: ones and zeros (limb, joint, wrench)."""
    if "joint_reaction" not in made.layout.variables:
        return {}
    return {"joint_reaction_unique": unique(Robot.of(made.sweep.family, made.sweep.fixed)).astype(int).tolist()}
