"""Sizes of installed packages: what limbsweep requires is found, each with the package that asks for it."""

from __future__ import annotations

import pytest

from benchmarks import packages


def test_required_packages_are_found_through_others() -> None:
    found = packages.required()
    assert found["numpy"] == "limbsweep"
    assert found["tornado"] == "distributed"
    assert "mypy" not in found
    assert "mypy" in packages.required(["test"])


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    packages.main([])
    *rows, last = capsys.readouterr().out.splitlines()
    sizes = [float(row.split()[1]) for row in rows]
    assert rows[0].split() == ["llvmlite", rows[0].split()[1], "MiB", "for", "limbsweep"]
    assert sizes == sorted(sizes, reverse=True)
    assert float(last.split()[2]) >= sum(sizes) - 0.1 * len(sizes)
