"""The designs of a block as one table: their parameters, and gravity, which may be swept as these are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass, replace
from tasks.kernels.keys import Values

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BlockDesigns:
    """Parameters of designs (design, parameter), and gravity (design or 1, 3) [m/s^2]: one row where all share it."""

    parameters: Array
    gravity: Array

    def __len__(self) -> int:
        """Return the number of designs."""
        return len(self.parameters)

    @property
    def inputs(self) -> Values:
        """Inputs of stages by name."""
        return {"parameters": self.parameters, "gravity": self.gravity}

    def named(self, names: Sequence[str]) -> dict[str, Array]:
        """Return the parameters, (design,) each, by these names in their order."""
        return {name: self.parameters[:, i] for i, name in enumerate(names)}

    def gravity_of(self, design: int) -> tuple[float, float, float]:
        """Return gravity in a design [m/s^2]."""
        x, y, z = self.gravity[design if len(self.gravity) > 1 else 0].tolist()
        return x, y, z

    def take(self, rows: slice | NDArray[np.intp]) -> BlockDesigns:
        """Return some designs, in the order of `rows`."""
        return BlockDesigns(self.parameters[rows], self.gravity[rows] if len(self.gravity) > 1 else self.gravity)

    def moved(self, parameters: Array) -> BlockDesigns:
        """Return designs with other parameters (design times count, parameter): `count` of them after each other."""
        count = len(parameters) // max(1, len(self))
        return BlockDesigns(
            parameters, np.repeat(self.gravity, count, axis=0) if len(self.gravity) > 1 else self.gravity
        )

    def missing(self, rows: NDArray[np.bool_]) -> BlockDesigns:
        """Return the designs, the parameters of those under the mask (design or 1,) NaN."""
        return replace(self, parameters=np.where(np.reshape(rows, (-1, 1)), np.nan, self.parameters))

    @staticmethod
    def joined(parts: Sequence[BlockDesigns]) -> BlockDesigns:
        """Return the designs of several tables one after the other."""
        parameters, first = np.concatenate([part.parameters for part in parts]), parts[0].gravity
        if all(len(part.gravity) == 1 and (part.gravity == first).all() for part in parts):
            return BlockDesigns(parameters, first)
        return BlockDesigns(
            parameters, np.concatenate([np.broadcast_to(part.gravity, (len(part), 3)) for part in parts])
        )
