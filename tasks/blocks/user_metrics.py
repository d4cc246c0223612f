"""Metrics of users: a plain Python function called for one case after another of a block.

The names of its parameters request series. A series has its dims of the dataset without design, friction and
trajectory, such as (time, actuator) or (time, limb, joint). All arrays are read-only. Further parameters may be `time`
(time,), `parameters` and `friction`, the numbers of design and friction set by name, and for simulations `gains` and
`state`.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from robots.data_classes import dataclass, replace
from robots.dims import FREEDOMS, GAINS, STATE
from robots.labels import in_order_of
from robots.metric_function import FRICTION_PARAMETERS, PARAMETERS, TIME
from tasks.blocks.block import Block, BlockMetric
from tasks.blocks.pool import Arrays

REASON = 400
"""Characters of the text of an error that are kept."""

Place = tuple[int, int, int]
Function = Callable[..., Any]


@dataclass(frozen=True)
class MetricWarning:
    """Cases of a block for which a metric had no number: how many, the first of them within the block, and why."""

    metric: str
    cases: int
    first: Place
    reason: str

    def moved(self, start: Sequence[int]) -> MetricWarning:
        """Return the warning for a block in which the cases of this one begin at `start`."""
        design, friction, trajectory = (at + first for at, first in zip(self.first, start, strict=False))
        return replace(self, first=(design, friction, trajectory))


def with_own(block: Block, arrays: Arrays) -> tuple[Arrays, tuple[MetricWarning, ...]]:
    """Add user metrics to the computed arrays and select the stored ones; also return the failures of user metrics."""
    result = {name: array for name, array in arrays.items() if name not in block.extra}
    complaints: list[MetricWarning] = []
    for metric in block.own:
        result[metric.name], told = computed(block, metric, arrays)
        complaints += told
    chosen = {name: selected(block, name, array) for name, array in result.items() if name in block.selection.series}
    return result | chosen, tuple(complaints)


def selected(block: Block, name: str, array: np.ndarray) -> np.ndarray:
    """Return a stored selection of a series: one axis for limb and joint or link, or some states or freedoms."""
    dims = block.dims(name)
    if along := [dim for dim in dims if dim == "deviation" or dim in FREEDOMS]:
        for dim in along:
            rows = [row for _, (_, row) in block.selection.of(dim)]
            array = np.take(array, rows, axis=dims.index(dim))
        return array
    axis, dim = dims.index("limb"), dims[dims.index("limb") + 1]
    limbs, numbers = zip(*(place for _, place in block.selection.of(dim)), strict=True)
    first = np.moveaxis(array, (axis, axis + 1), (0, 1))
    return np.ascontiguousarray(np.moveaxis(first[list(limbs), list(numbers)], 0, axis))


def computed(
    block: Block, metric: BlockMetric, arrays: Mapping[str, np.ndarray]
) -> tuple[np.ndarray, list[MetricWarning]]:
    """Return a user metric (design, friction, trajectory[, actuator]), NaN where it failed; and the warnings.

    A metric of simulations has the dims `gains` and `state` after `trajectory`, if they vary.
    """
    actuators = block.family.reference.actuators if metric.per_actuator else ()
    core = (len(actuators),) if metric.per_actuator else ()
    shape = (len(block.designs), len(block.friction), len(block.trajectories), *_varied(block).values())
    out, failed = np.full((*shape, *core), np.nan), list[tuple[Place, str]]()
    function = _loaded(metric.function.payload)
    for place in np.ndindex(*shape):
        try:
            with np.errstate(all="ignore"):
                out[place] = _number(function(**_inputs(block, metric, arrays, place)), core, actuators)
        except Exception as error:
            failed.append((place[:3], f"{type(error).__name__}: {error}"[:REASON]))
    return out, list(_grouped(metric.name, failed))


def _number(value: Any, core: tuple[int, ...], actuators: Sequence[str]) -> np.ndarray:
    found = np.asarray(in_order_of(actuators, "result", value) if core else value)
    if found.shape != core or found.dtype.kind not in "fiub":
        wanted = f"{core[0]} real numbers, one for each actuator" if core else "one real number"
        raise ValueError(f"it returned {found.dtype} of shape {found.shape}; expected {wanted}")
    return found.astype(float)


def _inputs(
    block: Block, metric: BlockMetric, arrays: Mapping[str, np.ndarray], place: tuple[int, ...]
) -> dict[str, Any]:
    given: dict[str, Any] = {}
    simulation, varied = block.simulation, dict(zip(_varied(block), place[3:], strict=True))
    for name, depends in zip(metric.function.series, metric.depends, strict=True):
        view = arrays[name][tuple(at for at, has in zip(place, depends, strict=True) if has)].view()
        view.flags.writeable = False
        given[name] = view
    design, friction = place[:2]
    names = {
        TIME: lambda: block.times.copy(),
        PARAMETERS: lambda: _named([p.name for p in block.family.parameters], block.designs.parameters[design]),
        FRICTION_PARAMETERS: lambda: _named(_friction_names(block), block.friction[friction]),
    }
    if simulation is not None:
        controller = simulation.simulation.controller
        gains = () if controller is None else controller.parameters
        names[GAINS] = lambda: _named(gains, simulation.gains[varied.get(GAINS, 0)])
        names[STATE] = lambda: _named(simulation.offsets, simulation.state[varied.get(STATE, 0)])
    return given | {name: names[name]() for name in metric.function.values}


def _varied(block: Block) -> dict[str, int]:
    """Return the lengths of the dims of gains and initial states in the results of a block, by name."""
    if block.simulation is None:
        return {}
    lengths = {GAINS: len(block.simulation.gains), STATE: len(block.simulation.state)}
    return {dim: lengths[dim] for dim in block.simulation.dims}


def _named(names: Sequence[str], values: np.ndarray) -> dict[str, float]:
    return dict(zip(names, values.tolist(), strict=True))


def _friction_names(block: Block) -> list[str]:
    """Return the names of a friction set's numbers, as in the dataset: after the name of their group, if any."""
    return [name for group in block.groups for name in group.labels]


@functools.lru_cache(maxsize=32)
def _loaded(payload: bytes) -> Function:
    """Return the function; if this machine cannot load it, one that reports so for every case."""
    try:
        function: Function = pickle.loads(payload)
    except Exception as error:
        return functools.partial(_absent, f"it cannot be loaded here ({type(error).__name__}: {error})")
    return function


def _absent(reason: str, **given: Any) -> Any:
    raise RuntimeError(reason)


def _grouped(metric: str, failed: Sequence[tuple[Place, str]]) -> Iterator[MetricWarning]:
    """Yield one warning for each kind of error, with the text of its first case."""
    kinds: dict[str, list[tuple[Place, str]]] = {}
    for place, reason in failed:
        kinds.setdefault(reason.partition(":")[0], []).append((place, reason))
    for cases in kinds.values():
        yield MetricWarning(metric, len(cases), *cases[0])
