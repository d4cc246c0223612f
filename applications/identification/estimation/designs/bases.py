"""Base parameters of many designs, by one decision for each geometry; `estimation.base` has those of one."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from applications.identification.estimation.base import NEGLIGIBLE, TOLERANCE, BaseParameters, rank
from applications.identification.estimation.designs.states import motions_for
from robots.data_classes import fields
from robots.drives import Spin
from robots.model import Family, Inertia, Link, Robot
from tasks.dynamics.design_regressor import regressors
from tasks.dynamics.designs import RobotDesigns
from tasks.dynamics.inertial_parameters import Column
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


def bases_of(
    designs: RobotDesigns, nominal: Robot, columns: tuple[Column, ...], friction: FrictionInput
) -> tuple[list[BaseParameters | None], np.ndarray]:
    """Return base parameters of the geometries of some designs, and the number of its geometry for each design.

    As `base_parameters` with `shared` and a base at rest, at states that are those of the nominal robot where these can
    be solved; None where it raises, or states are not solved.
    """
    keys = np.concatenate(
        [
            designs.parameters[:, list(geometry_parameters(designs.family))],
            np.broadcast_to(designs.gravity, (len(designs), 3)),
        ],
        axis=1,
    )
    _, first, numbers = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    some = designs.taken(first)
    values = tuple(float(nominal.values[parameter.name]) for parameter in designs.family.parameters)
    motion, solvable = motions_for(some, values, columns, len(designs.family.reference.actuators))
    result: list[BaseParameters | None] = [None] * len(first)
    good = np.flatnonzero(solvable)
    if len(good):
        at = {name: values[good] for name, values in motion.items()}
        matrices = regressors(some.taken(good), at, friction)
        matrices = np.moveaxis(matrices, 2, -1).reshape(len(good), -1, matrices.shape[2])
        whole = np.isfinite(matrices).all(axis=(1, 2))
        names = tuple(column.name for column in columns)
        for place, base in zip(good[whole], from_matrices(matrices[whole], names), strict=True):
            result[place] = base
    return result, numbers.ravel()


def from_matrices(matrices: np.ndarray, names: tuple[str, ...]) -> list[BaseParameters | None]:
    """Return what `from_matrix` returns for each of several stacked regressors (case, row, column); None if it raises.

    The decision on columns from left to right is the same for all cases in one loop.
    """
    stacked = matrices / np.maximum(np.linalg.norm(matrices, axis=2, keepdims=True), np.finfo(float).tiny)
    sizes = np.linalg.norm(stacked, axis=1)
    moving = sizes > TOLERANCE * sizes.max(axis=1, initial=0.0)[:, None]
    result: list[BaseParameters | None] = [None] * len(matrices)
    for pattern in {tuple(row) for row in moving.tolist()}:
        cases = np.flatnonzero((moving == pattern).all(axis=1))
        columns = np.flatnonzero(pattern)
        if not len(columns):
            continue
        lengths = sizes[cases][:, columns]
        scaled = np.asarray(np.linalg.qr(stacked[cases][:, :, columns] / lengths[:, None], mode="r"))
        scaled = scaled[:, : len(columns)]
        independent, basis, margins = _left_to_right(scaled)
        for k, case in enumerate(cases.tolist()):
            if independent[k].sum() == rank(scaled[k], TOLERANCE):
                result[case] = _grouped(
                    scaled[k], independent[k], basis[k], lengths[k], columns, names, float(margins[k])
                )
    return result


def _grouped(
    scaled: np.ndarray,
    independent: np.ndarray,
    basis: np.ndarray,
    sizes: np.ndarray,
    columns: np.ndarray,
    names: tuple[str, ...],
    margin: float,
) -> BaseParameters:
    """Return the base parameters of independent columns: each column as a combination of these."""
    along = basis[:, independent].T @ scaled  # of columns that are combinations, nothing is left
    answer = np.linalg.solve(along[:, independent], along)
    groups = np.zeros((int(independent.sum()), len(names)))
    groups[:, columns] = answer * sizes / sizes[independent][:, None]
    groups[np.abs(groups) < NEGLIGIBLE] = 0.0
    groups[:, columns[independent]] = np.eye(int(independent.sum()))
    return BaseParameters(tuple(columns[independent].tolist()), groups, names, margin)


def _left_to_right(scaled: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return independent columns (case, column), their basis (case, row, column), zero for others, margins (case,)."""
    cases, rows, count = scaled.shape
    independent, basis = np.zeros((cases, count), dtype=bool), np.zeros((cases, rows, count))
    smallest, largest = np.full(cases, np.inf), np.zeros(cases)
    for k in range(count):
        new = scaled[:, :, k : k + 1]
        for _ in range(2):  # twice: one pass of Gram-Schmidt leaves rounding of the first
            before = basis[:, :, :k]
            new = new - before @ (np.swapaxes(before, 1, 2) @ new)
        size = np.linalg.norm(new[..., 0], axis=1)
        independent[:, k] = size > TOLERANCE
        basis[independent[:, k], :, k] = new[independent[:, k], :, 0] / size[independent[:, k], None]
        smallest = np.where(independent[:, k], np.minimum(smallest, size), smallest)
        largest = np.where(independent[:, k], largest, np.maximum(largest, size))
    return independent, basis, smallest / np.maximum(largest, np.finfo(float).tiny)
