"""Mistakes that newcomers made: each is refused with its remedy, or told in a warning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from pipeline import Sweep
from pipeline.documents.units import UNITS, check_unit, conversion
from pipeline.errors import InputError
from robots.formats import checks
from robots.geometry import diagonal
from robots.limits import Capacity, JointLimit
from robots.model import Inertia
from robots.parameter_errors import ParameterError

HEAD = "limbsweep: 1\nrobot: {robot}\n"
CIRCLE = "trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}\n"
TIME = "time: {stop: 1.0, step: 0.1}\nmetrics: [peak_force]\n"
FIVE_BAR = HEAD.format(robot="five_bar")


def refused(text: str) -> str:
    with pytest.raises(InputError) as caught:
        Sweep.from_text(text, "sweep.yaml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("line", "place", "number", "right"),
    [
        ("trajectories: {c: {kind: circle, radius: 0,1, normal: [0, 1, 0]}}", "3:44 trajectories.c", "0,1", "0.1"),
        ("trajectories: {c: {kind: circle, radius: 0,05}}", "3:44 trajectories.c", "0,05", "0.05"),
        ("parameters: {proximal_length: 12,5}", "3:34 parameters", "12,5", "12.5"),
        ("time: {stop: -1,0, step: 0.1}", "3:17 time", "-1,0", "-1.0"),
    ],
)
def test_a_comma_in_a_number_inside_braces_is_told_as_one(line: str, place: str, number: str, right: str) -> None:
    told = f"sweep.yaml:{place}: got {number}, a number with a comma; expected a number with a decimal point."
    assert f"{told} Write {right}:" in refused(f"{FIVE_BAR}{line}\n")


def test_keys_that_are_numbers_and_lists_of_numbers_are_no_commas() -> None:
    assert "got key 1; expected keys that are text" in refused(FIVE_BAR + "parameters: {a: 0,1: 2}\n")
    listed = Sweep.from_text(FIVE_BAR + "design: {grid: {payload_mass: [0,5]}}\n" + CIRCLE + TIME)
    assert listed.design.values(0, 2)["payload_mass"].tolist() == [0.0, 5.0]


def test_a_robot_file_that_is_missing_is_told_at_the_key_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "my_robot.yaml").write_text("limbsweep_robot: 1\n")
    sweep = tmp_path / "sweep.yaml"
    sweep.write_text(HEAD.format(robot="./my_robt.yaml") + CIRCLE + TIME)
    with pytest.raises(InputError, match=r"sweep.yaml:2:8 robot: got .*my_robt.yaml, no such file.*my_robot.yaml"):
        Sweep.from_yaml(sweep)


def test_moments_of_a_planar_body_are_refused_with_those_of_a_plate() -> None:
    (told,) = checks.check_inertia(Inertia(2.0, (0.1, 0.0, 0.0), diagonal(0.0, 0.0, 0.01)))
    assert told.got == "principal moments 0 + 0 < 0.01"
    assert told.hint == (
        "Such moments are physically impossible. A thin plate with this moment has 0.005, 0.005 and 0.01: it moves "
        "alike in its plane."
    )
    assert not list(checks.check_inertia(Inertia(2.0, (0.1, 0.0, 0.0), diagonal(0.005, 0.005, 0.01))))
    (rod,) = checks.check_inertia(Inertia(2.0, (0.1, 0.0, 0.0), diagonal(0.0, 0.005, 0.01)))
    assert rod.hint == "Such moments are physically impossible."


def test_latin_1_is_told_by_line_column_and_letter(tmp_path: Path) -> None:
    sweep = tmp_path / "sweep.yaml"
    sweep.write_bytes((FIVE_BAR + "title: Größe\n").encode("latin-1"))
    with pytest.raises(InputError, match=r"sweep.yaml:3:10: got byte 0xf6, in Latin-1 the letter ö; expected UTF-8"):
        Sweep.from_yaml(sweep)


def test_parameters_in_degrees_take_angles_in_any_unit() -> None:
    head = HEAD.format(robot="gough_stewart") + "trajectories: {c: {kind: circle}}\n" + TIME
    right = [2.5, 3.0]
    for unit, numbers in (
        ("deg", right),
        ("rad", np.radians(right).tolist()),
        ("mrad", (1e3 * np.radians(right)).tolist()),
    ):
        listed = f"design: {{list: {{base_half_angle: {{values: {numbers}, unit: {unit}}}}}}}\n"
        values = Sweep.from_text(head + listed).design.values(0, 2)["base_half_angle"]
        np.testing.assert_allclose(values, right, rtol=1e-15)
    assert "a unit of [deg]. Known: rad, mrad, deg." in refused(
        f"{head}design: {{list: {{base_half_angle: {{values: [1], unit: mm}}}}}}\n"
    )


@pytest.mark.parametrize("name", UNITS)
def test_conversions_go_there_and_back(name: str) -> None:
    unit = UNITS[name]
    assert check_unit(name, unit.si) is None
    assert conversion(name, unit.si) is unit
    assert conversion(name, name).to_si(0.1) == 0.1
    np.testing.assert_allclose(conversion(unit.si, name).to_si(unit.to_si(0.1)), 0.1, rtol=1e-15)


@pytest.mark.parametrize(
    ("section", "told"),
    [
        (
            "trajectories: {c: {kind: circle, radius: 0, normal: [0, 1, 0]}}\n",
            "radius: got 0; expected a number in [1e-06,",
        ),
        (
            "trajectories: {c: {kind: helix, radius: 0, normal: [0, 1, 0]}}\n",
            "radius: got 0; expected a number in [1e-06,",
        ),
        (
            CIRCLE + "criteria: {capsules: {links: {all: 0}}}\n",
            "criteria.capsules.links.all: got 0; expected a number above 0",
        ),
        (
            CIRCLE
            + "criteria: {capsules: {links: {all: 0.1}, base: [{start: [0, 0, 0], end: [0, 0, 1], radius: 0}]}}\n",
            "criteria.capsules.base[0].radius: got 0; expected a number above 0",
        ),
        (CIRCLE + "friction: {law: viscous, joints: ['***']}\n", "'***' has stars side by side"),
        (CIRCLE + "limits: {joints: {'left.**': {velocity: 1}}}\n", "'left.**' has stars side by side"),
        (CIRCLE + "limits: {actuators: {all: {force: .nan}}}\n", "force: got .nan; expected a finite number"),
        (
            CIRCLE + "study: {objectives: ['min peak_force, quantile 2 over cases'], cases: [trajectory]}\n",
            "study.objectives[0]: got quantile 2; expected a quantile from 0 to 1",
        ),
    ],
)
def test_numbers_that_mean_nothing_are_refused(section: str, told: str) -> None:
    assert told in refused(FIVE_BAR + section + TIME)


def test_a_rate_limit_of_zero_is_refused() -> None:
    controller = "simulation: {controller: {kind: pd, parameters: {kp: 1, kd: 1, rate_limit: 0}}}\n"
    assert "rate_limit: got 0.0; expected a number of at least 1e-09" in refused(FIVE_BAR + CIRCLE + controller + TIME)


@pytest.mark.parametrize("record", [Capacity, JointLimit])
def test_limits_that_are_no_numbers_are_refused_in_python(record: type[Capacity | JointLimit]) -> None:
    with pytest.raises(ParameterError, match="velocity: got nan; expected a number"):
        record(velocity=float("nan"))


def warned(text: str) -> list[str]:
    return [str(warning) for warning in Sweep.from_text(text, "sweep.yaml").warnings]


PLANAR = HEAD.format(robot="planar_3r") + TIME


@pytest.mark.parametrize("motion", ["{kind: harmonic, amplitude: [90, 45, 30]}", "{kind: quintic, end: -90}"])
def test_angles_that_look_like_degrees_are_told(motion: str) -> None:
    (told,) = warned(f"{PLANAR}trajectories: {{swing: {motion}}}\n")
    assert "got a joint that turns by" in told
    assert "90 rad, 14.3 turns; expected angles within two turns. Angles are in rad;" in told
    assert "deg are" in told


def test_angles_of_two_turns_and_lengths_are_not_told() -> None:
    assert warned(f"{PLANAR}trajectories: {{swing: {{kind: harmonic, amplitude: [12, 0.4, 0.3]}}}}\n") == []
    slides = HEAD.format(robot="scara") + TIME  # its third joint slides
    told = warned(slides + "trajectories: {swing: {kind: harmonic, amplitude: [0.1, 0.1, 20, 0.1]}}\n")
    assert not any("turns by" in text for text in told)


@pytest.mark.parametrize(
    ("section", "key"),
    [
        ("parameters: {payload_mass: 1000}\n", "parameters.payload_mass"),
        ("loads: {crate: {kind: object, body: platform, mass: 1000}}\n", "loads.crate.mass"),
        ("design: {grid: {payload_mass: [0, 1, 1000]}}\n", "design"),
    ],
)
def test_a_payload_that_is_much_heavier_than_the_robot_is_told(section: str, key: str) -> None:
    (told,) = warned(FIVE_BAR + CIRCLE + TIME + section)
    assert f" {key}: got " in told
    assert "of 1000 kg; expected at most 20 times the mass of the bodies of the robot, 6.1 kg." in told
    assert warned(FIVE_BAR + CIRCLE + TIME + section.replace("1000", "100")) == []


def test_check_exits_with_1_where_every_sample_that_is_tried_fails(tmp_path: Path) -> None:
    sweep = tmp_path / "sweep.yaml"
    sweep.write_text(FIVE_BAR + CIRCLE.replace("normal", "centre: [9, 0, 0], normal") + TIME)
    failed = CliRunner().invoke(cli, ["check", str(sweep)])
    assert failed.exit_code == 1
    assert "every sample that was tried failed: the sweep would have no results" in failed.stderr
    assert "Positions of trajectories count from the reference position, (" in failed.stderr
    assert CliRunner().invoke(cli, ["check", "--quick", str(sweep)]).exit_code == 0
    sweep.write_text(FIVE_BAR + CIRCLE + TIME)
    assert CliRunner().invoke(cli, ["check", str(sweep)]).exit_code == 0


def test_an_energy_of_points_at_rest_is_warned_of() -> None:
    text = """
limbsweep: 1
robot: five_bar
trajectories:
  swing: {kind: line_sine, amplitude: [0.05, 0, 0], period: 1.0, time: {stop: 1, samples: 5}}
  reach: {kind: workspace, size: [0.1, 0, 0.1], counts: [2, 1, 2], time: {stop: 1, samples: 4}}
metrics: [energy, peak_force, usable_share]
study: {objectives: [min energy_sum], where: [usable_share >= 1]}
"""
    (warning,) = Sweep.from_text(text).warnings
    assert "energy_sum, also of reach, whose points are no motion" in str(warning)
    assert "Write energy_sum_on_swing." in str(warning)
    assert not Sweep.from_text(text.replace("min energy_sum", "min energy_sum_on_swing")).warnings
    assert not Sweep.from_text(text.replace("min energy_sum", "min peak_force")).warnings


def test_cases_that_no_design_has_all_of_are_warned_of() -> None:
    text = """
limbsweep: 1
robot: five_bar
design:
  sample:
    method: sobol
    count: 8
    seed: 1
    parameters: {proximal_length: {low: 0.5, high: 0.55}, payload_mass: {low: 0, high: 2}}
  where: [proximal_length < 0.54]
trajectories: {swing: {kind: line_sine, amplitude: [0.05, 0, 0], period: 1.0}}
time: {stop: 1, samples: 5}
metrics: [peak_force]
study: {objectives: [min peak_force], cases: [payload_mass]}
"""
    (warning,) = Sweep.from_text(text).warnings
    assert "study.cases[0]: got payload_mass, which is drawn together with proximal_length; expected" in str(warning)
    assert "such as grid: {payload_mass: {values: [...]}}." in str(warning)
    apart = text.replace(", payload_mass: {low: 0, high: 2}", "").replace(
        "  where", "  grid: {payload_mass: [0, 2]}\n  where"
    )
    assert not Sweep.from_text(apart).warnings
    assert not Sweep.from_text(text.replace(", cases: [payload_mass]", "")).warnings
