"""From frictionless actuator forces to what a user asks for: friction, power, and metrics over a trajectory.

One program for each selection of series and metrics, so that nothing is computed that is not wanted. Time integrals use
the trapezoidal rule: sample input `weight` holds its weights.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robots.friction import LAWS as LAW_DATA
from tasks import friction
from tasks.algebra import where
from tasks.kernels.program import Program, trace

Array = Any
Scalar = Any


@dataclass(frozen=True)
class Sample:
    """One actuator at one instant: force, velocity, power, integration weight [s]."""

    force: Scalar
    velocity: Scalar
    power: Scalar
    weight: Scalar


@dataclass(frozen=True)
class Metric:
    """What is reduced over time, how, and what is made of the result and the duration [s]."""

    of: Callable[[Sample], Scalar]
    reduction: str
    finish: Callable[[np.ndarray, float], np.ndarray] = lambda value, duration: value
    friction: bool = True


def _positive(x: Scalar) -> Scalar:
    # a choice between x and zero would turn NaN into zero; this is exact
    return (x + abs(x)) * 0.5


METRICS: Mapping[str, Metric] = {
    "peak_force": Metric(lambda s: abs(s.force), "max"),
    "rms_force": Metric(lambda s: s.weight * (s.force * s.force), "sum", lambda x, duration: np.sqrt(x / duration)),
    "peak_velocity": Metric(lambda s: abs(s.velocity), "max", friction=False),
    "peak_power": Metric(lambda s: abs(s.power), "max"),
    "energy": Metric(lambda s: s.weight * _positive(s.power), "sum"),
    "regenerated_energy": Metric(lambda s: s.weight * _positive(-s.power), "sum"),
}
"""Metrics of one actuator. A case with a failed sample has NaN."""

SERIES: Mapping[str, Callable[[Sample], Scalar]] = {
    "actuator_force": lambda s: s.force,
    "actuator_power": lambda s: s.power,
}


@functools.cache
def program(law: str, actuators: int, series: tuple[str, ...], metrics: tuple[str, ...]) -> Program:
    """Series and metrics of all actuators for one friction set.

    Case input `friction` (parameters of the law); sample inputs `force`, `velocity` (actuator), `status` (1), `weight`
    (1).
    """

    def one_sample(friction: Array, force: Array, velocity: Array, status: Array, weight: Array) -> dict[str, Any]:
        bad = where(status[0] > 0.5, np.nan, 0.0)
        samples = [_sample(law, friction, u + bad, v + bad, weight[0]) for u, v in zip(force, velocity, strict=True)]
        chosen: dict[str, Any] = {name: [SERIES[name](s) for s in samples] for name in series}
        return chosen | {name: [METRICS[name].of(s) for s in samples] for name in metrics}

    sample = {"force": (actuators,), "velocity": (actuators,), "status": (1,), "weight": (1,)}
    case = {"friction": (len(LAW_DATA[law].parameters),)}
    reductions = {name: METRICS[name].reduction for name in metrics}
    return trace(f"actuation.{law}", one_sample, case=case, sample=sample, reductions=reductions)


def _sample(law: str, parameters: Array, force: Scalar, velocity: Scalar, weight: Scalar) -> Sample:
    names = (parameter.name for parameter in LAW_DATA[law].parameters)
    total = force + friction.force(law, velocity, 1.0, dict(zip(names, parameters, strict=True)))
    return Sample(total, velocity, total * velocity, weight)


def trapezoid_weights(times: np.ndarray) -> np.ndarray:
    """Weights [s] of the trapezoidal rule on increasing times (samples,); one sample has weight 1."""
    if len(times) == 1:
        return np.ones(1)
    steps = np.diff(times) * 0.5
    return np.concatenate([steps, [0.0]]) + np.concatenate([[0.0], steps])
