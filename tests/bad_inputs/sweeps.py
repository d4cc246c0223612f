# ruff: noqa: E501 - a row of a table is a line
"""Sections C and D: the sweep file, and robots as far as their parameters are set in one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from storage.places.location import Room
from tests.bad_inputs.rows import GOOD, SYNCHRONOUS, Row, added, changed, edit, points

GRID = GOOD[GOOD.index("  grid:") : GOOD.index("friction:")]
SAMPLE = "  sample: {method: sobol, count: 10, seed: 3, parameters: {upper_arm: {low: 0.2, high: 0.3}}}\n"
WAYPOINTS = edit("kind: circle, phase: 1", "kind: waypoints, file: p.csv")


def sampled(name: str, old: str, new: str, *said: str) -> Row:
    assert old in SAMPLE
    return changed(name, GRID, SAMPLE.replace(old, new), *said)


def branch(name: str, text: str, *said: str) -> Row:
    """A sweep whose robot is asked for on another branch."""
    return changed(name, "robot: delta_3rr2rrr\n", f"robot: delta_3rr2rrr\nbranch: {text}\n", *said)


def _link_out(patch: pytest.MonkeyPatch) -> None:
    Path("p.csv").symlink_to("/etc/passwd")


def _little_room(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("storage.places.local.LocalFolder.room", lambda place: Room(1000, 3))


def _few_files(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("pipeline.plan.model.MAX_FILES", 10)


ROWS: tuple[Row, ...] = (
    changed("C01", "time: {stop: 1.0, step", "time: {stop: 1.0, stepp", "16:19 time.stepp: got an unknown key", "'step'?"),
    changed("C01 deep", "stop: 0.3", "stpo: 0.3", "7:29 design.grid.upper_arm.stpo", "Did you mean 'stop'?"),
    branch("C96 a branch of nothing", "{}", "branch: got nothing; expected joints, a pose of the platform, or another mode"),
    branch("C97 an unknown limb", '{joints: {limb_9: {"1": 1}}}', "branch.joints.limb_9: got 'limb_9'; expected a limb of the robot. Did you mean"),
    branch("C98 an unknown joint", '{joints: {limb1: {"11": 1}}}', "branch.joints.limb1.11: got '11'; expected a joint of its tree"),
    branch("C99 a joint in words", '{joints: {limb1: {"1": up}}}', "branch.joints.limb1.1: got 'up'; expected a number"),
    branch("C100 a pose out of reach", "{position: [0, 0, -5]}", "stays", "expected positions near to where its loops close"),
    branch("C101 two coordinates", "{position: [0, 1]}", "branch.position: got an array of shape (2,); expected finite numbers of shape (3,)"),
    branch("C102 a turn that it cannot make", "{rotation: [[0, -1, 0], [1, 0, 0], [0, 0, 1]]}", "branch.rotation: got 1.57 along wz; expected a pose that the platform can move to"),
    branch("C103 no rotation", "{rotation: [[1, 1, 0], [0, 1, 0], [0, 0, 1]]}", "branch.rotation: got a matrix that is no rotation"),
    branch("C104 an unknown key", "{joint: {}}", "branch.joint: got an unknown key", "Did you mean 'joints'?"),
    branch("C105 a branch in words", "elbow up", "branch: got 'elbow up'"),
    changed("C02", "robot: delta_3rr2rrr\n", "", "got no key 'robot'; expected 'robot', which is required"),
    changed("C02 trajectories", GOOD[GOOD.index("trajectories:") : GOOD.index("time:")], "", "got no key 'trajectories'"),
    changed("C03", "limbsweep: 1\n", "", "got no key 'limbsweep'"),
    changed("C03 newer", "limbsweep: 1\n", "limbsweep: 2\n", "1:12 limbsweep: got 2; expected version 1 of the format"),
    changed("C04", "stop: 0.3, ", "", "design.grid.upper_arm: got no stop; expected start, stop and num"),
    changed("C05", "start: 0.2, stop: 0.3, num: 3", "start: 0.3, stop: 0.2, step: 0.05", "step: got 0.05; expected num"),
    changed("C06", "num: 3", "step: 0", "upper_arm.step: got 0.0; expected num, the number of values"),
    changed("C07", "num: 3", "num: -3", "num: got -3; expected a number of at least 1"),
    changed("C07 zero", "num: 3", "num: 0", "num: got 0; expected a number of at least 1"),
    changed("C07 fraction", "num: 3", "num: 1.5", "num: got 1.5; expected an integer"),
    changed("C07 bool", "num: 3", "num: true", "num: got true; expected an integer"),
    changed("C08", "[150, 200]", "[]", "base_radius.values: got []; expected at least 1 entry"),
    changed("C09", "num: 3", "num: 1000000000000", "1.32e+14 samples", "at most 1e+13"),
    changed("C10 one", "num: 3", f"num: {10**30}", "num: got 1000000000000000000000000000000; expected a number of at most 9.0072e+15"),
    changed("C10", GRID, "  grid: {" + ", ".join(
        f"{name}: {{start: 0.1, stop: 0.2, num: 100000}}"
        for name in ("upper_arm", "base_radius", "platform_radius", "rod_length", "link_length")) + "}\n",
        "6.6e+26 samples (10000000000000000000000000 along design", "at most 1e+13"),
    changed("C11", GRID, GRID + SAMPLE, "design: got upper_arm in several places; expected a parameter once"),
    changed("C11 fixed", "density: 2700", "upper_arm: 0.2", "a swept parameter that is also fixed at 0.2"),
    changed("C11 derived", GRID, GRID + "  derive: {upper_arm: 1}\n", "design.derive.upper_arm: got 1; expected text"),
    changed("C12", "upper_arm:", "uper_arm:", "7:5 design.grid.uper_arm: got an unknown parameter", "'upper_arm'?"),
    changed("C12 all", "upper_arm:", "zzz:", "Known: base_radius, platform_radius, upper_arm"),
    changed("C13", "unit: mm", "unit: degres", "base_radius.unit: got 'degres'; expected a known unit"),
    changed("C13 other", "unit: mm", "unit: deg", "got 'deg'; expected a unit of [m]", "Known: m, dm, cm, mm, um."),
    changed("C14", "phase: 1", "phase: 200", "turn.phase: got 200; expected a number in", "If these are degrees, write 3.49066."),
    changed("C15", "[150, 200]", "[150, 20 cm]", "base_radius.values[1]: got '20 cm'; expected a number"),
    sampled("C16", "seed: 3", "seed: -1", "sample.seed: got -1; expected a number of at least 0"),
    sampled("C16 float", "seed: 3", "seed: 1.5", "sample.seed: got 1.5; expected an integer"),
    sampled("C16 text", "seed: 3", "seed: x", "sample.seed: got 'x'; expected an integer"),
    sampled("C16 huge", "seed: 3", f"seed: {2**128 + 1}", "sample.seed", "at most 3.40282e+38"),
    added("C16 file", "seed: -1\n", "seed: got -1; expected a number of at least 0"),
    sampled("C17", "seed: 3, ", "", "design.sample: got no seed", "Add for instance seed: 1."),
    sampled("C18", "count: 10", "count: 0", "sample.count: got 0; expected a number of at least 1"),
    sampled("C19", "low: 0.2", "low: 0.4", "upper_arm.low: got 0.4; expected at most high, 0.3"),
    sampled("C20", "sobol", "normal", "sample.method: got 'normal'; expected one of 'latin_hypercube', 'sobol'"),
    changed("C21", "list: {coulomb: [0, 1, 2]}\n  parameters: {viscous: 0.01}",
        f"list: {{coulomb: {list(range(10))}, viscous: {{start: 0, stop: 1, num: 11}}}}",
        "friction.list: got coulomb with 10, viscous with 11; expected lists of equal length"),
    changed("C22", "start: 0.2, stop: 0.3, num: 3", "start: 1, stop: 1.3, step: 0.1", "step: got 0.1; expected num"),
    points("C23", "t,x,y,z\n0,0,0,0\n1,0,0,0\n0.5,0,0,0\n", "p.csv:4:1 t: got 0.5; expected a time later than 1.0"),
    points("C23 twice", "t,x,y,z\n0,0,0,0\n1,0,0,0\n1,0,0,0\n", "p.csv:4:1 t: got 1.0; expected a time later than 1.0"),
    points("C23 nan", "t,x,y,z\n0,0,0,0\nnan,0,0,0\n", "p.csv:3:1 t: got 'nan'; expected a finite number"),
    points("C24", "t,x,y,z\n0,0,0,0\n", "p.csv: got 1 points; expected at least 2 points"),
    changed("C25 direction", "phase: 1", "normal: [0, 0, 0]", "turn.normal: got [0, 0, 0]; expected a direction"),
    changed("C28", "[0.1, 0.2, 0]", "[0.1, 0.2]", "line.amplitude: got [0.1, 0.2]; expected a list of 3 numbers [m]"),
    changed("C29", "[0, 0, -9.81]", "9.81", "17:10 gravity: got 9.81; expected a list"),
    changed("C29 up", "-9.81", "9.81", "warning: sweep.yaml:17:10 gravity: got gravity that points up", status=0),
    changed("C30", "step: 0.1", "step: 0", "time.step: got 0; expected a number of at least 1e-09"),
    changed("C30 negative", "step: 0.1", "step: -0.1", "time.step: got -0.1; expected a number of at least 1e-09"),
    changed("C30 long", "step: 0.1", "step: 2", "time.step: got 2.0; expected at most stop, 1.0"),
    added("C31", "tolerance: 0\n", "20:1 tolerance: got an unknown key"),
    added("C32", "max_iterations: 0\n", "20:1 max_iterations: got an unknown key"),
    changed("C33", "[actuator_force]", "[actuator_forc]", "outputs[0]: got 'actuator_forc'", "'actuator_force'?"),
    changed("C33 twice", "[peak_force]", "[peak_force, peak_force]", "metrics[1]: got peak_force again"),
    added("C34", "chunks: {time: 0}\n", "20:1 chunks: got an unknown key"),
    added("C35", "shards: {time: 7}\n", "20:1 shards: got an unknown key"),
    changed("C36", "step: 0.1", "samples: 9000000", "for one design; expected at most 256 MiB", "a trajectory is never cut"),
    Row("C37", ("out.zarr: got 1000 B of free space; expected at least", "out.zarr: got room for 3 files; expected at least"),
        files=SYNCHRONOUS, command=("run", "sweep.yaml", "--store", "out.zarr", "--cluster", "c.yaml"), prepare=_little_room),
    Row("C38", ("files; expected at most 10. Take fewer outputs",), prepare=_few_files),
    added("C39", "dtype: complex\n", "20:1 dtype: got an unknown key"),
    added("C40", "codec: none\n", "20:1 codec: got an unknown key"),
    changed("C41", "num: 3", "num: __import__('os').system('id')", "num: got \"__import__('os').system('id')\"; expected an integer"),
    changed("C41 where", GRID, GRID + "  where: __import__('os').system('id') > 0\n",
        "9:21 design.where: got \"'\" at character 12; expected names, numbers, + - * / **, comparisons"),
    changed("C41 attribute", GRID, GRID + "  where: upper_arm.real > 0\n", "got '.' at character 10", "no program"),
    changed("C41 derive", GRID, GRID + '  derive: {rod_length: "open(1)"}\n', "got the function 'open' at character 1"),
    changed("C42", "kind: circle, phase: 1", "kind: waypoints, file: ../p.csv", "got '../p.csv'; expected a file in the folder"),
    changed("C42 absolute", "kind: circle, phase: 1", "kind: waypoints, file: /etc/passwd", "a file in the folder"),
    Row("C42 link", ("turn.file: got 'p.csv'; expected a file in the folder",), WAYPOINTS, prepare=_link_out),
    points("C43", "t,x,y\n0,1,2\n1,1,2\n", "p.csv:1:1: got 't,x,y'; expected the header t,x,y,z"),
    points("C43 row", "t,x,y,z\n0,1,2\n1,1,2,3\n", "p.csv:2:1: got 3 cells; expected 4 cells"),
    points("C43 empty", "t,x,y,z\n0,,2,3\n1,1,1,1\n", "p.csv:2:2 x: got an empty cell; expected a finite number"),
    points("C43 text", "t,x,y,z\n0,0,#N/A,0\n1,1,1,1\n", "p.csv:2:3 y: got '#N/A'; expected a finite number"),
    points("C43 semicolons", "t;x;y;z\n0;0;0;0\n", "the header t,x,y,z. Use commas, not semicolons."),
    points("C45", b"\x93NUMPY\x01\x00v\x00{'descr': '|O'}", "p.csv: got binary data that look like NumPy; expected text"),
    changed("C46", GRID, GRID + "  where: upper_arm > 1\n", "design.where: got conditions that none of 6 sets meets"),
    # robots, as far as their parameters are given in a sweep
    changed("D01", "density: 2700", "density: -1", "4:23 parameters.density: got -1.0; expected a number in [1, 100000]"),
    changed("D03", "density: 2700", "density: abc", "parameters.density: got 'abc'; expected a number"),
    changed("D04", "density: 2700", "density: '1,5'", "Use a decimal point, not a comma."),
    changed("D28", ", unit: mm", "", "base_radius.values[0]: got 150.0", "If these are millimetres, add unit: mm."),
    changed("D30", "viscous: 0.01", "viscous: -0.01", "friction.parameters.viscous: got -0.01; expected a number of at least 0"),
    Row("D32", ("parameters.gear_ratio: got 0.0; expected a number in [0.0001, 10000]",),
        edit("robot: delta_3rr2rrr\nparameters: {density: 2700}", "robot: delta_rl5_1450_motors\nparameters: {gear_ratio: 0}")),
    changed("D35", "density: 2700", "payload_mass: 2, payload_body: 1", "parameters.payload_body: got an unknown parameter"),
    changed("D35 elsewhere", "density: 2700", "payload_mass: 2, payload_centre_x: 1e3", "payload_centre_x: got 1000.0; expected a number in [-100, 100]"),
    changed("D35 negative", "density: 2700", "payload_mass: -2", "payload_mass: got -2.0; expected a number in [0, 1e+06]"),
    changed("D34", "density: 2700", "densty: 1", "parameters.densty: got an unknown parameter", "Did you mean 'density'?"),
)  # fmt: skip


def _huge_points(patch: pytest.MonkeyPatch) -> None:
    with open("p.csv", "wb") as file:
        os.truncate(file.fileno(), 1 << 40)


ROWS += (
    Row("C44", ("p.csv: got more than 64 MiB; expected a file of at most 64 MiB",), WAYPOINTS, prepare=_huge_points),
)
