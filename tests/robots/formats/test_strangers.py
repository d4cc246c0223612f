"""Files of strangers get in: elements of other programs, joints that mimic, odd inertias, floating bases, all kinds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from applications.commands.template import sweep_text
from pipeline.errors import InputError
from pipeline.robot_files.importing import ImportedRobot, import_robot
from pipeline.robot_files.reader import parse_robot
from pipeline.sweep.model import Sweep
from robots.limits import NO_LIMITS
from robots.model import Coupling, Robot
from tasks import equations_of_motion, forward_dynamics, inverse_dynamics, inverse_kinematics, joint_reactions
from tasks.checks.lagrange import lagrange_coefficients
from tasks.checks.newton_euler_system import joint_reactions_reference
from tasks.dynamics.equations import bias_vector, inertia_element
from tasks.dynamics.records import Forces
from tests.pipeline.robot_files.test_urdf import ARM, BODY, FOUR_BAR, LIMIT, LOOPS

WIDE = '<limit lower="-1e16" upper="inf" effort="0" velocity="-1"/>'
GRIPPER = f"""\
<robot name="gripper">
<link name="world"/><link name="wrist">{BODY}</link><link name="left">{BODY}</link><link name="right">{BODY}</link>
<joint name="turn" type="continuous"><parent link="world"/><child link="wrist"/><axis xyz="0 1 0"/></joint>
<joint name="close" type="prismatic"><parent link="wrist"/><child link="left"/>
  <origin xyz="0.1 0 0"/><axis xyz="0 1 0"/><limit lower="0" upper="0.04" effort="20" velocity="0.1"/></joint>
<joint name="other" type="revolute"><parent link="wrist"/><child link="right"/>
  <origin xyz="0.1 0 0.1"/><axis xyz="0 0 1"/>{LIMIT}<mimic joint="close" multiplier="-2"/></joint>
</robot>
"""


def brought(tmp_path: Path, text: str | bytes, **options: object) -> ImportedRobot:
    path = tmp_path / "r.urdf"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return import_robot(path, **{"parameters": False} | options)  # type: ignore[arg-type]  # the options of one test


def robot(made: ImportedRobot) -> Robot:
    assert made.description == parse_robot(made.text, "again")
    return Robot.of(made.description.family, {})


def test_elements_of_other_programs_are_told_once_each(tmp_path: Path) -> None:
    odd = BODY + "<contact><lateral_friction/></contact><self_collisions/>"
    text = ARM.replace(BODY, odd).replace(LIMIT, LIMIT + '<safety x="1"/>').replace("</robot>", "<rosparam/></robot>")
    told = [str(each).partition("r.urdf")[2] for each in brought(tmp_path, text).warnings]
    assert told == [
        ":4:1 link upper: got an element <self_collisions> that is not read; expected known elements. It changes "
        "nothing, here and below.",
        ":7:1 joint shoulder: got an element <safety> that is not read; expected known elements. It changes nothing, "
        "here and below.",
        ":10:1 robot arm: got an element <rosparam> that is not read; expected known elements. It changes nothing, "
        "here and below.",
    ]


def test_what_other_readers_pass_over_is_passed_over(tmp_path: Path) -> None:
    """Check dashes in comments, and `world` as the ground if no link has that name."""
    text = ARM.replace('<link name="base"/>', "<!-- as in --base floating -->").replace('"base"', '"world"')
    made = brought(tmp_path, text)
    told = [str(each).partition("r.urdf")[2] for each in made.warnings]
    assert any(
        "got parent 'world', which is no link; expected a link of this file. It is the ground" in row for row in told
    )
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 4, 2))
    expected = inverse_dynamics(robot(brought(tmp_path, ARM)), q=q, qd=qd, qdd=qdd).force
    np.testing.assert_array_equal(inverse_dynamics(robot(made), q=q, qd=qd, qdd=qdd).force, expected)


def test_a_joint_that_mimics_moves_with_the_other(tmp_path: Path) -> None:
    coupled = robot(brought(tmp_path, GRIPPER))
    loose = robot(brought(tmp_path, GRIPPER.replace('<mimic joint="close" multiplier="-2"/>', "")))
    assert coupled.mechanism.limbs[0].couplings == (Coupling("other", "close", -2.0),)
    assert coupled.mechanism.freedoms == coupled.mechanism.actuators == ("turn", "close")
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 5, 2))
    along = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -2.0]])
    moved = inverse_kinematics(coupled, q=q, qd=qd, qdd=qdd)
    np.testing.assert_allclose(moved.position[:, 0, :3], q @ along.T, rtol=1e-15)
    np.testing.assert_allclose(moved.acceleration[:, 0, :3], qdd @ along.T, rtol=1e-15)
    full = inverse_dynamics(loose, q=q @ along.T, qd=qd @ along.T, qdd=qdd @ along.T).force
    force = inverse_dynamics(coupled, q=q, qd=qd, qdd=qdd).force
    np.testing.assert_allclose(force, full @ along, rtol=1e-12, atol=1e-12)
    lagrange = lagrange_coefficients(coupled, q=q)
    summed = np.einsum("nij,nj->ni", lagrange.inertia, qdd) + lagrange.gravity
    summed += np.einsum("nijk,nj,nk->ni", lagrange.velocity, qd, qd)
    np.testing.assert_allclose(summed, force, rtol=1e-9)
    np.testing.assert_allclose(
        forward_dynamics(coupled, q=q, qd=qd, forces=Forces(actuator=force)).acceleration, qdd, rtol=1e-9, atol=1e-9
    )
    mass = equations_of_motion(coupled, q=q, qd=qd).mass
    whole = equations_of_motion(loose, q=q @ along.T, qd=qd @ along.T).mass
    np.testing.assert_allclose(mass, along.T @ whole @ along, rtol=1e-12)
    carried = joint_reactions(loose, q=q @ along.T, qd=qd @ along.T, qdd=qdd @ along.T).wrench
    np.testing.assert_allclose(joint_reactions(coupled, q=q, qd=qd, qdd=qdd).wrench, carried, rtol=1e-9, atol=1e-9)


def test_balances_of_bodies_know_couplings(tmp_path: Path) -> None:
    coupled = robot(brought(tmp_path, GRIPPER))
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, 4, 2))
    found = joint_reactions_reference(coupled, q=q, qd=qd, qdd=qdd)
    np.testing.assert_allclose(found.actuator_force, inverse_dynamics(coupled, q=q, qd=qd, qdd=qdd).force, rtol=1e-9)
    np.testing.assert_allclose(found.wrench, joint_reactions(coupled, q=q, qd=qd, qdd=qdd).wrench, rtol=1e-9, atol=1e-9)


def test_an_element_of_an_inertia_matrix_knows_couplings_and_a_bias_does_not(tmp_path: Path) -> None:
    coupled, still = robot(brought(tmp_path, GRIPPER)), np.zeros(2)
    element = inertia_element(coupled, 0, 1, q=still).value
    np.testing.assert_allclose(element, equations_of_motion(coupled, q=still).mass[0, 1], rtol=1e-12, atol=1e-15)
    with pytest.raises(ValueError, match="got gripper, which has joints that follow others; expected a tree"):
        bias_vector(coupled, q=still, qd=still)


def test_an_offset_of_a_mimic_is_where_its_variable_counts_from(tmp_path: Path) -> None:
    offset = brought(tmp_path, GRIPPER.replace('multiplier="-2"', 'multiplier="-2" offset="0.3"'))
    assert any("It is 0.3 less" in str(each) or "it is 0.3 less" in str(each) for each in offset.warnings)
    loose = robot(brought(tmp_path, GRIPPER.replace('<mimic joint="close" multiplier="-2"/>', "")))
    q, still = np.array([0.3, 0.02]), np.zeros(2)
    force = inverse_dynamics(robot(offset), q=q, qd=still, qdd=still).force
    full = inverse_dynamics(loose, q=np.array([0.3, 0.02, -0.04 + 0.3]), qd=np.zeros(3), qdd=np.zeros(3)).force
    np.testing.assert_allclose(force, [full[0], full[1] - 2.0 * full[2]], rtol=1e-12)
    (rating,) = (each for each in offset.description.ratings if each.joint == "other")
    assert (rating.low, rating.high) == pytest.approx((-1.3, 0.7))


def test_a_mimic_of_a_mimic_follows_the_joint_that_moves(tmp_path: Path) -> None:
    more = f"""<link name="third">{BODY}</link><joint name="last" type="continuous"><parent link="right"/>
      <child link="third"/><mimic joint="other" multiplier="3" offset="0"/></joint></robot>"""
    made = robot(brought(tmp_path, GRIPPER.replace("</robot>", more)))
    assert made.mechanism.limbs[0].couplings[1] == Coupling("last", "close", -6.0)
    lost = brought(tmp_path, GRIPPER.replace('mimic joint="close"', 'mimic joint="clos"'))
    assert any("got a mimic of 'clos'" in str(each) and "moves on its own" in str(each) for each in lost.warnings)
    assert robot(lost).mechanism.freedoms == ("turn", "close", "other")


def test_a_coupling_beside_loops(tmp_path: Path) -> None:
    more = f"""<link name="dial">{BODY}</link><joint name="e" type="continuous"><parent link="coupler"/>
      <child link="dial"/><origin xyz="0.1 0 0"/><axis xyz="0 0 1"/><mimic joint="a" multiplier="0.5"/>
      </joint></robot>"""
    (tmp_path / "l.yaml").write_text(LOOPS)
    coupled = robot(brought(tmp_path, FOUR_BAR.replace("</robot>", more), loops=tmp_path / "l.yaml"))
    (tmp_path / "l.yaml").write_text(LOOPS.replace("actuated: [a]", "actuated: [a, e]"))
    free = more.replace('<mimic joint="a" multiplier="0.5"/>', "")
    loose = robot(brought(tmp_path, FOUR_BAR.replace("</robot>", free), loops=tmp_path / "l.yaml"))
    q, qd, qdd = np.random.default_rng(2).normal(size=(3, 4, 1)) * 0.2
    along = np.array([[1.0], [0.5]])
    full = inverse_dynamics(loose, q=q @ along.T, qd=qd @ along.T, qdd=qdd @ along.T).force
    np.testing.assert_allclose(inverse_dynamics(coupled, q=q, qd=qd, qdd=qdd).force, full @ along, rtol=1e-10)
    assert not inverse_kinematics(coupled, q=q).status.any()
    rocking = more.replace('mimic joint="a"', 'mimic joint="d"')
    (tmp_path / "l.yaml").write_text(LOOPS)
    coupled = robot(brought(tmp_path, FOUR_BAR.replace("</robot>", rocking), loops=tmp_path / "l.yaml"))
    moved = inverse_kinematics(coupled, q=q, qd=qd, qdd=qdd)
    names = [link.joint for link in coupled.mechanism.limbs[0].links]
    for values in (moved.position, moved.velocity, moved.acceleration):
        np.testing.assert_allclose(values[:, 0, names.index("e")], 0.5 * values[:, 0, names.index("d")], atol=1e-12)
    dial = names.index("e")
    x, xd, xdd = (np.stack([a[:, 0], b[:, 0, dial]], axis=1) for a, b in zip((q, qd, qdd), moved[:3], strict=True))
    full = inverse_dynamics(loose, q=x, qd=xd, qdd=xdd).force
    ways = inverse_kinematics(coupled, q=q, qd=np.ones_like(q)).velocity[:, 0, dial]
    force = inverse_dynamics(coupled, q=q, qd=qd, qdd=qdd).force[:, 0]
    np.testing.assert_allclose(force, full[:, 0] + full[:, 1] * ways, rtol=1e-10)


def test_a_robot_beyond_limits_of_its_file_has_a_first_sweep_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    beyond = '<limit lower="0.5" upper="1" effort="5" velocity="1"/></joint>\n</robot>'
    text = FOUR_BAR.replace('"d" type="continuous"', '"d" type="revolute"').replace("</joint>\n</robot>", beyond)
    (tmp_path / "l.yaml").write_text(LOOPS)
    (tmp_path / "bar.yaml").write_text(brought(tmp_path, text, loops=tmp_path / "l.yaml").text)
    made = CliRunner().invoke(cli, ["new", "./bar.yaml"])
    assert made.exit_code == 0, made.output
    sweep = (tmp_path / "sweep.yaml").read_text()
    assert "# As the file of the robot has them. They do not count here: the first motion is beyond" in sweep
    assert "#     d: {position: [0.5, 1.0]" in sweep
    assert Sweep.from_yaml(tmp_path / "sweep.yaml").limits == NO_LIMITS


def test_limits_and_friction_are_kept_and_start_the_first_sweep(tmp_path: Path) -> None:
    text = GRIPPER.replace(LIMIT, WIDE + '<dynamics damping="0.2" friction="0.1"/>')
    made = brought(tmp_path, text)
    by_name = {each.joint: each.says for each in made.description.ratings}
    assert by_name == {
        "close": {"low": 0.0, "high": 0.04, "velocity": 0.1, "force": 20.0},
        "other": {"viscous": 0.2, "coulomb": 0.1},
    }
    (tmp_path / "robot.yaml").write_text(made.text)
    (tmp_path / "sweep.yaml").write_text(sweep_text(made.description.family, "./robot.yaml"))
    sweep = Sweep.from_yaml(tmp_path / "sweep.yaml")
    assert sweep.limits.joints[0, 1].high == 0.04
    assert sweep.limits.actuators[1].force == 20.0
    assert sweep.friction.fixed == {"rated1_coulomb": 0.1, "rated1_viscous": 0.2}
    assert "centre: [0.0, 0.02], amplitude: [0.1, 0.01]" in sweep.text


def test_rotors_and_gears_become_armatures(tmp_path: Path) -> None:
    said = """<transmission name="t"><joint name="close"><hardwareInterface>x</hardwareInterface></joint>
      <actuator name="m"><mechanicalReduction>-50</mechanicalReduction><drake:rotor_inertia value="1e-4"/></actuator>
      </transmission></robot>"""
    links = robot(brought(tmp_path, GRIPPER.replace("</robot>", said))).mechanism.limbs[0].links
    assert [link.armature for link in links] == [0.0, 0.25, 0.0]


def test_inertias_are_checked_where_they_matter_and_repaired(tmp_path: Path) -> None:
    flat = '<inertial><mass value="1"/><inertia ixx="1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
    assert brought(tmp_path, ARM.replace('<link name="base"/>', f'<link name="base">{flat}</link>')).warnings
    merged = ARM.replace(f'<link name="tool">{BODY}</link>', f'<link name="tool">{flat}</link>')
    with pytest.raises(InputError, match=r"r.urdf:5:1 link lower: got principal moments .*Without --strict-inertia"):
        brought(tmp_path, merged, repair=False)
    wrong = ARM.replace(f'<link name="upper">{BODY}</link>', f'<link name="upper">{flat}</link>')
    fixed = brought(tmp_path, wrong)
    np.testing.assert_allclose(robot(fixed).mechanism.limbs[0].links[0].inertia.tensor, np.diag([0.55, 0.55, 0.1]))
    assert "0.1 + 0.1 < 1" in str(fixed.warnings[0])
    assert "They became 0.1, 0.55, 0.55." in str(fixed.warnings[0])  # it turns about z alone


def test_bodies_without_mass_at_the_end_are_named(tmp_path: Path) -> None:
    bare = ARM.replace(BODY, "")
    made = brought(tmp_path, bare)
    assert made.description.massless == ("lower",)
    assert inverse_dynamics(robot(made), q=np.ones(2), qd=np.ones(2), qdd=np.ones(2)).force.tolist() == [0.0, 0.0]


def test_a_floating_base_has_the_forces_that_hold_it(tmp_path: Path) -> None:
    held = ARM.replace('<link name="base"/>', f'<link name="base">{BODY}</link>')
    assert "--base floating gives it six joints" in str(brought(tmp_path, held).warnings[0])
    made = robot(brought(tmp_path, held, base="floating"))
    ends = ("x", "y", "z", "yaw", "pitch", "roll")
    assert made.mechanism.freedoms == (*(f"base_{end}" for end in ends), "shoulder", "elbow")
    q = np.array([0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 0.4, 0.1])
    force = inverse_dynamics(made, q=q, qd=np.zeros(8), qdd=np.zeros(8)).force
    mass = sum(link.inertia.mass for link in made.mechanism.limbs[0].links)
    assert force[:3] == pytest.approx([0.0, 0.0, 9.81 * mass], abs=1e-12)
    fixed = robot(brought(tmp_path, held))
    assert force[6:] == pytest.approx(
        inverse_dynamics(fixed, q=q[6:], qd=np.zeros(2), qdd=np.zeros(2)).force, rel=1e-12
    )


@pytest.mark.parametrize(
    ("kind", "ends"), [("planar", "x y turn"), ("spherical", "yaw pitch roll"), ("ball", "yaw pitch roll")]
)
def test_joints_of_several_freedoms_become_several(kind: str, ends: str, tmp_path: Path) -> None:
    text = ARM.replace('type="revolute"', f'type="{kind}"')
    made = brought(tmp_path, text)
    assert f"got a {kind} joint" in "".join(map(str, made.warnings))
    links = robot(made).mechanism.limbs[0].links
    assert [link.joint for link in links] == [*(f"shoulder_{end}" for end in ends.split()), "elbow"]
    assert links[2].body == "upper"


def test_latin_1_is_read(tmp_path: Path) -> None:
    said = ARM.replace('name="arm"', 'name="bras"').replace("<robot", "<!-- r\xe9duit --><robot").encode("latin-1")
    made = brought(tmp_path, said.replace(b'<?xml version="1.0"?>\n', b""))
    assert "It was read as Latin-1" in str(made.warnings[0])
    declared = said.replace(b'version="1.0"', b'version="1.0" encoding="ISO-8859-1"')
    assert brought(tmp_path, declared).warnings == ()
    with pytest.raises(InputError, match="look like gzip"):
        brought(tmp_path, b"\x1f\x8b\x08")


def test_a_long_chain_is_no_trouble(tmp_path: Path) -> None:
    links = "".join(f'<link name="l{k}">{BODY}</link>' for k in range(151))
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/></joint>'
        for k in range(150)
    )
    assert len(brought(tmp_path, f"<robot>{links}{joints}</robot>").description.template.limbs[0].links) == 150


def test_a_description_without_what_is_new_keeps_its_digest(tmp_path: Path) -> None:
    plain = brought(tmp_path, ARM.replace(LIMIT, '<limit effort="0" velocity="0"/>')).description
    assert not plain.ratings
    assert not plain.massless
    assert "couplings" not in repr(plain.template)


def test_commas_between_numbers_are_told(tmp_path: Path) -> None:
    made = brought(tmp_path, GRIPPER.replace('xyz="0.1 0 0"', 'xyz="0.1, 0, 0"', 1).encode())
    assert "commas in xyz '0.1, 0, 0'" in str(made.warnings[0])
    assert made.text == brought(tmp_path, GRIPPER.encode()).text


def test_space_before_the_declaration_and_bytes_behind_the_end(tmp_path: Path) -> None:
    plain = GRIPPER[GRIPPER.index("<robot") :].encode()
    made = brought(tmp_path, b" \n\n  <?xml version='1.0'?>\n" + plain + b"\n\0\0")
    said = [str(entry) for entry in made.warnings[:2]]
    assert "r.urdf" in said[0]
    assert any("space before <?xml" in text and ":3:1" in text for text in said)
    assert any("bytes behind the end" in text for text in said)
    assert made.text == brought(tmp_path, plain).text


DEGREES = [
    ('rpy="0 90 0"', "rpy 0 90 0; expected angles of a turn. It is read in radians: 90 degrees are 1.5708."),
    ('lower="-170" upper="170"', "a range of -170 to 170; expected a few turns at most. It is read in radians"),
]


@pytest.mark.parametrize(("words", "message"), DEGREES)
def test_angles_that_look_like_degrees_are_told(words: str, message: str, tmp_path: Path) -> None:
    """They are read as the format says, so that a robot of them is another one than its author has."""
    usual = '<origin xyz="0 0 1" rpy="0 1 0"/><limit lower="-3" upper="12.5" effort="5" velocity="180"/>'
    text = (
        f'<robot name="r"><link name="a"/><link name="b">{BODY}</link><joint name="j" type="revolute">'
        f'<parent link="a"/><child link="b"/><axis xyz="0 1 0"/>{usual}</joint></robot>'
    )
    assert not brought(tmp_path, text).warnings
    old = 'rpy="0 1 0"' if words.startswith("rpy") else 'lower="-3" upper="12.5"'
    (told,) = brought(tmp_path, text.replace(old, words)).warnings
    assert message in str(told)


def test_kinds_in_capitals_and_macros_of_another_prefix_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"type 'Continuous'; expected one of .* Did you mean 'continuous'\?"):
        brought(tmp_path, GRIPPER.replace('"continuous"', '"Continuous"'))
    text = GRIPPER.replace("<robot ", '<robot xmlns:x="http://www.ros.org/wiki/xacro" ')
    assert brought(tmp_path, text)
    text = text.replace("</robot>", '<x:property name="a" value="1"/></robot>')
    with pytest.raises(InputError, match="got macros under 'x:'; expected macros under 'xacro:', as xacro knows them"):
        brought(tmp_path, text)
