"""The program of a representative limb: inverse kinematics and dynamics for a motion of the platform.

Inputs of the programs of a robot family have the same names everywhere: `parameters` in the order of the family,
`mount` (numbers that differ between the instances of a limb), `gravity` (3,) per case; `motion` (see
`tasks.mechanics.recursion`) per sample. A family is traced once; its geometry is an input.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping

import numpy as np

from robots.data_classes import dataclass
from robots.dims import SPACE
from robots.model import Family
from robots.quantities import QUANTITIES
from tasks.kernels.expression import ABSENT, CONSTANT, Array, Numbers, Scalar, Scalars
from tasks.kernels.program import Program, require_shapes, trace
from tasks.mathematics.algebra import array, where
from tasks.mechanics import limb_motion, reactions
from tasks.mechanics.continuation.steps import packed
from tasks.mechanics.families import structure_of
from tasks.mechanics.reactions import LimbStatics
from tasks.mechanics.solving import solved_limb
from tasks.mechanics.structure import Shape, Structure, field_inputs, limb_inputs, signal_inputs
from tasks.stages import terms
from tasks.stages.parts import RECURSION, LimbPart, LimbSample, LimbSolver, SolvedLimb

FIRST = ("wrench", "jacobian", "status")
"""Outputs whose bits do not depend on the rest of the request."""

SERIES: Mapping[str, Callable[[LimbSample], Scalars]] = {
    "joint_velocity": lambda s: s.rates[0],
    "joint_acceleration": lambda s: s.rates[1],
    "joint_position": lambda s: s.positions,
    "actuator_position": lambda s: limb_motion.actuator_positions(s.mounted, s.solved),
    "actuator_acceleration": lambda s: (
        s.transmission.rows(s.solved.accelerations) + s.transmission.rate_rows(s.solved.rates)
    ),
    "link_position": lambda s: [x for pose, _ in s.links for x in pose.position],
    "link_rotation": lambda s: [x for pose, _ in s.links for x in pose.rotation.ravel()],
    "link_twist": lambda s: [x for _, motion in s.links for x in (*motion.omega, *motion.v)],
    "link_acceleration": lambda s: [x for _, motion in s.links for x in (*motion.alpha, *motion.a)],
    "link_wrench": lambda s: [x for moment, force in s.link_wrenches for x in (*moment, *force)],
}
"""Time series of one limb: of all its joints in the order of `Limb.joints`, of its links, or of its own actuators."""

FORMULATIONS: Mapping[str, Callable[[LimbSample, Array], Scalars]] = {
    RECURSION: lambda s, gravity: limb_motion.wrench(s.mounted, s.solved, gravity, s.transmission),
}
"""Formulations of inverse dynamics: a limb's share of the wrench for the motion of the robot's freedoms (freedom,).

A formulation is a function of the limb at one instant and of `gravity`, a vector, or for a moving base the numbers of a
`tasks.mechanics.recursion.Field`. The share is in world axes: a force, and a moment about the reference point of the
platform; for a chain, the forces of its independent joints. Friction, reactions and equations of motion do not depend
on the choice.
"""


@dataclass(frozen=True)
class AllFreedoms(LimbSolver):
    """Solver of limbs whose input `motion` is the motion of all freedoms."""

    def solve(self, structure: Structure, limb_index: int, inputs: Mapping[str, Array]) -> SolvedLimb:
        """Return the solved limb, from the inputs of its program."""
        motion, signals = inputs["motion"], inputs.get("signals", ABSENT)
        parameters, mount = inputs["parameters"], inputs["mount"]
        return (*solved_limb(structure, limb_index, parameters, mount, motion, signals), motion)


ALL_FREEDOMS = AllFreedoms()


@dataclass(frozen=True)
class LimbRequest:
    """Requested outputs of a limb beyond its wrench, its rows of J_IK and its status."""

    series: tuple[str, ...] = ()
    """Names of series, some of SERIES."""
    reactions: bool = False
    """True if reactions follow: adds statics, and `joint_state` where joints are found by iteration."""
    statics: bool = False
    """True if features need `reactions.SHARES`, which reactions need as well."""
    terms: tuple[str, ...] = ()
    """Requested terms of the equations of motion, keys of `terms.NEEDS`."""
    parts: tuple[LimbPart, ...] = ()
    """Terms of features."""
    formulation: str = RECURSION
    """Formulation of the wrench, one of FORMULATIONS."""
    solver: LimbSolver = ALL_FREEDOMS
    """Way from the input `motion` to the joints."""

    @property
    def shares_statics(self) -> bool:
        """Return whether `reactions.SHARES` are among the outputs."""
        return self.statics or self.reactions

    def shapes(self, structure: Structure, limb_index: int) -> dict[str, Shape]:
        """Return names and shapes of the outputs of `limb_program`, known before it is traced."""
        limb_, redundant = structure.mechanism.limbs[limb_index], structure.redundant(limb_index)
        driven, shapes = len(limb_.actuators), terms.limb_outputs(structure, limb_index)
        shapes |= {self.solver.motion: (structure.motion_size,)} if self.solver.motion else {}
        shapes |= reactions.share_shapes(structure.held, driven, redundant) if self.shares_statics else {}
        size = structure.joint_state_size(limb_index) if self.reactions else 0
        shapes |= {"joint_state": (size,)} if size else {}
        shapes |= terms.limb_shapes(structure, limb_index, self.terms)
        for part in self.parts:
            shapes |= part.shapes(structure, limb_index)
        sizes = SPACE | {"actuator": driven, "joint": len(limb_.joints), "link": len(limb_.links)}
        per_sample = {name: [sizes[dim] for dim in QUANTITIES[name].dims if dim in sizes] for name in self.series}
        return shapes | {name: (math.prod(lengths),) for name, lengths in per_sample.items()}

    def case(self, structure: Structure, limb_index: int) -> dict[str, Shape]:
        """Return names and shapes of the case inputs of `limb_program`, `gravity` among them."""
        shapes: dict[str, Shape] = dict(limb_inputs(structure, limb_index))
        for part in self.parts:
            shapes |= part.case(structure, limb_index)
        return shapes

    def outputs(self, sample: LimbSample) -> dict[str, Numbers]:
        """Return the outputs for one sample."""
        mounted, undriven = sample.mounted, np.zeros((0, sample.structure.freedoms))
        result: dict[str, Numbers] = {"wrench": FORMULATIONS[self.formulation](sample, sample.gravity)}
        rows = limb_motion.jacobian(mounted, sample.solved.tips, sample.transmission)
        result |= {"jacobian": rows or undriven, "status": [self._status(sample)]}
        # always in this order: of x - y and y - x, a program keeps the first one
        _ = sample.rates, any(part.uses_positions for part in self.parts) and sample.positions
        series = {name: of(sample) for name, of in SERIES.items() if name in self.series}
        if self.shares_statics:
            result |= reactions.share(sample.of_solved(LimbStatics), sample.gravity)
        result |= terms.of_limb(sample, self.terms)
        for part in self.parts:
            result |= part.terms(sample)
        if self.solver.motion:
            result[self.solver.motion] = sample.motion
        if self.reactions and sample.structure.joint_state_size(sample.limb_index):
            result["joint_state"] = packed(mounted.limb, sample.solved.states)
        return result | {name: series[name] for name in self.series}

    def _status(self, sample: LimbSample) -> Scalar:
        """Return the status of the limb, else the first of its parts'."""
        status = sample.solved.status
        for part in self.parts:
            if (failure := part.failure(sample)) is not None:
                status = where(status > 0.5, status, failure)
        return status


BARE = LimbRequest()


@functools.cache
def limb_program(
    family: Family, limb_index: int, limb_request: LimbRequest = BARE, moving_base: bool = False
) -> Program:
    """Trace inverse kinematics and dynamics of a limb: its `wrench`, its rows `jacobian` of J_IK, its `status`.

    Also the other outputs of `limb_request`. With `moving_base`, `gravity` is a sample input. Raises ValueError for a
    part of a feature that this limb does not support.
    """
    structure = structure_of(family)
    solver = limb_request.solver
    inputs: dict[str, Shape] = {"motion": (solver.size(structure),)} | signal_inputs(family)
    inputs |= solver.further_inputs(structure, limb_index)
    case, sample = field_inputs(limb_request.case(structure, limb_index), inputs, moving_base)

    def one_sample(**values: Array) -> dict[str, Numbers]:
        solved = solver.solve(structure, limb_index, values)
        return limb_request.outputs(LimbSample(structure, limb_index, *solved, array(values["gravity"]), values))

    name = f"{family.name}.{structure.mechanism.limbs[limb_index].name}"
    program = trace(name, one_sample, case=case, sample=sample, first=FIRST)
    require_shapes(program, limb_request.shapes(structure, limb_index))
    return program


def constant_jacobian(program: Program) -> tuple[tuple[float, ...], ...] | None:
    """Return J_IK (actuator, freedom), row by row, of a tree whose joints are its actuators.

    program: program of the only limb of a chain. None if the matrix is not constant.
    """
    shape, places = program.outputs["jacobian"]
    entries = [program.nodes[place] for place in places]
    if any(each.op != CONSTANT for each in entries):
        return None
    return tuple(map(tuple, np.reshape([each.data for each in entries], shape).tolist()))
