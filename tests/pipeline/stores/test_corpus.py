"""Every promise about stores, on a store of every kind: kept, or refused in a sentence that leaves all as it was."""

from __future__ import annotations

import json
import re
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from click.testing import CliRunner, Result

from applications.commands.cli import cli
from applications.export.tables import FORMATS
from pipeline import lazy, verify
from pipeline.execution.opening import open
from pipeline.stores.metric_rows import metric_names
from pipeline.sweep.stored import stored_sweep
from storage.errors import StoreError
from storage.manifest import Manifest
from tests.pipeline.runs import SYNCHRONOUS, content_hash
from tests.pipeline.stores.corpus import LATER, STORES, cut_finely

UNFINISHED = ("unfinished", "unfinished simulation")
FUNCTIONS = "s: holds metrics of functions that it does not keep"
UNKNOWN = f"s: this version does not know {LATER}, of a later one: .* need the version that wrote it"
NO_FILE = "designs.csv: got no such file"
RUNNING = "s: is not finished; (resume its run|first run its own sweep to the end)"

ALIKE = ("metrics", "series", "reactions", "adaptive", "several", "unfinished")
"""Kinds that pass through the same code as one of the others: tried with -m slow."""

REFUSED: dict[str, dict[str, str]] = {
    "recompute": {"own metrics": FUNCTIONS, "later version": UNKNOWN},
    "append": {
        **dict.fromkeys(UNFINISHED, RUNNING),
        "own metrics": FUNCTIONS,
        "later version": f"longer.yaml:9:11 .*: got '{LATER}'; expected one of the metrics",
        "search": NO_FILE,
        "linked": NO_FILE,
    },
    "resume": {"own metrics": FUNCTIONS, "later version": UNKNOWN},
    "repeat": {"own metrics": FUNCTIONS, "later version": UNKNOWN},
    "export": dict.fromkeys(UNFINISHED, RUNNING),
    "verify": {},
    "repair": {},
    "info": {},
    "status": {},
    "report": {},
}
"""Kinds of stores for which each promise is refused, with the sentence."""

COMPUTED = ("--cluster", "here.yaml")
COMMANDS = {
    "info": ("info", "s"),
    "status": ("status", "s"),
    "verify": ("verify", "s"),
    "recompute": ("verify", "s", "--recompute", "1", *COMPUTED),
    "repair": ("verify", "s", "--repair", *COMPUTED),
    "append": ("append", "s", "longer.yaml", *COMPUTED),
    "resume": ("run", "s", *COMPUTED),
    "repeat": ("run", "s", "--store", "t", *COMPUTED),
    "report": ("report", "s", "--output", "page.html"),
}
READING = ("info", "status", "verify", "recompute", "repair", "report", "export", "repeat")
"""Promises that leave a store as it is."""


@pytest.fixture(params=[pytest.param(kind, marks=pytest.mark.slow if kind in ALIKE else ()) for kind in STORES])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def path(kind: str, corpus: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy in the current folder, behind a link where the original is."""
    monkeypatch.chdir(tmp_path)
    original, place = corpus(kind), Path("s")
    if original.is_symlink():
        shutil.copytree(original, "elsewhere")
        place.symlink_to("elsewhere")
    else:
        shutil.copytree(original, place)
    Path("here.yaml").write_text("limbsweep: {cluster: {kind: synchronous}}\n")
    with cut_finely():
        yield place


def kept(kind: str, promise: str, *command: str) -> Result | None:
    """Call a command: its result, or None where it is refused with the sentence for this kind."""
    before = snapshot()
    with warnings.catch_warnings():
        if kind == "later version":
            warnings.filterwarnings("ignore", message=UNKNOWN)
        result = CliRunner().invoke(cli, list(command))
    assert not (result.exception and not isinstance(result.exception, SystemExit)), result.exception
    assert "Traceback" not in result.output
    if promise in READING:
        assert {name: data for name, data in snapshot().items() if name in before} == before
    if (sentence := REFUSED[promise].get(kind)) is None:
        assert result.exit_code == 0, result.output
        return result
    assert (result.exit_code, snapshot()) == (2, before)
    assert re.search(sentence, result.stderr), result.stderr
    return None


def snapshot() -> dict[str, bytes]:
    files = (each for top in (Path("s"), Path()) for each in top.rglob("*") if each.is_file())
    return {str(each): each.read_bytes() for each in files if each.name != "coordinator.lock"}


def test_each_kind_is_what_it_is_called(kind: str, path: Path) -> None:
    manifest = Manifest.load(path)
    assert manifest.layout.blocks > 1
    assert manifest.state == ("running" if kind in UNFINISHED else "finished")
    assert (manifest.layout.later != ()) == (kind == "later version")
    assert (manifest.generation > 1) == (kind in ("grown", "search"))
    assert path.is_symlink() == (kind == "linked")


@pytest.mark.parametrize("promise", ["info", "status", "verify", "recompute", "repair"])
def test_what_looks_at_a_store(promise: str, kind: str, path: Path) -> None:
    result = kept(kind, promise, *COMMANDS[promise])
    if result is not None and promise in ("verify", "recompute", "repair"):
        assert "result" in result.stdout
        assert "sound" in result.stdout
        assert ("this version does not know" in result.stdout) == (kind == "later version")


def test_a_store_goes_on_or_has_nothing_to_do(kind: str, path: Path, corpus: Callable[[str], Path]) -> None:
    if kept(kind, "resume", *COMMANDS["resume"]) is not None:
        whole = {"unfinished simulation": "simulation", "unfinished": "grown"}.get(kind, kind)
        assert content_hash(path) == content_hash(corpus(whole))


def test_a_store_is_repeated_and_is_lazy_with_the_same_bits(kind: str, path: Path) -> None:
    if kept(kind, "repeat", *COMMANDS["repeat"]) is None:
        with pytest.raises(StoreError, match=REFUSED["repeat"][kind]):
            stored_sweep(path)
        return
    repeated = open("t")
    computed = lazy(stored_sweep(path)).compute(scheduler="synchronous")
    for name in repeated.data_vars:
        assert computed[name].values.tobytes() == repeated[name].values.tobytes()
        if kind not in UNFINISHED:
            assert open(path)[name].values.tobytes() == repeated[name].values.tobytes()


def test_a_store_is_made_longer_and_keeps_its_bits(kind: str, path: Path) -> None:
    before = None if kind in (*UNFINISHED, "later version") else open(path).load()
    Path("longer.yaml").write_text(STORES[kind].longer_text(path))
    if kept(kind, "append", *COMMANDS["append"]) is not None:
        after = open(path)
        assert before is not None
        assert after.sizes["design"] == before.sizes["design"] + 1
        for name in before.data_vars:
            old = after[name].isel(design=slice(before.sizes["design"]), missing_dims="ignore")
            assert old.values.tobytes() == before[name].values.tobytes()
        assert verify(path, recompute=1.0, cluster=SYNCHRONOUS).is_sound


def test_tables_have_every_metric(kind: str, path: Path) -> None:
    if kept(kind, "export", "export", "s", "--format", "csv", "--output", "x") is not None:
        with warnings.catch_warnings(action="ignore"):
            data = open(path)
        if names := metric_names(data):
            table = pandas.read_csv("x/metrics.csv")
            for name in names:
                columns = [column for column in table if column == name or column.startswith(f"{name}_")]
                assert sum(table[column].sum() for column in columns) == pytest.approx(
                    float(data[name].sum()) * len(table) * len(columns) / data[name].size, rel=1e-9
                )


@pytest.mark.slow
def test_every_format_and_the_report(kind: str, path: Path) -> None:
    for form in FORMATS:
        kept(kind, "export", "export", "s", "--format", form, "--output", f"x{form}")
    kept(kind, "report", *COMMANDS["report"])


@pytest.mark.parametrize("kind", ["later version"])
def test_a_variable_of_a_later_version_is_passed_through_with_a_warning(kind: str, path: Path) -> None:
    with pytest.warns(UserWarning, match=UNKNOWN):
        data = open(path)
    series = data[LATER]
    assert series.dims == ("design", "friction", "trajectory")
    assert series.attrs["long_name"] == LATER.replace("_", " ")
    assert np.isfinite(series.values).all()
    assert LATER in verify(path).later
    (path / Manifest.load(path).layout.variables[LATER].key(1)).unlink()
    found = verify(path).findings
    assert [(each.kind, each.block, each.variable) for each in found] == [("missing", 1, LATER)]
    with pytest.raises(StoreError, match=UNKNOWN):
        verify(path, repair=True, cluster=SYNCHRONOUS)


@pytest.mark.parametrize("kind", ["later version"])
@pytest.mark.parametrize("text", ["{}", "[]", '{"consolidated_metadata": {"metadata": {}}}', ""])
def test_metadata_without_that_variable_are_named(kind: str, path: Path, text: str) -> None:
    (path / "zarr.json").write_text(text)
    with pytest.raises(StoreError, match=rf"s/zarr.json: missing or damaged .*; only it describes '{LATER}'"):
        Manifest.load(path)


@pytest.mark.parametrize("kind", ["later version"])
@pytest.mark.parametrize(
    ("key", "value"),
    [("data_type", "complex128"), ("dimension_names", ["design", "spool"]), ("dimension_names", ["design", "design"])],
)
def test_that_variable_has_a_known_type_and_dims_once(kind: str, path: Path, key: str, value: Any) -> None:
    group = json.loads((path / "zarr.json").read_text("utf-8"))
    group["consolidated_metadata"]["metadata"][LATER][key] = value
    (path / "zarr.json").write_text(json.dumps(group))
    with pytest.raises(StoreError, match=rf"damaged .*{LATER} of type .* along .*only it describes '{LATER}'"):
        Manifest.load(path)
