"""Families by name: of the catalogue, or of a description."""

from __future__ import annotations

from robots import catalog
from robots.formats.description import Description
from robots.model import Family


def family_of(name: str, description: Description | None) -> Family:
    """Return the family of a robot: from its description, or without one from the catalogue. Raises ParameterError."""
    return catalog.family(name) if description is None else description.family
