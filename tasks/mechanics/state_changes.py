"""Changes of a motion input with each component of a state, for linear equations of motion."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tasks.mechanics.structure import Structure


def deviations(structure: Structure, motion: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the change of a motion input (case, size, samples) with each component of a state, accelerations held.

    Only the motion input of a chain may have more than one case.
    """
    free, size = structure.freedoms, motion.shape[1]
    chain = structure.mechanism.is_chain
    for part in range(2):
        for k in range(free):
            change, place = np.zeros_like(motion), structure.positions[k]
            if chain:
                change[:, part * free + k] = 1.0
            elif size == 9:
                change[0, part * 3 + place - 3] = 1.0
            elif part == 1:
                change[0, 12 + place] = 1.0
            elif place >= 3:
                change[0, place - 3] = 1.0
            else:
                rotation = motion[0, 3:12].reshape(3, 3, -1)
                change[0, 3:12] = np.einsum("ij,jks->iks", skew(np.eye(3)[place]), rotation).reshape(9, -1)
            yield change


def turning(structure: Structure, motion: np.ndarray) -> np.ndarray:
    """Return the rate of an orientation deviation as the platform turns, (samples, freedom, freedom)."""
    free = structure.freedoms
    if structure.mechanism.is_chain or motion.shape[1] == 9:
        return np.zeros((motion.shape[-1], free, free))
    whole = np.zeros((motion.shape[-1], 6, 6))
    whole[:, :3, :3] = np.stack([skew(omega) for omega in motion[0, 12:15].T])
    return whole[:, structure.positions][:, :, structure.positions]


def skew(v: np.ndarray) -> np.ndarray:
    """Return the matrix of a cross product from the left."""
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
