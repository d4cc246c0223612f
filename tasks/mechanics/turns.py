"""Full turns of the joints that loops move, counted from the reference configuration of a chain, for one sample.

A solution of loops gives the position of a revolute joint within a turn. Springs, limits and gears depend on all of its
turns, which follow from the independent joints alone. The independent joints are moved from the reference configuration
in a straight line to their positions within half a turn, then each joint through its full turns. One full turn of each
is followed, as all its turns have the same effect. So a sample does not depend on samples before it, and not on the
cutting of a motion. Turns are not known if a singularity is on the way, or if a full turn does not lead back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np

from robots.data_classes import dataclass, replace
from robots.model import Limb
from tasks.kernels.expression import Array, Dual, Mask, Scalar
from tasks.mathematics.algebra import array, either, every, iterate, largest, opposite, total, where
from tasks.mechanics.kinematics import JointState, state_at
from tasks.mechanics.limb_choice import LimbChoice
from tasks.mechanics.loops import Embedding

STRIDE = 0.2  # largest displacement of a joint in a step [rad, or share of a length of the loops]
NEARLY = 0.05  # largest correction of a joint with which the way continues, in the same units
STEPS = 400  # largest number of steps of a way, in which a joint turns twelve times
WHOLE = Dual(1e-6, 1e-2)  # difference from a whole turn that counts as rounding [turn]
FULL_TURN = 2.0 * math.pi

Positions = dict[int, Scalar]
"""Positions of joints by their index [rad or m]."""


def dependent_joints(choice: LimbChoice) -> list[int]:
    """Return the joints that loops move, in the order of the clusters."""
    return [joint for cluster in choice.clusters for joint in cluster.dependent]


def counted_joints(limb: Limb, choice: LimbChoice) -> list[int]:
    """Return joints moved by loops for which a full turn leads back: a solution does not tell their turns."""
    return [joint for joint in dependent_joints(choice) if limb.links[joint].joint_kind.periodic]


@dataclass(frozen=True, eq=False)
class Turns:
    """Turns of the counted joints of a chain at the `states` that solve its loops.

    `start`: the loops at the reference configuration; `targets`: positions of the independent joints that loops
    contain, with all their turns; `size`: a length of the loops [m]; `closed`: the sum of residuals from which they
    count as closed.
    """

    start: Embedding
    states: Sequence[JointState]
    targets: Mapping[int, Scalar]
    size: Scalar
    closed: Scalar
    cuts: tuple[int, ...] = ()
    """Loops whose cut joints are counted as well, by their number."""

    @cached_property
    def with_cuts(self) -> Turns:
        """The same with all cut joints that turn about one axis."""
        loops = enumerate(self.start.limb.loops)
        return replace(
            self, cuts=tuple(k for k, cut in loops if cut.joint_kind.one_variable and cut.joint_kind.periodic)
        )

    @cached_property
    def counted(self) -> list[int]:
        """The joints whose turns are counted."""
        return counted_joints(self.start.limb, self.start.choice)

    @property
    def known(self) -> Mask:
        """Return whether the turns are known."""
        return self._found[1]

    def position(self, joint: int) -> Scalar:
        """Return the position of a counted joint with all its turns [rad]; NaN if the turns are not known."""
        turns, is_known = self._found
        return where(is_known, self._within[joint] + turns[joint] * FULL_TURN, np.nan)

    def position_or_within(self, joint: int) -> Scalar:
        """Return the same; within half a turn of the reference where turns are not known."""
        turns, is_known = self._found
        return self._within[joint] + where(is_known, turns[joint], 0.0) * FULL_TURN

    def cut_position(self, loop: int) -> Scalar:
        """Return the position of the cut joint of a loop, turns counted as in `position_or_within`."""
        return self.position_or_within(self._place_of_cut(loop))

    def _place_of_cut(self, loop: int) -> int:
        return len(self.start.limb.links) + loop

    @cached_property
    def _within(self) -> Positions:
        """Positions within half a turn of the reference; cut joints have numbers after the joints of the tree."""
        links, here = self.start.limb.links, self._at({})
        result = {joint: self.states[joint].position(links[joint]) for joint in self.counted}
        return result | {self._place_of_cut(k): here.loops[k].joined.position() for k in self.cuts}

    @cached_property
    def _found(self) -> tuple[Positions, Mask]:
        """Turns of the counted joints, and whether they are known."""
        whole, within = self._whole_turns(), self._within
        nearest = {joint: value - whole.get(joint, 0.0) * FULL_TURN for joint, value in self.targets.items()}
        home: Positions = dict.fromkeys(dependent_joints(self.start.choice), 0.0)
        home |= {self._place_of_cut(k): self.start.loops[k].joined.position() for k in self.cuts}
        reached, is_known = self._followed(home, dict.fromkeys(self.targets, 0.0), nearest)
        result = {}
        for joint in within:
            result[joint], is_known = _whole((reached[joint] - within[joint]) * (1.0 / FULL_TURN), is_known)
        for joint, count in whole.items():
            none = abs(count) < 0.5
            turned = {**nearest, joint: nearest[joint] + where(count < 0.0, -FULL_TURN, FULL_TURN)}
            after, leads_back = self._followed(reached, nearest, turned, none)
            for other in within:
                wound, leads_back = _whole((after[other] - reached[other]) * (1.0 / FULL_TURN), leads_back)
                result[other] = result[other] + where(none, 0.0, wound * abs(count))
            is_known = every([is_known, either(none, leads_back)])
        return result, is_known

    def _whole_turns(self) -> Positions:
        """Return the full turns of the moved joints; zero if a screw counts them, as no turn leads back then."""
        limb = self.start.limb
        periodic = [joint for joint in self.targets if limb.links[joint].joint_kind.periodic and not limb.winds]
        ratios: dict[int, Any] = {joint: self.targets[joint] * (1.0 / FULL_TURN) for joint in periodic}
        return {joint: np.rint(ratio) for joint, ratio in ratios.items()}

    def _followed(
        self, begin: Positions, start: Mapping[int, Scalar], end: Mapping[int, Scalar], skip: Mask = False
    ) -> tuple[Positions, Mask]:
        """Return follower positions after a straight move of the moved joints, and whether the followers get there.

        `begin`: initial positions of the followers, dependent and cut joints.
        """
        moves, followers = {joint: end[joint] - start[joint] for joint in start}, list(begin)
        joints = dependent_joints(self.start.choice)

        def step(flat: Sequence[Scalar]) -> tuple[list[Scalar], Mask]:
            values, place = dict(zip(joints, flat, strict=False)), flat[-2]
            embedding = self._at({**values, **{j: start[j] + move * place for j, move in moves.items()}})
            along, closing = self._directions(embedding, moves), embedding.correction()
            share = STRIDE / _at_least(self._longest({**moves, **{j: along[j] for j in joints}}), STRIDE)
            back, distance = self._longest({j: closing[j] for j in joints}), 1.0 - place
            share = where(back > NEARLY, 0.0, where(share < distance, share, distance))
            eased = STRIDE / _at_least(back, STRIDE)
            following = [values[j] + (along[j] * share + closing[j] * eased) for j in joints]
            before = zip(self.cuts, flat[len(joints) : -2], strict=True)
            following += [_nearest(embedding.loops[k].joined.position(), value) for k, value in before]
            regular = self._regular(embedding)  # NaN is not
            arrived = every([regular, place >= 1.0, total(embedding.residuals(self.size)) <= self.closed])
            place = where(share < distance, place + share, 1.0)
            return [*following, place, where(arrived, 1.0, 0.0)], either(arrived, opposite(regular))

        initial: Sequence[Scalar] = [*begin.values(), 0.0, 0.0]
        if skip is False:  # the reference configuration is numbers where a robot has no parameters
            initial, _ = step(initial)
        flat = iterate(step, initial, STEPS, skip)
        return dict(zip(followers, flat, strict=False)), flat[-1] > 0.5

    def _at(self, positions: Positions) -> Embedding:
        """Return the loops with some joints at these positions."""
        limb, states = self.start.limb, list(self.states)
        for joint, value in positions.items():
            states[joint] = state_at(limb.links[joint], value)
        return Embedding.of(limb, self.start.choice, states)

    def _directions(self, embedding: Embedding, moves: Mapping[int, Scalar]) -> Array:
        """Return the moves of all joints of the tree for these moves of independent ones."""
        place = {joint: k for k, joint in enumerate(embedding.choice.independent)}
        changes = np.array(np.zeros(len(place)), dtype=object)
        for joint, move in moves.items():
            changes[place[joint]] = move
        return array(embedding.matrix @ array(changes))

    def _longest(self, step: Mapping[int, Scalar]) -> Scalar:
        """Return the longest move of a joint [rad, or share of the length of the loops]."""
        links = self.start.limb.links
        return largest(
            value if links[joint].joint_kind.turns else abs(value) / self.size for joint, value in step.items()
        )

    def _regular(self, embedding: Embedding) -> Mask:
        """Return whether every block of the matrix of dependent joints keeps its sign.

        The sign is that at the reference configuration.
        """
        pairs = zip(embedding.clusters, self.start.clusters, strict=True)
        blocks = [both for now, first in pairs for both in zip(now.regular_blocks, first.regular_blocks, strict=True)]
        return every([block.determinant * home.determinant > 0.0 for block, home in blocks])


def _whole(turns: Scalar, is_known: Mask) -> tuple[Scalar, Mask]:
    """Return the nearest whole number of turns, and whether it is known and equal to the turns."""
    nearest = np.rint(cast(Any, turns))  # calls the method of a symbol
    return nearest, every([is_known, abs(turns - nearest) < WHOLE])


def _nearest(angle: Scalar, before: Scalar) -> Scalar:
    """Return the angle plus the full turns that bring it nearest to a previous angle."""
    turns: Any = (before - angle) * (1.0 / FULL_TURN)  # `np.rint` calls the method of a symbol
    return angle + np.rint(turns) * FULL_TURN


def _at_least(value: Scalar, bound: Scalar) -> Scalar:
    return where(value > bound, value, bound)
