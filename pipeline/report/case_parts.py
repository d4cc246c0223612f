"""Parts of a page about the case that is looked into: the mechanism in motion, actuators, where the platform goes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pipeline.report import charts, motion
from pipeline.report import series as quantities
from pipeline.report.markup import button, figure, packed, paragraph, select
from pipeline.report.part import Part
from pipeline.report.results import Results
from pipeline.report.workspace import choices, visited


def mechanism(results: Results) -> Part | None:
    """The view with its slider over time, or why there is none."""
    case = results.case
    if case is None:
        text = "The mechanism cannot be drawn, because the sweep in the store cannot be read again: "
        return Part("motion", "The mechanism", paragraph(text + results.why_no_case, "warning"))
    frames = motion.motions(case)
    size, force = motion.scale(frames)
    if not size:
        return Part("motion", "The mechanism", paragraph("Every sample of this design failed.", "warning"))
    arrow = motion.ARROW * size / force if force else 0.0
    names = [(str(index), name) for index, name in enumerate(case.trajectories)]
    body = paragraph(
        f"{_which(results)}. Lines are bodies, circles joints, arrows the force in each joint on the body that it "
        f"carries. The longest arrow is {force:.4g} N. Drag to turn, scroll to come nearer."
    )
    body += '<div class="controls">' + select("trajectory", "Trajectory", names) + button("play", "Play")
    body += (
        '<label class="wide" for="time">Time <input type="range" id="time" min="0" max="0" value="0" step="1">'
        '<output id="time-value" for="time"></output></label>'
        '<label for="arrows"><input type="checkbox" id="arrows" checked> Reaction forces</label></div>'
    )
    body += figure("mechanism", "The mechanism in three dimensions at the time of the slider, in metres.")
    body += paragraph("", "readout", "frame-readout", live=True)
    limbs = [each.name for each in case.mechanism.instances]
    chart = charts.mechanism(frames, limbs, motion.mounts(case))
    data = {"trajectories": [_frames(each) for each in frames], "joints": motion.joint_names(case), "arrow": arrow}
    return Part("motion", "The mechanism", body, {"mechanism": chart}, {"mechanism": data})


def _which(results: Results) -> str:
    found, dataset = results.designs, results.dataset
    row = [f"{each.name.replace('_', ' ')} {each.values[results.design]:g} {each.units}" for each in found.parameters]
    text = f"Design {results.design}" + (f" ({', '.join(each.strip() for each in row)})" if row else "")
    if dataset.sizes.get("friction", 1) > 1:
        sets = [
            f"{str(name).replace('_', ' ')} {float(each[results.friction]):g} {each.attrs.get('units', '')}".strip()
            for name, each in dataset.coords.items()
            if each.dims == ("friction",) and each.dtype.kind in "fiu"
        ]
        text += f", friction set {results.friction}" + (f" ({', '.join(sets)})" if sets else "")
    return text


def _frames(each: motion.Motion) -> dict[str, Any]:
    centre = each.platform[:, :-1].mean(axis=1) if each.platform.shape[1] else np.zeros((len(each.times), 3))
    return {
        "name": each.name,
        "times": packed(each.times),
        "limbs": [packed(limb, "f4") for limb in each.limbs],
        "platform": packed(each.platform, "f4"),
        "path": packed(centre[None], "f4"),
        "joints": packed(each.joints, "f4"),
        "force": packed(each.force),
        "moment": packed(each.moment),
    }


def series(results: Results) -> Part | None:
    """Time series of the actuators; None where there are none."""
    rows = quantities.series(results)
    if not rows:
        return None
    along = quantities.axes(results)
    body = paragraph(
        f"{_which(results)}. One line for each actuator, positive along its axis."
        + (
            " What friction asks of an actuator is its effort with friction less that without."
            if any(each.name == "friction_part" for each in rows)
            else ""
        )
    )
    if results.stride > 1:
        body += paragraph(f"One of {results.stride} times is shown.", "note")
    if (total := results.dataset.sizes["trajectory"]) > len(along.trajectories):
        body += paragraph(f"The first {len(along.trajectories)} of {total:,} trajectories.", "note")
    options = [(str(index), name) for index, name in enumerate(along.trajectories)]
    body += f'<div class="controls">{select("series-trajectory", "Trajectory", options)}</div>'
    body += figure(
        "series", "Time series of the actuators: " + ", ".join(each.title.replace("<br>", " ") for each in rows)
    )
    data = {
        "times": packed(along.times),
        "rows": [{"name": each.name, "units": each.units, "values": packed(each.values)} for each in rows],
    }
    return Part(
        "series-part", "Actuators over time", body, {"series": charts.series(rows, along.actuators)}, {"series": data}
    )


def workspace(results: Results) -> Part | None:
    """Positions of the platform; None of a chain, and where they are not known."""
    position = visited(results)
    offered = choices(results) if position is not None else ()
    if position is None or not offered:
        return None
    body = paragraph(
        f"Where the platform is on the trajectories, from above and from the side. Efforts are those of design "
        f"{results.design}; the share of designs counts all of the store."
    )
    options = [(str(index), each.label) for index, each in enumerate(offered)]
    body += f'<div class="controls">{select("workspace-colour", "Colour by", options)}</div>'
    body += figure("workspace", "Positions of the platform seen from above and from the side, coloured by a number.")
    flat = position.reshape(-1, 3)
    data = [{"label": each.label, "values": packed(each.values.reshape(-1))} for each in offered]
    chart = charts.workspace(flat, offered[0].values.reshape(-1), offered[0].label)
    return Part("workspace-part", "Workspace", body, {"workspace": chart}, {"workspace": data})
