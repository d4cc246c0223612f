"""Trees from published tables: one row per link, every number of it a named parameter.

Frames are natural ones: parallel to the world at zero joint variables, with the origin on the joint's axis; so a row
gives all its vectors in them. Parameters are called after the body: `link_2_mass`, `link_2_centre_x`,
`link_2_inertia_xx`, `link_2_origin_x`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from robots.data_classes import dataclass
from robots.geometry import diagonal
from robots.model import Frame, Inertia, Link
from robots.parameters import Parameter
from robots.types import IDENTITY, ZERO, Matrix, Number, Vector

Triple = tuple[float, float, float]

Z: Vector = (0.0, 0.0, 1.0)
ALL = "xyz"
PAIRS = ("xy", "xz", "yz")


@dataclass(frozen=True)
class LinkRow:
    """A link with a revolute joint: `moments` [kg m^2] about `centre`; `origin` is in the parent [m].

    Without `origin`, the position of the joint is not a parameter: it is the base's origin, or an argument of `links`.
    `products` are xy, xz and yz of the tensor, and `turned` is the rotation from the joint's frame to the parent's
    frame, where frames are not natural ones.
    """

    number: str
    parent: int
    mass: float
    centre: Triple
    moments: Triple
    origin: Triple | None = None
    axis: Vector = Z
    products: Triple | None = None
    turned: Matrix = IDENTITY

    @property
    def joint(self) -> str:
        """Name of the joint."""
        return f"joint_{self.number}"

    @property
    def body(self) -> str:
        """Name of the link."""
        return f"link_{self.number}"


def parameters(rows: Sequence[LinkRow], source: str, directions: str = ALL) -> tuple[Parameter, ...]:
    """Return the parameters of a table. Vectors have components along `directions`; the other components are zero."""
    return tuple(parameter for row in rows for parameter in _of_row(row, source, directions))


def _of_row(row: LinkRow, source: str, directions: str) -> Iterator[Parameter]:
    joint, body = row.joint.replace("_", " "), row.body.replace("_", " ")
    if row.origin is not None:
        yield from point(f"{row.body}_origin", row.origin, f"{joint} in the parent link", source, directions)
    yield Parameter.mass(f"{row.body}_mass", row.mass, f"mass of {body}", source)
    yield from point(f"{row.body}_centre", row.centre, f"centre of mass of {body}", source, directions)
    for axis, moment in zip(ALL, row.moments, strict=True):
        text = f"inertia of {body} about its centre of mass, {axis}"
        yield Parameter(f"{row.body}_inertia_{axis}{axis}", "kg m^2", moment, 0.0, 1e6, text, source)
    for axes, product in zip(PAIRS, row.products or (), strict=False):
        text = f"element {axes} of the inertia tensor of {body} about its centre of mass"
        yield Parameter(f"{row.body}_inertia_{axes}", "kg m^2", product, -1e6, 1e6, text, source)


def point(name: str, default: Triple, text: str, source: str, directions: str = ALL) -> Iterator[Parameter]:
    """Yield the parameters of a point: its coordinates along some directions."""
    for axis, value in zip(ALL, default, strict=True):
        if axis in directions:
            yield Parameter(f"{name}_{axis}", "m", value, -1e2, 1e2, f"{text}, {axis}", source)


def vector(p: Mapping[str, Number], name: str) -> Vector:
    """Return a point from its parameters."""
    x, y, z = (p.get(f"{name}_{axis}", 0.0) for axis in ALL)
    return (x, y, z)


def links(
    rows: Sequence[LinkRow], p: Mapping[str, Number], place: Callable[[LinkRow], Vector] = lambda row: ZERO
) -> tuple[Link, ...]:
    """Return the links of a table; `place` says where a joint stands whose origin is no parameter."""
    return tuple(
        Link(
            row.joint,
            row.body,
            row.parent,
            "revolute",
            row.axis,
            Frame(row.turned, place(row) if row.origin is None else vector(p, f"{row.body}_origin")),
            _inertia(row, p),
        )
        for row in rows
    )


def _inertia(row: LinkRow, p: Mapping[str, Number]) -> Inertia:
    xx, yy, zz = (p[f"{row.body}_inertia_{axis}{axis}"] for axis in ALL)
    if row.products is None:
        tensor = diagonal(xx, yy, zz)
    else:
        xy, xz, yz = (p[f"{row.body}_inertia_{axes}"] for axes in PAIRS)
        tensor = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    return Inertia(p[f"{row.body}_mass"], vector(p, f"{row.body}_centre"), tensor)
