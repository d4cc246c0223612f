"""The only door to Dask graphs: the tasks of one block.

    trajectories -+- limb 1 ---+            +- reactions of limb 1 -+
                  +- ...       +- assemble -+- ...                  +- store
                  +- limb L ---+            +- reactions of limb L -+
                  +- platform -+

Each limb's inverse kinematics and dynamics is a task of its own: the parallel scheme of the hybrid-limb paper, Fig. 13.
A chain has no platform. All depend on one small root, which keeps a block's tasks on one worker. `granularity="block"`
runs the same functions in one task. Reactions are tasks only where they are asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from dask._task_spec import Task, TaskRef

from pipeline.plan import Plan
from storage.errors import StoreError
from storage.ledger import Receipt
from storage.schema import VARIABLES
from storage.store import StoreWriter
from tasks import block as bodies
from tasks.block import Block, Trajectory

Granularity = Literal["limb", "block"]
Graph = dict[Any, Task]

REASON = 500
"""Characters of the reason of a failure."""


def block_of(plan: Plan, index: int) -> Block:
    """The description of one block: what its tasks compute."""
    sweep, bounds = plan.sweep, plan.layout.bounds(index)
    design, friction = bounds["design"], bounds["friction"]
    owned = plan.layout.owned(index)
    return Block(
        index=index,
        robot=sweep.robot,
        parameters=_table(sweep.designs(design.start, design.stop), design.stop - design.start),
        groups=sweep.friction.groups,
        friction=_table(sweep.friction.values(friction.start, friction.stop), friction.stop - friction.start),
        trajectories=tuple(
            Trajectory(each.kind, each.values, each.points) for each in sweep.trajectories[bounds["trajectory"]]
        ),
        times=sweep.times,
        origin=plan.origin,
        gravity=sweep.gravity,
        series=tuple(name for name in owned if "time" in VARIABLES[name].dims),
        metrics=tuple(name for name in owned if "time" not in VARIABLES[name].dims),
    )


def _table(columns: Mapping[str, Any], length: int) -> Any:
    return np.ascontiguousarray(np.stack(list(columns.values()), axis=1)) if columns else np.zeros((length, 0))


def block_graph(
    plan: Plan, index: int, writer: StoreWriter, run: str, granularity: Granularity = "limb"
) -> tuple[Graph, Any]:
    """The graph of one block, and the key whose result is its receipt; `run` makes keys distinct between runs."""
    block = block_of(plan, index)
    store = (f"store-{run}", index)
    if granularity == "block":
        return {store: Task(store, _whole_block, block, writer)}, store
    root = (f"trajectories-{run}", index)
    own = (f"platform-{run}", index)
    assembled = (f"assemble-{run}", index)
    limbs = [(f"{name}-{run}", index) for name in plan.limbs]
    graph = {root: Task(root, _root, block)}
    if not block.family.reference.is_chain:
        graph[own] = Task(own, _platform, TaskRef(root))
    for k, key in enumerate(limbs):
        graph[key] = Task(key, _limb, TaskRef(root), k)
    shares = (TaskRef(key) for key in limbs)
    graph[assembled] = Task(assembled, _assemble, TaskRef(root), TaskRef(own) if own in graph else {}, *shares)
    reacting = [(f"{name}-reactions-{run}", index) for name in plan.limbs] if block.reactions else []
    for k, key in enumerate(reacting):
        graph[key] = Task(key, _reactions, TaskRef(root), TaskRef(assembled), k)
    graph[store] = Task(store, _store, TaskRef(assembled), index, writer, *(TaskRef(key) for key in reacting))
    return graph, store


class TaskError(Exception):
    """A task failed: the kind of error and its text, nothing else."""

    @classmethod
    def of(cls, error: BaseException) -> Self:
        """What is told of an error: one line of bounded length."""
        return cls(f"{type(error).__name__}: {' '.join(str(error).split())[:REASON]}")


def _task(body: Callable[..., Any]) -> Callable[..., Any]:
    """A body that raises nothing but StoreError and TaskError.

    Other errors may never reach the client: those that cannot be pickled, recursion without end, texts without end.
    """

    @functools.wraps(body)
    def guarded(*arguments: Any) -> Any:
        try:
            return body(*arguments)
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
    motions: bodies.Motions


@_task
def _root(block: Block) -> _Rooted:
    return _Rooted(block, bodies.motions(block))


@_task
def _limb(rooted: _Rooted, index: int) -> bodies.Arrays:
    return bodies.limb(rooted.block, rooted.motions, index)


@_task
def _platform(rooted: _Rooted) -> bodies.Arrays:
    return bodies.platform(rooted.block, rooted.motions)


@_task
def _assemble(rooted: _Rooted, own: bodies.Arrays, *limbs: bodies.Arrays) -> bodies.Assembled:
    made = bodies.assemble(rooted.block, rooted.motions, own, limbs)
    return bodies.Assembled(made.arrays | bodies.platform_series(rooted.block, rooted.motions), made.loads)


@_task
def _reactions(rooted: _Rooted, assembled: bodies.Assembled, index: int) -> bodies.Arrays:
    return bodies.reactions(rooted.block, rooted.motions, assembled.loads, index)


@_task
def _store(assembled: bodies.Assembled, index: int, writer: StoreWriter, *reactions: bodies.Arrays) -> Receipt:
    return writer.write(index, assembled.arrays | bodies.gathered(reactions))


@_task
def _whole_block(block: Block, writer: StoreWriter) -> Receipt:
    rooted, mechanism = _root(block), block.family.reference
    limbs = range(len(mechanism.instances))
    shares = [_limb(rooted, k) for k in limbs]
    assembled = _assemble(rooted, {} if mechanism.is_chain else _platform(rooted), *shares)
    reacting = [_reactions(rooted, assembled, k) for k in limbs] if block.reactions else []
    return _store(assembled, block.index, writer, *reacting)
