"""Parts of a dataset, for training, validation and tests: shares of designs and trajectories, and where each is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

from robots.data_classes import dataclass

PARTS = ("train", "validation", "test")
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
SPREAD = 3.0
"""Count times share from which on a part has a number: multiples of the golden ratio leave gaps of 2.62 over count."""
NONE = 1e-9
"""Share along a dim that is rounding of none."""
DESIGN, MOTION = "design", "motion"
PARTED = ("design", "trajectory", "state")
"""Dims that may be split into parts; initial states where robots are released from them, which decides the motion."""


def case_part(*parts: str) -> str:
    """Return the part of a case from the parts of its design and its motion: the later of both in PARTS.

    So training uses no design and no motion of the test part, and every case has one part.
    """
    return max(parts, key=PARTS.index)


@dataclass(frozen=True)
class DatasetSplit:
    """Shares of the cases for validation and for tests; the rest is for training.

    by: "design" or "motion", whose places are parted alone, so that all cases of one have one part; None: both.
    """

    validation: float
    test: float
    by: str | None = None

    def describe(self) -> dict[str, Any]:
        """Return the same in types of JSON."""
        return {"validation": self.validation, "test": self.test} | ({} if self.by is None else {"by": self.by})

    def along(self, dims: Mapping[str, int]) -> dict[str, DatasetSplit]:
        """Return the shares along each dim (name, size), so that cases have those of the dataset.

        A case is for training where all of its places are, and for tests where one is: with n dims that are parted,
        shares along each follow from n-th roots. A dim with one place is not parted.
        """
        parted = [
            dim for dim, size in dims.items() if size > 1 and self.by in (None, DESIGN if dim == DESIGN else MOTION)
        ]
        root = 1.0 / max(len(parted), 1)
        test = 1.0 - (1.0 - self.test) ** root
        validation = 1.0 - test - (1.0 - self.validation - self.test) ** root
        return {dim: DatasetSplit(validation, test) if dim in parted else DatasetSplit(0.0, 0.0) for dim in dims}

    def empty(self, dims: Mapping[str, int]) -> tuple[str, ...]:
        """Return the parts that have a share and none of the cases of a dataset with these dims (name, size)."""
        places = []
        for dim, shares in self.along(dims).items():
            least = min((share for share in (shares.validation, shares.test) if share > NONE), default=1.0)
            places.append(set(shares.of(0, min(dims[dim], math.ceil(SPREAD / least)))))
        found = {case_part(PARTS[0], *case) for case in itertools.product(*places)}
        wanted = {"train": 1.0, "validation": self.validation, "test": self.test}
        return tuple(part for part in PARTS if wanted[part] > 0.0 and part not in found)

    def of(self, start: int, stop: int) -> list[str]:
        """Assign a part to each design or trajectory from number `start` up to before `stop`.

        Spread evenly by multiples of the golden ratio: a part has its share of any number of them, and a dataset that
        is made longer keeps the parts that it has.
        """
        return [self._part((index + 0.5) * GOLDEN % 1.0) for index in range(start, stop)]

    def _part(self, x: float) -> str:
        if x < self.test:
            return "test"
        return "validation" if x < self.test + self.validation else "train"
