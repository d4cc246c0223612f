"""Options of the command identify as one record."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Literal

from robots.data_classes import dataclass

ROLES = ("train", "validation", "test")


@dataclass(frozen=True)
class IdentifyOptions:
    """Options of the command identify."""

    source: str
    files: tuple[str, ...]
    method: str | None
    deviations: str | None
    motion: Literal["measured", "commanded"] | None
    clean: bool
    designs: tuple[int, ...]
    columns: Path | None
    folder: Path | None
    validation: tuple[str, ...]
    test: tuple[str, ...]
    output: Path | None
    robot_file: Path | None
    page: Path | None
    netcdf: Path | None
    store: str | None
    cluster: Path | None

    @cached_property
    def roles(self) -> list[tuple[str, str]]:
        """Files of recordings, each with its role."""
        files = (self.files, self.validation, self.test)
        return [(path, role) for role, paths in zip(ROLES, files, strict=True) for path in paths]

    @property
    def described(self) -> Path:
        """The recording description."""
        return self.columns if self.roles and self.columns is not None else Path(self.source)

    @property
    def written(self) -> tuple[tuple[str, Path | None], ...]:
        """Options that name files to be written, with the files."""
        return (
            ("--output", self.output),
            ("--robot", self.robot_file),
            ("--report", self.page),
            ("--dataset", self.netcdf),
        )
