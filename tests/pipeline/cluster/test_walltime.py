# ruff: noqa: E501 - a row of a table is a line
"""Jobs that are too short for a plan, and folders of workers, are found before anything starts."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.cluster import worker_folders
from pipeline.cluster.arguments import require_walltime, seconds, walltime, worker_memory
from pipeline.cluster.file import ClusterConfig, parse_cluster
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError
from pipeline.execution.admission import require_memory
from pipeline.plan.plan import plan
from tests.pipeline.runs import FEW, sweep


def config(kind: str, options: str) -> ClusterConfig:
    text = f"limbsweep: {{cluster: {{kind: {kind}, insecure: true}}}}\njobqueue: {{{kind}: {{cores: 1, memory: 4GB, {options}}}}}\n"
    return parse_cluster(parse_yaml(text, "c.yaml"))


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [("02:30:15", "HH:MM:SS", 9015), ("1-00:00:01", "HH:MM:SS", 86401), ("100:00:00", "HH:MM:SS", 360000), ("2:30", "HH:MM", 9000)],
)  # fmt: skip
def test_times_of_batch_systems(text: str, form: str, expected: float) -> None:
    assert seconds(text, form) == expected


def test_a_walltime_is_that_of_the_section() -> None:
    assert walltime(config("slurm", "walltime: '00:10:00'")) == 600
    assert walltime(config("lsf", "walltime: '00:10'")) == 600
    assert walltime(config("htcondor", "disk: 1GB")) is None
    assert walltime(ClusterConfig.of("local")) is None


def test_a_job_has_time_for_two_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    made, jobs = plan(sweep(FEW)), config("pbs", "walltime: '00:10:00'")
    require_walltime(jobs, made)
    monkeypatch.setattr("pipeline.plan.cost.TASK", 301.0 * made.blocks / made.work.tasks)
    with pytest.raises(
        InputError, match=r"c\.yaml limbsweep\.cluster\.kind: got a walltime of 10 minutes; expected at"
    ):
        require_walltime(jobs, made)


@pytest.mark.parametrize(
    ("cluster", "expected"),
    [
        (ClusterConfig.of("local", memory_limit="100MB"), 100_000_000),
        (ClusterConfig.of("local", memory_limit="50 %"), None),
        (ClusterConfig.of("local"), None),
        (ClusterConfig.of("threads"), None),
        (config("pbs", "walltime: '00:10:00', processes: 40"), 100_000_000),
    ],
    ids=["size", "share", "auto", "threads", "jobs"],
)
def test_workers_whose_memory_holds_no_python_are_refused_before_anything_starts(
    cluster: ClusterConfig, expected: int | None
) -> None:
    assert worker_memory(cluster) == expected
    if expected is None:
        require_memory(cluster, plan(sweep(FEW)))
        return
    with pytest.raises(
        InputError, match=r"got workers of 95\.4 MiB, less than Python and its libraries take \(121 MiB\)"
    ):
        require_memory(cluster, plan(sweep(FEW)))


def test_the_type_of_a_file_system_is_that_of_the_nearest_mount(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = [("/", "rootfs"), ("/", "ext4"), ("/home", "nfs4"), ("/home/my disk", "xfs"), ("/home/später", "cifs")]
    mounts = [SimpleNamespace(mountpoint=folder, fstype=kind) for folder, kind in table]
    monkeypatch.setattr("psutil.disk_partitions", lambda *, all: mounts if all else [])
    monkeypatch.setattr(os.path, "realpath", str)
    kinds = {"/": "ext4", "/homes": "ext4", "/home": "nfs4", "/home/me": "nfs4", "/home/my disk/x": "xfs"}
    kinds["/home/später/x"] = "cifs"
    assert {folder: worker_folders.file_system(folder) for folder in kinds} == kinds
    mounts.clear()
    assert worker_folders.file_system("/home") == ""


def test_a_system_that_keeps_its_mounts_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*, all: bool) -> None:
        raise PermissionError("/proc/self/mounts")

    assert worker_folders.file_system("/") != ""
    monkeypatch.setattr("psutil.disk_partitions", refuse)
    assert worker_folders.file_system("/") == ""


def test_a_folder_that_is_sound_and_one_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room: dict[str, Any] = {"f_bavail": 10**6, "f_frsize": 4096}
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(**room))
    monkeypatch.setattr(worker_folders, "file_system", lambda path: "ext4")
    assert worker_folders.folder_rule(str(tmp_path)) == ""
    assert worker_folders.folder_rule(3) == worker_folders.folder_rule(str(tmp_path / "gone")) == "an existing folder"
    room["f_bavail"] = 10
    assert worker_folders.folder_rule(str(tmp_path)) == "at least 1 GB of free space, there are 4.1e-05 GB"


@pytest.mark.parametrize("folder", ["/scratch", "$TMPDIR", "~/x"])
def test_folders_of_other_machines_are_paths(folder: str) -> None:
    assert config("slurm", f"local-directory: {folder}").cluster.kind == "slurm"
