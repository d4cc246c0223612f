"""The programs of a robot family: one per representative limb, one for the platform, one for the assembly.

Inputs have the same names everywhere: `parameters` in the order of the family, `mount` (what differs between the
instances of a limb), `gravity` (3,) per case; `motion` (see `tasks.mechanics.platform`) per sample. A family is traced
once; its geometry is an input.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robots.model import TWIST, Family, Frame, Instance, Mechanism
from tasks import pose_metrics
from tasks.friction import joints as joint_friction
from tasks.friction.joints import NO_FRICTION, LimbFriction
from tasks.kernels.expression import CONSTANT, Graph
from tasks.kernels.program import Program, trace
from tasks.limits import MARGINS, NOTHING, LimbLimits, least
from tasks.mathematics.algebra import array, where
from tasks.mechanics import assembly, chain, equations, limb, platform
from tasks.mechanics.embedding import LimbChoice, others
from tasks.mechanics.field import MOVING
from tasks.mechanics.frames import mount_pose
from tasks.mechanics.kinematics import REST, Motion, Pose
from tasks.mechanics.topology import choose
from tasks.pose_metrics import POSE_METRICS
from tasks.reactions import limb as reactions

Array = Any
Shape = tuple[int, ...]
Shapes = dict[str, Shape]
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
        """Number of freedoms; see `Mechanism.freedoms`."""
        return len(self.mechanism.freedoms)

    @property
    def positions(self) -> list[int]:
        """Where the freedoms are in a twist; of a chain among themselves."""
        if self.mechanism.is_chain:
            return list(range(self.freedoms))
        return [TWIST.index(name) for name in self.mechanism.platform.mobility]

    @property
    def held(self) -> int:
        """Number of components of the platform's twist that are not free."""
        return len(reactions.held(self.mechanism.platform.mobility))

    def speed(self, motion: Array) -> Array:
        """Rates of the freedoms (freedom,) in a motion vector: V_t of Eq. (82), of a chain those of its joints."""
        if self.mechanism.is_chain:
            return motion[self.freedoms : 2 * self.freedoms]
        body = self.mechanism.platform
        return platform.free_twist(body, platform.unpack(motion, body)[1])

    def redundant(self, limb_index: int) -> int:
        """Number of rows of a limb's cut joints that its kinematics has dropped."""
        limb_, choice = self.mechanism.limbs[limb_index], self.choices[limb_index]
        kept = [*choice.tip_rows, *(loop.rows for loop in choice.loops)]
        return sum(len(others(each, rows)) for each, rows in zip((*limb_.tips, *limb_.loops), kept, strict=True))

    @property
    def driven(self) -> list[slice]:
        """The actuators of each limb of the robot."""
        counts = [len(self.mechanism.limbs[each.limb].actuators) for each in self.mechanism.instances]
        return [slice(sum(counts[:k]), sum(counts[: k + 1])) for k in range(len(counts))]

    @property
    def motion_size(self) -> int:
        """Length of a motion vector: of a chain, positions, rates and accelerations of its independent joints."""
        return 3 * self.freedoms if self.mechanism.is_chain else platform.motion_size(self.mechanism.platform.mobility)

    def instances(self, limb_index: int) -> list[Instance]:
        """The limbs of the robot that are copies of one representative limb."""
        return [each for each in self.mechanism.instances if each.limb == limb_index]


def flat_mount(instance: Instance) -> list[Any]:
    """The 24 numbers of an instance's mount frames: rotation, position, at base and platform."""
    frames = (instance.base, instance.platform)
    # entries may be arrays over designs, which an array of objects would take apart
    return [x for frame in frames for x in (*(x for row in frame.rotation for x in row), *frame.position)]


def _mount_frames(numbers: Sequence[Any]) -> tuple[Frame, Frame]:
    def frame(part: Sequence[Any]) -> Frame:
        rows = tuple(tuple(part[3 * i : 3 * i + 3]) for i in range(3))
        return Frame(rows, tuple(part[9:12]))  # type: ignore[arg-type]

    return frame(numbers[:12]), frame(numbers[12:])


@functools.cache
def structure(family: Family) -> Structure:
    """Analyse a family at its default parameters. Raises tasks.mechanics.topology.TopologyError."""
    mechanism = family.reference
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


def symbolic(made: Structure, parameters: Array) -> Mechanism:
    """The mechanism with these parameters, in the family's order."""
    names = [p.name for p in made.family.parameters]
    return made.family.assemble(dict(zip(names, parameters, strict=True)))


FIRST = ("wrench", "jacobian", "status")
"""Outputs whose bits do not depend on what else is asked for."""

LIMB_SERIES = ("joint_position", "joint_velocity", "joint_acceleration")
OWN_SERIES = ("actuator_position",)
"""Series of the limb's own actuators."""


@functools.cache
def limb_program(
    family: Family,
    limb_index: int,
    series: tuple[str, ...] = (),
    statics: bool = False,
    friction: LimbFriction = NO_FRICTION,
    moving_base: bool = False,
    mass: bool = False,
    limits: LimbLimits = NOTHING,
    reference: bool = False,
) -> Program:
    """Inverse kinematics and dynamics of a limb: its `wrench`, its rows `jacobian` of J_IK, its `status`.

    `series` adds any of LIMB_SERIES for all joints in the order of `Limb.joints`, or of OWN_SERIES; `statics` adds
    `reactions.SHARES`, `friction` what `joint_friction.share` gives, `mass` the limb's share of the mass matrix
    (freedom, freedom), `limits` its margins to them, from a case input of that name, `reference` the `home_jacobian`,
    its rows of J_IK at the reference pose; with `moving_base`, `gravity` is a sample input. Raises ValueError for
    statics or friction of a limb with `every_row`, as reactions rest on a choice of rows.
    """
    made = structure(family)
    statics = statics or friction.statics
    case, sample = field_inputs(limb_inputs(made, limb_index), {"motion": (made.motion_size,)}, moving_base)
    case |= {"limits": limits.shape} if limits != NOTHING else {}
    if (statics or friction != NO_FRICTION) and made.mechanism.limbs[limb_index].every_row:
        raise ValueError(
            f"every_row: reactions of {family.name} got limb {made.mechanism.limbs[limb_index].name} with every row of "
            "its tips; expected limbs with a choice of rows; leave every_row out, or call tasks.reactions.system"
        )

    def one_sample(parameters: Array, mount: Array, gravity: Array, motion: Array, **given: Array) -> dict[str, Any]:
        mounted, solved, pose, moving = solved_limb(made, limb_index, parameters, mount, motion)
        wrench, jacobian = limb.dynamics(mounted, solved, array(gravity))
        result: dict[str, Any] = {"wrench": wrench, "jacobian": jacobian, "status": [solved.status]}
        rates, accelerations = limb.joint_rates(mounted, solved, moving)
        available = {"joint_velocity": rates, "joint_acceleration": accelerations}
        if "joint_position" in series or limits.positions:
            available["joint_position"] = limb.joint_positions(mounted, solved, motion)
        if "actuator_position" in series:
            available["actuator_position"] = limb.actuator_positions(mounted, solved)
        if statics:
            result |= reactions.share(reactions.LimbStatics(mounted, solved), array(gravity))
        if friction != NO_FRICTION:
            result |= joint_friction.share(reactions.LimbStatics(mounted, solved), moving, array(gravity), friction)
        if mass:
            share = equations.limb_share(mounted, solved, (pose, moving), made.speed(motion), np.zeros(3))
            result["mass"] = share.mass
        if limits != NOTHING:
            result |= limits.shares(given["limits"], available.get("joint_position", ()), rates)
        if reference:
            result["home_jacobian"] = limb.home_jacobian(mounted, mount_pose(symbolic(made, parameters).platform.home))
        return result | {name: available[name] for name in series}

    name = f"{family.name}.{made.mechanism.limbs[limb_index].name}"
    return trace(name, one_sample, case=case, sample=sample, first=FIRST)


def limb_inputs(made: Structure, limb_index: int) -> dict[str, tuple[int, ...]]:
    """Case inputs of the programs of a limb."""
    count = len(made.differing[limb_index])
    return {"parameters": (len(made.family.parameters),), "mount": (count,), "gravity": (GRAVITY,)}


def field_inputs(case: Mapping[str, Shape], sample: Mapping[str, Shape], moving_base: bool) -> tuple[Shapes, Shapes]:
    """Inputs of a program, (per case, per sample): `gravity` is per sample where the base moves."""
    if not moving_base:
        return dict(case), dict(sample)
    return {name: shape for name, shape in case.items() if name != "gravity"}, {**sample, "gravity": (MOVING,)}


def mounted_limb(
    made: Structure, limb_index: int, parameters: Array, mount: Array, motion: Array
) -> tuple[limb.Mounted, Pose, Pose, Motion]:
    """A limb from the inputs of a kernel; the platform's reference pose, its pose and its motion."""
    mechanism = symbolic(made, parameters)
    if mechanism.is_chain:
        seat = mount_pose(Frame())
        return chain.Chain(mechanism.limbs[limb_index], made.choices[limb_index], seat, seat, ()), seat, seat, REST
    numbers = flat_mount(next(each for each in mechanism.instances if each.limb == limb_index))
    for k, value in zip(made.differing[limb_index], mount, strict=True):
        numbers[k] = value
    base, at_platform = (mount_pose(frame) for frame in _mount_frames(numbers))
    body = mechanism.platform
    mounted = limb.Mounted(mechanism.limbs[limb_index], made.choices[limb_index], base, at_platform, body.mobility)
    return mounted, mount_pose(body.home), *platform.unpack(motion, body)


def solved_limb(
    made: Structure, limb_index: int, parameters: Array, mount: Array, motion: Array
) -> tuple[limb.Mounted, limb.Solved, Pose, Motion]:
    """A limb solved for a motion of the platform, from the inputs of a kernel; and that pose and motion."""
    mounted, home, pose, moving = mounted_limb(made, limb_index, parameters, mount, motion)
    if isinstance(mounted, chain.Chain):
        return mounted, chain.solve(mounted, *np.split(motion, 3)), pose, moving
    return mounted, limb.solve(mounted, home, pose, moving), pose, moving


@functools.cache
def platform_program(family: Family, held: bool = False, moving_base: bool = False, mass: bool = False) -> Program:
    """The `wrench` that the platform's own motion takes along its free twists.

    On request along those `held`, and the platform's share of the `mass` matrix.
    """
    made = structure(family)

    def one_sample(parameters: Array, gravity: Array, motion: Array) -> dict[str, Any]:
        body = symbolic(made, parameters).platform
        pose, moving = platform.unpack(motion, body)
        wrench = platform.wrench(body, pose, moving, gravity)
        result = {"wrench": [wrench[TWIST.index(name)] for name in body.mobility]}
        if held:
            result["held"] = [wrench[TWIST.index(name)] for name in reactions.held(body.mobility)]
        if mass:
            result["mass"] = equations.platform_share(body, pose, moving, np.zeros(3)).mass
        return result

    sizes = {"parameters": (len(family.parameters),), "gravity": (GRAVITY,)}
    case, sample = field_inputs(sizes, {"motion": (made.motion_size,)}, moving_base)
    return trace(f"{family.name}.platform", one_sample, case=case, sample=sample, first=FIRST[:1])


COUNTS = {"failed_samples": "sum", "worst_status": "max"}
"""What is told of the samples of a case, and how it is reduced."""

CASE_METRICS = (*COUNTS, *(name for name, metric in POSE_METRICS.items() if not metric.mass))
MASS_METRICS = tuple(name for name, metric in POSE_METRICS.items() if metric.mass)
"""Metrics of a case that do not depend on friction; those of mass need shares of the mass matrix."""


@functools.cache
def assembly_program(family: Family, metrics: tuple[str, ...] = (), limits: tuple[LimbLimits, ...] = ()) -> Program:
    """Actuator `force` without friction, actuator `velocity` and `status` from the results of limbs and platform.

    Sample inputs: `motion`, `platform_wrench` (not of a chain), and for limb k of the robot `wrench_k`, `jacobian_k`
    and `status_k`. `metrics` adds any of CASE_METRICS and MASS_METRICS, reduced over the samples of a
    case but not finished. For the latter there are also sample inputs `mass_k` and `platform_mass`. With `limits` of
    each limb there are those of their `margins`; a sample beyond a range of positions has the status JOINT_LIMIT.
    Case input, of a robot with more actuators than freedoms alone: `weights` (actuator,), see `even_weights`.
    """
    made = structure(family)
    count, free = len(made.mechanism.instances), made.freedoms
    case = {name: value.shape[1:] for name, value in even_weights(family).items()}
    driven = [len(made.mechanism.limbs[each.limb].actuators) for each in made.mechanism.instances]
    massive, known = pose_metrics.needs_mass(metrics), _constant_jacobian(family)
    limited = {name: [k for k, each in enumerate(limits) if name in each.margins] for name in MARGINS}
    compared = pose_metrics.needs_reference(metrics)

    def one_sample(
        motion: Array, platform_wrench: Array = 0.0, platform_mass: Array = 0.0, weights: Array = None, **shares: Array
    ) -> dict[str, Any]:
        jacobian = known if known is not None else np.vstack([shares[f"jacobian_{k}"] for k in range(count)])
        wrench = platform_wrench + sum(shares[f"wrench_{k}"] for k in range(count))
        forces = assembly.actuator_forces(jacobian, wrench, weights)
        velocity = jacobian @ made.speed(motion)
        status = assembly.combined_status([shares[f"status_{k}"][0] for k in range(count)], jacobian, forces)
        margins = {name: least([shares[f"{name}_{k}"][0] for k in limited[name]]) for name in limited if limited[name]}
        status, solved = assembly.limited_status(status, margins.get("margin")), status
        mass = sum((shares[f"mass_{k}"] for k in range(count)), start=platform_mass) if massive else np.eye(free)
        posture = pose_metrics.posture(made.mechanism, jacobian, mass, status, solved=solved, **margins)
        if compared:
            posture = posture.beside(np.vstack([shares[f"home_jacobian_{k}"] for k in range(count)]))
        available: dict[str, Any] = {"failed_samples": [where(posture.failed, 1.0, 0.0)], "worst_status": [status]}
        available |= {name: [POSE_METRICS[name].of(posture)] for name in metrics if name in POSE_METRICS}
        chosen = {name: available[name] for name in metrics}
        return {"force": forces, "velocity": velocity, "status": [status], **chosen}

    sample: dict[str, tuple[int, ...]] = {"motion": (made.motion_size,)}
    sample |= {} if made.mechanism.is_chain else {"platform_wrench": (free,)}
    sample |= {"platform_mass": (free, free)} if massive and not made.mechanism.is_chain else {}
    for k in range(count):
        sample |= {f"wrench_{k}": (free,), f"jacobian_{k}": (driven[k], free), f"status_{k}": (1,)}
        sample |= {f"mass_{k}": (free, free)} if massive else {}
        sample |= {f"home_jacobian_{k}": (driven[k], free)} if compared else {}
        sample |= {f"{name}_{k}": (1,) for name in MARGINS if k in limited[name]}
    chosen = {name: COUNTS[name] if name in COUNTS else POSE_METRICS[name].reduction for name in metrics}
    return trace(
        f"{family.name}.assembly",
        one_sample,
        case=case,
        sample=sample,
        reductions=chosen,
        first=("force", "velocity", "status"),
    )


def _constant_jacobian(family: Family) -> Array | None:
    """J_IK (actuator, freedom) of a tree whose joints are its actuators: a constant, and nothing is left to invert."""
    if not family.reference.is_chain:
        return None
    program = limb_program(family, 0)
    shape, places = program.outputs["jacobian"]
    entries = [program.nodes[place] for place in places]
    return np.reshape([each.data for each in entries], shape) if all(e.op == CONSTANT for e in entries) else None


def even_weights(family: Family) -> dict[str, np.ndarray]:
    """The case input `weights` (1, actuator) of an assembly whose actuators count alike; none without a choice."""
    made = structure(family)
    count = len(made.mechanism.actuators)
    return {"weights": np.ones((1, count))} if count > made.freedoms else {}


def with_parameters(family: Family, values: Mapping[str, Array]) -> np.ndarray:
    """The `parameters` input: an array (cases, parameters) from values by name; one case of a robot without any."""
    columns = [np.atleast_1d(np.asarray(values[p.name], dtype=float)) for p in family.parameters]
    return np.ascontiguousarray(np.stack(columns, axis=1)) if columns else np.zeros((1, 0))
