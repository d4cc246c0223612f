"""Loads on the platform: a wrench from outside, and springs and applied forces of the robot between it and the base."""

from __future__ import annotations

from robots.data_classes import dataclass, replace
from robots.types import TWIST
from tasks.kernels.expression import Scalars
from tasks.kernels.keys import Shapes
from tasks.mechanics import elements
from tasks.mechanics.structure import Structure
from tasks.stages.parts import Part, PlatformSample
from tasks.stages.request import Feature, Request


@dataclass(frozen=True)
class PlatformWrench(Feature):
    """A wrench on the platform that is given for each sample."""

    loaded: bool = False

    def of_platform(self, request: Request) -> GivenWrench | None:
        """Return the wrench."""
        return GivenWrench() if self.loaded else None


@dataclass(frozen=True)
class GivenWrench(Part[PlatformSample]):
    """A sample input `load` (6,), (moment, force) at the reference point of the platform in world axes."""

    def sample(self, structure: Structure) -> Shapes:
        """Return the shape of the load."""
        return {"load": (len(TWIST),)}

    def add_to(self, sample: PlatformSample) -> PlatformSample:
        """Return the sample with the load on it."""
        return acted_on(sample, sample.inputs["load"])


@dataclass(frozen=True)
class PlatformForces(Feature):
    """Springs and applied forces that the robot itself has at its platform."""

    def of_platform(self, request: Request) -> BodyForces | None:
        """Return them, of a robot that has some."""
        return BodyForces() if request.family.reference.platform.forces else None


@dataclass(frozen=True)
class BodyForces(Part[PlatformSample]):
    """The wrench of the platform's own force elements, see `tasks.mechanics.recursion`."""

    def add_to(self, sample: PlatformSample) -> PlatformSample:
        """Return the sample with that wrench on it."""
        return acted_on(sample, elements.applied_wrench(sample.body, sample.pose, sample.moving))


def acted_on(sample: PlatformSample, wrench: Scalars) -> PlatformSample:
    """Return a sample with one more (moment, force) on the platform, at its reference point in world axes."""
    remainder = [x - y for x, y in zip(sample.wrench, wrench, strict=True)]
    acting = [x + y for x, y in zip(sample.acting, wrench, strict=True)] if sample.acting else list(wrench)
    return replace(sample, wrench=remainder, acting=acting)
