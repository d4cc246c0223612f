"""Folders in which workers keep data that do not fit into memory: checked before anything starts.

A worker whose folder is full, slow or not there stalls without a word.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from pipeline.cluster.kinds import KINDS
from pipeline.cluster.settings import effective
from pipeline.documents.report import Report

if TYPE_CHECKING:
    from pipeline.cluster.checks import ClusterSection

KEY = "temporary-directory"
"""Dask's setting of that folder."""

SSH = ("options", "worker_options", "local_directory")

LEAST = 10**9
"""Free bytes."""

NETWORK = frozenset(
    [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "lustre",
        "beegfs",
        "gpfs",
        "ceph",
        "glusterfs",
        "afs",
        "9p",
        "fuse.sshfs",
        "fuse.glusterfs",
    ]
)
"""Types of file systems that machines share."""


def check_worker_folders(report: Report, cluster: ClusterSection, settings: Mapping[str, Any]) -> None:
    """Report a folder for workers that cannot be used; on other machines its path has to be absolute."""
    kind = KINDS[cluster.kind]
    if kind.family == "local" and (folder := effective(settings).get(KEY)) is not None:
        if rule := folder_rule(folder):
            report((KEY,), folder, rule, "It takes data that do not fit into the memory of workers.")
        return
    import dask.config

    for path in ((*kind.section, "local-directory"), ("limbsweep", "cluster", *SSH)):
        folder = dask.config.get(".".join(path), None, config=report.document.data)
        if isinstance(folder, str) and not os.path.isabs(folder) and not folder.startswith(("$", "~")):
            report(path, folder, "an absolute path", "Workers start in folders of their own.")


def folder_rule(folder: object) -> str:
    """Return the requirement that a folder of this machine does not meet; empty if it meets all."""
    if not isinstance(folder, str) or not os.path.isdir(folder):
        return "an existing folder"
    if others := _others(folder):
        return f"a folder of your own, or one with the sticky bit: {others} can remove or replace its files"
    if not os.access(folder, os.W_OK | os.X_OK):
        return "a folder that you may write to"
    if (kind := file_system(folder)) in NETWORK:
        return f"a folder on a disk of this machine, not on {kind}"
    room = os.statvfs(folder)
    free = room.f_bavail * room.f_frsize
    return "" if free >= LEAST else f"at least {LEAST / 1e9:g} GB of free space, there are {free / 1e9:.2g} GB"


def _others(folder: str) -> str:
    """Return other users who can remove or replace files in a folder; empty if only the administrator can."""
    status = os.stat(folder)
    if status.st_uid not in (os.geteuid(), 0):
        return f"user {status.st_uid}, whose folder it is,"
    if status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
        return "everybody"
    return ""


@contextmanager
def own_folder(folder: str | None) -> Iterator[str]:
    """Provide a new private folder for the workers of one cluster on this machine; it is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="limbsweep-", dir=folder, ignore_cleanup_errors=True) as place:
        yield place


def file_system(folder: str) -> str:
    """Return the type of the file system that a folder is on; empty where the system does not say."""
    path = Path(os.path.realpath(folder))
    try:
        kinds = {mount.mountpoint: mount.fstype for mount in psutil.disk_partitions(all=True)}  # a later mount covers
    except OSError:
        return ""
    return next((kinds[str(parent)] for parent in (path, *path.parents) if str(parent) in kinds), "")
