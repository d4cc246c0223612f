"""Warnings before a run about failures in it: motions out of reach, and first sweeps that are made to fit."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from pipeline.execution.trial import trial
from pipeline.sweep.model import Sweep
from tests.pipeline.robot_files.test_reader import FIVE_BAR

SWEEP = """\
limbsweep: 1
robot: five_bar
design: {grid: {distal_length: {start: LEAST, stop: 0.5, num: 5}}}
trajectories:
  near: {kind: circle, radius: 0.01, normal: [0, 1, 0]}
  far: {kind: circle, radius: RADIUS, normal: [0, 1, 0]}
time: {stop: 1.0, samples: 101}
metrics: [peak_force]
"""


def sweep(least: float, radius: float) -> str:
    return SWEEP.replace("LEAST", str(least)).replace("RADIUS", str(radius))


def test_the_ends_of_motions_and_of_designs_are_tried() -> None:
    assert trial(Sweep.from_text(sweep(0.42, 0.05))).result.failed == 0
    far = trial(Sweep.from_text(sweep(0.42, 3.0)))
    assert (far.result.failed, far.result.samples) == (5 * 101, 2 * 5 * 101)
    short = trial(Sweep.from_text(sweep(0.05, 0.05)))
    assert 0 < short.result.failed < short.result.samples


def test_designs_at_the_ends_of_each_parameter_are_among_many() -> None:
    text = sweep(0.42, 0.05).replace("num: 5}", "num: 40}, proximal_length: {start: 0.5, stop: 0.05, num: 40}")
    tried = trial(Sweep.from_text(text))
    assert tried.designs == 12
    assert any(case[0] % 40 == 39 for status in tried.result.statuses for case in status.first)


def test_what_cannot_be_made_is_told() -> None:
    parsed = Sweep.from_text(sweep(0.42, 3.0))
    (told,) = map(str, trial(parsed).problems("s.yaml", parsed))
    assert "s.yaml trajectories.far: got 505 of 1,010 samples that were tried with NOT_REACHABLE" in told
    assert "expected a motion that the robot can make. " in told


@pytest.mark.parametrize(
    ("least", "radius", "said"),
    [
        (0.42, 0.05, ""),
        (0.42, 3.0, "warning: five_bar: tried 5 designs on 2 trajectories: 505 of 1,010 samples failed (50 %)"),
        (0.05, 0.05, "warning: five_bar: tried 5 designs on 2 trajectories: 202 of 1,010 samples failed (20 %)"),
    ],
)
def test_check_warns_of_the_same_and_refuses_nothing(
    least: float, radius: float, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.yaml").write_text(sweep(least, radius))
    result = CliRunner().invoke(cli, ["check", "s.yaml"])
    assert result.exit_code == 0, result.output
    assert said in result.stderr
    assert ("samples failed" in result.stderr) == bool(said)


def test_a_first_sweep_is_made_to_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    small = FIVE_BAR
    for name, value in (("0.53", "0.0053"), ("0.4374", "0.004374"), ("0.15", "0.0015"), ("0.60", "0.006")):
        small = small.replace(f"default: {name}", f"default: {value}")
    Path("small.yaml").write_text(small)
    result = CliRunner().invoke(cli, ["new", "small.yaml"])
    assert result.exit_code == 0, result.output
    radius = float(Path("sweep.yaml").read_text().partition("radius: ")[2].partition(",")[0])
    assert 0.0001 < radius < 0.006
    checked = CliRunner().invoke(cli, ["check", "sweep.yaml"])
    assert checked.exit_code == 0, checked.output
    assert "samples failed" not in checked.stderr, "what `new` writes has no sample that `check` warns of"
