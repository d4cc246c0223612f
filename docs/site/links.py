"""Links out of the folder of the pages, which are right where the repository is browsed, led to pages of the site.

Files that are no pages, such as examples, need nothing: MyST copies them beside the page.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

from sphinx.application import Sphinx

PAGES = {
    "CHANGELOG.md": "project/changelog.md",
    "CITATION.cff": "project/contributing.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "README.md": "index.md",
    "SECURITY.md": "project/security.md",
    "examples": "examples.md",
}
"""What stands at the top of the repository, and the page that shows it."""

_LINK = re.compile(r"\]\(((?:\.\./)+)([\w./-]+)\)")


def led(text: str, page: str) -> str:
    """The text of a page, by its name without suffix, with such links led to pages."""
    depth = len(PurePosixPath(page).parts)

    def lead(link: re.Match[str]) -> str:
        up, target = link.groups()
        out = len(up) // 3 == depth and target in PAGES
        return f"]({'../' * (depth - 1)}{PAGES[target]})" if out else link.group()

    return _LINK.sub(lead, text)


def setup(app: Sphinx) -> dict[str, Any]:
    """Change pages as they are read."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _read(app: Sphinx, page: str, content: list[str]) -> None:
    content[0] = led(content[0], page)
