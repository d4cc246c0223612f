"""Common parts of the commands `limbsweep study ...`: designs, objectives, tables on the screen and in CSV files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import click
import numpy as np
import xarray as xr

from applications.commands.terminal import forced, print_rows
from applications.studies.axes import by_design
from applications.studies.cases import by_cases, dims_of, labels_of, stored_number
from applications.studies.columns import Objective, objective, refuse, unit, value_of
from applications.studies.stored_factors import varied_numbers
from pipeline.documents.dataset_names import FRICTION_SET
from pipeline.documents.outputs import CellWriter, output
from pipeline.execution import opening
from pipeline.sweep.question.question import StudyQuestion
from pipeline.sweep.question.reader import stored_question

TableRows = list[Sequence[str]]


def opened(store: str, cases: Sequence[str] = (), *, friction: bool = False) -> xr.Dataset:
    """Open the results in a store, finished or not, by its operating cases. Raises InputError.

    friction: with friction sets as designs of their own, unless they are cases; of a single design they always are.
    """
    ds = every_design(store)
    named = question_of(ds, cases=cases).cases
    if (friction or ds.sizes["design"] == 1) and "friction" not in dims_of(ds, named):
        ds = by_design(ds, friction=True)
    return by_cases(ds, named)


def every_design(store: str, names: Sequence[str] = ()) -> xr.Dataset:
    """Open the results in a store, finished or not; operating cases are parameters as all others.

    Gains and initial states of simulations are designs as well; friction sets where one of `names` is swept there.
    """
    ds = opening.open(store, unfinished=True)
    return by_design(ds, friction=any(name in ds.coords and ds[name].dims == ("friction",) for name in names))


def question_of(
    ds: xr.Dataset, texts: Sequence[str] = (), conditions: Sequence[str] = (), cases: Sequence[str] = ()
) -> StudyQuestion:
    """Return the question of the sweep of a store, changed by the options."""
    return stored_question(ds.attrs, ds.coords).with_options(texts, conditions, cases)


def read_objectives(texts: Sequence[str]) -> list[Objective]:
    """Parse objectives. Raises InputError for wrong or missing ones."""
    if not texts:
        hint = "Give --objective, or add a section study with objectives to the sweep."
        raise refuse("objective", "none", "one or more, such as peak_force", hint)
    return [objective(text) for text in texts]


def count_words(ds: xr.Dataset) -> str:
    """Describe the number of designs, and the rule over friction sets."""
    size, sets = ds.sizes["design"], ds.sizes.get("friction", 1)
    if FRICTION_SET in ds.coords:
        sets = int(ds[FRICTION_SET].values.max()) + 1
        designs = f"{size // sets} designs under {sets} friction sets each"
        return f"{size}: {designs if size > sets else f'one design under {sets} friction sets'}"
    return f"{size}" + (f", each by the worst of {sets} friction sets" if sets > 1 else "")


def number_of(ds: xr.Dataset, place: int) -> tuple[int, int | None]:
    """Return the number in the store of a design, and of its friction set; None where sets are no designs."""
    number = stored_number(ds, place)
    if FRICTION_SET not in ds.coords:
        return number, None
    sets = ds[FRICTION_SET].values
    return number // (int(sets.max()) + 1), int(sets[place])


def design_rows(
    ds: xr.Dataset, objectives: Sequence[Objective], designs: np.ndarray, more: tuple[str, list[str]] | None = None
) -> TableRows:
    """Make a row for each chosen design: its number, objectives, swept parameters."""
    numbered = [number_of(ds, int(place)) for place in designs]
    columns: list[tuple[str, list[str]]] = [("design", [str(number) for number, _ in numbered])]
    if any(friction is not None for _, friction in numbered):
        columns.append(("friction set", [str(friction) for _, friction in numbered]))
    columns += [more] if more else []
    for target in objectives:
        rule = f" ({target.tolerances} over tolerances)" if target.tolerances else ""
        columns.append((heading(target.text + rule, unit(ds, target.text)), numbers(value_of(ds, target)[designs])))
    columns += [(name, [str(text) for text in ds[name].values[designs]]) for name in labels_of(ds)]
    for name in varied_numbers(ds):
        columns.append((heading(name, unit(ds, name)), numbers(ds[name].values[designs])))
    return [tuple(head for head, _ in columns), *zip(*(cells for _, cells in columns), strict=True)]


def heading(name: str, measure: str) -> str:
    """Format the head of a column with its unit."""
    return f"{name} [{measure}]" if measure not in ("", "1") else name


def numbers(values: Iterable[float]) -> list[str]:
    """Format numbers for cells."""
    return [f"{value:.6g}" for value in values]


def show(rows: TableRows, top: int, file: Path | None) -> None:
    """Print the first rows, and write all to a file where one is named."""
    print_rows(rows[: top + 1])
    if file is not None:
        write_rows(file, rows)


def write_rows(file: Path, rows: TableRows) -> None:
    """Write a table to a CSV file, and print its name."""
    with output(file, force=forced(), option="--csv") as draft, draft.open("x", encoding="utf-8", newline="") as stream:
        CellWriter(stream).writerows(rows)
    click.echo(f"wrote {file}")
