"""A parallel robot with joint friction under its actuator forces, for one sample, from the shares of its limbs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robots.model import Platform
from robots.types import TWIST
from tasks.friction.joints import LimbFriction
from tasks.kernels.types import ZERO, Array
from tasks.mathematics.algebra import array
from tasks.mechanics import platform
from tasks.mechanics.kinematics import Motion, Pose
from tasks.mechanics.limb import unit_motion
from tasks.mechanics.platform import held_directions
from tasks.motion.instant.forward import Pushed

SLOPES = ("load_own", "held_passive", "wish_passive")
"""What normal loads need of a limb and accelerations change; see `slope`."""


def slope(name: str) -> str:
    """Name of how a share changes with the accelerations of the freedoms."""
    return f"{name}_slope"


@dataclass(frozen=True)
class LoadedPlatform:
    """The platform at one state: `motion` without acceleration, `load` (6,) on its reference point in world axes."""

    body: Platform
    pose: Pose
    motion: Motion
    gravity: Array
    load: Array

    @cached_property
    def wrench(self) -> Array:
        """(moment, force) that its motion takes, less its weight and its load (6,)."""
        own = array(platform.wrench(self.body, self.pose, self.motion, self.gravity)) - array(self.load)
        return own - array(platform.applied_wrench(self.body, self.pose, self.motion)) if self.body.forces else own

    @cached_property
    def unit_wrenches(self) -> Array:
        """The same of unit accelerations of its freedoms alone (6, freedom)."""
        still = np.zeros(3)
        units = (unit_motion(name) for name in self.body.mobility)
        moves = [Motion(still, still, array(alpha), array(a)) for alpha, a in units]
        return array(np.stack([array(platform.wrench(self.body, self.pose, x, still)) for x in moves], axis=1))

    @property
    def free(self) -> list[int]:
        """Where its freedoms are in a twist."""
        return [TWIST.index(name) for name in self.body.mobility]

    def held(self, acceleration: Array) -> Array:
        """Its wrench along the directions in which it cannot move (held,)."""
        rows = [TWIST.index(name) for name in held_directions(self.body.mobility)]
        return self.wrench[rows] + self.unit_wrenches[rows] @ acceleration


@dataclass(frozen=True)
class PushedPlatform(Pushed):
    """Its freedoms are components of its platform's twist; `limbs` are outputs of `limb_motion_program` by name.

    friction: what friction asks of each limb.
    """

    platform: LoadedPlatform
    limbs: Mapping[str, Mapping[int, Array]]
    friction: Sequence[LimbFriction]

    @cached_property
    def bias(self) -> Array:
        """b (freedom,), less the load."""
        return (
            array(sum((array(x) for x in self.limbs["bias"].values()), start=ZERO))
            + self.platform.wrench[self.platform.free]
        )

    @cached_property
    def jacobian(self) -> Array:
        """J (actuator, freedom)."""
        return array(np.vstack(list(self.limbs["jacobian"].values())))

    @cached_property
    def mass(self) -> Array:
        """M (freedom, freedom)."""
        own = self.platform.unit_wrenches[self.platform.free]
        return array(sum((array(x) for x in self.limbs["mass"].values()), start=ZERO)) + own

    def _of_joints(self, driven: str, passive: str) -> list[Any]:
        """Of each joint with friction its row of what limbs give for their actuators and for their passive joints."""
        of_actuators = [row for rows in self.limbs[driven].values() for row in rows]
        result = []
        for each in self.joints:
            place = each.joint.place
            if place.actuator >= 0:
                result.append(of_actuators[place.actuator])
            else:
                result.append(self.limbs[passive][place.limb][self.friction[place.limb].passive.index(place.joint)])
        return result

    @cached_property
    def rows(self) -> Array:
        """W (joint, freedom)."""
        rows = self._of_joints("jacobian", "through")
        return array(np.stack(rows)) if rows else np.zeros((0, len(self.speed)))

    @cached_property
    def drift(self) -> Array:
        """W' V (joint,)."""
        return array(self._of_joints("driven_drift", "passive_drift"))

    def shares(self, acceleration: Array, wanted: Sequence[LimbFriction]) -> Mapping[str, Any]:
        """Reactions at this acceleration: affine in it."""
        result: dict[str, Any] = {name: dict(values) for name, values in self.limbs.items()}
        for name in SLOPES:
            for k, value in result.get(name, {}).items():
                result[name][k] = array(value) + array(self.limbs[slope(name)][k]) @ array(acceleration)
        return result | {"held": self.platform.held(acceleration)}
