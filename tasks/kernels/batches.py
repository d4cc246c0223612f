"""Arrays with any leading batch dims, and the padded rows that kernels work on."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from tasks.kernels.kernel import padded

Batch = tuple[int, ...]


def checked(name: str, value: ArrayLike, core: tuple[int, ...]) -> np.ndarray:
    """An array (*batch, *core) of floats. Raises ValueError."""
    result = np.asarray(value, dtype=float)
    if result.shape[max(result.ndim - len(core), 0) :] != core or result.size == 0:
        wanted = ", ".join(map(str, core))
        raise ValueError(f"{name}: got an array of shape {result.shape}; expected (*batch, {wanted}), not empty")
    return result


def common_batch(shapes: Mapping[str, Batch]) -> Batch:
    """The batch dims that those of all arrays broadcast to. Raises ValueError."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"batch dims do not fit together: {listed}; expected shapes that broadcast") from None


def rows(values: np.ndarray, batch: Batch) -> np.ndarray:
    """(*batch, size) as (size, padded samples): the last sample fills the last group of lanes."""
    flat = np.broadcast_to(values, (*batch, values.shape[-1])).reshape(math.prod(batch), values.shape[-1]).T
    fill = np.repeat(flat[:, -1:], padded(flat.shape[1]) - flat.shape[1], axis=1)
    return np.ascontiguousarray(np.concatenate([flat, fill], axis=1))
