"""Other assemblies of a robot, requested by modes or by rough numbers: search for them at its reference configuration.

The other working mode of a limb is another solution of its joints for one pose of the platform: the nearest whose
det L_t, the determinant of the tips over the joints that loops leave free, has the opposite sign, while the determinant
of the loops keeps its sign. Solutions are found from random guesses, always the same ones. A limb follows a new pose of
its platform without change of its mode.

The other assembly mode of a platform is another pose for the same positions of the actuators: the nearest at which the
determinant of all closures has the opposite sign. The determinant is over the coordinates that the actuators leave
free: the freedoms of the platform and the other joints. Poses are found by closing the loops of the whole robot
numerically from random guesses, always the same ones. Guesses fold most parallelograms over; so for limbs with loops
poses are found on curves along which one actuator moves, and the first one is taken.

While all actuators but one stand still, a mechanism has one freedom: its configurations are a curve, which passes
singularities of the platform and of limbs without a break. Where the moving actuator is back at its own position, there
is another pose. Loops inside limbs stay as they are assembled, as the curve ends where they become singular. Source:
continuation by arc length with a tangent step and Newton's steps across it, Allgower, Georg 2003, chapters 2 and 6.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.linalg import qr
from scipy.spatial.transform import Rotation, Slerp

from robots.data_classes import dataclass, replace
from robots.formats.assembly import Setting, close, conditions, sides
from robots.formats.poses import rows as matrix_rows
from robots.formats.poses import vector
from robots.model import Frame, Limb, Mechanism

CLOSED = 1e-9
"""Residuals [m, or cosine] up to which a limb is assembled."""
Mode = Literal["usual", "other"]


class BranchError(ValueError):
    """A branch that a robot does not have: its keys, the value, the expected one, advice."""

    def __init__(self, path: tuple[str, ...], got: str, expected: str, hint: str = "") -> None:
        super().__init__(f"{'.'.join(('branch', *path))}: got {got}; expected {expected}. {hint}".rstrip())
        self.path, self.got, self.expected, self.hint = path, got, expected, hint


@dataclass(frozen=True)
class RoughConfiguration:
    """Rough numbers of another configuration: positions of joints by limb and name [rad or m], pose of the platform."""

    joints: tuple[tuple[str, tuple[tuple[str, float], ...]], ...] = ()
    home: Frame | None = None


@dataclass(frozen=True)
class NamedModes:
    """Names of the limbs in their other working mode, and a flag for the other assembly mode of the platform."""

    limbs: tuple[str, ...] = ()
    platform: bool = False


STEPS = 60


def driven(limb: Limb) -> set[str]:
    """Return the names of the joints that the actuators of a limb hold."""
    return {*limb.actuated, *(joint for drive in limb.drives for joint, _ in drive.ratios)}


class Forward:
    """A robot whose actuators stand still: all closures over the platform's freedoms and the other joints.

    `released` is a driven joint that is free all the same, as (limb, joint).
    """

    def __init__(self, mechanism: Mechanism, released: tuple[int, int] | None = None):
        self.mechanism, self.home = mechanism, mechanism.platform.home
        self.freedoms = mechanism.platform.mobility
        self.limbs = [mechanism.limbs[instance.limb] for instance in mechanism.instances]
        self.free = [
            [k for k, link in enumerate(limb.links) if link.joint not in driven(limb) or (number, k) == released]
            for number, limb in enumerate(self.limbs)
        ]
        lengths = [np.array(instance.base.position, dtype=float) for instance in mechanism.instances]
        self.size = max(float(np.linalg.norm(np.array(self.home.position, dtype=float) - at)) for at in lengths) or 1.0
        turning = [
            limb.links[k].joint_kind.turns
            for limb, joints_of_limb in zip(self.limbs, self.free, strict=True)
            for k in joints_of_limb
        ]
        self.unit = np.array([1.0 if name[0] == "w" else self.size for name in self.freedoms])
        self.units = np.concatenate([self.unit, np.where(turning, 1.0, self.size)])

    def pose(self, x: np.ndarray) -> Frame:
        """Return the pose of the platform after displacements of its freedoms."""
        ways = dict(zip(self.freedoms, x, strict=False))
        turn = Rotation.from_rotvec([ways.get(name, 0.0) for name in ("wx", "wy", "wz")]).as_matrix()
        place = np.array(self.home.position, dtype=float) + [ways.get(name, 0.0) for name in ("vx", "vy", "vz")]
        return Frame(matrix_rows(turn @ np.array(self.home.rotation, dtype=float)), vector(place))

    def joints(self, x: np.ndarray) -> list[np.ndarray]:
        """Return the positions of all joints of each limb."""
        result, first = [], len(self.freedoms)
        for limb, joints_of_limb in zip(self.limbs, self.free, strict=True):
            values = np.zeros(len(limb.links))
            values[joints_of_limb] = x[first : first + len(joints_of_limb)]
            first += len(joints_of_limb)
            result.append(values)
        return result

    def facing(self, x: np.ndarray) -> bool:
        """Return whether the axes of both sides of all cut joints point in the same direction, as in an assembly."""
        limbs = zip(self.mechanism.instances, self.limbs, self.joints(x), strict=True)
        return all(
            Setting(limb, instance, self.pose(x), counted=True).facing(values) for instance, limb, values in limbs
        )

    def slopes(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the residuals of all closures, and their derivatives over the freedoms, then over the free joints."""
        count, first = len(self.freedoms), len(self.freedoms)
        open_by, parts = [], []
        for instance, limb, joints_of_limb, values in zip(
            self.mechanism.instances, self.limbs, self.free, self.joints(x), strict=True
        ):
            setting = Setting(limb, instance, self.pose(x), counted=True)
            residual = setting.residual(values)
            part = np.zeros((len(residual), len(x)))
            part[:, first : first + len(joints_of_limb)] = setting.slopes(values)[:, joints_of_limb]
            for k in range(count):
                step = np.zeros(count)
                step[k] = 1e-6 * self.unit[k]
                ends = [Setting(limb, instance, self.pose(x[:count] + s * step), counted=True) for s in (1, -1)]
                part[:, k] = (ends[0].residual(values) - ends[1].residual(values)) / (2.0 * step[k])
            first += len(joints_of_limb)
            open_by.append(residual)
            parts.append(part)
        return np.concatenate(open_by), np.vstack(parts)

    def closed(self, x: np.ndarray) -> np.ndarray | None:
        """Close all loops near a guess by Levenberg's steps; None without convergence."""
        damping = 1e-3
        residual, slopes = self.slopes(x)
        for _ in range(STEPS):
            if np.abs(residual).max() < CLOSED:
                return x
            scaled = slopes * self.units
            whole = np.vstack([scaled, math.sqrt(damping) * np.eye(len(x))])
            step = np.linalg.lstsq(whole, np.concatenate([-residual, np.zeros(len(x))]), rcond=None)[0] * self.units
            trial = x + step * min(1.0, 0.5 / float(np.abs(step / self.units).max()))
            after, following = self.slopes(trial)
            if after @ after < residual @ residual:
                x, residual, slopes, damping = trial, after, following, max(0.1 * damping, 1e-18)
            elif damping > 1e6:
                return None
            else:
                damping *= 10.0
        return None


TRIES = 60
"""Number of initial guesses in the search for other solutions."""
ENOUGH = 3
"""Number of solutions among which the nearest is chosen."""
REGULAR = 1e-6
"""Size of a determinant, relative to the usual mode, above which its sign counts."""


@dataclass(frozen=True)
class LimbSigns:
    """Determinants of a limb at a configuration: of its loops, and of the tips over the joints that loops leave free.

    Rows and columns are the best conditioned ones in the usual configuration of the limb.
    """

    setting: Setting
    usual: np.ndarray

    @cached_property
    def _tips(self) -> int:
        at = self.setting.poses(self.usual)
        return sum(len(list(conditions(cut, *sides(cut, at)))) for cut in self.setting.limb.tips)

    def _parts(self, values: np.ndarray, home: Frame | None = None) -> tuple[np.ndarray, np.ndarray]:
        slopes = replace(self.setting, home=home or self.setting.home).slopes(values)
        return slopes[self._tips :], slopes[: self._tips]

    @cached_property
    def _choice(self) -> tuple[list[int], list[int], list[int], list[int]]:
        """Rows and dependent columns of the loops, free columns, rows of the tips."""
        loops, tips = self._parts(self.usual)
        rows, columns = regular_part(loops)
        free = [k for k in range(len(self.usual)) if k not in columns]
        return rows, columns, free, regular_part(self._free(loops, tips, rows, columns, free))[0]

    @staticmethod
    def _free(loops: np.ndarray, tips: np.ndarray, rows: list[int], columns: list[int], free: list[int]) -> np.ndarray:
        if not rows:
            return tips[:, free]
        answer: np.ndarray = np.linalg.solve(loops[np.ix_(rows, columns)], loops[np.ix_(rows, free)])
        return tips[:, free] - tips[:, columns] @ answer

    def at(self, values: np.ndarray, home: Frame | None = None) -> tuple[float, float]:
        """Return both determinants, NaN if the loops have none; `home` replaces the pose of the platform."""
        rows, columns, free, kept = self._choice
        loops, tips = self._parts(values, home)
        closed = float(np.linalg.det(loops[np.ix_(rows, columns)]))
        if abs(closed) < 1e-15:
            return 0.0, np.nan
        matrix = self._free(loops, tips, rows, columns, free)[kept]
        return closed, float(np.linalg.det(matrix)) if len(kept) == len(free) else np.nan


def regular_part(matrix: np.ndarray) -> tuple[list[int], list[int]]:
    """Return the rows and columns of a square part of a matrix that has its rank."""
    if not matrix.size:
        return [], []
    _, triangle, order = qr(matrix, pivoting=True, mode="economic")
    sizes = np.abs(np.diag(triangle))
    columns = sorted(int(k) for k in order[: int((sizes > 1e-8 * sizes[0]).sum())])
    _, _, order = qr(matrix[:, columns].T, pivoting=True, mode="economic")
    return sorted(int(k) for k in order[: len(columns)]), columns


def other_solution(setting: Setting, usual: np.ndarray, name: str) -> np.ndarray:
    """Return the nearest joint positions at the same pose whose det L_t has another sign. Raises BranchError."""
    signs, random = LimbSigns(setting, usual), np.random.default_rng(20240501)
    solutions: list[tuple[float, np.ndarray]] = []
    loops, tips = signs.at(usual)
    turning = np.array([link.joint_kind.turns for link in setting.limb.links])
    size = max(float(np.linalg.norm(position)) for _, position in setting.poses(usual).values()) or 1.0
    for _ in range(TRIES):
        spread = np.where(turning, np.pi, size)
        solution, error = close(setting, usual + random.uniform(-1.0, 1.0, len(usual)) * spread)
        if error > CLOSED or not setting.facing(solution):
            continue
        solution = np.where(turning, usual + (solution - usual + np.pi) % (2.0 * np.pi) - np.pi, solution)
        now = signs.at(solution)
        if now[0] * loops >= 0.0 and now[1] * tips < -REGULAR * tips * tips:
            way = float(np.linalg.norm((solution - usual) / np.where(turning, 1.0, size)))
            solutions.append((round(way, 6), solution))
            if len(solutions) == ENOUGH:
                break
    if not solutions:
        got = f"a limb without another solution at the reference pose of the platform, in {TRIES} tries"
        raise BranchError(
            ("working", name), got, "a limb that has one", "Give rough positions of its joints, under joints."
        )
    return min(solutions, key=lambda entry: (entry[0], tuple(np.round(entry[1], 6))))[1]


LEAST, LONGEST = 1e-4, 0.25
"""Steps along a curve [rad, or sizes]."""
POINTS = 400
"""Steps of a curve, at most."""
ROUNDS = 6
"""Newton's steps back to a curve, at most."""
BENT = 0.9
"""Least cosine between the directions of a curve at both ends of a step, and between determinants of loops there."""


class Loops:
    """The loops inside the limbs of a robot, which must not fold over along a curve.

    Where a parallelogram is flat, all determinants of its conditions over some of its joints are zero, and their signs
    change beyond it. So the proportions of these determinants may change only a little between points of a curve.
    """

    def __init__(self, forward: Forward):
        self.forward = forward
        self.moving, self.rows = dict[int, np.ndarray](), dict[int, list[int]]()
        usual = forward.joints(np.zeros(len(forward.units)))
        for k in (k for k, limb in enumerate(forward.limbs) if limb.loops):
            slopes = self._slopes(k, usual[k])
            self.moving[k] = np.flatnonzero(np.abs(slopes).max(axis=0) > 0.0)
            self.rows[k] = regular_part(slopes)[0]

    def _slopes(self, k: int, joints: np.ndarray) -> np.ndarray:
        """Return the derivatives of the closure conditions of a limb with respect to its joints."""
        limb, mechanism = self.forward.limbs[k], self.forward.mechanism
        return Setting(replace(limb, tips=()), mechanism.instances[k], self.forward.home, counted=True).slopes(joints)

    def determinants(self, x: np.ndarray) -> list[np.ndarray]:
        """Return determinants per limb with loops, over all choices of as many joints as independent conditions."""
        joints, result = self.forward.joints(x), list[np.ndarray]()
        for k, rows in self.rows.items():
            slopes = self._slopes(k, joints[k])[rows]
            choices = itertools.combinations(self.moving[k], len(rows))
            result.append(np.array([np.linalg.det(slopes[:, choice]) for choice in choices]))
        return result


def _alike(before: Sequence[np.ndarray], after: Sequence[np.ndarray]) -> bool:
    """Return whether the determinants are in nearly the same proportions."""
    pairs = ((a @ b, np.linalg.norm(a) * np.linalg.norm(b)) for a, b in zip(before, after, strict=True))
    return all(product > BENT * size for product, size in pairs)


def on_curves(forward: Forward) -> Iterator[np.ndarray]:
    """Yield other poses for the same positions of all actuators, found by moving one actuator after another."""
    for number, limb in enumerate(forward.limbs):
        for joint in (k for k, link in enumerate(limb.links) if link.joint in driven(limb)):
            curve = Forward(forward.mechanism, (number, joint))
            column = len(forward.freedoms) + sum(map(len, curve.free[:number])) + curve.free[number].index(joint)
            for sense in (1.0, -1.0):
                for x in _returns(curve, column, sense):
                    solution = forward.closed(np.delete(x, column))
                    if solution is not None:
                        yield solution


def _returns(curve: Forward, column: int, sense: float) -> Iterator[np.ndarray]:
    """Yield the points of a curve near to where one of its variables comes back to zero."""
    loops, x = Loops(curve), np.zeros(len(curve.units))
    before = loops.determinants(x)
    ahead, step = sense * _direction(curve.slopes(x)[1] * curve.units), 0.1 * LONGEST
    for _ in range(POINTS):
        reached, slopes = _corrected(curve, x + step * ahead * curve.units)
        direction = _direction(slopes)
        if reached is not None:
            after = loops.determinants(reached)
        if reached is None or abs(cosine := float(ahead @ direction)) < BENT or not _alike(before, after):
            step *= 0.5
            if step < LEAST:
                return
            continue
        if x[column] * reached[column] < 0.0:
            yield x + x[column] / (x[column] - reached[column]) * (reached - x)
        x, before, ahead = reached, after, direction if cosine > 0.0 else -direction
        if np.abs(x / curve.units).max() < 0.5 * step:
            return  # all the way round
        step = min(1.5 * step, LONGEST)


def _direction(slopes: np.ndarray) -> np.ndarray:
    """Return the unit tangent of a curve, from derivatives of its conditions by dimensionless variables."""
    tangent: np.ndarray = np.linalg.svd(slopes)[2][-1]
    return tangent


def _corrected(curve: Forward, x: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    """Return the point of a curve near another one, None where Newton's steps find none; slopes there, without unit."""
    for _ in range(ROUNDS):
        open_by, slopes = curve.slopes(x)
        slopes = slopes * curve.units
        if np.abs(open_by).max() < CLOSED:
            return x, slopes
        x = x - np.linalg.lstsq(slopes, open_by, rcond=1e-9)[0] * curve.units
    return None, slopes


WAY = 60
"""Number of steps on the way of the platform to its target."""


def way(start: Frame, end: Frame, steps: int = WAY) -> Iterator[Frame]:
    """Yield poses on the way of the platform."""
    turns = Rotation.from_matrix([np.array(start.rotation, dtype=float), np.array(end.rotation, dtype=float)])
    places = np.array([start.position, end.position], dtype=float)
    shares = np.linspace(0.0, 1.0, steps)
    for share, turn in zip(shares, Slerp([0.0, 1.0], turns)(shares), strict=True):
        place = vector(places[0] + (places[1] - places[0]) * share)
        yield end if share == 1.0 else Frame(matrix_rows(turn.as_matrix()), place)


def brought(settings: Sequence[Setting]) -> tuple[np.ndarray, float]:
    """Return a limb's joint positions at the last pose of its way, or at its limit of reach; and the open loops."""
    values, error = np.zeros(len(settings[0].limb.links)), 0.0
    for setting in settings:
        values, error = close(setting, values)
        if error > CLOSED:
            break
    return values, error


PLATFORM_TRIES = 60
"""Number of initial guesses in the search for other poses."""
PLATFORM_ENOUGH = 4
"""Number of other poses among which the nearest is taken."""
APART = 1e-3
"""Difference above which poses count as distinct [rad, or share of sizes]."""
PLATFORM_WAY = 12
"""Number of steps on the way of the platform to another pose."""
PLATFORM_REGULAR = 1e-3
"""Size of a determinant, relative to the reference pose, above which its sign counts."""


def other_assembly(mechanism: Mechanism) -> RoughConfiguration:
    """Return the nearest other pose for the same positions of the actuators. Raises BranchError."""
    forward = Forward(mechanism)
    usual = np.zeros(len(forward.units))
    first = forward.slopes(usual)[1]
    own_rows, columns = regular_part(first)
    if len(columns) < len(usual):
        hint = "Give another reference pose by position and rotation."
        raise BranchError(("assembly",), "a reference pose at a singularity", "one whose actuators hold it", hint)
    solutions: list[tuple[float, np.ndarray]] = []
    begin = float(np.linalg.det(first[own_rows]))
    limbs = [
        LimbSigns(Setting(limb, instance, forward.home, counted=True), np.zeros(len(limb.links)))
        for instance, limb in zip(mechanism.instances, forward.limbs, strict=True)
    ]
    looped = any(limb.loops for limb in mechanism.limbs)
    for solution in on_curves(forward) if looped else _by_chance(forward):
        moved = solution[: len(forward.freedoms)] / forward.unit
        if np.abs(moved).max() <= APART or not forward.facing(solution) or _singular(forward, limbs, solution):
            continue
        signs = (float(np.linalg.det(forward.slopes(x)[1][own_rows])) * begin for x in _both(forward, solution))
        if all(sign < -PLATFORM_REGULAR * begin * begin for sign in signs):
            solutions.append((float(np.round(np.linalg.norm(moved), 6)), solution))
            if looped or len(solutions) == PLATFORM_ENOUGH:
                break
    if not solutions:
        got = "a robot without another pose for these positions of its actuators, as far as is found"
        raise BranchError(("assembly",), got, "a robot that has one", "Give the place of the platform, by position.")
    x = min(solutions, key=lambda entry: (entry[0], tuple(np.round(entry[1], 6))))[1]
    joints = tuple(
        (instance.name, tuple((link.joint, float(v)) for link, v in zip(limb.links, values, strict=True)))
        for instance, limb, values in zip(mechanism.instances, forward.limbs, forward.joints(x), strict=True)
    )
    return RoughConfiguration(joints, forward.pose(x))


def _singular(forward: Forward, limbs: Sequence[LimbSigns], x: np.ndarray) -> bool:
    """Return whether a determinant of a limb vanishes at `x`, though it is regular at the reference pose."""
    pose = forward.pose(x)
    for signs, joints in zip(limbs, forward.joints(x), strict=True):
        for value, usual in zip(signs.at(joints, pose), signs.at(signs.usual), strict=True):
            if np.isfinite(usual) and not abs(value) > PLATFORM_REGULAR * abs(usual):
                return True
    return False


def _both(forward: Forward, x: np.ndarray) -> Iterator[np.ndarray]:
    """Yield a pose with its joints, then with its limbs in their usual assembly where actuators agree.

    Two crossing joints, such as in a universal joint, have two positions for one direction. The signs of determinants
    differ between both, though the assembly is the same.
    """
    yield x
    mechanism, usual, first = forward.mechanism, x.copy(), len(forward.freedoms)
    poses = list(way(forward.home, forward.pose(x), PLATFORM_WAY))
    for instance, limb, joints_of_limb in zip(mechanism.instances, forward.limbs, forward.free, strict=True):
        joints, error = brought([Setting(limb, instance, pose, counted=True) for pose in poses])
        held = [k for k in range(len(joints)) if k not in joints_of_limb]
        turning = [limb.links[k].joint_kind.turns for k in held]
        moved = np.where(turning, (joints[held] + np.pi) % (2.0 * np.pi) - np.pi, joints[held])
        if error <= CLOSED and np.abs(moved).max(initial=0.0) < APART:
            usual[first : first + len(joints_of_limb)] = joints[joints_of_limb]
        first += len(joints_of_limb)
    yield usual


def _by_chance(forward: Forward) -> Iterator[np.ndarray]:
    """Yield poses near random guesses."""
    random = np.random.default_rng(20240501)
    spread = np.where(forward.units == 1.0, 1.5, forward.units)
    for _ in range(PLATFORM_TRIES):
        solution = forward.closed(random.uniform(-1.0, 1.0, len(spread)) * spread)
        if solution is not None:
            yield solution
