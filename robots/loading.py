"""Load the modules of a package on first use, so that importing the package is fast."""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

NEVER = 10**9
"""Number of collections of young objects before a collection of older objects."""


def on_first_use(
    package: str, homes: Mapping[str, str], optional: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package that offers names of other modules.

    homes: for each name its module; `module:name` if it has another name there, `module:` for the module itself.
    optional: further names that need packages that may not be installed; they are not listed.
    """
    known = {**homes, **(optional or {})}

    def load(name: str) -> Any:
        """Get a name of the package from the module that has it. Raises AttributeError for other names."""
        if name not in known:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home, colon, attribute = known[name].partition(":")
        module = load_module(home)
        return module if colon and not attribute else getattr(module, attribute or name)

    def names() -> list[str]:
        """List the names of the package."""
        return sorted(homes)

    return load, names


def offered_by_stub(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package by its stub, which type checkers read as well.

    The imports of the stub give the module of each name; names outside its `__all__` need packages that may not be
    installed.
    """
    homes, listed = dict[str, str](), list[str]()
    for node in ast.parse(Path(file).with_suffix(".pyi").read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            form = "{}.{}:" if node.module == package else "{}:{}"  # a module of the package, or a name in another one
            homes |= {alias.asname or alias.name: form.format(node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            homes |= {str(alias.asname): f"{alias.name}:" for alias in node.names}
        elif isinstance(node, ast.Assign):
            listed = ast.literal_eval(node.value)
    optional = {name: homes.pop(name) for name in {*homes} - {*listed}}
    return *on_first_use(package, homes, optional), listed


def load_module(name: str) -> ModuleType:
    """Return a module, imported on its first use."""
    if name in sys.modules:
        return import_module(name)
    with collecting_young_alone():
        return import_module(name)


@contextmanager
def collecting_young_alone() -> Iterator[None]:
    """Collect garbage among young objects alone while modules are imported, as imports create lasting objects.

    Afterwards all objects count as old, so that no full collection over them follows at once.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(thresholds[0], NEVER, NEVER)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        if not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
