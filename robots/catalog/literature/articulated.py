"""Parallel robots of the literature whose platforms are small mechanisms: H4, Par4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robots import geometry
from robots.catalog.layout import GROUND, LimbPlacement, declared_length, declared_mass, rod
from robots.coupled import CoupledPlatform, closed
from robots.geometry import about, minus, shifted, sqrt
from robots.model import Closure, Family, Frame, Instance, Limb, Link, Mechanism
from robots.types import BASE, Number, Vector

UP: Vector = (0.0, 0.0, 1.0)


def _limb(p: Mapping[str, Number]) -> tuple[Limb, Number]:
    """Return an arm with two rods: 1 the motor, 2.1, 2.2, 3.1, 3.2 universal joints at the elbow, 4 and 5 spherical.

    The motor is at the origin, about -y, the arm level towards -x, the platform `reach` from the motor towards x. The
    second value is the distance of the platform below the motor [m].
    """
    arm, reach, half = p["arm_length"], p["reach"], 0.5 * p["rod_distance"]
    across, span = arm + reach, p["rod_length"]
    drop = sqrt(span * span - across * across)
    tilt = about("y", drop / span, -across / span)  # z axis along the rods, upward
    limb = LimbPlacement((reach, 0.0, -drop))
    limb.joint(
        "1", "arm", GROUND, "revolute", (0.0, 0.0, 0.0), "-y", rod(p["arm_mass"], (0.0, 0.0, 0.0), (-arm, 0.0, 0.0))
    )
    tips: list[Closure] = []
    for joint, side, name in (("2", -half, "a"), ("3", half, "b")):
        elbow, end = (-arm, side, 0.0), (reach, side, -drop)
        limb.joint(f"{joint}.1", f"cross_{name}", "arm", "revolute", elbow, "-y", turned=tilt)
        load = rod(p["rod_mass"], elbow, end)
        limb.joint(f"{joint}.2", f"rod_{name}", f"cross_{name}", "revolute", elbow, "x", load, tilt)
        tips.append(limb.cut(f"{4 + len(tips)}", "spherical", f"rod_{name}", end))
    return Limb("R2US", tuple(limb.links), (), tuple(tips), ("1",)), drop


QUARTERS: Mapping[str, tuple[float, float]] = {"x": (1.0, 0.0), "y": (0.0, 1.0), "-x": (-1.0, 0.0), "-y": (0.0, -1.0)}
"""Cosine and sine of quarter turns about z, by the direction to which they turn x."""


def _instances(p: Mapping[str, Number], places: Sequence[tuple[str, Vector, Vector]]) -> tuple[Instance, ...]:
    """Return the limbs from their directions, their places on the platform, and the frames of the bodies they join."""
    result, reach = [], p["reach"]
    for k, (towards, at, origin) in enumerate(places, start=1):
        cos, sin = QUARTERS[towards]
        turn = about("z", cos, sin)
        motor = (at[0] - reach * cos, at[1] - reach * sin, 0.0)
        result.append(Instance(f"limb{k}", 0, Frame(turn, motor), Frame(turn, minus(at, origin))))
    return tuple(result)


def _h4(p: Mapping[str, Number]) -> Mechanism:
    """Return the H4: two limbs hold each of two side bars at a constant angle; a bar between them turns as they shift.

    The motion is given in x, y, z and yaw of the bar in the middle, which carries the tool. Limbs 1 and 4 come from
    either side, 2 and 3 from the front. Limbs from four sides, with neighbours on one bar, would leave the bar free to
    tilt. The limbs determine pitch and roll of the middle bar, which stay zero, and both hinges.
    """
    limb, drop = _limb(p)
    half, offset = p["bar_half_length"], p["side_offset"]
    left, right = (-half, 0.0, 0.0), (half, 0.0, 0.0)
    side = geometry.bar(p["side_mass"], 2.0 * offset, "y")
    links = tuple(
        Link(name, f"bar_{name}", BASE, "revolute", UP, shifted(at), side)
        for name, at in (("hinge_left", left), ("hinge_right", right))
    )
    places = (
        ("x", (-half - offset, 0.0, 0.0), left),
        ("y", (-half, -offset, 0.0), left),
        ("y", (half, -offset, 0.0), right),
        ("-x", (half + offset, 0.0, 0.0), right),
    )
    load = geometry.bar(p["platform_mass"], 2.0 * half, "x")
    platform = CoupledPlatform(load, shifted((0.0, 0.0, -drop)), ("x", "y", "z", "yaw"), links)
    return closed("h4", (limb,), _instances(p, places), platform, (0, 0, 1, 1))


def _par4(p: Mapping[str, Number]) -> Mechanism:
    """Return Par4, the arrangement of the Quattro: a platform of four bars, four hinges, square at the reference pose.

    Two pairs of neighbouring limbs hold one bar of the platform each, `near` and `far`, at a constant orientation. Two
    links join the bars: `link_a`, which carries the tool and whose pose is the pose of the platform, and `link_b`. The
    motion is given in x, y, z and yaw of `link_a`; its pitch and roll, which stay zero, and the hinges follow.
    """
    limb, instances, platform, bodies = par4_parts(p)
    return closed("par4", (limb,), instances, platform, bodies)


def par4_parts(p: Mapping[str, Number]) -> tuple[Limb, tuple[Instance, ...], CoupledPlatform, tuple[int, ...]]:
    """Return the limb of a Par4, its instances, its platform, and which of its bodies each instance joins."""
    limb, drop = _limb(p)
    r = p["platform_radius"]
    west, south, east, north = (-r, 0.0, 0.0), (0.0, -r, 0.0), (r, 0.0, 0.0), (0.0, r, 0.0)
    middle: Vector = (0.5 * r, -0.5 * r, 0.0)  # of link_a, from south to east

    def seen(point: Vector, origin: Vector) -> Frame:
        return shifted(minus(point, origin))

    near, far = (
        rod(p["side_mass"], (0.0, 0.0, 0.0), minus(west, south)),
        rod(p["side_mass"], (0.0, 0.0, 0.0), minus(north, east)),
    )
    links = (
        Link("hinge_near", "near", BASE, "revolute", UP, seen(south, middle), near),
        Link("hinge_far", "far", BASE, "revolute", UP, seen(east, middle), far),
        Link(
            "hinge_b",
            "link_b",
            0,
            "revolute",
            UP,
            seen(west, south),
            rod(p["link_mass"], (0.0, 0.0, 0.0), minus(north, west)),
        ),
    )
    pin = Closure("pin_b", "revolute", 2, seen(north, west), 1, seen(north, east))
    places = (("x", west, south), ("y", south, south), ("-x", east, east), ("-y", north, east))
    load = rod(p["link_mass"] + p["platform_mass"], minus(south, middle), minus(east, middle))
    platform = CoupledPlatform(load, shifted((middle[0], middle[1], -drop)), ("x", "y", "z", "yaw"), links, (pin,))
    return limb, _instances(p, places), platform, (0, 0, 1, 1)


LIMBS = (
    declared_length(
        "reach", 0.20, "axis of a motor to the joints of its limb at the platform, level, at the reference pose"
    ),
    declared_length("arm_length", 0.30, "length of the driven arms"),
    declared_length("rod_length", 0.80, "length of the rods"),
    declared_length("rod_distance", 0.10, "distance of the two rods of a limb"),
)
MASSES = (
    declared_mass("arm_mass", 0.6, "mass of an arm"),
    declared_mass("rod_mass", 0.06, "mass of a rod"),
    declared_mass("side_mass", 0.15, "mass of each bar of the platform that two limbs hold"),
)

H4 = Family(
    name="h4",
    title="H4, four arms, platform with two hinges",
    source="Company, Pierrot, A new 3T-1R parallel robot, International Conference on Advanced Robotics, 1999; numbers "
    "declared here",
    parameters=(
        *LIMBS,
        declared_length("bar_half_length", 0.06, "middle of the platform to its hinges"),
        declared_length("side_offset", 0.05, "hinges to the joints of the limbs"),
        *MASSES,
        declared_mass("platform_mass", 0.4, "mass of the bar in the middle"),
    ),
    assemble=_h4,
)

PAR4 = Family(
    name="par4",
    title="Par4, four arms, platform of four bars, as the Quattro",
    source="Nabat, de la O Rodriguez, Company, Krut, Pierrot, Par4: very high speed parallel robot for pick-and-place, "
    "IEEE/RSJ International Conference on Intelligent Robots and Systems, 2005; numbers declared here",
    parameters=(
        *LIMBS,
        declared_length("platform_radius", 0.08, "middle of the platform to its hinges, where limbs join it too"),
        *MASSES,
        declared_mass("link_mass", 0.10, "mass of each link between these bars"),
        declared_mass("platform_mass", 0.3, "mass of the tool, spread along its link"),
    ),
    assemble=_par4,
)

FAMILIES = (H4, PAR4)
