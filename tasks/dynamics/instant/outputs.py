"""Outputs of the program of a motion with friction, from a robot under forces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robots.friction.groups import FrictionGroup
from robots.model import Family
from robots.status import Status
from tasks.dynamics.instant.forces import Loads, SettledMotion
from tasks.dynamics.instant.pushed import Moved, Pushed
from tasks.kernels.expression import Array, Scalar
from tasks.mathematics.algebra import array, is_zero, sqrt, total, where


def outputs_of_motion(
    family: Family, groups: tuple[FrictionGroup, ...], pushed: Pushed, limbs: Scalar,
    going: Sequence[Scalar], driven: Sequence[Scalar] = (), loads: Array | None = None,
) -> dict[str, Any]:  # fmt: skip
    """`rate` of the state, `joints`: OF_JOINTS, `kept_speed` (freedom,): rates that joints at rest allow, and `status`.

    `dependent` is 1 where the friction of joints at rest is not unique. The rate is that of the modes: joints at rest
    stay there also where `breaking` says that they do not hold, so that it is smooth up to that event and past it.

    Where nothing breaks away, rate and friction belong together: `unbalanced` is 1 where they do not balance the
    forces, as happens at a limit of joints that depend on others in all but a trace, and is no motion either.

    `limbs` is their status, `going` the rate of q, `driven` the power of the load. Under `loads` (loaded joint,) that
    are given nothing settles, and there is what `Loads.under` says as well.
    """
    search = Loads(family, groups, pushed)
    settled, more = (search.settled(), {}) if loads is None else search.under(list(loads))
    breaking = settled.loaded.breaking(settled.moved)
    status = where(settled.status > 0.5, settled.status, limbs)
    staying = settled.loaded.moved([0.0] * len(pushed.sticking))
    return {
        "rate": [*going, *_rate(pushed, staying, settled.moved.friction), *driven],
        "joints": [x for each in _of_joints(pushed, settled, breaking) for x in each],
        "kept_speed": settled.loaded.kept_speed(),
        "dependent": [settled.loaded.dependent(breaking)],
        "status": [where(pushed.massless, float(Status.SINGULAR), status)],
        "unbalanced": [_unbalanced(pushed, staying, settled.moved.friction, breaking)],
        **more,
    }


def _unbalanced(pushed: Pushed, moved: Moved, friction: list[Scalar], breaking: list[Scalar]) -> Scalar:
    if not pushed.sticking or not is_zero(pushed.stage.scale):
        return 0.0
    parts = (
        pushed.mass * array(moved.acceleration),
        pushed.rows.T * array(friction),
        -(pushed.jacobian.T * array(pushed.push)),
        pushed.bias[:, None],
    )
    terms = np.concatenate([array(part) for part in parts], axis=1)
    units = [sqrt(abs(m)) for m in np.diagonal(pushed.mass)]
    size = sum((total(row) / unit for row, unit in zip(terms, units, strict=True)), start=0.0)
    result: Scalar = 0.0
    for row, unit in zip(terms, units, strict=True):
        missing: Scalar = sum(row, start=0.0)
        result = where(abs(missing) > size * unit * UNBALANCED, 1.0, result)
    return where(total(breaking) > 0.0, 0.0, result)


def _rate(pushed: Pushed, moved: Moved, friction: list[Scalar]) -> list[Scalar]:
    taken = [tau * v for tau, v in zip(friction, pushed.velocity, strict=True)]
    driven = [u * v for u, v in zip(pushed.push, pushed.jacobian @ array(pushed.speed), strict=True)]
    return [*moved.acceleration, *moved.memory_rate, *taken, *driven]


def _of_joints(pushed: Pushed, settled: SettledMotion, breaking: list[Scalar]) -> tuple[list[Scalar], ...]:
    joints, velocity, moved = pushed.joints, list(pushed.velocity), settled.moved
    limits = [x.limit(load, tau) for x, load, tau in zip(joints, settled.loaded.loads, moved.friction, strict=True)]
    states = zip(joints, velocity, pushed.modes.rest, pushed.modes.memory, strict=True)
    remembered = [each.remembered(v, still, z) for each, v, still, z in states]
    rates = list(abs(pushed.rows) @ abs(array(pushed.speed)))
    return moved.friction, velocity, limits, remembered, breaking, rates


UNBALANCED = 1e-9
"""Largest imbalance of forces, relative to the sum of the magnitudes of their terms, in units of sqrt(M_ii)."""
