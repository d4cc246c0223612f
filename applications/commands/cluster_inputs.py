"""Cluster files that commands read, with their warnings."""

from __future__ import annotations

from pathlib import Path

from applications.commands.terminal import print_warnings
from pipeline.cluster.file import ClusterConfig


def cluster_in(path: Path | None) -> ClusterConfig | None:
    """Read a cluster file, None without one; its warnings go to standard error."""
    if path is None:
        return None
    config = ClusterConfig.from_yaml(path)
    print_warnings(config.warnings)
    return config
