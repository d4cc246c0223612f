"""Results of limbs and platform for the assembly of a block.

They are kept from the tasks that computed them, or computed strip by strip in one task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass
from tasks.blocks.block import Block
from tasks.blocks.memory import HostMemory
from tasks.blocks.motions import Motions, TrajectoryPart
from tasks.blocks.pool import Arrays, memory
from tasks.kernels.keys import Indexed, Values, empty_together
from tasks.kernels.program import Kernels
from tasks.stages import stages
from tasks.stages.stage import Rows, Stage

PASSING = frozenset({"joint_state"})
"""Outputs of limbs that only their reactions need: hundreds of numbers of a sample."""


def limb_arrays(block: Block, root: Motions, index: int) -> Arrays:
    """Compute limb `index` for all designs and trajectories.

    Arrays by output: (trajectory, design, component, time).
    """
    stage, values, samples = stages.limb(block.request, index), block.case_values(), len(block.times)
    shapes = block.kernel(stage.program).shapes(len(block.designs), samples)
    arrays = empty_together(((len(root), *shape) for shape in shapes.values()), memory, least=0)
    out = dict(zip(map(str, shapes), arrays, strict=True))
    once = OncePerInput(stage, values, len(block.designs))
    for j in range(len(root)):
        rows = {name: array[j] for name, array in out.items()}
        once.run(block.kernel, {**values, **root.values(j)}, samples, rows)
    return out


class OncePerInput:
    """Stage that runs once for all designs with equal inputs of the stage, such as equal limbs with other payloads.

    Kernels compute case by case, so results have the same bits as without sharing.
    """

    def __init__(self, stage: Stage, known: Values, designs: int) -> None:
        """Set up the stage. `known`: values of `designs` designs that are constant in time."""
        self._stage = stage
        first, place = distinct(_columns(stage, known), designs)
        sources = [stage.takes.get(name, name) for name in stage.program.sample]
        follows = any(isinstance(source.of if isinstance(source, Rows) else source, Indexed) for source in sources)
        self.apart = follows or len(first) == designs  # what other stages give differs from design to design
        self.alike = not follows and len(first) == 1
        self.changes = np.flatnonzero(np.diff(place)) + 1
        """Designs whose inputs differ from those of the design before."""

    def run(
        self,
        kernel: Kernels,
        values: Values,
        samples: int,
        out: Values,
        *,
        filled: bool = False,
    ) -> Values:
        """Run the stage once per distinct input, with results in `out` by the program's own names.

        `filled`: constants are in their places there.
        """
        if self.apart:
            return self._stage.run(kernel, values, samples, out, filled=filled)
        inputs, program = self._stage.inputs(values), self._stage.program
        first, place = self._different(inputs)
        if len(first) == len(place):
            return self._stage.run(kernel, values, samples, out, filled=filled)
        chosen = {name: array[first] if len(array) > 1 else array for name, array in inputs.items()}
        for name, computed in kernel(program)(chosen, samples).items():
            np.take(computed, place, axis=0, out=out[name], mode="clip")  # clip: without a buffer between
        return {self._stage.gives(name): array for name, array in out.items()}

    def _different(self, inputs: Values) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the distinct cases, and for each case the index of its equal among them."""
        program = self._stage.program
        count = max((len(array) for array in inputs.values()), default=1)
        everyone = np.arange(count)
        if count == 1 or any(len(inputs[name]) > 1 for name in program.sample):
            return everyone, everyone
        return distinct([inputs[name][:, places] for name, places in program.case_entries.items()], count)


def even_strips(changes: NDArray[np.intp], most: int) -> tuple[int, int]:
    """Return the length of a first strip and of all others, at most `most`, so that inputs change between strips alone.

    >>> even_strips(np.array([4, 10, 22]), 5)
    (1, 3)
    """
    even = int(np.gcd.reduce(np.diff(changes)))
    length = next(length for length in range(most, 0, -1) if even % length == 0)
    return int(changes[0]) % length, length


def distinct(columns: Sequence[NDArray[np.float64]], count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct cases of columns (case or 1, entry), and for each case the index of its equal among them."""
    everyone = np.arange(count)
    varying = [column for column in columns if len(column) > 1]
    if not varying:
        return everyone[:1], np.zeros_like(everyone)
    table = np.ascontiguousarray(np.concatenate(varying, axis=1))
    if any(_all_differ(column) for column in table.T if column[0] != column[1]):  # as of a sample
        return everyone, everyone
    rows = table.view(np.dtype((np.void, table.itemsize * table.shape[1]))).ravel()  # bits: NaN equals itself
    _, first, place = np.unique(rows, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[place.ravel()]


def _all_differ(column: NDArray[np.float64]) -> bool:
    """Return whether the numbers of a column all differ; NaN equals itself. `np.unique` would load masked arrays."""
    ordered = np.sort(column)
    return bool((ordered[1:] != ordered[:-1]).all()) and not np.isnan(ordered[-2:]).all()


def sharing(block: Block) -> NDArray[np.intp]:
    """Return an order of the designs of a block that puts equal limbs side by side, then equal platforms."""
    values = block.case_values()
    first, place = _limbs(block, values)
    if len(first) == len(block.designs):
        return first
    keys = [place]
    if not block.family.reference.is_chain:
        keys.append(distinct(_columns(stages.platform(block.request), values), len(block.designs))[1])
    return np.lexsort(keys[::-1])


def shares_limbs(block: Block) -> bool:
    """Return whether limbs are the same for all designs of a block."""
    return len(_limbs(block, block.case_values())[0]) == 1


def _limbs(block: Block, values: Values) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the designs with distinct limbs, and for each design the index of its equal among them."""
    steps = (stages.limb(block.request, k) for k in range(len(block.family.reference.instances)))
    return distinct([column for stage in steps for column in _columns(stage, values)], len(block.designs))


def _columns(stage: Stage, values: Values) -> list[NDArray[np.float64]]:
    """Return the entries that a stage uses of values constant in time (design or 1, entry).

    Values of motions are left out.
    """
    columns = []
    for key, places in stage.program.case_entries.items():
        source = stage.takes.get(key, key)
        if (source.of if isinstance(source, Rows) else source) in values:
            array = source.taken(values) if isinstance(source, Rows) else values[source]
            columns.append(array[:, places])
    return columns


class LimbShare(Protocol):
    """Stage results for later stages, one strip of designs on one trajectory at a time."""

    @property
    def kernels_alone(self) -> bool:
        """True if only kernels run, for all values."""

    def strip(self, kernel: Kernels, trajectory: int, designs: slice, values: Values) -> Values:
        """Return the results for a strip with the inputs `values`, valid until the next strip is requested."""


@dataclass(frozen=True)
class Precomputed:
    """Results of `limb_arrays`, computed in a separate task."""

    stage: Stage
    arrays: Mapping[str, NDArray[np.float64]]
    kernels_alone: bool = True

    def strip(self, kernel: Kernels, trajectory: int, designs: slice, values: Values) -> Values:
        """Return views of the arrays in memory."""
        return {self.stage.gives(name): array[trajectory, designs] for name, array in self.arrays.items()}


class OnDemand:
    """Stage results computed on demand, into the same memory for every strip; the first strip is the longest."""

    def __init__(self, stage: Stage, block: Block, known: Values) -> None:
        """Set up the stage. `known`: values of the block that are constant in time."""
        self._once = OncePerInput(stage, known, len(block.designs))
        self.program, self._kernel, self._samples = stage.program, block.kernel, len(block.times)
        self.allocate = HostMemory(block.kernel).allocate
        self._gives = stage.gives
        self.changes = self._once.changes
        self._once.apart |= len(self.changes) == len(block.designs) - 1  # in a strip none is beside its like
        self.once_a_strip = False
        """True if strips are cut so that all designs of each are alike."""
        self._buffers: Values = {}
        self._trajectory: int | None = None
        self._given: Values = {}

    @property
    def kernels_alone(self) -> bool:
        """True if all designs differ in the used inputs, or none does, or none of a strip."""
        return self._once.apart or self._once.alike or self.once_a_strip

    def strip(self, kernel: Kernels, trajectory: int, designs: slice, values: Values) -> Values:
        """Compute a strip, once per strip or trajectory for equal designs: their values over time are the same."""
        count = designs.stop - designs.start
        if not (self._once.alike or self.once_a_strip):
            return self._once.run(kernel, values, self._samples, self._rows(count), filled=True)
        if self.once_a_strip or self._trajectory != trajectory:
            first = {key: array[:1] for key, array in values.items()}
            at_work = kernel if self.once_a_strip else self._kernel
            self._given = self._once.run(at_work, first, self._samples, self._rows(1), filled=True)
            self._trajectory = trajectory
        return {key: np.broadcast_to(array, (count, *array.shape[1:])) for key, array in self._given.items()}

    def part(self, kernel: Kernels, trajectory: int, designs: slice, values: Values, part: TrajectoryPart) -> Values:
        """Compute a part of a strip; PASSING arrays stay where the part before had them."""
        if self._once.alike:
            return part.of(self.strip(kernel, trajectory, designs, values))
        rows = self._rows(designs.stop - designs.start)
        first = part._replace(start=0)
        passing, others = ({name: rows[name] for name in rows if (name in PASSING) == which} for which in (True, False))
        return self._once.run(kernel, part.of(values), part.samples, first.of(passing) | part.of(others), filled=True)

    def kept(self, designs: slice) -> Values:
        """Return the results that the parts of a strip leave for the whole trajectory: all but PASSING ones."""
        count = designs.stop - designs.start
        if self._once.alike:
            return {key: np.broadcast_to(array, (count, *array.shape[1:])) for key, array in self._given.items()}
        return {self._gives(name): array for name, array in self._rows(count).items() if name not in PASSING}

    def _rows(self, count: int) -> Values:
        """Return memory for the results of `count` designs; the first strip is the longest."""
        if not self._buffers:
            self._buffers = self.allocate(self.program, count, self._samples)
        return {name: array[:count] for name, array in self._buffers.items()}
