"""The case `inertia_counts`: methods for the inertia matrix by their operations, as figures, a page and a picture.

Before anything is counted, the methods give the same matrix of the same chain in numbers. Counts do not depend on the
machine: a full run writes the page and the picture into `docs` of the source tree, with the same bytes every time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from benchmarks.counts.operation_counts import (
    PUBLISHED,
    SUPPORT,
    WEIGHT,
    Count,
    Formula,
    Published,
    chain_matrix,
    element_program,
    matrix_program,
    placing_program,
)
from benchmarks.figures import Figure, Size, require
from tasks.kernels.program import Program
from tasks.mechanics.inertia.methods import METHODS

DOCS = Path(__file__).parents[2] / "docs"
PAGE, PICTURE = "inertia_counts.md", "pictures/inertia_counts.svg"

LONGEST = 50
TRACED = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, LONGEST)
QUICK_TRACED = (1, 2, 3, 4, 5, 6)
SHOWN = (6, LONGEST)
"""Numbers of joints whose counts are printed."""

TOLERANCE = 1e-12

PARTS: Mapping[str, Callable[[int], Program]] = {
    "largest element alone, (1, 1)": lambda n: element_program(n, 0, 0),
    "smallest element alone, (n, 1)": lambda n: element_program(n, n - 1, 0),
    "axes to tensors from cosines and sines": placing_program,
}
"""Programs that are counted besides whole matrices."""

HEAD = f"""\
# Operations of the inertia matrix

Written by `limbsweep bench inertia_counts`, which first asserts that all methods give the same matrix.

A chain of n revolute joints in general position: none of its numbers is known to be zero or one. Counted are the scalar
operations of the traced programs, constants folded and common parts shared, from the axes, origins, centres of mass and
inertia tensors in the axes of the base to one triangle of the matrix. Signs are free, and a fused multiply-add is one
multiplication and one addition. *Equivalent additions* are the paper's measure: additions + {WEIGHT} multiplications.

The published formulas are those of table 1 of Wang and Ju; what they count otherwise than these programs is said in
[the theory](theory/inertia_matrix.md#content-of-the-published-counts).

![Equivalent additions of all methods, traced and published](pictures/inertia_counts.svg)
"""


def figures(size: Size) -> Iterator[Figure]:
    """Count the operations of all methods. Raises CheckError if matrices differ, or counts do not fit their formula."""
    traced = TRACED if size.full else QUICK_TRACED
    worst = max(difference(n) for n in traced)
    require(worst < TOLERANCE, f"matrices differ by {worst:.1e}, relative; expected below {TOLERANCE}")
    yield Figure("matrices differ by", worst, "1", f"four methods, chains of up to {traced[-1]} joints")
    methods, parts = matrix_formulas(traced), part_formulas()
    for n in SHOWN:
        yield from (_figure(f"{METHODS[name].title}, {n} joints", name, n, each) for name, each in methods.items())
    for name, each in parts.items():
        yield Figure(name, each.count(LONGEST).equivalent, "additions", f"{LONGEST} joints; {_words(each)}")
    if size.full and DOCS.is_dir():
        (DOCS / PAGE).write_text(page(methods, parts), encoding="utf-8")
        draw(methods, DOCS / PICTURE)


def difference(n: int) -> float:
    """Return the largest difference of any two methods on one chain of n joints, relative to its largest element."""
    matrices = [chain_matrix(method, n) for method in METHODS]
    return float(np.ptp(matrices, axis=0).max() / np.abs(matrices[0]).max())


def matrix_formulas(traced: Sequence[int]) -> dict[str, Formula]:
    """Return the formulas of all methods, which hold for all `traced` numbers of joints."""
    return {name: Formula.through({n: Count.of(matrix_program(name, n)) for n in traced}) for name in METHODS}


def part_formulas() -> dict[str, Formula]:
    """Return the formulas of PARTS."""
    return {name: Formula.through({n: Count.of(made(n)) for n in QUICK_TRACED}) for name, made in PARTS.items()}


def _figure(label: str, method: str, n: int, formula: Formula) -> Figure:
    count = formula.count(n)
    published = f"; published {PUBLISHED[method].equivalent(n):.0f}" if method in PUBLISHED else ""
    remark = f"{count.multiplications} multiplications, {count.additions} additions{published}"
    return Figure(label, count.equivalent, "additions", remark)


def _words(formula: Formula) -> str:
    return f"{polynomial(formula.multiplications)} multiplications, {polynomial(formula.additions)} additions"


def polynomial(coefficients: Sequence[Fraction | float]) -> str:
    """Return a polynomial of n in words, highest power first."""
    powers = ("n^3", "n^2", "n", "")[: len(coefficients)]
    terms = [(float(c), power) for c, power in zip(coefficients, powers, strict=True) if c]
    text = " ".join(f"{'-' if c < 0 else '+'} {_factor(abs(c), power)}{power}" for c, power in terms)
    return text.removeprefix("+ ") or "0"


def _factor(c: float, power: str) -> str:
    return "" if c == 1.0 and power else f"{c:g}" + (" " if power else "")


def page(methods: Mapping[str, Formula], parts: Mapping[str, Formula]) -> str:
    """Return the text of the page."""
    formulas = [_row(METHODS[name].title, each, PUBLISHED.get(name)) for name, each in methods.items()]
    formulas += [_row(name, each, None) for name, each in parts.items()]
    titles = [METHODS[name].title for name in methods] + [f"{METHODS[name].title}, published" for name in PUBLISHED]
    rows = [_counts(n, methods) for n in range(1, LONGEST + 1)]
    return "\n".join(
        (
            HEAD,
            "| method | multiplications | additions | published multiplications | published additions |",
            "|---|---|---|---|---|",
            *formulas,
            "",
            f"They hold from two joints on. Traced were {', '.join(map(str, TRACED[:-1]))} and {LONGEST} joints.",
            "",
            "## Equivalent additions",
            "",
            f"| n | {' | '.join(titles)} |",
            "|---" * (len(titles) + 1) + "|",
            *rows,
            "",
        )
    )


def _row(title: str, formula: Formula, published: Published | None) -> str:
    own = [polynomial(each) for each in (formula.multiplications, formula.additions)]
    other = [polynomial(each) for each in (published.multiplications, published.additions)] if published else ["", ""]
    return f"| {' | '.join((title, *own, *other))} |"


def _counts(n: int, methods: Mapping[str, Formula]) -> str:
    numbers = [_count(name, each, n).equivalent for name, each in methods.items()]
    numbers += [each.equivalent(n) for each in PUBLISHED.values()]
    return f"| {n} | {' | '.join(f'{number:.0f}' for number in numbers)} |"


def _count(method: str, formula: Formula, n: int) -> Count:
    return formula.count(n) if n >= SUPPORT[0] else Count.of(matrix_program(method, n))


def draw(methods: Mapping[str, Formula], path: Path) -> None:
    """Draw the equivalent additions over the number of joints: traced as full lines, published as broken ones."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    lengths = range(1, LONGEST + 1)
    with mpl.rc_context({"svg.hashsalt": "limbsweep"}):  # the same bytes every time
        canvas = Canvas(figsize=(7.0, 4.5), layout="constrained")
        axes = canvas.add_subplot(xlabel="revolute joints", ylabel="equivalent additions", yscale="log")
        for k, (name, formula) in enumerate(methods.items()):
            traced = [_count(name, formula, n).equivalent for n in lengths]
            axes.plot(lengths, traced, color=f"C{k}", label=METHODS[name].title)
            if name in PUBLISHED:
                published = [PUBLISHED[name].equivalent(n) for n in lengths]
                axes.plot(lengths, published, "--", color=f"C{k}", label=f"{METHODS[name].title}, published")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
        canvas.savefig(path, metadata={"Date": None})
