"""Reactions of the joints of one limb for a whole block, once the assembly knows what limbs are loaded with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robots.quantities import QUANTITIES, SPACE
from robots.status import Status
from tasks.blocks.block import Arrays, Block, time_first
from tasks.blocks.buffers import empty
from tasks.blocks.commanded import Motions
from tasks.kernels.keys import Indexed, Values
from tasks.programs import stages


def reactions(block: Block, root: Motions, loads: Values, index: int) -> Arrays:
    """Reaction wrenches of limb `index` and their peaks, (design, set, trajectory, ..., joint, ...); NaN if failed.

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


def _reaction_arrays(block: Block, sets: int, joints: int) -> Arrays:
    lead = (block.designs, sets, len(block.trajectories))
    series = {name: (*lead, len(block.times), joints, *_after(name)) for name in block.request.reactions}
    shapes = series | {"peak_reaction": (*lead, joints)}
    return {name: empty(shapes[name]) for name in block.request.reactions}


def _after(name: str) -> tuple[int, ...]:
    """Lengths of the dims of a quantity after that of joints."""
    dims = QUANTITIES[name].dims
    return tuple(SPACE[dim] for dim in dims[dims.index("joint") + 1 :])


def gathered(limbs: Sequence[Arrays]) -> Arrays:
    """Reactions of all limbs in the dims of the dataset; NaN where a limb has fewer joints than another."""
    result: Arrays = {}
    for name, first in limbs[0].items() if limbs else ():
        axis = first.ndim - 1 - len(_after(name))
        most = max(limb[name].shape[axis] for limb in limbs)
        whole = empty((*first.shape[:axis], len(limbs), most, *first.shape[axis + 1 :]))
        whole[...] = np.nan
        for k, limb in enumerate(limbs):
            by_joint = np.moveaxis(limb[name], axis, 0)
            np.moveaxis(whole, (axis, axis + 1), (0, 1))[k, : len(by_joint)] = by_joint
        result[name] = whole
    return result
