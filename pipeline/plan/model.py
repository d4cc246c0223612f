"""Plan of a sweep as data: blocks, tasks, bytes of memory and of the store, and a forecast of the time.

Bytes are those that the tasks of a block hold and hand on, from the shapes of the stages that they run. The time is the
operations of the robot times the duration of one, plus the rest. It is good to a factor of two or three. The figures
are those of one core of a current server processor with AVX-512 (`docs/benchmarks.md`); `limbsweep bench robots run
series` prints them for another machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.documents.files import size
from pipeline.documents.writing import table
from pipeline.errors import InputError, Problem
from pipeline.sweep.model import Sweep
from robots.friction.groups import varies
from robots.measurement import clean_series
from robots.model import Mechanism
from robots.quantities import FRICTION, QUANTITIES, SPACE, Quantity, mechanism_sizes, names
from storage.layout import Layout
from tasks.features.friction.feature import FrictionGroups
from tasks.features.limits import JointLimits
from tasks.features.loads import PlatformWrench
from tasks.features.redundancy.feature import Redundancy
from tasks.features.sharing import Sharing
from tasks.features.table import criteria_features, request
from tasks.kernels.keys import CPU, Device, Shapes, padded, spaced
from tasks.mechanics.recursion import MOVING
from tasks.stages import stages
from tasks.stages.metrics import margins
from tasks.stages.request import Request
from tasks.stages.stages import STRIP

if TYPE_CHECKING:
    from pipeline.sweep.model import Sweep


DOUBLE = 8

OVERHEAD = 1 << 20
"""Bytes of a block whatever is in it: its graph, the objects of its tasks."""

PEAK_STRIP = 1 << 10
"""Samples of a strip of one task for peaks of reactions alone, where stages hand on hundreds of numbers of a sample."""

BASE_MEMORY = 121 << 20
"""Bytes of a worker before its first block: Python and its libraries."""

CODE_MEMORY = 8 << 20
"""Bytes of programs and machine code for each limb of a robot."""

COMPILER_MEMORY = 24 << 20
"""Bytes of LLVM in a worker that compiles; one that finds machine code on its disk is smaller."""

SIGNALS_MEMORY = 64 << 20
"""Bytes of SciPy's filters, which sensors need."""


@dataclass(frozen=True)
class Lengths:
    """Lengths of a block."""

    designs: int
    sets: int
    trajectories: int
    times: int

    @property
    def width(self) -> int:
        """Numbers that a row of samples takes."""
        return spaced(padded(self.times))


@dataclass(frozen=True)
class Memory:
    """Memory of the blocks of a sweep for some variables: stored ones, and series that user metrics need."""

    sweep: Sweep
    wanted: tuple[str, ...]

    @cached_property
    def request(self) -> Request:
        """Request of a block to the stages of the dynamics."""
        family = self.sweep.family
        wanted = tuple(name for name in (*self.wanted, *clean_series(self.wanted)) if name in QUANTITIES)
        limits = (margins.of_limb(self.sweep.limits, k)[0] for k in range(len(family.reference.instances)))
        loaded = any(trajectory.load is not None for trajectory in self.sweep.trajectories)
        given = self.sweep.simulation is not None
        features = (
            *(FrictionGroups(self.sweep.friction.groups), JointLimits(tuple(limits)), PlatformWrench(loaded)),
            *(Sharing(self.sweep.sharing.form), Redundancy(bool(family.reference.resolved) and not given)),
            *criteria_features(family.reference, self.sweep.criteria),
        )
        return request(family, wanted, *features, moving_base=self.sweep.base is not None, given=given)

    @property
    def reacts(self) -> bool:
        """Return whether reactions are computed. Where limbs are tasks, reactions have tasks of their own."""
        return bool(self.request.reactions)

    @cached_property
    def design(self) -> int:
        """Bytes of a design: its parameters, and the mount frames of limbs that follow from them."""
        return DOUBLE * len(self.sweep.family.parameters) + self.mounts

    @cached_property
    def mounts(self) -> int:
        """Bytes of a design in mount frames, which every task of a block has for itself."""
        structure = self.request.structure
        return DOUBLE * sum(len(structure.differing[instance.limb]) for instance in structure.mechanism.instances)

    @cached_property
    def limbs(self) -> int:
        """Bytes of one sample that limbs give."""
        instances = range(len(self.request.structure.mechanism.instances))
        return DOUBLE * sum(numbers(stages.limb(self.request, k).shapes) for k in instances)

    @cached_property
    def reactions(self) -> int:
        """Bytes of one sample of the largest limb in wrenches, as its kernel gives them."""
        mechanism = self.request.structure.mechanism
        most = max(len(mechanism.limbs[instance.limb].joints) for instance in mechanism.instances)
        series = [QUANTITIES[name].dims for name in self.request.reactions if QUANTITIES[name].kind == "series"]
        numbers = max(6, sum(SPACE[dims[-1]] for dims in series))
        return DOUBLE * most * numbers if self.reacts else 0

    @cached_property
    def loads(self) -> tuple[int, int]:
        """Bytes of one sample that reactions need of the assembly: for each friction set, and apart from friction."""
        if not self.reacts:
            return 0, 0
        actuators = len(self.request.structure.mechanism.actuators)
        passive = sum(map(len, self.request.passive))
        loads = DOUBLE * (1 + actuators + passive + numbers(stages.balance(self.request).shapes))
        known = DOUBLE * numbers(self.request.known)
        return (loads, known) if passive else (0, loads + known)

    @cached_property
    def strip(self) -> int:
        """Bytes of one sample of a strip that platform, assembly and actuation work on."""
        request, mechanism = self.request, self.request.structure.mechanism
        steps = (
            [stages.assembly(request)] if mechanism.is_chain else [stages.platform(request), stages.assembly(request)]
        )
        series = [QUANTITIES[name].dims for name in request.of("actuation", "series")]
        sizes = {"actuator": len(mechanism.actuators), "joint": sum(len(g.places) for g in self.sweep.friction.groups)}
        parts = sizes | SPACE
        actuation = sum(
            math.prod(parts[dim] for dim in dims if dim in parts)
            for dims in series
            if not sizes.keys().isdisjoint(dims)
        )
        return DOUBLE * (sum(numbers(stage.shapes) for stage in steps) + actuation + self._linear)

    @property
    def _linear(self) -> int:
        """Numbers of one sample that a linearisation works on: its matrices, and rates of forces and of J_IK."""
        if not self.request.of("linear"):
            return 0
        free, actuators = self.request.structure.freedoms, len(self.request.structure.mechanism.actuators)
        return 2 * free * (2 * free + actuators) + 4 * free * (1 + actuators)

    def shared(self, lengths: Lengths) -> int:
        """Bytes that a block has for all its life: motions, parameters of designs and of friction."""
        motion = lengths.trajectories * self.request.structure.motion_size * lengths.width
        motion += (len(self.sweep.family.signals) + (MOVING if self.sweep.base else 0)) * lengths.width
        friction = lengths.sets * len(self.sweep.friction.parameters)
        return DOUBLE * (motion + friction) + lengths.designs * (self.design - self.mounts)

    def pair(self, times: int) -> int:
        """Bytes that tasks hand on for one design on one trajectory, and of the design itself."""
        return self.limbs * spaced(padded(times)) + self.design

    def peak(self, lengths: Lengths, stored: int, reacting: int, writing: int, *, by_limb: bool = True) -> int:
        """Bytes that the tasks of a block hold at once, at most, over the steps that it goes through.

        `stored` are those of its results, with series for metrics of a user's own; `reacting` those of them that are
        reactions; `writing` those that storing takes beside them. `by_limb`: limbs are tasks, which hand on what they
        give for the whole block; one task for the block has that of a strip.
        """
        width, designs, cases = lengths.width, lengths.designs, lengths.designs * lengths.trajectories
        motion = DOUBLE * lengths.trajectories * self.request.structure.motion_size * width
        shared, mounts = self.shared(lengths), designs * self.mounts
        tasks = len(self.request.structure.mechanism.instances) if by_limb else 1
        limbs = cases * width * self.limbs if by_limb else 0
        at_once = not by_limb and self.request.peaks_alone
        samples = PEAK_STRIP if at_once else STRIP
        strip = min(designs, max(1, samples // width)) * width * (self.strip + (0 if by_limb else self.limbs))
        per_set, once = (0, 0) if at_once else self.loads
        loads = cases * width * (lengths.sets * per_set + once)
        results = stored - reacting
        reduced = min(results, 2 * DOUBLE * cases * lengths.sets * len(self.request.structure.mechanism.actuators))
        steps = [
            shared + motion,
            shared + limbs + tasks * mounts,
            shared + limbs + mounts + strip + results + reduced + loads,
            shared + (0 if self.reacts else limbs) + loads + stored + reacting + writing,
        ]
        if self.reacts and not at_once:
            steps.append(shared + loads + stored + tasks * (mounts + designs * width * self.reactions))
        return OVERHEAD + max(steps)


def numbers(shapes: Shapes) -> int:
    """Return the total count of numbers in arrays of these shapes."""
    return sum(map(math.prod, shapes.values()))


def pair_bytes(sizes: Mapping[str, int], rows: Iterable[Quantity], steady: Iterable[str], *, per_set: bool) -> int:
    """Bytes that one design on one trajectory stores, for one friction set or apart from friction."""
    return sum(
        DOUBLE * math.prod(sizes[dim] for dim in row.dims if dim not in ("design", FRICTION, "trajectory"))
        for row in rows
        if (FRICTION in row.dims and row.name not in steady) == per_set
    )


def stored_quantities(sweep: Sweep) -> tuple[str, ...]:
    """The quantities that a store of this sweep has, in the order of their table: asked for, or stored anyway."""
    timed = any({"time", "design"} <= {*QUANTITIES[name].dims} for name in sweep.outputs)
    conditions = {
        "always": True,
        "with series": timed,
        "where friction settles": varies(QUANTITIES["status"], sweep.friction.groups),
        "on request": False,
    }
    asked = {*sweep.outputs, *sweep.metrics}
    return tuple(name for name, row in QUANTITIES.items() if name in asked or conditions[row.stored])


def steady_quantities(sweep: Sweep, quantities: Iterable[str]) -> tuple[str, ...]:
    """Return the quantities with a dim of friction that do not vary over the friction sets of this sweep."""
    rows = (QUANTITIES[name] for name in quantities if name in QUANTITIES)
    return tuple(row.name for row in rows if FRICTION in row.dims and not varies(row, sweep.friction.groups))


def extra_series(sweep: Sweep) -> tuple[str, ...]:
    """Series that metrics of a user's own need beside the outputs."""
    stored = stored_quantities(sweep)
    return tuple(
        dict.fromkeys(name for metric in sweep.user_metrics for name in metric.function.series if name not in stored)
    )


@dataclass(frozen=True)
class Operations:
    """Operations of one sample: inverse kinematics and dynamics, and the same with the reactions of all joints."""

    dynamics: float
    reactions: float


COUNTED: Mapping[str, Operations] = {
    "delta_3rr2rrr": Operations(4740, 14056),
    "delta_rl5_1450": Operations(4383, 13501),
    "delta_4rr2rrr": Operations(6389, 18798),
    "delta_3r2us": Operations(7471, 11618),
    "irsbot2": Operations(7903, 16866),
    "five_bar": Operations(967, 1858),
    "gough_stewart": Operations(5686, 7924),
    "hexapod_6rrrprr": Operations(23810, 31034),
}
"""As `limbsweep bench robots` counts them, at states from a cold start."""

PER_JOINT = Operations(400, 1000)
"""Operations for each joint of a robot that is not counted: the middle of those that are."""

OPERATION = 0.035e-9
"""Seconds of one operation of a compiled kernel."""

GLUE = 0.05e-6
"""Seconds of a sample outside kernels: its motion, its status, the sums of its metrics."""

FRICTION_SECONDS = 4e-9
"""Seconds of one actuator of one sample in one friction set."""

STORED = 2e-9
"""Seconds of one byte that is compressed and stored."""

PATH = 0.2
"""Seconds of the fastest motion along a path of one design, with limits of power or jerk."""

TASK = 1e-3
"""Seconds of a task in scheduler and worker, whatever is in it."""


SCHEDULED = 0.5e-3
"""Seconds that the scheduler, which is one thread, is busy with a task."""

BUSY = 0.5
"""Share of a run that the scheduler may be busy with limb tasks: beyond it, workers would wait for it now and then."""

LITTLE = 1.0
"""Seconds of the scheduler that are not worth a thought."""


@dataclass(frozen=True)
class Work:
    """Data that decide the time of a plan; `joints` and `actuators` are counts of the whole robot."""

    robot: str
    joints: int
    actuators: int
    samples: int
    friction_sets: int
    stored: int
    tasks: int
    reacts: bool
    paths: int = field(default=0, kw_only=True)
    """Designs times trajectories whose fastest motions are looked for."""

    @property
    def is_counted(self) -> bool:
        """Return whether the operations of the robot are known, not guessed from its joints."""
        return self.robot in COUNTED

    @property
    def seconds(self) -> float:
        """Seconds of one core for the whole plan."""
        return self.computing + self.tasks * TASK

    @property
    def computing(self) -> float:
        """Seconds of one core that are spent in tasks."""
        known, count = COUNTED.get(self.robot, PER_JOINT), 1 if self.is_counted else self.joints
        operations = count * (known.reactions if self.reacts else known.dynamics)
        sample = operations * OPERATION + GLUE + self.friction_sets * self.actuators * FRICTION_SECONDS
        return self.samples * sample + self.stored * STORED + self.paths * PATH

    @property
    def limb_threads(self) -> float:
        """Threads up to which tasks for each limb keep a cluster busy; with more the scheduler falls behind."""
        scheduled = self.tasks * SCHEDULED
        return float("inf") if scheduled <= LITTLE else BUSY * self.computing / scheduled

    @property
    def text(self) -> str:
        """Cost estimate that `limbsweep check` prints."""
        rough = "" if self.is_counted else ", guessed from the number of joints"
        return f"about {duration(self.seconds)} of one core, to be shared by all of them{rough}"


def duration(seconds: float) -> str:
    """A time for people."""
    for unit, scale in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 1.5 * scale:
            return f"{seconds / scale:.2g} {unit}"
    return f"{seconds:.2g} seconds" if seconds >= 1.0 else "a second"


BLOCK_BYTES = 256 << 20
"""Bytes that one block may store."""

BLOCK_TARGET = 384 << 20
"""Bytes that the tasks of one block should hold at once; blocks are made shorter until they do."""

BLOCK_MEMORY = 1 << 30
"""Bytes that the tasks of one block may hold at once; a trajectory that takes more is refused."""

MAX_FILES = 10**6
"""Files of a store: file systems and archives become slow beyond."""

ALWAYS = ("actuator", "limb", "joint", "axis", "platform_axis", "wrench")
"""Dims of a robot and of space that every layout has; it has others where a variable does."""

AXES = {"design": "designs", "friction": "friction sets", "trajectory": "trajectories", "time": "times"}


@dataclass(frozen=True)
class Plan:
    """A sweep cut into blocks.

    `parts`: lengths of the parts in which the task of a block computes it, where workers have no room for all of it at
    once (see `pipeline.plan.plan`). `room`: bytes that workers have for blocks at least. `device` computes the blocks.
    """

    sweep: Sweep
    layout: Layout
    parts: Mapping[str, int] | None = field(default=None, kw_only=True)
    room: int = field(default=BLOCK_MEMORY, kw_only=True)
    device: Device = field(default=CPU, kw_only=True)

    @cached_property
    def mechanism(self) -> Mechanism:
        """The robot's mechanism at the fixed parameters, for names and counts."""
        return self.sweep.family.assemble(self.sweep.parameters)

    @property
    def origin(self) -> tuple[float, float, float]:
        """Origin of trajectories for all designs: the reference position at the fixed parameters [m]."""
        return self.mechanism.platform.home.position

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return self.layout.blocks

    @property
    def cases(self) -> int:
        """Number of cases: the product of the sizes of all dims but time."""
        return math.prod(size for dim, size in self.sweep.sizes.items() if dim != "time")

    @property
    def samples(self) -> int:
        """Designs x trajectories x times; friction sets share the dynamics of a sample."""
        sizes = self.layout.sizes
        return sizes["design"] * sizes["trajectory"] * sizes["time"]

    @property
    def block_samples(self) -> int:
        """Samples of a full block."""
        block = self.layout.block
        return block["design"] * block["trajectory"] * self.layout.sizes["time"]

    def samples_of(self, index: int) -> int:
        """Samples of one block."""
        bounds = self.layout.bounds(index)
        pairs = math.prod(bounds[dim].stop - bounds[dim].start for dim in ("design", "trajectory"))
        return pairs * self.layout.sizes["time"]

    def designs(self, bounds: slice) -> NDArray[np.float64]:
        """Return the parameters of a range of designs (design, parameter), in the order of the robot."""
        row, places = self._parameters
        rows = np.repeat(row[None], bounds.stop - bounds.start, axis=0)
        for name, values in self.sweep.design.values(bounds.start, bounds.stop).items():
            if name in places:
                rows[:, places[name]] = values
        return rows

    @cached_property
    def _parameters(self) -> tuple[NDArray[np.float64], dict[str, int]]:
        """Values of all parameters that are not swept (parameter,), defaults for the others, and their places."""
        values = self.sweep.parameters
        return np.array(list(values.values()), dtype=np.float64), {name: place for place, name in enumerate(values)}

    def owned(self, index: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Series that a block writes, and its metrics: the same for all blocks that begin the same axes."""
        first = tuple(place == 0 for place in self.layout.unravel(index))
        if first not in self._owned:
            variables = {name: self.layout.variable(name) for name in self.layout.owned(index)}
            series = tuple(name for name, variable in variables.items() if "time" in variable.dims)
            self._owned[first] = series, tuple(name for name in variables if name not in series)
        return self._owned[first]

    @cached_property
    def _owned(self) -> dict[tuple[bool, ...], tuple[tuple[str, ...], tuple[str, ...]]]:
        return {}

    @property
    def limbs(self) -> tuple[str, ...]:
        """Names of the limbs: one task of each block for each."""
        return tuple(each.name for each in self.mechanism.instances)

    @cached_property
    def by_limb(self) -> bool:
        """Return whether limbs can be separate tasks. False if their intermediate results would not fit into memory."""
        return self.parts is None and self._peak(by_limb=True) <= BLOCK_MEMORY

    @property
    def is_parted(self) -> bool:
        """Return whether blocks are computed in parts."""
        return self.parts is not None and self.parts != self.layout.block

    @property
    def tasks_per_block(self) -> int:
        """Trajectories, every limb, assembly; where reactions are asked for, every limb once more, and storing."""
        if not self.by_limb:
            return 1
        once = len(self.limbs) + 1
        return 2 * once + 1 if self.memory.reacts else once + 1

    @cached_property
    def memory(self) -> Memory:
        """Memory of the tasks of a block per sample."""
        return Memory(self.sweep, (*self.layout.variables, *self.extra))

    @property
    def block_memory(self) -> int:
        """Bytes that the tasks of one block hold at once, at most."""
        return self._peak(by_limb=True) if self.by_limb else self.task_memory

    @property
    def worker_memory(self) -> int:
        """Bytes of a worker of one thread that computes blocks one after another, as a cluster gets them."""
        return self.base_memory + (self.task_memory if self.memory.request.peaks_alone else self.block_memory)

    @property
    def base_memory(self) -> int:
        """Bytes of a worker beside its blocks."""
        code = COMPILER_MEMORY + CODE_MEMORY * len(self.limbs)
        return BASE_MEMORY + code + (SIGNALS_MEMORY if self.sweep.measurement else 0)

    @property
    def task_memory(self) -> int:
        """Bytes that one task for a whole block holds, at most: its results, and the memory of a part of it."""
        if not self.is_parted:
            return self._peak(by_limb=False)
        part = replace(self, layout=replace(self.layout, block=dict(self.parts or {})), parts=None)
        return part.task_memory + self.layout.block_bytes(0) + self.layout.writing_bytes(0)

    def _peak(self, *, by_limb: bool) -> int:
        """Bytes that a block holds as tasks for each limb, or as one task."""
        layout = self.layout
        block, times = layout.block, layout.sizes["time"]
        lengths = Lengths(block["design"], block["friction"], block["trajectory"], times)
        sizes = {**mechanism_sizes(self.mechanism), **SPACE, **layout.sizes, **block}
        # what is selected is computed whole, and selected of at the end
        whole = sum(DOUBLE * math.prod(sizes[dim] for dim in self.dims(name)) for name in layout.selected)
        stored = layout.block_bytes(0) + self._extra_bytes + whole
        reacting = sum(
            DOUBLE * math.prod(sizes[dim] for dim in self.dims(name)) for name in self.memory.request.reactions
        )
        return self.memory.peak(lengths, stored, min(stored, reacting), layout.writing_bytes(0), by_limb=by_limb)

    @cached_property
    def extra(self) -> tuple[str, ...]:
        """Series that are computed for metrics of a user's own alone."""
        return extra_series(self.sweep)

    def dims(self, name: str) -> tuple[str, ...]:
        """The dims of a variable of the schema in this sweep, whether it is stored or not."""
        dims = QUANTITIES[name].dims
        steady = steady_quantities(self.sweep, (name,))
        return tuple(dim for dim in dims if dim != FRICTION) if steady else dims

    @property
    def _extra_bytes(self) -> int:
        """Bytes of these series in a block."""
        sizes = {**self.layout.sizes, **self.layout.block}
        return sum(DOUBLE * math.prod(sizes[dim] for dim in self.dims(name)) for name in self.extra)

    @property
    def work(self) -> Work:
        """Data that decide the time of the plan."""
        return Work(
            robot=self.sweep.robot,
            joints=sum(len(self.mechanism.limbs[each.limb].joints) for each in self.mechanism.instances),
            actuators=len(self.mechanism.actuators),
            samples=self.samples,
            friction_sets=self.layout.sizes["friction"],
            stored=self.stored,
            tasks=self.blocks * self.tasks_per_block,
            reacts=self.memory.reacts,
            paths=self._paths,
        )

    @property
    def _paths(self) -> int:
        """Designs times trajectories whose fastest motions are looked for."""
        asked = {*names("path")} & {*self.sweep.metrics}
        return self.layout.sizes["design"] * self.layout.sizes["trajectory"] if asked else 0

    @property
    def stored(self) -> int:
        """Bytes of all variables, before compression."""
        return sum(self.layout.bytes(name) for name in self.layout.variables)

    @property
    def _limb_bound(self) -> str:
        """Up to how many threads a run takes limb tasks, in words; nothing where it always does."""
        if self.memory.request.peaks_alone:
            return "; on a cluster one task a block, for peaks of reactions alone"
        threads = self.work.limb_threads
        return "" if math.isinf(threads) else f"; on more than {threads:,.0f} threads one task a block"

    def _repr_html_(self) -> str:
        """Return the HTML table that notebooks show."""
        return table(f"plan of a sweep of {self.sweep.robot}", self.rows())

    def rows(self) -> list[tuple[str, str]]:
        """Return the rows that `limbsweep check` prints."""
        sizes, block, limbs = self.layout.sizes, self.layout.block, len(self.limbs)
        cut = f"{block['design']} designs x {block['friction']} friction sets x {block['trajectory']} trajectories"
        tasks = f"{self.tasks_per_block} a block, one for each of {limbs} limbs{self._limb_bound}"
        if not self.by_limb:
            tasks = "one a block: limbs of blocks as long as these do not fit into memory"
        return [
            ("robot", self.sweep.robot),
            *((label, f"{sizes[dim]:,}") for dim, label in AXES.items()),
            ("samples", f"{self.samples:,}"),
            ("blocks", f"{self.blocks:,} of {cut}"),
            ("tasks", f"{self.blocks * self.tasks_per_block:,} ({tasks})"),
            ("variables", ", ".join(self.layout.variables)),
            ("stored", f"{size(self.stored)} before compression, {self.layout.files:,} files"),
            (
                "memory",
                f"at most {size(self.block_memory)} for each block in flight; {size(self.worker_memory)} a worker",
            ),
            ("time", self.work.text),
        ]


def require_files(made: Plan) -> None:
    """Refuse a plan whose store would have too many files. Raises InputError."""
    if made.layout.files > MAX_FILES:
        got, hint = f"{made.layout.files:,} files", "Take fewer outputs and metrics, or parts of the sweep one by one."
        raise InputError([Problem(made.sweep.name, 0, 0, "", got, f"at most {MAX_FILES:,}", hint)])


def require_at_most(limit: int, need: int, what: str, sweep: Sweep) -> None:
    """Refuse a block that would be too large. Raises InputError."""
    if need > limit:
        got = f"{sweep.sizes['time']:,} times, {size(need)} of {what} for one design"
        rule = f"at most {size(limit)}, because a trajectory is never cut"
        hint = "Use a longer step, fewer outputs, or several shorter trajectories."
        raise InputError([Problem(sweep.name, 0, 0, "time", got, rule, hint)])


def even(size: int, most: int) -> int:
    """The length of equal parts of `size`, none longer than `most`."""
    parts = -(-size // most)
    return -(-size // parts)
