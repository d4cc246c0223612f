"""Common parts of the commands `limbsweep study ...`: options, and tables on the screen and in CSV files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from applications.commands.terminal import forced, output_option, print_rows
from pipeline.documents.outputs import CellWriter, output

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr

    from applications.studies.columns import Objective
    from applications.studies.shares import Explained
    from pipeline.sweep.question.question import StudyQuestion

TableRows = list[Sequence[str]]

OBJECTIVES = click.option(
    "--objective",
    "texts",
    multiple=True,
    metavar="TEXT",
    help="Such as peak_force, 'max dexterity' or 'min friction_loss_sum / energy_sum'; default: those of the sweep.",
)
WHERE = click.option(
    "--where", "conditions", multiple=True, metavar="TEXT", help="Such as 'condition < 5'; default: those of the sweep."
)
CASES = click.option(
    "--cases",
    multiple=True,
    metavar="NAME",
    help="A swept parameter that is an operating condition, such as payload_mass; default: those of the sweep.",
)
FRICTION = click.option("--friction", is_flag=True, help="Treat each friction set apart; default: the worst counts.")
CSV = output_option("--csv", "file", help="Write all rows to a file, too.")
TOP = click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="Rows on the screen.")


def opened(store: str, cases: Sequence[str] = (), *, friction: bool = False) -> xr.Dataset:
    """Open the results in a store, finished or not, by its operating cases. Raises InputError.

    friction: with friction sets as designs of their own, unless they are cases; of a single design they always are.
    """
    from applications.studies.axes import by_design
    from applications.studies.cases import by_cases, dims_of

    ds = every_design(store)
    named = question_of(ds, cases=cases).cases
    if (friction or ds.sizes["design"] == 1) and "friction" not in dims_of(ds, named):
        ds = by_design(ds, friction=True)
    return by_cases(ds, named)


def every_design(store: str, names: Sequence[str] = ()) -> xr.Dataset:
    """Open the results in a store, finished or not; operating cases are parameters as all others.

    Gains and initial states of simulations are designs as well; friction sets where one of `names` is swept there.
    """
    from applications.studies.axes import by_design
    from storage import open_results

    ds = open_results(store, unfinished=True)
    return by_design(ds, friction=any(name in ds.coords and ds[name].dims == ("friction",) for name in names))


def question_of(
    ds: xr.Dataset, texts: Sequence[str] = (), conditions: Sequence[str] = (), cases: Sequence[str] = ()
) -> StudyQuestion:
    """The question of the sweep of a store, with what options say instead."""
    from pipeline.sweep.question.reader import stored_question

    return stored_question(ds.attrs).with_options(texts, conditions, cases)


def read_objectives(texts: Sequence[str]) -> list[Objective]:
    """Parse objectives. Raises InputError where there are none, too."""
    from applications.studies.columns import objective, refuse

    if not texts:
        hint = "Give --objective, or add a section study with objectives to the sweep."
        raise refuse("objective", "none", "one or more, such as peak_force", hint)
    return [objective(text) for text in texts]


def count_words(ds: xr.Dataset) -> str:
    """Say how many designs there are, and what of friction sets counts."""
    from applications.studies.space import FRICTION_SET

    size, sets = ds.sizes["design"], ds.sizes.get("friction", 1)
    if FRICTION_SET in ds.coords:
        sets = int(ds[FRICTION_SET].values.max()) + 1
        designs = f"{size // sets} designs under {sets} friction sets each"
        return f"{size}: {designs if size > sets else f'one design under {sets} friction sets'}"
    return f"{size}" + (f", each by the worst of {sets} friction sets" if sets > 1 else "")


def number_of(ds: xr.Dataset, place: int) -> tuple[int, int | None]:
    """Return the number in the store of a design, and of its friction set; None where sets are no designs."""
    from applications.studies.cases import stored_number
    from applications.studies.space import FRICTION_SET

    number = stored_number(ds, place)
    if FRICTION_SET not in ds.coords:
        return number, None
    sets = ds[FRICTION_SET].values
    return number // (int(sets.max()) + 1), int(sets[place])


def design_rows(
    ds: xr.Dataset, objectives: Sequence[Objective], designs: np.ndarray, more: tuple[str, list[str]] | None = None
) -> TableRows:
    """Make a row for each chosen design: its number, objectives, swept parameters."""
    from applications.studies.cases import labels_of
    from applications.studies.columns import unit, value_of
    from applications.studies.space import varied_numbers

    numbered = [number_of(ds, int(place)) for place in designs]
    columns: list[tuple[str, list[str]]] = [("design", [str(number) for number, _ in numbered])]
    if any(friction is not None for _, friction in numbered):
        columns.append(("friction set", [str(friction) for _, friction in numbered]))
    columns += [more] if more else []
    for objective in objectives:
        columns.append((heading(objective.text, unit(ds, objective.text)), numbers(value_of(ds, objective)[designs])))
    columns += [(name, [str(text) for text in ds[name].values[designs]]) for name in labels_of(ds)]
    for name in varied_numbers(ds):
        columns.append((heading(name, unit(ds, name)), numbers(ds[name].values[designs])))
    return [tuple(head for head, _ in columns), *zip(*(cells for _, cells in columns), strict=True)]


def share_rows(shares: Explained) -> TableRows:
    """Make a row for each factor: its shares with their errors, then what it explains with each other factor."""
    import numpy as np

    columns = {"alone": (shares.first, shares.first_error), "total": (shares.total, shares.total_error)}
    if np.isfinite(shares.shapley).any():
        columns["Shapley"] = shares.shapley, shares.shapley_error
    pairs = () if shares.dependent else shares.names
    rows: TableRows = [
        ("parameter", *(head for name in columns for head in (name, "+-")), *(f"with {n}" for n in pairs))
    ]
    for i in np.argsort(-np.nan_to_num(shares.leading[0]), kind="stable"):
        cells = [f"{x[i]:.3f}" for column in columns.values() for x in column]
        is_clear = shares.interaction[i] > shares.interaction_error[i]
        with_others = (f"{shares.interaction[i, j]:.3f}" if is_clear[j] else "" for j, _ in enumerate(pairs))
        rows.append((shares.names[i], *cells, *with_others))
    return rows


def share_words(shares: Explained) -> list[str]:
    """Say of how many designs shares are, what is not foretold, and which factors depend on each other."""
    lines = [
        f"from {shares.samples} designs, by a polynomial that does not foretell {shares.unexplained:.1%} of the "
        "variance, which may belong to any parameter; a share that is not above its +- may be zero"
    ]
    if shares.dependent:
        pairs = ", ".join(f"{first} with {second}" for first, second in shares.dependent)
        lines.append(f"parameters depend on each other in these designs: {pairs}; shares alone overlap")
    return lines


def heading(name: str, unit: str) -> str:
    """Format the head of a column."""
    return f"{name} [{unit}]" if unit not in ("", "1") else name


def numbers(values: Iterable[float]) -> list[str]:
    """Format numbers for cells."""
    return [f"{value:.6g}" for value in values]


def show(rows: TableRows, top: int, file: Path | None) -> None:
    """Print the first rows, and write all to a file where one is named."""
    print_rows(rows[: top + 1])
    if file is not None:
        write_rows(file, rows)


def write_rows(file: Path, rows: TableRows) -> None:
    """Write a table to a CSV file, and say so."""
    with (
        output(file, force=forced(), option="--csv") as draft,
        draft.open("x", encoding="utf-8", newline="") as stream,
    ):
        CellWriter(stream).writerows(rows)
    click.echo(f"wrote {file}")
