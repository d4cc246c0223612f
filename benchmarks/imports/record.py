"""Verdicts on the attributes of MuJoCo's models, in a file of the repository for the page of robot files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

RECORD = Path(__file__).parents[1] / "records" / "mjcf.json"

VERDICTS = ("read", "told", "refused", "invalid", "idle")
"""Outcomes of an attribute. Read: into the tree with the forces of MuJoCo. Told: reported by a warning.

Refused: inexpressible in a robot file. Invalid: a wrong value of a readable attribute, such as loops that do not close.
Idle: without effect on dynamics.
"""

NOT_TRIED = "not tried"
"""Verdict on an attribute of which MuJoCo compiles no value here."""

REASONS: dict[tuple[str, str], str] = {
    (element, name): "the models have no plugin of such an element; models with plugins are refused"
    for element in ("body/plugin", "flexcomp/plugin")
    for name in ("instance", "plugin")
}
"""Reasons why attributes of elements are not tried."""

Row = dict[str, list[str]]
"""Attributes of an element by their verdicts."""


def row(attributes: Iterable[str], by_attribute: Mapping[str, set[str]]) -> Row:
    """Return the verdicts on the attributes of an element.

    by_attribute: verdicts on the values of each attribute. An attribute without effect has none other; a value that is
    refused alone does not count where others are read.
    """
    result = Row()
    for attribute in attributes:
        verdicts = by_attribute.get(attribute, {NOT_TRIED})
        for verdict in [word for word in VERDICTS[:4] if word in verdicts] or verdicts:
            if verdict != "invalid" or "read" not in verdicts:
                result.setdefault(verdict, []).append(attribute)
    return result


def read() -> dict[str, Any]:
    """Return the version of MuJoCo under `mujoco`, and the row of each element under `elements`."""
    result: dict[str, Any] = json.loads(RECORD.read_text("utf-8"))
    return result


def write(path: str, schema: Mapping[str, tuple[str, ...]], by_attribute: Mapping[str, set[str]], version: str) -> None:
    """Write the row of an element of a schema, by the verdicts on its attributes, and keep those of others."""
    known = read()["elements"] if RECORD.exists() else {}
    known[path] = row(schema[path], by_attribute)
    rows = {element: known[element] for element in schema if element in known}
    RECORD.write_text(json.dumps({"mujoco": version, "elements": rows}, indent=1) + "\n", "utf-8")
