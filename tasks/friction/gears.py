"""Gears that lose a share of the power, for one sample of one actuator: what they take, either way round.

With the efficiency e a gear passes on `net` of what goes in: e of it where the motor drives, and where it is driven the
motor feels e of what the robot puts in. The loss is friction against the motion: a force that depends on the force
passed on and on the way of the power. At rest it holds as dry friction does, in two directions with two limits.
"""

from __future__ import annotations

from tasks.kernels.types import Scalar
from tasks.mathematics.algebra import where


def loss(net: Scalar, velocity: Scalar, efficiency: Scalar) -> Scalar:
    """Friction against positive motion, from the force `net` that goes on to the robot; zero at rest."""
    driving, driven = net / efficiency - net, net * efficiency - net
    power = net * velocity
    return where(power > 0.0, driving, where(power < 0.0, driven, 0.0))


def loss_of_drive(force: Scalar, direction: Scalar, efficiency: Scalar) -> Scalar:
    """The same from the force that goes in, of motion in a `direction` (1 or -1): the inverse of `loss`."""
    size = abs(force)
    driving, driven = size - size * efficiency, size / efficiency - size
    return direction * where(force * direction > 0.0, driving, driven)
