"""Closed chains as tables of joints and points: one row for each joint, all points in one frame.

The rows become a model of SDF, whose reader finds the tree, cuts joints that close loops, and checks the rest. Bodies
are rods between their joints until a user knows better.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping

import numpy as np

from robots.data_classes import dataclass
from robots.formats.xml_tree import Element, FormatError, ImportedError, group, numbers_of
from robots.parameter_errors import nearest

COLUMNS: Mapping[str, bool] = {
    "joint": True,
    "kind": True,
    "parent": True,
    "child": True,
    "x": True,
    "y": True,
    "z": True,
    "axis": False,
    "driven": False,
    "mass": False,
}
"""Columns by name: whether a table needs them. `mass` is the mass of the child."""

AXES: Mapping[str, int] = {
    "revolute": 1, "continuous": 1, "prismatic": 1, "fixed": 0, "ball": 0, "spherical": 0, "universal": 2,
}  # fmt: skip
"""Kinds of joints, and the number of their axes."""

NAMED = {sign + name: f"{sign}1 0 0" if name == "x" else f"0 {sign}1 0" if name == "y" else f"0 0 {sign}1"
         for sign in ("", "-") for name in "xyz"}  # fmt: skip
BASE = "base"
MASS = 1.0
"""Mass of a body without one in the table [kg]."""

THICK = 0.02
"""Radius of the rods that stand for bodies, as a share of their length."""


@dataclass(frozen=True)
class JointRow:
    """A row: a joint between two bodies at a point [m], its axes, whether it is driven, and the child's mass [kg]."""

    line: int
    name: str
    kind: str
    bodies: tuple[str, str]
    point: tuple[float, float, float]
    axes: tuple[str, ...]
    is_driven: bool | None
    mass: float | None


def model(text: str, name: str) -> tuple[Element, list[FormatError]]:
    """Return the model of a table, and warnings about missing values. Raises ImportedError with all problems."""
    rows, problems = _rows(text)
    if not rows and not problems:
        problems.append(FormatError(1, "", "no row", "a row for each joint", f"Columns are {', '.join(COLUMNS)}."))
    if problems:
        raise ImportedError(problems)
    root = Element("model", 1, 1, {"name": name})
    points, masses = dict[str, list[np.ndarray]](), dict[str, float]()
    for row in rows:
        for body in row.bodies:
            points.setdefault(body, []).append(np.array(row.point))
        if row.mass is not None:
            masses.setdefault(row.bodies[1], row.mass)
    points.pop(BASE, None)
    root.children += [_link(body, places, masses.get(body, MASS)) for body, places in points.items()]
    says_driven = any(row.is_driven is not None for row in rows)
    root.children += [_joint(row, says_driven) for row in rows]
    file = Element("sdf", 1, 1, {"version": "1.11"}, [root])
    return file, list(_told(points.keys() - masses.keys()))


def _told(bodies: Iterable[str]) -> Iterable[FormatError]:
    if names := ", ".join(sorted(bodies)):
        hint = f"They have {MASS:g} kg each; give them a column mass, and all bodies their inertia in the robot file."
        yield FormatError(0, "", f"no mass of {names[:200]}", "masses", hint)


def _rows(text: str) -> tuple[list[JointRow], list[FormatError]]:
    reader = csv.reader(io.StringIO(text))
    head = [name.strip() for name in next(reader, [])]
    problems = list(_problems_of_head(head))
    if problems:
        return [], problems
    rows = list[JointRow]()
    for cells in reader:
        if not any(cell.strip() for cell in cells) or cells[0].lstrip().startswith("#"):
            continue
        line = reader.line_num
        if len(cells) != len(head):
            problems.append(FormatError(line, "", f"{len(cells)} cells", f"{len(head)}, as many as columns"))
            continue
        try:
            rows.append(_row(line, dict(zip(head, (cell.strip() for cell in cells), strict=True))))
        except FormatError as error:
            problems.append(error)
    return rows, problems


def _problems_of_head(head: list[str]) -> Iterable[FormatError]:
    if len(head) == 1 and ";" in head[0]:
        yield FormatError(1, "", "semicolons between columns", "commas, and points in numbers")
        return
    for name in head:
        if name not in COLUMNS:
            yield FormatError(1, "", f"the column {name!a}", f"columns {', '.join(COLUMNS)}", _sentence(name, COLUMNS))
        elif head.count(name) > 1:
            yield FormatError(1, "", f"the column {name} {head.count(name)} times", "every column once")
    for name, is_needed in COLUMNS.items():
        if is_needed and name not in head:
            yield FormatError(1, "", f"no column {name}", f"columns {', '.join(COLUMNS)}", "Add it to the first line.")


def _sentence(name: str, names: Iterable[str]) -> str:
    text = nearest(name, list(names))
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('?') else '.'}"


def _row(line: int, cells: Mapping[str, str]) -> JointRow:
    """Return a row. Raises FormatError."""
    name, place = cells["joint"], f"joint {cells['joint']}"
    for key in ("joint", "parent", "child"):
        if not cells[key]:
            raise FormatError(line, place, f"no {key}", "a name in this column")
    if cells["kind"] not in AXES:
        raise FormatError(line, place, f"kind {cells['kind']!a}", f"one of {', '.join(AXES)}", "")
    if cells["child"] == BASE:
        hint = "Exchange parent and child; an axis turns with them."
        raise FormatError(line, place, "the child base", "base as a parent", hint)
    x, y, z = (_number(line, place, key, cells[key]) for key in "xyz")
    mass = _number(line, place, "mass", cells["mass"]) if cells.get("mass") else None
    axes, count = _axes(line, place, cells.get("axis", "")), AXES[cells["kind"]]
    if len(axes) != count:
        rule = f"{('none', 'one', 'two')[count]} of a {cells['kind']} joint"
        hint = "An axis is x, -y or three numbers; two have a comma or semicolon between them, in quotes."
        raise FormatError(line, place, f"{len(axes)} axes", rule, hint)
    return JointRow(
        line, name, cells["kind"], (cells["parent"], cells["child"]), (x, y, z), axes,
        _yes(line, place, cells.get("driven", "")), mass,
    )  # fmt: skip


def _number(line: int, place: str, key: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        hint = "Use a decimal point, not a comma." if "," in text else "Lengths are in metres, masses in kg."
        raise FormatError(line, place, f"{key} {text[:60]!a}", "a finite number", hint)
    return value


def _axes(line: int, place: str, text: str) -> tuple[str, ...]:
    """Return axes as three numbers each."""
    result = []
    for part in filter(None, (each.strip() for each in text.replace(",", ";").split(";"))):
        numbers = NAMED.get(part, part)
        if len(numbers.split()) != 3:
            raise FormatError(line, place, f"axis {part[:60]!a}", "x, y, z, -x, -y, -z or three numbers: 0 0.6 0.8")
        for number in numbers.split():
            _number(line, place, "axis", number)
        result.append(numbers)
    return tuple(result)


def _yes(line: int, place: str, text: str) -> bool | None:
    """Return whether a joint is driven; None for an empty cell."""
    if text.lower() in ("", "yes", "no", "true", "false", "1", "0"):
        return text.lower() in ("yes", "true", "1") if text else None
    raise FormatError(line, place, f"driven {text[:60]!a}", "yes, no or nothing")


def _link(name: str, places: list[np.ndarray], mass: float) -> Element:
    """Return a body whose mass is a rod between its two joints farthest from one another, a ball at a single one."""
    far = max(((a, b) for a in places for b in places), key=lambda pair: float(np.linalg.norm(pair[0] - pair[1])))
    along = far[1] - far[0]
    length = float(np.linalg.norm(along)) or 0.1
    radius = THICK * length
    thin, whole = 0.5 * mass * radius**2, mass * (length**2 / 12 + radius**2 / 4)
    way = along / length
    tensor = whole * np.eye(3) + (thin - whole) * np.outer(way, way)
    if not way.any():
        tensor = 0.4 * mass * (0.1 * length) ** 2 * np.eye(3)
    centre = np.mean(places, axis=0)
    pairs = ("ixx", (0, 0)), ("iyy", (1, 1)), ("izz", (2, 2)), ("ixy", (0, 1)), ("ixz", (0, 2)), ("iyz", (1, 2))
    inertia = group("inertia", [numbers_of(tag, tensor[at]) for tag, at in pairs])
    pose = numbers_of("pose", *centre, 0.0, 0.0, 0.0)
    return group("link", [group("inertial", [pose, numbers_of("mass", mass), inertia])], name=name)


def _joint(row: JointRow, says_driven: bool) -> Element:
    """Return a joint; where the table says which ones are driven, the effort of others is zero."""
    parent, child = ("world" if body == BASE else body for body in row.bodies)
    pose = numbers_of("pose", *row.point, 0.0, 0.0, 0.0)
    pose.attributes["relative_to"] = "__model__"
    children = [Element("parent", row.line, 1, {}, [], parent), Element("child", row.line, 1, {}, [], child), pose]
    for tag, axis in zip(("axis", "axis2"), row.axes, strict=False):
        xyz = Element("xyz", row.line, 1, {"expressed_in": "__model__"}, [], axis)
        idle = [group("limit", [numbers_of("effort", 0.0)])] if says_driven and not row.is_driven else []
        children.append(group(tag, [xyz, *idle]))
    kind = "ball" if row.kind == "spherical" else row.kind
    return Element("joint", row.line, 1, {"name": row.name, "type": kind}, children)
