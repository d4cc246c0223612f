"""Models of the sections of a robot file: keys and types; `pipeline.robot_files.reader` interprets them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError, PydanticKnownError

from pipeline.documents.validation import Entry, Flag, Integer, Line, Name, Number, Section, Text, Three, Two
from robots.formats.writing import AXES, FORMAT
from robots.joint_kinds import JOINT_KINDS, TREE_KINDS
from robots.types import JointKind

MAX_LINKS = 1000
"""Links, closures or driven joints of a limb."""

MAX_LIMBS = 64
MAX_VALUES = 10_000
"""Parameters, or derived values."""

Label = Annotated[str, Field(strict=True, min_length=1, max_length=80)]
Value = Any
"""A number, or the text of an expression: read by `pipeline.robot_files.values`."""

Parts = Annotated[tuple[Entry, ...], Field(max_length=MAX_LINKS)]
ByName = Annotated[dict[Label, Entry], Field(max_length=MAX_LINKS)]


def _no_quaternion(value: object) -> object:
    if isinstance(value, list | tuple) and len(value) == 4 and not any(isinstance(row, list | tuple) for row in value):
        raise PydanticCustomError("quaternion", "the rows of a matrix")
    return value


MatrixRows = Annotated[
    tuple[Three[Value], ...],
    BeforeValidator(_no_quaternion, json_schema_input_type=tuple[Three[Value], ...]),
    Field(min_length=3, max_length=3),
]
AxisName = Literal["x", "y", "z", "-x", "-y", "-z"]


def _axis(value: object, direction: ValidatorFunctionWrapHandler) -> Any:
    """Return the name of a coordinate axis, or the three values of a direction: one message where it is neither."""
    if isinstance(value, list | tuple):
        return direction(value)
    if isinstance(value, str) and value in AXES:
        return value
    raise PydanticKnownError("literal_error", {"expected": "'x', 'y', 'z', '-x', '-y', '-z' or a list of three values"})


Axis = Annotated[Three[Value], WrapValidator(_axis, json_schema_input_type=AxisName | Three[Value])]
if TYPE_CHECKING:
    TreeKind = JointKind
    CutKind = JointKind
else:  # the names of a table, which no type checker can read
    TreeKind, CutKind = Literal[tuple(TREE_KINDS)], Literal[tuple(JOINT_KINDS)]
PITCH = "way per angle [m/rad], which joints that slide as they turn need: the lead of a full turn over 2 pi"
Coordinate = Literal["x", "y", "z", "yaw", "pitch", "roll"]


def _bare_mapping(value: object) -> object:
    if isinstance(value, str | int | float):
        raise PydanticCustomError("turns_without_axis", "a list of turns")
    return [value] if isinstance(value, dict) else value


def _one_axis(value: object) -> object:
    if isinstance(value, dict) and len(value) > 1:
        raise PydanticCustomError("several_turns", "a list of turns")
    return value


Turn = Annotated[
    dict[Literal["x", "y", "z"], Value],
    BeforeValidator(_one_axis, json_schema_input_type=dict[Literal["x", "y", "z"], Value]),
    Field(min_length=1, max_length=1),
]
Turns = Annotated[
    tuple[Turn, ...],
    BeforeValidator(_bare_mapping, json_schema_input_type=Turn | tuple[Turn, ...]),
    Field(min_length=1, max_length=9),
]


class FrameSection(Section):
    """A frame in another one: its origin, and at most one of three ways to say how it is turned."""

    alone: ClassVar[str] = "position"
    position: Three[Value] = (0.0, 0.0, 0.0)
    """origin [m]"""
    turn: Turns | None = None
    """turns one after the other about axes of the turned frame, in degrees, such as `[{x: 90}, {z: a}]`"""
    along: Three[Value] | None = None
    """direction in which z points; x stays level"""
    rotation: MatrixRows | None = None
    """rows of the matrix that turns components outwards"""


class InertiaSection(Section):
    """Mass and inertia of a body in the frame of its link."""

    alone: ClassVar[str] = "mass"
    mass: Value
    """mass [kg]; 0 for a body that only joins two joints"""
    centre: Three[Value] = (0.0, 0.0, 0.0)
    """centre of mass [m]"""
    moments: Three[Value] = (0.0, 0.0, 0.0)
    """xx, yy, zz of the tensor about that centre [kg m^2]"""
    products: Three[Value] = (0.0, 0.0, 0.0)
    """xy, xz, yz of that tensor, so minus the sums of m x y [kg m^2]"""


class LinkSection(Section):
    """A body and the joint that moves it relative to its parent; the frame of the link sits on the joint."""

    joint: Label
    """name of the joint"""
    body: Label
    """name of the body"""
    parent: Label
    """a body further up in the list, or `base`"""
    kind: TreeKind
    """kind of the joint"""
    pitch: Value | None = Field(default=None, description=PITCH)
    axis: Axis
    """axis of the joint in its own frame: a coordinate axis, or a direction as three values"""
    placement: FrameSection = Field(default_factory=FrameSection)
    """frame of the joint in the parent (base: in the mount frame)"""
    inertia: InertiaSection
    """inertia of the body"""
    armature: Value = 0.0
    """inertia of the drive as seen at the joint [kg m^2 or kg]"""


class ClosureSection(Section):
    """A joint that closes a loop, between `frame_a` on body `a` and `frame_b` on body `b`.

    Revolute about both z axes, universal about x of `frame_a` and y of `frame_b`, spherical at both origins, prismatic
    and cylindrical along both z axes, a screw about and along them; the angle of a screw is zero where both frames
    coincide.
    """

    joint: Label
    """name of the joint"""
    kind: CutKind
    """kind of the joint"""
    pitch: Value | None = Field(default=None, description=PITCH)
    a: Label
    """a body of the limb, or `base`"""
    frame_a: FrameSection = Field(default_factory=FrameSection)
    """frame on body `a`"""
    b: Label | None = None
    """another body, for loops; a tip joins the platform"""
    frame_b: FrameSection = Field(default_factory=FrameSection)
    """frame on body `b`, or for a tip in the mount frame at the platform"""


class CouplingSection(Section):
    """A joint whose variable is a ratio times that of another joint, or a sum of those of several."""

    joint: Label
    """name of the joint that follows"""
    of: Label | Annotated[dict[Label, Value], Field(min_length=1, max_length=MAX_LINKS)]
    """name of the joint that it follows; or several with a ratio each, whose sum it is"""
    ratio: Value | None = None
    """its variable per unit of the one joint that it follows"""


class SpinSection(Section):
    """A rotor, shaft or wheel that spins with a drive."""

    inertia: Value
    """inertia about its axis [kg m^2], of a linear motor its mass [kg]"""
    carrier: Label
    """the body that carries it, or `base`; that body's inertia has its mass"""
    axis: Three[Value]
    """direction of its axis in that body, of length 1"""
    share: Value = 1.0
    """its speed per speed of the drive"""
    coupling: Value = 0.0
    """1 for all effects of the spin, gyroscopic ones too; 0, the default, for its own energy alone"""


class ControllerGains(Section):
    """A proportional and integral controller in continuous time, in the drive of a motor."""

    proportional: Value = 0.0
    """output per error"""
    integral: Value = 0.0
    """output per integral of the error"""


class MotorSection(Section):
    """An electric motor."""

    torque_constant: Value
    """torque or force per current [N m/A or N/A]"""
    resistance: Value = 0.0
    """resistance of the winding [ohm]"""
    inductance: Value | None = None
    """inductance of the winding [H], in simulations; default: currents follow at once"""
    bandwidth: Value = 0.0
    """rate at which the current loop of its drive closes an error [rad/s]; 0: no such loop"""
    current_controller: ControllerGains | None = None
    """another current loop, with gains: the voltage [V/A, V/(A s)] for an error of the current"""
    speed_controller: ControllerGains | None = None
    """for drives asked for speeds: the current [A s/rad or A s/m, A/rad or A/m] for an error of the speed"""


class DriveSection(Section):
    """An actuator that is no joint: its coordinate is a sum of ratios times joints, plus `position`."""

    name: Label
    """name of the actuator"""
    kind: Literal["revolute", "prismatic"] = "revolute"
    """whether it turns or slides"""
    ratios: ByName[Value] = Field(default_factory=dict)
    """its motion per unit of joints by name"""
    position: Value | None = None
    """part that is not proportional: an expression of joints by name, and of parameters"""
    spins: Parts[SpinSection] = ()
    """rotors and shafts that turn with it"""
    motor: MotorSection | None = None
    """its motor, for currents and powers"""


class LimbSection(Section):
    """A limb: a tree of links, the joints that close its loops, and its joints at the platform."""

    links: Annotated[tuple[LinkSection, ...], Field(min_length=1, max_length=MAX_LINKS)]
    """bodies with their joints, parents first"""
    loops: Parts[ClosureSection] = ()
    """joints that close loops within the limb"""
    tips: Parts[ClosureSection] = ()
    """joints at the platform"""
    actuated: Parts[Label]
    """names of driven joints"""
    drives: Parts[DriveSection] = ()
    """actuators that move joints by gears, in place of `actuated`, which names these joints"""
    independent: Parts[Label] = ()
    """joints in which the motion of a chain is given; default: `actuated`"""
    every_row: Flag = False
    """solve for all rows of the tips, for limbs that no choice of rows serves"""
    reference: ByName[Number] | None = None
    """rough positions of joints [rad or m], from which loops are closed; joints count from there"""
    couplings: Parts[CouplingSection] = ()
    """joints that follow others: gears, belts, fingers of a gripper"""
    coordinates: Parts[Label] = ()
    """joints of a chain that stand for the pose of a platform and have no hardware"""


class InstanceSection(Section):
    """A limb of the robot: a copy of one of `limbs`, and where it is mounted."""

    limb: Label
    """name of one of `limbs`"""
    base: FrameSection = Field(default_factory=FrameSection)
    """mount frame in the base"""
    platform: FrameSection = Field(default_factory=FrameSection)
    """mount frame in the platform"""
    body: Label = "platform"
    """body of the platform that its tips join, and that has that mount frame"""
    carrier: Label = "base"
    """body of the file's `base` that it stands on, and that has its mount frame there"""
    values: ByName[Value] = Field(default_factory=dict)
    """values that parameters have in this limb alone"""
    reference: ByName[Number] | None = None
    """rough positions of its joints, in place of those of its limb"""
    mirror: Literal["x", "y", "z"] | None = None
    """axis of its mount frames along which all of the limb has the other sign"""


class BaseSection(Section):
    """Bodies on which limbs stand, where these move: a carriage, a turntable. Needs a platform with `coordinates`."""

    links: Annotated[tuple[LinkSection, ...], Field(min_length=1, max_length=MAX_LINKS)]
    """bodies with their joints, parents first, from `base`, the ground, on; their motion is given"""
    actuated: Parts[Label] = ()
    """joints of these bodies that are driven"""


class ArmAngleSection(Section):
    """The angle of an elbow about the line from shoulder to wrist, right-handed."""

    shoulder: Label
    """the joint at whose origin the shoulder is, such as `arm.2`"""
    elbow: Label
    """the same of the elbow"""
    wrist: Label
    """the same of the wrist"""
    reference: Three[Value] = (0.0, 0.0, 1.0)
    """direction in the axes of the ground from which the angle counts; default: z"""


class TaskSection(Section):
    """A condition on joints that holds at every pose: `coefficients` or `arm_angle`."""

    coefficients: ByName[Value] = Field(default_factory=dict)
    """numbers by joint: their sum, times positions [rad or m], has the value"""
    arm_angle: ArmAngleSection | None = None
    """the angle of an elbow has the value"""
    value: Value = None
    """the value [rad or m]; default: it is given in every trajectory, after the joints"""


class RedundancySection(Section):
    """Resolution of redundancy: the motion of joints that the coordinates of a platform leave free."""

    joints: Annotated[tuple[Label, ...], Field(min_length=1, max_length=MAX_LINKS)]
    """as many joints as are free, such as `limb1.3`; with no `posture` or `tasks` their motion is given"""
    tasks: ByName[TaskSection] = Field(default_factory=dict)
    """conditions that decide them; with fewer of them a `posture` does the rest"""
    posture: ByName[Value] = Field(default_factory=dict)
    """positions of joints [rad or m] from which they are as near as they can be"""
    weights: ByName[Value] = Field(default_factory=dict)
    """weights of their squared distances; default: 1"""


class PlatformSection(Section):
    """The moving platform."""

    inertia: InertiaSection
    """inertia in the platform's frame"""
    mobility: Annotated[tuple[Literal["wx", "wy", "wz", "vx", "vy", "vz"], ...], Field(min_length=1, max_length=6)] = ()
    """free components of its twist, angular ones first"""
    coordinates: Annotated[tuple[Coordinate, ...], Field(min_length=1, max_length=6)] = ()
    """in place of `mobility`, coordinates of its pose in which its motion is given; others follow"""
    home: FrameSection = Field(default_factory=FrameSection)
    """its reference pose in the base"""
    links: Parts[LinkSection] = ()
    """further bodies of a platform with `coordinates`, parents first, from `platform` on"""
    loops: Parts[ClosureSection] = ()
    """joints that close loops among these bodies"""
    independent: Parts[Label] = ()
    """joints of these bodies in which the motion is given, besides `coordinates`"""
    actuated: Parts[Label] = ()
    """joints of these bodies that are driven, such as those of a wrist"""
    within: Label = "base"
    """the body of the file's `base` from which `coordinates` and `home` count"""
    redundancy: RedundancySection | None = None
    """joints that `coordinates` leave free, and the rule that decides them"""


class RatingSection(Section):
    """Rated limits and friction of a joint. They change no result by themselves."""

    position: Two[Number] | None = None
    """least and greatest position [rad or m]"""
    velocity: Number | None = None
    """largest rate [rad/s or m/s]"""
    force: Number | None = None
    """largest torque or force [N m or N]"""
    viscous: Number | None = None
    """viscous friction [N m s/rad or N s/m]"""
    coulomb: Number | None = None
    """Coulomb friction [N m or N]"""


class ParameterSection(Section):
    """A parameter that users may set and sweep."""

    alone: ClassVar[str] = "default"
    default: Number
    """value where none is given"""
    unit: Text = "1"
    """SI unit, or deg"""
    lower: Number | None = None
    """least value that makes sense"""
    upper: Number | None = None
    """greatest value that makes sense"""
    text: Line = ""
    """description in words"""
    source: Line = ""
    """where the default comes from"""


class RobotFile(Section):
    """A whole robot file."""

    limbsweep: Integer = Field(description=f"version of the format: {FORMAT}")
    name: Name
    """name of the robot"""
    title: Line = ""
    """description in a line"""
    source: Line = ""
    """where it comes from"""
    parameters: Annotated[dict[Text, ParameterSection], Field(max_length=MAX_VALUES)] = Field(default_factory=dict)
    """parameters by name"""
    derived: Annotated[dict[Text, Value], Field(max_length=MAX_VALUES)] = Field(default_factory=dict)
    """values by name, each of parameters and of those above it"""
    limbs: Annotated[dict[Label, LimbSection], Field(min_length=1, max_length=MAX_LIMBS)]
    """limbs by name; a chain is one limb without tips"""
    instances: Annotated[dict[Label, InstanceSection], Field(min_length=1, max_length=MAX_LIMBS)] | None = None
    """limbs of the robot; a chain without them stands on the base"""
    base: BaseSection | None = None
    """bodies on which limbs stand, where these move"""
    platform: PlatformSection | None = None
    """the platform; a chain has none"""
    ratings: ByName[RatingSection] = Field(default_factory=dict)
    """ratings of joints by name; limits and friction of the first sweep"""
    massless: Parts[Label] = ()
    """bodies at the end of a chain that are meant to have no inertia"""


class LoopsFile(Section):
    """Data that a URDF file cannot hold: the joints that close loops, and the driven joints."""

    limbsweep: Integer = Field(description=f"version of the format: {FORMAT}")
    loops: Parts[ClosureSection] = ()
    """joints between two links of the URDF file, in frames of these links"""
    actuated: Annotated[tuple[Label, ...], Field(min_length=1, max_length=MAX_LINKS)] | None = None
    """names of driven joints; default: as many as are independent"""
    reference: ByName[Number] | None = None
    """rough positions of joints [rad or m], from which loops are closed; joints count from there"""
    independent: Parts[Label] = ()
    """joints in which the motion is given; default: `actuated`"""
