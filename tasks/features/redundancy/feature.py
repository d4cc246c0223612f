"""Redundancy of chains: a posture or tasks decide joints that a motion does not give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from tasks.features.redundancy import resolved
from tasks.kernels.expression import ABSENT, Array
from tasks.mechanics.structure import Structure
from tasks.stages.parts import LimbSolver, SolvedLimb
from tasks.stages.request import Feature, Request


@dataclass(frozen=True)
class Redundancy(Feature):
    """Resolution of a redundant chain, of which `motion` gives some joints, or none where it gives all."""

    resolved: bool = False

    def solver(self, request: Request) -> LimbSolver | None:
        """Return the search for the other joints."""
        return GivenJoints() if self.resolved else None


@dataclass(frozen=True)
class GivenJoints(LimbSolver):
    """The way from a motion of given joints and tasks to all joints of a chain, see `resolved`."""

    motion: ClassVar[str] = "resolved_motion"

    def size(self, structure: Structure) -> int:
        """Return the length of the input `motion`."""
        return 3 * len(structure.mechanism.given)

    def solve(self, structure: Structure, limb_index: int, inputs: Mapping[str, Array]) -> SolvedLimb:
        """Return the solved chain."""
        signals = inputs.get("signals", ABSENT)
        return resolved.solved_limb(structure, inputs["parameters"], inputs["mount"], inputs["motion"], signals)
