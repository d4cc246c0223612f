"""One-sided derivatives of peaks at kinks, beside one-sided differences of the functions on arrays.

    python -m benchmarks.gradients.kinks [ROBOT ...]

Where two instants share a peak and move apart, a peak has two slopes. Kinks by each parameter of a robot within
RANGE of its default are found by bisection of `ls.inverse_dynamics` between two instants of the highest force or
velocity of an actuator. A sweep with `sides: true` gives both derivatives there. Beside them are the slopes, at the
kink, of polynomials through peaks of `ls.inverse_dynamics` at NODES distances on one side, which take no derivative.
Differences are relative to the larger slope by the parameter in units of itself, or to LEAST times the peak.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

import limbsweep as ls

ROBOTS = ("five_bar", "delta_3rr2rrr", "linear_delta", "planar_3rrr", "orthoglide")
FRICTION = {"law": "coulomb_viscous", "coulomb": 0.1, "viscous": 0.2, "joints": "actuated"}
METRICS = {"peak_force": "force", "peak_velocity": "velocity"}
"""Peaks, by the result of `ls.inverse_dynamics` whose size they are the largest of."""
SAMPLES = 41
STOP = 0.9
GRID, RANGE = 17, 0.1
"""Values of a parameter among which kinks are looked for, and how far from its default they are."""
NODES, REACHES = 12, (2.5e-2, 1e-2, 4e-3)
"""Points of a polynomial, and how far they reach, over the parameter: the farthest without another kink."""
LEAST = 1e-3
"""Share of a peak below which its derivatives count as small."""


class Kink(NamedTuple):
    """Metric, parameter and its value, actuator."""

    metric: str
    parameter: str
    value: float
    actuator: int


class Motion:
    """A motion of a robot, for a sweep and for functions on arrays."""

    def __init__(self, robot: str) -> None:
        self.robot = ls.robots.build(robot)
        mechanism, self.times = self.robot.mechanism, np.linspace(0.0, STOP, SAMPLES)
        turn, rate = 2.0 * np.pi * self.times, 2.0 * np.pi
        if mechanism.is_chain:
            count = len(mechanism.freedoms)
            size, phase, centre = np.full(count, 0.1), 0.4 + 0.3 * np.arange(count), np.full(count, 0.02)
            self.text = f"kind: harmonic, centre: {centre.tolist()}, amplitude: {size.tolist()}, period: 1.0, "
            self.text += f"phase: {phase.tolist()}"
        else:
            sizes = zip((0.05, -0.04, 0.03), "xyz", strict=True)
            size = np.array([length if f"v{axis}" in mechanism.platform.mobility else 0.0 for length, axis in sizes])
            phase, centre = np.full(3, 0.4), np.array(mechanism.platform.home.position)
            self.text = f"kind: line_sine, amplitude: {size.tolist()}, period: 1.0, phase: 0.4"
        angle = turn[:, None] + phase
        parts = [centre + size * np.sin(angle), rate * size * np.cos(angle), -(rate**2) * size * np.sin(angle)]
        self.state: dict[str, Any]
        if mechanism.is_chain:
            self.state = dict(zip(("q", "qd", "qdd"), parts, strict=True))
        else:
            turns = [np.concatenate([np.zeros_like(part), part], axis=1) for part in parts[1:]]
            self.state = dict(zip(("position", "twist", "acceleration"), [parts[0], *turns], strict=True))

    def sizes(self, result: str, parameter: str, value: float) -> np.ndarray:
        """Return the sizes (time, actuator) of forces or velocities at a value of a parameter."""
        robot = ls.robots.build(self.robot.name, **{parameter: value})
        found = ls.inverse_dynamics(robot, forces=ls.Forces(friction=FRICTION), **self.state)
        return np.abs(getattr(found, result))

    def sides(self, parameter: str, values: list[float]) -> Any:
        """Return the results of a sweep with derivatives from both sides at values of a parameter."""
        names = ", ".join(METRICS)
        law, joints, numbers = FRICTION["law"], FRICTION["joints"], "{coulomb: 0.1, viscous: 0.2}"
        text = (
            f"limbsweep: 1\nrobot: {self.robot.name}\ndesign: {{grid: {{{parameter}: {{values: {values}}}}}}}\n"
            f"friction: {{law: {law}, joints: {joints}, parameters: {numbers}}}\n"
            f"trajectories: {{one: {{{self.text}}}}}\ntime: {{stop: {STOP}, samples: {SAMPLES}}}\n"
            f"metrics: [{names}]\noutputs: [{{derivative: [{names}], of: [{parameter}], sides: true}}]\n"
        )
        return ls.run(ls.Sweep.from_text(text), cluster=ls.ClusterConfig.of("synchronous")).load()


def kinks(motion: Motion, parameter: str) -> Iterator[Kink]:
    """Yield the kinks of all peaks by a parameter within RANGE of its default."""
    default = motion.robot.values[parameter]
    bounds = next(each for each in motion.robot.family.parameters if each.name == parameter)
    values = (default * np.linspace(1.0 - RANGE, 1.0 + RANGE, GRID)).clip(bounds.lower, bounds.upper)
    for metric, result in METRICS.items():
        table = np.array([motion.sizes(result, parameter, value) for value in values])
        highest = table.argmax(axis=1)
        for k, actuator in zip(*np.nonzero(highest[1:] != highest[:-1]), strict=True):
            pair = highest[[k, k + 1], actuator]

            def ahead(value: float, at: tuple[str, Any, Any] = (result, pair, actuator)) -> float:
                name, (first, second), number = at
                row = motion.sizes(name, parameter, value)[:, number]
                return float(row[first] - row[second])

            if ahead(values[k]) * ahead(values[k + 1]) < 0.0:
                root = float(brentq(ahead, values[k], values[k + 1], xtol=1e-300, rtol=1e-15))
                row = motion.sizes(result, parameter, root)[:, actuator]
                if row.max() - row[pair].min() <= 1e-13 * row.max():
                    yield Kink(metric, parameter, root, int(actuator))


def one_sided(motion: Motion, kink: Kink, sign: float) -> float:
    """Return the slope of a peak at a kink by a polynomial through peaks on one side; NaN with more kinks there."""
    nodes = 0.5 * (1.0 - np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES))
    for reach in (sign * each * kink.value for each in REACHES):
        places = kink.value + reach * nodes
        rows = [motion.sizes(METRICS[kink.metric], kink.parameter, place)[:, kink.actuator] for place in places]
        if len({int(row.argmax()) for row in rows}) == 1 and np.isfinite(rows).all():
            fitted = np.polynomial.Chebyshev.fit(nodes, [row.max() for row in rows], NODES - 1, domain=[0.0, 1.0])
            return float(fitted.deriv()(0.0)) / reach
    return np.nan


class Row(NamedTuple):
    """Counts of kinks, of those with the status KINK; least gap of both slopes, largest difference from others."""

    kinks: int
    told: int
    gap: float
    difference: float


def row(robot: str, wanted: Callable[[str], bool] = lambda name: True) -> Row:
    """Compare both derivatives at the kinks of a robot."""
    motion, told, gaps, differences = Motion(robot), 0, [], []
    for parameter in filter(wanted, [name for name, value in motion.robot.values.items() if value]):
        found = list(kinks(motion, parameter))
        if not found:
            continue
        values = sorted({kink.value for kink in found})
        ds = motion.sides(parameter, values)
        for kink in found:
            at = {"design": values.index(kink.value), "actuator": kink.actuator}
            ours = ds[f"{kink.metric}_derivative"].isel(at).values.reshape(2) * kink.value
            other = np.array([one_sided(motion, kink, sign) for sign in (-1.0, 1.0)]) * kink.value
            if np.isnan(other).any():
                continue
            size = max(*np.abs(other), LEAST * ds[kink.metric].isel(at).item())
            told += int(ds[f"{kink.metric}_derivative_status"].isel(at).values.flat[0] == ls.Status.KINK)
            gaps.append(abs(other[1] - other[0]) / size)
            differences.append(float(np.abs(ours - other).max() / size))
    return Row(len(gaps), told, min(gaps, default=np.nan), max(differences, default=np.nan))


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("robots", nargs="*", default=list(ROBOTS))
    options = parser.parse_args(arguments)
    print(f"{'robot':<18}{'kinks':>8}{'KINK':>8}{'least gap':>12}{'difference':>12}")
    for name in options.robots:
        found = row(name)
        print(f"{name:<18}{found.kinks:>8}{found.told:>8}{found.gap:>12.1e}{found.difference:>12.1e}", flush=True)


if __name__ == "__main__":
    main()
