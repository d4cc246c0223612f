"""Ways of the independent joints of a chain, and where a sample is on one of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, product

from robots.model import Limb
from tasks.kernels.types import Mask, Scalar, Scalars
from tasks.mathematics.algebra import every, where
from tasks.mechanics.continuation.steps import chosen

MANY = 3  # independent joints up to which all combinations of their two ways round are tried


@dataclass(frozen=True)
class Route:
    """A way of independent joints from the reference configuration: which go the other way round, and in which order.

    legs: for each joint from which to which share of the whole way it moves.
    """

    other_way: tuple[bool, ...]
    legs: tuple[tuple[float, float], ...]

    @property
    def corners(self) -> list[float]:
        """Shares of the way at which some joint begins or ends to move, but for 0; ascending."""
        return sorted({share for leg in self.legs for share in leg} - {0.0})


def routes(limb: Limb, joints: Sequence[int]) -> list[Route]:
    """Ways that are tried, in order: straight, the other way round, and one kind of joints or one joint after another.

    The straight way may leave what loops can reach, at a hole or a corner; which others lead around it is not known.
    """
    count, together = len(joints), (0.0, 1.0)
    usual = (False,) * count
    result = [Route(usual, (together,) * count)]
    # where a screw counts turns, those of its drive are no other way to the same place
    round_about = [limb.links[joint].joint_kind.periodic and not limb.winds for joint in joints]
    if sum(round_about) <= MANY:
        turns = [flips for flips in product((False, True), repeat=count) if any(flips)]
    else:
        turns = [tuple(k == i for i in range(count)) for k in range(count)]
    result += [
        Route(flips, (together,) * count)
        for flips in sorted(turns, key=sum)
        if all(periodic or not flip for periodic, flip in zip(round_about, flips, strict=True))
    ]
    turning = [limb.links[joint].joint_kind.turns for joint in joints]
    orders = [[[k for k in range(count) if turning[k]], [k for k in range(count) if not turning[k]]]]
    if count <= MANY + 1:
        orders += [[[k] for k in range(count)], *([[j], [k for k in range(count) if k != j]] for j in range(count))]
    for order in orders:
        for groups in (order, order[::-1]):
            if all(groups) and count > 1:
                shares = {k: (i / len(groups), (i + 1) / len(groups)) for i, group in enumerate(groups) for k in group}
                result.append(Route(usual, tuple(shares[k] for k in range(count))))
    return list(dict.fromkeys(result))


@dataclass(frozen=True)
class LoopPath:
    """Where a sample is: numbers of the dependent joints and of the blocks there, and what the next round tries."""

    states: Scalars
    reached: Scalars
    """Positions of the independent joints at the end."""
    step: Scalars
    inverse: Scalars
    place: Scalar
    """Share of the way that the independent joints have gone."""
    stride: Scalar
    """How far they go on in the next round with `step`; 0 where they wait for the dependent ones."""
    share: Scalar
    """Of step and stride, after steps that were too long."""
    most: Scalar
    """The longest stride that is tried next."""
    route: Scalar
    fresh: Scalar
    """1 at the beginning of a route."""
    rounds: Scalar
    found: Scalar
    """1 where the independent joints are where they are wanted."""

    def flat(self) -> list[Scalar]:
        """All numbers."""
        single = (
            self.place,
            self.stride,
            self.share,
            self.most,
            self.route,
            self.fresh,
            self.rounds,
            self.found,
        )
        return [*self.states, *self.reached, *self.step, *self.inverse, *single]

    @classmethod
    def of(cls, flat: Sequence[Scalar], sizes: tuple[int, int, int, int]) -> LoopPath:
        """The same from all numbers, and from how many there are of the first four."""
        a, b, c, d = accumulate(sizes)
        return cls(flat[:a], flat[a:b], flat[b:c], flat[c:d], *flat[d:])


@dataclass(frozen=True)
class Ways:
    """Where independent joints of loops are to go, within half a turn where full turns lead back, by several routes."""

    limb: Limb
    targets: dict[int, Scalar]
    routes: Sequence[Route]

    def _is(self, number: Scalar, routes: Sequence[int]) -> Mask:
        """Whether a route is one of these."""
        result: Scalar = 0.0
        for k in routes:
            result = result + where(abs(number - float(k)) < 0.5, 1.0, 0.0)
        return result > 0.5

    def at(self, number: Scalar, place: Scalar) -> dict[int, Scalar]:
        """Positions of the joints some way along a route; their targets themselves, or a turn from them, at its end."""
        result = {}
        for i, (joint, target) in enumerate(self.targets.items()):
            legs: dict[tuple[float, float], list[int]] = {}
            for k, route in enumerate(self.routes):
                legs.setdefault(route.legs[i], []).append(k)
            share: Scalar = place
            for (begin, end), numbers in legs.items():
                if (begin, end) != (0.0, 1.0):
                    part = (place - begin) * (1.0 / (end - begin))
                    part = where(part < 0.0, 0.0, where(part > 1.0, 1.0, part))
                    share = where(self._is(number, numbers), part, share)
            flipped = [k for k, route in enumerate(self.routes) if route.other_way[i]]
            goal: Scalar = target
            if flipped:
                other = target - where(target < 0.0, -2.0 * math.pi, 2.0 * math.pi)
                goal = where(self._is(number, flipped), other, target)
            result[joint] = where(place >= 1.0, goal, goal * share)
        return result

    def rest(self, number: Scalar, place: Scalar) -> Scalar:
        """How much of the way is left to the next corner of a route."""
        result: Scalar = 1.0 - place
        corners: dict[float, list[int]] = {}
        for k, route in enumerate(self.routes):
            for corner in route.corners[:-1]:
                corners.setdefault(corner, []).append(k)
        for corner in sorted(corners, reverse=True):
            ahead = every([self._is(number, corners[corner]), place < corner - 1e-9])
            result = where(ahead, corner - place, result)
        return result


def longest_turn(limb: Limb, step: dict[int, Scalar]) -> Scalar:
    """The longest turn of some joints in a step [rad]."""
    longest: Scalar = 0.0
    for joint, value in step.items():
        if limb.links[joint].joint_kind.turns:
            longest = where(abs(value) > longest, abs(value), longest)
    return longest


def either_way(mask: Mask, path: LoopPath, other: LoopPath) -> list[Scalar]:
    """Numbers of a path where the mask holds, else of another."""
    return chosen(mask, path.flat(), other.flat())
