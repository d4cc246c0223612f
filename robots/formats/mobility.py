"""Mobility of the platform of a robot at its reference pose, from the velocities of all joints and bodies there.

A velocity of the mechanism is a rate of every joint of the limbs, and the twist of the platform; every closure
constrains it. The remaining velocities have to contain the declared mobility, and none of it where all actuators
are held. Harmless rotations, of a rod between two balls or a platform on a single hinge, are not checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from robots.coupled import COORDINATES
from robots.data_classes import dataclass
from robots.formats.assembly import ASSEMBLED, PATIENCE, Setting, close
from robots.formats.checks import FormatFinding, Pose, joined, poses_at
from robots.formats.poses import frame_of, of_quaternion, pose_of
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

STEPS_BESIDE = (0.03, 0.02, 0.01, 0.003)
"""Displacements of the platform from the reference pose, in radians and in sizes of the robot."""


def check_home(mechanism: Mechanism) -> Iterator[FormatFinding]:
    """Yield a mobility that differs from the freedoms of the limbs, and a reference pose that actuators do not hold."""
    if mechanism.is_chain:
        yield from _check_coordinates(mechanism)
        return
    home = _placed_at_home(mechanism)
    rows, driven = _constraints(mechanism, home)
    free, held = _motions(rows), _motions(np.delete(rows, driven, axis=1))
    mobility = mechanism.platform.mobility
    declared = [TWIST.index(name) for name in mobility]
    if missing := [name for name in mobility if not _allows(free, TWIST.index(name))]:
        got = f"{', '.join(missing)}, in which the limbs let nothing move at the reference pose"
        hint = f"They allow {_told_freedoms(free)} there{_beside(mechanism, home, free)}"
        yield FormatFinding(("platform", "mobility"), got, "freedoms that the limbs allow", hint)
    elif np.abs(held[:, declared]).max(initial=0.0) > MOVES:
        motion = held[np.argmax(np.abs(held[:, declared]).max(axis=1))][declared]
        named = ", ".join(name for name, x in zip(mobility, motion, strict=True) if abs(x) > 0.1 * np.abs(motion).max())
        got = f"a singular pose: with all actuators held the platform moves along {named}"
        hint = _singular_hint(mechanism, home, declared)
        yield FormatFinding(("platform", "home"), got, "a pose that the actuators hold", hint)
    elif (driven_freedoms := _rank(free) - _rank(held)) > len(mobility):
        further = [name for name in TWIST if name not in mobility and _allows(free, TWIST.index(name))]
        named = f": {', '.join(further)} too" if further else ""
        got = f"{len(mobility)} freedoms where limbs and actuators move {driven_freedoms}{named}"
        hint = "Forces hold only the freedoms that the mobility names; a sweep need not move along all of them."
        yield FormatFinding(("platform", "mobility"), got, "all freedoms that the actuators move", hint)
    else:
        yield from _check_beside(mechanism, home, declared)


def freedoms_at_home(mechanism: Mechanism) -> int:
    """Return the count of motions that the limbs leave a platform at its reference pose, declared or not."""
    return _rank(_motions(_constraints(mechanism, _placed_at_home(mechanism))[0]))


def _told_freedoms(free: Array) -> str:
    """Return the count of free motions (motions, 6), with the names of components that each move alone."""
    count, alone = _rank(free), [name for k, name in enumerate(TWIST) if _allows(free, k)]
    some = f" ({', '.join(alone)}{'' if len(alone) == count else ' and motions of several'})" if alone else ""
    return f"{count} freedoms{some}"


def _beside(mechanism: Mechanism, home: PlacedRobot, free: Array) -> str:
    """Return the end of a sentence on the freedoms at the reference pose: their count beside it where that differs."""
    count = _rank(free)
    near = [placed for way in _ways(free) if (placed := _moved(mechanism, home, way)) is not None]
    if not near:
        return "."
    beside = min(_rank(_motions(_constraints(mechanism, placed)[0])) for placed in near)
    if beside == count:
        return "."
    return f", {beside} beside it: it is singular there. Choose another reference pose."


def _singular_hint(mechanism: Mechanism, home: PlacedRobot, declared: Sequence[int]) -> str:
    """Return advice for a pose that actuators do not hold: whether they hold the platform beside it."""
    for way in _ways(np.eye(len(TWIST))[declared]):
        placed = _moved(mechanism, home, way)
        if placed is None:
            continue
        rows, driven = _constraints(mechanism, placed)
        if np.abs(_motions(np.delete(rows, driven, axis=1))[:, declared]).max(initial=0.0) <= MOVES:
            return "They hold it near this pose: choose another reference pose."
    return "They do not hold it near this pose either: drive other joints, or change mount frames or axes of the limbs."


def _check_beside(mechanism: Mechanism, home: PlacedRobot, declared: Sequence[int]) -> Iterator[FormatFinding]:
    """Yield a mobility that the limbs allow at the reference pose and not beside it, as others follow from it there."""
    ways = [*_ways(np.eye(len(TWIST))[declared])]
    if any(_moved(mechanism, home, way) is not None for way in ways):
        return
    mobility = mechanism.platform.mobility
    got = f"{', '.join(mobility)}, along which the limbs let nothing move further than from the reference pose"
    names = [name for name, twist in zip(COORDINATES, (*TWIST[3:], *TWIST[2::-1]), strict=True) if twist in mobility]
    hint = f"Name coordinates: [{', '.join(names)}] in place of mobility where others of the platform follow from them."
    yield FormatFinding(("platform", "mobility"), got, "freedoms near the reference pose", hint)


def _ways(directions: Array) -> Iterator[Array]:
    """Yield small twists (6,) along directions (n, 6), which are the same in every run; lengths in sizes of a robot."""
    random = np.random.default_rng(20240501)
    for share in STEPS_BESIDE:
        way = random.uniform(-1.0, 1.0, len(directions)) @ directions
        size = float(np.linalg.norm(way)) or 1.0
        yield from (share / size * way, -share / size * way)


def _moved(mechanism: Mechanism, home: PlacedRobot, way: Array) -> PlacedRobot | None:
    """Return the robot with its platform moved by a small twist; None where limbs do not close there."""
    rotation, position = pose_of(home.home)
    turn = of_quaternion((1.0, *(0.5 * way[:3])))
    frame, poses = frame_of((turn @ rotation, position + home.scale * way[3:])), list[dict[int, Pose]]()
    for instance in mechanism.instances:
        setting = Setting(mechanism.limbs[instance.limb], instance, frame, counted=True)
        values, residual = close(setting, np.zeros(len(setting.limb.links)), patience=PATIENCE)
        if residual > ASSEMBLED * max(1.0, home.scale):
            return None
        poses.append(setting.poses(values))
    return PlacedRobot(frame, tuple(poses), home.scale)


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


def _rank(motions: Array) -> int:
    """Return the count of independent motions (motions, 6)."""
    return int(np.linalg.matrix_rank(motions, tol=MOVES)) if motions.size else 0


@dataclass(frozen=True)
class PlacedRobot:
    """Poses of all bodies of a robot: of its platform, and by limb; and its size [m]."""

    home: Frame
    poses: tuple[dict[int, Pose], ...]
    scale: float


def _placed_at_home(mechanism: Mechanism) -> PlacedRobot:
    """Return the robot at its reference pose."""
    home = mechanism.platform.home
    poses = tuple(poses_at(mechanism.limbs[each.limb], each, home) for each in mechanism.instances)
    scale = max((float(np.linalg.norm(p)) for at in poses for _, p in at.values()), default=1.0) or 1.0
    return PlacedRobot(home, poses, scale)


def _constraints(mechanism: Mechanism, placed: PlacedRobot) -> tuple[Array, list[int]]:
    """Return the rows of all closures over the rates of all joints and the twist, and the columns of driven joints."""
    limbs, scale = [mechanism.limbs[each.limb] for each in mechanism.instances], placed.scale
    width = sum(len(limb.links) for limb in limbs) + len(TWIST)
    origin = np.array(placed.home.position, dtype=float) / scale
    rows, driven, first = [np.zeros((0, width))], list[int](), 0
    for limb, at in zip(limbs, placed.poses, strict=True):
        lengths = {k: (r, p / scale) for k, (r, p) in at.items()}
        for closure in (*limb.tips, *limb.loops):
            rows.append(_rows(closure, limb, lengths, first, origin, width, scale))
        for joint, leaders in limb.followers.items():
            row = np.zeros((1, width))
            row[0, first + joint] = -1.0
            for leader, ratio in leaders:
                row[0, first + leader] = float(ratio)
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
    """Return the twist (angular, linear) (6,) of a point that is `arm` away from a freedom's axis, at unit rate."""
    turned = np.concatenate([axis, np.cross(axis, arm)]) if freedom.turns else np.zeros(6)
    way = (1.0 if pitch is None else float(pitch) / scale) if freedom.slides else 0.0
    return np.concatenate([turned[:3], turned[3:] + axis * way])


def _twist_at(
    body: int, point: Array, limb: Limb, at: dict[int, Pose], first: int, origin: Array, width: int, scale: float
) -> Array:
    """Return angular velocity and velocity of a body at a point, (6, width), one column per freedom."""
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
