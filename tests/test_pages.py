"""Every page does what it says: its Python and its commands run, its links lead somewhere, its commands exist."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import limbsweep
from pipeline.cluster.arguments import ClusterLike, as_cluster
from pipeline.cluster.file import ClusterConfig
from pipeline.execution import run
from tests.pages import (
    ROOT,
    anchors,
    blocks,
    links,
    mentioned,
    open_tables,
    pages,
    prepare,
    run_command,
    run_page,
    unknown,
)
from tests.pipeline.robot_files.test_urdf import FOUR_BAR

PAGES = pages()
TEXTS = {name: (ROOT / name).read_text("utf-8") for name in PAGES}
WITH_SOMETHING_TO_RUN = [
    name
    for name, text in TEXTS.items()
    if not name.startswith("docs/howto/")
    if any(not block.note[0] and (block.commands() or block.language == "python") for block in blocks(text))
]

Changes = Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Setting:
    """Needs of a page: commands `before` it, `files`; in place of much work, less: changes in files."""

    before: Sequence[Sequence[str]] = ()
    smaller: Changes = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


OUT = ("run", "examples/delta_rl5_1450.yaml", "--store", "out.zarr")
CASES = "examples/pick_and_place.yaml"
SETTINGS: Mapping[str, Setting] = {
    "docs/report.md": Setting(
        before=(OUT, (*OUT[:-1], "delta.zarr"), (*OUT[:-1], "hexa.zarr"), ("run", CASES, "--store", "pick.zarr")),
        smaller={CASES: ("count: 64", "count: 4")},
    ),
    "docs/robot_files.md": Setting(files={"robot.urdf": FOUR_BAR.replace('name="a"', 'name="crank_joint"')}),
    "docs/identification.md": Setting(smaller={"examples/identification.yaml": ("count: 8", "count: 2")}),
    "docs/studies.md": Setting(smaller={"examples/studies/pick_and_place.yaml": ("count: 100000", "count: 256")}),
}


def test_the_settings_are_of_pages_that_run() -> None:
    assert set(SETTINGS) <= set(WITH_SOMETHING_TO_RUN)


LONG = ("docs/identification.md",)
"""Pages that take half a minute; what they show is run by tests of its own."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in WITH_SOMETHING_TO_RUN]
)
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive:UserWarning")  # pages may say `show`
def test_a_page_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setting = SETTINGS.get(name, Setting())
    prepare(tmp_path, TEXTS[name])
    for file, text in setting.files.items():
        (tmp_path / file).write_text(text, "utf-8")
    for file, (old, new) in setting.smaller.items():
        text = (tmp_path / file).read_text("utf-8")
        assert old in text, f"{file} has no {old!r} any more"
        (tmp_path / file).write_text(text.replace(old, new), "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "as_cluster", _in_this_process)
    for command in setting.before:
        run_command(command, "before the page")
    run_page(name, TEXTS[name])


def _in_this_process(cluster: ClusterLike) -> ClusterConfig:
    """Return the named cluster; without one this process, which saves the start of the default cluster."""
    return ClusterConfig.of("synchronous") if cluster is None else as_cluster(cluster)


@pytest.mark.parametrize("name", PAGES)
def test_commands_and_options_exist(name: str) -> None:
    assert [words for words in mentioned(TEXTS[name]) if unknown(words)] == []


@pytest.mark.parametrize("name", PAGES)
def test_tables_are_tables(name: str) -> None:
    assert open_tables(TEXTS[name]) == []


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    broken = []
    for link in links(TEXTS[name]):
        path, _, anchor = link.partition("#")
        target = (ROOT / name).parent / path if path else ROOT / name
        if not target.exists() or (anchor and anchor not in anchors(target.read_text("utf-8"))):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("name", PAGES)
def test_modules_and_files_that_are_named_exist(name: str) -> None:
    files = re.findall(r"`((?:robots|tasks|storage|pipeline|benchmarks|tests|docs|examples)/[\w./-]+)`", TEXTS[name])
    assert [each for each in files if "_build" not in each and not (ROOT / each).exists()] == []
    dotted = re.findall(r"`((?:robots|tasks|storage|pipeline)(?:\.\w+)+)`", TEXTS[name])
    assert [each for each in dotted if not _exists(each)] == []
    of_the_face = re.findall(r"`(?:ls|limbsweep)\.((?!_|json`)[\w.]+)`", TEXTS[name])
    assert [each for each in of_the_face if not _is_in_the_face(each)] == []


def _is_in_the_face(dotted: str) -> bool:
    """Return whether a dotted name can be had from `limbsweep`, by attributes and modules."""
    if dotted.partition(".")[0] in ("jax", "torch"):  # its package may not be installed
        return _exists(f"limbsweep.{dotted}")
    place: object = limbsweep
    for part in dotted.split("."):
        if not hasattr(place, part) and not (ROOT / "limbsweep" / f"{part}.py").exists():
            return False
        place = getattr(place, part, None)
    return True


def _exists(dotted: str) -> bool:
    """Return whether a dotted name is a module or package, or ends in a name that its module has at the top level."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        path = ROOT.joinpath(*parts[:count])
        modules = path.with_suffix(".py"), path / "__init__.pyi", path / "__init__.py"  # a stub has all names
        if module := next((each for each in modules if each.exists()), None):
            rest = parts[count:]
            return not rest or re.search(rf"\b{rest[0]}\b", module.read_text("utf-8")) is not None
    return False
