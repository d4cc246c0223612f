# ruff: noqa: E501 - a row of a table is a line
"""Section I: numbers of a sweep file that no machine has, or that say the same twice."""

from __future__ import annotations

from tests.bad_inputs.rows import GOOD, Row, edit

SWEPT = "start: 0.2, stop: 0.3, num: 3"
SAMPLE = "  sample: {method: sobol, count: 10, seed: 3, parameters: {upper_arm: {low: 0.2, high: 0.3}}}\n"
GRID = GOOD[GOOD.index("  grid:") : GOOD.index("friction:")]
LAW = "law: coulomb_viscous\n  list: {coulomb: [0, 1, 2]}\n  parameters: {viscous: 0.01}"
TURN = "turn: {kind: circle, phase: 1}"
LINE = "line: {kind: line_sine, amplitude: [0.1, 0.2, 0], period: 10}"
POINTS = "turn: {kind: waypoints, file: p.csv}"
BIG = ("1e300", "-1e300", "1e308", "1e31")


def _rows(key: str, old: str, new: str, *values: str, said: str = "") -> list[Row]:
    """A text of the good sweep with values in place of X, each of which is refused at a key."""
    return [Row(f"I {key} {value}", (key, said or "expected"), edit(old, new.replace("X", value))) for value in values]


def _parameters(robot: str, *names: str) -> list[Row]:
    rows = []
    for name in names:
        for value in ("1e300", "-1e300"):
            text = edit(
                "robot: delta_3rr2rrr\nparameters: {density: 2700}", f"robot: {robot}\nparameters: {{{name}: {value}}}"
            )
            rows.append(Row(f"I {robot} {name} {value}", (f"parameters.{name}: got", "expected a number"), text))
    return rows


def _points(name: str, text: str, *said: str) -> Row:
    return Row(f"I points {name}", said, edit(TURN, POINTS), {"p.csv": text})


def _friction(law: str, *names: str) -> list[Row]:
    rows = []
    for name in names:
        for value in ("1e305", "-1e305"):
            text = edit(LAW, f"law: {law}\n  parameters: {{{name}: {value}}}")
            rows.append(Row(f"I {law} {name} {value}", (f"friction.parameters.{name}: got", "expected a"), text))
    return rows


def _sampled(name: str, old: str, new: str, *said: str) -> Row:
    assert old in SAMPLE
    return Row(f"I {name}", said, edit(GRID, SAMPLE.replace(old, new)))


def _motion(kind: str, key: str, *values: str) -> list[Row]:
    rows = []
    for value in values:
        section = f"turn: {{kind: {kind}, {key}: {value}}}"
        rows.append(Row(f"I {kind} {key} {value}", (f"trajectories.turn.{key}", "expected"), edit(TURN, section)))
    return rows


VECTORS = ("[1e308, 1e308, 1e308]", "[0, -1e300, 0]", "[0, 0, 1e13]")
ROWS = (
    *_rows("gravity[2]", "-9.81", "X", *BIG, "-1e7"),
    *_rows("gravity[0]", "[0, 0, -9.81]", "[X, 0, 0]", *BIG),
    *_rows("time.stop", "stop: 1.0", "stop: X", "1e300", "1e10", "-1e300", "1e-300", "0", "1e-10"),
    *_rows("time.step", "step: 0.1", "step: X", "1e300", "1e-300", "-1e300", "1e-12"),
    *_rows("time.samples", "step: 0.1", "samples: X", "1", "-1", f"{10**30}", "0"),
    *_rows("time", "step: 0.1", "samples: X", "100000000", f"{2**53}", said="points of time"),
    *_rows("design.grid.upper_arm.start", "start: 0.2", "start: X", *BIG, "1e-300", "-0.2"),
    *_rows("design.grid.upper_arm.stop", "stop: 0.3", "stop: X", *BIG, "1e-300"),
    *_rows("design.grid.upper_arm.num", "num: 3", "num: X", f"{10**16}", f"{10**31}", "-1", f"{-10**31}"),
    *_rows("design.grid.upper_arm.num", SWEPT, "start: X, stop: 0.3, num: 1", "0.2", "0.25", said="at least 2 numbers"),
    *_rows("design.grid.upper_arm", SWEPT, "X", "start: 0.2, stop: 0.2, num: 3", "start: 0.2, stop: 0.2000000000000001, num: 99",
        said="expected values that differ"),
    *_rows("design.grid.base_radius", "[150, 200]", "X", "[150, 150]", "[150, 200, 150.0]", "[200, 150, 160, 160]",
        said="twice; expected values that differ"),
    *_rows("design.grid.base_radius.values[0]", "[150, 200]", "[X, 200]", *BIG, "-150", "0", "1e-300"),
    *_rows("friction.list", "[0, 1, 2]", "X", "[0, 1, 1]", "[1, 1]", "[0, -0.0]", said="expected rows that differ"),
    *_rows("friction.list.coulomb[1]", "[0, 1, 2]", "[0, X]", *BIG, "-1", "1e13"),
    *_rows("density", "density: 2700", "density: X", *BIG, "0", "1e-300", "-2700"),
    _sampled("sample low is high", "low: 0.2", "low: 0.3", "upper_arm.low: got 0.3; expected less than high, 0.3"),
    _sampled("sample low above", "low: 0.2", "low: 0.31", "upper_arm.low: got 0.31; expected at most high, 0.3"),
    *(_sampled(f"sample low {x}", "low: 0.2", f"low: {x}", "upper_arm.low: got") for x in (*BIG, "-1", "0")),
    *(_sampled(f"sample high {x}", "high: 0.3", f"high: {x}", "upper_arm.high: got") for x in ("1e300", "1e31", "1e9", "101")),
    *(_sampled(f"sample count {x}", "count: 10", f"count: {x}", "sample.count: got") for x in ("-1", "1e3", f"{10**16}", f"{10**8}", f"{10**40}")),
    *(_sampled(f"sample seed {x}", "seed: 3", f"seed: {x}", "sample.seed: got") for x in (f"{2**129}", f"{10**60}", "-2", "1.0")),
    # motions
    *_motion("circle", "normal", "[1e308, 1e308, 1e308]", "[1e-200, 0, 0]", "[0, 1e300, 0]", "[1e-10, 0, 1e-10]"),
    *_motion("circle", "radius", *BIG, "1001", "-1"),
    *_motion("circle", "period", *BIG, "0", "1e-7", "1e7"),
    *_motion("circle", "centre", *VECTORS),
    *_motion("line_sine", "amplitude", *VECTORS),
    *_motion("line_sine", "phase", *BIG, "7"),
    *_motion("spiral", "radial_speed", *BIG, "1e13"),
    *_motion("spiral", "axial_speed", *BIG, "-1e13"),
    *_motion("helix", "normal", "[1e308, 1e308, 1e308]", "[0, 0, 0]"),
    *_motion("helix", "axial_speed", *BIG, "-1e13"),
    *_motion("quintic", "start", *VECTORS),
    *_motion("quintic", "end", *VECTORS),
    *_motion("quintic", "duration", "0", "1e300", "1e-9", "-1"),
    *_motion("workspace", "size", "[1e300, 1, 1]", "[-1, 1, 1]", "[1e4, 1, 1]"),
    *_motion("workspace", "counts", "[1e300, 1, 1]", "[0, 1, 1]", "[1.5, 2, 2]", "[1e7, 1, 1]", "[-3, 1, 1]"),
    *_motion("fourier", "sine_1", *VECTORS),
    *_motion("fourier", "cosine_5", *VECTORS),
    *_motion("random_fourier, seed: 1, position: 0.1", "count", "0", "-1", f"{10**30}", "1e3", "10001"),
    *_motion("random_fourier, count: 2, position: 0.1", "seed", "-1", f"{2**129}", "1.5", "x"),
    *_motion("random_fourier, count: 2, seed: 1", "position", "0", "-1", "1e300", "[1, 1e300, 1]", "1e10"),
    *_motion("random_fourier, count: 2, seed: 1, position: 0.1", "velocity", "0", "-1", "1e300"),
    *_motion("random_fourier, count: 2, seed: 1, position: 0.1", "acceleration", "0", "-1", "1e300"),
    *_motion("random_fourier, count: 2, seed: 1, position: 0.1", "centre", "1e300", "[0, 0, 1e12]", "[0, 0]"),
    *_motion("random_fourier, count: 2, seed: 1, position: 0.1", "period", "0", "1e300", "1e-300", "-5"),
    *_motion("gravity_test, seed: 1, position: 0.1", "count", "0", f"{10**20}"),
    *_motion("gravity_test, count: 3, seed: 1", "position", "1e300", "0"),
    # points
    _points("until before the end", "t,x,y,z\n0,0,0,0\n0.5,0,0,0\n", "turn.file: got points until 0.5 s; expected points until 1.0 s", "stop: 0.5"),
    _points("from later on", "t,x,y,z\n0.1,0,0,0\n1,0,0,0\n", "turn.file: got points from 0.1 s on; expected points from 0 s on"),
    _points("huge", "t,x,y,z\n0,1e300,0,0\n1,0,0,0\n", "p.csv:2:2 x: got '1e300'; expected a finite number of at most 1e+12"),
    _points("huge and negative", "t,x,y,z\n0,0,0,0\n1,0,0,-1e200\n", "p.csv:3:4 z: got '-1e200'"),
    _points("huge time", "t,x,y,z\n0,0,0,0\n1e300,0,0,0\n", "p.csv:3:1 t: got '1e300'"),
    _points("infinite", "t,x,y,z\n0,1e999,0,0\n1,0,0,0\n", "p.csv:2:2 x: got '1e999'; expected a finite number."),
    _points("times too close", "t,x,y,z\n0,0,0,0\n1e-300,1,0,0\n1,0,0,0\n", "p.csv:3:1 t: got 1e-300; expected a time later than 0.0"),
    # names
    *(Row(f"I names {a} {b}", (f"trajectories.{b}: got '{b}'; expected a name that differs from {a}",), edit("line:", f"{a}:", "turn:", f"{b}:"))
        for a, b in (("line", "LINE"), ("a.b", "A.b"), ("x-1", "X-1"))),
    Row("I names of subsets", ("subsets.FEW: got 'FEW'; expected a name that differs from few",),
        GOOD + "subsets: {few: {design: {stop: 2}}, FEW: {design: {stop: 3}}}\n"),
    Row("I names of groups", ("friction.groups.A: got 'A'; expected a name that differs from a",),
        edit(LAW, "groups: {a: {law: coulomb_viscous}, A: {law: coulomb_viscous, joints: passive}}")),
    # parts
    *(Row(f"I part {key} {value}", (f"subsets.few.design.{key}: got", "expected"), GOOD + f"subsets: {{few: {{design: {{{key}: {value}}}}}}}\n")
        for key in ("every", "start", "stop") for value in (f"{10**31}", "-1", "1.5", "x")),
    *(Row(f"I part {key}", ("subsets.few.design: got sets", "at least one set"), GOOD + f"subsets: {{few: {{design: {{{key}}}}}}}\n")
        for key in ("start: 6", "stop: 7", f"start: {2**53}", "start: 3, stop: 3")),
    *(Row(f"I split {text}", ("split",), GOOD + f"split: {{{text}}}\n")
        for text in ("validation: 1e300", "test: -1", "test: 1", "validation: 0.6, test: 0.6")),
    *(Row(f"I sensors {text}", ("measurement.",), GOOD + f"seed: 1\nmeasurement: {{{text}}}\n")
        for text in ("cutoff: 1e300", "cutoff: -1", "force_offset: 1e300", "force_noise: -1", "force_noise: 1e300", "force_constant: 0", "order: 11")),
    *(Row(f"I limits {text}", ("limits.", "expected"), GOOD + f"limits: {{{text}}}\n")
        for text in (
            "actuators: {all: {force: 1e300}}", "actuators: {all: {force: -1}}", "actuators: {all: {velocity: 0}}", "actuators: {all: {power: 1e31}}",
            "joints: {actuated: {position: [1, 1]}}", "joints: {actuated: {position: [2, 1]}}", "joints: {actuated: {position: [-1e300, 1]}}",
            "joints: {actuated: {velocity: 0}}", "joints: {actuated: {velocity: 1e300}}",
        )),
    *_friction("coulomb_viscous", "coulomb", "viscous"),
    *_friction("stribeck", "coulomb", "viscous", "static", "stribeck_velocity", "shape", "width", "negative"),
    *_friction("lugre", "sigma0", "sigma1", "sigma2"),
    *_parameters("delta_rl5_1450_motors", "gear_ratio"),
    *_parameters("five_bar", "density"),
    *_parameters("delta_3rr2rrr", "base_radius", "platform_radius", "upper_arm", "rod_length", "payload_mass", "payload_centre_x", "density"),
    *(Row(f"I work {count}", ("conditions", "expected at most") if count > 10**8 else (f"{count} expressions of", "expected at most 2e+09"),
        edit(GRID, "  grid: {upper_arm: {start: 0.2, stop: 0.3, num: 10000}, base_radius: {start: 0.1, stop: 0.2, num: 10000}}\n"
            + "  where: [" + ", ".join(f"upper_arm < base_radius + 0.{k + 11}" for k in range(count)) + "]\n")) for count in (64, 32, 10)),
    Row("I numbers", ("got 210000 numbers; expected at most 200000 in a file",), GOOD + "x: [\n" + ",\n".join(["1, " * 99 + "1"] * 2100) + "]\n"),
    Row("I values", ("more than 20000 values; expected a smaller file",), GOOD + "".join(f"x{k}: y\n" for k in range(21000))),
    Row("I keys", ("more than 20000 values; expected a smaller file",), GOOD + "x: [\n" + ",\n".join(["a"] * 100_000) + "]\n"),
)  # fmt: skip
