"""Models of MuJoCo (MJCF) as trees: MuJoCo compiles the file, with its defaults, includes and meshes.

Joints count from the pose in which the file has its bodies, as MuJoCo's `qpos - qpos0`. A ball joint becomes three
joints; a free joint is held or becomes six. Equality constraints between bodies become loops, and between joints
couplings. Springs, tendons and contacts are not part of the dynamics; parts that are left out are reported. Source:
MuJoCo, XML reference and `mj_kinematics`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from robots.data_classes import dataclass, field
from robots.formats import effects
from robots.formats.closing import ClosingJoint, hinged
from robots.formats.mjcf_files import ModelFiles
from robots.formats.mjcf_model import load
from robots.formats.poses import HERE, Pose, compose, frame_of, moved, of_quaternion, rows, vector
from robots.formats.ratings import Rating
from robots.formats.tree import Base, GrowingTree, Inertias, Place, Tree, finished, plain_name
from robots.formats.xml_tree import Element, FormatError, ImportedError
from robots.model import Coupling, Inertia
from robots.types import BASE

LEFT_OUT = "It is left out."

FREE, BALL, SLIDE, HINGE = range(4)
KINDS = {SLIDE: "prismatic", HINGE: "revolute"}
CONNECT, WELD, JOINT, TENDON = range(4)
TORQUESCALE = 10
"""Place of the factor of the rotation among the numbers of a weld."""
OF_JOINT = 1
"""Kind of a tendon's attachment: to a joint, by a factor."""


REFUSED: Mapping[str, str] = {
    "springs": "springs of joints",
    "tendons": "tendons with springs, damping, friction or inertia",
    "gravity": "bodies with compensated gravity",
    "constraints": "equality constraints of tendons or flexible bodies",
    "flexible": "flexible bodies",
    "plugins": "plugins",
    "fluid": "option for a fluid with density or viscosity",
    "armature": "rotors of ball joints, or of actuators at no joint",
    "damping": "dampers of actuators at no joint",
}
"""Descriptions of the elements of a model that are refused, by their kind in `robots.formats.effects`."""


@dataclass
class _Reading:
    """A compiled model, and the parts of the robot made of it so far."""

    model: Any
    mujoco: ModuleType
    lines: Mapping[tuple[str, str], int]
    base: Base
    growing: GrowingTree = field(default_factory=GrowingTree)
    warnings: list[FormatError] = field(default_factory=list)
    problems: list[FormatError] = field(default_factory=list)
    effects: list[effects.Found] = field(default_factory=list)
    frames: dict[int, Place] = field(default_factory=dict)
    joint_names: dict[int, str] = field(default_factory=dict)
    locks: dict[int, float] = field(default_factory=dict)
    """Positions of joints that an equality holds."""

    def name(self, kind: str, number: int) -> str:
        """Return the name of an object of the model, or one made of its number."""
        type_ = getattr(self.mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
        result = self.mujoco.mj_id2name(self.model, type_, number)
        return str(result) if result else f"{kind}_{number}"

    def warn(self, kind: str, name: str, got: str, expected: str, hint: str = "") -> None:
        """Add a warning at the line of an element that has a name."""
        self.warnings.append(FormatError(self.lines.get((kind, name), 0), f"{kind} {name}", got, expected, hint))

    def refuse(self, kind: str, name: str, got: str, expected: str, hint: str = "") -> None:
        """Add a problem there."""
        self.problems.append(FormatError(self.lines.get((kind, name), 0), f"{kind} {name}", got, expected, hint))


def read_tree(
    data: bytes,
    path: str,
    files: ModelFiles,
    base: Base = "fixed",
    inertias: Inertias = "checked",
    leave_out: Collection[str] = (),
) -> Tree:
    """Return the tree of a model, in bytes that stand at `path` and may name `files`. Raises ImportedError."""
    try:
        root, model, mujoco = load(path, files, data)
    except FormatError as error:
        raise ImportedError([error]) from None
    reading = _Reading(model, mujoco, dict(_lines(root)), base)
    for k in _equalities(reading, JOINT):
        if int(model.eq_obj2id[k]) < 0:
            reading.locks[int(model.eq_obj1id[k])] = float(model.eq_data[k][0])
    for body in range(1, model.nbody):
        _body(reading, body)
    loops, couplings = list(hinged(_loops(reading))), list(_couplings(reading))
    _tell_gravity(reading)
    _tell_ranges_of_tendons(reading)
    problems, warnings = effects.judged([*reading.effects, *_effects(reading)], leave_out)
    reading.problems += problems
    reading.warnings += warnings
    growing = reading.growing
    growing.bodies = {"world": (BASE, HERE)}
    growing.bodies |= {reading.name("body", k): place for k, place in reading.frames.items()}
    if not growing.links and not reading.problems:
        hint = "A free joint moves with --base floating." if model.njnt else ""
        reading.problems.append(FormatError(0, "", "no joint that moves", "at least one", hint))
    driven = tuple(_driven(reading, [entry.joint for entry in couplings])) if loops else None
    name = str(root.attributes.get("model", "robot"))
    tree = Tree(plain_name(name), (), {}, (), "imported from MJCF", tuple(couplings), loops=tuple(loops), driven=driven)
    return finished(tree, growing, reading.problems, reading.warnings, inertias)


def _tell_gravity(reading: _Reading) -> None:
    """Warn about a gravity that differs from the gravity of sweeps, which sweeps define themselves."""
    opt = reading.model.opt
    off = opt.disableflags & int(reading.mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    gravity = [0.0, 0.0, 0.0] if off else [float(value) for value in opt.gravity]
    reading.warnings += effects.gravity(0, "option", gravity)


def _tell_ranges_of_tendons(reading: _Reading) -> None:
    """Warn about ranges of the lengths of tendons, and of the forces that actuators exert on them."""
    model, off = reading.model, _disabled(reading)
    for k in range(int(model.ntendon)):
        kind = "spatial" if int(model.wrap_type[int(model.tendon_adr[k])]) != OF_JOINT else "fixed"
        name = reading.name("tendon", k)
        if model.tendon_limited[k] and "LIMIT" not in off:
            reading.warn(kind, name, "a range of the length of a tendon", "ranges of joints", LEFT_OUT)
        if model.tendon_actfrclimited[k]:
            reading.warn(kind, name, "a range of the forces on a tendon", "ranges of forces of joints", LEFT_OUT)


def _lines(element: Element) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield tag, name and line of each element that has a name."""
    if "name" in element.attributes:
        yield (element.tag, element.attributes["name"]), element.line
    for child in element.children:
        yield from _lines(child)


def _pose(position: np.ndarray, quaternion: np.ndarray) -> Pose:
    """Return a pose of a position and a quaternion (w, x, y, z), which is made of length 1."""
    return of_quaternion(quaternion), np.array(position, dtype=float)


def _body(reading: _Reading, body: int) -> None:
    """Join a body to its parent by its joints, one after the other, and give it its inertia."""
    model, growing, name = reading.model, reading.growing, reading.name("body", body)
    parent = int(model.body_parentid[body])
    outer = reading.frames.get(parent, (BASE, HERE))
    at: Place = outer[0], compose(outer[1], _pose(model.body_pos[body], model.body_quat[body]))
    first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    growing.lines[name] = (reading.lines.get(("body", name), 0), f"body {name}")
    joints = [k for k in range(first, first + count) if not _held(reading, k, name)]
    moving = [k for k in joints if k not in reading.locks]
    for k in joints:
        if k in reading.locks:
            at = at[0], compose(at[1], _locked(reading, k))
        else:
            at = _joined(reading, at, k, name if k == moving[-1] else f"{name}_{reading.name('joint', k)}")
    reading.frames[body] = at
    mass, moments = float(model.body_mass[body]), model.body_inertia[body]
    if mass or np.any(moments):
        turn, centre = compose(at[1], _pose(model.body_ipos[body], model.body_iquat[body]))
        tensor = turn @ np.diag(moments) @ turn.T
        growing.load(at, Inertia(mass, vector(centre), rows(0.5 * (tensor + tensor.T))))


def _held(reading: _Reading, joint: int, body: str) -> bool:
    """Return whether a joint is a free joint whose body stands still; warn about such a joint."""
    if int(reading.model.jnt_type[joint]) != FREE or reading.base == "floating":
        return False
    hint = "It stands still, and its mass does not matter; --base floating gives it six joints."
    reading.warn("body", body, "a free joint", "a base that stands still", hint)
    return True


def _locked(reading: _Reading, joint: int) -> Pose:
    """Return the pose of a body beyond a joint that an equality holds; warn about it."""
    model, position = reading.model, reading.locks[joint]
    hint = f"It stands still at {position:g}."
    reading.warn("joint", reading.name("joint", joint), "a joint that an equality holds", "a joint that moves", hint)
    anchor, axis = np.array(model.jnt_pos[joint]), np.array(model.jnt_axis[joint])
    turned = moved(KINDS[int(model.jnt_type[joint])], (axis / np.linalg.norm(axis)).tolist(), position)
    return compose(compose((np.eye(3), anchor), turned), (np.eye(3), -anchor))


def _joined(reading: _Reading, at: Place, joint: int, body: str) -> Place:
    """Add one joint of a body to the tree, and return the frame of the body beyond this joint."""
    model, growing = reading.model, reading.growing
    name, kind = reading.name("joint", joint), int(model.jnt_type[joint])
    growing.lines[name] = (reading.lines.get(("joint", name), 0), f"joint {name}")
    if kind in (FREE, BALL):
        several = "spherical" if kind == BALL else "floating"
        anchor = np.array(model.jnt_pos[joint]) if kind == BALL else np.zeros(3)
        got = f"a {'ball' if kind == BALL else 'free'} joint"
        hint = f"It became {'three' if kind == BALL else 'six'} joints, {name}_yaw and so on."
        reading.warn("joint", name, got, "joints of one variable", hint)
        place = growing.joints((at[0], compose(at[1], (np.eye(3), anchor))), name, several, np.eye(3), body)
        _of_several(reading, joint, name)
        return place[0], compose(place[1], (np.eye(3), -anchor))
    anchor, axis = np.array(model.jnt_pos[joint]), np.array(model.jnt_axis[joint])
    dof, size = int(model.jnt_dofadr[joint]), float(np.linalg.norm(axis))
    single = KINDS[kind]
    reading.joint_names[joint] = name
    growing.ratings.append(_rating(reading, joint, name))
    frame = at[0], compose(at[1], (np.eye(3), anchor))
    if offset := _offset(reading, joint):
        frame = frame[0], compose(frame[1], moved(single, (axis / size).tolist(), offset))
    armature = float(model.dof_armature[dof]) + _rotor(reading, joint)
    place = growing.joint(frame, name, single, (axis / size).tolist(), body, armature)
    return place[0], compose(place[1], (np.eye(3), -anchor))


def _of_several(reading: _Reading, joint: int, name: str) -> None:
    """Refuse rotors of a ball or free joint, and warn about its friction and range, which no joint has for itself."""
    model, kind = reading.model, int(reading.model.jnt_type[joint])
    dofs = slice(int(model.jnt_dofadr[joint]), int(model.jnt_dofadr[joint]) + (3 if kind == BALL else 6))
    if np.any(model.dof_armature[dofs]) or _rotor(reading, joint):
        line, rule = reading.lines.get(("joint", name), 0), "joints of one variable with rotors"
        got = f"an armature of a {'ball' if kind == BALL else 'free'} joint"
        reading.effects.append(("armature", FormatError(line, f"joint {name}", got, rule)))
    friction = (model.dof_damping, model.dof_dampingpoly, model.dof_frictionloss)
    if any(np.any(numbers[dofs]) for numbers in friction) or model.jnt_limited[joint]:
        reading.warn("joint", name, "friction or a range of several freedoms", "ratings of one variable", LEFT_OUT)


def _rotor(reading: _Reading, joint: int) -> float:
    """Compute the armature that rotors of actuators add to the armature of a joint."""
    return _geared(reading, reading.model.actuator_armature, _actuators(reading, joint))


def _geared(reading: _Reading, values: np.ndarray, drives: list[int]) -> float:
    """Return the sum of inertias or dampings of actuators as seen at their joint."""
    return float(sum(values[k] * reading.model.actuator_gear[k][0] ** 2 for k in drives))


def _actuators(reading: _Reading, joint: int) -> list[int]:
    """Return the numbers of the actuators that move a joint."""
    model, types = reading.model, reading.mujoco.mjtTrn
    of_joint = (int(types.mjTRN_JOINT), int(types.mjTRN_JOINTINPARENT))
    kinds, ids = model.actuator_trntype, model.actuator_trnid[:, 0]  # an actuator may have several controls
    return [k for k in range(len(kinds)) if kinds[k] in of_joint and ids[k] == joint]


def _rating(reading: _Reading, joint: int, name: str) -> Rating:
    """Return the range, force and friction of a joint, counted from the pose of the file."""
    model, dof = reading.model, int(reading.model.jnt_dofadr[joint])
    numbers: dict[str, float] = {}
    off = _disabled(reading)
    if model.jnt_limited[joint] and "LIMIT" not in off:
        zero = float(model.qpos0[model.jnt_qposadr[joint]]) + _offset(reading, joint)
        numbers |= {"low": float(model.jnt_range[joint][0]) - zero, "high": float(model.jnt_range[joint][1]) - zero}
    drives = _actuators(reading, joint)
    if force := _largest_force(reading, joint, name, drives):
        numbers["force"] = force
    friction = {
        "viscous": float(model.dof_damping[dof]) + _geared(reading, model.actuator_damping, drives),
        "coulomb": float(model.dof_frictionloss[dof]),
    }
    friction = {key: 0.0 if flag in off else friction[key] for key, flag in FRICTION.items()}
    numbers |= {key: value for key, value in friction.items() if value > 0}
    polynomials = model.dof_dampingpoly[dof], model.actuator_dampingpoly[drives]
    powers = "DAMPER" not in off and any(np.any(factors) for factors in polynomials)
    if powers or min(friction.values()) < 0:
        got = "damping with powers of the rate" if powers else "friction below zero"
        reading.warn("joint", name, got, "numbers of at least zero", LEFT_OUT)
    return Rating(name, **numbers)


def _largest_force(reading: _Reading, joint: int, name: str, drives: list[int]) -> float:
    """Return the largest force of actuators in both directions, zero without a limit, and warn where they differ."""
    model, low, high = reading.model, -np.inf, np.inf
    if drives and all(model.actuator_forcelimited[k] for k in drives):  # they act together
        ends = model.actuator_forcerange[drives] * model.actuator_gear[drives, :1]
        low, high = float(ends.min(axis=1).sum()), float(ends.max(axis=1).sum())
    if model.jnt_actfrclimited[joint]:
        low, high = max(low, float(model.jnt_actfrcrange[joint][0])), min(high, float(model.jnt_actfrcrange[joint][1]))
    both = max(0.0, min(-low, high))
    if not math.isclose(-low, high):
        hint = f"Both directions get {both:g}." if both else LEFT_OUT
        reading.warn(
            "joint", name, f"forces of actuators from {low:g} to {high:g}", "one limit of both directions", hint
        )
    return both if math.isfinite(both) else 0.0


FRICTION = {"viscous": "DAMPER", "coulomb": "FRICTIONLOSS"}
"""Friction of a rating, and the flag that switches it off."""


def _disabled(reading: _Reading) -> set[str]:
    """Return the effects that flags of the options switch off; constraints are friction loss and limits as well."""
    bits, flags = reading.mujoco.mjtDisableBit, int(reading.model.opt.disableflags)
    names = ("DAMPER", "FRICTIONLOSS", "LIMIT", "CONSTRAINT")
    disabled = {name for name in names if flags & int(getattr(bits, f"mjDSBL_{name}"))}
    return disabled | ({"FRICTIONLOSS", "LIMIT"} if "CONSTRAINT" in disabled else set())


def _equalities(reading: _Reading, *kinds: int) -> Iterator[int]:
    """Yield the numbers of active equalities, of one of some kinds where there are any; none where a flag says so."""
    model, bits = reading.model, reading.mujoco.mjtDisableBit
    if model.opt.disableflags & int(bits.mjDSBL_EQUALITY | bits.mjDSBL_CONSTRAINT):
        return
    for k in range(model.neq):
        if model.eq_active0[k] and (not kinds or int(model.eq_type[k]) in kinds):
            yield k


def _offset(reading: _Reading, joint: int) -> float:
    """Return the position of a follower joint where its leading joint is at zero."""
    for k in _equalities(reading, JOINT):
        if int(reading.model.eq_obj1id[k]) == joint:
            return float(reading.model.eq_data[k][0])
    return 0.0


def _couplings(reading: _Reading) -> Iterator[Coupling]:
    """Yield the couplings of joints that follow others, by linear equality constraints."""
    model, names = reading.model, reading.joint_names
    stated: dict[str, dict[str, float]] = {}
    for k in _equalities(reading, JOINT):
        name, first, second = reading.name("equality", k), int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
        if second < 0:
            continue
        if first not in names or second not in names:
            kind = (
                "a joint that another equality holds" if {first, second} & {*reading.locks} else "a ball or free joint"
            )
            reading.refuse("joint", name, f"an equality of {kind}", "joints of one variable that move")
        elif np.any(model.eq_data[k][2:5]):
            got = f"joint {names[first]} as a polynomial of {names[second]}"
            reading.refuse("joint", name, got, "a linear equality", "Write the mechanism as a loop.")
        else:
            stated[names[first]] = {names[second]: float(model.eq_data[k][1])}
    for k in _equalities(reading, TENDON):
        if (tied := _tied_joints(reading, k)) is None:
            continue
        free = [name for name in tied if name not in stated]
        follower = free[0] if free else next(iter(tied))
        if len(tied) > 2:  # of several one that nothing drives
            follower = next((name for name in free if not _is_driven(reading, name)), follower)
        if follower in stated:
            hint = "Take one of the equalities out."
            reading.refuse("joint", follower, "a joint that follows two others", "one equality of a joint", hint)
        leaders = {name: -factor / tied[follower] for name, factor in tied.items() if name != follower}
        stated.setdefault(follower, leaders)
    for joint in stated:
        ends = _ends(stated, joint, (joint,))
        if not ends:
            reading.refuse("joint", joint, "a joint that follows itself", "another joint")
        yield from (Coupling(joint, of, ratio) for of, ratio in ends.items())


def _ends(stated: Mapping[str, Mapping[str, float]], joint: str, seen: tuple[str, ...]) -> dict[str, float]:
    """Return the joints that follow no other one, by which a joint moves, and ratios; none where it follows itself."""
    total: dict[str, float] = {}
    for of, ratio in stated[joint].items():
        inner = {of: 1.0} if of not in stated else {} if of in seen else _ends(stated, of, (*seen, of))
        if not inner:
            return {}
        for name, share in inner.items():
            total[name] = total.get(name, 0.0) + ratio * share
    return {name: share for name, share in total.items() if share}


def _is_driven(reading: _Reading, name: str) -> bool:
    """Return whether a joint has an actuator."""
    (joint,) = [number for number, known in reading.joint_names.items() if known == name]
    return bool(_actuators(reading, joint))


def _tied_joints(reading: _Reading, number: int) -> dict[str, float] | None:
    """Return the joints of tendons whose lengths are tied, with factors whose sum stays; None for other tendons."""
    model, names = reading.model, reading.joint_names
    law, factors = model.eq_data[number], dict[int, float]()
    for tendon, share in ((int(model.eq_obj1id[number]), 1.0), (int(model.eq_obj2id[number]), -float(law[1]))):
        start = int(model.tendon_adr[tendon])
        for k in range(start, start + int(model.tendon_num[tendon])) if tendon >= 0 else ():
            if int(model.wrap_type[k]) != OF_JOINT or int(model.wrap_objid[k]) not in names:
                return None
            joint = int(model.wrap_objid[k])
            factors[joint] = factors.get(joint, 0.0) + share * float(model.wrap_prm[k])
    moving = {joint: factor for joint, factor in factors.items() if factor}
    if len(moving) < 2 or law[0] or np.any(law[2:5]):
        return None
    return {names[joint]: factor for joint, factor in moving.items()}


def _loops(reading: _Reading) -> Iterator[ClosingJoint]:
    """Yield the closing joints from equality constraints between bodies: balls and welds.

    A weld whose torques are scaled by zero holds its point alone.
    """
    model = reading.model
    for kind in (CONNECT, WELD):
        for k in _equalities(reading, kind):
            data, ids = model.eq_data[k], (int(model.eq_obj1id[k]), int(model.eq_obj2id[k]))
            name_of = "fixed" if kind == WELD and data[TORQUESCALE] != 0.0 else "spherical"
            if int(model.eq_objtype[k]) == int(reading.mujoco.mjtObj.mjOBJ_SITE):
                poses = [_pose(model.site_pos[i], model.site_quat[i]) for i in ids]
                bodies = [int(model.site_bodyid[i]) for i in ids]
            elif kind == CONNECT:
                poses, bodies = [(np.eye(3), np.array(data[:3])), (np.eye(3), np.array(data[3:6]))], list(ids)
            else:
                poses, bodies = [_pose(data[3:6], data[6:10]), (np.eye(3), np.array(data[:3]))], list(ids)
            names = [reading.name("body", body) if body else "world" for body in bodies]
            if moved_by_hand := [name for name, b in zip(names, bodies, strict=True) if _is_mocap(reading, b)]:
                got = f"a constraint to the mocap body {moved_by_hand[0]}, which moves as a user wants"
                tag, name = "connect" if kind == CONNECT else "weld", reading.name("equality", k)
                reading.warn(tag, name, got, "bodies of the robot", LEFT_OUT)
                continue
            frames = [frame_of(pose) for pose in poses]
            yield ClosingJoint(_loop_name(reading, k), name_of, names[0], frames[0], names[1], frames[1])


def _is_mocap(reading: _Reading, body: int) -> bool:
    """Return whether a body is one that users move, or fixed to one."""
    return int(reading.model.body_mocapid[int(reading.model.body_rootid[body])]) >= 0


def _loop_name(reading: _Reading, number: int) -> str:
    return reading.name("equality", number).replace("equality_", "loop_")


def _driven(reading: _Reading, followers: list[str]) -> Iterator[str]:
    """Yield the names of joints that actuators move."""
    for joint, name in reading.joint_names.items():
        if name not in followers and _actuators(reading, joint):
            yield name


def _effects(reading: _Reading) -> Iterator[effects.Found]:
    """Yield effects that change the dynamics and that no robot here can have.

    A constraint that is not active changes nothing.
    """
    model, opt = reading.model, reading.model.opt

    def count(size: int, *columns: Any) -> int:
        return (
            int(np.any(np.hstack([np.reshape(column, (size, -1)) for column in columns]), axis=1).sum()) if size else 0
        )

    def numbers(owner: str, *names: str) -> list[Any]:
        return [getattr(model, f"{owner}_{name}") for name in names]

    of_tendons = ("stiffness", "stiffnesspoly", "damping", "dampingpoly", "frictionloss", "armature")
    constraints = [k for k in _equalities(reading) if int(model.eq_type[k]) > JOINT]
    constraints = [k for k in constraints if int(model.eq_type[k]) != TENDON or _tied_joints(reading, k) is None]
    single = [joint for joint in range(int(model.njnt)) if int(model.jnt_type[joint]) in KINDS]
    at_joints = {k for joint in single for k in _actuators(reading, joint)}
    loose = [k for k in range(len(model.actuator_trntype)) if k not in at_joints]
    counts = {
        "springs": count(int(model.njnt), *numbers("jnt", "stiffness", "stiffnesspoly")),
        "tendons": count(int(model.ntendon), *numbers("tendon", *of_tendons)),
        "gravity": count(int(model.nbody), model.body_gravcomp),
        "constraints": len(constraints),
        "flexible": int(model.nflex),
        "damping": count(len(loose), model.actuator_damping[loose], model.actuator_dampingpoly[loose]),
        "armature": count(len(loose), model.actuator_armature[loose]),
        "plugins": int(model.nplugin),
        "fluid": int(opt.density != 0.0 or opt.viscosity != 0.0),
    }
    for kind, number in counts.items():
        if number:
            yield kind, FormatError(0, "", f"{number} {REFUSED[kind]}", "only content that a robot file can express")
