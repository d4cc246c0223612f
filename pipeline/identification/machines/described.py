"""What a recording description says, checked, and the signals of its files in SI units."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipeline.documents.units import UNITS
from pipeline.identification.machines.sections import DescriptionFile, SignalSection
from pipeline.identification.machines.tables import Table, column_of, read_table, refused
from pipeline.robot_files.rated import ratings
from robots.model import Robot
from tasks.identification.machines.closed_loop import Controller
from tasks.identification.machines.machine import Payload
from tasks.identification.machines.model import MachineModel
from tasks.identification.machines.motion import is_direct
from tasks.identification.machines.preparation import Preparation, Signals


@dataclass(frozen=True)
class RecordingFiles:
    """Paths of the files of one recording, its role, and what messages call it."""

    paths: tuple[Path, ...]
    role: str
    name: str


@dataclass(frozen=True)
class RecordingDescription:
    """All that an identification from recordings needs, checked; `text` is the file that it came from.

    robot_source, robot_file, robot_text: what names the robot, and its file and the text of it, where there is one;
    stored: signals that were read before, as from a store.
    """

    robot: Robot
    file: DescriptionFile
    recordings: tuple[RecordingFiles, ...]
    gear: np.ndarray
    zero: np.ndarray
    limits: tuple[tuple[float, float], ...] | None
    preparation: Preparation
    estimates_delay: bool
    model: MachineModel
    estimates_stribeck: bool
    method: str
    deviations: str
    eliminate: bool
    estimates_gains: bool
    payloads: tuple[Payload | None, ...]
    accept: tuple[str, ...]
    controller: Controller | None
    title: str
    text: str
    robot_source: str
    robot_file: str | None
    robot_text: str | None
    stored: tuple[Signals, ...] | None = None

    @property
    def rated(self) -> tuple[tuple[float, float], ...] | None:
        """Ranges of the actuators as the robot's file has them, of a chain that is driven in its joints."""
        known = ratings(self.robot.family)
        if not known or not is_direct(self.robot):
            return None
        ranges = [known.get(name) for name in self.robot.mechanism.actuators]
        ends = [(None, None) if one is None else (one.low, one.high) for one in ranges]
        return tuple((-np.inf if low is None else low, np.inf if high is None else high) for low, high in ends)

    def signals(self) -> list[Signals]:
        """Read all recordings, or take those that a store has. Raises InputError."""
        return list(self.stored) if self.stored is not None else [self.read(files) for files in self.recordings]

    def read(self, files: RecordingFiles) -> Signals:
        """Read one recording, in SI units and the order of the actuators. Raises InputError."""
        tables = [read_table(path) for path in files.paths]
        position = self._signal(files, tables, self.file.position, "position")
        force = self._signal(files, tables, self.file.force, "force")
        section = self.file.velocity
        velocity = None if section is None else self._signal(files, tables, section, "velocity")
        if self.file.position.of == "motors":
            position = np.linalg.solve(self.gear, position.T).T
        if section is not None and velocity is not None and section.of == "motors":
            velocity = np.linalg.solve(self.gear, velocity.T).T
        section = self.file.reference
        reference = None if section is None else self._signal(files, tables, section, "reference")
        if section is not None and reference is not None:
            if section.of == "motors":
                reference = np.linalg.solve(self.gear, reference.T).T
            reference = reference + self.zero
        if self.file.force.of == "motors":
            force = force @ self.gear
        time = self._time(files, tables, len(position))
        lengths = {"position": len(position), "force": len(force), "time": len(time)}
        if len(set(lengths.values())) > 1:
            got = ", ".join(f"{count} samples of {name}" for name, count in lengths.items())
            raise refused(files.name, got, "as many of each")
        return Signals(files.name, files.role, time, position + self.zero, force, velocity, reference)

    def _time(self, files: RecordingFiles, tables: Sequence[Table], samples: int) -> np.ndarray:
        section = self.file.time
        if section.column is None:
            assert section.rate is not None, "checked when the description was read"
            return np.arange(samples) / section.rate
        unit = UNITS[section.unit]
        values = column_of(files.name, tables, section.column, section.file, "time")
        return np.asarray(unit.to_si(1.0) * values)

    def _signal(self, files: RecordingFiles, tables: Sequence[Table], section: SignalSection, key: str) -> np.ndarray:
        names = section.columns
        if len(names) == 1 and isinstance(names[0], str):
            names = tuple(_expanded(tables, names[0], section.file)) or names
        if len(names) != (count := len(self.robot.mechanism.actuators)):
            raise refused(
                files.name, f"{len(names)} columns of {key}", f"{count}, one for each actuator of {self.robot.name}"
            )
        values = np.stack([column_of(files.name, tables, name, section.file, key) for name in names], axis=1)
        factor = np.asarray(UNITS[section.unit].to_si(1.0) if section.unit and section.unit in UNITS else 1.0)
        for numbers in (section.sign, section.gain):
            factor = factor * (np.asarray(numbers) if numbers is not None else 1.0)
        return np.asarray(values * factor)


def _expanded(tables: Sequence[Table], name: str, file: int | None) -> list[str]:
    """The columns of a variable that has several."""
    searched = tables if file is None else tables[file - 1 : file]
    pattern = re.compile(re.escape(name) + r"\[[0-9]+\]")
    return [column for table in searched for column in table if pattern.fullmatch(column)]
