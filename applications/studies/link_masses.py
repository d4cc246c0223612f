"""Check for lengths of links that vary with constant masses: a longer link then weighs as much as a shorter one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from applications.studies.columns import Array
from applications.studies.problem import DesignProblem
from robots.model import Limb, Mechanism

CHANGE = 0.01
"""Change of a factor, as a share of its range, by which dependent parameters are found."""
SAME = 1e-12


def weightless(problem: DesignProblem, design: Array) -> tuple[str, ...]:
    """Return the factors that change lengths within limbs, and no mass, about a design (factor,)."""
    low, high = (np.array([span[side] for span in problem.bounds.values()]) for side in (0, 1))
    here = _mechanism(problem, design)
    names = []
    for k, name in enumerate(problem.names):
        moved = np.array(design, dtype=float)
        step = CHANGE * (high[k] - low[k])
        moved[k] += step if moved[k] + step <= high[k] else -step
        there = _mechanism(problem, moved)
        if _differ(_lengths(here), _lengths(there)) and not _differ(_masses(here), _masses(there)):
            names.append(name)
    return tuple(names)


def _mechanism(problem: DesignProblem, design: Array) -> Mechanism:
    table, family = problem.table(design), problem.sweep.family
    return family.assemble({p.name: float(table[p.name][0]) for p in family.parameters})


def _differ(one: Iterator[float], second: Iterator[float]) -> bool:
    a, b = np.array([*one], dtype=float), np.array([*second], dtype=float)
    return bool((np.abs(a - b) > SAME * np.maximum(np.abs(a), 1.0)).any())


def _lengths(mechanism: Mechanism) -> Iterator[float]:
    """Give the distances between joints of the same link, of all limbs."""
    for limb in mechanism.limbs:
        yield from (float(np.linalg.norm(np.array(place, dtype=float))) for place in _places(limb))


def _places(limb: Limb) -> Iterator[object]:
    """Give the places of joints on the links that carry them, the base left out."""
    yield from (link.placement.position for link in limb.links if link.parent >= 0)
    for closure in (*limb.loops, *limb.tips):
        yield from (
            frame.position for body, frame in ((closure.a, closure.frame_a), (closure.b, closure.frame_b)) if body >= 0
        )


def _masses(mechanism: Mechanism) -> Iterator[float]:
    for limb in mechanism.limbs:
        yield from (float(link.inertia.mass) for link in limb.links)
