from __future__ import annotations

import csv
import importlib.util
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner
from scipy.io import savemat

from applications.commands.cli import cli
from applications.identification.estimation.machines.checks.series import check_signals
from applications.identification.estimation.machines.machine_model import nominal
from applications.identification.machines import recorded, results
from applications.identification.machines.description import parse_description, read_description
from applications.identification.machines.identify import MachineIdentification, identify_recordings
from applications.identification.machines.mjcf_text import mjcf_text
from applications.identification.machines.page import page
from applications.identification.machines.urdf_text import roll_pitch_yaw
from pipeline.documents.tables.reader import open_columns
from pipeline.errors import InputError
from pipeline.robot_files.importing import import_robot
from pipeline.robot_files.reader import parse_robot
from robots import catalog
from robots.extras import MissingExtraError
from robots.formats.description import describe
from robots.model import Robot
from robots.parameter_errors import ParameterError
from storage.store import open_arrays
from tasks import inverse_dynamics
from tasks.dynamics.records import Forces
from tests.applications.identification.estimation.machines.synthetic import chain, series
from tests.pipeline.documents.tables.bags import bag_of_ros_1, bag_of_ros_2

HAS_ROSBAGS = importlib.util.find_spec("rosbags") is not None
EXAMPLES = Path(__file__).parents[4] / "examples" / "recordings"
RECORDINGS = os.environ.get("LIMBSWEEP_RECORDINGS", "")
NAMES = ("t", "q1", "q2", "q3", "f1", "f2", "f3")
DESCRIPTION = """
limbsweep: 1
robot: planar_3r
recordings:
  - {files: [one.csv]}
  - {files: [two.csv], role: validation}
time: {column: t}
position: {columns: [q1, q2, q3]}
force: {columns: [f1, f2, f3]}
preparation: {cutoff: 10, rest: 0}
"""


def read_table(path: Path) -> Mapping[str, np.ndarray]:
    """Return all columns of a recording."""
    with open_columns(path) as opened:
        return opened.read(opened.names).columns


@cache
def columns(seed: int) -> np.ndarray:
    recording = chain(catalog.build("planar_3r"), seed=seed)
    return np.column_stack([recording.time, recording.position, recording.force])


def written(folder: Path, text: str = DESCRIPTION, values: np.ndarray | None = None) -> Path:
    for name, seed in (("one.csv", 1), ("two.csv", 2)):
        table = columns(seed) if values is None or seed == 2 else values
        np.savetxt(folder / name, table, delimiter=",", header=",".join(NAMES), comments="", fmt="%.9g")
    path = folder / "machine.yaml"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def identified(tmp_path_factory) -> MachineIdentification:
    return identify_recordings(read_description(written(tmp_path_factory.mktemp("machine"))))


def test_a_machine_is_identified_from_its_files(identified: MachineIdentification) -> None:
    assert identified.fit.errors["one.csv"] < 0.02
    assert identified.fit.errors["two.csv"] < 0.02
    values = {name: (value, deviation) for name, value, deviation in identified.parameters()}
    for name in catalog.build("planar_3r").mechanism.actuators:
        for parameter, truth in (("coulomb", 0.6), ("viscous", 0.4), ("offset", 0.2)):
            value, deviation = values[f"{name}.{parameter}"]
            assert abs(value - truth) < 4.0 * deviation
    rows = dict(identified.rows())
    assert "validation two.csv" in rows
    assert not any("within" in text for text in (*rows, *rows.values()))


def test_motors_gears_signs_units_and_zeros_lead_to_the_same_parameters(
    identified: MachineIdentification, tmp_path: Path
) -> None:
    gear = np.array([[50.0, 0, 0], [0, -40.0, 0], [0, 30.0, 30.0]])
    zero = np.array([0.1, -0.2, 0.3])
    table = columns(1)
    motors = np.rad2deg((table[:, 1:4] - zero) @ gear.T) * [1, 1, -1]
    currents = table[:, 4:] @ np.linalg.inv(gear) / [0.5, 0.25, 2.0]
    np.savetxt(tmp_path / "p.txt", motors)
    np.savetxt(tmp_path / "c.tsv", currents, delimiter="\t", header="\t".join("abc"), comments="")
    text = """
limbsweep: 1
robot: planar_3r
recordings: [{files: [p.txt, c.tsv]}]
time: {rate: 500}
position: {columns: [1, 2, 3], file: 1, unit: deg, sign: [1, 1, -1], of: motors}
force: {columns: [a, b, c], file: 2, unit: A, gain: [0.5, 0.25, 2.0], of: motors}
gear: [[50, 0, 0], [0, -40, 0], [0, 30, 30]]
zero: [0.1, -0.2, 0.3]
preparation: {cutoff: 10, rest: 0}
"""
    description = parse_description(text, str(tmp_path / "machine.yaml"))
    signals = description.signals()[0]
    assert np.allclose(signals.position, table[:, 1:4], atol=1e-9)
    assert np.allclose(signals.force, table[:, 4:], atol=1e-9)
    result = identify_recordings(description)
    assert "drive_3.coulomb" in [column.name for column in result.machine.columns]


@pytest.mark.parametrize("form", ["mat", "npz", "parquet", "h5"])
def test_columns_of_every_kind_of_file(tmp_path: Path, form: str) -> None:
    table = columns(1)
    path = tmp_path / f"run.{form}"
    if form == "mat":
        savemat(path, {"t": table[:, :1], "q": table[:, 1:4], "gain": 3.0})
    elif form == "npz":
        np.savez(path, t=table[:, 0], q=table[:, 1:4], note=np.array("text"))
    elif form == "parquet":
        arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(arrow.table({"t": table[:, 0], "q[1]": table[:, 1], "q[2]": table[:, 2]}), path)
    else:
        h5py = pytest.importorskip("h5py")
        with h5py.File(path, "w") as file:
            file["t"] = table[:, 0]
            file["q"] = table[:, 1:4]
    found = read_table(path)
    assert np.array_equal(found["t"], table[:, 0])
    assert np.array_equal(found["q[2]"], table[:, 2])
    assert "gain" not in found


@pytest.mark.parametrize("several", [False, True])
def test_joint_states_of_a_bag_are_columns(tmp_path: Path, several: bool) -> None:
    table = columns(1)[:20]
    topics = ["/joint_states", "/other/joint_states"] if several else ["/joint_states"]
    bag_of_ros_1(tmp_path / "run.bag", table, topics)
    found = read_table(tmp_path / "run.bag")
    prefix = "joint_states." if several else ""
    np.testing.assert_allclose(found[f"{prefix}time"], table[:, 0], atol=1e-7)
    np.testing.assert_array_equal(found[f"{prefix}position.b"], table[:, 2])
    np.testing.assert_array_equal(found[f"{prefix}effort.c"], table[:, 6])
    assert f"{prefix}velocity.a" not in found


def test_a_machine_is_identified_from_a_bag(tmp_path: Path, identified: MachineIdentification) -> None:
    part = bag_of_ros_2(tmp_path / "run", columns(1))
    text = DESCRIPTION.replace("  - {files: [two.csv], role: validation}\n", "")
    for old, new in (("one.csv", f"run/{part.name}"), ("column: t", "column: time")):
        text = text.replace(old, new)
    text = text.replace("[q1, q2, q3]", "[position.a, position.b, position.c]")
    (tmp_path / "machine.yaml").write_text(text.replace("[f1, f2, f3]", "[effort.a, effort.b, effort.c]"))
    output = tmp_path / "found.json"
    done = CliRunner().invoke(cli, ["identify", str(tmp_path / "machine.yaml"), "--output", str(output)])
    assert done.exit_code == 0, done.output
    rows = [row for row in json.loads(output.read_text())["parameters"] if row["kind"] == "base"]
    off = np.array([row["value"] for row in rows]) - identified.fit.values
    assert (np.abs(off) < 0.01 * identified.fit.deviations).all()


@pytest.mark.parametrize("plugin", ["SQLITE3", "MCAP"])
def test_joint_states_of_a_bag_of_ros_2_are_columns(tmp_path: Path, plugin: str) -> None:
    table = columns(1)[:20]
    part = bag_of_ros_2(tmp_path / "run", table, plugin)
    found = read_table(part)
    np.testing.assert_allclose(found["time"], table[:, 0], atol=1e-7)
    np.testing.assert_array_equal(found["position.b"], table[:, 2])
    np.testing.assert_array_equal(found["effort.c"], table[:, 6])
    assert "velocity.a" not in found
    part.write_bytes(b"no bag")
    with pytest.raises(InputError, match=r"a bag of ROS 1 or 2"):
        read_table(part)


def test_results_are_written(identified: MachineIdentification, tmp_path: Path) -> None:
    results.save_parameters(identified, tmp_path / "found.csv")
    with (tmp_path / "found.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["kind"] for row in rows} == {"base", "standard"}
    assert [float(row["value"]) for row in rows if row["kind"] == "base"] == identified.fit.values.tolist()
    assert [float(row["deviation"]) for row in rows if row["kind"] == "base"] == identified.fit.deviations.tolist()
    assert all(tuple(row) == results.COLUMNS for row in rows)
    results.save_parameters(identified, tmp_path / "found.json")
    content = json.loads((tmp_path / "found.json").read_text())
    assert content["consistent"] is True
    of_each = (
        "residuals of {} are white noise",
        "friction of {} is as its law",
        "friction of {} stays as it is",
        "gain of {} stays as it is",
        "forces of {} are on time",
        "{} moves its bodies after reversals",
    )
    actuators = catalog.build("planar_3r").mechanism.actuators
    questions = [text.format(name) for text in of_each for name in actuators]
    answers = [(test["question"], test["answer"]) for test in content["tests"]]
    assert sorted(answers) == sorted((question, "yes") for question in ("forces are on time", *questions))
    assert all(0.0 < test["chance"] <= 1.0 for test in content["tests"])
    results.save_dataset(identified, tmp_path / "found.nc")
    with xr.open_dataset(tmp_path / "found.nc", engine="scipy") as data:
        residuals = (data["force"] - data["predicted_force"]).where(data["role"] == "train", drop=True)
        share = np.linalg.norm(residuals) / np.linalg.norm(data["force"].where(data["role"] == "train", drop=True))
        assert share == pytest.approx(identified.fit.errors["one.csv"], rel=1e-6)
    text = page(identified)
    assert text.count("<svg") == 4
    assert "<script" not in text
    assert "link_1.Izz" in text
    assert "residuals of joint_3 are white noise" in text


def test_the_identified_robot_comes_back_from_its_files(identified: MachineIdentification, tmp_path: Path) -> None:
    results.save_robot(identified, tmp_path / "found.yaml")
    results.save_robot(identified, tmp_path / "found.urdf")
    nominal = catalog.build("planar_3r")
    from_file = Robot.of(parse_robot((tmp_path / "found.yaml").read_text(), "found.yaml").family, {})
    from_urdf = Robot.of(import_robot(tmp_path / "found.urdf").description.family, {})
    _, q, qd, qdd = series(3, 1.0, seed=5)
    expected = inverse_dynamics(nominal, q=q, qd=qd, qdd=qdd).force
    found = inverse_dynamics(from_file, q=q, qd=qd, qdd=qdd).force
    assert np.linalg.norm(found - expected) < 0.02 * np.linalg.norm(expected)
    # URDF has no inertia of drives: compared where nothing accelerates
    still = inverse_dynamics(from_file, q=q, qd=qd, qdd=qdd * 0.0).force
    assert np.allclose(inverse_dynamics(from_urdf, q=q, qd=qd, qdd=qdd * 0.0).force, still, rtol=1e-9, atol=1e-9)


def test_angles_of_urdf_are_those_of_the_rotation() -> None:
    from tasks.mathematics.rotations import roll_pitch_yaw as turned

    for angles in ([0.3, -0.4, 2.0], [0.5, np.pi / 2, 0.0], [0.7, -np.pi / 2, 0.4]):
        still = np.zeros((1, 3))
        rotation = turned(np.array([angles]), still, still).rotation[0]
        again = turned(np.array([roll_pitch_yaw(rotation)]), still, still).rotation[0]
        assert np.allclose(again, rotation, atol=1e-12)


@pytest.mark.parametrize("name", ["planar_3r", "five_axis_tree"])
def test_mujoco_has_the_same_forces_by_the_mjcf_of_a_robot(name: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    robot = catalog.build(name)
    model = mujoco.MjModel.from_xml_string(mjcf_text(describe(robot), {robot.mechanism.actuators[0]: (0.7, 0.0)}))
    state, joints = mujoco.MjData(model), robot.mechanism.freedoms
    random = np.random.default_rng(3)
    q, qd, qdd = random.normal(size=(3, 5, len(joints)))
    friction = {"law": "viscous", "viscous": 0.7, "joints": [robot.mechanism.actuators[0]]}
    expected = inverse_dynamics(robot, q=q, qd=qd, qdd=qdd, forces=Forces(friction=friction)).force
    at = [model.joint(joint).dofadr[0] for joint in joints]
    for row in range(5):
        for target, values in ((state.qpos, q), (state.qvel, qd), (state.qacc, qdd)):
            target[at] = values[row]
        mujoco.mj_inverse(model, state)
        np.testing.assert_allclose(state.qfrc_inverse[at], expected[row], rtol=1e-6, atol=1e-8)


def test_loops_are_equalities_of_an_mjcf_and_platforms_are_refused() -> None:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(mjcf_text(describe(catalog.build("three_loop_leg"))))
    assert model.neq >= 3
    state = mujoco.MjData(model)
    mujoco.mj_forward(model, state)
    assert np.abs(state.efc_pos[: state.ne]).max() < 1e-6
    with pytest.raises(ValueError, match="has a platform, which this file cannot say; expected a chain"):
        mjcf_text(describe(catalog.build("five_bar")))


def test_a_robot_with_loops_has_no_urdf() -> None:
    from applications.identification.machines.urdf_text import urdf_text

    with pytest.raises(ValueError, match="closed loops or a platform, which URDF cannot say"):
        urdf_text(describe(catalog.build("five_bar")))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("robot: planar_3r", "robot: planar_4r"), "planar_3r"),
        (("robot: planar_3r\n", ""), "got no key 'robot'; expected a robot of the catalogue"),
        (
            ("[q1, q2, q3]", "[q1, q2]"),
            "one for each actuator of planar_3r. They are joint_1, joint_2, joint_3; fix joints in",
        ),
        (
            ("[q1, q2, q3]", "[q1, q2, q4]"),
            "got no column 'q4' for position; expected a column of the file. It has t, q1",
        ),
        (("{column: t}", "{}"), "time: got both or none of column and rate"),
        (("[f1, f2, f3]}", "[f1, f2, f3], unit: A}"), "force.unit: got 'A'; expected a gain with this unit"),
        (("[f1, f2, f3]}", "[f1, f2, f3], unit: kgm}"), "force.unit: got 'kgm'; expected a unit of N m, A, mA or %"),
        (("[f1, f2, f3]}", "[f1, f2, f3], sign: [1, 2, 1]}"), "force.sign: got"),
        (("cutoff: 10", "cutof: 10"), "an unknown key"),
        (("one.csv", "on.csv"), "recordings[0].files[0]: got 'on.csv'; expected a file in"),
        (("rest: 0}", "rest: 0}\nestimate: {method: weigthed}"), "estimate.method: got 'weigthed'"),
        (("rest: 0}", "rest: 0}\nestimate: {deviations: bootstap}"), "estimate.deviations: got 'bootstap'"),
        (("rest: 0}", "rest: 0}\naccept: [sing]"), "accept[0]: got 'sing'; expected one of"),
        (("rest: 0}", "rest: 0}\ngear: [[1, 0, 0], [1, 0, 0], [0, 0, 1]]"), "gear: got another shape or no inverse"),
        (
            ("rest: 0}", "rest: 0}\nmodel: {columns: {a: {actuator: joint_1, expression: q_joint_9}}}"),
            "expression: got 'q_joint_9'; expected q, qd or qdd of an actuator",
        ),
        (("rest: 0}", "rest: 0}\nlimits: {joint_9: [-1, 1]}"), "limits.joint_9"),
        (("rest: 0}", "rest: 0}\nestimate: {method: output_error}"), "got 'output_error'; expected a key 'reference'"),
        (("rest: 0}", "rest: 0}\nestimate: {method: output_error}"), "got 'output_error'; expected a key 'controller'"),
        (("rest: 0}", "rest: 0}\nestimate: {gains: true, method: consistent}"), "estimate.gains"),
        (
            ("rest: 0}", "rest: 0}\ncontroller: {position_gain: [0], velocity_gain: [1]}"),
            "controller.position_gain: got",
        ),
        (
            ("{files: [one.csv]}", "{files: [one.csv], payload: {body: link_9, mass: 1}}"),
            "recordings[0].payload.body: got 'link_9'; expected a body with inertia",
        ),
        (
            ("{files: [one.csv]}", "{files: [one.csv], payload: {body: link_3}}"),
            "recordings[0].payload: got none of mass and unknown",
        ),
        (
            ("{files: [one.csv]}", "{files: [one.csv], payload: {body: link_3, mass: 1}}"),
            "recordings[0].payload.centre: got a mass without centre",
        ),
        (
            ("{files: [one.csv]}", "{files: [one.csv], payload: {body: link_3, unknown: a, centre: [0, 0, 0]}}"),
            "recordings[0].payload: got unknown beside centre or moments",
        ),
        (
            (
                "{files: [one.csv]}",
                "{files: [one.csv], payload: {body: link_3, unknown: a}}\n"
                "  - {files: [one.csv], name: two, payload: {body: link_2, unknown: a}}",
            ),
            "recordings[1].payload.body: got 'link_2'; expected the body of a in an earlier recording",
        ),
    ],
)
def test_descriptions_that_are_wrong_are_refused(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    path = written(tmp_path, DESCRIPTION.replace(*change))
    with pytest.raises((InputError, ParameterError)) as refusal:
        read_description(path).signals()
    assert message in str(refusal.value)


def test_gains_of_the_controller_are_those_of_their_keys(tmp_path: Path) -> None:
    gains = "controller: {position_gain: [400, 200, 60], velocity_gain: [4], reference_rate: false}"
    description = read_description(written(tmp_path, f"{DESCRIPTION}\n{gains}\n"))
    assert description.controller is not None
    assert description.controller.position_gain.tolist() == [400.0, 200.0, 60.0]
    assert description.controller.velocity_gain.tolist() == [4.0, 4.0, 4.0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "got an empty file"),
        ("a.csv", b"a,b\n1,2\n3,x\n", "1 of 2 rows are no rows of 2 numbers (the first is row 2 below the header)"),
        ("a.csv", b"a,a\n1,2\n", "two columns 'a'"),
        ("a.csv", b"a,b\n", "no row of numbers, and 'a,b' first"),
        ("a.mat", b"nothing", "no MAT file"),
        ("a.npz", b"nothing", "arrays by name, as numpy.savez writes"),
        ("a.bag", b"nothing", "no bag of joint states" if HAS_ROSBAGS else 'pip install "limbsweep[ros]"'),
        ("a.xls", b"x", "got the ending '.xls'; expected one of .csv"),
    ],
)
def test_files_that_are_wrong_are_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises((InputError, MissingExtraError)) as refusal:
        read_table(tmp_path / name)
    assert message in str(refusal.value)
    assert name in str(refusal.value) or isinstance(refusal.value, MissingExtraError)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("sign", "one.csv joint_2: got force and motion have opposite signs"),
        ("swapped", "exchanged with joint_3"),
        ("degrees", "several turns; expected radians; are these degrees?"),
        ("missing", "one.csv joint_1: got force has 200 samples that are no numbers"),
    ],
)
def test_recordings_that_are_wrong_are_refused_unless_accepted(tmp_path: Path, change: str, message: str) -> None:
    table = columns(1).copy()
    if change == "sign":
        table[:, 5] *= -1.0
    elif change == "swapped":
        table = table[:, [0, 1, 2, 3, 4, 6, 5]]
    elif change == "degrees":
        table[:, 1:4] = np.rad2deg(table[:, 1:4])
    else:
        table[40:240, 4] = np.nan
    path = written(tmp_path, values=table)
    done = CliRunner().invoke(cli, ["identify", str(path), "--output", str(tmp_path / "found.csv")])
    assert done.exit_code == 2
    assert message in done.output.replace("\n", " ")
    assert not (tmp_path / "found.csv").exists()
    if change in ("sign", "missing"):
        accepted = DESCRIPTION + f"accept: [{change}]\n"
        result = identify_recordings(read_description(written(tmp_path, accepted, table)))
        assert any(finding.kind == change for finding in result.findings)


URDF = """<robot name="one"><link name="base"/><link name="arm"><inertial><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-0.1" upper="2.5" effort="10" velocity="3"/></joint></robot>"""


def test_motions_beyond_the_range_of_a_urdf_file_are_warned_of(tmp_path: Path) -> None:
    (tmp_path / "one.urdf").write_text(URDF)
    table = columns(1)[:, [0, 1]]
    np.savetxt(tmp_path / "one.csv", np.column_stack([table, np.gradient(np.gradient(table[:, 1]))]), delimiter=",")
    (tmp_path / "one.yaml").write_text(
        "limbsweep: 1\nrobot: one.urdf\nrecordings: [{files: [one.csv]}]\ntime: {column: 1}\n"
        "position: {columns: [2]}\nforce: {columns: [3]}\n"
    )
    description = read_description(tmp_path / "one.yaml")
    assert description.rated == ((-0.1, 2.5),)
    (signals,) = description.signals()
    (finding,) = check_signals(description.robot, signals, None, description.rated)
    assert (finding.kind, finding.is_error) == ("limits", False)
    assert "turn: position from -" in str(finding)
    assert "the robot's file has -0.1 to 2.5" in str(finding)


@pytest.mark.parametrize(
    ("change", "message"),
    [("clipped", "a limit of the drive; they are left out"), ("late", "ms late, which is")],
)
def test_recordings_that_lack_something_are_warned_of(tmp_path: Path, change: str, message: str) -> None:
    table = columns(1).copy()
    if change == "clipped":
        most = 0.7 * table[:, 4].max()
        table[:, 4] = np.clip(table[:, 4], -most, most)
    else:
        for force in table.T[4:]:
            force[:] = np.interp(table[:, 0] - 0.012, table[:, 0], force)
    done = CliRunner().invoke(cli, ["identify", str(written(tmp_path, values=table))])
    assert done.exit_code == 0, done.output
    assert message in " ".join(done.output.split())


def test_instruments_from_files_take_away_the_bias_of_noisy_positions(tmp_path: Path) -> None:
    robot, random = catalog.build("planar_3r"), np.random.default_rng(4)
    clean = columns(1)
    noise = random.normal(size=clean[:, 1:4].shape) * 2e-3
    table = np.column_stack([clean[:, 0], clean[:, 1:4] + noise, clean[:, 4:], clean[:, 1:4]])
    header = ",".join((*NAMES, "r1", "r2", "r3"))
    np.savetxt(tmp_path / "one.csv", table, delimiter=",", header=header, comments="", fmt="%.9g")
    text = DESCRIPTION.replace("  - {files: [two.csv], role: validation}\n", "").replace("cutoff: 10", "cutoff: 15")
    path = tmp_path / "machine.yaml"
    path.write_text(text + "reference: {columns: [r1, r2, r3]}\n")
    wrong = {}
    for method in ("weighted", "instrumental"):
        result = identify_recordings(read_description(path, method=method))
        assert result.fit.method == method
        values = dict(zip((c.name for c in result.machine.columns), nominal(robot, result.machine.model), strict=True))
        for name in robot.mechanism.actuators:
            values |= {f"{name}.coulomb": 0.6, f"{name}.viscous": 0.4, f"{name}.offset": 0.2}
        truth = result.machine.base.of(list(values.values()))[list(result.fit.kept)]
        wrong[method] = np.abs(result.fit.values - truth) / result.fit.deviations
    assert np.mean(wrong["instrumental"] < 1.96) >= 0.8
    assert np.square(wrong["instrumental"]).mean() < 0.5 * np.square(wrong["weighted"]).mean()


def test_the_command_takes_a_robot_and_files(tmp_path: Path) -> None:
    text = "\n".join(line for line in DESCRIPTION.splitlines() if "robot" not in line and "recordings" not in line)
    text = "\n".join(line for line in text.splitlines() if not line.startswith("  - "))
    path = written(tmp_path, text)
    arguments = ["identify", "planar_3r", str(tmp_path / "one.csv"), "--validation", str(tmp_path / "two.csv")]
    outputs = ["--robot", str(tmp_path / "found.urdf"), "--report", str(tmp_path / "found.html")]
    done = CliRunner().invoke(
        cli, [*arguments, "--columns", str(path), *outputs, "--method", "consistent", "--deviations", "bootstrap"]
    )
    assert done.exit_code == 0, done.output
    assert "validation two.csv" in done.output
    assert ["deviations", "bootstrap"] in [line.split() for line in done.output.splitlines()]
    assert (tmp_path / "found.urdf").exists()
    assert (tmp_path / "found.html").exists()
    again = CliRunner().invoke(cli, [*arguments, "--columns", str(path), *outputs])
    assert again.exit_code == 2
    assert "exists already" in again.output
    without = CliRunner().invoke(cli, arguments)
    assert without.exit_code == 2
    assert "--columns: got none; expected a recording description" in without.output


@pytest.mark.parametrize("form", ["catalogue", "robot file", "urdf"])
def test_a_store_of_recordings_gives_the_same_bits(
    tmp_path: Path, identified: MachineIdentification, form: str
) -> None:
    text = DESCRIPTION
    if form != "catalogue":
        name = "arm.yaml" if form == "robot file" else "arm.urdf"
        results.save_robot(identified, tmp_path / name)
        text = text.replace("robot: planar_3r", f"robot: {name}")
    path, store = written(tmp_path, text), str(tmp_path / "recordings.zarr")
    command = ["identify", str(path), "--output", str(tmp_path / "first.csv"), "--store", store]
    first = CliRunner().invoke(cli, command)
    assert first.exit_code == 0, first.output
    for gone in ("one.csv", "two.csv", "machine.yaml", "arm.yaml", "arm.urdf"):
        (tmp_path / gone).unlink(missing_ok=True)
    second = CliRunner().invoke(cli, ["identify", store, "--output", str(tmp_path / "second.csv")])
    assert second.exit_code == 0, second.output
    assert (tmp_path / "first.csv").read_bytes() == (tmp_path / "second.csv").read_bytes()
    arrays, record = open_arrays(store)
    entry = json.loads(record)["recordings"][0]
    assert entry["name"] == "one.csv"
    assert len(entry["files"][0]["sha256"]) == 64
    assert np.array_equal(arrays["raw.0.position"], columns_of_text(1))
    assert arrays["prepared.1.acceleration"].shape == arrays["raw.1.force"].shape
    again = CliRunner().invoke(cli, ["identify", store, "--store", store])
    assert again.exit_code == 2
    assert "exists already" in again.output


def columns_of_text(seed: int) -> np.ndarray:
    """Positions as the file has them."""
    return np.vectorize(lambda value: float(f"{value:.9g}"))(columns(seed)[:, 1:4])


def test_a_damaged_store_of_recordings_is_refused(tmp_path: Path, identified: MachineIdentification) -> None:
    (tmp_path / "files").mkdir()
    description = read_description(written(tmp_path / "files"))
    store = tmp_path / "recordings.zarr"
    recorded.save_recordings(replace(identified, description=description), str(store))
    chunk = store / "raw.0.force" / "c.0.0"
    data = bytearray(chunk.read_bytes())
    data[len(data) // 2] ^= 1
    chunk.write_bytes(data)
    done = CliRunner().invoke(cli, ["identify", str(store)])
    assert done.exit_code == 2
    assert "raw.0.force/c.0.0 was changed since it was written" in done.output.replace("\n", " ")


@pytest.mark.skipif(
    not RECORDINGS, reason="LIMBSWEEP_RECORDINGS does not name a folder with recordings of real machines"
)
@pytest.mark.parametrize(
    ("example", "folder", "base", "shares"),
    [
        ("emps", "emps", 4, {"train": 0.05, "validation": 0.08}),
        ("tx40", "staubli_tx40", 61, {"train": 0.122}),
        ("ur10e", "ur10e", 58, {"train": 0.044, "test": 0.05, "validation": 0.05}),
    ],
)
def test_real_machines(example: str, folder: str, base: int, shares: dict[str, float]) -> None:
    description = read_description(EXAMPLES / f"{example}.yaml", folder=Path(RECORDINGS) / folder)
    result = identify_recordings(description)
    assert result.fit.base.count == base
    for recording in result.machine.recordings:
        assert result.fit.errors[recording.name] <= shares[recording.role]
    assert result.standard.converged
    if example == "emps":
        published = (95.1089, 20.3935, 203.5034, -3.1648)
        assert (np.abs(result.fit.values - published) < 2.0 * result.fit.deviations).all()


@pytest.mark.parametrize("columns", ["[q1, q1, q1]", "[2, 3, 2]"])
def test_a_column_that_stands_for_two_joints_is_refused(columns: str, tmp_path: Path) -> None:
    head = "limbsweep: 1\nrobot: planar_3r\nrecordings: [{files: [a.csv]}]\ntime: {rate: 500}\n"
    text = f"{head}position: {{columns: {columns}}}\nforce: {{columns: [f1, f2, f3]}}\n"
    with pytest.raises(InputError, match=r"position.columns: got \[.*\]; expected a column of its own for each"):
        parse_description(text, str(tmp_path / "machine.yaml"))
