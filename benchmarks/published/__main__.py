"""Write the page of published problems into the documentation: the table, and a picture of it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from benchmarks.papers.results import save
from benchmarks.published.rows import Result
from benchmarks.published.table import ROWS

PAGE = Path(__file__).parents[2] / "docs" / "published.md"
MARK = "<!-- written by python -m benchmarks.published --page -->"


def main() -> None:
    """Compute all rows, or the named ones, and print them; with `--page` write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.published", description=__doc__)
    parser.add_argument("name", nargs="*", choices=[*ROWS, []], help="rows; all without")
    parser.add_argument("--page", action="store_true", help="write docs/published.md and its picture, of all rows")
    options = parser.parse_args()
    results = [ROWS[name].result() for name in options.name or ROWS]
    lines = [*table(results), ""]
    if options.page and not options.name:
        head = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
        PAGE.write_text(f"{head}{MARK}\n\n" + "\n".join(lines), encoding="utf-8")
        save(picture(results), PAGE.parent / "pictures" / "published.png")
    print("\n".join(lines))


def table(results: Sequence[Result]) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    right = sum(result.verdict == "right" for result in results)
    yield f"{right} of {len(results)} rows agree with their source.\n"
    yield "| row | problem | digits that agree, least | the source has | verdict | source |"
    yield "|---|---|---|---:|---|---|"
    for result in results:
        row = result.row
        digits = ", ".join(f"{part.what} {min(part.digits, 15.0):.1f}" for part in result.parts) or result.refusal
        yield f"| `{row.name}` | {row.title} | {digits} | {row.digits:g} | {result.verdict} | {row.source} |"


def picture(results: Sequence[Result]) -> Figure:
    """Draw the least digits of each row beside those of its source."""
    figure = Figure(figsize=(8.0, 0.8 + 0.2 * len(results)), layout="constrained")
    axes = figure.subplots()
    places = range(len(results))
    axes.barh(
        places,
        [result.worst.digits if result.worst else 0.0 for result in results],
        color="#4c78a8",
        label="digits that agree",
    )
    axes.plot([result.row.digits for result in results], places, "k|", markersize=9, label="the source has")
    axes.set_yticks(places, [result.row.name for result in results], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("decimal digits, of the number that agrees least")
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.legend(frameon=False, fontsize=8)
    return figure


if __name__ == "__main__":
    main()
