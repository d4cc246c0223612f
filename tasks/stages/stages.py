"""The dynamics of a robot as a list of stages: a request selects them, and decides their inputs and outputs.

    limb k, ...   platform   assembly   actuation   balance   reactions of limb k, ...

A limb gives its inverse kinematics and dynamics. The assembly gives the actuator forces without friction, and actuation
the forces with friction. The balance of the platform determines multipliers that statics of the limbs leaves open, and
reactions are the wrenches in the joints. There are three ways to run the list: on a whole batch in memory
(`tasks.dynamics.inverse`), on strips of a
block (`tasks.blocks.assembly`), and differentiated (`tasks.blocks.gradients`). Source: hybrid-limb paper, Eqs. (87) to
(96) for limbs, (137) to (140) for the assembly.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping

from robots.quantities import names
from tasks.kernels.keys import Indexed, Key, Shape, indexed
from tasks.kernels.program import Program
from tasks.stages import terms
from tasks.stages.assembly import actuation_program, assembly_program, assembly_shapes
from tasks.stages.limb import ALL_FREEDOMS, LimbRequest, constant_jacobian, limb_program
from tasks.stages.parts import OUTCOME, VELOCITY
from tasks.stages.platform import platform_program
from tasks.stages.reactions import balance_program, balance_shapes, reaction_program
from tasks.stages.request import Request
from tasks.stages.stage import Rows, Stage

OF_ROBOT = ("parameters", "gravity")
"""Case inputs of a limb that all limbs share; others are its own."""

GIVEN: Mapping[Key, Key] = {"force": "given_force", "history": "given_friction", "status": "given_status"}
"""Names of the values that a motion comes with where forces are given, by the inputs of the actuation stage: forces of
the actuators with friction, friction of all joints in the order of the groups, status."""

REQUESTS = 256
"""Number of requests whose stages are kept, as Newton's method needs the same stages in every step."""

STRIP = 1 << 15
"""Samples of a block that stages work through at a time: their intermediate results stay in the cache."""

DERIVED_STRIP = 1 << 13
"""Largest product of samples and directions that are differentiated at a time, as all values and rates are kept."""


@functools.lru_cache(maxsize=REQUESTS)
def stages(request: Request) -> tuple[Stage, ...]:
    """Return the stages that a request needs, in the order in which they run."""
    return tuple(_stages(request))


def _stages(request: Request) -> Iterator[Stage]:
    limbs = range(len(request.structure.mechanism.instances))
    yield from (limb(request, k) for k in limbs)
    if not request.structure.mechanism.is_chain:
        yield platform(request)
    yield assembly(request)
    if request.actuation:
        yield actuation(request)
    if request.reactions:
        yield balance(request)
        yield from (reactions(request, k) for k in limbs)


@functools.lru_cache(maxsize=REQUESTS)
def limb(request: Request, k: int) -> Stage:
    """Return the stage of inverse kinematics and dynamics of limb k, with terms for reactions, features and metrics."""
    instance, structure = request.structure.mechanism.instances[k], request.structure
    limb_request = LimbRequest(
        series=tuple(name for name in names("limb") if name in request.quantities.both),
        reactions=bool(request.reactions),
        statics=request.statics,
        terms=terms.needed(request.quantities.both, request.robot_parts),
        parts=request.limb_parts(k),
        formulation=request.formulation,
        solver=request.solver or ALL_FREEDOMS,
    )
    further = limb_request.solver.further_inputs(structure, instance.limb)
    own_inputs = (*limb_request.case(structure, instance.limb), *further)
    return Stage(
        instance.name,
        indexed(k, limb_request.shapes(structure, instance.limb)),
        functools.partial(limb_program, request.family, instance.limb, limb_request, request.moving_base),
        {name: Indexed(name, k) for name in own_inputs if name not in OF_ROBOT},
        k,
    )


def platform(request: Request) -> Stage:
    """Return the wrench that the platform's own motion takes, less the load on it."""
    term_names = terms.needed(request.quantities.both, request.robot_parts)
    shapes = terms.platform_outputs(request.structure, term_names, request.statics)
    arguments = (request.family, request.statics, request.moving_base, term_names, request.platform_parts)
    return Stage("platform", shapes, functools.partial(platform_program, *arguments), {})


def assembly(request: Request) -> Stage:
    """Return the stage of actuator forces without friction, velocities, status, friction-independent metrics."""
    series, metrics = request.of("assembly", "series"), request.reduced("assembly")

    def program() -> Program:
        chain = request.family.reference.is_chain
        jacobian = constant_jacobian(limb(request, 0).program) if chain else None
        return assembly_program(request.family, metrics, series, request.robot_parts, jacobian)

    return Stage("assembly", assembly_shapes(request.structure, series), program, {**request.motion})


def actuation(request: Request) -> Stage:
    """Return the stage of the series and metrics of actuators for one friction set."""
    series, metrics = request.actuation.series, request.actuation.metrics
    passive = [len(joints) for joints in request.passive]
    sizes: dict[Key, Shape] = {Indexed("passive_friction", k): (count,) for k, count in enumerate(passive) if count}
    sizes |= {"net_force": (len(request.structure.mechanism.actuators),), OUTCOME: (1,)}
    program = functools.partial(actuation_program, request.family, request.actuator_parts, series, metrics)
    takes: dict[Key, Key | Rows] = {"velocity": VELOCITY, **(GIVEN if request.given else {})}
    return Stage("actuation", {key: sizes[key] for key in series if key in sizes}, program, takes)


def balance(request: Request) -> Stage:
    """Return the stage of the multipliers of redundant conditions, which the balance of the platform decides."""
    return Stage(
        "balance",
        balance_shapes(request.structure),
        functools.partial(balance_program, request.family, tuple(map(len, request.passive))),
        {"force": request.force},
    )


def reactions(request: Request, k: int) -> Stage:
    """Return the wrenches in the joints of limb k."""
    driven, index = request.structure.driven[k], request.structure.mechanism.instances[k].limb
    force = Rows(request.force, (driven.start, driven.stop))
    takes: dict[Key, Key | Rows] = {"mount": Indexed("mount", k), "force": force}
    takes |= {name: Indexed(name, k) for name in ("redundant", "passive_friction", "joint_state")}
    takes |= request.motion
    program = functools.partial(
        reaction_program, request.family, index, request.reactions, request.passive[k], request.moving_base
    )
    return Stage(f"{request.structure.mechanism.instances[k].name}-reactions", {}, program, takes, k)
