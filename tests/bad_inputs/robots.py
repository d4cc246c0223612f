"""Bad inputs about robot files and URDF files."""

from __future__ import annotations

from robots import catalog
from robots.formats import writing
from robots.formats.description import describe
from tests.bad_inputs.rows import Row
from tests.pipeline.robot_files.arm import ARM
from tests.pipeline.robot_files.test_reader import FIVE_BAR
from tests.pipeline.robot_files.test_urdf import ARM as URDF
from tests.pipeline.robot_files.test_urdf import BODY, LIMIT


def robot(name: str, old: str, new: str, *said: str, text: str = ARM) -> Row:
    """A robot file that is good but for one text."""
    assert old in text, old
    return Row(name, said, files={"r.yaml": text.replace(old, new, 1)}, command=("robots", "r.yaml"))


def urdf(name: str, old: str, new: str, *said: str, status: int = 2) -> Row:
    """A URDF file that is good but for one text."""
    assert old in URDF, old
    return whole(name, URDF.replace(old, new, 1), *said, status=status)


def whole(name: str, text: str | bytes, *said: str, status: int = 2) -> Row:
    """A URDF file."""
    return Row(
        name,
        said,
        files={"r.urdf": text},
        command=("import", "r.urdf", "--output", "out.yaml"),
        status=status,
        made=("out.yaml", "robot.schema.json") if status == 0 else (),
    )


LINK = "{joint: j, body: b, parent: base, kind: revolute, axis: z, inertia: {mass: 1}}"
LIMBS = "limbs:\n" + "".join(f"  l{k}: {{links: [{LINK}], actuated: [j]}}\n" for k in range(100))
UNCROSSED = writing.text(describe(catalog.build("gough_stewart", base_half_angle=20.0, platform_half_angle=40.0)))
CYCLE = ('<parent link="base"/>', '<parent link="tool"/>')
DOCTYPE = '<?xml version="1.0"?>\n<!DOCTYPE robot'
ENTITIES = "".join(f'<!ENTITY a{k} "{f"&a{k - 1};" * 10 if k else "ha"}">' for k in range(9))

ROWS = (
    robot(
        "D02 nothing at the end",
        "inertia: {mass: 1}}",
        "inertia: {mass: 0}}",
        "expected a mass above 0 of the last body",
    ),
    robot(
        "D06 a matrix of moments",
        "moments: [0, 0.1, 0.1]",
        "moments: [[0, 0, 0], [0, 1, 9], [0, 0, 1]]",
        "moments: got a matrix; expected three moments. Write its diagonal under moments, and [ixy, ixz, iyz] under",
    ),
    robot(
        "D06 a key of a tensor",
        "moments: [0, 0.1, 0.1]",
        "tensor: [[0, 0, 0], [0, 1, 9], [0, 0, 1]]",
        "tensor: got an unknown key; expected a known key",
    ),
    robot("D05 a mass of 1e12 kg", "mass: 2", "mass: 1e12", "expected a mass in [0, 1e+06] kg"),
    robot("D07 a negative moment", "[0, 0.1, 0.1]", "[-5, 0.1, 0.1]", "principal moments -5", "none below 0"),
    robot(
        "D08 no triangle", "{mass: 1}", "{mass: 1, moments: [100, 0.1, 0.1]}", "no moment above the sum of the others"
    ),
    robot("D09 g mm^2", "[0, 0.1, 0.1]", "[0, 1e8, 1e8]", "divide by 1e9 from g mm^2"),
    robot("D10 a centre far away", "[half, 0, 0]", "[100.5, 0, 0]", "got 100.5 m; expected at most 100 m"),
    robot("D11 no axis", "axis: z", "axis: [0, 0, 0]", "expected a direction other than zero"),
    urdf("D11 no axis in URDF", 'xyz="0 0 1"', 'xyz="0 0 0"', "axis 0 0 0", "Give it a length of 1."),
    urdf(
        "D12 an axis of length 2",
        'xyz="0 0 1"',
        'xyz="0 0 2"',
        "warning: r.urdf:7:1 joint shoulder: got an axis of length 2",
        status=0,
    ),
    urdf("D13 limits swapped", 'lower="-1"', 'lower="2"', "lower 2 above upper 1", "They are left out", status=0),
    urdf("D14 limit nan", 'lower="-1"', 'lower="nan"', "lower 'nan'; expected a finite number"),
    robot("D16 a screw without pitch", "kind: revolute, axis: z", "kind: screw, axis: z", "got no key 'pitch'"),
    robot("D16 a pitch of 0", "kind: revolute, axis: z", "kind: screw, pitch: 0, axis: z", "a pitch other than 0"),
    robot("D16 a pitch that turns", "axis: z", "axis: z, pitch: 0.1", "expected no pitch of a revolute joint"),
    robot("D16 no kind", "kind: revolute, axis: z", "kind: ball, axis: z", "one of 'revolute', 'prismatic' or 'screw'"),
    robot(
        "D17 too few actuators",
        "mobility: [vx, vz]",
        "mobility: [vx, vy, vz]",
        "3 freedoms and 2 actuators",
        text=FIVE_BAR,
    ),
    robot("D17 no limbs", "instances:\n", "instances: {}\nplatfrom:\n", "at least 1 entry", text=FIVE_BAR),
    robot(
        "D18 a joint twice",
        "joint: elbow",
        "joint: shoulder",
        "joint shoulder again",
        "Rename one; the first is in line",
    ),
    robot("D19 an unknown body", "parent: upper", "parent: uper", "Did you mean 'upper'?"),
    robot("D20 a second parent", "body: lower", "body: upper", "a second joint of it is a loop"),
    urdf("D20 a second parent in URDF", '<child link="lower"/>', '<child link="upper"/>', "Declare it as a loop"),
    urdf("D20 a cycle in URDF", *CYCLE, "a cycle of parents; expected a tree"),
    urdf(
        "D21 a link on its own",
        '<link name="base"/>',
        '<link name="base"/><link name="spare"/>',
        "link spare",
        "one root",
    ),
    robot(
        "D22 limbs at one place",
        ", base: {turn: {z: 180}}, platform: {turn: {z: 180}}",
        "",
        "the place of left",
        text=FIVE_BAR,
    ),
    robot(
        "D23 limbs at one place",
        ", base: {turn: {z: 180}}, platform: {turn: {z: 180}}",
        "",
        "another place",
        text=FIVE_BAR,
    ),
    robot("D24 out of reach", "default: 0.53", "default: 5.3", "got sqrt ( 1 - c ** 2 ), which is nan", text=FIVE_BAR),
    robot(
        "D26 an open loop",
        "home: {position: [0, 0, -home_height]}",
        "home: {}",
        "a gap of 0.6 m at the reference pose",
        text=FIVE_BAR,
    ),
    Row(
        "D25 similar hexagons",
        ("platform.home: got a singular pose: with all actuators held the platform moves along",),
        files={"r.yaml": UNCROSSED},
        command=("robots", "r.yaml"),
    ),
    robot(
        "D27 a freedom that is none",
        "mobility: [vx, vz]",
        "mobility: [vx, vy]",
        "got vy, in which the limbs let nothing move",
        "They allow 3 freedoms (wy, vx, vz) there.",
        text=FIVE_BAR,
    ),
    robot(
        "D29 four numbers",
        "{position: [length, 0, 0]}",
        "{rotation: [1, 0, 0, 0]}",
        "expected three rows of three values, or turn",
    ),
    robot(
        "D29 two axes in a turn",
        "{position: [length, 0, 0]}",
        "{turn: {z: 30, x: 15}}",
        "got a mapping with z, x; expected one axis in each turn, as their order counts: [{z: 30}, {x: 15}]",
    ),
    *(
        urdf(
            f"D33 a mesh at {name[:7]}",
            BODY,
            BODY + f'<visual><geometry><mesh filename="{name}"/></geometry></visual>',
            status=0,
        )
        for name in ("../../../etc/passwd", "http://127.0.0.1:1/m.stl", "package://nowhere/m.stl", "/gone.stl")
    ),
    robot("D33 a mesh in a robot file", "mass: 2", "mesh: /etc/passwd, mass: 2", "mesh: got an unknown key"),
    robot("D34 a misspelt key", "mass: 2", "masss: 2", "Did you mean 'mass'?"),
    robot("D36 many limbs", "limbs:\n", LIMBS, "at most 64 entries"),
    robot(
        "G13 capitals alone",
        "derived: {half",
        "derived: {Length: 1, half",
        "r.yaml:4:11 derived.Length: got 'Length'; expected a name that differs from length",
    ),
    robot("C41 a program as a value", "mass: 2", "mass: __import__('os').getpid()", "expected names, numbers"),
    robot("B03 anchors", "mass: 2", "mass: &a 2", "no anchors or aliases"),
    whole("E01 billion laughs", f"{DOCTYPE} [{ENTITIES}]><robot>&a8;</robot>", "r.urdf:2:1: got a document type"),
    whole("E02 quadratic", f'{DOCTYPE} [<!ENTITY a "{"x" * 7000}">]><robot>{"&a;" * 1000}</robot>', "a document type"),
    whole(
        "E03 another file", f'{DOCTYPE} [<!ENTITY a SYSTEM "file:///etc/passwd">]><robot>&a;</robot>', "a document type"
    ),
    whole("E04 a DTD elsewhere", f'{DOCTYPE} SYSTEM "http://example.org/robot.dtd"><robot/>', "a document type"),
    whole("E05 a harmless entity", f'{DOCTYPE} [<!ENTITY a "1">]><robot name="&a;"/>', "no DOCTYPE and no entities"),
    whole("E06 empty", "", "text that is not XML (no element found)"),
    urdf("E06 not closed", "</robot>", "", "r.urdf:11:1: got text that is not XML"),
    urdf("E07 an attribute twice", 'name="arm"', 'name="arm" name="arm"', "duplicate attribute"),
    whole("E08 another format", "<sdf/>", "got no model; expected one model with links and joints"),
    whole("E09 deep", "<robot>" + "<a>" * 100_000, "at most 32 levels of nesting"),
    urdf("E10 xacro", '<robot name="arm">', '<robot name="arm" xmlns:xacro="x"><xacro:arm/>', "Expand it first"),
    urdf("E11 no limit", LIMIT, "", "a revolute joint without <limit>"),
    urdf(
        "E12 a missing parent",
        '<parent link="upper"/>',
        '<parent link="other"/>',
        "got parent 'other'",
        "Did you mean 'lower'?",
    ),
    urdf(
        "E13 mimic of itself", LIMIT, LIMIT + '<mimic joint="shoulder"/>', "got a joint that mimics itself, by shoulder"
    ),
    urdf("E14 a comma", 'value="2"', 'value="2,5"', "Use a decimal point, not a comma."),
    urdf("E14 four numbers", 'xyz="0.2 0 0"', 'xyz="1 2 3 4"', "expected 3 finite numbers"),
    whole("E14 gzip", b"\x1f\x8b\x08\x00", "look like gzip"),
)
