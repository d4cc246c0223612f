"""Plan and create the store of a run: dims, coordinates, units, and attributes with its provenance.

Provenance attributes are the same on every machine except the time. The true inertial parameters of every design are
coordinates of a dataset: the values that an identification should find.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.documents.dataset_names import TRUTH
from pipeline.execution.versions import versions
from pipeline.plan.coordinates import chunks, coordinates
from pipeline.plan.model import Plan
from pipeline.plan.plan import MOST_BLOCKS
from pipeline.plan.plan import plan as plan_sweep
from pipeline.sweep.stored import SWEEP_FINGERPRINT
from robots.friction.groups import settles
from robots.joint_kinds import JOINT_KINDS
from robots.limits import NO_LIMITS
from robots.model import Mechanism, Robot
from robots.status import flags
from robots.types import TRANSLATION
from storage.ledger import require_complete
from storage.manifest import Manifest, require_same
from storage.places.location import Location
from storage.schema import Coordinate, joint_units, units, volume_units
from storage.sources import table
from storage.store import create
from tasks.dynamics.inertial_parameters import Column, shared_columns
from tasks.dynamics.regressor import standard_parameters

if TYPE_CHECKING:
    from pipeline.sweep.model import Sweep


def attributes(sweep: Sweep) -> dict[str, Any]:
    """Return the attributes of the dataset: conventions, title, the sweep and its fingerprint, versions, time."""
    return {
        "Conventions": "CF-1.11",
        "title": sweep.title or f"{sweep.robot}: {'simulation' if sweep.simulation else 'inverse dynamics'}",
        "robot": sweep.robot,
        "parameters": {name: float(value) for name, value in sweep.parameters.items()},
        "friction_law": ", ".join(group.law for group in sweep.friction.groups) or "none",
        **({"gravity": [float(x) for x in sweep.gravity]} if not sweep.sweeps_gravity else {}),
        "precision": sweep.precision,
        "sweep": sweep.text,
        "fingerprint": sweep.fingerprint,
        **_user_metrics(sweep),
        **table(sweep.sources),
        "versions": versions(),
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def _user_metrics(sweep: Sweep) -> dict[str, Any]:
    """Return fingerprints of the user metrics' functions, and of the sweep without them; empty without any."""
    if not sweep.user_metrics:
        return {}
    functions = {metric.name: metric.fingerprint for metric in sweep.user_metrics}
    return {"own_metrics": functions, SWEEP_FINGERPRINT: replace(sweep, user_metrics=()).fingerprint}


PIECE = 1024
"""Designs whose parameters are made at once."""


def true_parameters(sweep: Sweep) -> Iterator[Coordinate]:
    """Yield one coordinate along designs for each parameter of bodies and drives; limbs that are copies share theirs.

    Nothing for a sweep that is no dataset, with neither measurement nor split.
    """
    columns, rows = true_columns(sweep), []
    if not columns:
        return
    for start in range(0, sweep.design.size, PIECE):
        stop = min(start + PIECE, sweep.design.size)
        table = sweep.designs(start, stop)
        for design in range(stop - start):  # a robot without parameters has a design, too
            robot = Robot(sweep.family, {name: float(values[design]) for name, values in table.items()})
            rows.append(list(standard_parameters(robot, shared=True).values()))
    values = np.array(rows).T
    for column, parameter in zip(columns, values, strict=True):
        name = TRUTH + "".join(letter if letter.isalnum() else "_" for letter in column.name)
        text = f"true {column.parameter} of {column.owner}, about the origin of its frame"
        yield Coordinate(name, "design", parameter.tolist(), column.unit, text)


def true_columns(sweep: Sweep) -> tuple[Column, ...]:
    """Return the parameters of bodies and drives with true values in a dataset; none for another sweep."""
    return () if sweep.measurement is None and sweep.split is None else shared_columns(sweep.family)[0]


def plan_at(sweep: Sweep, place: Location) -> Plan:
    """Return the plan of a sweep in a store; an enlarged or very large one keeps the blocks that it began with."""
    plan = plan_sweep(sweep)
    if place.exists() and ((manifest := Manifest.load(place)).generation > 1 or manifest.layout.blocks > MOST_BLOCKS):
        return replace(plan, layout=plan.layout.moved(block=manifest.layout.block))
    return plan


def is_finished(plan: Plan, place: Location) -> bool:
    """Return whether a store has no work left.

    Raises StoreError where it is not a store of this sweep, and where its ledger is damaged or lacks receipts.
    """
    sweep = plan.sweep
    manifest = require_same(place, fingerprint=sweep.fingerprint, sweep=sweep.text, layout=plan.layout)
    if manifest.state == "finished":
        require_complete(place, manifest)
    return manifest.state == "finished"


def stored_size(plan: Plan) -> tuple[int, int]:
    """Return the bytes before compression and the number of files of the whole store."""
    truth = true_columns(plan.sweep)
    files = plan.files + len(truth) * (1 + chunks("design", plan.sweep.design.size))
    return plan.layout.bytes, files


def create_store(plan: Plan, place: Location) -> None:
    """Create the store where the location has none."""
    if not place.exists():
        create(place, plan.layout, **contents(plan))


def contents(plan: Plan) -> dict[str, Any]:
    """Return the description of a store of a plan: coordinates, attributes, units, codes of the status, sources."""
    spellings = variable_units(plan.mechanism)
    return {
        "coordinates": [
            *(Coordinate(*row) for row in coordinates(plan.sweep, plan.layout, plan.mechanism)),
            *true_parameters(plan.sweep),
        ],
        "attributes": attributes(plan.sweep) | _uniqueness(plan),
        "units": {name: unit for name, unit in spellings.items() if name in plan.layout.variables},
        "flags": flags(
            simulated=plan.sweep.simulation is not None,
            settling=settles(plan.sweep.friction.groups),
            derived=bool(plan.sweep.derivatives.quantities),
            uneven=not plan.sweep.has_one_grid,
            counted=plan.sweep.limits != NO_LIMITS or any(limb.springs for limb in plan.mechanism.limbs),
        ),
        "sources": plan.sweep.sources,
    }


def variable_units(mechanism: Mechanism) -> dict[str, str]:
    """Return the units of the variables whose unit depends on the robot."""
    drives = {JOINT_KINDS[kind].turns for kind in mechanism.actuator_kinds}
    joints = {kind.turns for limb in mechanism.limbs for kind in limb.joint_kinds if kind.one_variable}
    axes = sum(name in TRANSLATION for name in mechanism.platform.mobility)
    return units(drives) | joint_units(joints) | volume_units(axes)


def _uniqueness(plan: Plan) -> dict[str, list[list[list[int]]]]:
    """Return the attribute that marks the reactions that statics determines: ones and zeros (limb, joint, wrench)."""
    if "joint_reaction" not in plan.layout.variables:
        return {}
    from tasks.checks.newton_euler_system import unique  # loads scipy's sparse solvers, which few runs need

    return {"joint_reaction_unique": unique(Robot.of(plan.sweep.family, plan.sweep.fixed)).astype(int).tolist()}
