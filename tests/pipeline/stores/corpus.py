"""Corpus of small stores, one of each kind that the pipeline makes: for tests and campaigns that try all of them.

Every store has several blocks, so that shards can be exchanged between cases. `make` runs one kind into a folder;
`STORES` is the table. A store with a variable of a later version is made from a metric of a user's own, whose row in
the manifest and whose function are then forgotten.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from applications.studies.populations.search import search
from pipeline.cluster.connection import ClusterConfig
from pipeline.execution.run import run
from pipeline.plan import plan as planning
from pipeline.stores.append import append
from pipeline.sweep.doors import read_sweeps, sweep_of_text
from storage.encoding.checksums import checksum
from storage.encoding.documents import METADATA
from storage.integrity import StoreDamage, open_for_repair
from storage.manifest import MANIFEST, Attributes, Manifest

HERE = ClusterConfig.of("synchronous")

_FIVE_BAR = """\
limbsweep: 1
robot: five_bar
design: {grid: {proximal_length: [0.5, 0.52]}}
friction: {law: coulomb_viscous, joints: all, parameters: {coulomb: 0.1}, grid: {viscous: [0.0, 0.1]}}
trajectories:
  slow: {kind: circle, radius: 0.05, normal: [0, 1, 0], period: 1.0}
  fast: {kind: circle, radius: 0.04, normal: [0, 1, 0], period: 0.7}
time: {stop: 0.4, step: 0.05}
"""
_SIMULATION = """\
limbsweep: 1
robot: planar_3r
seed: 1
design: {grid: {length_1: [0.4, 0.5]}}
trajectories: {move: {kind: quintic, end: 0.1, duration: 0.02}}
simulation:
  controller: {kind: pd, parameters: {kd: 5.0}}
  gains: {grid: {kp: [100.0, 150.0, 200.0, 250.0]}}
  state: {list: {joint_1: [0.0, 0.05]}}
  step: 0.002
time: {stop: 0.02, step: 0.002}
outputs: [actuator_force, joint_position, tracking_error]
metrics: [peak_force, rms_tracking_error]
"""
_DATASET = """\
time: {stop: 0.4, step: 0.005}
outputs: [actuator_position, actuator_force, measured_position, measured_velocity, measured_force]
measurement: {encoder_step: 2.0e-5, force_noise: 0.05, cutoff: 3.0}
split: {validation: 0.3, test: 0.3}
seed: 1
"""
_SEARCH = """\
limbsweep: 1
robot: five_bar
design:
  sample:
    method: sobol
    seed: 1
    count: 8
    parameters: {proximal_length: {low: 0.5, high: 0.56}, platform_mass: {low: 0.1, high: 0.2}}
trajectories: {circle: {kind: circle, radius: 0.05, normal: [0, 1, 0], period: 1.0}}
time: {stop: 0.4, step: 0.05}
metrics: [peak_force, energy]
"""
_SEVERAL = """\
limbsweep: 1
robots:
  five_bar: {design: {grid: {proximal_length: [0.5, 0.52]}}}
  delta_3rr2rrr: {}
trajectories: {circle: {kind: circle, radius: 0.05, normal: [0, 1, 0], period: 1.0}}
time: {stop: 0.4, step: 0.05}
outputs: [actuator_force]
metrics: [peak_force]
"""
OLDER = ".older"
"""Suffix of a copy of a store as it was before it was made longer."""

LATER = "metric_of_a_later_version"
"""Name of the variable that this version does not know."""

_WANTED = ("SMALL_BLOCK", "WANTED_BLOCKS", "FRICTION_SAMPLES", "FEW_CASES", "BLOCK_CASES")
_CUT: Mapping[str, int] = dict(zip(_WANTED, (9, 10**9, 9, 2, 2), strict=True))
"""Lengths with which a block has one design on one trajectory with one friction set, or two simulations."""


@contextmanager
def cut_finely() -> Iterator[None]:
    """Plan small blocks meanwhile."""
    before = {name: getattr(planning, name) for name in _CUT}
    for name, value in _CUT.items():
        setattr(planning, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(planning, name, value)


@dataclass(frozen=True)
class StoreKind:
    """A kind of store: the text of its sweep, and the function that makes it at a path.

    `longer`: what is replaced in the stored sweep for one more value at the end of an axis; `other`: what is replaced
    in the text for other results in the same layout.
    """

    text: str
    build: Callable[[str, Path], object]
    longer: tuple[str, str]
    other: tuple[str, str] = ("period: 0.7", "period: 0.8")

    def longer_text(self, path: Path) -> str:
        """Return the text of the store at a path with one more value."""
        return Manifest.load(path).sweep.replace(*self.longer)


def _run(text: str, path: Path) -> None:
    run(sweep_of_text(text), path, HERE)


def _half(text: str, path: Path) -> None:
    """Leave a run after every second block."""
    _run(text, path)
    layout = Manifest.load(path).layout
    lost = [block for block in range(layout.blocks) if block % 2]
    for block in lost:
        for name in layout.owned(block):
            (path / layout.variables[name].key(block)).unlink()
    open_for_repair(path, [StoreDamage("missing", "", "", block) for block in lost])


def _grown(text: str, path: Path) -> None:
    """Append a design, and keep the store of before beside it."""
    _run(text.replace(", 0.52]", "]"), path)
    shutil.copytree(path, path.with_suffix(OLDER))
    append(path, sweep_of_text(text), HERE)


def _search(text: str, path: Path) -> None:
    search(sweep_of_text(text), path, generations=2, population=4, objectives=("peak_force",), cluster=HERE)


def _several(text: str, path: Path) -> None:
    """Run the first robot of a file with several."""
    file = path.with_suffix(".yaml")
    file.write_text(text)
    run(read_sweeps(file)[0], path, HERE)


def _linked(text: str, path: Path) -> None:
    """Run a sweep that names a table, and leave the store behind a link."""
    (path.parent / "designs.csv").write_text("proximal_length\n0.5\n0.52\n")
    target = path.with_suffix(".elsewhere")
    run(sweep_of_text(text, folder=path.parent), target, HERE)
    path.symlink_to(target)


def _mean_force(actuator_force: np.ndarray) -> float:
    return float(np.abs(actuator_force).mean())


def _own(text: str, path: Path) -> None:
    run(sweep_of_text(text), path, HERE, metrics={LATER: _mean_force})


def _later(text: str, path: Path) -> None:
    """Forget that a metric is a user's own: its sweep then names a metric that this version does not have."""
    _own(text, path)
    manifest = Manifest.load(path)
    named = {
        "sweep": text.replace("metrics: [", f"metrics: [{LATER}, "),
        "fingerprint": "f" * len(manifest.fingerprint),
    }
    group = json.loads((path / METADATA).read_text())
    for attributes in (group["attributes"], own := dict(manifest.attributes.values)):
        for key in ("own_metrics", "sweep_fingerprint"):
            attributes.pop(key)
    group["attributes"] |= named
    (path / METADATA).write_text(json.dumps(group))
    sums = {**manifest.files, METADATA: checksum(METADATA, (path / METADATA).read_bytes())}
    file = path / MANIFEST
    data = json.loads(replace(manifest, files=sums, attributes=Attributes(own | named)).dump())
    del data["layout"]["own"]
    file.write_bytes(sealed(data))


def sealed(manifest: dict[str, Any]) -> bytes:
    """Encode the content of a manifest with a checksum of its own made anew."""
    from storage.manifest import _seal

    content = {key: value for key, value in manifest.items() if key != "check"}
    return json.dumps({**content, "check": _seal(content)}, indent=1).encode()


_DESIGNS = ("0.5, 0.52]", "0.5, 0.52, 0.54]")
_METRICS = "metrics: [peak_force, energy, condition, failed_samples]\n"
_END = ("end: 0.1", "end: 0.11")
_LONGER_PERIOD = ("period: 1.0", "period: 1.1")
_LENGTHS = ("0.4, 0.5]", "0.4, 0.5, 0.55]")
_ADAPTIVE = _SIMULATION.replace("  step: 0.002", "  step: 0.002\n  tolerance: 1.0e-5")

STORES: dict[str, StoreKind] = {
    "metrics": StoreKind(_FIVE_BAR + _METRICS, _run, _DESIGNS),
    "series": StoreKind(f"{_FIVE_BAR}outputs: [actuator_force, joint_position, platform_position]\n", _run, _DESIGNS),
    "reactions": StoreKind(
        f"{_FIVE_BAR}outputs: [joint_reaction, actuator_force]\nmetrics: [peak_reaction]\n", _run, _DESIGNS
    ),
    "simulation": StoreKind(_SIMULATION, _run, _LENGTHS, _END),
    "adaptive": StoreKind(_ADAPTIVE, _run, _LENGTHS, _END),
    "dataset": StoreKind(_FIVE_BAR.replace("time: {stop: 0.4, step: 0.05}\n", "") + _DATASET, _run, _DESIGNS),
    "search": StoreKind(_SEARCH, _search, ("", ""), _LONGER_PERIOD),
    "grown": StoreKind(_FIVE_BAR + _METRICS + "outputs: [actuator_force]\n", _grown, _DESIGNS),
    "linked": StoreKind(
        _FIVE_BAR.replace("grid: {proximal_length: [0.5, 0.52]}", "file: designs.csv") + _METRICS, _linked, ("", "")
    ),
    "several": StoreKind(_SEVERAL, _several, _DESIGNS, _LONGER_PERIOD),
    "unfinished": StoreKind(_FIVE_BAR + _METRICS + "outputs: [actuator_force]\n", _half, _DESIGNS),
    "unfinished simulation": StoreKind(_SIMULATION, _half, _LENGTHS, _END),
    "own metrics": StoreKind(_FIVE_BAR + _METRICS, _own, _DESIGNS),
    "later version": StoreKind(_FIVE_BAR + _METRICS, _later, _DESIGNS),
}


def make(kind: str, folder: Path, *, other: bool = False) -> Path:
    """Make the store of a kind in a folder, or one with other results in the same layout; its path."""
    path, row = folder / f"{kind.replace(' ', '-')}.zarr", STORES[kind]
    assert row.other[0] in row.text
    with cut_finely():
        row.build(row.text.replace(*row.other) if other else row.text, path)
    return path
