"""The build hook of hatch: what goes into the wheel is the one package that `packing.one_name` writes."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class OneNameHook(BuildHookInterface):
    """Adds the rewritten packages to a wheel; an editable installation is the checkout as it stands."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the package into a folder of its own, and include that."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from packing.one_name import FACE, write_package

        self.folder = tempfile.TemporaryDirectory(prefix="limbsweep-wheel-")
        write_package(Path(self.root), Path(self.folder.name))
        build_data["force_include"][str(Path(self.folder.name) / FACE)] = FACE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the folder."""
        if version != "editable":
            self.folder.cleanup()
