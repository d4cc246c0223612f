"""Body of `limbsweep study surrogate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from applications.commands.study_tables import TableRows, numbers, opened, question_of, show
from applications.commands.terminal import forced
from applications.studies.columns import objective, refuse, unit, value_of
from applications.studies.surrogate import FILE_ENDING, SurrogateColumn
from applications.studies.surrogate import surrogate as fit_surrogate
from pipeline.documents.outputs import check_output

POOR = 0.3
"""Share of the deviation of a column from which an error is large."""


def surrogate(
    store: str,
    texts: tuple[str, ...],
    where: Sequence[str],
    points: int | None,
    held_out: float,
    seed: int,
    output: Path | None,
    cases: Sequence[str],
) -> None:
    """Fit a surrogate of metrics to the designs of STORE and save it."""
    path = output or Path(f"{Path(store.rstrip('/')).stem}.surrogate{FILE_ENDING}")
    if path.suffix != FILE_ENDING:
        raise refuse("output", str(path), f"a file name that ends in {FILE_ENDING}")
    ds = opened(store, cases)
    conditions = question_of(ds, (), where, cases).where
    for text in texts:  # wrong names are reported before a wrong output
        value_of(ds, objective(text))
    check_output(path, force=forced())
    model = fit_surrogate(ds, texts, conditions, points=points, held_out=held_out, seed=seed)
    rows: TableRows = [("column", "unit", "fitted to", "derivatives", "left out", "rms error", "share", "largest",
                        "gradient", "within 2")]  # fmt: skip
    rows += [(fitted.text, unit(ds, fitted.text), *_cells(fitted)) for fitted in model.columns]
    show(rows, len(rows), None)
    model.save(path, force=forced())
    for fitted in (fitted for fitted in model.columns if not fitted.error.share < POOR):
        size = f"{fitted.error.share:.0%} of the deviation"
        click.echo(f"{fitted.text}: the error is {size}; leave out designs near singular poses by --where")
    if model.tabled:
        what = (
            "rows of a list or a file; between rows, where there may be no part, the surrogate interpolates by numbers"
        )
        click.echo(f"{', '.join(model.tabled)}: {what}")
    click.echo(f"wrote {path}: {', '.join(model.names)}; share: rms error over the deviation of the column")


def _cells(fitted: SurrogateColumn) -> tuple[str, ...]:
    """Return the cells of a column behind its name and unit."""
    error = fitted.error
    sizes = numbers([error.rms, error.share, error.largest, error.gradient])
    counts = (str(fitted.points), str(fitted.slopes), str(error.count))
    return (*counts, *sizes, f"{error.covered:.0%}")
