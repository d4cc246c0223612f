"""Tests of the description of payloads: that a payload has its stated mass, that a recording carries no other load."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from applications.identification.estimation.machines.fitting import MachineFit
from applications.identification.estimation.machines.machine import RecordedMachine
from applications.identification.estimation.machines.payload import payload_places
from applications.identification.estimation.machines.residuals import Extension
from applications.identification.estimation.machines.run import Run

PAYLOAD, LOAD = "payload", "load"


def payload_extensions(machine: RecordedMachine, fit: MachineFit) -> Iterator[Extension]:
    """Yield the forces of each payload whose mass was said, and those of another load in each recording but the first.

    Values of the former are shares of the payload that are missing; other recordings tell it from its body itself.
    """
    runs = machine.of("train")
    said = {run.recording.name: machine.forces_of_payload(run) for run in runs if machine.is_loaded(run.recording)}
    for alike in machine.loaded_alike():
        if names := [name for name in alike if name in said]:
            parts = [said[run.recording.name][:, :, None] if run.recording.name in names else None for run in runs]
            yield Extension(f"{PAYLOAD} {', '.join(names)}", _columns(runs, parts, fit))
    if machine.model.coupled(machine.robot) is not None or not (places := _carrier(machine)):
        return
    for run in runs[1:]:
        parts = [run.matrix[:, :, places] if other is run else None for other in runs]
        yield Extension(f"{LOAD} {run.recording.name}", _columns(runs, parts, fit))


def _carrier(machine: RecordedMachine) -> list[int]:
    """Return the places of the columns of the body that carries loads; empty without such a body."""
    payload = next((payload for payload in machine.payloads if payload is not None), None)
    return payload.places(machine.columns) if payload is not None else payload_places(machine.robot, machine.columns)


def _columns(runs: list[Run], parts: list[np.ndarray | None], fit: MachineFit) -> tuple[np.ndarray, ...]:
    """Return columns of all recordings over the noise, which are zero in those without a part."""
    count = next(part.shape[2] for part in parts if part is not None)
    zeros = [np.zeros((*run.forces.shape, count)) for run in runs]
    return tuple((zero if part is None else part) / fit.noise[:, None] for zero, part in zip(zeros, parts, strict=True))
