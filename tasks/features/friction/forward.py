"""Friction of one joint in forward dynamics, for one sample: in motion, and holding at rest.

Joints differ in how they come to rest. One that *sticks* (a law with a sharp sign) has a mode: it is stuck, and its
friction is what holds it, up to a limit; or it moves in a direction. One with *bristles* (a law with the rate of a
state) has a state that the integration carries. The others have a force that is smooth in velocity. Source: industrial
manipulators paper, Eqs. (17) and (18).
"""

from __future__ import annotations

from dataclasses import dataclass

from robots.friction.groups import FrictionGroup
from tasks.features.friction import joints
from tasks.features.friction.joints import JointFriction
from tasks.features.friction.laws import LAWS, Law, breakaway
from tasks.features.friction.sliding import ONSET
from tasks.kernels.expression import Scalar
from tasks.mathematics.algebra import where


def bristles(group: FrictionGroup) -> bool:
    """Return whether joints of a group carry a deflection."""
    return LAWS[group.law].rate is not None


@dataclass(frozen=True)
class ForwardFriction:
    """One joint with friction in forward dynamics; `memory` is the state of its law, zero of a law without."""

    joint: JointFriction

    @property
    def law(self) -> Law:
        """The mathematics of its law."""
        return LAWS[self.joint.group.law]

    @property
    def sticks(self) -> bool:
        """True if the joint has a friction mode."""
        return self.joint.group.sticks

    @property
    def bristles(self) -> bool:
        """True if the joint carries a deflection."""
        return bristles(self.joint.group)

    def force(self, velocity: Scalar, direction: Scalar, load: Scalar, memory: Scalar) -> Scalar:
        """Friction against positive motion, of a joint that sticks in the `direction` of its mode.

        Velocities against that direction, which a step may reach before it is cut short, count as none. `load` is the
        force of an actuator that has a gear.
        """
        if self.sticks:
            forward = where(velocity > ONSET, velocity, ONSET)
            backward = where(velocity < -ONSET, velocity, -ONSET)
            velocity = where(direction < 0.0, backward, forward)
        if not self.geared:
            return self.law.force(memory, velocity, load, **self.joint.own)
        friction = self.law.force(memory, velocity, 1.0, **self.joint.own)
        return friction + self._gear(load - friction, where(direction < 0.0, -1.0, 1.0))

    @property
    def geared(self) -> bool:
        """True if a gear loses a share of the input of its actuator."""
        return self.joint.group.load == "gear"

    def _gear(self, force: Scalar, direction: Scalar) -> Scalar:
        return joints.loss_of_drive(force, direction, self.joint.values["efficiency"])

    def _with_gear(self, side: float, load: Scalar, most: Scalar) -> Scalar:
        """Largest friction against motion to a `side` of an actuator of force `load`, the motor's being `most`."""
        return most + self._gear(load - most * side, side) * side

    def limit(self, load: Scalar, holding: Scalar) -> Scalar:
        """Largest holding friction less the present one; zero for a joint that does not stick."""
        if not self.sticks:
            return 0.0
        law, values = self.joint.group.law, self.joint.own
        if self.geared:
            back, forth = (self._with_gear(side, load, breakaway(law, side, 1.0, values)) for side in (-1.0, 1.0))
            return where(holding < 0.0, back, forth)
        return where(holding < 0.0, breakaway(law, -1.0, load, values), breakaway(law, 1.0, load, values))

    def holds(self, side: float, load: Scalar, loose: Scalar, memory: Scalar) -> Scalar:
        """Largest friction at rest against motion to a `side`; where it is `loose`, that of the motion as it begins."""
        law, values = self.joint.group.law, self.joint.own
        normal = 1.0 if self.geared else load
        most = breakaway(law, side, normal, values)
        if self.law.breakaway is not None:
            most = where(loose > 0.5, self.law.force(memory, side * ONSET, normal, **values) * side, most)
        return self._with_gear(side, load, most) if self.geared else most

    def memory_rate(self, velocity: Scalar, load: Scalar, memory: Scalar) -> Scalar:
        """Time derivative of the memory."""
        rate = self.law.rate
        return 0.0 if rate is None else rate(memory, velocity, load, **self.joint.own)

    def remembered(self, velocity: Scalar, stuck: Scalar, memory: Scalar) -> Scalar:
        """The memory once the joint has come to this velocity, `stuck` or not."""
        switched = self.law.switched
        return memory if switched is None else switched(memory, velocity, stuck, **self.joint.own)
