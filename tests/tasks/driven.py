"""Arms with drives for tests: coupled ratios, motors on links, and a transmission that depends on the configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robots.drives import Drive, Spin
from robots.geometry import diagonal, shifted
from robots.model import Family, Inertia, Link, Mechanism, Robot
from robots.parameters import Parameter
from robots.types import BASE

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

ROTOR = Parameter("rotor", "kg m^2", 4e-4, 0.0, 1.0)
COUPLING = Parameter("coupling", "1", 1.0, 0.0, 1.0)


def _link(k: int, axis: Any, at: tuple[float, float, float], mass: float) -> Link:
    body = Inertia(mass, (0.2, 0.03 * k, -0.05), diagonal(0.02 * mass, 0.03 * mass, 0.035 * mass))
    return Link(f"j{k}", f"link{k}", k - 1, "revolute", axis, shifted(at), body)


LINKS = (
    _link(0, Z, (0.0, 0.0, 0.4), 4.0),
    _link(1, Y, (0.1, 0.0, 0.3), 3.0),
    _link(2, Y, (0.5, 0.02, 0.0), 2.0),
)


def skewed(p: Mapping[str, Any], q: Mapping[str, Any]) -> Any:
    """A crank's way: not proportional to any joint."""
    return np.sin(q["j1"]) * 20.0 + q["j1"] * q["j2"] * 8.0


def _arm(p: Mapping[str, Any], joints: int, position: Callable[..., Any] | None) -> Mechanism:
    """Motors on base and links, turned against the joints, some of them moving two joints at once."""
    tilted = (0.6, 0.0, 0.8)
    rotor, c = p["rotor"], p["coupling"]

    def spin(carrier: int, axis: Any, share: float = 1.0, times: float = 1.0) -> Spin:
        return Spin(rotor * times, carrier, axis, share, c)

    drives = [
        Drive("m0", (("j0", 120.0),), (spin(BASE, Z),)),
        Drive("m1", (("j0", 3.0), ("j1", 90.0)), (spin(0, tilted), spin(0, Y, 0.1, 5.0))),
        Drive("m2", (("j1", 110.0), ("j2", 110.0)), (spin(0, Y), spin(1, X, 0.3, 2.0))),
    ][:joints]
    if position is not None:
        drives[-1] = replace(drives[-1], position=lambda q: position(p, q))
    return Mechanism.chain("arm", LINKS[:joints], tuple(f"j{k}" for k in range(joints)), drives=tuple(drives))


def family(joints: int = 3, position: Callable[..., Any] | None = None) -> Family:
    """An arm of two or three joints."""
    name = f"driven_{joints}" + ("" if position is None else "_curved")
    return Family(name, "driven arm", "made up", (ROTOR, COUPLING), lambda p: _arm(p, joints, position))


ARM2, ARM3, CURVED = family(2), family(3), family(3, skewed)


def robot(of: Family, **values: float) -> Robot:
    """With these parameters."""
    return Robot.of(of, values)


def without_drives(of: Family) -> Family:
    """The same arm, its joints driven directly."""

    def assemble(p: Mapping[str, Any]) -> Mechanism:
        mechanism = of.assemble(p)
        return replace(mechanism, limbs=(replace(mechanism.limbs[0], drives=()),))

    return Family(f"{of.name}_direct", of.title, of.source, of.parameters, assemble)


@dataclass(frozen=True)
class States:
    """Random motions (count, joint)."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray

    @classmethod
    def random(cls, joints: int, count: int = 5, seed: int = 0) -> States:
        """Away from nothing in particular."""
        rng = np.random.default_rng(seed)
        return cls(*(rng.normal(size=(count, joints)) * scale for scale in (0.7, 1.5, 4.0)))

    @property
    def moving(self) -> dict[str, np.ndarray]:
        """As keywords."""
        return {"q": self.q, "qd": self.qd, "qdd": self.qdd}
