"""A stage of the dynamics: a program, with the names of its inputs and outputs among the values of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass
from tasks.kernels.derivatives import pushforward
from tasks.kernels.keys import Arrays, Indexed, Key, Rate, Shapes, Values
from tasks.kernels.program import Kernels, Program


class Rows(NamedTuple):
    """Outputs for all cases and samples, in `out` if given; `filled`: without the constant ones."""

    of: str
    rows: tuple[int, int]

    def taken(self, values: Arrays) -> NDArray[np.float64]:
        """Return the rows, of all cases and samples."""
        return values[self.of][:, slice(*self.rows)]


@dataclass(frozen=True)
class Stage:
    """One step of the dynamics: a program, the sources of its inputs, and the names of its outputs for other stages."""

    name: str
    shapes: Shapes
    """Shapes of the stage's values for one sample, without metrics and series that no other stage needs."""
    trace: Callable[[], Program]
    takes: Mapping[Key, Key | Rows]
    """Inputs of the program that go by another name among the values."""
    limb: int | None = None

    @functools.cached_property
    def program(self) -> Program:
        """The program, traced once for each family."""
        return self.trace()

    def gives(self, output: Key) -> Key:
        """Return the key of a program output among the values."""
        return Indexed(output, self.limb) if self.limb is not None and isinstance(output, str) else output

    def inputs(self, values: Arrays) -> Values:
        """Return the program's inputs, selected from the values."""
        return {name: taken(self.takes.get(name, name), values) for name in self.program.inputs}

    def run(
        self,
        kernel: Kernels,
        values: Arrays,
        samples: int,
        out: Arrays | None = None,
        *,
        filled: bool = False,
    ) -> Values:
        """Compute the outputs of the stage, into the arrays `out` by the program's own names, if given.

        `filled`: constants are in their places there.
        """
        results = kernel(self.program)(self.inputs(values), samples, out, filled=filled)
        return {self.gives(name): array for name, array in results.items()}

    def run_rates(self, kernel: Kernels, values: Arrays, samples: int, kind: str = "middle") -> Values:
        """Compute the values of the stage and their rates, where `values` have rates as well, by Rate of their key.

        kind: a key of `tasks.kernels.tangent.KINDS`, which selects the derivative at a kink.
        """
        inputs = [name for name in self.program.inputs if not isinstance(name, Rate)]
        rates = {name: rate for name in inputs if (rate := self._rate(name, values)) is not None}
        program = pushforward(self.program, tuple(rates), kind)
        arrays = self.inputs(values) | {Rate(name): rate for name, rate in rates.items()}
        results = kernel(program)(arrays, samples)
        return {self._gives_rate(name): array for name, array in results.items()}

    def _rate(self, name: Key, values: Arrays) -> NDArray[np.float64] | None:
        """Return the rate of an input; None where the input is constant or empty."""
        source = self.takes.get(name, name)
        key = Rate(source.of if isinstance(source, Rows) else source)
        if key not in values or not values[key].shape[1]:
            return None
        return values[key][:, slice(*source.rows)] if isinstance(source, Rows) else values[key]

    def _gives_rate(self, output: Key) -> Key:
        return Rate(self.gives(output.of)) if isinstance(output, Rate) else self.gives(output)


def taken(source: Key | Rows, values: Arrays) -> NDArray[np.float64]:
    """Return the array of a source among all values, or the rows of it that it names."""
    return source.taken(values) if isinstance(source, Rows) else values[source]
