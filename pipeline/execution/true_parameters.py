"""The true inertial parameters of every design, as coordinates of a dataset: what an identification should find."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from robots.model import Robot
from storage.schema import Coordinate
from tasks.identification.columns import shared_columns
from tasks.identification.regressor import standard_parameters

if TYPE_CHECKING:
    from pipeline.sweep.model import Sweep

PREFIX = "true_"
PIECE = 1024
"""Designs whose parameters are made at once."""


def true_parameters(sweep: Sweep) -> Iterator[Coordinate]:
    """One coordinate along designs for each parameter of bodies and drives; limbs that are copies share theirs.

    Nothing for a sweep that is no dataset, with neither measurement nor split.
    """
    if sweep.measurement is None and sweep.split is None:
        return
    columns, rows = shared_columns(sweep.family)[0], []
    for start in range(0, sweep.design.size, PIECE):
        stop = min(start + PIECE, sweep.design.size)
        table = sweep.designs(start, stop)
        for design in range(stop - start):  # a robot without parameters has a design, too
            robot = Robot(sweep.family, {name: float(values[design]) for name, values in table.items()})
            rows.append(list(standard_parameters(robot, shared=True).values()))
    values = np.array(rows).T
    for column, parameter in zip(columns, values, strict=True):
        name = PREFIX + "".join(letter if letter.isalnum() else "_" for letter in column.name)
        text = f"true {column.parameter} of {column.owner}, about the origin of its frame"
        yield Coordinate(name, "design", parameter.tolist(), column.unit, text)
