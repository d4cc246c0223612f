from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import applications.report.registered  # noqa: F401 - which xarray loads by itself where limbsweep is installed
from applications.commands.cli import cli
from applications.report import accessor
from applications.report.data.recomputed import ComputedResults, results_of
from applications.report.data.results import Results
from applications.report.figures import case, designs
from pipeline.errors import InputError
from pipeline.execution.run import compute
from pipeline.sweep.model import Sweep
from pipeline.sweep.question.question import StudyQuestion
from tests.applications.report.large import large


@pytest.mark.parametrize("kind", case.KINDS)
def test_every_kind_has_ink(results: Results, kind: str, tmp_path: Path) -> None:
    from matplotlib.image import imread

    case.save(results, kind, tmp_path / "figure.png")
    pixels = imread(tmp_path / "figure.png")[..., :3]
    assert (pixels < 0.9).any(axis=-1).mean() > 0.004


@pytest.mark.parametrize("suffix", [".svg", ".pdf"])
def test_equal_results_give_equal_files(results: Results, suffix: str, tmp_path: Path) -> None:
    one, two = tmp_path / f"one{suffix}", tmp_path / f"two{suffix}"
    for path in (one, two):
        case.save(results, "front", path)
    assert one.read_bytes() == two.read_bytes()


def test_a_figure_shows_the_numbers_of_the_store(results: Results) -> None:
    lines = case.figure(results, "series").axes[0].get_lines()
    force = results.dataset["actuator_force"].isel(design=results.design, friction=results.friction, trajectory=0)
    np.testing.assert_array_equal([line.get_ydata() for line in lines], force.values.T)


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("series", "a time series of actuators"),
        ("friction", "a friction law that is not none"),
        ("mechanism", r"a sweep that can be read again \(--files\)"),
        ("workspace", "a robot with a platform"),
    ],
)
def test_what_is_missing_is_named(kind: str, what: str) -> None:
    with pytest.raises(InputError, match=f"{kind}: got results without it; expected {what}"):
        case.figure(ComputedResults(large(20)), kind)


@pytest.mark.parametrize(
    ("kind", "names", "what"),
    [
        ("front", ["condition"], "two metrics"),
        ("parallel", ["worst_status"], "a metric, and a parameter"),
        ("sensitivity", ["worst_status"], "a metric, and a parameter"),
        ("status", ["condition"], "a status of samples"),
    ],
)
def test_metrics_that_are_missing_are_named(kind: str, names: list[str], what: str) -> None:
    with pytest.raises(InputError, match=f"{kind}: got results without it; expected {what}"):
        case.figure(ComputedResults(large(20)[names]), kind)


def test_unknown_kinds_and_formats_are_refused(results: Results, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"KIND: got 'fronts'; expected a kind of figure. Did you mean 'front'\?"):
        case.figure(results, "fronts")
    with pytest.raises(InputError, match=r"ends in \.png, \.svg, \.pdf"):
        case.save(results, "front", tmp_path / "figure.bmp")
    assert not list(tmp_path.iterdir())


def test_the_command_names_every_kind() -> None:
    told = CliRunner().invoke(cli, ["figure", "--help"]).output
    assert all(kind in told for kind in case.KINDS)


def test_the_commands_write_files(store: Path, tmp_path: Path) -> None:
    pytest.importorskip("plotly", reason="no plotly; install limbsweep[report] to test pages")
    for arguments in (["report", str(store), "--design", "4"], ["figure", str(store), "front"]):
        name = "report.html" if arguments[0] == "report" else "front.pdf"
        done = CliRunner().invoke(cli, [*arguments, "--output", str(tmp_path / name)])
        assert (done.exit_code, done.output) == (0, f"wrote {tmp_path / name}\n")
        assert (tmp_path / name).stat().st_size > 5000
    assert "Design 4 (" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["report", "STORE", "--design", "99"], "--design: got 99; expected the number of one of the 16, from 0 to 15"),
        (
            ["report", "STORE", "--output", "missing/report.html"],
            "'missing/report.html', which cannot be written",
        ),
        (["report", "nowhere"], "nowhere"),
        (["figure", "STORE", "front", "--output", "front.doc"], "--output: got 'front.doc'"),
    ],
)
def test_misuse_is_one_line(
    store: Path, arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, [str(store) if each == "STORE" else each for each in arguments])
    assert not list(tmp_path.iterdir())
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_datasets_have_an_accessor(results: Results, tmp_path: Path) -> None:
    assert accessor.Limbsweep.__name__ == "Limbsweep"
    ours = results.dataset.isel(design=slice(4, 16)).limbsweep
    np.testing.assert_array_equal(ours.designs()["peak_force"], results.designs.column("peak_force").values[4:])
    drawn = ours.plot("front")
    assert drawn.axes
    assert drawn._repr_png_().startswith(b"\x89PNG")


def test_figures_need_no_plotly() -> None:
    import subprocess
    import sys

    blocked = "import sys; sys.modules['plotly'] = None"
    told = f"{blocked}; from applications.report.figures import case; print(len(case.KINDS))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"{len(case.KINDS)}\n", "")


def test_parallel_axes_mark_the_best_that_meets_the_conditions() -> None:
    text = """\
limbsweep: 1
robot: five_bar
design: {grid: {proximal_length: [0.48, 0.5, 0.52, 0.56], distal_length: [0.46, 0.5, 0.54]}}
trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}
time: {stop: 1, step: 0.1}
metrics: [peak_force, energy]
"""
    dataset = compute(Sweep.from_text(text))
    forces = dataset["peak_force"].max(["friction", "trajectory", "actuator"]).values
    limit = float(np.median(forces))
    question = StudyQuestion(objectives=("peak_force",), where=(f"peak_force > {limit!r}",))
    axes = designs.parallel(results_of(dataset, question=question)).axes[0]
    broken, met = axes.collections
    assert len(broken.get_segments()) == len(met.get_segments()) == 6
    np.testing.assert_allclose(np.sort(met.get_array()), np.sort(forces[forces > limit]))
    (bold,) = (line for line in axes.lines if line.get_linewidth() > 2.0)
    lengths = np.unique(dataset["proximal_length"].values)  # the axis of a parameter has all that was swept
    best = int(np.argmin(np.where(forces > limit, forces, np.inf)))
    height = (dataset["proximal_length"].values[best] - lengths[0]) / np.ptp(lengths)
    assert bold.get_ydata()[0] == pytest.approx(height)
    assert bold.get_ydata()[2] == 0.0  # the least force of those that meet the condition is the end of the axis
