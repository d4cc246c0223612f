"""Run a program in NumPy: the slow twin of the compiled kernel, with the same operations and the same bits.

NumPy has no fused multiply-add, so `exact=True` builds one from error-free transformations; `exact=False` rounds twice,
which is quicker and differs in the last bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from tasks.kernels.expression import CASE, CONSTANT, RESULT, SAMPLE, Array
from tasks.kernels.keys import Arrays, Key
from tasks.kernels.program import PER_CASE, Program

_SPLITTER = 134217729.0  # 2^27 + 1
BIASED = 2.0**52 + 1023.0
"""Number whose sum with a whole number has that in its lowest bits, with the bias of exponents."""


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the sum and its rounding error, exactly. Knuth, TAOCP 2, section 4.2.2, theorem B."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return a product and its rounding error, exact while nothing overflows. Dekker 1971."""
    p = a * b
    ca, cb = _SPLITTER * a, _SPLITTER * b
    ah, bh = ca - (ca - a), cb - (cb - b)
    al, bl = a - ah, b - bh
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def fused(a: Array, b: Array, c: Array) -> Array:
    """Return a * b + c with one rounding. Boldo and Melquiond 2008, via rounding to odd.

    Near overflow and underflow, where their proof is not valid, results are computed with rational numbers, one by one.
    """
    # a finite product may overflow here, but does not where it is not rounded
    plain = np.where(np.isinf(c) & np.isfinite(a) & np.isfinite(b), c, a * b + c)
    uh, ul = two_product(a, b)
    th, tl = two_sum(c, ul)
    vh, vl = two_sum(uh, th)
    low, error = two_sum(tl, vl)
    odd = np.asarray(low).view(np.int64) & 1
    toward = np.where((error > 0) == (low > 0), 1, -1)
    nudged = np.where((error != 0) & (odd == 0), (np.asarray(low).view(np.int64) + toward).view(np.float64), low)
    result = vh + nudged
    size = np.abs(uh)
    proven = (size > 1e-250) & (size < 1e290) & np.isfinite(result)
    answer = np.asarray(np.where(proven, result, plain))
    # a zero factor, an infinity and NaN: the plain expression has a single rounding, and the right sign of zero
    special = (a == 0) | (b == 0) | ~(np.isfinite(a) & np.isfinite(b) & np.isfinite(c))
    operands = np.broadcast_arrays(~(proven | special), a, b, c)
    if operands[0].any():
        answer[operands[0]] = [
            _rational_fused(*each) for each in zip(*(x[operands[0]].tolist() for x in operands[1:]), strict=True)
        ]
    return answer


def _rational_fused(a: float, b: float, c: float) -> float:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if not exact:
        return a * b + c  # for the sign of zero
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def power_of_two(n: Array) -> Array:
    """Return 2^n for an integer n in [-1022, 1023]: the exponent is written into its IEEE 754 field."""
    return (np.asarray(n + BIASED).view(np.int64) << 52).view(np.float64)


def exponent(x: Array) -> Array:
    """Return the exponent of a double, without its bias."""
    return ((np.asarray(x).view(np.int64) >> 52) & 0x7FF) - 1023.0


def _rounded_twice(a: Array, b: Array, c: Array) -> Array:
    return a * b + c


Operations = Mapping[str, Callable[..., Array]]
"""Functions of arrays by the names of operations."""


def _operations(fma: Callable[[Array, Array, Array], Array]) -> dict[str, Callable[..., Array]]:
    return {
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
        "div": np.divide,
        "neg": np.negative,
        "abs": np.abs,
        "sqrt": np.sqrt,
        "rint": np.rint,
        "floor": np.floor,
        "power_of_two": power_of_two,
        "exponent": exponent,
        "lt": np.less,
        "le": np.less_equal,
        "eq": np.equal,
        "and": np.logical_and,
        "or": np.logical_or,
        "not": np.logical_not,
        "select": np.where,
        "fma": fma,
        "fms": lambda a, b, c: fma(a, b, -c),
        "fnma": lambda a, b, c: fma(-a, b, c),
    }


def long_operations() -> Operations:
    """Return operations on numbers of NumPy's `longdouble`, which have 64 bits where the processor is one of x86."""
    of_exponents: Operations = {
        "power_of_two": lambda n: np.ldexp(np.longdouble(1.0), np.asarray(n).astype(np.int64)),
        "exponent": lambda x: np.frexp(x)[1] - 1.0,
    }
    return {**_operations(_rounded_twice), **of_exponents}


class _Machine:
    """Values of all nodes while a program runs; arrays of shape (cases, samples), or (cases, 1).

    extra_rounds: number of rounds that loops continue after their end, except loops that some samples skip (paths).
    """

    def __init__(self, program: Program, inputs: Arrays, operations: Operations, extra_rounds: int = 0):
        self.program, self.apply, self.extra_rounds = program, operations, extra_rounds
        self.values = [np.empty((0, 0))] * len(program.nodes)
        for i, node in enumerate(program.nodes):
            if node.op == CONSTANT:
                self.values[i] = np.full((1, 1), node.data)
            elif node.op == CASE:
                self.values[i] = inputs[node.data[0]][:, node.data[1], None]
            elif node.op == SAMPLE:
                self.values[i] = inputs[node.data[0]][:, node.data[1], :]

    def region(self, key: int) -> None:
        for i in self.program.regions.get(key, ()):
            node = self.program.nodes[i]
            self.values[i] = self.apply[node.op](*(self.values[arg] for arg in node.args))

    def iterate(self, index: int, shape: tuple[int, int]) -> None:
        loop = self.program.loops[index]
        state = [np.broadcast_to(self.values[i], shape) for i in loop.initial]
        finished = np.zeros(shape, dtype=bool)
        if loop.skip is not None:
            finished = finished | self.values[loop.skip]
        more = self.extra_rounds if loop.skip is None else 0
        settled, left = finished, np.full(shape, more)
        for _ in range(0 if finished.all() else loop.limit + more):
            for i, value in zip(loop.state, state, strict=True):
                self.values[i] = value
            self.region(2 * index + 1)
            following = [self.values[i] for i in loop.following]
            state = [np.where(finished, old, new) for old, new in zip(state, following, strict=True)]
            settled = settled | self.values[loop.done]
            finished, left = finished | (settled & (left <= 0)), left - settled
            if finished.all():
                break
        for i, node in enumerate(self.program.nodes):
            if node.op == RESULT and node.data[0] == index:
                self.values[i] = state[node.data[1]]


def interpret(
    program: Program, inputs: Arrays, samples: int, *, valid: int | None = None, exact: bool = True,
    operations: Operations | None = None, extra_rounds: int = 0,
) -> dict[Key, np.ndarray]:  # fmt: skip
    """Evaluate the outputs of `program` with NumPy.

    operations: replacement of the operations on doubles; extra_rounds: see `_Machine`.

    Case inputs (cases, size), sample inputs (cases or 1, size, samples), flat in their cores. Outputs (cases, size,
    samples); reduced ones (cases, size), over the first `valid` samples. Lanes are reduced in the order of the compiled
    kernel.
    """
    cases = max((np.shape(inputs[name])[0] for name in (*program.case, *program.sample)), default=1)
    usual = _operations(fused if exact else _rounded_twice)
    machine = _Machine(program, inputs, usual if operations is None else operations, extra_rounds)
    shape = (cases, samples)
    with np.errstate(all="ignore"):
        machine.region(PER_CASE)
        machine.region(0)
        for index in range(len(program.loops)):
            machine.iterate(index, shape)
            machine.region(2 * index + 2)
        result = {}
        for name, (_, nodes) in program.outputs.items():
            values = [np.broadcast_to(machine.values[i], shape) for i in nodes]
            stacked = np.stack(values, axis=1) if values else np.empty((cases, 0, samples))
            how = program.reductions.get(name)
            result[name] = reduce_lanes(stacked[..., :valid], how) if how else np.ascontiguousarray(stacked)
        return result


IDENTITY = {"max": -np.inf, "min": np.inf, "sum": 0.0}


def combine(how: str, a: Array, b: Array) -> Array:
    """Return the result of one step of a reduction; NaN stays."""
    if how == "sum":
        return a + b
    better = b > a if how == "max" else b < a
    return np.where(better | np.isnan(b), b, a)


def reduce_lanes(values: Array, how: str, lanes: int = 8) -> np.ndarray:
    """Reduce the last axis lane by lane, then the lanes pairwise: the order that the kernel uses."""
    *lead, samples = values.shape
    accumulated = np.full((*lead, lanes), IDENTITY[how])
    for start in range(0, samples, lanes):
        part = values[..., start : start + lanes]
        width = part.shape[-1]
        accumulated[..., :width] = combine(how, accumulated[..., :width], part)
    while lanes > 1:
        lanes //= 2
        accumulated = combine(how, accumulated[..., :lanes], accumulated[..., lanes:])
    return accumulated[..., 0]
