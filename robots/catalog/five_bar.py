"""Five-bar robot: two arms of two links hold a point in the vertical plane of x and z, two translations.

A limb: 1 base-proximal, 2 proximal-distal, 3 distal-platform, all about -y. The motors stand at z = 0, the platform
hangs below and between them, elbows point outwards. The reference pose is the middle of the machine at a height that is
a parameter; joint variables count from there.
"""

from __future__ import annotations

from collections.abc import Mapping

from robots import geometry
from robots.geometry import AXIS_MINUS_Y, about, around_z, length, product, shifted, sqrt, transpose
from robots.model import PLATFORM, Closure, Family, Frame, Inertia, Instance, Limb, Link, Mechanism, Platform
from robots.parameters import Parameter
from robots.types import BASE, Matrix, Number, Vector

MINUS_Y: Vector = (0.0, -1.0, 0.0)
SYMMETRIC = "a symmetric set in common use for planar five-bar robots"
DECLARED = "declared here"


def _turns(p: Mapping[str, Number]) -> tuple[Matrix, Matrix]:
    """Return the rotations of both links of the left limb at the reference pose; links lie along -z of their frames."""
    near, far, width, height = p["proximal_length"], p["distal_length"], p["base_half_width"], p["home_height"]
    reach = length((width, 0.0, height))
    cos = (near * near + reach * reach - far * far) / (2.0 * near * reach)
    sin = sqrt(1.0 - cos * cos)
    # from the motor: along the line to the platform, and across it to the outside
    x, z = (cos * width - sin * height) / reach, -(cos * height + sin * width) / reach
    to_x, to_z = (width - near * x) / far, (-height - near * z) / far
    return about("y", -z, -x), about("y", -to_z, -to_x)


def _rod(mass: Number, span: Number) -> Inertia:
    return geometry.bar(mass, span, "z", (0.0, 0.0, -0.5 * span))


def _assemble(p: Mapping[str, Number]) -> Mechanism:
    near, far = p["proximal_length"], p["distal_length"]
    first, second = _turns(p)
    motor: Vector = (-p["base_half_width"], 0.0, 0.0)
    bent = product(transpose(first), second)
    links = (
        Link("1", "proximal", BASE, "revolute", MINUS_Y, Frame(first, motor), _rod(p["proximal_mass"], near)),
        Link("2", "distal", 0, "revolute", MINUS_Y, Frame(bent, (0.0, 0.0, -near)), _rod(p["distal_mass"], far)),
    )
    end = Frame(product(transpose(second), AXIS_MINUS_Y), (0.0, 0.0, -far))
    tip = Closure("3", "revolute", 1, end, PLATFORM, Frame(AXIS_MINUS_Y))
    limb = Limb("RRR", links, (), (tip,), ("1",))
    instances = tuple(
        Instance(name, 0, mount, mount) for name, mount in zip(("left", "right"), around_z(2), strict=True)
    )
    home = shifted((0.0, 0.0, -p["home_height"]))
    return Mechanism((limb,), instances, Platform(geometry.point(p["platform_mass"]), ("vx", "vz"), home))


FIVE_BAR = Family(
    name="five_bar",
    title="Planar five-bar robot in a vertical plane, slender rods",
    source=SYMMETRIC,
    parameters=(
        Parameter.length("proximal_length", 0.53, "length of the driven links", SYMMETRIC),
        Parameter.length("distal_length", 0.4374, "length of the links at the platform", SYMMETRIC),
        Parameter.length("base_half_width", 0.15, "middle of the robot to the motor axes", SYMMETRIC),
        Parameter.length("home_height", 0.60, "platform below the motors at the reference pose", DECLARED),
        Parameter.mass("proximal_mass", 1.5, "mass of a driven link", SYMMETRIC),
        Parameter.mass("distal_mass", 1.5, "mass of a link at the platform", SYMMETRIC),
        Parameter.mass("platform_mass", 0.1, "mass of the platform, a point", DECLARED),
    ),
    assemble=_assemble,
)

FAMILIES = (FIVE_BAR,)
