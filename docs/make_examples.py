"""Write docs/examples.md: what there is in `examples`, from the first comment of each file. Run by `make pages`."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
PAGE = HERE / "examples.md"

SECTIONS = (
    ("Sweeps", "*.yaml", "`limbsweep run examples/NAME.yaml --store NAME.zarr` runs one; each takes seconds."),
    ("Scripts", "*.py", "`python examples/NAME.py` runs one; what it makes goes into the folder `runs`."),
    ("Simulations", "simulations/*.yaml", "Sweeps of [simulations](guide/simulations.md)."),
    ("Studies", "studies/*.yaml", "Larger sweeps, for [studies](studies.md)."),
    ("Robots of your own", "robots/*.yaml", "[Robot files](robot_files.md)."),
    ("Recordings of machines", "recordings/*.yaml", "[Recordings](identification.md#recordings-of-real-machines)."),
    ("Clusters", "clusters/*.yaml", "[Cluster files](clusters.md); `limbsweep cluster FILE` shows what it starts."),
)

HEAD = """\
<!-- written by docs/make_examples.py from the files themselves -->

Each file says at its top what it is about; [the gallery](gallery.md) shows what sweeps and scripts draw.
"""

_SENTENCE = re.compile(r"(.*?[.?!])(?= [A-Z`]| limbsweep| $)")


def page() -> str:
    """The text of the page."""
    head = f"# Examples\n\n{HEAD}"
    return "\n".join([head, *(line for each in SECTIONS for line in section(*each))])


def section(title: str, pattern: str, text: str) -> Iterator[str]:
    """The lines about some of the files."""
    yield from (f"## {title}", "", text, "", "| file | what it is |", "|---|---|")
    for path in sorted(EXAMPLES.glob(pattern)):
        name = path.relative_to(EXAMPLES).as_posix()
        yield f"| [{name}](../examples/{name}) | {said(path)} |"
    yield ""


def said(path: Path) -> str:
    """The first sentence that a file says about itself, in its docstring or in the comment at its top."""
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


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
