"""Times of samples whose stamps are from a software clock: rows of a real-time source, stamped a little late.

A controller that ticks evenly is often read by a program that does not: its stamps jitter, ticks are missed, and rows
repeat. All positions move along time, so their changes over their velocities say how many ticks passed. Three clocks
are tried: stamps as recorded, even steps between gaps, and whole ticks. The one in which positions are smoothest is
taken, if it is clearly better than the stamps.
"""

from __future__ import annotations

import numpy as np

from robots.data_classes import dataclass
from tasks.kernels.expression import Array

JITTER = 1e-3
"""Time counts as uniform where steps differ by less than this, relative to their median."""
BETTER = 0.9
"""Roughness of positions over that by the stamps, below which another clock is taken."""
WINDOW, DEGREE = 16, 3
"""Samples of a piece of positions, and degree of the polynomial that it should be."""
PIECES = 8
"""Number of pieces that judge a clock, at least."""
SURE = 0.2
"""Error of a step by positions, in ticks, up to which the step determines the number of ticks."""
NEAR, MOST = 0.25, 0.95
"""Distance from whole ticks, and share of the steps within it, for ticks to be seen."""
REACH = 50
"""Samples on each side from which a velocity is computed."""
LATE = 500
"""Earlier steps whose stamps determine the delay of stamps."""


@dataclass(frozen=True)
class Clock:
    """Times (row,) [s] of the kept rows, their numbers, and a note about changes of times; empty: unchanged."""

    time: np.ndarray
    rows: np.ndarray
    note: str = ""


def clock_of(time: Array, position: Array) -> Clock:
    """Return the times of samples with stamps (samples,) [s] at positions (samples, actuator)."""
    time, position = np.asarray(time, dtype=float), np.asarray(position, dtype=float)
    recorded = Clock(time, np.arange(len(time)))
    steps = np.diff(time)
    if len(time) < PIECES * WINDOW or np.ptp(steps) <= JITTER * np.median(steps):
        return recorded
    candidates = [clock for clock in (even_steps(time), whole_ticks(time, position)) if clock is not None]
    before = roughness(time, position)
    ranked = [(roughness(clock.time, position[clock.rows]), clock) for clock in candidates]
    best = min(ranked, key=lambda pair: pair[0], default=(np.inf, recorded))
    return best[1] if best[0] < BETTER * before else recorded


def roughness(time: Array, position: Array) -> float:
    """Return the noise of positions over time: distance from cubic pieces, over that of all actuators by the noisiest.

    Root mean square over actuators, each over its own range of motion.
    """
    time, position = np.asarray(time), np.asarray(position)
    moving = np.ptp(position, axis=0) > 0
    count = len(time) // WINDOW
    if not moving.any() or not count:
        return np.inf
    pieces = time[: count * WINDOW].reshape(count, WINDOW)
    scaled = (pieces - pieces.mean(axis=1, keepdims=True)) / np.maximum(np.ptp(pieces, axis=1), 1e-300)[:, None]
    basis = np.linalg.qr(scaled[:, :, None] ** np.arange(DEGREE + 1))[0]
    values = position[: count * WINDOW, moving].reshape(count, WINDOW, -1)
    distance = values - basis @ (np.swapaxes(basis, 1, 2) @ values)
    # the median piece: a few pieces with an event, or beside a gap, do not show the clock
    noise = np.sqrt(np.median(np.mean(distance**2, axis=1), axis=0)) / np.ptp(position[:, moving], axis=0)
    return float(np.sqrt(np.mean(noise**2)))


def even_steps(time: np.ndarray) -> Clock:
    """Return stamps on a straight line over their number, each part between gaps on its own."""
    steps = np.diff(time)
    ends = np.flatnonzero(steps > 10.0 * np.median(steps)) + 1
    parts = []
    for part in np.split(time, ends):
        numbers = np.arange(len(part)) - 0.5 * (len(part) - 1)
        slope = float(numbers @ part) / max(float(numbers @ numbers), 1e-300)
        parts.append(part.mean() + slope * numbers)
    evened = np.concatenate(parts)
    note = f"stamps of time jitter by {np.std(time - evened) * 1e3:.2g} ms; even steps are smoother and were taken"
    return Clock(evened, np.arange(len(time)), note)


def whole_ticks(time: np.ndarray, position: np.ndarray) -> Clock | None:
    """Return times of whole ticks, without rows that repeat the one before; None where positions show no ticks.

    Where the machine is too slow for its positions to tell, ticks follow the stamps.
    """
    passed, error = steps_by_positions(time, position)
    usual = float(np.median(np.diff(time)))
    sure = error < SURE * usual
    moved = passed[sure & (passed > 0.5 * usual) & (passed < 1.5 * usual)]
    if position.shape[1] < 2 or len(moved) < PIECES * WINDOW:
        return None
    tick = float(np.median(moved))
    sure = error < SURE * tick
    counts = np.round(passed / tick)
    if np.mean(np.abs(passed[sure] / tick - counts[sure]) < NEAR) < MOST or (counts[sure] == 1).all():
        return None
    ticks = _followed(time / tick, np.where(sure, np.maximum(counts, 0), -1))
    rows = np.concatenate([[0], 1 + np.flatnonzero(np.diff(ticks) > 0)])
    # stamps are right in the long run: they say how long a tick is
    tick, first = (float(x) for x in np.polyfit(ticks, time, 1))
    note = (
        f"stamps of time are of a software clock: positions tick every {tick * 1e3:.4g} ms, {len(time) - len(rows)} "
        f"rows repeat the one before, {int(np.sum(np.diff(ticks) > 1))} follow missed ticks; times are whole ticks"
    )
    return Clock(first + ticks[rows] * tick, rows, note)


def steps_by_positions(time: np.ndarray, position: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the time (samples - 1,) that changes of all positions over their velocities say, and its error [s]."""
    reach = min(REACH, (len(time) - 1) // 2)
    numbers = np.arange(len(time) - 1)
    low, high = np.maximum(numbers - reach + 1, 0), np.minimum(numbers + reach, len(time) - 1)
    velocity = (position[high] - position[low]) / (time[high] - time[low])[:, None]
    changes = np.diff(position, axis=0)
    expected = velocity * np.median(np.diff(time))
    noise = 1.4826 * np.median(np.abs(changes - expected), axis=0)
    noise = np.maximum(noise, 1e-9 * np.ptp(position, axis=0) + 1e-300)
    weight = velocity / noise**2
    strength = np.sum(velocity * weight, axis=1)
    passed = np.sum(changes * weight, axis=1) / np.maximum(strength, 1e-300)
    return passed, 1.0 / np.sqrt(np.maximum(strength, 1e-300))


def _followed(stamps: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return ticks (samples,) that advance by counts (samples - 1,), -1: as stamps [ticks] say, less their delay."""
    ticks = np.zeros(len(stamps))
    delays: list[float] = []
    for k, count in enumerate(counts.tolist()):
        delay = float(np.median(delays[-LATE:])) if delays and count < 0 else 0.0
        following = ticks[k] + count if count >= 0 else max(ticks[k] + 1.0, np.round(stamps[k + 1] - stamps[0] - delay))
        ticks[k + 1] = following
        delays.append(stamps[k + 1] - stamps[0] - following)
    return ticks
