"""Inverse kinematics of parallel robots in closed form, on the assembly branch of their reference poses.

Each function takes the parameters of a robot by name, positions (n, 3) and rotations (n, 3, 3) of its platform, and
gives actuator positions (n, actuator), counted from the reference pose, and whether that branch reaches the pose (n,).
Geometry of circles and spheres alone: no iteration, and so no start that could matter. Angles within half a turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Array = Any
Parameters = Mapping[str, float]
Solution = tuple[Array, Array]


def _limbs(count: int) -> list[float]:
    """Angles of the limbs about z [rad] in their order: 0, +1, -1, +2, ... steps."""
    return [2.0 * np.pi / count * ((k + 1) // 2 * (1 if k % 2 else -1)) for k in range(count)]


def _side(elbow: tuple[float, float], end: tuple[float, float]) -> float:
    """+1 where the elbow is left of the line from the motor to the end, else -1."""
    return 1.0 if end[0] * elbow[1] - end[1] * elbow[0] > 0.0 else -1.0


def _two_links(
    u: Array, w: Array, near: float, far: Array, elbow: tuple[float, float], end: tuple[float, float]
) -> Solution:
    """Turn of the first of two links [rad] since its end was at `elbow` and the arm's at `end`, both from the motor.

    u, w (n,): the arm's end now, `far` (n,) the length of the second link in the plane, NaN where it has none.
    """
    side, reach = _side(elbow, end), np.hypot(u, w)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = (near**2 + reach**2 - far**2) / (2.0 * near * reach)
        reached = np.abs(cosine) < 1.0
        angle = np.arctan2(w, u) + side * np.arccos(np.clip(cosine, -1.0, 1.0))
    turn = angle - np.arctan2(elbow[1], elbow[0])
    return (turn + np.pi) % (2.0 * np.pi) - np.pi, reached


def _planes(position: Array, count: int) -> list[Array]:
    """Positions (n, 3) in the axes of each limb."""
    result = []
    for angle in _limbs(count):
        cos, sin = np.cos(angle), np.sin(angle)
        result.append(position @ np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]]))
    return result


def _together(arms: list[Solution], gear: float = 1.0) -> Solution:
    return np.stack([angle for angle, _ in arms], axis=-1) * gear, np.all([reached for _, reached in arms], axis=0)


def delta(p: Parameters, position: Array, rotation: Array, limbs: int = 3) -> Solution:
    """Solve any Delta: the elbow of a limb is where a circle meets a sphere."""
    arm, rod = p["upper_arm"], p["rod_length"]
    inward = arm + p["base_radius"] - p["platform_radius"]
    elbow, end = (-arm, 0.0), (inward - arm, -np.sqrt(rod**2 - inward**2))
    arms = []
    for place in _planes(position, limbs):
        u, v, w = place[:, 0] - p["platform_radius"] + p["base_radius"], place[:, 1], place[:, 2]
        with np.errstate(invalid="ignore"):
            far = np.sqrt(rod**2 - v**2)
        arms.append(_two_links(u, w, arm, far, elbow, end))
    return _together(arms, p.get("gear_ratio", 1.0) if "torque_constant" in p else 1.0)


def five_bar(p: Parameters, position: Array, rotation: Array) -> Solution:
    """Two arms in a plane, each where two circles meet; elbows point outwards."""
    near, far, width, height = p["proximal_length"], p["distal_length"], p["base_half_width"], p["home_height"]
    end = (width, -height)
    reach, toward = np.hypot(*end), np.arctan2(-height, width)
    away = toward - np.arccos((near**2 + reach**2 - far**2) / (2.0 * near * reach))  # outwards is clockwise
    elbow = (near * np.cos(away), near * np.sin(away))
    arms = [
        _two_links(place[:, 0] + width, place[:, 2], near, np.full(len(place), far), elbow, end)
        for place in _planes(position, 2)
    ]
    return _together(arms)


def irsbot2(p: Parameters, position: Array, rotation: Array) -> Solution:
    """Two arms in a plane whose second links are the rods seen from the side; parallelograms fold at a right angle."""
    arm = p["upper_arm"]
    far = np.sqrt(p["rod_length"] ** 2 - (p["elbow_half_width"] - p["platform_half_width"]) ** 2)
    inward = p["base_radius"] + arm - p["platform_radius"]
    elbow, end = (-arm, 0.0), (inward - arm, -np.sqrt(far**2 - inward**2))
    arms = []
    for place in _planes(position, 2):
        u, w = place[:, 0] - p["platform_radius"] + p["base_radius"], place[:, 2]
        angle, reached = _two_links(u, w, arm, np.full(len(u), far), elbow, end)
        arms.append((angle, reached & (np.cos(angle) > 0.0)))
    return _together(arms)


def gough_stewart(p: Parameters, position: Array, rotation: Array) -> Solution:
    """Six legs: how much longer than at home the distances between their joints are. Every pose is reached."""
    legs = []
    for pair in range(3):
        for sign in (-1.0, 1.0):
            low = np.deg2rad(120.0 * pair + sign * p["base_half_angle"])
            high = np.deg2rad(120.0 * pair + sign * (60.0 - p["platform_half_angle"]))
            base = p["base_radius"] * np.array([np.cos(low), np.sin(low), 0.0])
            joint = p["platform_radius"] * np.array([np.cos(high), np.sin(high), 0.0])
            home = np.linalg.norm(joint + np.array([0.0, 0.0, p["home_height"]]) - base)
            legs.append(np.linalg.norm(position + rotation @ joint - base, axis=-1) - home)
    return np.stack(legs, axis=-1), np.ones(len(position), dtype=bool)


def _delta4(p: Parameters, position: Array, rotation: Array) -> Solution:
    return delta(p, position, rotation, 4)


CLOSED_FORMS: Mapping[str, Callable[[Parameters, Array, Array], Solution]] = {
    "delta_3rr2rrr": delta,
    "delta_4rr2rrr": _delta4,
    "delta_3r2us": delta,
    "delta_rl5_1450": delta,
    "delta_rl5_1450_motors": delta,
    "five_bar": five_bar,
    "irsbot2": irsbot2,
    "gough_stewart": gough_stewart,
}
"""Robots of the catalogue that have a closed form."""


def _wrapped(angle: Array) -> Array:
    """Angles within half a turn."""
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


def irb6(p: Parameters, q: Array) -> tuple[Mapping[str, Array], Array]:
    """The arm of IRb-6 class: forearm and crank stay parallel until crank and upper arm come to one line."""
    elbow = _wrapped(q[:, 2] - q[:, 1])
    return {"elbow": elbow}, np.abs(elbow) < 0.5 * np.pi


def palletiser(p: Parameters, q: Array) -> tuple[Mapping[str, Array], Array]:
    """The same with two rods more: beside the lower arm, which keeps the triangle level, and above the forearm."""
    shoulder, crank = _wrapped(q[:, 1]), _wrapped(q[:, 2])
    elbow = _wrapped(crank - shoulder)
    folded = np.max(np.abs([shoulder, crank, elbow]), axis=0)
    return {"elbow": elbow, "triangle": -shoulder}, folded < 0.5 * np.pi


CHAINS: Mapping[str, Callable[[Parameters, Array], tuple[Mapping[str, Array], Array]]] = {
    "irb6": irb6,
    "palletiser": palletiser,
}
"""Chains of parallelograms by name: from positions (n, freedom) some joints, and whether their branch reaches them."""
