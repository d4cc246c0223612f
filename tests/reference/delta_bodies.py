"""Lengths and bodies of the two Delta robots of the references, from their published parameters.

The names of the parameters are those of the catalogue, so that a robot's values fit; the numbers are typed anew.
README.md says what the sources leave open and what was assumed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

AZIMUTHS = (0.0, 2.0 * math.pi / 3.0, -2.0 * math.pi / 3.0)
"""Angles of the limbs around the vertical axis [rad]."""

GRAVITY = (0.0, 0.0, -9.81)

PAPER = {
    "base_radius": 0.150,
    "platform_radius": 0.070,
    "upper_arm": 0.250,
    "rod_length": 1.000,
    "link_length": 0.080,
    "arm_diameter": 0.030,
    "rod_diameter": 0.010,
    "link_diameter": 0.020,
    "platform_diameter": 0.090,
    "platform_height": 0.100,
    "density": 2700.0,
}
"""3RR[2RR]R Delta of the hybrid-limb paper, section 9; the density is not printed there."""

RL5_1450 = {
    "base_radius": 0.330,
    "platform_radius": 0.125,
    "upper_arm": 0.420,
    "rod_length": 1.055,
    "link_length": 0.100,
    "arm_mass": 3.696,
    "arm_centre_along": 0.2463,
    "arm_centre_below": 0.027,
    "arm_inertia": 0.06541,
    "elbow_mass": 0.226,
    "wrist_mass": 0.0,
    "rod_mass": 0.525,
    "rod_centre": 0.5275,
    "rod_inertia_across": 0.043009,
    "rod_inertia_along": 5.229e-5,
    "platform_mass": 2.916,
    "gear_ratio": 55.0,
    "gearbox_inertia": 2.07e-4,
}
"""Autonox RL5-1450-6kg; the distance of its rods is not published, and the wrist mass is an option (README.md)."""


@dataclass(frozen=True)
class Solid:
    """Mass [kg], centre of mass (3,) [m] in the frame of the body, inertia (3, 3) about that centre [kg m^2]."""

    mass: float
    centre: Array
    tensor: Array


@dataclass(frozen=True)
class Delta:
    """Lengths [m], bodies, inertia of drive on the side of the joint [kg m^2] and gravity (3,) [m/s^2].

    `solids` has arm (frame on joint 1, the arm along -x), elbow and wrist (on the middle of the link, y along it), rod
    (on its upper joint, the rod along -z) and platform.
    """

    base_radius: float
    platform_radius: float
    upper_arm: float
    rod_length: float
    link_length: float
    solids: Mapping[str, Solid]
    armature: float
    gravity: Array

    @property
    def reach(self) -> float:
        """Horizontal distance d [m] of elbow and platform joint when the arms are level."""
        return self.upper_arm + self.base_radius - self.platform_radius

    @property
    def height(self) -> float:
        """Height h [m] of the base above the platform when the arms are level."""
        return math.sqrt(self.rod_length**2 - self.reach**2)


def parse_delta(parameters: Delta | Mapping[str, Any]) -> Delta:
    """The robot of these parameters: published masses where there is an `arm_mass`, else cylinders; the rest default.

    Raises ValueError for an unknown name.
    """
    if isinstance(parameters, Delta):
        return parameters
    assert not parameters.get("payload_mass"), "a reference Delta carries nothing"
    parameters = {name: value for name, value in parameters.items() if not name.startswith("payload_")}
    defaults = RL5_1450 if "arm_mass" in parameters else PAPER
    values = {**defaults, "gravity": GRAVITY, **parameters}
    if unknown := sorted(set(values) - set(defaults) - {"gravity"}):
        raise ValueError(f"unknown parameter {unknown[0]!r} of a reference Delta; expected some of {sorted(defaults)}")
    published = defaults is RL5_1450
    lengths = {key: values[key] for key in ("base_radius", "platform_radius", "upper_arm", "rod_length", "link_length")}
    return Delta(
        **lengths,
        solids=_published(values) if published else _cylinders(values),
        armature=values["gear_ratio"] ** 2 * values["gearbox_inertia"] if published else 0.0,
        gravity=np.array(values["gravity"], dtype=float),
    )


def _cylinders(p: Mapping[str, Any]) -> dict[str, Solid]:
    rho, a, b, c = p["density"], p["upper_arm"], p["link_length"], p["rod_length"]
    link = _cylinder(rho, b, p["link_diameter"], 1, (0.0, 0.0, 0.0))
    return {
        "arm": _cylinder(rho, a, p["arm_diameter"], 0, (-a / 2.0, 0.0, 0.0)),
        "elbow": link,
        "rod": _cylinder(rho, c, p["rod_diameter"], 2, (0.0, 0.0, -c / 2.0)),
        "wrist": link,
        "platform": _cylinder(rho, p["platform_height"], p["platform_diameter"], 2, (0.0, 0.0, 0.0)),
    }


def _cylinder(density: float, length: float, diameter: float, along: int, centre: tuple[float, ...]) -> Solid:
    mass = density * math.pi / 4.0 * diameter**2 * length
    moments = np.full(3, mass * (diameter**2 / 16.0 + length**2 / 12.0))
    moments[along] = mass * diameter**2 / 8.0
    return Solid(mass, np.array(centre), np.diag(moments))


def _published(p: Mapping[str, Any]) -> dict[str, Solid]:
    across = p["rod_inertia_across"]
    return {
        "arm": Solid(
            p["arm_mass"],
            np.array([-p["arm_centre_along"], 0.0, -p["arm_centre_below"]]),
            np.diag([0.0, p["arm_inertia"], p["arm_inertia"]]),
        ),
        "elbow": _point(p["elbow_mass"]),
        "rod": Solid(
            p["rod_mass"], np.array([0.0, 0.0, -p["rod_centre"]]), np.diag([across, across, p["rod_inertia_along"]])
        ),
        "wrist": _point(p["wrist_mass"]),
        "platform": _point(p["platform_mass"]),
    }


def _point(mass: float) -> Solid:
    return Solid(mass, np.zeros(3), np.zeros((3, 3)))
