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
from tasks.kernels.time_first import fill
from tasks.stages import stages
from tasks.stages.stage import Stage


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


class StripReactions:
    """Reactions of all limbs, strip by strip of the assembly, in a single task for a block.

    Intermediate results of limbs, balance and reactions then stay in the cache, and no loads of a block are kept.
    """

    def __init__(self, block: Block, memory: HostMemory, most: int, parts: Sequence[TrajectoryPart]) -> None:
        """Set up the kernels. `most`: designs of the longest strip; `parts` of trajectories, one or more."""
        request, mechanism, self.parts = block.request, block.family.reference, parts
        self._balance = stages.balance(request)
        self._stages = [stages.reactions(request, k) for k in range(len(mechanism.instances))]
        self._memory, samples = memory, parts[0].samples
        programs = {id(stage.program): stage.program for stage in (self._balance, *self._stages)}
        self._buffers = {key: memory.allocate(program, most, samples) for key, program in programs.items()}
        self._by_set = any(request.passive)
        sets = len(block.friction) if self._by_set else 1
        self._joints = [len(mechanism.limbs[instance.limb].joints) for instance in mechanism.instances]
        lead = (len(block.designs), sets, len(block.trajectories))
        self._series = {
            name: empty((*lead, len(block.times), len(self._joints), max(self._joints), *after_joints(name)))
            for name in request.reactions
            if QUANTITIES[name].kind == "series"
        }
        for array in self._series.values() if min(self._joints) < max(self._joints) else ():
            array[...] = np.nan
        peaks = "peak_reaction" in request.reactions
        self._peaks = [empty((*lead, len(parts), count)) for count in self._joints] if peaks else []
        memory.place(self._peaks)

    @staticmethod
    def suffice(block: Block) -> bool:
        """Return whether a block asks for reactions, and reports failed cases as its reactions have them."""
        request = block.request
        reported = request.of("assembly") + (request.of("actuation") if any(request.passive) else ())
        return bool(request.reactions) and "failed_samples" in reported

    def strip(self, kernel: Kernels, j: int, designs: slice, values: Values, *, number: int = 0, f: int = 0) -> None:
        """Compute the reactions for a part of a strip of designs on trajectory j, under friction set f.

        The inputs are the `values` of the stages before.
        """
        part, count = self.parts[number], designs.stop - designs.start
        times = slice(part.start, part.start + part.samples)
        values = {**values, **self._balance.run(kernel, values, part.samples, self._rows(self._balance, part, count))}
        for k, (stage, joints) in enumerate(zip(self._stages, self._joints, strict=True)):
            rows = self._rows(stage, part, count)
            if self._peaks:
                rows["peak_reaction"] = self._peaks[k][designs, f, j, number]
            results = stage.run(kernel, values, part.samples, rows)
            self._memory.fetch([results[Indexed(name, k)] for name in self._series])
            for name, array in self._series.items():
                place = array[designs, f, j, times, k, :joints]
                fill(kernel, place, results[Indexed(name, k)], part.samples, values["status"])

    def _rows(self, stage: Stage, part: TrajectoryPart, count: int) -> Values:
        """Return memory for the results of a stage."""
        buffers = self._buffers[id(stage.program)]
        return part._replace(start=0).of({name: array[:count] for name, array in buffers.items()})

    def arrays(self, failed: NDArray[np.bool_]) -> Arrays:
        """Return the reactions in the dims of the dataset; peaks are NaN where `failed` (design, set or 1, trajectory).

        Without friction in passive joints there is no axis of sets.
        """
        self._memory.fetch(self._peaks)
        whole = [peaks.max(axis=3) for peaks in self._peaks]
        for peaks in whole:
            peaks[np.broadcast_to(failed, peaks.shape[:3])] = np.nan
        arrays = self._series | gathered([{"peak_reaction": peaks} for peaks in whole])
        return arrays if self._by_set else {name: array[:, 0] for name, array in arrays.items()}


def _reaction_arrays(block: Block, sets: int, joints: int) -> Arrays:
    lead = (len(block.designs), sets, len(block.trajectories))
    series = {name: (*lead, len(block.times), joints, *after_joints(name)) for name in block.request.reactions}
    shapes = series | {"peak_reaction": (*lead, joints)}
    return {name: empty(shapes[name]) for name in block.request.reactions}
