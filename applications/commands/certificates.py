"""Body of the command certificates."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.cluster.certificates import make_certificates


def certificates(folder: Path, days: int) -> None:
    """Make TLS files, and print the section of a cluster file that names them."""
    click.echo(make_certificates(folder, days), nl=False)
