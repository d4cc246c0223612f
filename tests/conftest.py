"""Fixtures of all tests: hypothesis profiles that say how to repeat a failure, no window system, and tests of a wheel.

Beside an installed wheel (`make wheel-test`) there is nothing of the repository but this folder. The modules in
`OF_THE_REPOSITORY` and tests with the marker `repository` read its pages, examples or sources, and are left out there.
"""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

from pipeline.execution.processes.garbage import collect_rarely
from tests.left_to_slow import LEFT
from tests.waiting import PATIENCE

os.environ.setdefault("MPLBACKEND", "Agg")
# Two processes of xdist share two cores: threads of BLAS would spin while they wait for one. The processes inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Submitted runs queue, and print, in a folder of each process of the tests: others would have to wait for each other.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="limbsweep-state-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)

# Machine code is kept for the next run of the tests: its name is a digest of all that it depends on.
os.environ.setdefault("LIMBSWEEP_CACHE", str(Path(__file__).parent.parent / "build" / "kernels"))

# Two cores that other work shares: limits of time, of a test or of its examples, would fail tests for the load alone.
LOADED: dict[str, Any] = {
    "deadline": None,
    "max_examples": 50,
    "print_blob": True,
    "suppress_health_check": [HealthCheck.too_slow],
}
settings.register_profile("default", **LOADED)
settings.register_profile("ci", **LOADED, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

WHEEL = not (Path(__file__).parent.parent / "docs").is_dir()
OF_THE_REPOSITORY = (
    "test_*.py",  # of this folder: pages, imports, files at the top
    "bad_inputs/test_bad_inputs.py",
    "bad_inputs/test_fuzz.py",
    "benchmarks/campaigns/test_mutants.py",
    "benchmarks/test_attributes.py",
    "benchmarks/test_changed.py",
    "benchmarks/test_composition.py",
    "benchmarks/test_published.py",
    "pipeline/cluster/test_arguments.py",
    "pipeline/cluster/test_job_scripts.py",
    "pipeline/execution/test_corners.py",
    "applications/report/test_studies.py",
    "pipeline/robot_files/test_coupled.py",
    "pipeline/robot_files/test_drives.py",
    "pipeline/robot_files/test_reader.py",
    "pipeline/sweep/test_dataset_names.py",
    "pipeline/sweep/test_robot_sweeps.py",
    "pipeline/test_examples.py",
    "robots/formats/test_assembly.py",
    "tasks/dynamics/test_currents_example.py",
)
_HERE = Path(__file__).parent
collect_ignore = [str(path) for pattern in OF_THE_REPOSITORY for path in _HERE.glob(pattern)] if WHEEL else []


@pytest.fixture(scope="session", autouse=True)
def _for_a_loaded_machine() -> None:
    """Keep commands that take long from telling that they are at work, and wait longer for schedulers."""
    from applications.commands import heartbeat
    from pipeline.cluster import connection

    heartbeat.BEATS = (1e6,)
    heartbeat.FIRST_IN_FILE = 0
    connection.ANSWER_SECONDS = PATIENCE


QUICK = ("test_catalog.py", "test_literature.py", "test_reader.py", "test_robot_pages.py", "test_examples.py")
"""Tests that are quick enough to go over mechanisms of the literature as well, see `tests.catalogue`."""


HEAVY = ("h4", "par4")
"""Mechanisms of many joints, whose examples take the interpreter of kernels seconds."""


ROBOTS_OF_A_FILE = 2
"""Robots of the tests of a file in every run, of those that they ask for: each test goes over one of them."""


def _robot(item: pytest.Item) -> str | None:
    """Return the robot of the catalogue that a test is about."""
    from robots import catalog

    values = getattr(getattr(item, "callspec", None), "params", {}).values()
    return next((value for value in values if isinstance(value, str) and value in catalog.FAMILIES), None)


def _robots_in_turn(items: list[pytest.Item]) -> set[tuple[str, str]]:
    """Return the pairs of test and robot that every run has.

    A digest of the file and the robot draws those of the file: each robot meets its share of all files, the choice
    stays the same, and tests of a file share the programs of their robots. A digest of the test chooses among them.
    """
    robots: dict[str, set[str]] = {}
    for item in items:
        if robot := _robot(item):
            robots.setdefault(item.nodeid.partition("[")[0], set()).add(robot)
    return {(test, _drawn(test, names)) for test, names in robots.items()}


def _drawn(test: str, names: set[str]) -> str:
    file = test.partition("::")[0]
    drawn = sorted(names, key=lambda name: crc32(f"{file} {name}".encode()))[:ROBOTS_OF_A_FILE]
    return drawn[crc32(test.encode()) % len(drawn)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip single tests of the repository where it is not there; leave to `-m slow` most robots and some long tests."""
    from robots import catalog

    several = [item for item in items if item.path.name not in QUICK and _robot(item) not in catalog.LITERATURE]
    in_turn = _robots_in_turn([item for item in several if not item.nodeid.startswith(LEFT)])
    for item in items:
        values = getattr(getattr(item, "callspec", None), "params", {}).values()
        robot, test = _robot(item), item.nodeid.partition("[")[0]
        if robot and item.path.name not in QUICK and (test, robot) not in in_turn:
            item.add_marker(pytest.mark.slow)
        if item.nodeid.startswith(LEFT) or any(isinstance(value, Path) and value.stem in HEAVY for value in values):
            item.add_marker(pytest.mark.slow)
        if WHEEL and item.get_closest_marker("repository"):
            item.add_marker(pytest.mark.skip(reason="reads pages or examples, which are not in a wheel"))


def pytest_configure() -> None:
    """Collect garbage as rarely as processes of a run do, and force no file to the disk.

    The loss of power is one of `benchmarks.campaigns.power`, which notes what would be forced.
    """
    collect_rarely()
    os.fsync = lambda descriptor: None


def pytest_collection_finish() -> None:
    """Let the collector of garbage pass over modules and tests from now on."""
    if "distributed" in sys.modules:
        _fork_workers()
    gc.freeze()


def _fork_workers() -> None:
    """Let Dask fork processes of workers from one that has imported what they need, which takes two seconds.

    Runs that are started as programs start new interpreters, as users do.
    """
    import dask
    from distributed.utils import get_mp_context

    dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    get_mp_context()  # names the modules that it knows
    multiprocessing.set_forkserver_preload(["distributed", "xarray", "pipeline.execution.graph", "tasks.blocks"])
