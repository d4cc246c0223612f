"""Given motion of all joints of the spanning tree: nothing is solved for, and the residuals of the loops are results.

    r = c(theta),    r' = G theta' - J x',    r'' = G theta'' + G' theta' - (J x')'

c are the rows of all cut joints, redundant rows included, and of joints that follow others; x' is the twist of the
platform. Forces are computed from the given theta, theta' and theta''; a sample whose residuals are beyond a tolerance
has the status LOOP_OPEN.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import numpy as np

from robots.data_classes import dataclass, replace
from robots.model import PLATFORM, Family, Limb
from robots.status import Status
from tasks.kernels.expression import ABSENT, Array, Numbers, Scalar, Scalars
from tasks.kernels.keys import Indexed, Shape, Shapes, indexed
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import array, every, total, where
from tasks.mechanics import chain, limb, limb_motion
from tasks.mechanics.chain import Chain
from tasks.mechanics.families import structure_of
from tasks.mechanics.kinematics import Pose, SpatialMotion, motions, state_at
from tasks.mechanics.limb_motion import Mounted, Solved
from tasks.mechanics.solving import mounted_limb
from tasks.mechanics.structure import Structure, field_inputs, limb_inputs, signal_inputs
from tasks.stages.parts import LimbPart, LimbSample, LimbSolver, SolvedLimb
from tasks.stages.request import Feature, Request
from tasks.stages.stage import Stage

TREE, ALLOWED, GAP, FORCE = "tree_motion", "allowed_gap", "gap", "tree_force"
"""Keys of a limb's inputs and outputs: angles, rates and accelerations of its tree (3 joint,), allowed and actual
residuals with their derivatives (ORDERS,), generalised forces of its tree (joint,)."""

ORDERS = 3
"""Residuals, and their first and second derivatives."""

TURNED_OVER = 2.0
"""Residual of a cut joint whose axes point opposite ways: the difference of their unit vectors."""


@dataclass(frozen=True)
class TreeMotion(Feature):
    """Motion of all joints of the spanning tree, if it is `given`."""

    given: bool = False

    def solver(self, request: Request) -> LimbSolver | None:
        """Return the joints as they are given."""
        return TreeJoints() if self.given else None

    def of_limb(self, request: Request, k: int) -> LimbPart | None:
        """Return residuals and generalised forces."""
        return TreeTerms() if self.given else None


@dataclass(frozen=True)
class TreeJoints(LimbSolver):
    """Way to the joints of a limb that takes them as they are given. The status tells a singular limb and branches."""

    def further_inputs(self, structure: Structure, limb_index: int) -> Shapes:
        """Return the motion of the tree's joints."""
        return {TREE: (ORDERS * len(structure.mechanism.limbs[limb_index].links),)}

    def solve(self, structure: Structure, limb_index: int, inputs: Mapping[str, Array]) -> SolvedLimb:
        """Return the limb at the given joints."""
        mounted, home, pose, moving = _mounted(structure, limb_index, inputs)
        angles, rates, accelerations = map(array, np.split(inputs[TREE], ORDERS))
        if isinstance(mounted, Chain):
            solved = chain.at_angles(mounted, angles, rates[list(mounted.choice.independent)])
        else:
            solved = limb.at_angles(mounted, angles, home, pose, moving)
        return mounted, replace(solved, rates=rates, accelerations=accelerations), pose, moving, inputs["motion"]


def _mounted(
    structure: Structure, limb_index: int, inputs: Mapping[str, Array]
) -> tuple[Mounted, Pose, Pose, SpatialMotion]:
    parameters, mount, motion = (inputs[name] for name in ("parameters", "mount", "motion"))
    return mounted_limb(structure, limb_index, parameters, mount, motion, inputs.get("signals", ABSENT))


@dataclass(frozen=True)
class TreeTerms(LimbPart):
    """Residuals of the loops of a limb, and generalised forces of its tree."""

    def case(self, structure: Structure, limb_index: int) -> Shapes:
        """Return the residuals that are allowed."""
        return {ALLOWED: (ORDERS,)}

    def shapes(self, structure: Structure, limb_index: int) -> dict[str, Shape]:
        """Return residuals and generalised forces."""
        return {GAP: (ORDERS,), FORCE: (len(structure.mechanism.limbs[limb_index].links),)}

    def failure(self, sample: LimbSample) -> Scalar:
        """Return LOOP_OPEN where a residual is larger than allowed, or no number."""
        closed = every([gap <= most for gap, most in zip(gaps(sample), sample.inputs[ALLOWED], strict=True)])
        return where(closed, float(Status.OK), float(Status.LOOP_OPEN))

    def terms(self, sample: LimbSample) -> Mapping[str, Numbers]:
        """Return both."""
        forces = limb_motion.tree_dynamics(sample.mounted, sample.solved, sample.gravity, sample.transmission)[1]
        return {GAP: gaps(sample), FORCE: list(forces)}


TERMS = TreeTerms()


def tree_stage(request: Request, k: int, *, closed: bool = True) -> Stage:
    """Return the stage of limb k that gives its generalised forces and status, and projects nothing.

    It has residuals as well, unless nothing is to be `closed`.
    """
    instance, structure = request.structure.mechanism.instances[k], request.structure
    own_inputs = ("mount", ALLOWED, TREE) if closed else ("mount", TREE)
    shapes = {name: shape for name, shape in TERMS.shapes(structure, instance.limb).items() if closed or name != GAP}
    return Stage(
        f"{instance.name}-tree",
        indexed(k, {**shapes, "status": (1,)}),
        functools.partial(tree_program, request.family, instance.limb, request.moving_base, closed),
        {name: Indexed(name, k) for name in own_inputs},
        k,
    )


@functools.cache
def tree_program(family: Family, limb_index: int, moving_base: bool = False, closed: bool = True) -> Program:
    """Trace the generalised forces of a limb's tree and, where it is to be `closed`, the residuals of its loops.

    Singular limbs are OK here.
    """
    structure = structure_of(family)
    inputs: Shapes = {"motion": (structure.motion_size,), **signal_inputs(family)}
    inputs = {**inputs, **TreeJoints().further_inputs(structure, limb_index)}
    allowed = TERMS.case(structure, limb_index) if closed else {}
    limb_case = {**limb_inputs(structure, limb_index), **allowed}
    case, samples = field_inputs(limb_case, inputs, moving_base)

    def one_sample(**values: Array) -> dict[str, Numbers]:
        mounted, _, pose, moving = _mounted(structure, limb_index, values)
        angles, rates, accelerations = map(array, np.split(values[TREE], ORDERS))
        states = [state_at(link, angle) for link, angle in zip(mounted.limb.links, angles, strict=True)]
        placed = Solved(mounted.tips(states, pose), states, rates, accelerations, 0.0, dict(enumerate(angles)))
        motion, gravity = values["motion"], array(values["gravity"])
        sample = LimbSample(structure, limb_index, mounted, placed, pose, moving, motion, gravity, values)
        terms = dict(TERMS.terms(sample))
        finite = total(array(terms[FORCE])) < np.inf
        status: Scalar = where(finite, float(Status.OK), float(Status.NONFINITE))
        if not closed:
            return {FORCE: terms[FORCE], "status": [status]}
        failure = TERMS.failure(sample)
        return {**terms, "status": [where(failure > 0.5, failure, status)]}

    name = f"{family.name}.{structure.mechanism.limbs[limb_index].name}.{'tree' if closed else 'open_tree'}"
    return trace(name, one_sample, case=case, sample=samples)


def gaps(sample: LimbSample) -> list[Scalar]:
    """Return the residuals of the loops of a limb, of rates and accelerations, sums of magnitudes (ORDERS,)."""
    mounted, solved = sample.mounted, sample.solved
    tips, tree = solved.tips, mounted.limb
    bodies = motions(tree.links, tips.at, solved.rates, solved.accelerations)
    bodies |= {PLATFORM: mounted.inward(sample.moving)}
    origins = {k: pose.position for k, pose in tips.at.items()} | {PLATFORM: tips.reference}
    angles = array([solved.given[joint] for joint in range(len(tree.links))])
    residuals = [_following(tree, values) for values in (angles, solved.rates, solved.accelerations)]
    for closure, joined in zip(tree.cuts, tips.cut_joints, strict=True):
        a, b = bodies[closure.a], bodies[closure.b]
        at_a, at_b = joined.point - origins[closure.a], joined.b.origin - origins[closure.b]
        residuals[0] += [*joined.residual(), *(where(mask, 0.0, TURNED_OVER) for mask in joined.facing())]
        residuals[1] += joined.rate(a.omega - b.omega, a.at(at_a)[0] - b.at(at_b)[0])
        residuals[2] += joined.drift(a, b, at_a, at_b)
    return [total(values) for values in residuals]


def _following(tree: Limb, values: Scalars) -> list[Scalar]:
    """Return the deviations of followers from their leading joints times ratios."""
    return [
        values[joint] - sum((values[leader] * ratio for leader, ratio in leaders), start=0.0)
        for joint, leaders in tree.followers.items()
    ]
