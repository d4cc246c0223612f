"""From recordings of designs to their base parameters: the work of one identification task, on arrays over designs.

A single design is an array of one. Where reactions load friction that changes them, forces are linear about a point
only, and each design takes steps of its own: `applications.identification.estimation.coupled`.
"""

from __future__ import annotations

import numpy as np

from applications.identification.estimation.base import BaseParameters
from applications.identification.estimation.bases import Conditions, bases_along, bases_of
from applications.identification.estimation.coupled import fit_coupled
from applications.identification.estimation.fit_data import FitData, FitOptions
from applications.identification.estimation.machines.coupled_friction import is_coupled
from applications.identification.estimation.methods import METHODS, FittedParameters
from applications.identification.estimation.recorded import Recordings, is_slow, of_designs
from applications.identification.estimation.states import Motions
from applications.identification.estimation.table import FitTable, FoundFits, Groupings
from tasks.dynamics.design_regressor import regressors, standard_values
from tasks.dynamics.designs import RobotDesigns
from tasks.dynamics.regressor import columns_of

BYTES = 1 << 26
"""Bytes of columns on freedoms that designs have together at once, about a fifth of all that they need."""


def fit_designs(designs: RobotDesigns, numbers: np.ndarray, recorded: Recordings, options: FitOptions) -> FoundFits:
    """Return the base parameters of designs from their recordings; limbs that are copies share their parameters.

    numbers (design,): numbers of the designs in the sweep. Of a design the geometry is used, its inertia and the linear
    parameters of its friction for `truth` alone; nonlinear ones keep their given values, unless the method estimates
    them. Base parameters are those at random states, or where no motion has an acceleration, as in tests of gravity and
    friction, those along the motions; a base that moves does so in the same way in all recordings.
    """
    if not any(recorded.training):
        raise ValueError("recordings: got none for training; expected a trajectory of the part train; split otherwise")
    result = FoundFits()
    if is_coupled(options.nominal, options.friction):
        for one in (slice(k, k + 1) for k in range(len(designs))):
            try:
                result.tables.append(fit_coupled(designs.taken(one), numbers[one], recorded.taken(one), options))
            except ValueError as error:
                result.failed[int(numbers[one][0])] = error
        return result
    most = max(1, BYTES // (recorded.forces.shape[1] * _bytes_of_a_sample(options)))
    for first in range(0, len(designs), most):
        part = slice(first, first + most)
        result.add(_fit_part(designs.taken(part), numbers[part], recorded.taken(part), options))
    return result


def _fit_part(designs: RobotDesigns, numbers: np.ndarray, recorded: Recordings, options: FitOptions) -> FoundFits:
    """Fit designs that memory holds together: those whose base parameters have the same columns at a time."""
    motion = recorded.motions(designs)
    result, alike = FoundFits(), dict[tuple[int, ...], list[tuple[int, BaseParameters]]]()
    for k, base in enumerate(_bases(designs, motion, recorded, options)):
        if isinstance(base, BaseParameters):
            alike.setdefault(base.independent, []).append((k, base))
        else:
            result.failed[int(numbers[k])] = base
    for columns, members in sorted(alike.items()):
        size = len(members) if METHODS[options.method].together else 1
        for first in range(0, len(members), size):
            places, bases = zip(*members[first : first + size], strict=True)
            some = np.array(places)
            of_some = designs.taken(some), numbers[some], of_designs(motion, some), recorded.taken(some)
            data = _data(options, of_some, bases, columns)
            for part in data.training.alike():
                result.add(_fits(data if len(part) == len(data) else data.taken(part)))
    return result


def _bases(
    designs: RobotDesigns, motion: Motions, recorded: Recordings, options: FitOptions
) -> list[BaseParameters | ValueError]:
    """Return the base parameters of each design: at random states, or those that slow motions excite."""
    samples = recorded.samples_of(training=True)
    planned = {name: values[:, samples] for name, values in (recorded.planned if recorded.follows else motion).items()}
    slow = np.broadcast_to(is_slow(planned), len(designs))
    columns = columns_of(options.nominal, options.friction, shared=True)
    result: list[BaseParameters | ValueError] = [ValueError()] * len(designs)
    for along, places in ((True, np.flatnonzero(slow)), (False, np.flatnonzero(~slow))):
        if not len(places):
            continue
        some = designs if len(places) == len(designs) else designs.taken(places)
        base = recorded.base_at(samples if along else recorded.spans_of(training=True)[0])
        conditions = Conditions(options.nominal, columns, options.friction, base)
        if along:
            answers, geometry = bases_along(some, of_designs(planned, places), conditions)
        else:
            answers, geometry = bases_of(some, conditions)
        for place, number in zip(places.tolist(), geometry.tolist(), strict=True):
            result[place] = answers[number]
    return result


def _data(
    options: FitOptions,
    of_some: tuple[RobotDesigns, np.ndarray, Motions, Recordings],
    bases: tuple[BaseParameters, ...],
    columns: tuple[int, ...],
) -> FitData:
    """Return the data of designs whose base parameters have the same columns."""
    designs, _, motion, recorded = of_some
    selected = columns if METHODS[options.method].together else None

    def regressor_at(samples: slice) -> np.ndarray:
        at = {name: values[:, samples] for name, values in motion.items()}
        matrix = regressors(designs, at, options.friction, selected, recorded.base_at(samples))
        finite = [np.isfinite(values).reshape(*values.shape[:2], -1).all(axis=2) for values in at.values()]
        if not (good := np.logical_and.reduce(finite)).all():
            np.copyto(matrix, np.nan, where=~good[:, None, None])
        return matrix

    most = BYTES // (len(designs) * _bytes_of_a_sample(options))
    training, unused = recorded.filtered(regressor_at, options.filtering, most=most)
    return FitData(options, *of_some, bases, training, unused)


def _bytes_of_a_sample(options: FitOptions) -> int:
    """Return the bytes of a sample's columns on freedoms."""
    columns = columns_of(options.nominal, options.friction, shared=True)
    return 8 * len(columns) * len(options.nominal.mechanism.freedoms)


def _fits(data: FitData) -> FoundFits:
    """Fit designs with the same good samples: an error is that of one of them, and costs the others nothing."""
    try:
        fitted = METHODS[data.options.method].fit(data)
    except Exception as error:
        if len(data) == 1:
            return FoundFits(failed={int(data.numbers[0]): error})
        halves = [_fits(data.taken(half)) for half in np.array_split(np.arange(len(data)), 2)]
        halves[0].add(halves[1])
        return halves[0]
    groups = np.stack([base.groups for base in data.bases])
    truth = _product(groups, standard_values(data.designs, data.options.friction))
    nonlinear = np.broadcast_to(list(fitted.nonlinear.values()), (len(data), len(fitted.nonlinear)))
    table = FitTable(
        data.options.number,
        data.numbers,
        Groupings.of(data.bases),
        np.concatenate([truth, nonlinear], axis=1),
        fitted.values,
        fitted.deviations,
        fitted.condition,
        fitted.noise,
        _unexplained(data, fitted, truth.shape[1]),
        tuple(fitted.nonlinear),
    )
    return FoundFits([table])


def _unexplained(data: FitData, fitted: FittedParameters, count: int) -> np.ndarray:
    """Return the residuals of trajectories that were not used, relative to the forces (design,); NaN without any."""
    unused = data.unused
    if not unused.good.any():
        return np.full(len(data), np.nan)
    matrix = unused.rows(unused.matrix)
    if fitted.friction is not None:
        matrix = data.with_friction(fitted.friction, training=False)
    if matrix.shape[-1] > count:
        matrix = data.bases[0].reduced(matrix)
    forces = unused.rows(unused.forces)
    residuals = forces - _product(matrix, fitted.values[:, :count])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.linalg.norm(residuals, axis=1) / np.linalg.norm(forces, axis=1))


def _product(matrix: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return the product of each matrix (design, row, column) with its vector (design, column)."""
    return np.asarray((matrix @ vectors[..., None])[..., 0])
