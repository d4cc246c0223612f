# ruff: noqa: E501 - a row of a table is a line
"""Rows of section C on swept trajectories, gravity of designs, cases and searches."""

from __future__ import annotations

from tests.bad_inputs.rows import GOOD, Row, added, changed, edit


def searched(name: str, arguments: str, *said: str, sweep: str = GOOD) -> Row:
    """A search of the designs of a good sweep."""
    command = ("study", "search", "sweep.yaml", "--store", "found.zarr", "--population", "4", *arguments.split())
    return Row(name, said, sweep, command=command)


FORCE, CONDITION = "--objective peak_force", "--objective condition"
DELTA = "delta_3r2us: {design: {grid: {payload_mass: [0, 1], upper_arm: [0.2, 0.25]}}}"
LINEAR = "linear_delta: {design: {grid: {payload_mass: [0, 1], rod_length: [0.5, 0.6]}}}"


def families(*robots: str) -> str:
    """A sweep of several robots; a line of its own for each."""
    lines = "".join(f"  {robot}\n" for robot in robots)
    before, after = GOOD[: GOOD.index("robot:")], GOOD[GOOD.index("trajectories:") :]
    return f"{before}robots:\n{lines}{after}".replace("phase: 1", "radius: 0.02").replace("[peak_", "[condition, peak_")


def weighed(text: str) -> str:
    """A good sweep with an objective, and a case."""
    return GOOD + f"study: {{objectives: '{text}', cases: upper_arm}}\n"


ROWS = (
    changed("C150 the same trajectory twice", "phase: 1", "radius: {values: [0.1, 0.1]}", "trajectories.turn.radius.values[1]: got 0.1 twice; expected values that differ"),
    changed("C151 no list", "phase: 1", "radius: {values: 0.1}", "trajectories.turn.radius.values: got 0.1; expected a list of values"),
    changed("C151b too many values", "phase: 1", "radius: {values: [" + "0.1, " * 10_001 + "0.1]}", "trajectories.turn.radius.values: got 10,002 values; expected at most 10,000 trajectories"),
    changed("C152 values beside a range", "phase: 1", "radius: {values: [0.1], num: 2}", "trajectories.turn.radius.num: got num beside values; expected either values or start, stop, num"),
    changed("C153 a range without num", "phase: 1", "radius: {start: 0.1, stop: 0.2}", "trajectories.turn.radius: got num of None; expected a whole number of 2 to 10,000"),
    changed("C154 a range of one number", "phase: 1", "radius: {start: 0.1, stop: 0.1, num: 2}", "trajectories.turn.radius: got from 0.1 to 0.1; expected start and stop, two numbers that differ"),
    changed("C155 too many", "phase: 1", "radius: {start: 0.1, stop: 0.2, num: 200}, period: {start: 1, stop: 2, num: 200}", "trajectories.turn: got 40,000 combinations; expected at most 10,000 trajectories"),
    changed("C156 a value out of bounds", "phase: 1", "radius: {values: [0.1, -1]}", "trajectories.turn.radius: got -1; expected a number"),
    changed("C157 an unknown key with values", "phase: 1", "radios: {values: [0.1, 0.2]}", "trajectories.turn.radios: got an unknown key", "Did you mean 'radius'?"),
    Row("C158 a name twice", ("trajectories: got turn_0 twice; expected every name once",), edit("line: {kind", "turn_0: {kind", "phase: 1", "radius: {values: [0.1, 0.2]}")),
    changed("C159 too much gravity", "upper_arm: {start: 0.2, stop: 0.3, num: 3}", "gravity_z: [-9.81, -2.0e6]", "design.grid.gravity_z[1]: got -2000000.0; expected a number in [-1e+06, 1e+06]"),
    Row("C160 gravity on a base that moves", ("design.grid.gravity_z: got a swept gravity beside base",), edit("upper_arm: {start: 0.2, stop: 0.3, num: 3}", "gravity_z: [-9.81, 9.81]", "time:", "base: {kind: circle}\ntime:")),
    added("C161 an unknown case", "study: {cases: upper_arn}\n", "study.cases[0]: got 'upper_arn'; expected a swept parameter, friction or trajectory"),
    Row("C162 weights that are no cases", ("study.objectives[0]: got 'base_radius'; expected an operating case, by which cases are weighed",), weighed("peak_force, mean weighted by base_radius over cases")),
    Row("C163 weights that are no expression", ("study.objectives[0]", "expected"), weighed("peak_force, mean weighted by 2 * over cases")),
    searched("C164 no objective", "", "study objective: got none; expected one or more"),
    searched("C165 an unknown objective", "--objective peak_forze", "study.objectives[0]: got 'peak_forze'", "Did you mean 'peak_force'?"),
    searched("C166 nothing to choose", f"{FORCE} --cases upper_arm --cases base_radius", "study design: got no parameter that varies; expected one beside the cases"),
    searched("C166 a metric that is not asked for", "--objective energy", "study.objectives[0]: got 'energy'", "Add it to metrics."),
    searched("C167 one objective in directions", f"{FORCE} --method nsga3", "study method: got nsga3 for one objective; expected two objectives or more"),
    searched("C168 a case that is no parameter", f"{FORCE} --cases rod_length", "cases.rod_length: got no such parameter; expected a parameter that is swept under design"),
    searched("C169 a condition that is none", f"{FORCE} --where condition", "study.where[0]: got a number; expected a condition"),
    searched("C170 numbers in two units", FORCE, "study objective: got peak_force in N m for delta_3r2us, in N for linear_delta; expected numbers of one unit for all robots", sweep=families(DELTA, LINEAR)),
    searched("C171 other cases for a robot", f"{CONDITION} --cases payload_mass", "study cases.payload_mass: got 0, 1 for delta_3r2us and 0, 2 for linear_delta; expected the same values for all robots", sweep=families(DELTA, LINEAR.replace("0, 1", "0, 2"))),
    searched("C172 a robot with nothing to choose", f"{CONDITION} --cases payload_mass", "study robots.linear_delta.design: got no parameter that varies; expected one beside the cases", sweep=families(DELTA, "linear_delta: {design: {grid: {payload_mass: [0, 1]}}}")),
    searched("C173 a motion that a robot cannot make", CONDITION, "expected no motion along y, where the limbs hold the platform of this robot", "This is so for irsbot2.", sweep=families(DELTA, "irsbot2: {design: {grid: {upper_arm: [0.2, 0.3]}}}")),
)  # fmt: skip
