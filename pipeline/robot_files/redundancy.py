"""Read the redundancy of a robot file: the posture and the tasks of joints that a platform's coordinates leave free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report
from pipeline.robot_files.sections import RedundancySection, TaskSection
from pipeline.robot_files.values import ValueReader
from robots.coupled import COORDINATES, NAME, CoupledPlatform
from robots.expressions.expression import ParsedExpression
from robots.model import Instance, Limb
from robots.redundancy import ArmAngle, LinearTask, Task
from robots.types import Number

PATH = ("platform", "redundancy")

Redundancy = tuple[tuple[str, ...], tuple[tuple[str, Number, Number], ...], tuple[Task, ...]]


class RedundancyReader:
    """Reader of redundant joints, and of the posture and the tasks that decide them."""

    def __init__(self, values: ValueReader) -> None:
        self.values = values
        self.report: Report = values.report

    def read(self, section: RedundancySection | None, path: KeyPath) -> Redundancy:
        """Read the posture's joints by name (joint, position, weight), and the tasks; none without the section."""
        if section is None:
            return (), (), ()
        self.report.require_once((*path, "joints"), section.joints, "every joint once")
        for joint in section.weights:
            if joint not in section.posture:
                hint = "Give its position under posture."
                self.report((*path, "weights", joint), joint, "a joint of the posture", hint, key=True)
        numbers = {
            key: {joint: self.values.number(value, (*path, key, joint)) for joint, value in values.items()}
            for key, values in (("posture", section.posture), ("weights", section.weights))
        }
        for joint, weight in numbers["weights"].items():
            if not isinstance(weight, ParsedExpression) and not weight > 0:
                self.report((*path, "weights", joint), weight, "a weight above 0", "Leave the joint out for none.")
        weights = numbers["weights"]
        posture = tuple((name, at, weights.get(name, 1.0)) for name, at in numbers["posture"].items())
        tasks = tuple(self._task(name, task, (*path, "tasks", name)) for name, task in section.tasks.items())
        self._count(section, path)
        return section.joints, posture, tasks

    def _task(self, name: str, section: TaskSection, path: KeyPath) -> Task:
        """Read one task."""
        value = None if section.value is None else self.values.number(section.value, (*path, "value"))
        angle = section.arm_angle
        if (angle is None) == (not section.coefficients):
            got = "neither coefficients nor arm_angle" if angle is None else "both coefficients and arm_angle"
            self.report(path, Got(got), "one of coefficients and arm_angle", "They say which quantity has the value.")
        if angle is None:
            where = (*path, "coefficients")
            numbers = {joint: self.values.number(x, (*where, joint)) for joint, x in section.coefficients.items()}
            for joint, number in section.coefficients.items():
                if number == 0:
                    self.report((*where, joint), number, "a number other than zero", "Leave the joint out for none.")
            return LinearTask(name, tuple(numbers), tuple(numbers.values()), value)
        where = (*path, "arm_angle")
        joints = (angle.shoulder, angle.elbow, angle.wrist)
        for k, key in enumerate(("shoulder", "elbow", "wrist")):
            if joints[k] in joints[:k]:
                self.report((*where, key), Got(f"{joints[k]} again"), "three joints", "Name another one.")
        reference = self.values.direction(angle.reference, (*where, "reference"))
        return ArmAngle(name, *joints, reference, value)

    def _count(self, section: RedundancySection, path: KeyPath) -> None:
        """Report tasks that are too many, or too few to decide all joints."""
        tasks, joints = len(section.tasks), len(section.joints)
        where = (*path, "tasks")
        if tasks > joints or (tasks and tasks < joints and not section.posture):
            hint = "With fewer tasks a posture decides the rest."
            got = f"{tasks} task{'s' if tasks > 1 else ''} for {joints} joint{'s' if joints > 1 else ''}"
            self.report(where, Got(got), "as many tasks as joints", hint)
        elif tasks == joints and section.posture:
            got, rule = "a posture beside as many tasks as joints", "one for the freedoms that tasks leave, or none"
            self.report((*path, "posture"), Got(got), rule, "Remove it, or a task.")

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
        self._check_tasks(platform.tasks, [*known, *others])

    def _check_tasks(self, tasks: Sequence[Task], known: Sequence[str]) -> None:
        """Report tasks of joints that the robot does not have, or that are called as one of them."""
        every = [*known, *(f"{NAME}_{entry}" for entry in COORDINATES)]
        for task in tasks:
            path = (*PATH, "tasks", task.name)
            if task.name in every:
                self.report(path, task.name, "a name that no joint has", "Rename it.", key=True)
            if isinstance(task, LinearTask):
                for joint in task.joints:
                    self._known(joint, every, (*path, "coefficients", joint))
            else:
                for key in ("shoulder", "elbow", "wrist"):
                    self._known(getattr(task, key), known, (*path, "arm_angle", key), key=False)

    def _known(self, joint: str, known: Sequence[str], where: KeyPath, *, key: bool = True) -> None:
        rule, hint = "a joint of a limb, of the base or of the platform's links", "Joints of limbs are INSTANCE.JOINT."
        self.report.require_known(where, joint, known, rule, key=key, hint=hint)


def weights_above_zero(report: Report, platform: CoupledPlatform, known: Mapping[str, Any]) -> None:
    """Report weights that are not above zero with the defaults of the parameters."""
    for joint, _, weight in platform.posture:
        if isinstance(weight, ParsedExpression) and not (value := float(weight(known))) > 0:
            got = Got(f"{weight.text}, which is {value:g}")
            report((*PATH, "weights", joint), got, "a weight above 0", "With the defaults of the parameters.")
