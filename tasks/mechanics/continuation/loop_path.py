"""Ways of the independent joints of a chain, and where a sample is on one of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, permutations, product

from robots.model import Limb
from tasks.kernels.types import Mask, Scalar, Scalars
from tasks.mathematics.algebra import every, sqrt, where
from tasks.mechanics.continuation.aside import Aside

MANY = 3  # independent joints up to which all combinations of their two ways round are tried, and ways that turn aside


@dataclass(frozen=True)
class Route:
    """A way of independent joints from the reference configuration: which go the other way round, and in which order.

    legs: for each joint from which to which share of the whole way it moves. opened: no way, but whether loops that are
    opened can be closed at its end. aside: turns aside, from which joint to which.
    """

    other_way: tuple[bool, ...]
    legs: tuple[tuple[float, float], ...]
    opened: bool = False
    aside: tuple[int, int] | None = None

    @property
    def corners(self) -> list[float]:
        """Shares of the way at which some joint begins or ends to move, but for 0; ascending."""
        return sorted({share for leg in self.legs for share in leg} - {0.0})


def routes(limb: Limb, joints: Sequence[int]) -> list[Route]:
    """Ways that are tried, in order: straight, the other way round, and one kind of joints or one joint after another.

    The straight way may leave what loops can reach, at a hole or a corner; which others lead around it is not known.
    Last come ways that turn aside, which are long: only to where loops can be closed somehow, once they are opened.
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
    other_ways = [
        flips
        for flips in sorted(turns, key=sum)
        if all(periodic or not flip for periodic, flip in zip(round_about, flips, strict=True))
    ]
    result += [Route(flips, (together,) * count) for flips in other_ways]
    turning = [limb.links[joint].joint_kind.turns for joint in joints]
    orders = [[[k for k in range(count) if turning[k]], [k for k in range(count) if not turning[k]]]]
    if count <= MANY + 1:
        orders += [[[k] for k in range(count)], *([[j], [k for k in range(count) if k != j]] for j in range(count))]
    for order in orders:
        for groups in (order, order[::-1]):
            if all(groups) and count > 1:
                shares = {k: (i / len(groups), (i + 1) / len(groups)) for i, group in enumerate(groups) for k in group}
                result.append(Route(usual, tuple(shares[k] for k in range(count))))
    if 1 < count <= MANY:
        result.append(Route(usual, (together,) * count, opened=True))
        planes = sorted(permutations(range(count), 2), key=lambda plane: not (turning[plane[0]] and turning[plane[1]]))
        result += [Route(flips, (together,) * count, aside=plane) for flips in (usual, *other_ways) for plane in planes]
    return list(dict.fromkeys(result))


@dataclass(frozen=True)
class LoopPath:
    """Where a sample is: numbers of the dependent joints and of the blocks there, and what the next round tries."""

    states: Sequence[Scalar]
    reached: Scalars
    """Numbers of the independent joints at the end."""
    step: Scalars
    inverse: Scalars
    aside: Sequence[Scalar]
    """Numbers of `Aside`, of chains with routes that turn aside."""
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
        return [*self.states, *self.reached, *self.step, *self.inverse, *self.aside, *single]

    @classmethod
    def of(cls, flat: Sequence[Scalar], sizes: tuple[int, int, int, int, int]) -> LoopPath:
        """The same from all numbers, and from how many there are of the first five."""
        a, b, c, d, e = accumulate(sizes)
        return cls(flat[:a], flat[a:b], flat[b:c], flat[c:d], flat[d:e], *flat[e:])


@dataclass(frozen=True)
class Ways:
    """Where independent joints of loops are to go, within half a turn where full turns lead back, by several routes."""

    limb: Limb
    targets: dict[int, Scalar]
    routes: Sequence[Route]
    size: Scalar
    """A length of the loops [m]."""

    @property
    def opened(self) -> int:
        """Number of the route that is none, but tells whether loops can be closed."""
        return next((k for k, route in enumerate(self.routes) if route.opened), len(self.routes))

    @property
    def asides(self) -> list[int]:
        """Numbers of the routes that turn aside."""
        return [k for k, route in enumerate(self.routes) if route.aside]

    def after(self, number: Scalar, converged: Mask) -> Scalar:
        """Number of the route that is tried next; those that turn aside only where loops can be closed somehow."""
        if not self.asides:
            return number + 1.0
        first = float(self.asides[0])
        result = where(
            every([number + 1.0 > self.opened - 0.5, number < self.opened - 0.5, converged]), first, number + 1.0
        )
        return where(self.of_kind(number, [self.opened]), float(len(self.routes)), result)

    def of_kind(self, number: Scalar, routes: Sequence[int]) -> Mask:
        """Whether a route is one of those with these numbers."""
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
                    share = where(self.of_kind(number, numbers), part, share)
            flipped = [k for k, route in enumerate(self.routes) if route.other_way[i]]
            goal: Scalar = target
            if flipped:
                other = target - where(target < 0.0, -2.0 * math.pi, 2.0 * math.pi)
                goal = where(self.of_kind(number, flipped), other, target)
            result[joint] = where(place >= 1.0, goal, goal * share)
        return result

    def turned(self, number: Scalar, aside: Aside) -> tuple[list[Scalar], Scalar]:
        """The next move of the joints on a route that turns aside, and how far they are from the end."""
        goals = self.at(number, 1.0)
        weights = [1.0 if self.limb.links[joint].joint_kind.turns else 1.0 / self.size for joint in self.targets]
        ahead = [(goals[j] - x) * w for j, x, w in zip(self.targets, aside.at, weights, strict=True)]
        left = sqrt(sum(x * x for x in ahead))
        share = aside.length / where(left > aside.length, left, aside.length)
        straight = [x * share for x in ahead]
        cos, sin = aside.direction()
        moves = list(straight)
        for plane in dict.fromkeys(route.aside for route in self.routes if route.aside):
            in_plane = self.of_kind(number, [k for k, route in enumerate(self.routes) if route.aside == plane])
            a, b = plane
            moves[a] = where(in_plane, cos * straight[a] - sin * straight[b], moves[a])
            moves[b] = where(in_plane, sin * straight[a] + cos * straight[b], moves[b])
        return [x / w for x, w in zip(moves, weights, strict=True)], left

    def rest(self, number: Scalar, place: Scalar) -> Scalar:
        """How much of the way is left to the next corner of a route."""
        result: Scalar = 1.0 - place
        corners: dict[float, list[int]] = {}
        for k, route in enumerate(self.routes):
            for corner in route.corners[:-1]:
                corners.setdefault(corner, []).append(k)
        for corner in sorted(corners, reverse=True):
            ahead = every([self.of_kind(number, corners[corner]), place < corner - 1e-9])
            result = where(ahead, corner - place, result)
        return result


def longest_turn(limb: Limb, step: dict[int, Scalar]) -> Scalar:
    """The longest turn of some joints in a step [rad]."""
    longest: Scalar = 0.0
    for joint, value in step.items():
        if limb.links[joint].joint_kind.turns:
            longest = where(abs(value) > longest, abs(value), longest)
    return longest
