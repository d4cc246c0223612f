"""Trees that are made for a benchmark: in general position, nothing of them is zero or one."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from robots.model import Family, Frame, Inertia, Link, Mechanism
from robots.types import BASE

Z = (0.0, 0.0, 1.0)


def made_tree(name: str, count: int, *, branches: bool = False) -> Family:
    """Return a tree of revolute joints: a chain, or with `branches` each body on one of the three before it."""
    random = np.random.default_rng(1)
    links = tuple(_link(random, k, max(BASE, k - 1 - int(random.integers(3) if branches else 0))) for k in range(count))
    mechanism = Mechanism.chain(name, links, tuple(link.joint for link in links))
    return Family(name, f"Tree of {count} bodies in general position", "made for a benchmark", (), lambda _: mechanism)


def _link(random: np.random.Generator, number: int, parent: int) -> Link:
    turn = tuple(map(tuple, Rotation.random(rng=random).as_matrix().tolist()))
    placement = Frame(turn, tuple(random.normal(scale=0.3, size=3).tolist()))  # type: ignore[arg-type]
    return Link(f"joint_{number}", f"body_{number}", parent, "revolute", Z, placement, _body(random))


def _body(random: np.random.Generator) -> Inertia:
    """Draw a mass, a centre of mass and an inertia that a body of 0.1 m can have."""
    spread = random.normal(scale=0.1, size=(3, 3))
    moments = spread @ spread.T
    tensor = tuple(map(tuple, (np.trace(moments) * np.eye(3) - moments).tolist()))
    centre = tuple(random.normal(scale=0.2, size=3).tolist())
    return Inertia(float(random.uniform(0.5, 3.0)), centre, tensor)  # type: ignore[arg-type]
