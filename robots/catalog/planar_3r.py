"""Planar arm of three links in the x-y plane: joints about z, links along x at zero joint variables.

The paper keeps its numbers symbolic; those here are slender rods that taper off. Gravity acts along -y there, so a
sweep that compares with it sets it to [0, -g, 0]. The length of the last link moves no mass and is no parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from robots.catalog.link_tables import Z
from robots.geometry import diagonal, shifted
from robots.model import Family, Inertia, Link, Mechanism
from robots.parameters import Parameter
from robots.types import ZERO, Number

PAPER = "symbols: Wang, Ju, An explicit modelling method of joint-space inertia matrix, section 7.1"
DECLARED = "declared here; the paper prints symbols"
LENGTHS = (0.5, 0.4, 0.3)
MASSES = (3.0, 2.0, 1.0)


def _assemble(p: Mapping[str, Number]) -> Mechanism:
    links = []
    for k in (1, 2, 3):
        about = p[f"inertia_{k}"]
        body = Inertia(p[f"mass_{k}"], (p[f"centre_{k}"], 0.0, 0.0), diagonal(0.0, about, about))
        at = ZERO if k == 1 else (p[f"length_{k - 1}"], 0.0, 0.0)
        links.append(Link(f"joint_{k}", f"link_{k}", k - 2, "revolute", Z, shifted(at), body))
    return Mechanism.chain("arm", tuple(links), tuple(link.joint for link in links))


def _parameters() -> Iterator[Parameter]:
    for k, (length, mass) in enumerate(zip(LENGTHS, MASSES, strict=True), start=1):
        if k < 3:
            yield Parameter.length(f"length_{k}", length, f"l_{k}: joint {k} to joint {k + 1}", DECLARED)
        centre = f"l_{k}I: joint {k} to the centre of mass of link {k}"
        yield Parameter(f"centre_{k}", "m", 0.5 * length, -1e2, 1e2, centre, DECLARED)
        yield Parameter.mass(f"mass_{k}", mass, f"m_{k}: mass of link {k}", DECLARED)
        inertia = f"I_{k}: inertia of link {k} about its centre of mass, across the link"
        yield Parameter(f"inertia_{k}", "kg m^2", mass * length**2 / 12.0, 0.0, 1e6, inertia, DECLARED)


PLANAR_3R = Family(
    "planar_3r", "Planar arm with three joints", PAPER, tuple(_parameters()), _assemble, (0.0, -9.81, 0.0)
)

FAMILIES = (PLANAR_3R,)
