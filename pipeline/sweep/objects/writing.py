"""Write a sweep of objects as the text of a sweep file, and its arrays as files beside it."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.documents.tables.table import Table, packed
from pipeline.documents.writing import yaml_text
from pipeline.errors import refused
from pipeline.sweep.content import FORMAT
from pipeline.sweep.objects.columns import columns_of, has_numbers, is_table, numbers_of, unit_of
from pipeline.sweep.objects.motions import TIMES, angles_of, points_of, with_rotations
from pipeline.sweep.sections import AxesSection
from robots import catalog
from robots.arguments import real_numbers, shown
from robots.data_classes import dataclass, field, fields
from robots.formats import writing
from robots.formats.description import Description, describe
from robots.friction.laws import LAWS
from robots.loads.declared import (
    BushingLoad,
    DeclaredLoad,
    ElasticDrive,
    JointSpringLoad,
    ObjectLoad,
    SpringLoad,
    WrenchLoad,
)
from robots.model import Family, Robot
from robots.trajectories.trajectory import WRENCH

INLINE = 64
"""Numbers of a table that the text lists; more are kept as arrays."""

RELEASE: tuple[str, object] = ("simulation", {})
"""A section that means something although it is empty."""

NEVER_EMPTY = ("gravity", "precision")
"""Values, not collections: an empty one is a mistake, which the reader of the text refuses."""

LISTED = 10_000
"""Numbers of a grid or list in the text: reading text is slow."""

LOAD_KINDS: Mapping[type, str] = {
    WrenchLoad: "wrench",
    SpringLoad: "spring",
    BushingLoad: "bushing",
    ObjectLoad: "object",
    JointSpringLoad: "joint_spring",
    ElasticDrive: "elastic_drive",
}
LOAD_KEYS = {"points": "file", "start": "from", "stop": "until"}
"""Keys of a sweep file that records of loads call otherwise."""

AXIS_KEYS = frozenset(info.alias or name for name, info in AxesSection.model_fields.items())


@dataclass
class Writer:
    """The sections of a sweep as plain data; arrays become `files`."""

    robot: object
    folder: str | os.PathLike[str] = "."
    files: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if hasattr(self.robot, "__fspath__") or (isinstance(self.robot, str) and catalog.is_file(self.robot)):
            from pipeline.robot_files.reader import read_description  # with all its models: few sweeps need it

            self.robot = read_description(Path(self.folder, self.robot))

    def text(self, sections: Mapping[str, Any]) -> str:
        """Return the text of the sweep file. Raises InputError for objects that cannot be used."""
        data = dict(sections)
        head, parameters = self._robot()
        own = {} if data.get("parameters") is None else plain(data["parameters"], "parameters")
        if not isinstance(own, Mapping):
            got = f"an object of type {type(data['parameters']).__name__}"
            raise refused("parameters", got, "a dict of names and numbers")
        if parameters or own:
            swept = self._swept(data.get("design"))
            fixed = {name: value for name, value in parameters.items() if name not in swept}
            data["parameters"] = {**fixed, **own}
        readers = {"design": self._design, "friction": self._friction, "trajectories": self._trajectories}
        readers |= {"time": _time, "loads": self._loads}
        readers["base"] = lambda value: self._trajectory("base", value, (), "base")
        for key, value in data.items():
            data[key] = readers[key](value) if key in readers and value is not None else plain(value, key)
        names = ("outputs", "metrics")
        data |= {key: [data[key]] for key in names if isinstance(data.get(key), str)}
        absent: tuple[object, ...] = (None, {}, [])
        present = {key for key, value in data.items() if value is not None and key in NEVER_EMPTY}
        present |= {key for key, value in data.items() if value not in absent or (key, value) == RELEASE}
        data = {key: value for key, value in data.items() if key in present}
        return yaml_text({"limbsweep": FORMAT}) + head + yaml_text(data)

    def _robot(self) -> tuple[str, dict[str, float]]:
        """Return the line of the robot, and its parameters that are not the default."""
        robot = self.robot
        if isinstance(robot, str):
            return yaml_text({"robot": robot}), {}
        if isinstance(robot, Robot):
            own = {p.name: float(robot.values[p.name]) for p in robot.family.parameters}
            own = {p.name: own[p.name] for p in robot.family.parameters if own[p.name] != p.default}
            return (self._family(robot.family, robot), own if self.names else {})
        if isinstance(robot, Family):
            return self._family(robot, Robot.of(robot, {})), {}
        if isinstance(robot, Description) and robot.written:
            return f"robot: {writing.flow(robot)}\n", {}
        if isinstance(robot, Mapping):
            return yaml_text({"robot": plain(robot, "robot")}), {}
        rule = "the name of a robot, a robot file, or a robot"
        raise refused("robot", f"an object of type {type(robot).__name__}", rule)

    def _family(self, family: Family, robot: Robot) -> str:
        if catalog.FAMILIES.get(family.name) is family:
            return yaml_text({"robot": family.name})
        try:
            assemble = family.assemble
            description = assemble if isinstance(assemble, Description) and assemble.written else describe(robot)
            return f"robot: {writing.flow(description)}\n"
        except ValueError as error:
            hint = "Write a robot file, or add it to the catalogue."
            raise refused("robot", f"a robot of code ({error})", "one of data", hint) from None

    @property
    def family(self) -> Family | None:
        """The family of the robot, where it is known without reading text."""
        robot = self.robot
        if isinstance(robot, Robot):
            return robot.family
        if isinstance(robot, Description):
            return robot.family
        if isinstance(robot, str) and robot in catalog.FAMILIES:
            return catalog.FAMILIES[robot]
        return robot if isinstance(robot, Family) else None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the robot's parameters; none where they are not known yet, or the robot is written in numbers."""
        family = self.family
        data = family and catalog.FAMILIES.get(family.name) is family
        if family and isinstance(family.assemble, Description):
            data = family.assemble.written
        return tuple(parameter.name for parameter in family.parameters) if family and data else ()

    def _swept(self, design: object) -> set[str]:
        """Return the names of the parameters that a design sweeps."""
        if design is None:
            return set()
        if isinstance(design, Mapping) and not is_table(design) and {*design} <= AXIS_KEYS:
            sample = design.get("sample") or {}
            named = [design.get("grid") or {}, design.get("list") or {}, design.get("derive") or {}]
            named.append(sample.get("parameters", {}) if isinstance(sample, Mapping) else {})
            return {str(name) for section in named for name in _names(section, self.names)}
        return {*columns_of(design, "design", self.names).columns}

    def _design(self, value: object) -> Any:
        if isinstance(value, Mapping) and not is_table(value) and {*value} <= AXIS_KEYS:
            return self._axes(value, "design", self.names)
        return self._table(columns_of(value, "design", self.names), "design")

    def _friction(self, value: object) -> Any:
        if not isinstance(value, Mapping) or is_table(value):
            hint = "Such as friction={'law': 'coulomb_viscous', 'list': frame}."
            got = f"an object of type {type(value).__name__}"
            raise refused("friction", got, "a dict with the law and the swept parameters", hint)
        names = {p.name for law in LAWS.values() for p in (*law.parameters, *law.options)}
        return self._axes(value, "friction", names)

    def _axes(self, section: Mapping[str, Any], key: str, names: Container[str]) -> dict[str, Any]:
        """Return a section of axes, whose lists may be tables; those become files."""
        result: dict[str, Any] = {}
        for name, value in section.items():
            if name == "list" and (is_table(value) or _is_long(value)):
                result |= self._table(columns_of(value, f"{key}.list", names), key)
            elif name == "grid" and _is_long(value):
                got = f"a grid of a parameter with more than {LISTED:,} values"
                hint = "Make all combinations yourself, such as by a DataFrame."
                raise refused(f"{key}.grid", got, f"at most {LISTED:,}", hint)
            else:
                if name in ("grid", "list") and isinstance(value, Mapping):
                    value = {parameter: _with_unit(values) for parameter, values in value.items()}
                result[name] = plain(value, f"{key}.{name}")
        return result

    def _table(self, columns: Table, key: str) -> dict[str, Any]:
        """Return a table as a list in the text, or as a file."""
        headers = {n: f"{n} [{columns.units[n]}]" if n in columns.units else n for n in columns.columns}
        if sum(map(len, columns.columns.values())) <= INLINE:
            return {"list": {name: self._listed(columns, name) for name in columns.columns}}
        return {"file": self._keep(key, {headers[name]: values for name, values in columns.columns.items()})}

    @staticmethod
    def _listed(columns: Table, name: str) -> Any:
        values = columns.columns[name].tolist()
        return {"values": values, "unit": columns.units[name]} if name in columns.units else values

    def _keep(self, name: str, columns: Mapping[str, Any]) -> str:
        """Keep a table as a file, and return its name."""
        file = f"{re.sub(r'[^A-Za-z0-9_-]', '_', name)}.npz"
        while file in self.files:
            file = f"{file.removesuffix('.npz')}_.npz"
        self.files[file] = packed(columns)
        return file

    def _trajectories(self, value: object) -> dict[str, Any]:
        if isinstance(value, list) and not _is_numbers(value):
            named = {f"trajectory_{number}": entry for number, entry in enumerate(value, 1)}
        elif isinstance(value, Mapping) and not is_table(value) and not _is_one_trajectory(value):
            named = {str(name): entry for name, entry in value.items()}
        else:
            named = {"trajectory": value}
        return {
            name: self._trajectory(name, entry, self._joints, f"trajectories.{name}") for name, entry in named.items()
        }

    def _trajectory(self, name: str, value: object, joints: Sequence[str], key: str) -> Any:
        """Return a trajectory of a platform, or of `joints` of a chain; messages call it `key`."""
        if isinstance(value, Mapping) and "kind" in value and not is_table(value):
            timed = {"time": _time(value["time"])} if value.get("time") is not None else {}
            return plain({**value, **timed}, key)
        rest: dict[str, Any] = {}
        if not joints and isinstance(value, Mapping) and "turn" in value and not is_table(value):
            rest = {"turn": plain(value["turn"], f"{key}.turn")}
            value = {part: entry for part, entry in value.items() if part != "turn"}
        times, rotations, value = (None, None, value) if rest or joints else with_rotations(value)
        if rotations is not None:
            angles = angles_of(times, rotations, key)
            rest = {"turn": {"kind": "waypoints", "file": self._keep(f"{name}_turn", angles.columns)}}
        points = points_of(value, key, joints)
        columns = {f"{n} [{points.units[n]}]" if n in points.units else n: v for n, v in points.columns.items()}
        return {"kind": "waypoints", "file": self._keep(name, columns), **rest}

    def _loads(self, value: object) -> Any:
        """Return the loads by name, as in a file or as records; tables over time become files."""
        if not isinstance(value, Mapping):
            return plain(value, "loads")
        return {str(name): self._load(str(name), load) for name, load in value.items()}

    def _load(self, name: str, load: object) -> Any:
        said: dict[str, Any] = {}
        if isinstance(load, DeclaredLoad):
            said = {LOAD_KEYS.get(entry.name, entry.name): getattr(load, entry.name) for entry in fields(load)}
            said = {"kind": LOAD_KINDS[type(load)], **{key: x for key, x in said.items() if x is not None}}
        elif isinstance(load, Mapping):
            said = dict(load)
        else:
            return plain(load, f"loads.{name}")
        if "file" in said and not isinstance(said["file"], str):
            points = np.asarray(said["file"], dtype=float)
            columns = ("t", *WRENCH)
            if points.ndim != 2 or points.shape[1] != len(columns):
                rule = f"an array (points, {len(columns)}): {', '.join(columns)}"
                raise refused(f"loads.{name}", f"an array of shape {points.shape}", rule)
            said["file"] = self._keep(f"{name}_load", dict(zip(columns, points.T, strict=True)))
        return plain(said, f"loads.{name}")

    @property
    def _joints(self) -> Sequence[str]:
        """The joints in which the motion of a chain is given; none for a platform."""
        family = self.family
        return family.reference.given if family is not None and family.reference.is_chain else ()


def _names(section: Any, names: Sequence[str]) -> Sequence[str]:
    return list(columns_of(section, "design", names).columns) if is_table(section) else list(section)


def _with_unit(values: object) -> object:
    """Return the values of a parameter; those of a DataArray with units as numbers and unit of a file."""
    unit = unit_of(values)
    return values if unit is None else {"values": np.atleast_1d(np.asarray(values)), "unit": unit}


def _is_long(section: object) -> bool:
    """Return whether a section is too long for text: a list, or a column in a mapping, of more than `LISTED` values."""
    if isinstance(section, list):
        return len(section) > LISTED
    if not isinstance(section, Mapping):
        return False
    return any(hasattr(values, "__len__") and len(values) > LISTED for values in section.values())


def _is_one_trajectory(value: Mapping[Any, object]) -> bool:
    """Return whether a mapping is one trajectory: its kind or times are no mappings, as trajectories by name are."""
    return any(name in value and not isinstance(value[name], Mapping) for name in ("kind", *TIMES))


def _is_numbers(value: list[object]) -> bool:
    return bool(value) and isinstance(value[0], list) and all(isinstance(entry, int | float) for entry in value[0])


def _time(value: object) -> Any:
    """Return the section of times: a dict, a pair of stop and step, or the times, evenly spaced from zero."""
    if isinstance(value, Mapping):
        return plain(value, "time")
    if isinstance(value, tuple) and len(value) == 2 and not any(hasattr(entry, "__len__") for entry in value):
        return {"stop": plain(value[0], "time"), "step": plain(value[1], "time")}
    hint = "Such as numpy.linspace(0, 1, 1001), (stop, step), or {'stop': 1.0, 'samples': 1001}."
    try:
        times = real_numbers(numbers_of(value, "time") if has_numbers(value) else value)
    except (TypeError, ValueError):
        raise refused("time", shown(value), "numbers", hint) from None
    if times.ndim != 1 or len(times) < 2:
        raise refused("time", f"times of shape {times.shape}", "at least two times", hint)
    even = np.linspace(0.0, times[-1], len(times))
    if not np.isfinite(times).all() or not np.allclose(times, even, rtol=0.0, atol=1e-9 * abs(float(times[-1]))):
        got = f"times from {float(times[0])!r} that are not evenly spaced from zero"
        raise refused("time", got, "evenly spaced times from zero", hint)
    return {"stop": float(times[-1]), "samples": len(times)}


def plain(value: object, key: str) -> Any:
    """Return a value as plain numbers, texts, lists and dicts, without NumPy. Raises InputError for other objects."""
    if isinstance(value, np.generic | np.ndarray) and value.dtype.kind not in "mM":
        # first: a double of NumPy is a float too; extended precision has no number of Python
        return plain((value.astype(float) if value.dtype.kind == "f" else value).tolist(), key)
    if value is None or isinstance(value, bool | int | float | str):
        return _finite(value, key)
    if isinstance(value, Mapping):
        return {str(name): plain(entry, f"{key}.{name}") for name, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset | range):
        return [plain(entry, key) for entry in value]
    if has_numbers(value):
        return plain(numbers_of(value, key), key)
    rule = "numbers, texts, lists and dicts"
    raise refused(key, f"an object of type {type(value).__name__}", rule)


def _finite(value: object, key: str) -> Any:
    if isinstance(value, float) and not np.isfinite(value):
        got = "NaN" if np.isnan(value) else repr(value)
        raise refused(key, got, "a finite number")
    return value
