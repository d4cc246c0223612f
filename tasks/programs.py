"""The programs of a robot family: one per representative limb, one for the platform, one for the assembly.

Inputs have the same names everywhere: `parameters` in the order of the family, `mount` (what differs between the
instances of a limb), `gravity` (3,) per case; `motion` (see `tasks.platform`) per sample. A family is traced once; its
geometry is an input.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robots.model import Family, Frame, Instance, Mechanism
from tasks import assembly, limb, platform
from tasks.algebra import array, condition_number, where
from tasks.embedding import LimbChoice
from tasks.frames import mount_pose
from tasks.kernels.expression import Graph
from tasks.kernels.program import Program, trace
from tasks.topology import choose

Array = Any
GRAVITY = 3


@dataclass(frozen=True)
class Structure:
    """What is decided once for a family: the mechanism at its defaults, how limbs are solved, what differs in them."""

    family: Family
    mechanism: Mechanism
    choices: tuple[LimbChoice, ...]
    differing: tuple[tuple[int, ...], ...]  # for each limb: positions in the 24 numbers of its mount frames

    @property
    def freedoms(self) -> int:
        """Number of free components of the platform's twist."""
        return len(self.mechanism.platform.mobility)

    @property
    def motion_size(self) -> int:
        """Length of a motion vector."""
        return platform.motion_size(self.mechanism.platform.mobility)

    def instances(self, limb_index: int) -> list[Instance]:
        """The limbs of the robot that are copies of one representative limb."""
        return [each for each in self.mechanism.instances if each.limb == limb_index]


def flat_mount(instance: Instance) -> list[Any]:
    """The 24 numbers of an instance's mount frames: rotation, position, at base and platform."""
    frames = (instance.base, instance.platform)
    return [x for frame in frames for x in (*np.ravel(np.asarray(frame.rotation, dtype=object)), *frame.position)]


def _mount_frames(numbers: Sequence[Any]) -> tuple[Frame, Frame]:
    def frame(part: Sequence[Any]) -> Frame:
        rows = tuple(tuple(part[3 * i : 3 * i + 3]) for i in range(3))
        return Frame(rows, tuple(part[9:12]))  # type: ignore[arg-type]

    return frame(numbers[:12]), frame(numbers[12:])


@functools.cache
def structure(family: Family) -> Structure:
    """Analyse a family at its default parameters. Raises tasks.topology.TopologyError."""
    defaults = {p.name: p.default for p in family.parameters}
    mechanism = family.assemble(defaults)
    indices = range(len(mechanism.limbs))
    choices = tuple(choose(mechanism, k) for k in indices)
    return Structure(family, mechanism, choices, tuple(_differing(family, k) for k in indices))


def _differing(family: Family, limb_index: int) -> tuple[int, ...]:
    graph = Graph()
    symbols = {p.name: graph.node("case", data=("parameters", i)) for i, p in enumerate(family.parameters)}
    mounts = [flat_mount(each) for each in family.assemble(symbols).instances if each.limb == limb_index]
    numbers = [[graph.lift(x).number for x in mount] for mount in mounts]
    return tuple(k for k in range(24) if len({row[k] for row in numbers}) > 1)


def mount_values(family: Family, values: Mapping[str, Array]) -> list[np.ndarray]:
    """The `mount` input of each instance for parameters of shape (cases,): arrays (cases, numbers that differ)."""
    made = structure(family)
    cases = max((np.size(v) for v in values.values()), default=1)
    mechanism = family.assemble({name: np.asarray(value, dtype=float) for name, value in values.items()})
    result = []
    for instance in mechanism.instances:
        flat = flat_mount(instance)
        chosen = [np.broadcast_to(flat[k], (cases,)) for k in made.differing[instance.limb]]
        result.append(np.ascontiguousarray(np.stack(chosen, axis=1)) if chosen else np.zeros((cases, 0)))
    return result


def _symbolic(made: Structure, parameters: Array) -> Mechanism:
    names = [p.name for p in made.family.parameters]
    return made.family.assemble(dict(zip(names, parameters, strict=True)))


LIMB_SERIES = ("joint_position", "joint_velocity", "joint_acceleration")


@functools.cache
def limb_program(family: Family, limb_index: int, series: tuple[str, ...] = ()) -> Program:
    """Inverse kinematics and dynamics of a limb: its `wrench`, its rows `jacobian` of J_IK, its `status`.

    `series` adds any of LIMB_SERIES for the tree joints and the joint at the platform.
    """
    made = structure(family)

    def one_sample(parameters: Array, mount: Array, gravity: Array, motion: Array) -> dict[str, Any]:
        mechanism = _symbolic(made, parameters)
        instance = next(each for each in mechanism.instances if each.limb == limb_index)
        numbers = flat_mount(instance)
        for k, value in zip(made.differing[limb_index], mount, strict=True):
            numbers[k] = value
        base, at_platform = (mount_pose(frame) for frame in _mount_frames(numbers))
        mobility = mechanism.platform.mobility
        mounted = limb.Mounted(mechanism.limbs[limb_index], made.choices[limb_index], base, at_platform, mobility)
        pose, moving = platform.unpack(motion, mechanism.platform)
        solved = limb.solve(mounted, mount_pose(mechanism.platform.home), pose, moving)
        wrench, jacobian = limb.dynamics(mounted, solved, array(gravity))
        result: dict[str, Any] = {"wrench": wrench, "jacobian": jacobian, "status": [solved.status]}
        rates, accelerations = limb.joint_rates(mounted, solved, moving)
        available = {"joint_velocity": rates, "joint_acceleration": accelerations}
        if "joint_position" in series:
            available["joint_position"] = limb.joint_angles(mounted, solved)
        return result | {name: available[name] for name in series}

    sizes = {
        "parameters": (len(family.parameters),),
        "mount": (len(made.differing[limb_index]),),
        "gravity": (GRAVITY,),
    }
    name = f"{family.name}.{made.mechanism.limbs[limb_index].name}"
    return trace(name, one_sample, case=sizes, sample={"motion": (made.motion_size,)})


@functools.cache
def platform_program(family: Family) -> Program:
    """The `wrench` that the platform's own motion takes."""
    made = structure(family)

    def one_sample(parameters: Array, gravity: Array, motion: Array) -> dict[str, Any]:
        body = _symbolic(made, parameters).platform
        return {"wrench": platform.wrench(body, *platform.unpack(motion, body), gravity)}

    sizes = {"parameters": (len(family.parameters),), "gravity": (GRAVITY,)}
    return trace(f"{family.name}.platform", one_sample, case=sizes, sample={"motion": (made.motion_size,)})


CASE_METRICS = ("failed_samples", "worst_status", "condition")


@functools.cache
def assembly_program(family: Family, metrics: tuple[str, ...] = ()) -> Program:
    """Actuator `force` without friction, actuator `velocity` and `status` from the results of limbs and platform.

    Sample inputs: `motion`, `platform_wrench`, and for limb k of the robot `wrench_k, jacobian_k, status_k`. `metrics`
    adds any of CASE_METRICS, reduced over the samples of a case; condition is that of J_IK.
    """
    made = structure(family)
    count, free = len(made.mechanism.instances), made.freedoms
    driven = [len(made.mechanism.limbs[each.limb].actuated) for each in made.mechanism.instances]

    def one_sample(motion: Array, platform_wrench: Array, **shares: Array) -> dict[str, Any]:
        jacobian = np.vstack([shares[f"jacobian_{k}"] for k in range(count)])
        wrench = platform_wrench + sum(shares[f"wrench_{k}"] for k in range(count))
        forces = assembly.actuator_forces(jacobian, wrench)
        _, moving = platform.unpack(motion, made.mechanism.platform)
        velocity = jacobian @ platform.free_twist(made.mechanism.platform, moving)
        status = assembly.combined_status([shares[f"status_{k}"][0] for k in range(count)], jacobian, forces)
        available = {"failed_samples": [where(status > 0.5, 1.0, 0.0)], "worst_status": [status]}
        if "condition" in metrics:
            available["condition"] = [where(status > 0.5, np.nan, condition_number(jacobian))]
        chosen = {name: available[name] for name in metrics}
        return {"force": forces, "velocity": velocity, "status": [status], **chosen}

    sample: dict[str, tuple[int, ...]] = {"motion": (made.motion_size,), "platform_wrench": (free,)}
    for k in range(count):
        sample |= {f"wrench_{k}": (free,), f"jacobian_{k}": (driven[k], free), f"status_{k}": (1,)}
    reductions = {"failed_samples": "sum", "worst_status": "max", "condition": "max"}
    chosen = {name: reductions[name] for name in metrics}
    return trace(f"{family.name}.assembly", one_sample, case={}, sample=sample, reductions=chosen)


def with_parameters(family: Family, values: Mapping[str, Array]) -> np.ndarray:
    """The `parameters` input: an array (cases, parameters) from values by name."""
    return np.ascontiguousarray(
        np.stack([np.atleast_1d(np.asarray(values[p.name], dtype=float)) for p in family.parameters], axis=1)
    )
