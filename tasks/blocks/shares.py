"""What limbs and the platform give to the assembly: kept from their tasks, or computed strip by strip in one task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tasks.blocks.block import Arrays, Block
from tasks.blocks.buffers import empty
from tasks.blocks.commanded import Motions
from tasks.kernels.kernel import empty_rows
from tasks.kernels.keys import Values
from tasks.programs import stages
from tasks.programs.stages import Stage


def limb_arrays(block: Block, root: Motions, index: int) -> Arrays:
    """What limb `index` gives for all designs and trajectories, by output: (trajectory, design, component, time)."""
    stage, values, samples = stages.limb(block.request, index), block.case_values(), len(block.times)
    shapes = block.kernel(stage.program).shapes(block.designs, samples)
    out = {str(name): empty_rows((len(root), *shape), empty) for name, shape in shapes.items()}
    for j in range(len(root)):
        rows = {name: array[j] for name, array in out.items()}
        stage.run(block.kernel, {**values, **root.values(j)}, samples, rows)
    return out


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
        self._stage, self._kernel, self._samples = stage, block.kernel, len(block.times)
        self._buffers = block.kernel(stage.program).allocate(most, self._samples)

    def strip(self, trajectory: int, designs: slice, values: Values) -> Values:
        """Compute a strip."""
        out = {name: array[: designs.stop - designs.start] for name, array in self._buffers.items()}
        return self._stage.run(self._kernel, values, self._samples, out)
