"""Files of a model of MuJoCo, copied into a private folder: each is opened once, by us, and MuJoCo reads the copies.

Included files go through our own parser of XML: no document types, bounded depth, size and count, copies by `replicate`
counted. Files of meshes, height fields and textures have to be regular, of bounded size, below the folders that the
caller allows. The private folder has the same tree of folders as the root of the file system. So MuJoCo resolves names
by its own rules and finds only the copies, even if a file is exchanged after the copy.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Protocol

from robots.data_classes import dataclass, field
from robots.formats.xacro.budget import Refusal
from robots.formats.xml_tree import MAX_BYTES, MAX_ELEMENTS, Element, FormatError, parse

MAX_DEPTH = 256
"""Levels of elements: bodies stand inside their parents."""

MAX_NESTED = 50
"""Files that include one another, one inside the other."""

MAX_FILES = 2000
MAX_READ = 256 << 20
"""Files that a model names, and bytes of all of them."""

MAX_PLACES = 20_000
"""Places at which all names are looked for."""

_FOLDERS = ("assetdir", "meshdir", "texturedir")


class ModelFiles(Protocol):
    """Folders that a file may read from."""

    def inside(self, name: str) -> str:
        """Return the name of a file inside the folders of the model. Raises Refusal for other files."""

    def content(self, name: str, limit: int) -> bytes:
        """Read a file of them, opened once. Raises Refusal."""


@dataclass
class CopiedModel:
    """Copies of the files of one model in a private folder, while they are found and read."""

    files: ModelFiles
    base: str
    """Folder of the model."""
    private: str
    folders: list[str] = field(default_factory=list)
    within: list[str] = field(default_factory=list)
    """Folders of the included files and models that are being read, from the outside in."""
    named: list[tuple[int, str, tuple[str, ...]]] = field(default_factory=list)
    copied: set[str] = field(default_factory=set)
    elements: int = 0
    read: int = 0
    looked: int = 0

    def add(self, path: str, data: bytes) -> Element:
        """Copy a model and all files that it names; returns its root. Raises FormatError."""
        root = parse(data, MAX_DEPTH)
        self.write(0, path, data)
        self.walk(root)
        for line, name, within in self.named:
            for place in self.present(line, name, within):
                self.copy(line, place, MAX_READ)
        return root

    def walk(self, element: Element, copies: int = 1) -> None:
        """Count an element and those inside, as often as they are copied; note files, and read included ones."""
        self.elements += copies
        if self.elements > MAX_ELEMENTS:
            got = f"more than {MAX_ELEMENTS} elements, with the copies by replicate"
            raise FormatError(element.line, element.tag, got, "a smaller model")
        if element.tag == "compiler":
            folders = [element.attributes[key] for key in _FOLDERS if key in element.attributes]
            self.folders += [self.relative(element.line, folder) for folder in folders]
        names = [text for key, text in element.attributes.items() if key.startswith("file") and text]
        names = [self.relative(element.line, name) for name in names]
        if element.tag in ("include", "model", "mujocoinclude"):
            for name in names:
                self.include(element, name)
        else:
            self.named += [(element.line, name, tuple(self.within)) for name in names]
        count = element.attributes.get("count", "1") if element.tag == "replicate" else "1"
        number = int(count) if count.isdecimal() and len(count) < 9 else MAX_ELEMENTS
        inner = copies * (number if count.isdecimal() else 1)
        for child in element.children:
            self.walk(child, inner)

    def include(self, element: Element, name: str) -> None:
        """Copy and read an included file, or another model, once."""
        if len(self.within) >= MAX_NESTED:
            got = f"{name[:80]!a}, inside of {MAX_NESTED} files that include one another"
            raise FormatError(element.line, element.tag, got, f"at most {MAX_NESTED} levels")
        for place in self.present(element.line, name, self.within):
            data = self.copy(element.line, place, MAX_BYTES)
            if data is None:
                continue
            try:
                root = parse(data, MAX_DEPTH)
            except FormatError as error:
                where = f"{name[:80]} line {error.line}"
                raise FormatError(element.line, where, error.got, error.expected, error.hint) from None
            self.within.append(os.path.dirname(place))
            self.walk(root)
            self.within.pop()

    def present(self, line: int, name: str, within: Sequence[str]) -> list[str]:
        """Return the places inside at which a file is. Raises FormatError where it is outside alone."""
        found, outside = list[str](), None
        for place in self.places(line, name, within):
            is_present = os.path.lexists(place)
            try:
                self.files.inside(place)
            except Refusal as error:
                outside = outside or (error if is_present or os.pardir in name.split("/") else None)
                continue
            if is_present:
                found.append(place)
        if outside is not None and not found:
            raise FormatError(line, "", outside.got, outside.expected, outside.hint)
        return found

    def places(self, line: int, name: str, within: Sequence[str]) -> Iterator[str]:
        """Yield where a file may be: below the model or files around it, there or in folders that the compiler has."""
        for base in dict.fromkeys((self.base, *within)):
            for folder in ("", *dict.fromkeys(self.folders)):
                for inner in dict.fromkeys((name, os.path.basename(name))):
                    place = os.path.join(base, folder, inner)
                    self.looked += 1
                    if self.looked > MAX_PLACES:
                        raise FormatError(line, "", "too many names and folders", f"{MAX_PLACES} places of files")
                    if _climbs_above_root(place):
                        raise FormatError(line, "", f"{place[:160]!a}", "a name with fewer '..'")
                    yield os.path.normpath(place)

    def relative(self, line: int, name: str) -> str:
        """Return a name with the slashes of MuJoCo. Raises FormatError for a whole path, which no copy is at."""
        name = name.replace("\\", "/")
        if not name.startswith("/") and not os.path.isabs(name):
            return name
        try:
            self.files.inside(name)
        except Refusal as error:
            raise FormatError(line, "", error.got, error.expected, error.hint) from None
        hint = f"Write it as it is seen from {self.base[:160]!a}."
        raise FormatError(line, "", f"{name[:160]!a}, a whole path", "a name relative to the folder of the model", hint)

    def copy(self, line: int, place: str, limit: int) -> bytes | None:
        """Copy a file of at most `limit` bytes and return its content; None if it was copied before."""
        if place in self.copied:
            return None
        try:
            data = self.files.content(place, limit)
        except Refusal as error:
            raise FormatError(line, "", error.got, error.expected, error.hint) from None
        self.write(line, place, data)
        return data

    def write(self, line: int, place: str, data: bytes) -> None:
        """Write the copy of a file. Raises FormatError where it cannot be, or all of them are too much."""
        self.copied.add(place)
        self.read += len(data)
        if self.read > MAX_READ or len(self.copied) > MAX_FILES:
            raise FormatError(line, "", "too many or too large files", f"{MAX_FILES}, {MAX_READ >> 20} MiB in all")
        target = self.target(place)
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "xb") as file:
                file.write(data)
        except OSError as error:
            got = f"{place[:160]!a}, which cannot be copied ({error.strerror})"
            raise FormatError(line, "", got, f"space and a shorter path below {self.private}") from None

    def target(self, place: str) -> str:
        """Return where the copy of a file is."""
        return os.path.join(self.private, os.path.splitdrive(place)[1].lstrip("/\\"))


def _climbs_above_root(path: str) -> bool:
    """Return whether `..` lead above the root of the file system: below the private folder they would lead out."""
    depth = 0
    for part in os.path.splitdrive(path)[1].replace("\\", "/").split("/"):
        depth += 0 if part in ("", os.curdir) else -1 if part == os.pardir else 1
        if depth < 0:
            return True
    return False
