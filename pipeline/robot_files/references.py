"""Close limbs from rough positions of their joints: those of a limb, or in their place those of an instance of it.

Instances of one limb that are mounted in different ways close at different positions of their joints. Each of them is
then a limb of its own, whose joints count from there.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report, sentence
from pipeline.robot_files.sections import RobotFile
from robots.coupled import grounded, grounds_of, homes_of
from robots.data_classes import dataclass, replace
from robots.formats import assembly, checks
from robots.formats.assembly import References, Setting
from robots.formats.description import PLAIN, Description, Variant
from robots.parameter_errors import nearest
from robots.types import BASE

NO_VALUES = "Move the rough positions; or lengths do not reach: look at them, and at the platform's home."


@dataclass(frozen=True)
class _Rough:
    """Rough positions of the joints of an instance: where they stand in the file, and by name."""

    path: KeyPath
    positions: Mapping[str, float]
    of_limb: bool


@dataclass(frozen=True)
class _Closed:
    """Instance of a limb that is closed: its variant, rough positions, and the closed positions of its joints."""

    variant: Variant
    rough: _Rough
    values: np.ndarray

    def serves(self, variant: Variant, rough: _Rough, setting: Setting) -> bool:
        """Return whether another instance with a variant and rough positions closes at the same positions."""
        agrees = (self.variant.values, self.variant.mirror) == (variant.values, variant.mirror)
        agrees = agrees and rough.positions == self.rough.positions
        return agrees and float(np.abs(setting.residual(self.values)).max(initial=0.0)) <= checks.GAP


def closed_limbs(report: Report, file: RobotFile, description: Description) -> Description:
    """Return the description whose joints count from closed loops; loops that stay open go to the report."""
    stated = _stated(file, description)
    if not stated:
        return description
    count = len(description.template.instances)
    before = description.variants or (PLAIN,) * count
    apart = [
        replace(variant, closed_as=instance.name) if number in stated else variant
        for number, (variant, instance) in enumerate(zip(before, description.template.instances, strict=True))
    ]
    settings = _settings(replace(description, variants=tuple(apart)))
    variants, references = list(before), dict[str, tuple[tuple[str, float], ...]]()
    first, told_paths = dict[int, list[_Closed]](), set[KeyPath]()
    for number, rough in stated.items():
        source, setting = description.template.instances[number].limb, settings[number]
        closed = first.setdefault(source, [])
        similar = next((entry for entry in closed if entry.serves(before[number], rough, setting)), None)
        if similar is None:
            plain = rough.of_limb and before[number] == PLAIN and not any(entry.variant == PLAIN for entry in closed)
            name = "" if plain else description.template.instances[number].name
            values = _values(report, description, rough, setting, told_paths)
            similar = _Closed(replace(before[number], closed_as=name), rough, values)
            closed.append(similar)
            limb = description.template.limbs[source].name
            names = [link.joint for link in setting.limb.links]
            pairs = tuple((joint, float(x)) for joint, x in zip(names, values, strict=True) if x)
            references[f"{limb}_{name}" if similar.variant != PLAIN else limb] = pairs
        variants[number] = similar.variant
    return replace(
        description,
        variants=tuple(variants) if any(variant != PLAIN for variant in variants) else (),
        reference=References(references.items()),
    )


def _stated(file: RobotFile, description: Description) -> dict[int, _Rough]:
    """Return the rough positions of instances that have them, by their numbers."""
    stated: dict[int, _Rough] = {}
    for number, instance in enumerate(description.template.instances):
        name = description.template.limbs[instance.limb].name
        of_limb = file.limbs[name].reference
        section = (file.instances or {}).get(instance.name)
        if section is not None and section.reference is not None:
            stated[number] = _Rough(("instances", instance.name, "reference"), _numbers(section.reference), False)
        elif of_limb is not None:
            stated[number] = _Rough(("limbs", name, "reference"), _numbers(of_limb), True)
    return stated


def _numbers(positions: Mapping[str, float]) -> dict[str, float]:
    return {joint: float(value) for joint, value in positions.items()}


def _settings(description: Description) -> list[Setting]:
    """Return the limbs of all instances in numbers, with the defaults of all parameters, where they are mounted."""
    mechanism, platform = description.parts({entry.name: entry.scalar for entry in description.parameters})
    homes, grounds = (homes_of(platform), grounds_of(platform)) if platform else ({}, {})
    settings = []
    for number, instance in enumerate(mechanism.instances):
        body = description.joined[number] if description.joined else BASE
        if description.standing:
            instance = grounded(instance, grounds[description.standing[number]])
        settings.append(Setting(mechanism.limbs[instance.limb], instance, homes.get(body, mechanism.platform.home)))
    return settings


def _values(
    report: Report, description: Description, rough: _Rough, setting: Setting, told_paths: set[KeyPath]
) -> np.ndarray:
    """Return positions of the joints of a limb that close it; limbs that stay open are reported, once for each path."""
    limb, names = setting.limb, [link.joint for link in setting.limb.links]
    for name in rough.positions if rough.path not in told_paths else ():
        if name not in names:
            told_paths.add(rough.path)
            hint = sentence(nearest(name, names))
            report((*rough.path, name), name, "a joint of a link of this limb", hint, key=True)
    chain = description.template.is_chain and description.platform is None
    fixed = (limb.independent or limb.actuated) if chain else ()
    held = [*(names.index(name) for name in fixed), *limb.followers]
    guess = np.array([rough.positions.get(name, 0.0) for name in names])
    values, residual = assembly.close_from_rough(setting, guess, held)
    if residual > checks.GAP and rough.path not in told_paths:
        told_paths.add(rough.path)
        of = "" if description.template.is_chain else f" of {setting.instance.name}"
        got = f"loops{of} that stay open by {residual:.3g} from there, most of all joint {setting.widest(values)}"
        hint = "Move the rough positions, or those of the joints that are driven, which stay as they are."
        report(rough.path, Got(got), "positions near which all loops can be closed", hint if fixed else NO_VALUES)
    return values
