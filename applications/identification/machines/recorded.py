"""Recordings of a machine in one store: raw data, prepared data, and their origin.

Raw signals are those of the files in SI units and the order of the actuators; an identification of the store goes on
from them, so that it has the same bits wherever the files have gone. Prepared ones are for others to look at.
"""

from __future__ import annotations

import datetime
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from applications.identification.estimation.machines.preparation import Prepared, Signals
from applications.identification.machines.described import RecordingDescription, RecordingFiles
from applications.identification.machines.description import parse_description
from applications.identification.machines.identify import MachineIdentification
from pipeline.documents.files import digest
from pipeline.documents.tables.columns import RECORDED
from pipeline.execution.versions import versions
from storage.errors import StoreError
from storage.places.location import LocationLike
from storage.store import create_arrays, has_arrays, open_arrays

RAW, PREPARED = "raw", "prepared"
SAMPLES, VALUES = ("sample",), ("sample", "actuator")
SIGNALS = ("time", "position", "force", "velocity", "reference")
MOTIONS = ("position", "velocity", "acceleration", "force", "usable", "resting")
FORMAT = 1


def is_recorded(store: LocationLike) -> bool:
    """Return whether a store of recordings exists."""
    return has_arrays(store)


def save_recordings(result: MachineIdentification, store: LocationLike) -> None:
    """Write the recordings of an identification to a new store, raw and prepared, with their provenance.

    Raises StoreError.
    """
    description = result.description
    arrays: dict[str, np.ndarray] = {}
    for k, signals in enumerate(result.raw):
        present = {name: getattr(signals, name) for name in SIGNALS}
        arrays |= {f"{RAW}.{k}.{name}": values for name, values in present.items() if values is not None}
    for k, prepared in enumerate(result.machine.recordings):
        arrays |= {f"{PREPARED}.{k}.{name}": np.asarray(getattr(prepared, name)) for name in MOTIONS}
    record = {
        "format": FORMAT,
        "title": description.title,
        "description": description.text,
        "robot": description.robot.name,
        "robot_file": description.robot_file,
        "robot_text": description.robot_text,
        "robot_name": description.robot_source,
        "actuators": list(description.robot.mechanism.actuators),
        "units": "SI: s, rad or m, N m or N",
        "recordings": [
            {
                "name": signals.name,
                "role": signals.role,
                "files": [_origin(path) for path in files.paths],
                "prepared": _chosen(prepared),
            }
            for signals, files, prepared in zip(
                result.raw, description.recordings, result.machine.recordings, strict=True
            )
        ],
        "versions": versions(),
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
    create_arrays(store, arrays, {name: SAMPLES if values.ndim == 1 else VALUES for name, values in arrays.items()},
                  json.dumps(record, indent=1, allow_nan=False))  # fmt: skip


def _origin(path: Path) -> dict[str, Any]:
    """Return the name, size and SHA-256 of a file that was read."""
    length, checksum = digest(str(path), RECORDED.file)
    return {"name": path.name, "bytes": length, "sha256": checksum}


def _chosen(prepared: Prepared) -> dict[str, Any]:
    """Return the settings that the preparation has used, and the outliers that it has replaced."""
    used = {name: value for name, value in vars(prepared.used).items() if value not in (None, np.inf)}
    return {"step": prepared.step, **used, "outliers_replaced": prepared.replaced}


def read_recordings(
    store: LocationLike, method: str | None = None, deviations: str | None = None
) -> RecordingDescription:
    """Read description and raw signals of a store of recordings; method, deviations: in place of the description's.

    Raises StoreError for a store that is damaged or of another kind, InputError.
    """
    arrays, text = open_arrays(store)
    record = json.loads(text)
    try:
        if record["format"] != FORMAT:
            raise KeyError(f"format {record['format']}")
        signals = tuple(_signals(arrays, k, entry) for k, entry in enumerate(record["recordings"]))
        names = [RecordingFiles((), entry["role"], entry["name"]) for entry in record["recordings"]]
        description = _described(record, names, method, deviations)
    except (KeyError, TypeError) as error:
        raise StoreError(f"{store}: is no store of recordings of this version: {error}") from None
    return replace(description, recordings=tuple(names), stored=signals, title=str(record["title"]))


def _described(
    record: Mapping[str, Any], recordings: Sequence[RecordingFiles], method: str | None, deviations: str | None
) -> RecordingDescription:
    """Return the description, whose robot is read from the text of its file in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        robot = record["robot_name"]
        if record["robot_text"] is not None:
            robot = os.path.join(folder, Path(record["robot_file"]).name)
            Path(robot).write_text(record["robot_text"], encoding="utf-8")
        files = [(entry.name, entry.role) for entry in recordings]
        text = record["description"]
        return parse_description(text, "description", robot=robot, files=files, method=method, deviations=deviations)


def _signals(arrays: Mapping[str, np.ndarray], number: int, entry: Mapping[str, Any]) -> Signals:
    arrays_by_name = {name: arrays.get(f"{RAW}.{number}.{name}") for name in SIGNALS}
    time, position, force = (arrays_by_name[name] for name in SIGNALS[:3])
    if time is None or position is None or force is None:
        raise KeyError(f"{RAW}.{number}")
    return Signals(
        entry["name"], entry["role"], time, position, force, arrays_by_name["velocity"], arrays_by_name["reference"]
    )
