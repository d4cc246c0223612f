"""Instructions of kernels on three kinds of processors: what operations need, and loops as often as asked."""

from __future__ import annotations

import pytest

from benchmarks.counts import instructions
from benchmarks.counts.instructions import PROCESSORS, Processor, assembly, of_group
from tasks.kernels.kernel import LANES
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import iterate

kinds = pytest.mark.parametrize("kind", PROCESSORS.values(), ids=PROCESSORS)
LENGTH = 40


def straight() -> Program:
    """Return a chain of multiply-adds of two inputs."""

    def one_sample(x):
        y = x[0]
        for _ in range(LENGTH):
            y = y * x[1] + x[2]
        return {"y": [y]}

    return trace("straight", one_sample, case={}, sample={"x": (3,)})


def root() -> Program:
    """Return Newton's iteration of a square root."""

    def one_sample(x):
        step = lambda state: ([(state[0] + x[0] / state[0]) * 0.5], abs(state[0] * state[0] - x[0]) < 1e-9)  # noqa: E731
        return {"y": iterate(step, [x[0]], 30)}

    return trace("root", one_sample, case={}, sample={"x": (1,)})


@kinds
def test_each_operation_is_an_instruction_for_each_register(kind: Processor) -> None:
    text, samples = assembly(straight(), kind)
    found = of_group(text, kind, 1.0)
    assert samples == LANES
    assert found.arithmetic == LENGTH * LANES / kind.width
    assert found.arithmetic < found.all < 2 * found.arithmetic + 40


@kinds
def test_an_iteration_counts_as_often_as_it_is_passed(kind: Processor) -> None:
    text, samples = assembly(root(), kind)
    once, twice, often = (of_group(text, kind, float(passes)) for passes in (1, 2, 11))
    assert twice.all > once.all + 5
    assert often.all - once.all == pytest.approx(10 * (twice.all - once.all))
    assert samples == (2 if kind.width == LANES else 1) * LANES


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    instructions.main(["planar_3r"])
    head, row = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["operations", "AVX-512"]
    name, operations, *cells = row.split()
    assert name == "planar_3r"
    assert int(operations) > 100
    shares = [int(cells[k]) for k in (2, 5, 8)]
    assert all(20 < share <= 100 for share in shares)
