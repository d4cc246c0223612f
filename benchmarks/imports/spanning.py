"""Forces that an engine computes for the tree of a file: all joints, followers and joints of loops too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robots.formats.tree import Tree

GRAVITY = (0.0, 0.0, -9.81)

Forces = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Forces (joint,) on all joints of a tree, from their positions, rates and accelerations."""

Conditions = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Residual of loops and couplings (row,) and its Jacobian by all joints (row, joint), as a function of positions."""


@dataclass(frozen=True)
class Spanning:
    """A tree in another engine; `conditions` where it has loops and couplings of the file as well."""

    forces: Forces
    conditions: Conditions | None = None


def pairs_of(path: Path) -> Path | None:
    """Return the file of frames in pairs beside a file, as example-parallel-robots has them; None without one."""
    beside = path.parent / "robot.yaml"
    return beside if path.suffix == ".urdf" and beside.is_file() and b"closed_loop" in beside.read_bytes() else None


def rotors(tree: Tree) -> np.ndarray:
    """Return the inertias of drives as seen at the joints (joint,)."""
    return np.array([float(link.armature) for link in tree.links])


def following(tree: Tree) -> np.ndarray:
    """Return the rates of all joints of a tree per rate of the joints that follow no other (joint, free)."""
    result = np.array([[float(name == other) for other in tree.free] for name in tree.joints])
    for entry in tree.couplings:
        result[tree.joints.index(entry.joint), tree.free.index(entry.of)] = float(entry.ratio)
    return result
