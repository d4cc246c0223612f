"""Counts of operations: against counting by hand, against their formulas, and the page that shows them."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from benchmarks.counts import inertia_counts
from benchmarks.counts.operation_counts import PUBLISHED, Count, Formula, chain_matrix, element_program, matrix_program
from benchmarks.figures import CheckError
from tasks.kernels.program import trace
from tasks.mechanics.inertia.methods import METHODS


@pytest.fixture(name="formulas", scope="module")
def _formulas() -> dict[str, Formula]:
    return inertia_counts.matrix_formulas(inertia_counts.QUICK_TRACED)


def test_one_body_counted_by_hand() -> None:
    # arm: 3 differences; its six squares and products, 3 sums; times mass, plus tensor: 6 and 6; matrix between two
    # vectors: 12 products, 8 sums
    assert Count.of(element_program(1, 0, 0)) == Count(6 + 6 + 12, 3 + 3 + 6 + 8)


def test_a_fused_operation_counts_twice_and_a_sign_not_at_all() -> None:
    program = trace("f", lambda x: {"y": [-(x[0] * x[1] + x[2])]}, case={}, sample={"x": (3,)})
    assert Count.of(program) == Count(1, 1)
    assert Count(10, 3).equivalent == 14.0
    with pytest.raises(KeyError, match="sqrt"):
        Count.of(trace("f", lambda x: {"y": [np.sqrt(x[0])]}, case={}, sample={"x": (1,)}))


@pytest.mark.parametrize("method", METHODS)
def test_formulas_hold_beyond_what_they_are_laid_through(formulas: dict[str, Formula], method: str) -> None:
    assert formulas[method].count(9) == Count.of(matrix_program(method, 9))


def test_a_count_beside_its_formula_is_refused() -> None:
    good = {n: Count(n, n * n) for n in range(1, 8)}
    assert Formula.through(good).additions == (0, 1, 0, 0)
    with pytest.raises(CheckError, match=r"counts of 7 joints: Count\(multiplications=8, .*; expected Count"):
        Formula.through(good | {7: Count(8, 49)})


def test_published_formulas_are_sums_of_their_steps() -> None:
    """The totals of the paper's table for its own method and that of pseudo-inertia, from the steps printed there."""
    n = 10
    elements = (n**3 + 3 * n**2 + 2 * n) / 6
    own = 1.1 * (21 * elements + 5.5 * n**2 + 5.5 * n) + 12 * elements + 4 * n**2 + 4 * n + 1.5 * n**3 - 1.5 * n
    assert PUBLISHED["explicit"].equivalent(n) == pytest.approx(own, rel=1e-12)
    pseudo = 1.1 * (126 * elements + 24 * n) + 99 * elements + 12 * n + 1.5 * n**3 - 1.5 * n
    assert PUBLISHED["pseudo_inertia"].equivalent(n) == pytest.approx(pseudo, rel=1e-12)


def test_chains_are_counted_that_were_compared() -> None:
    assert inertia_counts.difference(7) < 1e-14
    assert np.linalg.eigvalsh(chain_matrix("explicit", 7)).min() > 0.0


@pytest.mark.parametrize(
    ("coefficients", "words"),
    [
        ((3, 12, 9, 0), "3 n^3 + 12 n^2 + 9 n"),
        ((0, Fraction(9, 2), 1, -30), "4.5 n^2 + n - 30"),
        ((3.5, 0.0, 6.5), "3.5 n^3 + 6.5 n"),
        ((0, 0, 0, 1), "1"),
        ((0, 0, 0, 0), "0"),
    ],
)
def test_polynomials_in_words(coefficients: tuple[float, ...], words: str) -> None:
    assert inertia_counts.polynomial(coefficients) == words


@pytest.mark.repository
def test_the_page_is_up_to_date(formulas: dict[str, Formula]) -> None:
    text = inertia_counts.page(formulas, inertia_counts.part_formulas())
    written = (inertia_counts.DOCS / inertia_counts.PAGE).read_text(encoding="utf-8")
    assert written == text, "run limbsweep bench inertia_counts"
    rows = re.findall(r"^\| (\d+) \|", text, re.MULTILINE)
    assert [int(row) for row in rows] == list(range(1, 51))
    for link in re.findall(r"\]\(([^)#:]+)", text):
        assert (inertia_counts.DOCS / link).exists()


def test_a_picture_has_the_same_bytes_every_time(formulas: dict[str, Formula], tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        inertia_counts.draw(formulas, tmp_path / name)
    first, second = ((tmp_path / name).read_bytes() for name in ("a.svg", "b.svg"))
    assert first == second
