"""Read robot files: from YAML to a description, with line and column of every problem; find robots by name.

Keys and types are in `pipeline.robot_files.sections`, numbers in `pipeline.robot_files.values`, limbs in
`pipeline.robot_files.limbs`, platforms and instances in `pipeline.robot_files.platforms`, numerical checks of a
mechanism in `robots.formats.checks`. A description is plain data: nothing in a file is run. A name in a command or
sweep file is a robot of the catalogue, or a robot file.
"""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.documents.dataset_names import parameter_conflict
from pipeline.documents.document import Document, KeyPath
from pipeline.documents.files import read_text
from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.validation import validate_keys
from pipeline.documents.yaml import MAX_BYTES, parse_yaml
from pipeline.errors import InputError, Problem, refused, show
from pipeline.robot_files.limbs import LimbReader
from pipeline.robot_files.parameters import read_parameter
from pipeline.robot_files.platforms import PlatformReader
from pipeline.robot_files.redundancy import weights_above_zero
from pipeline.robot_files.references import closed_limbs
from pipeline.robot_files.sections import RobotFile
from pipeline.robot_files.values import NO_PITCH, PITCH, Places, ValueReader
from robots import catalog, limits
from robots.arguments import check_arguments
from robots.data_classes import dataclass, replace
from robots.drives import COUPLED, uncoupled
from robots.expressions.expression import GEOMETRIC, ParsedExpression
from robots.formats import checks, mobility, writing
from robots.formats.description import CONSTANTS, PLAIN, Description, fill
from robots.formats.ratings import Rating
from robots.model import NO_PLATFORM, Family, Limb, Mechanism, Robot
from robots.parameters import LARGEST, Parameter
from robots.types import BASE

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LEAST_DIRECTION = 1e-12
"""Length of the shortest direction: the square of a much shorter one is no number any more."""

_RESERVED = {"and", "or", "not", *GEOMETRIC, *CONSTANTS}


def read_description(path: str | os.PathLike[str]) -> Description:
    """Read the robot in a file. Raises InputError with all problems."""
    name = os.fspath(path)
    text = read_text(name, MAX_BYTES)
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        raise refused(name, "XML", "a robot file in YAML", sentence(catalog.IMPORT))
    return parse_robot(text, name)


def parse_robot(text: str, name: str) -> Description:
    """Read the robot in a text, called `name` in messages. Raises InputError with all problems."""
    return describe(parse_yaml(text, name))


def describe(document: Document) -> Description:
    """Read the robot in a document. Raises InputError with all problems."""
    draft = _draft(document)
    if draft.problems or draft.description is None:
        raise InputError(draft.problems)
    return draft.description


@dataclass(frozen=True)
class Draft:
    """A robot file as far as it can be read: its robot, None where the robot cannot be made, and its problems."""

    description: Description | None
    problems: tuple[Problem, ...]


def read_draft(path: str | os.PathLike[str]) -> Draft:
    """Read a robot file that may be wrong. Raises InputError for one that is no YAML, or of another format."""
    name = os.fspath(path)
    return _draft(parse_yaml(read_text(name, MAX_BYTES), name))


def _draft(document: Document) -> Draft:
    report = Report(document)
    require_format(report)
    file, problems = validate_keys(RobotFile, document)
    report.take(problems)
    description = _RobotReader(report, file).description()
    return Draft(description, tuple(report.problems))


def require_format(report: Report) -> None:
    """Refuse a file of another version. Raises InputError."""
    if (version := report.document.data.get("limbsweep")) != writing.FORMAT and isinstance(version, int):
        hint = "Use the limbsweep that wrote it, or a newer one."
        report(("limbsweep",), version, f"version {writing.FORMAT} of the format", hint)
        report.raise_if_any()


class _RobotReader:
    """Reader of a robot file section by section; `file` is the sound part of it."""

    def __init__(self, report: Report, file: RobotFile) -> None:
        self.report, self.file = report, file
        self.values = ValueReader(report, set(CONSTANTS))
        self.limbs = LimbReader(self.values)
        self.platforms = PlatformReader(file, self.limbs)

    def description(self) -> Description | None:
        """Read all sections; None where something was wrong, which is reported."""
        parameters = tuple(self._parameters())
        derived = tuple(self._derived())
        limbs = self._limbs()
        coupled = self.platforms.coupled()
        platform = NO_PLATFORM if coupled else self.platforms.platform()
        instances = self.platforms.instances(limbs)
        joined, variants = self.platforms.joined(), self.platforms.variants(parameters, derived)
        standing = self.platforms.standing()
        if coupled is not None:
            self.platforms.check_coupled(coupled, limbs, instances)
        if self.report.problems:
            return None
        mechanism = Mechanism(tuple(limbs.values()), instances, platform)
        file = self.file
        description = Description(
            file.name,
            file.title,
            file.source,
            parameters,
            derived,
            mechanism,
            () if coupled else tuple(self._ratings(mechanism)),
            file.massless,
            platform=coupled,
            joined=joined if any(body != BASE for body in joined) else (),
            variants=variants if any(variant != PLAIN for variant in variants) else (),
            standing=standing if any(body != BASE for body in standing) else (),
        )
        self._check_massless(description)
        if self.report.problems:
            return None
        self._try_values(description)
        self._check_directions(description)
        if self.report.problems:
            return None
        description = closed_limbs(self.report, file, description)
        if coupled is not None:
            description = replace(description, ratings=tuple(self._ratings(description.family.reference)))
        self._try(description)
        return description

    def _parameters(self) -> Iterator[Parameter]:
        for name, section in self.file.parameters.items():
            path = ("parameters", name)
            self._new_name(name, path)
            if conflict := parameter_conflict(name):
                self.report(path, name, "a name that is free in datasets", f"{conflict} Take another.", key=True)
            yield read_parameter(self.report, name, section, path)

    def _new_name(self, name: str, path: KeyPath) -> None:
        """Check that expressions can use a name, and add it to their names."""
        if not _IDENTIFIER.fullmatch(name) or len(name) > 80:
            self.report(
                path, name, "letters from a to z, digits and '_', not starting with a digit, at most 80", key=True
            )
        elif name in _RESERVED or name in self.values.names:
            self.report(path, name, "a name that is free", "Expressions have it for something else.", key=True)
        elif same := [known for known in self.values.names if known.casefold() == name.casefold()]:
            hint = "They are names of folders in a store, where some file systems see no capitals."
            self.report(path, name, f"a name that differs from {same[0]} in more than capitals", hint, key=True)
        self.values.names.add(name)

    def _derived(self) -> Iterator[tuple[str, ParsedExpression]]:
        self.values.later = dict.fromkeys(self.file.derived, "Derived values can use values above them only.")
        for name, value in self.file.derived.items():
            path = ("derived", name)
            constant = isinstance(value, int | float) and not isinstance(value, bool)
            number = self.values.number(repr(value) if constant else value, path)
            self._new_name(name, path)
            if isinstance(number, ParsedExpression):
                yield name, number

    def _limbs(self) -> dict[str, Limb]:
        sections = self.file.limbs if "limbs" in self.file.model_fields_set else {}
        return {name: self.limbs.limb(name, section, ("limbs", name)) for name, section in sections.items()}

    def _ratings(self, mechanism: Mechanism) -> Iterator[Rating]:
        known = limits.joints(mechanism)
        for name, section in self.file.ratings.items():
            path = ("ratings", name)
            self.report.require_known(path, name, known, "a joint of one variable", key=True)
            low, high = section.position or (None, None)
            if low is not None and high is not None and low >= high:
                self.report((*path, "position"), [low, high], "[low, high] with low below high", "Exchange them.")
            for key in ("velocity", "force", "viscous", "coulomb"):
                if (value := getattr(section, key)) is not None and value < 0:
                    self.report((*path, key), value, "a number of at least 0")
            numbers = (low, high, section.velocity, section.force, section.viscous, section.coulomb)
            yield Rating(name, *(None if entry is None else float(entry) for entry in numbers))

    def _check_massless(self, description: Description) -> None:
        """Refuse names under massless that no body has."""
        bodies = [link.body for limb in description.template.limbs for link in limb.links]
        for k, name in enumerate(description.massless):
            self.report.require_known(("massless", k), name, bodies, "a body of the robot")

    def _check_directions(self, description: Description) -> None:
        """Report axes and other directions that are zero, or next to zero, with the default parameters."""
        if self.report.problems:
            return
        known = description.known({parameter.name: parameter.scalar for parameter in description.parameters})
        for path, direction in self.values.directions:
            if math.hypot(*fill(direction, known)) < LEAST_DIRECTION:
                constant = all(isinstance(x, float) for x in direction)
                got = (
                    list(direction) if constant else Got("a direction that is zero with the defaults of the parameters")
                )
                self.report(path, got, "a direction other than zero")

    def _try_values(self, description: Description) -> None:
        """Evaluate all expressions with the default parameters, and report values that are not finite.

        Values that follow from a reported value are not reported again.
        """
        known: dict[str, Any] = CONSTANTS | {parameter.name: parameter.scalar for parameter in description.parameters}
        rules, wrong = dict(description.derived), set[str]()
        if description.platform is not None:
            weights_above_zero(self.report, description.platform, description.known(known))
        for path, expression in self.values.expressions:
            value = np.asarray(expression(known))
            if not abs(value) <= LARGEST and wrong.isdisjoint(expression.names):
                hint = "With the defaults of the parameters; look for a division by zero or the root of a negative."
                rule = f"a finite number of at most {LARGEST:g}"
                self.report(path, Got(f"{expression.text}, which is {value:g}"), rule, hint)
            elif path[-1] == PITCH and value == 0:
                self.report(
                    path, Got(f"{expression.text}, which is 0"), NO_PITCH, "With the defaults of the parameters."
                )
            if path[0] == "derived" and rules[str(path[1])] == expression:
                known[str(path[1])] = float(value)
                wrong |= set() if abs(value) <= LARGEST else {str(path[1])}

    def _try(self, description: Description) -> None:
        """Evaluate the robot with the default parameters, and report why it is no mechanism."""
        if self.report.problems:
            return
        if description.platform is not None:
            limbs, _ = description.parts({parameter.name: parameter.scalar for parameter in description.parameters})
            for finding in (finding for findings in checks.check_instances(limbs) for finding in findings):
                self.report(finding.path, Got(finding.got), finding.expected, finding.hint)
            if self.report.problems:
                return
        reference = description.family.reference
        defaults = {parameter.name: parameter.scalar for parameter in description.parameters}
        places = Places(description.template, description.platform, description.parts(defaults)[0])
        for find in (partial(checks.check, massless=description.massless), checks.check_loops, mobility.check_home):
            for finding in find(reference):
                self.report(places.of(finding.path), Got(finding.got), finding.expected, finding.hint)
            if self.report.problems:
                return
        from pipeline.robot_files.solvable import check_solvable

        check_solvable(self.report, description)


def find_family(name: str) -> Family:
    """Find the family that a command names: of a robot file, or of the catalogue. Raises InputError, ParameterError."""
    return read_description(name).family if catalog.is_file(name) else catalog.family(name)


@check_arguments
def read_robot(path: str | os.PathLike[str], **parameters: float) -> Robot:
    """Build the robot of a robot file with these parameters (SI units), defaults for the others.

    A slow rotor without its gyroscopic moment, and moments that no body has, of a body that turns about one axis alone,
    are a UserWarning. Raises InputError with all problems of the file, and
    ParameterError.

        >>> path = ls.robots.write(ls.robots.build("five_bar"), "yours.yaml")
        >>> ls.robots.read("yours.yaml").name
        'five_bar'
    """
    robot = Robot.of(read_description(path).family, parameters)
    for limb in robot.mechanism.limbs:
        for name in dict.fromkeys(uncoupled(limb.drives)):
            warnings.warn(f"{path}: a rotor of drive {name} has no gyroscopic moment. {COUPLED}", stacklevel=2)
        for k, link in enumerate(limb.links):
            if checks.counts_about_one_axis(limb, k):
                warnings.warn(f"{path}: no body has the moments of {link.body}. {checks.ONE_AXIS}", stacklevel=2)
    return robot


def name_from(name: str, folder: str | os.PathLike[str]) -> str:
    """Name a robot as a sweep file in `folder` does. Raises InputError for a robot file that is elsewhere."""
    if not catalog.is_file(name):
        return name
    path = os.path.relpath(os.path.realpath(name), os.path.realpath(folder))
    if path.startswith(os.pardir):
        rule = "a robot file in the folder of the sweep or below"
        raise refused(name, "a robot file elsewhere", rule, "Copy it there.")
    return f"./{path.replace(os.sep, '/')}"


def read_robot_beside(name: str, folder: str | os.PathLike[str], sweep: str) -> Description:
    """Read the robot file that the file `sweep` in `folder` names. Raises InputError."""
    root = os.path.realpath(folder)
    place = "" if "\0" in name else os.path.realpath(os.path.join(root, name))
    if not place.startswith(os.path.join(root, "")):
        hint = "Copy it there: a sweep reads no files from elsewhere."
        rule = "a file in the folder of the sweep or below"
        raise refused(sweep, show(name), rule, hint, key="robot")
    return read_description(Path(folder, name))
