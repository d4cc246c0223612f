# ruff: noqa: E501 - tables
"""Bad inputs about imports, the files beside them, and what robot files say of drives, couplings, loops and ratings."""

from __future__ import annotations

from importlib.util import find_spec

from tests.bad_inputs.robots import robot, urdf, whole
from tests.bad_inputs.rows import Row
from tests.pipeline.robot_files.test_drives import DRIVEN
from tests.pipeline.robot_files.test_urdf import BODY, FOUR_BAR, LIMIT, LOOPS
from tests.robots.formats.mjcfs import ARM as MODEL
from tests.robots.formats.mjcfs import FOUR_BAR as LINKAGE
from tests.robots.formats.test_assembly import REVOLUTE as BARS
from tests.robots.formats.test_sdf import BAD as SDF
from tests.robots.formats.test_strangers import GRIPPER


def of(text: str, name: str, old: str, new: str, *said: str) -> Row:
    """Another robot file that is good but for one text."""
    return robot(name, old, new, *said, text=text)


def gripper(name: str, old: str, new: str, *said: str) -> Row:
    """A URDF file with a joint that mimics, good but for one text."""
    assert old in GRIPPER, old
    return whole(name, GRIPPER.replace(old, new, 1), *said)


def model(name: str, old: str, new: str, *said: str, text: str = MODEL) -> Row:
    """A model of MuJoCo that is good but for one text."""
    assert old in text, old
    return whole(name, text.replace(old, new, 1), *said)


def loops(name: str, old: str, new: str, *said: str) -> Row:
    """A file of loops that is good but for one text."""
    assert old in LOOPS, old
    files = {"r.urdf": FOUR_BAR, "l.yaml": LOOPS.replace(old, new, 1)}
    return Row(name, said, files=files, command=("import", "r.urdf", "--loops", "l.yaml", "--output", "out.yaml"))


def called(name: str, arguments: str, *said: str) -> Row:
    """Options of the command that are wrong."""
    return Row(name, said, files={"r.urdf": GRIPPER}, command=("import", *arguments.split(), "--output", "out.yaml"))


FLAT = '<inertial><mass value="1"/><inertia ixx="1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
FOLLOWING = "    actuated: [shoulder]\n    couplings: [{joint: elbow, of: shoulder, ratio: 2}]\n"
MIMIC = '<mimic joint="close" multiplier="-2"/>'
ACTUATED = "    actuated: [shoulder, elbow]\n"
COUPLING = "{joint: elbow, of: shoulder, ratio: 2}"


def following(name: str, old: str, new: str, *said: str) -> Row:
    """A robot file with a coupling, good but for one text."""
    assert old in FOLLOWING, old
    return robot(name, ACTUATED, FOLLOWING.replace(old, new, 1), *said)


def rated(name: str, text: str, *said: str) -> Row:
    """A robot file with something more at its end."""
    return robot(name, ACTUATED, ACTUATED + text + "\n", *said)


ROWS: tuple[Row, ...] = (
    # URDF
    urdf("E15 no body has that", f'<link name="upper">{BODY}', f'<link name="upper">{FLAT}', "r.urdf:4:1 link upper: got principal moments 0.1 + 0.1 < 1", "They became", status=0),
    urdf("E16 merged into none", f'<link name="tool">{BODY}', f'<link name="tool">{FLAT}', "r.urdf:5:1 link lower: got principal moments", status=0),
    gripper("E17 a mimic of nothing", ' joint="close" mult', " mult", 'got no joint in <mimic>; expected joint="..." that it follows'),
    gripper("E18 a mimic of itself", 'mimic joint="close"', 'mimic joint="other"', "joint other: got a joint that mimics itself, by other"),
    gripper("E19 a mimic by words", 'multiplier="-2"', 'multiplier="twice"', "joint other: got multiplier 'twice'; expected a finite number"),
    gripper("E20 an endless offset", 'multiplier="-2"', 'offset="inf"', "joint other: got offset 'inf'; expected a finite number"),
    gripper("E21 a floating mimic", 'name="other" type="revolute"', 'name="other" type="floating"', "got a mimic of a floating joint; expected a joint of one variable"),
    urdf("E22 an unknown kind", 'type="prismatic"', 'type="helical"', "got type 'helical'; expected one of revolute, continuous, prismatic, fixed, planar"),
    urdf("E23 a limit in words", 'effort="5"', 'effort="much"', "got effort 'much'; expected a finite number"),
    urdf("E24 a damping in words", LIMIT, LIMIT + '<dynamics damping="?"/>', "got damping '?'; expected a finite number"),
    urdf("E25 an axis in words", 'xyz="0 0 1"', 'xyz="z"', "got xyz 'z'; expected 3 finite numbers"),
    urdf("E26 two numbers of an axis", 'xyz="0 0 1"', 'xyz="0 1"', "got xyz '0 1'; expected 3 finite numbers"),
    urdf("E27 a turn in words", 'rpy="0 0 1"', 'rpy="a b c"', "got rpy 'a b c'; expected 3 finite numbers"),
    urdf("E28 a joint far away", 'xyz="0.2 0 0"', 'xyz="2000 0 0"', "joint elbow: got an origin 2000 m away; expected at most 100 m"),
    urdf("E29 a centre far away", 'xyz="0.1 0 0"', 'xyz="1000 0 0"', "link upper: got a centre of mass 1000 m away; expected at most 100 m"),
    urdf("E30 a mass of a ship", 'value="2"', 'value="1e9"', "link upper: got 1e+09; expected a mass in [0, 1e+06] kg"),
    urdf("E31 a mass below zero", 'value="2"', 'value="-2"', "link upper: got mass -2; expected a mass of at least 0 kg"),
    urdf("E32 no inertia", '<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/>', "", "link upper: got no <inertia>; expected <inertia>, which is required"),
    urdf("E33 grams and millimetres", 'ixx="0.01" iyy="0.02" izz="0.02"', 'ixx="1e7" iyy="2e7" izz="2e7"', "expected a body of at most 100 m"),
    urdf("E34 a link without name", '<link name="tool">', "<link>", "got ''; expected a name of at most 80 visible characters"),
    urdf("E35 an endless name", 'name="tool"', f'name="{"x" * 90}"', "expected a name of at most 80 visible characters"),
    urdf("E36 a joint twice", 'joint name="elbow"', 'joint name="shoulder"', "got shoulder again; expected a name for each joint"),
    urdf("E37 a joint without child", '<child link="lower"/>', "", "joint elbow: got no child link"),
    urdf("E38 an unknown child", '<child link="lower"/>', '<child link="lowr"/>', "got child 'lowr'; expected a link of this file. Did you mean 'lower'?"),
    whole("E39 only links", '<robot name="r"><link name="a"/></robot>', "got no joint that moves; expected at least one"),
    whole("E40 nothing at all", '<robot name="r"/>', "r.urdf: got no link; expected links and joints"),
    whole("E41 another root", "<sdf version='1.7'/>", "got no model; expected one model with links and joints."),
    whole("E41 a COLLADA file", "<COLLADA/>", "got <COLLADA>; expected <robot>. Convert it to URDF first."),
    urdf("E96 a decimal comma", 'xyz="0.2 0 0"', 'xyz="0,2 0 0"', "got xyz '0,2 0 0'; expected 3 finite numbers. Use a decimal point, not a comma."),
    whole("E97 NUL inside", b"<robot name='r'>\0<link name='a'/></robot>", "r.urdf:1:17: got a NUL byte"),
    whole("E42 zip", b"PK\x03\x04....", "got binary data that look like zip"),
    whole("E43 UTF-16", "<robot/>".encode("utf-16"), "expected UTF-8 text. It looks like UTF-16"),
    whole("E44 a program", "#!/usr/bin/env python\nprint(1)\n", "got text that is not XML"),
    called("K a base that sails", "r.urdf --base sailing", "'sailing' is not one of 'fixed', 'floating'"),
    called("E46 no such file", "s.urdf", "s.urdf: got no such file; expected an existing file. Did you mean r.urdf?"),
    called("E47 no such loops", "r.urdf --loops l.yaml", "l.yaml: got no such file"),
    called("E48 an argument of macros without a sign", "r.urdf --arg size=1", "--arg: got 'size=1'; expected NAME:=VALUE"),
    called("E48 an argument of macros twice", "r.urdf --arg a:=1 --arg a:=2", "--arg: got 'a:=2'; expected NAME:=VALUE, each name once"),
    called("E48 a package nowhere", "r.urdf --package there", "--package: got 'there'; expected NAME=VALUE"),
    called("E48 a folder", ".", ".: got a directory; expected a regular file"),
    # Loops beside a URDF file
    loops("E49 a link that is not", "a: coupler", "a: couplr", "loops[0].a: got 'couplr'; expected a link of the URDF file. Did you mean 'coupler'?"),
    loops("E50 one link", "b: rocker, ", "", "got no key 'b'; expected 'b', which is required in loops"),
    loops("E51 an open loop", "[0, 0.3, 0]", "[0, 0.35, 0]", "got a gap of 0.05 m at the reference pose; expected frames that meet", "rough positions under reference"),
    loops("E52 a loop out of reach", "[0, 0.3, 0]}}]", "[0, 3, 0]}}]\nreference: {}", "got a gap of", "expected frames that meet"),
    loops("E53 a name twice", "joint: c", "joint: a", "loops[0].joint: got joint a again; expected a name for each joint"),
    loops("E54 too many drives", "actuated: [a]", "actuated: [a, b]", "got the driven joints a, b of a loop with 1 freedom"),
    loops("E55 a drive that is not", "actuated: [a]", "actuated: [motor]", "actuated[0]: got 'motor'; expected a joint of the URDF file that moves"),
    loops("E56 a reference in words", "actuated: [a]", "actuated: [a]\nreference: {b: up}", "reference.b: got 'up'; expected a number"),
    loops("E57 a reference of nothing", "actuated: [a]", "actuated: [a]\nreference: {e: 1}", "reference.e: got 'e'; expected a joint of the file that moves"),
    loops("E58 an unknown kind", "kind: revolute", "kind: hinge", "expected one of 'revolute', 'universal', 'spherical', 'prismatic', 'cylindrical', 'screw' or 'fixed'"),
    loops("E59 a weld that cannot move", "kind: revolute", "kind: fixed", "got the driven joint a of a loop with 0 freedoms; expected joints that move on their own. Give a cut joint more freedoms, or drive none of them."),
    # Couplings
    following("E69 a coupling of nothing", "joint: elbow", "joint: wrist", "couplings[0].joint: got 'wrist'; expected a joint of a link of this limb"),
    following("E70 a coupling to nothing", "of: shoulder", "of: hip", "couplings[0].of: got 'hip'; expected a joint of a link of this limb"),
    following("E71 a follower that is driven", "[shoulder]", "[shoulder, elbow]", "actuated[1]: got 'elbow'; expected no joint that follows another. Remove it."),
    following("E72 a coupling twice", COUPLING, f"{COUPLING}, {COUPLING}", "couplings[1].joint: got elbow again; expected one coupling of a joint"),
    following("E73 a coupling to itself", "of: shoulder", "of: elbow", "couplings[0].of: got 'elbow'; expected a joint that follows no other one"),
    following("E74 no ratio", ", ratio: 2", "", "couplings[0]"),
    # Ratings and bodies without mass
    rated("E75 a rating of nothing", "ratings: {wrist: {force: 1}}", "ratings.wrist: got 'wrist'; expected a joint of one variable"),
    rated("E76 a range backwards", "ratings: {elbow: {position: [1, -1]}}", "ratings.elbow.position: got [1.0, -1.0]; expected [low, high] with low below high"),
    rated("E77 a force below zero", "ratings: {elbow: {force: -1}}", "ratings.elbow.force: got -1.0; expected a number of at least 0"),
    rated("E78 a rating in words", "ratings: {elbow: {velocity: fast}}", "ratings.elbow.velocity: got 'fast'; expected a number"),
    rated("E79 an unknown rating", "ratings: {elbow: {torque: 1}}", "ratings.elbow.torque: got an unknown key"),
    rated("E80 massless nothing", "massless: [tool]", "massless[0]: got 'tool'; expected a body of the robot"),
    # Reference poses
    of(BARS, "E81 out of reach", "default: 0.3", "default: 0.003", "limbs.bars.reference: got loops that stay open by 0.01"),
    of(BARS, "E82 a reference of nothing", "b: -1", "e: -1", "limbs.bars.reference.e: got 'e'; expected a joint of a link of this limb"),
    of(BARS, "E83 a reference in words", "b: -1", "b: down", "limbs.bars.reference.b: got 'down'; expected a number"),
    of(BARS, "E84 open without a reference", "    reference: {a: 1.2, b: -1, c: -1.7}\n", "", "got a gap of"),
    of(BARS, "E85 too many drives", "actuated: [a]\n    reference: {a: 1.2, b: -1, c: -1.7}", "actuated: [a, b]\n    reference: {a: 1.2, b: -1, c: -1.7}", "got loops that stay open by"),
    # Drives and expressions
    of(DRIVEN, "E86 a drive called as a joint", "name: m1", "name: elbow", "drives[0].name: got 'elbow'; expected another name than those of joints"),
    of(DRIVEN, "E87 a drive of nothing", "ratios: {shoulder: gear}, ", "", "drives[0]: got a drive that moves nothing"),
    of(DRIVEN, "E88 a gear of nothing", "shoulder: gear", "hip: gear", "drives[0].ratios.hip: got 'hip'; expected a joint of a link of this limb"),
    of(DRIVEN, "E89 a rotor on nothing", "carrier: base", "carrier: house", "drives[0].spins[0].carrier: got 'house'; expected a body of this limb, or base"),
    of(DRIVEN, "E90 a long axis", "axis: [0, 0, 1]", "axis: [0, 1, 1]", "drives[0].spins[0].axis: got an axis of length 1.41421; expected length 1"),
    of(DRIVEN, "E91 a motor without torque", "torque_constant: 0.1, r", "torque_constant: 0, r", "torque_constant: got 0; expected a torque per current other than 0"),
    robot("E92 an angle of nothing", "[half, 0, 0]", "[asin(3), 0, 0]", "got asin ( 3 ), which is nan; expected a finite number"),
    robot("E93 one leg of an angle", "[half, 0, 0]", '["atan2(1)", 0, 0]', "got 1 argument of atan2; expected 2"),
    robot("E94 an unknown function", "[half, 0, 0]", '["arctan(1)", 0, 0]', "got the function 'arctan'", "atan2. Did you mean 'atan'?"),
    robot("E95 a parameter called acos", "length: {default", "acos: {default: 1}, length: {default", "got 'acos'; expected a name that is free"),
)  # fmt: skip

MODELS = (
    model("E60 schema", "<worldbody>", "<worldboddy/><worldbody>", "got a model that MuJoCo does not compile (XML Error: Schema violation"),
    model("E61 a mesh that is not", "<worldbody>", '<asset><mesh name="m" file="gone.stl"/></asset><worldbody>', "gone.stl", "have to be where it says"),
    model("E62 a polynomial", "0 -0.5 0 0 0", "0 -0.5 3 0 0", "got joint close as a polynomial of bend; expected a linear equality"),
    model("E63 a locked joint that leads", "<equality>", '<equality><joint joint1="bend"/>', "got an equality of a joint that another equality holds; expected joints of one variable that move"),
    model("E64 a document type", "<mujoco", "<!DOCTYPE m><mujoco", "got a document type; expected no DOCTYPE and no entities"),
    model("E65 an unknown joint", 'joint="waist"', 'joint="hip"', "got a model that MuJoCo does not compile"),
    model("E66 no mass", 'mass="3"', 'mass="-3"', "got a model that MuJoCo does not compile"),
    model("E67 a loop between sites that are not", 'anchor="0.5 0.1 0"/>', 'anchor="0.5 0.1 0"/><connect name="far" site1="s" site2="t"/>', "got a model that MuJoCo does not compile", text=LINKAGE),
    whole("E68 an empty model", "<mujoco/>", "got no joint that moves; expected at least one"),
)  # fmt: skip
ROWS += tuple(whole(f"E{k} SDF, {said[:24]}", data, said) for k, (data, said) in enumerate(SDF, start=101))
ROWS += MODELS if find_spec("mujoco") else ()
