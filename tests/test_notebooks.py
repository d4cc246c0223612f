"""The notebooks of the documentation run in a kernel, are stored without outputs, and show how far runs are."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.pages import ROOT

nbformat = pytest.importorskip("nbformat", reason="no nbclient; install limbsweep[notebooks] to run notebooks")
nbclient = pytest.importorskip("nbclient", reason="no nbclient; install limbsweep[notebooks] to run notebooks")
pytest.importorskip("ipykernel", reason="no ipykernel; install limbsweep[notebooks] to run notebooks")

FILES = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
pytestmark = [
    pytest.mark.repository,
    # of zmq in jupyter_client, and of the ports of its kernel
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::RuntimeWarning"),
]

PATIENCE = 300
"""Seconds for a cell; a kernel that hangs fails a test."""


def execute(notebook: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[dict[str, Any]]]:
    """Run all cells in a new kernel; the outputs of each cell of code."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(notebook, timeout=PATIENCE, kernel_name="python3", resources=resources).execute()
    return [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]


def html(outputs: list[dict[str, Any]]) -> list[str]:
    return [output["data"]["text/html"] for output in outputs if "text/html" in output.get("data", {})]


def test_there_are_six() -> None:
    assert len(FILES) == 6


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_notebook_is_stored_without_outputs(file: Path) -> None:
    notebook = json.loads(file.read_text("utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert code
    assert [cell for cell in code if cell["outputs"] or cell["execution_count"] is not None] == []
    assert notebook["metadata"].keys() == {"kernelspec", "language_info"}


def test_cells_of_the_first_notebook_run_and_show_what_they_end_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run the cells in this process, without a kernel; kernels run all notebooks behind the marker `slow`."""
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {"__name__": "notebook"}
    shown = []
    for cell in nbformat.read(ROOT / "docs" / "notebooks" / "first_sweep.ipynb", 4)["cells"]:
        if cell["cell_type"] == "code":
            tree = ast.parse(cell["source"])
            end = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, "cell", "exec"), space)
            if isinstance(end, ast.Expr):
                shown.append(eval(compile(ast.Expression(end.value), "cell", "eval"), space))
    formats = [kind for each in shown for kind in ("html", "png", "svg") if getattr(each, f"_repr_{kind}_", str)()]
    assert formats == ["html", "html", "html", "png", "svg"]  # robot, plan, results, series, the mechanism in motion


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_notebook_runs(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = execute(nbformat.read(file, 4), tmp_path, monkeypatch)
    said = [output for cell in outputs for output in cell]
    assert [output for output in said if output["output_type"] == "error"] == []
    assert [output["text"] for output in said if output.get("name") == "stderr"] == []


CELLS = (
    """
import limbsweep as ls
sweep = ls.sweep(
    "five_bar",
    design={"grid": {"proximal_length": [0.5, 0.53]}},
    trajectories={"circle": {"kind": "circle", "radius": 0.05, "normal": [0, 1, 0]}},
    time=(1.0, 0.1),
    metrics=["peak_force"],
)
""",
    "results = ls.run(sweep)",
    "quiet = ls.run(sweep, progress=False)",
    """
far = {"far": {"kind": "line_sine", "amplitude": [9, 0, 0]}}
far = ls.run(ls.sweep("five_bar", trajectories=far, time=(1, 0.25), metrics=["peak_force"]))
""",
    "results.limbsweep.animation('circle')",
    "page = results.limbsweep.page()\nassert len(page.html) > 1e6\npage",
    """
from distributed import Client
owner = await Client(asynchronous=True, n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0")
""",
    """
try:
    ls.run(sweep, client=owner).result()
except ls.InputError as error:
    print(error)
""",
    "handle = ls.submit(sweep, client=owner)\nhandle",
    "(await handle).equals(results)",
    "await owner.close()",
    """
try:
    await ls.run(sweep, client=owner)
except ls.InputError as error:
    print(error)
""",
)


def test_a_kernel_shows_progress_and_waits_for_an_asynchronous_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    outputs = execute(notebook, tmp_path, monkeypatch)
    run, quiet, far, animation, page, _, refused, handle, same, _, closed = outputs[1:]
    (shown,) = html(run)
    assert "<progress" in shown
    assert "22 samples in 0:00:0" in shown
    assert html(quiet) == []
    assert "2 of 5 samples failed (40 %) and hold NaN:" in html(far)[0]
    assert "NOT_REACHABLE" in html(far)[0]
    assert animation[0]["data"]["image/svg+xml"].count("<animate ") == 4
    assert html(page)[0].startswith("<iframe srcdoc=")
    assert "expected an await. Write: await handle." in refused[-1]["text"]
    assert "finished: 1 of 1 blocks" in html(handle)[0]
    assert same[-1]["data"]["text/plain"] == "True"
    assert "expected one that is connected" in closed[-1]["text"]
