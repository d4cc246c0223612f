"""Checks of the signals of a recording as they are: numbers, time, rest, sensors that stick, units that cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.integrate import cumulative_trapezoid
from scipy.signal import detrend

from applications.identification.estimation.machines.checks.findings import RecordingFinding
from applications.identification.estimation.machines.machine_model import actuator_kinds
from applications.identification.estimation.machines.noise import is_still
from applications.identification.estimation.machines.preparation import Signals, clipped, runs
from robots.joint_kinds import JOINT_KINDS
from robots.model import Robot

MISSING = 0.01
"""Share of samples without a number that are filled in."""
STILL = 20
"""Samples of one value in a row, at least, of a sensor that stands still."""
TURNS = 4.0 * np.pi
"""Angles of joints beyond this are most likely degrees [rad]."""
STEPS = 1e-5, 0.1
"""Shortest and longest time between samples that dynamics are recorded with [s]."""
ALIKE = 0.5
"""Correlation of an integrated velocity with its position below which they do not belong together."""
CLOSE = 0.98
"""Correlation above which they belong together."""
RATIO = 1.25
"""A velocity over the rate of its position may be off by this factor."""
BEYOND = 1e-3
"""Tolerance for noise of a position beyond the range in the robot's file [rad or m]."""
LAST = 0.1
"""Share of a recording that a position may stand still for at its end while others move."""


def check_signals(
    robot: Robot,
    signals: Signals,
    limits: Sequence[tuple[float, float]] | None = None,
    rated: Sequence[tuple[float, float]] | None = None,
) -> Iterator[RecordingFinding]:
    """Check a raw recording; limits of the actuators' positions, absent: wide default limits.

    rated: ranges of the robot's file; positions beyond these only give warnings, as zeros may differ.
    """
    names = robot.mechanism.actuators
    for note in signals.notes:
        text = note.removeprefix(f"{signals.name}: ")
        yield RecordingFinding("rows", signals.name, "", text, is_error=False)
    for signal, values in signals.series.items():
        for k, column in enumerate(values.T):
            yield from _signal(signals.name, names[k], signal, column)
    yield from _time(signals)
    yield from _motion(signals, names)
    if signals.velocity is not None:
        yield from _velocities(signals, names)
    yield from _positions(robot, signals, limits, rated)
    yield from _clipped(signals, names)


def _positions(
    robot: Robot,
    signals: Signals,
    limits: Sequence[tuple[float, float]] | None,
    rated: Sequence[tuple[float, float]] | None,
) -> Iterator[RecordingFinding]:
    """Yield the positions beyond limits or ranges, in degrees instead of radians, or with jumps of a turn."""
    kinds = actuator_kinds(robot)
    for k, name in enumerate(robot.mechanism.actuators):
        column = signals.position[:, k][np.isfinite(signals.position[:, k])]
        low, high = (float(column.min()), float(column.max())) if len(column) else (0.0, 0.0)
        unit = JOINT_KINDS[kinds[k]].units.position
        if limits is not None and (low < limits[k][0] or high > limits[k][1]):
            text = (
                f"position from {low:.6g} to {high:.6g} {unit}; expected {limits[k][0]:.6g} to {limits[k][1]:.6g}, the "
                "limits; look at unit, sign, gear and zero"
            )
            yield RecordingFinding("limits", signals.name, name, text)
        elif unit == "rad" and high - low > TURNS and not any(limb.drives for limb in robot.mechanism.limbs):
            text = f"position from {low:.6g} to {high:.6g} rad, several turns; expected radians; are these degrees?"
            yield RecordingFinding("units", signals.name, name, text)
        elif rated is not None and (low < rated[k][0] - BEYOND or high > rated[k][1] + BEYOND):
            text = (
                f"position from {low:.6g} to {high:.6g} {unit}; the robot's file has {rated[k][0]:.6g} to "
                f"{rated[k][1]:.6g}; look at unit, sign, gear and zero"
            )
            yield RecordingFinding("limits", signals.name, name, text, is_error=False)
        if unit == "rad":
            yield from _wrapped(signals, name, k)


def _clipped(signals: Signals, names: Sequence[str]) -> Iterator[RecordingFinding]:
    """Yield the forces that stand at a limit of the drive."""
    for k, marked in enumerate(clipped(np.nan_to_num(signals.force)).T):
        if marked.any():
            largest = float(np.abs(signals.force[marked, k]).max())
            text = f"{marked.mean():.1%} of the forces stand at {largest:.6g}, a limit of the drive; they are left out"
            yield RecordingFinding("clipped", signals.name, names[k], text, is_error=False)


def check_repeats(recordings: Sequence[Signals], windows: Sequence[tuple[float, float]]) -> Iterator[RecordingFinding]:
    """Check that no samples count twice: deviations would be too small, and a validation would prove nothing.

    windows: first and last time of each recording that are used, from its first sample on [s].
    """
    for k, (later, (start, stop)) in enumerate(zip(recordings, windows, strict=True)):
        for earlier, (begin, end) in zip(recordings[:k], windows[:k], strict=True):
            if min(stop, end) <= max(start, begin) or not all(
                np.array_equal(one, other, equal_nan=True)
                for one, other in ((later.force, earlier.force), (later.position, earlier.position))
            ):
                continue
            roles = f"for {earlier.role}" + (f" and for {later.role}" if later.role != earlier.role else " twice")
            text = f"the same samples are {roles}; expected samples that count once; leave one out, or give windows"
            yield RecordingFinding("repeated", later.name, "", text)


def _signal(recording: str, name: str, signal: str, column: np.ndarray) -> Iterator[RecordingFinding]:
    wrong = ~np.isfinite(column)
    if wrong.any():
        text = f"{signal} has {int(wrong.sum())} samples that are no numbers, the first is {int(wrong.argmax()) + 1}"
        if wrong.mean() <= MISSING and runs(wrong).max() <= STILL:
            text += "; they are on straight lines between their neighbours"
            yield RecordingFinding("missing", recording, name, text, is_error=False)
            column = column[~wrong]
        else:
            text += "; expected numbers; cut them out, or accept: [missing]"
            yield RecordingFinding("missing", recording, name, text)
            return
    if np.ptp(column) == 0.0:
        text = f"{signal} is {column[0]:.6g} all the time; expected a signal; look at the sensor and the column"
        yield RecordingFinding("constant", recording, name, text, is_error=signal == "force")
        return
    changes = np.abs(np.diff(column))
    lengths = runs(np.concatenate([[False], changes == 0.0]))
    usual = float(np.quantile(changes, 0.999))
    ends = np.flatnonzero((lengths[:-1] >= STILL) & (lengths[1:] == 0))
    jumps = ends[changes[ends] > 5.0 * usual] if usual > 0 else ends[:0]
    if len(jumps):
        text = f"{signal} stands still for {int(lengths[jumps[0]])} samples up to {int(jumps[0]) + 1}, then jumps"
        yield RecordingFinding(
            "stuck", recording, name, f"{text} by {changes[jumps[0]]:.6g}; expected a sensor that goes on"
        )


def _time(signals: Signals) -> Iterator[RecordingFinding]:
    steps = np.diff(signals.time)
    step = float(np.median(steps)) if len(steps) else 0.0
    if step > 0 and not STEPS[0] <= step <= STEPS[1]:
        text = (
            f"{1.0 / step:.3g} samples a second; expected {1.0 / STEPS[1]:g} to {1.0 / STEPS[0]:g}; look at the unit "
            "of time"
        )
        yield RecordingFinding("time", signals.name, "", text)


def _motion(signals: Signals, names: Sequence[str]) -> Iterator[RecordingFinding]:
    """Yield the recordings without motion, and positions that stand still to the end while others move."""
    columns = signals.position.T
    if not np.isfinite(columns).all() or signals.position.shape[0] < STILL:
        return
    still = [is_still(column) for column in columns]
    if all(still):
        largest = float(np.ptp(columns, axis=1).max())
        text = f"nothing moves: positions are noise of {largest:.3g} at most; expected a recording of a motion"
        yield RecordingFinding("still", signals.name, "", text)
        return
    for name, column, rests in zip(names, columns, still, strict=True):
        if rests and np.ptp(column) > 0.0:
            text = f"does not move: its position is noise of {np.ptp(column):.3g} at most; its rows are left out"
            yield RecordingFinding("still", signals.name, name, text, is_error=False)
    for k, (name, column) in enumerate(zip(names, columns, strict=True)):
        changes = np.flatnonzero(np.diff(column))
        last = len(column) - 1 - int(changes[-1]) if len(changes) else 0
        if last < max(STILL, LAST * len(column)) or len(changes) < 0.5 * (len(column) - last):
            continue
        further_columns = np.delete(columns, k, axis=0)
        if (np.ptp(further_columns[:, -last:], axis=1) > 0.1 * np.ptp(further_columns, axis=1)).any():
            text = f"position stands still for the last {last} samples, while others move; is it the sensor?"
            yield RecordingFinding("stuck", signals.name, name, text, is_error=False)


def _velocities(signals: Signals, names: Sequence[str]) -> Iterator[RecordingFinding]:
    """Yield the velocities that are not the rates of their positions: integrated, so that noise counts little."""
    assert signals.velocity is not None, "asked for where velocities were recorded"
    if not (np.isfinite(signals.velocity).all() and np.isfinite(signals.position).all()):
        return
    if not (np.diff(signals.time) > 0).all():
        return
    positions = detrend(signals.position, axis=0).T
    ways = detrend(cumulative_trapezoid(signals.velocity, signals.time, axis=0, initial=0.0), axis=0).T
    sizes, lengths = np.linalg.norm(positions, axis=1), np.linalg.norm(ways, axis=1)
    for k, name in enumerate(names):
        if sizes[k] < 0.02 * sizes.max() or not lengths[k]:
            continue
        products = ways @ positions[k]
        alike = products / np.where(lengths > 0, lengths * sizes[k], np.inf)
        ratio = float(products[k] / sizes[k] ** 2)
        best = int(np.argmax(alike))
        if alike[k] < -ALIKE:
            text = "velocity has the opposite sign of the rate of position; expected the same; turn one of them"
        elif alike[best] > CLOSE and alike[k] < CLOSE:
            text = (
                f"velocity is not the rate of position, that of {names[best]} is; expected the order of the actuators"
            )
        elif alike[k] < ALIKE:
            text = "velocity is not the rate of position; expected its rate; look at columns and time"
        elif not 1.0 / RATIO < ratio < RATIO:
            text = f"velocity is {ratio:.3g} times the rate of position; expected 1; look at units, gear and time"
        else:
            continue
        yield RecordingFinding("velocity", signals.name, name, text)


def _wrapped(signals: Signals, name: str, actuator: int) -> Iterator[RecordingFinding]:
    column = signals.position[:, actuator]
    changes = np.abs(np.diff(column[np.isfinite(column)]))
    if not len(changes):
        return
    turns = np.round(changes / (2.0 * np.pi))
    usual = float(np.quantile(changes, 0.99))
    off = np.abs(changes - 2.0 * np.pi * turns)
    jumps = np.flatnonzero((turns > 0) & (off < max(0.05, 5.0 * usual)) & (changes > 10.0 * usual))
    if len(jumps):
        first = int(jumps[0]) + 2
        text = (
            f"position jumps by {changes[jumps[0]]:.4g} rad at sample {first}, whole turns; expected angles that go "
            "on; unwrap them"
        )
        yield RecordingFinding("wrapped", signals.name, name, text)
