"""JSON Schemas of the files that people write, for editors; the command schema.

Editors that know YAML complete keys by them and underline mistakes while typing. The schemas follow from the models
that read the files. Rules that need the meaning of a file, such as parameters of its robot, are left open: `limbsweep
check` applies them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from applications.commands.terminal import forced
from pipeline.cluster.file import ClusterFile
from pipeline.documents.outputs import write_text
from pipeline.documents.report import sentence
from pipeline.errors import refused
from pipeline.robot_files.sections import LoopsFile, RobotFile
from pipeline.sweep.sweep_file import SweepFile
from pipeline.sweep.trajectories.expansions import EXPANSIONS
from robots.arguments import shown
from robots.catalog import FAMILIES
from robots.controllers import CONTROLLERS
from robots.friction.laws import LAWS
from robots.parameter_errors import nearest
from robots.quantities import QUANTITIES
from robots.trajectories.kinds import JOINT_MOTIONS, MOTIONS

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]


def schema(kind: str) -> Schema:
    """Return the JSON Schema of a kind of file: `sweep`, `robot`, `loops` or `cluster`. Raises InputError for another.

    >>> ls.schema("sweep")["title"]
    'sweep file of limbsweep'
    """
    if not isinstance(kind, str) or kind not in KINDS:
        hint = sentence(nearest(str(kind), KINDS))
        raise refused("KIND", shown(kind), "a kind of file", hint)
    title, make = KINDS[kind]
    return {"$schema": DIALECT, **make(), "title": title}


def schema_text(kind: str) -> str:
    """Return the schema of a kind of file as the text of a JSON file. Raises InputError."""
    return json.dumps(schema(kind), indent=1) + "\n"


def line(place: str) -> str:
    """Return the first line of a YAML file by which editors find its schema at a place: a path beside it, or a URL."""
    return f"# yaml-language-server: $schema={place}"


def _sweep() -> Schema:
    whole: Schema = SweepFile.model_json_schema()
    keys = whole["properties"]
    keys["time"] = {"$ref": "#/$defs/TimeSection"}  # without null, beside which editors mark the whole section
    texts = {name: family.title for name, family in FAMILIES.items()}
    any_text = {"type": "string", "minLength": 1}
    keys["robot"] |= {"anyOf": [_names(texts), any_text, {"type": "object"}]}
    kinds = dict.fromkeys((*MOTIONS, *JOINT_MOTIONS, *EXPANSIONS))
    motion = {"type": "object", "properties": {"kind": _names(kinds), "time": {"type": "object"}}}
    keys["trajectories"]["patternProperties"] = dict.fromkeys(keys["trajectories"]["patternProperties"], motion)
    for key, row_kinds in (("outputs", ("series", "motion", "status")), ("metrics", ("metric",))):
        names = {row.name: row.long_name for row in QUANTITIES.values() if row.kind in row_kinds}
        keys[key]["items"] = {"anyOf": [_names(names), any_text]}
    laws = _names({law.name: law.text for law in LAWS.values()})
    for name in ("FrictionSection", "FrictionGroupSection"):
        whole["$defs"][name]["properties"]["law"] |= {"anyOf": [laws, any_text, {"type": "null"}]}
    controllers = _names({kind.name: kind.text for kind in CONTROLLERS.values()})
    whole["$defs"]["ControllerSection"]["properties"]["kind"] |= {"anyOf": [controllers, any_text]}
    whole["required"] = [key for key in whole["required"] if key != "trajectories"]
    whole["anyOf"] = [{"required": ["trajectories"]}, {"required": ["simulation"]}]
    return whole


def _names(names: Mapping[str, str | None] | Iterable[str]) -> Schema:
    """Return the schema of one of these names, with the meaning of each."""
    meanings = names if isinstance(names, Mapping) else dict.fromkeys(names)
    return {"anyOf": [{"const": name} | ({"description": text} if text else {}) for name, text in meanings.items()]}


def _cluster() -> Schema:
    # Keys of Dask's own configuration stand beside ours.
    return ClusterFile.model_json_schema() | {"additionalProperties": True}


KINDS: Mapping[str, tuple[str, Callable[[], Schema]]] = {
    "sweep": ("sweep file of limbsweep", _sweep),
    "robot": ("robot file of limbsweep", RobotFile.model_json_schema),
    "loops": ("loops of a URDF file, for limbsweep", LoopsFile.model_json_schema),
    "cluster": ("cluster file of limbsweep", _cluster),
}
"""Title and schema of each kind of file."""


def write_with_schema(kind: str, path: Path, text: str, option: str = "--output") -> None:
    """Write a new file whose first line names its JSON Schema, and the schema beside it, unless it exists."""
    place = path.parent / f"{kind}.schema.json"
    write_text(path, f"{line(place.name)}\n{text}", force=forced(), option=option)
    if not place.exists():
        write_text(place, schema_text(kind))
        click.echo(f"wrote {place}, by which editors check the file")


def print_schema(kind: str, output: Path | None) -> None:
    """Print the JSON Schema of a kind of file, or write it."""
    if output is None:
        click.echo(schema_text(kind), nl=False)
    else:
        write_text(output, schema_text(kind))
        click.echo(f"wrote {output}; name it in the first line of a file: {line(output.name)}")
