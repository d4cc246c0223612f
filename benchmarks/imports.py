"""Imports of robots that others wrote: accepted or refused and why, and their inverse dynamics beside other engines.

    python -m benchmarks.imports            # all files of the packages in the extra `models` that are installed
    python -m benchmarks.imports a.urdf     # these files

Files are read from the packages where they are installed; nothing of them is in this repository. URDF files are held to
Pinocchio's own reader, MJCF files to MuJoCo, SDF files to Drake, at random states. A file whose inertias no body has is
imported with repair, and compared without: the other engine has no repair.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import numpy as np

from pipeline.errors import InputError
from pipeline.robot_files.importing import import_robot, parse_tree
from robots.formats.tree import Base, Tree
from robots.model import Robot
from robots.types import BASE
from tasks import inverse_dynamics

PACKAGES = ("example-robot-data", "pybullet", "dm_control", "gymnasium-robotics", "robosuite", "drake", "mujoco")
"""Distributions that bring robots, by their names on PyPI."""

STATES = 8
SEED = 20240501
GRAVITY = (0.0, 0.0, -9.81)
SPREAD = 0.6
"""Sizes of positions, rates and accelerations at random states [rad or m, and per second]."""

LARGEST = 80
"""Joints of a robot from which on it is imported but not compared: its program takes minutes to compile."""


@dataclass(frozen=True)
class Import:
    """One file: what became of it."""

    path: Path
    joints: int = 0
    told: str = ""
    warnings: int = 0
    error: float | None = None
    refused: str = ""

    @property
    def row(self) -> str:
        """Its row of the table."""
        name = f"{self.path.parent.name}/{self.path.name}"
        if self.refused:
            return f"| {name} | refused |  |  | {self.refused} |"
        error = "not compared" if self.error is None else f"{self.error:.1e}"
        return f"| {name} | accepted | {self.joints} | {error} | {self.told or f'{self.warnings} warnings'} |"


def files(packages: Iterable[str] = PACKAGES) -> Iterator[Path]:
    """URDF files, and XML files of MuJoCo, of the packages that are installed."""
    for package in packages:
        try:
            listed = metadata.files(package) or []
        except metadata.PackageNotFoundError:
            continue
        for entry in sorted(map(str, listed)):
            path = Path(str(metadata.distribution(package).locate_file(entry)))
            if "random_urdfs" in path.parts:  # a thousand blocks
                continue
            if path.suffix in (".urdf", ".sdf") or (path.suffix == ".xml" and b"<mujoco" in path.read_bytes()[:4000]):
                yield path


def imported(path: Path, compare: bool = True) -> Import:
    """One file: as it is, else with repaired inertias, else with a floating base."""
    first = ""
    choices: Sequence[tuple[str, Base, bool]] = (
        ("", "fixed", False),
        ("repaired", "fixed", True),
        ("floating base", "floating", False),
        ("floating base, repaired", "floating", True),
    )
    for stated, base, repair in choices:
        try:
            robot = import_robot(path, base=base, repair=repair)
        except InputError as error:
            first = first or str(error).splitlines()[0].partition(": got ")[2]
            continue
        count = len(robot.description.template.limbs[0].links)
        error_ = _error(path, base) if compare and count <= LARGEST else None
        return Import(path, count, stated, len(robot.warnings), error_)
    return Import(path, refused=first)


def _error(path: Path, base: Base) -> float | None:
    """The largest difference of joint forces from another engine, relative to the largest force of the state."""
    tree = parse_tree(path.read_bytes(), str(path), base, "as they are")
    if tree.loops or any(link.joint_kind.coupled for link in tree.links):
        return None
    peer = PEERS[path.suffix](path, tree, base)
    if peer is None:
        return None
    robot = Robot.of(tree.description().family, {})
    q, qd, qdd = np.random.default_rng(SEED).uniform(-SPREAD, SPREAD, (3, STATES, len(tree.free)))
    ours = inverse_dynamics(robot, q=q, qd=qd, qdd=qdd, gravity=GRAVITY)
    theirs = np.array([peer(*state) for state in zip(q, qd, qdd, strict=True)])
    size = np.abs(theirs).max(axis=1, keepdims=True)
    return float(np.max(np.abs(ours - theirs) / np.where(size > 0, size, 1.0)))


Peer = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def _pinocchio(path: Path, tree: Tree, base: Base) -> Peer | None:
    """Forces of the joints of a tree as Pinocchio has them; None where it does not read the file.

    Joints that mimic others move on their own there, as its own mimic needs joints in another order: their forces are
    added to those of the joints that they follow.
    """
    import pinocchio as pin

    if base == "floating":
        return None
    text = path.read_text(encoding="utf-8", errors="replace")
    if any(float(offset) for offset in re.findall(r'<mimic[^>]*offset="([^"]*)"', text)):
        return None  # its variables count from elsewhere
    try:
        model = pin.buildModelFromUrdf(str(path))
    except (ValueError, RuntimeError):
        return None
    if not set(tree.joints) <= set(model.names) or model.nv != len(tree.joints):
        return None
    model.gravity.linear = np.array(GRAVITY)
    ids = [model.getJointId(name) for name in tree.joints]
    at = np.array([model.idx_vs[k] for k in ids])
    rotors = np.array([float(link.armature) for link in tree.links])
    along = _following(tree)
    data = model.createData()

    def force(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        full, rate, change = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
        for value, k in zip(along @ q, ids, strict=True):
            size = model.nqs[k]
            full[model.idx_qs[k] :][:size] = value if size == 1 else (np.cos(value), np.sin(value))
        rate[at], change[at] = along @ qd, along @ qdd
        result: np.ndarray = along.T @ (pin.rnea(model, data, full, rate, change)[at] + rotors * change[at])
        return result

    return force


def _following(tree: Tree) -> np.ndarray:
    """All joints of a tree over those that follow no other (joint, free)."""
    result = np.array([[float(name == other) for other in tree.free] for name in tree.joints])
    for entry in tree.couplings:
        result[tree.joints.index(entry.joint), tree.free.index(entry.of)] = float(entry.ratio)
    return result


def _mujoco(path: Path, tree: Tree, base: Base) -> Peer | None:
    """Forces of the joints of a tree as MuJoCo has them, without its springs, dampers, constraints and contacts."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(path))
    ids = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name) for name in tree.joints]
    if min(ids, default=-1) < 0:
        return None  # joints without names, or of several freedoms
    bare = ("dof_damping", "dof_dampingpoly", "jnt_stiffness", "jnt_stiffnesspoly", "body_gravcomp", "tendon_stiffness",
            "tendon_damping", "tendon_armature")  # fmt: skip
    for name in bare:
        getattr(model, name)[...] = 0.0
    model.opt.density = model.opt.viscosity = 0.0
    model.opt.wind[:] = 0.0
    model.opt.gravity[:] = GRAVITY
    model.opt.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data, along = mujoco.MjData(model), _following(tree)
    at, place = model.jnt_dofadr[ids], model.jnt_qposadr[ids]
    shift = [float(model.eq_data[k][0]) for k in range(model.neq) if int(model.eq_type[k]) == 2]
    if any(shift):
        return None  # its variables count from elsewhere

    def force(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        data.qpos[:], data.qvel[:], data.qacc[:] = model.qpos0, 0.0, 0.0
        data.qpos[place] += along @ q
        data.qvel[at], data.qacc[at] = along @ qd, along @ qdd
        mujoco.mj_inverse(model, data)
        result: np.ndarray = along.T @ data.qfrc_inverse[at]
        return result

    return force


def _drake(path: Path, tree: Tree, base: Base) -> Peer | None:
    """Forces of the joints of a tree as Drake has them; None where it is not installed or does not read the file."""
    try:
        from pydrake.math import RigidTransform, RotationMatrix
        from pydrake.multibody.parsing import Parser
        from pydrake.multibody.plant import MultibodyPlant
        from pydrake.multibody.tree import MultibodyForces
    except ImportError:
        return None
    if base == "floating":
        return None
    at = {name: pose for name, (body, pose) in tree.bodies.items() if body == BASE}

    def loaded(held: bool) -> MultibodyPlant:
        """The model, its first link where it stands."""
        plant = MultibodyPlant(0.0)
        (instance, *_) = Parser(plant).AddModels(str(path))
        names = [plant.get_body(index).name() for index in plant.GetBodyIndices(instance)]
        for name in [name for name in names if name in at][: int(held)]:
            pose = RigidTransform(RotationMatrix(at[name][0]), at[name][1])
            plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(name), pose)
        plant.Finalize()
        return plant

    plant = None
    for held in (False, True):
        with contextlib.suppress(RuntimeError):  # of files that it does not read, and links that are held already
            loaded_plant = loaded(held)
            plant = loaded_plant if loaded_plant.num_velocities() == len(tree.joints) else plant
    if plant is None:
        return None
    joints = [plant.GetJointByName(name) for name in tree.joints]
    plant.mutable_gravity_field().set_gravity_vector(GRAVITY)
    context, order = plant.CreateDefaultContext(), [entry.velocity_start() for entry in joints]
    damping = np.array([entry.default_damping_vector()[0] for entry in joints])

    def force(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        place, rate, change = np.zeros((3, len(joints)))
        place[order], rate[order], change[order] = q, qd, qdd
        plant.SetPositions(context, place)
        plant.SetVelocities(context, rate)
        forces = MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        result: np.ndarray = plant.CalcInverseDynamics(context, change, forces)[order] - damping * qd
        return result

    return force


PEERS: Mapping[str, Callable[[Path, Tree, Base], Peer | None]] = {
    ".urdf": _pinocchio, ".xml": _mujoco, ".sdf": _drake,
}  # fmt: skip
"""What files of a kind are compared with."""


def table(results: Iterable[Import]) -> Iterator[str]:
    """The table, row by row, and its sums."""
    yield "| file | | joints | difference | |"
    yield "|---|---|---|---|---|"
    rows: list[Import] = []
    for entry in results:
        rows.append(entry)
        yield entry.row
    accepted = [entry for entry in rows if not entry.refused]
    compared = [entry.error for entry in accepted if entry.error is not None]
    repaired = sum(entry.told == "repaired" for entry in accepted)
    floating = sum(entry.told == "floating base" for entry in accepted)
    yield (
        f"{len(accepted)} of {len(rows)} accepted, {repaired} of them with repaired inertias, {floating} with a "
        f"floating base; {len(compared)} compared, largest difference {max(compared, default=0.0):.1e}"
    )


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="URDF or MJCF files; default: those of installed packages")
    parser.add_argument("--no-compare", action="store_true", help="only whether they are accepted")
    stated = parser.parse_args(arguments)
    for line in table(imported(path, not stated.no_compare) for path in stated.files or files()):
        print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
