"""Outputs of some joints, links or freedoms: entries `joint_reaction: [elbow]` of `outputs` in a sweep file."""

from __future__ import annotations

from typing import Any, Self

from pipeline.documents.report import Got, sentence
from pipeline.sweep.reading import SectionContent, SweepReading
from pipeline.sweep.sections import SelectedOutput
from robots.criteria.selection import (
    SeriesSelection,
    deviation_names,
    freedom_names,
    joint_names,
    link_names,
)
from robots.dims import PLACED
from robots.limits import Place, select
from robots.parameter_errors import ParameterError
from robots.quantities import QUANTITIES

NAMES = {"joint": joint_names, "link": link_names, "deviation": freedom_names, "freedom": freedom_names}
WORDS = {"deviation": "freedom"}
"""Words for selected items where these differ from the name of the dim."""


class SelectionContent(SectionContent[SeriesSelection, None]):
    """Joints, links and freedoms of which some outputs are stored."""

    key = "selection"
    is_input = True

    @classmethod
    def read(cls, reading: SweepReading) -> Self:
        """Read the entries of outputs that select."""
        return cls(read_selection(reading))

    def describe(self) -> dict[str, Any]:
        """Describe a selection that there is by names."""
        selection = self.value
        if not selection.series:
            return {}
        parts = {"joints": [name for name, _ in selection.joints], "outputs": list(selection.series)}
        parts |= {"links": [name for name, _ in selection.links]}
        rows = [name for name, _ in selection.deviations]
        freedoms = [name for name, _ in selection.freedoms]
        parts |= {"deviations": rows} if rows else {}
        return {self.key: parts | ({"freedoms": freedoms} if freedoms else {})}


def read_selection(reading: SweepReading) -> SeriesSelection:
    """Read the selected joints, links and freedoms of outputs."""
    report, file, mechanism = reading.report, reading.file, reading.mechanism
    chosen: dict[str, tuple[tuple[str, Place], ...]] = {}
    series: list[str] = []
    for index, entry in enumerate(file.outputs):
        if not isinstance(entry, SelectedOutput) or entry not in QUANTITIES or mechanism is None:
            continue
        name = str(entry)
        path = ("outputs", index, name)
        kind = next((dim for dim in PLACED if dim in QUANTITIES[name].dims), None)
        if kind is None or file.simulation is not None:
            hint = "Write its name alone."
            where = "a simulation" if file.simulation is not None else name
            report(path, Got(f"joints or links of {where}"), "an output of joints, links or freedoms", hint)
            continue
        known, what = NAMES[kind](mechanism), WORDS.get(kind, kind)
        places: list[Place] = []
        for number, text in enumerate(entry.places):
            try:
                places += [place for place in select(known, text, what) if place not in places]
            except ParameterError as error:
                report((*path, number), text, f"a {what} of the robot", sentence(str(error)))
        if kind == "deviation":  # a freedom has a row, and its rate another
            known = {name: (0, row) for row, name in enumerate(deviation_names(mechanism))}
            places += [(0, row + len(mechanism.freedoms)) for _, row in places]
        found = tuple((label, place) for label, place in known.items() if place in places)
        if chosen.setdefault(kind, found) != found:
            hint = f"All outputs of {what}s that are selected share one dim; write the same list."
            report(path, Got(f"other {what}s than those of another output"), f"the same {what}s everywhere", hint)
        series.append(name)
    joints, links, deviations, freedoms = (chosen.get(kind, ()) for kind in NAMES)
    return SeriesSelection(joints, links, tuple(series), deviations, freedoms)
