"""A case of the table: a robot with one feature of each axis, its sweep, its results in memory and in a store."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import limbsweep as ls
from benchmarks.composition.features import AXES, IN_TREES, JOINED, OWN_METRICS, PLAIN, SIMULATED, merged
from benchmarks.composition.machines import MACHINES, Machine
from benchmarks.figures import require
from robots.quantities import QUANTITIES

_OF_BRANCHES = {
    name
    for axis, key in (("outputs", "outputs"), ("metrics", "metrics"))
    for machine in MACHINES.values()
    for name in AXES[axis][PLAIN[axis]](machine)[key]
    if "branch" in QUANTITIES[name].needs
}
"""Quantities of the plainest outputs and metrics that motions of all joints of a tree do not have."""

SYNCHRONOUS = ls.ClusterConfig.of("synchronous")


class NoMeaningError(Exception):
    """A door that means nothing for a case, such as a search without parameters that vary; its text says why."""


@dataclass(frozen=True, eq=False)
class Case:
    """A robot with one feature of each axis, in a folder of its own."""

    machine: Machine
    levels: Mapping[str, str]
    folder: Path
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Sections in place of those of the features."""

    @classmethod
    def of(cls, levels: Mapping[str, str], folder: Path) -> Case:
        """Make a case from the names of its robot and features."""
        return cls(MACHINES[levels["robot"]], levels, folder)

    @cached_property
    def content(self) -> dict[str, Any]:
        """Sections of the sweep by key."""
        with contextlib.chdir(self.folder):
            content = merged([AXES[axis][self.levels[axis]](self.machine) for axis in AXES])
        content |= {"robot": self.machine.source, **self.changes}
        for key in JOINED if self.levels["motion"] in IN_TREES else ():
            content[key] = [one for one in content.get(key, ()) if isinstance(one, dict) or one not in _OF_BRANCHES]
        return {key: value for key, value in content.items() if value is not None}

    @cached_property
    def sweep(self) -> ls.Sweep:
        """The sweep. Raises InputError where features do not go together."""
        return ls.Sweep.from_dict(self.content, folder=self.folder)

    @property
    def own(self) -> Mapping[str, ls.UserMetric] | None:
        """Metrics of a user's own; None without."""
        return OWN_METRICS if self.levels["metrics"] == "user metrics" else None

    @property
    def is_simulated(self) -> bool:
        """Return whether motions follow from forces."""
        return self.levels["motion"] in SIMULATED

    @cached_property
    def results(self) -> xr.Dataset:
        """Compute the results in memory."""
        return ls.compute(self.sweep, metrics=self.own, progress=False)

    @cached_property
    def store(self) -> Path:
        """A finished store of the sweep."""
        path = self.folder / "out.zarr"
        ls.run(self.sweep, path, SYNCHRONOUS, metrics=self.own, progress=False)
        return path

    @property
    def file(self) -> Path:
        """The sweep as a file, with the files that it names."""
        path = self.folder / "sweep.yaml"
        if not path.exists():
            self.sweep.to_yaml(path)
        return path


def require_equal(found: xr.Dataset, expected: xr.Dataset, what: str) -> None:
    """Require the bits of all variables and coordinates of two datasets to be the same. Raises CheckError."""
    for kind in ("data_vars", "coords"):
        names = {*map(str, getattr(found, kind))} ^ {*map(str, getattr(expected, kind))}
        require(not names - {"design"}, f"{what}: {kind} {sorted(names)} are in one dataset alone")
    for name, values in expected.variables.items():
        if name not in found.variables:
            continue
        require(found[name].dims == values.dims, f"{what}: {name} has dims {found[name].dims}, not {values.dims}")
        require_same(found[name].values, values.values, f"{what}: {name}")


def require_same(found: Any, expected: Any, what: str) -> None:
    """Require two arrays to be the same, NaN where NaN is. Raises CheckError."""
    found, expected = np.asarray(found), np.asarray(expected)
    require(found.shape == expected.shape, f"{what}: got shape {found.shape}; expected {expected.shape}")
    if expected.dtype.kind in "fiub" and found.dtype.kind in "fiub":
        same = (found == expected) | ((found != found) & (expected != expected))
    else:
        same = np.array([str(x) == str(y) for x, y in zip(found.ravel(), expected.ravel(), strict=True)])
    require(bool(np.all(same)), f"{what}: {np.sum(~same)} of {same.size} values differ")


def require_near(found: Any, expected: Any, share: float, what: str, least: float = 1e-12) -> None:
    """Require arrays to differ by no more than a share of the largest value, NaN where NaN is. Raises CheckError."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    require(found.shape == expected.shape, f"{what}: got shape {found.shape}; expected {expected.shape}")
    nan = np.isnan(expected)
    require(bool((np.isnan(found) == nan).all()), f"{what}: NaN in other places")
    size = np.abs(expected[~nan]).max(initial=0.0)
    off = np.abs(found - expected)[~nan].max(initial=0.0)
    require(bool(off <= share * size + least), f"{what}: differs by {off:.2e} of {size:.2e}")
