"""Exponential functions of matrices for steps of linear equations, by scaling and squaring.

Source: Skaflestad and Wright 2009, The scaling and modified squaring method for matrix functions related to the
exponential, Appl. Numer. Math. 59.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

TERMS = 18
"""Terms of the series, for matrices whose norm is at most one."""

ORDERS = 4
"""Highest order of the functions."""


def phi(z: np.ndarray) -> list[np.ndarray]:
    """Return the functions phi of matrices (..., n, n) by order: the sum of z^j / (j + order)! over j.

    >>> [float(each[0, 0].round(4)) for each in phi(np.array([[-2.0]]))[:2]]
    [0.1353, 0.4323]
    """
    norm = np.nan_to_num(np.abs(z).sum(axis=-1).max(axis=-1), nan=0.0, posinf=0.0)
    halvings = np.ceil(np.log2(np.maximum(norm, 1.0))).astype(int)[..., None, None]
    small, unit = z * 0.5**halvings, np.eye(z.shape[-1])
    last = np.zeros_like(small)
    for j in reversed(range(TERMS)):
        last = small @ last + unit / math.factorial(j + ORDERS)
    result = [last]
    for order in reversed(range(ORDERS)):
        result.insert(0, small @ result[0] + unit / math.factorial(order))
    for k in range(int(halvings.max(initial=0))):
        result = [np.where(k < halvings, two, one) for one, two in zip(result, doubled(result), strict=True)]
    return result


def doubled(functions: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the functions phi by order at twice the matrices.

    >>> float(doubled(phi(np.array([[-1.0]])))[1][0, 0].round(4))
    0.4323
    """
    whole = functions[0]
    return [
        (whole @ functions[j] + sum(functions[i] / math.factorial(j - i) for i in range(1, j + 1))) * 0.5**j
        for j in range(len(functions))
    ]
