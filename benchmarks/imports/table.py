"""The table of imports: each file, what became of it, and its largest difference from another engine."""

from __future__ import annotations

import importlib
import re
import sysconfig
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.linalg import null_space

from benchmarks.imports.spanning import GRAVITY, Conditions, Spanning, following, pairs_of
from pipeline.errors import InputError
from pipeline.robot_files.importing import ImportedRobot, import_robot, tree_of
from robots.formats.effects import KINDS
from robots.formats.tree import Base, Tree
from robots.model import Robot
from tasks import inverse_dynamics, inverse_kinematics

PACKAGES = ("example-robot-data", "pybullet", "dm_control", "gymnasium-robotics", "robosuite", "drake", "mujoco")
"""Distributions that bring robots, by their names on PyPI."""

INSTALLED = {"installed": sysconfig.get_paths()["purelib"]}
"""Where files that they name may be: beside one another."""

STATES = 8
SEED = 20240501
LARGEST_ERROR = 1e-9
"""Difference of forces, relative to the largest of its state, from which on they count as wrong."""

NO_ROBOT = (
    "no joint that moves", "a file of macros alone", "the macro ", "package '", "model '", "a model on this machine",
    "a second root", "<inertia>, which is required", "a body that Gazebo alone has", "macros in <root>", "no link",
    "no model", "<element>", "<gazebo>", "<mujocoinclude>", "does not compile",
    "the argument", "the name ", "a link of this file", "text that is not XML", "a document type", "<mesh",
)  # fmt: skip
"""Parts of the reasons of refusals that are right: parts, scenes, missing arguments, files that are wrong."""

SPREAD = 0.6
"""Sizes of positions, rates and accelerations at random states [rad or m, and per second]."""

NEAR = 0.1
"""The same of closed chains, whose loops end somewhere."""

CLOSED = 1e-9
"""What loops of another engine are open by, at most [m, or cosine]."""

RANK = 1e-9
"""Share of the largest singular value below which one of what loops ask for counts as zero."""

AHEAD = 1e-5
"""Time [s] over which changes of slopes are measured."""


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


@dataclass(frozen=True)
class Import:
    """One file: what became of it."""

    path: Path
    package: str = ""
    """The distribution that has it."""
    joints: int = 0
    told: str = ""
    warnings: int = 0
    error: float | None = None
    refused: str = ""
    pinocchio: bool | None = None
    """Whether Pinocchio reads it, of URDF files and where that was tried."""

    seconds: float = 0.0
    """Time of the import."""

    @property
    def row(self) -> str:
        """Its row of the table."""
        name = f"{self.path.parent.name}/{self.path.name}"
        if self.refused:
            return f"| {name} | refused |  |  | {self.seconds:.1f} | {self.refused} |"
        error = "not compared" if self.error is None else f"{self.error:.1e}"
        told = self.told or f"{self.warnings} warnings"
        return f"| {name} | accepted | {self.joints} | {error} | {self.seconds:.1f} | {told} |"

    @property
    def rightly(self) -> bool:
        """Return whether the file is refused because it is no robot, or wrong."""
        return any(reason in self.refused for reason in NO_ROBOT)

    @property
    def wrong(self) -> bool:
        """Return whether forces differ from those of another engine by more than rounding."""
        return self.error is not None and not self.error <= LARGEST_ERROR


def files(packages: Iterable[str] = PACKAGES) -> Iterator[Source]:
    """URDF and SDF files, and XML files of MuJoCo, of the packages that are installed, each with its package."""
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
    """Yield the same files below a folder, and files of macros, each with the first folder that leads to it.

    Folders with a package.xml are packages by its name. Arguments go to the files that have macros.
    """
    packages = {"corpus": str(folder), **_packages_below(folder)}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and _is_robot(path):
            given = arguments if path.suffix == ".xacro" else {}
            yield Source(path, path.relative_to(folder).parts[0], given, packages)


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


def imported(source: Source | Path, compare: bool = True) -> Import:
    """Import one file as it is, else with a floating base, and compare it."""
    source = Source(source) if isinstance(source, Path) else source
    path, package = source.path, source.package
    first, pinocchio = "", _read_by_pinocchio(path) if compare else None
    choices: Sequence[tuple[str, Base]] = (("", "fixed"), ("floating base", "floating"))
    for stated, base in choices:
        start = time.perf_counter()
        try:
            robot = source.robot(base)
        except InputError as error:
            first = first or str(error).splitlines()[0].partition(": got ")[2]
            seconds = time.perf_counter() - start
            continue
        seconds = time.perf_counter() - start
        repaired = any(each.hint.startswith("They became ") for each in robot.warnings)
        stated = ", ".join(filter(None, (stated, "repaired" if repaired else "")))
        count = len(robot.description.template.limbs[0].links)
        error_ = _error(source, base, repaired=repaired) if compare else None
        return Import(path, package, count, stated, len(robot.warnings), error_, "", pinocchio, seconds)
    return Import(path, package, refused=first, pinocchio=pinocchio, seconds=seconds)


def _read_by_pinocchio(path: Path) -> bool | None:
    """Whether Pinocchio reads a file; None where it is not installed, or the file is no URDF."""
    if path.suffix != ".urdf":
        return None
    try:
        module = importlib.import_module("benchmarks.imports.pinocchio")
    except ImportError:
        return None
    return bool(module.reads(path))


def _error(source: Source, base: Base, *, repaired: bool) -> float | None:
    """Return the largest difference of joint forces from another engine, relative to the largest force of the state."""
    tree = source.tree(base)
    with TemporaryDirectory() as folder:
        path = _plain(source, Path(folder))
        engines = ENGINES.get(path.suffix, ())
        peer = next((peer for engine in engines if (peer := _spanning(engine, path, tree, base))), None)
    if peer is None:
        return None
    if tree.loops:
        return None if repaired else _error_of_loops(source, base, tree, peer)
    robot, along = Robot.of(tree.description().family, {}), following(tree)
    q, qd, qdd = np.random.default_rng(SEED).uniform(-SPREAD, SPREAD, (3, STATES, len(tree.free)))
    ours = inverse_dynamics(robot, q=q, qd=qd, qdd=qdd, gravity=GRAVITY).force
    moving = (values @ along.T for values in (q, qd, qdd))
    theirs = np.array([along.T @ peer.forces(*moment) for moment in zip(*moving, strict=True)])
    return _largest(ours - theirs, theirs)


def _plain(source: Source, folder: Path) -> Path:
    """Return a file without macros: that of xacro where it is installed, else the file itself."""
    if source.path.suffix != ".xacro":
        return source.path
    try:
        macros = importlib.import_module("benchmarks.imports.macros")
    except ImportError:
        return source.path
    expanded: Path = macros.expanded(source.path, source.macros, source.packages, folder)
    return expanded


def _error_of_loops(source: Source, base: Base, tree: Tree, peer: Spanning) -> float | None:
    """The same of a closed chain: what forces of the actuators leave of those of the tree, along what loops allow.

    What they allow is the engine's where it has loops; else, as of Drake, rates of all joints are our own.
    """
    description = source.robot(base, parameters=False).description
    robot, count = Robot.of(description.family, {}), len(tree.joints)
    zero = dict(description.reference[0][1]) if description.reference else {}
    shift = np.array([zero.get(name, 0.0) for name in tree.joints])
    freedoms, driven = robot.mechanism.freedoms, [tree.joints.index(name) for name in robot.mechanism.actuators]
    q, qd, qdd = np.random.default_rng(SEED).uniform(-NEAR, NEAR, (3, STATES, len(freedoms)))
    solved = inverse_kinematics(robot, q=q, qd=qd, qdd=qdd)
    forces = inverse_dynamics(robot, q=q, qd=qd, qdd=qdd, gravity=GRAVITY).force
    left, size = list[np.ndarray](), list[np.ndarray]()
    for k in np.flatnonzero(solved.status == 0):
        place, rate, change = (values[k, 0, :count] for values in solved[:3])
        if peer.conditions is None:
            units = np.eye(len(freedoms))
            same = np.repeat(q[k : k + 1], len(freedoms), axis=0)
            ways = inverse_kinematics(robot, q=same, qd=units).velocity[:, 0, :count]
        else:
            if _open(peer.conditions, place + shift, rate, change) > 1.0:
                return float("inf")
            ways = null_space(peer.conditions(place + shift)[1], rcond=RANK).T
        balance = peer.forces(place + shift, rate, change)
        size.append(balance.copy())
        balance[driven] -= forces[k]
        left.append(np.array([np.abs(ways @ balance).max() / max(1.0, np.abs(ways).max())]))
    return _largest(np.array(left), np.array(size)) if left else None


def _open(conditions: Conditions, place: np.ndarray, rate: np.ndarray, change: np.ndarray) -> float:
    """How far a motion is from what the loops of an engine ask for, 1 at the most that is rounding."""
    gap, slopes = conditions(place)
    (_, after), (_, before) = (conditions(place + step * rate) for step in (AHEAD, -AHEAD))
    second = (after - before) @ rate / (2.0 * AHEAD) + slopes @ change
    size = max(1.0, float(np.abs(rate).max()), float(np.abs(change).max()))
    return float(max(np.abs(gap).max(), np.abs(slopes @ rate).max() / size, np.abs(second).max() / size * 0.1) / CLOSED)


def _largest(differences: np.ndarray, forces: np.ndarray) -> float:
    """Return the largest difference, relative to the largest force of its state; infinite where there is no number."""
    size = np.abs(forces).max(axis=1, keepdims=True)
    result = float(np.max(np.abs(differences) / np.where(size > 0, size, 1.0)))
    return result if np.isfinite(result) else float("inf")


def _spanning(engine: str, path: Path, tree: Tree, base: Base) -> Spanning | None:
    """Return the tree in an engine; None where that is not installed, or does not read the file."""
    try:
        module = importlib.import_module(f"benchmarks.imports.{engine}")
    except ImportError:
        return None
    peer: Spanning | None = module.spanning(path, tree, base)
    return peer


ENGINES: Mapping[str, Sequence[str]] = {
    ".urdf": ("pinocchio", "mujoco"),
    ".xml": ("mujoco",),
    ".sdf": ("drake",),
}
"""What files of a kind are compared with, the first that reads them."""


def table(results: Iterable[Import]) -> Iterator[str]:
    """Yield the table, row by row, and its sums."""
    yield "| file | | joints | difference | s | |"
    yield "|---|---|---|---|---|---|"
    rows: list[Import] = []
    for entry in results:
        rows.append(entry)
        yield entry.row
    accepted = [entry for entry in rows if not entry.refused]
    compared = [entry.error for entry in accepted if entry.error is not None]
    repaired = sum("repaired" in entry.told for entry in accepted)
    floating = sum("floating base" in entry.told for entry in accepted)
    yield (
        f"{len(accepted)} of {len(rows)} accepted, {repaired} of them with repaired inertias, {floating} with a "
        f"floating base; {len(compared)} compared, largest difference {max(compared, default=0.0):.1e}"
    )
    rightly, wrong = sum(entry.rightly for entry in rows), sum(entry.wrong for entry in rows)
    others, slowest = len(rows) - len(accepted) - rightly, max((entry.seconds for entry in rows), default=0.0)
    yield (
        f"wrong: {wrong}; refused because they are no robot or wrong themselves: {rightly}; refused for another "
        f"reason: {others}; slowest import {slowest:.1f} s"
    )
    yield from by_package(rows)
    for reason, count in Counter(kind_of(entry.refused) for entry in rows if entry.refused).most_common():
        yield f"{count:4d} refused: {reason}"


def by_package(rows: Sequence[Import]) -> Iterator[str]:
    """Yield a row for the files of each kind in each package."""
    yield "| package | kind | files | accepted | read by Pinocchio | compared | largest difference |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    groups: dict[tuple[str, str], list[Import]] = {}
    for entry in rows:
        groups.setdefault((entry.package, entry.path.suffix), []).append(entry)
    for (package, kind), group in groups.items():
        accepted = [entry for entry in group if not entry.refused]
        compared = [entry.error for entry in accepted if entry.error is not None]
        tried = [entry.pinocchio for entry in group if entry.pinocchio is not None]
        error = f"{max(compared):.1e}" if compared else ""
        figures = (len(group), len(accepted), sum(tried) if tried else "", len(compared), error)
        yield f"| {package} | {kind[1:]} | {' | '.join(map(str, figures))} |"


def kind_of(reason: str) -> str:
    """Return a reason without the names and numbers of its file."""
    plain = re.sub(r"'[^']*'|\"[^\"]*\"|\([^)]*\)", "...", reason)
    return re.sub(r"-?\d[\d.e+-]*", "N", plain)
