"""`workspace`: positions that a robot reaches under conditions, and the largest regular part of them.

Volumes and boundary come from cells that are refined where the boundary is (`cells`); the largest sphere, cylinder,
box or hull from boundary points that are found as exactly as asked (`largest`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from applications.studies.columns import Array, Mask, refuse
from applications.studies.workspaces import shapes
from applications.studies.workspaces.cells import CellTree, boundary, refined
from applications.studies.workspaces.largest import LargestShape, largest, polished
from applications.studies.workspaces.poses import FORCE, RestPoses, conditions
from pipeline.sweep.doors import RobotLike, sweep
from pipeline.sweep.model import Sweep
from robots.arguments import check_arguments, shown
from robots.data_classes import dataclass, replace
from robots.types import TWIST

Kind = Literal["ball", "box", "cylinder", "hull"]
KINDS = ("ball", "box", "cylinder", "hull")
FIRST = (64, 32, 16)
"""Cells along each axis of the first grid, by the number of free axes."""
LEVELS = (8, 4, 2)
"""Times that cells are halved."""
GROWTHS = 6
"""Times that the box is doubled until the reach is within."""
SHRINKINGS, SHRUNK = 12, 0.7
"""Times that the box is drawn in again, while an edge is shorter than this share of the former one."""
COARSE = (33, 17, 9)
"""Points along each axis that decide about a smaller box."""
STARTS = 3
"""Centres from which the largest shape is looked for."""
APART = 0.25
"""Distance between starts, relative to the size of the shape there."""
BOUNDARY_HALVINGS = 12
CANDIDATES = 2000
"""Cells that are looked at as starts."""
ROUGH = 1e-3
"""Tolerance at which starts are compared."""
ROUNDING = 1e-9
AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Workspace:
    """Workspace in which conditions hold in all orientations, and a regular shape inside it.

    Units of volumes: [m^3, m^2 in a plane, m along a line]. `size` of the shape about `centre` (3,) [m]: the radius of
    a ball; of a box, a cylinder and a hull the factor of their proportions. `contacts` (n, 3) are boundary points that
    it touches. `settled` is True if no point of it was found outside, to the tolerance, when the search ended. `volume`
    is the volume in which conditions hold, to about +- `uncertainty`; `reached` is the volume that limbs reach in any
    of the orientations; `share` is their ratio. `boundary` (n, 3) are boundary points of the region that is connected
    with the reference pose; the shape is in this region. `elsewhere` (3,) is the centre of a larger shape of the region
    to which no straight way leads from the reference pose; None where none was seen.

        >>> space = ls.study.workspace("five_bar", centre=[0.0, 0.0, 0.5], levels=0)
        >>> bool(space.volume <= space.reached), space.boundary.shape[1]
        (True, 3)
    """

    size: float
    centre: Array
    dimensions: Mapping[str, float]
    contacts: Array
    settled: bool
    volume: float
    uncertainty: float
    reached: float
    share: float
    boundary: Array
    elsewhere: Array | None


class RestKeywords(TypedDict, total=False):
    """A robot at rest: its parameters by name, and sections of a sweep file."""

    parameters: Mapping[str, float] | None
    gravity: Sequence[float] | None
    limits: Mapping[str, Any] | None
    criteria: Mapping[str, Any] | None


@check_arguments
def workspace(
    robot: Sweep | RobotLike,
    shape: Kind = "ball",
    where: Sequence[str] = (),
    *,
    rotation: ArrayLike | None = None,
    proportions: ArrayLike | None = None,
    axis: Literal["x", "y", "z"] = "z",
    centre: ArrayLike | None = None,
    within: ArrayLike | None = None,
    levels: int | None = None,
    tolerance: float = 1e-6,
    **rest: Unpack[RestKeywords],
) -> Workspace:
    """Compute the workspace of a robot with a platform at rest, and the largest ball, box, cylinder or hull inside.

    A position belongs to it if the status is OK and all conditions `where` hold there, such as `condition <= 5`,
    `least_regularity >= 0.2`, `clearance > 0.01`, `peak_force <= 30` (of actuators that hold it, without friction) or
    any metric of a pose; in each of the orientations `rotation` (3, 3) or (orientation, 3, 3), by default that of the
    reference pose. proportions: half edges of a box along the axes that the platform moves along, or radius and half
    height of a cylinder about `axis`, one each by default; corners (corner, axis) of a hull. centre (3,) [m]: where the
    shape has to be; else the best place is looked for on the side of the reference pose: the straight way from there to
    every point of the shape stays in the region, to a cell of it. within (2, 3) [m]: the box that counts, by default
    one around all that limbs reach. levels: how often cells on the boundary are halved. tolerance: of the size,
    relative. `robot` may be a sweep, with its limits, criteria and gravity and its first design; else `limits`,
    `criteria` and `gravity` are those sections of a sweep file. `parameters` by name. Raises InputError.

        >>> space = ls.study.workspace("five_bar", where=["condition <= 4"])
        >>> space.settled, bool(0.19 < space.size < 0.2), bool(0.0 < space.share < 1.0)
        (True, True, True)
    """
    if shape not in KINDS:
        raise refuse("shape", shown(shape), f"one of {', '.join(KINDS)}")
    if not 1e-12 <= tolerance <= 0.1:
        raise refuse("tolerance", repr(tolerance), "from 1e-12 to 0.1")
    poses = _at_rest(robot, where, rotation, rest)
    form = _shape(shape, poses.axes, proportions, axis)
    room, tree = _region(poses, within, levels)
    home = poses.home[poses.axes]
    inner = tree.with_home(home)
    edges, beyond = boundary(room, tree, tree.finest[inner[tuple(tree.finest.T)]], BOUNDARY_HALVINGS)
    place = _start(room, centre)
    best = _at(room, form, beyond, place, tolerance) if place is not None else None
    search = _ShapeSearch(room, form, tree, inner, beyond, home)
    best = best or search.best(tolerance)
    larger = search.larger(best.size) if place is None else None
    volume, reached, mixed = _volumes(tree)
    return Workspace(
        size=best.size,
        centre=room.full(best.centre[None])[0],
        dimensions=_dimensions(shape, best.size, form, room.free, axis),
        contacts=room.full(best.contacts),
        settled=best.settled,
        volume=volume,
        uncertainty=mixed / 2.0,
        reached=reached,
        share=volume / reached if reached else 0.0,
        boundary=room.full(edges),
        elsewhere=None if larger is None else room.full(larger[None])[0],
    )


def _at_rest(
    robot: Sweep | RobotLike, where: Sequence[str], rotation: ArrayLike | None, rest: RestKeywords
) -> RestPoses:
    """Return the robot at rest in its orientations, under conditions.

    Raises InputError for one without a platform that moves.
    """
    parsed = conditions(where)
    names = tuple(dict.fromkeys(name for expression in parsed for name in expression.names))
    sections = {name: section for name, section in rest.items() if name != "parameters"}
    poses = RestPoses.of(_sweep(robot, names, sections), parsed, rest.get("parameters"))
    if poses.block.family.reference.is_chain or not poses.axes:
        raise refuse("robot", poses.block.robot, "a robot with a platform that moves along an axis")
    return replace(poses, rotations=_rotations(poses, rotation))


def _region(poses: RestPoses, within: ArrayLike | None, levels: int | None) -> tuple[_Room, CellTree]:
    """Return the searched box and its cells, refined at the boundary. Raises InputError."""
    free = poses.axes
    room = _Room(poses, free, np.full(len(free), -np.inf), np.full(len(free), np.inf))
    room.low, room.high = _box(room, poses.home[free], within)
    depth = LEVELS[len(free) - 1] if levels is None else levels
    if not 0 <= depth <= LEVELS[len(free) - 1] + 1:
        raise refuse("levels", repr(levels), f"0 to {LEVELS[len(free) - 1] + 1}")
    return room, refined(room, room.low, room.high, FIRST[len(free) - 1], depth)


def _volumes(tree: CellTree) -> tuple[float, float, float]:
    """Return the volumes in which conditions hold, that limbs reach, and of the cells on the boundary."""
    mixed = (tree.share > 0.0) & (tree.share < 1.0)
    volume, reached, boundary_cells = (float(part.sum()) * tree.cell for part in (tree.share, tree.reached, mixed))
    return volume, reached, boundary_cells


@dataclass
class _Room:
    """States of points (n, axis) along the free axes; points beyond `low` or `high` do not count."""

    poses: RestPoses
    free: Sequence[int]
    low: Array
    high: Array

    def __call__(self, points: Array) -> tuple[Mask, Mask]:
        within = ((points >= self.low) & (points <= self.high)).all(axis=1)
        holds, reached = np.zeros(len(points), bool), np.zeros(len(points), bool)
        if within.any():
            holds[within], reached[within] = self.poses.states(self.full(points[within]))
        return holds, reached

    def full(self, points: Array) -> Array:
        """Return the positions (n, 3), with the coordinates of the reference pose along axes that are not free."""
        positions = np.tile(self.poses.home, (len(points), 1))
        positions[:, list(self.free)] = points
        return positions


def _sweep(robot: Sweep | RobotLike, names: Sequence[str], sections: Mapping[str, Any]) -> Sweep:
    """Return a sweep of the robot at rest, or the one that is there. Raises InputError."""
    sections = {name: section for name, section in sections.items() if section is not None}
    if isinstance(robot, Sweep):
        if sections:
            name = next(iter(sections))
            raise refuse(name, "a sweep, which has its own", "it in the sweep alone", f"Leave out {name}.")
        result = robot
    else:
        requested = [name for name in names if name != FORCE] or ["condition"]
        rest_motion = {"kind": "quintic", "start": [0.0, 0.0, 0.0], "end": [0.0, 0.0, 0.0], "duration": 1.0}
        result = sweep(robot, trajectories={"rest": rest_motion}, time=(1.0, 1.0), metrics=requested, **sections)
    return result


def _rotations(poses: RestPoses, rotation: ArrayLike | None) -> Array:
    """Return the orientations (orientation, 3, 3). Raises InputError."""
    platform = poses.block.family.reference.platform
    home = np.array(platform.home.rotation, dtype=float)[None]
    if rotation is None:
        return home
    result = np.asarray(rotation, dtype=float)
    result = result[None] if result.ndim == 2 else result
    if result.ndim != 3 or result.shape[1:] != (3, 3) or not len(result) or not np.isfinite(result).all():
        raise refuse("rotation", f"an array of shape {np.shape(rotation)}", "(3, 3) or (orientation, 3, 3)")
    if np.abs(result @ result.transpose(0, 2, 1) - np.eye(3)).max() > ROUNDING or (np.linalg.det(result) < 0.0).any():
        raise refuse("rotation", "matrices that do not turn", "orthogonal ones with determinant 1")
    turns = [name for name in TWIST[:3] if name in platform.mobility]
    if not turns and np.abs(result - home).max() > ROUNDING:
        raise refuse("rotation", "a turn", "that of the reference pose", f"The platform of {poses.block.robot} cannot.")
    if turns and len(turns) < 3:
        fixed = [k for k, name in enumerate(TWIST[:3]) if name not in platform.mobility]
        if len(turns) == 1 and np.abs((result @ home[0].T)[:, fixed, 3 - sum(fixed)]).max() > ROUNDING:
            raise refuse("rotation", "a turn about another axis", f"turns about {turns[0][1]} alone")
    return result


def _hull(free: Sequence[int], proportions: ArrayLike | None) -> shapes.RegularShape:
    """Return the hull of size 1. Raises InputError."""
    corners = np.asarray([] if proportions is None else proportions, dtype=float)
    expected = f"corners (corner, {len(free)}) about the centre, {len(free) + 1} or more"
    fits = corners.ndim == 2 and corners.shape[1] == len(free) < len(corners)
    if not fits or not np.isfinite(corners).all():
        raise refuse("proportions", f"an array of shape {corners.shape}", expected)
    try:
        return shapes.hull(corners)
    except ValueError as error:
        raise refuse("proportions", str(error), expected) from None


def _shape(kind: str, free: Sequence[int], proportions: ArrayLike | None, axis: str) -> shapes.RegularShape:
    """Return the shape of size 1. Raises InputError."""
    if axis not in AXES:
        raise refuse("axis", repr(axis), "x, y or z")
    if kind == "hull":
        return _hull(free, proportions)
    if kind == "cylinder" and len(free) < 3:
        raise refuse("shape", "a cylinder", "a platform that moves along three axes", "Take a ball or a box.")
    count = {"ball": 1, "box": len(free), "cylinder": 2}[kind]
    numbers = np.asarray([1.0] * count if proportions is None else proportions, dtype=float)
    if numbers.shape != (count,) or not (np.isfinite(numbers) & (numbers > 0.0)).all():
        raise refuse("proportions", repr(proportions), f"{count} number{'s' * (count > 1)} above 0 for a {kind}")
    if kind == "ball":
        if proportions is not None:
            raise refuse("proportions", "those of a ball", "none", "Take a box or a cylinder.")
        return shapes.ball(len(free))
    return shapes.box(numbers) if kind == "box" else shapes.cylinder(AXES.index(axis), *numbers.tolist())


def _box(room: _Room, home: Array, within: ArrayLike | None) -> tuple[Array, Array]:
    """Return the corners of the searched box: `within`, or a box around the reach of all limbs. Raises InputError."""
    axes = len(home)
    if within is not None:
        corners = np.asarray(within, dtype=float)
        if corners.shape != (2, 3) or not np.isfinite(corners).all():
            raise refuse("within", f"an array of shape {corners.shape}", "two corners (2, 3) [m]")
        low, high = corners[:, list(room.free)]
        if not (low < high).all():
            raise refuse("within", f"{low.tolist()} to {high.tolist()}", "the lower corner, then the upper one")
        return low, high
    unit = np.stack(np.meshgrid(*[np.linspace(-1.0, 1.0, COARSE[axes - 1])] * axes), axis=-1).reshape(-1, axes)
    edge = np.abs(unit).max(axis=1) == 1.0
    middle, half = home, np.full(axes, _extent(room.poses))
    for _ in range(GROWTHS):
        reached = room(middle + half * unit)[1]
        if not reached[edge].any():
            return _tight(room, middle, half, unit)
        half = half * 2.0
    hint = "Give the corners of the box that counts as within, or limits of the joints."
    raise refuse("within", "nothing, for a robot whose limbs reach without end", "a box", hint)


def _tight(room: _Room, middle: Array, half: Array, unit: Array) -> tuple[Array, Array]:
    """Return a box around the reach inside a larger one, a step of its points wider."""
    axes = len(middle)
    for _ in range(SHRINKINGS):
        points = middle + half * unit
        points = points[room(points)[1]]
        if not len(points):
            break
        spacing = 2.0 * half / (COARSE[axes - 1] - 1)
        low, high = points.min(axis=0) - spacing, points.max(axis=0) + spacing
        smaller = (high - low) / 2.0
        done = bool((smaller > SHRUNK * half).all())
        middle, half = (low + high) / 2.0, smaller
        if done:
            break
    return middle - half, middle + half


def _extent(poses: RestPoses) -> float:
    """Compute the approximate extent of the robot [m]: from its base joints to the platform's reference point."""
    mechanism = poses.block.family.assemble(poses.block.numbers_of(0))
    places = [np.array(instance.base.position, dtype=float) for instance in mechanism.instances]
    return max(float(np.linalg.norm(poses.home - place)) for place in places) or 1.0


def _start(room: _Room, centre: ArrayLike | None) -> Array | None:
    """Return the centre that the shape has to have, if any. Raises InputError."""
    if centre is None:
        return None
    place = np.asarray(centre, dtype=float)
    if place.shape != (3,) or not np.isfinite(place).all():
        raise refuse("centre", f"an array of shape {place.shape}", "three coordinates [m]")
    fixed = [k for k in range(3) if k not in room.free]
    if np.abs(place - room.poses.home)[fixed].max(initial=0.0) > ROUNDING:
        raise refuse(
            "centre", f"{place.tolist()}", f"a place that the platform moves to, from {room.poses.home.tolist()}"
        )
    return place[list(room.free)]


def _at(room: _Room, form: shapes.RegularShape, beyond: Array, centre: Array, tolerance: float) -> LargestShape:
    """Return the largest shape about a centre; size 0 where nothing holds there."""
    if not room(centre[None])[0][0]:
        return LargestShape(0.0, centre, np.zeros((0, len(centre))), settled=True)
    return largest(room, form, _faces(room, beyond, centre), centre, tolerance, moves=False)


@dataclass
class _ShapeSearch:
    """Search of the largest shape in cells `inner` of a tree; `beyond` (n, axis) are points beyond their boundary."""

    room: _Room
    form: shapes.RegularShape
    tree: CellTree
    inner: Mask
    beyond: Array
    home: Array

    def __call__(self, points: Array) -> tuple[Mask, Mask]:
        """Return whether all holds at points (n, axis) and on straight ways to them, and whether they are reached."""
        holds, reached = self.room(points)
        holds[holds] = self.tree.straight(self.home, points[holds], self.inner)
        return holds, reached

    @cached_property
    def _middles(self) -> Array:
        """Middles (n, axis) of cells in which all holds, at most about CANDIDATES of them."""
        cells = np.argwhere(self.inner & (self.tree.share == 1.0))
        middles = self.tree.place(np.asarray(cells[:: max(1, len(cells) // CANDIDATES)] + 0.5, dtype=np.float64))
        return middles[self.room(middles)[0]] if len(middles) else middles

    @cached_property
    def _sizes(self) -> Array:
        """Sizes (n,) of the shapes about the middles that end at points beyond the boundary."""
        return np.array([self.form.gauge(_faces(self.room, self.beyond, x) - x).min() for x in self._middles])

    @cached_property
    def _straight(self) -> Mask:
        """Mask (n,) of the middles to which a straight way leads from the reference pose."""
        return self.tree.straight(self.home, self._middles, self.inner)

    def larger(self, size: float) -> Array | None:
        """Return the middle of a shape that is larger by more than a cell, to which no straight way leads, if any."""
        sizes = np.where(self._straight, 0.0, self._sizes)
        slack = float(self.form.gauge(self.tree.step[None])[0])
        return self._middles[int(sizes.argmax())] if sizes.max(initial=0.0) > size + slack else None

    def best(self, tolerance: float) -> LargestShape:
        """Return the largest shape from the best of some starts; size 0 where nothing holds."""
        middles, sizes = self._middles[self._straight], self._sizes[self._straight]
        found: list[LargestShape] = []
        is_open = np.ones(len(middles), bool)
        while is_open.any() and len(found) < STARTS:
            k = int(np.where(is_open, sizes, -1.0).argmax())
            points = _faces(self.room, self.beyond, middles[k])
            found.append(largest(self, self.form, points, middles[k], max(tolerance, ROUGH), moves=True))
            near = self.form.gauge(middles - middles[k]) < APART * sizes[k]
            is_open &= ~near & (self.form.gauge(middles - found[-1].centre) >= APART * found[-1].size)
        if not found:
            return LargestShape(0.0, self.home, np.zeros((0, len(self.home))), settled=True)
        best = max(found, key=lambda shape: shape.size)
        if self.form.edges:
            return polished(self, self.form, best, tolerance)
        if tolerance >= ROUGH:
            return best
        points = np.concatenate([_faces(self.room, self.beyond, best.centre), best.contacts])
        return largest(self, self.form, points, best.centre, tolerance, moves=True)


def _faces(room: _Room, beyond: Array, centre: Array) -> Array:
    """Return the points beyond the boundary, and the points on the faces of the box across from a centre."""
    places = np.repeat(centre[None], 2 * len(centre), axis=0)
    axes = np.arange(len(centre))
    places[axes, axes], places[axes + len(axes), axes] = room.low, room.high
    return np.concatenate([beyond, places])


def _dimensions(
    kind: str, size: float, form: shapes.RegularShape, free: Sequence[int], axis: str
) -> Mapping[str, float]:
    """Return radius, height and edges [m] of a shape of some size, of a hull the corners' factor, and the volume."""
    volume = {"volume": form.volume * size ** len(free)}
    if kind == "ball":
        return {"radius": size, **volume}
    if kind == "hull":
        return {"factor": size, **volume}
    if kind == "cylinder":
        along = AXES.index(axis)
        return {"radius": size * form.reaches[along - 1], "height": 2.0 * size * form.reaches[along], **volume}
    return {AXES[k]: 2.0 * size * float(reach) for k, reach in zip(free, form.reaches, strict=True)} | volume
