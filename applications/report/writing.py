"""Write the report of stores as one page, and a figure of a store."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from xarray import Dataset

from applications.report.data.recomputed import results_of
from applications.report.data.runs import compared
from applications.report.figures import case
from applications.report.page import page
from pipeline.errors import refused
from pipeline.sweep.question.question import StudyQuestion
from robots.arguments import check_arguments


@check_arguments
def write_report(
    store: str | Path | Dataset | Sequence[str | Path | Dataset],
    output: str | Path = "report.html",
    *,
    design: int | None = None,
    friction: int | None = None,
    files: str | Path | None = None,
    force: bool = False,
    objectives: Sequence[str] = (),
    where: Sequence[str] = (),
    cases: Sequence[str] = (),
) -> Path:
    """Write the report of a store, or of a dataset from a store, and return its path.

    It leads with the answer to a question: `objectives`, the first of which decides, such as `min peak_force`; `where`,
    conditions that a design has to meet; `cases`, swept parameters that are operating conditions. Missing parts of the
    question come from the section `study` of the sweep; without any objective the first metric decides.

    Several stores are compared: robots on the same task, or runs against each other; then the page goes on with the
    best of them.

    `design` and `friction` are numbers of the case to look into (absent: the best design, the friction set with the
    largest effort). `files` is the folder of the files that the sweep names, where it names some (absent: the current
    one). An existing report is replaced, another file only with `force`. Raises StoreError or InputError for unusable
    input or output.

        >>> ls.report("out.zarr", "report.html").name
        'report.html'
    """
    path = Path(output)
    page.check(path, force=force)
    question = StudyQuestion("", tuple(objectives), tuple(where), tuple(cases))
    stores = [store] if isinstance(store, str | PathLike) or not isinstance(store, Sequence) else list(store)
    if not stores:
        raise refused("store", "an empty list", "at least one store")
    every = [results_of(one, design, friction, files, question) for one in stores]
    if len(every) == 1:
        page.write(every[0], path, force=force)
    else:
        page.write_runs(compared(list(zip(_names(stores), every, strict=True))), path, force=force)
    return path


def _names(stores: Sequence[str | PathLike[str] | Dataset]) -> list[str]:
    """Return the names of stores in a report: the ends of their paths, numbered where they are equal."""
    names = [str(store).rstrip("/").rpartition("/")[2].removesuffix(".zarr") if isinstance(store, str | PathLike)
             else str(store.attrs.get("title") or store.attrs.get("robot", "dataset")) for store in stores]  # fmt: skip
    return [f"{name} {k + 1}" if names.count(name) > 1 else name for k, name in enumerate(names)]


@check_arguments
def save_figure(
    store: str | Path | Dataset,
    kind: str,
    output: str | Path,
    *,
    design: int | None = None,
    friction: int | None = None,
    files: str | Path | None = None,
) -> Path:
    """Write a figure of a store or dataset as PNG, SVG or PDF, by the ending of `output`, and return its path.

    `kind` is one of `limbsweep figure --help`; the options are those of a report. Raises StoreError or InputError for
    unusable input, and where `output` may not or cannot be written.

        >>> ls.figure("out.zarr", "mechanism", "delta.png").name
        'delta.png'
    """
    path = Path(output)
    case.check(kind, path)
    case.save(results_of(store, design, friction, files), kind, path)
    return path
