"""Inverse kinematics in closed form of robots of the literature, on the branch of their reference poses.

As in `branches`: circles, spheres and planes alone, no iteration. Functions of platforms take parameters, positions
(n, 3) and rotations (n, 3, 3) and give actuator positions (n, actuator) and whether the branch reaches the pose (n,);
those of chains take parameters and the given joints (n, freedom), and give some other joints by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tests.reference.branches import Array, Parameters, Solution, _limbs, _planes, _together, _two_links

Joints = tuple[Mapping[str, Array], Array]
QUARTERS: Mapping[str, tuple[float, float]] = {"x": (1.0, 0.0), "y": (0.0, 1.0), "-x": (-1.0, 0.0), "-y": (0.0, -1.0)}
HAND_ON = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""Takes x to y, y to z, z to x."""


def _root(square: Array) -> tuple[Array, Array]:
    """A square root, and whether there is one above zero."""
    return np.sqrt(np.maximum(square, 0.0)), square > 0.0


def _far(rod: float, aside: Array) -> Array:
    """Length of a rod in a plane that its end is aside of; NaN where it does not come so far."""
    with np.errstate(invalid="ignore"):
        return np.sqrt(rod**2 - aside**2)


def _bent(near: float, far: float, end: tuple[float, float]) -> tuple[float, float]:
    """The elbow of two links, to the left of the line from the first joint to the end."""
    reach, toward = np.hypot(*end), np.arctan2(end[1], end[0])
    angle = toward + np.arccos((near**2 + reach**2 - far**2) / (2.0 * near * reach))
    return float(near * np.cos(angle)), float(near * np.sin(angle))


def _polar(radius: float, angle: float) -> Array:
    return radius * np.array([np.cos(angle), np.sin(angle), 0.0])


def _corners(p: Parameters, position: Array, rotation: Array, count: int) -> list[Array]:
    """Joints of a platform that turns (n, 3), in the axes of each limb, from its mount frame at the base."""
    ends = []
    for k, angle in enumerate(_limbs(count)):
        corner = position + rotation @ _polar(-p["platform_radius"], angle) - _polar(-p["base_radius"], angle)
        ends.append(_planes(corner, count)[k])
    return ends


def linear_delta(p: Parameters, position: Array, rotation: Array) -> Solution:
    """Carriages above their joints at the platform, by what a rod rises."""
    limbs = []
    for place in _planes(position, 3):
        u = place[:, 0] + p["base_radius"] - p["platform_radius"]
        rise, reached = _root(p["rod_length"] ** 2 - u**2 - place[:, 1] ** 2)
        limbs.append((place[:, 2] + rise, reached))
    return _together(limbs)


def _handed(position: Array) -> list[Array]:
    """Positions (n, 3) in the axes of limbs along x, y and z."""
    return [position @ np.linalg.matrix_power(HAND_ON, k) for k in range(3)]


def orthoglide(p: Parameters, position: Array, rotation: Array) -> Solution:
    """Carriages behind their joints at the platform, by how far a parallelogram reaches along the rail."""
    limbs, span = [], p["rod_length"]
    for place in _handed(position):
        ahead, reached = _root(span**2 - place[:, 1] ** 2 - place[:, 2] ** 2)
        limbs.append((place[:, 0] + span - ahead, reached))
    return _together(limbs)


def tripteron(p: Parameters, position: Array, rotation: Array) -> Solution:
    """Each rail moves one coordinate; two links across it have to reach the platform."""
    limbs, near, far = [], p["proximal_length"], p["distal_length"]
    for place in _handed(position):
        reach = np.hypot(place[:, 1] + p["base_offset"] - p["platform_offset"], place[:, 2])
        limbs.append((place[:, 0], (reach < near + far) & (reach > abs(near - far))))
    return _together(limbs)


def planar_3rrr(p: Parameters, position: Array, rotation: Array) -> Solution:
    """Three arms of two links in a plane."""
    near, far, end = p["proximal_length"], p["distal_length"], (p["base_radius"] - p["platform_radius"], 0.0)
    elbow = _bent(near, far, end)
    ends = _corners(p, position, rotation, 3)
    return _together([_two_links(e[:, 0], e[:, 1], near, np.full(len(e), far), elbow, end) for e in ends])


def schoenflies_4ruu(p: Parameters, position: Array, rotation: Array) -> Solution:
    """Four level arms, elbows to the left and to the right by turns."""
    arm, rod, end = p["arm_length"], p["rod_length"], (p["base_radius"] - p["platform_radius"], 0.0)
    home = np.deg2rad(p["home_angle"])
    x, y = float(arm * np.cos(home)), float(arm * np.sin(home))
    drop = np.sqrt(rod**2 - (end[0] - x) ** 2 - y**2)
    assert drop > 0
    limbs = []
    for e, sign in zip(_corners(p, position, rotation, 4), (1.0, -1.0, -1.0, 1.0), strict=True):
        limbs.append(_two_links(e[:, 0], e[:, 1], arm, _far(rod, e[:, 2]), (x, sign * y), end))
    return _together(limbs)


def _pairs(half_angle: float, middle: float) -> list[float]:
    return [np.deg2rad(120.0 * pair + middle + side * half_angle) for pair in range(3) for side in (-1.0, 1.0)]


def _hexapod_corners(p: Parameters) -> list[Array]:
    six = _pairs(p["platform_half_angle"], 60.0)
    return [_polar(p["platform_radius"], six[(k + 5) % 6]) for k in range(6)]


def hexa(p: Parameters, position: Array, rotation: Array) -> Solution:
    """Six cranks, each in the upright plane in which its rod is at the reference pose."""
    crank, rod, limbs = p["crank_length"], p["rod_length"], []
    for angle, corner in zip(_pairs(p["base_half_angle"], 0.0), _hexapod_corners(p), strict=True):
        base = _polar(p["base_radius"], angle)
        end = (float(np.linalg.norm(corner - base)), p["home_height"])
        ahead = (corner - base) / end[0]
        aside = np.array([-ahead[1], ahead[0], 0.0])
        at = position + rotation @ corner - base
        limbs.append(_two_links(at @ ahead, at[:, 2], crank, _far(rod, at @ aside), _bent(crank, rod, end), end))
    return _together(limbs)


def hexaglide(p: Parameters, position: Array, rotation: Array) -> Solution:
    """Six carriages on rails along x, before and behind their joints at the platform."""
    rod, limbs = p["rod_length"], []
    level = np.hypot(p["rail_offset"], p["home_depth"])
    along = np.sqrt(rod**2 - level**2)
    sides = ((1, 1), (-1, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
    for (ahead, left), corner in zip(sides, _hexapod_corners(p), strict=True):
        base = np.array([corner[0] - ahead * along, corner[1] + left * p["rail_offset"], 0.0])
        at = position + rotation @ corner - base
        way, reached = _root(rod**2 - at[:, 1] ** 2 - at[:, 2] ** 2)
        limbs.append((ahead * at[:, 0] - way, reached))
    return _together(limbs)


def agile_eye(p: Parameters, position: Array, rotation: Array) -> Solution:
    """Motors turn the middle axes of their limbs across those at the platform. Every orientation is reached."""
    turns = []
    for k in range(3):
        hand = np.linalg.matrix_power(HAND_ON, k)
        axis = (hand.T @ rotation @ hand)[:, :, 2]
        turns.append((np.arctan2(-axis[:, 1], axis[:, 2]), np.ones(len(axis), dtype=bool)))
    return _together(turns)


PLATFORMS: Mapping[str, Callable[[Parameters, Array, Array], Solution]] = {
    "linear_delta": linear_delta,
    "orthoglide": orthoglide,
    "tripteron": tripteron,
    "planar_3rrr": planar_3rrr,
    "schoenflies_4ruu": schoenflies_4ruu,
    "hexa": hexa,
    "hexaglide": hexaglide,
    "agile_eye": agile_eye,
}
"""Robots with a platform that have a closed form."""


def _about_z(angle: Array) -> Array:
    """Rotations (n, 3, 3)."""
    cos, sin, zero, one = np.cos(angle), np.sin(angle), np.zeros_like(angle), np.ones_like(angle)
    return np.moveaxis(np.array([[cos, -sin, zero], [sin, cos, zero], [zero, zero, one]]), 2, 0)


def _about_y(angle: Array) -> Array:
    return np.roll(_about_z(angle), (-1, -1), (1, 2))


def _about_x(angle: Array) -> Array:
    return np.roll(_about_z(angle), (1, 1), (1, 2))


def ankle(p: Parameters, q: Array) -> Joints:
    """A crank and a rod on each side, the heel on a sphere about the crank's pin."""
    turned, cranks, masks = _about_y(q[:, 0]) @ _about_x(q[:, 1]), {}, []
    for side, sign in (("left", 1.0), ("right", -1.0)):
        axis = np.array([-p["motor_offset"], sign * p["half_width"], p[f"{side}_height"]])
        heel = np.array([-p["heel_length"], sign * p["half_width"], -p["heel_depth"]])
        elbow, end = (-p["crank_length"], 0.0), (float((heel - axis)[0]), float((heel - axis)[2]))
        rod = float(np.hypot(end[0] - elbow[0], end[1]))
        at = turned @ heel - axis
        angle, reached = _two_links(at[:, 0], at[:, 2], p["crank_length"], _far(rod, at[:, 1]), elbow, end)
        cranks[f"crank_{side}"] = -angle  # about y, which takes z to x
        masks.append(reached)
    return cranks, np.all(masks, axis=0)


def six_bar(p: Parameters, q: Array) -> Joints:
    """Two pairs of links one after the other, each to the left of the line between its ends."""

    def meeting(a: Array, b: Array, near: float, far: float) -> tuple[Array, Array]:
        way = b - a
        square = (way**2).sum(axis=1)
        along = (near**2 - far**2 + square) / (2.0 * square)
        aside, reached = _root(near**2 / square - along**2)
        left = np.stack([-way[:, 1], way[:, 0]], axis=1)
        return a + along[:, None] * way + aside[:, None] * left, reached

    def points(turn: Array) -> tuple[Array, Array, Array]:
        angle = np.deg2rad(p["home_angle"]) + turn
        crank = p["crank"] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        ground = np.broadcast_to([p["rocker_x"], p["rocker_z"]], crank.shape)
        far = np.broadcast_to([p["output_x"], p["output_z"]], crank.shape)
        head, first = meeting(crank, ground, p["coupler"], p["rocker"])
        along = (head - crank) / p["coupler"]
        point = crank + p["coupler_point_u"] * along
        point += p["coupler_point_v"] * np.stack([-along[:, 1], along[:, 0]], axis=1)
        knee, second = meeting(point, far, p["link_length"], p["output"])
        arms = [np.arctan2(*(head - ground).T[::-1]), np.arctan2(*(knee - far).T[::-1])]
        return arms[0], arms[1], first & second

    (rocker, output, reached), home = points(q[:, 0]), points(np.zeros(1))
    return {"rocker": rocker - home[0], "output": output - home[1]}, reached


def _delta_arms(p: Parameters, ends: Sequence[Array]) -> tuple[dict[str, Array], list[Array], Array]:
    """Motors of limbs as those of a Delta from their ends (n, 3) in their axes; rods (n, 3), and what is reached."""
    arm, rod, reach = p["arm_length"], p["rod_length"], p["reach"]
    drop = float(np.sqrt(rod**2 - (arm + reach) ** 2))
    motors, rods, masks = {}, [], []
    for k, at in enumerate(ends, start=1):
        angle, reached = _two_links(at[:, 0], at[:, 2], arm, _far(rod, at[:, 1]), (-arm, 0.0), (reach, -drop))
        zero = np.zeros_like(angle)
        rods.append(at + arm * np.stack([np.cos(angle), zero, np.sin(angle)], axis=1))
        motors[f"limb{k}.1"] = angle
        masks.append(reached)
    return motors, rods, np.all(masks, axis=0)


def _bars(
    q: Array, towards: Sequence[str], hinges: Sequence[Sequence[float]], reach: float, drop: float
) -> list[Array]:
    """Ends of limbs (n, 3) in their axes, whose bars keep their direction: hinges from the middle that turns."""
    turned, ends = _about_z(q[:, 3]), []
    for name, hinge in zip(towards, hinges, strict=True):
        moved = q[:, :3] + turned @ np.array(hinge) - np.array(hinge)
        cos, sin = QUARTERS[name]
        own = moved @ np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
        ends.append(own + np.array([reach, 0.0, -drop]))
    return ends


def _drop(p: Parameters) -> float:
    return float(np.sqrt(p["rod_length"] ** 2 - (p["arm_length"] + p["reach"]) ** 2))


def par4(p: Parameters, q: Array) -> Joints:
    """Two bars that keep their direction; the parallelogram between them folds at a yaw of a right angle."""
    half = 0.5 * p["platform_radius"]
    south, east = (-half, -half, 0.0), (half, half, 0.0)
    ends = _bars(q, ("x", "y", "-x", "-y"), (south, south, east, east), p["reach"], _drop(p))
    motors, _, reached = _delta_arms(p, ends)
    return motors, reached & (np.abs(_wrapped(q[:, 3])) < 0.5 * np.pi)


def h4(p: Parameters, q: Array) -> Joints:
    """Two bars that keep their direction as long as their limbs hold them: unit moments of the four, one sign."""
    half, towards = p["bar_half_length"], ("x", "y", "y", "-x")
    left, right = (-half, 0.0, 0.0), (half, 0.0, 0.0)

    def moments(rods: Sequence[Array]) -> Array:
        rows = []
        for k, (name, rod) in enumerate(zip(towards, rods, strict=True)):
            cos, sin = QUARTERS[name]
            normal = np.cross([0.0, 1.0, 0.0], rod) @ np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
            zero = np.zeros(len(rod))
            rows.append([normal[:, 0], normal[:, 1], *((normal[:, 2], zero) if k < 2 else (zero, normal[:, 2]))])
        return np.linalg.det(np.moveaxis(np.array(rows), 2, 0))

    def solved(at: Array) -> tuple[dict[str, Array], list[Array], Array]:
        return _delta_arms(p, _bars(at, towards, (left, left, right, right), p["reach"], _drop(p)))

    (motors, rods, reached), (_, home, _) = solved(q), solved(np.zeros((1, 4)))
    return motors, reached & (moments(rods) * moments(home) > 0.0)


def _three_planes(p: Parameters, q: Array, height: float) -> list[Array]:
    """Joints of a platform that stay in three upright planes (n, 2): outward and up, from the joints of the base."""
    z, pitch, roll = q.T
    yaw = np.arctan2(np.sin(pitch) * np.sin(roll), np.cos(pitch) + np.cos(roll))
    r = _about_z(yaw) @ _about_y(pitch) @ _about_x(roll)
    b = p["platform_radius"]
    position = np.stack([-0.5 * b * (r[:, 0, 0] - r[:, 1, 1]), b * r[:, 1, 0], height + z], axis=1)
    return [end[:, [0, 2]] for end in _corners(p, position, r, 3)]


def coupled_3rps(p: Parameters, q: Array) -> Joints:
    """Legs between joints in planes. Every pose is reached."""
    home = np.hypot(p["base_radius"] - p["platform_radius"], p["home_height"])
    ends = _three_planes(p, q, p["home_height"])
    legs = {f"limb{k}.2": np.hypot(*end.T) - home for k, end in enumerate(ends, start=1)}
    return legs, np.ones(len(q), dtype=bool)


def coupled_3prs(p: Parameters, q: Array) -> Joints:
    """Carriages below the joints of the platform, by what a rod rises."""
    rod, across = p["rod_length"], p["base_radius"] - p["platform_radius"]
    carriages, masks = {}, []
    for k, end in enumerate(_three_planes(p, q, float(np.sqrt(rod**2 - across**2))), start=1):
        rise, reached = _root(rod**2 - end[:, 0] ** 2)
        carriages[f"limb{k}.1"] = end[:, 1] - rise
        masks.append(reached)
    return carriages, np.all(masks, axis=0)


def tricept(p: Parameters, q: Array) -> Joints:
    """Legs of a platform that stands across its middle leg. Every pose is reached."""
    position = q + np.array([0.0, 0.0, p["home_height"]])
    length = np.linalg.norm(position, axis=1)
    first = np.arctan2(-position[:, 1], position[:, 2])
    r = _about_x(first) @ _about_y(np.arcsin(position[:, 0] / length))
    home = np.hypot(p["base_radius"] - p["platform_radius"], p["home_height"])
    ends = _corners(p, position, r, 3)
    legs = {f"limb{k}.3": np.linalg.norm(end, axis=1) - home for k, end in enumerate(ends, start=1)}
    return legs, np.ones(len(q), dtype=bool)


def _wrapped(angle: Array) -> Array:
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


CHAINS: Mapping[str, Callable[[Parameters, Any], Joints]] = {
    "ankle": ankle,
    "six_bar": six_bar,
    "par4": par4,
    "h4": h4,
    "coupled_3rps": coupled_3rps,
    "coupled_3prs": coupled_3prs,
    "tricept": tricept,
}
"""Chains that have a closed form: some of their joints, and whether their branch reaches them."""
