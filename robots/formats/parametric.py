"""Parameters for a robot without parameters: mass and size of each body, offset of each joint, gears and rotors.

With the defaults all numbers of the robot stay the same, to the last bit. A mass scales the inertia of its body. A
scale stretches the body and the joints on it, with unchanged mass: lengths by the scale, moments by its square.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from robots.data_classes import dataclass, field, replace
from robots.expressions.expression import GEOMETRIC, ParsedExpression, parse
from robots.formats.checks import HEAVIEST, LONGEST
from robots.formats.description import CONSTANTS, Description, Late
from robots.model import PLATFORM, Closure, Coupling, Frame, Inertia, Limb, Link
from robots.parameters import Parameter
from robots.types import BASE, Matrix, Vector

SOURCE = "of the imported file"
Gears = Mapping[str, tuple[float, float]]
"""Inertia of the rotor [kg m^2 or kg] and gear ratio by joint."""

_TAKEN = {"and", "or", "not", *GEOMETRIC, *CONSTANTS}
_LARGEST_GEAR = 1e6


def with_parameters(
    description: Description, gears: Gears | None = None, is_free: Callable[[str], bool] = lambda _: True
) -> Description:
    """Return the robot of one limb, in numbers, with a parameter for all that a machine builder changes.

    No parameter has a name that is not free.
    """
    naming = _Naming(gears or {}, is_free)
    (limb,) = description.template.limbs
    built = naming.limb(limb)
    return replace(
        description,
        parameters=tuple(naming.parameters),
        derived=tuple(naming.derived),
        template=replace(description.template, limbs=(built,)),
    )


@dataclass
class _Naming:
    """Parameters and derived values as they are named, body by body."""

    gears: Gears
    is_free: Callable[[str], bool]
    parameters: list[Parameter] = field(default_factory=list)
    derived: list[tuple[str, ParsedExpression]] = field(default_factory=list)
    taken: set[str] = field(default_factory=lambda: {name.casefold() for name in _TAKEN})

    def limb(self, limb: Limb) -> Limb:
        """Return a limb with names in place of numbers."""
        scales: dict[int, str] = {}
        links = []
        for number, link in enumerate(limb.links):
            scales[number] = self.scale(link)
            links.append(self.link(link, scales.get(link.parent, ""), scales[number]))
        closures = (tuple(self.closure(entry, scales) for entry in group) for group in (limb.loops, limb.tips))
        loops, tips = closures
        followers = [entry.joint for entry in limb.couplings]
        couplings = tuple(self.coupling(entry, followers.count(entry.joint) > 1) for entry in limb.couplings)
        return replace(limb, links=tuple(links), loops=loops, tips=tips, couplings=couplings)

    def name(self, owner: str, end: str) -> str:
        """Return a free parameter name: the name of a body or joint, and the property."""
        plain = re.sub(r"[^A-Za-z0-9]+", "_", owner).strip("_")[:60] or "part"
        plain = plain if plain[0].isalpha() else f"part_{plain}"
        plain = plain if self.is_free(f"{plain}_x") else f"part_{plain}"  # names with this beginning may be taken
        name, count = f"{plain}_{end}", 1
        while name.casefold() in self.taken or not self.is_free(name):
            count += 1
            name = f"{plain}_{count}_{end}"
        self.taken.add(name.casefold())
        return name

    def parameter(self, owner: str, end: str, unit: str, default: float, lower: float, upper: float, text: str) -> str:
        """Add a parameter; its name."""
        name = self.name(owner, end)
        self.parameters.append(Parameter(name, unit, default, min(lower, default), max(upper, default), text, SOURCE))
        return name

    def scale(self, link: Link) -> str:
        text = f"size of {link.body}, relative to that of the file"
        return self.parameter(link.body, "scale", "1", 1.0, 1e-3, 1e3, text)

    def link(self, link: Link, outer: str, scale: str) -> Link:
        placement = self.placement(link, outer)
        return replace(link, placement=placement, inertia=self.inertia(link, scale), armature=self.armature(link))

    def placement(self, link: Link, outer: str) -> Frame:
        """Return the frame of a joint, whose offset grows with the body that carries it."""
        numbers: list[Late] = []
        for axis, value in zip("xyz", link.placement.position, strict=True):
            if value:
                text = f"{axis} of {link.joint} in the frame of the body before it"
                name = self.parameter(link.joint, f"offset_{axis}", "m", float(value), -LONGEST, LONGEST, text)
                numbers.append(_expression(f"{name} * {outer}" if outer else name))
            else:
                numbers.append(0.0)
        x, y, z = numbers
        return Frame(link.placement.rotation, (x, y, z))

    def inertia(self, link: Link, scale: str) -> Inertia:
        """Return the inertia of a body by its mass and its size."""
        inertia_of_link, mass = link.inertia, float(link.inertia.mass)
        centre = _vector(inertia_of_link.centre, scale)
        if not mass:
            return Inertia(inertia_of_link.mass, centre, _matrix(inertia_of_link.tensor, f"{scale} ** 2"))
        name = self.parameter(link.body, "mass", "kg", mass, 0.0, HEAVIEST, f"mass of {link.body}")
        spread = self.name(link.body, "spread")
        self.derived.append((spread, _expression(f"{name} / {mass!r} * {scale} ** 2")))
        return Inertia(_expression(name), centre, _matrix(inertia_of_link.tensor, spread))

    def armature(self, link: Link) -> Late:
        if link.joint not in self.gears:
            return float(link.armature)
        rotor, gear = self.gears[link.joint]
        unit = link.joint_kind.units.inertia
        first = self.parameter(link.joint, "rotor", unit, rotor, 0.0, HEAVIEST, f"inertia of the rotor of {link.joint}")
        text = f"turns of the rotor per unit of {link.joint}"
        second = self.parameter(link.joint, "gear", "1", gear, -_LARGEST_GEAR, _LARGEST_GEAR, text)
        return _expression(f"{first} * {second} ** 2")

    def closure(self, closure: Closure, scales: Mapping[int, str]) -> Closure:
        ends = {"a": closure.a, "b": closure.b}
        frames = {
            f"frame_{end}": frame
            if body in (BASE, PLATFORM)
            else Frame(frame.rotation, _vector(frame.position, scales[body]))
            for (end, body), frame in zip(ends.items(), (closure.frame_a, closure.frame_b), strict=True)
        }
        return replace(closure, frame_a=frames["frame_a"], frame_b=frames["frame_b"])

    def coupling(self, coupling: Coupling, several: bool) -> Coupling:
        text = f"motion of {coupling.joint} per unit of {coupling.of}"
        ratio = float(coupling.ratio)
        end = f"ratio_{coupling.of}" if several else "ratio"
        name = self.parameter(coupling.joint, end, "1", ratio, -_LARGEST_GEAR, _LARGEST_GEAR, text)
        return replace(coupling, ratio=_expression(name))


def _expression(text: str) -> ParsedExpression:
    return parse(text, "number", GEOMETRIC)


def _entries(values: Vector, factor: str) -> Iterator[Late]:
    for value in map(float, values):
        yield _expression(f"{value!r} * {factor}") if value else value


def _vector(values: Vector, factor: str) -> Vector:
    x, y, z = _entries(values, factor)
    return x, y, z


def _matrix(values: Matrix, factor: str) -> Matrix:
    a, b, c = (_vector(row, factor) for row in values)
    return a, b, c
