from __future__ import annotations

import json
import platform
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import InputError
from pipeline.execution.contents import attributes
from pipeline.execution.versions import COMPUTES, SOURCE, VersionError, differences, identity, versions
from tests.pipeline.runs import FEW, sweep


def test_versions_are_those_of_python_and_of_all_that_computes_or_stores() -> None:
    found = versions()
    assert list(found) == ["python", "limbsweep", *COMPUTES]
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__


def test_a_package_that_is_missing_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    assert versions()["llvmlite"] == "not installed"


def test_attributes_hold_the_sweep_and_nothing_of_the_machine() -> None:
    asked = sweep(FEW)
    made = attributes(asked)
    assert (made["sweep"], made["fingerprint"]) == (asked.text, asked.fingerprint)
    assert made["created"].endswith("+00:00")
    assert made["gravity"] == [0.0, 0.0, -9.81]
    assert made["parameters"]["rod_length"] == asked.parameters["rod_length"]
    assert str(Path.cwd()) not in json.dumps(made, allow_nan=False)
    assert attributes(sweep(FEW.replace("title: a small sweep\n", "")))["title"] == "delta_3rr2rrr: inverse dynamics"


def test_equal_versions_pass() -> None:
    assert differences({}) == []
    assert differences({"tcp://a:1": identity(), "tcp://b:1": identity()}) == []


def test_two_commits_of_one_version_differ_by_their_source() -> None:
    error = VersionError("c.yaml", differences({"tcp://a:1": identity() | {SOURCE: "0123"}}))
    assert f"worker tcp://a:1: got source of limbsweep 0123; expected source of limbsweep {identity()[SOURCE]}" in str(
        error
    )
    assert "install the same commit" in str(error)


def test_workers_with_other_versions_are_refused_with_a_line_for_each() -> None:
    workers = {
        "tcp://a:1": identity() | {"numpy": "1.0", "zarr": "2.0"},
        "tcp://b:1": identity(),
        "tcp://c:1": ModuleNotFoundError("No module named 'pipeline'"),
        "tcp://d:1": {name: each for name, each in identity().items() if name != "scipy"},
        "tcp://e:1": identity() | {"zarr": "2.0"},
        "tcp://f:1": identity() | {"zarr": "2.0"},
    }
    error: InputError = VersionError("c.yaml", differences(workers))
    numpy, absent, scipy, zarr, *table = str(error).splitlines()
    here = versions()
    advice = "Install the same versions on all machines; constraints.txt has a tested set."
    assert numpy == f"c.yaml worker tcp://a:1: got numpy 1.0; expected numpy {here['numpy']} as here. {advice}"
    assert zarr.startswith("c.yaml workers tcp://a:1, tcp://e:1 and 1 more: got zarr 2.0; expected zarr 3.")
    assert absent.startswith(
        "c.yaml worker tcp://c:1: got limbsweep without an answer (ModuleNotFoundError: No module named 'pipeline')"
    )
    assert "expected limbsweep to be installed there" in absent
    assert scipy.startswith("c.yaml worker tcp://d:1: got scipy not installed; expected")
    assert table[0].split() == ["package", "here", "there", "workers"]
    rows = [each.split() for each in table]
    assert ["zarr", here["zarr"], "2.0", "tcp://a:1,", "tcp://e:1", "and", "1", "more"] in rows
    assert len(table) == 5
