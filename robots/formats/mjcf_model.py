"""A compiled model of MuJoCo from a file: all that the file names is looked at first, then a child process compiles it.

Included files go through our own parser of XML: no document types, bounded depth, size and count, copies by `replicate`
counted. Files of meshes, height fields and textures have to be regular, of bounded size, below the folders that the
caller allows. The child has bounds of time and memory and can write nothing; what it gives back is the compiled model.
"""

from __future__ import annotations

import importlib.util
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from robots.extras import how_to_install
from robots.formats.xacro.budget import Refusal
from robots.formats.xml_tree import MAX_BYTES, MAX_ELEMENTS, Element, FormatError, parse

MAX_DEPTH = 256
"""Levels of elements: bodies stand inside their parents."""

MAX_NESTED = 50
"""Files that include one another, one inside the other."""

MAX_FILES = 2000
MAX_READ = 256 << 20
"""Files that a model names, and bytes of all of them."""

SECONDS = 10
"""Time of a compilation [s]. The largest model of Menagerie takes 2."""

MEMORY = 2 << 30
"""Addresses of the child [bytes]; what it touches is less."""

MAX_MODEL = 512 << 20
"""Bytes of a compiled model."""

_CHILD = Path(__file__).with_name("mjcf_child.py")
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MALLOC_ARENA_MAX"), "1")
"""Threads and their arenas take addresses, which are bounded."""

_FOLDERS = ("assetdir", "meshdir", "texturedir")


class ModelFiles(Protocol):
    """Folders that a file may read from."""

    def inside(self, name: str) -> str:
        """Return a name that leads into them. Raises Refusal for others."""

    def content(self, name: str, limit: int) -> bytes:
        """Read a file of them, opened once. Raises Refusal."""


@dataclass
class _Named:
    """Files, folders and number of elements found in the files of a model."""

    files: ModelFiles
    base: str
    folders: list[str] = field(default_factory=list)
    within: list[str] = field(default_factory=list)
    """Folders of the included files and models that are being read, from the outside in."""
    named: list[tuple[int, str, tuple[str, ...]]] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    elements: int = 0
    read: int = 0

    def walk(self, element: Element, copies: int = 1) -> None:
        """Count an element and those inside, as often as they are copied; note files, and read included ones."""
        self.elements += copies
        if self.elements > MAX_ELEMENTS:
            got = f"more than {MAX_ELEMENTS} elements, with those that replicate copies"
            raise FormatError(element.line, element.tag, got, "a smaller model")
        if element.tag == "compiler":
            self.folders += [element.attributes[key] for key in _FOLDERS if key in element.attributes]
        names = [text for key, text in element.attributes.items() if key.startswith("file") and text]
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
        """Read an included file, or another model, once."""
        if len(self.within) >= MAX_NESTED:
            got = f"{name[:80]!a}, inside of {MAX_NESTED} files that include one another"
            raise FormatError(element.line, element.tag, got, f"at most {MAX_NESTED} levels")
        for place in [*self.places(name, self.within)]:
            if not os.path.lexists(place) or os.path.realpath(place) in self.seen:
                continue
            self.seen.add(os.path.realpath(place))
            size = self.check(element.line, place)
            if size > MAX_BYTES:
                raise FormatError(element.line, element.tag, f"{name[:80]!a} of {size} bytes", f"at most {MAX_BYTES}")
            try:
                root = parse(self.files.content(place, MAX_BYTES), MAX_DEPTH)
            except Refusal as error:
                raise FormatError(element.line, element.tag, error.got, error.expected, error.hint) from None
            except FormatError as error:
                where = f"{name[:80]} line {error.line}"
                raise FormatError(element.line, where, error.got, error.expected, error.hint) from None
            self.within.append(os.path.dirname(place))
            self.walk(root)
            self.within.pop()

    def places(self, name: str, within: Sequence[str]) -> Iterator[str]:
        """Yield where a file may be: below the model or files around it, there or in folders that the compiler has."""
        for base in dict.fromkeys((self.base, *within)):
            for folder in ("", *dict.fromkeys(self.folders)):
                for inner in dict.fromkeys((name, os.path.basename(name))):
                    yield os.path.join(base, folder, inner)

    def check(self, line: int, place: str) -> int:
        """Return the size of a file. Raises FormatError unless it is regular, inside, and all are small enough."""
        try:
            found = os.stat(self.files.inside(place))
        except Refusal as error:
            raise FormatError(line, "", error.got, error.expected, error.hint) from None
        except (OSError, ValueError):
            raise FormatError(line, "", f"{place[:160]!a}, which cannot be read", "a readable file") from None
        if not stat.S_ISREG(found.st_mode):
            raise FormatError(line, "", f"{place[:160]!a}, a folder, device, pipe or socket", "a regular file")
        self.read += found.st_size
        if self.read > MAX_READ or len(self.seen) > MAX_FILES:
            raise FormatError(line, "", "too many or too large files", f"{MAX_FILES}, {MAX_READ >> 20} MiB in all")
        return found.st_size

    def check_named(self) -> None:
        """Look at meshes, textures and the like wherever they may be."""
        for line, name, within in self.named:
            for place in self.places(name, within):
                if os.path.lexists(place) and place not in self.seen:
                    self.seen.add(place)
                    self.check(line, place)
                elif os.path.isabs(name) or os.pardir in name.replace("\\", "/").split("/"):
                    self.outside(line, place)

    def outside(self, line: int, place: str) -> None:
        """Refuse a name that leads outside, also to what is not there."""
        try:
            self.files.inside(place)
        except Refusal as error:
            raise FormatError(line, "", error.got, error.expected, error.hint) from None


def load(path: str, files: ModelFiles, data: bytes) -> tuple[Element, Any, ModuleType]:
    """Return the root of a model at a path, the compiled model, and the module of MuJoCo. Raises FormatError."""
    root = parse(data, MAX_DEPTH)
    named = _Named(files, os.path.dirname(os.path.abspath(path)))
    named.walk(root)
    named.check_named()
    if importlib.util.find_spec("mujoco") is None:
        raise FormatError(0, "", "a model of MuJoCo", "the package mujoco, which compiles it", how_to_install("mujoco"))
    compiled = _compiled(path)
    import mujoco  # slow, and asks the system for libraries of windows: after what is refused

    return root, mujoco.MjModel.from_binary_path("model.mjb", {"model.mjb": compiled}), mujoco


def _compiled(path: str) -> bytes:
    """Return the compiled model at a path, from the child process."""
    command = [sys.executable, "-P", str(_CHILD), os.path.abspath(path), str(SECONDS), str(MEMORY)]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
            env=os.environ | _ONE_THREAD,
        )
    except subprocess.TimeoutExpired:
        raise _too_much(f"a model that takes more than {SECONDS} s") from None
    answer = done.stdout
    if done.returncode or not answer:
        raise _too_much(f"a model that takes more than {SECONDS} s or {MEMORY >> 30} GiB, or ends MuJoCo")
    if answer[:1] == b"M" and len(answer) < MAX_MODEL:
        return answer[1:]
    output = answer[1:].decode("utf-8", "replace") if answer[:1] == b"E" else f"{len(answer)} bytes, which is too much"
    raise _refused(output)


def _too_much(got: str) -> FormatError:
    return FormatError(0, "", got, "one that MuJoCo compiles within these", "Take meshes, and copies of bodies, out.")


def _refused(output: str) -> FormatError:
    """Return what MuJoCo says as an error, at its line where it names one."""
    line = re.search(r"line (\d{1,9})", output)
    got = f"a model that MuJoCo does not compile ({output[:160]})"
    hint = "Files that it names, such as meshes, have to be where it says."
    return FormatError(int(line[1]) if line else 0, "", got, "a model that it does", hint)
