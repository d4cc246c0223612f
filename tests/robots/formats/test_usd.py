"""USD stages: the same robots as in other formats, in any frames and units, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pipeline.errors import InputError
from pipeline.robot_files.importing import ImportedRobot, import_robot
from robots.formats import usd_words
from robots.formats.usd import _allowed, _kind
from robots.formats.usd_words import unread
from robots.model import Robot
from tasks import inverse_dynamics, inverse_kinematics
from tests.robots.formats.test_nearly_closed import UP, four_bar

PLACES = {
    "": (np.eye(3), np.zeros(3)),
    "crank": (Rotation.from_euler("z", UP).as_matrix(), np.zeros(3)),
    "coupler": (np.eye(3), np.array([0.0, 0.2, 0.0])),
    "rocker": (Rotation.from_euler("z", UP).as_matrix(), np.array([0.4, -0.1, 0.0])),
}
JOINTS = (
    ("motor", "", "crank", (0.0, 0.0, 0.0)),
    ("pin", "crank", "coupler", (0.0, 0.2, 0.0)),
    ("bearing", "", "rocker", (0.4, -0.1, 0.0)),
    ("last", "coupler", "rocker", (0.4, 0.2, 0.0)),
)
LIMITS = "float physics:lowerLimit = -90\nfloat physics:upperLimit = 180"
Y_UP = Rotation.from_euler("x", -UP).as_matrix()


def numbers(values: object) -> str:
    return "(" + ", ".join(f"{x:.17g}" for x in np.ravel(values)) + ")"


def quaternion(turn: np.ndarray) -> str:
    x, y, z, w = Rotation.from_matrix(turn).as_quat()
    return numbers((w, x, y, z))


def stage(*, up: str = "Z", metres: float = 1.0, more: str = "", drive: bool = True, seed: int | None = None) -> str:
    """Return the four-bar of `four_bar` as a stage; with a seed bodies have other frames."""
    random = None if seed is None else np.random.default_rng(seed)
    whole = Y_UP if up == "Y" else np.eye(3)
    frames, text = dict(PLACES), ""
    for name in ("crank", "coupler", "rocker"):
        turn, at = PLACES[name]
        if random is not None:
            frames[name] = turn @ Rotation.random(random_state=int(random.integers(99))).as_matrix(), at
        place = whole @ frames[name][0]
        centre = frames[name][0].T @ (turn @ np.array([0.1, 0.0, 0.0])) / metres
        text += f"""def Xform "{name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {{
            float physics:mass = 1
            point3f physics:centerOfMass = {numbers(centre)}
            float3 physics:diagonalInertia = {numbers(np.array([0.01, 0.02, 0.02]) / metres**2)}
            quatf physics:principalAxes = {quaternion(frames[name][0].T @ turn)}
            double3 xformOp:translate = {numbers(whole @ at / metres)}
            quatd xformOp:orient = {quaternion(place)}
            uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
        }}\n"""
    for name, a, b, at in JOINTS:
        sides = ""
        for k, body in enumerate((a, b)):
            turn, origin = frames[body]
            turn, origin = (whole @ turn, whole @ origin) if body else (np.eye(3), np.zeros(3))
            sides += f"rel physics:body{k} = </{body}>\n" if body else ""
            sides += f"point3f physics:localPos{k} = {numbers(turn.T @ (whole @ np.array(at) - origin) / metres)}\n"
            sides += f"quatf physics:localRot{k} = {quaternion(turn.T @ whole)}\n"
        apis = '(prepend apiSchemas = ["PhysicsDriveAPI:angular"])' if name == "motor" and drive else ""
        text += f"""def PhysicsRevoluteJoint "{name}" {apis} {{
            uniform token physics:axis = "Z"
            {sides}{"bool physics:excludeFromArticulation = true" if name == "last" else ""}
            {LIMITS if name == "motor" else ""}
        }}\n"""
    return f'#usda 1.0\n(\n metersPerUnit = {metres}\n upAxis = "{up}"\n)\n{text}{more}'


def imported(folder: Path, text: str, **options: object) -> ImportedRobot:
    path = folder / "robot.usda"
    path.write_text(text)
    return import_robot(path, parameters=False, **options)  # type: ignore[arg-type]


def test_kinds_of_joints_with_locked_freedoms() -> None:
    """A low limit above the high one locks a freedom; one that is left makes a hinge or a slide."""
    locked = dict.fromkeys(("transX", "transY", "transZ", "rotX", "rotZ"), (1.0, -1.0))
    joint = {"type": "PhysicsJoint", "axis": "X", "limits": locked}
    assert _kind(joint) == ("revolute", 1)
    assert _kind({**joint, "limits": {**locked, "rotY": (1.0, -1.0)}})[0] == "fixed"
    assert _kind({**joint, "limits": dict.fromkeys(("transX", "transY", "transZ"), (1.0, -1.0))})[0] == "ball"
    assert _kind({**joint, "limits": {}})[0] == ""
    assert _kind({"type": "PhysicsDistanceJoint", "axis": "X", "limits": {}})[0] == ""


def test_the_variable_of_a_joint_is_what_it_allows() -> None:
    turn = Rotation.from_euler("y", 0.3).as_matrix()
    (left, _), angle = _allowed("revolute", 1, (turn, np.ones(3)))
    assert angle == pytest.approx(0.3)
    np.testing.assert_allclose(left, turn, atol=1e-15)
    assert _allowed("prismatic", 2, (turn, np.array([1.0, 2.0, 3.0])))[1] == 3.0


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize(("up", "metres"), [("Z", 1.0), ("Y", 0.01)])
def test_a_four_bar_moves_as_that_of_a_urdf_file(up: str, metres: float, seed: int | None, tmp_path: Path) -> None:
    """Compare forces in single precision, which USD has for masses and frames of joints."""
    pytest.importorskip("pxr")
    made = imported(tmp_path, stage(up=up, metres=metres, seed=seed))
    robot = Robot.of(made.description.family, {})
    assert robot.mechanism.actuators == ("motor",)
    (tmp_path / "robot.urdf").write_bytes(four_bar())
    other = Robot.of(import_robot(tmp_path / "robot.urdf", parameters=False).description.family, {})
    states = np.linspace(-0.2, 0.2, 5)[:, None]
    joints = inverse_kinematics(robot, q=states, qd=states, qdd=states)
    name = {"j1": "motor", "j2": "pin", "j3": "bearing"}[other.mechanism.freedoms[0]]
    place = [link.joint for link in robot.mechanism.limbs[0].links].index(name)
    q, qd, qdd = (values[:, 0, place : place + 1] for values in joints[:3])
    ours = inverse_dynamics(robot, q=states, qd=states, qdd=states).force * states
    theirs = inverse_dynamics(other, q=q, qd=qd, qdd=qdd).force * qd
    np.testing.assert_allclose(ours, theirs, atol=2e-6 * np.abs(theirs).max())
    (rating,) = (entry for entry in made.description.ratings if entry.joint == "motor")
    assert rating.low == pytest.approx(-UP, abs=1e-6)


BAD = [
    (
        "physics:mass = 1",
        "physics:mass = 0",
        "link crank: got no mass; expected mass, centerOfMass and diagonalInertia",
    ),
    ("PhysicsRevoluteJoint", "PhysicsDistanceJoint", "joint motor: got a PhysicsDistanceJoint"),
    ('"PhysicsDriveAPI:angular"', '"PhysxMimicJointAPI:rotX"', "joint motor: got PhysxMimicJointAPI:rotX"),
    ("#usda 1.0", "#usda 9.9", "a stage that it does not open"),
    ("PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "no rigid body"),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD)
def test_what_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    pytest.importorskip("pxr")
    with pytest.raises(InputError) as caught:
        imported(tmp_path, stage().replace(old, new))
    assert message in str(caught.value)


def test_layers_elsewhere_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("pxr")
    (tmp_path / "other.usda").write_text(stage())
    (tmp_path / "inner").mkdir()
    text = "#usda 1.0\n(\n subLayers = [@../other.usda@]\n)\n"
    with pytest.raises(InputError, match=r"a layer elsewhere, .*; expected layers below the folder of the file"):
        imported(tmp_path / "inner", text)


def test_bodies_that_stand_apart_are_put_together(tmp_path: Path) -> None:
    pytest.importorskip("pxr")
    usual = imported(tmp_path, stage()).description.family.reference.limbs[0].links
    moved = imported(tmp_path, stage().replace("xformOp:translate = (0, 0.2", "xformOp:translate = (0, 0.25"))
    assert any("joint pin: got bodies that stand 0.05" in str(each) for each in moved.warnings)
    places = moved.description.family.reference.limbs[0].links
    assert places[1].placement.position == pytest.approx(usual[1].placement.position, abs=1e-7)


def test_springs_are_left_out_where_that_is_asked(tmp_path: Path) -> None:
    pytest.importorskip("pxr")
    text = stage().replace("float physics:lowerLimit = -90", "float physics:lowerLimit = -90\n float mjc:stiffness = 3")
    with pytest.raises(InputError, match="a spring of a joint"):
        imported(tmp_path, text)
    assert imported(tmp_path, text, leave_out=("springs",)).warnings


ALIEN = (
    ("float physics:mass = 1", "physxRigidBody:lockedPosAxis = 2", "link crank: got physxRigidBody:lockedPosAxis"),
    ("float physics:mass = 1", "physxRigidBody:linearDamping = 2", "link crank: got physxRigidBody:linearDamping"),
)


@pytest.mark.parametrize(("line", "attribute", "message"), ALIEN)
def test_attributes_of_simulators_that_hold_bodies_are_refused(
    line: str, attribute: str, message: str, tmp_path: Path
) -> None:
    pytest.importorskip("pxr")
    with pytest.raises(InputError, match=message):
        imported(tmp_path, stage().replace(line, f"{line}\n custom int {attribute}"))


def test_each_attribute_of_the_schema_is_in_a_table() -> None:
    """Check all attributes that bodies and joints may have: none of UsdPhysics is reported as unknown."""
    pytest.importorskip("pxr")
    from pxr import Usd

    registry = Usd.SchemaRegistry()
    joints = ("Revolute", "Prismatic", "Spherical", "Fixed", "")
    applied = {
        "body": ("RigidBodyAPI", "MassAPI", "CollisionAPI", "MeshCollisionAPI", "FilteredPairsAPI"),
        "joint": ("DriveAPI", "LimitAPI"),
    }
    names = {kind: set[str]() for kind in applied}
    for kind, apis in applied.items():
        for api in apis:
            names[kind].update(registry.FindAppliedAPIPrimDefinition(f"Physics{api}").GetPropertyNames())
    for joint in joints:
        found = registry.FindConcretePrimDefinition(f"Physics{joint}Joint").GetPropertyNames()
        names["joint"].update(name for name in found if name.startswith("physics:"))
    assert len(names["body"]) > 13
    assert len(names["joint"]) > 20
    prims = {kind: [{"name": "p", "authored": sorted(found)}] for kind, found in names.items()}
    assert not [*unread({"bodies": prims["body"], "joints": prims["joint"]})]


def test_an_attribute_of_another_schema_is_told_once(tmp_path: Path) -> None:
    pytest.importorskip("pxr")
    text = stage().replace("float physics:mass = 1", "float physics:mass = 1\n custom float newton:friktion = 3")
    told = [str(each) for each in imported(tmp_path, text).warnings if "newton:friktion" in str(each)]
    assert len(told) == 1
    assert "link crank: got an attribute newton:friktion that is not read; expected known attributes" in told[0]


@pytest.mark.parametrize("kind", usd_words.USD)
def test_what_is_idle_changes_nothing(kind: str, tmp_path: Path) -> None:
    """Set each attribute of a table on the crank or on its joint."""
    pytest.importorskip("pxr")
    start = "float physics:mass = 1" if kind == "body" else 'uniform token physics:axis = "Z"'
    plain = imported(tmp_path, stage())
    words = [name for name in usd_words.USD[kind].idle.split() if "*" not in name and "filteredPairs" not in name]
    more = "".join(f"\n custom float3 {name} = (1, 2, 3)" for name in words if name != "physics:density")
    made = imported(tmp_path, stage().replace(start, start + more, 1))
    assert repr(made.description.family) == repr(plain.description.family)
    assert str(made.warnings) == str(plain.warnings)
