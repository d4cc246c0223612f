"""Generations of a search in a store: each is computed as blocks of a sweep and appended to those before it.

The sweep is the user's, with a table of designs in place of its own. So a store of a search is one as any other, at
every moment: it is reported, ranked, exported, verified.

A coarse model is a subset of the sweep that costs little: fewer trajectories, times or friction sets, or single
precision. It tells which of many candidates are computed in full. Its results are kept nowhere: a search that goes on
computes them again, with the same bits.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
import xarray as xr

from applications.studies.cases import dims_of, with_cases, with_dims
from applications.studies.columns import Array, Objective, refuse
from applications.studies.points import PointSpace
from applications.studies.populations.space import costs_and_violations
from applications.studies.space import DesignSpace
from pipeline.cluster.arguments import ClusterLike, Connectable, UserCluster, as_cluster
from pipeline.cluster.connection import connect
from pipeline.cluster.file import ClusterConfig
from pipeline.documents.report import sentence
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError
from pipeline.execution.run import near, run
from pipeline.monitor.log import Listener
from pipeline.plan.plan import plan
from pipeline.stores.append import append, clear_append
from pipeline.sweep.model import Sweep
from pipeline.sweep.question.question import StudyQuestion
from pipeline.sweep.rewriting import flowing, rewritten
from pipeline.sweep.several import only_chosen
from pipeline.sweep.side_files import Folder, MemoryFiles
from robots.data_classes import dataclass, replace
from robots.parameter_errors import nearest
from storage.errors import StoreError
from storage.growth import FOLDER as GROWTH
from storage.manifest import Manifest
from storage.places.access import locate
from storage.places.location import Location, LocationLike
from storage.store import open_results

TABLE = "search_designs.csv"
"""The file of the designs, as the sweeps of generations name it."""

REPLACED = ("grid", "list", "file", "columns", "sample", "where")
"""Keys of the design section in whose place the table stands; conditions are left to the search."""

Compute = Callable[[Sweep], xr.Dataset]
"""Function that computes a sweep into memory."""


@dataclass(frozen=True, eq=False)
class GenerationStore:
    """The store of a search: the user's sweep, its space, and the question that is asked of it.

    subset: part of the sweep by which its designs are computed; empty: all.
    """

    sweep: Sweep
    space: DesignSpace
    question: StudyQuestion
    place: Location
    subset: str = ""

    @classmethod
    def at(cls, sweep: Sweep, space: DesignSpace, question: StudyQuestion, store: LocationLike) -> GenerationStore:
        """Return the store of a search at a place, made or not; conditions on designs are conditions as well."""
        conditions = tuple(dict.fromkeys((*space.where, *question.where)))
        return cls(sweep, space, replace(question, where=conditions), locate(store))

    @functools.cached_property
    def _text(self) -> str:
        """The text of the sweeps of all generations."""
        return rewritten(self.sweep.text, self._replace, "Designs of a search; each generation is appended to them.")

    def _replace(self, data: dict[str, Any]) -> None:
        only_chosen(data)
        old = data.get("design") or {}
        kept = {key: value for key, value in old.items() if key not in REPLACED}
        data["design"] = {"file": TABLE, **kept}
        if data.get("tolerances"):
            data["tolerances"]["count"] = 0  # the table has the deviations of all designs
        data.pop("subset", None)
        subsets = data.pop("subsets", None)
        if self.subset:
            part = {key: value for key, value in subsets[self.subset].items() if key != "design"}
            data |= {"subsets": {self.subset: part}, "subset": self.subset}
        question = self.question
        parts = {"objectives": list(question.objectives), "where": list(question.where), "cases": list(question.cases)}
        title = {"title": question.title} if question.title else {}
        data["study"] = flowing(title | {key: texts for key, texts in parts.items() if texts})

    def sweep_of(self, points: Array) -> Sweep:
        """Return the sweep of some points (n, variable) under all cases. Raises InputError."""
        columns = self.space.table(points)
        stream = io.StringIO()
        units = self.sweep.design.units
        stream.write(",".join(f"{name} [{units[name]}]" if name in units else name for name in columns) + "\n")
        for row in zip(*(self.space.labels(name, values) for name, values in columns.items()), strict=True):
            stream.write(",".join(map(_cell, row)) + "\n")
        files = MemoryFiles(
            {**self.sweep.sources, TABLE: stream.getvalue().encode()}, Folder(Path(self.sweep.name).parent)
        )
        try:
            sweep = Sweep.from_text(self._text, self.sweep.name, files)
        except InputError as error:  # the user has not seen the text: its line numbers would mislead
            raise InputError(replace(problem, line=0, column=0) for problem in error.problems) from None
        return replace(sweep, user_metrics=self.sweep.user_metrics)

    @property
    def count(self) -> int:
        """Designs that the store has, without their cases; 0 before the first generation is finished."""
        if not self.place.exists() or Manifest.load(self.place).state != "finished":
            return 0
        return Manifest.load(self.place).layout.sizes["design"] // self.space.case_count

    def results(self) -> xr.Dataset:
        """Load the results of the store into memory, by design and case; without series."""
        rows = np.arange(self.count * self.space.case_count).reshape(self.count, -1)
        ds = with_cases(open_results(self.place), rows, tuple(self.space.cases))
        return with_dims(ds, dims_of(ds, self.question.cases)).load(scheduler="synchronous")

    def require_points(self, ds: xr.Dataset, points: Array, first: int) -> None:
        """Check that the designs from `first` on are those of some points, bit for bit. Raises StoreError."""
        for name, values in self.space.designs(points).items():
            expected = self.space.labels(name, values)
            if name not in ds.coords or ds[name].values[first : first + len(points)].tolist() != expected:
                raise self._other(f"design {first:,} and those after it are others in {name}")

    def require_sweep(self, points: Array) -> None:
        """Check that the store is of the sweep of some points, with nothing left of an append. Raises StoreError."""
        expected = self.sweep_of(points)
        if Manifest.load(self.place).fingerprint != expected.fingerprint:
            raise self._other("its sweep is another one")
        if any(self.place.keys(GROWTH)):
            clear_append(self.place)

    def _other(self, what: str) -> StoreError:
        return StoreError(
            f"{self.place}: is not of this search: {what}; expected the same sweep, method, population and seed as "
            "the search that began it, or the name of a new store"
        )

    def compute(self, points: Array, cluster: Connectable, listeners: Sequence[Listener] = ()) -> None:
        """Compute the last of all points so far; an interrupted search is resumed."""
        sweep = self.sweep_of(points)
        if self.count:
            append(self.place, sweep, cluster, listeners)
        else:
            run(sweep, self.place, cluster, listeners, progress=False)

    @contextmanager
    def cluster(self, cluster: ClusterLike, points: Array) -> Iterator[Connectable]:
        """One cluster for all generations; without a name threads of this process where a generation is small."""
        cluster_used = as_cluster(cluster)
        if cluster_used == ClusterConfig():
            cluster_used = near(plan(self.sweep_of(points)))
        with connect(cluster_used) as client:
            yield (
                cluster_used
                if client is None or isinstance(cluster_used, UserCluster)
                else UserCluster(client, "the client")
            )


def _cell(value: float | str) -> str:
    """Return a number with all its bits, or a text, as a cell that is read back."""
    return repr(value) if isinstance(value, float) else '"' + value.replace('"', '""') + '"'


@dataclass(frozen=True, eq=False)
class DesignModel:
    """Model of the designs of a space: the sweeps of its robots, computed into memory."""

    space: PointSpace
    stores: tuple[GenerationStore, ...]
    objectives: Sequence[Objective]

    def at(self, points: Array, compute: Compute) -> tuple[Array, Array]:
        """Return costs (n, objective) and violations (n, condition) of points (n, variable); a met condition: <= 0."""
        conditions = 1 + max(len(store.question.where) for store in self.stores)
        costs = np.empty((len(points), len(self.objectives)))
        violations = np.full((len(points), conditions), -1.0)
        for store, (places, rows) in zip(self.stores, self.space.parts(points), strict=True):
            if len(rows):
                costs[places], broken = self._values(store, rows, compute)
                violations[places, : broken.shape[1]] = broken
        return costs, violations

    def _values(self, store: GenerationStore, rows: Array, compute: Compute) -> tuple[Array, Array]:
        """Compute costs and violations of points of one robot."""
        cases = np.arange(len(rows) * store.space.case_count).reshape(len(rows), -1)
        ds = with_cases(compute(store.sweep_of(rows)), cases, tuple(store.space.cases))
        ds = with_dims(ds, dims_of(ds, store.question.cases)).load(scheduler="synchronous")
        return costs_and_violations(ds, self.objectives, store.question.where)


def coarse_model(
    space: PointSpace, stores: Sequence[GenerationStore], objectives: Sequence[Objective], subset: str
) -> DesignModel:
    """Return the model by a subset of the sweeps of some stores. Raises InputError for one that does not exist."""
    for store in stores:
        subsets = cast(
            Mapping[str, Mapping[str, Any]], parse_yaml(store.sweep.text, store.sweep.name).data.get("subsets") or {}
        )
        if subset not in subsets:
            hint = sentence(nearest(subset, subsets)) if subsets else "The sweep file has no section subsets."
            raise refuse("coarse", repr(subset), "the name of a subset of the sweep file", hint)
        if not {*subsets[subset]} - {"design"}:
            got = f"subset {subset}, whose designs cost as much as those of the whole sweep"
            hint = "Give it `every`, `trajectories`, `friction` or `precision`."
            raise refuse("coarse", got, "a subset whose designs cost less", hint)
    return DesignModel(space, tuple(replace(store, subset=subset) for store in stores), objectives)
