"""The stages of a block after its limbs: platform, assembly, actuation with friction, the balance before reactions.

Blocks of prescribed motions are computed as a whole here, or with limbs that are tasks of their own.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass, replace
from robots.devices import CPU
from robots.dims import FRICTION
from robots.quantities import QUANTITIES
from robots.status import Status
from tasks.blocks import friction_history, measured
from tasks.blocks.block import Block, motions
from tasks.blocks.designs import BlockDesigns
from tasks.blocks.friction_history import normal_loads
from tasks.blocks.limb_results import LimbShare, OnDemand, Precomputed, even_strips, sharing
from tasks.blocks.linear import Linear
from tasks.blocks.memory import CardMemory, HostMemory
from tasks.blocks.motions import Motions, parts
from tasks.blocks.pool import Arrays, empty
from tasks.blocks.reactions import StripReactions, reactions
from tasks.blocks.series import absent_joints, fill_friction, fill_series, gathered, platform_series
from tasks.features.friction.feature import LOAD_PART
from tasks.features.friction.joints import LOAD_PARTS
from tasks.kernels import strips
from tasks.kernels.advance import tell
from tasks.kernels.kernel import has_compiler, padded
from tasks.kernels.keys import Indexed, Key, Values
from tasks.kernels.program import Kernels
from tasks.kernels.time_first import fill
from tasks.sources.commanded import volume_of
from tasks.stages import stages
from tasks.stages.metrics import actuators, poses
from tasks.stages.parts import OUTCOME

SHORT = 1 << 13
"""Samples of a strip when only kernels run; short strips stay in the nearest cache."""

MANY_ROWS = 1 << 10
"""The same with reactions, which take hundreds of numbers of a sample from limbs."""

PER_CASE = ("design", FRICTION, "trajectory")


@dataclass(frozen=True)
class Assembled:
    """Variables of a block in the dims of the dataset, and inputs of the limbs for the stage of reactions.

    loads (set, trajectory, design, component, padded time), by key among the values of stages: `status`, the forces
    that joints feel, `redundant` of each limb, and with friction of passive joints `passive_friction` of each limb.
    Without that friction, all have one set. Motions of limbs, which do not depend on friction, always have one set.
    """

    arrays: Arrays
    loads: Values


class Assembly:
    """Computation of a block by trajectory and strip of designs; a strip's intermediate results stay in the cache.

    `limbs` are results of limbs that separate tasks have computed; without them limbs are computed here, strip by
    strip.
    """

    STRIP = stages.STRIP

    def __init__(self, block: Block, root: Motions, limbs: Sequence[Arrays] | None = None):
        self.block, self.root, self.request = block, root, block.request
        self.samples, self.width = len(block.times), padded(len(block.times))
        held = np.zeros((1, 0, self.width))  # a platform gives its own
        self.values = block.case_values() | {"weight": self._weights(), "held": held}
        at_once = limbs is None and StripReactions.suffice(block)
        self.shares = list(self._shares(limbs))
        self.memory = self._memory(at_once)
        self.computed = [share for share in self.shares if isinstance(share, OnDemand)]
        for share in self.computed:
            share.allocate = self.memory.allocate
        self.assembly = stages.assembly(self.request)
        self.actuation = stages.actuation(self.request) if self.request.actuation else None
        self.balance = stages.balance(self.request) if self.request.reactions and not at_once else None
        self.linear: Linear | None = None
        if self.request.of("linear"):
            loads = [trajectory.load for trajectory in block.trajectories]
            self.linear = Linear(self.request, block.kernel, loads, len(block.times))
        self.sets = max(1, self.STRIP // self.width)
        self.offset = 0
        """Designs of a first strip that is shorter than others."""
        self.step = self._step(MANY_ROWS if at_once else SHORT)
        self.reactions = self._strip_reactions() if at_once else None
        self.case_metrics = tuple(name for name in self.request.of("assembly") if QUANTITIES[name].reduction)
        self.loads_by_set = self.balance is not None and any(self.request.passive)
        self.scratch: Values = {}
        self.out = self._allocate()
        self.loads = self._allocate_loads()

    def _memory(self, at_once: bool) -> HostMemory:
        """Return the memory of intermediate results: the card's, where only kernels need them."""
        others = self.request.of("linear") or any(group.remembers for group in self.block.groups)
        kept = self.request.reactions and not (at_once and self.request.peaks_alone)
        if self.block.device == CPU or others or kept or not all(share.kernels_alone for share in self.shares):
            return HostMemory(self.block.kernel)
        return CardMemory(self.block.kernel)

    def _step(self, samples: int) -> int:
        """Return the number of designs of a strip; short strips have at most `samples` samples.

        Where designs share limbs, short strips are cut so that all designs of a strip share the same ones.
        """
        if isinstance(self.memory, CardMemory):
            following = [self.assembly, *filter(None, (self.actuation, self.balance))]
            programs = [*(share.program for share in self.computed), *(stage.program for stage in following)]
            return self.memory.designs(programs, self.samples, fetched=self._stores)
        step = max(1, min(self.STRIP, samples) // self.width)
        if sharers := [share for share in self.computed if not share.kernels_alone]:
            self.offset, step = even_strips(np.unique(np.concatenate([share.changes for share in sharers])), step)
        for share in sharers:
            share.once_a_strip = step > 1
        if self._kernels_alone and len(self.block.designs) - self.offset >= strips.FEWEST * step:
            return step
        for share in sharers:
            share.once_a_strip = False
        self.offset = 0
        return max(1, self.STRIP // self.width)

    def _strip_reactions(self) -> StripReactions:
        """Return the reactions, computed in parts of long trajectories that fit into the cache.

        Friction in passive joints is found for whole trajectories, and so is a status that lasts.
        """
        whole = self.memory.on_card or any(self.request.passive) or any(group.remembers for group in self.block.groups)
        most = self.samples if whole or self.samples <= 2 * MANY_ROWS else MANY_ROWS
        count = min(self.step, len(self.block.designs))
        return StripReactions(self.block, self.memory, count, parts(self.samples, most))

    def _weights(self) -> np.ndarray:
        """Return the weights of the samples in integrals over time (1, 1, padded time)."""
        weights = np.zeros((1, 1, self.width))
        weights[0, 0, : self.samples] = actuators.trapezoid_weights(self.block.times)
        return weights

    def _shares(self, limbs: Sequence[Arrays] | None) -> Iterator[LimbShare]:
        """Yield the shares before the assembly: the limbs, and the platform of a robot that has one."""
        mechanism = self.block.family.reference
        for k in range(len(mechanism.instances)):
            stage = stages.limb(self.request, k)
            yield OnDemand(stage, self.block, self.values) if limbs is None else Precomputed(stage, limbs[k])
        if not mechanism.is_chain:
            yield OnDemand(stages.platform(self.request), self.block, self.values)

    def _allocate(self) -> Arrays:
        """Allocate memory for all variables except reactions and the platform's own motion.

        Variables of the stage `actuation` have an axis of friction sets here, even if friction does not change them.
        """
        out: Arrays = {}
        for name in (*self.request.of("limb"), *self.request.of("assembly"), *self.request.of("linear")):
            dtype = np.float64 if QUANTITIES[name].reduction else QUANTITIES[name].dtype
            out[name] = empty(self.block.shape(self.block.dims(name)), dtype)
            if "limb" in self.block.dims(name) and len(self.block.family.reference.limbs) > 1:
                out[name][...] = np.nan  # where a limb has fewer joints or links than another
        for name in self.request.of("actuation"):
            dims = QUANTITIES[name].dims
            after = self.block.shape([dim for dim in dims if dim not in PER_CASE])
            if name in actuators.METRICS:
                after = (after[0] * actuators.METRICS[name].parts,)
            dtype = np.float64 if QUANTITIES[name].reduction else QUANTITIES[name].dtype
            out[name] = empty((*self.block.shape(PER_CASE), *after), dtype)
        for name in self.request.of("actuation", "series"):
            dims = QUANTITIES[name].dims
            if "joint" in dims:
                after = (1,) * (len(dims) - 1 - dims.index("joint"))
                still = absent_joints(self.block.family.reference)
                out[name][...] = still.reshape(*still.shape, *after)
        return out

    def _allocate_loads(self) -> Values:
        if self.balance is None:
            return {}
        loads = {"status": (1,), self.request.force: (len(self.block.family.reference.actuators),)}
        shapes: dict[Key, tuple[int, ...]] = loads | dict(self.balance.shapes)
        for k, joints in enumerate(self.request.passive):
            shapes |= {Indexed("passive_friction", k): (len(joints),)} if joints else {}
        sets = len(self.block.friction) if self.loads_by_set else 1
        lead = (len(self.block.trajectories), len(self.block.designs))
        known = self.request.known
        return {
            key: empty((1 if key in known else sets, *lead, shape[0], self.width))
            for key, shape in {**shapes, **known}.items()
        }

    def run(self) -> Assembled:
        """Compute all strips."""
        try:
            return self._run()
        finally:
            self.memory.close()

    def _run(self) -> Assembled:
        block = self.block
        most = max(min(self.step, len(block.designs)), min(self.sets, len(block.friction)))
        buffers = self.memory.allocate(self.assembly.program, min(self.step, len(block.designs)), self.samples)
        series = self.memory.allocate(self.actuation.program, most, self.samples) if self.actuation else {}
        metrics = [self.out[name] for name in (*self.case_metrics, *self.request.actuation.metrics)]
        self.memory.send([*self.values.values(), block.friction])
        self.memory.place(metrics)
        first, rest = int(self.offset > 0), len(block.designs) - self.offset
        full = rest // self.step
        in_one_call = full if full >= strips.FEWEST and self._kernels_alone and not self.memory.on_card else 0
        per_motion = first - (-rest // self.step)
        singles = [k for k in range(-first, per_motion - first) if not 0 <= k < in_one_call]
        for j in range(len(block.trajectories)):
            motion = self.root.values(j)
            self.memory.send(motion.values())
            strip = functools.partial(self._strip, j, motion, buffers, series)
            if in_one_call:
                strips.run(strip, block.kernel, in_one_call)
            for k in singles:
                tell(j * per_motion + first + k, len(block.trajectories) * per_motion)
                strip(block.kernel, k)
        self.memory.fetch(metrics)
        reacting: Arrays = {}
        if self.reactions is not None:
            failed = self.out["failed_samples"] > 0
            by_set = "failed_samples" in self.request.of("actuation")
            reacting = self.reactions.arrays(failed if by_set else failed[:, None])
        return Assembled(self._finished() | reacting, self.loads)

    @property
    def _kernels_alone(self) -> bool:
        """Return whether only machine code works on a strip: metrics and series, designs that differ in all limbs."""
        others = self.linear or self.balance or any(group.remembers for group in self.block.groups)
        return has_compiler() and not others and all(share.kernels_alone for share in self.shares)

    @property
    def _stores(self) -> bool:
        """Return whether some series are stored."""
        wanted = [name for stage in ("limb", "assembly", "actuation") for name in self.request.of(stage)]
        return any(not QUANTITIES[name].reduction for name in wanted)

    def _strip(self, j: int, motion: Values, buffers: Values, series: Values, kernel: Kernels, k: int) -> None:
        """Compute strip `k` of trajectory `j`, which gives `motion`; a shorter first one has the number -1."""
        start = self.offset + k * self.step
        designs = slice(max(0, start), min(start + self.step, len(self.block.designs)))
        values = {key: array[designs] if len(array) > 1 else array for key, array in self.values.items()}
        values |= motion
        if self.reactions is not None and len(self.reactions.parts) > 1:
            values |= self._in_parts(self.reactions, kernel, j, designs, values)
        else:
            for share in self.shares:
                values |= share.strip(kernel, j, designs, values)
        out = {name: array[: designs.stop - designs.start] for name, array in buffers.items()}
        out |= {name: self.out[name][designs, j, None] for name in self.case_metrics}
        values |= self.assembly.run(kernel, values, self.samples, out)
        if any(group.remembers for group in self.block.groups):
            values["status"] = friction_history.lasting(values["status"])
            if "failed_samples" in self.case_metrics:
                failed = values["status"][:, 0, : self.samples] != Status.OK
                self.out["failed_samples"][designs, j] = failed.sum(axis=-1)
        self._store_series(kernel, j, designs, values)
        if self.linear is not None:
            self._store_linear(j, designs, values)
        if self.balance:
            for key in self.request.known:
                self.loads[key][0, j, designs] = values[key]
            if not self.loads_by_set:
                self._keep_loads(0, j, designs, values)
        if self.reactions is not None and len(self.reactions.parts) == 1 and not any(self.request.passive):
            self.reactions.strip(kernel, j, designs, values)
        if self.actuation is not None:
            self._friction(kernel, j, designs, values, series)

    def _in_parts(self, reacting: StripReactions, kernel: Kernels, j: int, designs: slice, values: Values) -> Values:
        """Compute the reactions on trajectory j part by part; return the limb results for the whole of it.

        The assembly runs for each part, for the forces, and once more for the whole, for metrics over it.
        """
        if not self.scratch:
            most = min(self.step, len(self.block.designs))
            self.scratch = self.memory.allocate(self.assembly.program, most, reacting.parts[0].samples)
        shares = self.computed  # all: limbs are no tasks here
        for number, part in enumerate(reacting.parts):
            inside = part.of(values)
            for share in shares:
                inside |= share.part(kernel, j, designs, values, part)
            out = part._replace(start=0).of(
                {name: a[: designs.stop - designs.start] for name, a in self.scratch.items()}
            )
            inside |= self.assembly.run(kernel, inside, part.samples, out)
            reacting.strip(kernel, j, designs, inside, number=number)
        return {key: array for share in shares for key, array in share.kept(designs).items()}

    def _keep_loads(self, f: int, j: int, designs: slice, values: Values) -> None:
        """Store the inputs of a strip's reactions: forces, status, friction, results of the platform's balance."""
        assert self.balance is not None
        loads = {key: array[f, j, designs] for key, array in self.loads.items() if key not in self.request.known}
        for key in loads.keys() - self.balance.shapes.keys():
            loads[key][...] = values[key]
        out = {key: loads[key] for key in self.balance.shapes}
        self.balance.run(self.block.kernel, {**values, **loads}, self.samples, out)

    def _friction(self, kernel: Kernels, j: int, designs: slice, values: Values, series: Values) -> None:
        """Compute everything of a strip that depends on friction: set by set; for a single design many sets at once."""
        assert self.actuation is not None
        count, remembers = designs.stop - designs.start, "history" in self.actuation.program.sample
        together = count == 1 and not remembers
        step = self.sets if together else 1
        for first in range(0, len(self.block.friction), step):
            friction = self.block.friction[first : first + step]
            inputs = {**values, "friction": friction}
            if remembers:
                loads = functools.partial(self._normal_loads, inputs)
                inputs["history"] = friction_history.of_groups(self.block, friction[0], values, count, loads)
            sets = slice(first, first + len(friction))
            # the cases of the kernel are either designs or sets, the other has one element
            place: Any = (designs.start, sets, j) if together else (designs, first, j)
            out = {key: array[: len(friction) if together else count] for key, array in series.items()}
            out |= {name: self._metric_rows(name, place) for name in self.request.actuation.metrics}
            results = self.actuation.run(kernel, inputs, self.samples, out)
            self._store_friction_series(kernel, place, results)
            if any(self.request.passive) and self.request.reactions:
                self._react(kernel, sets, j, designs, {**values, **results, "status": results[OUTCOME]})

    def _normal_loads(self, inputs: Values, history: np.ndarray) -> np.ndarray:
        """Return the normal loads of all joints with friction (design, joint, time), if given for some of them."""
        stage = normal_loads(self.request)
        parts = stage.run(self.block.kernel, {**inputs, "history": history}, self.samples)[LOAD_PART]
        return parts.reshape(len(parts), -1, LOAD_PARTS, parts.shape[-1]).sum(axis=2)[..., : self.samples]

    def _metric_rows(self, name: str, place: Any) -> np.ndarray:
        """Return the part of the output for a metric of some designs or sets: (case, component)."""
        rows = self.out[name][place]
        return rows if "actuator" in QUANTITIES[name].dims else rows[:, None]

    def _store_friction_series(self, kernel: Kernels, place: Any, results: Values) -> None:
        outcome = [OUTCOME] if "status" in self.request.of("actuation") else []
        self.memory.fetch([results[name] for name in (*self.request.of("actuation", "series"), *outcome)])
        for name in self.request.of("actuation", "series"):
            if "joint" in QUANTITIES[name].dims:
                fill_friction(kernel, self.out[name][place], results[name], self.block.groups, self.samples)
            else:
                fill(kernel, self.out[name][place], results[name], self.samples)
        if outcome:
            fill(kernel, self.out["status"][place], results[OUTCOME], self.samples)

    def _react(self, kernel: Kernels, sets: slice, j: int, designs: slice, values: Values) -> None:
        """Compute reactions for each friction set, or keep their inputs; the first axis of values is set or design."""
        single = designs.stop - designs.start == 1
        passive = (Indexed("passive_friction", k) for k, joints in enumerate(self.request.passive) if joints)
        changing: list[Key] = ["status", self.request.force, *passive]
        for f in range(sets.start, sets.stop):
            chosen = slice(f - sets.start, f - sets.start + 1) if single else slice(None)
            inputs = {**values, **{key: values[key][chosen] for key in changing}}
            if self.reactions is not None:
                self.reactions.strip(kernel, j, designs, inputs, f=f)
            else:
                self._keep_loads(f, j, designs, inputs)

    def _store_series(self, kernel: Kernels, j: int, designs: slice, values: Values) -> None:
        """Store the series of limbs and of the assembly; NaN where a sample failed."""
        out, limbs = self.out, len(self.block.family.reference.instances)
        self._fetch_stored(values)
        if "status" in self.request.of("assembly"):
            fill(kernel, out["status"][designs, j], values["status"], self.samples)
        for name in (*self.request.of("limb"), *self.request.of("assembly", "series")):
            fill_series(kernel, out[name][designs, j], name, values, self.samples, limbs)

    def _fetch_stored(self, values: Values) -> None:
        """Bring the series of a strip that are stored to the host, and its status where one of them is."""
        names = {*self.request.of("limb"), *self.request.of("assembly", "series")}
        if names or "status" in self.request.of("assembly"):
            named = {key: key.name if isinstance(key, Indexed) else key for key in values}
            self.memory.fetch([values[key] for key, name in named.items() if name in names or name == "status"])

    def _store_linear(self, j: int, designs: slice, values: Values) -> None:
        """Store the matrices of deviations from the motion; NaN where a sample failed."""
        assert self.linear is not None
        failed = values["status"][:, 0, : self.samples] != Status.OK
        matrices = self.linear.strip(j, values)
        for name in self.request.of("linear"):
            self.out[name][designs, j] = matrices[name]
            self.out[name][designs, j][failed] = np.nan

    def _finished(self) -> Arrays:
        """Return the variables with their metrics finished, in their dims and types."""
        duration = float(self.values["weight"].sum())
        for name in self.request.actuation.metrics:
            if name in actuators.METRICS:
                self.out[name] = actuators.METRICS[name].finished(self.out[name], duration)
        for name in self.request.of("actuation"):
            if FRICTION not in QUANTITIES[name].dims:
                self.out[name] = np.ascontiguousarray(self.out[name][:, 0])
        for name in self.case_metrics:
            self.out[name] = poses.METRICS[name].finish(self.out[name], self.samples, self.request.structure.freedoms)
            if "workspace" in QUANTITIES[name].needs:
                self.out[name] *= [volume_of(trajectory) for trajectory in self.block.trajectories]
        return {name: array.astype(QUANTITIES[name].dtype, copy=False) for name, array in self.out.items()}


def assembled(block: Block, root: Motions, limbs: Sequence[Arrays] | None = None) -> Assembled:
    """Return forces, friction, metrics and limb results (computed here without `limbs`): all but reactions."""
    result = Assembly(block, root, limbs).run()
    arrays = result.arrays | platform_series(
        block.family.reference.platform, len(block.times), root.motion, block.series
    )
    if block.measurement is not None:
        arrays |= measured.series(block.measurement, block.series, block.times, arrays)
    return Assembled({name: array for name, array in arrays.items() if name in block.variables}, result.loads)


def computed_together(blocks: Sequence[Block]) -> list[Arrays]:
    """Compute blocks that are equal but for their designs.

    The results of each block have the same bits as if it were computed alone.

    For the computation, designs with equal limbs and platform are put next to each other, so that these parts are
    computed once. In a grid with the payload as its first key, such designs are far apart.
    """
    whole = _joined(blocks)
    # noise of sensors depends on the place of a design
    order = np.arange(len(whole.designs)) if whole.measurement is not None else sharing(whole)
    if (np.diff(order) == 1).all():  # equal ones stand together
        arrays = _in_order(whole)
    else:
        arrays, back = _in_order(_taken(whole, order)), np.argsort(order)
        for name, axis in _design_axes(whole, arrays).items():
            arrays[name] = np.take(arrays[name], back, axis=axis)
    if len(blocks) == 1:
        return [arrays]
    ends = np.cumsum([len(block.designs) for block in blocks])[:-1]
    axes = _design_axes(whole, arrays)
    parts = {name: np.split(array, ends, axis=axes[name]) for name, array in arrays.items() if name in axes}
    alike = {name: array for name, array in arrays.items() if name not in axes}
    return [{name: np.ascontiguousarray(part[k]) for name, part in parts.items()} | alike for k in range(len(blocks))]


def _joined(blocks: Sequence[Block]) -> Block:
    """Return one block with the designs of several."""
    first = blocks[0]
    if len(blocks) == 1:
        return first
    return replace(first, designs=BlockDesigns.joined([block.designs for block in blocks]))


def _taken(block: Block, order: NDArray[np.intp]) -> Block:
    """Return a block with its designs in another order."""
    return replace(block, designs=block.designs.take(order))


def _design_axes(block: Block, arrays: Arrays) -> dict[str, int]:
    """Return the axis of designs of each array that has one."""
    dims = {name: block.dims(name) for name in arrays}
    return {name: axes.index("design") for name, axes in dims.items() if "design" in axes}


def _in_order(block: Block) -> Arrays:
    """Compute a block, with its designs in the given order."""
    root = motions(block)
    whole = assembled(block, root)
    limbs = range(len(block.family.reference.instances)) if whole.loads else ()
    return whole.arrays | gathered([reactions(block, root, whole.loads, k) for k in limbs])
