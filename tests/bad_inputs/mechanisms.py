"""Bad inputs about what robot files say of platforms whose coordinates follow, their bodies, and axes of any
direction."""

from __future__ import annotations

from pathlib import Path

from tests.bad_inputs.robots import robot
from tests.bad_inputs.rows import Row
from tests.pipeline.robot_files.arm import ARM
from tests.pipeline.robot_files.test_couplings import BELTS

TRIPOD = (Path(__file__).parents[2] / "examples" / "robots" / "3rps.yaml").read_text()
HINGE = "{joint: hinge, body: tool, parent: platform, kind: revolute, axis: z, inertia: {mass: 1}}"
REDUNDANT = (Path(__file__).parents[2] / "examples" / "robots" / "arm_platform.yaml").read_text()
POSTURE = REDUNDANT[REDUNDANT.index("posture: {arm") :].rstrip()
ANGLE = "arm_angle: {shoulder: arm.2, elbow: arm.4, wrist: arm.6}"
CARRIAGE = "{joint: rail, body: carriage, parent: base, kind: prismatic, axis: x, inertia: {mass: 9}}"
CARRIED = REDUNDANT.replace("instances:", f"base:\n  links: [{CARRIAGE}]\n  actuated: [rail]\ninstances:")
WRIST = TRIPOD + f"  links: [{HINGE}]\n  independent: [hinge]\n  actuated: [hinge]\n"
GIVEN, HOME, LEG = (
    "coordinates: [z, pitch, roll]",
    "home: {position: [0, 0, height]}",
    "{limb: leg, base: {position: [-",
)


def given(name: str, text: str, *said: str) -> Row:
    """Other coordinates of the platform."""
    return robot(f"J{name}", GIVEN, text, *said, text=TRIPOD)


def wrist(name: str, old: str, new: str, *said: str) -> Row:
    """A platform with a wrist that is good but for one text."""
    return robot(f"J{name}", old, new, *said, text=WRIST)


def free(name: str, old: str, new: str, *said: str) -> Row:
    """A redundant arm that carries a platform, good but for one text."""
    return robot(f"J{name}", old, new, *said, text=REDUNDANT)


def task(name: str, said: str, *expected: str) -> Row:
    """The same with tasks in place of the posture."""
    return robot(f"J{name}", POSTURE, f"tasks: {said}", *expected, text=REDUNDANT)


def carried(name: str, old: str, new: str, *said: str) -> Row:
    """The same on a carriage."""
    return robot(f"J{name}", old, new, *said, text=CARRIED)


def belt(name: str, old: str, new: str, *said: str) -> Row:
    """A platform on limbs with belts that is good but for one text."""
    return robot(f"J{name}", old, new, *said, text=BELTS)


def arm(name: str, old: str, new: str, *said: str) -> Row:
    """A chain that is good but for one text."""
    return robot(f"J{name}", old, new, *said, text=ARM)


ROWS = (
    given("01 another coordinate", "coordinates: [z, tilt, roll]", "got 'tilt'; expected one of 'x', 'y', 'z', 'yaw'"),
    given("02 a coordinate twice", "coordinates: [z, z, roll]", "coordinates[1]: got z again; expected every one once"),
    given("03 no coordinate", "coordinates: []", "platform.coordinates: got []; expected at least 1"),
    given("04 coordinates as a text", "coordinates: z", "platform.coordinates: got 'z'; expected a list"),
    given(
        "05 neither key", "", "got no key 'mobility'; expected 'mobility', which is required. Add it; or coordinates"
    ),
    given("06 both keys", f"{GIVEN}\n  mobility: [vz]", "expected mobility or coordinates. Remove one of them."),
    given("07 more than actuators", "coordinates: [x, z, pitch, roll]", "4 coordinates that are given and 3 actuators"),
    given("08 too few", "coordinates: [z, pitch]", "got coordinates that do not determine the platform along roll"),
    given("09 a coordinate that follows", "coordinates: [x, pitch, roll]", "do not determine the platform along z"),
    given("10 a misspelt key", "coordinate: [z, pitch, roll]", "got an unknown key", "Did you mean 'coordinates'?"),
    given("11 numbers", "coordinates: [1, 2, 3]", "platform.coordinates[0]: got 1; expected one of 'x', 'y', 'z'"),
    robot("J12 legs that lie level", HOME, "home: {position: [0, 0, 0]}", "platform.home: got ", text=TRIPOD),
    robot("J13 a height of inf", "default: 0.5,", "default: .inf,", "default: got .inf", text=TRIPOD),
    robot(
        "J14 nothing is driven", "actuated: [slide]", "actuated: []", "3 coordinates that are given and 0", text=TRIPOD
    ),
    robot("J15 an unknown driven joint", "actuated: [slide]", "actuated: [slid]", "Did you mean 'slide'?", text=TRIPOD),
    robot("J16 a tip that stays open", "a: rod}", "a: tube}", "got loops that stay open by", text=TRIPOD),
    robot("J17 rough positions of no joint", "{tilt: 0.2,", "{tlt: 0.2,", "Did you mean 'tilt'?", text=TRIPOD),
    robot(
        "J18 a body that is none",
        LEG,
        LEG.replace("{limb", "{body: plate, limb"),
        "got 'plate'; expected a body of the platform",
        text=TRIPOD,
    ),
    robot(
        "J19 two legs at one place",
        "instances:\n",
        f"instances:\n  leg0: {LEG}base_radius, 0, 0]}}, platform: {{position: [-platform_radius, 0, 0]}}}}\n",
        "the place of leg0; expected another place",
        text=TRIPOD,
    ),
    robot("J20 no instances", "instances:", "instanses:", "Did you mean 'instances'?", text=TRIPOD),
    robot(
        "J21 no mass",
        "inertia: {mass: 3, moments: [0.02, 0.02, 0.04]}",
        "inertia: {moments: [0, 0, 0]}",
        "mass",
        text=TRIPOD,
    ),
    robot(
        "J22 no body's moments",
        "moments: [0.02, 0.02, 0.04]",
        "moments: [0.02, 0.02, 4]",
        "platform.inertia: got principal moments",
        text=TRIPOD,
    ),
    robot(
        "J23 an unknown name",
        "[0, 0, height]",
        "[0, 0, hight]",
        "the unknown name 'hight'",
        "Did you mean 'height'?",
        text=TRIPOD,
    ),
    robot(
        "J24 a drive of nothing at a leg",
        "actuated: [slide]",
        "actuated: [slide]\n    drives: [{name: m, ratios: {slid: 2}}]",
        "ratios.slid: got 'slid'; expected a joint of a link of this limb. Did you mean 'slide'?",
        text=TRIPOD,
    ),
    robot(
        "J25 a coupling at a leg",
        "actuated: [slide]",
        "actuated: [slide]\n    couplings: [{joint: tilt, of: slide, ratio: 2}]",
        "got a coupling in a limb at a platform with coordinates; expected couplings beside mobility, or in chains",
        text=TRIPOD,
    ),
    belt(
        "50 a belt to nothing", "of: a,", "of: e,", "couplings[0].of: got 'e'; expected a joint of a link of this limb"
    ),
    belt("51 a belt of a motor", "actuated: [a]", "actuated: [b]", "got 'b'; expected no joint that follows another"),
    belt("52 a ratio in words", "ratio: belt", "ratio: belts", "couplings[0].ratio", "Did you mean 'belt'?"),
    belt(
        "53 a belt that leaves no freedom",
        "{joint: b, of: a, ratio: belt}",
        "{joint: b, of: a, ratio: belt}, {joint: c, of: a, ratio: 2}",
        "got loops of leg1 that stay open by 0.0917 from there, most of all joint d",
    ),
    belt(
        "54 rods too short",
        "{position: [-0.5, 0, 0]}",
        "{position: [-1.5, 0, 0]}",
        "most of all joint d",
        "lengths do not reach",
    ),
    wrist("26 a hinge on nothing", "parent: platform", "parent: plate", "got 'plate'; expected a body further up"),
    wrist("27 a wrist that is none", "independent: [hinge]", "independent: [hing]", "Did you mean 'hinge'?"),
    wrist("28 a motor of no joint", "  actuated: [hinge]", "  actuated: [motor]", "platform.actuated[0]: got 'motor'"),
    wrist("29 a wrist without motor", "  actuated: [hinge]\n", "", "4 coordinates that are given and 3 actuators"),
    wrist(
        "30 a wrist and mobility", GIVEN, "mobility: [vz]", "got links without coordinates; expected coordinates beside"
    ),
    wrist("31 a body called platform", "body: tool", "body: platform", "got 'platform'; expected a name for each body"),
    wrist(
        "32 a tool without mass",
        "inertia: {mass: 1}}]",
        "inertia: {mass: 0}}]",
        "platform.links[0].inertia.mass: got 0",
    ),
    arm(
        "33 an axis of zeros",
        "axis: z",
        "axis: [0, 0, 0]",
        "axis: got [0.0, 0.0, 0.0]; expected a direction other than zero",
    ),
    arm("34 an axis of two numbers", "axis: z", "axis: [0, 1]", "axis: got [0, 1]; expected at least 3 entries"),
    arm(
        "35 an axis in words",
        "axis: z",
        "axis: up",
        "got 'up'; expected one of 'x', 'y', 'z'",
        "or a list of three values",
    ),
    arm(
        "36 an axis that vanishes",
        "axis: z",
        "axis: [length - 0.5, 0, 0]",
        "a direction that is zero with the defaults",
    ),
    arm("37 an axis of nan", "axis: z", "axis: [.nan, 0, 1]", "got .nan; expected a finite number"),
    arm(
        "38 an axis of another name",
        "axis: z",
        "axis: [c, 0, 1]",
        "got the unknown name 'c'; expected names of parameters",
    ),
    arm(
        "39 a coordinate that is driven",
        "actuated: [shoulder, elbow]",
        "actuated: [shoulder, elbow]\n    coordinates: [elbow]",
        "got 'elbow'; expected no actuated joint",
    ),
    arm(
        "40 a coordinate that is none",
        "actuated: [shoulder, elbow]",
        "actuated: [shoulder]\n    coordinates: [elbw]",
        "Did you mean 'elbow'?",
    ),
    arm(
        "41 a coordinate twice",
        "actuated: [shoulder, elbow]",
        "actuated: [shoulder]\n    coordinates: [elbow, elbow]",
        "got elbow again",
    ),
    free("70 a joint that is none", "joints: [arm.3]", "joints: [arm.8]", "got 'arm.8'", "Did you mean 'arm.7'"),
    free("71 a joint without limb", "joints: [arm.3]", 'joints: ["3"]', "Joints of limbs are INSTANCE.JOINT."),
    free("72 a joint twice", "joints: [arm.3]", "joints: [arm.3, arm.3]", "joints[1]: got arm.3 again"),
    free("73 no joint", "joints: [arm.3]", "joints: []", "platform.redundancy.joints: got []; expected at least 1"),
    free("74 too many joints", "joints: [arm.3]", "joints: [arm.3, arm.4]", "8 coordinates that are given and 7 act"),
    free("75 a redundant arm without the section", "redundancy:", "# redundancy:", "got "),
    free(
        "76 a posture of no joint", "arm.1: 0,", "arm.9: 0,", "posture.arm.9: got 'arm.9'; expected a joint of a limb"
    ),
    free("77 a posture in words", "arm.1: 0,", "arm.1: swivl,", "Did you mean 'swivel'?"),
    free("78 a weight of zero", "arm.3: 2", "arm.3: 0", "weights.arm.3: got 0.0; expected a weight above 0"),
    free(
        "79 a weight of zero by a parameter", "arm.3: 2", "arm.3: swivel", "got swivel, which is 0; expected a weight"
    ),
    free("80 a weight of no posture", "arm.4: 0, ", "", "weights.arm.4: got 'arm.4'; expected a joint of the posture"),
    task("91 a task of nothing", "{t: {value: 1}}", "tasks.t: got neither coefficients nor arm_angle; expected one of"),
    task(
        "92 a task of two kinds",
        f"{{t: {{coefficients: {{arm.1: 1}}, {ANGLE}}}}}",
        "got both coefficients and arm_angle",
    ),
    task(
        "93 a task of no joint",
        "{t: {coefficients: {arm.8: 1}}}",
        "coefficients.arm.8: got 'arm.8'; expected a",
    ),
    task("94 a coefficient of zero", "{t: {coefficients: {arm.1: 0}}}", "got 0; expected a number other than zero"),
    task("95 a coefficient in words", "{t: {coefficients: {arm.1: swivl}}}", "Did you mean 'swivel'?"),
    task("96 a value in words", "{t: {coefficients: {arm.1: 1}, value: swivl}}", "Did you mean 'swivel'?"),
    task(
        "97 a task too many",
        f"{{t: {{coefficients: {{arm.1: 1}}}}, u: {{{ANGLE}}}}}",
        "got 2 tasks for 1 joint",
    ),
    task("98 a task called as a joint", f"{{arm.3: {{{ANGLE}}}}}", "got 'arm.3'; expected a name that no joint has"),
    task("99 an elbow at the shoulder", f"{{t: {{{ANGLE.replace('arm.4', 'arm.2')}}}}}", "elbow: got arm.2 again"),
    task(
        "100 an angle from nowhere",
        f"{{t: {{{ANGLE.replace('}', ', reference: [0, 0, 0]}')}}}}}",
        "reference: got [0.0, 0.0, 0.0]; expected a direction other than zero",
    ),
    task("101 an elbow of no joint", f"{{t: {{{ANGLE.replace('arm.4', 'arm.9')}}}}}", "arm_angle.elbow: got 'arm.9'"),
    free(
        "102 a task and a posture",
        "    posture:",
        f"    tasks: {{t: {{{ANGLE}}}}}\n    posture:",
        "got a posture beside as many tasks as joints; expected one for the freedoms that tasks leave",
    ),
    free(
        "81 mobility beside redundancy",
        "coordinates: [x, y, z, yaw, pitch, roll]",
        "mobility: [wx, wy, wz, vx, vy, vz]",
        "got redundancy without coordinates; expected coordinates beside it",
    ),
    carried(
        "82 a carrier that is none",
        "{limb: arm}",
        "{limb: arm, carrier: cart}",
        "carrier: got 'cart'; expected base, or a body",
    ),
    carried(
        "87 a rail called as a joint of a limb", "joint: rail", "joint: arm.1", "links[0].joint: got 'arm.1'; expected"
    ),
    carried(
        "88 a rail called as a coordinate", "joint: rail", "joint: platform_x", "a name that no other joint of the"
    ),
    wrist(
        "89 a tool called as the platform", "body: tool", "body: plate", "a name that no other body of the robot has"
    ),
    carried("83 a motor of no carrier", "actuated: [rail]", "actuated: [rial]", "base.actuated[0]: got 'rial'"),
    carried("84 a slanted rail", "axis: x, inertia: {mass: 9}", "axis: [1, 1, 0], inertia: {mass: 9}", "Turn its plac"),
    carried("85 coordinates within nothing", "  coordinates:", "  within: cart\n  coordinates:", "within: got 'cart'"),
    robot(
        "J86 a carriage under a chain", "limbs:", f"base: {{links: [{CARRIAGE}]}}\nlimbs:", "got base without", text=ARM
    ),
)
