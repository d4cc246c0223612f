"""Kernels with the instructions of another processor: the same results, and features that it lacks are off."""

from __future__ import annotations

import pytest

from benchmarks import registers


def test_features_that_a_kind_lacks_are_off() -> None:
    features = registers.features_without(("avx512", "fma"))
    assert not any(on for name, on in features.items() if name.startswith(("avx512", "fma")))


@pytest.mark.slow
def test_both_kinds_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    registers.main(["--turns", "1", "--quick"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("  ")[0].strip() for line in lines] == [*registers.KINDS] * 2
    assert all("% of the peak" in line for line in lines)
