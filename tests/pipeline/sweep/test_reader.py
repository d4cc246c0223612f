from __future__ import annotations

import math
import pickle
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.documents import validation
from pipeline.errors import InputError
from pipeline.sweep import doors
from pipeline.sweep.axes.kinds import Grid, Listed, Sampled
from pipeline.sweep.model import Sweep

ROOT = Path(__file__).parents[3]
GOOD = """\
limbsweep: 1
title: A test
robot: delta_3rr2rrr
parameters: {density: 2700}
design:
  grid:
    upper_arm: {start: 0.2, stop: 0.3, num: 3}
    base_radius: {values: [150, 200], unit: mm}
friction:
  law: coulomb_viscous
  joints: actuated
  list: {coulomb: [0, 1, 2]}
  parameters: {viscous: 0.01}
trajectories:
  line: {kind: line_sine, amplitude: [0.1, 0.2, 0], period: 10}
  turn: {kind: circle, phase: 1}
time: {stop: 1.0, step: 0.1}
gravity: [0, 0, -9.81]
outputs: [actuator_force]
metrics: [peak_force]
"""
SAMPLE = "sample: {method: sobol, count: 10, seed: 3, parameters: {upper_arm: {low: 20, high: 30, unit: cm}}}"
GRID = GOOD[GOOD.index("  grid:") : GOOD.index("friction:")]


def changed(*pairs: str) -> str:
    text = GOOD
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text
        text = text.replace(old, new, 1)
    return text


def refused(text: str, folder: Path | str = ".") -> str:
    with pytest.raises(InputError) as caught:
        Sweep.from_text(text, "s.yaml", folder)
    return str(caught.value)


def test_a_sweep_holds_what_the_file_says_in_si() -> None:
    sweep = Sweep.from_text(GOOD)
    assert (sweep.robot, sweep.title, dict(sweep.fixed)) == ("delta_3rr2rrr", "A test", {"density": 2700.0})
    assert sweep.sizes == {"design": 6, "friction": 3, "trajectory": 2, "time": 11}
    assert sweep.design.values(1, 3)["base_radius"].tolist() == [0.2, 0.15]
    assert sweep.friction.values(1, 3)["coulomb"].tolist() == [1.0, 2.0]
    assert sweep.friction.values(1, 3)["viscous"].tolist() == [0.01, 0.01]
    assert sweep.times.tobytes() == (np.arange(11) * 0.1).tobytes()
    line, turn = sweep.trajectories
    assert (line.name, line.kind, line.values["amplitude"]) == ("line", "line_sine", (0.1, 0.2, 0.0))
    assert turn.values["normal"] == (0.0, 0.0, 1.0)
    assert (sweep.outputs, sweep.metrics, sweep.gravity) == (("actuator_force",), ("peak_force",), (0.0, 0.0, -9.81))
    assert (sweep.text, sweep.name, sweep.warnings) == (GOOD, "sweep", ())
    assert Sweep.from_text(GOOD, "other").fingerprint == sweep.fingerprint


def test_designs_have_every_parameter_of_the_robot() -> None:
    sweep = Sweep.from_text(GOOD)
    designs = sweep.designs(0, 6)
    assert list(designs) == [parameter.name for parameter in sweep.family.parameters]
    assert designs["upper_arm"].tobytes() == np.repeat(np.linspace(0.2, 0.3, 3), 2).tobytes()
    assert set(designs["density"]) == {2700.0}


def test_axes_may_be_grids_lists_and_samples() -> None:
    listed = Sweep.from_text(
        changed(GRID, "  list: {upper_arm: [0.2, 0.25], base_radius: {values: [150, 160], unit: mm}}\n")
    )
    sampled = Sweep.from_text(changed(GRID, f"  {SAMPLE}\n"))
    assert isinstance(Sweep.from_text(GOOD).design, Grid)
    assert isinstance(listed.design, Listed)
    assert listed.design.values()["base_radius"].tolist() == [0.15, 0.16]
    assert isinstance(sampled.design, Sampled)
    assert (sampled.design.low, sampled.design.high, sampled.design.size) == ((0.2,), (0.3,), 10)


def test_what_is_absent_has_a_default() -> None:
    text = "limbsweep: 1\nrobot: delta_3rr2rrr\ntrajectories: {a: {kind: circle}}\ntime: {stop: 1, samples: 5}\n"
    text += "metrics: [energy]\n"
    sweep = Sweep.from_text(text)
    assert sweep.sizes == {"design": 1, "friction": 1, "trajectory": 1, "time": 5}
    assert (sweep.friction.groups, sweep.friction.values(0, 1), sweep.design.values()) == ((), {}, {})
    assert sweep.times.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_bounds_are_not_geometry() -> None:
    assert Sweep.from_text(changed("start: 0.2", "start: 0.001")).design.size == 6


def test_gravity_that_points_up_is_a_warning() -> None:
    (warning,) = Sweep.from_text(changed("-9.81", "9.81")).warnings
    assert "gravity that points up" in str(warning)


BAD = [
    ("C01", ("title: A", "titel: A"), ["s.yaml:2:1 titel: got an unknown key", "Did you mean 'title'?"]),
    ("C01 deep", ("stop: 0.3", "stpo: 0.3"), ["s.yaml:7:29 design.grid.upper_arm.stpo", "Did you mean 'stop'?"]),
    ("C01 time", ("step: 0.1", "stepp: 0.1"), ["time.stepp", "Did you mean 'step'?"]),
    ("C02", ("robot: delta_3rr2rrr\n", ""), ["no key 'robot'", "required"]),
    ("C02 time", ("time: {stop: 1.0, step: 0.1}\n", ""), ["no key 'time'"]),
    ("C02 robot", ("delta_3rr2rrr", "delta_3rr2rr"), ["s.yaml:3:8 robot: got 'delta_3rr2rr'", "'delta_3rr2rrr'?"]),
    ("C03 missing", ("limbsweep: 1\n", ""), ["no key 'limbsweep'"]),
    ("C03 newer", ("limbsweep: 1", "limbsweep: 2"), ["s.yaml:1:12 limbsweep: got 2", "version 1"]),
    ("C03 bool", ("limbsweep: 1", "limbsweep: true"), ["limbsweep: got true; expected an integer"]),
    ("C04", ("stop: 0.3, num: 3", "num: 3"), ["design.grid.upper_arm: got no stop", "start, stop and num"]),
    ("C07 negative", ("num: 3", "num: -3"), ["upper_arm.num: got -3", "at least 1"]),
    ("C07 zero", ("num: 3", "num: 0"), ["got 0", "at least 1"]),
    ("C07 fraction", ("num: 3", "num: 1.5"), ["got 1.5; expected an integer"]),
    ("C07 bool", ("num: 3", "num: true"), ["got true; expected an integer"]),
    ("C08", ("[150, 200]", "[]"), ["base_radius.values: got []", "at least 1 entry"]),
    ("C08 axis", (GRID, "  grid: {}\n"), ["design.grid", "at least 1 entry"]),
    ("C08 design", (GRID, "  {}\n"), ["design: got no axis"]),
    ("C09", ("num: 3", "num: 1000000000000"), ["1.32e+14 samples", "2000000000000 along design", "at most 1e+13"]),
    ("C11", (GRID, GRID + f"  {SAMPLE}\n"), ["design: got upper_arm in several places", "a parameter once"]),
    ("C11 fixed", ("density: 2700", "upper_arm: 0.2"), ["upper_arm: got a swept parameter that is also fixed at 0.2"]),
    ("C12", ("upper_arm:", "uper_arm:"), ["s.yaml:7:5 design.grid.uper_arm", "unknown parameter", "'upper_arm'"]),
    ("C12 fixed", ("density: 2700", "densty: 1"), ["parameters.densty", "Did you mean 'density'?"]),
    ("C12 friction", ("coulomb:", "columb:"), ["friction.list.columb", "Did you mean 'coulomb'?"]),
    ("C13", ("unit: mm", "unit: mmm"), ["base_radius.unit: got 'mmm'", "a known unit", "Did you mean 'mm'?"]),
    ("C13 dimension", ("unit: mm", "unit: deg"), ["got 'deg'; expected a unit of [m]"]),
    ("C14", ("phase: 1", "phase: 200"), ["turn.phase: got 200", "If these are degrees, write 3.49066."]),
    ("D28", (", unit: mm", ""), ["base_radius.values[0]: got 150.0", "If these are millimetres, add unit: mm."]),
    ("C15", ("[150, 200]", "[150, 20 cm]"), ["base_radius.values[1]: got '20 cm'", "Write the number alone"]),
    ("C16 negative", (GRID, "  " + SAMPLE.replace("3,", "-1,") + "\n"), ["sample.seed: got -1", "at least 0"]),
    ("C16 float", (GRID, "  " + SAMPLE.replace("3,", "1.5,") + "\n"), ["sample.seed: got 1.5", "an integer"]),
    ("C16 text", (GRID, "  " + SAMPLE.replace("3,", "x,") + "\n"), ["sample.seed: got 'x'", "an integer"]),
    ("C16 huge", (GRID, "  " + SAMPLE.replace("3,", f"{2**128 + 1},") + "\n"), ["sample.seed", "at most 3.40282e+38"]),
    ("C17", (GRID, "  " + SAMPLE.replace("seed: 3,", "") + "\n"), ["got no seed", "Add for instance seed: 1."]),
    ("C18", (GRID, "  " + SAMPLE.replace("10", "0") + "\n"), ["sample.count: got 0", "at least 1"]),
    ("C18 huge", (GRID, "  " + SAMPLE.replace("10", "20000000") + "\n"), ["sample.count", "at most 10000000 numbers"]),
    ("C19", (GRID, "  " + SAMPLE.replace("low: 20", "low: 31") + "\n"), ["low: got 31.0; expected at most high, 30.0"]),
    ("C20", (GRID, "  " + SAMPLE.replace("sobol", "sobel") + "\n"), ["sample.method: got 'sobel'", "'sobol'?"]),
    ("C21", ("list: {coulomb: [0, 1, 2]}\n  parameters: {viscous: 0.01}", "list: {coulomb: [0, 1], viscous: [1]}"),
     ["friction.list: got coulomb with 2, viscous with 1", "equal length"]),
    ("C22", ("num: 3", "step: 0.05"), ["upper_arm.step: got 0.05", "num, the number of values"]),
    ("both", ("num: 3", "num: 3, values: [0.1]"), ["either values or start, stop, num"]),
    ("C25", ("phase: 1", "normal: [0, 0, 0]"), ["turn.normal", "a direction, so not all zero"]),
    ("C28", ("[0.1, 0.2, 0]", "[0.1, 0.2]"), ["line.amplitude: got [0.1, 0.2]", "a list of 3 numbers [m]"]),
    ("C28 type", ("[0.1, 0.2, 0]", "[0.1, x, true]"), ["amplitude[1]: got 'x'", "amplitude[2]: got true"]),
    ("C29", ("[0, 0, -9.81]", "9.81"), ["gravity: got 9.81", "a list"]),
    ("C29 length", ("[0, 0, -9.81]", "[0, -9.81]"), ["gravity: got [0, -9.81]", "at least 3 entries"]),
    ("C30 zero", ("step: 0.1", "step: 0"), ["time.step: got 0", "at least 1e-09"]),
    ("C30 negative", ("step: 0.1", "step: -0.1"), ["time.step: got -0.1", "at least 1e-09"]),
    ("C30 long", ("step: 0.1", "step: 2"), ["time.step: got 2.0", "at most stop, 1.0"]),
    ("C30 end", ("step: 0.1", "step: 0.3"), ["a divisor of stop, 1.0", "Stop at 0.9"]),
    ("C30 both", ("step: 0.1", "step: 0.1, samples: 11"), ["both step and samples"]),
    ("C30 neither", (", step: 0.1", ""), ["neither step nor samples"]),
    ("C30 many", ("step: 0.1", "step: 1e-9"), ["1e+09 points of time", "at most 10000000"]),
    ("C33", ("[actuator_force]", "[actuator_forc]"), ["outputs[0]: got 'actuator_forc'", "'actuator_force'?"]),
    ("C33 twice", ("[peak_force]", "[peak_force, peak_force]"), ["metrics[1]: got peak_force again"]),
    ("C33 other", ("[actuator_force]", "[peak_force]"), ["It belongs under metrics."]),
    ("C33 status", ("[actuator_force]", "[status]"), ["It is always stored."]),
    ("C33 none", ("[actuator_force]", "[]", "[peak_force]", "[]"), ["no outputs and no metrics"]),
    ("B16", ("num: 3", "num: yes"), ["got 'yes'; expected an integer"]),
    ("B21 text", ("stop: 0.3", "stop: '0,3'"), ["upper_arm.stop: got '0,3'", "decimal point"]),
    ("B22", ("density: 2700", "density: 5 kg"), ["parameters.density: got '5 kg'", "Write the number alone"]),
    ("quoted", ("density: 2700", "density: '2700'"), ["Remove the quotes."]),
    ("D01", ("density: 2700", "density: -1"), ["s.yaml:4:23 parameters.density: got -1", "[1, 100000] kg/m^3"]),
    ("D30", ("viscous: 0.01", "viscous: -0.01"), ["friction.parameters.viscous: got -0.01", "at least 0 [N m s/rad"]),
    ("law", ("coulomb_viscous", "coulomb_viscus"), ["friction.law", "Did you mean 'coulomb_viscous'?"]),
    ("joints", ("joints: actuated", "joints: elbows"), ["friction.joints: got ['elbows']", "known:"]),
    ("kind", ("kind: circle", "kind: circel"), ["turn.kind: got 'circel'", "Did you mean 'circle'?"]),
    ("no kind", ("kind: circle, ", ""), ["turn: got no kind", "Known: line_sine"]),
    ("motion", ("period: 10", "perod: 10"), ["line.perod", "Did you mean 'period'?"]),
    ("motion type", ("period: 10", "period: [1]"), ["line.period: got [1]", "a number"]),
    ("motion bound", ("period: 10", "period: 0"), ["line.period: got 0", "[1e-06, 1e+06] s"]),
    ("name", ("turn:", "tu rn:"), ["trajectories.tu rn", "letters from a to z, digits"]),
    ("mapping", ("{kind: circle, phase: 1}", "circle"), ["trajectories.turn: got 'circle'", "a mapping"]),
    ("file", ("kind: circle, phase: 1", "kind: waypoints"), ["turn: got no file", "the name of a CSV"]),
    ("file type", ("kind: circle, phase: 1", "kind: waypoints, file: 3"), ["turn.file: got 3"]),
    ("file gone", ("kind: circle, phase: 1", "kind: waypoints, file: gone.csv"), ["gone.csv: got no such file"]),
    ("C42", ("kind: circle, phase: 1", "kind: waypoints, file: ../p.csv"), ["got '../p.csv'", "folder of the sweep"]),
    ("C42 absolute", ("kind: circle, phase: 1", "kind: waypoints, file: /etc/passwd"), ["folder of the sweep"]),
]  # fmt: skip


@pytest.mark.parametrize(("pairs", "fragments"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_a_bad_sweep_is_refused_with_place_and_advice(pairs: tuple[str, ...], fragments: list[str]) -> None:
    message = refused(changed(*pairs))
    for fragment in fragments:
        assert fragment in message
    for jargon in ("pydantic", "Input should", "type=", "NoneType"):
        assert jargon not in message
    assert message.startswith("s.yaml:") or "gone.csv" in message


def test_problems_of_several_sections_come_together() -> None:
    text = changed(
        "num: 3", "num: 0", "line_sine", "line", "coulomb:", "columb:", "step: 0.1", "step: 0", "[peak", "[beak"
    )
    assert [line.split()[1].rstrip(":") for line in refused(text).splitlines()] == [
        "design.grid.upper_arm.num",
        "friction.list.columb",
        "trajectories.line.kind",
        "time.step",
        "metrics[0]",
    ]


WORKSPACE = "turn: {kind: workspace, size: [0.4, 0.4, 0.2], counts: [%s]}"


def test_a_workspace_has_as_many_points_as_times() -> None:
    line = "  line: {kind: line_sine, amplitude: [0.1, 0.2, 0], period: 10}\n"
    good = changed(line, "", "turn: {kind: circle, phase: 1}", WORKSPACE % "11, 1, 1")
    assert Sweep.from_text(good).trajectories[0].values["counts"] == (11.0, 1.0, 1.0)
    told = refused(good.replace("11, 1, 1", "4, 3, 2"))
    assert "trajectories.turn.counts: got 24 points, and 11 samples of time; expected as many of both. Write" in told
    told = refused(good.replace("11, 1, 1", "5.5, 2, 1"))
    assert "trajectories.turn.counts: got [5.5, 2.0, 1.0]; expected whole numbers of points" in told


def test_points_come_from_beside_the_file_and_their_problems_with_the_others(tmp_path: Path) -> None:
    text = changed("kind: circle, phase: 1", "kind: waypoints, file: p.csv")
    (tmp_path / "s.yaml").write_text(text)
    (tmp_path / "p.csv").write_text("t,x,y,z\n0,0,0,0\n1,0.1,0,0\n")
    sweep = Sweep.from_yaml(tmp_path / "s.yaml")
    assert sweep.trajectories[1].points is not None
    assert sweep.trajectories[1].points.tolist() == [[0, 0, 0, 0], [1, 0.1, 0, 0]]
    (tmp_path / "p.csv").write_text("t,x,y,z\n0,0,0,0\n1,nan,0,0\n")
    message = refused(text.replace("density: 2700", "density: 0"), tmp_path)
    assert "p.csv:3:2 x: got 'nan'" in message
    assert "parameters.density" in message


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("t,x,y,z\n0,0,0,0\n1,0,0,0\n")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "p.csv").symlink_to(tmp_path / "p.csv")
    assert "folder of the sweep" in refused(
        changed("kind: circle, phase: 1", "kind: waypoints, file: p.csv"), tmp_path / "in"
    )


SAME = [
    ("title: A test", "title: 'A test'  # a comment"),
    ("density: 2700", "density: 2.7e3"),
    ("[150, 200], unit: mm", "[0.15, 0.2]"),
    ("step: 0.1", "samples: 11"),
    ("gravity: [0, 0, -9.81]\n", ""),
    ("phase: 1", "phase: 1, period: 1"),
]
OTHER = [
    ("A test", "Another"),
    ("density: 2700", "density: 2700.0000000000005"),
    ("num: 3", "num: 4"),
    ("[150, 200]", "[200, 150]"),
    ("[0, 1, 2]", "[0, 1, 3]"),
    ("viscous: 0.01", "viscous: 0.02"),
    ("phase: 1", "phase: -1"),
    ("turn:", "tour:"),
    ("step: 0.1", "step: 0.2"),
    ("-9.81", "-9.8"),
    ("outputs: [actuator_force]", "outputs: []"),
    ("[peak_force]", "[rms_force]"),
    (GRID, f"  {SAMPLE}\n"),
]


@pytest.mark.parametrize("pair", SAME, ids=str)
def test_spelling_does_not_change_the_fingerprint(pair: tuple[str, str]) -> None:
    one, two = Sweep.from_text(GOOD), Sweep.from_text(changed(*pair))
    assert one.difference(two) == ()
    assert one.fingerprint == two.fingerprint


@pytest.mark.parametrize("pair", OTHER, ids=str)
def test_any_other_value_changes_the_fingerprint(pair: tuple[str, str]) -> None:
    one, two = Sweep.from_text(GOOD), Sweep.from_text(changed(*pair))
    assert one.fingerprint != two.fingerprint
    assert one.difference(two)


def test_the_difference_names_the_value() -> None:
    assert Sweep.from_text(GOOD).difference(Sweep.from_text(changed("viscous: 0.01", "viscous: 0.02"))) == (
        "friction.parameters.viscous: 0.01 here, 0.02 there",
    )


def test_points_count_in_the_fingerprint(tmp_path: Path) -> None:
    text = changed("kind: circle, phase: 1", "kind: waypoints, file: p.csv")
    prints = set()
    for last in ("0.1", "0.10", "0.2"):
        (tmp_path / "p.csv").write_text(f"t,x,y,z\n0,0,0,0\n1,{last},0,0\n")
        prints.add(Sweep.from_text(text, folder=tmp_path).fingerprint)
    assert len(prints) == 2


@given(st.integers(1, 5000), st.sampled_from([0.001, 0.01, 0.1, 1 / 3, 0.7, 1e-5]))
def test_times_are_multiples_of_the_step(count: int, step: float) -> None:
    times = Sweep.from_text(changed("stop: 1.0, step: 0.1", f"stop: {count * step!r}, step: {step!r}")).times
    assert len(times) == count + 1
    assert times.tobytes() == (np.arange(count + 1) * step).tobytes()
    assert math.isclose(times[-1], count * step)


LINES = GOOD.splitlines()
SCRAPS = st.sampled_from(
    ["x", "[]", "{}", "-1", "1e400", "{start: 1}", "[1, {}]", "~", "true", "'", "&a 1", "1e9", "'1'", "[[0]]"]
)


@given(st.integers(0, len(LINES) - 1), SCRAPS, st.integers(0, 3))
def test_a_damaged_sweep_is_read_or_refused(number: int, scrap: str, how: int) -> None:
    lines = list(LINES)
    head, _, tail = lines[number].partition(":")
    lines[number] = [f"{head}: {scrap}", f"{scrap}: {tail}", scrap, lines[number].replace("{", f"{{{scrap}: 1, ")][how]
    with suppress(InputError):
        assert len(Sweep.from_text("\n".join(lines)).fingerprint) == 64


def test_a_sweep_can_be_sent_to_another_process() -> None:
    sweep = Sweep.from_text(GOOD)
    assert pickle.loads(pickle.dumps(sweep)).fingerprint == sweep.fingerprint


@pytest.mark.repository
def test_the_example_is_a_sweep() -> None:
    sweep = Sweep.from_yaml(ROOT / "examples" / "delta.yaml")
    assert {trajectory.kind for trajectory in sweep.trajectories} == {"line_sine", "circle", "quintic", "waypoints"}
    assert sweep.warnings == ()


@pytest.mark.repository
def test_reading_a_sweep_starts_without_dask_and_xarray() -> None:
    code = (
        "import sys; from pipeline.sweep.model import Sweep; Sweep.from_yaml('examples/delta.yaml');"
        "print({'dask', 'distributed', 'xarray', 'zarr', 'scipy', 'tasks'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_file_is_parsed_once_and_what_validates_its_keys_is_built_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text(GOOD)
    (first,) = doors.read_sweeps(path)
    monkeypatch.setattr(validation, "TypeAdapter", lambda annotation: pytest.fail(f"builds {annotation} again"))
    monkeypatch.setattr(doors, "parse_yaml", lambda text, name: pytest.fail(f"parses {name} again"))
    (again,) = doors.read_sweeps(path)
    assert again.text == first.text == GOOD


@pytest.mark.parametrize(("column", "messages"), [
    ("{values: [200, 1], unit: mm}", []),
    ("{values: [200, 1.0e+9], unit: mm}", ["upper_arm.values[1]: got 1000000000 mm, which is 1000000.0 m; expected"]),
    ("{start: -5, stop: 300, num: 3, unit: mm}", ["upper_arm.start: got -5 mm, which is -0.005 m; expected a number"]),
    ("{values: [200, 1000], unit: inch}", ["upper_arm.unit: got 'inch'"]),
    ("{values: [200, 0.3]}", ["upper_arm.values[0]: got 200.0; expected a number in", "millimetres, add unit: mm."]),
])  # fmt: skip
def test_a_number_out_of_bounds_is_told_as_it_was_written(column: str, messages: list[str]) -> None:
    text = f"""limbsweep: 1
robot: delta_3rr2rrr
design: {{grid: {{upper_arm: {column}}}}}
trajectories: {{c: {{kind: circle, period: 1.0}}}}
time: {{stop: 1.0, step: 0.1}}
metrics: [peak_force]
"""
    if not messages:
        assert Sweep.from_text(text).design.values(0, 2)["upper_arm"].tolist() == [0.2, 0.001]
        return
    with pytest.raises(InputError) as caught:
        Sweep.from_text(text)
    assert len(caught.value.problems) == 1
    assert all(message in str(caught.value) for message in messages)
