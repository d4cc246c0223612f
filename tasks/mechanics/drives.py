"""Transmission of drives for one sample: from joints to actuators and back.

Actuator coordinates are q_a = f(q) of the joints of a limb's tree; T = dq_a/dq is the transmission matrix (actuator,
joint). Rates are q_a' = T q', accelerations q_a'' = T q'' + T' q', and actuator forces u put T^T u on the joints. The
computations after these rows (rows of J_IK, assembly, friction, reactions) do not depend on drives. Spinning rotors and
shafts are part of `tasks.mechanics.recursion`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robots.data_classes import dataclass
from robots.drives import Drive
from robots.model import Limb
from tasks.kernels.expression import Array, Expression, Scalar, Scalars
from tasks.kernels.interpreter import interpret
from tasks.kernels.program import trace
from tasks.kernels.tangent import tangent
from tasks.mathematics.algebra import array


@dataclass(frozen=True)
class Direct:
    """Actuators that are joints of the tree, by their index; they have no spins of their own."""

    joints: tuple[int, ...]
    count: int

    def rows(self, columns: Array) -> Array:
        """Return the actuator rows of (joint, ...) columns: T times them."""
        return columns[list(self.joints)]

    def rate_rows(self, columns: Array) -> Array:
        """Return the same with the derivative of T."""
        return np.zeros((len(self.joints), *columns.shape[1:]))

    def joint_forces(self, forces: Array) -> Array:
        """Return T^T times actuator forces."""
        result = np.array(np.zeros(self.count), dtype=object)
        result[list(self.joints)] = forces
        return array(result)

    def motion(self, rates: Array, accelerations: Array) -> tuple[Array, Array]:
        """Return the rates and accelerations of the actuators from those of the joints."""
        return self.rows(rates), self.rows(accelerations) + self.rate_rows(rates)

    @property
    def still(self) -> Direct:
        """The same where joints are at rest."""
        return self


@dataclass(frozen=True)
class Geared:
    """Drives at one configuration: T and its derivative along the motion, (actuator, joint) each."""

    matrix: Array
    change: Array

    def rows(self, columns: Array) -> Array:
        """Return the actuator rows of (joint, ...) columns: T times them."""
        return self.matrix @ columns

    def rate_rows(self, columns: Array) -> Array:
        """Return the same with the derivative of T."""
        return self.change @ columns

    def joint_forces(self, forces: Array) -> Array:
        """Return T^T times actuator forces."""
        return self.matrix.T @ array(forces)

    def motion(self, rates: Array, accelerations: Array) -> tuple[Array, Array]:
        """Return the rates and accelerations of the actuators from those of the joints."""
        return self.rows(rates), self.rows(accelerations) + self.rate_rows(rates)

    @property
    def still(self) -> Geared:
        """The same where joints are at rest."""
        return Geared(self.matrix, self.change * 0.0)


Transmission = Direct | Geared
Positions = Callable[[int], Scalar]
"""The position of a joint of the tree by its index."""


def transmission(limb: Limb, position: Positions, rates: Scalars) -> Transmission:
    """Return the transmission between the actuators of a limb and its joints, at these positions and rates."""
    if not limb.drives:
        return Direct(tuple(limb.index(name) for name in limb.actuated), len(limb.links))
    matrix, change = np.array(np.zeros((2, len(limb.drives), len(limb.links))), dtype=object)
    for row, drive in enumerate(limb.drives):
        for joint, ratio in drive.ratios:
            matrix[row, limb.index(joint)] = matrix[row, limb.index(joint)] + ratio
        if not drive.constant:
            _, slopes, changes = _curve(limb, drive, position, rates)
            matrix[row], change[row] = matrix[row] + slopes, change[row] + changes
    return Geared(array(matrix), array(change))


def positions(limb: Limb, position: Positions) -> list[Scalar]:
    """Return the positions of the actuators [rad or m]."""
    if not limb.drives:
        return [position(limb.index(name)) for name in limb.actuated]
    still, result = [0.0] * len(limb.links), []
    for drive in limb.drives:
        value: Scalar = sum((position(limb.index(joint)) * ratio for joint, ratio in drive.ratios), start=0.0)
        result.append(value if drive.constant else value + _curve(limb, drive, position, still)[0])
    return result


def _curve(limb: Limb, drive: Drive, position: Positions, rates: Scalars) -> tuple[Scalar, np.ndarray, np.ndarray]:
    """Return the nonlinear part of a drive's coordinate, its slopes over all joints, and their changes."""
    at = [position(joint) for joint in range(len(limb.links))]
    if any(isinstance(value, Expression) for value in at):
        return _differentiated(limb, drive, at, rates)
    count = len(at)

    def one_sample(q: Array, qd: Array) -> dict[str, Any]:
        value, slopes, changes = _differentiated(limb, drive, q, qd)
        return {"value": [value], "slopes": slopes, "changes": changes}

    program = trace(f"{limb.name}.{drive.name}", one_sample, case={}, sample={"q": (count,), "qd": (count,)})
    keywords = {"q": np.array(at, dtype=float), "qd": np.array(list(rates), dtype=float)}
    found = interpret(program, {name: values.reshape(1, count, 1) for name, values in keywords.items()}, 1)
    return found["value"][0, 0, 0], found["slopes"][0, :, 0], found["changes"][0, :, 0]


def _differentiated(limb: Limb, drive: Drive, at: Scalars, rates: Scalars) -> tuple[Scalar, np.ndarray, np.ndarray]:
    """Return the same where positions are traced. Raises ValueError where one is a number: it cannot be varied."""
    assert drive.position is not None
    graph = next(value for value in at if isinstance(value, Expression)).graph
    if fixed := [link.joint for link, x in zip(limb.links, at, strict=True) if not isinstance(x, Expression)]:
        raise ValueError(
            f"drive {drive.name} of limb {limb.name}: got joint {fixed[0]} at a constant position beside traced ones; "
            "expected all traced, or all numbers"
        )
    nodes: list[Any] = list(at)
    value = drive.position(dict(zip((link.joint for link in limb.links), nodes, strict=True)))
    still: dict[Any, Scalar] = dict.fromkeys(nodes, 0.0)  # of joints that a loop solves for, each has to be told
    slopes = [tangent([value], {**still, node: graph.lift(1.0)})[0] for node in nodes]
    changes = tangent(slopes, {node: graph.lift(rate) for node, rate in zip(nodes, rates, strict=True)})
    return value, array(slopes), array(changes)
