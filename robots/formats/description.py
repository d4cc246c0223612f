"""Robot file as data: a family without code, which can be written, sent to a worker and made a family there.

A description holds numbers and rotations that are known once the parameters are (late values). A template is a record
of `robots.model` with late values in place of numbers; `fill` gives the record. Limbs of a robot that are not alike are
instances of one description with other values, or mirrored.

A robot file gives an axis in the frame that the link has by its placement, and everything on the link in that frame
too. The model knows coordinate axes alone, so the frame is turned from the coordinate axis that is nearest to the
direction, with the defaults of all parameters; everything on the link is turned back.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np

from robots import geometry
from robots.coupled import CoupledPlatform, closed
from robots.data_classes import dataclass, fields, replace
from robots.expressions.expression import ParsedExpression
from robots.expressions.parser import chosen
from robots.formats.assembly import References, counted_from
from robots.formats.ratings import Rating
from robots.geometry import cross, dot, product, sqrt, times, transpose, unit
from robots.model import Closure, Family, Frame, Inertia, Limb, Link, Mechanism, Robot
from robots.parameters import Parameter
from robots.types import BASE, IDENTITY, Matrix, Number, Vector

Values = Mapping[str, Number]
Late = float | ParsedExpression


UNDECIDED: Matrix = ((math.nan,) * 3,) * 3


@dataclass(frozen=True)
class AxisTurn:
    """A rotation as turns one after the other about axes of the turned frame: (x, y or z; degrees)."""

    steps: tuple[tuple[str, Late], ...]

    def __call__(self, values: Values) -> Matrix:
        """Return the rotation (3, 3)."""
        turns = (geometry.about(axis, *geometry.exact_circle(fill(angle, values))) for axis, angle in self.steps)
        return reduce(geometry.product, turns, IDENTITY)


@dataclass(frozen=True)
class Along:
    """The rotation that lays z along a direction and keeps x level; z of the outer frame is up."""

    direction: tuple[Late, Late, Late]

    def __call__(self, values: Values) -> Matrix:
        """Return the rotation (3, 3)."""
        direction: Vector = fill(self.direction, values)
        try:
            return geometry.along(direction)
        except ZeroDivisionError:  # numbers that leave x undecided: checked with the defaults, NaN elsewhere
            return UNDECIDED


@dataclass(frozen=True)
class DriveCurve:
    """The coordinate of a drive as a function of joint positions: an expression of joints and parameters."""

    expression: ParsedExpression

    def __call__(self, values: Values) -> Callable[[Values], Number]:
        """Return the function, for values of the parameters."""
        return partial(_along_curve, self.expression, values)


def _along_curve(expression: ParsedExpression, values: Values, positions: Values) -> Number:
    return expression({**values, **positions})


LATE = (ParsedExpression, AxisTurn, Along, DriveCurve)


def fill(template: Any, values: Values) -> Any:
    """Return the template with the value of everything that is late: floats, arrays or symbols, as `values` are."""
    if isinstance(template, LATE):
        return fill(template(values), values)
    if isinstance(template, np.floating):
        return float(template)
    if isinstance(template, tuple):
        return tuple(fill(each, values) for each in template)
    if dataclasses.is_dataclass(template) and not isinstance(template, type):
        names = [each.name for each in dataclasses.fields(template)]
        return type(template)(**{name: fill(getattr(template, name), values) for name in names})
    return template


def names(template: Any) -> frozenset[str]:
    """Return the names that the late values of a template mention."""
    if isinstance(template, ParsedExpression):
        return frozenset(template.names)
    if isinstance(template, tuple):
        return frozenset().union(*map(names, template))
    if dataclasses.is_dataclass(template) and not isinstance(template, type):
        return names(tuple(getattr(template, each.name) for each in dataclasses.fields(template)))
    return frozenset()


MIRRORS = ("x", "y", "z")
"""Axes of the mount frame across which a limb may be mirrored."""


@dataclass(frozen=True)
class Variant:
    """Differences of one limb from its template: values of parameters by name, and an axis whose sign is changed.

    If an instance closes at other joint positions than the template's reference, `closed_as` is the name of the first
    instance that closes at these positions.
    """

    values: tuple[tuple[str, Late], ...] = ()
    mirror: str | None = None
    closed_as: str = ""


PLAIN = Variant()


def expanded(
    template: Mechanism, variants: Sequence[Variant], names_of: Callable[[Mapping[str, Number]], Mapping[str, Number]]
) -> tuple[Mechanism, tuple[int, ...]]:
    """Return the template with a filled limb for each different instance, and the limb of the template of each.

    `names_of` returns the names and values of expressions at other values of parameters. Limbs without an instance
    are left out.
    """
    plain = names_of({})
    limbs: dict[tuple[int, Variant], Limb] = {}
    instances = []
    for instance, variant in zip(template.instances, variants, strict=True):
        key = (instance.limb, variant)
        if key not in limbs:
            numbers = names_of({name: fill(value, plain) for name, value in variant.values})
            limb: Limb = fill(template.limbs[instance.limb], numbers)
            if variant != PLAIN:
                limb = replace(limb, name=f"{limb.name}_{instance.name}")
            limbs[key] = limb if variant.mirror is None else mirrored(limb, MIRRORS.index(variant.mirror))
        instances.append(replace(fill(instance, plain), limb=list(limbs).index(key)))
    whole: Mechanism = replace(fill(template, plain), limbs=tuple(limbs.values()), instances=tuple(instances))
    return whole, tuple(source for source, _ in limbs)


def mirrored(limb: Limb, axis: int) -> Limb:
    """Return a limb with its points mirrored along an axis of its mount frames, at the base and at the platform."""

    def point(v: Vector) -> Vector:
        x, y, z = (-value if k == axis else value for k, value in enumerate(v))
        return (x, y, z)

    def spin(v: Vector) -> Vector:
        """Return the direction of a turn after mirroring: only the component along the axis keeps its sign."""
        x, y, z = (value if k == axis else -value for k, value in enumerate(v))
        return (x + 0.0, y + 0.0, z + 0.0)

    def matrix(m: Matrix) -> Matrix:
        rows = tuple(
            tuple(-value if (i == axis) != (j == axis) else value for j, value in enumerate(row))
            for i, row in enumerate(m)
        )
        return rows  # type: ignore[return-value]

    def frame(f: Frame) -> Frame:
        return Frame(matrix(f.rotation), point(f.position))

    def link(body: Link) -> Link:
        load = Inertia(body.inertia.mass, point(body.inertia.centre), matrix(body.inertia.tensor))
        x, y, z = spin(body.axis) if body.joint_kind.turns else point(body.axis)
        pitch = None if body.pitch is None else -body.pitch
        placement = frame(body.placement)
        return replace(body, axis=(x + 0.0, y + 0.0, z + 0.0), placement=placement, inertia=load, pitch=pitch)

    def cut(joint: Closure) -> Closure:
        pitch = None if joint.pitch is None else -joint.pitch
        return replace(joint, frame_a=frame(joint.frame_a), frame_b=frame(joint.frame_b), pitch=pitch)

    drives = tuple(
        replace(drive, spins=tuple(replace(entry, axis=spin(entry.axis)) for entry in drive.spins))
        for drive in limb.drives
    )
    return replace(
        limb,
        links=tuple(map(link, limb.links)),
        loops=tuple(map(cut, limb.loops)),
        tips=tuple(map(cut, limb.tips)),
        drives=drives,
    )


Axes = Mapping[int, Vector]
"""Axes by index of the link, for links whose axis is not a signed coordinate axis."""

BackTurn = Callable[[int, Frame], Frame]


def is_oblique(axis: Vector) -> bool:
    """Return whether an axis differs from all signed coordinate axes. An expression counts as oblique."""
    return not all(isinstance(x, float) for x in axis) or sorted(map(abs, axis)) != [0.0, 0.0, 1.0]


def nearest_axes(links: Sequence[Link], at_defaults: Sequence[Link]) -> dict[int, Vector]:
    """Return coordinate axes for the links that have other axes, from the same links with numbers."""
    result: dict[int, Vector] = {}
    for k, (link, numbers) in enumerate(zip(links, at_defaults, strict=True)):
        if is_oblique(link.axis):
            direction = np.array(numbers.axis, dtype=float)
            place = int(np.argmax(np.abs(direction)))
            x, y, z = (float(np.copysign(i == place, direction[place])) if i == place else 0.0 for i in range(3))
            result[k] = (x, y, z)
    return result


def straightened_links(links: Sequence[Link], axes: Axes) -> tuple[tuple[Link, ...], BackTurn]:
    """Return the links with coordinate axes for their joints, and the rotations that undo the changes of frames."""
    turns = {k: _turn(axis, unit(links[k].axis)) for k, axis in axes.items()}

    def turned_back(body: int, frame: Frame) -> Frame:
        if body not in turns:
            return frame
        inward = transpose(turns[body])
        return Frame(product(inward, frame.rotation), times(inward, frame.position))

    result = []
    for k, link in enumerate(links):
        placement = turned_back(link.parent, link.placement)
        if k in turns:
            turn, inward = turns[k], transpose(turns[k])
            (xx, xy, xz), (_, yy, yz), (_, _, zz) = product(product(inward, link.inertia.tensor), turn)
            tensor = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
            load = Inertia(link.inertia.mass, times(inward, link.inertia.centre), tensor)
            placement = Frame(product(placement.rotation, turn), placement.position)
            link = replace(link, axis=axes[k], inertia=load)
        result.append(replace(link, placement=placement))
    return tuple(result), turned_back


def straightened_cuts(cuts: Sequence[Closure], back: BackTurn) -> tuple[Closure, ...]:
    """Return the cut joints with their frames adapted to links whose frames were turned."""
    return tuple(replace(cut, frame_a=back(cut.a, cut.frame_a), frame_b=back(cut.b, cut.frame_b)) for cut in cuts)


def straightened(limb: Limb, axes: Axes) -> Limb:
    """Return the limb with its joint frames turned so that joints move about or along coordinate axes."""
    if not axes:
        return limb
    links, back = straightened_links(limb.links, axes)
    drives = tuple(
        replace(
            drive,
            spins=tuple(
                replace(spin, axis=back(spin.carrier, Frame(IDENTITY, spin.axis)).position) for spin in drive.spins
            ),
        )
        for drive in limb.drives
    )
    loops, tips = straightened_cuts(limb.loops, back), straightened_cuts(limb.tips, back)
    return replace(limb, links=links, loops=loops, tips=tips, drives=drives)


def _turn(start: Vector, end: Vector) -> Matrix:
    """Return the shortest rotation from a coordinate axis to a direction; of opposite ones, a half turn across.

    Beyond a right angle it is that about k = v / |v|, as 1 + c loses digits there.
    """
    v, c = cross(start, end), dot(start, end)
    square = dot(v, v)
    is_turned, is_near = square > _LEAST_SQUARE, c > 0.0
    size = sqrt(_chosen(is_turned, square, 1.0))
    across = (start[1], start[2], start[0])
    k = tuple(_chosen(is_turned, x / size, y) for x, y in zip(v, across, strict=True))
    share = 1.0 / (_chosen(is_near, c, 0.0) + 1.0)
    skew = ((0.0, -v[2], v[1]), (v[2], 0.0, -v[0]), (-v[1], v[0], 0.0))
    twice = product(skew, skew)

    def entry(i: int, j: int) -> Number:
        near = IDENTITY[i][j] + skew[i][j] + twice[i][j] * share
        return _chosen(is_near, near, c * IDENTITY[i][j] + skew[i][j] + (1.0 - c) * k[i] * k[j])

    return tuple((entry(i, 0), entry(i, 1), entry(i, 2)) for i in range(3))  # type: ignore[return-value]


def _chosen(condition: object, a: Number, b: Number) -> Number:
    return (a if condition else b) if isinstance(condition, bool) else chosen(condition, a, b)


_LEAST_SQUARE = 1e-200
"""Square of the sine of an angle below which a direction is one of a coordinate axis."""

CONSTANTS = {"pi": math.pi}
"""Names that expressions may use beside the parameters."""


_OPTIONAL = {"ratings", "massless", "reference", "platform", "joined", "variants", "standing"}
"""Fields that enter the digest only of descriptions that have them, so that the digests of others stay."""


@dataclass(frozen=True, eq=False)
class Description:
    """Content of a robot file.

    `derived` are named values that expressions of the template may use, each computed from parameters and the
    values before it. `reference` has positions of joints from which they count, found by `robots.formats.assembly`
    where loops are open. `template` is a mechanism with late values (`robots.formats.description`) in place of
    numbers. `ratings` are further data of joints, `massless` names bodies that end the tree and are meant to have
    no inertia. With a `platform` whose coordinates follow, the template has limbs and instances alone, and `joined`
    gives the platform body that each instance joins. `variants`, one for each instance where there are any, are the
    differences of its limb; `standing` likewise is the carrier of the platform on which the limb is mounted. Two
    descriptions are equal where their content is the same.
    """

    name: str
    title: str
    source: str
    parameters: tuple[Parameter, ...]
    derived: tuple[tuple[str, ParsedExpression], ...]
    template: Mechanism
    ratings: tuple[Rating, ...] = ()
    massless: tuple[str, ...] = ()
    reference: References = ()
    platform: CoupledPlatform | None = None
    joined: tuple[int, ...] = ()
    variants: tuple[Variant, ...] = ()
    standing: tuple[int, ...] = ()

    @property
    def in_file(self) -> Description | None:
        """Description as it stands in the robot file, without additions of a sweep; None for a robot without file."""
        return self

    @property
    def written(self) -> bool:
        """Return whether a robot file can hold the whole description."""
        return type(self) is Description

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content in hexadecimal; floats count with all their bits."""
        contents = [(each.name, getattr(self, each.name)) for each in fields(self)]
        counted: list[object] = [value for name, value in contents if name not in _OPTIONAL]
        counted += [pair for pair in contents if pair[0] in _OPTIONAL and pair[1]]
        return hashlib.sha256(repr(counted).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Description) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __call__(self, values: Mapping[str, Number]) -> Mechanism:
        """Return the mechanism for values of the parameters: floats, arrays or symbols."""
        limbs, platform = self.parts(values)
        if platform is None:
            return limbs
        return closed(self.name, limbs.limbs, limbs.instances, platform, self.joined, self.standing)

    def parts(self, values: Mapping[str, Number]) -> tuple[Mechanism, CoupledPlatform | None]:
        """Return the template for values of the parameters, and the coupled platform, or None without one."""
        made, _ = self._expanded(values)
        platform: CoupledPlatform | None = fill(self.platform, self.known(values))
        if any(self._oblique):
            *of_limbs, of_platform = self._oblique
            limbs = (straightened(limb, axes) for limb, axes in zip(made.limbs, of_limbs, strict=True))
            made = replace(made, limbs=tuple(limbs))
            if platform is not None and of_platform:
                made, platform = self._straight_platform(made, platform, of_platform)
        return counted_from(made, self.reference) if self.reference else made, platform

    def _expanded(self, values: Mapping[str, Number]) -> tuple[Mechanism, tuple[int, ...]]:
        """Return the template in numbers, with the limbs of all variants, and the template's limb of each."""
        if not self.variants:
            return fill(self.template, self.known(values)), tuple(range(len(self.template.limbs)))
        return expanded(self.template, self.variants, lambda changed: self.known({**values, **changed}))

    def known(self, values: Mapping[str, Number]) -> Mapping[str, Number]:
        """Return the values that expressions may use: constants, parameters, and the values derived from them."""
        numbers = {**CONSTANTS, **values}
        for name, expression in self.derived:
            numbers[name] = fill(expression, numbers)
        return numbers

    @cached_property
    def _oblique(self) -> tuple[Axes, ...]:
        """Coordinate axes in place of other axes of links, by limb and for the platform; empty if all are such."""
        of_platform = self.platform.links if self.platform else ()
        lists = [*(limb.links for limb in self.template.limbs), of_platform]
        if not any(is_oblique(link.axis) for links in lists for link in links):
            return ()
        defaults = {each.name: each.scalar for each in self.parameters}
        made, sources = self._expanded(defaults)
        pairs = [(lists[source], limb.links) for source, limb in zip(sources, made.limbs, strict=True)]
        pairs.append((of_platform, fill(of_platform, self.known(defaults))))
        return tuple(nearest_axes(links, numbers) for links, numbers in pairs)

    def _straight_platform(
        self, limbs: Mechanism, platform: CoupledPlatform, axes: Axes
    ) -> tuple[Mechanism, CoupledPlatform]:
        """Return limbs and platform, with adapted mount frames on those platform bodies whose frames were turned."""
        links, back = straightened_links(platform.links, axes)
        bodies = self.joined or (BASE,) * len(limbs.instances)
        instances = tuple(
            replace(instance, platform=back(body, instance.platform))
            for instance, body in zip(limbs.instances, bodies, strict=True)
        )
        joined = straightened_cuts(platform.joined, back)
        return replace(limbs, instances=instances), replace(platform, links=links, joined=joined)

    @property
    def family(self) -> Family:
        """The family; one for all equal descriptions of a process, so that kernels are compiled once."""
        return _family(self)


@functools.lru_cache(maxsize=64)
def _family(description: Description) -> Family:
    return Family(description.name, description.title, description.source, description.parameters, description)


def describe(robot: Robot) -> Description:
    """Return the robot's description with its present numbers; a robot file keeps its parameters, as new defaults."""
    family = robot.family
    if family.signals or robot.mechanism.has_forces:
        raise ValueError(f"loads act on bodies of {robot.name}, which no robot file has; expected a robot without them")
    if any(limit != math.inf for motor in robot.mechanism.motors for limit in (motor.voltage, motor.current)):
        raise ValueError(
            f"amplifiers of {robot.name} are limited, which no robot file has; expected a robot without such limits, "
            "and the section motors of a sweep"
        )
    if isinstance(family.assemble, Description) and family.assemble.written:
        parameters = tuple(replace(each, default=robot.values[each.name]) for each in family.parameters)
        return replace(family.assemble, parameters=parameters)
    return Description(family.name, family.title, family.source, (), (), fill(robot.mechanism, {}))
