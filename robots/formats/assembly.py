"""Loops closed numerically: from rough positions of joints to a reference pose in which all joints meet.

Positions are found once, for the defaults of the parameters; kernels go on from there for other values. The conditions
are those of the closures of `tasks.mechanics.kinematics`, in plain numbers. Source: damped least squares, Levenberg
1944.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from robots import geometry
from robots.formats.checks import Pose, joined
from robots.joint_kinds import JOINT_KINDS, X, Y, Z
from robots.model import PLATFORM, Closure, Frame, Instance, Limb, Link, Mechanism
from robots.types import BASE, Matrix

CLOSED = 1e-12
"""Residuals [m, or cosine] of loops that are closed; what is better is left as it is, so that texts are read back."""

STEPS, SHIFT, SPREAD = 300, 1e-6, 0.05
ASSEMBLED = 1e-9
"""Residuals [m, or cosine] of loops that count as closed."""
ASIDE = (0.1, 0.2, 0.4, 0.7, 1.0, 1.4)
"""Distances of further initial guesses from the rough positions [rad or m]."""
PATIENCE = 20
"""Steps from other guesses without gaining a thousandth, after which they lead nowhere."""
RANK = 1e-8


@dataclass(frozen=True)
class Setting:
    """A limb in numbers, where it is mounted, and the pose of the platform.

    `counted` says that joints that follow others are at zero with these, so that they have to keep their ratios; where
    positions are rough ones of a file, followers are held. With `towards` axes that both ends of a cut joint share have
    to point the same way, which takes steps there from where they do not.
    """

    limb: Limb
    instance: Instance
    home: Frame
    counted: bool = False
    towards: bool = False

    def poses(self, values: np.ndarray) -> dict[int, Pose]:
        """Poses of the bodies for positions of the joints of the tree."""
        world = (np.eye(3), np.zeros(3))
        at = {BASE: joined(world, self.instance.base)}
        at[PLATFORM] = joined(joined(world, self.home), self.instance.platform)
        for k, (link, value) in enumerate(zip(self.limb.links, values, strict=True)):
            outer = joined(at[link.parent], link.placement)
            at[k] = joined(outer, moved(Frame(), link, float(value)))
        return at

    def residual(self, values: np.ndarray) -> np.ndarray:
        """Compute the residuals of all conditions of all cut joints.

        With `counted` the residuals of the couplings follow, with `towards` those of the directions of shared axes.
        """
        at = self.poses(values)
        kept = list[float]()
        for entry in self.limb.couplings if self.counted else ():
            follower, of = self.limb.index(entry.joint), self.limb.index(entry.of)
            kept.append(float(values[follower] - float(entry.ratio) * values[of]))
        kept += [cosine - 1.0 for cosine in self._shared(at)] if self.towards else []
        return np.array([*(x for cut in self.limb.cuts for x in conditions(cut, at)), *kept])

    def facing(self, values: np.ndarray) -> bool:
        """Return whether the axes that both ends of a cut joint share point the same way.

        The conditions of a cut joint do not decide this.
        """
        return all(cosine > 0.0 for cosine in self._shared(self.poses(values)))

    def _shared(self, at: Mapping[int, Pose]) -> Iterator[float]:
        """Cosines between axes that both ends of cut joints share."""
        for cut in self.limb.cuts:
            turning = JOINT_KINDS[cut.kind].turning
            r_a, r_b = (joined(at[body], frame)[0] for body, frame in ((cut.a, cut.frame_a), (cut.b, cut.frame_b)))
            for axis in () if len(turning) > 1 else turning or (Z, X):
                yield float(r_a[:, axis] @ r_b[:, axis])

    def widest(self, values: np.ndarray) -> str:
        """Return the cut joint that is furthest from closed."""
        at = self.poses(values)
        return max(self.limb.cuts, key=lambda cut: max(map(abs, conditions(cut, at)))).joint

    def slopes(self, values: np.ndarray) -> np.ndarray:
        """Derivatives of the residual over the joints, by central differences."""
        steps = np.eye(len(values)) * SHIFT
        return np.stack(
            [(self.residual(values + s) - self.residual(values - s)) / (2.0 * SHIFT) for s in steps], axis=1
        )


def conditions(cut: Closure, at: Mapping[int, Pose]) -> Iterator[float]:
    """Yield the residual of each condition of a cut joint [m, or cosine]."""
    (r_a, p_a), (r_b, p_b) = joined(at[cut.a], cut.frame_a), joined(at[cut.b], cut.frame_b)
    kind, gap = JOINT_KINDS[cut.kind], r_a.T @ (p_b - p_a)
    yield from (float(gap[axis]) for axis in (X, Y, Z) if axis not in kind.sliding)
    turning = kind.turning
    if len(turning) == 2:
        yield float(r_a[:, turning[0]] @ r_b[:, turning[1]])
    elif len(turning) < 2:
        shared = turning[0] if turning else Z
        across = [axis for axis in (X, Y, Z) if axis != shared]
        yield from (float(r_a[:, axis] @ r_b[:, shared]) for axis in across)
        if not turning:
            yield float(r_a[:, across[0]] @ r_b[:, across[1]])
    if kind.coupled and cut.pitch is not None:
        angle = math.atan2(float(r_a[:, Y] @ r_b[:, X]), float(r_a[:, X] @ r_b[:, X]))
        yield float(gap[Z]) - float(cut.pitch) * angle


def close_from_rough(setting: Setting, rough: np.ndarray, held: Collection[int] = ()) -> tuple[np.ndarray, float]:
    """The same from rough positions, and where these lead nowhere, from others beside them, always the same ones.

    Joints that are all at zero often are where the slopes of what is open vanish, though loops could close.
    """
    values, error = close(setting, rough, held)
    random = np.random.default_rng(20240501)
    free = [k for k in range(len(rough)) if k not in held]
    done = error <= ASSEMBLED and setting.facing(values)
    for spread in () if done else ASIDE:
        guess = np.array(rough, dtype=float)
        guess[free] += random.uniform(-spread, spread, len(free))
        start, residual = close(setting, guess, held, PATIENCE)
        if residual <= ASSEMBLED and setting.facing(start):
            return start, residual
    return values, error


def close_facing(setting: Setting, rough: np.ndarray, named: Collection[int]) -> tuple[np.ndarray, float]:
    """Positions near rough ones of the joints that are `named`, which stay while all others are found; what stays open.

    Where axes that both ends of a cut joint share point against each other, as conditions allow, that they face each
    other is a condition as well, from positions of the other joints beside rough ones, always the same ones. Where all
    lead nowhere, the first.
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
    """Positions of the joints near a guess with all loops closed, `held` ones as they are; and what stays open.

    patience: steps after which it ends that have not made what is open smaller by a thousandth.
    """
    values, damping = np.array(guess, dtype=float), 1e-3
    free = [k for k in range(len(values)) if k not in held]
    residual = setting.residual(values)
    mark, since = np.inf, 0
    for step_number in range(STEPS):
        size = float(np.abs(residual).max(initial=0.0))
        if size < 0.999 * mark:
            mark, since = size, step_number
        if size <= CLOSED or not free or step_number - since > patience:
            break
        slopes = setting.slopes(values)[:, free]
        whole = np.vstack([slopes, math.sqrt(damping) * np.eye(len(free))])
        step = np.linalg.lstsq(whole, np.concatenate([-residual, np.zeros(len(free))]), rcond=None)[0]
        trial = values.copy()
        trial[free] += step * min(1.0, 0.5 / max(float(np.abs(step).max()), 1e-300))
        after = setting.residual(trial)
        if after @ after < residual @ residual:
            values, residual, damping = trial, after, max(damping * 0.1, 1e-18)
        elif damping > 1e6:
            break
        else:
            damping *= 10.0
    return values, float(np.abs(residual).max(initial=0.0))


def independent(setting: Setting, reference: np.ndarray, preferred: Sequence[str] = ()) -> tuple[str, ...]:
    """Joints of a closed chain that determine all others near a reference; `preferred` ones where they can."""
    random, links = np.random.default_rng(20240501), setting.limb.links
    poses = [reference]
    for _ in range(3):
        near, error = close(setting, reference + random.uniform(-SPREAD, SPREAD, len(links)))
        poses += [near] if error <= 1e-9 else []
    slopes = [setting.slopes(values) for values in poses]
    order = [k for k, link in enumerate(links) if link.joint not in preferred]
    order += [k for k, link in enumerate(links) if link.joint in preferred]
    dependent = _dependent(slopes, order, sum(link.joint not in preferred for link in links))
    return tuple(link.joint for k, link in enumerate(links) if k not in dependent)


def _dependent(slopes: Sequence[np.ndarray], order: Sequence[int], unwanted: int) -> set[int]:
    """Return the columns that span all, best conditioned; those that come first in the order where they suffice."""
    slope_rows, members = [np.array(entry) for entry in slopes], set[int]()
    for group in (order[:unwanted], order[unwanted:]):
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


def moved(frame: Frame, link: Link, value: float) -> Frame:
    """Return the frame of a joint at a position of its variable [rad or m], from the frame where that is zero."""
    row, axis = link.joint_kind, link.axis
    rotation: Matrix = frame.rotation
    way = value if link.pitch is None else value * link.pitch
    x, y, z = (entry * way for entry in axis) if row.slides else (0.0, 0.0, 0.0)
    position = [
        p + (r[0] * x + r[1] * y + r[2] * z if row.slides else 0.0)
        for p, r in zip(frame.position, frame.rotation, strict=True)
    ]
    if row.turns:
        name, sign = next(
            (n, s)
            for n, unit in zip("xyz", np.eye(3), strict=True)
            for s in (1.0, -1.0)
            if tuple(unit * s) == tuple(axis)
        )
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
