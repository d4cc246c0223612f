"""Friction of a whole robot for one sample: loads and friction that depend on each other, and the actuator forces.

u = u_0 + A tau with A = J_IK^-T G^T: what friction tau in passive joints, whose rates are G V, asks of the actuators.
Their own friction is added to that. The loads of bearings are affine in u, tau and the free multipliers of redundant
rows, see `tasks.friction.joints`; they are iterated with the laws until nothing changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robots.friction_groups import FrictionGroup, JointPlace
from robots.model import Family
from tasks.friction import joints as joint_friction
from tasks.friction.joints import COMPONENTS, JointFriction, LimbFriction
from tasks.kernels.expression import Dual
from tasks.mathematics.algebra import array, iterate, opposite, total, where
from tasks.mechanics import assembly
from tasks.mechanics import reactions as reactions
from tasks.mechanics.structure import structure_of
from tasks.programs import reactions as reaction_programs

Scalar = Any
Array = Any

ITERATIONS = 300
SETTLED = Dual(1e-13, 1e-5)  # change of all friction in a step, relative to its size, at which the iteration ends
ACCURATE = 1e-9  # the same above which it has not settled
TINY = 1e-300


@dataclass(frozen=True)
class Solved:
    """What friction does to a robot.

    forces: of the actuators; net: the same without the actuators' own friction, as the joints get them; friction: of
    every joint in the order of the groups; rubbing: of the passive joints of each limb; residual: how far friction is
    from settled [N m and N]; unsettled: 1 where that is too far.
    """

    forces: Sequence[Scalar]
    net: Sequence[Scalar]
    friction: Sequence[Scalar]
    rubbing: Sequence[Array]
    residual: Scalar
    unsettled: Scalar


def wanted(family: Family, groups: Sequence[FrictionGroup], statics: bool = False) -> tuple[LimbFriction, ...]:
    """What friction asks of each limb of the robot; `statics` if reactions are asked for."""
    return tuple(
        joint_friction.of_limb(groups, k, statics) for k in range(len(structure_of(family).mechanism.instances))
    )


def statics(limbs: Sequence[LimbFriction]) -> bool:
    """Whether friction needs reactions."""
    return any(each.statics for each in limbs)


def inputs(family: Family, groups: Sequence[FrictionGroup]) -> dict[str, tuple[int, ...]]:
    """Sample inputs beside those of the actuators; none where only actuators have friction, of constant load."""
    made, limbs = structure_of(family), wanted(family, groups)
    result: dict[str, tuple[int, ...]] = {}
    passive, loaded = any(each.passive for each in limbs), statics(limbs)
    for k, (instance, each) in enumerate(zip(made.mechanism.instances, limbs, strict=True)):
        driven, redundant = len(made.mechanism.limbs[instance.limb].actuators), made.redundant(instance.limb)
        shapes = each.shapes(made.freedoms, driven, redundant, made.held)
        shapes |= {"jacobian": (driven, made.freedoms)} if passive else {}
        shapes |= reactions.share_shapes(made.held, driven, redundant) if loaded else {}
        result |= {f"{name}_{k}": shape for name, shape in shapes.items()}
    result |= {"history": (len(remembering(groups)),)} if remembering(groups) else {}
    return result | ({"held": (made.held,)} if loaded else {})


def remembering(groups: Sequence[FrictionGroup]) -> list[JointPlace]:
    """Joints whose friction is given, as their law has a state: input `history` has it in this order."""
    return [place for group in groups if group.remembers for place in group.places]


def solve(
    family: Family,
    groups: Sequence[FrictionGroup],
    rubbing: Sequence[JointFriction],
    force: Array,
    velocity: Array,
    given: Mapping[str, Array],
) -> Solved:
    """Friction of all joints and actuator forces, from those without friction."""
    robot = Robot(family, wanted(family, groups), array(force), given)
    passive = [each for each in rubbing if each.place.actuator < 0]
    remembered = remembering(groups)
    rates = {each.place: robot.rate(each.place, velocity) for each in rubbing}

    def law(each: JointFriction, tau: Array) -> Scalar:
        if each.group.remembers:
            return given["history"][remembered.index(each.place)]
        load = each.load(robot.carried(each.place, tau) if each.group.load == "reaction" else None)
        return each.force(rates[each.place], load)

    def friction_of(tau: Array) -> Array:
        made = {each.place: law(each, tau) for each in passive}
        return array([made[place] for place in robot.passive])

    still = np.zeros(len(robot.passive))
    tau, residual, unsettled = (friction_of(still) if passive else still), 0.0, 0.0
    if any(each.group.load == "reaction" for each in passive):
        tau = array(_settled(friction_of, tau))
        last = friction_of(tau)
        residual = total(last - tau)
        unsettled = where(opposite(residual <= ACCURATE * total(last) + TINY), 1.0, 0.0)
    net = robot.forces(tau)
    forces = list(net)
    at = dict(zip(robot.passive, tau, strict=True))
    for each in rubbing:
        if each.place.actuator >= 0:
            at[each.place] = law(each, tau)
            forces[each.place.actuator] = forces[each.place.actuator] + at[each.place]
    friction = [at[each.place] for each in rubbing]
    return Solved(forces, net, friction, [tau[own] for own in robot.own], residual, unsettled)


def _settled(friction_of: Any, start: Array) -> list[Scalar]:
    def step(tau: Sequence[Scalar]) -> tuple[list[Scalar], Any]:
        following = friction_of(array(tau))
        # NaN counts as done: it will not get better
        moving = total(following - array(tau)) > SETTLED * total(following) + TINY
        return list(following), opposite(moving)

    return iterate(step, list(start), ITERATIONS)


class Robot:
    """What friction of passive joints does in a robot, from the shares of its limbs; tau in the order of `passive`."""

    def __init__(self, family: Family, limbs: Sequence[LimbFriction], force: Array, given: Mapping[str, Array]):
        self.made, self.limbs, self.force, self.given = structure_of(family), limbs, force, given
        self.family, self.count = family, len(limbs)
        self.driven = self.made.driven
        sizes = [len(each.passive) for each in limbs]
        self.own = [slice(sum(sizes[:k]), sum(sizes[: k + 1])) for k in range(self.count)]
        self.passive = [JointPlace(k, joint, -1) for k, each in enumerate(limbs) for joint in each.passive]

    def rate(self, place: JointPlace, velocity: Array) -> Scalar:
        """Velocity of a joint with friction."""
        if place.actuator >= 0:
            return velocity[place.actuator]
        return self.given[f"passive_rate_{place.limb}"][self.limbs[place.limb].passive.index(place.joint)]

    @cached_property
    def influence(self) -> Array:
        """A (actuator, passive joint)."""
        jacobian = np.vstack([self.given[f"jacobian_{k}"] for k in range(self.count)])
        through = np.vstack([self.given[f"through_{k}"] for k, each in enumerate(self.limbs) if each.passive])
        weights = self.given.get("weights")
        return array(np.stack([array(assembly.actuator_forces(jacobian, row, weights)) for row in through], axis=1))

    def forces(self, tau: Array) -> Array:
        """Actuator forces without the actuators' own friction."""
        return self.force + self.influence @ tau if len(tau) else self.force

    def carried(self, place: JointPlace, tau: Array) -> Array:
        """What the bearings of a loaded joint carry; see `joint_friction.carried`."""
        k = place.limb
        start = COMPONENTS * self.limbs[k].loaded.index(place.joint)
        rows = slice(start, start + COMPONENTS)
        result = self.given[f"load_own_{k}"][rows]
        if self.made.mechanism.limbs[self.made.mechanism.instances[k].limb].cuts:  # else no force goes round
            result = result + self.given[f"load_driven_{k}"][rows] @ self.forces(tau)[self.driven[k]]
            result = result + self.given[f"load_redundant_{k}"][rows] @ self.multipliers(tau)[k]
        if self.limbs[k].passive:
            result = result + self.given[f"load_friction_{k}"][rows] @ tau[self.own[k]]
        return result

    def multipliers(self, tau: Array) -> list[Array]:
        """Free multipliers of each limb: affine in tau."""
        at_rest, slopes = self._multipliers
        return [a + b @ tau if len(tau) else a for a, b in zip(at_rest, slopes, strict=True)]

    @cached_property
    def _multipliers(self) -> tuple[list[Array], list[Array]]:
        names = (*reactions.SHARES, *(("held_friction", "wish_friction") if self.passive else ()))
        shares = [
            {name: self.given[f"{name}_{k}"] for name in names if f"{name}_{k}" in self.given}
            for k in range(self.count)
        ]
        still = [np.zeros(len(each.passive)) for each in self.limbs]
        at_rest = self._balance(shares, self.force, self.given["held"], still)
        linear = [
            {**s, "held_passive": s["held_passive"] * 0.0, "wish_passive": s["wish_passive"] * 0.0} for s in shares
        ]
        columns = []
        for p, unit in enumerate(np.eye(len(self.passive))):
            rubbing = [unit[own] for own in self.own]
            columns.append(self._balance(linear, self.influence[:, p], self.given["held"] * 0.0, rubbing))
        slopes = [
            array(np.stack([array(column[k]) for column in columns], axis=1)) if columns else np.zeros((0, 0))
            for k in range(self.count)
        ]
        return at_rest, slopes

    def _balance(self, shares: Any, force: Array, held: Array, rubbing: Sequence[Array]) -> list[Array]:
        forces = [array(force[driven]) for driven in self.driven]
        carried = reaction_programs.carried(self.family)
        return reactions.redundant_multipliers(shares, forces, array(held), carried, rubbing)[0]
