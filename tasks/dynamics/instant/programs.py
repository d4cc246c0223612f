"""Programs of a robot's motion with friction at one state of each sample, and their run on arrays.

A chain has one program. A parallel robot has one for each of its limbs, which all copies share, and one for the whole.
Its inputs are the outputs of the limbs: `mass`, `bias`, rows of J and of passive joints with friction with the part
that velocity alone adds to them, and where normal loads come from reactions also these and their change with
accelerations. Inputs and outputs of the whole: `tasks.dynamics.instant.systems`.

Arrays are (size, padded samples). Data that are constant along a motion (design, gravity, parameters of friction) are
the same for all samples, or differ by sample: then cases lie in the lanes of vectors.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from robots.criteria.elasticity import Elasticity
from robots.data_classes import dataclass
from robots.friction.groups import FrictionGroup
from robots.model import Family
from robots.status import Status
from robots.types import TWIST
from tasks.dynamics.inertia import is_tree
from tasks.dynamics.instant.bearing_loads import BearingLoads
from tasks.dynamics.instant.layout import Form, layout, program_name
from tasks.dynamics.instant.pushed import Moved, Pushed
from tasks.dynamics.instant.reaction_loads import Loads, SettledMotion
from tasks.dynamics.instant.systems import (
    FIRST,
    SLOPES,
    LimbDynamics,
    LoadedPlatform,
    PushedChain,
    PushedPlatform,
    PushedTree,
    inputs_of_motion,
    modes_of,
    slope,
    stage_of,
)
from tasks.features.compliance import ElasticSharing, LimbElasticity, of_limb
from tasks.features.friction import joints as joint_friction
from tasks.features.friction import requests
from tasks.features.friction.joints import ForwardFriction
from tasks.features.friction.requests import LimbFriction
from tasks.kernels.expression import ABSENT, Array, Scalar
from tasks.kernels.keys import Arrays, Shape, Values, indexed, padded
from tasks.kernels.lanes import BoundKernel, outputs_of_all
from tasks.kernels.program import Program, require_shapes, trace
from tasks.mathematics import rotations
from tasks.mathematics.algebra import array, cross, dot, from_columns, is_zero, sqrt, total, where
from tasks.mechanics import platform_motion
from tasks.mechanics import reactions as reactions
from tasks.mechanics.equations import pose_seeds
from tasks.mechanics.families import mount_values, structure_of
from tasks.mechanics.inertia.articulated import ArticulatedTree
from tasks.mechanics.kinematics import SpatialMotion
from tasks.mechanics.reactions import LimbStatics
from tasks.mechanics.solving import arms, carried, solved_limb
from tasks.mechanics.structure import GRAVITY, Structure, field_inputs, limb_inputs, signal_inputs, symbolic
from tasks.stages import constraints


@functools.cache
def motion_program(
    family: Family, groups: tuple[FrictionGroup, ...], form: Form = "explicit", moving_base: bool = False,
    shared: LimbElasticity | None = None,
) -> Program:  # fmt: skip
    """Return the program of a chain; see `outputs_of_motion`. `shared`: see `limb_motion_program`."""
    structure, parts = structure_of(family), layout(family, groups)

    def one_sample(**inputs: Array) -> dict[str, Any]:
        q, qd, memory = (inputs["state"][parts.at[name]] for name in ("q", "qd", "memory"))
        motion = np.concatenate([q, qd, np.zeros(parts.free)])
        signals = inputs.get("signals", ABSENT)
        mounted, solved, _, _ = solved_limb(structure, 0, inputs["parameters"], inputs["mount"], motion, signals)
        joints = _joints(family, groups, inputs["friction"])
        now, step = modes_of(parts, inputs["modes"], memory), stage_of(parts, inputs.get("stage"))
        sharing = _sharing(family, 0, shared, inputs.get("elasticity", ABSENT))
        dynamics = LimbDynamics(mounted, solved, qd, array(inputs["gravity"]), sharing=sharing)
        plain = is_tree(family) and form != "implicit" and not any(joint.sticks for joint in joints)
        tree = ArticulatedTree.of(mounted.limb, solved.states) if plain else None
        state_of = qd, inputs["force"], joints, now, step, dynamics
        pushed = PushedChain(*state_of) if tree is None else PushedTree(*state_of, tree)
        return outputs_of_motion(family, groups, pushed, limbs=solved.status, going=list(qd), loads=inputs.get("loads"))

    case, sample = inputs_of_motion(parts, groups, form)
    sample |= signal_inputs(family)
    case, sample = field_inputs(limb_inputs(structure, 0) | case | _elastic_input(shared), sample, moving_base)
    return trace(program_name(family, groups, form), one_sample, case=case, sample=sample, first=FIRST)


def limb_shapes(structure: Structure, limb_index: int, wanted: LimbFriction) -> dict[str, Shape]:
    """Return the names and shapes of the outputs of `limb_motion_program`."""
    free, driven = structure.freedoms, len(structure.mechanism.limbs[limb_index].actuators)
    redundant, passive = structure.redundant(limb_index), len(wanted.passive)
    shapes: dict[str, Shape] = {"mass": (free, free), "bias": (free,), "jacobian": (driven, free)}
    shapes |= {"driven_drift": (driven,), "through": (passive, free), "passive_drift": (passive,), "status": (1,)}
    if wanted.statics:
        asked = wanted.shapes(free, driven, redundant, structure.held)
        asked |= reactions.share_shapes(structure.held, driven, redundant)
        shapes |= {name: shape for name, shape in asked.items() if name not in RATES}
        shapes |= {slope(name): (*shapes[name], free) for name in SLOPES if name in shapes}
    return shapes | structure.constraint_shapes(limb_index)


RATES = ("through", "passive_rate")
"""Rate outputs of `tasks.features.friction.passive.share`."""


@functools.cache
def limb_motion_program(
    family: Family, limb_index: int, wanted: LimbFriction, moving_base: bool = False,
    shared: LimbElasticity | None = None,
) -> Program:  # fmt: skip
    """Trace the terms of a limb in the forward dynamics of a parallel robot at a state.

    Inputs as in `tasks.stages.limb.limb_program`; `motion` is without acceleration. Outputs as in `limb_shapes`. With
    `moving_base`, `gravity` is a sample input. With the elastic parts `shared`, elasticity determines normal loads that
    statics leaves open. Raises ValueError for loads from reactions of a limb with `every_row`.
    """
    structure = structure_of(family)
    limb_ = structure.mechanism.limbs[limb_index]
    if wanted.statics and limb_.every_row:
        raise ValueError(
            f"every_row: loads from reactions of {family.name} got limb {limb_.name} with every row of its tips; "
            "expected limbs with a choice of rows; leave every_row out, or give friction a load that is constant"
        )

    def one_sample(
        parameters: Array, mount: Array, gravity: Array, motion: Array, elasticity: Array = ABSENT,
        signals: Array = ABSENT,
    ) -> dict[str, Any]:  # fmt: skip
        mounted, solved, pose, moving = solved_limb(structure, limb_index, parameters, mount, motion, signals)
        seeds, sharing = pose_seeds(pose, moving), _sharing(family, limb_index, shared, elasticity)
        dynamics = LimbDynamics(mounted, solved, structure.speed(motion), array(gravity), seeds, sharing)
        passive = dynamics.passive_rows(wanted.passive)
        result = {
            "mass": dynamics.mass, "bias": dynamics.bias, "jacobian": dynamics.jacobian, "through": passive,
            "driven_drift": dynamics.drift(dynamics.jacobian), "passive_drift": dynamics.drift(passive),
            "status": [solved.status],
        }  # fmt: skip
        result |= _statics(dynamics, wanted) if wanted.statics else {}
        return result | constraints.limb_rows(structure, mounted, solved, parameters)

    case = limb_inputs(structure, limb_index) | _elastic_input(shared)
    case, sample = field_inputs(case, {"motion": (structure.motion_size,), **signal_inputs(family)}, moving_base)
    shapes = limb_shapes(structure, limb_index, wanted)
    first = tuple(name for name in shapes if name not in structure.constraint_shapes(limb_index))
    program = trace(f"{family.name}.{limb_.name}.motion", one_sample, case=case, sample=sample, first=first)
    require_shapes(program, shapes)
    return program


def _joints(family: Family, groups: tuple[FrictionGroup, ...], friction: Array) -> list[ForwardFriction]:
    joints = joint_friction.of_groups(groups, requests.joint_kinds(family), friction)
    return [ForwardFriction(joint) for joint in joints]


def _elastic_input(shared: LimbElasticity | None) -> dict[str, Shape]:
    return {} if shared is None else {"elasticity": (shared.size,)}


def _sharing(
    family: Family, limb_index: int, shared: LimbElasticity | None, elasticity: Array
) -> ElasticSharing | None:
    return None if shared is None else ElasticSharing(shared, elasticity, arms(family, limb_index))


def _statics(own: LimbDynamics, wanted: LimbFriction) -> dict[str, Any]:
    """Return a limb's terms of the normal loads, and their change with the accelerations of the freedoms."""
    result, mounted, still = _shares(own, own.statics, own.gravity, wanted), own.mounted.unforced, np.zeros(3)
    moves = [_shares(own, own.statics.at_motion(move, mounted), still, wanted) for move in own.unit_motions]
    names = [name for name in SLOPES if name in result]
    slopes = {slope(name): from_columns([each[name] for each in moves], len(result[name])) for name in names}
    return result | slopes


def _shares(own: LimbDynamics, statics: LimbStatics, gravity: Array, wanted: LimbFriction) -> dict[str, Any]:
    return {name: value for name, value in own.shares(statics, gravity, wanted).items() if name not in RATES}


@functools.cache
def platform_motion_program(
    family: Family, groups: tuple[FrictionGroup, ...], form: Form = "explicit", moving_base: bool = False
) -> Program:
    """Return the program of a parallel robot; see `outputs_of_motion`.

    Sample inputs: the inputs of a chain, `motion` of the platform without acceleration, `load` (6,) on it in world
    axes, and the outputs of `limb_motion_program` for each limb.
    """
    structure, parts = structure_of(family), layout(family, groups)
    wanted = requests.wanted(family, groups)

    def one_sample(**inputs: Any) -> dict[str, Any]:
        limbs = {name: values for name, values in inputs.items() if isinstance(values, Mapping)}
        state, load = inputs["state"], inputs["load"]
        body = symbolic(structure, inputs["parameters"], inputs.get("signals", ABSENT)).platform
        pose, moving = platform_motion.unpack(inputs["motion"], body)
        joints = _joints(family, groups, inputs["friction"])
        now, step = modes_of(parts, inputs["modes"], state[parts.at["memory"]]), stage_of(parts, inputs.get("stage"))
        loaded = LoadedPlatform(body, pose, moving, array(inputs["gravity"]), load)
        pushed = PushedPlatform(state[parts.at["qd"]], inputs["force"], joints, now, step, loaded, limbs, wanted)
        status: Scalar = 0.0
        for values in reversed(list(limbs["status"].values())):  # the first limb's complaint
            status = where(values[0] > 0.5, values[0], status)
        if structure.may_lose_constraints:
            _, loose = constraints.hold(
                structure, carried(family), limbs["constraint_rows"], limbs["home_constraint_rows"]
            )
            status = where(status > 0.5, status, where(loose, float(Status.CONSTRAINT_SINGULAR), status))
        going = [*moving.v, *_turning(state[parts.at["q"]][3:], moving)]
        driven = [dot(array(load), array([*moving.omega, *moving.v]))]
        return outputs_of_motion(
            family, groups, pushed, limbs=status, going=going, driven=driven, loads=inputs.get("loads")
        )

    case, sample = inputs_of_motion(parts, groups, form)
    case |= {"parameters": (len(family.parameters),), "gravity": (GRAVITY,)}
    sample |= {"motion": (structure.motion_size,), "load": (len(TWIST),), **signal_inputs(family)}
    for k, (instance, limb_friction) in enumerate(zip(structure.mechanism.instances, wanted, strict=True)):
        sample |= indexed(k, limb_shapes(structure, instance.limb, limb_friction))
    case, sample = field_inputs(case, sample, moving_base)
    return trace(program_name(family, groups, form), one_sample, case=case, sample=sample, first=FIRST)


def _turning(quaternion: Array, moving: SpatialMotion) -> list[Scalar]:
    """Return the rate of a unit quaternion, scalar first, for an angular velocity in world axes."""
    whole, part = quaternion[0], quaternion[1:]
    omega = array(moving.omega)
    return [-dot(omega, part) * 0.5, *((omega * whole + cross(omega, part)) * 0.5)]


@dataclass(frozen=True)
class Constants:
    """Constants along motions: (1, size) for all samples, or (padded samples, size), a case for each.

    parameters in the order of the family, mounts of each limb of the robot, gravity (1, 3) or (padded samples, 3),
    friction, the parameters of all groups. elastic: the elastic parts of each limb, the same for all samples, by
    which normal loads are shared where statics leaves them open; empty: they have the least norm.
    """

    parameters: np.ndarray
    mounts: tuple[np.ndarray, ...]
    gravity: np.ndarray
    friction: np.ndarray
    elastic: tuple[tuple[LimbElasticity, np.ndarray], ...] = ()

    @classmethod
    def of(
        cls, family: Family, parameters: np.ndarray, gravity: np.ndarray, friction: np.ndarray,
        elasticity: Elasticity | None = None,
    ) -> Constants:  # fmt: skip
        """Return constants from arrays (1, size) or (case, size); the last row fills up the last group of lanes."""
        count = max(len(values) for values in (parameters, gravity, friction))

        def filled(values: np.ndarray) -> np.ndarray:
            if len(values) == 1:
                return values
            return np.concatenate([values, np.repeat(values[-1:], padded(count) - count, axis=0)])

        wide = filled(parameters)
        mounts = mount_values(family, {p.name: wide[:, i] for i, p in enumerate(family.parameters)})
        limbs = range(len(family.reference.instances))
        elastic = () if elasticity is None else tuple(of_limb(elasticity, family.reference, k) for k in limbs)
        return cls(wide, tuple(mounts), filled(gravity), filled(friction), elastic)

    @property
    def shared(self) -> bool:
        """True if all samples have the same constants."""
        return max(len(values) for values in (self.parameters, self.gravity, self.friction)) == 1

    def of_limb(self, limb: int) -> Arrays:
        """Return the case inputs of the programs of a limb of the robot."""
        elastic = {"elasticity": self.elastic[limb][1]} if self.elastic else {}
        return {"mount": self.mounts[limb], **self.of_robot, **elastic}

    @property
    def of_robot(self) -> Arrays:
        """Constants as inputs of the programs of the whole robot."""
        return {"parameters": self.parameters, "gravity": self.gravity, "friction": self.friction}


@dataclass(frozen=True)
class UnderLoads:
    """Motions of samples under normal loads that are given: kernel, and its other inputs (1, size, padded samples)."""

    kernel: BoundKernel
    inputs: Values

    def __call__(self, loads: np.ndarray, columns: np.ndarray) -> Arrays:
        """Return outputs (1, size, padded columns) of samples by number, under `loads` (loaded joint, columns)."""
        filled = np.concatenate([columns, np.repeat(columns[-1:], padded(len(columns)) - len(columns))])
        wide = np.concatenate([loads, np.repeat(loads[:, -1:], len(filled) - len(columns), axis=1)], axis=1)
        taken = {key: np.ascontiguousarray(values[..., filled]) for key, values in self.inputs.items()}
        return self.kernel.of(filled)({**taken, "loads": np.ascontiguousarray(wide)[None]}, len(filled))


class Instant:
    """Dynamics of a robot at a state; with `base`, the field of a moving base is one of the external inputs."""

    def __init__(self, family: Family, groups: tuple[FrictionGroup, ...], constants: Constants, *, base: bool = False):
        self.family, self.groups, self.constants, self.base = family, groups, constants, base
        self.layout, self.structure = layout(family, groups), structure_of(family)
        self._whole: dict[tuple[str, int], BoundKernel] = {}
        self._columns: np.ndarray | None = None
        self._parts: dict[tuple[str, int], BoundKernel] = self._whole

    def of(self, columns: np.ndarray) -> Instant:
        """Return the same for some of the samples."""
        result = copy.copy(self)
        result._columns = columns if self._columns is None else self._columns[columns]
        result._parts = {}
        return result

    def __call__(
        self, state: np.ndarray, modes: np.ndarray, acting: np.ndarray, stage: np.ndarray | None = None
    ) -> Arrays:
        """Return outputs named as in `tasks.dynamics.instant.programs.outputs_of_motion`, (1, size, padded samples).

        acting: rows of `StateLayout.acting`; stage: as there.
        """
        if stage is None:
            return self.whole_kernel()(self._inputs(state, modes, acting), state.shape[1])
        inputs = self._inputs(state, modes, acting) | {"stage": stage[None]}
        return self.whole_kernel("implicit")(inputs, state.shape[1])

    def under_loads(self, state: np.ndarray, modes: np.ndarray, acting: np.ndarray) -> UnderLoads:
        """Return the motions of samples under normal loads that are given."""
        return UnderLoads(self.whole_kernel("under loads"), self._inputs(state, modes, acting))

    def _inputs(self, state: np.ndarray, modes: np.ndarray, acting: np.ndarray) -> Values:
        """Return the inputs of the kernel of the whole; those of a parallel robot are outputs of its limbs."""
        width, rows = state.shape[1], self.layout.acting
        inputs: Values = {"state": state[None], "modes": modes[None], "force": acting[None, rows["force"]]}
        field: Values = {"gravity": acting[None, rows["base"]]} if self.base else {}
        field |= {"signals": acting[None, rows["signals"]]} if self.layout.signals else {}
        if not self.layout.platform:
            return inputs | field
        moving: Values = {"motion": self._motion(state), **field}
        inputs |= moving | {"load": acting[None, rows["load"]]}
        for k, outputs in enumerate(outputs_of_all(self.limb_kernels(), moving, width)):
            inputs |= indexed(k, dict(outputs))
        return inputs

    def limb_kernels(self) -> list[BoundKernel]:
        """Return the kernel of each limb of a parallel robot."""
        limbs = range(len(self.structure.mechanism.instances))
        return [self._kernel("limb", k, self.constants.of_limb(k)) for k in limbs]

    def whole_kernel(self, form: Form = "explicit") -> BoundKernel:
        """Return the kernel of the chain, or of the whole parallel robot with the results of its limbs as inputs."""
        if not self.layout.platform:
            return self._kernel(form, 0, self.constants.of_limb(0))
        return self._kernel(form, 0, self.constants.of_robot)

    @property
    def in_lanes(self) -> bool:
        """True if every sample is of a case of its own, so that kernels can be part of a sequence."""
        return not self.constants.shared

    def _kernel(self, part: Form | Literal["limb"], number: int, case: Arrays) -> BoundKernel:
        """Return the kernel of a form of the chain or the whole robot, or of a limb by its number."""
        key = (part, number)
        if key not in self._whole:
            self._whole[key] = BoundKernel(self._program(part, number), case)
        if key not in self._parts:
            assert self._columns is not None
            self._parts[key] = self._whole[key].of(self._columns)
        return self._parts[key]

    def _program(self, part: Form | Literal["limb"], number: int) -> Program:
        elastic = self.constants.elastic
        if part == "limb":
            wanted = requests.wanted(self.family, self.groups)[number]
            index = self.structure.mechanism.instances[number].limb
            return limb_motion_program(self.family, index, wanted, self.base, elastic[number][0] if elastic else None)
        if self.layout.platform:
            return platform_motion_program(self.family, self.groups, part, self.base)
        shared = elastic[0][0] if elastic else None
        return motion_program(self.family, self.groups, part, self.base, shared)

    def _motion(self, state: np.ndarray) -> np.ndarray:
        """Return the motion input of the programs of limbs, without acceleration."""
        position, rotation, twist = self.seen(state)
        none = np.zeros_like(position)
        if self.structure.motion_size == 9:
            return np.concatenate([position, twist[3:], none])[None]
        return np.concatenate([position, rotation.reshape(9, -1), twist, none, none])[None]

    def seen(self, state: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return q and q' (freedom, samples); for a platform position (3,), rotation (3, 3), twist (6, samples)."""
        at = self.layout.at
        if not self.layout.platform:
            return state[at["q"]], state[at["qd"]]
        pose = state[at["q"]]
        twist = np.zeros((6, state.shape[1]))
        twist[self.structure.positions] = state[at["qd"]]
        return pose[:3], rotations.rotation_matrix(pose[3:]), twist


UNBALANCED = 1e-9
"""Largest imbalance of forces, relative to the sum of the magnitudes of their terms, in units of sqrt(M_ii)."""


def outputs_of_motion(
    family: Family, groups: tuple[FrictionGroup, ...], pushed: Pushed, limbs: Scalar,
    going: Sequence[Scalar], driven: Sequence[Scalar] = (), loads: Array | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return the state's `rate`, `joints`: OF_JOINTS, `kept_speed` (freedom,) that resting joints allow, `status`.

    `dependent` is 1 where the friction of joints at rest is not unique. The rate is computed with the given modes:
    joints at rest stay at rest, even if `breaking` tells that they break away. So the rate is smooth up to the event
    and beyond it.

    If no joint breaks away, rate and friction must fulfil the equations of motion: `unbalanced` is 1 where they do not
    balance the forces. This occurs at the friction limit of joints that depend almost entirely on others, and means
    that there is no such motion.

    `limbs` is the status of the limbs, `going` the rate of q, `driven` the power of the load. With given `loads`
    (loaded joint,) they are not iterated, and the outputs of `Loads.under` are added.
    """
    search = Loads(pushed, BearingLoads(family, groups, pushed))
    settled, more = (search.settled(), {}) if loads is None else search.under(list(loads))
    breaking = settled.loaded.breaking(settled.moved)
    status = where(limbs > 0.5, limbs, settled.status)
    staying = settled.loaded.moved([0.0] * len(pushed.sticking))
    return {
        "rate": [*going, *_rate(pushed, staying, settled.moved.friction), *driven],
        "joints": [x for each in _of_joints(pushed, settled, breaking) for x in each],
        "kept_speed": settled.loaded.kept_speed(),
        "dependent": [settled.loaded.dependent(breaking)],
        "status": [where(pushed.massless, float(Status.SINGULAR), status)],
        "unbalanced": [_unbalanced(pushed, staying, settled.moved.friction, breaking)],
        **more,
    }


def _unbalanced(pushed: Pushed, moved: Moved, friction: list[Scalar], breaking: list[Scalar]) -> Scalar:
    if not pushed.sticking or not is_zero(pushed.stage.scale):
        return 0.0
    parts = (
        pushed.mass * array(moved.acceleration),
        pushed.rows.T * array(friction),
        -(pushed.jacobian.T * array(pushed.push)),
        pushed.bias[:, None],
    )
    terms = np.concatenate([array(part) for part in parts], axis=1)
    units = [sqrt(abs(m)) for m in np.diagonal(pushed.mass)]
    size = sum((total(row) / unit for row, unit in zip(terms, units, strict=True)), start=0.0)
    result: Scalar = 0.0
    for row, unit in zip(terms, units, strict=True):
        missing: Scalar = sum(row, start=0.0)
        result = where(abs(missing) > size * unit * UNBALANCED, 1.0, result)
    return where(total(breaking) > 0.0, 0.0, result)


def _rate(pushed: Pushed, moved: Moved, friction: list[Scalar]) -> list[Scalar]:
    taken = [tau * v for tau, v in zip(friction, pushed.velocity, strict=True)]
    driven = [u * v for u, v in zip(pushed.push, pushed.jacobian @ array(pushed.speed), strict=True)]
    return [*moved.acceleration, *moved.memory_rate, *taken, *driven]


def _of_joints(pushed: Pushed, settled: SettledMotion, breaking: list[Scalar]) -> tuple[list[Scalar], ...]:
    joints, velocity, moved = pushed.joints, list(pushed.velocity), settled.moved
    limits = [x.limit(load, tau) for x, load, tau in zip(joints, settled.loaded.loads, moved.friction, strict=True)]
    states = zip(joints, velocity, pushed.modes.rest, pushed.modes.memory, strict=True)
    remembered = [each.remembered(v, still, z) for each, v, still, z in states]
    rates = list(abs(pushed.rows) @ abs(array(pushed.speed)))
    return moved.friction, velocity, limits, remembered, breaking, rates
