"""Metrics over all steps of simulated cases, by the rows of given motions.

Stages run over the instants at which steps begin, a chunk of them at a time, under the forces that act from there on.
Metrics of actuators are integrals over the steps: a step counts by its begin, middle and end with h/6, 4 h/6 and h/6,
where in the middle each input of the actuation stage is the mean of both ends. For a force that is a straight line
over the step this is exact. A force that jumps where a step begins has two values there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from robots.data_classes import dataclass, field, replace
from robots.quantities import reduction
from robots.requested import QuantityNames
from tasks.blocks.case_stages import CaseStages
from tasks.blocks.pool import Arrays
from tasks.blocks.series import wide
from tasks.kernels.expression import SAMPLE
from tasks.kernels.keys import LANES, Indexed, Key, Values
from tasks.kernels.program import Program, size
from tasks.stages import stages
from tasks.stages.metrics import actuators, poses
from tasks.stages.stage import Stage

CHUNK = 2 * LANES
"""Number of instants per chunk: with the cases of a strip, results of stages stay in the cache."""

BEFORE: Mapping[Any, Key] = {
    "given_force": "force_before",
    "given_friction": "friction_before",
    "current_rate": "current_rate_before",
}
"""Values at the end of a step that may differ from the values at the beginning of the next step."""

OF_FORCES = ("given_force", "force_before", "given_status")
"""Values that are computed for all metrics."""

OF_RATES = frozenset(("given_friction", "friction_before", "current_rate", "current_rate_before"))
"""Values that need rates; instants that no series needs do not have them."""

SIMPSON = (1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0)

COMBINED = {"max": np.maximum, "min": np.minimum, "sum": np.add}


def used_samples(program: Program) -> frozenset[Key]:
    """Return the sample inputs that a program makes use of."""
    return frozenset(node.data[0] for node in program.nodes if node.op == SAMPLE)


@dataclass
class StepMetrics:
    """Metrics of cases, taken instant by instant, `step` [s] apart."""

    cases: CaseStages
    step: float
    _chunk: list[Values] = field(default_factory=list)
    _last: Values = field(default_factory=dict)
    _reduced: dict[Key, np.ndarray] = field(default_factory=dict)
    _instants: int = 0

    def __post_init__(self) -> None:
        request = self.cases.request
        self._of_limbs = (*request.of("assembly", "metric"), *request.reactions)
        self._of_forces = request.of("actuation", "metric")
        # one program for forces in joints at the instants, another for metrics that are reduced over the steps
        self._net = self._actuating(QuantityNames(request.reactions))
        self._actuation = self._actuating(QuantityNames((), self._of_forces))
        self._used = frozenset[Key]() if self._actuation is None else used_samples(self._actuation.program)
        self.takes_motion = bool(self._of_limbs) or not self._used <= {"force", "status", "weight"}
        """True if a metric depends on motions; False if forces alone are needed."""
        self.takes_rates = bool(request.reactions) or not self._used <= {"force", "status", "weight", "velocity"}
        """True if accelerations and friction matter; False if states alone are needed, as for metrics of poses."""

    def _actuating(self, quantities: QuantityNames) -> Stage | None:
        """Return the actuation stage of some quantities; None without any."""
        return stages.actuation(replace(self.cases.request, quantities=quantities)) if quantities.both else None

    def take(self, values: Values) -> None:
        """Take one instant: values (component, case) by key, among them the values of GIVEN and BEFORE."""
        taken = OF_FORCES if not self.takes_motion else values if self.takes_rates else values.keys() - OF_RATES
        self._chunk.append({key: values[key] for key in taken})
        if len(self._chunk) == CHUNK:
            self._flush()

    def finished(self, steps: int) -> Arrays:
        """Return the metrics over all steps, (component, case) each."""
        if self._chunk:
            self._flush()
        result: Arrays = {}
        for name in self._of_forces:
            rows, found = self._reduced[name], actuators.METRICS.get(name)
            result[name] = (found.finished(rows, steps * self.step) if found else rows).T
        for name in self._of_limbs:
            if name in poses.METRICS:
                freedoms = self.cases.request.structure.freedoms
                result[name] = poses.METRICS[name].finish(self._reduced[name], self._instants, freedoms).T
            else:
                result[name] = self._of_joints(name)
        return result

    def _of_joints(self, name: str) -> np.ndarray:
        """Return a metric of joints (limb and joint, case), NaN where a limb has fewer joints than another."""
        parts = [self._reduced[Indexed(name, k)] for k in range(len(self.cases.request.passive))]
        most = max(part.shape[1] for part in parts)
        padded = [np.pad(part, ((0, 0), (0, most - part.shape[1])), constant_values=np.nan) for part in parts]
        return np.concatenate(padded, axis=1).T

    def _flush(self) -> None:
        """Run the stages over the chunk."""
        count, chunk = len(self._chunk), self._chunk
        self._instants += count
        samples = {key: np.stack([values[key].T for values in chunk], axis=2) for key in chunk[0]}
        self._chunk = []
        values: Values = {key: wide(array) for key, array in samples.items()}
        if self.takes_motion:
            values = self.cases.of_motion(values, count)
        else:
            values |= self.cases.values
        if self._net is not None:
            for stage in (self._net, *self.cases.reactions):
                values |= stage.run(self.cases.kernel, values, count)
        for name in self._of_limbs:
            keys = [name] if name in values else [Indexed(name, k) for k in range(len(self.cases.request.passive))]
            for key in keys:
                self._combine(key, name, values[key])
        if self._actuation is not None:
            self._actuate(self._actuation, values, count)

    def _actuate(self, stage: Stage, values: Values, count: int) -> None:
        """Reduce the metrics of actuators over the steps that end at the instants of a chunk."""
        inputs: Values = {name: values[stage.takes.get(name, name)] for name in stage.program.case}
        last, ends = self._last, 0
        for name, shape in stage.program.sample.items():
            key = stage.takes.get(name, name)
            if name == "weight":
                continue
            if name not in self._used or key not in values:
                inputs[name] = np.zeros((1, size(shape), 1))
                continue
            after, before = values[key][..., :count], values[BEFORE.get(key, key)][..., :count]
            begin = np.concatenate([last[name], after[..., :-1]], axis=2) if name in last else after[..., :-1]
            end = before if name in last else before[..., 1:]
            ends = end.shape[2]
            self._last[name] = np.ascontiguousarray(after[..., -1:])
            inputs[name] = np.concatenate([begin, 0.5 * (begin + end), end], axis=2)
        if not ends:
            return
        inputs["weight"] = np.repeat(SIMPSON, ends)[None, None] * self.step
        whole = {name: _long(array, 3 * ends) if array.ndim == 3 else array for name, array in inputs.items()}
        for name, found in self.cases.kernel(stage.program)(whole, 3 * ends).items():
            self._combine(name, str(name), found)

    def _combine(self, key: Key, name: str, found: np.ndarray) -> None:
        found = np.broadcast_to(found, (self.cases.count, found.shape[1]))
        known = self._reduced.get(key)
        self._reduced[key] = found.copy() if known is None else COMBINED[reduction(name)](known, found)


def _long(array: np.ndarray, count: int) -> np.ndarray:
    """Return samples of `count` instants in whole groups of lanes; a single instant is repeated."""
    return wide(np.broadcast_to(array, (*array.shape[:2], count)))
