"""Each element and attribute of the tables of SDF and URDF, set to values: its effects here and in another engine.

    python -m benchmarks.imports.elements [--schema FOLDER] [TAG ...]

A file that has all elements is changed in one of them. Where the reader takes it without a warning, forces of its
joints have to be those of Drake (SDF) or Pinocchio (URDF), where these read it. Differences are printed, and the exit
status is 1 then. Words that the reader ignores, with the same tree and without a warning, are listed by name: `idle`.
With a folder of SDFormat's descriptions (`sdf/1.11` of its repository) the elements are those of the format, else those
of our tables.
"""

from __future__ import annotations

import argparse
import copy
import logging
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

from benchmarks.imports import drake, pinocchio
from benchmarks.imports.attributes import error_of_tree
from benchmarks.imports.comparison import LARGEST_ERROR
from pipeline.errors import InputError
from pipeline.robot_files.importing import tree_of
from robots.formats.elements import LANGUAGES
from robots.formats.tree import Tree

_INERTIA = "<inertia><ixx>.03</ixx><iyy>.04</iyy><izz>.05</izz><ixy>.001</ixy><ixz>.002</ixz><iyz>-.001</iyz></inertia>"
_LINK = (
    '<link name="{0}"><pose relative_to="{1}">.1 .2 .3 .1 .2 .3</pose><inertial><mass>1.3</mass>'
    f"<pose>.01 .02 .03 .2 .1 0</pose>{_INERTIA}</inertial></link>"
)
_AXIS = (
    "<{0}><xyz>0.3 0.2 1</xyz><limit><lower>-1</lower><upper>1</upper><effort>9</effort><velocity>5</velocity></limit>"
    "<dynamics><damping>0.1</damping><friction>0.2</friction></dynamics></{0}>"
)
SDF = (
    '<sdf version="1.11"><world name="w"><model name="m"><pose>0 0 .5 0 .1 0</pose><frame name="f" attached_to="a">'
    "<pose>.1 0 0 0 0 .4</pose></frame>"
    + _LINK.format("a", "__model__")
    + _LINK.format("b", "a")
    + _LINK.format("c", "f")
    + _LINK.format("d", "c")
    + _LINK.format("e", "d")
    + '<joint name="ja" type="revolute"><parent>world</parent><child>a</child>'
    + _AXIS.format("axis")
    + '</joint><joint name="jb" type="prismatic"><pose>.05 0 .1 .2 0 0</pose><parent>a</parent><child>b</child>'
    + _AXIS.format("axis")
    + '</joint><joint name="jc" type="ball"><parent>b</parent><child>c</child>'
    + '</joint><joint name="jd" type="screw"><parent>c</parent><child>d</child><screw_thread_pitch>.02'
    + "</screw_thread_pitch>"
    + _AXIS.format("axis")
    + '</joint><joint name="je" type="revolute"><parent>d</parent><child>e</child><axis><xyz>0 1 0</xyz>'
    + '<mimic joint="ja"><multiplier>.5</multiplier><offset>0</offset><reference>0</reference></mimic></axis></joint>'
    + "</model></world></sdf>"
)
"""A tree of the kinds of joints that Drake has as well."""

_BODY = (
    '<link name="{0}"><inertial><origin xyz=".01 .02 .03" rpy=".1 .2 .3"/><mass value="1.3"/><inertia ixx=".03"'
    ' iyy=".04" izz=".05" ixy=".001" ixz=".002" iyz="-.001"/></inertial></link>'
)
_JOINT = (
    '<joint name="{0}" type="{1}"><origin xyz=".1 .2 .3" rpy=".3 .2 .1"/><parent link="{2}"/><child link="{3}"/>'
    '<axis xyz=".3 .2 1"/><limit lower="-1" upper="1" effort="9" velocity="5"/><dynamics damping=".1" friction=".2"/>'
)
URDF = (
    '<robot name="m">'
    + "".join(_BODY.format(name) for name in "oabcd")
    + _JOINT.format("ja", "revolute", "o", "a")
    + "</joint>"
    + _JOINT.format("jb", "prismatic", "a", "b")
    + "</joint>"
    + _JOINT.format("jc", "continuous", "b", "c")
    + "</joint>"
    + _JOINT.format("jd", "revolute", "c", "d")
    + '<mimic joint="ja" multiplier=".5" offset="0"/></joint>'
    + '<transmission name="t"><type>t/Simple</type><joint name="jb"><hardwareInterface>e</hardwareInterface></joint>'
    + '<actuator name="m"><mechanicalReduction>1</mechanicalReduction></actuator></transmission>'
    + '<gazebo reference="b"><mu1>1</mu1></gazebo><gazebo reference="jc"><provideFeedback>1</provideFeedback></gazebo>'
    + "</robot>"
)
"""A tree of the joints that Pinocchio has as well."""

VALUES = (
    "0.3", "-0.4", "0", "1", "2", "true", "false", "0.1 0.2 0.3", "0 1 0", "0.1 0.2 0.3 0.1 -0.2 0.3", "1 0 0 0",
    "0.1 0.2 0.3 0.5 0.5 0.5 0.5", "a", "b", "c", "d", "f", "ja", "jb", "jc", "world", "__model__", "euler_rpy",
    "quat_xyzw", "revolute", "continuous", "prismatic", "fixed", "ball", "screw", "universal", "floating", "planar",
    "x", "inf", "1.4", "1.7",
)  # fmt: skip
"""Values that are tried of each element and attribute."""


@dataclass(frozen=True)
class Format:
    """A format: its file with all elements, the ending of its files, its words by tag, and an engine that reads it."""

    text: str
    suffix: str
    children: Mapping[str, tuple[str, ...]]
    attributes: Mapping[str, tuple[str, ...]]
    engine: object


def formats(schema: Path | None) -> Iterator[Format]:
    """Yield SDF and URDF, with the words of our tables, or SDF alone with those of a folder of descriptions."""
    for name, text, suffix, engine in (("SDF", SDF, ".sdf", drake), ("URDF", URDF, ".urdf", pinocchio)):
        words, refused = LANGUAGES[name]
        children = {tag: f"{each.children} {each.idle}".split() for tag, each in words.items()}
        for effect in refused:
            outer, _, inner = effect.path.rpartition("/")
            children.setdefault(outer, []).append(inner)
        attributes = {tag: tuple(f"{each.attributes} {each.idle_attributes}".split()) for tag, each in words.items()}
        if schema is None:
            yield Format(text, suffix, {tag: tuple(each) for tag, each in children.items()}, attributes, engine)
        elif name == "SDF":
            yield Format(text, suffix, *described(schema), engine)


def described(folder: Path) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Return children and attributes of each tag by the descriptions of SDFormat in a folder."""
    children, attributes = dict[str, tuple[str, ...]](), dict[str, tuple[str, ...]]()

    def gather(element: ElementTree.Element) -> str:
        tag = element.get("name", "")
        inner = [gather(each) for each in element.findall("element") if each.get("name")]
        for entry in element.findall("include"):
            path = folder / entry.get("filename", "")
            inner.append(path.stem)
        found = [each.get("name", "") for each in element.findall("attribute")]
        children[tag] = tuple(dict.fromkeys((*children.get(tag, ()), *inner)))
        attributes[tag] = tuple(dict.fromkeys((*attributes.get(tag, ()), *found)))
        return tag

    for path in sorted(folder.glob("*.sdf")):
        gather(ElementTree.parse(path).getroot())
    return children, attributes


@dataclass(frozen=True)
class Change:
    """A word of a format with a value, the place where it was set, and the text of the file then."""

    place: str
    value: str
    text: str


def changes(entry: Format, tags: list[str]) -> Iterator[Change]:
    """Yield the file with each child and attribute of each of its elements, by every value."""
    root = ElementTree.fromstring(entry.text)
    alike = {each for link in root.iter("link") if link.get("name") != "b" for each in link.iter()}
    for k, element in enumerate(root.iter()):
        if element in alike or (tags and element.tag not in tags):
            continue
        name = f"<{element.tag}{' ' + element.get('name', '') if element.get('name') else ''}"
        for attribute in entry.attributes.get(element.tag, ()):
            for value in VALUES:
                yield Change(f"{name} {attribute}>", value, _changed(root, k, None, attribute, value))
        for child in entry.children.get(element.tag, ()):
            inside = element.find(child)
            for value in VALUES if inside is None or not len(inside) else ():
                yield Change(f"{name}><{child}>", value, _changed(root, k, child, "", value))
        for part in element:
            yield Change(f"{name}><{part.tag}>", "without", _without(root, k, part.tag))


def _changed(root: ElementTree.Element, place: int, child: str | None, attribute: str, value: str) -> str:
    """Return the text of a file with an attribute or the text of a child set in the element at a place."""
    result = copy.deepcopy(root)
    element = list(result.iter())[place]
    if child is None:
        element.set(attribute, value)
    else:
        inside = element.find(child)
        inside = ElementTree.SubElement(element, child) if inside is None else inside
        inside.text = value
    return ElementTree.tostring(result, encoding="unicode")


def _without(root: ElementTree.Element, place: int, child: str) -> str:
    result = copy.deepcopy(root)
    element = list(result.iter())[place]
    element.remove(element.find(child))  # type: ignore[arg-type]
    return ElementTree.tostring(result, encoding="unicode")


class Judge:
    """Verdicts on changed files: `refused`, `told`, `read`, `idle`, `not compared`, or the difference."""

    def __init__(self, entry: Format, folder: Path) -> None:
        self._path, self._engine = folder / f"robot{entry.suffix}", entry.engine
        self._path.write_text(entry.text)
        tree = tree_of(self._path)
        self._usual, self._tree = _told(tree), repr(tree)
        assert self._verdict_of(tree, "same") == "same", "the file itself differs"

    def verdict(self, text: str) -> str:
        """Return the verdict on a file."""
        self._path.write_text(text)
        try:
            tree = tree_of(self._path)
        except InputError:
            return "refused"
        except Exception as error:  # a traceback is a finding, and no end of the table
            return f"TRACEBACK {type(error).__name__}: {error}"
        if _told(tree) - self._usual:
            return "told"
        return self._verdict_of(tree, "idle" if repr(tree) == self._tree else "read")

    def _verdict_of(self, tree: Tree, right: str) -> str:
        peer = self._engine.spanning(self._path, tree, "fixed")  # type: ignore[attr-defined]
        if peer is None:
            return right if right == "idle" else "not compared"
        error = error_of_tree(tree, peer)
        return right if error <= LARGEST_ERROR else f"forces differ by {error:.1e}"


def _told(tree: Tree) -> set[str]:
    return {f"{each.got} {each.hint}" for each in tree.warnings}


def main(arguments: list[str]) -> int:
    """Print differences, and the words without effect."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tags", nargs="*", help="tags of the elements that are changed; default: all")
    parser.add_argument("--schema", type=Path, help="folder of SDFormat's descriptions")
    options = parser.parse_args(arguments)
    logging.getLogger("drake").setLevel(logging.CRITICAL)  # of invalid values
    wrong = 0
    for entry in formats(options.schema):
        verdicts, idle = Counter[str](), dict[str, list[str]]()
        with TemporaryDirectory() as folder:
            judge = Judge(entry, Path(folder))
            for change in changes(entry, options.tags):
                verdict = judge.verdict(change.text)
                differs = verdict.startswith(("forces", "TRACEBACK"))
                wrong += differs
                verdicts["differs" if differs else verdict] += 1
                if differs:
                    print(f"{change.place} {change.value!r}: {verdict}", flush=True)
                if verdict == "idle":
                    idle.setdefault(change.place, []).append(change.value)
        print(f"{entry.suffix}: {dict(verdicts)}")
        for place, values in idle.items():
            print(f"  idle: {place} {', '.join(values)}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
