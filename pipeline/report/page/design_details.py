"""Collect the details of single designs, which a page shows on a click: mechanism in motion, series, and maps.

As many designs as fit into `MOST_BYTES`, the one that is looked into first with all its operating cases, then those
that matter: the best, those on fronts, others drawn at random, each under its hardest case. Each has a bundle of its
own, which the page unpacks when it is looked into. Points, forces and maps have nearly five digits; series all bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pipeline.report.data import motion
from pipeline.report.data import series as quantities
from pipeline.report.data.case import DesignCase
from pipeline.report.data.results import Results
from pipeline.report.data.workspace import choices
from pipeline.report.page.bundle import ArrayBundle

MOST_BYTES = 2_500_000
MOST_DESIGNS = 200

DesignDetails = Mapping[str, Any]


def design_details(results: Results) -> tuple[DesignDetails, ...]:
    """Collect the details of the designs that a page holds, in types of JSON, first the one that it shows at first."""
    first = details_of(results, results.case)
    room = MOST_BYTES - len(first["bundle"])
    fitting = min(MOST_DESIGNS - 1, room // max(1, len(first["bundle"])))
    return (first, *_others(results, list(_wanted(results))[: max(0, fitting)], room))


def _wanted(results: Results) -> Iterator[int]:
    """Numbers of other designs that are worth their room: other cases of the first, then the best and the fronts."""
    cases = results.designs.numbers[results.place]
    if len(cases) <= MOST_DESIGNS // 4:
        yield from (int(number) for number in cases if number != results.design)
    for place in results.designs.shown(MOST_DESIGNS, always=(results.place,)):
        if place != results.place:
            yield results.hardest(int(place))


def _others(results: Results, numbers: list[int], room: int) -> Iterator[DesignDetails]:
    for case in results.cases(numbers):
        details = details_of(results, case)
        room -= len(details["bundle"])
        if room < 0:
            return
        yield details


def details_of(results: Results, case: DesignCase) -> DesignDetails:
    """Collect the details of one design."""
    bundle = ArrayBundle()
    details = {
        "design": case.design,
        "heading": results.heading(case.design),
        "motion": None if case.robot is None else _motion(case, bundle),
        "series": {quantity.name: bundle.packed(quantity.values) for quantity in quantities.quantities(case)},
        "colours": {
            colour.label: bundle.packed(colour.values, "f4", rounded=True)
            for colour in choices(results, case)
            if not colour.shared
        },
    }
    return details | {"bundle": bundle.text()}


def _motion(case: DesignCase, bundle: ArrayBundle) -> Mapping[str, Any] | None:
    """The mechanism along its trajectories; None where every sample failed."""
    frames, lines = motion.motions(case)
    if not any(np.isfinite(trajectory.points).all(axis=(1, 2)).any() for trajectory in frames):
        return None
    size, force = motion.scale(frames)
    base = motion.mounts(case.mechanism)
    points = np.concatenate([base, motion.finite(frames)])
    return {
        "trajectories": [_frames(trajectory, bundle) for trajectory in frames],
        "limbs": [bundle.packed(limb, "i4") for limb in lines.limbs],
        "platform": bundle.packed(lines.platform, "i4"),
        "base": bundle.packed(base, "f4"),
        "box": [points.min(axis=0).tolist(), points.max(axis=0).tolist()],
        "longest": force,
        "arrow": motion.ARROW * size / force if force else 0.0,
    }


def _frames(trajectory: motion.MotionFrames, bundle: ArrayBundle) -> Mapping[str, Any]:
    moment = np.linalg.norm(trajectory.moment, axis=-1)
    return {
        "times": bundle.packed(trajectory.times),
        "step": int(trajectory.frames[1]) if len(trajectory.frames) > 1 else 1,
        "points": bundle.packed(trajectory.points, "f4", rounded=True),
        "force": bundle.packed(trajectory.force, "f4", rounded=True),
        "moment": bundle.packed(moment, "f4", rounded=True),
    }
