"""The error of integration of a simulated batch, from a second run at half the step: Richardson's estimate."""

from __future__ import annotations

import numpy as np

from tasks.simulation.runner import Outcome

ORDER = {"rk4": 4, "euler": 1, "semi_implicit": 1, "rosenbrock": 2}
"""Orders of the methods of `tasks.motion.steps`."""


def integration_error(run: Outcome, finer: Outcome, method: str, chain: bool) -> tuple[np.ndarray, np.ndarray]:
    """The largest error of position over the instants that are kept [m or rad], and the same as a share; (samples,).

    Of a chain that of its independent joints; of a platform that of its position and of its orientation. The share is
    of the largest distance from the start in the same measure; 0 where nothing is off. NaN where the run came to its
    end, infinite where the finer one alone did: then there is no estimate.
    Source: Hairer, Norsett and Wanner 1993, Solving Ordinary Differential Equations I, section II.4.
    """
    factor = 2.0 ** ORDER[method]
    coarse, fine = run.series["motion"], finer.series["motion"]
    error = _distance(coarse, fine, chain).max(axis=0) * (factor / (factor - 1.0))
    reach = _distance(coarse, np.broadcast_to(coarse[:1], coarse.shape), chain).max(axis=0)
    error = np.where(np.isnan(error) & np.isfinite(reach), np.inf, error)
    share = np.where(error == 0.0, 0.0, error / np.where(reach == 0.0, np.finfo(float).tiny, reach))
    return error, share


def _distance(first: np.ndarray, second: np.ndarray, chain: bool) -> np.ndarray:
    """How far motion inputs (kept, size, samples) are apart in position, (kept, samples)."""
    if chain:
        free = first.shape[1] // 3
        return np.asarray(np.abs(first[:, :free] - second[:, :free]).max(axis=1))
    apart = np.sqrt(((first[:, :3] - second[:, :3]) ** 2).sum(axis=1))
    if first.shape[1] == 9:
        return np.asarray(apart)
    turned = np.sqrt(0.5 * ((first[:, 3:12] - second[:, 3:12]) ** 2).sum(axis=1))
    return np.asarray(np.maximum(apart, turned))
