"""Friction laws as data: name, parameters with units, and what each needs. Their mathematics is in `tasks.friction`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from robots.parameters import Parameter


@dataclass(frozen=True)
class FrictionLaw:
    """A friction law: its name, the parameters of one joint, where it comes from."""

    name: str
    parameters: tuple[Parameter, ...]
    text: str
    source: str


LAWS: dict[str, FrictionLaw] = {
    law.name: law
    for law in (
        FrictionLaw("none", (), "no friction", "-"),
        FrictionLaw(
            "coulomb_viscous",
            (
                Parameter("coulomb", "N m or N", 0.0, 0.0, math.inf, "magnitude that opposes motion; zero at rest"),
                Parameter("viscous", "N m s/rad or N s/m", 0.0, 0.0, math.inf, "proportional to speed"),
            ),
            "constant magnitude against the motion, plus a part proportional to speed",
            "Bo and Pavelescu 1982, without the Stribeck term",
        ),
    )
}
