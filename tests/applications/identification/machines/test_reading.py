"""Recordings as people have them lead to the signals of a clean one: units, torn rows, stamps, parts."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from applications.identification.estimation.machines.checks.series import check_signals
from applications.identification.estimation.machines.preparation import Signals
from applications.identification.machines.described import RecordingDescription
from applications.identification.machines.description import parse_description
from pipeline.errors import InputError
from robots import catalog
from tests.applications.identification.estimation.machines.synthetic import chain

ROBOT = catalog.build("planar_3r")
CLEAN = chain(ROBOT, duration=4.0)
TABLE = np.column_stack([CLEAN.time, CLEAN.position, CLEAN.force])
HEADER = "t,q1,q2,q3,f1,f2,f3"
DESCRIPTION = """
limbsweep: 1
robot: planar_3r
recordings: [{files: [run.csv]}]
time: {column: t}
position: {columns: [q1, q2, q3]}
force: {columns: [f1, f2, f3]}
preparation: {cutoff: 10, rest: 0}
"""


def lines(table: np.ndarray = TABLE, header: str = HEADER) -> list[str]:
    return [header, *(",".join(f"{x:.9g}" for x in row) for row in table)]


def described(folder: Path, text: str = DESCRIPTION, **files: list[str]) -> RecordingDescription:
    for name, content in files.items():
        (folder / f"{name}.csv").write_text("\n".join(content) + "\n")
    return parse_description(text, str(folder / "machine.yaml"))


def read(folder: Path, text: str = DESCRIPTION, **files: list[str]) -> Signals:
    (signals,) = described(folder, text, **files).signals()
    return signals


def same(signals: Signals, rows: np.ndarray | slice = slice(None)) -> None:
    np.testing.assert_allclose(signals.time, CLEAN.time[rows], atol=1e-7)
    np.testing.assert_allclose(signals.position, CLEAN.position[rows], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(signals.force, CLEAN.force[rows], rtol=1e-7, atol=1e-6)


def test_units_in_a_file_are_taken(tmp_path: Path) -> None:
    other = TABLE * [1e3, *np.rad2deg(np.ones(3)), 1e3, 1e3, 1e3]
    same(read(tmp_path, run=[HEADER, "ms,deg,deg,deg,N mm,N mm,N mm", *lines(other)[1:]]))
    named = DESCRIPTION.replace("[q1, q2, q3]", "['q1 [deg]', 'q2 [deg]', 'q3 [deg]']")
    header = HEADER.replace("q1,q2,q3", "q1 [deg],q2 [deg],q3 [deg]")
    same(read(tmp_path, named, run=lines(TABLE * [1, *np.rad2deg(np.ones(3)), 1, 1, 1], header)))


def test_names_without_their_units_are_found_and_texts_beside_them_are_not_read(tmp_path: Path) -> None:
    degrees = TABLE * [1, *np.rad2deg(np.ones(3)), 1, 1, 1]
    header = "t [s],q1 [deg],q2 [deg],q3 (deg),f1 (N m),f2,f3 [N m],mode"
    mixed = [header, *(f"{line},{'AUTO' if k else 'READY, or not'[:5]}" for k, line in enumerate(lines(degrees)[1:]))]
    same(read(tmp_path, run=mixed))
    text = DESCRIPTION.replace("[q1, q2, q3]", "[q1, q2, mode]")
    with pytest.raises(InputError, match=r"run.csv: got \d+ of \d+ rows are no rows of 8 numbers"):
        read(tmp_path, text, run=mixed)


def test_times_may_be_dates_or_count_nanoseconds(tmp_path: Path) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    dated = [f"{(start + timedelta(seconds=float(t))).isoformat(timespec='microseconds')},{line.split(',', 1)[1]}"
             for t, line in zip(TABLE[:, 0], lines()[1:], strict=True)]  # fmt: skip
    signals = read(tmp_path, run=[HEADER, *dated])
    np.testing.assert_allclose(signals.time - signals.time[0], CLEAN.time, atol=2e-6)
    counted = [f"{round(t * 1e9) + 10**18},{line.split(',', 1)[1]}"
               for t, line in zip(TABLE[:, 0], lines()[1:], strict=True)]  # fmt: skip
    signals = read(tmp_path, DESCRIPTION.replace("column: t", "column: t, unit: ns"), run=[HEADER, *counted])
    np.testing.assert_allclose(signals.time - signals.time[0], CLEAN.time, atol=2e-6)


@pytest.mark.parametrize(
    ("change", "units", "said"),
    [
        (("q3]", "q3], unit: rad"), "s,deg,deg,deg,-,-,-", "position in deg by the file and in rad by the description"),
        (("", ""), "s,deg,deg,rad,-,-,-", "columns of position in deg and rad; expected columns in one unit"),
        (("", ""), "s,-,-,-,A,A,A", r"force in A by the file; expected a gain with this unit. Add gain: .* N m/A"),
        (("", ""), "s,-,-,-,%,%,%", r"force in % by the file; expected a gain with this unit. Add gain: .* 100 %"),
        (("f3]", "f3], unit: A, gain: [2]"), "s,-,-,-,mA,mA,mA", "force in mA by the file and in A by the description"),
        (("f3]", "f3], unit: A, gain: [2]"), "s,-,-,-,N,N,N", "force in N by the file and in A by the description"),
        (("f3]", "f3], unit: N m"), "s,-,-,-,A,A,A", "force in A by the file and in N m by the description"),
        (("", ""), "s,deg/s,deg/s,deg/s,-,-,-", "position in deg/s by the file; expected a unit of rad or m"),
        (("{column: t}", "{column: t, unit: s}"), "ms,-,-,-,-,-,-", "time in ms by the file and in s by the descr"),
    ],
)
def test_units_that_do_not_agree_are_refused(tmp_path: Path, change: tuple[str, str], units: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(tmp_path, DESCRIPTION.replace(*change), run=[HEADER, units, *lines()[1:]])


@pytest.mark.parametrize(("unit", "factor"), [("A", 1.0), ("mA", 1e3), ("%", 100.0)])
def test_currents_and_shares_of_a_rated_force_have_a_gain(tmp_path: Path, unit: str, factor: float) -> None:
    halved = lines(TABLE * [1, 1, 1, 1, *np.full(3, 0.5 * factor)])
    by_file = DESCRIPTION.replace("[f1, f2, f3]", "[f1, f2, f3], gain: [2]")
    same(read(tmp_path, by_file, run=[HEADER, ",".join(["s", *["rad"] * 3, *[unit] * 3]), *halved[1:]]))
    same(read(tmp_path, by_file.replace("gain", f'unit: "{unit}", gain'), run=halved))


def test_units_may_be_spelt_as_german_programs_do(tmp_path: Path) -> None:
    degrees = TABLE * [1, *np.rad2deg(np.ones(3)), 1, 1, 1]
    text = [line.replace(",", ";").replace(".", ",") for line in lines(degrees)]
    same(read(tmp_path, run=[text[0], "s;°;°;°;Nm;Nm;Nm", *text[1:]]))


def test_torn_cut_and_repeated_rows_are_left_out_and_told(tmp_path: Path) -> None:
    content = lines()
    content[101] = content[101][:20]
    content.insert(202, content[201])
    (tmp_path / "run.csv").write_text("\n".join([*content, content[-1][:10]]))
    signals = read(tmp_path)
    same(signals, np.delete(np.arange(len(TABLE)), 100))
    assert [note.split(";")[0] for note in signals.notes] == [
        "run.csv: 1 of 2002 rows are no rows of 7 numbers, the first is row 101 below the header",
        "run.csv: the last row is cut off",
        "2 of 2001 rows have no time of their own among their neighbours",
    ]
    findings = list(check_signals(ROBOT, signals))
    assert [finding.kind for finding in findings] == ["rows"] * 3
    assert not any(finding.is_error for finding in findings)


def test_torn_rows_keep_the_time_of_a_rate(tmp_path: Path) -> None:
    content = lines()
    content[101] = content[101][:20]
    signals = read(tmp_path, DESCRIPTION.replace("{column: t}", "{rate: 500}"), run=content)
    np.testing.assert_allclose(signals.time, CLEAN.time, atol=1e-9)
    assert np.isnan(signals.position[100]).all()
    findings = list(check_signals(ROBOT, signals))
    assert {(finding.kind, finding.is_error) for finding in findings} == {("rows", False), ("missing", False)}


def test_files_that_follow_each_other_are_one_recording(tmp_path: Path) -> None:
    content = lines()
    parts = {"one": content[:801], "two": [HEADER, *content[801:1200]], "three": [HEADER, *content[1200:]]}
    text = DESCRIPTION.replace("[run.csv]", "[one.csv, two.csv, three.csv], consecutive: true")
    same(read(tmp_path, text, **parts))
    with pytest.raises(InputError, match="column 'q1' of position in 3 places; expected one of them"):
        read(tmp_path, text.replace(", consecutive: true", ""), **parts)
    parts["two"].insert(1, "ms,-,-,-,-,-,-")
    with pytest.raises(InputError, match="other units than the first file"):
        read(tmp_path, text, **parts)


def test_a_file_that_lost_its_last_row_beside_another(tmp_path: Path) -> None:
    positions = lines(TABLE[:, :4], "t,q1,q2,q3")
    forces = lines(TABLE[:-1, 4:], "f1,f2,f3")
    text = DESCRIPTION.replace("[run.csv]", "[p.csv, f.csv]")
    signals = read(tmp_path, text, p=positions, f=forces)
    same(signals, slice(-1))
    assert signals.notes == ("position, time have a row more than the others; it is left out",)
    with pytest.raises(InputError, match="2000 samples of position, 1990 samples of force"):
        read(tmp_path, text, p=positions, f=forces[:-9])


def test_a_preparation_of_a_recording_goes_before_that_of_all(tmp_path: Path) -> None:
    own = DESCRIPTION.replace(
        "[run.csv]}", "[run.csv], preparation: {stop: 2, cutoff: 5}}, {files: [run.csv], name: b}"
    )
    first, second = described(tmp_path, own, run=lines()).preparations
    assert (first.cutoff, first.stop, first.rest) == (5.0, 2.0, 0.0)
    assert (second.cutoff, second.stop, second.rest) == (10.0, np.inf, 0.0)
    text = own.replace("stop: 2", "delay: estimate")
    with pytest.raises(InputError, match=r"recordings\[0\].preparation.delay: got 'estimate'; expected a number"):
        described(tmp_path, text, run=lines())
    again = parse_description(own, str(tmp_path / "m.yaml"), files=[("run.csv", "train"), ("other.csv", "train")])
    assert [preparation.cutoff for preparation in again.preparations] == [5.0, 10.0]


def test_keys_are_told_before_anything_that_computes_is_imported(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(DESCRIPTION.replace("rest: 0", "rst: 0"))
    program = (
        "import sys\nfrom click.testing import CliRunner\nfrom applications.commands.cli import cli\n"
        "done = CliRunner().invoke(cli, ['identify', 'm.yaml'])\n"
        "assert done.exit_code == 2 and \"Did you mean 'rest'?\" in done.output, done.output\n"
        "assert not {'scipy.signal', 'scipy.optimize', 'zarr', 'tasks.kernels', 'llvmlite'} & sys.modules.keys()\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[4])}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, check=True)


def test_windows_of_one_file_have_names_and_results_of_their_own(tmp_path: Path) -> None:
    windows = "[{files: [run.csv], preparation: {stop: 3}}, {files: [run.csv], role: test, preparation: {start: 3}}]"
    found = described(tmp_path, DESCRIPTION.replace("[{files: [run.csv]}]", windows), run=lines())
    assert [signals.name for signals in found.signals()] == ["run.csv", "run.csv (2)"]
    assert [options.start for options in found.preparations] == [0.0, 3.0]
    stored = parse_description(
        DESCRIPTION.replace("[{files: [run.csv]}]", windows),
        "description",
        files=[("run.csv", "train"), ("run.csv (2)", "test")],
    )
    assert [options.start for options in stored.preparations] == [0.0, 3.0]
