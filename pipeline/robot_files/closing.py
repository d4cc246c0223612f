"""Close the loops of imported trees: by a file, by frames in pairs, or by the least change of their frames."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pipeline.documents.files import read_text
from pipeline.documents.report import Got, Report
from pipeline.documents.validation import validate_keys
from pipeline.documents.yaml import MAX_BYTES, parse_yaml
from pipeline.errors import Problem, refused
from pipeline.robot_files.frame_pairs import (
    PairedLoops,
    is_paired,
    likely_pairs,
    paired_loops,
    remedy,
    suggestion,
)
from pipeline.robot_files.reader import require_format
from pipeline.robot_files.sections import ClosureSection, LoopsFile
from pipeline.robot_files.values import ValueReader
from robots.formats import checks
from robots.formats.closing import ClosingJoint
from robots.formats.description import CONSTANTS, Description, fill
from robots.formats.nearly_closed import GAP, TURN, Apart, NearlyClosed, nearly_closed
from robots.formats.nearly_moving import nearly_moving
from robots.formats.tree import Tree


def pairs_of(report: Report | None) -> PairedLoops | None:
    """Return the frames in pairs of a file of loops; None for one with loops of our own."""
    return None if report is None or not is_paired([*report.document.data]) else paired_loops(report)


def report_of_loops(name: str) -> Report:
    """Return the report of a file of loops. Raises InputError for one that cannot be read."""
    return Report(parse_yaml(read_text(name, MAX_BYTES), name))


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
    """Return the robot of a tree with closed loops, so that they move without gaps, and the changes as problems."""
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


def paired(tree: Tree, pairs: PairedLoops) -> tuple[Description, tuple[Problem, ...]]:
    """Close the loops of a tree between pairs of frames; also return warnings about its motors. Raises InputError."""
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


def likely_loops(tree: Tree, name: str) -> Iterator[Problem]:
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


def closed(tree: Tree, report: Report) -> Description:
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
