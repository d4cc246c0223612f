"""Arrays of a page: what comes out of a bundle is what went in, bit by bit or to the digits that are said."""

from __future__ import annotations

import base64
import gzip
from typing import Any

import numpy as np
import pytest

from applications.report.page.bundle import ArrayBundle


def unpacked(text: str, record: dict[str, Any]) -> np.ndarray:
    """An array of a bundle, as the page reads it."""
    data = np.frombuffer(gzip.decompress(base64.b64decode(text)), "u1")
    dtype = np.dtype("u1" if record["type"] == "u1" else f"<{record['type']}")
    size = int(np.prod(record["shape"]))
    planes = data[record["at"] : record["at"] + size * dtype.itemsize].reshape(dtype.itemsize, size)
    return np.ascontiguousarray(planes.T).reshape(-1).view(dtype).reshape(record["shape"])


@pytest.mark.parametrize("kind", ["f8", "f4", "i4", "i2", "u1"])
def test_arrays_keep_all_bits(kind: Any) -> None:
    values = np.array([[0.0, 3.0, 7.0], [200.0, 1.0, 3.0]]).astype(kind)
    if kind == "f8":
        values = np.array([[0.1, np.pi, -0.0], [1e-300, np.inf, np.nan]])
    bundle = ArrayBundle()
    records = [bundle.packed(values, kind), bundle.packed([], "f8"), bundle.packed(values[0], kind)]
    text = bundle.text()
    assert unpacked(text, records[0]).tobytes() == values.tobytes()
    assert unpacked(text, records[1]).shape == (0,)
    assert unpacked(text, records[2]).tobytes() == values[0].tobytes()


def test_rounded_numbers_have_nearly_five_digits_and_cost_less() -> None:
    draw = np.random.default_rng(1)
    values = np.concatenate(
        [draw.normal(size=5000) * 10.0 ** draw.integers(-20, 20, 5000), [0.0, np.inf, -np.inf, np.nan]]
    )
    exact, rounded = ArrayBundle(), ArrayBundle()
    exact.packed(values, "f4")
    record = rounded.packed(values, "f4", rounded=True)
    np.testing.assert_allclose(unpacked(rounded.text(), record), values, rtol=1e-5)
    assert len(rounded.text()) < 0.85 * len(exact.text())


def test_equal_arrays_give_equal_texts() -> None:
    def text() -> str:
        bundle = ArrayBundle()
        bundle.packed(np.arange(100.0))
        return bundle.text()

    assert text() == text()
