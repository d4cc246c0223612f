"""Imports run one way, four doors have one module each, nothing runs in a circle, and planning starts without `tasks`.

Every import counts: under `TYPE_CHECKING` and inside functions as well.

The checker reads the source with `benchmarks.house.imports`. It is tried on made-up bad trees first, because a checker
that looks at nothing passes.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.house import imports
from benchmarks.house.imports import Tree, module_name, reachable

ROOT = Path(__file__).parent.parent

ALLOWED = {
    "robots": {"robots"},
    "tasks": {"tasks", "robots"},
    "storage": {"storage"},
    "pipeline": {"pipeline", "tasks", "robots", "storage"},
    "applications": {"applications", "pipeline", "tasks", "robots", "storage"},
}
"""Packages of ours that each of them may import."""

ORDER = {
    "robots": ("types", "robots", "criteria", "expressions", "trajectories", "friction", "catalog", "formats", "loads"),
    "tasks": (
        "kernels",
        "mathematics",
        "mechanics",
        "stages",
        "features",
        "dynamics",
        "sources",
        "checks",
        "blocks",
        "tasks",
    ),
    "storage": ("errors", "encoding", "places", "storage"),
    "pipeline": (
        "errors",
        "documents",
        "robot_files",
        "sweep",
        "plan",
        "monitor",
        "cluster",
        "execution",
        "stores",
        "pipeline",
    ),
    "applications": ("studies", "identification", "export", "publishing", "report", "commands", "applications"),
}
"""Sub-packages of each package: each may import those before it. The package's name stands for its other modules."""

EXCEPTIONS = {("applications.commands.bench", "benchmarks")}
"""`limbsweep bench` runs the benchmarks; nothing else may know them."""

SHARED = ("robots.quantities", "robots.dims", "robots.data_classes")
"""Modules of robots that `storage` may import: quantities and their dims, and the decorator of data classes."""

DOORS = {
    "storage/store.py": ("zarr", "xarray.open_zarr", "xarray.open_dataset"),
    "tasks/kernels/llvm.py": ("llvmlite",),
    "pipeline/execution/graph.py": (
        "dask.delayed",
        "dask.array",
        "dask.bag",
        "dask.blockwise",
        "dask.graph_manipulation",
        "dask.highlevelgraph",
        "dask.task_spec",
        "dask._task_spec",
    ),
    "pipeline/cluster/connection.py": (
        "distributed.Client",
        "distributed.LocalCluster",
        "distributed.SSHCluster",
        "distributed.SpecCluster",
        "distributed.Scheduler",
        "distributed.Nanny",
        "distributed.Worker",
        "distributed.client.Client",
        "distributed.deploy",
        "dask.distributed",
        "dask_jobqueue",
        "dask_kubernetes",
    ),
}
"""The only module that may use each of these names."""

PLANNING = (
    "pipeline.errors",
    "pipeline.documents.files",
    "pipeline.sweep.axes.kinds",
    "pipeline.sweep.reader",
    "pipeline.sweep.doors",
    "pipeline.plan.plan",
    "pipeline.monitor.log",
    "pipeline.monitor.progress",
    "pipeline.monitor.status",
    "pipeline.execution.policy",
    "storage.ledger",
)
"""Modules that `check` and `status` need: of `tasks` the shapes of programs alone, also through other modules."""

COMPUTING = ("tasks.kernels.kernel", "tasks.kernels.llvm", "tasks.dynamics", "tasks.blocks", "tasks.dynamics")
"""Modules that run programs."""


def _within(name: str, parent: str) -> bool:
    return name == parent or name.startswith(parent + ".")


def wrong_directions(tree: Tree) -> list[str]:
    ours = {*ALLOWED, "limbsweep", "packing", "tests", "benchmarks", "examples"}
    return [
        f"{module}:{use.line} imports {use.name}"
        for module, uses in tree.uses.items()
        for use in uses
        if (top := use.name.partition(".")[0]) in ours - ALLOWED[module.partition(".")[0]]
        and (module, top) not in EXCEPTIONS
        and not (_within(module, "storage") and any(_within(use.name, shared) for shared in SHARED))
    ]


def wrong_order(tree: Tree) -> list[str]:
    """Imports of a sub-package that stands later in the order of its package."""
    return [
        f"{module} imports {name}"
        for module, names in tree.graph().items()
        for name in sorted(names)
        if name.partition(".")[0] == module.partition(".")[0] and _floor(module) < _floor(name)
    ]


def _floor(module: str) -> int:
    package, _, rest = module.partition(".")
    order = ORDER[package]
    first = rest.partition(".")[0]
    return order.index(first if first in order else package)


def wrong_doors(tree: Tree) -> list[str]:
    doors = {module_name(Path(path)): names for path, names in DOORS.items()}
    return [
        f"{module}:{use.line} uses {use.name}, which belongs to {door}"
        for module, uses in tree.uses.items()
        for door, names in doors.items()
        for use in uses
        if module != door and not use.typing and any(_within(use.name, name) for name in names)
    ]


def cycles(tree: Tree) -> list[str]:
    """Modules that import themselves through others."""
    return [f"{module} is in a cycle" for cycle in imports.cycles(tree.graph()) for module in cycle]


def planning_that_computes(tree: Tree) -> list[str]:
    graph = tree.graph(typing=False)
    return [
        f"{module} imports {name}"
        for module in PLANNING
        if module in graph
        for name in sorted(reachable(graph, module))
        if any(_within(name, part) for part in COMPUTING)
    ]


@pytest.fixture(scope="module")
def project() -> Tree:
    return Tree.read(ROOT)


def test_all_packages_were_read(project: Tree) -> None:
    assert {name.partition(".")[0] for name in project.uses} == set(ALLOWED)
    missing = [name for name in (*PLANNING, *(module_name(Path(door)) for door in DOORS)) if name not in project.uses]
    assert not missing


@pytest.mark.parametrize("rule", [wrong_directions, wrong_order, wrong_doors, cycles, planning_that_computes])
def test_the_project_keeps_the_rule(project: Tree, rule) -> None:
    assert rule(project) == []


def test_every_sub_package_has_its_place(project: Tree) -> None:
    """A folder that `ORDER` does not know would count as the whole package, and might import anything."""
    folders = {tuple(name.split(".")[:2]) for name in project.uses if name.count(".") > 1}
    assert {(package, name) for package, name in folders if name not in ORDER[package]} == set()
    known = {name for package in ORDER for name in ORDER[package]}
    assert known <= {part for name in project.uses for part in name.split(".")[:2]}


def test_every_door_is_used(project: Tree) -> None:
    for door, names in DOORS.items():
        uses = project.uses[module_name(Path(door))]
        assert any(_within(use.name, name) for use in uses for name in names), f"{door} uses none of {names}"


BAD = {
    "robots/model.py": "import storage.store\n",
    "tasks/limb.py": "def f():\n    from pipeline import run\n",
    "storage/layout.py": "from robots import catalog\n",
    "pipeline/run.py": "import zarr\nimport distributed as d\nfrom dask.delayed import delayed\n\nc = d.Client()\n",
    "pipeline/face.py": "import limbsweep as ls\n",
    "pipeline/note.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from distributed import Client\n",
    "pipeline/wait.py": "from distributed import wait\n",
    "tasks/kernels/kernel.py": "def f():\n    import llvmlite.binding\n",
    "pipeline/a.py": "from pipeline import b\n",
    "pipeline/b.py": "from pipeline.c import C\n",
    "pipeline/c.py": "import pipeline.a\n",
    "pipeline/sweep/reader.py": "def late():\n    from pipeline.execution import run\n",
    "pipeline/execution/run.py": "",
    "applications/studies.py": "import benchmarks.delta\nfrom applications.report import page\n",
    "applications/report/page.py": "",
    "pipeline/d.py": "def late():\n    from pipeline import e\n",
    "pipeline/e.py": "import pipeline.d\n",
    "pipeline/f.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pipeline.g import G\n",
    "pipeline/g.py": "import pipeline.f\n",
    "pipeline/plan/plan.py": "from pipeline import helper\n",
    "pipeline/helper.py": "def late():\n    from tasks.kernels import kernel\n",
}


@pytest.fixture
def bad(tmp_path: Path) -> Tree:
    for name, text in BAD.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return Tree.read(tmp_path)


def test_wrong_directions_are_seen(bad: Tree) -> None:
    assert wrong_directions(bad) == [
        "robots.model:1 imports storage.store",
        "tasks.limb:2 imports pipeline.run",
        "storage.layout:1 imports robots.catalog",
        "pipeline.face:1 imports limbsweep",
        "applications.studies:1 imports benchmarks.delta",
    ]


def test_a_wrong_order_is_seen(bad: Tree) -> None:
    assert wrong_order(bad) == [
        "pipeline.plan.plan imports pipeline.helper",
        "pipeline.sweep.reader imports pipeline.execution.run",
        "applications.studies imports applications.report.page",
    ]


def test_wrong_doors_are_seen(bad: Tree) -> None:
    assert wrong_doors(bad) == [
        "tasks.kernels.kernel:2 uses llvmlite.binding, which belongs to tasks.kernels.llvm",
        "pipeline.run:1 uses zarr, which belongs to storage.store",
        "pipeline.run:3 uses dask.delayed.delayed, which belongs to pipeline.execution.graph",
        "pipeline.run:5 uses distributed.Client, which belongs to pipeline.cluster.connection",
    ]


def test_cycles_are_seen(bad: Tree) -> None:
    assert cycles(bad) == [f"pipeline.{name} is in a cycle" for name in "abcdefg"]


def test_planning_that_computes_is_seen(bad: Tree) -> None:
    assert planning_that_computes(bad) == ["pipeline.plan.plan imports tasks.kernels.kernel"]


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        (PLANNING, ("tasks.dynamics", "distributed", "zarr", "llvmlite", "xarray")),
        (
            ("applications.commands.cli",),
            ("tasks", "distributed", "zarr", "llvmlite", "xarray", "numpy", "pydantic", "rich"),
        ),
        (
            ("pipeline.execution.processes.worker", "pipeline.execution.graph"),
            ("pipeline.sweep", "pipeline.plan", "pipeline.documents", "pydantic", "ruamel", "zarr", "xarray"),
        ),
        (("limbsweep.__main__",), ("applications", "click", "numpy")),
    ],
    ids=["planning", "command line", "worker", "script of a worker's parent"],
)
def test_nothing_heavy_is_loaded(modules: tuple[str, ...], heavy: tuple[str, ...]) -> None:
    code = f"import sys, {', '.join(modules)}; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_first_forces_load_no_masked_arrays() -> None:
    """Importing numpy.ma takes 6 ms of the start of a process."""
    code = "import sys, limbsweep as ls; ls.inverse_dynamics(ls.robots.build('five_bar'), position=[0.0, 0.0, -0.6])"
    words = [sys.executable, "-c", f"{code}; print('numpy.ma' in sys.modules)"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.stdout.strip(), done.stderr) == ("False", "")
