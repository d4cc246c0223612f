"""Collect the details of single designs, which a page shows on a click: mechanism in motion, series, and maps.

As many designs as fit into `MOST_BYTES`, the one that is looked into first, then those that matter: the best, those on
fronts, others drawn at random. Joint positions and forces are rounded to 4 bytes, series keep all their bits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from pipeline.report.data import motion
from pipeline.report.data import series as quantities
from pipeline.report.data.case import DesignCase
from pipeline.report.data.results import Results
from pipeline.report.data.workspace import choices
from pipeline.report.page.markup import packed

MOST_BYTES = 12_000_000
MOST_DESIGNS = 400

DesignDetails = Mapping[str, Any]


def design_details(results: Results) -> tuple[DesignDetails, ...]:
    """Collect the details of the designs that a page holds, in types of JSON, first the one that it shows at first."""
    first = details_of(results, results.case)
    fitting = min(MOST_DESIGNS, MOST_BYTES // len(json.dumps(first)))
    others = results.designs.shown(fitting, always=(results.design,)) if fitting > 1 else np.zeros(0, int)
    numbers = [int(design) for design in others if design != results.design]
    return (first, *(details_of(results, case) for case in results.cases(numbers[: fitting - 1])))


def details_of(results: Results, case: DesignCase) -> DesignDetails:
    """Collect the details of one design."""
    return {
        "design": case.design,
        "heading": results.heading(case.design),
        "motion": None if case.robot is None else _motion(case),
        "series": {quantity.name: packed(quantity.values) for quantity in quantities.quantities(case)},
        "colours": {
            colour.label: packed(colour.values, "f4") for colour in choices(results, case) if not colour.shared
        },
    }


def _motion(case: DesignCase) -> Mapping[str, Any] | None:
    """The mechanism along its trajectories; None where every sample failed."""
    frames, lines = motion.motions(case)
    if not any(np.isfinite(trajectory.force).any() for trajectory in frames):
        return None
    size, force = motion.scale(frames)
    base = motion.mounts(case.mechanism)
    points = np.concatenate([base, motion.finite(frames)])
    return {
        "trajectories": [_frames(trajectory) for trajectory in frames],
        "limbs": [packed(limb, "i4") for limb in lines.limbs],
        "platform": packed(lines.platform, "i4"),
        "base": packed(base, "f4"),
        "box": [points.min(axis=0).tolist(), points.max(axis=0).tolist()],
        "longest": force,
        "arrow": motion.ARROW * size / force if force else 0.0,
    }


def _frames(trajectory: motion.MotionFrames) -> Mapping[str, Any]:
    return {
        "times": packed(trajectory.times),
        "step": int(trajectory.frames[1]) if len(trajectory.frames) > 1 else 1,
        "points": packed(trajectory.points, "f4"),
        "force": packed(trajectory.force, "f4"),
        "moment": packed(np.linalg.norm(trajectory.moment, axis=-1), "f4"),
    }
