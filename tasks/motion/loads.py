"""Normal loads of the joints of a chain in forward dynamics, for one sample.

A load from reactions depends on accelerations and on friction, which depend on loads: loads -> friction ->
accelerations -> reactions -> loads, until nothing changes. Where the coefficients are so large that this does not
settle, the sample says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robots.friction.groups import FrictionGroup
from robots.model import Family
from tasks.friction import joints as joint_friction
from tasks.kernels.types import Array, Mask, Scalar
from tasks.mathematics.algebra import array, iterate, opposite, total, where
from tasks.mechanics import reactions as reactions
from tasks.mechanics.kinematics import REST
from tasks.mechanics.reactions import LimbStatics
from tasks.motion.forward import Moved, Pushed
from tasks.programs import coupled_friction

ITERATIONS = 200
SETTLED = 1e-14
"""Change of all loads in a step, relative to their size, at which the iteration ends."""

ACCURATE = 1e-9
"""The same above which it has not settled."""

TINY = 1e-300


class _Chain(coupled_friction.PassiveFriction):
    """What joints carry under forces that are known, those of the actuators less their own friction."""

    def forces(self, tau: Array) -> Array:
        """They do not depend on friction here."""
        return self.force

    def multipliers(self, tau: Array) -> list[Array]:
        """Free multipliers of the chain's redundant rows."""
        names = (*reactions.SHARES, *(reactions.FRICTION_SHARES if self.places else ()))
        shares = [{name: self.shares[name][0] for name in names}]
        return self._balance(shares, self.force, self.shares["held"], [tau])


@dataclass(frozen=True)
class Loads:
    """Finds the loads of all joints with friction of a pushed chain."""

    family: Family
    groups: tuple[FrictionGroup, ...]
    pushed: Pushed

    def settled(self) -> tuple[list[Scalar], Scalar]:
        """Loads (joint,), and 1 where they have not settled."""
        if not self._loaded:
            return self._all([]), 0.0
        reached = iterate(self._step, self._following([0.0] * len(self._loaded)), ITERATIONS)
        following = self._following(reached)
        change = total([a - b for a, b in zip(following, reached, strict=True)])
        return self._all(reached), where(change <= ACCURATE * total(following) + TINY, 0.0, 1.0)

    @property
    def _loaded(self) -> list[int]:
        joints = self.pushed.joints
        return [k for k, each in enumerate(joints) if each.joint.group.load == "reaction"]

    def _all(self, reactions_: Sequence[Scalar]) -> list[Scalar]:
        loads = iter(reactions_)
        joints = (each.joint for each in self.pushed.joints)
        return [next(loads) if each.group.load == "reaction" else each.load(None) for each in joints]

    def _step(self, loads: Sequence[Scalar]) -> tuple[list[Scalar], Mask]:
        following = self._following(loads)
        changes = [a - b for a, b in zip(following, loads, strict=True)]
        # NaN counts as done: it will not get better
        return following, opposite(total(changes) > SETTLED * total(following) + TINY)

    def _following(self, loads: Sequence[Scalar]) -> list[Scalar]:
        moved = self.pushed.moved(self._all(loads))
        joints = [each.joint for each in self.pushed.joints]
        friction = {joint.place: tau for joint, tau in zip(joints, moved.friction, strict=True)}
        net = np.array(array(self.pushed.push), dtype=object)
        for place, tau in friction.items():
            if place.actuator >= 0:
                net[place.actuator] = net[place.actuator] - tau
        chain = _Chain(self.family, coupled_friction.wanted(self.family, self.groups), array(net), self._given(moved))
        passive = array([friction[place] for place in chain.places])
        return [joints[k].load(chain.carried(joints[k].place, passive)) for k in self._loaded]

    def _given(self, moved: Moved) -> Mapping[str, Any]:
        """What `coupled_friction` asks of the limb, at these accelerations."""
        pushed = self.pushed
        accelerations = pushed.solved.accelerations + pushed.unit_rates @ moved.acceleration
        statics = LimbStatics(pushed.mounted, replace(pushed.solved, accelerations=accelerations))
        (wanted,) = coupled_friction.wanted(self.family, self.groups)
        share = joint_friction.share(statics, REST, pushed.gravity, wanted) | reactions.share(statics, pushed.gravity)
        return {name: {0: value} for name, value in share.items()} | {"held": np.zeros(0)}
