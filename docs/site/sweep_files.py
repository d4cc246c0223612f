"""Tables of the page of sweep files: keys, quantities, controllers, friction laws, kinds of trajectory, units.

The keys come from the models in `pipeline.sweep`, friction laws and motions from their rows in `robots`.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pipeline.documents.units import UNITS
from pipeline.documents.validation import Section, descriptions
from pipeline.robot_files.parameters import ParameterSection
from pipeline.sweep import friction, measurement, sections, shapes
from pipeline.sweep.actuators import sections as actuators
from pipeline.sweep.criteria import sections as criteria
from pipeline.sweep.loads import sections as loads
from pipeline.sweep.needs import FULL, MotionSource, availability
from pipeline.sweep.publication import reader as publication
from pipeline.sweep.question import sections as question
from pipeline.sweep.sweep_file import SweepFile
from pipeline.sweep.tolerances import sections as tolerances
from robots.controllers import CONTROLLERS, DRIVE, TIMES
from robots.derivatives import WITHOUT
from robots.friction.laws import LAWS
from robots.parameters import Parameter
from robots.quantities import QUANTITIES, Kind
from robots.trajectories.kinds import JOINT_MOTIONS, MOTIONS, TURNS

SECTIONS = (
    (SweepFile, "The file"),
    (sections.BranchSection, "`branch`"),
    (sections.AxesSection, "`design`, and what it shares with `friction`"),
    (sections.ColumnSection, "Values of a parameter, under `grid` and `list`"),
    (sections.SampleSection, "`sample`"),
    (sections.BoundsSection, "Bounds of a sampled parameter"),
    (friction.FrictionSection, "`friction`"),
    (friction.FrictionGroupSection, "A group of joints, under its name in `groups` of `friction`"),
    (sections.LimitSection, "`limits`"),
    (sections.JointSection, "Limits of joints, under their name in `joints` of `limits`"),
    (sections.ActuatorSection, "Limits of actuators, under their name in `actuators` of `limits`"),
    (actuators.SharingSection, "`sharing`"),
    (actuators.MotorsSection, "`motors`"),
    (tolerances.TolerancesSection, "`tolerances`"),
    (tolerances.ToleranceSection, "A parameter, under its name in `parameters` of `tolerances`"),
    (tolerances.WarmingSection, "`warming`"),
    (criteria.CriteriaSection, "`criteria`"),
    (criteria.StiffnessSection, "`stiffness` of `criteria`"),
    (criteria.LinkMaterialSection, "A link, under its name in `links` of `stiffness`"),
    (criteria.BearingSection, "A joint, under its name in `joints` of `stiffness`"),
    (criteria.AccuracySection, "`accuracy` of `criteria`"),
    (criteria.DeviationSection, "A joint or a link, under its name in `accuracy`"),
    (criteria.ClearancesSection, "`clearances` of `criteria`"),
    (criteria.JointClearanceSection, "A joint, under its name in `joints` of `clearances`"),
    (criteria.CapsulesSection, "`capsules` of `criteria`"),
    (criteria.CapsuleSection, "A capsule of `platform` or `base`"),
    (loads.LoadSection, "A load, under its name in `loads`"),
    (ParameterSection, "A variable, under its name in `variables`"),
    (shapes.ShapeSection, "Profile of links, under a name or a pattern in `shapes`"),
    (sections.TimeSection, "`time`"),
    (sections.SimulationSection, "`simulation`"),
    (sections.ControllerSection, "`controller` of `simulation`"),
    (sections.StopSection, "Stops of a joint, under its name in `stops` of `simulation`"),
    (sections.ForceSection, "A force profile, under its name in `forces` of `simulation`"),
    (question.StudySection, "`study`"),
    (measurement.SplitSection, "`split`"),
    (publication.PublicationSection, "`publication`"),
    (sections.SubsetSection, "A subset, under its name in `subsets`"),
    (sections.SelectionSection, "`design` and `friction` of a subset"),
    (sections.RobotSection, "A robot, under its name in `robots`"),
)


def keys() -> Iterator[str]:
    """Yield the tables of the keys of all sections."""
    for model, title in SECTIONS:
        yield from section(model, title)


def units() -> Iterator[str]:
    """Yield the units that a file may name."""
    yield ", ".join(f"`{name}`" for name in UNITS) + "."


def section(model: type[Section], title: str) -> Iterator[str]:
    """The table of the keys of one section."""
    yield from (f"### {title}", "", "| key | value | meaning |", "|---|---|---|")
    texts = descriptions(model)
    for name, info in model.model_fields.items():
        needed = " (required)" if info.is_required() else ""
        yield f"| `{info.alias or name}` | {kind(info.annotation, info)} | {texts[name]}{needed} |"
    yield ""


def variables(*kinds: Kind) -> Iterator[str]:
    """Yield the table of the quantities of some kinds."""
    yield from ("| name | meaning | dims | unit | frame | only of |", "|---|---|---|---|---|---|")
    for row in QUANTITIES.values():
        if row.kind in kinds:
            cells = (row.long_name, ", ".join(row.dims), row.units, row.frame.replace("none", ""), only(row.name))
            yield f"| `{row.name}` | {' | '.join(cells)} |"


def without_derivative() -> Iterator[str]:
    """Yield the table of the metrics that have no derivative."""
    yield from ("| metric | reason |", "|---|---|")
    for name, reason in WITHOUT.items():
        yield f"| `{name}` | {reason} |"


def only(name: str) -> str:
    """Return the one source of motion that has a quantity; an empty text where both have it."""
    if availability(FULL)[name]:
        return "given motions"
    return "simulations" if availability(MotionSource())[name] else ""


def controllers() -> Iterator[str]:
    """Yield the table of controllers, and the table of the parameters that all of them have."""
    yield from ("| kind | description | space | gains |", "|---|---|---|---|")
    for kind in CONTROLLERS.values():
        yield f"| `{kind.name}` | {kind.text} | {', '.join(kind.spaces)} | {names(kind.gains)} |"
    yield from ("", "All of them also have these parameters:", "", "| parameter | unit | meaning |", "|---|---|---|")
    for parameter in (*DRIVE, *TIMES):
        yield f"| `{parameter.name}` | {parameter.unit} | {parameter.text} |"


def laws() -> Iterator[str]:
    """Yield the table of friction laws."""
    yield from ("| law | description | parameters | options | at rest | state |", "|---|---|---|---|---|---|")
    for law in LAWS.values():
        rest, state = "sticks" if law.sticks else "", "yes" if law.state else ""
        yield f"| `{law.name}` | {law.text} | {names(law.parameters)} | {names(law.options)} | {rest} | {state} |"


def motions() -> Iterator[str]:
    """Yield the tables of the kinds of trajectory."""
    movers = {"of a platform": MOTIONS, "of a platform's `turn`": TURNS, "of the joints of a chain": JOINT_MOTIONS}
    for mover, table in movers.items():
        yield from (f"### Kinds {mover}", "", "| kind | description | parameters |", "|---|---|---|")
        for motion in table.values():
            file = ["`file`"] if motion.points_file else []
            yield f"| `{motion.name}` | {motion.text} | {', '.join(file) or names(motion.parameters)} |"
        yield ""


def names(parameters: Iterable[Parameter]) -> str:
    """Names of parameters with their units."""
    return ", ".join(f"`{p.name}`" + (f" [{p.unit}]" if p.unit != "1" else "") for p in parameters)


def kind(annotation: Any, info: FieldInfo | None = None) -> str:
    """Describe a value in words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return kind(arguments[0])
    if origin in (Union, types.UnionType):
        return kind(next(each for each in arguments if each is not type(None)))
    if origin is tuple:
        return f"list of {kind(arguments[0]).removesuffix('s')}s"
    if origin is dict:
        return (
            f"names to {kind(arguments[1]).removesuffix('s')}s"
            if get_origin(arguments[1]) is not dict
            else "names to mappings"
        )
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "section"
    words = {Any: "value", int: "integer", float: "number", str: "text", bool: "true or false"}
    if annotation in words:
        return words[annotation]
    return " or ".join(f"`{each}`" for each in arguments) if arguments else "mapping"
