"""Derivatives as outputs: entries `{derivative: peak_force, of: [upper_arm]}` of `outputs` in a sweep file.

The metric or series itself is stored beside its derivative. A parameter that follows from others by a rule of `derive`
moves with those; it is no parameter to differentiate by. Of simulations, numbers of the controller and offsets of the
start are parameters as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from pipeline.documents.dataset_names import GRAVITY
from pipeline.documents.report import Got, Report, sentence
from pipeline.sweep.axes.derived import rules_of
from pipeline.sweep.friction import FrictionContent
from pipeline.sweep.reading import SectionContent, SweepReading
from pipeline.sweep.sections import DerivativeOutput
from pipeline.sweep.simulated.axes import SimulationAxes
from pipeline.sweep.trajectories.base import BaseContent
from robots.derivatives import (
    NO_DERIVATIVES,
    OF_GIVEN_MOTIONS,
    OF_SIMULATIONS,
    PARAMETER,
    SIDE,
    WITHOUT,
    RequestedDerivatives,
)
from robots.model import Mechanism
from robots.parameter_errors import nearest
from robots.quantities import QUANTITIES
from robots.simulation import state_parameters

KEY = "derivatives"

STEPPED = ("sample_time", "delay", "resolution")
"""Numbers of a controller without derivatives by them: times in whole steps, and steps of encoders."""


class DerivativesContent(SectionContent[RequestedDerivatives, None]):
    """Metrics and series whose derivatives are stored, and the parameters that they are taken by."""

    key = KEY
    after = (FrictionContent.key, BaseContent.key, "simulation")

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
    smooth = OF_GIVEN_MOTIONS if file.simulation is None else OF_SIMULATIONS
    quantities: list[str] = []
    for index, entry in entries:
        if (entry.parameters, entry.sides) != (first.parameters, first.sides):
            hint = "All derivatives share the dim parameter; write the same list."
            report(("outputs", index), Got("other parameters or sides"), "those of the first derivative", hint)
        for name in entry.quantities:
            if name not in smooth:
                _report_quantity(report, index, name, smooth)
            elif name in quantities:
                report(("outputs", index), Got(f"the derivative of {name} again"), "every one once", "Remove one.")
            else:
                quantities.append(name)
    _check_parameters(reading, entries[0][0], first.parameters)
    return RequestedDerivatives(tuple(quantities), first.parameters, first.sides)


def _report_quantity(report: Report, index: int, name: str, smooth: Sequence[str]) -> None:
    path = ("outputs", index, "derivative")
    if name in WITHOUT:
        report(path, name, "a metric or series with a derivative", f"It has none, because {WITHOUT[name]}.")
    elif name in QUANTITIES and QUANTITIES[name].kind == "motion":
        report(path, name, "a quantity that moves with parameters", "Motions of the platform are given.")
    elif name in QUANTITIES:
        report(path, name, "a metric or series with a derivative here", f"Those are {', '.join(smooth)}.")
    else:
        report(path, name, "a metric or a series", sentence(nearest(name, smooth)))


def _check_parameters(reading: SweepReading, index: int, names: Sequence[str]) -> None:
    """Report names that are no parameters to differentiate by."""
    report, design, mechanism = reading.report, reading.design, reading.mechanism
    if design is None or mechanism is None:
        return
    owners = _owners(reading, mechanism)
    table, of_robot = [name for names_of in owners.values() for name in names_of], owners["the robot"]
    path = ("outputs", index, "of")
    if taken := [name for name in (PARAMETER, SIDE) if name in (*table, *design.axis.names)]:
        report(path, Got(f"a parameter named {taken[0]}"), "another name: derivatives have a dim of it", "Rename it.")
    derived, names_of_all = dict(rules_of(design.axis)), [*table, *GRAVITY]
    for number, name in enumerate(names):
        here = (*path, number)
        if name in names[:number]:
            report(here, Got(f"{name} again"), "every parameter once", "Remove one.")
        elif name in derived:
            hint = "Take the parameters that it follows from, with which it moves."
            report(here, Got(f"{name}, which derive computes"), "a parameter that is chosen", hint)
        elif len(several := [owner for owner, names_of in owners.items() if name in names_of]) > 1:
            report(here, Got(f"{name}, of {' and '.join(several)}"), "one parameter", "Give one another name.")
        elif name in STEPPED and name not in of_robot:
            report(here, name, "a parameter that can move a little", "It changes in whole steps.")
        elif name in GRAVITY and reading.value(BaseContent) is not None:
            report(here, Got(f"{name} beside a base that moves"), "gravity of a base at rest", "Leave it out.")
        elif name not in names_of_all:
            hint = sentence(nearest(name, names_of_all))
            report(here, name, f"a parameter of {', '.join(owners)} or of gravity", hint)


def _owners(reading: SweepReading, mechanism: Mechanism) -> Mapping[str, Sequence[str]]:
    """Return the names of parameters by their owner in words; at least those of the robot and of friction."""
    friction, content = reading.value(FrictionContent), reading.contents.get("simulation")
    axes: SimulationAxes | None = content.value if content is not None else None
    assert reading.family is not None
    robot = [parameter.name for parameter in reading.family.parameters]
    result = {"the robot": robot, "friction": list(friction.parameters) if friction else []}
    return result | dict(_of_simulation(axes, mechanism)) if axes is not None else result


def _of_simulation(axes: SimulationAxes, mechanism: Mechanism) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the owners that a simulation adds."""
    if axes.gain_parameters:
        yield "the controller", list(axes.gain_parameters)
    yield "the start", list(state_parameters(mechanism))
