"""Models of MuJoCo that are compiled once for several tests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from robots.formats import mjcf_model

COMPILED: dict[Any, bytes] = {}
"""Models by the files that they are compiled from."""


@pytest.fixture
def compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep compiled models: a compilation is a process of its own, and many tests read a model several times."""
    compiled = mjcf_model._compiled

    def kept(path: str, private: str) -> bytes:
        files = {file.relative_to(private): file.read_bytes() for file in Path(private).rglob("*") if file.is_file()}
        model = (os.path.relpath(path, private), frozenset(files.items()))
        if model not in COMPILED:
            COMPILED[model] = compiled(path, private)
        return COMPILED[model]

    monkeypatch.setattr(mjcf_model, "_compiled", kept)
