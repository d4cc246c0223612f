"""Parallel robots of the literature that turn in a plane or about a point: planar 3-RRR, Agile Eye."""

from __future__ import annotations

from collections.abc import Mapping

from robots import geometry
from robots.catalog.layout import DECLARED, GROUND, LimbPlacement, bent, beside, declared_length, declared_mass, rod
from robots.catalog.literature.translations import CYCLIC
from robots.geometry import around_z
from robots.model import Family, Frame, Inertia, Instance, Limb, Mechanism, Platform
from robots.parameters import Parameter
from robots.types import IDENTITY, ZERO, Number, Vector


def _planar_3rrr(p: Mapping[str, Number]) -> Mechanism:
    """Return the planar 3-RRR: three arms of two links move and turn a platform in the level plane; motors on the base.

    A limb: 1 at the base, driven, 2 the elbow, 3 at the platform, all about z. At the reference pose the platform is in
    the middle, and all elbows point to the same side, seen from their motors.
    """
    across = p["base_radius"] - p["platform_radius"]
    x, y = bent((p["proximal_length"], p["distal_length"]), (across, 0.0))
    elbow, end = (x, y, 0.0), (across, 0.0, 0.0)
    limb = LimbPlacement(end)
    limb.joint("1", "proximal", GROUND, "revolute", ZERO, "z", rod(p["proximal_mass"], ZERO, elbow))
    limb.joint("2", "distal", "proximal", "revolute", elbow, "z", rod(p["distal_mass"], elbow, end))
    tip = limb.cut("3", "revolute", "distal", end)
    instances = tuple(
        Instance(f"limb{k + 1}", 0, beside(mount, p["base_radius"]), beside(mount, p["platform_radius"]))
        for k, mount in enumerate(around_z(3))
    )
    plate = geometry.bar(p["platform_mass"], 0.0, "z", diameter=2.0 * p["platform_radius"])
    described = Limb("RRR", tuple(limb.links), (), (tip,), ("1",))
    return Mechanism((described,), instances, Platform(plate, ("wz", "vx", "vy"), Frame()))


def _agile_eye(p: Mapping[str, Number]) -> Mechanism:
    """Return the Agile Eye, a spherical 3-RRR: all axes meet in one point, about which the platform turns.

    A limb, in axes whose x is its motor: 1 about x, driven, 2 about y, 3 about z at the platform, each at right angles
    to the one before. Limbs follow from each other by cyclic permutation of x, y and z. The reference pose is the
    isotropic one, in which J_IK is orthogonal.
    """
    far, near = p["base_radius"], p["platform_radius"]
    motor: Vector = (far, 0.0, 0.0)
    elbow: Vector = (0.0, far, 0.0)
    end: Vector = (0.0, 0.0, near)
    limb = LimbPlacement()
    limb.joint("1", "proximal", GROUND, "revolute", motor, "x", rod(p["proximal_mass"], motor, elbow))
    limb.joint("2", "distal", "proximal", "revolute", elbow, "y", rod(p["distal_mass"], elbow, end))
    tip = limb.cut("3", "revolute", "distal", end)
    instances = tuple(
        Instance(f"limb_{axis}", 0, Frame(rotation), Frame(rotation))
        for axis, rotation in zip("xyz", CYCLIC, strict=True)
    )
    ball = geometry.diagonal(*[0.4 * p["platform_mass"] * p["ball_radius"] * p["ball_radius"]] * 3)
    body = Inertia(p["platform_mass"], (0.0, 0.0, p["platform_centre"]), ball)
    described = Limb("RRR", tuple(limb.links), (), (tip,), ("1",))
    return Mechanism((described,), instances, Platform(body, ("wx", "wy", "wz"), Frame(IDENTITY)))


PLANAR_3RRR = Family(
    name="planar_3rrr",
    title="Planar 3-RRR, three freedoms in a level plane",
    source="Gosselin, Angeles, The optimum kinematic design of a planar three-degree-of-freedom parallel manipulator, "
    "Journal of Mechanisms, Transmissions and Automation in Design 110 (1), 1988; numbers declared here",
    parameters=(
        declared_length("base_radius", 0.35, "middle of the machine to the motors"),
        declared_length("platform_radius", 0.10, "middle of the platform to its joints"),
        declared_length("proximal_length", 0.20, "length of the driven links"),
        declared_length("distal_length", 0.20, "length of the links at the platform"),
        declared_mass("proximal_mass", 0.8, "mass of a driven link"),
        declared_mass("distal_mass", 0.6, "mass of a link at the platform"),
        declared_mass("platform_mass", 1.0, "mass of the platform, a thin disc"),
    ),
    assemble=_planar_3rrr,
)

AGILE_EYE = Family(
    name="agile_eye",
    title="Agile Eye, spherical 3-RRR with right angles",
    source="Gosselin, Hamel, The Agile Eye: a high-performance three-degree-of-freedom camera-orienting device, IEEE "
    "International Conference on Robotics and Automation, 1994; masses and radii declared here",
    parameters=(
        declared_length("base_radius", 0.12, "centre to the ends of a driven link"),
        declared_length("platform_radius", 0.09, "centre to the joints at the platform"),
        declared_length("ball_radius", 0.04, "radius of the platform, a ball"),
        Parameter("platform_centre", "m", 0.02, -1e2, 1e2, "centre of mass of the platform along its z", DECLARED),
        declared_mass("proximal_mass", 0.15, "mass of a driven link, as of a rod between its ends"),
        declared_mass("distal_mass", 0.10, "mass of a link at the platform, as of a rod between its ends"),
        declared_mass("platform_mass", 0.30, "mass of the platform, a ball with a camera"),
    ),
    assemble=_agile_eye,
)

FAMILIES = (PLANAR_3RRR, AGILE_EYE)
