"""What limbs and the platform give to the assembly: kept from their tasks, or computed strip by strip in one task.

A `Part` is a limb or the platform with all its kernel needs for a block. As a task it fills arrays for the whole block;
in a block that is one task it fills a strip of designs at a time, which stays in the cache until the assembly is done
with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tasks.blocks.block import Arrays, Block
from tasks.blocks.buffers import empty
from tasks.blocks.commanded import Motions
from tasks.kernels.kernel import Kernel, empty_rows
from tasks.mechanics.structure import mount_values, structure_of
from tasks.programs import coupled_friction
from tasks.programs.limb import limb_program
from tasks.programs.platform import platform_program


@dataclass(frozen=True)
class Part:
    """A limb or the platform of a block: its kernel, and the inputs that depend on the design or on nothing."""

    run: Kernel
    inputs: Arrays

    def fill(self, block: Block, root: Motions, trajectory: int, designs: slice, out: Mapping[str, np.ndarray]) -> None:
        """Compute some designs on one trajectory."""
        given = {name: value[designs] if len(value) > 1 else value for name, value in self.inputs.items()}
        self.run({**given, "motion": root.motion[trajectory][None]}, len(block.times), out)

    def all(self, block: Block, root: Motions) -> Arrays:
        """All designs and trajectories, (trajectory, design, component, padded time)."""
        samples, lead = len(block.times), len(block.trajectories)
        shapes = self.run.shapes(block.designs, samples)
        out = {name: empty_rows((lead, *shape), empty) for name, shape in shapes.items()}
        for j in range(lead):
            self.fill(block, root, j, slice(None), {name: array[j] for name, array in out.items()})
        return out


def limb_part(block: Block, index: int) -> Part:
    """Limb `index`: inverse kinematics and dynamics."""
    instance = structure_of(block.family).mechanism.instances[index]
    wanted = (block.limb_series, bool(block.reactions), block.limb_friction[index])
    run = block.kernel(limb_program(block.family, instance.limb, *wanted, **block.limb_shares(index)))
    own = {"mount": mount_values(block.family, block.values())[index], "limits": block.limb_limits[index][1]}
    return Part(run, block.case_inputs() | own)


def platform_part(block: Block) -> Part | None:
    """The platform: the wrench that its own motion takes. None for a chain."""
    if block.family.reference.is_chain:
        return None
    statics = bool(block.reactions) or coupled_friction.statics(block.limb_friction)
    return Part(block.kernel(platform_program(block.family, statics, **block.shares)), block.case_inputs())


class Share(Protocol):
    """What a limb or the platform gives to the assembly."""

    def of(self, trajectory: int, designs: slice) -> Arrays:
        """Arrays (design, component, padded time) of a strip, valid until the next is asked for."""


@dataclass(frozen=True)
class Kept:
    """What `Part.all` gave, in a task of its own."""

    arrays: Arrays

    def of(self, trajectory: int, designs: slice) -> Arrays:
        """Views of a strip."""
        return {name: array[trajectory, designs] for name, array in self.arrays.items()}


class Computed:
    """What a part computes when it is asked, into the same memory for every strip of at most `most` designs."""

    def __init__(self, part: Part, block: Block, root: Motions, most: int) -> None:
        self._part, self._block, self._root = part, block, root
        self._buffers = part.run.allocate(most, len(block.times))

    def of(self, trajectory: int, designs: slice) -> Arrays:
        """Compute a strip."""
        out = {name: array[: designs.stop - designs.start] for name, array in self._buffers.items()}
        self._part.fill(self._block, self._root, trajectory, designs, out)
        return out
