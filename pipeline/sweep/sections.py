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

    values: Numbers | None = Field(default=None, description="numbers one by one")
    start: Number | None = Field(default=None, description="first number of a range")
    stop: Number | None = Field(default=None, description="last number of the range, included")
    num: Count | None = Field(default=None, description="how many numbers the range has")
    scale: Scale = Field(default="linear", description="`log`: neighbours of the range have equal ratios")
    step: Number | None = Field(default=None, description="refused: whether the end belongs to it is a matter of luck")
    unit: Text | None = Field(default=None, description="unit of the numbers, such as mm; default: SI")


ColumnOrList = Annotated[
    ColumnSection, BeforeValidator(list_under("values"), json_schema_input_type=ColumnSection | Numbers)
]


class BoundsSection(Section):
    """Range of a sampled parameter, both ends included."""

    low: Number = Field(description="least value")
    high: Number = Field(description="greatest value")
    scale: Scale | None = Field(default=None, description="`log`: spread evenly over its logarithm; default: linear")
    unit: Text | None = Field(default=None, description="unit of both ends; default: SI")


class SampleSection(Section):
    """A seeded random sample. Without a seed it could not be repeated, so the seed is asked for."""

    method: Literal["latin_hypercube", "sobol", "uniform", "log_uniform"] = Field(
        description="`log_uniform` is `uniform` with `scale: log`"
    )
    count: Count = Field(description="sets that are drawn; a power of two suits `sobol`")
    seed: Seed | None = Field(default=None, description="default: the `seed` of the file")
    parameters: Annotated[dict[Text, BoundsSection], Field(min_length=1)] = Field(
        description="bounds of each parameter"
    )


class AxesSection(Section):
    """One axis: a grid, a list, a file, a sample, or all combinations of these where several are given."""

    grid: Annotated[dict[Text, ColumnOrList], Field(min_length=1)] | None = Field(
        default=None, description="all combinations of the values; the last parameter changes fastest"
    )
    listed: Annotated[dict[Text, ColumnOrList], Field(min_length=1)] | None = Field(
        default=None, alias="list", description="values that go together, all lists and ranges of one length"
    )
    file: Annotated[tuple[Text, ...], Field(min_length=1, max_length=16), OneOrMore] | None = Field(
        default=None,
        description="tables beside it (CSV, NPY, NPZ, Parquet, MAT, HDF5, NetCDF), a set a row; several multiply",
    )
    columns: Some[Text] | None = Field(default=None, description="which columns of the file, or files; default: all")
    labels: Some[Text] | None = Field(
        default=None,
        description="columns of the files that are no parameters, such as the name of a motor, of designs alone",
    )
    sample: SampleSection | None = Field(default=None, description="a seeded random sample")
    derive: Annotated[dict[Text, Text], Field(max_length=MAX_RULES)] = Field(
        default_factory=dict, description="parameters that follow from others, such as `rod_length: 4 * upper_arm`"
    )
    where: Conditions = Field(
        default=(), description="conditions, such as `upper_arm < rod_length`; sets that break one are left out"
    )


class SelectionSection(Section):
    """A part of an axis: a range of its sets, every so many, or those that meet conditions."""

    start: Annotated[Integer, Field(ge=0, le=MANY)] = Field(default=0, description="first set, counted from 0")
    stop: Count | None = Field(default=None, description="the set before which it ends; default: the end")
    every: Count = Field(default=1, description="take every so many")
    where: Conditions = Field(default=(), description="conditions on the sets of the range")


class SubsetSection(Section):
    """A named part of a sweep: `limbsweep run --subset NAME`."""

    design: SelectionSection | None = Field(default=None, description="which designs; default: all")
    friction: SelectionSection | None = Field(default=None, description="which friction sets; default: all")
    trajectories: Some[Text] | None = Field(default=None, description="names of trajectories; default: all")
    every: Count = Field(default=1, description="take every so many of the times, of given motions")
    precision: Literal["double", "single"] | None = Field(
        default=None, description="precision of its samples; default: that of the sweep"
    )


class JointSection(Section):
    """Limits of some joints."""

    position: Two[AnyNumber] | None = Field(
        default=None, description="least and greatest position, zero at the reference pose; beyond it no sample is OK"
    )
    velocity: AboveZero | None = Field(default=None, description="largest size of the velocity")
    unit: Text | None = Field(default=None, description="unit of positions, per second that of velocity; default: SI")


class ActuatorSection(Section):
    """Capacity of some actuators: largest force, velocity, power and other limits."""

    force: AboveZero | None = Field(default=None, description="largest size of force or torque [N or N m]")
    velocity: AboveZero | None = Field(default=None, description="largest size of the velocity [m/s or rad/s]")
    power: AboveZero | None = Field(default=None, description="largest size of the power [W]")
    current: AboveZero | None = Field(default=None, description="largest size of the motor's current [A]")
    voltage: AboveZero | None = Field(default=None, description="largest voltage of the motor's amplifier [V]")
    rated_current: AboveZero | None = Field(default=None, description="current that it may draw all the time [A]")
    acceleration: AboveZero | None = Field(
        default=None, description="largest size of the acceleration [m/s^2 or rad/s^2], for `cycle_time`"
    )
    jerk: AboveZero | None = Field(default=None, description="of its rate [m/s^3 or rad/s^3], for `cycle_time`")


class LimitSection(Section):
    """Limits of joints and actuators, for samples that are not usable, and for margins."""

    joints: ByPattern[JointSection] = Field(
        default_factory=dict,
        description="limits under `actuated`, `passive`, `all`, or names and patterns of joints such as `'limb_1.*'`",
    )
    actuators: ByPattern[ActuatorSection] = Field(
        default_factory=dict, description="limits under `all`, or names and patterns of actuators"
    )


class RobotSection(Section):
    """Sections of one of several robots. They replace the sections of these names at the top."""

    parameters: dict[Text, Number] | None = Field(default=None, description="fixed parameters of this robot")
    design: AxesSection | None = Field(default=None, description="designs of this robot")
    limits: LimitSection | None = Field(default=None, description="limits of its joints and actuators")


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
    """The name of an output of which some joints or links are stored, those that the patterns `places` mean."""

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
        """Return the derivatives of an entry of a file; None where it is none."""
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

    stop: Annotated[Number, Field(ge=SHORTEST, le=LONGEST)] = Field(description="end of all trajectories [s], included")
    step: Annotated[Number, Field(ge=SHORTEST)] | None = Field(default=None, description="time between samples [s]")
    samples: Annotated[Integer, Field(ge=2, le=MANY)] | None = Field(
        default=None, description="number of samples, instead of `step`; both ends count"
    )


class ControllerSection(Section):
    """A controller that makes the robot follow the trajectories."""

    kind: Text = Field(description="name of a kind of controller, such as `pd`")
    space: Text = Field(
        default="actuator",
        description="controlled coordinates: `actuator`, `joint` of a chain, or `task`, the platform",
    )
    parameters: dict[Text, Number] = Field(
        default_factory=dict, description="gains, limits and times that are not swept, such as `kp`"
    )


class ForceSection(Section):
    """Forces of the actuators over time: constant, or the points of a file."""

    values: Some[Number] | Number | None = Field(
        default=None, description="constant: a number for all actuators, or a list with one for each"
    )
    file: Text | None = Field(default=None, description="a CSV beside the sweep: t [s] and a column for each actuator")
    between: Literal["linear", "steps"] = Field(default="linear", description="between points: a line, or the last one")
    of: Literal["force", "current", "voltage"] = Field(
        default="force", description="what the numbers are; currents of motors [A], voltages at them [V]"
    )


class StopSection(Section):
    """Stops of a joint, which all joints of the tree know (method `spanning_tree`)."""

    low: Number | None = Field(default=None, description="lowest position [rad or m], zero at the reference pose")
    high: Number | None = Field(default=None, description="highest position [rad or m]")
    restitution: Annotated[Number, Field(ge=0.0, le=1.0)] = Field(
        default=0.0, description="share of its speed with which the joint comes back"
    )
    latch: Flag = Field(default=False, description="whether the joint stays where it arrives for ever")


class SimulationSection(Section):
    """Motion from forces in place of forces from motion: `outputs` and `metrics` are those of a simulation then."""

    step: Annotated[Number, Field(ge=SHORTEST)] | None = Field(
        default=None, description="step of the integration [s]; default: that of `time`, of which it is a whole part"
    )
    tolerance: Annotated[Number, Field(ge=LEAST_TOLERANCE)] | None = Field(
        default=None,
        description="of the integration error [m or rad]: steps of a case are cut in halves until it is met",
    )
    saturation: Flag = Field(
        default=False, description="whether motors give no more than `limits` of force, current and voltage let them"
    )
    method: Literal["rk4", "euler", "semi_implicit", "rosenbrock", "spanning_tree"] | None = Field(
        default=None,
        description="of the integration; default: `rk4`, with bristles `rosenbrock`, with stops `spanning_tree`, in "
        "all joints of the tree, which goes on beyond singular points",
    )
    stops: Annotated[dict[Text, StopSection], Field(min_length=1)] | None = Field(
        default=None, description="stops of joints, by name of the joint or a pattern"
    )
    controller: ControllerSection | None = Field(default=None, description="what follows the trajectories")
    gains: AxesSection | None = Field(default=None, description="sets of the controller's parameters: an axis")
    state: AxesSection | None = Field(
        default=None, description="offsets of the start from the reference, such as `x` or `yaw_rate`: an axis"
    )
    forces: Annotated[dict[Name, ForceSection], Field(min_length=1)] | None = Field(
        default=None, description="force profiles, each under a name, in place of trajectories and controller"
    )


Acceleration = Annotated[Number, Field(ge=-LARGEST, le=LARGEST)]
Gravity = Three[Acceleration]


class BranchSection(Section):
    """Another assembly of the robot, by modes or rough positions; joints and actuators are zero there."""

    working: dict[Text, Literal["usual", "other"]] = Field(
        default_factory=dict,
        description="limbs that are `other`: at their other solution for the pose, such as an elbow to the other side",
    )
    assembly: Literal["usual", "other"] = Field(
        default="usual", description="`other`: another pose of the platform for the same positions of the actuators"
    )
    joints: dict[Text, dict[Text, Number]] = Field(
        default_factory=dict,
        description="rough positions of joints [rad or m] by limb and joint, as they count without it",
    )
    position: Numbers | None = Field(default=None, description="reference position of the platform [m]")
    rotation: tuple[Numbers, ...] | None = Field(default=None, description="its rotation there, rows of a matrix")


class CoreFile(Section):
    """Keys of a sweep file that all sections stand on; `pipeline.sweep.sweep_file` adds the sections."""

    limbsweep: Integer = Field(description=f"version of the format: {FORMAT}")
    title: Line = Field(default="", description="a line of your own")
    robot: Annotated[Text | dict[str, Any] | None, SkipValidation] = Field(
        default=None,
        description="name of a robot, or of a robot file beside the sweep, or its content; this or `robots`",
    )
    robots: Robots | None = Field(
        default=None, description="several robots, as a list or each with sections of its own: a store for each"
    )
    branch: BranchSection | None = Field(
        default=None, description="another working or assembly mode of the robot; default: that of its reference pose"
    )
    parameters: dict[Text, Number] = Field(default_factory=dict, description="parameters of the robot, not swept")
    design: AxesSection | None = Field(default=None, description="designs; default: one, of the fixed parameters")
    trajectories: Annotated[dict[Name, dict[str, Any]], Field(min_length=1)] = Field(
        description="motions of the platform, each under a name"
    )
    simulation: SimulationSection | None = Field(
        default=None, description="simulate: a controller, force profiles, or a release; then `trajectories` may lack"
    )
    time: TimeSection = Field(description="time grid of all trajectories that have none of their own")
    gravity: Gravity = Field(default=(0.0, 0.0, -9.81), description="vector of the world [m/s^2]")
    precision: Literal["double", "single"] = Field(
        default="double", description="of the computation; single takes half the time and has six digits"
    )
    outputs: tuple[OutputEntry, ...] = Field(
        default=(),
        description="time series to store; `joint_reaction: [elbow]` is that of some joints, links or freedoms alone; "
        "`derivative: peak_force` with `of: [upper_arm]` is that of a metric or series by parameters",
    )
    metrics: tuple[Text, ...] = Field(default=(), description="numbers for each trajectory to store")
    seed: Seed | None = Field(default=None, description="seed of all samples that have none of their own")
    subsets: dict[Name, SubsetSection] = Field(default_factory=dict, description="named parts of the sweep")
    subset: Text | None = Field(default=None, description="the part to run, as `--subset` would say; default: all")
