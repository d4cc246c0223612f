"""How another assembly of a robot is asked for: by modes, or by rough numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from robots.model import Frame

CLOSED = 1e-9
"""Residuals [m, or cosine] up to which a limb is assembled."""
Mode = Literal["usual", "other"]


class BranchError(ValueError):
    """A branch that a robot does not have: the keys that lead to it, what was got, what was expected, advice."""

    def __init__(self, path: tuple[str, ...], got: str, expected: str, hint: str = "") -> None:
        super().__init__(f"{'.'.join(('branch', *path))}: got {got}; expected {expected}. {hint}".rstrip())
        self.path, self.got, self.expected, self.hint = path, got, expected, hint


@dataclass(frozen=True)
class RoughConfiguration:
    """Rough numbers of another configuration: positions of joints by limb and name [rad or m], pose of the platform."""

    joints: tuple[tuple[str, tuple[tuple[str, float], ...]], ...] = ()
    home: Frame | None = None


@dataclass(frozen=True)
class NamedModes:
    """Which limbs are in their other working mode, and whether the platform is in its other assembly mode."""

    limbs: tuple[str, ...] = ()
    platform: bool = False
