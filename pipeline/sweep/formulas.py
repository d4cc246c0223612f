"""Read numbers of limits and criteria that are expressions of parameters, and check them for the designs of a sweep."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report, number_hint, sentence
from pipeline.documents.validation import ExpressionText, Section
from pipeline.sweep.axes.derived import CHUNK
from pipeline.sweep.design_axis import DesignAxis
from robots.data_classes import dataclass
from robots.expressions.expression import ExpressionError, ParsedExpression, parse
from robots.formulas import Formula, checked
from robots.loads.wrapped import moved_values
from robots.parameter_errors import nearest
from robots.types import Number

Part = TypeVar("Part")

LOOKED_AT = 1_000_000
"""Designs whose numbers are checked when a sweep is read; wrong numbers of other designs fail when these run."""


@dataclass(frozen=True)
class FormulaReader:
    """Reader of numbers that may be expressions of the parameters of a robot. Problems go to `report`."""

    report: Report
    design: DesignAxis

    def section(self, section: Part, path: KeyPath) -> Part:
        """Return a section at `path` with a formula in place of each text of an expression."""
        part: Any = section
        if isinstance(part, ExpressionText):
            return self._formula(part, path)  # type: ignore[return-value]  # a number as any other
        if isinstance(part, Section):
            keys = {name: type(part).model_fields[name].alias or name for name in part.model_fields_set}
            numbers = {name: self.section(getattr(part, name), (*path, key)) for name, key in keys.items()}
            return part.model_copy(update=numbers)  # type: ignore[return-value]
        if isinstance(part, Mapping):
            return {key: self.section(value, (*path, key)) for key, value in part.items()}  # type: ignore[return-value]
        if isinstance(part, tuple):
            return tuple(self.section(value, (*path, k)) for k, value in enumerate(part))  # type: ignore[return-value]
        return section

    def require(self, number: float, path: KeyPath, words: str) -> float:
        """Return a number after reporting the first design for which a formula has none.

        `words` state the requirement.
        """
        if not isinstance(number, Formula):
            return number
        for designs, values in self._chunks():
            missing = np.isnan(np.broadcast_to(number(values), (len(designs),)))
            if missing.any():
                swept = {name: x[int(missing.argmax())] for name, x in values.items() if name in self.design.axis.names}
                which = ", ".join(f"{name} {value:.6g}" for name, value in list(swept.items())[:4])
                got = f"a formula without such a number in design {designs[int(missing.argmax())]} ({which})"
                hint = "Correct it, or leave such designs out by a condition under design.where."
                self.report(path, Got(got), words, hint)
                break
        return number

    def _formula(self, text: ExpressionText, path: KeyPath) -> float:
        expression = self._expression(text, path)
        if expression is None:
            return 1.0
        formula: float = Formula.of(expression, self._reference)
        words = "a number above zero" if text.above else "a number of at least zero" if text.zero else "a finite number"
        formula = checked(formula, formula, zero=text.zero) if text.above or text.zero else formula
        before = len(self.report.problems)
        self.require(formula, path, f"{words} for every design")
        return formula if len(self.report.problems) == before else 1.0

    def _expression(self, text: str, path: KeyPath) -> ParsedExpression | None:
        """Parse an expression of parameters; None where it is reported."""
        try:
            expression = parse(text, "number")
        except ExpressionError as error:
            hint = number_hint(text) or error.hint
            self.report(path, Got(f"{text!r}, with {error.got}"), error.expected, hint, within=(text, error.place))
            return None
        names = self.design.parameters
        for name in expression.names:
            if name not in names:
                place = next(match.start() for match in re.finditer(r"\w+", text) if match[0] == name)
                got, hint = f"an unknown name {name!r}", sentence(nearest(name, names))
                if name in self.design.axis.names:
                    got, hint = (
                        f"{name!r}, a label of designs",
                        "Declare it under variables, and take it out of labels.",
                    )
                self.report(path, Got(got), "parameters of the robot", hint, within=(text, place))
                return None
        return expression

    @cached_property
    def _constants(self) -> dict[str, Number]:
        return {name: self.design.fixed.get(name, row.scalar) for name, row in self.design.parameters.items()}

    @cached_property
    def _reference(self) -> Mapping[str, Number]:
        """Parameters of the first design."""
        first = {name: float(x[0]) for name, x in self.design.axis.values(0, min(self.design.axis.size, 1)).items()}
        return moved_values(self.design.family, self._constants | first)

    def _chunks(self) -> Iterator[tuple[range, Mapping[str, Number]]]:
        """Yield the numbers of some designs, and their parameters."""
        size = self.design.axis.size
        for start in range(0, min(size, LOOKED_AT), CHUNK):
            stop = min(start + CHUNK, size)
            values = self._constants | self.design.axis.values(start, stop)
            yield range(start, stop), moved_values(self.design.family, values)
