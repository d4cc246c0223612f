"""Effect of the friction of passive joints on a robot, from shares of its limbs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from robots.limits import JointPlace
from robots.model import Family
from tasks.features.friction.requests import COMPONENTS, LimbFriction
from tasks.kernels.expression import Array, Scalar, Scalars
from tasks.mathematics.algebra import array, from_columns
from tasks.mechanics import assembly, limb_motion
from tasks.mechanics import reactions as reactions
from tasks.mechanics.families import structure_of
from tasks.mechanics.kinematics import SpatialMotion
from tasks.mechanics.reactions import LimbStatics


class PassiveFriction:
    """Effect of friction tau of passive joints in a robot, from shares of its limbs; tau in the order of `places`.

    held: positions of the held directions along which limbs carry the platform, see `tasks.mechanics.solving.carried`;
    they are used if a normal load is a reaction.
    """

    def __init__(
        self, family: Family, limbs: Sequence[LimbFriction], force: Array, shares: Mapping[str, Any],
        held: Sequence[int],
    ):  # fmt: skip
        self.structure, self.limbs, self.force, self.shares = structure_of(family), limbs, force, shares
        self.held, self.count = held, len(limbs)
        sizes = [len(limb.passive) for limb in limbs]
        self.slices = [slice(sum(sizes[:k]), sum(sizes[: k + 1])) for k in range(self.count)]
        self.places = [JointPlace(k, joint, -1) for k, limb in enumerate(limbs) for joint in limb.passive]

    def rate(self, place: JointPlace, velocity: Array) -> Scalar:
        """Return the velocity of a joint with friction."""
        if place.actuator >= 0:
            return velocity[place.actuator]
        return self.shares["passive_rate"][place.limb][self.limbs[place.limb].passive.index(place.joint)]

    @cached_property
    def influence(self) -> Array:
        """A (actuator, passive joint)."""
        jacobian = np.vstack([self.shares["jacobian"][k] for k in range(self.count)])
        through = np.vstack([self.shares["through"][k] for k, limb in enumerate(self.limbs) if limb.passive])
        weights = self.shares.get("weights")
        return array(np.stack([array(assembly.actuator_forces(jacobian, row, weights)) for row in through], axis=1))

    def forces(self, tau: Array) -> Array:
        """Return the actuator forces without the actuators' own friction."""
        return self.force + self.influence @ tau if len(tau) else self.force

    def carried(self, place: JointPlace, tau: Array) -> Array:
        """Return the loads on the bearings of a loaded joint; terms as in `tasks.features.friction.passive.share`."""
        k = place.limb
        start = COMPONENTS * self.limbs[k].loaded.index(place.joint)
        rows = slice(start, start + COMPONENTS)
        result = self.shares["load_own"][k][rows]
        if self.structure.mechanism.limbs[self.structure.mechanism.instances[k].limb].cuts:  # else no force goes round
            result = result + self.shares["load_driven"][k][rows] @ self.forces(tau)[self.structure.driven[k]]
            result = result + self.shares["load_redundant"][k][rows] @ self.multipliers(tau)[k]
        if self.limbs[k].passive:
            result = result + self.shares["load_friction"][k][rows] @ tau[self.slices[k]]
        return result

    def multipliers(self, tau: Array) -> list[Array]:
        """Return the free multipliers of each limb: affine in tau."""
        at_rest, slopes = self._multipliers
        return [a + b @ tau if len(tau) else a for a, b in zip(at_rest, slopes, strict=True)]

    @cached_property
    def _multipliers(self) -> tuple[list[Array], list[Array]]:
        names = (*reactions.SHARES, *(reactions.FRICTION_SHARES if self.places else ()))
        shares = [
            {name: self.shares[name][k] for name in names if k in self.shares.get(name, ())} for k in range(self.count)
        ]
        still = [np.zeros(len(limb.passive)) for limb in self.limbs]
        held = self.shares["held"]
        at_rest = self._balance(shares, self.force, held, still)
        linear = [
            {**s, "held_passive": s["held_passive"] * 0.0, "wish_passive": s["wish_passive"] * 0.0} for s in shares
        ]
        columns = []
        for p, unit in enumerate(np.eye(len(self.places))):
            friction = [unit[slice_of_limb] for slice_of_limb in self.slices]
            columns.append(self._balance(linear, self.influence[:, p], held * 0.0, friction))
        slopes = [
            array(np.stack([array(column[k]) for column in columns], axis=1)) if columns else np.zeros((0, 0))
            for k in range(self.count)
        ]
        return at_rest, slopes

    def _balance(
        self, shares: Sequence[Mapping[str, Array]], force: Array, held: Array, friction: Sequence[Array]
    ) -> list[Array]:
        forces = [array(force[driven]) for driven in self.structure.driven]
        return reactions.redundant_multipliers(shares, forces, array(held), self.held, friction)[0]


class SharedLoads(PassiveFriction):
    """Loads of joints under known forces, those of the actuators less their own friction, from shares of limbs."""

    def forces(self, tau: Array) -> Array:
        """Return the actuator forces, which do not depend on friction here."""
        return self.force

    def multipliers(self, tau: Array) -> list[Array]:
        """Return the free multipliers of each limb's redundant rows."""
        names = (*reactions.SHARES, *(reactions.FRICTION_SHARES if self.places else ()))
        shares = [
            {name: self.shares[name][k] for name in names if k in self.shares.get(name, ())} for k in range(self.count)
        ]
        return self._balance(
            shares, self.force, self.shares["held"], [tau[slice_of_limb] for slice_of_limb in self.slices]
        )


def share(statics: LimbStatics, platform: SpatialMotion, gravity: Array, wanted: LimbFriction) -> dict[str, Scalars]:
    """Return a limb's terms for friction in its joints; shapes as in `LimbFriction.shapes`.

    through: rates of passive joints over the robot's freedoms; load_*: bearing loads of loaded joints by cause;
    held_friction, wish_friction: as in `reactions.share`.
    """
    passive_friction = [statics.unit("friction", joint) for joint in wanted.passive]
    rates, _ = limb_motion.joint_rates(statics.mounted, statics.solved, platform)
    result: dict[str, Scalars] = {}
    if passive_friction:
        rows_of_platform = statics.once(
            "through", lambda: [statics.mounted.outward(statics.on_platform(causes)) for causes in passive_friction]
        )
        result["through"] = np.stack([array(row) for row in rows_of_platform])
        result["passive_rate"] = [rates[joint] for joint in wanted.passive]
    if passive_friction and wanted.statics:
        result |= reactions.friction_share(statics, wanted.passive)
    if not wanted.loaded:
        return result
    motion, rows = statics.motion(gravity), COMPONENTS * len(wanted.loaded)

    def loads(wrenches: Sequence[reactions.Wrench]) -> list[Scalar]:
        return [x for joint in wanted.loaded for x in reactions.bearing_components(statics, joint, wrenches[joint])]

    def loads_of_units(kind: reactions.UnitCause, numbers: Iterable[int]) -> Array:
        return statics.once(
            ("loads", kind), lambda: from_columns([loads(statics.unit_wrenches(kind, k)) for k in numbers], rows)
        )

    result["load_own"] = loads(statics.joint_wrenches(motion))
    result["load_driven"] = loads_of_units("actuator", range(len(motion.actuators)))
    result["load_redundant"] = loads_of_units("multiplier", range(statics.redundant_count))
    if passive_friction:
        result["load_friction"] = loads_of_units("friction", wanted.passive)
    return result
