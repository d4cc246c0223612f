"""Read the robot of a sweep and its designs: a robot of the catalogue, one of several, or of a robot file.

A store keeps the text of its sweep; so that it can be read again without the robot file, `inline` writes the robot into
that text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError, Problem
from pipeline.sweep.axes.reader import AxisReader, check_fixed
from pipeline.sweep.design_axis import DesignAxis
from pipeline.sweep.gravity import gravity_parameters
from pipeline.sweep.rewriting import rewritten
from pipeline.sweep.sections import AxesSection, BranchSection, CoreFile
from pipeline.sweep.several import only_chosen
from pipeline.sweep.side_files import SideFiles
from pipeline.sweep.tolerances.reader import read_deviations
from pipeline.sweep.tolerances.sections import TolerancesSection
from robots.catalog import FAMILIES, FOREIGN, IMPORT, is_file
from robots.formats import writing
from robots.formats.description import Description
from robots.model import Family, Robot
from robots.parameter_errors import nearest


def read_description(report: Report, file: CoreFile, folder: Path) -> tuple[Description | None, str | None]:
    """Read the description that the key `robot` gives or names a file of, and the name of the robot; None if none."""
    description, name = _whole(report, file, folder)
    if file.branch is None or name is None:
        return description, name
    return _assembled(report, file, file.branch, description, name), name


def _assembled(
    report: Report, file: CoreFile, section: BranchSection, description: Description | None, name: str
) -> Description | None:
    """Read the branch of a robot that has been read; the robot without it where it has none, which is reported."""
    family = FAMILIES.get(name) if description is None else description.family
    if family is None:
        return description
    from robots.formats.branch import assembly_of, branched, modes_of  # takes scipy, which few sweeps need
    from robots.formats.working_modes import BranchError

    defaults = Robot.of(family, {}).values
    values = dict(defaults) | {key: float(x) for key, x in file.parameters.items() if key in defaults}
    try:
        modes = modes_of(family.reference, section.working, section.assembly)
        asked = assembly_of(family.reference, section.joints, section.position, section.rotation, modes)
        return branched(family, asked, values, modes)
    except BranchError as error:
        report(("branch", *error.path), Got(error.got), error.expected, error.hint)
        return description


def _at_robot(report: Report, problem: Problem) -> Problem:
    """Return a problem of a whole robot file, such as one that is missing, as one of the key that names the file."""
    if problem.line or problem.key:
        return problem
    return report.document.problem(("robot",), f"{problem.file}, {problem.got}", problem.expected, problem.hint)


def _whole(report: Report, file: CoreFile, folder: Path) -> tuple[Description | None, str | None]:
    robot: object = file.robot
    document = report.document
    if robot is not None and not isinstance(robot, str | dict):
        report(("robot",), robot, "the name of a robot, or the content of a robot file")
        report.missing.append("robot")
        return None, None
    if robot is None or (isinstance(robot, str) and not is_file(robot)):
        return None, robot
    from pipeline.robot_files.reader import describe, read_robot_beside  # with all its models: few sweeps need it

    try:
        if isinstance(robot, str):
            description = read_robot_beside(robot, folder, document.name)
        else:
            description = describe(document.below("robot"))
    except InputError as error:
        report.take(_at_robot(report, problem) for problem in error.problems)
        report.missing.append("robot")
        return None, None
    return description, description.name


def read_designs(
    report: Report,
    file: CoreFile,
    robot: str | None,
    families: Mapping[str, Family],
    files: SideFiles | None = None,
    tolerances: TolerancesSection | None = None,
) -> DesignAxis | None:
    """Read the designs of the robot that the file names; None where it is not known, which is reported."""
    if not _is_known(report, file, robot, families) or robot is None:
        return None  # without a robot, nothing can be said about its parameters
    family = families[robot]
    table = {parameter.name: parameter for parameter in family.parameters}
    fixed = check_fixed(report, table, file.parameters, ("parameters",))
    design, path = file.design, ("design",)
    field = {name: row for name, row in gravity_parameters(file.gravity).items() if name not in table}
    parameters = table | field
    drawn = read_deviations(report, tolerances, file.seed)
    axis = AxisReader(report, parameters, fixed, file.seed, files, labelled=True).axis(design, path, drawn)
    for key in ("simulation", "base"):
        if report.document.data.get(key) is not None and (swept := [name for name in axis.names if name in field]):
            got, rule = Got(f"a swept gravity beside {key}"), "gravity that is the same for all designs"
            report(_axis_path(path, design, swept[0]), got, rule, "Make a sweep for each gravity.")
    parts = (design.grid, design.listed, design.sample, design.file) if design else (True,)
    if all(part is None for part in parts):
        report(path, Got("no axis"), "grid, list, file or sample", "Leave design out for a single design.")
    return DesignAxis(family, fixed, axis)


def _axis_path(path: KeyPath, design: AxesSection | None, name: str) -> KeyPath:
    """Return the path of a swept parameter or label, or of the section if the parameter is a column of a file."""
    if design is None:
        return path
    sample = design.sample and design.sample.parameters
    keys = ("grid", design.grid), ("list", design.listed), ("derive", design.derive)
    for key, part in (*keys, ("sample.parameters", sample)):
        if part and name in part:
            return (*path, *key.split("."), name)
    return (*path, "labels") if name in (design.labels or ()) else path


def check_swept_once(report: Report, file: CoreFile, design: DesignAxis | None, swept: Sequence[str]) -> None:
    """Refuse names of design axes that other axes have: of friction, trajectories or a simulation, all in `swept`."""
    others = {name.casefold() for name in swept}
    for name in () if design is None else design.axis.names:
        if name.casefold() in others:
            hint = "Rename the parameter of the robot, the column of the file or the group of friction."
            path = _axis_path(("design",), file.design, name)
            report(path, name, "a name that no other swept quantity has", hint)


def _is_known(report: Report, file: CoreFile, robot: str | None, families: Mapping[str, Family]) -> bool:
    """Return whether the robot is one of `families`; where it is not, that is reported."""
    robots = file.robots
    if robots is not None and robot is None:
        hint = "Read it with limbsweep.read_sweeps, or choose one with the key robot."
        report(("robots",), Got(f"{len(robots)} robots"), "one, because this is to be one sweep", hint)
    elif robots is not None:
        report.require_known(("robot",), robot, robots, "one of robots")
    elif robot is None:
        if "robot" not in report.missing:
            report((), Got("no key 'robot'"), "'robot', which is required", "Add it.")
    elif robot in families:
        return True
    else:
        hint = IMPORT if robot.lower().endswith(FOREIGN) else nearest(robot, families)
        report(("robot",), robot, "a robot of the catalogue", sentence(hint))
    return False


def inline(report: Report, description: Description | None) -> str:
    """Write the content of the robot file into the text of the sweep, in place of its name."""
    document = report.document
    robot = document.data.get("robot")
    description = description and description.in_file
    if description is None or not isinstance(robot, str):
        return document.text
    if document.moved:  # a robot of a list
        alone = rewritten(document.text, only_chosen, f"The robot {robot} of {document.name}.")
        document = parse_yaml(alone, document.name)
    lines = document.text.split("\n")
    line, column = document.where(("robot",))
    before, rest = lines[line - 1][: column - 1], lines[line - 1][column - 1 :]
    for quote in ("'", '"', ""):
        if rest.startswith(written := f"{quote}{robot}{quote}"):
            lines[line - 1] = before + writing.flow(description) + rest.removeprefix(written)
            return "\n".join(lines)
    report(("robot",), Got("a name in a spelling of its own"), "the name of the file in one line", "Write it plainly.")
    return document.text
