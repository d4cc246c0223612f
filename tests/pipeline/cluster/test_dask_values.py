from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import dask.config
import distributed.config  # noqa: F401 - adds its defaults
import pytest

from pipeline.cluster.checks import seconds, value_rule
from pipeline.cluster.connection import preview
from pipeline.cluster.file import ClusterConfig
from pipeline.cluster.settings import FREE, SETTINGS
from pipeline.documents.document import KeyPath


def leaves(node: Mapping[str, Any], path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    for key, value in node.items():
        if isinstance(value, dict) and value and key not in FREE:
            yield from leaves(value, (*path, key))
        elif not isinstance(value, dict):
            yield (*path, key), value


def defaults() -> dict[str, Any]:
    known: dict[str, Any] = {}
    for settings in dask.config.defaults:
        dask.config.update(known, settings, priority="new")
    return known


def test_every_default_of_dask_keeps_its_own_rule() -> None:
    rows = [(path, value) for path, value in leaves(defaults()) if value != float("inf")]
    assert len(rows) > 150
    assert [path for path, value in rows if value_rule(path, value, value)] == []


def test_our_own_settings_keep_them_too() -> None:
    known = defaults()
    for name, value in SETTINGS.items():
        path = tuple(name.split("."))
        assert value_rule(path, value, dask.config.get(name, None, config=known)) == "", name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("distributed.worker.memory.target", False),
        ("distributed.worker.memory.spill", 1),
        ("distributed.worker.memory.max-spill", "10 GiB"),
        ("distributed.worker.memory.spill-compression", False),
        ("distributed.scheduler.worker-ttl", None),
        ("distributed.scheduler.worker-ttl", 120),
        ("distributed.scheduler.idle-timeout", "1 hour"),
        ("distributed.comm.compression", "lz4"),
        ("distributed.comm.offload", False),
        ("distributed.comm.timeouts.connect", "500ms"),
        ("distributed.worker.lifetime.stagger", "0 seconds"),
        ("distributed.worker.preload", "mine.py"),
        ("distributed.admin.log-length", None),
        ("distributed.scheduler.default-data-size", 1000),
    ],
)
def test_what_dask_takes_is_taken(name: str, value: object) -> None:
    assert value_rule(tuple(name.split(".")), value, dask.config.get(name, None, config=defaults())) == ""


@pytest.mark.parametrize("text", ["1e400s", "-3s", "", "soon", None, [], "1e300 days"])
def test_what_is_no_time_has_no_seconds(text: object) -> None:
    assert seconds(text) == 0.0


def test_settings_that_run_code_are_shown_first(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(
        "distributed: {worker: {preload: [mine.py]}, nanny: {pre-spawn-environ: {LD_PRELOAD: x.so}}}\n"
        "limbsweep: {cluster: {n-workers: 2, threads-per-worker: 1}}\n"
    )
    head, *lines = preview(ClusterConfig.from_yaml(file)).splitlines()
    assert head == "# settings of this file that run code in schedulers and workers, or set their variables:"
    assert lines[:2] == [
        '#   distributed.worker.preload: ["mine.py"]',
        '#   distributed.nanny.pre-spawn-environ: {"LD_PRELOAD": "x.so"}',
    ]
    assert preview(ClusterConfig()).startswith("{")
