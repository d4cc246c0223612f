"""Forces of the joints of a URDF file as Pinocchio has them, by its own reader."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from benchmarks.imports.parts import Coordinates, Part, Seat, on_circle, parts, quaternion, state, straight, turned
from benchmarks.imports.spanning import GRAVITY, Spanning, rotors
from robots.formats.tree import Base, Tree
from robots.formats.urdf import FLOATING

ROOT = "root_joint"


def reads(path: Path) -> bool:
    """Whether Pinocchio makes a model of a file."""
    try:
        pin.buildModelFromUrdf(str(path))
    except (ValueError, RuntimeError):
        return False
    return True


def spanning(path: Path, tree: Tree, base: Base) -> Spanning | None:
    """Return the tree of a file; None where Pinocchio does not read it, or has other joints.

    Joints that mimic others move on their own there, as its own mimic needs joints in another order.
    """
    try:
        free = (pin.JointModelFreeFlyer(),) if base == "floating" else ()
        model = pin.buildModelFromUrdf(str(path), *free)
    except (ValueError, RuntimeError):
        return None
    known = {name: model.getJointId(name) for name in model.names}
    known |= {FLOATING: known[ROOT]} if ROOT in known else {}
    found = list(parts(tree.joints, known))
    if not {part.name for part in found} <= set(known) or model.nv != len(tree.joints):
        return None
    model.gravity.linear = np.array(GRAVITY)
    seats = [_seat(model, known[part.name], part) for part in found]
    data, own, zero = model.createData(), rotors(tree), _offsets(path)
    shift = np.array([zero.get(name, 0.0) for name in tree.joints])

    def forces(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        place, rate, change, matrix = state(seats, pin.neutral(model), model.nv, q + shift, qd, qdd)
        result: np.ndarray = matrix.T @ pin.rnea(model, data, place, rate, change) + own * qdd
        return result

    return Spanning(forces)


def _seat(model: pin.Model, joint: int, part: Part) -> Seat:
    place, rate = (np.arange(start, start + size) for start, size in (
        (model.idx_qs[joint], model.nqs[joint]), (model.idx_vs[joint], model.nvs[joint]),
    ))  # fmt: skip
    convert = CONVERT.get(part.kind, on_circle if len(place) == 2 else straight)
    return Seat(part, place, rate, convert)


def _spherical(part: Part, q: np.ndarray, qd: np.ndarray) -> Coordinates:
    turn = turned(q, qd)
    return Coordinates(quaternion(turn.rotation), turn.matrix, turn.drift)


def _floating(part: Part, q: np.ndarray, qd: np.ndarray) -> Coordinates:
    """Velocities are those of the body, in its axes."""
    turn = turned(q[3:], qd[3:])
    back, zero = turn.rotation.T, np.zeros((3, 3))
    drift = -np.cross(turn.matrix @ qd[3:], back @ qd[:3])
    return Coordinates(
        np.concatenate([q[:3], quaternion(turn.rotation)]),
        np.block([[back, zero], [zero, turn.matrix]]),
        np.concatenate([drift, turn.drift]),
    )


def _planar(part: Part, q: np.ndarray, qd: np.ndarray) -> Coordinates:
    cos, sin = np.cos(q[2]), np.sin(q[2])
    back, across = np.array([[cos, sin], [-sin, cos]]), np.array([[0.0, 1.0], [-1.0, 0.0]])
    matrix = np.eye(3)
    matrix[:2, :2] = back
    drift = np.concatenate([across @ back @ qd[:2] * qd[2], [0.0]])
    return Coordinates(np.array([q[0], q[1], cos, sin]), matrix, drift)


CONVERT = {"spherical": _spherical, "floating": _floating, "planar": _planar}


def _offsets(path: Path) -> Mapping[str, float]:
    """Where joints that mimic others are in the file while those are at zero."""
    told: dict[str, tuple[str, float, float]] = {}
    root = ElementTree.fromstring(path.read_bytes().strip(b"\0 \r\n\t"))
    names = {str(joint.get("name")) for joint in root.iter("joint")}
    for joint in root.iter("joint"):
        at = joint.find("mimic")
        if at is not None and at.get("joint") in names:
            numbers = (float(at.get(key, default)) for key, default in (("multiplier", "1"), ("offset", "0")))
            told[str(joint.get("name"))] = (str(at.get("joint")), *numbers)  # type: ignore[assignment]

    def offset(name: str) -> float:
        if name not in told:
            return 0.0
        of, ratio, own = told[name]
        return own + ratio * offset(of)

    return {name: offset(name) for name in told}
