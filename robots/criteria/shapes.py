"""Shapes of links: tubes and profiles along the lines between their joints, of a material, and masses at the joints.

Mass, centre and inertia of a link follow from its shape, and so do its stiffness as a beam and its radius as a capsule.
A link with two joints is one line. One with more is a star, whose lines meet at the joint with the least sum of
distances to the others at the reference design, as for beams and capsules (`tasks.mechanics.arms`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from robots.criteria.elasticity import Beam
from robots.data_classes import dataclass, replace
from robots.formulas import Values, root, value_of
from robots.geometry import dot, joined, minus, point, sqrt
from robots.model import Inertia, Limb
from robots.parameter_errors import ParameterError
from robots.types import ZERO, Matrix, Number, Vector


@dataclass(frozen=True)
class Material:
    """Density [kg/m^3], Young's modulus [Pa] and Poisson's ratio."""

    density: float
    young: float
    poisson: float


MATERIALS: Mapping[str, Material] = {
    "aluminium": Material(2700.0, 70e9, 0.3),
    "steel": Material(7850.0, 210e9, 0.3),
}
"""Constants for design of EN 1999-1-1 (aluminium alloys, 3.2.5) and EN 1993-1-1 (structural steel, 3.2.6)."""

TIE = 1e-9
"""Relative difference of distances up to which the first joint is taken as the hub of a star."""


@dataclass(frozen=True)
class LinkShape:
    """Profile of a link along its lines, outside and inside, with its material; numbers may be formulas.

    tube: diameters; box: width and height [m], the height along `across` in the axes of the link. `inside` are the
    sizes of the hollow, zero for a solid one. density [kg/m^3], young [Pa]; shear: coefficient of Timoshenko;
    joint_mass [kg] is at every joint of the link. Without young the shape has no stiffness.
    """

    kind: str
    outside: tuple[float, ...]
    inside: tuple[float, ...]
    across: tuple[float, float, float] | None
    density: float
    young: float = 0.0
    poisson: float = 0.3
    shear: float = 0.0
    joint_mass: float = 0.0

    def at(self, values: Values) -> LinkShape:
        """Return the shape with numbers for values of the parameters: floats, arrays or symbols."""
        outside, inside = (tuple(value_of(x, values) for x in sizes) for sizes in (self.outside, self.inside))
        density, mass = value_of(self.density, values), value_of(self.joint_mass, values)
        return replace(self, outside=outside, inside=inside, density=density, joint_mass=mass)

    @property
    def section(self) -> tuple[Number, Number, Number]:
        """Area [m^2] and second moments of area [m^4], for deflection along `across` and at right angles to it."""
        outer, inner = (_section(self.kind, sizes) for sizes in (self.outside, self.inside))
        area, first, second = (a - b for a, b in zip(outer, inner, strict=True))
        return area, first, second

    @property
    def radius(self) -> float:
        """Radius of the circle around the profile [m]."""
        if self.kind == "tube":
            return 0.5 * self.outside[0]
        width, height = self.outside
        return 0.5 * root(width * width + height * height)

    def beam(self) -> Beam:
        """Return the shape as a beam. Raises ParameterError without Young's modulus."""
        if not self.young:
            raise ParameterError("young: absent; expected a material, or Young's modulus [Pa], for the stiffness")
        if self.kind == "tube":
            (outer,), (inner,) = self.outside, self.inside
            return Beam.tube(outer, self.young, inner=inner, poisson=self.poisson, shear=self.shear)
        (width, height), hollow = self.outside, self.inside[0]
        wall = 0.5 * (width - hollow) if hollow else None
        across = self.across or ()
        return Beam.box(width, height, self.young, across, wall=wall, poisson=self.poisson, shear=self.shear)


def _section(kind: str, sizes: Sequence[Number]) -> tuple[Number, Number, Number]:
    if kind == "tube":
        square = sizes[0] * sizes[0]
        return math.pi / 4.0 * square, math.pi / 64.0 * square * square, math.pi / 64.0 * square * square
    width, height = sizes
    area = width * height
    return area, area * height * height / 12.0, area * width * width / 12.0


Line = tuple[int, int]
"""Numbers of the hub and of the end of a line of a link, among its `joint_points`."""


def joint_points(limb: Limb, link: int) -> list[Vector]:
    """Return the positions of the joints of a link in its frame [m]: its own joint, its children's, cut joints."""
    points = [ZERO, *(each.placement.position for each in limb.links if each.parent == link)]
    for cut in limb.cuts:
        points += [frame.position for body, frame in ((cut.a, cut.frame_a), (cut.b, cut.frame_b)) if body == link]
    return points


def lines_of(limb: Limb, link: int) -> tuple[Line, ...]:
    """Return the lines of a link from its hub, by the numbers of the joints; lines of length zero are left out."""
    points = np.array(joint_points(limb, link), dtype=float)
    gaps = np.linalg.norm(points[:, None] - points[None], axis=-1)
    total = gaps.sum(axis=1)
    hub = next((k for k, length in enumerate(total) if length <= total.min() * (1.0 + TIE)), 0)
    return tuple((hub, k) for k in range(len(points)) if gaps[hub, k] > TIE * gaps.max())


def shape_inertia(shape: LinkShape, points: Sequence[Vector], lines: Sequence[Line]) -> Inertia:
    """Return mass, centre and inertia of a link from its shape with numbers, see `LinkShape.at`."""
    bodies = [_line_inertia(shape, points[hub], points[end]) for hub, end in lines]
    ends = {joint for line in lines for joint in line}
    if not isinstance(shape.joint_mass, float) or shape.joint_mass > 0.0:
        bodies += [point(shape.joint_mass, points[joint]) for joint in sorted(ends)]
    return functools.reduce(joined, bodies)


def _line_inertia(shape: LinkShape, start: Vector, end: Vector) -> Inertia:
    """Return the inertia of a straight prismatic body: from the second moments of its mass about its centre."""
    x, y, z = along = minus(end, start)
    square = dot(along, along)
    length = sqrt(square)
    area, first, second = shape.section
    heaviness = shape.density * length
    # sum of mass times products of coordinates: `second` all around, less along the line, more along `across`
    moments = [
        [heaviness * (second * (float(i == j) - along[i] * along[j] / square)) for j in range(3)] for i in range(3)
    ]
    stretched = heaviness * area / 12.0
    for i in range(3):
        for j in range(3):
            moments[i][j] = moments[i][j] + stretched * along[i] * along[j]
    if shape.across is not None:
        share = dot(shape.across, along) / square
        side = minus(shape.across, (x * share, y * share, z * share))
        more = heaviness * (first - second) / dot(side, side)
        moments = [[moments[i][j] + more * side[i] * side[j] for j in range(3)] for i in range(3)]
    trace = moments[0][0] + moments[1][1] + moments[2][2]
    rows = [[(trace if i == j else 0.0) - moments[i][j] for j in range(3)] for i in range(3)]
    tensor: Matrix = tuple(map(tuple, rows))  # type: ignore[assignment]
    a, b, c = start
    centre = (a + 0.5 * x, b + 0.5 * y, c + 0.5 * z)
    return Inertia(heaviness * area, centre, tensor)
