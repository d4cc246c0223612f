"""Read how actuators of a robot with more of them than freedoms share forces, the section `sharing` of a sweep file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from pipeline.documents.report import Got, Report, sentence
from pipeline.sweep.actuators.sections import SharingSection
from pipeline.sweep.friction import FrictionContent
from pipeline.sweep.friction_sets import FrictionAxis
from pipeline.sweep.reading import SectionContent, SweepReading, optional
from robots.limits import (
    EVEN_SHARING,
    LEAST_MAXIMUM,
    MOST_CORNERS,
    ActuatorSharing,
    OffTime,
    corner_count,
    select_actuators,
)
from robots.model import Mechanism
from robots.parameter_errors import ParameterError

SHARING_KEY = "sharing"


class SharingContent(SectionContent[ActuatorSharing, SharingSection | None]):
    """Rule by which more actuators than freedoms share forces."""

    key = SHARING_KEY
    is_input = True
    field = optional(SharingSection, "how more actuators than freedoms share forces; default: by least squares")
    after = ("friction",)

    @classmethod
    def read(cls, reading: SweepReading) -> Self:
        """Read the rule of the robot's actuators."""
        friction, simulated = reading.value(FrictionContent), reading.file.simulation is not None
        return cls(read_sharing(reading.report, reading.said(cls), reading.mechanism, friction, simulated=simulated))

    def describe(self) -> dict[str, Any]:
        """Describe a rule other than least squares of all forces."""
        return {SHARING_KEY: describe_sharing(self.value)} if self.value != EVEN_SHARING else {}


def read_sharing(
    report: Report,
    section: SharingSection | None,
    mechanism: Mechanism | None,
    friction: FrictionAxis | None,
    *,
    simulated: bool,
) -> ActuatorSharing:
    """Read the section; without it, or without a mechanism, least squares of forces. Problems go to `report`."""
    if section is None or mechanism is None:
        return EVEN_SHARING
    spare = len(mechanism.actuators) - len(mechanism.freedoms)
    if spare <= 0 or simulated:
        got = "a simulation" if simulated else f"a robot with {len(mechanism.actuators)} actuators for as many freedoms"
        report((SHARING_KEY,), Got(got), "forces that a motion leaves open", "Leave sharing out.", key=True)
        return EVEN_SHARING
    if section.rule == LEAST_MAXIMUM:
        corners, most = corner_count(len(mechanism.actuators), spare), MOST_CORNERS
        rubbing = friction is not None and any(at.actuator < 0 for group in friction.groups for at in group.places)
        for wrong, got, hint in (
            (
                corners > most,
                f"{spare} spare actuators, {corners:,} corners of {most:,} at most",
                "Take least_squares.",
            ),
            (bool(section.preload), "a preload", "Leave preload out, or take least_squares."),
            (rubbing, "friction in passive joints", "Take least_squares."),
        ):
            if wrong:
                report((SHARING_KEY, "rule"), Got(f"least_maximum with {got}"), "a robot that this rule allows", hint)
    weights = _of_actuators(report, section.weights, mechanism, "weights", 1.0)
    preload = _of_actuators(report, section.preload, mechanism, "preload", 0.0)
    sharing = ActuatorSharing(section.rule, weights, preload, tuple(_off(report, section.off, mechanism)))
    if (most := sharing.most_off()) > spare:
        hint = "With fewer than freedoms nothing holds the robot."
        report((SHARING_KEY, "off"), Got(f"{most} actuators off at once"), f"at most {spare}, the spare ones", hint)
    switched = {time.actuator for time in sharing.off}
    if friction is not None and any(at.actuator in switched for group in friction.groups for at in group.places):
        hint = "The others would have to overcome it, which is not modelled. Name other joints."
        report((SHARING_KEY, "off"), Got("friction in an actuator that is off"), "actuators without friction", hint)
    return sharing


def _off(report: Report, entries: Mapping[str, Sequence[Sequence[float]]], mechanism: Mechanism) -> Iterator[OffTime]:
    """Yield the times in which actuators give no force."""
    for name, times in entries.items():
        try:
            hits = select_actuators(mechanism, name)
        except ParameterError as error:
            report((SHARING_KEY, "off", name), name, "actuators of the robot", sentence(str(error)), key=True)
            continue
        for index, (start, stop) in enumerate(times):
            if not 0.0 <= start < stop:
                hint = "Write when the actuator is switched off, and when on again."
                report(
                    (SHARING_KEY, "off", name, index),
                    [start, stop],
                    "two times, the first from 0 and before the other",
                    hint,
                )
            yield from (OffTime(hit, start, stop) for hit in hits)


def _of_actuators(
    report: Report, entries: Mapping[str, float], mechanism: Mechanism, key: str, default: float
) -> tuple[float, ...]:
    """Return a number for each actuator; empty without an entry."""
    numbers: dict[int, float] = {}
    for name, value in entries.items():
        try:
            hits = select_actuators(mechanism, name)
        except ParameterError as error:
            report((SHARING_KEY, key, name), name, "actuators of the robot", sentence(str(error)), key=True)
            continue
        if any(hit in numbers for hit in hits):
            hint = "Another key selects some of them, too. Name them one by one."
            report((SHARING_KEY, key, name), name, "actuators that no other key selects", hint, key=True)
        numbers |= dict.fromkeys(hits, value)
    return tuple(numbers.get(k, default) for k in range(len(mechanism.actuators))) if entries else ()


def describe_sharing(sharing: ActuatorSharing) -> dict[str, Any]:
    """Describe a sharing in types of JSON."""
    off = {"off": [list(time) for time in sharing.off]} if sharing.off else {}
    return {"rule": sharing.rule, "weights": list(sharing.weights), "preload": list(sharing.preload)} | off
