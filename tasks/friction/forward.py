"""Friction of one joint in forward dynamics, for one sample: what it is in motion, what it holds at rest.

Joints differ in how they come to rest. One that *sticks* (a law with a sharp sign) has a mode: it is stuck, and its
friction is what holds it, up to a limit; or it moves in a direction. One with *bristles* (LuGre) has a state that the
integration carries. The others have a force that is smooth in velocity. Source: industrial manipulators paper,
Eqs. (17) and (18).
"""

from __future__ import annotations

from dataclasses import dataclass

from robots.friction_groups import FrictionGroup
from tasks.friction import lugre, stiction
from tasks.friction.joints import JointFriction
from tasks.friction.laws import force
from tasks.kernels.types import Scalar
from tasks.mathematics.algebra import where

STICKING = ("coulomb_viscous", "stribeck", "stiction")
"""Laws whose friction jumps where the velocity changes its sign, unless a `width` smooths it."""

BRISTLES = ("lugre",)

ONSET = 1e-30
"""Speed that stands for the beginning of motion: laws give their value for zero speed there, with a sign."""


def sticks(group: FrictionGroup) -> bool:
    """Whether joints of a group have modes."""
    return group.law in STICKING and "width" not in group.parameters


def bristles(group: FrictionGroup) -> bool:
    """Whether joints of a group carry a deflection."""
    return group.law in BRISTLES


@dataclass(frozen=True)
class Braked:
    """One joint with friction in forward dynamics; `memory` is the deflection of bristles, or the state of stiction."""

    rubbing: JointFriction

    @property
    def sticks(self) -> bool:
        """Whether it has a mode."""
        return sticks(self.rubbing.group)

    @property
    def bristles(self) -> bool:
        """Whether it carries a deflection."""
        return bristles(self.rubbing.group)

    def force(self, velocity: Scalar, direction: Scalar, load: Scalar, memory: Scalar) -> Scalar:
        """Friction against positive motion, of a joint that sticks in the `direction` of its mode.

        Velocities against that direction, which a step may reach before it is cut short, count as none.
        """
        if self.bristles:
            return lugre.force(memory, velocity, load, **self.rubbing.own)
        if not self.sticks:
            return self.rubbing.force(velocity, load)
        forward = where(velocity > ONSET, velocity, ONSET)
        backward = where(velocity < -ONSET, velocity, -ONSET)
        return self._curve(where(direction < 0.0, backward, forward), load, memory)

    def limit(self, load: Scalar, holding: Scalar) -> Scalar:
        """Largest friction with which it holds against what it holds now; zero of a joint that does not stick."""
        if not self.sticks:
            return 0.0
        return where(holding < 0.0, self._most(-1.0, load), self._most(1.0, load))

    def _most(self, side: float, load: Scalar) -> Scalar:
        most = self._curve(side * ONSET, load, 1.0) * side
        if "starting" not in self.rubbing.own:
            return most
        held = self.rubbing.own | {"coulomb": self.rubbing.own["starting"]}
        starting = force(self.rubbing.group.law, side * ONSET, load, held) * side
        return where(starting > most, starting, most)

    def memory_rate(self, velocity: Scalar, load: Scalar, memory: Scalar) -> Scalar:
        """Time derivative of the memory."""
        return lugre.rate(memory, velocity, load, **self.rubbing.own) if self.bristles else 0.0

    def remembered(self, velocity: Scalar, stuck: Scalar, memory: Scalar) -> Scalar:
        """The memory once the joint has come to this velocity: of stiction, 1 from rest to where it has broken away."""
        if self.rubbing.group.law != "stiction":
            return memory
        fast = self.rubbing.own["stribeck_velocity"] * stiction.BROKEN_AWAY
        return where(stuck > 0.5, 1.0, where(abs(velocity) >= fast, 0.0, memory))

    def _curve(self, velocity: Scalar, load: Scalar, memory: Scalar) -> Scalar:
        if self.rubbing.group.law == "stiction":
            return stiction.force(memory, velocity, load, **self.rubbing.own)
        return self.rubbing.force(velocity, load)
