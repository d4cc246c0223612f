"""Metrics and series of a block with their exact derivatives along directions in the space of its parameters.

The stages are the same as in a run, each by the pushforward of its program. A peak is differentiated at the sample
where it occurs; this is exact if only one sample has the peak. Derivatives `AHEAD` of the point use all samples that
share the peak. Motions of the platform do not depend on parameters. Friction laws with a state are refused.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass, replace
from robots.dims import FRICTION
from robots.quantities import DIFFERENTIABLE, QUANTITIES, SMOOTH_SERIES, reduction
from robots.requested import QuantityNames
from robots.status import Status
from robots.types import TWIST
from tasks.blocks.block import Block, motions
from tasks.blocks.derived_series import MetricRates, SeriesRates
from tasks.blocks.motions import TIMED
from tasks.kernels.derivatives import pushforward
from tasks.kernels.expression import Array
from tasks.kernels.kernel import kernel, padded
from tasks.kernels.keys import Indexed, Rate, Values
from tasks.kernels.program import Program
from tasks.stages.metrics import actuators, poses
from tasks.stages.mounts import PARAMETERS, formula_program, mount_program
from tasks.stages.request import Request
from tasks.stages.stage import Stage
from tasks.stages.stages import stages

TINY = 1e-200
"""Imaginary step for the derivative of the last operations of a metric: small enough to lose no digit."""

REACTION, WRENCH = "peak_reaction", "joint_reaction"

AHEAD = "ahead"
"""Kind of one-sided derivatives, in the direction of the change."""

TIED = 1e-11
"""Difference of two samples, relative to the peak, up to which both count as peaks: rounding after Newton steps."""

PART = 512
"""Samples of a motion that are differentiated at a time."""


@dataclass(frozen=True)
class Directions:
    """Directions in the space of the parameters of a block, in their units.

    parameters: (direction, parameter), or those of each design (design, direction, parameter); friction: (set or 1,
    direction, numbers of all groups) and gravity (design or 1, direction, 3), held fixed where absent.
    """

    parameters: Array
    friction: Array | None = None
    gravity: Array | None = None


def metric_rates(
    block: Block,
    directions: Array | Directions,
    windows: int = 1,
    kind: str = "middle",
    series: Sequence[str] = (),
) -> dict[str, MetricRates]:
    """Return metrics of a block, and `series`, with their derivatives along directions; an array: of parameters.

    A peak over time is given for each of `windows` equal parts of the samples, so that an optimiser also sees peaks
    below the highest one. Sums over time have one window. A case with a failed sample is NaN; in a series only this
    sample is NaN. `kind` "ahead": the one-sided derivative in the direction, see `tasks.kernels.tangent.KINDS`.
    Raises ValueError for quantities and friction that are not differentiated.
    """
    along = directions if isinstance(directions, Directions) else Directions(directions)
    rows = np.ascontiguousarray(along.parameters, dtype=float)
    if rows.ndim == 2:
        rows = np.broadcast_to(rows, (len(block.designs), *rows.shape))
    if rows.ndim != 3 or rows.shape[::2] != block.designs.parameters.shape:
        got, expected = np.shape(along.parameters), f"(directions, {block.designs.parameters.shape[1]})"
        raise ValueError(f"directions: got an array of shape {got}; expected {expected}, one row for each")
    _check(block, series)
    return _Chain(block, replace(along, parameters=rows), min(windows, len(block.times)), kind, series).run()


def _check(block: Block, series: Sequence[str]) -> None:
    smooth = (*DIFFERENTIABLE, "worst_status")
    for what, names, some in (("metric", block.metrics, smooth), ("series", series, SMOOTH_SERIES)):
        for name in names:
            if name not in some:
                raise ValueError(f"{what} {name!r} is not differentiated; expected some of {', '.join(some)}")
    for group in block.groups:
        if group.remembers:
            raise ValueError(f"friction law {group.law!r} is not differentiated; expected a law without state")


Reduced = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Values, rates, sizes of rates (case, component, window) of a metric reduced over time and not finished yet."""


class _Chain:
    """One pass along a block's stages. Cases are designs times directions, designs slower."""

    def __init__(self, block: Block, directions: Directions, windows: int, kind: str, series: Sequence[str]):
        rows = np.asarray(directions.parameters)
        self.block, self.windows, self.kind = block, windows, kind
        self.count, self.samples, width = rows.shape[1], len(block.times), padded(len(block.times))
        self.series = SeriesRates({name: block.dims(name) for name in series}, block.sizes, block.groups, self.count)
        weights = np.zeros((1, 1, width))
        weights[0, 0, : self.samples] = actuators.trapezoid_weights(block.times)
        self.duration = float(weights.sum())
        self.values: Values = block.case_values() | {"weight": weights, "held": np.zeros((1, 0, width))}
        self.values[PARAMETERS] = np.repeat(block.designs.parameters, self.count, axis=0)
        if len(self.values["gravity"]) > 1:
            self.values["gravity"] = np.repeat(self.values["gravity"], self.count, axis=0)
        self.values[Rate(PARAMETERS)] = np.ascontiguousarray(rows.reshape(-1, rows.shape[-1]))
        self.friction = directions.friction if directions.friction is not None and directions.friction.any() else None
        if (along := directions.gravity) is not None and along.any():
            self.values[Rate("gravity")] = np.broadcast_to(along, (len(block.designs), *along.shape[1:])).reshape(-1, 3)
        self.values |= self._with_rates(mount_program(block.family))
        if block.formulas:
            formulas = tuple((key, tuple(row[0])) for key, row in block.formulas.items())
            self.values |= self._with_rates(formula_program(block.family, formulas))

    def _with_rates(self, program: Program) -> Values:
        """Return case inputs that follow from the parameters, with their rates, (case, size)."""
        cases = len(self.values[PARAMETERS])
        pad = ((0, padded(cases) - cases), (0, 0))
        rows = {key: np.pad(self.values[key], pad, mode="edge") for key in (PARAMETERS, Rate(PARAMETERS))}
        run = kernel(pushforward(program, (PARAMETERS,), self.kind))
        out = run({key: np.ascontiguousarray(value.T)[None] for key, value in rows.items()}, cases)
        return {key: np.ascontiguousarray(value[0, :, :cases].T) for key, value in out.items()}

    @functools.cached_property
    def request(self) -> Request:
        """Request to the stages: metrics, with wrenches in place of peak reactions, and series."""
        metrics = (WRENCH if name == REACTION else name for name in self.block.metrics)
        return replace(
            self.block.request, quantities=QuantityNames(tuple(dict.fromkeys((*self.series.wanted, *metrics))))
        )

    def run(self) -> dict[str, MetricRates]:
        """Compute the metrics of the block with their derivatives."""
        root = motions(self.block)
        rows = [list(self._finished_sets(root.values(j), j)) for j in range(len(root))]
        return {name: self._gathered(name, rows) for name in self.block.metrics} | self.series.arrays()

    @functools.cached_property
    def _halves(self) -> tuple[list[Stage], list[Stage]]:
        """The stages up to the assembly, and the stages that friction changes."""
        chain = list(stages(self.request))
        last = next(k for k, stage in enumerate(chain) if stage.name == "assembly")
        return chain[: last + 1], chain[last + 1 :]

    def _finished_sets(self, root: Values, trajectory: int) -> Iterator[dict[str, MetricRates]]:
        """Yield the metrics on a motion for each friction set; metrics without friction only with the first one."""
        parts = [list(self._by_set(*part, trajectory)) for part in self._parts({**self.values, **root})]
        for by_part in zip(*parts, strict=True):
            names = [name for name in self.block.metrics if name in by_part[0]]
            yield {name: self._finished_rates(name, [part[name] for part in by_part]) for name in names}

    def _parts(self, values: Values) -> Iterator[tuple[Values, slice]]:
        """Yield the values in parts of the time, and the samples of each; all at once if windows are requested."""
        step = PART if self.windows == 1 else self.samples
        for start in range(0, self.samples, step):
            samples = min(step, self.samples - start)
            part = slice(start, start + padded(samples))
            cut = {k: np.ascontiguousarray(v[..., part]) if v.ndim == TIMED else v for k, v in values.items()}
            yield cut, slice(start, start + samples)

    def _by_set(self, values: Values, times: slice, trajectory: int) -> Iterator[dict[str, Reduced]]:
        """Yield the metrics in a part of the time per friction set, as `_finished_sets` does; series are stored."""
        (before, after), samples = self._halves, times.stop - times.start
        values = self._run(before, values, samples)
        for number, friction in enumerate(self.block.friction):
            steps = after if number == 0 or any(self.request.passive) else [s for s in after if s.name == "actuation"]
            final = self._run(steps, {**values, FRICTION: friction[None], **self._friction_rates(number)}, samples)
            self.series.store(self.request, final, (number, trajectory, times))
            by_name = ((name, self._reduced(name, final, samples)) for name in self.block.metrics)
            yield {name: reduced for name, reduced in by_name if reduced is not None}

    def _friction_rates(self, number: int) -> Values:
        """Return the rates of the numbers of a friction set, for all cases; none where they are held fixed."""
        if self.friction is None:
            return {}
        along = self.friction[number if len(self.friction) > 1 else 0]
        return {Rate(FRICTION): np.tile(along, (len(self.block.designs), 1))}

    def _run(self, steps: Iterable[Stage], values: Values, samples: int) -> Values:
        for stage in steps:
            values = values | stage.run_rates(kernel, values, samples, self.kind)
        return values

    def _reduced(self, name: str, values: Values, samples: int) -> Reduced | None:
        """Return a metric reduced over a part of the time; None where reactions were not computed again."""
        if name == REACTION:
            return self._peak_reactions(values, samples) if Indexed(WRENCH, 0) in values else None
        found, rates = (values[key][..., :samples] for key in (name, Rate(name)))
        if reduction(name) == "sum":
            return _summed(found, rates, np.abs(rates))
        return self._extremes((found, rates, np.abs(rates)), reduction(name), self.windows)

    def _finished_rates(self, name: str, parts: Sequence[Reduced]) -> MetricRates:
        """Return values and rates (case, component, window) of a metric from those of all parts of the time."""
        values, rates, sizes = reduced = _joined(parts)
        if reduction(name) == "sum":
            values, rates, sizes = _summed(*reduced)
        elif len(parts) > 1:
            values, rates, sizes = self._extremes(reduced, reduction(name), 1)
        with np.errstate(invalid="ignore"):
            stepped = [np.imag(self._finished(name, values + 1j * TINY * x)) / TINY for x in (rates, sizes)]
        return MetricRates(self._finished(name, values), stepped[0], np.abs(stepped[1]))

    def _finished(self, name: str, reduced: np.ndarray) -> np.ndarray:
        if name in actuators.METRICS:
            return actuators.METRICS[name].finished(reduced, self.duration, axis=1)
        if name in poses.METRICS:
            return poses.METRICS[name].finish(reduced, self.samples, self.request.structure.freedoms)
        return reduced

    def _peak_reactions(self, values: Values, samples: int) -> Reduced:
        """Return peak joint forces, (case, limb, joint, window); NaN for a failed sample or an absent joint."""
        limbs = [self._force_sizes(values, k, samples) for k in range(len(self.request.passive))]
        bad = np.where(values["status"][:, 0, :samples] != Status.OK, np.nan, 0.0)[:, None, None]
        sizes, rates = (_stacked([limb[kind] for limb in limbs]) + bad for kind in (0, 1))
        return self._extremes((sizes, rates, np.abs(rates)), "max", self.windows)

    def _extremes(self, samples: Reduced, how: str, windows: int) -> Reduced:
        """Return the largest or smallest value in each window, NaN if any is, and the rate where it occurs."""
        sign = 1.0 if how == "max" else -1.0
        values, rates, sizes = samples
        found = []
        for part in np.array_split(np.arange(values.shape[-1]), windows):
            inner, slopes = sign * values[..., part], sign * rates[..., part]
            best = np.argmax(inner, axis=-1)[..., None]
            peak, slope = np.take_along_axis(inner, best, axis=-1), np.take_along_axis(slopes, best, axis=-1)
            if self.kind == AHEAD:
                tied = inner >= peak - TIED * np.abs(peak)
                slope = np.where(tied, slopes, -np.inf).max(axis=-1, keepdims=True, initial=-np.inf)
                slope = np.where(np.isnan(peak), np.nan, slope)
            found.append((sign * peak, sign * slope, sizes[..., part].max(axis=-1, keepdims=True)))
        return _joined(found)

    def _force_sizes(self, values: Values, k: int, samples: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the sizes of the forces in the joints of limb k (case, joint, sample), and their rates."""
        keys = (Indexed(WRENCH, k), Rate(Indexed(WRENCH, k)))
        force, rate = (self._forces(values[key], samples) for key in keys)
        size = np.sqrt((force * force).sum(axis=2))
        # the size of a reaction of zero has a kink: its rate is not known there, and zero is returned
        return size, (force * rate).sum(axis=2) / np.where(size > 0.0, size, 1.0)

    def _forces(self, wrenches: NDArray[np.float64], samples: int) -> NDArray[np.float64]:
        """Return the forces (case, joint, 3, sample) from rows of wrenches (case, component, padded time)."""
        rows = wrenches[..., :samples]
        return rows.reshape(len(rows), -1, len(TWIST), samples)[:, :, 3:]

    def _gathered(self, name: str, rows: Sequence[Sequence[dict[str, MetricRates]]]) -> MetricRates:
        """Gather (case, component, window) of each trajectory and set into the dims of `MetricRates`."""
        by_set = FRICTION in self.block.dims(name)
        parts = []
        for kind in ("values", "rates", "sizes"):
            stacked = np.stack([[getattr(row[name], kind) for row in sets[: None if by_set else 1]] for sets in rows])
            stacked = np.moveaxis(stacked, (2, 1), (0, 1))  # from trajectory, set, case to case, set, trajectory
            stacked = stacked if by_set else stacked[:, 0]
            if not {"actuator", "joint"} & {*QUANTITIES[name].dims}:
                stacked = stacked[:, :, 0]
            parts.append(stacked.reshape(len(self.block.designs), self.count, *stacked.shape[1:]))
        values, rates, sizes = parts
        return MetricRates(values[:, 0], np.moveaxis(rates, 1, 0), np.moveaxis(sizes, 1, 0))


def _summed(*arrays: np.ndarray) -> Reduced:
    """Return the sums of values, rates and sizes along the last axis, which keeps the length 1."""
    values, rates, sizes = (array.sum(axis=-1, keepdims=True) for array in arrays)
    return values, rates, sizes


def _joined(parts: Sequence[Reduced]) -> Reduced:
    """Return values, rates and sizes of all windows of some parts."""
    values, rates, sizes = (np.concatenate(each, axis=-1) for each in zip(*parts, strict=True))
    return values, rates, sizes


def _stacked(limbs: Sequence[np.ndarray]) -> np.ndarray:
    """Return one array for all limbs, (case, limb, joint, sample); NaN where a limb has fewer joints than another."""
    most = max(limb.shape[1] for limb in limbs)
    whole = [np.pad(limb, ((0, 0), (0, most - limb.shape[1]), (0, 0)), constant_values=np.nan) for limb in limbs]
    return np.stack(whole, axis=1)
