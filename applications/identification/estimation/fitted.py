"""Result of the identification of a robot."""

from __future__ import annotations

import numpy as np

from robots.data_classes import dataclass


@dataclass(frozen=True)
class Fit:
    """Base parameters of a robot, and how well they explain recordings.

    names: their groupings, then parameters of friction that forces are not linear in, where the method finds them;
    truth, values, deviations: one for each name; condition: of the regressor; noise: of the residuals [N m or N];
    validation: residuals of recordings that were not used, relative to the forces; NaN without any.
    """

    names: tuple[str, ...]
    truth: np.ndarray
    values: np.ndarray
    deviations: np.ndarray
    condition: float
    noise: float
    validation: float

    @property
    def scores(self) -> np.ndarray:
        """Errors over standard deviations (kept,)."""
        return np.asarray((self.values - self.truth) / self.deviations)
