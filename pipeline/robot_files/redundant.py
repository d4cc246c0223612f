"""Read what becomes of joints that the coordinates of a platform leave free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.yaml import KeyPath
from pipeline.robot_files.sections import RedundancySection
from pipeline.robot_files.values import ValueReader
from robots.coupled import CoupledPlatform
from robots.expressions.expression import Expression
from robots.model import Instance, Limb
from robots.parameters import nearest
from robots.types import Number

PATH = ("platform", "redundancy")

Redundancy = tuple[tuple[str, ...], tuple[tuple[str, Number, Number], ...]]


class RedundancyReader:
    """Reads joints that are redundant, and the posture that decides them."""

    def __init__(self, values: ValueReader) -> None:
        self.values = values
        self.report: Report = values.report

    def read(self, section: RedundancySection | None, path: KeyPath) -> Redundancy:
        """The joints by name, and (joint, position, weight) of the posture; neither without the section."""
        if section is None:
            return (), ()
        for k, joint in enumerate(section.joints):
            if joint in section.joints[:k]:
                self.report((*path, "joints", k), Got(f"{joint} again"), "every joint once", "Remove one.")
        for joint in section.weights:
            if joint not in section.posture:
                hint = "Give its position under posture."
                self.report((*path, "weights", joint), joint, "a joint of the posture", hint, key=True)
        numbers = {
            key: {joint: self.values.number(value, (*path, key, joint)) for joint, value in values.items()}
            for key, values in (("posture", section.posture), ("weights", section.weights))
        }
        for joint, weight in numbers["weights"].items():
            if not isinstance(weight, Expression) and not weight > 0:
                self.report((*path, "weights", joint), weight, "a weight above 0", "Leave the joint out for none.")
        weights = numbers["weights"]
        return section.joints, tuple((name, at, weights.get(name, 1.0)) for name, at in numbers["posture"].items())

    def check(self, platform: CoupledPlatform, limbs: Sequence[Limb], instances: Sequence[Instance]) -> None:
        """Report joints that the robot does not have, or whose motion is given already."""
        others = [link.joint for link in (*platform.carriers, *platform.links)]
        known = [f"{entry.name}.{link.joint}" for entry in instances for link in limbs[entry.limb].links]
        for k, joint in enumerate(platform.redundant):
            where = (*PATH, "joints", k)
            self._known(joint, [*known, *others], where, key=False)
            if joint in platform.independent:
                self.report(where, joint, "no joint under independent as well", "Remove one of them.")
        for joint, _, _ in platform.posture:
            self._known(joint, [*known, *others], (*PATH, "posture", joint))

    def _known(self, joint: str, known: Sequence[str], where: KeyPath, *, key: bool = True) -> None:
        if joint not in known:
            hint = f"{sentence(nearest(joint, known))} Joints of limbs are INSTANCE.JOINT.".strip()
            self.report(where, joint, "a joint of a limb, of the base or of the platform's links", hint, key=key)


def weights_above_zero(report: Report, platform: CoupledPlatform, known: Mapping[str, Any]) -> None:
    """Report weights that are not above zero with the defaults of the parameters."""
    for joint, _, weight in platform.posture:
        if isinstance(weight, Expression) and not (value := float(weight(known))) > 0:
            got = Got(f"{weight.text}, which is {value:g}")
            report((*PATH, "weights", joint), got, "a weight above 0", "With the defaults of the parameters.")
