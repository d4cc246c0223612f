"""Choices of a recording description. The module imports no mathematics, so that mistakes are reported at once."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Literal

from robots.data_classes import dataclass, field

FrictionColumns = Literal["none", "viscous", "coulomb_viscous", "asymmetric", "stribeck"]
LAWS: tuple[FrictionColumns, ...] = ("none", "viscous", "coulomb_viscous", "asymmetric", "stribeck")
USUAL, FADING = LAWS[2], LAWS[4]
"""Default friction law, and the friction law with a velocity of its own."""
LARGEST = "largest"
"""Deviations that are the largest of three estimates."""
CONSISTENT, INSTRUMENTAL, OUTPUT_ERROR = "consistent", "instrumental", "output_error"
"""Methods of estimation beside the linear ones."""
CLOSED_LOOP = (INSTRUMENTAL, OUTPUT_ERROR)
"""Methods that use the reference of a controller."""


@dataclass(frozen=True)
class Preparation:
    """Settings for the preparation of recorded signals.

    cutoff, order: of the zero-phase Butterworth filter [Hz], None: by the spectra of motion and noise; outliers:
    distance from the running median in robust standard deviations beyond which a sample is replaced, 0: none are;
    delay: by which forces are late [s], None: as recorded; start, stop: part of the time that is used [s from the
    first sample]; rate: samples a second that are kept, 0: as many as the filter leaves independent; gap: longest time
    without samples that is bridged [s], 0: ten times the step; rest: speed below which an actuator is at rest, relative
    to its largest, 0: never. At rest, dry friction is any force up to a limit, and no model predicts it.
    """

    cutoff: float | None = None
    order: int | None = None
    outliers: float = 8.0
    delay: float | None = None
    start: float = 0.0
    stop: float = inf
    rate: float = 0.0
    gap: float = 0.0
    rest: float = 0.01


Corner = tuple[float, ...]


@dataclass(frozen=True)
class BodyPrior:
    """Knowledge of the bodies of a machine beside the robot's own inertia.

    weight: of the distance to that inertia over squares of residuals in standard deviations, None: by held-out error;
    mass: of all bodies together [kg]; boxes: lower and upper corner [m] of a box that holds a body, in its frame, by
    name.
    """

    weight: float | None = None
    mass: float | None = None
    boxes: Mapping[str, tuple[Corner, Corner]] = field(default_factory=dict)
