"""Commands about clusters: what would be started, certificates."""

from __future__ import annotations

from pathlib import Path

import click

from applications.commands.terminal import cluster_in


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
def cluster(file: Path) -> None:
    """Validate the cluster file FILE and show the cluster that it would start: job script, pod or arguments."""
    from pipeline.cluster.connection import preview

    config = cluster_in(file)
    assert config is not None, "there is a file"
    click.echo(preview(config), nl=False)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--days", type=int, default=90, show_default=True, help="Days of validity.")
def certificates(folder: Path, days: int) -> None:
    """Make TLS files in FOLDER and print the section of a cluster file that names them."""
    from pipeline.cluster.certificates import make_certificates

    click.echo(make_certificates(folder, days), nl=False)
