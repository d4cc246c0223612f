"""Body of the command excite."""

from __future__ import annotations

from pathlib import Path

import click

from applications.commands.terminal import forced, print_rows
from applications.identification.excite import excite as search
from applications.identification.excite_job import ExcitationOptions
from applications.identification.spheres import read_spheres
from pipeline.sweep.model import Sweep


def excite(sweep: Path, output: Path, cluster: Path | None, spheres: Path | None, **choices: object) -> None:
    """Optimise the random Fourier motions of a sweep for identification, and write a sweep with the best.

    choices: fields of ExcitationOptions; None keeps the default of a field.
    """
    choices = {name: value for name, value in choices.items() if value is not None}
    apart = read_spheres(spheres) if spheres is not None else ()
    options = ExcitationOptions(**choices, spheres=apart)  # type: ignore[arg-type]  # of the types of the options
    excited = search(Sweep.from_yaml(sweep), options, cluster=cluster)
    print_rows(excited.rows())
    excited.save(output, force=forced())
    click.echo(f"wrote {output}")
