"""Outputs of some joints or links alone: entries `joint_reaction: [elbow]` of the list `outputs` of a sweep file."""

from __future__ import annotations

from pipeline.documents.report import Got, Report, sentence
from pipeline.sweep.sections import SelectedOutput, SweepFile
from robots.criteria.selection import SeriesSelection, joint_names, link_names, select
from robots.limits import Place
from robots.model import Mechanism
from robots.parameters import ParameterError
from robots.quantities import PLACED, QUANTITIES

NAMES = {"joint": joint_names, "link": link_names}


def read_selection(report: Report, file: SweepFile, mechanism: Mechanism | None) -> SeriesSelection:
    """Read which joints and links are stored of which outputs; what is wrong goes to `report`."""
    chosen: dict[str, tuple[tuple[str, Place], ...]] = {}
    series: list[str] = []
    for index, entry in enumerate(file.outputs):
        if not isinstance(entry, SelectedOutput) or entry not in QUANTITIES or mechanism is None:
            continue
        name = str(entry)
        path = ("outputs", index, name)
        kind = next((dim for dim in PLACED if dim in QUANTITIES[name].dims), None)
        if kind is None or file.simulation is not None:
            where = "a simulation" if file.simulation is not None else name
            report(path, Got(f"joints or links of {where}"), "an output of joints or links", "Write its name alone.")
            continue
        known = NAMES[kind](mechanism)
        places: list[Place] = []
        for number, text in enumerate(entry.places):
            try:
                places += [place for place in select(known, text, kind) if place not in places]
            except ParameterError as error:
                report((*path, number), text, f"a {kind} of the robot", sentence(str(error)))
        found = tuple((label, place) for label, place in known.items() if place in places)
        if chosen.setdefault(kind, found) != found:
            hint = f"All outputs of {kind}s that are selected share one dim; write the same list."
            report(path, Got(f"other {kind}s than those of another output"), f"the same {kind}s everywhere", hint)
        series.append(name)
    return SeriesSelection(chosen.get("joint", ()), chosen.get("link", ()), tuple(series))
