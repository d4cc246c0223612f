"""Stages run on a batch, and derivatives of their results: along directions, and of one number by all inputs.

Values of stages are (1, size) for a case, and (1, size, padded samples) for samples. Where parameters differ from
sample to sample, case inputs are given for each sample too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from tasks.kernels.cotangents import for_each_sample, pullback
from tasks.kernels.derivatives import pushforward
from tasks.kernels.kernel import kernel, padded
from tasks.kernels.keys import Arrays, Cotangent, Key, Rate, Values
from tasks.kernels.program import Program
from tasks.stages.stage import Rows, Stage, taken


class Tape:
    """Values of stages that have run, in their order, and the derivatives of all values that depend on the `roots`.

    per_sample: case inputs are given for each sample. `values` are the roots at first; the results of stages are added.
    """

    def __init__(
        self, stages: Sequence[Stage], values: Values, samples: int, roots: Collection[Key], *, per_sample: bool = False
    ):
        self.stages, self.samples, self.per_sample = stages, samples, per_sample
        self.values = {key: self._spread(array) for key, array in values.items()} if per_sample else dict(values)
        self.roots = tuple(roots)
        varying = set(roots)
        self._varying: list[tuple[Key, ...]] = []
        for stage in stages:
            results = kernel(self._program(stage))(stage.inputs(self.values), samples)
            self.values |= {stage.gives(name): array for name, array in results.items()}
            names = tuple(name for name in stage.program.inputs if self._varies(stage, name, varying))
            self._varying.append(names)
            varying |= {stage.gives(name) for name in results} if names else set()

    def forward(self, rates: Arrays) -> Values:
        """Compute the rates of all values, by key, from rates of some roots."""
        total = {key: self._like(key, rate) for key, rate in rates.items()}
        for stage in self.stages:
            if not (moving := self._moving(stage, total)):
                continue
            program = pushforward(self._program(stage), tuple(moving))
            arrays = {**stage.inputs(self.values), **{Rate(name): rate for name, rate in moving.items()}}
            results = kernel(program)(arrays, self.samples)
            total |= {stage.gives(name.of): array for name, array in results.items() if isinstance(name, Rate)}
        return total

    def backward(self, cotangents: Arrays) -> Values:
        """Compute the derivatives of a number by the roots, from those by values; of case roots sums over samples."""
        total = {key: np.array(array, dtype=float) for key, array in cotangents.items()}
        for stage, names, outputs, program in self._pullbacks(total):
            seeds = {Cotangent(name): total[stage.gives(name)] for name in outputs}
            results = kernel(program)({**stage.inputs(self.values), **seeds}, self.samples)
            for name in names:
                self._add(total, _source(stage, name), results[Cotangent(name)])
        return {key: total.get(key, np.zeros_like(self.values[key])) for key in self.roots}

    def _pullbacks(self, total: Values) -> Iterator[tuple[Stage, tuple[Key, ...], tuple[Key, ...], Program]]:
        """Yield stages from the last on with derivatives to take: their inputs, their outputs in `total`, the program.

        `total` grows meanwhile.
        """
        for stage, names in zip(reversed(self.stages), reversed(self._varying), strict=True):
            outputs = tuple(name for name in stage.program.outputs if stage.gives(name) in total)
            if names and outputs:
                yield stage, names, outputs, pullback(stage.program, names, outputs, per_sample=self.per_sample)

    def backward_rates(self, cotangents: Arrays, cotangent_rates: Arrays, rates: Arrays) -> tuple[Values, Values]:
        """Compute the result of `backward`, and its rates where cotangents and some roots change at given rates.

        This is the second derivative of a number as a product with a vector, forward over reverse.
        """
        moving = self.forward(rates)
        total = {key: np.array(array, dtype=float) for key, array in cotangents.items()}
        change = {key: np.array(array, dtype=float) for key, array in cotangent_rates.items()}
        for stage, names, outputs, program in self._pullbacks(total):
            arrays = {**stage.inputs(self.values)}
            arrays |= {Cotangent(name): total[stage.gives(name)] for name in outputs}
            along = self._moving(stage, moving)
            along |= {Cotangent(name): change[key] for name in outputs if (key := stage.gives(name)) in change}
            pushed = pushforward(program, tuple(along))
            results = kernel(pushed)(arrays | {Rate(name): rate for name, rate in along.items()}, self.samples)
            for name in names:
                source = _source(stage, name)
                self._add(total, source, self._summed(source, results[Cotangent(name)]))
                self._add(change, source, self._summed(source, results[Rate(Cotangent(name))]))
        first, second = (
            {key: table.get(key, np.zeros_like(self.values[key])) for key in self.roots} for table in (total, change)
        )
        return first, second

    def _moving(self, stage: Stage, rates: Arrays) -> Values:
        """Return the rates of the inputs of a stage that change."""
        sources = {name: _source(stage, name) for name in stage.program.inputs}
        moving = {name: taken(source, rates) for name, source in sources.items() if _key(source) in rates}
        return {name: rate for name, rate in moving.items() if rate.shape[1]}

    def _summed(self, source: Key | Rows, part: np.ndarray) -> np.ndarray:
        """Return derivatives of each sample summed over these where the input is shared by all samples."""
        whole = self.values[_key(source)]
        return part[..., : self.samples].sum(axis=-1) if whole.ndim == 2 and part.ndim == 3 else part

    def _program(self, stage: Stage) -> Program:
        return for_each_sample(stage.program) if self.per_sample else stage.program

    def _spread(self, array: np.ndarray) -> np.ndarray:
        """Return a value for each sample."""
        if array.ndim == 3:
            return array
        return np.ascontiguousarray(np.broadcast_to(array[..., None], (*array.shape, padded(self.samples))))

    def _like(self, key: Key, rate: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(np.broadcast_to(rate, self.values[key].shape))

    def _varies(self, stage: Stage, name: Key, varying: Collection[Key]) -> bool:
        source = _source(stage, name)
        return _key(source) in varying and bool(taken(source, self.values).shape[1])

    def _add(self, total: Values, source: Key | Rows, part: np.ndarray) -> None:
        key = _key(source)
        if key not in total:
            if not isinstance(source, Rows):
                total[key] = part
                return
            total[key] = np.zeros_like(self.values[key])
        place = slice(*source.rows) if isinstance(source, Rows) else slice(None)
        total[key][:, place] += part


def _source(stage: Stage, name: Key) -> Key | Rows:
    return stage.takes.get(name, name)


def _key(source: Key | Rows) -> Key:
    return source.of if isinstance(source, Rows) else source
