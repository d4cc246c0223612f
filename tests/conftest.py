"""What all tests share: hypothesis profiles that say how to repeat a failure, no window system, and tests of a wheel.

Beside an installed wheel (`make wheel-test`) there is nothing of the repository but this folder. The modules in
`OF_THE_REPOSITORY` and tests with the marker `repository` read its pages, examples or sources, and are left out there.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")
# Submitted runs queue, and print, in a folder of each process of the tests: others would have to wait for each other.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="limbsweep-state-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)

# Machine code is kept for the processes of this run of the tests, and for no other.
if "LIMBSWEEP_CACHE" not in os.environ:
    os.environ["LIMBSWEEP_CACHE"] = tempfile.mkdtemp(prefix="limbsweep-kernels-")
    atexit.register(shutil.rmtree, os.environ["LIMBSWEEP_CACHE"], ignore_errors=True)

# Two cores that other work shares: a deadline would fail tests for the load of the machine.
settings.register_profile("default", deadline=None, print_blob=True)
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

WHEEL = not (Path(__file__).parent.parent / "docs").is_dir()
OF_THE_REPOSITORY = (
    "test_*.py",  # of this folder: pages, imports, files at the top
    "bad_inputs/test_bad_inputs.py",
    "bad_inputs/test_fuzz.py",
    "pipeline/cluster/test_arguments.py",
    "pipeline/execution/test_corners.py",
    "applications/report/test_studies.py",
    "pipeline/robot_files/test_coupled.py",
    "pipeline/robot_files/test_drives.py",
    "pipeline/robot_files/test_reader.py",
    "pipeline/sweep/test_robot_sweeps.py",
    "pipeline/test_examples.py",
    "robots/formats/test_assembly.py",
    "tasks/dynamics/test_currents_example.py",
)
_HERE = Path(__file__).parent
collect_ignore = [str(path) for pattern in OF_THE_REPOSITORY for path in _HERE.glob(pattern)] if WHEEL else []


QUICK = ("test_catalog.py", "test_literature.py", "test_reader.py", "test_robot_pages.py", "test_examples.py")
"""Tests that are quick enough to go over mechanisms of the literature as well, see `tests.catalogue`."""


HEAVY = ("h4", "par4")
"""Mechanisms of many joints, whose examples take the interpreter of kernels seconds."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip single tests of the repository where it is not there; leave long ones of mechanisms to `-m slow`."""
    from robots import catalog

    for item in items:
        values = getattr(getattr(item, "callspec", None), "params", {}).values()
        if item.path.name not in QUICK and any(
            isinstance(value, str) and value in catalog.LITERATURE for value in values
        ):
            item.add_marker(pytest.mark.slow)
        if any(isinstance(value, Path) and value.stem in HEAVY for value in values):
            item.add_marker(pytest.mark.slow)
        if WHEEL and item.get_closest_marker("repository"):
            item.add_marker(pytest.mark.skip(reason="reads pages or examples, which are not in a wheel"))
