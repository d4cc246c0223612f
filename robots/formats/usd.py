"""Rigid bodies and joints of USD stages (UsdPhysics), as a model of SDF, whose reader finds tree and loops.

A child process reads the stage with OpenUSD, within bounds of time and memory. Joints count from the pose of the stage.
If bodies of a joint are apart in the stage, the child is moved to its parent. Joints outside the articulation close
loops. Masses that simulators would compute from shapes are refused. Source: UsdPhysics schema, OpenUSD 26.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from robots.extras import how_to_install
from robots.formats.poses import Pose, compose, inverse
from robots.formats.usd_words import unread
from robots.formats.xml_tree import Element, FormatError, ImportedError, group, numbers_of

ENDINGS = (".usd", ".usda", ".usdc", ".usdz")
SECONDS = 60
"""Processor time of reading a stage [s], and on the clock six times as much."""

MEMORY = 4 << 30
KINDS: Mapping[str, str] = {
    "PhysicsRevoluteJoint": "revolute",
    "PhysicsPrismaticJoint": "prismatic",
    "PhysicsSphericalJoint": "ball",
    "PhysicsFixedJoint": "fixed",
}
FREEDOMS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
DYNAMICS: Mapping[str, str] = {
    "mjc:damping": "damping", "mjc:frictionloss": "friction", "mjc:stiffness": "spring_stiffness",
}  # fmt: skip
"""Elements of SDF for attributes of MuJoCo's schema."""

ARMATURES = ("physxJoint:armature", "mjc:armature", "newton:armature")
APART = 1e-6
"""Gap [m or rad] above which a warning tells that the bodies of a joint are apart in the stage."""

PARALLEL = 1e-6
"""Angle [rad] below which axes are parallel."""

HERE: Pose = (np.eye(3), np.zeros(3))
_BOUNDED, _CHILD = (Path(__file__).with_name(name) for name in ("bounded.py", "usd_child.py"))
_WORLD = ""


def model(path: str, title: str) -> tuple[Element, list[FormatError]]:
    """Return the model of a stage, and warnings. Raises ImportedError with all problems."""
    stage = _read(path)
    for prims in (stage["bodies"], stage["joints"]):
        _name_apart(prims)
    problems, warnings = list(_problems(stage)), [*_gravity(stage), *unread(stage)]
    joints = [joint for joint in stage["joints"] if joint["enabled"]]
    kinds = {joint["name"]: _kind(joint) for joint in joints}
    for joint in joints:
        if not kinds[joint["name"]][0]:
            hint = f"Kinds are {', '.join(KINDS)}, and PhysicsJoint where it allows one freedom, three turns or none."
            problems.append(FormatError(0, f"joint {joint['name']}", f"a {joint['type']}", "a kind that is read", hint))
    if problems:
        raise ImportedError(problems)
    joints = [joint for joint in joints if joint["bodies"][0] != joint["bodies"][1]]
    places = dict(_placed(stage["bodies"], joints, kinds, warnings))
    names = {body["path"]: body["name"] for body in stage["bodies"]}
    links = [
        _link(body, names[body["path"]], compose(places[body["path"]], _pose(body["frame"])))
        for body in stage["bodies"]
    ]
    driven = any(joint["drives"] for joint in joints)
    parts = [_joint(joint, kinds[joint["name"]], names, places, driven) for joint in joints]
    _make_parallel([xyz for part in parts for axis in part.all("axis") for xyz in axis.all("xyz")])
    return group("sdf", [group("model", [*links, *parts], name=title)], version="1.11"), warnings


def _read(path: str) -> dict[str, Any]:
    """Return the content of a stage that the child process finds. Raises ImportedError."""
    if importlib.util.find_spec("pxr") is None:
        got, rule = "a stage of USD", "the package usd-core, which reads it"
        raise ImportedError([FormatError(0, "", got, rule, how_to_install("usd"))])
    place = os.path.realpath(path)
    command = [sys.executable, "-P", str(_BOUNDED), str(_CHILD), str(SECONDS), str(MEMORY), place]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=6 * SECONDS, check=False)
        stage: dict[str, Any] = json.loads(done.stdout or b"null") or {"error": "it ends the reader, or takes too much"}
    except (subprocess.TimeoutExpired, ValueError):
        stage = {"error": f"it takes more than {SECONDS} s"}
    if "error" in stage:
        rule = "a stage that OpenUSD opens"
        raise ImportedError([FormatError(0, "", f"a stage that it does not open ({stage['error']})", rule)])
    folder = os.path.join(os.path.dirname(place), "")
    if outside := [layer for layer in stage["layers"] if not os.path.realpath(layer).startswith(folder)]:
        got, rule = f"a layer elsewhere, {outside[0]!a}", "layers below the folder of the file"
        raise ImportedError([FormatError(0, "", got, rule, "Put the files into one folder, or flatten the stage.")])
    return stage


def _problems(stage: Mapping[str, Any]) -> Iterator[FormatError]:
    """Yield problems: content that changes dynamics and is not supported, and missing inertia."""
    if not stage["bodies"]:
        yield FormatError(0, "", "no rigid body", "prims with PhysicsRigidBodyAPI and joints between them")
    for body in stage["bodies"]:
        place = f"link {body['name']}"
        lacking = [name for name, value in (
            ("mass", body["mass"]), ("centerOfMass", body["has_centre"]), ("diagonalInertia", body["moments"])
        ) if not value]  # fmt: skip
        if lacking and not body["kinematic"]:
            hint = "Simulators compute it from shapes; write it as numbers of PhysicsMassAPI."
            yield FormatError(
                0, place, f"no {' and no '.join(lacking)}", "mass, centerOfMass and diagonalInertia", hint
            )
        for name in (*body["numbers"], *body["flags"]):
            yield FormatError(0, place, name, "a body with weight and inertia alone", "Take it out.")
    for joint in stage["joints"]:
        for name in joint["mimics"]:
            yield FormatError(0, f"joint {joint['name']}", name, "a joint without it", "Write it in the robot file.")
    for name, kind in stage["ties"]:
        yield FormatError(0, name, f"a {kind}", "joints of UsdPhysics", "Write it in the robot file.")


def _gravity(stage: Mapping[str, Any]) -> Iterator[FormatError]:
    if (value := stage["gravity"]) is not None and not np.allclose(value, (0.0, 0.0, -9.81), atol=0.02):
        shown = ", ".join(f"{x:g}" for x in value)
        hint = f"It is no part of a robot: a sweep has `gravity: [{shown}]`."
        yield FormatError(0, "scene", f"gravity {shown}", "that of sweeps, 0, 0, -9.81", hint)


def _kind(joint: Mapping[str, Any]) -> tuple[str, int]:
    """Return the kind of a joint in SDF, empty if SDF has no such kind, and its axis, 0 to 2."""
    if joint["type"] in KINDS:
        return KINDS[joint["type"]], "XYZ".index(joint["axis"])
    locked = [
        name for name, (low, high) in joint["limits"].items() if low is not None and high is not None and low > high
    ]
    free = [name for name in FREEDOMS if name not in locked]
    turns = [name for name in free if name.startswith("rot")]
    if joint["type"] != "PhysicsJoint" or (len(free) > 1 and (len(turns), len(free)) != (3, 3)):
        return "", 0
    if len(free) != 1:
        return "ball" if free else "fixed", 0
    return ("revolute" if turns else "prismatic"), FREEDOMS.index(free[0]) % 3


def _pose(frame: Mapping[str, Any]) -> Pose:
    return np.array(frame["axes"], dtype=float).T, np.array(frame["position"], dtype=float)


def _name_apart(prims: Sequence[dict[str, Any]]) -> None:
    """Name prims that share their name by their paths."""
    names = [prim["name"] for prim in prims]
    for prim in prims:
        if names.count(prim["name"]) > 1:
            prim["name"] = prim["path"].strip("/").replace("/", "_")


def _allowed(kind: str, axis: int, between: Pose) -> tuple[Pose, float]:
    """Return the part of a pose that a joint allows, and its variable [rad or m], 0 of other kinds."""
    turn, way = between
    if kind == "prismatic":
        return (np.eye(3), np.eye(3)[axis] * way[axis]), float(way[axis])
    if kind == "ball":
        return (turn, np.zeros(3)), 0.0
    if kind == "fixed":
        return HERE, 0.0
    i, j = (axis + 1) % 3, (axis + 2) % 3
    angle = float(np.arctan2(turn[j, i] - turn[i, j], turn[i, i] + turn[j, j]))
    return (Rotation.from_rotvec(angle * np.eye(3)[axis]).as_matrix(), np.zeros(3)), angle


def _placed(
    bodies: Sequence[Mapping[str, Any]],
    joints: Sequence[Mapping[str, Any]],
    kinds: Mapping[str, tuple[str, int]],
    warnings: list[FormatError],
) -> Iterator[tuple[str, Pose]]:
    """Yield for each body the motion of the world that puts it where its joint to a nearer body has it."""
    moved: dict[str, Pose] = {_WORLD: HERE}
    order = sorted(joints, key=lambda joint: joint["excluded"])
    remaining = [body["path"] for body in bodies]
    moved |= {body["path"]: HERE for body in bodies if body["kinematic"]}
    while True:
        joint = next((one for one in order if (one["bodies"][0] in moved) != (one["bodies"][1] in moved)), None)
        if joint is None:
            path = next((path for path in remaining if path not in moved), None)
            if path is None:
                break
            moved[path] = HERE
            continue
        near = int(joint["bodies"][1] in moved)
        frames = [_pose(frame) for frame in joint["frames"]]
        allowed, _ = _allowed(*kinds[joint["name"]], compose(inverse(frames[0]), frames[1]))
        allowed = inverse(allowed) if near else allowed
        outer = compose(moved[joint["bodies"][near]], frames[near])
        motion = compose(compose(outer, allowed), inverse(frames[1 - near]))
        if (gap := _distance(motion, moved[joint["bodies"][near]])) > APART:
            hint = "The body is put where the joint has it."
            got = f"bodies that stand {gap:.3g} m or rad apart"
            warnings.append(FormatError(0, f"joint {joint['name']}", got, "bodies that the joint holds together", hint))
        moved[joint["bodies"][1 - near]] = motion
    yield from moved.items()


def _distance(one: Pose, other: Pose) -> float:
    between = compose(inverse(one), other)
    return max(float(np.linalg.norm(between[1])), float(Rotation.from_matrix(between[0]).magnitude()))


def _pose_element(pose: Pose, **attributes: str) -> Element:
    """Return a pose as an element: position, and quaternion (x, y, z, w)."""
    element = numbers_of("pose", *pose[1].tolist(), *Rotation.from_matrix(pose[0]).as_quat().tolist())
    element.attributes.update(rotation_format="quat_xyzw", **attributes)
    return element


def _link(body: Mapping[str, Any], name: str, place: Pose) -> Element:
    pose = _pose_element(place, relative_to="__model__")
    if body["kinematic"]:  # a kinematic body is welded to the world
        return group("link", [pose], name=name)
    inner = compose(inverse(_pose(body["frame"])), _pose(body["inertial"]))
    tags = zip(("ixx", "iyy", "izz"), body["moments"], strict=True)
    inertia = group("inertia", [*(numbers_of(tag, x) for tag, x in tags), *(numbers_of(tag, 0.0) for tag in OFF)])
    return group(
        "link",
        [pose, group("inertial", [_pose_element(inner), numbers_of("mass", body["mass"]), inertia])],
        name=name,
    )


OFF = ("ixy", "ixz", "iyz")


def _joint(
    joint: Mapping[str, Any], of: tuple[str, int], names: Mapping[str, str], places: Mapping[str, Pose], driven: bool
) -> Element:
    """Return a joint between bodies as they are placed; where joints have drives, the effort of others is zero."""
    kind, axis = of
    frames = [compose(places[path], _pose(frame)) for path, frame in zip(joint["bodies"], joint["frames"], strict=True)]
    _, zero = _allowed(kind, axis, compose(inverse(frames[0]), frames[1]))
    parent, child = (names.get(path, "world") for path in joint["bodies"])
    sign, place = 1.0, frames[1]
    if child == "world":
        parent, child, sign, place = child, parent, -1.0, frames[0]
    pose = _pose_element(place, relative_to="__model__")
    children = [Element("parent", 0, 1, {}, [], parent), Element("child", 0, 1, {}, [], child), pose]
    if kind in ("revolute", "prismatic"):
        direction = numbers_of("xyz", *(sign * frames[0][0][:, axis]).tolist())
        direction.attributes["expressed_in"] = "__model__"
        dynamics = [numbers_of(DYNAMICS[name], x) for name, x in joint["numbers"].items() if name in DYNAMICS]
        limits = _limits(joint, kind, axis, sign, zero, driven)
        children.append(group("axis", [direction, limits, group("dynamics", dynamics)]))
        rotor = max((joint["numbers"].get(name, 0.0) for name in ARMATURES), default=0.0)
        children += [numbers_of("drake:rotor_inertia", rotor)] if rotor else []
    return group("joint", children, name=joint["name"], type=kind)


def _make_parallel(axes: Sequence[Element]) -> None:
    """Make axes parallel that are so in single precision, which USD has for frames of joints."""
    known = [*np.eye(3)]
    for axis in axes:
        direction = np.array([float(x) for x in axis.text.split()])
        same = next((way for way in known if np.linalg.norm(np.cross(way, direction)) < PARALLEL), None)
        if same is None:
            known.append(direction)
        else:
            axis.text = numbers_of("", *(float(np.sign(same @ direction)) * same).tolist()).text


def _limits(joint: Mapping[str, Any], kind: str, axis: int, sign: float, zero: float, driven: bool) -> Element:
    """Return the range of a joint counted from the pose of the stage, and its effort."""
    name = FREEDOMS[axis + 3 * (kind == "revolute")]
    low, high = joint["limits"].get(name, joint["single"])
    unit = np.pi / 180.0 if kind == "revolute" else joint["metres"]
    ends = [None if value is None else sign * (value * unit - zero) for value in (low, high)]
    low, high = ends if sign > 0 else ends[::-1]
    children = [numbers_of(tag, value) for tag, value in (("lower", low), ("upper", high)) if value is not None]
    forces = [value for value in joint["drives"].values() if value]
    if driven and not joint["drives"]:
        children.append(numbers_of("effort", 0.0))
    elif forces:
        children.append(numbers_of("effort", forces[0]))
    return group("limit", children)
