"""Write docs/sweep-files.md: what may stand in a sweep file. Run by `make pages`; a test says when the page is stale.

The tables of keys come from the models in `pipeline.sweep`, those of friction laws and of motions from their rows in
`robots`, limits from where they are used.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pipeline.documents.files import UNITS
from pipeline.sweep import friction, measurement, sections
from pipeline.sweep.actuators import sections as actuators
from pipeline.sweep.axes import derived, kinds
from pipeline.sweep.criteria import sections as criteria
from pipeline.sweep.loads import sections as loads
from pipeline.sweep.needs import FULL, MotionSource, availability
from pipeline.sweep.question import sections as question
from pipeline.sweep.sweep_file import SweepFile
from pipeline.sweep.tolerances import sections as tolerances
from robots.controllers import CONTROLLERS, DRIVE, TIMES
from robots.expressions import expression, parser
from robots.friction.laws import LAWS
from robots.parameters import Parameter
from robots.quantities import QUANTITIES, Kind
from robots.trajectories.kinds import JOINT_MOTIONS, MOTIONS, TURNS

PAGE = Path(__file__).parent / "sweep-files.md"
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
    (sections.TimeSection, "`time`"),
    (sections.SimulationSection, "`simulation`"),
    (sections.ControllerSection, "`controller` of `simulation`"),
    (sections.ForceSection, "A force profile, under its name in `forces` of `simulation`"),
    (question.StudySection, "`study`"),
    (measurement.SplitSection, "`split`"),
    (sections.SubsetSection, "A subset, under its name in `subsets`"),
    (sections.SelectionSection, "`design` and `friction` of a subset"),
    (sections.RobotSection, "A robot, under its name in `robots`"),
)

HEAD = """\
# Sweep files

A sweep file is YAML: one mapping, without anchors, aliases or tags. Numbers are in SI units and radians unless a
`unit` stands beside them. `limbsweep new ROBOT` writes a first one with comments, `limbsweep check FILE` says what
is wrong with one, all of it at once, and what it would compute. Editors [complete and check
it](reference/commands.md#completion-in-editors) while you type.

## Axes

The sets of values of an axis, `design` or `friction`, are given by a `grid` (all combinations), a `list` (values
that go together, lists or ranges of one length), a `file` (a table, a set in each row) or a `sample` (drawn at random
from a seed). Where several are given, all combinations of their sets are taken: the grid is the slowest and the sample
the fastest.

```yaml
design:
  grid: {upper_arm: {start: 200, stop: 300, num: 11, unit: mm}}
  sample: {method: sobol, count: 64, seed: 1, parameters: {base_radius: {low: 0.1, high: 0.2}}}
  derive: {rod_length: 4 * upper_arm}
  where:
    - base_radius < upper_arm
    - 0.9 < upper_arm + rod_length < 1.4
```

**Files** are in the folder of the sweep or below: CSV with a header, `.npy` with a structured array, `.npz` with an
array for each name, MAT, NetCDF, HDF5 (`limbsweep[hdf5]`) or Parquet (`limbsweep[parquet]`), 384 MiB at most; every
cell is a finite number. Columns have the names of parameters, in any order, and a unit
in brackets where it is not SI: `upper_arm [mm]`. `columns` chooses some of them. Of several files, `file: [a.csv,
b.csv]`, all combinations of their rows are taken, the last one fastest. A store keeps the files, so that it can be read
again without them. Points of trajectories (`kind: waypoints`) may be in such files too, with columns `t, x, y, z` or
`t` and the joints of a chain; an array without names has them in this order.

**Samples** are the same for ever: they are made from the raw stream of one generator, not by functions that a
library may change. Each parameter of each axis has a stream of its own, spawned from the seed by the two names, so
equal seeds on two axes do not move together, and one more parameter leaves the others of a `uniform` or
`latin_hypercube` sample as they are. `scale: log` spreads numbers over their logarithm, in samples and ranges. A
sample has at most {drawn:,} numbers.

**Expressions** stand under `derive` and `where`. They know the parameters of the robot (of the friction law under
`friction`) by name, in SI units, swept or not; numbers; `+ - * / **`, comparisons, `and or not`, parentheses, and the
functions `abs min max sqrt`. Powers are whole, up to {power}. An undefined number, such as the root of a negative one,
compares as false with everything. Nothing else is understood, and an expression has at most {length} characters.

**Conditions** leave sets out before anything is planned. All sets of such an axis are looked at once, about 50
million in a second, and one bit is kept for each: at most {scanned:,} sets before the conditions.

## Limits

`limits` says how far joints may go, and what actuators can give. Keys are names of joints and actuators (the page of
the robots has them), patterns, or groups; a name without limb means that joint of every limb. Each joint is selected
once.

```yaml
limits:
  joints:
    actuated: {position: [-60, 80], unit: deg, velocity: 600}
    limb1.2: {position: [-0.9, 0.9]}
  actuators:
    all: {force: 12, velocity: 10, power: 60}
```

A sample with a joint beyond its position is not OK: its status is JOINT_LIMIT, its results are NaN, and `usable_share`
counts it out. Limits that depend on speed and load are reported by margins alone: 1 leaves all of the limit,
0 is at it, below 0 it is exceeded. `limit_margin` is the least distance of a joint to an end of its range in halves
of the range, so 1 in its middle; `velocity_margin` and `actuator_margin` are the least shares that are left of a
largest velocity, and of a largest force, velocity or power.

## Criteria of design

`criteria` says how parts of the robot give way and how thick they are, for metrics of stiffness, natural frequencies
and clearance: [its page](guide/criteria.md) has an example. Keys are names and patterns, as those of limits.

## Loads

`loads` puts wrenches, springs and objects on links and on the platform; all their numbers are parameters that designs
may sweep. [Its page](guide/loads.md) has an example.

## Swept parameters of trajectories

A number of a trajectory may be several: `values`, or `start`, `stop` and `num`. The section then stands for all
combinations, the last key fastest:

```yaml
trajectories:
  turn: {kind: circle, radius: {values: [0.05, 0.1, 0.15]}, period: {start: 0.5, stop: 1.0, num: 6}}
  pick: {kind: quintic, start: [0, 0, 0], end: [{values: [0.1, 0.2]}, 0, 0], duration: {values: [0.3, 0.4]}}
```

are the trajectories `turn_0` to `turn_17` and `pick_0` to `pick_3`. A swept number is a coordinate along the dim
`trajectory`: `trajectory_radius` [m], `trajectory_end_x`; NaN for trajectories of other sections. A list of numbers
as a whole (`end: {values: [[0.1, 0, 0], [0, 0.1, 0]]}`) and files (`file: {values: [a.csv, b.csv]}`) have the number
of the value there. Turns and loads of a platform are swept alike: `load: {force: [0, 0, {values: [-10, -20]}]}`. What
depends on the design alone is computed once for all trajectories; all of them share the time grid.

## A catalogue of motors

A table under `design` may have columns that are no parameters, such as the name of a motor and what it may do. Named
under `labels` they are coordinates of designs: numbers in SI, which conditions and objectives of the section `study`
may use, or, in a CSV file, texts. Reports and tables call designs by them ("motor 400 W, gear ratio 40"), with what is
used of a rated number ("rms force 59 % of rated torque"):

```text
design:
  file: motors.csv            # motor,gear,gear_ratio,gearbox_inertia,torque_constant,resistance,rated_torque [N m]
  labels: [motor, gear, rated_torque]
metrics: [rms_force, largest_effective_inertia]
study:
  where:
    - rms_force < rated_torque
    - largest_effective_inertia / gearbox_inertia - 1 < 10    # what moves, over what turns with the motor
```

Motors and gears may be catalogues of their own, all combinations of which are designs: [`file: [motors.csv,
gears.csv]`](studies.md#motors-times-gears). Where a catalogue has a row for each motor with each gear, it is one file.
A text is never a number in some rows only. Labels that are numbers may stand in `derive` and `where`: `derive:
{gearbox_inertia: rotor_inertia + gear_inertia}`.
`largest_effective_inertia` is what an actuator feels at most, its own rotor included, while the others stand still; so
the last line bounds the ratio of inertias. Where a catalogue lists the rotor alone, take a label for it:
`rotor_inertia [kg m^2]`.

## Gravity and mounting

Components of gravity, `gravity_x`, `gravity_y` and `gravity_z` [m/s^2], may be swept under `design` as parameters of
the robot are, so how a robot is mounted is an axis, or an operating case; those that are not swept are those of the key
`gravity`:

```yaml
design:
  list: {gravity_x: [0, 9.81, 0], gravity_z: [-9.81, 0, 9.81]}   # standing, on a wall, hanging
```

Simulations and sweeps with a base that moves refuse a swept gravity.

## The question of a study

`study` says what the results are to answer: [reports](report.md) lead with the answer, and `limbsweep study` takes from
it what its options leave out. It changes nothing of what is computed, and is not part of the fingerprint.

```yaml
study:
  title: Which arms and gear carry up to 6 kg with least energy?
  objectives: [min electrical_energy, min peak_force]
  where: [condition < 6, rms_force < 1.27]
  cases: [payload_mass]
```

`cases` are swept parameters that are operating conditions, such as a payload ([what may be a
case](studies.md#operating-cases)): a design has to do all of them and is never chosen for one. Conditions have to hold
in every case, and an objective counts in its worst case unless it ends in `, mean over cases`, `, sum over cases`,
`, max over cases`, `, min over cases` or `, quantile 0.9 over cases`.

## Simulations

`simulation` makes robots move from forces: a controller that follows the trajectories, force profiles, or a release.
[Simulations](guide/simulations.md) says how.

```yaml
simulation:
  controller: {kind: pd, parameters: {kd: 5.0, force_limit: 40.0}}
  gains: {grid: {kp: [200.0, 800.0]}}
  state: {list: {x: [0.0, 0.01]}}
  step: 0.001
```

## Subsets

`subsets` names parts of a sweep; `limbsweep run FILE --subset NAME` takes one of them, into a store of its own. A
subset is a range of the sets of an axis, every so many of them, those that meet conditions, or some trajectories.

```yaml
subsets:
  quick: {design: {stop: 100}, trajectories: [circle]}
  short: {design: {where: upper_arm < 0.24}}
```

## Several robots

`robots` instead of `robot` is a list of names, or a mapping from names to `parameters`, `design` and `limits` of
their own. `run` makes a folder with a store for each; trajectories, friction, time, outputs and metrics are shared.

```yaml
robots:
  delta_3rr2rrr: {design: {grid: {upper_arm: [0.22, 0.25]}}}
  delta_3r2us: {}
```

## All keys
"""


def page() -> str:
    """The text of the page."""
    head = HEAD.replace("{drawn:,}", f"{kinds.MAX_DRAWN:,}").replace("{scanned:,}", f"{derived.MAX_SCANNED:,}")
    head = head.replace("{length}", str(expression.MAX_LENGTH)).replace("{power}", str(parser.MAX_POWER))
    tables = "\n".join("\n".join(section(model, title)) for model, title in SECTIONS)
    units = ", ".join(f"`{name}`" for name in UNITS)
    rows = "\n".join((*variables(), *controllers(), *laws(), *motions()))
    return f"{head}\n{tables}\n{rows}\n## Units\n\n{units}.\n"


def section(model: type[BaseModel], title: str) -> Iterator[str]:
    """The table of the keys of one section."""
    yield from (f"### {title}", "", "| key | value | meaning |", "|---|---|---|")
    for name, info in model.model_fields.items():
        needed = " (required)" if info.is_required() else ""
        yield f"| `{info.alias or name}` | {kind(info.annotation, info)} | {info.description}{needed} |"
    yield ""


def variables() -> Iterator[str]:
    """The tables of outputs and metrics, and of what is stored without being asked for."""
    titles: dict[str, tuple[Kind, ...]] = {
        "Outputs": ("series", "motion"),
        "Metrics": ("metric",),
        "Statuses, stored by themselves": ("status",),
    }
    for title, chosen in titles.items():
        yield from (
            f"## {title}",
            "",
            "| name | meaning | dims | unit | frame | only of |",
            "|---|---|---|---|---|---|",
        )
        for row in QUANTITIES.values():
            if row.kind in chosen:
                cells = (row.long_name, ", ".join(row.dims), row.units, row.frame.replace("none", ""), only(row.name))
                yield f"| `{row.name}` | {' | '.join(cells)} |"
        yield ""
    yield from (
        "Units are those of drives and joints that turn; a store of a robot whose drives slide has theirs. Where",
        "friction does not change a variable, it has no dim `friction`. `freedom` counts the free components of the",
        "platform's twist, of a chain its independent joints; of units in a list each entry has the one that fits what",
        "its freedoms do, move or turn. In a simulation all variables have the dims of all axes of cases, `gains` and",
        "`state` where a sweep varies them, and metrics are over all steps.",
        "",
    )


def only(name: str) -> str:
    """Return the one source of motion that has a quantity; an empty text where both have it."""
    if availability(FULL)[name]:
        return "given motions"
    return "simulations" if availability(MotionSource())[name] else ""


def controllers() -> Iterator[str]:
    """The table of controllers, and of what they have in common."""
    yield from ("## Controllers", "", "| kind | what it is | space | gains |", "|---|---|---|---|")
    for kind in CONTROLLERS.values():
        yield f"| `{kind.name}` | {kind.text} | {', '.join(kind.spaces)} | {names(kind.gains)} |"
    yield from ("", "All of them have these as well:", "", "| parameter | unit | meaning |", "|---|---|---|")
    for parameter in (*DRIVE, *TIMES):
        yield f"| `{parameter.name}` | {parameter.unit} | {parameter.text} |"
    yield ""


def laws() -> Iterator[str]:
    """The table of friction laws."""
    yield from ("## Friction laws", "", "| law | what it is | parameters | options | at rest | state |")
    yield "|---|---|---|---|---|---|"
    for law in LAWS.values():
        rest, state = "sticks" if law.sticks else "", "yes" if law.state else ""
        yield f"| `{law.name}` | {law.text} | {names(law.parameters)} | {names(law.options)} | {rest} | {state} |"
    yield from (
        "",
        "A law with `width` does not stick where a width is given. Laws with a state need the whole motion.",
        "",
    )


def motions() -> Iterator[str]:
    """The tables of the kinds of trajectory."""
    movers = {"of a platform": MOTIONS, "of a platform's `turn`": TURNS, "of the joints of a chain": JOINT_MOTIONS}
    yield from ("## Kinds of trajectory", "")
    for mover, table in movers.items():
        yield from (f"### Kinds {mover}", "", "| kind | what it is | parameters |", "|---|---|---|")
        for motion in table.values():
            file = ["`file`"] if motion.points_file else []
            yield f"| `{motion.name}` | {motion.text} | {', '.join(file) or names(motion.parameters)} |"
        yield ""


def names(parameters: Iterable[Parameter]) -> str:
    """Names of parameters with their units."""
    return ", ".join(f"`{p.name}`" + (f" [{p.unit}]" if p.unit != "1" else "") for p in parameters)


def kind(annotation: Any, info: FieldInfo | None = None) -> str:
    """What a value is, in words."""
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


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
