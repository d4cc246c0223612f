"""Random trees and states of their joints, and the same trees for Pinocchio."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robots.model import Frame, Inertia, Link
from robots.types import BASE
from tasks.mechanics.kinematics import JointState, state_at

AXES = np.array([*np.eye(3), *-np.eye(3)])


def body(rng: np.random.Generator) -> Inertia:
    """Mass, centre and tensor that some body could have."""
    spread = rng.normal(size=(3, 3))
    moments = spread @ spread.T
    tensor = np.trace(moments) * np.eye(3) - moments
    return Inertia(rng.uniform(0.5, 3.0), tuple(rng.normal(size=3)), tuple(map(tuple, tensor)))  # type: ignore[arg-type]


def random_tree(
    rng: np.random.Generator, parents: Sequence[int], sliding: float = 0.4, winding: float = 0.3
) -> list[Link]:
    """A tree of this shape in general position; joints are prismatic or screws with these probabilities."""
    links = []
    for k, parent in enumerate(parents):
        rotation = tuple(map(tuple, Rotation.random(rng=rng).as_matrix()))
        placement = Frame(rotation, tuple(rng.normal(size=3)))  # type: ignore[arg-type]
        chance, axis = rng.random(), tuple(AXES[rng.integers(6)])
        kind = "prismatic" if chance < sliding else "screw" if chance < sliding + winding else "revolute"
        pitch = float(rng.choice([-1.0, 1.0]) * rng.uniform(0.02, 0.5)) if kind == "screw" else None
        links.append(Link(str(k), f"body{k}", parent, kind, axis, placement, body(rng), 0.0, pitch))  # type: ignore[arg-type]
    return links


def random_parents(rng: np.random.Generator, count: int) -> list[int]:
    """Each body on the base or on any body before it."""
    return [int(rng.integers(BASE, k)) if k else BASE for k in range(count)]


def joint_states(links: Sequence[Link], q: Any) -> list[JointState]:
    """States of all joints."""
    return [state_at(link, float(x)) for link, x in zip(links, q, strict=True)]


def engine() -> ModuleType:
    """The reference that wraps Pinocchio; skips the test where that is missing."""
    pytest.importorskip("pinocchio", reason="no second engine to compare with: Pinocchio (package pin) is missing")
    from tests.reference import tree_pinocchio

    return tree_pinocchio


def in_pinocchio(peer: ModuleType, links: Sequence[Link], gravity: Any) -> Any:
    """The same tree there."""
    bodies = [
        peer.TreeBody(
            link.parent,
            np.array(link.placement.rotation),
            np.array(link.placement.position),
            np.array(link.axis),
            link.kind,
            link.inertia.mass,
            np.array(link.inertia.centre),
            np.array(link.inertia.tensor),
            0.0 if link.pitch is None else link.pitch,
        )
        for link in links
    ]
    return peer.tree_pinocchio(bodies, gravity)
