"""Robot family with loads: their numbers are parameters of it, and they act on its bodies in all computations.

Springs and wrenches become `forces` of limbs and platform; objects become part of the inertia of their carrier. Where
only some copies of a limb are loaded, these become a separate limb. Loads that change over time are fixed at one
instant: the changing numbers are parameters of the family.

Springs along joints, and rotors that drive their joints through springs, change a limb. A rotor is a link on the base,
without mass but with its armature: its energy comes from its own spin alone, as in the reduced model of Spong 1987. The
drive of its actuator turns the rotor alone; the spinning bodies of the drive turn with it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robots.arguments import check_arguments
from robots.criteria.selection import joint_names, platform_link, real_link_names
from robots.data_classes import dataclass, field, replace
from robots.drives import Drive
from robots.expressions.expression import ParsedExpression
from robots.formats.description import CONSTANTS
from robots.geometry import about, diagonal, exact_circle, joined, point, product
from robots.limits import Place, matches, select, select_actuators
from robots.loads.declared import (
    AXES,
    MOMENTS,
    OF_JOINTS,
    STATE,
    TIME,
    BodyLoad,
    BushingLoad,
    DeclaredLoad,
    ElasticDrive,
    JointLoad,
    JointSpringLoad,
    LoadError,
    ObjectLoad,
    PairLoad,
    SpringLoad,
    WrenchLoad,
    check,
    check_value,
    expressions_of,
    parameters_of,
    said_of,
)
from robots.loads.laws import TabulatedNumber, joint_state_names
from robots.loads.signals import Breaks, Signal, carried, signals_of
from robots.loads.wrapped import ExtendedDescription, LimbGroups, extended
from robots.model import PLATFORM, Family, Frame, Inertia, Limb, Link, Mechanism, Robot
from robots.parameter_errors import ParameterError, nearest
from robots.parameters import Parameter
from robots.springs import AppliedWrench, Bushing, ForceElement, ForceLaw, JointSpring, Spring
from robots.trajectories.trajectory import WRENCH
from robots.types import BASE, IDENTITY, Matrix, Number, Vector

AXIS = (0.0, 0.0, 1.0)


def rotor_name(actuator: str) -> str:
    """Return the name of the joint, and of the body, of a rotor."""
    return f"{actuator}_rotor"


def with_spring(limb: Limb, place: int, name: str, load: JointLoad, constants: Mapping[str, Number]) -> Limb:
    """Return a limb with a spring in the joint of that index, or with a rotor for the actuator of that number."""
    numbers = {key: constants.get(f"{name}_{key}", 0.0) for key in OF_JOINTS}
    inertia, _ = numbers.pop("inertia"), numbers.pop("scale")
    if not isinstance(load, ElasticDrive):
        if load.table is not None:
            numbers["force"] = _tabulated(name, load, constants)
        return replace(limb, springs=(*limb.springs, JointSpring(((place, 1.0),), **numbers)))
    return _with_rotor(limb, place, inertia, numbers)


def _with_rotor(limb: Limb, number: int, inertia: Number, numbers: Mapping[str, Number]) -> Limb:
    actuator, kind = limb.actuators[number], limb.actuator_kinds[number]
    name, links = rotor_name(actuator), list(limb.links)
    freedoms = limb.independent or limb.actuated
    if not limb.drives:
        joint = limb.index(actuator)
        ratios: tuple[tuple[int, Number], ...] = ((joint, -1.0),)
        inertia = inertia + links[joint].armature
        links[joint] = replace(links[joint], armature=0.0)
        drives: tuple[Drive, ...] = ()
        moved = tuple(name if entry == actuator else entry for entry in limb.actuated)
    else:
        drive = limb.drives[number]
        ratios = tuple((limb.index(joint), -1.0 * ratio) for joint, ratio in drive.ratios)
        drives = (*limb.drives[:number], _of_rotor(drive, name), *limb.drives[number + 1 :])
        moved = (*limb.actuated, name)
    links.append(Link(name, name, BASE, kind, AXIS, Frame(), point(0.0), inertia))
    spring = JointSpring(((len(links) - 1, 1.0), *ratios), **numbers)
    return replace(
        limb, links=tuple(links), actuated=moved, independent=(*freedoms, name), drives=drives,
        springs=(*limb.springs, spring),
    )  # fmt: skip


def _of_rotor(drive: Drive, rotor: str) -> Drive:
    return replace(drive, ratios=((rotor, 1.0),))


ON_PLATFORM = "platform"
"""The name of a platform as a body that is loaded."""

Items = tuple[tuple[str, int], ...]
"""Loads by name and the links that they act on, by their number in `Limb.links`."""


@dataclass(frozen=True, eq=False)
class LoadedDescription(ExtendedDescription):
    """A family with loads on its bodies, each under a name.

    `limbs` has the loads of each group of limbs.
    """

    loads: tuple[tuple[str, DeclaredLoad], ...] = field(kw_only=True)
    limbs: LimbGroups[Items] = field(kw_only=True)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the robot and its loads."""
        loads = [(name, said_of(load)) for name, load in self.loads]
        return hashlib.sha256(repr((self.origin, loads)).encode()).hexdigest()

    @cached_property
    def signals(self) -> tuple[Signal, ...]:
        """Signals of the loads: numbers that depend on time alone."""
        return tuple(signals_of(dict(self.loads)))

    @property
    def signal_names(self) -> tuple[str, ...]:
        """Names of these signals."""
        return tuple(signal.name for signal in self.signals)

    @cached_property
    def _expressions(self) -> Mapping[str, ParsedExpression]:
        return {
            f"{name}_{number.key}": expression
            for name, load in self.loads
            for number, expression in expressions_of(name, load)
        }

    def changed(self, whole: Mechanism, values: Mapping[str, Number]) -> Mechanism:
        """Return the mechanism with its loads; values of parameters and signals, absent signals are zero."""
        numbers = {**CONSTANTS, **dict.fromkeys(self.signal_names, 0.0), **values}
        numbers |= {key: _number_of(expression, numbers) for key, expression in self._expressions.items()}
        loads = dict(self.loads)

        def with_items(limb: Limb, items: Items) -> Limb:
            for name, body in items:
                limb = _on_limb(limb, body, name, loads[name], numbers)
            return limb

        split = self.limbs.split(whole, with_items)
        platform = whole.platform
        for name, load in self.loads:
            if isinstance(load, BodyLoad) and load.body == ON_PLATFORM and not whole.is_chain:
                if isinstance(load, ObjectLoad):
                    platform = replace(platform, inertia=_carrying(platform.inertia, name, load, numbers))
                else:
                    platform = replace(platform, forces=(*platform.forces, _element(PLATFORM, name, load, numbers)))
        return replace(split, platform=platform)


def signal_values(family: Family, times: ArrayLike, inside: float | None = None) -> NDArray[np.float64]:
    """Return the signals of a family at some times (...) [s]: (signal, ...).

    inside: a time inside the interval without jumps that contains all these times, ends included.
    """
    at, signals = np.asarray(times, dtype=float), _signals(family)
    return np.stack([signal.at(at, inside) for signal in signals]) if signals else np.zeros((0, *at.shape))


def signal_breaks(family: Family) -> Breaks:
    """Return the times at which the signals of a family, or their slopes, jump."""
    signals = _signals(family)
    jumps = sorted({time for signal in signals for time in signal.jumps})
    return Breaks(tuple(sorted({*jumps, *(time for signal in signals for time in signal.bends)})), tuple(jumps))


def _signals(family: Family) -> tuple[Signal, ...]:
    description = family.assemble
    while isinstance(description, ExtendedDescription) and not isinstance(description, LoadedDescription):
        description = description.base.assemble  # the extensions around it have no signals of their own
    return description.signals if isinstance(description, LoadedDescription) and family.signals else ()


def _number_of(expression: ParsedExpression, numbers: Mapping[str, Number]) -> Number:
    """Return the value of an expression, or the law by which it follows from the state."""
    if all(name in numbers for name in expression.names):
        return expression(numbers)
    return _law(expression, expression.names, numbers)


def _law(function: ParsedExpression | TabulatedNumber, names: Iterable[str], numbers: Mapping[str, Number]) -> ForceLaw:
    present = [name for name in names if name in numbers]
    return ForceLaw(function, tuple((name, numbers[name]) for name in present), tuple({*names} - {*present}))


def _tabulated(name: str, load: SpringLoad | JointSpringLoad, numbers: Mapping[str, Number]) -> Number:
    """Return the law of a table, or its number where the argument is one."""
    assert load.table is not None
    variable = next(iter(STATE[type(load)].names))
    argument = variable if load.argument is None else numbers[f"{name}_argument"]
    table = TabulatedNumber(
        load.table, argument.function if isinstance(argument, ForceLaw) else argument, numbers.get(f"{name}_scale", 1.0)
    )
    if isinstance(argument, ForceLaw):
        return ForceLaw(table, argument.values, argument.names)
    return ForceLaw(table, (), (variable,)) if isinstance(argument, str) else table({})


def _on_limb(limb: Limb, body: int, name: str, load: DeclaredLoad, numbers: Mapping[str, Number]) -> Limb:
    if isinstance(load, JointLoad):
        return with_spring(limb, body, name, load, numbers)
    if not isinstance(load, ObjectLoad):
        element = _element(body, name, load, numbers)
        if isinstance(load, PairLoad) and load.other is not None:
            assert isinstance(element, Spring | Bushing)
            joined_element = replace(element, other=_link_of(limb, load.other))
            return replace(limb, forces=(*limb.forces, joined_element, joined_element.reaction()))
        return replace(limb, forces=(*limb.forces, element))
    link = limb.links[body]
    link = replace(link, inertia=_carrying(link.inertia, name, load, numbers))
    return replace(limb, links=(*limb.links[:body], link, *limb.links[body + 1 :]))


def _link_of(limb: Limb, name: str) -> int:
    """Return the number of a link of a limb by its name or pattern, alone or after that of the limb's instance."""
    if name == ON_PLATFORM and limb.coordinates:
        return limb.index(limb.coordinates[-1])
    return next(k for k, link in enumerate(limb.links) if matches(link.body, name.rsplit(".", 1)[-1]))


def _element(
    body: int, name: str, load: WrenchLoad | PairLoad, numbers: Mapping[str, Number]
) -> ForceElement:  # fmt: skip
    def scalar(field: str) -> Number:
        return numbers.get(f"{name}_{field}", 0.0)

    def triple(field: str) -> Vector:
        x, y, z = (numbers.get(f"{name}_{field}_{axis}", 0.0) for axis in AXES)
        return (x, y, z)

    if isinstance(load, SpringLoad):
        stiffness, rest_length, damping, preload = map(scalar, ("stiffness", "rest_length", "damping", "preload"))
        if load.table is not None:
            preload = _tabulated(name, load, numbers)
        lengths = triple("at"), triple("to"), stiffness, rest_length, damping, preload
        return Spring(body, *lengths, damped=load.damping is not None, acts=load.acts or "both")
    if isinstance(load, BushingLoad):
        damped = load.damping is not None or load.turn_damping is not None
        turning = load.turn_stiffness is not None or load.turn_damping is not None
        axes, anchor_axes = _turned(triple("turn")), _turned(triple("to_turn"))
        along, about = (triple("stiffness"), triple("damping")), (triple("turn_stiffness"), triple("turn_damping"))
        return Bushing(body, triple("at"), axes, triple("to"), anchor_axes, *along, *about, damped, turning)
    if load.points is None:
        moment, force = triple("moment"), triple("force")
    else:
        scale = numbers.get(f"{name}_scale", 1.0)
        mx, my, mz, fx, fy, fz = (numbers[f"{name}.{component}"] * scale for component in WRENCH)
        moment, force = (mx, my, mz), (fx, fy, fz)
    return AppliedWrench(body, triple("at"), moment, force, load.axes != "world")


def _turned(angles: Vector) -> Matrix:
    """Return the axes of a frame (columns) that is turned about x, then y, then z [degrees]."""
    result = IDENTITY
    for axis, angle in zip(AXES, angles, strict=True):
        if not (isinstance(angle, float) and angle == 0.0):
            result = product(about(axis, *exact_circle(angle)), result)
    return result


def _carrying(inertia: Inertia, name: str, load: ObjectLoad, constants: Mapping[str, Number]) -> Inertia:
    """Return the inertia of a body together with an object."""
    held = constants.get(carried(name), 1.0)
    x, y, z = (constants.get(f"{name}_at_{axis}", 0.0) for axis in AXES)
    moments = (constants.get(f"{name}_inertia_{end}", 0.0) * held for end in MOMENTS)
    grasped = Inertia(constants[f"{name}_mass"] * held, (x, y, z), diagonal(*moments))
    numbers = (inertia.mass, *(x for row in inertia.tensor for x in row))
    massless = all(isinstance(x, float | int) and x == 0.0 for x in numbers)
    return grasped if massless else joined(inertia, grasped)


def loaded(family: Family, loads: Mapping[str, DeclaredLoad]) -> LoadedDescription:
    """Return the family with loads, each under a name. Raises LoadError."""
    if not loads:
        raise LoadError((), "no loads", "at least one", "Leave them out for none.")
    mechanism, parameters = family.reference, list(family.parameters)
    if family.signals or mechanism.has_forces:
        raise LoadError((), "a robot that has loads", "one without", "Give all of them at once.")
    items: list[list[tuple[str, int]]] = [[] for _ in mechanism.instances]
    joints: dict[str, set[str]] = {}
    for name, load in loads.items():
        check(name, load)
        for k, body in _places(mechanism, name, load):
            rivals = [entry for entry in items[k] if isinstance(loads[entry[0]], ElasticDrive) and entry[1] == body]
            if rivals and isinstance(load, ElasticDrive):
                got = f"{mechanism.actuators[body]}, which {rivals[0][0]} selects, too"
                raise LoadError((name, "actuators"), got, "one elastic drive for each actuator")
            items[k].append((name, body))
            here = joint_state_names(link.joint for link in mechanism.limbs[mechanism.instances[k].limb].links)
            joints[name] = joints.get(name, here) & here
        parameters += _new_parameters(name, load, parameters)
    names = {*CONSTANTS, *(parameter.name for parameter in parameters)}
    for name, load in loads.items():
        _check_expressions(name, load, joints.get(name, set()), names)
    limbs = LimbGroups.of(mechanism, [tuple(placed) for placed in items])
    more = parameters[len(family.parameters) :]
    return LoadedDescription(*extended(family, more), base=family, loads=tuple(loads.items()), limbs=limbs)


def _check_expressions(name: str, load: DeclaredLoad, joints: set[str], names: set[str]) -> None:
    """Raise LoadError for names in expressions of a load that are neither its state nor among `names`, and values."""
    for number, text in expressions_of(name, load):
        state = _state_names(name, load, number.field, joints, names, text)
        if TIME in text.names and TIME in names:
            got = f"{TIME!r}, a parameter, and the time"
            raise LoadError((name, *number.path), got, "one meaning of a name", "Rename the parameter.")
        if unknown := [word for word in text.names if word not in names | state | {TIME}]:
            got, hint = f"the name {unknown[0]!r}", nearest(unknown[0], names | state | {TIME})
            rule = f"the time t, pi, parameters{''.join(f', {word}' for word in sorted(state))}"
            raise LoadError((name, *number.path), got, rule if state else "the time t, pi, and parameters", hint)
        if not {*text.names} - {*CONSTANTS}:
            check_value(name, load, number, float(text(CONSTANTS)), repr(number.given))


def _state_names(
    name: str, load: DeclaredLoad, key: str, joints: set[str], taken: set[str], text: ParsedExpression
) -> set[str]:
    """Return the names of the state that a number of a load may use. Raises LoadError for names of parameters."""
    if type(load) not in STATE or key not in STATE[type(load)].fields:
        return set()
    meaning = STATE[type(load)].names
    state = {*meaning, *joints}
    for word in text.names:
        if word in state & taken:
            got = f"{word!r}, a parameter, and {meaning.get(word, 'the state of a joint')}"
            raise LoadError((name, key), got, "one meaning of a name", "Rename the parameter.")
    return state


def _places(mechanism: Mechanism, name: str, load: DeclaredLoad) -> Iterator[tuple[int, int]]:
    """Yield the instances and the links, joints or actuators on which a load acts. Raises LoadError.

    The value is None for a platform. In a chain with coordinates of a platform, the platform is a link.
    """
    if isinstance(load, ElasticDrive):
        yield from _driven(mechanism, name, load)
        return
    if isinstance(load, JointSpringLoad):
        yield from _jointed(mechanism, name, load)
        return
    axes, plate = load.axes if isinstance(load, WrenchLoad) else "world", platform_link(mechanism)
    is_platform = load.body == ON_PLATFORM and (plate is not None or not mechanism.is_chain)
    if axes == ("link" if is_platform else "platform"):
        expected = "'world' or 'platform' for a platform" if is_platform else "'world' or 'link' for a link"
        raise LoadError((name, "axes"), repr(axes), expected)
    names = real_link_names(mechanism)
    if isinstance(load, PairLoad) and load.other is not None:
        yield from _sprung_pairs(mechanism, names, name, load)
        return
    if is_platform:
        yield from () if plate is None else ((0, plate),)
        return
    try:
        yield from select(names, load.body, "link")
    except ParameterError:
        ends = (ON_PLATFORM,) if plate is not None or not mechanism.is_chain else ()
        hint = nearest(load.body, (*ends, *dict.fromkeys(key.split(".", 1)[-1] for key in names)))
        rule = "a link or the platform of the robot" if ends else "a link of the robot, which has no platform"
        raise LoadError((name, "body"), repr(load.body), rule, hint) from None


def _sprung_pairs(
    mechanism: Mechanism, names: dict[str, Place], name: str, load: PairLoad
) -> Iterator[tuple[int, int]]:
    """Return the instances and links with a spring or bushing to another link of the same limb. Raises LoadError."""
    chain, plate = mechanism.is_chain, platform_link(mechanism)
    if plate is not None:
        names = {**names, ON_PLATFORM: (0, plate)}
    hint = "" if chain else "Make the robot a chain by limbsweep.robots.as_chain: all its links belong to one limb."
    rule = "two links of one limb"
    ends: dict[str, tuple[Place, ...]] = {}
    for key, pattern in (("body", load.body), ("other", load.other or "")):
        try:
            ends[key] = select(names, pattern, "link")
        except ParameterError:
            raise LoadError((name, key), repr(pattern), rule, hint or nearest(pattern, names)) from None
    for k, body in ends["body"]:
        partners = [link for limb, link in ends["other"] if limb == k]
        if len(partners) != 1 or partners[0] == body:
            what = "the same link" if partners == [body] else f"{len(partners)} links"
            got = f"{load.other!r}, {what} for {load.body!r}"
            raise LoadError((name, "other"), got, f"{rule}, one `other` for each `body`", hint)
        yield k, body


def _jointed(mechanism: Mechanism, name: str, load: JointSpringLoad) -> Iterator[tuple[int, int]]:
    """Yield the instances and joints of their trees on which a load acts."""
    limbs = [mechanism.limbs[instance.limb] for instance in mechanism.instances]
    names = {key: (k, i) for key, (k, i) in joint_names(mechanism).items() if i < len(limbs[k].links)}
    try:
        yield from select(names, load.joint, "joint")
    except ParameterError:
        hint = nearest(load.joint, names)
        raise LoadError((name, "joint"), repr(load.joint), "a joint of a link of the robot", hint) from None


def _driven(mechanism: Mechanism, name: str, load: ElasticDrive) -> Iterator[tuple[int, int]]:
    """Yield the limb of a chain and each of its actuators with an elastic transmission, by number."""
    if not mechanism.is_chain:
        hint = "Make it one by limbsweep.robots.as_chain, or by coordinates in place of mobility in its file."
        raise LoadError((name, "actuators"), "drives of a robot with a platform", "drives of a chain", hint)
    (limb,) = mechanism.limbs
    try:
        numbers = select_actuators(mechanism, load.actuators)
    except ParameterError:
        hint = nearest(load.actuators, limb.actuators)
        raise LoadError((name, "actuators"), repr(load.actuators), "actuators of the robot", hint) from None
    for number in numbers:
        actuator = limb.actuators[number]
        if limb.drives and not limb.drives[number].constant:
            got = f"{actuator}, whose position is a function of its joints"
            raise LoadError((name, "actuators"), got, "drives with constant ratios")
        if rotor_name(actuator) in limb.joints:
            got = f"{actuator} beside a joint called {rotor_name(actuator)}"
            raise LoadError((name, "actuators"), got, "that name for its rotor", "Rename the joint.")
        spins = limb.drives[number].spins if limb.drives else ()
        turned = limb.links[limb.index(actuator)].armature if not limb.drives else sum(spin.inertia for spin in spins)
        added = 1.0 if isinstance(load.inertia, str) else load.inertia or 0.0
        if not turned + added > 0.0:
            got = f"{actuator}, which spins nothing"
            raise LoadError((name, "inertia"), got, "the inertia of its rotor", "Give inertia above zero.")
        yield 0, number


def _new_parameters(name: str, load: DeclaredLoad, taken_names: Sequence[Parameter]) -> Iterator[Parameter]:
    taken = {parameter.name for parameter in taken_names} | {*CONSTANTS, TIME}
    for parameter in parameters_of(name, load):
        if parameter.name in taken:
            raise LoadError((name,), f"the parameter {parameter.name!r}, which there is", "a new name for the load")
        yield parameter


@check_arguments
def with_loads(robot: Robot, loads: Mapping[str, DeclaredLoad]) -> Robot:
    """Return the robot with loads on its links and its platform, each under a name; see `robots.loads.declared`.

    Their numbers are parameters of the result, such as `spring_stiffness` of the load `spring`. Raises LoadError.

        >>> loads = {"push": ls.robots.WrenchLoad("platform", force=(0.0, 0.0, -20.0))}
        >>> ls.robots.with_loads(ls.robots.build("delta_3rr2rrr"), loads).values["push_force_z"]
        -20.0
    """
    family = loaded(robot.family, loads).family
    return Robot.of(family, dict(robot.values))


@dataclass(frozen=True, eq=False)
class FrozenDescription(ExtendedDescription):
    """A family whose signals are parameters, by the same names."""

    @property
    def signal_names(self) -> tuple[str, ...]:
        """Names of signals: none."""
        return ()


@check_arguments
def at_time(robot: Robot, time: float) -> Robot:
    """Return the robot with the loads of one time [s], held constant.

    It is a robot like any other, with constant loads, for functions that take no time: `linearisation`,
    `equations_of_motion`, `c_code`. All instants are of one family, so kernels are compiled once. A robot whose loads
    do not change is given back as it is. Raises ParameterError for a time that is not finite.

        >>> grasped = {"part": ls.robots.ObjectLoad("link_3", 2.0, start=0.5)}
        >>> arm = ls.robots.with_loads(ls.robots.build("planar_3r"), grasped)
        >>> state, forces = ls.State(q=np.zeros(3)), ls.Forces(actuator=[10.0, 0.0, 0.0])
        >>> at = [ls.forward_dynamics(ls.robots.at_time(arm, t), state, forces).acceleration[0] for t in (0.0, 0.5)]
        >>> bool(abs(at[1]) < abs(at[0]))
        True
    """
    family = robot.family
    if not math.isfinite(time):
        raise ParameterError(f"time: got {time!r}; expected a finite number [s]")
    if not family.signals:
        return robot
    more = [
        Parameter(name, "s" if name == "t" else "", 0.0, text="of loads, at one instant") for name in family.signals
    ]
    description = FrozenDescription(*extended(family, more), base=family)
    values = dict(zip(family.signals, map(float, signal_values(family, time)), strict=True))
    return Robot.of(description.family, {**robot.values, **values})
