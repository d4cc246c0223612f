"""Read the numbers, frames and inertias of a robot file, each a number or an expression, with their places.

`Places` are the paths of keys for findings about limbs that are made of the file's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report, number_hint, sentence
from pipeline.robot_files.sections import ClosureSection, FrameSection, InertiaSection, LinkSection
from robots.coupled import COORDINATES, CoupledPlatform
from robots.data_classes import dataclass, field
from robots.expressions.expression import GEOMETRIC, ExpressionError, ParsedExpression, parse
from robots.formats.description import Along, AxisTurn, DriveCurve, Late
from robots.joint_kinds import JOINT_KINDS
from robots.model import Frame, Inertia, Mechanism
from robots.parameter_errors import nearest
from robots.parameters import LARGEST
from robots.types import IDENTITY

PITCH = "pitch"
NO_PITCH = "a pitch other than 0"


_TURNS = re.compile(r"\b(sin|cos|tan)\(\s*-?(\d+(?:\.\d*)?)\s*\)")
"""Functions of an angle that is a number."""


@dataclass
class ValueReader:
    """Reader of values over `names`; keeps expressions and directions with their places, to be tried on defaults."""

    report: Report
    names: set[str]
    expressions: list[tuple[KeyPath, ParsedExpression]] = field(default_factory=list)
    directions: list[tuple[KeyPath, tuple[Late, Late, Late]]] = field(default_factory=list)
    later: dict[str, str] = field(default_factory=dict)
    """Advice about names that are not defined yet."""

    def number(self, value: object, path: KeyPath) -> Late:
        """Read a number or an expression; anything else is reported, and zero."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            if abs(value) <= LARGEST:
                return float(value)
            self.report(path, value, f"a number of at most {LARGEST:g}")
            return 0.0
        if not isinstance(value, str):
            self.report(path, value, "a number or an expression")
            return 0.0
        try:
            expression = parse(value, "number", GEOMETRIC)
        except ExpressionError as error:
            unit = "Write the number alone: turns are in degrees." if "turn" in path and number_hint(value) else ""
            hint = unit or number_hint(value) or error.hint
            self.report(path, Got(error.got), error.expected, hint, within=(value, error.place))
            return 0.0
        if degrees := next((angle for angle in _TURNS.finditer(value) if float(angle[2]) > 2.0 * math.pi), None):
            hint = f"Write {degrees[1]}({degrees[2]} * pi / 180) where it is in degrees."
            self.report(path, Got(degrees[0]), "an angle in radians", hint, within=(value, degrees.start()))
            return 0.0
        for name in expression.names:
            if name not in self.names:
                hint = self.later.get(name, "") or sentence(nearest(name, self.names))
                self.report(path, Got(f"the unknown name {name!r}"), "names of parameters or derived values", hint)
                return 0.0
        self.expressions.append((path, expression))
        return expression

    def curve(self, value: object, path: KeyPath, joints: Sequence[str]) -> DriveCurve | None:
        """Read an expression of joints by name and of parameters."""
        before, self.names = self.names, self.names | set(joints)
        number = self.number(value, path)
        self.names = before
        if not isinstance(number, ParsedExpression):
            return None
        self.expressions.remove((path, number))  # it is no number before the joints move
        return DriveCurve(number)

    def pitch(self, section: LinkSection | ClosureSection, path: KeyPath) -> Late | None:
        """Return the pitch of a joint, None for a kind without; a pitch of another kind is reported."""
        coupled, given, path = JOINT_KINDS[section.kind].coupled, section.pitch, (*path, PITCH)
        if given is None:
            if coupled:
                hint = "Add it: metres per radian, so the way of a full turn over 2 pi."
                self.report(path[:-1], Got(f"no key {PITCH!r}"), f"{PITCH!r}, which a {section.kind} joint needs", hint)
            return 1.0 if coupled else None
        if not coupled:
            coupled_kinds = ", ".join(name for name, row in JOINT_KINDS.items() if row.coupled)
            rule = f"no pitch of a {section.kind} joint"
            self.report(path, given, rule, f"Remove it; kinds with one: {coupled_kinds}.")
            return None
        value = self.number(given, path)
        if value == 0 and not self.report.problems:
            self.report(path, given, NO_PITCH, "A joint that only turns is revolute.")
        return value or 1.0  # the error has been reported; checks go on

    def triple(self, values: Sequence[object], path: KeyPath) -> tuple[Late, Late, Late]:
        """Read three numbers."""
        x, y, z = (self.number(value, (*path, k)) for k, value in enumerate(values))
        return x, y, z

    def direction(self, values: Sequence[object], path: KeyPath) -> tuple[Late, Late, Late]:
        """Read a direction of any length but zero."""
        result = self.triple(values, path)
        self.directions.append((path, result))
        return result

    def frame(self, section: FrameSection, path: KeyPath) -> Frame:
        """Read a frame."""
        keys = [name for name in ("turn", "along", "rotation") if getattr(section, name) is not None]
        if len(keys) > 1:
            self.report(path, Got(" and ".join(keys)), "one of turn, along and rotation", "Remove the others.")
        rotation: Any = IDENTITY
        if section.turn is not None:
            rotation = AxisTurn(
                tuple(
                    self._turn(axis, angle, (*path, "turn"), k)
                    for k, step in enumerate(section.turn)
                    for axis, angle in step.items()
                )
            )
        elif section.along is not None:
            rotation = Along(self.direction(section.along, (*path, "along")))
        elif section.rotation is not None:
            rows = enumerate(section.rotation)
            rotation = tuple(self.triple(row, (*path, "rotation", k)) for k, row in rows)
        return Frame(rotation, self.triple(section.position, (*path, "position")))

    def _turn(self, axis: str, angle: object, path: KeyPath, index: int) -> tuple[str, Late]:
        """Read one turn about an axis [deg]; a single one may stand without a list around it."""
        path = (*path, index) if (*path, index) in self.report.document.values else path
        return axis, self.number(angle, (*path, axis))

    def inertia(self, section: InertiaSection, path: KeyPath) -> Inertia:
        """Read mass, centre of mass and inertia tensor of a body."""
        moments = section.moments
        if all(isinstance(row, list) for row in moments):
            hint = "Write its diagonal under moments, and [ixy, ixz, iyz] under products."
            self.report((*path, "moments"), Got("a matrix"), "three moments", hint)
            moments = (0.0, 0.0, 0.0)
        xx, yy, zz = self.triple(moments, (*path, "moments"))
        xy, xz, yz = self.triple(section.products, (*path, "products"))
        tensor = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        mass = self.number(section.mass, (*path, "mass"))
        return Inertia(mass, self.triple(section.centre, (*path, "centre")), tensor)


_OF = {"links": 0, "loops": 1}


class Places:
    """Paths in the file of limbs, and of links and cut joints of the closed chain of a platform."""

    def __init__(self, template: Mechanism, platform: CoupledPlatform | None, limbs: Mechanism | None = None) -> None:
        self.names = [limb.name for limb in template.limbs]
        self.lists: tuple[list[KeyPath], list[KeyPath]] | None = None
        if platform is None or limbs is None:
            return
        links: list[KeyPath] = [("base", "links", k) for k in range(len(platform.carriers))]
        links += [("platform",)] * len(COORDINATES)
        links += [("platform", "links", k) for k in range(len(platform.links))]
        loops: list[KeyPath] = [("platform", "loops", k) for k in range(len(platform.joined))]
        for instance in limbs.instances:
            limb = limbs.limbs[instance.limb]
            path = ("limbs", self.limb(limb.name))
            links += [(*path, "links", k) for k in range(len(limb.links))]
            for key, cuts in (("tips", limb.tips), ("loops", limb.loops)):
                loops += [(*path, key, k) for k in range(len(cuts))]
        self.lists = links, loops

    def limb(self, name: str) -> str:
        """Return the name in the file of a limb; that of a variant begins with it."""
        if name in self.names:
            return name
        return max((known for known in self.names if name.startswith(f"{known}_")), key=len, default=name)

    def of(self, path: KeyPath) -> KeyPath:
        """Return the path in the file of a path in the mechanism."""
        if path[:1] != ("limbs",) or len(path) < 2:
            return path
        if self.lists is not None and len(path) > 3 and path[2] in _OF:
            return (*self.lists[_OF[str(path[2])]][int(path[3])], *path[4:])
        return ("limbs", self.limb(str(path[1])), *path[2:])
