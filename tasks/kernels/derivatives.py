"""Exact derivatives of programs along a direction, by forward differentiation of the graph.

The operations of a program are replayed on symbols and differentiated one by one, so derivatives are as exact as the
values. The direction is an input, so one kernel gives the derivatives by all parameters: as many cases as there are
designs times directions.

A loop counts as a Newton iteration x <- N(x, p) that has converged. As dN/dx vanishes there, the derivative of x is the
derivative of one more step with x held fixed: dx = dN/dp. A loop may be declared a contraction instead; then dx solves
dx = dN/dp + dN/dx dx, by an iteration that converges like the loop. The results of a skipped loop have the derivatives
of its start values.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Mapping, Sequence

import numpy as np

from tasks.kernels import expression
from tasks.kernels.expression import Array, Dual, Expression, Scalar, select
from tasks.kernels.keys import Key, Rate
from tasks.kernels.program import PER_CASE, Program, trace_keyed
from tasks.kernels.replay import Replay
from tasks.kernels.tangent import tangent

RATES = 300
"""Largest number of rounds in which the rates of a contraction may converge."""
SETTLED = Dual(1e-14, 1e-6)
"""Change of these rates in a round, relative to their size, at which they have converged."""
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

    kind: a key of KINDS, which selects the derivative at a kink. Outputs that `program` reduces over samples are given
    for each sample here. Raises ValueError for an input that the program lacks.
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
    """The replay of a program with the rates of the results of its loops."""

    def result_rates(
        self, index: int, results: Sequence[Expression], seeds: Mapping[Expression, Scalar]
    ) -> list[Scalar]:
        """Return the rates of the results of a loop; for lanes that skip it, the rates of its initial state."""
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
        """Return the rates that a step at the solution maps back to: their part from inputs, and from themselves."""
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
