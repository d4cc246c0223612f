"""The bodies of the Dask tasks of one block: each limb, the platform, the assembly, the reactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tasks import programs
from tasks.blocks import measured
from tasks.blocks.assembly import Assembled, assemble
from tasks.blocks.block import Arrays, Block
from tasks.blocks.buffers import empty
from tasks.blocks.motion import Motions, motions, platform_series
from tasks.blocks.reactions import gathered, reactions
from tasks.friction import coupled as coupled_friction
from tasks.kernels.cache import kernel
from tasks.kernels.kernel import padded

__all__ = ["assembled", "gathered", "limb", "motions", "platform", "reactions", "whole"]


def limb(block: Block, root: Motions, index: int) -> Arrays:
    """Inverse kinematics and dynamics of limb `index` for all designs and trajectories of a block."""
    instance = programs.structure(block.family).mechanism.instances[index]
    asked = block.limb_friction[index]
    wanted = (block.limb_series, bool(block.reactions), asked)
    run = kernel(programs.limb_program(block.family, instance.limb, *wanted, **block.shares))
    mount = programs.mount_values(block.family, block.values())[index]
    return _for_each_trajectory(block, root, run, {**block.case_inputs(), "mount": mount})


def platform(block: Block, root: Motions) -> Arrays:
    """The wrench that the platform's own motion takes."""
    statics = bool(block.reactions) or coupled_friction.statics(block.limb_friction)
    run = kernel(programs.platform_program(block.family, statics, **block.shares))
    return _for_each_trajectory(block, root, run, block.case_inputs())


def _for_each_trajectory(block: Block, root: Motions, run: Any, inputs: Arrays) -> Arrays:
    samples = len(block.times)
    out = {
        name: empty((len(block.trajectories), block.designs, len(nodes), padded(samples)))
        for name, (_, nodes) in run.program.outputs.items()
    }
    for j, motion in enumerate(root.motion):
        run({**inputs, "motion": motion[None]}, samples, {name: array[j] for name, array in out.items()})
    return out


def assembled(block: Block, root: Motions, own: Arrays, limbs: Sequence[Arrays]) -> Assembled:
    """As `assemble`, with the platform's motion."""
    made = assemble(block.with_clean, root, own, limbs)
    arrays = made.arrays | platform_series(block, root)
    if block.measurement is not None:
        arrays |= measured.series(block.measurement, block.series, block.times, arrays)
    return Assembled({name: each for name, each in arrays.items() if name in block.variables}, made.loads)


def whole(block: Block) -> Arrays:
    """All variables of a block, in the dims of the dataset: what its tasks compute, one after another."""
    root = motions(block)
    mechanism = block.family.reference
    limbs = range(len(mechanism.instances))
    own = {} if mechanism.is_chain else platform(block, root)
    made = assembled(block, root, own, [limb(block, root, k) for k in limbs])
    reacting = [reactions(block, root, made.loads, k) for k in limbs] if block.reactions else []
    return made.arrays | gathered(reacting)
