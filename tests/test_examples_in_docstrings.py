"""Every public name has an example in its docstring, and all run beside the sweep of the README and its store."""

from __future__ import annotations

import doctest
import inspect
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import xarray as xr

import limbsweep as ls
from tests.pages import ROOT, blocks

KNOWN = {"ls": ls, "np": np, "xr": xr}
"""Names that examples take as imported."""


def public() -> Iterator[tuple[str, Any]]:
    """Functions and classes of the face, each once."""
    for module in (ls, ls.robots, ls.study):
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and not isinstance(value, ModuleType) and (module is ls or not hasattr(ls, name)):
                yield f"{module.__name__}.{name}".removeprefix("limbsweep."), value


PUBLIC = dict(public())


def test_they_are_all() -> None:
    assert len(PUBLIC) > 75


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sweep of the README, and the store of its run in this process."""
    folder = tmp_path_factory.mktemp("examples")
    readme = blocks((ROOT / "README.md").read_text("utf-8"))
    (text,) = (block.text for block in readme if block.note == ("file", "sweep.yaml"))
    (folder / "sweep.yaml").write_text(text, "utf-8")
    shutil.copy(ROOT / "examples" / "robots" / "arm_platform.yaml", folder)
    ls.run(ls.Sweep.from_yaml(folder / "sweep.yaml"), folder / "out.zarr", progress=False)
    return folder


@pytest.mark.repository
@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_an_example_that_runs(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = inspect.getdoc(PUBLIC[name]) or ""
    example = doctest.DocTestParser().get_doctest(text, dict(KNOWN), name, None, 0)
    assert example.examples, f"{name} has no example in its docstring"
    if name == "report":
        pytest.importorskip("plotly", reason="no plotly; install limbsweep[report] to write reports")
    if name == "casadi_function":
        pytest.importorskip("casadi", reason="no CasADi; install limbsweep[casadi]")
    monkeypatch.chdir(folder)
    said: list[str] = []
    result = doctest.DocTestRunner().run(example, out=said.append)
    assert not result.failed, "".join(said)
