"""Links out of the folder of the pages, which are right where the repository is browsed, led to pages of the site.

Files that are no pages, such as examples, need nothing: MyST copies them beside the page.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
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
"""Files at the top of the repository, and the pages that show them."""

SHOWN = {page.removesuffix(".md"): name for name, page in PAGES.items() if page == f"project/{name.lower()}"}
"""Pages whose text is that of a file at the top."""

TOP = Path(__file__).parents[2]
_OUT = re.compile(r"\]\(((?:\.\./)+)([\w./-]+)\)")
_DOWN = re.compile(r"\]\((?!\w+:)([\w./-]+)\)")


def led(text: str, page: str) -> str:
    """The text of a page, by its name without suffix, with such links led to pages."""
    depth = len(PurePosixPath(page).parts)

    def lead(link: re.Match[str]) -> str:
        up, target = link.groups()
        out = len(up) // 3 == depth and target in PAGES
        return f"]({'../' * (depth - 1)}{PAGES[target]})" if out else link.group()

    return _OUT.sub(lead, text)


def led_from_top(text: str, page: str) -> str:
    """The text of a file at the top of the repository, with its links led from the page that shows it."""
    up = "../" * (len(PurePosixPath(page).parts) - 1)

    def lead(link: re.Match[str]) -> str:
        target = link[1]
        return f"]({up}{PAGES.get(target) or (target[5:] if target.startswith('docs/') else f'../{target}')})"

    return _DOWN.sub(lead, text)


def setup(app: Sphinx) -> dict[str, Any]:
    """Change pages as they are read."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _read(app: Sphinx, page: str, content: list[str]) -> None:
    if page in SHOWN:
        content[0] = led_from_top((TOP / SHOWN[page]).read_text("utf-8"), page)
        app.env.note_dependency(str(TOP / SHOWN[page]))
    else:
        content[0] = led(content[0], page)
