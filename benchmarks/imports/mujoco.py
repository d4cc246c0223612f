"""Forces of the joints of a file as MuJoCo has them, without springs, dampers and contacts; and its equalities.

MuJoCo reads URDF files as well, where they name no meshes that are not there.
"""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np

from benchmarks.imports.parts import Convert, Coordinates, Part, Seat, parts, quaternion, state, straight, turned
from benchmarks.imports.spanning import GRAVITY, Spanning, rotors
from robots.formats.tree import Base, Tree

BARE = (
    "dof_damping", "dof_dampingpoly", "actuator_damping", "actuator_dampingpoly", "jnt_stiffness",
    "jnt_stiffnesspoly", "body_gravcomp", "tendon_stiffness", "tendon_damping", "tendon_armature",
)  # fmt: skip
"""Arrays of a model for effects outside the dynamics here."""

FREE, BALL = 0, 1
EQUALITIES = 4
"""Kinds of equalities that are read: of points, of bodies, of joints, of tendons that tie joints."""


def moves(path: Path) -> bool:
    """Return whether MuJoCo compiles a file, with a joint."""
    try:
        return bool(mujoco.MjModel.from_xml_path(str(path)).njnt)
    except (ValueError, RuntimeError):
        return False


def spanning(path: Path, tree: Tree, base: Base) -> Spanning | None:
    """Return the tree of a file; None where MuJoCo does not compile it, or has other joints."""
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except (ValueError, RuntimeError):
        return None
    of_urdf = path.suffix == ".urdf"
    if of_urdf and base == "floating":
        return None
    for name in BARE:
        getattr(model, name)[...] = 0.0
    model.opt.density = model.opt.viscosity = 0.0
    model.opt.wind[:] = 0.0
    if any("equality constraints" in each.got for each in tree.warnings):  # of tendons that tie no joints: left out
        model.eq_active0[:] = model.eq_active0 & (model.eq_type < EQUALITIES - 1)
    return of_model(model, tree, rotors(tree) if of_urdf else np.zeros(len(tree.joints)))


def of_model(model: mujoco.MjModel, tree: Tree, rotor_inertias: np.ndarray) -> Spanning | None:
    """Return the tree of a model, and inertias of rotors at its joints; None where it has other joints."""
    known = {_name(model, joint): joint for joint in range(model.njnt)}
    found = list(parts(tree.joints, known))
    if not {part.name for part in found} <= set(known):
        return None
    model.opt.gravity[:] = GRAVITY
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    flags = mujoco.mjtDisableBit
    disabled = int(model.opt.disableflags) & ~int(flags.mjDSBL_GRAVITY)
    equalities = disabled | int(flags.mjDSBL_CONTACT | flags.mjDSBL_LIMIT | flags.mjDSBL_FRICTIONLOSS)
    for k in range(model.neq):
        model.eq_active0[k] = model.eq_active0[k] and int(model.eq_type[k]) < EQUALITIES
    data = mujoco.MjData(model)
    seats = [_seat(model, known[part.name], part) for part in found]
    shift = np.array([_offset(model, known, name) for name in tree.joints])
    rest = np.array(model.qpos0)
    for k in range(model.neq):
        if int(model.eq_type[k]) == int(mujoco.mjtEq.mjEQ_JOINT) and model.eq_active0[k] and model.eq_obj2id[k] < 0:
            rest[model.jnt_qposadr[model.eq_obj1id[k]]] += model.eq_data[k][0]

    def moved(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        data.qpos[:], data.qvel[:], data.qacc[:], matrix = state(seats, rest, model.nv, q + shift, qd, qdd)
        return matrix

    def forces(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        model.opt.disableflags = disabled | int(flags.mjDSBL_CONSTRAINT)
        matrix = moved(q, qd, qdd)
        mujoco.mj_inverse(model, data)
        result: np.ndarray = matrix.T @ data.qfrc_inverse + rotor_inertias * qdd
        return result

    def conditions(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        model.opt.disableflags = equalities
        matrix = moved(q, np.zeros(len(q)), np.zeros(len(q)))
        mujoco.mj_fwdPosition(model, data)
        slopes = np.array(data.efc_J).reshape(-1, model.nv)[: data.nefc]
        return np.array(data.efc_pos[: data.nefc]), slopes @ matrix

    return Spanning(forces, conditions if np.any(model.eq_active0) else None)


def _name(model: mujoco.MjModel, joint: int) -> str:
    """Return the name of a joint, as files without names count them."""
    return mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, joint) or f"joint_{joint}"


def _seat(model: mujoco.MjModel, joint: int, part: Part) -> Seat:
    place, rate, kind = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint]), int(model.jnt_type[joint])
    sizes = {FREE: (7, 6), BALL: (4, 3)}.get(kind, (1, 1))
    start = np.array(model.qpos0[place : place + sizes[0]])
    convert = _floating(start) if kind == FREE else _ball if kind == BALL else _shifted(float(start[0]))
    return Seat(part, np.arange(place, place + sizes[0]), np.arange(rate, rate + sizes[1]), convert)


def _shifted(start: float) -> Convert:
    """Return a joint of one freedom, which counts from the pose of the file."""

    def convert(part: Part, q: np.ndarray, qd: np.ndarray) -> Coordinates:
        return straight(part, q + start, qd)

    return convert


def _ball(part: Part, q: np.ndarray, qd: np.ndarray) -> Coordinates:
    """Return coordinates with the angular velocity in axes of the body."""
    turn = turned(q, qd)
    return Coordinates(np.roll(quaternion(turn.rotation), 1), turn.matrix, turn.drift)


def _floating(start: np.ndarray) -> Convert:
    """Return the conversion to a velocity in the world and an angular velocity in axes of the body."""
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, start[3:])
    home = rotation.reshape(3, 3)

    def convert(part: Part, q: np.ndarray, qd: np.ndarray) -> Coordinates:
        turn, zero = turned(q[3:], qd[3:]), np.zeros((3, 3))
        place = start[:3] + home @ q[:3]
        return Coordinates(
            np.concatenate([place, np.roll(quaternion(home @ turn.rotation), 1)]),
            np.block([[home, zero], [zero, turn.matrix]]),
            np.concatenate([np.zeros(3), turn.drift]),
        )

    return convert


def _offset(model: mujoco.MjModel, known: dict[str, int], name: str) -> float:
    """Return the position of a joint that follows another while that one is at zero."""
    joints = int(mujoco.mjtEq.mjEQ_JOINT)
    for k in range(model.neq):
        if int(model.eq_type[k]) == joints and model.eq_active0[k] and int(model.eq_obj1id[k]) == known.get(name):
            return float(model.eq_data[k][0])
    return 0.0
