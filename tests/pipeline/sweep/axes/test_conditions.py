"""Axes that combine, conditions, derived parameters, subsets and several robots, from the text of a sweep file."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import InputError
from pipeline.sweep.axes import conditions
from pipeline.sweep.axes.derived import Filtered
from pipeline.sweep.axes.kinds import Product, Sampled
from pipeline.sweep.choices import choose
from pipeline.sweep.doors import read_sweeps
from pipeline.sweep.model import Sweep

HEAD = "limbsweep: 1\nrobot: delta_3rr2rrr\nparameters: {density: 2700}\n"
DESIGN = """\
design:
  grid: {upper_arm: {start: 200, stop: 300, num: 11, unit: mm}}
  list:
    platform_radius: [0.04, 0.05, 0.06]
    arm_diameter: {start: 0.02, stop: 0.04, num: 3}
  sample:
    method: sobol
    count: 8
    seed: 5
    parameters: {base_radius: {low: 0.1, high: 0.2}}
  derive: {rod_length: 4 * upper_arm}
  where:
    - upper_arm > 0.21
    - "base_radius > 2 * platform_radius and density > 2000"
"""
TAIL = """\
friction: {law: coulomb_viscous, grid: {viscous: [0, 1, 2, 3]}}
trajectories:
  circle: {kind: circle, radius: 0.05}
  turn: {kind: circle, radius: 0.1}
time: {stop: 1.0, step: 0.1}
metrics: [peak_force]
"""
SUBSETS = """\
subsets:
  first: {design: {stop: 10}, trajectories: [turn]}
  odd: {design: {start: 1, stop: 9, every: 2}, friction: {where: viscous > 1}}
  short: {design: {where: upper_arm < 0.24}}
"""
GOOD = HEAD + DESIGN + TAIL + SUBSETS


def refused(text: str) -> str:
    with pytest.raises(InputError) as caught:
        Sweep.from_text(text, "s.yaml")
    return str(caught.value)


def changed(old: str, new: str, text: str = GOOD) -> str:
    assert old in text
    return text.replace(old, new, 1)


def test_grid_list_and_sample_multiply_and_conditions_choose() -> None:
    design = Sweep.from_text(GOOD).design
    assert isinstance(design, Filtered)
    values = design.values()
    assert list(values) == ["upper_arm", "platform_radius", "arm_diameter", "base_radius", "rod_length"]
    whole = design.base.values()
    kept = (whole["upper_arm"] > 0.21) & (whole["base_radius"] > 2 * whole["platform_radius"])
    assert design.base.size == 11 * 3 * 8
    assert design.size == kept.sum() > 10
    for name, column in values.items():
        assert column.tolist() == whole[name][kept].tolist()
    assert values["rod_length"].tolist() == (4 * values["upper_arm"]).tolist()
    assert set(zip(values["platform_radius"], values["arm_diameter"], strict=True)) == {
        (0.04, 0.02), (0.05, 0.03), (0.06, 0.04),
    }  # fmt: skip


def test_the_sample_is_the_fastest_and_the_grid_the_slowest() -> None:
    text = changed(DESIGN[DESIGN.index("  derive") :], "")
    design = Sweep.from_text(text).design
    assert isinstance(design, Product)
    assert [type(part).__name__ for part in design.parts] == ["Grid", "Listed", "Sampled"]
    values = design.values(0, 9)
    assert len(set(values["base_radius"][:8])) == 8
    assert set(values["platform_radius"][:8]) == {0.04}
    assert values["platform_radius"][8] == 0.05


def test_a_condition_on_nothing_that_is_left_out_keeps_everything() -> None:
    one = Sweep.from_text(changed(DESIGN[DESIGN.index("  where") :], "  where: upper_arm > 0\n"))
    two = Sweep.from_text(changed(DESIGN[DESIGN.index("  where") :], ""))
    assert one.design.size == two.design.size
    assert one.fingerprint != two.fingerprint


def test_spaces_in_an_expression_do_not_change_the_fingerprint() -> None:
    assert (
        Sweep.from_text(changed("upper_arm > 0.21", "upper_arm>0.21")).fingerprint == Sweep.from_text(GOOD).fingerprint
    )
    assert (
        Sweep.from_text(changed("upper_arm > 0.21", "upper_arm > 0.2")).fingerprint != Sweep.from_text(GOOD).fingerprint
    )


def test_seeds_of_the_file_and_of_a_sample() -> None:
    own = Sweep.from_text(GOOD)
    common = Sweep.from_text(changed("    seed: 5\n", "") + "seed: 5\n")
    assert own.fingerprint == common.fingerprint
    assert Sweep.from_text(GOOD + "seed: 6\n").fingerprint == own.fingerprint


def test_equal_samples_of_two_axes_do_not_move_together() -> None:
    sample = "sample: {method: latin_hypercube, count: 512, seed: 1, parameters: {NAME: {low: 1, high: 2}}}"
    text = f"{HEAD}design: {{{sample.replace('NAME', 'rod_length')}}}\n" + TAIL.replace(
        "grid: {viscous: [0, 1, 2, 3]}", sample.replace("NAME", "viscous")
    )
    sweep = Sweep.from_text(text)
    pair = sweep.design.values()["rod_length"], sweep.friction.axis.values()["viscous"]
    assert abs(np.corrcoef(*pair)[0, 1]) < 0.15


@pytest.mark.parametrize(
    ("method", "scale", "log"),
    [("uniform", "", ()), ("uniform", ", scale: log", (True,)), ("log_uniform", "", (True,)),
     ("log_uniform", ", scale: linear", ()), ("sobol", ", scale: log", (True,))],
)  # fmt: skip
def test_the_scale_of_a_sampled_parameter(method: str, scale: str, log: tuple[bool, ...]) -> None:
    sample = (
        f"sample: {{method: {method}, count: 100, seed: 1, parameters: {{density: {{low: 10, high: 1e5{scale}}}}}}}"
    )
    design = Sweep.from_text(f"limbsweep: 1\nrobot: delta_3rr2rrr\ndesign: {{{sample}}}\n{TAIL}").design
    assert isinstance(design, Sampled)
    assert design.log == log
    small = (design.values()["density"] < 1000).mean()
    assert 0.4 < small < 0.6 if log else small < 0.1


def test_a_range_may_be_logarithmic() -> None:
    text = changed("[0, 1, 2, 3]", "{start: 1e-4, stop: 1, num: 5, scale: log}")
    values = Sweep.from_text(text).friction.axis.values()["viscous"]
    assert values.tolist() == pytest.approx([1e-4, 1e-3, 1e-2, 1e-1, 1.0], rel=1e-14)
    assert (values[0], values[-1]) == (1e-4, 1.0)


BAD = [
    ("C41 name", "upper_arm > 0.21", "__import__('os') > 0", ["design.where[0]: got \"'\" at character 12", "Expressions are no program"]),
    ("C41 place", "density > 2000", "density.real", ["s.yaml:17:53 design.where[1]: got '.' at character 46"]),
    ("unknown", "upper_arm > 0.21", "0.1 < uper_arm", ["s.yaml:16:13 design.where[0]", "unknown name 'uper_arm'", "'upper_arm'?"]),
    ("bare", DESIGN[DESIGN.index("  where") :], "  where: upper_am > 1\n", ["s.yaml:15:10 design.where: got"]),
    ("number", "upper_arm > 0.21", "upper_arm", ["where[0]: got a number", "expected a condition"]),
    ("C46", "upper_arm > 0.21", "upper_arm > 0.31", ["design.where: got conditions that none of 264 sets meets"]),
    ("derive unknown", "rod_length: 4", "rod_lenght: 4", ["design.derive.rod_lenght", "'rod_length'?"]),
    ("derive twice", "rod_length: 4", "upper_arm: 4", ["design.derive.upper_arm", "also swept or fixed"]),
    ("derive fixed", "rod_length: 4", "density: 4", ["design.derive.density", "also swept or fixed"]),
    ("derive itself", "4 * upper_arm", "4 * rod_length", ["s.yaml:14:28 design.derive.rod_length: got 'rod_length' at character 5", "derived above"]),
    ("derive condition", "4 * upper_arm", "4 > upper_arm", ["got a condition", "a number"]),
    ("derive type", "4 * upper_arm", "4", ["design.derive.rod_length: got 4; expected text"]),
    ("derive bounds", "4 * upper_arm", "-4 * upper_arm", ["design.derive.rod_length: got -0.84", "for some set", "[0.001, 100] m"]),
    ("derive undefined", "4 * upper_arm", "sqrt(-upper_arm)", ["rod_length: got nan for some set"]),
    ("list", "num: 3}\n  sample", "num: 4}\n  sample", ["platform_radius with 3, arm_diameter with 4", "equal length"]),
    ("C11", "base_radius: {low", "upper_arm: {low", ["design: got upper_arm in several places"]),
    ("scale", "low: 0.1, high: 0.2", "low: 0, high: 0.2, scale: log", ["base_radius.low: got a logarithmic scale from 0.0"]),
    ("scale range", "[0, 1, 2, 3]", "{start: 0, stop: 1, num: 5, scale: log}", ["viscous.scale: got a logarithmic scale"]),
    ("scale name", "num: 11,", "num: 11, scale: lin,", ["upper_arm.scale: got 'lin'", "'linear' or 'log'"]),
    ("no axis", DESIGN[DESIGN.index("  grid") : DESIGN.index("  where")], "", ["design: got no axis", "design.where: got a condition"]),
    ("rules", "    - upper_arm > 0.21", "    - upper_arm > 0.21\n" * 64, ["design.where", "at most 64 entries"]),
    ("subset range", "stop: 10", "start: 3, stop: 1", ["subsets.first.design: got sets 3 to 1 of"]),
    ("subset name", "  first:", "  fir st:", ["subsets.fir st", "letters from a to z, digits"]),
    ("subset key", "{stop: 10}", "{stpo: 10}", ["subsets.first.design.stpo", "'stop'?"]),
    ("subset where", "viscous > 1", "viscus > 1", ["subsets.odd.friction.where", "'viscous'?"]),
    ("subset trajectory", "[turn]", "[trun]", ["subsets.first.trajectories[0]: got 'trun'", "'turn'?"]),
    ("subset stop", "start: 1, stop: 9", "start: 9, stop: 9", ["subsets.odd.design: got sets 9 to 9"]),
    ("subset times", "  short: {", "  short: {every: 11, ", ["subsets.short.every: got 11; expected at most 10"]),
    ("subset precision", "  short: {", "  short: {precision: half, ", ["subsets.short.precision: got 'half'"]),
    ("subset far", "stop: 9", "stop: 99999", ["to 99999 of", "a range of at least one set"]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "fragments"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_bad_rules_are_refused_at_their_place(old: str, new: str, fragments: list[str]) -> None:
    message = refused(changed(old, new))
    for fragment in fragments:
        assert fragment in message


def test_too_many_sets_to_look_at_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditions, "MAX_SCANNED", 100)
    assert "design: got conditions or derived parameters on 264 sets; expected at most 100" in refused(GOOD)


def test_several_problems_of_one_section_come_together() -> None:
    text = changed("num: 11, unit: mm", "num: 0, unit: mmm")
    text = changed("[0.04, 0.05, 0.06]", "[0.04, -1, 0.06]", text)
    text = changed("method: sobol", "method: sobel", text)
    text = changed("seed: 5", "seed: 5\n    sead: 6", text)
    text = changed("4 * upper_arm", "4 * uper_arm", text)
    text = changed("upper_arm > 0.21", "upper_arm >", text)
    assert [line.split()[1].rstrip(":") for line in refused(text).splitlines()] == [
        "design.grid.upper_arm.num",
        "design.grid.upper_arm.unit",
        "design.list.platform_radius[1]",
        "design.sample.method",
        "design.sample.sead",
        "design.derive.rod_length",
        "design.where[0]",
    ]


def test_a_wrong_key_hides_nothing_and_is_told_once() -> None:
    text = changed("stop: 300, num: 11, unit: mm", "stpo: 300, num: 11, unit: mmm")
    assert [line.split(";")[0].split(maxsplit=1)[1] for line in refused(text).splitlines()] == [
        "design.grid.upper_arm.stpo: got an unknown key",
        "design.grid.upper_arm.unit: got 'mmm'",
    ]


# subsets


def test_a_subset_is_a_part_of_the_axes() -> None:
    whole = Sweep.from_text(GOOD)
    first, odd, short = (Sweep.from_text(GOOD + f"subset: {name}\n") for name in ("first", "odd", "short"))
    assert first.sizes == whole.sizes | {"design": 10, "trajectory": 1}
    assert [each.name for each in first.trajectories] == ["turn"]
    assert odd.sizes == whole.sizes | {"design": 4, "friction": 2}
    assert odd.design.values()["base_radius"].tolist() == whole.design.values()["base_radius"][1:9:2].tolist()
    assert odd.friction.values(0, 2)["viscous"].tolist() == [2.0, 3.0]
    arms = whole.design.values()["upper_arm"]
    assert short.design.values()["upper_arm"].tolist() == arms[arms < 0.24].tolist()
    assert len({each.fingerprint for each in (whole, first, odd, short)}) == 4


def test_a_subset_has_fewer_times_and_digits() -> None:
    own = changed("turn: {kind: circle, radius: 0.1}", "turn: {kind: circle, radius: 0.1, time: {stop: 2, step: 0.1}}")
    rough = Sweep.from_text(own + "  rough: {every: 5, precision: single}\nsubset: rough\n")
    assert [grid.values.tolist() for grid in rough.grids] == [[0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.5, 2.0]]
    assert (rough.precision, Sweep.from_text(own).precision) == ("single", "double")
    grid = changed(
        "circle: {kind: circle, radius: 0.05}", "circle: {kind: workspace, counts: [11, 1, 1], size: [1, 1, 1]}"
    )
    assert "subsets.rough.every" in refused(grid + "  rough: {every: 2}\n")


def test_subsets_that_are_not_chosen_do_not_change_a_sweep() -> None:
    assert Sweep.from_text(HEAD + DESIGN + TAIL).fingerprint == Sweep.from_text(GOOD).fingerprint


def test_an_unknown_subset_is_refused() -> None:
    assert "subset: got 'frst'; expected the name of a subset. Did you mean 'first'?" in refused(
        GOOD + "subset: frst\n"
    )
    assert "There is no section subsets." in refused(HEAD + TAIL + "subset: first\n")


def test_a_subset_without_sets_is_refused() -> None:
    text = changed("upper_arm < 0.24", "upper_arm < 0.1") + "subset: short\n"
    assert "subsets.short.design.where: got conditions that none of" in refused(text)


# several robots

ROBOTS = """\
limbsweep: 1
robots:
  delta_3rr2rrr: {design: {grid: {upper_arm: [0.2, 0.3]}}}
  delta_4rr2rrr: {parameters: {upper_arm: 0.28}}
  delta_3r2us: {}
parameters: {density: 2700}
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.yaml"
    path.write_text(ROBOTS + TAIL + "subsets: {turn: {trajectories: [turn]}}\n")
    return path


def test_a_file_of_several_robots_is_a_sweep_for_each(study: Path) -> None:
    sweeps = read_sweeps(study)
    assert [sweep.robot for sweep in sweeps] == ["delta_3rr2rrr", "delta_4rr2rrr", "delta_3r2us"]
    assert [sweep.design.size for sweep in sweeps] == [2, 1, 1]
    assert [dict(sweep.fixed) for sweep in sweeps] == [{"density": 2700}, {"upper_arm": 0.28}, {"density": 2700}]
    for sweep in sweeps:
        assert Sweep.from_text(sweep.text).fingerprint == sweep.fingerprint
    assert [len(sweep.trajectories) for sweep in read_sweeps(study, "turn")] == [1, 1, 1]


def test_a_list_of_robots_shares_everything(study: Path) -> None:
    study.write_text(
        "limbsweep: 1\nrobots: [delta_3rr2rrr, delta_3r2us]\ndesign: {grid: {upper_arm: [0.2, 0.3]}}\n" + TAIL
    )
    assert [sweep.sizes["design"] for sweep in read_sweeps(study)] == [2, 2]
    study.write_text("limbsweep: 1\nrobots: [delta_3rr2rrr]\n" + TAIL)
    assert [sweep.robot for sweep in read_sweeps(study)] == ["delta_3rr2rrr"]


ROBOTS_BAD = [
    ("delta_3r2us: {}", "delta_3r2su: {}", ["robots.delta_3r2su: got 'delta_3r2su'; expected a robot", "'delta_3r2us'?"]),
    ("delta_3r2us: {}", "delta_3r2us: {desing: {}}", ["robots.delta_3r2us.desing: got an unknown key", "'design'?"]),
    ("{upper_arm: 0.28}", "{upper_arm: -1}", ["robots.delta_4rr2rrr.parameters.upper_arm: got -1"]),
    ("[0.2, 0.3]", "[0.2, 300]", ["robots.delta_3rr2rrr.design.grid.upper_arm[1]: got 300.0"]),
    ("kind: circle, radius: 0.1", "kind: circel, radius: 0.1", ["turn.kind: got 'circel'"]),
    ("\nparameters", "\nrobot: irsbot2\nparameters", ["robot: got 'irsbot2'; expected one of robots"]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "fragments"), ROBOTS_BAD, ids=[row[1][:40] for row in ROBOTS_BAD])
def test_problems_of_all_robots_come_together_and_once(study: Path, old: str, new: str, fragments: list[str]) -> None:
    study.write_text(changed(old, new, study.read_text()))
    with pytest.raises(InputError) as caught:
        read_sweeps(study)
    lines = str(caught.value).splitlines()
    assert len(lines) == 1
    for fragment in fragments:
        assert fragment in lines[0]


def test_a_list_with_a_robot_twice_is_refused() -> None:
    assert "robots: got ['irsbot2', 'irsbot2']; expected a mapping" in refused(
        f"limbsweep: 1\nrobots: [irsbot2, irsbot2]\n{TAIL}"
    )


def test_one_sweep_cannot_be_several_robots() -> None:
    assert "robots: got 3 robots; expected one, because this is to be one sweep. Read it with" in refused(ROBOTS + TAIL)


def test_a_choice_that_cannot_be_added_to_the_text_is_refused() -> None:
    assert choose("a: 1\n", "subset", "x", "s.yaml") == "a: 1\nsubset: x\n"
    for text in ("{a: 1}\n", "a: 1\nsubset: y\n", "a: 1\n...\n"):
        with pytest.raises(InputError, match="subset: got a choice; expected a file to whose end a key can be added"):
            choose(text, "subset", "x", "s.yaml")


def test_sets_are_not_looked_at_in_a_file_with_other_problems() -> None:
    text = changed("arm_diameter: {start: 0.02, stop: 0.04, num: 3}", "arm_diameter: {values: 0.02, num: 3}")
    assert refused(text).count("\n") == 0
    assert "design.list.arm_diameter.values: got 0.02; expected a list" in refused(text)
