"""The whole sweep file: its core, and the keys of all sections."""

from __future__ import annotations

from typing import Any

from pydantic import Field, create_model

from pipeline.documents.yaml import Document
from pipeline.sweep.section_table import SECTIONS
from pipeline.sweep.sections import CoreFile

_KEYS: dict[str, Any] = {section.key: section.field for section in SECTIONS if section.field is not None}

SweepFile = create_model("SweepFile", __base__=CoreFile, __doc__="A whole sweep file.", **_KEYS)

UndrivenFile = create_model(
    "UndrivenFile",
    __base__=SweepFile,
    __doc__="A sweep file without a controller: nothing follows trajectories, so it may lack them.",
    trajectories=(dict[str, dict[str, object]], Field(default_factory=dict, description="none")),
)


def model_of(document: Document) -> type[CoreFile]:
    """Return the model of a file: where its simulation has no controller, trajectories are not required."""
    section = document.data.get("simulation")
    return UndrivenFile if isinstance(section, dict) and not section.get("controller") else SweepFile
