"""Sweep files with several robots: each of these is read as a file with that one."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

from pipeline.documents.document import Document, KeyPath
from pipeline.errors import refused
from pipeline.sweep.sections import RobotSection


def only_chosen(data: MutableMapping[str, Any]) -> None:
    """Make the data of a file with several robots, of which `robot` chooses one, those of a file with that one.

    The robot's own sections replace the sections at the top. Raises InputError where no robot is chosen.
    """
    robots = data.get("robots")
    if robots is None:
        return
    names = list(robots)
    name = data.get("robot", names[0] if len(names) == 1 else None)
    if name not in names:
        hint = "Name it under robot."
        raise refused("sweep", f"{len(names)} robots", "one of them to be chosen", hint, key="robots")
    section = robots[name] if isinstance(robots, Mapping) else None
    del data["robots"]
    data["robot"] = name
    for key in RobotSection.model_fields:
        if section and section.get(key) is not None:
            data[key] = section[key]


def one_robot(document: Document) -> Document:
    """Return a file with several robots, of which one is chosen, or with one in a list, as a file with that one.

    Problems of it name the places where its sections are written. Other files are returned as they are.
    """
    robots, choice = document.data.get("robots"), document.data.get("robot")
    names: list[Any] = [*robots] if isinstance(robots, list | dict) else []
    name = names[0] if choice is None and len(names) == 1 else choice
    if not isinstance(name, str) or name not in names:
        return document
    section = robots[name] if isinstance(robots, dict) else None
    if not isinstance(section, dict | None):
        return document
    data = dict(document.data)
    only_chosen(data)
    at: KeyPath = ("robots", name if isinstance(robots, dict) else names.index(name))
    replacing = [(key,) for key in RobotSection.model_fields if section and section.get(key) is not None]
    moved: dict[str, KeyPath] = {key: (*at, key) for (key,) in replacing}
    values, keys = (
        {path: place for path, place in places.items() if path[:1] not in [("robots",), *replacing]}
        | {path[2:]: place for path, place in places.items() if path[:2] == at and path[2:3] in replacing}
        for places in (document.values, document.keys)
    )
    place = document.keys.get(at) or document.where(at)
    return Document(document.source, data, values | {("robot",): place}, keys, moved | {"robot": at})
