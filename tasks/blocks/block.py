"""The bodies of the Dask tasks of one block: trajectories, each limb, the platform, the assembly.

A block is a range of designs, friction sets and trajectories with all their times. Its tasks hand on arrays in memory,
laid out (trajectory, design, component, padded time), so that kernels read and write contiguous rows.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robots.formats.description import Description, family_of
from robots.friction_groups import MOTOR, FrictionGroup
from robots.measurement import CLEAN
from robots.model import TWIST, Family
from robots.status import Status
from tasks import actuation, programs
from tasks.blocks import measured, trajectories
from tasks.blocks.buffers import empty
from tasks.blocks.measured import Measurement
from tasks.friction import coupled as coupled_friction
from tasks.friction import history as friction_history
from tasks.friction.joints import LimbFriction
from tasks.kernels.cache import kernel
from tasks.kernels.kernel import padded
from tasks.pose_metrics import POSE_METRICS, needs_mass
from tasks.reactions import programs as reaction_programs

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Trajectory:
    """A trajectory: kind and values as in `robots.motions`, or the points (n, 1 + coordinates) of a spline."""

    kind: str
    values: Mapping[str, Any]
    points: np.ndarray | None = None


@dataclass(frozen=True)
class Block:
    """Everything that the tasks of one block need; small to send.

    parameters (design, parameter); friction (set, parameters of all groups); times (samples,) [s]; `origin` (3,) [m]
    is what positions of trajectories count from, in the base frame. `series` and `metrics` are the variables to
    compute, named as in the dataset.
    """

    index: int
    robot: str
    parameters: np.ndarray
    groups: tuple[FrictionGroup, ...]
    friction: np.ndarray
    trajectories: tuple[Trajectory, ...]
    times: np.ndarray
    origin: tuple[float, float, float]
    gravity: tuple[float, float, float]
    series: tuple[str, ...]
    metrics: tuple[str, ...]
    measurement: Measurement | None = None
    """What sensors make of positions and forces of actuators, where `series` has measured ones."""
    description: Description | None = None
    """The robot where it is none of the catalogue; its family is made once in each process."""

    @property
    def family(self) -> Family:
        """The robot's family."""
        return family_of(self.robot, self.description)

    @property
    def designs(self) -> int:
        """Number of designs."""
        return len(self.parameters)

    @property
    def samples(self) -> int:
        """Number of samples: designs, trajectories and times; friction sets share them."""
        return self.designs * len(self.trajectories) * len(self.times)

    @property
    def variables(self) -> frozenset[str]:
        """Everything that the block computes."""
        return frozenset((*self.series, *self.metrics))

    @property
    def with_clean(self) -> Block:
        """The block with the series that measured ones are made from, which another block may own."""
        clean = dict.fromkeys(
            name for each in self.series if each in CLEAN for name in ("actuator_position", CLEAN[each])
        )
        return replace(self, series=tuple(dict.fromkeys((*self.series, *clean))))

    @property
    def limb_series(self) -> tuple[str, ...]:
        """Series that limbs have to compute."""
        wanted = self.with_clean.series
        return tuple(name for name in (*programs.LIMB_SERIES, *programs.OWN_SERIES) if name in wanted)

    @functools.cached_property
    def limb_friction(self) -> tuple[LimbFriction, ...]:
        """What friction asks of each limb; nothing where nobody asks for what it changes."""
        groups = self.groups if self.actuation or self.reactions else ()
        return coupled_friction.wanted(self.family, groups, bool(self.reactions))

    @property
    def passive(self) -> tuple[tuple[int, ...], ...]:
        """Passive joints with friction of each limb: these change what joints carry."""
        return tuple(each.passive for each in self.limb_friction)

    @property
    def actuation(self) -> tuple[str, ...]:
        """Series and metrics that depend on friction, apart from reactions."""
        return tuple(name for name in (*self.series, *self.metrics) if name in actuation.NAMES)

    @property
    def reactions(self) -> tuple[str, ...]:
        """What reactions have to be computed for."""
        return tuple(name for name in reaction_programs.OUTPUTS if name in (*self.series, *self.metrics))

    @property
    def shares(self) -> dict[str, bool]:
        """Shares that limbs and platform are asked for beyond wrenches and J_IK: of mass, where a metric needs it."""
        return {"mass": True} if needs_mass(self.metrics) else {}

    def case_inputs(self) -> Arrays:
        """Inputs of the kernels that depend on the design."""
        return {"parameters": self.parameters, "gravity": np.array([self.gravity], dtype=float)}

    def values(self) -> Arrays:
        """Parameters by name, (design,) each."""
        return {p.name: self.parameters[:, i] for i, p in enumerate(self.family.parameters)}


@dataclass(frozen=True)
class Motions:
    """The root of a block's graph: motion inputs (trajectory, component, padded time), the same for all designs."""

    motion: np.ndarray


def motions(block: Block) -> Motions:
    """Evaluate the trajectories of a block."""
    made = programs.structure(block.family)
    joints = made.freedoms if made.mechanism.is_chain else 0
    rows = []
    for each in block.trajectories:
        moved = trajectories.motion(each.kind, each.values, block.times, each.points, joints)
        if not joints:
            moved[:3] += np.reshape(block.origin, (3, 1))
            moved = trajectories.motion_vector(moved, made.motion_size)
        rows.append(moved)
    return Motions(np.stack(rows))


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


@dataclass(frozen=True)
class Assembled:
    """Variables of a block in the dims of the dataset; and where reactions are wanted, what limbs need for theirs.

    loads, laid out as other arrays: `status`; `force` of all actuators and `redundant_k` of limb k, behind an axis of
    friction sets if passive joints have friction, else of one; then also `rubbing_k`, the friction of those of limb k.
    """

    arrays: Arrays
    loads: Arrays


def assemble(block: Block, root: Motions, own: Arrays, limbs: Sequence[Arrays]) -> Assembled:
    """Forces, friction, metrics, and what limbs have computed, for all designs and trajectories of a block.

    `own` is what `platform` gives; empty for a chain.
    """
    return _Assembly(block, root, own, limbs).run()


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


def reactions(block: Block, root: Motions, loads: Arrays, index: int) -> Arrays:
    """Reaction wrenches of limb `index` and their peaks, (design, set, trajectory, ..., joint, ...); NaN if failed.

    Without friction in passive joints there is no axis of sets.
    """
    made, passive = programs.structure(block.family), block.passive[index]
    instance = made.mechanism.instances[index]
    run = kernel(reaction_programs.reaction_program(block.family, instance.limb, block.reactions, passive))
    inputs = {**block.case_inputs(), "mount": programs.mount_values(block.family, block.values())[index]}
    sets = len(loads["force"])
    samples, out = len(block.times), _reaction_arrays(block, sets, len(made.mechanism.limbs[instance.limb].joints))
    for f, j in np.ndindex(sets, len(root.motion)):
        given = {
            "motion": root.motion[j][None],
            "force": loads["force"][f, j][:, made.driven[index]],
            "redundant": loads[f"redundant_{index}"][f, j],
        } | ({"rubbing": loads[f"rubbing_{index}"][f, j]} if passive else {})
        results = run({**inputs, **given}, samples)
        failed = loads["status"][f, j][:, 0, :samples] != Status.OK
        if "joint_reaction" in out:
            wrenches = _time_first(results["joint_reaction"], samples)
            out["joint_reaction"][:, f, j] = wrenches.reshape(*wrenches.shape[:2], -1, len(TWIST))
            out["joint_reaction"][:, f, j][failed] = np.nan
        if "peak_reaction" in out:
            out["peak_reaction"][:, f, j] = results["peak_reaction"]
            out["peak_reaction"][:, f, j][failed.any(axis=1)] = np.nan
    # friction of actuators alone changes no reaction: then there is no axis of sets
    return out if any(block.passive) else {name: each[:, 0] for name, each in out.items()}


def _reaction_arrays(block: Block, sets: int, joints: int) -> Arrays:
    lead = (block.designs, sets, len(block.trajectories))
    shapes = {"joint_reaction": (*lead, len(block.times), joints, len(TWIST)), "peak_reaction": (*lead, joints)}
    return {name: empty(shapes[name]) for name in block.reactions}


def gathered(limbs: Sequence[Arrays]) -> Arrays:
    """Reactions of all limbs in the dims of the dataset; NaN where a limb has fewer joints than another."""
    result: Arrays = {}
    for name, first in limbs[0].items() if limbs else ():
        axis = first.ndim - (2 if name == "joint_reaction" else 1)
        most = max(each[name].shape[axis] for each in limbs)
        whole = empty((*first.shape[:axis], len(limbs), most, *first.shape[axis + 1 :]))
        whole[...] = np.nan
        for k, each in enumerate(limbs):
            by_joint = np.moveaxis(each[name], axis, 0)
            np.moveaxis(whole, (axis, axis + 1), (0, 1))[k, : len(by_joint)] = by_joint
        result[name] = whole
    return result


class _Assembly:
    """Works through a block by trajectory and strip of designs; a strip's intermediate results stay in the cache."""

    STRIP = 8192  # samples

    def __init__(self, block: Block, root: Motions, own: Arrays, limbs: Sequence[Arrays]):
        self.block, self.root, self.limbs = block, root, limbs
        self.made = programs.structure(block.family)
        self.samples, self.width = len(block.times), padded(len(block.times))
        known = (*programs.CASE_METRICS, *programs.MASS_METRICS)
        self.case_metrics = tuple(name for name in known if name in block.metrics)
        self.series = tuple(name for name in block.series if name in block.actuation)
        self.metrics = tuple(name for name in block.metrics if name in block.actuation)
        self.even = programs.even_weights(block.family)
        self.assembly = kernel(programs.assembly_program(block.family, self.case_metrics))
        self.shares = {f"{name}_{k}": value for k, share in enumerate(limbs) for name, value in share.items()}
        lead = (len(block.trajectories), block.designs)
        self.shares["held"] = own.get("held", np.zeros((*lead, 0, self.width)))
        if own:
            self.shares |= {f"platform_{name}": value for name, value in own.items() if name != "held"}
        self.weights = np.zeros((1, 1, self.width))
        self.weights[0, 0, : self.samples] = actuation.trapezoid_weights(block.times)
        self.out = self._allocate()
        self.loads = self._allocate_loads() if block.reactions else {}
        self.rubbing = tuple(f"rubbing_{k}" for k, each in enumerate(block.passive) if each and block.reactions)
        beside = ("net_force", "unsettled", *self.rubbing) if self.rubbing else ()
        wanted = (*self.series, *beside)
        self.actuation = (
            kernel(actuation.program(block.family, block.groups, wanted, self.metrics))
            if wanted or self.metrics
            else None
        )

    def _allocate(self) -> Arrays:
        block, n = self.block, len(self.made.mechanism.actuators)
        d, f, j, t = block.designs, len(block.friction), len(block.trajectories), self.samples
        joints = (len(self.limbs), max(len(limb.joints) for limb in self.made.mechanism.limbs))
        out: Arrays = {}
        for name in self.series:
            out[name] = empty((d, f, j, t, *(joints if name in actuation.JOINT_SERIES else (n,))))
        if "joint_friction" in out:
            out["joint_friction"][...] = self._no_friction()
        for name in self.metrics:
            out[name] = empty((d, f, j) if name in actuation.CASE_METRICS else (d, f, j, n))
        for name in self.case_metrics:
            out[name] = empty((d, j))
        for name in block.series:
            if name in programs.LIMB_SERIES:
                out[name] = empty((d, j, t, len(self.limbs), self.limbs[0][name].shape[2]))
            elif name in ("actuator_position", "actuator_velocity"):
                out[name] = empty((d, j, t, n))
            elif name == "status":
                out[name] = empty((d, j, t), dtype=np.int8)
        return out

    def _no_friction(self) -> np.ndarray:
        """Zero for every joint, NaN where a limb has fewer joints than another (limb, joint)."""
        counts = [len(self.made.mechanism.limbs[each.limb].joints) for each in self.made.mechanism.instances]
        return np.where(np.arange(max(counts)) < np.array(counts)[:, None], 0.0, np.nan)

    def _allocate_loads(self) -> Arrays:
        made, block = self.made, self.block
        passive = tuple(map(len, block.passive))
        self.balance = kernel(reaction_programs.balance_program(block.family, passive))
        sizes = {"force": len(made.mechanism.actuators), "status": 1, "missing": 1}
        for k, each in enumerate(made.mechanism.instances):
            sizes |= {f"redundant_{k}": made.redundant(each.limb)}
            sizes |= {f"rubbing_{k}": passive[k]} if passive[k] else {}
        lead = (len(block.friction) if any(passive) else 1, len(block.trajectories), block.designs)
        return {name: empty((*lead, size, self.width)) for name, size in sizes.items()}

    def _keep_loads(self, f: int, j: int, part: slice, made: Mapping[str, np.ndarray]) -> None:
        """What the reactions of a strip need: forces, status, friction, and what the platform's balance decides."""
        for name in ("force", "status", *self.rubbing):
            self.loads[name][f, j, part] = made[name]
        given = {name: array[j, part] for name, array in self.shares.items() if name in self.balance.program.sample}
        given |= {name: self.loads[name][f, j, part] for name in ("force", *self.rubbing)}
        out = {name: self.loads[name][f, j, part] for name in self.balance.program.outputs}
        self.balance(given, self.samples, out)

    def run(self) -> Assembled:
        step = max(1, self.STRIP // self.width)
        buffers = self.assembly.allocate(min(step, self.block.designs), self.samples)
        most = min(step, max(self.block.designs, len(self.block.friction)))
        series = self.actuation.allocate(most, self.samples) if self.actuation else {}
        for j in range(len(self.block.trajectories)):
            for start in range(0, self.block.designs, step):
                part = slice(start, min(start + step, self.block.designs))
                self._strip(j, part, buffers, series)
        return Assembled(self._finished(), self.loads)

    def _strip(self, j: int, part: slice, buffers: Arrays, series: Arrays) -> None:
        count = part.stop - part.start
        inputs = {name: array[j, part] for name, array in self.shares.items()}
        made = {name: array[:count] for name, array in buffers.items()}
        made |= {name: self.out[name][part, j, None] for name in self.case_metrics}
        given = {**inputs, **self.even, "motion": self.root.motion[j][None]}
        given["parameters"] = self.block.parameters[part]
        self.assembly({name: given[name] for name in self.assembly.program.inputs}, self.samples, made)
        self._store_limb_series(j, part, made)
        if self.loads and not self.rubbing:
            self._keep_loads(0, j, part, made)
        if self.actuation is not None:
            self._friction(j, part, {**given, **made, "weight": self.weights}, series)

    def _friction(self, j: int, part: slice, given: Mapping[str, np.ndarray], series: Arrays) -> None:
        """Everything of a strip that depends on friction: set by set, or for a single design many sets at once."""
        assert self.actuation is not None
        count, program = part.stop - part.start, self.actuation.program
        inputs = {name: given[name] for name in program.inputs if name not in ("friction", "history")}
        together = count == 1 and "history" not in program.sample
        step = max(1, self.STRIP // self.width) if together else 1
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
            if name in actuation.JOINT_SERIES:
                for k, joint in enumerate(joints):
                    if joint.joint != MOTOR:  # that of motors is in the forces of the actuators
                        self.out[name][place][..., joint.limb, joint.joint] = results[name][:, k, : self.samples]
            else:
                self.out[name][place] = _time_first(results[name], self.samples)

    def _rub(self, sets: slice, j: int, part: slice, given: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        """Keep what reactions need of friction sets; the first axis of results is that of sets or of designs."""
        unsettled = np.where(results["unsettled"] > 0.5, float(Status.FRICTION_NOT_CONVERGED), Status.OK)
        status = np.where(given["status"] > 0.5, given["status"], unsettled)
        kept = {name: results[name] for name in self.rubbing} | {"force": results["net_force"], "status": status}
        for f in range(sets.start, sets.stop):
            chosen = slice(f - sets.start, f - sets.start + 1) if part.stop - part.start == 1 else slice(None)
            self._keep_loads(f, j, part, {name: value[chosen] for name, value in kept.items()})

    def _metric_rows(self, name: str, place: Any) -> np.ndarray:
        rows = self.out[name][place]
        return rows[:, None] if name in actuation.CASE_METRICS else rows

    def _store_limb_series(self, j: int, part: slice, made: Arrays) -> None:
        out, block = self.out, self.block
        status = made["status"][:, 0, : self.samples]
        failed = status != Status.OK
        if "status" in out:
            out["status"][part, j] = status
        for name in block.series:
            if name in programs.LIMB_SERIES:
                for k, share in enumerate(self.limbs):
                    out[name][part, j, :, k] = _time_first(share[name][j, part], self.samples)
            elif name == "actuator_velocity":
                out[name][part, j] = _time_first(made["velocity"], self.samples)
            elif name == "actuator_position":
                out[name][part, j] = self._actuator_position(j, part)
            else:
                continue
            if failed.any():
                out[name][part, j][failed] = np.nan

    def _actuator_position(self, j: int, part: slice) -> np.ndarray:
        return np.concatenate(
            [_time_first(share["actuator_position"][j, part], self.samples) for share in self.limbs], -1
        )

    def _finished(self) -> Arrays:
        duration = float(self.weights.sum())
        for name in self.metrics:
            if name in actuation.CASE_METRICS:
                continue
            metric = actuation.ALL_METRICS[name]
            self.out[name] = metric.finish(self.out[name], duration)
            if not metric.friction:
                self.out[name] = np.ascontiguousarray(self.out[name][:, 0])
        for name in self.case_metrics:
            if name in POSE_METRICS:
                self.out[name] = POSE_METRICS[name].finish(self.out[name], self.samples, self.made.freedoms)
        for name in ("failed_samples", "worst_status", "unsettled_samples"):
            if name in self.out:
                self.out[name] = self.out[name].astype(np.int8 if name == "worst_status" else np.int32)
        return self.out


def _time_first(array: np.ndarray, samples: int) -> np.ndarray:
    return array[..., :samples].swapaxes(-1, -2)


def platform_series(block: Block, root: Motions) -> Arrays:
    """The platform's motion in the dims of the dataset, for those of `block.series` that are of the platform."""
    t, motion = len(block.times), root.motion
    out: Arrays = {}
    small = motion.shape[1] == 9
    if "platform_position" in block.series:
        out["platform_position"] = np.ascontiguousarray(_time_first(motion[:, :3], t))
    for name, rows, full in (
        ("platform_twist", slice(3, 6), slice(12, 18)),
        ("platform_acceleration", slice(6, 9), slice(18, 24)),
    ):
        if name in block.series:
            out[name] = np.zeros((len(motion), t, 6))
            if small:
                out[name][..., 3:] = _time_first(motion[:, rows], t)
            else:
                out[name][...] = _time_first(motion[:, full], t)
    return out
