"""Recordings of machines that are not what their description says: which file and actuator `identify` names."""

from __future__ import annotations

import io
from functools import cache

import numpy as np

from robots import catalog
from tests.applications.identification.estimation.machines.synthetic import chain
from tests.bad_inputs.rows import Row

COLUMNS = "t,q1,q2,q3,f1,f2,f3"
DESCRIPTION = """\
limbsweep: 1
robot: planar_3r
recordings: [{files: [run.csv]}]
time: {column: t}
position: {columns: [q1, q2, q3]}
force: {columns: [f1, f2, f3]}
preparation: {cutoff: 10, rest: 0}
"""
COMMAND = ("identify", "arm.yaml", "--output", "found.csv", "--robot", "found.urdf")


@cache
def recorded() -> np.ndarray:
    """Time, positions and forces of a planar arm, in the order of COLUMNS."""
    recording = chain(catalog.build("planar_3r"), duration=8.0)
    return np.column_stack([recording.time, recording.position, recording.force])


def table(values: np.ndarray) -> str:
    """The text of a CSV file."""
    text = io.StringIO()
    np.savetxt(text, values, delimiter=",", header=COLUMNS, comments="", fmt="%.9g")
    return text.getvalue()


def spoilt(column: int, factor: float = 1.0, sample: int = 0, value: float = 0.0, count: int = 1) -> str:
    """The recording with a column times a factor, or some of its samples with another value."""
    values = recorded().copy()
    values[:, column] *= factor
    if sample:
        values[sample : sample + count, column] = value
    return table(values)


def stuck(column: int, first: int, last: int) -> str:
    """The recording with a column that stands still from one sample to another."""
    values = recorded().copy()
    values[first:last, column] = values[first, column]
    return table(values)


def wrapped() -> np.ndarray:
    """The recording with larger motions, all angles between -pi and pi."""
    values = recorded().copy()
    values[:, 1:4] = (9.0 * values[:, 1:4] + np.pi) % (2.0 * np.pi) - np.pi
    return values


def wrong(name: str, text: str, *said: str, description: str = DESCRIPTION) -> Row:
    """A recording and its description beside a sweep."""
    return Row(name, said, files={"run.csv": text, "arm.yaml": description}, command=COMMAND)


def described(name: str, old: str, new: str, *said: str) -> Row:
    """A description that is good but for one text, beside two samples."""
    assert old in DESCRIPTION, old
    return wrong(name, f"{COLUMNS}\n0,0,0,0,0,0,0\n1,0,0,0,0,0,0\n", *said, description=DESCRIPTION.replace(old, new))


ROWS: tuple[Row, ...] = (
    wrong("R01 sign", spoilt(5, -1.0), "run.csv joint_2: got force and motion have opposite signs", "accept: [sign]"),
    wrong(
        "R02 exchanged columns",
        table(recorded()[:, [0, 1, 2, 3, 4, 6, 5]]),
        "run.csv joint_2: got",
        "exchanged with joint_3",
        "accept: [",
    ),
    wrong(
        "R03 degrees",
        table(recorded() * [1.0, *[180.0 / np.pi] * 3, 1.0, 1.0, 1.0]),
        "run.csv joint_1: got",
        "several turns; expected radians; are these degrees?",
    ),
    wrong(
        "R04 no number",
        spoilt(4, sample=40, value=np.nan, count=200),
        "run.csv joint_1: got force has 200 samples that are no numbers",
        "accept: [missing]",
    ),
    wrong(
        "R04a a sensor that stands still",
        stuck(2, 2000, 2200),
        "run.csv joint_2: got position stands still for",
        "accept: [stuck]",
    ),
    wrong(
        "R04b beyond limits",
        table(recorded()),
        "run.csv joint_2: got position from",
        "expected -0.01 to 0.01, the limits; look at unit, sign, gear and zero",
        "accept: [limits]",
        description=f"{DESCRIPTION}limits: {{joint_2: [-0.01, 0.01]}}\n",
    ),
    wrong(
        "R04c time in milliseconds",
        spoilt(0, 1e3),
        "run.csv: got 0.5 samples a second",
        "expected 10 to 100000; look at the unit of time",
        "accept: [time]",
    ),
    wrong(
        "R04d a motor without its gear",
        spoilt(5, 0.01),
        "run.csv joint_2: got forces over those for the robot's own inertia",
        "expected about 1; look at unit, gain and gear",
        "accept: [scale]",
    ),
    wrong(
        "R04e a recording at rest",
        table(recorded() * [1.0, *[0.0] * 3, 1.0, 1.0, 1.0]),
        "run.csv: got nothing moves",
        "expected a recording of a motion",
        "accept: [still]",
    ),
    wrong(
        "R04f angles that are not unwrapped",
        table(wrapped()),
        "run.csv joint_1: got position jumps by",
        "whole turns; expected angles that go on; unwrap them",
        "accept: [wrapped]",
    ),
    wrong("R05 time that goes back", spoilt(0, sample=9), "run.csv", "time does not increase"),
    wrong("R06 two columns of a name", f"{COLUMNS.replace('q3', 'q2')}\n0,0,0,0,0,0,0\n", "two columns 'q2'"),
    wrong("R07 an empty file", "", "run.csv", "got an empty file"),
    described("R08 a column that is not there", "q3]", "q4]", "got no column 'q4' for position", "It has t, q1"),
    described("R09 columns that are too few", "[f1, f2, f3]", "[f1, f2]", "got 2 columns of force; expected 3"),
    described("R10 currents without gains", "f3]}", "f3], unit: A}", "force.unit: got 'A'; expected a gain"),
    described("R11 a file that is not there", "run.csv", "walk.csv", "recordings[0].files[0]: got 'walk.csv'"),
    described("R12 another estimator", "rest: 0}", "rest: 0}\nestimate: {method: weigthed}", "got 'weigthed'"),
    Row("R13 a recording alone", ("run.csv: got a file of signals alone", "expected a recording description"),
        files={"run.csv": "t,q\n0,1\n"}, command=("identify", "run.csv")),
    Row("R14 files without columns", ("--columns: got none; expected",), files={"run.csv": "t,q\n0,1\n"},
        command=("identify", "planar_3r", "run.csv")),
)  # fmt: skip
