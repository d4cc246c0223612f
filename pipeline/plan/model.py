"""Plan of a sweep as data: blocks, tasks, bytes of memory and of the store, and a forecast of the time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.documents.writing import table
from pipeline.errors import refused, size
from pipeline.plan.coordinates import file_count
from pipeline.plan.cost import Work
from pipeline.plan.memory import (
    BASE_MEMORY,
    CODE_MEMORY,
    COMPILER_MEMORY,
    DOUBLE,
    SIGNALS_MEMORY,
    Lengths,
    Memory,
    extra_series,
    steady_quantities,
)
from pipeline.sweep.model import Sweep
from robots.data_classes import dataclass, field, replace
from robots.derivatives import SIDE, derivative
from robots.devices import CPU, Device
from robots.dims import FRICTION, SPACE, mechanism_sizes
from robots.model import Mechanism
from robots.quantities import QUANTITIES, names
from storage.layout import Layout
from tasks.mathematics.extrapolation import POINTS

if TYPE_CHECKING:
    from pipeline.sweep.model import Sweep


BLOCK_BYTES = 256 << 20
"""Bytes that one block may store."""

BLOCK_TARGET = 384 << 20
"""Bytes that the tasks of one block should hold at once; blocks are made shorter until they do."""

REDUCED_TARGET = 600 << 20
"""The same for blocks of metrics alone, whose tasks hold what limbs hand on and little else.

A worker of 2 GiB has room for two, below the memory at which Dask writes results to the disk."""

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
        return self.layout.sizes["design"] * sum(grid.samples for grid in self.sweep.grids)

    @property
    def block_samples(self) -> int:
        """Samples of a full block, or where trajectories have times of their own of a block on average."""
        block = self.layout.block
        if not self.sweep.has_one_grid:
            return -(-self.samples // self.blocks)
        return block["design"] * block["trajectory"] * self.layout.sizes["time"]

    def samples_of(self, index: int) -> int:
        """Return the number of samples of one block."""
        bounds = self.layout.grid.bounds(index)
        designs = bounds["design"].stop - bounds["design"].start
        return designs * sum(grid.samples for grid in self.sweep.grids[bounds["trajectory"]])

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
        """Return the series and the metrics that a block writes: the same for all blocks that begin the same axes."""
        first = tuple(place == 0 for place in self.layout.grid.unravel(index))
        if first not in self._owned:
            owned = self.layout.owned(index)
            series = tuple(name for name, variable in owned.items() if "time" in variable.dims)
            self._owned[first] = series, tuple(name for name in owned if name not in series)
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
    def parts_per_block(self) -> int:
        """Number of parts into which a task cuts a full block."""
        return math.prod(-(-length // (self.parts or {}).get(dim, length)) for dim, length in self.layout.block.items())

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
        return self.base_memory + self.held_memory

    @property
    def held_memory(self) -> int:
        """Bytes that a block holds at most, in the tasks that a run takes by itself: one, where there are reactions."""
        return self.task_memory if self.memory.reacts else self.block_memory

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
        part = replace(self, layout=self.layout.moved(block=dict(self.parts or {})), parts=None)
        return part.task_memory + self.layout.block_bytes(0) + self.layout.writing_bytes(0)

    def _peak(self, *, by_limb: bool) -> int:
        """Return the bytes that a block holds as tasks for each limb, or as one task."""
        layout = self.layout
        block, times = layout.block, layout.sizes["time"]
        lengths = Lengths(block["design"], block["friction"], block["trajectory"], times)
        sizes = {**mechanism_sizes(self.mechanism), **SPACE, **layout.sizes, **block}
        # selected variables are computed whole; the selection is made at the end
        selected = (name for name, variable in layout.variables.items() if variable.is_selected)
        whole = sum(DOUBLE * math.prod(sizes[dim] for dim in self.dims(name)) for name in selected)
        stored = layout.block_bytes(0) + self._extra_bytes + whole
        reacting = sum(
            DOUBLE * math.prod(sizes[dim] for dim in self.dims(name)) for name in self.memory.request.reactions
        )
        peak = self.memory.peak(lengths, stored, min(stored, reacting), layout.writing_bytes(0), by_limb=by_limb)
        return peak + self.memory.derived(lengths, self._derived_numbers)

    @property
    def _derived_numbers(self) -> int:
        """Numbers of the derivatives of series of one design in a block, of one side."""
        sizes = {**self.layout.sizes, **self.layout.block, "design": 1, SIDE: 1}
        names = [derivative(name) for name in self.sweep.derivatives.series]
        rows = [self.layout.variables[name] for name in names if name in self.layout.variables]
        return sum(math.prod(sizes[dim] for dim in row.dims) for row in rows)

    @cached_property
    def extra(self) -> tuple[str, ...]:
        """Series that are computed for metrics of a user's own alone."""
        return extra_series(self.sweep)

    def dims(self, name: str) -> tuple[str, ...]:
        """Return the dims of a variable of the schema in this sweep, whether it is stored or not."""
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
            directions=self._directions,
            repeats=self._repeats,
        )

    @property
    def _paths(self) -> int:
        """Designs times trajectories whose fastest motions are looked for."""
        asked = {*names("path")} & {*self.sweep.metrics}
        return self.layout.sizes["design"] * self.layout.sizes["trajectory"] if asked else 0

    @property
    def _directions(self) -> int:
        """Directions that quantities are differentiated along: both ways of each parameter."""
        requested = self.sweep.derivatives
        return 2 * len(requested.parameters) if requested.exact(programs=self._programs) else 0

    @property
    def _repeats(self) -> int:
        """Computations of all samples for derivatives that are differences."""
        requested = self.sweep.derivatives
        return POINTS * len(requested.parameters) if requested.by_differences(programs=self._programs) else 0

    @property
    def _programs(self) -> bool:
        """Return whether programs give derivatives: of given motions, with friction without a state."""
        return self.sweep.simulation is None and not any(group.remembers for group in self.sweep.friction.groups)

    @property
    def stored(self) -> int:
        """Bytes of all variables, before compression."""
        return self.layout.bytes

    @property
    def _limb_bound(self) -> str:
        """Largest number of threads for which a run takes limb tasks, in words; empty where it always does."""
        if self.memory.reacts:
            return "; a run takes one task a block, for reactions"
        threads = self.work.limb_threads
        return "" if math.isinf(threads) else f"; on more than {threads:,.0f} threads one task a block"

    def _repr_html_(self) -> str:
        """Return the HTML table that notebooks show."""
        return table(f"plan of a sweep of {self.sweep.robot}", self.rows())

    @property
    def files(self) -> int:
        """Files of the store in a folder, but for those of true parameters of a dataset."""
        return file_count(self.sweep, self.layout, self.mechanism)

    @property
    def _true(self) -> str:
        is_dataset = self.sweep.measurement is not None or self.sweep.split is not None
        return " and those of true parameters" if is_dataset else ""

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
            *self._derivative_rows(),
            ("stored", f"{size(self.stored)} before compression, {self.files:,} files{self._true}"),
            (
                "memory",
                f"at most {size(self.held_memory)} for each block in flight; {size(self.worker_memory)} a worker",
            ),
            ("time", self.work.text),
        ]

    def _derivative_rows(self) -> list[tuple[str, str]]:
        """Return the row about derivatives, where there are any."""
        if not self._directions and not self._repeats:
            return []
        requested = self.sweep.derivatives
        of, parameters = counted(len(requested.quantities), "quantity"), counted(len(requested.parameters), "parameter")
        share = self.work.differentiating / self.work.computing
        ways = ["from both sides"] * bool(self._directions) + [f"by {self._repeats} repetitions"] * bool(self._repeats)
        how = " and ".join(ways)
        return [("derivatives", f"{of} by {parameters}, {how}: {share:.0%} of the computing time")]


def counted(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return (
        f"{count} {noun}" if count == 1 else f"{count} {noun.removesuffix('y')}{'ies' if noun.endswith('y') else 's'}"
    )


def require_files(made: Plan) -> None:
    """Refuse a plan whose store would have too many files. Raises InputError."""
    if made.layout.files > MAX_FILES:
        got, hint = f"{made.layout.files:,} files", "Take fewer outputs and metrics, or parts of the sweep one by one."
        raise refused(made.sweep.name, got, f"at most {MAX_FILES:,}", hint)


def require_at_most(limit: int, need: int, what: str, sweep: Sweep) -> None:
    """Refuse a block that would be too large. Raises InputError."""
    if need > limit:
        got = f"{sweep.sizes['time']:,} times, {size(need)} of {what} for one design"
        rule = f"at most {size(limit)}, because a trajectory is never cut"
        hint = "Use a longer step, fewer outputs, or several shorter trajectories."
        raise refused(sweep.name, got, rule, hint, key="time")


def even(size: int, most: int) -> int:
    """Return the length of equal parts of `size`, none longer than `most`."""
    parts = -(-size // most)
    return -(-size // parts)
