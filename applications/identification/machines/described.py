"""Checked contents of a recording description, and the signals of its files in SI units."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from applications.identification.estimation.machines.choices import BodyPrior, Preparation
from applications.identification.estimation.machines.machine_model import MachineModel, PositionController
from applications.identification.estimation.machines.payload import Payload
from applications.identification.estimation.machines.preparation import Signals
from applications.identification.estimation.machines.recorded_motion import is_direct
from applications.identification.machines.sections import DescriptionFile, SamplingSection, SignalSection
from pipeline.documents.tables.selection import READINGS, ColumnRequest, Selected, select, unit_of
from pipeline.documents.units import UNITS
from pipeline.errors import refused
from pipeline.robot_files.rated import ratings
from robots.data_classes import dataclass
from robots.model import Robot

LEFT_OUT = 0.05
"""Largest share of rows with a repeated time that may be left out."""


@dataclass(frozen=True)
class RecordingFiles:
    """Paths of the files of one recording, its role, and its name in messages.

    consecutive: files follow each other in time, not side by side.
    """

    paths: tuple[Path, ...]
    role: str
    name: str
    consecutive: bool = False


@dataclass(frozen=True)
class RecordingDescription:
    """Checked description of an identification from recordings; `text` is the file that it came from.

    preparations: of each recording; robot_source: name of the robot; robot_file, robot_text: its file and the text of
    it, where there is one; stored: signals that were read before, for example from a store.
    """

    robot: Robot
    file: DescriptionFile
    recordings: tuple[RecordingFiles, ...]
    gear: np.ndarray
    zero: np.ndarray
    limits: tuple[tuple[float, float], ...] | None
    preparations: tuple[Preparation, ...]
    estimates_delay: bool
    model: MachineModel
    estimates_stribeck: bool
    method: str
    deviations: str
    eliminate: bool
    estimates_gains: bool
    prior: BodyPrior
    payloads: tuple[Payload | None, ...]
    accept: tuple[str, ...]
    controller: PositionController | None
    title: str
    text: str
    robot_source: str
    robot_file: str | None
    robot_text: str | None
    stored: tuple[Signals, ...] | None = None

    @property
    def rated(self) -> tuple[tuple[float, float], ...] | None:
        """Ranges of the actuators as the robot's file has them, of a chain that is driven in its joints."""
        table = ratings(self.robot.family)
        if not table or not is_direct(self.robot):
            return None
        ranges = [table.get(name) for name in self.robot.mechanism.actuators]
        ends = [(None, None) if one is None else (one.low, one.high) for one in ranges]
        return tuple((-np.inf if low is None else low, np.inf if high is None else high) for low, high in ends)

    def signals(self) -> list[Signals]:
        """Read all recordings, or return the recordings of a store. Raises InputError."""
        return list(self.stored) if self.stored is not None else [self.read(files) for files in self.recordings]

    def read(self, files: RecordingFiles) -> Signals:
        """Read one recording, in SI units and the order of the actuators. Raises InputError."""
        selected = select(files.name, files.paths, self._requests(), consecutive=files.consecutive)
        series = {key: self._signal(files, selected, key) for key in SIGNALS if getattr(self.file, key) is not None}
        count = len(series["position"])
        if self.file.time.rate is not None:
            series["time"] = np.arange(count) / self.file.time.rate
        else:
            series["time"] = selected.signals["time"][:, 0] * _factor(self._unit(files, selected, "time"))
        notes = [*selected.notes, *_trim(files.name, series)]
        keep = _sound_stamps(series["time"])
        if not keep.all():
            left_out = int((~keep).sum())
            notes.append(
                f"{left_out} of {count} rows have no time of their own among their neighbours; they are left out"
            )
            series = {key: values[keep] for key, values in series.items()}
        return Signals(files.name, files.role, notes=tuple(notes), **series)

    def _requests(self) -> dict[str, ColumnRequest]:
        sections = {key: getattr(self.file, key) for key in SIGNALS}
        requests = {key: ColumnRequest(section.columns, section.file) for key, section in sections.items() if section}
        if (time := self.file.time).column is not None:
            requests["time"] = ColumnRequest((time.column,), time.file)
        return requests

    def _signal(self, files: RecordingFiles, selected: Selected, key: str) -> np.ndarray:
        """Return a signal in SI units and the order of the actuators. Raises InputError."""
        section: SignalSection = getattr(self.file, key)
        values = selected.signals[key]
        if values.shape[1] != (count := len(self.robot.mechanism.actuators)):
            names = ", ".join(self.robot.mechanism.actuators)
            hint = f"They are {names}; fix joints in the robot's file that were not recorded, such as a gripper's."
            expected = f"{count}, one for each actuator of {self.robot.name}"
            raise refused(files.name, f"{values.shape[1]} columns of {key}", expected, hint)
        unit = self._unit(files, selected, key)
        if unit is not None and unit in READINGS and section.gain is None:
            raise refused(files.name, f"{key} in {unit} by the file", "a gain with this unit", GAINS[unit])
        factor = np.asarray(_factor(unit))
        for numbers in (section.sign, section.gain):
            factor = factor * (np.asarray(numbers) if numbers is not None else 1.0)
        values = np.asarray(values * factor)
        if section.of == "motors":
            values = values @ self.gear if key == "force" else np.linalg.solve(self.gear, values.T).T
        return values + self.zero if key in ("position", "reference") else values

    def _unit(self, files: RecordingFiles, selected: Selected, key: str) -> str | None:
        """Return the unit of a signal, as the description has it or the file. Raises InputError where these differ."""
        section: SignalSection | SamplingSection = getattr(self.file, key)
        is_told = "unit" in section.model_fields_set
        unit = unit_of(files.name, selected, key, section.unit if is_told else None)
        return unit or section.unit


GAINS: Mapping[str, str] = {
    "A": "Add gain: [...] in N m/A or N/A.",
    "mA": "Add gain: [...] in N m/A or N/A.",
    "%": "Add gain: [...], the force at 100 % in N m or N.",
}
"""Advice for units of drives without a gain."""
SIGNALS = ("position", "force", "velocity", "reference")
FAR = 20.0
"""Distance of a time from the line over the rows, over that of most, beyond which the row is no sample."""


def _factor(unit: str | None) -> float:
    if unit is None:
        return 1.0
    if unit in READINGS:
        return READINGS[unit]
    return float(UNITS[unit].to_si(1.0)) if unit in UNITS else 1.0


def _trim(recording: str, series: dict[str, np.ndarray]) -> list[str]:
    """Cut signals one row longer than others, as with a truncated last row. Raises InputError."""
    lengths = {key: len(values) for key, values in series.items()}
    least = min(lengths.values())
    if max(lengths.values()) > least + 1:
        got = ", ".join(f"{count} samples of {key}" for key, count in lengths.items())
        raise refused(recording, got, "as many of each")
    if max(lengths.values()) == least:
        return []
    series |= {key: values[:least] for key, values in series.items()}
    longer = ", ".join(key for key, count in lengths.items() if count > least)
    return [f"{longer} have a row more than the others; it is left out"]


def _sound_stamps(time: np.ndarray) -> np.ndarray:
    """Return rows whose own times are near those of their neighbours; all rows if too many would be left out.

    A program that loses its place in a stream writes rows of other numbers, whose times are far from the line over
    the rows.
    """
    keep = np.isfinite(time)
    if keep.sum() > 2 and not (np.diff(time[keep]) >= 0).all():
        keep &= _near_line(time, keep)
    stamps = time[keep]
    keep[np.flatnonzero(keep)[1:]] = np.diff(stamps) != 0.0
    return keep if keep.sum() >= (1.0 - LEFT_OUT) * len(time) else np.ones(len(time), dtype=bool)


def _near_line(time: np.ndarray, finite: np.ndarray) -> np.ndarray:
    """Return a mask of the times near a straight line over the rows, whose slope is the median step."""
    step = float(np.median(np.abs(np.diff(time[finite]))))
    with np.errstate(over="ignore"):
        distance = np.where(finite, time, np.inf) - np.arange(len(time)) * step
        distance = np.abs(distance - np.median(distance[finite]))
        spread = float(np.median(distance[finite]))
    return np.asarray(distance <= FAR * (spread + step))
