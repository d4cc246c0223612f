"""Tables of the gallery: the thumbnail of each example with its first sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from docs.site.examples import EXAMPLES, first_sentence

SWEEPS = ("*.yaml", "studies/*.yaml", "simulations/*.yaml")
DRAWN = {
    "friction_share.py": "report_friction_share.png",
    "hexapod_stiffness.py": "report_hexapod_stiffness.png",
    "irb6_currents.py": "irb6_currents.png",
    "pick_and_place.py": "report_pick_and_place.png",
    "plot_delta.py": "sweep.png",
}
"""Pictures of the documentation that scripts draw, by script."""
COLUMNS = 3


def tables() -> Iterator[str]:
    """Yield the table of the sweeps and the table of the scripts."""
    yield from _table("Sweeps", sweeps())
    yield from _table("Scripts", [EXAMPLES / script for script in DRAWN])


def sweeps() -> list[Path]:
    """Return the sweep files among the examples."""
    return [path for pattern in SWEEPS for path in sorted(EXAMPLES.glob(pattern))]


def name(path: Path) -> str:
    """Return the file name of the thumbnail of an example."""
    stem = path.relative_to(EXAMPLES).with_suffix("").as_posix().replace("/", "_")
    return f"{stem}{'_script' if path.suffix == '.py' else ''}.png"


def _table(title: str, paths: Sequence[Path]) -> Iterator[str]:
    yield from (f"## {title}", "", "| " * COLUMNS + "|", "|---" * COLUMNS + "|")
    for start in range(0, len(paths), COLUMNS):
        cells = [_cell(path) for path in paths[start : start + COLUMNS]]
        yield f"| {' | '.join(cells + [''] * (COLUMNS - len(cells)))} |"
    yield ""


def _cell(path: Path) -> str:
    file = path.relative_to(EXAMPLES).as_posix()
    return f"[![{file}](pictures/gallery/{name(path)})](../examples/{file})<br>**{file}**<br>{first_sentence(path)}"
