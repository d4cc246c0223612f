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
    report, file, grids = reading.report, reading.file, reading.grids
    actuators = len(reading.mechanism.actuators) if reading.mechanism else None
    wanted = [name for name in file.outputs if name in CLEAN]
    if section is None:
        if wanted:
            hint = "Add it; {} changes nothing but differences for velocities."
            report(("outputs",), Got(f"{wanted[0]} without measurement"), "a section measurement", hint)
        return None
    table = {parameter.name: parameter for parameter in MEASUREMENT}
    for name, value in section.items():
        if not report.require_known(("measurement", name), name, table, "a parameter of a measurement", key=True):
            continue
        channels = value if isinstance(value, tuple) else (value,)
        if name in COMMON and isinstance(value, tuple):
            report(("measurement", name), list(value), "one number for all actuators", "They are sampled together.")
        elif isinstance(value, tuple) and actuators is not None and len(channels) != actuators:
            report(("measurement", name), Got(f"{len(channels)} numbers"), f"one, or {actuators} for the actuators")
        elif problem := next(filter(None, map(table[name].problem, channels)), None):
            shown = list(value) if isinstance(value, tuple) else value
            report(("measurement", name), shown, table[name].bounds, f"It {problem}.")
    if file.seed is None:
        report(
            ("measurement",), Got("noise without seed"), "a seed at the top of the file", "Add for instance seed: 1."
        )
    for name in wanted:
        if CLEAN[name] not in file.outputs:
            report(("outputs",), Got(f"{name} alone"), f"{CLEAN[name]} too", "A dataset keeps clean signals beside.")
    values = {name: channel_values(section.get(name, parameter.scalar)) for name, parameter in table.items()}
    cutoff = values["cutoff"]
    step, samples = max(grid.step for grid in grids), min(grid.samples for grid in grids)
    if isinstance(cutoff, float) and cutoff >= 0.5 / step:
        hint = "A filter cannot pass frequencies above half the sampling rate."
        report(("measurement", "cutoff"), section["cutoff"], f"less than half of {1.0 / step:.6g} Hz", hint)
    if samples < SHORTEST:
        report(("measurement",), Got(f"{samples} times"), f"at least {SHORTEST} times for filters and differences")
    return Sensors(values, file.seed or 0)


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
