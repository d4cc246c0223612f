"""Import robots from URDF, SDF and MJCF files and tables of joints; write robots of a user into robot files.

Loops that these formats cannot express come from another file.
"""

from __future__ import annotations

import io
import json
import os
import re
import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from ruamel.yaml import YAML

from pipeline.documents.files import decode, read_bytes, read_text
from pipeline.documents.outputs import write_text
from pipeline.documents.report import Got, Report
from pipeline.documents.validation import validate_keys
from pipeline.documents.yaml import MAX_BYTES, parse_yaml
from pipeline.errors import InputError, Problem, refused
from pipeline.robot_files.frame_pairs import (
    PairedLoops,
    is_paired,
    likely_pairs,
    paired_loops,
    remedy,
    suggestion,
)
from pipeline.robot_files.packages import NO_PACKAGES, PackageFiles, Packages
from pipeline.robot_files.rated import ratings
from pipeline.robot_files.reader import parse_robot, require_format
from pipeline.robot_files.reader import read_robot as read
from pipeline.robot_files.sections import ClosureSection, LoopsFile
from pipeline.robot_files.values import ValueReader
from robots.arguments import check_arguments
from robots.formats import checks, description, exporting, joint_table, mjcf, sdf, urdf, usd, writing
from robots.formats.closing import ClosingJoint
from robots.formats.description import CONSTANTS, Description, fill
from robots.formats.nearly_closed import GAP, TURN, Apart, NearlyClosed, nearly_closed
from robots.formats.nearly_moving import nearly_moving
from robots.formats.parametric import with_parameters
from robots.formats.tree import Base, Inertias, Tree, plain_name
from robots.formats.xacro.budget import MacroError, Refusal
from robots.formats.xacro.expansion import EXPAND, expand, has_macros
from robots.formats.xml_tree import MAX_BYTES as MAX_XML
from robots.formats.xml_tree import Element, FormatError, ImportedError, parse, root_tag
from robots.model import Robot

TABLE = ".csv"
"""Ending of a table of joints."""
OWN = "A robot file of limbsweep is read with limbsweep.robots.read, and named in sweeps as it is."


@dataclass(frozen=True)
class ImportedRobot:
    """An imported robot, the text of its robot file, and warnings about elements that were not imported."""

    description: Description
    text: str
    warnings: tuple[Problem, ...]


def import_robot(
    path: str | os.PathLike[str],
    loops: str | os.PathLike[str] | None = None,
    *,
    base: Base = "fixed",
    repair: bool = True,
    parameters: bool = True,
    macros: Mapping[str, str] | bool = False,
    packages: Packages = NO_PACKAGES,
    leave_out: Collection[str] = (),
) -> ImportedRobot:
    """Import the robot of a URDF, SDF or MJCF file or a table of joints, with loops in another file.

    Raises InputError with all problems. The root link stands still, or floats as a `base` of six joints. Inertias
    that no body has become the nearest ones that one has, which is told, or without `repair` are refused. With
    `parameters`, masses, offsets, sizes, gears and ratios can be swept; else all are numbers. Macros are refused, or
    expanded, by the arguments in `macros` or, if true, by none. The file may name others below its folder, its
    package, and the folders of `packages`. What changes dynamics and cannot be said is refused, but for the kinds
    (`robots.formats.effects.KINDS`) that `leave_out` names.
    """
    name = os.fspath(path)
    files = _files(name, packages)
    data, warnings = _read(name, macros, files)
    report = None if loops is None else _document(os.fspath(loops))
    pairs = _pairs(report)
    tree = _tree(data, name, pairs, base, "repaired" if repair else "checked", files, leave_out)
    if pairs is not None:
        description, more = _paired(tree, pairs)
        warnings = (*warnings, *pairs.unknown_joints(_root(data, name)), *more)
    else:
        description, more = assembled(tree, name) if report is None else (_closed(tree, report), ())
        warnings = (*warnings, *more, *(_likely_loops(tree, name) if report is None else ()))
    if parameters:
        description = with_parameters(description, tree.gears)
    text = writing.text(description, f"Imported from {os.path.basename(os.fspath(path))}.")
    from pipeline.robot_files.solvable import stuck

    whole = _read_back(text, name)
    return ImportedRobot(whole, text, (*warnings, *_problems(name, tree.warnings), *stuck(whole, name)))


def tree_of(
    path: str | os.PathLike[str],
    base: Base = "fixed",
    inertias: Inertias = "checked",
    macros: Mapping[str, str] | bool = False,
    packages: Packages = NO_PACKAGES,
    leave_out: Collection[str] = (),
    pairs: str | os.PathLike[str] | None = None,
) -> Tree:
    """Return the tree of joints and bodies of a URDF, SDF or MJCF file. Raises InputError with all problems.

    pairs: a file of frames in pairs, whose loops and motors the tree has then.
    """
    name = os.fspath(path)
    files, report = _files(name, packages), None if pairs is None else _document(os.fspath(pairs))
    return _tree(_read(name, macros, files)[0], name, _pairs(report), base, inertias, files, leave_out)


def _pairs(report: Report | None) -> PairedLoops | None:
    """Return the frames in pairs of a file of loops; None for one with loops of our own."""
    return None if report is None or not is_paired([*report.document.data]) else paired_loops(report)


def _tree(
    data: bytes | Element,
    name: str,
    pairs: PairedLoops | None,
    base: Base,
    inertias: Inertias,
    files: PackageFiles,
    leave_out: Collection[str],
) -> Tree:
    """Parse a file, with the loops and motors of frames in pairs where there are any. Raises InputError."""
    if pairs is None:
        return parse_tree(data, name, base, inertias, files, leave_out)
    root = pairs.retyped(_root(data, name))
    tree = parse_tree(root, name, base, inertias, files, leave_out)
    loops = (*tree.loops, *pairs.loops(tree, root))
    return replace(tree, loops=loops, driven=pairs.motors(tree, root) or None)


def _files(name: str, packages: Packages) -> PackageFiles:
    """Return the files that a robot file may name. Raises InputError for packages that are not there."""
    try:
        return PackageFiles(name, packages)
    except Refusal as error:
        raise refused(name, error.got, error.expected, error.hint) from None


def _read(
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
        return data, warnings  # whose reader says so
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
        raise InputError(_problems(name, error.problems)) from None
    return root, tuple(_problems(name, tuple(warnings)))


def _stage(name: str) -> tuple[Element, tuple[Problem, ...]]:
    """Return the model of a USD stage, and warnings. Raises InputError."""
    if not os.path.isfile(name):
        read_bytes(name, MAX_XML)  # which says what it is instead
    title = plain_name(os.path.splitext(os.path.basename(name))[0])
    try:
        root, warnings = usd.model(name, title)
    except ImportedError as error:
        raise InputError(_problems(name, error.problems)) from None
    return root, tuple(_problems(name, tuple(warnings)))


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


def parse_tree(
    data: bytes | Element,
    name: str,
    base: Base = "fixed",
    inertias: Inertias = "checked",
    files: PackageFiles | None = None,
    leave_out: Collection[str] = (),
) -> Tree:
    """Parse a URDF or SDF file, its bytes or root, or a model of MuJoCo that stands at `name`.

    Messages call it by this name; a model may name `files`. Raises InputError with all problems.
    """
    tag = data.tag if isinstance(data, Element) else root_tag(data)
    try:
        if tag == "mujoco" and isinstance(data, bytes):
            return mjcf.read_tree(data, name, files or PackageFiles(name, {}), base, inertias, leave_out)
        if tag == "sdf":
            return sdf.read_tree(data, base, inertias, leave_out, name, files or PackageFiles(name, {}))
        return urdf.read_tree(data, base, inertias, leave_out)
    except ImportedError as error:
        raise InputError(_problems(name, error.problems)) from None


def _xml(data: bytes, name: str) -> tuple[bytes, tuple[Problem, ...]]:
    """Return the bytes for a parser of XML: a file that is no UTF-8 and states no encoding is read as Latin-1.

    Space before the declaration, and NUL bytes behind the end, are told and left out; lines stay as they are.
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
        decode(data, name)  # says what else binary data may be
    except InputError as error:
        if not data.lstrip().startswith(b"<") or b"\0" in data:
            raise
        if re.match(rb"\s*<\?xml[^>]*encoding=", data):
            return data, ()
        (problem,) = error.problems
        hint = 'It was read as Latin-1; say so in the file: <?xml version="1.0" encoding="ISO-8859-1"?>.'
        return data.decode("latin-1").encode(), (replace(problem, hint=hint),)
    return data, ()


def assembled(tree: Tree, name: str) -> tuple[Description, tuple[Problem, ...]]:
    """Return the robot of a tree whose file has its own loops, closed numerically where open, and warnings.

    Raises InputError.
    """
    description = tree.description()
    if not tree.loops:
        return description, ()
    if not list(checks.check_loops(description.family.reference)):
        return _moving(tree, description, name)
    description = tree.description(reference={})
    if not list(checks.check_loops(description.family.reference)):
        return _moving(tree, description, name)
    near = nearly_closed(tree)
    if (moved := _moved_together(near, name)) is not None:
        return moved
    hint = f"{_apart(near)} Check the frames of the loop, and lengths."
    rule = "frames that meet"
    raise refused(name, _gap(near.widest), rule, hint, key=f"loop {near.widest.joint}")


def _moved_together(near: NearlyClosed, name: str) -> tuple[Description, tuple[Problem, ...]] | None:
    """Return the robot whose loops meet as their frames are moved a little, and a warning for each; None for more."""
    if not near.is_small:
        return None
    description = near.tree.description(reference=near.reference)
    if list(checks.check_loops(description.family.reference)):
        return None
    hint = "The second frame is moved so that they meet."
    wide = [entry for entry in near.apart if entry.gap > checks.GAP or entry.turn > checks.GAP]
    told = [Problem(name, 0, 0, f"loop {entry.joint}", _gap(entry), "frames that meet", hint) for entry in wide]
    description, more = _moving(near.tree, description, name)
    return description, (*told, *more)


def _moving(tree: Tree, description: Description, name: str) -> tuple[Description, tuple[Problem, ...]]:
    """Return the robot of a tree whose loops are closed, so that they move without gaps, and what that changed."""
    reference = dict(description.reference[0][1]) if description.reference else {}
    near = nearly_moving(tree, np.array([float(reference.get(joint, 0.0)) for joint in tree.joints]))
    if near is None:
        return description, ()
    if not near.joints:
        got = f"loops that move by gaps alone, of up to {near.gap:.2g} m, which no change of frames takes"
        hint = "Samples beside the reference pose may be LOOP_OPEN. Axes may not be as parallel as they are meant."
        return description, (Problem(name, 0, 0, "", got, "loops that move without gaps", hint),)
    got = f"bars with which loops move by gaps alone, of up to {near.gap:.2g} m ({', '.join(near.joints)[:120]})"
    hint = f"Frames of these joints are moved, by at most {near.shift:.2g} m and {near.turn:.2g} rad, so that they do."
    told = Problem(name, 0, 0, "", got, "loops that move without gaps", hint)
    return near.tree.description(reference=reference), (told,)


def _gap(loop: Apart) -> str:
    parts = [f"a gap of {loop.gap:.3g} m"] if loop.gap > checks.GAP else []
    parts += [f"a turn of {loop.turn:.3g} rad"] if loop.turn > checks.GAP else []
    return f"{' and '.join(parts)} that no positions of joints close"


def _apart(near: NearlyClosed) -> str:
    """Return the bounds above which frames are not moved."""
    return f"Frames are moved together where all gaps are below {GAP * near.size:.2g} m and turns below {TURN:g} rad."


def _read_back(text: str, name: str) -> Description:
    """Read the robot file that was made. Raises InputError at the imported file, whose lines are its own."""
    try:
        return parse_robot(text, name)
    except InputError as error:
        raise InputError(replace(entry, line=0, column=0) for entry in error.problems) from None


def _problems(name: str, errors: tuple[FormatError, ...]) -> Iterator[Problem]:
    for error in errors:
        yield Problem(name, error.line, min(error.line, 1), error.place, error.got, error.expected, error.hint)


def _document(name: str) -> Report:
    """Return the report of a file of loops. Raises InputError for one that cannot be read."""
    return Report(parse_yaml(read_text(name, MAX_BYTES), name))


def _root(data: bytes | Element, name: str) -> Element:
    """Return the root of a URDF file. Raises InputError."""
    try:
        root = data if isinstance(data, Element) else parse(data)
    except FormatError as error:
        raise InputError(_problems(name, (error,))) from None
    if root.tag != "robot":
        raise InputError([Problem(name, root.line, 1, "", f"<{root.tag}>", "<robot>, whose frames come in pairs")])
    return root


def _paired(tree: Tree, pairs: PairedLoops) -> tuple[Description, tuple[Problem, ...]]:
    """Close the loops of a tree between pairs of frames; also what is told of its motors. Raises InputError."""
    description, before = tree.description(reference={}), len(tree.loops) - len(pairs.file.closed_loop)
    open_loops = list(checks.check_loops(description.family.reference))
    more = tuple[Problem, ...]()
    if open_loops and (moved := _moved_together(nearly_closed(tree), pairs.report.document.name)) is not None:
        (description, more), open_loops = moved, []
    elif not open_loops:
        description, more = _moving(tree, description, pairs.report.document.name)
    hint = f"No positions were found that close all loops.{remedy(tree, pairs) if open_loops else ''}"
    for finding in open_loops:
        pairs.report(("closed_loop", max(0, int(finding.path[3]) - before)), Got(finding.got), finding.expected, hint)
    pairs.report.raise_if_any()
    return description, (*more, *_motors_told(pairs.report, description, tree.driven or ()))


def _likely_loops(tree: Tree, name: str) -> Iterator[Problem]:
    """Yield a warning where names of a tree look like sides of closures, with the line that would close them."""
    if pairs := likely_pairs(tree):
        got = f"a tree with {len(pairs)} pairs of frames that look like closures"
        hint = f"A file for --loops with `{suggestion(pairs)[:400]}` closes them, `type: [3d]` in place alone."
        yield Problem(name, 0, 0, "", got, "loops that are closed", hint)


def _motors_told(report: Report, description: Description, motors: tuple[str, ...]) -> Iterator[Problem]:
    """Yield warnings where motors are more or fewer than the freedoms."""
    freedoms = description.family.reference.freedoms
    if more := [name for name in freedoms if name not in motors]:
        got = f"{len(more)} freedoms without a motor ({', '.join(more)[:160]})"
        hint = "They are driven here as well: their forces are zero where they move on their own."
        yield report.document.problem(("name_mot",), got, "as many motors as freedoms", hint, key=True)
    if fewer := [name for name in motors if name not in freedoms]:
        got = f"{len(fewer)} motors that follow from the others ({', '.join(fewer)[:160]})"
        yield report.document.problem(("name_mot",), got, "as many motors as freedoms", "", key=True)


def _closed(tree: Tree, report: Report) -> Description:
    """Close the loops of a tree as a file says, and drive the joints that it names. Raises InputError."""
    require_format(report)
    file, problems = validate_keys(LoopsFile, report.document)
    report.take(problems)
    values = ValueReader(report, set(CONSTANTS))
    loops = tuple(_loop(values, tree, section, k) for k, section in enumerate(file.loops))
    names = [*tree.joints, *(loop.joint for loop in (*tree.loops, *loops))]
    for k, loop in enumerate(loops):
        if names.count(loop.joint) > 1:
            report(("loops", k, "joint"), Got(f"joint {loop.joint} again"), "a name for each joint", "Rename it.")
    for key in ("actuated", "independent"):
        for k, joint in enumerate(getattr(file, key) or ()):
            report.require_known((key, k), joint, tree.free, "a joint of the URDF file that moves")
    report.raise_if_any()
    for joint in file.reference or ():
        report.require_known(("reference", joint), joint, tree.joints, "a joint of the file that moves", key=True)
    report.raise_if_any()
    description = tree.description(
        loops=loops, actuated=file.actuated, independent=file.independent, reference=file.reference
    )
    _check_loops(report, description)
    return description


def _loop(values: ValueReader, tree: Tree, section: ClosureSection, index: int) -> ClosingJoint:
    path, report = ("loops", index), values.report
    if section.b is None:
        report(path, Got("no key 'b'"), "'b', which is required in loops", "Add it.")
    for key in ("a", "b"):
        if (name := getattr(section, key)) is not None:
            report.require_known((*path, key), name, tree.bodies, "a link of the URDF file")
    frames = [fill(values.frame(getattr(section, key), (*path, key)), CONSTANTS) for key in ("frame_a", "frame_b")]
    pitch = fill(values.pitch(section, path), CONSTANTS)
    return ClosingJoint(section.joint, section.kind, section.a, frames[0], section.b or section.a, frames[1], pitch)


def _check_loops(report: Report, description: Description) -> None:
    """Refuse loops that are open at zero joint variables, at their places in the file. Raises InputError."""
    for finding in checks.check_loops(description.family.reference):
        hint = "The zero of the file is the reference pose; rough positions under reference are closed numerically."
        report(finding.path[2:], Got(finding.got), finding.expected, hint)
    report.raise_if_any()


__all__ = ["load", "read", "with_redundancy", "write"]


@check_arguments
def load(
    path: str | os.PathLike[str],
    loops: str | os.PathLike[str] | None = None,
    *,
    macros: Mapping[str, str] | bool = False,
    packages: Packages = NO_PACKAGES,
    leave_out: Collection[str] = (),
    **parameters: float,
) -> Robot:
    """Load the robot in a URDF, SDF or MJCF file, or a table of joints (.csv).

    Joints that close loops, and which joints are driven, are in the file `loops`. Macros of xacro are expanded where
    `macros` is true or has their arguments by name, by an evaluator that runs nothing. What the file names is below its
    folder, its ROS package, or one of the folders `packages`, by name. What changes dynamics and a robot cannot have
    here is refused; `leave_out` names kinds of it, such as "springs", "gravity" or "tendons", that are left out.

    What was not imported is a UserWarning. Raises InputError with all problems of the files, ParameterError.

        >>> mass = '<mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>'
        >>> arm = f'<link name="base"/><link name="arm"><inertial>{mass}</inertial></link>'
        >>> ends = '<parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>'
        >>> with open("arm.urdf", "w") as file:
        ...     _ = file.write(f'<robot name="one">{arm}<joint name="j" type="continuous">{ends}</joint></robot>')
        >>> ls.robots.load("arm.urdf").mechanism.actuators
        ('j',)
    """
    imported = import_robot(path, loops, macros=macros, packages=packages, leave_out=leave_out)
    for problem in imported.warnings:
        warnings.warn(str(problem), stacklevel=2)
    return Robot.of(imported.description.family, parameters)


@check_arguments
def write(robot: Robot, path: str | os.PathLike[str]) -> Path:
    """Write a robot into a new file and return its path: a robot file, or by its ending URDF, SDF or MJCF (.xml).

    A robot of a robot file keeps its parameters, with its values as defaults; one of the catalogue, and all in other
    formats, are written in numbers. Raises InputError for a robot that the format cannot hold, and where the file is
    there or cannot be written.

        >>> path = ls.robots.write(ls.robots.build("five_bar"), "mine.yaml")
        >>> path = ls.robots.write(ls.robots.build("ur5e"), "ur5e.urdf")
    """
    text = text_of(robot, os.fspath(path))
    write_text(Path(path), text, option="path")
    return Path(path)


def text_of(robot: Robot, path: str) -> str:
    """Return the text of a file for a robot, by the ending of its name. Raises InputError."""
    ending = os.path.splitext(path)[1].lower()
    if ending not in exporting.WRITERS:
        return _text(robot, path)
    try:
        name = plain_name(robot.name)
        return exporting.text(robot.mechanism, name, [*ratings(robot.family).values()], ending)
    except ValueError as error:
        got, _, rule = f"{error}".partition("; expected ")
        hint = "A robot file, with the ending .yaml, can hold it."
        raise refused(path, f"{robot.name}: {got}", rule or "another robot", hint) from None


@check_arguments
def with_redundancy(robot: Robot, redundancy: Mapping[str, object]) -> Robot:
    """Return the robot with another section `redundancy` of its platform: a dict as in a robot file.

    So one arm can be compared under several postures and tasks. Raises InputError with all problems of the section, and
    for a robot whose platform has no `coordinates`.

        >>> arm = ls.robots.read("arm_platform.yaml")
        >>> angle = {"arm_angle": {"shoulder": "arm.2", "elbow": "arm.4", "wrist": "arm.6"}, "value": 0.2}
        >>> held = ls.robots.with_redundancy(arm, {"joints": ["arm.3"], "tasks": {"swivel": angle}})
        >>> round(float(ls.resolve_redundancy(held, q=np.zeros(6)).q[-1]), 6)  # joint 3
        0.585147
    """
    yaml, stream = YAML(), io.StringIO()
    file = yaml.load(_text(robot, robot.name))
    if "coordinates" not in file.get("platform", {}):
        rule = "a robot file with coordinates under platform"
        raise refused(robot.name, "a robot without coordinates", rule, key="redundancy")
    file["platform"]["redundancy"] = json.loads(json.dumps(redundancy, default=_plain))
    yaml.dump(file, stream)
    return Robot.of(parse_robot(stream.getvalue(), robot.name).family, robot.values)


def _plain(value: object) -> object:
    """Convert a value that JSON cannot hold: NumPy values to numbers, others to a text that the reader refuses."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else repr(value)


def _text(robot: Robot, where: str) -> str:
    """Return the text of a robot file. Raises InputError for a robot that a file cannot hold."""
    try:
        return writing.text(description.describe(robot))
    except ValueError as error:
        rule = "a robot that a file can hold"
        raise refused(where, robot.name, rule, f"{error}") from None
