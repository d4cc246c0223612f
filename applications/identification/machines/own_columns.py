"""Columns of a user's own: expressions of the motion of actuators."""

from __future__ import annotations

import re

import numpy as np

from applications.identification.estimation.encoders import ActuatorMotion
from robots.data_classes import dataclass
from robots.expressions.expression import ParsedExpression
from robots.model import Robot

MOTION = ("q", "qd", "qdd")
"""Names of position, velocity and acceleration in expressions, before the name of an actuator."""


@dataclass(frozen=True)
class ExpressionColumn:
    """The factor of a user's column: an expression of the motion of actuators; `symbols` says which number of which."""

    expression: ParsedExpression
    symbols: dict[str, tuple[int, int]]

    def __call__(self, motion: ActuatorMotion) -> np.ndarray:
        """Return the factor (samples,) along a motion."""
        values = {name: motion[self.symbols[name][0]][:, self.symbols[name][1]] for name in self.expression.names}
        return np.broadcast_to(np.asarray(self.expression(values), dtype=float), (len(motion[0]),)).copy()


def symbols_of(robot: Robot) -> dict[str, tuple[int, int]]:
    """Return the names in expressions, `q_elbow` for the position of the actuator elbow: which array, which column."""
    names = robot.mechanism.actuators
    return {
        f"{prefix}_{plain(name)}": (order, k) for order, prefix in enumerate(MOTION) for k, name in enumerate(names)
    }


def plain(name: str) -> str:
    """Return the name of an actuator as a part of a symbol."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name)
