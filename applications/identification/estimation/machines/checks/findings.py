"""Findings of the checks of a recording, and the kinds of findings."""

from __future__ import annotations

from robots.data_classes import dataclass

KINDS = {
    "repeated": "the samples of a recording count twice",
    "missing": "a number is missing",
    "rows": "rows of the file were left out",
    "constant": "a signal does not change",
    "stuck": "a sensor stands still and then jumps",
    "still": "nothing moves",
    "wrapped": "angles jump by whole turns",
    "velocity": "a velocity is not the rate of its position",
    "time": "the time between samples cannot be",
    "clipped": "forces stand at a limit",
    "limits": "a motion is beyond the limits of the robot",
    "sign": "force and motion of an actuator have opposite signs",
    "swapped": "columns of two actuators are exchanged",
    "units": "positions are in another unit",
    "zero": "the zero of a position is off by a quarter or half a turn",
    "gear": "the ratio of a gear is not right",
    "gravity": "gravity points the other way",
    "scale": "forces are many times the forces for the robot's inertia, or a small part of them",
}
"""Kinds of findings; a user may accept a kind."""


@dataclass(frozen=True)
class RecordingFinding:
    """Fault of a recording: kind, recording, actuator or none, text. Errors stop an identification, others warn."""

    kind: str
    recording: str
    actuator: str
    text: str
    is_error: bool = True

    def __str__(self) -> str:
        """Format the recording, actuator and fault."""
        return f"{self.recording}{f' {self.actuator}' if self.actuator else ''}: {self.text}"
