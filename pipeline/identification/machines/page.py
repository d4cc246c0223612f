"""The report of an identification from recordings: one HTML file with tables and curves, no scripts, no network."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pipeline.identification.machines.identify import MachineIdentification
from robots.joint_kinds import JOINT_KINDS
from tasks.identification.machines.model import actuator_kinds
from tasks.identification.machines.rows import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 68rem; padding: 0 1rem; color: #1b1b1b }
table { border-collapse: collapse; margin: 1rem 0 }
td, th { padding: .2rem .8rem; text-align: left; border-bottom: 1px solid #ddd }
td.number { text-align: right; font-variant-numeric: tabular-nums }
.warning { border-left: 4px solid #c60; padding: .3rem 1rem; background: #fff6ec }
figure { margin: 1rem 0 }
svg { max-width: 100%; height: auto }
"""
POINTS = 4000
"""Samples of a curve that are drawn."""


def save_page(result: MachineIdentification, path: Path) -> None:
    """Write the report as a new file. Raises FileExistsError."""
    text = page(result)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)


def page(result: MachineIdentification) -> str:
    """The text of the report."""
    title = escape(result.description.title)
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{title}</title><style>{STYLE}</style></head><body><h1>{title}</h1>{''.join(_parts(result))}</body></html>\n"
    )


def _parts(result: MachineIdentification) -> Iterator[str]:
    yield _table(("", ""), [(escape(name), escape(text)) for name, text in result.rows()])
    if result.warnings:
        yield "<h2>What to know</h2>"
        yield "".join(f'<p class="warning">{escape(text)}</p>' for text in result.warnings)
    for run in result.fit.runs:
        yield f"<h2>{escape(run.recording.name)}, {escape(run.recording.role)}</h2>"
        yield f"<figure>{_curves(result, run)}</figure>"
    yield "<h2>Friction over speed</h2>"
    yield f"<figure>{_friction(result)}</figure>"
    yield "<h2>Spectra of residuals</h2>"
    yield f"<figure>{_spectra(result)}</figure>"
    yield "<h2>Base parameters</h2>"
    rows = [(escape(name), _number(value), _number(deviation)) for name, value, deviation in result.parameters()]
    yield _table(("parameter", "value", "standard deviation"), rows)
    yield "<h2>Parameters that bodies can have</h2>"
    yield "<p>Near the nominal robot where the recordings do not tell them; a deviation where they tell them alone.</p>"
    standard = [
        (escape(name), escape(unit), _number(value), _number(deviation))
        for name, unit, value, deviation in result.standard_parameters()
    ]
    yield _table(("parameter", "unit", "value", "standard deviation"), standard)


def _number(value: float) -> str:
    return f"{value:.5g}" if np.isfinite(value) else ""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{text}</th>" for text in head)
    body = "".join(
        "<tr>" + "".join(f'<td class="number">{x}</td>' if k else f"<td>{x}</td>" for k, x in enumerate(row)) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _labels(result: MachineIdentification) -> list[tuple[str, str]]:
    """Name of each actuator, unit of its force."""
    robot = result.machine.robot
    units = [JOINT_KINDS[kind].units.force for kind in actuator_kinds(robot)]
    return list(zip(robot.mechanism.actuators, units, strict=True))


def _curves(result: MachineIdentification, run: Run) -> str:
    labels = _labels(result)
    figure = _figure(len(labels))
    predicted = result.fit.predicted(run)
    chosen = slice(None, None, max(1, len(run.time) // POINTS))
    for k, (name, unit) in enumerate(labels):
        axes = figure.add_subplot(len(labels), 1, k + 1)
        axes.plot(run.time[chosen], run.forces[chosen, k], color="#888", linewidth=0.8, label="measured")
        shown = np.where(run.good[:, k], predicted[:, k], np.nan)
        axes.plot(run.time[chosen], shown[chosen], color="#c33", linewidth=0.9, label="predicted")
        axes.set_ylabel(f"{name}\n[{unit}]", fontsize=8)
        axes.tick_params(labelsize=7)
    figure.axes[0].legend(loc="upper right", fontsize=7, ncols=2)
    figure.axes[-1].set_xlabel("time [s]", fontsize=8)
    return _svg(figure)


def _friction(result: MachineIdentification) -> str:
    """What forces leave when all but friction and offset is taken away, over speed, beside the identified friction."""
    labels, fit = _labels(result), result.fit
    figure = _figure(len(labels))
    runs = [run for run in fit.runs if run.recording.role == "train"]
    beside = result.machine.model.beside(result.machine.robot, runs[0].motion).shape[2]
    mask = np.zeros(len(fit.columns))
    mask[len(fit.columns) - beside :] = 1.0
    # base parameters whose own column is one of those; groupings of friction columns stay among them
    own = np.array([mask[k] for k in fit.base.independent]) * fit.all_values
    for k, (name, unit) in enumerate(labels):
        axes = figure.add_subplot(len(labels), 1, k + 1)
        for run in runs:
            friction = fit.base.reduced(run.matrix)[:, k] @ own
            good = run.good[:, k]
            left = run.forces[:, k] - fit.predicted(run)[:, k] + friction
            speed = run.motion[1][:, k]
            axes.plot(speed[good], left[good], ".", color="#888", markersize=1.5)
            axes.plot(speed[good], friction[good], ".", color="#c33", markersize=1.5)
        axes.set_ylabel(f"{name}\n[{unit}]", fontsize=8)
        axes.tick_params(labelsize=7)
    figure.axes[-1].set_xlabel("speed", fontsize=8)
    return _svg(figure)


def _spectra(result: MachineIdentification) -> str:
    from scipy.signal import welch

    labels, fit = _labels(result), result.fit
    figure = _figure(len(labels))
    for k, (name, unit) in enumerate(labels):
        axes = figure.add_subplot(len(labels), 1, k + 1)
        for run in fit.runs:
            residual = np.where(run.good[:, k], run.forces[:, k] - fit.predicted(run)[:, k], 0.0)
            rate = 1.0 / float(np.median(np.diff(run.time)))
            frequency, power = welch(residual, fs=rate, nperseg=min(256, len(residual)))
            axes.semilogy(frequency[1:], np.sqrt(power[1:]), linewidth=0.8, label=run.recording.name)
        axes.set_ylabel(f"{name}\n[{unit}/Hz^0.5]", fontsize=8)
        axes.tick_params(labelsize=7)
    figure.axes[0].legend(loc="upper right", fontsize=6)
    figure.axes[-1].set_xlabel("frequency [Hz]", fontsize=8)
    return _svg(figure)


def _figure(rows: int) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(10, 1.6 * rows + 0.6), layout="constrained")


def _svg(figure: Figure) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
