"""Build the Dask graph of a block; the only module that makes tasks.

    trajectories -+- limb 1 ---+            +- reactions of limb 1 -+
                  +- ...       +- assemble -+- ...                  +- store
                  +- limb L ---+            +- reactions of limb L -+

Each limb's inverse kinematics and dynamics is a task of its own: the parallel scheme of the hybrid-limb paper, Fig. 13.
All depend on one small root, which keeps a block's tasks on one worker. The platform's own wrench takes less time than
a task, so the assembly computes it. Reactions are tasks only where they are asked for; without them the assembly stores
the block. `granularity="block"` runs the same functions in one task. A block of simulations is one task always, because
its limbs are coupled in every step, and so is one of a sweep so large that its blocks are longer than usual.
"""

from __future__ import annotations

import copy
import functools
import operator
import pickle
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, TypeVar

import cloudpickle
from dask._task_spec import Task, TaskRef
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from pipeline.errors import TaskError
from pipeline.execution import work
from pipeline.execution.advance import BlockTeller
from pipeline.execution.executor import Key, KeyedGraph, TaskGraph
from pipeline.execution.policy.attempts import Timeouts
from pipeline.execution.policy.workers import FULL
from pipeline.execution.processes.isolation import Isolation, ReceiptWithFailures, first_case, in_parts, require_fit
from pipeline.execution.processes.memory import held_memory
from pipeline.execution.user_warnings import ReceiptWithWarnings, with_warnings
from pipeline.execution.versions import identity
from robots.data_classes import dataclass, replace
from robots.devices import CPU
from storage.encoding.shards import crc32c
from storage.errors import StoreError
from storage.ledger import Receipt
from storage.sending import SendingWriter
from storage.writer import Comparer, StoreWriter
from tasks.blocks import assembly
from tasks.blocks.assembly import Assembled
from tasks.blocks.block import Block, motions
from tasks.blocks.limb_results import limb_arrays
from tasks.blocks.motions import Motions
from tasks.blocks.pool import Arrays, make_room, trim
from tasks.blocks.reactions import reactions as joint_reactions
from tasks.blocks.series import gathered
from tasks.kernels.advance import span

if TYPE_CHECKING:
    from dask.array import Array

    from pipeline.plan.model import Plan

Granularity = Literal["limb", "block"]
Writer = StoreWriter | SendingWriter | Comparer

Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")
Value_co = TypeVar("Value_co", covariant=True)


def block_graph(plan: Plan, index: int, writer: Writer, run: str, granularity: Granularity = "limb") -> KeyedGraph:
    """Return the graph of one block, and the key with its receipt as result; `run` makes keys distinct between runs."""
    key = _key("store", run, index)
    if plan.is_parted:
        return {key: Task(key, _parted_block, _described(plan, index), writer, dict(plan.parts or {}))}, key
    if granularity == "block" or not plan.by_limb:
        return {key: Task(key, whole_block, _described(plan, index), writer, BlockTeller(run, index))}, key
    return _limb_graph(plan, key, run, (_assemble_and_store, _store), writer)


def joined_graph(graphs: Iterable[KeyedGraph]) -> HighLevelGraph:
    """Return graphs as one, of one layer: of a plain one, Dask makes a hash of all that its blocks hold."""
    tasks: dict[Any, Any] = {name: task for graph, _ in graphs for name, task in graph.items()}
    return HighLevelGraph({"blocks": tasks}, {"blocks": set()})


def lazy_arrays(plan: Plan) -> dict[str, Array]:
    """Return each variable of a plan as a Dask array: a chunk for each block, all from the block's limb tasks."""
    from dask.array import Array  # takes as long as all else that a small run in this process needs

    layout, token = plan.layout, f"{plan.sweep.fingerprint[:16]}-{tokenize(plan.layout.as_dict())[:8]}"
    values = f"values-{token}"
    layers: dict[str, dict[Any, object]] = {values: {}, **{f"{name}-{token}": {} for name in layout.variables}}
    for index in range(plan.blocks):
        key: Key = (values, index)
        layers[values] |= _values_graph(plan, key, token)
        places = layout.grid.places(index)
        for name, variable in layout.owned(index).items():
            layer = f"{name}-{token}"
            chunk = (layer, *(places.get(dim, 0) for dim in variable.dims))
            layers[layer][chunk] = Task(chunk, operator.getitem, TaskRef(key), name)
    depends = {layer: set() if layer == values else {values} for layer in layers}
    graph = HighLevelGraph(layers, depends)
    return {
        name: Array(graph, f"{name}-{token}", variable.regions, dtype=variable.row.dtype)
        for name, variable in layout.variables.items()
    }


def _values_graph(plan: Plan, key: Key, token: str) -> TaskGraph:
    """Return the graph of one block whose last task gives its arrays."""
    if not plan.by_limb:
        return {key: Task(key, _whole_values, _described(plan, key[1]))}
    return _limb_graph(plan, key, token, (_assemble_and_keep, _keep))[0]


def _limb_graph(
    plan: Plan, last: Key, run: str, bodies: tuple[Callable[..., object], Callable[..., object]], *arguments: object
) -> KeyedGraph:
    """Return a task per limb of a block; the `last` one is the first of the `bodies`, or the second after reactions."""
    index = last[1]
    block = _described(plan, index)
    root = _key("trajectories", run, index)
    limbs = [_key(name, run, index) for name in plan.limbs]
    graph: TaskGraph = {root: Task(root, _root, block)}
    for k, key in enumerate(limbs):
        graph[key] = Task(key, _limb, TaskRef(root), k)
    shares = [TaskRef(key) for key in limbs]
    if not _reacts(plan, block):
        graph[last] = Task(last, bodies[0], TaskRef(root), *arguments, *shares)
        return graph, last
    assembled = _key("assemble", run, index)
    graph[assembled] = Task(assembled, _assemble, TaskRef(root), *shares)
    reacting = [_key(f"{name}-reactions", run, index) for name in plan.limbs]
    for k, key in enumerate(reacting):
        graph[key] = Task(key, _reactions, TaskRef(root), TaskRef(assembled), k)
    reactions = (TaskRef(key) for key in reacting)
    graph[last] = Task(last, bodies[1], TaskRef(root), TaskRef(assembled), *arguments, *reactions)
    return graph, last


def _described(plan: Plan, index: int) -> Block:
    """Return the description of a block. A worker has it, and loads this module without plans and sweeps."""
    from pipeline.execution.blocks import block_of

    return block_of(plan, index)


def _key(name: str, run: str, index: int) -> Key:
    """Return the key of a task; its name is one object for all blocks, so that a message holds it once."""
    return sys.intern(f"{name}-{run}"), index


def _reacts(plan: Plan, block: Block) -> bool:
    """Return whether a block asks for reactions. A copy is asked: a block keeps its request, and is sent with it."""
    return plan.memory.reacts and bool(copy.copy(block).request.reactions)


def isolated_graph(plan: Plan, index: int, writer: Writer, run: str, timeouts: Timeouts) -> KeyedGraph:
    """Return the graph of one block whose parts are computed in a subprocess; its result is a ReceiptWithFailures."""
    key = (f"isolated-{run}", index)
    settings = Isolation(timeouts.part, timeouts.isolation, plan.block_memory, work.whole)
    return {key: Task(key, _isolated, _described(plan, index), writer, settings)}, key


def examined_case(plan: Plan) -> bytes:
    """Return the first case of a plan, pickled: a worker of another version has to say that it cannot read it."""
    return cloudpickle.dumps(replace(first_case(_described(plan, 0)), own=(), device=CPU))


def examination_graph(payload: bytes, number: int, run: str, mark: bytes = b"") -> KeyedGraph:
    """Return the graph that checks a worker and stores nothing; its result is that of `examined`.

    The task holds nothing of ours: a worker of Dask ends when it reads a task whose function it cannot import.
    """
    key = (f"check-{run}", number)
    call = f"__import__('importlib').import_module({__name__!r}).{examined.__name__}(payload, mark)"
    return {key: Task(key, eval, call, {"payload": payload, "mark": mark})}, key


def call_graph(run: str) -> KeyedGraph:
    """Return the graph of a task that does nothing, for a cluster that starts workers when there are tasks."""
    key = (f"call-{run}", 0)
    return {key: Task(key, eval, "None")}, key


def guarded_task(body: Callable[Arguments, Value]) -> Callable[Arguments, Value]:
    """Return a body that raises only StoreError and TaskError.

    Some other errors would never reach the client: errors that cannot be pickled, endless recursion, endless texts.
    """

    @functools.wraps(body)
    def guarded(*arguments: Arguments.args, **options: Arguments.kwargs) -> Value:
        try:
            return body(*arguments, **options)
        except (StoreError, TaskError):
            raise
        except Exception as error:
            failure = TaskError.of(error)
        # raised here, because the cause of an exception is sent with it
        raise failure

    return guarded


@dataclass(frozen=True)
class _Rooted:
    """The result of a block's first task."""

    block: Block
    motions: Motions


@guarded_task
def _root(block: Block) -> _Rooted:
    return _Rooted(block, motions(block))


@guarded_task
def _limb(rooted: _Rooted, index: int) -> Arrays:
    return limb_arrays(rooted.block, rooted.motions, index)


@guarded_task
def _assemble(rooted: _Rooted, *limbs: Arrays) -> Assembled:
    return assembly.assembled(rooted.block, rooted.motions, limbs)


@guarded_task
def _assemble_and_store(rooted: _Rooted, writer: Writer, *limbs: Arrays) -> Receipt | ReceiptWithWarnings:
    assembled = assembly.assembled(rooted.block, rooted.motions, limbs)
    return written(rooted.block, writer, assembled.arrays)


@guarded_task
def _reactions(rooted: _Rooted, assembled: Assembled, index: int) -> Arrays:
    return joint_reactions(rooted.block, rooted.motions, assembled.loads, index)


@guarded_task
def _store(rooted: _Rooted, assembled: Assembled, writer: Writer, *reactions: Arrays) -> Receipt | ReceiptWithWarnings:
    return written(rooted.block, writer, assembled.arrays | gathered(reactions))


@guarded_task
def _assemble_and_keep(rooted: _Rooted, *limbs: Arrays) -> Arrays:
    assembled = assembly.assembled(rooted.block, rooted.motions, limbs)
    return work.completed(rooted.block, assembled.arrays)[0]


@guarded_task
def _keep(rooted: _Rooted, assembled: Assembled, *reactions: Arrays) -> Arrays:
    return work.completed(rooted.block, assembled.arrays | gathered(reactions))[0]


def written(block: Block, writer: Writer, arrays: Arrays) -> Receipt | ReceiptWithWarnings:
    """Store the arrays of a block, with user metrics."""
    stored, warnings = work.completed(block, arrays)
    return with_warnings(_stored(block.index, writer, stored), warnings)


def _stored(index: int, writer: Writer, arrays: Arrays) -> Receipt:
    require_fit(writer.layout, index, arrays)
    make_room(writer.layout.writing_bytes(index))
    _begin_another()
    receipt = writer.write(index, arrays)
    _relieve()
    return receipt


MORE_TO_DO: ContextVar[bool] = ContextVar("MORE_TO_DO", default=False)
"""True if this thread goes on with another block of its task."""


def _begin_another() -> None:
    """Let the worker begin another task in another thread, while storing waits for the disk."""
    if MORE_TO_DO.get():
        return
    if "distributed" not in sys.modules:
        return  # not on a worker, and loading it takes as long as much of a small run
    from distributed import secede

    with suppress(ValueError):  # not on a worker
        secede()


def _relieve() -> None:
    """Give free memory back where it would keep Dask from giving this worker another block."""
    if "distributed" not in sys.modules:
        return
    from distributed import get_worker

    with suppress(ValueError):  # not on a worker
        worker = get_worker()
        limit = worker.memory_manager.memory_limit
        if limit and worker.monitor.get_process_memory() > FULL * limit:
            trim()


@guarded_task
def whole_block(block: Block, writer: Writer, teller: BlockTeller) -> Receipt | ReceiptWithWarnings:
    """Compute and store a block as one task, and report the progress."""
    with teller.listening():
        with span(0.0, work.first_share(block)):
            arrays = work.computed(block)
        with span(work.first_share(block), 1.0):
            return written(block, writer, arrays)


@guarded_task
def _parted_block(block: Block, writer: Writer, parts: Mapping[str, int]) -> Receipt | ReceiptWithWarnings:
    """Compute and store a block as one task, in parts, as there is no room for all of it at once."""
    arrays, warnings = in_parts(block, writer.layout, parts, work.stored)
    return with_warnings(_stored(block.index, writer, arrays), warnings)


@guarded_task
def _whole_values(block: Block) -> Arrays:
    return work.whole(block)


@guarded_task
def _isolated(block: Block, writer: Writer, settings: Isolation) -> ReceiptWithFailures:
    arrays, failures = settings.compute(block, writer.layout)
    return ReceiptWithFailures(_stored(block.index, writer, arrays), failures)


@guarded_task
def examined(payload: bytes, mark: bytes = b"") -> dict[str, Any]:
    """Return this process' versions and source, bytes that it holds, and a checksum of every variable of a case.

    `bits` is the text of an error where the case cannot be computed: that is the run's to deal with. `place` is the
    fault of the store that a pickled mark names, empty where this process can write there.
    """
    held = held_memory()
    try:
        bits: object = {name: crc32c(array) for name, array in work.whole(pickle.loads(payload)).items()}
    except Exception as error:
        bits = str(TaskError.of(error))
    place = pickle.loads(mark).fault() if mark else ""
    return {"identity": identity(), "memory": held, "bits": bits, "place": place}


class Runnable(Protocol[Value_co]):
    """A job that is one task by itself."""

    def run(self) -> Value_co:
        """Return the result of the task."""


def job_graph(job: Runnable[Value], name: str, *case: Hashable) -> KeyedGraph:
    """Return the graph of a job; its key begins with a name, its result is that of `run`."""
    key = (name, *case)
    return {key: Task(key, _run_job, job)}, key


@guarded_task
def _run_job(job: Runnable[Value]) -> Value:
    return job.run()
