"""Models that SDF files include: by name, moved, renamed, merged, one inside another; beside Drake."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import InputError
from pipeline.robot_files.files import write
from pipeline.robot_files.importing import import_robot, tree_of
from robots import catalog
from robots.model import Robot
from tasks import inverse_dynamics, inverse_kinematics

BODY = (
    "<inertial><pose>0.1 0.02 0.03 0.1 0.2 0.3</pose><mass>2</mass><inertia><ixx>0.03</ixx><iyy>0.04</iyy><izz>0.05"
    "</izz><ixy>0.001</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial>"
)
CONFIG = '<model><name>{0}</name><sdf version="1.5">old.sdf</sdf><sdf version="1.7">{0}.sdf</sdf></model>'
FINGER = f"""<sdf version="1.4"><model name="finger"><pose>9 9 9 0 0 0</pose>
<link name="root"><pose>0 0 0.1 0.3 0 0</pose>{BODY}</link>
<link name="tip"><pose>0.2 0 0.1 0 0.4 0</pose>{BODY}</link><joint name="bend" type="revolute">
<parent>root</parent><child>tip</child><axis><xyz>0 0.6 0.8</xyz></axis></joint></model></sdf>"""
HAND = f"""<sdf version="1.7"><model name="hand"><link name="palm">{BODY}</link>
<frame name="seat"><pose>0.05 0 0.1 0 0.5 0</pose></frame>
<include><uri>model://finger/</uri><name>left</name><pose relative_to="seat">0 0.1 0 0 0 1</pose></include>
<include><uri>model://finger/</uri><name>right</name><pose>0 -0.1 0.1 0.2 0 0</pose></include>
<joint name="a" type="revolute"><parent>palm</parent><child>left::root</child><axis><xyz>1 0 0</xyz></axis></joint>
<joint name="b" type="fixed"><parent>palm</parent><child>right::root</child></joint></model></sdf>"""
ARM = f"""<sdf version="1.8"><model name="arm"><pose>0.5 0 0 0 0 0.3</pose><link name="foot">{BODY}</link>
<link name="fore"><pose>0 0 0.5 0 0 0</pose>{BODY}</link><frame name="flange" attached_to="fore">
<pose>0.1 0 0.2 0.1 0 0</pose></frame>
<joint name="ground" type="fixed"><parent>world</parent><child>foot</child></joint>
<joint name="shoulder" type="revolute"><parent>foot</parent><child>fore</child><axis><xyz>0 1 0</xyz></axis></joint>
<include MERGE><uri>model://hand/</uri><name>tool</name><pose relative_to="flange">0 0 0.1 0 0 0.7</pose></include>
<joint name="wrist" type="revolute"><parent>fore</parent><child>PALM</child><axis><xyz>0 0 1</xyz></axis></joint>
</model></sdf>"""


def written(folder: Path, **models: str) -> Path:
    """Write folders of models, and give the file of the arm."""
    for name, text in ({"finger": FINGER, "hand": HAND} | models).items():
        (folder / name).mkdir()
        (folder / name / f"{name}.sdf").write_text(text)
        (folder / name / "model.config").write_text(CONFIG.format(name))
    return folder / "arm" / "arm.sdf"


@pytest.mark.parametrize(("merge", "palm"), [("", "tool::palm"), ('merge="true"', "palm")])
def test_included_models_beside_drake(tmp_path: Path, merge: str, palm: str) -> None:
    multibody = pytest.importorskip("pydrake.multibody.plant")
    parsing = pytest.importorskip("pydrake.multibody.parsing")
    tree = pytest.importorskip("pydrake.multibody.tree")
    path = written(tmp_path, arm=ARM.replace("MERGE", merge).replace("PALM", palm))
    robot = Robot.of(import_robot(path, parameters=False).description.family, {})
    plant = multibody.MultibodyPlant(0.0)
    parser = parsing.Parser(plant)
    for name in ("finger", "hand"):
        parser.package_map().Add(name, str(tmp_path / name))
    parser.AddModels(str(path))
    plant.Finalize()
    context, none = plant.CreateDefaultContext(), tree.MultibodyForces(plant)
    ends = [name.replace("tool_", "") for name in robot.mechanism.freedoms]
    assert sorted(ends) == ["a", "left_bend", "right_bend", "shoulder", "wrist"]
    places = {}
    for index in plant.GetJointIndices():
        joint = plant.get_joint(index)
        if joint.num_velocities() == 1:
            side = plant.GetModelInstanceName(joint.model_instance()).split("::")[-1]
            places[f"{side}_bend" if joint.name() == "bend" else joint.name()] = joint.velocity_start()
    order = [places[name] for name in ends]
    for q, qd, qdd in np.random.default_rng(1).normal(size=(5, 3, 5)):
        ours = inverse_dynamics(robot, q=q[order], qd=qd[order], qdd=qdd[order]).force
        plant.SetPositions(context, q)
        plant.SetVelocities(context, qd)
        theirs = plant.CalcInverseDynamics(context, qdd, none) - plant.CalcGravityGeneralizedForces(context)
        np.testing.assert_allclose(ours, theirs[order], rtol=1e-10, atol=1e-10)


def test_the_pose_of_another_frame_of_an_included_model(tmp_path: Path) -> None:
    """Check that a model that is placed by its tip has its tip at that pose."""
    text = ARM.replace("<pose relative_to=", "<placement_frame>left::tip</placement_frame><pose relative_to=")
    tree = tree_of(written(tmp_path, arm=text.replace("MERGE", "").replace("PALM", "tool::palm")))
    poses, at = {}, {-1: np.eye(4)}
    for k, link in enumerate(tree.links):
        at[k] = at[link.parent] @ _matrix(link.placement.rotation, link.placement.position)
    poses = {name: at[body] @ _matrix(*pose) for name, (body, pose) in tree.bodies.items()}
    flange = poses["fore"] @ _matrix(_turn(0, 0.1), (0.1, 0.0, 0.2))
    expected = flange @ _matrix(_turn(2, 0.7), (0.0, 0.0, 0.1))
    np.testing.assert_allclose(poses["tool::left::tip"], expected, atol=1e-12)


def _matrix(rotation: object, position: object) -> np.ndarray:
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = np.array(rotation, dtype=float), np.array(position, dtype=float)
    return result


def _turn(axis: int, angle: float) -> np.ndarray:
    result, (i, j) = np.eye(3), [(1, 2), (2, 0), (0, 1)][axis]
    result[[i, j, i, j], [i, j, j, i]] = np.cos(angle), np.cos(angle), -np.sin(angle), np.sin(angle)
    return result


@pytest.mark.parametrize(
    ("include", "message"),
    [
        ("<include/>", "include: got no <uri>; expected <uri>, the name of a model or file. Add it."),
        (
            "<include><uri>model://nowhere</uri></include>",
            "include: got model 'nowhere'; expected a folder with its model.config above or beside the file. Say where",
        ),
        (
            "<include><uri>https://fuel.gazebosim.org/1.0/a/models/b</uri></include>",
            "got 'https://fuel.gazebosim.org/1.0/a/models/b'; expected a model on this machine. Bring it beside",
        ),
        ("<include><uri>../../../etc/passwd.sdf</uri></include>", "outside of the folder of the file"),
        ("<include><uri>arm.sdf</uri></include>", "got 10 files that include one another; expected fewer"),
        ("<include><uri>part.urdf</uri></include>", "a file of <robot> with 0 models; expected an SDF file with one"),
        (
            "<include><uri>model://hand</uri><experimental:params/></include>",
            "got <experimental:params>; expected a model without changes",
        ),
        ("<include><uri>bad.sdf</uri></include>", "got bad.sdf:1: text that is not XML"),
        ('<include merge="tru"><uri>model://hand</uri></include>', "got merge 'tru'; expected true or false"),
    ],
)
def test_wrong_includes_are_told_in_their_line(tmp_path: Path, include: str, message: str) -> None:
    text = ARM.partition("<include")[0] + include + "</model></sdf>"
    path = written(tmp_path, arm=text.replace("<sdf ", '<sdf xmlns:experimental="x" '))
    (path.parent / "part.urdf").write_text('<robot name="part"><link name="one"/></robot>')
    (path.parent / "bad.sdf").write_text("<sdf")
    with pytest.raises(InputError) as caught:
        import_robot(path)
    assert message in str(caught.value)
    assert "arm.sdf:6:" in str(caught.value)


def test_a_misspelt_child_of_an_include_is_told(tmp_path: Path) -> None:
    """Check a misspelt child, which is visible only here: the include is gone when the whole file is read."""
    text = ARM.replace("MERGE", "").replace("PALM", "tool::palm").replace("</uri>", "</uri><psoe>9 0 0 0 0 0</psoe>")
    told = map(str, tree_of(written(tmp_path, arm=text)).warnings)
    expected = "got an element <psoe> that is not read; expected known elements. Did you mean 'pose'"
    assert any(expected in each for each in told)


PAIR = """<sdf version="1.11"><world name="pair">
<include><uri>arm.sdf</uri><name>left</name></include>
<include><uri>arm.sdf</uri><name>right</name><pose>0 0.6 0 0 0 0.4</pose></include>
<model name="load"><link name="box"><pose>-0.6 0.3 0.2 0 0 0</pose>BODY</link></model>
<joint name="grip_left" type="fixed"><parent>left::link_6</parent><child>load::box</child></joint>
GRIP</world></sdf>"""
GRIP = '<joint name="grip_right" type="fixed"><parent>right::link_6</parent><child>load::box</child></joint>'


@pytest.mark.slow
def test_two_arms_with_one_load_are_a_closed_chain(tmp_path: Path) -> None:
    """Compare powers of actuators along motions of the loop with those of all joints of the open tree."""
    write(catalog.build("ur5e"), tmp_path / "arm.sdf")
    made = []
    for name, grip in (("closed", GRIP), ("open", "")):
        path = tmp_path / f"{name}.sdf"
        path.write_text(PAIR.replace("BODY", BODY).replace("GRIP", grip))
        made.append(Robot.of(import_robot(path, parameters=False).description.family, {}))
    closed, tree = made
    names = [link.joint for link in closed.mechanism.limbs[0].links]
    assert sorted(names) == sorted(tree.mechanism.freedoms)
    count = len(closed.mechanism.freedoms)
    assert count == 6
    q, qd, qdd = np.random.default_rng(2).uniform(-0.03, 0.03, (3, 4, count))
    joints, forces = inverse_kinematics(closed, q=q, qd=qd, qdd=qdd), inverse_dynamics(closed, q=q, qd=qd, qdd=qdd)
    assert not forces.status.any()
    order = [names.index(name) for name in tree.mechanism.freedoms]
    all_q, all_qd, all_qdd = (values[:, 0, order] for values in joints[:3])
    power = (inverse_dynamics(tree, q=all_q, qd=all_qd, qdd=all_qdd).force * all_qd).sum(axis=1)
    driven = [closed.mechanism.freedoms.index(name) for name in closed.mechanism.actuators]
    np.testing.assert_allclose((forces.force * qd[:, driven]).sum(axis=1), power, rtol=1e-9, atol=1e-12)
