"""Build the Dask graph of a block; the only module that makes tasks.

    trajectories -+- limb 1 ---+            +- reactions of limb 1 -+
                  +- ...       +- assemble -+- ...                  +- store
                  +- limb L ---+            +- reactions of limb L -+

Each limb's inverse kinematics and dynamics is a task of its own: the parallel scheme of the hybrid-limb paper, Fig. 13.
All depend on one small root, which keeps a block's tasks on one worker. The platform's own wrench takes less time than
a task, so the assembly computes it. Reactions are tasks only where they are asked for; without them the assembly stores
the block. `granularity="block"` runs the same functions in one task.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, ParamSpec, Protocol, TypeVar

import numpy as np
from dask._task_spec import Task, TaskRef
from distributed import secede
from numpy.typing import NDArray

from pipeline.errors import TaskError
from pipeline.execution.executor import Key, KeyedGraph, TaskGraph
from pipeline.execution.isolation import Isolation, ReceiptWithFailures, first_case, require_fit
from pipeline.execution.policy.attempts import Timeouts
from pipeline.execution.user_warnings import ReceiptWithWarnings, with_warnings
from pipeline.plan.plan import Plan
from pipeline.sweep.model import Sweep
from pipeline.sweep.user_metric import PreparedMetric
from robots.quantities import QUANTITIES
from storage.encoding.shards import crc32c
from storage.errors import StoreError
from storage.ledger import Receipt
from storage.writer import Comparer, StoreWriter
from tasks.blocks import compute
from tasks.blocks.assembly import Assembled
from tasks.blocks.block import Arrays, Block
from tasks.blocks.commanded import Motions
from tasks.blocks.sensors import Measurement
from tasks.blocks.user_metric import BlockMetric

Granularity = Literal["limb", "block"]
Writer = StoreWriter | Comparer

Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")
Value_co = TypeVar("Value_co", covariant=True)


def block_of(plan: Plan, index: int) -> Block:
    """The description of one block: what its tasks compute."""
    sweep, bounds = plan.sweep, plan.layout.bounds(index)
    design, friction = bounds["design"], bounds["friction"]
    owned = {name: plan.layout.variable(name) for name in plan.layout.owned(index)}
    stored = tuple(name for name, variable in owned.items() if "time" in variable.dims)
    extra = tuple(name for name in plan.extra if name not in stored)
    return Block(
        index=index,
        robot=sweep.robot,
        parameters=table(sweep.designs(design.start, design.stop), design.stop - design.start),
        groups=sweep.friction.groups,
        friction=table(sweep.friction.values(friction.start, friction.stop), friction.stop - friction.start),
        trajectories=sweep.trajectories[bounds["trajectory"]],
        times=sweep.times,
        origin=plan.origin,
        gravity=sweep.gravity,
        single=sweep.precision == "single",
        series=(*stored, *extra),
        metrics=tuple(name for name in owned if name in QUANTITIES and name not in stored),
        own=tuple(_user_metric(plan, metric) for metric in sweep.user_metrics),
        extra=extra,
        measurement=_measurement(sweep, bounds),
        description=sweep.description,
        limits=sweep.limits,
    )


def _measurement(sweep: Sweep, bounds: Mapping[str, slice]) -> Measurement | None:
    place = bounds["design"].start, bounds["friction"].start, bounds["trajectory"].start
    return Measurement(sweep.measurement, place) if sweep.measurement else None


def _user_metric(plan: Plan, metric: PreparedMetric) -> BlockMetric:
    """A user metric with the dims that its inputs have in the plan."""
    dims = map(plan.dims, metric.function.series)
    depends = tuple(("design" in row, "friction" in row, "trajectory" in row) for row in dims)
    return BlockMetric(metric.name, metric.function, depends, metric.per_actuator)


def table(columns: Mapping[str, NDArray[np.float64]], length: int) -> NDArray[np.float64]:
    """Columns (length,) side by side, (length, column); without any of them (length, 0)."""
    return np.ascontiguousarray(np.stack(list(columns.values()), axis=1)) if columns else np.zeros((length, 0))


def block_graph(plan: Plan, index: int, writer: Writer, run: str, granularity: Granularity = "limb") -> KeyedGraph:
    """The graph of one block, and the key whose result is its receipt; `run` makes keys distinct between runs."""
    block = block_of(plan, index)
    store: Key = (f"store-{run}", index)
    if granularity == "block":
        return {store: Task(store, _whole_block, block, writer)}, store
    root = (f"trajectories-{run}", index)
    limbs = [(f"{name}-{run}", index) for name in plan.limbs]
    graph: TaskGraph = {root: Task(root, _root, block)}
    for k, key in enumerate(limbs):
        graph[key] = Task(key, _limb, TaskRef(root), k)
    shares = [TaskRef(key) for key in limbs]
    if not block.request.reactions:
        graph[store] = Task(store, _assemble_and_store, TaskRef(root), writer, *shares)
        return graph, store
    assembled = (f"assemble-{run}", index)
    graph[assembled] = Task(assembled, _assemble, TaskRef(root), *shares)
    reacting = [(f"{name}-reactions-{run}", index) for name in plan.limbs]
    for k, key in enumerate(reacting):
        graph[key] = Task(key, _reactions, TaskRef(root), TaskRef(assembled), k)
    last = (TaskRef(key) for key in reacting)
    graph[store] = Task(store, _store, TaskRef(root), TaskRef(assembled), writer, *last)
    return graph, store


def isolated_graph(plan: Plan, index: int, writer: Writer, run: str, timeouts: Timeouts) -> KeyedGraph:
    """The graph of one block whose parts are computed in a subprocess; its result is a ReceiptWithFailures."""
    key = (f"isolated-{run}", index)
    settings = Isolation(timeouts.part, timeouts.isolation, plan.block_memory)
    return {key: Task(key, _isolated, block_of(plan, index), writer, settings)}, key


def canary_graph(plan: Plan, index: int, worker: int, run: str) -> KeyedGraph:
    """The graph of the first case of a block, nothing stored; its result is a checksum of every variable."""
    key = (f"canary-{run}", worker)
    return {key: Task(key, _canary, block_of(plan, index))}, key


def _task(body: Callable[Arguments, Value]) -> Callable[Arguments, Value]:
    """A body that raises nothing but StoreError and TaskError.

    Other errors may never reach the client: those that cannot be pickled, recursion without end, texts without end.
    """

    @functools.wraps(body)
    def guarded(*arguments: Arguments.args, **options: Arguments.kwargs) -> Value:
        try:
            return body(*arguments, **options)
        except (StoreError, TaskError):
            raise
        except Exception as error:
            failure = TaskError.of(error)
        # raised here, because what an exception was raised from is sent with it
        raise failure

    return guarded


@dataclass(frozen=True)
class _Rooted:
    """The result of a block's first task."""

    block: Block
    motions: Motions


@_task
def _root(block: Block) -> _Rooted:
    return _Rooted(block, compute.motions(block))


@_task
def _limb(rooted: _Rooted, index: int) -> Arrays:
    return compute.limb(rooted.block, rooted.motions, index)


@_task
def _assemble(rooted: _Rooted, *limbs: Arrays) -> Assembled:
    return compute.assembled(rooted.block, rooted.motions, limbs)


@_task
def _assemble_and_store(rooted: _Rooted, writer: Writer, *limbs: Arrays) -> Receipt | ReceiptWithWarnings:
    assembled = compute.assembled(rooted.block, rooted.motions, limbs)
    return _written(rooted.block, writer, assembled.arrays)


@_task
def _reactions(rooted: _Rooted, assembled: Assembled, index: int) -> Arrays:
    return compute.reactions(rooted.block, rooted.motions, assembled.loads, index)


@_task
def _store(rooted: _Rooted, assembled: Assembled, writer: Writer, *reactions: Arrays) -> Receipt | ReceiptWithWarnings:
    return _written(rooted.block, writer, assembled.arrays | compute.gathered(reactions))


def _written(block: Block, writer: Writer, arrays: Arrays) -> Receipt | ReceiptWithWarnings:
    """Store what a block has computed, with user metrics."""
    stored, warnings = compute.completed(block, arrays)
    return with_warnings(_stored(block.index, writer, stored), warnings)


def _stored(index: int, writer: Writer, arrays: Arrays) -> Receipt:
    require_fit(writer.layout, index, arrays)
    _make_room()
    return writer.write(index, arrays)


def _make_room() -> None:
    """Storing waits for the disk: the worker may begin another task meanwhile, in another thread."""
    with suppress(ValueError):  # not on a worker
        secede()


@_task
def _whole_block(block: Block, writer: Writer) -> Receipt | ReceiptWithWarnings:
    return _written(block, writer, compute.computed(block))


@_task
def _isolated(block: Block, writer: Writer, settings: Isolation) -> ReceiptWithFailures:
    arrays, failures = settings.compute(block, writer.layout)
    return ReceiptWithFailures(_stored(block.index, writer, arrays), failures)


@_task
def _canary(block: Block) -> dict[str, int]:
    return {name: crc32c(array) for name, array in compute.whole(replace(first_case(block), own=())).items()}


class Runnable(Protocol[Value_co]):
    """A job that is one task by itself."""

    def run(self) -> Value_co:
        """The result of the task."""


def job_graph(job: Runnable[Value], name: str, *case: Hashable) -> KeyedGraph:
    """The graph of a job; its key begins with a name, its result is what `run` returns."""
    key = (name, *case)
    return {key: Task(key, _run_job, job)}, key


@_task
def _run_job(job: Runnable[Value]) -> Value:
    return job.run()
