"""SDF files: conventions of frames and axes by version, loops by second parents, dynamics beside other readers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import InputError
from pipeline.robot_files.importing import import_robot
from robots.formats import sdf
from robots.formats.xml_tree import ImportedError
from robots.model import Robot
from robots.status import Status
from tasks import inverse_dynamics, inverse_kinematics

BODY = """<inertial><mass>{mass}</mass><pose>{centre} 0.1 -0.2 0.3</pose>
  <inertia><ixx>0.02</ixx><iyy>0.03</iyy><izz>0.04</izz><ixy>0.001</ixy></inertia></inertial>"""


def link(name: str, pose: str, mass: float = 2.0, centre: str = "0.1 0.02 0.03", more: str = "") -> str:
    return f'<link name="{name}"><pose{more}>{pose}</pose>{BODY.format(mass=mass, centre=centre)}</link>'


def joint(name: str, parent: str, child: str, xyz: str, kind: str = "revolute", more: str = "", pose: str = "") -> str:
    axis = f"<axis><xyz>{xyz}</xyz>{more}</axis>"
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{pose}{axis}</joint>'


def file(*content: str, version: str = "1.7") -> bytes:
    return f'<sdf version="{version}"><model name="arm">{"".join(content)}</model></sdf>'.encode()


def robot(data: bytes) -> Robot:
    return Robot.of(sdf.read_tree(data).description().family, {})


ARM = (
    link("foot", "0.1 0 0.2 0.3 0 0"),
    link("upper", "0.1 0.2 0.5 0.3 -0.4 0.5", 3.0),
    link("fore", "0.4 0.3 0.9 -0.7 0.2 0.1", 1.5),
    '<joint name="weld" type="fixed"><parent>world</parent><child>foot</child></joint>',
    joint(
        "shoulder",
        "foot",
        "upper",
        "0 0.6 0.8",
        more="<limit><lower>-2</lower><upper>1</upper><effort>40</effort></limit>",
    ),
    joint(
        "elbow",
        "upper",
        "fore",
        "1 0 0",
        pose="<pose>0.05 0.01 0.02 0.2 0 0</pose>",
        more="<dynamics><damping>0.3</damping></dynamics>",
    ),
)


def test_beside_drake(tmp_path: Path) -> None:
    multibody = pytest.importorskip("pydrake.multibody.plant")
    parsing = pytest.importorskip("pydrake.multibody.parsing")
    tree = pytest.importorskip("pydrake.multibody.tree")
    path = tmp_path / "arm.sdf"
    slide = joint("rail", "fore", "tool", "0.1 0.2 0.9", kind="prismatic")
    path.write_bytes(file(*ARM, link("tool", "0.1 0 0.2 0 0 0.3", more=' relative_to="elbow"'), slide))
    plant = multibody.MultibodyPlant(0.0)
    parsing.Parser(plant).AddModels(str(path))
    plant.Finalize()
    context, ours = plant.CreateDefaultContext(), robot(path.read_bytes())
    names = ours.mechanism.freedoms
    assert names == ("shoulder", "elbow", "rail")
    order = [plant.GetJointByName(name).velocity_start() for name in names]
    for q, qd, qdd in np.random.default_rng(1).uniform(-1.0, 1.0, (6, 3, 3)):
        place, rate, change = np.zeros((3, 3))
        place[order], rate[order], change[order] = q, qd, qdd
        plant.SetPositions(context, place)
        plant.SetVelocities(context, rate)
        forces = tree.MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        expected = plant.CalcInverseDynamics(context, change, forces)[order]
        damping = np.array([0.0, 0.3 * qd[1], 0.0])  # which is friction here, and kept beside
        found = inverse_dynamics(ours, q=q, qd=qd, qdd=qdd, gravity=(0, 0, -9.81)).force
        np.testing.assert_allclose(found, expected - damping, rtol=1e-10, atol=1e-10)


def test_what_is_known_of_joints() -> None:
    tree = sdf.read_tree(file(*ARM))
    assert [entry.says for entry in tree.ratings] == [{"low": -2.0, "high": 1.0, "force": 40.0}, {"viscous": 0.3}]


def test_axes_by_version() -> None:
    """Check axes of joints: of the model up to 1.4, later of the joint, unless the file states it."""
    old = "<use_parent_model_frame>1</use_parent_model_frame>"
    turned = ("upper", "0 0 0 1.57079632679489661923 0 0")
    here = joint("shoulder", "world", "upper", "0 0 1")
    there = joint("shoulder", "world", "upper", "0 0 1", more=old)
    named = joint("shoulder", "world", "upper", "0 0 1").replace("<xyz>", '<xyz expressed_in="__model__">')
    forces = [
        inverse_dynamics(robot(file(link(*turned), content, version=version)), q=[0.3], gravity=(0, -9.81, 0)).force
        for content, version in ((here, "1.4"), (there, "1.6"), (named, "1.8"), (here, "1.6"))
    ]
    assert forces[0] == pytest.approx(forces[1])
    assert forces[0] == pytest.approx(forces[2])
    assert forces[0] != pytest.approx(forces[3])


def test_axes_of_the_model_turn_with_the_model() -> None:
    """Turned by -1 about x together with gravity, a model has the forces that it has upright."""
    parts = (link("upper", "0.1 0 0 0.4 0 0"), joint("shoulder", "world", "upper", "0 0.6 0.8"))
    upright = inverse_dynamics(robot(file(*parts, version="1.4")), q=[0.3], gravity=(0, 0, -9.81)).force
    turned = file("<pose>0.3 0 1 -1 0 0</pose>", *parts, version="1.4")
    down = (0.0, -9.81 * np.sin(1.0), -9.81 * np.cos(1.0))
    assert inverse_dynamics(robot(turned), q=[0.3], gravity=down).force == pytest.approx(upright, rel=1e-12)


def test_joints_without_effort_drive_nothing_where_there_are_loops(tmp_path: Path) -> None:
    loops = (
        link("rod", "0.4 0.3 0.4 0 0 0"),
        joint("pin", "fore", "rod", "1 0 0"),
        joint("last", "rod", "foot", "1 0 0"),
    )
    parts = [part.replace("0 0.6 0.8", "1 0 0") for part in (*ARM, *loops)]
    tree = sdf.read_tree(file(*parts))
    assert tree.driven is None
    idle = "<limit><effort>0</effort></limit></axis>"
    stated = [
        part.replace("</axis>", idle) if 'name="elbow"' in part or 'name="pin"' in part else part for part in parts
    ]
    assert sdf.read_tree(file(*stated)).driven == ("shoulder",)


def test_a_joint_may_have_the_name_of_its_link() -> None:
    named = [part.replace('name="shoulder"', 'name="upper"').replace('name="elbow"', 'name="fore"') for part in ARM]
    expected, found = (inverse_dynamics(robot(file(*parts)), q=[0.2, 0.4]).force for parts in (ARM, named))
    np.testing.assert_array_equal(found, expected)


def test_frames_and_models_inside() -> None:
    plain = robot(file(*ARM))
    moved = (
        '<frame name="corner"><pose>0.3 -0.1 0 0 0 0.4</pose></frame>',
        '<model name="inner"><pose relative_to="corner">0 0 0 0 0 0</pose>' + ARM[0],
        ARM[1] + ARM[2] + "</model>",
    )
    joints = [
        text.replace("<parent>foot", "<parent>inner::foot").replace("<parent>upper", "<parent>inner::upper")
        for text in ARM[3:]
    ]
    joints = [text.replace("<child>", "<child>inner::") for text in joints]
    there = robot(file(*moved, *joints))
    q = np.random.default_rng(2).uniform(-1, 1, (5, 2))
    turn = np.array([[np.cos(0.4), -np.sin(0.4), 0], [np.sin(0.4), np.cos(0.4), 0], [0, 0, 1]])
    here = inverse_dynamics(plain, q=q, gravity=turn.T @ [1.0, 2.0, -9.0]).force
    np.testing.assert_allclose(
        inverse_dynamics(there, q=q, gravity=(1.0, 2.0, -9.0)).force, here, rtol=1e-12, atol=1e-12
    )


def four_bar(last: str) -> bytes:
    return file(
        link("crank", "0 0 0 0 0 0", centre="0.1 0 0"),
        link("coupler", "0.2 0 0 0 0 1.2", centre="0.2 0 0"),
        link("rocker", "0.6 0 0 0 0 1.9", centre="0.1 0 0"),
        joint("first", "world", "crank", "0 0 1"),
        joint("second", "crank", "coupler", "0 0 1"),
        joint("third", "world", "rocker", "0 0 1"),
        last,
    )


@pytest.mark.parametrize("ends", [("coupler", "rocker"), ("rocker", "coupler")])
def test_a_second_parent_closes_a_loop(tmp_path: Path, ends: tuple[str, str]) -> None:
    """Close a loop that is open where the file puts the bodies; its angles meet Freudenstein's equation."""
    far = "<pose relative_to='rocker'>0.35 0 0 0 0 0</pose>"
    path = tmp_path / "four_bar.sdf"
    data = four_bar(joint("pin", *ends, "0 0 1", pose=far))
    tree = sdf.read_tree(data)
    assert [loop.joint for loop in tree.loops] == ["pin"]
    assert [entry.joint for entry in tree.links] == ["first", "second", "third"]
    path.write_bytes(data)
    imported = import_robot(path)
    built = Robot.of(imported.description.family, {})
    solved = inverse_kinematics(built, q=[[0.05], [-0.05]])
    assert (solved.status == Status.OK).all()


def test_a_parent_further_out_is_turned_round() -> None:
    straight = file(
        link("a", "0 0 0 0 0 0"),
        link("b", "0.3 0 0.1 0 0.2 0"),
        joint("one", "world", "a", "0 0 1"),
        joint("two", "a", "b", "0 1 0"),
    )
    round_ = file(
        link("a", "0 0 0 0 0 0"), link("b", "0.3 0 0.1 0 0.2 0"), joint("one", "world", "a", "0 0 1"),
        joint("two", "b", "a", "0 1 0", pose="<pose relative_to='b'/>"),
    )  # fmt: skip
    q, qd = np.random.default_rng(3).uniform(-1, 1, (2, 4, 2))
    signs = np.array([1.0, -1.0])
    a, b = (
        inverse_dynamics(robot(straight), q=q, qd=qd).force,
        inverse_dynamics(robot(round_), q=q * signs, qd=qd * signs).force,
    )
    np.testing.assert_allclose(a, b * signs, atol=1e-12)


def test_joints_of_several_freedoms_and_screws() -> None:
    cardan = joint("cardan", "a", "b", "1 0 0", kind="universal").replace(
        "</joint>", "<axis2><xyz>0 1 0</xyz></axis2></joint>"
    )
    spindle = joint("spindle", "world", "a", "0 0 1", kind="screw").replace(
        "<axis>", "<screw_thread_pitch>0.01</screw_thread_pitch><axis>"
    )
    socket = '<joint name="socket" type="ball"><parent>b</parent><child>c</child></joint>'
    tree = sdf.read_tree(file(*(link(name, "0 0 0 0 0 0") for name in "abc"), spindle, cardan, socket))
    assert tree.joints == ("spindle", "cardan_1", "cardan_2", "socket_yaw", "socket_pitch", "socket_roll")
    assert tree.links[0].pitch == pytest.approx(0.01 / (2 * np.pi))
    force = inverse_dynamics(Robot.of(tree.description().family, {}), q=np.zeros(6)).force
    assert force[0] == pytest.approx(6.0 * 9.81 * 0.01 / (2 * np.pi))


@pytest.mark.parametrize(
    ("words", "pitch"),
    [("", 1.0), ("<thread_pitch>4</thread_pitch>", -np.pi / 2), ("<screw_thread_pitch>0.3</screw_thread_pitch>", 0.3)],
)
def test_the_pitch_of_a_screw(words: str, pitch: float) -> None:
    """Check the pitch in metres per turn, one metre if it is absent, as in libsdformat and Drake."""
    spindle = joint("spindle", "world", "a", "0 0 1", kind="screw").replace("<axis>", f"{words}<axis>")
    tree = sdf.read_tree(file(link("a", "0 0 0 0 0 0"), spindle))
    assert tree.links[0].pitch == pytest.approx(pitch / (2 * np.pi))


def screw(words: str) -> bytes:
    """A file with a screw joint that has these elements."""
    spindle = joint("j", "world", "a", "0 0 1", kind="screw").replace("<axis>", f"{words}<axis>")
    return file(link("a", "0 0 0 0 0 0"), spindle)


@pytest.mark.parametrize("word", ["True", " true", "1"])
def test_words_of_truth_have_small_and_capital_letters(word: str) -> None:
    """Check words of truth as in libsdformat; with True an angle of 90 degrees was read as 90 rad before."""
    turned = link("a", "0 0 0 90 0 0", more=f' degrees="{word}"')
    axis = sdf.read_tree(file(turned, joint("j", "world", "a", "0 1 0"))).links[0]
    rotation = np.array(axis.placement.rotation, dtype=float)
    np.testing.assert_allclose(rotation @ np.array(axis.axis, dtype=float), [0, 0, 1], atol=1e-15)


BAD = [
    (file(link("a", "0 0 0 90 0 0", more=' degrees="yes"')), "degrees 'yes'; expected true or false"),
    (
        file(link("a", "0 0 0 1 0 0", more=' rotation_format="rpy"')),
        "rotation_format 'rpy'; expected euler_rpy or",
    ),
    (file("<static>no</static>", link("a", "0 0 0 0 0 0")), "static 'no'; expected true or false"),
    (
        file(link("a", "0 0 0 0 0 0").replace("</link>", "<gravity>off</gravity></link>")),
        "gravity 'off'; expected",
    ),
    (file(link("a", "0 0 0 0 0 0").replace("0.001", "inf")), "ixy 'inf'; expected a finite number"),
    (screw("<screw_thread_pitch>0</screw_thread_pitch>"), "screw_thread_pitch 0; expected metres per turn"),
    (screw("<thread_pitch>0</thread_pitch>"), "thread_pitch 0; expected radians per metre"),
    (b'<sdf version="1.6"><world name="w"/></sdf>', "no model"),
    (b'<sdf version="1.6"><world name="w"><include><uri>model://x</uri></include></world></sdf>', "include"),
    (file(link("a", "0 0 0 0 0")), "pose '0 0 0 0 0'; expected 6 finite numbers"),
    (file(link("a", "0, 0 0 0 0 0")), "decimal point"),
    (file(link("a", "0 0 0 0 0 0"), link("a", "0 0 0 0 0 0")), "a again"),
    (file(link("a", "0 0 0 0 0 0"), joint("j", "world", "b", "0 0 1")), "child 'b'; expected a link of this model"),
    (file(link("a", "0 0 0 0 0 0"), joint("j", "world", "a", "0 0 0")), "axis 0 0 0"),
    (file(link("a", "0 0 0 0 0 0"), joint("j", "world", "a", "0 0 1", kind="gearbox")), "as a coupling"),
    (file(link("a", "0 0 0 0 0 0"), joint("j", "world", "a", "0 0 1", kind="hinge")), "type 'hinge'; expected one of"),
    (file(link("a", "0 0 0 0 0 0", more=' relative_to="b"'), joint("j", "world", "a", "0 0 1")), "in frame"),
    (file(link("a", "0 0 0 0 0 0", more=' relative_to="a"'), joint("j", "world", "a", "0 0 1")), "in frame 'a'"),
    (file(link("a", "0 0 0 0 0 0"), '<joint name="j" type="revolute"><child>a</child></joint>'), "no parent"),
    (
        file(
            link("a", "0 0 0 0 0 0"), '<joint name="j" type="revolute"><parent>world</parent><child>a</child></joint>'
        ),
        "0 axes",
    ),
    (file(link("a", "0 0 0 0 0 0")), "no joint that moves"),
    (file("<link/>"), "no name"),
    (file(link("a", "0 0 0 0 0 0", -1.0), joint("j", "world", "a", "0 0 1")), "mass -1"),
    (file(link("a", "0 0 0 0 0 0"), "<include><uri>model://x</uri></include>"), "include"),
    (b"<sdf version='1.8'><world name='a'><model name='m'/></world><world name='b'/></sdf>", "several worlds"),
    (file(*ARM).replace(b'"arm"', b'"arm" placement_frame="uper"'), "placement_frame 'uper'"),
    (file(*ARM).replace(b"<inertial>", b"<inertial auto='true'>", 1), "an inertia of shapes"),
    (file(*ARM).replace(b"</mass><pose>", b"</mass><pose relative_to='fore'>", 1), "an <inertial> in frame 'fore'"),
    (file(*ARM).replace(b"0.6 0.8", b"0.6 zero"), "xyz '0 0.6 zero'"),
    (b"<sdf version='1.6'><model name='x'>", "text that is not XML"),
]


@pytest.mark.parametrize(("data", "message"), BAD)
def test_what_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ImportedError) as raised:
        sdf.read_tree(data)
    assert message in str(raised.value)
    assert all(entry.line > 0 for entry in raised.value.problems)


def test_messages_name_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "arm.sdf"
    path.write_bytes(file(*ARM).replace(b"<joint", b"\n<joint").replace(b"0.6 0.8", b"0.6 zero"))
    with pytest.raises(
        InputError, match=r"arm\.sdf:6:1 joint shoulder: got xyz '0 0\.6 zero'; expected 3 finite numbers"
    ):
        import_robot(path)


def test_a_link_without_inertia_is_told() -> None:
    tree = sdf.read_tree(file('<link name="a"/>', joint("j", "world", "a", "0 0 1")))
    assert "1 kg" in str(tree.warnings[0])
    assert tree.links[0].inertia.mass == 1.0


def world(*content: str) -> bytes:
    return f'<sdf version="1.11"><world name="scene">{"".join(content)}</world></sdf>'.encode()


HAND = (
    '<model name="hand"><pose>0.4 0.3 1.1 0 0.2 0</pose>'
    + link("palm", "0 0 0 0 0 0", 0.7)
    + link("finger", "0.1 0 0 0 0 0.3", 0.2)
    + joint("bend", "palm", "finger", "0 1 0")
    + "</model>"
)
BETWEEN = joint("wrist", "arm::fore", "hand::palm", "0.6 0 0.8")


def test_joints_between_models_beside_drake(tmp_path: Path) -> None:
    """Compare two models with a joint between them and one to the world; Drake reads them as models inside one."""
    multibody = pytest.importorskip("pydrake.multibody.plant")
    parsing = pytest.importorskip("pydrake.multibody.parsing")
    tree = pytest.importorskip("pydrake.multibody.tree")
    path = tmp_path / "scene.sdf"
    arm = '<model name="arm"><pose relative_to="table">0 0 0 0 0 0.1</pose>' + "".join(ARM[:3] + ARM[4:]) + "</model>"
    table = '<frame name="table"><pose>0.2 0.1 0.7 0.3 0 0</pose></frame>'
    ground = joint("turn", "world", "arm::foot", "0 0 1")
    whole = "".join((table, arm, HAND, BETWEEN, ground))
    path.write_text(f'<sdf version="1.11"><model name="whole">{whole}</model></sdf>')
    plant = multibody.MultibodyPlant(0.0)
    parsing.Parser(plant).AddModels(str(path))
    plant.Finalize()
    ours = robot(world(whole))
    names = ours.mechanism.freedoms
    assert sorted(names) == ["arm_elbow", "arm_shoulder", "hand_bend", "turn", "wrist"]
    order = [plant.GetJointByName(name.split("_")[-1]).velocity_start() for name in names]
    context = plant.CreateDefaultContext()
    for q, qd, qdd in np.random.default_rng(3).uniform(-1.0, 1.0, (4, 3, 5)):
        place, rate, change = np.zeros((3, 5))
        place[order], rate[order], change[order] = q, qd, qdd
        plant.SetPositions(context, place)
        plant.SetVelocities(context, rate)
        forces = tree.MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        expected = plant.CalcInverseDynamics(context, change, forces)[order]
        elbow = names.index("arm_elbow")
        expected[elbow] -= 0.3 * qd[elbow]  # which is friction here
        found = inverse_dynamics(ours, q=q, qd=qd, qdd=qdd, gravity=(0, 0, -9.81)).force
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_a_static_model_without_joints_is_the_base() -> None:
    """Check that joints to a static model hold, and that the model is neither refused nor left out."""
    pedestal = '<model name="floor"><static>true</static>' + link("slab", "0 0 0 0 0 0", 500.0) + "</model>"
    on = joint("mount", "floor::slab", "hand::palm", "0 0 1")
    tree = sdf.read_tree(world(pedestal, HAND, on))
    assert sorted(entry.joint for entry in tree.links) == ["hand_bend", "mount"]
    assert [str(each) for each in tree.warnings] == []
    with pytest.raises(ImportedError, match="a model that stands still"):
        sdf.read_tree(world(pedestal, HAND.replace("<pose>", "<static>1</static><pose>", 1), on))


def test_parts_that_nothing_joins_stand_still_or_float() -> None:
    arm = '<model name="arm">' + "".join(ARM[:3] + ARM[4:]) + "</model>"
    held = sdf.read_tree(world(arm, HAND))
    assert sorted(entry.joint for entry in held.links) == ["arm_elbow", "arm_shoulder", "hand_bend"]
    assert any("a part that nothing joins to the base" in str(each) for each in held.warnings)
    floating = sdf.read_tree(world(arm, HAND), base="floating")
    assert len(floating.links) == 3 + 12
    assert {"base_x", "hand_palm_base_x"} <= set(floating.joints)


def test_parts_deep_inside_float_under_names_that_a_robot_file_takes(tmp_path: Path) -> None:
    """Names of parts are those of all models around them, twice with the joints that let them float."""
    arm = '<model name="arm">' + "".join(ARM[:3] + ARM[4:]) + "</model>"
    for name in ("deeper", "deep", "shallow", "outermost"):
        arm = f'<model name="{name}_one">{arm}{link(name, "0 0 0 0 0 0")}</model>'
    path = tmp_path / "deep.sdf"
    path.write_bytes(b'<sdf version="1.7">' + arm.encode() + b"</sdf>")
    (limb,) = import_robot(path, base="floating").description.template.limbs
    assert len({entry.body for entry in limb.links}) == len(limb.links) == 2 + 5 * 6


def test_a_joint_may_name_frames_and_models() -> None:
    """Check a joint to a frame on a link, and one to a model, which stands for its first link."""
    named = sdf.read_tree(world('<model name="arm">' + "".join(ARM) + "</model>", HAND, BETWEEN))
    frame = '<frame name="tip" attached_to="arm::fore"/>'
    end = '<pose relative_to="hand::palm"/>'
    shown = BETWEEN.replace("arm::fore", "tip").replace("hand::palm", "hand").replace("<axis>", f"{end}<axis>")
    by_frames = sdf.read_tree(world(frame, '<model name="arm">' + "".join(ARM) + "</model>", HAND, shown))
    assert repr(by_frames.links) == repr(named.links)


def test_gravity_of_a_world_is_told() -> None:
    moon = "<gravity>0 0 -1.62</gravity>"
    tree = sdf.read_tree(world(moon, '<model name="arm">' + "".join(ARM) + "</model>"))
    assert any("a sweep has `gravity: [0, 0, -1.62]`" in str(each) for each in tree.warnings)


def test_a_free_model_of_a_world_floats_beside_a_ground_that_stands() -> None:
    """Links that nothing joins have six joints each; with a fixed base nothing moves."""
    ground = f'<model name="ground"><static>true</static>{link("plane", "0 0 0 0 0 0")}</model>'
    boxes = "".join(link(name, "0 0 1 0 0 0.2") for name in ("one", "two"))
    scene = world(ground, f'<model name="boxes">{boxes}</model>')
    assert len(sdf.read_tree(scene, "floating").links) == 12
    with pytest.raises(ImportedError, match="no joint that moves"):
        sdf.read_tree(scene)


def test_models_stand_far_away_in_a_world() -> None:
    """Positions in a world are left out of the bounds on lengths of a robot."""
    arm = "".join(ARM)
    far = sdf.read_tree(world(f'<model name="arm"><pose>0 1500 0 0 0 0</pose>{arm}</model>'))
    assert far.links[0].placement.position[1] == pytest.approx(1500, abs=2)
    with pytest.raises(ImportedError, match=r"an origin 15000\.2 m away; expected at most 10000 m"):
        sdf.read_tree(world(f'<model name="arm"><pose>0 15000 0 0 0 0</pose>{arm}</model>'))


def test_quotes_beside_a_number_are_told_and_passed_over() -> None:
    told = sdf.read_tree(file(*ARM).replace(b"0.6 0.8", b'0.6 0.8"'))
    assert told.links == sdf.read_tree(file(*ARM)).links
    assert any("quotes in xyz" in each.got for each in told.warnings)


def test_a_frame_of_a_model_without_links_is_on_the_first_link_inside() -> None:
    """The frame of the outer model belongs to the first link of the models in it, whatever joins it there."""
    inner = "".join(f'<model name="{name}">{link("part", "0 0 1 0 0 0")}</model>' for name in ("m1", "m2"))
    frames = '<frame name="f1"/><frame name="f2" attached_to="m2"/>'
    tree = sdf.read_tree(file(inner, frames, joint("j", "f1", "f2", "0 0 1")))
    assert tree.joints == ("j",)
    assert not any("no joint leads" in each.got for each in tree.warnings)


def test_angles_that_look_like_degrees_are_told() -> None:
    text = file(*ARM).decode()
    for old, new, message in (
        ("0.3 -0.4 0.5</pose>", "0 90 0</pose>", "a pose with angles 0, 90, 0; expected a turn. It is read in radians"),
        ("<upper>1</upper>", "<upper>175</upper>", "to 175; expected a few turns at most. It is read in radians"),
    ):
        assert old in text
        assert any(message in str(each) for each in sdf.read_tree(text.replace(old, new, 1).encode()).warnings)
    degrees = text.replace("0.3 -0.4 0.5</pose>", "0 90 0</pose>").replace("<pose>0.1", '<pose degrees="true">0.1')
    assert not any("radians" in str(each) for each in sdf.read_tree(degrees.encode()).warnings)
    with pytest.raises(ImportedError, match=r"type 'Revolute'; .* Kinds are in small letters\."):
        sdf.read_tree(text.replace('type="revolute"', 'type="Revolute"', 1).encode())
