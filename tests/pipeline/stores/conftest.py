"""Stores of a small sweep, which a module may have as `FEW`, cut as its `CUT` asks for, arguments of `cut_finely`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from pipeline import run
from tests.pipeline.runs import FEW, SYNCHRONOUS, cut_finely, sweep
from tests.pipeline.stores.corpus import make


@pytest.fixture(autouse=True)
def _cut(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if lengths := getattr(request.module, "CUT", None):
        cut_finely(monkeypatch, **lengths)


@pytest.fixture(scope="module")
def sound(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished store, which is not to be changed."""
    path = tmp_path_factory.mktemp("sound") / "s.zarr"
    with pytest.MonkeyPatch.context() as patch:
        cut_finely(patch, **request.module.CUT)
        run(sweep(getattr(request.module, "FEW", FEW)), path, SYNCHRONOUS)
    return path


@pytest.fixture
def path(sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, in the current folder, beside a cluster file of this process."""
    monkeypatch.chdir(tmp_path)
    Path("here.yaml").write_text("limbsweep: {cluster: {kind: synchronous}}\n")
    return Path(shutil.copytree(sound, tmp_path / "s.zarr"))


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Stores of each kind of the corpus, made when one is first asked for, and not to be changed."""
    folder = tmp_path_factory.mktemp("corpus")
    return lru_cache(lambda kind: make(kind, folder))
