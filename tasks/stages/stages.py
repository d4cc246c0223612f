"""The dynamics of a robot as a list of stages: what is asked for selects them, and says what each takes and gives.

    limb k, ...   platform   assembly   actuation   balance   reactions of limb k, ...

A limb gives its inverse kinematics and dynamics, the assembly the actuator forces without friction, actuation what
friction makes of them, the balance of the platform what statics of the limbs leaves open, and reactions the wrenches in
the joints. There are three ways to run the list: on a whole batch in memory (`tasks.dynamics.inverse`), on strips of a
block (`tasks.blocks.assembly`), and differentiated (`tasks.blocks.gradients`). Source: hybrid-limb paper, Eqs. (87) to
(96) for limbs, (137) to (140) for the assembly.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from robots.friction.groups import FrictionGroup, settles
from robots.limits import EVEN_SHARING, SharingForm
from robots.model import Family
from robots.quantities import QUANTITIES, any_needs, names
from robots.quantities import Stage as StageName
from tasks.features.friction.joints import LOAD_PARTS, LimbFriction
from tasks.kernels.derivatives import pushforward
from tasks.kernels.keys import Arrays, Indexed, Key, Rate, Shape, Shapes, Values, indexed
from tasks.kernels.program import Program
from tasks.mechanics.structure import Structure, structure_of
from tasks.stages import coupled_friction, terms
from tasks.stages.assembly import OUTCOME, VELOCITY, actuation_program, assembly_program, assembly_shapes
from tasks.stages.criteria import NO_CRITERIA, RobotCriteria
from tasks.stages.limb import RECURSION, LimbRequest, limb_program
from tasks.stages.metrics.margins import NOTHING, LimbLimits
from tasks.stages.platform import platform_program, platform_shapes
from tasks.stages.reactions import balance_program, balance_shapes, reaction_program

LOAD_PART = "normal_load_part"

GIVEN: Mapping[Key, Key] = {"force": "given_force", "history": "given_friction", "status": "given_status"}
"""Names of the values that a motion comes with where forces are given, by the inputs of the actuation stage: forces of
the actuators with friction, friction of all joints in the order of the groups, status."""

STRIP = 1 << 15
"""Samples of a block that stages work through at a time: what they hand on stays in the cache."""


class Runner(Protocol):
    """What runs a program on arrays, as a `tasks.kernels.kernel.Kernel` does."""

    def __call__(self, inputs: Arrays, samples: int, out: Arrays | None = None, *, filled: bool = False) -> Arrays:
        """Outputs for all cases and samples, in `out` where that is given; `filled`: but for what is constant there."""


class Rows(NamedTuple):
    """Some rows of a value: the actuators of one limb among those of the robot."""

    of: str
    rows: tuple[int, int]

    def taken(self, values: Arrays) -> NDArray[np.float64]:
        """The rows, of all cases and samples."""
        return values[self.of][:, slice(*self.rows)]


@dataclass(frozen=True)
class Stage:
    """One step of the dynamics: a program, where its inputs come from, and what its outputs are to other stages."""

    name: str
    shapes: Shapes
    """What the stage gives, for one sample, but for metrics and series that nobody else needs."""
    trace: Callable[[], Program]
    takes: Mapping[Key, Key | Rows]
    """Inputs of the program that go by another name among the values."""
    limb: int | None = None

    @functools.cached_property
    def program(self) -> Program:
        """The program, traced once for each family."""
        return self.trace()

    def gives(self, output: Key) -> Key:
        """What an output of the program is called among the values."""
        return Indexed(output, self.limb) if self.limb is not None and isinstance(output, str) else output

    def inputs(self, values: Arrays) -> Values:
        """Inputs of the program from the values."""
        return {name: _taken(self.takes.get(name, name), values) for name in self.program.inputs}

    def run(
        self,
        kernel: Callable[[Program], Runner],
        values: Arrays,
        samples: int,
        out: Arrays | None = None,
        *,
        filled: bool = False,
    ) -> Values:
        """Compute what the stage gives; into the arrays `out`, by the program's own names, where they are given.

        `filled`: constants are in their places there.
        """
        results = kernel(self.program)(self.inputs(values), samples, out, filled=filled)
        return {self.gives(name): array for name, array in results.items()}

    def run_rates(self, kernel: Callable[[Program], Runner], values: Arrays, samples: int) -> Values:
        """What the stage gives and how it changes, where `values` have rates as well, by Rate of their key."""
        inputs = [name for name in self.program.inputs if not isinstance(name, Rate)]
        rates = {name: rate for name in inputs if (rate := self._rate(name, values)) is not None}
        program = pushforward(self.program, tuple(rates))
        arrays = self.inputs(values) | {Rate(name): rate for name, rate in rates.items()}
        results = kernel(program)(arrays, samples)
        return {self._gives_rate(name): array for name, array in results.items()}

    def _rate(self, name: Key, values: Arrays) -> NDArray[np.float64] | None:
        """How an input changes; None where it does not, or is empty."""
        source = self.takes.get(name, name)
        key = Rate(source.of if isinstance(source, Rows) else source)
        if key not in values or not values[key].shape[1]:
            return None
        return values[key][:, slice(*source.rows)] if isinstance(source, Rows) else values[key]

    def _gives_rate(self, output: Key) -> Key:
        return Rate(self.gives(output.of)) if isinstance(output, Rate) else self.gives(output)


def _taken(source: Key | Rows, values: Arrays) -> NDArray[np.float64]:
    return source.taken(values) if isinstance(source, Rows) else values[source]


@dataclass(frozen=True)
class Request:
    """What is asked of a robot family: quantities by name, friction, limits of limbs, and whether the base moves."""

    family: Family
    wanted: tuple[str, ...] = ()
    groups: tuple[FrictionGroup, ...] = ()
    limits: tuple[LimbLimits, ...] = ()
    moving_base: bool = False
    formulation: str = RECURSION
    """How limbs compute their wrenches, one of `tasks.stages.limb.FORMULATIONS`."""
    loaded: bool = False
    """Whether something acts on the platform."""
    design: RobotCriteria = NO_CRITERIA
    """What is known for criteria of design, whether or not it is wanted."""
    sharing: SharingForm = EVEN_SHARING.form
    """How actuators share forces that are not unique, see `robots.limits.ActuatorSharing`."""
    resolved: bool = False
    """Whether a posture decides freedoms of a redundant chain, of which `motion` gives the others."""
    at_states: bool = False
    """Whether motions are states alone, whose accelerations say nothing, see `assembly_program`."""
    given: bool = False
    """Whether actuator forces, friction of all joints and status are values beside the motion, as of a simulation:
    GIVEN names them. Then forces are not solved for; what limits say of a sample is a margin and no status."""

    @functools.cached_property
    def criteria(self) -> RobotCriteria:
        """What criteria that are wanted ask of limbs and assembly."""
        return self.design.wanted(self.wanted)

    @property
    def terms(self) -> tuple[str, ...]:
        """Terms of the equations of motion that limbs and platform give."""
        return terms.balanced(self.family.reference, self.wanted, at_states=self.unsolved)

    @property
    def unsolved(self) -> bool:
        """Return whether the motion does not decide the actuator forces."""
        return self.at_states or self.given

    @property
    def structure(self) -> Structure:
        """How the family is solved."""
        return structure_of(self.family)

    def stage_of(self, name: str) -> StageName:
        """The stage that gives a quantity: statuses come with friction where that may not settle."""
        row = QUANTITIES[name]
        return "actuation" if row.varies == "where friction settles" and settles(self.groups) else row.stage

    def of(self, stage: StageName, *kinds: str) -> tuple[str, ...]:
        """What is wanted of a stage, of some kinds or all, in the order asked for."""
        found = (name for name in self.wanted if self.stage_of(name) == stage)
        return tuple(name for name in found if not kinds or QUANTITIES[name].kind in kinds)

    @functools.cached_property
    def reactions(self) -> tuple[str, ...]:
        """What is wanted of the joints' reactions."""
        return tuple(name for name in names("reactions") if name in self.wanted)

    @property
    def peaks_alone(self) -> bool:
        """Whether peaks are all that is wanted of reactions, and the same for all friction sets."""
        return self.reactions == ("peak_reaction",) and not any(self.passive)

    @functools.cached_property
    def friction(self) -> tuple[LimbFriction, ...]:
        """What friction asks of each limb; nothing where nobody asks for what it changes."""
        groups = self.groups if self.of("actuation") or self.reactions else ()
        return coupled_friction.wanted(self.family, groups, bool(self.reactions))

    @functools.cached_property
    def passive(self) -> tuple[tuple[int, ...], ...]:
        """Passive joints with friction of each limb: these change what joints carry."""
        return tuple(limb.passive for limb in self.friction)

    @property
    def statics(self) -> bool:
        """Whether the statics of limbs and platform is needed: for reactions, or for friction that depends on them."""
        return bool(self.reactions) or coupled_friction.statics(self.friction)

    @functools.cached_property
    def actuation(self) -> tuple[tuple[Key, ...], tuple[str, ...]]:
        """Series and metrics of the actuation stage; neither where it is not needed.

        Where passive joints have friction, reactions need it, the net forces, and the status that comes of them.
        """
        series: tuple[Key, ...] = tuple(name for name in self.of("actuation", "series"))
        metrics = tuple(name for name in self.of("actuation") if QUANTITIES[name].reduction)
        passive = tuple(Indexed("passive_friction", k) for k, joints in enumerate(self.passive) if joints)
        loads = ("net_force", *passive) if (passive or self.given) and self.reactions else ()
        outcome = (OUTCOME,) if (loads and not self.given) or "status" in self.of("actuation") else ()
        return (*series, *outcome, *loads), metrics

    @property
    def motion(self) -> dict[Key, Key]:
        """Where the motion of all freedoms is, for stages after the limbs, where it has another name than `motion`."""
        return {"motion": Indexed("resolved_motion", 0)} if self.resolved else {}

    @property
    def known(self) -> dict[Key, Shape]:
        """What limbs have found of motions, for the reactions: where joints are, and the motion of all freedoms."""
        instances, sizes = enumerate(self.structure.mechanism.instances), self.structure.joint_state_size
        known: dict[Key, Shape] = dict.fromkeys(self.motion.values(), (self.structure.motion_size,))
        return known | {Indexed("joint_state", k): (sizes(each.limb),) for k, each in instances if sizes(each.limb)}

    @property
    def force(self) -> str:
        """The actuator forces that joints feel: their own friction is inside the drive."""
        return "net_force" if any(self.passive) or self.given else "force"


def stages(request: Request) -> Iterator[Stage]:
    """The stages that a request needs, in the order in which they run."""
    limbs = range(len(request.structure.mechanism.instances))
    yield from (limb(request, k) for k in limbs)
    if not request.structure.mechanism.is_chain:
        yield platform(request)
    yield assembly(request)
    if any(request.actuation):
        yield actuation(request)
    if request.reactions:
        yield balance(request)
        yield from (reactions(request, k) for k in limbs)


def limb(request: Request, k: int) -> Stage:
    """Inverse kinematics and dynamics of limb k, with what friction, reactions, limits and metrics need of it."""
    instance = request.structure.mechanism.instances[k]
    asked = LimbRequest(
        series=tuple(name for name in names("limb") if name in request.wanted),
        statics=bool(request.reactions),
        friction=request.friction[k],
        terms=request.terms,
        limits=request.limits[k] if request.limits else NOTHING,
        reference=any_needs(request.wanted, "reference jacobian"),
        constraints=any_needs(request.wanted, "constraints"),
        formulation=request.formulation,
        criteria=request.criteria.of_limb(k),
        resolved=request.resolved,
    )
    return Stage(
        instance.name,
        indexed(k, asked.shapes(request.structure, instance.limb)),
        functools.partial(limb_program, request.family, instance.limb, asked, request.moving_base),
        {name: Indexed(name, k) for name in ("mount", "limits", "elasticity", "errors", "clearances")},
        k,
    )


def platform(request: Request) -> Stage:
    """The wrench that the platform's own motion takes, less the load on it."""
    asked = request.terms
    shapes = platform_shapes(request.structure, request.statics, asked)
    base, load = request.moving_base, request.loaded
    program = functools.partial(platform_program, request.family, request.statics, base, asked, load)
    return Stage("platform", shapes, program, {})


def assembly(request: Request) -> Stage:
    """Actuator forces without friction, velocities and status, and metrics that do not depend on friction."""
    series = request.of("assembly", "series")
    metrics = tuple(name for name in request.of("assembly") if QUANTITIES[name].reduction)
    limits = request.limits if any(limits != NOTHING for limits in request.limits) else ()
    return Stage(
        "assembly",
        assembly_shapes(request.structure, series),
        functools.partial(
            assembly_program,
            request.family,
            metrics,
            limits,
            series,
            request.criteria,
            request.sharing,
            at_states=request.unsolved,
        ),
        {**request.motion},
    )


def actuation(request: Request) -> Stage:
    """Friction of one set of parameters, and all that depends on it."""
    series, metrics = request.actuation
    passive = [len(joints) for joints in request.passive]
    sizes: dict[Key, Shape] = {Indexed("passive_friction", k): (count,) for k, count in enumerate(passive) if count}
    sizes |= {"net_force": (len(request.structure.mechanism.actuators),), OUTCOME: (1,)}
    return Stage(
        "actuation",
        {key: sizes[key] for key in series if key in sizes},
        functools.partial(
            actuation_program,
            request.family,
            request.groups,
            series,
            metrics,
            switched=request.sharing.switched,
            given=request.given,
        ),
        {"velocity": VELOCITY, **(GIVEN if request.given else {})},
    )


def normal_loads(request: Request) -> Stage:
    """Parts of the normal loads of all joints with friction of one set of parameters."""
    count = sum(len(group.places) for group in request.groups)
    program = functools.partial(
        actuation_program, request.family, request.groups, (LOAD_PART,), (), switched=request.sharing.switched
    )
    return Stage("loads", {LOAD_PART: (LOAD_PARTS * count,)}, program, {"velocity": VELOCITY})


def balance(request: Request) -> Stage:
    """Multipliers of redundant conditions, which the balance of the platform decides."""
    return Stage(
        "balance",
        balance_shapes(request.structure),
        functools.partial(balance_program, request.family, tuple(map(len, request.passive))),
        {"force": request.force},
    )


def reactions(request: Request, k: int) -> Stage:
    """Wrenches in the joints of limb k."""
    driven, index = request.structure.driven[k], request.structure.mechanism.instances[k].limb
    force = Rows(request.force, (driven.start, driven.stop))
    takes: dict[Key, Key | Rows] = {"mount": Indexed("mount", k), "force": force}
    takes |= {name: Indexed(name, k) for name in ("redundant", "passive_friction", "joint_state")}
    takes |= request.motion
    program = functools.partial(
        reaction_program, request.family, index, request.reactions, request.passive[k], request.moving_base
    )
    return Stage(f"{request.structure.mechanism.instances[k].name}-reactions", {}, program, takes, k)
