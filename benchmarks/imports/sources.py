"""Robot files that others wrote: of installed packages, and below folders of repositories."""

from __future__ import annotations

import importlib
import os
import re
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from benchmarks.imports.spanning import pairs_of
from pipeline.robot_files.importing import ImportedRobot, import_robot, tree_of
from robots.formats import mjcf, mjcf_child, mjcf_model
from robots.formats.effects import KINDS
from robots.formats.mjcf_files import ModelFiles
from robots.formats.tree import Base, Tree
from robots.formats.xml_tree import FormatError

PACKAGES = ("example-robot-data", "pybullet", "dm_control", "gymnasium-robotics", "robosuite", "drake", "mujoco")
"""Distributions that bring robots, by their names on PyPI."""

INSTALLED = {"installed": sysconfig.get_paths()["purelib"]}
"""Folders in which named files may lie: beside one another."""


@dataclass(frozen=True)
class Source:
    """A file, the distribution or folder that it is from, arguments of its macros, and folders of packages."""

    path: Path
    package: str = ""
    macros: Mapping[str, str] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=lambda: INSTALLED)

    def tree(self, base: Base) -> Tree:
        """Return the tree of the file with inertias as they are."""
        macros = self.macros or True
        return tree_of(self.path, base, "as they are", macros, self.packages, KINDS, pairs_of(self.path))

    def robot(self, base: Base, parameters: bool = True) -> ImportedRobot:
        """Import the file. Raises InputError."""
        return import_robot(
            self.path,
            pairs_of(self.path),
            base=base,
            parameters=parameters,
            macros=self.macros or True,
            packages=self.packages,
            leave_out=KINDS,
        )


@contextmanager
def compiled_once() -> Iterator[None]:
    """Keep the last model that MuJoCo compiled for the reader of MJCF: tables read a file up to four times.

    Children that compile are forks of this process where the system has them, which saves the start of Python.
    """
    load, answer, last = mjcf_model.load, mjcf_model.answer, dict[tuple[str, bytes], Any]()

    def load_once(path: str, files: ModelFiles, data: bytes) -> Any:
        key = (path, data)
        if key not in last:
            last.clear()
            try:
                last[key] = load(path, files, data)
            except FormatError as error:
                last[key] = error
        if isinstance(last[key], FormatError):
            raise last[key]
        return last[key]

    setattr(mjcf, "load", load_once)  # noqa: B010
    if hasattr(os, "fork"):
        mjcf_model.answer = _forked
    try:
        yield
    finally:
        setattr(mjcf, "load", load)  # noqa: B010
        mjcf_model.answer = answer


def _forked(path: str) -> bytes:
    """Return the answer of a fork of this process that compiles the model at a path, within a time limit alone."""
    import resource

    importlib.import_module("mujoco")
    with TemporaryFile() as stream:
        if not (child := os.fork()):
            resource.setrlimit(resource.RLIMIT_CPU, (mjcf_model.SECONDS, mjcf_model.SECONDS))
            os.chdir(Path(path).parent)
            mjcf_child.write_model(path, stream)
            os._exit(0)
        os.waitpid(child, 0)
        stream.seek(0)
        return stream.read()


def files(packages: Iterable[str] = PACKAGES) -> Iterator[Source]:
    """Yield URDF and SDF files, and XML files of MuJoCo, of the installed packages, each with its package."""
    for package in packages:
        try:
            listed = metadata.files(package) or []
        except metadata.PackageNotFoundError:
            continue
        for entry in sorted(map(str, listed)):
            path = Path(str(metadata.distribution(package).locate_file(entry)))
            if "random_urdfs" not in path.parts and _is_robot(path):  # a thousand blocks
                yield Source(path, f"{package} {metadata.version(package)}")


def below(folder: Path, arguments: Mapping[str, str]) -> Iterator[Source]:
    """Yield the same files below a folder, and files of macros, each with the name of the folder.

    Folders with a package.xml are packages by its name. Arguments go to the files of macros that name them.
    """
    packages = {"corpus": str(folder), **_packages_below(folder)}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and _is_robot(path):
            text = path.read_text(errors="replace") if path.suffix == ".xacro" else ""
            named = {name: value for name, value in arguments.items() if name in text}
            yield Source(path, folder.name, named, packages)


def _packages_below(folder: Path) -> dict[str, str]:
    """Return the ROS packages below a folder by their names."""
    found = {}
    for path in folder.rglob("package.xml"):
        if name := re.search(r"<name>\s*([^<\s]+)", path.read_text(errors="replace")):
            found[name[1]] = str(path.parent)
    return found


def _is_robot(path: Path) -> bool:
    """Return whether a file is one of URDF, of macros for one, of SDF, or a model of MuJoCo."""
    if path.suffix == ".xml":
        return b"<mujoco" in path.read_bytes()[:4000]
    return path.suffix in (".urdf", ".sdf", ".xacro")
