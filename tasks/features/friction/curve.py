"""The constant-velocity friction test: friction over speed, and the law that fits it.

A joint turns at constant speed over a range of positions and back, with all other joints locked. Inertia, centrifugal
and Coriolis forces vanish, and gravity is equal in both directions. So half the difference of the torques is friction:
Eqs. (48) to (51) of the joint friction paper. This assumes that friction is odd in velocity. For an asymmetric law the
curve is the mean of both directions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robots.friction.laws import CURVES, FORCE, SPEED, VISCOUS
from robots.parameter_errors import nearest
from robots.parameters import Parameter, complete
from tasks.features.friction import laws as friction

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

Numbers = NDArray[np.float64]

STARTS = 8
"""Trial values of the speed at which a law bends: the fit is not convex in it."""


class Curve(NamedTuple):
    """Speed (speeds,), friction at it, and its standard deviation over the positions."""

    speed: Numbers
    friction: Numbers
    spread: Numbers


class FittedLaw(NamedTuple):
    """Fitted parameters of a law, and the root mean square of the residual friction, in the unit of friction."""

    values: dict[str, float]
    residual: float


def half_difference(forward: ArrayLike, reverse: ArrayLike) -> Numbers:
    """Return the friction at positive velocity from torques at the same position in both directions, Eq. (51)."""
    return 0.5 * (np.asarray(forward, dtype=float) - np.asarray(reverse, dtype=float))


def curve(
    speed: ArrayLike,
    forward: ArrayLike,
    reverse: ArrayLike,
    position: ArrayLike | None = None,
    reverse_position: ArrayLike | None = None,
) -> Curve:
    """Return the friction over speed, averaged over positions.

    speed (speeds,) above zero; forward, reverse (speeds, samples): torques of each pair of runs, at the same positions
    in the same order. If both runs have different positions, give both `position` and `reverse_position` (speeds,
    samples): torques of the reverse run are interpolated linearly, and samples beyond its range are left out.
    Raises ValueError for shapes that do not fit and for runs without a common position.
    """
    speeds, ahead, back = (np.asarray(values, dtype=float) for values in (speed, forward, reverse))
    if speeds.ndim != 1 or not (speeds > 0.0).all():
        raise ValueError(f"speed: got an array of shape {speeds.shape}; expected (speeds,), all above zero")
    for name, torque in (("forward", ahead), ("reverse", back)):
        if torque.ndim != 2 or len(torque) != len(speeds) or not torque.size:
            raise ValueError(f"{name}: got an array of shape {torque.shape}; expected ({len(speeds)}, samples)")
    if (position is None) != (reverse_position is None):
        raise ValueError("position, reverse_position: got one of them; expected both or none")
    if position is not None and reverse_position is not None:
        back = _at_positions(np.asarray(position, dtype=float), np.asarray(reverse_position, dtype=float), back)
    if back.shape != ahead.shape:
        raise ValueError(f"reverse: got {back.shape[1]} samples for {ahead.shape[1]} forward; give positions of both")
    rows = half_difference(ahead, back)
    return Curve(speeds, np.nanmean(rows, axis=1), np.nanstd(rows, axis=1))


def _at_positions(position: Numbers, taken_at: Numbers, torque: Numbers) -> Numbers:
    """Return the torques (speeds, samples) at `position`; NaN outside the range of `taken_at`."""
    if taken_at.shape != torque.shape:
        raise ValueError(f"reverse_position: got an array of shape {taken_at.shape}; expected {torque.shape}")
    rows = []
    for position_at, at, values in zip(position, taken_at, torque, strict=True):
        order = np.argsort(at)
        rows.append(np.interp(position_at, at[order], values[order], left=np.nan, right=np.nan))
    result = np.array(rows)
    if not np.isfinite(result).any(axis=1).all():
        raise ValueError("position, reverse_position: got runs without a common position; expected runs over one range")
    return result


def fit(
    law: str, speed: ArrayLike, torque: ArrayLike, *, load: float = 1.0, fixed: Mapping[str, float] | None = None
) -> FittedLaw:
    """Return the parameters of a law, within their bounds, that fit a curve best in the sense of least squares.

    speed, torque (speeds,). `fixed` parameters and options are not fitted; options that are not given are neutral.
    Raises ValueError for an unknown law, shapes that do not fit and too few speeds, ParameterError for `fixed`.
    """
    if law not in CURVES:
        raise ValueError(f"friction law: got {law!r}; expected a law without a state; {nearest(law, CURVES)}")
    speeds, torques = np.asarray(speed, dtype=float), np.asarray(torque, dtype=float)
    data, fixed_values = CURVES[law], dict(fixed or {})
    complete((*data.parameters, *data.options), fixed_values, owner=f"friction law {law}")
    free = [parameter for parameter in data.parameters if parameter.name not in fixed_values]
    if speeds.ndim != 1 or speeds.shape != torques.shape or len(speeds) < len(free):
        raise ValueError(
            f"speed, torque: got arrays of shapes {speeds.shape}, {torques.shape}; "
            f"expected (speeds,) both, at least {len(free)}, the number of parameters to fit"
        )

    def remainder(values: dict[str, float]) -> Numbers:
        return np.array([friction.force(law, v, load, fixed_values | values) for v in speeds.tolist()]) - torques

    best = _best(remainder, free, np.abs(speeds), float(np.abs(torques).max()), load) if free else {}
    return FittedLaw({p.name: (fixed_values | best)[p.name] for p in data.inputs(fixed_values)}, _rms(remainder(best)))


def _rms(values: Numbers) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _best(
    remainder: Callable[[dict[str, float]], Numbers],
    free: list[Parameter],
    speeds: Numbers,
    largest: float,
    load: float,
) -> dict[str, float]:
    """Return the best of several fits, each from another speed at which the law bends, in variables of like size."""
    from scipy.optimize import least_squares  # takes as long as a small run, which fits no law

    force = (largest or 1.0) / load
    sizes = {FORCE: force, VISCOUS: largest / speeds.max()}
    names = [parameter.name for parameter in free]
    results: list[tuple[OptimizeResult, Numbers]] = []
    bends = np.geomspace(speeds.min(), speeds.max(), STARTS) if SPEED in {p.unit for p in free} else (1.0,)
    for bend in bends:
        size = np.array([sizes.get(p.unit, bend) or 1.0 for p in free])
        bounds = np.array([(p.lower, p.upper) for p in free]).T / size
        start = np.clip(np.where([p.unit in sizes for p in free], 0.5, 1.0), *bounds)

        def scaled(x: Numbers, size: Numbers = size) -> Numbers:
            return remainder(dict(zip(names, (x * size).tolist(), strict=True))) / (largest or 1.0)

        results.append((least_squares(scaled, start, bounds=bounds, xtol=1e-12, ftol=1e-12, gtol=1e-12), size))
    result, size = min(results, key=lambda fitted: fitted[0].cost)
    return dict(zip(names, (result.x * size).tolist(), strict=True))
