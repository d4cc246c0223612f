"""The metadata hook of hatch: addresses of the project, and a README whose links hold where packages are listed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_TARGET = re.compile(r"\]\((?![a-z]+:|#)([^)]+)\)")
"""The target of a link or picture, where it is a path in the repository."""

PICTURES = (".png", ".svg")


class PublishedHook(MetadataHookInterface):
    """Gives the README as it stands, and, where pyproject.toml says where the home is, addresses below it."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Write the fields `readme` and `urls`."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        if home := self.config["home"].rstrip("/"):
            version = metadata["version"]
            text = with_addresses(text, home, version, self.config["files"], self.config["pictures"])
            metadata["urls"] = urls(home, version, self.config["files"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def urls(home: str, version: str, files: str) -> dict[str, str]:
    """Return the addresses that a package index shows beside the project."""
    pages = {"Documentation": "docs/index.md", "Changelog": "CHANGELOG.md"}
    addresses = {name: files.format(home=home, version=version, path=path) for name, path in pages.items()}
    return {"Homepage": home, "Issues": f"{home}/issues"} | addresses


def with_addresses(text: str, home: str, version: str, files: str, pictures: str) -> str:
    """Return Markdown with every path of the repository replaced by its address."""

    def replaced(target: re.Match[str]) -> str:
        path = target[1]
        address = pictures if path.endswith(PICTURES) else files
        return f"]({address.format(home=home, version=version, path=path)})"

    return _TARGET.sub(replaced, text)
