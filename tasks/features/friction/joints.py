"""Friction in the joints of a robot, for one sample: normal loads from reactions, actuator forces, and losses of gears.

Reactions are linear in the motion, in actuator forces and in the friction of passive joints; friction of a law is
linear in its normal load. The friction of one set of parameters is a fixed point of this loop: loads -> friction ->
actuator forces and reactions -> loads. A tree has no loop: friction of a joint does not change the loads of its own
bearings. Source: joint-friction paper, sections 3 and 4.

A gear with efficiency e loses a share of the power in both directions: where the motor drives, it passes on the share e
of its input, and where the load drives, the motor feels the share e of the robot's force. The loss is friction against
the motion: a force that depends on the transmitted force `net` and on the direction of the power. At rest the gear
sticks like dry friction, with a different limit for each direction.

In forward dynamics joints differ in their approach to rest. A joint that *sticks* (a law with a sharp sign) has a mode:
it is stuck and its friction holds it, up to a limit; or it moves in a direction. A joint with *bristles* (a law with
the rate of a state) has a state that is integrated. All other joints have a force that is smooth in velocity.
Source: industrial manipulators paper, Eqs. (17) and (18).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np

from robots.data_classes import dataclass
from robots.friction.groups import FrictionGroup
from robots.friction.laws import FORCE, VISCOUS
from robots.friction.laws import LAWS as LAW_DATA
from robots.joint_kinds import JOINT_KINDS
from robots.limits import JointPlace
from tasks.features.friction.laws import LAWS, Law, breakaway, force
from tasks.features.friction.sliding import ONSET
from tasks.kernels.expression import Array, Scalar
from tasks.mathematics.algebra import sqrt, where


def loss(net: Scalar, velocity: Scalar, efficiency: Scalar) -> Scalar:
    """Return the friction against positive motion, from the force `net` that goes on to the robot; zero at rest."""
    driving, driven = net / efficiency - net, net * efficiency - net
    power = net * velocity
    return where(power > 0.0, driving, where(power < 0.0, driven, 0.0))


def loss_of_drive(force: Scalar, direction: Scalar, efficiency: Scalar) -> Scalar:
    """Return the friction of a gear from its input force, for motion in a `direction` (1 or -1): inverse of `loss`."""
    size = abs(force)
    driving, driven = size - size * efficiency, size / efficiency - size
    return direction * where(force * direction > 0.0, driving, driven)


LOAD_PARTS = 4
"""Parts of a normal load, see `load_parts`."""


def bearing_load(kind: str, carried: Array, arms: Mapping[str, Scalar]) -> Scalar:
    """Return the equivalent normal torque [N m] of a joint that turns, or normal force [N] of one that slides."""
    bending, radial = (sqrt(a * a + b * b) for a, b in (carried[0:2], carried[2:4]))
    return normal_load(kind, bending, radial, abs(carried[4]), arms)


@overload
def normal_load(kind: str, bending: Scalar, radial: Scalar, along: Scalar, arms: Mapping[str, Scalar]) -> Scalar: ...
@overload
def normal_load(kind: str, bending: Array, radial: Array, along: Array, arms: Mapping[str, float]) -> Array: ...
def normal_load(kind: str, bending: Any, radial: Any, along: Any, arms: Mapping[str, Any]) -> Any:
    """Return the same from magnitudes: moment and force across the axis, force or moment along it. Eq. (47).

    As printed, the equation adds forces to torques. Correct is (tau_r / R_b + f_r) R_p + f_m R_n, and tau_p / R_b +
    f_p + tau_m / R_n.
    """
    side = bending / arms["bending_arm"] + radial
    if JOINT_KINDS[kind].turns:
        return side * arms["pin_radius"] + along * arms["friction_arm"] + arms["preload"]
    return side + along / arms["friction_arm"] + arms["preload"]


def load_vectors(kind: str, carried: Array, arms: Mapping[str, Scalar]) -> list[Scalar]:
    """Return vectors (2,), (2,), (1,), in a row, whose lengths and the preload add up to `bearing_load`."""
    loose: dict[str, Scalar] = {**arms, "preload": 0.0}
    shares = [normal_load(kind, float(x), float(y), float(z), loose) for x, y, z in np.eye(3)]
    return [x * share for x, share in zip(carried, (shares[k] for k in (0, 0, 1, 1, 2)), strict=True)]


def load_parts(kind: str, carried: Array, arms: Mapping[str, Scalar]) -> list[Scalar]:
    """Return the parts of `bearing_load` by cause: moment across the axis, force across it, force along it, preload."""
    bending, radial = (sqrt(a * a + b * b) for a, b in (carried[0:2], carried[2:4]))
    along, tilted = abs(carried[4]), bending / arms["bending_arm"]
    if JOINT_KINDS[kind].turns:
        pin, collar = arms["pin_radius"], arms["friction_arm"]
        return [tilted * pin, radial * pin, along * collar, arms["preload"]]
    return [tilted, radial, along / arms["friction_arm"], arms["preload"]]


@dataclass(frozen=True)
class JointFriction:
    """One joint with friction: its place, kind and group, and the parameters of the group in this program."""

    place: JointPlace
    kind: str
    group: FrictionGroup
    values: Mapping[str, Scalar]

    def load(self, carried: Array | None) -> Scalar:
        """Return the normal load of the joint, from the load of its bearings if the law uses it."""
        if self.group.load == "reaction":
            assert carried is not None
            return bearing_load(self.kind, carried, self.values)
        return self.values["preload"] if self.group.load == "preload" else 1.0

    def load_parts(self, carried: Array | None) -> list[Scalar]:
        """Return the parts of the joint's normal load, see `load_parts`; zeros if its parameters are forces."""
        if carried is not None:
            return load_parts(self.kind, carried, self.values)
        return [0.0, 0.0, 0.0, self.values["preload"] if self.group.load == "preload" else 0.0]

    def parts(self, velocity: Scalar, loads: Sequence[Scalar], whole: Scalar) -> list[Scalar]:
        """Split the friction `whole` into the contributions of each part of its load, and a remainder.

        The remainder, the last value, is all friction that does not depend on these parts. Friction of a law with a
        state, and friction with a constant load, are not split: all is remainder.
        """
        if self.group.remembers or self.group.load not in ("reaction", "preload"):
            return [*(0.0 for _ in loads), whole]
        fluid = {p.name: 0.0 for p in LAW_DATA[self.group.law].linear if p.unit == VISCOUS}
        dry = {p.name: 0.0 for p in LAW_DATA[self.group.law].linear if p.unit == FORCE}
        coefficient = force(self.group.law, velocity, 1.0, self.own | fluid)
        total_friction = force(self.group.law, velocity, sum(loads[1:], start=loads[0]), self.own | dry)
        return [*(coefficient * load for load in loads), total_friction]

    def gear_loss(self, velocity: Scalar, net: Scalar) -> Scalar:
        """Return the loss of the gear of an actuator that passes on `net`; zero without a gear."""
        return loss(net, velocity, self.values["efficiency"]) if self.group.load == "gear" else 0.0

    @property
    def own(self) -> dict[str, Scalar]:
        """The parameters of its law, without those of its load."""
        return self.group.of_law(self.values)

    def force(self, velocity: Scalar, load: Scalar) -> Scalar:
        """Return the joint's friction against positive velocity [N m or N]."""
        return force(self.group.law, velocity, load, self.own)


def of_groups(groups: Sequence[FrictionGroup], kinds: Mapping[JointPlace, str], numbers: Array) -> list[JointFriction]:
    """Return the joints with friction from the case input of a friction program: parameters of the groups in order."""
    values, result = iter(numbers), []
    for group in groups:
        parameters = {name: next(values) for name in group.parameters}
        result += [JointFriction(place, kinds[place], group, parameters) for place in group.places]
    return result


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
        """Return the friction against positive motion; for a sticking joint in the `direction` of its mode.

        Velocities against that direction, which a step may reach before it is cut, count as zero. For an actuator with
        a gear, `load` is its force.
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
        return loss_of_drive(force, direction, self.joint.values["efficiency"])

    def _with_gear(self, side: float, load: Scalar, most: Scalar) -> Scalar:
        """Return an actuator's largest friction against motion to a `side` at force `load`; its motor's is `most`."""
        return most + self._gear(load - most * side, side) * side

    def limit(self, load: Scalar, holding: Scalar) -> Scalar:
        """Return the largest holding friction less the present one; zero for a joint that does not stick."""
        if not self.sticks:
            return 0.0
        law, values = self.joint.group.law, self.joint.own
        if self.geared:
            back, forth = (self._with_gear(side, load, breakaway(law, side, 1.0, values)) for side in (-1.0, 1.0))
            return where(holding < 0.0, back, forth)
        return where(holding < 0.0, breakaway(law, -1.0, load, values), breakaway(law, 1.0, load, values))

    def holds(self, side: float, load: Scalar, loose: Scalar, memory: Scalar) -> Scalar:
        """Return the largest friction at rest against motion to a `side`; if `loose`, that of the beginning motion."""
        law, values = self.joint.group.law, self.joint.own
        normal = 1.0 if self.geared else load
        most = breakaway(law, side, normal, values)
        if self.law.breakaway is not None:
            most = where(loose > 0.5, self.law.force(memory, side * ONSET, normal, **values) * side, most)
        return self._with_gear(side, load, most) if self.geared else most

    def memory_rate(self, velocity: Scalar, load: Scalar, memory: Scalar) -> Scalar:
        """Return the time derivative of the memory."""
        rate = self.law.rate
        return 0.0 if rate is None else rate(memory, velocity, load, **self.joint.own)

    def remembered(self, velocity: Scalar, stuck: Scalar, memory: Scalar) -> Scalar:
        """Return the memory after the joint has reached this velocity, `stuck` or not."""
        switched = self.law.switched
        return memory if switched is None else switched(memory, velocity, stuck, **self.joint.own)
