"""The stages of inverse dynamics over simulated cases: each with a motion, forces and friction of its own.

The rows of quantities are those of given motions; what differs is that actuator forces and friction of joints are
values beside the motion (`stages.GIVEN`) and not solved for. Arrays of samples are (case, component, time).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from robots.quantities import FRICTION, GAINS, QUANTITIES, STATE
from robots.status import Status
from tasks.blocks.block import Block, time_first
from tasks.blocks.linear import Linear
from tasks.blocks.pool import Arrays
from tasks.blocks.series import absent_joints, after_joints, fill_friction, fill_series, gathered, platform_series
from tasks.features.redundancy.feature import Redundancy
from tasks.kernels.kernel import padded
from tasks.kernels.keys import Indexed, Values
from tasks.stages import stages
from tasks.stages.request import Request
from tasks.stages.stages import Stage

CASE_DIMS = ("design", FRICTION, "trajectory", GAINS, STATE)

PASSED_ON = ("simulation", "sensors")
"""Stages of quantities that the simulation itself gives, or that sensors measure."""


def case_request(block: Block, wanted: Iterable[str]) -> Request:
    """Return the request to the stages for the quantities of a simulation."""
    chosen = tuple(name for name in dict.fromkeys(wanted) if QUANTITIES[name].stage not in PASSED_ON)
    return replace(block.request.with_features(Redundancy()), wanted=chosen, given=True)


class CaseStages:
    """Stages of a request over cases, each with its design and its friction set.

    parameters (case, parameter), friction (case, parameters of all groups).
    """

    def __init__(self, block: Block, wanted: Iterable[str], parameters: np.ndarray, friction: np.ndarray):
        self.block, self.request = block, case_request(block, wanted)
        cases = replace(block, parameters=parameters)
        self.count = len(parameters)
        self.values: Values = cases.case_values() | {"friction": friction}
        limbs = range(len(self.request.structure.mechanism.instances))
        self.motion = [stages.limb(self.request, k) for k in limbs]
        if not self.request.structure.mechanism.is_chain:
            self.motion.append(stages.platform(self.request))
        self.assembly = stages.assembly(self.request)
        self.motion.append(self.assembly)
        self.actuation = stages.actuation(self.request) if any(self.request.actuation) else None
        self.reactions: list[Stage] = []
        if self.request.reactions:
            self.reactions = [stages.balance(self.request)]
            self.reactions += [stages.reactions(self.request, k) for k in limbs]

    def of_motion(self, samples: Values, count: int, cases: slice = slice(None)) -> Values:
        """Run limbs, platform and assembly; `samples` (case, component, padded time) are those of some cases."""
        width = padded(count)
        values: Values = {key: array[cases] if len(array) > 1 else array for key, array in self.values.items()}
        values |= {"weight": np.zeros((1, 1, width)), "held": np.zeros((1, 0, width)), **samples}
        return self._run(self.motion, values, count)

    def of_forces(self, values: Values, count: int) -> Values:
        """Run the actuation and the reactions, from the values of the stages before."""
        own = [] if self.actuation is None else [self.actuation]
        return self._run([*own, *self.reactions], values, count)

    def _run(self, some: Iterable[Stage], values: Values, count: int) -> Values:
        for stage in some:
            values |= stage.run(self.block.kernel, values, count)
        return values


def case_series(block: Block, names: Sequence[str], cases: CaseStages, sources: Values, status: np.ndarray) -> Arrays:
    """Return series (case, time, ...) of simulated cases, NaN at samples that are not OK.

    sources (case, component, time): values of the simulation by their key among those of stages; status (case, time).
    """
    times = status.shape[1]
    of_stages = [name for name in names if QUANTITIES[name].stage != "trajectory"]
    shapes = {name: block.shape([dim for dim in QUANTITIES[name].dims if dim not in CASE_DIMS]) for name in of_stages}
    out = {name: np.full((cases.count, *shape), np.nan) for name, shape in shapes.items()}
    samples = {key: wide(array) for key, array in sources.items()}
    step = max(1, stages.STRIP // padded(times)) if of_stages else cases.count
    for start in range(0, cases.count if of_stages else 0, step):
        part = slice(start, start + step)
        given = {key: array[part] if len(array) > 1 else array for key, array in samples.items()}
        values = cases.of_motion(given, times, part)
        rows = {name: array[part] for name, array in out.items()}
        _fill(block, cases.request, rows, cases.of_forces(values, times), times)
        unsolved = values["status"][:, 0, :times] != Status.OK
        for array in rows.values():
            array[unsolved] = np.nan
    out |= platform_series(block, samples["motion"], names)
    for array in out.values():
        array[status != Status.OK] = np.nan
    return out


def _fill(block: Block, request: Request, out: Arrays, values: Values, times: int) -> None:
    """Fill the series of a strip of cases (case, time, ...) from the values of all stages."""
    limbs = range(len(request.structure.mechanism.instances))
    for name in (*request.of("limb", "series"), *request.of("assembly", "series")):
        fill_series(out[name], name, values, times, len(limbs))
    for name in request.of("actuation", "series"):
        if "joint" not in QUANTITIES[name].dims:
            out[name][...] = time_first(values[name], times)
            continue
        still = absent_joints(block.family.reference)
        out[name][...] = still.reshape(*still.shape, *(1,) * (out[name].ndim - 4))
        fill_friction(out[name], values[name], block.groups, times)
    for name, array in gathered([_reactions(values, k, request, times) for k in limbs]).items():
        out[name][...] = array
    if request.of("linear"):
        loaded = [number for number, each in enumerate(block.trajectories) if each.load is not None]
        matrices = Linear(block, request).strip(loaded[0] if loaded else 0, values)  # all are in the same axes
        for name in request.of("linear"):
            out[name][...] = matrices[name]


def _reactions(values: Values, limb: int, request: Request, times: int) -> Arrays:
    """Return the series of reactions of one limb (case, time, joint, ...)."""
    rows = {name: time_first(values[Indexed(name, limb)], times) for name in request.reactions}
    return {name: row.reshape(*row.shape[:2], -1, *after_joints(name)) for name, row in rows.items()}


def wide(array: np.ndarray) -> np.ndarray:
    """Return samples (case, component, time) with whole groups of lanes in time, the last one repeated."""
    missing = padded(array.shape[-1]) - array.shape[-1]
    return np.ascontiguousarray(np.pad(array, ((0, 0), (0, 0), (0, missing)), mode="edge"))
