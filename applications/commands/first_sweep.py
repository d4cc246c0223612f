"""Body of the command new."""

from __future__ import annotations

import shlex
from itertools import product
from pathlib import Path

import click

from applications.commands.schemas import write_with_schema
from applications.commands.template import sweep_text
from pipeline.errors import InputError
from pipeline.execution.trial import trial
from pipeline.robot_files import rated
from pipeline.robot_files.reader import find_family, name_from
from pipeline.sweep.model import Sweep

SHARES = (1.0, 0.3, 0.1, 0.03, 0.01)
"""Scale factors of a first motion, tried from large to small until the robot can make the motion."""
SPREADS = (0.1, 0.03, 0.003)
"""Half widths of a first design axis, where no motion serves all designs of a wider one."""


def new(name: str, output: Path) -> None:
    """Write a commented sweep file for a robot."""
    family, place = find_family(name), name_from(name, output.parent)
    limits = (True, False) if rated.limits(family) else (True,)
    for limited, spread, share in product(limits, SPREADS, SHARES):
        text = sweep_text(family, place, share, spread=spread, limited=limited)
        sweep = Sweep.from_text(text, str(output), output.parent)
        tried = trial(sweep)
        if not tried.result.failed:
            break
    else:
        raise InputError(tried.problems(name, sweep))
    write_with_schema("sweep", output, text)
    click.echo(f"wrote {output}; next: {shlex.join(['limbsweep', 'check', str(output)])}")
