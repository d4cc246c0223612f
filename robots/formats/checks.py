"""Numerical checks of a mechanism: findings, each with the path of the keys in a robot file that it concerns.

Shapes, names and kinds are checked earlier. The checks here find physically impossible inertias, frames that are no
rotations, sizes that look like millimetres, and loops that are open at the reference pose.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence

import numpy as np

from robots.data_classes import dataclass
from robots.drives import Drive, Motor
from robots.joint_kinds import JOINT_KINDS
from robots.model import PLATFORM, Closure, Frame, Inertia, Instance, Limb, Link, Mechanism
from robots.types import BASE

Path = tuple[str | int, ...]

LONGEST = 1e2
"""Largest distance [m] from a joint to the next or to a centre of mass; larger values are probably millimetres."""

FARTHEST = 1e4
"""Largest distance [m] from the base to a joint on it: files of worlds have robots at any place."""

HEAVIEST = 1e6
"""Kilograms."""

TOLERANCE = 1e-9
"""Relative errors of rotations and inertias that may be rounding."""

SMALLEST = 1e-6
"""Radius of gyration [m] below which the moments of a body are not checked."""

OF_BODY = "no moment above the sum of the others"
"""Principal moments of a body that could exist."""

ONE_AXIS = "It turns about one axis alone, so that the others count only where the base moves."
"""Reason why moments across the only axis are taken as they are."""

GAP = 1e-6
"""Metres, and for directions radians, by which a loop may be open at the reference pose."""


@dataclass(frozen=True)
class FormatFinding:
    """One value that makes no sense: its keys, the value, the expected one, and advice."""

    path: Path
    got: str
    expected: str
    hint: str = ""


def check(
    mechanism: Mechanism, massless: Container[str] = (), *, strict: bool = False
) -> Iterator[FormatFinding]:  # fmt: skip
    """Yield findings about impossible or inconsistent content of a mechanism with finite numbers.

    `massless` bodies may have no inertia. Unless `strict`, bodies that turn about one axis alone may have any moments
    across it.
    """
    for limb in mechanism.limbs:
        yield from _limb(limb, ("limbs", limb.name), massless, strict=strict)
    frames, places = check_instances(mechanism)
    yield from frames
    if not mechanism.is_chain:
        yield from check_inertia(mechanism.platform.inertia, ("platform", "inertia"))
        yield from _frame(mechanism.platform.home, ("platform", "home"))
    yield from places
    driven, free = len(mechanism.actuators), len(mechanism.freedoms)
    if not mechanism.is_chain and driven < free:
        hint = "Name the driven joints of each limb under actuated."
        yield FormatFinding(
            ("platform", "mobility"), f"{free} freedoms and {driven} actuators", "at least as many", hint
        )


def check_instances(mechanism: Mechanism) -> tuple[list[FormatFinding], list[FormatFinding]]:
    """Return findings about mount frames that are not valid frames, and about limbs that share a place."""
    frames = [
        finding
        for each in mechanism.instances
        for name, frame in (("base", each.base), ("platform", each.platform))
        for finding in _frame(frame, ("instances", each.name, name))
    ]
    return frames, list(_instances(mechanism))


def check_loops(mechanism: Mechanism) -> Iterator[FormatFinding]:
    """Yield closures whose frames do not meet at the reference pose, in a mechanism that is otherwise sound."""
    seen = set[Path]()
    for each in mechanism.instances:
        limb = mechanism.limbs[each.limb]
        at = poses_at(limb, each, mechanism.platform.home)
        for name, closures in (("tips", limb.tips), ("loops", limb.loops)):
            for k, closure in enumerate(closures):
                path = ("limbs", limb.name, name, k)
                if path not in seen and (problem := _open(closure, at)):
                    hint = (
                        f"Seen in {each.name}; joint variables count from the reference pose. "
                        "Rough positions of joints under reference are closed numerically."
                    )
                    seen.add(path)
                    yield FormatFinding(path, problem, "frames that meet", hint)


def _limb(limb: Limb, path: Path, massless: Container[str], *, strict: bool) -> Iterator[FormatFinding]:
    for k, link in enumerate(limb.links):
        if strict or not counts_about_one_axis(limb, k):
            yield from check_inertia(link.inertia, (*path, "links", k, "inertia"))
        longest = FARTHEST if link.parent == BASE else LONGEST
        yield from _frame(link.placement, (*path, "links", k, "placement"), longest)
        if link.armature < 0:
            yield FormatFinding((*path, "links", k, "armature"), f"{link.armature:g}", "an inertia of at least 0")
        if is_loose(limb, k) and link.body not in massless:
            hint = "It ends the chain and its joint has nothing to move: give it a mass, or name it under massless."
            yield FormatFinding((*path, "links", k, "inertia", "mass"), "0", "a mass above 0 of the last body", hint)
    for k, drive in enumerate(limb.drives):
        yield from _drive(drive, (*path, "drives", k))
    for name, closures in (("tips", limb.tips), ("loops", limb.loops)):
        for k, closure in enumerate(closures):
            yield from _frame(closure.frame_a, (*path, name, k, "frame_a"))
            yield from _frame(closure.frame_b, (*path, name, k, "frame_b"))


def _drive(drive: Drive, path: Path) -> Iterator[FormatFinding]:
    """Yield findings about impossible values of rotors."""
    for k, spin in enumerate(drive.spins):
        place = (*path, "spins", k)
        if abs(math.hypot(*spin.axis) - 1.0) > TOLERANCE:
            got = f"an axis of length {math.hypot(*spin.axis):g}"
            yield FormatFinding((*place, "axis"), got, "length 1", "Divide it by its length.")
        if spin.inertia < 0:
            yield FormatFinding((*place, "inertia"), f"{spin.inertia:g}", "an inertia of at least 0")
        if not 0 <= spin.coupling <= 1:
            yield FormatFinding((*place, "coupling"), f"{spin.coupling:g}", "a number in [0, 1]")
    if drive.motor is not None:
        yield from _motor(drive.motor, (*path, "motor"))


def _motor(motor: Motor, path: Path) -> Iterator[FormatFinding]:
    """Yield findings about impossible values of a motor."""
    if not motor.torque_constant:
        yield FormatFinding((*path, "torque_constant"), "0", "a torque per current other than 0")
    if motor.resistance < 0:
        yield FormatFinding((*path, "resistance"), f"{motor.resistance:g}", "a resistance of at least 0")
    if motor.inductance is not None and not motor.inductance > 0:
        hint = "Leave it out where currents follow at once."
        yield FormatFinding((*path, "inductance"), f"{motor.inductance:g}", "an inductance above 0", hint)
    if motor.bandwidth < 0:
        yield FormatFinding((*path, "bandwidth"), f"{motor.bandwidth:g}", "a rate of at least 0")
    for key, gains in (("current_controller", motor.current_controller), ("speed_controller", motor.speed_controller)):
        if gains is None:
            continue
        if min(gains.proportional, gains.integral) < 0 or not max(gains.proportional, gains.integral) > 0:
            got = f"gains {gains.proportional:g} and {gains.integral:g}"
            yield FormatFinding((*path, key), got, "gains of at least 0, one of them above 0")
        elif key == "speed_controller" and not gains.proportional > 0:
            yield FormatFinding((*path, key), "no proportional gain", "one above 0, without which speeds swing")
        if motor.inductance is None:
            got = "a controller without an inductance"
            yield FormatFinding((*path, key), got, "the inductance of the winding beside it")
    if motor.current_controller is not None and motor.bandwidth > 0:
        got = "a bandwidth beside a current_controller"
        yield FormatFinding((*path, "bandwidth"), got, "one of the two current loops")


def is_loose(limb: Limb, index: int) -> bool:
    """Return whether a link has neither inertia nor armature, and no joint connects another body to it."""
    link = limb.links[index]
    joined_on = {each.parent for each in limb.links} | {body for cut in limb.cuts for body in (cut.a, cut.b)}
    numbers = (link.inertia.mass, link.armature, *(x for row in link.inertia.tensor for x in row))
    return index not in joined_on and not any(numbers)


def check_inertia(inertia: Inertia, path: Path = ()) -> Iterator[FormatFinding]:
    """Yield findings about an inertia that no body can have."""
    mass = inertia.mass
    if not 0 <= mass <= HEAVIEST:
        hint = "Masses are in kg." if mass > 0 else "A body without mass has 0."
        yield FormatFinding((*path, "mass"), f"{mass:g}", f"a mass in [0, {HEAVIEST:g}] kg", hint)
    yield from _near(inertia.centre, (*path, "centre"))
    moments = np.linalg.eigvalsh(np.array(inertia.tensor, dtype=float))
    slack = max(TOLERANCE * np.abs(moments).max(), max(mass, TOLERANCE) * SMALLEST**2, 1e-300)
    if moments[0] < -slack:
        shown = ", ".join(f"{x:g}" for x in moments)
        hint = "Products are entries of the tensor, so minus the sums of m x y."
        yield FormatFinding(path, f"principal moments {shown}", "none below 0", hint)
    elif moments[0] + moments[1] < moments[2] - slack:
        shown = f"{moments[0]:g} + {moments[1]:g} < {moments[2]:g}"
        hint = "Such moments are physically impossible."
        if np.abs(moments[:2]).max() <= slack:  # of a planar model, whose author gave the moment about its axes alone
            hint += f" A thin plate with this moment has {moments[2] / 2:g}, {moments[2] / 2:g} and {moments[2]:g}:"
            hint += " it moves alike in its plane."
        yield FormatFinding(path, f"principal moments {shown}", OF_BODY, hint)
    elif mass > 0 and moments[2] > mass * LONGEST**2:
        hint = "Moments are in kg m^2: divide by 1e9 from g mm^2."
        got = f"a moment of {moments[2]:g} for {mass:g} kg"
        yield FormatFinding(path, got, f"a body of at most {LONGEST:g} m", hint)


def counts_about_one_axis(limb: Limb, index: int) -> bool:
    """Return whether one moment of a body is above the sum of the others, and its motion takes a single one."""
    wrong, axis = list(check_inertia(limb.links[index].inertia)), only_axis(limb.links, index)
    return axis is not None and bool(wrong) and all(each.expected == OF_BODY for each in wrong)


def only_axis(links: Sequence[Link], index: int) -> np.ndarray | None:
    """Return the direction (3,), in the frame of a body, about which alone it turns; None without one."""
    turned, only = np.eye(3), None
    while index != BASE:
        if index == PLATFORM:  # which turns as it may
            return None
        link = links[index]
        if JOINT_KINDS[link.kind].turns:
            axis = turned @ np.array(link.axis, dtype=float)
            if only is not None and np.linalg.norm(np.cross(only, axis)) > TOLERANCE:
                return None
            only = axis
        turned, index = turned @ np.array(link.placement.rotation, dtype=float).T, link.parent
    return only


def _frame(frame: Frame, path: Path, longest: float = LONGEST) -> Iterator[FormatFinding]:
    rotation = np.array(frame.rotation, dtype=float)
    if not np.isfinite(rotation).all():
        hint = "A direction along z of the outer frame leaves x undecided: use turn."
        yield FormatFinding(
            (*path, "along"), "a direction without a level x", "a direction that is not up or down", hint
        )
    elif np.abs(rotation @ rotation.T - np.eye(3)).max() > TOLERANCE or np.linalg.det(rotation) < 0:
        hint = "Rows have length 1, are at right angles, and the determinant is +1."
        yield FormatFinding((*path, "rotation"), "a matrix that is no rotation", "a rotation", hint)
    yield from _near(frame.position, (*path, "position"), longest)


def _near(vector: tuple[float, ...], path: Path, longest: float = LONGEST) -> Iterator[FormatFinding]:
    far = math.hypot(*vector)
    if not far <= longest:
        yield FormatFinding(path, f"{far:g} m", f"at most {longest:g} m", "Lengths are in metres: 500 mm are 0.5.")


def _instances(mechanism: Mechanism) -> Iterator[FormatFinding]:
    for k, each in enumerate(mechanism.instances):
        for earlier in mechanism.instances[:k]:
            if (each.limb, each.base, each.platform) == (earlier.limb, earlier.base, earlier.platform):
                hint = "Each limb needs a place of its own: give base and platform a turn or a position."
                yield FormatFinding(("instances", each.name), f"the place of {earlier.name}", "another place", hint)


Pose = tuple[np.ndarray, np.ndarray]


def joined(outer: Pose, frame: Frame) -> Pose:
    """Return a frame in an outer one, in the base."""
    rotation, position = outer
    turn, at = np.array(frame.rotation, dtype=float), np.array(frame.position, dtype=float)
    return rotation @ turn, position + rotation @ at


def poses_at(limb: Limb, instance: Instance, home: Frame) -> dict[int, Pose]:
    """Return the poses of a limb's bodies at the reference pose, and the mount frames of base and platform."""
    world = (np.eye(3), np.zeros(3))
    at = {BASE: joined(world, instance.base), PLATFORM: joined(joined(world, home), instance.platform)}
    for k, link in enumerate(limb.links):
        at[k] = joined(at[link.parent], link.placement)
    return at


def _open(closure: Closure, at: dict[int, Pose]) -> str:
    """Describe the gap or the angle by which a closure is open; an empty text where it is closed."""
    (r_a, p_a), (r_b, p_b) = joined(at[closure.a], closure.frame_a), joined(at[closure.b], closure.frame_b)
    gap = p_b - p_a
    for freedom in closure.joint_kind.freedoms:
        if freedom.slides and not freedom.turns:
            gap = gap - r_a[:, freedom.axis] * (r_a[:, freedom.axis] @ gap)
    if (far := float(np.linalg.norm(gap))) > GAP:
        return f"a gap of {far:.6g} m at the reference pose"
    if (turned := _turned(closure, r_a, r_b)) > GAP:
        return f"axes that are {turned:.6g} rad apart at the reference pose"
    return ""


def _turned(closure: Closure, a: np.ndarray, b: np.ndarray) -> float:
    """Compute the angular error of a closure from the axes (3, 3) of both sides [rad].

    The error is half a turn where the axes oppose. The angle of a screw is zero where it has not slid.
    """
    turning = [each.axis for each in closure.joint_kind.freedoms if each.turns and not each.slides]
    if len(turning) == 3:
        return 0.0
    if len(turning) == 2:
        return float(abs(a[:, turning[0]] @ b[:, turning[1]]))
    if len(turning) == 1:
        across = float(np.linalg.norm(np.cross(a[:, turning[0]], b[:, turning[0]])))
        return math.atan2(across, float(a[:, turning[0]] @ b[:, turning[0]]))
    return 2.0 * math.asin(min(1.0, float(np.linalg.norm(a - b)) / math.sqrt(8.0)))
