"""A payload for any robot: parameters of a body that the platform carries, or the last link of a chain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from robots.data_classes import dataclass, replace
from robots.geometry import diagonal, joined
from robots.model import Family, Inertia, Mechanism
from robots.parameters import Parameter
from robots.types import Number

SOURCE = "free choice; nothing is carried by default"
AXES = "xyz"


def parameters() -> Iterator[Parameter]:
    """Yield mass, centre in the frame of the carrying body, and principal moments about it along the same axes."""
    yield Parameter("payload_mass", "kg", 0.0, 0.0, 1e6, "mass of the payload", SOURCE)
    for axis in AXES:
        text = f"centre of mass of the payload, {axis} of platform or last link"
        yield Parameter(f"payload_centre_{axis}", "m", 0.0, -1e2, 1e2, text, SOURCE)
    for axis in AXES:
        text = f"inertia of the payload about its centre of mass, {axis}"
        yield Parameter(f"payload_inertia_{axis}{axis}", "kg m^2", 0.0, 0.0, 1e6, text, SOURCE)


PARAMETERS = tuple(parameters())


def _payload(p: Mapping[str, Number]) -> Inertia:
    x, y, z = (p[f"payload_centre_{axis}"] for axis in AXES)
    moments = (p[f"payload_inertia_{axis}{axis}"] for axis in AXES)
    return Inertia(p["payload_mass"], (x, y, z), diagonal(*moments))


@dataclass(frozen=True)
class _WithPayload:
    """The assembly of a family with a payload."""

    family: Family

    def __call__(self, p: Mapping[str, Number]) -> Mechanism:
        mechanism, payload = self.family.assemble(p), _payload(p)
        if not mechanism.is_chain:
            return replace(
                mechanism, platform=replace(mechanism.platform, inertia=joined(mechanism.platform.inertia, payload))
            )
        (limb,) = mechanism.limbs
        place = limb.index(limb.coordinates[-1]) if limb.coordinates else len(limb.links) - 1
        carrier = replace(limb.links[place], inertia=joined(limb.links[place].inertia, payload))
        links = (*limb.links[:place], carrier, *limb.links[place + 1 :])
        return replace(mechanism, limbs=(replace(limb, links=links),))


def with_payload(family: Family) -> Family:
    """Return the family with parameters of a payload; for a mass of zero the same to the last bit."""
    return replace(family, parameters=(*family.parameters, *PARAMETERS), assemble=_WithPayload(family))
