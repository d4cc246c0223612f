"""Overconstrained linkages: single loops of revolute joints, from the axes of the joints at the reference pose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robots.geometry import along, diagonal, shifted
from robots.model import Closure, Family, Frame, Inertia, Link, Mechanism, Robot
from robots.types import BASE, Vector

CUBE = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1), (0, 1, 1), (0, 0, 1))
"""Corners of a unit cube that Bricard's linkage passes; edges between them are the common normals of its axes."""
CUBE_AXES = ((0, 1, 0), (0, 0, 1), (1, 0, 0)) * 2
BODY = Inertia(1.0, (0.1, 0.02, -0.01), diagonal(0.014, 0.026, 0.018))


def _vector(numbers: Sequence[float]) -> Vector:
    x, y, z = map(float, numbers)
    return (x, y, z)


def loop(
    name: str, points: Sequence[Sequence[float]], axes: Sequence[Sequence[float]], driven: str = "j1", cut: int = -1
) -> Robot:
    """A loop of joints j1, j2, ... through points along axes (joint, 3) [m]; joint `cut` is that which is cut.

    The base is between the last joint and the first one. Links are parallel to it at the reference pose.
    """
    count, at = len(points), np.array(points, dtype=float)
    cut %= count
    frame = Frame(along(_vector(axes[cut]), (0.3, 0.5, 0.81)))

    def place(k: int, parent: int | None) -> Frame:
        return shifted(_vector(at[k] if parent is None else at[k] - at[parent]))

    links, numbers = [], dict[int, int]()
    for k in (*range(cut), *range(count - 1, cut, -1)):
        before = None if k in (0, count - 1) else (k - 1 if k < cut else k + 1)
        numbers[k] = len(links)
        parent = BASE if before is None else numbers[before]
        links.append(Link(f"j{k + 1}", f"b{k + 1}", parent, "revolute", _vector(axes[k]), place(k, before), BODY))
    a, b = (cut - 1, cut + 1) if cut + 1 < count else (cut - 1, None)

    def end(side: int | None) -> Frame:
        return Frame(frame.rotation, _vector(at[cut] - (at[side] if side is not None else 0.0)))

    ends = numbers[a], end(a), BASE if b is None else numbers[b], end(b)
    closures = (Closure(f"j{cut + 1}", "revolute", *ends),)
    made = Mechanism.chain(name, tuple(links), (driven,), closures)
    return Robot.of(Family(name, "made up", "made up", (), lambda p: made), {})


def bricard(driven: str = "j1", cut: int = -1) -> Robot:
    """Bricard's linkage of six equal sides, axes at right angles to their neighbours: folded along edges of a cube.

    Angles of odd joints are equal, and so are those of even ones: cos a + cos b + cos a cos b = 0, from a = b = 90
    degrees.
    """
    return loop("bricard", CUBE, CUBE_AXES, driven, cut)
