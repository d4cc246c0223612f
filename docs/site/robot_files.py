"""Tables of the page of robot files: keys, kinds of joints, elements that an import refuses.

The keys come from the models in `pipeline.robot_files.sections`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchmarks.imports import record
from docs.site.sweep_files import section
from pipeline.robot_files import sections
from pipeline.robot_files.parameters import ParameterSection
from robots.formats import effects as refusals
from robots.formats import elements, mjcf, usd_words
from robots.joint_kinds import JOINT_KINDS

SECTIONS = (
    (sections.RobotFile, "The file"),
    (ParameterSection, "A parameter, under its name in `parameters`"),
    (sections.LimbSection, "A limb, under its name in `limbs`"),
    (sections.DriveSection, "An actuator that is no joint, in `drives`"),
    (sections.SpinSection, "Spinning bodies of a drive, in `spins`"),
    (sections.MotorSection, "`motor`"),
    (sections.ControllerGains, "`current_controller` and `speed_controller` of a motor"),
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


def keys() -> Iterator[str]:
    """Yield the tables of the keys of all sections."""
    for model, title in SECTIONS:
        yield from section(model, title)


def joint_kinds() -> Iterator[str]:
    """Yield the table of the kinds of joints."""
    yield from ("| kind | in a tree | variable | free motion |", "|---|---|---|---|")
    for row in JOINT_KINDS.values():
        variable = row.units.position if row.one_variable else ""
        yield f"| `{row.name}` | {'yes' if row.one_variable else ''} | {variable} | {row.text} |"


def effects() -> Iterator[str]:
    """Yield the table of the elements that an import refuses, or leaves out by their kind."""
    yield from ("| format | element | place, kind |", "|---|---|---|")
    for name, table in (("SDF", refusals.SDF), ("URDF", refusals.URDF)):
        for effect in table:
            yield f"| {name} | `{effect.path}` | `{effect.kind}` |"
    for prim, attributes in usd_words.USD.items():
        yield from (f"| USD | {prim} `@{name}` | |" for name in attributes.refused.split())
    for kind, words in mjcf.REFUSED.items():
        yield f"| MuJoCo | {words} | `{kind}` |"


def words() -> Iterator[str]:
    """Yield the table of elements and attributes of SDF, URDF and USD that are read, and of those without effect."""
    yield from ("| format | element | read | without effect |", "|---|---|---|---|")
    for name, (vocabulary, table) in elements.LANGUAGES.items():
        refused = {tuple(effect.path.split("/")[-2:]) for effect in table}
        for tag, known in vocabulary.items():
            idle = [word for word in known.idle.split() if (tag, word) not in refused]
            read = _named(known.children.split(), known.attributes.split())
            yield f"| {name} | `{tag}` | {read} | {_named(idle, known.idle_attributes.split())} |"
    for kind, attributes in usd_words.USD.items():
        yield f"| USD | {kind} | {_named((), attributes.read.split())} | {_named((), attributes.idle.split())} |"


def _named(children: Iterable[str], attributes: Iterable[str]) -> str:
    return ", ".join([f"`{word}`" for word in children] + [f"`@{word}`" for word in attributes])


def models() -> Iterator[str]:
    """Yield the table of the attributes of MuJoCo's models that are read, told or refused."""
    columns = {"read": ("read",), "told": ("told",), "refused": ("refused", "invalid")}
    yield from (f"| element | {' | '.join(columns)} |", "|---|---|---|---|")
    rows = dict[str, list[str]]()
    for element, verdicts in record.read()["elements"].items():
        named = [_named((), [name for word in words for name in verdicts.get(word, ())]) for words in columns.values()]
        if any(named):
            rows.setdefault(" | ".join(named), []).append(element)
    yield from (f"| {_named(elements, ())} | {row} |" for row, elements in rows.items())


COMMON = 4
"""Elements that have an attribute, from which on it is in the row of all elements where it has no effect in any."""


def idle_in_models() -> Iterator[str]:
    """Yield the table of the attributes of MuJoCo's models without effect, those of many elements in the first row."""
    yield from ("| element | without effect |", "|---|---|")
    known = record.read()["elements"]
    verdicts = dict[str, list[str]]()
    for row in (row for row in known.values() if {*row} != {"refused"}):
        for verdict, names in row.items():
            for name in names:
                verdicts.setdefault(name, []).append(verdict)
    everywhere = {name for name, words in verdicts.items() if {*words} == {"idle"} and len(words) >= COMMON}
    yield f"| all that have them and are not refused as a whole | {_named((), sorted(everywhere))} |"
    rows = dict[str, list[str]]()
    for element, row in known.items():
        if own := [name for name in row.get("idle", ()) if name not in everywhere]:
            rows.setdefault(_named((), own), []).append(element)
    yield from (f"| {_named(elements, ())} | {row} |" for row, elements in rows.items())


def not_tried() -> Iterator[str]:
    """Yield the table of the attributes of MuJoCo's models without a verdict, each with the reason."""
    yield from ("| element | attribute | reason |", "|---|---|---|")
    for element, row in record.read()["elements"].items():
        for name in row.get(record.NOT_TRIED, ()):
            yield f"| `{element}` | `@{name}` | {record.REASONS[element, name]} |"
