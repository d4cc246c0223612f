"""Read the sections `measurement` and `split` of a sweep file, which make it a dataset for identification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from pipeline.documents.report import Got, Report
from pipeline.documents.validation import Number, Section, Text
from pipeline.sweep.dataset_split import DatasetSplit
from pipeline.sweep.reading import SectionContent, SweepReading, optional
from robots.measurement import CLEAN, COMMON, LATER, MEASUREMENT, SHORTEST, Channels, Sensors

Measured = Mapping[str, float | tuple[float, ...]]
Fraction = Annotated[Number, Field(ge=0, lt=1)]


class SplitSection(Section):
    """Shares of the cases that are kept from training; the rest is for training."""

    validation: Fraction = 0.1
    """share for validation"""
    test: Fraction = 0.2
    """share for tests"""
    by: Literal["design", "motion"] | None = None
    """the axis that is split alone, with all cases of one design or motion together; absent: both"""


class MeasurementContent(SectionContent[Sensors | None, Measured | None]):
    """Sensors of positions and forces, for outputs that are measured."""

    key = "measurement"
    field = optional(
        dict[Text, Number | tuple[Number, ...]],
        "errors of sensors of positions and forces, for measured outputs",
    )

    @classmethod
    def read(cls, reading: SweepReading) -> Self | None:
        """Read the sensors; None without a time grid."""
        return cls(read_measurement(reading, reading.said(cls))) if reading.grids else None

    def describe(self) -> dict[str, Any]:
        """Describe sensors that there are."""
        return {self.key: describe_sensors(self.value)} if self.value else {}


class SplitContent(SectionContent[DatasetSplit | None, SplitSection | None]):
    """Parts of a dataset, by designs and by trajectories."""

    key = "split"
    field = optional(SplitSection, "parts of a dataset, by designs and by trajectories")

    @classmethod
    def read(cls, reading: SweepReading) -> Self:
        """Read the shares."""
        return cls(read_split(reading.report, reading.said(cls)))

    def describe(self) -> dict[str, Any]:
        """Describe shares that there are."""
        return {self.key: self.value.describe()} if self.value else {}


def describe_sensors(sensors: Sensors) -> dict[str, Any]:
    """Return the parameters and seed of sensors in types of JSON."""
    defaults = {parameter.name: parameter.default for parameter in MEASUREMENT if parameter.name in LATER}
    values = {name: value for name, value in sensors.values.items() if value != defaults.get(name)}
    return {"values": values, "seed": sensors.seed}


def read_measurement(reading: SweepReading, section: Measured | None) -> Sensors | None:
    """Read the section `measurement`, one number for all actuators or one for each."""
    report, file = reading.report, reading.file
    measured = [name for name in file.outputs if name in CLEAN]
    if section is None:
        if measured:
            hint = "Add it; {} changes nothing but differences for velocities."
            report(("outputs",), Got(f"{measured[0]} without measurement"), "a section measurement", hint)
        return None
    _check_parameters(reading, section)
    if file.seed is None:
        hint = "Add for instance seed: 1."
        report(("measurement",), Got("noise without seed"), "a seed at the top of the file", hint)
    for name in measured:
        if CLEAN[name] not in file.outputs:
            report(("outputs",), Got(f"{name} alone"), f"{CLEAN[name]} too", "A dataset keeps clean signals beside.")
    values = {row.name: channel_values(section.get(row.name, row.scalar)) for row in MEASUREMENT}
    _check_filter(reading, section, values["cutoff"])
    return Sensors(values, file.seed or 0)


def _check_parameters(reading: SweepReading, section: Measured) -> None:
    """Report parameters that do not exist, or whose numbers are too many or out of bounds."""
    report, table = reading.report, {parameter.name: parameter for parameter in MEASUREMENT}
    actuators = len(reading.mechanism.actuators) if reading.mechanism else None
    for name, value in section.items():
        path = ("measurement", name)
        if not report.require_known(path, name, table, "a parameter of a measurement", key=True):
            continue
        channels = value if isinstance(value, tuple) else (value,)
        if name in COMMON and isinstance(value, tuple):
            report(path, list(value), "one number for all actuators", "They are sampled together.")
        elif isinstance(value, tuple) and actuators is not None and len(channels) != actuators:
            report(path, Got(f"{len(channels)} numbers"), f"one, or {actuators} for the actuators")
        elif problem := next(filter(None, map(table[name].problem, channels)), None):
            shown = list(value) if isinstance(value, tuple) else value
            report(path, shown, table[name].bounds, f"It {problem}.")


def _check_filter(reading: SweepReading, section: Measured, cutoff: Channels) -> None:
    """Report a cutoff that the sampling rate does not allow, and too few samples."""
    step, samples = max(grid.step for grid in reading.grids), min(grid.samples for grid in reading.grids)
    if isinstance(cutoff, float) and cutoff >= 0.5 / step:
        rule = f"less than half of {1.0 / step:.6g} Hz"
        hint = "A filter cannot pass frequencies above half the sampling rate."
        reading.report(("measurement", "cutoff"), section["cutoff"], rule, hint)
    if samples < SHORTEST:
        rule = f"at least {SHORTEST} times for filters and differences"
        reading.report(("measurement",), Got(f"{samples} times"), rule)


def channel_values(value: float | tuple[float, ...]) -> Channels:
    """Return a number for all actuators, or one for each."""
    return tuple(map(float, value)) if isinstance(value, tuple) else float(value)


def read_split(report: Report, split: SplitSection | None) -> DatasetSplit | None:
    """Read the section `split`; problems go to `report`."""
    if split is None:
        return None
    if split.validation + split.test >= 1.0:
        got = Got(f"{split.validation:g} for validation and {split.test:g} for tests")
        report(("split",), got, "less than 1 together", "The rest is for training.")
    return DatasetSplit(split.validation, split.test, split.by)
