"""Reactions of the joints of one limb for a whole block, after the assembly has found the load on each limb."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robots.quantities import QUANTITIES
from robots.status import Status
from tasks.blocks.block import Block
from tasks.blocks.memory import HostMemory
from tasks.blocks.motions import Motions, TrajectoryPart
from tasks.blocks.pool import Arrays, empty, time_first
from tasks.blocks.series import after_joints, gathered
from tasks.kernels.keys import Indexed, Values
from tasks.kernels.program import Kernels
from tasks.stages import stages


def reactions(block: Block, root: Motions, loads: Values, index: int) -> Arrays:
    """Return reaction wrenches of limb `index` and peaks, (design, set, trajectory, ..., joint, ...); NaN if failed.

    Without friction in passive joints there is no axis of sets.
    """
    request, values, samples = block.request, block.case_values(), len(block.times)
    stage = stages.reactions(request, index)
    instance = block.family.reference.instances[index]
    sets = len(loads["status"])
    out = _reaction_arrays(block, sets, len(block.family.reference.limbs[instance.limb].joints))
    for f, j in np.ndindex(sets, len(root)):
        values |= root.values(j) | {key: array[f if len(array) > 1 else 0, j] for key, array in loads.items()}
        results = stage.run(block.kernel, values, samples)
        failed = loads["status"][f, j][:, 0, :samples] != Status.OK
        for name in (name for name in out if QUANTITIES[name].kind == "series"):
            rows = time_first(results[Indexed(name, index)], samples)
            out[name][:, f, j] = rows.reshape(out[name][:, f, j].shape)
            out[name][:, f, j][failed] = np.nan
        if "peak_reaction" in out:
            out["peak_reaction"][:, f, j] = results[Indexed("peak_reaction", index)]
            out["peak_reaction"][:, f, j][failed.any(axis=1)] = np.nan
    # friction of actuators alone changes no reaction: then there is no axis of sets
    return out if any(request.passive) else {name: array[:, 0] for name, array in out.items()}


class PeakReactions:
    """Peaks of the reactions of all limbs, strip by strip of the assembly, if only peaks of reactions are requested.

    Intermediate results of limbs, balance and reactions then stay in the cache, and no loads of a block are kept.
    """

    def __init__(self, block: Block, memory: HostMemory, most: int, parts: Sequence[TrajectoryPart]) -> None:
        """Set up the kernels. `most`: designs of the longest strip; `parts` of trajectories, one or more."""
        mechanism, self.parts = block.family.reference, parts
        self._balance = stages.balance(block.request)
        self._stages = [stages.reactions(block.request, k) for k in range(len(mechanism.instances))]
        self._memory, self._buffers = memory, memory.allocate(self._balance.program, most, parts[0].samples)
        lead = (len(block.designs), len(block.trajectories), len(parts))
        joints = (len(mechanism.limbs[instance.limb].joints) for instance in mechanism.instances)
        self._peaks = [empty((*lead, count)) for count in joints]
        memory.place(self._peaks)

    @staticmethod
    def suffice(block: Block) -> bool:
        """Return whether peaks are the only requested reactions, of a block that reports failed cases."""
        return block.request.peaks_alone and "failed_samples" in block.request.of("assembly")

    def strip(self, kernel: Kernels, j: int, designs: slice, values: Values, number: int = 0) -> None:
        """Compute the peak reactions for a part of a strip of designs on trajectory j.

        The inputs are the `values` of the stages before.
        """
        part, count = self.parts[number]._replace(start=0), designs.stop - designs.start
        out = part.of({name: array[:count] for name, array in self._buffers.items()})
        values = {**values, **self._balance.run(kernel, values, part.samples, out, filled=True)}
        for stage, peaks in zip(self._stages, self._peaks, strict=True):
            stage.run(kernel, values, part.samples, {"peak_reaction": peaks[designs, j, number]})

    def arrays(self, failed: NDArray[np.bool_]) -> Arrays:
        """Return the peak reactions in the dims of the dataset; NaN where `failed` (design, trajectory)."""
        self._memory.fetch(self._peaks)
        whole = [peaks.max(axis=2) for peaks in self._peaks]
        for peaks in whole:
            peaks[failed] = np.nan
        return gathered([{"peak_reaction": peaks} for peaks in whole])


def _reaction_arrays(block: Block, sets: int, joints: int) -> Arrays:
    lead = (len(block.designs), sets, len(block.trajectories))
    series = {name: (*lead, len(block.times), joints, *after_joints(name)) for name in block.request.reactions}
    shapes = series | {"peak_reaction": (*lead, joints)}
    return {name: empty(shapes[name]) for name in block.request.reactions}
