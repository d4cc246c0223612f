"""Choice of the executor of a plan, and of tasks for limbs or for whole blocks."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from pipeline.execution.cluster_executor import ClusterExecutor
from pipeline.execution.device import resources
from pipeline.execution.executor import Executor, InProcessExecutor, Members
from pipeline.execution.graph import Granularity
from pipeline.execution.policy.window import LIMB_THREADS, Window, batch
from pipeline.execution.policy.workers import worker_table
from pipeline.execution.sharing import Share, weight
from pipeline.plan.model import Plan
from robots.devices import GPU

if TYPE_CHECKING:
    from distributed import Client


def make_executor(
    client: Client | None,
    plan: Plan,
    granularity: Granularity = "limb",
    seconds: float | None = None,
    blocks: int | None = None,
    together: int = 1,
    members: Members | None = None,
) -> Executor:
    """Return the executor of a plan's blocks: on a cluster, or without one in this process.

    `seconds` is the time of a block on one core (absent: as the plan expects), `blocks` the number of blocks to compute
    (absent: all), `together` the least number of blocks in a task; `members` the workers that may compute (absent:
    all).
    """
    if client is None:
        return InProcessExecutor()
    table = functools.partial(worker_table, client) if members is None else members.rows
    length, count = seconds or plan.work.computing / plan.blocks, plan.blocks if blocks is None else blocks
    by_limb = granularity == "limb"
    parallel, memory = (LIMB_THREADS, plan.block_memory) if by_limb else (1.0, together * plan.task_memory)
    share = Share(client, weight(), length / parallel, lambda: executor.submitted < count)
    window = Window(table, parallel, memory, plan.base_memory, share=share)
    executor = ClusterExecutor(client, window, members=members)
    executor.resources, executor.share = resources(plan), share
    if not by_limb:
        executor.together = together
        executor.batch = lambda: together * -(-batch(window.threads, length, count - executor.submitted) // together)
    return executor


def choose_granularity(plan: Plan, threads: int | None) -> Granularity:
    """Choose tasks for limbs, unless the scheduler of a cluster could not keep all its threads busy.

    `threads`: those of all workers; None without a cluster.

    Nor for reactions: limbs would hand on all that these are made of, and take twice to four times as long as one task
    does that has it in its cache.
    """
    if not plan.by_limb or plan.memory.reacts or plan.device == GPU:  # which arrays would leave between tasks
        return "block"
    if threads is None:
        return "limb"
    return "limb" if threads <= plan.work.limb_threads else "block"
