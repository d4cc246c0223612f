"""Results of the papers: the quick ones are what `docs/papers.md` says, all can be computed."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.papers.__main__ import RESULTS, told

PAGE = (Path(__file__).parents[1] / "docs" / "papers.md").read_text(encoding="utf-8")
TIMED, SLOW = ("limb-times", "inertia-elements"), ("hexapod", "friction-laws", "chains", "designs", "five-bars")


@pytest.mark.parametrize("name", [name for name in RESULTS if name not in (*TIMED, *SLOW)])
def test_the_page_says_what_is_computed(name: str, tmp_path: Path) -> None:
    _compare(name, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_the_page_says_what_is_computed_slowly(name: str, tmp_path: Path) -> None:
    _compare(name, tmp_path)


def _compare(name: str, folder: Path) -> None:
    """Compare the rows of a paper with its page, without the figures that depend on rounding."""
    rows = [line for line in told([name], folder / "pictures") if line.startswith("|")]
    assert len(rows) > 3
    for row in rows:
        what, printed, computed = row.split("|")[1:4]
        start = f"|{what}|{printed}|" + ("" if "e-" in computed else f"{computed}|")
        assert any(line.startswith(start) for line in PAGE.splitlines()), row


def test_every_result_is_on_the_page() -> None:
    assert all(f"python -m benchmarks.papers {name}`" in PAGE for name in RESULTS)
