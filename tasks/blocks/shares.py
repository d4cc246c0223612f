"""What limbs and the platform give to the assembly: kept from their tasks, or computed strip by strip in one task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tasks.blocks.block import Arrays, Block
from tasks.blocks.buffers import empty
from tasks.blocks.commanded import Motions
from tasks.kernels.expression import CASE
from tasks.kernels.kernel import Kernel, empty_rows
from tasks.kernels.keys import Key, Values
from tasks.kernels.program import Program
from tasks.programs import stages
from tasks.programs.stages import Stage


def limb_arrays(block: Block, root: Motions, index: int) -> Arrays:
    """What limb `index` gives for all designs and trajectories, by output: (trajectory, design, component, time)."""
    stage, values, samples = stages.limb(block.request, index), block.case_values(), len(block.times)
    shapes = block.kernel(stage.program).shapes(block.designs, samples)
    out = {str(name): empty_rows((len(root), *shape), empty) for name, shape in shapes.items()}
    once = OncePerInput(stage)
    for j in range(len(root)):
        rows = {name: array[j] for name, array in out.items()}
        once.run(block.kernel, {**values, **root.values(j)}, samples, rows)
    return out


class OncePerInput:
    """Runs a stage once for all designs that differ in nothing that it uses, such as in a payload alone.

    Kernels compute case by case, so results have the same bits as without.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        entries: dict[Key, set[int]] = {}
        for node in stage.program.nodes:
            if node.op == CASE:
                entries.setdefault(node.data[0], set()).add(node.data[1])
        self._used = {key: sorted(places) for key, places in entries.items()}

    def run(self, kernel: Callable[[Program], Kernel], values: Values, samples: int, out: Values) -> Values:
        """What the stage gives, in `out` by the program's own names."""
        inputs, program = self._stage.inputs(values), self._stage.program
        first, place = self._different(inputs)
        if len(first) == len(place):
            return self._stage.run(kernel, values, samples, out)
        chosen = {name: array[first] if len(array) > 1 else array for name, array in inputs.items()}
        for name, computed in kernel(program)(chosen, samples).items():
            np.take(computed, place, axis=0, out=out[name], mode="clip")  # clip: without a buffer between
        return {self._stage.gives(name): array for name, array in out.items()}

    def _different(self, inputs: Values) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Cases of which each differs from all before it, and for each case the place of its equal among these."""
        program = self._stage.program
        count = max((len(array) for array in inputs.values()), default=1)
        everyone = np.arange(count)
        if count == 1 or any(len(inputs[name]) > 1 for name in program.sample):
            return everyone, everyone
        columns = [inputs[name][:, places] for name, places in self._used.items() if len(inputs[name]) > 1]
        if not columns:
            return everyone[:1], np.zeros_like(everyone)
        table = np.ascontiguousarray(np.concatenate(columns, axis=1))
        rows = table.view(np.dtype((np.void, table.itemsize * table.shape[1]))).ravel()  # bits: NaN equals itself
        _, first, place = np.unique(rows, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return first[order], rank[place.ravel()]


class Share(Protocol):
    """What a stage gives to those after it, a strip of designs on one trajectory at a time."""

    def strip(self, trajectory: int, designs: slice, values: Values) -> Values:
        """What it gives for a strip whose inputs are `values`, valid until the next strip is asked for."""


@dataclass(frozen=True)
class Precomputed:
    """What `limb_arrays` gave, in a task of its own."""

    stage: Stage
    arrays: Mapping[str, NDArray[np.float64]]

    def strip(self, trajectory: int, designs: slice, values: Values) -> Values:
        """Views of what there is."""
        return {self.stage.gives(name): array[trajectory, designs] for name, array in self.arrays.items()}


class OnDemand:
    """What a stage computes when it is asked, into the same memory for every strip of at most `most` designs."""

    def __init__(self, stage: Stage, block: Block, most: int) -> None:
        self._stage, self._kernel, self._samples = OncePerInput(stage), block.kernel, len(block.times)
        self._buffers = block.kernel(stage.program).allocate(most, self._samples)

    def strip(self, trajectory: int, designs: slice, values: Values) -> Values:
        """Compute a strip."""
        out = {name: array[: designs.stop - designs.start] for name, array in self._buffers.items()}
        return self._stage.run(self._kernel, values, self._samples, out)
