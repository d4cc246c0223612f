"""The assembly of a block: actuator forces, friction and metrics from the shares of limbs and platform."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robots.friction_groups import MOTOR
from robots.status import Status
from tasks.blocks import friction_history
from tasks.blocks.block import Arrays, Block, time_first
from tasks.blocks.buffers import empty
from tasks.blocks.commanded import Motions, volume_of
from tasks.blocks.shares import Computed, Part, Share, limb_part, platform_part
from tasks.kernels.kernel import padded
from tasks.mechanics.structure import structure_of
from tasks.metrics import actuators
from tasks.metrics.poses import POSE_METRICS, VOLUMES
from tasks.programs import reactions as reaction_programs
from tasks.programs.actuation import actuation_program
from tasks.programs.assembly import CASE_METRICS, MASS_METRICS, assembly_program, even_weights
from tasks.programs.limb import LIMB_SERIES


@dataclass(frozen=True)
class Assembled:
    """Variables of a block in the dims of the dataset; and where reactions are wanted, what limbs need for theirs.

    loads, laid out as other arrays: `status`; `force` of all actuators and `redundant_k` of limb k, behind an axis of
    friction sets if passive joints have friction, else of one; then also `rubbing_k`, the friction of those of limb k.
    """

    arrays: Arrays
    loads: Arrays


class Assembly:
    """Works through a block by trajectory and strip of designs; a strip's intermediate results stay in the cache.

    `limbs` are what tasks of their own have computed; without them their work is done here, a strip at a time.
    """

    STRIP = 32768
    """Samples of a strip: what kernels hand on stays in the cache, and calling them costs little beside their work."""

    def __init__(self, block: Block, root: Motions, limbs: Sequence[Share] | None = None):
        self.block, self.root = block, root
        self.made = structure_of(block.family)
        self.samples, self.width = len(block.times), padded(len(block.times))
        known = (*CASE_METRICS, *MASS_METRICS)
        self.case_metrics = tuple(name for name in known if name in block.metrics and name not in block.actuation)
        self.series = tuple(name for name in block.series if name in block.actuation and name != "status")
        self.status_by_set = "status" in block.series and "status" in block.actuation
        self.metrics = tuple(name for name in block.metrics if name in block.actuation)
        self.even = even_weights(block.family)
        self.assembly = block.kernel(assembly_program(block.family, self.case_metrics, block.limited))
        self.step = max(1, self.STRIP // self.width)
        self.limbs = limbs or [self._computed(limb_part(block, k)) for k in range(len(self.made.mechanism.instances))]
        platform = platform_part(block)
        self.platform = None if platform is None else self._computed(platform)
        self.weights = np.zeros((1, 1, self.width))
        self.weights[0, 0, : self.samples] = actuators.trapezoid_weights(block.times)
        self.out = self._allocate()
        self.loads = self._allocate_loads() if block.reactions else {}
        self.rubbing = tuple(f"rubbing_{k}" for k, each in enumerate(block.passive) if each and block.reactions)
        beside = ("net_force", *self.rubbing) if self.rubbing else ()
        told = (actuators.OUTCOME,) if self.rubbing or self.status_by_set else ()
        wanted = (*self.series, *told, *beside)
        self.actuation = (
            block.kernel(actuation_program(block.family, block.groups, wanted, self.metrics))
            if wanted or self.metrics
            else None
        )

    def _computed(self, part: Part) -> Computed:
        return Computed(part, self.block, self.root, min(self.step, self.block.designs))

    def _allocate(self) -> Arrays:
        block, n = self.block, len(self.made.mechanism.actuators)
        d, f, j, t = block.designs, len(block.friction), len(block.trajectories), self.samples
        joints = (len(self.limbs), max(len(limb.joints) for limb in self.made.mechanism.limbs))
        out: Arrays = {}
        if "status" in block.series:
            out["status"] = empty((d, f, j, t) if self.status_by_set else (d, j, t), dtype=np.int8)
        for name in self.series:
            out[name] = empty((d, f, j, t, *(joints if name in actuators.JOINT_SERIES else (n,))))
        if "joint_friction" in out:
            out["joint_friction"][...] = self._no_friction()
        for name in self.metrics:
            out[name] = empty((d, f, j) if name in actuators.CASE_METRICS else (d, f, j, n * actuators.parts(name)))
        for name in self.case_metrics:
            out[name] = empty((d, j))
        for name in block.series:
            if name in LIMB_SERIES:
                out[name] = empty((d, j, t, *joints))
            elif name in ("actuator_position", "actuator_velocity"):
                out[name] = empty((d, j, t, n))
        return out

    def _no_friction(self) -> np.ndarray:
        """Zero for every joint, NaN where a limb has fewer joints than another (limb, joint)."""
        counts = [len(self.made.mechanism.limbs[each.limb].joints) for each in self.made.mechanism.instances]
        return np.where(np.arange(max(counts)) < np.array(counts)[:, None], 0.0, np.nan)

    def _allocate_loads(self) -> Arrays:
        made, block = self.made, self.block
        passive = tuple(map(len, block.passive))
        self.balance = block.kernel(reaction_programs.balance_program(block.family, passive))
        sizes = {"force": len(made.mechanism.actuators), "status": 1, "missing": 1}
        for k, each in enumerate(made.mechanism.instances):
            sizes |= {f"redundant_{k}": made.redundant(each.limb)}
            sizes |= {f"rubbing_{k}": passive[k]} if passive[k] else {}
        lead = (len(block.friction) if any(passive) else 1, len(block.trajectories), block.designs)
        return {name: empty((*lead, size, self.width)) for name, size in sizes.items()}

    def _keep_loads(self, f: int, j: int, part: slice, given: Mapping[str, Any], made: Mapping[str, Any]) -> None:
        """What the reactions of a strip need: forces, status, friction, and what the platform's balance decides."""
        for name in ("force", "status", *self.rubbing):
            self.loads[name][f, j, part] = made[name]
        inputs = {name: given[name] for name in self.balance.program.sample if name in given}
        inputs |= {name: self.loads[name][f, j, part] for name in ("force", *self.rubbing)}
        out = {name: self.loads[name][f, j, part] for name in self.balance.program.outputs}
        self.balance(inputs, self.samples, out)

    def run(self) -> Assembled:
        """Compute all strips."""
        buffers = self.assembly.allocate(min(self.step, self.block.designs), self.samples)
        most = min(self.step, max(self.block.designs, len(self.block.friction)))
        series = self.actuation.allocate(most, self.samples) if self.actuation else {}
        for j in range(len(self.block.trajectories)):
            for start in range(0, self.block.designs, self.step):
                part = slice(start, min(start + self.step, self.block.designs))
                self._strip(j, part, buffers, series)
        return Assembled(self._finished(), self.loads)

    def _strip(self, j: int, part: slice, buffers: Arrays, series: Arrays) -> None:
        count = part.stop - part.start
        limbs, given = self._shares(j, part)
        made = {name: array[:count] for name, array in buffers.items()}
        made |= {name: self.out[name][part, j, None] for name in self.case_metrics}
        given |= {**self.even, "motion": self.root.motion[j][None], "parameters": self.block.parameters[part]}
        given["capacity"] = self.block.capacity
        self.assembly({name: given[name] for name in self.assembly.program.inputs}, self.samples, made)
        self._store_limb_series(j, part, limbs, made)
        if self.loads and not self.rubbing:
            self._keep_loads(0, j, part, given, made)
        if self.actuation is not None:
            self._friction(j, part, {**given, **made, "weight": self.weights}, series)

    def _shares(self, j: int, part: slice) -> tuple[Sequence[Arrays], dict[str, Any]]:
        """What limbs give, and all shares as the assembly names them."""
        limbs = [each.of(j, part) for each in self.limbs]
        own = {} if self.platform is None else self.platform.of(j, part)
        named = {f"{name}_{k}": array for k, limb in enumerate(limbs) for name, array in limb.items()}
        named |= {f"platform_{name}": array for name, array in own.items() if name != "held"}
        named["held"] = own.get("held", np.zeros((part.stop - part.start, 0, self.width)))
        return limbs, named

    def _friction(self, j: int, part: slice, given: Mapping[str, np.ndarray], series: Arrays) -> None:
        """Everything of a strip that depends on friction: set by set, or for a single design many sets at once."""
        assert self.actuation is not None
        count, program = part.stop - part.start, self.actuation.program
        inputs = {name: given[name] for name in program.inputs if name not in ("friction", "history")}
        together = count == 1 and "history" not in program.sample
        step = self.step if together else 1
        for first in range(0, len(self.block.friction), step):
            friction = self.block.friction[first : first + step]
            if "history" in program.sample:
                inputs["history"] = friction_history.of_groups(self.block, friction[0], given, count)
            sets = slice(first, first + len(friction))
            # the cases of the kernel are either designs or sets, the other has one element
            place: Any = (part.start, sets, j) if together else (part, first, j)
            results = {name: array[: len(friction) if together else count] for name, array in series.items()}
            results |= {name: self._metric_rows(name, place) for name in self.metrics}
            self.actuation({**inputs, "friction": friction}, self.samples, results)
            self._store_friction_series(place, results)
            if self.rubbing:
                self._rub(sets, j, part, given, results)

    def _store_friction_series(self, place: Any, results: Mapping[str, np.ndarray]) -> None:
        joints = [place for group in self.block.groups for place in group.places]
        for name in self.series:
            if name in actuators.JOINT_SERIES:
                for k, joint in enumerate(joints):
                    if joint.joint != MOTOR:  # that of motors is in the forces of the actuators
                        self.out[name][place][..., joint.limb, joint.joint] = results[name][:, k, : self.samples]
            else:
                self.out[name][place] = time_first(results[name], self.samples)
        if self.status_by_set:
            self.out["status"][place] = results[actuators.OUTCOME][:, 0, : self.samples]

    def _rub(self, sets: slice, j: int, part: slice, given: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        """Keep what reactions need of friction sets; the first axis of results is that of sets or of designs."""
        kept = {name: results[name] for name in self.rubbing}
        kept |= {"force": results["net_force"], "status": results[actuators.OUTCOME]}
        for f in range(sets.start, sets.stop):
            chosen = slice(f - sets.start, f - sets.start + 1) if part.stop - part.start == 1 else slice(None)
            self._keep_loads(f, j, part, given, {name: value[chosen] for name, value in kept.items()})

    def _metric_rows(self, name: str, place: Any) -> np.ndarray:
        rows = self.out[name][place]
        return rows[:, None] if name in actuators.CASE_METRICS else rows

    def _store_limb_series(self, j: int, part: slice, limbs: Sequence[Arrays], made: Arrays) -> None:
        out, block = self.out, self.block
        status = made["status"][:, 0, : self.samples]
        failed = status != Status.OK
        if "status" in out and not self.status_by_set:
            out["status"][part, j] = status
        for name in block.series:
            if name in LIMB_SERIES:
                for k, share in enumerate(limbs):
                    rows = share[name].shape[1]
                    out[name][part, j, :, k, :rows] = time_first(share[name], self.samples)
                    out[name][part, j, :, k, rows:] = np.nan
            elif name == "actuator_velocity":
                out[name][part, j] = time_first(made["velocity"], self.samples)
            elif name == "actuator_position":
                each = [time_first(share[name], self.samples) for share in limbs]
                out[name][part, j] = np.concatenate(each, -1)
            else:
                continue
            if failed.any():
                out[name][part, j][failed] = np.nan

    def _finished(self) -> Arrays:
        duration = float(self.weights.sum())
        for name in self.metrics:
            if name in actuators.CASE_METRICS:
                continue
            metric = actuators.ALL_METRICS[name]
            self.out[name] = metric.finished(self.out[name], duration)
            if not metric.friction:
                self.out[name] = np.ascontiguousarray(self.out[name][:, 0])
        for name in self.case_metrics:
            if name in POSE_METRICS:
                self.out[name] = POSE_METRICS[name].finish(self.out[name], self.samples, self.made.freedoms)
            if name in VOLUMES:
                self.out[name] *= [volume_of(each) for each in self.block.trajectories]
        for name in ("failed_samples", "worst_status", "unsettled_samples"):
            if name in self.out:
                self.out[name] = self.out[name].astype(np.int8 if name == "worst_status" else np.int32)
        return self.out
