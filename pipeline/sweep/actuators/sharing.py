"""Read how actuators of a robot with more of them than freedoms share forces, the section `sharing` of a sweep file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.documents.report import Got, Report, sentence
from pipeline.sweep.friction import FrictionAxis
from pipeline.sweep.sections import SweepFile
from robots.limits import EVEN_SHARING, LEAST_MAXIMUM, ActuatorSharing, select_actuators
from robots.model import Mechanism
from robots.parameters import ParameterError

KEY = "sharing"


def read_sharing(
    report: Report, file: SweepFile, mechanism: Mechanism | None, friction: FrictionAxis | None
) -> ActuatorSharing:
    """Read the section; without it, or without a mechanism, least squares of forces. Problems go to `report`."""
    section = file.sharing
    if section is None or mechanism is None:
        return EVEN_SHARING
    spare = len(mechanism.actuators) - len(mechanism.freedoms)
    if spare <= 0 or file.simulation is not None:
        simulated = file.simulation is not None
        got = "a simulation" if simulated else f"a robot with {len(mechanism.actuators)} actuators for as many freedoms"
        report((KEY,), Got(got), "forces that a motion leaves open", "Leave sharing out.", key=True)
        return EVEN_SHARING
    if section.rule == LEAST_MAXIMUM:
        rubbing = friction is not None and any(at.actuator < 0 for group in friction.groups for at in group.places)
        for wrong, got, hint in (
            (spare > 1, f"{spare} actuators more than freedoms", "Take least_squares."),
            (bool(section.preload), "a preload", "Leave preload out, or take least_squares."),
            (rubbing, "friction in passive joints", "Take least_squares."),
        ):
            if wrong:
                report((KEY, "rule"), Got(f"least_maximum with {got}"), "what this rule is for", hint)
    weights = _of_actuators(report, section.weights, mechanism, "weights", 1.0)
    return ActuatorSharing(section.rule, weights, _of_actuators(report, section.preload, mechanism, "preload", 0.0))


def _of_actuators(
    report: Report, entries: Mapping[str, float], mechanism: Mechanism, key: str, default: float
) -> tuple[float, ...]:
    """A number for each actuator; none where nothing is said."""
    numbers: dict[int, float] = {}
    for name, value in entries.items():
        try:
            hits = select_actuators(mechanism, name)
        except ParameterError as error:
            report((KEY, key, name), name, "actuators of the robot", sentence(str(error)), key=True)
            continue
        if any(hit in numbers for hit in hits):
            hint = "Another key selects some of them, too. Name them one by one."
            report((KEY, key, name), name, "actuators that no other key selects", hint, key=True)
        numbers |= dict.fromkeys(hits, value)
    return tuple(numbers.get(k, default) for k in range(len(mechanism.actuators))) if entries else ()


def describe_sharing(sharing: ActuatorSharing) -> dict[str, Any]:
    """Describe a sharing in types of JSON."""
    return {"rule": sharing.rule, "weights": list(sharing.weights), "preload": list(sharing.preload)}
