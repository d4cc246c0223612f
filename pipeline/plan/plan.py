"""From a sweep to its plan: blocks, what each holds, how much is stored, what a task needs in memory.

A plan depends on the sweep alone, never on the cluster, so that a run can be resumed on another one. Blocks are made on
demand; a plan of a million blocks is as small as a plan of one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pipeline.plan.memory import Memory, extra_series, pair_bytes, steady_quantities, stored_quantities
from pipeline.plan.model import (
    ALWAYS,
    BLOCK_BYTES,
    BLOCK_MEMORY,
    BLOCK_TARGET,
    Plan,
    even,
    require_at_most,
    require_files,
)
from pipeline.plan.simulated import plan_simulations
from pipeline.sweep.model import Sweep
from robots.model import Mechanism
from robots.quantities import PLACED, QUANTITIES, SPACE, Quantity, mechanism_sizes, selected_dims
from robots.quantities import names as quantity_names
from storage.layout import Layout

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


def plan(sweep: Sweep) -> Plan:
    """The plan of a sweep. Raises InputError where one trajectory of one design is too much for a block.

    >>> ls.plan(ls.Sweep.from_yaml("sweep.yaml")).samples
    16533
    """
    sweep = Sweep.checked(sweep)
    if sweep.simulation is not None:
        return plan_simulations(sweep)
    mechanism = sweep.family.assemble(sweep.parameters)
    user_metrics = tuple(metric.variable for metric in sweep.user_metrics)
    variables = (*stored_quantities(sweep), *(row.name for row in user_metrics))
    computed = (*variables, *extra_series(sweep))
    steady = steady_quantities(sweep, computed)
    known = {**QUANTITIES, **{row.name: row for row in user_metrics}}
    rows = tuple(known[name] for name in computed)
    selection = sweep.selection
    stored = [replace(row, dims=selected_dims(row.dims)) if row.name in selection.series else row for row in rows]
    whole = sweep.sizes | mechanism_sizes(mechanism) | SPACE
    sizes = sweep.sizes | _sizes(mechanism, stored)
    used = {dim for row in stored for dim in row.dims}
    sizes |= {name: len(selection.of(dim)) for dim, name in PLACED.items() if name in used}
    per_set, shared = (pair_bytes(whole, rows, steady, per_set=by_set) for by_set in (True, False))
    require_at_most(BLOCK_BYTES, per_set + shared, "results", sweep)
    memory = Memory(sweep, computed)
    here = tuple(name for name in steady if name in variables)
    most = PATHS if {*quantity_names("path")} & {*sweep.metrics} else None
    block = _block(sizes, per_set, shared, memory.pair(sizes["time"]), most=most)
    chosen = tuple(name for name in variables if name in selection.series)
    made = Plan(sweep, Layout(sizes, block, variables, here, user_metrics, selected=chosen))
    require_at_most(BLOCK_MEMORY, made.block_memory, "memory", sweep)
    made = _lengthened(made, lambda times: _block(sizes, per_set, shared, memory.design, times, most=most))
    require_files(made)
    return made


def _lengthened(made: Plan, block: Callable[[int], dict[str, int]]) -> Plan:
    """The plan with longer blocks where it has too many; `block`: lengths of blocks of so many times the samples."""
    longer, times = made, 1
    while longer.blocks > MOST_BLOCKS and longer.block_memory <= BLOCK_MEMORY and times < MOST_BLOCKS:
        made, times = longer, 2 * times
        longer = replace(made, layout=replace(made.layout, block=block(times)))
    return longer if longer.block_memory <= BLOCK_MEMORY else made


def _sizes(mechanism: Mechanism, rows: Sequence[Quantity]) -> dict[str, int]:
    """Lengths of the dims of a robot and of space."""
    used = {dim for row in rows for dim in row.dims}
    sizes = mechanism_sizes(mechanism) | SPACE
    return {dim: length for dim, length in sizes.items() if dim in used or dim in ALWAYS}


def _block(
    sizes: Mapping[str, int], per_set: int, shared: int, handed_on: int, longer: int = 1, *, most: int | None = None
) -> dict[str, int]:
    """Lengths of a block; a pair is a design on a trajectory, and stores `per_set` bytes for each friction set.

    `most`: pairs that it may have. `longer`: by how much blocks may have more samples than usual.
    """
    times, pairs = sizes["time"], sizes["design"] * sizes["trajectory"]
    wanted = max(SMALL_BLOCK, min(longer * BLOCK_SAMPLES, pairs * times // WANTED_BLOCKS))
    fitting = min(BLOCK_BYTES // (per_set + shared), BLOCK_TARGET // (per_set + shared + handed_on))
    count = max(1, min(wanted // times, fitting, pairs if most is None else min(pairs, most)))
    friction = sizes["friction"]
    if per_set:  # a block whose results do not depend on friction would own nothing beyond the first friction set
        friction = even(friction, max(1, longer * FRICTION_SAMPLES // (count * times)))
        friction = even(friction, max(1, BLOCK_BYTES // (per_set * count)))
    design = even(sizes["design"], count)
    trajectory = even(sizes["trajectory"], max(1, count // design))
    return {"design": design, "friction": friction, "trajectory": trajectory}
