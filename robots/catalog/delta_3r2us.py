"""Delta robot whose rods have a universal joint at the elbow and a spherical one at the platform, 3R[2US].

A limb: 1 base-arm, then for each rod the two axes of its universal joint, 2.1, 2.2 and 3.1, 3.2, with a cross without
mass between them; 4 and 5 join the rods to the platform. The bar between the elbows is one with the arm.

How this relates to example 5 of the paper: there the tree holds the platform (joints 1, 2, 4) and the universal joint 5
of the second rod is cut, so that rods, arm and platform make a loop. Here the platform is cut off at both spherical
joints, the two rods are branches of one tree, and the loop closes through the platform like any other pair of limbs.
There are five unknowns and six distances; one distance depends on the others if the platform only translates. It is
dropped, and checked at the end.
"""

from __future__ import annotations

from collections.abc import Mapping

from robots import geometry
from robots.catalog.delta import CYLINDERS, DECLARED, MINUS_Y, PAPER, X
from robots.geometry import about, around_z, shifted, sqrt
from robots.model import PLATFORM, Closure, Family, Frame, Instance, Limb, Link, Mechanism, Platform
from robots.types import BASE, TRANSLATION, Number, Vector

NOTHING = geometry.point(0.0)


def _assemble(p: Mapping[str, Number]) -> Mechanism:
    density, a, b, c = p["density"], p["upper_arm"], p["link_length"], p["rod_length"]
    d = a + p["base_radius"] - p["platform_radius"]
    h = sqrt(c * c - d * d)
    tilt = about("y", h / c, -d / c)  # z axis along the rods
    rod_end: Vector = (0.0, 0.0, -c)
    arm = geometry.joined(
        geometry.cylinder(density, a, p["arm_diameter"], "x", (-0.5 * a, 0.0, 0.0)),
        geometry.cylinder(density, b, p["link_diameter"], "y", (-a, 0.0, 0.0)),
    )
    rod = geometry.cylinder(density, c, p["rod_diameter"], "z", (0.0, 0.0, -0.5 * c))
    links = [Link("1", "arm", BASE, "revolute", MINUS_Y, shifted((-p["base_radius"], 0.0, 0.0)), arm)]
    tips: list[Closure] = []
    for joint, side, name in (("2", -0.5 * b, "a"), ("3", 0.5 * b, "b")):
        elbow, cross = Frame(tilt, (-a, side, 0.0)), len(links)
        links.append(Link(f"{joint}.1", f"cross_{name}", 0, "revolute", MINUS_Y, elbow, NOTHING))
        links.append(Link(f"{joint}.2", f"rod_{name}", cross, "revolute", X, Frame(), rod))
        seat = shifted((-p["platform_radius"], side, 0.0))
        tips.append(Closure(f"{len(tips) + 4}", "spherical", cross + 1, shifted(rod_end), PLATFORM, seat))
    limb = Limb("R[2US]", tuple(links), (), tuple(tips), ("1",))
    instances = tuple(Instance(f"limb{k + 1}", 0, mount, mount) for k, mount in enumerate(around_z(3)))
    platform = geometry.cylinder(density, p["platform_height"], p["platform_diameter"], "z")
    return Mechanism((limb,), instances, Platform(platform, TRANSLATION, shifted((0.0, 0.0, -h))))


DELTA_3R2US = Family(
    name="delta_3r2us",
    title="Delta with universal joints at the elbows and spherical joints at the platform, aluminium cylinders",
    source=f"{PAPER}, with the joints of its example 2; bar between the elbows fixed to the arm, {DECLARED}",
    parameters=CYLINDERS,
    assemble=_assemble,
)

FAMILIES = (DELTA_3R2US,)
