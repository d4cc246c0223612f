"""Writes the tables of `docs/benchmarks.md` from the figures of a run; what stands above them is left as it is.

limbsweep bench --json > runs/bench.jsonl; python docs/make_benchmarks.py runs/bench.jsonl

No number on the page comes from anywhere else. Several files, of runs on one machine, are read one after the other.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.cases import CASES
from benchmarks.figures import heading, number
from benchmarks.peers.contest import OURS
from benchmarks.peers.engines import ENGINES

PAGE = Path(__file__).parent / "benchmarks.md"
MARK = "<!-- what follows is written by docs/make_benchmarks.py -->\n"
OVER = f", over {OURS}"
COLUMNS = (OURS, *(engine.name for engine in ENGINES))

Line = Mapping[str, Any]


class Place(NamedTuple):
    """Where a figure of `peers` belongs: the job with its variant, and the column."""

    job: str
    column: str


def page(lines: Sequence[Line], before: str) -> str:
    """The page with the tables of these lines of JSON below what stands `before` the mark."""
    made = [before.partition(MARK)[0] + MARK, "\n".join(surroundings(lines))]
    for case in dict.fromkeys(line["case"] for line in lines):
        own = [line for line in lines if line["case"] == case]
        made.append("\n".join([f"### `{case}`: {CASES[case].what}", "", *TABLES.get(case, plain)(own)]))
    return "\n\n".join(each.strip("\n") for each in made) + "\n"


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
    PAGE.write_text(page(lines, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
