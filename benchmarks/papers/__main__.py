"""Results of the papers by name, as Markdown; `--page` writes all of them into the documentation."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks.papers import designs, hexapod, hybrid_limbs, joint_friction, manipulators, platforms, trees
from benchmarks.papers.results import Result

DOCS = Path(__file__).parents[2] / "docs"
RESULTS: dict[str, Result] = {
    result.name: result
    for paper in (hybrid_limbs, hexapod, joint_friction, trees, manipulators, designs, platforms)
    for result in paper.RESULTS
}
MARK = "<!-- written by python -m benchmarks.papers --page -->"


def main() -> None:
    """Compute the requested results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument("name", nargs="*", choices=[*RESULTS, []], help="results; all without")
    parser.add_argument("--folder", type=Path, default=Path("runs/papers"), help="of the figures")
    parser.add_argument("--page", action="store_true", help="write docs/papers.md, its pictures into docs/pictures")
    asked = parser.parse_args()
    if asked.page:
        page = DOCS / "papers.md"
        head = page.read_text(encoding="utf-8").partition(MARK)[0]
        page.write_text(head + MARK + "\n\n" + "\n".join(told(list(RESULTS), DOCS / "pictures")), encoding="utf-8")
        return
    for line in told(asked.name or list(RESULTS), asked.folder):
        print(line)


def told(names: list[str], folder: Path) -> Iterator[str]:
    """Yield the lines of Markdown."""
    for name in names:
        yield from RESULTS[name].show(folder)


if __name__ == "__main__":
    main()
