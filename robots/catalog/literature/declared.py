"""Parameters whose values no source prints: they are declared here, and their robots say so."""

from __future__ import annotations

from robots.parameters import Parameter

DECLARED = "declared here"


def declared_mass(name: str, default: float, text: str) -> Parameter:
    """A mass [kg]."""
    return Parameter.mass(name, default, text, DECLARED)


def declared_length(name: str, default: float, text: str) -> Parameter:
    """A length [m]."""
    return Parameter.length(name, default, text, DECLARED)
