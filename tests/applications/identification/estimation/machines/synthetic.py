"""Recordings of machines that there are not: motions, forces by the model, noise."""

from __future__ import annotations

import numpy as np

from applications.identification.estimation.machines.preparation import Signals
from robots.model import Robot
from tasks import inverse_dynamics
from tasks.dynamics.records import Forces

STEP = 0.002
FRICTION = {"law": "coulomb_viscous", "coulomb": 0.6, "viscous": 0.4}


def series(count: int, duration: float = 12.0, seed: int = 1, harmonics: int = 5) -> tuple[np.ndarray, ...]:
    """Position, velocity, acceleration (samples, count) of random Fourier series, and time."""
    random = np.random.default_rng(seed)
    time = np.arange(0.0, duration, STEP)
    q, qd, qdd = np.zeros((3, len(time), count))
    for k in range(1, harmonics + 1):
        omega = 2.0 * np.pi * 0.15 * k
        sine, cosine = random.normal(size=(2, count)) * 0.5 / k
        angle = omega * time[:, None]
        q += sine * np.sin(angle) + cosine * np.cos(angle)
        qd += omega * (sine * np.cos(angle) - cosine * np.sin(angle))
        qdd -= omega**2 * (sine * np.sin(angle) + cosine * np.cos(angle))
    return time, q, qd, qdd


def chain(
    robot: Robot,
    noise: float = 0.05,
    seed: int = 1,
    offset: float = 0.2,
    role: str = "train",
    duration: float = 12.0,
) -> Signals:
    """A recording of a chain that is driven in its joints, with friction, offsets, white noise of forces."""
    time, q, qd, qdd = series(len(robot.mechanism.actuators), duration, seed)
    forces = inverse_dynamics(robot, q=q, qd=qd, qdd=qdd, forces=Forces(friction=FRICTION)).force + offset
    forces = forces + np.random.default_rng([seed, 9]).normal(size=forces.shape) * noise
    return Signals(f"run_{seed}.csv", role, time, q, forces)
