"""Decimals of machine code are those of `repr`, byte for byte."""

from __future__ import annotations

import numpy as np
import pytest

from tasks.kernels.decimals import csv_rows

RARE = [
    0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 5e-324, -5e-324, 1.7976931348623157e308, 2.2250738585072014e-308,
    2.225073858507201e-308, 1e15, 1e16, 1e17, 1e22, 1e23, 1e-4, 1e-5, 9007199254740993.0, 0.5, 9.5, 2 / 3, 0.3, 9e15,
]  # fmt: skip
POWERS = np.concatenate([10.0 ** np.arange(-323.0, 309.0), np.exp2(np.arange(-1074.0, 1024.0))])


def texts(values: np.ndarray) -> list[str]:
    return bytes(csv_rows([values])).decode().split("\r\n")[:-1]


@pytest.mark.parametrize("seed", range(3))
def test_doubles_are_written_as_repr_writes_them(seed: int) -> None:
    random = np.random.default_rng(seed)
    values = np.concatenate(
        [
            random.integers(0, 1 << 64, 20_000, dtype=np.uint64).view(float),  # all bits alike
            random.integers(0, 1 << 52, 2000, dtype=np.uint64).view(float),  # subnormal
            random.normal(size=20_000) * 10.0 ** random.integers(-20, 20, 20_000),
            random.integers(-(10**6), 10**6, 5000) / 1000.0,
            random.integers(0, 1 << 62, 5000).astype(float),
            random.normal(size=5000).astype(np.float32).astype(float),
        ]
    )
    assert texts(values) == list(map(repr, values.tolist()))


def test_borders_of_the_rule_are_written_as_repr_writes_them() -> None:
    values = np.concatenate([RARE, POWERS, np.nextafter(POWERS, np.inf), np.nextafter(POWERS, 0.0)])
    assert texts(values) == list(map(repr, values.tolist()))
    assert texts(-values) == list(map(repr, (-values).tolist()))


def test_rows_have_whole_numbers_as_well_and_columns_of_any_stride() -> None:
    whole = np.array([-(1 << 63), -10, -1, 0, 9, 10, (1 << 63) - 1])
    pairs = np.arange(14.0).reshape(7, 2) / 7.0
    narrow = np.array([-128, 0, 127, 1, 2, 3, 4], dtype=np.int8)
    columns = [whole, pairs[:, 1], narrow, pairs[:, 0].astype(np.float32)]
    rows = zip(*(column.tolist() for column in columns), strict=True)
    assert bytes(csv_rows(columns)).decode() == "".join(f"{a},{b!r},{c},{d!r}\r\n" for a, b, c, d in rows)
    assert bytes(csv_rows([np.zeros(0)])) == b""
