"""From the sections of a sweep file to axes: names, units and bounds are checked, numbers are turned into SI."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline.axes import MAX_DRAWN, NOTHING, Axis, Grid, Listed, Range, Sampled, Values
from pipeline.document import Path
from pipeline.sweep_file import Axes, Bounds, Column, Sample
from pipeline.units import UNITS, check_unit
from pipeline.validation import Got, Report
from robots.parameters import Parameter

_KINDS = {"grid": "grid", "list": "listed", "sample": "sample"}


@dataclass(frozen=True)
class AxisReader:
    """Reads axes over some `parameters`; `fixed` names those that are set elsewhere. Problems go to `report`."""

    report: Report
    parameters: Mapping[str, Parameter]
    fixed: Mapping[str, float]
    seed: int | None = None

    def axis(self, section: Axes | None, path: Path) -> Axis:
        """The axis of a section. Where something is wrong it is reported, and what comes back is not to be used."""
        if section is None:
            return NOTHING
        given = [kind for kind, name in _KINDS.items() if getattr(section, name) is not None]
        if len(given) > 1:
            self.report(
                path, Got(" and ".join(given)), "one of grid, list, sample", "Two axes would need two sections."
            )
        if section.grid is not None:
            return Grid(tuple(section.grid), self._columns(section.grid, (*path, "grid")))
        if section.listed is not None:
            return self._listed(section.listed, (*path, "list"))
        return self._sample(section.sample, (*path, "sample")) if section.sample else NOTHING

    def _columns(self, columns: Mapping[str, Column], path: Path) -> tuple[Range | Values, ...]:
        return tuple(self._column(name, column, (*path, name)) for name, column in columns.items())

    def _listed(self, columns: Mapping[str, Column], path: Path) -> Axis:
        read = self._columns(columns, path)
        lengths = {name: len(column) for name, column in zip(columns, read, strict=True)}
        if len(set(lengths.values())) > 1:
            text = ", ".join(f"{name} with {length}" for name, length in lengths.items())
            self.report(path, Got(text), "lists of equal length", "Use grid for all combinations.")
        if any(isinstance(column, Range) for column in read):
            self.report(path, Got("a range"), "values", "Ranges belong under grid.")
        return Listed(tuple(columns), tuple(column for column in read if isinstance(column, Values)))

    def _column(self, name: str, column: Column, path: Path) -> Range | Values:
        self._check_name(name, path)
        scale = self._check_unit(name, column.unit, path)
        if column.values is not None:
            for other in ("start", "stop", "num", "step"):
                if getattr(column, other) is not None:
                    self.report((*path, other), Got(f"{other} beside values"), "either values or start, stop, num")
            base = (*path, "values") if (*path, "values") in self.report.document.values else path
            places = [(*base, index) for index in range(len(column.values))]
            return Values(self._check(name, column.values, places, column.unit, scale))
        return self._range(name, column, path, scale)

    def _range(self, name: str, column: Column, path: Path, scale: str) -> Range | Values:
        if column.step is not None:
            hint = "Whether a range by steps has its end depends on rounding."
            self.report((*path, "step"), column.step, "num, the number of values", hint)
        start, stop, num = column.start, column.stop, column.num
        if start is None or stop is None or num is None:
            if column.step is None:
                missing = [key for key in ("start", "stop", "num") if getattr(column, key) is None]
                self.report(path, Got("no " + ", no ".join(missing)), "start, stop and num, or values")
            return Values((0.0,))
        low, high = self._check(name, (start, stop), [(*path, "start"), (*path, "stop")], column.unit, scale)
        return Range(low, high, num)

    def _sample(self, sample: Sample, path: Path) -> Axis:
        if sample.seed is None:
            self.report(
                path, Got("no seed"), "a seed, so that the sample can be drawn again", "Add for instance seed: 1."
            )
        if sample.count * len(sample.parameters) > MAX_DRAWN:
            got = Got(f"{sample.count} sets of {len(sample.parameters)} numbers")
            self.report((*path, "count"), got, f"at most {MAX_DRAWN} numbers", "Take a grid, or several sweeps.")
        bounds = [self._bounds(name, each, (*path, "parameters", name)) for name, each in sample.parameters.items()]
        low, high = tuple(each[0] for each in bounds), tuple(each[1] for each in bounds)
        return Sampled(tuple(sample.parameters), low, high, sample.method, sample.count, sample.seed or 0)

    def _bounds(self, name: str, bounds: Bounds, path: Path) -> tuple[float, ...]:
        self._check_name(name, path)
        scale = self._check_unit(name, bounds.unit, path)
        if bounds.low > bounds.high:
            self.report((*path, "low"), bounds.low, f"at most high, {bounds.high!r}", "Exchange them.")
        places = [(*path, "low"), (*path, "high")]
        return self._check(name, (bounds.low, bounds.high), places, bounds.unit, scale)

    def _check_name(self, name: str, path: Path) -> None:
        if name not in self.parameters:
            self.report.unknown(path, self.parameters, "parameter")
        elif name in self.fixed:
            got = Got(f"a swept parameter that is also fixed at {self.fixed[name]!r}")
            self.report(path, got, "a parameter once", "Remove it here or under parameters.", key=True)

    def _check_unit(self, name: str, unit: str | None, path: Path) -> str:
        """The unit to convert from; the one of SI where none is given or the given one is refused."""
        if unit is None or name not in self.parameters:
            return "1"
        if wrong := check_unit(unit, self.parameters[name].unit):
            self.report((*path, "unit"), unit, *wrong)
            return "1"
        return unit

    def _check(
        self, name: str, numbers: Iterable[float], places: Iterable[Path], unit: str | None, scale: str
    ) -> tuple[float, ...]:
        """The numbers in SI, each checked against the bounds of the parameter."""
        values = tuple(UNITS[scale].to_si(float(number)) for number in numbers)
        if name in self.parameters:
            for value, place in zip(values, places, strict=True):
                check_bounds(self.report, self.parameters[name], value, place, guess=unit is None)
        return values


def check_fixed(
    report: Report,
    parameters: Mapping[str, Parameter],
    values: Mapping[str, float],
    path: Path,
    keys: Mapping[str, str] | None = None,
) -> dict[str, float]:
    """Fixed values of known parameters, within bounds; the others are reported and left out.

    `keys` says what the file calls them, where that is another name.
    """
    for name, value in values.items():
        place = (*path, (keys or {}).get(name, name))
        if name not in parameters:
            report.unknown(place, parameters, "parameter")
        else:
            check_bounds(report, parameters[name], value, place)
    return {name: float(value) for name, value in values.items() if name in parameters}


def check_bounds(report: Report, parameter: Parameter, value: float, path: Path, *, guess: bool = False) -> None:
    """Reports a value outside the bounds of its parameter; guesses which unit was meant where none was given."""
    if parameter.problem(value):
        report(path, value, _bounds_text(parameter), _guess(parameter, value, guess))


def _bounds_text(parameter: Parameter) -> str:
    if math.isinf(parameter.upper) and math.isfinite(parameter.lower):
        return f"a number of at least {parameter.lower:g} [{parameter.unit}]"
    return parameter.bounds


def _guess(parameter: Parameter, value: float, axis: bool) -> str:
    """What a value that is too large probably was: millimetres or degrees."""
    for unit, name in (("mm", "millimetres"), ("deg", "degrees")):
        if UNITS[unit].si == parameter.unit and not parameter.problem(converted := UNITS[unit].to_si(value)):
            write = f"add unit: {unit}" if axis else f"write {converted:.6g}"
            return f"If these are {name}, {write}."
    return ""
