"""Read a recording description and check it: robot, files, columns, fit."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from applications.identification.estimation.machines.checks.findings import KINDS
from applications.identification.estimation.machines.choices import (
    CLOSED_LOOP,
    CONSISTENT,
    FADING,
    LARGEST,
    OUTPUT_ERROR,
    BodyPrior,
    Preparation,
)
from applications.identification.estimation.machines.fitting import METHODS
from applications.identification.estimation.machines.machine_model import (
    MachineModel,
    OwnColumn,
    PositionController,
    actuator_kinds,
)
from applications.identification.estimation.machines.payload import Payload, payload_bodies
from applications.identification.estimation.machines.residuals import COVARIANCES
from applications.identification.machines.described import GAINS, RecordingDescription, RecordingFiles
from applications.identification.machines.description_keys import read_keys
from applications.identification.machines.own_columns import ExpressionColumn, plain, symbols_of
from applications.identification.machines.sections import (
    DescriptionFile,
    OwnColumnSection,
    PayloadSection,
    RecordingSection,
    SignalSection,
    existing_file,
)
from pipeline.documents.document import KeyPath
from pipeline.documents.files import read_text
from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.tables.selection import READINGS
from pipeline.documents.units import UNITS
from pipeline.documents.yaml import MAX_BYTES
from pipeline.robot_files.importing import import_robot
from pipeline.robot_files.reader import find_family
from robots.expressions.expression import SMOOTH, ExpressionError, parse
from robots.joint_kinds import JOINT_KINDS
from robots.model import Inertia, Robot
from robots.parameter_errors import nearest
from tasks.dynamics.inertial_parameters import BODY, body_parameters, shared_columns

ESTIMATE = "estimate"


def read_description(
    path: str | os.PathLike[str],
    *,
    robot: str | None = None,
    files: Iterable[tuple[str, str]] = (),
    folder: str | os.PathLike[str] | None = None,
    method: str | None = None,
    deviations: str | None = None,
) -> RecordingDescription:
    """Read a recording description. Raises InputError with all problems.

    robot, files, method, deviations: in place of those of the description; files as (path, role). folder: where its
    files are, if not beside it.
    """
    name = os.fspath(path)
    text = read_text(name, MAX_BYTES)
    return parse_description(text, name, robot=robot, files=files, folder=folder, method=method, deviations=deviations)


def parse_description(
    text: str,
    name: str,
    *,
    robot: str | None = None,
    files: Iterable[tuple[str, str]] = (),
    folder: str | os.PathLike[str] | None = None,
    method: str | None = None,
    deviations: str | None = None,
) -> RecordingDescription:
    """Read a recording description from its text, called `name` in messages. Raises InputError."""
    report, file = read_keys(text, name)
    options = {key: value for key, value in (("method", method), ("deviations", deviations)) if value is not None}
    file = file.model_copy(update={"estimate": file.estimate.model_copy(update=options)})
    reader = _DescriptionReader(report, file, name, Path(folder) if folder is not None else None)
    description = reader.description(robot, list(files), text)
    report.raise_if_any()
    assert description is not None, "problems were raised"
    return description


class _DescriptionReader:
    """Reader of a description section by section; problems go to `report`."""

    def __init__(self, report: Report, file: DescriptionFile, name: str, folder: Path | None) -> None:
        self.report, self.file, self.name = report, file, name
        self.folders = [*([folder] if folder is not None else []), Path(name).parent]

    def description(
        self, robot_name: str | None, files: list[tuple[str, str]], text: str
    ) -> RecordingDescription | None:
        named = robot_name or self.file.robot
        if named is None:
            self.report((), Got("no key 'robot'"), "a robot of the catalogue, or the file of one", "Add it.")
            return None
        robot, robot_text = self._robot(named, is_given=robot_name is not None)
        count = len(robot.mechanism.actuators)
        recordings = self._recordings(files)
        gear, zero = self._gear(count), self._numbers("zero", count, 0.0)
        self._signals(robot, count)
        model, estimates_stribeck = self._model(robot, gear)
        self._choices()
        sections = self._sections(files)
        return RecordingDescription(
            robot=robot,
            file=self.file,
            recordings=recordings,
            gear=gear,
            zero=zero,
            limits=self._limits(robot),
            preparations=tuple(self._preparation(k, section) for k, section in enumerate(sections)),
            estimates_delay=self.file.preparation.delay == ESTIMATE,
            model=model,
            estimates_stribeck=estimates_stribeck,
            method=self.file.estimate.method,
            deviations=self.file.estimate.deviations,
            eliminate=self.file.estimate.eliminate,
            estimates_gains=self.file.estimate.gains,
            prior=self._prior(robot),
            payloads=self._payloads(robot, sections),
            accept=self.file.accept,
            controller=self._controller(count),
            title=self.file.title or f"Identification of {robot.name}",
            text=text,
            robot_source=named,
            robot_file=None if robot_text is None else named,
            robot_text=robot_text,
        )

    def _robot(self, name: str, is_given: bool) -> tuple[Robot, str | None]:
        """Return the robot of a name: URDF, robot file or catalogue; and the text of its file, where it has one."""
        is_urdf, is_file = name.lower().endswith(".urdf"), name.lower().endswith((".yaml", ".yml"))
        if not (is_urdf or is_file):
            return Robot.of(find_family(name), dict(self.file.parameters)), None
        path = Path(name) if is_given else existing_file(self.report, self.folders, name, ("robot",))
        self.report.raise_if_any()
        if is_urdf:
            imported = import_robot(path, parameters=False)
            return Robot.of(imported.description.family, dict(self.file.parameters)), read_text(str(path), MAX_BYTES)
        return Robot.of(find_family(str(path)), dict(self.file.parameters)), read_text(str(path), MAX_BYTES)

    def _recordings(self, files: list[tuple[str, str]]) -> tuple[RecordingFiles, ...]:
        if files:
            names = _numbered(Path(path).name for path, _ in files)
            pairs = zip(files, names, strict=True)
            return tuple(RecordingFiles((Path(path),), role, name) for (path, role), name in pairs)
        if not self.file.recordings:
            self.report((), Got("no recordings"), "files of recordings", "Add the key recordings, or name files.")
        names = _numbered(map(_recording_name, self.file.recordings))
        sections = enumerate(zip(self.file.recordings, names, strict=True))
        return tuple(self._recording(k, section, name) for k, (section, name) in sections)

    def _sections(self, files: list[tuple[str, str]]) -> tuple[RecordingSection | None, ...]:
        """Return the sections of the recordings; of files that are named elsewhere those with their names."""
        if not files:
            return self.file.recordings
        names = _numbered(map(_recording_name, self.file.recordings))
        sections = dict(zip(map(_file_name, names), self.file.recordings, strict=True))
        return tuple(sections.get(_file_name(path)) for path, _ in files)

    def _preparation(self, number: int, section: RecordingSection | None) -> Preparation:
        """Return the preparation of a recording: keys of its own, else those of all."""
        preparation = None if section is None else section.preparation
        if preparation is not None and preparation.delay == ESTIMATE:
            hint = "Write it under preparation of the description, or a number here."
            self.report(("recordings", number, "preparation", "delay"), ESTIMATE, "a number [s]", hint)
        values = self.file.preparation.model_dump()
        if preparation is not None:
            values |= preparation.model_dump(include=preparation.model_fields_set)
        values["delay"] = None if values["delay"] == ESTIMATE else values["delay"]
        values["stop"] = np.inf if values["stop"] is None else values["stop"]
        return Preparation(**values)

    def _recording(self, number: int, section: RecordingSection, name: str) -> RecordingFiles:
        paths = tuple(
            existing_file(self.report, self.folders, file, ("recordings", number, "files", k))
            for k, file in enumerate(section.files)
        )
        return RecordingFiles(paths, section.role, name, section.consecutive)

    def _gear(self, count: int) -> np.ndarray:
        """Return the ratios of motors over actuators (motor, actuator)."""
        if self.file.gear is None:
            return np.eye(count)
        rows = [row if isinstance(row, tuple) else None for row in self.file.gear]
        if all(row is None for row in rows):
            ratios = np.array(self.file.gear, dtype=float)
            gear = np.diag(ratios) if len(ratios) == count else np.zeros((0, 0))
        else:
            lengths_fit = len(rows) == count and all(row is not None and len(row) == count for row in rows)
            gear = np.array(rows, dtype=float) if lengths_fit else np.zeros((0, 0))
        if gear.shape != (count, count) or abs(np.linalg.det(gear)) < 1e-12:
            self.report(("gear",), Got("another shape or no inverse"), f"{count} ratios, or {count} rows of as many")
            return np.eye(count)
        return gear

    def _numbers(self, key: str, count: int, default: float) -> np.ndarray:
        numbers = getattr(self.file, key)
        if numbers is not None and len(numbers) not in (1, count):
            self.report((key,), Got(f"{len(numbers)} numbers"), f"{count}, one for each actuator")
        return (
            np.broadcast_to(np.array([default] if numbers is None else numbers, dtype=float), (count,)).copy()
            if (numbers is None or len(numbers) in (1, count))
            else np.full(count, default)
        )

    def _signals(self, robot: Robot, count: int) -> None:
        turns = [JOINT_KINDS[kind].units for kind in actuator_kinds(robot)]
        quantities = (("position", "position"), ("velocity", "rate"), ("force", "force"), ("reference", "position"))
        for key, quantity in quantities:
            section = getattr(self.file, key)
            if section is None:
                continue
            allowed = {getattr(units, quantity) for units in turns}
            is_reading = key == "force" and section.unit in READINGS
            if section.unit is not None and not is_reading and not _measures(section, allowed):
                expected = f"a unit of {' or '.join(sorted(allowed))}" + (", A, mA or %" if key == "force" else "")
                self.report((key, "unit"), section.unit, expected, sentence(nearest(section.unit, UNITS)))
            for part in ("sign", "gain"):
                numbers = getattr(section, part)
                if numbers is not None and len(numbers) not in (1, count):
                    self.report((key, part), Got(f"{len(numbers)} numbers"), f"one, or {count} for the actuators")
            if section.sign is not None and any(abs(sign) != 1 for sign in section.sign):
                self.report((key, "sign"), list(section.sign), "1 or -1 for each")
            if is_reading and section.gain is None:
                self.report((key, "unit"), section.unit, "a gain with this unit", GAINS[str(section.unit)])
        time = self.file.time
        if (time.column is None) == (time.rate is None):
            self.report(("time",), Got("both or none of column and rate"), "one of them", "Add time: {rate: 1000}.")
        if time.unit not in UNITS or UNITS[time.unit].si != "s":
            self.report(("time", "unit"), time.unit, "a unit of time: s, ms, us, ns or min")

    def _limits(self, robot: Robot) -> tuple[tuple[float, float], ...] | None:
        names = robot.mechanism.actuators
        for name, (low, high) in self.file.limits.items():
            if name not in names:
                self.report(("limits", name), name, "an actuator", sentence(nearest(name, names)), key=True)
            elif low >= high:
                self.report(("limits", name), [low, high], "the lower limit first")
        if not self.file.limits:
            return None
        pairs = [self.file.limits.get(name, (-np.inf, np.inf)) for name in names]
        return tuple((float(low), float(high)) for low, high in pairs)

    def _model(self, robot: Robot, gear: np.ndarray) -> tuple[MachineModel, bool]:
        section, count = self.file.model, len(robot.mechanism.actuators)
        columns = [column for name, entry in section.columns.items() if (column := self._own(robot, name, entry))]
        slow = section.stribeck_velocity
        estimates = section.friction == FADING and slow in (None, ESTIMATE)
        velocities: tuple[float, ...] = ()
        if isinstance(slow, tuple):
            velocities = tuple(map(float, slow))
            if len(velocities) != count:
                self.report(("model", "stribeck_velocity"), Got(f"{len(velocities)} numbers"), f"one, or {count}")
        elif isinstance(slow, float | int):
            velocities = (float(slow),) * count
        if any(velocity <= 0 for velocity in velocities):
            self.report(("model", "stribeck_velocity"), list(velocities), "numbers above 0")
        coupled = gear if np.count_nonzero(gear) > count else None
        model = MachineModel(
            friction=section.friction,
            offset=section.offset,
            drives=coupled,
            stribeck_velocity=velocities or (0.01,) * count,
            own=tuple(columns),
            joints=section.joints,
            shared=section.shared,
            gravity=(self.file.gravity[0], self.file.gravity[1], self.file.gravity[2]),
        )
        return model, estimates

    def _own(self, robot: Robot, name: str, section: OwnColumnSection) -> OwnColumn | None:
        names = robot.mechanism.actuators
        path: KeyPath = ("model", "columns", name)
        if section.actuator not in names:
            hint = sentence(nearest(section.actuator, names))
            self.report((*path, "actuator"), section.actuator, "an actuator of the robot", hint)
            return None
        symbols = symbols_of(robot)
        try:
            expression = parse(section.expression, "number", SMOOTH)
        except ExpressionError as error:
            self.report((*path, "expression"), Got(error.got), error.expected, error.hint)
            return None
        if unknown := [symbol for symbol in expression.names if symbol not in symbols]:
            hint = sentence(nearest(unknown[0], symbols))
            self.report(
                (*path, "expression"), unknown[0], "q, qd or qdd of an actuator, such as q_" + plain(names[0]), hint
            )
            return None
        return OwnColumn(name, names.index(section.actuator), section.unit, ExpressionColumn(expression, symbols))

    def _payloads(self, robot: Robot, recordings: Sequence[RecordingSection | None]) -> tuple[Payload | None, ...]:
        """Return the payload of each recording; empty if none has one."""
        if self.file.estimate.gains and self.file.estimate.method in (CONSISTENT, *CLOSED_LOOP):
            self.report(("estimate", "gains"), True, f"a linear method: {', '.join(METHODS)}", "Take weighted.")
        sections = [section.payload if section is not None else None for section in recordings]
        if not any(sections):
            return ()
        bodies = payload_bodies(robot)
        payloads: list[Payload | None] = []
        for k, section in enumerate(sections):
            path: KeyPath = ("recordings", k, "payload")
            if section is None:
                payloads.append(None)
                continue
            if section.body not in bodies:
                expected = "a body with inertia, of which there are no copies"
                self.report((*path, "body"), section.body, expected, sentence(nearest(section.body, bodies)))
            self._payload_values(section, path)
            payloads.append(_payload(section, k))
        self._same_payloads(payloads)
        return tuple(payloads)

    def _payload_values(self, section: PayloadSection, path: KeyPath) -> None:
        """Report numbers of a payload that are missing or too many."""
        if section.mass is None and section.unknown is None:
            self.report(path, Got("none of mass and unknown"), "mass and centre of a known payload, or unknown: NAME")
        elif section.unknown is None and section.centre is None:
            hint = "Write unknown: NAME beside the mass where only that is known."
            self.report((*path, "centre"), Got("a mass without centre"), "the centre of the mass [m]", hint)
        elif section.unknown is not None and (section.centre is not None or section.moments is not None):
            hint = "Of an unknown payload only the mass may be known."
            self.report(path, Got("unknown beside centre or moments"), "one of them", hint)
        if section.moments is not None and len(section.moments) not in (3, 6):
            self.report((*path, "moments"), Got(f"{len(section.moments)} numbers"), "3, or 6 with xy, xz, yz")

    def _same_payloads(self, payloads: Sequence[Payload | None]) -> None:
        """Report an unknown payload that has two bodies or masses, or a mass in some of its recordings alone."""
        first: dict[str, Payload] = {}
        for k, payload in enumerate(payloads):
            if payload is None or payload.values is not None:
                continue
            same = first.setdefault(payload.name, payload)
            for key in ("body", "mass"):
                if getattr(same, key) != getattr(payload, key):
                    expected = f"the {key} of {payload.name} in an earlier recording"
                    self.report(("recordings", k, "payload", key), getattr(payload, key), expected)

    def _prior(self, robot: Robot) -> BodyPrior:
        section = self.file.estimate.bodies
        names = dict.fromkeys(c.owner for c in shared_columns(robot.family)[0] if c.parameter in BODY)
        for name, box in section.boxes.items():
            path: KeyPath = ("estimate", "bodies", "boxes", name)
            if name not in names:
                self.report(path, name, "a body with inertia", sentence(nearest(name, names)))
            if not all(low < high for low, high in zip(box.lower, box.upper, strict=True)):
                self.report(path, [*box.lower, *box.upper], "a lower corner below the upper one")
        return BodyPrior(
            section.weight, section.mass, {name: (box.lower, box.upper) for name, box in section.boxes.items()}
        )

    def _controller(self, count: int) -> PositionController | None:
        section = self.file.controller
        if section is None:
            return None
        gains = []
        for key in ("position_gain", "velocity_gain"):
            numbers = getattr(section, key)
            if len(numbers) not in (1, count) or min(numbers) <= 0:
                self.report(("controller", key), list(numbers), f"one number above 0, or {count} for the actuators")
                return None
            gains.append(np.broadcast_to(np.array(numbers, dtype=float), (count,)))
        return PositionController(gains[0], gains[1], section.reference_rate)

    def _choices(self) -> None:
        methods = (*METHODS, CONSISTENT, *CLOSED_LOOP)
        if self.file.estimate.method in CLOSED_LOOP and self.file.reference is None:
            hint = "Add the columns of the positions that the controller was asked for."
            self.report(("estimate", "method"), self.file.estimate.method, "a key 'reference'", hint)
        if self.file.estimate.method == OUTPUT_ERROR and self.file.controller is None:
            self.report(
                ("estimate", "method"), OUTPUT_ERROR, "a key 'controller'", "Add its gains, or take instrumental."
            )
        if self.file.estimate.method not in methods:
            method = self.file.estimate.method
            hint = sentence(nearest(method, methods))
            self.report(("estimate", "method"), method, f"one of {', '.join(methods)}", hint)
        if (deviations := self.file.estimate.deviations) not in (names := (LARGEST, *COVARIANCES)):
            hint = sentence(nearest(deviations, names))
            self.report(("estimate", "deviations"), deviations, f"one of {', '.join(names)}", hint)
        for k, kind in enumerate(self.file.accept):
            if kind not in KINDS:
                self.report(("accept", k), kind, f"one of {', '.join(KINDS)}", sentence(nearest(kind, KINDS)))


def _recording_name(section: RecordingSection) -> str:
    """Return the name of a recording: that of its section, or those of its files."""
    return section.name or " + ".join(map(_file_name, section.files))


def _numbered(names: Iterable[str]) -> list[str]:
    """Return names of which none is there twice, as results are kept by name: windows of one file are numbered."""
    result: list[str] = []
    for name in names:
        numbers = itertools.count(2)
        unique = name
        while unique in result:
            unique = f"{name} ({next(numbers)})"
        result.append(unique)
    return result


def _file_name(path: str) -> str:
    return Path(path).name


def _payload(section: PayloadSection, number: int) -> Payload:
    """Return the ten parameters of a payload about the origin of its body."""
    if section.unknown is not None or section.mass is None or section.centre is None:
        return Payload(section.unknown or f"payload_{number + 1}", section.body, mass=section.mass)
    xx, yy, zz, xy, xz, yz = (*(section.moments or (0.0, 0.0, 0.0)), 0.0, 0.0, 0.0)[:6]
    x, y, z = section.centre
    inertia = Inertia(section.mass, (x, y, z), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    return Payload(f"payload_{number + 1}", section.body, tuple(body_parameters(inertia).tolist()))


def _measures(section: SignalSection, allowed: set[str]) -> bool:
    """Return whether the unit of a signal is among the allowed units; motors may turn where actuators slide."""
    unit = UNITS.get(section.unit or "")
    return unit is not None and (section.of == "motors" or unit.si in allowed)
