"""Keys and types of the core of a sweep file, and of axes; other sections have theirs where they are read."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainValidator, SkipValidation
from pydantic_core import PydanticCustomError

from pipeline.documents.validation import (
    MANY,
    AboveZero,
    AnyNumber,
    ByPattern,
    Count,
    Flag,
    Integer,
    Line,
    Name,
    Number,
    OneOrMore,
    Section,
    Seed,
    Some,
    Text,
    Three,
    Two,
    list_under,
)
from pipeline.sweep.content import FORMAT
from pipeline.sweep.gravity import LARGEST

GroupName = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z][A-Za-z0-9]{0,39}$")]
LONGEST, SHORTEST = 1e9, 1e-9
"""Seconds of a sweep, and between two of its samples: powers of times appear in motions."""

LEAST_TOLERANCE = 1e-14
"""Error of position [m or rad] below which there is rounding alone."""

Numbers = Some[Number]
Scale = Literal["linear", "log"]
MAX_RULES = 64
"""Conditions of an axis, or parameters that are derived on it."""


Conditions = Annotated[tuple[Text, ...], Field(max_length=MAX_RULES), OneOrMore]


class ColumnSection(Section):
    """Values of one parameter: a list, or these keys."""

    values: Numbers | None = None
    """numbers one by one"""
    start: Number | None = None
    """first number of a range"""
    stop: Number | None = None
    """last number of the range, included"""
    num: Count | None = None
    """how many numbers the range has"""
    scale: Scale = "linear"
    """`log`: neighbours of the range have equal ratios"""
    step: Number | None = None
    """refused: whether the end belongs to it is a matter of luck"""
    unit: Text | None = None
    """unit of the numbers, such as mm; default: SI"""


ColumnOrList = Annotated[
    ColumnSection, BeforeValidator(list_under("values"), json_schema_input_type=ColumnSection | Numbers)
]


class BoundsSection(Section):
    """Range of a sampled parameter, both ends included."""

    low: Number
    """least value"""
    high: Number
    """greatest value"""
    scale: Scale | None = None
    """`log`: spread evenly over its logarithm; default: linear"""
    unit: Text | None = None
    """unit of both ends; default: SI"""


class SampleSection(Section):
    """A seeded random sample. Without a seed it could not be repeated, so the seed is asked for."""

    method: Literal["latin_hypercube", "sobol", "uniform", "log_uniform"]
    """`log_uniform` is `uniform` with `scale: log`"""
    count: Count
    """sets that are drawn; a power of two suits `sobol`"""
    seed: Seed | None = None
    """default: the `seed` of the file"""
    parameters: Annotated[dict[Text, BoundsSection], Field(min_length=1)]
    """bounds of each parameter"""


class AxesSection(Section):
    """One axis: a grid, a list, a file, a sample, or all combinations of these where several are given."""

    grid: Annotated[dict[Text, ColumnOrList], Field(min_length=1)] | None = None
    """all combinations of the values; the last parameter changes fastest"""
    listed: Annotated[dict[Text, ColumnOrList], Field(min_length=1)] | None = Field(default=None, alias="list")
    """values that go together, all lists and ranges of one length"""
    file: Annotated[tuple[Text, ...], Field(min_length=1, max_length=16), OneOrMore] | None = None
    """tables beside it (CSV, NPY, NPZ, Parquet, MAT, HDF5, NetCDF), a set a row; several multiply"""
    columns: Some[Text] | None = None
    """which columns of the file, or files; default: all"""
    labels: Some[Text] | None = None
    """columns of the files that are no parameters, such as the name of a motor, of designs alone"""
    sample: SampleSection | None = None
    """a seeded random sample"""
    derive: Annotated[dict[Text, Text], Field(max_length=MAX_RULES)] = Field(default_factory=dict)
    """parameters that follow from others, such as `rod_length: 4 * upper_arm`"""
    where: Conditions = ()
    """conditions, such as `upper_arm < rod_length`; sets that break one are left out"""


class SelectionSection(Section):
    """A part of an axis: a range of its sets, every n-th set, or the sets that meet conditions."""

    start: Annotated[Integer, Field(ge=0, le=MANY)] = 0
    """first set, counted from 0"""
    stop: Count | None = None
    """the set before which it ends; default: the end"""
    every: Count = 1
    """stride: every n-th set is taken"""
    where: Conditions = ()
    """conditions on the sets of the range"""


class SubsetSection(Section):
    """A named part of a sweep: `limbsweep run --subset NAME`."""

    design: SelectionSection | None = None
    """which designs; default: all"""
    friction: SelectionSection | None = None
    """which friction sets; default: all"""
    trajectories: Some[Text] | None = None
    """names of trajectories; default: all"""
    every: Count = 1
    """stride of the times of given motions: every n-th is taken"""
    precision: Literal["double", "single"] | None = None
    """precision of its samples; default: that of the sweep"""


class JointSection(Section):
    """Limits of some joints."""

    position: Two[AnyNumber] | None = None
    """least and greatest position, zero at the reference pose; beyond it no sample is OK"""
    velocity: AboveZero | None = None
    """largest size of the velocity"""
    unit: Text | None = None
    """unit of positions, per second that of velocity; default: SI"""


class ActuatorSection(Section):
    """Capacity of some actuators: largest force, velocity, power and other limits."""

    force: AboveZero | None = None
    """largest size of force or torque [N or N m]"""
    velocity: AboveZero | None = None
    """largest size of the velocity [m/s or rad/s]"""
    power: AboveZero | None = None
    """largest size of the power [W]"""
    current: AboveZero | None = None
    """largest size of the motor's current [A]"""
    voltage: AboveZero | None = None
    """largest voltage of the motor's amplifier [V]"""
    rated_current: AboveZero | None = None
    """current that it may draw all the time [A]"""
    acceleration: AboveZero | None = None
    """largest size of the acceleration [m/s^2 or rad/s^2], for `cycle_time`"""
    jerk: AboveZero | None = None
    """of its rate [m/s^3 or rad/s^3], for `cycle_time`"""


class LimitSection(Section):
    """Limits of joints and actuators, for samples that are not usable, and for margins."""

    joints: ByPattern[JointSection] = Field(default_factory=dict)
    """limits under `actuated`, `passive`, `all`, or names and patterns of joints such as `'limb_1.*'`"""
    actuators: ByPattern[ActuatorSection] = Field(default_factory=dict)
    """limits under `all`, or names and patterns of actuators"""


class RobotSection(Section):
    """Sections of one of several robots. They replace the sections of these names at the top."""

    parameters: dict[Text, Number] | None = None
    """fixed parameters of this robot"""
    design: AxesSection | None = None
    """designs of this robot"""
    limits: LimitSection | None = None
    """limits of its joints and actuators"""


def _names_of_robots(value: object) -> object:
    if isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value):
        return {name: {} for name in value}
    return {name: section or {} for name, section in value.items()} if isinstance(value, dict) else value


Robots = Annotated[
    dict[Text, RobotSection],
    BeforeValidator(_names_of_robots, json_schema_input_type=tuple[Text, ...] | dict[Text, RobotSection | None]),
    Field(min_length=1, max_length=64),
]


class SelectedOutput(str):
    """The name of an output of which only the joints or links that match the patterns `places` are stored."""

    __slots__ = ("places",)
    places: tuple[str, ...]

    @classmethod
    def of(cls, name: str, places: tuple[str, ...]) -> SelectedOutput:
        """Return the output of this name, selected by patterns."""
        result = cls(name)
        result.places = places
        return result


class DerivativeOutput(str):
    """Derivatives of `quantities` by `parameters`, with the values of both sides of each point or without."""

    __slots__ = ("parameters", "quantities", "sides")
    quantities: tuple[str, ...]
    parameters: tuple[str, ...]
    sides: bool

    @classmethod
    def of(cls, entry: dict[str, object]) -> DerivativeOutput | None:
        """Return the derivatives of an entry of a file; None for another entry."""
        quantities, parameters = _texts(entry.get("derivative")), _texts(entry.get("of"))
        sides = entry.get("sides", False)
        if not quantities or not parameters or not isinstance(sides, bool) or {*entry} - {"derivative", "of", "sides"}:
            return None
        result = cls("derivative")
        result.quantities, result.parameters, result.sides = quantities, parameters, sides
        return result


def _texts(value: object) -> tuple[str, ...]:
    """Return a text or a list of texts as texts; none where it is something else."""
    entries = value if isinstance(value, list) else [value]
    texts = tuple(text for text in entries if isinstance(text, str) and text)
    return texts if len(texts) == len(entries) else ()


def _output_entry(value: object) -> str:
    if isinstance(value, str) and value:
        return value
    if isinstance(value, dict) and "derivative" in value:
        if (derivative := DerivativeOutput.of(value)) is not None:
            return derivative
        raise PydanticCustomError("derivative_entry", "a derivative of metrics or series by parameters")
    if isinstance(value, dict) and len(value) == 1:
        ((name, places),) = value.items()
        if texts := _texts(places):
            return SelectedOutput.of(str(name), texts)
    raise PydanticCustomError("output_entry", "a name, or a name with joints or links")


OutputEntry = Annotated[
    str, PlainValidator(_output_entry, json_schema_input_type=str | dict[str, str | list[str] | bool])
]
"""The name of an output, a mapping of one key, the name, to joints or links, or derivatives."""


class TimeSection(Section):
    """The time grid of all trajectories: from zero to `stop` by `step`, or in `samples` points."""

    stop: Annotated[Number, Field(ge=SHORTEST, le=LONGEST)]
    """end of all trajectories [s], included"""
    step: Annotated[Number, Field(ge=SHORTEST)] | None = None
    """time between samples [s]"""
    samples: Annotated[Integer, Field(ge=2, le=MANY)] | None = None
    """number of samples, instead of `step`; both ends count"""


class ControllerSection(Section):
    """A controller that makes the robot follow the trajectories."""

    kind: Text
    """name of a kind of controller, such as `pd`"""
    space: Text = "actuator"
    """controlled coordinates: `actuator`, `joint` of a chain, or `task`, the platform"""
    parameters: dict[Text, Number] = Field(default_factory=dict)
    """gains, limits and times that are not swept, such as `kp`"""


class ForceSection(Section):
    """Forces of the actuators over time: constant, or the points of a file."""

    values: Some[Number] | Number | None = None
    """constant: a number for all actuators, or a list with one for each"""
    file: Text | None = None
    """a CSV beside the sweep: t [s] and a column for each actuator"""
    between: Literal["linear", "steps"] = "linear"
    """between points: a line, or the last one"""
    of: Literal["force", "current", "voltage", "speed"] = "force"
    """quantity of the numbers: forces, currents of motors [A], voltages at them [V], speeds that their drives keep"""


class StopSection(Section):
    """Stops of a joint, which all joints of the tree know (method `spanning_tree`)."""

    low: Number | None = None
    """lowest position [rad or m], zero at the reference pose"""
    high: Number | None = None
    """highest position [rad or m]"""
    restitution: Annotated[Number, Field(ge=0.0, le=1.0)] = 0.0
    """share of its speed with which the joint comes back"""
    latch: Flag = False
    """whether the joint stays where it arrives for ever"""


class SimulationSection(Section):
    """Motion from forces in place of forces from motion: `outputs` and `metrics` are those of a simulation then."""

    step: Annotated[Number, Field(ge=SHORTEST)] | None = None
    """step of the integration [s]; default: that of `time`, of which it is a whole part"""
    tolerance: Annotated[Number, Field(ge=LEAST_TOLERANCE)] | None = None
    """of the integration error [m or rad]: steps of a case are cut in halves until it is met"""
    saturation: Flag = False
    """whether motors give no more than `limits` of force, current and voltage let them"""
    method: Literal["rk4", "euler", "semi_implicit", "rosenbrock", "spanning_tree"] | None = None
    """of the integration; default: `rk4`, with bristles `rosenbrock`, with stops `spanning_tree`, in all joints of the
    tree, which goes on beyond singular points"""
    stops: Annotated[dict[Text, StopSection], Field(min_length=1)] | None = None
    """stops of joints, by name of the joint or a pattern"""
    controller: ControllerSection | None = None
    """controller that follows the trajectories"""
    gains: AxesSection | None = None
    """sets of the controller's parameters: an axis"""
    state: AxesSection | None = None
    """offsets of the start from the reference, such as `x` or `yaw_rate`: an axis"""
    forces: Annotated[dict[Name, ForceSection], Field(min_length=1)] | None = None
    """force profiles, each under a name, in place of trajectories and controller"""


Acceleration = Annotated[Number, Field(ge=-LARGEST, le=LARGEST)]
Gravity = Three[Acceleration]


class BranchSection(Section):
    """Another assembly of the robot, by modes or rough positions; joints and actuators are zero there."""

    working: dict[Text, Literal["usual", "other"]] = Field(default_factory=dict)
    """limbs that are `other`: at their other solution for the pose, such as an elbow to the other side"""
    assembly: Literal["usual", "other"] = "usual"
    """`other`: another pose of the platform for the same positions of the actuators"""
    joints: dict[Text, dict[Text, Number]] = Field(default_factory=dict)
    """rough positions of joints [rad or m] by limb and joint, as they count without it"""
    position: Numbers | None = None
    """reference position of the platform [m]"""
    rotation: tuple[Numbers, ...] | None = None
    """its rotation there, rows of a matrix"""


class CoreFile(Section):
    """Keys of a sweep file that all sections stand on; `pipeline.sweep.sweep_file` adds the sections."""

    limbsweep: Integer = Field(description=f"version of the format: {FORMAT}")
    title: Line = ""
    """a line of your own"""
    robot: Annotated[Text | dict[str, Any] | None, SkipValidation] = None
    """name of a robot, or of a robot file beside the sweep, or its content; this or `robots`"""
    robots: Robots | None = None
    """several robots by names or files, as a list or each with sections of its own: a store for each"""
    branch: BranchSection | None = None
    """another working or assembly mode of the robot; default: that of its reference pose"""
    parameters: dict[Text, Number] = Field(default_factory=dict)
    """parameters of the robot, not swept"""
    design: AxesSection | None = None
    """designs; default: one, of the fixed parameters"""
    trajectories: Annotated[dict[Name, dict[str, Any]], Field(min_length=1)]
    """motions of the platform, each under a name"""
    simulation: SimulationSection | None = None
    """simulate: a controller, force profiles, or a release; then `trajectories` may lack"""
    time: TimeSection | None = None
    """time grid of all trajectories that have none of their own; may lack where each has one"""
    gravity: Gravity = (0.0, 0.0, -9.81)
    """vector of the world [m/s^2]"""
    precision: Literal["double", "single"] = "double"
    """of the computation; single takes half the time and has six digits"""
    outputs: tuple[OutputEntry, ...] = ()
    """time series to store; `joint_reaction: [elbow]` is that of some joints, links or freedoms alone; `derivative:
    peak_force` with `of: [upper_arm]` is that of a metric or series by parameters"""
    metrics: tuple[Text, ...] = ()
    """numbers for each trajectory to store"""
    seed: Seed | None = None
    """seed of all samples that have none of their own"""
    subsets: dict[Name, SubsetSection] = Field(default_factory=dict)
    """named parts of the sweep"""
    subset: Text | None = None
    """the part to run, as `--subset` would say; default: all"""
