"""Metrics of a block with their exact derivatives along directions in the space of design parameters.

The stages are those of a run, each by the pushforward of its program. A peak is differentiated at the sample where it
occurs, which is exact wherever one sample alone has it. Motions of the platform do not depend on the design; friction
parameters are held fixed. Not here: laws with a state. These are refused.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robots.quantities import FRICTION, QUANTITIES, names, reduction
from robots.status import Status
from robots.types import TWIST
from tasks.blocks.block import Block
from tasks.blocks.limb_results import motions
from tasks.kernels.derivatives import pushforward
from tasks.kernels.expression import Array
from tasks.kernels.kernel import kernel, padded
from tasks.kernels.keys import Indexed, Rate, Values
from tasks.stages.metrics import actuators, poses
from tasks.stages.mounts import PARAMETERS, mount_program
from tasks.stages.request import Request
from tasks.stages.stages import Stage, stages

TINY = 1e-200
"""Imaginary step for the derivative of the last operations of a metric: small enough to lose no digit."""

REACTION, WRENCH = "peak_reaction", "joint_reaction"

DIFFERENTIABLE = (
    *actuators.METRICS,
    *(
        name
        for name in names("assembly", "metric")
        if not {"workspace"} & {*QUANTITIES[name].needs} and name != "failed_samples"
    ),
    REACTION,
    *actuators.ROBOT_METRICS,
)
"""Metrics that `metric_rates` knows."""


@dataclass(frozen=True)
class MetricRates:
    """A metric and how it changes: values (design, ..., window), rates (direction, design, ..., window).

    Between, the dims of the metric: friction set and trajectory, or trajectory alone; then actuator, if it has one.
    """

    values: np.ndarray
    rates: np.ndarray


def metric_rates(block: Block, directions: Array, windows: int = 1) -> dict[str, MetricRates]:
    """Return the metrics of a block and their derivatives along `directions` in units of parameters.

    directions: (direction, parameter), or those of each design (design, direction, parameter).

    A peak over time is given for each of `windows` equal parts of the samples, so that who optimises can see the peaks
    behind the highest. Sums over time have one window. A case with a failed sample is NaN. Raises ValueError for
    metrics and friction that are not differentiated.
    """
    along = np.ascontiguousarray(directions, dtype=float)
    if along.ndim == 2:
        along = np.broadcast_to(along, (block.designs, *along.shape))
    if along.ndim != 3 or along.shape[::2] != block.parameters.shape:
        got, expected = np.shape(directions), f"(directions, {block.parameters.shape[1]})"
        raise ValueError(f"directions: got an array of shape {got}; expected {expected}, one row for each")
    _check(block)
    return _Chain(block, along, min(windows, len(block.times))).run()


def _check(block: Block) -> None:
    for name in block.metrics:
        if name not in DIFFERENTIABLE:
            raise ValueError(f"metric {name!r} is not differentiated; expected some of {', '.join(DIFFERENTIABLE)}")
    for group in block.groups:
        if group.remembers:
            raise ValueError(f"friction law {group.law!r} is not differentiated; expected a law without state")


class _Chain:
    """One pass along a block's stages. Cases are designs times directions, designs slower."""

    def __init__(self, block: Block, directions: np.ndarray, windows: int):
        self.block, self.windows = block, windows
        self.count, self.samples, width = directions.shape[1], len(block.times), padded(len(block.times))
        weights = np.zeros((1, 1, width))
        weights[0, 0, : self.samples] = actuators.trapezoid_weights(block.times)
        self.duration = float(weights.sum())
        self.values: Values = block.case_values() | {"weight": weights, "held": np.zeros((1, 0, width))}
        self.values[PARAMETERS] = np.repeat(block.parameters, self.count, axis=0)
        if len(self.values["gravity"]) > 1:
            self.values["gravity"] = np.repeat(self.values["gravity"], self.count, axis=0)
        self.values[Rate(PARAMETERS)] = np.ascontiguousarray(directions.reshape(-1, directions.shape[-1]))
        self.values |= self._mounts()

    def _mounts(self) -> Values:
        """Return the `mount` inputs of limbs with their rates, (case, size)."""
        cases = len(self.values[PARAMETERS])
        pad = ((0, padded(cases) - cases), (0, 0))
        rows = {key: np.pad(self.values[key], pad, mode="edge") for key in (PARAMETERS, Rate(PARAMETERS))}
        run = kernel(pushforward(mount_program(self.block.family), (PARAMETERS,)))
        out = run({key: np.ascontiguousarray(value.T)[None] for key, value in rows.items()}, cases)
        return {key: np.ascontiguousarray(value[0, :, :cases].T) for key, value in out.items()}

    @functools.cached_property
    def request(self) -> Request:
        """Request to the stages: the block's metrics, with wrenches in place of peak reactions."""
        wanted = tuple(WRENCH if name == REACTION else name for name in self.block.metrics)
        return replace(self.block.request, wanted=wanted)

    def run(self) -> dict[str, MetricRates]:
        """Compute the metrics of the block with their derivatives."""
        chain = list(stages(self.request))
        last = next(k for k, stage in enumerate(chain) if stage.name == "assembly")
        root = motions(self.block)
        rows = [list(self._by_set(chain[: last + 1], chain[last + 1 :], root.values(j))) for j in range(len(root))]
        return {name: self._gathered(name, rows) for name in self.block.metrics}

    def _by_set(
        self, before: Sequence[Stage], after: Sequence[Stage], root: Values
    ) -> Iterator[dict[str, MetricRates]]:
        """The metrics on a motion for each friction set; those that friction does not change with the first alone."""
        values = self._run(before, {**self.values, **root})
        for number, friction in enumerate(self.block.friction):
            steps = after if number == 0 or any(self.request.passive) else [s for s in after if s.name == "actuation"]
            final = self._run(steps, {**values, "friction": friction[None]})
            yield {name: rates for name in self.block.metrics if (rates := self._rates(name, final)) is not None}

    def _run(self, steps: Iterable[Stage], values: Values) -> Values:
        for stage in steps:
            values = values | stage.run_rates(kernel, values, self.samples)
        return values

    def _rates(self, name: str, values: Values) -> MetricRates | None:
        """(case, component, window), both values and rates; None where reactions were not computed again."""
        if name == REACTION:
            return self._peak_reactions(values) if Indexed(WRENCH, 0) in values else None
        found, rates = (values[key][..., : self.samples] for key in (name, Rate(name)))
        if reduction(name) == "sum":
            reduced = found.sum(axis=-1, keepdims=True), rates.sum(axis=-1, keepdims=True)
        else:
            reduced = _extremes(found, rates, reduction(name), self.windows)
        with np.errstate(invalid="ignore"):
            stepped = self._finished(name, reduced[0] + 1j * TINY * reduced[1])
        return MetricRates(self._finished(name, reduced[0]), np.asarray(np.imag(stepped)) / TINY)

    def _finished(self, name: str, reduced: np.ndarray) -> np.ndarray:
        if name in actuators.METRICS:
            return actuators.METRICS[name].finished(reduced, self.duration, axis=1)
        if name in poses.METRICS:
            return poses.METRICS[name].finish(reduced, self.samples, self.request.structure.freedoms)
        return reduced

    def _peak_reactions(self, values: Values) -> MetricRates:
        """Peaks of the forces in joints, (case, limb, joint, window); NaN for a failed sample, or where no joint is."""
        limbs = [self._force_sizes(values, k) for k in range(len(self.request.passive))]
        bad = np.where(values["status"][:, 0, : self.samples] != Status.OK, np.nan, 0.0)[:, None, None]
        sizes, rates = (_stacked([limb[kind] for limb in limbs]) + bad for kind in (0, 1))
        return MetricRates(*_extremes(sizes, rates, "max", self.windows))

    def _force_sizes(self, values: Values, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the sizes of the forces in the joints of limb k (case, joint, sample), and their rates."""
        force, rate = (self._forces(values[key]) for key in (Indexed(WRENCH, k), Rate(Indexed(WRENCH, k))))
        size = np.sqrt((force * force).sum(axis=2))
        # a joint that carries nothing has a size with a kink: what it changes by is then not known, and zero is told
        return size, (force * rate).sum(axis=2) / np.where(size > 0.0, size, 1.0)

    def _forces(self, wrenches: NDArray[np.float64]) -> NDArray[np.float64]:
        """Forces (case, joint, 3, sample) in rows of wrenches (case, component, padded time)."""
        rows = wrenches[..., : self.samples]
        return rows.reshape(len(rows), -1, len(TWIST), self.samples)[:, :, 3:]

    def _gathered(self, name: str, rows: Sequence[Sequence[dict[str, MetricRates]]]) -> MetricRates:
        """From (case, component, window) of each trajectory and set to the dims of `MetricRates`."""
        by_set = FRICTION in self.block.dims(name)
        parts = []
        for kind in ("values", "rates"):
            stacked = np.stack([[getattr(row[name], kind) for row in sets[: None if by_set else 1]] for sets in rows])
            stacked = np.moveaxis(stacked, (2, 1), (0, 1))  # from trajectory, set, case to case, set, trajectory
            stacked = stacked if by_set else stacked[:, 0]
            if not {"actuator", "joint"} & {*QUANTITIES[name].dims}:
                stacked = stacked[:, :, 0]
            parts.append(stacked.reshape(self.block.designs, self.count, *stacked.shape[1:]))
        return MetricRates(parts[0][:, 0], np.moveaxis(parts[1], 1, 0))


def _stacked(limbs: Sequence[np.ndarray]) -> np.ndarray:
    """One array for all limbs, (case, limb, joint, sample); NaN where a limb has fewer joints than another."""
    most = max(limb.shape[1] for limb in limbs)
    whole = [np.pad(limb, ((0, 0), (0, most - limb.shape[1]), (0, 0)), constant_values=np.nan) for limb in limbs]
    return np.stack(whole, axis=1)


def _extremes(values: np.ndarray, rates: np.ndarray, how: str, windows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest or smallest value in each window, NaN if any is, and the rate where it occurs."""
    at = np.argmax if how == "max" else np.argmin
    found = []
    for part in np.array_split(np.arange(values.shape[-1]), windows):
        best = at(values[..., part], axis=-1)[..., None]
        found.append([np.take_along_axis(array[..., part], best, axis=-1) for array in (values, rates)])
    return tuple(np.concatenate(each, axis=-1) for each in zip(*found, strict=True))  # type: ignore[return-value]
