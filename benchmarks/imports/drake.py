"""Forces of the joints of an SDF file as Drake has them; a file with loops without the joints that close them."""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import MultibodyForces

from benchmarks.imports.parts import Convert, Coordinates, Part, Seat, parts, quaternion, state, straight, turned
from benchmarks.imports.spanning import GRAVITY, Spanning
from pipeline.robot_files.packages import PackageFiles
from robots.formats.sdf_includes import with_includes
from robots.formats.tree import Base, Tree
from robots.formats.urdf import FLOATING
from robots.formats.xml_tree import Element, FormatError, ImportedError, parse
from robots.types import BASE

logging.getLogger("drake").setLevel(logging.ERROR)  # it warns of elements that it leaves out


def moves(path: Path) -> bool:
    """Return whether Drake reads a file, with a joint or a body that floats."""
    try:
        plant = MultibodyPlant(0.0)
        Parser(plant).AddModelsFromString(_opened(path, [], ("static",)), "sdf")
        plant.Finalize()
    except (RuntimeError, ImportedError, FormatError):
        return False
    return bool(plant.num_velocities())


def spanning(path: Path, tree: Tree, base: Base) -> Spanning | None:
    """Return the tree of a file; None where Drake does not read it, or has other joints."""
    if any(not link.inertia.mass and np.any(link.inertia.tensor) for link in tree.links):
        return None  # Drake leaves out moments of bodies without mass
    at = {name: pose for name, (body, pose) in tree.bodies.items() if body == BASE}
    plant = None
    for held in (False, True):
        # of files that it does not read, versions that are no numbers, and links that are held already
        with contextlib.suppress(RuntimeError, ValueError):
            loaded = _loaded(path, tree, at, held=held)
            plant = loaded if loaded.num_velocities() == len(tree.joints) else plant
    if plant is None:
        return None
    names = {plant.get_joint(index).name(): index for index in plant.GetJointIndices()}
    floating = [plant.get_body(index).name() for index in plant.GetFloatingBaseBodies()]
    if floating and floating[0] in names:
        names[FLOATING] = names[floating[0]]
    found = list(parts(tree.joints, names))
    if not {part.name for part in found} <= set(names):
        return None
    home = tree.links[0].placement if base == "floating" else None
    seats = []
    for part in found:
        joint = plant.get_joint(names[part.name])
        place, rate = (
            np.arange(start, start + size)
            for start, size in (
                (joint.position_start(), joint.num_positions()),
                (joint.velocity_start(), joint.num_velocities()),
            )
        )
        start = (
            RigidTransform() if home is None else RigidTransform(RotationMatrix(np.array(home.rotation)), home.position)
        )
        seats.append(
            Seat(part, place, rate, {"floating": _floating(start), "spherical": _ball}.get(part.kind, straight))
        )
    plant.mutable_gravity_field().set_gravity_vector(GRAVITY)
    context, width = plant.CreateDefaultContext(), plant.num_velocities()
    start, none = np.array(plant.GetPositions(context)), MultibodyForces(plant)  # neither springs nor damping

    def forces(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        place, rate, change, matrix = state(seats, start, width, q, qd, qdd)
        plant.SetPositions(context, place)
        plant.SetVelocities(context, rate)
        whole = plant.CalcInverseDynamics(context, change, none) - plant.CalcGravityGeneralizedForces(context)
        result: np.ndarray = matrix.T @ whole
        return result

    return Spanning(forces)


def _loaded(path: Path, tree: Tree, at: dict[str, tuple[np.ndarray, np.ndarray]], *, held: bool) -> MultibodyPlant:
    """Return the model without the joints that close loops, its first link where it stands."""
    plant = MultibodyPlant(0.0)
    (instance, *_) = Parser(plant).AddModelsFromString(_opened(path, [loop.joint for loop in tree.loops]), "sdf")
    names = [plant.get_body(index).name() for index in plant.GetBodyIndices(instance)]
    for name in [name for name in names if name in at][: int(held)]:
        pose = RigidTransform(RotationMatrix(at[name][0]), at[name][1])
        plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(name), pose)
    plant.Finalize()
    return plant


KEPT = {
    "link": ("pose", "inertial"),
    "model": ("pose", "link", "joint", "frame", "model"),
    "world": ("model", "joint", "frame"),
}
"""Elements of inertial dynamics; Drake refuses a file for elements that it does not know."""


def _opened(path: Path, cut: list[str], more: tuple[str, ...] = ()) -> str:
    """Return the text of a file without some joints, and without elements outside the dynamics, except `more` tags."""
    root, _ = with_includes(parse(path.read_bytes().strip(b"\0 \r\n\t")), str(path), PackageFiles(str(path), {}))
    whole = _plain(root)
    for tag, kept in KEPT.items():
        for parent in list(whole.iter(tag)):
            for entry in [entry for entry in parent if entry.tag not in (*kept, *more) or entry.get("name") in cut]:
                parent.remove(entry)
    return ElementTree.tostring(whole, encoding="unicode")


def _plain(element: Element) -> ElementTree.Element:
    """Return an element of ours as one of the standard library."""
    result = ElementTree.Element(element.tag, element.attributes)
    result.text = element.text
    result.extend(map(_plain, element.children))
    return result


def _ball(part: Part, q: np.ndarray, qd: np.ndarray) -> Coordinates:
    """Return coordinates: roll, pitch and yaw as positions, angular velocity in axes of the body before."""
    turn = turned(q, qd)
    return Coordinates(q[::-1], turn.rotation @ turn.matrix, turn.rotation @ turn.drift)


def _floating(home: RigidTransform) -> Convert:
    """Return the conversion to velocities in the world, the angular one first."""

    def convert(part: Part, q: np.ndarray, qd: np.ndarray) -> Coordinates:
        turn, outer, zero = turned(q[3:], qd[3:]), home.rotation().matrix(), np.zeros((3, 3))
        whole = outer @ turn.rotation
        return Coordinates(
            np.concatenate([np.roll(quaternion(whole), 1), home.translation() + outer @ q[:3]]),
            np.block([[zero, whole @ turn.matrix], [outer, zero]]),
            np.concatenate([whole @ turn.drift, np.zeros(3)]),
        )

    return convert
