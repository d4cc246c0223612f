"""Fastest motion along a path within limits of jerk and all others, by an interior-point method on splines.

With x the square of the speed of a parameter r, a its acceleration and a' the slope of a by r, actuators have the
acceleration q'' x + q' a and the jerk sqrt(x) (q''' x + 3 q'' a + q' a'). So limits are |linear in x, a, a'| <= b, or
b / sqrt(x) for jerk and power: with a tangent in the place of b / sqrt(x) they are convex, and never wider than before.
Each step of Newton's method on a logarithmic barrier takes these tangents, so every step keeps all limits, and the
search ends where no small change makes the motion faster. Source: Debrouwere et al., Time-optimal path following for
robots with convex-concave constraints using sequential convex programming (2013).

The progress is s = 6 r^5 - 15 r^4 + 10 r^3. So a motion with limited jerk starts and ends at rest, without
acceleration, at a rate of r above zero, and nothing is infinite there. x is a quadratic spline of r with a knot where
the path is less smooth; a' is constant between knots. The solution is checked between the points of its grid.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BSpline
from scipy.linalg import LinAlgError, solveh_banded

from robots.data_classes import dataclass, replace
from robots.status import Status
from tasks.dynamics.paths.forces import ActuatorDerivatives, DrivenPath, PathForces
from tasks.dynamics.paths.power import FastestMotion, PathLimits, beyond_limits

NODES = np.array([-1.0, -np.sqrt(0.2), np.sqrt(0.2), 1.0])
"""Lobatto points of an interval, at which limits are kept."""
WEIGHTS = np.array([1.0, 5.0, 5.0, 1.0]) / 12.0
FINE = np.linspace(-1.0, 1.0, 17)
"""Points of an interval at which limits are looked at."""
GAP = 1e-6
"""Largest remaining improvement at the end, by the duality gap, as a share of the duration."""
SHARPER = 10.0
"""Factor of the weight of the duration from one barrier to the next."""
STEPS = 400
"""Steps of Newton's method for one barrier."""
NEAR, SETTLED = 1e-2, 1e-4
"""Half the square of the Newton decrement at which a barrier, and the last barrier, counts as minimized; it is small
against the number of logarithms."""
FURTHER = 1e-5
"""Share by which limits are tightened beyond their excess, so that a second tightening is rare."""
LITTLE = 0.05
"""Initial share of a limit that remains where holding the robot exceeds the limit."""
ENOUGH = 1e-4
"""Share by which limits are still widened at the end if no motion is found."""
SHORTEST = 1e-10
"""Share of a step below which the search gives up."""


class NotSettledError(ArithmeticError):
    """Steps of Newton's method, or rounds of tightening, that came to no end."""


@dataclass(frozen=True)
class ParameterGrid:
    """Knots of r, the piece of the path that each interval is in, and the spline's basis about its middle.

    basis (interval, derivative, function): values and derivatives of the three splines that an interval has.
    """

    knots: np.ndarray
    piece: np.ndarray
    basis: np.ndarray

    @classmethod
    def over(cls, breaks: np.ndarray, points: int) -> ParameterGrid:
        """Return a grid of `points` knots, with a knot at each of the breaks (of the progress) of a path."""
        ends = np.array([_parameter_at(s) for s in breaks])
        parts = _parts(np.diff(ends), points - 1)
        knots = [np.linspace(ends[k], ends[k + 1], n + 1)[:-1] for k, n in enumerate(parts)]
        r = np.concatenate([*knots, [1.0]])
        piece = np.repeat(np.arange(len(parts)), parts)
        full = np.concatenate([[r[0]] * 2, r, [r[-1]] * 2])
        splines = BSpline(full, np.eye(len(full) - 3), 2)
        middle, number = 0.5 * (r[:-1] + r[1:]), np.arange(len(r) - 1)
        columns = number[:, None] + np.arange(3)
        basis = np.stack([splines(middle, order)[number[:, None], columns] for order in range(3)], axis=1)
        return cls(r, piece, basis)

    @property
    def half(self) -> np.ndarray:
        """Half the lengths of the intervals."""
        return 0.5 * np.diff(self.knots)

    def at(self, nodes: np.ndarray) -> np.ndarray:
        """Return r (interval, node) at places of each interval, from -1 to 1."""
        return 0.5 * (self.knots[:-1] + self.knots[1:])[:, None] + self.half[:, None] * nodes

    def matrix(self, nodes: np.ndarray) -> np.ndarray:
        """Return the map from three coefficients to x, a, a' (interval, node, 3, 3) at places of each interval."""
        shift = (self.half[:, None] * nodes)[..., None]
        value, slope, bend = (self.basis[:, None, k] for k in range(3))
        x, first = value + slope * shift + 0.5 * bend * shift**2, slope + bend * shift
        return np.stack([x, 0.5 * first, 0.5 * np.broadcast_to(bend, first.shape)], axis=2)


def progress_of(r: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the progress and its first three derivatives by r."""
    reverse = 1.0 - r
    s = r**3 * (10.0 + r * (-15.0 + 6.0 * r))
    return s, 30.0 * (r * reverse) ** 2, 60.0 * r * reverse * (1.0 - 2.0 * r), 60.0 * (1.0 - 6.0 * r * reverse)


def _parameter_at(progress: float) -> float:
    low, high = 0.0, 1.0
    if progress in (low, high):
        return progress
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if progress_of(np.array(middle))[0] < progress else (low, middle)
    return low


def _parts(lengths: np.ndarray, count: int) -> np.ndarray:
    """Return the number of intervals of each length, in all `count`: one at least, and the longest parts first."""
    if count < len(lengths):
        raise ValueError(
            f"points: got {count + 1}; expected {len(lengths) + 1} or more, one at each of the waypoints, as jerk is "
            "limited"
        )
    parts = np.ones(len(lengths), dtype=int)
    for _ in range(count - len(lengths)):
        parts[np.argmax(lengths / parts)] += 1
    return parts


@dataclass(frozen=True)
class LimitRows:
    """Limits |slope . (x, a, a') + hold + back sqrt(x)| <= bound, or bound / sqrt(x) for `root` ones, and x <= top.

    slope (interval, node, row, 3), hold, back and bound (interval, node, row), root (row,), top (interval, node).
    """

    slope: np.ndarray
    hold: np.ndarray
    back: np.ndarray
    root: np.ndarray
    top: np.ndarray
    bound: np.ndarray

    @classmethod
    def of(cls, r: np.ndarray, forces: PathForces, rates: np.ndarray, limits: PathLimits) -> LimitRows:
        """Return limits, scaled to a bound of 1, at path parameters r (interval, node).

        rates: derivatives of actuator positions by the progress along the path (3, points, actuator).
        """
        shape = (*r.shape, -1)
        _, w1, w2, w3 = (x.reshape(-1, 1) for x in progress_of(r))
        q1, q2 = rates[0] * w1, rates[1] * w1**2 + rates[0] * w2
        q3 = rates[2] * w1**3 + 3.0 * rates[1] * w1 * w2 + rates[0] * w3
        none = np.zeros_like(q1)
        u = np.stack([forces.sweep * w1**2 + forces.push * w2, forces.push * w1, none], axis=-1)
        parts = [
            (u, forces.hold, none, limits.force, False),
            (np.stack([q2, q1, none], axis=-1), none, none, limits.acceleration, False),
            (u * np.abs(q1)[..., None], forces.hold * np.abs(q1), none, limits.power, True),
            (np.stack([q3, 3.0 * q2, q1], axis=-1), none, none, limits.jerk, True),
        ]
        if limits.voltage is not None and limits.drop is not None and limits.rotation is not None:
            drop = limits.drop
            parts.append((u * drop[:, None], forces.hold * drop, limits.rotation * q1, limits.voltage, False))
        slopes, holds, backs, roots = [], [], [], []
        for slope, hold, back, size, root in parts:
            is_finite = np.isfinite(size)
            slopes.append(slope[:, is_finite] / size[is_finite, None])
            holds.append(hold[:, is_finite] / size[is_finite])
            backs.append(back[:, is_finite] / size[is_finite])
            roots.append(np.full(int(is_finite.sum()), root))
        with np.errstate(divide="ignore"):
            top = forces.top / w1[:, 0] ** 2
        hold, back = (np.concatenate(rows, axis=1).reshape(shape) for rows in (holds, backs))
        slope = np.concatenate(slopes, axis=1).reshape(*r.shape, -1, 3)
        return cls(slope, hold, back, np.concatenate(roots), top.reshape(r.shape), np.ones_like(hold))

    def tightened(self, used: np.ndarray) -> LimitRows:
        """Return limits divided by the shares (interval, row + 1) of them, speeds last, where these are above 1."""
        over = np.where(used > 1.0, used * (1.0 + FURTHER), 1.0)[:, None]
        return replace(self, bound=self.bound / over[..., :-1], top=self.top / over[..., -1])

    def used(self, y: np.ndarray) -> np.ndarray:
        """Return the shares of all limits (interval, node, row + 1), those of speeds last; y (interval, node, 3)."""
        x = y[..., 0]
        shares = np.abs(_dot(self.slope, y) + self.hold + self.back * np.sqrt(x)[..., None])
        shares[..., self.root] *= np.sqrt(x)[..., None]
        return np.concatenate([shares / self.bound, (x / self.top)[..., None]], axis=-1)


def _dot(slope: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.asarray(np.matmul(slope, y[..., None])[..., 0])


@dataclass(frozen=True)
class SplineMotion:
    """x as a spline by its coefficients."""

    grid: ParameterGrid
    coefficients: np.ndarray

    def at(self, nodes: np.ndarray) -> np.ndarray:
        """Return x, a, a' (interval, node, 3)."""
        return _state(self.grid.matrix(nodes), self.coefficients)

    def times(self) -> np.ndarray:
        """Return the time at each knot [s], from zero."""
        nodes, weights = np.polynomial.legendre.leggauss(8)
        steps = (self.at(nodes)[..., 0] ** -0.5) @ weights * self.grid.half
        return np.concatenate([[0.0], np.cumsum(steps)])


def _state(matrix: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    number = np.arange(len(matrix))[:, None] + np.arange(3)
    return np.asarray(np.einsum("inyf,if->iny", matrix, coefficients[number]))


class _Barrier:
    """Barrier function: weighted duration less the logarithms of the distances to limits; with its Newton step.

    Unknowns are the coefficients of x, and with `wider` (interval, node, row) a last unknown: limits are widened by
    `wider` times this unknown, which counts with the weight `cost`.
    """

    def __init__(
        self, grid: ParameterGrid, rows: LimitRows, weight: float, wider: np.ndarray | None = None, cost: float = 0.0
    ) -> None:
        self.rows, self.matrix, self.weight, self.wider, self.cost = rows, grid.matrix(NODES), weight, wider, cost
        self.share = 2.0 * grid.half[:, None] * WEIGHTS
        self.bounded = np.isfinite(rows.top)
        self.size = len(grid.knots) + 1

    def room(self, unknowns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return x, distances to the upper and lower limits, and of speeds; not positive where a limit is broken."""
        y = _state(self.matrix, unknowns[: self.size])
        x, value, bound = y[..., 0], _dot(self.rows.slope, y) + self.rows.hold, self.rows.bound.copy()
        with np.errstate(invalid="ignore", divide="ignore"):
            value += self.rows.back * np.sqrt(x)[..., None]
            bound[..., self.rows.root] *= y[..., :1] ** -0.5
        if self.wider is not None:
            bound += self.wider * unknowns[-1]
        return x, bound - value, bound + value, np.where(self.bounded, self.rows.top - x, 1.0)

    def value(self, unknowns: np.ndarray) -> float:
        """Return the value of the barrier function; infinite if a limit is not kept."""
        x, *rooms = self.room(unknowns)
        if not (x > 0.0).all() or not all((room > 0.0).all() for room in rooms):
            return np.inf
        cost = self.cost * float(unknowns[-1])
        return self.weight * self.duration(x) + cost - float(sum(np.log(room).sum() for room in rooms))

    def duration(self, x: np.ndarray) -> float:
        """Return the duration by the Lobatto points."""
        return float((self.share * x**-0.5).sum())

    def step(self, unknowns: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the step of Newton's method with tangents of the concave parts, and the square of its decrement."""
        rows, weighted = self.rows, self.weight * self.share
        x, above, below, free = self.room(unknowns)
        fall = np.where(rows.root, -0.5 * rows.bound * x[..., None] ** -1.5, 0.0)
        rise = 0.5 * rows.back * x[..., None] ** -0.5
        high, low = -rows.slope, rows.slope.copy()
        high[..., 0] += fall - rise
        low[..., 0] += fall + rise
        high, low = high / above[..., None], low / below[..., None]
        gradient = -high.sum(axis=-2) - low.sum(axis=-2)
        hessian = np.matmul(np.swapaxes(high, -1, -2), high) + np.matmul(np.swapaxes(low, -1, -2), low)
        gradient[..., 0] += np.where(self.bounded, 1.0 / free, 0.0) - 0.5 * weighted * x**-1.5
        hessian[..., 0, 0] += np.where(self.bounded, free**-2.0, 0.0) + 0.75 * weighted * x**-2.5
        slope, bands = self._summed(gradient), np.zeros((3, self.size))
        squares = np.einsum("inyf,inyz,inzg->ifg", self.matrix, hessian, self.matrix, optimize=True)
        for f in range(3):
            for g in range(f + 1):
                bands[f - g, g : g + len(squares)] += squares[:, f, g]  # below the diagonal
        if self.wider is None:
            move = -solveh_banded(bands, slope, lower=True)
            return move, float(-slope @ move)
        above_ratio, below_ratio = self.wider / above, self.wider / below
        beside = self._summed(
            np.einsum("inr,inry->iny", above_ratio, high) + np.einsum("inr,inry->iny", below_ratio, low)
        )
        last, corner = (
            self.cost - float(above_ratio.sum() + below_ratio.sum()),
            float((above_ratio**2).sum() + (below_ratio**2).sum()),
        )
        first, second = -solveh_banded(bands, np.stack([slope, beside], axis=1), lower=True).T
        end = -(last + beside @ first) / (corner + beside @ second)
        move = np.append(first + second * end, end)
        return move, float(-np.append(slope, last) @ move)

    def _summed(self, gradient: np.ndarray) -> np.ndarray:
        """Return a gradient by x, a, a' (interval, node, 3) as one by the coefficients."""
        local, slope = np.einsum("iny,inyf->if", gradient, self.matrix), np.zeros(self.size)
        for f in range(3):
            slope[f : f + len(local)] += local[:, f]
        return slope


def fastest(grid: ParameterGrid, rows: LimitRows, start: np.ndarray) -> np.ndarray:
    """Return the coefficients of the fastest motion, from one that keeps all limits. Raises NotSettledError."""
    scale = float(start.max())
    current, rows = start / scale, _scaled(rows, scale)
    weight, last = _balance(grid, rows, current), False
    while not last:
        barrier = _Barrier(grid, rows, weight)
        last = weight * GAP >= _balance(grid, rows, current)
        current, weight = _settle(barrier, current, SETTLED if last else NEAR), weight * SHARPER
    return current * scale


def inside(grid: ParameterGrid, rows: LimitRows, start: np.ndarray) -> np.ndarray | None:
    """Return the coefficients of a motion that keeps all limits, from one below the speed limits; None if none exists.

    Exceeded limits are widened by a share, which is then reduced to zero. Raises NotSettledError.
    """
    scale = float(start.max())
    current, rows = start / scale, _scaled(rows, scale)
    used = rows.used(_state(grid.matrix(NODES), current))[..., :-1]
    if (used < 1.0).all():
        return start
    wider = np.where(used < 1.0, 0.0, rows.bound)
    unknowns = np.append(current, used.max() - 1.0 + LITTLE)
    weight, cost = _balance(grid, rows, current), SHARPER * used.size
    while cost * ENOUGH < used.size and unknowns[-1] > 0.0:
        unknowns, cost = _settle(_Barrier(grid, rows, weight, wider, cost), unknowns), cost * SHARPER
    return None if unknowns[-1] > 0.0 else unknowns[:-1] * scale


def _balance(grid: ParameterGrid, rows: LimitRows, coefficients: np.ndarray) -> float:
    """Return the weight of the duration at which a motion is as long as there are limits."""
    barrier = _Barrier(grid, rows, 1.0)
    duration = barrier.duration(barrier.room(coefficients)[0])
    return (2 * rows.hold.size + int(barrier.bounded.sum())) / duration


def slow(grid: ParameterGrid, rows: LimitRows) -> np.ndarray:
    """Return coefficients of a motion at a constant rate that uses half of the force not needed for holding."""
    turning, held, root, back = np.abs(rows.slope[..., 0]), np.abs(rows.hold), rows.root, np.abs(rows.back)
    room = np.where(held < rows.bound, 0.5 * (rows.bound - held), LITTLE * held)
    with np.errstate(divide="ignore"):
        x = min(float((room / turning)[..., ~root].min(initial=1.0)), 0.5 * float(rows.top.min()))
    while ((turning[..., root] * x + held[..., root]) * np.sqrt(x) > 0.5 * rows.bound[..., root]).any():
        x *= 0.5
    with np.errstate(divide="ignore"):  # where rotation takes a voltage, half of the room is for it
        x = min(0.5 * x, float(((0.5 * room / back) ** 2).min(initial=np.inf))) if back.any() else x
    return np.full(len(grid.knots) + 1, x)


def _scaled(rows: LimitRows, scale: float) -> LimitRows:
    """Return the limits of x divided by a scale."""
    bound = np.where(rows.root, rows.bound / np.sqrt(scale), rows.bound)
    back = rows.back * np.sqrt(scale)
    return replace(rows, slope=rows.slope * scale, back=back, top=rows.top / scale, bound=bound)


def _settle(barrier: _Barrier, current: np.ndarray, enough: float = NEAR) -> np.ndarray:
    """Return the least value of a barrier, until half the square of the decrement is small enough, or nothing is wider.

    Raises NotSettledError.
    """
    value = barrier.value(current)
    for _ in range(STEPS):
        try:
            move, decrement = barrier.step(current)
        except LinAlgError:
            break
        if 0.5 * decrement <= enough or (barrier.wider is not None and current[-1] < 0.0):
            return current
        length = 1.0
        while not (after := barrier.value(current + length * move)) <= value - 0.1 * length * decrement:
            length *= 0.5
            if length < SHORTEST:
                raise NotSettledError("steps of Newton's method became too short")
        current, value = current + length * move, after
    raise NotSettledError("steps of Newton's method did not settle")


ROUNDS = 8
"""Number of rounds that tighten limits, where the motion exceeds them between the points at which they are kept."""
KEPT = 1e-9
"""Share by which limits may be exceeded by rounding."""


def smooth_motion(driven: DrivenPath, points: int) -> FastestMotion:
    """Return the motion at the knots of a grid; limits hold at nodes of its intervals and at all points of `FINE`."""
    grid, limits = ParameterGrid.over(driven.breaks, points), driven.limits
    count = len(limits.force)
    progress = progress_of(grid.knots)[0]
    forces = driven.forces(progress)
    if (forces.status != Status.OK).any():
        return FastestMotion.none(np.inf, progress, forces.status, count)
    failed = FastestMotion.none(np.nan, progress, np.full_like(forces.status, Status.NOT_CONVERGED), count)
    rates = driven.derivatives()
    if rates is None:
        return failed
    rows, between = (_rows(driven, rates, grid, nodes) for nodes in (NODES, FINE))
    if rows is None or between is None:
        return failed
    try:
        motion = _within(grid, rows, between)
    except NotSettledError:
        return failed
    if motion is None:
        return FastestMotion.none(np.inf, progress, beyond_limits(forces.hold, limits), count)
    return _told(motion, progress, forces, rates)


def _rows(driven: DrivenPath, rates: ActuatorDerivatives, grid: ParameterGrid, nodes: np.ndarray) -> LimitRows | None:
    """Return the limits at places of each interval; None if the robot fails at one."""
    r = grid.at(nodes)
    progress = progress_of(r)[0].ravel()
    forces = driven.forces(progress)
    if (forces.status != Status.OK).any():
        return None
    return LimitRows.of(r, forces, rates.at(progress, np.repeat(grid.piece, len(nodes))), driven.limits)


def _within(grid: ParameterGrid, rows: LimitRows, between: LimitRows) -> SplineMotion | None:
    """Return the fastest motion within limits at nodes and between; None if none exists. Raises NotSettledError."""
    for _ in range(ROUNDS):
        start = inside(grid, rows, slow(grid, rows))
        if start is None:
            return None
        motion = SplineMotion(grid, fastest(grid, rows, start))
        used = between.used(motion.at(FINE)).max(axis=1)
        if used.max() <= 1.0 + KEPT:
            return motion
        rows = rows.tightened(used)
    raise NotSettledError("limits are exceeded between points")


def _told(motion: SplineMotion, progress: np.ndarray, forces: PathForces, rates: ActuatorDerivatives) -> FastestMotion:
    """Return the motion at the knots, each seen from the interval that follows it."""
    grid = motion.grid
    ahead, behind = motion.at(np.array([-1.0]))[:, 0], motion.at(np.array([1.0]))[-1:, 0]
    x, a, slope = np.concatenate([ahead, behind]).T
    _, w1, w2, w3 = progress_of(grid.knots)
    rate = w1 * np.sqrt(x)
    push = w1 * a + w2 * x
    change = np.sqrt(x) * (w3 * x + 3.0 * w2 * a + w1 * slope)
    force = forces.push * push[:, None] + forces.sweep * (rate**2)[:, None] + forces.hold
    velocity, time = forces.rate * rate[:, None], motion.times()
    first, second, third = rates.at(progress, np.append(grid.piece, grid.piece[-1]))
    jerk = third * (rate**3)[:, None] + 3.0 * second * (rate * push)[:, None] + first * change[:, None]
    power = force * velocity
    return FastestMotion(float(time[-1]), progress, time, rate, force, velocity, forces.status, power, jerk)
