"""Sections of a recording description: keys and types; `description` reads them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from applications.identification.estimation.machines.choices import LARGEST, USUAL, FrictionColumns, Preparation
from pipeline.documents.document import KeyPath
from pipeline.documents.report import Report
from pipeline.documents.validation import Count, Integer, Number, Positive, Section, Text, Three, Two

DEFAULTS = Preparation()
Column = Annotated[int, Field(strict=True, ge=1)] | Text
Named = TypeVar("Named", tuple[Column, ...], dict[str, Column])


def _distinct(columns: Named) -> Named:
    """Refuse a column that stands for two sensors."""
    named: list[Column] = list(columns.values()) if isinstance(columns, dict) else list(columns)
    if len({*named}) < len(named):
        raise PydanticCustomError("repeated_column", "a column of its own for each")
    return columns


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)) else value


Distinct = AfterValidator(_distinct)
Columns = Annotated[
    tuple[Column, ...],
    Field(min_length=1, max_length=200),
    Distinct,
    BeforeValidator(_as_list, json_schema_input_type=Column | tuple[Column, ...]),
]
Numbers = Annotated[tuple[Number, ...], Field(min_length=1, max_length=200)]
NotNegative = Annotated[Number, Field(ge=0)]
Role = Literal["train", "validation", "test"]
Side = Literal["motors", "actuators"]


class FilesSection(Section):
    """Files of one recording, with columns side by side or one after another, and its purpose."""

    files: Annotated[tuple[Text, ...], Field(min_length=1, max_length=20)]
    role: Role = "train"
    name: Text | None = None
    consecutive: bool = False


class PayloadSection(Section):
    """Payload of a body: known mass [kg], centre [m] and moments of inertia about it; or unknown, with a name.

    Of an unknown payload the mass may be known. moments: xx, yy, zz, or these and xy, xz, yz [kg m^2], axes of the
    body's frame.
    """

    body: Text
    unknown: Text | None = None
    mass: Positive | None = None
    centre: Three[Number] | None = None
    moments: Annotated[tuple[Number, ...], Field(min_length=3, max_length=6)] | None = None


class SamplingSection(Section):
    """Source of the sample times: a column, or a rate [samples a second]."""

    column: Column | None = None
    file: Count | None = None
    unit: Text = "s"
    rate: Positive | None = None


class SignalSection(Section):
    """Columns of a signal: a name or number for each actuator, and how they become SI units."""

    columns: Columns
    file: Count | None = None
    unit: Text | None = None
    sign: Numbers | None = None
    gain: Numbers | None = None
    of: Side = "actuators"


class PreparationSection(Section):
    """Preparation of signals, see `applications.identification.estimation.machines.preparation.Preparation`."""

    cutoff: Positive | None = None
    order: Annotated[Integer, Field(ge=1, le=12)] | None = None
    outliers: NotNegative = DEFAULTS.outliers
    delay: Number | Literal["estimate"] | None = None
    start: NotNegative = 0.0
    stop: Positive | None = None
    rate: NotNegative = 0.0
    gap: NotNegative = 0.0
    rest: NotNegative = DEFAULTS.rest


class RecordingSection(FilesSection):
    """One recording of a machine, with the payload that it carries and keys of a preparation of its own."""

    payload: PayloadSection | None = None
    preparation: PreparationSection | None = None


class OwnColumnSection(Section):
    """A column of the user's own: the actuator that it acts on, its factor as an expression, its unit."""

    actuator: Text
    expression: Text
    unit: Text = "N m"


class ModelSection(Section):
    """Parts of the machine beside its bodies, see `MachineModel` of the estimation."""

    friction: FrictionColumns = USUAL
    offset: bool = True
    shared: bool = True
    stribeck_velocity: Number | Numbers | Literal["estimate"] | None = None
    joints: dict[Text, object] | tuple[dict[Text, object], ...] | None = None
    columns: dict[Text, OwnColumnSection] = Field(default_factory=dict)


class PositionControllerSection(Section):
    """A position controller, see `applications.identification.estimation.machines.closed_loop.PositionController`."""

    position_gain: Numbers
    velocity_gain: Numbers
    reference_rate: bool = True


class BoxSection(Section):
    """A box that holds a body: lower and upper corner in the body's frame [m]."""

    lower: Three[Number]
    upper: Three[Number]


class BodiesSection(Section):
    """Knowledge of bodies, see `applications.identification.estimation.machines.choices.BodyPrior`."""

    weight: Positive | None = None
    mass: Positive | None = None
    boxes: dict[Text, BoxSection] = Field(default_factory=dict)


class EstimateSection(Section):
    """The estimator, that of its deviations, whether parameters that the data do not tell are left out, and bodies."""

    method: Text = "weighted"
    deviations: Text = LARGEST
    eliminate: bool = False
    gains: bool = False
    bodies: BodiesSection = BodiesSection()


class DescriptionFile(Section):
    """A recording description."""

    limbsweep: Integer
    title: Text = ""
    robot: Text | None = None
    parameters: dict[Text, Number] = Field(default_factory=dict)
    gravity: Three[Number] = (0.0, 0.0, -9.81)
    recordings: Annotated[tuple[RecordingSection, ...], Field(max_length=1000)] = ()
    time: SamplingSection = SamplingSection()
    position: SignalSection
    velocity: SignalSection | None = None
    force: SignalSection
    reference: SignalSection | None = None
    controller: PositionControllerSection | None = None
    gear: Annotated[tuple[Number | Numbers, ...], Field(min_length=1, max_length=200)] | None = None
    zero: Numbers | None = None
    limits: dict[Text, Two[Number]] = Field(default_factory=dict)
    preparation: PreparationSection = PreparationSection()
    model: ModelSection = ModelSection()
    estimate: EstimateSection = EstimateSection()
    accept: tuple[Text, ...] = ()


def existing_file(report: Report, folders: Sequence[Path], name: str, key: KeyPath) -> Path:
    """Return the path of a file beside a description or in the folder of the user; report a missing file."""
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    report(key, name, f"a file in {' and '.join(map(str, folders))}", "Name the folder with --folder.")
    return folders[0] / name
