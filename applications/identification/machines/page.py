"""The report of an identification from recordings: one HTML file with tables and curves, no scripts, no network."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from applications.identification.estimation.machines.machine_model import actuator_kinds
from applications.identification.estimation.machines.run import Run
from applications.identification.machines.identify import MachineIdentification
from robots.joint_kinds import JOINT_KINDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 68rem; padding: 0 1rem; color: #1b1b1b }
table { border-collapse: collapse; margin: 1rem 0 }
td, th { padding: .2rem .8rem; text-align: left; border-bottom: 1px solid #ddd }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
.warning { border-left: 4px solid #c60; padding: .3rem 1rem; background: #fff6ec }
figure { margin: 1rem 0 }
svg { width: 100%; height: auto }
"""
POINTS = 4000
"""Samples of a curve that are drawn."""


def save_page(result: MachineIdentification, path: Path) -> None:
    """Write the report as a new file. Raises FileExistsError."""
    text = page(result)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)


def page(result: MachineIdentification) -> str:
    """Return the text of the report."""
    title = escape(result.description.title)
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{title}</title><style>{STYLE}</style></head><body><h1>{title}</h1>{''.join(_parts(result))}</body></html>\n"
    )


def _parts(result: MachineIdentification) -> Iterator[str]:
    yield _table((), [(escape(name).replace("  ", "&emsp;"), escape(text)) for name, text in result.rows()])
    if result.warnings:
        yield "<h2>Warnings</h2>"
        yield "".join(f'<p class="warning">{escape(text)}</p>' for text in result.warnings)
    yield "<h2>Tests</h2>"
    yield "<p>On as many rows as are independent; the chance is that of such residuals if the answer were yes.</p>"
    tests = [(escape(text), escape(answer), _number(chance, 2)) for text, answer, chance in result.tests()]
    yield _table(("question", "answer", "chance"), tests, texts=2)
    for run in result.fit.runs:
        yield f"<h2>{escape(run.recording.name)}, {escape(run.recording.role)}</h2>"
        yield f"<figure>{_curves(result, run)}</figure>"
    yield "<h2>Friction over speed</h2>"
    yield (
        "<p>Forces of the recordings for training minus the forces for the bodies; the lines are the identified "
        "drives, friction and offset. Friction of a drive that moves several joints depends on all their speeds.</p>"
    )
    yield f"<figure>{_friction(result)}</figure>"
    yield "<h2>Spectra of residuals</h2>"
    yield f"<figure>{_spectra(result)}</figure>"
    yield "<h2>Base parameters</h2>"
    rows = [(escape(name), _number(value), _number(deviation, 2)) for name, value, deviation in result.parameters()]
    yield _table(("parameter", "value", "standard deviation"), rows, texts=1)
    yield "<h2>Parameters that bodies can have</h2>"
    yield "<p>Near the nominal robot where the recordings do not tell them; a deviation where they tell them alone.</p>"
    standard = [
        (escape(name), escape(unit), _number(value), _number(deviation, 2))
        for name, unit, value, deviation in result.standard_parameters()
    ]
    yield _table(("parameter", "unit", "value", "standard deviation"), standard, texts=2)


def _number(value: float, digits: int = 5) -> str:
    return f"{value:.{digits}g}" if np.isfinite(value) else ""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], texts: int | None = None) -> str:
    """Return a table whose first columns are texts, the others numbers; texts: how many, None: all."""

    def row(cells: Sequence[str], kind: str) -> str:
        marks = ["" if texts is None or k < texts else ' class="number"' for k in range(len(cells))]
        parts = (f"<{kind}{mark}>{cell}</{kind}>" for mark, cell in zip(marks, cells, strict=True))
        return f"<tr>{''.join(parts)}</tr>"

    top = f"<thead>{row(head, 'th')}</thead>" if head else ""
    return f"<table>{top}<tbody>{''.join(row(cells, 'td') for cells in rows)}</tbody></table>"


def _labels(result: MachineIdentification) -> list[tuple[str, str]]:
    """Return the name of each actuator, unit of its force."""
    robot = result.machine.robot
    units = [JOINT_KINDS[kind].units.force for kind in actuator_kinds(robot)]
    return list(zip(robot.mechanism.actuators, units, strict=True))


def _curves(result: MachineIdentification, run: Run) -> str:
    labels = _labels(result)
    figure, rows = _figure([f"{name}\n[{unit}]" for name, unit in labels], "time [s]")
    predicted = result.fit.predicted(run)
    samples = slice(None, None, max(1, len(run.time) // POINTS))
    for k, axes in enumerate(rows):
        axes.plot(run.time[samples], run.forces[samples, k], color="#888", linewidth=1.6, label="measured")
        shown = np.where(run.good[:, k], predicted[:, k], np.nan)
        axes.plot(run.time[samples], shown[samples], color="#c33", linewidth=0.8, label="predicted")
        residual = (run.forces[:, k] - shown)[samples]
        axes.plot(run.time[samples], residual, color="#36a", linewidth=0.6, label="measured - predicted")
    figure.legend(*rows[0].get_legend_handles_labels(), loc="outside upper right", fontsize=8, ncols=3, frameon=False)
    return _svg(figure)


def _friction(result: MachineIdentification) -> str:
    """Draw friction over speed: forces less all but friction and offset, beside the identified friction."""
    labels, fit = _labels(result), result.fit
    units = dict.fromkeys(JOINT_KINDS[kind].units.rate for kind in actuator_kinds(result.machine.robot))
    figure, rows = _figure([f"{name}\n[{unit}]" for name, unit in labels], f"speed [{' or '.join(units)}]", share=False)
    runs = [run for run in fit.runs if run.recording.role == "train"]
    mask = np.zeros(len(fit.columns))
    mask[result.machine.beside] = 1.0
    # base parameters whose own column is one of those; groupings of friction columns stay among them
    values = np.array([mask[k] for k in fit.base.independent]) * fit.all_values
    for k, axes in enumerate(rows):
        for number, run in enumerate(runs):
            friction = fit.base.reduced(run.matrix)[:, k] @ values
            good = run.good[:, k]
            residual = run.forces[:, k] - fit.predicted(run)[:, k] + friction
            speed = run.motion[1][:, k]
            measured, identified = ("measured", "identified") if not number else ("", "")
            axes.plot(speed[good], residual[good], ".", color="#888", markersize=2.5, label=measured)
            axes.plot(speed[good], friction[good], ".", color="#c33", markersize=1.5, label=identified)
    handles = rows[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper right", fontsize=8, ncols=2, frameon=False, markerscale=3)
    return _svg(figure)


def _spectra(result: MachineIdentification) -> str:
    from matplotlib.ticker import NullFormatter
    from scipy.signal import welch

    labels, fit = _labels(result), result.fit
    figure, rows = _figure([f"{name}\n[{unit}/Hz^0.5]" for name, unit in labels], "frequency [Hz]")
    for k, axes in enumerate(rows):
        for run in fit.runs:
            residual = np.where(run.good[:, k], run.forces[:, k] - fit.predicted(run)[:, k], 0.0)
            rate = 1.0 / float(np.median(np.diff(run.time)))
            frequency, power = welch(residual, fs=rate, nperseg=min(256, len(residual)))
            axes.semilogy(frequency[1:], np.sqrt(power[1:]), linewidth=0.8, label=run.recording.name)
        axes.yaxis.set_minor_formatter(NullFormatter())
    handles = rows[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper right", fontsize=8, ncols=3, frameon=False)
    return _svg(figure)


def _figure(labels: Sequence[str], below: str, share: bool = True) -> tuple[Figure, list[Axes]]:
    """Return a figure with one plot for each label under the other, and the label of the axis below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 1.5 * len(labels) + 0.9), layout="constrained")
    rows = list(figure.subplots(len(labels), 1, sharex=share, squeeze=False)[:, 0])
    for axes, label in zip(rows, labels, strict=True):
        axes.set_ylabel(label, fontsize=8)
        axes.tick_params(labelsize=7)
        axes.grid(color="#eee", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    rows[-1].set_xlabel(below, fontsize=8)
    return figure, rows


def _svg(figure: Figure) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
