"""Robots of the catalogue with a mass matrix that is regular, as motion from forces asks for."""

from __future__ import annotations

from collections.abc import Mapping

from robots import catalog
from robots.model import Robot

MASSIVE: Mapping[str, Mapping[str, float]] = {"rover_rocker": {"link_3_inertia_xx": 0.018, "link_5_inertia_xx": 0.018}}
"""Inertias that published bodies lack: wheels of the rover have none about their own axes there."""


def machine(name: str) -> Robot:
    """Return a robot of the catalogue."""
    return catalog.build(name, **MASSIVE.get(name, {}))
