"""Tables of the page of examples: each file of `examples` with the first sentence that it says about itself."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"

SECTIONS = (
    ("Sweeps", "*.yaml", "`limbsweep run examples/NAME.yaml --store NAME.zarr` runs one; each takes seconds."),
    ("Scripts", "*.py", "`python examples/NAME.py` runs one; what it makes goes into the folder `runs`."),
    ("Simulations", "simulations/*.yaml", "Sweeps of [simulations](guide/simulations.md)."),
    ("Studies", "studies/*.yaml", "Larger sweeps, for [studies](studies.md)."),
    ("Robots of your own", "robots/*.yaml", "[Robot files](robot_files.md)."),
    ("Published benchmarks", "published/*.yaml", "Robots of [published benchmarks](published.md), without loads."),
    (
        "Datasets",
        "datasets/*.py",
        "Programs that learn from [published datasets](identification.md#datasets-for-others).",
    ),
    ("Recordings of machines", "recordings/*.yaml", "[Recordings](identification.md#recordings-of-real-machines)."),
    ("Clusters", "clusters/*.yaml", "[Cluster files](clusters.md); `limbsweep cluster FILE` shows what it starts."),
)

_SENTENCE = re.compile(r"(.*?[.?!])(?= [A-Z`]| limbsweep| $)")


def sections() -> Iterator[str]:
    """Yield the tables of all folders."""
    for each in SECTIONS:
        yield from section(*each)


def section(title: str, pattern: str, text: str) -> Iterator[str]:
    """Yield the table of the files of a pattern."""
    yield from (f"## {title}", "", text, "", "| file | subject |", "|---|---|")
    for path in sorted(EXAMPLES.glob(pattern)):
        name = path.relative_to(EXAMPLES).as_posix()
        yield f"| [{name}](../examples/{name}) | {first_sentence(path)} |"
    yield ""


def first_sentence(path: Path) -> str:
    """Return the first sentence of the docstring of a script, or of the comment at the top of another file."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        text = (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0]
    else:
        lines = itertools.takewhile(lambda line: line.startswith("#"), text.splitlines())
        text = " ".join(line[1:].strip() for line in lines)
    found = _SENTENCE.match(" ".join(text.split()) + " ")
    if found is None:
        raise ValueError(f"{path}: got {text!r} at its top; expected a sentence that says what it is for")
    return found[1]
