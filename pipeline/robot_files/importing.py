"""Import robots from URDF, SDF and MJCF files, USD stages and tables of joints.

Loops that a format cannot express come from another file.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from threadpoolctl import threadpool_limits

from pipeline.documents.dataset_names import is_free
from pipeline.errors import InputError, Problem, refused
from pipeline.robot_files.closing import assembled, closed, likely_loops, paired, pairs_of, report_of_loops
from pipeline.robot_files.foreign import format_problems, read_model, root_of_urdf
from pipeline.robot_files.frame_pairs import (
    PairedLoops,
)
from pipeline.robot_files.packages import NO_PACKAGES, PackageFiles, Packages
from pipeline.robot_files.reader import parse_robot
from robots.data_classes import dataclass, replace
from robots.formats import mjcf, sdf, urdf, writing
from robots.formats.description import Description
from robots.formats.parametric import with_parameters
from robots.formats.tree import Base, Inertias, Tree
from robots.formats.xacro.budget import Refusal
from robots.formats.xml_tree import Element, ImportedError, root_tag


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

    Raises InputError with all problems. The root link stands still, or floats as a `base` of six joints. Inertias that
    no body can have become the nearest possible ones, with a warning; without `repair` they are refused. With
    `parameters`, masses, offsets, sizes, gears and ratios can be swept; else all are numbers. Macros are refused, or
    expanded, by the arguments in `macros` or, if true, by none. The file may name others below its folder, its package,
    and the folders of `packages`. Elements that change dynamics and have no counterpart are refused, except for the
    kinds (`robots.formats.effects.KINDS`) that `leave_out` names.
    """
    name = os.fspath(path)
    files = _files(name, packages)
    data, warnings = read_model(name, macros, files)
    report = None if loops is None else report_of_loops(os.fspath(loops))
    pairs = pairs_of(report)
    with threadpool_limits(limits=1, user_api="blas"):  # small matrices: several threads only wait for each other
        tree = _tree(data, name, pairs, base, "repaired" if repair else "checked", files, leave_out)
        if pairs is not None:
            description, more = paired(tree, pairs)
            warnings = (*warnings, *pairs.unknown_joints(root_of_urdf(data, name)), *more)
        else:
            description, more = assembled(tree, name) if report is None else (closed(tree, report), ())
            warnings = (*warnings, *more, *(likely_loops(tree, name) if report is None else ()))
        if parameters:
            description = with_parameters(description, tree.gears, is_free)
        text = writing.text(description, f"Imported from {os.path.basename(os.fspath(path))}.")
        from pipeline.robot_files.solvable import stuck

        whole = _read_back(text, name)
        return ImportedRobot(whole, text, (*warnings, *format_problems(name, tree.warnings), *stuck(whole, name)))


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
    files, report = _files(name, packages), None if pairs is None else report_of_loops(os.fspath(pairs))
    return _tree(read_model(name, macros, files)[0], name, pairs_of(report), base, inertias, files, leave_out)


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
    root = pairs.retyped(root_of_urdf(data, name))
    tree = parse_tree(root, name, base, inertias, files, leave_out)
    loops = (*tree.loops, *pairs.loops(tree, root))
    return replace(tree, loops=loops, driven=pairs.motors(tree, root) or None)


def _files(name: str, packages: Packages) -> PackageFiles:
    """Return the files that a robot file may name. Raises InputError for packages that are not there."""
    try:
        return PackageFiles(name, packages)
    except Refusal as error:
        raise refused(name, error.got, error.expected, error.hint) from None


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
        raise InputError(format_problems(name, error.problems)) from None


def _read_back(text: str, name: str) -> Description:
    """Read the robot file that was made. Raises InputError at the imported file, whose lines are its own."""
    try:
        return parse_robot(text, name)
    except InputError as error:
        raise InputError(replace(entry, line=0, column=0) for entry in error.problems) from None
