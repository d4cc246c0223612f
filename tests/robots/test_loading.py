"""Modules that are loaded on first use."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from robots.loading import load_module, on_first_use


def test_importing_leaves_the_collector_of_garbage_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_of_loading.py").write_text("import gc\nseen = gc.get_threshold()\n1 / 0\n", encoding="utf-8")
    (tmp_path / "whole_of_loading.py").write_text("import gc\nseen = gc.get_threshold()\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    assert load_module("whole_of_loading").seen[1] > before[1]
    with pytest.raises(ZeroDivisionError):
        load_module("broken_of_loading")
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, frozen)
    gc.set_threshold(0)
    try:
        assert load_module("whole_of_loading")
        assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)


def test_a_package_offers_names_of_other_modules() -> None:
    load, names = on_first_use("here", {"sqrt": "math", "root": "math:sqrt", "maths": "math:"})
    assert load("sqrt") is load("root") is load("maths").sqrt
    assert names() == ["maths", "root", "sqrt"]
    with pytest.raises(AttributeError, match="module 'here' has no attribute 'cbrt'"):
        load("cbrt")
