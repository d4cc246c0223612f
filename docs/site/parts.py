"""Parts of pages that are made from the code when the documentation is built: keys, robots, examples, figures.

A page has the text around them, and a sentence in the place of each for readers of the repository, between two marks:

    <!-- built: outputs -->
    `limbsweep schema` prints the same.
    <!-- until here -->
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from benchmarks.house import __main__ as house
from docs.site import examples, gallery, robot_files, robots, sweep_files

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PARTS: Mapping[str, Callable[[], Iterable[str]]] = {
    "keys of sweep files": sweep_files.keys,
    "outputs": lambda: sweep_files.variables("series", "motion"),
    "metrics": lambda: sweep_files.variables("metric"),
    "metrics without a derivative": sweep_files.without_derivative,
    "statuses": lambda: sweep_files.variables("status"),
    "controllers": sweep_files.controllers,
    "friction laws": sweep_files.laws,
    "kinds of trajectory": sweep_files.motions,
    "units": sweep_files.units,
    "keys of robot files": robot_files.keys,
    "kinds of joints": robot_files.joint_kinds,
    "refused elements": robot_files.effects,
    "words of formats": robot_files.words,
    "attributes of MuJoCo": robot_files.models,
    "attributes of MuJoCo without effect": robot_files.idle_in_models,
    "attributes of MuJoCo that are not tried": robot_files.not_tried,
    "robots": robots.sections,
    "examples": examples.sections,
    "gallery": gallery.tables,
    "house": house.lines,
}
"""Lines of each part by its name."""

_PART = re.compile(r"^<!-- built: ([^\n]+) -->\n.*?^<!-- until here -->$", re.MULTILINE | re.DOTALL)


def filled(text: str) -> str:
    """Return the text of a page with its parts in place of the sentences between their marks.

    Raises KeyError for a part that does not exist.
    """
    return _PART.sub(lambda part: "\n".join(PARTS[part[1]]()).strip("\n"), text)


def parts_of(text: str) -> list[str]:
    """Return the names of the parts of a page."""
    return _PART.findall(text)


def setup(app: Sphinx) -> dict[str, Any]:
    """Fill pages as they are read."""
    app.connect("source-read", _read, priority=100)  # before links are changed
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _read(app: Sphinx, page: str, content: list[str]) -> None:
    if parts_of(content[0]):
        content[0] = filled(content[0])
        app.env.note_reread()
