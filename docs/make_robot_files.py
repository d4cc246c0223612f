"""Write docs/robot_files.md: how to describe a robot. Run by `make pages`; a test says when the page is stale.

The tables of keys come from the models in `pipeline.robot_files.sections`, limits from where they are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from make_sweep_files import section

from pipeline.robot_files import sections
from robots.expressions import expression, parser
from robots.formats import checks, effects, mjcf, xml_tree
from robots.joint_kinds import JOINT_KINDS, Kind
from robots.parameters import LARGEST

PAGE = Path(__file__).parent / "robot_files.md"
SECTIONS = (
    (sections.RobotFile, "The file"),
    (sections.ParameterSection, "A parameter, under its name in `parameters`"),
    (sections.LimbSection, "A limb, under its name in `limbs`"),
    (sections.DriveSection, "An actuator that is no joint, in `drives`"),
    (sections.SpinSection, "Spinning bodies of a drive, in `spins`"),
    (sections.MotorSection, "`motor`"),
    (sections.CouplingSection, "A joint that follows another, in `couplings`"),
    (sections.LinkSection, "A link, in `links` of a limb or of the platform"),
    (sections.ClosureSection, "A joint in `loops` or `tips`"),
    (sections.FrameSection, "A frame: `placement`, `frame_a`, `frame_b`, `base`, `platform`, `home`"),
    (sections.InertiaSection, "`inertia`"),
    (sections.InstanceSection, "A limb of the robot, under its name in `instances`"),
    (sections.BaseSection, "`base`"),
    (sections.PlatformSection, "`platform`"),
    (sections.RedundancySection, "`redundancy` of a platform"),
    (sections.TaskSection, "A task, under its name in `tasks` of `redundancy`"),
    (sections.ArmAngleSection, "`arm_angle`"),
    (sections.RatingSection, "Ratings of a joint, under its name in `ratings`"),
    (sections.LoopsFile, "The file of loops beside a URDF file"),
)

HEAD = """\
# Robot files

A robot that is not in the catalogue is described in a YAML file, and used like one that is:

```sh
limbsweep robots my_arm.yaml      # its parameters
limbsweep show my_arm.yaml        # its picture
limbsweep new my_arm.yaml         # a first sweep of it, with `robot: ./my_arm.yaml`
```

`limbsweep robots five_bar --set proximal_length=0.6 --export mine.yaml` writes a robot of the catalogue as such a
file, in numbers, its drives and motors with it; reading it gives the same robot to the last bit. What is wrong with a
file is said with its line, all of it at once.

## A first one

A robot is a tree of links and joints. The frame of each link sits on its joint and coincides with `placement` in the
parent where the joint variable is zero. Numbers are in SI units. Where a number is wanted, an expression of
parameters may stand.

<!-- file: my_arm.yaml -->
```yaml
limbsweep: 1
name: my_arm
title: Arm with two joints
parameters:
  length: {default: 0.5, unit: m, lower: 0.1, upper: 2, text: length of the upper arm}
  payload: {default: 1.0, unit: kg, lower: 0, upper: 50, text: mass at the end}
derived:
  mass: 4.0 * length
  across: mass * length ** 2 / 12
limbs:
  arm:
    links:
      - joint: shoulder
        body: upper
        parent: base
        kind: revolute
        axis: z
        inertia: {mass: mass, centre: [length / 2, 0, 0], moments: [0, across, across]}
      - joint: elbow
        body: lower
        parent: upper
        kind: revolute
        axis: -y
        placement: {position: [length, 0, 0], turn: {z: 30}}
        inertia: {mass: payload, centre: [0.3, 0, 0]}
    actuated: [shoulder, elbow]
```

This is a chain: one limb without a platform. Whole examples with loops and platforms are
`examples/robots/five_bar.yaml` and `examples/robots/delta.yaml`.

## Robots with a platform

`limbs` are described once each, between a mount frame at the base and one at the platform; `instances` says how many
the robot has and where their mount frames are. `tips` are the joints at the platform. All variables count from the
reference pose, in which the platform is at `home`: there, all `tips` and `loops` have to be closed, to {gap} m, with
the defaults of all parameters; the limbs have to allow the `mobility`, and the actuators to hold the platform. With
other values loops have to be closed as well, so positions that depend on lengths are expressions of them; a pose that
cannot be reached shows as a status of the samples.

Instances need not be alike: `values` gives parameters other values in one limb, as in
`{limb: leg, values: {rod: 1.2 * rod}}`, and `mirror: y` changes the sign of y in all of it, so that a motor turns the
other way.

A platform that has fewer freedoms than coordinates, or that is made of several bodies, has `coordinates` in place of
`mobility`: those of `x`, `y`, `z`, `yaw`, `pitch` and `roll` (about z, then y, then x) in which its motion is given.
The others follow from the limbs, see [the theory](theory/coupled_platforms.md). In a sweep such a robot is a chain
whose joints are `platform_z` and so on, and `limb1.2` for joint 2 of instance `limb1`. `examples/robots/3rps.yaml` is a
whole one. Further bodies of the platform are its `links`, with joints in their `loops` where they close; an instance
joins one of them by `body`. So two platforms are bodies of one, with the joints between them; and a wrist is a link of
the platform whose joint is `independent` and `actuated`:

```yaml
platform:
  coordinates: [x, y, z]
  inertia: {mass: 0.5}
  links:
    - {joint: wrist, body: tool, parent: platform, kind: revolute, axis: z, inertia: {mass: 0.1}}
  independent: [wrist]
  actuated: [wrist]
```

### Redundant limbs and bases that are driven

A limb with more joints than `coordinates` determine has joints that are free. `redundancy` names as many of them as
are, and what decides them: with `posture` they are where the squared distances of joints from it, times `weights`, have
the least sum at every pose; without it their motion is given in every trajectory. Positions count from the reference
pose, may be expressions of parameters, and so be swept. See [the theory](theory/redundancy.md);
`examples/robots/arm_platform.yaml` is an arm with seven joints that follows the pose of its platform.

Limbs may stand on bodies that move: `base` has them, from the ground on, and an instance names one as its `carrier`.
The joints of these bodies are given in every trajectory, and those under `actuated` have motors, whose forces come out
with all others: in inverse dynamics, in simulations, in identification. `coordinates` and `home` of the platform count
from the ground, or from the body that it is `within`. Of `examples/robots/tripod_on_rail.yaml`, a carriage with legs:

```yaml
base:
  links:
    - {joint: rail, body: carriage, parent: base, kind: prismatic, axis: x, inertia: {mass: 40}}
  actuated: [rail]
instances:
  leg1: {limb: leg, carrier: carriage}
platform:
  coordinates: [z, pitch, roll]
  within: carriage
  inertia: {mass: 3}
```

A robot of the catalogue gets such a base in the file that `limbsweep robots NAME --export` writes: `coordinates` in
place of `mobility` (`x`, `y`, `z` of a Delta), `base`, and the `carrier` of each instance.

A carriage that is free for a pose on the ground is redundant as well: `redundancy` with `joints: [rail]` and
`posture: {rail: 0}`.

In place of the posture may stand `tasks`, conditions that hold at every pose: sums of coefficients times positions of
joints, or the [arm angle](theory/redundancy.md#tasks) of an elbow. As many of them as `joints` decide these; fewer
may stand beside a posture. A task without `value` is given in every trajectory, by its name, after the
joints; `examples/robots/arm_angle.yaml` is such an arm:

```yaml
redundancy:
  joints: [arm.3]
  tasks:
    swivel: {arm_angle: {shoulder: arm.2, elbow: arm.4, wrist: arm.6}, value: 0.3}
    # or: {coefficients: {arm.1: 1, arm.2: 1}, value: 0.3}
```

### Reference poses

Where angles at the reference pose are not known, a limb may have a key `reference` with rough positions of its joints,
or `{}`: its loops and tips are closed numerically from there, for the defaults of all parameters, and all variables
count from what was found. Driven joints of a chain stay where they are said to be. Other values of the parameters are
solved in the kernels from there.

## Axes

A joint turns about, or slides along, an `axis` of its own frame: `x`, `-y`, or a direction of any length such as
`[sin(a), 0, cos(a)]`, whose values may be expressions. Cut joints have their axes from their frames, see the table. The
frame of a link is that of its `placement` where the joint is at zero, whatever the axis; `link_rotation` of a sweep is
that of a frame with the axis along x, y or z, where the axis is a direction.

## Kinds of joints

| kind | in a tree | variable | what it leaves free |
|---|---|---|---|
{kinds}

A screw has a `pitch`, the way per angle [m/rad], right-handed where it is above zero: a lead of 5 mm per turn is
`pitch: 0.005 / (2 * pi)`. It may be a parameter. It turns by its variable, full turns counted, and slides by the pitch
times it; where it is cut, the angle is zero where both frames coincide, which is at the reference pose.

## Expressions

Names of parameters, of `derived` values above, and `pi`; numbers, `+ - * / **` (whole powers up to {power}),
parentheses, and the functions {functions}, with angles in radians. An expression has at most {length} characters. It
is no program: it is parsed here and can do nothing else. Expressions are compiled with the dynamics, so a sweep over
parameters of a robot file is as fast as one over those of the catalogue. Numbers may not be above {largest}.

`asin`, `acos`, `atan` and `atan2(y, x)` give angles in radians, `turn` takes them in degrees:
`{z: "180 / pi * atan2(y, x)"}`.

## In Python

```python
import limbsweep as ls

robot = ls.robots.read("my_arm.yaml", length=0.6)  # as ls.robots.build makes one of the catalogue
```

## In sweeps

`robot: ./my_arm.yaml` names a file in the folder of the sweep or below. Its content is part of the fingerprint,
comments and spelling are not. The text that the store keeps has the robot in it, so `run` and `verify` from a store
need no file; you may write the content under `robot:` yourself. Workers get the description, which is data, and make
the robot of it once each.

## URDF and MJCF

```sh
limbsweep import robot.urdf --loops loops.yaml --output robot.yaml
```

The root link is the base. Where it is meant to move, as a walking robot's is, `--base floating` gives it six joints,
`base_x` to `base_roll` (translations, then turns by yaw, pitch, roll): their positions are a given motion of the base,
their forces what it takes. Joints may be revolute, continuous, prismatic or fixed, about any axis; planar, spherical
and floating ones become several joints of one variable. Links behind fixed joints become one body with their parents,
and only then inertias are checked: one that no body has is refused, or with `--repair-inertia` given three equal
moments, their mean, as MuJoCo's `balanceinertia` does; what was changed is told. Links without mass are fine; those at
the end are named under `massless`.

A joint that mimics another becomes a coupling: it follows, and its force is part of that of the other joint. Rotors and
gears of transmissions (`mechanicalReduction`, `rotorInertia`, Drake's `drake:rotor_inertia` and `drake:gear_ratio`)
become the armature of their joint, rotor inertia times the square of the gear. Limits, damping and friction are kept
under `ratings`; they change nothing by themselves, but `limbsweep new` writes them into the first sweep. Elements that
nobody reads are told once each, with a line of the file, and change nothing. A file that is not UTF-8 and does not say
its encoding is read as Latin-1.

**Macros of xacro** are expanded where `--expand-macros` asks for it, never in a file that another file names: by an
evaluator of our own that runs nothing, whose steps, sizes and time are bounded. It reads properties, macros with
defaults and blocks, conditions, arithmetic, includes and `load_yaml`; `--arg ur_type:=ur5e` gives an argument. Files
that it reads are regular ones below the folder of the file or its package (the nearest `package.xml` above), and below
packages that `$(find NAME)` names: one above or beside the file, or `--package NAME=FOLDER`. Messages tell the line of
the macro, and for a mistake in what was expanded that of the call. `$(env)` and `$(eval)` are refused. From Python:
`ls.robots.load("ur.urdf.xacro", macros={"ur_type": "ur5e"})`.

Commas between numbers, space before the declaration and NUL bytes behind the end are told and passed over.

SDF files are imported by the same command: one model with its links, joints, frames and models inside it, axes and
poses as its version has them. A joint to `world`, or a link of that name, is the base, else the first link is. **A
link with two parents closes a loop**: the second joint is cut, and where the file's poses leave it open it is
closed numerically. A joint whose child is nearer to the base is turned round, its variable the same. Universal
joints become two, ball joints three; gearboxes are refused. `<mimic>` is a coupling, Drake's rotors and gears are
armatures. A link without
`<inertial>` has the 1 kg of the specification, which is told.

A model of MuJoCo (MJCF) is imported by the same command, compiled by MuJoCo itself (`pip install 'limbsweep[mujoco]'`),
with its defaults, includes and meshes. Joints count from the pose that the file has its bodies in, as `qpos - qpos0`
does. Hinges and slides, inertias, armatures, ranges, damping, friction loss and forces of actuators are taken; ball
joints become three, free ones are held or with `--base floating` become six; `connect` and `weld` are loops, a linear
`joint` equality is a coupling. Where loops are open in that pose they are closed numerically. Joints with actuators
are driven where there are loops, else all. Contacts are left out. MuJoCo compiles in a process of its own, with bounds
of time and memory, copies of files: what the file includes or names is a regular file below its folder, or below one of
`--package`, named as it is seen from there and not by its whole path.

**Elements that change dynamics and that a robot file cannot express are refused**; `--leave-out KIND` imports the
robot without them and says so. Elements that are not in the table are read, or change nothing.

| format | element | where it says something, kind |
|---|---|---|
{effects}

An imported robot has parameters, named after bodies and joints: `forearm_mass`, `forearm_scale` (the size of the body
and of what is joined to it, its mass unchanged), `elbow_offset_z`, `elbow_rotor` and `elbow_gear` where the file has
them, `finger_ratio` of a coupling. So any import can be swept over; `--numbers` writes numbers alone.

`python -m benchmarks.imports` prints what becomes of the files in packages of robots (the extra `models`), and how far
their inverse dynamics are from those of Pinocchio, MuJoCo and Drake, closed chains and floating bases included. Of 414
files of example-robot-data 6.0.0, PyBullet 3.2.7, dm_control 1.0.50, gymnasium-robotics 1.4.2, robosuite 1.5.2 and
Drake 1.51.1 it accepts 314. Of the 164 URDF files of the first two it accepts 159, Pinocchio reads 156, and the
inverse dynamics of these differ by 2.0e-13 of the largest force at most. Of the others it says:

| files | why they are refused |
|---:|---|
| 47 | no joint that moves: floors, tables, parts |
| 21 | `<mujocoinclude>`, a part of a model that another file includes |
| 24 | a model that MuJoCo itself does not compile: meshes that are not there, parts, older formats |
| 2 | no link: a macro that is not expanded, or a soft body |
| 2 | `lower` above `upper`, which PyBullet reads as no limit |
| 1 | a rotation of four numbers |
| 1 | a parent that is no link of the file |
| 1 | two models in a file |
| 1 | a joint of type `gearbox`, which is a coupling |

Closures of loops and the driven joints stand in a file beside it:

<!-- file: loops.yaml -->
```yaml
limbsweep: 1
loops:
  - joint: pin
    kind: revolute
    a: coupler
    frame_a: {position: [0.5, 0.1, 0]}
    b: rocker
    frame_b: {position: [0, 0.3, 0]}
actuated: [crank_joint]
```

Loops that are open where all variables are zero are refused; with `reference`, rough positions of some joints (or `{}`
for none), they are closed numerically, and joints count from there.

A file may have no DOCTYPE and no entities, {depth} levels of elements, and {bytes} MiB.

## All keys

A value is a number or an expression.

"""


def _kind(row: Kind) -> str:
    """The row of a kind of joint."""
    variable = row.units.position if row.one_variable else ""
    return f"| `{row.name}` | {'yes' if row.one_variable else ''} | {variable} | {row.text} |"


def _effects() -> Iterator[str]:
    """Rows of what is refused, or left out by its kind."""
    for name, table in (("SDF", effects.SDF), ("URDF", effects.URDF)):
        for effect in table:
            yield f"| {name} | `{effect.path}` | `{effect.kind}` |"
    for kind, words in mjcf.REFUSED.items():
        yield f"| MuJoCo | {words} | `{kind}` |"


def page() -> str:
    """The text of the page."""
    said = {
        "{kinds}": "\n".join(map(_kind, JOINT_KINDS.values())),
        "{effects}": "\n".join(_effects()),
        "{gap}": f"{checks.GAP:g}",
        "{power}": str(parser.MAX_POWER),
        "{functions}": ", ".join(f"`{name}`" for name in expression.GEOMETRIC),
        "{length}": str(expression.MAX_LENGTH),
        "{largest}": f"{LARGEST:g}",
        "{depth}": str(xml_tree.MAX_DEPTH),
        "{bytes}": str(xml_tree.MAX_BYTES >> 20),
    }
    head = HEAD
    for name, value in said.items():
        head = head.replace(name, value)
    return head + "\n".join("\n".join(section(model, title)) for model, title in SECTIONS).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
