"""Changes of a motion input with each component of a state, for linear equations of motion."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tasks.mechanics.structure import Structure


def deviations(structure: Structure, motion: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the change of a motion input (case, size, samples) with each component of a state, accelerations held."""
    free, size = structure.freedoms, motion.shape[1]
    chain = structure.mechanism.is_chain
    for part in range(2):
        for k in range(free):
            change, place = np.zeros_like(motion), structure.positions[k]
            if chain:
                change[:, part * free + k] = 1.0
            elif size == 9:
                change[:, part * 3 + place - 3] = 1.0
            elif part == 1:
                change[:, 12 + place] = 1.0
            elif place >= 3:
                change[:, place - 3] = 1.0
            else:
                rotation = motion[:, 3:12].reshape(len(motion), 3, 3, -1)
                turned = np.einsum("ij,njks->niks", skew(np.eye(3)[place]), rotation)
                change[:, 3:12] = turned.reshape(len(motion), 9, -1)
            yield change


def turning(structure: Structure, motion: np.ndarray) -> np.ndarray:
    """Return the rate of an orientation deviation as the platform turns, (case, samples, freedom, freedom)."""
    free, (cases, size, samples) = structure.freedoms, motion.shape
    if structure.mechanism.is_chain or size == 9:
        return np.zeros((cases, samples, free, free))
    whole = np.zeros((cases, samples, 6, 6))
    whole[:, :, :3, :3] = np.moveaxis(skew(np.moveaxis(motion[:, 12:15], 1, 0)), (0, 1), (-2, -1))
    return whole[:, :, structure.positions][:, :, :, structure.positions]


def skew(v: np.ndarray) -> np.ndarray:
    """Return the matrices (3, 3, ...) of a cross product from the left with vectors (3, ...)."""
    x, y, z = v
    zero = np.zeros_like(x)
    return np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]])
