"""Admission of workers to a run, when it begins and whenever one joins: only admitted workers are given blocks.

Each worker computes one case and tells its versions, the fingerprint of its source, the bits of the case, the memory
that it holds, and whether it sees the store. A worker that differs, or has no room for one case, is refused in one
line; a worker that ends while it is checked has gone and is not wrong. A worker that does not see the folder of the
store sends its results to this process, which writes them; one that does not reach object storage is refused. If two
workers disagree about the bits, this process computes the case too and decides. Workers without the resources that the
run asks for (annotations of Dask) are left alone.
"""

from __future__ import annotations

import math
import pickle
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import dask.config
from dask.base import get_annotations

from pipeline.cluster.arguments import worker_memory
from pipeline.cluster.checks import seconds
from pipeline.errors import ClusterLostError, InputError, Problem, RunStoppedError, refused, size
from pipeline.execution.device import resources
from pipeline.execution.executor import translated_losses
from pipeline.execution.graph import Writer, call_graph, examination_graph, examined, examined_case
from pipeline.execution.policy.memory_restarts import MemoryRestart, memory_restarts
from pipeline.execution.policy.pauses import PAUSE_END, PausedWorker
from pipeline.execution.policy.workers import FULL, WorkerTable, worker_table
from pipeline.execution.versions import VersionError, differences, identity, source_fingerprint, version_problem
from pipeline.monitor.log import Event, Listener, ResultsSent, Waiting, WorkerRefused, WorkersJoined, WorkersLeft
from pipeline.plan.memory import BASE_MEMORY
from pipeline.plan.model import Plan
from pipeline.plan.plan import fitted, least_memory
from storage.places.reach import Mark
from storage.sending import SendingWriter
from storage.writer import StoreWriter

if TYPE_CHECKING:
    from distributed import Client, Future

    from pipeline.cluster.file import ClusterConfig

SPARE = 1.02
"""Share of memory that a refusal adds to the need: the memory of a worker before its first block varies."""

CHECK_SECONDS = 300.0
"""Longest wait for the first worker that answers."""

GRACE_SECONDS = 10.0
"""Wait for the other workers once one is admitted; they join later."""

LOOK_SECONDS = 1.0
WAITS = 5
"""Short waits for an answer between two looks at the workers at the start: a look takes the time of the scheduler."""
TOLD_SECONDS = 10.0
LONGEST_ALONE = 5400.0
"""Longest time without a worker, where Dask has no limit for that."""

MOST_ENDED = 6
"""Workers ended for their memory with none admitted between, after which none will be.

One that is ended while it compiles leaves some machine code on its disk, and the next gets further.
"""

URGENT = 1000
"""Priority of a check: it does not wait behind blocks."""

NAMED = 3
"""Workers that an event names."""

MEMORY_ADVICE = "Give workers more memory, or ask for fewer outputs or shorter trajectories."
BITS_ADVICE = "Compare the two machines: one of them computes wrongly, or has other packages than it says."

PLACE_ADVICE = "Give workers the address and the credentials of the service, or take a folder as the store."

RESULT_BYTES = 1 << 30
"""Bytes of results, before compression, that may be on their way to this process at a time."""

Answer = Mapping[str, Any] | BaseException
"""Answer of a worker to its check: `identity`, `memory` and `bits`; or the error of the check."""


def needed_limit(plan: Plan, base: int = 0) -> int:
    """Return the least memory limit of a worker [bytes]; `base`: its memory beside blocks, if above the plan."""
    return math.ceil(SPARE * (max(plan.base_memory, base) + least_memory(plan)) / FULL)


def require_memory(config: ClusterConfig, plan: Plan) -> None:
    """Check that workers with the memory of a cluster file can begin. Raises InputError before anything is started."""
    limit = worker_memory(config)
    if limit is None or limit >= BASE_MEMORY:
        return
    got = f"workers of {size(limit)}, less than Python and its libraries take ({size(BASE_MEMORY)})"
    rule = f"at least {size(needed_limit(plan))} each"
    raise config.problem("memory-limit" if config.kind.family == "local" else "kind", got, rule, MEMORY_ADVICE)


class Membership:
    """Workers of a cluster that may compute a plan, followed while the run lasts. `cluster`: its name in messages."""

    def __init__(self, client: Client, plan: Plan, cluster: str, clock: Callable[[], float] = time.monotonic) -> None:
        from distributed import as_completed

        self.client, self.plan, self.cluster, self._clock = client, plan, cluster, clock
        annotations = get_annotations()
        self._resources = {**(annotations.get("resources") or {}), **(resources(plan) or {})}
        self._places = None if annotations.get("allow_other_workers") else annotations.get("workers")
        self._run, self._payload, self._count = uuid.uuid4().hex[:8], examined_case(plan), 0
        self.mark: Mark | None = None
        """Mark of the store that workers write to; absent: none."""
        self._senders: set[str] = set()
        """Admitted workers that do not see the store and send their results."""
        self._answers = as_completed(loop=client.loop, with_results=True, raise_errors=False)
        self._checks: dict[str, Future] = {}
        """Checks that are under way, by address."""
        self._table: WorkerTable = {}
        """Workers that are there and have the resources, as of the last look."""
        self._present = 0
        self._bases: dict[str, int] = {}
        """Bytes that each admitted worker holds beside blocks."""
        self._refused: dict[str, tuple[Answer, Problem]] = {}
        self._bits: object | None = None
        """The bits that count: those of the first worker, those of this machine where two workers disagree."""
        self._here: object | None = None
        self._has_begun = False
        self._call: Future | None = None
        """Task that waits for a worker: an adaptive cluster without workers starts one for it."""
        self._news: list[Event] = []
        self._ended: list[MemoryRestart] = []
        """Workers that were ended for their memory since one was admitted."""
        self._ended_until: float | None = None
        """Time of the last death, by the clock of the scheduler [s]."""
        self._limit = 0
        """Memory limit of a worker of late [bytes]; 0: none."""
        self._paused_since: float | None = None
        """Time since which all workers that have not answered are paused."""
        self._looked = -math.inf
        self._alone = self._reported = clock()

    def rows(self) -> WorkerTable:
        """Report of the scheduler on each admitted worker, with `base`, the bytes that it holds beside blocks."""
        self.look()
        return {address: {**self._table[address], "base": base} for address, base in self._bases.items()}

    def addresses(self) -> list[str]:
        """Return the addresses of the admitted workers, as of a moment ago."""
        self.look()
        return list(self._bases)

    @property
    def most(self) -> int:
        """Blocks that may be in flight: as many as this process has memory for, where workers send their results."""
        return max(2, RESULT_BYTES // max(1, self.plan.layout.block_bytes(0))) if self._senders else sys.maxsize

    def writer(self, writer: StoreWriter) -> Writer:
        """Return the writer for tasks of a store's writer: one that sends where a worker may not see the store."""
        return SendingWriter(writer, self.mark) if self.mark is not None and self.mark.is_folder else writer

    @property
    def threads(self) -> int:
        """Threads of the admitted workers."""
        return sum(int(row["nthreads"]) for row in self.rows().values())

    def news(self) -> list[Event]:
        """Return the events since the last call. Raises ClusterLostError."""
        self.look()
        self._miss_workers()
        events, self._news = self._news, []
        return events

    def look(self, *, now: bool = False) -> None:
        """Follow who comes and goes, once a second or `now`. Raises ClusterLostError, RunStoppedError."""
        if not now and self._clock() - self._looked < LOOK_SECONDS:
            return
        self._looked = self._clock()
        with translated_losses():
            table = worker_table(self.client)
            self._present = len(table)
            self._table = {address: row for address, row in table.items() if self._is_suited(address, row)}
            self._forget_those_who_left()
            seen = self._bases.keys() | self._refused.keys() | self._checks.keys()
            for address in [address for address in self._table if address not in seen]:
                self._check(address)
            self._take_answers()
            self._count_those_who_were_ended()
        waiting = self._unanswered()
        all_paused = bool(waiting) and len(self._paused()) == len(waiting)
        self._paused_since = (self._paused_since or self._looked) if all_paused else None
        if len(self._ended) >= MOST_ENDED:
            raise self._ended_again_and_again()

    def _miss_workers(self) -> None:
        """Report within seconds that no worker may compute.

        Raises ClusterLostError where that lasts too long, RunStoppedError where the workers that are there are why.
        """
        now = self._clock()
        if self._bases:
            self._alone = self._reported = now
            return
        self._call_for_workers(now - self._alone)
        limit = seconds(dask.config.get("distributed.scheduler.no-workers-timeout", None)) or LONGEST_ALONE
        if self._ended and self._refused:  # it came in place of one that was ended, and is as small
            limit = min(limit, GRACE_SECONDS)
        if self._stay_paused() or now - self._alone > limit + (CHECK_SECONDS if self._checks else 0.0):
            if self._present:
                raise RunStoppedError(f"{self._refusal()} Stored results are kept.")
            raise ClusterLostError("there are no workers")
        if now - self._reported > TOLD_SECONDS:
            self._reported = now
            self._news.append(Waiting(now - self._alone, f"no worker may compute: {self._lacking()}"))

    def _count_those_who_were_ended(self) -> None:
        """Count workers that were ended for their memory, from the beginning where one is admitted."""
        self._limit = max((int(row.get("memory_limit") or 0) for row in self._table.values()), default=self._limit)
        if self._bases:
            self._ended, self._ended_until = [], None
            return
        ended, self._ended_until = memory_restarts(self.client, self._ended_until)
        self._ended += ended

    def _ended_again_and_again(self) -> RunStoppedError:
        """Return the error of workers that are ended for their memory before one has computed a case."""
        last = self._ended[-1]
        limit = f" of a memory limit of {size(self._limit)}" if self._limit else ""
        return RunStoppedError(
            f"{self.cluster}: workers were ended {len(self._ended)} times because their memory was full, before one "
            f"had computed a case; the last, {last.worker}, held {size(last.memory)}{limit}; a worker of this sweep "
            f"needs at least {size(needed_limit(self.plan, last.memory))}: give workers more memory (memory-limit), or "
            "ask for fewer outputs or shorter trajectories; stored results are kept"
        )

    def _call_for_workers(self, alone: float) -> None:
        """Give a cluster without workers a task: adaptive ones count tasks, and blocks are sent to workers alone."""
        if self._table:
            self._call = None
        elif self._call is None and alone > LOOK_SECONDS:
            graph, key = call_graph(self._run)
            self._call = self.client.get(graph, key, resources=self._resources or None, sync=False)

    def _lacking(self) -> str:
        """Return the workers that may not compute, in words."""
        if not self._present:
            return "the cluster has no worker; a task waits for one"
        refused = (
            f"{len(self._refused)} refused, {len(self._checks)} being checked, {len(self._paused())} of them paused"
        )
        return f"{refused}, {self._present - len(self._table)} without the resources that dask.annotate asks for"

    def begin(self, notify: Listener) -> Plan:
        """Wait for the first workers, and return the plan that fits into them. Raises InputError if none can.

        A cluster that has no workers yet is none of them: they are checked when they come.
        """
        start, reported = self._clock(), 0.0
        while self._is_open(self._clock() - start):
            waited = self._clock() - start
            if waited - reported >= TOLD_SECONDS:
                reported = waited
                paused = f"; paused, because their memory is full: {named(self._paused())}" if self._paused() else ""
                notify(Waiting(waited, f"{named(self._checks)} have not answered the check of workers{paused}"))
            self._await_answer()
        if not self._bases and self._present:
            raise self._refusal()
        self._has_begun, self._alone = True, self._clock()
        self._reported = self._alone
        return self.fit(self.plan)

    def _await_answer(self) -> None:
        """Wait for an answer for a moment, after making what it is compared with while workers make theirs."""
        source_fingerprint()
        for _ in range(WAITS):
            if self._answers.has_ready():
                return
            time.sleep(0.02)

    def fit(self, plan: Plan) -> Plan:
        """Return the plan with blocks in parts if the admitted workers have no room for whole ones."""
        rooms = [room for address, base in self._bases.items() if (room := self._room(address, base)) is not None]
        return (fitted(plan, min(rooms)) or plan) if rooms else plan

    def _is_open(self, waited: float) -> bool:
        """Look at the workers, and return whether the start of a run has to wait for answers."""
        self.look(now=True)
        patience = GRACE_SECONDS if self._bases else CHECK_SECONDS
        return bool(self._checks) and waited < patience and not self._stay_paused()

    def _stay_paused(self) -> bool:
        """Return whether all workers that have not answered have been paused for long, and none is admitted."""
        return not self._bases and self._paused_since is not None and self._clock() - self._paused_since >= PAUSE_END

    def _unanswered(self) -> list[str]:
        """Return the workers that have not answered their check, those between two checks among them."""
        return [address for address in self._table if address not in self._bases and address not in self._refused]

    def _paused(self) -> list[str]:
        """Return the workers that do not answer their check because they are paused, each with the memory it holds."""
        rows = ((address, self._table[address]) for address in self._unanswered())
        return [str(PausedWorker.of(address, row)) for address, row in rows if row.get("status") == "paused"]

    def _is_suited(self, address: str, row: Mapping[str, Any]) -> bool:
        have, names = row.get("resources") or {}, {address, row.get("host"), row.get("name")}
        is_named = not isinstance(self._places, list) or not names.isdisjoint(self._places)
        return is_named and all(have.get(name, 0) >= amount for name, amount in self._resources.items())

    def _room(self, address: str, base: int) -> int | None:
        """Return the bytes that a worker has for blocks; None if nothing limits them."""
        limit = int(self._table[address].get("memory_limit") or 0)
        return int(FULL * limit) - base if limit else None

    def _forget_those_who_left(self) -> None:
        gone = [address for address in self._bases if address not in self._table]
        for address in gone:
            del self._bases[address]
        self._senders.intersection_update(self._bases)
        if gone:
            self._news.append(WorkersLeft(len(gone), named(gone)))
        for address in [address for address in self._checks if address not in self._table]:
            self.client.cancel([self._checks.pop(address)], force=True)
        self._refused = {address: answer for address, answer in self._refused.items() if address in self._table}

    def _check(self, address: str) -> None:
        self._count += 1
        mark = b"" if self.mark is None else pickle.dumps(self.mark)
        graph, key = examination_graph(self._payload, self._count, self._run, mark)
        future = self.client.get(
            graph, key, workers=[address], allow_other_workers=False, priority=URGENT, sync=False, retries=0
        )
        self._checks[address] = future
        self._answers.add(future)

    def _take_answers(self) -> None:
        from distributed.scheduler import NoValidWorkerError

        joined: dict[str, str] = {}
        while self._answers.has_ready():
            future, value = next(self._answers)
            address = next((name for name, check in self._checks.items() if check is future), None)
            if address is None:
                continue  # it has left meanwhile
            del self._checks[address]
            answer: Answer = value[1] if future.status == "error" else value
            if future.status not in ("finished", "error") or isinstance(answer, NoValidWorkerError):
                continue  # somebody cancelled all tasks, or it is paused for long: it is checked again
            if problem := self._problem(address, answer):
                self._refuse(address, answer, problem)
            elif not isinstance(answer, BaseException):
                self._bases[address] = self._base(answer)
                joined[address] = answer["place"]
        if joined:
            threads = sum(int(self._table[address]["nthreads"]) for address in joined)
            self._news.append(WorkersJoined(len(joined), threads, named(joined)))
        if senders := [address for address, fault in joined.items() if fault]:
            self._senders.update(senders)
            self._news.append(ResultsSent(len(senders), named(senders), joined[senders[0]]))

    def _base(self, answer: Mapping[str, Any]) -> int:
        return int(answer["memory"]) + self.plan.base_memory - BASE_MEMORY

    def _problem(self, address: str, answer: Answer) -> Problem | None:
        """Return the fault of a worker, if any. Raises RunStoppedError where an admitted one computes wrongly."""
        tells = answer if isinstance(answer, BaseException) else answer["identity"]
        if unequal := differences({address: tells}):
            return version_problem(self.cluster, unequal[0])
        assert not isinstance(answer, BaseException), "an error is a difference"
        if (fault := answer["place"]) and not (self.mark and self.mark.is_folder):
            return Problem(self.cluster, 0, 0, f"worker {address}", fault, "a store that it reaches", PLACE_ADVICE)
        return self._memory_problem(address, answer) or self._bits_problem(address, answer["bits"])

    def _memory_problem(self, address: str, answer: Mapping[str, Any]) -> Problem | None:
        need, room = least_memory(self.plan), self._room(address, self._base(answer))
        if room is None or room >= need:
            return None
        limit, need = int(self._table[address]["memory_limit"]), self._base(answer) + need
        rule = f"at least {size(math.ceil(SPARE * need / FULL))}, with which one case does not make Dask pause it"
        got = f"a memory limit of {size(limit)}"
        return Problem(self.cluster, 0, 0, f"worker {address}", got, rule, MEMORY_ADVICE)

    def _bits_problem(self, address: str, bits: object) -> Problem | None:
        if self._bits is None or bits == self._bits:
            self._bits = bits
            return None
        if self._here is None:
            self._here = examined(self._payload)["bits"]
        if self._bits != self._here:
            self._expel(self._bits)
            self._bits = self._here
        if bits == self._here:
            return None
        return self._disagreement(address, bits)

    def _expel(self, bits: object) -> None:
        """Refuse the admitted workers, whose bits are wrong. Raises RunStoppedError where they have computed blocks."""
        if self._has_begun and self._bases:
            raise RunStoppedError(
                f"workers {named(self._bases)} get other results than this machine {differing(self._here, bits)}; "
                "find out which computes wrongly, and compute the stored blocks again: limbsweep verify --recompute"
            )
        for address in list(self._bases):
            del self._bases[address]
            self._refuse(
                address,
                {"identity": identity(), "memory": 0, "bits": bits, "place": ""},
                self._disagreement(address, bits),
            )

    def _disagreement(self, address: str, bits: object) -> Problem:
        got = f"other results than this machine {differing(self._here, bits)}"
        return Problem(self.cluster, 0, 0, f"worker {address}", got, "the same bits for the same block", BITS_ADVICE)

    def _refuse(self, address: str, answer: Answer, problem: Problem) -> None:
        self._refused[address] = answer, problem
        self._news.append(WorkerRefused(address, f"got {problem.got}; expected {problem.expected}. {problem.hint}"))

    def _refusal(self) -> InputError:
        """Return the error of a cluster whose workers cannot compute the plan."""
        if not self._table:
            return self._unsuited()
        if not self._refused and (paused := self._paused()):
            got = f"no answer from workers that are paused, because their memory is full: {named(paused)}"
            hint = "Give workers more memory (memory-limit), or end other work that keeps results there."
            rule = f"workers that answer, of at least {size(needed_limit(self.plan))} each"
            return refused(self.cluster, got, rule, hint)
        if not self._refused:
            got = f"no answer within {CHECK_SECONDS:g} s from {named(self._unanswered())}"
            hint = "They are busy, paused or stopped: look at limbsweep cluster, or start others."
            return refused(self.cluster, got, "a worker that answers", hint)
        identities = {
            address: answer if isinstance(answer, BaseException) else answer["identity"]
            for address, (answer, _) in self._refused.items()
        }
        if unequal := differences(identities):
            return VersionError(self.cluster, unequal)
        return InputError(problem for _, problem in self._refused.values())

    def _unsuited(self) -> InputError:
        demands = [f"{name}={amount:g}" for name, amount in self._resources.items()]
        demands += [f"the name {place}" for place in self._places or ()]
        hint = f"Start workers with --resources '{' '.join(demands)}', or leave dask.annotate out."
        got = f"{self._present} workers, none with {', '.join(demands)}"
        return refused(self.cluster, got, "a worker that may take the blocks", hint)


def named(addresses: Iterable[str]) -> str:
    """Return the first addresses, and the number of the others."""
    names = list(addresses)
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def differing(reference: object, result: object) -> str:
    """Return the variables in which two results differ, in words; where one of them is an error, that error."""
    if not isinstance(result, Mapping):
        return f"({result})"
    if not isinstance(reference, Mapping):
        return f"({reference})"
    return "in " + ", ".join(name for name in reference if reference[name] != result.get(name))


def admit(
    client: Client | None,
    plan: Plan,
    cluster: str,
    notify: Listener = lambda event: None,
    mark: Mark | None = None,
) -> Membership | None:
    """Return the workers of a cluster that may compute a plan; None without one. Raises InputError, ClusterLostError.

    `mark`: the store that they write to, if there is one.
    """
    if client is None:
        return None
    members = Membership(client, plan, cluster)
    members.mark = mark
    members.plan = members.begin(notify)
    return members
