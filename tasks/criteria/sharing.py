"""Reactions that statics leaves open, shared as the elasticity of bearings and links asks, for one sample.

Wrenches in the joints of a limb are linear in what is known, motion, actuators and friction, and in the free
multipliers nu of its redundant conditions. With the compliances of its parts its complementary energy is a quadratic
function of these; among the nu that balance the platform, those of the least energy are the ones whose deformations
fit. What comes out has the form of `tasks.mechanics.reactions.share`, whose rule is the least norm instead. Source:
theorem of least work, Menabrea and Castigliano.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.criteria.arms import Arm
from tasks.criteria.kinds import LimbElasticity
from tasks.criteria.strains import Parts, elastic_strains, energy, is_regular, stacked
from tasks.kernels.types import Array
from tasks.mathematics.algebra import array, inverse, where
from tasks.mathematics.symmetric import Factors
from tasks.mechanics.reactions import LimbStatics


@dataclass(frozen=True)
class ElasticSharing:
    """What gives way in a limb, its `numbers`, the case input `elasticity`, and the arms of its links."""

    asked: LimbElasticity
    numbers: Array
    arms: Sequence[Arm]

    def of(self, statics: LimbStatics, gravity: Array, passive: Sequence[int] = ()) -> dict[str, Array]:
        """The share of the limb; see `elastic_share`."""
        return elastic_share(statics, gravity, self.asked, self.numbers, self.arms, passive)


def elastic_share(
    statics: LimbStatics,
    gravity: Array,
    asked: LimbElasticity,
    numbers: Array,
    arms: Sequence[Arm],
    passive: Sequence[int] = (),
) -> dict[str, Array]:
    """`metric`, `wish_passive`, `wish_driven`, and with friction in `passive` joints `wish_friction`, of a limb.

    numbers: the case input `elasticity`. `metric` is NaN where a part of what a limb may carry deforms nothing.
    """
    free = [statics.multiplier(k) for k in range(statics.redundant_count)]
    motion = statics.motion(gravity)
    driven, count = len(motion.actuators), len(free)
    known = [motion, *(statics.actuator(k) for k in range(driven)), *(statics.friction(joint) for joint in passive)]
    if not free:
        result = {"metric": np.zeros((0, 0)), "wish_passive": np.zeros(0), "wish_driven": np.zeros((0, driven))}
        return result | ({"wish_friction": np.zeros((0, len(passive)))} if passive else {})
    causes = [*known, *free]
    parts = Parts(statics, [stacked(statics.joint_wrenches(cause)) for cause in causes])
    lower = energy(elastic_strains(parts, asked, list(numbers[asked.actuators :]), arms), len(causes))
    first = len(known)
    squares = np.array(
        [[lower[first + max(i, j), first + min(i, j)] for j in range(count)] for i in range(count)], dtype=object
    )
    good = is_regular(Factors.of(array(squares)), list(np.diagonal(squares)))
    metric = [[where(good > 0.5, x, np.nan) for x in row] for row in inverse(array(squares))]
    wishes = -array(lower[first:, :first])
    result = {"metric": array(metric), "wish_passive": wishes[:, 0], "wish_driven": wishes[:, 1 : 1 + driven]}
    return result | ({"wish_friction": wishes[:, 1 + driven :]} if passive else {})
