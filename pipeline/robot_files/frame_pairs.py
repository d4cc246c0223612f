"""Files of frames in pairs beside a URDF file, as Gepetto's example-parallel-robots have them.

`closed_loop` names pairs of links or joints whose frames coincide, in place (`3d`) or with their axes (`6d`);
`name_mot` names motors; `joint_name` and `joint_type` give joints another kind: balls, crosses, or fixed joints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.validation import Section, Two, validate_keys
from pipeline.errors import Problem, show
from pipeline.robot_files.sections import MAX_LINKS, Label, Parts
from robots.data_classes import dataclass, replace
from robots.formats.checks import check_loops
from robots.formats.closing import ClosingJoint
from robots.formats.tree import Tree
from robots.formats.xml_tree import Element
from robots.model import Frame
from robots.parameter_errors import nearest
from robots.types import JointKind

Pair = Two[Label]
PairKind = Literal["3d", "6d", "3D", "6D"]
CLOSING: Mapping[str, JointKind] = {"3d": "spherical", "6d": "fixed"}
JointName = Literal["SPHERICAL", "FIXED", "UJOINT_XY", "UJOINT_XZ", "UJOINT_YX", "UJOINT_YZ", "UJOINT_ZX", "UJOINT_ZY"]
CROSS = "UJOINT_"
AXES = {"X": "1 0 0", "Y": "0 1 0", "Z": "0 0 1"}


class FramePairs(Section):
    """Keys of the file."""

    closed_loop: Annotated[tuple[Pair, ...], Field(min_length=1, max_length=MAX_LINKS)]
    type: Parts[PairKind] = ()
    name_mot: Parts[Label] = ()
    joint_name: Parts[Label] = ()
    joint_type: Parts[JointName] = ()


@dataclass(frozen=True)
class PairedLoops:
    """The content of a file, with the report of its problems."""

    report: Report
    file: FramePairs

    def unknown_joints(self, root: Element) -> Iterator[Problem]:
        """Yield a warning for each joint with a kind that the URDF file does not have, which changes nothing."""
        names = [_name(joint) for joint in root.all("joint")]
        for k, name in enumerate(self.file.joint_name):
            if name not in names:
                hint = f"It is left as it is. {sentence(nearest(name, names))}"
                path = ("joint_name", k)
                yield self.report.document.problem(path, show(name), "a joint of the URDF file", hint)

    def retyped(self, root: Element) -> Element:
        """Return a URDF file whose joints have the kinds that are given here."""
        kinds = dict(zip(self.file.joint_name, self.file.joint_type, strict=True))
        children = [
            part
            for child in root.children
            for part in (_retyped(child, kinds.get(_name(child), "")) if child.tag == "joint" else (child,))
        ]
        return replace(root, children=children)

    def loops(self, tree: Tree, root: Element) -> tuple[ClosingJoint, ...]:
        """Return the joints that close the loops of a tree. Raises InputError for names that it does not have."""
        frames = {name: name for name in tree.bodies}
        frames |= {
            _name(joint): end.attributes.get("link", "") for joint in root.all("joint") for end in joint.all("child")
        }
        for k, pair in enumerate(self.file.closed_loop):
            for place, name in enumerate(pair):
                self.report.require_known(("closed_loop", k, place), name, frames, "a link or joint of the URDF file")
        self.report.raise_if_any()
        return tuple(self._loops(frames, tree))

    def _loops(self, frames: Mapping[str, str], tree: Tree) -> Iterator[ClosingJoint]:
        kinds = self.file.type or ("6d",) * len(self.file.closed_loop)
        for k, ((a, b), kind) in enumerate(zip(self.file.closed_loop, kinds, strict=True)):
            name = next(name for name in (f"loop_{k + 1}", f"closed_loop_{k + 1}") if name not in tree.joints)
            yield ClosingJoint(name, CLOSING[kind.lower()], frames[a], Frame(), frames[b], Frame())

    def motors(self, tree: Tree, root: Element) -> tuple[str, ...]:
        """Return the motors that move on their own. Raises InputError for names that no joint of the file has."""
        names = [_name(joint) for joint in root.all("joint")]
        for k, name in enumerate(self.file.name_mot):
            if name not in (*names, *tree.joints):
                hint = sentence(nearest(name, tree.free))
                self.report(("name_mot", k), name, "a joint of the URDF file", hint)
        self.report.raise_if_any()
        return tuple(name for name in self.file.name_mot if name in tree.free)


def remedy(tree: Tree, pairs: PairedLoops) -> str:
    """Return advice for loops that no positions close: joints that are meant as balls, or frames that meet in place."""
    unsaid = [name for name in tree.joints if "spher" in name.lower() and name not in pairs.file.joint_name]
    single = [name for name in unsaid if name.rpartition("_")[0] not in pairs.file.joint_name]
    if single:
        named = ", ".join(single[:3]) + (", ..." if len(single) > 3 else "")
        return (
            f" {len(single)} joints named spherical have one axis ({named}); joint_type SPHERICAL makes balls of them."
        )
    balls = [replace(loop, kind="spherical") if loop.kind == "fixed" else loop for loop in tree.loops]
    if balls == [*tree.loops]:
        return ""
    description = replace(tree, loops=tuple(balls)).description(reference={})
    closed = not list(check_loops(description.family.reference))
    return " With type: 3d for all of them they close: frames meet in place, not with their axes." if closed else ""


_SIDES = re.compile(r"(.*(?:loop|clos).*?)_?([ABab12])")


def likely_pairs(tree: Tree) -> list[tuple[str, str]]:
    """Return pairs of links or joints of a tree without loops whose names are those of two sides of a closure."""
    sides: dict[tuple[str, bool], list[str]] = {}
    for name in dict.fromkeys((*tree.bodies, *tree.joints)):
        if match := _SIDES.fullmatch(name):
            sides.setdefault((match[1], match[2].isdigit()), []).append(name)
    found = [tuple(sorted(names)) for names in sides.values() if len(names) == 2]
    return [(a, b) for a, b in found] if not tree.loops else []


def suggestion(pairs: Sequence[tuple[str, str]]) -> str:
    """Return the lines of a file of frames in pairs that closes them."""
    listed = ", ".join(f"[{a}, {b}]" for a, b in pairs)
    return f"closed_loop: [{listed}]"


def is_paired(keys: Sequence[str]) -> bool:
    """Return whether the keys of a file are those of frames in pairs."""
    return "closed_loop" in keys and "limbsweep" not in keys


def paired_loops(report: Report) -> PairedLoops:
    """Return the content of a file. Raises InputError with all its problems."""
    file, problems = validate_keys(FramePairs, report.document)
    report.take(problems)
    report.raise_if_any()
    for key, of in (("type", "closed_loop"), ("joint_type", "joint_name")):
        count, expected = len(getattr(file, key)), len(getattr(file, of))
        if count != expected and (count or key == "joint_type"):
            report((key,), Got(f"{count} entries"), f"{expected}, as many as {of} has")
    report.raise_if_any()
    return PairedLoops(report, file)


def _name(element: Element) -> str:
    return element.attributes.get("name", "")


def _retyped(joint: Element, kind: str) -> Iterator[Element]:
    """Yield a joint of another kind: of a cross two joints and the link between them."""
    if not kind.startswith(CROSS):
        of_urdf = {"SPHERICAL": "ball", "FIXED": "fixed"}.get(kind)
        yield replace(joint, attributes={**joint.attributes, "type": of_urdf}) if of_urdf else joint
        return
    name, axes = _name(joint), kind.removeprefix(CROSS)
    first, second = axes[0], axes[1]
    cross = f"{name}_cross"

    def element(tag: str, children: Sequence[Element] = (), **attributes: str) -> Element:
        return Element(tag, joint.line, joint.column, attributes, [*children])

    outer = [child for child in joint.children if child.tag in ("origin", "parent")]
    inner = [child for child in joint.children if child.tag == "child"]
    yield element("link", name=cross)
    one = [*outer, element("child", link=cross), element("axis", xyz=AXES[first])]
    yield element("joint", one, name=f"{name}_{first}", type="continuous")
    two = [element("parent", link=cross), *inner, element("axis", xyz=AXES[second])]
    yield element("joint", two, name=f"{name}_{second}", type="continuous")
