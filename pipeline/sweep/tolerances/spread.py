"""JointSpread of parameters: standard deviations, covariance, and draws that have them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robots.data_classes import dataclass


@dataclass(frozen=True)
class JointSpread:
    """Standard deviations of parameters by name, and the covariance (parameter, parameter) of their deviations."""

    deviations: Mapping[str, float]
    covariance: np.ndarray


def correlated(covariance: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Return deviations (parameter, draw) with a covariance, from independent standard ones."""
    sizes = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(sizes, sizes))
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return np.asarray(sizes[:, None] * (root @ normal))
