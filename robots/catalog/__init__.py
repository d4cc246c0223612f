"""Catalogue of robots, one module per family: `build(name, **parameters)`. All of them can carry a payload."""

from __future__ import annotations

import os

from robots.catalog import (
    delta,
    delta_3r2us,
    five_axis_tree,
    five_bar,
    gough_stewart,
    hexapod_6rrrprr,
    irb6,
    irsbot2,
    planar_3r,
    rover_rocker,
    three_loop_leg,
)
from robots.catalog.literature import (
    arms,
    articulated,
    coupled,
    hexapods,
    linkages,
    rotations,
    schoenflies,
    translations,
)
from robots.catalog.payload import with_payload
from robots.model import Family, Robot
from robots.parameter_errors import ParameterError, nearest

_PARALLEL = (delta, delta_3r2us, irsbot2, five_bar, gough_stewart, hexapod_6rrrprr)
_CHAINS = (planar_3r, rover_rocker, five_axis_tree, three_loop_leg, irb6)
_LITERATURE = (translations, rotations, hexapods, schoenflies, coupled, articulated, linkages, arms)
_MODULES = (*_PARALLEL, *_CHAINS, *_LITERATURE)
FAMILIES: dict[str, Family] = {family.name: with_payload(family) for module in _MODULES for family in module.FAMILIES}

FOREIGN = (".urdf", ".xml", ".sdf", ".xacro", ".csv")
"""Endings of robots in files of other programs, in lower case."""
IMPORT = "make a robot file of it with `limbsweep import`, or load it with limbsweep.robots.load"

LITERATURE = tuple(family.name for module in _LITERATURE for family in module.FAMILIES)
"""Names of the mechanisms that are data: points and axes at the reference pose, see `robots.catalog.layout`."""


def is_file(name: str) -> bool:
    """Return whether the name of a robot is the name of a robot file."""
    return name.lower().endswith((".yaml", ".yml")) or "/" in name or os.sep in name


def family(name: str) -> Family:
    """Return the family called `name`. Raises ParameterError with the nearest name.

    >>> ls.robots.family("five_bar").name
    'five_bar'
    """
    if not isinstance(name, str):
        raise ParameterError(f"robot: got an object of type {type(name).__name__}; expected the name of a robot")
    if name not in FAMILIES and name.lower().endswith(FOREIGN):
        raise ParameterError(f"got {name!r}, a file of another program; expected a robot of the catalogue: {IMPORT}")
    if name not in FAMILIES and is_file(name):
        raise ParameterError(
            f"got {name!r}, the name of a robot file; expected a robot of the catalogue: "
            f"limbsweep.robots.read({name!r}) reads robot files"
        )
    if name not in FAMILIES:
        raise ParameterError(f"unknown robot {name[:80]!r}; {nearest(name, FAMILIES)}")
    return FAMILIES[name]


def build(name: str, **parameters: float) -> Robot:
    """Build the robot `name` with these parameters (SI units), defaults for the others. Raises ParameterError.

    >>> ls.robots.build("delta_3rr2rrr", upper_arm=0.28).values["upper_arm"]
    0.28
    """
    return Robot.of(family(name), parameters)
