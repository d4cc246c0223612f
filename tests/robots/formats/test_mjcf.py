"""Models of MuJoCo, compiled by it: forces beside its own, loops, couplings, what is kept and what is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.imports.table import imported
from pipeline.errors import InputError
from pipeline.robot_files.importing import import_robot
from robots.formats.checks import check_loops
from robots.model import Coupling, Robot
from tasks import inverse_dynamics, inverse_kinematics
from tests.robots.formats.mjcfs import ARM, FOUR_BAR

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.usefixtures("compiled_once")


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "m.xml"
    path.write_text(text)
    return path


def test_forces_are_those_of_mujoco(tmp_path: Path) -> None:
    found = imported(written(tmp_path, ARM))
    assert found.joints == 4
    assert found.errors is not None
    assert found.errors.largest < 1e-12
    made = import_robot(tmp_path / "m.xml", parameters=False)
    (limb,) = made.description.template.limbs
    assert limb.couplings == (Coupling("close", "bend", -0.5),)
    assert [link.armature for link in limb.links] == [0.02, 0.02, 0.3, 0.02]
    assert made.description.ratings[0].says == {
        "low": -2.0, "high": 2.0, "force": 60.0, "viscous": 0.5, "coulomb": 0.1,
    }  # fmt: skip


def test_a_loop_is_closed_and_driven_by_its_actuator(tmp_path: Path) -> None:
    made = import_robot(written(tmp_path, FOUR_BAR))
    robot = Robot.of(made.description.family, {})
    assert robot.mechanism.actuators == robot.mechanism.freedoms == ("a",)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    data = mujoco.MjData(model)
    solved = inverse_kinematics(robot, q=np.array([0.3]))
    data.qpos[:] = solved.position[0, :3]
    mujoco.mj_kinematics(model, data)
    ends = [data.xpos[k] + data.xmat[k].reshape(3, 3) @ point for k, point in ((2, [0.5, 0.1, 0]), (3, [0, 0.3, 0]))]
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-12)
    assert np.isfinite(inverse_dynamics(robot, q=np.array([0.3]), qd=np.ones(1), qdd=np.ones(1)).force).all()


CONNECT = '<connect name="pin" body1="coupler" body2="rocker" anchor="0.5 0.1 0"/>'
PIN = '<geom fromto="0 0 0 0 0.3 0"/>'
PINNED = (
    PIN + '<body name="eye" pos="0 0.3 0" euler="0.3 0.1 0.2"><joint name="p" pos="0.01 0 0" axis="AXIS"/>'
    '<geom type="sphere" size="0.03"/></body>'
)
LOOPS = {
    "connect": (CONNECT, PIN),
    "two connects of a hinge": (
        CONNECT + '<connect body1="rocker" body2="coupler" anchor="0 0.3 -0.2"/>'
        '<connect body1="coupler" body2="rocker" anchor="0.5 0.1 0.1"/>',
        PIN,
    ),
    "weld": ('<weld name="w" body1="coupler" body2="eye"/>', PINNED),
    "weld at an anchor": ('<weld name="w" body1="eye" body2="coupler" anchor="0.02 0.1 0.03"/>', PINNED),
    "weld without torques": ('<weld body1="coupler" body2="rocker" anchor="0 0.3 0" torquescale="0"/>', PIN),
    "weld of sites": ('<weld name="w" site1="s" site2="t"/>', PINNED),
    "inactive beside": (CONNECT + '<weld active="false" body1="crank" body2="rocker"/>', PIN),
}


@pytest.mark.parametrize(("equality", "end"), LOOPS.values(), ids=list(LOOPS))
def test_forces_of_a_closed_chain_are_those_of_mujoco(equality: str, end: str, tmp_path: Path) -> None:
    """Positions, rates and accelerations keep the equalities of MuJoCo, and forces balance along what they allow."""
    turned = Rotation.from_euler("XYZ", [0.3, 0.1, 0.2])
    end = end.replace("AXIS", " ".join(map(repr, turned.inv().apply([0.0, 0.0, 1.0]).tolist())))
    text = FOUR_BAR.replace(CONNECT, equality).replace(PIN, end)
    if "site1" in equality:
        quaternion = " ".join(map(repr, np.roll(turned.inv().as_quat(), 1).tolist()))
        text = text.replace('0.5 0.1 0"/></body>', '0.5 0.1 0"/><site name="s" pos="0.5 0.1 0"/></body>')
        text = text.replace(
            "</body></body>\n  </worldbody>", f'<site name="t" quat="{quaternion}"/></body></body>\n</worldbody>'
        )
    found = imported(written(tmp_path, text))
    assert found.refused == ""
    assert found.errors is not None
    assert found.errors.largest < 1e-9
    (limb,) = import_robot(tmp_path / "m.xml").description.template.limbs
    kinds = {0: "fixed", 1: "spherical", 3: "revolute"}
    assert [cut.kind for cut in limb.loops] == [kinds[equality.count("<connect") + equality.count("torquescale")]]


@pytest.mark.parametrize("ratio", ["0 -0.5 0 0 0", "0.2 1.5 0 0 0"])
def test_joints_that_follow_are_those_of_mujoco(ratio: str, tmp_path: Path) -> None:
    found = imported(
        written(tmp_path, ARM.replace("0 -0.5 0 0 0", ratio).replace('name="lift"', 'name="lift" ref="0.1"'))
    )
    assert found.errors is not None
    assert found.errors.largest < 1e-12


@pytest.mark.parametrize("joint", ["close", "lift", "bend"])
def test_a_joint_that_an_equality_holds_stands_still(joint: str, tmp_path: Path) -> None:
    """Hold a joint where its equality has it, beside other joints of its body or alone; the dynamics are MuJoCo's."""
    equality = '<joint joint1="close" joint2="bend" polycoef="0 -0.5 0 0 0"/>'
    held = f'<joint name="h" joint1="{joint}" polycoef="0.3 0 0 0 0"/>'
    found = imported(written(tmp_path, ARM.replace(equality, held)))
    assert found.refused == ""
    assert found.joints == 3
    assert found.errors is not None
    assert found.errors.largest < 1e-12
    made = import_robot(tmp_path / "m.xml")
    assert [each.hint for each in made.warnings if "equality holds" in each.got] == ["It stands still at 0.3."]


def test_an_open_loop_is_closed_from_its_pose(tmp_path: Path) -> None:
    made = import_robot(written(tmp_path, FOUR_BAR.replace('anchor="0.5 0.1 0"', 'anchor="0.5 0.1 0"').replace(
        '<body name="rocker" pos="0.5 0 0">', '<body name="rocker" pos="0.5 0 0" euler="0 0 0.2">'
    ).replace('<connect name="pin" body1="coupler" body2="rocker" anchor="0.5 0.1 0"/>',
              '<connect name="pin" site1="s" site2="t"/>')
        .replace('<geom fromto="0 0 0 0.5 0.1 0"/>', '<geom fromto="0 0 0 0.5 0.1 0"/><site name="s" pos="0.5 0.1 0"/>')
        .replace('<geom fromto="0 0 0 0 0.3 0"/>', '<geom fromto="0 0 0 0 0.3 0"/><site name="t" pos="0 0.3 0"/>')
    ))  # fmt: skip
    (place,) = made.description.reference
    assert {name for name, _ in place[1]} == {"b", "d"}
    assert list(check_loops(made.description.family.reference)) == []


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_free_joint_is_held_or_becomes_six(base: str, tmp_path: Path) -> None:
    text = FOUR_BAR.replace(
        "<worldbody>", '<worldbody><body name="boat"><freejoint name="f"/><geom size="1" fromto="0 0 0 0 0 1"/>'
    )
    text = (
        text.replace("</worldbody>", "</body></worldbody>").replace("<equality>", "<!--").replace("</equality>", "-->")
    )
    made = import_robot(written(tmp_path, text.replace("<actuator>", "<actuator>")), base=base)  # type: ignore[arg-type]
    assert len(made.description.template.limbs[0].links) == {"fixed": 3, "floating": 9}[base]
    assert "free joint" in str(made.warnings[0])


BAD = {
    "<mujoco>": "got no joint that moves; expected at least one",
    "<mujoco><worldbody><body/></worldbody></mujoco>": "got no joint that moves",
    "<mujoco><worldbody><body><joint/><geom type='mesh' mesh='x'/></body></worldbody></mujoco>": "does not compile",
    "<mujoco><wordbody/></mujoco>": "m.xml:1:1: got a model that MuJoCo does not compile (XML Error: Schema violation",
    ARM.replace(
        'polycoef="0 -0.5 0 0 0"', 'polycoef="0 1 1 0 0"'
    ): "got joint close as a polynomial of bend; expected a",
    ARM.replace("<joint joint1=", '<joint joint1="bend"/><joint joint1='): "got an equality of a joint that another",
}


@pytest.mark.parametrize(("text", "message"), BAD.items(), ids=[text[-30:] for text in BAD.values()])
def test_a_model_that_cannot_be_is_refused(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, text + ("</mujoco>" if text == "<mujoco>" else ""))
    with pytest.raises(InputError) as caught:
        import_robot("m.xml")
    assert message in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["m.xml"]


WEIGHED = {
    "by shapes": ("", '<geom name="g" size="0.1"/><geom size="0.05" pos="0.1 0 0" density="0"/>'),
    "by a group": ('<compiler inertiagrouprange="1 1"/>', '<geom group="1" size="0.1" mass="3"/><geom size="0.2"/>'),
    "by a mesh": ("", '<geom type="mesh" mesh="x" mass="2"/>'),
    "by numbers": ("", '<inertial mass="2" pos="0 0 0.1" diaginertia="1 2 2"/><geom type="mesh" mesh="x"/>'),
    "by shapes alone": ('<compiler inertiafromgeom="true"/>', '<inertial mass="9" pos="0 0 0"/><geom size="0.1"/>'),
    "fused": ('<compiler fusestatic="true"/>', '<geom size="0.1"/><body pos="1 0 0"><geom size="0.2"/></body>'),
}
"""Settings of the compiler and contents of a body that say what it weighs."""


@pytest.mark.parametrize("way", WEIGHED)
def test_shapes_that_are_not_kept_weigh_as_much(way: str, tmp_path: Path) -> None:
    settings, content = WEIGHED[way]
    mesh = '<asset><mesh name="x" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>' if "mesh" in content else ""
    body = f'<body name="b"><joint name="j" axis="1 2 3"/>{content}</body>'
    path = written(tmp_path, f"<mujoco>{settings}{mesh}<worldbody>{body}</worldbody></mujoco>")
    whole = mujoco.MjModel.from_xml_path(str(path))
    (kept,) = import_robot(path, parameters=False).description.template.limbs[0].links
    assert kept.inertia.mass == whole.body_mass[1] > 0.0
    found = imported(path)
    assert found.errors is not None
    assert found.errors.largest < 1e-12


def test_a_rotor_of_a_ball_is_refused(tmp_path: Path) -> None:
    body = '<body><joint name="b" type="ball" armature="{}"/><geom size=".1"/></body>'
    text = f"<mujoco><worldbody>{body}</worldbody></mujoco>"
    with pytest.raises(InputError, match=r"joint b: got an armature of a ball joint; .* --leave-out armature"):
        import_robot(written(tmp_path, text.format(0.1)))
    assert import_robot(written(tmp_path, text.format(0.0)))


def test_a_mesh_that_is_not_there_and_weighs_nothing_is_not_asked_for(tmp_path: Path) -> None:
    asset = '<asset><mesh name="x" file="none.stl"/></asset>'
    body = '<body name="b"><joint name="j"/>{}<geom type="mesh" mesh="x"/></body>'
    text = f"<mujoco>{asset}<worldbody>{body}</worldbody></mujoco>"
    with pytest.raises(InputError, match=r"does not compile .*none\.stl.* have to be where it says"):
        import_robot(written(tmp_path, text.format("")))
    weighed = text.format('<inertial mass="2" pos="0 0 0" diaginertia="1 1 1"/>')
    (kept,) = import_robot(written(tmp_path, weighed), parameters=False).description.template.limbs[0].links
    assert kept.inertia.mass == 2.0
    ball = '<geom size=".1" mass="2"/>'
    for shape in ('mass="0"', 'density="0" group="2"'):
        light = text.format(ball).replace('type="mesh"', f'type="mesh" {shape}')
        (kept,) = import_robot(written(tmp_path, light), parameters=False).description.template.limbs[0].links
        assert kept.inertia.mass == 2.0


OFF = {
    "damper": ("viscous",),
    "frictionloss": ("coulomb",),
    "limit": ("low", "high"),
    "constraint": ("coulomb", "low", "high"),
    "contact": (),
}
"""Flags of the options, and the ratings of joints that they switch off."""


@pytest.mark.parametrize("flag", OFF)
def test_ratings_that_flags_switch_off_are_none(flag: str, tmp_path: Path) -> None:
    body = '<body><joint name="j" damping="2" frictionloss="3" range="-1 2" limited="true"/><geom size=".1"/></body>'
    text = '<mujoco><compiler angle="radian"/>{}<worldbody>' + body + "</worldbody></mujoco>"
    (usual,) = import_robot(written(tmp_path, text.format("")), parameters=False).description.ratings
    assert (usual.viscous, usual.coulomb, usual.low, usual.high) == (2.0, 3.0, -1.0, 2.0)
    option = f'<option><flag {flag}="disable"/></option>'
    (found,) = import_robot(written(tmp_path, text.format(option)), parameters=False).description.ratings or (None,)
    for name in ("viscous", "coulomb", "low", "high"):
        assert getattr(found, name) == (None if name in OFF[flag] else getattr(usual, name))


MOTOR = '<motor name="m" joint="waist" gear="20" forcerange="-3 3"/>'


@pytest.mark.parametrize(
    ("more", "force"),
    [('<motor joint="waist" gear="10" forcerange="-4 4"/>', 100.0), ('<motor joint="waist"/>', None)],
)
def test_actuators_of_one_joint_act_together(more: str, force: float | None, tmp_path: Path) -> None:
    """The force of a joint was limited to that of the weakest of its actuators, also beside one without a limit."""
    assert MOTOR in ARM
    made = import_robot(written(tmp_path, ARM.replace(MOTOR, MOTOR + more)), parameters=False)
    assert made.description.ratings[0].force == force


@pytest.mark.parametrize(
    ("motor", "force", "told"),
    [
        ('<motor joint="waist" gear="10" forcerange="-2 4"/>', 20.0, "from -20 to 40; Both directions get 20."),
        ('<motor joint="waist" gear="-1" forcerange="0 9"/>', None, "from -9 to 0; It is left out."),
        ('<motor joint="waist" forcerange="0 9"/><motor joint="waist" gear="-1" forcerange="0 9"/>', 9.0, ""),
    ],
    ids=["unequal", "pulling alone", "antagonists"],
)
def test_forces_that_differ_by_direction_are_limited_by_the_smaller(
    motor: str, force: float | None, told: str, tmp_path: Path
) -> None:
    """The larger force was the rating of both directions, and nothing was told."""
    made = import_robot(written(tmp_path, ARM.replace(MOTOR, motor)), parameters=False)
    rating = next((each for each in made.description.ratings if each.joint == "waist"), None)
    assert (rating.force if rating else None) == force
    got = [f"{each.got}; {each.hint}" for each in made.warnings if "forces of actuators" in each.got]
    assert got == ([f"forces of actuators {told}"] if told else [])


def test_a_range_of_the_joint_cuts_forces_of_actuators(tmp_path: Path) -> None:
    text = ARM.replace('name="waist"', 'name="waist" actuatorfrcrange="-30 30"')
    assert import_robot(written(tmp_path, text), parameters=False).description.ratings[0].force == 30.0


def test_what_is_left_out_is_told(tmp_path: Path) -> None:
    text = ARM.replace('name="waist"', 'name="waist" stiffness="3" ref="0.5"')
    with pytest.raises(InputError, match=r"got 1 springs of joints; .* Leave it out: --leave-out springs\."):
        import_robot(written(tmp_path, text))
    made = import_robot(tmp_path / "m.xml", leave_out=("springs",))
    assert [str(each).partition("m.xml")[2] for each in made.warnings] == [
        ": got 1 springs of joints; expected only content that a robot file can express. It is left out."
    ]
    assert made.description.ratings[0].low == -2.5


TENDON = "<tendon><fixed name='t' RANGE><joint joint='waist' coef='1'/></fixed></tendon></mujoco>"
TOLD = {
    "gravity of the moon": ("<worldbody>", '<option gravity="0 0 -1.62"/><worldbody>', "gravity 0 0 -1.62"),
    "no gravity": ("<worldbody>", '<option><flag gravity="disable"/></option><worldbody>', "gravity 0 0 0"),
    "damping of squares": (
        'name="waist"',
        'name="waist" damping="1 2"',
        "damping with powers of the rate",
    ),
    "friction below zero": ('name="waist"', 'name="waist" damping="-1"', "friction below zero"),
    "friction of a ball": (
        '<geom fromto="0 0 0 0.1 0 0" mass="0.4"/>',
        '<geom fromto="0 0 0 0.1 0 0" mass="0.4"/><body><joint type="ball" armature="0"/><geom type="sphere"/></body>',
        "friction or a range of several freedoms",
    ),
    "range of a tendon": ("</mujoco>", TENDON.replace("RANGE", "range='-1 1'"), "a range of the length of a tendon"),
    "forces on a tendon": (
        "</mujoco>",
        TENDON.replace("RANGE", "actuatorfrcrange='-5 5'"),
        "a range of the forces on a tendon",
    ),
}
"""Replaced parts of the arm, their replacements, and the message for each."""


@pytest.mark.parametrize("name", TOLD)
def test_what_a_robot_file_has_no_place_for_is_told(name: str, tmp_path: Path) -> None:
    old, new, got = TOLD[name]
    assert old in ARM
    warnings = import_robot(written(tmp_path, ARM.replace(old, new)), parameters=False).warnings
    assert [each.hint.partition(":")[0].rstrip(".") for each in warnings if each.got == got] == ["It is left out"]


@pytest.mark.parametrize("kind", ["weld", "connect"])
def test_constraints_to_a_body_that_users_move_close_nothing(kind: str, tmp_path: Path) -> None:
    """A target of teleoperation was taken for a link of the ground, and held the robot."""
    text = ARM.replace("<worldbody>", '<worldbody><body name="target" mocap="true"><geom type="sphere"/></body>')
    anchor = 'anchor="0 0 0"' if kind == "connect" else ""
    body = ARM.split('<body name="')[-1].split('"')[0]
    held = f'<{kind} name="hold" body1="target" body2="{body}" {anchor}/></equality>'
    made = import_robot(written(tmp_path, text.replace("</equality>", held)), parameters=False)
    assert not made.description.template.limbs[0].loops
    assert any("to the mocap body target, which moves as a user wants" in each.got for each in made.warnings)


@pytest.mark.parametrize("flag", ["equality", "constraint"])
def test_equalities_that_a_flag_disables_close_nothing(flag: str, tmp_path: Path) -> None:
    """Check that the four-bar is then a tree of three joints, as in MuJoCo."""
    off = f'<option><flag {flag}="disable"/></option><worldbody>'
    found = imported(written(tmp_path, FOUR_BAR.replace("<worldbody>", off)))
    assert found.joints == 3
    assert found.errors is not None
    assert not found.errors.closed
    assert found.errors.largest < 1e-12


def test_a_joint_beside_a_loop_that_cannot_move_has_its_mass(tmp_path: Path) -> None:
    """The axis of the crank is skew, so that the four-bar is a frame, on which a wheel turns."""
    wheel = '<body pos="0 0.1 0"><joint name="e"/><geom fromto="0 0 0 0.1 0.1 0.2"/></body></body>\n  </worldbody>'
    text = FOUR_BAR.replace("</body>\n  </worldbody>", wheel).replace('name="a"', 'name="a" axis="1 0.3 1"')
    found = imported(written(tmp_path, text.replace('joint="a"', 'joint="e"')))
    assert found.joints == 4
    assert found.errors is not None
    assert found.errors.closed
    assert found.errors.largest < 1e-9


def test_an_actuator_with_several_controls_is_counted_once(tmp_path: Path) -> None:
    """MuJoCo counts controls apart from actuators; rotors are those of the actuators of a joint."""
    motor = '<motor name="m" joint="waist" gear="20" forcerange="-3 3"/>'
    pid = '<pid name="p" joint="bend" armature="0.1" damping="0.7" gear="2"/>'
    made = import_robot(written(tmp_path, ARM.replace(motor, pid + motor)), parameters=False)
    (limb,) = made.description.template.limbs
    assert [link.armature for link in limb.links] == pytest.approx([0.02, 0.02, 0.3 + 0.1 * 2**2, 0.02])
    assert made.description.ratings[2].viscous == pytest.approx(0.5 + 0.7 * 2**2)


TIED = '<joint joint1="close" joint2="bend" polycoef="0 -0.5 0 0 0"/>'


@pytest.mark.parametrize(
    ("tendons", "equality"),
    [
        (
            '<fixed name="t"><joint joint="close" coef="2"/><joint joint="bend" coef="1"/></fixed>',
            '<tendon tendon1="t"/>',
        ),
        (
            '<fixed name="t"><joint joint="close" coef="1"/></fixed>'
            '<fixed name="u"><joint joint="bend" coef="2"/></fixed>',
            '<tendon tendon1="t" tendon2="u" polycoef="0 -0.25 0 0 0"/>',
        ),
    ],
    ids=["one of fixed length", "two of one length"],
)
def test_tendons_that_tie_two_joints_are_a_coupling(tendons: str, equality: str, tmp_path: Path) -> None:
    """Compare tendons with the equality of joints, whose forces are those of MuJoCo."""
    paths = tmp_path / "joints.xml", tmp_path / "tendons.xml"
    paths[0].write_text(ARM)
    tied = f"</equality><tendon>{tendons}</tendon>"
    paths[1].write_text(ARM.replace(TIED, equality).replace("</equality>", tied))
    one, two = (import_robot(path, parameters=False) for path in paths)
    assert two.description == one.description
    assert two.description.template.limbs[0].couplings


def test_a_joint_that_tendons_tie_to_two_others_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tied.xml"
    tendons = '<tendon><fixed name="t"><joint joint="close" coef="2"/><joint joint="bend" coef="1"/></fixed></tendon>'
    more = '<tendon tendon1="t"/><joint joint1="bend" joint2="waist"/></equality>'
    path.write_text(ARM.replace("</equality>", more + tendons))
    with pytest.raises(InputError, match="a joint that follows two others"):
        import_robot(path, parameters=False)
