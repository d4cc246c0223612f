"""Calibrate a robot's geometry from files of measured poses and a description of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Annotated, Any

import numpy as np
from pydantic import Field
from scipy.spatial.transform import Rotation
from threadpoolctl import threadpool_limits

from applications.identification.estimation.calibration.calibrate import Calibration, Poses, calibrate
from applications.identification.estimation.calibration.geometry import Geometry
from applications.identification.machines.sections import Column, Distinct, FilesSection, Numbers, existing_file
from pipeline.documents.files import read_text
from pipeline.documents.outputs import CellWriter, checked_suffix
from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.tables.selection import ColumnRequest, Selected, select, unit_of
from pipeline.documents.units import UNITS
from pipeline.documents.validation import Integer, Number, Positive, Section, Text, validate_keys
from pipeline.documents.yaml import MAX_BYTES, parse_yaml
from pipeline.errors import refused
from pipeline.robot_files.importing import import_robot
from pipeline.robot_files.reader import find_family, require_format
from robots.data_classes import dataclass, replace
from robots.formats import writing
from robots.formats.description import describe
from robots.model import Robot
from robots.parameter_errors import nearest

COLUMNS = ("parameter", "unit", "nominal", "value", "deviation")
UPRIGHT = 1e-3
"""Largest difference of the length of a quaternion from 1."""


class ActuatorColumns(Section):
    """Columns of the actuators' sensors, in the order of the actuators."""

    columns: Annotated[tuple[Column, ...], Field(min_length=1, max_length=200), Distinct]
    unit: Text | None = None
    sign: Numbers | None = None


class PositionColumns(Section):
    """Columns of a measured position x, y, z, and its standard deviation in the same unit."""

    columns: Annotated[tuple[Column, ...], Field(min_length=3, max_length=3), Distinct]
    unit: Text = "m"
    deviation: Positive


class RotationColumns(Section):
    """Columns of a measured quaternion w, x, y, z, and the standard deviation of a turn [rad]."""

    columns: Annotated[tuple[Column, ...], Field(min_length=4, max_length=4), Distinct]
    deviation: Positive


class JointColumns(Section):
    """Columns of further sensors by the name of their joint, and their standard deviation in the same unit."""

    columns: Annotated[dict[Text, Column], Distinct]
    unit: Text | None = None
    deviation: Positive


class GeometrySection(Section):
    """Parameters and zeros to estimate, see `Geometry` and `calibrate` of the estimation."""

    parameters: tuple[Text, ...] = ()
    zeros: bool = True
    shared: bool = False
    frame: bool = False
    body: Text | None = None


class CalibrationFile(Section):
    """A calibration description."""

    limbsweep: Integer
    title: Text = ""
    robot: Text
    parameters: dict[Text, Number] = Field(default_factory=dict)
    poses: Annotated[tuple[FilesSection, ...], Field(min_length=1, max_length=100)]
    actuators: ActuatorColumns
    position: PositionColumns | None = None
    rotation: RotationColumns | None = None
    joints: JointColumns | None = None
    estimate: GeometrySection = GeometrySection()


@dataclass(frozen=True)
class CalibrationDescription:
    """A robot, the unknown values of its geometry, and measured poses for training and for validation."""

    title: str
    robot: Robot
    geometry: Geometry
    section: GeometrySection
    training: Poses
    unused: tuple[Poses, ...]


@dataclass(frozen=True)
class CalibratedRobot:
    """A calibration and the description that it is of."""

    description: CalibrationDescription
    calibration: Calibration

    def rows(self) -> Iterator[tuple[str, str]]:
        """Summarise the result, as `limbsweep calibrate` prints it."""
        result = self.calibration
        poses = len(self.description.training.actuators)
        yield "calibrated", f"{self.description.robot.name} from {poses} poses in {result.steps} steps"
        yield "geometry", f"{len(result.values)} values determined by the poses, of {len(result.whole)}"
        for name, after in result.after.items():
            unit = "m" if name == "position" else "rad"
            yield f"residual of {name}", f"{after:.3g} {unit} (root mean square), {result.before[name]:.3g} before"
        for name, error in result.unused.items():
            yield f"unused {name}", f"{error:.3g} (root mean square)"
        yield "observability", ", ".join(f"{name} {value:.3g}" for name, value in result.observability.items())
        yield "condition", f"{result.condition:.4g} for values in millimetres and milliradians"
        yield "residuals over deviations", f"{result.weighted:.3g}; 1 where those of the sensors are right"
        if result.untold:
            yield "not determined", ", ".join(result.untold)

    def table(self) -> Iterator[tuple[str, str, float, float, float]]:
        """Yield the values of the geometry: name, unit, nominal value, estimate, standard deviation."""
        result = self.calibration
        numbers = (result.nominal.tolist(), result.values.tolist(), result.deviations.tolist())
        yield from zip(result.names, result.units, *numbers, strict=True)

    def save(self, path: Path) -> None:
        """Write the values to a new file: CSV or JSON; or the robot, where its parameters are one number each: YAML.

        Raises StoreError for another ending, ParameterError for limbs with parameters of their own.
        """
        writer = FORMATS[checked_suffix(path, FORMATS)]
        with path.open("x", newline="", encoding="utf-8") as file:
            writer(self, file)

    def _write_csv(self, file: IO[str]) -> None:
        table = CellWriter(file)
        table.writerow(COLUMNS)
        table.writerows(self.table())

    def _write_json(self, file: IO[str]) -> None:
        result = self.calibration
        content = {
            "robot": self.description.robot.name,
            "residuals": {"before": result.before, "after": result.after, "unused": result.unused},
            "observability": result.observability,
            "condition": result.condition,
            "values": [dict(zip(COLUMNS, row, strict=True)) for row in self.table()],
        }
        json.dump(content, file, indent=1, allow_nan=False)

    def _write_robot(self, file: IO[str]) -> None:
        robot = self.calibration.robot()
        file.write(writing.text(describe(robot), f"{self.description.title}: calibrated."))


FORMATS: Mapping[str, Callable[[CalibratedRobot, IO[str]], None]] = {
    ".csv": CalibratedRobot._write_csv,
    ".json": CalibratedRobot._write_json,
    ".yaml": CalibratedRobot._write_robot,
}
"""Writer of a calibration, by the ending of the file name."""


@threadpool_limits.wrap(limits=1, user_api="blas")
def calibrate_from(description: CalibrationDescription) -> CalibratedRobot:
    """Calibrate the robot of a description. Raises ParameterError."""
    section = description.section
    result = calibrate(
        description.geometry,
        description.training,
        frame=section.frame,
        body=section.body,
        unused=description.unused,
    )
    return CalibratedRobot(description, result)


def read_calibration(
    path: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None
) -> CalibrationDescription:
    """Read a calibration description and its poses; folder: where files are, if not beside it. Raises InputError."""
    name = os.fspath(path)
    report = Report(parse_yaml(read_text(name, MAX_BYTES), name))
    require_format(report)
    file, problems = validate_keys(CalibrationFile, report.document)
    report.take(problems)
    report.raise_if_any()
    reader = _DescriptionOfPoses(report, file, [*([Path(folder)] if folder is not None else []), Path(name).parent])
    return reader.description()


class _DescriptionOfPoses:
    """Reader of a description section by section; problems go to `report`."""

    def __init__(self, report: Report, file: CalibrationFile, folders: list[Path]) -> None:
        self.report, self.file, self.folders = report, file, folders

    def description(self) -> CalibrationDescription:
        robot = self._robot()
        paths = [
            [
                existing_file(self.report, self.folders, name, ("poses", k, "files", i))
                for i, name in enumerate(section.files)
            ]
            for k, section in enumerate(self.file.poses)
        ]
        if not (self.file.position or self.file.rotation or self.file.joints):
            self.report((), Got("nothing that was measured"), "position, rotation or joints", "Add one of them.")
        if not any(section.role == "train" for section in self.file.poses):
            self.report(("poses",), Got("no poses for training"), "at least one entry with the role train")
        mechanism = robot.mechanism
        if mechanism.is_chain and self.file.joints:
            self.report(("joints",), Got("sensors of a chain"), "sensors of joints of a robot with a platform")
        bodies = [link.body for limb in mechanism.limbs for link in limb.links]
        body = self.file.estimate.body
        if body is not None and (not mechanism.is_chain or body not in bodies):
            hint = sentence(nearest(body, bodies)) if mechanism.is_chain else "Leave it out."
            self.report(("estimate", "body"), body, "a body of a chain", hint)
        for k, name in enumerate(self.file.estimate.parameters):
            names = [p.name for p in robot.family.parameters]
            if name not in names:
                self.report(("estimate", "parameters", k), name, "a parameter", sentence(nearest(name, names)))
        self._units(robot)
        self.report.raise_if_any()
        parts = [self._poses(robot, section, files) for section, files in zip(self.file.poses, paths, strict=True)]
        section = self.file.estimate
        geometry = Geometry(robot, section.parameters, section.zeros, section.shared)
        training = _joined([part for part, of in zip(parts, self.file.poses, strict=True) if of.role == "train"])
        unused = tuple(part for part, of in zip(parts, self.file.poses, strict=True) if of.role != "train")
        title = self.file.title or f"Calibration of {robot.name}"
        return CalibrationDescription(title, robot, geometry, section, training, unused)

    def _robot(self) -> Robot:
        name, values = self.file.robot, dict(self.file.parameters)
        if name.lower().endswith(".urdf"):
            imported = import_robot(self._existing(name), parameters=True)
            return Robot.of(imported.description.family, values)
        is_file = name.lower().endswith((".yaml", ".yml"))
        return Robot.of(find_family(str(self._existing(name)) if is_file else name), values)

    def _existing(self, name: str) -> Path:
        path = existing_file(self.report, self.folders, name, ("robot",))
        self.report.raise_if_any()
        return path

    def _units(self, robot: Robot) -> None:
        """Check units of columns against those of the actuators."""
        kinds = set(robot.mechanism.actuator_kinds)
        lengths, angles = {"m"}, {"rad"}
        expected = (lengths if "prismatic" in kinds else set()) | (angles if kinds - {"prismatic"} else set())
        units = (
            ("actuators", self.file.actuators.unit, expected),
            ("joints", _unit(self.file.joints), lengths | angles),
        )
        position = self.file.position.unit if self.file.position else None
        for key, unit, allowed in (*units, ("position", position, lengths)):
            if unit is not None and (unit not in UNITS or UNITS[unit].si not in allowed):
                hint = sentence(nearest(unit, UNITS))
                self.report((key, "unit"), unit, f"a unit of {' or '.join(sorted(allowed))}", hint)
        count, section = len(robot.mechanism.actuators), self.file.actuators
        if len(section.columns) != count:
            self.report(
                ("actuators", "columns"), Got(f"{len(section.columns)} columns"), f"{count}, one for each actuator"
            )
        if section.sign is not None and (len(section.sign) != count or any(abs(sign) != 1 for sign in section.sign)):
            self.report(("actuators", "sign"), list(section.sign), f"1 or -1 for each of {count} actuators")

    def _requests(self) -> dict[str, ColumnRequest]:
        measured = {key: getattr(self.file, key) for key in ("actuators", "position", "rotation")}
        requests = {key: ColumnRequest(section.columns) for key, section in measured.items() if section is not None}
        if self.file.joints is not None and self.file.joints.columns:
            requests["joints"] = ColumnRequest(tuple(self.file.joints.columns.values()))
        return requests

    def _poses(self, robot: Robot, section: FilesSection, files: list[Path]) -> Poses:
        name = section.name or " + ".join(path.name for path in files)
        selected = select(name, files, self._requests(), consecutive=section.consecutive)
        actuators = _columns(name, selected, "actuators") * _factor(
            unit_of(name, selected, "actuators", self.file.actuators.unit)
        )
        actuators = actuators * (1.0 if self.file.actuators.sign is None else np.array(self.file.actuators.sign))
        position, rotation, joints = self.file.position, self.file.rotation, self.file.joints

        def values(section: PositionColumns | RotationColumns | None, key: str) -> np.ndarray | None:
            return None if section is None else _columns(name, selected, key)

        place, quaternions = values(position, "position"), values(rotation, "rotation")
        length = _factor(unit_of(name, selected, "position", position.unit)) if position else 1.0
        turned = _factor(unit_of(name, selected, "joints", joints.unit)) if joints and joints.columns else 1.0
        sensors = {} if joints is None else joints.columns
        return Poses(
            actuators=actuators,
            position=None if place is None else place * length,
            rotation=None if quaternions is None else _rotations(name, quaternions),
            joints=_columns(name, selected, "joints") * turned if sensors else None,
            sensors=tuple(sensors),
            position_deviation=position.deviation * length if position else 1.0,
            rotation_deviation=rotation.deviation if rotation else 1.0,
            joint_deviation=joints.deviation * turned if joints else 1.0,
            name=name,
        )


def _unit(section: JointColumns | None) -> str | None:
    return None if section is None else section.unit


def _factor(unit: str | None) -> float:
    return 1.0 if unit is None else float(UNITS[unit].to_si(1.0))


def _columns(name: str, selected: Selected, key: str) -> np.ndarray:
    stacked = selected.signals[key]
    if not np.isfinite(stacked).all():
        row = int(np.argmin(np.isfinite(stacked).all(axis=1)))
        raise refused(name, f"{key} that are no numbers in pose {row + 1}", "numbers", "Cut the pose out.")
    return stacked


def _rotations(name: str, quaternions: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(quaternions, axis=1)
    if (wrong := np.abs(lengths - 1.0) > UPRIGHT).any():
        row = int(np.argmax(wrong))
        raise refused(name, f"a quaternion of length {lengths[row]:.6g} in pose {row + 1}", "length 1, as w, x, y, z")
    return np.asarray(Rotation.from_quat(quaternions[:, [1, 2, 3, 0]]).as_matrix())


def _joined(parts: list[Poses]) -> Poses:
    """Join several sets of poses into one."""
    arrays = {key: [getattr(part, key) for part in parts] for key in ("actuators", "position", "rotation", "joints")}
    joined: dict[str, Any] = {key: np.concatenate(sets) for key, sets in arrays.items() if sets[0] is not None}
    return replace(parts[0], name=" and ".join(part.name for part in parts), **joined)
