"""Hypothesis strategies for programs over all operations, and for the arrays that they run on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from tasks.kernels import expression
from tasks.kernels.expression import Expression
from tasks.kernels.kernel import padded
from tasks.kernels.program import Program, trace
from tests.tasks.bits import strided

CASE = {"a": (2,), "b": ()}
SAMPLE = {"x": (3,), "y": ()}
REDUCTIONS = {"high": "max", "low": "min", "sum": "sum"}
CONSTANTS = (0.0, 1.0, -1.0, 0.5, 3.0, -0.25, 1e-160, 1e200)

ARITHMETIC = {
    "add": lambda p, i, j, k: p.number(i) + p.number(j),
    "sub": lambda p, i, j, k: p.number(i) - p.number(j),
    "mul": lambda p, i, j, k: p.number(i) * p.number(j),
    "div": lambda p, i, j, k: p.number(i) / p.number(j),
    "product and sum": lambda p, i, j, k: p.number(i) * p.number(j) + p.number(k),
    "product less": lambda p, i, j, k: p.number(i) * p.number(j) - p.number(k),
    "less product": lambda p, i, j, k: p.number(i) - p.number(j) * p.number(k),
    "fma": lambda p, i, j, k: expression.fma(p.number(i), p.number(j), p.number(k)),
    "neg": lambda p, i, j, k: -p.number(i),
    "abs": lambda p, i, j, k: abs(p.number(i)),
    "sqrt": lambda p, i, j, k: p.number(i).sqrt(),
    "rint": lambda p, i, j, k: p.number(i).rint(),
    "floor": lambda p, i, j, k: p.number(i).floor(),
    "power of two": lambda p, i, j, k: p.number(i).rint().power_of_two(),
    "exponent": lambda p, i, j, k: p.number(i).exponent(),
    "constant": lambda p, i, j, k: p.number(i) + CONSTANTS[j % len(CONSTANTS)],
    "multiple": lambda p, i, j, k: p.number(i) * CONSTANTS[j % len(CONSTANTS)],
    "select": lambda p, i, j, k: expression.select(p.mask(i), p.number(j), p.number(k)),
}
LOGIC = {
    "lt": lambda p, i, j, k: p.number(i) < p.number(j),
    "ge": lambda p, i, j, k: p.number(i) >= p.number(j),
    "eq": lambda p, i, j, k: expression.binary("eq", p.number(i), p.number(j)),
    "and": lambda p, i, j, k: p.mask(i) & p.mask(j),
    "or": lambda p, i, j, k: p.mask(i) | p.mask(j),
    "not": lambda p, i, j, k: ~p.mask(i),
}
Instruction = tuple[str, int, int, int]


class Pool:
    """Values computed so far; indices wrap around, so that any instruction makes sense."""

    def __init__(self, numbers: Sequence[Expression], masks: Sequence[Expression] = ()):
        self.numbers = list(numbers)
        self.masks = [*masks, self.numbers[-1] <= self.numbers[0]]

    def number(self, i: int) -> Expression:
        return self.numbers[-1 - i % len(self.numbers)]

    def mask(self, i: int) -> Expression:
        return self.masks[-1 - i % len(self.masks)]

    def run(self, instructions: Sequence[Instruction]) -> Pool:
        for op, *args in instructions:
            if op in ARITHMETIC:
                self.numbers.append(ARITHMETIC[op](self, *args))
            else:
                self.masks.append(LOGIC[op](self, *args))
        return self


class Recipe(NamedTuple):
    """A program in plain data: straight-line parts, and between two of them a loop (skipped, if odd)."""

    parts: list[list[Instruction]]
    bodies: list[list[Instruction]]
    rounds: list[int]

    def program(self) -> Program:
        return trace("random", self.one_sample, case=CASE, sample=SAMPLE, reductions=REDUCTIONS)

    def one_sample(self, a: Any, b: Any, x: Any, y: Any) -> dict[str, Any]:
        pool = Pool([*a, b, a[0] * b, *x, y]).run(self.parts[0])
        for part, body, rounds in zip(self.parts[1:], self.bodies, self.rounds, strict=True):
            pool.numbers += self.loop(pool, body, rounds)
            pool.run(part)
        flag = expression.select(pool.mask(0), pool.number(0), pool.number(1))
        made = {"series": [pool.number(i) for i in range(4)], "flag": flag, "constant": [a[1], 2.5, a[0] * a[1]]}
        return made | {name: [pool.number(k), flag] for k, name in enumerate(REDUCTIONS)}

    @staticmethod
    def loop(pool: Pool, body: list[Instruction], rounds: int) -> list[Expression]:
        def step(state: Sequence[Expression]) -> tuple[Sequence[Expression], Expression]:
            inner = Pool([*pool.numbers, *state], pool.masks).run(body)
            return [inner.number(0), inner.number(1) * 0.5], inner.mask(0)

        return expression.loop(step, [pool.number(0), pool.number(2)], rounds, pool.mask(1) if rounds % 2 else None)


def instructions(largest: int) -> st.SearchStrategy[list[Instruction]]:
    index = st.integers(0, 40)
    return st.lists(
        st.tuples(st.sampled_from([*ARITHMETIC, *LOGIC]), index, index, index), min_size=1, max_size=largest
    )


@st.composite
def recipes(draw: st.DrawFn) -> Recipe:
    """Programs with none, one or two loops."""
    loops = draw(st.integers(0, 2))
    return Recipe(
        [draw(instructions(12)) for _ in range(loops + 1)],
        [draw(instructions(8)) for _ in range(loops)],
        [draw(st.integers(1, 5)) for _ in range(loops)],
    )


SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e308, -1e300, 1e-300, 5e-324, -2.2e-308, 0.5, 2.5)


class Batch(NamedTuple):
    """Inputs for `cases` and `samples`: contiguous ones, and strided copies whose padding is NaN."""

    inputs: dict[str, np.ndarray]
    strided: dict[str, np.ndarray]
    cases: int
    samples: int


@st.composite
def batches(draw: st.DrawFn, most: int = 27) -> Batch:
    """Numbers of many magnitudes, some of them special; a first axis of 1 where all cases share an input."""
    cases, samples = draw(st.integers(1, 3)), draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rare = draw(st.sampled_from([0.0, 0.05, 0.4]))
    inputs, gapped = {}, {}
    for name, shape in {**CASE, **SAMPLE}.items():
        # `a` says how many cases there are
        lead = cases if name == "a" or draw(st.booleans()) else 1
        core = (int(np.prod(shape)),) if name in CASE else (int(np.prod(shape)), samples)
        values = rng.normal(size=(lead, *core)) * 10.0 ** rng.integers(-3, 4, size=(lead, *core))
        inputs[name] = np.where(rng.random(values.shape) < rare, rng.choice(SPECIAL, size=values.shape), values)
        wide = np.full((*values.shape[:-1], padded(samples)), np.nan) if name in SAMPLE else inputs[name]
        wide[..., : values.shape[-1]] = inputs[name]
        gapped[name] = strided(wide)
    return Batch(inputs, gapped, cases, samples)
