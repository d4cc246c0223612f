"""Loops closed numerically: from rough positions of joints to a reference pose in which all joints meet.

Positions are found once, for the defaults of the parameters; kernels start from them for other values. The conditions
are the closure conditions of `tasks.mechanics.kinematics`, in plain numbers. Source: damped least squares, Levenberg
1944.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property

import numpy as np

from robots import geometry
from robots.data_classes import dataclass, replace
from robots.formats.checks import Pose, joined
from robots.joint_kinds import JOINT_KINDS, X, Y, Z
from robots.model import PLATFORM, Closure, Frame, Instance, Limb, Link, Mechanism
from robots.types import BASE, Matrix

CLOSED = 1e-12
"""Residual [m, or cosine] of closed loops; a smaller one is left, so that written files are read back unchanged."""

STEPS, SPREAD = 300, 0.05
ASSEMBLED = 1e-9
"""Residuals [m, or cosine] of loops that count as closed."""
ASIDE = (0.1, 0.2, 0.4, 0.7, 1.0, 1.4)
"""Distances of further initial guesses from the rough positions [rad or m]."""
PATIENCE = 20
"""Steps from other guesses without gaining a thousandth, after which they lead nowhere."""
RANK = 1e-8
LEVER = 0.3
"""Length [m] that weighs turns against gaps while loops are far from closed."""

Ends = tuple[dict[int, Pose], list[tuple[Closure, Pose, Pose]]]
"""Poses of bodies by their numbers, and cut joints with the poses of both sides."""


@dataclass(frozen=True)
class Setting:
    """A limb in numbers, its mount frames, and the pose of the platform.

    With `counted`, followers are zero where their leaders are zero, so that they have to keep their ratios; for rough
    positions of a file, followers are held instead. With `towards`, the axes of both sides of a cut joint have to point
    in the same direction.
    """

    limb: Limb
    instance: Instance
    home: Frame
    counted: bool = False
    towards: bool = False

    def poses(self, values: np.ndarray) -> dict[int, Pose]:
        """Return the poses of the bodies for positions of the joints of the tree."""
        return self._poses(values, range(len(self.limb.links)))

    def _poses(self, values: np.ndarray, bodies: Iterable[int]) -> dict[int, Pose]:
        """Return the poses of `bodies`, which have parents before children."""
        at, (turns, slides), links = dict(self._mounts), self._moves, self.limb.links
        angles, ways = (values * turns).tolist(), self._axes * (values * slides)[:, None]
        for k in bodies:
            rotation, position = at[links[k].parent]
            turn, place = self._placements[k]
            rotation, position = rotation @ turn, position + rotation @ place
            (name, sign), angle = self._named[k], angles[k]
            turned: np.ndarray = np.array(geometry.about(name, math.cos(angle), sign * math.sin(angle)))
            at[k] = rotation @ turned, position + rotation @ ways[k] if slides[k] else position
        return at

    def residual(self, values: np.ndarray) -> np.ndarray:
        """Compute the residuals of all conditions of all cut joints.

        With `counted` the residuals of the couplings follow, with `towards` the residuals of directions of shared axes.
        """
        ends, kept = self._ends(values)[1], list[float]()
        for follower, leaders in self.limb.followers.items() if self.counted else ():
            kept.append(float(values[follower] - sum(float(ratio) * values[leader] for leader, ratio in leaders)))
        kept += [cosine - 1.0 for cosine in _cosines(ends)] if self.towards else []
        return np.array([*(x for cut, a, b in ends for x in conditions(cut, a, b)), *kept])

    def facing(self, values: np.ndarray) -> bool:
        """Return whether the axes that both ends of a cut joint share point the same way.

        The conditions of a cut joint do not decide this.
        """
        return all(cosine > 0.0 for cosine in _cosines(self._ends(values)[1]))

    def widest(self, values: np.ndarray) -> str:
        """Return the cut joint that is furthest from closed."""
        return max(self._ends(values)[1], key=lambda end: max(map(abs, conditions(*end))))[0].joint

    def slopes(self, values: np.ndarray) -> np.ndarray:
        """Compute the derivatives (conditions, joints) of the residual over the joints."""
        at, ends = self._ends(values)
        speeds = self._speeds(at, ends)
        rows = [row for end, speed in zip(ends, speeds, strict=True) for row in _slopes(*end, speed)]
        for follower, leaders in self.limb.followers.items() if self.counted else ():
            row = np.zeros(len(values))
            row[follower] += 1.0
            for leader, ratio in leaders:
                row[leader] -= float(ratio)
            rows.append(row)
        for (cut, (r_a, _), (r_b, _)), (turning, _) in zip(ends, speeds, strict=True) if self.towards else ():
            rows += [_cross(r_b[:, axis], r_a[:, axis]) @ turning for axis in _shared(cut)]
        return np.array(rows, dtype=float).reshape(-1, len(values))

    def gaps(self, values: np.ndarray) -> np.ndarray:
        """Return gaps and turns between both sides of each cut joint.

        Turns are the rotations that align the axes of both sides [rad], times `LEVER`.
        """
        return np.concatenate([*(gap_between(*end) for end in self._ends(values)[1]), []])

    def gap_slopes(self, values: np.ndarray) -> np.ndarray:
        """Return the derivatives (gaps, joints) of the gaps over the joints; of turns, where these are small."""
        (at, ends), slopes = self._ends(values), list[np.ndarray]()
        for (cut, a, b), (turning, moving) in zip(ends, self._speeds(at, ends), strict=True):
            slopes += [(a[0].T @ moving)[_across(cut.kind)], LEVER * _turned(cut, a[0], b[0]) @ turning]
        return np.concatenate([*slopes, np.zeros((0, len(values)))])

    def _ends(self, values: np.ndarray) -> Ends:
        """Return the poses of the bodies that cut joints connect, and these joints with the poses of both sides.

        The poses of the last values are kept, as slopes are computed at the same values as residuals.
        """
        key = values.tobytes()
        if key not in self._kept:
            self._kept.clear()
            self._kept[key] = self._ends_at(values)
        return self._kept[key]

    @cached_property
    def _kept(self) -> dict[bytes, Ends]:
        return {}

    def _ends_at(self, values: np.ndarray) -> Ends:
        at, ends = self._poses(values, self._in_loops), list[tuple[Closure, Pose, Pose]]()
        for cut, inner in zip(self.limb.cuts, self._frames, strict=True):
            outer = at[cut.a], at[cut.b]
            a, b = ((turn @ of, place + turn @ by) for (turn, place), (of, by) in zip(outer, inner, strict=True))
            ends.append((cut, a, b))
        return at, ends

    def _speeds(
        self, at: Mapping[int, Pose], ends: Sequence[tuple[Closure, Pose, Pose]]
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return angular velocity and velocity of side b relative to side a, seen on a: (3, joints) each, per rate."""
        rotations, positions = np.zeros((len(self._axes), 3, 3)), np.zeros((len(self._axes), 3))
        for k in self._in_loops:
            rotations[k], positions[k] = at[k]
        axes = np.ascontiguousarray(np.einsum("kij,kj->ki", rotations, self._axes).T)  # for the same bits in products
        points, result = np.ascontiguousarray(positions.T), list[tuple[np.ndarray, np.ndarray]]()
        for (_, _, (_, point)), (turns, slides) in zip(ends, self._ways, strict=True):
            result.append((turns * axes, turns * _cross(axes, point[:, None] - points) + slides * axes))
        return result

    @cached_property
    def _mounts(self) -> dict[int, Pose]:
        """Poses of the mounts of base and platform."""
        world = (np.eye(3), np.zeros(3))
        platform = joined(joined(world, self.home), self.instance.platform)
        return {BASE: joined(world, self.instance.base), PLATFORM: platform}

    @cached_property
    def _placements(self) -> list[Pose]:
        """Placements of the joints in their parents."""
        return [joined((np.eye(3), np.zeros(3)), link.placement) for link in self.limb.links]

    @cached_property
    def _axes(self) -> np.ndarray:
        """Axes of the joints in their own frames (joint, 3)."""
        return np.array([link.axis for link in self.limb.links], dtype=float)

    @cached_property
    def _named(self) -> list[tuple[str, float]]:
        """Names of the axes of the joints, and their signs; any name for joints that only slide."""
        return [NAMES[tuple(link.axis)] if link.joint_kind.turns else ("z", 1.0) for link in self.limb.links]

    @cached_property
    def _moves(self) -> tuple[np.ndarray, np.ndarray]:
        """Turns and ways of the joints per rate (joint,): 0 or 1, and 0, 1 or the pitch."""
        links = self.limb.links
        turns = np.array([float(link.joint_kind.turns) for link in links])
        ways = (1.0 if link.pitch is None else float(link.pitch) for link in links)
        return turns, np.array([way if link.joint_kind.slides else 0.0 for way, link in zip(ways, links, strict=True)])

    @cached_property
    def _frames(self) -> list[tuple[Pose, Pose]]:
        """Frames of both sides of the cut joints on their bodies."""
        here = np.eye(3), np.zeros(3)
        return [(joined(here, cut.frame_a), joined(here, cut.frame_b)) for cut in self.limb.cuts]

    @cached_property
    def _in_loops(self) -> list[int]:
        """Bodies between the base and the cut joints."""
        return sorted({k for cut in self.limb.cuts for body in (cut.a, cut.b) for k in self._to(body)})

    @cached_property
    def _ways(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Turns and ways of side b of each cut joint per rate of each joint: of `_moves`, with signs (joint,)."""
        ways = np.zeros((len(self.limb.cuts), len(self.limb.links)))
        for way, cut in zip(ways, self.limb.cuts, strict=True):
            way[self._to(cut.b)] += 1.0
            way[self._to(cut.a)] -= 1.0
        turns, slides = self._moves
        return [(way * turns, way * slides) for way in ways]

    def _to(self, body: int) -> list[int]:
        """Return the joints between the base and a body, from the body on."""
        found = list[int]()
        while body not in (BASE, PLATFORM):
            found.append(body)
            body = self.limb.links[body].parent
        return found


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the cross product of vectors (3, ...), whose components come first."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def sides(cut: Closure, at: Mapping[int, Pose]) -> tuple[Pose, Pose]:
    """Return the poses of both sides of a cut joint."""
    return joined(at[cut.a], cut.frame_a), joined(at[cut.b], cut.frame_b)


def gap_between(cut: Closure, a: Pose, b: Pose) -> np.ndarray:
    """Return the gap between both sides of a cut joint, and its turn [rad] times `LEVER`, without free components."""
    gap = (a[0].T @ (b[1] - a[1]))[_across(cut.kind)]
    return np.concatenate([gap, LEVER * _turn_between(cut, a[0], b[0])])


def _cosines(ends: Iterable[tuple[Closure, Pose, Pose]]) -> Iterator[float]:
    """Yield the cosines between axes that both ends of cut joints share."""
    for cut, (r_a, _), (r_b, _) in ends:
        yield from (float(r_a[:, axis] @ r_b[:, axis]) for axis in _shared(cut))


@cache
def _across(kind: str) -> list[int]:
    """Return the axes along which a kind of joints does not slide."""
    return [axis for axis in (X, Y, Z) if axis not in JOINT_KINDS[kind].sliding]


def _shared(cut: Closure) -> tuple[int, ...]:
    """Return the axes that both sides of a cut joint share, of which conditions leave the sign open."""
    turning = JOINT_KINDS[cut.kind].turning
    return () if len(turning) > 1 else turning or (Z, X)


def _square(cut: Closure) -> tuple[tuple[int, int], ...]:
    """Return pairs of axes, of side a and of side b, that are at right angles where a cut joint is closed."""
    turning = JOINT_KINDS[cut.kind].turning
    if len(turning) == 2:
        return ((turning[0], turning[1]),)
    if len(turning) > 2:
        return ()
    shared = turning[0] if turning else Z
    across = [axis for axis in (X, Y, Z) if axis != shared]
    return (*((axis, shared) for axis in across), *(() if turning else ((across[0], across[1]),)))


def _turned(cut: Closure, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the directions (n, 3) about which side b of a cut joint must not turn beside side a."""
    turning = JOINT_KINDS[cut.kind].turning
    if len(turning) == 2:
        normal = _cross(a[:, turning[0]], b[:, turning[1]])
        return (normal / max(float(np.linalg.norm(normal)), 1e-300))[None]
    return a.T[[axis for axis in (X, Y, Z) if axis not in turning]]


def _turn_between(cut: Closure, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the turn of side b beside side a about the directions of `_turned` [rad]."""
    turning = JOINT_KINDS[cut.kind].turning
    if len(turning) == 2:
        return np.array([math.asin(max(-1.0, min(1.0, -float(a[:, turning[0]] @ b[:, turning[1]]))))])
    if len(turning) == 1:
        x, y = a[:, turning[0]], b[:, turning[0]]
        cross = _cross(x, y)
        angle, size = math.atan2(float(np.linalg.norm(cross)), float(x @ y)), float(np.linalg.norm(cross))
        turn = cross * (angle / size) if size > 1e-9 else angle * a[:, (turning[0] + 1) % 3]
    elif turning:
        return np.zeros(0)
    else:
        turn = rotation_vector(b @ a.T)
    return _turned(cut, a, b) @ turn


def turn_apart(cut: Closure, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the turn (3,) of side b beside side a of a cut joint that this does not allow [rad]."""
    return _turned(cut, a, b).T @ _turn_between(cut, a, b)


def rotation_vector(turn: np.ndarray) -> np.ndarray:
    """Return the axis of a rotation (3, 3) times its angle [rad]."""
    axis = 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    sine, cosine = float(np.linalg.norm(axis)), 0.5 * (float(np.trace(turn)) - 1.0)
    if sine > 1e-6 or cosine > 0.0:
        return axis * (math.atan2(sine, cosine) / sine if sine > 0.0 else 1.0)
    column = int(np.argmax(np.diag(turn)))
    half: np.ndarray = turn[:, column] + np.eye(3)[:, column]
    return half / np.linalg.norm(half) * math.pi


def conditions(cut: Closure, a: Pose, b: Pose) -> Iterator[float]:
    """Yield the residual of each condition of a cut joint [m, or cosine]."""
    (r_a, p_a), (r_b, p_b) = a, b
    kind, gap = JOINT_KINDS[cut.kind], r_a.T @ (p_b - p_a)
    yield from gap[_across(cut.kind)].tolist()
    yield from (float(r_a[:, i] @ r_b[:, j]) for i, j in _square(cut))
    if kind.coupled and cut.pitch is not None:
        angle = math.atan2(float(r_a[:, Y] @ r_b[:, X]), float(r_a[:, X] @ r_b[:, X]))
        yield float(gap[Z]) - float(cut.pitch) * angle


def _slopes(cut: Closure, a: Pose, b: Pose, speeds: tuple[np.ndarray, np.ndarray]) -> Iterator[np.ndarray]:
    """Yield the derivative (joints,) of each of the `conditions`."""
    r_a, r_b, kind, (turning, moving) = a[0], b[0], JOINT_KINDS[cut.kind], speeds
    gap = r_a.T @ moving
    yield from gap[_across(cut.kind)]
    yield from (_cross(r_b[:, j], r_a[:, i]) @ turning for i, j in _square(cut))
    if kind.coupled and cut.pitch is not None:
        y, x = float(r_a[:, Y] @ r_b[:, X]), float(r_a[:, X] @ r_b[:, X])
        dy, dx = (_cross(r_b[:, X], r_a[:, axis]) @ turning for axis in (Y, X))
        yield gap[Z] - float(cut.pitch) * (x * dy - y * dx) / (x * x + y * y)


def close_from_rough(setting: Setting, rough: np.ndarray, held: Collection[int] = ()) -> tuple[np.ndarray, float]:
    """Return positions with all loops closed, from rough ones, else from a fixed choice of neighbours of these.

    With all joints at zero, the derivatives of the closure residuals often vanish, though the loops could close. Where
    ends of loops are far apart, gaps and angles between them lead nearer than the conditions; so `approach` comes
    first from the neighbours.
    """
    values, error = close(setting, rough, held)
    random = np.random.default_rng(20240501)
    free = [k for k in range(len(rough)) if k not in held]
    done = error <= ASSEMBLED and setting.facing(values)
    for spread in () if done else (0.0, *ASIDE):
        guess = np.array(rough, dtype=float)
        if spread:
            guess[free] += random.uniform(-spread, spread, len(free))
        guess = approach(setting, guess, held)
        start, residual = close(setting, guess, held, PATIENCE)
        if residual <= ASSEMBLED and setting.facing(start):
            return start, residual
    return values, error


def approach(setting: Setting, guess: np.ndarray, held: Collection[int] = ()) -> np.ndarray:
    """Return positions where ends of loops are near each other, by damped least squares on their gaps and turns."""
    values, damping = np.array(guess, dtype=float), 1e-2
    free = [k for k in range(len(values)) if k not in held]
    gaps, slopes = setting.gaps(values), setting.gap_slopes(values)
    mark, since = np.inf, 0
    for step_number in range(STEPS if free else 0):
        if gaps @ gaps < 0.999 * mark:
            mark, since = float(gaps @ gaps), step_number
        if np.abs(gaps).max(initial=0.0) <= ASSEMBLED or damping > 1e8 or step_number - since > PATIENCE:
            break
        inner = slopes[:, free]
        step = -np.linalg.solve(inner.T @ inner + damping * np.eye(len(free)), inner.T @ gaps)
        trial = values.copy()
        trial[free] += step * min(1.0, 0.5 / max(float(np.abs(step).max()), 1e-300))
        after = setting.gaps(trial)
        if after @ after < gaps @ gaps:
            values, gaps, slopes, damping = trial, after, setting.gap_slopes(trial), max(0.3 * damping, 1e-12)
        else:
            damping *= 4.0
    return values


def close_facing(setting: Setting, rough: np.ndarray, named: Collection[int]) -> tuple[np.ndarray, float]:
    """Return joint positions and open loops: `named` joints stay near their rough positions, all others are found.

    The closure conditions allow the axes of both sides of a cut joint to point in opposite directions. If they do, the
    search is repeated with the condition that they point in the same direction, from a fixed choice of positions beside
    the rough ones. If no try succeeds, the result of the first search is returned.
    """
    values, _ = close(setting, rough, named)
    first = close(setting, values)
    if first[1] > ASSEMBLED or setting.facing(first[0]):
        return first
    random, towards = np.random.default_rng(20240501), replace(setting, towards=True)
    free = [k for k in range(len(rough)) if k not in named]
    for spread in (SPREAD, *ASIDE):
        guess = np.array(rough, dtype=float)
        guess[free] += random.uniform(-spread, spread, len(free))
        for held in (named, ()):
            guess, _ = close(towards, guess, held, PATIENCE)
        values, error = close(setting, guess)
        if error <= ASSEMBLED and setting.facing(values):
            return values, error
    return first


def close(
    setting: Setting, guess: np.ndarray, held: Collection[int] = (), patience: int = STEPS
) -> tuple[np.ndarray, float]:
    """Return positions of the joints near a guess with all loops closed, `held` ones unchanged; and the open loops.

    patience: number of steps without a decrease of the residual by a thousandth, after which the search ends.
    """
    values, damping = np.array(guess, dtype=float), 1e-3
    free = [k for k in range(len(values)) if k not in held]
    residual, slopes = setting.residual(values), None
    mark, since = np.inf, 0
    for step_number in range(STEPS):
        size = float(np.abs(residual).max(initial=0.0))
        if size < 0.999 * mark:
            mark, since = size, step_number
        if size <= CLOSED or not free or step_number - since > patience:
            break
        slopes = setting.slopes(values)[:, free] if slopes is None else slopes
        whole = np.vstack([slopes, math.sqrt(damping) * np.eye(len(free))])
        step = np.linalg.lstsq(whole, np.concatenate([-residual, np.zeros(len(free))]), rcond=None)[0]
        trial = values.copy()
        trial[free] += step * min(1.0, 0.5 / max(float(np.abs(step).max()), 1e-300))
        after = setting.residual(trial)
        if after @ after < residual @ residual:
            values, residual, slopes, damping = trial, after, None, max(damping * 0.1, 1e-18)
        elif damping > 1e6:
            break
        else:
            damping *= 10.0
    return values, float(np.abs(residual).max(initial=0.0))


def independent(setting: Setting, reference: np.ndarray, *preferred: Collection[str]) -> tuple[str, ...]:
    """Return joints of a closed chain that determine all others near a reference; `preferred` ones if possible.

    If several groups are preferred, joints of later groups come first. Joints that follow others are never returned.
    For a reference with open loops, which callers refuse anyway, only the reference itself is examined.
    """
    random, links = np.random.default_rng(20240501), setting.limb.links
    poses = [reference]
    is_open = bool(np.abs(setting.residual(reference)).max(initial=0.0) > ASSEMBLED)
    for _ in range(0 if is_open else 3):
        near, error = close(setting, reference + random.uniform(-SPREAD, SPREAD, len(links)))
        poses += [near] if error <= ASSEMBLED else []
    slopes = [setting.slopes(values) for values in poses]
    wishes = [max((n for n, names in enumerate(preferred, 1) if link.joint in names), default=0) for link in links]
    for follower in setting.limb.followers:
        wishes[follower] = -1
    groups = [[k for k, wish in enumerate(wishes) if wish == n] for n in range(-1, len(preferred) + 1)]
    dependent = _dependent(slopes, groups)
    return tuple(link.joint for k, link in enumerate(links) if k not in dependent)


def _dependent(slopes: Sequence[np.ndarray], groups: Sequence[Sequence[int]]) -> set[int]:
    """Return best conditioned columns that span all columns, from the first groups if they suffice."""
    slope_rows, members = [np.array(entry) for entry in slopes], set[int]()
    for group in groups:
        while candidates := [k for k in group if k not in members]:
            sizes = np.min([np.linalg.norm(entry[:, candidates], axis=0) for entry in slope_rows], axis=0)
            best = int(np.argmax(sizes))
            if sizes[best] <= RANK**0.75:
                break
            members.add(candidates[best])
            for k, entry in enumerate(slope_rows):
                unit = entry[:, candidates[best]] / np.linalg.norm(entry[:, candidates[best]])
                slope_rows[k] = entry - np.outer(unit, unit @ entry)
    return members


NAMES = {tuple(sign * unit): (name, sign) for name, unit in zip("xyz", np.eye(3), strict=True) for sign in (1.0, -1.0)}
"""Name and sign of each coordinate axis by its components."""


def moved(frame: Frame, link: Link, value: float) -> Frame:
    """Return the frame of a joint at a position of its variable [rad or m], from the frame at zero."""
    row, axis = link.joint_kind, link.axis
    rotation: Matrix = frame.rotation
    way = value if link.pitch is None else value * link.pitch
    x, y, z = (entry * way for entry in axis) if row.slides else (0.0, 0.0, 0.0)
    position = [
        p + (r[0] * x + r[1] * y + r[2] * z if row.slides else 0.0)
        for p, r in zip(frame.position, frame.rotation, strict=True)
    ]
    if row.turns:
        name, sign = NAMES[tuple(axis)]
        rotation = geometry.product(rotation, geometry.about(name, math.cos(value), sign * math.sin(value)))
    return Frame(rotation, (position[0], position[1], position[2]))


References = tuple[tuple[str, tuple[tuple[str, float], ...]], ...]
"""Positions of joints at the reference pose by limb and joint, from which their variables count."""


def counted_from(mechanism: Mechanism, reference: References) -> Mechanism:
    """Return the mechanism whose joints count from the reference; its numbers may be symbols."""
    table = {limb: dict(values) for limb, values in reference}
    limbs = []
    for limb in mechanism.limbs:
        values = table.get(limb.name, {})
        links = tuple(
            replace(link, placement=moved(link.placement, link, values[link.joint])) if values.get(link.joint) else link
            for link in limb.links
        )
        limbs.append(replace(limb, links=links))
    return replace(mechanism, limbs=tuple(limbs))
