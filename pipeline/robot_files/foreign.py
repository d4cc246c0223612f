"""Models in robot files of other formats: their bytes or root as parsers take them, macros expanded, and warnings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from pipeline.documents.files import decode, read_bytes, read_text
from pipeline.documents.yaml import MAX_BYTES
from pipeline.errors import InputError, Problem, refused
from pipeline.robot_files.packages import PackageFiles
from robots.formats import joint_table, usd
from robots.formats.tree import plain_name
from robots.formats.xacro.budget import MacroError
from robots.formats.xacro.expansion import EXPAND, expand, has_macros
from robots.formats.xml_tree import MAX_BYTES as MAX_XML
from robots.formats.xml_tree import Element, FormatError, ImportedError, parse

TABLE = ".csv"
"""Ending of a table of joints."""

OWN = "A robot file of limbsweep is read with limbsweep.robots.read, and named in sweeps as it is."


def read_model(
    name: str, macros: Mapping[str, str] | bool, files: PackageFiles
) -> tuple[bytes | Element, tuple[Problem, ...]]:
    """Read the bytes of an XML file as a parser can take them, or its root without macros, and warnings.

    A table of joints becomes the root of a model.
    """
    if name.lower().endswith(TABLE):
        return _table(name)
    if name.lower().endswith(usd.ENDINGS):
        return _stage(name)
    if name.lower().endswith((".yaml", ".yml")):
        raise refused(name, "a name of YAML", "a file of URDF, SDF or MJCF, or a table", OWN)
    data, warnings = _xml(read_bytes(name, MAX_XML), name)
    if b"xacro" not in data:
        return data, warnings
    try:
        root = parse(data)
    except FormatError:
        return data, warnings  # the reader of the format reports the error
    if not has_macros(root):
        return data, warnings
    if macros is False:
        raise InputError([Problem(name, root.line, root.column, "", "macros of xacro", "a plain file", EXPAND)])
    root, more = _expanded(root, name, {} if macros is True else macros, files)
    return root, (*warnings, *more)


def _table(name: str) -> tuple[Element, tuple[Problem, ...]]:
    """Return the model of a table of joints, and warnings. Raises InputError."""
    title = plain_name(os.path.splitext(os.path.basename(name))[0])
    try:
        root, warnings = joint_table.model(read_text(name, MAX_BYTES), title)
    except ImportedError as error:
        raise InputError(format_problems(name, error.problems)) from None
    return root, tuple(format_problems(name, tuple(warnings)))


def _stage(name: str) -> tuple[Element, tuple[Problem, ...]]:
    """Return the model of a USD stage, and warnings. Raises InputError."""
    if not os.path.isfile(name):
        read_bytes(name, MAX_XML)  # which names the actual kind of file
    title = plain_name(os.path.splitext(os.path.basename(name))[0])
    try:
        root, warnings = usd.model(name, title)
    except ImportedError as error:
        raise InputError(format_problems(name, error.problems)) from None
    return root, tuple(format_problems(name, tuple(warnings)))


def _expanded(
    root: Element, name: str, arguments: Mapping[str, str], files: PackageFiles
) -> tuple[Element, tuple[Problem, ...]]:
    """Expand the macros of a file, and give its own warnings. Raises InputError."""
    try:
        done = expand(root, name, files, arguments)
    except MacroError as error:
        line = error.line
        raise InputError(
            [Problem(error.file, line, min(line, 1), error.place, error.got, error.expected, error.hint)]
        ) from None
    unknown = [key for key in arguments if key not in done.arguments]
    if unknown:
        rule = f"one of {', '.join(done.arguments)[:300]}" if done.arguments else "none, because the file declares none"
        raise refused(name, f"the argument {unknown[0]!a}", rule)
    if done.macros and done.root.tag == "robot" and done.root.first("link") is None:
        names = ", ".join(done.macros)[:120]
        hint = "Import the file that includes it and calls them."
        raise refused(name, f"a file of macros alone ({names})", "links and joints", hint)
    if done.root.tag not in ("robot", "sdf"):
        raise refused(name, f"macros in <{done.root.tag}>", "them in <robot> or <sdf>")
    rule = "no warning of the file"
    return done.root, tuple(Problem(name, line, min(line, 1), "", text, rule) for line, text in done.warnings)


def _xml(data: bytes, name: str) -> tuple[bytes, tuple[Problem, ...]]:
    """Return the bytes for a parser of XML: a file that is no UTF-8 and states no encoding is read as Latin-1.

    Space before the declaration, and NUL bytes behind the end, are reported and left out; lines stay as they are.
    """
    read, warnings = _trimmed(data, name)
    read, more = _decoded(read, name)
    return read, (*warnings, *more)


def _trimmed(data: bytes, name: str) -> tuple[bytes, tuple[Problem, ...]]:
    warnings: list[Problem] = []
    if data.endswith(b"\0") and b"\0" not in (whole := data.rstrip(b"\0 \r\n\t")):
        got = f"{len(data) - len(whole)} bytes behind the end, NUL among them"
        warnings.append(Problem(name, whole.count(b"\n") + 1, 1, "", got, "the end of the file", "They are left out."))
        data = whole
    if start := re.match(rb"(\s+)(<\?xml[^>]*\?>)", data):
        line = start[1].count(b"\n") + 1
        hint = "It was read as if it stood there."
        warnings.append(Problem(name, line, 1, "", "space before <?xml ...?>", "it at the beginning", hint))
        declaration = start[2].replace(b"\n", b" ")
        data = declaration + start[1].replace(b" ", b"") + data[start.end() :]
    return data, tuple(warnings)


def _decoded(data: bytes, name: str) -> tuple[bytes, tuple[Problem, ...]]:
    try:
        decode(data, name)  # names other formats of binary data
    except InputError as error:
        if not data.lstrip().startswith(b"<") or b"\0" in data:
            raise
        if re.match(rb"\s*<\?xml[^>]*encoding=", data):
            return data, ()
        (problem,) = error.problems
        hint = 'It was read as Latin-1; declare that in the file: <?xml version="1.0" encoding="ISO-8859-1"?>.'
        return data.decode("latin-1").encode(), (replace(problem, hint=hint),)
    return data, ()


def root_of_urdf(data: bytes | Element, name: str) -> Element:
    """Return the root of a URDF file. Raises InputError."""
    try:
        root = data if isinstance(data, Element) else parse(data)
    except FormatError as error:
        raise InputError(format_problems(name, (error,))) from None
    if root.tag != "robot":
        raise InputError([Problem(name, root.line, 1, "", f"<{root.tag}>", "<robot>, whose frames come in pairs")])
    return root


def format_problems(name: str, errors: tuple[FormatError, ...]) -> Iterator[Problem]:
    """Yield the problems of a format as those of a file."""
    for error in errors:
        yield Problem(name, error.line, min(error.line, 1), error.place, error.got, error.expected, error.hint)
