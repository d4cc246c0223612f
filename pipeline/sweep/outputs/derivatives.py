"""Derivatives as outputs: entries `{derivative: peak_force, of: [upper_arm]}` of `outputs` in a sweep file.

The metric or series itself is stored beside its derivative. A parameter that follows from others by a rule of `derive`
moves with those; it is no parameter to differentiate by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from pipeline.documents.report import Got, Report, sentence
from pipeline.sweep.axes.derived import rules_of
from pipeline.sweep.friction import FrictionContent
from pipeline.sweep.gravity import GRAVITY
from pipeline.sweep.reading import SectionContent, SweepReading
from pipeline.sweep.sections import DerivativeOutput
from pipeline.sweep.trajectories.base import BaseContent
from robots.derivatives import NO_DERIVATIVES, PARAMETER, SIDE, RequestedDerivatives
from robots.friction.laws import LAWS
from robots.parameters import nearest
from robots.quantities import DIFFERENTIABLE, QUANTITIES, SMOOTH_SERIES

KEY = "derivatives"

SMOOTH = (*DIFFERENTIABLE, *SMOOTH_SERIES)
"""Metrics and series with exact derivatives along given motions."""


class DerivativesContent(SectionContent[RequestedDerivatives, None]):
    """Metrics and series whose derivatives are stored, and the parameters that they are taken by."""

    key = KEY
    after = (FrictionContent.key, BaseContent.key)

    @classmethod
    def read(cls, reading: SweepReading) -> Self:
        """Read the entries of outputs that are derivatives."""
        entries = [(k, entry) for k, entry in enumerate(reading.file.outputs) if isinstance(entry, DerivativeOutput)]
        return cls(_read(reading, entries) if entries else NO_DERIVATIVES)

    def describe(self) -> dict[str, Any]:
        """Describe derivatives that there are by names."""
        requested = self.value
        if not requested.quantities:
            return {}
        parts = {"quantities": list(requested.quantities), "of": list(requested.parameters)}
        return {self.key: parts | ({"sides": True} if requested.sides else {})}


def _read(reading: SweepReading, entries: Sequence[tuple[int, DerivativeOutput]]) -> RequestedDerivatives:
    """Check all entries, which share their parameters, as these have one dim; mistakes go to the report."""
    report, file = reading.report, reading.file
    first = entries[0][1]
    if file.simulation is not None:
        path, hint = ("outputs", entries[0][0]), "study optimise follows simulations by differences."
        report(path, Got("a derivative of simulations"), "derivatives of given motions", hint)
    quantities: list[str] = []
    for index, entry in entries:
        if (entry.parameters, entry.sides) != (first.parameters, first.sides):
            hint = "All derivatives share the dim parameter; write the same list."
            report(("outputs", index), Got("other parameters or sides"), "those of the first derivative", hint)
        for name in entry.quantities:
            if name not in SMOOTH:
                _report_quantity(report, index, name)
            elif name in quantities:
                report(("outputs", index), Got(f"the derivative of {name} again"), "every one once", "Remove one.")
            else:
                quantities.append(name)
    _check_parameters(reading, entries[0][0], first.parameters)
    friction = reading.value(FrictionContent)
    if strange := [group.law for group in (friction.groups if friction else ()) if LAWS[group.law].state]:
        got = Got(f"a derivative with the friction law {strange[0]}, which has a state")
        report(("outputs", entries[0][0]), got, "a law without a state", "Take for instance stribeck.")
    return RequestedDerivatives(tuple(quantities), first.parameters, first.sides)


def _report_quantity(report: Report, index: int, name: str) -> None:
    path = ("outputs", index, "derivative")
    if name in QUANTITIES and QUANTITIES[name].kind == "motion":
        report(path, name, "a quantity that moves with parameters", "Motions of the platform are given.")
    elif name in QUANTITIES:
        hint = f"Those are {', '.join(SMOOTH)}."
        report(path, name, "a metric or series with exact derivatives along a given motion", hint)
    else:
        report(path, name, "a metric or a series", sentence(nearest(name, SMOOTH)))


def _check_parameters(reading: SweepReading, index: int, names: Sequence[str]) -> None:
    """Report names that are no parameters to differentiate by."""
    report, design, friction = reading.report, reading.design, reading.value(FrictionContent)
    if design is None:
        return
    of_robot = [parameter.name for parameter in design.family.parameters]
    of_friction = list(friction.parameters) if friction else []
    path = ("outputs", index, "of")
    if taken := [name for name in (PARAMETER, SIDE) if name in (*of_robot, *of_friction, *design.axis.names)]:
        report(path, Got(f"a parameter named {taken[0]}"), "another name: derivatives have a dim of it", "Rename it.")
    derived = dict(rules_of(design.axis))
    for number, name in enumerate(names):
        here = (*path, number)
        if name in names[:number]:
            report(here, Got(f"{name} again"), "every parameter once", "Remove one.")
        elif name in derived:
            hint = "Take the parameters that it follows from, with which it moves."
            report(here, Got(f"{name}, which derive computes"), "a parameter that is chosen", hint)
        elif name in of_robot and name in of_friction:
            report(here, Got(f"{name}, of robot and friction"), "one parameter", "Name the group of friction.")
        elif name in GRAVITY and reading.value(BaseContent) is not None:
            report(here, Got(f"{name} beside a base that moves"), "gravity of a base at rest", "Leave it out.")
        elif name not in (*of_robot, *of_friction, *GRAVITY):
            hint = sentence(nearest(name, [*of_robot, *of_friction, *GRAVITY]))
            report(here, name, "a parameter of the robot, of friction, or of gravity", hint)
