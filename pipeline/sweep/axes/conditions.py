"""Read the conditions, derived parameters and subsets of a sweep file, and restrict axes by them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report, sentence
from pipeline.sweep.axes.derived import MAX_SCANNED, MAX_WORK, Derived, Filtered, Fixed, Sliced, in_chunks
from pipeline.sweep.axes.kinds import Axis
from pipeline.sweep.sections import SelectionSection
from robots.data_classes import dataclass
from robots.expressions.expression import ExpressionError, Kind, ParsedExpression, parse
from robots.parameter_errors import nearest
from robots.parameters import Parameter


@dataclass(frozen=True)
class RuleReader:
    """Reader of expressions over `parameters`; parameters that are not swept have `fixed` values or defaults."""

    report: Report
    parameters: Mapping[str, Parameter]
    fixed: Mapping[str, float]
    labels: tuple[str, ...] = ()
    """Columns of files that are no parameters, whether or not these could be read."""

    def derived(self, base: Axis, rules: Mapping[str, str], path: KeyPath) -> Axis:
        """Add derived parameters to an axis."""
        names, read = list(base.names), []
        for name, text in rules.items():
            here = (*path, name)
            if name not in self.parameters:
                self.report.unknown(here, self.parameters, "parameter")
            elif name in names or name in self.fixed:
                self.report(here, Got("a parameter that is also swept or fixed"), "a parameter once", key=True)
            elif expression := self._expression(text, "number", here, base, {*rules} - {*names}):
                names.append(name)
                read.append((name, expression))
        return Derived(tuple(names), base, tuple(read), self._constants(names)) if read else base

    def conditions(self, texts: Iterable[str], base: Axis, path: KeyPath) -> tuple[ParsedExpression, ...]:
        """Parse conditions, which need an axis that has something to choose from."""
        bare = path in self.report.document.values and (*path, 0) not in self.report.document.values
        read = [self._expression(text, "condition", path if bare else (*path, k), base) for k, text in enumerate(texts)]
        if read and not base.names:
            self.report(path, Got("a condition"), "an axis whose sets it chooses from", "Add grid, list or sample.")
        return tuple(expression for expression in read if expression is not None)

    def filtered(self, base: Axis, conditions: tuple[ParsedExpression, ...], path: KeyPath) -> Axis:
        """Restrict an axis to the sets that meet conditions: at least one, with derived parameters within bounds."""
        if not conditions and not isinstance(base, Derived):
            return base
        if base.size > MAX_SCANNED:
            got = Got(f"conditions or derived parameters on {base.size:.4g} sets")
            self.report(path, got, f"at most {MAX_SCANNED:.4g} sets before the conditions", "Take fewer values.")
            return base
        rules = [*conditions, *(rule for _, rule in base.rules)] if isinstance(base, Derived) else conditions
        signs = sum(len(rule.text.split()) for rule in rules)
        if base.size * signs > MAX_WORK:
            got = Got(f"{len(rules)} expressions of {signs} names, numbers and signs on {base.size:.4g} sets")
            rule = f"at most {MAX_WORK:.4g} for both multiplied, some seconds"
            self.report(path, got, rule, "Take fewer values, or shorter conditions.")
            return base
        axis = Filtered(base.names, base, conditions, self._constants(base.names)) if conditions else base
        if not axis.size:
            got = Got(f"conditions that none of {base.size} sets meets")
            self.report((*path, "where"), got, "at least one set that is left", "Relax a condition.")
        elif isinstance(base, Derived):
            self._check_bounds(axis, base, (*path, "derive"))
        return axis

    def part(self, base: Axis, selection: SelectionSection | None, path: KeyPath, *, sound: bool, scan: bool) -> Axis:
        """Restrict an axis to the sets of a subset.

        Unless the axis is `sound`, only parts that do not need it are checked; its sets are checked only with `scan`.
        """
        if selection is None:
            return base
        conditions = self.conditions(selection.where, base, (*path, "where"))
        stop = base.size if selection.stop is None or not sound else selection.stop
        if sound and not selection.start < stop <= base.size:
            got = Got(f"sets {selection.start} to {stop} of {base.size}")
            self.report(path, got, "a range of at least one set of the axis", "Sets are counted from 0.")
        if self.report.problems or not scan:
            return base
        whole = (selection.start, stop, selection.every) == (0, base.size, 1)
        axis = base if whole else Sliced(base.names, base, selection.start, stop, selection.every)
        return self.filtered(axis, conditions, path) if conditions else axis

    def _constants(self, names: Iterable[str]) -> Fixed:
        """List the values of the parameters that are not swept."""
        values = {name: self.fixed.get(name, parameter.default) for name, parameter in self.parameters.items()}
        swept = set(names)
        return tuple((name, float(value)) for name, value in values.items() if name not in swept)  # type: ignore[arg-type]

    def _expression(
        self, text: str, kind: Kind, path: KeyPath, base: Axis, later: Iterable[str] = ()
    ) -> ParsedExpression | None:
        """Parse an expression on parameters and on labels of `base`; None where it is reported.

        Names of `later` have no value yet.
        """
        known_names = [
            name for name in dict.fromkeys((*self.parameters, *base.names, *self.labels)) if name not in base.texts
        ]
        try:
            expression = parse(text, kind)
        except ExpressionError as error:
            self._refuse(text, path, error.place, error.got, error.expected, error.hint)
            return None
        for name in expression.names:
            if name not in known_names or name in later:
                place = next(match.start() for match in re.finditer(r"\w+", text) if match[0] == name)
                known = name in known_names
                got = repr(name) if known else f"an unknown name {name!r}"
                rule = "parameters that are swept, fixed or derived above" if known else "a known parameter"
                hint = "" if known else sentence(nearest(name, known_names))
                if name in base.texts:
                    got, rule, hint = f"{name!r}, which has texts", "a parameter or a label of numbers", ""
                self._refuse(text, path, place, got, rule, hint)
                return None
        return expression

    def _refuse(self, text: str, path: KeyPath, place: int, got: str, expected: str, hint: str) -> None:
        """Report a problem inside an expression, at its own column where the text stands in one line of the file."""
        self.report(path, Got(f"{got} at character {place + 1}"), expected, hint, within=(text, place))

    def _check_bounds(self, axis: Axis, derived: Derived, path: KeyPath) -> None:
        """Report the first value of each derived parameter that is out of bounds."""
        open_rules = dict(derived.rules)
        for values in in_chunks(axis):
            for name in list(open_rules):
                parameter = self.parameters[name]
                inside = (values[name] >= parameter.lower) & (values[name] <= parameter.upper)
                if not inside.all():
                    bad = values[name][int(np.argmin(inside))]
                    hint = "Leave such sets out by a condition under where."
                    self.report((*path, name), Got(f"{float(bad)!r} for some set"), parameter.bounds, hint)
                    del open_rules[name]
