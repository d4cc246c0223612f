"""One name in an installation, which works where other files and projects have the names of our packages."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import limbsweep
from packing.metadata import PublishedHook
from packing.one_name import LEFT_OUT, PACKAGES, OneNameError, modules, rewritten, write_package
from tests.conftest import OF_THE_REPOSITORY
from tests.pages import ROOT, blocks, prepare

FOREIGN = "raise RuntimeError('a foreign {name} was imported')\n"
README = (ROOT / "README.md").read_text("utf-8")


# what a package index is told


def published(home: str) -> dict[str, Any]:
    """Fields that the hook writes, with the settings of pyproject.toml but this home."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    config = project["tool"]["hatch"]["metadata"]["hooks"]["custom"]
    metadata = {"version": project["project"]["version"]}
    PublishedHook(str(ROOT), config | {"home": home}).update(metadata)
    return metadata


def test_addresses_follow_from_where_the_project_is_published() -> None:
    assert published("") == {"version": "0.1.0", "readme": {"content-type": "text/markdown", "text": README}}
    fields = published("https://example.org/limbsweep/")
    assert set(fields["urls"]) == {"Homepage", "Issues", "Documentation", "Changelog"}
    assert fields["urls"]["Changelog"] == "https://example.org/limbsweep/blob/v0.1.0/CHANGELOG.md"
    before, after = (re.findall(r"\]\(([^)]+)\)", text) for text in (README, fields["readme"]["text"]))
    assert all(target.startswith("https://") for target in after)
    assert "https://example.org/limbsweep/raw/v0.1.0/docs/pictures/sweep.png" in after
    paths = [re.sub(r"https://example.org/limbsweep/(blob|raw)/v0.1.0/", "", target) for target in after]
    assert paths == before  # what had an address keeps it


# the face


def test_the_face_has_what_it_lists() -> None:
    assert dir(limbsweep) == sorted(limbsweep.__all__)
    for face in (limbsweep, limbsweep.robots, limbsweep.study):
        assert dir(face) == sorted(face.__all__)
        assert [name for name in face.__all__ if getattr(face, name) is None] == []
    with pytest.raises(AttributeError, match="module 'limbsweep' has no attribute 'torques'"):
        _ = limbsweep.torques
    assert (ROOT / "limbsweep" / "py.typed").exists()


def test_a_stub_says_where_each_name_is() -> None:
    for file, optional in (("__init__", {"jax", "torch"}), ("robots", set[str]())):
        tree = ast.parse((ROOT / "limbsweep" / f"{file}.pyi").read_text("utf-8"))
        imports = (node for node in tree.body if isinstance(node, ast.ImportFrom | ast.Import))
        named = {alias.asname or alias.name for node in imports for alias in node.names}
        face = limbsweep if file == "__init__" else limbsweep.robots
        assert named == {*face.__all__} | optional
    with pytest.raises(AttributeError, match="module 'limbsweep' has no attribute 'homes'"):
        _ = limbsweep.homes


def test_importing_it_loads_nothing_heavy() -> None:
    heavy = ("numpy", "xarray", "dask", "distributed", "pydantic", "tasks", "pipeline", "llvmlite")
    code = f"import sys, limbsweep as ls; dir(ls); print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


@pytest.mark.parametrize("place", ["tasks.py", "storage/__init__.py"])
def test_a_foreign_module_in_a_checkout_is_named(place: str, tmp_path: Path) -> None:
    file = tmp_path / place
    file.parent.mkdir(exist_ok=True)
    file.write_text(FOREIGN.format(name=place))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    command = [sys.executable, "-P", "-c", "import limbsweep"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    name = Path(place).parts[0].removesuffix(".py")
    said = f"ImportError: limbsweep: module {name}: got {file}; expected {ROOT / name / '__init__.py'}. Rename that one"
    assert done.stderr.splitlines()[-1].startswith(said)


# names written again


SOURCE = '''\
"""About `tasks.kernels.llvm` and robots.yaml, robots.model too."""
import tasks
import applications.studies as study; from storage import open_results
from robots.model import (  # a comment
    Robot,
)
HOMES = {"a": "tasks.dynamics.inverse", "robots": "robots"}
text = f"benchmarks.{HOMES} {robots.model} storage.files"
'''
AGAIN = '''\
"""About `limbsweep._src.tasks.kernels.llvm` and robots.yaml, limbsweep._src.robots.model too."""
from limbsweep._src import tasks
import limbsweep._src.applications.studies as study; from limbsweep._src.storage import open_results
from limbsweep._src.robots.model import (  # a comment
    Robot,
)
HOMES = {"a": "limbsweep._src.tasks.dynamics.inverse", "robots": "robots"}
text = f"limbsweep._src.benchmarks.{HOMES} {robots.model} limbsweep._src.storage.files"
'''


def test_imports_and_names_of_modules_are_written_again_and_nothing_else() -> None:
    assert rewritten(SOURCE, modules(ROOT)) == AGAIN
    assert rewritten("import os, sys\nx = 'pipeline'\n", modules(ROOT)) == "import os, sys\nx = 'pipeline'\n"
    both = "import tasks.dynamics.inverse\n"
    assert rewritten(both, modules(ROOT)) == (
        "import limbsweep._src.tasks.dynamics.inverse; from limbsweep._src import tasks\n"
    )
    with pytest.raises(OneNameError, match="line 1: got `import os, tasks`; expected one module of ours"):
        rewritten("import os, tasks\n", modules(ROOT))


def test_no_module_of_the_package_imports_by_an_old_name(tmp_path: Path) -> None:
    write_package(ROOT, tmp_path)
    files = list(tmp_path.rglob("*.py"))
    assert len(files) > 350
    imported = [(file, name) for file in files for name in _imports(ast.parse(file.read_text("utf-8")))]
    assert [(file, name) for file, name in imported if name.partition(".")[0] in PACKAGES] == []
    ours = {name for _, name in imported if name.startswith("limbsweep.")}
    missing = [name for name in ours if not _exists(tmp_path / name.replace(".", "/"))]
    assert missing == []
    assert (tmp_path / "limbsweep" / "_src" / "cluster.yaml").read_bytes() == (ROOT / "cluster.yaml").read_bytes()
    scripts = {file.name for file in (tmp_path / "limbsweep" / "_src" / "applications" / "report" / "web").iterdir()}
    assert scripts == {file.name for file in (ROOT / "applications" / "report" / "web").iterdir()}


def test_what_runs_beside_a_wheel_imports_no_test_of_the_repository() -> None:
    """Such a test reads pages or examples, and would end the collection of `make wheel-test`."""
    folder = ROOT / "tests"
    there = {path for pattern in OF_THE_REPOSITORY for path in folder.glob(pattern)}
    assert len(there) > 30
    left = set(folder.rglob("test_*.py")) - there
    absent = ("docs.", "packing.", *(path.removesuffix(".py").replace("/", ".") for path in LEFT_OUT))
    assert [file for file in left if any(name.startswith(absent) for name in _names(file))] == []
    needed = set(left)
    while left:
        imported = {name for file in left for name in _imports(ast.parse(file.read_text("utf-8")))}
        files = {(ROOT / name.replace(".", "/")).with_suffix(".py") for name in imported if name.startswith("tests.")}
        left = {file for file in files if file.exists()} - needed
        needed |= left
    assert needed & there == set()


def _names(file: Path) -> Iterator[str]:
    """The names that a module takes from others, and those of the others."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def _exists(path: Path) -> bool:
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


# the wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built without network by the hatchling of this environment."""
    pytest.importorskip("hatchling", reason="no hatchling; install limbsweep[test] to build the wheel")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, capture_output=True, check=True)
    (file,) = folder.glob("*.whl")
    return file


@pytest.mark.slow
def test_the_wheel_has_one_name(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (record,) = (name for name in archive.namelist() if name.endswith("/RECORD"))
        files = [line.partition(",")[0] for line in archive.read(record).decode().splitlines()]
        scripts = archive.read(record.replace("RECORD", "entry_points.txt")).decode()
    names = {file.partition("/")[0] for file in files}
    assert {name for name in names if not name.endswith(".dist-info")} == {"limbsweep"}
    assert "limbsweep = limbsweep.__main__:main" in scripts
    assert "limbsweep = limbsweep.backend:LimbsweepBackend" in scripts
    assert "limbsweep/py.typed" in files


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel and a foreign project of our old names.

    Its other packages are those of this one, but not the checkout, which is found by a file that is not read here.
    """
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    for name in PACKAGES:
        (site / name).mkdir()
        (site / name / "__init__.py").write_text(FOREIGN.format(name=f"project {name}"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (site / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return python


@pytest.mark.slow
def test_the_readme_runs_from_the_wheel_among_foreign_files(installed: Path, tmp_path: Path) -> None:
    prepare(tmp_path, README)
    for name in ("tasks.py", "pipeline.py", "storage/__init__.py", "robots/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(FOREIGN.format(name=name))
    script = ["import sys, limbsweep.__main__"]
    for block in blocks(README):
        if not block.note[0]:
            script += [f"main({words!r})" for words in block.commands()]
            script += [block.text] if block.language == "python" else []
    (tmp_path / "readme.py").write_text(MAIN + "\n".join(f"    {line}" for line in "\n".join(script).splitlines()))
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [installed, "readme.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "out.zarr").is_dir()


MAIN = """\
import subprocess, sys

def main(words):
    subprocess.run([sys.executable, "-m", "limbsweep", *words], check=True)

if __name__ == "__main__":
"""


@pytest.mark.slow
def test_wheel_and_checkout_know_each_others_stores(installed: Path, tmp_path: Path) -> None:
    """What a store is of depends on no name of a module, nor does a user metric that uses ours; bits are the same."""
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    (tmp_path / "run.py").write_text(RUN)
    for name, *pythons in (("wheel", installed, sys.executable), ("checkout", sys.executable, installed)):
        for python, blocks_done in zip(pythons, (1, 0), strict=True):
            command = [python, "run.py", name]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
            assert (done.stdout, done.stderr) == (f"{blocks_done} True\n", "")


SWEEP = """\
limbsweep: 1
robot: five_bar
design: {grid: {proximal_length: [0.5, 0.53, 0.56, 0.58]}}
trajectories: {circle: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}
time: {stop: 1.0, step: 0.01}
metrics: [peak_force]
"""
RUN = """\
import sys
import numpy as np
import limbsweep as ls
from limbsweep import inverse_dynamics

robot = ls.robots.build("five_bar")


def lift(time, actuator_force):
    share = inverse_dynamics(robot).max() if ls.Status(0) == 0 else 1.0
    return float(np.abs(actuator_force).max() / share)


if __name__ == "__main__":
    events = []
    sweep = ls.Sweep.from_yaml("sweep.yaml")
    here = ls.ClusterConfig.of("synchronous")
    ls.run(sweep, f"{sys.argv[1]}_own.zarr", here, [events.append], metrics={"lift": lift})
    ls.run(sweep, f"{sys.argv[1]}.zarr", here)
    sound = ls.verify(f"{sys.argv[1]}.zarr", 1.0, cluster=here).is_sound
    print(sum(type(event).__name__ == "BlockDone" for event in events), sound)
"""
