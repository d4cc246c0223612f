"""Bytes that the tasks of a block hold and hand on to each other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from robots.model import Mechanism
from robots.types import TWIST
from storage.schema import FRICTION, VARIABLES, Variable

if TYPE_CHECKING:
    from pipeline.sweep.model import Sweep

REACTIONS = ("joint_reaction", "peak_reaction")

DOUBLE = 8

LOADS_OF_A_JOINT = 5

ROWS = 5
"""Constraints of a joint, at most, that may be redundant."""

MASS_METRICS = ("least_effective_mass", "largest_effective_mass")
"""Metrics for which limbs hand on their shares of the mass matrix."""

SINGULARITY_METRICS = ("platform_singularity_margin", "limb_singularity_margin", "singularity_margin")
"""Metrics for which limbs hand on J_IK of the reference pose."""

LIMB_JOINT_SERIES = ("joint_position", "joint_velocity", "joint_acceleration")


def _status(sweep: Sweep) -> tuple[str, ...]:
    timed = any("time" in VARIABLES[name].dims and "design" in VARIABLES[name].dims for name in sweep.outputs)
    return ("status",) if timed else ()


def _computed(sweep: Sweep) -> tuple[str, ...]:
    """What is asked for, and what metrics of a user's own need."""
    return (*sweep.outputs, *sweep.metrics, *extra_series(sweep))


def _handed_on(sweep: Sweep, mechanism: Mechanism) -> int:
    """Bytes of one sample that the tasks of a block hand on to each other."""
    joints = sum(len(mechanism.limbs[each.limb].joints) for each in mechanism.instances)
    free, actuators, limbs = len(mechanism.freedoms), len(mechanism.actuators), len(mechanism.instances)
    outputs = (*sweep.outputs, *extra_series(sweep))
    wanted = {*outputs, *(("joint_position",) if "actuator_position" in outputs else ())}
    series = sum(name in wanted for name in LIMB_JOINT_SERIES)
    motion = -(-max(24, 3 * free) // sweep.design.size)  # shared by all designs
    mass = limbs * free**2 if any(name in sweep.metrics for name in MASS_METRICS) else 0
    reference = actuators * free if any(name in sweep.metrics for name in SINGULARITY_METRICS) else 0
    margins = 2 * limbs if sweep.limits.joints else 0
    numbers = limbs * (free + 1) + actuators * free + joints * series + motion + mass + reference + margins
    return DOUBLE * (
        numbers + (_reaction_numbers(mechanism) if _reacts(sweep) else 0) + _friction_numbers(sweep, mechanism)
    )


def _assembled(sweep: Sweep, mechanism: Mechanism) -> int:
    """Bytes of one sample of a strip that the assembly works on."""
    outputs = (*sweep.outputs, *extra_series(sweep))
    rubbing = sum({"friction", "time", "actuator"} <= {*VARIABLES[name].dims} for name in outputs)
    return DOUBLE * (len(mechanism.actuators) * (2 + rubbing) + len(mechanism.freedoms) + 1)


def _reacts(sweep: Sweep) -> bool:
    return any(name in _computed(sweep) for name in REACTIONS)


def _friction_numbers(sweep: Sweep, mechanism: Mechanism) -> int:
    """Numbers of one sample that friction in joints takes beside the others, at most."""
    groups, total = sweep.friction.groups, 0
    reactions = any(group.load == "reaction" for group in groups)
    if reactions and not _reacts(sweep):
        total += _reaction_numbers(mechanism)
    for k, each in enumerate(mechanism.instances):
        limb, mine = mechanism.limbs[each.limb], [(p, g) for g in groups for p in g.places if p.limb == k]
        passive = sum(place.actuator < 0 for place, _ in mine)
        loaded = sum(group.load == "reaction" for _, group in mine)
        rows = ROWS * len(limb.cuts)
        total += passive * (len(mechanism.freedoms) + 1) + (passive * (len(TWIST) + rows) if reactions else 0)
        total += LOADS_OF_A_JOINT * loaded * (1 + len(limb.actuators) + rows + passive)
    return total


def _reaction_numbers(mechanism: Mechanism) -> int:
    """Numbers of one sample that reactions take beside the others, at most."""
    total = len(mechanism.actuators) + 1
    held = 0 if mechanism.is_chain else len(TWIST) - len(mechanism.freedoms)
    for each in mechanism.instances:
        limb = mechanism.limbs[each.limb]
        rows, driven = ROWS * len((*limb.tips, *limb.loops)), len(limb.actuators)
        total += (held + rows) * (1 + driven + rows) + rows + 2 * len(TWIST) * len(limb.joints)
    return total + held


def _pair_bytes(sizes: Mapping[str, int], rows: tuple[Variable, ...], steady: tuple[str, ...], *, per_set: bool) -> int:
    """Bytes that one design on one trajectory has, for one friction set or apart from friction."""
    total = 0
    for row in rows:
        dims = row.dims
        if (FRICTION in dims and row.name not in steady) == per_set:
            total += DOUBLE * math.prod(sizes[dim] for dim in dims if dim not in ("design", "friction", "trajectory"))
    return total


def extra_series(sweep: Sweep) -> tuple[str, ...]:
    """Series that metrics of a user's own need beside the outputs."""
    stored = (*sweep.outputs, *_status(sweep))
    return tuple(dict.fromkeys(name for each in sweep.user_metrics for name in each.series if name not in stored))
