"""Joints of files beside the imported joints: position and velocity of each in the terms of engines.

A joint of several freedoms is several joints here, of which the turns are yaw, pitch and roll. Engines have quaternions
and velocities of bodies in its place, so that velocities are a matrix times our rates, and forces follow by power.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from robots.formats.tree import STEPS

SINGLE = "single"


@dataclass(frozen=True)
class Part:
    """A joint of a file: its name there, its kind (one of STEPS or SINGLE), and which of our joints it became."""

    name: str
    kind: str
    columns: tuple[int, ...]


class Coordinates(NamedTuple):
    """A joint as an engine has it: its `position`; its velocity is `matrix` times our rates.

    Its acceleration is `matrix` times our accelerations, and `drift`.
    """

    position: np.ndarray
    matrix: np.ndarray
    drift: np.ndarray


Convert = Callable[[Part, np.ndarray, np.ndarray], Coordinates]
"""The coordinates of a part from positions and rates of our joints."""


def parts(joints: Sequence[str], known: Collection[str]) -> Iterator[Part]:
    """Yield the joints of a file that are behind our joints; `known` are names that the engine has."""
    start = 0
    while start < len(joints):
        part = next((one for kind in STEPS if (one := _several(joints, start, kind)) is not None), None)
        if part is None or joints[start] in known:
            part = Part(joints[start], SINGLE, (start,))
        yield part
        start += len(part.columns)


def _several(joints: Sequence[str], start: int, kind: str) -> Part | None:
    """Return a joint of several freedoms that begins at one of our joints, by their names."""
    ends = [end for end, _, _ in STEPS[kind]]
    name = joints[start].removesuffix(f"_{ends[0]}")
    columns = tuple(range(start, start + len(ends)))
    return Part(name, kind, columns) if list(joints[start:][: len(ends)]) == [f"{name}_{end}" for end in ends] else None


class Turned(NamedTuple):
    """Yaw, pitch and roll: the rotation; the angular velocity in axes of the body is `matrix` times their rates.

    The angular acceleration is `matrix` times their accelerations, and `drift`.
    """

    rotation: np.ndarray
    matrix: np.ndarray
    drift: np.ndarray


def turned(angles: np.ndarray, rates: np.ndarray) -> Turned:
    """Return the rotation by yaw, pitch and roll, (3,) each."""
    yaw, pitch, roll = (
        Rotation.from_rotvec(angle * axis).as_matrix() for angle, axis in zip(angles, Z_Y_X, strict=True)
    )
    z, y, x = Z_Y_X
    of_yaw = pitch.T @ z
    first = of_yaw * rates[0] + y * rates[1]
    matrix = np.stack([roll.T @ of_yaw, roll.T @ y, x], axis=1)
    drift = roll.T @ np.cross(-y, of_yaw) * rates[0] * rates[1] - rates[2] * np.cross(x, roll.T @ first)
    return Turned(yaw @ pitch @ roll, matrix, drift)


Z_Y_X = np.eye(3)[::-1]


def quaternion(rotation: np.ndarray) -> np.ndarray:
    """Return (x, y, z, w) of a rotation (3, 3)."""
    return np.asarray(Rotation.from_matrix(rotation).as_quat())


@dataclass(frozen=True)
class Seat:
    """Indices of position and velocity of a part in an engine, and their conversion."""

    part: Part
    positions: np.ndarray
    velocities: np.ndarray
    convert: Convert


def state(
    seats: Iterable[Seat], start: np.ndarray, width: int, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return an engine's positions, velocities (width,), accelerations; the matrix from limbsweep's rates to its own.

    start: positions of joints that we do not move.
    """
    position, matrix, drift = np.array(start, dtype=float), np.zeros((width, len(q))), np.zeros(width)
    for seat in seats:
        columns = np.array(seat.part.columns)
        one = seat.convert(seat.part, q[columns], qd[columns])
        position[seat.positions], drift[seat.velocities] = one.position, one.drift
        matrix[np.ix_(seat.velocities, columns)] = one.matrix
    return position, matrix @ qd, matrix @ qdd + drift, matrix


def straight(part: Part, q: np.ndarray, qd: np.ndarray) -> Coordinates:
    """Return a joint of one freedom whose position is ours."""
    return Coordinates(q, np.eye(1), np.zeros(1))


def on_circle(part: Part, q: np.ndarray, qd: np.ndarray) -> Coordinates:
    """Return a joint of one freedom whose position is a point on a circle."""
    return Coordinates(np.array([math.cos(q[0]), math.sin(q[0])]), np.eye(1), np.zeros(1))
