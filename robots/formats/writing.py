"""A description as the text of a robot file: one spelling for each content, floats with all their bits.

A description that is read back from the text equals the written one. Defaults of the format are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from robots.coupled import CoupledPlatform
from robots.drives import Drive, Spin
from robots.expressions.expression import ParsedExpression
from robots.formats.description import Along, AxisTurn, Description, DriveCurve, is_oblique
from robots.formats.ratings import Rating
from robots.model import NO_PLATFORM, PLATFORM, Closure, Frame, Inertia, Instance, Limb, Link, Mechanism, Platform
from robots.parameters import LARGEST, Parameter
from robots.redundancy import LinearTask, Task
from robots.types import BASE, IDENTITY, ZERO, Number, Vector

FORMAT = 1
"""Version of the file format."""

AXES: Mapping[str, Vector] = {
    "x": (1.0, 0.0, 0.0),
    "y": (0.0, 1.0, 0.0),
    "z": (0.0, 0.0, 1.0),
    "-x": (-1.0, 0.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
    "-z": (0.0, 0.0, -1.0),
}
"""Axes of joints by the names that files use."""

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_NO_TEXT = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan", "infinity"}
"""Words that a reader of YAML, ours or another, may take for something else than text."""


def text(description: Description, comment: str = "") -> str:
    """Return the text of a robot file. Raises ValueError for a mechanism that the format cannot express."""
    head = "".join(f"# {line}\n" for line in comment.splitlines())
    return head + "\n".join(_lines(_file(description))) + "\n"


def flow(description: Description) -> str:
    """Return the content as a mapping in braces, which may stand in another file; later lines are indented."""
    return _broken(_file(description))


def _file(description: Description) -> dict[str, Any]:
    mechanism = description.template
    file: dict[str, Any] = {"limbsweep": FORMAT, "name": description.name}
    file |= {key: value for key in ("title", "source") if (value := getattr(description, key))}
    if description.parameters:
        file["parameters"] = {each.name: _Inline(_parameter(each)) for each in description.parameters}
    if description.derived:
        file["derived"] = dict(description.derived)
    file["limbs"] = _limbs(description)
    if description.platform is not None:
        file |= _closed_chain(description, description.platform)
    elif description.variants or mechanism.instances != default_instances(mechanism):
        file["instances"] = {each.name: _instance(each, mechanism) for each in mechanism.instances}
    for name, section in _variants(description):
        file["instances"][name] |= section
    if "instances" in file:
        file["instances"] = {name: _Inline(section) for name, section in file["instances"].items()}
    if not mechanism.is_chain:
        file["platform"] = _platform(mechanism.platform)
    elif mechanism.platform != NO_PLATFORM:
        raise ValueError(f"{description.name} has a platform that cannot move; expected none, or mobility")
    if description.ratings:
        file["ratings"] = {rating.joint: _Inline(_rating(rating)) for rating in description.ratings}
    file |= {"massless": description.massless} if description.massless else {}
    return file


def _limbs(description: Description) -> dict[str, Any]:
    """Return the limbs with the reference positions of their joints. Raises ValueError for a name of two limbs."""
    limbs, places = description.template.limbs, dict(description.reference)
    if len({limb.name for limb in limbs}) < len(limbs):
        raise ValueError(f"limbs of {description.name} share a name; expected a name for each: rename one")
    return {
        limb.name: _limb(limb) | ({"reference": _Inline(places[limb.name])} if limb.name in places else {})
        for limb in limbs
    }


def _closed_chain(description: Description, platform: CoupledPlatform) -> dict[str, Any]:
    """Return instances, base and platform of a robot whose coordinates follow from its limbs."""
    instances = description.template.instances
    bodies = {BASE: "platform"} | {k: link.body for k, link in enumerate(platform.links)}
    carriers = {BASE: "base"} | {k: link.body for k, link in enumerate(platform.carriers)}
    nowhere = [BASE] * len(instances)
    sections = {each.name: _instance(each, description.template) for each in instances}
    for key, names, numbers in (("body", bodies, description.joined), ("carrier", carriers, description.standing)):
        for each, number in zip(instances, numbers or nowhere, strict=True):
            sections[each.name] |= {key: names[number]} if number != BASE else {}
    within = {"within": carriers[platform.within]} if platform.within != BASE else {}
    return {
        "instances": sections,
        **_base(platform, carriers),
        "platform": _coupled(platform, bodies) | within,
    }


def _variants(description: Description) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the differences of instances from their limbs, by the name of the instance."""
    mechanism, places = description.template, dict(description.reference)
    for instance, variant in zip(mechanism.instances, description.variants, strict=False):
        section: dict[str, Any] = {"values": _Inline(variant.values)} if variant.values else {}
        section |= {"mirror": variant.mirror} if variant.mirror is not None else {}
        if variant.closed_as:
            limb = mechanism.limbs[instance.limb].name
            section["reference"] = _Inline(places[f"{limb}_{variant.closed_as}"])
        yield instance.name, section


def _platform(platform: Platform) -> dict[str, Any]:
    """Return a platform with a mobility."""
    home = {"home": _Inline(frame)} if (frame := _frame(platform.home)) else {}
    return {"mobility": platform.mobility, "inertia": _Inline(_inertia(platform.inertia)), **home}


def _coupled(platform: CoupledPlatform, bodies: Mapping[int, str]) -> dict[str, Any]:
    section: dict[str, Any] = {"coordinates": platform.coordinates, "inertia": _Inline(_inertia(platform.inertia))}
    section |= {"home": _Inline(frame)} if (frame := _frame(platform.home)) else {}
    section |= {"links": [_Inline(_link(link, bodies)) for link in platform.links]} if platform.links else {}
    section |= {"loops": [_Inline(_closure(each, bodies)) for each in platform.joined]} if platform.joined else {}
    section |= {"independent": platform.independent} if platform.independent else {}
    carried = {link.joint for link in platform.carriers}
    if actuated := tuple(joint for joint in platform.actuated if joint not in carried):
        section["actuated"] = actuated
    if platform.redundant:
        posture = {joint: position for joint, position, _ in platform.posture}
        weights = {joint: weight for joint, _, weight in platform.posture if repr(weight) != "1.0"}
        section["redundancy"] = {"joints": platform.redundant}
        section["redundancy"] |= {"posture": _Inline(posture)} if posture else {}
        section["redundancy"] |= {"weights": _Inline(weights)} if weights else {}
        tasks = {task.name: _Inline(_task(task)) for task in platform.tasks}
        section["redundancy"] |= {"tasks": tasks} if tasks else {}
    return section


def _task(task: Task) -> dict[str, Any]:
    value = {} if task.value is None else {"value": task.value}
    if isinstance(task, LinearTask):
        return {"coefficients": _Inline(dict(zip(task.joints, task.coefficients, strict=True)))} | value
    points = dict(zip(("shoulder", "elbow", "wrist"), task.joints, strict=True))
    return {"arm_angle": _Inline(points | {"reference": task.reference})} | value


def _base(platform: CoupledPlatform, carriers: Mapping[int, str]) -> dict[str, Any]:
    """Return the section `base`, of bodies on which limbs stand, where there are any."""
    if not platform.carriers:
        return {}
    carried = {link.joint for link in platform.carriers}
    section: dict[str, Any] = {"links": [_Inline(_link(link, carriers)) for link in platform.carriers]}
    actuated = tuple(joint for joint in platform.actuated if joint in carried)
    return {"base": section | ({"actuated": actuated} if actuated else {})}


def _rating(rating: Rating) -> dict[str, object]:
    section: dict[str, object] = {**rating.says}
    low, high = section.pop("low", None), section.pop("high", None)
    ends = [end for end in (low, high) if end is not None]
    return ({"position": (low, high)} if len(ends) == 2 else {}) | section


def default_instances(mechanism: Mechanism) -> tuple[Instance, ...]:
    """Return the instances of a chain whose file names none."""
    return (Instance(mechanism.limbs[0].name, 0, Frame(), Frame()),) if mechanism.is_chain else ()


def _parameter(parameter: Parameter) -> dict[str, Any]:
    section: dict[str, Any] = {"default": parameter.default}
    section |= {"unit": parameter.unit} if parameter.unit != "1" else {}
    section |= {"lower": parameter.lower} if parameter.lower > -LARGEST else {}
    section |= {"upper": parameter.upper} if parameter.upper < LARGEST else {}
    return section | {name: getattr(parameter, name) for name in ("text", "source") if getattr(parameter, name)}


def _limb(limb: Limb) -> dict[str, Any]:
    bodies = {BASE: "base", **{k: link.body for k, link in enumerate(limb.links)}}
    section: dict[str, Any] = {"links": [_Inline(_link(link, bodies)) for link in limb.links]}
    for name in ("loops", "tips"):
        if closures := getattr(limb, name):
            section[name] = [_Inline(_closure(each, bodies)) for each in closures]
    section["actuated"] = limb.actuated
    if limb.drives:
        section["drives"] = [_Inline(_drive(drive, bodies)) for drive in limb.drives]
    section |= {"every_row": True} if limb.every_row else {}
    section |= {"independent": limb.independent} if limb.independent else {}
    if limb.couplings:
        joints = dict.fromkeys(entry.joint for entry in limb.couplings)
        section["couplings"] = [_Inline(_coupling(limb, joint)) for joint in joints]
    section |= {"coordinates": limb.coordinates} if limb.coordinates else {}
    return section


def _coupling(limb: Limb, joint: str) -> dict[str, object]:
    """Return the section of a joint that follows one other joint, or several."""
    entries = [entry for entry in limb.couplings if entry.joint == joint]
    if len(entries) == 1:
        return {"joint": joint, "of": entries[0].of, "ratio": entries[0].ratio}
    return {"joint": joint, "of": _Inline((entry.of, entry.ratio) for entry in entries)}


def _drive(drive: Drive, bodies: Mapping[int, str]) -> dict[str, object]:
    section: dict[str, object] = {"name": drive.name}
    section |= {"kind": drive.kind} if drive.kind != "revolute" else {}
    section |= {"ratios": _Inline(drive.ratios)} if drive.ratios else {}
    if isinstance(drive.position, DriveCurve):
        section["position"] = drive.position.expression
    elif drive.position is not None:
        raise ValueError(f"drive {drive.name} has a position that is a Python function; expected an expression")
    if drive.spins:
        section["spins"] = [_Inline(_spin(entry, bodies)) for entry in drive.spins]
    if drive.motor is not None:
        motor: dict[str, object] = {key: getattr(drive.motor, key) for key in ("torque_constant", "resistance")}
        motor |= {} if drive.motor.inductance is None else {"inductance": drive.motor.inductance}
        motor |= {} if _is_zero(drive.motor.bandwidth) else {"bandwidth": drive.motor.bandwidth}
        for key in ("current_controller", "speed_controller"):
            if (gains := getattr(drive.motor, key)) is not None:
                motor[key] = _Inline(vars(gains))
        section["motor"] = _Inline(motor)
    return section


def _spin(spin: Spin, bodies: Mapping[int, str]) -> dict[str, object]:
    section: dict[str, object] = {"inertia": spin.inertia, "carrier": bodies[spin.carrier], "axis": spin.axis}
    section |= {"share": spin.share} if repr(spin.share) != "1.0" else {}
    return section | ({"coupling": spin.coupling} if not _is_zero(spin.coupling) else {})


def _link(link: Link, bodies: Mapping[int, str]) -> dict[str, Any]:
    section: dict[str, Any] = {"joint": link.joint, "body": link.body, "parent": bodies[link.parent], "kind": link.kind}
    section |= {"pitch": link.pitch} if link.pitch is not None else {}
    section["axis"] = link.axis if is_oblique(link.axis) else axis_name(link.axis)
    section |= {"placement": frame} if (frame := _frame(link.placement)) else {}
    section["inertia"] = _inertia(link.inertia)
    return section | ({"armature": link.armature} if not _is_zero(link.armature) else {})


def axis_name(axis: Vector) -> str:
    """Return the name of a coordinate axis. Raises ValueError for another axis."""
    for name, axis_vector in AXES.items():
        if axis == axis_vector:
            return name
    raise ValueError(f"axis {axis} of a joint; expected a coordinate axis: turn the frame of the link")


def _closure(closure: Closure, bodies: Mapping[int, str]) -> dict[str, Any]:
    section: dict[str, Any] = {"joint": closure.joint, "kind": closure.kind}
    section |= {"pitch": closure.pitch} if closure.pitch is not None else {}
    section["a"] = bodies[closure.a]
    section |= {"frame_a": frame} if (frame := _frame(closure.frame_a)) else {}
    section |= {"b": bodies[closure.b]} if closure.b != PLATFORM else {}
    return section | ({"frame_b": frame} if (frame := _frame(closure.frame_b)) else {})


def _instance(instance: Instance, mechanism: Mechanism) -> dict[str, Any]:
    section: dict[str, Any] = {"limb": mechanism.limbs[instance.limb].name}
    section |= {"base": frame} if (frame := _frame(instance.base)) else {}
    return section | ({"platform": frame} if (frame := _frame(instance.platform)) else {})


def _frame(frame: Frame) -> dict[str, Any]:
    rotation: Any = frame.rotation
    section: dict[str, Any] = {}
    if isinstance(rotation, AxisTurn):
        section["turn"] = [{axis: angle} for axis, angle in rotation.steps]
    elif isinstance(rotation, Along):
        section["along"] = rotation.direction
    elif repr(rotation) != repr(IDENTITY):
        section["rotation"] = rotation
    return section | ({"position": frame.position} if repr(frame.position) != repr(ZERO) else {})


def _inertia(inertia: Inertia) -> dict[str, Any]:
    section: dict[str, Any] = {"mass": inertia.mass}
    section |= {"centre": inertia.centre} if repr(inertia.centre) != repr(ZERO) else {}
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = inertia.tensor
    if (xy, xz, yz) != (yx, zx, zy):
        raise ValueError(f"inertia tensor {inertia.tensor}; expected a symmetric one")
    section |= {"moments": (xx, yy, zz)} if not all(map(_is_zero, (xx, yy, zz))) else {}
    return section | ({"products": (xy, xz, yz)} if not all(map(_is_zero, (xy, xz, yz))) else {})


def _is_zero(value: Number) -> bool:
    return not isinstance(value, ParsedExpression) and repr(float(value)) == "0.0"


class _Inline(dict[str, Any]):
    """A mapping that is written in one line."""


def _lines(data: Any, indent: str = "") -> Iterator[str]:
    """Yield the lines of block style for a value that does not fit in a line."""
    for key, value in data.items():
        start = f"{indent}{_inline(key)}:"
        if isinstance(value, dict) and not isinstance(value, _Inline):
            yield start
            yield from _lines(value, indent + "  ")
        elif isinstance(value, list):
            yield start
            yield from (f"{indent}  - {_inline(each)}" for each in value)
        else:
            yield f"{start} {_inline(value)}"


def _broken(value: Any) -> str:
    """Write a value in one line, with long entries on their own lines: no line of a file is endless."""
    if isinstance(value, dict) and not isinstance(value, _Inline):
        return "{" + ",\n  ".join(f"{_inline(key)}: {_broken(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",\n  ".join(map(_broken, value)) + "]"
    return _inline(value)


def scalar(text: str) -> str:
    """Return a text as YAML: plain where no reader takes it for something else, else in quotes."""
    plain = _WORD.fullmatch(text) and text.lower() not in _NO_TEXT
    return text if plain else json.dumps(text, ensure_ascii=False)


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_inline(key)}: {_inline(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, ParsedExpression):
        value = value.text
    if isinstance(value, str):
        return scalar(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int) else repr(float(value))
