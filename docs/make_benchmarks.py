"""Writes the tables of `docs/benchmarks.md` from the figures of a run; what stands above them is left as it is.

limbsweep bench --json > runs/bench.jsonl; python docs/make_benchmarks.py runs/bench.jsonl

The figure and the sentences at the top of the page follow from the tables.

No number on the page comes from anywhere else. Several files, of runs on one machine, are read one after the other.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.cases import CASES
from benchmarks.figures import heading, number
from benchmarks.peers.contest import OURS
from benchmarks.peers.engines import ENGINES

PAGE = Path(__file__).parent / "benchmarks.md"
PICTURE = Path(__file__).parent / "pictures" / "benchmarks.png"
SUMMARY, END = "<!-- summary of the tables below, written by docs/make_benchmarks.py -->\n", "<!-- until here -->\n"
MARK = "<!-- what follows is written by docs/make_benchmarks.py -->\n"
OVER = f", over {OURS}"
COLUMNS = (OURS, *(engine.name for engine in ENGINES))

Line = Mapping[str, Any]


class Place(NamedTuple):
    """Place of a figure of `peers`: the job with its variant, and the column."""

    job: str
    column: str


def page(lines: Sequence[Line], before: str) -> str:
    """The page with the tables of these lines of JSON below what stands `before` the mark."""
    made = [before.partition(MARK)[0] + MARK, "\n".join(surroundings(lines))]
    for case in dict.fromkeys(line["case"] for line in lines):
        own = [line for line in lines if line["case"] == case]
        made.append("\n".join([f"### `{case}`: {CASES[case].what}", "", *TABLES.get(case, plain)(own)]))
    return "\n\n".join(each.strip("\n") for each in made) + "\n"


SHOWN = {
    "five_axis_tree, inverse dynamics": "tree of 5 links",
    "arm_7, inverse dynamics": "arm of 7 links",
    "five_bar, closed-loop inverse dynamics": "five-bar",
    "delta_3rr2rrr, closed-loop inverse dynamics": "Delta",
}
"""Jobs of the figure at the top of the page, and their names there."""
BARS = (OURS, "Pinocchio", "MuJoCo", "Drake", "Exudyn")


def times(text: str) -> dict[str, dict[str, float]]:
    """Return the microseconds of the jobs of the figure by engine, from the table of `peers` on the page."""
    head = next(line for line in text.splitlines() if line.startswith(f"| job | {OURS} |"))
    columns = [cell.strip() for cell in head.strip("|").split("|")][1:]
    found = {}
    for line in text.splitlines():
        job, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        if job in SHOWN and len(cells) == len(columns):
            values = {column: cell.partition(" (")[0] for column, cell in zip(columns, cells, strict=True)}
            found[job] = {column: float(values[column]) for column in BARS}
    return found


def summary(text: str) -> str:
    """Return the figure and the three sentences that the page begins with, from its tables."""
    found = times(text)
    tree, delta = found["five_axis_tree, inverse dynamics"], found["delta_3rr2rrr, closed-loop inverse dynamics"]
    sentences = (
        "On one thread limbsweep computes a sample of the inverse dynamics of a Delta, closure of its loops included, "
        f"in {delta[OURS]:.2f} µs; programs around Pinocchio, MuJoCo, Drake and Exudyn, which have no function for "
        f"this, take {_range(delta, '.0f')} µs.",
        f"For a tree, for which these engines are made, limbsweep takes {tree[OURS]:.3f} µs and they take "
        f"{_range(tree, '.1f')} µs.",
        "All results agree to 1e-9 of the largest value, and the [tables](#figures-of-one-run) have all jobs, also the "
        "faster C of Pinocchio's code generation.",
    )
    picture = f"![Time for a sample of inverse dynamics, by engine and robot](pictures/{PICTURE.name})"
    return f"{picture}\n\n{textwrap.fill(' '.join(sentences), 118)}\n"


def _range(values: Mapping[str, float], form: str) -> str:
    """Return the least and the largest time of the other engines."""
    others = [values[engine] for engine in BARS[1:]]
    return f"{min(others):{form}} to {max(others):{form}}"


def with_summary(text: str) -> str:
    """Return the page with the summary of its tables between its marks."""
    above, _, rest = text.partition(SUMMARY)
    return above + SUMMARY + summary(text) + END + rest.partition(END)[2]


def draw(text: str, path: Path) -> None:
    """Draw the bars of the figure at the top of the page."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 3.4), layout="constrained")
    axes = figure.add_subplot()
    found, width = times(text), 0.8 / len(BARS)
    for place, engine in enumerate(BARS):
        positions = [index + (place - (len(BARS) - 1) / 2) * width for index in range(len(SHOWN))]
        axes.bar(positions, [found[job][engine] for job in SHOWN], width, label=engine, color=f"C{place}")
    axes.set_yscale("log")
    axes.set_xticks(range(len(SHOWN)), list(SHOWN.values()))
    axes.set_ylabel("time for a sample [µs]")
    axes.set_title("Inverse dynamics on one thread; closed loops solved by each program", fontsize=10)
    axes.legend(frameon=False, fontsize=8, ncols=2)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)


def surroundings(lines: Sequence[Line]) -> Iterator[str]:
    """The machine of the run, which is that of every line, and the load when cases began."""
    machine = dict(lines[0]["machine"])
    loads = sorted({line["machine"]["load"] for line in lines})
    if any({**line["machine"], "load": 0} != {**machine, "load": 0} for line in lines):
        raise ValueError("lines: got figures of several machines, days or versions; expected those of one run")
    machine["load"] = loads[0] if len(loads) == 1 else f"{loads[0]} to {loads[-1]}"
    yield "## Figures of one run"
    yield ""
    yield from heading(machine).splitlines()


def plain(lines: Sequence[Line]) -> Iterator[str]:
    """Figure, value, unit and remark."""
    yield from table(
        ("figure", "value", "", ""), [(_text(x["name"]), _value(x), x["unit"], x["remark"]) for x in lines]
    )


def peers(lines: Sequence[Line]) -> Iterator[str]:
    """A row for each job with a column for each engine, then how each engine did each kind of job."""
    yield f"Microseconds for one sample, design or friction set, and in brackets over {OURS}."
    yield ""
    values = {line["name"]: line for line in lines if line["value"] is not None}
    places = {name: _place(name) for name in values if not name.endswith(OVER)}
    jobs = dict.fromkeys(place.job for place in places.values())
    cells = {place: _cell(values, name) for name, place in places.items()}
    rows = [(job, *(cells.get(Place(job, column), "") for column in COLUMNS)) for job in jobs]
    yield from table(("job", *COLUMNS), rows)
    yield from (f"\n{line['name']}: {line['remark']}." for line in lines if line["value"] is None)
    yield ""
    yield "How they did it; *differs by* is the largest difference from our results, relative to the largest of them."
    yield ""
    yield from table(
        ("job", "by", "way", "differs by"), _ways({places[name]: values[name]["remark"] for name in places})
    )


def _ways(remarks: Mapping[Place, str]) -> list[tuple[str, str, str, str]]:
    """Kind of job, column and way of every entry once, with the largest of its differences."""
    found: dict[tuple[str, str, str], float] = {}
    for place, remark in remarks.items():
        way, _, error = remark.partition("; differs by ")
        key = (place.job.partition(", ")[2], place.column, way)
        found[key] = max(found.get(key, 0.0), float(error or "0"))
    return [(*key, f"{error:.0e}" if error else "") for key, error in sorted(found.items())]


def _place(name: str) -> Place:
    job, _, who = name.partition(": ")
    column, _, variant = who.partition(", ")
    return Place(f"{job}, {variant}" if variant else job, column)


def _cell(values: Mapping[str, Line], name: str) -> str:
    ratio = values.get(name + OVER)
    return _value(values[name]) + (f" ({number(ratio['value'])})" if ratio else "")


ROBOT_COLUMNS = {
    "us/sample": "",
    "operations": ", operations",
    "of the peak, %": ", of the peak",
    "compile, s": ", compile",
    "Newton steps, mean": ", steps, mean",
    "most": ", steps, most",
}
"""Columns of the robots, and the end of the name of their figures."""


def robots(lines: Sequence[Line]) -> Iterator[str]:
    """A row for each robot, without and with the reactions of all joints."""
    values = {line["name"]: line for line in lines}
    names = [name.removesuffix(", operations") for name in values if name.endswith(", operations")]
    rows = [(name, *(_at(values, name + end) for end in ROBOT_COLUMNS.values())) for name in names]
    yield from table(("robot", *ROBOT_COLUMNS), rows)


def _at(values: Mapping[str, Line], name: str) -> str:
    return _value(values[name]) if name in values else ""


def _value(line: Line) -> str:
    return number(line["value"])


def _text(name: str) -> str:
    """Names of parts are indented by spaces, which a table would drop."""
    return name.replace("  ", "&emsp;") if name.startswith(" ") else name


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of a table."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


TABLES: Mapping[str, Callable[[Sequence[Line]], Iterator[str]]] = {"peers": peers, "robots": robots}
"""Cases whose figures make another table than the plain one."""


def main(files: Sequence[str]) -> None:
    """Write the page from files of JSON lines."""
    lines = [json.loads(line) for file in files for line in Path(file).read_text(encoding="utf-8").splitlines()]
    if not lines:
        raise SystemExit("expected files with the output of: limbsweep bench --json")
    text = page(lines, PAGE.read_text(encoding="utf-8"))
    if SUMMARY in text:
        text = with_summary(text)
        draw(text, PICTURE)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
