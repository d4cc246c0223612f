"""Bodies of the commands cluster and certificates."""

from __future__ import annotations

from pathlib import Path

import click

from applications.commands.cluster_inputs import cluster_in
from pipeline.cluster.certificates import make_certificates
from pipeline.cluster.connection import preview


def cluster(file: Path) -> None:
    """Show the cluster that a file would start."""
    config = cluster_in(file)
    assert config is not None, "there is a file"
    click.echo(preview(config), nl=False)


def certificates(folder: Path, days: int) -> None:
    """Make TLS files, and print the section of a cluster file that names them."""
    click.echo(make_certificates(folder, days), nl=False)
