"""Read the axes of a sweep file: check names, units and bounds, and convert to SI.

`pipeline.sweep.axes.conditions` reads the parts that make one axis of another: conditions, derived parameters, parts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import numpy as np

from pipeline.documents.dataset_names import FREE_NAME, is_free, name_conflict
from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.tables.table import Table
from pipeline.documents.units import UNITS, Unit, check_unit, conversion
from pipeline.documents.validation import _bounds_text, _guess, check_bounds
from pipeline.sweep.axes.conditions import RuleReader
from pipeline.sweep.axes.kinds import (
    MAX_DRAWN,
    NOTHING,
    Array,
    ArrayValues,
    Axis,
    ExplicitValues,
    Grid,
    Listed,
    Product,
    Range,
    Sampled,
    TextValues,
    repeated,
    repeated_rows,
)
from pipeline.sweep.axes.samples import SamplingMethod
from pipeline.sweep.sections import AxesSection, BoundsSection, ColumnSection, SampleSection
from pipeline.sweep.side_files import SideFiles
from robots.data_classes import dataclass
from robots.parameter_errors import nearest
from robots.parameters import Parameter
from storage.schema import NAME

_METHODS: Mapping[str, tuple[SamplingMethod, bool]] = {
    "latin_hypercube": ("latin_hypercube", False),
    "sobol": ("sobol", False),
    "uniform": ("uniform", False),
    "log_uniform": ("uniform", True),
}
"""Methods of a sample: how it is drawn, and whether the scale of a parameter that gives none is logarithmic."""


@dataclass(frozen=True)
class AxisReader:
    """Reader of axes over `parameters`; `fixed` names parameters that are set elsewhere. Problems go to `report`.

    `seed` is that of samples that have none of their own.
    """

    report: Report
    parameters: Mapping[str, Parameter]
    fixed: Mapping[str, float]
    seed: int | None = None
    files: SideFiles | None = None
    labelled: bool = False
    """True if sets may have columns of a file that are no parameters."""

    def axis(self, section: AxesSection | None, path: KeyPath, more: tuple[Axis, ...] = ()) -> Axis:
        """Read the axis of a section. Where something is wrong it is reported, and the axis must not be used.

        Its samples have the streams of the last part of `path`, the name of the axis. All its sets are combined with
        those of `more` axes.
        """
        if section is None:
            return more[0] if more else NOTHING
        base = self._product(section, path, more)
        rules = RuleReader(self.report, self.parameters, self.fixed, section.labels or ())
        base = rules.derived(base, section.derive, (*path, "derive"))
        conditions = rules.conditions(section.where, base, (*path, "where"))
        # Errors elsewhere may be the cause of this axis' state: its sets are checked in a sound file only.
        return base if self.report.problems else rules.filtered(base, conditions, path)

    def _product(self, section: AxesSection, path: KeyPath, more: tuple[Axis, ...]) -> Axis:
        parts: list[Axis] = []
        if section.grid is not None:
            parts.append(self._grid(section.grid, (*path, "grid")))
        if section.listed is not None:
            parts.append(self._listed(section.listed, (*path, "list")))
        if section.file is not None:
            parts += self._files(section, path)
        for key in ("columns", "labels"):
            if section.file is None and getattr(section, key) is not None:
                self.report((*path, key), Got(f"{key} without a file"), "file beside them", "Add file.")
        if section.sample is not None:
            parts.append(self._sample(section.sample, (*path, "sample")))
        parts += more
        names = [name for part in parts for name in part.names]
        for name in {name: None for name in names if names.count(name) > 1}:
            self.report(path, Got(f"{name} in several places"), "a parameter once", "Combined axes multiply.")
        return parts[0] if len(parts) == 1 else Product(tuple(names), tuple(parts)) if parts else NOTHING

    def _grid(self, columns: Mapping[str, ColumnSection], path: KeyPath) -> Axis:
        read = self._columns(columns, path)
        for name, column in zip(columns, read, strict=True):
            if (again := repeated(column)) is not None:
                hint = "Equal values are one and the same set, computed twice."
                self.report((*path, name), Got(f"{again!r} twice"), "values that differ", hint)
        return Grid(tuple(columns), read)

    def _columns(self, columns: Mapping[str, ColumnSection], path: KeyPath) -> tuple[Range | ExplicitValues, ...]:
        return tuple(self._column(name, column, (*path, name)) for name, column in columns.items())

    def _listed(self, columns: Mapping[str, ColumnSection], path: KeyPath) -> Axis:
        read = self._columns(columns, path)
        lengths = {name: column.size for name, column in zip(columns, read, strict=True)}
        if len(set(lengths.values())) > 1:
            text = ", ".join(f"{name} with {length}" for name, length in lengths.items())
            self.report(path, Got(text), "lists of equal length", "Use grid for all combinations.")
        elif (rows := repeated_rows(read)) is not None:
            hint = "Equal rows are one and the same set, computed twice."
            self.report(path, Got(f"row {rows[1]} like row {rows[0]}"), "rows that differ, counted from 0", hint)
        return Listed(tuple(columns), read)

    def _files(self, section: AxesSection, path: KeyPath) -> Iterator[Axis]:
        """Read the sets of the tables of files, an axis for each: catalogues such as motors and gears multiply."""
        labels, files = section.labels or (), section.file or ()
        tables: dict[KeyPath, Table] = {}
        for k, file in enumerate(files):
            place = (*path, "file", k) if len(files) > 1 else (*path, "file")
            if file in files[:k]:
                self.report(place, file, "every file once", "Rows of different files multiply.")
            elif self.files and (table := self.files.table(self.report, file, place, labels=labels)):
                tables[place] = table
        if len(tables) == len(files):
            self._check_columns(section, tables.values(), path)
        for place, table in tables.items():
            names = section.columns or [name for name in table.columns if name not in labels]
            if chosen := [name for name in names if name in table.columns]:
                yield self._filed(table, chosen, labels, path, place)
            elif not self.report.problems:
                self.report(place, Got("no column of parameters"), "one or more in every file", "Leave the file out.")

    def _check_columns(self, section: AxesSection, tables: Collection[Table], path: KeyPath) -> None:
        """Report columns and labels of a section that no file has."""
        numbers = {name: None for table in tables for name in table.columns}
        known = numbers | {name: None for table in tables for name in table.texts}
        for name in section.columns or ():
            if name not in numbers:
                self.report.unknown((*path, "columns", name), numbers, "column of the file")
        for index, name in enumerate(section.labels or ()):
            if name not in known:
                self.report.unknown((*path, "labels", index), known, "column of the file")

    def _filed(
        self, table: Table, columns: Iterable[str], labels: tuple[str, ...], section: KeyPath, path: KeyPath
    ) -> Axis:
        """Read the sets of a table in a file, of some of its columns; a problem is reported with the name of the file.

        Labels are columns that are no parameters: numbers, or texts such as names, that a set has beside them.
        """
        read: dict[str, ArrayValues] = {}
        for name in columns:
            if name not in self.parameters:
                near = sentence(nearest(name, self.parameters))
                hint = f"{near} Choose others with columns, or declare it under variables or labels."
                self.report(path, Got(f"a column {name!r}"), "columns that are parameters", hint)
            else:
                read[name] = ArrayValues(self._checked(name, table.columns[name], table.units.get(name), path))
        if not read:
            return NOTHING
        for index, name in enumerate(labels):
            if name in (*table.columns, *table.texts) and self._is_label(name, (*section, "labels", index)):
                if name in table.texts:
                    read[name] = TextValues.of(table.texts[name])
                    continue
                unit = table.units.get(name, "1")
                if unit not in UNITS:
                    got = Got(f"the unit {unit!r} of the column {name}")
                    self.report(path, got, *(check_unit(unit, unit) or ("a known unit", "")))
                    continue
                numbers = table.columns[name] * UNITS[unit].factor / UNITS[unit].divisor
                read[name] = ArrayValues(numbers, unit=UNITS[unit].si if name in table.units else "")
        return Listed(tuple(read), tuple(read.values()))

    def _is_label(self, name: str, path: KeyPath) -> bool:
        """Return whether a column may be a label; report a problem if not."""
        if not self.labelled:
            self.report(path, name, "no labels: designs alone have them", "Remove it.")
        elif name.casefold() in map(str.casefold, self.parameters):
            self.report(path, Got(f"the parameter {name}"), "columns that are no parameters", "Remove it here.")
        elif not is_free(name):
            self.report(path, name, FREE_NAME, "Rename the column.")
        else:
            return True
        return False

    def _checked(self, name: str, numbers: Array, unit: str | None, path: KeyPath) -> Array:
        """Convert a column to SI and report the first number out of bounds."""
        parameter = self.parameters[name]
        self._check_free(name, path)
        if name in self.fixed:
            got = Got(f"a column {name} that is also fixed at {self.fixed[name]!r}")
            self.report(path, got, "a parameter once", "Remove it here or under parameters.")
        if unit and (wrong := check_unit(unit, parameter.unit)):
            self.report(path, Got(f"the unit {unit!r} of the column {name}"), *wrong)
            return numbers
        row = conversion(unit, parameter.unit) if unit else UNITS["1"]
        values = numbers * row.factor / row.divisor
        inside = (values >= parameter.lower) & (values <= parameter.upper)
        if not inside.all():
            first = int(np.argmin(inside))
            value, hint = float(values[first]), _guess(parameter, float(values[first]), axis=False) if not unit else ""
            got = Got(f"{value!r} in row {first} of the column {name}")
            self.report(path, got, _bounds_text(parameter, value), hint)
        return values

    def _column(self, name: str, column: ColumnSection, path: KeyPath) -> Range | ExplicitValues:
        self._check_name(name, path)
        scale = self._check_unit(name, column.unit, path)
        if column.values is not None:
            for key in sorted(column.model_fields_set & {"start", "stop", "num", "step", "scale"}):
                self.report((*path, key), Got(f"{key} beside values"), "either values or start, stop, num")
            base = (*path, "values") if (*path, "values") in self.report.document.values else path
            places = [(*base, index) for index in range(len(column.values))]
            return ExplicitValues(self._check(name, column.values, places, column.unit, scale))
        return self._range(name, column, path, scale)

    def _range(self, name: str, column: ColumnSection, path: KeyPath, scale: Unit) -> Range | ExplicitValues:
        if column.step is not None:
            hint = "Whether a range by steps has its end depends on rounding."
            self.report((*path, "step"), column.step, "num, the number of values", hint)
        start, stop, num = column.start, column.stop, column.num
        if start is None or stop is None or num is None:
            if column.step is None:
                missing = [key for key in ("start", "stop", "num") if getattr(column, key) is None]
                self.report(path, Got("no " + ", no ".join(missing)), "start, stop and num, or values")
            return ExplicitValues((0.0,))
        low, high = self._check(name, (start, stop), [(*path, "start"), (*path, "stop")], column.unit, scale)
        if num == 1 and start != stop:
            hint = "Take num: 2 or more, or values: [...] for a single number."
            self.report((*path, "num"), num, "at least 2 numbers, as start and stop differ", hint)
        log = column.scale == "log"
        if log and min(low, high) <= 0.0:
            self._not_positive((*path, "scale"), min(start, stop))
            return ExplicitValues((0.0,))
        return Range(low, high, num, log)

    def _sample(self, sample: SampleSection, path: KeyPath) -> Axis:
        seed = self.seed if sample.seed is None else sample.seed
        if seed is None:
            self.report(
                path, Got("no seed"), "a seed, so that the sample can be drawn again", "Add for instance seed: 1."
            )
        if sample.count * len(sample.parameters) > MAX_DRAWN:
            got = Got(f"{sample.count} sets of {len(sample.parameters)} numbers")
            self.report((*path, "count"), got, f"at most {MAX_DRAWN} numbers", "Take a grid, or several sweeps.")
        method, log = _METHODS[sample.method]
        scales = [log if section.scale is None else section.scale == "log" for section in sample.parameters.values()]
        bounds = [
            self._bounds(name, section, scale, (*path, "parameters", name))
            for (name, section), scale in zip(sample.parameters.items(), scales, strict=True)
        ]
        low, high = tuple(ends[0] for ends in bounds), tuple(ends[1] for ends in bounds)
        names, logs = tuple(sample.parameters), tuple(scales) if any(scales) else ()
        return Sampled(names, low, high, method, sample.count, seed or 0, logs, str(path[-2]))

    def _bounds(self, name: str, bounds: BoundsSection, log: bool, path: KeyPath) -> tuple[float, ...]:
        self._check_name(name, path)
        scale = self._check_unit(name, bounds.unit, path)
        if bounds.low > bounds.high:
            self.report((*path, "low"), bounds.low, f"at most high, {bounds.high!r}", "Exchange them.")
        if bounds.low == bounds.high:
            hint = "A range of one number has nothing to draw: set the number under parameters."
            self.report((*path, "low"), bounds.low, f"less than high, {bounds.high!r}", hint)
        if log and bounds.low <= 0.0:
            self._not_positive((*path, "low"), bounds.low)
        places = [(*path, "low"), (*path, "high")]
        return self._check(name, (bounds.low, bounds.high), places, bounds.unit, scale)

    def _not_positive(self, path: KeyPath, value: float) -> None:
        self.report(path, Got(f"a logarithmic scale from {value!r}"), "numbers above 0", "Use scale: linear.")

    def _check_name(self, name: str, path: KeyPath) -> None:
        if name not in self.parameters:
            self.report.unknown(path, self.parameters, "parameter")
        elif name in self.fixed:
            got = Got(f"a swept parameter that is also fixed at {self.fixed[name]!r}")
            self.report(path, got, "a parameter once", "Remove it here or under parameters.", key=True)
        self._check_free(name, path)

    def _check_free(self, name: str, path: KeyPath) -> None:
        """Report a parameter whose coordinate cannot have its name in a dataset, or that of something else there."""
        letters = "" if NAME.fullmatch(name) else "Coordinates have at most 80 letters from a to z, digits and '_'."
        if conflict := letters or name_conflict(name):
            hint = f"{conflict} Rename the parameter, joint or group where it is declared."
            self.report(path, Got(f"a swept parameter {name}"), "one whose name is free in datasets", hint, key=True)

    def _check_unit(self, name: str, unit: str | None, path: KeyPath) -> Unit:
        """Check the unit to convert from; that of the parameter where none is given or the given one is refused."""
        if unit is None or name not in self.parameters:
            return UNITS["1"]
        if wrong := check_unit(unit, self.parameters[name].unit):
            self.report((*path, "unit"), unit, *wrong)
            return UNITS["1"]
        return conversion(unit, self.parameters[name].unit)

    def _check(
        self, name: str, numbers: Iterable[float], places: Iterable[KeyPath], unit: str | None, scale: Unit
    ) -> tuple[float, ...]:
        """Convert numbers to the unit of the parameter and check each against the bounds of the parameter.

        Numbers in a unit that was refused are not checked.
        """
        given = tuple(float(number) for number in numbers)
        values = tuple(map(scale.to_si, given))
        parameter = self.parameters.get(name)
        if parameter is None or (unit is not None and check_unit(unit, parameter.unit)):
            return values
        for number, value, place in zip(given, values, places, strict=True):
            written = "" if number == value else f"{number:.10g} {unit}"
            check_bounds(self.report, parameter, value, place, guess=unit is None, written=written)
        return values


def check_fixed(
    report: Report,
    parameters: Mapping[str, Parameter],
    values: Mapping[str, float],
    path: KeyPath,
    keys: Mapping[str, str] | None = None,
) -> dict[str, float]:
    """Check the values of fixed parameters against names and bounds; unknown ones are left out.

    `keys` has their names in the file, where these differ.
    """
    for name, value in values.items():
        place = (*path, (keys or {}).get(name, name))
        if name not in parameters:
            report.unknown(place, parameters, "parameter")
        else:
            check_bounds(report, parameters[name], value, place)
    return {name: float(value) for name, value in values.items() if name in parameters}
