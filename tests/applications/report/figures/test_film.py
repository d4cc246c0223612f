"""A mechanism in motion as a file that any program plays."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageSequence

import limbsweep as ls
from pipeline.errors import InputError

SWEEP = """
limbsweep: 1
robot: five_bar
trajectories: {c: {kind: circle, radius: 0.1, normal: [0, 1, 0], period: 0.4}}
time: {stop: 0.4, step: 0.04}
metrics: [peak_force]
"""


def test_a_film_lasts_as_long_as_the_motion_and_moves(tmp_path: Path) -> None:
    ds = ls.compute(ls.Sweep.from_text(SWEEP))
    path = ls.figure(ds, "mechanism", tmp_path / "motion.gif")
    with Image.open(path) as film:
        frames = [
            (np.asarray(frame.convert("L"), dtype=int), frame.info["duration"])
            for frame in ImageSequence.Iterator(film)
        ]
    assert sum(duration for _, duration in frames) == pytest.approx(400, rel=0.1)
    assert len(frames) == 10
    assert all((a != b).any() for (a, _), (b, _) in itertools.pairwise(frames))


def test_a_figure_that_does_not_move_is_no_film(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"A mechanism can be a \.gif; other figures do not move"):
        ls.figure(ls.compute(ls.Sweep.from_text(SWEEP)), "front", tmp_path / "front.gif")
    assert not list(tmp_path.iterdir())
