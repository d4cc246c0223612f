# ruff: noqa: E501 - tables
"""Robot files: what is written is read back to the last bit, hand-written ones are families, bad ones are refused."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import InputError
from pipeline.robot_files.reader import find_family, name_from, parse_robot, read_description
from robots import catalog
from robots.formats import writing
from robots.formats.description import Description, describe
from robots.formats.families import family_of
from robots.model import Robot
from tasks import inverse_dynamics
from tests.pipeline.robot_files.arm import ARM

EXAMPLES = Path(__file__).parents[3] / "examples" / "robots"
FIVE_BAR, DELTA = ((EXAMPLES / f"{name}.yaml").read_text() for name in ("five_bar", "delta"))


def scaled(name: str, seed: int) -> Robot:
    """A robot of the catalogue with every parameter a little larger, by one factor: bodies stay possible."""
    factor = np.random.default_rng(seed).uniform(1.0, 1.01)
    upper = {each.name: each.upper for each in catalog.FAMILIES[name].parameters}
    return catalog.build(name, **{k: min(v * factor, upper[k]) for k, v in catalog.build(name).values.items()})


@pytest.mark.parametrize("name", sorted(catalog.FAMILIES))
def test_a_robot_of_the_catalogue_is_read_back_to_the_last_bit(name: str) -> None:
    for robot in (catalog.build(name), scaled(name, 1)):
        made = describe(robot)
        read = parse_robot(writing.text(made), name)
        assert repr(read.template) == repr(made.template)
        assert read.family.reference == robot.mechanism
        assert (read.name, read.title, read.source) == (robot.name, robot.family.title, robot.family.source)
        assert writing.text(read) == writing.text(made)


def test_motors_that_a_loop_ties_together_are_told_at_their_limb() -> None:
    with pytest.raises(
        InputError, match=r"^f:34:5 limbs\.RR\[2RR\]R: got the driven joints 3, 4 of a loop with 1 freedom"
    ):
        parse_robot(DELTA.replace('actuated: ["1"]', 'actuated: ["1", "3", "4"]'), "f")


def test_a_file_with_expressions_is_read_back() -> None:
    for text in (FIVE_BAR, DELTA, ARM):
        read = parse_robot(text, "f")
        assert parse_robot(writing.text(read, "a\ncomment"), "g") == read
        assert parse_robot("robot: 1\n".replace("robot: 1\n", writing.flow(read)), "h") == read


@pytest.mark.parametrize(("text", "name"), [(FIVE_BAR, "five_bar"), (DELTA, "delta_3rr2rrr")])
def test_the_examples_move_like_their_models_in_the_catalogue(text: str, name: str) -> None:
    model = scaled(name, 2)
    family = parse_robot(text, "f").family
    values = {each.name: model.values[each.name] for each in family.parameters if each.name in model.values}
    robot = Robot.of(family, values | {"platform_mass": model.mechanism.platform.inertia.mass})
    home, free = np.array(model.mechanism.platform.home.position), np.array([1.0, name != "five_bar", 1.0])
    rng = np.random.default_rng(3)
    position = home + rng.uniform(-0.05, 0.05, (20, 3)) * free
    twist, acceleration = (np.concatenate([np.zeros((20, 3)), rng.normal(size=(20, 3)) * free], 1) for _ in range(2))
    forces = [
        inverse_dynamics(each, position=position, twist=twist, acceleration=acceleration).force
        for each in (robot, model)
    ]
    np.testing.assert_allclose(forces[0], forces[1], rtol=0, atol=1e-11 * np.abs(forces[1]).max())


def test_expressions_serve_numbers_arrays_and_symbols_alike() -> None:
    description = parse_robot(FIVE_BAR, "f")
    values = {each.name: np.array([each.scalar, 0.98 * each.scalar]) for each in description.parameters}
    both = description(values)
    for k in (0, 1):
        one = description({name: float(value[k]) for name, value in values.items()})
        for at, alone in (
            (both.limbs[0].links[1].placement, one.limbs[0].links[1].placement),
            (both.platform.home,) * 2,
        ):
            for row, expected in zip((*at.rotation, at.position), (*alone.rotation, alone.position), strict=True):
                if alone is not both.platform.home:
                    assert [float(np.broadcast_to(x, 2)[k]) for x in row] == list(expected)


def test_a_description_is_the_same_after_a_journey_and_in_another_process() -> None:
    made = parse_robot(DELTA, "f")
    sent = pickle.loads(pickle.dumps(made))
    assert sent == made
    assert sent.family is made.family is family_of("anything", sent)
    assert made != parse_robot(DELTA.replace("0.250", "0.251"), "f")
    code = f"from pipeline.robot_files.reader import parse_robot; print(parse_robot({DELTA!r}, 'f').digest)"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == made.digest


def test_turns_by_parts_of_a_circle_are_exact() -> None:
    frame = "{turn: [{x: 90}, {z: -180}]}"
    read = parse_robot(ARM.replace("{position: [length, 0, 0]}", frame), "f").family.reference
    assert read.limbs[0].links[1].placement.rotation == ((-1, 0, 0), (0, 0, -1), (0, -1, 0))
    turned = parse_robot(ARM.replace("{position: [length, 0, 0]}", "{turn: {y: 60 * length}}"), "f").family.reference
    assert turned.limbs[0].links[1].placement.rotation[0][0] == pytest.approx(math.cos(math.radians(30)), rel=1e-15)
    along = parse_robot(ARM.replace("{position: [length, 0, 0]}", "{along: [length, 0, 0]}"), "f").family.reference
    assert [row[2] for row in along.limbs[0].links[1].placement.rotation] == [1, 0, 0]


def test_a_robot_with_other_values_is_exported_with_them() -> None:
    robot = Robot.of(parse_robot(ARM, "f").family, {"length": 0.7})
    again = parse_robot(writing.text(describe(robot)), "f")
    assert again.family.reference == robot.mechanism
    assert again.parameters[0].default == 0.7


BAD = [
    ("kind: revolute, axis: z", "kind: hinge, axis: z", "or 'screw'. It is called revolute here."),
    ("kind: revolute, axis: z", "kind: universal, axis: z", "Write two links with revolute joints, one after the other."),
    ("placement: {position: [length, 0, 0]}", "placement: [length, 0, 0]", "Write {position: [length, 0, 0]}."),
    ("{default: 0.5, unit: m, lower: 0.1, upper: 2}", "0.5", "parameters.length: got 0.5; expected a mapping of keys"),
    ("{default: 0.5, unit: m, lower: 0.1, upper: 2}", "0.5", "Write {default: 0.5}."),
    ("actuated: [shoulder, elbow]", "actuated: shoulder", "got 'shoulder'; expected a list. Write [shoulder]."),
    ("position: [length, 0, 0]", "position: (length, 0, 0)", "expected a list. Write [length, 0, 0]."),
    ("half: length / 2", "half: 2 * whole, whole: length", "Derived values can use values above them only."),
    ("placement: {", "placement: {turn: {z: 30°}, ", "Write the number alone: turns are in degrees."),
    ("mass: 2", "mass: cos(60)", "mass: got cos(60); expected an angle in radians. Write cos(60 * pi / 180)"),
    ("limbsweep: 1", "limbsweep: 2", "f:1:12 limbsweep: got 2; expected version 1"),
    ("name: arm", "nam: arm", "f:2:1 nam: got an unknown key; expected a known key. Did you mean 'name'?"),
    ("mass: 2", "masss: 2", "inertia.masss: got an unknown key; expected a known key. Did you mean 'mass'?"),
    ("mass: 2, ", "", "got no key 'mass'; expected 'mass', which is required"),
    ("mass: 2", "mass: -1", "inertia.mass: got -1; expected a mass in [0, 1e+06] kg"),
    ("mass: 2", "mass: '1,5'", "inertia.mass: got ','; expected an operator, or the end"),
    ("mass: 2", "mass: 1e13", "got 10000000000000.0; expected a number of at most 1e+12"),
    ("mass: 2", "mass: true", "inertia.mass: got true; expected a number or an expression"),
    ("mass: 2", "mass: lenght", "got the unknown name 'lenght'; expected names of parameters or derived values. Did you"),
    ("mass: 2", "mass: 1 / (length - 0.5)", "which is inf; expected a finite number"),
    ("mass: 2", "mass: sqrt(-length)", "which is nan; expected a finite number"),
    ("mass: 2", "mass: __import__('os')", "got \"'\"; expected names, numbers"),
    ("[0, 0.1, 0.1]", "[0, -0.1, 0.1]", "got principal moments -0.1, 0, 0.1; expected none below 0"),
    ("{mass: 1}", "{mass: 1, moments: [100, 0.1, 0.1]}", "got principal moments 0.1 + 0.1 < 100; expected no moment above the sum"),
    ("[0, 0.1, 0.1]", "[0, 1e9, 1e9]", "expected a body of at most 100 m. Moments are in kg m^2"),
    ("[half, 0, 0]", "[500, 0, 0]", "centre: got 500 m; expected at most 100 m. Lengths are in metres"),
    ("[half, 0, 0]", "[half, 0]", "expected at least 3 entries"),
    ("{position: [length, 0, 0]}", "{along: [0, 0, 1]}", "expected a direction that is not up or down"),
    ("{position: [length, 0, 0]}", "{turn: {w: 90}}", "expected one of 'x', 'y' or 'z'"),
    ("{position: [length, 0, 0]}", "{turn: {x: 90}, along: [1, 0, 0]}", "got turn and along; expected one of turn, along"),
    ("{position: [length, 0, 0]}", "{rotation: [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}", "got a matrix that is no rotation"),
    ("axis: z", "axis: [0, 0, 0]", "axis: got [0.0, 0.0, 0.0]; expected a direction other than zero."),
    ("axis: z", "axis: [0, 1e-300, 0]", "axis: got [0.0, 1e-300, 0.0]; expected a direction other than zero."),
    ("axis: z", "axis: [0, 0, length - 0.5]", "axis: got a direction that is zero with the defaults of the parameters; "),
    ("axis: z", "axis: z, placement: {along: [0, 0, 0]}", "placement.along: got [0.0, 0.0, 0.0]; expected a direction "),
    ("kind: revolute, axis: z", "kind: ball, axis: z", "got 'ball'; expected one of 'revolute', 'prismatic' or 'screw'"),
    ("kind: revolute, axis: z", "kind: screw, axis: z", "no key 'pitch'; expected 'pitch', which a screw joint needs"),
    ("axis: z", "axis: z, pitch: 0.1", "pitch: got 0.1; expected no pitch of a revolute joint. Remove it; kinds with one"),
    ("kind: revolute, axis: z", "kind: screw, pitch: 0, axis: z", "pitch: got 0; expected a pitch other than 0. A joint"),
    ("kind: revolute, axis: z", "kind: screw, pitch: length - 0.5, axis: z", "which is 0; expected a pitch other than 0."),
    ("kind: revolute, axis: z", "kind: screw, pitch: lead, axis: z", "pitch: got the unknown name 'lead'"),
    ("joint: elbow", "joint: shoulder", "got joint shoulder again; expected a name for each joint. Rename one; the first"),
    ("body: lower", "body: upper", "got body upper again; expected a name for each body. A body has one parent"),
    ("body: lower", "body: base", "got 'base'; expected a name for each body"),
    ("parent: base", "parent: lower", "got 'lower'; expected a body further up, or base. Parents come first"),
    ("actuated: [shoulder, elbow]", "actuated: [sholder]", "expected a joint of a link of this limb. Did you mean 'shoulder'"),
    ("actuated: [shoulder, elbow]", "actuated: [elbow, elbow]", "got elbow again; expected every joint once"),
    ("actuated: [shoulder, elbow]", "actuated: []", "got a chain that nothing drives"),
    ("default: 0.5", "default: 5", "default: got 5.0, which is outside [0.1, 2] m; expected a number in [0.1, 2] m"),
    ("lower: 0.1", "lower: 3", "lower: got 3.0; expected at most upper, 2. Swap them."),
    ("unit: m,", "unit: mm,", "unit: got 'mm'; expected an SI unit, or deg. Write it in m."),
    ("unit: m,", "unit: metre,", "unit: got 'metre'; expected an SI unit"),
    ("derived: {half: length / 2}", "derived: {half: other}", "derived.half: got the unknown name 'other'"),
    ("derived: {half", "derived: {sin", "got 'sin'; expected a name that is free"),
    ("derived: {half", "derived: {2nd", "got '2nd'; expected letters from a to z, digits and '_'"),
    ("    actuated", "    tips: [{joint: t, kind: revolute, a: lower}]\n    actuated", "got tips and no platform"),
    ("    actuated", "    loops: [{joint: t, kind: revolute, a: lower}]\n    actuated", "got no key 'b'; expected 'b'"),
    (
        "    actuated",
        "    loops: [{joint: t, kind: spherical, a: lower, b: lower}]\n    actuated",
        "got a joint of lower with itself; expected two bodies",
    ),
    (
        "    actuated",
        "    loops: [{joint: t, kind: spherical, a: lower, b: base}]\n    actuated",
        "loops[0]: got a gap of 0.5 m at the reference pose; expected frames that meet",
    ),
    (
        "    actuated",
        "    loops: [{joint: t, kind: revolute, a: lower, b: base, frame_b: {position: [0.5, 0, 0], turn: {x: 90}}}]\n    actuated",
        "got axes that are 1.5708 rad apart at the reference pose",
    ),
    (
        "    actuated",
        "    loops: [{joint: t, kind: revolute, a: lower, b: base, frame_b: {position: [0.5, 0, 0], turn: {x: 180}}}]\n    actuated",
        "got axes that are 3.14159 rad apart at the reference pose",
    ),
    ("axis: z", "axis: z, armature: -1", "armature: got -1; expected an inertia of at least 0"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), BAD, ids=[f"{new[:30]} {message[:20]}" for _, new, message in BAD])
def test_a_bad_chain_is_refused_at_its_place(old: str, new: str, message: str) -> None:
    assert old in ARM
    with pytest.raises(InputError) as caught:
        parse_robot(ARM.replace(old, new, 1), "f")
    assert message in str(caught.value)
    assert all(problem.line for problem in caught.value.problems)


def test_one_number_in_place_of_three_is_no_list_of_it() -> None:
    with pytest.raises(InputError, match=r"moments: got 0\.1; expected a list\.$"):
        parse_robot(ARM.replace("moments: [0, 0.1, 0.1]", "moments: 0.1"), "f")


BAD_PLATFORMS = [
    (
        "mobility: [vx, vz]",
        "mobility: [x, vz]",
        "got 'x'; expected one of 'wx', 'wy', 'wz', 'vx', 'vy' or 'vz'. It is called vx",
    ),
    ("mobility: [vx, vz]", "mobility: [pitch, vz]", "It is called wy here."),
    ("mobility: [vx, vz]", "mobility: vx", "expected a list. Write [vx]."),
    ("turn: {z: 180}}, platform", "turn: 180}, platform", "got 180; expected turns by the axis, such as {z: 30}."),
    ("home: {position: [0, 0, -home_height]}", "home: [0, 0, -home_height]", "Write {position: [0, 0, -home_height]}."),
    ("home: {position: [0, 0, -home_height]}", "home: {}", "positions of joints under reference are closed"),
    ("mobility: [vx, vz]", "mobility: [vz, vx, vz]", "expected every component once"),
    ("mobility: [vx, vz]", "mobility: [vx, vy, vz]", "got 3 freedoms and 2 actuators; expected at least as many"),
    ("limb: RRR}", "limb: RR}", "instances.left.limb: got 'RR'; expected one of limbs. Did you mean 'RRR'?"),
    (", base: {turn: {z: 180}}, platform: {turn: {z: 180}}", "", "instances.right: got the place of left"),
    ("home: {position: [0, 0, -home_height]}", "home: {}", "got a gap of 0.6 m at the reference pose"),
    (
        "frame_b: {turn: {x: 90}}",
        "frame_b: {turn: {x: 90}}\n        b: proximal",
        "expected no other body: a tip joins",
    ),
    (
        "platform:\n  inertia",
        "platfrom:\n  inertia",
        "got several limbs and no platform; expected a platform, or one limb",
    ),
    ("instances:\n", "instance:\n", "Did you mean 'instances'"),
    ('actuated: ["1"]', 'actuated: ["1"]\n    independent: ["1"]', "expected no key of a limb with tips"),
    ("    tips:\n", "    loops:\n", "limbs.RRR: got no tips; expected joints at the platform under tips"),
    ("default: 0.53", "default: 5.3", "is nan; expected a finite number of at most 1e+12. With the defaults"),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD_PLATFORMS, ids=[row[2][:30] for row in BAD_PLATFORMS])
def test_a_bad_robot_with_a_platform_is_refused(old: str, new: str, message: str) -> None:
    assert old in FIVE_BAR
    with pytest.raises(InputError) as caught:
        parse_robot(FIVE_BAR.replace(old, new, 1), "f")
    assert message in str(caught.value)


def test_all_problems_are_told_at_once() -> None:
    bad = ARM.replace("mass: 2", "mass: heavy").replace("parent: upper", "parent: uper").replace("elbow]", "knee]")
    with pytest.raises(InputError) as caught:
        parse_robot(bad, "f")
    assert len(caught.value.problems) >= 2


def test_what_follows_from_a_value_that_is_none_is_not_told_again() -> None:
    """Check that of 15 values that are not finite only the first, the cause, is reported."""
    with pytest.raises(InputError) as caught:
        parse_robot(FIVE_BAR.replace("default: 0.53", "default: 5.3"), "robot")
    (problem,) = caught.value.problems
    assert "derived.s: got sqrt ( 1 - c ** 2 ), which is nan" in str(problem)


def test_what_the_format_cannot_say_is_not_written() -> None:
    arm = parse_robot(ARM, "f")
    with pytest.raises(ValueError, match=r"axis .* expected a coordinate axis"):
        writing.axis_name((0.6, 0.8, 0.0))
    mechanism = arm.template
    twice = type(mechanism)(mechanism.limbs * 2, mechanism.instances, mechanism.platform)
    with pytest.raises(ValueError, match="limbs of arm share a name"):
        writing.text(Description("arm", "", "", (), (), twice))


def test_commands_name_robots_of_the_catalogue_and_files(tmp_path: Path) -> None:
    (tmp_path / "arm.yaml").write_text(ARM)
    assert find_family("five_bar") is catalog.family("five_bar")
    assert find_family(str(tmp_path / "arm.yaml")).name == "arm"
    assert read_description(tmp_path / "arm.yaml") == parse_robot(ARM, "f")
    assert name_from("five_bar", tmp_path) == "five_bar"
    assert name_from(str(tmp_path / "arm.yaml"), tmp_path) == "./arm.yaml"
    with pytest.raises(InputError, match="got a robot file elsewhere; expected a robot file in the folder"):
        name_from(str(tmp_path / "arm.yaml"), tmp_path / "below")
