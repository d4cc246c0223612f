"""Check that the packages behind this one are ours. In a checkout they are top-level folders with common names.

An installed wheel has them inside this package (see `packing`), where no other package can take their place.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("robots", "tasks", "storage", "pipeline", "applications")


def require_ours() -> None:
    """Raise ImportError, in one line, where a foreign module is found in the place of one of our packages."""
    here = Path(__file__).parent
    if (here / "_src").is_dir():
        return
    for name in PACKAGES:
        place = here.parent / name / "__init__.py"
        found = _origin(name)
        if found is None or found.resolve() != place.resolve():
            got = found or "nothing"
            raise ImportError(
                f"limbsweep: module {name}: got {got}; expected {place}. "
                "Rename that one or start elsewhere; an installed wheel has no top-level name but limbsweep.",
                name=name,
                path=str(got),
            )


def _origin(name: str) -> Path | None:
    """Return the file that a module comes from, or would come from; the folder of a namespace."""
    module = sys.modules.get(name)
    spec = find_spec(name) if module is None else module.__spec__
    if spec is None:
        file = getattr(module, "__file__", None)
        return Path(file) if file else None
    if spec.origin is None or not spec.has_location:
        return next((Path(folder) for folder in spec.submodule_search_locations or ()), None)
    return Path(spec.origin)
