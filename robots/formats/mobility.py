"""Mobility of the platform of a robot at its reference pose, from the velocities of all joints and bodies there.

A velocity of the mechanism is a rate of every joint of the limbs, and the twist of the platform; every closure
constrains it. The remaining velocities have to contain the declared mobility, and none of it where all actuators
are held. Harmless rotations, of a rod between two balls or a platform on a single hinge, are not checked.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from robots.formats.assembly import Setting
from robots.formats.checks import FormatFinding, Pose, joined, poses_at
from robots.joint_kinds import Freedom
from robots.model import PLATFORM, Closure, Frame, Limb, Mechanism
from robots.types import BASE, TWIST, Number

Array = NDArray[np.float64]

RANK = 1e-9
"""Share of the largest singular value below which one counts as zero."""

NUMERIC_RANK = 1e-7
"""The same of a matrix of central differences."""

LOOSE = 1e-4
"""Share of a coordinate in a velocity of length one from which on it moves, by such a matrix."""

MOVES = 1e-6
"""Share of the platform in a velocity of length one from which on the platform moves."""


def check_home(mechanism: Mechanism) -> Iterator[FormatFinding]:
    """Yield a mobility that the limbs do not allow, and a reference pose that the actuators do not hold."""
    if mechanism.is_chain:
        yield from _check_coordinates(mechanism)
        return
    rows, driven = _constraints(mechanism)
    free = _motions(rows)
    mobility = mechanism.platform.mobility
    declared = [TWIST.index(name) for name in mobility]
    if missing := [name for name in mobility if not _allows(free, TWIST.index(name))]:
        got = f"{', '.join(missing)}, in which the limbs let nothing move at the reference pose"
        hint = f"They allow {np.linalg.matrix_rank(free, tol=MOVES)} freedoms there."
        yield FormatFinding(("platform", "mobility"), got, "freedoms that the limbs allow", hint)
        return
    held = _motions(np.delete(rows, driven, axis=1))[:, declared]
    if np.abs(held).max(initial=0.0) > MOVES:
        motion = held[np.argmax(np.abs(held).max(axis=1))]
        named = ", ".join(name for name, x in zip(mobility, motion, strict=True) if abs(x) > 0.1 * np.abs(motion).max())
        got = f"a singular pose: with all actuators held the platform moves along {named}"
        hint = "The least singular value is zero there; change the reference pose, or where the limbs are mounted."
        yield FormatFinding(("platform", "home"), got, "a pose that the actuators hold", hint)


def _check_coordinates(mechanism: Mechanism) -> Iterator[FormatFinding]:
    """Yield a reference pose of a platform whose coordinates follow that the actuators do not hold, or the limbs."""
    (limb,), (instance,) = mechanism.limbs, mechanism.instances
    if not limb.coordinates:
        return
    setting = Setting(limb, instance, Frame())
    slopes = setting.slopes(np.zeros(len(limb.links)))
    names = [link.joint for link in limb.links]
    for fixed, got, hint in (
        (mechanism.freedoms, "coordinates that do not determine the platform", "Give more coordinates, or other ones."),
        (limb.actuated, "a singular pose: with all actuators held the platform moves", "Change the reference pose."),
    ):
        free = [k for k, name in enumerate(names) if name not in fixed]
        _, values, directions = np.linalg.svd(slopes[:, free])
        free_directions = directions[int((values > NUMERIC_RANK * values[0]).sum()) :]
        moving = [
            names[k]
            for n, k in enumerate(free)
            if names[k] in limb.coordinates and np.abs(free_directions[:, n]).max(initial=0.0) > LOOSE
        ]
        if moving:
            along = ", ".join(name.partition("_")[2] for name in moving)
            yield FormatFinding(("platform", "home"), f"{got} along {along}", "a pose that the actuators hold", hint)
            return


def _allows(free: Array, component: int) -> bool:
    """Return whether the remaining motions (motions, 6) contain a twist along one component."""
    if not len(free):
        return False
    unit = np.eye(len(TWIST))[component]
    weights = np.linalg.lstsq(free.T, unit, rcond=None)[0]
    return bool(np.abs(free.T @ weights - unit).max() < MOVES)


def _motions(rows: Array) -> Array:
    """Return the platform's part (motions, 6) of the velocities that no row forbids; its columns are the last six."""
    if not rows.size:
        return np.eye(rows.shape[1])[:, -len(TWIST) :]
    _, values, directions = np.linalg.svd(rows)
    rank = int((values > RANK * values[0]).sum())
    return directions[rank:, -len(TWIST) :]


def _constraints(mechanism: Mechanism) -> tuple[Array, list[int]]:
    """Return the rows of all closures over the rates of all joints and the twist, and the columns of driven joints."""
    home = mechanism.platform.home
    limbs = [mechanism.limbs[each.limb] for each in mechanism.instances]
    poses = [poses_at(limb, each, home) for limb, each in zip(limbs, mechanism.instances, strict=True)]
    scale = max((float(np.linalg.norm(p)) for at in poses for _, p in at.values()), default=1.0) or 1.0
    width = sum(len(limb.links) for limb in limbs) + len(TWIST)
    origin = np.array(home.position, dtype=float) / scale
    rows, driven, first = [np.zeros((0, width))], list[int](), 0
    for limb, at in zip(limbs, poses, strict=True):
        lengths = {k: (r, p / scale) for k, (r, p) in at.items()}
        for closure in (*limb.tips, *limb.loops):
            rows.append(_rows(closure, limb, lengths, first, origin, width, scale))
        for entry in limb.couplings:
            row = np.zeros((1, width))
            row[0, first + limb.index(entry.joint)], row[0, first + limb.index(entry.of)] = -1.0, float(entry.ratio)
            rows.append(row)
        driven += [first + k for k, link in enumerate(limb.links) if link.joint in limb.actuated]
        first += len(limb.links)
    return np.concatenate(rows), driven


def _rows(
    closure: Closure, limb: Limb, at: dict[int, Pose], first: int, origin: Array, width: int, scale: float
) -> Array:
    """Return the rows of one closure: components of the velocity of one side relative to the other that it forbids."""
    (r_a, p_a), (r_b, _) = (
        joined(at[body], _scaled(frame, scale))
        for body, frame in ((closure.a, closure.frame_a), (closure.b, closure.frame_b))
    )
    sides = [_twist_at(body, p_a, limb, at, first, origin, width, scale) for body in (closure.a, closure.b)]
    axes = {"a": r_a, "b": r_b}
    free: list[Array] = [
        _unit_twist(each, axes[each.side][:, each.axis], np.zeros(3), closure.pitch, scale)
        for each in closure.joint_kind.freedoms
    ]
    held = np.linalg.svd(free)[2][len(free) :] if free else np.eye(len(TWIST))
    return held @ (sides[1] - sides[0])


def _unit_twist(freedom: Freedom, axis: Array, arm: Array, pitch: Number | None, scale: float) -> Array:
    """(angular, linear) (6,) of a point that is `arm` away from a freedom's axis, for a unit of its variable."""
    turned = np.concatenate([axis, np.cross(axis, arm)]) if freedom.turns else np.zeros(6)
    way = (1.0 if pitch is None else float(pitch) / scale) if freedom.slides else 0.0
    return np.concatenate([turned[:3], turned[3:] + axis * way])


def _twist_at(
    body: int, point: Array, limb: Limb, at: dict[int, Pose], first: int, origin: Array, width: int, scale: float
) -> Array:
    """Angular velocity and velocity of a body at a point, (6, width)."""
    made = np.zeros((6, width))
    if body == PLATFORM:
        made[:, -6:] = np.eye(6)
        arm = point - origin
        made[3:, -6:-3] = -np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
        return made
    while body != BASE:
        link, (rotation, position) = limb.links[body], at[body]
        axis = rotation @ np.array(link.axis, dtype=float)
        (freedom,) = link.joint_kind.freedoms
        made[:, first + body] = _unit_twist(freedom, axis, point - position, link.pitch, scale)
        body = link.parent
    return made


def _scaled(frame: Frame, scale: float) -> Frame:
    """Return a frame in other units of length."""
    x, y, z = (float(each) / scale for each in frame.position)
    return Frame(frame.rotation, (x, y, z))
