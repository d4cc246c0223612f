"""Forces of the joints of a URDF file as Pinocchio has them, by its own reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pinocchio as pin
from ruamel.yaml import YAML

from benchmarks.imports.parts import Coordinates, Part, Seat, on_circle, parts, quaternion, state, straight, turned
from benchmarks.imports.spanning import GRAVITY, Spanning, pairs_of, rotors
from robots.formats.tree import Base, Tree
from robots.formats.urdf import FLOATING
from robots.formats.xml_tree import Element, parse

ROOT = "root_joint"


def moves(path: Path) -> bool:
    """Return whether Pinocchio makes a model of a file that has a joint."""
    try:
        return bool(pin.buildModelFromUrdf(str(path)).nv)
    except (ValueError, RuntimeError):
        return False


def _has_products(path: Path) -> bool:
    """Return whether inertias have all six entries: of others urdfdom leaves out everything but the mass.

    It does so too where there is white space, such as a line break, beside a number.
    """
    entries = [entry.attributes for entry in _all(path, "inertia")]
    return all({"ixy", "ixz", "iyz"} <= each.keys() and all(x == x.strip() for x in each.values()) for each in entries)


def _has_tilted_planes(path: Path) -> bool:
    """Return whether a planar joint has another axis than z, which Pinocchio takes it for."""
    planar = [joint for joint in _all(path, "joint") if joint.attributes.get("type") == "planar"]
    axes = [axis.attributes.get("xyz", "") if (axis := joint.first("axis")) else "1 0 0" for joint in planar]
    return any(axis.split()[:2] != ["0", "0"] for axis in axes)


def _all(path: Path, tag: str) -> Iterator[Element]:
    """Yield all elements of a file with a tag."""
    stack = [parse(path.read_bytes().strip(b"\0 \r\n\t"))]
    while stack:
        element = stack.pop()
        stack += element.children
        if element.tag == tag:
            yield element


def spanning(path: Path, tree: Tree, base: Base) -> Spanning | None:
    """Return the tree of a file; None where Pinocchio does not read it, or has other joints.

    Joints that mimic others move on their own there, as its own mimic needs joints in another order.
    """
    if not _has_products(path) or _has_tilted_planes(path):
        return None
    try:
        free = (pin.JointModelFreeFlyer(),) if base == "floating" else ()
        model = pin.buildModelFromUrdf(str(path), *free)
    except (ValueError, RuntimeError):
        return None
    beside = pairs_of(path)
    pairs = {} if beside is None else YAML(typ="safe").load(beside)
    model = _retyped(model, dict(zip(pairs.get("joint_name", ()), pairs.get("joint_type", ()), strict=True)))
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

    loops = [
        (*(model.getFrameId(name) for name in names), kind.lower())
        for names, kind in zip(pairs.get("closed_loop", ()), pairs.get("type", ()), strict=True)
    ]

    def conditions(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        zero_rate = np.zeros(len(q))
        place, _, _, matrix = state(seats, pin.neutral(model), model.nv, q + shift, zero_rate, zero_rate)
        pin.computeJointJacobians(model, data, place)
        pin.updateFramePlacements(model, data)
        gaps, slopes = list[np.ndarray](), list[np.ndarray]()
        for a, b, kind in loops:
            at_a, at_b = data.oMf[a], data.oMf[b]
            gap = np.concatenate([at_b.translation - at_a.translation, pin.log3(at_b.rotation @ at_a.rotation.T)])
            axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
            slope = pin.getFrameJacobian(model, data, b, axes) - pin.getFrameJacobian(model, data, a, axes)
            count = 3 if kind == "3d" else 6
            gaps.append(gap[:count])
            slopes.append(slope[:count] @ matrix)
        for entry in tree.couplings:
            row, ratio = np.zeros(len(q)), float(entry.ratio)
            row[tree.joints.index(entry.joint)], row[tree.joints.index(entry.of)] = 1.0, -ratio
            gaps.append(np.array([row @ q]))
            slopes.append(row[None])
        return np.concatenate(gaps), np.concatenate(slopes)

    return Spanning(forces, conditions if loops else None)


def _retyped(model: pin.Model, kinds: Mapping[str, str]) -> pin.Model:
    """Return a model whose joints have other kinds: balls, crosses, or fixed joints."""
    if not kinds:
        return model
    single = {"X": pin.JointModelRX, "Y": pin.JointModelRY, "Z": pin.JointModelRZ}
    made, after = pin.Model(), {0: 0}
    for joint in range(1, model.njoints):
        name, parent, place = model.names[joint], after[model.parents[joint]], model.jointPlacements[joint]
        kind = kinds.get(name, "")
        if kind.startswith("UJOINT_"):
            parent = made.addJoint(parent, single[kind[-2]](), place, f"{name}_{kind[-2]}")
            place, name = pin.SE3.Identity(), f"{name}_{kind[-1]}"
            after[joint] = made.addJoint(parent, single[kind[-1]](), place, name)
        else:
            moving = pin.JointModelSpherical() if kind == "SPHERICAL" else model.joints[joint]
            after[joint] = made.addJoint(parent, moving, place, name)
        made.appendBodyToJoint(after[joint], model.inertias[joint], pin.SE3.Identity())
    for frame in list(model.frames)[1:]:
        made.addFrame(pin.Frame(frame.name, after[frame.parentJoint], frame.placement, frame.type), False)
    fixed = [made.getJointId(name) for name, kind in kinds.items() if kind == "FIXED"]
    return pin.buildReducedModel(made, fixed, pin.neutral(made)) if fixed else made


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
    """Return coordinates with the velocities of the body, in its axes."""
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
    """Return the positions that mimic joints have in the file while their leaders are at zero."""
    told: dict[str, tuple[str, float, float]] = {}
    names = {joint.attributes.get("name", "") for joint in _all(path, "joint")}
    for joint in _all(path, "joint"):
        at = joint.first("mimic")
        if at is not None and at.attributes.get("joint") in names:
            law = at.attributes
            told[joint.attributes["name"]] = (
                law["joint"],
                float(law.get("multiplier", "1")),
                float(law.get("offset", "0")),
            )

    def offset(name: str) -> float:
        if name not in told:
            return 0.0
        of, ratio, own = told[name]
        return own + ratio * offset(of)

    return {name: offset(name) for name in told}
