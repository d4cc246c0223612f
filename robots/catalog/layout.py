"""Limbs by points and directions at the reference pose, all in one frame: the limb's mount frame at the base.

A joint has a position, and turns about or slides along an axis of a frame at this position. Bodies have centres of mass
and tensors in the axes of the mount. Frames of links and placements in their parents follow.

Parameters without a published value are declared here, and their source tells so.
"""

from __future__ import annotations

from robots import geometry
from robots.data_classes import dataclass, field
from robots.geometry import cross, dot, minus, product, sqrt, times, transpose, unit
from robots.model import PLATFORM, Closure, Frame, Inertia, Link
from robots.parameters import Parameter
from robots.types import BASE, IDENTITY, ZERO, JointKind, Matrix, Number, Vector

NOTHING = geometry.point(0.0)
GROUND = "base"

_AXES: dict[str, Vector] = {
    sign + name: (factor if k == 0 else 0.0, factor if k == 1 else 0.0, factor if k == 2 else 0.0)
    for sign, factor in (("", 1.0), ("-", -1.0))
    for k, name in enumerate("xyz")
}


SLENDER = 20.0
"""Length of a rod per diameter."""
_ALONG = 1.0 / (8.0 * SLENDER**2)
_ACROSS = (1.0 + 0.75 / SLENDER**2) / 12.0


def rod(mass: Number, start: Vector, end: Vector) -> Inertia:
    """Return a solid cylinder between two points, SLENDER times as long as thick."""
    way = minus(end, start)
    across = mass * _ACROSS * dot(way, way)
    less = mass * (_ACROSS - _ALONG)
    tensor = tuple(tuple((across if i == j else 0.0) - less * (way[i] * way[j]) for j in range(3)) for i in range(3))
    return Inertia(mass, middle(start, end), tensor)  # type: ignore[arg-type]


def middle(a: Vector, b: Vector) -> Vector:
    """Return the point half way between two points."""
    return (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]))


def axes(first: Vector, second: Vector) -> Matrix:
    """Return the rotation whose x axis has one direction and whose y axis has another one, across it."""
    x = unit(first)
    z = unit(cross(x, second))
    return transpose((x, cross(z, x), z))


@dataclass
class LimbPlacement:
    """A limb that grows joint by joint; `seat` is the origin of its mount frame at the platform, parallel to its own.

    `up` turns components of the mount frame at the platform into components of the mount frame at the base.
    """

    seat: Vector = ZERO
    up: Matrix = IDENTITY
    links: list[Link] = field(default_factory=list)
    frames: dict[str, Frame] = field(default_factory=lambda: {GROUND: Frame()})

    def joint(
        self,
        joint: str,
        body: str,
        parent: str,
        kind: JointKind,
        at: Vector,
        axis: str,
        load: Inertia = NOTHING,
        turned: Matrix = IDENTITY,
    ) -> str:
        """Join a body to its parent at a point, about or along an axis of a frame that is `turned`; its name."""
        frame = Frame(turned, at)
        placement = self._seen(frame, self.frames[parent])
        self.frames[body] = frame
        link = Link(joint, body, self._index(parent), kind, _AXES[axis], placement, self._own(load, frame))
        self.links.append(link)
        return body

    def cut(
        self, joint: str, kind: JointKind, a: str, at: Vector, turned: Matrix = IDENTITY, b: str | None = None
    ) -> Closure:
        """Return a cut joint at a point of body a and of body b, or of the platform, with both frames `turned`."""
        frame = Frame(turned, at)
        other_end = Frame(self.up, self.seat) if b is None else self.frames[b]
        end = PLATFORM if b is None else self._index(b)
        return Closure(
            joint, kind, self._index(a), self._seen(frame, self.frames[a]), end, self._seen(frame, other_end)
        )

    def _index(self, body: str) -> int:
        return BASE if body == GROUND else [link.body for link in self.links].index(body)

    @staticmethod
    def _seen(frame: Frame, outer: Frame) -> Frame:
        """Return a frame, given in the mount frame, in another frame of the mount."""
        gap = minus(frame.position, outer.position)
        if outer.rotation is IDENTITY:
            return Frame(frame.rotation, gap)
        back = transpose(outer.rotation)
        turn = IDENTITY if frame.rotation is outer.rotation else product(back, frame.rotation)
        return Frame(turn, times(back, gap))

    @staticmethod
    def _own(load: Inertia, frame: Frame) -> Inertia:
        """Return an inertia in the axes of the mount, with its centre there, as one in a frame."""
        if load is NOTHING:
            return NOTHING
        arm = minus(load.centre, frame.position)
        if frame.rotation is IDENTITY:
            return Inertia(load.mass, arm, load.tensor)
        back = transpose(frame.rotation)
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = product(product(back, load.tensor), frame.rotation)
        return Inertia(load.mass, times(back, arm), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))


def beside(mount: Frame, radius: Number) -> Frame:
    """Return a frame that is turned about z, moved along its own -x."""
    (a, _, _), (b, _, _), _ = mount.rotation
    return Frame(mount.rotation, (-radius * a, -radius * b, 0.0))


Pair = tuple[Number, Number]


def bent(lengths: Pair, end: Pair) -> Pair:
    """Compute the point where two rods of these lengths meet, one from the origin and one from the point `end`.

    Coordinates are (across, up). The result is the point to the left of the line from the origin to `end`.
    """
    (near, far), (across, up) = lengths, end
    square = across * across + up * up
    along = (near * near - far * far + square) / (2.0 * square)
    aside = sqrt(near * near / square - along * along)
    return along * across - aside * up, along * up + aside * across


DECLARED = "declared here"


def declared_mass(name: str, default: float, text: str) -> Parameter:
    """Return a mass [kg]."""
    return Parameter.mass(name, default, text, DECLARED)


def declared_length(name: str, default: float, text: str) -> Parameter:
    """Return a length [m]."""
    return Parameter.length(name, default, text, DECLARED)
