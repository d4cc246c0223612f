"""Figures by which Exudyn tests itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.published.motion import moved
from benchmarks.published.rows import Compared, Row, published_robot

CHAIN, TOP = -1.309383960216414, 1.7821760506326125
"""Sum of the five angles at 1 s; sum of the sizes of the top's Euler parameters at 0.2 s."""


def chain() -> Iterator[Compared]:
    """Compare the sum of the angles of five bars that fall for a second."""
    course = moved(published_robot("chain_of_five"), [1.0], (0.0, -10.0, 0.0))
    yield Compared("sum of angles", course.q.sum(), CHAIN)


def top() -> Iterator[Compared]:
    """Compare the orientation of a heavy top after 0.2 s, in which it spins by 30 rad."""
    course = moved(published_robot("heavy_top"), [0.2], (0.0, 0.0, -9.81), qd=[0.0, -4.61538, 150.0])
    parameters = Rotation.from_matrix(course.bodies["top"].rotation[0]).as_quat()
    yield Compared("sum of Euler parameters", np.abs(parameters).sum(), TOP)


ROWS = (
    Row(
        "exudyn_chain",
        "Five bars that fall",
        "Exudyn, TestModels/kinematicTreeTest.py",
        8.0,
        "the test says that it is accurate to 8 digits",
        chain,
        quick=True,
    ),
    Row(
        "exudyn_heavy_top",
        "Heavy top with a fixed point",
        "Exudyn, TestModels/heavyTop.py",
        4.0,
        "2000 steps of the generalised-alpha method",
        top,
        quick=True,
    ),
)
