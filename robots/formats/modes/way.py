"""A limb brought along by its platform, so that it stays as it is assembled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from robots.formats.assembly import Setting, close
from robots.formats.modes.asked import CLOSED
from robots.formats.tree import rows, vector
from robots.model import Frame

WAY = 60
"""Steps in which the platform is brought to where it is wanted."""


def way(start: Frame, end: Frame, steps: int = WAY) -> Iterator[Frame]:
    """Poses on the way of the platform."""
    turns = Rotation.from_matrix([np.array(start.rotation, dtype=float), np.array(end.rotation, dtype=float)])
    places = np.array([start.position, end.position], dtype=float)
    shares = np.linspace(0.0, 1.0, steps)
    for share, turn in zip(shares, Slerp([0.0, 1.0], turns)(shares), strict=True):
        place = vector(places[0] + (places[1] - places[0]) * share)
        yield end if share == 1.0 else Frame(rows(turn.as_matrix()), place)


def brought(settings: Sequence[Setting]) -> tuple[np.ndarray, float]:
    """Positions of all joints of a limb at the last pose of its way, or where its reach ends, and what stays open."""
    values, left = np.zeros(len(settings[0].limb.links)), 0.0
    for setting in settings:
        values, left = close(setting, values)
        if left > CLOSED:
            break
    return values, left
