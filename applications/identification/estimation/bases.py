"""Base parameters of designs of one family, by one decision for each geometry."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from applications.identification.estimation.base import TOLERANCE, BaseParameters, drawn_base, from_matrices
from applications.identification.estimation.states import Motions, immovable, motions_for
from robots.data_classes import dataclass, fields
from robots.drives import Spin
from robots.model import Family, Inertia, Link, Robot
from tasks.dynamics.design_regressor import regressors
from tasks.dynamics.designs import RobotDesigns
from tasks.dynamics.inertial_parameters import Column
from tasks.dynamics.records import Motion
from tasks.features.friction.inputs import FrictionInput
from tasks.kernels.expression import CASE, Expression, Graph


@functools.cache
def geometry_parameters(family: Family) -> tuple[int, ...]:
    """Return the places of the parameters that more depends on than inertia of bodies and drives."""
    graph = Graph()
    symbols = {p.name: graph.node(CASE, data=("parameters", i)) for i, p in enumerate(family.parameters)}
    reached: set[Expression] = set()
    waiting = list(_without_inertia(family.assemble(symbols)))
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached.add(node)
            waiting += node.args
    return tuple(sorted(node.data[1] for node in reached if node.op == CASE))


def _without_inertia(part: Any) -> Iterator[Expression]:
    """Yield the traced numbers of a part of a mechanism, without those of inertia."""
    if isinstance(part, Expression):
        yield part
    elif isinstance(part, tuple | list):
        for entry in part:
            yield from _without_inertia(entry)
    elif hasattr(part, "__dataclass_fields__") and not isinstance(part, Inertia):
        skipped = {Link: "armature", Spin: "inertia"}.get(type(part))
        for field in fields(part):
            if field.name != skipped:
                yield from _without_inertia(getattr(part, field.name))


@dataclass(frozen=True, eq=False)
class Conditions:
    """Conditions of all designs: the nominal robot, columns, friction, and the motion of the base; None: it stands."""

    nominal: Robot
    columns: tuple[Column, ...]
    friction: FrictionInput
    base: Motion | None = None


def bases_of(designs: RobotDesigns, conditions: Conditions) -> tuple[list[BaseParameters | ValueError], np.ndarray]:
    """Return base parameters of the geometries of some designs, and the number of its geometry for each design.

    As `base_parameters` with `shared`, at states that are those of the nominal robot where these can be solved; or the
    reason why there are none. Of a base that moves, each state has a sample at random.
    """
    gravity = np.broadcast_to(designs.gravity, (len(designs), 3))
    keys = np.concatenate([designs.parameters[:, list(geometry_parameters(designs.family))], gravity], axis=1)
    _, first, numbers = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    some, nominal = designs.taken(first), conditions.nominal
    values = tuple(float(nominal.values[parameter.name]) for parameter in designs.family.parameters)
    motion, solvable = motions_for(some, values, conditions.columns, len(designs.family.reference.actuators))
    result: list[BaseParameters | ValueError] = [immovable(nominal.name)] * len(first)
    if good := np.flatnonzero(solvable).tolist():
        at = {name: values[good] for name, values in motion.items()}
        states = next(iter(at.values())).shape[1]
        base = None if conditions.base is None else drawn_base(conditions.base, states, 0)
        matrices = regressors(some.taken(np.array(good)), at, conditions.friction, base=base)
        for place, answer in zip(good, _from_rows(matrices, conditions.columns), strict=True):
            result[place] = answer
    return result, numbers.ravel()


def bases_along(
    designs: RobotDesigns, motion: Motions, conditions: Conditions
) -> tuple[list[BaseParameters | ValueError], np.ndarray]:
    """Return the base parameters of designs that motions excite, such as a gravity test's, and the number of each.

    conditions.base: motion of the base along the motions (sample, ...). The motions have to be free of noise: small
    values in them count as zero.
    """
    matrices = regressors(designs, motion, conditions.friction, base=conditions.base)
    # rows of an actuator that carries nothing are rounding, which would count as much as the others
    return _from_rows(matrices, conditions.columns, TOLERANCE), np.arange(len(designs))


def _from_rows(
    matrices: np.ndarray, columns: Sequence[Column], least: float = 0.0
) -> list[BaseParameters | ValueError]:
    """Return the base parameters of regressors (design, actuator, column, sample).

    Without the rows that are not finite, and those whose length is up to `least` times that of the longest.
    """
    rows = np.moveaxis(matrices, 2, -1).reshape(len(matrices), -1, matrices.shape[2])
    rows[~np.isfinite(rows).all(axis=2)] = 0.0
    if least:
        sizes = np.linalg.norm(rows, axis=2)
        rows[sizes <= least * sizes.max(axis=1, initial=0.0, keepdims=True)] = 0.0
    return from_matrices(rows, tuple(column.name for column in columns))
