"""Load the modules of a package on first use, so that importing the package is fast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_first_use(
    package: str, homes: Mapping[str, str], optional: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package that offers names of other modules.

    homes: for each name the module that has it; `module:name` where it has another name there, `module:` for the module
    itself. optional: names of the same kind that need packages which may not be there; they are not listed.
    """
    known = {**homes, **(optional or {})}

    def load(name: str) -> Any:
        """Get a name of the package from the module that has it. Raises AttributeError for other names."""
        if name not in known:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home, colon, attribute = known[name].partition(":")
        module = import_module(home)
        return module if colon and not attribute else getattr(module, attribute or name)

    def names() -> list[str]:
        """List the names of the package."""
        return sorted(homes)

    return load, names
