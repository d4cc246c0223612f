"""Pages of the reference: which members of a class have something to say, and so a line in its table."""

from __future__ import annotations

import enum
import inspect
from importlib import import_module
from typing import Any

from sphinx.pycode import ModuleAnalyzer


def documented(name: str, member: str) -> bool:
    """Return whether a member of a class, by its dotted name, has a docstring; members of an enumeration need none."""
    kind = _found(name)
    if issubclass(kind, enum.Enum):
        return True
    value = inspect.getattr_static(kind, member, None)
    if isinstance(value, property | staticmethod | classmethod) or inspect.isroutine(value):
        return bool(inspect.getdoc(getattr(kind, member)))
    owners = [each for each in kind.__mro__ if each.__module__ != "builtins"]
    return any((each.__qualname__, member) in _attribute_texts(each.__module__) for each in owners)


def title(name: str) -> str:
    """Return the title of a page: the name as users write it."""
    return name.replace("limbsweep.", "ls.", 1) if name.startswith("limbsweep.") else name.rpartition(".")[2]


def _attribute_texts(module: str) -> dict[tuple[str, str], list[str]]:
    """Return the texts below attributes of a module, by class and attribute."""
    if not module.startswith(("robots", "tasks", "storage", "pipeline", "applications", "limbsweep")):
        return {}
    return ModuleAnalyzer.for_module(module).find_attr_docs()


def _found(name: str) -> Any:
    """Import an object by its dotted name."""
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        try:
            found: Any = import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)
