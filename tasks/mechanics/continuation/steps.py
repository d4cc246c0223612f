"""Steps and routes of the continuation of limbs and chains, for one sample.

The routes to a pose are tried one after the other: each has its first motion of the limb's first joint, or of its
platform. Where no straight route leads on, the independent joints of a chain turn aside before singularities of the
loops. At each step the joints head for their wanted positions. If the step leads too near to a singularity, its
direction is turned by the next of some angles, always to the same hand in a plane of two joints. If no angle helps,
steps become shorter. So a route slides along the boundary of the region that loops can reach, and through its necks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate, pairwise, permutations, product
from typing import NamedTuple, Self

import numpy as np

from robots.data_classes import dataclass, replace
from robots.model import Limb
from tasks.kernels.expression import Array, Dual, Mask, Scalar, Scalars
from tasks.mathematics.algebra import array, atan2, dot, either, every, largest, opposite, sincos, sqrt, total, where
from tasks.mechanics.kinematics import JointState, Pose, unpacked

SMALL_CHANGE = 0.8  # largest relative change of a matrix in a step; with 1 a singularity could lie between its ends
TURN_LIMIT = 0.5  # largest turn of a joint in a step [rad]
GROWTH = 1.5  # factor of the share of a Newton step after an accepted step
LEAST_SHARE = 1.0 / 256.0  # least share of a Newton step: with a smaller share the path ends
LEAST_STRIDE = 1e-5
NEARLY_CLOSED = 1e-4  # largest residual, relative to the limb, with which the way continues
SAME = Dual(1e-6, 1e-3)  # difference of joint states that counts as rounding


def packed(limb: Limb, states: Sequence[JointState]) -> list[Scalar]:
    """Return the numbers that the states of all joints of a tree are made of."""
    return [x for link, state in zip(limb.links, states, strict=True) for x in state.packed(link)]


def apart(limb: Limb, joints: Iterable[int], p: Scalars, q: Scalars, size: Scalar) -> Scalar:
    """Return the sum of differences of the numbers of some joints; of slides as shares of a size [m]."""
    kinds, one = (limb.links[joint].joint_kind for joint in joints), 1.0 / size
    units = [unit for kind in kinds for unit in ([1.0] * 2 if kind.periodic else [1.0 if kind.turns else one])]
    return total([(x - y) * unit for x, y, unit in zip(p, q, units, strict=True)])


def unpacked_states(limb: Limb, flat: Sequence[Scalar]) -> list[JointState]:
    """Return the states of the next numbers, as `packed` gives them."""
    values = iter(flat)
    return [unpacked(link, values) for link in limb.links]


def relative_change(inverse: Array, matrix: Array, weights: Sequence[Scalar]) -> Scalar:
    """Compute the change of a matrix since it had this inverse: a dimensionless norm.

    weights: factors of the variables of its columns that make them dimensionless.
    """
    product = inverse @ matrix
    most: Scalar = 0.0
    for i, w in enumerate(weights):
        row: Scalar = 0.0
        for j, v in enumerate(weights):
            entry = product[i, j] - (1.0 if i == j else 0.0)
            row = row + abs(entry if w is v or w == v else entry * (w / v))
        most = where(row > most, row, most)
    return most


def chosen(mask: Mask, x: Scalars, y: Scalars) -> list[Scalar]:
    """Return the elements of x where the mask is true, else of y."""
    return [where(mask, p, q) for p, q in zip(x, y, strict=True)]


class FlatState:
    """State of a sample in a loop of the kernel: lists of numbers, then single numbers, in the order of its fields."""

    def flat(self) -> list[Scalar]:
        """Return all numbers, one after the other."""
        return [
            x
            for part in vars(self).values()
            for x in (part if isinstance(part, list | tuple | np.ndarray) else (part,))
        ]

    @classmethod
    def of(cls, flat: Sequence[Scalar], sizes: Sequence[int]) -> Self:
        """Return the state from all numbers, and from how many there are in each list."""
        ends = list(accumulate(sizes, initial=0))
        return cls(*(flat[start:end] for start, end in pairwise(ends)), *flat[ends[-1] :])


class Start(NamedTuple):
    """Another way from the reference pose, in cylindrical coordinates about the axis of the first joint."""

    height: bool
    """True if the tips are first brought to the height of the platform along that axis."""
    beyond: float | None
    """Angle by which the first joint then turns the limb beyond the direction of the platform [rad]; None: no turn."""
    straight: bool = False
    """True if the independent joints go straight to their wanted positions, which are known except for the branch."""
    turning: tuple[float, float] | None = None
    """Parts of the way between which the platform turns; None: it has its target orientation from the beginning."""
    moving: tuple[float, float] | None = None
    """The same of how it moves."""


LEVELLING = 40  # rounds in which tips are brought to their height
STARTS = (
    Start(False, None),
    Start(False, None, straight=True),
    Start(False, 0.0),
    Start(True, 0.0),
    Start(True, None),
    Start(True, 0.8),
    Start(True, -0.8),
)
ROUTES = (
    Start(False, None, turning=(0.0, 1.0), moving=(0.0, 1.0)),
    Start(False, None, turning=(0.0, 0.6), moving=(0.6, 1.0)),
    Start(False, None, turning=(0.4, 1.0), moving=(0.0, 0.4)),
)
"""Ways of a platform that turns, which Newton's path does not do evenly: both at once, or one after the other."""


@dataclass(frozen=True)
class Way:
    """The way of a platform that turns, from its reference pose to its target: a rotation and a translation."""

    home: Pose
    wanted: Pose

    @cached_property
    def turn(self) -> tuple[Array, Scalar]:
        """Axis in the platform and angle of the turn [rad]; any axis where it does not turn."""
        r = self.home.rotation.T @ self.wanted.rotation
        twice = array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])
        size = sqrt(dot(twice, twice))
        some = size > 1e-12
        axis = [where(some, x / where(some, size, 1.0), float(k == 2)) for k, x in enumerate(twice)]
        return array(axis), atan2(size, r[0, 0] + r[1, 1] + r[2, 2] - 1.0)

    def at(self, turned: Scalar, moved: Scalar) -> Pose:
        """Return the pose some shares of the way; exactly the wanted one at its end."""
        axis, angle = self.turn
        sine, cosine = sincos(angle * turned)
        rotation = self.home.rotation @ about(axis, cosine, sine)
        position = self.home.position + (self.wanted.position - self.home.position) * moved
        arrived = every([turned >= 1.0, moved >= 1.0])
        return Pose(
            np.reshape(array(chosen(arrived, list(self.wanted.rotation.ravel()), list(rotation.ravel()))), (3, 3)),
            array(chosen(arrived, list(self.wanted.position), list(position))),
        )


def about(axis: Array, cosine: Scalar, sine: Scalar) -> Array:
    """Return the rotation (3, 3) about a unit vector: Rodrigues' formula."""
    x, y, z = axis
    skew = array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + skew * sine + (skew @ skew) * (1.0 - cosine)


ANGLES = tuple(math.radians(degrees) for degrees in (0.0, 30.0, 60.0, 88.0, 130.0))
LONGEST = 0.05  # step [rad, or in sizes of the loops]
SHORTEST = 0.0005
NEAR_END = 0.1  # remaining way below which singularities may be near, as the end may be close to one
SHRINKING = 0.7  # least remaining share of the determinant of a block after a step, so that its loops can be closed
LEAST_ROOM = 0.1  # determinant of a block, relative to the reference configuration, below which steps lead no nearer


@dataclass(frozen=True)
class Aside(FlatState):
    """State of a sample on a way that turns aside."""

    at: Scalars
    """Positions of the independent joints in loops."""
    slopes: Scalars
    """Dependent joints over these, row by row."""
    volumes: Scalars
    """Determinants of all blocks."""
    angle: Scalar
    """Angle by which the next step is turned [rad]."""
    length: Scalar
    """Length of the next step."""
    going: Scalar
    """1 where the independent joints go in the next round, 0 where they wait for the dependent ones."""

    @classmethod
    def beginning(cls, sizes: tuple[int, int, int]) -> Aside:
        """Return the state at the reference configuration."""
        at, slopes, volumes = ([0.0] * size for size in sizes)
        return cls(at, slopes, volumes, 0.0, LONGEST, 0.0)

    @property
    def moves(self) -> Mask:
        """Return whether the independent joints move in the next round."""
        return self.going > 0.5

    @property
    def straight(self) -> Mask:
        """Return whether the independent joints head straight for their wanted positions."""
        return self.angle < 0.5

    @property
    def ended(self) -> Mask:
        """Return whether no direction and no shorter step is left."""
        return every([self.moves, self.length < SHORTEST])

    def direction(self) -> tuple[Scalar, Scalar]:
        """Return the cosine and sine of the angle."""
        cos: Scalar = 1.0
        sin: Scalar = 0.0
        for k, angle in enumerate(ANGLES[1:], start=1):
            is_angle = abs(self.angle - float(k)) < 0.5
            cos, sin = where(is_angle, math.cos(angle), cos), where(is_angle, math.sin(angle), sin)
        return cos, sin

    def blocked(self, singular: Mask) -> Aside:
        """Return the state after a rejected step: half the step; near a singularity, first all other directions."""
        last = self.angle > len(ANGLES) - 1.5
        turns = every([self.moves, singular, opposite(last)])
        halved = every([self.moves, opposite(turns)])
        angle = where(turns, self.angle + 1.0, where(every([halved, singular]), 0.0, self.angle))
        return replace(self, angle=angle, length=where(halved, 0.5 * self.length, self.length))

    def onward(self, at: Scalars, slopes: Scalars, volumes: Scalars, onward: Mask) -> Aside:
        """Continue from an accepted step; onward: whether loops are closed there."""
        longer = GROWTH * self.length
        longer = where(longer < LONGEST, longer, LONGEST)
        going = where(onward, 1.0, 0.0)
        return Aside(at, slopes, volumes, 0.0, where(onward, longer, self.length), going)

    def closable(self, volumes: Scalars) -> Mask:
        """Return whether loops can be closed after a step: the determinants of all blocks have shrunk only little."""
        masks = [abs(y) >= SHRINKING * abs(x) for x, y in zip(self.volumes, volumes, strict=True)]
        return either(opposite(self.moves), every(masks))

    def singular(self, volumes: Scalars, home: Scalars, left: Scalar) -> Mask:
        """Return whether a step led too near to a singularity, and nearer than before.

        volumes: determinants of all blocks after the step; home: at the reference configuration; left: way to the
        wanted positions.
        """
        away: list[Mask] = []
        for before, after, at_home in zip(self.volumes, volumes, home, strict=True):
            away.append(either(abs(after) >= LEAST_ROOM * abs(at_home), abs(after) >= abs(before)))
        return every([self.moves, left >= NEAR_END, opposite(every(away))])


MANY = 3  # independent joints up to which all combinations of their two ways round are tried, and ways that turn aside


@dataclass(frozen=True)
class Route:
    """A way of independent joints from the reference configuration: joints with the opposite sense, and their order.

    legs: for each joint, the shares of the whole way between which it moves. opened: the route only tests whether
    opened loops can be closed at its end. aside: the pair of joints in whose plane the route turns aside.
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
    """Return the ways to try, in order: straight, the other way round, joints one after another, by kind or singly.

    The straight way may leave the workspace of the loops, at a hole or a corner; the ways around it are not known in
    advance. The last ways turn aside and are long: they are taken only to targets at which opened loops can be closed.
    """
    count, together = len(joints), (0.0, 1.0)
    usual = (False,) * count
    result = [Route(usual, (together,) * count)]
    # if a screw counts turns, further turns of its drive lead to another configuration
    round_about = [limb.links[joint].joint_kind.periodic and not limb.winds for joint in joints]
    if sum(round_about) <= MANY:
        choices = ((False, True) if each else (False,) for each in round_about)
        turns = [flips for flips in product(*choices) if any(flips)]
    else:
        turns = [tuple(k == i for i in range(count)) for k in range(count) if round_about[k]]
    other_ways = sorted(turns, key=sum)
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
class LoopPath(FlatState):
    """State of a sample on a route: numbers of the dependent joints and of their blocks, and the next trial."""

    states: Sequence[Scalar]
    reached: Scalars
    """Numbers of the independent joints at the end."""
    step: Scalars
    inverse: Scalars
    aside: Sequence[Scalar]
    """Numbers of `Aside`, of chains with routes that turn aside."""
    place: Scalar
    """Share of their way that the independent joints have completed."""
    stride: Scalar
    """Part of the way of the independent joints in the next round with `step`; 0 while they wait for dependent ones."""
    share: Scalar
    """Remaining share of step and stride, after steps that were too long."""
    most: Scalar
    """The longest stride that is tried next."""
    route: Scalar
    fresh: Scalar
    """1 at the beginning of a route."""
    rounds: Scalar
    found: Scalar
    """1 where the independent joints are at their targets."""


@dataclass(frozen=True)
class Ways:
    """Targets of the independent joints of loops, and several routes to them.

    Targets are within half a turn where full turns lead back.
    """

    limb: Limb
    targets: dict[int, Scalar]
    routes: Sequence[Route]
    size: Scalar
    """A length of the loops [m]."""

    @property
    def opened(self) -> int:
        """Number of the route that leads nowhere, but tests whether loops can be closed at the targets."""
        return next((k for k, route in enumerate(self.routes) if route.opened), len(self.routes))

    @property
    def asides(self) -> list[int]:
        """Numbers of the routes that turn aside."""
        return [k for k, route in enumerate(self.routes) if route.aside]

    def after(self, number: Scalar, converged: Mask) -> Scalar:
        """Return the number of the next route to try; routes that turn aside only if loops can be closed at all."""
        if not self.asides:
            return number + 1.0
        first = float(self.asides[0])
        result = where(
            every([number + 1.0 > self.opened - 0.5, number < self.opened - 0.5, converged]), first, number + 1.0
        )
        return where(self.of_kind(number, [self.opened]), float(len(self.routes)), result)

    def of_kind(self, number: Scalar, routes: Sequence[int]) -> Mask:
        """Return whether the number of a route is among these numbers."""
        result: Scalar = 0.0
        for k in routes:
            result = result + where(abs(number - float(k)) < 0.5, 1.0, 0.0)
        return result > 0.5

    def at(self, number: Scalar, place: Scalar) -> dict[int, Scalar]:
        """Return the joint positions some way along a route; at its end the targets, or the targets plus a turn."""
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
                opposite_target = target - where(target < 0.0, -2.0 * math.pi, 2.0 * math.pi)
                goal = where(self.of_kind(number, flipped), opposite_target, target)
            result[joint] = where(place >= 1.0, goal, goal * share)
        return result

    def turned(self, number: Scalar, aside: Aside) -> tuple[list[Scalar], Scalar]:
        """Return the next move of the joints on a route that turns aside, and their distance to the end."""
        goals = self.at(number, 1.0)
        weights = [1.0 if self.limb.links[joint].joint_kind.turns else 1.0 / self.size for joint in self.targets]
        ahead = [(goals[j] - x) * w for j, x, w in zip(self.targets, aside.at, weights, strict=True)]
        norm = sqrt(sum(x * x for x in ahead))
        share = aside.length / where(norm > aside.length, norm, aside.length)
        straight = [x * share for x in ahead]
        cos, sin = aside.direction()
        moves = list(straight)
        for plane in dict.fromkeys(route.aside for route in self.routes if route.aside):
            in_plane = self.of_kind(number, [k for k, route in enumerate(self.routes) if route.aside == plane])
            a, b = plane
            moves[a] = where(in_plane, cos * straight[a] - sin * straight[b], moves[a])
            moves[b] = where(in_plane, sin * straight[a] + cos * straight[b], moves[b])
        return [x / w for x, w in zip(moves, weights, strict=True)], norm

    def rest(self, number: Scalar, place: Scalar) -> Scalar:
        """Return the part of the way that is left to the next corner of a route."""
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
    """Return the longest turn of some joints in a step [rad]."""
    return largest(value for joint, value in step.items() if limb.links[joint].joint_kind.turns)
