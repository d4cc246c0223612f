"""Plan a sweep: blocks and their content, bytes stored, memory of a task; of given motions and of simulations.

A plan depends on the sweep alone, never on the cluster, so that a run can be resumed on another one. Blocks are made on
demand; a plan of a million blocks is as small as a plan of one.

A block of simulations is computed by one task. It has all gains and initial states of its designs, unless these alone
are more cases than a block should have. Limbs are coupled in every step, so a block is not cut by limbs, and time runs
inside of it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pipeline.errors import refused, show
from pipeline.plan.cost import COUNTED, OPERATION, PER_JOINT, Work
from pipeline.plan.derivatives import derivative_rows
from pipeline.plan.memory import (
    DOUBLE,
    OVERHEAD,
    Memory,
    extra_series,
    pair_bytes,
    steady_quantities,
    stored_quantities,
)
from pipeline.plan.model import (
    ALWAYS,
    AXES,
    BLOCK_BYTES,
    BLOCK_MEMORY,
    BLOCK_TARGET,
    REDUCED_TARGET,
    Plan,
    even,
    require_at_most,
    require_files,
)
from pipeline.sweep.model import Sweep
from robots.data_classes import dataclass, replace
from robots.dims import GAINS, PLACED, SPACE, STATE, mechanism_sizes, selected_dims
from robots.model import Mechanism
from robots.quantities import OF_SOURCE, QUANTITIES, Quantity, simulated
from robots.quantities import names as quantity_names
from storage.layout import Layout
from storage.variables import WHERE_VARIED, BlockGrid
from tasks.kernels.keys import padded
from tasks.kernels.levels import COMPILE, LEVELS, requested_level
from tasks.mechanics.families import structure_of
from tasks.stages.stages import STRIP

if TYPE_CHECKING:
    from pipeline.sweep.model import Sweep


BLOCK_CASES = 2048
"""Cases of a block: vectors are full, and values between steps stay in the cache."""


FEW_CASES = 256
"""Cases below which a finer cut saves no time: a call of a kernel takes as long for one case as for this number."""

STAGES: Mapping[str, int] = {"rk4": 5, "euler": 2, "semi_implicit": 2, "rosenbrock": 3, "spanning_tree": 60}
"""Forward dynamics in one step, with that under forces that have changed."""

FORWARD, INVERSE = 4.0, 2.0
"""Operations of forward dynamics and of a controller, over those of inverse dynamics."""

VARIED = {GAINS: "gain sets", STATE: "initial states"}
"""Labels of the axes of a simulation."""

CALLS = 1e-3
"""Seconds of a step outside kernels, for all cases of a block."""

CALLS_OF_LOOP = 5e-5
"""The same where the loop over time is compiled, with the steps that events take out of it."""

STEPS = 64
"""Instants of a case at which stages work at once for metrics, and three of each step for those of actuators."""

STRIP_NUMBERS = 120
"""Numbers of a case that are handed on within a step, for each joint of the robot."""

SIMULATION_MEMORY = 20 << 20
"""Bytes of modules and machine code that simulations need beside those of given motions."""


@dataclass(frozen=True)
class SimulatedWork(Work):
    """The work of a sweep of simulations: `samples` are steps of cases, `calls` steps of blocks."""

    stages: int = 5
    calls: int = 0
    is_looped: bool = False

    @property
    def once(self) -> float:
        """Seconds of one core for all steps, computed once."""
        operations = COUNTED[self.robot].dynamics if self.is_counted else self.joints * PER_JOINT.dynamics
        step = operations * (self.stages * FORWARD + INVERSE) * OPERATION
        return self.samples * step + self.calls * (CALLS_OF_LOOP if self.is_looped else CALLS)

    @property
    def limb_threads(self) -> float:
        """Zero threads: a block is one task."""
        return 0.0


@dataclass(frozen=True)
class SimulationPlan(Plan):
    """A sweep of simulations cut into blocks."""

    @property
    def samples(self) -> int:
        """Instants of all cases that are stored."""
        others = self.cases // self.layout.sizes["trajectory"]
        return others * sum(grid.samples for grid in self.sweep.grids)

    @property
    def block_cases(self) -> int:
        """Cases of a full block."""
        return math.prod(self.layout.block.values()) * self._whole

    @property
    def _whole(self) -> int:
        """Gains and initial states that are not cut."""
        sizes = self.sweep.simulation.sizes if self.sweep.simulation else {}
        return math.prod(size for dim, size in sizes.items() if dim not in self.layout.grid.split)

    @property
    def block_samples(self) -> int:
        """Samples of a full block, or where trajectories have times of their own of a block on average."""
        if not self.sweep.has_one_grid:
            return -(-self.samples // self.blocks)
        return self.block_cases * self.layout.sizes["time"]

    def samples_of(self, index: int) -> int:
        """Return the number of samples of one block."""
        bounds = self.layout.grid.bounds(index)
        cells = math.prod(part.stop - part.start for dim, part in bounds.items() if dim != "trajectory")
        return cells * self._whole * sum(grid.samples for grid in self.sweep.grids[bounds["trajectory"]])

    @cached_property
    def by_limb(self) -> bool:
        """Return False: limbs are coupled in every step."""
        return False

    @property
    def tasks_per_block(self) -> int:
        """Number of tasks of a block: one."""
        return 1

    def _peak(self, *, by_limb: bool) -> int:
        """Return the most bytes that the task of a block holds; there is one task for all limbs."""
        stored, writing = self.layout.block_bytes(0), self.layout.writing_bytes(0)
        joints = sum(len(self.mechanism.limbs[instance.limb].joints) for instance in self.mechanism.instances)
        strip = self._lanes * joints * STRIP_NUMBERS
        sizes = {**self.layout.sizes, **self.layout.block}
        stored += sum(DOUBLE * math.prod(sizes[dim] for dim in self.dims(name)) for name in self.extra)
        fixed = OVERHEAD + DOUBLE * strip + _references(self.sweep, self.layout.block) + self._stages
        return fixed + 3 * stored * self._lanes // min(self.block_cases, BLOCK_CASES) + writing

    @property
    def _lanes(self) -> int:
        """Cases of a strip, in whole groups of lanes."""
        return padded(min(self.block_cases, BLOCK_CASES))

    @property
    def base_memory(self) -> int:
        """Bytes of a worker beside its blocks."""
        return super().base_memory + SIMULATION_MEMORY

    @property
    def _stages(self) -> int:
        """Bytes of stages of inverse dynamics at samples of a strip: for series at stored times, for metrics at all."""
        cases, width = self._lanes, padded(self.layout.sizes["time"])
        stored = [name for name in (*self.layout.variables, *self.extra) if name in QUANTITIES]
        of_series = [name for name in stored if "time" in QUANTITIES[name].dims]
        of_run = OF_SOURCE | {
            name for name, row in QUANTITIES.items() if row.stage == "simulation" or row.stored == "always"
        }
        of_steps = [name for name in stored if "time" not in QUANTITIES[name].dims and name not in of_run]
        series, steps = (Memory(self.sweep, tuple(names)) for names in (of_series, of_steps))
        numbers = structure_of(self.sweep.family).motion_size + 4 * len(self.mechanism.actuators)
        kept = 3 * DOUBLE * numbers * cases * width
        at_times = _of_samples(series) * min(cases * width, max(STRIP, width)) if of_series else 0
        return kept + max(at_times, _of_samples(steps) * cases * STEPS if of_steps else 0)

    @property
    def extra(self) -> tuple[str, ...]:
        """Series that are computed for metrics of a user's own alone."""
        return _extra(self.sweep)

    def dims(self, name: str) -> tuple[str, ...]:
        """Return the dims of a variable of a simulation, whether it is stored or not."""
        varied = self.sweep.sizes
        return tuple(dim for dim in simulated(QUANTITIES[name]).dims if dim not in WHERE_VARIED or dim in varied)

    @cached_property
    def work(self) -> SimulatedWork:
        """Data that decide the time of the plan."""
        simulation = self.sweep.simulation
        assert simulation is not None
        chosen = simulation.simulation
        steps = (self.layout.sizes["time"] - 1) * chosen.every
        told = any(name.startswith("integration_error") for name in self.layout.variables)
        runs = 3 if told or chosen.tolerance else 1
        return SimulatedWork(
            robot=self.sweep.robot,
            joints=sum(len(self.mechanism.limbs[instance.limb].joints) for instance in self.mechanism.instances),
            actuators=len(self.mechanism.actuators),
            samples=self.cases * steps * runs,
            friction_sets=1,
            stored=self.stored,
            tasks=self.blocks,
            reacts=False,
            stages=STAGES[chosen.method],
            calls=self.blocks * steps * runs,
            is_looped=chosen.method == "rk4" and not chosen.fed,
            repeats=self._repeats,
        )

    _listed = ("variables", "derivatives", "stored", "memory", "time")

    def rows(self) -> list[tuple[str, str]]:
        """Return the rows that `limbsweep check` prints."""
        rows = dict(super().rows())
        assert self.sweep.simulation is not None
        chosen, sizes = self.sweep.simulation.simulation, self.sweep.sizes
        block = self.layout.block
        cut = f"{block['design']} designs x {block['friction']} friction sets x {block['trajectory']} trajectories"
        cut += "".join(f" x {block[dim]} {label}" for dim, label in VARIED.items() if dim in block)
        if chosen.controller is not None:
            what = f"{chosen.controller.kind} in the {chosen.controller.space} space"
        else:
            what = "force profiles" if chosen.profiles else "release"
        named = {label: sizes.get(dim) for dim, label in VARIED.items()}
        result = [("robot", rows["robot"]), ("simulation", f"{what}, {chosen.method} by {chosen.step:g} s")]
        result += [(label, rows[label]) for dim, label in AXES.items() if dim != "time"]
        result += [(label, f"{size:,}") for label, size in named.items() if size]
        result += [("times", rows["times"]), ("cases", f"{self.cases:,}"), ("samples", rows["samples"])]
        result += [("blocks", f"{self.blocks:,} of {cut}, {self.block_cases:,} cases"), ("tasks", f"{self.blocks:,}")]
        return result + [(key, rows[key]) for key in self._listed if key in rows]


def plan_simulations(sweep: Sweep) -> SimulationPlan:
    """Plan a sweep of simulations. Raises InputError if one cell of its axes is too large for a block."""
    mechanism = sweep.family.assemble(sweep.parameters)
    names = stored_names(sweep)
    own = (*derivative_rows(sweep), *(metric.variable for metric in sweep.user_metrics))
    rows = [*(simulated(QUANTITIES[name]) for name in (*names, *_extra(sweep))), *own]
    used = {dim for row in rows for dim in row.dims}
    fixed = mechanism_sizes(mechanism) | SPACE | sweep.derivatives.sizes
    sizes = sweep.sizes | {dim: length for dim, length in fixed.items() if dim in used or dim in ALWAYS}
    case = sum(_case_bytes(row, sizes) for row in rows)
    require_at_most(BLOCK_BYTES, case, "results", sweep)
    block = _simulated_block(sizes, case) | _alone(sweep)
    grid = BlockGrid(sizes, block, simulated=True)
    planned = SimulationPlan(sweep, Layout.of(grid, (*names, *(row.name for row in own)), own=own))
    require_at_most(BLOCK_MEMORY, planned.block_memory, "memory", sweep)
    require_files(planned)
    return planned


def _alone(sweep: Sweep) -> dict[str, int]:
    """Return the length of a block along trajectories: one where their times differ; nothing where they do not."""
    return {} if sweep.has_one_grid else {"trajectory": 1}


def _of_samples(memory: Memory) -> int:
    """Return the bytes of one sample in all stages."""
    reactions = len(memory.request.structure.mechanism.instances) * memory.reactions
    return memory.limbs + memory.strip + reactions + sum(memory.loads)


def stored_names(sweep: Sweep) -> tuple[str, ...]:
    """Return the quantities that a store of simulations has: requested, or always stored."""
    asked = {*sweep.outputs, *sweep.metrics}
    conditions = {"always": True, "with series": bool(sweep.outputs)}
    return tuple(name for name, row in QUANTITIES.items() if name in asked or conditions.get(row.stored, False))


def _extra(sweep: Sweep) -> tuple[str, ...]:
    """Return the series that user metrics need besides the outputs."""
    stored = stored_names(sweep)
    asked = (name for metric in sweep.user_metrics for name in metric.function.series)
    return tuple(dict.fromkeys(name for name in asked if name not in stored))


def _case_bytes(row: Quantity, sizes: Mapping[str, int]) -> int:
    """Return the bytes of one case of a variable."""
    outer = ("design", "friction", "trajectory", GAINS, STATE)
    return DOUBLE * math.prod(sizes.get(dim, 1) for dim in row.dims if dim not in outer)


def _references(sweep: Sweep, block: Mapping[str, int]) -> int:
    """Return the bytes of the references of a block at all steps, and of the references at half steps."""
    assert sweep.simulation is not None
    steps = (sweep.grid.samples - 1) * sweep.simulation.simulation.every
    tracks = block["trajectory"] * (block["design"] if sweep.family.reference.resolved else 1)
    return DOUBLE * 3 * tracks * steps * structure_of(sweep.family).motion_size


def _simulated_block(sizes: Mapping[str, int], case: int) -> dict[str, int]:
    """Return a block's lengths; `case`: bytes of one case. Gains and initial states are cut only if too many."""
    cells = sizes["design"] * sizes["friction"] * sizes["trajectory"]
    gains, states = sizes.get(GAINS, 1), sizes.get(STATE, 1)
    inner = gains * states
    cases = max(FEW_CASES, min(BLOCK_CASES, cells * inner // WANTED_BLOCKS))
    most = max(1, min(cases, BLOCK_BYTES // case, BLOCK_TARGET // (3 * case)))
    if inner > most:
        state = even(states, most)
        lengths = {GAINS: even(gains, max(1, most // state)), STATE: state}
        cut = {dim: length for dim, length in lengths.items() if dim in sizes}
        return {"design": 1, "friction": 1, "trajectory": 1, **cut}
    count = min(cells, most // inner)
    friction = even(sizes["friction"], count)
    trajectory = even(sizes["trajectory"], max(1, count // friction))
    design = even(sizes["design"], max(1, count // (friction * trajectory)))
    return {"design": design, "friction": friction, "trajectory": trajectory}


BLOCK_SAMPLES = 1 << 22
"""Samples of a block: a task costs a millisecond or two in scheduler and worker, whatever its size."""

SMALL_BLOCK = 1 << 14
"""Samples below which cutting a small sweep finer gains nothing."""

WANTED_BLOCKS = 16
"""Blocks that a small sweep is cut into where they are not too small, so that a few cores share them."""

FRICTION_SAMPLES = 1 << 22
"""Samples times friction sets of a block."""

PATHS = 64
"""Designs times trajectories of a block with metrics of fastest motions, of which each takes tenths of a second."""

MOST_BLOCKS = 50_000
"""Blocks from which on they get longer with the sweep: files, receipts and the work of the scheduler go with blocks."""


def _require_known_level() -> None:
    """Refuse a level of optimisation that no kernel could be compiled at: all of a sweep would fail."""
    try:
        requested_level()
    except ValueError:
        hint = "Unset this variable of the environment for the default."
        raise refused(COMPILE, show(os.environ[COMPILE]), " or ".join(LEVELS), hint) from None


def plan(sweep: Sweep) -> Plan:
    """Plan a sweep. Raises InputError where one trajectory of one design is too large for a block.

    >>> ls.plan(ls.Sweep.from_yaml("sweep.yaml")).samples
    16533
    """
    sweep = Sweep.checked(sweep)
    _require_known_level()
    if sweep.simulation is not None:
        return plan_simulations(sweep)
    mechanism = sweep.family.assemble(sweep.parameters)
    user_metrics = (*derivative_rows(sweep), *(metric.variable for metric in sweep.user_metrics))
    variables = (*stored_quantities(sweep), *(row.name for row in user_metrics))
    computed = (*variables, *extra_series(sweep))
    steady = steady_quantities(sweep, computed)
    known = {**QUANTITIES, **{row.name: row for row in user_metrics}}
    rows = tuple(known[name] for name in computed)
    selection = sweep.selection
    stored = [replace(row, dims=selected_dims(row.dims)) if row.name in selection.series else row for row in rows]
    derived = sweep.derivatives.sizes if derivative_rows(sweep) else {}
    whole = sweep.sizes | mechanism_sizes(mechanism) | SPACE | derived
    sizes = sweep.sizes | _sizes(mechanism, stored) | derived
    used = {dim for row in stored for dim in row.dims}
    sizes |= {name: len(selection.of(dim)) for dim, name in PLACED.items() if name in used}
    per_set, shared = (pair_bytes(whole, rows, steady, per_set=by_set) for by_set in (True, False))
    require_at_most(BLOCK_BYTES, per_set + shared, "results", sweep)
    memory = Memory(sweep, computed)
    most = PATHS if {*quantity_names("path")} & {*sweep.metrics} else None
    is_reduced = not memory.reacts and all("time" not in row.dims for row in rows)
    limits = _Limits(most, REDUCED_TARGET if is_reduced else BLOCK_TARGET)
    block = _block(sizes, per_set, shared, memory.pair(sizes["time"]), limits) | _alone(sweep)
    grid = BlockGrid(sizes, block)
    layout = Layout.of(grid, variables, steady=steady, selected=selection.series, own=user_metrics)
    made = Plan(sweep, layout)
    require_at_most(BLOCK_MEMORY, made.block_memory, "memory", sweep)
    made = _lengthened(made, lambda times: _block(sizes, per_set, shared, memory.design, limits, times) | _alone(sweep))
    require_files(made)
    return made


def fitted(original: Plan, room: int) -> Plan | None:
    """Return the plan for workers with at least `room` bytes for blocks; None if one case has no room.

    Blocks, which are files, stay as they are. Limbs are tasks only where two blocks have room, because Dask may give
    tasks of two to one worker; else a block is one task, which computes it in parts where it has no room at once.
    """
    smaller = replace(original, room=room)
    if smaller.by_limb and 2 * smaller.block_memory <= room:
        return smaller
    smaller = replace(smaller, parts=smaller.layout.block)
    while smaller.task_memory > room:
        lengths = dict(smaller.parts or {})
        longest = max(lengths, key=lambda dim: lengths[dim])
        if lengths[longest] == 1:
            return None
        smaller = replace(smaller, parts=lengths | {longest: -(-lengths[longest] // 2)})
    return smaller


def least_memory(original: Plan) -> int:
    """Return the bytes needed by a task that computes a block of the plan case by case."""
    return replace(original, parts=dict.fromkeys(original.layout.block, 1)).task_memory


def _lengthened(made: Plan, block: Callable[[int], dict[str, int]]) -> Plan:
    """Return the plan, with longer blocks if it has too many; `block`: the lengths for a multiple of the samples."""
    longer, times = made, 1
    while longer.blocks > MOST_BLOCKS and longer.block_memory <= BLOCK_MEMORY and times < MOST_BLOCKS:
        made, times = longer, 2 * times
        longer = replace(made, layout=made.layout.moved(block=block(times)))
    return longer if longer.block_memory <= BLOCK_MEMORY else made


def _sizes(mechanism: Mechanism, rows: Sequence[Quantity]) -> dict[str, int]:
    """Return the lengths of the dims of a robot and of space."""
    used = {dim for row in rows for dim in row.dims}
    sizes = mechanism_sizes(mechanism) | SPACE
    return {dim: length for dim, length in sizes.items() if dim in used or dim in ALWAYS}


class _Limits(NamedTuple):
    """Limits of a block: pairs of a design and a trajectory, if any, and bytes that its tasks should hold at once."""

    pairs: int | None
    target: int


def _block(
    sizes: Mapping[str, int], per_set: int, shared: int, handed_on: int, limits: _Limits, longer: int = 1
) -> dict[str, int]:
    """Return a block's lengths; a pair is a design on a trajectory, and stores `per_set` bytes per friction set.

    `longer`: by how much blocks may have more samples than usual.
    """
    times, pairs = sizes["time"], sizes["design"] * sizes["trajectory"]
    wanted = max(SMALL_BLOCK, min(longer * BLOCK_SAMPLES, pairs * times // WANTED_BLOCKS))
    fitting = min(BLOCK_BYTES // (per_set + shared), limits.target // (per_set + shared + handed_on))
    count = max(1, min(wanted // times, fitting, pairs, limits.pairs or pairs))
    friction = sizes["friction"]
    if per_set:  # a block whose results do not depend on friction would own nothing beyond the first friction set
        friction = even(friction, max(1, longer * FRICTION_SAMPLES // (count * times)))
        friction = even(friction, max(1, BLOCK_BYTES // (per_set * count)))
    design = even(sizes["design"], count)
    trajectory = even(sizes["trajectory"], max(1, count // design))
    return {"design": design, "friction": friction, "trajectory": trajectory}
