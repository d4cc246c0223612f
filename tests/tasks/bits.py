"""Comparing and poisoning arrays, for tests of what must agree to the last bit."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def bits(values: np.ndarray) -> np.ndarray:
    """The doubles as integers, so that 0.0 and -0.0 differ; all NaN alike: sign and payload are no part of a result."""
    clean = np.where(np.isnan(values), np.nan, values)
    return np.ascontiguousarray(clean).view(np.int64)


def assert_same_bits(got: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]) -> None:
    """Assert that outputs have the same names, shapes and bits."""
    assert set(got) == set(expected)
    for name in expected:
        np.testing.assert_array_equal(bits(got[name]), bits(expected[name]), err_msg=name)


def poisoned(shape: tuple[int, ...]) -> np.ndarray:
    """An array of NaN, with gaps of NaN between its rows and blocks of rows: strides that no contiguous array has."""
    wide = np.full((*(2 * n for n in shape[:-1]), shape[-1] + 3), np.nan)
    return wide[inside(shape)]


def inside(shape: tuple[int, ...]) -> tuple[slice, ...]:
    """Return the slices of an array's memory that have its values."""
    return (*(slice(None, None, 2) for _ in shape[:-1]), slice(0, shape[-1]))


def strided(values: np.ndarray) -> np.ndarray:
    """The same values in an array with gaps."""
    result = poisoned(values.shape)
    result[...] = values
    return result


def trimmed(outputs: Mapping[str, np.ndarray], samples: int) -> dict[str, np.ndarray]:
    """Series without their padding; reductions as they are."""
    return {name: value[..., :samples] if value.ndim == 3 else value for name, value in outputs.items()}


def padded_last(values: np.ndarray, width: int) -> np.ndarray:
    """Samples (..., n) widened to (..., width) by repeating the last."""
    return np.concatenate([values, np.repeat(values[..., -1:], width - values.shape[-1], axis=-1)], axis=-1)
