"""Files that a robot file may name: below its folder, below its package, or below packages by name.

The package of a file is the nearest folder above it with a `package.xml`. `$(find NAME)` is a package that the user
names, one above the file, or one beside it whose `package.xml` has that name. Paths that lead out of these folders, by
`..` or by a link, are refused; so is everything but regular files of bounded size.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from itertools import islice

from pipeline.documents.files import decode, open_regular, read_bytes
from pipeline.documents.scalars import Scalar, ScalarError
from pipeline.documents.yaml import MAX_BYTES, Dialect, parse_yaml
from pipeline.errors import InputError
from robots.formats.xacro.budget import Budget, MacroError, Refusal
from robots.formats.xacro.expressions import MATH, Value, evaluate
from robots.formats.xml_tree import MAX_BYTES as MAX_XML
from robots.formats.xml_tree import Element, FormatError, parse

MAX_LEVELS = 5
"""Folders above a file in which packages are looked for."""

MAX_PACKAGE = 1 << 16
MAX_READ = 32 << 20
"""Bytes of all files of an expansion."""

Packages = Mapping[str, str | os.PathLike[str]]
"""Folders of packages by name."""

NO_PACKAGES: Packages = {}
_UNITS = {
    "!radians": 1.0,
    "!degrees": math.pi / 180.0,
    "!meters": 1.0,
    "!millimeters": 0.001,
    "!foot": 0.3048,
    "!inches": 0.0254,
}
"""Tags of xacro, in rad and m."""


class PackageFiles:
    """The files that one robot file may name, also those of its macros and of models of MuJoCo."""

    def __init__(self, main: str, packages: Packages) -> None:
        self.named = {name: os.path.abspath(os.fspath(folder)) for name, folder in packages.items()}
        for name, folder in self.named.items():
            if not os.path.isdir(folder):
                raise Refusal(f"{folder}, the folder of package {name}", "a folder that is there", "Check --package.")
        self.read = 0
        self.roots = [os.path.realpath(_package_of(main) or os.path.dirname(os.path.abspath(main)))]
        self.roots += map(os.path.realpath, self.named.values())

    def package(self, name: str, near: str) -> str:
        """Return the folder of a package, whose files may be read from now on."""
        folder = self.named.get(name) or _found(name, near)
        hint = f"Say where it is: --package {name[:60]}=FOLDER."
        if folder is None:
            raise Refusal(f"package {name[:60]!a}", "one with its package.xml above or beside the file", hint)
        if name not in self.named and os.path.islink(folder):
            raise Refusal(f"package {name[:60]!a}, which is a link to another folder", "the folder itself", hint)
        root = os.path.realpath(folder)
        if root not in self.roots:
            self.roots.append(root)
        return folder

    def model(self, name: str, near: str) -> str:
        """Return the folder of a model of Gazebo by its name, whose files may be read from now on."""
        places = (os.path.join(folder, name) for folder in _above(near) if name.isprintable() and os.sep not in name)
        folder = self.named.get(name) or next((place for place in places if _has_model(place)), None)
        if folder is None or (name not in self.named and os.path.islink(folder)):
            hint = f"Say where it is: --package {name[:60]}=FOLDER."
            raise Refusal(f"model {name[:60]!a}", "a folder with its model.config above or beside the file", hint)
        if (root := os.path.realpath(folder)) not in self.roots:
            self.roots.append(root)
        return folder

    def is_file(self, path: str, near: str) -> bool:
        """Return whether a name inside the folders is that of a regular file."""
        return os.path.isfile(self._place(path, near))

    def elements(self, path: str, near: str) -> tuple[str, Element]:
        """Return the name of an included file, and its root."""
        name = self._place(path, near)
        try:
            return name, parse(self._bytes(name, MAX_XML))
        except FormatError as error:
            raise MacroError(name, error.line, error.place, error.got, error.expected, error.hint) from None

    def mapping(self, path: str, near: str) -> Mapping[str, Value]:
        """Return the content of a YAML file."""
        name = self._place(path, near)
        data = self._bytes(name, MAX_BYTES)
        try:
            return parse_yaml(decode(data, name), name, _DIALECT).data
        except InputError as error:
            raise _refusal(error) from None

    def _place(self, path: str, near: str) -> str:
        """Return the path of a file of macros. Raises Refusal for one outside the folders."""
        if not isinstance(path, str) or "\0" in path or any(letter in path for letter in "*?["):
            raise Refusal(f"the file {str(path)[:60]!a}", "the name of one file")
        if path.startswith("package://"):
            package, _, rest = path.removeprefix("package://").partition("/")
            path = os.path.join(self.package(package, near), rest)
        return self.inside(os.path.join(os.path.dirname(near), path))

    def inside(self, name: str) -> str:
        """Return a name that leads into the folders. Raises Refusal for others."""
        whole = os.path.realpath(name)
        if not any(os.path.commonpath([whole, root]) == root for root in self.roots):
            hint = "Say which folder it may be in: --package NAME=FOLDER; macros name it by $(find NAME)."
            raise Refusal(f"{name[:160]!a}, outside of the folder of the file and its packages", "one inside", hint)
        return name

    def content(self, name: str, limit: int) -> bytes:
        """Read a file of the folders, which is opened once.

        Raises Refusal for one outside, and where its name leads to another file by the time that it is open.
        """
        self.inside(name)
        try:
            with open_regular(name, limit) as file:
                whole = self.inside(os.path.realpath(name))
                if not os.path.samestat(os.fstat(file.fileno()), os.lstat(whole)):
                    raise Refusal(f"{name[:160]!a}, which changed while it was read", "a file that stays as it is")
                return file.read(limit)
        except OSError as error:
            raise Refusal(f"{name[:160]!a}, which cannot be read ({error.strerror})", "a readable file") from None
        except InputError as error:
            raise _refusal(error) from None

    def _bytes(self, name: str, limit: int) -> bytes:
        data = self.content(name, limit)
        self._count(len(data))
        return data

    def _count(self, size: int) -> None:
        self.read += size
        if self.read > MAX_READ:
            raise Refusal(f"more than {MAX_READ >> 20} MiB in included files", "less")


def _refusal(error: InputError) -> Refusal:
    problem = error.problems[0]
    where = f"{problem.file}:{problem.line}: {problem.key}".rstrip(": 0") if problem.line else problem.file
    return Refusal(f"{where}: {problem.got}", problem.expected, problem.hint)


def _above(file: str) -> list[str]:
    """Return the folders above a file, the nearest first."""
    folder, result = os.path.dirname(os.path.abspath(file)), list[str]()
    while folder not in result:
        result.append(folder)
        folder = os.path.dirname(folder)
    return [*islice(result, MAX_LEVELS)]


def _has_model(folder: str) -> bool:
    """Return whether a folder has a model of Gazebo."""
    names = ("model.config", "model.sdf")
    return os.path.basename(folder) not in ("", os.curdir, os.pardir) and any(
        os.path.isfile(os.path.join(folder, name)) for name in names
    )


def _package_of(file: str) -> str | None:
    return next((folder for folder in _above(file) if _name(folder) is not None), None)


def _found(name: str, near: str) -> str | None:
    """Return the folder of a package above or beside a file, whose package.xml has its name."""
    if not name or os.sep in name or name in (os.curdir, os.pardir) or not name.isprintable():
        return None
    for folder in _above(near):
        for place in (folder, os.path.join(folder, name)):
            if _name(place) == name:
                return place
    return None


def _name(folder: str) -> str | None:
    """Return the name in the package.xml of a folder; None without a sound one."""
    try:
        root = parse(read_bytes(os.path.join(folder, "package.xml"), MAX_PACKAGE))
    except (InputError, FormatError):
        return None
    name = root.first("name")
    return name.text if root.tag == "package" and name is not None else None


def _in(factor: float) -> Callable[[str], Scalar]:
    """Return the reader of a number, or an expression for one, in a unit."""

    def read(text: str) -> Scalar:
        try:
            number = evaluate(text, lambda name: MATH[name], Budget())
            return float(number) * factor
        except (Refusal, TypeError, ValueError):
            raise ScalarError("a number", "Units of xacro stand before numbers.") from None

    return read


_DIALECT = Dialect({tag: _in(factor) for tag, factor in _UNITS.items()}, anchors=True, repeats=True)
