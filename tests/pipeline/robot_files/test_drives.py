# ruff: noqa: E501 - tables
"""Drives, rotors and motors of robot files, and inverse trigonometry in their expressions."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import numpy as np
import pytest

import limbsweep as ls
from pipeline.errors import InputError
from pipeline.robot_files.reader import parse_robot
from robots import catalog
from robots.formats import writing
from robots.model import Robot
from robots.parameter_errors import ParameterError
from tasks import forward_dynamics, inverse_dynamics
from tasks.dynamics.inverse import actuator_positions
from tasks.dynamics.records import Forces, Moving
from tests.pipeline.robot_files.arm import ARM

DRIVES = """\
    drives:
      - {name: m1, ratios: {shoulder: gear}, spins: [{inertia: 1e-4, carrier: base, axis: [0, 0, 1]}], motor: {torque_constant: 0.1, resistance: 0.5}}
      - {name: m2, position: "20 * atan2(sin(elbow), 2 + cos(elbow)) + length * shoulder", motor: {torque_constant: 0.1}}
"""
SHORT, LONG = "inertia: {mass: 1}", "inertia: {mass: 1, centre: [0.2, 0, 0]}"
DRIVEN = ARM.replace("upper: 2}}", "upper: 2}, gear: {default: 50}}") + DRIVES


def test_drives_are_read_and_written() -> None:
    made = parse_robot(DRIVEN, "f")
    assert parse_robot(writing.text(made), "g") == made == pickle.loads(pickle.dumps(made))
    robot = Robot.of(made.family, {"length": 0.7, "gear": 30.0})
    q = np.array([0.3, -0.4])
    expected = [9.0, 20 * math.atan2(math.sin(-0.4), 2 + math.cos(-0.4)) + 0.7 * 0.3]
    np.testing.assert_allclose(actuator_positions(robot, q=q).position, expected, rtol=1e-14)


def test_forces_of_motors_do_the_work_of_the_joints() -> None:
    robot, plain = (
        Robot.of(parse_robot(text, "f").family, {})
        for text in (LONG.join(DRIVEN.split(SHORT)), LONG.join(ARM.split(SHORT)))
    )
    moving: Moving = {"q": np.array([0.3, -0.4]), "qd": np.array([1.0, 2.0]), "qdd": np.array([-1.0, 3.0])}
    force, joint = inverse_dynamics(robot, **moving).force, inverse_dynamics(plain, **moving).force
    step = 1e-6
    rows = [
        (actuator_positions(robot, q=moving["q"] + e).position - actuator_positions(robot, q=moving["q"] - e).position)
        / (2 * step)
        for e in np.eye(2) * step
    ]
    joint[0] += 1e-4 * 50.0**2 * -1.0  # the rotor
    np.testing.assert_allclose(np.array(rows) @ force, joint, rtol=1e-7)
    back = forward_dynamics(robot, q=moving["q"], qd=moving["qd"], forces=Forces(actuator=force)).acceleration
    np.testing.assert_allclose(back, [-1.0, 3.0], rtol=1e-9)


BAD = [
    ("name: m1", "name: shoulder", "drives[0].name: got 'shoulder'; expected another name than those of joints"),
    ("name: m2", "name: m1", "drives[1].name: got drive m1 again; expected a name for each drive"),
    ("ratios: {shoulder: gear}, ", "", "drives[0]: got a drive that moves nothing; expected ratios of joints, or position"),
    ("shoulder: gear", "sholder: gear", "drives[0].ratios.sholder: got 'sholder'; expected a joint of a link of this limb. Did you mean"),
    ("carrier: base", "carrier: stator", "drives[0].spins[0].carrier: got 'stator'; expected a body of this limb, or base"),
    ("axis: [0, 0, 1]", "axis: [0, 0, 2]", "drives[0].spins[0].axis: got an axis of length 2; expected length 1"),
    ("inertia: 1e-4", "inertia: -1e-4", "drives[0].spins[0].inertia: got -0.0001; expected an inertia of at least 0"),
    ("inertia: 1e-4", "inertia: 1e-4, coupling: 2", "coupling: got 2; expected a number in [0, 1]"),
    ("torque_constant: 0.1, resistance", "torque_constant: 0, resistance", "motor.torque_constant: got 0; expected a torque per current other than 0"),
    ("resistance: 0.5", "resistance: -1", "resistance: got -1; expected a resistance of at least 0"),
    ("sin(elbow)", "sin(wrist)", "drives[1].position: got the unknown name 'wrist'"),
    ("atan2(sin(elbow), 2 + cos(elbow))", "atan2(elbow)", "got 1 argument of atan2; expected 2"),
    ("name: m1,", "nam: m1,", "Did you mean 'name'?"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), BAD, ids=[row[2][:50] for row in BAD])
def test_a_drive_that_cannot_be_is_refused(old: str, new: str, message: str) -> None:
    assert old in DRIVEN
    with pytest.raises(InputError) as caught:
        parse_robot(DRIVEN.replace(old, new, 1), "f")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "angle"),
    [("asin(0.5)", math.asin(0.5)), ("acos(-0.3)", math.acos(-0.3)), ("atan(3)", math.atan(3)), ("atan2(-1, -2)", math.atan2(-1, -2)),
     ("asin(length)", math.asin(0.5)), ("acos(length - 0.9)", math.acos(0.5 - 0.9)), ("atan2(-length, -1)", math.atan2(-0.5, -1)), ("atan2(1, -length)", math.atan2(1, -0.5))],
)  # fmt: skip
def test_angles_follow_from_lengths_in_numbers_and_in_kernels(text: str, angle: float) -> None:
    turned = ARM.replace(
        "placement: {position: [length, 0, 0]}",
        f"placement: {{position: [length, 0, 0], turn: {{x: '180 / pi * {text}'}}}}",
    )
    robot = Robot.of(parse_robot(turned, "f").family, {})
    plain = ARM.replace(
        "placement: {position: [length, 0, 0]}",
        f"placement: {{position: [0.5, 0, 0], turn: {{x: {math.degrees(angle)!r}}}}}",
    )
    other = Robot.of(parse_robot(plain, "f").family, {})
    moving: Moving = {"q": np.array([0.3, -0.4]), "qd": np.array([1.0, 2.0]), "qdd": np.array([-1.0, 3.0])}
    np.testing.assert_allclose(
        inverse_dynamics(robot, **moving).force, inverse_dynamics(other, **moving).force, rtol=1e-12
    )


def test_robot_files_are_read_in_one_line(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.yaml").write_text(ARM)
    assert ls.robots.read("arm.yaml", length=0.7).values == {"length": 0.7}
    with pytest.raises(ParameterError, match="arm has no parameter 'lenght'"):
        ls.robots.read(tmp_path / "arm.yaml", lenght=1)
    with pytest.raises(
        ParameterError,
        match=r"got './arm.yaml', the name of a robot file; expected .*limbsweep.robots.read\('./arm.yaml'\)",
    ):
        catalog.build("./arm.yaml")
    with pytest.raises(ParameterError, match=r"got 'panda.urdf', a file of another program; .*limbsweep import"):
        catalog.build("panda.urdf")


def test_files_of_other_programs_and_own_ones_are_told_apart(tmp_path: Path) -> None:
    foreign, own = tmp_path / "arm.urdf", tmp_path / "arm.yaml"
    foreign.write_text('<?xml version="1.0"?><robot name="a"/>')
    own.write_text("limbsweep: 1\n")
    with pytest.raises(InputError, match=r"got XML; expected a robot file in YAML. Make .* `limbsweep import`"):
        ls.robots.read(foreign)
    with pytest.raises(InputError, match=r"got a name of YAML; expected .* read with limbsweep.robots.read"):
        ls.robots.load(own)
