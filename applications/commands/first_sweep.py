"""Body of the command new."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import click

from applications.commands.schemas import write_with_schema
from applications.commands.template import sweep_text, swept_first
from applications.commands.terminal import forced
from pipeline.documents.outputs import check_output
from pipeline.errors import InputError, Problem
from pipeline.execution.trial import trial
from pipeline.robot_files import rated
from pipeline.robot_files.reader import find_family, name_from
from pipeline.sweep.model import Sweep
from robots.model import Family

SHARES = (1.0, 0.3, 0.1, 0.03, 0.01)
"""Scale factors of a first motion, tried from large to small until the robot can make the motion."""
SPREADS = (0.1, 0.03, 0.003)
"""Half widths of a first design axis, where no motion serves all designs of a wider one."""
NEXT = {"sweep": "check", "cluster": "cluster"}
"""Commands that read the files that are written."""
CLUSTER = "cluster"
"""Name in the place of a robot's that asks for a cluster file."""
CLUSTER_FILE = Path(__file__).parents[2] / "cluster.yaml"
"""The commented cluster file of a checkout, which a wheel has beside its packages."""


def new(name: str, output: Path | None) -> None:
    """Write a commented sweep file for a robot, or a commented cluster file."""
    kind = CLUSTER if name == CLUSTER else "sweep"
    place = output or Path(f"{kind}.yaml")
    check_output(place, force=forced())
    text = CLUSTER_FILE.read_text("utf-8") if kind == CLUSTER else _first_sweep(name, place)
    write_with_schema(kind, place, text)
    click.echo(f"wrote {place}; next: {shlex.join(['limbsweep', NEXT[kind], str(place)])}")


def _first_sweep(name: str, output: Path) -> str:
    """Return the text of a sweep that a robot can make, for a file at a place."""
    family, place = find_family(name), name_from(name, output.parent)
    for texts in _wishes(family, place):
        text, failed = _first_that_runs(texts, name, output)
        if not failed:
            return text
    raise InputError(failed)


def _wishes(family: Family, place: str) -> Iterator[list[str]]:
    """Yield sweeps over each parameter, the boldest first, and last those of one design.

    A bar of a parallelogram is a parameter that no sweep can vary alone.
    """
    limits, names = (True, False) if rated.limits(family) else (True,), swept_first(family) or ("",)
    for first, spreads in [*((name, SPREADS) for name in names), (names[0], (0.0,))]:
        yield [
            sweep_text(family, place, share, first=first, spread=spread, limited=limited)
            for limited, spread, share in product(limits, spreads, SHARES)
        ]


def _first_that_runs(texts: Sequence[str], name: str, output: Path) -> tuple[str, list[Problem]]:
    """Return the first of sweeps whose samples are OK; the last, which asks for least, and its problems if it fails."""

    def problems(text: str) -> list[Problem]:
        sweep = Sweep.from_text(text, str(output), output.parent)
        return list(trial(sweep).problems(name, sweep))

    if not problems(texts[0]):
        return texts[0], []
    if failed := problems(texts[-1]):
        return texts[-1], failed
    return next(text for text in texts[1:] if not problems(text)), []
