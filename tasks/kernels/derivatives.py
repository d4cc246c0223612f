"""Exact derivatives of programs and of traced values along a direction, by forward differentiation of the graph.

The operations of a program are replayed on symbols and differentiated one by one, so derivatives are as exact as the
values. The direction is an input, so one kernel gives the derivatives by all parameters: as many cases as there are
designs times directions.

A loop is taken to be a Newton iteration x <- N(x, p) that has converged. As dN/dx vanishes there, the derivative of x
is that of one more step with x held fixed: dx = dN/dp. A loop may be declared a contraction instead; then dx solves dx
= dN/dp + dN/dx dx, by an iteration that converges as the loop does. The results of a skipped loop have the derivatives
of its start values.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tasks.kernels import expression
from tasks.kernels.expression import MASKS, ODD, RESULT, STATE, Array, Dual, Expression, Scalar, select
from tasks.kernels.keys import Key, Rate
from tasks.kernels.program import PER_CASE, Program, trace_keyed
from tasks.kernels.replay import Replay

_RULES: dict[str, Callable[..., Scalar]] = {
    "add": lambda node, x, y, dx, dy: dx + dy,
    "sub": lambda node, x, y, dx, dy: dx - dy,
    "mul": lambda node, x, y, dx, dy: dx * y + x * dy,
    "div": lambda node, x, y, dx, dy: (dx - node * dy) / y,
    "neg": lambda node, x, dx: -dx,
    "abs": lambda node, x, dx: select(x < 0.0, x.graph.lift(-dx), x.graph.lift(dx)),
    "sqrt": lambda node, x, dx: dx * 0.5 / node,
    "fma": lambda node, x, y, z, dx, dy, dz: dx * y + x * dy + dz,
    "select": lambda node, mask, x, y, dmask, dx, dy: select(mask, x.graph.lift(dx), y.graph.lift(dy)),
}
"""Derivative rules of the operations: change of a result from its value, the arguments and their changes."""

STEPS = frozenset(("rint", "floor", "power_of_two", "exponent", *MASKS))
"""Operations whose results are constant but for jumps."""


def _root_with_kink(node: Expression, x: Expression, dx: Scalar) -> Scalar:
    """Zero at a root of zero, which has no derivative, as of the size of a force that is not there."""
    return select(node > 0.0, node.graph.lift(dx * 0.5 / node), node.graph.lift(0.0))


def _size_with_kink(node: Expression, x: Expression, dx: Scalar) -> Scalar:
    """Zero at zero, between its two slopes; in an odd function the slope that it has there."""
    lift = node.graph.lift
    if node.data == ODD:
        return _RULES["abs"](node, x, dx)
    return select(x < 0.0, lift(-dx), select(x > 0.0, lift(dx), lift(0.0)))


_WITH_KINKS: dict[str, Callable[..., Scalar]] = {"sqrt": _root_with_kink, "abs": _size_with_kink}


def _size_ahead(node: Expression, x: Expression, dx: Scalar) -> Scalar:
    """Return the slope of a size ahead of the point: at zero it grows, whichever way the number goes."""
    lift = node.graph.lift
    return select(_less_ahead(x, lift(0.0), dx, 0.0), lift(-dx), lift(dx))


def _less_ahead(x: Expression, y: Expression, dx: Scalar, dy: Scalar) -> Expression:
    """Return whether x < y just ahead: where they are equal, their rates decide."""
    return (x < y) | (_equal(x, y) & (x.graph.lift(dx) < dy))


def _equal(x: Expression, y: Expression) -> Expression:
    return x.graph.node("eq", (x, y))


def _unless_still(rule: Callable[..., Expression]) -> Callable[..., Expression]:
    """Return a rule of a comparison that leaves it as it is where neither side changes."""
    return lambda node, x, y, dx, dy: node if _all_zero((dx, dy)) else rule(x, y, dx, dy)


_AHEAD: dict[str, Callable[..., Scalar]] = {
    "abs": _size_ahead,
    "sqrt": _root_with_kink,
    "select": lambda node, mask, x, y, ahead, dx, dy: select(ahead, x.graph.lift(dx), y.graph.lift(dy)),
    "lt": _unless_still(_less_ahead),
    "le": _unless_still(lambda x, y, dx, dy: (x < y) | (_equal(x, y) & (x.graph.lift(dx) <= dy))),
    "eq": _unless_still(lambda x, y, dx, dy: _equal(x, y) & _equal(x.graph.lift(dx), x.graph.lift(dy))),
    "and": lambda node, x, y, ahead, other: ahead & other,
    "or": lambda node, x, y, ahead, other: ahead | other,
    "not": lambda node, x, ahead: ~ahead,
}
"""Rules of the derivative on the side that the direction leads to: in place of the rate of a mask stands the mask as it
is just ahead. Source: Griewank, On stable piecewise linearization, Optim. Methods Softw. 28 (2013), section 2."""

KINDS: Mapping[str, tuple[Mapping[str, Callable[..., Scalar]], frozenset[str]]] = {
    "smooth": (_RULES, STEPS),
    "middle": (_RULES | _WITH_KINKS, STEPS),
    "ahead": (_RULES | _AHEAD, STEPS - MASKS),
}
"""Rules, and operations whose arguments do not count, of each kind of derivative at a kink: NaN or one of two slopes at
a root or size of zero; zero there; or the slope on the side that the direction leads to, at comparisons as well."""


def tangent(values: Sequence[Scalar], seeds: Mapping[Expression, Scalar], kind: str = "smooth") -> list[Scalar]:
    """Derivatives of traced `values` where the nodes in `seeds` change at the given rates and inputs do not.

    kind: a key of KINDS, which says what counts at a kink.

    Nodes behind a seed are not looked at. That is how a loop is differentiated: the state after it must be among the
    seeds. Raises ValueError where it is not.
    """
    rates: dict[int, Scalar] = {node.number: rate for node, rate in seeds.items()}
    rules, steps = KINDS[kind]

    def change(root: Expression) -> Scalar:
        stack = [root]
        while stack:
            node = stack[-1]
            if node.number in rates:
                stack.pop()
                continue
            if node.op in steps:
                rates[node.number] = 0.0  # whatever is behind it
                continue
            if waiting := _waiting(node, rates):
                stack.extend(waiting)
                continue
            rates[node.number] = _one(node, [rates.get(arg.number, 0.0) for arg in node.args], rules)
            stack.pop()
        return rates[root.number]

    return [change(value) if isinstance(value, Expression) else 0.0 for value in values]


def _waiting(node: Expression, rates: Mapping[int, Scalar]) -> list[Expression]:
    """Return the arguments whose rates are to be found first; of a choice without rates not the mask."""
    waiting = [arg for arg in node.args if arg.number not in rates]
    if node.op != "select" or not waiting:
        return waiting
    branches = [arg for arg in node.args[1:] if arg.number not in rates]
    still = not branches and _all_zero([rates[arg.number] for arg in node.args[1:]])
    return branches or ([] if still else waiting)


def _one(node: Expression, changes: Sequence[Scalar], rules: Mapping[str, Callable[..., Scalar]]) -> Scalar:
    if node.op in (STATE, RESULT):
        raise ValueError(f"tangent: got a value that depends on the loop behind {node!r}; expected its rate as a seed")
    if node.op not in MASKS and _all_zero(changes[1:] if node.op == "select" else changes):
        return 0.0
    return rules[node.op](node, *node.args, *changes)


def _all_zero(values: Sequence[Scalar]) -> bool:
    return all((value.value if isinstance(value, Expression) else value) == 0.0 for value in values)


RATES = 300
"""Rounds after which the rates of a contraction have settled, or do not."""
SETTLED = Dual(1e-14, 1e-6)
"""Change of these rates in a round, relative to their size, at which they have."""
TINY = 1e-300

_known: dict[tuple[int, tuple[Key, ...], str], tuple[Program, Program]] = {}
_lock = threading.Lock()


def pushforward(program: Program, varying: Sequence[Key], kind: str = "middle") -> Program:
    """Return the pushforward of a program, made on the first call in this process; see `differentiated`."""
    with _lock:
        key = id(program), tuple(varying), kind
        if key not in _known:
            made = differentiated(program, varying, kind)
            _known[key] = program, made  # the program too, so that its id stays its own
        return _known[key][1]


def differentiated(program: Program, varying: Sequence[Key], kind: str = "middle") -> Program:
    """Return the program with an input `Rate(key)` for each `varying` input, and an output `Rate(key)` for each output.

    kind: a key of KINDS, which says what counts at a kink. What `program` reduces over samples is here given for each
    sample. Raises ValueError for an input that it lacks.
    """
    if unknown := [name for name in varying if name not in program.inputs]:
        raise ValueError(
            f"{program.name} has no input {unknown[0]!r}; expected some of {', '.join(map(str, program.inputs))}"
        )
    case, sample = dict(program.case), dict(program.sample)
    for name in varying:
        inputs_of = case if name in case else sample
        inputs_of[Rate(name)] = inputs_of[name]

    def one_sample(inputs: Mapping[Key, Array]) -> dict[Key, Array]:
        replay = _Rates(program, inputs)
        seeds = _seeds(inputs, varying)
        replay.region(PER_CASE)
        replay.region(0)
        for index in range(len(program.loops)):
            results = replay.iterate(index)
            seeds |= dict(zip(results, replay.result_rates(index, results, seeds), strict=True))
            replay.region(2 * index + 2)
        outputs: dict[Key, Array] = {}
        for name, (shape, nodes) in program.outputs.items():
            values = [replay.values[node] for node in nodes]
            outputs[name] = shaped(values, shape)
            outputs[Rate(name)] = shaped(tangent(values, seeds, kind), shape)
        return outputs

    return trace_keyed(f"{program.name}.pushforward", one_sample, case=case, sample=sample)


def _seeds(inputs: Mapping[Key, Array], varying: Sequence[Key]) -> dict[Expression, Scalar]:
    pairs = [(np.ravel(inputs[name]), np.ravel(inputs[Rate(name)])) for name in varying]
    return {node: rate for nodes, rates in pairs for node, rate in zip(nodes, rates, strict=True)}


def size_of(values: Sequence[Scalar]) -> Scalar:
    """Return the sum of the sizes of values."""
    return functools.reduce(lambda total, value: total + value, map(abs, values))


def shaped(values: Sequence[Scalar], shape: tuple[int, ...]) -> Array:
    """Return values in a row as an array of a shape."""
    result = np.empty(len(values), dtype=object)
    result[:] = values
    return result.reshape(shape)


class _Rates(Replay):
    """The replay of a program with the rates of what its loops give."""

    def result_rates(
        self, index: int, results: Sequence[Expression], seeds: Mapping[Expression, Scalar]
    ) -> list[Scalar]:
        """Return the rates of the results of a loop: where it is skipped those of its initial state."""
        loop = self.program.loops[index]
        stepped = self.step_rates(index, results, seeds)
        if loop.skip is None:
            return stepped
        before = tangent([self.values[i] for i in loop.initial], seeds, "middle")
        mask, lift = self.values[loop.skip], self.graph.lift
        return [select(mask, lift(old), lift(new)) for old, new in zip(before, stepped, strict=True)]

    def step_rates(self, index: int, results: Sequence[Expression], seeds: Mapping[Expression, Scalar]) -> list[Scalar]:
        """Return the rates of the results of a loop: those of one more step that starts at them."""
        following = self.body(index, results)
        loop = self.program.loops[index]
        rates = tangent(following, {**seeds, **dict.fromkeys(results, 0.0)}, "middle")
        return rates if loop.newton else self._contracted(following, results, seeds, rates)

    def _contracted(
        self,
        following: Sequence[Expression],
        results: Sequence[Expression],
        seeds: Mapping[Expression, Scalar],
        rates: Sequence[Scalar],
    ) -> list[Scalar]:
        """The rates that a step at the solution leads back to: their part from the inputs, and from themselves."""
        lifted = [self.graph.lift(rate) for rate in rates]

        def step(state: Sequence[Expression]) -> tuple[list[Scalar], Expression]:
            own_rates = dict(zip(results, state, strict=True))
            through = tangent(following, {**dict.fromkeys(seeds, 0.0), **own_rates}, "middle")
            after = [rate + change for rate, change in zip(lifted, through, strict=True)]
            moving = size_of([new - old for new, old in zip(after, state, strict=True)])
            # a rate that is no number will not get better
            going_on = self.graph.lift(moving) > SETTLED * self.graph.lift(size_of(after)) + TINY
            return after, ~going_on

        return list(expression.loop(step, lifted, RATES, newton=False))
