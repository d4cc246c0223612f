"""Elements of other formats that change dynamics and that robot files cannot express: refused, or left out by name.

Each format has a table of them; the readers of the formats need not know them. Effects that a user names under
`leave_out` are left out with a warning. Elements without effect are in no table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from robots.data_classes import dataclass
from robots.formats.xml_tree import FALSE, Element, FormatError, is_true

KINDS = (
    "armature", "constraints", "damping", "flexible", "fluid", "gravity", "kinematic", "plugins", "springs", "static",
    "tendons",
)  # fmt: skip
"""Kinds of effects that may be left out.

Rotors of ball joints; constraints beside joints; damping of whole bodies; flexible bodies; forces of a fluid;
weight that is taken away or compensated; bodies that forces do not move; forces of plugins; springs; models that
stand still; tendons with springs, friction or inertia.
"""


@dataclass(frozen=True)
class Effect:
    """An element at the end of a path of tags, and the test of whether its content changes the dynamics."""

    kind: str
    path: str
    says: Callable[[Element], bool]
    got: str
    outer: Callable[[Element], bool] | None = None


def _true(element: Element) -> bool:
    return is_true(element.text)


def _false(element: Element) -> bool:
    return element.text.strip().lower() in FALSE


def _nonzero(element: Element) -> bool:
    """Return whether there is a number other than zero, here or inside."""
    words = element.text.split()
    return any(_nonzero(child) for child in element.children) or any(word.strip("0.+-eE") for word in words)


def _always(element: Element) -> bool:
    return True


_PUSHING = (
    "buoyan", "hydrodynamic", "lift_drag", "lift-drag", "liftdrag", "thruster", "wind", "multicopter", "propeller",
    "spring", "added_mass",
)  # fmt: skip


def _pushes(element: Element) -> bool:
    """Return whether a plugin exerts forces, by its name. Sensors and controllers exert none."""
    words = f"{element.attributes.get('filename', '')} {element.attributes.get('name', '')}".lower()
    return any(part in words for part in _PUSHING)


def moves(model: Element) -> bool:
    """Return whether a model of SDF has a joint that moves."""
    has_one = any(joint.attributes.get("type") != "fixed" for joint in model.all("joint"))
    return has_one or any(moves(inner) for inner in model.all("model"))


_DRAKE = (
    Effect("springs", "drake:linear_spring_damper", _always, "a spring and damper of Drake"),
    Effect("springs", "drake:linear_bushing_rpy", _always, "a bushing of Drake"),
    Effect("constraints", "drake:ball_constraint", _always, "a constraint of Drake"),
    Effect("constraints", "drake:joint", _always, "a joint of Drake"),
    Effect("constraints", "drake:mimic", _always, "a mimic of Drake"),
    Effect("flexible", "drake:deformable_properties", _always, "a body that Drake deforms"),
)

SDF = (
    Effect("gravity", "link/gravity", _false, "a link without weight"),
    Effect("kinematic", "link/kinematic", _true, "a link that forces do not move"),
    Effect("damping", "link/velocity_decay", _nonzero, "a damping of a link's velocity"),
    Effect("fluid", "inertial/fluid_added_mass", _nonzero, "a mass that a fluid adds"),
    Effect("static", "model/static", _true, "a model that stands still", moves),
    Effect("springs", "dynamics/spring_stiffness", _nonzero, "a spring of a joint"),
    Effect("plugins", "model/plugin", _pushes, "a plugin with forces"),
    Effect("plugins", "world/plugin", _pushes, "a plugin with forces"),
    *_DRAKE,
)
"""Effects of elements of SDF files, by the ends of their paths."""

URDF = (
    Effect("gravity", "gazebo/turnGravityOff", _true, "a link without weight"),
    Effect("gravity", "gazebo/gravity", _false, "a link without weight"),
    Effect("kinematic", "gazebo/kinematic", _true, "a link that forces do not move"),
    Effect("damping", "gazebo/dampingFactor", _nonzero, "a damping of a link's velocity"),
    Effect("damping", "gazebo/velocity_decay", _nonzero, "a damping of a link's velocity"),
    Effect("static", "gazebo/static", _true, "a model that stands still"),
    Effect("springs", "gazebo/springStiffness", _nonzero, "a spring of a joint"),
    Effect("plugins", "gazebo/plugin", _pushes, "a plugin with forces"),
    Effect("constraints", "robot/constraint", _always, "a constraint"),
    Effect("constraints", "gazebo/link", _always, "a body that Gazebo alone has"),
    *_DRAKE,
)
"""Elements of URDF files, with those for Gazebo and Drake."""

Found = tuple[str, FormatError]
"""The kind of an effect, and where it is."""


def found(root: Element, effects: Collection[Effect]) -> Iterator[Found]:
    """Give the effects that elements of a file have, with the names of the elements around them."""
    stack: list[tuple[Element, Element, tuple[str, ...], str]] = [(root, root, (root.tag,), "")]
    while stack:
        element, outer, path, place = stack.pop()
        if "name" in element.attributes or "reference" in element.attributes:
            name = element.attributes.get("name", element.attributes.get("reference", ""))
            place = f"{element.tag} {name}"
        for effect in effects:
            end = tuple(effect.path.split("/"))
            there = path[-len(end) :] == end and (effect.outer is None or effect.outer(outer))
            if there and effect.says(element):
                rule = "only content that a robot file can express"
                yield effect.kind, FormatError(element.line, place, effect.got, rule)
        stack += [(child, element, (*path[-2:], child.tag), place) for child in reversed(element.children)]


EARTH = (0.0, 0.0, -9.81)
"""Gravity of a sweep that has none of its own [m/s^2]."""


def gravity(line: int, place: str, values: Sequence[float]) -> list[FormatError]:
    """Return a warning about a gravity other than the earth's: a sweep has it, and no robot."""
    if max(abs(x - y) for x, y in zip(values, EARTH, strict=True)) <= 0.02:
        return []
    numbers = ", ".join(f"{x:g}" for x in values)
    hint = f"It is left out: a sweep has `gravity: [{numbers}]`."
    return [FormatError(line, place, f"gravity {numbers.replace(',', '')}", "that of a sweep", hint)]


def judged(effects: Collection[Found], leave_out: Collection[str]) -> tuple[list[FormatError], list[FormatError]]:
    """Return problems, and warnings about the elements that a user leaves out."""
    problems, warnings = list[FormatError](), list[FormatError]()
    for kind, error in effects:
        if kind in leave_out:
            warnings.append(FormatError(error.line, error.place, error.got, error.expected, "It is left out."))
        else:
            hint = f"Leave it out: --leave-out {kind}."
            problems.append(FormatError(error.line, error.place, error.got, error.expected, hint))
    return problems, warnings
