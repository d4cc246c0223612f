"""Models that an SDF file includes, put in their place before the file is read.

An `<include>` becomes the model of the file that its `uri` names, with name, pose and `static` of the include; with
`merge` the parts of that model become parts of the model around it. `model://NAME` is a folder of that name above or
beside the file, or one that the user names; other names count from the file. All elements of an included file have the
line of the `<include>`. Source: sdformat.org, specification 1.4 to 1.12, and the proposal on model composition.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Collection, Iterator
from typing import Protocol

from robots.data_classes import dataclass, field, replace
from robots.formats.elements import unread
from robots.formats.sdf_words import unclear_words
from robots.formats.xacro.budget import MacroError, Refusal
from robots.formats.xml_tree import MAX_ELEMENTS, Element, FormatError, ImportedError, is_true

MAX_NESTED = 10
"""Files that include one another, one inside the other."""

MODEL = "__model__"
FILES = (".sdf", ".urdf", ".xml", ".world")
"""Endings of files, not of folders of models."""


class IncludedFiles(Protocol):
    """Folders of models that a file may include."""

    def model(self, name: str, near: str) -> str:
        """Return the folder of a model by its name. Raises Refusal."""

    def elements(self, path: str, near: str) -> tuple[str, Element]:
        """Return the name of an included file, and its root. Raises Refusal or MacroError."""

    def is_file(self, path: str, near: str) -> bool:
        """Return whether a file of this name exists."""


@dataclass
class _Inclusion:
    """The files that are read, with their problems and warnings."""

    files: IncludedFiles
    problems: list[FormatError] = field(default_factory=list)
    warnings: list[FormatError] = field(default_factory=list)
    count: int = 0

    def refuse(self, at: Element, got: str, expected: str, hint: str = "") -> None:
        """Add a problem at an `<include>`."""
        self.problems.append(FormatError(at.line, "include", got, expected, hint))


def with_includes(root: Element, path: str, files: IncludedFiles) -> tuple[Element, list[FormatError]]:
    """Return the root of a file that stands at `path` with its includes in their place, and warnings about them.

    Raises ImportedError with all that is wrong with them.
    """
    inclusion = _Inclusion(files)
    whole = _filled(inclusion, root, path, 0)
    if inclusion.problems:
        raise ImportedError(inclusion.problems)
    return whole, inclusion.warnings


def _filled(inclusion: _Inclusion, outer: Element, path: str, depth: int) -> Element:
    """Return an element with the models that it, or models inside it, include."""
    if outer.tag not in ("sdf", "world", "model"):
        return outer
    children: list[Element] = []
    for child in outer.children:
        if child.tag == "include":
            children += _included(inclusion, child, path, depth)
        else:
            children.append(_filled(inclusion, child, path, depth))
    return replace(outer, children=children)


def _included(inclusion: _Inclusion, at: Element, path: str, depth: int) -> list[Element]:
    """Return the elements that replace an include: a model, or with `merge` its parts; none for a wrong include."""
    inclusion.problems += unclear_words(at)
    inclusion.warnings += unread(at, "SDF")
    uri = at.first("uri")
    if uri is None or not uri.text:
        inclusion.refuse(at, "no <uri>", "<uri>, the name of a model or file", "Add it.")
        return []
    if other := next((child for child in at.children if child.tag.startswith("experimental:")), None):
        inclusion.refuse(at, f"<{other.tag}>", "a model without changes", "Write the changed model out.")
        return []
    if depth >= MAX_NESTED:
        inclusion.refuse(at, f"{MAX_NESTED} files that include one another", "fewer")
        return []
    try:
        place, root = _root(inclusion, uri.text, path)
    except Refusal as error:
        inclusion.refuse(at, error.got, error.expected, error.hint)
        return []
    except MacroError as error:
        inclusion.refuse(at, f"{os.path.basename(error.file)}:{error.line}: {error.got}", error.expected, error.hint)
        return []
    models = [*root.all("model")]
    if root.tag != "sdf" or len(models) + sum(1 for _ in root.all("include")) != 1:
        got = f"{uri.text[:120]!a}, a file of <{root.tag}> with {len(models)} models"
        inclusion.refuse(at, got, "an SDF file with one model", "Import a URDF file by itself.")
        return []
    whole = _filled(inclusion, root, place, depth + 1)
    inclusion.count += sum(1 for _ in _all(whole))
    if inclusion.count > MAX_ELEMENTS:
        inclusion.refuse(at, f"more than {MAX_ELEMENTS} elements in included files", "fewer")
        return []
    version = tuple(int(part) for part in re.findall(r"\d+", root.attributes.get("version", "1.6"))[:2])
    model = next(whole.all("model"), None)
    if model is None:  # its own include is wrong, which is reported
        return []
    model = _placed(at, _in_lines(model, at, version < (1, 5)))
    return _parts(model) if is_true(at.attributes.get("merge", "")) else [model]


def _root(inclusion: _Inclusion, uri: str, path: str) -> tuple[str, Element]:
    """Return the name of the file that a URI names, and its root. Raises Refusal or MacroError."""
    files, name = inclusion.files, uri.strip()
    if name.startswith("model://"):
        model, _, inner = name.removeprefix("model://").partition("/")
        name = posixpath.join(files.model(model, path), inner)
    elif "://" in name and not name.startswith("package://"):
        hint = "Bring it beside the file, and name it by model://NAME."
        raise Refusal(f"{name[:160]!a}", "a model on this machine", hint)
    if files.is_file(name, path) or name.endswith(FILES):
        return files.elements(name, path)
    if not files.is_file(posixpath.join(name, "model.config"), path):
        return files.elements(posixpath.join(name, "model.sdf"), path)
    _, manifest = files.elements(posixpath.join(name, "model.config"), path)
    files_named = [(entry.attributes.get("version", "0"), entry.text) for entry in manifest.all("sdf") if entry.text]
    if not files_named:
        raise Refusal(f"{uri[:160]!a}, whose model.config names no SDF file", "<sdf version=...> in it")
    _, newest = max(files_named, key=lambda entry: [int(part) for part in re.findall(r"\d+", entry[0])])
    return files.elements(posixpath.join(name, newest), path)


def _all(element: Element) -> Iterator[Element]:
    yield element
    for child in element.children:
        yield from _all(child)


def _in_lines(element: Element, at: Element, old: bool) -> Element:
    """Return an element in the line of an include; axes of an `old` file keep the frame that they have there."""
    children = [_in_lines(child, at, old) for child in element.children]
    if old and element.tag in ("axis", "axis2") and element.first("use_parent_model_frame") is None:
        children.append(Element("use_parent_model_frame", at.line, at.column, {}, text="1"))
    return replace(element, line=at.line, column=at.column, children=children)


def _placed(at: Element, model: Element) -> Element:
    """Return a model with the name, the pose and the other elements that its include gives it."""
    attributes, replaced_tags = dict(model.attributes), {child.tag for child in at.children}
    if (name := at.first("name")) is not None and name.text:
        attributes["name"] = name.text
    if (frame := at.first("placement_frame")) is not None and frame.text:
        attributes["placement_frame"] = frame.text
    kept = [child for child in model.children if child.tag not in replaced_tags & {"pose", "static"}]
    added = [child for child in at.children if child.tag in ("pose", "static", "plugin")]
    return replace(model, attributes=attributes, children=[*added, *kept])


def _parts(model: Element) -> list[Element]:
    """Return the parts of a merged model for the outer model, with a new frame in place of the model's own frame."""
    name = model.attributes.get("name", "")
    proxy = f"_merged__{name}__model__"
    canonical = model.attributes.get("canonical_link") or next(
        (link.attributes.get("name", "") for link in model.all("link")), ""
    )
    frame = Element("frame", model.line, model.column, {"name": proxy, "attached_to": canonical}, [*model.all("pose")])
    if frame.first("pose") is None:
        frame.children.append(Element("pose", model.line, model.column, {}))
    for pose in frame.children:
        pose.attributes.setdefault("relative_to", MODEL)
    parts = [child for child in model.children if child.tag in ("link", "joint", "frame", "model", "plugin")]
    return [frame, *(_in_frame(part, proxy, ("link", "model", "frame")) for part in parts)]


def _in_frame(element: Element, proxy: str, posed: Collection[str] = ()) -> Element:
    """Return a part of a merged model with the frame of that model by its new name."""
    attributes = {key: proxy if value == MODEL else value for key, value in element.attributes.items()}
    children = [_in_frame(child, proxy) if child.tag != "model" else child for child in element.children]
    if element.tag in posed and not (element.tag == "frame" and attributes.get("attached_to", proxy) != proxy):
        pose = next((child for child in children if child.tag == "pose"), None)
        if pose is None:
            pose = Element("pose", element.line, element.column, {})
            children.append(pose)
        if not (pose.attributes.get("relative_to") or pose.attributes.get("frame")):
            pose.attributes["relative_to"] = proxy
        if element.tag == "frame":
            attributes["attached_to"] = proxy
    text = proxy if element.tag in ("parent", "child") and element.text == MODEL else element.text
    return replace(element, attributes=attributes, children=children, text=text)
